// Short rows without their means, and the sums of their squares, as variances and layer norms have them: in one pass,
// in registers. Where halves of a vector take half of the rows each (transpose-inl.h), what a row has one of is
// repeated along it by one operation within halves. Stands after reductions-inl.h and by_number-inl.h. No include
// guard: once per target file.
#include <hwy/highway.h>

#include "cpu/simd/kernel_table.hpp"

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX2
/// Lanes of a half that vectors of rows take where what each row has one of is repeated along them: of_vector[i] in
/// vector i of LoadOfRows, of_row[i] in one that has elements of row i alone, and of that half of the rows later.
template <class I, std::size_t kLength, std::size_t kHalf> struct PlacesAlongRows {
  alignas(32) I of_vector[kLength][2 * kHalf], of_row[kHalf][2 * kHalf];
  constexpr PlacesAlongRows() : of_vector{}, of_row{} {
    for (std::size_t i = 0; i < kLength; ++i)
      for (std::size_t l = 0; l < 2 * kHalf; ++l) of_vector[i][l] = LaneOfHalf<I>((i * kHalf + l % kHalf) / kLength);
    for (std::size_t i = 0; i < kHalf; ++i)
      for (std::size_t l = 0; l < 2 * kHalf; ++l) of_row[i][l] = LaneOfHalf<I>(i);
  }
};
template <class I, std::size_t kLength, std::size_t kHalf>
inline constexpr PlacesAlongRows<I, kLength, kHalf> kPlacesAlongRows;

/// As many rows as a vector has lanes, as RowsInMemory has them; few vectors are kept in registers, as what is stored
/// between two loads might be what they load.
template <std::size_t kLength, class D> struct RowsAtHand {
  using T = hn::TFromD<D>;
  static constexpr bool kKept = kLength < hn::MaxLanes(D());  // by whole vectors: JoinedRows
  const T* x;
  hn::Vec<D> v[kKept ? kLength : 1];

  HWY_INLINE RowsAtHand(D d, const T* rows) : x(rows) {
    if constexpr (kKept)
      TERN_UNROLL for (std::size_t i = 0; i < kLength; ++i) v[i] = LoadOfRows<kLength>(d, x, i);
  }
  HWY_INLINE hn::Vec<D> Vector(D, std::size_t i) const { return v[i]; }
  HWY_INLINE hn::Vec<D> Row(D d, std::size_t i, std::size_t at) const {
    return LoadOfRows<kLength>(d, x + i * kLength + at, 0);
  }
};

/// Squares of what such rows have beside their means; kKeeps: that itself is stored.
template <std::size_t kLength, bool kKeeps, class D> struct CentredRows {
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;
  using I = hn::TFromD<hn::RebindToSigned<D>>;
  static constexpr std::size_t kHalf = hn::MaxLanes(D()) / 2;
  static constexpr const PlacesAlongRows<I, kLength, kHalf>& kPlaces = kPlacesAlongRows<I, kLength, kHalf>;
  const RowsAtHand<kLength, D>& rows;
  V mean;
  T* centred;

  HWY_INLINE V Vector(D d, std::size_t i) const { return Square(d, Rest(d, i)); }
  HWY_INLINE V Row(D d, std::size_t i, std::size_t at) const {
    return Square(d, RestOf(d, rows.Row(d, i, at), i * kLength + at, kPlaces.of_row[i]));
  }
  /// What vector i has beside the means.
  HWY_INLINE V Rest(D d, std::size_t i) const {
    return RestOf(d, rows.Vector(d, i), i * kHalf, kPlaces.of_vector[i]);
  }
  static HWY_INLINE V Square(D d, V c) { return SimdFunction<Elementary::mul>::Run(d, c, c); }

 private:
  HWY_INLINE V RestOf(D d, V x, std::size_t at, const I* along) const {
    const V c = SimdFunction<Elementary::sub>::Run(d, x, LanesOfHalves(mean, along));
    if constexpr (kKeeps) {
      const hn::Half<D> half;
      hn::StoreU(hn::LowerHalf(half, c), half, centred + at);
      hn::StoreU(hn::UpperHalf(half, c), half, centred + at + kHalf * kLength);
    }
    return c;
  }
};

