// Fourier transforms of every length against sums in long double, and the theorems that long ones must fulfil.
#include <cmath>
#include <complex>
#include <numbers>

#include "every_device.hpp"

namespace tern::test {
namespace {

class Fourier : public EveryDevice {
 protected:
  bool wide() const { return device().kind() == DeviceKind::cpu; }
  DType real_dtype() const { return wide() ? f64 : f32; }
  double eps() const { return wide() ? 0x1p-53 : 0x1p-24; }
  Tensor noise(const Shape& shape, std::uint64_t seed) const {
    return randn(shape, Generator{seed}, {.dtype = f32, .device = cpu()}).to(real_dtype()).to(device());
  }
  Tensor complex_noise(const Shape& shape, std::uint64_t seed) const {
    return make_complex(noise(shape, seed), noise(shape, seed + 1000));
  }
};

using Complex = std::complex<long double>;
/// The numbers of a complex tensor, row-major.
std::vector<Complex> numbers_of(const Tensor& z) {
  const std::vector<double> parts = view_as_real(z).to(cpu()).to(f64).to_vector<double>();
  std::vector<Complex> list;
  for (std::size_t i = 0; i < parts.size(); i += 2) list.emplace_back(parts[i], parts[i + 1]);
  return list;
}
/// Of a line of n numbers.
std::vector<Complex> naive(const std::vector<Complex>& x) {
  const auto n = static_cast<std::int64_t>(x.size());
  std::vector<Complex> roots, y;
  for (std::int64_t k = 0; k < n; ++k)
    roots.push_back(std::polar(1.0L, -2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / n));
  for (std::int64_t k = 0; k < n; ++k) {
    Complex sum = 0;
    for (std::int64_t j = 0; j < n; ++j)
      sum += x[static_cast<std::size_t>(j)] * roots[static_cast<std::size_t>(j * k % n)];
    y.push_back(sum);
  }
  return y;
}
/// |got - want| over |want|, in the 2-norm.
double distance(const std::vector<Complex>& got, const std::vector<Complex>& want) {
  EXPECT_EQ(got.size(), want.size());
  long double off = 0, all = 0;
  for (std::size_t i = 0; i < want.size(); ++i) off += std::norm(got[i] - want[i]), all += std::norm(want[i]);
  return static_cast<double>(std::sqrt(off / all));
}
/// |a - b| over |b|, on the device.
double distance(const Tensor& a, const Tensor& b) {
  return (norm(view_as_real(a - b)) / norm(view_as_real(b))).to(cpu()).to(f64).item<double>();
}
/// The bound of DESIGN: 3·eps·log2(n); one elementary operation more for n = 1.
double bound(std::int64_t n, double eps) { return eps * (1 + 3 * std::log2(static_cast<double>(n))); }

TEST_P(Fourier, EveryLength) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t n = 1; n <= (wide() ? 512 : 34); ++n) lengths.push_back(n);
  for (const std::int64_t n : {61, 64, 97, 127, 128, 210, 243, 251, 256, 509, 512, 625, 1009}) lengths.push_back(n);
  for (const std::int64_t n : lengths) {
    if (left_out(device(), 3)) continue;
    const Tensor z = complex_noise({n}, static_cast<std::uint64_t>(n));
    const std::vector<Complex> x = numbers_of(z), want = naive(x);
    EXPECT_LE(distance(numbers_of(fft::fft(z)), want), bound(n, eps())) << n;
    EXPECT_LE(distance(numbers_of(fft::ifft(fft::fft(z))), x), 2 * bound(n, eps())) << n;
    const Tensor r = real(z);
    std::vector<Complex> of_real;
    for (const Complex& v : x) of_real.emplace_back(v.real(), 0);
    std::vector<Complex> half = naive(of_real);
    half.resize(static_cast<std::size_t>(n / 2 + 1));
    const Tensor spectrum = fft::rfft(r);
    // A real line's n numbers are rounded as n complex ones are, and half of the sums are compared.
    EXPECT_LE(distance(numbers_of(spectrum), half), 2 * bound(n, eps())) << n;
    const Tensor back = fft::irfft(spectrum, n);
    EXPECT_EQ(back.dtype(), real_dtype());
    EXPECT_LE(distance(make_complex(back, zeros_like(back)), make_complex(r, zeros_like(r))), 3 * bound(n, eps())) << n;
  }
}

