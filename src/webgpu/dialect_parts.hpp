// WGSL of kernels that carry out several launches (gpu/plan/horizontal.hpp). A kernel cannot index bindings, nor pass
// them to functions: it has a function for each that chooses among the parts'.
#pragma once
#include <string>

#include "gpu/text/dialect.hpp"

namespace tern::detail_gpu {

/// The declaration of binding k, whose memory is called `name`.
std::string wgsl_binding(const Binding& binding, std::size_t k, const std::string& name);
/// The text behind library functions of a kernel of parts, with holes for what the number of parts decides.
std::string wgsl_parts_template(const Module& module);
/// The kernel of so many parts.
std::string wgsl_of_parts(const std::string& text, const SwitchedShape& shape);

}  // namespace tern::detail_gpu
