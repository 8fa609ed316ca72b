#include "primitives/linalg/operations/operation_small.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>

#include "formula/elimination.hpp"
#include "primitives/fused/operation_fixed.hpp"
#include "primitives/linalg/linalg.hpp"
#include "process/fork.hpp"

namespace tern::detail {
namespace {

std::vector<Expr> inputs_from(int first, int count) {
  std::vector<Expr> x;
  for (int i = 0; i < count; ++i) x.push_back(make_input(first + i));
  return x;
}
/// The number, from 1, of the first for which `fails`; else 0.
template <class Fails> Expr first_of(std::span<const Expr> values, Fails fails) {
  Expr info = constant(0);
  for (std::size_t i = values.size(); i-- > 0;)
    info = where(fails(values[i]), constant(static_cast<double>(i + 1)), info);
  return cast(info, DType::i32);
}
/// -1 where a value is not finite.
Expr unless_finite(std::span<const Expr> values, const Expr& info) {
  Expr finite = isfinite(values[0]);
  for (const Expr& value : values.subspan(1)) finite = finite & isfinite(value);
  return where(finite, info, cast(constant(-1), DType::i32));
}
Expr singular(int n, std::span<const Expr> a) {
  return unless_finite(a, first_of(small_pivots(n, a), [](const Expr& pivot) { return pivot == constant(0); }));
}

// ---- values by the primitives, where they have kernels of their own ----

View view(const Tensor& x, const Shape& over) { return view_over(x, over); }
Tensor result_of(const char* op, const Tensor& a, const Shape& shape, DType dtype) {
  return make_tensor(shape, dtype, a.impl()->storage->backend(), op);
}
/// Whether the request has a kernel where `a` is, in its dtype.
template <class R> bool has_kernel(const Tensor& a) {
  return (a.dtype() == DType::f32 || a.dtype() == DType::f64) && a.impl()->storage->backend().template offers<R>();
}
/// The request's part that all have: of a's matrices, with a status where it is asked for.
template <class R> R request_of(const FixedCall& call, const Tensor& a, const Shape& batch, Tensor* status) {
  R r{};
  r.op = call.op, r.space = with_sizes(batch, {a.size(-2), a.size(-1)});
  if (status) *status = result_of(call.op, a, batch, DType::i32), r.status = view(*status, batch);
  return r;
}
void carry_out(const Tensor& a, const auto& request) { run(a.impl()->storage->backend(), request); }

bool inverse_values(const FixedCall& call, std::span<const Argument> arguments, std::span<Tensor> results) {
  const Tensor& a = value_of(arguments[0]);
  if (!has_kernel<DirectSolveRequest>(a)) return false;
  auto r = request_of<DirectSolveRequest>(call, a, batch_of(a.shape()), &results[1]);
  results[0] = result_of(call.op, a, a.shape(), a.dtype());
  r.right = a.size(-1), r.a = view(a, r.space), r.x = view(results[0], r.space);
  return carry_out(a, r), true;
}
bool solution_values(const FixedCall& call, std::span<const Argument> arguments, std::span<Tensor> results) {
  const Tensor &a = value_of(arguments[0]), &b = value_of(arguments[1]);
  if (!has_kernel<DirectSolveRequest>(a) || b.dtype() != a.dtype()) return false;
  const bool vector = call.operands[1].shape.rank == 1;
  const Shape batch = broadcast_shapes(call.op, batch_of(a.shape()), batch_of(b.shape(), vector ? 1 : 2));
  auto r = request_of<DirectSolveRequest>(call, a, batch, &results[1]);
  const Tensor sides = vector ? b.unsqueeze(-1) : b;
  r.right = sides.size(-1);
  const Tensor x = result_of(call.op, a, r.sides(), a.dtype());
  r.a = view(a, r.space), r.b = view(sides, r.sides()), r.x = view(x, r.sides());
  carry_out(a, r);
  results[0] = vector ? x.squeeze(-1) : x;
  return true;
}
/// Of det, or of a sign and a logarithm.
bool determinant_values(const FixedCall& call, std::span<const Argument> arguments, std::span<Tensor> results) {
  const Tensor& a = value_of(arguments[0]);
  if (!has_kernel<DirectSolveRequest>(a)) return false;
  const Shape batch = batch_of(a.shape());
  auto r = request_of<DirectSolveRequest>(call, a, batch, nullptr);
  for (Tensor& result : results) result = result_of(call.op, a, batch, a.dtype());
  r.a = view(a, r.space), r.det = view(results[0], batch);
  if (results.size() > 1) r.log = view(results[1], batch);
  return carry_out(a, r), true;
}
bool cholesky_values(const FixedCall& call, std::span<const Argument> arguments, std::span<Tensor> results) {
  const Tensor& a = value_of(arguments[0]);
  if (!has_kernel<DirectSolveRequest>(a)) return false;
  auto r = request_of<CholeskyRequest>(call, a, batch_of(a.shape()), &results[1]);
  results[0] = result_of(call.op, a, a.shape(), a.dtype());
  r.input = view(a, r.space), r.factor = view(results[0], r.space);
  return carry_out(a, r), true;
}

enum class SmallKind { det, slogdet, inv, solve, status, cholesky, positive };

/// 0, 1, … count - 1.
std::vector<int> all(int count) {
  std::vector<int> list(static_cast<std::size_t>(count));
  std::iota(list.begin(), list.end(), 0);
  return list;
}

/// The first row, from 1, whose pivot in the factor `l` of `a` is not positive; 0 where there is none.
Expr not_positive(int n, std::span<const Expr> a, std::span<const Expr> l) {
  std::vector<Expr> diagonal, lower;
  for (int i = 0; i < n; ++i) {
    diagonal.push_back(l[static_cast<std::size_t>(i * n + i)]);
    for (int j = 0; j <= i; ++j) lower.push_back(a[static_cast<std::size_t>(i * n + j)]);
  }
  return unless_finite(lower, first_of(diagonal, [](const Expr& d) { return bit_not(d > constant(0)); }));
}

/// y = (l·lᵀ)⁻¹·y, by l and then by lᵀ.
void solve_factored(int n, std::span<const Expr> l, std::span<Expr> y) {
  const auto at = [n](int i, int j) { return static_cast<std::size_t>(i * n + j); };
  const auto less = [&](int i, int k, std::size_t entry) {
    y[static_cast<std::size_t>(i)] = y[static_cast<std::size_t>(i)] - l[entry] * y[static_cast<std::size_t>(k)];
  };
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) less(i, k, at(i, k));
    y[static_cast<std::size_t>(i)] = y[static_cast<std::size_t>(i)] / l[at(i, i)];
  }
  for (int i = n; i-- > 0;) {
    for (int k = i + 1; k < n; ++k) less(i, k, at(k, i));
    y[static_cast<std::size_t>(i)] = y[static_cast<std::size_t>(i)] / l[at(i, i)];
  }
}

