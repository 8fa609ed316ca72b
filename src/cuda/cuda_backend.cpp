#include "cuda/cuda_backend.hpp"

namespace tern::detail_cuda {

namespace {
/// Of CUDA's libraries, and what that means; empty where all are there.
std::string what_is_missing() {
  std::string reason, no_archive;
  if (nvrtc(reason)) return "";
  const KernelArchive* archive = KernelArchive::found(no_archive);
  return (archive ? "only the " + std::to_string(archive->size()) + " kernels that are built in can run, as "
               : "no kernel can run, as " + no_archive + " and ") +
         reason;
}
}  // namespace

std::vector<DeviceInfo> cuda_devices() {
  std::string reason;
  const Driver* found = driver(reason);
  if (!found) return {{cuda(), false, "", reason}};
  std::vector<DeviceInfo> infos;
  const std::string missing = what_is_missing();
  for (const std::string& name : gpu_names(*found))
    infos.push_back({cuda(static_cast<int>(infos.size())), true, name, missing});
  return infos;
}

namespace {

struct Made {
  std::mutex lock;
  std::vector<CudaBackend*> backends;
};
Made& all_made() {
  static auto& made = *new Made;  // outlive tensors in static storage
  return made;
}
void end_all() {
  const std::lock_guard hold(all_made().lock);
  for (CudaBackend* const backend : all_made().backends)
    if (backend) backend->end_of_process();
}

CudaBackend& backend_at(int index) {
  auto& [lock, made] = all_made();
  const std::lock_guard hold(lock);
  // One that is there comes first: where the process is ending, the driver may have ended and count no GPUs, and the
  // backend says so.
  if (static_cast<std::size_t>(index) < made.size() && made[static_cast<std::size_t>(index)])
    return *made[static_cast<std::size_t>(index)];
  std::string reason;
  const Driver* found = driver(reason);
  const std::vector<std::string> names = found ? gpu_names(*found) : std::vector<std::string>{};
  if (static_cast<std::size_t>(index) >= names.size())
    throw Error(ErrorKind::device, "device " + cuda(index).to_string() + " is not available: " +
                                       (found ? "there are " + std::to_string(names.size()) + " GPUs" : reason));
  made.resize(names.size());
  CudaBackend*& backend = made[static_cast<std::size_t>(index)];
  if (!backend) {
    backend = new CudaBackend(*found, index, names[static_cast<std::size_t>(index)]);
    end_before_libraries(&end_all);
  }
  return *backend;
}

}  // namespace

detail::Backend& cuda_backend(int index) { return backend_at(index); }

std::shared_ptr<detail::Storage> adopt_memory(int index, DevicePointer begin, DevicePointer first, DevicePointer end,
                                              std::shared_ptr<const void> keep_alive) {
  return backend_at(index).adopt(begin, first, end, std::move(keep_alive));
}

void enter_stream(int index, Stream stream) { backend_at(index).enter(stream); }
void leave_stream(int index, Stream stream) noexcept { backend_at(index).leave(stream); }

}  // namespace tern::detail_cuda
