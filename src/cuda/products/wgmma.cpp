// Fills the holes of wgmma.cu, and runs it.
#include "cuda/products/wgmma.hpp"

#include "backend/instruments/trace.hpp"
#include "cuda/products/instructions.hpp"
#include "cuda/products/wgmma_plan.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_cuda {
namespace wgmma {
namespace {

constexpr const char* kWgmmaProduct =
#include "cuda/products/wgmma.cu.inc"
    ;
constexpr const char* kMatrices =
#include "cuda/products/wgmma_matrices.cu.inc"
    ;

/// The place of an output among those that are staged; -1: it leaves from registers.
int place_in_staged(const WgmmaKernel& kernel, std::size_t output) {
  for (std::size_t i = 0; i < kernel.staged.size(); ++i)
    if (kernel.staged[i].output == output) return static_cast<int>(i);
  return -1;
}

/// The formula over two neighbours of a row, whose sums are sum_0 and sum_1.
std::string two_columns(const WgmmaKernel& kernel, const detail_gpu::Function& formula) {
  const Dialect& dialect = kernel.backend.dialect();
  Io io(kernel.plan, dialect);
  Position at{std::vector<std::string>(kernel.problem.batch.sizes.size(), "batch"), 0, 2, "ahead"};
  at.coordinates.push_back("row"), at.coordinates.push_back("col");
  at.inner = static_cast<int>(at.coordinates.size()) - 1;
  const auto keep = [&](std::size_t o, const std::vector<std::string>& values) {
    const int place = place_in_staged(kernel, o);
    return place < 0 ? std::string()
                     : cat("words[", place, "][word] = ",
                           packed_pair(kernel.request.outputs[o].dtype, values[0], values[1]), ";\n");
  };
  return kernel.epilogue.finish(
      io, dialect, formula, at, kernel.problem.batch, [](int e) { return cat("sum_", e); }, "", "", keep);
}

/// The instruction's operands: registers by number, and the sums they are.
void fill_instruction(const WgmmaKernel& kernel, Holes& holes) {
  const int count = kernel.tiling.tile_n / 2;  // sums of 64 rows
  std::vector<std::string> registers, sums;
  for (int i = 0; i < count; ++i)
    registers.push_back(cat("%", i)), sums.push_back(cat("\"+f\"(acc[first + ", i, "])"));
  holes["type"] = kernel.request.a.dtype == DType::f16 ? "f16" : "bf16";
  holes["registers"] = join(registers), holes["sums"] = join(sums);
  holes["number_of_a"] = cat(count), holes["number_of_b"] = cat(count + 1), holes["number_of_add"] = cat(count + 2);
  holes["a_across"] = kernel.problem.a.along_k ? "0" : "1", holes["b_across"] = kernel.problem.b.along_k ? "0" : "1";
}

void fill_instance(const WgmmaKernel& kernel, Holes& holes) {
  const auto yes = [](bool is) { return is ? "true" : "false"; };
  const Tiling& t = kernel.tiling;
  holes["ping_pong"] = yes(t.ping_pong), holes["keeps_a"] = yes(kernel.keeps_a);
  holes["split_k"] = yes(t.split_k);
  holes["a_along_k"] = yes(kernel.problem.a.along_k), holes["b_along_k"] = yes(kernel.problem.b.along_k);
  holes["a_batched"] = yes(kernel.problem.a.batched), holes["b_batched"] = yes(kernel.problem.b.batched);
  holes["tile_m"] = cat(kTileM, "u"), holes["tile_n"] = cat(t.tile_n), holes["tile_k"] = cat(kTileK, "u");
  holes["bands"] = cat(kBandPairs, "u"), holes["box_columns"] = cat(kBoxColumns, "u");
  holes["skipped"] = "0u", holes["steps_of_skip"] = "1u";
  holes["stages"] = cat(t.stages(), "u");
  holes["ring_bytes"] = cat(t.ring_bytes(), "u"), holes["results_begin"] = cat(t.results_begin(), "u");
  holes["shared_bytes"] = cat(kernel.plan.launch.shared_bytes, "u");
}

void fill_staged_outputs(const WgmmaKernel& kernel, Holes& holes) {
  const int count = static_cast<int>(kernel.staged.size());
  // So many that every tile begins with the first.
  int places = kMostPlaces;
  while (kernel.tiling.tile_n / kBoxColumns * count % places != 0) --places;
  std::vector<std::string> maps(2, "nullptr"), batched(2, "false");
  for (std::size_t i = 0; i < kernel.staged.size(); ++i)
    maps[i] = cat("&map", 2 + i), batched[i] = kernel.staged[i].batched ? "true" : "false";
  holes["staged_outputs"] = cat(count, "u");
  holes["staged_maps"] = join(maps), holes["staged_batched"] = join(batched);
  holes["places"] = cat(places, "u"), holes["most_places"] = cat(kMostPlaces, "u");
}

std::string text(const WgmmaKernel& kernel) {
  const Dialect& dialect = kernel.backend.dialect();
  const detail_gpu::Function formula = kernel.epilogue.function(dialect);
  const Tiling& t = kernel.tiling;
  Module module;
  module.title = cat("product on matrix units, tiles of ", kTileM, "x", t.tile_n, "x", kTileK,
                     t.ping_pong ? " ping-pong" : "");
  module.bindings = kernel.plan.launch.bindings, module.params = kernel.plan.launch.params.size();
  module.maps = 2 + kernel.staged.size();
  module.file = kWgmmaProduct;
  Holes& holes = module.holes;
  fill_instance(kernel, holes), fill_instruction(kernel, holes), fill_staged_outputs(kernel, holes);
  const WgmmaSlots& s = kernel.slots;
  const std::pair<const char*, int> sizes[] = {{"m", s.m},          {"n", s.n},         {"k", s.k},
                                               {"pairs", s.pairs},  {"tiles", s.tiles}, {"works", s.works},
                                               {"last_n", s.last_n}};
  for (const auto& [name, slot] : sizes) holes[name] = dialect.param(slot);
  holes["instructions"] = kHopperInstructions, holes["steps"] = kMatrices;
  if (const std::optional<StepsText>& steps = kernel.problem.steps) {
    holes["steps"] = steps->text, holes["numbers"] = cat(s.numbers, "u");
    for (const auto& [name, filling] : steps->holes) holes[name] = filling;
  }
  holes["formula"] = formula.text, holes["two_columns"] = two_columns(kernel, formula);
  return dialect.module(module);
}

}  // namespace

bool queue_kernel(WgmmaKernel& kernel) {
  if (!bind(kernel)) return false;
  arrange(kernel);
  const Tiling& t = kernel.tiling;
  if (detail::tracing())
    detail::note(cat("matrix units, tiles of ", kTileM, "x", t.tile_n, "x", kTileK, t.ping_pong ? " ping-pong, " : ", ",
                     kernel.plan.launch.groups, " workgroups for ", 2 * t.works, t.split_k ? " split along k" : "",
                     " tiles"));
  kernel.backend.queue(kernel.plan.launch, [&] { return text(kernel); });
  return true;
}

}  // namespace wgmma

bool run_wgmma(detail_gpu::GpuBackend& backend, const detail::GemmRequest& request, const MatrixUnits& units,
               bool always) {
  using namespace wgmma;
  if (units.architecture != 90 || (request.a.dtype != DType::f16 && request.a.dtype != DType::bf16) ||
      request.b.dtype != request.a.dtype || request.k == 0 || request.n % 8 != 0)
    return false;
  WgmmaKernel kernel(backend, request);
  std::optional<Problem> problem = problem_of(request, kernel.epilogue);
  if (!problem) return false;
  kernel.problem = *std::move(problem);
  kernel.tiling = choose_tiling(backend, request, kernel.problem, units);
  return (always || kernel.tiling.fills) && queue_kernel(kernel);
}

}  // namespace tern::detail_cuda
