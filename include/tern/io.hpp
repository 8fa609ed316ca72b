// Tensors in files: NumPy's npy and npz, and safetensors.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "tern/tensor.hpp"
#include "tern/tree.hpp"

// What all of these have in common. Saving replaces the file in one step: where it fails (a full disk, say) the old one
// is as it was, and nothing lies beside it. Only regular files are replaced; links are followed. Loading checks the
// whole header before it makes anything, and brings the elements to the device in parts, so that memory holds them
// once. What cannot be read or written, and a damaged file, throw `io`, naming the file, what was expected and what
// came. A format that the build left out (npz takes zlib, safetensors nlohmann-json) throws `unsupported`.
namespace tern::io {

/// Where what is loaded goes, and as what.
struct LoadOptions {
  Device device = default_device();
  std::optional<DType> dtype = {};  // converted as .to(dtype) does; none: as it is stored
};
/// Tensors by name.
using Named = std::map<std::string, Tensor>;

/// Saves one tensor, row-major, as numpy.save does. bf16 has the type that Python's ml_dtypes gives it there (two bytes
/// without a meaning: NumPy needs `.view(ml_dtypes.bfloat16)`).
void save_npy(const std::string& path, const Tensor& tensor);
/// What numpy.save wrote: booleans, integers and floats that tern has a dtype for, of either byte order; two bytes
/// without a meaning are bf16. An array in Fortran's order gives a tensor whose strides are those of columns. Pickled
/// objects, records, texts and times throw `io`.
Tensor load_npy(const std::string& path, const LoadOptions& options = {});

struct NpzOptions {
  bool compress = false;  // as numpy.savez_compressed
};
/// Saves tensors as numpy.savez does: a zip archive with `<name>.npy` for each.
void save_npz(const std::string& path, const Named& tensors, const NpzOptions& options = {});
/// What numpy.savez or savez_compressed wrote. Checksums are held against what comes; entries that overlap, and those
/// that claim to expand to more than deflate can, throw `io`.
Named load_npz(const std::string& path, const LoadOptions& options = {});

/// Saves tensors as safetensors, with texts of your own beside them.
void save_safetensors(const std::string& path, const Named& tensors,
                      const std::map<std::string, std::string>& metadata = {});
/// What save_safetensors, or any other program, wrote; `metadata`, where not null, receives the texts.
Named load_safetensors(const std::string& path, const LoadOptions& options = {},
                       std::map<std::string, std::string>* metadata = nullptr);

namespace detail {
std::string joined(const std::string& before, std::string_view name);
/// The next of "weight, bias".
std::string_view next_name(std::string_view& names);
void load_into(const std::string& path, const Named& tensors);

template <class T> void name_leaves(const T& tree, const std::string& name, Named& to) {
  std::size_t i = 0;
  const auto positions = [&](const auto&... part) { (name_leaves(part, joined(name, std::to_string(i++)), to), ...); };
  if constexpr (std::same_as<T, Tensor>) {
    to[name.empty() ? "value" : name] = tree;
  } else if constexpr (std::same_as<T, Var>) {
    to[name.empty() ? "value" : name] = tree.value();
  } else if constexpr (tern::detail::is_vector<T>) {
    for (const auto& part : tree) positions(part);
  } else if constexpr (tern::detail::TupleLike<T>) {
    std::apply(positions, tree);
  } else if constexpr (requires { Fields<T>::names; }) {
    std::string_view names = Fields<T>::names;
    std::apply([&](const auto&... part) { (name_leaves(part, joined(name, next_name(names)), to), ...); },
               Fields<T>::tie(tree));
  } else {
    std::apply(positions, Fields<T>::tie(tree));
  }
}
}  // namespace detail

/// The tensors of a container (tern/tree.hpp) by where they stand in it: "layers.0.weight". Members of aggregates have
/// the names that TERN_FIELDS gave them, else, as entries of lists, their numbers.
template <tern::detail::Tree T> Named named(const T& tree) {
  Named result;
  detail::name_leaves(tree, "", result);
  return result;
}
/// Saves the tensors of a container, a model's parameters say, as safetensors with the names that named() gives.
template <tern::detail::Tree T> void save(const std::string& path, const T& tree) {
  save_safetensors(path, named(tree));
}
/// Reads what save() wrote into the tensors of a container like the saved one, which keep their devices. Where names,
/// shapes or dtypes differ, one Error (`io`) lists all differences, and nothing is changed.
template <tern::detail::Tree T> void load(const std::string& path, const T& tree) {
  detail::load_into(path, named(tree));
}

}  // namespace tern::io
