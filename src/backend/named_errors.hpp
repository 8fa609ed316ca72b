// Errors of what an operation is composed of, in the operation's name.
#pragma once
#include <string>

#include "tern/error.hpp"

namespace tern::detail {

/// f's result; what it throws begins with the operation that the caller knows.
template <class F> auto in_name_of(const char* op, F f) -> decltype(f()) {
  try {
    return f();
  } catch (const UnsupportedDType&) {
    throw;
  } catch (const Error& e) {
    throw Error(e.kind(), std::string(op) + ": " + e.what());
  }
}

}  // namespace tern::detail