/// The solution for a vector, by Cholesky's factor; reads the lower triangle.
FixedCall positive_call(int n) {
  const auto at = [n](int i, int j) { return static_cast<std::size_t>(i * n + j); };
  std::vector<Expr> x(static_cast<std::size_t>(n * n)), l(x.size());
  std::vector<int> lower;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j)
      x[at(i, j)] = x[at(j, i)] = make_input(static_cast<int>(lower.size())), lower.push_back(i * n + j);
  const int first = static_cast<int>(lower.size());
  std::vector<Expr> y = inputs_from(first, n);
  cholesky_small(n, x, l), solve_factored(n, l, y);
  const FixedShape right{1, {n, 1}};
  FixedCall call;
  call.op = "solve", call.operands = {{FixedShape{2, {n, n}}, lower}, {right, all(n)}}, call.results = {{right, true}};
  call.graph = make_graph(y, first + n);
  return call;
}

FixedCall made(SmallKind kind, int n, int m) {
  const FixedShape matrix{2, {n, n}}, number{};
  const std::vector<Expr> a = inputs_from(0, n * n);
  std::vector<Expr> x(static_cast<std::size_t>(n * n));
  FixedCall call;
  call.operands.push_back({matrix, all(n * n)});
  switch (kind) {
    case SmallKind::det:
      call.op = "det", x = {small_determinant(n, a)}, call.results = {{number, true}};
      call.values = determinant_values;
      break;
    case SmallKind::slogdet:
      call.op = "slogdet", call.results = {{number, true}, {number, true}};
      call.values = determinant_values;
      x = {small_sign(n, a), small_log_determinant(n, a)};
      break;
    case SmallKind::status: call.op = "solve", x = {singular(n, a)}, call.results = {{number, true}}; break;
    case SmallKind::inv:
      call.op = "inv", call.results = {{matrix, true}, {number, true}};
      call.values = inverse_values;
      inverse_small(n, a, x), x.push_back(singular(n, a));
      break;
    case SmallKind::solve: {
      const FixedShape right = m ? FixedShape{2, {n, m}} : FixedShape{1, {n, 1}};
      call.op = "solve", call.operands.push_back({right, all(right.count())});
      call.results = {{right, true}, {number, true}};
      call.values = solution_values;
      x = inputs_from(n * n, right.count());
      solve_small(n, std::max(m, 1), a, x), x.push_back(singular(n, a));
      break;
    }
    case SmallKind::positive: return positive_call(n);
    case SmallKind::cholesky:
      call.op = "cholesky", call.results = {{matrix, true}, {number, true}};
      call.values = cholesky_values;
      cholesky_small(n, a, x), x.push_back(not_positive(n, a, x));
      break;
  }
  call.graph = make_graph(x, n * n + (kind == SmallKind::solve ? n * std::max(m, 1) : 0));
  return call;
}
/// m: columns of the right-hand sides; 0: they are vectors.
const FixedCall& call_of(SmallKind kind, std::int64_t n, std::int64_t m = 0) {
  struct SmallCalls {
    ForkSafe<std::mutex> lock;
    std::map<std::tuple<SmallKind, std::int64_t, std::int64_t>, FixedCall> list;
  };
  static SmallCalls& calls = *new SmallCalls;  // of graphs, which live as long as the process
  const std::lock_guard hold(calls.lock);
  const auto found = calls.list.find({kind, n, m});
  if (found != calls.list.end()) return found->second;
  return calls.list.emplace(std::tuple(kind, n, m), made(kind, static_cast<int>(n), static_cast<int>(m))).first->second;
}

