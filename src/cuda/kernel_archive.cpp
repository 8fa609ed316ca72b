#include "cuda/kernel_archive.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include "backend/own_folder.hpp"
#include "cuda/dialect.hpp"
#include "process/files.hpp"
#include "tern/error.hpp"
#ifdef TERN_ZLIB
#include <zlib.h>
#endif

namespace tern::detail_cuda {
namespace {

std::uint64_t hash(std::string_view bytes, std::uint64_t start) {
  std::uint64_t h = start;
  for (const char c : bytes) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return h;
}
constexpr std::uint64_t kStart = 0xcbf29ce484222325ull;

/// What every kernel begins with: another version of tern prints something else.
std::uint64_t language() {
  static const std::uint64_t key = content_check(detail_gpu::cuda_dialect().module({}));
  return key;
}

[[noreturn]] void refuse(const char* why) { throw Error(ErrorKind::io, why); }

#ifdef TERN_ZLIB
constexpr std::size_t kDictionary = 32 << 10;  // the most that deflate looks back

std::string deflated(std::string_view text, std::string_view dictionary) {
  z_stream stream{};
  deflateInit(&stream, Z_DEFAULT_COMPRESSION);
  deflateSetDictionary(&stream, reinterpret_cast<const Bytef*>(dictionary.data()),
                       static_cast<uInt>(dictionary.size()));
  std::string result(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data()), stream.avail_out = static_cast<uInt>(result.size());
  deflate(&stream, Z_FINISH);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}
/// Throws where the bytes are not `size` bytes compressed with the dictionary; zlib keeps a checksum.
std::string inflated(std::string_view bytes, std::size_t size, std::string_view dictionary) {
  z_stream stream{};
  inflateInit(&stream);
  std::string result(size, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data()), stream.avail_out = static_cast<uInt>(size);
  int state = inflate(&stream, Z_FINISH);
  if (state == Z_NEED_DICT && inflateSetDictionary(&stream, reinterpret_cast<const Bytef*>(dictionary.data()),
                                                   static_cast<uInt>(dictionary.size())) == Z_OK)
    state = inflate(&stream, Z_FINISH);
  const bool good = state == Z_STREAM_END && stream.total_out == size;
  inflateEnd(&stream);
  if (!good) refuse("it is damaged");
  return result;
}
#else
constexpr std::size_t kDictionary = 0;
std::string deflated(std::string_view, std::string_view) { refuse("this build of tern has no zlib"); }
std::string inflated(std::string_view, std::size_t, std::string_view) { refuse("this build of tern has no zlib"); }
#endif

}  // namespace

ContentKey content_key(std::string_view text) { return {hash(text, kStart), hash(text, ~kStart)}; }
std::uint64_t content_check(std::string_view bytes) { return hash(bytes, kStart * 31); }

struct KernelArchive::Header {
  char magic[8] = {'t', 'e', 'r', 'n', 'p', 't', 'x', '1'};
  std::uint64_t language = 0, entries = 0, dictionary = 0, data = 0;
  std::uint64_t check = 0;  // of the entries and the dictionary
};

KernelArchive::KernelArchive(std::string bytes) : bytes_(std::move(bytes)) {
  Header header;
  const Header wanted;
  if (bytes_.size() < sizeof header) refuse("it is no kernel archive");
  std::memcpy(&header, bytes_.data(), sizeof header);
  if (std::memcmp(header.magic, wanted.magic, sizeof wanted.magic) != 0) refuse("it is no kernel archive");
  if (header.language != language()) refuse("it was made by another version of tern");
  const std::string_view rest = std::string_view(bytes_).substr(sizeof header);
  const std::uint64_t most = rest.size();
  if (header.entries > most / sizeof(StoredKernel) || header.dictionary > most || header.data > most ||
      header.entries * sizeof(StoredKernel) + header.dictionary + header.data != most)
    refuse("it is damaged");
  const std::size_t table = header.entries * sizeof(StoredKernel);
  if (content_check(rest.substr(0, table + header.dictionary)) != header.check) refuse("it is damaged");
  entries_.resize(header.entries);
  if (table > 0) std::memcpy(entries_.data(), rest.data(), table);
  dictionary_ = rest.substr(table, header.dictionary), data_ = rest.substr(table + header.dictionary);
}

const KernelArchive::StoredKernel* KernelArchive::find(std::string_view text) const {
  const ContentKey key = content_key(text);
  const auto found =
      std::lower_bound(entries_.begin(), entries_.end(), key, [](const StoredKernel& e, const ContentKey& k) {
        return ContentKey{e.first, e.second} < k;
      });
  return found != entries_.end() && ContentKey{found->first, found->second} == key ? &*found : nullptr;
}

std::string KernelArchive::ptx(std::string_view text) const {
  const StoredKernel* entry = find(text);
  if (!entry) return "";
  if (entry->begin > data_.size() || entry->stored > data_.size() - entry->begin) refuse("it is damaged");
  return inflated(data_.substr(entry->begin, entry->stored), entry->size, dictionary_);
}

std::string KernelArchive::written(const std::map<std::string, std::string>& kernels) {
  // The dictionary: the beginnings of kernels from all over, which have the most in common with others.
  std::string dictionary, data;
  const std::size_t each = kernels.empty() ? 0 : std::max<std::size_t>(kDictionary / kernels.size(), 2048);
  std::size_t step = std::max<std::size_t>(1, kernels.size() * each / std::max<std::size_t>(kDictionary, 1)), n = 0;
  for (const auto& [text, ptx] : kernels)
    if (n++ % step == 0 && dictionary.size() < kDictionary) dictionary += ptx.substr(0, each);
  if (dictionary.size() > kDictionary) dictionary.resize(kDictionary);
  std::vector<StoredKernel> entries;
  for (const auto& [text, ptx] : kernels) {
    const ContentKey key = content_key(text);
    const std::string stored = deflated(ptx, dictionary);
    entries.push_back({key.first, key.second, data.size(), static_cast<std::uint32_t>(stored.size()),
                       static_cast<std::uint32_t>(ptx.size())});
    data += stored;
  }
  std::sort(entries.begin(), entries.end(), [](const StoredKernel& a, const StoredKernel& b) {
    return ContentKey{a.first, a.second} < ContentKey{b.first, b.second};
  });
  std::string table(reinterpret_cast<const char*>(entries.data()), entries.size() * sizeof(StoredKernel));
  table += dictionary;
  Header header;
  header.language = language(), header.entries = entries.size(), header.dictionary = dictionary.size();
  header.data = data.size(), header.check = content_check(table);
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + table + data;
}

namespace {

struct FoundArchive {
  std::unique_ptr<const KernelArchive> archive;
  std::string reason;
};
FoundArchive find_archive() {
  std::vector<std::string> files;
  const char* named = std::getenv("TERN_CUDA_KERNELS");
  if (named && *named) {
    if (std::string_view(named) == "none") return {nullptr, "no kernel archive is wanted (TERN_CUDA_KERNELS=none)"};
    files.push_back(named);
  } else {
    files = detail::installed_beside(TERN_CUDA_ARCHIVE_NAME);
#ifdef TERN_CUDA_ARCHIVE_BUILT
    files.push_back(TERN_CUDA_ARCHIVE_BUILT);
#endif
  }
  for (const std::string& file : files) {
    std::optional<std::string> bytes = detail::read_file(file);
    if (!bytes) continue;
    try {
      return {std::make_unique<const KernelArchive>(std::move(*bytes)), ""};
    } catch (const Error& error) {
      return {nullptr, "the kernel archive, " + file + ", does not serve: " + error.what()};
    }
  }
  return {nullptr, named ? std::string("there is no kernel archive, ") + named + " (TERN_CUDA_KERNELS)"
                         : "this installation of tern has no kernel archive"};
}

}  // namespace

const KernelArchive* KernelArchive::found(std::string& reason) {
  static const auto& found = *new FoundArchive(find_archive());  // outlives what is in static storage
  reason = found.reason;
  return found.archive.get();
}

}  // namespace tern::detail_cuda
