// The texts of what was added, which add.sh puts beside the tests of CUDA's texts: those of the primitive's kernel in
// both languages, of the formula and the operation, with their gradients, in CUDA's. CUDA's are compiled: NVRTC needs
// no GPU; WGSL is compiled where tests run on WebGPU.
#include <gtest/gtest.h>

#include "cuda/api.hpp"
#include "cuda/compiler.hpp"
#include "golden/printing.hpp"
#include "primitives/rotate/operation.hpp"
#include "tern/tern.hpp"

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

void expect_compiles(const std::string& text) {
  std::string reason, log;
  ASSERT_NE(detail_cuda::nvrtc(reason), nullptr) << reason << " (script/setup fetches it)";
  EXPECT_NO_THROW(detail_cuda::compiled_anew(text, kArchitecture, "stranger", log));
  EXPECT_EQ(log, "") << text;
}

TEST(StrangeTexts, APrimitivesKernelCompilesForCuda) {
  EXPECT_EQ(kernels_of_rotate(DeviceKind::cuda, expect_compiles), 4);
}
/// The kernels of f(x) and its gradient, x [3, 5] of a few dtypes, all of which compile.
template <class F> int kernels_with_gradient(const F& f) {
  int count = 0;
  Printing device(DeviceKind::cuda, [&](const detail_gpu::Launch&, const std::string& text) {
    ++count, expect_compiles(text);
  });
  for (const DType dtype : {DType::f16, DType::f32, DType::f64}) {
    const Var y = f(Var(device.make({3, 5}, dtype), true));
    backward(y, device.make(y.shape(), dtype));
  }
  return count;
}
TEST(StrangeTexts, AFormulaAndAnOperationCompileForCudaWithTheirGradients) {
  EXPECT_GE(kernels_with_gradient([](const Var& x) { return synthetic_cube(x); }), 6);
  EXPECT_GE(kernels_with_gradient([](const Var& x) { return softmax_pool(x, x); }), 6);
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
