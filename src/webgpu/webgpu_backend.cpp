#include "webgpu/webgpu_backend.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "backend/instruments/trace.hpp"
#include "gpu/gpu_backend.hpp"
#include "gpu/plan/index_checks.hpp"
#include "webgpu/device.hpp"
#include "webgpu/dialect.hpp"
#include "webgpu/probe.hpp"

namespace tern::detail_webgpu {
namespace {

using detail::Storage;

class WebgpuBackend;
/// Lets the end of the process wait for the backend's work: Mesa's processor driver runs it on threads of this process,
/// which crash where it is at work while the compiler's static objects go. To be called again after kernels were
/// compiled: what that made static goes before what was asked for earlier.
void settle_at_exit(WebgpuBackend& backend);
/// Mesa's drivers end their threads in a handler that they have registered by now. What runs after it would wait for
/// them for ever: so this backend ends right before.
void end_before_the_driver(WebgpuBackend& backend);

class WebgpuBackend final : public detail_gpu::GpuBackend {
 public:
  WebgpuBackend(int index, const Api& api, const Adapter& adapter)
      : index_(index),
        adapter_name_(adapter.name),
        device_class_(adapter.device),
        software_(adapter.rank == 3),
        gpu_(api, adapter, device().to_string()) {
    set_up();
  }
  /// On the program's own device.
  WebgpuBackend(int index, const Api& api, WGPUDevice device, WGPUQueue queue)
      : index_(index),
        adapter_name_("the program's own WebGPU device"),
        device_class_("the program's own"),
        gpu_(api, device, queue, webgpu(index).to_string()) {
    set_up();
  }

  Device device() const override { return webgpu(index_); }
  std::string name() const override { return adapter_name_; }
  std::string device_class() const override { return "webgpu, " + device_class_; }
  CacheStats cache_stats() const override {
    require_process();
    const std::lock_guard hold(lock_);
    return gpu_.stats();
  }
  bool supports(DType dtype) const override { return real_dtype(dtype) != DType::f64 && dtype != DType::i64; }
  const detail_gpu::Limits& limits() const override { return gpu_.limits(); }
  const detail_gpu::Dialect& dialect() const override { return detail_gpu::wgsl(abilities_); }
  Storage& index_flags() override { return *flags_; }
  bool lost() const { return gpu_.lost(); }
  WebGpuDevice& gpu() { return gpu_; }

  /// The call's kernels are waited for, as their times are known only then.
  std::string timed(const std::function<void()>& call) override {
    if (!gpu_.times_kernels()) return Backend::timed(call);
    const WebgpuGuard hold(*this);  // what other threads do meanwhile waits, and is not counted
    gpu_.begin_timing();
    struct Restore {
      WebGpuDevice& gpu;
      ~Restore() { gpu.stop_timing(); }
    } guard{gpu_};
    call();
    return gpu_.end_timing();
  }

  void* allocate(std::size_t bytes) override {
    const WebgpuGuard guard(*this);
    return gpu_.allocate(bytes);
  }
  void deallocate(void* data, std::size_t) noexcept override {
    if (!of_this_process()) return;
    const WebgpuGuard guard(*this);
    gpu_.deallocate(static_cast<Buffer*>(data));
  }

  MemoryStats memory_stats() const override {
    require_process();
    const std::lock_guard hold(lock_);
    return gpu_.memory_stats();
  }
  void release_memory() override {
    const WebgpuGuard guard(*this);
    gpu_.release_memory();
  }

  void upload(Storage& to, std::size_t offset, const void* from, std::size_t bytes) override {
    if (bytes == 0) return;
    const WebgpuGuard guard(*this);
    Buffer& buffer = *static_cast<Buffer*>(to.data());
    const bool to_the_end = offset + bytes == to.bytes();
    if (offset % 4 == 0 && (bytes % 4 == 0 || to_the_end)) return gpu_.upload(buffer, offset, from, bytes);
    const std::size_t begin = offset / 4 * 4, end = (offset + bytes + 3) / 4 * 4;  // whole words, merged here
    std::vector<std::byte> words(end - begin);
    gpu_.download(buffer, begin, words.data(), words.size());
    std::memcpy(words.data() + (offset - begin), from, bytes);
    gpu_.upload(buffer, begin, words.data(), words.size());
  }
  void download(const Storage& from, std::size_t offset, void* to, std::size_t bytes) override {
    if (bytes == 0) return;
    const WebgpuGuard guard(*this);
    gpu_.download(*static_cast<Buffer*>(from.data()), offset, to, bytes);
    check_indices();
  }
  void synchronize() override {
    const WebgpuGuard guard(*this);
    gpu_.wait();
    check_indices();
  }

