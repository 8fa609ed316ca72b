// safetensors: the length of a header, the header as JSON, and the elements of all tensors without a gap.
#include "io/safetensors.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "backend/instruments/trace.hpp"
#include "backend/recording/capture.hpp"
#include "backend/tensor_impl.hpp"
#ifdef TERN_JSON
#include <nlohmann/json.hpp>
#endif

namespace tern::io {

#ifdef TERN_JSON

namespace {

using Json = nlohmann::json;
using Texts = std::map<std::string, std::string>;
using detail::kMetadata, detail::kWideComplex, detail::kLongestHeader;

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
  }
  if (metadata.contains(std::string(kWideComplex)))
    refuse(": the text '" + std::string(kWideComplex) + "' says which tensors are c128; expected another name");
  for (const auto& [name, text] : metadata)
    if (!is_utf8(name) || !is_utf8(text)) refuse(": expected texts in UTF-8, got " + detail::shown(name));
}

/// What the header says of a tensor whose elements begin at this byte.
nlohmann::ordered_json entry_of(const Tensor& tensor, std::uint64_t begin, std::uint64_t end) {
  auto shape = static_cast<std::vector<std::int64_t>>(tensor.shape());
  const bool wide = tensor.dtype() == DType::c128;
  if (wide) shape.push_back(2);
  return {{"dtype", detail::stored_type(wide ? DType::f64 : tensor.dtype()).safetensors},
          {"shape", shape},
          {"data_offsets", {begin, end}}};
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
  Json wide = Json::array();
  for (const auto& [name, tensor] : tensors)
    if (tensor.dtype() == DType::c128) wide.push_back(name);
  Texts texts = metadata;
  if (!wide.empty()) texts[std::string(kWideComplex)] = wide.dump();
  if (!texts.empty()) header[std::string(kMetadata)] = texts;
  std::uint64_t at = 0;
  for (const auto* item : order) {
    const auto& [name, tensor] = *item;
    const std::uint64_t end = at + static_cast<std::uint64_t>(tensor.numel()) * dtype_size(tensor.dtype());
    header[name] = entry_of(tensor, at, end);
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
    draft.write(detail::raw_bytes("save_safetensors", item->second, kept));
  }
  draft.commit();
}

/// A file whose header is read.
struct SafetensorsFile::Opened {
  tern::detail::InputFile file;
  std::uint64_t elements = 0;  // where they begin
  detail::SafetensorsHeader header;
  std::map<std::string, std::size_t> places;  // in the header

  explicit Opened(const std::string& path) : file(path) {
    constexpr auto bad = [](const std::string& at, const std::string& expected, const std::string& got) {
      detail::damaged("load_safetensors", at, expected, got);
    };
    if (file.size() < 8) bad(path, "the length of a header, of 8 bytes", std::to_string(file.size()) + " bytes");
    unsigned char digits[8];
    file.read_at(0, digits, 8);
    std::uint64_t size = 0;
    for (int i = 0; i < 8; ++i) size |= static_cast<std::uint64_t>(digits[i]) << 8 * i;
    const std::uint64_t most = std::min(kLongestHeader, file.size() - 8);
    if (size > most) bad(path, "a header of at most " + std::to_string(most) + " bytes", std::to_string(size));
    std::string text(size, '\0');
    file.read_at(8, text.data(), size);
    elements = 8 + size;
    header = detail::read_safetensors_header(path, text, file.size() - elements);
    for (std::size_t i = 0; i < header.parts.size(); ++i) places.emplace(header.parts[i].name, i);
  }
  const detail::StoredRange& part(const char* op, const std::string& name) const {
    const auto found = places.find(name);
    if (found != places.end()) return header.parts[found->second];
    throw Error(ErrorKind::value, std::string(op) + ": the file " + file.path() + " holds no tensor " +
                                      detail::shown(name));
  }
  /// A tensor with memory of its own.
  Tensor copy(const detail::StoredRange& part, const LoadOptions& options) const {
    std::uint64_t at = elements + part.begin;
    const detail::ReadBytes read = [&](void* to, std::size_t bytes) { file.read_at(at, to, bytes), at += bytes; };
    return detail::from_stored(part.stored, options, read);
  }
  /// The elements where they are in the file, else a copy of them.
  Tensor tensor(const detail::StoredRange& part, const LoadOptions& options) const {
    constexpr std::uint64_t page = 4096;  // less than one is as soon copied as mapped
    if (options.device != cpu() || options.dtype || part.stored.bytes < page) return copy(part, options);
    const std::shared_ptr<std::byte> mapped = file.map(elements + part.begin, part.stored.bytes);
    const Tensor view = mapped ? detail::view_of_stored(part.stored, mapped) : Tensor();
    return view.defined() ? view : copy(part, options);
  }
};

