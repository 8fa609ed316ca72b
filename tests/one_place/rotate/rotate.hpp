// Primitive `rotate`: the elements along an axis, moved around in a circle.
#pragma once
#include "backend/primitive.hpp"

namespace tern::detail {

/// output[…, i, …] = input[…, (i + by) mod n, …], 0 ≤ by < n.
struct RotateRequest {
  const char* op = "";
  Shape space;
  int axis = 0;
  std::int64_t by = 0;
  View input, output;

  template <class Self, class Visitor> static void views(Self& r, Visitor&& visit) {
    visit.reads(r.input, r.space), visit.writes(r.output, r.space);
  }
  template <class Add> void parameters(Add&& add) const { add(space), add(axis), add(by), add(input.dtype); }
  std::int64_t flops() const { return 0; }
  std::string text() const { return to_string(space); }
};

}  // namespace tern::detail

namespace tern::detail_cpu {
void rotate_on_cpu(detail::Backend& backend, const detail::RotateRequest& request);
}
namespace tern::detail_gpu {
class GpuBackend;
void rotate_on_gpu(GpuBackend& backend, const detail::RotateRequest& request);
}  // namespace tern::detail_gpu
