// Copies of matrices by columns without gaps, as libraries of GPUs' vendors take them.
#pragma once
#include "primitives/linalg/small/gpu_small.hpp"

namespace tern::detail_gpu {

/// What of a matrix is moved; elsewhere are zeros.
enum class PartOfMatrix : char { all, lower, upper, diagonal };
struct Move {
  PartOfMatrix part = PartOfMatrix::all;
  bool ones = false;  // on the diagonal, whatever was there
  bool conjugate = false;
  const View* finite = nullptr;  // what is not becomes 0, or stays where it is `kept`, and the matrix's number here -1
  bool kept = false;
  const View* powers = nullptr;  // of two, by whose exponents it is multiplied, or divided
  bool divided = false;
  const View* bad = nullptr;     // a number for each matrix: where it is not 0, NaN
  const View* places = nullptr;  // of each row, which row of `from` it is
  bool root = false;             // of what is positive; else 0
  bool tiny = false;             // beside the diagonal, 0 for what is tiny where the largest is what Powers make it
};

/// The real numbers of a view: itself, or a complex one's parts, `part` of two.
inline View real_view(const View& v, int part) {
  if (!is_complex(v.dtype)) return v;
  View parts = v;
  parts.dtype = real_dtype(v.dtype), parts.offset = 2 * v.offset + part;
  for (std::size_t i = 0; i < parts.strides.size(); ++i) parts.strides[i] *= 2;
  return parts;
}
inline int parts_of_numbers(const View& v) { return is_complex(v.dtype) ? 2 : 1; }

/// The columns, the last one first.
inline View reversed(View v, std::int64_t columns) {
  v.offset += (columns - 1) * v.strides.back(), v.strides.back() = -v.strides.back();
  return v;
}

inline View transposed(View v) {
  std::swap(v.strides[v.strides.size() - 2], v.strides[v.strides.size() - 1]);
  return v;
}

/// Matrices of the device's, by columns without gaps, for all of a request.
class Matrices {
 public:
  Matrices(GpuBackend& backend, const detail::MatrixRequest& r, std::int64_t rows, std::int64_t columns, DType dtype)
      : size_(rows * columns), bytes_(static_cast<std::int64_t>(dtype_size(dtype))) {
    storage_ = backend.temporary(std::max<std::int64_t>(r.count() * size_, 1), dtype);
    const Shape batch = r.batch();
    Strides strides;
    strides.resize(static_cast<std::size_t>(batch.rank()));
    std::int64_t step = size_;
    for (int i = batch.rank() - 1; i >= 0; --i)
      strides[static_cast<std::size_t>(i)] = step, step *= batch[static_cast<std::size_t>(i)];
    strides.push_back(1), strides.push_back(rows);
    view = {storage_.get(), dtype, 0, strides};
  }
  template <class T = void> T* at(std::int64_t matrix) const {
    return reinterpret_cast<T*>(static_cast<std::byte*>(storage_->data()) + matrix * size_ * bytes_);
  }
  View view;

 private:
  std::shared_ptr<Storage> storage_;
  std::int64_t size_, bytes_;
};

inline ComputeType compute_type(DType real) { return real == DType::f64 ? ComputeType::f64 : ComputeType::f32; }

/// to = from, of rows × columns each, or a part of it; both are real or both complex, of f32 or f64.
void move(GpuBackend& backend, const detail::MatrixRequest& r, const View& from, const View& to, std::int64_t rows,
          std::int64_t columns, const Move& how = {});
/// In `noted`, 1 for each of x, n × n and real, with an element larger than 4·n·eps, or NaN.
void note_unless_small(GpuBackend& backend, const detail::MatrixRequest& r, const View& x, std::int64_t n,
                       const View& noted);
/// Places of rows: from 1, as libraries find them in 32 or 64 bits, to 0.
void move_pivots(GpuBackend& backend, const detail::MatrixRequest& r, const View& from, const View& to,
                 std::int64_t count);
/// Of each of n rows after they were exchanged with rows `pivots` (from 0), from the first one on, or `back`, from the
/// last one: which row it was. Pivots outside are kept within the matrix.
void find_places(GpuBackend& backend, const detail::MatrixRequest& r, const View& pivots, const View& to,
                 std::int64_t n, bool back);

/// Matrices by columns without gaps to read: those of a view where they lie so, or copies of them.
class InColumns {
 public:
  InColumns(GpuBackend& backend, const detail::MatrixRequest& r, const View& v, std::int64_t rows,
            std::int64_t columns);
  void* at(std::int64_t matrix) const { return const_cast<std::byte*>(first_) + matrix * bytes_; }

 private:
  std::optional<Matrices> copy_;
  const std::byte* first_;
  std::int64_t bytes_;
};

/// The addresses of a batch's matrices, in the device's memory.
class Addresses {
 public:
  /// at(l): that of matrix l.
  template <class At> Addresses(GpuBackend& backend, std::int64_t count, const At& at) {
    std::vector<void*> list;
    for (std::int64_t l = 0; l < count; ++l) list.push_back(at(l));
    take(backend, list);
  }
  void** get() const;

 private:
  void take(GpuBackend& backend, const std::vector<void*>& list);
  std::shared_ptr<Storage> storage_;
};

/// Exponents of the powers of two that make the largest finite part of each matrix, or of each of its columns, at
/// least 2^40 (of what is computed with in f64: 1) and less than twice that; 0 where all are 0. cuSOLVER takes squares
/// of elements as they are, where LAPACK scales, and reflections made of subnormal or infinite squares are not
/// orthogonal. 2^40: the last reflections of graded matrices are made of their least parts, and squares of what is
/// 2^-90 of the largest are normal numbers then; LAPACK leaves matrices of f32 up to 2^51 as they are.
class Powers {
 public:
  /// Of a, rows × columns each, for what is computed with in `dtype`.
  Powers(GpuBackend& backend, const detail::MatrixRequest& r, const View& a, std::int64_t rows, std::int64_t columns,
         DType dtype, bool lower, bool by_columns);

 private:
  Matrices exponents_;

 public:
  View view;
};

}  // namespace tern::detail_gpu