  void launch(detail_gpu::Launch& launch, const std::function<std::string()>& text) override {
    const WebgpuGuard guard(*this);
    if (launch.check_slot >= 0) {
      checked_.emplace_back(launch);
      launch.params[static_cast<std::size_t>(launch.check_slot)] = static_cast<std::uint32_t>(checked_.size());
    }
    gpu_.launch(launch, text);
    if (gpu_.stats().misses != settling_since_) {
      settling_since_ = gpu_.stats().misses;
      settle_at_exit(*this);
    }
  }

  /// What the driver's compiler made static goes next: where that is LLVM, for a processor, kernels need it to the end.
  void compiler_ends() noexcept {
    settle();
    if (software_) end();
  }
  void end_of_process() noexcept {
    settle();
    end();
  }
  /// Waits for what was submitted; the program's own device is its own business, and may be gone.
  void settle() noexcept {
    if (!of_this_process()) return;
    const std::unique_lock hold(lock_, std::try_to_lock);
    if (!hold || gpu_.lost() || gpu_.adopted()) return;
    try {
      gpu_.finish_work();
    } catch (...) {  // nobody is left to be told
    }
  }

  /// The storage over the program's buffer: one, however many views there are, as a kernel must bind it once.
  std::shared_ptr<Storage> borrow(WGPUBuffer buffer, std::shared_ptr<const void> keep_alive) {
    const WebgpuGuard guard(*this);
    Borrowed& known = borrowed_[buffer];
    if (std::shared_ptr<Storage> storage = known.storage.lock()) {
      known.keep_alive->push_back(std::move(keep_alive));
      return storage;
    }
    Buffer* const adopted = gpu_.adopt(buffer);
    known.keep_alive = std::make_shared<KeepAlive>(KeepAlive{std::move(keep_alive)});
    const std::shared_ptr<const void> holder(adopted, [this, kept = known.keep_alive](Buffer* b) {
      if (!of_this_process()) return;
      const WebgpuGuard guard(*this);
      gpu_.forget(b);
    });
    const auto storage = std::make_shared<Storage>(*this, adopted, adopted->capacity, holder);
    known.storage = storage;
    return storage;
  }

 protected:
  std::vector<std::string_view> families() const override { return {"webgpu", "gpu"}; }

 private:
  /// One at a time, in the process that made it; errors of the program's own device are caught meanwhile.
  class WebgpuGuard {
   public:
    explicit WebgpuGuard(const WebgpuBackend& backend)
        : hold_((backend.require_process(), backend.lock_)), gpu_(backend.gpu_) {
      if (++backend.depth_ == 1) gpu_.catch_errors();
      depth_ = &backend.depth_;
    }
    ~WebgpuGuard() {
      if (--*depth_ == 0) gpu_.release_errors();
    }
    WebgpuGuard(const WebgpuGuard&) = delete;
    WebgpuGuard& operator=(const WebgpuGuard&) = delete;

   private:
    std::lock_guard<std::recursive_mutex> hold_;
    WebGpuDevice& gpu_;
    int* depth_;
  };

  void set_up() {
    const WebgpuGuard guard(*this);
    flags_ = std::make_shared<Storage>(*this, 256);
    gpu_.clear(*static_cast<Buffer*>(flags_->data()));
    abilities_ = probe(gpu_, std::make_shared<Storage>(*this, 256));
    end_before_the_driver(*this);
  }
  /// Throws for the first kernel since the last check that met an index out of range.
  void check_indices() {
    if (checked_.empty()) return;
    const std::vector<detail_gpu::Checked> checked = std::move(checked_);
    checked_.clear();
    std::uint32_t words[2] = {};
    Buffer& buffer = *static_cast<Buffer*>(flags_->data());
    gpu_.download(buffer, 0, words, sizeof words);
    if (words[0] == 0) return;
    gpu_.clear(buffer);
    throw checked[words[0] - 1].error(words[1]);
  }

