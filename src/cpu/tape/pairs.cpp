#include "cpu/tape/pairs.hpp"

#include <algorithm>
#include <hwy/cache_control.h>
#include <span>
#include <vector>

#include "cpu/machine/caches.hpp"
#include "cpu/machine/threads.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/tape/block_runner.hpp"
#include "formula/caches.hpp"
#include "formula/complex.hpp"

namespace tern::detail_cpu {
namespace {

using detail::FormulaGraph;

/// Numbers of a block, numbers that are worth a second thread, and those from which results may pass by the caches.
constexpr std::int64_t kPairNumbers = 4096, kParallelPairs = std::int64_t{1} << 15, kStreamed = std::int64_t{1} << 20;

/// A function of the numbers whose real parts are these inputs, and the output that its result's real part is.
struct Operation {
  const PairsFn (PairsFunctions::*functions)[2] = nullptr;
  int a = 0, b = -1, out = 0;  // b -1: of one number
};
/// What is computed on pairs, found by its formula in real numbers: whatever operation it comes from.
struct PairsFunction {
  const FormulaGraph* graph;
  std::size_t operands, results;  // parts of numbers, the results of one part being real
  std::vector<Operation> operations;
  bool apart = false;  // two real operands
  /// Which operand a part belongs to.
  int number(int part) const { return apart ? part : part / 2; }
};
const FormulaGraph* in_parts(const Expr& e, int operands) {
  detail::Operands complex;
  complex.complex = detail::first_indices(static_cast<std::size_t>(operands));
  return detail::in_real_numbers("complex", detail::make_graph({&e, 1}, operands), complex).graph->inlined;
}
const FormulaGraph* real_hypot() {
  const Expr e = hypot(detail::make_input(0), detail::make_input(1));
  return detail::make_graph({&e, 1}, 2)->inlined;
}
/// The gradients of a·b by some of its parts: of what is read of a, b and the result's gradient, in this order.
const FormulaGraph* gradient_of_product(std::initializer_list<std::size_t> wanted) {
  detail::IndexSet inputs;
  for (const std::size_t i : wanted) inputs.set(i);
  const detail::GradientGraph& g =
      detail::gradient(in_parts(detail::make_input(0) * detail::make_input(1), 2), detail::first_indices(2), inputs);
  std::vector<Expr> outputs;
  for (const std::size_t i : wanted) outputs.emplace_back(g.graph->outputs[static_cast<std::size_t>(g.output_of[i])]);
  const detail::IndexSet used = detail::inputs_of(outputs);
  std::vector<int> arguments;
  for (std::size_t i = 0; i < used.size(); ++i)
    if (used[i]) arguments.push_back(static_cast<int>(i));
  return detail::with_arguments(outputs, arguments)->inlined;
}
std::span<const PairsFunction> known() {
  using detail::make_input;
  using F = PairsFunctions;
  const auto conj = [](Expr z) { return detail::complex_of(detail::part_of(z, false), -detail::part_of(z, true)); };
  static const PairsFunction list[] = {
      {in_parts(make_input(0) * make_input(1), 2), 4, 2, {{&F::product, 0, 2}}},
      {in_parts(make_input(0) * make_input(0), 1), 2, 2, {{&F::product, 0, 0}}},
      {in_parts(make_input(0) * conj(make_input(1)), 2), 4, 2, {{&F::conjugate_product, 0, 2}}},
      {in_parts(conj(make_input(0)) * make_input(1), 2), 4, 2, {{&F::conjugate_product, 2, 0}}},
      {gradient_of_product({0, 1}), 4, 2, {{&F::conjugate_product, 2, 0}}},
      {gradient_of_product({2, 3}), 4, 2, {{&F::conjugate_product, 2, 0}}},
      {gradient_of_product({0, 1, 2, 3}), 6, 4, {{&F::conjugate_product, 4, 2, 0}, {&F::conjugate_product, 4, 0, 2}}},
      {in_parts(make_input(0) / make_input(1), 2), 4, 2, {{&F::quotient, 0, 2}}},
      {in_parts(abs(make_input(0)), 1), 2, 1, {{&F::modulus, 0}}},
      {real_hypot(), 2, 1, {{&F::modulus, 0, 1}}, true},
  };
  return list;
}

/// Elements two apart along the space, without other gaps; of real results, without any.
bool lies_as(const detail::View& view, const Shape& space, std::int64_t apart) {
  std::int64_t step = apart;
  for (int i = space.rank() - 1; i >= 0; --i) {
    const auto axis = static_cast<std::size_t>(i);
    if (space[axis] != 1 && view.strides[axis] != step) return false;
    step *= space[axis];
  }
  return true;
}
bool are_parts(const detail::View& re, const detail::View& im, const Shape& space) {
  return re.storage && re.storage == im.storage && re.dtype == im.dtype && im.offset == re.offset + 1 &&
         lies_as(re, space, 2) && lies_as(im, space, 2);
}
bool lie_as(const PairsFunction& k, const detail::FusedRequest& r) {
  const DType dtype = r.outputs[0].dtype;
  const auto fits = [&](const detail::Operand& operand) {
    return !operand.gather && !operand.live && operand.view.storage && operand.view.dtype == dtype;
  };
  if (!std::ranges::all_of(r.inputs, fits)) return false;
  for (std::size_t i = 0; i < k.operands; i += 2) {
    const detail::View &first = r.inputs[i].view, &second = r.inputs[i + 1].view;
    if (k.apart ? !lies_as(first, r.space, 1) || !lies_as(second, r.space, 1) : !are_parts(first, second, r.space))
      return false;
  }
  for (std::size_t i = 0; i + 1 < k.results; i += 2)
    if (!are_parts(r.outputs[i], r.outputs[i + 1], r.space)) return false;
  return k.results > 1 || lies_as(r.outputs[0], r.space, 1);
}
const PairsFunction* find(const detail::FusedRequest& r) {
  const DType dtype = r.outputs[0].dtype;
  if ((dtype != DType::f32 && dtype != DType::f64) || r.inputs.size() % 2 != 0 || r.inputs.size() > 6) return nullptr;
  // Hypot and the absolute value are one formula, of operands that lie differently.
  for (const PairsFunction& k : known())
    if (k.graph == r.program->graph && k.operands == r.inputs.size() && k.results == r.outputs.size() && lie_as(k, r))
      return &k;
  return nullptr;
}

/// The first number of each operand and result; of two real operands (apart) the first element.
struct PlacedPairs {
  const std::byte* in[3];
  std::byte* out[2];
};

void run_operations(const PairsFunction& k, bool wide, const PlacedPairs& at, std::int64_t count, bool stream,
                    const KernelTable& table) {
  const std::int64_t size = wide ? 8 : 4, blocks = (count + kPairNumbers - 1) / kPairNumbers,
                     step = (k.apart ? 1 : 2) * size, out_step = (k.results > 1 ? 2 : 1) * size;
  const auto part = [&](std::int64_t first, std::int64_t last) {
    const std::int64_t some = k.operations.size() > 1 ? kPairNumbers : last - first;  // the next one finds them near
    for (; first < last; first += some)
      for (const Operation& o : k.operations)
        (table.pairs.*o.functions)[wide](at.in[k.number(o.a)] + first * step,
                                         o.b < 0 ? nullptr : at.in[k.number(o.b)] + first * step,
                                         at.out[o.out / 2] + first * out_step,
                                         static_cast<std::size_t>(std::min(some, last - first)), stream);
    if (stream) hwy::FlushStream();
  };
  if (count < kParallelPairs) return part(0, count);
  const std::int64_t tasks = std::min<std::int64_t>(blocks, 4 * max_threads());
  parallel_for(tasks, [&](std::int64_t task) {
    part(blocks * task / tasks * kPairNumbers, std::min(count, blocks * (task + 1) / tasks * kPairNumbers));
  });
}

/// Such a function of tensors of complex numbers.
class PairsProgram final : public detail::DirectProgram {
 public:
  PairsProgram(const PairsFunction& function, bool wide) : function_(function), wide_(wide) {}
  bool takes(std::int64_t count) const override { return count < kStreamed; }
  void run(std::span<const detail::DirectOperand> operands, std::span<void* const> outputs,
           std::int64_t count) const override {
    PlacedPairs at{};
    for (std::size_t i = 0; i < operands.size(); ++i) at.in[i] = static_cast<const std::byte*>(operands[i].at);
    for (std::size_t k = 0; k < outputs.size(); ++k) at.out[k] = static_cast<std::byte*>(outputs[k]);
    run_operations(function_, wide_, at, count, false, kernels());
  }

