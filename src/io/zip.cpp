#include "io/zip.hpp"

#include <algorithm>
#include <set>

#include "io/stored.hpp"
#ifdef TERN_ZLIB
#include <zlib.h>
#endif

namespace tern::io::detail {
namespace {

constexpr std::uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50,
                        kLocator64 = 0x07064b50;
constexpr std::uint64_t kMost16 = 0xffff, kMost32 = 0xffffffff;
constexpr std::uint64_t kMostOfCentral = 46 + 3 * kMost16;  // an entry of the directory: its name, fields and comment
constexpr std::size_t kEndBytes = 22, kLocatorBytes = 20, kEnd64Bytes = 56, kCentralBytes = 46, kLocalHeaderBytes = 30;
constexpr unsigned kStored = 0, kDeflated = 8;

[[noreturn]] void bad(const std::string& path, const std::string& expected, const std::string& got) {
  damaged("load_npz", path, expected, got);
}

/// A number of so many bytes, the lowest first; the caller has checked that they are there.
std::uint64_t word_at(std::string_view bytes, std::size_t at, int width) {
  std::uint64_t value = 0;
  for (int i = 0; i < width; ++i)
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)])) << 8 * i;
  return value;
}
void put(std::string& bytes, std::uint64_t value, int width) {
  for (int i = 0; i < width; ++i) bytes += static_cast<char>(value >> 8 * i & 0xff);
}
std::string read(const tern::detail::InputFile& file, std::uint64_t at, std::uint64_t bytes) {
  if (at > file.size() || bytes > file.size() - at)
    bad(file.path(), std::to_string(bytes) + " bytes at " + std::to_string(at),
        "a file of " + std::to_string(file.size()));
  std::string text(bytes, '\0');
  file.read_at(at, text.data(), bytes);
  return text;
}

struct Directory {
  std::uint64_t count = 0, bytes = 0, begin = 0;
};
Directory find_directory(const tern::detail::InputFile& file) {
  const std::uint64_t tail = std::min<std::uint64_t>(file.size(), kEndBytes + kMost16);
  const std::string text = read(file, file.size() - tail, tail);
  for (std::size_t i = text.size() < kEndBytes ? 0 : text.size() - kEndBytes + 1; i-- > 0;) {
    if (word_at(text, i, 4) != kEnd || word_at(text, i + 20, 2) != text.size() - i - kEndBytes) continue;
    Directory found{word_at(text, i + 10, 2), word_at(text, i + 12, 4), word_at(text, i + 16, 4)};
    std::uint64_t end = file.size() - tail + i;
    if (found.count == kMost16 || found.bytes == kMost32 || found.begin == kMost32) {
      if (end < kLocatorBytes) bad(file.path(), "the place of a zip64 directory", "nothing");
      const std::string locator = read(file, end - kLocatorBytes, kLocatorBytes);
      if (word_at(locator, 0, 4) != kLocator64) bad(file.path(), "the place of a zip64 directory", "something else");
      end = word_at(locator, 8, 8);
      const std::string wide = read(file, end, kEnd64Bytes);
      if (word_at(wide, 0, 4) != kEnd64) bad(file.path(), "a zip64 directory", "something else");
      found = {word_at(wide, 32, 8), word_at(wide, 40, 8), word_at(wide, 48, 8)};
    }
    if (found.begin > end || found.bytes > end - found.begin || found.count > found.bytes / kCentralBytes ||
        (found.bytes + kMostOfCentral - 1) / kMostOfCentral > found.count)
      bad(file.path(), "a directory inside the file",
          std::to_string(found.count) + " entries in " + std::to_string(found.bytes) + " bytes at " +
              std::to_string(found.begin));
    return found;
  }
  bad(file.path(), "a zip archive with its directory at the end", std::to_string(file.size()) + " bytes without one");
}

