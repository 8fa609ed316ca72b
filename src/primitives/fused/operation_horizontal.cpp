#include "primitives/fused/operation_horizontal.hpp"

namespace tern::detail {

template <class T>
void copy_parts(const char* op, std::span<const T> parts, std::size_t axis, std::span<const std::int64_t> begins,
                const Tensor& result) {
  constexpr std::size_t kAtOnce = 256;  // copies of a call
  // 16-bit floats as i16: through f32, a signalling NaN would become a quiet one.
  const DType dtype = is_floating(result.dtype()) && dtype_size(result.dtype()) == 2 ? DType::i16 : result.dtype();
  const InputType type{dtype, false};
  const Program& program = type_program(op, identity_graph(), {&type, 1});
  PoolVector<Operand> operands(parts.size());
  PoolVector<View> views(parts.size());
  PoolVector<FusedRequest> requests;
  const auto run_all = [&] {
    if (!requests.empty()) run_horizontally(result.impl()->storage->backend(), requests);
    requests.clear();
  };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Shape& shape = value_of(parts[i]).shape();
    if (shape.numel() == 0) continue;
    operands[i].view = view_over(value_of(parts[i]), shape), operands[i].view.dtype = dtype;
    views[i] = view_over(result, result.shape()), views[i].dtype = dtype;
    views[i].offset += begins[i] * views[i].strides[axis];
    requests.push_back({op, &program, shape, 0, {&operands[i], 1}, {&views[i], 1}});
    if (requests.size() == kAtOnce) run_all();
  }
  run_all();
}
template void copy_parts(const char*, std::span<const Tensor>, std::size_t, std::span<const std::int64_t>,
                         const Tensor&);
template void copy_parts(const char*, std::span<const Var>, std::size_t, std::span<const std::int64_t>, const Tensor&);

}  // namespace tern::detail
