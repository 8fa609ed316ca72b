// Methods that stand for functions: tern/methods.inc lists them once, for Tensor and Var.
#include "tern/ops.hpp"

namespace tern {

#define TERN_METHOD(result, name, declared, defined, ...) \
  result TERN_SELF::name defined const { return tern::name(*this __VA_OPT__(, ) __VA_ARGS__); }
#define TERN_SELF Tensor
#include "tern/methods.inc"
#undef TERN_SELF
#define TERN_SELF Var
#include "tern/methods.inc"
#undef TERN_SELF
#undef TERN_METHOD

Tensor Tensor::matmul(const Tensor& other) const { return tern::matmul(*this, other); }
Var Tensor::matmul(const Var& other) const { return tern::matmul(*this, other); }
Var Var::matmul(const detail::VarArg& other) const { return tern::matmul(*this, other); }

}  // namespace tern
