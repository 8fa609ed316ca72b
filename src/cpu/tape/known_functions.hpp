// Formulas with a kernel of their own among the steps of a program.
#pragma once
#include <vector>

#include "cpu/simd/kernel_table.hpp"
#include "formula/program.hpp"

namespace tern::detail_cpu {

/// Where a program computes a KnownFunction step by step, whatever stands around it, its tape has one op instead (asin
/// of 2^16 f32 on one Emerald Rapids: 77 us as 25 ops, and 29).
class KnownFunctions {
 public:
  explicit KnownFunctions(const detail::Program& program);
  struct KnownCall {
    int function = -1;  // a KnownFunction; -1: none
    int argument = -1;  // a step
  };
  /// What gives this step.
  KnownCall of(int step) const { return calls_[static_cast<std::size_t>(step)]; }
  /// Whether only such calls would have read this step.
  bool replaced(int step) const { return replaced_[static_cast<std::size_t>(step)]; }

 private:
  void note_replaced(const detail::Program& program);
  std::vector<KnownCall> calls_;
  std::vector<bool> replaced_;
};

}  // namespace tern::detail_cpu
