// The primitives of linear algebra on plain tensors: checks, results, requests.
#include "backend/instruments/trace.hpp"
#include "primitives/linalg/operations/operation.hpp"

namespace tern::detail {

void require_matrices(const char* op, const char* argument, const Tensor& x) {
  require_defined(op, argument, x);
  if (x.dim() < 2)
    throw Error(ErrorKind::shape,
                std::string(op) + ": " + argument + " must be matrices [.., M, N], it is " + describe(x));
  if (!is_differentiable(x.dtype()))
    throw Error(ErrorKind::dtype, std::string(op) + ": " + argument + " must be floating or complex, it is " +
                                      describe(x) + "; convert it with .to(f32)");
}
void require_square(const char* op, const char* argument, const Tensor& x) {
  require_matrices(op, argument, x);
  if (x.size(-1) != x.size(-2))
    throw Error(ErrorKind::shape,
                std::string(op) + ": " + argument + " must be square matrices [.., N, N], it is " + describe(x));
}

namespace {

Backend& backend_of_tensor(const Tensor& x) { return x.impl()->storage->backend(); }
View view(const Tensor& x) { return x.defined() ? view_over(x, x.shape()) : View(); }
/// The part of a request that all have.
template <class R> R request_for(const char* op, const Tensor& a, bool checked) {
  backend_of_tensor(a).template require<R>(op);
  require_kernels(op, a);
  R r{};
  r.op = op, r.space = a.shape(), r.checked = checked;
  return r;
}
Tensor result_like(const char* op, const Tensor& a, const Shape& shape, DType dtype) {
  return make_tensor(shape, dtype, backend_of_tensor(a), op);
}
Tensor result_like(const char* op, const Tensor& a, const Shape& shape) { return result_like(op, a, shape, a.dtype()); }
/// Results that lie by columns, as what factorises on the CPU takes and gives them.
Tensor by_columns_like(const char* op, const Tensor& a, Shape shape) {
  std::swap(shape[static_cast<std::size_t>(shape.rank() - 1)], shape[static_cast<std::size_t>(shape.rank() - 2)]);
  return result_like(op, a, shape).mT();
}

}  // namespace

void require_status(const char* op, const Tensor& a, const Tensor& info, PrimitiveId by) {
  auto r = request_for<StatusRequest>(op, a, true);
  r.by = by, r.status = view(info);
  run(backend_of_tensor(a), r);
}
Tensor cholesky_tensor(const char* op, const Tensor& a, bool checked, Tensor* info) {
  auto r = request_for<CholeskyRequest>(op, a, checked);
  const Tensor factor = result_like(op, a, a.shape());
  if (info) *info = result_like(op, a, r.batch(), DType::i32), r.status = view(*info);
  r.input = view(a), r.factor = view(factor);
  run(backend_of_tensor(a), r);
  return factor;
}
LuTensors lu_tensors(const char* op, const Tensor& a, bool checked, bool with_info, const SidesOfLu& sides) {
  auto r = request_for<LuRequest>(op, a, checked);
  LuTensors made{by_columns_like(op, a, a.shape()), result_like(op, a, r.results({r.least()}), DType::i32), {}, {}};
  if (with_info) made.info = result_like(op, a, r.batch(), DType::i32);
  r.input = view(a), r.lu = view(made.lu), r.pivots = view(made.pivots), r.status = view(made.info);
  if (sides.b.defined()) {
    made.x = result_like(op, sides.b, sides.b.shape());
    r.right = sides.b.size(-1), r.kept = sides.kept, r.b = view(sides.b), r.x = view(made.x);
  }
  run(backend_of_tensor(a), r);
  return made;
}
Tensor lu_solve_tensor(const char* op, const Tensor& lu, const Tensor& pivots, const Tensor& b, bool adjoint,
                       bool permutes) {
  auto r = request_for<LuSolveRequest>(op, lu, false);
  const Tensor x = result_like(op, b, b.shape());
  r.adjoint = adjoint, r.permutes = permutes, r.right = b.size(-1);
  r.lu = view(lu), r.pivots = view(pivots), r.b = view(b), r.x = view(x);
  run(backend_of_tensor(lu), r);
  return x;
}
Tensor triangular_tensor(const char* op, const Tensor& a, const Tensor& b, bool upper, char how, bool unit) {
  auto r = request_for<TriangularRequest>(op, a, false);
  const Tensor x = result_like(op, b, b.shape());
  r.upper = upper, r.unit = unit, r.how = how, r.right = b.size(-1);
  r.a = view(a), r.b = view(b), r.x = view(x);
  run(backend_of_tensor(a), r);
  return x;
}
std::pair<Tensor, Tensor> qr_tensors(const char* op, const Tensor& a, bool full) {
  auto r = request_for<QrRequest>(op, a, true);
  r.full = full;
  const Tensor q = result_like(op, a, r.results({r.rows(), r.inner()}));
  const Tensor right = result_like(op, a, r.results({r.inner(), r.columns()}));
  r.input = view(a), r.q = view(q), r.r = view(right);
  run(backend_of_tensor(a), r);
  return {q, right};
}
std::pair<Tensor, Tensor> eigh_tensors(const char* op, const Tensor& a, bool vectors) {
  auto r = request_for<EighRequest>(op, a, true);
  const Tensor values = result_like(op, a, r.results({r.rows()}), real_dtype(a.dtype()));
  const Tensor list = vectors ? result_like(op, a, a.shape()) : Tensor();
  r.input = view(a), r.values = view(values), r.vectors = view(list);
  run(backend_of_tensor(a), r);
  return {values, list};
}
SvdTensors svd_tensors(const char* op, const Tensor& a, bool full, bool vectors) {
  auto r = request_for<SvdRequest>(op, a, true);
  r.full = full;
  SvdTensors made;
  made.s = result_like(op, a, r.results({r.least()}), real_dtype(a.dtype()));
  if (vectors) {
    made.u = result_like(op, a, r.results({r.rows(), full ? r.rows() : r.least()}));
    made.vh = result_like(op, a, r.results({full ? r.columns() : r.least(), r.columns()}));
  }
  r.input = view(a), r.u = view(made.u), r.s = view(made.s), r.vh = view(made.vh);
  run(backend_of_tensor(a), r);
  return made;
}
std::pair<Tensor, Tensor> eig_tensors(const char* op, const Tensor& a, bool vectors) {
  auto r = request_for<EigRequest>(op, a, true);
  const DType dtype = complex_dtype(a.dtype());
  const Tensor values = result_like(op, a, r.results({r.rows()}), dtype);
  const Tensor list = vectors ? result_like(op, a, a.shape(), dtype) : Tensor();
  r.input = view(a), r.values = view(values), r.vectors = view(list);
  run(backend_of_tensor(a), r);
  return {values, list};
}

}  // namespace tern::detail
