#include "formula/online_sums.hpp"

#include <algorithm>

namespace tern::detail {

/// The step behind elementary functions that change nothing.
int OnlineSums::undetached(int step) const {
  while (at(step).kind == StepKind::elementary && at(step).elementary == Elementary::detach) step = at(step).args[0];
  return step;
}

/// The maximum that lets sum(exp(x - shift)) be taken in its pass, if `power` is that exp(x - shift); or nothing.
std::optional<OnlineSum> OnlineSums::as_power(int power) const {
  const Step& exp = at(power);
  if (exp.kind != StepKind::elementary || exp.elementary != Elementary::exp || !exp.full) return {};
  const Step& difference = at(exp.args[0]);
  if (difference.kind != StepKind::elementary || difference.elementary != Elementary::sub) return {};
  const int x = undetached(difference.args[0]), shift = difference.args[1];
  if (!at(x).full || at(shift).full) return {};
  for (int i = 0; i < power; ++i) {
    const Step& max = at(i);
    if (max.kind == StepKind::reduce && max.elementary == Elementary::max && undetached(max.args[0]) == x &&
        max.type == exp.type && max.phase == at(shift).phase)
      return OnlineSum{i, -1, shift};
  }
  return {};
}

/// The pivot that lets sum((x - mean)^n) be taken in the pass that gives mean(x), if `value` is that x - mean; or
/// nothing.
std::optional<OnlineSum> OnlineSums::as_centred(int value) const {
  const Step& difference = at(value);
  if (difference.kind != StepKind::elementary || difference.elementary != Elementary::sub || !difference.full)
    return {};
  const int x = undetached(difference.args[0]), mean = undetached(difference.args[1]);
  const Step& quotient = at(mean);
  if (!at(x).full || quotient.kind != StepKind::elementary || quotient.elementary != Elementary::div) return {};
  const int sum = quotient.args[0];
  if (at(sum).kind != StepKind::reduce || at(sum).elementary != Elementary::sum || undetached(at(sum).args[0]) != x ||
      at(quotient.args[1]).kind != StepKind::extent || online_sum(builder_.program(), sum))
    return {};
  OnlineSum online{sum, -1, mean};
  online.power = 1;
  return online;
}

/// The factors of a product of full values.
void OnlineSums::take_factors(int value, std::vector<int>& factors) const {
  constexpr std::size_t kMost = 8;
  std::vector<int> pending{value};
  while (!pending.empty()) {
    const int factor = pending.back();
    pending.pop_back();
    const Step& product = at(factor);
    const bool is_product =
        product.kind == StepKind::elementary && product.elementary == Elementary::mul && factors.size() < kMost;
    if (is_product && !as_centred(factor)) pending.push_back(product.args[1]), pending.push_back(product.args[0]);
    else factors.push_back(factor);
  }
}

/// What sum(weight · (x - mean)^n) is taken with, n being 1 or 2, if `argument` is that product; or nothing.
std::optional<OnlineSum> OnlineSums::as_moment(int argument) {
  std::vector<int> factors, weights;
  take_factors(argument, factors);
  std::optional<OnlineSum> online;
  int power = 0;
  for (const int factor : factors) {
    const std::optional<OnlineSum> centred = as_centred(factor);
    if (centred && (!online || (online->pivot == centred->pivot && online->shift == centred->shift)))
      online = centred, ++power;
    else weights.push_back(factor);
  }
  if (!online || power > 2) return {};
  for (const int weight : weights)
    if (!is_known_to(online->pivot, weight)) return {};
  online->power = power;
  for (const int weight : weights)
    online->weight = online->weight < 0 ? weight : builder_.product_of(online->weight, weight);
  return online;
}

/// What the sum of `argument` is taken with, if it takes no pass of its own.
std::optional<OnlineSum> OnlineSums::as_online_sum(int argument) {
  std::optional<OnlineSum> online = as_power(argument);
  if (!online) online = as_moment(argument);
  const Step& product = at(argument);
  if (online || product.kind != StepKind::elementary || product.elementary != Elementary::mul) return online;
  for (const int i : {0, 1}) {
    online = as_power(product.args[i]);
    if (online && is_known_to(online->pivot, product.args[1 - i])) {
      online->weight = product.args[1 - i];
      return online;
    }
  }
  return {};
}

/// The step behind those that change no value which arrives there: of predicates, and of an extreme of narrow integers.
int OnlineSums::bare(int step) const {
  for (;; step = at(step).args[0]) {
    const Step& s = at(step);
    const bool same = s.kind == StepKind::convert || (s.kind == StepKind::wrap && !s.saturate && !is_float(s.type)) ||
                      (s.kind == StepKind::elementary && s.elementary == Elementary::detach);
    if (!same) return step;
  }
}

/// The extreme whose first position is the minimum of `argument`, if that is where((x == extreme) | (x != x), ordinal,
/// kNowhere); or nothing.
std::optional<OnlineSum> OnlineSums::as_place(int argument) const {
  const auto is = [&](int step, Elementary elementary) {
    return at(step).kind == StepKind::elementary && at(step).elementary == elementary;
  };
  if (!is(argument, Elementary::where)) return {};
  const Step& choice = at(argument);
  const Step &ordinal = at(choice.args[1]), &nowhere = at(choice.args[2]);
  const int either = bare(choice.args[0]);
  if (ordinal.kind != StepKind::position || ordinal.index != kOrdinalAxis || nowhere.kind != StepKind::number ||
      !nowhere.number.is_integer || nowhere.number.integer != OnlineSum::kNowhere || !is(either, Elementary::bit_or))
    return {};
  const int same = bare(at(either).args[0]), nan = bare(at(either).args[1]);
  if (!is(same, Elementary::equal) || !is(nan, Elementary::not_equal)) return {};
  const int x = at(same).args[0], pivot = bare(at(same).args[1]);
  const Step& extreme = at(pivot);
  if (at(nan).args[0] != x || at(nan).args[1] != x || !at(x).full || extreme.kind != StepKind::reduce ||
      (extreme.elementary != Elementary::max && extreme.elementary != Elementary::min) || extreme.args[0] != x)
    return {};
  OnlineSum place{pivot, -1, -1, choice.args[1]};
  place.power = OnlineSum::kPlace;
  return place;
}

int OnlineSums::add_place(Step step) {
  const std::optional<OnlineSum> place = as_place(step.args[0]);
  if (!place) return builder_.push(step);
  return builder_.sum_in_pass(step, at(place->pivot).pass, place);
}

/// The factor x - mean of an argument that has one.
int OnlineSums::centred_of(int argument) const {
  std::vector<int> factors;
  take_factors(argument, factors);
  return *std::find_if(factors.begin(), factors.end(), [&](int factor) { return as_centred(factor).has_value(); });
}

std::optional<OnlineSum> OnlineSums::base_of(int power) const {
  const std::optional<OnlineSum> exponential = as_power(power);
  return exponential ? exponential : as_centred(power);
}

int OnlineSums::pass_of_sum(int value) {
  const std::optional<OnlineSum> online = as_online_sum(value);
  return online ? at(online->pivot).pass : at(value).pass + 1;
}

int OnlineSums::add(Step step) {
  std::optional<OnlineSum> online = as_online_sum(step.args[0]);
  if (!online) return builder_.sum_in_pass(step, builder_.pass_of(step));
  const Step pivot = at(online->pivot);
  if (online->power > 0) {
    Step lower = pivot;
    lower.args[0] = builder_.one_of(pivot);
    online->count = online->lower[0] = builder_.sum_in_pass(lower, pivot.pass);
    if (online->weight >= 0) lower.args[0] = online->weight, online->lower[0] = builder_.sum_in_pass(lower, pivot.pass);
  }
  if (online->power == 2) {
    Step lower = step;
    lower.args[0] = centred_of(step.args[0]);
    if (online->weight >= 0) lower.args[0] = builder_.product_of(online->weight, lower.args[0]);
    online->lower[1] = add(lower);
  }
  return builder_.sum_in_pass(step, pivot.pass, online);
}

}  // namespace tern::detail
