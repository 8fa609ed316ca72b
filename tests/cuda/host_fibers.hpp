// The invocations of a workgroup on the host: each is a fiber that gives way at barriers and shuffles.
#pragma once
#include <ucontext.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace tern::test {

/// What the fibers of a workgroup share with a text's Host.
struct Host {
  unsigned thread = 0, group = 0, threads = 0, groups = 0;
  void (*give_way)() = nullptr;
  unsigned long long* words = nullptr;
};
using HostKernel = void (*)(Host*, void**);

/// One workgroup after the other, its invocations in turns from barrier to barrier.
class Fibers {
 public:
  /// False where some invocations ended while others wait at a barrier.
  static bool run(HostKernel kernel, void** arguments, unsigned groups, unsigned threads) {
    Fibers fibers(kernel, arguments, threads);
    fibers.host_.groups = groups;
    for (unsigned group = 0; group < groups; ++group)
      if (!fibers.run_group(group)) return false;
    return true;
  }

 private:
  static constexpr std::size_t kStack = 128 << 10;
  using Place = void*[5];  // as __builtin_setjmp wants it
  struct Invocation {
    ucontext_t start;
    Place place;
    bool begun, ended;
  };
  Fibers(HostKernel kernel, void** arguments, unsigned threads)
      : kernel_(kernel), arguments_(arguments), invocations_(threads), stacks_(new char[threads * kStack]),
        words_(threads) {
    host_.threads = threads, host_.words = words_.data(), host_.give_way = [] { current_->give_way(); };
    current_ = this;
  }
  bool run_group(unsigned group) {
    const std::size_t threads = invocations_.size();
    host_.group = group;
    for (std::size_t t = 0; t < threads; ++t) {
      Invocation& one = invocations_[t];
      one.begun = one.ended = false;
      getcontext(&one.start);
      one.start.uc_stack.ss_sp = &stacks_[t * kStack], one.start.uc_stack.ss_size = kStack;
      one.start.uc_link = nullptr;
      makecontext(&one.start, [] { current_->run_invocation(); }, 0);
    }
    for (std::size_t ended = 0; ended < threads;) {
      for (std::size_t t = 0; t < threads; ++t) host_.thread = static_cast<unsigned>(t), resume(invocations_[t]);
      ended = static_cast<std::size_t>(std::ranges::count_if(invocations_, &Invocation::ended));
      if (ended != 0 && ended != threads) return false;
    }
    return true;
  }
  // Not by swapcontext, which asks the system for the mask of signals at every turn: three quarters of these tests'
  // time. A jump must not stand in the function of its place.
  [[gnu::noinline, noreturn]] static void jump(Place& place) { __builtin_longjmp(place, 1); }
  [[gnu::noinline]] void resume(Invocation& one) {
    if (__builtin_setjmp(scheduler_) != 0) return;
    if (std::exchange(one.begun, true)) jump(one.place);
    setcontext(&one.start);
  }
  [[gnu::noinline]] void give_way() {
    if (__builtin_setjmp(invocations_[host_.thread].place) == 0) jump(scheduler_);
  }
  void run_invocation() {
    kernel_(&host_, arguments_);
    invocations_[host_.thread].ended = true;
    jump(scheduler_);
  }

  static inline Fibers* current_ = nullptr;
  HostKernel kernel_;
  void** arguments_;
  Host host_;
  std::vector<Invocation> invocations_;
  std::unique_ptr<char[]> stacks_;
  std::vector<unsigned long long> words_;
  Place scheduler_;
};

}  // namespace tern::test