/// The directory's bytes, read in parts: a damaged one may claim to be as large as the file.
class DirectoryBytes {
 public:
  DirectoryBytes(const tern::detail::InputFile& file, const Directory& directory)
      : file_(file), at_(directory.begin), left_(directory.bytes) {}
  /// The next so many, without going on; fewer at the end.
  std::string_view see(std::size_t bytes) {
    if (text_.size() - begin_ < bytes && left_ > 0) {
      text_.erase(0, begin_), begin_ = 0;
      const auto more = static_cast<std::size_t>(std::min<std::uint64_t>(left_, std::max(kPart, bytes)));
      text_ += read(file_, at_, more);
      at_ += more, left_ -= more;
    }
    return std::string_view(text_).substr(begin_, bytes);
  }
  void skip(std::size_t bytes) { begin_ += bytes; }

 private:
  static constexpr std::size_t kPart = std::size_t{1} << 16;

  const tern::detail::InputFile& file_;
  std::uint64_t at_, left_;
  std::string text_;
  std::size_t begin_ = 0;
};

/// The sizes and the place that do not fit 32 bits.
void read_wide(const std::string& path, std::string_view extra, ZipEntry& entry) {
  while (extra.size() >= 4) {
    const std::uint64_t kind = word_at(extra, 0, 2), size = word_at(extra, 2, 2);
    if (size > extra.size() - 4) bad(path, "extra fields inside their entry", std::to_string(size) + " bytes");
    std::string_view field = extra.substr(4, size);
    extra.remove_prefix(4 + size);
    if (kind != 1) continue;
    for (std::uint64_t* value : {&entry.size, &entry.compressed, &entry.header}) {
      if (*value != kMost32) continue;
      if (field.size() < 8) bad(path, "sizes of 64 bits", "fewer");
      *value = word_at(field, 0, 8);
      field.remove_prefix(8);
    }
  }
}

/// Where the bytes begin; checks that they are in front of the directory.
void locate(const tern::detail::InputFile& file, std::uint64_t end, ZipEntry& entry) {
  const std::string& path = file.path();
  const std::string what = "the entry " + shown(entry.name) + " in front of the directory";
  if (entry.header > end || end - entry.header < kLocalHeaderBytes)
    bad(path, what, "its place is " + std::to_string(entry.header));
  const std::string local = read(file, entry.header, kLocalHeaderBytes);
  if (word_at(local, 0, 4) != kLocal) bad(path, what, "something else at " + std::to_string(entry.header));
  entry.begin = entry.header + kLocalHeaderBytes + word_at(local, 26, 2) + word_at(local, 28, 2);
  if (entry.begin > end || entry.compressed > end - entry.begin)
    bad(path, what, std::to_string(entry.compressed) + " bytes at " + std::to_string(entry.begin));
}

/// Deflate makes at most 1032 bytes of one.
void check_sizes(const std::string& path, const ZipEntry& entry) {
  constexpr std::uint64_t kMostOfOne = 1032;
  if (entry.method != kStored && entry.method != kDeflated)
    bad(path, "entries stored or deflated", "method " + std::to_string(entry.method) + " of " + shown(entry.name));
  const bool possible =
      entry.method == kStored ? entry.size == entry.compressed : entry.size / kMostOfOne <= entry.compressed;
  if (!possible)
    bad(path, "as many bytes as " + std::to_string(entry.compressed) + " can become",
        std::to_string(entry.size) + " in " + shown(entry.name));
}

}  // namespace

std::vector<ZipEntry> zip_entries(const tern::detail::InputFile& file) {
  const std::string& path = file.path();
  const Directory directory = find_directory(file);
  DirectoryBytes bytes(file, directory);
  std::vector<ZipEntry> entries;
  std::set<std::string> names;
  for (std::uint64_t i = 0; i < directory.count; ++i) {
    const std::string_view head = bytes.see(kCentralBytes);
    if (head.size() < kCentralBytes || word_at(head, 0, 4) != kCentral)
      bad(path, std::to_string(directory.count) + " entries", std::to_string(i));
    const std::size_t name = word_at(head, 28, 2), extra = word_at(head, 30, 2), comment = word_at(head, 32, 2),
                      all = kCentralBytes + name + extra + comment;
    const std::string_view text = bytes.see(all);
    if (text.size() < all)
      bad(path, "an entry inside the directory", std::to_string(name + extra + comment) + " bytes");
    ZipEntry entry{std::string(text.substr(kCentralBytes, name)),
                   static_cast<unsigned>(word_at(text, 10, 2)),
                   static_cast<std::uint32_t>(word_at(text, 16, 4)),
                   word_at(text, 20, 4),
                   word_at(text, 24, 4),
                   0,
                   word_at(text, 42, 4)};
    if (word_at(text, 8, 2) & 1) bad(path, "entries that are not encrypted", shown(entry.name));
    read_wide(path, text.substr(kCentralBytes + name, extra), entry);
    check_sizes(path, entry);
    locate(file, directory.begin, entry);
    if (!names.insert(entry.name).second) bad(path, "each name once", shown(entry.name) + " twice");
    entries.push_back(std::move(entry));
    bytes.skip(all);
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.header < b.header; });
  for (std::size_t i = 1; i < entries.size(); ++i)
    if (entries[i - 1].begin + entries[i - 1].compressed > entries[i].header)
      bad(path, "entries one behind the other",
          shown(entries[i - 1].name) + " and " + shown(entries[i].name) + ", which overlap");
  return entries;
}

