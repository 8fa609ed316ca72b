// Sums of exp(x - shift) taken in the same walk as max(x) (formula/program.hpp, OnlineSum), on blocks.
#pragma once
#include "cpu/block_runner.hpp"

namespace tern::detail_cpu {

/// One of a tape's: where its maximum and its sum are among the tape's ops, and the kernels that it takes.
class OnlineKernels {
 public:
  OnlineKernels(const TapeOnline& online, const Tape& tape, const KernelTable& table, bool rows);

  /// exp(x - m) of a block of x for the kept positions' maxima m = `max`, to `power`.
  void take_power(const void* x, const void* max, void* power, const Block& b) const;
  /// The sums of a block's `power`, times `weight` unless that is null, added to what `sum` has of earlier blocks for
  /// m = `before`; null: there are none.
  void add(const void* power, const void* weight, const void* before, const void* max, void* sum, const Block& b) const;
  /// The sums of two parts whose maxima are `max` and `other_max` (not joined yet), to `sum`.
  void join(const void* max, void* sum, const void* other_max, const void* other_sum, std::int64_t kept) const;
  /// From sums of exp(x - m) to those of exp(x - shift).
  void finish(const void* max, const void* shift, void* sum, std::int64_t kept) const;

 private:
  void scale(const void* before, const void* now, void* sum, std::int64_t kept) const;
  void run(LeafFn leaf, const void* a, const void* b, void* out, std::int64_t n) const {
    const void* args[3] = {a, b, nullptr};
    leaf(args, out, static_cast<std::size_t>(n));
  }

  LeafFn maximum_, sub_, exp_, mul_, add_;
  BlockFn fill_;
  ReduceFn sum_;
  bool rows_, wide_;  // wide: lanes of f64
};

}  // namespace tern::detail_cpu
