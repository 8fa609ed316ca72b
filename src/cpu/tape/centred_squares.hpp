// Where a tape takes the mean from what it reduces, and sums the squares of the rest, one kernel does it for short rows
// (cpu/simd/centred_rows-inl.h): variances and layer norms, in whatever operation. It is found by the steps themselves.
#pragma once
#include <map>
#include <vector>

#include "cpu/tape/tape.hpp"

namespace tern::detail_cpu {

class CentredSquaresLoops {
 public:
  /// Looks for them in a tape that has its ops. `producer`: the op that gives a value.
  CentredSquaresLoops(const Tape& tape, const std::map<int, int>& producer);
  /// The ops of an order, with a loop of the tape's in place of each one's.
  Order in_place_of_ops(const Order& ops, Tape& tape, const KernelTable& table) const;

 private:
  /// Values of the tape.
  struct CentredValues {
    int x, sum, mean, centred, squares, total;
    int last;          // the total, or, if nothing else reads it, that divided by the rows' length
    bool wide, keeps;  // something else reads `centred`
    bool gives(int value) const;
  };
  bool match(const Tape& tape, const std::map<int, int>& producer, const TapeOp& total, CentredValues& found) const;

  std::vector<CentredValues> all_;
};

}  // namespace tern::detail_cpu
