// What neural networks are made of: linear layers, embeddings, convolutions, pooling, attention, norms and losses.
// Images are [N, C, H, W], batch and channels first; how they lie in memory is told by strides.
#pragma once
#include <concepts>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "tern/ops.hpp"

namespace tern {

// ---- linear layers ----
/// x·weightᵀ + bias: x [.., in], weight [out, in], bias [out] or none (an undefined Tensor), result [.., out].
template <TensorOrVar X, TensorOrVar W, TensorOrVar B = Tensor>
ResultOf<X, W, B> linear(const X& x, const W& weight, const B& bias = {});
/// The rows of weight [count, D] that `indices` (i32 or i64) name: their shape + [D]. The gradient of a row is the sum
/// over the places that named it.
template <TensorOrVar W> W embedding(const Tensor& indices, const W& weight);
struct RopeOptions {
  bool interleaved = false;  // pairs are neighbours, x[2i] and x[2i + 1]; else x[i] and x[i + D/2]
};
/// Pairs of elements of x [.., L, D], turned by angles whose cosines and sines [L, D/2] (or broadcasting to
/// [.., L, D/2]) are given: (a·cos - b·sin, a·sin + b·cos). D is even.
template <TensorOrVar X, TensorOrVar C, TensorOrVar S>
ResultOf<X, C, S> rope(const X& x, const C& cosines, const S& sines, const RopeOptions& options = {});
struct RopeTableOptions {
  double base = 10000;
  std::int64_t start = 0;  // the position of the first row
  DType dtype = default_dtype();
  Device device = default_device();
};
struct RopeTables { Tensor cosines, sines; };
/// Cosines and sines [length, dimension/2] of position·base^(-2i/dimension), for rope; taken in f64, then rounded.
RopeTables rope_tables(std::int64_t length, std::int64_t dimension, const RopeTableOptions& options = {});

// ---- convolution: x is [N, C, size..], with 1, 2 or 3 sizes ----
/// One number for each of the sizes, or one for all of them.
class PerAxis : public detail::DimVector {
 public:
  constexpr PerAxis(std::initializer_list<detail::Dim> of) : DimVector(of) {}
  /// Of a vector or a Shape.
  template <class Range>
    requires(std::constructible_from<Shape, const Range&> && !std::derived_from<Range, PerAxis> &&
             !std::integral<Range>)
  constexpr explicit PerAxis(const Range& of) : DimVector(Shape(of)) {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  constexpr PerAxis(T of_all) : DimVector({detail::Dim(of_all)}) {}
};
/// Zeros before and after each of the sizes: as many on both sides, or "same", so many that the result has x's sizes.
class Padding : public PerAxis {
 public:
  constexpr Padding(std::initializer_list<detail::Dim> of) : PerAxis(of) {}
  constexpr explicit Padding(const PerAxis& of) : PerAxis(of) {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  constexpr Padding(T of_all) : PerAxis(of_all) {}
  Padding(const char* name);
  bool same() const { return same_; }

 private:
  bool same_ = false;
};
struct ConvOptions {
  PerAxis stride = 1;
  Padding padding = 0;
  PerAxis dilation = 1;
  std::int64_t groups = 1;  // channels are divided into so many parts, each convolved by itself
};
/// Σ x[n, c, i·stride + k·dilation - padding]·weight[o, c, k] + bias[o] over c and k: x [N, C, L], weight [O, C/groups,
/// K], bias [O] or none. The result [N, O, ..] has its channels last in memory, as x is read fastest; no unfolded copy
/// of x is made. 16-bit floats accumulate in f32.
template <TensorOrVar X, TensorOrVar W, TensorOrVar B = Tensor>
ResultOf<X, W, B> conv1d(const X& x, const W& weight, const B& bias = {}, const ConvOptions& options = {});
/// The same of images: x [N, C, H, W], weight [O, C/groups, kH, kW].
template <TensorOrVar X, TensorOrVar W, TensorOrVar B = Tensor>
ResultOf<X, W, B> conv2d(const X& x, const W& weight, const B& bias = {}, const ConvOptions& options = {});
/// The same of volumes: x [N, C, D, H, W], weight [O, C/groups, kD, kH, kW].
template <TensorOrVar X, TensorOrVar W, TensorOrVar B = Tensor>
ResultOf<X, W, B> conv3d(const X& x, const W& weight, const B& bias = {}, const ConvOptions& options = {});
struct ConvTransposeOptions {
  PerAxis stride = 1;
  PerAxis padding = 0;         // taken away from both sides of the result
  PerAxis output_padding = 0;  // added at its end, less than stride or dilation
  PerAxis dilation = 1;
  std::int64_t groups = 1;
};
/// The transpose of conv1d, + bias[o]: each element of x [N, C, L] adds weight [C, O/groups, K] times itself to the
/// result, of (L - 1)·stride - 2·padding + dilation·(K - 1) + output_padding + 1 places.
template <TensorOrVar X, TensorOrVar W, TensorOrVar B = Tensor>
ResultOf<X, W, B> conv_transpose1d(const X& x, const W& weight, const B& bias = {},
                                   const ConvTransposeOptions& options = {});
/// The same of images: x [N, C, H, W], weight [C, O/groups, kH, kW].
template <TensorOrVar X, TensorOrVar W, TensorOrVar B = Tensor>
ResultOf<X, W, B> conv_transpose2d(const X& x, const W& weight, const B& bias = {},
                                   const ConvTransposeOptions& options = {});
/// The same of volumes: x [N, C, D, H, W], weight [C, O/groups, kD, kH, kW].
template <TensorOrVar X, TensorOrVar W, TensorOrVar B = Tensor>
ResultOf<X, W, B> conv_transpose3d(const X& x, const W& weight, const B& bias = {},
                                   const ConvTransposeOptions& options = {});
namespace detail {
template <TensorOrVar T>
T convolved_with_epilogue(const char* name, const FormulaGraph*, std::span<const Number>, const T& x, const T& weight,
                          const ConvOptions&, std::span<const Argument> operands);
}  // namespace detail
/// formula(conv2d(x, weight), operands…): the formula is a Pointwise or a lambda of one output, of the accumulator and
/// the operands (tensors that broadcast to the result [N, O, H, W], a bias as [O, 1, 1], or numbers) in call order.
/// It runs in the same pass, and its gradient is derived: one pass for the formula, before those of x and weight.
template <TensorOrVar X, TensorOrVar W, class P, class... O>
  requires detail::EpilogueOperands<O...>
auto conv2d_epilogue(const X& x, const W& weight, const ConvOptions& options, const P& formula, const O&... operands) {
  const Pointwise<> p(formula);
  const detail::PoolVector<detail::Argument> list{detail::Argument(operands)...};
  if constexpr (std::same_as<X, Var> || std::same_as<W, Var> || (std::same_as<O, Var> || ...))
    return detail::convolved_with_epilogue(p.name(), p.graph(), p.values(), detail::as_var(x), detail::as_var(weight),
                                           options, list);
  else return detail::convolved_with_epilogue(p.name(), p.graph(), p.values(), x, weight, options, list);
}

// ---- pooling: x is [N, C, size..], with 1, 2 or 3 sizes ----
struct PoolOptions {
  PerAxis stride = {};                 // none: the kernel's
  PerAxis padding = 0;                 // on both sides, at most half of the kernel
  PerAxis dilation = 1;
  bool count_padding = true;  // of averages: zeros of the padding count
};
/// The largest element of each window of `kernel` places; padding is -inf. The gradient goes to the first largest one.
template <TensorOrVar T> T max_pool(const T& x, const PerAxis& kernel, const PoolOptions& options = {});
/// The mean of each window of `kernel` places.
template <TensorOrVar T> T avg_pool(const T& x, const PerAxis& kernel, const PoolOptions& options = {});
/// Means of windows that divide x into `sizes`: window i of n along an axis of L goes from floor(i·L/n) to before
/// ceil((i + 1)·L/n).
template <TensorOrVar T> T adaptive_avg_pool(const T& x, const PerAxis& sizes);
struct WindowOptions {
  PerAxis stride = 1, padding = 0, dilation = 1;
};
/// A copy of each window of `kernel` places as a column: [N, C, size..] gives [N, C·kernel elements, windows].
template <TensorOrVar T> T unfold(const T& x, const PerAxis& kernel, const WindowOptions& options = {});
/// The transpose of unfold: columns [N, C·kernel elements, windows] added up where they came from in [N, C, sizes..].
template <TensorOrVar T>
T fold(const T& columns, const PerAxis& sizes, const PerAxis& kernel, const WindowOptions& options = {});

// ---- other sizes, other places ----
enum class Resampling { nearest, linear, cubic };
struct InterpolateOptions {
  Resampling mode = Resampling::nearest;
  bool align_corners = false;  // the first and last elements stay where they are
  bool antialias = false;      // the window of linear and cubic grows as the image shrinks
};
/// x [N, C, size..] in other sizes: of each axis the nearest element (floor(i·old/new)), or the mean of 2 (linear) or 4
/// (cubic: Keys' kernel with -0.75, or -0.5 where `.antialias`) around it; beyond the edge stands the last one.
template <TensorOrVar T> T interpolate(const T& x, const PerAxis& sizes, const InterpolateOptions& options = {});
enum class GridPadding { zeros, border, reflection };
struct GridSampleOptions {
  Resampling mode = Resampling::linear;  // nearest or linear
  GridPadding padding = GridPadding::zeros;    // what stands outside
  bool align_corners = false;                  // -1 and 1 are the centres of the outermost elements, not their edges
};
/// x [N, C, H, W] at the places (x, y) in [-1, 1] that grid [N, Ho, Wo, 2] gives: [N, C, Ho, Wo].
template <TensorOrVar X, TensorOrVar G>
ResultOf<X, G> grid_sample(const X& x, const G& grid, const GridSampleOptions& options = {});

// ---- attention ----
class BlockMask;
namespace detail {
/// What a mask reads: the elements of a tensor or a variable, or a number.
struct MaskOperand {
  Tensor tensor;  // undefined: the number
  Number number;
  /// Throws `shape` where it is undefined.
  MaskOperand(const Tensor& t);
  MaskOperand(const Var& v) : MaskOperand(v.value()) {}
  template <Plain T> MaskOperand(const T& n) : number(n) {}
};
BlockMask make_block_mask(const Pointwise<>& mask, const Shape& scores, std::vector<MaskOperand> operands);
}  // namespace detail
/// A mask of attention that is used again, with what is seen of each block of 64 rows and columns: see block_mask.
class BlockMask {
 public:
  BlockMask() = default;
  bool defined() const { return blocks_.defined(); }
  /// [batch, heads, L/64, S/64] rounded up, i32: 0 where nothing is seen, 1 something, 2 all. Sizes of 1 hold for all.
  const Tensor& blocks() const { return blocks_; }
  const Pointwise<>& mask() const { return *mask_; }
  const std::vector<detail::MaskOperand>& operands() const { return operands_; }
  const Shape& scores() const { return scores_; }  // [batch, heads, L, S]
  /// Whether no operand's memory was written to since the mask was made; attention refuses one that is not.
  bool current() const;
  /// The share of the scores that lie in blocks of which something is seen.
  double visited() const;

