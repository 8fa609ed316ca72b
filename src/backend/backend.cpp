#include "backend/backend.hpp"

#include "backend/instruments/reads.hpp"

namespace tern::detail {

void Backend::unsupported(const char* op, const char* what) const {
  throw Error(ErrorKind::unsupported, std::string(op) + ": " + what + " is not supported on " + device().to_string());
}

Kernel Backend::find_kernel(const Primitive& primitive) const {
  for (const std::string_view family : families())
    for (const FamilyKernel& entry : primitive.kernels)
      if (entry.family == family) return entry.kernel;
  return primitive.composition;
}

Kernel Backend::look_up(const Primitive& primitive, const char* op) {
  const Kernel kernel = find_kernel(primitive);
  if (!kernel) unsupported(op, primitive.name);
  kernels_[static_cast<std::size_t>(primitive.id)].store(kernel, std::memory_order_relaxed);
  return kernel;
}

Storage::Storage(Backend& backend, std::size_t bytes)
    : backend_(&backend), data_(bytes ? backend.allocate(bytes) : nullptr), bytes_(bytes), owned_(true) {
  if (ReadScope::active()) ReadScope::made(*this);
}
Storage::Storage(Backend& backend, void* data, std::size_t bytes, std::shared_ptr<const void> keep_alive)
    : backend_(&backend), data_(data), bytes_(bytes), owned_(false), keep_alive_(std::move(keep_alive)) {
  if (ReadScope::active()) ReadScope::made(*this);
}
Storage::~Storage() {
  if (ReadScope::active()) ReadScope::gone(*this);
  if (owned_ && data_) backend_->deallocate(data_, bytes_);
}

}  // namespace tern::detail
