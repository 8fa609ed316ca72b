#include "pack_calls.hpp"

#include "formula/rule.hpp"
#include "registered_calls.hpp"

namespace tern::tools {
namespace {

constexpr DType kFloats[] = {DType::f32, DType::f64, DType::f16, DType::bf16};
constexpr DType kDTypes[] = {DType::boolean, DType::u8,  DType::i8,   DType::i16, DType::i32, DType::u32,
                             DType::i64,     DType::f16, DType::bf16, DType::f32, DType::f64};
// Kernels depend on sizes only by which of them a request is made of: rows that one kernel walks, or those so few and
// long that they are cut into segments.
constexpr std::int64_t kSide = 64, kManySide = 4096;
const Shape kSquare{kSide, kSide}, kLongRows{2, 1 << 20};

/// A formula with each operand a tensor, a number, or (of floats) a variable whose gradient is wanted.
void call_with_each_kind(const Pointwise<>& f, int arity, DType dtype, const std::function<bool(int)>& condition) {
  const bool floats = is_floating(dtype);
  std::vector<Var> constant, tracked;
  for (int i = 0; i < arity; ++i) {
    const Tensor x = zeros(kSquare, condition(i) ? DType::boolean : dtype);
    constant.emplace_back(x, false), tracked.emplace_back(x, floats && !condition(i));
  }
  const int kinds = floats ? 3 : 2;
  int combinations = 1;
  for (int i = 0; i < arity; ++i) combinations *= kinds;
  for (int c = 0; c < combinations; ++c) {
    std::vector<detail::Argument> arguments;
    bool tensors = false;
    for (int i = 0, rest = c; i < arity; ++i, rest /= kinds) {
      const auto place = static_cast<std::size_t>(i);
      tensors |= rest % kinds != 0;
      arguments.push_back(rest % kinds == 0   ? detail::Argument(2)
                          : rest % kinds == 1 ? detail::Argument(constant[place])
                                              : detail::Argument(tracked[place]));
    }
    if (tensors) attempt([&] { back(applied(f, arguments)); });
  }
}

/// Numbers times a mask: a boolean operand takes the other's dtype.
void call_with_mask(DType dtype) {
  const Var x(zeros(kSquare, dtype)), mask(zeros(kSquare, DType::boolean), false);
  back(x * mask), back(mask * x);
}

/// Arithmetic of a matrix and a column; rows have the kernels of matrices.
void call_with_columns(DType dtype) {
  const Tensor x = zeros(kSquare, dtype), column = zeros({kSide, 1}, dtype);
  x + column, x - column, x * column, x / column;
  column + x, column - x, column * x, column / x;
}

void call_every_formula(DType dtype) {
  for (const Registered& r : registry()) {
    const bool chooses = r.leaf && r.formula == &op::where;
    call_with_each_kind(*r.formula, r.arity(), dtype, [&](int i) { return chooses && i == 0; });
  }
}

void call_conversions_and_copies() {
  for (const DType from : kDTypes) {
    const Tensor x = zeros(kSquare, from);
    for (const DType to : kDTypes) attempt([&] { x.to(to); });
    attempt([&] { x.transpose(0, 1).contiguous(); });
    attempt([&] { ones({3}, from); });
    attempt([&] { eye(3, {.dtype = from}); });
    attempt([&] { arange(0, 5, 1, {.dtype = from}); });
    attempt([&] { linspace(0, 1, 3, {.dtype = from}); });
    attempt([&] { allclose(x, x); });
    attempt([&] { concatenate(std::vector{x, x}, 0), stack(std::vector{x, x}); });
  }
}

void call_reductions(const Shape& shape) {
  for (const DType dtype : kDTypes) {
    const Tensor x = zeros(shape, dtype);
    for (const Axes& axes : {Axes{1}, Axes{0}, Axes{}}) {
      for (const auto& reduce : {+[](const Tensor&t, const Axes&a) { return sum(t, a); },
                                 +[](const Tensor&t, const Axes&a) { return sum(t, a, false, DType::i64); },
                                 +[](const Tensor&t, const Axes&a) { return prod(t, a); },
                                 +[](const Tensor&t, const Axes&a) { return mean(t, a); },
                                 +[](const Tensor&t, const Axes&a) { return max(t, a); },
                                 +[](const Tensor&t, const Axes&a) { return min(t, a); },
                                 +[](const Tensor&t, const Axes&a) { return any(t, a); },
                                 +[](const Tensor&t, const Axes&a) { return all(t, a); },
                                 +[](const Tensor&t, const Axes&a) { return argmax(t, a); },
                                 +[](const Tensor&t, const Axes&a) { return argmin(t, a); },
                                 +[](const Tensor&t, const Axes&a) { return logsumexp(t, a); },
                                 +[](const Tensor&t, const Axes&a) { return var(t, a); },
                                 +[](const Tensor&t, const Axes&a) { return tern::std(t, a); },
                                 +[](const Tensor&t, const Axes&a) { return norm(t, a); }})
        attempt([&] { reduce(x, axes); });
    }
  }
}
/// And their gradients.
void call_tracked_reductions(const Shape& shape) {
  for (const DType dtype : kFloats) {
    const Var x(zeros(shape, dtype));
    for (const Axes& axes : {Axes{1}, Axes{0}, Axes{}})
      for (const auto& reduce :
           {+[](const Var&t, const Axes&a) { return sum(t, a); }, +[](const Var&t, const Axes&a) { return mean(t, a); },
            +[](const Var&t, const Axes&a) { return max(t, a); }, +[](const Var&t, const Axes&a) { return min(t, a); },
            +[](const Var&t, const Axes&a) { return logsumexp(t, a); },
            +[](const Var&t, const Axes&a) { return var(t, a); },
            +[](const Var&t, const Axes&a) { return tern::std(t, a); },
            +[](const Var&t, const Axes&a) { return norm(t, a); }})
        attempt([&] { back(reduce(x, axes)); });
  }
}

void call_by_index() {
  const Tensor indices = zeros({kSide}, DType::i32), many = zeros({1 << 14}, DType::i32);
  for (const DType dtype : kDTypes) {
    const Tensor x = zeros(kSquare, dtype);
    attempt([&] { take(x, indices), take(x, indices, 1); });
    attempt([&] { take(x, indices.to(DType::i64)); });
    attempt([&] { gather(x, zeros(kSquare, DType::i32), 1); });
    attempt([&] { scatter_add(x, indices, x); });
    attempt([&] { scatter_add(x, many, zeros({1 << 14, kSide}, dtype)); });
    attempt([&] { scatter_add(zeros({2}, dtype), many, zeros({1 << 14}, dtype)); });
    attempt([&] { one_hot(indices, 10); });
    for (const std::int64_t length : {kSide, std::int64_t{5000}, std::int64_t{1} << 17})
      attempt([&] { back(cumsum(Var(zeros({2, length}, dtype), is_floating(dtype)), 1)); });
    for (const std::int64_t length : {kSide, std::int64_t{5000}}) {
      const Tensor line = zeros({2, length}, dtype);
      attempt([&] { sort(line, 1), sort(line, 1, true); });
      attempt([&] { sort(line.transpose(0, 1), 0), topk(line, 1, 1), topk(line.transpose(0, 1), length / 2, 0); });
    }
    attempt([&] { topk(zeros({2, 5000}, dtype), 1100, 1); });
  }
  for (const DType dtype : kFloats) {
    const Var x(zeros(kSquare, dtype));
    attempt([&] { back(take(x, indices)); });
    attempt([&] { back(cumsum(x, 1)); });
    attempt([&] { back(concatenate(std::vector{x, x}, 0)); });
  }
}

/// Products whose factors lie each way, of few tiles and of many, and deep ones, which are cut along k.
void call_products(DType dtype) {
  const auto factor = [&](std::int64_t rows, std::int64_t columns, bool transposed) {
    return transposed ? zeros({columns, rows}, dtype).transpose(0, 1) : zeros({rows, columns}, dtype);
  };
  for (const std::int64_t side : {kSide, kManySide})
    for (const bool a : {false, true})
      for (const bool b : {false, true}) attempt([&] { matmul(factor(side, side, a), factor(side, side, b)); });
  attempt([&] { matmul(zeros({kSide, 1 << 14}, dtype), zeros({1 << 14, kSide}, dtype)); });
  attempt([&] { back(matmul(Var(zeros({2, kSide, kSide}, dtype)), Var(zeros({kSide, kSide}, dtype)))); });
  attempt([&] { back(matmul(Var(zeros({2, kSide, kSide}, dtype)), Var(zeros({2, kSide, kSide}, dtype)))); });
  if (!is_floating(dtype)) return;
  for (const std::int64_t side : {kSide, kManySide}) call_epilogues(dtype, {side, side});
}

void call_random() {
  Generator generator{1};
  for (const DType dtype : kDTypes) {
    attempt([&] { rand({kSide}, generator, {.dtype = dtype}); });
    attempt([&] { randn({kSide}, generator, {.dtype = dtype}); });
    attempt([&] { randint(0, 5, {kSide}, generator, {.dtype = dtype}); });
    attempt([&] { randint(INT32_MIN, std::int64_t{1} << 31, {kSide}, generator, {.dtype = dtype}); });
    attempt([&] { randint(0, std::int64_t{1} << 32, {kSide}, generator, {.dtype = dtype}); });
    attempt([&] { capture(default_device(), [&] { rand({kSide}, generator, {.dtype = dtype}); }).replay(); });
    attempt([&] { capture(default_device(), [&] { randn({kSide}, generator, {.dtype = dtype}); }).replay(); });
    attempt([&] { capture(default_device(), [&] { randint(0, 5, {kSide}, generator, {.dtype = dtype}); }).replay(); });
  }
}

}  // namespace

void call_for_pack(bool in_vectors) {
  for (const DType dtype : kDTypes) call_every_formula(dtype);
  call_conversions_and_copies();
  for (const DType dtype : kFloats) {
    call_with_mask(dtype), call_with_columns(dtype);
    if (!in_vectors) call_formulas(dtype, kSquare);  // with broadcast operands
    for (const Shape& shape : {kSquare, kLongRows}) call_operations(dtype, shape), call_losses(dtype, shape);
    call_optimisers(dtype, kSquare);
  }
  for (const DType dtype : kDTypes) call_products(dtype);
  for (const Shape& shape : {kSquare, kLongRows}) call_reductions(shape);
  for (const Shape& shape : {kSquare, kLongRows}) call_tracked_reductions(shape);
  call_by_index(), call_random();
}

}  // namespace tern::tools
