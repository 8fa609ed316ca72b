#include "cuda/products/gemm.hpp"

#include <cstdlib>

#include "backend/instruments/trace.hpp"
#include "backend/instruments/tuning.hpp"
#include "cuda/cuda_backend.hpp"
#include "cuda/products/mma.hpp"
#include "gpu/plan/plan.hpp"
#include "gpu/products/epilogue.hpp"
#include "gpu/products/gemm_outer.hpp"
#include "gpu/products/gemm_pass.hpp"
#include "gpu/products/gemm_sums.hpp"
#include "gpu/products/gemm_tiny.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_cuda {
namespace {

using detail::GemmRequest;
using detail::View;
using detail_gpu::MergedAxes;

/// A factor or an output as a matrix: one of its last two axes has neighbours in memory.
std::optional<BlasMatrix> matrix_of(const View& view, std::int64_t row_stride, std::int64_t column_stride,
                                    std::int64_t rows, std::int64_t columns) {
  const auto size = static_cast<std::int64_t>(dtype_size(view.dtype));
  BlasMatrix m;
  m.data = reinterpret_cast<DevicePointer>(view.storage->data()) + static_cast<DevicePointer>(view.offset * size);
  m.dtype = view.dtype;
  if ((column_stride == 1 || columns == 1) && (row_stride >= columns || rows == 1)) m.stride = row_stride;
  else if ((row_stride == 1 || rows == 1) && (column_stride >= rows || columns == 1))
    m.stride = column_stride, m.transposed = true;
  else return std::nullopt;
  if ((m.transposed ? columns : rows) == 1) m.stride = m.transposed ? rows : columns;
  return m;
}

/// One product of a request whose batch axes fit one stride for each operand.
class BlasRequest {
 public:
  BlasRequest(detail_gpu::GpuBackend& backend, const GemmRequest& r)
      : backend_(backend), r_(r), row_(static_cast<std::size_t>(r.batch.rank())) {}

  bool run(const std::function<bool(const Product&)>& multiply) {
    if (r_.k == 0 || !is_floating(r_.a.dtype) || r_.a.dtype != r_.b.dtype) return false;
    const bool plain = is_plain();
    const detail_gpu::MergedProduct merged =
        detail_gpu::merged(r_, plain ? std::vector<const View*>{&r_.outputs[0]} : std::vector<const View*>{}, 0);
    if (merged.kept.sizes.size() > 1 || !merged.contracted.sizes.empty()) return false;
    Product p{merged.m, r_.n, merged.k, 1, {}, {}, {}};
    if (!merged.kept.sizes.empty()) p.batches = merged.kept.sizes[0];
    return complete(p, merged, plain, multiply);
  }

  /// The output is the product itself, in a type that cuBLASLt rounds to.
  bool is_plain() const {
    const detail::Program& program = *r_.epilogue;
    if (r_.outputs.size() != 1 || !r_.inputs.empty()) return false;
    const detail::Step& step = program.steps[static_cast<std::size_t>(program.outputs[0].step)];
    const bool is_acc = step.kind == detail::StepKind::input && step.index == 0;
    const bool rounded = step.kind == detail::StepKind::wrap && step.dtype == r_.a.dtype && step.args[0] >= 0 &&
                         program.steps[static_cast<std::size_t>(step.args[0])].kind == detail::StepKind::input;
    const DType out = r_.outputs[0].dtype;
    return (is_acc || rounded) && (out == r_.a.dtype || (out == DType::f32 && r_.a.dtype != DType::f64)) &&
           r_.outputs[0].strides[row_ + 1] == 1 && (r_.m == 1 || r_.outputs[0].strides[row_] >= r_.n);
  }

 private:
  bool complete(Product& p, const detail_gpu::MergedProduct& merged, bool plain,
                const std::function<bool(const Product&)>& multiply) {
    const auto step_of = [&](std::size_t view) { return merged.kept.strides[view][0]; };
    const auto a = matrix_of(r_.a, r_.a.strides[row_], r_.a.strides[row_ + 1], p.m, p.k);
    const auto b = matrix_of(r_.b, r_.b.strides[row_], r_.b.strides[row_ + 1], p.k, p.n);
    if (!a || !b) return false;
    p.a = *a, p.b = *b;
    if (p.batches > 1) p.a.batch_stride = step_of(merged.a), p.b.batch_stride = step_of(merged.a + 1);
    if (p.a.batch_stride < 0 || p.b.batch_stride < 0) return false;  // of a batch read backwards
    if (plain) {
      p.out = *matrix_of(r_.outputs[0], r_.outputs[0].strides[row_], 1, p.m, p.n);
      p.out.transposed = false, p.out.stride = p.m == 1 ? p.n : r_.outputs[0].strides[row_];
      if (p.batches > 1) p.out.batch_stride = step_of(0);
      return multiplied(p, *r_.outputs[0].storage, multiply) && noted("cuBLASLt");
    }
    const DType acc = r_.a.dtype == DType::f64 ? DType::f64 : DType::f32;
    const detail_gpu::ProductInMemory sums(backend_, r_, acc);  // as the kept batch axes lie
    p.out = {reinterpret_cast<DevicePointer>(sums.memory->data()), acc, p.n, false, p.batches > 1 ? p.m * p.n : 0};
    if (!multiplied(p, *sums.memory, multiply)) return false;
    detail_gpu::apply_epilogue(backend_, r_, sums.view, sums.space);
    return noted("cuBLASLt and a fused pass");
  }

