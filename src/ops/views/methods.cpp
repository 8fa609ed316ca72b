// Methods that stand for functions: tern/methods.inc lists them once, for Tensor and Var.
#include "tern/complex.hpp"
#include "tern/compositions.hpp"
#include "tern/indexing.hpp"
#include "tern/sets.hpp"
#include "tern/statistics.hpp"
#include "tern/views.hpp"

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

template <TensorOrVar B> ResultOf<Tensor, B> Tensor::matmul(const B& other) const { return tern::matmul(*this, other); }
template <TensorOrVar B> Var Var::matmul(const B& other) const { return tern::matmul(*this, other); }
template Tensor Tensor::matmul(const Tensor&) const;
template Var Tensor::matmul(const Var&) const;
template Var Var::matmul(const Tensor&) const;
template Var Var::matmul(const Var&) const;

}  // namespace tern
