#include "cpu/tape/pairs.hpp"

#include <algorithm>
#include <hwy/cache_control.h>
#include <span>
#include <utility>

#include "cpu/machine/caches.hpp"
#include "cpu/machine/threads.hpp"
#include "cpu/tape/block_runner.hpp"
#include "formula/complex.hpp"

namespace tern::detail_cpu {
namespace {

using detail::FormulaGraph;

/// Numbers of a block, numbers that are worth a second thread, and those from which results may pass by the caches.
constexpr std::int64_t kNumbers = 4096, kParallel = std::int64_t{1} << 15, kStreamed = std::int64_t{1} << 20;

/// What is computed on pairs, found by its formula in real numbers: whatever operation it comes from.
struct Known {
  const FormulaGraph* graph;
  const PairsFn (PairsFunctions::*functions)[2];
  std::size_t operands, results;  // parts of numbers, the results of one part being real
  bool apart = false;             // two real operands
  bool turned = false;            // the function takes the second operand first
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
std::span<const Known> known() {
  using detail::make_input;
  const auto conj = [](Expr z) { return detail::complex_of(detail::part_of(z, false), -detail::part_of(z, true)); };
  static const Known list[] = {
      {in_parts(make_input(0) * make_input(1), 2), &PairsFunctions::product, 4, 2},
      {in_parts(make_input(0) * make_input(0), 1), &PairsFunctions::product, 2, 2},
      {in_parts(make_input(0) * conj(make_input(1)), 2), &PairsFunctions::conjugate_product, 4, 2},
      {in_parts(conj(make_input(0)) * make_input(1), 2), &PairsFunctions::conjugate_product, 4, 2, false, true},
      {in_parts(make_input(0) / make_input(1), 2), &PairsFunctions::quotient, 4, 2},
      {in_parts(abs(make_input(0)), 1), &PairsFunctions::modulus, 2, 1},
      {real_hypot(), &PairsFunctions::modulus, 2, 1, true},
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
bool lie_as(const Known& k, const detail::FusedRequest& r) {
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
  return k.results == 2 ? are_parts(r.outputs[0], r.outputs[1], r.space) : lies_as(r.outputs[0], r.space, 1);
}
const Known* find(const detail::FusedRequest& r) {
  const DType dtype = r.outputs[0].dtype;
  if ((dtype != DType::f32 && dtype != DType::f64) || (r.inputs.size() != 4 && r.inputs.size() != 2)) return nullptr;
  for (const Known& k : known())  // hypot and the absolute value are one formula, of operands that lie differently
    if (k.graph == r.program->graph && k.operands == r.inputs.size() && k.results == r.outputs.size() && lie_as(k, r))
      return &k;
  return nullptr;
}

}  // namespace

bool run_pairs(const detail::FusedRequest& r, const KernelTable& table) {
  if (r.program->reduces) return false;
  const Known* const k = find(r);
  if (!k) return false;
  const bool wide = r.outputs[0].dtype == DType::f64;
  const PairsFn run = (table.pairs.*k->functions)[wide];
  const std::int64_t size = wide ? 8 : 4, count = r.space.numel(), blocks = (count + kNumbers - 1) / kNumbers;
  const auto at = [&](const detail::View& view) { return static_cast<std::byte*>(memory_of(view)); };
  const std::byte* a = at(r.inputs[0].view);
  const std::byte* b = k->operands == 4 ? at(r.inputs[2].view) : k->apart ? at(r.inputs[1].view) : nullptr;
  if (k->operands == 2 && k->results == 2) b = a;  // a square
  if (k->turned) std::swap(a, b);
  std::byte* const out = at(r.outputs[0]);
  const auto results = static_cast<std::int64_t>(k->results), parts = static_cast<std::int64_t>(k->operands) + results;
  const bool in_place = std::ranges::any_of(
      r.inputs, [&](const detail::Operand& operand) { return operand.view.storage == r.outputs[0].storage; });
  if (in_place && k->results == 1 && !k->apart) return false;  // a real result is none of the operands
  const bool stream = !in_place && count >= kStreamed && count * parts * size > cache_bytes() &&
                      reinterpret_cast<std::uintptr_t>(out) % 64 == 0;
  const std::int64_t tasks = count < kParallel ? 1 : std::min<std::int64_t>(blocks, 4 * max_threads());
  parallel_for(tasks, [&](std::int64_t task) {
    const std::int64_t first = blocks * task / tasks * kNumbers;
    const std::int64_t n = std::min(count, blocks * (task + 1) / tasks * kNumbers) - first;
    const std::int64_t from = (k->apart ? 1 : 2) * first * size;
    run(a + from, b ? b + from : nullptr, out + results * first * size, static_cast<std::size_t>(n), stream);
    if (stream) hwy::FlushStream();
  });
  return true;
}

}  // namespace tern::detail_cpu
