// Tensors in files: NumPy's npy and npz, and safetensors.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tern/tensor.hpp"
#include "tern/tree.hpp"

// What all of these have in common. Saving replaces the file in one step: where it fails (a full disk, say) the old one
// is as it was, and nothing lies beside it. Only regular files are replaced; links are followed. Loading checks the
// whole header before it makes anything, and brings the elements to the device in parts, so that memory holds them
// once. A writer that is killed leaves the old file, and a draft beside it, which the next one that saves the same file
// removes. What cannot be read or written, and a damaged file, throw `io`, naming the file, what was expected and what
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
/// What numpy.save wrote: booleans, integers, floats and complex numbers that tern has a dtype for, of either byte
/// order; two bytes without a meaning are bf16. An array in Fortran's order gives a tensor whose strides are those of
/// columns. Pickled objects, records, texts and times throw `io`.
Tensor load_npy(const std::string& path, const LoadOptions& options = {});

struct NpzOptions {
  bool compress = false;  // as numpy.savez_compressed
};
/// Saves tensors as numpy.savez does: a zip archive with `<name>.npy` for each.
void save_npz(const std::string& path, const Named& tensors, const NpzOptions& options = {});
/// What numpy.savez or savez_compressed wrote. Checksums are held against what comes; entries that overlap, and those
/// that claim to expand to more than deflate can, throw `io`.
Named load_npz(const std::string& path, const LoadOptions& options = {});

/// Saves tensors as safetensors, with texts of your own beside them. The format has no c128: it is saved as f64 with a
/// last axis of 2, as other programs will read it, with a text in `__metadata__` ("tern.c128") by which it is loaded as
/// what it was.
void save_safetensors(const std::string& path, const Named& tensors,
                      const std::map<std::string, std::string>& metadata = {});
/// What save_safetensors, or any other program, wrote; `metadata`, where not null, receives the texts. On the CPU the
/// tensors are views of the file, as those of SafetensorsFile.
Named load_safetensors(const std::string& path, const LoadOptions& options = {},
                       std::map<std::string, std::string>* metadata = nullptr);

namespace detail {
void load_into(const std::string& path, const Named& tensors);
}

/// A safetensors file that is open. Its header is read and checked; each tensor comes when it is asked for, to the
/// device that is asked for. A copy of this object is the same file. Functions may be called by several threads.
///
/// On the CPU no element is copied: tensors of a page (4096 bytes) and more are views of the file in memory (mmap),
/// which is read where they are looked at. Writing into one copies the page that is written (copy on write): neither
/// the file nor another load of that name sees it. They outlive this object, and stay what they are where the file is
/// replaced, as all functions here do it, renamed or removed. A file that another program changes in its place changes
/// under them, and where it is cut short, looking at what is gone ends the program (SIGBUS): copy them (clone(), or
/// load(path, model)) where that may happen. Elements that do not lie at a multiple of their size, as other programs
/// may have written them, booleans other than 0 and 1, what is converted, and files that cannot be mapped are copied.
class SafetensorsFile {
 public:
  /// Throws as load_safetensors does.
  explicit SafetensorsFile(const std::string& path);
  /// In alphabetical order.
  std::vector<std::string> names() const;
  bool contains(const std::string& name) const;
  /// As it is stored. These throw `value` for a name that the file does not have.
  DType dtype(const std::string& name) const;
  Shape shape(const std::string& name) const;
  Tensor load(const std::string& name, const LoadOptions& options = {}) const;
  /// The texts beside the tensors.
  const std::map<std::string, std::string>& metadata() const;

 private:
  friend Named load_safetensors(const std::string&, const LoadOptions&, std::map<std::string, std::string>*);
  friend void detail::load_into(const std::string&, const Named&);
  struct Opened;
  std::shared_ptr<const Opened> opened_;
};

