// Windows over the axes behind batch and channels: a view, whose transpose adds up where windows overlap.
#pragma once
#include <array>

#include "primitives/fused/operation_checks.hpp"

namespace tern::detail {

struct Windows {
  using Sizes = std::array<std::int64_t, 3>;
  const char* op = "";
  int axes = 0;  // 1 to 3
  Sizes in{}, out{}, kernel{}, stride{}, dilation{}, padding{};

  std::int64_t extent(int i) const { return dilation[at(i)] * (kernel[at(i)] - 1) + 1; }
  std::int64_t padded(int i) const { return in[at(i)] + 2 * padding[at(i)]; }
  std::int64_t elements() const;  // of a window
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
};

/// One number for each axis, none below `least`; throws shape.
Windows::Sizes per_axis(const char* op, const char* name, const PerAxis& given, int axes, std::int64_t least);
/// Fills in how many windows there are; throws shape where one does not fit.
void count_windows(Windows& windows, const Tensor& x);

/// [N, C, padded..] as [N, C, out.., kernel..]: a view.
template <TensorOrVar R> R windows_of(const R& x, const Windows& windows);
/// The transpose: [N, C, out.., kernel..] added up to [N, C, padded..].
template <TensorOrVar R> R overlapped(const R& x, const Windows& windows);
/// x with `value` around it.
template <TensorOrVar R> R padded(const R& x, const Windows& windows, double value);

}  // namespace tern::detail
