// data_ptr: the elements where they lie, for other libraries.
#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class Pointers : public EveryDevice {};
TERN_EVERY_DEVICE(Pointers);

TEST_P(Pointers, PointersToTheElements) {
  Tensor x = counted({2, 3});
  if (device() != cpu()) {
    expect_error(ErrorKind::device, {"data_ptr", device().to_string(), ".to(cpu())"}, [&] { x.data_ptr<float>(); });
    return;
  }
  float* const elements = x.data_ptr<float>();
  elements[4] = 40;
  expect_values(x, {2, 3}, {0, 1, 2, 3, 40, 5});
  EXPECT_EQ(x[1].data_ptr<float>(), elements + 3);
  const Tensor same = x;
  static_assert(std::is_same_v<decltype(same.data_ptr<float>()), const float*>);
  static_assert(std::is_same_v<decltype(x.data_ptr<const float>()), const float*>);
  EXPECT_EQ(same.data_ptr<float>()[4], 40);
  EXPECT_EQ(Var(x).data_ptr<float>(), elements);
  expect_error(ErrorKind::dtype, {"data_ptr", "f32[2, 3]", "f64", ".to(f64)"}, [&] { x.data_ptr<double>(); });
  expect_error(ErrorKind::shape, {"data_ptr", "contiguous()"}, [&] { x.transpose(0, 1).data_ptr<float>(); });
  expect_error(ErrorKind::shape, {"data_ptr", "contiguous()"}, [&] { x.slice(1, {}, {}, -1).data_ptr<const float>(); });
  expect_error(ErrorKind::shape, {"data_ptr"}, [] { Tensor().data_ptr<float>(); });
  expect_error(ErrorKind::unsupported, {"data_ptr"}, [&] { capture(cpu(), [&] { (x + 1).data_ptr<float>(); }); });
  EXPECT_EQ(zeros({0}).data_ptr<float>(), zeros({0}).data_ptr<float>());
}
/// What Eigen's Map is given: a pointer and sizes, column by column.
struct ColumnMap {
  double* data;
  std::int64_t rows, columns;
  double& operator()(std::int64_t r, std::int64_t c) const { return data[c * rows + r]; }
};
TEST_P(Pointers, PointersServeMapsOfOtherLibraries) {
  if (device() != cpu()) return;
  Tensor t = arange(0, 12, 1, f64).reshape({2, 2, 3});
  Tensor part = t[1];  // [2, 3] row by row is [3, 2] column by column
  const ColumnMap map{part.data_ptr<double>(), 3, 2};
  EXPECT_EQ(map(2, 0), 8);
  EXPECT_EQ(map(0, 1), 9);
  map(1, 1) = -1;
  part *= 2;
  EXPECT_EQ(map(1, 1), -2);
  expect_values(t, {2, 2, 3}, {0, 1, 2, 3, 4, 5, 12, 14, 16, 18, -2, 22});
}
TEST_P(Pointers, PointersIntoRecordedMemoryWaitForAReplay) {
  if (device() != cpu()) return;
  const Tensor x = counted({3});
  Tensor y;
  const Graph g = capture(cpu(), [&] { y = x + 1; });
  expect_error(ErrorKind::unsupported, {"data_ptr"}, [&] { y.data_ptr<float>(); });
  expect_error(ErrorKind::unsupported, {"data_ptr"}, [&] { y.data_ptr<const float>(); });
  g.replay();
  EXPECT_EQ(y.data_ptr<const float>()[2], 3);
}
TEST_P(Pointers, PointersToWriteCountAsWrites) {
  if (device() != cpu()) return;
  const Var x(counted({3}));
  Tensor value = x.value();
  const Var y = sum(square(x));
  value.data_ptr<const float>();
  EXPECT_NO_THROW(backward(y, {.keep_graph = true}));
  value.data_ptr<float>()[0] = 7;
  expect_error(ErrorKind::autograd, {}, [&] { backward(y); });
}

}  // namespace
}  // namespace tern::test