/// Several lines, along each axis, of turned and stepped views: the same bits as of each line alone, or as near.
TEST_P(Fourier, LinesOfAnyLayout) {
  const std::vector<std::int64_t> every{7, 12, 30, 64}, few{30};
  for (const std::int64_t n : in_software(device()) ? few : every) {
    const Tensor z = complex_noise({n, 5, n}, 3);
    const auto near = [&](const Tensor& got, const Tensor& want) {
      EXPECT_EQ(got.shape(), want.shape());
      EXPECT_LE(distance(got, want), 2 * bound(n, eps())) << n;
    };
    const Tensor along_last = fft::fft(z);
    for (std::int64_t i = 0; i < 5; ++i) near(along_last(Slice(), i), fft::fft(z(Slice(), i).clone()));
    near(fft::fft(z, {}, 0), fft::fft(z.transpose(0, 2).clone()).transpose(0, 2));
    near(fft::fft(z.transpose(0, 2)), fft::fft(z.transpose(0, 2).clone()));
    near(fft::fft(z.slice(2, 0, n, 2)), fft::fft(z.slice(2, 0, n, 2).clone()));
    near(fft::fft(flip(z, {2})), fft::fft(flip(z, {2}).clone()));
    near(fft::fft(z, n + 3), fft::fft(pad(z, {{0, 3}})));
    near(fft::fft(z, n - 2), fft::fft(z.slice(2, 0, n - 2).clone()));
  }
  const Tensor none = complex_noise({0, 8}, 1);
  EXPECT_EQ(fft::fft(none).shape(), (Shape{0, 8}));
  EXPECT_EQ(fft::rfft(real(none)).shape(), (Shape{0, 5}));
}

TEST_P(Fourier, LongLinesKeepTheTheorems) {
  std::vector<std::int64_t> lengths{4096, 5040, 6561, 10007, 65536};
  if (wide()) lengths.insert(lengths.end(), {1 << 20, 531441, 1000003});
  for (const std::int64_t n : lengths) {
    const Tensor x = complex_noise({n}, 5), y = fft::fft(x);
    const double tolerance = 2 * bound(n, eps());
    EXPECT_LE(distance(fft::ifft(y), x), tolerance) << n;
    // Parseval: Σ|y|² = n·Σ|x|².
    const auto energy = [](const Tensor& z) { return square(norm(view_as_real(z))).to(cpu()).to(f64).item<double>(); };
    EXPECT_NEAR(energy(y) / (static_cast<double>(n) * energy(x)), 1, 2 * tolerance) << n;
    // A turned line has the spectrum times e^(-2πi·k·s/n), whose angles are computed in f64 of whole numbers.
    const std::int64_t shift = n / 3 + 1;
    std::vector<double> angles;
    for (std::int64_t k = 0; k < n; ++k)
      angles.push_back(-2 * std::numbers::pi * static_cast<double>(k * shift % n) / static_cast<double>(n));
    const Tensor a = tensor(angles, f64, cpu());
    const Tensor phases = make_complex(cos(a).to(real_dtype()).to(device()), sin(a).to(real_dtype()).to(device()));
    EXPECT_LE(distance(fft::fft(roll(x, shift, 0)), y * phases), 2 * tolerance) << n;
    // An impulse has a spectrum of the roots of unity alone.
    Tensor impulse = zeros({n}, {.dtype = real_dtype(), .device = device()});
    assign(impulse(shift), 1);
    EXPECT_LE(distance(fft::fft(impulse), phases), tolerance) << n;
  }
}

/// Along an axis whose neighbours lie apart: GPUs take lines beside each other together, long ones in steps.
TEST_P(Fourier, LinesBesideEachOther) {
  struct Case {
    Shape shape;
    int axis;
  };
  for (const Case& c : {Case{{9, 70}, 0}, Case{{64, 33}, 0}, Case{{2, 640, 9}, 1}, Case{{1024, 17}, 0},
                        Case{{3, 4096, 2}, 1}, Case{{20000, 3}, 0}, Case{{2, 3, 300000}, 2}}) {
    const Tensor x = complex_noise(c.shape, 11), lines = swapaxes(x, c.axis, -1).contiguous();
    const Tensor got = fft::fft(x, {}, c.axis), back = fft::ifft(got, {}, c.axis);
    const std::int64_t n = c.shape[static_cast<std::size_t>(c.axis)];
    const double most = bound(n, eps());
    EXPECT_LE(distance(got.to(cpu()), fft::fft(x.to(cpu()).to(c128), {}, c.axis).to(got.dtype())), most) << c.shape;
    EXPECT_LE(distance(back, x), 2 * most) << c.shape;
    EXPECT_LE(distance(swapaxes(got, c.axis, -1), fft::fft(lines)), 2 * most) << c.shape;
  }
}
/// Real lines and their gradients as on the CPU in f64: GPUs transform them as complex ones of half the length, where
/// they can, which lines that are cut or filled up need not be.
TEST_P(Fourier, RealLinesOfAnyLengthAndLayout) {
  const auto same = [&](const Shape& shape, bool of_complex, auto transform) {
    const Tensor x = (of_complex ? complex_noise(shape, 12) : noise(shape, 12)).to(cpu());
    const auto both = [&](const Tensor& given) {
      const Var v(given);
      const Var y = transform(v);
      const Tensor parts = randn(y.shape(), Generator{13}, {.dtype = f32, .device = cpu()}).to(given.device());
      const Tensor seed = is_complex(y.dtype()) ? make_complex(parts, 2 * parts) : parts;
      const auto grads = backward(y, seed.to(y.dtype()));
      const auto whole = [](const Tensor& t) { return t.to(cpu()).to(c128); };
      return std::pair{whole(y.value()), whole(grads[v])};
    };
    const auto [got, gradient] = both(x.to(device()));
    const auto [want, want_gradient] = both(x.to(of_complex ? c128 : f64));
    const double most = 4 * bound(shape.numel(), eps());
    EXPECT_LE(distance(got, want), most) << shape;
    EXPECT_LE(distance(gradient, want_gradient), most) << shape;
  };
  std::vector<std::int64_t> lengths{6, 22, 64, 254};
  if (!in_software(device())) lengths.insert(lengths.end(), {2, 4, 105, 1000, 2018, 8192, 16384, 20014, 65536});
  for (const std::int64_t n : lengths) {
    const std::int64_t half = n / 2 + 1;
    for (const std::int64_t m : {n, n + 1, n - 1, n + 2, 2 * n + 6}) {
      same({2, n}, false, [m](const Var& v) { return fft::rfft(v, m); });
      same({2, half}, true, [m](const Var& v) { return fft::irfft(v, m); });
      same({2, n}, true, [m](const Var& v) { return fft::fft(v, m); });
    }
    same({n, 3}, false, [](const Var& v) { return fft::rfft(flip(v, {0}), {}, 0); });
    same({2, half, 3}, true, [](const Var& v) { return fft::irfft(v, {}, 1); });
  }
}

