// When tests that measure time run, and what on.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <string_view>

#include "tern/tern.hpp"

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

/// Of this process, on all its threads.
inline double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
/// What a call takes of them.
template <class F> double processor_seconds_of(const F& f) {
  const double start = processor_seconds();
  f();
  return processor_seconds() - start;
}

/// Numbers in [0, 1), the same each time.
inline Tensor uniform(const Shape& shape, DType dtype = f32) {
  Generator generator(7);
  return rand(shape, generator, {.device = cpu()}).to(dtype);
}

}  // namespace tern::test
