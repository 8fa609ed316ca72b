// The LAPACK of this machine, opened when it is first asked for.
#pragma once
#include <string>

namespace tern::detail_cpu {

/// TERN_LAPACK (a path, or `none`), else Intel's MKL, OpenBLAS, Apple's Accelerate: the first that opens and has what
/// is needed. The reference implementation is never taken: Eigen is faster.
class Lapack {
 public:
  static const Lapack& get();
  bool found() const { return library_ != nullptr; }
  /// The routine "dpotrf_", with the type's letter in front of `name`.
  void* routine(char type, const char* name) const;
  const std::string& name() const { return name_; }
  void set_threads(int threads) const {
    if (set_threads_) set_threads_(threads);
  }

 private:
  Lapack();
  bool open(const char* path, const char* name);
  void* library_ = nullptr;
  void (*set_threads_)(int) = nullptr;
  std::string name_;
};

}  // namespace tern::detail_cpu
