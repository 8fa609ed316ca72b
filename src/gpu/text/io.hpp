// Loads and stores of a kernel: one invocation handles `group` consecutive elements along the innermost axis. (Larger
// than other classes: each layout of an operand is a few lines of text on the same names.)
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "gpu/plan/plan.hpp"

namespace tern::detail_gpu {

/// Where a kernel stands in its iteration space: an expression for each axis, of the first element of the group, which
/// lies `ahead` elements (an expression, constant where the kernel is compiled, a multiple of the group) further along
/// the inner axis.
struct Position {
  std::vector<std::string> coordinates;
  int inner = -1;  // the axis the group runs along
  int group = 1;
  std::string ahead = {};  // where there is one, groups share an address: constants become part of instructions
  std::string last = {};   // of a group that may be cut short: the axis's last coordinate, read in place of any beyond
};

/// The words of a tile that an invocation reads and writes alone.
struct StagedUnit {
  std::string words;    // the name of the tile, "[" and the place of the unit's first word in it
  std::string element;  // the number within the unit of a row's first element, an expression or empty
};

/// Writes the text of loads and stores; names are made unique by a running number.
class Io {
 public:
  Io(const Plan& plan, const Dialect& dialect) : plan_(plan), dialect_(dialect) {}

  /// Lines that compute the coordinates of the axes from a linear index.
  std::string coordinates(const MergedAxes& axes, const std::string& linear, const std::string& prefix,
                          std::vector<std::string>& names) const;
  /// Lines that load the group's elements; `names` receives one expression each.
  std::string load(int access, const Position& at, std::vector<std::string>& names);
  /// Lines that load and store what the accesses from `first` on have, a vector of 16 bytes together
  /// (ElementwisePlan::bundles); groups are of one.
  std::string load_bundle(int first, const Position& at, std::vector<std::string>& names);
  std::string store_bundle(int first, const Position& at, const std::vector<std::string>& values);
  /// Lines that put the vectors of the group into an array, from where the access is loaded from then on; `group`: the
  /// expression of the group's number in it.
  std::string hold(int access, const Position& at, const std::string& array, const std::string& group);
  /// Lines that move a word, or 16 bytes, number i of those of the elements from `first_of_rows` on, to a tile in
  /// workgroup memory, and back (reduce_staged.wgsl).
  std::string stage(int access, const std::string& tile, int bytes) const;
  std::string unstage(int access, const std::string& tile, int bytes) const;
  /// From then on the access is loaded from a tile, and stored to it, its elements in ascending order.
  void read_staged(int access, const StagedUnit& unit) { staged_[access] = unit; }
  /// Lines that store the group's values. `guard`: a condition on an element's number ($0), empty where all are inside.
  std::string store(int access, const Position& at, const std::vector<std::string>& values, const std::string& guard);

  /// The index of element e of the group in its buffer.
  std::string element(const Access& a, const Position& at, int e) const;
  std::string unique(const char* stem) { return stem + std::to_string(next_++); }
  std::string param(int slot) const { return dialect_.param(slot); }
  /// The element at an index of the buffer, as a value of its type.
  std::string loaded(const Access& a, const std::string& element) const;
  /// The statement that writes a value of its type there; for dtypes of 4 bytes and more.
  std::string stored(const Access& a, const std::string& element, const std::string& value) const;
  /// Whether a check of indices stands in what was printed, and the binding of its flags.
  void check_indices_in(int binding, int launch_slot) { flags_ = binding, launch_slot_ = launch_slot; }
  /// The condition on an element's number ($0) under which it is inside; a cut group loads more, unchecked.
  void guard_checks(const std::string& guard) { guard_ = guard; }
  /// Memory is read and written by functions that choose it (Dialect::parts_by_switch).
  void choose_memory() { chosen_ = true; }

 private:
  /// What a binding is made of, a word or a vector, at an index of such; and a word of either.
  std::string read(const Access& a, const std::string& index) const;
  std::string write(const Access& a, const std::string& index, const std::string& value) const;
  std::string write_word(const Access& a, const std::string& index, const std::string& value) const;
  std::string word(const Access& a, const std::string& index) const;
  std::string load_staged(const Access& a, const StagedUnit& unit, const std::string& r) const;
  std::string store_staged(const Access& a, const StagedUnit& unit, const std::string& r,
                           const std::string& value) const;
  std::string gathered(const Access& a, const Position& at, int e, std::string& lines);
  /// From vectors, of which `vector` gives the expression.
  std::string load_wide(const Access& a, const Position& at, std::vector<std::string>& names,
                        const std::function<std::string(int)>& vector);
  std::string piece(const Access& a, const Position& at) const;
  std::string load_piece(const Access& a, const Position& at, std::vector<std::string>& names);
  std::string store_piece(const Access& a, const Position& at, const std::vector<std::string>& values) const;
  std::string store_wide_or_elements(const Access& a, const Position& at, const std::vector<std::string>& values,
                                     const std::string& guard);
  std::string store_wide(const Access& a, const Position& at, const std::vector<std::string>& values,
                         const std::string& guard);
  std::string store_elements(const Access& a, const Position& at, const std::vector<std::string>& values, int first,
                             int last, const std::string& guard);
  std::string store_words(const Access& a, const Position& at, const std::vector<std::string>& values,
                          const std::string& guard);
  const Binding& binding(const Access& a) const { return plan_.launch.bindings[static_cast<std::size_t>(a.binding)]; }

  const Plan& plan_;
  const Dialect& dialect_;
  int next_ = 0, flags_ = -1, launch_slot_ = -1;
  bool chosen_ = false;
  std::string guard_;
  std::map<int, StagedUnit> staged_;
  std::map<int, std::string> held_;  // of accesses, the array of their vectors with the group's number
};

/// A stored element as a value of its type, and back to the bits that are stored.
std::string unpacked(DType dtype, const std::string& bits);
std::string packed(DType dtype, const std::string& value);
/// Two values of f16 or bf16 in a word.
std::string packed_pair(DType dtype, const std::string& low, const std::string& high);

}  // namespace tern::detail_gpu
