#include "archive_calls.hpp"

#include "formula/rule.hpp"
#include "ops/entry.hpp"
#include "registered_calls.hpp"

namespace tern::tools {
namespace {

constexpr DType kFloats[] = {DType::f32, DType::f64, DType::f16, DType::bf16};
constexpr DType kDTypes[] = {DType::boolean, DType::u8,  DType::i8,   DType::i16, DType::i32, DType::u32,
                             DType::i64,     DType::f16, DType::bf16, DType::f32, DType::f64};
constexpr std::int64_t kSide = operations::kArchivedSide, kManySide = 4096;
const Shape kSquare = operations::archived_square(), kLongRows = operations::archived_long_rows();

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
    const bool chooses = r.elementary && r.formula == &op::where;
    call_with_each_kind(*r.formula, r.arity(), dtype, [&](int i) { return chooses && i == 0; });
  }
}

/// What the entries say beside their samples.
void call_archived() {
  for (const operations::Entry& entry : operations::entries())
    for (const operations::ArchivedCall& call : entry.archived)
      for (const DType dtype : kDTypes)
        attempt([&] {
          if (const Var y = call.run(dtype); y.defined()) back(y);
        });
}

}  // namespace

void call_for_archive(bool in_vectors) {
  for (const DType dtype : kDTypes) call_every_formula(dtype);
  for (const DType dtype : kFloats) {
    call_with_mask(dtype), call_with_columns(dtype);
    if (!in_vectors) call_formulas(dtype, kSquare);  // with broadcast operands
    for (const Shape& shape : {kSquare, kLongRows}) call_operations(dtype, shape);
  }
  for (const DType dtype : kFloats)
    for (const std::int64_t side : {kSide, kManySide}) call_epilogues(dtype, {side, side});
  call_archived();
}

}  // namespace tern::tools
