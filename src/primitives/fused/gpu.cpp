// `fused` on GPUs: kernels made of its program, src/gpu/elementwise.* and src/gpu/reductions.
#include <algorithm>
#include <numeric>

#include "gpu/elementwise.hpp"
#include "gpu/gpu_backend.hpp"
#include "gpu/reductions/reduce.hpp"
#include "gpu/plan/horizontal.hpp"
#include "primitives/fused/kernels.hpp"

namespace tern::detail_gpu {
namespace {

/// Kernels get the extent in 32 bits.
void require_extent(const detail::FusedRequest& r, const std::string& device) {
  if (!r.program->reduces || r.space.numel() <= UINT32_MAX) return;
  std::int64_t extent = 1;
  for (int i = 0; i < r.space.rank(); ++i)
    if (r.reduced >> i & 1) extent *= r.space[static_cast<std::size_t>(i)];
  const auto reads = [](const detail::Step& step) { return step.kind == detail::StepKind::extent; };
  if (extent > UINT32_MAX && std::ranges::any_of(r.program->steps, reads))
    throw Error(ErrorKind::unsupported, std::string(r.op) + ": the reduced axes of " + to_string(r.space) +
                                            " have more than 2^32-1 elements, whose number a formula asks for, on " +
                                            device + "; take it in parts");
}

/// A request whose axes stand in the order in which the largest operand's elements lie in memory, so that those that
/// are traversed together merge: the sum of a permuted view is that of a row.
class InMemoryOrder {
 public:
  /// Whether another order is better, and no position is asked for, whose axes have numbers.
  static bool helps(const detail::FusedRequest& r) {
    for (const detail::Step& step : r.program->steps)
      if (step.kind == detail::StepKind::position) return false;
    return memory_order(r) != order_of(r.space.rank());
  }
  explicit InMemoryOrder(const detail::FusedRequest& r) : request_(r) {
    const std::vector<int> order = memory_order(r);
    const auto permuted = [&](detail::View view) {
      const Strides before = view.strides;
      for (std::size_t i = 0; view.storage && i < order.size(); ++i)
        view.strides[i] = before[static_cast<std::size_t>(order[i])];
      return view;
    };
    request_.reduced = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      request_.space[i] = r.space[static_cast<std::size_t>(order[i])];
      request_.reduced |= (r.reduced >> order[i] & 1) << i;
    }
    gathers_.reserve(r.inputs.size());
    for (const detail::Operand& operand : r.inputs) {
      inputs_.push_back({permuted(operand.view), operand.number, nullptr});
      if (!operand.gather) continue;
      gathers_.push_back(*operand.gather);
      gathers_.back().table = permuted(operand.gather->table);
      inputs_.back().gather = &gathers_.back();
    }
    for (const detail::View& output : r.outputs) outputs_.push_back(permuted(output));
    request_.inputs = inputs_, request_.outputs = outputs_;
  }
  const detail::FusedRequest& request() const { return request_; }

 private:
  static std::vector<int> order_of(int rank) {
    std::vector<int> order(static_cast<std::size_t>(rank));
    std::iota(order.begin(), order.end(), 0);
    return order;
  }
  /// By the steps of the operand with the most elements of its own, the largest first; axes it is repeated along stay
  /// where they are, before all others of their kind.
  static std::vector<int> memory_order(const detail::FusedRequest& r) {
    const detail::View* lead = nullptr;
    std::int64_t most = 0;
    for (const detail::Operand& operand : r.inputs) {
      if (!operand.view.storage) continue;
      std::int64_t elements = 1;
      for (int i = 0; i < r.space.rank(); ++i)
        if (operand.view.strides[static_cast<std::size_t>(i)] != 0) elements *= r.space[static_cast<std::size_t>(i)];
      if (elements > most) most = elements, lead = &operand.view;
    }
    std::vector<int> order = order_of(r.space.rank());
    if (!lead) return order;
    const auto step = [&](int axis) {
      const std::int64_t stride = std::abs(lead->strides[static_cast<std::size_t>(axis)]);
      return stride == 0 || r.space[static_cast<std::size_t>(axis)] == 1 ? INT64_MAX : stride;
    };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return step(a) > step(b); });
    return order;
  }

  detail::FusedRequest request_;
  std::vector<detail::Operand> inputs_;
  std::vector<detail::Gather> gathers_;
  std::vector<detail::View> outputs_;
};

void plan(GpuBackend& backend, const detail::FusedRequest& r, Horizontal* horizontal = nullptr) {
  if (r.program->reduces)
    return InMemoryOrder::helps(r) ? run_reducing(backend, InMemoryOrder(r).request()) : run_reducing(backend, r);
  Elementwise job;
  job.op = r.op, job.program = r.program, job.space = job.whole = r.space, job.reduced = r.reduced;
  job.origin.resize(r.space.rank(), 0);
  job.inputs.assign(r.inputs.begin(), r.inputs.end());
  for (std::size_t o = 0; o < r.outputs.size(); ++o) job.outputs.push_back({r.program->outputs[o].step, r.outputs[o]});
  job.horizontal = horizontal;
  run_elementwise(backend, job);
}

void plan(GpuBackend& backend, const detail::FusedGroup& group) {
  for (const detail::FusedRequest& r : group.requests) backend.require_supported(r.op, *r.program);
  Horizontal horizontal(backend);
  int first_input = 0;
  for (const detail::FusedRequest& r : group.requests) {
    Preparing::current()->count_inputs_from(first_input);
    plan(backend, r, &horizontal);
    first_input += static_cast<int>(r.inputs.size());
  }
  horizontal.finish();
}

}  // namespace

void fused_on_gpu(GpuBackend& backend, const detail::FusedRequest& r) {
  backend.run_prepared(r, [&] {
    backend.require_supported(r.op, *r.program);
    require_extent(r, backend.device().to_string());
    plan(backend, r);
  });
}

void fused_group_on_gpu(GpuBackend& backend, const detail::FusedGroup& group) {
  // A kernel archive holds no kernels of parts.
  if (group.requests.size() < 2 || backend.limits().archived || !backend.dialect().has_parts() ||
      Preparing::current()) {
    for (const detail::FusedRequest& r : group.requests) fused_on_gpu(backend, r);
    return;
  }
  backend.run_prepared(group, [&] { plan(backend, group); });
}

}  // namespace tern::detail_gpu
