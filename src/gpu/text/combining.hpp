// How a kernel combines running results, or elements that meet in one place.
#pragma once
#include <string>

#include "backend/combine.hpp"
#include "formula/program.hpp"
#include "gpu/text/dialect.hpp"

namespace tern::detail_gpu {

/// The function combine(a, b), printed from its formula, and the number that it leaves others as they are with.
std::string combining_function(const Dialect& dialect, detail::Combine how, detail::ComputeType type);
std::string combining_identity(detail::Combine how, detail::ComputeType type);

}  // namespace tern::detail_gpu
