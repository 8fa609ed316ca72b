// Channels convolved by themselves on tensor cores, without a GPU: the kernel's text on the host against sums in f64.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which do not know fibers

#include "depthwise_units.hpp"
#include "golden/kinds.hpp"
#include "on_host.hpp"
#include "primitives/convolution/cuda/cuda_depthwise_cores.hpp"

namespace tern::test {
namespace {

using detail::ConvSizes;

class DepthwiseOnHost : public OnHostGpu {
 protected:
  static constexpr const char* kTitle = "channels convolved by themselves on tensor cores";
  /// Element k of an axis's kernel at place i: where it meets the image, or -1.
  static std::int64_t place_of(const ConvSizes& s, std::size_t axis, std::int64_t i, std::int64_t k) {
    const std::int64_t place = i * s.stride[axis] + k * s.dilation[axis] - s.before[axis];
    return place >= 0 && place < s.in[axis] ? place : -1;
  }
  /// Sums in f64, with a bias; zeros of padding are not multiplied.
  static std::vector<double> expected(const ConvSizes& s, const Tensor& x, const Tensor& w, const Tensor& bias) {
    const std::vector<double> of_x = values(x), of_w = values(w), of_bias = values(bias);
    const bool two = s.axes == 2;
    const std::size_t row = two ? 1 : 0;
    std::vector<double> sums;
    for (std::int64_t n = 0; n < s.n; ++n)
      for (std::int64_t i = 0; i < (two ? s.out[0] : 1); ++i)
        for (std::int64_t j = 0; j < s.out[row]; ++j)
          for (std::int64_t c = 0; c < s.groups; ++c) {
            double sum = of_bias[static_cast<std::size_t>(c)];
            for (std::int64_t tap = 0; tap < s.taps(); ++tap) {
              const std::int64_t y = two ? place_of(s, 0, i, tap / s.kernel[row]) : 0;
              const std::int64_t z = place_of(s, row, j, tap % s.kernel[row]);
              if (y < 0 || z < 0) continue;
              const std::int64_t at = ((n * (two ? s.in[0] : 1) + y) * s.in[row] + z) * s.groups + c;
              sum += of_x[static_cast<std::size_t>(at)] * of_w[static_cast<std::size_t>(c * s.taps() + tap)];
            }
            sums.push_back(sum);
          }
    return sums;
  }
  void check(const ConvSizes& s, const Tensor& x, const Tensor& w, const std::string& what) {
    const Tensor bias = random({s.groups}, x.dtype());
    const std::vector<double> want = expected(s, x, w, bias), got = convolved(s, x, w, bias);
    const double unit = x.dtype() == bf16 ? 0x1p-8 : 0x1p-11;
    ASSERT_EQ(got.size(), want.size()) << what;
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(std::isnan(got[i]), std::isnan(want[i])) << what << " at " << i << ": " << got[i] << ", " << want[i];
      if (std::isnan(want[i]) || got[i] == want[i]) continue;
      // Products and sums are of at most 1·1 and so many terms, in f32; then rounded.
      const double bound = std::abs(want[i]) * unit + static_cast<double>((s.taps() + 1) * s.taps()) * 0x1p-23;
      ASSERT_NEAR(got[i], want[i], bound) << what << " at " << i;
    }
  }
  std::vector<double> convolved(const ConvSizes& s, const Tensor& x, const Tensor& w, const Tensor& bias) {
    const Tensor here_x = gpu_.from(x), here_w = gpu_.from(w), y = detail::make_tensor(s.of_y(), x.dtype(), gpu_);
    const Tensor here_bias = gpu_.from(bias).broadcast_to(s.of_y());
    const auto view = [](const Tensor& t) { return detail::view_over(t, t.shape()); };
    const detail::InputType types[] = {{x.dtype(), false}, {x.dtype(), false}};
    const detail::Operand operand{view(here_bias), {}, nullptr};
    const detail::View result = view(y);
    const auto* formula = detail::graph_of([](auto sum, auto b) { return sum + b; });
    take_tensor_cores(gpu_, s);
    detail_gpu::convolution_by_units(gpu_,
                                     {"conv2d",
                                      s,
                                      view(here_x),
                                      view(here_w),
                                      &detail::type_program("conv2d", formula, types),
                                      {&operand, 1},
                                      {&result, 1}},
                                     units_);
    EXPECT_EQ(gpu_.last_text.find(kTitle), 3u) << gpu_.last_text.substr(0, 80);
    return values(HostGpu::to_cpu(y));
  }
  HostGpu gpu_{false};
  detail_cuda::MatrixUnits units_{80, 2, 227 << 10};
};

TEST_F(DepthwiseOnHost, SumsAreExactWithinF32) {
  const ConvSizes sizes[] = {
      {2, 3, 40, 1, 1, {9, 10}, {9, 10}, {7, 7}, {1, 1}, {1, 1}, {3, 3}},
      {2, 1, 32, 1, 1, {30, 61}, {30, 61}, {7, 7}, {1, 1}, {1, 1}, {3, 3}},      // several tiles, cut short
      {2, 5, 24, 1, 1, {14, 14}, {14, 14}, {7, 7}, {1, 1}, {-1, -1}, {-3, -3}},  // the gradient of the image
      {2, 2, 16, 1, 1, {13, 20}, {6, 22}, {3, 5}, {2, 1}, {1, 2}, {0, 5}},
      {2, 1, 72, 1, 1, {8, 6}, {6, 7}, {5, 1}, {1, 1}, {2, 1}, {3, 0}},
      {2, 9, 16, 1, 1, {5, 6}, {6, 7}, {3, 2}, {1, 1}, {1, 1}, {1, 1}},
      {1, 3, 48, 1, 1, {150}, {152}, {9}, {1}, {1}, {5}},
      {2, 9, 32, 1, 1, {14, 14}, {14, 14}, {7, 7}, {1, 1}, {1, 1}, {3, 3}},  // samples side by side in a tile
  };
  for (const DType dtype : {bf16, f16})
    for (const ConvSizes& s : sizes)
      check(s, random(s.of_x(), dtype, -1, 1), random(s.of_w(), dtype, -1, 1), to_string(s.of_x()));
}

// What the zeros of the bands meet must not show: neither beside the window nor beyond the ends.
TEST_F(DepthwiseOnHost, WhatIsNotFiniteStaysInItsWindow) {
  const ConvSizes s{2, 2, 16, 1, 1, {9, 40}, {9, 40}, {3, 3}, {1, 1}, {1, 1}, {1, 1}};
  for (const float what : {INFINITY, -INFINITY, NAN}) {
    const Tensor x = random(s.of_x(), bf16, -1, 1), w = random(s.of_w(), bf16, -1, 1);
    x.slice(0, 1, 2).slice(1, 4, 5).slice(2, 18, 19).slice(3, 3, 4) += what;
    check(s, x, w, "image");
    x.slice(0, 0, 1).slice(2, 39, 40) += what;
    check(s, x, w, "image's end");
  }
}

// Memory for one tile's part of the image in place of two: nothing is fetched ahead.
TEST_F(DepthwiseOnHost, OneBufferHasTheSameSums) {
  const ConvSizes s{2, 6, 32, 1, 1, {17, 19}, {17, 19}, {7, 7}, {1, 1}, {1, 1}, {3, 3}};
  for (const int shared : {227 << 10, 64 << 10}) {
    units_.shared_bytes = shared;
    check(s, random(s.of_x(), bf16, -1, 1), random(s.of_w(), bf16, -1, 1), std::to_string(shared));
    EXPECT_NE(gpu_.last_text.find(shared > 64 << 10 ? "kBuffers = 2u" : "kBuffers = 1u"), std::string::npos);
  }
}

class DepthwiseTiles : public testing::Test {
 protected:
  static ConvSizes sizes(std::int64_t n, std::int64_t channels, std::int64_t size, std::int64_t kernel) {
    return {
        2, n, channels, 1, 1, {size, size}, {size, size}, {kernel, kernel}, {1, 1}, {1, 1}, {kernel / 2, kernel / 2}};
  }
  /// Lines of a block, samples, blocks down and along, buffers; empty where there is no instance.
  static std::vector<std::int64_t> tiles(const ConvSizes& s, DType dtype = bf16, int shared = 227 << 10) {
    const auto layout = detail_gpu::conv::cores_layout(s, dtype, {90, 132, shared});
    std::vector<std::int64_t> numbers;
    if (layout)
      for (const auto& [name, value] : layout->constants) numbers.push_back(value);
    return numbers;
  }
  /// Whether the text for an H200's processors is that of tensor cores, by the model.
  static bool by_cores(const ConvSizes& s, int architecture = 90) {
    bool cores = false;
    Printing p(DeviceKind::cuda, [&](const detail_gpu::Launch&, const std::string& text) {
      cores = cores || text.find("by themselves on tensor cores") != std::string::npos;
    });
    convolution_by({architecture, 132, 227 << 10}, s, p, bf16);
    return cores;
  }
};

// Those measured to be the quickest (docs/tuning.md).
TEST_F(DepthwiseTiles, AreTheQuickest) {
  using Numbers = std::vector<std::int64_t>;
  EXPECT_EQ(tiles(sizes(64, 192, 56, 7)), (Numbers{7, 1, 4, 4, 2}));
  EXPECT_EQ(tiles(sizes(64, 384, 28, 7)), (Numbers{7, 1, 4, 4, 2}));
  EXPECT_EQ(tiles(sizes(64, 768, 14, 7)), (Numbers{7, 4, 2, 2, 1}));
  // No more memory than there is, and 16 blocks.
  for (const int shared : {227 << 10, 163 << 10, 99 << 10})
    for (const std::int64_t kernel : {3, 5, 7, 9}) {
      const ConvSizes s = sizes(3, 40, 33, kernel);
      const auto layout = detail_gpu::conv::cores_layout(s, f16, {80, 108, shared});
      ASSERT_TRUE(layout);
      EXPECT_LE(layout->shared_bytes, shared);
      const Numbers t = tiles(s, f16, shared);
      EXPECT_EQ(t[1] * t[2] * t[3], 16);
    }
  // Taps over more than 16 places less 7, a step along the last axis, f32, and too little memory have no instance.
  EXPECT_TRUE(tiles(sizes(2, 32, 20, 11)).empty());
  ConvSizes s = sizes(2, 32, 20, 7);
  EXPECT_TRUE(tiles(s, f32).empty());
  EXPECT_TRUE(tiles(s, bf16, 40 << 10).empty());
  s.dilation = {1, 2};
  EXPECT_TRUE(tiles(s).empty());
  s = sizes(2, 32, 20, 3), s.dilation = {1, 4};
  EXPECT_FALSE(tiles(s).empty());
  s.stride = {1, 2};
  EXPECT_TRUE(tiles(s).empty());
}

TEST_F(DepthwiseTiles, AreOnTensorCoresWhereTheModelSaysSo) {
  for (const auto& [channels, size] : {std::pair{192, 56}, {384, 28}, {768, 14}}) {
    EXPECT_TRUE(by_cores(sizes(64, channels, size, 7))) << size;
    EXPECT_FALSE(by_cores(sizes(64, channels, size, 3))) << size;
  }
  EXPECT_TRUE(by_cores(sizes(64, 192, 56, 7), 80));
  EXPECT_FALSE(by_cores(sizes(64, 192, 56, 7), 89));  // nothing is known of those
}

}  // namespace
}  // namespace tern::test

#endif
