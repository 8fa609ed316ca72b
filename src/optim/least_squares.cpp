// Levenberg-Marquardt on batches: every row is a problem with its own damping.
#include <algorithm>
#include <limits>
#include <string>

#include "backend/tensor_impl.hpp"
#include "optim/scales.hpp"
#include "primitives/linalg/operations/operation.hpp"
#include "tern/implicit.hpp"

namespace tern::detail {
namespace {

/// Of [..., n, n] symmetric positive definite and [..., n]: by one formula up to kMostInFormula rows, else by Cholesky.
/// What is not definite after roundings gives NaN.
Tensor normal_step(const char* op, const Tensor& h, const Tensor& g) {
  if (g.size(-1) <= kMostInFormula) return solve_positive(h, g);
  Tensor info;
  const Tensor l = cholesky_tensor(op, h, false, &info);
  const Tensor y = triangular_tensor(op, l, g.unsqueeze(-1).contiguous(), false, 'N', false);
  const Tensor x = triangular_tensor(op, l, y, false, 'T', false).squeeze(-1);
  return where(info.unsqueeze(-1) == 0, x, std::numeric_limits<double>::quiet_NaN());
}

constexpr double kLeastDamping = 1e-14;

/// [..., n] → [..., n, n] with these on the diagonal.
Tensor on_diagonal(const Tensor& d) { return d.unsqueeze(-1) * eye(d.size(-1)).to(d.dtype()).to(d.device()); }

void check(const char* op, const Tensor& x0, const optim::LeastSquaresOptions& o) {
  require_defined(op, "x0", x0);
  if (x0.dim() == 0 || x0.size(-1) == 0)
    throw Error(ErrorKind::shape, std::string(op) + ": x0 must be [..., n] with n of at least 1, got " + describe(x0));
  if (x0.dtype() != DType::f32 && x0.dtype() != DType::f64)
    throw Error(ErrorKind::dtype, std::string(op) + ": x0 must be f32 or f64, got " + describe(x0));
  if (o.iterations < 0 || !(o.gradient >= 0) || !(o.step >= 0) || !(o.damping >= 0))
    throw Error(ErrorKind::value,
                std::string(op) + ": iterations, gradient, step and damping must be numbers of at least 0");
}
void check_residuals(const char* op, const Tensor& r, const Tensor& x0) {
  require_defined(op, "what the function gives", r);
  Shape rows = x0.shape(), given = r.shape();
  rows.resize(rows.rank() - 1), given.resize(std::max(given.rank() - 1, 0));
  if (r.dim() == 0 || rows != given)
    throw Error(ErrorKind::shape, std::string(op) + ": the function must give a row for each row of x0, " +
                                      describe(x0) + ", it gave " + describe(r));
  if (!is_floating(r.dtype()))
    throw Error(ErrorKind::dtype,
                std::string(op) + ": the function must give floating-point numbers, it gave " + describe(r));
}

}  // namespace

optim::LeastSquaresResult levenberg_marquardt(const std::function<Var(const Var&)>& f, const Tensor& x0,
                                              const optim::LeastSquaresOptions& options) {
  constexpr const char* op = "least_squares";
  check(op, x0, options);
  Tensor x = x0.clone(), size;
  const auto value = [&](const Tensor& x) {
    const NoGrad none;
    const Tensor r = f(as_var(x)).value();
    check_residuals(op, r, x0);
    // All is done with residuals that are near 1 at first: squares of others overflow or vanish.
    if (!size.defined()) size = r.size(-1) == 0 ? sum(r, -1, true) + 1 : power_of_two_near(max(abs(r), {-1}, true));
    return r / size;
  };
  const auto costs = [](const Tensor& r) { return 0.5 * sum(square(r), -1, true); };
  Tensor r = value(x), cost = costs(r);
  Tensor damping = zeros_like(cost) + options.damping, growth = zeros_like(cost) + 2, done = cost < 0;
  // As Moré (1978) damps by the largest diagonal of JᵀJ on the way, which holds back an unknown that residuals hardly
  // depend on here; but forgotten by halves, so that a far beginning does not slow down the rest.
  Tensor scale = zeros_like(x);
  const Tensor least_gradient = options.gradient / size / size;
  const double tiny = r.dtype() == DType::f64 ? 1e-300 : 1e-37;
  optim::LeastSquaresResult result;
  for (; result.iterations < options.iterations; ++result.iterations) {
    const Mode mode = r.size(-1) < x.size(-1) ? Mode::reverse : Mode::forward;
    const Tensor j = batched_jacobian([&](const Var& at) { return f(at) / size; }, x, mode);
    const Tensor jt = j.transpose(-1, -2), h = matmul(jt, j), g = matmul(jt, r.unsqueeze(-1)).squeeze(-1);
    done = logical_or(done, max(abs(g), {-1}, true) <= least_gradient);
    if (all(done).to(cpu()).item<bool>()) break;
    scale = maximum(scale, diagonal(h, 0, -2, -1));
    const Tensor damped = damping * maximum(scale, max(scale, {-1}, true) * 1e-9 + tiny);
    const Tensor step = normal_step(op, h + on_diagonal(damped), g);
    const Tensor next = where(done, x, x - step), next_r = value(next), next_cost = costs(next_r);
    const Tensor better = next_cost < cost;
    // A step that is refused but so small tells that roundings hide what is left.
    done = logical_or(done, max(abs(step), {-1}, true) <= options.step * max(abs(x), {-1}, true));
    // Nielsen (1999): by how much of what was promised came true.
    const Tensor gain = (cost - next_cost) / (0.5 * sum(step * (damped * step + g), -1, true)), t = 2 * gain - 1;
    damping = where(better, maximum(damping * clamp(1 - t * t * t, 0.1, 2), kLeastDamping),
                    minimum(maximum(damping, kLeastDamping) * growth, 1e12));
    growth = where(better, 2, growth * 2), scale = where(better, 0.5 * scale, scale);
    x = where(better, next, x), r = where(better, next_r, r), cost = where(better, next_cost, cost);
  }
  result.x = x, result.cost = (cost * size * size).squeeze(-1), result.converged = done.squeeze(-1);
  return result;
}

}  // namespace tern::detail
