// Batches of small matrices, which are taken many at a time: residuals at k·n·eps of every size up to one beyond those,
// on matrices of every kind side by side, in every layout; what failed, by its number in the batch. (Longer than other
// files: each factorisation is held to the same batches.)
#include <functional>
#include <limits>
#include <optional>

#include "every_device.hpp"
#include "every_device/complex/complex_numbers.hpp"
#include "every_device/linalg/matrices.hpp"

namespace tern::test {
namespace {

using namespace linalg;

/// Element (i, j) of matrix l of n × n: kinds follow each other.
double element_of_kind(std::int64_t l, std::int64_t i, std::int64_t j, std::int64_t n) {
  const double random = noise(l, i, j), far = static_cast<double>(std::abs(i - j));
  switch (l % 8) {
    case 0: return random;
    case 1: return random * std::pow(0.5, static_cast<double>(std::min<std::int64_t>(i + j, 40)));
    case 2: return 1 / static_cast<double>(i + j + 1);
    case 3: return i == j ? std::abs(static_cast<double>(2 * i - n + 1)) / 2 + 0.25 : far == 1 ? 1 : 0;
    case 4: return 1 / (1 + far);
    case 5: return j < i ? 0 : std::pow(0.9, static_cast<double>(i)) * (i == j ? 1 : -0.4);
    case 6: return random * 1e15;
    default: return random * 1e-15;
  }
}
Tensor matrices_of_kinds(std::int64_t count, std::int64_t m, std::int64_t n, DType dtype, bool all_kinds) {
  std::vector<double> values;
  for (std::int64_t l = 0; l < count; ++l)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) values.push_back(all_kinds ? element_of_kind(l, i, j, n) : noise(l, i, j));
  return make(values, {count, m, n}, dtype, cpu());
}

/// Largest elements are made 1, where norms are taken of elements as large as f64 has.
Tensor of_size_one(const Tensor& x, const Tensor& like) {
  const Tensor size = max(abs(like), {-2, -1}, true);
  return x / where(size == 0, 1, size);
}

class SmallMatrices : public EveryDevice {
 protected:
  std::vector<std::int64_t> sizes() const {
    if (in_software(device())) return {1, 3, 4, 7, 33};
    if (!(device() == cpu()) && !full_test()) return {1, 2, 3, 4, 7, 32, 33};
    std::vector<std::int64_t> all;
    for (std::int64_t n = 1; n <= 33; ++n) all.push_back(n);
    return all;
  }
  std::vector<DType> dtypes() const {
    if (device().to_string().starts_with("webgpu")) return {f32};
    return {f32, f64};
  }
  /// Of QR, eigenvalues and singular values, whose kernels take a device in software long to compile.
  std::vector<std::int64_t> fewer_sizes() const {
    if (!in_software(device())) return sizes();
    return {4, 7, 33};
  }
  Tensor there(const Tensor& x) const { return x.to(device()); }
  static Tensor here(const Tensor& x) { return x.to(cpu()).to(f64); }
  /// The largest element of each matrix of x, over the product of the others' norms, is below k·n·eps. WGSL may put 0
  /// for subnormal numbers (15.7.2), in a matrix and in its results: eigenvalues and singular values of one with such
  /// changes are off by their norm, n times the least normal number and as results once more; elements of products by
  /// less. Two results differ by twice that. `scaled`: the matrices by whose largest elements x was divided.
  void expect_below(const char* what, const Tensor& x, const std::vector<Tensor>& norms, DType dtype,
                    const std::optional<Tensor>& scaled = {}) const {
    if (x.numel() == 0) return;
    const auto larger_side = [](const Tensor& t) { return static_cast<double>(std::max(t.size(-1), t.size(-2))); };
    const double n = larger_side(x), of = scaled ? larger_side(*scaled) : n;
    const double lost = device().kind() == DeviceKind::webgpu ? 2 * (of + 1) * std::numeric_limits<float>::min() : 0;
    Tensor size = ones({}, {.dtype = f64, .device = cpu()}), allowed = size * lost;
    for (const Tensor& t : norms) size = size * matrix_norm(t);
    if (scaled) allowed = max(abs(of_size_one(allowed, *scaled)), {-2, -1});
    const std::vector<double> worst = ((max(abs(x), {-2, -1}) - allowed) / (size + 1e-300)).to_vector<double>();
    for (std::size_t l = 0; l < worst.size(); ++l)
      EXPECT_LE(worst[l], 10 * n * epsilon_of(dtype)) << what << ", matrix " << l;  // NaN fails
  }
  template <class F> void for_each_size(F f) const { for_each_size(sizes(), f); }
  template <class F> void for_each_size(const std::vector<std::int64_t>& all, F f) const {
    for (const DType dtype : dtypes())
      for (const std::int64_t n : all) {
        SCOPED_TRACE(std::to_string(n) + " " + std::string(to_string(dtype)));
        f(dtype, n);
      }
  }
};
TERN_EVERY_DEVICE(SmallMatrices);

TEST_P(SmallMatrices, FactorsGiveTheMatrices) {
  for_each_size([&](DType dtype, std::int64_t n) {
    for (const std::int64_t m : {n, n + 2}) {
      const Tensor a = matrices_of_kinds(19, m, n, dtype, true), x = here(a);
      const auto f = lu(there(a));
      expect_below("p·l·u", matmul(here(f.p), matmul(here(f.l), here(f.u))) - x, {x}, dtype);
      EXPECT_LE(max(abs(here(f.l))).item<double>(), 1 + 1e-6) << "pivots are not the largest";
    }
    const Tensor x = matrices_of_kinds(19, n, n, dtype, false).to(f64),
                 scale = tensor({1., 1e12, 1e-12}, cpu()).unsqueeze(-1);
    const Tensor definite = ((matmul(x, x.mT()) + unit(n)).unsqueeze(1) * scale.unsqueeze(-1)).to(dtype);
    const Tensor s = here(definite), l = here(cholesky(there(definite))), u = here(cholesky(there(definite), true));
    expect_below("l·lᵀ", matmul(l, l.mT()) - s, {s}, dtype), expect_below("uᵀ·u", matmul(u.mT(), u) - s, {s}, dtype);
    EXPECT_EQ(max(abs(triu(l, 1))).item<double>(), 0);
  });
}

TEST_P(SmallMatrices, SolutionsSolve) {
  for_each_size([&](DType dtype, std::int64_t n) {
    // Hilbert's matrices are singular as far as f32 holds them, so that a pivot of 0 would be right: with a few units
    // in the last place of 1 more on the diagonal they are not.
    const Tensor hilbert = (remainder(arange(0, 19, 1, {.dtype = f64, .device = cpu()}), 8) == 2).to(f64);
    const Tensor more = hilbert.reshape({19, 1, 1}) * unit(n) * (8 * epsilon_of(dtype));
    const Tensor a = (matrices_of_kinds(19, n, n, dtype, true).to(f64) + more).to(dtype), x = here(a), at = there(a);
    for (const std::int64_t columns : {1, 3, 35}) {
      if (left_out(device(), 3)) continue;
      const Tensor b = matrices_of_kinds(19, n, columns, dtype, false), wanted = here(b);
      const Tensor y = here(solve(at, there(b)));
      expect_below("a·x - b", matmul(x, y) - wanted, {x, y}, dtype);
      const auto f = lu_factor(at);
      const Tensor z = here(lu_solve(f.lu, f.pivots, there(b)));
      expect_below("by factors", matmul(x, z) - wanted, {x, z}, dtype);
      const Tensor t = x + unit(n) * (matrix_norm(x).unsqueeze(-1).unsqueeze(-1) * 2);
      const Tensor tt = there(t.to(dtype)), exact = here(tt);
      for (const bool upper : {false, true}) {
        const Tensor half = upper ? triu(exact) : tril(exact);
        const Tensor left = here(solve_triangular(tt, there(b), upper));
        expect_below("a triangle", matmul(half, left) - wanted, {half, left}, dtype);
        const Tensor right = here(solve_triangular(tt, there(b.mT()), upper, false));
        expect_below("from the right", matmul(right, half) - wanted.mT(), {half, right}, dtype);
        const Tensor small = half * (1 / matrix_norm(half).unsqueeze(-1).unsqueeze(-1));
        const Tensor ones_on = (upper ? triu(small, 1) : tril(small, -1)) + unit(n);
        const Tensor one = here(solve_triangular(there(small.to(dtype)), there(b), upper, true, true));
        expect_below("of ones", matmul(ones_on, one) - wanted, {ones_on, one}, dtype);
      }
    }
    const Tensor inverse = here(inv(at));
    expect_below("a·a⁻¹ - 1", matmul(x, inverse) - unit(n), {x, inverse}, dtype);
  });
}

// Sides of few columns are solved for where matrices are factorised: with factors besides or without, of any layout.
TEST_P(SmallMatrices, FewSidesAreSolvedForAtOnce) {
  const bool few = in_software(device());  // where a kernel of 32 rows takes half a minute to compile
  for (const std::int64_t n : few ? std::vector<std::int64_t>{5, 17} : std::vector<std::int64_t>{5, 8, 17, 32})
    for (const DType dtype : dtypes()) {
      SCOPED_TRACE(std::to_string(n) + " " + std::string(to_string(dtype)));
      const Tensor a = matrices_of_kinds(11, n, n, dtype, false), x = here(a), at = there(a);
      for (const std::int64_t columns : {std::int64_t(1), n / 8, n / 4, n / 4 + 1}) {
        if (few && columns == n / 8) continue;
        const Tensor b = matrices_of_kinds(11, n, columns, dtype, false), wanted = here(b), sides = there(b);
        const Tensor y = here(solve(at, sides)), by_columns = here(solve(there(a.mT().contiguous()).mT(), sides));
        expect_below("a·x - b", matmul(x, y) - wanted, {x, y}, dtype);
        EXPECT_EQ(y.to_vector<double>(), by_columns.to_vector<double>());
        const Tensor turned = here(solve(at, there(b.mT().contiguous()).mT()));
        EXPECT_EQ(y.to_vector<double>(), turned.to_vector<double>());
        const Tensor shared = here(solve(at, sides.slice(0, 4, 5)));  // one for all matrices
        expect_below("one b", matmul(x, shared) - wanted.slice(0, 4, 5), {x, shared}, dtype);
        const Tensor one = here(solve(at.slice(0, 4, 5), sides));  // one matrix for all
        expect_below("one a", matmul(x.slice(0, 4, 5), one) - wanted, {x.slice(0, 4, 5), one}, dtype);
        const Var matrices(at), right(sides);
        const Var solved = solve(matrices, right);
        EXPECT_EQ(y.to_vector<double>(), here(solved.value()).to_vector<double>()) << "with factors";
        const Tensor g = here(backward(solved, sides)[right]);  // a⁻ᵀ·b by the factors
        expect_below("aᵀ·g - b", matmul(x.mT(), g) - wanted, {x, g}, dtype);
      }
      Tensor failed = at.clone();
      failed.slice(0, 3, 4).copy_from(at.slice(0, 3, 4) * 0);
      const auto made = solve_ex(failed, there(matrices_of_kinds(11, n, 1, dtype, false)));
      std::vector<std::int32_t> info(11, 0);
      info[3] = 1;
      EXPECT_EQ(made.info.to(cpu()).to_vector<std::int32_t>(), info);
    }
}

TEST_P(SmallMatrices, DeterminantsAreProducts) {
  for_each_size([&](DType dtype, std::int64_t n) {
    const Tensor a =
        (matrices_of_kinds(19, n, n, dtype, false).to(f64) + unit(n) * (static_cast<double>(n) / 2)).to(dtype);
    const auto f = linalg::lu(here(a).to(c128));  // one by one, whatever the size
    const Tensor exact = real(prod(diagonal(f.u, 0, -2, -1), {-1}) * det(f.p));
    const double bound = 100 * static_cast<double>(n) * epsilon_of(dtype);
    const std::vector<double> got = (here(det(there(a))) / exact - 1).to_vector<double>();
    const auto logs = slogdet(there(a));
    const std::vector<double> log = (here(logs.logabsdet) - tern::log(abs(exact))).to_vector<double>();
    EXPECT_EQ(here(logs.sign).to_vector<double>(), sign(exact).to_vector<double>());
    for (std::size_t l = 0; l < got.size(); ++l) {
      if (n <= 20) {
        EXPECT_LE(std::abs(got[l]), bound) << l;
      }
      EXPECT_LE(std::abs(log[l]), bound) << l;
    }
    EXPECT_EQ(here(det(zeros({3, n, n}, {.dtype = dtype, .device = device()}))).to_vector<double>(),
              (std::vector<double>{0, 0, 0}));
  });
}

TEST_P(SmallMatrices, AnyNumberInAnyLayout) {
  for (const std::int64_t n : {3, 4, 6})
    for (const std::int64_t count : {1, 2, 15, 16, 17, 33}) {
      if (left_out(device(), 4)) continue;
      SCOPED_TRACE(std::to_string(count) + " of " + std::to_string(n));
      const Tensor a = matrices_of_kinds(count, n, n, f32, false) + unit(n).to(f32) * 4,
                   b = matrices_of_kinds(count, n, 2, f32, false);
      const Tensor at = there(a), bt = there(b), x = here(a);
      const auto expect = [&](const char* what, const Tensor& other, const Tensor& right) {
        const Tensor y = here(solve(other, right));
        expect_below(what, matmul(x, y) - here(b), {x, y}, f32);
        const Tensor z = here(inv(other));
        expect_below(what, matmul(x, z) - unit(n), {x, z}, f32);
      };
      expect("dense", at, bt);
      expect("by columns", at.mT().clone().mT(), bt.mT().clone().mT());
      expect("strided", strided(at), strided(bt));
      expect("the batch last", at.permute({1, 2, 0}).clone().permute({2, 0, 1}), bt);
      const Tensor one = at.slice(0, 0, 1), many = one.broadcast_to({count, n, n});
      const Tensor y = here(solve(many, bt)), first = x.slice(0, 0, 1);
      expect_below("one for all", matmul(first, y) - here(b), {first, y}, f32);
    }
  for (const std::int64_t n : {2, 7}) {
    EXPECT_EQ(inv(zeros({0, n, n})).shape(), (Shape{0, n, n}));
    EXPECT_EQ(cholesky(zeros({3, 0, n, n})).shape(), (Shape{3, 0, n, n}));
    EXPECT_EQ(solve(zeros({0, n, n}), zeros({0, n, 3})).shape(), (Shape{0, n, 3}));
    EXPECT_EQ(solve(eye(n), zeros({n, 0})).shape(), (Shape{n, 0}));
  }
  EXPECT_EQ(inv(there(matrices_of_kinds(6, 4, 4, f32, false)).reshape({2, 1, 3, 4, 4}).transpose(0, 2)).shape(),
            (Shape{3, 1, 2, 4, 4}));
}

TEST_P(SmallMatrices, NameWhatFailed) {
  const std::vector<std::int64_t> every{2, 4, 7, 32}, few{4, 32};
  for (const std::int64_t n : in_software(device()) ? few : every) {
    const std::int64_t count = 21;
    std::vector<float> values;
    for (std::int64_t l = 0; l < count; ++l)
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j)
          values.push_back(i != j                  ? 0.f
                           : l == 18 && i == 1     ? 0.f
                           : l == 20 && i == n - 1 ? std::numeric_limits<float>::quiet_NaN()
                                                   : 2.f);
    const Tensor a = tensor(values, {count, n, n}, device());
    std::vector<std::int32_t> want(static_cast<std::size_t>(count));
    want[18] = 2, want[20] = -1;
    const auto info = [](const Tensor& t) { return t.to(cpu()).to_vector<std::int32_t>(); };
    EXPECT_EQ(info(inv_ex(a).info), want) << n;
    EXPECT_EQ(info(solve_ex(a, ones({n})).info), want) << n;
    EXPECT_EQ(info(lu_factor_ex(a).info), want) << n;
    EXPECT_EQ(info(cholesky_ex(a).info), want) << n;
    for (int twice = 0; twice < 2; ++twice) {  // the second time as it was prepared
      expect_error(ErrorKind::linalg, {"inv", "matrix 18 of the batch", "pivot 2"}, [&] { inv(a); });
      expect_error(ErrorKind::linalg, {"solve", "matrix 18 of the batch", "pivot 2"}, [&] { solve(a, ones({n})); });
      expect_error(ErrorKind::linalg, {"lu_factor", "matrix 18 of the batch", "pivot 2"}, [&] { lu_factor(a); });
      expect_error(ErrorKind::linalg, {"cholesky", "matrix 18 of the batch", "order 2"}, [&] { cholesky(a); });
      const Tensor last = a.slice(0, 19, 21);
      expect_error(ErrorKind::linalg, {"inv", "matrix 1 of the batch", "not finite"}, [&] { inv(last); });
    }
    synchronize(device());  // nothing is left to be told
    EXPECT_EQ(info(inv_ex(a.slice(0, 0, 3)).info), (std::vector<std::int32_t>{0, 0, 0}));
  }
}

