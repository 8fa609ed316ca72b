// When tests that measure time run.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

namespace tern::test {

/// A fixture of tests that measure time: they are skipped unless times are asked for, in a release build.
class Timed : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* asked = std::getenv("TERN_TEST_TIMES"); !asked || std::string_view(asked) != "1")
      GTEST_SKIP() << "a busy machine takes longer; script/test --full, or TERN_TEST_TIMES=1, measures it";
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(NDEBUG)
    GTEST_SKIP() << "speed is measured in release builds";
#endif
  }
};

}  // namespace tern::test
