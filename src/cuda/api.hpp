// The CUDA driver and NVRTC, found when the program runs: nothing of CUDA is needed to build tern. Types, values and
// functions are declared here by hand, as CUDA 12 and 13 have them alike (tests/cuda/headers.cpp holds them against the
// real headers).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace tern::detail_cuda {

using CuResult = int;  // CUresult, nvrtcResult
using DeviceHandle = int;
using DevicePointer = unsigned long long;
using Context = struct ContextOf*;
using Stream = struct StreamOf*;
using Event = struct EventOf*;
using CuModule = struct ModuleOf*;
using CuFunction = struct FunctionOf*;
using CuGraph = struct GraphOf*;
using GraphExec = struct GraphExecOf*;
using NvrtcProgram = struct ProgramOf*;

/// CUtensorMap.
struct alignas(64) BoxMapData {
  std::uint64_t words[16];
};

inline constexpr CuResult kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kNotInitialized = 3;
/// Throws where one of NVIDIA's libraries failed: "cuFFT: what failed with status 3".
void require_success(const char* library, CuResult result, const char* what);
inline constexpr CuResult kPeerAccessAlreadyEnabled = 704;
// What leaves a context unusable.
inline constexpr CuResult kEccUncorrectable = 214, kNvlinkUncorrectable = 220, kIllegalAddress = 700,
                          kLaunchTimeout = 702, kAssert = 710, kHardwareStackError = 714, kIllegalInstruction = 715,
                          kMisalignedAddress = 716, kInvalidAddressSpace = 717, kInvalidPc = 718, kLaunchFailed = 719;
inline constexpr int kProcessorCount = 16;                             // CUdevice_attribute
inline constexpr int kMostShared = 97;                                 // CUdevice_attribute
inline constexpr int kMostDynamicShared = 8;                           // CUfunction_attribute
inline constexpr int kJitErrorLog = 5, kJitErrorLogBytes = 6;           // CUjit_option
inline constexpr int kComputeMajor = 75, kComputeMinor = 76;           // CUdevice_attribute
inline constexpr int kBoxOf16Bits = 1, kPromote256 = 3;  // CUtensorMapDataType, …L2promotion
inline constexpr int kSwizzle64 = 2, kSwizzle128 = 3;      // CUtensorMapSwizzle
inline constexpr unsigned kStreamNonBlocking = 1, kEventNoTiming = 2;  // CUstream_flags, CUevent_flags
inline constexpr unsigned kCaptureRelaxed = 2;                         // CUstreamCaptureMode
inline constexpr unsigned kHostPortable = 1;                           // CU_MEMHOSTALLOC_PORTABLE
inline constexpr int kPointerMemoryType = 2, kPointerDevice = 9;       // CUpointer_attribute
inline constexpr int kPointerRangeStart = 11, kPointerRangeSize = 12;
inline constexpr unsigned kMemoryOfDevice = 2;                         // CUmemorytype

