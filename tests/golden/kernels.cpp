// Prints a few kernels, one of each skeleton, in WGSL or (with the argument cuda) CUDA C++, for comparison with
// golden/kernels.wgsl and golden/kernels.cu: a change of a printer shows as a change of text. No device is needed.
// After a wanted change:
//   build/tests/tern_golden_kernels > tests/golden/kernels.wgsl
//   build/tests/tern_golden_kernels cuda > tests/golden/kernels.cu
#include <cstdio>
#include <string_view>

#include "backend/tensor_impl.hpp"
#include "gpu/gpu_backend.hpp"
#include "tern/tern.hpp"

namespace {
using namespace tern;

/// A device that prints kernels in place of running them. Memory is of the size asked for and never touched.
class Printing final : public detail_gpu::GpuBackend {
 public:
  explicit Printing(bool in_cuda) : in_cuda_(in_cuda) {
    if (!in_cuda) return;
    limits_.native = true, limits_.binding_bytes = 0xffffff00ull, limits_.bindings = 64;
  }
  Device device() const override { return in_cuda_ ? cuda(0) : webgpu(0); }
  std::string name() const override { return "printer"; }
  bool supports(DType dtype) const override { return in_cuda_ || (dtype != DType::f64 && dtype != DType::i64); }
  const detail_gpu::Limits& limits() const override { return limits_; }
  const detail_gpu::Dialect& dialect() const override { return in_cuda_ ? detail_gpu::cuda_dialect() : detail_gpu::wgsl(); }
  void launch(detail_gpu::Launch& launch, const std::function<std::string()>& text) override {
    std::printf("// ---- %s: %s, %llu workgroups of %u\n%s\n", title.c_str(), launch.op,
                static_cast<unsigned long long>(launch.groups), launch.threads, text().c_str());
  }
  detail::Storage& index_flags() override { return *flags_; }
  void* allocate(std::size_t) override { return reinterpret_cast<void*>(++allocated_); }
  void deallocate(void*, std::size_t) noexcept override {}
  void upload(detail::Storage&, std::size_t, const void*, std::size_t) override {}
  void download(const detail::Storage&, std::size_t, void*, std::size_t) override {}
  void synchronize() override {}

  std::string title;

 private:
  bool in_cuda_;
  std::uintptr_t allocated_ = 0;
  detail_gpu::Limits limits_;
  std::shared_ptr<detail::Storage> flags_ = std::make_shared<detail::Storage>(*this, 256);
};

}  // namespace

int main(int count, char** arguments) {
  Printing device(count > 1 && std::string_view(arguments[1]) == "cuda");
  const auto make = [&](const Shape& shape, DType dtype = f32) { return detail::make_tensor(shape, dtype, device); };
  const auto show = [&](const char* title, auto f) { device.title = title, f(); };
  show("contiguous, in vectors", [&] { relu(make({1000})); });
  show("packed halves", [&] { make({1000}, bf16) * make({1000}, bf16); });
  show("a broadcast row", [&] { make({7, 5}) + make({5}); });
  show("several results", [&] { silu_mul_bwd(make({64}), make({64}), make({64})); });
  show("rows", [&] { softmax(make({300, 128})); });
  show("columns", [&] { sum(make({64, 300}), {0}); });
  show("many elements to one result", [&] { sum(make({1 << 20})); });
  show("product", [&] { matmul_bias_activation(make({40, 24}), make({24, 36}), make({36}), op::relu); });
  show("by index", [&] { take(make({9, 4}), make({3}, i32)); });
  show("scatter", [&] { scatter_add(make({9, 4}), make({3}, i32), make({3, 4})); });
  show("scan", [&] { cumsum(make({6, 100}), 1); });
}