  /// Queues the product into `out`, and writes down how to do so again with other memory.
  bool multiplied(const Product& p, detail::Storage& out, const std::function<bool(const Product&)>& multiply) const {
    if (!multiply(p)) return false;
    detail_gpu::Preparing* preparing = detail_gpu::Preparing::current();
    if (!preparing) return true;
    detail::Storage* const used[] = {r_.a.storage, r_.b.storage, &out};
    Product again = p;
    BlasMatrix* const matrices[] = {&again.a, &again.b, &again.out};
    for (int i = 0; i < 3; ++i) matrices[i]->data -= reinterpret_cast<DevicePointer>(used[i]->data());
    preparing->called(used, [again, multiply](std::span<detail::Storage* const> storages) {
      Product with_memory = again;
      BlasMatrix* const all[] = {&with_memory.a, &with_memory.b, &with_memory.out};
      for (std::size_t i = 0; i < 3; ++i) all[i]->data += reinterpret_cast<DevicePointer>(storages[i]->data());
      if (!multiply(with_memory)) throw Error(ErrorKind::backend, "cuBLASLt: a product that it took before is refused");
    });
    return true;
  }

  bool noted(const char* how) const {
    if (detail::tracing()) detail::note(how);
    return true;
  }

  detail_gpu::GpuBackend& backend_;
  const GemmRequest& r_;
  std::size_t row_;
};

/// TERN_CUDA_BLAS=0: products by the kernels of src/gpu/, as where there is no cuBLASLt (tests).
bool blas_wanted() {
  static const bool wanted = [] {
    const char* value = std::getenv("TERN_CUDA_BLAS");
    return !value || std::string_view(value) != "0";
  }();
  return wanted;
}

CudaBackend& in_cuda(detail_gpu::GpuBackend& backend) { return static_cast<CudaBackend&>(backend); }

/// A product that fits the limits, on the matrix units where they take it.
void multiply_part(detail_gpu::GpuBackend& backend, const GemmRequest& r) {
  // 100,000 of 4 x 4 in bf16 took 4.6 ms in tiles of the matrix units.
  const bool tiny = detail_gpu::is_tiny(r) && !backend.limits().archived;
  if (tiny || !run_mma(backend, r, in_cuda(backend).units()))
    detail_gpu::multiply_in_one_or_pass(backend, r, multiply_part);
}

bool is_16_bits(const GemmRequest& r) { return r.a.dtype == DType::f16 || r.a.dtype == DType::bf16; }

/// Products of few elements along a short k are one launch of an ordinary kernel with its epilogue. On the host of an
/// H200 that takes 3.8 us, a call of cuBLASLt's 8.9 and the pass besides 3.6; on the GPU 784x64x256 takes 5.4 instead
/// of 4.4 us, 256x64x10 5.7 instead of 4.0, 64x10x256 2.9 instead of 3.1.
bool is_short(const GemmRequest& r) {
  constexpr std::int64_t most_k = 64, most_elements = 1 << 18;
  std::int64_t k = r.k, elements = r.m * r.n;
  for (int i = 0; i < r.batch.rank(); ++i)
    (r.contracted >> i & 1 ? k : elements) *= r.batch[static_cast<std::size_t>(i)];
  return r.a.dtype == DType::f32 && k <= most_k && elements <= most_elements;
}
}  // namespace

bool multiply_whole(detail_gpu::GpuBackend& backend, const GemmRequest& request, const MatrixUnits& units,
                    const std::function<bool(const Product&)>& run) {
  if (!backend.limits().archived && (is_short(request) || detail_gpu::is_tiny(request) ||
                                     detail_gpu::is_long_sums(request) || detail_gpu::is_outer_product(request)))
    return false;
  BlasRequest r(backend, request);
  const bool vendor = static_cast<bool>(run);
  if (vendor && r.is_plain() && r.run(run)) return true;
  // Whether products with an epilogue take the matrix units' own kernel (1) or cuBLASLt and a pass (0).
  if (!vendor || detail::choice_of(backend.device_class(), "product.epilogue", {1, 0})()) {
    if (run_wgmma(backend, request, units, !vendor)) return true;
    // They have a kernel of their own, with the epilogue (run_mma). On later GPUs that multiplies at 0.54 of cuBLASLt's
    // speed: where there is no NVRTC, cuBLASLt and a pass come first.
    if (vendor && units.architecture < 90 && !backend.limits().archived && is_16_bits(request)) return false;
  }
  return vendor && r.run(run);
}

void multiply_on_cuda(detail_gpu::GpuBackend& backend, const GemmRequest& r) {
  std::string reason;
  const BlasApi* api = blas_wanted() ? blas(reason) : nullptr;
  std::int64_t elements = r.m * r.n;
  for (int i = 0; i < r.batch.rank(); ++i)
    if (!(r.contracted >> i & 1)) elements *= r.batch[static_cast<std::size_t>(i)];
  if (elements == 0) return;
  CudaBackend& cuda = in_cuda(backend);
  std::function<bool(const Product&)> vendor;
  if (api) vendor = [&cuda, api](const Product& product) { return cuda.multiply(*api, product); };
  if (!multiply_whole(backend, r, cuda.units(), vendor)) detail_gpu::multiply_in_parts(backend, r, multiply_part);
}

}  // namespace tern::detail_cuda
