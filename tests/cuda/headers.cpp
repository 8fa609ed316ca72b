// src/cuda/api.hpp declares CUDA's functions, types and values by hand: here they are held against CUDA's headers, as
// far as binary interfaces go: the number of parameters, their sizes, and which are pointers. Compiled once for each
// version of CUDA (TERN_CUDA_HEADERS); cuBLASLt's headers are there where script/setup --full or a toolkit put them.
#include <cuda.h>
#include <gtest/gtest.h>
#include <nvrtc.h>
#if __has_include(<cublasLt.h>)  // script/setup --full
#include <cublasLt.h>
#endif

#if __has_include(<cusolverDn.h>)  // a toolkit
#include <cusolverDn.h>
#endif

#if __has_include(<cufftXt.h>)  // a toolkit
#include <cufft.h>
#include <cufftXt.h>
#endif

#include <cstddef>

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

#define TERN_CUDA_MATCH(name, parameters) static_assert(Match<decltype(Driver::name), decltype(&::name)>::value, #name);
TERN_CUDA_DRIVER(TERN_CUDA_MATCH)
#undef TERN_CUDA_MATCH
#define TERN_CUDA_MATCH(name, parameters) static_assert(Match<decltype(Nvrtc::name), decltype(&::name)>::value, #name);
TERN_CUDA_NVRTC(TERN_CUDA_MATCH)
#undef TERN_CUDA_MATCH

static_assert(CUDA_VERSION / 1000 == TERN_CUDA_HEADERS);

#define TERN_SUITE_OF(version) CudaHeaders##version
#define TERN_SUITE(version) TERN_SUITE_OF(version)
#define TERN_HEADERS_TEST(name) TEST(TERN_SUITE(TERN_CUDA_HEADERS), name)

