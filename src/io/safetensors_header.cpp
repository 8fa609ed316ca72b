// The header of safetensors: JSON that another program wrote, and that may be damaged or hostile.
#include "io/safetensors.hpp"

#ifdef TERN_JSON
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace tern::io::detail {
namespace {

using Json = nlohmann::json;
using Texts = std::map<std::string, std::string>;

constexpr int kDeepest = 3;  // the header, a tensor, its list of sizes

[[noreturn]] void bad(const std::string& path, const std::string& expected, const std::string& got) {
  damaged("load_safetensors", path, expected, got);
}

/// The header as JSON, without names that stand twice and no deeper than it may be.
Json parse_header(const std::string& path, const std::string& text) {
  std::vector<std::set<std::string>> names;
  const auto check = [&](int depth, Json::parse_event_t event, Json& value) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) {
      if (depth >= kDeepest) bad(path, "a header of depth " + std::to_string(kDeepest), "a deeper one");
      names.resize(static_cast<std::size_t>(depth) + 1);
      names.back().clear();
    }
    if (event == Event::key && !names.back().insert(value.get<std::string>()).second)
      bad(path, "each name once", shown(value.get<std::string>()) + " twice");
    if (event == Event::object_end || event == Event::array_end) names.resize(static_cast<std::size_t>(depth));
    return true;
  };
  try {
    return Json::parse(text, check);
  } catch (const Json::exception& e) {
    bad(path, "a header in JSON", shown(e.what()));
  }
}

std::vector<std::uint64_t> numbers(const std::string& path, const std::string& name, const Json& entry,
                                   const char* key) {
  const auto found = entry.find(key);
  std::vector<std::uint64_t> list;
  if (found == entry.end() || !found->is_array())
    bad(path, "a list '" + std::string(key) + "' of " + shown(name), found == entry.end() ? "none" : "no list");
  for (const Json& value : *found) {
    if (!value.is_number_unsigned())
      bad(path, "counts in '" + std::string(key) + "' of " + shown(name), shown(value.dump()));
    list.push_back(value.get<std::uint64_t>());
  }
  return list;
}

/// `wide`: whether it stands for complex numbers of f64.
StoredRange read_part(const std::string& path, const std::string& name, const Json& entry, bool wide) {
  if (!entry.is_object() || entry.size() != 3 || !entry.contains("dtype") || !entry["dtype"].is_string())
    bad(path, "'dtype', 'shape' and 'data_offsets' of " + shown(name), "something else");
  StoredRange part{name, {}, 0, 0};
  const auto& dtype = entry["dtype"].get_ref<const std::string&>();
  const auto type = std::find_if(std::begin(kStoredTypes), std::end(kStoredTypes),
                                 [&](const auto& known) { return !dtype.empty() && known.safetensors == dtype; });
  if (type == std::end(kStoredTypes)) {
    std::string all;
    for (const auto& known : kStoredTypes)
      if (!known.safetensors.empty()) all += (all.empty() ? "" : " ") + std::string(known.safetensors);
    bad(path, "a dtype that tern has, of " + all + ", for " + shown(name), shown(dtype));
  }
  part.stored.dtype = type->dtype;
  const std::vector<std::uint64_t> offsets = numbers(path, name, entry, "data_offsets");
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    bad(path, "a beginning and an end in 'data_offsets' of " + shown(name),
        shown(entry["data_offsets"].dump()));
  part.begin = offsets[0], part.end = offsets[1];
  std::vector<std::uint64_t> sizes = numbers(path, name, entry, "shape");
  if (wide) {
    if (type->dtype != DType::f64 || sizes.empty() || sizes.back() != 2)
      bad(path, "F64 with a last axis of 2 for " + shown(name) + ", which is c128", shown(entry.dump()));
    part.stored.dtype = DType::c128;
    sizes.pop_back();
  }
  part.stored.bytes = checked_bytes("load_safetensors", path, sizes, part.stored.dtype, part.stored.shape);
  if (part.stored.bytes != part.end - part.begin)
    bad(path, std::to_string(part.stored.bytes) + " bytes for " + shown(name),
        std::to_string(part.end - part.begin));
  return part;
}

Texts read_metadata(const std::string& path, const Json& entry) {
  Texts texts;
  if (!entry.is_object()) bad(path, "texts by name in '__metadata__'", shown(entry.dump()));
  for (const auto& [name, value] : entry.items()) {
    if (!value.is_string()) bad(path, "a text for " + shown(name) + " in '__metadata__'", "something else");
    texts[name] = value.get<std::string>();
  }
  return texts;
}

/// The names of the tensors that are c128; the text that has them is taken out.
std::set<std::string> take_wide(const std::string& path, const Json& header, Texts& metadata) {
  const auto found = metadata.find(std::string(kWideComplex));
  if (found == metadata.end()) return {};
  const Json list = parse_header(path, found->second);
  std::set<std::string> names;
  const auto refuse = [&] {
    bad(path, "a list of tensors of the file in " + shown(kWideComplex) + " of '__metadata__'", shown(found->second));
  };
  if (!list.is_array()) refuse();
  for (const Json& name : list)
    if (!name.is_string() || !header.contains(name.get<std::string>()) || name == std::string(kMetadata) ||
        !names.insert(name.get<std::string>()).second)
      refuse();
  metadata.erase(found);
  return names;
}

}  // namespace

SafetensorsHeader read_safetensors_header(const std::string& path, const std::string& text, std::uint64_t bytes) {
  const Json header = parse_header(path, text);
  if (!header.is_object()) bad(path, "names in the header", "something else");
  SafetensorsHeader result;
  if (const auto metadata = header.find(std::string(kMetadata)); metadata != header.end())
    result.metadata = read_metadata(path, *metadata);
  const std::set<std::string> wide = take_wide(path, header, result.metadata);
  std::vector<StoredRange>& parts = result.parts;
  for (const auto& [name, entry] : header.items())
    if (name != kMetadata) parts.push_back(read_part(path, name, entry, wide.contains(name)));
  std::sort(parts.begin(), parts.end(), [](const StoredRange& a, const StoredRange& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t at = 0;
  for (const StoredRange& part : parts) {
    if (part.begin != at)
      bad(path, shown(part.name) + " at byte " + std::to_string(at) + " of the elements",
          std::to_string(part.begin) + (part.begin < at ? ", where another one is" : ", which leaves a gap"));
    at = part.end;
  }
  if (at != bytes) bad(path, std::to_string(at) + " bytes of elements", std::to_string(bytes));
  return result;
}

}  // namespace tern::io::detail
#endif
