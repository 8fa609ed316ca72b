// What the generated loops are made of, for the target being compiled. A generated file includes this after it has chosen
// HWY_TARGET; each loop is a struct with its operands' numbers and Step(), which does one vector of what it is given.
#include <hwy/highway.h>

#include "cpu/halves-inl.h"
#include "cpu/leaves-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {

/// A leaf of a value and a number: some need less for it.
template <class L, class D, class V> HWY_INLINE auto RunNumber(D d, V a, double number) {
  if constexpr (requires { L::RunNumber(d, a, number); }) return L::RunNumber(d, a, number);
  else return L::Run(d, a, Num(d, number));
}

/// Integers as wide as a float vector, kept in the same memory; and stores.
template <class D> HWY_INLINE hn::Vec<hn::RebindToSigned<D>> LoadIntegers(D, const hn::TFromD<D>* from) {
  const hn::RebindToSigned<D> di;
  return hn::LoadU(di, reinterpret_cast<const hn::TFromD<decltype(di)>*>(from));
}
template <class D, class V> HWY_INLINE void StoreWords(D d, V value, hn::TFromD<D>* to, bool stream) {
  if (HWY_UNLIKELY(stream)) hn::Stream(value, d, to);
  else hn::StoreU(value, d, to);
}
template <class D, class V> HWY_INLINE void StoreResult(D, V value, hn::TFromD<D>* to, bool stream) {
  using R = hn::TFromV<V>;
  StoreWords(hn::Rebind<R, D>(), value, reinterpret_cast<R*>(to), stream);
}
template <class D, class V, DType H> HWY_INLINE void StoreResult(D d, V value, Half<H>* to, bool stream) {
  const hn::Rebind<std::uint16_t, D> dh;
  const auto half = Narrow<H>(d, value);
  if constexpr (hn::MaxLanes(dh) >= 8) {
    if (HWY_UNLIKELY(stream)) return hn::Stream(half, dh, &to->bits);
  }
  (void)stream;
  hn::StoreU(half, dh, &to->bits);
}

/// What Step() is given: where a vector's operands come from, and where its results go.
template <class M> struct Access {
  static constexpr std::size_t kVectors = 1;  // in a step
  const M* const* in;
  M* const* out;
  std::size_t at;
  bool stream;

  template <class D> HWY_INLINE auto Load(D d, int i) const { return LoadOperand(d, in[i] + at); }
  template <class D> HWY_INLINE auto Integers(D d, int i) const { return LoadIntegers(d, in[i] + at); }
  template <class D, class V> HWY_INLINE void Store(D d, V value, int i) const { StoreResult(d, value, out[i] + at, stream); }

  template <class Loop, class D>
  static HWY_INLINE void Step(D d, const M* const* in, const hn::Vec<D>* numbers, M* const* out, std::size_t at, bool stream) {
    Loop::Step(d, Access{in, out, at, stream}, numbers);
  }
};

/// Two vectors of bf16 in memory, every other element a lane: the even ones are a shift away, the odd ones a mask, and a
/// result costs a blend. Taking neighbours instead costs a shuffle more each: 0.8 of silu_mul's time (Zen 4; Sapphire
/// Rapids 0.85).
template <> struct Access<Half<DType::bf16>> {
  using M = Half<DType::bf16>;
  static constexpr std::size_t kVectors = 2;

  template <bool kOdd, class W> struct Alternate {
    const W* words;
    W* results;
    template <class D> HWY_INLINE auto Load(D d, int i) const {
      const hn::RebindToUnsigned<D> du;
      return hn::BitCast(d, kOdd ? hn::And(words[i], hn::Set(du, 0xffff0000)) : hn::ShiftLeft<16>(words[i]));
    }
    template <class D, class V> HWY_INLINE void Store(D d, V value, int i) const {
      const hn::RebindToUnsigned<D> du;
      const W bits = RoundedBits(d, value);
      results[i] = kOdd ? hn::Or(results[i], hn::And(bits, hn::Set(du, 0xffff0000))) : hn::ShiftRight<16>(bits);
    }
  };

  template <class Loop, class D>
  static HWY_INLINE void Step(D d, const M* const* in, const hn::Vec<D>* numbers, M* const* out, std::size_t at, bool stream) {
    const hn::RebindToUnsigned<D> du;
    using W = hn::Vec<decltype(du)>;
    W words[Loop::kInputs + 1], results[Loop::kOutputs];
    for (int i = 0; i < Loop::kInputs; ++i) words[i] = hn::LoadU(du, reinterpret_cast<const std::uint32_t*>(in[i] + at));
    Loop::Step(d, Alternate<false, W>{words, results}, numbers);
    Loop::Step(d, Alternate<true, W>{words, results}, numbers);
    for (int i = 0; i < Loop::kOutputs; ++i) StoreWords(du, results[i], reinterpret_cast<std::uint32_t*>(out[i] + at), stream);
  }
};

/// Calls Loop::Step on all elements: M in memory, T in lanes. Integers among the operands are as wide as T. The rest,
/// less than a step, goes through a small block, as in the tape's kernels.
template <class Loop, class T, class M = T>
void RunLoop(const void* const* in, const void* const* scalars, void* const* out, std::size_t n, bool stream) {
  const hn::ScalableTag<T> d;
  constexpr std::size_t kMost = Access<M>::kVectors * hn::MaxLanes(d);
  const std::size_t step = Access<M>::kVectors * hn::Lanes(d);
  const M* from[Loop::kInputs + 1];
  M* to[Loop::kOutputs];
  hn::Vec<decltype(d)> number[Loop::kScalars + 1];
  for (int i = 0; i < Loop::kInputs; ++i) from[i] = static_cast<const M*>(in[i]);
  for (int i = 0; i < Loop::kOutputs; ++i) to[i] = static_cast<M*>(out[i]);
  for (int i = 0; i < Loop::kScalars; ++i) number[i] = hn::Set(d, *static_cast<const T*>(scalars[i]));
  std::size_t at = 0;
  for (; at + step <= n; at += step) Access<M>::template Step<Loop>(d, from, number, to, at, stream);
  if (at == n) return;
  HWY_ALIGN M rest[Loop::kInputs + 1][kMost] = {};
  HWY_ALIGN M results[Loop::kOutputs][kMost];
  for (int i = 0; i < Loop::kInputs; ++i) {
    __builtin_memcpy(rest[i], from[i] + at, (n - at) * sizeof(M));
    from[i] = rest[i];
  }
  M* whole[Loop::kOutputs];
  for (int i = 0; i < Loop::kOutputs; ++i) whole[i] = results[i];
  Access<M>::template Step<Loop>(d, from, number, whole, 0, false);
  for (int i = 0; i < Loop::kOutputs; ++i) __builtin_memcpy(to[i] + at, results[i], (n - at) * sizeof(M));
}
/// The same of 16-bit floats; null where the target cannot convert them in vectors.
template <class Loop, DType D> constexpr LoopFn HalfLoop() {
  if constexpr (kNarrows<D>) return &RunLoop<Loop, float, Half<D>>;
  else return nullptr;
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