namespace detail {
std::string joined(const std::string& before, std::string_view name);
/// The next of "weight, bias".
std::string_view next_name(std::string_view& names);

/// What files keep of a type beside its tensors: set_state takes what state gave, read anew.
template <class T>
concept HasState = requires(const T& from, T& to, const Named& state) {
  { from.state() } -> std::same_as<Named>;
  to.set_state(state);
};
Named state_of(const Generator& generator);
void set_state(Generator& generator, const Named& state);
template <HasState T> Named state_of(const T& x) { return x.state(); }
template <HasState T> void set_state(T& x, const Named& state) { x.set_state(state); }

/// f(part, name) for each Tensor, Var, optimiser and Generator of a container.
template <class T, class F> void each_named(T& tree, const std::string& name, const F& f) {
  using Plain = std::remove_const_t<T>;
  std::size_t i = 0;
  const auto positions = [&](auto&... part) { (each_named(part, joined(name, std::to_string(i++)), f), ...); };
  if constexpr (tern::detail::TreeLeaf<Plain> || HasState<Plain> || std::same_as<Plain, Generator>) {
    f(tree, name);
  } else if constexpr (tern::detail::is_vector<Plain>) {
    for (auto& part : tree) positions(part);
  } else if constexpr (tern::detail::is_optional<Plain>) {
    if (tree) each_named(*tree, name, f);
  } else if constexpr (tern::detail::TupleLike<Plain>) {
    std::apply(positions, tree);
  } else if constexpr (requires { Fields<Plain>::names; }) {
    std::string_view names = Fields<Plain>::names;
    std::apply([&](auto&... part) { (each_named(part, joined(name, next_name(names)), f), ...); },
               Fields<Plain>::tie(tree));
  } else {
    static_assert(tern::detail::Aggregate<Plain>,
                  "files hold a Tensor, a Var, an optimiser, a Generator, a container of them, or an aggregate with "
                  "tern::Fields");
    std::apply(positions, Fields<Plain>::tie(tree));
  }
}
/// The tensors of a part, undefined ones too.
template <class T> void add_named(const T& part, const std::string& name, Named& to) {
  if constexpr (std::same_as<T, Tensor>) to[name.empty() ? "value" : name] = part;
  else if constexpr (std::same_as<T, Var>) to[name.empty() ? "value" : name] = part.value();
  else
    for (const auto& [key, tensor] : state_of(part)) to[joined(name, key)] = tensor;
}
}  // namespace detail

/// The tensors of a container (tern/tree.hpp) by where they stand in it: "layers.0.weight". Members of aggregates have
/// the names that TERN_FIELDS gave them, else, as entries of lists, their numbers. Optimisers and Generators may stand
/// in it, too: their moments, counts, options and positions get names under theirs. Undefined Tensors and Vars, a bias
/// that a layer does without, say, are left out.
template <class T> Named named(const T& tree) {
  Named result;
  detail::each_named(tree, "", [&](const auto& part, const std::string& name) {
    detail::add_named(part, name, result);
  });
  std::erase_if(result, [](const auto& item) { return !item.second.defined(); });
  return result;
}
/// Saves what named() gives of a container, a model's parameters say, as safetensors. std::tie(model, optimiser,
/// generator) is one, too.
template <class T> void save(const std::string& path, const T& tree) { save_safetensors(path, named(tree)); }
/// Reads what save() wrote into a container like the saved one, whose tensors keep their devices; an optimiser or
/// Generator in it goes on where the saved one stood. Where names, shapes or dtypes differ, or a tensor is defined in
/// one of them alone, one Error (`io`) lists all differences. All of the file is read, into the CPU's memory, and what
/// memory of a device that takes is there, before anything is changed: where that fails, all is as it was.
template <class T> void load(const std::string& path, T&& tree) {
  Named all;
  std::vector<Named> states;
  detail::each_named(tree, "", [&](auto& part, const std::string& name) {
    using Part = std::remove_cvref_t<decltype(part)>;
    if constexpr (tern::detail::TreeLeaf<Part>) return detail::add_named(part, name, all);
    else {
      static_assert(!std::is_const_v<std::remove_reference_t<decltype(part)>>,
                    "load changes optimisers and Generators: give a container that is not const");
      states.push_back(detail::state_of(part));
      for (const auto& [key, tensor] : states.back()) all[detail::joined(name, key)] = tensor;
    }
  });
  detail::load_into(path, all);
  auto state = states.begin();
  detail::each_named(tree, "", [&](auto& part, const std::string&) {
    if constexpr (!tern::detail::TreeLeaf<std::remove_cvref_t<decltype(part)>>) detail::set_state(part, *state++);
  });
}

}  // namespace tern::io