#if __has_include(<cublasLt.h>)
#define TERN_CUDA_MATCH(name, parameters) \
  static_assert(Match<decltype(BlasApi::name), decltype(&::name)>::value, #name);
TERN_CUDA_BLAS(TERN_CUDA_MATCH)
#undef TERN_CUDA_MATCH
static_assert(sizeof(BlasAlgorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(BlasChoice) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(BlasChoice, workspace_bytes) == offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(BlasChoice, state) == offsetof(cublasLtMatmulHeuristicResult_t, state));

TERN_HEADERS_TEST(ValuesAreCublasLts) {
  EXPECT_EQ(kReal32, CUDA_R_32F);
  EXPECT_EQ(kReal64, CUDA_R_64F);
  EXPECT_EQ(kReal16, CUDA_R_16F);
  EXPECT_EQ(kBrain16, CUDA_R_16BF);
  EXPECT_EQ(kCompute32, CUBLAS_COMPUTE_32F);
  EXPECT_EQ(kCompute64, CUBLAS_COMPUTE_64F);
  EXPECT_EQ(kTransposeA, CUBLASLT_MATMUL_DESC_TRANSA);
  EXPECT_EQ(kTransposeB, CUBLASLT_MATMUL_DESC_TRANSB);
  EXPECT_EQ(kBatchCount, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
  EXPECT_EQ(kBatchStride, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
  EXPECT_EQ(kWorkspaceBytes, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
  EXPECT_EQ(kReductionSchemes, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
  EXPECT_EQ(kAlignmentOfA, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
  EXPECT_EQ(kAlignmentOfA + 3, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
  EXPECT_EQ(kReduceInComputeType, static_cast<unsigned>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
}
#endif

#if __has_include(<cusolverDn.h>)
#define TERN_CUDA_MATCH(name, parameters) \
  static_assert(Match<decltype(SolverApi::name), decltype(&::name)>::value, #name);
TERN_CUDA_SOLVER(TERN_CUDA_MATCH)
#if CUDA_VERSION >= 12060
TERN_CUDA_SOLVER_LATER(TERN_CUDA_MATCH)
#endif
#undef TERN_CUDA_MATCH

TERN_HEADERS_TEST(ValuesAreCusolvers) {
  EXPECT_EQ(kComplex32, CUDA_C_32F);
  EXPECT_EQ(kComplex64, CUDA_C_64F);
  EXPECT_EQ(kLower, CUBLAS_FILL_MODE_LOWER);
  EXPECT_EQ(kUpper, CUBLAS_FILL_MODE_UPPER);
  EXPECT_EQ(kOnTheLeft, CUBLAS_SIDE_LEFT);
  EXPECT_EQ(kOnes, CUBLAS_DIAG_UNIT);
  EXPECT_EQ(kAsIs, CUBLAS_OP_N);
  EXPECT_EQ(kTransposed, CUBLAS_OP_T);
  EXPECT_EQ(kAdjoint, CUBLAS_OP_C);
  EXPECT_EQ(kValuesAlone, CUSOLVER_EIG_MODE_NOVECTOR);
  EXPECT_EQ(kWithVectors, CUSOLVER_EIG_MODE_VECTOR);
}
#endif

#if __has_include(<cufftXt.h>)
#define TERN_CUDA_MATCH(name, parameters) \
  static_assert(Match<decltype(TransformApi::name), decltype(&::name)>::value, #name);
TERN_CUDA_TRANSFORMS(TERN_CUDA_MATCH)
#undef TERN_CUDA_MATCH

TERN_HEADERS_TEST(ValuesAreCuffts) {
  EXPECT_EQ(kFromReal32, CUFFT_R2C);
  EXPECT_EQ(kToReal32, CUFFT_C2R);
  EXPECT_EQ(kComplexLines32, CUFFT_C2C);
  EXPECT_EQ(kFromReal64, CUFFT_D2Z);
  EXPECT_EQ(kToReal64, CUFFT_Z2D);
  EXPECT_EQ(kComplexLines64, CUFFT_Z2Z);
  EXPECT_EQ(kForward, CUFFT_FORWARD);
  EXPECT_EQ(kInverse, CUFFT_INVERSE);
}
#endif

TERN_HEADERS_TEST(ValuesAreCudas) {
  EXPECT_EQ(kSuccess, CUDA_SUCCESS);
  EXPECT_EQ(kInvalidValue, CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(kNotInitialized, CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(kPeerAccessAlreadyEnabled, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  EXPECT_EQ(kEccUncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE);
  EXPECT_EQ(kNvlinkUncorrectable, CUDA_ERROR_NVLINK_UNCORRECTABLE);
  EXPECT_EQ(kIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(kLaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT);
  EXPECT_EQ(kAssert, CUDA_ERROR_ASSERT);
  EXPECT_EQ(kHardwareStackError, CUDA_ERROR_HARDWARE_STACK_ERROR);
  EXPECT_EQ(kIllegalInstruction, CUDA_ERROR_ILLEGAL_INSTRUCTION);
  EXPECT_EQ(kMisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS);
  EXPECT_EQ(kInvalidAddressSpace, CUDA_ERROR_INVALID_ADDRESS_SPACE);
  EXPECT_EQ(kInvalidPc, CUDA_ERROR_INVALID_PC);
  EXPECT_EQ(kLaunchFailed, CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(kComputeMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  EXPECT_EQ(kComputeMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  EXPECT_EQ(kJitErrorLog, CU_JIT_ERROR_LOG_BUFFER);
  EXPECT_EQ(kJitErrorLogBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
  EXPECT_EQ(kProcessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  EXPECT_EQ(kMostShared, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  EXPECT_EQ(kMostDynamicShared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  EXPECT_EQ(kBoxOf16Bits, CU_TENSOR_MAP_DATA_TYPE_UINT16);
  EXPECT_EQ(kSwizzle64, CU_TENSOR_MAP_SWIZZLE_64B);
  EXPECT_EQ(kSwizzle128, CU_TENSOR_MAP_SWIZZLE_128B);
  EXPECT_EQ(kPromote256, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
  EXPECT_EQ(sizeof(BoxMapData), sizeof(CUtensorMap));
  EXPECT_EQ(kStreamNonBlocking, static_cast<unsigned>(CU_STREAM_NON_BLOCKING));
  EXPECT_EQ(kEventNoTiming, static_cast<unsigned>(CU_EVENT_DISABLE_TIMING));
  EXPECT_EQ(kHostPortable, static_cast<unsigned>(CU_MEMHOSTALLOC_PORTABLE));
  EXPECT_EQ(kPointerMemoryType, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
  EXPECT_EQ(kPointerDevice, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
  EXPECT_EQ(kPointerRangeStart, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR);
  EXPECT_EQ(kPointerRangeSize, CU_POINTER_ATTRIBUTE_RANGE_SIZE);
  EXPECT_EQ(kMemoryOfDevice, static_cast<unsigned>(CU_MEMORYTYPE_DEVICE));
  EXPECT_EQ(kCaptureRelaxed, static_cast<unsigned>(CU_STREAM_CAPTURE_MODE_RELAXED));
}

}  // namespace
}  // namespace tern::detail_cuda
