// Convolutions of sizes that the entries do not have: several vectors of channels, panels, stretches and phases,
// against plain loops in double, with their gradients and an epilogue's.
#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class Convolutions : public EveryDevice {};
TERN_EVERY_DEVICE(Convolutions);

struct ConvolutionSizes {
  std::int64_t n, groups, c, o, in[2], kernel[2], stride[2], dilation[2], before[2];
  std::int64_t out(int i) const { return (in[i] + 2 * before[i] - dilation[i] * (kernel[i] - 1) - 1) / stride[i] + 1; }
  Shape of_x() const { return {n, groups * c, in[0], in[1]}; }
  Shape of_w() const { return {groups * o, c, kernel[0], kernel[1]}; }
  Shape of_y() const { return {n, groups * o, out(0), out(1)}; }
  ConvOptions options() const {
    return {.stride = {stride[0], stride[1]},
            .padding = {before[0], before[1]},
            .dilation = {dilation[0], dilation[1]},
            .groups = groups};
  }
  /// f(element of x, of w, of y) where they meet.
  template <class F> void each(F f) const {
    for (std::int64_t y = 0; y < of_y().numel(); ++y) {
      const std::int64_t column = y % out(1), row = y / out(1) % out(0), channel = y / out(1) / out(0) % (groups * o);
      const std::int64_t sample = y / out(1) / out(0) / (groups * o), group = channel / o;
      for (std::int64_t k = 0; k < c * kernel[0] * kernel[1]; ++k) {
        const std::int64_t kx = k % kernel[1], ky = k / kernel[1] % kernel[0], ch = k / kernel[1] / kernel[0];
        const std::int64_t at_x = column * stride[1] + kx * dilation[1] - before[1];
        const std::int64_t at_y = row * stride[0] + ky * dilation[0] - before[0];
        if (at_x < 0 || at_y < 0 || at_x >= in[1] || at_y >= in[0]) continue;
        f(static_cast<std::size_t>(((sample * groups * c + group * c + ch) * in[0] + at_y) * in[1] + at_x),
          static_cast<std::size_t>(channel * c * kernel[0] * kernel[1] + k), static_cast<std::size_t>(y));
      }
    }
  }
};

/// A sum of products and of their sizes, which bounds its error.
struct Sum {
  double value = 0, size = 0;
  double rounded = 0;  // of what was rounded to the dtype on the way
  void add(double product) { value += product, size += std::abs(product); }
};
void expect_sums(const Tensor& got, const std::vector<Sum>& want, DType dtype, const std::string& what) {
  const std::vector<double> x = doubles(got);
  ASSERT_EQ(x.size(), want.size()) << what;
  const double of_result = dtype == bf16 ? 0x1p-8 : dtype == f16 ? 0x1p-10 : 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_NEAR(
        x[i], want[i].value,
        32 * work_epsilon(dtype) * want[i].size + of_result * (std::abs(want[i].value) + want[i].rounded) + 1e-6)
        << what << " at " << i;
}
Tensor channels_last(const Tensor& x) { return x.permute({0, 2, 3, 1}).contiguous().permute({0, 3, 1, 2}); }

