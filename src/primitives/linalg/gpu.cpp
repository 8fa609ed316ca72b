// Linear algebra on GPUs: how failures are told.
#include "primitives/linalg/gpu.hpp"

#include "gpu/plan/index_checks.hpp"

namespace tern::detail_gpu {

namespace {

constexpr int kThreads = 256;

/// A view over a batch with an axis of one element behind it, along which lines lie.
View with_axis(View view) {
  view.strides.push_back(0);
  return view;
}

}  // namespace

Noted::Noted(LinePlan& plan, bool batched, detail::PrimitiveId by)
    : plan_(plan), flags_{&plan.backend.index_flags(), DType::u32, 0, {}} {
  access_ = plan.add_words(flags_);
  Plan& p = plan.plan;
  p.make_atomic(access_);
  p.launch.check_slot = p.add_param(0), p.launch.checked_size = batched, p.launch.checks = by;
}
std::string Noted::text(const std::string& matrix, const std::string& status) const {
  constexpr std::uint32_t kMost = 0xffffffffu / Checked::kStatuses - 1;  // those behind are told as this one
  return plan_.backend.dialect().report_least(
      plan_.plan.access(access_).binding, plan_.p(plan_.plan.launch.check_slot),
      cat("min(", matrix, ", ", kMost, "u) * ", Checked::kStatuses, "u + u32(", status, " + 1)"));
}

void status_on_gpu(GpuBackend& backend, const detail::StatusRequest& r) {
  if (r.count() == 0) return;
  backend.run_prepared(r, [&] {
    const Shape space = detail::with_sizes(r.batch(), {1});
    const View status = with_axis(r.status);
    LinePlan l(backend, r.op, 'C', space, space.rank() - 1, {&status}, 1);
    const Noted noted(l, r.batch().rank() > 0, r.by);
    l.launch(static_cast<std::uint64_t>(ceil_div(r.count(), kThreads)), kThreads, [&] {
      Io io(l.plan, backend.dialect());
      std::vector<std::string> line, values;
      std::string check = io.coordinates(l.lines, "line", "c", line) + io.load(0, l.at(line, "0u"), values);
      check += cat("if (", values[0], " != 0) {\n", indented(noted.text("line", values[0])), "}\n");
      return l.module("status of matrices",
                      cat("let line = group * ", kThreads, "u + thread;\nif (line < ", l.p(l.lines_slot), ") {\n",
                          indented(check), "}\n"),
                      {});
    });
  });
}

}  // namespace tern::detail_gpu
