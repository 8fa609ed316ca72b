// Convolutions on real CUDA GPUs whose channels are as many as the kernels of the matrix units take (compute capability
// 9.0; others do the same by products), and channels by themselves, against the CPU in f64.
#include <cmath>

#include "every_device/runtime/cuda_devices.hpp"

namespace tern::test {
namespace {

struct ConvolutionCase {
  Shape x, w;
  ConvOptions options;
};
template <class X, class W> auto convolved(const X& x, const W& w, const ConvOptions& options) {
  if (x.dim() == 5) return conv3d(x, w, {}, options);
  return x.dim() == 4 ? conv2d(x, w, {}, options) : conv1d(x, w, {}, options);
}
Tensor with_channels_last(const Tensor& x) {
  Axes last{0}, second{0, x.dim() - 1};
  for (int i = 2; i < x.dim(); ++i) last.push_back(i), second.push_back(i - 1);
  last.push_back(1);
  return x.permute(last).contiguous().permute(second);
}

const ConvolutionCase kCases[] = {
    {{2, 64, 9, 10}, {64, 64, 3, 3}, {.padding = 1}},
    {{1, 128, 7, 7}, {72, 128, 3, 3}, {.padding = 1}},  // one tile, columns that are no whole box
    {{3, 192, 6, 5}, {200, 192, 3, 3}, {.padding = {2, 0}}},
    // Tiles of 96 columns; the last step of a tap begins earlier by 32, 48 and 16 channels, or (72) has zeros.
    {{5, 96, 9, 10}, {96, 96, 3, 3}, {.padding = 1}},
    {{2, 80, 9, 10}, {88, 80, 3, 3}, {.padding = 1}},
    {{1, 176, 7, 7}, {72, 176, 3, 2}, {.padding = 1}},
    {{1, 72, 7, 7}, {96, 72, 3, 3}, {.padding = 1}},
    {{2, 96, 8, 9}, {40, 96, 3, 2}, {.stride = 2, .padding = 1, .dilation = {1, 2}}},  // half a step of channels
    {{1, 40, 12, 11}, {136, 40, 1, 1}, {.stride = 2}},
    {{1, 64, 14, 14}, {264, 64, 5, 3}, {.stride = {1, 3}, .padding = {4, 1}, .dilation = {2, 1}}},
    {{33, 64, 4, 4}, {64, 64, 3, 3}, {.padding = 1}},  // many samples in a box
    {{1, 64, 3, 70}, {48, 64, 3, 7}, {.padding = {0, 9}}},
    {{2, 64, 9, 9}, {64, 64, 2, 2}, {.stride = 3}},      // places between that no tap meets
    {{32, 32, 24, 24}, {40, 32, 3, 3}, {.padding = 1}},  // several tiles to a workgroup
    {{4, 64, 37}, {96, 64, 5}, {.stride = 2, .padding = 3}},
    {{2, 64, 4, 5, 6}, {32, 64, 3, 2, 3}, {.padding = {1, 0, 1}}},
    {{2, 32, 5, 4, 6}, {64, 32, 2, 3, 3}, {.stride = {2, 1, 2}, .padding = 1}},
    // Channels by themselves.
    {{3, 40, 9, 10}, {40, 1, 7, 7}, {.padding = 3, .groups = 40}},
    {{9, 64, 14, 14}, {64, 1, 7, 7}, {.padding = 3, .groups = 64}},
    {{2, 72, 31, 37}, {72, 1, 7, 7}, {.padding = {2, 4}, .groups = 72}},
    {{2, 24, 40, 33}, {24, 1, 9, 5}, {.stride = {2, 1}, .padding = {2, 1}, .dilation = {1, 2}, .groups = 24}},
    {{2, 24, 13, 5}, {24, 1, 3, 2}, {.stride = {2, 1}, .padding = {2, 1}, .dilation = {1, 3}, .groups = 24}},
    {{1, 136, 8, 8}, {136, 1, 3, 3}, {.stride = 3, .groups = 136}},
    {{5, 72, 33}, {72, 1, 5}, {.stride = 2, .padding = 3, .dilation = 2, .groups = 72}},
};

class CudaConvolutions : public EveryDevice {
 protected:
  /// Values of the dtype in f64.
  Tensor random(const Shape& shape) {
    return (rand(shape, dice_, {.dtype = f64, .device = cpu()}) * 2 - 1).to(dtype_).to(f64);
  }
  Tensor there(const Tensor& exact, bool last) {
    const Tensor t = exact.to(dtype_).to(device());
    return last ? with_channels_last(t) : t;
  }
  /// A sum of so many terms, whose sizes add up to `sizes`, in f32 and rounded to the dtype. (The matrix units cut off
  /// what f32 has no place for, which loses twice what rounding does.)
  void expect(const Tensor& got, const Tensor& want, const Tensor& sizes, double terms, const std::string& what) {
    const double half_unit = std::exp2(dtype_ == bf16 ? -8 : dtype_ == f16 ? -11 : -24), smallest = 1e-7;
    const Tensor bound = abs(want) * half_unit + sizes * (terms * std::exp2(-23)) + smallest;
    ASSERT_EQ(got.shape(), want.shape()) << what;
    ASSERT_EQ(got.dtype(), dtype_) << what;
    const Tensor off = abs(got.to(cpu()).to(f64) - want) / bound;
    EXPECT_LE(max(off).item<double>(), 1) << what << " at " << argmax(off.reshape({-1}), {0}).item<std::int64_t>();
  }
  void check(const ConvolutionCase& c, bool last) {
    const std::string what = to_string(c.x) + " * " + to_string(c.w) + " " + std::string(to_string(dtype_)) +
                             (last ? ", channels last" : "");
    const Var x(random(c.x)), w(random(c.w));
    const Var y = convolved(x, w, c.options);
    const Tensor u = random(y.shape()), v = random(c.x);
    const Gradients want = backward(y, u);
    const Var sizes_x(abs(x.value())), sizes_w(abs(w.value()));
    const Var of_y = convolved(sizes_x, sizes_w, c.options);
    const Gradients sizes = backward(of_y, abs(u));

    const Var gx(there(x.value(), last)), gw(there(w.value(), last)), gu(there(u, last));
    const Var gy = convolved(gx, gw, c.options);
    const auto at = [](const Shape& s, std::size_t i) { return static_cast<double>(s[i]); };
    const double taps = static_cast<double>(c.w.numel()) / at(c.w, 0) / at(c.w, 1), groups = at(c.x, 1) / at(c.w, 1);
    const double places = static_cast<double>(y.shape().numel()) / at(c.w, 0);
    expect(gy.value(), y.value(), of_y.value(), at(c.w, 1) * taps, what + ", result");
    const Gradients got = backward(sum(gy * gu), {.create_graph = true});
    expect(got[gx], want[x], sizes[sizes_x], at(c.w, 0) / groups * taps, what + ", gradient of x");
    expect(got[gw], want[w], sizes[sizes_w], places, what + ", gradient of the weight");
    // The gradient of x is linear in u and w: those of its product with v are maps of v.
    const Var gv(there(v, last));
    const Gradients second = backward(sum(got.var(gx) * gv));
    const Var vx(v), vw(w.value()), size_v(abs(v)), size_w(abs(w.value()));
    const Var vy = convolved(vx, vw, c.options), size_y = convolved(size_v, size_w, c.options);
    const Gradients of_v = backward(vy, u), size_of_v = backward(size_y, abs(u));
    expect(second[gu], vy.value(), size_y.value(), at(c.w, 1) * taps, what + ", second order, u");
    expect(second[gw], of_v[vw], size_of_v[size_w], places, what + ", second order, weight");
  }
  DType dtype_ = bf16;
  Generator dice_{7};
};

TEST_P(CudaConvolutions, AreTheCpusWithTheirGradients) {
  for (const DType dtype : {bf16, f16, f32})
    for (const bool last : {true, false})
      for (const ConvolutionCase& c : kCases)
        if (dtype != f32 || c.w[1] == 1) dtype_ = dtype, check(c, last);  // f32 has kernels for single channels alone
}

TEST_P(CudaConvolutions, ApplyEpilogues) {
  for (const bool last : {true, false})
    for (const ConvolutionCase& c : kCases) {
      if (c.x.rank() != 4) continue;
      const std::string what = to_string(c.x) + " * " + to_string(c.w) + (last ? ", channels last" : "");
      const Tensor x = random(c.x), w = random(c.w), y = conv2d(x, w, {}, c.options);
      const Tensor sizes = conv2d(abs(x), abs(w), {}, c.options);
      const Tensor bias = random({c.w[0], 1, 1}), residual = random(y.shape());
      const double terms = static_cast<double>(c.w.numel()) / static_cast<double>(c.w[0]);
      const auto formula = [](auto sum, auto b, auto r) { return relu(sum + b) * 0.5F + r; };
      const Tensor got = conv2d_epilogue(there(x, last), there(w, last), c.options, formula, there(bias, false),
                                         there(residual, last));
      expect(got, relu(y + bias) * 0.5 + residual, sizes + abs(bias) + abs(residual), terms + 2, what + ", relu");
      // A column of its own for each place, and a result besides, which backward asks for.
      const Var gx(there(x, last)), gw(there(w, last));
      const Tensor by_place = random({y.size(2), y.size(3)});
      const Var scaled = conv2d_epilogue(
          gx, gw, c.options, [](auto sum, auto p) { return relu(sum) * p; }, there(by_place, false));
      expect(scaled.value(), relu(y) * by_place, sizes, terms + 2, what + ", by place");
      const auto counted = [](auto sum) { return sum + cast(index(sum, 2) * 8 + index(sum, 3), bf16); };
      Tensor places = zeros(y.shape(), {.dtype = f64, .device = cpu()});
      const Options here{.dtype = f64, .device = cpu()};
      places += arange(0, y.size(2), 1, here).reshape({-1, 1}) * 8 + arange(0, y.size(3), 1, here);
      places = places.to(bf16).to(f64);  // as the formula casts them: odd ones from 257 on are rounded
      expect(conv2d_epilogue(there(x, last), there(w, last), c.options, counted), y + places, sizes + places, terms + 2,
             what + ", counted");
    }
}

TEST_P(CudaConvolutions, HaveTransposes) {
  for (const bool last : {true, false}) {
    const Tensor x = random({2, 64, 5, 6}), w = random({64, 40, 3, 4}), bias = random({40});
    const ConvTransposeOptions options{.stride = {2, 3}, .padding = 1, .output_padding = {1, 2}};
    const Tensor want = conv_transpose2d(x, w, bias, options);
    const Tensor sizes = conv_transpose2d(abs(x), abs(w), abs(bias), options);
    expect(conv_transpose2d(there(x, last), there(w, last), there(bias, false), options), want, sizes, 64 * 12 + 1,
           last ? "channels last" : "channels second");
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CudaConvolutions);
INSTANTIATE_TEST_SUITE_P(Devices, CudaConvolutions, testing::ValuesIn(cuda_devices()), device_name);

}  // namespace
}  // namespace tern::test