/// Matrices that need care stand between others that do not, in whole blocks and behind them.
TEST_P(SmallMatrices, CareBetweenOthers) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();
  for (const DType dtype : dtypes())
    for (const std::int64_t n : {2, 3, 4, 5}) {
      if (left_out(device(), 2)) continue;
      SCOPED_TRACE(std::to_string(n) + " " + std::string(to_string(dtype)));
      const std::int64_t count = 83;
      std::vector<double> values = (matrices_of_kinds(count, n, n, f64, false) + unit(n) * 3).to_vector<double>();
      const auto at = [&](std::int64_t l, std::int64_t i, std::int64_t j) -> double& {
        return values[static_cast<std::size_t>((l * n + i) * n + j)];
      };
      std::vector<std::int32_t> want(static_cast<std::size_t>(count));
      at(3, 0, 1) = kNaN, at(5, n - 1, n - 1) = kInf, at(37, n - 1, 0) = -kInf, at(60, 0, 0) = kInf;
      for (const std::size_t l : {3, 5, 37, 60}) want[l] = -1;
      for (std::int64_t i = 0; i < n; ++i) {
        at(17, i, 1) = 0, at(82, i, 0) = 0;
        for (std::int64_t j = 0; j < n; ++j) at(33, i, j) *= 1e-36, at(34, i, j) *= 1e-30, at(35, i, j) *= 1e6;
      }
      want[17] = 2, want[82] = 1;
      const Tensor a = make(values, {count, n, n}, dtype, device()),
                   b = there(matrices_of_kinds(count, n, n, dtype, false));
      const auto inverse = inv_ex(a);
      const auto solved = solve_ex(a, b);
      EXPECT_EQ(inverse.info.to(cpu()).to_vector<std::int32_t>(), want);
      EXPECT_EQ(solved.info.to(cpu()).to_vector<std::int32_t>(), want);
      const Tensor dets = det(a), s = matmul(a, a.mT()), factor = cholesky_ex(s).l;
      for (std::int64_t l = 0; l < count; ++l) {
        if (want[static_cast<std::size_t>(l)] != 0) continue;
        const Tensor one = a.slice(0, l, l + 1), x = here(one);
        const Tensor y = here(inverse.inverse.slice(0, l, l + 1)), z = here(solved.result.slice(0, l, l + 1));
        if (l != 33) {  // whose inverse is out of range in f32
          expect_below("a·a⁻¹ - 1", matmul(x, y) - unit(n), {x, y}, dtype);
          expect_below("a·x - b", matmul(x, z) - here(b.slice(0, l, l + 1)), {x, z}, dtype);
          const Tensor f = here(factor.slice(0, l, l + 1)), square = here(s.slice(0, l, l + 1));
          if (l != 34) expect_below("l·lᵀ", matmul(f, f.mT()) - square, {square}, dtype);
        }
        const double alone = here(det(one)).item<double>();
        EXPECT_NEAR(here(dets.slice(0, l, l + 1)).item<double>(), alone, 10 * epsilon_of(dtype) * std::abs(alone)) << l;
      }
      EXPECT_EQ(here(dets.slice(0, 17, 18)).to_vector<double>()[0], 0);
    }
}

