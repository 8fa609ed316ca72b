// Operations in place: a += b and its like, on the whole of a tensor or on what x(…) selects.
#include <string>

#include "ops/indexing/indexing.hpp"
#include "primitives/fused/operation.hpp"
#include "tern/ops.hpp"

namespace tern {

using namespace detail;

namespace {
/// Throws dtype where a result of dtype `both` is of another kind than the tensor, in place of which it is to stand.
void require_keeps_dtype(const char* op, const Tensor& target, DType both) {
  const bool one_kind = is_complex(both)    ? is_complex(target.dtype())
                        : is_floating(both) ? is_floating(target.dtype())
                                            : is_integer(both) && is_integer(target.dtype());
  if (both == target.dtype() || one_kind) return;
  throw Error(ErrorKind::dtype, std::string(op) + ": in place " + describe(target) +
                                    " keeps its dtype, and the result would be " + std::string(to_string(both)) +
                                    "; convert one of the operands with .to()");
}
/// The formula of two arguments with its result converted.
const FormulaGraph* converted(const FormulaGraph* graph, DType dtype) {
  const Expr arguments[] = {make_input(0), make_input(1)};
  const Expr result = cast(substitute(graph, arguments)[0], dtype);
  return make_graph({&result, 1}, 2);
}
Tensor& update(Tensor& target, const char* op, const Pointwise<>& formula, const Argument& other) {
  impl_of(target, op);
  const FormulaGraph* graph = formula.graph();
  if (other.tensor) {
    require_defined(op, "the right-hand side", *other.tensor);
    if (broadcast_shapes(op, target.shape(), other.tensor->shape()) != target.shape())
      throw Error(ErrorKind::shape,
                  std::string(op) + ": " + describe(*other.tensor) + " does not broadcast to " + describe(target));
    if (const DType both = promote_types(target.dtype(), other.tensor->dtype()); both != target.dtype()) {
      require_keeps_dtype(op, target, both);
      graph = converted(graph, target.dtype());
    }
  }
  const Argument arguments[] = {Argument(target), other};
  run_fused({op, graph, 0, target.shape()}, arguments, {&target, 1});
  return target;
}
/// A temporary whose memory others hold too: what is written to a copy that nobody holds would be lost.
Tensor& seen(const char* op, Tensor& temporary) {
  const std::shared_ptr<Storage>& storage = impl_of(temporary, op).storage;
  if (temporary.impl().use_count() == 1 && storage.use_count() == 1 && storage->owned())
    throw Error(ErrorKind::value, std::string(op) + ": writes to a temporary copy that nothing else holds, " +
                                      describe(temporary) + ", and would be lost; give the copy a name first, or " +
                                      "write to a view (reshape, flatten and to copy where they cannot be one)");
  return temporary;
}
/// Writes `result`, in x's dtype, into what `part` was selected from: the new elements.
Tensor written(const char* op, const Tensor& part, const Tensor& result) {
  if (result.dtype() != part.dtype()) require_keeps_dtype(op, part, result.dtype());
  const Tensor kept = result.to(part.dtype());
  write_selected(part, kept);
  return kept;
}
}  // namespace
Var detail::keeping_dtype(const Var& x, const Var& result) {
  if (result.dtype() == x.dtype()) return result;
  require_keeps_dtype("in place", x.value(), result.dtype());
  return result.to(x.dtype());
}
#define TERN_IN_PLACE(symbol, name)                                                                            \
  Tensor& Tensor::operator symbol##=(const Tensor& o)& { return update(*this, #name, op::name, o); }           \
  Tensor& Tensor::operator symbol##=(Number o)& { return update(*this, #name, op::name, o); }                  \
  Tensor Tensor::operator symbol##=(const Tensor& o)&& {                                                       \
    if (!is_selected(*this)) return update(seen(#symbol "=", *this), #name, op::name, o);                      \
    return written(#name, *this, *this symbol o);                                                              \
  }                                                                                                            \
  Tensor Tensor::operator symbol##=(Number o)&& {                                                              \
    if (!is_selected(*this)) return update(seen(#symbol "=", *this), #name, op::name, o);                      \
    return written(#name, *this, *this symbol o);                                                              \
  }
TERN_IN_PLACE(+, add)
TERN_IN_PLACE(-, sub)
TERN_IN_PLACE(*, mul)
TERN_IN_PLACE(/, div)
#undef TERN_IN_PLACE

}  // namespace tern
