#include "gpu/products/gemm_pass.hpp"

#include <vector>

#include "formula/compute_types.hpp"
#include "gpu/elementwise.hpp"
#include "gpu/products/epilogue.hpp"
#include "gpu/reductions/reduce.hpp"
#include "primitives/fused/fused.hpp"

namespace tern::detail_gpu {

using detail::GemmRequest;

const detail::Program* plain_epilogue(const char* op, DType dtype) {
  const detail::InputType type{dtype, false};
  return &detail::type_program(op, detail::identity_graph(), {&type, 1});
}

ProductInMemory::ProductInMemory(GpuBackend& backend, const GemmRequest& r, DType dtype)
    : space(sizes_over_tile(r)), memory(backend.temporary(space.numel(), dtype)), view{memory.get(), dtype, 0, {}} {
  view.strides.resize(space.rank(), 0);
  std::int64_t step = 1;
  for (auto i = static_cast<std::size_t>(space.rank()); i-- > 0; step *= space[i]) view.strides[i] = step;
}

void apply_epilogue(GpuBackend& backend, const GemmRequest& r, const View& sums, const Shape& space) {
  std::vector<detail::Operand> inputs{{sums, {}, nullptr}};
  inputs.insert(inputs.end(), r.inputs.begin(), r.inputs.end());
  detail::FusedRequest pass;
  pass.op = r.op, pass.program = r.epilogue, pass.space = space;
  pass.inputs = inputs, pass.outputs = r.outputs;
  backend.execute(pass);
}

void add_up(GpuBackend& backend, const char* op, const View& parts, std::int64_t count, const View& to,
            const Shape& space) {
  const Expr sum_of = cast(sum(detail::make_input(0)), to.dtype);
  const detail::FormulaGraph* const graph = detail::make_graph({&sum_of, 1}, 1);
  const detail::InputType type{parts.dtype, false};
  detail::FusedRequest sums;
  sums.op = op, sums.reduced = 1, sums.space = Shape{count};
  for (const std::int64_t size : space) sums.space.push_back(size);
  const detail::Operand input{parts, {}, nullptr};
  View output = to;
  output.strides.resize(to.strides.size() + 1, 0);
  for (std::size_t i = to.strides.size(); i-- > 0;) output.strides[i + 1] = to.strides[i];
  output.strides[0] = 0;
  sums.program = &detail::type_program(op, graph, {&type, 1});
  sums.inputs = {&input, 1}, sums.outputs = {&output, 1};
  run_reducing(backend, sums);
}

void multiply_in_one_or_pass(GpuBackend& backend, const GemmRequest& r, Multiply multiply) {
  if (!backend.limits().archived || is_plain_product(r)) return run_gemm_kernel(backend, r);
  const ProductInMemory product(backend, r, dtype_computed_in(detail::compute_type_of(r.a.dtype)));
  GemmRequest alone = r;
  alone.epilogue = plain_epilogue(r.op, product.view.dtype);
  alone.inputs = {}, alone.outputs = {&product.view, 1};
  multiply(backend, alone);
  apply_epilogue(backend, r, product.view, product.space);
}

void multiply_on_gpu(GpuBackend& backend, const GemmRequest& r) {
  multiply_in_one_or_pass(backend, r, multiply_on_gpu);
}

}  // namespace tern::detail_gpu
