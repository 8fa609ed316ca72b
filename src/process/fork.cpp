#include "process/fork.hpp"

#include <pthread.h>

#include <chrono>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace tern::detail {

constinit std::atomic<int> fork_count::value{0};

/// All of them. Their own lock is held while one is added, and during fork().
struct ForkLocks {
  std::mutex lock;
  ForkLock* first = nullptr;
  std::vector<void (*)()> calls;

  void add(ForkLock* one) {
    const std::lock_guard hold(lock);
    one->after_ = first;
    if (first) first->before_ = one;
    first = one;
  }
  void remove(ForkLock* one) {
    const std::lock_guard hold(lock);
    (one->before_ ? one->before_->after_ : first) = one->after_;
    if (one->after_) one->after_->before_ = one->before_;
  }
  bool hold_all() {
    bool all = true;
    for (ForkLock* one = first; one; one = one->after_) {
      if (!one->held_) one->held_ = one->hold();
      all &= one->held_;
    }
    return all;
  }
  void release_all() {
    for (ForkLock* one = first; one; one = one->after_)
      if (std::exchange(one->held_, false)) one->release();
  }
  /// In a child. Who took them there is another thread by its number, by which some know who may give them back.
  void renew_all() {
    for (ForkLock* one = first; one; one = one->after_) one->held_ = false, one->renew();
  }
};

namespace {

ForkLocks& fork_locks();

/// Takes every lock, in whatever order: where one is taken all are given back, so that nobody waits for this thread
/// while it waits for him. After a second it goes on without: a thread that holds one for so long waits for this one in
/// a way that nobody can see from here.
void prepare() {
  constexpr std::chrono::microseconds kPause{50};
  constexpr int kTries = 20000;
  ForkLocks& locks = fork_locks();
  locks.lock.lock();
  for (int i = 0; !locks.hold_all() && i < kTries; ++i) {
    locks.release_all();
    locks.lock.unlock();
    std::this_thread::sleep_for(kPause);
    locks.lock.lock();
  }
}
void in_parent() {
  ForkLocks& locks = fork_locks();
  locks.release_all();
  locks.lock.unlock();
}
void in_child() {
  ForkLocks& locks = fork_locks();
  fork_count::value.fetch_add(1, std::memory_order_relaxed);
  locks.renew_all();
  locks.lock.unlock();
  for (void (*call)() : locks.calls) call();
}

ForkLocks& fork_locks() {
  static ForkLocks* const all = [] {
    auto* made = new ForkLocks;  // outlives what is in static storage
    pthread_atfork(prepare, in_parent, in_child);
    return made;
  }();
  return *all;
}

}  // namespace

ForkLock::ForkLock() { fork_locks().add(this); }
ForkLock::~ForkLock() { fork_locks().remove(this); }

void call_in_children(void (*call)()) {
  ForkLocks& locks = fork_locks();
  const std::lock_guard hold(locks.lock);
  locks.calls.push_back(call);
}

}  // namespace tern::detail
