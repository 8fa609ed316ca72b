// Has channels by themselves convolved on tensor cores, whatever the model says.
#pragma once
#include "primitives/convolution/cuda/cuda_depthwise.hpp"

namespace tern::test {

inline void take_tensor_cores(detail_gpu::GpuBackend& backend, const detail::ConvSizes& sizes) {
  const detail::Choice& units = detail_gpu::conv::units_of_depthwise(backend, sizes);
  for (detail::Choice* choice : detail::choices())
    if (choice == &units) choice->set(detail_gpu::conv::kTensorCores, "test");
}

}  // namespace tern::test
