// A complex matrix in memory is a real one of twice as many columns, re and im in turn. So
//   [re a, im a] · [ re b  im b] = [re ab, im ab]
//                  [-im b  re b]
// takes a and the result as they lie: one product, of the 8·M·K·N operations that the definition has.
#include "primitives/gemm/operation_complex.hpp"

#include <algorithm>
#include <string>

#include "primitives/gemm/operation.hpp"
#include "tern/complex.hpp"

namespace tern::detail {
namespace {

constexpr const char* kMatmul = "matmul";

/// [.., M, K] → [.., M, 2K], real.
template <class R> R flat_rows(const R& z) {
  Shape shape = z.shape();
  shape.back() *= 2;
  return view_as_real(z).reshape(shape);
}
/// [.., M, 2N] → [.., M, N], complex.
template <class R> R complex_rows(const R& x) {
  Shape shape = x.shape();
  shape.back() /= 2, shape.push_back(2);
  return view_as_complex(x.reshape(shape));
}
/// [.., K, N] → [.., 2K, N]: each row, and behind it the row times i.
template <class R> R rows_and_times_i(const R& z) {
  static const FormulaGraph* const graph = graph_of([](auto x) {
    const auto first = index(x, -2) == 0;
    return complex_of(where(first, tern::real(x), -tern::imag(x)), where(first, tern::imag(x), tern::real(x)));
  });
  const R rows = z.unsqueeze(-2);
  Shape space = rows.shape(), shape = z.shape();
  space[space.size() - 2] = 2, shape[shape.size() - 2] *= 2;
  const Argument arguments[] = {Argument(rows)};
  return fused_one<R>({kMatmul, graph, 0, space}, arguments).reshape(shape);
}
/// Real columns: both parts of a as rows of their own.
template <class R> R by_real(const R& a, const R& b) {
  Shape shape = a.shape();
  shape[shape.size() - 2] *= 2;
  const R product = matmul(view_as_real(a).transpose(-1, -2).reshape(shape), b);
  Shape apart = product.shape();
  const std::int64_t columns = apart.back();
  apart[apart.size() - 2] /= 2, apart.back() = 2, apart.push_back(columns);
  return view_as_complex(product.reshape(apart).transpose(-1, -2));
}
/// For checks of the shape alone.
Tensor seen_as(const Tensor& x, DType dtype) {
  Tensor view = make_view(x, x.shape(), x.strides(), 0);
  view.impl()->dtype = dtype;
  return view;
}

}  // namespace

template <TensorOrVar R> R complex_product(const R& a, const R& b) {
  for (const R* x : {&a, &b})
    if (!is_differentiable(x->dtype()))
      throw Error(ErrorKind::dtype, std::string(kMatmul) + ": dtypes are of different kinds: a is " +
                                        describe(value_of(a)) + ", b is " + describe(value_of(b)) +
                                        "; convert one operand with .to()");
  const DType dtype = promote_types(a.dtype(), b.dtype());
  const auto converted = [&](const R& x) { return x.to(is_complex(x.dtype()) ? dtype : real_dtype(dtype)); };
  product_shape(kMatmul, seen_as(value_of(a), dtype), seen_as(value_of(b), dtype));
  const R x = converted(a), y = converted(b);
  if (!is_complex(y.dtype())) return by_real(x, y);
  if (!is_complex(x.dtype())) return complex_rows(matmul(x, flat_rows(y)));
  return complex_rows(matmul(flat_rows(x), flat_rows(rows_and_times_i(y))));
}
template Tensor complex_product(const Tensor&, const Tensor&);
template Var complex_product(const Var&, const Var&);

bool any_complex(std::initializer_list<const Tensor*> operands) {
  return std::ranges::any_of(operands, [](const Tensor* t) { return t->defined() && is_complex(t->dtype()); });
}
template <TensorOrVar R> R complex_product_for(const char* op, const R& a, const R& b, const Tensor& bias) {
  require_defined(op, "a", value_of(a)), require_defined(op, "b", value_of(b)), require_defined(op, "bias", bias);
  R product = any_complex({&value_of(a), &value_of(b)}) ? complex_product(a, b) : matmul(a, b);
  if (a.dim() < 2 || b.dim() < 2 || bias.dim() != 1 || bias.size(0) != product.size(-1))
    throw Error(ErrorKind::shape, std::string(op) + ": a and b must have at least two axes, and bias be [N]: a is " +
                                      describe(value_of(a)) + ", b " + describe(value_of(b)) + ", bias " +
                                      describe(bias));
  return product;
}
template <TensorOrVar R>
void complex_epilogue(const char* op, const FormulaGraph* epilogue, const R& product,
                      std::span<const Argument> operands, std::span<R> results) {
  PoolVector<Argument> list{Argument(product)};
  list.insert(list.end(), operands.begin(), operands.end());
  fused(FusedCall{op, epilogue, 0, product.shape()}, list, results);
}
#define TERN_INSTANCES(R)                                                         \
  template R complex_product_for(const char*, const R&, const R&, const Tensor&); \
  template void complex_epilogue(const char*, const FormulaGraph*, const R&, std::span<const Argument>, std::span<R>);
TERN_INSTANCES(Tensor)
TERN_INSTANCES(Var)
#undef TERN_INSTANCES

}  // namespace tern::detail
