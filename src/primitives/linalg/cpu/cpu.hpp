// What the kernels of linear algebra on the CPU share: matrices of a batch in any layout, taken to matrices by columns
// and back; batches shared between threads; and what becomes of a status.
#pragma once
#include <atomic>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "cpu/lapack/factorisations.hpp"
#include "cpu/line_tools.hpp"
#include "cpu/threads_noted.hpp"
#include "primitives/linalg/kernels.hpp"

namespace tern::detail_cpu {

using detail::MatrixRequest;
using detail::View;

/// Calls f with a value of the C++ type of a matrix's dtype.
template <class F> void with_matrix_type(const char* op, DType dtype, F f) {
  switch (dtype) {
    case DType::f32: return f(float{});
    case DType::f64: return f(double{});
    case DType::c64: return f(std::complex<float>{});
    case DType::c128: return f(std::complex<double>{});
    default: throw UnsupportedDType(op, dtype, "cpu");
  }
}

/// A matrix with any steps between its elements.
template <class T> struct Matrix {
  T* data = nullptr;
  std::int64_t rows = 0, columns = 0, row_step = 1, column_step = 1;
  T& operator()(std::int64_t i, std::int64_t j) const { return data[i * row_step + j * column_step]; }
  /// The first element of a column; null where there are no elements.
  T* column(std::int64_t j) const { return data ? data + j * column_step : nullptr; }
  bool by_columns() const {
    return row_step == 1 && (column_step >= std::max<std::int64_t>(rows, 1) || columns <= 1) && column_step > 0;
  }
  Matrix transposed() const { return {data, columns, rows, column_step, row_step}; }
};
/// Matrix `index` of a batch laid over [.., rows, columns]. Of a view without storage a matrix without elements.
template <class T>
Matrix<T> matrix_of(const View& view, const Shape& batch, std::int64_t index, std::int64_t rows, std::int64_t columns) {
  if (!view.storage) return {};
  const auto rank = static_cast<std::size_t>(batch.rank());
  std::int64_t offset = view.offset;
  for (std::size_t i = rank; i-- > 0;) offset += index % batch[i] * view.strides[i], index /= batch[i];
  const bool matrix = static_cast<std::size_t>(view.strides.rank()) > rank + 1;
  return {static_cast<T*>(view.storage->data()) + offset, rows, columns, view.strides[rank],
          matrix ? view.strides[rank + 1] : 1};
}

/// In blocks of a cache line's width, so that both sides stay in L1 whichever way they lie (rows of a power of two
/// bytes share its sets), by several threads where there is much of it.
template <class T, class U> void copy(const Matrix<T>& from, const Matrix<U>& to) {
  constexpr std::int64_t kSide = std::max<std::int64_t>(64 / static_cast<std::int64_t>(sizeof(T)), 4);
  const auto columns = [&](std::int64_t first, std::int64_t last) {
    if (from.row_step == 1 && to.row_step == 1) {
      for (std::int64_t j = first; j < last; ++j) std::copy_n(from.column(j), from.rows, to.column(j));
      return;
    }
    for (std::int64_t j = first; j < last; j += kSide)
      for (std::int64_t i = 0; i < from.rows; i += kSide)
        for (std::int64_t c = j; c < std::min(last, j + kSide); ++c)
          for (std::int64_t r = i; r < std::min(from.rows, i + kSide); ++r) to(r, c) = from(r, c);
  };
  const std::int64_t tasks = from.rows * from.columns < 256 * 1024 ? 1 : 4 * max_threads();
  if (tasks == 1) return columns(0, from.columns);
  const std::int64_t blocks = (from.columns + kSide - 1) / kSide;
  parallel_for(tasks, [&](std::int64_t t) {
    columns(std::min(from.columns, blocks * t / tasks * kSide),
            std::min(from.columns, blocks * (t + 1) / tasks * kSide));
  });
}

/// A matrix by columns: the view's own memory where it lies so and may be read to its end alone, else memory of its
/// own.
template <class T> class ByColumns {
 public:
  /// What a view has in its own memory, by columns, to be read where it lies: products and triangles keep to it.
  static ByColumns in_place(const Matrix<const T>& from) {
    return ByColumns(Matrix<T>{const_cast<T*>(from.data), from.rows, from.columns, from.row_step, from.column_step});
  }
  /// With the values of `from`, in `to` where that lies by columns.
  ByColumns(const Matrix<const T>& from, const Matrix<T>& to) : ByColumns(to, from.rows, from.columns) {
    copy(from, matrix_);
  }
  explicit ByColumns(const Matrix<const T>& from) : ByColumns(from, Matrix<T>()) {}
  /// Without values.
  ByColumns(const Matrix<T>& to, std::int64_t rows, std::int64_t columns) : to_(to) {
    if (to.data && to.by_columns() && read_beyond<T>(rows) == 0) {
      matrix_ = to;
    } else {
      const auto count = static_cast<std::size_t>(std::max<std::int64_t>(rows * columns + read_beyond<T>(rows), 1));
      T* memory = reinterpret_cast<T*>(small_);
      if (count * sizeof(T) > sizeof small_) own_.reset(memory = new T[count]);
      matrix_ = {memory, rows, columns, 1, std::max<std::int64_t>(rows, 1)}, elsewhere_ = true;
    }
  }
  ByColumns(const ByColumns&) = delete;
  ByColumns& operator=(const ByColumns&) = delete;
  T* data() const { return matrix_.data; }
  int ld() const { return static_cast<int>(std::max<std::int64_t>({matrix_.column_step, matrix_.rows, 1})); }
  const Matrix<T>& matrix() const { return matrix_; }
  T& operator()(std::int64_t i, std::int64_t j) const { return matrix_(i, j); }
  /// The first element of a column; null where there are no elements.
  T* column(std::int64_t j) const { return matrix_.column(j); }
  /// Writes where the values belong.
  void finish() const {
    if (elsewhere_ && to_.data) copy(matrix_, to_);
  }

 private:
  explicit ByColumns(const Matrix<T>& in_place) : matrix_(in_place) {}
  Matrix<T> to_, matrix_;
  bool elsewhere_ = false;
  alignas(64) std::byte small_[1024];  // of small matrices, of which a batch has many
  std::unique_ptr<T[]> own_;
};

/// Whether all elements are finite, or all of the lower triangle.
template <class T> bool all_finite(const Matrix<T>& a, bool lower = false) {
  using R = real_of<std::remove_const_t<T>>;
  constexpr std::int64_t kParts = sizeof(T) / sizeof(R);
  const bool transposed = a.row_step != 1;
  const Matrix<T> by = transposed ? a.transposed() : a;
  std::int64_t bad = 0;
  for (std::int64_t j = 0; j < by.columns; ++j) {
    const std::int64_t first = lower && !transposed ? j : 0, last = lower && transposed ? j + 1 : by.rows;
    const R* const x = reinterpret_cast<const R*>(by.column(j));
    std::int64_t here = 0;
    if (by.row_step != 1) {  // neither columns nor rows lie together
      for (std::int64_t i = first; i < last; ++i)
        for (std::int64_t part = 0; part < kParts; ++part) {
          const R value = x[i * by.row_step * kParts + part];
          here |= !(value - value == 0);
        }
      bad |= here;
      continue;
    }
    for (std::int64_t i = first * kParts; i < last * kParts; ++i) here |= !(x[i] - x[i] == 0);
    bad |= here;
  }
  return bad == 0;
}

/// Of a batch: statuses, and the first matrix with one that is not 0.
class Statuses {
 public:
  Statuses(const MatrixRequest& r, detail::PrimitiveId primitive) : r_(r), batch_(r.batch()), primitive_(primitive) {}
  void set(std::int64_t matrix, std::int64_t status) {
    if (r_.status.storage) {
      std::int64_t offset = r_.status.offset, index = matrix;
      for (auto i = static_cast<std::size_t>(batch_.rank()); i-- > 0;)
        offset += index % batch_[i] * r_.status.strides[i], index /= batch_[i];
      static_cast<std::int32_t*>(r_.status.storage->data())[offset] = static_cast<std::int32_t>(status);
    }
    if (status != 0) note(matrix, status);
  }
  /// The same for an error alone: the view has it already.
  void note(std::int64_t matrix, std::int64_t status) {
    const std::int64_t packed = matrix << 24 | ((status + 1) & 0xffffff);
    for (std::int64_t seen = first_; packed < seen && !first_.compare_exchange_weak(seen, packed);) {
    }
  }
  /// Throws where a status is an error.
  void finish() const {
    const std::int64_t packed = first_;
    if (r_.checked && packed != kNone)
      throw detail::matrix_error(r_.op, batch_.rank() > 0, packed >> 24, (packed & 0xffffff) - 1, primitive_);
  }

