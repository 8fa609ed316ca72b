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
  /// Every element of x is below 10·n·eps·size, of each matrix; but for numbers that the device may take for zeros.
  static void expect_small(const char* what, const Tensor& x, const Tensor& sizes, double n, DType dtype) {
    const double least =
        real_dtype(dtype) == f64 ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
    const Tensor bound = sizes * (10 * n * epsilon_of(dtype)) + 4 * n * least;
    const Tensor most = max(abs(x), {-2, -1});
    for (const double over : (most - bound).to_vector<double>()) EXPECT_LE(over, 0) << what;  // NaN fails
  }
  /// Of f32 beside those of f64: each is a quotient of sums of n products, of columns that are off by a rounding for
  /// each of several times n rotations, so by some √n of them. Those of f64 have nothing beside them that is more
  /// exact: they are held to what all elements are, 10·n·eps of the Frobenius norm, at most √n times the largest.
  static void expect_values(const char* what, const Tensor& values, const Tensor& want, double n, DType dtype) {
    const double terms = real_dtype(dtype) == f64 ? n * std::sqrt(n) : std::sqrt(n);
    const Tensor off = (values - want).unsqueeze(-1);
    expect_small(what, off, max(abs(want), {-1}).broadcast_to(batch_shape(off)), terms, dtype);
  }
  /// So many of them that they are not the CPU's.
  static Tensor many(const Tensor& a) {
    const std::int64_t copies = 1 + std::min(a.size(-1), a.size(-2)) / a.size(0);
    return a.broadcast_to({copies, a.size(0), a.size(-2), a.size(-1)}).clone();
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
    const Tensor alone = here(eigvalsh(there(many(low)))), want = eigvalsh(exact);
    expect_values("values", w, want, n, dtype), expect_values("values alone", alone, want, n, dtype);
    EXPECT_GE(min(w.slice(-1, 1, w.size(-1)) - w.slice(-1, 0, w.size(-1) - 1)).item<double>(), 0) << "not ascending";
  }
  void expect_svd(const Tensor& a, bool full) const {
    const DType dtype = a.dtype();
    const Tensor exact = here(a), sizes = norms_of(exact);
    const auto n = static_cast<double>(std::max(a.size(-1), a.size(-2)));
    const auto f = svd(there(a), false);
    const Tensor s = here(f.s), u = here(f.u), vh = here(f.vh);
    expect_small("u·s·vh", matmul(u * s.unsqueeze(-2).to(u.dtype()), vh) - exact, sizes, n, dtype);
    expect_orthonormal("u", u, dtype), expect_orthonormal("v", adjoint_here(vh), dtype);
    const Tensor alone = here(svdvals(there(many(a)))), want = svdvals(exact);
    expect_values("values", s, want, n, dtype), expect_values("values alone", alone, want, n, dtype);
    EXPECT_LE(max(s.slice(-1, 1, s.size(-1)) - s.slice(-1, 0, s.size(-1) - 1)).item<double>(), 0) << "not descending";
    EXPECT_GE(min(s).item<double>(), 0);
    if (a.size(-1) == a.size(-2) || !full) return;
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
  /// In software those that differ most.
  Tensor of_all_kinds(std::int64_t m, std::int64_t n, DType dtype) const {
    std::vector<Tensor> all;
    const std::vector<Kind> kinds = kinds_of_numbers();
    for (std::size_t k = 0; k < kinds.size(); ++k)
      if (!in_software(device()) || k % 3 != 2) all.push_back(of_kind(kinds[k], m, n, dtype));
    return stack(all, 0);
  }
  std::vector<DType> dtypes() const {
    if (device().to_string().starts_with("webgpu")) return {f32};
    return {f32, f64};
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
  for (const DType dtype : dtypes())
    for (const std::int64_t n :
         in_software(device()) ? std::vector<std::int64_t>{40} : std::vector<std::int64_t>{33, 64, 65, 100, 300}) {
      SCOPED_TRACE(std::to_string(n) + " " + std::string(to_string(dtype)));
      expect_eigh(of_all_kinds(n, n, dtype));
    }
}
TEST_P(LargeSpectra, SingularValuesGiveTheMatrices) {
  using Size = std::pair<std::int64_t, std::int64_t>;
  const std::vector<Size> every{{33, 33}, {64, 64}, {65, 65}, {100, 40}, {40, 100}, {70, 3}, {3, 70}, {300, 300}},
      few{{50, 40}, {20, 35}};
  for (const DType dtype : dtypes())
    for (const auto& [m, n] : in_software(device()) || few_test() ? few : every) {
      SCOPED_TRACE(std::to_string(m) + "x" + std::to_string(n) + " " + std::string(to_string(dtype)));
      expect_svd(of_all_kinds(m, n, dtype), !in_software(device()) || m < n);
    }
}

TEST_P(LargeSpectra, AnyLayout) {
  const std::int64_t n = 35;
  const Tensor x = noise_matrices(5, n, n, f32), s = x + x.mT();
  const Tensor values = eigvalsh(s), singular = svdvals(x);
  const auto values_of = [](const Tensor& t) { return eigh(t).eigenvalues; };
  const auto same = [&](const char* what, const Tensor& got, const Tensor& want) {
    EXPECT_LE(max(abs(got.to(cpu()) - want)).item<double>(), 1e-4) << what;
  };
  const Tensor at = there(x), st = there(s);
  same("eigh, rows exchanged for columns", values_of(st.mT().clone().mT()), values);
  same("eigh, every second", values_of(strided(st)), values);
  same("svd, every second", svd(strided(at.mT())).s, singular);
  same("one for all", values_of(st[1].broadcast_to({5, n, n})), values[1].broadcast_to({5, n}));
  const auto f = eigh(st.unsqueeze(1));
  EXPECT_EQ(f.eigenvectors.shape(), (Shape{5, 1, n, n}));
  EXPECT_EQ(eigh(there(zeros({0, n, n}))).eigenvalues.shape(), (Shape{0, n}));
  EXPECT_EQ(svd(there(zeros({2, n, 0})), false).s.shape(), (Shape{2, 0}));
}

TEST_P(LargeSpectra, NameWhatFailed) {
  const std::int64_t n = 35;
  Tensor x = noise_matrices(5, n, n, f32).clone();
  x = (x + x.mT()).clone();
  assign(x[1].slice(0, 20, 21).slice(1, 4, 5), std::numeric_limits<float>::quiet_NaN());
  const Tensor bad = there(x), good = bad.slice(0, 2, 5);
  const auto done = [&](auto f) { return [this, f] { f(), synchronize(device()); }; };
  expect_error(ErrorKind::linalg, {"eigh", "matrix 1 of the batch", "not finite"}, done([&] { eigh(bad); }));
  expect_error(ErrorKind::linalg, {"svd", "matrix 1 of the batch", "not finite"}, done([&] { svd(bad); }));
  // A row whose neighbours are its own, and two apart, or backwards: only its own count.
  Tensor row = ones({1, 40}).clone();
  assign(row.slice(1, 38, 39), std::numeric_limits<float>::infinity());
  const Tensor own = there(row).slice(1, 0, {}, 2), others = there(row).slice(1, 1, {}, 2);
  expect_error(ErrorKind::linalg, {"svd", "not finite"}, done([&] { svdvals(own); }));
  expect_error(ErrorKind::linalg, {"svd", "not finite"}, done([&] { svdvals(flip(own, {1})); }));
  EXPECT_NEAR(svdvals(others).item<float>(), std::sqrt(20.0f), 1e-5f);
  EXPECT_NEAR(svdvals(flip(others, {1})).item<float>(), std::sqrt(20.0f), 1e-5f);
  synchronize(device());  // nothing is left to be told
  EXPECT_EQ(eigvalsh(good).shape(), (Shape{3, n}));
}

/// A recording replays as many sweeps as other elements take.
TEST_P(LargeSpectra, InRecordings) {
  const std::int64_t n = 35;
  const Tensor a = there(unit(n).to(f32).broadcast_to({5, n, n}).clone());
  Tensor values, singular;
  try {
    const Graph graph = capture(device(), [&] { values = eigh(a).eigenvalues, singular = svd(a).s; });
    const Tensor x = noise_matrices(5, n, n, f32), s = x + x.mT();
    Tensor(a).copy_from(there(s));
    graph.replay();
    EXPECT_LE(max(abs(values.to(cpu()) - eigvalsh(s))).item<double>(), 1e-4);
    EXPECT_LE(max(abs(singular.to(cpu()) - svdvals(s))).item<double>(), 1e-4);
  } catch (const Error& e) {
    EXPECT_EQ(static_cast<int>(e.kind()), static_cast<int>(ErrorKind::unsupported)) << e.what();
  }
}

TEST_P(LargeSpectra, ReportsSayHow) {
  if (!device().to_string().starts_with("webgpu")) return;
  const Tensor a = there(noise_matrices(5, 40, 40, f32));
  for (const std::string& text : {explain([&] { eigh(a); }), explain([&] { svd(a); })}) {
    EXPECT_NE(text.find("rotations of blocks"), text.npos) << text;
    EXPECT_EQ(text.find("copied to the CPU"), text.npos) << text;
  }
  EXPECT_NE(explain([&] { eigh(a[0]); }).find("copied to the CPU"), std::string::npos);  // one is quicker there
}

}  // namespace
}  // namespace tern::test
