// Convolutions on CUDA GPUs of compute capability 9.0: products of the windows of an image, which the copy engine reads
// where they lie, by the kernel of products there (src/cuda/products/wgmma.cu, cuda_windows.cu).
#include <algorithm>

#include "backend/instruments/tuning.hpp"
#include "cuda/cuda_backend.hpp"
#include "gpu/products/gemm.hpp"
#include "gpu/products/gemm_pass.hpp"
#include "gpu/text/text.hpp"
#include "primitives/convolution/cuda/cuda_depthwise.hpp"
#include "primitives/convolution/cuda/cuda_windows.hpp"
#include "primitives/convolution/kernels.hpp"
#include "primitives/gemm/prepared.hpp"

namespace tern::detail_gpu {
namespace {

using namespace detail_cuda::wgmma;
using conv::Temporaries;
using detail::ConvRequest;
using detail::ConvSizes;
using detail::ConvWeightRequest;
using detail::GemmRequest;
using detail_cuda::MatrixUnits;

MatrixUnits units_of_convolutions(GpuBackend& backend) {
  const auto* cuda = dynamic_cast<detail_cuda::CudaBackend*>(&backend);
  return cuda ? cuda->units() : MatrixUnits();
}

/// A column of tiles of 128 takes so many hundredths of the time of one of 192 or 256, whose factors are read less
/// often. Of an H200, 26 November 2026, bf16, us: 64x256x28x28 -> 256 3x3 256 columns 77.6, 128 92.7; 64x512x14x14 ->
/// 512 94.4 in two rounds, of which the second is half empty, and 85.0 in three.
constexpr std::int64_t kOfNarrow = 118;

/// Tiles for a product of m x n results, along k in so many steps; `b_along_k`: b is fetched in boxes of any columns.
Tiling tiling_of(GpuBackend& backend, const char* part, std::int64_t m, std::int64_t n, std::int64_t steps,
                 const MatrixUnits& units, bool split_k, bool b_along_k) {
  Tiling t;
  t.clusters = std::max(units.processors / 2, 1), t.split_k = split_k;
  t.pairs = ceil_div(m, 2 * kTileM);
  // What can be told: by the rule; halves of 64, 128, 256 columns; ping-pong with 64, 128, 192.
  const std::string key = cat("convolution.tiling, ", part, detail::size_classes(std::array{m, n, steps}));
  const std::int64_t told = detail::choice_of(backend.device_class(), key, {0, 1, 2, 3, 4, 5, 6})();
  t.told = told != 0;
  if (t.told) {
    constexpr int columns[] = {64, 128, 256, 64, 128, 192};
    t.tile_n = columns[told - 1], t.ping_pong = told > 3;
  } else {
    // What the rounds of all pairs take, by columns of a tile; of split-K there are no rounds.
    const auto cost = [&](int tile_n) {
      const std::int64_t works = t.pairs * ceil_div(n, tile_n);
      return (split_k ? works : ceil_div(works, t.clusters)) * tile_n * (tile_n <= 128 ? kOfNarrow : 100);
    };
    // 32x96x56x56 -> 96 3x3, 30 November 2026, us forward and both: 128 columns 85, 243, 96 columns 61, 220.
    t.tile_n = n <= 64 ? 64 : n <= 96 && b_along_k ? 96 : 128;
    for (const int tile_n : {192, 256})
      if (n > 128 && cost(tile_n) <= cost(t.tile_n)) t.tile_n = tile_n;
    // Split-K, of 1152 x 128 results, with the gradient of the image, us: ping-pong 244, halves 263; of 576 x 64 116,
    // 109.
    t.ping_pong =
        split_k ? t.tile_n == 128 : t.tile_n == 192 || (t.tile_n < 192 && t.pairs * ceil_div(n, t.tile_n) > t.clusters);
  }
  if (n >= t.tile_n) t.last_n = n - t.tile_n;
  t.tiles = ceil_div(n, t.tile_n), t.works = t.pairs * t.tiles, t.fills = true;
  return t;
}

/// Runs a product with its epilogue; false, having done nothing, where an operand or output does not lie over the
/// places as over the rows of a matrix.
bool run_rows(GpuBackend& backend, const GemmRequest& g, const conv::FetchedWindows& windows,
              const FetchedFactor& kernels, const MatrixUnits& units) {
  WgmmaKernel kernel(backend, g);
  const MergedProduct merged = detail_gpu::merged(g, kernel.epilogue);
  if (!merged.kept.sizes.empty() || conv::counts_places(*g.epilogue)) return false;
  Problem& p = kernel.problem;
  p.m = merged.m, p.n = g.n, p.k = windows.taps() * windows.padded_channels();
  p.batch = merged.kept;
  p.a.map = windows.map(), p.b = kernels, p.steps = windows.steps();
  kernel.tiling = tiling_of(backend, "places", p.m, p.n, p.k / kTileK, units, false, kernels.along_k);
  return queue_kernel(kernel);
}

void convolution_by_wgmma(GpuBackend& backend, const ConvRequest& r, const MatrixUnits& units) {
  run_prepared_products(backend, r, [&] {
    backend.require_supported(r.op, *r.epilogue);
    backend.require_supported(r.op, r.x.dtype);
    Temporaries temporaries;
    conv::FetchedWindows windows(backend, r.op, r.sizes, r.x, temporaries);
    const FetchedFactor kernels = windows.kernels(r.w, temporaries);
    const auto run = [&](const ConvRequest& part) {
      return run_rows(backend, conv::product_of(part), windows, kernels, units);
    };
    if (!run(r)) conv::run_with_pass(backend, r, run);
  });
}

void convolution_weight_by_wgmma(GpuBackend& backend, const ConvWeightRequest& r, const MatrixUnits& units) {
  run_prepared_products(backend, r, [&] {
    backend.require_supported(r.op, r.x.dtype);
    Temporaries temporaries;
    conv::FetchedWindows windows(backend, r.op, r.sizes, r.x, temporaries);
    const std::int64_t m = windows.taps() * windows.padded_channels(), places = windows.places();
    const Tiling tiling = tiling_of(backend, "kernels", m, r.sizes.o, ceil_div(places, kTileK), units, true, false);
    // The sums of splits, and the product as a request: its results are those.
    const std::int64_t splits = tiling.works + tiling.shares(places) - 1;
    temporaries.push_back(backend.temporary(splits * 2 * kTileM * tiling.tile_n, DType::f32));
    const View sums{temporaries.back().get(), DType::f32, 0, {2 * kTileM * tiling.tile_n, tiling.tile_n, 1}};
    GemmRequest g;
    g.op = r.op, g.m = 2 * kTileM, g.n = tiling.tile_n, g.k = 1, g.batch = {splits};
    g.a = r.x, g.b = r.y, g.epilogue = plain_epilogue(r.op, DType::f32), g.outputs = {&sums, 1};
    WgmmaKernel kernel(backend, g);
    Problem& p = kernel.problem;
    p.m = g.m, p.n = g.n, p.k = places;
    p.batch.sizes = {splits}, p.batch.strides = {{sums.strides[0]}}, p.batch.original = {-1};
    p.a.along_k = p.b.along_k = false, p.a.map = windows.map(), p.steps = windows.steps();
    p.b.map = conv::results_across(backend, r.op, r.sizes, r.y, temporaries);
    kernel.tiling = tiling;
    if (!queue_kernel(kernel)) throw Error(ErrorKind::backend, std::string(r.op) + ": more bytes than a kernel sees");
    conv::add_splits(backend, r, sums, windows, tiling);
  });
}

void depthwise_by_units(GpuBackend& backend, const ConvRequest& r, const MatrixUnits& units) {
  run_prepared_products(backend, r, [&] {
    backend.require_supported(r.op, *r.epilogue);
    backend.require_supported(r.op, r.x.dtype);
    const auto run = [&](const ConvRequest& part) { return conv::run_depthwise(backend, part, units); };
    if (!run(r)) conv::run_with_pass(backend, r, run);
  });
}

}  // namespace

void convolution_by_units(GpuBackend& backend, const ConvRequest& r, const MatrixUnits& units) {
  if (r.sizes.of_y().numel() == 0) return;
  r.sizes.one_channel_a_group() ? depthwise_by_units(backend, r, units) : convolution_by_wgmma(backend, r, units);
}
void convolution_weight_by_units(GpuBackend& backend, const ConvWeightRequest& r, const MatrixUnits& units) {
  if (!r.sizes.one_channel_a_group()) return convolution_weight_by_wgmma(backend, r, units);
  run_prepared_products(backend, r, [&] {
    backend.require_supported(r.op, r.x.dtype);
    conv::run_depthwise_weight(backend, r, units);
  });
}
void convolution_on_cuda(GpuBackend& backend, const ConvRequest& r) {
  convolution_by_units(backend, r, units_of_convolutions(backend));
}
void convolution_weight_on_cuda(GpuBackend& backend, const ConvWeightRequest& r) {
  convolution_weight_by_units(backend, r, units_of_convolutions(backend));
}
bool convolution_pays_on_cuda(GpuBackend& backend, const ConvSizes& s, DType dtype) {
  const MatrixUnits units = units_of_convolutions(backend);
  if (backend.limits().archived) return false;
  if (s.one_channel_a_group()) return conv::has_depthwise(s, dtype, units);
  // Steps of k have 64 channels, tiles 64 results: of fewer than half as many most of the work would be for zeros.
  constexpr std::int64_t kFewest = 32, kMost = std::int64_t{1} << 29;  // elements: bytes of any dtype have 32 bits
  return units.architecture == 90 && conv::fetches_windows(s, dtype) && s.c >= kFewest && s.o >= kFewest &&
         s.of_y().numel() > 0 && std::max(s.of_x().numel(), s.of_y().numel()) < kMost;
}

}  // namespace tern::detail_gpu
