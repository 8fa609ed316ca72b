#include "primitives/linalg/linalg.hpp"

#include <memory>
#include <vector>

#include "backend/recording/native.hpp"
#include "backend/run.hpp"
#include "gpu/gpu_backend.hpp"
#include "primitives/linalg/kernels.hpp"

namespace tern::detail {

namespace {

/// The views of a request in the CPU's memory: what is read is downloaded, and so is what is written where other
/// elements lie between.
struct InHostMemory : ViewVisitor<InHostMemory> {
  struct HostCopy {
    std::shared_ptr<Storage> host;
    Storage* device;
    std::size_t begin;
    bool written;
  };
  Backend &host, &device;
  std::vector<HostCopy> parts = {};
  InHostMemory(Backend& to, Backend& from) : host(to), device(from) {}

  void take(View& view, const Shape& space, bool written) {
    if (!view.storage || space.numel() == 0) return;
    std::int64_t first = view.offset, last = view.offset;
    for (int i = 0; i < space.rank(); ++i) {
      const std::int64_t reach = view.strides[static_cast<std::size_t>(i)] * (space[static_cast<std::size_t>(i)] - 1);
      (reach < 0 ? first : last) += reach;
    }
    const std::size_t size = dtype_size(view.dtype), begin = static_cast<std::size_t>(first) * size;
    const std::size_t bytes = static_cast<std::size_t>(last - first + 1) * size;
    const auto memory = std::make_shared<Storage>(host, bytes);
    const bool whole = last - first + 1 == space.numel();  // nothing lies between what is written
    if (!written || !whole) device.download(*view.storage, begin, memory->data(), bytes);
    parts.push_back({memory, view.storage, begin, written});
    view.storage = memory.get(), view.offset -= first;
  }
  void reads(View& view, const Shape& space) { take(view, space, false); }
  void writes(View& view, const Shape& space) { take(view, space, true); }
  void finish() {
    for (const HostCopy& part : parts)
      if (part.written) device.upload(*part.device, part.begin, part.host->data(), part.host->bytes());
  }
};

/// For devices without a kernel of their own: there and back through the CPU's memory, which a report says.
template <class R> void on_host(Backend& device, const Primitive&, const void* request) {
  if (recording_natively())
    throw Error(ErrorKind::unsupported, "the device waits for the CPU here, which it cannot record");
  Backend& host = backend_of(cpu());
  R copy = *static_cast<const R*>(request);
  InHostMemory memory(host, device);
  R::views(copy, memory);
  if (tracing()) note("no kernel on this device: copied to the CPU and back");
  host.execute(copy);
  memory.finish();
}
}  // namespace

template <class R> void kernel_on_host(Backend& device, const R& request) {
  on_host<R>(device, primitive_of<R>(), &request);
}

#define TERN_SMALL_PRIMITIVE(name, Request)                                                      \
  template <> const Primitive& primitive_of<Request>() {                                         \
    static constexpr FamilyKernel kernels[] = {{"cpu", kernel_of<detail_cpu::name##_on_cpu>()},  \
                                               {"gpu", kernel_of<detail_gpu::name##_on_gpu>()}}; \
    static constexpr Primitive primitive{PrimitiveId::name, #name, kernels, on_host<Request>};   \
    return primitive;                                                                            \
  }                                                                                              \
  template void kernel_on_host(Backend&, const Request&);                                        \
  template void run(Backend&, const Request&);
TERN_SMALL_PRIMITIVE(cholesky, CholeskyRequest)
TERN_SMALL_PRIMITIVE(lu, LuRequest)
TERN_SMALL_PRIMITIVE(lu_solve, LuSolveRequest)
TERN_SMALL_PRIMITIVE(triangular, TriangularRequest)
TERN_SMALL_PRIMITIVE(qr, QrRequest)
TERN_SMALL_PRIMITIVE(eigh, EighRequest)
TERN_SMALL_PRIMITIVE(svd, SvdRequest)
#undef TERN_SMALL_PRIMITIVE

template <> const Primitive& primitive_of<EigRequest>() {
  static constexpr FamilyKernel kernels[] = {{"cpu", kernel_of<detail_cpu::eig_on_cpu>()}};
  static constexpr Primitive primitive{PrimitiveId::eig, "eig", kernels, on_host<EigRequest>};
  return primitive;
}
template void run(Backend&, const EigRequest&);
template <> const Primitive& primitive_of<DirectSolveRequest>() {
  static constexpr FamilyKernel kernels[] = {{"cpu", kernel_of<detail_cpu::direct_solve_on_cpu>()}};
  static constexpr Primitive primitive{PrimitiveId::direct_solve, "direct_solve", kernels};
  return primitive;
}
template void run(Backend&, const DirectSolveRequest&);
template <> const Primitive& primitive_of<ExponentialRequest>() {
  static constexpr FamilyKernel kernels[] = {{"cpu", kernel_of<detail_cpu::exponential_on_cpu>()},
                                             {"gpu", kernel_of<detail_gpu::exponential_on_gpu>()}};
  static constexpr Primitive primitive{PrimitiveId::matrix_exponential, "exponential", kernels,
                                       on_host<ExponentialRequest>};
  return primitive;
}
template void kernel_on_host(Backend&, const ExponentialRequest&);
template void run(Backend&, const ExponentialRequest&);
template <> const Primitive& primitive_of<StatusRequest>() {
  static constexpr FamilyKernel kernels[] = {{"cpu", kernel_of<detail_cpu::status_on_cpu>()},
                                             {"gpu", kernel_of<detail_gpu::status_on_gpu>()}};
  static constexpr Primitive primitive{PrimitiveId::matrix_status, "status", kernels, on_host<StatusRequest>};
  return primitive;
}
template void run(Backend&, const StatusRequest&);

LuSolveRequest solution_of(const LuRequest& r) {
  LuSolveRequest s{};
  s.op = r.op, s.space = r.space, s.right = r.right;
  s.lu = r.lu, s.pivots = r.pivots, s.b = r.b, s.x = r.x;
  return s;
}

Error matrix_error(const char* op, bool batched, std::int64_t matrix, std::int64_t status, PrimitiveId primitive) {
  std::string what = std::string(op) + ": " +
                     (batched ? "matrix " + std::to_string(matrix) + " of the batch" : std::string("the matrix"));
  const std::string at = std::to_string(status);
  if (status < 0) what += " has elements that are not finite";
  else if (primitive == PrimitiveId::cholesky)
    what += " is not positive definite: its leading minor of order " + at + " is not positive";
  else if (primitive == PrimitiveId::lu || primitive == PrimitiveId::direct_solve)
    what += " is singular: pivot " + at + " is zero";
  else what += " has no factorisation that was found: the iteration did not converge (" + at + ")";
  return Error(ErrorKind::linalg, what);
}

}  // namespace tern::detail
