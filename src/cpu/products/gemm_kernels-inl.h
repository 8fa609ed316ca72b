// The matrix product's SIMD kernels for the target being compiled (no include guard: once per target file). (Longer
// than other files: kernels that share a tile's loads and stores, for each type of factor.)
//
// Problem: C (rows × cols) = or += A (rows × depth) · B (depth × cols), the driver (gemm.cpp) having cut the product so
// that the operands of one call are in cache. One micro-kernel call keeps a tile of C in registers:
//
//                     cols: 2 vectors (32 f32 with AVX-512)
//                   +-----------+-----------+
//       B, step p:  |  b vector |  b vector |           each step: 2 loads of B, `rows` broadcasts of A (some of them
//                   +-----------+-----------+           operands in memory), 2 · rows fused multiply-adds
//       A, step p   |           |           |
//         [a0]  ->  |  c0       |  c1       |
//         [a1]  ->  |  c2       |  c3       |           AVX-512, NEON: 14 (12) × 2 vectors, 28 (24) of 32 registers;
//          ...      |           |           |           AVX2, SSE4: 6 × 2 vectors, 12 of 16
//         [a13] ->  |  c26      |  c27      |
//                   +-----------+-----------+
//
// Instructions: where another program has the core's other hyperthread, half of the front end is ours, 3 instructions a
// cycle, 42 in the 14 cycles of a step's multiply-adds. So A is packed with the rows of a call side by side
// (column-major, it lies so), which takes one pointer, and AVX-512 multiplies every other row by an element in memory:
// a register costs one instruction, memory a load more. 43 instructions a step, with A's rows apart 52: 1.1 to 1.2 of
// the speed in such moments (512³ to 2048³, f32 and f64), 0.97 to 1 on a core of one's own. Steps unrolled by 2 and 4
// gave back half of that (the loop no longer fits the queue after the decoders); 9 × 3 vectors gave the same as 14 × 2.
//
// Flops and bytes: 14 × 32 f32 over 1024 steps is 918 Kflop on 57 KB of A and 131 KB of B, both from L2: 4.9 flop a
// byte. A core that multiplies and adds 64 flop a cycle needs 13 of the 48 to 64 bytes a cycle L2 gives. Expected: 97 %
// of the fma roof for one call on data in L2, 88 to 90 % for products of 512³ and up. Few rows take more columns (1 × 8
// vectors) and stream B once, at the speed of memory. To run it alone: gemm() with TERN_NUM_THREADS=1 and k at most
// 1024 is nothing but these calls and the packing.
#include <hwy/highway.h>

#include "cpu/products/gemm_kernels.hpp"

#if defined(__clang__)
#define TERN_GEMM_UNROLL _Pragma("clang loop unroll(full)")
#else
#define TERN_GEMM_UNROLL _Pragma("GCC unroll 32")
#endif

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {
namespace gemm_simd {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3
constexpr int kMaxRows = 6, kAccumulators = 12;  // 16 registers: 12 + 2 of B + 1 of A, and SSE4's product
#elif HWY_ARCH_X86
constexpr int kMaxRows = 14, kAccumulators = 28;  // 32 registers: 28 + 2 of B + 1 of A
#else
constexpr int kMaxRows = 12, kAccumulators = 24;
#endif
constexpr int kPanelVectors = 2;
/// Whether a multiply-add can take one element of memory for all lanes.
constexpr bool kEmbeds = HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3;

/// Vectors across for a call of `rows` rows; not above 8, where one row already hides the fma latency (4 × 2).
constexpr int WidestVectors(int rows) {
  const int fit = (kAccumulators == 28 ? 24 : kAccumulators) / rows;
  return fit < kPanelVectors ? kPanelVectors : fit > 8 ? 8 : fit;
}

template <class T> inline constexpr bool kIsInteger = static_cast<T>(0.5f) == T{};

template <class T, class V> HWY_INLINE V MultiplyAdd(V a, V b, V c) {
  if constexpr (kIsInteger<T>) {
    return hn::Add(hn::Mul(a, b), c);
  } else {
    return hn::MulAdd(a, b, c);
  }
}

// ---- loads that widen to the compute type

template <class D> HWY_INLINE hn::Vec<D> LoadLanes(D d, const hn::TFromD<D>* from) { return hn::LoadU(d, from); }

template <class D> HWY_INLINE hn::Vec<D> LoadLanes(D d, const bfloat16* from) {
  const hn::RebindToUnsigned<D> bits;
  const hn::Rebind<std::uint16_t, D> half;
  const auto raw = hn::LoadU(half, reinterpret_cast<const std::uint16_t*>(from));
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(bits, raw)));
}

