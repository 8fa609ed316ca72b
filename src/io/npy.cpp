// NumPy's npy: a magic, a version, a Python dictionary as text, and the elements.
#include <array>
#include <charconv>
#include <cstring>
#include <vector>

#include "io/stored.hpp"

namespace tern::io {
namespace detail {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kLongestNpyHeader = 1 << 16;  // of 8 axes it has fewer than 300 bytes

/// The dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
class Dictionary {
 public:
  Dictionary(std::string_view op, const std::string& path, std::string_view text) : op_(op), path_(path), rest_(text) {}

  void parse() {
    take('{');
    while (!takes('}')) {
      const std::string_view key = quoted();
      take(':');
      if (key == "descr" && descr.empty()) descr = quoted();
      else if (key == "fortran_order" && !has_order_) parse_order();
      else if (key == "shape" && !has_shape_) parse_shape();
      else damaged(op_, path_, "the keys 'descr', 'fortran_order' and 'shape', each once", shown(key));
      if (!takes(',')) {
        take('}');
        break;
      }
    }
    skip();
    if (!rest_.empty() || descr.empty() || !has_order_ || !has_shape_)
      damaged(op_, path_, "the keys 'descr', 'fortran_order' and 'shape', and nothing else",
              rest_.empty() ? "fewer keys" : shown(rest_));
  }

  std::string_view descr;
  bool columns_first = false;
  std::vector<std::uint64_t> sizes;

 private:
  void skip() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n' || rest_.front() == '\t'))
      rest_.remove_prefix(1);
  }
  bool takes(std::string_view text) {
    skip();
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  bool takes(char c) { return takes(std::string_view(&c, 1)); }
  void take(char c) {
    if (!takes(c)) damaged(op_, path_, "a header with '" + std::string(1, c) + "' here", shown(rest_));
  }
  std::string_view quoted() {
    skip();
    const char quote = rest_.empty() ? '\0' : rest_.front();
    const std::size_t end = quote == '\'' || quote == '"' ? rest_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos) {
      const bool list = quote == '[';
      damaged(op_, path_, list ? "elements of one type" : "a text in quotes", (list ? "records: " : "") + shown(rest_));
    }
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }
  void parse_order() {
    has_order_ = true;
    columns_first = takes("True");
    if (!columns_first && !takes("False")) damaged(op_, path_, "True or False", shown(rest_));
  }
  void parse_shape() {
    has_shape_ = true;
    take('(');
    while (!takes(')')) {
      skip();
      std::uint64_t size = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (error != std::errc() || sizes.size() > 64)
        damaged(op_, path_, "sizes that fit 64 bits, of at most 64 axes", shown(rest_));
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      sizes.push_back(size);
      (void)takes('L');  // as Python 2 wrote it
      if (!takes(',')) {
        take(')');
        break;
      }
    }
  }

  std::string_view op_;
  const std::string& path_;
  std::string_view rest_;
  bool has_order_ = false, has_shape_ = false;
};

/// Of "<f4".
void set_type(std::string_view op, const std::string& path, std::string_view descr, StoredTensor& stored) {
  const char order = descr.front();
  unsigned width = 0;
  const bool counted = descr.size() >= 3 && std::from_chars(descr.data() + 2, descr.data() + descr.size(), width).ptr ==
                                                descr.data() + descr.size();
  if (counted && (order == '<' || order == '>' || order == '|' || order == '='))
    for (const StoredType& type : kStoredTypes)
      if (type.npy == descr[1] && dtype_size(type.dtype) == width && (order != '|' || width == 1 || descr[1] == 'V')) {
        stored.dtype = type.dtype, stored.big_endian = order == '>';
        return;
      }
  std::string known;
  for (const StoredType& type : kStoredTypes)
    known += (known.empty() ? "" : " ") + std::string(1, type.npy) + std::to_string(dtype_size(type.dtype));
  damaged(op, path, "a type that tern has, of " + known, shown(descr));
}

}  // namespace

std::string npy_header(const Tensor& tensor) {
  const StoredType& type = stored_type(tensor.dtype());
  const std::size_t width = dtype_size(type.dtype);
  std::string text = "{'descr': '" + std::string(1, width == 1 ? '|' : '<') + type.npy + std::to_string(width) +
                     "', 'fortran_order': False, 'shape': (";
  for (const std::int64_t size : tensor.shape()) text += std::to_string(size) + ", ";
  if (tensor.dim() > 1) text.resize(text.size() - 2);
  else if (tensor.dim() == 1) text.pop_back();
  text += "), }";
  const std::size_t before = kMagic.size() + 4;
  text.append(63 - (before + text.size()) % 64, ' ');  // elements begin at a multiple of 64
  text += '\n';
  const char size[] = {1, 0, static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return std::string(kMagic) + std::string(size, 4) + text;
}

StoredTensor read_npy_header(std::string_view op, const std::string& path, std::uint64_t available,
                             const ReadBytes& read) {
  std::array<char, 12> start{};
  if (available < 10) damaged(op, path, "a header of npy", std::to_string(available) + " bytes");
  read(start.data(), 8);
  if (std::string_view(start.data(), 6) != kMagic)
    damaged(op, path, "the beginning '?NUMPY'", shown({start.data(), 6}));
  const int version = static_cast<unsigned char>(start[6]);
  if (version < 1 || version > 3) damaged(op, path, "version 1, 2 or 3 of npy", std::to_string(version));
  const std::size_t digits = version == 1 ? 2 : 4;
  if (available < 8 + digits) damaged(op, path, "a header of npy", std::to_string(available) + " bytes");
  read(start.data(), digits);
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < digits; ++i)
    size |= static_cast<std::uint64_t>(static_cast<unsigned char>(start[i])) << 8 * i;
  const std::uint64_t rest = available - 8 - digits;
  if (size > rest || size > kLongestNpyHeader)
    damaged(op, path,
            "a header of at most " + std::to_string(std::min<std::uint64_t>(rest, kLongestNpyHeader)) + " bytes",
            std::to_string(size));
  std::string text(size, '\0');
  read(text.data(), size);
  Dictionary dictionary(op, path, text);
  dictionary.parse();
  StoredTensor stored;
  set_type(op, path, dictionary.descr, stored);
  stored.columns_first = dictionary.columns_first;
  stored.bytes = checked_bytes(op, path, dictionary.sizes, stored.dtype, stored.shape);
  if (stored.bytes != rest - size)
    damaged(op, path,
            std::to_string(stored.bytes) + " bytes of elements for shape " + to_string(stored.shape) + " of " +
                std::string(to_string(stored.dtype)),
            std::to_string(rest - size));
  return stored;
}

}  // namespace detail

void save_npy(const std::string& path, const Tensor& tensor) {
  Tensor kept;
  const std::string_view bytes = detail::raw_bytes("save_npy", tensor, kept);
  tern::detail::DraftFile draft(path);
  draft.write(detail::npy_header(tensor));
  draft.write(bytes);
  draft.commit();
}

Tensor load_npy(const std::string& path, const LoadOptions& options) {
  const tern::detail::InputFile file(path);
  std::uint64_t at = 0;
  const detail::ReadBytes read = [&](void* to, std::size_t bytes) { file.read_at(at, to, bytes), at += bytes; };
  const detail::StoredTensor stored = detail::read_npy_header("load_npy", path, file.size(), read);
  return detail::from_stored(stored, options, read);
}

}  // namespace tern::io
