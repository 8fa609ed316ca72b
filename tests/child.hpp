// Processes that a test starts, and does not wait for longer than they should take.
#pragma once
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace tern::test {

/// How a process ended: what it returned; -1 where it did not end in time, -2 where a signal ended it.
inline int ended(pid_t process, int seconds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  int status = 0;
  while (waitpid(process, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > until) {
      kill(process, SIGKILL);
      waitpid(process, &status, 0);
      return -1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
}

/// Set in a child of fork(). What the threads of the parent held has no owner there, which LeakSanitizer would report.
inline bool is_forked = false;
/// Asked by LeakSanitizer before it looks for leaks.
extern "C" __attribute__((used)) inline int __lsan_is_turned_off() { return is_forked; }

/// Runs f in a child made by fork(), which ends by exit(): 0 where f returned true.
template <class F> int in_child(F f, int seconds = 120) {
  std::fflush(nullptr);
  const pid_t process = fork();
  if (process == 0) {
    is_forked = true;
    bool good = false;
    try {
      good = f();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "in the child: %s\n", error.what());
    }
    std::exit(good ? 0 : 1);
  }
  return process < 0 ? -3 : ended(process, seconds);
}

/// Whether this is such a process as the next function starts.
inline bool is_program() { return std::getenv("TERN_CHILD") != nullptr; }
/// Runs one test of this program in a process of its own, from start to end.
inline int program(const std::string& test, int seconds = 120) {
  std::fflush(nullptr);
  const pid_t process = fork();
  if (process == 0) {
    setenv("TERN_CHILD", "1", 1);
    unsetenv("GTEST_TOTAL_SHARDS"), unsetenv("GTEST_SHARD_INDEX");  // the test, though this is a shard
    const std::string filter = "--gtest_filter=" + test;
    execl("/proc/self/exe", "tern_tests", filter.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  return process < 0 ? -3 : ended(process, seconds);
}

/// What the destructor of an object in static storage calls, one that was there before tern made anything.
struct AtTheEnd {
  void (*call)() = nullptr;
  ~AtTheEnd() {
    if (call) call();
  }
};

}  // namespace tern::test