#ifdef TERN_ZLIB

namespace {
constexpr std::size_t kBytesRead = std::size_t{1} << 18;

std::uint32_t checksum_of(unsigned long before, const char* bytes, std::size_t count) {
  if (count == 0) return static_cast<std::uint32_t>(before);  // of a null pointer zlib begins anew
  return static_cast<std::uint32_t>(crc32_z(before, reinterpret_cast<const Bytef*>(bytes), count));
}
}  // namespace

struct ZipReader::InflateStream {
  z_stream state{};
  std::string part;
  InflateStream() {
    if (inflateInit2(&state, -MAX_WBITS) != Z_OK) throw Error(ErrorKind::out_of_memory, "load_npz: zlib cannot begin");
  }
  ~InflateStream() { inflateEnd(&state); }
};
ZipReader::ZipReader(const tern::detail::InputFile& file, const ZipEntry& entry) : file_(file), entry_(entry) {
  if (entry.method == kDeflated) stream_ = std::make_unique<InflateStream>();
}
ZipReader::~ZipReader() = default;

/// At most `bytes` bytes; 0 at the end.
std::size_t ZipReader::inflate_some(char* to, std::size_t bytes) {
  z_stream& z = stream_->state;
  if (z.avail_in == 0) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kBytesRead, entry_.compressed - at_));
    stream_->part.resize(count);
    file_.read_at(entry_.begin + at_, stream_->part.data(), count);
    at_ += count;
    z.next_in = reinterpret_cast<Bytef*>(stream_->part.data()), z.avail_in = static_cast<uInt>(count);
  }
  const auto room = static_cast<uInt>(std::min<std::size_t>(bytes, 1u << 30));
  z.next_out = reinterpret_cast<Bytef*>(to), z.avail_out = room;
  const int status = inflate(&z, Z_NO_FLUSH);
  const std::size_t made = room - z.avail_out;
  if (status == Z_STREAM_END) return made;
  if (status != Z_OK || (made == 0 && z.avail_in == 0 && at_ == entry_.compressed))
    bad(file_.path(), "deflated bytes in " + shown(entry_.name),
        status != Z_OK && z.msg ? z.msg : "an end before the last of them");
  return made > 0 ? made : inflate_some(to, bytes);
}

void ZipReader::read(void* to, std::size_t bytes) {
  char* const begin = static_cast<char*>(to);
  if (!stream_) {
    if (bytes > entry_.compressed - at_) bad(file_.path(), std::to_string(bytes) + " more bytes", "the entry's end");
    file_.read_at(entry_.begin + at_, to, bytes);
    at_ += bytes;
  } else {
    for (std::size_t done = 0; done < bytes;) {
      const std::size_t made = inflate_some(begin + done, bytes - done);
      if (made == 0) bad(file_.path(), std::to_string(bytes - done) + " more bytes", "the entry's end");
      done += made;
    }
  }
  checksum_ = checksum_of(checksum_, begin, bytes);
}
void ZipReader::finish() {
  char more = 0;
  const bool over = stream_ ? inflate_some(&more, 1) > 0 : at_ != entry_.compressed;
  if (over) bad(file_.path(), std::to_string(entry_.size) + " bytes in " + shown(entry_.name), "more");
  if (checksum_ != entry_.checksum)
    bad(file_.path(), "checksum " + std::to_string(entry_.checksum) + " of " + shown(entry_.name),
        std::to_string(checksum_));
}

