// The files tern keeps: read and replaced as a whole.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
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

/// A file in the making, beside the one it is to replace: "name.‹process›.‹number›.tern-draft". What is not committed
/// is removed; what a process left that was killed, by the next one that replaces the same file.
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
  /// Puts it in the place of the file, in one step. `lasting`: once it is on the disk, for which it waits: a machine
  /// that stops then has one of both. (Else, on some file systems, a file of zeros.)
  void commit(bool lasting = true);

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
  /// Some of it as memory, read from the disk where it is looked at, and copied where it is written to; null where that
  /// cannot be had. It stays what it is where the file is replaced or removed, and outlives this object. Where the file
  /// is cut short, looking behind its end raises SIGBUS.
  std::shared_ptr<std::byte> map(std::uint64_t offset, std::uint64_t bytes) const;

 private:
  std::string path_;
  int file_ = -1;
  std::uint64_t size_ = 0;
};

/// Replaces the file by one of these bytes, made beside it and renamed, so that a reader sees all of it or what was
/// there before. Makes the folders on the way. Follows links: what they lead to is replaced. Nothing stays beside it
/// where that fails. It does not wait for the disk (tens of milliseconds): it is for what can be made again, and is
/// checked where it is read. Throws `io`, saying why: the path is something else than a regular file, or cannot be
/// written.
void write_file_atomically(const std::string& path, std::string_view bytes);

}  // namespace tern::detail
