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

template <class D, class V = hn::Vec<D>> HWY_INLINE V OddInEven(D d, V v) {
  return hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(hn::Repartition<std::uint64_t, D>(), v)));
}

/// The halves of a key in each round: of one key for all counters, and of one for each.
struct PhiloxKey {
  std::uint32_t low[detail::kPhiloxRounds], high[detail::kPhiloxRounds];
  PhiloxKey(std::uint32_t first_low, std::uint32_t first_high) {
    for (std::uint32_t round = 0; round < detail::kPhiloxRounds; ++round) {
      low[round] = first_low + round * detail::kPhiloxKeySteps[0];
      high[round] = first_high + round * detail::kPhiloxKeySteps[1];
    }
  }
  template <class D> HWY_INLINE hn::Vec<D> low_of(D d, std::uint32_t round) const { return hn::Set(d, low[round]); }
  template <class D> HWY_INLINE hn::Vec<D> high_of(D d, std::uint32_t round) const { return hn::Set(d, high[round]); }
  template <class D> HWY_INLINE const PhiloxKey& odd(D) const { return *this; }
};
template <class V> struct PhiloxKeys {
  V low, high;
  template <class D> HWY_INLINE V low_of(D d, std::uint32_t round) const {
    return hn::Add(low, hn::Set(d, round * detail::kPhiloxKeySteps[0]));
  }
  template <class D> HWY_INLINE V high_of(D d, std::uint32_t round) const {
    return hn::Add(high, hn::Set(d, round * detail::kPhiloxKeySteps[1]));
  }
  template <class D> HWY_INLINE PhiloxKeys odd(D d) const { return {OddInEven(d, low), OddInEven(d, high)}; }
};

/// Of counters in every second lane, their words there. What is in the other lanes is not read, so a product's lower
/// half needs nothing to be a word.
template <class D, class Keys, class V = hn::Vec<D>> HWY_INLINE void PhiloxRounds(D d, V (&c)[4], const Keys& keys) {
  const V m0 = hn::Set(d, detail::kPhiloxMultipliers[0]), m1 = hn::Set(d, detail::kPhiloxMultipliers[1]);
  for (std::uint32_t round = 0; round < detail::kPhiloxRounds; ++round) {
    const auto product0 = hn::MulEven(c[0], m0), product1 = hn::MulEven(c[2], m1);
    const V high0 = hn::BitCast(d, hn::ShiftRight<32>(product0)), high1 = hn::BitCast(d, hn::ShiftRight<32>(product1));
    c[0] = hn::Xor3(high1, c[1], keys.low_of(d, round)), c[1] = hn::BitCast(d, product1);
    c[2] = hn::Xor3(high0, c[3], keys.high_of(d, round)), c[3] = hn::BitCast(d, product0);
  }
}

/// Of a vector of counters the first kWords words, each in a vector of its own.
template <std::size_t kWords, class D, class Keys, class V = hn::Vec<D>>
HWY_INLINE void PhiloxWords(D d, V (&c)[4], const Keys& keys) {
  const hn::Repartition<std::uint64_t, D> wide;
  V odd[4];
  for (int i = 0; i < 4; ++i) odd[i] = OddInEven(d, c[i]);
  PhiloxRounds(d, c, keys), PhiloxRounds(d, odd, keys.odd(d));
  for (std::size_t i = 0; i < kWords; ++i)
    c[i] = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(hn::BitCast(wide, odd[i]))), c[i]);
}

inline constexpr std::size_t kCacheLine = 64;

/// A loop as those compiled ahead of time are: the first `kVarying` words of the counter are inputs, and where
/// kKeyVaries the key's halves; the others are scalars. Of the words the first kWords are written.
template <std::size_t kVarying, bool kKeyVaries, std::size_t kWords> void PhiloxLoop(const LoopCall& call) {
  const hn::ScalableTag<std::uint32_t> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::size_t kInputs = kVarying + (kKeyVaries ? 2 : 0);
  const std::size_t lanes = hn::Lanes(d);
  const auto scalar = [&](std::size_t i) { return *static_cast<const std::uint32_t*>(call.scalars[i]); };
  const PhiloxKey key = kKeyVaries ? PhiloxKey(0, 0) : PhiloxKey(scalar(4 - kVarying), scalar(5 - kVarying));
  for (std::size_t row = 0; row < call.rows; ++row) {
    const std::uint32_t* in[kInputs];
    std::uint32_t* out[kWords];
    const auto moved = [&](const void* at, const std::int64_t* steps, std::size_t i) {
      const std::int64_t bytes = call.rows > 1 ? static_cast<std::int64_t>(row) * steps[i] : 0;
      return reinterpret_cast<std::uint32_t*>(const_cast<std::byte*>(static_cast<const std::byte*>(at) + bytes));
    };
    for (std::size_t i = 0; i < kInputs; ++i) in[i] = moved(call.in[i], call.in_steps, i);
    for (std::size_t i = 0; i < kWords; ++i) out[i] = moved(call.out[i], call.out_steps, i);
    const auto words = [&](const std::uint32_t* const* from, std::uint32_t* const* to, std::size_t at) HWY_ATTR {
      V c[4];
      for (std::size_t i = 0; i < 4; ++i)
        c[i] = i < kVarying ? hn::LoadU(d, from[i] + at) : hn::Set(d, scalar(i - kVarying));
      if constexpr (kKeyVaries)
        PhiloxWords<kWords>(d, c,
                            PhiloxKeys<V>{hn::LoadU(d, from[kVarying] + at), hn::LoadU(d, from[kVarying + 1] + at)});
      else PhiloxWords<kWords>(d, c, key);
      for (std::size_t i = 0; i < kWords; ++i) hn::StoreU(c[i], d, to[i] + at);
    };
    std::size_t at = 0;
    for (; at + lanes <= call.n; at += lanes) {
      for (std::size_t f = 0; f < call.fetches; ++f) {
        const Fetch& fetch = call.fetch[f];
        for (std::size_t offset = at * fetch.bytes; offset < (at + lanes) * fetch.bytes; offset += kCacheLine)
          hwy::Prefetch(static_cast<const std::byte*>(fetch.from) + offset);
      }
      words(in, out, at);
    }
    if (at == call.n) continue;
    HWY_ALIGN std::uint32_t rest[kInputs > kWords ? kInputs : kWords][hn::MaxLanes(d)] = {};
    const std::uint32_t* from[kInputs];
    std::uint32_t* to[kWords];
    for (std::size_t i = 0; i < kInputs; ++i) {
      __builtin_memcpy(rest[i], in[i] + at, (call.n - at) * sizeof rest[i][0]);
      from[i] = rest[i];
    }
    for (std::size_t i = 0; i < kWords; ++i) to[i] = rest[i];
    words(from, to, 0);
    for (std::size_t i = 0; i < kWords; ++i) __builtin_memcpy(out[i] + at, rest[i], (call.n - at) * sizeof rest[i][0]);
  }
}

constexpr void FillPhilox(LoopFn (&to)[2][2][2]) {
  to[0][0][0] = &PhiloxLoop<2, false, 4>, to[0][0][1] = &PhiloxLoop<2, false, 1>;
  to[0][1][0] = &PhiloxLoop<2, true, 4>, to[0][1][1] = &PhiloxLoop<2, true, 1>;
  to[1][0][0] = &PhiloxLoop<4, false, 4>, to[1][0][1] = &PhiloxLoop<4, false, 1>;
  to[1][1][0] = &PhiloxLoop<4, true, 4>, to[1][1][1] = &PhiloxLoop<4, true, 1>;
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
