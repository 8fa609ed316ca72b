#include "cuda/context.hpp"

#include "tern/error.hpp"

namespace tern::detail_cuda {
namespace {

/// Whether every later call of the context fails as well.
bool ends_context(CuResult result) {
  switch (result) {
    case kEccUncorrectable:
    case kNvlinkUncorrectable:
    case kIllegalAddress:
    case kLaunchTimeout:
    case kAssert:
    case kHardwareStackError:
    case kIllegalInstruction:
    case kMisalignedAddress:
    case kInvalidAddressSpace:
    case kInvalidPc:
    case kLaunchFailed: return true;
    default: return false;
  }
}

}  // namespace

GpuContext::GpuContext(const Driver& driver, int ordinal, std::string name)
    : driver_(driver), ordinal_(ordinal), name_(std::move(name)) {
  check(driver_.cuDeviceGet(&device_, ordinal), "finding the GPU");
  check(driver_.cuDevicePrimaryCtxRetain(&handle_, device_), "making a context");
}

int GpuContext::attribute(int which) const {
  int value = 0;
  check(driver_.cuDeviceGetAttribute(&value, which, device_), "asking about the GPU");
  return value;
}

void GpuContext::fail(CuResult result, const char* doing) const {
  std::string message = std::string(doing) + " on " + name_ + ": " + error_text(driver_, result);
  if (ends_context(result)) {
    const std::lock_guard hold(lock_);
    if (fault_.empty())
      fault_ = message + "; a kernel failed, and " + name_ +
               " with it: every later call repeats this, until the process is started again";
    message = fault_;
    failed_.store(true, std::memory_order_release);
  }
  throw Error(result == kOutOfMemory ? ErrorKind::out_of_memory : ErrorKind::backend, message);
}

void GpuContext::require_sound() const {
  if (!failed_.load(std::memory_order_acquire)) return;
  const std::lock_guard hold(lock_);
  throw Error(ErrorKind::backend, fault_);
}

GpuContext::Current::Current(const GpuContext& context) : driver_(context.driver_) {
  driver_.cuCtxGetCurrent(&before_);
  if (before_ == context.handle_) return;
  context.check(driver_.cuCtxSetCurrent(context.handle_), "using the GPU");
  // A thread that had none keeps that of GPU 0: the runtime would choose it, too.
  restore_ = before_ != nullptr || context.ordinal_ != 0;
}

GpuContext::Current::~Current() {
  if (restore_) driver_.cuCtxSetCurrent(before_);
}

}  // namespace tern::detail_cuda
