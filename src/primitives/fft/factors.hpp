// Which lengths have only prime factors that a backend's transforms know.
#pragma once
#include <cstdint>
#include <span>

namespace tern::detail {

/// Whether n > 0 has these prime factors alone.
inline bool has_only_factors(std::span<const int> primes, std::int64_t n) {
  for (const int prime : primes)
    while (n % prime == 0) n /= prime;
  return n == 1;
}

}  // namespace tern::detail
