// Philox's rounds (formula/philox.hpp) in registers: the tape would take a call, and two blocks in L1, for each of its
// 80 steps. The upper and the lower half of a product are one multiplication here. No include guard: once per target
// file.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "cpu/simd/kernel_table.hpp"
#include "formula/philox_constants.hpp"

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The halves of the key in each round.
struct PhiloxKeys {
  std::uint32_t low[detail::kPhiloxRounds], high[detail::kPhiloxRounds];
  PhiloxKeys(std::uint32_t first_low, std::uint32_t first_high) {
    for (std::uint32_t round = 0; round < detail::kPhiloxRounds; ++round) {
      low[round] = first_low + round * detail::kPhiloxKeySteps[0];
      high[round] = first_high + round * detail::kPhiloxKeySteps[1];
    }
  }
};

/// Of counters in every second lane, their words there. What is in the other lanes is not read, so a product's lower
/// half needs nothing to be a word.
template <class D, class V = hn::Vec<D>> HWY_INLINE void PhiloxRounds(D d, V (&c)[4], const PhiloxKeys& keys) {
  const V m0 = hn::Set(d, detail::kPhiloxMultipliers[0]), m1 = hn::Set(d, detail::kPhiloxMultipliers[1]);
  for (std::uint32_t round = 0; round < detail::kPhiloxRounds; ++round) {
    const auto product0 = hn::MulEven(c[0], m0), product1 = hn::MulEven(c[2], m1);
    const V high0 = hn::BitCast(d, hn::ShiftRight<32>(product0)), high1 = hn::BitCast(d, hn::ShiftRight<32>(product1));
    c[0] = hn::Xor3(high1, c[1], hn::Set(d, keys.low[round])), c[1] = hn::BitCast(d, product1);
    c[2] = hn::Xor3(high0, c[3], hn::Set(d, keys.high[round])), c[3] = hn::BitCast(d, product0);
  }
}

/// Of a vector of counters each word, in a vector of its own.
template <class D, class V = hn::Vec<D>> HWY_INLINE void PhiloxWords(D d, V (&c)[4], const PhiloxKeys& keys) {
  const hn::Repartition<std::uint64_t, D> wide;
  V odd[4];
  for (int i = 0; i < 4; ++i) odd[i] = hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, c[i])));
  PhiloxRounds(d, c, keys), PhiloxRounds(d, odd, keys);
  for (int i = 0; i < 4; ++i) c[i] = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(hn::BitCast(wide, odd[i]))), c[i]);
}

inline constexpr std::size_t kCacheLine = 64;

/// A loop as those compiled ahead of time are: its first `kVarying` words of the counter are inputs; the others, and
/// the key, are scalars.
template <std::size_t kVarying> void PhiloxLoop(const LoopCall& call) {
  const hn::ScalableTag<std::uint32_t> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t lanes = hn::Lanes(d);
  const auto scalar = [&](std::size_t i) { return *static_cast<const std::uint32_t*>(call.scalars[i]); };
  const PhiloxKeys keys(scalar(4 - kVarying), scalar(5 - kVarying));
  for (std::size_t row = 0; row < call.rows; ++row) {
    const std::uint32_t* in[4] = {};
    std::uint32_t* out[4];
    const auto moved = [&](const void* at, const std::int64_t* steps, std::size_t i) {
      const std::int64_t bytes = call.rows > 1 ? static_cast<std::int64_t>(row) * steps[i] : 0;
      return const_cast<std::byte*>(static_cast<const std::byte*>(at) + bytes);
    };
    for (std::size_t i = 0; i < 4; ++i) {
      if (i < kVarying) in[i] = reinterpret_cast<const std::uint32_t*>(moved(call.in[i], call.in_steps, i));
      out[i] = reinterpret_cast<std::uint32_t*>(moved(call.out[i], call.out_steps, i));
    }
    const auto words = [&](const std::uint32_t* const* from, std::uint32_t* const* to) HWY_ATTR {
      V c[4];
      for (std::size_t i = 0; i < 4; ++i)
        c[i] = i < kVarying ? hn::LoadU(d, from[i]) : hn::Set(d, scalar(i - kVarying));
      PhiloxWords(d, c, keys);
      for (std::size_t i = 0; i < 4; ++i) hn::StoreU(c[i], d, to[i]);
    };
    std::size_t at = 0;
    for (; at + lanes <= call.n; at += lanes) {
      for (std::size_t f = 0; f < call.fetches; ++f) {
        const Fetch& fetch = call.fetch[f];
        for (std::size_t offset = at * fetch.bytes; offset < (at + lanes) * fetch.bytes; offset += kCacheLine)
          hwy::Prefetch(static_cast<const std::byte*>(fetch.from) + offset);
      }
      const std::uint32_t* const from[4] = {in[0] + at, in[1] + at, kVarying > 2 ? in[2] + at : nullptr,
                                            kVarying > 2 ? in[3] + at : nullptr};
      std::uint32_t* const to[4] = {out[0] + at, out[1] + at, out[2] + at, out[3] + at};
      words(from, to);
    }
    if (at == call.n) continue;
    HWY_ALIGN std::uint32_t rest[4][hn::MaxLanes(d)] = {};
    const std::uint32_t* const from[4] = {rest[0], rest[1], rest[2], rest[3]};
    std::uint32_t* const to[4] = {rest[0], rest[1], rest[2], rest[3]};
    for (std::size_t i = 0; i < kVarying; ++i) __builtin_memcpy(rest[i], in[i] + at, (call.n - at) * sizeof rest[i][0]);
    words(from, to);
    for (std::size_t i = 0; i < 4; ++i) __builtin_memcpy(out[i] + at, rest[i], (call.n - at) * sizeof rest[i][0]);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
