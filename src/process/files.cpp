#include "process/files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <utility>

#include "tern/error.hpp"

namespace tern::detail {
namespace {

namespace fs = std::filesystem;

std::string last_error() { return std::strerror(errno); }

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::io, "the file " + path + " cannot be written: " + why);
}

/// An open file, closed at the end.
class FileDescriptor {
 public:
  explicit FileDescriptor(int file) : file_(file) {}
  ~FileDescriptor() { close(); }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  explicit operator bool() const { return file_ >= 0; }
  int file() const { return file_; }
  bool close() {
    const int file = file_;
    file_ = -1;
    return file < 0 || ::close(file) == 0;
  }

 private:
  int file_;
};

const char* kind_of(mode_t mode) {
  return S_ISDIR(mode) ? "a folder" : S_ISFIFO(mode) ? "a pipe" : S_ISSOCK(mode) ? "a socket" : "a device";
}

/// Where links lead in the end, whether there is something or not.
std::string target_of(std::string path) {
  constexpr int kMostLinks = 40;  // as Linux follows
  for (int i = 0;; ++i) {
    std::error_code error;
    const fs::path next = fs::read_symlink(path, error);
    if (error) return path;  // no link
    if (i == kMostLinks) refuse(path, "its links lead round");
    path = (fs::path(path).parent_path() / next).string();
  }
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

constexpr std::string_view kDraftEnding = ".tern-draft";

/// A new file beside another, for what is to replace it: with its permissions, else those the process gives. `name` is
/// set to what it is called. It is locked as long as it is open, which says that its writer is there.
int open_draft(const std::string& target, std::string& name) {
  static std::atomic<unsigned> drafts{0};
  for (;;) {
    name = target + "." + std::to_string(getpid()) + "." + std::to_string(drafts.fetch_add(1));
    name += kDraftEnding;
    const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0 && errno == EEXIST) continue;
    if (file < 0) return file;
    // A process of another container, to which this one is not there, may remove it until it is locked.
    const bool taken = flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    struct stat about {};
    if (taken || (fstat(file, &about) == 0 && about.st_nlink == 0)) {
      ::close(file);
      continue;
    }
    if (stat(target.c_str(), &about) == 0) (void)!fchmod(file, about.st_mode & 0777);
    return file;
  }
}

/// Of "‹process›.‹number›.tern-draft"; 0: another name.
pid_t writer_of(std::string_view name) {
  if (!name.ends_with(kDraftEnding)) return 0;
  name.remove_suffix(kDraftEnding.size());
  pid_t process = 0;
  unsigned number = 0;
  const char* const end = name.data() + name.size();
  const auto [dot, bad] = std::from_chars(name.data(), end, process);
  if (bad != std::errc() || dot == end || *dot != '.') return 0;
  const auto [last, wrong] = std::from_chars(dot + 1, end, number);
  return wrong == std::errc() && last == end && process > 0 ? process : 0;
}

/// Removes drafts of the file whose writers are gone: no such process is there, and nobody has them locked.
void remove_stale_drafts(const std::string& target) {
  const fs::path path(target), folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const std::string begin = path.filename().string() + ".";
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(begin)) continue;
    const pid_t writer = writer_of(std::string_view(name).substr(begin.size()));
    if (writer == 0 || ::kill(writer, 0) == 0 || errno != ESRCH) continue;
    const FileDescriptor draft(::open(at->path().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW));
    struct stat about {};
    if (draft && fstat(draft.file(), &about) == 0 && S_ISREG(about.st_mode) &&
        flock(draft.file(), LOCK_EX | LOCK_NB) == 0)
      ::unlink(at->path().c_str());
  }
}

/// Waits until what was written is on the disk, as far as the file system knows how to.
bool reaches_disk(int file) {
  while (::fsync(file) != 0) {
    if (errno == EINVAL || errno == ENOTSUP || errno == ENOSYS || errno == EROFS) return true;
    if (errno != EINTR) return false;
  }
  return true;
}

}  // namespace

