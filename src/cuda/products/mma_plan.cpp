#include "cuda/products/mma_plan.hpp"

#include "gpu/products/gemm.hpp"

namespace tern::detail_cuda::mma {
namespace {

/// How a factor's neighbours lie; `of_k`, `of_other`: which of its last two axes those are.
void look_at(const Plan& plan, LoadedFactor& f, std::size_t of_k, std::size_t of_other) {
  const Access& x = plan.access(f.access);
  const std::size_t row = x.actual.size() - 2;
  f.along_k = x.actual[row + of_other] != 1 || lies_in_vectors(x, row + of_k);
  f.wide = lies_in_vectors(x, row + (f.along_k ? of_k : of_other));
}

void bind(MmaKernel& kernel) {
  const GemmRequest& r = kernel.request;
  const std::vector<std::int64_t> over_tile = sizes_over_tile(r);
  std::vector<ByteRange> touched;
  for (const Access& x : kernel.plan.accesses) touched.push_back(bytes_touched(*x.view, over_tile));
  std::vector<std::int64_t> sizes(r.batch.begin(), r.batch.end());
  sizes.push_back(r.m), sizes.push_back(r.k);
  touched[static_cast<std::size_t>(kernel.a.access)] = bytes_touched(r.a, sizes);
  sizes[sizes.size() - 2] = r.k, sizes.back() = r.n;
  touched[static_cast<std::size_t>(kernel.b.access)] = bytes_touched(r.b, sizes);
  kernel.plan.bind(touched);
}

}  // namespace

void lay_out(MmaKernel& kernel) {
  const GemmRequest& r = kernel.request;
  Plan& plan = kernel.plan;
  MergedProduct product = merged(r, kernel.epilogue);
  kernel.m = product.m, kernel.n = r.n, kernel.k = product.k;
  kernel.kept = std::move(product.kept), kernel.contracted = std::move(product.contracted);
  MmaSlots& s = kernel.slots;
  for (int* slot : {&s.m, &s.n, &s.k, &s.tiles_m, &s.tiles_n, &s.steps}) *slot = plan.add_param(0);
  plan.add_axes(kernel.kept), plan.add_axes(kernel.contracted);
  plan.set_inner(static_cast<int>(kernel.kept.sizes.size()) + 1);
  kernel.epilogue.add_accesses(plan, kernel.kept);
  plan.set_inner(-1);
  kernel.a.access = add_factor(plan, r.a, kernel.kept, product.a, kernel.contracted, 0);
  kernel.b.access = add_factor(plan, r.b, kernel.kept, product.a + 1, kernel.contracted, 1);
  kernel.epilogue.add_numbers(plan);
  bind(kernel);
}

void choose(MmaKernel& kernel, const MatrixUnits& units) {
  Plan& plan = kernel.plan;
  const auto tiles = [&](const WarpTile& t) {
    return ceil_div(kernel.m, kWarpsM * t.m) * ceil_div(kernel.n, kWarpsN * t.n) * kernel.kept.count();
  };
  const int bytes_of_large = kStages * (kWarpsM * kLargeWarp.m + kWarpsN * kLargeWarp.n) * kStageK * 2;
  const bool large = tiles(kLargeWarp) * 2 > units.processors && bytes_of_large <= units.shared_bytes;
  kernel.warp = large ? kLargeWarp : kSmallWarp;
  look_at(plan, kernel.a, 1, 0), look_at(plan, kernel.b, 0, 1);
  kernel.ragged = kernel.n % kUnit != 0;
  if (plan.layouts() == Layouts::any) {
    kernel.warp = kSmallWarp, kernel.ragged = true;
    for (LoadedFactor* f : {&kernel.a, &kernel.b}) f->wide = false, f->along_k = true;
  }
  if (kernel.ragged) return;
  for (const auto* list : {&kernel.epilogue.outputs(), &kernel.epilogue.operands()})
    for (const int i : *list)
      if (rows_lie_in_vectors(plan.access(i))) plan.make_wide(i);
}

bool in_vectors(const MmaKernel& kernel) {
  // Half as many kernels: a pass after the product.
  if (kernel.warp.m == kSmallWarp.m && !is_plain_product(kernel.request)) return false;
  if (kernel.kept.sizes.size() != 1 || kernel.contracted.sizes.size() != 1 || kernel.ragged || !kernel.a.wide ||
      !kernel.b.wide)
    return false;
  for (const auto* list : {&kernel.epilogue.outputs(), &kernel.epilogue.operands()})
    for (const int i : *list)
      if (!kernel.plan.access(i).wide && kernel.plan.access(i).steps.back() != '0') return false;
  return true;
}

void arrange(MmaKernel& kernel) {
  Plan& plan = kernel.plan;
  Launch& launch = plan.launch;
  launch.threads = kThreads;
  launch.shared_bytes = static_cast<std::uint32_t>(kStages * (kernel.tile_m() + kernel.tile_n()) * kStageK * 2);
  const std::int64_t tiles_m = ceil_div(kernel.m, kernel.tile_m()), tiles_n = ceil_div(kernel.n, kernel.tile_n());
  const std::int64_t segments = kernel.contracted.count();
  launch.groups = static_cast<std::uint64_t>(tiles_m * tiles_n * kernel.kept.count());
  MmaSlots& s = kernel.slots;
  const std::pair<int, std::int64_t> numbers[] = {{s.m, kernel.m},
                                                  {s.n, kernel.n},
                                                  {s.k, kernel.k},
                                                  {s.tiles_m, tiles_m},
                                                  {s.tiles_n, tiles_n},
                                                  {s.steps, segments * ceil_div(kernel.k, kStageK)}};
  for (const auto& [slot, value] : numbers) plan.set(slot, static_cast<std::uint64_t>(value));
  s.segments = plan.add_param(static_cast<std::uint64_t>(kernel.k > 0 ? segments : 0));
  plan.note(kernel.request.epilogue->serial), plan.note(kernel.request.a.dtype), plan.note(kernel.warp);
  plan.note(kernel.ragged);
  for (const LoadedFactor* f : {&kernel.a, &kernel.b}) plan.note(f->along_k), plan.note(f->wide);
  for (const int axis : kernel.kept.original) plan.note(static_cast<char>(axis));
  plan.finish_key();
}

}  // namespace tern::detail_cuda::mma