/// Of as many rows as a vector has lanes: what the sum, the division, the subtraction, the product, the other sum and,
/// if kMean, its division give one after the other, each with its bits.
template <std::size_t kLength, bool kKeeps, bool kMean, class D> struct CentredSquares {
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;
  using L = SimdFunction<Elementary::sum>;
  static constexpr bool kByColumns = kLength < hn::MaxLanes(D()) && OddPart(kLength) == kLength;
  JoinedRows<L, kLength, D> joined;
  ByNumber<D> by_length;

  HWY_INLINE void Run(D d, const T* x, T* means, T* squares, T* centred) const {
    const RowsAtHand<kLength, D> rows(d, x);
    V mean, of_squares;
    if constexpr (kByColumns) {
      OfColumns(d, rows, mean, of_squares);
      if constexpr (kKeeps)
        TERN_UNROLL for (std::size_t i = 0; i < kLength; ++i)
          CentredRows<kLength, true, D>{rows, mean, centred}.Rest(d, i);
    } else {
      mean = by_length.template RunBy<kLength>(d, joined.JoinRows(d, rows));
      of_squares = joined.JoinRows(d, CentredRows<kLength, kKeeps, D>{rows, mean, centred});
    }
    if constexpr (kMean) of_squares = by_length.template RunBy<kLength>(d, of_squares);
    hn::StoreU(mean, d, means), hn::StoreU(of_squares, d, squares);
  }

 private:
  /// Rows that JoinedRows transposes, once for both sums. (1024 f32 in L1, Zen 3, in ns, rows of 3, 5 and 7 transposed
  /// again and so: 350, 362, 430 and 260, 269, 267; where the rest is kept 518, 508, 500 and 448, 435, 440.)
  HWY_INLINE void OfColumns(D d, const RowsAtHand<kLength, D>& rows, V& mean, V& of_squares) const {
    V columns[kLength];
    TERN_UNROLL for (std::size_t j = 0; j < kLength; ++j) columns[j] = rows.Vector(d, j);
    joined.transpose.Run(d, columns);
    V sum = L::Identity(d);
    TERN_UNROLL for (std::size_t j = 0; j < kLength; ++j) sum = L::Run(d, sum, columns[j]);
    mean = by_length.template RunBy<kLength>(d, sum), of_squares = L::Identity(d);
    TERN_UNROLL for (std::size_t j = 0; j < kLength; ++j) {
      const V rest = SimdFunction<Elementary::sub>::Run(d, columns[j], mean);
      of_squares = L::Run(d, of_squares, SimdFunction<Elementary::mul>::Run(d, rest, rest));
    }
  }
};

/// A loop of rows of call.times elements: their means, the sums (kMean: the means) of squares and, if it keeps them,
/// the differences.
template <bool kKeeps, bool kMean, class T> void CentredSquaresOfRows(const LoopCall& call) {
  using D = hn::ScalableTag<T>;
  constexpr std::size_t kLanes = hn::MaxLanes(D());
  static_assert(kShortRow <= kMostJoined<T>);  // every length that comes here is joined
  const D d;
  const T* const x = static_cast<const T*>(call.in[0]);
  T *const means = static_cast<T*>(call.out[0]), *const squares = static_cast<T*>(call.out[1]);
  T* const centred = kKeeps ? static_cast<T*>(call.out[2]) : nullptr;
  const std::size_t groups = call.n / call.times;
  const auto run = [=]<std::size_t kLength>() HWY_ATTR {
    const CentredSquares<kLength, kKeeps, kMean, D> kernel{JoinedRows<SimdFunction<Elementary::sum>, kLength, D>(d),
                                                           ByNumber<D>(d, static_cast<T>(kLength))};
    const auto some = [=](std::size_t g, bool whole) TERN_INLINED_TWICE {
      if (whole) FetchAhead(x + g * kLength, kLanes * kLength);
      kernel.Run(d, x + g * kLength, means + g, squares + g, kKeeps ? centred + g * kLength : nullptr);
    };
    const auto few = [=]() HWY_ATTR {
      HWY_ALIGN T rows[kLanes * kLength] = {}, differences[kLanes * kLength], results[2][kLanes];
      std::memcpy(rows, x, groups * kLength * sizeof(T));
      kernel.Run(d, rows, results[0], results[1], differences);
      std::memcpy(means, results[0], groups * sizeof(T)), std::memcpy(squares, results[1], groups * sizeof(T));
      if constexpr (kKeeps) std::memcpy(centred, differences, groups * kLength * sizeof(T));
    };
    ByVectorsOfRows(d, groups, some, few);
  };
  WithLength<2, kMostJoined<T>>(call.times, run);
}
template <class T> void AddCentredSquares(LoopFn (&functions)[2][2]) {
  functions[0][0] = &CentredSquaresOfRows<false, false, T>, functions[0][1] = &CentredSquaresOfRows<false, true, T>;
  functions[1][0] = &CentredSquaresOfRows<true, false, T>, functions[1][1] = &CentredSquaresOfRows<true, true, T>;
}
#else
template <class T> void AddCentredSquares(LoopFn (&)[2][2]) {}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
