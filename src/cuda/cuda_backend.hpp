// The CUDA backend: the kernels of src/gpu/ on NVIDIA GPUs.
#pragma once
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "cuda/blas.hpp"
#include "cuda/compiler.hpp"
#include "cuda/device.hpp"
#include "cuda/dialect.hpp"
#include "cuda/kernel_archive.hpp"
#include "cuda/products/wgmma.hpp"
#include "cuda/solver.hpp"
#include "cuda/transforms.hpp"
#include "gpu/gpu_backend.hpp"
#include "gpu/plan/index_checks.hpp"

namespace tern::detail_cuda {

using detail::Storage;

inline DevicePointer pointer_of(const Storage& storage) { return reinterpret_cast<DevicePointer>(storage.data()); }

class CudaBackend final : public detail_gpu::GpuBackend {
 public:
  CudaBackend(const Driver& driver, int index, std::string gpu_name)
      : index_(index), gpu_name_(std::move(gpu_name)), gpu_(driver, index, device().to_string()) {
    limits_.bindings = 60;
    limits_.binding_bytes = 0xffffff00ull;  // indices inside a kernel have 32 bits
    limits_.threads = 1024, limits_.shared_bytes = 48 << 10;
    limits_.most_shared_bytes = static_cast<std::uint32_t>(gpu_.shared_bytes());
    limits_.groups = 0x7fffffffu;
    limits_.param_words = 900;               // 4096 bytes of arguments
    limits_.steps = std::uint64_t{1} << 42;  // no display waits
    limits_.native = true, limits_.archived = only_archived();
    flags_ = std::make_shared<Storage>(*this, 256);
    const CudaGuard guard(*this);
    gpu_.clear(pointer_of(*flags_), 256);
  }

  /// What uses the GPU later is refused: cuBLASLt crashes once its static objects are gone, and the driver answers with
  /// unknown errors.
  void end_of_process() noexcept { end(); }

  Device device() const override { return cuda(index_); }
  std::string name() const override { return gpu_name_; }
  CacheStats cache_stats() const override {
    require_process();
    const std::lock_guard hold(gpu_.lock());
    return gpu_.stats();
  }
  const detail_gpu::Limits& limits() const override { return limits_; }
  const detail_gpu::Dialect& dialect() const override { return detail_gpu::cuda_dialect(); }
  Storage& index_flags() override { return *flags_; }

  void* allocate(std::size_t bytes) override {
    require_process();
    const std::lock_guard hold(gpu_.lock());
    return reinterpret_cast<void*>(gpu_.allocate(bytes));
  }
  void deallocate(void* data, std::size_t bytes) noexcept override {
    if (!of_this_process()) return;
    const std::lock_guard hold(gpu_.lock());
    gpu_.deallocate(reinterpret_cast<DevicePointer>(data), bytes);
  }
  MemoryStats memory_stats() const override {
    require_process();
    const std::lock_guard hold(gpu_.lock());
    return gpu_.memory_stats();
  }
  void release_memory() override {
    synchronize();
    const CudaGuard guard(*this);
    gpu_.release_memory();
  }
  void upload(Storage& to, std::size_t offset, const void* from, std::size_t bytes) override {
    require_process();
    if (bytes > 0) gpu_.upload(pointer_of(to) + offset, from, bytes);
  }
  void download(const Storage& from, std::size_t offset, void* to, std::size_t bytes) override {
    require_process();
    if (bytes == 0) return;
    gpu_.download(pointer_of(from) + offset, to, bytes);
    const CudaGuard guard(*this);
    check_indices();
  }
  bool copy_from(Storage& to, std::size_t to_offset, const Storage& from, std::size_t from_offset,
                 std::size_t bytes) override {
    require_process();
    if (bytes == 0) return true;
    if (from.backend().device() == cpu())
      return upload(to, to_offset, static_cast<const std::byte*>(from.data()) + from_offset, bytes), true;
    auto* other = dynamic_cast<CudaBackend*>(&from.backend());
    if (!other) return false;
    if (!gpu_.copy_from(other->gpu_, pointer_of(to) + to_offset, pointer_of(from) + from_offset, bytes)) return false;
    const CudaGuard guard(*other);
    other->check_indices();
    return true;
  }
  void synchronize() override {
    require_process();
    {
      const std::lock_guard hold(gpu_.lock());
      if (gpu_.capturing()) return;  // nothing runs
    }
    gpu_.wait();
    const CudaGuard guard(*this);
    check_indices();
  }
  void enter(Stream stream) {
    const CudaGuard guard(*this);
    gpu_.enter(stream);
  }
  void leave(Stream stream) noexcept {
    if (!of_this_process()) return;
    const std::lock_guard hold(gpu_.lock());
    gpu_.leave(stream);
  }
  std::shared_ptr<Storage> adopt(DevicePointer begin, DevicePointer first, DevicePointer end,
                                 std::shared_ptr<const void> keep_alive) {
    const CudaGuard guard(*this);
    if (end > first) gpu_.require_memory(first, end);
    return std::make_shared<Storage>(*this, reinterpret_cast<void*>(begin), end - begin, std::move(keep_alive));
  }
  void launch(detail_gpu::Launch& launch, const std::function<std::string()>& text) override {
    const CudaGuard guard(*this);
    if (launch.check_slot >= 0) launch.params[static_cast<std::size_t>(launch.check_slot)] = checks_.add(launch);
    gpu_.launch(launch, text);
  }

