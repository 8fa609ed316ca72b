// The text that joins what the invocations of a workgroup reduced: fills the pieces of reduce_join.wgsl and, where
// there are warps, reduce_join.cu.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "gpu/text/dialect.hpp"
#include "gpu/reductions/reduce_kernel.hpp"

namespace tern::detail_gpu {

/// A tree over the invocations along the reduced axes, in workgroup memory, or first in warps; all of them get the
/// result.
struct JoinText {
  const Dialect& dialect;
  ThreadGrid tiling;
  std::string type;                   // of the values
  bool wide;                          // that has 64 bits
  std::vector<std::string> from, to;  // for each kept position of the group: the invocation's part, and the result

  /// `combined`: two parts joined, of kFirst and kSecond.
  std::string text(const std::string& combined) const;
  /// Whether that takes workgroup memory: shared_words or, where wide, shared_pairs.
  bool takes_memory() const { return tiling.along > 1 && (!has_warps() || lanes() < tiling.along); }

 private:
  bool has_warps() const { return !dialect.from_neighbour("", 1, tiling.threads()).empty(); }
  /// Of a warp, for one kept position.
  int lanes() const {
    const int unit = tiling.rows ? 1 : tiling.across;
    return unit < kWarp ? std::min(tiling.along, kWarp / unit) : 1;
  }
  Holes names() const;
  std::string tree(Holes& holes) const;
  std::string in_warps(Holes& holes) const;
  std::string of_warps(Holes& holes) const;
};

}  // namespace tern::detail_gpu
