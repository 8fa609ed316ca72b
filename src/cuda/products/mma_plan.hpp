// From a request to the arguments of mma.cu: the product as its kernel sees it, the tiles, what is bound.
#pragma once
#include "cuda/products/mma.hpp"
#include "gpu/products/epilogue.hpp"

namespace tern::detail_cuda::mma {

using namespace detail_gpu;
using detail::GemmRequest;
using detail::View;
using detail_gpu::MergedAxes;  // tern has some, too

constexpr int kWarpsM = 2, kWarpsN = 4, kThreads = 32 * kWarpsM * kWarpsN;
constexpr int kStageK = 64, kStages = 3;
constexpr int kBandTiles = 8;  // row tiles that are traversed together, so that they share columns of b
constexpr int kUnit = 8;   // elements in 16 bytes

/// The part of a tile that a warp has.
struct WarpTile {
  int m = 64, n = 64;
};
// Of 144 KiB of workgroup memory, which 8.6 and 8.9 lack, and of 72 KiB.
constexpr WarpTile kLargeWarp{64, 64}, kSmallWarp{32, 32};

/// A factor: how 16 bytes of neighbours are found in it.
struct LoadedFactor {
  bool wide = true;     // they can be copied at once
  bool along_k = true;  // they lie along k; else along m or n
  int access = -1;
};

/// Parameters of the kernel.
struct MmaSlots {
  int m = -1, n = -1, k = -1, tiles_m = -1, tiles_n = -1, steps = -1, segments = -1;
};

/// All that decides the kernel's text, and its launch.
struct MmaKernel {
  MmaKernel(GpuBackend& backend, const GemmRequest& request, Layouts layouts)
      : backend(backend), request(request), plan(backend.limits(), request.op, 'm', layouts), epilogue(request) {}
  int tile_m() const { return kWarpsM * warp.m; }
  int tile_n() const { return kWarpsN * warp.n; }
  GpuBackend& backend;
  const GemmRequest& request;
  Plan plan;
  Epilogue epilogue;
  MergedAxes kept, contracted;  // batch axes: of the results, and those added up
  LoadedFactor a, b;
  WarpTile warp;
  std::int64_t m = 0, n = 0, k = 0;
  bool ragged = false;  // rows of results do not begin at multiples of 16 bytes
  MmaSlots slots;
};

/// Axes, parameters and bindings.
void lay_out(MmaKernel& kernel);
/// The tile, and how each operand is loaded.
void choose(MmaKernel& kernel, const MatrixUnits& units);
/// The launch's numbers and key.
void arrange(MmaKernel& kernel);
/// Whether the kernel is one of those for operands in vectors (Layouts::vectors).
bool in_vectors(const MmaKernel& kernel);

}  // namespace tern::detail_cuda::mma
