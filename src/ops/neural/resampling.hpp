// Elements of an axis as weighted sums of others: what pooling to given sizes and interpolation are made of.
#pragma once
#include <vector>

#include "primitives/fused/operation_checks.hpp"

namespace tern::detail {

/// For each element of the result those of x that it is a sum of, with their weights.
class Taps {
 public:
  explicit Taps(std::int64_t from) : from_(from) {}
  /// The next element of the result begins.
  void next() { lists_.emplace_back(); }
  /// Places come in ascending order; those beyond the ends are the last ones.
  void add(std::int64_t place, double weight);

  std::int64_t from() const { return from_; }
  std::int64_t size() const { return static_cast<std::int64_t>(lists_.size()); }
  /// The most that one element has.
  std::size_t most() const;
  /// Places and weights of taps [first, first + count) of each element; (0, 0) where it has fewer.
  std::vector<std::int32_t> places(std::size_t first, std::size_t count) const;
  std::vector<double> weights(std::size_t first, std::size_t count) const;

 private:
  struct WeightedTap {
    std::int64_t place;
    double weight;
  };
  std::int64_t from_;
  std::vector<std::vector<WeightedTap>> lists_;
};

/// x with an axis replaced by the sums, each of which reads its own taps alone: of up to four in one formula over the
/// elements taken, of more as a sum over the taps as an axis.
template <TensorOrVar R> R mixed(const R& x, int axis, const Taps& taps);

}  // namespace tern::detail