template <class D> HWY_INLINE hn::Vec<D> LoadLanes(D d, const float16* from) {
#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX2
  // Highway's own conversion without F16C does not know infinities. Shifted into a float's place, the exponent is 112
  // too small: one exact product sets that right, for subnormals too; the largest exponent becomes the float's.
  const hn::RebindToUnsigned<D> bits;
  const hn::Rebind<std::uint16_t, D> half;
  const auto raw = hn::PromoteTo(bits, hn::LoadU(half, reinterpret_cast<const std::uint16_t*>(from)));
  const auto magnitude = hn::ShiftLeft<13>(hn::And(raw, hn::Set(bits, 0x7fffu)));
  const auto sign = hn::ShiftLeft<16>(hn::And(raw, hn::Set(bits, 0x8000u)));
  const auto value = hn::BitCast(bits, hn::Mul(hn::BitCast(d, magnitude), hn::Set(d, 0x1p112f)));
  const auto special = hn::Gt(magnitude, hn::Set(bits, (0x7bffu << 13) | 0x1fffu));
  return hn::BitCast(d, hn::Or(sign, hn::IfThenElse(special, hn::Or(magnitude, hn::Set(bits, 0x7f800000u)), value)));
#else
  const hn::Rebind<hwy::float16_t, D> half;
  return hn::PromoteTo(d, hn::LoadU(half, reinterpret_cast<const hwy::float16_t*>(from)));
#endif
}

template <class T, class S> HWY_INLINE T LoadOne(const S* from) {
  const hn::CappedTag<T, 1> one;
  return hn::GetLane(LoadLanes(one, from));
}

// ---- packing

/// 16 bytes from each of Lanes(d) · sizeof(T) / 16 columns, `col` apart, the first lowest.
template <class D, class S> HWY_INLINE hn::Vec<D> LoadBlocks(D d, const S* from, std::int64_t col) {
  if constexpr (hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) <= 16) {
    return LoadLanes(d, from);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, LoadBlocks(half, from + hn::MaxLanes(half) * sizeof(hn::TFromD<D>) / 16 * col, col),
                       LoadBlocks(half, from, col));
  }
}

/// Four (of 8 bytes: two) rows of Lanes(d) columns of `from`, whose columns are contiguous. Highway interleaves within
/// 16 bytes, so that wide vectors transpose several 4 × 4 blocks at once, those of columns 0-3 lowest.
template <class D, class T, class S>
HWY_INLINE void TransposeBlock(D d, const S* from, std::int64_t col, T* to, std::int64_t to_row) {
  constexpr std::int64_t kPerBlock = 16 / sizeof(T);
  const auto v0 = LoadBlocks(d, from, kPerBlock * col), v1 = LoadBlocks(d, from + col, kPerBlock * col);
  if constexpr (sizeof(T) == 4) {
    const auto v2 = LoadBlocks(d, from + 2 * col, kPerBlock * col), v3 = LoadBlocks(d, from + 3 * col, kPerBlock * col);
    const auto t0 = hn::InterleaveLower(d, v0, v2), t1 = hn::InterleaveLower(d, v1, v3);
    const auto t2 = hn::InterleaveUpper(d, v0, v2), t3 = hn::InterleaveUpper(d, v1, v3);
    hn::StoreU(hn::InterleaveLower(d, t0, t1), d, to);
    hn::StoreU(hn::InterleaveUpper(d, t0, t1), d, to + to_row);
    hn::StoreU(hn::InterleaveLower(d, t2, t3), d, to + 2 * to_row);
    hn::StoreU(hn::InterleaveUpper(d, t2, t3), d, to + 3 * to_row);
  } else {
    hn::StoreU(hn::InterleaveLower(d, v0, v1), d, to);
    hn::StoreU(hn::InterleaveUpper(d, v0, v1), d, to + to_row);
  }
}

