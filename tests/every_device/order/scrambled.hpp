// Numbers in no order, the same every time.
#pragma once
#include <cstdint>

namespace tern::test {

inline std::uint32_t scrambled(std::uint32_t i) {
  i = (i ^ (i >> 15)) * 2246822519u;
  i = (i ^ (i >> 13)) * 3266489917u;
  return i ^ (i >> 16);
}

}  // namespace tern::test
