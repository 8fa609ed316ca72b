// The files tern keeps: read and replaced as a whole.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tern::detail {

/// What the regular file (or a link to one) holds; nothing where there is none that can be read. Other things that may
/// have that name, a pipe, a device, a folder, are not opened for long enough to wait for them.
std::optional<std::string> read_file(const std::string& path);

/// Why write_file_atomically would refuse the path, as far as that can be told beforehand: it names something that is
/// no regular file. Empty where it would not.
std::string why_not_a_file(const std::string& path);

/// A file in the making, beside the one it is to replace. What is not committed is removed.
class DraftFile {
 public:
  /// Makes the folders on the way and follows links: what they lead to is replaced. Throws `io`.
  explicit DraftFile(const std::string& path);
  ~DraftFile();
  DraftFile(const DraftFile&) = delete;
  DraftFile& operator=(const DraftFile&) = delete;
  /// At the end; throws `io`, saying why, where the disk is full, say.
  void write(std::string_view bytes);
  /// Over what is written already.
  void overwrite(std::uint64_t offset, std::string_view bytes);
  std::uint64_t size() const { return size_; }
  /// Puts it in the place of the file, in one step.
  void commit();

 private:
  std::string path_, target_, name_;
  int file_ = -1;
  std::uint64_t size_ = 0;
};

/// A regular file that is read in parts.
class InputFile {
 public:
  /// Throws `io` where there is none that can be read.
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  /// Throws `io` where it ends before.
  void read_at(std::uint64_t offset, void* to, std::size_t bytes) const;

 private:
  std::string path_;
  int file_ = -1;
  std::uint64_t size_ = 0;
};

/// Replaces the file by one of these bytes, made beside it and renamed, so that a reader sees all of it or what was
/// there before. Makes the folders on the way. Follows links: what they lead to is replaced. Nothing stays beside it
/// where that fails. Throws `io`, saying why: the path is something else than a regular file, or cannot be written.
void write_file_atomically(const std::string& path, std::string_view bytes);

}  // namespace tern::detail
