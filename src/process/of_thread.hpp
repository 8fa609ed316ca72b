// Objects of a thread that may still be asked for when its other objects are gone: destructors of static objects run on
// the main thread after those of its thread_local ones, and what they destroy may be tensors.
#pragma once
#include <utility>

namespace tern::detail {

/// The calling thread's T, made when it is first asked for and destroyed when the thread ends. Who asks for it later is
/// given another, which is never destroyed. One for each T: give it a type of its own.
template <class T> T& of_thread() {
  thread_local constinit T* object = nullptr;
  if (!object) {
    object = new T;
    struct End {
      ~End() { delete std::exchange(object, nullptr); }
    };
    thread_local const End end;
    (void)end;
  }
  return *object;
}

}  // namespace tern::detail
