#include "gpu/products/gemm_plan.hpp"

#include <cstdio>
#include <cstdlib>

#include "gpu/products/tile_text.hpp"

namespace tern::detail_gpu {

using detail::GemmRequest;
using detail::ComputeType;

namespace {

constexpr std::int64_t kManyTiles = 64;  // of 128×128, keep a GPU busier than more and smaller ones

void bind(GemmPlan& gemm) {
  const GemmRequest& r = gemm.request;
  const std::vector<std::int64_t> over_tile = sizes_over_tile(r);
  std::vector<ByteRange> touched;
  for (const Access& a : gemm.plan.accesses) touched.push_back(bytes_touched(*a.view, over_tile));
  std::vector<std::int64_t> sizes(r.batch.begin(), r.batch.end());
  sizes.push_back(r.m), sizes.push_back(r.k);
  const Shape gathered = gemm.gathered ? gemm.gathered->sizes() : Shape();
  touched[static_cast<std::size_t>(gemm.a.access)] =
      gemm.gathered ? bytes_touched(gemm.gathered->view(), {gathered.begin(), gathered.size()})
                    : bytes_touched(r.a, sizes);
  sizes[sizes.size() - 2] = r.k, sizes.back() = r.n;
  touched[static_cast<std::size_t>(gemm.b.access)] = bytes_touched(r.b, sizes);
  gemm.plan.bind(touched);
}

void choose_factors(GemmPlan& gemm) {
  const Access &a = gemm.plan.access(gemm.a.access), &b = gemm.plan.access(gemm.b.access);
  const std::size_t row = b.actual.size() - 2, col = row + 1;
  gemm.a.wide = gemm.b.wide = true;
  if (gemm.gathered) gemm.gathered->choose(gemm);
  else if (in_units(a, col, gemm.k, gemm.tile.k)) gemm.a.along_k = true;
  else if (in_units(a, row, gemm.m, gemm.tile.m)) gemm.a.along_k = false;
  else gemm.a.wide = false, gemm.a.along_k = a.actual[row] != 1;
  if (in_units(b, col, gemm.n, gemm.tile.n)) gemm.b.along_k = false;
  // A gathered product's k is rounded up: a vector along it would have elements from behind the last.
  else if (!gemm.gathered && in_units(b, row, gemm.k, gemm.tile.k)) gemm.b.along_k = true;
  else gemm.b.wide = false, gemm.b.along_k = b.actual[row] == 1;
}

/// A buffer whose words are merged is read word by word.
void narrow_merged(GemmPlan& gemm) {
  Plan& plan = gemm.plan;
  for (std::size_t i = 0; i < plan.accesses.size(); ++i) {
    const int access = static_cast<int>(i);
    if (!plan.binding_of(access).atomic) continue;
    plan.accesses[i].wide = false;
    plan.binding_of(access).vectors = false;
    for (GemmFactor* f : {&gemm.a, &gemm.b})
      if (access == f->access) f->wide = false;
  }
}

}  // namespace

void lay_out(GemmPlan& gemm) {
  const GemmRequest& r = gemm.request;
  Plan& plan = gemm.plan;
  MergedProduct product = merged(r, gemm.epilogue);
  gemm.m = product.m, gemm.n = r.n, gemm.k = product.k;
  gemm.kept = std::move(product.kept), gemm.contracted = std::move(product.contracted);
  GemmSlots& s = gemm.slots;
  s.m = plan.add_param(static_cast<std::uint64_t>(gemm.m)), s.n = plan.add_param(static_cast<std::uint64_t>(gemm.n));
  s.k = plan.add_param(static_cast<std::uint64_t>(gemm.k));
  s.tiles_m = plan.add_param(0), s.tiles_n = plan.add_param(0);
  plan.add_axes(gemm.kept);
  s.segments = plan.add_param(static_cast<std::uint64_t>(gemm.contracted.count()));
  plan.add_axes(gemm.contracted);
  gemm.epilogue.add_accesses(plan, gemm.kept);
  gemm.a.access = gemm.gathered ? gemm.gathered->add(plan)
                                : add_factor(plan, r.a, gemm.kept, product.a, gemm.contracted, 0);
  gemm.b.access = add_factor(plan, r.b, gemm.kept, product.a + 1, gemm.contracted, 1);
  gemm.epilogue.add_numbers(plan);
  bind(gemm);
}

void choose_tile(GemmPlan& gemm) {
  if (gemm.plan.layouts() != Layouts::own) {
    // Two tiles, of 64-bit accumulators one: more would be more kernels.
    const bool large = gemm.plan.layouts() == Layouts::vectors && gemm.type() == ComputeType::f32 &&
                       ceil_div(gemm.m, 128) * ceil_div(gemm.n, 128) * gemm.kept.count() >= kManyTiles;
    gemm.tile = large ? GemmTile{128, 128, 8, 8, 8} : GemmTile{32, 32, 8, 4, 4};
    return;
  }
  const auto bytes = static_cast<int>(dtype_size(gemm.request.a.dtype));
  gemm.tile = gemm.backend.gemm_tiles()(gemm.m, gemm.n, gemm.kept.count(), bytes);
  if (const char* text = std::getenv("TERN_GEMM_TILE"); text && *text) {
    GemmTile t;
    if (std::sscanf(text, "%d,%d,%d,%d,%d", &t.m, &t.n, &t.k, &t.part_m, &t.part_n) == 5) gemm.tile = t;
  }
}

void choose_access(GemmPlan& gemm) {
  choose_factors(gemm);
  Plan& plan = gemm.plan;
  const bool own = plan.layouts() == Layouts::own;
  // Kernels made beforehand check every edge, and write by elements.
  gemm.whole = own && !gemm.gathered && gemm.m % gemm.tile.m == 0 && gemm.n % gemm.tile.n == 0 &&
               gemm.k % gemm.tile.k == 0;
  gemm.whole_columns = own && gemm.n % 4 == 0;
  if (plan.layouts() == Layouts::any)
    gemm.a.wide = gemm.b.wide = false, gemm.a.along_k = true, gemm.b.along_k = false;
  for (const GemmFactor* f : {&gemm.a, &gemm.b})
    if (f->wide) plan.make_wide(f->access);
  if (!own) return;
  for (const auto* list : {&gemm.epilogue.outputs(), &gemm.epilogue.operands()})
    for (const int i : *list) {
      const Access& x = plan.access(i);
      if (x.size() == 4 && fits_in(x, gemm.n, 4)) plan.make_wide(i);
      if (x.written && x.size() < 4 && !(fits_in(x, gemm.n, 4 / x.size()) && gemm.n % 4 == 0)) plan.merge_parts(i);
    }
  narrow_merged(gemm);
}

void arrange(GemmPlan& gemm) {
  Plan& plan = gemm.plan;
  Launch& launch = plan.launch;
  const GemmTile& tile = gemm.tile;
  launch.threads = static_cast<std::uint32_t>(tile.threads());
  launch.steps =
      static_cast<std::uint64_t>(gemm.m * gemm.n * gemm.k * gemm.kept.count() * gemm.contracted.count());
  const std::int64_t tiles_m = ceil_div(gemm.m, tile.m), tiles_n = ceil_div(gemm.n, tile.n);
  plan.set(gemm.slots.tiles_m, static_cast<std::uint64_t>(tiles_m));
  plan.set(gemm.slots.tiles_n, static_cast<std::uint64_t>(tiles_n));
  launch.groups = static_cast<std::uint64_t>(tiles_m * tiles_n * gemm.kept.count());
  // Factors are compared with the sizes, and so are rows of results; vectors of columns where they may be cut.
  plan.trust_exact_groups(gemm.whole || gemm.whole_columns);
  plan.note(gemm.request.epilogue->serial), plan.note(tile);
  for (const GemmFactor* f : {&gemm.a, &gemm.b}) plan.note(f->along_k), plan.note(f->wide);
  plan.note(gemm.whole), plan.note(gemm.whole_columns), plan.note(gemm.request.a.dtype);
  for (const int axis : gemm.kept.original) plan.note(static_cast<char>(axis));
  plan.finish_key();
}

bool in_vectors(const GemmPlan& gemm) {
  return gemm.a.wide && gemm.b.wide && gemm.kept.sizes.size() == 1 && gemm.contracted.sizes.size() == 1 &&
         detail::is_float(gemm.type());
}

}  // namespace tern::detail_gpu
