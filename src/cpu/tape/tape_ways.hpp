// The end of making a tape: in which order its ops are taken, with which loops in their place, and in which memory.
#pragma once
#include <map>

#include "cpu/tape/philox.hpp"
#include "cpu/tape/tape.hpp"

namespace tern::detail_cpu {

/// Fills in a tape's ways, its loops, and what its passes need. `producer`: the op that gives a value.
void plan_ways(Tape& tape, const KernelTable& table, const PhiloxLoops& philox, const std::map<int, int>& producer);
/// The blocks of the register file that hold its values.
void assign_slots(Tape& tape);

/// Whether values of this kind are one number.
inline bool is_plain_number(detail::StepKind kind) {
  using enum detail::StepKind;
  return kind == number || kind == param || kind == extent;
}

}  // namespace tern::detail_cpu
