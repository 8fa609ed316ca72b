// Fourier transforms by cuFFT, without a GPU: kernels that copy and scale lines run on the host, and a pretended cuFFT
// takes them.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which do not know fibers

#include <complex>
#include <map>
#include <numbers>

#include "cuda/transforms.hpp"
#include "host_gpu.hpp"

namespace tern::test {
namespace {

using detail_cuda::CuResult;
using detail_cuda::FftLibrary;
using detail_cuda::Stream;
using Complex = std::complex<double>;

// ---- a pretended cuFFT ----

struct PretendedPlan {
  std::int64_t n = 0, in_step = 0, in_distance = 0, out_step = 0, out_distance = 0, count = 0;
  std::int64_t rows = 0, in_row = 0, out_row = 0;
  int type = 0;
  void* space = nullptr;
  bool itself = true;
};
std::map<int, PretendedPlan> plans;
int made = 0, executed = 0;
bool refuses = false;
constexpr std::size_t kPlanBytes = 48;  // that every plan asks for

/// e^(±2πi·jk/n), summed up.
std::vector<Complex> transformed(const std::vector<Complex>& x, bool backward) {
  const auto n = static_cast<std::int64_t>(x.size());
  std::vector<Complex> y(x.size());
  for (std::int64_t k = 0; k < n; ++k)
    for (std::int64_t j = 0; j < n; ++j)
      y[static_cast<std::size_t>(k)] +=
          x[static_cast<std::size_t>(j)] * std::polar(1., (backward ? 2 : -2) * std::numbers::pi *
                                                              static_cast<double>(j * k % n) / static_cast<double>(n));
  return y;
}
template <class T> void execute(const PretendedPlan& p, T* in, T* out, bool backward) {
  const bool reals_in = p.type == detail_cuda::kFromReal32 || p.type == detail_cuda::kFromReal64;
  const bool reals_out = p.type == detail_cuda::kToReal32 || p.type == detail_cuda::kToReal64;
  for (std::int64_t line = 0; line < p.count; ++line) {
    const auto at = [&](std::int64_t i) { return (line * p.in_distance + i * p.in_step) * (reals_in ? 1 : 2); };
    std::vector<Complex> x;
    const std::int64_t half = p.n / 2 + 1;
    for (std::int64_t i = 0; i < (reals_out ? half : p.n); ++i) x.emplace_back(in[at(i)], reals_in ? 0 : in[at(i) + 1]);
    for (std::int64_t i = half; reals_out && i < p.n; ++i) x.push_back(std::conj(x[static_cast<std::size_t>(p.n - i)]));
    for (std::int64_t i = 0; reals_out && i < half; ++i) in[at(i)] = in[at(i) + 1] = NAN;  // as it may
    const std::vector<Complex> y = transformed(x, reals_out || backward);
    for (std::int64_t i = 0; i < (reals_in ? half : p.n); ++i) {
      const Complex value = y[static_cast<std::size_t>(i)];
      T* const to = out + (line * p.out_distance + i * p.out_step) * (reals_out ? 1 : 2);
      to[0] = static_cast<T>(value.real() + (reals_out ? std::abs(value.imag()) : 0));
      if (!reals_out) to[1] = static_cast<T>(value.imag());
    }
  }
}

/// Of complex numbers, rows and then columns.
template <class T> void execute_both(const PretendedPlan& p, const T* in, T* out, bool backward) {
  for (std::int64_t one = 0; one < p.count; ++one) {
    std::vector<std::vector<Complex>> rows;
    for (std::int64_t i = 0; i < p.rows; ++i) {
      std::vector<Complex> row;
      for (std::int64_t j = 0; j < p.n; ++j) {
        const T* const at = in + 2 * (one * p.in_distance + (i * p.in_row + j) * p.in_step);
        row.emplace_back(at[0], at[1]);
      }
      rows.push_back(transformed(row, backward));
    }
    for (std::int64_t j = 0; j < p.n; ++j) {
      std::vector<Complex> column;
      for (const auto& row : rows) column.push_back(row[static_cast<std::size_t>(j)]);
      column = transformed(column, backward);
      for (std::int64_t i = 0; i < p.rows; ++i) {
        T* const at = out + 2 * (one * p.out_distance + (i * p.out_row + j) * p.out_step);
        const Complex value = column[static_cast<std::size_t>(i)];
        at[0] = static_cast<T>(value.real()), at[1] = static_cast<T>(value.imag());
      }
    }
  }
}

detail_cuda::TransformApi pretended() {
  detail_cuda::TransformApi api;
  api.cufftCreate = [](int* plan) { return plans[*plan = ++made] = {}, CuResult{}; };
  api.cufftSetAutoAllocation = [](int plan, int itself) { return plans.at(plan).itself = itself, CuResult{}; };
  api.cufftMakePlanMany64 = [](int plan, int rank, long long* n, long long* in_sizes, long long in_step,
                               long long in_distance, long long* out_sizes, long long out_step, long long out_distance,
                               int type, long long count, std::size_t* bytes) {
    PretendedPlan& p = plans.at(plan);
    EXPECT_TRUE((rank == 1 || rank == 2) && in_sizes && out_sizes && in_step > 0 && out_step > 0 && !p.itself);
    EXPECT_TRUE(in_distance > 0 && out_distance > 0 && count > 0);
    if (refuses) return CuResult{5};
    if (rank == 2) p.rows = *n++, p.in_row = in_sizes[1], p.out_row = out_sizes[1];
    p.n = *n, p.in_step = in_step, p.in_distance = in_distance, p.out_step = out_step, p.out_distance = out_distance;
    p.type = type, p.count = count, *bytes = kPlanBytes;
    return CuResult{};
  };
  api.cufftSetStream = [](int, Stream) { return CuResult{}; };
  api.cufftSetWorkArea = [](int plan, void* space) { return plans.at(plan).space = space, CuResult{}; };
  api.cufftXtExec = [](int plan, void* in, void* out, int direction) {
    const PretendedPlan& p = plans.at(plan);
    EXPECT_TRUE(p.space && (direction == detail_cuda::kForward || direction == detail_cuda::kInverse));
    const bool backward = direction == detail_cuda::kInverse;
    const bool to_real = p.type == detail_cuda::kToReal32 || p.type == detail_cuda::kToReal64;
    if (to_real && !backward) return CuResult{4};  // as cuFFT has it
    if (p.rows > 0) {
      p.type == detail_cuda::kComplexLines64
          ? execute_both(p, static_cast<double*>(in), static_cast<double*>(out), backward)
          : execute_both(p, static_cast<float*>(in), static_cast<float*>(out), backward);
      return ++executed, CuResult{};
    }
    p.type < detail_cuda::kComplexLines64 ? execute(p, static_cast<float*>(in), static_cast<float*>(out), backward)
                                          : execute(p, static_cast<double*>(in), static_cast<double*>(out), backward);
    return ++executed, CuResult{};
  };
  api.cufftDestroy = [](int plan) { return plans.erase(plan) == 1 ? CuResult{} : CuResult{1}; };
  return api;
}

class TransformsOnHost : public testing::Test {
 protected:
  TransformsOnHost() {
    plans.clear(), made = executed = 0, refuses = false;
    gpu_.lines = &library_;
  }
  static Tensor numbers(const Shape& shape, DType dtype) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < (is_complex(dtype) ? 2 : 1) * shape.numel(); ++i)
      values.push_back(std::sin(1 + 1.3 * static_cast<double>(i * i % 977)));
    Shape whole = shape;
    if (!is_complex(dtype)) return tensor(values, whole, cpu()).to(dtype);
    whole.push_back(2);
    return view_as_complex(tensor(values, whole, cpu()).to(real_dtype(dtype)));
  }
  static double far_apart(const Tensor& got, const Tensor& want) {
    EXPECT_EQ(got.dtype(), want.dtype());
    EXPECT_EQ(got.shape(), want.shape());
    return max(abs(got - want)).to(f64).item<double>() / max(abs(want)).to(f64).item<double>();
  }
  /// f there and here, by as many calls of the library and as many kernels.
  void expect(const char* what, int calls, int kernels, const std::function<Tensor(const Tensor&)>& f,
              const Tensor& x) {
    SCOPED_TRACE(what);
    const Tensor there = gpu_.from(x), want = f(x);
    for (int round = 0; round < 2; ++round) {  // and once more, prepared
      executed = 0, gpu_.launches = 0;
      const Tensor got = f(there);
      EXPECT_EQ(executed, calls);
      EXPECT_EQ(gpu_.launches, kernels);
      EXPECT_LE(far_apart(HostGpu::to_cpu(got), want), real_dtype(x.dtype()) == f32 ? 1e-5 : 1e-13);
    }
    EXPECT_LE(far_apart(HostGpu::to_cpu(there), x), 0) << "the operand was changed";
  }
  HostGpu gpu_{false};
  detail_cuda::TransformApi api_ = pretended();
  bool captured_ = false;
  FftLibrary library_{api_, [this](const auto& bytes, const auto& work) {
                        std::vector<std::byte> space(bytes());
                        work(FftLibrary::Place{nullptr, space.data(), captured_});
                      }};
};

