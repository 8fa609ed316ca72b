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
  // Of complex tensors, whose parts the program is of:
  DType result = DType::c64;
  std::int64_t parts = 1;  // 2: they are elements beside each other
};
thread_local constinit RecentProgram recent[64];

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
      if (tensor ? !read_[i] || !is_first_or_like_it(*tensor) : arguments[i].is_complex) return false;
      constexpr std::uint64_t kNumber = 15;  // no dtype
      static_assert(kDTypeCount < kNumber);
      types_ = types_ << 4 | (tensor ? static_cast<std::uint64_t>(read_[i]->dtype) : kNumber);
      if (tensor) operands_[i] = {memory(*read_[i], bytes_read_), nullptr};
      else operands_[i] = {nullptr, &arguments[i].number};
    }
    count_ = arguments.size();
    return first_ != nullptr;
  }
  /// What is known of such calls of the graph, or what may be forgotten for it.
  RecentProgram& slot(const FormulaGraph* graph) const {
    return recent[(reinterpret_cast<std::uintptr_t>(graph) / 64 + types_) % 64];
  }
  bool knows(const RecentProgram& slot, const FormulaGraph* graph) const {
    return slot.graph == graph && slot.operands == types_ && slot.backend == &backend();
  }
  void note(const FormulaGraph* graph, const Program& program, const DirectProgram* direct, DType result = DType::c64,
            std::int64_t parts = 1) const {
    slot(graph) = {graph, types_, &backend(), &program, direct, result, parts};
  }
  /// How its program is computed, where one loop does it; else what has no `direct`.
  const RecentProgram& program_of(const FusedCall& call) const {
    const RecentProgram& found = slot(call.graph);
    if (knows(found, call.graph)) return found;
    SmallVector<InputType, 8> types;
    for (std::size_t i = 0; i < count_; ++i)
      types.push_back(read_[i] ? InputType{read_[i]->dtype, false} : InputType{DType::f32, true});
    const Program& program = type_program(call.op, call.graph, types);
    const bool checked = !program.integral_numbers.empty();  // whether numbers are values of the dtype
    note(call.graph, program,
         program.reduces || checked ? nullptr : direct_program(backend(), call.op, program));
    return found;
  }
  /// Whether its tensors are complex ones of one dtype, with numbers beside them or none.
  bool is_complex(bool numbers) const {
    for (std::size_t i = 0; i < count_; ++i)
      if (read_[i] ? read_[i]->dtype != first_->dtype : !numbers) return false;
    return tern::is_complex(first_->dtype);
  }
  /// The same of a result that is there.
  bool write(const ProgramOutput& output, const Tensor& to) {
    const TensorImpl* const x = to.impl().get();
    if (!x || x->dtype != output.dtype || x->storage->read_only() || !is_first_or_like_it(to)) return false;
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
  bool is_taken_by(const RecentProgram& found) const {
    return found.direct && found.direct->takes(found.parts * first_->numel);
  }
  void run(const RecentProgram& found) const {
    count_direct_call();
    found.direct->run({operands_, count_}, {outputs_, results_}, found.parts * first_->numel);
    TraceCounts& counts = instruments.counts;
    ++counts.calls, counts.bytes_read += bytes_read_, counts.bytes_written += bytes_written_;
  }
  Backend& backend() const { return first_->storage->backend(); }
  const Shape& shape() const { return first_->shape; }

 private:
  /// Whether it has elements, which lie without gaps, as those of the first.
  bool is_first_or_like_it(const Tensor& tensor) {
    const TensorImpl& x = *tensor.impl();
    if (x.storage->awaits_replay()) return false;
    if (first_)
      return &x == first_ || (x.shape == first_->shape && x.strides == first_->strides &&
                              &x.storage->backend() == &backend());
    first_ = &x;
    return x.numel > 0 && tensor.is_contiguous();
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
  if (!direct.is_taken_by(found)) return false;
  for (std::size_t k = 0; k < into.size(); ++k)
    if (!direct.write(found.program->outputs[k], into[k])) return false;
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (into.empty()) direct.write_new(call.op, found.program->outputs[k].dtype, outputs[k]);
    else into[k].impl()->storage->bump_version(), outputs[k] = into[k];
  direct.run(found);
  return true;
}

bool run_alike_complex(const FusedCall& call, std::span<const Argument> arguments, std::span<Tensor> outputs) {
  AlikeCall direct;
  if (call.space || call.wide.arguments.any() || outputs.size() != 1 || arguments.size() > kDirectInputs ||
      !is_plain() || !direct.read(arguments))
    return false;
  const RecentProgram& found = direct.slot(call.graph);
  if (!direct.knows(found, call.graph) || !direct.is_taken_by(found)) return false;
  direct.write_new(call.op, found.result, outputs[0]);
  direct.run(found);
  return true;
}
void note_complex_call(const FusedCall& call, std::span<const Argument> arguments, const Program& program,
                       bool on_each_part, std::span<const Tensor> results) {
  AlikeCall direct;
  if (results.size() != 1 || program.reduces || arguments.size() > kDirectInputs || !direct.read(arguments) ||
      !direct.is_complex(on_each_part))
    return;
  direct.note(call.graph, program,
              on_each_part ? direct_program(direct.backend(), call.op, program)
                           : direct_program_of_parts(direct.backend(), program),
              results[0].dtype(), on_each_part ? 2 : 1);
}

}  // namespace tern::detail
