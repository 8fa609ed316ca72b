// The order of booleans: a place in it follows from how many trues stand before, so that it takes no digits.
#include "gpu/plan/lines.hpp"
#include "gpu/radix/radix.hpp"
#include "gpu/text/kernel_file.hpp"
#include "primitives/scan/kernels.hpp"
#include "primitives/sort/gpu.hpp"

namespace tern::detail_gpu {

using detail::SortRequest;

namespace {

constexpr const char* kCountBooleans =
#include "primitives/sort/sort_booleans_count.wgsl.inc"
    ;
constexpr const char* kWriteBooleans =
#include "primitives/sort/sort_booleans_write.wgsl.inc"
    ;
constexpr std::uint32_t kBooleanThreads = 128;
constexpr int kBooleansEach = 16;                 // of an invocation at once
constexpr std::int64_t kBooleanTile = 8192;       // elements of a workgroup
constexpr std::int64_t kFewestBooleans = 1 << 13;  // of a line; shorter ones are sorted as others are

/// A kernel on blocks of the lines of the input.
struct BooleanBlocks {
  BooleanBlocks(GpuBackend& backend, const SortRequest& r, char kind, const View& sums, std::int64_t blocks,
                bool first_pass, Layouts layouts)
      : lines(backend, r.op, kind, r.space, r.axis, {&r.input}, 1, layouts) {
    const auto add = [&](std::int64_t value) { return lines.plan.add_param(static_cast<std::uint64_t>(value)); };
    blocks_slot = add(blocks), flip_slot = add(r.descending ? 0 : 1);
    words = lines.add_words(sums, first_pass);
    lines.plan.launch.in_bounds = true;
  }
  /// What both files have.
  Holes holes(Io& io, std::vector<std::string>& line) const {
    Holes holes{{"lines", lines.p(lines.lines_slot)},
                {"length", lines.p(lines.length_slot)},
                {"blocks", lines.p(blocks_slot)},
                {"flip", lines.p(flip_slot)},
                {"tile", cat(kBooleanTile)},
                {"words", cat("b", lines.plan.access(words).binding)},
                {"barrier", lines.backend.dialect().barrier()},
                {"scan", sums_up_to(lines.backend.dialect(), static_cast<int>(kBooleanThreads))}};
    holes["coordinates"] = io.coordinates(lines.lines, "line", "c", line);
    return holes;
  }
  LinePlan lines;
  int blocks_slot, flip_slot, words;
};

/// False, having done nothing, where there is no such kernel in vectors.
bool count_booleans(GpuBackend& backend, const SortRequest& r, const View& sums, std::int64_t lines,
                    std::int64_t blocks, Layouts layouts) {
  BooleanBlocks b(backend, r, 'I', sums, blocks, true, layouts);
  LinePlan& l = b.lines;
  return l.launch_grouped(static_cast<std::uint64_t>(lines * blocks), kBooleanThreads, kBooleanTile, [&] {
    Io io(l.plan, backend.dialect());
    std::vector<std::string> line, names;
    Holes holes = b.holes(io, line);
    holes["load"] = io.load(0, l.group_at(line, "at"), names);
    for (int e = 0; e < l.group; ++e)
      holes[cat("bits_", e)] = packed(r.input.dtype, names[static_cast<std::size_t>(e)]);
    holes["each"] = cat(l.group), holes["elements"] = numbers(0, l.group);
    return l.module("sort, counts of booleans", fill_holes(kCountBooleans, holes),
                    {{"u32", "sums", static_cast<int>(kBooleanThreads)}});
  });
}

bool write_booleans(GpuBackend& backend, const SortRequest& r, const View& sums, std::int64_t lines,
                    std::int64_t blocks, std::int64_t wanted, Layouts layouts) {
  BooleanBlocks b(backend, r, 'O', sums, blocks, false, layouts);
  LinePlan& l = b.lines;
  const int wanted_slot = l.plan.add_param(static_cast<std::uint64_t>(wanted)), to = l.add_words(r.indices, true);
  return l.launch_grouped(static_cast<std::uint64_t>(lines * blocks), kBooleanThreads, kBooleanTile, [&] {
    Io io(l.plan, backend.dialect());
    std::vector<std::string> line;
    Holes holes = b.holes(io, line);
    for (int e = 0; e < kBooleansEach; e += l.group) {
      std::vector<std::string> names;
      std::string& load = holes[cat("load_", e)] = io.load(0, l.group_at(line, cat("at", e)), names);
      for (int k = 0; k < l.group; ++k)
        load += cat("is", e + k, " = (", packed(r.input.dtype, names[static_cast<std::size_t>(k)]), " & 1u) ^ ",
                    l.p(b.flip_slot), ";\n");
    }
    holes["own_elements"] = numbers(0, kBooleansEach), holes["groups"] = numbers(0, kBooleansEach, l.group);
    holes["wanted"] = l.p(wanted_slot);
    holes["to"] = cat("b", l.plan.access(to).binding), holes["to_first"] = l.p(l.plan.access(to).base);
    return l.module("sort, places of booleans", fill_holes(kWriteBooleans, holes),
                    {{"u32", "sums", static_cast<int>(kBooleanThreads)}, {"u32", "staged", 2048}});
  });
}

}  // namespace

bool sort_booleans(GpuBackend& backend, const SortRequest& r) {
  const std::int64_t n = r.space[static_cast<std::size_t>(r.axis)], lines = r.space.numel() / n;
  if (r.input.dtype != DType::boolean || r.values.storage || n < kFewestBooleans ||
      !in_words(r.indices, r.results(), r.axis, false) ||
      r.indices.storage->bytes() > backend.limits().binding_bytes)
    return false;
  const std::int64_t blocks = ceil_div(n, kBooleanTile);
  const std::shared_ptr<Storage> storage = backend.temporary(lines * blocks, DType::i32);
  const View sums{storage.get(), DType::i32, 0, {blocks, 1}};
  run_in_layouts(backend.limits(),
                 [&](Layouts layouts) { return count_booleans(backend, r, sums, lines, blocks, layouts); });
  scan_on_gpu(backend, {r.op, detail::Combine::add, Shape{lines, blocks}, 1, false, sums, sums});
  const std::int64_t wanted = r.first > 0 ? r.first : n;
  run_in_layouts(backend.limits(),
                 [&](Layouts layouts) { return write_booleans(backend, r, sums, lines, blocks, wanted, layouts); });
  return true;
}

}  // namespace tern::detail_gpu