 private:
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  const MatrixRequest& r_;
  Shape batch_;
  detail::PrimitiveId primitive_;
  std::atomic<std::int64_t> first_{kNone};
};

/// Sizes are LAPACK's ints.
inline void require_int_sizes(const MatrixRequest& r, std::int64_t more = 0) {
  if (std::max(r.most(), more) > 30000 && std::max(r.most(), more) > std::numeric_limits<int>::max() / 4)
    throw Error(ErrorKind::shape, std::string(r.op) + ": a matrix may have up to " +
                                      std::to_string(std::numeric_limits<int>::max() / 4) +
                                      " rows and columns, it is " + to_string(r.space));
}

/// From so many operations on a matrix is shared between LAPACK's threads. They wait for each other by spinning: on two
/// busy processors QR of 300×300 took 2 s on two of them, and 6 ms on one.
inline constexpr std::int64_t kWorthThreads = 200'000'000;

/// body(matrix, table) for every matrix of the batch. One large matrix is LAPACK's threads' work; of many, each thread
/// has its own.
template <class T, class R, class Body> void for_matrices(const R& r, std::int64_t side, Body body) {
  const Factorisations<T>& table = factorisations<T>(r.op, side);
  const std::int64_t count = r.count();
  if (count == 0) return;
  with_threads_noted([&] {
    const std::int64_t work = std::max<std::int64_t>(r.flops() / count, 64);
    const bool share = count > 1 && count * work > 200'000 && (count >= max_threads() || work < kWorthThreads);
    const int threads = share || work < kWorthThreads ? 1 : max_threads();
    const bool embedded = &table == eigen_factorisations<T>();
    if (!embedded) set_lapack_threads(threads);
    if (detail::tracing())
      detail::note(table.library +
                   (embedded || threads == 1 ? "" : " on " + std::to_string(threads) + " of its threads"));
    const std::int64_t tasks = share ? std::min<std::int64_t>(count, 8 * max_threads()) : 1;
    const auto some = [&](std::int64_t t) {
      for (std::int64_t i = count * t / tasks; i < count * (t + 1) / tasks; ++i) body(i, table);
    };
    if (tasks == 1) some(0);
    else parallel_for(tasks, some);
  });
}

}  // namespace tern::detail_cpu
