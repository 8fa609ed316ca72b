// Zip archives, as far as npz needs them: entries stored or deflated, of any size (zip64).
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "process/files.hpp"

namespace tern::io::detail {

struct ZipEntry {
  std::string name;
  unsigned method = 0;  // 0: stored, 8: deflated
  std::uint32_t checksum = 0;
  std::uint64_t compressed = 0, size = 0, begin = 0, header = 0;  // offsets in the file
};
/// What an archive holds, in the order of the file: inside it, and no two entries overlap. Throws io.
std::vector<ZipEntry> zip_entries(const tern::detail::InputFile& file);

/// The bytes of an entry, from its beginning on.
class ZipReader {
 public:
  ZipReader(const tern::detail::InputFile& file, const ZipEntry& entry);
  ~ZipReader();
  ZipReader(const ZipReader&) = delete;
  ZipReader& operator=(const ZipReader&) = delete;
  void read(void* to, std::size_t bytes);
  /// Throws io where bytes are left over, or they are not those that were written.
  void finish();

 private:
  struct InflateStream;
  std::size_t inflate_some(char* to, std::size_t bytes);

  const tern::detail::InputFile& file_;
  const ZipEntry& entry_;
  std::uint64_t at_ = 0;  // in what is stored
  unsigned long checksum_ = 0;
  std::unique_ptr<InflateStream> stream_;
};

class ZipWriter {
 public:
  explicit ZipWriter(const std::string& path) : path_(path), draft_(path) {}
  /// An entry of these parts, one behind the other.
  void add(const std::string& name, const std::vector<std::string_view>& parts, bool compress);
  void commit();

 private:
  std::uint64_t deflate_all(const std::vector<std::string_view>& parts);

  std::string path_;
  tern::detail::DraftFile draft_;
  std::vector<ZipEntry> entries_;
};

}  // namespace tern::io::detail
