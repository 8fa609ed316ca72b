// What a tape's numbers are in memory, and the memory its values have.
#pragma once
#include <algorithm>
#include <cstring>
#include <new>

#include "cpu/tape/block_runner.hpp"
#include "process/of_thread.hpp"

namespace tern::detail_cpu {

/// The value of a number step, in the bits of its type.
inline std::int64_t number_bits(ComputeType type, const Number& n) {
  const auto bits = [](auto value) {
    std::int64_t result = 0;
    std::memcpy(&result, &value, sizeof value);
    return result;
  };
  // Among integers it is in range (checked with the call); in the others it may be infinite.
  const auto integer = [&] { return n.is_integer ? n.integer : static_cast<std::int64_t>(n.real); };
  switch (type) {
    case ComputeType::f32: return bits(n.is_integer ? static_cast<float>(n.integer) : static_cast<float>(n.real));
    case ComputeType::f64: return bits(n.is_integer ? static_cast<double>(n.integer) : n.real);
    case ComputeType::i32: return bits(static_cast<std::int32_t>(integer()));
    case ComputeType::u32: return bits(static_cast<std::uint32_t>(integer()));
    case ComputeType::i64: return integer();
  }
  return 0;
}

/// This thread's register file: `slots` blocks of so many bytes, 64-byte aligned, and more behind them.
inline std::byte* register_file(int slots, std::size_t slot_bytes, std::size_t more = 0) {
  struct File {
    std::byte* data = nullptr;
    std::size_t bytes = 0;
    ~File() { ::operator delete (data, std::align_val_t{64}); }
  };
  File& file = detail::of_thread<File>();
  const std::size_t bytes = static_cast<std::size_t>(slots) * slot_bytes + more;
  if (file.bytes < bytes) {
    ::operator delete (file.data, std::align_val_t{64});
    file.data = nullptr, file.bytes = 0;
    const std::size_t wanted = std::max(bytes, 16 * kSlotBytes);
    file.data = static_cast<std::byte*>(::operator new (wanted, std::align_val_t{64}));
    file.bytes = wanted;
  }
  return file.data;
}

}  // namespace tern::detail_cpu
