// Fourier transforms of as many lines as a vector has lanes, for the SIMD target being compiled (no include guard: once
// per target file). (Longer than other files: a butterfly for each radix.)
//
// Every lane does the same, so there is no shuffle in a transform, whatever its length: a butterfly loads `radix` rows,
// and each twiddle is one number for all lanes. Flops and bytes: a pass of radix 8 over c64 has about 9 flops an
// element of 8 bytes, read and written once in L1 or L2; 4096 elements take four passes.
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "primitives/fft/lanes.hpp"

#if defined(__clang__)
#define TERN_FFT_UNROLL _Pragma("clang loop unroll(full)")
#else
#define TERN_FFT_UNROLL _Pragma("GCC unroll 16")
#endif

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu::fft {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T> struct ComplexLanes {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr std::int64_t kCount = hn::MaxLanes(D()), kRow = 2 * kCount;
  struct C {
    V re, im;
  };
  static HWY_INLINE C Load(const T* at) { return {hn::LoadU(D(), at), hn::LoadU(D(), at + kCount)}; }
  static HWY_INLINE void Store(C z, T* at) { hn::StoreU(z.re, D(), at), hn::StoreU(z.im, D(), at + kCount); }
  static HWY_INLINE C Set(const T* z) { return {hn::Set(D(), z[0]), hn::Set(D(), z[1])}; }
  static HWY_INLINE C Add(C a, C b) { return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)}; }
  static HWY_INLINE C Sub(C a, C b) { return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)}; }
  static HWY_INLINE C Times(C a, V x) { return {hn::Mul(a.re, x), hn::Mul(a.im, x)}; }
  static HWY_INLINE C TimesPlus(C a, V x, C b) { return {hn::MulAdd(a.re, x, b.re), hn::MulAdd(a.im, x, b.im)}; }
  static HWY_INLINE C Mul(C a, C b) {
    return {hn::NegMulAdd(a.im, b.im, hn::Mul(a.re, b.re)), hn::MulAdd(a.im, b.re, hn::Mul(a.re, b.im))};
  }
  /// a - i·b and a + i·b.
  static HWY_INLINE C SubTimesI(C a, C b) { return {hn::Add(a.re, b.im), hn::Sub(a.im, b.re)}; }
  static HWY_INLINE C AddTimesI(C a, C b) { return {hn::Sub(a.re, b.im), hn::Add(a.im, b.re)}; }
};

// ---- butterflies: a transform of `radix` numbers in registers ----