 private:
  friend BlockMask detail::make_block_mask(const Pointwise<>&, const Shape&, std::vector<detail::MaskOperand>);
  std::optional<Pointwise<>> mask_;
  std::vector<detail::MaskOperand> operands_;
  std::vector<std::uint32_t> versions_;  // of the operands' memory
  Tensor blocks_;
  Shape scores_;
};
/// A mask made once, for many calls of attention with `.block_mask`: blocks of which nothing is seen are not visited,
/// and those of which all is seen are computed without it. The predicate is a formula of (batch, head, i, j, operands…)
/// that gives a boolean; a batch or heads of 1 hold for every sample or head. Operands (tensors that broadcast to
/// [batch, heads, L, S], or numbers) are kept, not copied, and are on one device; of none it is made on the default
/// device. Once an operand is written to, the blocks are no longer true and attention throws `value`: make it anew.
template <class P, class... O>
  requires detail::EpilogueOperands<O...>
BlockMask block_mask(const P& predicate, std::int64_t batch, std::int64_t heads, std::int64_t rows,
                     std::int64_t columns, const O&... operands) {
  return detail::make_block_mask(Pointwise<>(predicate), {batch, heads, rows, columns},
                                 {detail::MaskOperand(operands)...});
}
struct AttentionOptions {
  std::optional<double> scale = {};          // of the scores q·k; none: 1/√D (of D = 0 they are 0)
  bool causal = false;                       // row i sees the columns j ≤ i + S - L
  std::optional<std::int64_t> window = {};   // row i sees columns less than this far from i + S - L
  /// [batch] i32 or i64, from 0 to S: so many columns there are of each sample, and what lies behind them is not read.
  /// None: S.
  Tensor lengths = {};
  /// Which columns a row sees besides: a formula of (batch, head, i, j, mask_operands…) that gives a boolean.
  std::optional<Pointwise<>> mask = {};
  std::vector<detail::MaskOperand> mask_operands = {};  // tensors that broadcast to [batch, H, L, S], or numbers
  BlockMask block_mask = {};                 // in place of `mask`
  /// The share of the weights that are 0, chosen by `generator`; the others are divided by 1 - dropout.
  double dropout = 0;
  Generator* generator = nullptr;
  /// So many rows are computed at a time, and again in backward, so that memory grows with them and not with L. None:
  /// all of them, or, where there are many scores, as many as 2^26 scores are.
  std::int64_t rows_at_once = 0;
  Tensor* logsumexp = nullptr;               // receives log Σ exp(score) of each row, [.., H, L]; -inf of no column
};
namespace detail {
struct ScoreFormula {
  const char* name = "";
  const FormulaGraph* graph = nullptr;  // null: none
  std::span<const Number> values = {};
  std::span<const Argument> operands = {};
};
template <TensorOrVar T>
T attention_of(const T& q, const T& k, const T& v, const AttentionOptions&, const ScoreFormula&);
}  // namespace detail
/// softmax(scores)·v with scores = formula(scale·q·kᵀ, batch, head, i, j, operands…): q [.., H, L, D], k [.., G, S, D]
/// and v [.., G, S, Dv] of one dtype give [.., H, L, Dv]; H is a multiple of G, whose keys H/G heads share. The formula
/// is a Pointwise or a lambda of i32 coordinates (cast(i - j, f32) is what fractions multiply); its operands (tensors
/// that broadcast to [batch, H, L, S], or numbers) get gradients. A row that sees nothing gives 0 and no gradient.
/// Scores are f32 for 16-bit floats.
template <TensorOrVar Q, TensorOrVar K, TensorOrVar V, class P, class... O>
  requires detail::EpilogueOperands<O...>
auto attention(const Q& q, const K& k, const V& v, const AttentionOptions& options, const P& formula,
               const O&... operands) {
  const Pointwise<> p(formula);
  const detail::PoolVector<detail::Argument> list{detail::Argument(operands)...};
  const detail::ScoreFormula score{p.name(), p.graph(), p.values(), list};
  if constexpr (std::same_as<ResultOf<Q, K, V>, Var> || (std::same_as<O, Var> || ...))
    return detail::attention_of(detail::as_var(q), detail::as_var(k), detail::as_var(v), options, score);
  else return detail::attention_of(q, k, v, options, score);
}
template <TensorOrVar Q, TensorOrVar K, TensorOrVar V>
ResultOf<Q, K, V> attention(const Q& q, const K& k, const V& v, const AttentionOptions& options = {}) {
  if constexpr (std::same_as<ResultOf<Q, K, V>, Var>)
    return detail::attention_of(detail::as_var(q), detail::as_var(k), detail::as_var(v), options, {});
  else return detail::attention_of(q, k, v, options, {});
}

// ---- norms of images: x is [N, C, ..] ----
/// x less its mean, over its standard deviation, of each of `groups` groups of channels of each sample; then · weight
/// + bias, both [C] or none. The variance is the biased one, with eps added.
template <TensorOrVar X, TensorOrVar W = Tensor, TensorOrVar B = Tensor>
ResultOf<X, W, B> group_norm(const X& x, std::int64_t groups, const W& weight = {}, const B& bias = {},
                             double eps = 1e-5);
/// The same of each channel of each sample, which must have more than one value (else `shape`).
template <TensorOrVar X, TensorOrVar W = Tensor, TensorOrVar B = Tensor>
ResultOf<X, W, B> instance_norm(const X& x, const W& weight = {}, const B& bias = {}, double eps = 1e-5);
struct BatchNormOptions {
  bool training = false;  // the batch's own mean and variance, with which the running ones are updated in place
  double momentum = 0.1;  // the share of the batch in the running statistics
  double eps = 1e-5;
};
/// x less the running mean, over the root of the running variance + eps, of each channel; then · weight + bias, both
/// [C] or none. Where `.training`, x's own mean and biased variance over all axes but that of channels instead; the
/// running ones (f32 or x's dtype, or none) then take up `momentum` of the batch's mean and unbiased variance, but for
/// an empty x, which has none. One value alone of each channel throws `shape`: of it there is no variance.
template <TensorOrVar X, TensorOrVar W = Tensor, TensorOrVar B = Tensor>
ResultOf<X, W, B> batch_norm(const X& x, const Tensor& running_mean, const Tensor& running_variance,
                             const W& weight = {}, const B& bias = {}, const BatchNormOptions& options = {});

// ---- losses ----
/// (x - target)², averaged (or as `reduction` says); both of one shape.
template <TensorOrVar X, TensorOrVar Y>
ResultOf<X, Y> mse_loss(const X& x, const Y& target, Reduction reduction = Reduction::mean);
/// |x - target|, averaged (or as `reduction` says); both of one shape. The derivative at 0 is 0.
template <TensorOrVar X, TensorOrVar Y>
ResultOf<X, Y> l1_loss(const X& x, const Y& target, Reduction reduction = Reduction::mean);
/// With d = x - target: d²/2 where |d| ≤ delta, else delta·(|d| - delta/2), averaged (or as `reduction` says).
template <TensorOrVar X, TensorOrVar Y>
ResultOf<X, Y> huber_loss(const X& x, const Y& target, double delta = 1, Reduction reduction = Reduction::mean);
struct BinaryCrossEntropyOptions {
  Tensor weight = {};           // a factor of each element, broadcast; none: 1
  Tensor positive_weight = {};  // a factor of the targets' share, broadcast (one for each class); none: 1
  Reduction reduction = Reduction::mean;
};
/// -target·log σ(logits) - (1 - target)·log(1 - σ(logits)), finite for any finite logit, averaged (or as `.reduction`
/// says); targets in [0, 1], of the logits' shape.
template <TensorOrVar X, TensorOrVar Y>
ResultOf<X, Y> binary_cross_entropy_with_logits(const X& logits, const Y& target,
                                                const BinaryCrossEntropyOptions& options = {});
struct NllOptions {
  Tensor weight = {};                        // [C], a factor of each class; none: 1
  std::optional<std::int32_t> ignored = {};  // rows with this label count nothing
  /// A mean is over the sum of the rows' weights; of no row NaN, or 0 with `.ignored`.
  Reduction reduction = Reduction::mean;
};
/// -log_probabilities[n, labels[n]], averaged (or as `.reduction` says): [N, C] and labels [N] i32 or i64.
template <TensorOrVar T>
T nll_loss(const T& log_probabilities, const Tensor& labels, const NllOptions& options = {});
struct KlOptions {
  bool log_target = false;                // the target holds logarithms, too
  bool per_row = false;                   // mean: over the first axis' size, as the divergence of a batch is meant
  Reduction reduction = Reduction::mean;  // over all elements
};
/// target·(log target - x), x logarithms of probabilities, averaged (or as `.reduction` says); both of one shape. A
/// target of 0 counts 0.
template <TensorOrVar X, TensorOrVar Y>
ResultOf<X, Y> kl_div(const X& x, const Y& target, const KlOptions& options = {});
/// Σ a·b / (|a|·|b|) along an axis, each norm at least eps; a and b of one shape.
template <TensorOrVar A, TensorOrVar B>
ResultOf<A, B> cosine_similarity(const A& a, const B& b, int axis = -1, double eps = 1e-8);

}  // namespace tern
