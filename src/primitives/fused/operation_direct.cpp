#include "primitives/fused/operation_direct.hpp"

#include "backend/direct.hpp"
#include "backend/instruments/reads.hpp"
#include "backend/instruments/trace.hpp"
#include "backend/recording/capture.hpp"

namespace tern::detail {
namespace {

/// A cache: each thread's last ones, by the formula and what its operands are. (Not by the formula's last program:
/// x * 2 and x * y have one formula.)
struct RecentProgram {
  const FormulaGraph* graph = nullptr;
  std::uint64_t operands = 0;
  Backend* backend = nullptr;
  const Program* program = nullptr;
  const DirectProgram* direct = nullptr;
};
thread_local constinit RecentProgram recent[64];

/// Of formulas of complex tensors, by the address of their graph, with the one result's dtype.
struct RecentComplex {
  const FormulaGraph* graph = nullptr;
  Backend* backend = nullptr;
  const DirectProgram* direct = nullptr;
  const Program* on_each_part = nullptr;  // what it is of the parts, as elements beside each other; null: of pairs
  DType operands = DType::c64, result = DType::c64;
};
thread_local constinit RecentComplex recent_complex[16];
RecentComplex& slot_of(const FormulaGraph* graph) {
  return recent_complex[reinterpret_cast<std::uintptr_t>(graph) / 64 % 16];
}

bool is_contiguous(const TensorImpl& x) {
  std::int64_t step = 1;
  for (std::size_t i = static_cast<std::size_t>(x.shape.rank()); i-- > 0; step *= x.shape[i])
    if (x.strides[i] != step) return false;
  return true;
}
/// Whether a call would only be run and counted.
bool is_plain() { return !ReadScope::active() && !current_capture() && !instruments.cost && !listening(); }

/// The operands and results of a call.
class AlikeCall {
 public:
  /// False where an operand lies otherwise.
  bool read(std::span<const Argument> arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Tensor* const tensor = tensor_of(arguments[i]);
      read_[i] = tensor ? tensor->impl().get() : nullptr;
      if (tensor && (!read_[i] || !is_first_or_like_it(*read_[i]))) return false;
      constexpr std::uint64_t kNumber = 15;  // no dtype
      static_assert(kDTypeCount < kNumber);
      types_ = types_ << 4 | (tensor ? static_cast<std::uint64_t>(read_[i]->dtype) : kNumber);
      if (tensor) operands_[i] = {memory(*read_[i], bytes_read_), nullptr};
      else operands_[i] = {nullptr, &arguments[i].number};
    }
    count_ = arguments.size();
    return first_ != nullptr;
  }
  /// How its program is computed, where one loop does it; else what has no `direct`.
  const RecentProgram& program_of(const FusedCall& call) const {
    RecentProgram& slot = recent[(reinterpret_cast<std::uintptr_t>(call.graph) / 64 + types_) % 64];
    if (slot.graph == call.graph && slot.operands == types_ && slot.backend == &backend()) return slot;
    SmallVector<InputType, 8> types;
    for (std::size_t i = 0; i < count_; ++i)
      types.push_back(read_[i] ? InputType{read_[i]->dtype, false} : InputType{DType::f32, true});
    const Program& program = type_program(call.op, call.graph, types);
    const bool checked = !program.integral_numbers.empty();  // whether numbers are values of the dtype
    slot = {call.graph, types_, &backend(), &program,
            program.reduces || checked ? nullptr : direct_program(backend(), call.op, program)};
    return slot;
  }
  /// The same of complex tensors of one dtype and, among parts, real numbers.
  bool read(DType dtype, const Program* on_each_part, std::span<const Argument> arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const Tensor* const tensor = tensor_of(arguments[i]);
      const bool number = on_each_part && on_each_part->inputs[i].number;
      read_[i] = tensor ? tensor->impl().get() : nullptr;
      if (number ? tensor || arguments[i].is_complex
                 : !read_[i] || read_[i]->dtype != dtype || !is_first_or_like_it(*read_[i]))
        return false;
      if (number) operands_[i] = {nullptr, &arguments[i].number};
      else operands_[i] = {memory(*read_[i], bytes_read_), nullptr};
    }
    count_ = arguments.size();
    return first_ != nullptr;
  }
  /// The same of a result that is there.
  bool write(const ProgramOutput& output, const Tensor& to) {
    const TensorImpl* const x = to.impl().get();
    if (!x || x->dtype != output.dtype || x->storage->read_only() || !is_first_or_like_it(*x)) return false;
    for (std::size_t i = 0; i < count_; ++i)  // in place, or apart
      if (read_[i] && read_[i]->storage == x->storage && (read_[i]->offset != x->offset || read_[i]->dtype != x->dtype))
        return false;
    for (std::size_t k = 0; k < results_; ++k)
      if (written_[k]->storage == x->storage) return false;
    add_result(*x);
    return true;
  }
  void write_new(const char* op, DType dtype, Tensor& to) {
    to = make_tensor(first_->shape, dtype, backend(), op);
    add_result(*to.impl());
  }
  /// parts: elements of the program for each of the tensors'.
  void run(const DirectProgram& direct, std::int64_t parts = 1) const {
    count_direct_call();
    direct.run({operands_, count_}, {outputs_, results_}, parts * elements());
    TraceCounts& counts = instruments.counts;
    ++counts.calls, counts.bytes_read += bytes_read_, counts.bytes_written += bytes_written_;
  }
  Backend& backend() const { return first_->storage->backend(); }
  const Shape& shape() const { return first_->shape; }
  std::int64_t elements() const { return first_->numel; }

