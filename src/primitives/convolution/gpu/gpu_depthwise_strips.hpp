// How the results of channels by themselves are divided among invocations: gpu_depthwise_pieces.wgsl.
#pragma once
#include "primitives/convolution/gpu/gpu_depthwise_common.hpp"

namespace tern::detail_gpu::conv {

/// Channels in a word of memory, which an invocation has.
inline std::int64_t channels_of_word(DType dtype) { return 4 / static_cast<std::int64_t>(dtype_size(dtype)); }

/// The numbers of a convolution over one axis or two as over lines and rows.
struct LinesAndRows {
  explicit LinesAndRows(const ConvSizes& s) : line{static_cast<std::size_t>(s.axes) - 1, true}, row{line.last, false} {}
  AxisOf line, row;
};
/// Places of the image along an axis that so many results meet.
std::int64_t span(const ConvSizes& sizes, const AxisOf& axis, std::int64_t results);

/// What an invocation has of the results of its channels.
struct Strip {
  std::int64_t lines = 1, rows = 1;
};
/// That of the result, and of the gradient of the kernels.
Strip strip_of_result(const ConvSizes& sizes, DType dtype);
Strip strip_of_weight(const ConvSizes& sizes, DType dtype);
/// Strips that are summed at the same time, each into a part of its own.
std::int64_t parts_of_weight(const ConvSizes& sizes, DType dtype);

}  // namespace tern::detail_gpu::conv
