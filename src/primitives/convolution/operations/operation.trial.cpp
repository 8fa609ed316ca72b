// Entries of convolutions and their transposes (operation.cpp).
#include <array>

#include "ops/entry.hpp"

namespace tern::operations {
namespace {

using enum ErrorKind;

/// One convolution in plain loops, its sizes filled up to three axes with ones.
struct ConvolutionLoops {
  using Three = std::array<std::int64_t, 3>;
  int axes = 2;
  Three stride{1, 1, 1}, before{}, dilation{1, 1, 1}, more{};
  std::int64_t groups = 1;
  bool same = false;

  /// The sizes behind the first two axes, with ones before them.
  Three sizes(const Shape& shape) const {
    Three of{1, 1, 1};
    for (int i = 0; i < axes; ++i) of[static_cast<std::size_t>(3 - axes + i)] = shape[static_cast<std::size_t>(2 + i)];
    return of;
  }
  Shape shaped(std::int64_t n, std::int64_t channels, const Three& of) const {
    Shape shape{n, channels};
    for (int i = 0; i < axes; ++i) shape.push_back(of[static_cast<std::size_t>(3 - axes + i)]);
    return shape;
  }
  /// f(places in the larger image, in the smaller, in the kernel) where they meet.
  template <class F> void places(const Three& large, const Three& small, const Three& kernel, F f) const {
    const auto flat = [](const Three& at, const Three& of) { return (at[0] * of[1] + at[1]) * of[2] + at[2]; };
    const auto each = [](const Three& of, auto g) {
      Three at{};
      for (at[0] = 0; at[0] < of[0]; ++at[0])
        for (at[1] = 0; at[1] < of[1]; ++at[1])
          for (at[2] = 0; at[2] < of[2]; ++at[2]) g(at);
    };
    each(small, [&](const Three& s) {
      each(kernel, [&](const Three& k) {
        Three l{};
        bool inside = true;
        for (std::size_t i = 0; i < 3; ++i) {
          l[i] = s[i] * stride[i] + k[i] * dilation[i] - before[i];
          inside = inside && l[i] >= 0 && l[i] < large[i];
        }
        if (inside)
          f(static_cast<std::size_t>(flat(l, large)), static_cast<std::size_t>(flat(s, small)),
            static_cast<std::size_t>(flat(k, kernel)));
      });
    });
  }
  static std::size_t count(const Three& of) { return static_cast<std::size_t>(of[0] * of[1] * of[2]); }

  std::vector<Values> forward(const std::vector<Values>& x) const {
    const Three large = sizes(x[0].shape), kernel = sizes(x[1].shape);
    Three small{};
    for (std::size_t i = 0; i < 3; ++i)
      small[i] = same ? large[i] : (large[i] + 2 * before[i] - dilation[i] * (kernel[i] - 1) - 1) / stride[i] + 1;
    return run(x, x[0].shape[0], x[1].shape[0], small, large, small, kernel, false);
  }
  std::vector<Values> transposed(const std::vector<Values>& x) const {
    const Three small = sizes(x[0].shape), kernel = sizes(x[1].shape);
    Three large{};
    for (std::size_t i = 0; i < 3; ++i)
      large[i] = (small[i] - 1) * stride[i] + dilation[i] * (kernel[i] - 1) + 1 + more[i] - 2 * before[i];
    return run(x, x[0].shape[0], x[1].shape[1] * groups, large, large, small, kernel, true);
  }

