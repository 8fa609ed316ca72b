// Products of bf16 by instructions that take two steps of k at once and sum in f32: AMX's tiles, or AVX-512's
// vdpbf16ps. They read subnormal numbers as zeros and give zeros for subnormal sums.
#pragma once
#include <cstdint>

#include "cpu/products/gemm.hpp"

namespace tern::detail_cpu {

inline constexpr std::int64_t kPairCols = 32;   // of a panel of B
inline constexpr std::int64_t kPairRows = 32;   // of a call, at most
inline constexpr std::int64_t kPairSteps = 16;  // pairs of steps that k is padded to with zeros

/// A further part of a sum, which lies as the first one does.
struct PairSegment {
  const std::uint16_t *a, *b;
};
/// Σ_p a(i, p) b(p, j), p < 2 · pairs, on top of `from` where that is not null, for `rows` rows and `cols` columns. Up
/// to the next multiple of what the kernel reads `a` may be read (PairKernels), and of 16 rows and kPairCols columns
/// `from` may be read and `to` written, or not.
struct PairMicro {
  const std::uint16_t* a;     // for each 2 · kPairSteps steps those of every row, 64 bytes each, …
  std::int64_t a_row, a_step;  // … so many elements from row to row and from steps to steps
  const std::uint16_t* b;  // for each pair of steps kPairCols pairs
  const float* from;
  std::int64_t from_row;
  float* to;
  std::int64_t to_row, pairs, rows, cols;
  /// Where not null, the sums go here, rounded to bf16, and not to `to`.
  std::uint16_t* rounded;
  std::int64_t rounded_row;
  /// To be fetched into L2 meanwhile: so many lines of 64 bytes in each kPairSteps pairs.
  const char* ahead;
  std::int64_t ahead_lines;
  const PairSegment* more = nullptr;
  std::int64_t more_count = 0;
};

struct PairKernels {
  const char* name;
  /// Steps of k that a call should sum at most.
  std::int64_t block_steps;
  /// Multiples of what a call reads of A: rows, and steps of k. An A that has them may be read in place.
  std::int64_t read_rows, read_steps;
  /// Whether they are faster than those of f32 on this processor.
  bool (*pays)();
  /// Before and after a thread's calls of `micro`.
  void (*begin)();
  void (*end)();
  void (*micro)(const PairMicro& call);
  /// to[p * to_row + j] = the pair from[2p * row + j], from[(2p + 1) * row + j]: for p < steps / 2 and, where steps is
  /// odd, a last one with 0. Each kPairCols columns lie `to_panel` elements after those before.
  void (*interleave)(const std::uint16_t* from, std::int64_t row, std::int64_t steps, std::int64_t cols,
                     std::uint32_t* to, std::int64_t to_row, std::int64_t to_panel);
};

/// What this processor has; null where it has none. In files of their own, compiled for them.
const PairKernels* amx_kernels();
const PairKernels* avx512_bf16_kernels();

/// Runs the product if it is one of bf16, large enough, and there are kernels for it; else false. Shapes alone decide;
/// each element is summed in the order of k.
bool gemm_pairs(const GemmProblem& problem);

}  // namespace tern::detail_cpu
