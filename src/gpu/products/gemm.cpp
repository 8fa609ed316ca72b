// Fills the holes of gemm.wgsl, and runs it.
#include "gpu/products/gemm.hpp"

#include "backend/instruments/trace.hpp"
#include "gpu/products/gemm_plan.hpp"
#include "gpu/products/gemm_tiny.hpp"
#include "gpu/text/io.hpp"
#include "gpu/text/kernel_file.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_gpu {
namespace {

constexpr const char* kTiledProduct =
#include "gpu/products/gemm.wgsl.inc"
    ;
constexpr const char* kFetch =
#include "gpu/products/gemm_fetch.wgsl.inc"
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

/// The values of a unit of 16 bytes, q.
std::vector<std::string> values_of_unit(const Access& x) {
  std::vector<std::string> values;
  for (int e = 0; e < kVectorBytes / x.size(); ++e) {
    if (x.size() == 8) {
      values.push_back(unpacked(x.dtype(), e ? "tern_join(q.z, q.w)" : "tern_join(q.x, q.y)"));
      continue;
    }
    const int per_word = 4 / x.size(), shift = e % per_word * 8 * x.size();
    std::string bits = cat("q.", "xyzw"[e / per_word]);
    if (per_word > 1) bits = shift ? cat("(", bits, " >> ", shift, "u)") : cat("(", bits, " & 0xffffu)");
    values.push_back(x.dtype() == DType::f16 ? cat("tern_f16_factor(", bits, ")") : unpacked(x.dtype(), bits));
  }
  return values;
}

/// Lines that put fetched values into workgroup memory, [k][across/4] vectors.
std::string put(const GemmPlan& gemm, const std::string& memory, int across, bool along_k,
                const std::vector<std::string>& values) {
  std::string lines;
  const int unit = static_cast<int>(values.size());
  if (!along_k && unit >= 4) {
    for (int e = 0; e < unit; e += 4)
      lines += cat(memory, "[kk * ", across / 4, "u + o / 4u + ", e / 4, "u] = ", vector(gemm), "(",
                   join({values.begin() + e, values.begin() + e + 4}), ");\n");
    return lines;
  }
  for (int e = 0; e < unit; ++e) {
    const std::string at = along_k ? cat("[(kk + ", e, "u) * ", across / 4, "u + o / 4u][o & 3u]")
                                   : cat("[kk * ", across / 4, "u + (o + ", e, "u) / 4u][(o + ", e, "u) & 3u]");
    lines += cat(memory, at, " = ", values[static_cast<std::size_t>(e)], ";\n");
  }
  return lines;
}

/// What all units of a factor share in gemm_fetch.wgsl: all but $unit.
Holes holes_of_fetch(const GemmPlan& gemm, const Io& io, const GemmFactor& f, int across) {
  const bool is_a = &f == &gemm.a;
  const Access& x = gemm.plan.access(f.access);
  const Dialect& d = gemm.backend.dialect();
  const int unit = f.wide ? kVectorBytes / x.size() : 1;
  const std::size_t row = x.actual.size() - 2;
  const std::string first = is_a ? "first_m" : "first_n", bound = d.param(is_a ? gemm.slots.m : gemm.slots.n);
  const std::string inside = cat(first, " + o < ", bound, " && kt + kk < ", d.param(gemm.slots.k));
  const std::string vector_at = cat("b", x.binding, "[at / ", unit, "u]"), element = io.loaded(x, "at");
  Holes holes;
  holes["units_in_line"] = cat((f.along_k ? gemm.tile.k : across) / unit, "u"), holes["elements"] = cat(unit, "u");
  holes["o"] = f.along_k ? "major" : "minor", holes["kk"] = f.along_k ? "minor" : "major";
  holes["place"] = cat(is_a ? "base_a" : "base_b", stepped(gemm, x, is_a ? row : row + 1, cat("(", first, " + o)")),
                       stepped(gemm, x, is_a ? row + 1 : row, "(kt + kk)"));
  if (f.wide)
    holes["load"] = gemm.whole ? cat("let q = ", vector_at, ";\n")
                               : cat("var q = vec4<u32>();\nif (", inside, ") { q = ", vector_at, "; }\n");
  else
    holes["load"] =
        gemm.whole ? cat("let x = ", element, ";\n")
                   : cat("var x = ", compute_type_name(gemm.type()), "();\nif (", inside, ") { x = ", element, "; }\n");
  holes["put"] = put(gemm, is_a ? "tile_a" : "tile_b", across, f.along_k,
                     f.wide ? values_of_unit(x) : std::vector<std::string>{"x"});
  return holes;
}

/// Lines that fetch one tile of a factor into workgroup memory.
std::string fetch(const GemmPlan& gemm, const Io& io, const GemmFactor& f) {
  const int across = &f == &gemm.a ? gemm.tile.m : gemm.tile.n, threads = gemm.tile.threads();
  const int units = across * gemm.tile.k * (f.wide ? gemm.plan.access(f.access).size() : kVectorBytes) / kVectorBytes;
  Holes holes = holes_of_fetch(gemm, io, f, across);
  std::string lines;
  for (int begin = 0; begin < units; begin += threads) {
    std::string& unit = holes["unit"];
    unit = begin ? cat("(thread + ", begin, "u)") : std::string("thread");
    const bool some = units % threads && begin + threads > units;
    lines += cat(some ? cat("if (", unit, " < ", units, "u) ") : "", "{\n", indented(fill_holes(kFetch, holes)), "}\n");
  }
  return lines;
}

/// Lines that multiply what is in workgroup memory, a step of k after the other.
std::string multiply(const GemmPlan& gemm) {
  const GemmTile& tile = gemm.tile;
  const int blocks_m = tile.part_m / 4, blocks_n = tile.part_n / 4;
  const int step_m = tile.m / tile.part_m, step_n = tile.n / tile.part_n;  // vectors between an invocation's blocks
  std::string lines;
  for (int kk = 0; kk < tile.k; ++kk) {
    std::string one;
    for (int i = 0; i < blocks_m; ++i)
      one += cat("let a", i, " = tile_a[", kk * tile.m / 4 + i * step_m, "u + ty];\n");
    for (int j = 0; j < blocks_n; ++j)
      one += cat("let c", j, " = tile_b[", kk * tile.n / 4 + j * step_n, "u + tx];\n");
    for (int row = 0; row < tile.part_m; ++row)
      for (int j = 0; j < blocks_n; ++j) {
        const std::string acc = cat("acc", row, "_", j);
        const std::string factor = cat(vector(gemm), "(a", row / 4, ".", "xyzw"[row % 4], ")");
        one += detail::is_float(gemm.type()) ? cat(acc, " = fma(", factor, ", c", j, ", ", acc, ");\n")
                                                  : cat(acc, " += ", factor, " * c", j, ";\n");
      }
    lines += cat("{\n", indented(one), "}\n");
  }
  return lines;
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
  holes["tiles_m"] = d.param(s.tiles_m), holes["tiles_n"] = d.param(s.tiles_n), holes["k"] = d.param(s.k);
  holes["tile_m"] = cat(tile.m, "u"), holes["tile_n"] = cat(tile.n, "u"), holes["tile_k"] = cat(tile.k, "u");
  holes["part_m"] = cat(tile.part_m, "u"), holes["parts_across"] = cat(tile.n / tile.part_n, "u");
  holes["rows_between_blocks"] = cat(tile.m / (tile.part_m / 4), "u");
  holes["barrier"] = d.barrier();
}

/// Sums, a vector of four columns each, and how those of the next row move to where the epilogue takes them: one copy
/// of its text serves all rows.
void fill_sums(const GemmPlan& gemm, Holes& holes) {
  std::string &sums = holes["sums"], &move_up = holes["move_up"];
  for (int i = 0; i < gemm.tile.part_m; ++i)
    for (int j = 0; j < gemm.tile.part_n / 4; ++j) {
      sums += cat("var acc", i, "_", j, " = ", vector(gemm), "();\n");
      if (i + 1 < gemm.tile.part_m) move_up += cat("acc", i, "_", j, " = acc", i + 1, "_", j, ";\n");
    }
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
  holes["base_a"] = base(gemm, gemm.a, coordinates), holes["base_b"] = base(gemm, gemm.b, coordinates);
  return batch;
}

std::string text(const GemmPlan& gemm) {
  const Dialect& d = gemm.backend.dialect();
  const Function f = gemm.epilogue.function(d);
  const GemmTile& tile = gemm.tile;
  Io io(gemm.plan, d);
  Holes holes;
  fill_sizes(gemm, holes), fill_sums(gemm, holes);
  const std::vector<std::string> batch = fill_bases(gemm, io, holes);
  holes["fetch_a"] = fetch(gemm, io, gemm.a), holes["fetch_b"] = fetch(gemm, io, gemm.b);
  holes["multiply"] = multiply(gemm);
  const std::string row = finish_row(gemm, io, f, batch);
  holes["finish_row"] = gemm.whole ? row : cat("if (row < ", d.param(gemm.slots.m), ") {\n", indented(row), "}\n");
  return d.module({cat("product, tiles of ", tile.m, "x", tile.n, "x", tile.k),
                   gemm.plan.launch.bindings,
                   gemm.plan.launch.params.size(),
                   gemm.plan.launch.threads,
                   {{vector(gemm), "tile_a", tile.m * tile.k / 4}, {vector(gemm), "tile_b", tile.n * tile.k / 4}},
                   f.text,
                   fill_holes(kTiledProduct, holes)});
}

/// False, having done nothing, where there is no such kernel in vectors.
bool run(GpuBackend& backend, const detail::GemmRequest& request, Layouts layouts) {
  GemmPlan gemm(backend, request, layouts);
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

}  // namespace tern::detail_gpu
