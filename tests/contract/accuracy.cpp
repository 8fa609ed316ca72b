// The error of formulas as functions: their values against __float128, in units in the last place. (What a formula's
// operations may return is held by values.cpp; here it is what they make together.)
#include <set>

#include "contract/compare.hpp"
#include "contract/truths.hpp"

namespace tern::contract {
namespace {

class Accuracy : public testing::TestWithParam<std::tuple<Device, BudgetedFormula>> {
 protected:
  void SetUp() override { set_default_device(std::get<0>(GetParam())); }
  void TearDown() override { set_default_device(cpu()); }
};

template <class S> Columns<S> formula_points(const BudgetedFormula& f, Device device) {
  const bool few = test::in_software(device);
  if (const int arity = f.op->graph()->inputs; arity > 1) return tuple_inputs<S>(arity, few ? 1 << 15 : 1 << 17);
  Columns<S> columns{unary_inputs<S>(few)};
  for (std::uint64_t i = 0; i < (few ? 1u << 17 : sizeof(S) == 4 && full_test() ? 1u << 20 : 1u << 18); ++i) {
    const double u = 2 * random_unit(i) - 1;
    columns[0].push_back(static_cast<S>(i % 3 == 0 ? u : i % 3 == 1 ? 24 * u : 800 * u));
    if (i % 4 == 0) columns[0].push_back(static_cast<S>(1 + std::ldexp(u, -static_cast<int>(i / 4 % 32))));
  }
  // Of acosh and of asinh, where they were farther off.
  for (const double bad : {0x1.007acap+0, 0x1.01cd46ad87f45p+0, 0x1.f2716ep-5})
    columns[0].push_back(static_cast<S>(bad));
  return columns;
}

template <class S> Limits limits_of() {
  using L = std::numeric_limits<S>;
  return {static_cast<Quad>(L::epsilon()), static_cast<Quad>(L::denorm_min()), static_cast<Quad>(L::min()),
          static_cast<Quad>(L::max())};
}

/// Whether a result is the rounded truth where that is NaN, infinite or 0, and within `most` of the truth elsewhere.
/// Beside the ends of the range rounding decides.
template <class S> bool is_good(S got, S rounded, bool special, Quad error, Quad most) {
  const bool good = special ? (rounded == got && std::signbit(rounded) == std::signbit(got)) ||
                                  (rounded != rounded && got != got)
                    : most == 0 ? rounded == got
                                : fabsq(error) <= most;
  if (good || !(std::isinf(rounded) || std::isinf(got))) return good;
  const S nearly_all = std::numeric_limits<S>::max() * S(0.999999);
  return std::fabs(rounded) >= nearly_all && std::fabs(got) >= nearly_all;
}

/// Budgets of compositions are those of IEEE arithmetic; WGSL adds one unit for each of a handful of operations, and
/// may take subnormal numbers for zeros. NVIDIA's own functions in f64 are up to twice as far off.
template <class S> void check_budget(const BudgetedFormula& f, Device device) {
  const Columns<S> columns = formula_points<S>(f, device);
  std::vector<detail::Argument> arguments;
  std::vector<Tensor> tensors;
  for (const std::vector<S>& column : columns) tensors.push_back(tensor(column, Shape{column.size()}, device));
  for (const Tensor& t : tensors) arguments.emplace_back(t);
  Tensor y;
  detail::apply_tensors(f.name, f.op->graph(), {}, arguments, {&y, 1});
  const std::vector<S> got = column_of<S>(y);
  const bool webgpu = device.kind() == DeviceKind::webgpu, cuda = device.kind() == DeviceKind::cuda;
  const double doubled = sizeof(S) == 8 && cuda ? 2 : 1, budget = f.ulps(sizeof(S) == 8) * doubled + (webgpu ? 3 : 0);
  const Limits type = limits_of<S>();
  Report report(std::string(f.name) + " " + std::string(to_string(dtype_of<S>)) + " on " + device.to_string());
  double worst = 0, where = 0;
  std::size_t left_out = 0;
  for (std::size_t p = 0; p < got.size(); ++p) {
    Quad x[4] = {};
    bool tiny = false;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      x[i] = static_cast<Quad>(columns[i][p]);
      tiny |= columns[i][p] != 0 && std::fabs(columns[i][p]) < std::numeric_limits<S>::min();
    }
    const Quad want = f.truth(x);
    const S rounded = static_cast<S>(want);
    if (want != 0 && std::fabs(rounded) < S(f.least) * std::numeric_limits<S>::min()) continue;
    if (webgpu && (tiny || std::fabs(rounded) < 4 * std::numeric_limits<S>::min())) continue;
    Quad besides = f.besides ? f.besides(x, type) : 0;
    if (besides == kNoPromise) {
      ++left_out;
      continue;
    }
    besides = finiteq(besides) ? besides * (webgpu ? 2 : doubled) : 0;  // beside NaN and infinities: those themselves
    // A zero is one where it is the mathematics', not a rounding's.
    const bool special = rounded != rounded || std::isinf(rounded) || (rounded == 0 && (want == 0 || besides == 0));
    const Quad spacing = spacing_at<S>(want), error = static_cast<Quad>(got[p]) - want;
    const double off = static_cast<double>(error / spacing);
    // In units, of which `besides` allows some.
    const double units = static_cast<double>((fabsq(error) - besides) / spacing);
    if (!special && got[p] == got[p] && units > worst) worst = units, where = columns[0][p];
    const Quad most = budget == 0 ? 0 : static_cast<Quad>(budget) * spacing + besides;
    if (!is_good(got[p], rounded, special, error, most))
      report.add([&] {
        std::string point;
        for (const std::vector<S>& column : columns) point += (point.empty() ? "(" : ", ") + hex(column[p]);
        return point + ") got " + hex(got[p]) + ", want " + hex(rounded) + ", off by " + std::to_string(off) +
               " ulp, of which " + std::to_string(static_cast<double>(besides / spacing)) + " are granted beside " +
               std::to_string(budget);
      });
  }
  EXPECT_LE(left_out, got.size() / 4) << f.name << ": points where nothing is promised";
  testing::Test::RecordProperty(std::string("worst_") + (sizeof(S) == 8 ? "f64" : "f32"), std::to_string(worst));
  if (std::getenv("TERN_TEST_SHOW_ERRORS"))
    std::printf("%s %s %.3f ulp at %s\n", f.name, sizeof(S) == 8 ? "f64" : "f32", worst, hex(where).c_str());
}

TEST_P(Accuracy, IsWithinTheBudget) {
  const auto& [device, function] = GetParam();
  check_budget<float>(function, device);
  try {
    check_budget<double>(function, device);
  } catch (const UnsupportedDType&) {
  }
}

/// Each line of truths.hpp is of a formula, and the only one. A formula without a line is what its lambda says, which
/// values.cpp holds it to. (TERN_FORMULA_INTEGERS is exact: integer_remainders.cpp.)
TEST(AccuracyOfFormulas, IsStatedOnce) {
  std::set<std::string> stated, formulas;
  for (const Subject& e : entries_where([](const Subject& e) { return !e.elementary && e.slope == 0; }))
    formulas.insert(e.name);
  for (const BudgetedFormula& f : kBudgetedFormulas) {
    EXPECT_TRUE(stated.insert(f.name).second) << f.name << " has two lines in truths.hpp";
    EXPECT_TRUE(formulas.contains(f.name)) << "truths.hpp has a line of " << f.name << ", which is no formula";
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, Accuracy,
                         testing::Combine(testing::ValuesIn(test::present_devices()),
                                          testing::ValuesIn(kBudgetedFormulas)),
                         [](const auto& info) {
                           std::string name = std::get<0>(info.param).to_string() + "_" + std::get<1>(info.param).name;
                           for (char& c : name)
                             if (c == ':') c = '_';
                           return name;
                         });

}  // namespace
}  // namespace tern::contract
