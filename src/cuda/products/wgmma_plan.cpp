#include "cuda/products/wgmma_plan.hpp"

#include <algorithm>
#include <array>

#include "backend/instruments/tuning.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_cuda::wgmma {
namespace {

constexpr int kShort = 1024;     // of k
constexpr int kCachedBytesOfA = 24 << 20;  // bytes of a that the cache of the whole GPU (50 MiB) is asked to keep

/// A matrix for the copy engine; false where it cannot move boxes of it.
bool describe_boxes(const View& view, std::int64_t batches, std::int64_t inner, std::int64_t rows, std::int64_t stride,
                    std::int64_t step, BoxMap& map) {
  if (rows == 1) stride = round_up(inner, 8);
  if (stride < inner || stride % 8 != 0 || step % 8 != 0 || step < 0 || !begins_in_vectors(view)) return false;
  if (std::max({inner, rows, batches}) > INT32_MAX || 2 * std::max(stride, step) >= std::int64_t{1} << 40)
    return false;
  map.storage = view.storage, map.begin = 2 * static_cast<std::uint64_t>(view.offset);
  map.sizes[0] = static_cast<std::uint64_t>(inner), map.sizes[1] = static_cast<std::uint64_t>(rows);
  map.sizes[2] = step ? static_cast<std::uint64_t>(batches) : 1;
  map.strides[0] = 2 * static_cast<std::uint64_t>(stride);
  map.strides[1] = step ? 2 * static_cast<std::uint64_t>(step) : map.strides[0];
  return true;
}

/// `across`: the size of the factor's axis besides k; `step`: elements between matrices of a batch.
bool describe(const View& view, const Problem& p, std::int64_t stride_k, std::int64_t stride_across,
              std::int64_t across, std::int64_t step, FetchedFactor& f) {
  if (stride_k == 1) f.along_k = true;
  else if (stride_across == 1) f.along_k = false;
  else return false;
  const std::int64_t inner = f.along_k ? p.k : across, rows = f.along_k ? across : p.k;
  f.batched = step != 0;
  return describe_boxes(view, p.batch.count(), inner, rows, f.along_k ? stride_across : stride_k, step, f.map);
}

/// Outputs of 16 bits leave through workgroup memory in boxes. Stored from registers, in pairs or, shuffled, in eights,
/// they took 100 of the 350 µs of 8192x512x16384 on an H200.
std::vector<StagedOutput> staged_outputs(const WgmmaKernel& kernel) {
  const Problem& p = kernel.problem;
  std::vector<StagedOutput> all;
  for (std::size_t o = 0; o < kernel.request.outputs.size() && all.size() + 2 < kMostMaps; ++o) {
    const Access& x = kernel.plan.access(kernel.epilogue.outputs()[o]);
    if (x.size() != 2 || (x.dtype() != DType::f16 && x.dtype() != DType::bf16) || !x.wide) continue;
    const std::size_t rank = x.actual.size();
    const std::int64_t step = p.batch.sizes.empty() ? 0 : x.actual[0];
    StagedOutput staged{o, step != 0, {}};
    if (!describe_boxes(*x.view, p.batch.count(), p.n, p.m, x.actual[rank - 2], step, staged.map)) continue;
    staged.map.box[0] = kBoxColumns, staged.map.box[1] = static_cast<std::uint32_t>(kernel.tiling.halves()) * 64;
    all.push_back(staged);
  }
  return all;
}

}  // namespace

std::optional<Problem> problem_of(const GemmRequest& r, const Epilogue& epilogue) {
  Problem p;
  const int rank = r.batch.rank();
  const auto row = static_cast<std::size_t>(rank);
  MergedProduct product = merged(r, epilogue);
  if (product.kept.sizes.size() > 1 || !product.contracted.sizes.empty()) return std::nullopt;
  p.m = product.m, p.n = r.n, p.k = product.k, p.batch = std::move(product.kept);
  const auto step = [&](std::size_t v) { return p.batch.sizes.empty() ? 0 : p.batch.strides[v][0]; };
  if (!describe(r.a, p, r.a.strides[row + 1], r.a.strides[row], p.m, step(product.a), p.a) ||
      !describe(r.b, p, r.b.strides[row], r.b.strides[row + 1], p.n, step(product.a + 1), p.b))
    return std::nullopt;
  return p;
}