  bool has_kernel(detail_gpu::Layouts layouts, const detail_gpu::Launch& launch,
                  const std::function<std::string()>& text) override {
    require_process();
    const std::lock_guard hold(gpu_.lock());
    const auto [known, first_time] = archived_.try_emplace(launch.key, false);
    if (first_time) known->second = is_archived(text(), layouts);
    return known->second;
  }

  bool records() const override { return true; }
  void begin_capture() override {
    const CudaGuard guard(*this);
    gpu_.begin_capture();
    first_check_ = checks_.last();
  }
  std::unique_ptr<detail::Recording> end_capture() override {
    const CudaGuard guard(*this);
    const bool checks = checks_.last() != first_check_;
    checks_.keep_since(first_check_);
    return std::make_unique<CudaRecording>(*this, gpu_.end_capture(), checks);
  }

  /// What products depend on. Without NVRTC: the instructions of 9.0 are in no PTX that other architectures run.
  MatrixUnits units() const {
    return {limits_.archived ? kArchiveArchitecture : gpu_.architecture(), gpu_.processors(), gpu_.shared_bytes()};
  }
  /// Queues a plain product by cuBLASLt, if it takes it.
  bool multiply(const BlasApi& api, const Product& product) {
    const CudaGuard guard(*this);
    if (!products_) products_ = std::make_unique<Products>(api, device_class());
    if (!workspace_) workspace_ = std::make_shared<Storage>(*this, Products::kWorkspace);
    return products_->run(product, gpu_.stream(), pointer_of(*workspace_));
  }
  /// cuSOLVER and cuFFT; what copies matrices and lines for them is no kernel of the archive.
  detail_gpu::MatrixLibrary* matrix_library(std::string& reason) {
    if (limits_.archived) return reason = "cuSOLVER needs kernels of tern's beside it, and NVRTC is not there", nullptr;
    const SolverApi* const api = solver(reason);
    if (!api) return nullptr;
    const CudaGuard guard(*this);
    if (!solver_) {
      solver_ = std::make_unique<SolverLibrary>(
          *api,
          [this](std::size_t bytes, const std::function<void(Stream, void*)>& work) {
            const Storage space(*this, std::max<std::size_t>(bytes, 1));
            const CudaGuard issued(*this);
            work(gpu_.stream(), space.data());
          },
          [this] { gpu_.wait(); },
          [this](const void* from, void* to, std::size_t bytes) {
            gpu_.read(reinterpret_cast<DevicePointer>(from), to, bytes);
          });
      solver_starts_ = solver_->start();
    }
    if (!solver_starts_) return reason = "cuSOLVER does not start on " + gpu_name_, nullptr;
    return solver_.get();
  }
  detail_gpu::TransformLibrary* transform_library(std::string& reason) {
    if (limits_.archived) return reason = "cuFFT needs kernels of tern's beside it, and NVRTC is not there", nullptr;
    const TransformApi* const api = transforms(reason);
    if (!api) return nullptr;
    const CudaGuard guard(*this);
    if (!transforms_)
      transforms_ = std::make_unique<FftLibrary>(
          *api,
          [this](const std::function<std::size_t()>& bytes, const std::function<void(const FftLibrary::Place&)>& work) {
            const CudaGuard issued(*this);
            const std::size_t needed = bytes();
            const std::shared_ptr<Storage> space = needed ? std::make_shared<Storage>(*this, needed) : nullptr;
            work({gpu_.stream(), space ? space->data() : nullptr, gpu_.capturing()});
          });
    return transforms_.get();
  }

