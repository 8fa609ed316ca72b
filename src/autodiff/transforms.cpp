// What the transforms of tern/transforms.hpp share: everything that does not depend on the types of their arguments.
#include "tern/transforms.hpp"

#include <string>

#include "autodiff/joining.hpp"
#include "backend/tensor_impl.hpp"

namespace tern::detail {

namespace {
/// Among values that derivatives are taken of or by, at least one must be floating.
void require_floating(const char* op, const char* what, std::span<const Var> variables) {
  for (const Var& v : variables)
    if (is_differentiable(v.dtype())) return;
  if (!variables.empty())
    throw Error(ErrorKind::dtype, std::string(op) + ": " + what + " must be floating-point to have a derivative, got " +
                                      describe(variables[0].value()) + "; convert it with .to(f32)");
}
}  // namespace

std::vector<Var> aliases(const char* op, std::vector<Var> variables) {
  for (const Var& v : variables) require_defined(op, "an argument", v.value());
  require_floating(op, "the argument", variables);
  for (Var& v : variables) v = alias(v);
  return variables;
}
void check_seeds(const char* op, const char* what, std::span<const Var> seeds, const char* of,
                 std::span<const Var> like) {
  const std::string name = std::string(op) + ": ";
  if (seeds.size() != like.size())
    throw Error(ErrorKind::shape, name + "the " + what + " must hold as many tensors as it is for: expected " +
                                      std::to_string(like.size()) + ", got " + std::to_string(seeds.size()));
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    const std::string number = " " + std::to_string(i), this_one = what + number;
    const Tensor &seed = require_defined(op, this_one.c_str(), seeds[i].value()), &wanted = like[i].value();
    const auto fail = [&](ErrorKind kind, const char* property) {
      throw Error(kind, name + this_one + " must have the " + property + " of " + of + number + ": expected " +
                            describe(wanted) + ", got " + describe(seed));
    };
    if (seed.shape() != wanted.shape()) fail(ErrorKind::shape, "shape");
    if (is_differentiable(wanted.dtype()) && seed.dtype() != wanted.dtype()) fail(ErrorKind::dtype, "dtype");
    require_same_device(op, wanted, seed);
  }
}
void check_results(const char* op, std::span<const Var> y) {
  for (const Var& v : y) require_defined(op, "the function's result", v.value());
  require_floating(op, "the function's result", y);
}
void check_one_element(const char* op, const Var& y) {
  require_defined(op, "the function's result", y.value());
  if (y.numel() != 1)
    throw Error(ErrorKind::autograd,
                std::string(op) + ": the function must return one element, it returned shape " + to_string(y.shape()));
  require_floating(op, "the function's result", {&y, 1});
  if (is_complex(y.dtype()))
    throw Error(ErrorKind::autograd,
                std::string(op) + ": the function must return a real number, it returned " + describe(y.value()));
}
std::vector<Var> filled(std::vector<Var> gradients, std::span<const Var> like) {
  for (std::size_t i = 0; i < gradients.size(); ++i) gradients[i] = or_zeros(gradients[i], like[i]);
  return gradients;
}
std::vector<Var> owned(std::vector<Var> gradients, std::span<const Var> others, bool recorded) {
  std::vector<Var*> list;
  for (Var& g : gradients) list.push_back(&g);
  make_own(list, others, recorded);
  return gradients;
}
Var joined(const std::vector<Var>& parts) {
  if (parts.size() == 1) return parts[0];
  std::vector<Var> flat;
  for (const Var& part : parts) flat.push_back(part.reshape({-1}));
  return concatenated(flat, 0);
}

namespace {

/// Zeros with ones where `where` says.
template <class Where> Var indicator(const Var& like, Where where) {
  const Tensor t = zeros(like.shape(), {.dtype = like.dtype(), .device = like.device()});
  where(t).copy_from(ones({}, {.dtype = like.dtype(), .device = like.device()}));
  return as_var(t);
}
Var unit(const Var& like, std::int64_t i) {
  return indicator(like, [=](const Tensor& t) { return t.reshape({-1}).slice(0, i, i + 1); });
}
Var unit_column(const Var& like, std::int64_t i) {
  return indicator(like, [=](const Tensor& t) { return t.slice(-1, i, i + 1); });
}

/// Reverse and forward passes at one point: the forward ones traverse the recorded vjp.
class BackwardPasses {
 public:
  BackwardPasses(std::vector<Var> y, std::vector<Var> at, bool nested)
      : y_(std::move(y)), at_(std::move(at)), nested_(nested) {}

