// The registry visited by the contract tests, made by re-including elementary.inc and formulas.inc, and what tests
// share.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tuple>
#include <vector>

#include "every_device.hpp"
#include "formula/caches.hpp"
#include "formula/graph.hpp"
#include "primitives/fused/operation.hpp"

namespace tern::contract {

/// What a test of these is about: an elementary function, or a formula.
struct Subject {
  const char* name;
  const Pointwise<>* op;
  bool elementary;
  detail::Elementary id;  // of elementary functions
  int slope = 0;  // 1: stands in derivatives only, and no loops or archived kernels are made for its own; 2: so do
                  // others for its derivatives
  bool predicates = false;  // a formula with a boolean result
  bool later = false;   // no loops or archived kernels are made for it
  const detail::FormulaGraph* graph() const { return op->graph(); }
  int arity() const { return graph()->inputs; }
  const detail::Rule* rule() const { return elementary ? &detail::rule_of(id) : nullptr; }
  /// Whether floats are among what it takes.
  bool takes_floats() const {
    return !elementary || (rule()->takes != detail::Takes::integral && rule()->takes != detail::Takes::bits);
  }
  bool takes_integers() const { return !elementary || rule()->takes != detail::Takes::floating; }
  bool predicate() const { return predicates || (elementary && rule()->gives == detail::Gives::predicate); }
  /// Whether its input i is boolean (a condition).
  bool condition(int i) const { return elementary && rule()->gives == detail::Gives::branch && i == 0; }
};

/// The elementary function of pow's derivatives, by each of its arguments.
template <int k, int m>
inline constinit const Pointwise<> pow_partial{
    "pow_partial", [](Expr a, Expr b) {
      return detail::make_elementary(detail::Elementary::pow_partial, {a, b, detail::make_constant(k + 5 * m)});
    }};

inline const std::vector<Subject>& registry() {
  static const std::vector<Subject> entries = {
#define TERN_ELEMENTARY(name, arity) {#name, &op::name, true, detail::Elementary::name},
#define TERN_ELEMENTARY_LATER(name, arity) {#name, &op::name, true, detail::Elementary::name, 0, false, true},
#define TERN_ELEMENTARY_INNER(name, arity)
#define TERN_ELEMENTARY_REDUCE(name)
#include "tern/elementary.inc"
#undef TERN_ELEMENTARY
#undef TERN_ELEMENTARY_INNER
#undef TERN_ELEMENTARY_REDUCE
#define TERN_FORMULA(name, ...) {#name, &op::name, false, detail::Elementary::count},
#define TERN_FORMULA_LATER(name, ...) {#name, &op::name, false, detail::Elementary::count, 0, false, true},
#define TERN_FORMULA_PREDICATE(name, ...) {#name, &op::name, false, detail::Elementary::count, 0, true, true},
#define TERN_GATED(name, activation) {#name, &op::name, false, detail::Elementary::count},
#include "tern/formulas.inc"
#undef TERN_FORMULA
#undef TERN_GATED
#define TERN_POW_PARTIAL(k, m, slope) \
  {"pow_partial_" #k "_" #m, &pow_partial<k, m>, false, detail::Elementary::count, slope},
      TERN_POW_PARTIAL(1, 0, 1) TERN_POW_PARTIAL(0, 1, 1) TERN_POW_PARTIAL(2, 0, 1) TERN_POW_PARTIAL(1, 1, 1)
          TERN_POW_PARTIAL(0, 2, 1) TERN_POW_PARTIAL(4, 4, 2)
#undef TERN_POW_PARTIAL
  };
  return entries;
}
template <class Predicate> std::vector<Subject> entries_where(Predicate predicate) {
  std::vector<Subject> result;
  for (const Subject& e : registry())
    if (predicate(e)) result.push_back(e);
  return result;
}
inline void PrintTo(const Subject& entry, std::ostream* stream) { *stream << entry.name; }

/// Tests with a device and an entry of the registry as parameters.
class OnDevice : public testing::TestWithParam<std::tuple<Device, Subject>> {
 protected:
  void SetUp() override { set_default_device(device()); }
  void TearDown() override { set_default_device(cpu()); }
  Device device() const { return std::get<0>(GetParam()); }
  const Subject& entry() const { return std::get<1>(GetParam()); }
};
inline std::string entry_test_name(const testing::TestParamInfo<std::tuple<Device, Subject>>& info) {
  std::string name = std::get<0>(info.param).to_string() + "_" + std::get<1>(info.param).name;
  for (char& c : name)
    if (c == ':') c = '_';
  return name;
}
/// Every entry on every device; in software, where most of the time is the compiler's, every elementary function and a
/// sixth of the formulas, which are made of those.
inline std::vector<std::tuple<Device, Subject>> on_devices(const std::vector<Subject>& entries) {
  std::vector<std::tuple<Device, Subject>> all;
  for (const Device device : test::present_devices())
    for (std::size_t i = 0; i < entries.size(); ++i)
      if (!test::in_software(device) || entries[i].elementary || i % 6 == 0) all.emplace_back(device, entries[i]);
  return all;
}
#define TERN_CONTRACT(Suite, ...) \
  INSTANTIATE_TEST_SUITE_P(Registry, Suite, testing::ValuesIn(on_devices(__VA_ARGS__)), entry_test_name)

using test::full_test;

/// Fewer points where every access is checked: what those look for is not in the numbers.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kFewPoints = true;
#else
inline constexpr bool kFewPoints = false;
#endif

inline std::string hex(double v) {
  char text[64];
  std::snprintf(text, sizeof text, "%a (%.9g)", v, v);
  return text;
}

/// Collects failures of one check: the first ten are printed, the rest counted.
class Report {
 public:
  explicit Report(std::string title) : title_(std::move(title)) {}
  ~Report() {
    if (count_ > 0)
      ADD_FAILURE() << title_ << ": " << count_ << " failures" << lines_ << (count_ > kShown ? "\n  ..." : "");
  }
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;
  template <class Line> void add(const Line& line) {
    if (++count_ <= kShown) lines_ += "\n  " + line();
  }
  long count() const { return count_; }

 private:
  static constexpr long kShown = 10;
  std::string title_, lines_;
  long count_ = 0;
};

/// A counter-based hash: reproducible random bits.
inline std::uint64_t random_bits(std::uint64_t i) {
  i += 0x9e3779b97f4a7c15ull;
  i = (i ^ (i >> 30)) * 0xbf58476d1ce4e5b9ull;
  i = (i ^ (i >> 27)) * 0x94d049bb133111ebull;
  return i ^ (i >> 31);
}
/// In [0, 1).
inline double random_unit(std::uint64_t i) { return static_cast<double>(random_bits(i) >> 11) * 0x1p-53; }

/// Calls with any number of arguments: what Pointwise::operator() does.
inline Tensor call(const Subject& e, const std::vector<Tensor>& x) {
  std::vector<detail::Argument> arguments(x.begin(), x.end());
  Tensor result;
  detail::apply_tensors(e.name, e.graph(), e.op->values(), arguments, {&result, 1});
  return result;
}
inline Var call(const Subject& e, const std::vector<Var>& x) {
  std::vector<detail::Argument> arguments(x.begin(), x.end());
  Var result;
  detail::apply_vars(e.name, e.graph(), e.op->values(), arguments, {&result, 1});
  return result;
}

/// Each C++ type of a floating dtype: f(T{}). A dtype the device lacks is left out.
template <class F> void for_each_float(const F& f) {
  const auto attempt = [&](auto zero) {
    if (!test::takes(default_device(), dtype_of<decltype(zero)>)) return;
    try {
      f(zero);
    } catch (const UnsupportedDType&) {
    }
  };
  attempt(float{}), attempt(double{}), attempt(float16{}), attempt(bfloat16{});
}
/// The type a kernel computes S in.
template <class S> using Compute = std::conditional_t<std::is_same_v<S, double>, double, float>;


}  // namespace tern::contract
