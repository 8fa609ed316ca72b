// Symmetric eigenvalues and singular values of matrices beyond those that one workgroup holds: by blocks on GPUs, on
// both sides of a block's size, of every kind and layout.
#include <functional>
#include <limits>

#include "every_device.hpp"
#include "every_device/linalg/matrices.hpp"

namespace tern::test {
namespace {

using namespace linalg;

class LargeSpectra : public EveryDevice {
 protected:
  Tensor there(const Tensor& x) const { return x.to(device()); }
  static Tensor here(const Tensor& x) { return x.to(cpu()).to(is_complex(x.dtype()) ? c128 : f64); }
  static Tensor adjoint_here(const Tensor& x) { return is_complex(x.dtype()) ? conj(x).mT() : x.mT(); }
  static double largest_of(const Tensor& x) {
    const double most = max(abs(x)).item<double>();
    return std::isnan(most) ? std::numeric_limits<double>::infinity() : most;
  }
  /// Every element of x is below 10·n·eps·size, of each matrix.
  static void expect_small(const char* what, const Tensor& x, const Tensor& sizes, double n, DType dtype) {
    const Tensor bound = sizes * (10 * n * epsilon_of(dtype));
    const Tensor most = max(abs(x), {-2, -1});
    for (const double over : (most - bound).to_vector<double>()) EXPECT_LE(over, 0) << what;  // NaN fails
  }
  static void expect_orthonormal(const char* what, const Tensor& q, DType dtype) {
    const Tensor of = matmul(adjoint_here(q), q);
    expect_small(what, of - unit(q.size(-1)).to(of.dtype()), ones(batch_shape(q), {.dtype = f64, .device = cpu()}),
                 static_cast<double>(q.size(-2)), dtype);
  }
  static Shape batch_shape(const Tensor& x) {
    std::vector<std::int64_t> sizes(x.shape().begin(), x.shape().end() - 2);
    return Shape(sizes);
  }
  static Tensor norms_of(const Tensor& x) { return sqrt(sum(square(abs(x)), {-2, -1})); }

