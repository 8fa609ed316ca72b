// Fills the holes of gemm.wgsl, and runs it.
#include "gpu/products/gemm.hpp"

#include "backend/instruments/trace.hpp"
#include "gpu/products/gemm_plan.hpp"
#include "gpu/products/gemm_tiny.hpp"
#include "gpu/products/tile_text.hpp"
#include "gpu/text/io.hpp"
#include "gpu/text/kernel_file.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_gpu {
namespace {

constexpr const char* kTiledProduct =
#include "gpu/products/gemm.wgsl.inc"
    ;

std::string vector(const GemmPlan& gemm) { return cat("vec4<", compute_type_name(gemm.type()), ">"); }

/// What a coordinate of an axis adds to a place.
std::string stepped(const GemmPlan& gemm, const Access& x, std::size_t axis, const std::string& coordinate) {
  if (x.steps[axis] == '0') return "";
  if (x.steps[axis] == '1') return cat(" + ", coordinate);
  return cat(" + ", coordinate, " * ", gemm.backend.dialect().param(x.strides[axis]));
}
/// Where a factor begins for the coordinates of batch axes and segments.
std::string base(const GemmPlan& gemm, const GemmFactor& f, const std::vector<std::string>& coordinates) {
  const Access& x = gemm.plan.access(f.access);
  std::string sum = gemm.backend.dialect().param(x.base);
  for (std::size_t i = 0; i < coordinates.size(); ++i) sum += stepped(gemm, x, i, coordinates[i]);
  return sum;
}

/// Whether a factor's tile is swizzled. H100 through WebGPU, 27 November 2026, TFLOP/s: 4096³ of 16 bits 42.2, else
/// 39.5; of 32 bits, whose next step takes more registers, 37.7 in place of 40.6. Windows of images of 32 bits
/// (64×256×28², 3×3) 35.7 in place of 34.1.
bool is_swizzled(const GemmPlan& gemm, const GemmFactor& f) {
  const bool gathered = gemm.gathered && &f == &gemm.a;
  const int across = &f == &gemm.a ? gemm.tile.m : gemm.tile.n;
  if (across % 32 != 0) return false;  // blocks of eight vectors are permuted
  return f.along_k && (gathered || gemm.plan.access(f.access).size() == 2);
}

/// The tile of a factor.
TileFetch fetch(const GemmPlan& gemm, const GemmFactor& f, const GatheredFactor::FactorText* gathered) {
  const bool is_a = &f == &gemm.a;
  const Access& x = gemm.plan.access(f.access);
  const Dialect& d = gemm.backend.dialect();
  const std::string depth = gathered ? gathered->depth : d.param(gemm.slots.k);
  const std::string first = is_a ? "first_m" : "first_n", bound = d.param(is_a ? gemm.slots.m : gemm.slots.n);
  TileFetch tile{.memory = is_a ? "tile_a" : "tile_b"};
  tile.across = is_a ? gemm.tile.m : gemm.tile.n, tile.deep = gemm.tile.k, tile.stride = tile.across / 4;
  tile.along_k = f.along_k, tile.wide = f.wide, tile.swizzled = is_swizzled(gemm, f);
  if (is_a && gathered) {
    tile.place = gathered->place, tile.inside = gathered->inside;
    return tile;
  }
  const std::size_t row = x.actual.size() - 2;
  tile.place = cat(is_a ? "base_a" : "base_b", stepped(gemm, x, is_a ? row : row + 1, cat("(", first, " + o)")),
                   stepped(gemm, x, is_a ? row + 1 : row, "(kt + kk)"));
  if (!gemm.whole) tile.inside = cat(first, " + o < ", bound, " && kt + kk < ", depth);
  return tile;
}

/// Lines that multiply what is in workgroup memory.
std::string multiply(const GemmPlan& gemm) {
  const GemmTile& tile = gemm.tile;
  return multiply_tiles({.type = gemm.type(), .a = "tile_a[", .b = "tile_b[", .stride_a = tile.m / 4,
                         .stride_b = tile.n / 4, .part_m = tile.part_m, .part_n = tile.part_n,
                         .between_m = tile.m / tile.part_m, .between_n = tile.n / tile.part_n, .deep = tile.k,
                         .swizzled_a = is_swizzled(gemm, gemm.a),
                         .swizzled_b = is_swizzled(gemm, gemm.b)});
}

/// Lines that apply the epilogue to one row of the invocation's part (acc0_j) and store it.
std::string finish_row(const GemmPlan& gemm, Io& io, const Function& f, const std::vector<std::string>& batch) {
  const int blocks_n = gemm.tile.part_n / 4;
  const std::string n = gemm.backend.dialect().param(gemm.slots.n);
  std::string lines;
  for (int j = 0; j < blocks_n; ++j) {
    const std::string col = cat("first_n + ", j * gemm.tile.n / blocks_n, "u + tx * 4u");
    Position at{batch, 0, 4};
    at.coordinates.push_back("row"), at.coordinates.push_back("col");
    at.inner = static_cast<int>(at.coordinates.size()) - 1;
    const std::string guard = gemm.whole || gemm.whole_columns ? std::string() : cat("col + $0 < ", n);
    // CUDA reads what a place says, whether or not it is an operand's: one read backwards has its end behind it.
    if (!guard.empty() && gemm.plan.native()) at.last = cat("(", n, " - 1u)");
    const auto sum = [j](int e) { return cat("acc0_", j, ".", "xyzw"[e]); };
    const std::string one = cat("let col = ", col, ";\n",
                                gemm.epilogue.finish(io, gemm.backend.dialect(), f, at, gemm.kept, sum, guard));
    lines += cat(gemm.whole ? std::string() : cat("if (", col, " < ", n, ") "), "{\n", indented(one), "}\n");
  }
  return lines;
}

void fill_sizes(const GemmPlan& gemm, Holes& holes) {
  const GemmTile& tile = gemm.tile;
  const GemmSlots& s = gemm.slots;
  const Dialect& d = gemm.backend.dialect();
  holes["tiles_m"] = d.param(s.tiles_m), holes["tiles_n"] = d.param(s.tiles_n);
  holes["tile_m"] = cat(tile.m, "u"), holes["tile_n"] = cat(tile.n, "u");
  holes["part_m"] = cat(tile.part_m, "u"), holes["parts_across"] = cat(tile.n / tile.part_n, "u");
  holes["rows_between_blocks"] = cat(tile.m / (tile.part_m / 4), "u");
}

/// Where factors begin. Gives the batch's coordinates.
std::vector<std::string> fill_bases(const GemmPlan& gemm, const Io& io, Holes& holes) {
  std::vector<std::string> batch, segment;
  holes["batch_coordinates"] = io.coordinates(gemm.kept, "batch", "n", batch);
  const bool segmented = !gemm.contracted.sizes.empty();
  std::string &begin = holes["for_each_segment"], &end = holes["end_of_segments"];
  if (segmented) {
    begin = cat("for (var segment = 0u; segment < ", io.param(gemm.slots.segments), "; segment += 1u) {\n",
                io.coordinates(gemm.contracted, "segment", "s", segment));
    end = "}";
  }
  std::vector<std::string> coordinates = batch;
  coordinates.insert(coordinates.end(), segment.begin(), segment.end());
  if (!gemm.gathered) holes["base_a"] = base(gemm, gemm.a, coordinates);
  holes["base_b"] = base(gemm, gemm.b, coordinates);
  return batch;
}

std::string text(const GemmPlan& gemm) {
  const Dialect& d = gemm.backend.dialect();
  const Function f = gemm.epilogue.function(d);
  const GemmTile& tile = gemm.tile;
  Io io(gemm.plan, d);
  Holes holes;
  fill_sizes(gemm, holes);
  holes["sums"] = tile_sums("acc", gemm.type(), tile.part_m, tile.part_n);
  holes["move_up"] = move_sums_up("acc", tile.part_m, tile.part_n);
  const std::vector<std::string> batch = fill_bases(gemm, io, holes);
  GatheredFactor::FactorText gathered;
  if (gemm.gathered) gathered = gemm.gathered->text(gemm, batch), holes["base_a"] = gathered.base;
  const GatheredFactor::FactorText* const of_a = gemm.gathered ? &gathered : nullptr;
  holes["begin_a"] = gathered.begin;
  TileSteps steps{.at = "kt", .end = of_a ? gathered.depth : d.param(gemm.slots.k), .step = cat(tile.k, "u")};
  steps.fetches = {{&gemm.plan.access(gemm.a.access), fetch(gemm, gemm.a, of_a)},
                   {&gemm.plan.access(gemm.b.access), fetch(gemm, gemm.b, of_a)}};
  steps.multiply = multiply(gemm), steps.advance = gathered.advance, steps.threads = tile.threads();
  holes["steps"] = tile_steps(io, d, gemm.type(), steps);
  const std::string row = finish_row(gemm, io, f, batch);
  holes["finish_row"] = gemm.whole ? row : cat("if (row < ", d.param(gemm.slots.m), ") {\n", indented(row), "}\n");
  return d.module({cat(of_a ? gathered.title : std::string("product"), ", tiles of ", tile.m, "x", tile.n, "x", tile.k),
                   gemm.plan.launch.bindings,
                   gemm.plan.launch.params.size(),
                   gemm.plan.launch.threads,
                   {{vector(gemm), "tile_a", tile.m * tile.k / 4}, {vector(gemm), "tile_b", tile.n * tile.k / 4}},
                   f.text,
                   fill_holes(kTiledProduct, holes)});
}

/// False, having done nothing, where there is no such kernel in vectors.
bool run(GpuBackend& backend, const detail::GemmRequest& request, Layouts layouts,
         GatheredFactor* gathered = nullptr) {
  GemmPlan gemm(backend, request, layouts, gathered ? 'v' : 'g', gathered);
  lay_out(gemm), choose_tile(gemm), choose_access(gemm), arrange(gemm);
  Launch& launch = gemm.plan.launch;
  const auto print = [&] { return text(gemm); };
  if (layouts == Layouts::vectors && !(in_vectors(gemm) && backend.has_kernel(layouts, launch, print))) return false;
  if (detail::tracing())
    detail::note(cat("tiles of ", gemm.tile.m, "x", gemm.tile.n, "x", gemm.tile.k, ", ", launch.groups,
                     " workgroups of ", launch.threads, gemm.whole ? "" : ", checked edges",
                     gemm.a.wide ? "" : ", a by elements", gemm.b.wide ? "" : ", b by elements"));
  backend.queue(launch, print);
  return true;
}

}  // namespace

void run_gemm_kernel(GpuBackend& backend, const detail::GemmRequest& request) {
  if (is_tiny(request) && run_gemm_tiny(backend, request)) return;
  run_in_layouts(backend.limits(), [&](Layouts layouts) { return run(backend, request, layouts); });
}

void run_gathered_product(GpuBackend& backend, const detail::GemmRequest& request, GatheredFactor& a) {
  run(backend, request, Layouts::own, &a);
}

}  // namespace tern::detail_gpu