  /// The gradients of y[k] along a seed.
  std::vector<Var> reverse(std::size_t k, const Var& seed) const {
    return filled(backward_to({&y_[k], 1}, {&seed, 1}, at_, {.create_graph = nested_, .keep_graph = true}), at_);
  }
  /// The change of every y along a tangent of at[j].
  std::vector<Var> forward(std::size_t j, const Var& tangent) {
    if (cotangents_.empty()) {
      cotangents_ = aliases("jacobian", filled(std::vector<Var>(y_.size()), y_));
      vjp_ = backward_to(y_, cotangents_, at_, {.create_graph = true, .keep_graph = true});
    }
    return filled(backward_to({&vjp_[j], 1}, {&tangent, 1}, cotangents_, {.create_graph = nested_, .keep_graph = true}),
                  y_);
  }

 private:
  std::vector<Var> y_, at_, cotangents_, vjp_;
  bool nested_;
};

Shape followed_by(Shape shape, const Shape& more) {
  for (const std::int64_t size : more) shape.push_back(size);
  return shape;
}
/// Of the argument's dtype, as gradients are, in either mode.
Var stacked_as(const std::vector<Var>& parts, int axis, const Shape& shape, const Var& like) {
  if (parts.empty()) return as_var(zeros(shape, {.dtype = like.dtype(), .device = like.device()}));
  return detail::stacked(parts, axis).reshape(shape).to(like.dtype());
}
/// A forward pass costs about two reverse ones: it traverses the recorded vjp.
bool goes_forward(Mode mode, std::int64_t columns, std::int64_t rows) {
  return mode == Mode::forward || (mode == Mode::automatic && 2 * columns < rows);
}

}  // namespace

std::vector<Var> jacobians(const std::vector<Var>& y, const std::vector<Var>& at, Mode mode, bool nested) {
  check_results("jacobian", y);
  BackwardPasses passes(y, at, nested);
  std::int64_t rows = 0, columns = 0;
  for (const Var& v : y) rows += v.numel();
  for (const Var& v : at) columns += v.numel();
  std::vector<Var> result(y.size() * at.size());
  // cells[k][j][i]: the i-th pass's part of ∂y[k]/∂at[j]
  std::vector<std::vector<Var>> cells(result.size());
  const bool forward = goes_forward(mode, columns, rows);
  if (forward) {
    for (std::size_t j = 0; j < at.size(); ++j)
      for (std::int64_t i = 0; i < at[j].numel(); ++i) {
        const std::vector<Var> change = passes.forward(j, unit(at[j], i));
        for (std::size_t k = 0; k < y.size(); ++k) cells[k * at.size() + j].push_back(change[k]);
      }
  } else {
    for (std::size_t k = 0; k < y.size(); ++k)
      for (std::int64_t i = 0; i < y[k].numel(); ++i) {
        const std::vector<Var> gradient = passes.reverse(k, unit(y[k], i));
        for (std::size_t j = 0; j < at.size(); ++j) cells[k * at.size() + j].push_back(gradient[j]);
      }
  }
  for (std::size_t k = 0; k < y.size(); ++k)
    for (std::size_t j = 0; j < at.size(); ++j)
      result[k * at.size() + j] =
          stacked_as(cells[k * at.size() + j], forward ? y[k].dim() : 0, followed_by(y[k].shape(), at[j].shape()),
                     at[j]);
  return result;
}

Var batched_jacobian(const Var& y, const Var& at, Mode mode, bool nested) {
  const auto rows_of = [](const Var& v) {
    Shape rows = v.shape();
    rows.resize(std::max(rows.rank() - 1, 0));
    return rows;
  };
  check_results("batched_jacobian", {&y, 1});
  if (y.dim() == 0 || at.dim() == 0 || rows_of(y) != rows_of(at))
    throw Error(ErrorKind::shape, "batched_jacobian: the function must map rows to rows: it gave " +
                                      describe(y.value()) + " for " + describe(at.value()));
  BackwardPasses passes({y}, {at}, nested);
  const std::int64_t columns = at.shape().back(), outputs = y.shape().back();
  const Shape shape = followed_by(y.shape(), {columns});
  std::vector<Var> parts;
  if (goes_forward(mode, columns, outputs)) {
    for (std::int64_t i = 0; i < columns; ++i) parts.push_back(passes.forward(0, unit_column(at, i))[0]);
    return stacked_as(parts, -1, shape, at);
  }
  for (std::int64_t i = 0; i < outputs; ++i) parts.push_back(passes.reverse(0, unit_column(y, i))[0]);
  return stacked_as(parts, -2, shape, at);
}

}  // namespace tern::detail