/// The second consumer multiplies the next tile while the first finishes one, where there is a next: on an H200 in
/// bf16, gelu, halves of a tile of 256 columns against ping-pong: 8192x768x3072 85 and 69 µs, 1024x768x8192 31 and 27,
/// 4096^3 212 and 196; but few rows, of which each b is read for, 512x4096x16384 94 and 103. Wider tiles read less:
/// 8192x4096x16384 1650 and 1594 µs with 192 columns. Their sums leave registers for one output and a bias.
Tiling choose_tiling(const GpuBackend& backend, const GemmRequest& r, const Problem& p, const MatrixUnits& units) {
  Tiling t;
  t.clusters = std::max(units.processors / 2, 1);
  t.pairs = ceil_div(p.m, 2 * kTileM);
  const auto works = [&](int tile_n) { return t.pairs * ceil_div(p.n, tile_n) * p.batch.count(); };
  // Three quarters of the processors for a long k, since cuBLASLt, which can cut k, and a pass are faster otherwise
  // (2048x2048x1280 with gelu on an H200, 61 % of them: 27 and 23 µs); less where launching the pass takes as long as
  // the rest.
  const auto enough = [&](int tile_n) {
    const std::int64_t rounds = ceil_div(works(tile_n), t.clusters);
    return works(tile_n) * 100 >= rounds * t.clusters * (p.k <= kShort ? 60 : 75);
  };
  // What can be told: by the rule below; halves; ping-pong with tiles of 128 or 192 columns.
  enum : std::int64_t { kModelled, kHalves, kPingPong128, kPingPong192 };
  const std::string key =
      cat("product.tiling, ", to_string(r.a.dtype), " ", p.a.along_k ? "n" : "t", p.b.along_k ? "t" : "n", ", outputs ",
          r.outputs.size(), detail::size_classes(std::array{p.m, p.n, p.k, p.batch.count()}));
  const std::int64_t told =
      detail::choice_of(backend.device_class(), key, {kModelled, kHalves, kPingPong128, kPingPong192})();
  t.told = told != kModelled;
  t.ping_pong = t.told ? told != kHalves : works(128) > t.clusters && (p.m >= 1024 || p.k <= kShort);
  if (t.ping_pong) {
    const auto columns = [&](int tile_n) { return ceil_div(works(tile_n), t.clusters) * tile_n; };
    const bool wide =
        r.outputs.size() == 1 && r.inputs.size() <= 1 && p.k >= 2 * kShort && columns(192) <= columns(128);
    t.tile_n = told == kPingPong192 || (!t.told && wide) ? 192 : 128;
  } else {
    t.tile_n = p.n > 128 ? 256 : 128;
    if (!t.told && p.k <= kShort && !enough(t.tile_n))
      t.tile_n = 128;  // 512x768x3072: 11.0 µs, cuBLASLt and a pass 12.6; k = 4096: 26.2, 24.9
  }
  t.tiles = ceil_div(p.n, t.tile_n), t.works = works(t.tile_n);
  t.fills = t.told || enough(t.tile_n) || (t.ping_pong && enough(256));  // two of 128 take no longer than one of 256
  return t;
}

bool bind(WgmmaKernel& kernel) {
  Problem& p = kernel.problem;
  Plan& plan = kernel.plan;
  WgmmaSlots& s = kernel.slots;
  for (int* slot : {&s.m, &s.n, &s.k, &s.pairs, &s.tiles, &s.works, &s.last_n}) *slot = plan.add_param(0);
  const std::pair<int, std::int64_t> numbers[] = {{s.m, p.m},
                                                  {s.n, p.n},
                                                  {s.k, p.k},
                                                  {s.pairs, kernel.tiling.pairs},
                                                  {s.tiles, kernel.tiling.tiles},
                                                  {s.works, kernel.tiling.works},
                                                  {s.last_n, kernel.tiling.last_n}};
  for (const auto& [slot, value] : numbers) plan.set(slot, static_cast<std::uint64_t>(value));
  if (p.steps)
    for (const std::int64_t number : p.steps->numbers) {
      const int slot = plan.add_param(static_cast<std::uint64_t>(number));
      if (s.numbers < 0) s.numbers = slot;
    }
  plan.add_axes(p.batch);
  kernel.epilogue.add_accesses(plan, p.batch);
  kernel.epilogue.add_numbers(plan);
  const std::vector<std::int64_t> over_tile = sizes_over_tile(kernel.request);
  std::vector<ByteRange> touched;
  for (const Access& x : plan.accesses) {
    touched.push_back(bytes_touched(*x.view, over_tile));
    if (touched.back().end - touched.back().begin > static_cast<std::int64_t>(kernel.backend.limits().binding_bytes))
      return false;
  }
  plan.bind(touched);
  for (std::size_t i = 0; i < plan.accesses.size(); ++i)
    if (rows_lie_in_vectors(plan.accesses[i])) plan.make_wide(static_cast<int>(i));
  kernel.staged = staged_outputs(kernel);
  kernel.keeps_a =
      !p.steps && std::min<std::int64_t>(kernel.tiling.pairs, kBandPairs) * 2 * kTileM * p.k * 2 <= kCachedBytesOfA;
  return true;
}

void arrange(WgmmaKernel& kernel) {
  const Tiling& t = kernel.tiling;
  FetchedFactor &a = kernel.problem.a, &b = kernel.problem.b;
  Plan& plan = kernel.plan;
  Launch& launch = plan.launch;
  launch.threads = 384;
  const int bytes_of_results = 2 * kMostPlaces * t.halves() * 64 * kBoxColumns * 2;
  launch.shared_bytes = static_cast<std::uint32_t>(t.results_begin() + bytes_of_results + 1024);
  launch.groups = 2 * static_cast<std::uint64_t>(t.shares(kernel.problem.k));
  a.map.box[0] = b.map.box[0] = 64;
  a.map.box[1] = a.along_k ? kTileM : kTileK;
  const bool by_k = t.ping_pong || t.tile_n % 128 != 0;  // each workgroup of a pair fetches half of k
  b.map.box[1] = b.along_k ? static_cast<std::uint32_t>(t.tile_n) / 2 : by_k ? kTileK / 2 : kTileK;
  launch.maps = {a.map, b.map};
  for (const StagedOutput& x : kernel.staged) launch.maps.push_back(x.map), plan.note(static_cast<char>(x.output));
  plan.note('m'), plan.note(kernel.request.epilogue->serial), plan.note(kernel.request.a.dtype);
  plan.note(t.tile_n), plan.note(t.ping_pong), plan.note(kernel.keeps_a), plan.note(t.split_k);
  if (kernel.problem.steps)
    for (const auto& [name, filling] : kernel.problem.steps->holes) launch.key += name + '=' + filling + ';';
  for (const FetchedFactor* f : {&a, &b}) plan.note(f->along_k), plan.note(f->batched);
  for (const int axis : kernel.problem.batch.original) plan.note(static_cast<char>(axis));
  plan.finish_key();
}

}  // namespace tern::detail_cuda::wgmma