TEST_P(Fourier, ConvolutionsAreProductsOfSpectra) {
  const Tensor a = complex_noise({60}, 8), b = complex_noise({60}, 9);
  const Tensor full = convolve(a, b);  // 119 sums; the circular ones are those n apart, added
  const Tensor circular = full.slice(0, 0, 60) + pad(full.slice(0, 60), {{0, 1}});
  EXPECT_LE(distance(fft::ifft(fft::fft(a) * fft::fft(b)), circular), 8 * bound(60, eps()));
  EXPECT_EQ(convolve(a, b, "same").shape(), (Shape{60}));
  const Tensor some = ones({3}, {.dtype = f16, .device = device()});
  EXPECT_EQ(convolve(some, some).dtype(), f16);
  EXPECT_EQ(correlate(some, some.to(f32)).dtype(), f32);
  EXPECT_EQ(convolve(a, b.slice(0, 0, 7), "valid").shape(), (Shape{54}));
  expect_error(ErrorKind::shape, {"convolve", "[2]", "[3]"},
               [&] { convolve(a.reshape({2, 30}), b.reshape({3, 20})); });
  expect_error(ErrorKind::dtype, {"fftfreq", "i32"}, [] { fft::fftfreq(4, 1, {.dtype = i32}); });
}

/// A complex signal comes back whole from its spectrogram.
TEST_P(Fourier, SpectrogramsOfComplexSignals) {
  const Tensor z = complex_noise({2, 70}, 4), window = hann(16, true, {.dtype = real_dtype(), .device = device()});
  const Tensor spectra = stft(z, 16, {.window = window});
  const StftOptions whole{.window = window, .onesided = false, .return_complex = true, .length = 70};
  EXPECT_LE(distance(istft(spectra, 16, whole), z), 4 * bound(16, eps()));
  EXPECT_THROW(istft(spectra, 16, {.return_complex = true}), Error);
  expect_error(ErrorKind::shape, {"istft"}, [&] { istft(spectra, 16, {.window = window, .length = INT64_MAX}); });
  expect_error(ErrorKind::index, {"fft2", "axis"}, [&] { fft::fft2(window); });
}

/// Gradients of real numbers are the real parts of those of the same numbers as complex ones, along however many axes.
TEST_P(Fourier, RealNumbersHaveTheRealPartsOfGradients) {
  const auto agrees = [&](const Shape& shape, auto transform) {
    const Tensor x = noise(shape, 6);
    const auto both = [&](auto prepare) {
      const auto f = [&](const Var& v) { return sum(square(view_as_real(transform(prepare(v)) + 0.5))); };
      return grad(f)(x);
    };
    const Tensor real_gradient = both([](const Var& v) { return v; });
    const Tensor complex_gradient = both([](const Var& v) { return make_complex(v, v * 0); });
    const double size = std::sqrt(static_cast<double>(x.numel()));
    EXPECT_LE(norm(real_gradient - complex_gradient).to(cpu()).to(f64).item<double>(),
              200 * eps() * size * norm(complex_gradient).to(cpu()).to(f64).item<double>())
        << shape;
  };
  for (const Shape& shape : {Shape{3, 3}, Shape{1, 5}, Shape{4, 6}, Shape{3, 4, 5}, Shape{2, 3, 1, 4}}) {
    agrees(shape, [](const Var& v) { return fft::fft2(v); });
    agrees(shape, [](const Var& v) { return fft::ifft2(v, {}, {0, 1}); });
    agrees(shape, [](const Var& v) { return fft::fftn(v); });
    agrees(shape, [](const Var& v) { return fft::ifftn(v, {}, {}, "ortho"); });
    agrees(shape, [](const Var& v) { return fft::fft2(v, Shape{2, 7}); });
    const auto back = [](const Var& v) { return make_complex(fft::irfftn(v), 0 * fft::irfftn(v)); };
    if (shape[static_cast<std::size_t>(shape.rank() - 1)] > 1) agrees(shape, back);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Fourier, testing::ValuesIn(present_devices()), device_name);

}  // namespace
}  // namespace tern::test