SafetensorsFile::SafetensorsFile(const std::string& path) {
  opened_ = std::make_shared<Opened>(path);
}
std::vector<std::string> SafetensorsFile::names() const {
  std::vector<std::string> list;
  for (const auto& [name, place] : opened_->places) list.push_back(name);
  return list;
}
bool SafetensorsFile::contains(const std::string& name) const { return opened_->places.contains(name); }
DType SafetensorsFile::dtype(const std::string& name) const {
  return opened_->part("SafetensorsFile::dtype", name).stored.dtype;
}
Shape SafetensorsFile::shape(const std::string& name) const {
  return opened_->part("SafetensorsFile::shape", name).stored.shape;
}
const Texts& SafetensorsFile::metadata() const { return opened_->header.metadata; }
Tensor SafetensorsFile::load(const std::string& name, const LoadOptions& options) const {
  return opened_->tensor(opened_->part("SafetensorsFile::load", name), options);
}

Named load_safetensors(const std::string& path, const LoadOptions& options, Texts* metadata) {
  const SafetensorsFile file(path);
  Named result;
  for (const detail::StoredRange& part : file.opened_->header.parts)
    result.emplace(part.name, file.opened_->tensor(part, options));
  if (metadata) *metadata = file.metadata();
  return result;
}

namespace {

/// What was read, in a device's memory, also where that has no kernels for the dtype.
Tensor uploaded(const detail::StoredTensor& stored, const Tensor& from, Device device) {
  Tensor kept;
  std::string_view left = detail::raw_bytes("load", from, kept);
  return detail::from_stored(stored, {.device = device}, [&](void* to, std::size_t bytes) {
    left.copy(static_cast<char*>(to), bytes);
    left.remove_prefix(bytes);
  });
}

/// Whether an upload into a device's tensor itself will do, which takes no memory there.
bool takes_uploads(const Tensor& to) { return to.is_contiguous() && !tern::detail::current_capture(); }
void upload_into(const Tensor& to, const Tensor& from) {
  Tensor kept;
  const std::string_view bytes = detail::raw_bytes("load", from, kept);
  tern::detail::Storage& storage = *to.impl()->storage;
  storage.bump_version();
  const std::size_t first = static_cast<std::size_t>(to.impl()->offset) * dtype_size(to.dtype());
  tern::detail::upload(storage.backend(), storage, first, bytes.data(), bytes.size());
}

}  // namespace

void detail::load_into(const std::string& path, const Named& tensors) {
  const SafetensorsFile::Opened opened(path);
  std::string differences;
  const auto note = [&](const std::string& name, const std::string& what) {
    differences += (differences.empty() ? "" : "; ") + shown(name) + " " + what;
  };
  for (const StoredRange& part : opened.header.parts) {
    const auto own = tensors.find(part.name);
    const std::string stored = tern::detail::describe(part.stored.dtype, part.stored.shape);
    if (own == tensors.end()) note(part.name, "is in the file alone");
    else if (!own->second.defined()) note(part.name, "is undefined, in the file " + stored);
    else if (own->second.dtype() != part.stored.dtype || own->second.shape() != part.stored.shape)
      note(part.name, "is " + tern::detail::describe(own->second) + ", in the file " + stored);
  }
  for (const auto& [name, tensor] : tensors)
    if (tensor.defined() && !opened.places.contains(name)) note(name, "is not in the file");
  if (!differences.empty()) throw Error(ErrorKind::io, "load: the file " + path + " holds others: " + differences);
  std::vector<Tensor> read;  // all of it before anything is changed; not mapped: the file may end sooner than it did
  for (const StoredRange& part : opened.header.parts) {
    tern::detail::require_writable("load", tensors.at(part.name));
    read.push_back(opened.copy(part, {.device = cpu()}));
  }
  // What takes memory of a device first: what is left can fail with the device alone.
  for (std::size_t i = 0; i < read.size(); ++i) {
    const StoredRange& part = opened.header.parts[i];
    const Tensor& to = tensors.at(part.name);
    if (to.device() != cpu() && !takes_uploads(to)) read[i] = uploaded(part.stored, read[i], to.device());
  }
  for (std::size_t i = 0; i < read.size(); ++i) {
    Tensor to = tensors.at(opened.header.parts[i].name);
    const Tensor from = std::exchange(read[i], Tensor());
    if (from.device() == to.device()) to.copy_from(from);
    else upload_into(to, from);
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
struct SafetensorsFile::Opened {};
SafetensorsFile::SafetensorsFile(const std::string&) { absent("SafetensorsFile"); }
std::vector<std::string> SafetensorsFile::names() const { absent("SafetensorsFile"); }
bool SafetensorsFile::contains(const std::string&) const { absent("SafetensorsFile"); }
DType SafetensorsFile::dtype(const std::string&) const { absent("SafetensorsFile"); }
Shape SafetensorsFile::shape(const std::string&) const { absent("SafetensorsFile"); }
const std::map<std::string, std::string>& SafetensorsFile::metadata() const { absent("SafetensorsFile"); }
Tensor SafetensorsFile::load(const std::string&, const LoadOptions&) const { absent("SafetensorsFile"); }
void detail::load_into(const std::string&, const Named&) { absent("load"); }

#endif

}  // namespace tern::io
