// Loops compiled ahead of time: several ops of a tape as one loop over registers.
//
// A loop is found by what it computes: its elementary functions, how they are wired, and its constants; not by an
// operation's name, nor by the type it computes in (each is compiled for f32 and f64). tools/print_loops.cpp prints
// those of everything that is registered, and the build compiles them for each SIMD target (cmake/TernLoops.cmake).
// They call the very elementary functions that the tape's kernels are made of, so both give the same bits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cpu/tape/tape.hpp"

namespace tern::detail_cpu {

/// Limits of one loop: what fits a call's arrays.
inline constexpr std::size_t kLoopInputs = 16, kLoopScalars = 8, kLoopOutputs = 8;

/// How a loop's text says where an argument comes from: the low two bits of its word.
enum class LoopArg : std::uint64_t { result = 0, input = 1, scalar = 2, constant = 3 };

/// What a vector's lanes are: of the loop's float type, integers as wide, or (beside f32) words, which have no sign.
enum class LoopLanes : std::uint64_t { floats = 0, integers = 1, words = 2 };

/// Where the word of an op has these; its arguments' number lies between the last two.
inline constexpr int kLoopFunctionBit = 8, kLoopFastBit = 7, kLoopArityBit = 2;

/// What ops of a tape compute together, and of which of its values.
struct LoopPlan {
  /// Inputs (for each its lanes), scalars (a count), ops (elementary function, whether it is the fast-math variant, its
  /// number of arguments, the lanes it computes in; its arguments; behind a constant its bits), outputs (ops): equal
  /// words, equal loops.
  std::vector<std::uint64_t> words;
  ComputeType type = ComputeType::f32;                      // f32 or f64
  std::vector<int> inputs, scalars, outputs;  // values of the tape
};

/// Whether an op may be part of a loop: an elementary function that is none of its own kernel, or a cast between lanes
/// as wide that changes no bits, or from integers to floats.
bool suits_loops(const Tape& tape, const TapeOp& op);

/// `ops`: indices of the tape's ops, all of which suit; `outputs`: the values of them that are wanted;
/// `rows`: reduced values that are repeated are scalars of one row. Nothing where one loop cannot do it: another type
/// than one float type and integers as wide, or too many operands.
std::optional<LoopPlan> plan_loop(const Tape& tape, const std::vector<int>& ops, const std::vector<int>& outputs,
                                  bool rows);

/// A loop of the shipped table.
struct LoopKey {
  const std::uint64_t* words;
  std::size_t size;
};
/// The generated table: `count` keys, the n-th for functions[n] of fill_loops.
struct LoopKeys {
  const LoopKey* keys;
  std::size_t count;
};
LoopKeys loop_keys();
void fill_loops(const char* target, LoopFunctions* functions);

/// The compiled loop with this plan's words, in its type and of 16-bit floats; nulls where there is none.
struct FoundLoop {
  LoopFn run = nullptr, f16 = nullptr, bf16 = nullptr;
};
FoundLoop find_loop(const LoopPlan& plan);

/// Called with each plan that is looked for; the tool that prints them listens.
using LoopListener = void (*)(const LoopPlan& plan);
void listen_to_loops(LoopListener listener);

/// Whether tapes use their loops (they do); tests compare with the tape alone.
bool loops_enabled();
void enable_loops(bool on);

}  // namespace tern::detail_cpu
