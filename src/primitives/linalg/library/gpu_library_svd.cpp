// Singular values by the vendor's library. Of f32 and c64, without vectors, as roots of the eigenvalues of aᴴa in f64,
// whose roundings are less than those of f32 even where it squares: s is off by at most the root of f64's eps, 1.5·10⁻⁸
// of the largest. 1024 x 1024 take 10 ms, gesvdj 55 and gesvd 116 (H200, 26 November 2026).
//
// Else by the polar decomposition in f64 or c128 (gesvdp), 30 ms where gesvdj takes 90 and gesvd 126; where the matrix
// is so singular that it took another one beside it, which it tells, by gesvd.
#include <cmath>

#include "primitives/linalg/library/gpu_infos.hpp"
#include "primitives/linalg/library/gpu_library.hpp"

namespace tern::detail_gpu {

using detail::PrimitiveId;
using detail::SvdRequest;

namespace {

/// Of the matrix, or of its adjoint where that is the tall one: m × n, whose vectors on the left go to `left`, and on
/// the right, v and not vᴴ, to `right`.
struct Sides {
  explicit Sides(const SvdRequest& r)
      : wide(r.columns() > r.rows()), m(r.most()), n(r.least()), columns(r.full && r.vectors() ? m : n) {
    if (!r.vectors()) return;
    left = wide ? transposed(r.vh) : r.u;
    right = wide ? r.u : transposed(r.vh);
  }
  bool wide;
  std::int64_t m, n, columns;  // columns: on the left
  View left = {}, right = {};
  View tall(const View& input) const { return wide ? transposed(input) : input; }
};

/// Vectors of v come in columns; of those on the left in q.
void store(GpuBackend& backend, const SvdRequest& r, const Sides& sides, const View& q, const View& v) {
  move(backend, r, q, sides.left, sides.m, sides.columns, {.conjugate = sides.wide});
  move(backend, r, v, sides.right, sides.n, sides.n, {.conjugate = !sides.wide});
}

void by_squares(GpuBackend& backend, MatrixLibrary& library, const SvdRequest& r) {
  const DType dtype = r.input.dtype, wide = is_complex(dtype) ? DType::c128 : DType::f64;
  const Sides sides(r);
  const std::int64_t m = sides.m, n = sides.n;
  const Matrices a(backend, r, m, n, wide), v(backend, r, n, n, wide), squares(backend, r, n, 1, DType::f64);
  Infos infos(backend, r);
  const Powers powers(backend, r, r.input, r.rows(), r.columns(), wide, false, false);
  move(backend, r, sides.tall(r.input), a.view, m, n,
       {.conjugate = sides.wide, .finite = &infos.bad(), .powers = &powers.view});
  for_each_matrix(r, [&](std::int64_t l) { library.multiply(wide, true, n, n, m, a.at(l), a.at(l), v.at(l)); });
  move(backend, r, v.view, v.view, n, n, {.tiny = true});  // as of eigh
  library.eigh(wide, false, n, v.at(0), squares.at(0), infos.at(0), r.count());
  const Matrices s(backend, r, n, 1, real_dtype(dtype));
  move(backend, r, transposed(reversed(transposed(squares.view), n)), s.view, n, 1, {.root = true});
  move(backend, r, s.view, r.s, n, 1, {.powers = &powers.view, .divided = true});
  infos.finish(PrimitiveId::svd);
}

void in_full_width(GpuBackend& backend, MatrixLibrary& library, const SvdRequest& r) {
  // f32 too, which gesvd would take no less time for.
  const DType dtype = is_complex(r.input.dtype) ? DType::c128 : DType::f64;
  const Sides sides(r);
  const std::int64_t m = sides.m, n = sides.n;
  const char job = !r.vectors() ? 'N' : r.full ? 'A' : 'S';
  const bool vectors = job != 'N';
  const Matrices a(backend, r, m, n, dtype), s(backend, r, n, 1, real_dtype(dtype));
  const Matrices u(backend, r, m, sides.columns, dtype), v(backend, r, n, n, dtype);
  Infos infos(backend, r);
  const Powers powers(backend, r, r.input, r.rows(), r.columns(), dtype, false, false);
  const auto take = [&] {
    move(backend, r, sides.tall(r.input), a.view, m, n,
         {.conjugate = sides.wide, .finite = &infos.bad(), .powers = &powers.view});
  };
  take();
  // The largest element is at least 1, and so is the norm.
  const double most = std::ldexp(static_cast<double>(n), -53);
  bool all = sides.columns == n;  // it makes no more
  for_each_matrix(r, [&](std::int64_t l) {
    all = all && library.svd_by_polar(dtype, m, n, a.at(l), s.at(l), u.at(l), v.at(l), most);
  });
  if (!all) {
    take();
    for_each_matrix(
        r, [&](std::int64_t l) { library.svd(dtype, job, m, n, a.at(l), s.at(l), u.at(l), v.at(l), infos.at(l)); });
  }
  const Matrices rounded(backend, r, n, 1, real_dtype(r.input.dtype));  // once, whatever the matrix's scale
  move(backend, r, s.view, rounded.view, n, 1);
  move(backend, r, rounded.view, r.s, n, 1, {.powers = &powers.view, .divided = true});
  if (vectors && all) store(backend, r, sides, u.view, v.view);
  if (vectors && !all) {
    move(backend, r, u.view, sides.left, m, sides.columns, {.conjugate = sides.wide});
    move(backend, r, transposed(v.view), sides.right, n, n, {.conjugate = sides.wide});
  }
  infos.finish(PrimitiveId::svd);
}

}  // namespace

void by_library(GpuBackend& backend, MatrixLibrary& library, const SvdRequest& r) {
  const bool squares = real_dtype(r.input.dtype) == DType::f32 && !r.vectors();
  squares ? by_squares(backend, library, r) : in_full_width(backend, library, r);
}

}  // namespace tern::detail_gpu