 protected:
  void* find_library(const std::type_info& interface, std::string& reason) override {
    if (interface == typeid(detail_gpu::MatrixLibrary)) return matrix_library(reason);
    if (interface == typeid(detail_gpu::TransformLibrary)) return transform_library(reason);
    return nullptr;
  }
  std::vector<std::string_view> families() const override { return {"cuda", "gpu"}; }

 private:
  /// As the device's, in the process that made it.
  class CudaGuard : CudaDevice::ContextGuard {
   public:
    explicit CudaGuard(CudaBackend& backend) : CudaDevice::ContextGuard((backend.require_process(), backend.gpu_)) {}
  };

  class CudaRecording final : public detail::Recording {
   public:
    CudaRecording(CudaBackend& backend, CudaDevice::CapturedGraph captured, bool checks)
        : backend_(backend), captured_(std::move(captured)), checks_(checks) {}
    ~CudaRecording() override {
      if (!backend_.of_this_process()) return;
      const std::lock_guard hold(backend_.gpu_.lock());
      backend_.gpu_.release(captured_);
    }
    void replay() override {
      const CudaGuard guard(backend_);
      if (checks_) backend_.checks_.run_again();
      backend_.gpu_.replay(captured_);
    }

   private:
    CudaBackend& backend_;
    CudaDevice::CapturedGraph captured_;
    bool checks_;
  };

  /// Throws for the first kernel since the last check that met an index out of range.
  void check_indices() {
    if (!checks_.pending()) return;
    std::uint32_t words[2] = {};
    gpu_.read(pointer_of(*flags_), words, sizeof words);
    if (words[0] == 0) return checks_.forget();
    gpu_.clear(pointer_of(*flags_), 8);
    const Error error = checks_.error(words[0], words[1]);
    checks_.forget();
    throw error;
  }

  int index_;
  std::string gpu_name_;
  CudaDevice gpu_;
  detail_gpu::Limits limits_;
  std::shared_ptr<Storage> flags_, workspace_;
  std::unique_ptr<SolverLibrary> solver_;
  bool solver_starts_ = false;
  std::unique_ptr<FftLibrary> transforms_;
  std::unique_ptr<Products> products_;
  detail_gpu::IndexChecks checks_;
  std::uint32_t first_check_ = 0;
  std::unordered_map<std::string, bool> archived_;  // whether the archive has a kernel, by the launch's key
};

/// The backend of GPU `index`; throws `device`, with the reason, where it is absent.
detail::Backend& cuda_backend(int index);
/// A storage over the program's own memory [begin, end) on GPU `index`, of which [first, end) will be used. Throws
/// `device` where that is not memory of that GPU, and `shape` where the memory ends before.
std::shared_ptr<detail::Storage> adopt_memory(int index, DevicePointer begin, DevicePointer first, DevicePointer end,
                                              std::shared_ptr<const void> keep_alive);
/// A stream of the program's own begins to be used, and ends. (Which thread uses it, lent_streams() says.)
void enter_stream(int index, Stream stream);
void leave_stream(int index, Stream stream) noexcept;
/// The GPUs, or one entry that says what is missing.
std::vector<DeviceInfo> cuda_devices();

}  // namespace tern::detail_cuda
