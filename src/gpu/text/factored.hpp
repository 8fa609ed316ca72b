// Functions of a program with fewer instructions, a unit or two in the last place off, for values that are
// exponentiated and then rounded to 16 bits (Dialect::reassociates). A kernel applies them to many neighbours, so what
// is the same for all of them costs nothing:
//
//   x · p / 50           one multiplication, by p · (1/50)
//   50 · tanh(…)         tanh(…) alone, where the kernel multiplies by the 50 with what it multiplies by anyway
//   x · p - a · (i - j)  fma(x, p, fma(a, ahead, …)): the difference is a line along the neighbours, of which what they
//                        share is computed once, and no integer is converted
//
//                      and x begins with what changes along it, and the kernel's base with the rest
//
// Sums take products unrounded. Integers are computed in f32 where they stay below 2^24, and there exactly.
#pragma once
#include <optional>

#include "gpu/text/printer.hpp"

namespace tern::detail_gpu {

/// How the neighbours differ that a function is applied to.
struct Neighbours {
  std::function<bool(int)> vary;  // whether a source does
  int along = -1;                 // the source, a position, that is `ahead` larger; -1: none
  bool few = false;               // whether all positions are below kFewPositions
};
inline constexpr double kFewPositions = 1 << 22;

/// What a result is a multiple of: a number, and plain numbers among a program's inputs.
struct Factor {
  double number = 1;
  std::vector<int> inputs;
  std::string text;  // of its value, in which parameters are read
  bool trivial() const { return number == 1 && inputs.empty(); }
  friend bool operator==(const Factor& a, const Factor& b) { return a.number == b.number && a.inputs == b.inputs; }
};
/// What may be left out of a result, for the kernel to do.
struct LeftOut {
  bool factor = false;
  /// Where there is this, a factor is positive, so that the largest of the rest is where the largest result is: whether
  /// an input, a plain number, is positive.
  std::function<bool(int)> positive = {};
  /// The source x of results factor · (x + along · ahead + begin): all but x; -1: not asked for.
  int bare = -1;
};
struct Taken {
  Factor factor;
  bool apart = false;  // along and begin, too
};
/// Of a result that is taken apart: x, along, or begin.
enum class Part { rest, along, begin };

/// The function of `wanted`, of type f32, or of a part of it. Beside the sources it has a last parameter, u32 `ahead`.
Function factored_function(const ProgramPrinter& printer, const Neighbours& neighbours, const std::string& name,
                           int wanted, const std::function<bool(int)>& is_source, const LeftOut& left_out, Part part,
                           Taken* taken);

/// Whether `wanted` is finite where sources are for which `finite` holds, and where plain numbers are.
bool stays_finite(const detail::Program& program, int wanted, const std::function<bool(int)>& finite);

}  // namespace tern::detail_gpu
