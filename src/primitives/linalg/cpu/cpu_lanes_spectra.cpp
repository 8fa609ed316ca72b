// QR, symmetric eigenvalues and singular values of batches of small real matrices on the CPU, one matrix a SIMD lane.
#include "primitives/linalg/cpu/cpu_blocks.hpp"
#include "primitives/linalg/cpu/cpu_lanes.hpp"

namespace tern::detail_cpu {

namespace {

/// The same matrices with rows and columns exchanged.
template <class T> LaneView<T> transposed(const LaneView<T>& v) {
  return {v.at, v.columns, v.rows, v.column_step, v.row_step, v.count};
}

std::int64_t lanes_of(DType dtype) {
  return dtype == DType::f64 ? lane_kernels_of<double>().lanes : lane_kernels_of<float>().lanes;
}

}  // namespace

bool goes_in_lanes(const detail::EighRequest& r) {
  return goes_in_lanes(r, r.input.dtype) && r.most() <= 4 * lanes_of(r.input.dtype);
}
bool goes_in_lanes(const detail::SvdRequest& r) {
  return goes_in_lanes(r, r.input.dtype) && (r.most() < kLapackFrom || r.most() <= 8 * lanes_of(r.input.dtype));
}

void qr_in_lanes(const detail::QrRequest& r) {
  with_real_type(r.input.dtype, [&]<class T>(T) {
    const auto& kernels = lane_kernels_of<T>();
    const Shape batch = r.batch();
    const int m = static_cast<int>(r.rows()), n = static_cast<int>(r.columns()), inner = static_cast<int>(r.inner());
    for_parts<T>(r, m * (n + inner), [&](std::int64_t first, std::int64_t last, T* block) {
      BlockSide<const T> from(r.input, batch, first, m, n);
      BlockSide<T> q(r.q, batch, first, m, inner), right(r.r, batch, first, inner, n);
      T* const columns = block + m * n * kernels.lanes;
      for_blocks<T>(first, last, [&](std::int64_t, int count) {
        kernels.load(transposed(from.next(count)), block);
        kernels.qr(m, n, inner, block, columns);
        kernels.store(columns, transposed(q.next(count))), kernels.store(block, transposed(right.next(count)));
      });
    });
  });
}

void eigh_in_lanes(const detail::EighRequest& r, Statuses& statuses) {
  with_real_type(r.input.dtype, [&]<class T>(T) {
    const auto& kernels = lane_kernels_of<T>();
    const Shape batch = r.batch();
    const int n = static_cast<int>(r.rows()), whole = n * n;
    for_parts<T>(r, 3 * whole + n, [&](std::int64_t first, std::int64_t last, T* block) {
      BlockSide<const T> from(r.input, batch, first, n, n);
      BlockSide<T> values(r.values, batch, first, n, 1), vectors(r.vectors, batch, first, n, n);
      LaneStatuses<T> status(r, statuses, batch, first);
      T *const rows = block + whole * kernels.lanes, *const spare = rows + whole * kernels.lanes;
      T* const list = spare + whole * kernels.lanes;
      for_blocks<T>(first, last, [&](std::int64_t i, int count) {
        kernels.load(from.next(count), block);
        status.begin(block, whole, n);
        kernels.eigh(n, block, vectors.there() ? rows : nullptr, spare, list, status.data());
        kernels.store(list, values.next(count));
        if (vectors.there()) kernels.store(rows, transposed(vectors.next(count)));
        status.finish(i, count);
      });
    });
  });
}

/// Of the matrix or its transpose, whichever has fewer columns: the sides' vectors change places.
void svd_in_lanes(const detail::SvdRequest& r, Statuses& statuses) {
  with_real_type(r.input.dtype, [&]<class T>(T) {
    const auto& kernels = lane_kernels_of<T>();
    const Shape batch = r.batch();
    const bool wide = r.columns() > r.rows();
    const int n = static_cast<int>(r.least()), m = static_cast<int>(r.most()), inner = r.full ? m : n, whole = n * m;
    const int left = wide ? n : inner, right = wide ? inner : n;
    for_parts<T>(r, 2 * whole + inner * m + n * n + n, [&](std::int64_t first, std::int64_t last, T* block) {
      BlockSide<const T> from(r.input, batch, first, r.rows(), r.columns());
      BlockSide<T> u(r.u, batch, first, r.rows(), left), vh(r.vh, batch, first, right, r.columns());
      BlockSide<T> values(r.s, batch, first, n, 1);
      LaneStatuses<T> status(r, statuses, batch, first);
      const auto behind = [&](T* memory, int elements) { return memory + std::int64_t{elements} * kernels.lanes; };
      T *const spare = behind(block, whole), *const long_side = behind(spare, whole);
      T *const short_side = behind(long_side, inner * m), *const list = behind(short_side, n * n);
      for_blocks<T>(first, last, [&](std::int64_t i, int count) {
        const LaneView<const T>& input = from.next(count);
        kernels.load(wide ? input : transposed(input), block);
        status.begin(block, whole, 0);
        kernels.svd(m, n, inner, block, long_side, u.there() ? short_side : nullptr, spare, list, status.data());
        kernels.store(list, values.next(count));
        if (u.there()) {
          kernels.store(wide ? short_side : long_side, transposed(u.next(count)));
          kernels.store(wide ? long_side : short_side, vh.next(count));
        }
        status.finish(i, count);
      });
    });
  });
}

}  // namespace tern::detail_cpu
