// The order of einsum's contractions.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace tern::detail {

/// An axis of an operand, by its letter.
using Label = int;
using Labels = std::vector<Label>;
inline bool contains(const Labels& list, Label label) { return std::ranges::find(list, label) != list.end(); }

/// Which two operands are multiplied next, as places in the list of those that are left: in the order that takes the
/// fewest multiplications and elements written for up to six operands, found over all subsets; for more, the pair with
/// the smallest result.
class ContractionOrder {
 public:
  ContractionOrder(std::vector<Labels> operands, Labels result, std::map<Label, std::int64_t> sizes)
      : operands_(std::move(operands)), result_(std::move(result)), sizes_(std::move(sizes)) {}

  using Set = std::uint32_t;
  static constexpr std::size_t kSearched = 6;

  /// The two parts of a set that are multiplied last.
  std::pair<Set, Set> split(Set set) {
    cost(set);
    const Set first = best_.at(set).first;
    return {first, set & ~first};
  }
  /// What the product of the operands in the set keeps: what the result or an operand outside has.
  Labels kept(Set set) const {
    Labels labels;
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      if (!(set >> i & 1)) continue;
      for (const Label label : operands_[i])
        if (!contains(labels, label) && is_needed(label, set)) labels.push_back(label);
    }
    return labels;
  }
  /// Of sets whose products are there, the two whose product is the smallest.
  std::pair<std::size_t, std::size_t> smallest(const std::vector<Set>& there) const {
    std::pair<std::size_t, std::size_t> best{0, 1};
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < there.size(); ++i)
      for (std::size_t j = i + 1; j < there.size(); ++j)
        if (const double size = elements(kept(there[i] | there[j])); size < least) least = size, best = {i, j};
    return best;
  }

 private:
  bool is_needed(Label label, Set set) const {
    if (contains(result_, label)) return true;
    for (std::size_t i = 0; i < operands_.size(); ++i)
      if (!(set >> i & 1) && contains(operands_[i], label)) return true;
    return false;
  }
  double elements(const Labels& labels) const {
    double count = 1;
    for (const Label label : labels) count *= static_cast<double>(sizes_.at(label));
    return count;
  }
  double cost(Set set) {
    if ((set & (set - 1)) == 0) return 0;
    if (const auto found = best_.find(set); found != best_.end()) return found->second.second;
    std::pair<Set, double> best{0, std::numeric_limits<double>::infinity()};
    for (Set first = (set - 1) & set; first > 0; first = (first - 1) & set) {
      const Set second = set & ~first;
      if (first < second) continue;
      Labels all = kept(first);
      for (const Label label : kept(second))
        if (!contains(all, label)) all.push_back(label);
      const double total = cost(first) + cost(second) + elements(all) + elements(kept(set));
      if (total < best.second) best = {first, total};
    }
    best_[set] = best;
    return best.second;
  }

  std::vector<Labels> operands_;
  Labels result_;
  std::map<Label, std::int64_t> sizes_;
  std::map<Set, std::pair<Set, double>> best_;  // the first part and the cost
};

}  // namespace tern::detail