TEST_F(TransformsOnHost, TakeLinesWhereTheyLie) {
  for (const DType dtype : {f32, f64}) {
    const Tensor z = numbers({3, 10, 12}, complex_dtype(dtype)), x = numbers({3, 10, 12}, dtype);
    expect(
        "fft", 1, 0, [](const Tensor& t) { return fft::fft(t); }, z);
    expect(
        "fft by columns", 1, 0, [](const Tensor& t) { return fft::fft(t, {}, 0); }, z);
    expect(
        "two axes", 1, 0, [](const Tensor& t) { return fft::fft2(t); }, z);
    expect(
        "two axes, scaled", 1, 1, [](const Tensor& t) { return fft::ifft2(t); }, z);
    expect(
        "columns and rows of a part", 1, 0,
        [](const Tensor& t) {
          return fft::fft2(t.slice(2, 0, 7), {}, {2, 1});
        },
        z[1].unsqueeze(0).clone());
    expect(
        "two axes that lie the other way round", 0, 2, [](const Tensor& t) { return fft::fft2(t.mT()); }, z);
    expect(
        "three axes", 2, 1, [](const Tensor& t) { return fft::ifftn(t); }, z);
    expect(
        "ifft, unscaled", 1, 0, [](const Tensor& t) { return fft::ifft(t, {}, -1, "forward"); }, z);
    expect(
        "ifft", 1, 1, [](const Tensor& t) { return fft::ifft(t); }, numbers({3, 10, 22}, complex_dtype(dtype)));
    expect(
        "ifft of short lines", 0, 1, [](const Tensor& t) { return fft::ifft(t); }, z);
    expect(
        "rfft", 1, 0, [](const Tensor& t) { return fft::rfft(t); }, x);
    expect(
        "rfft of odd lines", 1, 1, [](const Tensor& t) { return fft::rfft(t, {}, -1, "ortho"); },
        numbers({4, 9}, dtype));
    expect(
        "irfft", 1, 1, [](const Tensor& t) { return fft::irfft(t); }, z);
    expect(
        "irfft of odd lines", 1, 1, [](const Tensor& t) { return fft::irfft(t, 21); }, z);
  }
}

