// From a dtype to the C++ type of its elements.
#pragma once
#include <stdexcept>
#include <type_traits>

#include "tern/dtype.hpp"

namespace tern::detail {

/// run(std::type_identity<T>()) with the element type of a dtype of real numbers.
template <class Run> decltype(auto) with_element(DType dtype, const Run& run) {
  switch (dtype) {
    case DType::boolean: return run(std::type_identity<bool>());
    case DType::u8: return run(std::type_identity<std::uint8_t>());
    case DType::i8: return run(std::type_identity<std::int8_t>());
    case DType::i16: return run(std::type_identity<std::int16_t>());
    case DType::i32: return run(std::type_identity<std::int32_t>());
    case DType::u32: return run(std::type_identity<std::uint32_t>());
    case DType::i64: return run(std::type_identity<std::int64_t>());
    case DType::f16: return run(std::type_identity<float16>());
    case DType::bf16: return run(std::type_identity<bfloat16>());
    case DType::f32: return run(std::type_identity<float>());
    case DType::f64: break;
    case DType::c64:
    case DType::c128: throw std::logic_error("with_element: complex elements are pairs of real ones");
  }
  return run(std::type_identity<double>());
}

}  // namespace tern::detail
