// A convolution as cuda_windows.cu takes it: its numbers, boxes of the image's windows, and the kernels as matrices.
#pragma once
#include <memory>
#include <vector>

#include "cuda/products/wgmma_plan.hpp"
#include "primitives/convolution/gpu/gpu_common.hpp"

namespace tern::detail_gpu::conv {

using detail_cuda::wgmma::FetchedFactor;
using detail_cuda::wgmma::kTileK;
using detail_cuda::wgmma::kTileM;
using detail_cuda::wgmma::StepsText;

/// Whether the copy engine can find the windows: of 16-bit floats, channels in vectors, corners and taps within reach.
bool fetches_windows(const ConvSizes& sizes, DType dtype);

/// One convolution of one group. Elements of kernels are counted so that dilations are positive.
class FetchedWindows {
 public:
  /// `image`: [samples, in.., channels], copied where the copy engine cannot fetch boxes of it.
  FetchedWindows(GpuBackend& backend, const char* op, const ConvSizes& sizes, const View& image,
                 Temporaries& temporaries);

  std::int64_t places() const { return sizes_.of_y().numel() / sizes_.o; }  // of the result
  std::int64_t taps() const { return sizes_.taps(); }
  std::int64_t padded_channels() const { return round_up(sizes_.c, kTileK); }
  /// Boxes of the image's windows.
  BoxMap map() const;
  /// Kernels [1, o, c, k..] as matrices [channels, results], one for each tap, copied likewise.
  FetchedFactor kernels(const View& view, Temporaries& temporaries);
  /// Behind kernels().
  StepsText steps() const;

 private:
  GpuBackend& backend_;
  const char* op_;
  std::array<bool, 3> flipped_axes_{};  // before sizes_, which flips axes
  ConvSizes sizes_;
  View image_;
  bool flipped_ = false;  // taps of the kernels' map
};

/// The result's gradient [samples, out.., results] as a matrix of its places, copied likewise.
BoxMap results_across(GpuBackend& backend, const char* op, const ConvSizes& sizes, const View& view,
                      Temporaries& temporaries);
/// Adds up what the pairs of workgroups have of each tile, sums [splits, rows of two tiles, columns of one], into
/// the gradient of the kernels (cuda_split_k.cu).
void add_splits(GpuBackend& backend, const detail::ConvWeightRequest& request, const View& sums,
                   const FetchedWindows& windows, const detail_cuda::wgmma::Tiling& tiling);

}  // namespace tern::detail_gpu::conv
