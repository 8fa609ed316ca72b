// The windows of an image as a factor of the product in what the GPU languages share (gpu_windows.wgsl).
#pragma once
#include <string>
#include <vector>

#include "gpu/products/gemm_plan.hpp"
#include "primitives/convolution/convolution.hpp"

namespace tern::detail_gpu::conv {

/// Which part of the gradient of the kernels a product sums (split-K): splits of so many places, from one on.
struct PlaceSplits {
  std::int64_t length = 0, first = 0, count = 0;
};

class WindowFactor final : public GatheredFactor {
 public:
  /// Columns of the narrowest tiles.
  static constexpr int kNarrow = 16;

  /// Rows are places where there are no splits, else channels of taps. Groups are the last batch axis, splits the
  /// first, where there are several.
  WindowFactor(const detail::ConvSizes& sizes, const View& image, const PlaceSplits& splits = {});

  int add(Plan& plan) override;
  const View& view() const override { return image_; }
  Shape sizes() const override { return whole_; }
  void choose(GemmPlan& gemm) const override;
  FactorText text(const GemmPlan& gemm, const std::vector<std::string>& batch) const override;

 private:
  bool of_places() const { return splits_.length == 0; }
  std::size_t axes() const { return static_cast<std::size_t>(s_.axes); }
  GemmTile tile_of_places(const GemmPlan& gemm) const;
  GemmTile tile_of_taps(const GemmPlan& gemm) const;
  std::string stride_of(const GemmPlan& gemm, std::size_t axis) const;
  void fill_sizes(const GemmPlan& gemm, Holes& h) const;
  void fill_carries(Holes& h, int copies) const;

  Shape whole_;        // of the image
  bool joined_;        // taps along the last axis and channels are one axis
  detail::ConvSizes s_;  // with that as its channels, and elements in place of places along the last axis
  const View& image_;
  PlaceSplits splits_;
  int access_ = -1;
  std::vector<int> slots_;  // of each axis: in, out, stride, before, kernel, dilation, and the ends of what is carried
  int channels_ = -1, places_ = -1, length_ = -1, first_ = -1;
};

}  // namespace tern::detail_gpu::conv