void compare_convolutions(const ConvolutionSizes& s, DType dtype, bool last, Device device, const std::string& what) {
  Random random(11);
  const auto make = [&](const Shape& shape) {
    const Tensor t = random.tensor(shape, dtype, device);
    return last ? channels_last(t) : t;
  };
  const Tensor x = make(s.of_x()), w = make(s.of_w()), u = make(s.of_y());
  const auto xs = doubles(x), ws = doubles(w), us = doubles(u);
  std::vector<Sum> y(us.size()), dx(xs.size()), dw(ws.size());
  s.each([&](std::size_t i, std::size_t k, std::size_t j) {
    y[j].add(xs[i] * ws[k]), dx[i].add(us[j] * ws[k]), dw[k].add(xs[i] * us[j]);
  });
  const Var image(x), kernel(w);
  const Var result = conv2d(image, kernel, {}, s.options());
  expect_sums(result.value(), y, dtype, what + ", result");
  const Gradients g = backward(result, u);
  expect_sums(g[image], dx, dtype, what + ", gradient of x");
  expect_sums(g[kernel], dw, dtype, what + ", gradient of the weight");

  // The slope of the formula is 1 for one half of the channels and 0.5 for the other.
  std::vector<float> factors;
  for (std::int64_t i = 0; i < s.groups * s.o; ++i) factors.push_back(i % 2 ? 0.5F : 1.0F);
  const Tensor factor = tensor(factors, device).reshape({s.groups * s.o, 1, 1}).to(dtype);
  const auto formula = [](auto sum, auto by, auto more) { return sum * by + more; };
  const Var added(make(s.of_y()));
  const Var with = conv2d_epilogue(image, kernel, s.options(), formula, factor, added);
  const auto as = doubles(added.value());
  const auto plane = static_cast<std::size_t>(s.out(0) * s.out(1)), channels = factors.size();
  const auto factor_of = [&](std::size_t j) { return static_cast<double>(factors[j / plane % channels]); };
  // GPUs sum channels by themselves before the formula: so they are rounded before it.
  const bool apart = device != cpu() && s.c == 1 && s.o == 1;
  std::vector<Sum> want(y), of_x(xs.size());
  for (std::size_t j = 0; j < y.size(); ++j) {
    want[j].value = y[j].value * factor_of(j), want[j].rounded = apart ? std::abs(want[j].value) : 0;
    want[j].add(as[j]);
  }
  s.each([&](std::size_t i, std::size_t k, std::size_t j) { of_x[i].add(us[j] * factor_of(j) * ws[k]); });
  expect_sums(with.value(), want, dtype, what + ", epilogue");
  const Gradients slopes = backward(with, u);
  expect_sums(slopes[image], of_x, dtype, what + ", gradient of x with an epilogue");
  EXPECT_EQ(doubles(slopes[added]), us) << what;
}

