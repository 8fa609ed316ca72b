// Calls of the primitive `fused` that do not depend on each other, horizontally fused.
#pragma once
#include <span>

#include "primitives/fused/operation.hpp"

namespace tern::detail {

/// Throws `unsupported`, naming op, where a backend cannot fuse them.
inline void require_horizontal_fusion(const char* op, Backend& backend) { backend.require<FusedGroup>(op); }

/// Checked calls of one backend, which outlive it.
class HorizontalCalls {
 public:
  void add(const BoundCall& call) { backend_ = call.backend, requests_.push_back(call.request()); }
  void run() {
    if (!requests_.empty()) run_horizontally(*backend_, requests_);
  }

 private:
  Backend* backend_ = nullptr;
  SmallVector<FusedRequest, 4> requests_;
};

/// Copies parts, of the result's dtype and of its shape but along an axis, into the result: part i from begins[i] on.
template <class T>
void copy_parts(const char* op, std::span<const T> parts, std::size_t axis, std::span<const std::int64_t> begins,
                const Tensor& result);

}  // namespace tern::detail