template <class T, class S>
void CopyScalar(const S* from, std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols, T* to,
                std::int64_t to_row) {
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < cols; ++j) to[i * to_row + j] = LoadOne<T>(from + i * row + j * col);
}

/// Whole blocks from column `j` on, the last of them overlapping the one before where `ends`; returns the first column
/// left.
template <class D, class T, class S>
HWY_INLINE std::int64_t TransposeBand(D d, const S* from, std::int64_t col, std::int64_t rows, std::int64_t j,
                                      std::int64_t cols, T* to, std::int64_t to_row, bool ends) {
  constexpr std::int64_t kPerBlock = 16 / sizeof(T), kLanes = hn::MaxLanes(D());
  const std::int64_t least = ends && cols >= kLanes ? 1 : kLanes;
  for (; cols - j >= least; j += kLanes) {
    if (cols - j < kLanes) j = cols - kLanes;
    for (std::int64_t i = 0; i < rows; i += kPerBlock)
      TransposeBlock(d, from + i + j * col, col, to + i * to_row + j, to_row);
  }
  return j;
}

/// from(i, j) = from[i + j * col]: in bands of one cache line of `from`, so that no line is fetched twice even where
/// all columns fall into the same cache set.
template <class T, class S>
void CopyTransposed(const S* from, std::int64_t col, std::int64_t rows, std::int64_t cols, T* to, std::int64_t to_row) {
  constexpr std::int64_t kPerBlock = 16 / sizeof(T), kBand = 64 / sizeof(S);
  const std::int64_t whole = rows - rows % kPerBlock;
  for (std::int64_t i = 0; i < whole; i += kBand) {
    const std::int64_t band = i + kBand < whole ? kBand : whole - i;
    const hn::ScalableTag<T> d;
    std::int64_t done = TransposeBand(d, from + i, col, band, 0, cols, to + i * to_row, to_row, false);
    if constexpr (hn::MaxLanes(d) * sizeof(T) > 32)  // a panel of 14 rows of A: 8 and 8
      done = TransposeBand(hn::Half<decltype(d)>(), from + i, col, band, done, cols, to + i * to_row, to_row,
                           cols - done > kPerBlock);
    done = TransposeBand(hn::FixedTag<T, kPerBlock>(), from + i, col, band, done, cols, to + i * to_row, to_row, true);
    CopyScalar(from + i + done * col, 1, col, band, cols - done, to + i * to_row + done, to_row);
  }
  CopyScalar(from + whole, 1, col, rows - whole, cols, to + whole * to_row, to_row);
}

/// The last `cols` elements, fewer than a vector's, of a row: two overlapping parts where they fill half a vector (a
/// panel of 14 rows of A, say), one by one below that.
template <class D, class T, class S> HWY_INLINE void CopyEnd(D d, const S* from, std::int64_t cols, T* to) {
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  if (cols >= lanes) {
    const auto first = LoadLanes(d, from), last = LoadLanes(d, from + cols - lanes);
    hn::StoreU(first, d, to);
    hn::StoreU(last, d, to + cols - lanes);
  } else {
    for (std::int64_t j = 0; j < cols; ++j) to[j] = LoadOne<T>(from + j);
  }
}

