// From compute types back to dtypes: compute_type_of (program.hpp) the other way round.
#pragma once
#include "formula/elementary.hpp"
#include "tern/dtype.hpp"

namespace tern::detail {

/// The dtype whose elements are a compute type's values, as they are.
constexpr DType dtype_computed_in(ComputeType type) {
  constexpr DType dtypes[] = {DType::f32, DType::f64, DType::i32, DType::u32, DType::i64};
  return dtypes[static_cast<int>(type)];
}

}  // namespace tern::detail