// name, parameters; all return a CuResult.
#define TERN_CUDA_DRIVER(X)                                                                                          \
  X(cuInit, (unsigned flags))                                                                                        \
  X(cuDriverGetVersion, (int* version))                                                                              \
  X(cuDeviceGetCount, (int* count))                                                                                  \
  X(cuDeviceGet, (DeviceHandle * device, int ordinal))                                                               \
  X(cuDeviceGetName, (char* name, int length, DeviceHandle device))                                                  \
  X(cuDeviceGetAttribute, (int* value, int attribute, DeviceHandle device))                                          \
  X(cuDevicePrimaryCtxRetain, (Context * context, DeviceHandle device))                                              \
  X(cuCtxSetCurrent, (Context context))                                                                              \
  X(cuCtxGetCurrent, (Context * context))                                                                            \
  X(cuDeviceCanAccessPeer, (int* can, DeviceHandle device, DeviceHandle peer))                                       \
  X(cuCtxEnablePeerAccess, (Context peer, unsigned flags))                                                           \
  X(cuMemGetInfo_v2, (std::size_t * free, std::size_t * total))                                                      \
  X(cuMemAlloc_v2, (DevicePointer * pointer, std::size_t bytes))                                                     \
  X(cuMemFree_v2, (DevicePointer pointer))                                                                           \
  X(cuMemHostAlloc, (void** pointer, std::size_t bytes, unsigned flags))                                             \
  X(cuMemFreeHost, (void* pointer))                                                                                  \
  X(cuMemcpyHtoDAsync_v2, (DevicePointer to, const void* from, std::size_t bytes, Stream stream))                    \
  X(cuMemcpyDtoHAsync_v2, (void* to, DevicePointer from, std::size_t bytes, Stream stream))                          \
  X(cuMemcpyPeerAsync, (DevicePointer to, Context to_context, DevicePointer from, Context from_context,              \
                        std::size_t bytes, Stream stream))                                                           \
  X(cuPointerGetAttribute, (void* value, int attribute, DevicePointer pointer))                                      \
  X(cuMemsetD8Async, (DevicePointer to, unsigned char value, std::size_t bytes, Stream stream))                      \
  X(cuStreamCreate, (Stream * stream, unsigned flags))                                                               \
  X(cuStreamSynchronize, (Stream stream))                                                                            \
  X(cuStreamWaitEvent, (Stream stream, Event event, unsigned flags))                                                 \
  X(cuStreamGetCtx, (Stream stream, Context * context))                                                              \
  X(cuEventCreate, (Event * event, unsigned flags))                                                                  \
  X(cuEventRecord, (Event event, Stream stream))                                                                     \
  X(cuEventSynchronize, (Event event))                                                                               \
  X(cuEventQuery, (Event event))                                                                                     \
  X(cuModuleLoadDataEx,                                                                                              \
    (CuModule * module, const void* image, unsigned options, int* option_names, void** option_values))               \
  X(cuModuleUnload, (CuModule module))                                                                               \
  X(cuFuncSetAttribute, (CuFunction function, int attribute, int value))                                             \
  X(cuModuleGetFunction, (CuFunction * function, CuModule module, const char* name))                                 \
  X(cuLaunchKernel,                                                                                                  \
    (CuFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,     \
     unsigned block_z, unsigned shared_bytes, Stream stream, void** parameters, void** extra))                       \
  X(cuTensorMapEncodeTiled, (BoxMapData * map, int type, unsigned rank, void* address, const std::uint64_t* sizes,   \
                             const std::uint64_t* strides, const std::uint32_t* box, const std::uint32_t* steps,     \
                             int interleave, int swizzle, int promotion, int fill))                                  \
  X(cuTensorMapEncodeIm2col,                                                                                         \
    (BoxMapData * map, int type, unsigned rank, void* address, const std::uint64_t* sizes,                           \
     const std::uint64_t* strides, const int* lower, const int* upper, std::uint32_t channels, std::uint32_t places, \
     const std::uint32_t* steps, int interleave, int swizzle, int promotion, int fill))                              \
  X(cuStreamBeginCapture_v2, (Stream stream, unsigned mode))                                                         \
  X(cuStreamEndCapture, (Stream stream, CuGraph * graph))                                                            \
  X(cuGraphInstantiateWithFlags, (GraphExec * exec, CuGraph graph, unsigned long long flags))                        \
  X(cuGraphLaunch, (GraphExec exec, Stream stream))                                                                  \
  X(cuGraphExecDestroy, (GraphExec exec))                                                                            \
  X(cuGraphDestroy, (CuGraph graph))                                                                                 \
  X(cuGetErrorName, (CuResult error, const char** text))                                                             \
  X(cuGetErrorString, (CuResult error, const char** text))

