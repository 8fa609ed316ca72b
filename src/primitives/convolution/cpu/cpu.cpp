// `convolution` and `convolution_weight` on the CPU.
#include "cpu/threads_noted.hpp"
#include "primitives/convolution/cpu/cpu_geometry.hpp"
#include "primitives/convolution/kernels.hpp"

namespace tern::detail_cpu {

void convolution_on_cpu(detail::Backend&, const detail::ConvRequest& request) {
  if (request.sizes.of_y().numel() == 0) return;
  with_threads_noted(
      [&] { request.sizes.one_channel_a_group() ? conv::run_depthwise(request) : conv::run_direct(request); });
}
void convolution_weight_on_cpu(detail::Backend&, const detail::ConvWeightRequest& request) {
  with_threads_noted([&] {
    request.sizes.one_channel_a_group() ? conv::run_depthwise_weight(request) : conv::run_direct_weight(request);
  });
}

}  // namespace tern::detail_cpu
