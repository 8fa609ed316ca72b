// Elements of 8 and 16 bits computed, or made by a comparison, as they lie in memory.
#pragma once
#include "cpu/tape/tape.hpp"
#include "primitives/fused/fused.hpp"

namespace tern::detail_cpu {

/// Elements that are worth a second thread.
inline constexpr std::int64_t kParallelNarrow = std::int64_t{1} << 18;

/// A loop from memory to memory: the operation, or what it is the first of, and what its operands are in memory.
struct NarrowLoop {
  ElementaryFn run = nullptr;  // null: there is none
  const TapeOp* op = nullptr;
  DType operands = DType::boolean;
  bool compares = false;
};
NarrowLoop narrow_loop(const Tape& tape, const KernelTable& table);

/// Runs the request, and says so, if it is one operation on contiguous tensors of one such dtype, and numbers, that
/// needs no type of four bytes: widened, u8 + u8 took eight times a plain loop's time. Or if it is one comparison of
/// such operands, in the type they are compared in.
bool run_narrow(const detail::FusedRequest& request, const Tape& tape, const KernelTable& table);

}  // namespace tern::detail_cpu
