// Convolution as a product over a windowed view. Three maps of the same sum Σ x·w·y, each linear in two operands, are
// each other's derivatives, so that these three are all there is to any order:
//   result (x, w), input (y, w): the transpose towards x, weight (x, y)
#pragma once
#include <array>

#include "primitives/convolution/convolution.hpp"
#include "primitives/fused/operation_checks.hpp"

namespace tern::detail {

/// The numbers of one convolution; sizes are those of the axes behind batch and channels.
struct Conv {
  using Sizes = std::array<std::int64_t, 3>;
  const char* op = "";
  int axes = 0;                    // 1 to 3
  std::int64_t n = 0, groups = 1;  // samples
  std::int64_t c = 0, o = 0;       // channels of x, and of the result, in each group
  Sizes in{}, out{}, kernel{}, stride{}, dilation{}, before{}, after{};

  std::int64_t extent(int i) const { return dilation[at(i)] * (kernel[at(i)] - 1) + 1; }
  std::int64_t padded(int i) const { return in[at(i)] + before[at(i)] + after[at(i)]; }
  bool depthwise() const { return groups > 1 && c == 1 && o == 1; }
  /// Whether it is one product, which takes an epilogue.
  bool is_product() const { return !depthwise() && !(axes == 3 && groups > 1); }
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
};

inline ConvSizes sizes_of(const Conv& g) {
  return {g.axes, g.n, g.groups, g.c, g.o, g.in, g.out, g.kernel, g.stride, g.dilation, g.before};
}

/// The formula; where there is none, what gives the sums as they are.
inline const FormulaGraph* formula_or_sums(const FormulaGraph* formula) {
  return formula ? formula : identity_graph();
}

/// Axes of a view: sizes and steps.
struct ConvLayout {
  Shape shape;
  Strides strides;
  void add(std::int64_t size, std::int64_t step) { shape.push_back(size), strides.push_back(step); }
  Tensor of(const Tensor& t) const { return make_view(t, shape, strides, t.impl()->offset); }
  Shape batch() const { return batch_of(shape); }
};
inline std::int64_t step_of(const Tensor& t, int axis) { return t.strides()[static_cast<std::size_t>(axis)]; }

/// x among zeros, contiguous: element i of each of the axes from `first` on at offset + i·step of the given size, those
/// outside left out. x itself where nothing is to be done.
Tensor placed_in_zeros(const Tensor& x, int first, int axes, const Conv::Sizes& sizes, const Conv::Sizes& offsets,
                       const Conv::Sizes& steps);

/// Each channel by itself, x placed at these offsets and steps: x [N, C, ..], w [C, 1, k..].
Tensor depthwise_result(const Conv& conv, const Tensor& x, const Tensor& w, const Conv::Sizes& offsets,
                        const Conv::Sizes& steps);
Tensor depthwise_weight(const Conv& conv, const Tensor& x, const Tensor& y);

/// Whether a kernel reads the windows of such a convolution where they lie, and takes an epilogue (the primitive
/// `convolution`). x: either operand.
bool goes_directly(const Conv& conv, const Tensor& x);
bool weight_goes_directly(const Conv& conv, const Tensor& x);
/// The convolution of x with w [G·o, c, k..] by that kernel, and its transpose.
PoolVector<Tensor> direct_result(const Conv& conv, const Tensor& x, const Tensor& w, const FormulaGraph* epilogue,
                                 std::span<const Argument> operands);
PoolVector<Tensor> direct_input(const Conv& conv, const Tensor& y, const Tensor& w, const FormulaGraph* epilogue,
                                std::span<const Argument> operands);
/// Whether the transpose is faster as one product for each group, as no two of its sums meet (operation_blocks.cpp).
bool falls_into_blocks(const Conv& conv, const Tensor& y);
PoolVector<Tensor> input_of_blocks(const Conv& conv, const Tensor& y, const Tensor& w, const FormulaGraph* epilogue,
                                   std::span<const Argument> operands);
/// The image whose blocks of g.kernel places are given as [N, out, kernel, out, kernel.., G, c], and the formula of
/// them.
PoolVector<Tensor> image_of_blocks(const Conv& g, const Tensor& sums, DType dtype, const FormulaGraph* formula,
                                   std::span<const Argument> operands);
/// Whether the phases of a transpose's stride are faster as further channels of one convolution
/// (operation_phases.cpp).
bool phases_join(const Conv& conv, const Tensor& y);
PoolVector<Tensor> input_of_joined_phases(const Conv& conv, const Tensor& y, const Tensor& w,
                                          const FormulaGraph* epilogue, std::span<const Argument> operands);
/// The gradient of the weight.
Tensor direct_weight(const Conv& conv, const Tensor& x, const Tensor& y);

/// The formula of y and the operands in a pass of its own.
PoolVector<Tensor> with_formula(const Conv& conv, const Tensor& y, const FormulaGraph* formula,
                                std::span<const Argument> operands);
/// Whether positions stand in a formula, or in the declared derivative of one that it calls.
bool counts_positions(const FormulaGraph* formula);
/// [N, C, ..] as [N, .., C], and back: views.
Tensor channels_last(const Tensor& x);
Tensor channels_second(const Tensor& x);

enum class ConvPart { result, input, weight };
/// One of the three maps, of its two operands in the order x, w, y. What comes back is shaped [N, C, ..] (or as the
/// weight is); images have their channels last in memory.
/// `epilogue` (not of weights): a formula of the accumulator and operands (Tensors and numbers) that broadcast to what
/// comes back; each of its outputs comes back.
PoolVector<Tensor> convolve(ConvPart part, const Conv& conv, const Tensor& a, const Tensor& b,
                            const FormulaGraph* epilogue, std::span<const Argument> operands);
/// With a bias of the channels of what comes back, or an undefined one.
Tensor convolve(ConvPart part, const Conv& conv, const Tensor& a, const Tensor& b, const Tensor& bias);
/// Recorded.
Var convolve(ConvPart part, const Conv& conv, const Var& a, const Var& b, const Var& bias = {});

}  // namespace tern::detail
