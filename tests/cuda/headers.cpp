// src/cuda/api.hpp declares CUDA's functions, types and values by hand: here they are held against CUDA's headers, as
// far as binary interfaces go: the number of parameters, their sizes, and which are pointers.
#include <cuda.h>
#include <gtest/gtest.h>
#include <nvrtc.h>

#include <tuple>
#include <type_traits>

#include "cuda/api.hpp"

namespace tern::detail_cuda {
namespace {

template <class A, class B>
constexpr bool kAlike = sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B> &&
                        (std::is_floating_point_v<A> == std::is_floating_point_v<B>);
template <class Ours, class Theirs> struct Match : std::false_type {};
template <class R, class... A, class S, class... B>
requires(sizeof...(A) == sizeof...(B))
struct Match<R (*)(A...), S (*)(B...)> : std::bool_constant<kAlike<R, S> && (kAlike<A, B> && ...)> {};

#define TERN_CUDA_MATCH(name, parameters) \
  static_assert(Match<decltype(Driver::name), decltype(&::name)>::value, #name);
TERN_CUDA_DRIVER(TERN_CUDA_MATCH)
#undef TERN_CUDA_MATCH
#define TERN_CUDA_MATCH(name, parameters) \
  static_assert(Match<decltype(Nvrtc::name), decltype(&::name)>::value, #name);
TERN_CUDA_NVRTC(TERN_CUDA_MATCH)
#undef TERN_CUDA_MATCH

TEST(CudaHeaders, ValuesAreCudas) {
  EXPECT_EQ(kSuccess, CUDA_SUCCESS);
  EXPECT_EQ(kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(kComputeMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  EXPECT_EQ(kComputeMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  EXPECT_EQ(kProcessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  EXPECT_EQ(kMostDynamicShared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  EXPECT_EQ(kBoxOf16Bits, CU_TENSOR_MAP_DATA_TYPE_UINT16);
  EXPECT_EQ(kSwizzle128, CU_TENSOR_MAP_SWIZZLE_128B);
  EXPECT_EQ(kPromote256, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
  EXPECT_EQ(sizeof(BoxMapData), sizeof(CUtensorMap));
  EXPECT_EQ(kStreamNonBlocking, static_cast<unsigned>(CU_STREAM_NON_BLOCKING));
  EXPECT_EQ(kCaptureRelaxed, static_cast<unsigned>(CU_STREAM_CAPTURE_MODE_RELAXED));
}

}  // namespace
}  // namespace tern::detail_cuda
