#include <cstring>

#include "cpu/line_tools.hpp"
#include "primitives/rotate/rotate.hpp"

namespace tern::detail_cpu {

void rotate_on_cpu(detail::Backend&, const detail::RotateRequest& r) {
  if (r.space.numel() == 0) return;
  const AxisOrder lines = lines_of(r.space, r.axis);
  const auto axis = static_cast<std::size_t>(r.axis);
  const std::int64_t n = r.space[axis], size = static_cast<std::int64_t>(dtype_size(r.input.dtype));
  for_lines(lines.count(), n, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t line = first; line < last; ++line) {
      const detail::View from = at_line(r.input, lines, line), to = at_line(r.output, lines, line);
      const auto* const x = static_cast<const std::byte*>(from.storage->data()) + from.offset * size;
      auto* const y = static_cast<std::byte*>(to.storage->data()) + to.offset * size;
      for (std::int64_t i = 0; i < n; ++i)
        std::memcpy(y + i * to.strides[axis] * size, x + (i + r.by) % n * from.strides[axis] * size,
                    static_cast<std::size_t>(size));
    }
  });
}

}  // namespace tern::detail_cpu