  void expect_eigh(const Tensor& a) const {
    const DType dtype = a.dtype();
    const Tensor low = tril(a), exact = here(low) + adjoint_here(here(tril(a, -1)));
    const auto f = eigh(there(low));
    const Tensor w = here(f.eigenvalues), v = here(f.eigenvectors), sizes = norms_of(exact);
    const auto n = static_cast<double>(a.size(-1));
    expect_small("v·w·vᴴ", matmul(v * w.unsqueeze(-2).to(v.dtype()), adjoint_here(v)) - exact, sizes, n, dtype);
    expect_orthonormal("v", v, dtype);
    const Tensor alone = here(eigvalsh(there(low)));
    expect_small("values", (alone - w).unsqueeze(-1), sizes, n, dtype);
    EXPECT_GE(min(w.slice(-1, 1, w.size(-1)) - w.slice(-1, 0, w.size(-1) - 1)).item<double>(), 0) << "not ascending";
  }
  void expect_svd(const Tensor& a) const {
    const DType dtype = a.dtype();
    const Tensor exact = here(a), sizes = norms_of(exact);
    const auto n = static_cast<double>(std::max(a.size(-1), a.size(-2)));
    const auto f = svd(there(a), false);
    const Tensor s = here(f.s), u = here(f.u), vh = here(f.vh);
    expect_small("u·s·vh", matmul(u * s.unsqueeze(-2).to(u.dtype()), vh) - exact, sizes, n, dtype);
    expect_orthonormal("u", u, dtype), expect_orthonormal("v", adjoint_here(vh), dtype);
    expect_small("values", (here(svdvals(there(a))) - s).unsqueeze(-1), sizes, n, dtype);
    EXPECT_LE(max(s.slice(-1, 1, s.size(-1)) - s.slice(-1, 0, s.size(-1) - 1)).item<double>(), 0) << "not descending";
    EXPECT_GE(min(s).item<double>(), 0);
    if (a.size(-1) == a.size(-2)) return;
    const auto whole = svd(there(a));
    const std::int64_t least = s.size(-1);
    const Tensor left = here(whole.u), right = here(whole.vh);
    expect_orthonormal("all of u", left, dtype), expect_orthonormal("all of v", adjoint_here(right), dtype);
    const Tensor made = matmul(left.slice(-1, 0, least) * here(whole.s).unsqueeze(-2).to(left.dtype()),
                               right.slice(-2, 0, least));
    expect_small("all of u·s·vh", made - exact, sizes, n, dtype);
  }
  struct Kind {
    const char* name;
    std::function<double(std::int64_t, std::int64_t, std::int64_t)> at;  // (i, j, n)
  };
  static std::vector<Kind> kinds_of_numbers() {
    const auto wave = [](std::int64_t i, std::int64_t j) { return noise(1, i, j); };
    const auto thin = [](std::int64_t i) { return std::sin(1.3 * static_cast<double>(i) + 0.2); };
    return {
        {"random", [=](auto i, auto j, auto) { return wave(i, j); }},
        {"graded", [=](auto i, auto j, auto) { return wave(i, j) * std::exp2(-static_cast<double>(i + j)); }},
        {"graded the other way",
         [=](auto i, auto j, auto n) { return wave(i, j) * std::exp2(static_cast<double>(i + j - 2 * n)); }},
        {"of rank 1", [=](auto i, auto j, auto) { return thin(i) * thin(j + 1); }},
        {"of rank 2", [=](auto i, auto j, auto) { return thin(i + 3 * j); }},
        {"zero", [](auto, auto, auto) { return 0.0; }},
        {"one element", [](auto i, auto j, auto n) { return i == n - 1 && j == 1 ? 3.0 : 0.0; }},
        {"1", [](auto i, auto j, auto) { return i == j ? 1.0 : 0.0; }},
        {"negative", [](auto i, auto j, auto) { return -1 / static_cast<double>(i + j + 1) - (i == j ? 1 : 0); }},
        {"1 and -1", [](auto i, auto j, auto n) { return i + j == n - 1 ? 1.0 : 0.0; }},
        {"ones", [](auto, auto, auto) { return 1.0; }},
        {"Hilbert", [](auto i, auto j, auto) { return 1 / static_cast<double>(i + j + 1); }},
        {"Kahan",
         [](auto i, auto j, auto) {
           return j < i ? 0.0 : std::pow(0.9, static_cast<double>(i)) * (i == j ? 1 : -0.4);
         }},
        {"huge", [=](auto i, auto j, auto) { return wave(i, j) * 1e37; }},
        {"tiny", [=](auto i, auto j, auto) { return wave(i, j) * 1e-37; }},
        {"subnormal", [=](auto i, auto j, auto) { return wave(i, j) * 1e-41; }},
    };
  }
  static Tensor of_kind(const Kind& kind, std::int64_t m, std::int64_t n, DType dtype) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) values.push_back(kind.at(i, j, std::min(m, n)));
    const Tensor x = make(values, {m, n}, real_dtype(dtype), cpu());
    return is_complex(dtype) ? make_complex(x, flip(x, {0})) : x;
  }
};
TERN_EVERY_DEVICE(LargeSpectra);

/// All kinds as one batch.
TEST_P(LargeSpectra, EigenvaluesGiveTheMatrices) {
  for (const std::int64_t n : in_software(device()) ? std::vector<std::int64_t>{65} : std::vector<std::int64_t>{33, 64, 65, 100, 300}) {
    SCOPED_TRACE(n);
    std::vector<Tensor> all;
    for (const Kind& kind : kinds_of_numbers()) all.push_back(of_kind(kind, n, n, f32));
    expect_eigh(stack(all, 0));
  }
}
TEST_P(LargeSpectra, SingularValuesGiveTheMatrices) {
  using Size = std::pair<std::int64_t, std::int64_t>;
  const std::vector<Size> every{{33, 33}, {64, 64}, {65, 65}, {100, 40}, {40, 100}, {70, 3}, {300, 300}}, few{{65, 65}, {50, 40}, {20, 35}};
  for (const auto& [m, n] : in_software(device()) ? few : every) {
    SCOPED_TRACE(std::to_string(m) + "x" + std::to_string(n));
    std::vector<Tensor> all;
    for (const Kind& kind : kinds_of_numbers()) all.push_back(of_kind(kind, m, n, f32));
    expect_svd(stack(all, 0));
  }
}

}  // namespace
}  // namespace tern::test
