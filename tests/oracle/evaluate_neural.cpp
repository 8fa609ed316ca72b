// Layers and losses, for compare_torch.py.
#include "case.hpp"

namespace oracle {
namespace {

PerAxis per_axis(const json& of) { return of.is_number() ? PerAxis(of.get<std::int64_t>()) : PerAxis(integers(of)); }
template <class G> PerAxis numbers(const G& c, const char* name, std::int64_t otherwise) {
  return c.has(name) ? per_axis(c.of[name]) : PerAxis(otherwise);
}
template <class G> ConvOptions conv_options(const G& c) {
  ConvOptions options{
      .stride = numbers(c, "stride", 1), .dilation = numbers(c, "dilation", 1), .groups = c.whole("groups", 1)};
  const json& padding = c.of.at("padding");
  if (padding.is_string()) options.padding = "same";
  else options.padding = Padding(per_axis(padding));
  return options;
}
template <class G> ConvTransposeOptions transpose_options(const G& c) {
  return {.stride = numbers(c, "stride", 1),
          .padding = numbers(c, "padding", 0),
          .output_padding = numbers(c, "output_padding", 0),
          .dilation = numbers(c, "dilation", 1),
          .groups = c.whole("groups", 1)};
}
template <class G> PoolOptions pool_options(const G& c) {
  PoolOptions options{.padding = numbers(c, "padding", 0),
                      .dilation = numbers(c, "dilation", 1),
                      .count_padding = c.flag("count_padding")};
  if (c.has("stride")) options.stride = per_axis(c.of["stride"]);
  return options;
}
template <class G> WindowOptions window_options(const G& c) {
  return {
      .stride = numbers(c, "stride", 1), .padding = numbers(c, "padding", 0), .dilation = numbers(c, "dilation", 1)};
}
Resampling resampling(const std::string& name) {
  return name == "nearest" ? Resampling::nearest : name == "linear" ? Resampling::linear : Resampling::cubic;
}
template <class G> GridSampleOptions grid_options(const G& c) {
  const std::string padding = c.text("padding");
  return {.mode = resampling(c.text("mode")),
          .padding = padding == "zeros"    ? GridPadding::zeros
                     : padding == "border" ? GridPadding::border
                                           : GridPadding::reflection,
          .align_corners = c.flag("align_corners")};
}

template <class G> auto attended(const G& c) {
  using T = Kind<G>;
  const T q = c("q"), k = c("k"), v = c("v");
  Tensor logsumexp;
  AttentionOptions options{
      .causal = c.flag("causal"), .lengths = c.plain("lengths"), .rows_at_once = c.whole("rows_at_once")};
  if (c.has("scale")) options.scale = c.real("scale");
  if (c.has("window")) options.window = c.whole("window");
  if (c.flag("logsumexp")) options.logsumexp = &logsumexp;
  if (c.has("mask")) {
    options.mask = Pointwise<>([](auto, auto, auto, auto, auto seen) { return seen > 0; });
    options.mask_operands = {c.plain("mask")};
  }
  const std::string formula = c.text("formula");
  std::vector<T> results;
  if (formula == "alibi")
    results.push_back(attention(
        q, k, v, options, [](auto s, auto, auto, auto i, auto j, auto slope) { return s - slope * (i - j); },
        c("operand")));
  else if (formula == "softcap")
    results.push_back(attention(
        q, k, v, options, [](auto s, auto, auto, auto, auto, auto cap) { return tanh(s / cap) * cap; }, 3.0));
  else if (formula == "bias")
    results.push_back(attention(
        q, k, v, options, [](auto s, auto, auto, auto, auto, auto b) { return s + b; }, c("operand")));
  else results.push_back(attention(q, k, v, options));
  if (c.flag("logsumexp")) results.push_back(as_result<T>(logsumexp));
  return results;
}

Reduction reduction_of(const std::string& name) {
  return name == "mean" ? Reduction::mean : name == "sum" ? Reduction::sum : Reduction::none;
}
template <class G> Reduction reduction(const G& c) { return reduction_of(c.text("reduction", "mean")); }
template <class G> std::optional<std::int32_t> ignored(const G& c) {
  return c.has("ignored") ? std::optional(static_cast<std::int32_t>(c.whole("ignored"))) : std::nullopt;
}

}  // namespace

Evaluations layers() {
  return {
      ORACLE("linear", linear(c("x"), c("weight"), c.optional("bias"))),
      ORACLE("embedding", embedding(c.plain("indices"), c("weight"))),
      ORACLE("conv1d", conv1d(c("x"), c("weight"), c.optional("bias"), conv_options(c))),
      ORACLE("conv2d", conv2d(c("x"), c("weight"), c.optional("bias"), conv_options(c))),
      ORACLE("conv3d", conv3d(c("x"), c("weight"), c.optional("bias"), conv_options(c))),
      ORACLE("conv2d_epilogue", conv2d_epilogue(
                                    c("x"), c("weight"), conv_options(c),
                                    [](auto sum, auto bias, auto residual) { return tanh(sum + bias) + residual; },
                                    c("bias"), c("residual"))),
      ORACLE("conv_transpose1d", conv_transpose1d(c("x"), c("weight"), c.optional("bias"), transpose_options(c))),
      ORACLE("conv_transpose2d", conv_transpose2d(c("x"), c("weight"), c.optional("bias"), transpose_options(c))),
      ORACLE("conv_transpose3d", conv_transpose3d(c("x"), c("weight"), c.optional("bias"), transpose_options(c))),
      ORACLE("max_pool", max_pool(c("x"), per_axis(c.of.at("kernel")), pool_options(c))),
      ORACLE("avg_pool", avg_pool(c("x"), per_axis(c.of.at("kernel")), pool_options(c))),
      ORACLE("adaptive_avg_pool", adaptive_avg_pool(c("x"), per_axis(c.of.at("sizes")))),
      ORACLE("unfold", unfold(c("x"), per_axis(c.of.at("kernel")), window_options(c))),
      ORACLE("fold", fold(c("x"), per_axis(c.of.at("sizes")), per_axis(c.of.at("kernel")), window_options(c))),
      ORACLE("interpolate", interpolate(c("x"), per_axis(c.of.at("sizes")),
                                        {.mode = resampling(c.text("mode")),
                                         .align_corners = c.flag("align_corners"),
                                         .antialias = c.flag("antialias")})),
      ORACLE("grid_sample", grid_sample(c("x"), c("grid"), grid_options(c))),
      {"attention", of_both([](auto c) { return attended(c); })},
      ORACLE("group_norm",
             group_norm(c("x"), c.whole("groups"), c.optional("weight"), c.optional("bias"), c.real("eps", 1e-5))),
      ORACLE("instance_norm", instance_norm(c("x"), c.optional("weight"), c.optional("bias"), c.real("eps", 1e-5))),
      ORACLE_OF("batch_norm",
                {
                  using T = Kind<decltype(c)>;
                  const Tensor mean = c.plain("mean"), variance = c.plain("variance");
                  const T y = batch_norm(c("x"), mean, variance, c.optional("weight"), c.optional("bias"),
                                         {.training = c.flag("training"), .momentum = c.real("momentum", 0.1)});
                  return {y, as_result<T>(mean), as_result<T>(variance)};
                }),
      ORACLE("layer_norm", layer_norm(c("x"), c("weight"), c("bias"), c.real("eps", 1e-5))),
      ORACLE("rms_norm", rms_norm(c("x"), c("weight"), c.real("eps", 1e-6))),
  };
}

Evaluations losses() {
  return {
      ORACLE("mse_loss", mse_loss(c("x"), c("y"), reduction(c))),
      ORACLE("l1_loss", l1_loss(c("x"), c("y"), reduction(c))),
      ORACLE("huber_loss", huber_loss(c("x"), c("y"), c.real("delta", 1), reduction(c))),
      ORACLE(
          "binary_cross_entropy_with_logits",
          binary_cross_entropy_with_logits(
              c("x"), c("y"),
              {.weight = c.plain("weight"), .positive_weight = c.plain("positive_weight"), .reduction = reduction(c)})),
      ORACLE("nll_loss", nll_loss(c("x"), c.plain("labels"),
                                  {.weight = c.plain("weight"), .ignored = ignored(c), .reduction = reduction(c)})),
      ORACLE("kl_div",
             kl_div(c("x"), c("y"),
                    {.log_target = c.flag("log_target"), .per_row = c.flag("per_row"), .reduction = reduction(c)})),
      ORACLE("cosine_similarity", cosine_similarity(c("x"), c("y"), static_cast<int>(c.whole("axis", -1)))),
      ORACLE("cross_entropy", cross_entropy(c("x"), c.plain("labels"),
                                            {.ignored = ignored(c),
                                             .smoothing = c.real("smoothing"),
                                             .weight = c.plain("weight"),
                                             .reduction = reduction(c)})),
      ORACLE("soft_cross_entropy",
             cross_entropy(c("x"), c("y"),
                           {.smoothing = c.real("smoothing"), .weight = c.plain("weight"), .reduction = reduction(c)})),
  };
}

}  // namespace oracle
