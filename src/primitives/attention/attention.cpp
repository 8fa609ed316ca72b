#include "primitives/attention/attention.hpp"

#include <cstdlib>

#include "backend/kernel_rules.hpp"
#include "backend/run.hpp"
#include "gpu/gpu_backend.hpp"
#include "primitives/attention/kernels.hpp"

namespace tern::detail {

using detail_gpu::ceil_div;

namespace {

std::int64_t forward_flops(const AttentionSizes& s, const Program* program) {
  const std::int64_t pairs = s.pairs();
  return pairs * (2 * (s.depth + s.width) + 4) + (program ? flops_of(*program, pairs, pairs) : 0);
}
std::string text_of(const AttentionSizes& s, DType type, const Program* program) {
  return to_string(s.of_q()) + " x " + to_string(s.of_v()) + " " + std::string(to_string(type)) +
         (s.causal ? ", causal" : "") + (program ? ", " + kernel_text(*program) : "");
}

}  // namespace

std::int64_t AttentionSizes::part_columns() const {
  return parts == 1 ? columns : ceil_div(ceil_div(columns, parts), kMaskBlock) * kMaskBlock;
}
Shape AttentionSizes::of_blocks() const {
  return {batch, heads, ceil_div(rows, kMaskBlock), ceil_div(columns, kMaskBlock)};
}
std::int64_t AttentionSizes::pairs() const {
  if (!causal && window == 0) return batch * heads * rows * columns;
  std::int64_t pairs = 0;
  for (std::int64_t i = 0; i < rows; ++i) pairs += std::max<std::int64_t>(0, end(i, columns) - first(i));
  return batch * heads * pairs;
}
std::int64_t AttentionRequest::flops() const { return forward_flops(sizes, programs.score); }
std::string AttentionRequest::text() const { return text_of(sizes, q.dtype, programs.score); }
/// Five products instead of two: the scores are computed again.
std::int64_t AttentionBackwardRequest::flops() const {
  const std::int64_t pairs = sizes.pairs();
  return forward_flops(sizes, programs.score) + pairs * (4 * sizes.depth + 2 * sizes.width + 2) +
         (slope ? flops_of(*slope, pairs, pairs) : 0);
}
std::string AttentionBackwardRequest::text() const { return text_of(sizes, q.dtype, programs.score); }

template <> const Primitive& primitive_of<AttentionRequest>() {
  static constexpr FamilyKernel kernels[] = {{"cpu", kernel_of<detail_cpu::attention_on_cpu>()},
                                             {"cuda", kernel_of<detail_gpu::attention_on_cuda>()},
                                             {"gpu", kernel_of<detail_gpu::attention_on_gpu>()}};
  static constexpr Primitive primitive{PrimitiveId::attention, "attention", kernels};
  return primitive;
}
template <> const Primitive& primitive_of<AttentionBackwardRequest>() {
  static constexpr FamilyKernel kernels[] = {{"cpu", kernel_of<detail_cpu::attention_backward_on_cpu>()},
                                             {"cuda", kernel_of<detail_gpu::attention_backward_on_cuda>()},
                                             {"gpu", kernel_of<detail_gpu::attention_backward_on_gpu>()}};
  static constexpr Primitive primitive{PrimitiveId::attention_backward, "attention", kernels};
  return primitive;
}

namespace {
/// When a kernel is the fastest way, and how many workgroups, or tasks, it has and wants where columns are not divided.
struct AttentionRules {
  bool (*pays)(Backend& backend, const AttentionSizes& s, DType dtype, bool with_gradients);
  std::int64_t (*groups)(Backend& backend, const AttentionSizes& s, DType dtype);
  std::int64_t wanted;
  bool (*keeps_shares)(Backend& backend, const AttentionBackwardRequest& request) = [](Backend&, const auto&) {
    return false;
  };
};
constexpr bool always(Backend&, const AttentionSizes&, DType, bool) { return true; }
template <auto pays> bool asked_on_gpu(Backend& backend, const AttentionSizes& s, DType dtype, bool gradients) {
  auto& gpu = static_cast<detail_gpu::GpuBackend&>(backend);
  if (gpu.limits().archived) return false;
  const char* const wanted = std::getenv("TERN_ATTENTION_KERNEL");
  if (wanted && *wanted == '0') return false;
  if (wanted && (*wanted == '1' || *wanted == 'm')) return true;
  return pays(gpu, s, dtype, gradients);
}
template <auto groups> std::int64_t groups_on_gpu(Backend& backend, const AttentionSizes& s, DType dtype) {
  return groups(static_cast<detail_gpu::GpuBackend&>(backend), s, dtype);
}

const AttentionRules& attention_rules(Backend& backend) {
  constexpr std::int64_t kGroups = 264, kTasks = 32;
  static constexpr RulesOfKernel<AttentionRules> list[] = {
      {kernel_of<detail_cpu::attention_on_cpu>(),
       {always, [](Backend&, const AttentionSizes& s, DType) { return detail_cpu::attention_tasks_on_cpu(s); },
        kTasks}},
      {kernel_of<detail_gpu::attention_on_cuda>(),
       {asked_on_gpu<detail_gpu::attention_pays_on_cuda>, groups_on_gpu<detail_gpu::attention_groups_on_cuda>,
        kGroups, [](Backend& backend, const AttentionBackwardRequest& r) {
          return detail_gpu::attention_keeps_shares_on_cuda(static_cast<detail_gpu::GpuBackend&>(backend), r);
        }}},
      {kernel_of<detail_gpu::attention_on_gpu>(),
       {asked_on_gpu<[](detail_gpu::GpuBackend&, const AttentionSizes& s, DType, bool gradients) {
          return detail_gpu::attention_pays_on_gpu(s, gradients);
        }>,
        groups_on_gpu<detail_gpu::attention_groups_on_gpu>, kGroups}}};
  // Of no groups columns are not divided.
  constexpr auto none = [](Backend&, const AttentionSizes&, DType) { return std::int64_t{0}; };
  static constexpr AttentionRules otherwise{always, none, kGroups};
  return rules_of<AttentionRequest, AttentionRules>(backend, "attention", list, otherwise);
}
}  // namespace

bool attention_pays(Backend& backend, const AttentionSizes& s, DType dtype, bool with_gradients) {
  return backend.offers<AttentionRequest>() && attention_rules(backend).pays(backend, s, dtype, with_gradients);
}
bool attention_keeps_shares(Backend& backend, const AttentionBackwardRequest& r) {
  return attention_rules(backend).keeps_shares(backend, r);
}
std::int64_t attention_parts(Backend& backend, const AttentionSizes& s, DType dtype) {
  constexpr std::int64_t kFewestColumns = 512;  // of a stretch
  const AttentionRules& rules = attention_rules(backend);
  const std::int64_t there = rules.groups(backend, s, dtype);
  if (there == 0 || there * 2 > rules.wanted) return 1;
  return std::max<std::int64_t>(1, std::min(ceil_div(rules.wanted, there), s.columns / kFewestColumns));
}
template void run(Backend&, const AttentionRequest&);
template void run(Backend&, const AttentionBackwardRequest&);

}  // namespace tern::detail
