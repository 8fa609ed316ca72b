#include "gpu/gpu_backend.hpp"

#include "formula/rule.hpp"
#include "gpu/products/gemm_tiles.hpp"
#include "gpu/text/printer.hpp"

namespace tern::detail_gpu {

void GpuBackend::require_supported(const char* op, DType dtype) const {
  if (!supports(dtype)) throw UnsupportedDType(op, dtype, device().to_string());
}

/// Drivers' compilers take a second for this many operations, and recurse along them: of some tens of thousands they
/// overflow the stack of the thread that calls them.
constexpr std::size_t kMostProgramSteps = 4096;

void GpuBackend::require_supported(const char* op, const detail::Program& program) const {
  if (program.steps.size() > kMostProgramSteps)
    throw Error(ErrorKind::unsupported, std::string(op) + ": a formula of " + std::to_string(program.steps.size()) +
                                            " operations; on " + device().to_string() + " one kernel has at most " +
                                            std::to_string(kMostProgramSteps) + ": call several formulas");
  for (const detail::InputType& input : program.inputs)
    if (!input.number) require_supported(op, input.dtype);
  for (const detail::ProgramOutput& output : program.outputs) require_supported(op, output.dtype);
  if (!dialect().native()) return require_supported(op, unsupported_dtype(program));
  for (const detail::Step& step : program.steps)
    if (step.kind == detail::StepKind::elementary && detail::is_wide(step.type) &&
        !dialect().has_wide(step.elementary, step.type))
      throw Error(ErrorKind::unsupported, std::string(op) + ": " + detail::rule_of(step.elementary).name +
                                              " has no kernel for dtype " + std::string(to_string(step.dtype)) +
                                              " on " + device().to_string());
}

void GpuBackend::refuse_process() const {
  throw Error(ErrorKind::device,
              "device " + device().to_string() + ": " +
                  (process_.here()
                       ? "the process is ending, and its driver has ended before this object did; make objects whose "
                         "destructors use it after its first use"
                       : detail::kForked));
}

const GemmTiles& GpuBackend::gemm_tiles() {
  const GemmTiles* tiles = gemm_tiles_.load(std::memory_order_acquire);
  if (!tiles) gemm_tiles_.store(tiles = &GemmTiles::of(device_class(), limits()), std::memory_order_release);
  return *tiles;
}

}  // namespace tern::detail_gpu
