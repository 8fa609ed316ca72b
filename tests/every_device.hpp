// Tests of what every device must do alike: each takes its device as a parameter.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "tern/tern.hpp"

namespace tern::test {

/// TERN_TEST_FULL=1: more points, and more combinations.
inline bool full_test() {
  const char* value = std::getenv("TERN_TEST_FULL");
  return value && *value && std::string(value) != "0";
}

/// TERN_TEST_FEW=1: a part of what takes long, which script/test asks for where everything takes six times as long,
/// with sanitizers.
inline bool few_test() { return std::getenv("TERN_TEST_FEW") != nullptr; }

/// TERN_TEST_OPERATION=softmax: tests of all operations try that one alone, with all combinations on every device.
inline const char* operation_asked_for() { return std::getenv("TERN_TEST_OPERATION"); }

/// Whether a device takes all combinations, though it compiles a kernel for each.
inline bool all_combinations() { return full_test() || (operation_asked_for() && !few_test()); }

/// Whether few combinations must do, since compiling a kernel may take a second: WebGPU, as it is in CI, in software.
inline bool in_software(Device device) {
  return device.kind() == DeviceKind::webgpu && !all_combinations();
}

/// Whether a test goes through this dtype where it goes through all floats: in software one of 16 bits, by the name of
/// the test, so that both have half of the tests.
inline bool takes(Device device, DType dtype) {
  if (!in_software(device) || (dtype != f16 && dtype != bf16)) return true;
  const testing::TestInfo* const test = testing::UnitTest::GetInstance()->current_test_info();
  std::size_t sum = 0;
  for (const char* c = test ? test->name() : ""; *c; ++c) sum += static_cast<unsigned char>(*c);
  return (sum % 2 == 0) == (dtype == f16);
}

/// In software, whether one of the combinations that a test goes through is left out: of those asked about in a test
/// the first is taken, and of the others about one in `of`, always the same. (10,000 kernels take half an hour to
/// compile there; script/test --full takes them all.)
inline bool left_out(Device device, unsigned of) {
  static const testing::TestInfo* asking = nullptr;
  static unsigned count = 0;
  if (!in_software(device)) return false;
  const testing::TestInfo* const test = testing::UnitTest::GetInstance()->current_test_info();
  if (test != asking) asking = test, count = 0;
  const unsigned mixed = count++ * 2654435761u;  // multiplicative hashing (Knuth)
  return (mixed >> 16) % of != 0;
}

/// The devices present here.
inline std::vector<Device> present_devices() {
  std::vector<Device> list;
  for (const DeviceInfo& info : devices())
    if (info.available) list.push_back(info.device);
  return list;
}

/// A test fixture on one device, which is also the default device while a test runs.
class EveryDevice : public testing::TestWithParam<Device> {
 protected:
  void SetUp() override { set_default_device(GetParam()); }
  void TearDown() override { set_default_device(cpu()); }
  Device device() const { return GetParam(); }
};

inline std::string device_name(const testing::TestParamInfo<Device>& info) {
  std::string name = info.param.to_string();
  for (char& c : name)
    if (c == ':') c = '_';
  return name;
}

/// Runs `f`, which must throw a tern::Error of this kind whose message contains every one of `parts`.
template <class F> void expect_error(ErrorKind kind, const std::vector<std::string>& parts, F f) {
  try {
    f();
    synchronize(default_device());  // where the errors of work that is still under way arrive
    ADD_FAILURE() << "no error was thrown";
  } catch (const Error& e) {
    EXPECT_EQ(static_cast<int>(e.kind()), static_cast<int>(kind)) << e.what();
    for (const std::string& part : parts)
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos)
          << "\"" << part << "\" is missing in: " << e.what();
  }
}

inline constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

/// All elements as doubles, whatever the floating dtype.
inline std::vector<double> doubles(const Tensor& t) { return t.to(cpu()).to(DType::f64).to_vector<double>(); }
inline std::vector<double> doubles(const Var& v) { return doubles(v.value()); }

}  // namespace tern::test

/// Instantiates a suite derived from EveryDevice for the devices present.
#define TERN_EVERY_DEVICE(Suite) \
  INSTANTIATE_TEST_SUITE_P(Devices, Suite, testing::ValuesIn(tern::test::present_devices()), tern::test::device_name)
