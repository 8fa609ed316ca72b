#include "gpu/plan/lines.hpp"
#include "primitives/rotate/rotate.hpp"

namespace tern::detail_gpu {
namespace {

constexpr int kThreads = 256;  // an invocation to each element

std::string rotate_text(const LinePlan& l, int by_slot) {
  Io io(l.plan, l.backend.dialect());
  std::vector<std::string> coordinates, values;
  const std::string length = l.p(l.length_slot);
  std::string body = cat("let at = group * ", kThreads, "u + thread;\nlet line = at / ", length,
                         ";\nlet i = at - line * ", length, ";\n");
  body += io.coordinates(l.lines, "line", "c", coordinates);
  std::string move = cat("let taken = (i + ", l.p(by_slot), ") % ", length, ";\n");
  move += io.load(0, l.at(coordinates, "taken"), values);
  move += io.store(1, l.at(coordinates, "i"), values, "");
  return l.module("rotate", body + cat("if (line < ", l.p(l.lines_slot), ") {\n", indented(move), "}\n"), {});
}

}  // namespace

void rotate_on_gpu(GpuBackend& backend, const detail::RotateRequest& r) {
  backend.run_prepared(r, [&] {
    backend.require_supported(r.op, r.input.dtype);
    if (r.space.numel() == 0) return;
    LinePlan l(backend, r.op, 'R', r.space, r.axis, {&r.input, &r.output}, 1);
    const int by = l.plan.add_param(static_cast<std::uint64_t>(r.by));
    const auto groups = static_cast<std::uint64_t>(ceil_div(r.space.numel(), kThreads));
    l.launch(groups, kThreads, [&] { return rotate_text(l, by); });
  });
}

}  // namespace tern::detail_gpu