 private:
  std::vector<Values> run(const std::vector<Values>& x, std::int64_t n, std::int64_t channels, const Three& result,
                          const Three& large, const Three& small, const Three& kernel, bool transposed) const {
    const auto samples = static_cast<std::size_t>(n), out = static_cast<std::size_t>(channels),
               in = static_cast<std::size_t>(x[0].shape[1]), g = static_cast<std::size_t>(groups);
    const std::size_t of_x = count(transposed ? small : large), of_y = count(result), of_k = count(kernel);
    Values y{shaped(n, channels, result), std::vector<double>(samples * out * of_y)};
    for (std::size_t s = 0; s < samples; ++s)
      for (std::size_t o = 0; o < out; ++o)
        for (std::size_t c = o / (out / g) * (in / g), end = c + in / g; c < end; ++c) {
          const std::size_t at_x = (s * in + c) * of_x, at_y = (s * out + o) * of_y;
          const std::size_t at_w = (transposed ? c * (out / g) + o % (out / g) : o * (in / g) + c % (in / g)) * of_k;
          places(large, small, kernel, [&](std::size_t l, std::size_t m, std::size_t k) {
            y.of[at_y + (transposed ? l : m)] += x[0].of[at_x + (transposed ? m : l)] * x[1].of[at_w + k];
          });
        }
    if (x.size() > 2)
      for (std::size_t i = 0; i < y.of.size(); ++i) y.of[i] += x[2].of[i / of_y % out];
    return {y};
  }
};

std::vector<Shape> lines(Sizes s) { return {{2, 3, s.rows + 4}, {2, 3, 3}, {2}}; }
std::vector<Shape> images(Sizes s) { return {{s.rows, 2, 5, 4}, {3, 2, 2, 3}, {3}}; }
std::vector<Shape> grouped_channels(Sizes s) { return {{s.rows, 4, 4, 3}, {6, 2, 2, 2}, {6}}; }
std::vector<Shape> by_channel(Sizes s) { return {{s.rows, 3, 4, 3}, {3, 1, 3, 2}}; }
std::vector<Shape> points(Sizes s) { return {{s.rows, 3, 2, 2}, {4, 3, 1, 1}, {4}}; }
std::vector<Shape> volumes(Sizes s) { return {{s.rows, 2, 3, 2, 3}, {2, 2, 2, 1, 2}, {2}}; }
std::vector<Shape> grouped_volumes(Sizes s) { return {{s.rows, 2, 2, 3, 3}, {2, 1, 2, 2, 2}}; }
const std::vector<Sizes> kFewSizes = {{2, 3}, {1, 1}};
const std::vector<Sizes> kNoSample = {{0, 3}};
constexpr Tolerance kConvolved{64, "sums of up to 24 products and a bias"};

Sample with_bias(const char* with, std::vector<Shape> (*shapes)(Sizes), Call call,
                 std::function<std::vector<Values>(const std::vector<Values>&)> reference, bool empty = true) {
  return {.with = with,
          .shapes = shapes,
          .call = std::move(call),
          .reference = std::move(reference),
          .sizes = kFewSizes,
          .empty = empty ? kNoSample : std::vector<Sizes>{}};
}
/// With what it costs: for each result 2 FLOPs for each product, and the bias.
Sample with_cost(Sample sample, std::function<std::int64_t(Sizes)> results, std::int64_t products) {
  sample.kernel_calls = 1, sample.ways_differ = true;
  sample.flops = [results = std::move(results), products](Sizes s) { return results(s) * (2 * products + 1); };
  return sample;
}
std::vector<Values> epilogue_of(const std::vector<Values>& x) {
  Values y = ConvolutionLoops{.before = {0, 1, 1}}.forward({x[0], x[1], x[2]})[0];
  for (std::size_t i = 0; i < y.of.size(); ++i) y.of[i] = y.of[i] / (1 + std::exp(-y.of[i])) + x[3].of[i];
  return {y};
}

const Entries convolutions{
    {.name = "conv1d",
     .family = Family::neural,
     .arguments = "x, weight, bias = {}, options = {}",
     .says = "Σ x[n, c, i·stride + k·dilation - padding]·weight[o, c, k] + bias[o] over c and k: x [N, C, L], weight "
             "[O, C/groups, K], bias [O] or none",
     .tolerance = kConvolved,
     .samples =
         {with_bias(
              "padding and stride", lines,
              [](const auto& x, const auto& w, const auto& b) { return conv1d(x, w, b, {.stride = 2, .padding = 1}); },
              [](const auto& x) {
                return ConvolutionLoops{.axes = 1, .stride = {1, 1, 2}, .before = {0, 0, 1}}.forward(x);
              },
              false),
          with_bias(
              "dilation, the same size", lines,
              [](const auto& x, const auto& w, const auto& b) {
                return conv1d(x, w, b, {.padding = "same", .dilation = 2});
              },
              [](const auto& x) {
                return ConvolutionLoops{.axes = 1, .before = {0, 0, 2}, .dilation = {1, 1, 2}, .same = true}.forward(x);
              },
              false)},
     .bad = {{shape,
              {"conv1d", "x", "[N, 3, W]", "f32[2, 4, 5]"},
              [](auto make) {
                conv1d(make({2, 4, 5}), make({2, 3, 3}));
              }},
             {shape,
              {"conv1d", "weight", "kernel", "f32[2, 4, 7]"},
              [](auto make) {
                conv1d(make({2, 4, 5}), make({2, 4, 7}));
              }}}},
    {.name = "conv2d",
     .family = Family::neural,
     .arguments = "x, weight, bias = {}, options = {}",
     .says = "The same of images: x [N, C, H, W], weight [O, C/groups, kH, kW]",
     .tolerance = kConvolved,
     .samples =
         {with_bias(
              "no padding", images, [](const auto& x, const auto& w, const auto& b) { return conv2d(x, w, b); },
              [](const auto& x) { return ConvolutionLoops{}.forward(x); }),
          with_cost(
              with_bias(
                  "stride, padding and dilation", images,
                  [](const auto& x, const auto& w, const auto& b) {
                    return conv2d(x, w, b, {.stride = {2, 1}, .padding = {1, 2}, .dilation = {2, 2}});
                  },
                  [](const auto& x) {
                    return ConvolutionLoops{.stride = {1, 2, 1}, .before = {0, 1, 2}, .dilation = {1, 2, 2}}.forward(x);
                  }),
              [](Sizes s) { return s.rows * 3 * 3 * 4; }, 2 * 2 * 3),
          with_bias(
              "groups", grouped_channels,
              [](const auto& x, const auto& w, const auto& b) { return conv2d(x, w, b, {.padding = 1, .groups = 2}); },
              [](const auto& x) {
                return ConvolutionLoops{.before = {0, 1, 1}, .groups = 2}.forward(x);
              }),
          with_bias(
              "each channel by itself", by_channel,
              [](const auto& x, const auto& w) { return conv2d(x, w, {}, {.stride = 2, .padding = 1, .groups = 3}); },
              [](const auto& x) {
                return ConvolutionLoops{.stride = {1, 2, 2}, .before = {0, 1, 1}, .groups = 3}.forward(x);
              }),
          with_bias(
              "a kernel of one element", points,
              [](const auto& x, const auto& w, const auto& b) { return conv2d(x, w, b); },
              [](const auto& x) { return ConvolutionLoops{}.forward(x); })},
     .bad = {{shape,
              {"conv2d", "x", "[N, 6, H, W]", "groups 2", "f32[1, 4, 5, 5]"},
              [](auto make) {
                conv2d(make({1, 4, 5, 5}), make({2, 3, 3, 3}), {}, {.groups = 2});
              }},
             {shape,
              {"conv2d", "groups", "divisor", "f32[3, 2, 3, 3]", "2"},
              [](auto make) {
                conv2d(make({1, 4, 5, 5}), make({3, 2, 3, 3}), {}, {.groups = 2});
              }},
             {shape,
              {"conv2d", "weight", "padded size, 2", "3"},
              [](auto make) {
                conv2d(make({1, 1, 2, 5}), make({1, 1, 3, 3}));
              }},
             {shape,
              {"conv2d", "stride", "1 or more", "[0]"},
              [](auto make) {
                conv2d(make({1, 1, 5, 5}), make({1, 1, 3, 3}), {}, {.stride = 0});
              }},
             {shape,
              {"conv2d", "padding", "0 or more", "[-1]"},
              [](auto make) {
                conv2d(make({1, 1, 5, 5}), make({1, 1, 3, 3}), {}, {.padding = -1});
              }},
             {shape,
              {"conv2d", "dilation", "one number or 2", "[1, 1, 1]"},
              [](auto make) {
                conv2d(make({1, 1, 5, 5}), make({1, 1, 3, 3}), {}, {.dilation = {1, 1, 1}});
              }},
             {shape,
              {"conv2d", "stride", "same"},
              [](auto make) {
                conv2d(make({1, 1, 5, 5}), make({1, 1, 3, 3}), {}, {.stride = 2, .padding = "same"});
              }},
             {value,
              {"padding", "half"},
              [](auto make) {
                conv2d(make({1, 1, 5, 5}), make({1, 1, 3, 3}), {}, {.padding = "half"});
              }},
             {shape,
              {"conv2d", "bias", "[2]", "f32[3]"},
              [](auto make) {
                conv2d(make({1, 1, 5, 5}), make({2, 1, 3, 3}), make({3}));
              }},
             {dtype,
              {"conv2d", "x", "floating"},
              [](auto make) {
                conv2d(make({1, 1, 5, 5}, i32), make({2, 1, 3, 3}));
              }}}},
    {.name = "conv3d",
     .family = Family::neural,
     .arguments = "x, weight, bias = {}, options = {}",
     .says = "The same of volumes: x [N, C, D, H, W], weight [O, C/groups, kD, kH, kW]",
     .tolerance = kConvolved,
     .samples = {with_bias(
                     "padding", volumes,
                     [](const auto& x, const auto& w, const auto& b) {
                       return conv3d(x, w, b, {.stride = {2, 1, 1}, .padding = {1, 0, 1}});
                     },
                     [](const auto& x) {
                       return ConvolutionLoops{.axes = 3, .stride = {2, 1, 1}, .before = {1, 0, 1}}.forward(x);
                     }),
                 with_bias(
                     "groups", grouped_volumes,
                     [](const auto& x, const auto& w) { return conv3d(x, w, {}, {.groups = 2}); },
                     [](const auto& x) { return ConvolutionLoops{.axes = 3, .groups = 2}.forward(x); })},
     .bad = {{shape,
              {"conv3d", "weight", "[O, C/groups, kD, kH, kW]"},
              [](auto make) {
                conv3d(make({1, 1, 3, 3, 3}), make({1, 1, 3, 3}));
              }}}},
    {.name = "conv2d_epilogue",
     .family = Family::neural,
     .arguments = "x, weight, options, formula, operands",
     .says = "formula(conv2d(x, weight), operands…): the formula is a Pointwise or a lambda of one output, of the "
             "accumulator and the operands (tensors that broadcast to the result [N, O, H, W], a bias as [O, 1, 1], or "
             "numbers) in call order",
     .tolerance = {128, "sums of 12 products, an exponential and a division"},
     .recorded_roundings = 4,
     .samples = {with_bias(
         "bias, activation and residual",
         [](Sizes s) {
           return std::vector<Shape>{{s.rows, 2, 3, 4}, {3, 2, 3, 2}, {3}, {s.rows, 3, 3, 5}};
         },
         [](const auto& x, const auto& w, const auto& b, const auto& skip) {
           return conv2d_epilogue(
               x, w, {.padding = 1}, [](auto acc, auto bias, auto residual) { return silu(acc + bias) + residual; },
               b.reshape({3, 1, 1}), skip);
         },
         epilogue_of)},
     .bad = {{shape,
              {"conv2d_epilogue", "operand", "[1, 1, 3, 3]", "f32[2]"},
              [](auto make) {
                conv2d_epilogue(
                    make({1, 1, 5, 5}), make({1, 1, 3, 3}), {}, [](auto a, auto b) { return a + b; }, make({2}));
              }},
             {unsupported,
              {"conv2d_epilogue", "reduction"},
              [](auto make) {
                conv2d_epilogue(make({1, 1, 5, 5}), make({1, 1, 3, 3}), {}, [](auto a) { return sum(a); });
              }}}},
    {.name = "conv_transpose1d",
     .family = Family::neural,
     .arguments = "x, weight, bias = {}, options = {}",
     .says =
         "The transpose of conv1d, + bias[o]: each element of x [N, C, L] adds weight [C, O/groups, K] times itself "
         "to the result, of (L - 1)·stride - 2·padding + dilation·(K - 1) + output_padding + 1 places",
     .tolerance = kConvolved,
     .samples =
         {with_bias(
              "stride", lines,
              [](const auto& x, const auto& w, const auto& b) {
                return conv_transpose1d(x, w.permute({1, 0, 2}), b, {.stride = 2, .padding = 1, .output_padding = 1});
              },
              [](const auto& x) {
                Values w = x[1];
                w.shape = {3, 2, 3};
                for (std::size_t i = 0; i < w.of.size(); ++i) w.of[i] = x[1].of[(i / 3 % 2) * 9 + i / 6 * 3 + i % 3];
                return ConvolutionLoops{.axes = 1, .stride = {1, 1, 2}, .before = {0, 0, 1}, .more = {0, 0, 1}}
                    .transposed({x[0], w, x[2]});
              },
              false),
          with_bias(
              "a kernel of one element and a larger result",
              [](Sizes s) {
                return std::vector<Shape>{{s.rows, 2, 3}, {2, 3, 1}};
              },
              [](const auto& x, const auto& w) {
                return conv_transpose1d(x, w, {}, {.output_padding = 1, .dilation = 2});
              },
              [](const auto& x) {
                return ConvolutionLoops{.axes = 1, .dilation = {1, 1, 2}, .more = {0, 0, 1}}.transposed(x);
              })},
     .bad = {{shape,
              {"conv_transpose1d", "output_padding", "less than", "[2]"},
              [](auto make) {
                conv_transpose1d(make({1, 1, 5}), make({1, 1, 3}), {}, {.stride = 2, .output_padding = 2});
              }}}},
    {.name = "conv_transpose2d",
     .family = Family::neural,
     .arguments = "x, weight, bias = {}, options = {}",
     .says = "The same of images: x [N, C, H, W], weight [C, O/groups, kH, kW]",
     .tolerance = kConvolved,
     .samples =
         {with_bias(
              "stride, padding and dilation",
              [](Sizes s) {
                return std::vector<Shape>{{s.rows, 3, 2, 3}, {3, 2, 2, 3}, {2}};
              },
              [](const auto& x, const auto& w, const auto& b) {
                return conv_transpose2d(x, w, b, {.stride = {2, 1}, .padding = 1, .dilation = {1, 2}});
              },
              [](const auto& x) {
                return ConvolutionLoops{.stride = {1, 2, 1}, .before = {0, 1, 1}, .dilation = {1, 1, 2}}.transposed(x);
              }),
          with_bias(
              "groups",
              [](Sizes s) {
                return std::vector<Shape>{{s.rows, 4, 2, 3}, {4, 1, 2, 2}};
              },
              [](const auto& x, const auto& w) { return conv_transpose2d(x, w, {}, {.stride = 2, .groups = 2}); },
              [](const auto& x) {
                return ConvolutionLoops{.stride = {1, 2, 2}, .groups = 2}.transposed(x);
              })},
     .bad = {{shape,
              {"conv_transpose2d", "x", "[N, 3, H, W]", "f32[1, 2, 4, 4]"},
              [](auto make) {
                conv_transpose2d(make({1, 2, 4, 4}), make({3, 2, 3, 3}));
              }},
             {shape,
              {"conv_transpose2d", "x", "one element"},
              [](auto make) {
                conv_transpose2d(make({1, 2, 1, 1}), make({2, 2, 1, 1}), {}, {.padding = 1});
              }}}},
    {.name = "conv_transpose3d",
     .family = Family::neural,
     .arguments = "x, weight, bias = {}, options = {}",
     .says = "The same of volumes: x [N, C, D, H, W], weight [C, O/groups, kD, kH, kW]",
     .tolerance = kConvolved,
     .samples = {with_bias(
         "stride",
         [](Sizes s) {
           return std::vector<Shape>{{s.rows, 2, 2, 1, 2}, {2, 2, 2, 2, 1}, {2}};
         },
         [](const auto& x, const auto& w, const auto& b) {
           return conv_transpose3d(x, w, b, {.stride = {1, 2, 1}});
         },
         [](const auto& x) {
           return ConvolutionLoops{.axes = 3, .stride = {1, 2, 1}}.transposed(x);
         })},
     .bad = {{shape,
              {"conv_transpose3d", "weight", "[C, O/groups, kD, kH, kW]"},
              [](auto make) {
                conv_transpose3d(make({1, 1, 3, 3, 3}), make({1, 1, 3, 3}));
              }}}},
};

}  // namespace
}  // namespace tern::operations
