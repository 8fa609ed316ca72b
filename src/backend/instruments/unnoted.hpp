// Notes (trace.hpp) that nobody is to read.
#pragma once
#include <string>

namespace tern::detail {

/// What is noted while it lives is forgotten: of the many requests that one is made of.
class Unnoted {
 public:
  Unnoted();
  ~Unnoted();
  Unnoted(const Unnoted&) = delete;
  Unnoted& operator=(const Unnoted&) = delete;

 private:
  std::string before_;
};

}  // namespace tern::detail
