// When tests that measure time run, and what on.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include "processor_time.hpp"
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

/// The same on one thread.
class TimedOnOneThread : public Timed {
 protected:
  void SetUp() override {
    Timed::SetUp();
    if (IsSkipped()) return;
    threads_ = num_threads();
    set_num_threads(1);
  }
  void TearDown() override {
    if (threads_ > 0) set_num_threads(threads_);
  }

 private:
  int threads_ = 0;
};

/// The processors' seconds that a call takes.
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
