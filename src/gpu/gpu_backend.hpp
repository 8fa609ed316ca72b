// A backend over kernels as text. A GPU API adds memory, a dialect and the launch.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <typeinfo>

#include "gpu/text/dialect.hpp"
#include "gpu/plan/kernel.hpp"
#include "gpu/plan/prepared.hpp"
#include "process/fork.hpp"

namespace tern::detail_gpu {

class GemmTiles;

class GpuBackend : public detail::Backend {
 public:
  /// No strips: a launch costs more than a temporary.
  std::int64_t strip_bytes() const override { return INT64_MAX; }

  /// Runs a request as it was planned when it was met before; else plan() queues its launches, which are remembered.
  /// plan() depends on nothing but the request's parameters and the layouts of its views, and on `choices`.
  template <class R, class Plan> void run_prepared(const R& request, const Plan& plan, std::int64_t choices = 0) {
    if (Preparing::current()) return plan();  // part of another request
    if (prepared_.run(*this, request, choices)) return;
    Preparing preparing;
    plan();
    prepared_.remember(preparing.result());
  }

  virtual const Limits& limits() const = 0;
  /// Which devices share what was measured: a line without tabs.
  virtual std::string device_class() const { return name(); }
  const GemmTiles& gemm_tiles();
  virtual const Dialect& dialect() const = 0;
  /// Queues a kernel; `text` is called where no kernel has the key yet.
  virtual void launch(Launch& launch, const std::function<std::string()>& text) = 0;
  /// The same for a kernel just planned, which is written down where the request is to be prepared.
  void queue(Launch& planned, const std::function<std::string()>& text) {
    if (Preparing* preparing = Preparing::current()) preparing->launched(planned);
    launch(planned, text);
  }
  /// Whether the kernel can be had (Limits::archived).
  virtual bool has_kernel(Layouts, const Launch& /*launch*/, const std::function<std::string()>& /*text*/) {
    return true;
  }
  /// A library of the vendor's, by its interface (gpu/matrix_library.hpp); null where there is none, for a reason where
  /// there could be.
  template <class Library> Library* library(std::string& reason) {
    return static_cast<Library*>(find_library(typeid(Library), reason));
  }
  /// Two words that are not 0 once a kernel has met an index out of range.
  virtual Storage& index_flags() = 0;

  /// Throws `device` in a child of the process that made the backend, and where its driver has ended; to be called
  /// before a lock of it is taken.
  void require_process() const {
    if (!of_this_process()) refuse_process();
  }

  /// Memory for results between kernels.
  std::shared_ptr<Storage> temporary(std::int64_t elements, DType dtype) {
    auto storage = std::make_shared<Storage>(*this, static_cast<std::size_t>(elements) * dtype_size(dtype));
    if (Preparing* preparing = Preparing::current()) preparing->allocated(storage);
    return storage;
  }
  /// Throws UnsupportedDType where the device has no kernels for the program or one of the views.
  void require_supported(const char* op, const detail::Program& program) const;
  void require_supported(const char* op, DType dtype) const;

 protected:
  /// What library() looks for: a pointer to the interface of this type.
  virtual void* find_library(const std::type_info& /*interface*/, std::string& /*reason*/) { return nullptr; }
  std::vector<std::string_view> families() const override { return {"gpu"}; }
  /// Otherwise nothing of the device is touched any more, not even to free it.
  bool of_this_process() const { return process_.here() && !ended_.load(std::memory_order_relaxed); }
  /// The process ends, and the driver's own end comes next.
  void end() { ended_.store(true, std::memory_order_relaxed); }

 private:
  [[noreturn]] void refuse_process() const;
  detail::OfProcess process_;
  std::atomic<bool> ended_{false};
  PreparedRequests prepared_;
  std::atomic<const GemmTiles*> gemm_tiles_{nullptr};
};

}  // namespace tern::detail_gpu
