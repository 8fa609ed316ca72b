// What the adapter offers beyond the least is asked for: 16-bit floats, subgroups, timestamps (in traces).
#include <regex>

#include "../every_device/reference.hpp"
#include "gpu/gpu_backend.hpp"
#include "webgpu/adapters.hpp"
#include "webgpu/webgpu_backend.hpp"

namespace tern::test {
namespace {

class Features : public testing::Test {
 protected:
  void SetUp() override { set_default_device(webgpu()); }
  void TearDown() override { set_default_device(cpu()); }
  static bool offered(WGPUFeatureName feature) {
    std::string reason;
    return detail_webgpu::api(reason)->AdapterHasFeature(detail_webgpu::adapters(reason).at(0).handle, feature);
  }
  /// Runs a kernel that writes one word.
  static std::uint32_t result(const std::string& directive, const std::string& body) {
    auto& backend = dynamic_cast<detail_gpu::GpuBackend&>(detail::backend_of(webgpu()));
    const std::string text =
        directive +
        "\nstruct Params { v: array<vec4<u32>, 1> }\n@group(0) @binding(0) var<uniform> params: Params;\n"
        "@group(0) @binding(1) var<storage, read_write> b0: array<u32>;\n@compute @workgroup_size(32) fn "
        "main(@builtin(local_invocation_index) thread: u32) {\n" +
        body + "}\n";
    detail::Storage storage(backend, 256);
    detail_gpu::Launch launch;
    launch.op = "feature", launch.key = text, launch.groups = 1, launch.threads = 32, launch.params = {0};
    launch.bindings = {{&storage, 0, 256, true, false, false}};
    backend.launch(launch, [&] { return text; });
    std::uint32_t word = 0;
    backend.download(storage, 0, &word, sizeof word);
    return word;
  }
};

TEST_F(Features, SixteenBitFloatsWhereOffered) {
  const auto run = [] {
    return result("enable f16;", "let x = f16(params.v[0].x) * 0.5h;\nif (thread == 0u) { b0[0] = u32(x * 4.0h); }\n");
  };
  if (offered(WGPUFeatureName_ShaderF16)) EXPECT_EQ(run(), 2u);  // the first parameter: one workgroup
  else expect_error(ErrorKind::backend, {"feature", "webgpu:0"}, run);
}
TEST_F(Features, SubgroupsWhereOffered) {
  const auto run = [] {
    return result("enable subgroups;", "let all = subgroupAdd(1u);\nif (thread == 0u) { b0[0] = all; }\n");
  };
  if (offered(WGPUFeatureName_Subgroups)) EXPECT_GT(run(), 1u);
  else expect_error(ErrorKind::backend, {"feature", "webgpu:0"}, run);
}
/// Not the least that WebGPU promises.
TEST_F(Features, TheAdaptersOwnBoundsAreAskedFor) {
  std::string reason;
  WGPULimits offered{};
  ASSERT_EQ(detail_webgpu::api(reason)->AdapterGetLimits(detail_webgpu::adapters(reason).at(0).handle, &offered),
            WGPUStatus_Success);
  const detail_gpu::Limits& limits = dynamic_cast<detail_gpu::GpuBackend&>(detail::backend_of(webgpu())).limits();
  EXPECT_EQ(limits.bindings, offered.maxStorageBuffersPerShaderStage);
  EXPECT_EQ(limits.threads, std::min(offered.maxComputeInvocationsPerWorkgroup, offered.maxComputeWorkgroupSizeX));
  EXPECT_EQ(limits.shared_bytes, offered.maxComputeWorkgroupStorageSize);
  EXPECT_GE(limits.binding_bytes, std::min<std::uint64_t>(offered.maxStorageBufferBindingSize, 0xffffff00u));
  const std::int64_t count = (std::int64_t{128} << 20) / 4 + 1024;  // more than WebGPU's least binding, in one kernel
  if (limits.binding_bytes < std::uint64_t(count) * 4 + 1024) return;
  Tensor x = zeros({count});
  synchronize(webgpu());
  const auto before = detail_webgpu::queue_counts(0);
  x = x + 1;
  EXPECT_EQ(detail_webgpu::queue_counts(0).kernels - before.kernels, 1u);
  EXPECT_EQ(x.slice(0, count - 1, count).item<float>(), 1.0f);
}
/// A line of the trace tells of every kernel of its call, in their order.
TEST_F(Features, TracesTellHowLongKernelsTakeOnTheDevice) {
  const Tensor a = ones({300, 400}), b = ones({400, 200}), line = ones({100000});
  (void)explain([&] { (void)matmul(a, b), (void)cumsum(line, 0); });  // compiled
  const std::string product = explain([&] { (void)matmul(a, b); }), sums = explain([&] { (void)cumsum(line, 0); });
  const std::regex one("; on the device [0-9]+\\.[0-9] us \\(product, [^)]*\\);"),
      three(
          "; on the device [0-9.]+ us \\(scan, sums of segments\\) \\+ [0-9.]+ us \\(scan, short "
          "lines\\) \\+ [0-9.]+ us "
          "\\(scan, segments\\)");
  if (!offered(WGPUFeatureName_TimestampQuery)) {
    EXPECT_EQ(product.find("on the device"), std::string::npos) << product;
    return;
  }
  EXPECT_TRUE(std::regex_search(product, one)) << product;
  EXPECT_TRUE(std::regex_search(sums, three)) << sums;
  std::smatch time;
  ASSERT_TRUE(std::regex_search(product, time, std::regex("on the device ([0-9.]+) us")));
  EXPECT_GT(std::stod(time[1]), 0.0);
  EXPECT_LT(std::stod(time[1]), 60e6) << "ticks were taken for something else";
}
TEST_F(Features, WhatIsNotTracedIsNotTimed) {
  Tensor x = ones({1000});
  (void)explain([&] { x = x * 2; });
  EXPECT_THROW((void)explain([&] { (void)(x + ones({3})); }), Error);
  synchronize(webgpu());
  const auto before = detail_webgpu::queue_counts(0);
  for (int i = 0; i < 50; ++i) x = x * 1.5 - 0.5;
  EXPECT_EQ(x.to_vector<float>().size(), 1000u);
  const auto after = detail_webgpu::queue_counts(0);
  EXPECT_EQ(after.submissions - before.submissions, 1u);
  EXPECT_EQ(after.waits - before.waits, 1u);
}
}  // namespace
}  // namespace tern::test
