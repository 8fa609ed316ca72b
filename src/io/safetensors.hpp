// What a safetensors file says of what it holds.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "io/stored.hpp"

namespace tern::io::detail {

inline constexpr std::string_view kMetadata = "__metadata__";
/// The text there that names the tensors which are c128, as a list in JSON. The format lacks that dtype: it has them as
/// F64 with a last axis of 2, real and imaginary part.
inline constexpr std::string_view kWideComplex = "tern.c128";
inline constexpr std::uint64_t kLongestHeader = 100'000'000;  // as the format has it

/// A tensor of the file.
struct StoredRange {
  std::string name;
  StoredTensor stored;
  std::uint64_t begin = 0, end = 0;  // from the first element's byte on
};
struct SafetensorsHeader {
  std::vector<StoredRange> parts;  // in the order of the file; they fill it without a gap
  std::map<std::string, std::string> metadata;
};
/// Of a header's text and the count of bytes behind it; throws io.
SafetensorsHeader read_safetensors_header(const std::string& path, const std::string& text, std::uint64_t bytes);

}  // namespace tern::io::detail
