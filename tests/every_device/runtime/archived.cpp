// TERN_TEST_ARCHIVED=1, with TERN_CUDA_NVRTC=0 and TERN_CUDA_BLAS=0: these tests where there is NVIDIA's driver alone.
// What the archive has must pass; a test may fail only by the error that a kernel is not among those built in, which
// names NVRTC.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

class ArchivedListener final : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo& info) override {
    if (info.result()->Skipped()) return;
    if (!info.result()->Failed()) return void(++passed_);
    bool not_archived = true;
    for (int i = 0; i < info.result()->total_part_count(); ++i) {
      const testing::TestPartResult& part = info.result()->GetTestPartResult(i);
      const std::string_view message = part.message();
      not_archived &= !part.failed() ||
                      (message.find("none of those built in") != message.npos && message.find("NVRTC") != message.npos);
    }
    ++(not_archived ? refused_ : failed_);
    if (!not_archived) std::printf("ARCHIVED FAILURE %s.%s\n", info.test_suite_name(), info.name());
  }
  void OnTestProgramEnd(const testing::UnitTest&) override {
    std::printf("archived: %d passed, %d met a kernel that is not built in, %d failed\n", passed_, refused_, failed_);
    std::fflush(stdout);
    std::_Exit(failed_ > 0);
  }
  int passed_ = 0, refused_ = 0, failed_ = 0;
};

[[maybe_unused]] const bool listens = [] {
  const char* value = std::getenv("TERN_TEST_ARCHIVED");
  if (!value || std::string_view(value) != "1") return false;
  testing::UnitTest::GetInstance()->listeners().Append(new ArchivedListener);
  return true;
}();

}  // namespace
