// Implicit differentiation: what an iteration found is differentiated by the equation that it fulfils, not step by
// step. custom_linear_solve for a·x = b with any linear map, custom_root for f(x) = 0. Gradients of any order.
#pragma once
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "tern/ops.hpp"
#include "tern/transforms.hpp"

namespace tern {

/// How iterative linear solvers run.
struct IterativeOptions {
  /// Of the norm of b - map(x) over that of b; negative: 1e-5 in f32, 1e-10 in f64. Where the roundings of map(x) are
  /// larger, as of maps that are nearly singular, it may be as large as they are, up to the tolerance's square root.
  double tolerance = -1;
  int iterations = 1000;
  /// GMRES begins anew after so many.
  int restart = 30;
  /// A linear map near the inverse, written on Vars; none: the identity. conjugate_gradients asks that it be symmetric
  /// and positive.
  std::function<Var(const Var&)> preconditioner = {};
  /// Each row along the last axis is a system of its own; else all elements are one. (Not with GMRES.)
  bool batched = false;
};

using TensorMap = std::function<Tensor(const Tensor&)>;
/// Solves map(x) = b: gets the map, the preconditioner (or an empty function), and b.
using LinearSolver = std::function<Tensor(const TensorMap& map, const TensorMap& preconditioner, const Tensor& b)>;
/// A solver with the preconditioner it is given; made by the functions below, or of a LinearSolver.
struct LinearMethod {
  LinearSolver solve;
  std::function<Var(const Var&)> preconditioner = {};
};
/// For symmetric positive definite maps (Hestenes and Stiefel, 1952). Throws `linalg` where it does not converge.
LinearMethod conjugate_gradients(IterativeOptions options = {});
/// For any invertible map (Saad and Schultz, 1986; preconditioned from the right).
LinearMethod gmres(IterativeOptions options = {});
/// For most invertible maps, in constant memory (van der Vorst, 1992). Where x·map(x) is 0 of every x, as of rotations
/// by a right angle, it breaks down, and throws `linalg`: gmres does not.
LinearMethod bicgstab(IterativeOptions options = {});

namespace detail {
/// (x, θ…) → a Var of x's shape.
using ImplicitFunction = std::function<Var(const Var& x, std::span<const Var> theta)>;
/// map and its transpose, both linear in their first argument.
struct LinearMap {
  ImplicitFunction map, transpose;
};
LinearMap with_transpose(ImplicitFunction map);
Var linear_solve(const LinearMap& map, bool transposed, const LinearMethod& method, const Var& b,
                 std::span<const Var> theta);
Var implicit_root(const ImplicitFunction& f, const LinearMethod& method, const Tensor& root,
                  std::span<const Var> theta);
template <class F, std::size_t... I> ImplicitFunction implicit_function(const F& f, std::index_sequence<I...>) {
  return [f](const Var& x, [[maybe_unused]] std::span<const Var> theta) -> Var { return f(x, theta[I]...); };
}
}  // namespace detail

/// custom_linear_solve(map, method)(b, θ…): x with map(x, θ…) = b, where the map, a function of Vars, is linear in x
/// and gives x's shape, and θ… are all else that gradients are taken of. The gradient solves with the transpose, which
/// is derived. Tensors give a Tensor. Errors: `shape` where the map's result is not like b; `linalg` where the method
/// does not converge.
template <class F> auto custom_linear_solve(F map, LinearMethod method = gmres()) {
  return [map = std::move(map), method = std::move(method)]<TensorOrVar B, TensorOrVar... T>(const B& b,
                                                                                             const T&... theta) {
    const Var list[] = {detail::as_var(b), detail::as_var(theta)...};
    const Var x =
        detail::linear_solve(detail::with_transpose(detail::implicit_function(map, std::index_sequence_for<T...>())),
                             false, method, list[0], std::span<const Var>(list).subspan(1));
    return detail::leaf_as<ResultOf<B, T...>>(x);
  };
}

/// custom_root(f, solve)(x0, θ…): x with f(x, θ…) = 0, as `solve(g, x0)` finds it, where g is f of x alone (of Tensors
/// and of Vars) and the result a Tensor. The gradient by θ… is that of the implicit function: with J = ∂f/∂x,
/// dx = -J⁻¹·∂f/∂θ·dθ; J is applied, never built, and `method` solves with its transpose. x0 has no gradient.
template <class F, class S> auto custom_root(F f, S solve, LinearMethod method = gmres()) {
  return [f = std::move(f), solve = std::move(solve), method = std::move(method)]<TensorOrVar X, TensorOrVar... T>(
             const X& x0, const T&... theta) {
    Tensor root;
    const auto plain = [](const auto& x) -> const Tensor& {
      if constexpr (std::same_as<std::remove_cvref_t<decltype(x)>, Var>) return x.value();
      else return x;
    };
    {
      const auto at = [&]<TensorOrVar V>(const V& x) {
        return detail::leaf_as<V>(f(detail::as_var(x), detail::as_var(plain(theta))...));
      };
      const NoGrad none;
      root = solve(at, plain(x0));
    }
    const std::vector<Var> list{detail::as_var(theta)...};
    const Var x =
        detail::implicit_root(detail::implicit_function(f, std::index_sequence_for<T...>()), method, root, list);
    return detail::leaf_as<ResultOf<T..., Tensor>>(x);
  };
}

struct NewtonOptions {
  int iterations = 50;
  /// Of the largest |f|; negative: 1e-5 in f32, 1e-10 in f64.
  double tolerance = -1;
  LinearMethod method = gmres();
};
/// Newton's method as custom_root's solve: x -= J⁻¹·f. Throws `linalg` where it does not converge.
class Newton {
 public:
  explicit Newton(NewtonOptions options = {}) : options_(std::move(options)) {}
  template <class G> Tensor operator()(const G& g, const Tensor& x0) const {
    return run([&g](const Var& x) -> Var { return g(x); }, x0);
  }

 private:
  Tensor run(const std::function<Var(const Var&)>& g, const Tensor& x0) const;
  NewtonOptions options_;
};

namespace optim {

struct LeastSquaresOptions {
  int iterations = 100;
  /// Stops where each system's gradient is below `gradient`, or its step below `step` times the size of x.
  double gradient = 1e-6, step = 1e-7;
  double damping = 1e-3;  // the first, relative to the diagonal of JᵀJ
};
struct LeastSquaresResult {
  Tensor x;          // [..., n]
  Tensor cost;       // ½ Σ r², [...]
  Tensor converged;  // boolean, [...]
  int iterations = 0;
};
}  // namespace optim
namespace detail {
optim::LeastSquaresResult levenberg_marquardt(const std::function<Var(const Var&)>& f, const Tensor& x0,
                                              const optim::LeastSquaresOptions& options);
}
namespace optim {
/// The x that make Σ f(x)² least, near x0, by Levenberg-Marquardt (damped by JᵀJ's diagonal as Moré, 1978, does):
/// x0 is [..., n] and f gives [..., m], each row of which depends on the same row of x alone; every row is a problem of
/// its own, with its own damping. Jacobians in min(n, m) passes, forward or back. Not recorded: gradients of it come
/// from custom_root with f's gradient.
/// Throws `shape` where f's rows are not x0's; `dtype` unless x0 is f32 or f64 and f floating; `value` for options
/// below 0. Where f is not finite x stays where it was, and is not converged.
template <class F>
LeastSquaresResult least_squares(const F& f, const Tensor& x0, const LeastSquaresOptions& options = {}) {
  return tern::detail::levenberg_marquardt([&f](const Var& x) -> Var { return f(x); }, x0, options);
}

}  // namespace optim
}  // namespace tern