#define TERN_CUDA_NVRTC(X)                                                                        \
  X(nvrtcVersion, (int* major, int* minor))                                                       \
  X(nvrtcCreateProgram, (NvrtcProgram * program, const char* text, const char* name, int headers, \
                         const char* const* header_texts, const char* const* header_names))       \
  X(nvrtcCompileProgram, (NvrtcProgram program, int options, const char* const* texts))           \
  X(nvrtcDestroyProgram, (NvrtcProgram * program))                                                \
  X(nvrtcGetCUBINSize, (NvrtcProgram program, std::size_t * bytes))                               \
  X(nvrtcGetCUBIN, (NvrtcProgram program, char* cubin))                                           \
  X(nvrtcGetPTXSize, (NvrtcProgram program, std::size_t * bytes))                                 \
  X(nvrtcGetPTX, (NvrtcProgram program, char* ptx))                                               \
  X(nvrtcGetProgramLogSize, (NvrtcProgram program, std::size_t * bytes))                          \
  X(nvrtcGetProgramLog, (NvrtcProgram program, char* log))

using Blas = struct BlasOf*;
using BlasOperation = struct BlasOperationOf*;
using BlasLayout = struct BlasLayoutOf*;
using BlasPreference = struct BlasPreferenceOf*;
struct BlasAlgorithm {
  unsigned long long data[8];
};
/// cublasLtMatmulHeuristicResult_t.
struct BlasChoice {
  BlasAlgorithm algorithm;
  std::size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};
inline constexpr int kReal32 = 0, kReal64 = 1, kReal16 = 2, kBrain16 = 14;  // cudaDataType_t
inline constexpr int kComplex32 = 4, kComplex64 = 5;
inline constexpr int kCompute32 = 68, kCompute64 = 70;                      // cublasComputeType_t
inline constexpr int kTransposeA = 3, kTransposeB = 4;                      // cublasLtMatmulDescAttributes_t
inline constexpr int kBatchCount = 5, kBatchStride = 6;                     // cublasLtMatrixLayoutAttribute_t
inline constexpr int kWorkspaceBytes = 1, kReductionSchemes = 3,
                     kAlignmentOfA = 5;              // cublasLtMatmulPreferenceAttributes_t
inline constexpr unsigned kReduceInComputeType = 2;  // cublasLtReductionScheme_t

#define TERN_CUDA_BLAS(X)                                                                                          \
  X(cublasLtCreate, (Blas * handle))                                                                               \
  X(cublasLtMatmulDescCreate, (BlasOperation * operation, int compute, int scale))                                 \
  X(cublasLtMatmulDescSetAttribute,                                                                                \
    (BlasOperation operation, int attribute, const void* value, std::size_t bytes))                                \
  X(cublasLtMatrixLayoutCreate,                                                                                    \
    (BlasLayout * layout, int type, unsigned long long rows, unsigned long long columns, long long stride))        \
  X(cublasLtMatrixLayoutSetAttribute, (BlasLayout layout, int attribute, const void* value, std::size_t bytes))    \
  X(cublasLtMatmulPreferenceCreate, (BlasPreference * preference))                                                 \
  X(cublasLtMatmulPreferenceSetAttribute,                                                                          \
    (BlasPreference preference, int attribute, const void* value, std::size_t bytes))                              \
  X(cublasLtMatmulPreferenceDestroy, (BlasPreference preference))                                                  \
  X(cublasLtMatmulAlgoGetHeuristic,                                                                                \
    (Blas handle, BlasOperation operation, BlasLayout a, BlasLayout b, BlasLayout c, BlasLayout d,                 \
     BlasPreference preference, int wanted, BlasChoice* choices, int* found))                                      \
  X(cublasLtMatmul,                                                                                                \
    (Blas handle, BlasOperation operation, const void* alpha, const void* a, BlasLayout of_a, const void* b,       \
     BlasLayout of_b, const void* beta, const void* c, BlasLayout of_c, void* d, BlasLayout of_d,                  \
     const BlasAlgorithm* algorithm, void* workspace, std::size_t workspace_bytes, Stream stream))

using Solver = struct SolverOf*;
using SolverOptions = struct SolverOptionsOf*;
using TriangleSolver = struct TriangleSolverOf*;                // cublasHandle_t: cuSOLVER is linked to cuBLAS
inline constexpr int kLower = 0, kUpper = 1;                    // cublasFillMode_t
inline constexpr int kOnTheLeft = 0, kOnes = 1;                 // cublasSideMode_t, cublasDiagType_t
inline constexpr int kAsIs = 0, kTransposed = 1, kAdjoint = 2;  // cublasOperation_t
inline constexpr int kValuesAlone = 0, kWithVectors = 1;        // cusolverEigMode_t

