// The enumeration of elementary functions, made from elementary.inc. No standard containers: per-target SIMD files
// include this.
#pragma once
#include <cstdint>

namespace tern::detail {
enum class Elementary : std::uint8_t {
#define TERN_ELEMENTARY(name, arity) name,
#define TERN_ELEMENTARY_INNER(name, arity) name,
#define TERN_ELEMENTARY_REDUCE(name) name,
#include "tern/elementary.inc"
#undef TERN_ELEMENTARY
#undef TERN_ELEMENTARY_INNER
#undef TERN_ELEMENTARY_REDUCE
  count
};
inline constexpr int kElementaryCount = static_cast<int>(Elementary::count);

/// The types values have inside a kernel. Narrower types are widened on load: f16 and bf16 to f32; boolean, u8, i8
/// and i16 to i32 (booleans beside 8-byte values to i64).
enum class ComputeType : std::uint8_t { f32, f64, i32, u32, i64 };
inline constexpr int kComputeTypeCount = 5;
inline constexpr unsigned kF32 = 1, kF64 = 2, kI32 = 4, kU32 = 8, kI64 = 16;
inline constexpr unsigned kFloatTypes = kF32 | kF64, kIntegerTypes = kI32 | kU32 | kI64,
                          kAllTypes = kFloatTypes | kIntegerTypes;
}  // namespace tern::detail
