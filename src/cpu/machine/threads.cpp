#include "cpu/machine/threads.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "cpu/machine/processors.hpp"
#include "process/fork.hpp"

namespace tern::detail_cpu {
namespace {

/// How many threads were asked for, and how many processors there are for them. Work is planned for as many as were
/// asked for; no more run at a time than there are processors: the others would only take turns with them.
struct ThreadLimits {
  std::atomic<int> threads, processors;
  ThreadLimits() : threads(0), processors(detail_cpu::processors()) {
    const char* text = std::getenv("TERN_NUM_THREADS");
    const int asked = text ? std::atoi(text) : 0;
    threads = asked >= 1 ? std::min(asked, kMost) : processors.load();
  }
  static constexpr int kMost = 1024;
};
ThreadLimits& limits() {
  static auto& instance = *new ThreadLimits;
  return instance;
}

// Of a thread, not arguments: a task may be any code, and what it computes in parallel runs on its own thread alone;
// how many took part is for reports (threads_used), past results that say nothing of it.
thread_local bool inside_task = false;
thread_local int most_threads = 1;

/// The tasks that one thread takes first; those that are done help with the others' then. So a thread meets the same
/// part of its operands in every call of a size, in its own caches.
struct alignas(64) Share {
  std::atomic<std::int64_t> next{0};
  std::int64_t end = 0;
};

struct TaskBatch {
  TaskRef task;
  Share* shares;  // `threads` of them
  int threads;
  std::mutex error_lock;
  std::exception_ptr error;

