#include "cpu/threads.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace tern::detail_cpu {
namespace {

int processors() {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int initial_threads() {
  if (const char* text = std::getenv("TERN_NUM_THREADS")) {
    const int threads = std::atoi(text);
    if (threads >= 1) return std::min(threads, 1024);
  }
  return processors();
}

std::atomic<int>& thread_limit() {
  static std::atomic<int> limit{initial_threads()};
  return limit;
}

thread_local bool inside_task = false;
thread_local int most_threads = 1;

struct Job {
  TaskRef task;
  std::int64_t count;
  std::atomic<std::int64_t> next{0};
  std::mutex error_lock;
  std::exception_ptr error;

  void work() {
    inside_task = true;
    for (std::int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
      try {
        task(i);
      } catch (...) {
        const std::lock_guard hold(error_lock);
        if (!error) error = std::current_exception();
        next.store(count, std::memory_order_relaxed);
      }
    }
    inside_task = false;
  }
};

/// Workers spin for a while after a job, since the next one of a training step usually follows within microseconds,
/// and sleep then.
class Pool {
 public:
  ~Pool() {
    {
      const std::lock_guard hold(lock_);
      stop_ = true;
      generation_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  /// False where another thread is using the pool.
  bool run(Job& job, int helpers) {
    if (!in_use_.try_lock()) return false;
    const std::lock_guard use(in_use_, std::adopt_lock);
    while (static_cast<int>(workers_.size()) < helpers)
      workers_.emplace_back(
          [this, index = static_cast<int>(workers_.size()), seen = generation_.load()] { loop(index, seen); });
    const int all = static_cast<int>(workers_.size());
    pending_.store(all, std::memory_order_relaxed);
    helpers_ = helpers;
    job_ = &job;
    {
      const std::lock_guard hold(lock_);
      generation_.fetch_add(1, std::memory_order_release);
    }
    if (sleeping_.load(std::memory_order_seq_cst) > 0) wake_.notify_all();
    job.work();
    while (pending_.load(std::memory_order_acquire) != 0) pause();
    job_ = nullptr;
    return true;
  }

 private:
  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
  }

  std::uint64_t await(std::uint64_t seen) {
    for (int spin = 0; spin < 2000; ++spin) {
      if (generation_.load(std::memory_order_acquire) != seen) return generation_.load(std::memory_order_acquire);
      pause();
    }
    std::unique_lock hold(lock_);
    sleeping_.fetch_add(1, std::memory_order_seq_cst);
    wake_.wait(hold, [&] { return generation_.load(std::memory_order_acquire) != seen; });
    sleeping_.fetch_sub(1, std::memory_order_seq_cst);
    return generation_.load(std::memory_order_acquire);
  }

  void loop(int index, std::uint64_t seen) {
    for (;;) {
      seen = await(seen);
      {
        const std::lock_guard hold(lock_);
        if (stop_) return;
      }
      if (index < helpers_) job_->work();
      pending_.fetch_sub(1, std::memory_order_release);
    }
  }

  std::mutex in_use_, lock_;
  std::condition_variable wake_;
  std::vector<std::thread> workers_;
  std::atomic<std::uint64_t> generation_{0};
  std::atomic<int> pending_{0}, sleeping_{0};
  int helpers_ = 0;
  Job* job_ = nullptr;
  bool stop_ = false;
};

Pool& pool() {
  static Pool instance;
  return instance;
}

}  // namespace

int max_threads() { return thread_limit().load(std::memory_order_relaxed); }
void set_max_threads(int threads) { thread_limit().store(std::max(1, threads), std::memory_order_relaxed); }

void parallel_for(std::int64_t count, TaskRef task) {
  const int helpers = static_cast<int>(std::min<std::int64_t>(max_threads(), count)) - 1;
  if (helpers <= 0 || inside_task) {
    for (std::int64_t i = 0; i < count; ++i) task(i);
    return;
  }
  Job job{task, count, {}, {}, {}};
  if (!pool().run(job, helpers)) {
    for (std::int64_t i = 0; i < count; ++i) task(i);
    return;
  }
  most_threads = std::max(most_threads, helpers + 1);
  if (job.error) std::rethrow_exception(job.error);
}

int threads_used() { return std::exchange(most_threads, 1); }

}  // namespace tern::detail_cpu
