// Matrices beyond those that one workgroup holds: what is done by blocks on GPUs, on both sides of a block's size, in
// every layout; what failed, by the number of its minor or pivot.
#include <limits>

#include "every_device.hpp"
#include "every_device/complex/complex_numbers.hpp"
#include "every_device/linalg/matrices.hpp"

namespace tern::test {
namespace {

using namespace linalg;

class LargeMatrices : public EveryDevice {
 protected:
  std::vector<DType> dtypes() const {
    if (device().to_string().starts_with("webgpu")) return {f32};
    return {f32, f64};
  }
  Tensor there(const Tensor& x) const { return x.to(device()); }
  static Tensor here(const Tensor& x) { return x.to(cpu()).to(f64); }
  /// Every element of x is below 10·n·eps times the product of the others' norms.
  static void expect_below(const char* what, const Tensor& x, const std::vector<Tensor>& norms, DType dtype) {
    Tensor size = ones({}, {.dtype = f64, .device = cpu()});
    for (const Tensor& t : norms) size = size * matrix_norm(t);
    const auto n = static_cast<double>(std::max(x.size(-1), x.size(-2)));
    const std::vector<double> worst = (max(abs(x), {-2, -1}) / size).to_vector<double>();
    for (std::size_t l = 0; l < worst.size(); ++l)
      EXPECT_LE(worst[l], 10 * n * epsilon_of(dtype)) << what << ", matrix " << l;  // NaN fails
  }
  static Tensor definite(const Tensor& x) {
    const Tensor wide = x.to(f64);
    return (matmul(wide, wide.mT()) + unit(x.size(-1))).to(x.dtype());
  }
};
TERN_EVERY_DEVICE(LargeMatrices);

TEST_P(LargeMatrices, FactorsGiveTheMatrices) {
  using Size = std::pair<std::int64_t, std::int64_t>;
  const std::vector<Size> every{{33, 33}, {64, 64}, {65, 65}, {100, 100}, {100, 40}, {40, 100}, {300, 300}},
      few{{65, 65}, {100, 40}};
  for (const DType dtype : dtypes())
    for (const auto& [m, n] : in_software(device()) ? few : every) {
      SCOPED_TRACE(std::to_string(m) + "x" + std::to_string(n) + " " + std::string(to_string(dtype)));
      const Tensor a = noise_matrices(2, m, n, dtype), x = here(a);
      const auto f = lu(there(a));
      expect_below("p·l·u", matmul(here(f.p), matmul(here(f.l), here(f.u))) - x, {x}, dtype);
      EXPECT_LE(max(abs(here(f.l))).item<double>(), 1 + 1e-6) << "pivots are not the largest";
      for (const bool complete : {false, true}) {
        const auto g = qr(there(a), complete);
        const Tensor q = here(g.q), r = here(g.r);
        expect_below("q·r", matmul(q, r) - x, {x}, dtype);
        expect_below("qᵀ·q", matmul(q.mT(), q) - unit(q.size(-1)), {}, dtype);
        EXPECT_EQ(max(abs(tril(r, -1))).item<double>(), 0);
      }
      if (m != n) continue;
      const Tensor s = definite(a), exact = here(s);
      const Tensor l = here(cholesky(there(s))), u = here(cholesky(there(s), true));
      expect_below("l·lᵀ", matmul(l, l.mT()) - exact, {exact}, dtype);
      expect_below("uᵀ·u", matmul(u.mT(), u) - exact, {exact}, dtype);
      EXPECT_EQ(max(abs(triu(l, 1))).item<double>(), 0);
      const Tensor above = triu(ones({n, n}, {.dtype = f32, .device = cpu()}), 1) == 1;  // which is not read
      const Tensor other = where(above, std::numeric_limits<float>::quiet_NaN(), s);
      expect_below("of the lower triangle", here(cholesky(there(other))) - l, {l}, dtype);
    }
}

TEST_P(LargeMatrices, SolutionsSolve) {
  for (const DType dtype : dtypes())
    for (const std::int64_t n : {33, 100}) {
      if (in_software(device()) && n == 33) continue;
      SCOPED_TRACE(std::to_string(n) + " " + std::string(to_string(dtype)));
      const Tensor a = noise_matrices(2, n, n, dtype), x = here(a), at = there(a);
      const auto f = lu_factor(at);
      const Tensor t = (x + unit(n) * static_cast<double>(n)).to(dtype), tt = there(t), exact = here(t);
      for (const std::int64_t columns : {1, 70}) {
        if (in_software(device()) && columns == 1) continue;
        const Tensor b = noise_matrices(2, n, columns, dtype), wanted = here(b), bt = there(b);
        const Tensor y = here(solve(at, bt)), z = here(lu_solve(f.lu, f.pivots, bt));
        expect_below("a·x - b", matmul(x, y) - wanted, {x, y}, dtype);
        expect_below("by factors", matmul(x, z) - wanted, {x, z}, dtype);
        for (const bool upper : {false, true}) {
          const Tensor half = upper ? triu(exact) : tril(exact);
          const Tensor left = here(solve_triangular(tt, bt, upper));
          expect_below("a triangle", matmul(half, left) - wanted, {half, left}, dtype);
          const Tensor right = here(solve_triangular(tt, there(b.mT()), upper, false));
          expect_below("from the right", matmul(right, half) - wanted.mT(), {half, right}, dtype);
          const Tensor small = (exact / static_cast<double>(n)).to(dtype);
          const Tensor one = here(small), ones_on = (upper ? triu(one, 1) : tril(one, -1)) + unit(n);
          const Tensor of_ones = here(solve_triangular(there(small), bt, upper, true, true));
          expect_below("of ones", matmul(ones_on, of_ones) - wanted, {ones_on, of_ones}, dtype);
        }
        const Tensor s = definite(a), c = here(cholesky_solve(bt, cholesky(there(s))));
        expect_below("by Cholesky", matmul(here(s), c) - wanted, {here(s), c}, dtype);
      }
      const Tensor inverse = here(inv(at));
      expect_below("a·a⁻¹", matmul(x, inverse) - unit(n), {x, inverse}, dtype);
      const Var v(at);  // with the factors' transpose
      const Tensor right = noise_matrices(2, n, 3, dtype), g = here(backward(sum(solve(v, there(right))))[v]);
      const Tensor w = solve(x.mT(), ones({2, n, 3}, {.dtype = f64, .device = cpu()}));
      const Tensor want = -matmul(w, solve(x, here(right)).mT());
      const double condition = max(matrix_norm(x) * matrix_norm(inverse)).item<double>();
      EXPECT_LE(max(abs(g - want)).item<double>(),
                10 * epsilon_of(dtype) * static_cast<double>(n) * condition * max(matrix_norm(want)).item<double>());
      const auto logs = slogdet(at);
      const Tensor logarithm = slogdet(x).logabsdet, known = here(logs.logabsdet);
      EXPECT_LE(max(abs(known - logarithm)).item<double>(), 100 * static_cast<double>(n) * epsilon_of(dtype));
      EXPECT_EQ(here(logs.sign).to_vector<double>(), slogdet(x).sign.to_vector<double>());
    }
}

TEST_P(LargeMatrices, AnyLayout) {
  const std::int64_t n = 37, count = 3;
  const Tensor a = noise_matrices(count, n, n, f32), b = noise_matrices(count, n, 2, f32), s = definite(a);
  const Tensor at = there(a), bt = there(b), st = there(s);
  const auto same = [&](const char* what, const Tensor& got, const Tensor& want) {
    const double size = max(abs(want)).item<double>();
    EXPECT_LE(max(abs(got - want)).item<double>(), 1e-4 * size) << what;
  };
  const auto layouts = [](const Tensor& x) {
    std::vector<Tensor> all{x.mT().clone().mT(), flip(flip(x, {0}).clone(), {0})};
    if (!in_software(x.device()))
      all.insert(all.end(), {strided(x), x.permute({1, 2, 0}).clone().permute({2, 0, 1})});
    return all;
  };
  const Tensor factor = cholesky(st), x = solve(at, bt), q = qr(at).q, y = solve_triangular(st, bt, true);
  for (const Tensor& other : layouts(st)) {
    same("cholesky", cholesky(other), factor);
    for (const Tensor& right : {strided(bt), bt, bt.mT().clone().mT()}) {
      same("a triangle", solve_triangular(other, right, true), y);
      if (in_software(device())) break;
    }
  }
  for (const Tensor& other : layouts(at)) same("solve", solve(other, strided(bt)), x), same("qr", qr(other).q, q);
  const Tensor one = at.slice(0, 1, 2), many = one.broadcast_to({count, n, n});
  const Tensor of_one = here(solve(many, bt)), matrix = here(one);
  expect_below("one for all", matmul(matrix, of_one) - here(b), {matrix, of_one}, f32);
  same("lu, one for all", lu_factor(many).lu, lu_factor(one).lu.broadcast_to({count, n, n}));
  same("r, one for all", qr(many).r, qr(one).r.broadcast_to({count, n, n}));
  const Tensor all_equal = there(ones({1, 1, 1})).broadcast_to({count, n, n});  // of one element
  same("a triangle of ones", solve_triangular(all_equal, bt, false), solve_triangular(all_equal.clone(), bt, false));
  EXPECT_EQ(inv(there(zeros({0, n, n}))).shape(), (Shape{0, n, n}));
  EXPECT_EQ(cholesky(there(zeros({3, 0, n, n}))).shape(), (Shape{3, 0, n, n}));
  EXPECT_EQ(qr(there(zeros({0, n, n}))).q.shape(), (Shape{0, n, n}));
  EXPECT_EQ(solve(st, there(zeros({count, n, 0}))).shape(), (Shape{count, n, 0}));
  const Tensor grid = stack(std::vector<Tensor>{st, st * 2}, 1);  // batches of two axes, exchanged
  same("two axes", cholesky(grid.transpose(0, 1).clone().transpose(0, 1)), cholesky(grid));
}

TEST_P(LargeMatrices, NameWhatFailed) {
  const std::int64_t n = 100, count = 4;
  const auto info = [](const Tensor& t) { return t.to(cpu()).to_vector<std::int32_t>(); };
  const Tensor x = noise_matrices(count, n, n, f32);
  Tensor s = definite(x).clone(), a = x.clone();
  for (const Tensor& t : {s, a}) {
    assign(t[1].slice(0, 66, 67), 0), assign(t[1].slice(1, 66, 67), 0);
    assign(t[3].slice(0, 99, 100).slice(1, 2, 3), std::numeric_limits<float>::quiet_NaN());
  }
  // A row and a column of zeros: the others' pivots are found before its own, or with it last.
  const auto singular = info(lu_factor_ex(a).info);
  const std::vector<std::int32_t> found = info(lu_factor_ex(there(a)).info);
  EXPECT_EQ(found, (std::vector<std::int32_t>{0, singular[1], 0, -1}));
  EXPECT_EQ(info(cholesky_ex(there(s)).info), (std::vector<std::int32_t>{0, 67, 0, -1}));
  const Tensor bad_s = there(s), bad_a = there(a), last = bad_s.slice(0, 2, 4), alone = bad_s[1];
  const std::string pivot = "pivot " + std::to_string(singular[1]);
  for (int twice = 0; twice < 2; ++twice) {  // the second time as it was prepared
    expect_error(ErrorKind::linalg, {"cholesky", "matrix 1 of the batch", "order 67"}, [&] { cholesky(bad_s); });
    expect_error(ErrorKind::linalg, {"cholesky", "matrix 1 of the batch", "not finite"}, [&] { cholesky(last); });
    expect_error(ErrorKind::linalg, {"cholesky", "the matrix", "order 67"}, [&] { cholesky(alone); });
    expect_error(ErrorKind::linalg, {"inv", "matrix 1 of the batch", pivot}, [&] { inv(bad_a); });
    expect_error(ErrorKind::linalg, {"solve", "matrix 1 of the batch", pivot}, [&] { solve(bad_a, ones({n})); });
  }
  synchronize(device());  // nothing is left to be told
  EXPECT_TRUE(std::isnan(here(det(bad_a)).to_vector<double>()[3]));
  EXPECT_EQ(here(det(bad_a)).to_vector<double>()[1], 0);
}

/// Of integer matrices with two equal rows elimination leaves exactly 0.
TEST_P(LargeMatrices, EqualRowsAreSingular) {
  const std::int64_t n = 40;
  std::vector<float> values;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) values.push_back(i % 39 == j ? 1.f : 0.f);
  const Tensor a = tensor(values, {n, n}, device());
  EXPECT_EQ(lu_factor_ex(a).info.to(cpu()).item<std::int32_t>(), 40);
  const Tensor both = lu_factor_ex(stack(std::vector<Tensor>{a, a}, 0)).info.to(cpu());  // by blocks
  EXPECT_EQ(both.to_vector<std::int32_t>(), (std::vector<std::int32_t>{40, 40}));
}

/// Columns that are zero, that depend on others, and that are large and small.
TEST_P(LargeMatrices, QrOfAnyColumns) {
  for (const DType dtype : dtypes()) {
    const std::int64_t m = 70, n = 50;
    Tensor x = noise_matrices(1, m, n, f64)[0];
    for (const std::int64_t j : {0, 33, 40}) assign(x.slice(1, j, j + 1), 0);
    assign(x.slice(1, 35, 36), x.slice(1, 2, 3) * 3), assign(x.slice(1, 36, 37), x.slice(1, 34, 35) * 1e-20);
    assign(x.slice(1, 5, 6), x.slice(1, 6, 7) * 1e18);
    const Tensor a = x.to(dtype), exact = here(a), size = max(abs(exact), {0}, true);
    const auto f = qr(there(a));
    const Tensor q = here(f.q), by = where(size == 0, 1, size);
    expect_below("q·r, each column", (matmul(q, here(f.r)) - exact) / by, {exact / by}, dtype);
    expect_below("qᵀ·q", matmul(q.mT(), q) - unit(n), {}, dtype);
  }
}

TEST_P(LargeMatrices, ReportsSayHow) {
  if (!device().to_string().starts_with("webgpu")) return;
  const Tensor a = there(definite(noise_matrices(2, 40, 40, f32)));
  EXPECT_NE(explain([&] { lu_factor(a[0]); }).find("copied to the CPU"), std::string::npos);  // one is quicker there
  for (const std::string& text : {explain([&] { cholesky(a); }), explain([&] { lu_factor(a); }),
                                  explain([&] { solve_triangular(a, a, true); }), explain([&] { qr(a); })}) {
    EXPECT_NE(text.find("blocks of 32 and products"), text.npos) << text;
    EXPECT_EQ(text.find(" workgroups of "), text.npos) << text;  // of its products
  }
}

}  // namespace
}  // namespace tern::test
