// Which NVRTC the tests of kernels' texts compile with.
#include <gtest/gtest.h>

#include <cstdlib>

#include "cuda/api.hpp"

namespace tern::test {
namespace {

/// TERN_TEST_NVRTC: the version that TERN_CUDA_LIBRARIES names (tests/CMakeLists.txt); without it, CUDA 13's.
TEST(CudaNvrtc, IsTheOneNamed) {
  const char* wanted = std::getenv("TERN_TEST_NVRTC");
  std::string reason;
  const detail_cuda::Nvrtc* nvrtc = detail_cuda::nvrtc(reason);
  ASSERT_NE(nvrtc, nullptr) << reason << " (script/setup fetches it)";
  EXPECT_EQ(nvrtc->major, wanted ? std::atoi(wanted) : 13);
}

}  // namespace
}  // namespace tern::test