 private:
  /// Whether it has elements, which lie without gaps, as those of the first.
  bool is_first_or_like_it(const TensorImpl& x) {
    if (x.storage->awaits_replay()) return false;
    if (first_)
      return &x == first_ || (x.shape == first_->shape && x.strides == first_->strides &&
                              &x.storage->backend() == &backend());
    first_ = &x;
    return x.numel > 0 && is_contiguous(x);
  }
  static std::byte* memory(const TensorImpl& x, std::int64_t& bytes) {
    const auto size = static_cast<std::int64_t>(dtype_size(x.dtype));
    bytes += x.numel * size;
    return static_cast<std::byte*>(x.storage->data()) + x.offset * size;
  }
  void add_result(const TensorImpl& x) {
    written_[results_] = &x;
    outputs_[results_++] = memory(x, bytes_written_);
  }

  const TensorImpl* first_ = nullptr;
  std::uint64_t types_ = 0;  // four bits each
  std::size_t count_ = 0, results_ = 0;
  std::int64_t bytes_read_ = 0, bytes_written_ = 0;
  const TensorImpl *read_[kDirectInputs], *written_[kDirectOutputs];
  DirectOperand operands_[kDirectInputs];
  void* outputs_[kDirectOutputs];
};

}  // namespace

bool run_alike(const FusedCall& call, std::span<const Argument> arguments, std::span<const Tensor> into,
                std::span<Tensor> outputs) {
  static_assert(kDirectInputs * 4 <= 64);
  if (call.graph->reduces || call.wide.arguments.any() || arguments.size() > kDirectInputs ||
      outputs.size() > kDirectOutputs || (!into.empty() && into.size() != outputs.size()) || !is_plain())
    return false;
  AlikeCall direct;
  if (!direct.read(arguments) || (call.space && *call.space != direct.shape())) return false;
  const RecentProgram& found = direct.program_of(call);
  if (!found.direct || !found.direct->takes(direct.elements())) return false;
  for (std::size_t k = 0; k < into.size(); ++k)
    if (!direct.write(found.program->outputs[k], into[k])) return false;
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (into.empty()) direct.write_new(call.op, found.program->outputs[k].dtype, outputs[k]);
    else into[k].impl()->storage->bump_version(), outputs[k] = into[k];
  direct.run(*found.direct);
  return true;
}

bool run_alike_complex(const FusedCall& call, std::span<const Argument> arguments, std::span<Tensor> outputs) {
  const RecentComplex& slot = slot_of(call.graph);
  if (slot.graph != call.graph || !slot.direct || call.space || call.wide.arguments.any() || outputs.size() != 1 ||
      arguments.size() > kDirectInputs || !is_plain())
    return false;
  if (slot.on_each_part && slot.on_each_part->inputs.size() != arguments.size()) return false;
  const std::int64_t parts = slot.on_each_part ? 2 : 1;
  AlikeCall direct;
  if (!direct.read(slot.operands, slot.on_each_part, arguments) || &direct.backend() != slot.backend ||
      !slot.direct->takes(parts * direct.elements()))
    return false;
  direct.write_new(call.op, slot.result, outputs[0]);
  direct.run(*slot.direct, parts);
  return true;
}
void note_complex_call(const FusedCall& call, std::span<const Argument> arguments, Backend& backend,
                       const Program& program, bool on_each_part, std::span<const Tensor> results) {
  if (results.size() != 1 || program.reduces) return;
  DType dtype = DType::boolean;  // of all tensors, which are complex
  for (const Argument& a : arguments) {
    if (!is_tensor(a) && on_each_part) continue;
    if (!is_tensor(a) || (dtype != DType::boolean && value_of(a).dtype() != dtype)) return;
    dtype = value_of(a).dtype();
  }
  if (!is_complex(dtype)) return;
  slot_of(call.graph) = {call.graph,
                         &backend,
                         on_each_part ? direct_program(backend, call.op, program)
                                      : direct_program_of_parts(backend, program),
                         on_each_part ? &program : nullptr,
                         dtype,
                         results[0].dtype()};
}

}  // namespace tern::detail