template <class T, class S>
void CopyRows(const S* from, std::int64_t row, std::int64_t rows, std::int64_t cols, T* to, std::int64_t to_row) {
  const hn::ScalableTag<T> d;
  const hn::Half<decltype(d)> half;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d)), whole = cols - cols % lanes;
  for (std::int64_t i = 0; i < rows; ++i) {
    const S* source = from + i * row;
    T* target = to + i * to_row;
    for (std::int64_t j = 0; j < whole; j += lanes) hn::StoreU(LoadLanes(d, source + j), d, target + j);
    if (whole < cols) CopyEnd(half, source + whole, cols - whole, target + whole);
  }
}

template <class T, class S>
void Copy(const GemmSource& from, std::int64_t rows, std::int64_t cols, void* to, std::int64_t to_row,
          std::int64_t to_cols) {
  const S* source = static_cast<const S*>(from.data);
  T* target = static_cast<T*>(to);
  if (from.col == 1) {
    CopyRows(source, from.row, rows, cols, target, to_row);
  } else if (from.row == 1) {
    CopyTransposed(source, from.col, rows, cols, target, to_row);
  } else {
    CopyScalar(source, from.row, from.col, rows, cols, target, to_row);
  }
  if (cols < to_cols)
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = cols; j < to_cols; ++j) target[i * to_row + j] = T{};
}

// ---- the micro-kernel

/// The registers' tile goes to C, or past `cols` only to a scratch tile on the stack: Highway's masked stores read and
/// write whole vectors on SSE4.
template <class T, int kRows, int kVectors, class V>
HWY_INLINE void StoreTile(const V (&sum)[kRows][kVectors], const GemmMicro& call) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t kLanes = HWY_LANES(T);
  T* c = static_cast<T*>(call.c);
  const T* from = static_cast<const T*>(call.from);
  if (HWY_LIKELY(call.cols == kVectors * kLanes)) {
    TERN_GEMM_UNROLL for (int i = 0; i < kRows; ++i) {
      T* row = c + i * call.c_row;
      TERN_GEMM_UNROLL for (int v = 0; v < kVectors; ++v) {
        V value = sum[i][v];
        if (from) value = hn::Add(hn::LoadU(d, from + i * call.from_row + v * kLanes), value);
        hn::StoreU(value, d, row + v * kLanes);
      }
    }
    return;
  }
  HWY_ALIGN T edge[kRows][kVectors * kLanes];
  TERN_GEMM_UNROLL for (int i = 0; i < kRows; ++i)
    TERN_GEMM_UNROLL for (int v = 0; v < kVectors; ++v) hn::Store(sum[i][v], d, &edge[i][v * kLanes]);
  for (int i = 0; i < kRows; ++i) {
    T* row = c + i * call.c_row;
    for (std::int64_t j = 0; j < call.cols; ++j) {
      // One width by Highway, so that integers wrap.
      const hn::CappedTag<T, 1> one;
      const auto value = hn::Set(one, edge[i][j]);
      row[j] = hn::GetLane(from ? hn::Add(hn::Set(one, from[i * call.from_row + j]), value) : value);
    }
  }
}

