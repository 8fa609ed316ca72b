// Eigen's matrices as tensors, and tensors as Eigen's: tern/eigen.hpp, where Eigen is.
#ifdef TERN_TEST_EIGEN
#include <Eigen/Dense>
#include <complex>

#include "every_device/reference.hpp"
#include "tern/eigen.hpp"

namespace tern::test {
namespace {

class EigenMatrices : public EveryDevice {};
TERN_EVERY_DEVICE(EigenMatrices);

using enum ErrorKind;

Tensor counted(const Shape& s, DType dtype = f32) { return arange(0, s.numel(), 1, f32).to(dtype).reshape(s); }

TEST_P(EigenMatrices, AsTensors) {
  if (device() != cpu()) return;
  Eigen::MatrixXf m(2, 3);
  m << 0, 1, 2, 3, 4, 5;
  const Tensor copy = from_eigen(m);
  expect_values(copy, {2, 3}, {0, 1, 2, 3, 4, 5});
  EXPECT_TRUE(copy.is_contiguous());
  m(0, 0) = 9;
  expect_values(copy, {2, 3}, {0, 1, 2, 3, 4, 5});
  expect_values(from_eigen(m.transpose() * 2), {3, 2}, {18, 6, 2, 8, 4, 10});
  expect_values(from_eigen(m.row(1)), {3}, {3, 4, 5});
  expect_values(from_eigen(m.col(1)), {2}, {1, 4});
  expect_values(from_eigen(m.block(0, 1, 2, 2)), {2, 2}, {1, 2, 4, 5});
  expect_values(from_eigen(Eigen::Matrix<double, 3, 3, Eigen::RowMajor>::Identity()), {3, 3},
                {1, 0, 0, 0, 1, 0, 0, 0, 1});
  expect_values(from_eigen(Eigen::Array<int, 1, 4>(1, 2, 3, 4)), {4}, {1, 2, 3, 4});
  expect_values(from_eigen(Eigen::Vector2d(1, 2)), {2}, {1, 2});
  EXPECT_EQ(from_eigen((m.array() > 2).matrix()).dtype(), boolean);
  EXPECT_EQ(from_eigen(m.cast<Eigen::half>()).dtype(), f16);
  EXPECT_EQ(from_eigen(m.cast<Eigen::bfloat16>()).dtype(), bf16);
  expect_values(from_eigen(m.cast<Eigen::bfloat16>()).to(f32), {2, 3}, {9, 1, 2, 3, 4, 5});
  const Eigen::MatrixXcd z = m.cast<std::complex<double>>() * std::complex<double>(0, 1);
  const Tensor complex = from_eigen(z);
  EXPECT_EQ(complex.dtype(), c128);
  expect_values(imag(complex), {2, 3}, {9, 1, 2, 3, 4, 5});
  EXPECT_EQ(from_eigen(Eigen::MatrixXf(0, 3)).shape(), (Shape{0, 3}));
}
TEST_P(EigenMatrices, MovedIn) {
  if (device() != cpu()) return;
  Eigen::MatrixXd m = Eigen::MatrixXd::Random(3, 2);
  const Eigen::MatrixXd before = m;
  const double* const elements = m.data();
  Tensor t = from_eigen(std::move(m));
  EXPECT_EQ(t.strides(), (Strides{1, 3}));
  EXPECT_EQ(t.T().data_ptr<const double>(), elements);
  EXPECT_EQ(t(2, 1).item<double>(), before(2, 1));
  const Tensor view = t[2];
  t = {};
  EXPECT_EQ(view[0].item<double>(), before(2, 0));
}
TEST_P(EigenMatrices, ViewedInPlace) {
  if (device() != cpu()) return;
  Eigen::MatrixXf m = Eigen::MatrixXf::Zero(3, 4);
  view_eigen(m) += counted({3, 4});
  EXPECT_EQ(m(1, 2), 6);
  auto block = m.block(1, 1, 2, 2);
  view_eigen(block) *= 10;
  EXPECT_EQ(m(2, 2), 100);
  auto row = m.row(0);
  Tensor view = view_eigen(row);
  EXPECT_EQ(view.strides(), (Strides{3}));
  m(0, 3) = -1;
  expect_values(view, {4}, {0, 1, 2, -1});
  const Eigen::Map<const Eigen::MatrixXf, 0, Eigen::OuterStride<>> map(m.data(), 2, 2, Eigen::OuterStride<>(6));
  Tensor seen = view_eigen(map);
  expect_values(seen, {2, 2}, {0, 2, 4, 60});
  expect_error(ErrorKind::unsupported, {"constant memory"}, [&] { seen += 1; });
  auto owner = std::make_shared<Eigen::VectorXf>(Eigen::VectorXf::Ones(2));
  const std::weak_ptr<Eigen::VectorXf> kept = owner;
  Tensor held = view_eigen(*owner, owner);
  owner.reset();
  EXPECT_FALSE(kept.expired());
  held = {};
  EXPECT_TRUE(kept.expired());
}
TEST_P(EigenMatrices, OfTensors) {
  Tensor x = counted({2, 3});
  if (device() != cpu()) {
    expect_error(ErrorKind::device, {"as_eigen", ".to(cpu())"}, [&] { as_eigen<float>(x); });
    return;
  }
  auto m = as_eigen<float>(x);
  EXPECT_EQ(m.rows(), 2);
  EXPECT_EQ(m(1, 2), 5);
  m(0, 1) = 10;
  EXPECT_EQ(x(0, 1).item<float>(), 10);
  const Eigen::MatrixXf product = as_eigen<Eigen::MatrixXf>(x) * as_eigen<const float>(x.T());
  EXPECT_EQ(product(0, 0), 104);
  EXPECT_EQ(product(0, 1), 50);
  EXPECT_EQ(as_eigen<float>(x.slice(0, {}, {}, -1).slice(1, 0, {}, 2))(0, 1), 5);
  EXPECT_EQ(as_eigen<Eigen::VectorXf>(x[1])(2), 5);
  EXPECT_EQ(as_eigen<Eigen::RowVectorXf>(x[1]).cols(), 3);
  EXPECT_EQ(as_eigen<const float>(Var(x)[0]).rows(), 3);  // a column
  EXPECT_EQ((as_eigen<Eigen::Matrix<float, 2, 3>>(x).sum()), 24);
  EXPECT_EQ(as_eigen<Eigen::ArrayXXi>(counted({2, 2}, i32)).maxCoeff(), 3);
  EXPECT_EQ(as_eigen<const std::complex<float>>(counted({2, 2}, c64))(1, 1), std::complex<float>(3));
  EXPECT_EQ(static_cast<float>(as_eigen<const Eigen::half>(counted({2, 2}, f16))(1, 0)), 2);
  EXPECT_EQ(as_eigen<const float>(x.slice(1, 0, 1).broadcast_to({2, 4}))(1, 3), 3);
  EXPECT_EQ(as_eigen<float>(zeros({0, 3})).cols(), 3);
  as_eigen<float>(x) = Eigen::MatrixXf::Ones(2, 3);
  EXPECT_EQ(sum(x).item<float>(), 6);
}
TEST_P(EigenMatrices, ThatATensorIsNot) {
  if (device() != cpu()) return;
  const Tensor x = counted({2, 3});
  expect_error(dtype, {"as_eigen", "f32[2, 3]", "f64"}, [&] { as_eigen<double>(x); });
  expect_error(shape, {"as_eigen", "f32[1, 2, 3]"}, [&] { as_eigen<float>(x.unsqueeze(0)); });
  expect_error(shape, {"as_eigen", "f32[2, 3]", "3 rows"}, [&] { as_eigen<Eigen::Matrix3f>(x); });
  expect_error(shape, {"as_eigen"}, [&] { as_eigen<Eigen::VectorXf>(x); });
  expect_error(shape, {"broadcast"}, [&] { as_eigen<float>(x.slice(1, 0, 1).broadcast_to({2, 4})); });
  expect_error(shape, {"as_eigen"}, [] { as_eigen<float>(Tensor()); });
  const Var v(x);
  const Var y = sum(square(v));
  as_eigen<const float>(x);
  EXPECT_NO_THROW(backward(y, {.keep_graph = true}));
  as_eigen<float>(x);
  expect_error(ErrorKind::autograd, {}, [&] { backward(y); });
}

}  // namespace
}  // namespace tern::test
#endif
