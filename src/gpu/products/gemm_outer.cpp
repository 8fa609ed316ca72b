#include "gpu/products/gemm_outer.hpp"

#include <vector>

#include "gpu/products/gemm_tiny.hpp"
#include "primitives/fused/fused.hpp"

namespace tern::detail_gpu {

using detail::GemmRequest;
using detail::Operand;
using detail::View;

namespace {

// Steps along k: each is two operands of the formula. In tiles 4096 x 1 x 4096 took 34 us in f32 and 54 in bf16, whose
// results are half as many bytes (WebGPU, H200, 27 November 2026); by cuBLASLt 29 in f32.
constexpr std::int64_t kMostOuterSteps = 4;

}  // namespace

bool is_outer_product(const GemmRequest& r) {
  return r.k >= 1 && r.k <= kMostOuterSteps && r.contracted == 0 && is_floating(r.a.dtype) && !is_tiny(r) &&
         r.batch.rank() + 2 <= static_cast<int>(kMostAxes);
}

void multiply_as_formula(GpuBackend& backend, const GemmRequest& r) {
  const auto row = static_cast<std::size_t>(r.batch.rank());
  const std::vector<detail::InputType>& of_epilogue = r.epilogue->inputs;
  std::vector<Operand> inputs(1);
  std::vector<detail::InputType> types(1);
  std::vector<Expr> arguments(1);
  for (std::size_t i = 0; i < r.inputs.size(); ++i) {  // where plain numbers have the places of the request
    inputs.push_back(r.inputs[i]), types.push_back(of_epilogue[i + 1]);
    arguments.push_back(detail::make_input(static_cast<int>(i) + 1));
  }
  /// A column of a or a row of b, over batch + [m, n].
  const auto factor = [&](const View& matrix, std::size_t axis_of_k, std::int64_t k) {
    View line = matrix;
    line.offset += k * matrix.strides[axis_of_k], line.strides[axis_of_k] = 0;
    const bool first = !inputs[0].view.storage;
    if (!first) inputs.emplace_back(), types.emplace_back();
    const std::size_t place = first ? 0 : inputs.size() - 1;
    inputs[place] = {line, {}, nullptr}, types[place] = {matrix.dtype, false};
    const Expr x = detail::make_input(static_cast<int>(place));
    return of_epilogue[0].dtype == matrix.dtype ? x : cast(x, of_epilogue[0].dtype);
  };
  for (std::int64_t k = 0; k < r.k; ++k) {
    const Expr a = factor(r.a, row + 1, k), b = factor(r.b, row, k);
    arguments[0] = k ? arguments[0] + a * b : a * b;
  }
  const std::vector<Expr> results = detail::substitute(r.epilogue->graph, arguments);
  detail::FusedRequest formula;
  formula.op = r.op, formula.space = r.space(r.m, r.n);
  formula.program =
      &detail::type_program(r.op, detail::make_graph(results, static_cast<int>(inputs.size())), types);
  formula.inputs = inputs, formula.outputs = r.outputs;
  backend.execute(formula);
}

}  // namespace tern::detail_gpu