template <class T, int kRadix> struct Butterfly {  // odd, by pairs of conjugate roots
  using L = ComplexLanes<T>;
  using C = typename L::C;
  static HWY_INLINE void Run(C* x, const T* roots) {
    constexpr int kHalf = kRadix / 2;
    C sum[kHalf], difference[kHalf];
    TERN_FFT_UNROLL for (int j = 0; j < kHalf; ++j) {
      sum[j] = L::Add(x[j + 1], x[kRadix - 1 - j]), difference[j] = L::Sub(x[j + 1], x[kRadix - 1 - j]);
    }
    const C first = x[0];
    TERN_FFT_UNROLL for (int j = 0; j < kHalf; ++j) x[0] = L::Add(x[0], sum[j]);
    for (int k = 1; k <= kHalf; ++k) {
      C even = first, odd{hn::Zero(typename L::D()), hn::Zero(typename L::D())};
      TERN_FFT_UNROLL for (int j = 0; j < kHalf; ++j) {
        const T* root = roots + 2 * ((j + 1) * k % kRadix);
        even = L::TimesPlus(sum[j], hn::Set(typename L::D(), root[0]), even);
        odd = L::TimesPlus(difference[j], hn::Set(typename L::D(), -root[1]), odd);
      }
      x[k] = L::SubTimesI(even, odd), x[kRadix - k] = L::AddTimesI(even, odd);
    }
  }
};
template <class T> struct Butterfly<T, 2> {
  using L = ComplexLanes<T>;
  static HWY_INLINE void Run(typename L::C* x, const T*) {
    const auto a = x[0];
    x[0] = L::Add(a, x[1]), x[1] = L::Sub(a, x[1]);
  }
};
template <class T> struct Butterfly<T, 3> {
  using L = ComplexLanes<T>;
  static HWY_INLINE void Run(typename L::C* x, const T*) {
    const typename L::D d;
    const auto sum = L::Add(x[1], x[2]);
    const auto odd = L::Times(L::Sub(x[1], x[2]), hn::Set(d, T(0.86602540378443864676)));
    const auto middle = L::TimesPlus(sum, hn::Set(d, T(-0.5)), x[0]);
    x[0] = L::Add(x[0], sum), x[1] = L::SubTimesI(middle, odd), x[2] = L::AddTimesI(middle, odd);
  }
};
template <class T> struct Butterfly<T, 4> {
  using L = ComplexLanes<T>;
  static HWY_INLINE void Run(typename L::C* x, const T*) {
    const auto a = L::Add(x[0], x[2]), b = L::Sub(x[0], x[2]), c = L::Add(x[1], x[3]), e = L::Sub(x[1], x[3]);
    x[0] = L::Add(a, c), x[1] = L::SubTimesI(b, e), x[2] = L::Sub(a, c), x[3] = L::AddTimesI(b, e);
  }
};
template <class T> struct Butterfly<T, 5> {
  using L = ComplexLanes<T>;
  static HWY_INLINE void Run(typename L::C* x, const T*) {
    const typename L::D d;
    const auto c1 = hn::Set(d, T(0.30901699437494742410)), c2 = hn::Set(d, T(-0.80901699437494742410));
    const auto s1 = hn::Set(d, T(0.95105651629515357212)), s2 = hn::Set(d, T(0.58778525229247312917));
    const auto a = L::Add(x[1], x[4]), b = L::Add(x[2], x[3]), e = L::Sub(x[1], x[4]), f = L::Sub(x[2], x[3]);
    const auto m1 = L::TimesPlus(b, c2, L::TimesPlus(a, c1, x[0]));
    const auto m2 = L::TimesPlus(b, c1, L::TimesPlus(a, c2, x[0]));
    const auto n1 = L::TimesPlus(f, s2, L::Times(e, s1));
    const auto n2 = L::TimesPlus(f, hn::Neg(s1), L::Times(e, s2));
    x[0] = L::Add(x[0], L::Add(a, b));
    x[1] = L::SubTimesI(m1, n1), x[4] = L::AddTimesI(m1, n1), x[2] = L::SubTimesI(m2, n2), x[3] = L::AddTimesI(m2, n2);
  }
};
template <class T> struct Butterfly<T, 8> {
  using L = ComplexLanes<T>;
  using C = typename L::C;
  static HWY_INLINE void Run(C* x, const T*) {
    const auto half = hn::Set(typename L::D(), T(0.70710678118654752440));
    C even[4] = {x[0], x[2], x[4], x[6]}, odd[4] = {x[1], x[3], x[5], x[7]};
    Butterfly<T, 4>::Run(even, nullptr), Butterfly<T, 4>::Run(odd, nullptr);
    const C one = L::Times({hn::Add(odd[1].re, odd[1].im), hn::Sub(odd[1].im, odd[1].re)}, half);
    const C three = L::Times({hn::Sub(odd[3].im, odd[3].re), hn::Neg(hn::Add(odd[3].re, odd[3].im))}, half);
    x[0] = L::Add(even[0], odd[0]), x[4] = L::Sub(even[0], odd[0]);
    x[1] = L::Add(even[1], one), x[5] = L::Sub(even[1], one);
    x[2] = L::SubTimesI(even[2], odd[2]), x[6] = L::AddTimesI(even[2], odd[2]);
    x[3] = L::Add(even[3], three), x[7] = L::Sub(even[3], three);
  }
};

