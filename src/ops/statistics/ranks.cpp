#include "ops/statistics/ranks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "backend/recording/capture.hpp"
#include "primitives/fused/operation.hpp"
#include "primitives/sort/operation.hpp"
#include "tern/creation.hpp"
#include "tern/sets.hpp"

namespace tern::detail {

namespace {

/// Shorter lines are sorted sooner than they are counted. Sorting shares lines between threads, which takes four of
/// them to be as fast.
constexpr std::int64_t kShortest = 512, kFewLines = 4;
constexpr int kMostThreads = 4;
constexpr std::size_t kMostCountedRanks = 8;
/// Of short lines fewer: to count and to look through those of a long one takes longer than the line.
constexpr int kBucketBits = 12, kFewBucketBits = 10;
constexpr std::int64_t kLongLine = 1 << 13;

/// Ordered as the elements are: zeros are equal, and so are NaNs, which are the largest.
template <class T> auto key_of(T x) {
  using Key = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  constexpr int last = 8 * sizeof(Key) - 1;
  const Key bits = std::bit_cast<Key>(x + T(0));  // -0 + 0 is 0
  const Key ordered = bits ^ (Key(-static_cast<std::make_signed_t<Key>>(bits >> last)) | Key{1} << last);
  return x == x ? ordered : static_cast<Key>(-1);
}

/// Where the elements of these ranks stand: how many there are of each upper part of their keys says which upper part
/// those have, and of the few elements with the same one the lower parts, and then the places, decide.
template <class T> class RankSelection {
 public:
  explicit RankSelection(std::int64_t n) : n_(n), bits_(n < kLongLine ? kFewBucketBits : kBucketBits) {}

  void find(const T* x, std::span<const std::int32_t> ranks, std::int32_t* places) {
    x_ = x;
    counts_.assign(std::size_t{1} << bits_, 0);
    for (std::int64_t i = 0; i < n_; ++i) ++counts_[bucket_of(key_of(x[i]))];
    std::vector<std::size_t> bucket_of_rank;
    std::vector<std::int64_t> rank_within;
    for (const std::int32_t rank : ranks) {
      std::size_t b = 0;
      std::int64_t before = 0;
      while (before + counts_[b] <= rank) before += counts_[b++];
      bucket_of_rank.push_back(b), rank_within.push_back(rank - before);
    }
    const std::vector<Items> candidates = gathered(bucket_of_rank);
    for (std::size_t k = 0; k < ranks.size(); ++k) {
      Items items = candidates[number_of(bucket_of_rank[k])];
      std::nth_element(items.begin(), items.begin() + rank_within[k], items.end());
      places[k] = items[static_cast<std::size_t>(rank_within[k])].second;
    }
  }

 private:
  using Key = decltype(key_of(T()));
  using Items = std::vector<std::pair<Key, std::int32_t>>;

  std::size_t bucket_of(Key key) const { return key >> (static_cast<int>(8 * sizeof(Key)) - bits_); }
  std::size_t number_of(std::size_t bucket) const {
    return static_cast<std::size_t>(std::ranges::find(wanted_, bucket) - wanted_.begin());
  }
  std::vector<Items> gathered(std::vector<std::size_t> buckets) {
    std::ranges::sort(buckets);
    buckets.erase(std::unique(buckets.begin(), buckets.end()), buckets.end());
    wanted_ = std::move(buckets);
    std::vector<std::uint8_t> number(counts_.size());  // from 1; 0: not wanted
    std::vector<Items> items(wanted_.size());
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      number[wanted_[i]] = static_cast<std::uint8_t>(i + 1);
      items[i].reserve(static_cast<std::size_t>(counts_[wanted_[i]]));
    }
    for (std::int64_t i = 0; i < n_; ++i) {
      const Key key = key_of(x_[i]);
      if (const std::uint8_t which = number[bucket_of(key)])
        items[which - 1u].emplace_back(key, static_cast<std::int32_t>(i));
    }
    return items;
  }

  const T* x_ = nullptr;
  std::int64_t n_;
  int bits_;
  std::vector<std::int32_t> counts_;
  std::vector<std::size_t> wanted_;
};

template <class T> Tensor selected(const Tensor& x, std::span<const std::int32_t> ranks) {
  const std::int64_t n = x.size(-1), lines = x.numel() / n, wanted = static_cast<std::int64_t>(ranks.size());
  const Tensor in_order = x.contiguous();
  Shape shape = x.shape();
  shape.back() = wanted;
  Tensor places = empty(shape, {.dtype = DType::i32, .device = x.device()});
  const T* const line = std::as_const(in_order).data_ptr<const T>();
  std::int32_t* const to = places.data_ptr<std::int32_t>();
  RankSelection<T> selection(n);
  for (std::int64_t i = 0; i < lines; ++i) selection.find(line + i * n, ranks, to + i * wanted);
  return places;
}

}  // namespace

Tensor places_at_ranks(const Tensor& x, std::span<const std::int32_t> ranks) {
  const std::int64_t n = x.size(-1);
  const bool selects = in_host_memory(x) && !current_capture() && is_floating(x.dtype()) && n >= kShortest &&
                       (x.numel() <= kFewLines * n || num_threads() <= kMostThreads) &&
                       ranks.size() <= kMostCountedRanks && x.numel() > 0;
  if (selects) return x.dtype() == DType::f64 ? selected<double>(x, ranks) : selected<float>(x.to(DType::f32), ranks);
  if (n >= kLongLine && ranks.size() <= kMostRanksAtOnce && !in_host_memory(x))
    return positions_at_ranks("quantile", x, ranks);
  const Tensor order = argsort(x, -1);
  if (ranks.size() == 1) return order.slice(-1, ranks[0], std::int64_t{ranks[0]} + 1);
  return take(order, tensor(std::vector<std::int32_t>(ranks.begin(), ranks.end()), order.device()), -1);
}

void require_in_order(const char* op, const char* name, const Tensor& line, bool either) {
  if (!in_host_memory(line) || current_capture()) return;
  const std::vector<double> values = line.to(DType::f64).to_vector<double>();
  const auto ascends = [](double a, double b) { return a <= b || b != b; };
  std::size_t up = 1, down = 1;  // the first that is out of order
  while (up < values.size() && ascends(values[up - 1], values[up])) ++up;
  if (up >= values.size()) return;
  while (down < values.size() && ascends(values[down], values[down - 1])) ++down;
  if (either && down >= values.size()) return;
  const std::size_t at = either ? std::max(up, down) : up;
  throw Error(ErrorKind::value, std::string(op) + ": " + name + " must be in order, those of " + describe(line) +
                                    " are not: " + std::to_string(values[at - 1]) + " and " +
                                    std::to_string(values[at]) + " at " + std::to_string(at - 1));
}

}  // namespace tern::detail
