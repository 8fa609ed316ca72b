// What the generated loops are made of, for the target being compiled. A generated file includes this after it has chosen
// HWY_TARGET; each loop is a struct with its operands' numbers and Step(), which does one vector.
#include <hwy/highway.h>

#include "cpu/halves-inl.h"
#include "cpu/leaves-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {

/// An element in memory that is a lane of f32 in the loop.
template <DType D> struct Half {
  static constexpr DType kDType = D;
  std::uint16_t bits;
};

/// Calls Loop::Step on all elements: M in memory, T in lanes. Integers among the operands are as wide as T. The rest,
/// less than a vector, goes through a small block, as in the tape's kernels.
template <class Loop, class T, class M = T>
void RunLoop(const void* const* in, const void* const* scalars, void* const* out, std::size_t n, bool stream) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const M* from[Loop::kInputs + 1];
  M* to[Loop::kOutputs];
  hn::Vec<decltype(d)> number[Loop::kScalars + 1];
  for (int i = 0; i < Loop::kInputs; ++i) from[i] = static_cast<const M*>(in[i]);
  for (int i = 0; i < Loop::kOutputs; ++i) to[i] = static_cast<M*>(out[i]);
  for (int i = 0; i < Loop::kScalars; ++i) number[i] = hn::Set(d, *static_cast<const T*>(scalars[i]));
  std::size_t at = 0;
  for (; at + lanes <= n; at += lanes) Loop::Step(d, from, number, to, at, stream);
  if (at == n) return;
  HWY_ALIGN M rest[Loop::kInputs + 1][hn::MaxLanes(d)] = {};
  HWY_ALIGN M results[Loop::kOutputs][hn::MaxLanes(d)];
  for (int i = 0; i < Loop::kInputs; ++i) {
    __builtin_memcpy(rest[i], from[i] + at, (n - at) * sizeof(M));
    from[i] = rest[i];
  }
  M* whole[Loop::kOutputs];
  for (int i = 0; i < Loop::kOutputs; ++i) whole[i] = results[i];
  Loop::Step(d, from, number, whole, 0, false);
  for (int i = 0; i < Loop::kOutputs; ++i) __builtin_memcpy(to[i] + at, results[i], (n - at) * sizeof(M));
}
/// The same of 16-bit floats; null where the target cannot convert them in vectors.
template <class Loop, DType D> constexpr LoopFn HalfLoop() {
  if constexpr (kNarrows<D>) return &RunLoop<Loop, float, Half<D>>;
  else return nullptr;
}

/// A leaf of a value and a number: some need less for it.
template <class L, class D, class V> HWY_INLINE auto RunNumber(D d, V a, double number) {
  if constexpr (requires { L::RunNumber(d, a, number); }) return L::RunNumber(d, a, number);
  else return L::Run(d, a, Num(d, number));
}

/// Loads and stores of a float vector, of integers as wide, kept in the same memory, and of 16-bit floats.
template <class D> HWY_INLINE hn::Vec<D> LoadOperand(D d, const hn::TFromD<D>* from) { return hn::LoadU(d, from); }
template <class D, DType H> HWY_INLINE hn::Vec<D> LoadOperand(D d, const Half<H>* from) {
  return Widen<H>(d, &from->bits);
}
template <class D> HWY_INLINE hn::Vec<hn::RebindToSigned<D>> LoadIntegers(D, const hn::TFromD<D>* from) {
  const hn::RebindToSigned<D> di;
  return hn::LoadU(di, reinterpret_cast<const hn::TFromD<decltype(di)>*>(from));
}
template <class D, class V> HWY_INLINE void StoreResult(D, V value, hn::TFromD<D>* to, bool stream) {
  using R = hn::TFromV<V>;
  const hn::Rebind<R, D> dr;
  if (HWY_UNLIKELY(stream)) hn::Stream(value, dr, reinterpret_cast<R*>(to));
  else hn::StoreU(value, dr, reinterpret_cast<R*>(to));
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

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
