#include "cuda/staging.hpp"

#include <algorithm>
#include <cstring>

namespace tern::detail_cuda {
namespace {

constexpr const char *kUploading = "uploading", *kDownloading = "downloading";

}  // namespace

Stream Staging::stream(const Streams& streams) {
  if (!stream_) stream_ = streams.new_stream();
  return stream_;
}

const Staging::Carrier& Staging::chunk(std::size_t number) {
  Carrier& chunk = chunks_[number % chunks_.size()];
  if (!chunk.memory) {  // pinning takes milliseconds
    if (!chunk.done) chunk.done = new_event(context_);
    context_.check(driver_.cuMemHostAlloc(&chunk.memory, kChunk, kHostPortable), "allocating memory for copies");
  }
  return chunk;
}

void Staging::finish(const Carrier& chunk, const char* doing) const {
  context_.check(driver_.cuEventSynchronize(chunk.done), doing);
}

void Staging::upload(DevicePointer to, const void* from, std::size_t bytes) {
  const auto* source = static_cast<const std::byte*>(from);
  std::size_t number = 0;
  for (std::size_t at = 0; at < bytes; at += kChunk, ++number) {
    const Carrier& carrier = chunk(number);
    const std::size_t size = std::min(kChunk, bytes - at);
    finish(carrier, kUploading);  // what it carried before
    std::memcpy(carrier.memory, source + at, size);
    context_.check(driver_.cuMemcpyHtoDAsync_v2(to + at, carrier.memory, size, stream_), kUploading);
    context_.check(driver_.cuEventRecord(carrier.done, stream_), kUploading);
  }
}

void Staging::download(void* to, DevicePointer from, std::size_t bytes) {
  auto* target = static_cast<std::byte*>(to);
  const std::size_t count = (bytes + kChunk - 1) / kChunk;
  const auto size = [&](std::size_t number) { return std::min(kChunk, bytes - number * kChunk); };
  const auto start = [&](std::size_t number) {
    const Carrier& carrier = chunk(number);
    context_.check(driver_.cuMemcpyDtoHAsync_v2(carrier.memory, from + number * kChunk, size(number), stream_),
                   kDownloading);
    context_.check(driver_.cuEventRecord(carrier.done, stream_), kDownloading);
  };
  for (std::size_t number = 0; number < std::min(count, chunks_.size()); ++number) start(number);
  for (std::size_t number = 0; number < count; ++number) {
    const Carrier& carrier = chunk(number);
    finish(carrier, kDownloading);
    std::memcpy(target + number * kChunk, carrier.memory, size(number));
    if (number + chunks_.size() < count) start(number + chunks_.size());
  }
}

void Staging::begin_download(DevicePointer from, std::size_t bytes, Stream stream) {
  context_.check(driver_.cuMemcpyDtoHAsync_v2(chunk(0).memory, from, bytes, stream), kDownloading);
  context_.check(driver_.cuEventRecord(chunks_[0].done, stream), kDownloading);
}
void Staging::end_download(void* to, std::size_t bytes) {
  finish(chunks_[0], kDownloading);
  std::memcpy(to, chunks_[0].memory, bytes);
}

}  // namespace tern::detail_cuda
