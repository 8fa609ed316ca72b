// Elementwise programs that one operation, or one compiled loop, carries out from memory to memory: it is called where
// the operands lie, without a plan of blocks.
#pragma once
#include <memory>

#include "backend/direct.hpp"
#include "cpu/tape/tape.hpp"

namespace tern::detail_cpu {

class WholeProgram final : public detail::DirectProgram {
 public:
  /// Null: it is more than that, or something is stored otherwise than it is computed. The tape outlives it.
  static std::shared_ptr<const WholeProgram> of(const Tape& tape, const KernelTable& table);

  bool takes(std::int64_t count) const override;
  void run(std::span<const detail::DirectOperand> operands, std::span<void* const> outputs,
           std::int64_t count) const override;

 private:
  /// Where an argument comes from: an operand's elements, or a number, which is an operand or (operand -1) these bits.
  struct WholeArgument {
    int operand = -1;
    std::int64_t step = 0;  // bytes from element to element; 0 of a number
    ComputeType type = ComputeType::f32;
    std::int64_t bits = 0;
  };
  struct WholeResult {
    std::size_t output;  // of the program
    std::int64_t step;
  };
  struct WholeOperands;

  explicit WholeProgram(const Tape& tape) : tape_(tape) {}
  bool take_narrow(const KernelTable& table);
  bool take(const Tape::Way& way);
  bool take_argument(const Tape::Way& way, int value);
  bool take_result(int value);
  void run_part(const WholeOperands& placed, std::int64_t first, std::int64_t count) const;

  const Tape& tape_;
  ElementaryFn elementary_ = nullptr;  // it is one of these
  BlockFn block_ = nullptr;
  const TapeLoop* loop_ = nullptr;
  bool is_narrow_ = false;
  std::vector<WholeArgument> arguments_;  // of a loop its inputs, then its scalars
  std::vector<WholeResult> results_;
};

}  // namespace tern::detail_cpu
