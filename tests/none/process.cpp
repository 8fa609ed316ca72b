// The edges of a process: how many threads it may have, the files it keeps, the memory it holds.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <climits>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "child.hpp"
#include "cpu/machine/processors.hpp"
#include "folder.hpp"
#include "process/files.hpp"
#include "tern/tern.hpp"
#include "tern/tuning.hpp"

namespace tern {
namespace {

namespace fs = std::filesystem;
using test::in_child;

/// A folder with what tests of files do there.
class Folder : public test::Folder {
 public:
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((path() / name).parent_path());
    std::ofstream(path() / name) << text;
  }
  /// The names in it, in order.
  std::string names() const {
    std::vector<std::string> list;
    for (const auto& entry : fs::directory_iterator(path())) list.push_back(entry.path().filename().string());
    std::sort(list.begin(), list.end());
    std::string text;
    for (const std::string& name : list) text += name + " ";
    return text;
  }
};

// ---- threads

double work() {
  const Tensor a = full({200, 300}, 0.5), b = full({300, 200}, 0.25);
  return sum(exp(matmul(a, b) * 0.01)).item<float>();
}
TEST(Threads, AreFewerWhereTheSystemGivesNone) {
  const double want = work();
  EXPECT_EQ(in_child([&] {
              // The administrator may have as many as he likes.
              if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) return false;
              const rlimit none{0, 0};
              if (setrlimit(RLIMIT_NPROC, &none) != 0) return false;
              bool refused = false;
              try {
                std::thread([] {}).join();
              } catch (const std::system_error&) {
                refused = true;
              }
              set_num_threads(4);
              for (int i = 0; i < 3; ++i)
                if (work() != want) return false;
              return refused;
            }),
            0);
}
TEST(Threads, HonourTheQuotaOfControlGroups) {
  using detail_cpu::processors_of_quota;
  const Folder f;
  const auto of = [&](const std::string& groups) {
    f.write("groups", groups);
    return processors_of_quota(f / "groups", f / "root");
  };
  EXPECT_EQ(processors_of_quota(f / "nothing", f / "root"), INT_MAX);
  EXPECT_EQ(of("0::/a/b\n"), INT_MAX);
  f.write("root/a/b/cpu.max", "max 100000\n");
  EXPECT_EQ(of("0::/a/b\n"), INT_MAX);
  f.write("root/a/b/cpu.max", "150000 100000\n");
  EXPECT_EQ(of("0::/a/b\n"), 2) << "rounded up";
  f.write("root/a/b/cpu.max", "10000 100000\n");
  EXPECT_EQ(of("0::/a/b\n"), 1);
  f.write("root/a/b/cpu.max", "800000 100000\n");
  f.write("root/a/cpu.max", "300000 100000\n");
  EXPECT_EQ(of("0::/a/b\n"), 3) << "of the group around it";
  f.write("root/cpu.max", "200000 100000\n");
  EXPECT_EQ(of("0::/not/mounted/here\n"), 2) << "in a container its own group is the root";
  f.write("root/cpu,cpuacct/c/cpu.cfs_quota_us", "-1\n");
  f.write("root/cpu,cpuacct/c/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(of("4:cpu,cpuacct:/c\n"), INT_MAX);
  f.write("root/cpu,cpuacct/c/cpu.cfs_quota_us", "450000\n");
  EXPECT_EQ(of("4:cpu,cpuacct:/c\n3:memory:/x\n"), 5);
  EXPECT_EQ(of("4:cpuset:/c\n"), INT_MAX);
  EXPECT_EQ(of("nonsense\n::\n"), 2) << "and \"::\" is the second version's root";
}
TEST(Threads, HonourTheAffinity) {
  EXPECT_EQ(in_child([] {
              cpu_set_t all, one;
              if (sched_getaffinity(0, sizeof all, &all) != 0) return false;
              CPU_ZERO(&one);
              for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i)
                if (CPU_ISSET(i, &all)) CPU_SET(i, &one);
              return sched_setaffinity(0, sizeof one, &one) == 0 && detail_cpu::processors() == 1;
            }),
            0);
}

// ---- files

std::string bytes_of_file(const std::string& path) { return detail::read_file(path).value_or("nothing"); }
template <class F> std::string io_error(F f) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

