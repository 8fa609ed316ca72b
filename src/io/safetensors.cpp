// safetensors: the length of a header, the header as JSON, and the elements of all tensors without a gap.
#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "backend/tensor_impl.hpp"
#include "io/stored.hpp"
#ifdef TERN_JSON
#include <nlohmann/json.hpp>
#endif

namespace tern::io {

#ifdef TERN_JSON

namespace {

using Json = nlohmann::json;
using Texts = std::map<std::string, std::string>;

constexpr std::string_view kMetadata = "__metadata__";
constexpr std::uint64_t kLongestHeader = 100'000'000;  // as the format has it
constexpr int kDeepest = 3;                            // the header, a tensor, its list of sizes

[[noreturn]] void bad(const std::string& path, const std::string& expected, const std::string& got) {
  detail::damaged("load_safetensors", path, expected, got);
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
      bad(path, "each name once", detail::shown(value.get<std::string>()) + " twice");
    if (event == Event::object_end || event == Event::array_end) names.resize(static_cast<std::size_t>(depth));
    return true;
  };
  try {
    return Json::parse(text, check);
  } catch (const Json::exception& e) {
    bad(path, "a header in JSON", detail::shown(e.what()));
  }
}

/// A tensor of the file.
struct StoredRange {
  std::string name;
  detail::StoredTensor stored;
  std::uint64_t begin = 0, end = 0;
};

std::vector<std::uint64_t> numbers(const std::string& path, const std::string& name, const Json& entry,
                                   const char* key) {
  const auto found = entry.find(key);
  std::vector<std::uint64_t> list;
  if (found == entry.end() || !found->is_array())
    bad(path, "a list '" + std::string(key) + "' of " + detail::shown(name), found == entry.end() ? "none" : "no list");
  for (const Json& value : *found) {
    if (!value.is_number_unsigned())
      bad(path, "counts in '" + std::string(key) + "' of " + detail::shown(name), detail::shown(value.dump()));
    list.push_back(value.get<std::uint64_t>());
  }
  return list;
}

StoredRange read_part(const std::string& path, const std::string& name, const Json& entry) {
  if (!entry.is_object() || entry.size() != 3 || !entry.contains("dtype") || !entry["dtype"].is_string())
    bad(path, "'dtype', 'shape' and 'data_offsets' of " + detail::shown(name), "something else");
  StoredRange part{name, {}, 0, 0};
  const auto& dtype = entry["dtype"].get_ref<const std::string&>();
  const auto type = std::find_if(std::begin(detail::kStoredTypes), std::end(detail::kStoredTypes),
                                 [&](const auto& known) { return !dtype.empty() && known.safetensors == dtype; });
  if (type == std::end(detail::kStoredTypes)) {
    std::string all;
    for (const auto& known : detail::kStoredTypes)
      if (!known.safetensors.empty()) all += (all.empty() ? "" : " ") + std::string(known.safetensors);
    bad(path, "a dtype that tern has, of " + all + ", for " + detail::shown(name), detail::shown(dtype));
  }
  part.stored.dtype = type->dtype;
  const std::vector<std::uint64_t> offsets = numbers(path, name, entry, "data_offsets");
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    bad(path, "a beginning and an end in 'data_offsets' of " + detail::shown(name),
        detail::shown(entry["data_offsets"].dump()));
  part.begin = offsets[0], part.end = offsets[1];
  part.stored.bytes = detail::checked_bytes("load_safetensors", path, numbers(path, name, entry, "shape"), type->dtype,
                                            part.stored.shape);
  if (part.stored.bytes != part.end - part.begin)
    bad(path, std::to_string(part.stored.bytes) + " bytes for " + detail::shown(name),
        std::to_string(part.end - part.begin));
  return part;
}

Texts read_metadata(const std::string& path, const Json& entry) {
  Texts texts;
  if (!entry.is_object()) bad(path, "texts by name in '__metadata__'", detail::shown(entry.dump()));
  for (const auto& [name, value] : entry.items()) {
    if (!value.is_string()) bad(path, "a text for " + detail::shown(name) + " in '__metadata__'", "something else");
    texts[name] = value.get<std::string>();
  }
  return texts;
}

/// The tensors of a header in the order of the file, whose elements fill what is behind it, without a gap.
std::vector<StoredRange> read_parts(const std::string& path, const Json& header, std::uint64_t bytes, Texts* metadata) {
  if (!header.is_object()) bad(path, "names in the header", "something else");
  std::vector<StoredRange> parts;
  for (const auto& [name, entry] : header.items()) {
    if (name != kMetadata) {
      parts.push_back(read_part(path, name, entry));
      continue;
    }
    Texts texts = read_metadata(path, entry);
    if (metadata) *metadata = std::move(texts);
  }
  std::sort(parts.begin(), parts.end(), [](const StoredRange& a, const StoredRange& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t at = 0;
  for (const StoredRange& part : parts) {
    if (part.begin != at)
      bad(path, detail::shown(part.name) + " at byte " + std::to_string(at) + " of the elements",
          std::to_string(part.begin) + (part.begin < at ? ", where another one is" : ", which leaves a gap"));
    at = part.end;
  }
  if (at != bytes) bad(path, std::to_string(at) + " bytes of elements", std::to_string(bytes));
  return parts;
}

bool is_utf8(const std::string& text) {
  try {
    (void)Json(text).dump();
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

void check_names(const std::string& path, const Named& tensors, const Texts& metadata) {
  const auto refuse = [&](const std::string& what) { throw Error(ErrorKind::io, "save_safetensors: " + path + what); };
  for (const auto& [name, tensor] : tensors) {
    if (name == kMetadata) refuse(": the name '__metadata__' is taken by the format");
    if (!is_utf8(name)) refuse(": expected names in UTF-8, got " + detail::shown(name));
    if (!tensor.defined())
      throw Error(ErrorKind::shape, "save_safetensors: " + detail::shown(name) + " is an undefined Tensor");
    if (detail::stored_type(tensor.dtype()).safetensors.empty())
      throw Error(ErrorKind::io, "save_safetensors: " + detail::shown(name) + " is " +
                                     std::string(to_string(tensor.dtype())) +
                                     ", which the format lacks: expected c64 or real numbers");
  }
  for (const auto& [name, text] : metadata)
    if (!is_utf8(name) || !is_utf8(text)) refuse(": expected texts in UTF-8, got " + detail::shown(name));
}

}  // namespace

void save_safetensors(const std::string& path, const Named& tensors, const Texts& metadata) {
  check_names(path, tensors, metadata);
  std::vector<const Named::value_type*> order;
  for (const auto& item : tensors) order.push_back(&item);
  // Wide elements first: each then lies at a multiple of its size.
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return dtype_size(a->second.dtype()) > dtype_size(b->second.dtype());
  });
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header[std::string(kMetadata)] = metadata;
  std::uint64_t at = 0;
  for (const auto* item : order) {
    const auto& [name, tensor] = *item;
    const std::uint64_t end = at + static_cast<std::uint64_t>(tensor.numel()) * dtype_size(tensor.dtype());
    header[name] = {{"dtype", detail::stored_type(tensor.dtype()).safetensors},
                    {"shape", static_cast<std::vector<std::int64_t>>(tensor.shape())},
                    {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  if (text.size() > kLongestHeader)
    throw Error(ErrorKind::io, "save_safetensors: " + path + ": expected a header of at most 100000000 bytes, got " +
                                   std::to_string(text.size()));
  std::string size;
  for (int i = 0; i < 8; ++i) size += static_cast<char>(text.size() >> 8 * i & 0xff);
  tern::detail::DraftFile draft(path);
  draft.write(size + text);
  for (const auto* item : order) {
    Tensor kept;
    draft.write(detail::bytes_of("save_safetensors", item->second, kept));
  }
  draft.commit();
}

namespace {

/// A file whose header is read.
struct Opened {
  tern::detail::InputFile file;
  std::vector<StoredRange> parts;
  std::uint64_t at = 0;  // of the elements not read yet

  Opened(const std::string& path, Texts* metadata) : file(path) {
    if (file.size() < 8) bad(path, "the length of a header, of 8 bytes", std::to_string(file.size()) + " bytes");
    unsigned char digits[8];
    file.read_at(0, digits, 8);
    std::uint64_t size = 0;
    for (int i = 0; i < 8; ++i) size |= static_cast<std::uint64_t>(digits[i]) << 8 * i;
    const std::uint64_t most = std::min(kLongestHeader, file.size() - 8);
    if (size > most) bad(path, "a header of at most " + std::to_string(most) + " bytes", std::to_string(size));
    std::string text(size, '\0');
    file.read_at(8, text.data(), size);
    at = 8 + size;
    parts = read_parts(path, parse_header(path, text), file.size() - at, metadata);
  }
  /// The elements of the parts, in their order.
  Tensor next(const StoredRange& part, const LoadOptions& options) {
    const detail::ReadBytes read = [&](void* to, std::size_t bytes) { file.read_at(at, to, bytes), at += bytes; };
    return detail::from_stored(part.stored, options, read);
  }
};

}  // namespace

Named load_safetensors(const std::string& path, const LoadOptions& options, Texts* metadata) {
  Opened opened(path, metadata);
  Named result;
  for (const StoredRange& part : opened.parts) result.emplace(part.name, opened.next(part, options));
  return result;
}

void detail::load_into(const std::string& path, const Named& tensors) {
  Opened opened(path, nullptr);
  std::string differences;
  const auto note = [&](const std::string& name, const std::string& what) {
    differences += (differences.empty() ? "" : "; ") + shown(name) + " " + what;
  };
  std::set<std::string> seen;
  for (const StoredRange& part : opened.parts) {
    seen.insert(part.name);
    const auto own = tensors.find(part.name);
    const std::string stored = tern::detail::describe(part.stored.dtype, part.stored.shape);
    if (own == tensors.end()) note(part.name, "is in the file alone");
    else if (own->second.dtype() != part.stored.dtype || own->second.shape() != part.stored.shape)
      note(part.name, "is " + tern::detail::describe(own->second) + ", in the file " + stored);
  }
  for (const auto& [name, tensor] : tensors)
    if (!seen.contains(name)) note(name, "is not in the file");
  if (!differences.empty()) throw Error(ErrorKind::io, "load: the file " + path + " holds others: " + differences);
  for (const auto& [name, tensor] : tensors) tern::detail::require_writable("load", tensor);
  for (const StoredRange& part : opened.parts) {
    Tensor to = tensors.at(part.name);
    to.copy_from(opened.next(part, {.device = to.device()}));
  }
}

#else

namespace {
[[noreturn]] void absent(const char* op) {
  throw Error(ErrorKind::unsupported, std::string(op) +
                                          ": tern was built without nlohmann-json (Debian and Ubuntu: "
                                          "nlohmann-json3-dev), which safetensors take");
}
}  // namespace
void save_safetensors(const std::string&, const Named&, const std::map<std::string, std::string>&) {
  absent("save_safetensors");
}
Named load_safetensors(const std::string&, const LoadOptions&, std::map<std::string, std::string>*) {
  absent("load_safetensors");
}
void detail::load_into(const std::string&, const Named&) { absent("load"); }

#endif

}  // namespace tern::io
