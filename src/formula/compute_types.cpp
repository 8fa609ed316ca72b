// Compute types: what the values of a dtype are computed in.
#include <cmath>

#include "formula/program.hpp"

namespace tern::detail {

ComputeType compute_type_of(DType dtype) {
  switch (dtype) {
    case DType::f64: return ComputeType::f64;
    case DType::i64: return ComputeType::i64;
    case DType::u32: return ComputeType::u32;
    case DType::f16:
    case DType::bf16:
    case DType::f32: return ComputeType::f32;
    default: return ComputeType::i32;
  }
}
bool fits(const Number& n, DType dtype) {
  if (!n.is_integer && !(n.real >= -0x1p63 && n.real < 0x1p63 && n.real == std::trunc(n.real))) return false;
  const std::int64_t value = n.is_integer ? n.integer : static_cast<std::int64_t>(n.real);
  const int bits = 8 * static_cast<int>(dtype_size(dtype));
  if (dtype == DType::boolean) return value == 0 || value == 1;
  if (dtype == DType::u8 || dtype == DType::u32) return value >= 0 && value < std::int64_t{1} << bits;
  return bits == 64 || (value >= -(std::int64_t{1} << (bits - 1)) && value < std::int64_t{1} << (bits - 1));
}
bool is_float(ComputeType type) { return type == ComputeType::f32 || type == ComputeType::f64; }
bool is_wide(ComputeType type) { return type == ComputeType::f64 || type == ComputeType::i64; }

ComputeType Step::result_type() const {
  if (kind == StepKind::elementary && rule_of(elementary).gives == Gives::predicate)
    return is_wide(type) ? ComputeType::i64 : ComputeType::i32;
  return type;
}

}  // namespace tern::detail
