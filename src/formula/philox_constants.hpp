// The numbers of Philox 4x32-10, for who computes it: its multipliers, and what is added to the key's halves from round
// to round.
#pragma once
#include <cstdint>

namespace tern::detail {

inline constexpr std::uint32_t kPhiloxMultipliers[2] = {0xD2511F53u, 0xCD9E8D57u};
inline constexpr std::uint32_t kPhiloxKeySteps[2] = {0x9E3779B9u, 0xBB67AE85u};
inline constexpr std::uint32_t kPhiloxRounds = 10;

}  // namespace tern::detail