/// Whose lengths have prime factors that ours do not take by one launch.
TEST_F(TransformsOnHost, CopyOtherLines) {
  const Tensor z = numbers({3, 11, 13}, c64), x = numbers({3, 11, 13}, f32);
  expect(
      "few, by ours", 0, 1, [](const Tensor& t) { return fft::fft(t.slice(1, 0, 10), {}, 1); }, z);
  expect(
      "a middle axis", 1, 2, [](const Tensor& t) { return fft::fft(t, {}, 1); }, z);
  expect(
      "every other element", 1, 0, [](const Tensor& t) { return fft::fft(t.slice(2, 0, 13, 2)); }, z);
  expect(
      "backwards", 1, 1, [](const Tensor& t) { return fft::fft(flip(t, {1})); }, z[0].clone());
  expect(
      "turned", 1, 1, [](const Tensor& t) { return fft::ifft(t.transpose(0, 1)); }, z);
  expect(
      "the same line for all", 1, 1,
      [](const Tensor& t) {
        return fft::fft(t[0].broadcast_to({4, 11, 13}));
      },
      z);
  expect(
      "cut", 1, 0, [](const Tensor& t) { return fft::fft(t, 9); }, z);
  expect(
      "filled up", 1, 1, [](const Tensor& t) { return fft::ifft(t, 17); }, z);
  expect(
      "of real numbers", 1, 1, [](const Tensor& t) { return fft::fft(t); }, x);
  expect(
      "real, from an odd place", 1, 1, [](const Tensor& t) { return fft::rfft(t.slice(2, 1, 12)); }, x);
  expect(
      "fewer of a spectrum", 1, 1, [](const Tensor& t) { return fft::irfft(t, 14); }, z);
  expect(
      "of a power of two, by ours", 0, 1, [](const Tensor& t) { return fft::irfft(t, 16); }, z);
  expect(
      "more of a spectrum", 1, 1, [](const Tensor& t) { return fft::irfft(t, 30, 0); }, z);
  expect(
      "two axes of real numbers", 2, 2,
      [](const Tensor& t) {
        return fft::rfft2(t, {}, {0, 1});
      },
      x);
}

