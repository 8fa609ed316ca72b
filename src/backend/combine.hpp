// How running results, and elements that meet in one place, are combined.
#pragma once
#include <cstdint>

namespace tern::detail {

/// `logaddexp` is log(eᵃ + eᵇ), of floats; `last` is b, whatever a is.
enum class Combine : std::uint8_t { add, mul, maximum, minimum, logaddexp, last };

struct FormulaGraph;
/// (a, b) → combined; not of `last`, which does not read a.
const FormulaGraph* combining_graph(Combine how);

}  // namespace tern::detail