template <TensorOrVar T> SmallResult<T> with_info(const FixedCall& call, std::span<const Argument> arguments) {
  T results[2];
  run_fixed(call, arguments, std::span<T>(results));
  return {std::move(results[0]), value_of(results[1])};
}

/// Columns of a right-hand side in one formula; more are vectors, each with its elimination.
constexpr std::int64_t kMostUnrolledColumns = 8;

}  // namespace

Tensor small_status(const Tensor& a) {
  const Argument argument(a);
  Tensor info;
  run_fixed(call_of(SmallKind::status, a.size(-1)), {&argument, 1}, std::span<Tensor>(&info, 1));
  return info;
}
template <TensorOrVar T> SmallPair<T> small_slogdet(const T& a) {
  const Argument argument(a);
  T results[2];
  run_fixed(call_of(SmallKind::slogdet, a.size(-1)), {&argument, 1}, std::span<T>(results));
  return {std::move(results[0]), std::move(results[1])};
}
template <TensorOrVar T> T small_det(const T& a) {
  const Argument argument(a);
  T result;
  run_fixed(call_of(SmallKind::det, a.size(-1)), {&argument, 1}, std::span<T>(&result, 1));
  return result;
}
template <TensorOrVar T> SmallResult<T> small_inv(const T& a) {
  const Argument argument(a);
  return with_info<T>(call_of(SmallKind::inv, a.size(-1)), {&argument, 1});
}
template <TensorOrVar T> SmallResult<T> small_solve(const T& a, const T& b, bool vector) {
  const std::int64_t columns = vector ? 0 : b.size(-1);
  SmallResult<T> result;
  if (columns <= kMostUnrolledColumns && (vector || columns > 0)) {
    const Argument arguments[] = {Argument(a), Argument(b)};
    result = with_info<T>(call_of(SmallKind::solve, a.size(-1), columns), arguments);
  } else {
    const T over_columns = a.unsqueeze(-3), right = b.transpose(-1, -2);
    const Argument arguments[] = {Argument(over_columns), Argument(right)};
    result = {with_info<T>(call_of(SmallKind::solve, a.size(-1)), arguments).value.transpose(-1, -2), Tensor()};
  }
  bool same = result.info.defined() && result.info.dim() == a.dim() - 2;
  for (int i = 0; same && i < a.dim() - 2; ++i)  // a status for each matrix of a
    same = result.info.size(i) == a.size(i);
  if (!same) result.info = small_status(value_of(a));
  return result;
}
template <TensorOrVar T> SmallResult<T> small_cholesky(const T& a) {
  const Argument argument(a);
  return with_info<T>(call_of(SmallKind::cholesky, a.size(-1)), {&argument, 1});
}

Tensor solve_positive(const Tensor& h, const Tensor& g) {
  const Argument arguments[] = {Argument(h), Argument(g)};
  Tensor x;
  run_fixed(call_of(SmallKind::positive, g.size(-1)), arguments, std::span<Tensor>(&x, 1));
  return x;
}

#define TERN_SMALL(T)                                               \
  template T small_det<T>(const T&);                                \
  template SmallPair<T> small_slogdet<T>(const T&);                 \
  template SmallResult<T> small_inv<T>(const T&);                   \
  template SmallResult<T> small_solve<T>(const T&, const T&, bool); \
  template SmallResult<T> small_cholesky<T>(const T&);
TERN_SMALL(Tensor)
TERN_SMALL(Var)

}  // namespace tern::detail