/// Where the rows of A lie, as x86 addresses them without a register for each. Side by side: from one pointer. With
/// strides: from three, five rows apart, which reach 0, 1, 2, 4 and (with 3 · a_row in a register) 3 rows on.
template <class T, int kRows, bool kPacked> struct RowsOfA {
  static constexpr int kPointers = kPacked ? 1 : (kRows + 4) / 5;
  const T* at[kPointers];
  std::int64_t row, col;

  HWY_INLINE explicit RowsOfA(const GemmMicro& call)
      : row(kPacked ? 1 : call.a_row), col(call.a_col) {
    at[0] = static_cast<const T*>(call.a);
    if constexpr (kPointers > 1) at[1] = at[0] + 5 * row;
    if constexpr (kPointers > 2) at[2] = at[0] + 10 * row;
  }
  static constexpr int pointer(int i) { return kPacked ? 0 : i / 5; }
  HWY_INLINE T operator[](int i) const { return at[pointer(i)][kPacked ? i : (i % 5) * row]; }
  /// Without loops, which would keep the pointers in memory: half of the speed.
  HWY_INLINE void step() {
    at[0] += col;
    if constexpr (kPointers > 1) at[1] += col;
    if constexpr (kPointers > 2) at[2] += col;
  }
  /// Whether multiply-adds of row i take it from memory: every other where the address is a pointer and a number, where
  /// there is an index register (which would make two instructions of it) those that a pointer points to.
  static constexpr bool from_memory(int i) { return kEmbeds && i % (kPacked ? 2 : 5) == 0; }
};

/// Elements of B are S, widened as they are loaded; kPacksB: and written to `packed`. (Longer than other functions: its
/// sums and pointers stay in registers throughout.)
template <class T, class S, int kRows, int kVectors, bool kPacked = false, bool kPacksB = false>
void MicroTile(const GemmMicro& call) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::int64_t kLanes = HWY_LANES(T);
  constexpr int kLines = static_cast<int>((kVectors * kLanes * sizeof(T) + 63) / 64);
  constexpr int kLinesOfB = static_cast<int>((kVectors * kLanes * sizeof(S) + 63) / 64);
  const std::int64_t b_row = call.b_row;
  RowsOfA<T, kRows, kPacked> a(call);
  const S* b = static_cast<const S*>(call.b);
  const char* ahead = static_cast<const char*>(call.ahead);
  T* packed = static_cast<T*>(call.packed);
  V sum[kRows][kVectors];
  TERN_GEMM_UNROLL for (int i = 0; i < kRows; ++i)
    TERN_GEMM_UNROLL for (int v = 0; v < kVectors; ++v) sum[i][v] = hn::Zero(d);
  // C is fetched ahead, four rows at a time over the depth (and up to three beyond): to wait for it at the end cost 8
  // %, half of which this saves. Row by row took a tenth of the time where the depth is 64 (batches of 64³: 0.94).
  constexpr int kRowsPerStep = kRows < 4 ? kRows : 4;
  const std::int64_t part = call.depth / ((kRows + kRowsPerStep - 1) / kRowsPerStep) + 1;
  const char* c = static_cast<const char*>(call.c);
  const char* from = static_cast<const char*>(call.from);
  for (std::int64_t left = call.depth; left > 0; left -= part) {
    TERN_GEMM_UNROLL for (int row = 0; row < kRowsPerStep; ++row) {
      TERN_GEMM_UNROLL for (int line = 0; line < kLines; ++line) __builtin_prefetch(c + 64 * line, 1, 3);
      c += call.c_row * static_cast<std::int64_t>(sizeof(T));
    }
    if (from)
      TERN_GEMM_UNROLL for (int row = 0; row < kRowsPerStep; ++row) {
        TERN_GEMM_UNROLL for (int line = 0; line < kLines; ++line) __builtin_prefetch(from + 64 * line, 0, 3);
        from += call.from_row * static_cast<std::int64_t>(sizeof(T));
      }
    for (std::int64_t p = left < part ? left : part; p > 0; --p) {
      V bv[kVectors];
      TERN_GEMM_UNROLL for (int v = 0; v < kVectors; ++v) bv[v] = LoadLanes(d, b + v * kLanes);
      if constexpr (kPacksB) {
        TERN_GEMM_UNROLL for (int v = 0; v < kVectors; ++v) hn::StoreU(bv[v], d, packed + v * kLanes);
        packed += kVectors * kLanes;
      }
      TERN_GEMM_UNROLL for (int line = 0; line < kLinesOfB; ++line)
          __builtin_prefetch(ahead + 64 * line, 0, 2);  // into L2
      ahead += call.ahead_step;
      TERN_GEMM_UNROLL for (int i = 0; i < kRows; ++i) {
        if (kVectors <= 2 && a.from_memory(i)) {
          TERN_GEMM_UNROLL for (int v = 0; v < kVectors; ++v) {
            sum[i][v] = MultiplyAdd<T>(hn::Set(d, a[i]), bv[v], sum[i][v]);
            asm("" : "+r"(a.at[a.pointer(i)]));  // or the compiler loads it once
          }
          continue;
        }
        const V x = hn::Set(d, a[i]);
        TERN_GEMM_UNROLL for (int v = 0; v < kVectors; ++v) sum[i][v] = MultiplyAdd<T>(x, bv[v], sum[i][v]);
      }
      b += b_row;
      a.step();
    }
  }
  StoreTile<T, kRows, kVectors>(sum, call);
}