TEST(Files, AreReplacedAsAWhole) {
  const Folder f;
  detail::write_file_atomically(f / "new/folder/file", "one");
  EXPECT_EQ(bytes_of_file(f / "new/folder/file"), "one");
  fs::permissions(f / "new/folder/file", fs::perms::owner_read | fs::perms::owner_write);
  detail::write_file_atomically(f / "new/folder/file", std::string(100000, 'x'));
  EXPECT_EQ(bytes_of_file(f / "new/folder/file").size(), 100000u);
  EXPECT_EQ(fs::status(f / "new/folder/file").permissions(), fs::perms::owner_read | fs::perms::owner_write);
  fs::rename(f / "new/folder/file", f / "moved");
  fs::remove_all(f / "new");
  EXPECT_EQ(f.names(), "moved ");
}
TEST(Files, LinksAreFollowed) {
  const Folder f;
  f.write("target", "before");
  fs::create_symlink("target", f / "link");
  fs::create_symlink(f / "link", f / "link_to_link");
  fs::create_symlink("not_there", f / "dangling");
  fs::create_symlink("round", f / "round");
  detail::write_file_atomically(f / "link_to_link", "after");
  EXPECT_EQ(bytes_of_file(f / "target"), "after");
  EXPECT_TRUE(fs::is_symlink(f / "link") && fs::is_symlink(f / "link_to_link"));
  detail::write_file_atomically(f / "dangling", "made");
  EXPECT_EQ(bytes_of_file(f / "not_there"), "made");
  EXPECT_TRUE(fs::is_symlink(f / "dangling"));
  io_error([&] { detail::write_file_atomically(f / "round", "x"); });
  EXPECT_EQ(f.names(), "dangling link link_to_link not_there round target ");
}
/// A pipe is neither waited for nor replaced, nor is a device or a folder.
TEST(Files, OfOtherKindsAreLeftAlone) {
  const Folder f;
  ASSERT_EQ(mkfifo((f / "pipe").c_str(), 0600), 0);
  fs::create_directories(f / "folder");
  fs::create_symlink("/dev/null", f / "null");
  for (const char* name : {"pipe", "folder", "null"}) {
    EXPECT_NE(io_error([&] { detail::write_file_atomically(f / name, "x"); }).find(name), std::string::npos);
    EXPECT_FALSE(detail::read_file(f / name).has_value()) << name;
  }
  EXPECT_TRUE(fs::is_fifo(f / "pipe") && fs::is_directory(f / "folder") && fs::is_character_file("/dev/null"));
  EXPECT_FALSE(detail::read_file(f / "nothing").has_value());
  EXPECT_FALSE(detail::read_file("").has_value());
  EXPECT_EQ(f.names(), "folder null pipe ") << "no draft stays";
}
TEST(Files, DraftsAreRemovedWhereWritingFails) {
  const Folder f;
  f.write("file", "before");
  EXPECT_EQ(in_child([&] {
              std::signal(SIGXFSZ, SIG_IGN);
              const rlimit little{4096, 4096};
              if (setrlimit(RLIMIT_FSIZE, &little) != 0) return false;
              try {
                detail::write_file_atomically(f / "file", std::string(100000, 'x'));
              } catch (const Error& error) {
                return error.kind() == ErrorKind::io;
              }
              return false;
            }),
            0);
  EXPECT_EQ(bytes_of_file(f / "file"), "before");
  EXPECT_EQ(f.names(), "file ");
}
/// tune() says so before it measures, and the program that reads such a file does not wait for it.
TEST(Files, TuneRefusesWhatIsNoFile) {
  const Folder f;
  ASSERT_EQ(mkfifo((f / "pipe").c_str(), 0600), 0);
  fs::create_directories(f / "folder");
  for (const std::string& path : {f / "pipe", f / "folder", std::string("/dev/null")})
    EXPECT_EQ(in_child([&] {
                setenv("TERN_TUNE_FILE", path.c_str(), 1);
                int calls = 0;
                try {
                  (void)tune([&] { ++calls, (void)matmul(ones({64, 64}), ones({64, 64})); });
                } catch (const Error& error) {
                  return error.kind() == ErrorKind::io && calls == 0 &&
                         std::string(error.what()).find("TERN_TUNE_FILE") != std::string::npos;
                }
                return false;
              }),
              0)
        << path;
  EXPECT_EQ(f.names(), "folder pipe ");
}

// ---- memory

std::int64_t resident() {
  std::ifstream file("/proc/self/statm");
  std::int64_t total = 0, pages = 0;
  file >> total >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}
/// Batches of varying length, as sentences have: each size is of another class. What the process has of the machine's
/// memory stays in proportion to what it uses.
TEST(Memory, OfBatchesOfVaryingLengthIsGivenUp) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer keeps what is freed";
#endif
  EXPECT_EQ(in_child([] {
              const auto step = [](std::int64_t length) {
                const Tensor x = full({16, length, 256}, 0.5), y = x * x + 1;
                return tanh(y) * x;
              };
              (void)step(16);
              release_memory(cpu());
              const std::int64_t before = resident() - memory_stats(cpu()).live;
              for (int i = 0; i < 80; ++i) (void)step(100 + (i * 97) % 900);
              const MemoryStats stats = memory_stats(cpu());
              const std::int64_t bound = stats.peak + stats.peak / 2 + (std::int64_t{64} << 20);
              const std::int64_t used = resident() - before;
              std::fprintf(stderr, "resident %lld, bound %lld, peak %lld\n", static_cast<long long>(used >> 20),
                           static_cast<long long>(bound >> 20), static_cast<long long>(stats.peak >> 20));
              if (stats.live + stats.kept > bound || used > bound) return false;
              release_memory(cpu());
              return memory_stats(cpu()).kept == 0 && resident() - before < (std::int64_t{32} << 20);
            }),
            0);
}

/// Kernels that work on whole lines, or on all heads at once, keep no large memory of their own.
TEST(Memory, OfKernelsIsGivenUp) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer keeps what is freed";
#endif
  EXPECT_EQ(in_child([] {
              const auto works = [](std::int64_t n) {
                Generator generator(1);
                const Tensor x = rand({n}, generator);
                (void)sort(x, 0), (void)logcumsumexp(x, 0);
                (void)fft::fft(x), (void)fft::fft(x.slice(0, 0, n - 3));
                const Tensor q = x.reshape({1, 2, n / 64, 32}).slice(2, 0, 8), k = x.reshape({1, 2, n / 64, 32});
                (void)attention(q, k, k);
              };
              works(1 << 12);
              release_memory(cpu());
              const std::int64_t before = resident(), live = memory_stats(cpu()).live;
              works(1 << 22);
              release_memory(cpu());
              std::fprintf(stderr, "resident %lld MiB more\n", static_cast<long long>((resident() - before) >> 20));
              return memory_stats(cpu()).live == live && resident() - before < (std::int64_t{32} << 20);
            }),
            0);
}

}  // namespace
}  // namespace tern
