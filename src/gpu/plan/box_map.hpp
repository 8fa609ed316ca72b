// Matrices that a kernel takes in boxes, CUDA's tensor maps: src/cuda/products plans them and src/cuda/device.cpp
// encodes them. They are described here because a launch carries them, and one that is kept (prepared.hpp) gets other
// memory.
#pragma once
#include <cstdint>

#include "backend/backend.hpp"

namespace tern::detail_gpu {

using detail::Storage;

/// Matrices that a kernel fetches or stores in boxes through a descriptor: elements of 16 bits, along the fastest
/// axis, rows, and matrices along one or two axes. Nothing outside is touched; zeros are fetched there.
inline constexpr std::size_t kMostMaps = 4;  // of a kernel
struct BoxMap {
  Storage* storage = nullptr;
  std::uint64_t begin = 0;                  // bytes; the address is a multiple of 16
  std::uint32_t axes = 3;                   // 4 where matrices lie along two axes
  std::uint64_t sizes[5] = {1, 1, 1, 1, 1};     // elements, rows, matrices
  std::uint64_t strides[4] = {16, 16, 16, 16};  // bytes between rows and between matrices, multiples of 16
  std::uint32_t box[2] = {1, 1};  // elements and rows moved at once; 64 or 128 bytes of elements, swizzled
  /// Of an image: channels, places along axes - 2 axes (the last one first), samples. A box has the channels of box[1]
  /// places, from line to line and sample to sample: those from `lower` on up to so many before or behind the last one
  /// (`upper`), a step apart.
  bool windows = false;
  std::int32_t lower[3] = {0, 0, 0}, upper[3] = {0, 0, 0};
  std::uint32_t steps[3] = {1, 1, 1};
};

}  // namespace tern::detail_gpu
