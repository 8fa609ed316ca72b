// What the generated loops are made of, for the target being compiled. A generated file includes this after it has
// chosen HWY_TARGET; each loop is a struct with its operands' numbers and Step(), which does one vector of what it is
// given.
#include <hwy/highway.h>

#include "cpu/simd/halves-inl.h"
#include "cpu/simd/elementary-inl.h"
#include "cpu/simd/repeated-inl.h"
#include "cpu/simd/compiler_hints.hpp"

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {

/// An elementary function of a value and a number: some need less for it.
template <class L, class D, class V> HWY_INLINE auto RunNumber(D d, V a, double number) {
  if constexpr (requires { L::RunNumber(d, a, number); }) return L::RunNumber(d, a, number);
  else return L::Run(d, a, Num(d, number));
}

/// Integers or words of 32 bits as the others, and integers as floats, rounded to nearest.
template <class D, class V> HWY_INLINE hn::Vec<D> CastTo(D d, V value) {
  if constexpr (hwy::IsFloat<hn::TFromD<D>>()) return hn::ConvertTo(d, value);
  else return hn::BitCast(d, value);
}

/// Integers as wide as a float vector, kept in the same memory.
template <class D> HWY_INLINE hn::Vec<hn::RebindToSigned<D>> LoadIntegers(D, const hn::TFromD<D>* from) {
  const hn::RebindToSigned<D> di;
  return hn::LoadU(di, reinterpret_cast<const hn::TFromD<decltype(di)>*>(from));
}
/// A result, which may be such integers.
template <class D, class V> HWY_INLINE void StoreResult(D, V value, hn::TFromD<D>* to, bool stream) {
  using R = hn::TFromV<V>;
  StoreOperand(hn::Rebind<R, D>(), value, reinterpret_cast<R*>(to), stream);
}
template <class D, class V, DType H> HWY_INLINE void StoreResult(D d, V value, Half<H>* to, bool stream) {
  StoreOperand(d, value, to, stream);
}

/// What Step() is given: where a vector's operands come from, and where its results go.
template <class M> struct StepMemory {
  static constexpr std::size_t kVectors = 1;  // in a step
  const M* const* in;
  M* const* out;
  std::size_t at;
  bool stream;

  template <class D> HWY_INLINE auto Load(D d, int i) const { return LoadOperand(d, in[i] + at); }
  template <class D> HWY_INLINE auto Integers(D d, int i) const { return LoadIntegers(d, in[i] + at); }
  template <class D, class V> HWY_INLINE void Store(D d, V value, int i) const {
    StoreResult(d, value, out[i] + at, stream);
  }

  template <class Loop, class D>
  static HWY_INLINE void Step(D d, const M* const* in, const hn::Vec<D>* numbers, M* const* out, std::size_t at,
                              bool stream) {
    Loop::Step(d, StepMemory{in, out, at, stream}, numbers);
  }
};

/// Two vectors of bf16 in memory, every other element a lane: the even ones are a shift away, the odd ones a mask, and
/// a result costs a blend. Taking neighbours instead costs a shuffle more each: 0.8 of silu_mul's time (Zen 4; Sapphire
/// Rapids 0.85).
template <> struct StepMemory<Half<DType::bf16>> {
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

  template <class Loop, class D, class W>
  static HWY_INLINE void Both(D d, const W* words, const hn::Vec<D>* numbers, W* results) {
    Loop::Step(d, Alternate<false, W>{words, results}, numbers);
    Loop::Step(d, Alternate<true, W>{words, results}, numbers);
  }
  template <class Loop, class D>
  static HWY_INLINE void Step(D d, const M* const* in, const hn::Vec<D>* numbers, M* const* out, std::size_t at,
                              bool stream) {
    const hn::RebindToUnsigned<D> du;
    using W = hn::Vec<decltype(du)>;
    W words[Loop::kInputs + 1], results[Loop::kOutputs];
    for (int i = 0; i < Loop::kInputs; ++i)
      words[i] = hn::LoadU(du, reinterpret_cast<const std::uint32_t*>(in[i] + at));
    Both<Loop>(d, words, numbers, results);
    for (int i = 0; i < Loop::kOutputs; ++i)
      StoreOperand(du, results[i], reinterpret_cast<std::uint32_t*>(out[i] + at), stream);
  }
};

/// What Step() is given for the rest, `left` elements of less than a vector; where the target masks loads and stores.
template <class M> struct Rest {
  const M* const* in;
  M* const* out;
  std::size_t left;

  template <class D> HWY_INLINE auto Load(D d, int i) const {
    if constexpr (sizeof(M) == 2) return WidenBits<M::kDType>(d, Masked(hn::Rebind<std::uint16_t, D>(), in[i]));
    else return Masked(d, in[i]);
  }
  template <class D> HWY_INLINE auto Integers(D, int i) const { return Masked(hn::RebindToSigned<D>(), in[i]); }
  template <class D, class V> HWY_INLINE void Store(D d, V value, int i) const {
    if constexpr (sizeof(M) == 2) StoreMasked(hn::Rebind<std::uint16_t, D>(), Narrow<M::kDType>(d, value), out[i]);
    else StoreMasked(hn::Rebind<hn::TFromV<V>, D>(), value, out[i]);
  }

  template <class Loop, class D>
  static HWY_INLINE void Step(D d, const M* const* in, const hn::Vec<D>* numbers, M* const* out, std::size_t left) {
    Loop::Step(d, Rest{in, out, left}, numbers);
  }

 protected:
  template <class D> HWY_INLINE auto Masked(D d, const M* from) const {
    return hn::MaskedLoad(hn::FirstN(d, left), d, reinterpret_cast<const hn::TFromD<D>*>(from));
  }
  template <class D, class V> HWY_INLINE void StoreMasked(D d, V value, M* to) const {
    hn::BlendedStore(value, hn::FirstN(d, left), d, reinterpret_cast<hn::TFromD<D>*>(to));
  }
};
/// Of two vectors, as StepMemory.
template <> struct Rest<Half<DType::bf16>> {
  using M = Half<DType::bf16>;
  template <class Loop, class D>
  static HWY_INLINE void Step(D d, const M* const* in, const hn::Vec<D>* numbers, M* const* out, std::size_t left) {
    const hn::RebindToUnsigned<D> du;
    const hn::Repartition<std::uint16_t, D> dh;
    using W = hn::Vec<decltype(du)>;
    const auto some = hn::FirstN(dh, left);
    W words[Loop::kInputs + 1], results[Loop::kOutputs];
    for (int i = 0; i < Loop::kInputs; ++i) words[i] = hn::BitCast(du, hn::MaskedLoad(some, dh, &in[i]->bits));
    StepMemory<M>::template Both<Loop>(d, words, numbers, results);
    for (int i = 0; i < Loop::kOutputs; ++i) hn::BlendedStore(hn::BitCast(dh, results[i]), some, dh, &out[i]->bits);
  }
};

/// Less than a step, elements from `at` to n. Through a small block without masks, as in the tape's kernels.
template <class Loop, class D, class M>
HWY_INLINE void StepOfRest(D d, const M* const* from, const hn::Vec<D>* numbers, M* const* to, std::size_t at,
                           std::size_t n) {
  const M* in[Loop::kInputs + 1];
  M* out[Loop::kOutputs];
  if constexpr (kWide) {
    for (int i = 0; i < Loop::kInputs; ++i) in[i] = from[i] + at;
    for (int i = 0; i < Loop::kOutputs; ++i) out[i] = to[i] + at;
    Rest<M>::template Step<Loop>(d, in, numbers, out, n - at);
  } else {
    constexpr std::size_t kMost = StepMemory<M>::kVectors * hn::MaxLanes(D());
    HWY_ALIGN M rest[Loop::kInputs + 1][kMost] = {};
    HWY_ALIGN M results[Loop::kOutputs][kMost];
    for (int i = 0; i < Loop::kInputs; ++i) {
      in[i] = rest[i];
      __builtin_memcpy(rest[i], from[i] + at, (n - at) * sizeof(M));
    }
    for (int i = 0; i < Loop::kOutputs; ++i) out[i] = results[i];
    StepMemory<M>::template Step<Loop>(d, in, numbers, out, 0, false);
    for (int i = 0; i < Loop::kOutputs; ++i) __builtin_memcpy(to[i] + at, results[i], (n - at) * sizeof(M));
  }
}

template <class M> HWY_INLINE void Advance(M*& at, std::int64_t bytes) {
  at = reinterpret_cast<M*>(reinterpret_cast<std::intptr_t>(at) + bytes);
}

/// The line of element `at` of each that is to be fetched, into L2: L1 has the block that is worked on.
HWY_INLINE void FetchStep(const LoopCall& call, std::size_t at) {
  for (std::size_t i = 0; i < call.fetches; ++i)
    __builtin_prefetch(static_cast<const char*>(call.fetch[i].from) + at * call.fetch[i].bytes, 0, 2);
}

/// As RunLoop, of short rows one behind the other: of what each has one of, a vector for as many rows as it has lanes
/// is repeated along them by permutations, and so is a number that all have. Rows that are left, as the last block
/// has some, go through StepOfRest. (98,304 f64, layer norm in rows of 2, 3, 8, by kernels of single operations and
/// so: 240, 216, 155 and 173, 155, 131 us, variances 88, 74, 59 and 69, 55, 45; with a loop within this one for each
/// vector of rows, where an exponential's constants are loaded anew, softmax took 1.1 of the time by single
/// operations.)
template <class Loop, class T> HWY_NOINLINE void RunShortRows(const LoopCall& call) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d), times = call.times, rows = call.n / times;
  const auto *const places = PlacesOfTimes(d, times), *const end = places + times, *place = places;
  const T *from[Loop::kInputs + 1], *columns[Loop::kScalars];
  T* to[Loop::kOutputs];
  std::size_t steps[Loop::kScalars];
  HWY_ALIGN T few[Loop::kScalars][hn::MaxLanes(d)];
  hn::Vec<decltype(d)> number[Loop::kScalars];
  for (int i = 0; i < Loop::kInputs; ++i) from[i] = static_cast<const T*>(call.in[i]);
  for (int i = 0; i < Loop::kOutputs; ++i) to[i] = static_cast<T*>(call.out[i]);
  for (int i = 0; i < Loop::kScalars; ++i) {
    columns[i] = static_cast<const T*>(call.scalars[i]), steps[i] = call.scalar_steps[i] == 0 ? 0 : lanes;
    if (steps[i] != 0) continue;
    hn::Store(hn::Set(d, *columns[i]), d, few[i]);
    columns[i] = few[i];
  }
  const auto repeat = [&](const auto& where) HWY_ATTR {
    TERN_UNROLL for (int i = 0; i < Loop::kScalars; ++i) number[i] = RepeatLanes(d, columns[i], where);
  };
  const std::size_t whole = rows / lanes * lanes, n = whole * times;
  std::size_t at = 0;
  const auto run = [&](auto beyond_caches) HWY_ATTR {  // known when it is compiled: else each step would ask
    for (; at < n; at += lanes) {
      if constexpr (beyond_caches) FetchStep(call, at);
      repeat(*place);
      StepMemory<T>::template Step<Loop>(d, from, number, to, at, beyond_caches && call.stream);
      if (++place != end) continue;
      place = places;
      TERN_UNROLL for (int i = 0; i < Loop::kScalars; ++i) columns[i] += steps[i];
    }
  };
  if (call.stream || call.fetches != 0) run(std::true_type());
  else run(std::false_type());
  if (whole == rows) return;
  for (int i = 0; i < Loop::kScalars; ++i) {
    if (steps[i] == 0) continue;
    __builtin_memcpy(few[i], columns[i], (rows - whole) * sizeof(T));
    columns[i] = few[i];
  }
  for (; at < call.n; at += lanes, ++place) {
    repeat(*place);
    StepOfRest<Loop>(d, from, number, to, at, at + lanes < call.n ? at + lanes : call.n);
  }
}

