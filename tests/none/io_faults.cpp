// Disks that fail and writers that are killed: what the library asks of the system is answered here, and goes wrong
// where a test says so.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "child.hpp"
#include "stored_files.hpp"

namespace tern::test {
namespace {

int calls_to_live = -1;              // after so many the process is killed; -1: never
std::size_t most_at_once = 1 << 30;  // bytes of a write
std::int64_t bytes_that_read = -1;   // those behind cannot be read; -1: all can
std::string cut_when_read;           // a file that loses its last byte when those are asked for

void live_or_die() {
  if (calls_to_live < 0 || calls_to_live-- > 0) return;
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

}  // namespace

// Called as the system's, which they take the place of in this program.
extern "C" {
ssize_t killed_write(int file, const void* bytes, std::size_t count) asm("write");
ssize_t killed_write(int file, const void* bytes, std::size_t count) {
  live_or_die();
  return syscall(SYS_write, file, bytes, std::min(count, most_at_once));
}
ssize_t killed_pwrite(int file, const void* bytes, std::size_t count, off_t at) asm("pwrite");
ssize_t killed_pwrite(int file, const void* bytes, std::size_t count, off_t at) {
  live_or_die();
  return syscall(SYS_pwrite64, file, bytes, count, at);
}
int killed_fsync(int file) asm("fsync");
int killed_fsync(int file) {
  live_or_die();
  return waits_for_disk ? static_cast<int>(syscall(SYS_fsync, file)) : 0;
}
int killed_rename(const char* from, const char* to) asm("rename");
int killed_rename(const char* from, const char* to) {
  live_or_die();
  return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
ssize_t failing_pread(int file, void* to, std::size_t count, off_t at) asm("pread");
ssize_t failing_pread(int file, void* to, std::size_t count, off_t at) {
  if (bytes_that_read >= 0 && at + static_cast<std::int64_t>(count) > bytes_that_read) {
    if (cut_when_read.empty()) return errno = EIO, -1;
    if (truncate(cut_when_read.c_str(), bytes_that_read) != 0) return -1;
  }
  return syscall(SYS_pread64, file, to, count, at);
}
}

namespace {

struct Kept {
  const char* name;
  void (*save)(const std::string&, const io::Named&);
  io::Named (*load)(const std::string&);
};
constexpr Kept kKept[] = {
    {"npy", [](const std::string& path, const io::Named& x) { io::save_npy(path, x.at("a")); },
     [](const std::string& path) { return io::Named{{"a", io::load_npy(path)}}; }},
    {"npz", [](const std::string& path, const io::Named& x) { io::save_npz(path, x, {.compress = true}); },
     [](const std::string& path) { return io::load_npz(path); }},
    {"safetensors", [](const std::string& path, const io::Named& x) { io::save_safetensors(path, x); },
     [](const std::string& path) { return io::load_safetensors(path); }}};

/// Killed after every number of calls until it gets through: before, within and between writes, before the bytes are
/// on the disk, before the file has its name, and after.
TEST_F(StoredFiles, StayWholeWhereTheWriterIsKilled) {
  Generator dice(1);
  const io::Named old{{"a", arange(0, 5)}}, next{{"a", rand({5000}, dice)}};
  for (const Kept& format : kKept) {
    int stayed = 0, replaced = 0, drafts = 0;
    for (int calls = 0;; ++calls) {
      format.save(at("x"), old);
      ASSERT_EQ(count(), 1u) << "what the killed one left is removed";
      const std::string before = read(at("x"));
      const int end = in_child([&] {
        calls_to_live = calls, most_at_once = 4096;
        format.save(at("x"), next);
        calls_to_live = -1;
        return true;
      });
      drafts += count() > 1;
      if (end == 0) break;
      ASSERT_EQ(end, -2) << format.name << ", " << calls;
      const bool is_old = read(at("x")) == before;
      (is_old ? stayed : replaced) += 1;
      expect_same(format.load(at("x")), is_old ? old : next);
    }
    EXPECT_GE(stayed, 7) << format.name;  // five writes, the disk, the name
    EXPECT_EQ(replaced, 1) << format.name;
    EXPECT_EQ(drafts, stayed) << format.name;
    expect_same(format.load(at("x")), next);
    EXPECT_EQ(count(), 1u);
  }
}
TEST_F(StoredFiles, LoseTheDraftsOfProcessesThatAreGoneAndNothingElse) {
  const std::string own = std::to_string(getpid());
  // No process has such a number: Linux counts to 2²².
  const std::string gone = "x.99999999.0.tern-draft", locked = "x.99999999.1.tern-draft";
  const std::vector<std::string> others{
      "x.99999999.0", "x.99999999.0.tern-draft.old", "x.99999999.tern-draft", "x.99999999..tern-draft",
      "x.99999999.-1.tern-draft", "x.-99999999.0.tern-draft", "x.0.0.tern-draft", "x.99999999999999.0.tern-draft",
      "y.99999999.0.tern-draft", "xx.99999999.0.tern-draft", "x." + own + ".999999.tern-draft", "x.1.0.tern-draft"};
  for (const std::string& name : others) write(name, name);
  write(gone, ""), write(locked, "");
  std::filesystem::create_directory(at("x.99999999.2.tern-draft"));
  std::filesystem::create_symlink("y", at("x.99999999.3.tern-draft"));
  const int file = open(at(locked).c_str(), O_RDONLY);
  ASSERT_EQ(flock(file, LOCK_EX), 0);
  io::save_npy(at("x"), ones({2}));
  EXPECT_FALSE(std::filesystem::exists(at(gone)));
  EXPECT_EQ(count(), others.size() + 4) << "the file, the locked one, the folder and the link";
  for (const std::string& name : others) EXPECT_EQ(read(at(name)), name);
  close(file);
  io::save_npy(at("x"), ones({2}));
  EXPECT_FALSE(std::filesystem::exists(at(locked)));
}

/// A file whose last bytes cannot be read, and one that is cut short while it is read.
TEST_F(StoredFiles, AreLoadedAsAWholeOrNotAtAll) {
  const auto model = [](double value) {
    return std::vector<Var>{parameter(full({1000}, value)), parameter(full({3}, value)), parameter(full({1}, value))};
  };
  io::save(at("m"), model(1));
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(at("m")));
  const std::vector<Var> other = model(2);
  for (const bool cut : {false, true}) {
    bytes_that_read = size - 1, cut_when_read = cut ? at("m") : "";
    expect_io({"m", cut ? "ends at byte" : "cannot be read"}, [&] { io::load(at("m"), other); });
    bytes_that_read = -1;
    expect_same(io::named(other), io::named(model(2)));
    if (cut) expect_io({"bytes of elements"}, [&] { io::load(at("m"), other); });
    expect_same(io::named(other), io::named(model(2)));
    io::save(at("m"), model(1));
  }
  io::load(at("m"), other);
  expect_same(io::named(other), io::named(model(1)));
}

}  // namespace
}  // namespace tern::test
