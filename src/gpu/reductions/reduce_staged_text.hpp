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

  /// The kernel's body, from a row's place on, for each row of an invocation, between what is moved in and out; as it
  /// is where nothing is staged.
  std::string row_by_row(const std::string& body) const;
  /// Adds the tiles.
  void share(std::vector<Shared>& shared) const;

 private:
  Holes holes() const;
  /// Moves between memory and tiles: `one` of an access of four bytes, `pair` of one of two.
  template <class One, class Pair> std::string moves(const std::vector<int>& list, One one, Pair pair) const;

  const ReducePlan& kernel_;
  const StagedRows& staged_;
  Io& io_;
  const Dialect& dialect_;
  std::string in_;  // lines that move what is read to the tiles
};

}  // namespace tern::detail_gpu
