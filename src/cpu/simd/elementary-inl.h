// The SIMD bodies of all elementary functions for the target being compiled (no include guard: once per target file).
#include <hwy/highway.h>

#include "cpu/simd/by_table-inl.h"
#include "cpu/simd/powers_by_table-inl.h"
#include "cpu/simd/angles_by_table-inl.h"
#include "formula/elementary.hpp"

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace tern::detail;

/// An elementary function without a SIMD body for any lane (reductions, casts and indices are handled elsewhere).
template <Elementary L> struct SimdFunction { static constexpr unsigned kTypes = 0; };

/// 0 or 1 in integer lanes as wide as the compared ones.
template <class D, class M> HWY_INLINE hn::Vec<hn::RebindToSigned<D>> Predicate(D, M mask) {
  const hn::RebindToSigned<D> di;
  return hn::IfThenElseZero(hn::RebindMask(di, mask), hn::Set(di, 1));
}

#define TERN_ELEMENTARY_SIMD
#define TERN_SIMD(name) template <> struct SimdFunction<Elementary::name>
#include "elementary_all.inc"
#undef TERN_SIMD
#undef TERN_ELEMENTARY_SIMD

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
