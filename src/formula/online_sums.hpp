// Sums that are taken in the pass of another reduction which they wait for: OnlineSum in program.hpp.
#pragma once
#include <optional>
#include <vector>

#include "formula/program_builder.hpp"

namespace tern::detail {

/// Finds such sums among the steps of a program that is being built.
class OnlineSums {
 public:
  explicit OnlineSums(ProgramBuilder& builder) : builder_(builder) {}

  /// Appends a sum of floats, in the pass of a reduction that it waits for where that can be.
  int add(Step step);
  /// Appends a minimum of integers, in the pass of the extreme whose first position it is where it is one.
  int add_place(Step step);
  /// The pass that gives the sum of a value.
  int pass_of_sum(int value);
  /// The pivot for which `power` is an exp(x - shift), or an x - mean(x); or nothing.
  std::optional<OnlineSum> base_of(int power) const;
  /// Whether a full value is known in the pass that gives reduction `pivot`.
  bool is_known_to(int pivot, int value) const { return at(value).full && at(value).pass < at(pivot).pass; }

 private:
  const Step& at(int step) const { return builder_.at(step); }
  int undetached(int step) const;
  std::optional<OnlineSum> as_power(int power) const;
  std::optional<OnlineSum> as_centred(int value) const;
  std::optional<OnlineSum> as_moment(int argument);
  std::optional<OnlineSum> as_online_sum(int argument);
  int bare(int step) const;
  std::optional<OnlineSum> as_place(int argument) const;
  void take_factors(int value, std::vector<int>& factors) const;
  int centred_of(int argument) const;

  ProgramBuilder& builder_;
};

}  // namespace tern::detail
