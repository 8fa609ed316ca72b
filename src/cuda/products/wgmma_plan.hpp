// From a request to the arguments of wgmma.cu: the product as its kernel sees it, the tiles, what is bound.
#pragma once
#include <algorithm>
#include <optional>
#include <vector>

#include "cuda/products/wgmma.hpp"
#include "gpu/products/epilogue.hpp"

namespace tern::detail_cuda::wgmma {

using namespace detail_gpu;
using detail::GemmRequest;
using detail::View;
using detail_gpu::MergedAxes;  // tern has some, too

constexpr int kTileM = 128, kTileK = 64;  // of a workgroup; 64 elements are 128 bytes, a row of a swizzled box
constexpr int kBoxColumns = 32;           // of a box of results
constexpr int kBandPairs = 8;             // pairs of rows of tiles that are traversed together

/// A factor as the copy engine fetches it.
struct FetchedFactor {
  bool along_k = true;  // k is the axis with neighbours in memory
  bool batched = false;
  BoxMap map;
};

/// The piece of wgmma.cu that says where the steps along k lie in the factors, its holes, and numbers that it finds
/// among the parameters, from $numbers on.
struct StepsText {
  const char* text;
  Holes holes;
  std::vector<std::int64_t> numbers;
};

/// The product as the kernel sees it: batches that are rows or steps of k are, and at most one axis of them is left.
struct Problem {
  std::int64_t m = 0, n = 0, k = 0;
  MergedAxes batch;
  FetchedFactor a, b;
  std::optional<StepsText> steps = {};  // where the factors are no matrices
};
/// None where the copy engine cannot fetch the factors.
std::optional<Problem> problem_of(const GemmRequest& request, const Epilogue& epilogue);

/// How the product is divided among workgroups, and their tiles among two consumers: a tile to each in turn
/// (ping_pong), or half the rows of every tile.
struct Tiling {
  int tile_n = 256;
  bool ping_pong = false;
  bool told = false;     // by the user or the tuner
  bool split_k = false;  // results are sums of the splits of k, [tile + pair, rows of two tiles, columns of one]
  std::int64_t pairs = 0, tiles = 0, works = 0;  // pairs of rows of tiles, columns of tiles, pairs of tiles in all
  /// Where tiles begin at most: what the last ones share with those before is computed twice. (Not where an output may
  /// be an operand.) Columns that are not there took 3.3 times as long as others, fetched as zeros: on an H200 a
  /// product of 200704x1152x128 in tiles of 128 columns 97 us, of 256 419.
  std::int64_t last_n = UINT32_MAX;
  std::int64_t clusters = 1;                     // of two workgroups, that run at once
  bool fills = false;                            // the processors have enough to do

  /// Pairs of workgroups that take part in a product over k; of split-K the results are works + shares - 1 splits.
  std::int64_t shares(std::int64_t k) const {
    return std::min(split_k ? works * ceil_div(k, kTileK) : works, clusters);
  }
  /// Times 64 rows of a tile that one consumer has.
  int halves() const { return ping_pong ? 2 : 1; }
  int stage_bytes() const { return (kTileM + tile_n) * kTileK * 2; }
  /// Bytes of four stages with 256 columns; or with 192, whose boxes of results have 128 rows, not 64.
  int ring_bytes() const { return ping_pong ? 4 * (16 + 24) << 10 : 4 * (16 + 32) << 10; }
  int stages() const { return ring_bytes() / stage_bytes(); }
  int results_begin() const { return ring_bytes() + 1024; }  // from where the ring begins
};
Tiling choose_tiling(const GpuBackend& backend, const GemmRequest& request, const Problem& problem,
                     const MatrixUnits& units);

/// An output that leaves through workgroup memory, in boxes.
struct StagedOutput {
  std::size_t output;
  bool batched;
  BoxMap map;
};

/// Parameters of the kernel.
struct WgmmaSlots {
  int m = -1, n = -1, k = -1, pairs = -1, tiles = -1, works = -1, last_n = -1, numbers = -1;
};

/// All that decides the kernel's text, and its launch.
struct WgmmaKernel {
  WgmmaKernel(GpuBackend& backend, const GemmRequest& request)
      : backend(backend), request(request), plan(backend.limits(), request.op, 'w'), epilogue(request) {}
  GpuBackend& backend;
  const GemmRequest& request;
  Plan plan;
  Epilogue epilogue;
  Problem problem;
  Tiling tiling;
  WgmmaSlots slots;
  std::vector<StagedOutput> staged;
  /// The rows of a that are traversed together are read for every column of tiles, b and the results once in that
  /// time: while the cache holds those rows, they are to stay and the others to go first. 8192x4096x16384 with gelu on
  /// an H200: 0.956 of the plain product's speed, 0.929 without; in bands of 4 or 12 pairs 0.940 and 0.942.
  bool keeps_a = false;
};
/// Adds parameters and bindings, and chooses how each output is stored; false where a binding would be too large.
bool bind(WgmmaKernel& kernel);
/// The launch's numbers and key.
void arrange(WgmmaKernel& kernel);
/// Queues the kernel of a problem that is described and divided; false, having done nothing, where a binding would be
/// too large.
bool queue_kernel(WgmmaKernel& kernel);

/// Places for boxes of results, of each consumer.
constexpr int kMostPlaces = 4;

}  // namespace tern::detail_cuda::wgmma