// samples, groups, channels of x and of the result in a group; sizes, kernel, stride, dilation, padding
constexpr ConvolutionSizes kConvolutionSizes[] = {
    {2, 70, 1, 1, {11, 30}, {7, 7}, {1, 1}, {1, 1}, {3, 3}},   // each channel by itself, several vectors of them
    {1, 17, 1, 1, {9, 130}, {3, 3}, {2, 3}, {2, 1}, {1, 4}},   // stretches, phases, more zeros than are needed
    {1, 5, 1, 1, {8, 8}, {1, 2}, {3, 3}, {1, 1}, {0, 0}},      // places that no element of the kernel meets
    {2, 1, 33, 70, {7, 15}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},   // panels of results
    {1, 1, 16, 32, {9, 40}, {3, 5}, {2, 2}, {1, 1}, {9, 1}},   // rows that meet nothing; pairs of channels, places
    {1, 3, 16, 17, {10, 12}, {2, 3}, {3, 2}, {2, 3}, {1, 2}},  // groups
    {2, 1, 3, 16, {16, 18}, {7, 7}, {2, 2}, {1, 1}, {3, 3}},   // a first layer
    {1, 1, 20, 24, {9, 9}, {1, 1}, {2, 2}, {1, 1}, {0, 0}},    // one element, some places
    {2, 1, 3, 20, {9, 66}, {3, 7}, {2, 2}, {1, 1}, {1, 3}},    // long rows of few channels: rows of elements together
    {1, 1, 9, 5, {6, 40}, {2, 3}, {1, 1}, {1, 2}, {0, 2}},     // the same, but elements lie apart
    {0, 1, 3, 4, {5, 5}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},      // no samples
    {5, 3, 3, 2, {4, 9}, {2, 3}, {2, 3}, {1, 1}, {0, 0}},      // windows side by side
    {1, 1, 20, 33, {6, 4}, {3, 1}, {3, 1}, {1, 1}, {0, 0}},    // the same, many channels
    {70, 2, 2, 3, {2, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},     // small images, several at a time
    // Each channel by itself, whole vectors of them: read where they lie, two rows at a time, or kept (many elements).
    {2, 48, 1, 1, {9, 20}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {1, 32, 1, 1, {11, 33}, {3, 3}, {2, 2}, {1, 1}, {1, 1}},
    {1, 16, 1, 1, {6, 17}, {2, 5}, {1, 3}, {2, 1}, {2, 4}},
    {3, 16, 1, 1, {5, 1}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {1, 32, 1, 1, {9, 31}, {5, 5}, {1, 1}, {2, 2}, {4, 4}},   // every second place meets neighbouring elements
    {1, 19, 1, 1, {7, 29}, {9, 9}, {1, 2}, {2, 3}, {8, 12}},  // more elements than a run has
    {3, 24, 1, 1, {9, 130}, {5, 5}, {2, 1}, {1, 2}, {2, 4}},  // rows in two stretches, of vectors that are put together
    // Around what GPUs have a kernel for: elements in registers, steps, pairs of channels in 16 bits, strips cut short.
    {1, 6, 1, 1, {15, 17}, {8, 8}, {1, 1}, {1, 1}, {4, 3}},
    {1, 6, 1, 1, {9, 17}, {5, 13}, {1, 1}, {1, 1}, {2, 6}},
    {2, 34, 1, 1, {19, 23}, {3, 2}, {3, 3}, {1, 3}, {1, 4}},
    {2, 34, 1, 1, {19, 23}, {3, 2}, {3, 3}, {3, 1}, {1, 0}},
    {1, 2, 1, 1, {19, 23}, {3, 3}, {4, 1}, {1, 4}, {1, 1}},
    {1, 7, 1, 1, {13, 11}, {3, 3}, {1, 1}, {1, 1}, {0, 2}},
    // Few channels: elements along the last axis in one line with them, phases of a stride as channels of one result.
    {1, 1, 2, 5, {8, 9}, {3, 4}, {2, 3}, {1, 1}, {2, 0}},
    {1, 1, 2, 5, {8, 10}, {3, 4}, {2, 2}, {2, 1}, {2, 3}},
    {2, 1, 1, 4, {6, 9}, {1, 2}, {3, 3}, {1, 1}, {0, 0}},
    {2, 1, 3, 9, {7, 9}, {2, 5}, {1, 1}, {2, 1}, {1, 2}},
    // Elements so far apart that most of the kernel meets padding alone, as it lies and between places of a stride.
    {1, 1, 3, 4, {9, 9}, {3, 3}, {1, 1}, {20000, 4}, {20000, 4}},
    {2, 6, 1, 1, {9, 9}, {3, 3}, {1, 1}, {20000, 20000}, {20000, 20000}},
    {1, 2, 2, 3, {9, 8}, {3, 3}, {2, 3}, {20000, 2}, {20000, 1}},
    {1, 1, 2, 3, {9, 9}, {2, 3}, {1, 1}, {20000, 1}, {10000, 1}},  // none of it meets the image
};

TEST_P(Convolutions, AreThePlainLoops) {
  int turn = -1;
  for (const ConvolutionSizes& s : kConvolutionSizes) {
    ++turn;
    for (const DType dtype : dtypes_of(device(), {f32, bf16, f16}))
      for (const bool last : {false, true}) {
        // In software f32 for every other size, and f16 with the channels last for the others.
        if (in_software(device()) && (dtype == bf16 || last != (dtype == f16) || last != (turn % 2 == 1))) continue;
        if (left_out(device(), 2)) continue;
        compare_convolutions(s, dtype, last, device(),
                             to_string(s.of_x()) + " * " + to_string(s.of_w()) + " " + std::string(to_string(dtype)) +
                                 (last ? ", channels last" : ""));
      }
  }
}
/// More groups than four for each thread, of few places: tasks have several images together, if there are as many.
TEST_P(Convolutions, OfManyGroupsByAnyNumberOfThreads) {
  if (device() != cpu()) return;
  const int before = num_threads();
  for (const int threads : {1, 2, 3, 8}) {
    set_num_threads(threads);
    for (const ConvolutionSizes& s : {ConvolutionSizes{1, 32, 2, 2, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
                                      ConvolutionSizes{5, 40, 2, 2, {7, 7}, {7, 7}, {1, 2}, {1, 1}, {3, 1}},
                                      ConvolutionSizes{3, 16, 1, 2, {1, 3}, {1, 1}, {1, 1}, {1, 1}, {0, 0}},
                                      ConvolutionSizes{7, 9, 3, 1, {2, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}}})
      for (const DType dtype : {f32, bf16})
        compare_convolutions(s, dtype, false, device(), to_string(s.of_x()) + " by " + std::to_string(threads));
  }
  set_num_threads(before);
}
/// Around how many the CPU sums by vectors of channels: 1 to 4 results, and channels that fill vectors and do not.
TEST_P(Convolutions, OfFewResults) {
  if (device() != cpu()) return;
  for (const DType dtype : {f32, f64, f16})
    for (std::int64_t i = 0; i < 12; ++i)
      compare_convolutions({2, 1, 8 + i / 4 * 4, i % 4 + 1, {5, 11}, {3, 3}, {1, 1}, {1, i % 2 + 1}, {1, 2}}, dtype,
                           true, device(), std::to_string(i) + " " + std::string(to_string(dtype)));
}
/// Places of the first of three axes that meet padding alone, in rows that do not fill calls.
TEST_P(Convolutions, OfPaddingAlone) {
  Random random(4);
  const Tensor x = random.tensor({1, 3, 1, 5, 7}, f32, device()), w = random.tensor({20, 3, 2, 3, 3}, f32, device());
  const Tensor y = conv3d(x, w, {}, {.padding = {3, 1, 1}});
  const std::vector<double> nothing(static_cast<std::size_t>(20 * 5 * 7), 0.0);
  for (const std::int64_t z : {0, 1, 4, 5}) ASSERT_EQ(doubles(y.slice(2, z, z + 1)), nothing) << z;
  for (const std::int64_t z : {2, 3}) {
    const Tensor alone = conv2d(x.slice(2, 0, 1).squeeze(2), w.slice(2, 3 - z, 4 - z).squeeze(2), {}, {.padding = 1});
    ASSERT_EQ(doubles(y.slice(2, z, z + 1).squeeze(2)), doubles(alone)) << z;
  }
}
/// Beside one channel more, for which rows are copied: the same bits. Padding of all widths, and none.
TEST_P(Convolutions, OfChannelsByThemselvesWhereTheyLie) {
  if (device() != cpu()) return;
  Random random(3);
  for (const DType dtype : {f32, f64, f16, bf16})
    for (const std::int64_t width : {1, 2, 7, 8, 14, 15, 29, 43})
      for (const std::int64_t stride : {1, 2, 3})
        for (const std::int64_t kernel : {1, 2, 3, 4}) {
          const ConvOptions by{.stride = stride, .padding = {1, width % 3 + kernel - 1}, .groups = 48}, more = [&] {
            ConvOptions all = by;
            all.groups = 49;
            return all;
          }();
          // Rows for the calls of several rows below each other, too, which 16 registers have.
          const std::int64_t height = width % 2 == 0 ? 5 : 17;
          const Tensor x = channels_last(random.tensor({2, 49, height, width}, dtype, device()));
          const Tensor w = random.tensor({49, 1, 3, kernel}, dtype, device());
          const Tensor some = channels_last(x.slice(1, 0, 48));
          const Tensor u = random.tensor(conv2d(x, w, {}, more).shape(), dtype, device());
          const Var image(some), kernels(w.slice(0, 0, 48)), all(x), all_kernels(w);
          const Var y = conv2d(image, kernels, {}, by), want = conv2d(all, all_kernels, {}, more);
          const std::string what = std::string(to_string(dtype)) + " " + std::to_string(width) + " by " +
                                   std::to_string(kernel) + ", stride " + std::to_string(stride);
          ASSERT_EQ(doubles(y.value()), doubles(want.value().slice(1, 0, 48))) << what;
          const Gradients got = backward(y, u.slice(1, 0, 48)), of = backward(want, u);
          ASSERT_EQ(doubles(got[image]), doubles(of[all].slice(1, 0, 48))) << what;
        }
}
/// Transposes whose blocks lie side by side, over 1 to 3 axes, as parts of larger ones, whose last places are dropped:
/// of channels in any order in memory, every other element of a line, with a bias and a NaN, which stays in its block.
TEST_P(Convolutions, TransposedToBlocks) {
  const auto wholes = [](const Shape& shape) {
    return (arange(shape.numel(), f32) * 7 % 11).reshape(shape) - 5;
  };
  const auto compare = [&](auto transpose, const Shape& sizes, const Shape& kernel, std::int64_t groups, DType dtype) {
    Shape of_x{41, groups * 2}, of_w{groups * 2, 3};
    for (const std::int64_t size : sizes) of_x.push_back(size);
    for (const std::int64_t size : kernel) of_w.push_back(size);
    of_x[static_cast<std::size_t>(sizes.rank()) + 1] *= 2;
    const Tensor all = wholes(of_x), bias = wholes({3 * groups}).to(device()).to(dtype);
    const Tensor found = where(arange(of_x.numel(), f32).reshape(of_x) == 14.0, full({}, NAN), all);
    const Tensor w = wholes(of_w).to(device()).to(dtype), x = found.to(device()).to(dtype);
    const auto check = [&](const Tensor& image) {
      ConvTransposeOptions options{.groups = groups}, larger{.output_padding = 1, .groups = groups};
      options.stride = larger.stride = PerAxis(kernel);
      const Tensor got = transpose(image, w, bias, options);
      Tensor want = transpose(image, w, bias, larger);
      for (int i = 2; i < want.dim(); ++i) want = want.slice(i, 0, -1);
      ASSERT_EQ(got.shape(), want.shape());
      const std::vector<double> is = doubles(got), should_be = doubles(want);
      for (std::size_t i = 0; i < is.size(); ++i)
        ASSERT_TRUE(is[i] == should_be[i] || (std::isnan(is[i]) && std::isnan(should_be[i])))
            << to_string(of_x) << " " << to_string(dtype) << " at " << i << ": " << is[i] << ", " << should_be[i];
    };
    const Tensor part = x.slice(-1, {}, {}, 2);
    check(part), check(part.contiguous()), check(part.transpose(0, 1).contiguous().transpose(0, 1));
  };
  for (const DType dtype : dtypes_of(device(), {f32, f64, bf16, f16}))
    for (const std::int64_t groups : {1, 2}) {
      const auto line = [](const auto&... of) { return conv_transpose1d(of...); };
      const auto image = [](const auto&... of) { return conv_transpose2d(of...); };
      const auto volume = [](const auto&... of) { return conv_transpose3d(of...); };
      compare(line, {5}, {3}, groups, dtype);
      compare(image, {3, 4}, {2, 3}, groups, dtype);
      compare(volume, {2, 1, 3}, {3, 2, 2}, groups, dtype);
    }
}
/// As many places as the larger tiles of GPUs are for.
TEST_P(Convolutions, InLargerTiles) {
  if (device() == cpu() || in_software(device())) GTEST_SKIP() << "no larger tiles";
  for (const DType dtype : dtypes_of(device(), {f32, f16}))
    for (const ConvolutionSizes& s : {ConvolutionSizes{4, 1, 16, 40, {64, 63}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
                                      ConvolutionSizes{4, 1, 16, 96, {64, 63}, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
                                      ConvolutionSizes{3, 1, 3, 40, {128, 126}, {7, 7}, {2, 2}, {1, 1}, {3, 3}},
                                      ConvolutionSizes{4, 2, 5, 65, {64, 63}, {2, 3}, {1, 1}, {1, 2}, {1, 1}}})
      compare_convolutions(s, dtype, true, device(), to_string(s.of_w()));
}
/// As many places as tiles of few columns are for: the gradient of an image of three channels.
TEST_P(Convolutions, OfManyPlacesByFewColumns) {
  if (device() == cpu()) GTEST_SKIP() << "no such tiles";
  for (const DType dtype : dtypes_of(device(), {f32, f16}))
    compare_convolutions({1, 1, 3, 8, {256, 258}, {3, 3}, {2, 2}, {1, 1}, {1, 1}}, dtype, true, device(), "256x258");
}
/// Places of the image that no result meets, beside those that the last ones do: neither NaN there nor an infinite
/// gradient of a result that is not there comes into a sum.
TEST_P(Convolutions, OfChannelsByThemselvesReadNothingBehindTheLast) {
  Random random(7);
  for (const DType dtype : dtypes_of(device(), {f32, f16}))
    for (const std::int64_t out : {11, 13}) {
      const std::int64_t in = 2 * out + 2;  // the last element meets nothing
      const Tensor x = random.tensor({2, 4, in, in}, dtype, device()), w = random.tensor({4, 1, 3, 3}, dtype, device());
      const auto outside = [&](double value) {
        Tensor t = x.clone();
        t.slice(2, in - 1).copy_from(full({}, value, {.dtype = dtype, .device = device()}).broadcast_to({2, 4, 1, in}));
        t.slice(3, in - 1).copy_from(full({}, value, {.dtype = dtype, .device = device()}).broadcast_to({2, 4, in, 1}));
        return Var(channels_last(t));
      };
      const Var nan = outside(NAN), zero = outside(0), kernel(w);
      const ConvOptions options{.stride = 2, .groups = 4};
      const Var of_nan = conv2d(nan, kernel, {}, options), of_zero = conv2d(zero, kernel, {}, options);
      ASSERT_EQ(of_nan.shape(), (Shape{2, 4, out, out}));
      EXPECT_EQ(doubles(of_nan.value()), doubles(of_zero.value())) << out;
      const Tensor u = random.tensor({2, 4, out, out}, dtype, device());
      EXPECT_EQ(doubles(backward(of_nan, u)[kernel]), doubles(backward(of_zero, u)[kernel])) << out;
    }
}
/// Images that are parts of larger ones, read backwards, of every other place and of channels from one on.
TEST_P(Convolutions, OfChannelsByThemselvesInViews) {
  Random random(9);
  for (const DType dtype : dtypes_of(device(), {f32, f16})) {
    const Tensor all = channels_last(random.tensor({2, 9, 13, 26}, dtype, device()));
    const Tensor w = random.tensor({6, 1, 3, 3}, dtype, device());
    const ConvOptions options{.padding = 1, .groups = 6};
    for (const std::int64_t first : {0, 1, 2})
      for (const std::int64_t step : {-1, -2, 1, 2}) {
        const Tensor part = all.slice(1, first, first + 6).slice(3, {}, {}, step).slice(2, {}, {}, -1);
        const Tensor u = random.tensor(part.shape(), dtype, device());
        const Var view(part), copy(part.clone()), of_view(w), of_copy(w);
        const Var got = conv2d(view, of_view, {}, options), want = conv2d(copy, of_copy, {}, options);
        EXPECT_EQ(doubles(got.value()), doubles(want.value())) << first << " by " << step;
        EXPECT_EQ(doubles(backward(got, u)[of_view]), doubles(backward(want, u)[of_copy])) << first << " by " << step;
      }
  }
}
TEST_P(Convolutions, CountPositionsInTheirEpilogue) {
  const Tensor x = ones({1, 4, 5, 6}, {.device = device()}), w = zeros({3, 4, 2, 2}, {.device = device()});
  const auto place = [](auto sum) {
    return sum + cast(index(sum, 1) * 100 + index(sum, 2) * 10 + index(sum, -1), f32);
  };
  const Tensor y = conv2d_epilogue(x, w, {.stride = 2}, place);
  const std::vector<double> got = doubles(y);
  ASSERT_EQ(y.shape(), (Shape{1, 3, 2, 3}));
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_EQ(got[i], static_cast<double>(i / 6 * 100 + i / 3 % 2 * 10 + i % 3)) << i;
  const Var image(x), kernel(w);
  EXPECT_EQ(doubles(conv2d_epilogue(image, kernel, {.stride = 2}, place).value()), got);
}
/// A cotangent that is a part of what has NaN behind it.
TEST_P(Convolutions, GradientsReadNothingBehindTheCotangent) {
  std::vector<float> values(32, 0.5F);
  for (std::size_t row = 0; row < 4; ++row) values[8 * row + 7] = NAN;
  const Tensor whole = tensor(values, {1, 4, 8}).to(device());
  Random random(5);
  const Var x(random.tensor({1, 3, 9}, f32, device())), w(random.tensor({4, 3, 3}, f32, device()));
  const Gradients part = backward(conv1d(x, w), whole.slice(2, 0, 7)),
                  plain = backward(conv1d(x, w), full({1, 4, 7}, 0.5));
  for (const Var& of : {x, w}) {
    const std::vector<double> got = doubles(part[of]), want = doubles(plain[of]);
    for (std::size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-5) << i;
  }
}
/// The axes of one element of x may have any stride, as a mean over them leaves it. Beside each image alone.
TEST_P(Convolutions, OfImagesOfOneElement) {
  const auto compare = [&](const auto& convolve, const Tensor& x, const Tensor& w, const std::string& what) {
    const Var all(x), of_all(w);
    const Var y = convolve(all, of_all);
    const Gradients whole = backward(sum(square(y)));
    for (std::int64_t i = 0; i < x.size(0); ++i) {
      const Var image(x.slice(0, i, i + 1).clone());
      const Var alone = convolve(image, of_all);
      const Gradients part = backward(sum(square(alone)));
      EXPECT_EQ(doubles(y.value().slice(0, i, i + 1)), doubles(alone.value())) << what << ", image " << i;
      EXPECT_EQ(doubles(whole[all].slice(0, i, i + 1)), doubles(part[image])) << what << ", gradient " << i;
    }
  };
  const auto wholes = [](const Shape& shape) {
    return (arange(shape.numel(), f32) * 7 % 11).reshape(shape) - 5;
  };
  for (const std::int64_t o : {1, 3})
    for (const std::int64_t kernel : {1, 3}) {
      const ConvOptions same{.padding = {kernel / 2}};
      const std::string what = std::to_string(o) + " channels, kernel " + std::to_string(kernel);
      const Tensor line = wholes({4, 5, 1}), image = wholes({4, 5, 1, 1}), solid = wholes({4, 5, 1, 1, 1});
      const Tensor w = wholes({o, 5, kernel}), w2 = wholes({o, 5, kernel, kernel});
      const auto convolve2 = [&](const Var& x, const Var& weight) { return conv2d(x, weight, {}, same); };
      compare([&](const Var& x, const Var& weight) { return conv1d(x, weight, {}, same); }, line, w, what);
      compare(convolve2, image, w2, what + ", 2 axes");
      compare(convolve2, mean(wholes({4, 5, 2, 2}) * 4, {2, 3}, true), w2, what + ", a mean");
      compare([&](const Var& x, const Var& weight) { return conv3d(x, weight, {}, same); }, solid,
              wholes({o, 5, kernel, kernel, kernel}), what + ", 3 axes");
      const ConvTransposeOptions back{.padding = {kernel / 2}};
      compare([&](const Var& x, const Var& weight) { return conv_transpose2d(x, weight, {}, back); }, image,
              w2.transpose(0, 1), what + ", transposed");
    }
  const Tensor turned = tensor({5.f, 6.f}).reshape({1, 1, 1, 2}).mT();
  EXPECT_EQ(doubles(conv2d(turned, ones({1, 1, 1, 1}))), (std::vector<double>{5, 6}));
}
/// Also where only the declared derivative of a declared derivative has them.
TEST_P(Convolutions, CountPositionsInSecondDerivatives) {
  static const Pointwise slope(
      "slope", [](auto v) { return v * 1.5F; }, [](auto v) { return cast(index(v, 1) + 1, f32); });
  static const Pointwise bent(
      "bent", [](auto v) { return v * 3; }, [](auto v) { return slope(v); });
  Random random(3);
  const Var x(random.tensor({1, 4, 5, 6}, f32, device())), w(random.tensor({4, 4, 2, 2}, f32, device()));
  const auto second = [&](const Var& y) {
    const Gradients first = backward(sum(y), {.create_graph = true});
    return backward(sum(square(first.var(x))))[x];
  };
  const std::vector<double> got = doubles(second(conv2d_epilogue(x, w, {}, bent))),
                            want = doubles(second(bent(conv2d(x, w))));
  // Sums of 16 products of sums of 16, each in another order, of slopes up to 4·1.5.
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 256 * 36 * work_epsilon(f32)) << i;
}

}  // namespace
}  // namespace tern::test
