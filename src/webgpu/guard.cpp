#include "webgpu/guard.hpp"

#include <csetjmp>
#include <csignal>
#include <mutex>

namespace tern::detail_webgpu {
namespace {

/// Where the call that this thread is in goes on after an abort(); null outside any. (Not an argument: a signal's
/// handler has none.)
thread_local sigjmp_buf* landing = nullptr;

std::mutex lock;
int guarded = 0;  // calls of all threads
struct sigaction before;

void on_abort(int signal, siginfo_t* info, void* context) {
  if (landing) siglongjmp(*landing, 1);
  // Not ours: as if nobody had been here.
  if (before.sa_flags & SA_SIGINFO) {
    if (before.sa_sigaction) before.sa_sigaction(signal, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
  }
}

void begin() {
  const std::lock_guard hold(lock);
  if (guarded++) return;
  struct sigaction own = {};
  own.sa_sigaction = on_abort, own.sa_flags = SA_SIGINFO;
  sigemptyset(&own.sa_mask);
  sigaction(SIGABRT, &own, &before);
}
void end() {
  const std::lock_guard hold(lock);
  if (--guarded == 0) sigaction(SIGABRT, &before, nullptr);
}

}  // namespace

bool survives_abort(void (*call)(void*), void* context) {
  begin();
  sigjmp_buf here;
  sigjmp_buf* const outer = landing;
  volatile bool survived = false;
  if (sigsetjmp(here, 1) == 0) {
    landing = &here;
    call(context);
    survived = true;
  }
  landing = outer;
  end();
  return survived;
}

}  // namespace tern::detail_webgpu