#define TERN_CUDA_SOLVER(X)                                                                                            \
  X(cusolverDnCreate, (Solver * handle))                                                                               \
  X(cusolverDnSetStream, (Solver handle, Stream stream))                                                               \
  X(cusolverDnCreateParams, (SolverOptions * options))                                                                 \
  X(cusolverDnXpotrf_bufferSize,                                                                                       \
    (Solver handle, SolverOptions options, int triangle, std::int64_t n, int type, const void* a, std::int64_t ld,     \
     int compute, std::size_t* bytes, std::size_t* host_bytes))                                                        \
  X(cusolverDnXpotrf,                                                                                                  \
    (Solver handle, SolverOptions options, int triangle, std::int64_t n, int type, void* a, std::int64_t ld,           \
     int compute, void* space, std::size_t bytes, void* host_space, std::size_t host_bytes, int* info))                \
  X(cusolverDnXgetrf_bufferSize,                                                                                       \
    (Solver handle, SolverOptions options, std::int64_t m, std::int64_t n, int type, const void* a, std::int64_t ld,   \
     int compute, std::size_t* bytes, std::size_t* host_bytes))                                                        \
  X(cusolverDnXgetrf, (Solver handle, SolverOptions options, std::int64_t m, std::int64_t n, int type, void* a,        \
                       std::int64_t ld, std::int64_t* pivots, int compute, void* space, std::size_t bytes,             \
                       void* host_space, std::size_t host_bytes, int* info))                                           \
  X(cusolverDnXgeqrf_bufferSize,                                                                                       \
    (Solver handle, SolverOptions options, std::int64_t m, std::int64_t n, int type, const void* a, std::int64_t ld,   \
     int type_of_tau, const void* tau, int compute, std::size_t* bytes, std::size_t* host_bytes))                      \
  X(cusolverDnXgeqrf, (Solver handle, SolverOptions options, std::int64_t m, std::int64_t n, int type, void* a,        \
                       std::int64_t ld, int type_of_tau, void* tau, int compute, void* space, std::size_t bytes,       \
                       void* host_space, std::size_t host_bytes, int* info))                                           \
  X(cusolverDnXsyevd_bufferSize, (Solver handle, SolverOptions options, int vectors, int triangle, std::int64_t n,     \
                                  int type, const void* a, std::int64_t ld, int type_of_values, const void* values,    \
                                  int compute, std::size_t* bytes, std::size_t* host_bytes))                           \
  X(cusolverDnXsyevd, (Solver handle, SolverOptions options, int vectors, int triangle, std::int64_t n, int type,      \
                       void* a, std::int64_t ld, int type_of_values, void* values, int compute, void* space,           \
                       std::size_t bytes, void* host_space, std::size_t host_bytes, int* info))                        \
  X(cusolverDnXgesvd_bufferSize,                                                                                       \
    (Solver handle, SolverOptions options, signed char of_u, signed char of_vh, std::int64_t m, std::int64_t n,        \
     int type, const void* a, std::int64_t ld, int type_of_s, const void* s, int type_of_u, const void* u,             \
     std::int64_t ld_of_u, int type_of_vh, const void* vh, std::int64_t ld_of_vh, int compute, std::size_t* bytes,     \
     std::size_t* host_bytes))                                                                                         \
  X(cusolverDnXgesvd, (Solver handle, SolverOptions options, signed char of_u, signed char of_vh, std::int64_t m,      \
                       std::int64_t n, int type, void* a, std::int64_t ld, int type_of_s, void* s, int type_of_u,      \
                       void* u, std::int64_t ld_of_u, int type_of_vh, void* vh, std::int64_t ld_of_vh, int compute,    \
                       void* space, std::size_t bytes, void* host_space, std::size_t host_bytes, int* info))           \
  TERN_CUDA_BASIS(X, cusolverDnSorgqr)                                                                                 \
  TERN_CUDA_BASIS(X, cusolverDnDorgqr)                                                                                 \
  TERN_CUDA_BASIS(X, cusolverDnCungqr)                                                                                 \
  TERN_CUDA_BASIS(X, cusolverDnZungqr)                                                                                 \
  X(cublasCreate_v2, (TriangleSolver * handle))                                                                        \
  X(cublasSetStream_v2, (TriangleSolver handle, Stream stream))                                                        \
  TERN_CUDA_TRIANGLE(X, cublasStrsm_v2)                                                                                \
  TERN_CUDA_TRIANGLE(X, cublasDtrsm_v2)                                                                                \
  TERN_CUDA_TRIANGLE(X, cublasCtrsm_v2)                                                                                \
  TERN_CUDA_TRIANGLE(X, cublasZtrsm_v2)                                                                                \
  TERN_CUDA_OF_EACH(X, S)                                                                                              \
  TERN_CUDA_OF_EACH(X, D)                                                                                              \
  TERN_CUDA_OF_EACH(X, C)                                                                                              \
  TERN_CUDA_OF_EACH(X, Z)                                                                                              \
  X(cublasDgemm_v2, TERN_CUDA_MULTIPLY)                                                                                \
  X(cublasZgemm_v2, TERN_CUDA_MULTIPLY)                                                                                \
  X(cusolverDnXgesvdp_bufferSize,                                                                                      \
    (Solver handle, SolverOptions options, int vectors, int few, std::int64_t m, std::int64_t n, int type,             \
     const void* a, std::int64_t ld, int type_of_s, const void* s, int type_of_u, const void* u, std::int64_t ld_of_u, \
     int type_of_v, const void* v, std::int64_t ld_of_v, int compute, std::size_t* bytes, std::size_t* host_bytes))    \
  X(cusolverDnXgesvdp, (Solver handle, SolverOptions options, int vectors, int few, std::int64_t m, std::int64_t n,    \
                        int type, void* a, std::int64_t ld, int type_of_s, void* s, int type_of_u, void* u,            \
                        std::int64_t ld_of_u, int type_of_v, void* v, std::int64_t ld_of_v, int compute, void* space,  \
                        std::size_t bytes, void* host_space, std::size_t host_bytes, int* info, double* error))
