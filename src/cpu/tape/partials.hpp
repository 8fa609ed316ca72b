// Partial results of reductions: one for each segment of the reduced axes, reduction and kept position of a chunk.
#pragma once
#include "cpu/tape/online.hpp"
#include "cpu/tape/run.hpp"

namespace tern::detail_cpu {

class PartialResults {
 public:
  explicit PartialResults(const Run& run);
  /// Of so many kept positions at most; before anything else.
  void set_kept(std::int64_t kept) { kept_ = kept; }
  std::size_t bytes() const { return tape_.reductions.size() * static_cast<std::size_t>(kept_) * 8; }
  /// This thread's room for the partial results of so many segments.
  std::byte* memory(std::int64_t segments) const;
  std::byte* at(std::byte* partials, std::int64_t segment, std::size_t reduction) const {
    return partials + static_cast<std::size_t>(segment) * bytes() + reduction * static_cast<std::size_t>(kept_) * 8;
  }

  const TapeOp& reduction(std::size_t r) const { return tape_.ops[static_cast<std::size_t>(tape_.reductions[r])]; }
  /// Whether reduction r is a sum that is taken with what it waits for: those kernels, or null.
  const OnlineKernels* online_of(std::size_t r) const;
  /// Whether reduction r counts elements.
  bool counts(std::size_t r) const;
  /// The number of a block's elements for each kept position, in place of their sum.
  void count(const TapeOp& op, void* to, const Block& b) const;
  static void join(const TapeOp& op, void* into, const void* other, std::int64_t n);

  /// This thread's copy of what a pass has of a segment so far.
  std::byte* copy(std::byte* partials, std::int64_t segment, int pass, const Block& b) const;
  /// Adds a block to the sums of a pass that are taken with what they wait for. `now` has the other results with the
  /// block, `before` without it (null: there was none before).
  void add_online(const Worker& w, const Block& b, int pass, std::byte* before, std::byte* now) const;
  /// Joins the segments' partial results of a pass pairwise: each before what it is corrected by.
  void join_segments(const Block& b, int pass, std::byte* partials, std::int64_t segments) const;
  /// Takes the joined results of a pass and computes what follows from them.
  void take_results(Worker& w, const Block& b, int pass, std::byte* partials) const;
  /// In the order of the tape, in which a sum stands behind what its shift is computed by.
  void run_kept_ops(Worker& w, const Block& b, int pass) const;

 private:
  std::size_t place_of(int op) const;
  OnlineParts parts_of(const TapeOnline& online, std::byte* results) const;
  void* squares_of(const TapeOnline& first, std::byte* results) const;

  const Tape& tape_;
  const KernelTable& table_;
  const BlockRunner& runner_;
  detail::SmallVector<OnlineKernels, 2> online_;
  std::int64_t kept_ = 1;
};

}  // namespace tern::detail_cpu