using MicroFunction = void (*)(const GemmMicro&);

/// One entry for each number of rows and for 1, 2 and the widest number of vectors.
template <class T, class S, int kRows, bool kPacked> inline constexpr MicroFunction kMicroOf[3] = {
    MicroTile<T, S, kRows, 1, kPacked>, MicroTile<T, S, kRows, 2, kPacked>,
    MicroTile<T, S, kRows, WidestVectors(kRows), kPacked>};

template <class T> HWY_INLINE int MicroWidth(std::int64_t cols) {
  constexpr std::int64_t kLanes = HWY_LANES(T);
  return cols <= kLanes ? 0 : cols <= kPanelVectors * kLanes ? 1 : 2;
}

template <class T, class S, int kRows, bool kPacked> HWY_INLINE MicroFunction PickMicro(std::int64_t rows, int width) {
  if constexpr (kRows > 1) {
    if (rows != kRows) return PickMicro<T, S, kRows - 1, kPacked>(rows, width);
  }
  return kMicroOf<T, S, kRows, kPacked>[width];
}

template <class T, class S, int kMost, bool kPacked> void Micro(const GemmMicro& call) {
  PickMicro<T, S, kMost, kPacked>(call.rows, MicroWidth<T>(call.cols))(call);
}

/// Whole panels of B only: the rest of a row may be no more than the operand has.
template <class T, class S, int kRows> HWY_INLINE MicroFunction PickPacking(std::int64_t rows) {
  if constexpr (kRows > 1) {
    if (rows != kRows) return PickPacking<T, S, kRows - 1>(rows);
  }
  return MicroTile<T, S, kRows, kPanelVectors, true, true>;
}

template <class T, class S> void MicroPacking(const GemmMicro& call) { PickPacking<T, S, kMaxRows>(call.rows)(call); }

/// Integers: the same tiles in fours and ones.
template <class T> void MicroInteger(const GemmMicro& call) {
  GemmMicro part = call;
  const bool narrow = MicroWidth<T>(call.cols) == 0;
  for (std::int64_t done = 0; done < call.rows; done += part.rows) {
    part.rows = call.rows - done >= 4 ? 4 : 1;
    part.a = static_cast<const T*>(call.a) + done * call.a_row;
    part.c = static_cast<T*>(call.c) + done * call.c_row;
    if (call.from) part.from = static_cast<const T*>(call.from) + done * call.from_row;
    if (part.rows == 4) {
      narrow ? MicroTile<T, T, 4, 1>(part) : MicroTile<T, T, 4, 2>(part);
    } else {
      narrow ? MicroTile<T, T, 1, 1>(part) : MicroTile<T, T, 1, 2>(part);
    }
  }
}

template <class T> std::int64_t Widest(std::int64_t rows) {
  const std::int64_t lanes = HWY_LANES(T);
  if constexpr (kIsInteger<T>) return kPanelVectors * lanes;
  return WidestVectors(static_cast<int>(rows)) * lanes;
}

// ---- the dot kernel