template <int kRadix, class T> void RunPass(const Pass<T>& pass, const T* HWY_RESTRICT x, T* HWY_RESTRICT y) {
  using L = ComplexLanes<T>;
  const std::int64_t s = pass.s, apart = pass.m * s * L::kRow, out_apart = s * L::kRow;
  for (std::int64_t p = 0; p < pass.m; ++p) {
    const T* const w = pass.twiddles + 2 * p * (kRadix - 1);
    const T* from = x + p * s * L::kRow;
    T* to = y + p * kRadix * s * L::kRow;
    for (std::int64_t q = 0; q < s; ++q, from += L::kRow, to += L::kRow) {
      typename L::C v[kRadix];
      TERN_FFT_UNROLL for (int j = 0; j < kRadix; ++j) v[j] = L::Load(from + j * apart);
      Butterfly<T, kRadix>::Run(v, pass.roots);
      L::Store(v[0], to);
      if (p == 0) {
        TERN_FFT_UNROLL for (int k = 1; k < kRadix; ++k) L::Store(v[k], to + k * out_apart);
      } else {
        TERN_FFT_UNROLL for (int k = 1; k < kRadix; ++k)
            L::Store(L::Mul(v[k], L::Set(w + 2 * (k - 1))), to + k * out_apart);
      }
    }
  }
}

template <class T> T* Transform(const Pass<T>* passes, int count, T* x, T* y) {
  for (int i = 0; i < count; ++i, std::swap(x, y)) {
    switch (passes[i].radix) {
      case 2: RunPass<2>(passes[i], x, y); break;
      case 3: RunPass<3>(passes[i], x, y); break;
      case 4: RunPass<4>(passes[i], x, y); break;
      case 5: RunPass<5>(passes[i], x, y); break;
      case 7: RunPass<7>(passes[i], x, y); break;
      case 8: RunPass<8>(passes[i], x, y); break;
      case 11: RunPass<11>(passes[i], x, y); break;
      default: RunPass<13>(passes[i], x, y);
    }
  }
  return x;
}

// ---- between memory and blocks ----

/// A complex number as one piece of memory.
template <class T> HWY_INLINE void CopyPair(const T* from, T* to) { std::memcpy(to, from, 2 * sizeof(T)); }
constexpr std::int64_t kTilePlaces = 16;

/// Lines whose numbers are pairs next to each other along the axis (transposed: through a tile in L1), or from lane to
/// lane.
template <class T> bool LanesTogether(const LineView<T>& v) {
  for (int l = 0; l < v.count; ++l)
    if (v.offsets[l] != v.offsets[0] + 2 * l) return false;
  return v.count == ComplexLanes<std::remove_const_t<T>>::kCount;
}

template <class T> void LoadPart(const T* from, const LineView<const T>& v, std::int64_t given, T* block) {
  using L = ComplexLanes<T>;
  for (std::int64_t i = 0; i < given; ++i)
    for (int l = 0; l < v.count; ++l) block[i * L::kRow + l] = from[v.offsets[l] + i * v.stride];
}
template <class T> void LoadBlock(const LineView<const T>& v, std::int64_t rows, T* block) {
  using L = ComplexLanes<T>;
  const typename L::D d;
  const bool pairs = v.im == v.re + 1 && v.re_rows == v.im_rows;
  const std::int64_t given = std::min(std::max(v.re_rows, v.im ? v.im_rows : 0), rows);
  T *const re = block + (v.swap ? L::kCount : 0), *const im = block + (v.swap ? 0 : L::kCount);
  if (pairs && LanesTogether(v)) {
    const T* from = v.re + v.offsets[0];
    for (std::int64_t i = 0; i < given; ++i, from += v.stride) {
      hn::Vec<typename L::D> a, b;
      hn::LoadInterleaved2(d, from, a, b);
      hn::StoreU(a, d, re + i * L::kRow), hn::StoreU(b, d, im + i * L::kRow);
    }
  } else if (pairs && v.stride == 2) {
    HWY_ALIGN T tile[kTilePlaces * L::kRow] = {};
    for (std::int64_t i = 0; i < given; i += kTilePlaces) {
      const std::int64_t now = std::min(kTilePlaces, given - i);
      for (int l = 0; l < v.count; ++l) {
        const T* const from = v.re + v.offsets[l] + 2 * i;
        for (std::int64_t k = 0; k < now; ++k) CopyPair(from + 2 * k, tile + k * L::kRow + 2 * l);
      }
      for (std::int64_t k = 0; k < now; ++k) {
        hn::Vec<typename L::D> a, b;
        hn::LoadInterleaved2(d, tile + k * L::kRow, a, b);
        hn::StoreU(a, d, re + (i + k) * L::kRow), hn::StoreU(b, d, im + (i + k) * L::kRow);
      }
    }
  } else {
    std::fill(block, block + rows * L::kRow, T(0));
    LoadPart(v.re, v, std::min(v.re_rows, rows), re);
    if (v.im) LoadPart(v.im, v, std::min(v.im_rows, rows), im);
    return;
  }
  if (given < rows) std::fill(block + given * L::kRow, block + rows * L::kRow, T(0));
}

