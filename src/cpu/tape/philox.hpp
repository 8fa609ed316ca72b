// Where a tape computes Philox's words, whatever operation draws them, one loop does it: found by the formula
// (formula/philox.hpp).
#pragma once
#include <optional>
#include <vector>

#include "cpu/tape/tape.hpp"

namespace tern::detail_cpu {

/// Values of a tape: the counter's words, the key's halves, the words they give (all four, or the first alone: the
/// others are -1), and the results of all ops between, those words among them. The first two or all four words of the
/// counter vary; the others are numbers, and the key's halves both are or both vary.
struct PhiloxValues {
  int counter[4], key[2], words[4];
  std::vector<int> results;
  int varying = 4;
  bool key_varies = false;
  int wanted() const { return words[1] < 0 ? 1 : 4; }
};

class PhiloxLoops {
 public:
  PhiloxLoops() = default;
  /// Finds them in a tape that has its ops and no slots yet, and moves each one's ops to where its words are first
  /// read: then slots hold for its loop, too.
  explicit PhiloxLoops(Tape& tape);
  /// The ops of an order, with a loop of the tape's in place of each one's.
  Order in_place_of_ops(const Order& ops, Tape& tape, const KernelTable& table) const;

 private:
  const PhiloxValues* of(int value) const;
  bool is_closed(const PhiloxValues& values, const Tape& tape) const;

  std::vector<PhiloxValues> all_;
};

}  // namespace tern::detail_cpu
