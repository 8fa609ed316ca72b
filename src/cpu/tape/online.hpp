// Sums taken in the pass of the reduction that they wait for (formula/program.hpp, OnlineSum), on blocks.
#pragma once
#include "cpu/tape/block_runner.hpp"

namespace tern::detail_cpu {

/// Where a sum and what it is corrected by are: a type for each kept position.
struct OnlineParts {
  void* sum;
  const void *pivot, *count, *lower[2];  // those it has none of: null
};

/// The kernels that one of a tape's takes.
class OnlineKernels {
 public:
  OnlineKernels(const TapeOnline& online, const Tape& tape, const KernelTable& table, bool rows);

  /// exp(x - m) of a block of x, m being the kept positions' maxima so far: to `power`.
  void take_power(const void* x, const OnlineParts& now, void* power, const Block& b) const;
  /// Adds the sum of a block's `power` (times `weight`, unless that is null) to the sum. `now` knows the block already,
  /// `before` does not; null: there was none before.
  void add_power(const void* power, const void* weight, const OnlineParts* before, const OnlineParts& now,
                 const Block& b) const;
  /// The same for a block of x and a sum of x - mean, and (unless it is null) for `second`, the one of its square.
  void add_moments(const void* x, const void* weight, const OnlineParts* before, const OnlineParts& now, void* second,
                   const Block& b) const;
  /// The same of a place, `part` being that of the block alone.
  void add_place(const OnlineParts& before, const OnlineParts& now, const std::int32_t* part, std::int64_t kept) const;
  /// Adds another part's sum to `part`'s; nothing else of the two is joined yet.
  void join(const OnlineParts& part, const OnlineParts& other, std::int64_t kept) const;
  /// From the sum for m to the one for `shift`; what it is corrected by is finished.
  void finish(const OnlineParts& whole, const void* shift, std::int64_t kept) const;

 private:
  struct Groups {
    std::size_t count, length;  // ReduceFn
  };
  Groups groups(const Block& b) const;
  void scale(const void* before, const void* now, void* sum, std::int64_t kept) const;
  void join_powers(const OnlineParts& part, const OnlineParts& other, std::int64_t kept) const;
  void join_places(const OnlineParts& part, const OnlineParts& other, std::int64_t kept) const;
  void follow(const void* before, const void* now, std::int32_t* places, const std::int32_t* part,
              std::int64_t kept) const;
  void run(ElementaryFn elementary, const void* a, const void* b, void* out, std::int64_t n) const {
    const void* args[3] = {a, b, nullptr};
    elementary(args, out, static_cast<std::size_t>(n));
  }

  ElementaryFn maximum_, sub_, exp_, mul_, add_;
  ReduceFn sum_;
  PowersFn powers_;
  MomentsFn moments_;
  MoveMomentsFn move_;
  ElementaryFn extreme_;       // that joins pivots
  ComputeType pivot_;    // their type
  int power_;          // detail::OnlineSum
  bool rows_, wide_;  // wide: computed in f64
};

}  // namespace tern::detail_cpu
