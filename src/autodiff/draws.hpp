// Random numbers that repeat: the states generators had, recorded in one run of a function and repeated in the next;
// and generators that recordings draw from.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "backend/recording/capture.hpp"
#include "tern/tensor.hpp"

namespace tern::detail {

/// The state a draw starts from.
struct DrawState {
  std::uint64_t seed = 0, position = 0;
  std::shared_ptr<const LiveNumbers> live;  // in a recording: the words below at each replay

  static constexpr std::size_t kWords = 4;
  /// The low and the high word of the position, then those of the seed (i of kWords), as an argument of a formula.
  Argument word(std::size_t i) const;
};

/// The state each draw started from, in order.
using Draws = std::vector<DrawState>;

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
  friend DrawState next_draw(Generator& generator, std::uint64_t blocks);
  Draws& draws_;
  Role role_;
  std::size_t next_ = 0;
  DrawScope* outer_;
};

/// The state to draw from; the generator moves on by so many blocks, unless the draw is a replay.
/// Throws autograd where a replay asks for more draws than there were; in a capture unsupported, where the program
/// assigned to the generator's members since its last draw there.
DrawState next_draw(Generator& generator, std::uint64_t blocks);

}  // namespace tern::detail
