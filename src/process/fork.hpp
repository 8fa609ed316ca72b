// What a child of fork() needs: it has the caller's thread and no other, and a copy of the memory as it was.
#pragma once
#include <atomic>
#include <new>

namespace tern::detail {

namespace fork_count {
extern constinit std::atomic<int> value;
}

/// How many calls of fork() lie between the program's start and this process. What was made under another number is of
/// another process: drivers of GPUs, for example, do not survive.
inline int forks() { return fork_count::value.load(std::memory_order_relaxed); }

/// When something was made that does not survive fork(), such as a connection to a driver.
class OfProcess {
 public:
  /// Whether this is the process that made it.
  bool here() const { return made_ == forks(); }

 private:
  int made_ = forks();
};
/// Why a GPU cannot be used in a child.
inline constexpr const char* kForked =
    "the process that this one was forked from has used it, and drivers of GPUs do not survive fork(): fork before the "
    "first use of a GPU (devices() is one), or start the child as a program of its own";

/// Has `call` called in every child from now on, before fork() returns there. For what a child must make anew.
void call_in_children(void (*call)());

/// A lock that fork() takes, so that a child finds it open and what it guards whole.
class ForkLock {
 public:
  ForkLock(const ForkLock&) = delete;
  ForkLock& operator=(const ForkLock&) = delete;

 protected:
  ForkLock();
  ~ForkLock();

 private:
  friend struct ForkLocks;
  virtual bool hold() = 0;  // false where somebody else has it
  virtual void release() = 0;
  virtual void renew() = 0;  // in a child: held by a thread that is not there
  ForkLock *before_ = nullptr, *after_ = nullptr;
  bool held_ = false;
};

/// In place of a std::mutex or std::shared_mutex that one thread may hold while another calls fork().
template <class Mutex> class ForkSafe final : ForkLock {
 public:
  void lock() { mutex_.lock(); }
  bool try_lock() { return mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }
  void lock_shared() { mutex_.lock_shared(); }
  bool try_lock_shared() { return mutex_.try_lock_shared(); }
  void unlock_shared() { mutex_.unlock_shared(); }

 private:
  bool hold() override { return mutex_.try_lock(); }
  void release() override { mutex_.unlock(); }
  void renew() override { new (&mutex_) Mutex; }
  Mutex mutex_;
};

}  // namespace tern::detail