/// Calls Loop::Step on all elements: M in memory, T in lanes. Integers among the operands are as wide as T.
template <class Loop, class T, class M = T> void RunLoop(const LoopCall& call) {
  if constexpr (Loop::kScalars > 0 && std::is_same_v<T, M>)
    if (HWY_UNLIKELY(call.times != 0)) return RunShortRows<Loop, T>(call);
  const hn::ScalableTag<T> d;
  const std::size_t step = StepMemory<M>::kVectors * hn::Lanes(d), n = call.n;
  const bool stream = call.stream, fetches = call.fetches != 0;  // `call` would be read again after each store
  const M* from[Loop::kInputs + 1];
  M* to[Loop::kOutputs];
  hn::Vec<decltype(d)> number[Loop::kScalars + 1];
  for (int i = 0; i < Loop::kInputs; ++i) from[i] = static_cast<const M*>(call.in[i]);
  for (int i = 0; i < Loop::kOutputs; ++i) to[i] = static_cast<M*>(call.out[i]);
  for (int i = 0; i < Loop::kScalars; ++i) number[i] = hn::Set(d, *static_cast<const T*>(call.scalars[i]));
  for (std::size_t row = 0;;) {
    std::size_t at = 0;
    for (; at + step <= n; at += step) {
      if (HWY_UNLIKELY(fetches)) FetchStep(call, row * n + at);
      StepMemory<M>::template Step<Loop>(d, from, number, to, at, stream);
    }
    if (at != n) StepOfRest<Loop>(d, from, number, to, at, n);
    if (++row >= call.rows) return;
    for (int i = 0; i < Loop::kInputs; ++i) Advance(from[i], call.in_steps[i]);
    for (int i = 0; i < Loop::kOutputs; ++i) Advance(to[i], call.out_steps[i]);
    for (int i = 0; i < Loop::kScalars; ++i) {
      auto* scalar = static_cast<const T*>(call.scalars[i]);
      Advance(scalar, static_cast<std::int64_t>(row) * call.scalar_steps[i]);
      number[i] = hn::Set(d, *scalar);
    }
  }
}
/// The same of 16-bit floats; null where the target cannot convert them in vectors.
template <class Loop, DType D> constexpr LoopFn HalfLoop() {
  if constexpr (kNarrows<D>) return &RunLoop<Loop, float, Half<D>>;
  else return nullptr;
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