std::uint64_t ZipWriter::deflate_all(const std::vector<std::string_view>& parts) {
  z_stream z{};
  if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw Error(ErrorKind::out_of_memory, "save_npz: zlib cannot begin");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> ends(&z, deflateEnd);
  const std::uint64_t before = draft_.size();
  std::string made(kBytesRead, '\0');
  const auto run = [&](int flush) {
    do {
      z.next_out = reinterpret_cast<Bytef*>(made.data()), z.avail_out = static_cast<uInt>(kBytesRead);
      deflate(&z, flush);
      draft_.write({made.data(), kBytesRead - z.avail_out});
    } while (z.avail_out == 0);
  };
  for (std::string_view part : parts)
    while (!part.empty()) {
      const std::size_t count = std::min<std::size_t>(part.size(), 1u << 30);
      z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data())), z.avail_in = static_cast<uInt>(count);
      run(Z_NO_FLUSH);
      part.remove_prefix(count);
    }
  run(Z_FINISH);
  return draft_.size() - before;
}

void ZipWriter::add(const std::string& name, const std::vector<std::string_view>& parts, bool compress) {
  ZipEntry entry{name, compress ? kDeflated : kStored};
  entry.header = draft_.size();
  unsigned long checksum = 0;
  for (const std::string_view part : parts)
    checksum = checksum_of(checksum, part.data(), part.size()), entry.size += part.size();
  entry.checksum = static_cast<std::uint32_t>(checksum);
  // The sizes stand in the zip64 field, whatever they are: the compressed one is known only afterwards.
  const auto local = [&] {
    std::string text;
    put(text, kLocal, 4), put(text, 45, 2), put(text, 0x800, 2), put(text, entry.method, 2);
    put(text, 0, 2), put(text, 0x21, 2), put(text, entry.checksum, 4), put(text, kMost32, 4), put(text, kMost32, 4);
    put(text, name.size(), 2), put(text, 20, 2);
    text += name;
    put(text, 1, 2), put(text, 16, 2), put(text, entry.size, 8), put(text, entry.compressed, 8);
    return text;
  };
  draft_.write(local());
  entry.compressed = entry.size;
  if (compress) entry.compressed = deflate_all(parts);
  else
    for (const std::string_view part : parts) draft_.write(part);
  draft_.overwrite(entry.header, local());
  entries_.push_back(std::move(entry));
}

void ZipWriter::commit() {
  const std::uint64_t begin = draft_.size();
  for (const ZipEntry& entry : entries_) {
    std::string text;
    put(text, kCentral, 4), put(text, 45, 2), put(text, 45, 2), put(text, 0x800, 2), put(text, entry.method, 2);
    put(text, 0, 2), put(text, 0x21, 2), put(text, entry.checksum, 4), put(text, kMost32, 4), put(text, kMost32, 4);
    put(text, entry.name.size(), 2), put(text, 28, 2), put(text, 0, 8), put(text, 0, 2), put(text, kMost32, 4);
    text += entry.name;
    put(text, 1, 2), put(text, 24, 2), put(text, entry.size, 8), put(text, entry.compressed, 8);
    put(text, entry.header, 8);
    draft_.write(text);
  }
  const std::uint64_t end = draft_.size(), count = entries_.size();
  std::string text;
  if (count >= kMost16 || end >= kMost32) {
    put(text, kEnd64, 4), put(text, kEnd64Bytes - 12, 8), put(text, 45, 2), put(text, 45, 2), put(text, 0, 8);
    put(text, count, 8), put(text, count, 8), put(text, end - begin, 8), put(text, begin, 8);
    put(text, kLocator64, 4), put(text, 0, 4), put(text, end, 8), put(text, 1, 4);
  }
  put(text, kEnd, 4), put(text, 0, 4);
  for (int i = 0; i < 2; ++i) put(text, std::min(count, kMost16), 2);
  put(text, std::min(end - begin, kMost32), 4), put(text, std::min(begin, kMost32), 4), put(text, 0, 2);
  draft_.write(text);
  draft_.commit();
}

#endif

}  // namespace tern::io::detail
