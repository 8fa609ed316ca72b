// Products of matrices of complex numbers.
#pragma once
#include <initializer_list>
#include <span>

#include "formula/graph.hpp"
#include "tern/ops.hpp"

namespace tern::detail {

/// The batch of products of [.., M, K] and [.., K, N], of which one at least is complex, as one product of real
/// numbers. Throws dtype where the other is neither floating nor complex.
template <TensorOrVar R> R complex_product(const R& a, const R& b);

bool any_complex(std::initializer_list<const Tensor*> operands);
/// The same for a bias [N] that is added to it; a and b may be real where the bias is complex. Throws shape.
template <TensorOrVar R> R complex_product_for(const char* op, const R& a, const R& b, const Tensor& bias);
/// epilogue(product, operands…): a pass over a product that was made of real ones.
template <TensorOrVar R>
void complex_epilogue(const char* op, const FormulaGraph* epilogue, const R& product,
                      std::span<const Argument> operands, std::span<R> results);

}  // namespace tern::detail
