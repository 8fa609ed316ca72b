// Eigen's side of bench/beside_numpy.py: the calls that it has, compiled for this very processor, one thread. Results
// get memory of their own in each call, as NumPy's, PyTorch's and tern's do. And loops by hand, which write into memory
// that is there: what these arrays allow one call after the other.
#include <Eigen/Dense>

#include <complex>
#include <vector>

#include "beside.hpp"
#include "tern/tensor.hpp"

namespace {

using bench::Calls;
template <class T> using Array = Eigen::Array<T, Eigen::Dynamic, 1>;
using Matrix = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Keeps a result from being left out.
template <class R> void keep(const R& result) { asm volatile("" : : "r"(result.data()) : "memory"); }
template <class T, class F> std::function<void()> making(F expression) {
  return [=] {
    const Array<T> result = expression();
    keep(result);
  };
}

Array<float> floats(const tern::Tensor& x) {
  return Eigen::Map<const Array<float>>(x.data_ptr<const float>(), x.numel());
}

#define MADE(name, T, ...)                                \
  {                                                       \
    name, making<T>([=] { return (__VA_ARGS__).eval(); }) \
  }

Calls functions(const Array<float>& x, const Array<float>& y) {
  const Array<float> positive = x.abs() + 0.1f, inside = (x / 4).min(0.99f).max(-0.99f);
  return {
      MADE("exp", float, x.exp()),          MADE("expm1", float, x.expm1()),
      MADE("log", float, positive.log()),   MADE("log1p", float, positive.log1p()),
      MADE("sqrt", float, positive.sqrt()), MADE("sin", float, x.sin()),
      MADE("cos", float, x.cos()),          MADE("tan", float, x.tan()),
      MADE("asin", float, inside.asin()),   MADE("atan", float, x.atan()),
      MADE("sinh", float, x.sinh()),        MADE("cosh", float, x.cosh()),
      MADE("tanh", float, x.tanh()),        MADE("floor", float, x.floor()),
      MADE("pow", float, positive.pow(y)),  MADE("add", float, x + y),
      MADE("multiply", float, x* y),        MADE("divide", float, x / positive),
      MADE("maximum", float, x.max(y)),     MADE("comparison", bool, x < y),
  };
}
Calls complex_numbers(const Array<float>& re, const Array<float>& im) {
  using C = std::complex<float>;
  Array<C> z(re.size()), w(re.size());
  z.real() = re, z.imag() = im, w.real() = im, w.imag() = re;
  return {
      MADE("complex abs", float, z.abs()),
      MADE("complex multiply", C, z * w),
      MADE("complex conjugate multiply", C, z * w.conjugate()),
      MADE("complex divide", C, z / w),
      MADE("complex square", C, z.square()),
      MADE("complex add", C, z + w),
      MADE("complex exp", C, z.exp()),
      {"complex multiply's gradients",
       [=] {
         const Array<C> a = z * w.conjugate(), b = z * z.conjugate();
         keep(a), keep(b);
       }},
  };
}
/// to[i] = operation(x[i], y[i]). Results stay where they are, in a vector for each call.
template <class F> std::function<void()> loop(const float* x, const float* y, Eigen::Index n, F f) {
  return [=, to = std::vector<float>(static_cast<std::size_t>(n))]() mutable {
    float* const result = to.data();
    for (Eigen::Index i = 0; i < n; ++i) result[i] = f(x[i], y[i]);
    keep(to);
  };
}
/// Of pairs (re, im).
template <class F> std::function<void()> loop_of_pairs(const float* z, const float* w, Eigen::Index pairs, F f) {
  return [=, to = std::vector<float>(static_cast<std::size_t>(2 * pairs))]() mutable {
    float* const result = to.data();
    for (Eigen::Index i = 0; i < 2 * pairs; i += 2)
      f(z[i], z[i + 1], w[i], w[i + 1], result[i], result[i + 1]);
    keep(to);
  };
}
Calls loops(const tern::io::Named& arrays) {
  static const Array<float> x = floats(arrays.at("x")), y = floats(arrays.at("y")), positive = x.abs() + 0.1f;
  const float *const a = x.data(), *const b = y.data(), *const c = positive.data();
  const Eigen::Index n = x.size();
  return {
      {"add by a loop", loop(a, b, n, [](float u, float v) { return u + v; })},
      {"multiply by a loop", loop(a, b, n, [](float u, float v) { return u * v; })},
      {"divide by a loop", loop(a, c, n, [](float u, float v) { return u / v; })},
      {"maximum by a loop", loop(a, b, n, [](float u, float v) { return u > v ? u : v; })},
      {"complex add by a loop", loop(a, b, n, [](float u, float v) { return u + v; })},
      {"complex multiply by a loop",
       loop_of_pairs(a, b, n / 2, [](float p, float q, float r, float s, float& re, float& im) {
         re = p * r - q * s, im = p * s + q * r;
       })},
  };
}
Calls calls(const tern::io::Named& arrays) {
  Calls all = functions(floats(arrays.at("x")), floats(arrays.at("y")));
  all.merge(complex_numbers(floats(arrays.at("re")), floats(arrays.at("im"))));
  const tern::Tensor& m = arrays.at("matrix");
  const Matrix matrix = Eigen::Map<const Matrix>(m.data_ptr<const float>(), m.size(0), m.size(1));
  Calls of_matrix = {
      MADE("sum over rows", float, matrix.rowwise().sum()),
      MADE("sum over columns", float, matrix.colwise().sum().transpose()),
      MADE("maximum over rows", float, matrix.rowwise().maxCoeff()),
      MADE("maximum over columns", float, matrix.colwise().maxCoeff().transpose()),
      {"argmax of rows",
       [=] {
         std::vector<Eigen::Index> places(static_cast<std::size_t>(matrix.rows()));
         for (Eigen::Index i = 0; i < matrix.rows(); ++i) matrix.row(i).maxCoeff(&places[static_cast<std::size_t>(i)]);
         keep(places);
       }},
      {"transposed copy",
       [=] {
         const Matrix result = matrix.transpose();
         keep(result);
       }},
  };
  all.merge(of_matrix);
  all.merge(loops(arrays));
  return all;
}

}  // namespace

int main(int count, char** arguments) { return bench::answer(count, arguments, &calls); }