template <class T, class S, int kRows, int kCols>
HWY_INLINE void DotBlock(const T* const (&a)[kRows], const S* const (&b)[kCols], std::int64_t depth,
                         T (&result)[kRows][kCols]) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::int64_t kLanes = HWY_LANES(T);
  V sum[kRows][kCols];
  TERN_GEMM_UNROLL for (int i = 0; i < kRows; ++i)
    TERN_GEMM_UNROLL for (int j = 0; j < kCols; ++j) sum[i][j] = hn::Zero(d);
  std::int64_t p = 0;
  for (; p + kLanes <= depth; p += kLanes) {
    V av[kRows];
    TERN_GEMM_UNROLL for (int i = 0; i < kRows; ++i) av[i] = hn::LoadU(d, a[i] + p);
    TERN_GEMM_UNROLL for (int j = 0; j < kCols; ++j) {
      const V bv = LoadLanes(d, b[j] + p);
      TERN_GEMM_UNROLL for (int i = 0; i < kRows; ++i) sum[i][j] = hn::MulAdd(av[i], bv, sum[i][j]);
    }
  }
  if (p < depth) {  // the rest, padded with zeros: a masked load may read past the operand
    HWY_ALIGN T rest[kRows + kCols][HWY_LANES(T)] = {};
    for (std::int64_t q = p; q < depth; ++q) {
      for (int i = 0; i < kRows; ++i) rest[i][q - p] = a[i][q];
      for (int j = 0; j < kCols; ++j) rest[kRows + j][q - p] = LoadOne<T>(b[j] + q);
    }
    TERN_GEMM_UNROLL for (int j = 0; j < kCols; ++j)
      TERN_GEMM_UNROLL for (int i = 0; i < kRows; ++i)
        sum[i][j] = hn::MulAdd(hn::Load(d, rest[i]), hn::Load(d, rest[kRows + j]), sum[i][j]);
  }
  TERN_GEMM_UNROLL for (int i = 0; i < kRows; ++i)
    TERN_GEMM_UNROLL for (int j = 0; j < kCols; ++j) result[i][j] = hn::GetLane(hn::SumOfLanes(d, sum[i][j]));
}

/// Blocks of kRows × kCols; past the edges the last row or column is computed again and not stored.
template <class T, class S, int kRows, int kCols> void DotTiles(const GemmDot& call) {
  for (std::int64_t col = 0; col < call.cols; col += kCols) {
    const std::int64_t cols = call.cols - col < kCols ? call.cols - col : kCols;
    const S* b[kCols];
    for (int j = 0; j < kCols; ++j)
      b[j] = static_cast<const S*>(call.b) + (col + (j < cols ? j : cols - 1)) * call.b_col;
    for (std::int64_t row = 0; row < call.rows; row += kRows) {
      const std::int64_t rows = call.rows - row < kRows ? call.rows - row : kRows;
      const T* a[kRows];
      for (int i = 0; i < kRows; ++i)
        a[i] = static_cast<const T*>(call.a) + (row + (i < rows ? i : rows - 1)) * call.a_row;
      T result[kRows][kCols];
      DotBlock<T, S, kRows, kCols>(a, b, call.depth, result);
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < cols; ++j) {
          T& to = static_cast<T*>(call.c)[(row + i) * call.c_row + col + j];
          to = call.add ? to + result[i][j] : result[i][j];
        }
    }
  }
}

template <class T, class S> void Dot(const GemmDot& call) {
  if (call.rows == 1) return DotTiles<T, S, 1, 8>(call);
  if constexpr (kAccumulators > 12) {
    return call.rows == 2 ? DotTiles<T, S, 2, 8>(call) : DotTiles<T, S, 4, 6>(call);
  } else {
    return call.rows == 2 ? DotTiles<T, S, 2, 4>(call) : DotTiles<T, S, 4, 2>(call);
  }
}

// ---- the outer kernel

