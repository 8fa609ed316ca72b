// Clipping of gradients, in place.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "optim/updates.hpp"
#include "tern/complex.hpp"
#include "tern/optim.hpp"

namespace tern::optim {

using namespace detail;

namespace {

void check_limit(const char* op, double limit) {
  if (!(limit >= 0))
    throw Error(ErrorKind::shape, std::string(op) + ": the limit must be 0 or more, got " + std::to_string(limit));
}

/// The gradients of these parameters, each once, in memory that is nobody else's, as constants.
PoolVector<const Tensor*> gradients_of(Gradients& gradients, const std::vector<Var>& parameters) {
  PoolVector<Var*> list;
  for (const Var& p : parameters) {
    const auto found = gradients.map().find(p.id());
    if (p.id() != 0 && found != gradients.map().end()) list.push_back(&found->second);
  }
  PoolMap<const Var*, bool> known;
  std::erase_if(list, [&](const Var* g) { return std::exchange(known[g], true); });
  for (Var* g : list)
    if (g->requires_grad()) *g = as_var(g->value());
  make_own(list, {}, false);
  PoolVector<const Tensor*> values;
  for (const Var* g : list) values.push_back(&g->value());
  return values;
}
/// Those of a container, which are written to as they are: throws where that would show elsewhere.
PoolVector<const Tensor*> gradients_of(const char* op, const std::vector<Var>& gradients) {
  PoolVector<const Tensor*> values;
  PoolMap<const Storage*, std::size_t> known;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const Tensor& g = gradients[i].value();
    if (!g.defined()) continue;
    const auto refuse = [&](ErrorKind kind, const std::string& why) {
      throw Error(kind, std::string(op) + ": gradient " + std::to_string(i) + why);
    };
    if (gradients[i].requires_grad())
      refuse(ErrorKind::autograd, " is differentiable and cannot be changed in place: ask for plain ones (without "
                                  "create_graph), or detach() it");
    if (!is_differentiable(g.dtype())) refuse(ErrorKind::dtype, " must be floating-point, got " + describe(g));
    require_writable(op, g);
    const auto [other, is_new] = known.emplace(g.impl()->storage.get(), i);
    if (!is_new)
      refuse(ErrorKind::value, " shares its memory with gradient " + std::to_string(other->second) +
                                   ", so that one may change with the other: clone() it");
    values.push_back(&g);
  }
  return values;
}

/// x → (d, Σ (x / d)²) in `result`, with d the largest |x|, so that no square overflows or vanishes. Where |x| is not
/// finite, d is 1 and the sum says so.
const FormulaGraph* squares_graph(DType work, DType result) {
  const bool wide = work == DType::f64;
  const double largest = wide ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  const Expr x = cast(make_input(0), work), top = max(abs(x));
  const Expr d = where(top <= largest, maximum(top, 1e-30), cast(make_constant(1), work));
  const Expr scaled = x / d;
  const Expr outputs[] = {cast(d, result), cast(sum(scaled * scaled), result)};
  return make_graph(outputs, 1);
}
/// Of all gradients together: (d, sums, limit) → (norm, two numbers whose product scales it to the limit). They are two
/// because 1 / 1e38 is subnormal, for which WebGPU may put 0.
const FormulaGraph* norm_graph(DType work) {
  const Expr d = make_input(0), sums = make_input(1), limit = make_input(2);
  const Expr top = max(d), part = d / top;
  const Expr norm = top * sqrt(sum(sums * (part * part)));
  const auto where_large = [&](double then) {
    return where(norm > 1e30, cast(make_constant(then), work), cast(make_constant(1), work));
  };
  const Expr before = where_large(0x1p-40);
  const Expr outputs[] = {norm, before, minimum(limit / (norm * before + 1e-6), where_large(0x1p40))};
  return make_graph(outputs, 3);
}
const FormulaGraph* scale_graph(bool narrow, DType dtype) {
  const DType work = dtype == DType::f64 ? DType::f64 : DType::f32;
  const Expr g = narrow ? cast(make_input(0), work) : make_input(0);
  const Expr scaled = g * cast(make_input(1), work) * cast(make_input(2), work);
  const Expr output = narrow ? cast(scaled, dtype) : scaled;
  return make_graph({&output, 1}, 3);
}
const FormulaGraph* clamp_graph(bool, DType) {
  return graph_of([](auto g, auto limit) { return minimum(maximum(g, -limit), limit); });
}

/// squares_graph of every gradient: [2, n] in `dtype`.
Tensor squares_of(std::span<const Tensor* const> gradients, DType dtype) {
  const auto count = static_cast<std::int64_t>(gradients.size());
  const Tensor parts = zeros({2, count}, {.dtype = dtype, .device = gradients[0]->device()});
  parts.slice(0, 0, 1).copy_from(full({}, 1e-30, {.dtype = dtype, .device = parts.device()}));
  for (std::int64_t i = 0; i < count; ++i) {
    const Tensor& gradient = *gradients[static_cast<std::size_t>(i)];
    if (gradient.numel() == 0) continue;
    const Tensor g = is_complex(gradient.dtype()) ? view_as_real(gradient) : gradient;
    const auto all = static_cast<std::uint32_t>((std::uint64_t{1} << g.dim()) - 1);
    const Shape one = with_ones(g.shape(), all);
    const auto place = [&](std::int64_t row) { return parts.slice(0, row, row + 1).slice(1, i, i + 1).reshape(one); };
    const DType work = g.dtype() == DType::f64 ? DType::f64 : DType::f32;
    const Tensor into[] = {place(0), place(1)};
    const Argument arguments[] = {Argument(g)};
    Tensor results[2];
    run_fused({"clip_grad_norm", squares_graph(work, dtype), all, {}}, arguments, into, results);
  }
  return parts;
}

Tensor clip_norm(std::span<const Tensor* const> list, double limit, Device where_none) {
  constexpr const char* op = "clip_grad_norm";
  for (const Tensor* g : list) require_same_device(op, *list[0], *g);
  if (list.empty()) return zeros({}, {.device = where_none});
  const bool wide = std::ranges::any_of(list, [](const Tensor* g) { return real_dtype(g->dtype()) == DType::f64; });
  const Tensor parts = squares_of(list, wide ? DType::f64 : DType::f32);
  const Tensor d = parts.slice(0, 0, 1), sums = parts.slice(0, 1, 2);
  const Argument arguments[] = {Argument(d), Argument(sums), Argument(limit)};
  static const FormulaGraph* const of_f32 = norm_graph(DType::f32);
  static const FormulaGraph* const of_f64 = norm_graph(DType::f64);
  Tensor found[3];  // the norm, and the factors
  run_fused({op, wide ? of_f64 : of_f32, 3, {}}, arguments, {}, found);
  const Tensor before = found[1].reshape({}), factor = found[2].reshape({});
  static const Graphs graphs(scale_graph);
  Updates updates(op);
  const Tensor* const read[] = {&before, &factor};
  for (const Tensor* g : list) updates.add(graphs.of(g->dtype()), {g, 1}, read, {});
  updates.run();
  return found[0].reshape({});
}
void clip_values(std::span<const Tensor* const> list, double limit) {
  static const Graphs graphs(clamp_graph);
  const Argument numbers[] = {Argument(limit)};
  Updates updates("clip_grad_value");
  for (const Tensor* g : list) updates.add(graphs.of(g->dtype()), {g, 1}, {}, numbers);
  updates.run();
}

}  // namespace

Tensor clip_grad_norm(Gradients& gradients, const std::vector<Var>& parameters, double limit) {
  check_limit("clip_grad_norm", limit);
  const Device device = parameters.empty() ? default_device() : parameters[0].device();
  return clip_norm(gradients_of(gradients, parameters), limit, device);
}
void clip_grad_value(Gradients& gradients, const std::vector<Var>& parameters, double limit) {
  check_limit("clip_grad_value", limit);
  clip_values(gradients_of(gradients, parameters), limit);
}
Tensor clip_grad_norm(const std::vector<Var>& gradients, double limit) {
  check_limit("clip_grad_norm", limit);
  return clip_norm(gradients_of("clip_grad_norm", gradients), limit, default_device());
}
void clip_grad_value(const std::vector<Var>& gradients, double limit) {
  check_limit("clip_grad_value", limit);
  clip_values(gradients_of("clip_grad_value", gradients), limit);
}

}  // namespace tern::optim
