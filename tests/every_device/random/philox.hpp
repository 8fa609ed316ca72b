// The generator of random numbers, as its paper has it.
#pragma once
#include <array>
#include <cstdint>

namespace tern::test {

/// Philox 4x32-10 in plain C++: the words of a block.
inline std::array<std::uint32_t, 4> philox(std::uint64_t block, std::uint64_t seed) {
  auto low = static_cast<std::uint32_t>(seed), high = static_cast<std::uint32_t>(seed >> 32);
  std::array<std::uint32_t, 4> c{static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 0, 0};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
    c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ low, static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ high, static_cast<std::uint32_t>(a)};
    low += 0x9E3779B9u, high += 0xBB67AE85u;
  }
  return c;
}

}  // namespace tern::test
