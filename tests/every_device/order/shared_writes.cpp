// Writes at positions that lie in the memory that is written: x(x) += 1.
#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class SharedWrites : public EveryDevice {};
TERN_EVERY_DEVICE(SharedWrites);

TEST_P(SharedWrites, PositionsAreTheTensorItself) {
  Tensor x = tensor({1, 2, 0});
  x(x) += 1;
  expect_values(x, {3}, {2, 3, 1});
  x = tensor({1, 2, 0});
  assign(x(x), 1000000);
  expect_values(x, {3}, {1000000, 1000000, 1000000});
  x = tensor({2, 0, 1, 1});
  assign(x(x), x);
  expect_values(x, {4}, {0, 1, 2, 1});
  x = tensor({1, 0, 0, 1}).reshape({2, 2});
  assign(x(x), 1 << 30);
  expect_values(x, {2, 2}, {1 << 30, 1 << 30, 1 << 30, 1 << 30});
  expect_error(ErrorKind::index, {"1073741824"}, [&] { x(x) += 1; });
}
TEST_P(SharedWrites, PositionsAreAView) {
  Tensor x = tensor({1, 2, 0});
  x(x.slice(0, 0, 2)) += 1;
  expect_values(x, {3}, {1, 3, 1});
  x = tensor({1, 2, 0, 3});
  Tensor reversed = x.slice(0, {}, {}, -1);
  reversed(x) -= 10;  // of {3, 0, 2, 1} those at 1, 2, 0, 3
  expect_values(x, {4}, {-9, -8, -10, -7});
  x = tensor({1, 2, 0, 3}).reshape({2, 2});
  x(Slice(), x[0].slice(0, 0, 1)) *= 100;
  expect_values(x, {2, 2}, {1, 200, 0, 300});
  x = tensor({2, 1, 0});
  x(x[1].broadcast_to({3})) += 5;
  expect_values(x, {3}, {2, 6, 0});
  x = tensor({1, 2, 0});
  x(x, newaxis) += 1;
  expect_values(x, {3}, {2, 3, 1});
  x = tensor({1, 2, 0});
  assign(x(x.slice(0, 0, 2)), x.slice(0, 0, 2));
  expect_values(x, {3}, {1, 1, 2});
}
TEST_P(SharedWrites, CopiesAreWritten) {
  const Tensor x = tensor({1, 2, 0});
  expect_values(index_put(x, {x}, x), {3}, {0, 1, 2});
  expect_values(index_put(x, {x}, x, true), {3}, {1, 3, 2});
  expect_values(put_along_axis(x, x, x, 0), {3}, {0, 1, 2});
  expect_values(scatter_add(x, x, x), {3}, {1, 3, 2});
  expect_values(scatter_reduce(x, x, x, Reduce::multiply), {3}, {0, 2, 0});
  expect_values(scatter_reduce(x, x, x, Reduce::maximum), {3}, {1, 2, 2});
  expect_values(x, {3}, {1, 2, 0});
}
TEST_P(SharedWrites, AreReplayed) {
  Tensor x = tensor({1, 2, 0});
  const Graph g = capture(device(), [&] { assign(x(x), x + 1); });
  g.replay();
  expect_values(x, {3}, {1, 2, 3});
}

}  // namespace
}  // namespace tern::test
