#pragma once
#include "tern/ops.hpp"

namespace tern {

/// x with its elements along an axis moved `by` places towards the front, those that fall out at the back again.
template <TensorOrVar X> ResultOf<X> rotate(const X& x, std::int64_t by, int axis = -1);

}  // namespace tern
