// What a stream shows of tensors, shapes, devices and dtypes, and what is read for it.
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <sstream>

#include "every_device/reference.hpp"
#include "tern/trace.hpp"

namespace tern::test {
namespace {

class Printing : public EveryDevice {};
TERN_EVERY_DEVICE(Printing);

template <class... T> std::string streamed(const T&... values) {
  std::ostringstream stream;
  (stream << ... << values);
  return stream.str();
}

TEST_P(Printing, PrecisionOfTheStream) {
  const Tensor x = tensor({1.0 / 3, 2.0, -100.0 / 7});
  EXPECT_EQ(streamed(x), "[0.333333,       2., -14.2857]");
  EXPECT_EQ(streamed(std::setprecision(3), x), "[0.333,    2., -14.3]");
  EXPECT_EQ(streamed(std::setprecision(9), x), "[0.333333343,          2., -14.2857141]");
  EXPECT_EQ(streamed(std::setprecision(2), x.to(f16)), "[0.33,   2., -14.]");
  EXPECT_EQ(streamed(std::fixed, std::setprecision(1), x), "[  0.3,   2.0, -14.3]");
  EXPECT_EQ(streamed(std::fixed, x), "[  0.333333,   2.000000, -14.285714]");
  EXPECT_EQ(streamed(std::scientific, std::setprecision(2), x), "[ 3.33e-01,  2.00e+00, -1.43e+01]");
  EXPECT_EQ(streamed(std::setw(30), x), streamed(x));
  EXPECT_EQ(streamed(std::setprecision(3), Var(x)), streamed(std::setprecision(3), x));
  EXPECT_EQ(streamed(std::setprecision(3), tensor({123456})), "[123456]");
}
TEST_P(Printing, DoublesToTheLastDigit) {
  const Tensor x = tensor(std::vector<double>{0.1, 1.0 / 3});
  EXPECT_EQ(streamed(x), "[       0.1, 0.33333333]");
  EXPECT_EQ(streamed(std::setprecision(17), x), "[0.10000000000000001, 0.33333333333333331]");
  EXPECT_EQ(streamed(std::setprecision(15), x[1]), "0.333333333333333");
}
TEST_P(Printing, NanWithoutItsSign) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const DType dtype : {f16, bf16, f32}) {
    const Tensor x = tensor({nan, -nan, std::copysign(nan, -1.0)}).to(dtype);
    EXPECT_EQ(streamed(x), "[nan, nan, nan]") << dtype;
    EXPECT_EQ(streamed(std::fixed, std::setprecision(2), x), "[nan, nan, nan]") << dtype;
  }
  EXPECT_EQ(streamed(mean(zeros(0))), "nan");
  EXPECT_EQ(streamed(tensor({-std::numeric_limits<double>::infinity()})), "[-inf]");
}
TEST_P(Printing, ShapesDevicesAndDtypes) {
  EXPECT_EQ(streamed(Shape{2, 3}, Shape{}, ones({2, 3}).strides(), Axes{-1}), "[2, 3][][3, 1][-1]");
  EXPECT_EQ(streamed(cpu(), ' ', cuda(1), ' ', webgpu()), "cpu cuda:1 webgpu:0");
  EXPECT_EQ(streamed(f32, bf16, boolean), "f32bf16boolean");
  EXPECT_EQ(to_string(ones({2, 3}).strides()), "[3, 1]");
}
/// Abridged tensors as NumPy shows them: three entries at each end.
TEST_P(Printing, EdgesOfLargeTensors) {
  EXPECT_EQ(streamed(arange(0, 2000)), "[   0,    1,    2, ..., 1997, 1998, 1999]");
  const Tensor x = arange(0, 7000, 1, f32).reshape({1000, 7});
  const std::string rows = streamed(x);
  EXPECT_EQ(rows.substr(0, rows.find('\n')), "[[   0.,    1.,    2., ...,    4.,    5.,    6.],");
  EXPECT_NE(rows.find("...,\n [6979., 6980., 6981., ..., 6983., 6984., 6985.]"), std::string::npos) << rows;
  EXPECT_EQ(streamed(x.slice(0, {}, {}, -1)[0]), "[6993., 6994., 6995., 6996., 6997., 6998., 6999.]");
  const std::string back = streamed(x.slice(0, {}, {}, -1).transpose(0, 1));
  EXPECT_EQ(back.substr(0, back.find('\n')), "[[6993., 6986., 6979., ...,   14.,    7.,    0.],") << back;
  EXPECT_EQ(streamed(zeros({0, 5000})), "[]");
}
/// Of more axes than a view of their edges may have.
TEST_P(Printing, EdgesOfManyAxes) {
  const Tensor x = arange(0, 7 * 7 * 7 * 7 * 7, 1, f32).reshape({7, 7, 7, 7, 7}),
               y = x.reshape({1, 1, 1, 7, 7, 7, 7, 7});
  const auto dense = [](std::string t) {
    std::erase_if(t, [](char c) { return c == ' ' || c == '\n'; });
    return t;
  };
  const std::string all = dense(streamed(x));
  EXPECT_EQ(dense(streamed(y)), "[[[" + all + "]]]");
  EXPECT_TRUE(all.starts_with("[[[[[0.,1.,2.,...,4.,5.,6.],[7.,8.,9.,...")) << all;
  EXPECT_TRUE(all.ends_with("16804.,16805.,16806.]]]]]")) << all;
  EXPECT_EQ(std::count(all.begin(), all.end(), ','), 6 * (1 + 6 * (1 + 6 * (1 + 6 * (1 + 6)))));
}
TEST_P(Printing, ReadsOnlyWhatItShows) {
  const Tensor x = zeros({1000, 1000});
  for (const Tensor& t : {x, x.transpose(0, 1), x.slice(1, {}, {}, -1)}) {
    const TraceCounts before = trace_counts();
    EXPECT_FALSE(streamed(t).empty());
    EXPECT_LE(trace_counts().calls - before.calls, 1);
    EXPECT_LE(trace_counts().bytes_read - before.bytes_read, 6 * 6 * 4);
  }
}

}  // namespace
}  // namespace tern::test
