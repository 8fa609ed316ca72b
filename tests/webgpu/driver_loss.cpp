// A driver that gives the device up while work is submitted or waited for, where wgpu-native calls abort(): the test
// runs itself once more below a Vulkan layer that pretends this (loss_layer.cpp).
#include <dlfcn.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "../every_device/reference.hpp"

namespace tern::test {
namespace {

using LoseAt = void (*)(int);
constexpr int kSubmission = 1, kWait = 2;

/// The layer's switch; null where this process runs without it.
LoseAt find_switch() {
  void* const layer = dlopen(TERN_LOSS_LAYER, RTLD_NOW | RTLD_NOLOAD);
  return layer ? reinterpret_cast<LoseAt>(dlsym(layer, "tern_lose_device_at")) : nullptr;
}

void lose_and_go_on(LoseAt lose_at, int kind) {
  const Tensor host = tensor({1.0f, 2.0f}, {2}, cpu());
  const Tensor x = ones({1000}, {.device = webgpu()});
  synchronize(webgpu());
  Tensor y = x * 2;
  lose_at(kind);
  expect_error(ErrorKind::backend, {"lost", "webgpu:0"}, [&] { synchronize(webgpu()), y.to_vector<float>(); });
  expect_error(ErrorKind::backend, {"lost", "webgpu:0"}, [&] { (x + 1).to_vector<float>(); });
  EXPECT_EQ(doubles(host), (std::vector<double>{1, 2}));
  EXPECT_EQ(doubles(host.to(webgpu()) + 1), (std::vector<double>{2, 3})) << "on a new device";
}

TEST(DriverLoss, BecomesAnErrorAndTheProcessGoesOn) {
  ASSERT_EQ(ones({1}, {.device = webgpu()}).item<float>(),
            1.0f);  // the driver is loaded now, and the layer if asked for
  if (const LoseAt lose_at = find_switch()) {
    for (int i = 0; i < 2; ++i)
      for (const int kind : {kSubmission, kWait}) lose_and_go_on(lose_at, kind);
    struct sigaction action {};
    sigaction(SIGABRT, nullptr, &action);
    EXPECT_EQ(action.sa_handler, SIG_DFL) << "SIGABRT is the program's again";
    return;
  }
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string folder = std::filesystem::path(TERN_LOSS_LAYER).parent_path().string();
  const std::string whole = "env -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX ";  // the test, though this is a shard
  const std::string command = whole + "VK_LAYER_PATH='" + folder +
                              "' VK_INSTANCE_LAYERS=VK_LAYER_TERN_loss TERN_LOSS_EXPECTED=1 '" + self +
                              "' --gtest_filter=DriverLoss.*";
  ASSERT_EQ(std::getenv("TERN_LOSS_EXPECTED"), nullptr) << "the layer was not loaded";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace tern::test
