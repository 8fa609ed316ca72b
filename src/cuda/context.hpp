// One GPU's context, and what the driver's answers become.
#pragma once
#include <atomic>
#include <mutex>
#include <string>

#include "cuda/api.hpp"

namespace tern::detail_cuda {

class GpuContext {
 public:
  /// The primary context of a GPU, which programs of the CUDA runtime use too. `name`: "cuda:0", for messages.
  GpuContext(const Driver& driver, int ordinal, std::string name);
  GpuContext(const GpuContext&) = delete;
  GpuContext& operator=(const GpuContext&) = delete;

  const Driver& driver() const { return driver_; }
  Context handle() const { return handle_; }
  DeviceHandle device() const { return device_; }
  int ordinal() const { return ordinal_; }
  const std::string& name() const { return name_; }
  /// A CUdevice_attribute.
  int attribute(int which) const;

  /// Throws `out_of_memory` or `backend` where the driver's answer is an error; `doing` begins the message. A failed
  /// kernel ends the context: the error says so, and is remembered.
  void check(CuResult result, const char* doing) const {
    if (result != kSuccess) fail(result, doing);
  }
  void check(CuResult result, const std::string& doing) const { check(result, doing.c_str()); }
  /// Throws the error of a failed kernel again, where there was one.
  void require_sound() const;

  /// Makes the context the calling thread's; afterwards the thread has the one it had.
  class Current {
   public:
    explicit Current(const GpuContext& context);
    ~Current();
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

   private:
    const Driver& driver_;
    Context before_ = nullptr;
    bool restore_ = false;
  };

 private:
  [[noreturn]] void fail(CuResult result, const char* doing) const;

  const Driver& driver_;
  int ordinal_;
  std::string name_;
  DeviceHandle device_ = 0;
  Context handle_ = nullptr;
  mutable std::atomic<bool> failed_{false};
  mutable std::mutex lock_;
  mutable std::string fault_;
};

}  // namespace tern::detail_cuda
