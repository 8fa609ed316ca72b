// Entries of Fourier transforms (operation.cpp) and what is made of them (spectra.cpp). Operands of samples are real.
#include <cmath>
#include <complex>
#include <numbers>

#include "ops/moved.trial.hpp"

namespace tern::operations {
namespace {

using enum ErrorKind;

constexpr Tolerance kOneTransform{60, "a transform of 37 elements, whose sums are up to 37", 1};
constexpr Tolerance kSeveralTransforms{600, "transforms along two axes, whose sums are up to 185", 1};

/// Σ_j x(j)·e^(∓2πi·jk/n) for k < wanted, of lines of a matrix.
Values lines_of_dft(const Values& x, std::int64_t wanted, double scale) {
  const std::int64_t n = x.shape[1];
  Values y{{x.shape[0], wanted, 2}, {}};
  for (std::int64_t r = 0; r < x.shape[0]; ++r)
    for (std::int64_t k = 0; k < wanted; ++k) {
      std::complex<double> sum = 0;
      for (std::int64_t j = 0; j < n; ++j)
        sum += x.of[static_cast<std::size_t>(r * n + j)] *
               std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(j * k % n) / static_cast<double>(n));
      y.of.push_back(scale * sum.real()), y.of.push_back(scale * sum.imag());
    }
  return y;
}
std::vector<Values> whole_dft(const std::vector<Values>& x) { return {lines_of_dft(x[0], x[0].shape[1], 1)}; }
std::vector<Values> half_dft(const std::vector<Values>& x) { return {lines_of_dft(x[0], x[0].shape[1] / 2 + 1, 1)}; }
std::vector<Values> inverse_dft(const std::vector<Values>& x) {
  Values y = lines_of_dft(x[0], x[0].shape[1], 1 / static_cast<double>(std::max<std::int64_t>(x[0].shape[1], 1)));
  for (std::size_t i = 1; i < y.of.size(); i += 2) y.of[i] = -y.of[i];
  return {y};
}
/// The same along both axes, of whole planes.
Values plane_of_dft(const Values& x, std::int64_t wanted, double sign, double scale) {
  const std::int64_t m = x.shape[0], n = x.shape[1];
  Values y{{m, wanted, 2}, {}};
  for (std::int64_t u = 0; u < m; ++u)
    for (std::int64_t k = 0; k < wanted; ++k) {
      std::complex<double> sum = 0;
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          const double turns = static_cast<double>(i * u % m) / static_cast<double>(m) +
                               static_cast<double>(j * k % n) / static_cast<double>(n);
          sum += x.of[static_cast<std::size_t>(i * n + j)] * std::polar(1.0, sign * 2 * std::numbers::pi * turns);
        }
      y.of.push_back(scale * sum.real()), y.of.push_back(scale * sum.imag());
    }
  return y;
}
std::vector<Values> whole_plane(const std::vector<Values>& x) { return {plane_of_dft(x[0], x[0].shape[1], -1, 1)}; }
std::vector<Values> half_plane(const std::vector<Values>& x) {
  return {plane_of_dft(x[0], x[0].shape[1] / 2 + 1, -1, 1)};
}
std::vector<Values> inverse_plane(const std::vector<Values>& x) {
  return {plane_of_dft(x[0], x[0].shape[1], 1, 1 / static_cast<double>(x[0].shape[0] * x[0].shape[1]))};
}
std::vector<Values> itself(const std::vector<Values>& x) { return {x[0]}; }
#define TERN_AS_PAIRS(...) [](const auto& x) { return view_as_real(__VA_ARGS__); }
#define TERN_CALLED(...) [](const auto& x) { return __VA_ARGS__; }
template <class F> std::vector<BadInput> refused(const char* name, F call) {
  return {{index,
           {name, "axis"},
           [call](auto make) {
             call(make({2, 3}), std::nullopt, 2, "backward");
           }},
          {shape,
           {name, "n", "0"},
           [call](auto make) {
             call(make({2, 3}), 0, -1, "backward");
           }},
          {value,
           {name, "norm", "unitary"},
           [call](auto make) {
             call(make({2, 3}), 3, -1, "unitary");
           }},
          {dtype, {name, "i32[2]"}, [call](auto make) { call(make({2}, i32), std::nullopt, -1, "backward"); }}};
}
template <class F> std::vector<BadInput> refused_sizes(const char* name, F call) {
  return {{shape, {name, "sizes"}, [call](auto make) { call(make({2, 3}), Shape{0, 3}); }}};
}
#define TERN_ALONG(name)                                                                        \
  refused(#name, [](const auto& x, std::optional<std::int64_t> n, int axis, const char* norm) { \
    fft::name(x, n, axis, norm);                                                                \
  })
#define TERN_SIZES(name) refused_sizes(#name, [](const auto& x, const Shape& s) { fft::name(x, s); })
constexpr const char* kAlong = "x, n = {}, axis = -1, norm = \"backward\"";
constexpr const char* kAxes = "x, sizes = {}, axes = {}, norm = \"backward\"";
constexpr const char* kTwo = "x, sizes = {}, axes = {-2, -1}, norm = \"backward\"";

