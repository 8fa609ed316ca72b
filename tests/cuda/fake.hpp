// A fixture on the pretended driver of fake_driver.cpp, whose hooks it knows.
#pragma once
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>

#include "cuda/api.hpp"
#include "tern/tern.hpp"

namespace tern::test {

class FakeCuda : public testing::Test {
 protected:
  void SetUp() override {
    setenv("TERN_CUDA_DRIVER", TERN_FAKE_CUDA, 1);
    if (!std::getenv("TERN_CHILD")) {  // a folder of its own: tests run at the same time
      const char* name = testing::UnitTest::GetInstance()->current_test_info()->name();
      setenv("TERN_CACHE_DIR", (std::string(TERN_FAKE_CACHE "/") + name).c_str(), 1);
    }
    set_default_device(cuda());
    std::string reason;
    driver_ = detail_cuda::driver(reason);
    ASSERT_TRUE(driver_) << reason;
  }
  void TearDown() override {
    kernels(0, nullptr);
    set_default_device(cpu());
  }

  static void* hook(const char* name) { return dlsym(dlopen(TERN_FAKE_CUDA, RTLD_NOW | RTLD_NOLOAD), name); }
  /// What kernels do from now on, with their first pointers.
  static void kernels(int bindings, void (*work)(const unsigned long long* pointers)) {
    reinterpret_cast<void (*)(int, decltype(work))>(hook("fake_cuda_kernels"))(bindings, work);
  }
  /// Kernels of one output, which is bound first, and one input, of so many bytes, copy.
  static void kernels_copy(std::size_t bytes) {
    copied_bytes = bytes;
    kernels(2, [](const unsigned long long* p) {
      std::memcpy(reinterpret_cast<void*>(p[0]), reinterpret_cast<void*>(p[1]), copied_bytes);
    });
  }
  /// Everything queued runs, that of one stream before the others', as far as it waits for none; kStreams: the most
  /// there are.
  static void run_from(std::size_t stream) { reinterpret_cast<void (*)(std::size_t)>(hook("fake_cuda_run"))(stream); }
  static constexpr std::size_t kStreams = 12;
  /// How often a function of the driver was called.
  static long calls(const char* name) { return reinterpret_cast<long (*)(const char*)>(hook("fake_cuda_calls"))(name); }

  const detail_cuda::Driver* driver_ = nullptr;
  static inline std::size_t copied_bytes = 0;
};

/// The status of a test in a process of its own.
inline int child(const char* test) {
  const std::string whole = "env -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX ";  // the test, though this is a shard
  const std::string command = whole + "TERN_CHILD=1 " + std::filesystem::read_symlink("/proc/self/exe").string() +
                              " --gtest_filter=" + test + " >/dev/null 2>&1";
  return std::system(command.c_str());
}

/// An error that the call itself throws; every_device.hpp's waits for the device too.
inline void expect_error_at_once(ErrorKind kind, std::initializer_list<const char*> parts,
                                 const std::function<void()>& call) {
  try {
    call();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    for (const char* part : parts) EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

}  // namespace tern::test
