// A device that hands the text of its kernels to somebody in place of running them. Memory is never touched.
#pragma once
#include <functional>
#include <string>

#include "backend/tensor_impl.hpp"
#include "cuda/dialect.hpp"
#include "gpu/gpu_backend.hpp"
#include "gpu/matrix_library.hpp"
#include "primitives/attention/kernels.hpp"
#include "primitives/gemm/kernels.hpp"
#include "tern/tern.hpp"
#include "webgpu/dialect.hpp"

namespace tern::test {

/// A vendor's library that does nothing.
class NoLibrary final : public detail_gpu::MatrixLibrary {
  using Info = std::int32_t*;
  using Size = std::int64_t;
  const char* name() const override { return "none"; }
  void cholesky(DType, Size, void*, Info) override {}
  void cholesky_of_each(DType, Size, void**, Info, Size) override {}
  void lu(DType, Size, Size, void*, std::int64_t*, Info) override {}
  void lu_of_each(DType, Size, void**, Info, Info, Size) override {}
  void triangular(DType, bool, bool, char, Size, Size, const void*, void*) override {}
  void triangular_of_each(DType, bool, bool, char, Size, Size, const void* const*, void* const*, Size) override {}
  void reflections(DType, Size, Size, void*, void*, Info) override {}
  void basis(DType, Size, Size, Size, void*, const void*, Info) override {}
  void eigh(DType, bool, Size, void*, void*, Info, Size) override {}
  bool eigh_at_once() const override { return true; }
  void svd(DType, char, Size, Size, void*, void*, void*, void*, Info) override {}
  bool svd_by_polar(DType, Size, Size, void*, void*, void*, void*, double) override { return true; }
  void multiply(DType, bool, Size, Size, Size, const void*, const void*, void*) override {}
};

class Printing final : public detail_gpu::GpuBackend {
 public:
  using Take = std::function<void(const detail_gpu::Launch& launch, const std::string& text)>;
  Printing(DeviceKind kind, Take take) : in_cuda_(kind == DeviceKind::cuda), take_(std::move(take)) {
    if (!in_cuda_) return;
    limits_.native = true, limits_.binding_bytes = 0xffffff00ull, limits_.bindings = 60, limits_.threads = 1024;
    limits_.shared_bytes = 48 << 10, limits_.most_shared_bytes = 227 << 10;
  }
  Device device() const override { return in_cuda_ ? cuda(0) : webgpu(0); }
  std::string name() const override { return "printer"; }
  bool supports(DType dtype) const override { return in_cuda_ || (dtype != DType::f64 && dtype != DType::i64); }
  const detail_gpu::Limits& limits() const override { return limits_; }
  const detail_gpu::Dialect& dialect() const override {
    return in_cuda_ ? detail_gpu::cuda_dialect() : detail_gpu::wgsl(abilities);
  }
  void launch(detail_gpu::Launch& launch, const std::function<std::string()>& text) override {
    const std::string printed = text();
    if (!printed.empty()) take_(launch, printed);  // a prepared request brings none
  }
  /// WebGPU's texts in subgroups, where these are to be printed, of what the call asks for; or those of devices whose
  /// workgroups go on, besides.
  template <class Call> void in_subgroups(Call call, bool progress = false) {
    if (in_cuda_ || !has_subgroups) return;
    struct Guard {
      detail_gpu::Limits& limits;
      ~Guard() { limits = {}; }
    } guard{limits_};
    limits_.subgroups = true, limits_.progress = progress, limits_.shared_bytes = 32 << 10, limits_.threads = 1024;
    call();
  }
  bool has_subgroups = true;
  detail_gpu::WgslAbilities abilities;
  /// Products are offered to this first.
  std::function<bool(detail_gpu::GpuBackend&, const detail::GemmRequest&)> multiply;
  /// And attention and its gradients to these; before the first of them.
  std::function<bool(detail_gpu::GpuBackend&, const detail::AttentionRequest&)> attend;
  std::function<bool(detail_gpu::GpuBackend&, const detail::AttentionBackwardRequest&)> attend_backward;
  detail::Storage& index_flags() override { return *flags_; }
  void* find_library(const std::type_info& interface, std::string&) override {
    if (!in_cuda_ || interface != typeid(detail_gpu::MatrixLibrary)) return nullptr;
    return static_cast<detail_gpu::MatrixLibrary*>(&library_);
  }
  bool in_cuda() const { return in_cuda_; }
  /// Who the texts go to.
  const Take& take() const { return take_; }
  void* allocate(std::size_t) override { return reinterpret_cast<void*>(++allocated_ << 8); }
  void deallocate(void*, std::size_t) noexcept override {}
  void upload(detail::Storage&, std::size_t, const void*, std::size_t) override {}
  void download(const detail::Storage&, std::size_t, void*, std::size_t) override {}
  void synchronize() override {}

  Tensor make(const Shape& shape, DType dtype = f32) { return detail::make_tensor(shape, dtype, *this); }

 protected:
  std::vector<std::string_view> families() const override {
    if (in_cuda_) return {"cuda", "gpu"};
    return {"webgpu", "gpu"};
  }
  detail::Kernel find_kernel(const detail::Primitive& primitive) const override {
    if (primitive.id == detail::PrimitiveId::gemm) return detail::kernel_of<gemm>();
    if (attend && primitive.id == detail::PrimitiveId::attention) return detail::kernel_of<attention>();
    if (attend_backward && primitive.id == detail::PrimitiveId::attention_backward)
      return detail::kernel_of<attention_backward>();
    return GpuBackend::find_kernel(primitive);
  }

 private:
  static void gemm(Printing& self, const detail::GemmRequest& request) {
    if (!self.multiply || !self.multiply(self, request)) detail_gpu::gemm_on_gpu(self, request);
  }
  static void attention(Printing& self, const detail::AttentionRequest& request) {
    if (!self.attend(self, request)) detail_gpu::attention_on_cuda(self, request);
  }
  static void attention_backward(Printing& self, const detail::AttentionBackwardRequest& request) {
    if (!self.attend_backward(self, request)) detail_gpu::attention_backward_on_cuda(self, request);
  }
  bool in_cuda_;
  NoLibrary library_;
  Take take_;
  std::uintptr_t allocated_ = 0;
  detail_gpu::Limits limits_;
  std::shared_ptr<detail::Storage> flags_ = std::make_shared<detail::Storage>(*this, 256);
};

}  // namespace tern::test
