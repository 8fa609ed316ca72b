// Programs that one loop computes from memory to memory, which a call of them may be told to without a request.
#pragma once
#include <cstdint>
#include <span>

#include "backend/backend.hpp"
#include "formula/program.hpp"

namespace tern::detail {

/// An operand of such a call: elements one behind the other, or a number.
struct DirectOperand {
  const void* at;
  const Number* number;
};

/// How a program is computed so: from memory to memory, in the caller's.
class DirectProgram {
 public:
  virtual ~DirectProgram() = default;
  /// False: another way is better for so many elements, or is asked for.
  virtual bool takes(std::int64_t count) const = 0;
  /// Of `count` elements, one operand for each input of the program, as many outputs as it has.
  virtual void run(std::span<const DirectOperand> operands, std::span<void* const> outputs,
                   std::int64_t count) const = 0;
};

/// Null where the backend computes it otherwise. Lives as long as the program.
const DirectProgram* direct_program(Backend& backend, const char* op, const Program& program);
/// The same of a program whose inputs and outputs are the parts of complex tensors, of which the operands then are.
const DirectProgram* direct_program_of_parts(Backend& backend, const Program& program);

/// Counts a call of one, which was found in the backend's cache.
void count_direct_call();

/// Inputs and outputs that such programs have at most.
inline constexpr std::size_t kDirectInputs = 16, kDirectOutputs = 8;

}  // namespace tern::detail