template <class T, int kDepth> void OuterRows(const GemmOuter& call) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr std::int64_t kLanes = HWY_LANES(T);
  const T* const b = static_cast<const T*>(call.b);
  const std::int64_t b_row = call.b_row, cols = call.cols, whole = cols - cols % kLanes;
  const bool stream = call.stream;
  for (std::int64_t i = 0; i < call.rows; ++i) {
    const T* const a = static_cast<const T*>(call.a) + i * kDepth;
    T* const row = static_cast<T*>(call.c) + i * call.c_row;
    V x[kDepth];
    TERN_GEMM_UNROLL for (int p = 0; p < kDepth; ++p) x[p] = hn::Set(d, a[p]);
    const auto sum_at = [&](std::int64_t j) {
      V sum = hn::Zero(d);
      TERN_GEMM_UNROLL for (int p = 0; p < kDepth; ++p) sum =
          MultiplyAdd<T>(x[p], hn::LoadU(d, b + p * b_row + j), sum);
      return sum;
    };
    if (stream) {
      for (std::int64_t j = 0; j < whole; j += kLanes) hn::Stream(sum_at(j), d, row + j);
    } else {
      for (std::int64_t j = 0; j < whole; j += kLanes) hn::StoreU(sum_at(j), d, row + j);
    }
    if (whole == cols) continue;
    HWY_ALIGN T rest[HWY_LANES(T)];
    hn::Store(sum_at(whole), d, rest);
    for (std::int64_t j = whole; j < cols; ++j) row[j] = rest[j - whole];
  }
}

template <class T> void Outer(const GemmOuter& call) {
  switch (call.depth) {
    case 1: return OuterRows<T, 1>(call);
    case 2: return OuterRows<T, 2>(call);
    case 3: return OuterRows<T, 3>(call);
    default: return OuterRows<T, kOuterDepth>(call);
  }
}

// ---- the small kernel

#include "cpu/products/gemm_small-inl.h"
#include "cpu/products/gemm_tiny-inl.h"

template <class T, class S> constexpr GemmKernelsOf FloatKernels() {
  constexpr int kStoredRows = sizeof(S) < sizeof(T) && kWideningRows < kMaxRows ? kWideningRows : kMaxRows;
  // SSE4 widens f16 by a dozen instructions: 16 × 1024 × 4096 at 0.78 of the speed of a packed B, 64: 0.57 (bf16 1.1,
  // 0.87).
  constexpr bool kSlow = sizeof(S) < sizeof(T) && HWY_ARCH_X86 && HWY_TARGET > HWY_AVX2;
  return {HWY_LANES(T), kMaxRows, kPanelVectors * HWY_LANES(T), kSlow ? kWideningRows : kDirectRows, Copy<T, S>,
          Widest<T>, Micro<T, T, kMaxRows, false>, Micro<T, S, kStoredRows, false>, Micro<T, T, kMaxRows, true>,
          MicroPacking<T, S>, Dot<T, S>, Outer<T>, Small<T>, kTiny<T>, kTinyByStep};
}
template <class T> constexpr GemmKernelsOf IntegerKernels() {
  return {HWY_LANES(T), 8, kPanelVectors * HWY_LANES(T), kDirectRows, Copy<T, T>, Widest<T>, MicroInteger<T>,
          MicroInteger<T>, nullptr, nullptr, nullptr, Outer<T>, Small<T>, nullptr, false};
}

inline constexpr GemmKernels kGemmKernels = {
    FloatKernels<float, float16>(), FloatKernels<float, bfloat16>(),        FloatKernels<float, float>(),
    FloatKernels<double, double>(), IntegerKernels<std::int32_t>(), IntegerKernels<std::int64_t>()};

}  // namespace gemm_simd

inline const GemmKernels& gemm_table() { return gemm_simd::kGemmKernels; }

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
#undef TERN_GEMM_UNROLL
