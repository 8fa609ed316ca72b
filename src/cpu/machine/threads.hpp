// The one thread pool of the CPU backend.
#pragma once
#include <cstdint>
#include <memory>
#include <type_traits>

namespace tern::detail_cpu {

/// A borrowed callable `void(int64_t task)`.
class TaskRef {
 public:
  template <class F> requires(!std::is_same_v<std::remove_cvref_t<F>, TaskRef>)
  TaskRef(F&& f)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* object, std::int64_t task) { (*static_cast<std::remove_reference_t<F>*>(object))(task); }) {}
  void operator()(std::int64_t task) const { call_(object_, task); }

 private:
  void* object_;
  void (*call_)(void*, std::int64_t);
};

/// How many threads parallel_for may use: TERN_NUM_THREADS, else the processors this process may use (processors.hpp).
/// Work is planned for so many; where there are fewer processors, so many threads run.
int max_threads();
void set_max_threads(int threads);

/// Calls task(0) … task(count - 1), each once, on up to max_threads() threads including the caller's. Returns when all
/// are done; the first exception a task throws is rethrown here. Which thread runs which task is unspecified, so a
/// task's result must not depend on it; calls of one count share their tasks out alike, so that a thread tends to meet
/// again what is in its caches. The calling thread runs alone what is called inside a task, while another thread uses
/// the pool, where no threads can be had, and for a while after other threads have made it slower than that.
void parallel_for(std::int64_t count, TaskRef task);

/// The most threads that a parallel_for of this thread was meant for since the last call of this function: 1 where
/// there was none.
int threads_used();

}  // namespace tern::detail_cpu
