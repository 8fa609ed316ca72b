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

/// The tasks that one thread takes first; those that are done help with the others' then. So a thread meets the same part
/// of its operands in every call of a size, in its own caches.
struct alignas(64) Share {
  std::atomic<std::int64_t> next{0};
  std::int64_t end = 0;
};

struct Job {
  TaskRef task;
  Share* shares;  // `threads` of them
  int threads;
  std::mutex error_lock;
  std::exception_ptr error;

  void work(int thread) {
    inside_task = true;
    for (int i = 0; i < threads; ++i) {
      Share& share = shares[(thread + i) % threads];
      for (std::int64_t t; (t = share.next.fetch_add(1, std::memory_order_relaxed)) < share.end;) run(t);
    }
    inside_task = false;
  }

 private:
  void run(std::int64_t t) {
    try {
      task(t);
    } catch (...) {
      const std::lock_guard hold(error_lock);
      if (!error) error = std::current_exception();
      for (int i = 0; i < threads; ++i) shares[i].next.store(shares[i].end, std::memory_order_relaxed);
    }
  }
};

/// Workers spin for a while after a job, since the next one of a training step usually follows within microseconds,
/// and sleep then. A job is over when its tasks are: no one waits for a worker that has not come by then.
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

  /// Runs the tasks on so many threads beside this one. False where another thread is using the pool. Throws what the first
  /// task that failed has thrown.
  bool run(TaskRef task, std::int64_t count, int helpers) {
    if (!in_use_.try_lock()) return false;
    const std::lock_guard use(in_use_, std::adopt_lock);
    while (static_cast<int>(workers_.size()) < helpers)
      workers_.emplace_back(
          [this, thread = static_cast<int>(workers_.size()) + 1, seen = generation_.load()] { loop(thread, seen); });
    Job job{task, divide(count, helpers + 1), helpers + 1, {}, {}};
    job_ = &job;
    present_.store(kOpen, std::memory_order_release);
    {
      const std::lock_guard hold(lock_);
      generation_.fetch_add(1, std::memory_order_release);
    }
    if (sleeping_.load(std::memory_order_seq_cst) > 0) wake_.notify_all();
    job.work(0);
    present_.fetch_sub(kOpen, std::memory_order_acq_rel);
    while (present_.load(std::memory_order_acquire) != 0) pause();
    job_ = nullptr;
    if (job.error) std::rethrow_exception(job.error);
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

  Share* divide(std::int64_t count, int threads) {
    if (most_shares_ < threads) {
      shares_ = std::make_unique<Share[]>(static_cast<std::size_t>(threads));
      most_shares_ = threads;
    }
    for (int i = 0; i < threads; ++i) {
      const std::int64_t each = count / threads, more = count % threads;
      shares_[i].next.store(i * each + std::min<std::int64_t>(i, more), std::memory_order_relaxed);
      shares_[i].end = (i + 1) * each + std::min<std::int64_t>(i + 1, more);
    }
    return shares_.get();
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

  /// Joins the job that is open, if there is one: it lasts until this thread leaves.
  bool enter() {
    for (int present = present_.load(std::memory_order_acquire); present >= kOpen;)
      if (present_.compare_exchange_weak(present, present + 1, std::memory_order_acq_rel)) return true;
    return false;
  }

  void loop(int thread, std::uint64_t seen) {
    for (;;) {
      seen = await(seen);
      {
        const std::lock_guard hold(lock_);
        if (stop_) return;
      }
      if (!enter()) continue;
      if (thread < job_->threads) job_->work(thread);
      present_.fetch_sub(1, std::memory_order_release);
    }
  }

  static constexpr int kOpen = 1 << 30;

  std::mutex in_use_, lock_;
  std::condition_variable wake_;
  std::vector<std::thread> workers_;
  std::atomic<std::uint64_t> generation_{0};
  std::atomic<int> present_{0}, sleeping_{0};  // present_: kOpen while workers may come, and those that work
  std::unique_ptr<Share[]> shares_;
  int most_shares_ = 0;
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
  if (!pool().run(task, count, helpers)) {
    for (std::int64_t i = 0; i < count; ++i) task(i);
    return;
  }
  most_threads = std::max(most_threads, helpers + 1);
}

int threads_used() { return std::exchange(most_threads, 1); }

}  // namespace tern::detail_cpu
