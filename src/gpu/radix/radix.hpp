// Words in the order of their keys: a stable sort by digits of 8 bits, and the selection of the first few, or of some
// at given ranks.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gpu/gpu_backend.hpp"
#include "gpu/text/kernel_file.hpp"
#include "gpu/plan/plan.hpp"

namespace tern::detail_gpu {

/// The key of an element, whose order is that of the values (NaN last, zeros alike; all of them the other way round
/// where `flip` is all ones), as a function `key_of` of the element's bits and `flip`.
std::string key_function(const Dialect& dialect, DType dtype);
/// What an access of words is indexed as. (Words of 64 bits are CUDA's.)
std::string words_of(const Access& access);
/// The word that holds an element's bits: "u32" or "u64".
const char* word_of(DType dtype);
/// How many bits its keys have.
inline int key_bits(DType dtype) { return 8 * static_cast<int>(dtype_size(dtype)); }

/// The pieces of kernels that read lines in parts (radix_parts.wgsl), of so many elements where they count digits.
Holes parts_of_lines();
inline constexpr std::int64_t kCountedPart = 16384;

/// CUDA's functions that rank by digits in a workgroup: radix_rank.cu.
const char* ranking_functions();

/// Whether WebGPU's workgroups rank by digits with votes in subgroups (radix_subgroups.wgsl), and have the memory for
/// it; the holes of a text that does, of `tile` elements for so many invocations; and that memory.
bool ranks_in_subgroups(const Limits& limits);
Holes ranking_in_subgroups(const Dialect& dialect, int tile, int threads);
std::vector<Shared> ranking_memory(int tile, int threads);
/// What draws slots there, which is of use to other kernels with subgroups.
Holes drawing_in_subgroups(const Dialect& dialect);
/// Lines (radix_scan.wgsl) that put the sum of sums[0 … thread] in place of sums[thread], of so many invocations.
std::string sums_up_to(const Dialect& dialect, int threads);

/// Lines of elements, one after the other: their bits, a word each, and their places in the lines they come from.
/// Either may be missing (no storage): bits that nobody asks for, and places that are where they stand.
struct Words {
  View bits, places;
};

/// Sorts and selects lines of words. Work on one stream of launches; the temporaries live as long as this.
class Radix {
 public:
  Radix(GpuBackend& backend, const char* op, DType dtype, bool descending, std::int64_t lines)
      : backend_(backend),
        op_(op),
        dtype_(dtype),
        lines_(lines),
        flip_(descending ? ~0u : 0u),
        halves_(sorts_halves(backend, dtype)) {}
  /// Whether elements of 16 bits are moved as such, and not a word each: CUDA reads and writes them one by one.
  static bool sorts_halves(const GpuBackend& backend, DType dtype) {
    return backend.limits().native && !backend.limits().archived && dtype_size(dtype) == 2;
  }

  /// Memory for lines of n words.
  Words make_bits(std::int64_t n);
  View make_places(std::int64_t n);
  /// The last `bits` bits of the keys decide, then the order in `from`.
  void sort(const Words& from, std::int64_t n, int bits, const Words& to);
  /// The k first of each line in the order of the keys; of those alike the first in the line. They stay in the order of
  /// the line. n becomes k.
  Words select(Words from, std::int64_t& n, std::int64_t k);

  /// Places of elements in their lines, `pitch` from line to line.
  struct Places {
    View view;
    std::int64_t pitch = 0;
  };
  /// Those of the elements at these ranks, at most 8, in the order of the keys and then of the line.
  Places places_at(const Words& from, std::int64_t n, std::span<const std::int32_t> ranks);

  /// The most that select() takes of a line.
  static constexpr std::int64_t kMostSelected = 4096;
  /// The longest line that a workgroup sorts by all digits, in its memory; and what one ranks by one digit.
  static std::int64_t longest_line(DType dtype) { return dtype_size(dtype) == 8 ? 2048 : 4096; }
  std::int64_t tile() const;

 private:
  class Job;
  /// Invocations of a workgroup that moves a block in subgroups.
  int moving_threads() const;
  /// The accesses of a pass: what it moves, and by what; of sweeps there are no counts.
  struct Moved {
    int bits, places, counts, totals, to_bits, to_places;
  };
  void pass(const Words& from, std::int64_t n, int shift, const Words& to);
  /// Of WebGPU's passes: what a workgroup orders in its memory.
  int moved_at_once() const;
  std::string move_in_order(const Job& job, Holes holes, const Moved& m) const;
  /// The same where a workgroup ranks in subgroups.
  std::string move_in_subgroups(const Job& job, Holes holes, const Moved& m) const;
  /// Passes that are one kernel each, after all digits were counted: CUDA's (radix_sweep.cu), and WebGPU's in subgroups
  /// where workgroups go on while others wait for them (radix_look_back.wgsl).
  struct Sweeps {
    View totals, states;  // totals, then starts: [pass][line][digit], and a number drawn by the workgroups of each pass
    std::int64_t blocks = 0;
    int passes = 0;
  };
  bool sweeps_lines_of(std::int64_t n) const;
  const char* sorted_type() const { return halves_ ? "u16" : word_of(dtype_); }
  Sweeps count_digits(const Words& from, std::int64_t n, int passes);
  void sweep(const Sweeps& s, const Words& from, std::int64_t n, int pass, const Words& to);
  std::string sweep_text(const Job& job, const Moved& m, int states) const;
  struct Ranked;
  struct RankJob;
  void begin_ranks(const Ranked& ranked, std::int64_t n);
  void find_digits(const Words& from, const Ranked& ranked, std::int64_t n, int shift);
  void place_ranks(const Words& from, const Ranked& ranked, std::int64_t n, const View& places);
  Words select_once(const Words& from, std::int64_t n, std::int64_t parts, std::int64_t k);

  GpuBackend& backend_;
  const char* op_;
  DType dtype_;
  std::int64_t lines_;
  std::uint32_t flip_;
  bool halves_;
  std::vector<std::shared_ptr<Storage>> keep_;
};

}  // namespace tern::detail_gpu
