// The CUDA backend without a GPU, on tests/cuda/fake_driver.cpp: what it says of the machine, memory, the cache of
// kernels on disk, and faults.
#include <filesystem>
#include <fstream>

#include "cuda/fake.hpp"


namespace tern::test {
namespace {

namespace fs = std::filesystem;

TEST_F(FakeCuda, IsListed) {
  int found = 0;
  for (const DeviceInfo& info : devices())
    if (info.device.kind() == DeviceKind::cuda) found += info.available && info.name == "a GPU that is none";
  EXPECT_EQ(found, 2);
  expect_error_at_once(ErrorKind::device, {"cuda:2", "2 GPUs"}, [] { zeros({1}, {.device = cuda(2)}); });
}

TEST_F(FakeCuda, CopiesAndReusesMemory) {
  const Tensor x = tensor({1.0f, 2.0f, 3.0f});
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(x.to(cuda(1)).to_vector<float>(), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(x.to(cpu()).to_vector<float>(), (std::vector<float>{1, 2, 3}));
}

TEST_F(FakeCuda, OutOfMemoryFreesTheCacheAndThenSaysHowMuchThereIs) {
  const std::int64_t quarter = std::int64_t{1} << 30;
  for (int i = 0; i < 4; ++i) zeros({quarter}, {.dtype = DType::u8});   // the same block, reused
  zeros({3 * quarter}, {.dtype = DType::u8});                            // fits once the cache is freed
  expect_error_at_once(ErrorKind::out_of_memory, {"4294967296", "bytes are free", "cuda:0"},
                       [&] { zeros({4 * quarter + 1}, {.dtype = DType::u8}); });
  zeros({8});  // and on
}

TEST_F(FakeCuda, ConstantMemoryIsReadOnly) {
  unsigned long long address = 0;
  ASSERT_EQ(driver_->cuMemAlloc_v2(&address, 6 * sizeof(float)), 0);
  Tensor x = Tensor::view(reinterpret_cast<const float*>(address), {2, 3}, {}, {}, cuda());
  const auto refused = [](const std::function<void()>& write) {
    expect_error_at_once(ErrorKind::unsupported, {"constant memory", "clone()"}, write);
  };
  refused([&] { x += 1; });
  refused([&] { x.copy_from(ones({2, 3})); });
  refused([&] { x[1].slice(0, 0, 2) *= 2; });
  refused([&] { assign(x(0), 1); });
  refused([&] { optim::SGD({Var(x)}, {}); });
  refused([&] { capture(cuda(), [&] { x += 1; }); });
  EXPECT_NO_THROW(x + 1);
  Tensor writable = Tensor::view(reinterpret_cast<float*>(address), {2, 3}, {}, {}, cuda());
  EXPECT_NO_THROW(writable += 1);
}

TEST_F(FakeCuda, PlansAShapeOnce) {
  const Tensor x = zeros({1000}), y = zeros({1000});
  x + y;
  const CacheStats before = cache_stats(cuda());
  for (int i = 0; i < 3; ++i) x + y;
  EXPECT_EQ(cache_stats(cuda()).misses, before.misses);
  EXPECT_EQ(cache_stats(cuda()).hits, before.hits + 3);
}

fs::path cache_folder() { return fs::path(std::getenv("TERN_CACHE_DIR")) / "cuda"; }
std::size_t files() {
  std::error_code ignored;
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(cache_folder(), ignored), {}));
}

TEST_F(FakeCuda, KernelsAreKeptOnDisk) {
  fs::remove_all(cache_folder());
  ASSERT_EQ(child("FakeCuda.ChildUsesAKernel"), 0);  // which has none in memory yet
  EXPECT_EQ(files(), 1u);
  for (const auto& file : fs::directory_iterator(cache_folder())) {
    EXPECT_EQ(file.path().extension(), ".cubin");
    EXPECT_GT(fs::file_size(file), 1000u);
  }
}

/// In processes of their own: the first writes a file, the second leaves it alone, others find it damaged.
TEST_F(FakeCuda, DamagedFilesAreRewritten) {
  fs::remove_all(cache_folder());
  ASSERT_EQ(child("FakeCuda.ChildUsesAKernel"), 0);
  ASSERT_EQ(files(), 1u);
  const fs::path file = fs::directory_iterator(cache_folder())->path();
  const auto contents = [&] {
    std::ifstream in(file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string good = contents();
  ASSERT_GT(good.size(), 1000u);
  const auto first_write = fs::last_write_time(file);
  ASSERT_EQ(child("FakeCuda.ChildUsesAKernel"), 0);
  EXPECT_EQ(fs::last_write_time(file), first_write) << "a good file was not taken";
  for (const bool cut : {true, false}) {
    std::string bad = good;
    if (cut) bad.resize(bad.size() / 2);
    else bad[bad.size() - 9] ^= 1;
    std::ofstream(file, std::ios::binary) << bad;
    ASSERT_EQ(child("FakeCuda.ChildUsesAKernel"), 0);
    EXPECT_TRUE(contents() == good) << (cut ? "half a file" : "a changed byte") << " was taken";
  }
}
TEST_F(FakeCuda, ChildUsesAKernel) {
  if (std::getenv("TERN_CHILD")) zeros({7});
}

TEST_F(FakeCuda, WarmUpCountsTheKernelsItMade) {
  const Tensor x = zeros({40});
  const auto work = [&] { return sqrt(exp(x) * 2.5 + 1); };
  const CacheStats made = warm_up(work);
  EXPECT_GE(made.kernels, 1);
  EXPECT_GT(made.milliseconds, 0);
  const CacheStats again = warm_up(work);
  EXPECT_EQ(again.kernels, 0);
  EXPECT_GE(again.hits, 1);
}

TEST_F(FakeCuda, ShowsTheKernelsItMakes) {
  const Tensor x = zeros({40});
  const auto shown = [](const char* setting, const std::function<void()>& work) {
    setenv("TERN_SHOW_KERNELS", setting, 1);
    testing::internal::CaptureStderr();
    work();
    unsetenv("TERN_SHOW_KERNELS");
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(shown("", [&] { log1p(x); }), "");
  const std::string text = shown("1", [&] { cos(x); });
  EXPECT_TRUE(text.starts_with("// elementwise\n") && text.ends_with("}\n\n")) << text;
  EXPECT_NE(text.find("extern \"C\" __global__ void"), text.npos) << text;
  EXPECT_EQ(shown("1", [&] { cos(x); }), "") << "a kernel that is there already";
}

/// In processes of their own: what follows a fault repeats it.
TEST_F(FakeCuda, FaultsAreErrorsAndStay) {
  EXPECT_EQ(child("FakeCuda.ChildLaunchFails"), 0);
  EXPECT_EQ(child("FakeCuda.ChildKernelFails"), 0);
}
void expect_ended_context(const Tensor& x) {
  const std::initializer_list<const char*> parts{"CUDA_ERROR_ILLEGAL_ADDRESS", "a kernel failed",
                                                 "every later call repeats this", "cuda:0"};
  expect_error_at_once(ErrorKind::backend, parts, [&] { x + x; });
  expect_error_at_once(ErrorKind::backend, parts, [&] { x.to_vector<float>(); });
  expect_error_at_once(ErrorKind::backend, parts, [&] { tensor({1.0f, 2.0f}); });
  expect_error_at_once(ErrorKind::backend, parts, [&] { synchronize(cuda()); });
  expect_error_at_once(ErrorKind::backend, parts, [&] { capture(cuda(), [&] { x + x; }); });
}
TEST_F(FakeCuda, ChildLaunchFails) {
  if (!std::getenv("TERN_CHILD")) return;
  const Tensor x = zeros({4});
  setenv("TERN_FAKE_CUDA_FAULT", "launch", 1);
  expect_error_at_once(ErrorKind::backend, {"add", "cuda:0", "CUDA_ERROR_ILLEGAL_ADDRESS"}, [&] { x + x; });
  unsetenv("TERN_FAKE_CUDA_FAULT");
  expect_ended_context(x);
}
TEST_F(FakeCuda, ChildKernelFails) {
  if (!std::getenv("TERN_CHILD")) return;
  const Tensor x = zeros({4});
  setenv("TERN_FAKE_CUDA_FAULT", "kernel", 1);
  const Tensor y = x + x;  // it fails when it runs
  unsetenv("TERN_FAKE_CUDA_FAULT");
  expect_error_at_once(ErrorKind::backend, {"CUDA_ERROR_ILLEGAL_ADDRESS", "a kernel failed"},
                       [&] { y.to_vector<float>(); });
  expect_ended_context(x);
}

}  // namespace
}  // namespace tern::test
