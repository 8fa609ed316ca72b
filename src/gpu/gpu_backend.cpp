#include "gpu/gpu_backend.hpp"

#include <algorithm>
#include <numeric>

#include "formula/rule.hpp"
#include "gpu/elementwise.hpp"
#include "gpu/gemm.hpp"
#include "gpu/gemm_tiles.hpp"
#include "gpu/printer.hpp"
#include "gpu/reduce.hpp"

namespace tern::detail_gpu {

void GpuBackend::require_supported(const char* op, DType dtype) const {
  if (!supports(dtype)) throw UnsupportedDType(op, dtype, device().to_string());
}

/// Drivers' compilers take a second for this many operations, and recurse along them: of some tens of thousands they
/// overflow the stack of the thread that calls them.
constexpr std::size_t kMostSteps = 4096;

void GpuBackend::require_supported(const char* op, const detail::Program& program) const {
  if (program.steps.size() > kMostSteps)
    throw Error(ErrorKind::unsupported, std::string(op) + ": a formula of " + std::to_string(program.steps.size()) +
                                            " operations; on " + device().to_string() + " one kernel has at most " +
                                            std::to_string(kMostSteps) + ": call several formulas");
  for (const detail::InputType& input : program.inputs)
    if (!input.number) require_supported(op, input.dtype);
  for (const detail::ProgramOutput& output : program.outputs) require_supported(op, output.dtype);
  if (!dialect().native()) return require_supported(op, unsupported_dtype(program));
  for (const detail::Step& step : program.steps)
    if (step.kind == detail::StepKind::leaf && detail::is_wide_lane(step.lane) &&
        !dialect().has_wide(step.leaf, step.lane))
      throw Error(ErrorKind::unsupported, std::string(op) + ": " + detail::rule_of(step.leaf).name +
                                              " has no kernel for dtype " + std::string(to_string(step.dtype)) +
                                              " on " + device().to_string());
}

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
}  // namespace

void GpuBackend::refuse_process() const {
  throw Error(ErrorKind::device,
              "device " + device().to_string() + ": " +
                  (process_.here()
                       ? "the process is ending, and its driver has ended before this object did; make objects whose "
                         "destructors use it after its first use"
                       : detail::kForked));
}

const GemmTiles& GpuBackend::gemm_tiles() {
  const GemmTiles* tiles = gemm_tiles_.load(std::memory_order_acquire);
  if (!tiles) gemm_tiles_.store(tiles = &GemmTiles::of(device_class(), limits()), std::memory_order_release);
  return *tiles;
}

void GpuBackend::fused(const detail::FusedRequest& r) {
  if (Preparing::current()) return plan(r);  // part of another request
  if (prepared_.run(*this, r)) return;
  require_supported(r.op, *r.program);
  require_extent(r, device().to_string());
  Preparing preparing;
  plan(r);
  prepared_.remember(preparing.result());
}

void GpuBackend::fused_all(std::span<const detail::FusedRequest> requests) {
  // A pack holds no kernels of parts.
  if (requests.size() < 2 || limits().packed || !dialect().has_parts() || Preparing::current())
    return Backend::fused_all(requests);
  if (prepared_.run(*this, requests)) return;
  for (const detail::FusedRequest& r : requests) require_supported(r.op, *r.program);
  Preparing preparing;
  Together together(*this);
  int first_input = 0;
  for (const detail::FusedRequest& r : requests) {
    preparing.count_inputs_from(first_input);
    plan(r, &together);
    first_input += static_cast<int>(r.inputs.size());
  }
  together.finish();
  prepared_.remember(preparing.result());
}

void GpuBackend::gemm(const detail::GemmRequest& r) {
  if (prepared_.run(*this, r)) return;
  require_supported(r.op, *r.epilogue);
  require_supported(r.op, r.a.dtype);
  Preparing preparing;
  plan(r);
  prepared_.remember(preparing.result());
}

void GpuBackend::plan(const detail::GemmRequest& r) { run_gemm(*this, r); }

namespace {

/// A request whose axes stand in the order in which the largest operand's elements lie in memory, so that those that
/// are walked together merge: the sum of a permuted view is that of a row.
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

}  // namespace

void GpuBackend::plan(const detail::FusedRequest& r, Together* together) {
  if (r.program->reduces)
    return InMemoryOrder::helps(r) ? run_reducing(*this, InMemoryOrder(r).request()) : run_reducing(*this, r);
  Elementwise job;
  job.op = r.op, job.program = r.program, job.space = job.whole = r.space, job.reduced = r.reduced;
  job.origin.resize(r.space.rank(), 0);
  job.inputs.assign(r.inputs.begin(), r.inputs.end());
  for (std::size_t o = 0; o < r.outputs.size(); ++o) job.outputs.push_back({r.program->outputs[o].step, r.outputs[o]});
  job.together = together;
  run_elementwise(*this, job);
}

}  // namespace tern::detail_gpu
