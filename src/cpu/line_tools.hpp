// What the primitives along one axis share.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "backend/backend.hpp"
#include "backend/combine.hpp"
#include "cpu/machine/threads.hpp"
#include "cpu/tape/cursor.hpp"
#include "tern/error.hpp"

namespace tern::detail_cpu {

using detail::Combine;

/// Calls f with a value of the C++ type behind a 4- or 8-byte dtype.
template <class F> void with_type(DType dtype, const char* op, F f) {
  switch (dtype) {
    case DType::f32: return f(float{});
    case DType::f64: return f(double{});
    case DType::i32: return f(std::int32_t{});
    case DType::u32: return f(std::uint32_t{});
    case DType::i64: return f(std::int64_t{});
    default: throw UnsupportedDType(op, dtype, "cpu");
  }
}
template <class T> T* pointer(const detail::View& view) { return static_cast<T*>(view.storage->data()) + view.offset; }

template <class T> T combined(Combine how, T a, T b) {
  using U = std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;  // wraps
  switch (how) {
    case Combine::mul: return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
    case Combine::maximum: return a > b || a != a ? a : b;
    case Combine::minimum: return a < b || a != a ? a : b;
    case Combine::last: return b;
    case Combine::logaddexp:
      if constexpr (std::is_floating_point_v<T>) {
        if (a == b) return a + static_cast<T>(0.6931471805599453);  // infinities, too, which have no difference
        return (a > b || a != a ? a : b) + std::log1p(std::exp(-std::abs(a - b)));
      }
      return b;
    default: return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  }
}

/// The axes but one, as an order of lines.
inline AxisOrder lines_of(const Shape& space, int axis) {
  AxisOrder order;
  for (int i = 0; i < space.rank(); ++i) {
    if (i == axis) continue;
    order.axes[order.rank] = i;
    order.sizes[order.rank++] = space[static_cast<std::size_t>(i)];
  }
  return order;
}
/// One axis as an order, for a view shifted to the start of a line.
inline AxisOrder along(const Shape& space, int axis) {
  AxisOrder order;
  order.rank = 1, order.axes[0] = axis, order.sizes[0] = space[static_cast<std::size_t>(axis)];
  return order;
}
inline detail::View at_line(detail::View view, const AxisOrder& lines, std::int64_t line) {
  for (int i = lines.rank - 1; i >= 0; --i) {
    view.offset += line % lines.sizes[i] * view.strides[static_cast<std::size_t>(lines.axes[i])];
    line /= lines.sizes[i];
  }
  return view;
}

/// Calls body(first, last) on ranges of `count` lines, in parallel where there are enough elements (one in 64 Ki pays
/// for a wake-up).
template <class Body> void for_lines(std::int64_t count, std::int64_t length, Body body) {
  if (count == 0 || length == 0) return;
  const std::int64_t tasks = count * length < 64 * 1024 ? 1 : std::min<std::int64_t>(count, 4 * max_threads());
  parallel_for(tasks, [&](std::int64_t t) { body(count * t / tasks, count * (t + 1) / tasks); });
}

}  // namespace tern::detail_cpu
