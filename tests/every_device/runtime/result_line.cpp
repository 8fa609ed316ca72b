// After a run: for each device, how many tests ran, failed and were skipped (none should be), and how often a dtype it
// lacks was seen to be refused.
#include <cstdio>
#include <map>

#include "every_device/reference.hpp"

namespace tern::test {
int& refusals(Device device) {
  static std::map<std::string, int> counts;
  return counts[device.to_string()];
}

namespace {
class ResultLine : public testing::EmptyTestEventListener {
  void OnTestProgramEnd(const testing::UnitTest& unit) override {
    for (const Device device : present_devices()) {
      int run = 0, failed = 0, skipped = 0;
      const std::string suffix = "/" + device_name({device, 0});
      for (int i = 0; i < unit.total_test_suite_count(); ++i)
        for (int k = 0; k < unit.GetTestSuite(i)->total_test_count(); ++k) {
          const testing::TestInfo& test = *unit.GetTestSuite(i)->GetTestInfo(k);
          if (!test.should_run() || !std::string(test.name()).ends_with(suffix)) continue;
          ++run, failed += test.result()->Failed(), skipped += test.result()->Skipped();
        }
      std::printf("%s: %d tests run, %d failed, %d skipped; unsupported dtypes refused %d times\n",
                  device.to_string().c_str(), run, failed, skipped, refusals(device));
    }
  }
};
[[maybe_unused]] const bool result_line_added = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new ResultLine);
  return true;
}();
}  // namespace
}  // namespace tern::test