  /// How many tasks this thread ran.
  std::int64_t work(int thread) {
    std::int64_t done = 0;
    inside_task = true;
    for (int i = 0; i < threads; ++i) {
      Share& share = shares[(thread + i) % threads];
      for (std::int64_t t; (t = share.next.fetch_add(1, std::memory_order_relaxed)) < share.end; ++done) run(t);
    }
    inside_task = false;
    return done;
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

using Clock = std::chrono::steady_clock;

/// Whether other threads are worth their while. On a processor that something else keeps busy (another library's
/// threads that wait actively, another program) a worker may be stopped with a task in its hands for milliseconds.
/// Where a job took longer than this thread alone would have, the next ones run alone for some multiple of the time
/// lost, twice as long with every such job in a row.
class Disturbance {
 public:
  bool keeps_alone() const { return until_ != Clock::time_point{} && Clock::now() < until_; }
  /// Of a job: what this thread did of its tasks by the time it found no more, and when the others were done.
  void note(Clock::time_point start, Clock::time_point found_no_more, std::int64_t done, std::int64_t count) {
    using std::chrono::microseconds;
    constexpr microseconds kSlack{100};
    const Clock::time_point end = Clock::now();
    const Clock::duration alone = (found_no_more - start) * count / std::max<std::int64_t>(done, 1);
    const Clock::duration lost = end - start - alone;
    if (done == 0 || lost < kSlack) {
      in_a_row_ = 0, until_ = {};
      return;
    }
    in_a_row_ = std::min(in_a_row_ + 1, 7);
    until_ = end + std::min<Clock::duration>(lost * (4 << in_a_row_), std::chrono::seconds(1));
  }

 private:
  Clock::time_point until_{};
  int in_a_row_ = 0;
};

/// Workers spin for a while after a job, since the next one of a training step usually follows within microseconds,
/// and sleep then. A job is over when its tasks are: no one waits for a worker that has not come by then.
class Pool {
 public:
  /// Runs the tasks on up to so many threads beside this one, fewer where the system gives no more. False where another
  /// thread is using the pool, or there is none to help. Throws what the first task that failed has thrown.
  bool run(TaskRef task, std::int64_t count, int helpers) {
    if (!in_use_.try_lock()) return false;
    const std::lock_guard use(in_use_, std::adopt_lock);
    if (disturbance_.keeps_alone()) return false;
    helpers = std::min(helpers, hire(helpers));
    if (helpers == 0) return false;
    TaskBatch job{task, divide(count, helpers + 1), helpers + 1, {}, {}};
    job_ = &job;
    present_.store(kOpen, std::memory_order_release);
    wake(helpers);
    const Clock::time_point start = Clock::now();
    const std::int64_t done = job.work(0);
    const Clock::time_point found_no_more = Clock::now();
    present_.fetch_sub(kOpen, std::memory_order_acq_rel);
    await_leaving();
    job_ = nullptr;
    disturbance_.note(start, found_no_more, done, count);
    if (job.error) std::rethrow_exception(job.error);
    return true;
  }

  /// Ends the workers; later jobs make others. Not to be called by one of them.
  void dismiss() {
    const std::lock_guard use(in_use_);
    stop_ = true;
    wake(0);
    for (PoolThread& worker : workers_) worker.thread.join();
    workers_.clear();
    stop_ = false;
  }

 private:
  struct PoolThread {
    std::thread thread;
    Placement placement;
    std::atomic<bool> sleeps{false};
  };

  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
  }

  /// So many workers, or as many as the system gives; how many there are.
  int hire(int wanted) {
    const int have = static_cast<int>(workers_.size());
    if (have >= wanted || (refused_ > 0 && refused_-- > 0)) return have;
    try {
      for (int thread = have + 1; thread <= wanted; ++thread) {
        PoolThread& worker = workers_.emplace_back();
        worker.thread = std::thread([this, thread, &worker, seen = generation_.load()] { loop(thread, worker, seen); });
      }
    } catch (const std::exception&) {  // no more threads, or no memory for one
      if (!workers_.empty() && !workers_.back().thread.joinable()) workers_.pop_back();
      refused_ = kAskAgain;
    }
    return static_cast<int>(workers_.size());
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

  /// Wakes all, of which so many are needed.
  void wake(int needed) {
    generation_.fetch_add(1, std::memory_order_seq_cst);
    if (sleeping_.load(std::memory_order_seq_cst) == 0) return;
    for (PoolThread& worker : workers_) {
      if (needed-- <= 0) break;
      if (worker.sleeps.load(std::memory_order_relaxed)) worker.placement.keep_off_this_processor();
    }
    generation_.notify_all();
  }

  int await(PoolThread& self, int seen) {
    for (int spin = 0; spin < kSpins; ++spin) {
      if (const int now = generation_.load(std::memory_order_acquire); now != seen) return now;
      pause();
    }
    self.sleeps.store(true, std::memory_order_relaxed);
    sleeping_.fetch_add(1, std::memory_order_seq_cst);
    generation_.wait(seen, std::memory_order_seq_cst);
    sleeping_.fetch_sub(1, std::memory_order_seq_cst);
    self.sleeps.store(false, std::memory_order_relaxed);
    self.placement.restore();
    return generation_.load(std::memory_order_acquire);
  }

  /// Waits for those that work. One that does not finish soon may be waiting for this thread's processor.
  void await_leaving() {
    for (int spin = 0, present; (present = present_.load(std::memory_order_acquire)) != 0; ++spin) {
      if (spin < kSpins) pause();
      else if (spin < kSpins + kYields) std::this_thread::yield();
      else present_.wait(present, std::memory_order_acquire);
    }
  }

  /// Joins the job that is open, if there is one: it lasts until this thread leaves.
  bool enter() {
    for (int present = present_.load(std::memory_order_acquire); present >= kOpen;)
      if (present_.compare_exchange_weak(present, present + 1, std::memory_order_acq_rel)) return true;
    return false;
  }

  void loop(int thread, PoolThread& self, int seen) {
    self.placement.begin();
    for (;;) {
      seen = await(self, seen);
      if (stop_.load(std::memory_order_relaxed)) return;
      if (!enter()) continue;
      if (thread < job_->threads) job_->work(thread);
      if (present_.fetch_sub(1, std::memory_order_acq_rel) == 1) present_.notify_one();
    }
  }

  static constexpr int kOpen = 1 << 30;
  static constexpr int kSpins = 2000, kYields = 1000;
  static constexpr int kAskAgain = 1000;  // jobs until threads are asked for again that were refused

  std::mutex in_use_;
  std::deque<PoolThread> workers_;  // which stay where they are
  std::atomic<int> generation_{0};
  std::atomic<int> present_{0}, sleeping_{0};  // present_: kOpen while workers may come, and those that work
  std::atomic<bool> stop_{false};
  std::unique_ptr<Share[]> shares_;
  int most_shares_ = 0, refused_ = 0;
  TaskBatch* job_ = nullptr;
  Disturbance disturbance_;
};

/// Its pool outlives what is in static storage, whose destructors may use it; its workers end with the program. A child
/// of fork() makes another: it has none of the workers.
std::atomic<Pool*> shared_pool{nullptr};
struct Dismissal {
  ~Dismissal() {
    if (Pool* const used = shared_pool.load()) used->dismiss();
  }
};
Pool& pool() {
  if (Pool* const used = shared_pool.load(std::memory_order_acquire)) return *used;
  static auto& lock = *new detail::ForkSafe<std::mutex>;
  const std::lock_guard hold(lock);
  static const bool registered = [] {
    detail::call_in_children([] { shared_pool.store(nullptr); });
    return true;
  }();
  static const Dismissal at_the_end;
  (void)registered, (void)at_the_end;
  if (!shared_pool.load()) shared_pool.store(new Pool, std::memory_order_release);
  return *shared_pool.load();
}

}  // namespace

int max_threads() { return limits().threads.load(std::memory_order_relaxed); }
void set_max_threads(int threads) {
  limits().processors.store(processors(), std::memory_order_relaxed);
  limits().threads.store(std::clamp(threads, 1, ThreadLimits::kMost), std::memory_order_relaxed);
}

void parallel_for(std::int64_t count, TaskRef task) {
  const int threads = static_cast<int>(std::min<std::int64_t>(max_threads(), count));
  const int helpers = std::min(threads, limits().processors.load(std::memory_order_relaxed)) - 1;
  if (threads > 1 && !inside_task) most_threads = std::max(most_threads, threads);
  if (helpers <= 0 || inside_task || !pool().run(task, count, helpers))
    for (std::int64_t i = 0; i < count; ++i) task(i);
}

int threads_used() { return std::exchange(most_threads, 1); }

}  // namespace tern::detail_cpu
