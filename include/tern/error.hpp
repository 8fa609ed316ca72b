// Errors: one exception type with a kind, thrown before anything changes.
#pragma once
#include <stdexcept>
#include <string>

#include "tern/dtype.hpp"

namespace tern {

/// What went wrong, for programs; `what()` is for people. `value`: an argument outside its domain, as a probability of
/// 2. `linalg`: a matrix that has no such factor or inverse.
enum class ErrorKind { shape, dtype, device, index, autograd, unsupported, out_of_memory, backend, io, value, linalg };

/// Every error tern throws. The message names the operation, the argument, what was expected and what came.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

/// An operation that a device does not offer for a dtype (f64 on WebGPU, say). Kind: `unsupported`.
class UnsupportedDType : public Error {
 public:
  UnsupportedDType(std::string op, DType dtype, std::string device)
      : Error(ErrorKind::unsupported,
              op + ": dtype " + std::string(to_string(dtype)) + " is not supported on " + device),
        op_(std::move(op)), device_(std::move(device)), dtype_(dtype) {}
  const std::string& op() const noexcept { return op_; }
  DType dtype() const noexcept { return dtype_; }
  const std::string& device() const noexcept { return device_; }

 private:
  std::string op_, device_;
  DType dtype_;
};

}  // namespace tern
