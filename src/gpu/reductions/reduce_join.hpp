// The text that joins what the invocations of a workgroup reduced.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "gpu/text/dialect.hpp"
#include "gpu/reductions/reduce_kernel.hpp"

namespace tern::detail_gpu {

/// A tree over the invocations along the reduced axes, in workgroup memory, or first in warps; all of them get the
/// result.
struct JoinText {
  const Dialect& dialect;
  Tiling tiling;
  std::string type;                   // of the values
  bool wide;                          // that has 64 bits
  std::vector<std::string> from, to;  // for each kept position of the group: the invocation's part, and the result

  /// `combined`: two parts joined.
  std::string text(const std::function<std::string(const std::string& a, const std::string& b)>& combined) const;

 private:
  using Combined = std::function<std::string(const std::string&, const std::string&)>;
  std::string in_warps(const Combined& combined) const;
  std::string of_warps(const Combined& combined, int lanes) const;
  std::string word(const std::string& at, std::size_t e) const;
  std::string value(const std::string& at, std::size_t e) const;
};

}  // namespace tern::detail_gpu
