// Large real matrices on GPUs by kernels of blocks of 32 rows or columns, and by products for everything else.
#pragma once
#include "backend/instruments/unnoted.hpp"
#include "gpu/text/kernel_file.hpp"
#include "primitives/gemm/prepared.hpp"
#include "primitives/linalg/library/gpu_columns.hpp"

namespace tern::detail_gpu {

/// Rows that a workgroup's memory, and numbers that an invocation's registers hold.
inline constexpr int kMatrixBlock = 32;

/// Carries the request out by blocks; false, having done nothing, where there are no such kernels.
bool by_blocks(GpuBackend&, const detail::CholeskyRequest&);
bool by_blocks(GpuBackend&, const detail::LuRequest&);
bool by_blocks(GpuBackend&, const detail::LuSolveRequest&);
bool by_blocks(GpuBackend&, const detail::TriangularRequest&);
bool by_blocks(GpuBackend&, const detail::QrRequest&);
bool by_blocks(GpuBackend&, const detail::EighRequest&);
bool by_blocks(GpuBackend&, const detail::SvdRequest&);
template <class R> bool by_blocks(GpuBackend&, const R&) { return false; }
/// The same, also of few matrices.
bool by_rotations(GpuBackend&, const detail::SvdRequest&);

// ---- for those that do ----

/// The part of matrices from row i and column j on.
inline View from_element(View v, std::int64_t i, std::int64_t j) {
  v.offset += i * v.strides[v.strides.size() - 2] + j * v.strides.back();
  return v;
}
/// Rows and columns in the opposite order.
inline View reversed_both_ways(View v, std::int64_t rows, std::int64_t columns) {
  v = from_element(std::move(v), rows - 1, columns - 1);
  for (std::size_t i = v.strides.size() - 2; i < v.strides.size(); ++i) v.strides[i] = -v.strides[i];
  return v;
}
/// Of n columns, those of the first half, in whole blocks.
inline std::int64_t first_half(std::int64_t n) { return ceil_div(ceil_div(n, kMatrixBlock), 2) * kMatrixBlock; }

/// Of a product of m × k times k × n.
struct ProductSizes {
  std::int64_t m, n, k;
};
/// What a triangle is divided by: ones, or what stands on its diagonal, or halves of that (1 where it is 0).
enum class Diagonal : char { ones, numbers, halves };

/// A request's matrices, and the products among their parts.
class MatrixBlocks {
 public:
  MatrixBlocks(GpuBackend& backend, const detail::MatrixRequest& r, DType dtype);
  /// c = a · b, and c -= a · b.
  void multiply(const View& c, const View& a, const View& b, const ProductSizes& sizes) const;
  void subtract(const View& c, const View& a, const View& b, const ProductSizes& sizes) const;
  /// x = A⁻¹·x of a triangle of n rows, for `right` columns.
  void solve(const View& a, const View& x, std::int64_t n, std::int64_t right, bool upper, bool unit) const;
  /// x = l⁻¹·b of a lower triangle of a block; x may be b.
  void solve_block(const View& l, const View& b, const View& x, std::int64_t n, std::int64_t right,
                   Diagonal diagonal) const;

  GpuBackend& backend;
  const detail::MatrixRequest& r;
  DType dtype;

 private:
  void product(const View& c, const View& a, const View& b, const ProductSizes& sizes, const detail::Program* epilogue,
               std::span<const detail::Operand> inputs) const;
  const detail::Program *without_, *alone_;
};

/// The status of each matrix, where it is asked for: the request's own, or one that is kept for the errors alone.
class RequestStatus {
 public:
  /// 0 for all.
  RequestStatus(GpuBackend& backend, const detail::MatrixRequest& r);
  /// Null where nobody asks.
  const View* view() const { return wanted_ ? &view_ : nullptr; }
  /// Notes what failed, for an error when the device is waited for.
  void finish(detail::PrimitiveId by) const;

 private:
  GpuBackend& backend_;
  const detail::MatrixRequest& r_;
  bool wanted_;
  std::optional<Matrices> own_;
  View view_;
};

/// The text of a kernel of a block, from its file: what all of them fill in.
struct BlockText {
  BlockText(MatrixPlan& plan, DType dtype, int threads);
  /// $name(row, column) is an element of the access, and $set_name(row, column, value) stores one.
  void add(const char* name, int access, bool written);
  void param(const char* name, int slot) { holes[name] = plan.backend.dialect().param(slot); }
  void share(const char* name, int count) { shared.push_back({type, name, count}); }
  void share_numbers(const char* name, int count) { shared.push_back({"u32", name, count}); }
  void share_vectors(const char* name, int count) { shared.push_back({holes["vector"], name, count}); }
  /// The triangle l of a block.
  void add_triangle(Diagonal diagonal);
  /// $tell: `status`, of rows from the slot's on, becomes that of the access where there was none; -1: is not asked
  /// for.
  void add_status(int access, int first_slot, const std::string& condition);
  std::string text(const char* title, const char* file, const std::string& functions = "") {
    return plan.module(title, fill_holes(file, holes), shared, functions);
  }

  MatrixPlan& plan;
  Io io;
  std::string type;
  std::vector<std::string> matrix;
  Holes holes;
  std::vector<Shared> shared;
};

/// Whether there are kernels of blocks for the request's views; a report says `how` they do it.
template <class R>
bool go_by_blocks(GpuBackend& backend, const R& r, DType dtype, const char* how = "blocks of 32 and products") {
  if (!has_matrix_texts(backend, dtype) || r.least() < 1 || r.count() == 0) return false;
  SeenWhole seen(backend);
  R::views(r, seen);
  if (!seen.whole || seen.largest > seen.most) return false;
  if (detail::tracing()) detail::note(how);
  return true;
}
/// Runs what a request is made of; reports say nothing of its products.
template <class R, class Plan> void run_blocks(GpuBackend& backend, const R& r, const Plan& plan) {
  const detail::Unnoted alone;
  run_prepared_products(backend, r, plan);
}

}  // namespace tern::detail_gpu
