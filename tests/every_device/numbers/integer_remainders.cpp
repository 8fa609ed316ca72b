// fmod of integers: exact, at the ends of their range too.
#include <limits>

#include "every_device/reference.hpp"

namespace tern::test {
namespace {

/// C's remainder, of which % differs where signs do; by 0 it is 0, as % is.
TEST(RemaindersOfIntegers, HaveTheDividendsSign) {
  constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min(), most = -(least + 1);
  const std::vector<std::int32_t> some{least, least + 1, -7, -6, -1, 0, 1, 5, 6, 7, most - 1, most};
  std::vector<std::int32_t> a, b, want;
  for (const std::int32_t x : some)
    for (const std::int32_t y : some) a.push_back(x), b.push_back(y), want.push_back(y == 0 || y == -1 ? 0 : x % y);
  for (const Device device : present_devices()) {
    const Tensor x = tensor(a, device), y = tensor(b, device);
    EXPECT_EQ(fmod(x, y).to_vector<std::int32_t>(), want) << device.to_string();
    EXPECT_EQ(fmod(x, 4).to_vector<std::int32_t>()[0], 0);
    EXPECT_EQ(fmod(tensor({-7, 7}, device), 4).to_vector<std::int32_t>(), (std::vector<std::int32_t>{-3, 3}));
    EXPECT_EQ(fmod(9, tensor({-4, 4}, device)).to_vector<std::int32_t>(), (std::vector<std::int32_t>{1, 1}));
    EXPECT_EQ(doubles(fmod(tensor({-7, 7}, i8, device), tensor({3, 3}, i8, device))), (std::vector<double>{-1, 1}));
    EXPECT_EQ(doubles(fmod(tensor({200, 7}, u8, device), tensor({3, 0}, u8, device))), (std::vector<double>{2, 0}));
    EXPECT_EQ(fmod(tensor({4000000000u, 7u}, device), tensor({7u, 8u}, device)).to_vector<std::uint32_t>(),
              (std::vector<std::uint32_t>{4000000000u % 7, 7}));
    EXPECT_EQ(doubles(fmod(tensor({-7.5, 7.5}, device), 2)), (std::vector<double>{-1.5, 1.5}));  // floats as before
    EXPECT_EQ(doubles(fmod(tensor({-7, 7}, device), tensor({2.5, 2.5}, device))), (std::vector<double>{-2, 2}));
  }
}

}  // namespace
}  // namespace tern::test
