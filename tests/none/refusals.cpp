// That what refuses wrong operands in words (tern/refusals.hpp) takes no other call: compiling this is the test.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <span>
#include <string>
#include <vector>

#include "tern/tern.hpp"

// Functions of a program under names of tern's, seen where tern's are.
namespace program {

struct Meters {
  double value;
  operator double() const { return value; }
};
int median(std::span<const double>) { return 1; }
int log(const std::string&) { return 2; }
template <class T> int outer(const std::vector<T>&, const std::vector<T>&) { return 3; }
int inner(std::vector<double>, std::vector<double>) { return 4; }
template <class C> int count_nonzero(const C&) { return 5; }
int allclose(const std::vector<double>&, std::span<const double>, double = 0) { return 6; }
template <class T> int cross(T, double) { return 7; }
int repeat(const std::string&, int) { return 8; }
template <class T> int backward(const T&) { return 9; }

}  // namespace program

namespace refusals {

using namespace program;  // NOLINT
using namespace tern;     // NOLINT

TEST(Refusals, LeaveNumbersToTheStandardLibrary) {
  const int two = 2;
  const float half = 0.5f;
  EXPECT_EQ(exp(0), 1);
  EXPECT_EQ(pow(two, 3), 8);
  EXPECT_EQ(std::abs(sqrt(half) * sqrt(half) - half) < 1e-6, true);
  EXPECT_EQ(abs(-3), 3);
  EXPECT_EQ(remainder(7, two), -1);
  EXPECT_EQ(rint(2.5f), 2);
  EXPECT_EQ(floor(Meters{1.5}), 1);
  EXPECT_EQ(real(std::complex<double>(3, 4)), 3);
  EXPECT_EQ(norm(std::complex<double>(3, 4)), 25);
  EXPECT_EQ(j0(0), 1);
  EXPECT_FALSE(std::isnan(lgamma(1.0f)));
  EXPECT_EQ(nextafter(1.0, 1.0), 1);
}
TEST(Refusals, LeaveTheCallsOfOtherFunctions) {
  using namespace std;  // NOLINT
  const vector<double> v{1, 2};
  EXPECT_EQ(median(v), 1);
  EXPECT_EQ(log("text"), 2);
  EXPECT_EQ(outer(v, v), 3);
  EXPECT_EQ(inner(v, v), 4);
  EXPECT_EQ(count_nonzero(v), 5);
  EXPECT_EQ(allclose(v, v), 6);
  EXPECT_EQ(cross(ones({2}), 1), 7);
  EXPECT_EQ(repeat("x", 3), 8);
  EXPECT_EQ(backward(ones({2})), 9);
  EXPECT_EQ(max({1, 2}), 2);
  EXPECT_EQ(max(1, 2), 2);
  EXPECT_EQ(min(v[0], v[1]), 1);
}
TEST(Refusals, LeaveTheCallsOfOperations) {
  const Tensor x = ones({2, 2});
  const Var y = parameter(x);
  EXPECT_EQ(stack({x}).dim(), 3);
  EXPECT_EQ(stack({y, y}, -1).dim(), 3);
  EXPECT_EQ(stack(std::vector<Tensor>{x, x}).dim(), 3);
  EXPECT_EQ(cat({x, x}).size(0), 4);
  EXPECT_EQ(meshgrid({x[0], x[1]}).size(), 2u);
  EXPECT_EQ(broadcast_arrays(std::vector<Var>{y, y}).size(), 2u);
  EXPECT_EQ(einsum("ij,jk->ik", x, y).dim(), 2);
  EXPECT_EQ(einsum(std::string("ij->"), std::vector<Tensor>{x}).dim(), 0);
  EXPECT_EQ(linear(x, y, {}).dim(), 2);
  EXPECT_EQ(quantile(x, 1).dim(), 0);
  EXPECT_EQ(quantile(y, 0.5f, {0}).dim(), 1);
  EXPECT_EQ(repeat(x, 2, 0).size(0), 4);
  EXPECT_EQ(trapezoid(x, 2).dim(), 1);
  EXPECT_EQ(histogram(x, 4, {{0, 1}}).counts.numel(), 4);
  EXPECT_EQ(linalg::matrix_norm(x, "fro").dim(), 0);
  EXPECT_EQ(linalg::vector_norm(x, 1).dim(), 0);
  EXPECT_EQ(fft::fftn(x, {}, {{0}}).dim(), 2);
  EXPECT_EQ(index_put(x, {0, Slice()}, x[1]).dim(), 2);
  EXPECT_EQ(x(std::size_t{0}, Slice()).dim(), 1);
  EXPECT_EQ(op::pow(2, x).dim(), 2);
  EXPECT_EQ(power(x, 2).dim(), 2);
  EXPECT_EQ(polar(x, 0.5).dtype(), c64);
  EXPECT_EQ(backward(sum(y), {.keep_graph = true}).size(), 1u);
  EXPECT_TRUE(allclose(x, y, 1e-3));
}

}  // namespace refusals
