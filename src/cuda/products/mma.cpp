// Fills the holes of mma.cu, and runs it.
#include "cuda/products/mma.hpp"

#include "backend/instruments/trace.hpp"
#include "cuda/products/instructions.hpp"
#include "cuda/products/mma_plan.hpp"
#include "gpu/products/gemm.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_cuda {
namespace mma {
namespace {

constexpr const char* kMmaProduct =
#include "cuda/products/mma.cu.inc"
    ;

/// What coordinates of axes [first, first + names) add to a factor's place.
std::string offset(const MmaKernel& kernel, const LoadedFactor& f, std::size_t first,
                   const std::vector<std::string>& names) {
  const Access& x = kernel.plan.access(f.access);
  std::string sum;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (x.steps[first + i] == '0') continue;
    sum += cat(" + ", names[i]);
    if (x.steps[first + i] != '1') sum += cat(" * ", kernel.backend.dialect().param(x.strides[first + i]));
  }
  return sum;
}
/// The step along one of a factor's last two axes.
std::string step(const MmaKernel& kernel, const LoadedFactor& f, std::size_t from_end) {
  const Access& x = kernel.plan.access(f.access);
  const std::size_t axis = x.steps.size() - from_end;
  return x.steps[axis] == '1' ? "1u" : x.steps[axis] == '0' ? "0u" : kernel.backend.dialect().param(x.strides[axis]);
}

/// The formula over eight columns of a row, or one where rows are ragged.
std::string columns(const MmaKernel& kernel, Io& io, const detail_gpu::Function& formula,
                    const std::vector<std::string>& batch) {
  Position at{batch, 0, kernel.ragged ? 1 : kUnit};
  at.coordinates.push_back("row"), at.coordinates.push_back("col");
  at.inner = static_cast<int>(at.coordinates.size()) - 1;
  const auto sum = [&](int e) { return kernel.ragged ? std::string("sums.x[e]") : cat("sums.x[", e, "]"); };
  return kernel.epilogue.finish(io, kernel.backend.dialect(), formula, at, kernel.kept, sum, "",
                                kernel.ragged ? "" : "inside");
}

void fill_instance(const MmaKernel& kernel, Holes& holes) {
  const auto yes = [](bool is) { return is ? "true" : "false"; };
  holes["instructions"] = kAmpereInstructions, holes["quad_rows"] = kQuadRows;
  holes["type"] = kernel.request.a.dtype == DType::f16 ? "f16" : "bf16";
  holes["a_along_k"] = yes(kernel.a.along_k), holes["b_along_k"] = yes(kernel.b.along_k);
  holes["a_wide"] = yes(kernel.a.wide), holes["b_wide"] = yes(kernel.b.wide);
  holes["segmented"] = yes(!kernel.contracted.sizes.empty()), holes["ragged"] = yes(kernel.ragged);
  const std::pair<const char*, int> sizes[] = {{"warps_m", kWarpsM},      {"warps_n", kWarpsN}, {"tile_k", kStageK},
                                               {"warp_m", kernel.warp.m}, {"stages", kStages},  {"bands", kBandTiles},
                                               {"warp_n", kernel.warp.n}};
  for (const auto& [name, size] : sizes) holes[name] = cat(size, "u");
  const MmaSlots& s = kernel.slots;
  const std::pair<const char*, int> slots[] = {{"m", s.m},         {"n", s.n},         {"k", s.k},
                                               {"steps", s.steps}, {"tiles_m", s.tiles_m}, {"tiles_n", s.tiles_n},
                                               {"segments", s.segments}};
  for (const auto& [name, slot] : slots) holes[name] = kernel.backend.dialect().param(slot);
}

/// Where the factors lie: this tile's batch, segments, and steps. Gives the batch's coordinates.
std::vector<std::string> fill_factors(const MmaKernel& kernel, const Io& io, Holes& holes) {
  std::vector<std::string> batch, segment;
  holes["batch_coordinates"] = io.coordinates(kernel.kept, "batch", "n", batch);
  holes["segment_coordinates"] = io.coordinates(kernel.contracted, "segment", "s", segment);
  for (const LoadedFactor* f : {&kernel.a, &kernel.b}) {
    const bool is_a = f == &kernel.a;
    const std::string name = is_a ? "a" : "b";
    const Access& x = kernel.plan.access(f->access);
    holes[name] = cat("b", x.binding);
    holes[name + "_base"] = cat(kernel.backend.dialect().param(x.base), offset(kernel, *f, 0, batch));
    holes[name + "_at_segment"] = offset(kernel, *f, kernel.kept.sizes.size(), segment);
    holes[name + "_step"] = step(kernel, *f, is_a ? 2 : 1), holes[name + "_step_k"] = step(kernel, *f, is_a ? 1 : 2);
  }
  return batch;
}

std::string text(const MmaKernel& kernel) {
  const Dialect& dialect = kernel.backend.dialect();
  const detail_gpu::Function formula = kernel.epilogue.function(dialect);
  Io io(kernel.plan, dialect);
  Module module;
  module.title = cat("product on tensor cores, tiles of ", kernel.tile_m(), "x", kernel.tile_n(), "x", kStageK);
  module.bindings = kernel.plan.launch.bindings, module.params = kernel.plan.launch.params.size();
  module.file = kMmaProduct;
  Holes& holes = module.holes;
  fill_instance(kernel, holes);
  const std::vector<std::string> batch = fill_factors(kernel, io, holes);
  std::string& fields = holes["batch_fields"];
  for (const std::string& name : batch) fields += cat("u32 ", name, ";\n"), holes["batch_names"] += cat(", ", name);
  holes["batch_names"];
  holes["formula"] = formula.text, holes["columns"] = columns(kernel, io, formula, batch);
  return dialect.module(module);
}

/// False, having done nothing, where there is no such kernel.
bool run_in_layout(GpuBackend& backend, const GemmRequest& request, const MatrixUnits& units, Layouts layouts) {
  MmaKernel kernel(backend, request, layouts);
  lay_out(kernel), choose(kernel, units), arrange(kernel);
  Launch& launch = kernel.plan.launch;
  const auto print = [&] { return text(kernel); };
  if (layouts == Layouts::vectors && !in_vectors(kernel)) return false;
  if (layouts != Layouts::own && !backend.has_kernel(layouts, launch, print)) return false;
  if (detail::tracing())
    detail::note(cat("tensor cores, tiles of ", kernel.tile_m(), "x", kernel.tile_n(), "x", kStageK, ", ",
                     launch.groups, " workgroups", kernel.a.wide ? "" : ", a by elements",
                     kernel.b.wide ? "" : ", b by elements"));
  backend.queue(launch, print);
  return true;
}

}  // namespace
}  // namespace mma

bool run_mma(detail_gpu::GpuBackend& backend, const detail::GemmRequest& request, const MatrixUnits& units) {
  const DType dtype = request.a.dtype;
  if (units.architecture < 80 || request.b.dtype != dtype || (dtype != DType::f16 && dtype != DType::bf16))
    return false;
  using detail_gpu::Layouts;
  const auto run = [&](Layouts layouts) { return mma::run_in_layout(backend, request, units, layouts); };
  if (!backend.limits().archived) return run(Layouts::own);
  return run(Layouts::vectors) || (detail_gpu::is_plain_product(request) && run(Layouts::any));
}

}  // namespace tern::detail_cuda
