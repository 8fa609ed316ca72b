// Memory that ends where an operand does: what is read or written beyond ends the program.
#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <stdexcept>

#include "tern/tern.hpp"

namespace tern::contract {

/// `bytes` bytes before a page that nobody may touch.
class Guarded {
 public:
  explicit Guarded(std::size_t bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), held = (bytes + page - 1) / page * page;
    size_ = held + page;
    memory_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) throw std::runtime_error("no memory to guard");
    char* const end = static_cast<char*>(memory_) + held;
    if (mprotect(end, page, PROT_NONE) != 0) throw std::runtime_error("the page behind it cannot be guarded");
    data_ = end - bytes;
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { munmap(memory_, size_); }
  template <class S> S* as() const { return static_cast<S*>(data_); }

 private:
  void *memory_, *data_;
  std::size_t size_;
};

/// A contiguous tensor's elements in memory of as many bytes: what is read behind them ends the program.
inline Tensor guarded(const Guarded& memory, const Tensor& t) {
  Tensor end = t.dtype() == f16    ? Tensor::view(memory.as<float16>(), t.shape())
               : t.dtype() == bf16 ? Tensor::view(memory.as<bfloat16>(), t.shape())
               : t.dtype() == f32  ? Tensor::view(memory.as<float>(), t.shape())
                                   : Tensor::view(memory.as<double>(), t.shape());
  end.copy_from(t);
  return end;
}

}  // namespace tern::contract
