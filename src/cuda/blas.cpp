#include "cuda/blas.hpp"

#include <algorithm>
#include <array>

#include "backend/instruments/tuning.hpp"
#include "tern/error.hpp"

namespace tern::detail_cuda {
namespace {

constexpr int kProposals = 8;

int product_type(DType dtype) {
  switch (dtype) {
    case DType::f64: return kReal64;
    case DType::f16: return kReal16;
    case DType::bf16: return kBrain16;
    default: return kReal32;
  }
}

void check_product(CuResult result, const char* what) { require_success("cuBLASLt", result, what); }

/// The largest power of two, up to 256, that divides an address: algorithms ask for some.
std::uint32_t alignment(DevicePointer pointer) {
  std::uint32_t bytes = 256;
  while (pointer % bytes != 0) bytes /= 2;
  return bytes;
}

}  // namespace

// cuBLASLt's matrices lie by columns: what lies by rows is their transpose, and out' = b'·a'.
BlasLayout Products::layout(const BlasMatrix& matrix, std::int64_t rows, std::int64_t columns,
                            std::int64_t batches) const {
  if (!matrix.transposed) std::swap(rows, columns);
  BlasLayout layout = nullptr;
  check_product(
      api_.cublasLtMatrixLayoutCreate(&layout, product_type(matrix.dtype), static_cast<unsigned long long>(rows),
                                      static_cast<unsigned long long>(columns), std::max(matrix.stride, rows)),
      "a layout");
  if (batches > 1) {
    const auto count = static_cast<std::int32_t>(batches);
    check_product(api_.cublasLtMatrixLayoutSetAttribute(layout, kBatchCount, &count, sizeof count), "a layout");
    check_product(
        api_.cublasLtMatrixLayoutSetAttribute(layout, kBatchStride, &matrix.batch_stride, sizeof(std::int64_t)),
        "a layout");
  }
  return layout;
}

const detail::Choice& Products::choice(const Product& p) const {
  std::string key =
      "product.vendor, " + std::string(to_string(p.a.dtype)) + " to " + std::string(to_string(p.out.dtype));
  key += p.a.transposed ? " t" : " n";
  key += p.b.transposed ? "t" : "n";
  key += detail::size_classes(std::array{p.m, p.n, p.k});
  if (p.batches > 1) key += ", batched";
  return detail::choice_of(device_class_, key, {0, 1, 2, 3, 4, 5, 6, 7});
}

const Products::BlasPlan& Products::plan(const Product& p) {
  const std::uint32_t alignments[] = {alignment(p.b.data), alignment(p.a.data), alignment(p.out.data),
                                      alignment(p.out.data)};
  std::string key;
  const auto add = [&key](std::int64_t value) { key.append(reinterpret_cast<const char*>(&value), sizeof value); };
  add(p.m), add(p.n), add(p.k), add(p.batches);
  for (const BlasMatrix* matrix : {&p.a, &p.b, &p.out})
    add(static_cast<std::int64_t>(matrix->dtype) << 1 | matrix->transposed), add(matrix->stride),
        add(matrix->batch_stride);
  for (const std::uint32_t bytes : alignments) add(bytes);
  const auto [it, fresh] = plans_.try_emplace(key);
  BlasPlan& made = it->second;
  if (!fresh) return made;
  if (!handle_) check_product(api_.cublasLtCreate(&handle_), "starting");
  const bool wide = p.a.dtype == DType::f64;
  check_product(
      api_.cublasLtMatmulDescCreate(&made.operation, wide ? kCompute64 : kCompute32, wide ? kReal64 : kReal32),
      "an operation");
  const std::int32_t first = p.b.transposed, second = p.a.transposed;
  check_product(api_.cublasLtMatmulDescSetAttribute(made.operation, kTransposeA, &first, sizeof first), "an operation");
  check_product(api_.cublasLtMatmulDescSetAttribute(made.operation, kTransposeB, &second, sizeof second),
                "an operation");
  made.a = layout(p.b, p.k, p.n, p.batches), made.b = layout(p.a, p.m, p.k, p.batches);
  made.out = layout(p.out, p.m, p.n, p.batches);
  BlasPreference preference = nullptr;
  check_product(api_.cublasLtMatmulPreferenceCreate(&preference), "a preference");
  const std::size_t bytes = kWorkspace;
  api_.cublasLtMatmulPreferenceSetAttribute(preference, kWorkspaceBytes, &bytes, sizeof bytes);
  // Parts of a long k are added up in f32 (or f64), never in the type of the output: in bf16 that was seen to lose
  // three units in the last place over k = 784.
  const std::uint32_t schemes = kReduceInComputeType;
  api_.cublasLtMatmulPreferenceSetAttribute(preference, kReductionSchemes, &schemes, sizeof schemes);
  for (int i = 0; i < 4; ++i)
    api_.cublasLtMatmulPreferenceSetAttribute(preference, kAlignmentOfA + i, &alignments[i], sizeof alignments[i]);
  BlasChoice candidates[kProposals];
  int found = 0;
  const CuResult result = api_.cublasLtMatmulAlgoGetHeuristic(handle_, made.operation, made.a, made.b, made.out,
                                                              made.out, preference, kProposals, candidates, &found);
  api_.cublasLtMatmulPreferenceDestroy(preference);
  for (int i = 0; result == 0 && i < found; ++i)
    if (candidates[i].state == 0) made.found.push_back(candidates[i]);
  made.choice = &choice(p);
  return made;
}

bool Products::run(const Product& p, Stream stream, DevicePointer workspace) {
  const BlasPlan& made = plan(p);
  if (made.found.empty()) return false;
  const BlasChoice& chosen = made.found[static_cast<std::size_t>((*made.choice)()) % made.found.size()];
  const double one64 = 1, zero64 = 0;
  const float one32 = 1, zero32 = 0;
  const bool wide = p.a.dtype == DType::f64;
  const void *one = wide ? static_cast<const void*>(&one64) : &one32,
             *zero = wide ? static_cast<const void*>(&zero64) : &zero32;
  void* out = reinterpret_cast<void*>(p.out.data);
  check_product(api_.cublasLtMatmul(handle_, made.operation, one, reinterpret_cast<const void*>(p.b.data), made.a,
                                    reinterpret_cast<const void*>(p.a.data), made.b, zero, out, made.out, out, made.out,
                                    &chosen.algorithm, reinterpret_cast<void*>(workspace), kWorkspace, stream),
                "a product");
  return true;
}

}  // namespace tern::detail_cuda