template <class T> void StoreBlock(const T* block, std::int64_t rows, T scale, const LineView<T>& v) {
  using L = ComplexLanes<T>;
  const typename L::D d;
  const bool pairs = v.im == v.re + 1 && v.re_rows == v.im_rows;
  rows = std::min(rows, std::max(v.re_rows, v.im ? v.im_rows : 0));
  const T *const re = block + (v.swap ? L::kCount : 0), *const im = block + (v.swap ? 0 : L::kCount);
  const auto by = hn::Set(d, scale);
  const auto store = [&](std::int64_t i, T* to) HWY_ATTR {
    hn::StoreInterleaved2(hn::Mul(hn::LoadU(d, re + i * L::kRow), by), hn::Mul(hn::LoadU(d, im + i * L::kRow), by), d,
                          to);
  };
  if (pairs && LanesTogether(v)) {
    for (std::int64_t i = 0; i < rows; ++i) store(i, v.re + v.offsets[0] + i * v.stride);
  } else if (pairs && v.stride == 2) {
    HWY_ALIGN T tile[kTilePlaces * L::kRow];
    for (std::int64_t i = 0; i < rows; i += kTilePlaces) {
      const std::int64_t now = std::min(kTilePlaces, rows - i);
      for (std::int64_t k = 0; k < now; ++k) store(i + k, tile + k * L::kRow);
      for (int l = 0; l < v.count; ++l) {
        T* const to = v.re + v.offsets[l] + 2 * i;
        for (std::int64_t k = 0; k < now; ++k) CopyPair(tile + k * L::kRow + 2 * l, to + 2 * k);
      }
    }
  } else {
    for (std::int64_t i = 0; i < rows; ++i)
      for (int l = 0; l < v.count; ++l) {
        const std::int64_t at = v.offsets[l] + i * v.stride;
        if (i < v.re_rows) v.re[at] = re[i * L::kRow + l] * scale;
        if (v.im && i < v.im_rows) v.im[at] = im[i * L::kRow + l] * scale;
      }
  }
}

template <class T> void TwiddleColumns(const T* block, std::int64_t rows, const ColumnTwiddles<T>& how) {
  using L = ComplexLanes<T>;
  HWY_ALIGN T tile[kTilePlaces * L::kRow];
  for (std::int64_t i = 0; i < rows; i += kTilePlaces) {
    const std::int64_t now = std::min(kTilePlaces, rows - i);
    for (std::int64_t k = 0; k < now; ++k) {
      auto w = L::Load(how.table + (i + k) * L::kRow);
      if (how.base) w = L::Mul(w, L::Set(how.base + 2 * (i + k)));
      const auto z = L::Mul(L::Load(block + (i + k) * L::kRow), w);
      hn::StoreInterleaved2(z.re, z.im, typename L::D(), tile + k * L::kRow);
    }
    for (int l = 0; l < how.count; ++l) {
      T* const to = how.to + l * how.pitch + 2 * i;
      for (std::int64_t k = 0; k < now; ++k) CopyPair(tile + k * L::kRow + 2 * l, to + 2 * k);
    }
  }
}

// ---- rows by numbers, and real lines ----

template <class T> void ScaleRows(T* block, std::int64_t rows, const T* by, bool conj) {
  using L = ComplexLanes<T>;
  for (std::int64_t i = 0; i < rows; ++i, block += L::kRow) {
    auto z = L::Mul(L::Load(block), L::Set(by + 2 * i));
    if (conj) z.im = hn::Neg(z.im);
    L::Store(z, block);
  }
}

