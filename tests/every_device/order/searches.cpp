// searchsorted: of values in order and of others, which the CPU searches for in different ways.
#include <random>

#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class Searches : public EveryDevice {};
TERN_EVERY_DEVICE(Searches);

/// Whether a stands in front of b, NaN last.
bool in_front(double a, double b) { return a < b || (b != b && a == a); }

TEST_P(Searches, OfValuesInOrderAndOfOthers) {
  std::mt19937 random(1);
  const auto draw = [&](std::size_t count, bool floats) {
    std::vector<float> x(count);
    for (float& v : x) {
      v = static_cast<float>(static_cast<int>(random() % 101) - 50);
      if (floats && random() % 30 == 0) v = std::numeric_limits<float>::quiet_NaN();
    }
    return x;
  };
  for (int times = 0; times < (device() == cpu() ? 200 : 4); ++times) {
    const DType dtype = times % 3 == 0 && supports(device(), f64) ? f64 : times % 3 == 1 ? i32 : f32;
    std::vector<float> line = draw(1 + random() % 200, is_floating(dtype));
    std::vector<float> values = draw(1 + random() % 300, is_floating(dtype));
    std::ranges::sort(line, in_front);
    if (times % 4 != 3) std::ranges::sort(values, in_front);
    const Tensor sorted = tensor(line, cpu()).to(dtype).to(device()), x = tensor(values, cpu()).to(dtype).to(device());
    for (const Side side : {Side::left, Side::right}) {
      const std::vector<std::int32_t> got = searchsorted(sorted, x, side).to_vector<std::int32_t>();
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto place = side == Side::left ? std::ranges::lower_bound(line, values[i], in_front)
                                              : std::ranges::upper_bound(line, values[i], in_front);
        ASSERT_EQ(got[i], place - line.begin()) << to_string(dtype) << ' ' << values[i] << " among " << line.size();
      }
    }
  }
}

/// What must be in order is looked through where it can be read.
TEST_P(Searches, AmongWhatIsNotInOrder) {
  if (device() != cpu()) return;
  const Tensor x = tensor({0.5f, 2.5f});
  const std::vector<std::string> message{"must be in order", "3.0", "2.0", "at 1"};
  expect_error(ErrorKind::value, message, [&] { histogram(x, tensor({1.0f, 3.0f, 2.0f})); });
  expect_error(ErrorKind::value, message, [&] { histogram(x, tensor({1.0f, 3.0f, 2.0f}), false, x); });
  expect_error(ErrorKind::value, {"histogram"}, [&] { histogram(x, tensor({3.0f, 2.0f, 1.0f})); });
  expect_error(ErrorKind::value, {"digitize", "bins"}, [&] { digitize(x, tensor({1.0f, 3.0f, 2.0f})); });
  expect_error(ErrorKind::value, {"digitize"}, [&] { digitize(x, tensor({3, 1, 2})); });
  expect_error(ErrorKind::value, {"digitize"}, [&] { digitize(x, tensor({std::nanf(""), 1.0f, 2.0f})); });
  expect_values(digitize(x, tensor({3.0f, 2.0f, 2.0f, 1.0f})), {2}, {4, 1});
  expect_values(digitize(x, tensor({1.0f, 1.0f, 2.0f, std::nanf("")})), {2}, {0, 3});
  expect_values(digitize(x, zeros({0})), {2}, {0, 0});
  expect_values(histogram(x, tensor({0.0f, 2.5f, 2.5f})).counts, {2}, {1, 1});
}

}  // namespace
}  // namespace tern::test
