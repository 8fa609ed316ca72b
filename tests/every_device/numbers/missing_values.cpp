// Values that a dtype lacks: tensors are not made of them in silence.
#include <limits>

#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class MissingValues : public EveryDevice {};
TERN_EVERY_DEVICE(MissingValues);

TEST_P(MissingValues, ValuesThatIntegersLackAreErrors) {
  const auto refused = [](const char* value, const char* dtype, auto make) {
    expect_error(ErrorKind::dtype, {"tensor", value, dtype}, make);
  };
  refused("300", "u8", [] { tensor({300}, u8); });
  refused("-1", "u8", [] { tensor({0, -1}, u8); });
  refused("128", "i8", [] { tensor(std::vector<std::int64_t>{127, 128}, i8); });
  refused("2147483648", "i32", [] { tensor(std::vector<std::int64_t>{1LL << 31}, i32); });
  refused("256.", "u8", [] { tensor({255.9, 256.0}, u8); });
  refused("-1", "u32", [] { tensor({-1.0}, u32); });
  refused("nan", "i32", [] { tensor({std::numeric_limits<double>::quiet_NaN()}, i32); });
  refused("inf", "i32", [] { tensor({std::numeric_limits<double>::infinity()}, i32); });
  EXPECT_EQ(doubles(tensor({255.9, -0.9}, u8)), (std::vector<double>{255, 0})) << "fractions are cut";
  EXPECT_EQ(doubles(tensor({-128, 127}, i8)), (std::vector<double>{-128, 127}));
  EXPECT_EQ(doubles(tensor({-2147483648.9, 2147483647.9}, i32)), (std::vector<double>{-2147483648.0, 2147483647}));
  if (supports(device(), i64)) {
    refused("9223372036854775808", "i64", [] { tensor({0x1p63}, i64); });
    EXPECT_EQ(tensor({-0x1p63}, i64).item<std::int64_t>(), std::numeric_limits<std::int64_t>::min());
  }
}
TEST_P(MissingValues, NumbersThatFloatsLackAreErrors) {
  const double most_f16 = 65504, most_f32 = std::numeric_limits<float>::max();
  EXPECT_EQ(doubles(full({2}, 65519, f16)), std::vector<double>(2, most_f16)) << "it rounds down";
  expect_error(ErrorKind::dtype, {"full", "65520", "f16"}, [] { full({2}, 65520, f16); });
  expect_error(ErrorKind::dtype, {"full", "f32"}, [] { full({2}, -1e39); });
  expect_error(ErrorKind::dtype, {"full", "bf16"}, [&] { full({2}, most_f32, bf16); });
  expect_error(ErrorKind::dtype, {"arange", "65536", "f16"}, [] { arange(0, 65537, 32, {.dtype = f16}); });
  EXPECT_EQ(arange(0, 65505, 32, {.dtype = f16}).numel(), 2048);
  expect_error(ErrorKind::dtype, {"linspace", "f16"}, [] { linspace(0, 1e6, 3, {.dtype = f16}); });
  EXPECT_EQ(doubles(full({1}, std::numeric_limits<double>::infinity(), f16)),
            std::vector<double>(1, std::numeric_limits<double>::infinity()));
}

}  // namespace
}  // namespace tern::test
