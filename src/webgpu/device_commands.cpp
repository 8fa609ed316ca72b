// What a WebGPU device is told to do: the encoder and its submission, waits, uploads and downloads.
#include <algorithm>
#include <bit>
#include <cstring>

#include "tern/error.hpp"
#include "webgpu/device.hpp"
#include "webgpu/guard.hpp"

namespace tern::detail_webgpu {

WGPUCommandEncoder WebGpuDevice::encoder() {
  if (!encoder_) encoder_ = api_.DeviceCreateCommandEncoder(device_, nullptr), ++encoders_;
  return encoder_;
}
WGPUComputePassEncoder WebGpuDevice::pass() {
  if (!pass_) pass_ = api_.CommandEncoderBeginComputePass(encoder(), nullptr);
  return pass_;
}
void WebGpuDevice::end_pass() {
  if (!pass_) return;
  api_.ComputePassEncoderEnd(pass_);
  api_.ComputePassEncoderRelease(pass_);
  pass_ = nullptr;
}

void WebGpuDevice::flush() {
  if (!encoder_) return;
  end_pass();
  // Writes to a buffer are done in the queue's order: after the submissions before, and before this one.
  if (!params_arena_.empty())
    api_.QueueWriteBuffer(queue_, params_->handle, 0, params_arena_.data(), params_arena_.size());
  if (!staging_arena_.empty())
    api_.QueueWriteBuffer(queue_, staging_->handle, 0, staging_arena_.data(), staging_arena_.size());
  const WGPUCommandBuffer commands = api_.CommandEncoderFinish(encoder_, nullptr);
  api_.CommandEncoderRelease(encoder_);
  encoder_ = nullptr;
  params_arena_.clear(), staging_arena_.clear();
  waiting_bytes_ = 0, steps_ = 0;
  // wgpu-native 0.32 calls abort() for an error in a submission: what is invalid must not get there, and the calls
  // above tell of a lost device.
  release_errors(), catch_errors();
  const bool valid = commands && faults_->error.empty() && faults_->lost.empty();
  if (valid) submit(commands), ++submissions;
  if (commands && !abandoned_) api_.CommandBufferRelease(commands);
  const std::string kernels = valid ? std::string() : recorded_kernels();
  recorded_.clear();
  check("running kernels" + kernels);
}

std::string WebGpuDevice::recorded_kernels() const {
  constexpr std::size_t kMostNamed = 8;
  std::vector<std::string> names;
  for (const Pipeline* p : recorded_)
    if (std::find(names.begin(), names.end(), p->name) == names.end()) names.push_back(p->name);
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNamed); ++i) text += (i ? ", " : "") + names[i];
  if (names.size() > kMostNamed) text += " and " + std::to_string(names.size() - kMostNamed) + " others";
  return text.empty() ? text : " (" + text + ")";
}

void WebGpuDevice::abandon(const char* during) {
  abandoned_ = true;
  encoder_ = nullptr, pass_ = nullptr;  // theirs is not ours any more
  faults_->lost = std::string("the driver gave it up during ") + during;
}

void WebGpuDevice::submit(WGPUCommandBuffer commands) {
  struct Submission {
    const Api& api;
    WGPUQueue queue;
    WGPUCommandBuffer commands;
  } call{api_, queue_, commands};
  const auto run = [](void* context) {
    const Submission& c = *static_cast<Submission*>(context);
    c.api.QueueSubmit(c.queue, 1, &c.commands);
  };
  if (!survives_abort(run, &call)) abandon("a submission");
}

void WebGpuDevice::poll() {
  if (abandoned_) return;
  if (!api_.DevicePoll) return api_.InstanceProcessEvents(instance_of(api_));
  struct Poll {
    const Api& api;
    WGPUDevice device;
  } call{api_, device_};
  const auto run = [](void* context) {
    const Poll& c = *static_cast<Poll*>(context);
    c.api.DevicePoll(c.device, 1, nullptr);
  };
  if (!survives_abort(run, &call)) abandon("a wait");
}

void WebGpuDevice::finish_work() {
  if (api_.DevicePoll) return poll();
  bool done = false;
  WGPUQueueWorkDoneCallbackInfo callback{};
  callback.mode = WGPUCallbackMode_AllowProcessEvents;
  callback.callback = [](WGPUQueueWorkDoneStatus, WGPUStringView, void* user, void*) {
    *static_cast<bool*>(user) = true;
  };
  callback.userdata1 = &done;
  api_.QueueOnSubmittedWorkDone(queue_, callback);
  poll_until([&] { return done; });
}

