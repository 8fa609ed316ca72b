// What a GPU must offer for the kernels of this folder: limits, a language to print in, and a launch.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/rounding.hpp"
#include "gpu/plan/box_map.hpp"

namespace tern::detail_gpu {

using detail::Storage;

/// What one launch may use. The defaults are the least that WebGPU guarantees.
struct Limits {
  std::uint32_t bindings = 8;                  // storage buffers of a kernel
  std::uint64_t binding_bytes = 128ull << 20;  // the part of a buffer a kernel sees
  std::uint32_t binding_alignment = 256;       // of where such a part begins
  std::uint32_t threads = 256;                 // of a workgroup
  std::uint32_t shared_bytes = 16384;          // memory of a workgroup
  std::uint32_t groups = 65535;                // along one dimension of a launch
  std::uint32_t param_words = 4096;
  std::uint64_t steps = std::uint64_t{1} << 35;  // multiply-adds of a product's kernel: under a second where slow
  /// Memory is addressed by elements of any size, and compute types of 64 bits exist. Otherwise memory is words, into
  /// which smaller elements are merged.
  bool native = false;
  /// Kernels cannot be compiled when they are met: there are those of an archive made beforehand. Their texts must be
  /// few, so each is printed in Layouts::vectors or Layouts::any alone, with one tiling, whatever the sizes.
  bool archived = false;
  /// Memory of a workgroup with what a launch asks for beside what its text declares (Launch::shared_bytes).
  std::uint32_t most_shared_bytes = 0;
  /// A text may be written with subgroups (Module::subgroups), of a size that is known at run time alone.
  bool subgroups = false;
  /// Workgroups that have begun are known to go on while others wait for them, which WGSL does not promise: a kernel in
  /// which some wait is fast then, and must be right without. (CUDA's always do.)
  bool progress = false;
};
/// Whether a launch has no more groups than were asked for. Too many for one dimension lie in rows of one length, and
/// the last row's surplus counts on: to matrices that are not there, in a kernel that does not compare its group.
constexpr bool has_exact_groups(const Limits& limits, std::uint64_t groups) {
  return limits.native || groups <= limits.groups;
}

/// What a kernel's text fixes of its operands' layouts.
enum class Layouts : char {
  own,      // how each operand steps along each axis
  vectors,  // neighbours along one axis, in vectors, and besides a few axes with steps that are parameters
  any,      // nothing: kMostAxes axes, with steps that are parameters
};
inline constexpr std::size_t kMostAxes = 8;

/// A storage as a kernel sees it: bytes [begin, end), as words or as vectors of four words.
struct Binding {
  Storage* storage = nullptr;
  std::uint64_t begin = 0, end = 0;
  bool written = false;
  bool atomic = false;   // single bytes or halves are merged into its words
  bool vectors = false;  // accessed as vec4<u32>
  bool aliased = false;  // another binding may be the same memory
};

/// A plain number of the request among the parameters.
struct NumberParam {
  int slot = -1, input = -1;
  detail::ComputeType type = detail::ComputeType::f32;
};

/// One kernel with its arguments. `key` decides the text.
struct Launch {
  const char* op = "";
  std::string key;
  std::vector<Binding> bindings;
  std::vector<std::uint32_t> params;  // word 0: the number of groups along x
  std::vector<NumberParam> numbers;
  std::uint64_t groups = 0;
  std::uint32_t threads = 256;
  /// No access can lie outside its binding: the kernel needs no checks of its own. (Checks on workgroup memory alone
  /// cost a product a third of its speed.)
  bool in_bounds = false;
  /// Kernels that check indices, or matrices: the parameter that receives the launch's number, by which an error names
  /// it.
  int check_slot = -1;
  std::int64_t checked_size = 0;  // of what is indexed
  /// Where a kernel notes something else than an index out of range: the error that a noted number means, of this op,
  /// size and primitive.
  Error (*noted_error)(const char* op, std::int64_t size, std::uint32_t noted, detail::PrimitiveId by) = nullptr;
  detail::PrimitiveId checks = detail::PrimitiveId::count;
  std::vector<BoxMap> maps;        // further arguments, between the bindings and the parameters
  std::uint32_t shared_bytes = 0;  // memory of a workgroup beyond what the text declares
  /// Of a kernel of parts (horizontal.hpp): the workgroups of each; bindings and parameters are theirs one after the
  /// other.
  std::vector<std::uint32_t> parts;
  std::uint64_t steps = 0;  // multiply-adds, of a product: what much of it is recorded is submitted
};

/// Bytes in one vector of words: the unit of wide loads and stores.
inline constexpr int kVectorBytes = 16;
/// Whether a view's first element lies where such a vector may begin.
inline bool begins_in_vectors(const detail::View& v) {
  const auto memory = reinterpret_cast<std::uintptr_t>(v.storage->data());
  return (memory + static_cast<std::uintptr_t>(v.offset) * dtype_size(v.dtype)) % kVectorBytes == 0;
}

using detail::ceil_div, detail::round_up;

}  // namespace tern::detail_gpu