/// a = (x + conj y)/2, b = (x - conj y)/2 of a row and the one that mirrors it.
template <class T>
HWY_INLINE void Halves(const T* x, const T* y, T by, typename ComplexLanes<T>::C& a, typename ComplexLanes<T>::C& b) {
  using L = ComplexLanes<T>;
  const auto p = L::Load(x), q = L::Load(y);
  const auto half = hn::Set(typename L::D(), by);
  a = L::Times({hn::Add(p.re, q.re), hn::Sub(p.im, q.im)}, half);
  b = L::Times({hn::Sub(p.re, q.re), hn::Add(p.im, q.im)}, half);
}
/// X(k) = a - i·w·b, X(half - k) = conj(a + i·w·b), with w the root to the power of k.
template <class T> void FromPairs(T* block, std::int64_t half, const T* roots, T inner) {
  using L = ComplexLanes<T>;
  const typename L::D d;
  const auto first = L::Load(block);
  for (std::int64_t k = 1; 2 * k <= half; ++k) {
    T *const low = block + k * L::kRow, *const high = block + (half - k) * L::kRow;
    typename L::C a, b;
    Halves(low, high, T(0.5) * inner, a, b);
    const auto wb = L::Mul(b, L::Set(roots + 2 * k));
    const auto y = L::AddTimesI(a, wb);
    L::Store({y.re, hn::Neg(y.im)}, high), L::Store(L::SubTimesI(a, wb), low);
  }
  L::Store({hn::Add(first.re, first.im), hn::Zero(d)}, block);
  L::Store({hn::Sub(first.re, first.im), hn::Zero(d)}, block + half * L::kRow);
}
/// Z(k) = a + i·conj(w)·b, Z(half - k) = conj(a - i·conj(w)·b), where a and b are sums and differences.
template <class T> void ToPairs(T* block, std::int64_t half, const T* roots, T inner) {
  using L = ComplexLanes<T>;
  const auto first = L::Load(block), last = L::Load(block + half * L::kRow);
  for (std::int64_t k = 1; 2 * k <= half; ++k) {
    T *const low = block + k * L::kRow, *const high = block + (half - k) * L::kRow;
    typename L::C a, b;
    Halves(low, high, inner, a, b);
    auto w = L::Set(roots + 2 * k);
    w.im = hn::Neg(w.im);
    const auto wb = L::Mul(b, w), y = L::SubTimesI(a, wb), z = L::AddTimesI(a, wb);
    L::Store({hn::Neg(y.im), y.re}, high), L::Store({z.im, z.re}, low);
  }
  L::Store({hn::Sub(first.re, last.re), hn::Add(first.re, last.re)}, block);
}

template <class T> void MultiplyPairs(const T* a, const T* b, T* y, std::int64_t count, bool conj) {
  using L = ComplexLanes<T>;
  const typename L::D d;
  std::int64_t i = 0;
  for (; i + L::kCount <= count; i += L::kCount) {
    typename L::C p, q;
    hn::LoadInterleaved2(d, a + 2 * i, p.re, p.im), hn::LoadInterleaved2(d, b + 2 * i, q.re, q.im);
    const auto z = L::Mul(p, q);
    hn::StoreInterleaved2(z.re, conj ? hn::Neg(z.im) : z.im, d, y + 2 * i);
  }
  for (; i < count; ++i) {
    const T re = a[2 * i] * b[2 * i] - a[2 * i + 1] * b[2 * i + 1];
    const T im = a[2 * i + 1] * b[2 * i] + a[2 * i] * b[2 * i + 1];
    y[2 * i] = re, y[2 * i + 1] = conj ? -im : im;
  }
}

template <class T> constexpr LineKernels<T> KernelsOf() {
  return {static_cast<int>(ComplexLanes<T>::kCount),
          &Transform<T>,
          &LoadBlock<T>,
          &StoreBlock<T>,
          &TwiddleColumns<T>,
          &ScaleRows<T>,
          &FromPairs<T>,
          &ToPairs<T>,
          &MultiplyPairs<T>};
}

}  // namespace HWY_NAMESPACE

#define TERN_FFT_LANES_(name) fft_lanes_##name
#define TERN_FFT_LANES(name) TERN_FFT_LANES_(name)
/// fft_lanes_N_AVX2() and so on, called on processors that have the target.
const AllLineKernels& TERN_FFT_LANES(HWY_NAMESPACE)() {
  static constexpr AllLineKernels all{HWY_NAMESPACE::KernelsOf<float>(), HWY_NAMESPACE::KernelsOf<double>()};
  return all;
}
}  // namespace tern::detail_cpu::fft
HWY_AFTER_NAMESPACE();