// Those of cuSOLVER that came with CUDA 12.6.
#define TERN_CUDA_SOLVER_LATER(X)                                                                                      \
  X(cusolverDnXsyevBatched_bufferSize,                                                                                 \
    (Solver handle, SolverOptions options, int vectors, int triangle, std::int64_t n, int type, const void* a,         \
     std::int64_t ld, int type_of_values, const void* values, int compute, std::size_t* bytes,                         \
     std::size_t* host_bytes, std::int64_t count))                                                                     \
  X(cusolverDnXsyevBatched,                                                                                            \
    (Solver handle, SolverOptions options, int vectors, int triangle, std::int64_t n, int type, void* a,               \
     std::int64_t ld, int type_of_values, void* values, int compute, void* space, std::size_t bytes, void* host_space, \
     std::size_t host_bytes, int* info, std::int64_t count))
#define TERN_CUDA_MULTIPLY                                                                                   \
  (TriangleSolver handle, int of_a, int of_b, int m, int n, int k, const void* alpha, const void* a, int ld, \
   const void* b, int ld_of_b, const void* beta, void* c, int ld_of_c)
#define TERN_CUDA_OF_EACH(X, type)                                                                                \
  X(cusolverDn##type##potrfBatched, (Solver handle, int triangle, int n, void** a, int ld, int* info, int count)) \
  X(cublas##type##getrfBatched,                                                                                   \
    (TriangleSolver handle, int n, void* const* a, int ld, int* pivots, int* info, int count))                    \
  X(cublas##type##trsmBatched,                                                                                    \
    (TriangleSolver handle, int side, int triangle, int how, int diagonal, int m, int n, const void* alpha,       \
     const void* const* a, int ld, void* const* b, int ld_of_b, int count))
#define TERN_CUDA_TRIANGLE(X, name)                                                                               \
  X(name, (TriangleSolver handle, int side, int triangle, int how, int diagonal, int m, int n, const void* alpha, \
           const void* a, int ld, void* b, int ld_of_b))
#define TERN_CUDA_BASIS(X, name)                                                                                    \
  X(name##_bufferSize, (Solver handle, int m, int n, int k, const void* a, int ld, const void* tau, int* elements)) \
  X(name, (Solver handle, int m, int n, int k, void* a, int ld, const void* tau, void* space, int elements, int* info))

using TransformPlanHandle = int;                                                    // cufftHandle
inline constexpr int kFromReal32 = 0x2a, kToReal32 = 0x2c, kComplexLines32 = 0x29;  // cufftType
inline constexpr int kFromReal64 = 0x6a, kToReal64 = 0x6c, kComplexLines64 = 0x69;
inline constexpr int kForward = -1, kInverse = 1;  // CUFFT_FORWARD, CUFFT_INVERSE

#define TERN_CUDA_TRANSFORMS(X)                                                                                        \
  X(cufftCreate, (TransformPlanHandle * plan))                                                                         \
  X(cufftSetAutoAllocation, (TransformPlanHandle plan, int itself))                                                    \
  X(cufftMakePlanMany64,                                                                                               \
    (TransformPlanHandle plan, int rank, long long* n, long long* in_sizes, long long in_step, long long in_distance,  \
     long long* out_sizes, long long out_step, long long out_distance, int type, long long count, std::size_t* bytes)) \
  X(cufftSetStream, (TransformPlanHandle plan, Stream stream))                                                         \
  X(cufftSetWorkArea, (TransformPlanHandle plan, void* space))                                                         \
  X(cufftXtExec, (TransformPlanHandle plan, void* in, void* out, int direction))                                       \
  X(cufftDestroy, (TransformPlanHandle plan))

#define TERN_CUDA_DECLARE(name, parameters) CuResult(*name) parameters = nullptr;
struct SolverApi {
  TERN_CUDA_SOLVER(TERN_CUDA_DECLARE)
  TERN_CUDA_SOLVER_LATER(TERN_CUDA_DECLARE)  // null where it is older
};
struct TransformApi {
  TERN_CUDA_TRANSFORMS(TERN_CUDA_DECLARE)
};
struct BlasApi {
  TERN_CUDA_BLAS(TERN_CUDA_DECLARE)
};
struct Driver {
  TERN_CUDA_DRIVER(TERN_CUDA_DECLARE)
};
struct Nvrtc {
  TERN_CUDA_NVRTC(TERN_CUDA_DECLARE)
  int major = 0, minor = 0;
};
#undef TERN_CUDA_DECLARE

/// The driver's functions, initialised; null with a reason where there is no driver or no GPU.
const Driver* driver(std::string& reason);
/// Has driver() give these in place of what it would find; before it is first called (tools/archive_kernels.cpp).
void use_driver(const Driver& functions);
/// NVRTC's; null with a reason, which names the remedy.
const Nvrtc* nvrtc(std::string& reason);
/// cuBLASLt's, likewise.
const BlasApi* blas(std::string& reason);
/// cuSOLVER's, likewise.
const SolverApi* solver(std::string& reason);
/// cuFFT's, likewise.
const TransformApi* transforms(std::string& reason);
/// Has exit() call `end` before the static objects of the libraries go that are loaded by now, or later through the
/// functions above: what runs after that and used them would crash.
void end_before_libraries(void (*end)());
/// "CUDA_ERROR_OUT_OF_MEMORY (out of memory)".
std::string error_text(const Driver& driver, CuResult result);

/// Opens a CUDA library by the first of `names` that is found: in the folders of TERN_CUDA_LIBRARIES (separated by
/// colons), by the system, in a CUDA toolkit, or in a Python environment's packages. Null where there is none.
void* open_library(const std::initializer_list<const char*>& names);

}  // namespace tern::detail_cuda
