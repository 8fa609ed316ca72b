#include "gpu/gpu_backend.hpp"

#include "formula/rule.hpp"
#include "gpu/elementwise.hpp"
#include "gpu/gemm.hpp"
#include "gpu/gemm_tiles.hpp"
#include "gpu/printer.hpp"
#include "gpu/reduce.hpp"

namespace tern::detail_gpu {

void GpuBackend::require_supported(const char* op, DType dtype) const {
  if (!supports(dtype)) throw UnsupportedDType(op, dtype, device().to_string());
}

void GpuBackend::require_supported(const char* op, const detail::Program& program) const {
  for (const detail::InputType& input : program.inputs)
    if (!input.number) require_supported(op, input.dtype);
  for (const detail::ProgramOutput& output : program.outputs) require_supported(op, output.dtype);
  if (!dialect().native()) return require_supported(op, unsupported_dtype(program));
  for (const detail::Step& step : program.steps)
    if (step.kind == detail::StepKind::leaf && detail::is_wide_lane(step.lane) &&
        !dialect().has_wide(step.leaf, step.lane))
      throw Error(ErrorKind::unsupported, std::string(op) + ": " + detail::rule_of(step.leaf).name +
                                              " has no kernel for dtype " + std::string(to_string(step.dtype)) +
                                              " on " + device().to_string());
}

void GpuBackend::refuse_process() const {
  throw Error(ErrorKind::device,
              "device " + device().to_string() + ": " +
                  (process_.here() ? "the process is ending, and its driver has ended before this object did; make objects whose "
                                     "destructors use it after its first use"
                                   : detail::kForked));
}

const GemmTiles& GpuBackend::gemm_tiles() {
  const GemmTiles* tiles = gemm_tiles_.load(std::memory_order_acquire);
  if (!tiles) gemm_tiles_.store(tiles = &GemmTiles::of(device_class(), limits()), std::memory_order_release);
  return *tiles;
}

void GpuBackend::fused(const detail::FusedRequest& r) {
  if (Preparing::current()) return plan(r);  // part of another request
  if (prepared_.run(*this, r)) return;
  require_supported(r.op, *r.program);
  Preparing preparing;
  plan(r);
  prepared_.remember(preparing.result());
}

void GpuBackend::fused_all(std::span<const detail::FusedRequest> requests) {
  // A pack holds no kernels of parts.
  if (requests.size() < 2 || limits().packed || !dialect().has_parts() || Preparing::current())
    return Backend::fused_all(requests);
  if (prepared_.run(*this, requests)) return;
  for (const detail::FusedRequest& r : requests) require_supported(r.op, *r.program);
  Preparing preparing;
  Together together(*this);
  int first_input = 0;
  for (const detail::FusedRequest& r : requests) {
    preparing.count_inputs_from(first_input);
    plan(r, &together);
    first_input += static_cast<int>(r.inputs.size());
  }
  together.finish();
  prepared_.remember(preparing.result());
}

void GpuBackend::gemm(const detail::GemmRequest& r) {
  if (prepared_.run(*this, r)) return;
  require_supported(r.op, *r.epilogue);
  require_supported(r.op, r.a.dtype);
  Preparing preparing;
  plan(r);
  prepared_.remember(preparing.result());
}

void GpuBackend::plan(const detail::GemmRequest& r) { run_gemm(*this, r); }

void GpuBackend::plan(const detail::FusedRequest& r, Together* together) {
  if (r.program->reduces) return run_reducing(*this, r);
  Elementwise job;
  job.op = r.op, job.program = r.program, job.space = job.whole = r.space, job.reduced = r.reduced;
  job.origin.resize(r.space.rank(), 0);
  job.inputs.assign(r.inputs.begin(), r.inputs.end());
  for (std::size_t o = 0; o < r.outputs.size(); ++o) job.outputs.push_back({r.program->outputs[o].step, r.outputs[o]});
  job.together = together;
  run_elementwise(*this, job);
}

}  // namespace tern::detail_gpu
