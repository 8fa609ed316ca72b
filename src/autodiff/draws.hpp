// Random numbers that repeat: the states generators had, recorded in one run of a function and replayed in the next.
#pragma once
#include <cstddef>
#include <vector>

#include "tern/tensor.hpp"

namespace tern::detail {

/// The state each draw started from, in order.
using Draws = std::vector<Generator>;

/// While one lives, draws on this thread are recorded, or replayed in their order.
class DrawScope {
 public:
  enum class Role { record, replay };
  DrawScope(Draws& draws, Role role);
  ~DrawScope();
  DrawScope(const DrawScope&) = delete;
  DrawScope& operator=(const DrawScope&) = delete;
  /// Of a replay: how many of the draws it has repeated.
  std::size_t repeated() const { return next_; }

 private:
  friend Generator next_draw(Generator& generator, std::uint64_t blocks);
  Draws& draws_;
  Role role_;
  std::size_t next_ = 0;
  DrawScope* outer_;
};

/// The state to draw from; the generator moves on by so many blocks, unless the draw is a replay.
/// Throws autograd where a replay asks for more draws than there were.
Generator next_draw(Generator& generator, std::uint64_t blocks);

}  // namespace tern::detail