std::optional<std::string> read_file(const std::string& path) {
  if (path.empty()) return {};
  const FileDescriptor opened(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  struct stat about {};
  if (!opened || fstat(opened.file(), &about) != 0 || !S_ISREG(about.st_mode)) return {};
  std::string bytes;
  char part[16384];
  for (;;) {
    const ssize_t got = ::read(opened.file(), part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {};
    if (got == 0) return bytes;
    bytes.append(part, static_cast<std::size_t>(got));
  }
}

std::string why_not_a_file(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0 || S_ISREG(about.st_mode)) return "";
  return std::string("it is ") + kind_of(about.st_mode) + ", and only regular files are replaced";
}

DraftFile::DraftFile(const std::string& path) : path_(path) {
  if (const std::string why = why_not_a_file(path); !why.empty()) refuse(path, why);
  target_ = target_of(path);
  std::error_code ignored;
  if (const fs::path folder = fs::path(target_).parent_path(); !folder.empty()) fs::create_directories(folder, ignored);
  remove_stale_drafts(target_);
  file_ = open_draft(target_, name_);
  if (file_ < 0) refuse(path, last_error());
}
DraftFile::~DraftFile() {
  if (file_ >= 0) ::close(file_);
  if (!name_.empty()) ::unlink(name_.c_str());
}
void DraftFile::write(std::string_view bytes) {
  if (!write_all(file_, bytes)) refuse(path_, last_error());
  size_ += bytes.size();
}
void DraftFile::overwrite(std::uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) refuse(path_, last_error());
    bytes.remove_prefix(static_cast<std::size_t>(written)), offset += static_cast<std::uint64_t>(written);
  }
}
void DraftFile::commit(bool lasting) {
  if (lasting && !reaches_disk(file_)) refuse(path_, last_error());
  const int file = std::exchange(file_, -1);
  if (::close(file) != 0 || ::rename(name_.c_str(), target_.c_str()) != 0) refuse(path_, last_error());
  name_.clear();
  if (!lasting) return;
  // The new name, too; where that fails the file is whole all the same, the old one or this.
  const fs::path folder = fs::path(target_).parent_path();
  const FileDescriptor opened(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened) (void)reaches_disk(opened.file());
}

InputFile::InputFile(const std::string& path)
    : path_(path), file_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)) {
  const auto refuse_reading = [&](const std::string& why) {
    if (file_ >= 0) ::close(file_);
    throw Error(ErrorKind::io, "the file " + path + " cannot be read: " + why);
  };
  struct stat about {};
  if (file_ < 0 || fstat(file_, &about) != 0) refuse_reading(last_error());
  if (!S_ISREG(about.st_mode)) refuse_reading(std::string("it is ") + kind_of(about.st_mode));
  size_ = static_cast<std::uint64_t>(about.st_size);
}
InputFile::~InputFile() { ::close(file_); }
void InputFile::read_at(std::uint64_t offset, void* to, std::size_t bytes) const {
  char* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = ::pread(file_, at, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(ErrorKind::io, "the file " + path_ + " cannot be read: " + last_error());
    if (got == 0)
      throw Error(ErrorKind::io, "the file " + path_ + " ends at byte " + std::to_string(offset) + ": expected " +
                                     std::to_string(bytes) + " more");
    at += got, bytes -= static_cast<std::size_t>(got), offset += static_cast<std::uint64_t>(got);
  }
}

std::shared_ptr<std::byte> InputFile::map(std::uint64_t offset, std::uint64_t bytes) const {
  const std::uint64_t before = offset % static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const auto size = static_cast<std::size_t>(before + bytes);
  if (bytes == 0 || size != before + bytes || offset > size_ || bytes > size_ - offset) return {};
  void* const first =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file_, static_cast<off_t>(offset - before));
  if (first == MAP_FAILED) return {};
  const std::shared_ptr<void> whole(first, [size](void* at) { ::munmap(at, size); });
  return {whole, static_cast<std::byte*>(first) + before};
}

void write_file_atomically(const std::string& path, std::string_view bytes) {
  DraftFile draft(path);
  draft.write(bytes);
  draft.commit(false);
}

}  // namespace tern::detail