 private:
  const PairsFunction& function_;
  bool wide_;
};

}  // namespace

bool is_hypot(const detail::Program& program) {
  static const FormulaGraph* const hypot = real_hypot();
  return program.graph == hypot;
}

bool run_pairs(const detail::FusedRequest& r, const KernelTable& table) {
  if (r.program->reduces) return false;
  const PairsFunction* const k = find(r);
  if (!k) return false;
  const bool wide = r.outputs[0].dtype == DType::f64;
  const std::int64_t size = wide ? 8 : 4, count = r.space.numel();
  PlacedPairs at{};
  for (std::size_t i = 0; i < k->operands; i += k->apart ? 1 : 2)
    at.in[k->number(static_cast<int>(i))] = static_cast<const std::byte*>(memory_of(r.inputs[i].view));
  for (std::size_t i = 0; i < k->results; i += 2) at.out[i / 2] = static_cast<std::byte*>(memory_of(r.outputs[i]));
  const auto parts = static_cast<std::int64_t>(k->operands + k->results);
  const bool in_place = std::ranges::any_of(
      r.inputs, [&](const detail::Operand& operand) { return operand.view.storage == r.outputs[0].storage; });
  // A real result is none of the operands; and what is read again must not be written before.
  if (in_place && ((k->results == 1 && !k->apart) || k->operations.size() > 1)) return false;
  const bool stream =
      !in_place && count >= kStreamed && count * parts * size >= cache_bytes() &&
      std::ranges::all_of(at.out, [](const void* out) { return reinterpret_cast<std::uintptr_t>(out) % 64 == 0; });
  return run_operations(*k, wide, at, count, stream, table), true;
}

const detail::DirectProgram* pairs_program(const detail::Program& program) {
  const DType dtype = program.outputs[0].dtype;
  const auto is_of_it = [&](const detail::InputType& input) { return input == detail::InputType{dtype, false}; };
  if ((dtype != DType::f32 && dtype != DType::f64) || !std::ranges::all_of(program.inputs, is_of_it)) return nullptr;
  static const auto* const programs = [] {
    auto* const made = new std::vector<PairsProgram>;
    for (const PairsFunction& k : known())
      for (const bool wide : {false, true}) made->emplace_back(k, wide);
    return made;
  }();
  for (std::size_t i = 0; i < known().size(); ++i)
    if (const PairsFunction& k = known()[i]; !k.apart && k.graph == program.graph &&
                                             k.operands == program.inputs.size() && k.results == program.outputs.size())
      return &(*programs)[2 * i + (dtype == DType::f64)];
  return nullptr;
}

}  // namespace tern::detail_cpu
