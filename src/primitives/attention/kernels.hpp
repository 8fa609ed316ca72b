// The kernels of the primitive `attention`.
#pragma once
#include "primitives/attention/attention.hpp"

namespace tern::detail_cpu {
void attention_on_cpu(detail::Backend& backend, const detail::AttentionRequest& request);
void attention_backward_on_cpu(detail::Backend& backend, const detail::AttentionBackwardRequest& request);
/// Whether there are so few rows to a head of keys that these are read as they lie: decoding.
bool has_few_rows(const detail::AttentionSizes& sizes);
/// How many tasks there are where columns are not divided.
std::int64_t attention_tasks_on_cpu(const detail::AttentionSizes& sizes);
void attention_of_few_rows(const detail::AttentionRequest& request);
/// Whether a row to each lane is the fastest way of many rows.
bool goes_by_lanes(const detail::AttentionRequest& request);
bool goes_by_lanes(const detail::AttentionBackwardRequest& request);
void attention_by_lanes(const detail::AttentionRequest& request);
void attention_backward_by_lanes(const detail::AttentionBackwardRequest& request);
}  // namespace tern::detail_cpu
namespace tern::detail_gpu {
class GpuBackend;
void attention_on_gpu(GpuBackend& backend, const detail::AttentionRequest& request);
void attention_backward_on_gpu(GpuBackend& backend, const detail::AttentionBackwardRequest& request);
void attention_on_cuda(GpuBackend& backend, const detail::AttentionRequest& request);
void attention_backward_on_cuda(GpuBackend& backend, const detail::AttentionBackwardRequest& request);
/// Whether attention_backward_on_cuda is to keep shares and slopes, from which the gradients of k and v are products.
bool attention_keeps_shares_on_cuda(GpuBackend& backend, const detail::AttentionBackwardRequest& request);
/// Workgroups of attention_on_gpu and attention_on_cuda, where columns are not divided.
std::int64_t attention_groups_on_gpu(GpuBackend& backend, const detail::AttentionSizes& sizes, DType dtype);
std::int64_t attention_groups_on_cuda(GpuBackend& backend, const detail::AttentionSizes& sizes, DType dtype);
/// Whether attention_on_gpu is the fastest way on WebGPU.
bool attention_pays_on_gpu(const detail::AttentionSizes& sizes, bool with_gradients);
/// Whether these are the fastest way on a device of CUDA.
bool attention_pays_on_cuda(GpuBackend& backend, const detail::AttentionSizes& sizes, DType dtype, bool with_gradients);
}  // namespace tern::detail_gpu
