// What goes wrong arrives as tern::Error and names the operation and the kernel; the process goes on.
#include <sys/resource.h>

#include <cstdio>

#include "../every_device/reference.hpp"
#include "backend/tensor_impl.hpp"
#include "gpu/gpu_backend.hpp"
#include "webgpu/webgpu_backend.hpp"

namespace tern::test {
namespace {

class Faults : public testing::Test {
 protected:
  void SetUp() override { set_default_device(webgpu()); }
  void TearDown() override {
    EXPECT_EQ(doubles(ones({3}) * 2), (std::vector<double>{2, 2, 2})) << "the device is of no more use";
    set_default_device(cpu());
  }
  static detail_gpu::GpuBackend& backend() {
    return dynamic_cast<detail_gpu::GpuBackend&>(detail::backend_of(webgpu()));
  }
  /// A kernel of one binding with the given text.
  static void run(const char* op, const std::string& text, bool in_bounds, std::uint64_t bytes = 256) {
    detail::Storage storage(backend(), 256);
    detail_gpu::Launch launch;
    launch.op = op, launch.key = text, launch.groups = 1, launch.threads = 1, launch.in_bounds = in_bounds;
    launch.params = {0};
    launch.bindings = {{&storage, 0, bytes, true, false, false}};
    backend().launch(launch, [&] { return text; });
    synchronize(webgpu());
  }
  static std::string kernel(const std::string& title, const std::string& body) {
    return "// " + title +
           "\nstruct Params { v: array<vec4<u32>, 1> }\n@group(0) @binding(0) var<uniform> params: Params;\n" +
           "@group(0) @binding(1) var<storage, read_write> b0: array<u32>;\n@compute @workgroup_size(1) fn main() {\n" +
           body + "}\n";
  }
};

TEST_F(Faults, ShadersThatDoNotCompile) {
  for (const bool in_bounds : {false, true}) {
    expect_error(ErrorKind::backend, {"broken_op", "kernel garbled", "webgpu:0"},
                 [&] { run("broken_op", kernel("garbled", "let x = ;\n"), in_bounds); });
    expect_error(ErrorKind::backend, {"typed_op", "kernel mistyped", "webgpu:0"},
                 [&] { run("typed_op", kernel("mistyped", "b0[0] = 1.5;\n"), in_bounds); });
  }
}
TEST_F(Faults, PipelinesThatCannotBeMade) {
  std::string text = kernel("nameless", "b0[0] = params.v[0].x;\n");
  text.replace(text.find("fn main"), 7, "fn other");
  for (const bool in_bounds : {false, true})
    expect_error(ErrorKind::backend, {"nameless_op", "kernel nameless", "webgpu:0"},
                 [&] { run("nameless_op", text, in_bounds); });
}
TEST_F(Faults, BindingsOutOfBounds) {
  expect_error(ErrorKind::backend, {"reaching_op", "kernel reaching", "webgpu:0"},
               [] { run("reaching_op", kernel("reaching", "b0[0] = params.v[0].x;\n"), false, 1 << 20); });
}
/// Reported with the whole encoder: the error names what was recorded.
TEST_F(Faults, CommandsThatAreInvalid) {
  const Tensor x = ones({8});
  synchronize(webgpu());
  expect_error(ErrorKind::backend, {"running kernels", "softmax", "kernel reduction", "webgpu:0"}, [&] {
    const Tensor y = softmax(x);
    const float words[4] = {};
    backend().upload(*x.impl()->storage, 1 << 16, words, sizeof words);  // far behind the end
    y.to_vector<float>();
  });
  EXPECT_EQ(doubles(x), std::vector<double>(8, 1.0));
}
/// Where memory is exhausted: of this process on a driver that uses the processor's, of the GPU elsewhere.
TEST_F(Faults, MemoryThatIsNotThere) {
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  long pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    EXPECT_EQ(std::fscanf(file, "%ld", &pages), 1);
    std::fclose(file);
  }
  rlimit tight = before;
  tight.rlim_cur = static_cast<rlim_t>(pages) * 4096 + (rlim_t{2} << 30);
  std::vector<std::shared_ptr<detail::Storage>> taken;
  setrlimit(RLIMIT_AS, &tight);
  std::string message;
  ErrorKind kind{};
  for (int i = 0; i < 1000 && message.empty(); ++i) {
    try {
      taken.push_back(std::make_shared<detail::Storage>(backend(), std::size_t{1} << 30));
    } catch (const Error& error) {
      message = error.what(), kind = error.kind();
    }
  }
  setrlimit(RLIMIT_AS, &before);
  EXPECT_NE(message, "");
  EXPECT_EQ(kind, ErrorKind::out_of_memory) << message;
  EXPECT_NE(message.find("webgpu:0"), std::string::npos) << message;
  EXPECT_NE(message.find("1073741824"), std::string::npos) << message;
  EXPECT_FALSE(taken.empty());
}
/// Kernels recorded, memory waiting to be freed, downloads: all of it ends with the device, none with the process.
TEST_F(Faults, ALossInTheMiddleOfWork) {
  const Tensor host = tensor({1.0f, 2.0f}, {2}, cpu());
  for (const bool submitted : {false, true}) {
    Tensor x = ones({1000});
    Tensor y = x + 1;
    if (submitted) synchronize(webgpu());
    y = y * 2;
    detail_webgpu::lose_device(0);
    expect_error(ErrorKind::backend, {"lost", "webgpu:0"}, [&] { synchronize(webgpu()), y.to_vector<float>(); });
    x = Tensor(), y = Tensor();
    EXPECT_EQ(doubles(host.to(webgpu()) + 1), (std::vector<double>{2, 3}));
  }
}
TEST_F(Faults, ALossDuringACopyToTheDevice) {
  const Tensor host = ones({1 << 20}, cpu());
  const Tensor there = host.to(webgpu());
  detail_webgpu::lose_device(0);
  expect_error(ErrorKind::backend, {"lost", "webgpu:0"},
               [&] { Tensor(there).copy_from(there * 2), there.to_vector<float>(); });
}

}  // namespace
}  // namespace tern::test