  using KeepAlive = std::vector<std::shared_ptr<const void>>;
  struct Borrowed {
    std::weak_ptr<Storage> storage;
    std::shared_ptr<KeepAlive> keep_alive;
  };
  int index_;
  std::string adapter_name_, device_class_;
  const bool software_ = false;
  mutable std::recursive_mutex lock_;
  mutable int depth_ = 0;  // of calls within each other
  mutable WebGpuDevice gpu_;
  std::shared_ptr<Storage> flags_;
  std::vector<detail_gpu::Checked> checked_;
  std::map<WGPUBuffer, Borrowed> borrowed_;
  std::int64_t settling_since_ = 0;  // kernels compiled when the end of the process was last told to wait
  detail_gpu::WgslAbilities abilities_;
};

detail::ForkSafe<std::mutex>& registry_lock() {
  static auto& lock = *new detail::ForkSafe<std::mutex>;
  return lock;
}

void settle_at_exit(WebgpuBackend& backend) {
  static auto& own = *new std::vector<WebgpuBackend*>;
  static auto& lock = *new std::mutex;
  const std::lock_guard hold(lock);
  if (std::find(own.begin(), own.end(), &backend) == own.end()) own.push_back(&backend);
  std::atexit([] {
    for (WebgpuBackend* one : own) one->compiler_ends();
  });
}

void end_before_the_driver(WebgpuBackend& backend) {
  static auto& all = *new std::vector<WebgpuBackend*>;
  static auto& lock = *new std::mutex;
  const std::lock_guard hold(lock);
  all.push_back(&backend);
  std::atexit([] {
    all.back()->end_of_process();
    all.pop_back();
  });
}

/// The program's own devices; their numbers follow those of the adapters.
struct Adopted {
  WGPUDevice device;
  WebgpuBackend* backend;  // outlives tensors in static storage
};
std::vector<Adopted>& adopted() {
  static auto& list = *new std::vector<Adopted>;
  return list;
}

WebgpuBackend& backend_at(int index) {
  static auto& made =
      *new std::vector<std::vector<WebgpuBackend*>>;  // of each adapter; the last is in use, the others were lost
  std::string reason;
  const std::vector<Adapter>& list = adapters(reason);
  const std::lock_guard hold(registry_lock());
  const auto at = static_cast<std::size_t>(index);
  if (at >= list.size() + adopted().size())
    throw Error(ErrorKind::device,
                "device " + webgpu(index).to_string() + " is not available: " +
                    (list.empty() ? reason : "there are " + std::to_string(list.size()) + " adapters"));
  if (at >= list.size()) {
    WebgpuBackend& backend = *adopted()[at - list.size()].backend;
    if (backend.lost())
      throw Error(ErrorKind::device,
                  "device " + webgpu(index).to_string() +
                      " is not available: the program's device was lost; give webgpu_device another");
    return backend;
  }
  made.resize(list.size());
  std::vector<WebgpuBackend*>& of_adapter = made[at];
  if (of_adapter.empty() || of_adapter.back()->lost())
    of_adapter.push_back(new WebgpuBackend(index, *api(reason), list[at]));  // outlives tensors in static storage
  return *of_adapter.back();
}

}  // namespace

detail::Backend& webgpu_backend(int index) { return backend_at(index); }

std::vector<DeviceInfo> webgpu_devices() {
  std::string reason;
  const std::vector<Adapter>& list = adapters(reason);
  std::vector<DeviceInfo> infos;
  for (std::size_t i = 0; i < list.size(); ++i) infos.push_back({webgpu(static_cast<int>(i)), true, list[i].name, ""});
  const std::lock_guard hold(registry_lock());
  for (const Adopted& a : adopted()) infos.push_back({a.backend->device(), true, a.backend->name(), ""});
  if (infos.empty()) return {{webgpu(), false, "", reason}};
  return infos;
}

Device adopt_device(WGPUDevice device, WGPUQueue queue) {
  if (!device || !queue) throw Error(ErrorKind::device, "webgpu_device: the device or the queue is null");
  std::string reason;
  const Api* const functions = api(reason);
  if (!functions) throw Error(ErrorKind::device, "webgpu_device: " + reason);
  const std::size_t own = adapters(reason).size();
  const std::lock_guard hold(registry_lock());
  for (const Adopted& a : adopted())
    if (a.device == device && !a.backend->lost()) return a.backend->device();
  const int index = static_cast<int>(own + adopted().size());
  adopted().push_back({device, new WebgpuBackend(index, *functions, device, queue)});
  return webgpu(index);
}

std::shared_ptr<detail::Storage> adopt_buffer(Device device, WGPUBuffer buffer,
                                              std::shared_ptr<const void> keep_alive) {
  return backend_at(device.index()).borrow(buffer, std::move(keep_alive));
}

QueueCounts queue_counts(int index) {
  const WebGpuDevice& gpu = backend_at(index).gpu();
  return {gpu.submissions, gpu.waits, gpu.kernels, gpu.layouts_made, gpu.bind_groups_made};
}
std::uint64_t set_most_waiting_bytes(int index, std::uint64_t bytes) {
  return std::exchange(backend_at(index).gpu().most_waiting_bytes, bytes);
}
void lose_device(int index) { backend_at(index).gpu().lose(); }

}  // namespace tern::detail_webgpu
