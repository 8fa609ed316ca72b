// The kernel of GPUs: what is filled into rotate.wgsl, and its launch.
#include "gpu/plan/lines.hpp"
#include "gpu/text/kernel_file.hpp"
#include "primitives/rotate/rotate.hpp"

namespace tern::detail_gpu {
namespace {

constexpr const char* kRotate =
#include "primitives/rotate/rotate.wgsl.inc"
    ;
constexpr int kRotateThreads = 256;  // an invocation to each element

std::string rotate_text(const LinePlan& l, int by_slot) {
  Io io(l.plan, l.backend.dialect());
  std::vector<std::string> line, values;
  Holes holes{{"threads", cat(kRotateThreads)},
              {"length", l.p(l.length_slot)},
              {"lines", l.p(l.lines_slot)},
              {"by", l.p(by_slot)}};
  holes["coordinates"] = io.coordinates(l.lines, "line", "c", line);
  holes["load"] = io.load(0, l.at(line, "taken"), values);
  holes["store"] = io.store(1, l.at(line, "i"), values, "");
  return l.module("rotate", fill_holes(kRotate, holes), {});
}

}  // namespace

void rotate_on_gpu(GpuBackend& backend, const detail::RotateRequest& r) {
  backend.run_prepared(r, [&] {
    backend.require_supported(r.op, r.input.dtype);
    if (r.space.numel() == 0) return;
    LinePlan l(backend, r.op, 'R', r.space, r.axis, {&r.input, &r.output}, 1);
    const int by = l.plan.add_param(static_cast<std::uint64_t>(r.by));
    const auto groups = static_cast<std::uint64_t>(ceil_div(r.space.numel(), kRotateThreads));
    l.launch(groups, kRotateThreads, [&] { return rotate_text(l, by); });
  });
}

}  // namespace tern::detail_gpu
