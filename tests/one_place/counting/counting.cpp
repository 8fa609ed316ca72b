// A fourth backend: the CPU's memory and kernels, and a count of the requests that it ran.
#include "counting/counting.hpp"

#include "backend/registry.hpp"

namespace tern::detail_counting {
namespace {

class CountingBackend final : public detail::Backend {
 public:
  Device device() const override { return counting(); }
  std::string name() const override { return "the CPU, counted"; }
  void* allocate(std::size_t bytes) override { return host_.allocate(bytes); }
  void deallocate(void* data, std::size_t bytes) noexcept override { host_.deallocate(data, bytes); }
  void upload(detail::Storage& to, std::size_t offset, const void* from, std::size_t bytes) override {
    host_.upload(to, offset, from, bytes);
  }
  void download(const detail::Storage& from, std::size_t offset, void* to, std::size_t bytes) override {
    host_.download(from, offset, to, bytes);
  }
  void synchronize() override {}

  std::atomic<std::int64_t> requests{0};

 protected:
  std::vector<std::string_view> families() const override { return {"counting"}; }
  /// Whatever the primitive is.
  detail::Kernel find_kernel(const detail::Primitive&) const override {
    return [](detail::Backend& self, const detail::Primitive& primitive, const void* request) {
      auto& counting = static_cast<CountingBackend&>(self);
      ++counting.requests;
      counting.host_.kernel(primitive, primitive.name)(counting.host_, primitive, request);
    };
  }

 private:
  detail::Backend& host_ = detail::backend_of(cpu());
};

CountingBackend& instance() {
  static CountingBackend* const backend = new CountingBackend;
  return *backend;
}
detail::Backend& backend(int) { return instance(); }
std::vector<DeviceInfo> devices() { return {{counting(), true, instance().name(), ""}}; }
void borrow(detail::TensorImpl& tensor, void* pointer, std::shared_ptr<const void> keep_alive, int) {
  detail::borrow_memory(instance(), tensor, pointer, std::move(keep_alive));
}

}  // namespace
}  // namespace tern::detail_counting

namespace tern {

constinit const detail::BackendEntry detail::counting_entry{detail_counting::backend, detail_counting::devices,
                                                            detail_counting::borrow, /*numbered=*/false};

std::int64_t requests_counted() { return detail_counting::instance().requests; }

}  // namespace tern
