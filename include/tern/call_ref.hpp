// A borrowed `void()`, for functions that run what they are given once and keep nothing of it.
#pragma once
#include <memory>
#include <type_traits>

namespace tern::detail {

class CallRef {
 public:
  /// `call` must outlive this and be an object (a lambda, not a function).
  template <class F> requires(std::is_object_v<F> && !std::is_same_v<std::remove_cv_t<F>, CallRef>)
  explicit CallRef(F& call)
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(call)))),
        run_([](void* object) { (*static_cast<F*>(object))(); }) {}
  void operator()() const { run_(object_); }

 private:
  void* object_;
  void (*run_)(void*);
};

/// Hands f to `take` as a CallRef.
template <class Take, class F> decltype(auto) with_call_ref(Take take, F& f) {
  const auto call = [&f] { static_cast<void>(f()); };
  return take(CallRef(call));
}

}  // namespace tern::detail
