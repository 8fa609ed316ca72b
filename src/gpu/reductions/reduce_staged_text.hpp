// The text of a kernel whose rows pass through workgroup memory: fills the holes of reduce_staged.wgsl.
#pragma once
#include <string>
#include <vector>

#include "gpu/reductions/reduce_plan.hpp"
#include "gpu/text/io.hpp"

namespace tern::detail_gpu {

class StagedText {
 public:
  /// From here on what is staged is loaded from tiles, and stored there.
  StagedText(const ReducePlan& kernel, Io& io, const Dialect& dialect);

  /// The text of a row (reduce_row.wgsl) for each row of an invocation, between what is moved in and out; as it is
  /// where nothing is staged.
  std::string row_by_row(const std::string& row) const;
  /// Adds the tiles.
  void share(std::vector<Shared>& shared) const;

  /// The number of a row: the p-th of an invocation's q-th unit.
  static std::string first_kept(const ReducePlan& kernel);
  /// Lines that visit the elements of a row, number r.
  static std::string traversal(const ReducePlan& kernel, const std::string& visit);

 private:
  Holes holes() const;
  /// Moves words, or vectors, between memory and tiles, by the lines that `move` gives of each access.
  template <class Move> std::string moves(const std::vector<int>& list, Move move) const;
  int bytes_of(int access) const { return kernel_.plan.access(access).size(); }
  int moved_bytes() const { return staged_.vectors ? kVectorBytes : 4; }
  int staged_words(int access) const {
    return kernel_.tiling.across * staged_.units * staged_.words_of(bytes_of(access));
  }
  /// The name of a tile as what is moved.
  std::string moved_tile(int access) const;

  const ReducePlan& kernel_;
  const StagedRows& staged_;
  Io& io_;
  const Dialect& dialect_;
  std::string in_;  // lines that move what is read to the tiles, and name these as words
};

}  // namespace tern::detail_gpu
