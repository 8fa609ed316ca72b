// Quotients and multiples rounded up.
#pragma once
#include <cstdint>

namespace tern::detail {

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
/// The least multiple of b that is not less than a.
constexpr std::int64_t round_up(std::int64_t a, std::int64_t b) { return ceil_div(a, b) * b; }

}  // namespace tern::detail
