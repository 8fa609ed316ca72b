#pragma once
#include "tern/ops.hpp"

namespace tern {

/// x with its elements along an axis moved `by` places towards the front, those that fall out at the back again.
Tensor rotate(const Tensor& x, std::int64_t by, int axis = -1);
Var rotate(const Var& x, std::int64_t by, int axis = -1);

}  // namespace tern
