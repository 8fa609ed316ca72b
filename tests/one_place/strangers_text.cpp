// The text of the added primitive's kernel, which add.sh puts beside the tests of CUDA's texts: printed in both
// languages, and compiled where it is CUDA's. NVRTC needs no GPU; WGSL is compiled where tests run on WebGPU.
#include <gtest/gtest.h>

#include "cuda/api.hpp"
#include "cuda/compiler.hpp"
#include "golden/printing.hpp"
#include "primitives/rotate/operation.hpp"

namespace tern::test {
namespace {

constexpr int kArchitecture = 90;

/// Rotates along an axis that is not the last, of a dtype of each size.
int kernels_of_rotate(DeviceKind kind, const std::function<void(const std::string& text)>& take) {
  int count = 0;
  Printing device(kind, [&](const detail_gpu::Launch&, const std::string& text) { ++count, take(text); });
  for (const DType dtype : {DType::u8, DType::f16, DType::f32, DType::f64})
    if (device.supports(dtype)) rotate(device.make({3, 5, 2}, dtype), 1, 1);
  return count;
}

TEST(StrangeTexts, APrimitivesKernelCompilesForCuda) {
  std::string reason;
  ASSERT_NE(detail_cuda::nvrtc(reason), nullptr) << reason << " (script/setup fetches it)";
  const int count = kernels_of_rotate(DeviceKind::cuda, [](const std::string& text) {
    std::string log;
    EXPECT_NO_THROW(detail_cuda::compiled_anew(text, kArchitecture, "rotate", log));
    EXPECT_EQ(log, "") << text;
  });
  EXPECT_EQ(count, 4);
}
TEST(StrangeTexts, APrimitivesKernelIsPrintedForWebGpu) {
  const int count = kernels_of_rotate(DeviceKind::webgpu, [](const std::string& text) {
    EXPECT_NE(text.find("rotate"), std::string::npos) << text;
    EXPECT_NE(text.find("@compute"), std::string::npos) << text;
  });
  EXPECT_EQ(count, 3);
}

}  // namespace
}  // namespace tern::test
