// Batches of small real matrices on the CPU: one matrix a SIMD lane (lanes.hpp), in blocks of as many matrices as a
// vector has lanes. Each block is read once into scratch memory, factorised there, and written once.
#include "primitives/linalg/cpu/cpu_blocks.hpp"
#include "primitives/linalg/cpu/cpu_lanes.hpp"

namespace tern::detail_cpu {

namespace {

using detail::PrimitiveId;
using matrices::DenseBlocks;
using matrices::DenseKernel;

template <class T> void store_pivots(const std::int32_t* block, std::int64_t n, const LaneView<std::int32_t>& to) {
  const int lanes = lane_kernels_of<T>().lanes;
  for (int l = 0; l < to.count; ++l)
    for (std::int64_t k = 0; k < n; ++k) to.at[l][k * to.row_step] = block[k * lanes + l];
}
template <class T> void load_pivots(const LaneView<const std::int32_t>& from, std::int64_t n, std::int32_t* block) {
  const int lanes = lane_kernels_of<T>().lanes;
  for (int l = 0; l < lanes; ++l)
    for (std::int64_t k = 0; k < n; ++k)
      block[k * lanes + l] =
          static_cast<std::int32_t>(std::clamp<std::int64_t>(from.at[l][k * from.row_step], 0, n - 1));
}

}  // namespace

bool goes_in_lanes(const MatrixRequest& r, DType dtype) {
  return detail::many_at_once(dtype, r.rows(), r.columns(), r.count()) && r.rows() > 0 && r.columns() > 0 &&
         r.count() > 0;
}

namespace {

/// The first element of matrix `first` of a view whose matrices are dense, each right behind the one before; else null.
template <class T>
T* dense_at(const View& view, const Shape& batch, std::int64_t first, std::int64_t rows, std::int64_t columns) {
  const auto rank = static_cast<std::size_t>(batch.rank()), has = static_cast<std::size_t>(view.strides.rank());
  if (!view.storage || rank == 0) return nullptr;
  if (has > rank && rows > 1 && view.strides[rank] != columns) return nullptr;
  if (has > rank + 1 && columns > 1 && view.strides[rank + 1] != 1) return nullptr;
  const std::int64_t offset = MatrixOffsets(view, batch, first).dense(rows * columns);
  return offset < 0 ? nullptr : static_cast<T*>(view.storage->data()) + offset;
}
/// Whole blocks by the kernel, which writes no statuses, and by(first, last) where it stops, and for the rest.
template <class T, class By>
void by_dense_blocks(DenseKernel<T> kernel, DenseBlocks<T> dense, std::int64_t each_a, std::int64_t each_x,
                     std::int64_t count, By by) {
  const std::int64_t lanes = lane_kernels_of<T>().lanes;
  std::int64_t done = 0;
  const auto go_on = [&](std::int64_t matrices) {
    done += matrices, dense.a += matrices * each_a;
    if (dense.b) dense.b += matrices * each_x;
    if (dense.x) dense.x += matrices * each_x;
    if (dense.det) dense.det += matrices;
  };
  while (count - done >= lanes) {
    dense.blocks = (count - done) / lanes;
    go_on(kernel(dense) * lanes);
    if (count - done < lanes) break;
    by(done, done + lanes), go_on(lanes);
  }
  if (done < count) by(done, count);
}
/// 0 for [first, last), where the view has storage; false where its elements do not lie together.
bool clear_statuses(const View& view, const Shape& batch, std::int64_t first, std::int64_t last) {
  if (!view.storage) return true;
  std::int32_t* const at = dense_at<std::int32_t>(view, batch, first, 1, 1);
  return at && (std::fill_n(at, last - first, 0), true);
}

}  // namespace

void cholesky_in_lanes(const detail::CholeskyRequest& r, Statuses& statuses) {
  with_real_type(r.input.dtype, [&]<class T>(T) {
    const auto& kernels = lane_kernels_of<T>();
    const Shape batch = r.batch();
    const int n = static_cast<int>(r.rows());
    for_parts<T>(r, n * n, [&](std::int64_t begin, std::int64_t end, T* block) {
      const auto by_blocks = [&](std::int64_t first, std::int64_t last) {
        BlockSide<const T> from(r.input, batch, first, n, n);
        BlockSide<T> to(r.factor, batch, first, n, n);
        LaneStatuses<T> status(r, statuses, batch, first);
        for_blocks<T>(first, last, [&](std::int64_t i, int count) {
          kernels.load(from.next(count), block);
          status.begin(block, n * n, n);
          kernels.cholesky(n, block, status.data());
          kernels.store(block, to.next(count));
          status.finish(i, count);
        });
      };
      const DenseKernel<T> dense = kernels.dense_cholesky(n);
      const T* const from = dense ? dense_at<const T>(r.input, batch, begin, n, n) : nullptr;
      T* const to = dense ? dense_at<T>(r.factor, batch, begin, n, n) : nullptr;
      if (!from || !to || !clear_statuses(r.status, batch, begin, end)) return by_blocks(begin, end);
      by_dense_blocks<T>(dense, {from, nullptr, to, nullptr, 0}, n * n, n * n, end - begin,
                         [&](std::int64_t i, std::int64_t last) { by_blocks(begin + i, begin + last); });
    });
  });
}

void lu_in_lanes(const detail::LuRequest& r, Statuses& statuses) {
  with_real_type(r.input.dtype, [&]<class T>(T) {
    const auto& kernels = lane_kernels_of<T>();
    const Shape batch = r.batch();
    const int m = static_cast<int>(r.rows()), n = static_cast<int>(r.columns()), least = std::min(m, n);
    for_parts<T>(r, m * n, [&](std::int64_t first, std::int64_t last, T* block) {
      BlockSide<const T> from(r.input, batch, first, m, n);
      BlockSide<T> to(r.lu, batch, first, m, n);
      BlockSide<std::int32_t> pivots(r.pivots, batch, first, least, 1);
      LaneStatuses<T> status(r, statuses, batch, first);
      std::int32_t exchanged[detail::kManyAtOnce * kMostLanes];
      for_blocks<T>(first, last, [&](std::int64_t i, int count) {
        kernels.load(from.next(count), block);
        status.begin(block, m * n, 0);
        kernels.lu(m, n, block, exchanged, status.data());
        kernels.store(block, to.next(count));
        store_pivots<T>(exchanged, least, pivots.next(count));
        status.finish(i, count);
      });
    });
  });
}

namespace {

template <class List> List with_axis(const List& list, int at, std::int64_t value) {
  List longer;
  for (int i = 0; i <= static_cast<int>(list.size()); ++i) {
    if (i == at) longer.push_back(value);
    if (i < static_cast<int>(list.size())) longer.push_back(list[static_cast<std::size_t>(i)]);
  }
  return longer;
}

/// Right sides of few matrices are shared between lanes, so many columns of a lane at a time: an axis more of the
/// batch, along which the matrices are the same. (A triangle of 3 x 3 f32 and 16384 columns, one thread, Emerald
/// Rapids: 695 to 24 us.) False where there are too few; repeat(request, same) calls same(view) for each view of
/// matrices.
constexpr std::int64_t kColumnsOfLane = 64;
template <class R, class Repeat>
bool solve_in_parts(const R& r, std::int64_t lanes, void (*solve)(const R&), Repeat repeat) {
  const int rank = r.batch().rank();
  if (2 * r.count() > lanes || r.right < 4 * lanes || rank + 3 > kMaxRank) return false;
  const std::int64_t parts = std::max(r.right / kColumnsOfLane / lanes, std::int64_t{1}) * lanes,
                     rest = r.right % parts;
  const auto part = [&](std::int64_t count, std::int64_t first, std::int64_t columns) {
    R some = r;
    some.space = with_axis(r.space, rank, count), some.right = columns;
    repeat(some, [&](View& view) { view.strides = with_axis(view.strides, rank, 0); });
    for (View* const side : {&some.b, &some.x}) {
      const std::int64_t step = side->strides[static_cast<std::size_t>(rank) + 1];
      side->strides = with_axis(side->strides, rank, step * columns), side->offset += step * first;
    }
    solve(some);
  };
  part(parts, 0, r.right / parts);
  if (rest > 0) part(1, r.right - rest, rest);
  return true;
}

}  // namespace

void lu_solve_in_lanes(const detail::LuSolveRequest& r) {
  with_real_type(r.lu.dtype, [&]<class T>(T) {
    const auto& kernels = lane_kernels_of<T>();
    const auto repeat = [](auto& some, auto same) { same(some.lu), same(some.pivots); };
    if (solve_in_parts(r, kernels.lanes, &lu_solve_in_lanes, repeat)) return;
    const Shape batch = r.batch();
    const int n = static_cast<int>(r.rows()), right = static_cast<int>(r.right);
    for_parts<T>(r, n * (n + right), [&](std::int64_t first, std::int64_t last, T* block) {
      BlockSide<const T> lu(r.lu, batch, first, n, n), b(r.b, batch, first, n, right);
      BlockSide<T> x(r.x, batch, first, n, right);
      BlockSide<const std::int32_t> pivots(r.pivots, batch, first, n, 1);
      T* const sides = block + n * n * kernels.lanes;
      std::int32_t exchanged[detail::kManyAtOnce * kMostLanes];
      for_blocks<T>(first, last, [&](std::int64_t, int count) {
        kernels.load(b.next(count), sides);
        load_pivots<T>(pivots.next(count), n, exchanged);
        if (!r.adjoint) kernels.permute(n, right, exchanged, false, sides);
        if (!r.permutes) {
          kernels.load(lu.next(count), block);
          const int row = r.adjoint ? 1 : n, column = r.adjoint ? n : 1;
          kernels.triangle({block, n, row, column, true, !r.adjoint}, right, sides);
          kernels.triangle({block, n, row, column, false, r.adjoint}, right, sides);
        }
        if (r.adjoint) kernels.permute(n, right, exchanged, true, sides);
        kernels.store(sides, x.next(count));
      });
    });
  });
}

void triangular_in_lanes(const detail::TriangularRequest& r) {
  with_real_type(r.a.dtype, [&]<class T>(T) {
    const auto& kernels = lane_kernels_of<T>();
    if (solve_in_parts(r, kernels.lanes, &triangular_in_lanes, [](auto& some, auto same) { same(some.a); })) return;
    const Shape batch = r.batch();
    const int n = static_cast<int>(r.rows()), right = static_cast<int>(r.right);
    const bool transposed = r.how != 'N';
    for_parts<T>(r, n * (n + right), [&](std::int64_t first, std::int64_t last, T* block) {
      BlockSide<const T> a(r.a, batch, first, n, n), b(r.b, batch, first, n, right);
      BlockSide<T> x(r.x, batch, first, n, right);
      T* const sides = block + n * n * kernels.lanes;
      for_blocks<T>(first, last, [&](std::int64_t, int count) {
        kernels.load(a.next(count), block), kernels.load(b.next(count), sides);
        kernels.triangle({block, n, transposed ? 1 : n, transposed ? n : 1, r.upper == transposed, r.unit}, right,
                         sides);
        kernels.store(sides, x.next(count));
      });
    });
  });
}

void exponential_on_cpu(detail::Backend&, const detail::ExponentialRequest& r) {
  Statuses statuses(r, PrimitiveId::matrix_exponential);
  if (r.count() > 0 && r.rows() > 0)
    with_real_type(r.input.dtype, [&]<class T>(T) {
      const auto& kernels = lane_kernels_of<T>();
      const Shape batch = r.batch();
      const int n = static_cast<int>(r.rows());
      for_parts<T>(r, 6 * n * n + n, [&](std::int64_t first, std::int64_t last, T* block) {
        BlockSide<const T> from(r.input, batch, first, n, n);
        BlockSide<T> to(r.result, batch, first, n, n);
        LaneStatuses<T> status(r, statuses, batch, first);
        for_blocks<T>(first, last, [&](std::int64_t i, int count) {
          kernels.load(from.next(count), block);
          status.begin(block, n * n, 0);
          kernels.exponential(n, block, block + n * n * kernels.lanes, status.data());
          kernels.store(block, to.next(count));
          status.finish(i, count);
        });
      });
    });
  statuses.finish();
}

namespace {

/// The sign and log|det| of each lane, from the exchanges' sign and the pivots.
template <class T>
void store_logarithms(const T* block, int n, const T* signs, const LaneView<T>& sign, const LaneView<T>& log) {
  const int lanes = lane_kernels_of<T>().lanes;
  for (int l = 0; l < sign.count; ++l) {
    T sum = 0, s = signs[l];
    for (int k = 0; k < n; ++k) {
      const T pivot = block[k * (n + 1) * lanes + l];
      sum += std::log(std::abs(pivot));
      s *= static_cast<T>(pivot > 0 ? 1 : pivot < 0 ? -1 : pivot);  // 0 and NaN are themselves
    }
    *sign.at[l] = s, *log.at[l] = sum;
  }
}

}  // namespace

namespace {

/// Matrices [first, last), by blocks in `memory`.
template <class T>
void direct_by_blocks(const detail::DirectSolveRequest& r, Statuses& statuses, std::int64_t first, std::int64_t last,
                      T* memory) {
  const auto& kernels = lane_kernels_of<T>();
  const Shape batch = r.batch();
  const int n = static_cast<int>(r.rows()), right = r.x.storage ? static_cast<int>(r.right) : 0;
  BlockSide<const T> a(r.a, batch, first, n, n), b(r.b, batch, first, n, right);
  BlockSide<T> x(r.x, batch, first, n, right), det(r.det, batch, first, 1, 1), log(r.log, batch, first, 1, 1);
  LaneStatuses<T> status(r, statuses, batch, first);
  T* const sides = memory + n * n * kernels.lanes;
  T numbers[kMostLanes];
  for_blocks<T>(first, last, [&](std::int64_t i, int count) {
    kernels.load(a.next(count), memory);
    if (b.there() && right) kernels.load(b.next(count), sides);
    status.begin(memory, n * n, 0);
    kernels.direct(n, right, !b.there(), memory, sides, det.there() ? numbers : nullptr, log.there(), status.data());
    if (right) kernels.store(sides, x.next(count));
    if (log.there()) store_logarithms(memory, n, numbers, det.next(count), log.next(count));
    else if (det.there()) kernels.store(numbers, det.next(count));
    status.finish(i, count);
  });
}
/// The kernel for [first, last) of dense matrices, and what it takes; null where something is not dense.
template <class T>
DenseKernel<T> dense_direct(const detail::DirectSolveRequest& r, std::int64_t first, std::int64_t last,
                            DenseBlocks<T>& dense) {
  const Shape batch = r.batch();
  const std::int64_t n = r.rows(), right = r.x.storage ? r.right : 0;
  const DenseKernel<T> kernel =
      r.log.storage ? nullptr
                    : lane_kernels_of<T>().dense_direct(static_cast<int>(n), static_cast<int>(right), !r.b.storage);
  if (!kernel) return nullptr;
  dense = {dense_at<const T>(r.a, batch, first, n, n), dense_at<const T>(r.b, batch, first, n, right),
           dense_at<T>(r.x, batch, first, n, right), dense_at<T>(r.det, batch, first, 1, 1), 0};
  const bool all = dense.a && (dense.b || !r.b.storage) && (dense.x || !right) && (dense.det || !r.det.storage);
  return all && clear_statuses(r.status, batch, first, last) ? kernel : nullptr;
}

}  // namespace

void direct_solve_on_cpu(detail::Backend&, const detail::DirectSolveRequest& r) {
  Statuses statuses(r, PrimitiveId::direct_solve);
  if (r.count() > 0)
    with_real_type(r.a.dtype, [&]<class T>(T) {
      const std::int64_t n = r.rows(), right = r.x.storage ? r.right : 0;
      for_parts<T>(r, n * (n + right), [&](std::int64_t first, std::int64_t last, T* memory) {
        DenseBlocks<T> dense;
        const DenseKernel<T> kernel = dense_direct<T>(r, first, last, dense);
        if (!kernel) return direct_by_blocks(r, statuses, first, last, memory);
        by_dense_blocks<T>(kernel, dense, n * n, n * right, last - first, [&](std::int64_t i, std::int64_t end) {
          direct_by_blocks(r, statuses, first + i, first + end, memory);
        });
      });
    });
  statuses.finish();
}

}  // namespace tern::detail_cpu
