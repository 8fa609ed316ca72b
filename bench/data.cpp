#include "data.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

namespace bench {
namespace {

/// Calls f with a null pointer of the dtype's element type.
template <class F> auto with_type(tern::DType dtype, const F& f) {
  switch (dtype) {
    case tern::DType::f16: return f(static_cast<tern::float16*>(nullptr));
    case tern::DType::bf16: return f(static_cast<tern::bfloat16*>(nullptr));
    case tern::DType::f64: return f(static_cast<double*>(nullptr));
    case tern::DType::i32: return f(static_cast<std::int32_t*>(nullptr));
    case tern::DType::f32: return f(static_cast<float*>(nullptr));
    default: throw std::invalid_argument("no benchmark has this dtype");
  }
}

void* allocate(std::size_t bytes) {
  constexpr std::size_t huge_page = std::size_t{2} << 20;
  const std::size_t alignment = bytes >= huge_page ? huge_page : 64;
  const std::size_t size = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, size);
  if (!memory) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  if (alignment == huge_page) madvise(memory, size, MADV_HUGEPAGE);
#endif
  std::memset(memory, 0, size);
  return memory;
}

}  // namespace

Buffer::Buffer(tern::DType dtype, std::int64_t count) {
  *contents_ = {dtype, count, {allocate(static_cast<std::size_t>(count) * tern::dtype_size(dtype)), std::free}, 0, 1};
}

double pattern_value(std::int64_t i, std::uint32_t seed, double scale) {
  std::uint32_t h = static_cast<std::uint32_t>(i) * 2654435761u + seed * 974634777u;
  h ^= h >> 15;
  h *= 2246822519u;
  h ^= h >> 13;
  return (static_cast<double>(h >> 8) / (1 << 23) - 1) * scale;
}

Buffer Buffer::pattern(tern::DType dtype, std::int64_t count, std::uint32_t seed, double scale) {
  Buffer buffer;
  *buffer.contents_ = {dtype, count, nullptr, seed, scale};
  return buffer;
}

void* Buffer::memory() const {
  Contents& c = *contents_;
  if (c.memory) return c.memory.get();
  c.memory = {allocate(static_cast<std::size_t>(c.count) * tern::dtype_size(c.dtype)), std::free};
  with_type(c.dtype, [&]<class T>(T*) {
    T* to = static_cast<T*>(c.memory.get());
    for (std::int64_t i = 0; i < c.count; ++i) to[i] = static_cast<T>(pattern_value(i, c.seed, c.scale));
  });
  return c.memory.get();
}

double Buffer::at(std::int64_t i) const {
  const Contents& c = *contents_;
  return with_type(c.dtype, [&]<class T>(T*) {
    if (const T* values = static_cast<const T*>(c.memory.get())) return static_cast<double>(values[i]);
    return static_cast<double>(static_cast<T>(pattern_value(i, c.seed, c.scale)));
  });
}

tern::Tensor Buffer::tensor(const tern::Shape& shape, tern::Device device) const {
  const Contents& c = *contents_;
  if (device == tern::cpu() || c.memory) {
    const tern::Tensor here = with_type(
        c.dtype, [&]<class T>(T*) { return tern::Tensor::view(data<T>(), shape, {}, contents_); });
    return here.to(device);
  }
  // pattern_value(), step by step.
  static constexpr tern::Pointwise hash{"pattern", [](auto position, auto shift) {
                                          auto h = position * 2654435761u + shift;
                                          h = bit_xor(h, shift_right(h, 15)) * 2246822519u;
                                          return shift_right(bit_xor(h, shift_right(h, 13)), 8);
                                        }};
  static constexpr tern::Pointwise scaled{
      "scaled", [](auto bits, auto by) { return (bits * 0x1p-23 - 1) * by; }};
  const tern::Tensor positions = tern::arange(0, c.count, 1, {.dtype = tern::u32, .device = device});
  const std::uint32_t shift = c.seed * 974634777u;
  return scaled(hash(positions, shift).to(tern::f32), c.scale).to(c.dtype).reshape(shape);
}

std::vector<std::int64_t> sample_positions(std::int64_t count) {
  constexpr std::int64_t most = 61;
  const std::int64_t samples = std::min(count, most);
  std::vector<std::int64_t> positions;
  for (std::int64_t j = 0; j < samples; ++j) positions.push_back(samples == 1 ? 0 : j * (count - 1) / (samples - 1));
  return positions;
}

std::vector<double> sample(const Buffer& buffer) {
  std::vector<double> values;
  for (const std::int64_t i : sample_positions(buffer.count())) values.push_back(buffer.at(i));
  return values;
}

double element(const tern::Tensor& tensor, std::int64_t at) {
  return tensor.reshape({-1}).slice(0, at, at + 1).to(tern::cpu()).to(tern::f64).item<double>();
}

std::vector<double> sample(const tern::Tensor& tensor) {
  const tern::Tensor flat = tensor.contiguous();
  std::vector<double> values;
  for (const std::int64_t i : sample_positions(flat.numel())) values.push_back(element(flat, i));
  return values;
}

double tolerance(tern::DType dtype) {
  switch (dtype) {
    case tern::DType::f64: return 1e-11;
    case tern::DType::f32: return 2e-5;
    case tern::DType::f16: return 4e-3;
    default: return 3e-2;
  }
}

std::string name_of(tern::DType dtype) { return std::string(tern::to_string(dtype)); }

}  // namespace bench