Entry entry_of(const char* name, const char* arguments, const char* says, Tolerance tolerance, Sample sample,
               std::vector<BadInput> bad) {
  Entry e{};
  e.name = name, e.family = Family::fourier, e.arguments = arguments, e.says = says;
  e.tolerance = tolerance, e.samples = {std::move(sample)}, e.bad = std::move(bad);
  return e;
}
template <class C, class R> Sample of_matrix(C call, R reference) {
  return {.shapes = matrix, .call = call, .reference = reference};
}
/// One request, at 5·n·log2(n) FLOPs a line as FFTs are counted, or `share` of that.
template <class C, class R> Sample of_one_transform(C call, R reference, double share = 1) {
  Sample sample = of_matrix(call, reference);
  sample.kernel_calls = 1;
  sample.flops = [share](Sizes s) {
    const auto n = static_cast<double>(s.columns);
    return s.rows * static_cast<std::int64_t>(share * 5 * n * std::log2(n));
  };
  return sample;
}
/// There and back, which gives x.
template <class C> Sample of_line_and_back(C call) {
  return {.shapes = matrix, .call = call, .reference = itself, .knows_results = true};
}
/// Along both axes, neither of which may be empty.
template <class C> Sample of_plane_and_back(C call) {
  Sample sample = of_line_and_back(call);
  sample.empty = {};
  return sample;
}
template <class C, class R> Sample of_plane(C call, R reference) {
  Sample sample = of_matrix(call, reference);
  sample.empty = {};
  return sample;
}

const Entries transforms{
    entry_of("fft", kAlong, "y(k) = Σ_j x(j)·e^(-2πi·jk/n) along an axis: complex, also of real x", kOneTransform,
             of_one_transform(TERN_AS_PAIRS(fft::fft(x)), whole_dft), TERN_ALONG(fft)),
    entry_of("ifft", kAlong, "The inverse of fft: y(j) = 1/n · Σ_k x(k)·e^(2πi·jk/n)", kOneTransform,
             of_one_transform(TERN_AS_PAIRS(fft::ifft(x)), inverse_dft), TERN_ALONG(ifft)),
    entry_of("rfft", kAlong,
             "The first n/2 + 1 results of fft of real numbers; the others are their conjugates, in reverse order",
             kOneTransform, of_one_transform(TERN_AS_PAIRS(fft::rfft(x)), half_dft, 0.5), TERN_ALONG(rfft)),
    entry_of("irfft", kAlong,
             "The inverse of rfft: n real numbers of n/2 + 1 complex ones; n is 2·(size - 1) unless it is given",
             kOneTransform, of_line_and_back(TERN_CALLED(fft::irfft(fft::rfft(x), x.size(-1)))), TERN_ALONG(irfft)),
    entry_of("fftn", kAxes,
             "fft along each of the axes (default: all; the last ones where `sizes` is given), of these sizes",
             kSeveralTransforms, of_plane(TERN_AS_PAIRS(fft::fftn(x)), whole_plane), TERN_SIZES(fftn)),
    entry_of("ifftn", kAxes, "The inverse of fftn", kSeveralTransforms,
             of_plane(TERN_AS_PAIRS(fft::ifftn(x)), inverse_plane), TERN_SIZES(ifftn)),
    entry_of("rfftn", kAxes, "rfft along the last of the axes, fft along the others", kSeveralTransforms,
             of_plane(TERN_AS_PAIRS(fft::rfftn(x)), half_plane), TERN_SIZES(rfftn)),
    entry_of("irfftn", kAxes,
             "The inverse of rfftn; sizes are those of the result, of which the last is 2·(size - 1) unless they are "
             "given",
             kSeveralTransforms, of_plane_and_back(TERN_CALLED(fft::irfftn(fft::rfftn(x), x.shape()))),
             TERN_SIZES(irfftn)),
    entry_of("fft2", kTwo, "fftn along two axes", kSeveralTransforms,
             of_plane(TERN_AS_PAIRS(fft::fft2(x)), whole_plane), TERN_SIZES(fft2)),
    entry_of("ifft2", kTwo, "The inverse of fft2", kSeveralTransforms,
             of_plane(TERN_AS_PAIRS(fft::ifft2(x)), inverse_plane), TERN_SIZES(ifft2)),
    entry_of("rfft2", kTwo, "rfftn along two axes", kSeveralTransforms,
             of_plane(TERN_AS_PAIRS(fft::rfft2(x)), half_plane), TERN_SIZES(rfft2)),
    entry_of("irfft2", kTwo, "The inverse of rfft2", kSeveralTransforms,
             of_plane_and_back(TERN_CALLED(fft::irfft2(fft::rfft2(x), x.shape()))), TERN_SIZES(irfft2)),
};
#undef TERN_AS_PAIRS
#undef TERN_CALLED
#undef TERN_ALONG
#undef TERN_SIZES

}  // namespace
}  // namespace tern::operations
