// The kernel archive: kernels that were compiled to PTX when tern was built, for machines that have a driver and no
// NVRTC.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tern::detail_cuda {

/// Names a text by its content: two hashes.
using ContentKey = std::pair<std::uint64_t, std::uint64_t>;
ContentKey content_key(std::string_view text);
/// FNV-1a from another start than those.
std::uint64_t content_check(std::string_view bytes);

/// The architecture whose PTX an archive holds: every later one runs it.
inline constexpr int kArchiveArchitecture = 80;

/// A file of kernels by the texts they were printed as. Each is compressed alone, with a dictionary that all share.
class KernelArchive {
 public:
  /// Takes a file's bytes; throws `io` where they are no archive, damaged, or of another version of tern.
  explicit KernelArchive(std::string bytes);
  bool has(std::string_view text) const { return find(text) != nullptr; }
  std::size_t size() const { return entries_.size(); }
  /// The PTX of a text; empty where there is none. Throws `io` where it is damaged.
  std::string ptx(std::string_view text) const;

  /// The bytes of an archive of these kernels: PTX by text.
  static std::string written(const std::map<std::string, std::string>& kernels);
  /// The archive of this installation: the file that TERN_CUDA_KERNELS names ("none": no archive), else the one
  /// installed beside tern's library, else that of the build folder. Null with a reason where there is none that
  /// serves.
  static const KernelArchive* found(std::string& reason);

 private:
  struct StoredKernel {
    std::uint64_t first, second, begin;  // begin: from the first kernel's
    std::uint32_t stored, size;          // bytes, compressed and not
  };
  struct Header;
  const StoredKernel* find(std::string_view text) const;

  std::string bytes_;
  std::vector<StoredKernel> entries_;  // by key
  std::string_view dictionary_, data_;
};

}  // namespace tern::detail_cuda
