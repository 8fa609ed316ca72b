#include "gpu/plan/lines.hpp"

namespace tern::detail_gpu {

std::int64_t most_bytes(const GpuBackend& backend) {
  return static_cast<std::int64_t>(backend.limits().binding_bytes) - backend.limits().binding_alignment - kVectorBytes;
}

int axis_to_halve(const GpuBackend& backend, const Shape& space, int axis, const std::vector<const View*>& views,
                  bool& fits) {
  const std::int64_t most = most_bytes(backend);
  const std::vector<std::int64_t> sizes(space.begin(), space.end());
  fits = true;
  int best = -1;
  std::int64_t furthest = 0;
  for (const View* v : views) {
    if (!v->storage) continue;
    const ByteRange touched = bytes_touched(*v, sizes);
    if (static_cast<std::int64_t>(v->storage->bytes()) <= most || touched.end - touched.begin <= most) continue;
    fits = false;
    for (int i = 0; i < space.rank(); ++i) {
      const auto a = static_cast<std::size_t>(i);
      const std::int64_t reach = (space[a] - 1) * std::abs(v->strides[a]);
      if (i != axis && space[a] > 1 && reach > furthest) furthest = reach, best = i;
    }
  }
  return best;
}

void too_long(const GpuBackend& backend, const char* op) {
  throw Error(ErrorKind::unsupported,
              cat(op, ": one line of the tensor is larger than the ", backend.limits().binding_bytes >> 20,
                  " MiB that a kernel can see on ", backend.device().to_string()));
}

}  // namespace tern::detail_gpu
