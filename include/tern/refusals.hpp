// Calls with what is no tensor, refused in words (tern/operands.hpp says how): THE list of what takes tensors.
// A line is a name and with how many of them its arguments begin. Options, which may be given as {.stride = 2}, take a
// line of their own, for nothing else can be made of those braces.
#pragma once
// So that messages show the line here, not each macro it is made by.
#pragma GCC system_header
#include <string_view>

#include "tern/autodiff.hpp"
#include "tern/fft.hpp"
#include "tern/neural.hpp"

namespace tern {

#define TERN_REFUSE(message, name, ...)                                                                             \
  template <class Wrong = void>                                                                                     \
  TERN_REFUSED(message)                                                                                             \
  detail::Refused name(__VA_ARGS__, detail::Any = {}, detail::Any = {}, detail::Any = {}, detail::Any = {},         \
                       detail::Any = {});
#define TERN_REFUSE_CALL(name, ...)                                                                                 \
  TERN_REFUSE("the operands of " #name " must be Tensors or Vars: make a tensor of other values, as in "            \
              "tern::tensor(values)", name, __VA_ARGS__)
#define TERN_REFUSE_1(name) TERN_REFUSE_CALL(name, detail::ForeignValues)
#define TERN_REFUSE_2(name) \
  TERN_REFUSE_1(name)       \
  TERN_REFUSE_CALL(name, detail::RightTensor, detail::WrongTensor)
#define TERN_REFUSE_VALUES(name) \
  TERN_REFUSE_1(name)            \
  TERN_REFUSE_CALL(name, detail::RightTensor, detail::ForeignList)
#define TERN_REFUSE_3(name) \
  TERN_REFUSE_2(name)       \
  TERN_REFUSE_CALL(name, detail::RightTensor, detail::RightTensor, detail::WrongTensor)
/// Of so many tensors with options behind them, and what stands between.
#define TERN_REFUSE_OPTIONS_1(name, ...) TERN_REFUSE_CALL(name, detail::ForeignValues, __VA_ARGS__)
#define TERN_REFUSE_OPTIONS_2(name, ...)                \
  TERN_REFUSE_OPTIONS_1(name, detail::Any, __VA_ARGS__) \
  TERN_REFUSE_CALL(name, detail::RightTensor, detail::WrongTensor, __VA_ARGS__)
#define TERN_REFUSE_OPTIONS_3(name, ...)                \
  TERN_REFUSE_OPTIONS_2(name, detail::Any, __VA_ARGS__) \
  TERN_REFUSE_CALL(name, detail::RightTensor, detail::RightTensor, detail::WrongTensor, __VA_ARGS__)
/// Of a list of tensors; or of tensors that should stand in one.
#define TERN_REFUSE_LIST(name)                                                                                      \
  TERN_REFUSE(#name " takes a list of Tensors or of Vars, as in " #name "({x, y}): make a tensor of other values, " \
              "as in tern::tensor(values)", name, detail::ForeignValues)                                            \
  TERN_REFUSE(#name " takes a list of Tensors or of Vars: write " #name "({x, y})", name, detail::RightTensor)
/// Of a formula, whose operands may be numbers and symbolic values, too.
#define TERN_REFUSE_FORMULA(name)                                                                                   \
  TERN_REFUSE(TERN_POINTWISE_OPERANDS, name, detail::ForeignValues)                                                 \
  template <class... A>                                                                                             \
    requires detail::WrongArgs<A...>                                                                                \
  TERN_REFUSED(TERN_POINTWISE_OPERANDS)                                                                             \
  detail::Refused name(const A&...);
#define TERN_REFUSE_OPERATOR(symbol)                                                                                \
  template <class A, class B>                                                                                       \
    requires detail::WrongArgs<A, B>                                                                                \
  TERN_REFUSED(TERN_POINTWISE_OPERANDS)                                                                             \
  detail::Refused operator symbol(const A&, const B&);

// ---- formulas and operators ----
#define TERN_ELEMENTARY(name, arity) TERN_REFUSE_FORMULA(name)
#define TERN_ELEMENTARY_INNER(name, arity)
#define TERN_ELEMENTARY_REDUCE(name)
#include "tern/elementary.inc"
#undef TERN_ELEMENTARY
#undef TERN_ELEMENTARY_INNER
#undef TERN_ELEMENTARY_REDUCE
#define TERN_FORMULA(name, ...) TERN_REFUSE_FORMULA(name)
#define TERN_FORMULA_MORE(name, arity, ...)
#define TERN_GATED(name, activation) TERN_REFUSE_FORMULA(name)
#include "tern/formulas.inc"
#undef TERN_FORMULA
#undef TERN_GATED
// Not << and >>: what prints a tensor is a stream's business.
TERN_REFUSE_OPERATOR(+) TERN_REFUSE_OPERATOR(-) TERN_REFUSE_OPERATOR(*) TERN_REFUSE_OPERATOR(/) TERN_REFUSE_OPERATOR(%)
TERN_REFUSE_OPERATOR(==) TERN_REFUSE_OPERATOR(!=) TERN_REFUSE_OPERATOR(<) TERN_REFUSE_OPERATOR(<=)
TERN_REFUSE_OPERATOR(>) TERN_REFUSE_OPERATOR(>=) TERN_REFUSE_OPERATOR(&) TERN_REFUSE_OPERATOR(|) TERN_REFUSE_OPERATOR(^)
// others that take numbers
TERN_REFUSE_FORMULA(make_complex) TERN_REFUSE_FORMULA(conj) TERN_REFUSE_FORMULA(angle) TERN_REFUSE_FORMULA(polar)
// other names (tern/aliases.hpp)
TERN_REFUSE_FORMULA(absolute) TERN_REFUSE_FORMULA(clip) TERN_REFUSE_FORMULA(arcsin) TERN_REFUSE_FORMULA(arccos)
TERN_REFUSE_FORMULA(arctan) TERN_REFUSE_FORMULA(arctan2) TERN_REFUSE_FORMULA(arcsinh) TERN_REFUSE_FORMULA(arccosh)
TERN_REFUSE_FORMULA(arctanh) TERN_REFUSE_FORMULA(remainder) TERN_REFUSE_FORMULA(rint) TERN_REFUSE_FORMULA(fix)
TERN_REFUSE_FORMULA(power) TERN_REFUSE_FORMULA(float_power) TERN_REFUSE_FORMULA(expit) TERN_REFUSE_FORMULA(swish)
TERN_REFUSE_FORMULA(logsigmoid)
// ---- of one tensor ----
// reductions
TERN_REFUSE_1(sum) TERN_REFUSE_1(mean) TERN_REFUSE_1(prod) TERN_REFUSE_1(max) TERN_REFUSE_1(min)
TERN_REFUSE_1(logsumexp) TERN_REFUSE_1(var) TERN_REFUSE_1(std) TERN_REFUSE_1(norm) TERN_REFUSE_1(argmax)
TERN_REFUSE_1(argmin) TERN_REFUSE_1(any) TERN_REFUSE_1(all) TERN_REFUSE_1(amax) TERN_REFUSE_1(amin)
TERN_REFUSE_1(count_nonzero) TERN_REFUSE_1(nansum) TERN_REFUSE_1(nanmean) TERN_REFUSE_1(ptp) TERN_REFUSE_1(median)
TERN_REFUSE_1(max_with_indices) TERN_REFUSE_1(min_with_indices)
// along an axis
TERN_REFUSE_1(softmax) TERN_REFUSE_1(log_softmax) TERN_REFUSE_1(causal_softmax) TERN_REFUSE_1(cumsum)
TERN_REFUSE_1(cumulative_sum) TERN_REFUSE_1(cumulative_prod) TERN_REFUSE_1(cumprod) TERN_REFUSE_1(cummax)
TERN_REFUSE_1(cummin) TERN_REFUSE_1(logcumsumexp) TERN_REFUSE_1(diff) TERN_REFUSE_1(glu) TERN_REFUSE_1(sort)
TERN_REFUSE_1(argsort) TERN_REFUSE_1(topk) TERN_REFUSE_1(kthvalue) TERN_REFUSE_1(split)
// sets, counts, index
TERN_REFUSE_1(unique) TERN_REFUSE_1(unique_all) TERN_REFUSE_1(unique_values) TERN_REFUSE_1(unique_counts)
TERN_REFUSE_1(unique_inverse) TERN_REFUSE_1(nonzero) TERN_REFUSE_1(one_hot) TERN_REFUSE_1(cov)
TERN_REFUSE_1(corrcoef)
// views and shapes
TERN_REFUSE_1(flip) TERN_REFUSE_1(fliplr) TERN_REFUSE_1(flipud) TERN_REFUSE_1(narrow) TERN_REFUSE_1(flatten)
TERN_REFUSE_1(ravel) TERN_REFUSE_1(squeeze) TERN_REFUSE_1(unsqueeze) TERN_REFUSE_1(expand_dims)
TERN_REFUSE_1(matrix_transpose) TERN_REFUSE_1(transpose) TERN_REFUSE_1(permute) TERN_REFUSE_1(permute_dims)
TERN_REFUSE_1(moveaxis) TERN_REFUSE_1(movedim) TERN_REFUSE_1(swapaxes) TERN_REFUSE_1(swapdims)
TERN_REFUSE_1(diagonal) TERN_REFUSE_1(unstack) TERN_REFUSE_1(unbind) TERN_REFUSE_1(tile) TERN_REFUSE_1(roll)
TERN_REFUSE_1(pad) TERN_REFUSE_1(rot90) TERN_REFUSE_1(reshape) TERN_REFUSE_1(expand) TERN_REFUSE_1(broadcast_to)
TERN_REFUSE_1(as_strided) TERN_REFUSE_1(sliding_window_view) TERN_REFUSE_1(repeat_interleave) TERN_REFUSE_1(cast)
TERN_REFUSE_1(astype)
// like another
TERN_REFUSE_1(diag) TERN_REFUSE_1(diag_embed) TERN_REFUSE_1(tril) TERN_REFUSE_1(triu) TERN_REFUSE_1(zeros_like)
TERN_REFUSE_1(ones_like) TERN_REFUSE_1(full_like) TERN_REFUSE_1(empty_like)
// complex numbers and special functions
TERN_REFUSE_1(real) TERN_REFUSE_1(imag) TERN_REFUSE_1(view_as_real) TERN_REFUSE_1(view_as_complex)
TERN_REFUSE_1(lgamma) TERN_REFUSE_1(digamma) TERN_REFUSE_1(j0) TERN_REFUSE_1(j1) TERN_REFUSE_1(y0) TERN_REFUSE_1(y1)
TERN_REFUSE_1(i0) TERN_REFUSE_1(i1) TERN_REFUSE_1(i0e) TERN_REFUSE_1(i1e)
// products, pictures, spectra, drawing
TERN_REFUSE_1(trace) TERN_REFUSE_1(matrix_power) TERN_REFUSE_1(max_pool) TERN_REFUSE_1(avg_pool)
TERN_REFUSE_1(adaptive_avg_pool) TERN_REFUSE_1(unfold) TERN_REFUSE_1(fold) TERN_REFUSE_1(interpolate)
TERN_REFUSE_1(stft) TERN_REFUSE_1(istft) TERN_REFUSE_1(dropout) TERN_REFUSE_1(categorical)
TERN_REFUSE_1(multinomial) TERN_REFUSE_1(choice)
// ---- of two ----
// products
TERN_REFUSE_2(matmul) TERN_REFUSE_2(matmul_activation) TERN_REFUSE_2(matmul_epilogue) TERN_REFUSE_2(conv2d_epilogue)
TERN_REFUSE_2(tensordot) TERN_REFUSE_2(inner) TERN_REFUSE_2(outer) TERN_REFUSE_2(vecdot) TERN_REFUSE_2(cross)
TERN_REFUSE_2(kron) TERN_REFUSE_2(dot) TERN_REFUSE_2(mm) TERN_REFUSE_2(bmm) TERN_REFUSE_2(ger)
TERN_REFUSE_2(convolve) TERN_REFUSE_2(correlate)
// index, sets, statistics
TERN_REFUSE_2(take) TERN_REFUSE_2(gather) TERN_REFUSE_2(masked_select) TERN_REFUSE_2(masked_fill)
TERN_REFUSE_2(take_along_axis) TERN_REFUSE_2(take_along_dim) TERN_REFUSE_2(view_as) TERN_REFUSE_2(searchsorted)
TERN_REFUSE_2(digitize) TERN_REFUSE_2(isin) TERN_REFUSE_2(allclose) TERN_REFUSE_2(average)
// neural networks
TERN_REFUSE_2(rms_norm) TERN_REFUSE_2(embedding) TERN_REFUSE_2(grid_sample) TERN_REFUSE_2(cross_entropy)
TERN_REFUSE_2(mse_loss) TERN_REFUSE_2(l1_loss) TERN_REFUSE_2(huber_loss)
TERN_REFUSE_2(binary_cross_entropy_with_logits) TERN_REFUSE_2(nll_loss) TERN_REFUSE_2(kl_div)
TERN_REFUSE_2(cosine_similarity)
// special functions
TERN_REFUSE_2(gammainc) TERN_REFUSE_2(gammaincc) TERN_REFUSE_2(nextafter)
// ---- of three, or of two and one that may be missing ----
TERN_REFUSE_3(scatter_add) TERN_REFUSE_3(scatter_reduce) TERN_REFUSE_3(put_along_axis) TERN_REFUSE_3(matmul_bias)
TERN_REFUSE_3(matmul_bias_activation) TERN_REFUSE_3(matmul_bias_residual) TERN_REFUSE_3(layer_norm)
TERN_REFUSE_3(add_rms_norm) TERN_REFUSE_3(add_layer_norm) TERN_REFUSE_3(interp) TERN_REFUSE_3(linear)
TERN_REFUSE_3(rope) TERN_REFUSE_3(conv1d) TERN_REFUSE_3(conv2d) TERN_REFUSE_3(conv3d)
TERN_REFUSE_3(conv_transpose1d) TERN_REFUSE_3(conv_transpose2d) TERN_REFUSE_3(conv_transpose3d)
TERN_REFUSE_3(attention) TERN_REFUSE_3(batch_norm) TERN_REFUSE_3(instance_norm) TERN_REFUSE_3(betainc)
// ---- of two, the second of which may be a number ----
TERN_REFUSE_VALUES(quantile) TERN_REFUSE_VALUES(histogram) TERN_REFUSE_VALUES(bincount)
TERN_REFUSE_VALUES(trapezoid) TERN_REFUSE_VALUES(repeat)
// ---- with options ----
TERN_REFUSE_OPTIONS_1(max_pool, detail::Any, const PoolOptions&)
TERN_REFUSE_OPTIONS_1(avg_pool, detail::Any, const PoolOptions&)
TERN_REFUSE_OPTIONS_1(unfold, detail::Any, const WindowOptions&)
TERN_REFUSE_OPTIONS_1(fold, detail::Any, detail::Any, const WindowOptions&)
TERN_REFUSE_OPTIONS_1(interpolate, detail::Any, const InterpolateOptions&)
TERN_REFUSE_OPTIONS_1(stft, std::int64_t, const StftOptions&)
TERN_REFUSE_OPTIONS_1(istft, std::int64_t, const StftOptions&)
TERN_REFUSE_OPTIONS_2(grid_sample, const GridSampleOptions&)
TERN_REFUSE_OPTIONS_2(cross_entropy, const CrossEntropyOptions&)
TERN_REFUSE_OPTIONS_2(binary_cross_entropy_with_logits, const BinaryCrossEntropyOptions&)
TERN_REFUSE_OPTIONS_2(nll_loss, const NllOptions&)
TERN_REFUSE_OPTIONS_2(kl_div, const KlOptions&)
TERN_REFUSE_OPTIONS_3(rope, const RopeOptions&)
TERN_REFUSE_OPTIONS_3(conv1d, const ConvOptions&)
TERN_REFUSE_OPTIONS_3(conv2d, const ConvOptions&)
TERN_REFUSE_OPTIONS_3(conv3d, const ConvOptions&)
TERN_REFUSE_OPTIONS_3(conv_transpose1d, const ConvTransposeOptions&)
TERN_REFUSE_OPTIONS_3(conv_transpose2d, const ConvTransposeOptions&)
TERN_REFUSE_OPTIONS_3(conv_transpose3d, const ConvTransposeOptions&)
TERN_REFUSE_OPTIONS_3(attention, const AttentionOptions&)
TERN_REFUSE_OPTIONS_3(batch_norm, detail::Any, detail::Any, const BatchNormOptions&)
// ---- of lists ----
TERN_REFUSE_LIST(stack)
TERN_REFUSE_LIST(concatenate)
TERN_REFUSE_LIST(concat)
TERN_REFUSE_LIST(cat)
TERN_REFUSE_1(broadcast_arrays) TERN_REFUSE_1(meshgrid) TERN_REFUSE_1(multi_dot) TERN_REFUSE_1(chain_matmul)
// ---- of other things beside tensors ----
TERN_REFUSE_CALL(einsum, std::string_view, detail::ForeignValues)
TERN_REFUSE_CALL(einsum, std::string_view, detail::RightTensor, detail::WrongTensor)
TERN_REFUSE_CALL(einsum, std::string_view, detail::RightTensor, detail::RightTensor, detail::WrongTensor)
TERN_REFUSE_1(group_norm)
TERN_REFUSE_CALL(group_norm, detail::RightTensor, std::int64_t, detail::WrongTensor)
TERN_REFUSE_1(index_put)
TERN_REFUSE_CALL(index_put, detail::RightTensor, detail::Any, detail::WrongTensor)
TERN_REFUSE_CALL(polygamma, int, detail::ForeignValues)
TERN_REFUSE_CALL(permutation, detail::ForeignList)
TERN_REFUSE_CALL(row_formula, detail::Any, detail::ForeignValues)
TERN_REFUSE_CALL(row_formula, detail::Any, detail::RightTensor, detail::ForeignList)
namespace detail {
struct Unrecorded {
  template <class T>
    requires std::same_as<T, Tensor> || HoldsValues<T> || PlainOrComplex<T>
  Unrecorded(const T&);
};
}  // namespace detail
#define TERN_REFUSE_BACKWARD(...)                                                                                    \
  TERN_REFUSE("backward starts at a Var, for only operations on Vars are recorded: compute the loss from a Var, as " \
              "in tern::parameter(tensor), or take derivatives of a function with tern::grad(f)", backward, __VA_ARGS__)
TERN_REFUSE_BACKWARD(detail::Unrecorded)
TERN_REFUSE_BACKWARD(detail::Unrecorded, const BackwardOptions&)
#undef TERN_REFUSE_BACKWARD

namespace linalg {
TERN_REFUSE_1(cholesky) TERN_REFUSE_1(cholesky_ex) TERN_REFUSE_1(lu) TERN_REFUSE_1(lu_factor)
TERN_REFUSE_1(lu_factor_ex) TERN_REFUSE_1(qr) TERN_REFUSE_1(svd) TERN_REFUSE_1(svdvals) TERN_REFUSE_1(eigh)
TERN_REFUSE_1(eigvalsh) TERN_REFUSE_1(eig) TERN_REFUSE_1(eigvals) TERN_REFUSE_1(inv) TERN_REFUSE_1(inv_ex)
TERN_REFUSE_1(pinv) TERN_REFUSE_1(det) TERN_REFUSE_1(slogdet) TERN_REFUSE_1(matrix_norm) TERN_REFUSE_1(vector_norm)
TERN_REFUSE_1(matrix_rank) TERN_REFUSE_1(cond) TERN_REFUSE_1(expm)
TERN_REFUSE_2(solve) TERN_REFUSE_2(solve_ex) TERN_REFUSE_2(solve_triangular) TERN_REFUSE_2(cholesky_solve)
TERN_REFUSE_2(lstsq)
TERN_REFUSE_3(lu_solve)
}  // namespace linalg

namespace fft {
TERN_REFUSE_1(fft) TERN_REFUSE_1(ifft) TERN_REFUSE_1(rfft) TERN_REFUSE_1(irfft) TERN_REFUSE_1(fftn)
TERN_REFUSE_1(ifftn) TERN_REFUSE_1(rfftn) TERN_REFUSE_1(irfftn) TERN_REFUSE_1(fft2) TERN_REFUSE_1(ifft2)
TERN_REFUSE_1(rfft2) TERN_REFUSE_1(irfft2) TERN_REFUSE_1(fftshift) TERN_REFUSE_1(ifftshift)
}  // namespace fft

#undef TERN_REFUSE
#undef TERN_REFUSE_CALL
#undef TERN_REFUSE_1
#undef TERN_REFUSE_2
#undef TERN_REFUSE_VALUES
#undef TERN_REFUSE_3
#undef TERN_REFUSE_OPTIONS_1
#undef TERN_REFUSE_OPTIONS_2
#undef TERN_REFUSE_OPTIONS_3
#undef TERN_REFUSE_LIST
#undef TERN_REFUSE_FORMULA
#undef TERN_REFUSE_OPERATOR
#undef TERN_REFUSED
#undef TERN_REFUSE_METHOD
#undef TERN_POINTWISE_OPERANDS
#undef TERN_INDEX_OPERANDS

}  // namespace tern
