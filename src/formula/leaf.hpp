// The enumeration of leaves, made from leaves.inc. No standard containers: per-target SIMD files include this.
#pragma once
#include <cstdint>

namespace tern::detail {
enum class Leaf : std::uint8_t {
#define TERN_LEAF(name, arity) name,
#define TERN_LEAF_INNER(name, arity) name,
#define TERN_LEAF_REDUCE(name) name,
#include "tern/leaves.inc"
#undef TERN_LEAF
#undef TERN_LEAF_INNER
#undef TERN_LEAF_REDUCE
  count
};
inline constexpr int kLeafCount = static_cast<int>(Leaf::count);

/// The types values have inside a kernel. Narrower types are widened on load: f16 and bf16 to f32; boolean, u8, i8
/// and i16 to i32 (booleans beside 8-byte values to i64).
enum class ComputeType : std::uint8_t { f32, f64, i32, u32, i64 };
inline constexpr int kComputeTypeCount = 5;
inline constexpr unsigned kF32 = 1, kF64 = 2, kI32 = 4, kU32 = 8, kI64 = 16;
inline constexpr unsigned kFloatTypes = kF32 | kF64, kIntegerTypes = kI32 | kU32 | kI64,
                          kAllTypes = kFloatTypes | kIntegerTypes;
}  // namespace tern::detail
