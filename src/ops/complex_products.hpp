// Products of matrices of complex numbers.
#pragma once
#include "tern/ops.hpp"

namespace tern::detail {

/// The batch of products of [.., M, K] and [.., K, N], of which one at least is complex, as one product of real
/// numbers. Throws dtype where the other is neither floating nor complex.
template <TensorOrVar R> R complex_product(const R& a, const R& b);

}  // namespace tern::detail