TEST_F(TransformsOnHost, HaveGradientsThatAreTransforms) {
  /// The operand's cotangent to one of the result.
  const auto same = [&](const char* what, const auto& f, const Tensor& x) {
    SCOPED_TRACE(what);
    const Tensor y = f(Var(x)).value(), cotangent = numbers(y.shape(), y.dtype());
    const Tensor want = vjp(f, x, cotangent).result, there = gpu_.from(x), at = gpu_.from(cotangent);
    executed = 0;
    const Tensor got = HostGpu::to_cpu(vjp(f, there, at).result);
    EXPECT_EQ(executed, 2);
    EXPECT_LE(far_apart(got, want), 1e-5);
  };
  for (const std::int64_t n : {22, 33}) {
    const Tensor z = numbers({3, n}, c64), x = numbers({3, n}, f32);
    same(
        "fft", [](const Var& v) { return fft::fft(v, 13); }, z);
    same(
        "ifft", [](const Var& v) { return fft::ifft(v, 26); }, z);
    same(
        "rfft", [](const Var& v) { return fft::rfft(v); }, x);
    same(
        "rfft, filled up", [](const Var& v) { return fft::rfft(v, 39); }, x);
    same(
        "irfft", [](const Var& v) { return fft::irfft(v, 26); }, z);
    same(
        "irfft of odd lines", [](const Var& v) { return fft::irfft(v, 39); }, z);
  }
  const Tensor both = numbers({2, 6, 5}, c64);
  same(
      "two axes",
      [](const Var& v) {
        return fft::ifft2(v, {}, {-2, -1}, "ortho");
      },
      both);
}

TEST_F(TransformsOnHost, KeepSoManyPlans) {
  const auto most = static_cast<std::int64_t>(FftLibrary::kMostPlans);
  captured_ = true;
  fft::fft(gpu_.from(numbers({2}, c64)));  // in a graph, which may be replayed at any time
  captured_ = false;
  for (std::int64_t n = 3; n < most + 10; ++n) fft::fft(gpu_.from(numbers({n}, c64)));
  EXPECT_EQ(plans.size(), FftLibrary::kMostPlans);
  EXPECT_TRUE(std::ranges::any_of(plans, [](const auto& p) { return p.second.n == 2; }));
  EXPECT_FALSE(std::ranges::any_of(plans, [](const auto& p) { return p.second.n == 3; }));
  const int before = made;
  fft::fft(gpu_.from(numbers({most + 9}, c64))), fft::fft(gpu_.from(numbers({2}, c64)));
  EXPECT_EQ(made, before);
  expect(
      "one that was forgotten", 1, 0, [](const Tensor& t) { return fft::fft(t); }, numbers({3}, c64));
}

TEST_F(TransformsOnHost, AreOursWhereItRefuses) {
  refuses = true;
  expect(
      "fft", 0, 1, [](const Tensor& t) { return fft::fft(t); }, numbers({5, 12}, c64));
  EXPECT_EQ(made, 1);  // it is asked once
  EXPECT_TRUE(plans.empty());
}

TEST_F(TransformsOnHost, AreExplained) {
  const Tensor z = gpu_.from(numbers({5, 12}, c64));
  const auto said = [&] { return explain([&] { fft::fft(z); }); };
  EXPECT_NE(said().find("cuFFT"), std::string::npos) << said();
  gpu_.lines = nullptr, gpu_.why_not = "cuFFT is on holiday";
  EXPECT_NE(said().find("cuFFT is on holiday"), std::string::npos) << said();
}

}  // namespace
}  // namespace tern::test

#endif
