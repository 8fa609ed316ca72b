// Random numbers of other distributions than rand and randn (tern/tensor.hpp). Each is a function of the generator's
// seed and position and of the element's place, the same on every device but for the rounding of elementary functions;
// recorded steps advance their generators at every replay. Parameters are numbers, Tensors or Vars that broadcast to
// `shape`; numbers outside the domain throw `value`, elements outside it give NaN. Results have the dtype and device of
// `options`. f16 and bf16 are drawn in f32 and rounded; `rand` takes as many bits as they have, and half a word.
#pragma once
#include "tern/autodiff.hpp"

namespace tern {

namespace detail {
template <class T>
concept Parameter = TensorOrVar<T> || Plain<T>;
template <class... T> using Drawn = std::conditional_t<(std::same_as<T, Var> || ...), Var, Tensor>;
/// A generator to draw from, which may be a temporary one.
struct Source {
  Generator& generator;
  Source(Generator& g) : generator(g) {}
  Source(Generator&& g) : generator(g) {}
};
template <TensorOrVar R> R draw_exponential(const Argument& rate, const Shape&, Source, const Options&);
template <TensorOrVar R>
R draw_laplace(const Argument& location, const Argument& scale, const Shape&, Source, const Options&);
template <TensorOrVar R>
R draw_gumbel(const Argument& location, const Argument& scale, const Shape&, Source, const Options&);
template <TensorOrVar R>
R draw_cauchy(const Argument& location, const Argument& scale, const Shape&, Source, const Options&);
template <TensorOrVar R>
R draw_lognormal(const Argument& mean, const Argument& deviation, const Shape&, Source, const Options&);
template <TensorOrVar R>
R draw_truncated_normal(const Argument& low, const Argument& high, const Shape&, Source, const Options&);
template <TensorOrVar R>
R draw_gamma(const Argument& concentration, const Argument& rate, const Shape&, Source, const Options&);
Tensor draw_bernoulli(const Argument& p, const Shape&, Source, const Options&);
template <TensorOrVar R> R draw_beta(const Argument& a, const Argument& b, const Shape&, Source, const Options&);
template <TensorOrVar R> R draw_student_t(const Argument& freedom, const Shape&, Source, const Options&);
template <TensorOrVar R> R draw_dirichlet(const Argument& concentration, const Shape&, Source, const Options&);
Tensor draw_poisson(const Argument& rate, const Shape&, Source, const Options&);
Tensor draw_binomial(const Argument& count, const Argument& p, const Shape&, Source, const Options&);
}  // namespace detail

/// 1 with probability p, else 0. No gradient.
template <detail::Parameter P>
Tensor bernoulli(const P& p, const Shape& shape, detail::Source generator, const Options& options = {}) {
  return detail::draw_bernoulli(p, shape, generator, options);
}
/// Exponential: -log(u)/rate, to 22/rate (f64: 44/rate). Gradients in the rate.
template <detail::Parameter P>
detail::Drawn<P> exponential(const P& rate, const Shape& shape, detail::Source generator, const Options& options = {}) {
  return detail::draw_exponential<detail::Drawn<P>>(rate, shape, generator, options);
}
/// Laplace: an exponential number of either sign, times scale, plus location. Gradients in both.
template <detail::Parameter L, detail::Parameter S>
detail::Drawn<L, S> laplace(const L& location, const S& scale, const Shape& shape, detail::Source generator,
                            const Options& options = {}) {
  return detail::draw_laplace<detail::Drawn<L, S>>(location, scale, shape, generator, options);
}
/// Gumbel: location - scale·log(an exponential number). Gradients in both.
template <detail::Parameter L, detail::Parameter S>
detail::Drawn<L, S> gumbel(const L& location, const S& scale, const Shape& shape, detail::Source generator,
                           const Options& options = {}) {
  return detail::draw_gumbel<detail::Drawn<L, S>>(location, scale, shape, generator, options);
}
/// Cauchy: location + scale·tan(an angle of (-π/2, π/2)). Gradients in both.
template <detail::Parameter L, detail::Parameter S>
detail::Drawn<L, S> cauchy(const L& location, const S& scale, const Shape& shape, detail::Source generator,
                           const Options& options = {}) {
  return detail::draw_cauchy<detail::Drawn<L, S>>(location, scale, shape, generator, options);
}
/// The exponential of a normal number of this mean and standard deviation. Gradients in both.
template <detail::Parameter M, detail::Parameter D>
detail::Drawn<M, D> lognormal(const M& mean, const D& deviation, const Shape& shape, detail::Source generator,
                              const Options& options = {}) {
  return detail::draw_lognormal<detail::Drawn<M, D>>(mean, deviation, shape, generator, options);
}
/// Standard normal within [low, high], by the inverse of the distribution function; low < high. Gradients in both.
/// Where the interval lies beyond 3 standard deviations (f64: 6), results get coarse, for the function does.
template <detail::Parameter L, detail::Parameter H>
detail::Drawn<L, H> truncated_normal(const L& low, const H& high, const Shape& shape, detail::Source generator,
                                     const Options& options = {}) {
  return detail::draw_truncated_normal<detail::Drawn<L, H>>(low, high, shape, generator, options);
}
/// Gamma, by the rejection of Marsaglia and Tsang (2000): 12 proposals, of which the last is taken where all others are
/// refused (below 10^-14 of the elements). Gradients in both: in the concentration those of the number at which the
/// distribution function keeps its value (implicit differentiation; Figurnov, Mohamed and Mnih, 2018).
template <detail::Parameter C, detail::Parameter R>
detail::Drawn<C, R> gamma(const C& concentration, const R& rate, const Shape& shape, detail::Source generator,
                          const Options& options = {}) {
  return detail::draw_gamma<detail::Drawn<C, R>>(concentration, rate, shape, generator, options);
}
/// Beta, by two of gamma's. Gradients in both, through those.
template <detail::Parameter A, detail::Parameter B>
detail::Drawn<A, B> beta(const A& a, const B& b, const Shape& shape, detail::Source generator,
                         const Options& options = {}) {
  return detail::draw_beta<detail::Drawn<A, B>>(a, b, shape, generator, options);
}
/// Student's t of so many degrees of freedom: a normal number by the root of one of gamma's. A gradient, through that.
template <detail::Parameter F>
detail::Drawn<F> student_t(const F& freedom, const Shape& shape, detail::Source generator,
                           const Options& options = {}) {
  return detail::draw_student_t<detail::Drawn<F>>(freedom, shape, generator, options);
}
/// Dirichlet along the last axis of `shape`: gamma's of the concentrations, divided by their sum. Gradients, through
/// those.
template <detail::Parameter C>
detail::Drawn<C> dirichlet(const C& concentration, const Shape& shape, detail::Source generator,
                           const Options& options = {}) {
  return detail::draw_dirichlet<detail::Drawn<C>>(concentration, shape, generator, options);
}
/// Poisson, as whole numbers of a floating dtype: below a rate of 10 by inversion, else by Hörmann's rejection (PTRS,
/// 1993; 24 proposals). No gradient.
template <detail::Parameter R>
Tensor poisson(const R& rate, const Shape& shape, detail::Source generator, const Options& options = {}) {
  return detail::draw_poisson(rate, shape, generator, options);
}
/// Binomial: successes among `count` trials, as whole numbers of a floating dtype; where count·min(p, 1 - p) < 10 by
/// inversion, else by Hörmann's rejection (BTRS, 1993; 24 proposals). No gradient.
template <detail::Parameter N, detail::Parameter P>
Tensor binomial(const N& count, const P& p, const Shape& shape, detail::Source generator, const Options& options = {}) {
  return detail::draw_binomial(count, p, shape, generator, options);
}

/// Indices (i32) along the last axis of logits, drawn with probabilities softmax(logits): the place of the largest of
/// logits + gumbel. The other axes of logits broadcast to `shape`. Logits that are NaN, or all -inf, throw `value`;
/// GPUs find them as they find indices out of range (`index`, at the next wait). No gradient.
template <TensorOrVar T> Tensor categorical(const T& logits, const Shape& shape, detail::Source generator);
/// `count` indices (i32) along the last axis of weights, drawn with probabilities in proportion: [.., K] gives
/// [.., count]. Without replacement all differ, and count is at most K (else `value`); those of weight 0 come last.
/// Weights that are negative, not finite or all 0 throw `value`, on GPUs as those of categorical do.
template <TensorOrVar T>
Tensor multinomial(const T& weights, std::int64_t count, bool replacement, detail::Source generator);
/// The numbers 0 to n - 1 (i32) in random order: the order of keys of 64 bits, so that no two are alike.
Tensor permutation(std::int64_t n, detail::Source generator, Device device = default_device());
/// x in random order along an axis.
template <TensorOrVar T> T permutation(const T& x, detail::Source generator, int axis = 0);
/// `shape` elements (i32) of 0 to n - 1; without replacement all differ.
Tensor choice(std::int64_t n, const Shape& shape, detail::Source generator, bool replacement = true,
              Device device = default_device());
/// Elements of x along its first axis: `shape` in place of that.
template <TensorOrVar T> T choice(const T& x, const Shape& shape, detail::Source generator, bool replacement = true);
/// x with elements that are 0 with probability p, and the others divided by 1 - p; 0 <= p < 1.
template <TensorOrVar T> T dropout(const T& x, double p, detail::Source generator);
/// Normal with variance 2/fan_in, for layers before relu (He et al., 2015): weight[out, in, ..]; fan_in is the product
/// of all axes but the first.
Tensor kaiming(const Shape& shape, detail::Source generator, const Options& options = {});
/// Uniform within ±√(6/(fan_in + fan_out)), (Glorot and Bengio, 2010): weight[out, in, ..].
Tensor xavier(const Shape& shape, detail::Source generator, const Options& options = {});
/// Weights [out, in, ..] whose rows (all axes but the first as one) are orthonormal, or their columns where those are
/// fewer; uniform among all such (Mezzadri, 2007): q of a normal matrix's q·r, with r's diagonal made positive.
Tensor orthogonal(const Shape& shape, detail::Source generator, const Options& options = {});
/// The points number skip, skip + 1, … of Sobol's sequence in the unit cube: shape [points, dimensions], f32 or f64 (16
/// bits are rounded). Direction numbers and the order (Gray code) are those of Joe and Kuo (2008), as SciPy and PyTorch
/// have them; point 0 is the origin. At most 1024 dimensions and 2^31 points (else `value`).
Tensor sobol(const Shape& shape, std::int64_t skip = 0, const Options& options = {});
/// The same from point 0 on, with every point's bits exchanged by random ones of its dimension (a digital shift):
/// equally even, and uniform, so that the mean over several generators is unbiased.
Tensor sobol(const Shape& shape, detail::Source generator, const Options& options = {});

}  // namespace tern