void WebGpuDevice::wait() {
  flush();
  ++waits;
  finish_work();
  check("waiting for kernels");
}

std::uint64_t WebGpuDevice::add_constants(const void* data, std::size_t bytes, std::vector<std::byte>& arena,
                                       std::size_t capacity) {
  const std::size_t padded = (bytes + 15) / 16 * 16;
  std::size_t at = (arena.size() + uniform_alignment_ - 1) / uniform_alignment_ * uniform_alignment_;
  if (at + padded > capacity) {
    flush();
    at = 0;
  }
  arena.resize(at + padded);
  std::memcpy(arena.data() + at, data, bytes);
  return at;
}

void WebGpuDevice::upload(Buffer& to, std::uint64_t offset, const void* from, std::size_t bytes) {
  const std::size_t padded = (bytes + 3) / 4 * 4;
  if (padded <= kStagingBytes / 4) {
    const std::uint64_t at = add_constants(from, bytes, staging_arena_, kStagingBytes);
    end_pass();
    api_.CommandEncoderCopyBufferToBuffer(encoder(), staging_->handle, at, to.handle, offset, padded);
    use(to);
    return;
  }
  flush();
  const std::size_t whole = bytes / 4 * 4;
  api_.QueueWriteBuffer(queue_, to.handle, offset, from, whole);
  if (whole != bytes) {
    std::uint32_t last = 0;
    std::memcpy(&last, static_cast<const std::byte*>(from) + whole, bytes - whole);
    api_.QueueWriteBuffer(queue_, to.handle, offset + whole, &last, 4);
  }
  check("uploading " + std::to_string(bytes) + " bytes");
}

void WebGpuDevice::download(Buffer& from, std::uint64_t offset, void* to, std::size_t bytes) {
  const std::uint64_t begin = offset / 4 * 4, end = (offset + bytes + 3) / 4 * 4;
  constexpr std::uint64_t kPiece = 256ull << 20;
  for (std::uint64_t piece = begin; piece < end; piece += kPiece) {
    const std::uint64_t size = std::min(kPiece, end - piece);
    if (!readback_ || readback_->capacity < size) {
      if (readback_) destroy(readback_);
      readback_ =
          create(std::bit_ceil(std::max<std::uint64_t>(size, 4096)), WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst);
      check("allocating memory for a download");
    }
    end_pass();
    api_.CommandEncoderCopyBufferToBuffer(encoder(), from.handle, piece, readback_->handle, 0, size);
    flush();
    struct Answer {
      WGPUMapAsyncStatus status = WGPUMapAsyncStatus_Error;
      std::string message;
      bool done = false;
    } answer;
    WGPUBufferMapCallbackInfo callback{};
    callback.mode = WGPUCallbackMode_AllowProcessEvents;
    callback.callback = [](WGPUMapAsyncStatus status, WGPUStringView message, void* user, void*) {
      *static_cast<Answer*>(user) = {status, to_string(message), true};
    };
    callback.userdata1 = &answer;
    api_.BufferMapAsync(readback_->handle, WGPUMapMode_Read, 0, size, callback);
    ++waits;
    poll_until([&] { return answer.done; });
    check("downloading");  // wgpu-native ends the process where the mapped range of a lost device is asked for
    if (answer.status != WGPUMapAsyncStatus_Success)
      throw Error(ErrorKind::backend, "downloading from " + name_ + ": " + answer.message);
    const auto* mapped = static_cast<const std::byte*>(api_.BufferGetConstMappedRange(readback_->handle, 0, size));
    const std::uint64_t first = std::max(piece, offset), last = std::min(piece + size, offset + bytes);
    if (mapped) std::memcpy(static_cast<std::byte*>(to) + (first - offset), mapped + (first - piece), last - first);
    api_.BufferUnmap(readback_->handle);
    if (!mapped) throw Error(ErrorKind::backend, "downloading from " + name_ + ": the buffer could not be mapped");
  }
}

void WebGpuDevice::clear(Buffer& buffer) {
  end_pass();
  api_.CommandEncoderClearBuffer(encoder(), buffer.handle, 0, buffer.capacity);
  use(buffer);
}

}  // namespace tern::detail_webgpu
