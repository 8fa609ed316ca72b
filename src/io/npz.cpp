// NumPy's npz: a zip archive of npy files.
#include "io/stored.hpp"
#include "io/zip.hpp"

namespace tern::io {

#ifdef TERN_ZLIB

namespace {
constexpr std::string_view kEnding = ".npy";
}

void save_npz(const std::string& path, const Named& tensors, const NpzOptions& options) {
  for (const auto& [name, tensor] : tensors) {
    if (name.size() > 0xffff - kEnding.size())
      throw Error(ErrorKind::io, "save_npz: " + path + ": expected names of fewer than 65532 bytes, got " +
                                     std::to_string(name.size()));
    if (!tensor.defined())
      throw Error(ErrorKind::shape, "save_npz: " + detail::shown(name) + " is an undefined Tensor");
  }
  detail::ZipWriter archive(path);
  for (const auto& [name, tensor] : tensors) {
    Tensor kept;
    const std::string_view bytes = detail::raw_bytes("save_npz", tensor, kept);
    archive.add(name + std::string(kEnding), {detail::npy_header(tensor), bytes}, options.compress);
  }
  archive.commit();
}

Named load_npz(const std::string& path, const LoadOptions& options) {
  const tern::detail::InputFile file(path);
  Named result;
  for (const detail::ZipEntry& entry : detail::zip_entries(file)) {
    if (!entry.name.ends_with(kEnding))
      detail::damaged("load_npz", path, "entries named ‹name›.npy", detail::shown(entry.name));
    detail::ZipReader reader(file, entry);
    const detail::ReadBytes read = [&](void* to, std::size_t bytes) { reader.read(to, bytes); };
    const detail::StoredTensor stored = detail::read_npy_header("load_npz", path + ", " + entry.name, entry.size, read);
    Tensor tensor = detail::from_stored(stored, options, read);
    reader.finish();
    result.emplace(entry.name.substr(0, entry.name.size() - kEnding.size()), std::move(tensor));
  }
  return result;
}

#else

namespace {
[[noreturn]] void absent(const char* op) {
  throw Error(ErrorKind::unsupported,
              std::string(op) + ": tern was built without zlib (Debian and Ubuntu: zlib1g-dev), which npz takes");
}
}  // namespace
void save_npz(const std::string&, const Named&, const NpzOptions&) { absent("save_npz"); }
Named load_npz(const std::string&, const LoadOptions&) { absent("load_npz"); }

#endif

}  // namespace tern::io
