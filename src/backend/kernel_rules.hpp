// What a primitive's folder knows of each of its kernels beside how to run it: when it pays, how far it divides work.
#pragma once
#include <span>

#include "backend/backend.hpp"
#include "backend/primitive.hpp"

namespace tern::detail {

template <class Rules> struct RulesOfKernel {
  Kernel kernel;
  Rules rules;
};

/// Those of the kernel that the backend has for the primitive; `otherwise` are those of one that is not listed, which a
/// backend of somebody else's brings.
template <class Request, class Rules>
const Rules& rules_of(Backend& backend, const char* op, std::span<const RulesOfKernel<Rules>> list,
                      const Rules& otherwise) {
  const Kernel kernel = backend.kernel(primitive_of<Request>(), op);
  for (const RulesOfKernel<Rules>& entry : list)
    if (entry.kernel == kernel) return entry.rules;
  return otherwise;
}

}  // namespace tern::detail