// ---- QR, eigenvalues, singular values ----

/// All kinds, and: of rank 1, zero, with equal eigenvalues, and as large and small as the dtype has squares for or not.
Tensor more_kinds(std::int64_t m, std::int64_t n, DType dtype) {
  const double large = dtype == f64 ? 1e150 : 1e18, largest = dtype == f64 ? 1e306 : 1e37;
  std::vector<double> values = matrices_of_kinds(8, m, n, f64, true).to_vector<double>();
  const auto add = [&](auto at) {
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) values.push_back(at(i, j));
  };
  add([](auto i, auto j) { return noise(0, i, 1) * noise(0, 1, j); });
  add([](auto, auto) { return 0.0; });
  add([](auto i, auto j) { return i == j ? 2.0 : 0.0; });
  add([](auto, auto) { return 1.0; });
  add([](auto i, auto j) { return i == j ? (i % 2 ? 1.0 : -1.0) : 0.0; });
  for (const double scale : {large, 1 / large, largest, 1 / largest})
    add([=](auto i, auto j) { return noise(3, i, j) * scale; });
  add([=](auto i, auto j) { return noise(4, i, j) * (j == 0 ? 1 : j == 1 ? 1 / large : std::pow(0.1, 2.0 * j)); });
  add([=](auto i, auto j) { return i == 0 || j == n - 1 ? 0.0 : noise(5, i, j); });
  return make(values, {19, m, n}, dtype, cpu());
}
/// Of integer matrices with two equal rows elimination leaves exactly 0, whatever the pivots.
TEST_P(SmallMatrices, EqualRowsAreSingular) {
  for (const DType dtype : dtypes())
    for (const std::int64_t n : {2, 3, 4, 5}) {
      std::vector<double> values;
      for (std::int64_t l = 0; l < 500; ++l)
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < n; ++j) values.push_back(std::floor(50 + 49 * noise(l, i == n - 1 ? 0 : i, j)));
      const Tensor a = there(make(values, {500, n, n}, dtype, cpu()));
      const Tensor of_lu = lu_factor_ex(a).info.to(cpu());
      EXPECT_TRUE(all(inv_ex(a).info.to(cpu()) == of_lu).item<bool>()) << n;
      EXPECT_TRUE(all((here(det(a)) == 0) == (of_lu > 0)).item<bool>()) << n;
    }
}
/// The bits of a matrix do not depend on the others of its block.
TEST_P(SmallMatrices, KeepTheirBitsBesideOthers) {
  if (!(device() == cpu())) return;
  for (const DType dtype : dtypes())
    for (const std::int64_t n : {1, 2, 3, 4, 5, 9}) {
      const Tensor a = matrices_of_kinds(33, n, n, dtype, false) + eye(n, dtype) * 2;
      const Tensor of_good = inv_ex(a).inverse, b = a.clone();
      assign(b[7], 0);
      const Tensor same = inv_ex(b).inverse == of_good;
      assign(same[7], true);
      EXPECT_TRUE(all(same).item<bool>()) << n;
    }
}
/// Batches that are views: axes of size 1 between others, and an outer one that is broadcast.
TEST_P(SmallMatrices, BatchesWithAxesOfOneBetween) {
  std::vector<std::int64_t> all{3, 6};
  if (device() == cpu()) all = {2, 3, 4, 6};
  for (const std::int64_t n : all) {
    const Tensor given = there(matrices_of_kinds(3, n, n, f32, false) + eye(n, {.dtype = f32, .device = cpu()}) * 2);
    const Tensor a = given.reshape({1, 1, 3, n, n}).broadcast_to({2, 1, 3, n, n}), b = a.clone();
    const Tensor symmetric = a + a.mT(), right = ones({3, n, 1});
    const auto same = [&](const char* what, const Tensor& x, const Tensor& y) {
      EXPECT_TRUE(allclose(x, y, 1e-5, 1e-5)) << what << ' ' << n;
    };
    same("inv", inv(a), inv(b)), same("det", det(a), det(b)), same("solve", solve(a, right), solve(b, right));
    same("lu", lu_factor(a).lu, lu_factor(b).lu), same("r", qr(a).r, qr(b).r);
    same("svdvals", svdvals(a), svdvals(b)), same("eigvalsh", eigvalsh(a), eigvalsh(b));
    same("cholesky", cholesky(matmul(a, a.mT())), cholesky(matmul(b, b.mT())));
    same("triangle", solve_triangular(a, right, false), solve_triangular(b, right, false));
  }
}
TEST_P(SmallMatrices, QrGivesTheMatrices) {
  for_each_size(fewer_sizes(), [&](DType dtype, std::int64_t n) {
    for (const std::int64_t m : {n, n + 3, n / 2 + 1})
      for (const bool complete : {false, true}) {
        if (left_out(device(), 3)) continue;
        const Tensor a = more_kinds(m, n, dtype), x = here(a);
        const auto f = qr(there(a), complete);
        const Tensor q = here(f.q), r = here(f.r);
        expect_below("q·r - a", matmul(q, of_size_one(r, x)) - of_size_one(x, x), {of_size_one(x, x)}, dtype, x);
        expect_below("qᵀ·q - 1", matmul(q.mT(), q) - unit(q.size(-1)), {}, dtype);
        EXPECT_EQ(max(abs(tril(r, -1))).item<double>(), 0);
      }
  });
}
TEST_P(SmallMatrices, EighGivesTheMatrices) {
  for_each_size(fewer_sizes(), [&](DType dtype, std::int64_t n) {
    const Tensor whole = more_kinds(n, n, dtype), a = tril(whole) + tril(whole, -1).mT(), x = here(a);
    const Tensor other = triu(full({n, n}, 7., {.dtype = dtype, .device = cpu()}), 1);
    const auto f = eigh(there(tril(a) + other));  // the upper triangle is not read
    const Tensor v = here(f.eigenvectors), w = here(f.eigenvalues), one = of_size_one(x, x);
    const Tensor wide = of_size_one(w.unsqueeze(-2), x);
    expect_below("v·w·vᵀ - a", matmul(v * wide, v.mT()) - one, {one}, dtype, x);
    expect_below("vᵀ·v - 1", matmul(v.mT(), v) - unit(n), {}, dtype);
    EXPECT_EQ(max(abs(sort(w).values - w)).item<double>(), 0) << "not ascending";
    expect_below("alone", of_size_one(here(eigvalsh(there(a))).unsqueeze(-2), x) - wide, {one}, dtype, x);
    const Tensor one_by_one = eigvalsh(one.to(c128)).unsqueeze(-2);
    expect_below("as LAPACK's", one_by_one - wide, {one}, dtype, x);
  });
}
TEST_P(SmallMatrices, SvdGivesTheMatrices) {
  for_each_size(fewer_sizes(), [&](DType dtype, std::int64_t n) {
    for (const std::int64_t m : {n, n + 3, n / 2 + 1})
      for (const bool all : {false, true}) {
        if (left_out(device(), 4)) continue;
        const Tensor a = more_kinds(m, n, dtype), x = here(a), one = of_size_one(x, x);
        const auto f = svd(there(a), all);
        const Tensor u = here(f.u), vh = here(f.vh), s = of_size_one(here(f.s).unsqueeze(-2), x);
        const std::int64_t k = std::min(m, n);
        expect_below("u·s·vh - a", matmul(u.slice(-1, 0, k) * s, vh.slice(-2, 0, k)) - one, {one}, dtype, x);
        expect_below("uᵀ·u - 1", matmul(u.mT(), u) - unit(u.size(-1)), {}, dtype);
        expect_below("vh·vhᵀ - 1", matmul(vh, vh.mT()) - unit(vh.size(-2)), {}, dtype);
        EXPECT_EQ(max(abs(sort(s, -1, true).values - s)).item<double>(), 0) << "not descending";
        expect_below("alone", of_size_one(here(svdvals(there(a))).unsqueeze(-2), x) - s, {one}, dtype, x);
        expect_below("as LAPACK's", svdvals(one.to(c128)).unsqueeze(-2) - s, {one}, dtype, x);
      }
  });
}
/// In any layout, and bit by bit whatever the neighbours.
TEST_P(SmallMatrices, SpectraOfAnyLayout) {
  using Size = std::pair<std::int64_t, std::int64_t>;
  std::vector<Size> sizes{{3, 3}, {4, 7}};  // a GPU has a kernel for each layout
  if (device() == cpu() || full_test()) sizes.insert(sizes.end(), {{5, 5}, {7, 4}, {20, 20}, {32, 18}});
  const auto same = [](const Tensor& x, const Tensor& y) {
    return x.to(cpu()).to_vector<float>() == y.to(cpu()).to_vector<float>();
  };
  for (const auto& [m, n] : sizes) {
    SCOPED_TRACE(std::to_string(m) + "x" + std::to_string(n));
    const Tensor a = there(matrices_of_kinds(35, m, n, f32, false));
    const auto s = svd(a);
    const auto q = qr(a);
    const Tensor layouts[] = {a.mT().clone().mT(), strided(a), a.permute({1, 2, 0}).clone().permute({2, 0, 1}),
                              a.reshape({5, 7, m, n}).transpose(0, 1).clone().transpose(0, 1).reshape({35, m, n}),
                              flip(flip(a, {0}).clone(), {0})};
    for (const Tensor& other : layouts) {
      EXPECT_TRUE(same(svd(other).u, s.u) && same(svd(other).vh, s.vh) && same(svd(other).s, s.s));
      EXPECT_TRUE(same(qr(other).q, q.q) && same(qr(other).r, q.r));
      if (m == n) {
        EXPECT_TRUE(same(eigh(other).eigenvectors, eigh(a).eigenvectors));
      }
    }
    const Tensor back = flip(svd(flip(a, {0})).u, {0});
    EXPECT_TRUE(same(back, s.u));
    const auto repeated = svd(a.slice(0, 0, 1).broadcast_to({16, m, n}));
    EXPECT_TRUE(same(repeated.u.slice(0, 11, 12), s.u.slice(0, 0, 1)));
  }
  EXPECT_EQ(svd(there(zeros({0, 3, 2}))).u.shape(), (Shape{0, 3, 3}));
  EXPECT_EQ(eigh(there(zeros({2, 0, 0}))).eigenvalues.shape(), (Shape{2, 0}));
  EXPECT_EQ(qr(there(zeros({2, 3, 0}))).q.shape(), (Shape{2, 3, 0}));
}
TEST_P(SmallMatrices, SpectraNameWhatFailed) {
  for (const std::int64_t n : {2, 4, 7, 32}) {
    if (in_software(device()) && n % 2 == 0 && n != 4) continue;
    std::vector<float> values(static_cast<std::size_t>(21 * n * n), 1.f);
    values[static_cast<std::size_t>(18 * n * n + n)] = std::numeric_limits<float>::quiet_NaN();
    values[static_cast<std::size_t>(20 * n * n)] = std::numeric_limits<float>::infinity();
    const Tensor a = tensor(values, {21, n, n}, device());
    expect_error(ErrorKind::linalg, {"eigh", "matrix 18 of the batch", "not finite"}, [&] { eigh(a); });
    expect_error(ErrorKind::linalg, {"svd", "matrix 18 of the batch", "not finite"}, [&] { svd(a); });
    expect_error(ErrorKind::linalg, {"svdvals", "matrix 1 of the batch"}, [&] { svdvals(a.slice(0, 19, 21)); });
    EXPECT_EQ(eigvalsh(a.slice(0, 0, 18)).size(0), 18);
  }
}

}  // namespace
}  // namespace tern::test
