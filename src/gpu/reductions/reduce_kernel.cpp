// Plans a kernel with reductions (reduce_plan.hpp), prints it (reduce_text.hpp, reduce.wgsl), and runs it.
#include "gpu/reductions/reduce_kernel.hpp"

#include "backend/instruments/trace.hpp"
#include "gpu/reductions/reduce_plan.hpp"
#include "gpu/reductions/reduce_text.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_gpu {

using detail::FusedRequest;

namespace {

bool is_there(ReducePlan& kernel) {
  return kernel.backend.has_kernel(kernel.plan.layouts(), kernel.plan.launch, [&] { return reduce_text(kernel); });
}

void note(const ReducePlan& kernel) {
  const Stage& stage = kernel.stage;
  const std::string what =
      stage.joins ? "joining" : cat(stage.splits ? "partial " : "", kernel.tiling.rows ? "rows" : "columns");
  const std::string passes = stage.joins ? std::string()
                             : kernel.resident()
                                 ? cat(", 1 pass, ", kernel.pass_count(), " in registers")
                             : kernel.staged()
                                 ? cat(", 1 pass, ", kernel.pass_count(), " in workgroup memory")
                                 : cat(", ", kernel.pass_count(), kernel.pass_count() == 1 ? " pass" : " passes");
  detail::note(cat(what, ", ", kernel.plan.launch.groups, " workgroups of ", kernel.tiling.across, "x",
                   kernel.tiling.along, kernel.group > 1 ? cat(", ", kernel.group, " elements at once") : std::string(),
                   passes));
}

/// False, having done nothing, where there is no such kernel in vectors.
bool run(ReducePlan& kernel) {
  kernel.arrange();
  if (kernel.plan.layouts() == Layouts::vectors && !(kernel.in_vectors() && is_there(kernel))) return false;
  if (detail::tracing()) note(kernel);
  kernel.backend.queue(kernel.plan.launch, [&] { return reduce_text(kernel); });
  return true;
}

}  // namespace

void run_reduce_kernel(GpuBackend& backend, const FusedRequest& request, const Stage& stage, const ThreadGrid& tiling,
                       const std::vector<std::int64_t>& begin, const Shape& space) {
  run_in_layouts(backend.limits(), [&](Layouts layouts) {
    ReducePlan kernel(backend, request, stage, {tiling, begin, space}, layouts);
    return run(kernel);
  });
}

bool run_resident_rows(GpuBackend& backend, const FusedRequest& request, const Stage& stage, const ThreadGrid& tiling,
                       const std::vector<std::int64_t>& begin, const Shape& space) {
  ReducePlan kernel(backend, request, stage, {tiling, begin, space}, Layouts::own, true);
  return kernel.resident() && run(kernel);
}

bool has_reduce_kernel(GpuBackend& backend, const FusedRequest& request, const Stage& stage, const ThreadGrid& tiling,
                       const std::vector<std::int64_t>& begin, const Shape& space) {
  ReducePlan kernel(backend, request, stage, {tiling, begin, space}, Layouts::any);
  kernel.arrange();
  return is_there(kernel);
}

}  // namespace tern::detail_gpu
