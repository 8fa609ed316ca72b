// Elementary functions and formulas on integers and booleans, against plain C++ with the documented semantics: wrap
// modulo 2^width; x floor_divide 0 = 0; x % 0 = 0; MIN % -1 = 0; shift counts modulo the width.
#include <algorithm>
#include <limits>
#include <optional>

#include "contract/graph_ranges.hpp"
#include "contract/registry.hpp"

namespace tern::contract {
namespace {

using detail::Elementary;
using Wide = __int128;

template <class T> inline constexpr int kBits = 8 * sizeof(T);
template <class T> T wrap(Wide v) { return static_cast<T>(static_cast<std::uint64_t>(v)); }

Wide floor_quotient(Wide a, Wide b) {
  if (b == 0) return 0;
  const Wide q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}
template <class T> Wide shifted(Elementary elementary, Wide a, Wide b) {
  const int count = static_cast<int>(static_cast<std::uint64_t>(b) & (kBits<T> - 1));
  if (elementary == Elementary::shift_left) return static_cast<Wide>(static_cast<unsigned __int128>(a) << count);
  return a >> count;  // arithmetic; of unsigned types a is not negative
}

/// elementary(a, b) for values of type T; none: not known for integers.
template <class T> std::optional<Wide> plain(Elementary elementary, Wide a, Wide b, Wide c) {
  switch (elementary) {
    case Elementary::add: return wrap<T>(a + b);
    case Elementary::sub: return wrap<T>(a - b);
    case Elementary::mul:
      return wrap<T>(static_cast<Wide>(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b)));
    case Elementary::neg: return wrap<T>(-a);
    case Elementary::abs: return wrap<T>(a < 0 ? -a : a);
    case Elementary::sign: return a > 0 ? 1 : a < 0 ? -1 : 0;
    case Elementary::floor_divide: return wrap<T>(floor_quotient(a, b));
    case Elementary::mod: return b == 0 ? 0 : a - floor_quotient(a, b) * b;
    case Elementary::equal: return a == b;
    case Elementary::not_equal: return a != b;
    case Elementary::less: return a < b;
    case Elementary::less_equal: return a <= b;
    case Elementary::greater: return a > b;
    case Elementary::greater_equal: return a >= b;
    case Elementary::where: return a ? b : c;
    case Elementary::maximum: return a > b ? a : b;
    case Elementary::minimum: return a < b ? a : b;
    case Elementary::floor:
    case Elementary::ceil:
    case Elementary::round:
    case Elementary::detach: return a;
    case Elementary::isnan:
    case Elementary::isinf: return 0;
    case Elementary::isfinite: return 1;
    case Elementary::signbit: return a < 0;
    case Elementary::bit_and: return a & b;
    case Elementary::bit_or: return a | b;
    case Elementary::bit_xor: return a ^ b;
    case Elementary::bit_not: return std::is_same_v<T, bool> ? Wide(!a) : Wide(wrap<T>(~a));
    case Elementary::shift_left:
    case Elementary::shift_right: return wrap<T>(shifted<T>(elementary, a, b));
    case Elementary::mul_high: return wrap<T>((a * b) >> 32);
    default: return {};
  }
}

template <class T> using Column = std::vector<T>;  // of bool: std::vector<bool>

template <class T> std::vector<Column<T>> integer_columns(int arity) {
  using Limits = std::numeric_limits<T>;
  const Wide low = Limits::min(), high = Limits::max();
  const std::vector<Wide> edges = {low, low + 1, low / 2, -2, -1, 0,        1,        2,   3,
                                   7,   31,      32,      33, 63, high / 2, high - 1, high};
  std::vector<Column<T>> columns(static_cast<std::size_t>(arity));
  std::size_t combinations = 1;
  for (int i = 0; i < arity; ++i) combinations *= edges.size();
  for (std::size_t c = 0; c < combinations; ++c) {
    std::size_t rest = c;
    for (auto& column : columns) column.push_back(wrap<T>(edges[rest % edges.size()])), rest /= edges.size();
  }
  const std::uint64_t count = kFewPoints ? 1 << 13 : 1 << 16;
  for (std::uint64_t r = 0; r < count; ++r)
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::uint64_t bits = random_bits(r * 4 + i);
      columns[i].push_back(static_cast<T>(r % 2 ? bits : bits % 41 - 20));
    }
  return columns;
}

/// A value of a graph: an integer, or (`real`) what a cast to f32 made of one.
struct Value {
  Wide integer = 0;
  std::optional<float> real = {};
};
std::optional<Value> in_f32(Elementary elementary, const Value* args) {
  const float a = *args[0].real, b = args[1].real.value_or(0.0f);
  switch (elementary) {
    case Elementary::sub: return Value{.real = a - b};
    case Elementary::abs: return Value{.real = a < 0 ? -a : a};
    case Elementary::less_equal: return Value{a <= b};
    default: return {};
  }
}
template <class T> std::optional<Value> value_of(const detail::Node& node, const Value* args) {
  if (node.elementary == Elementary::cast) {
    if (node.index < 0 || args[0].real) return {};
    if (static_cast<DType>(node.index) != DType::f32) return {};
    return Value{.real = static_cast<float>(args[0].integer)};
  }
  if (args[0].real) return in_f32(node.elementary, args);
  const std::optional<Wide> value = plain<T>(node.elementary, args[0].integer, args[1].integer, args[2].integer);
  return value ? std::optional(Value{*value}) : std::nullopt;
}

/// A graph on values of type T; none where an elementary function has no meaning for integers.
template <class T> std::optional<Wide> plain_graph(const Steps& steps, const std::vector<Wide>& x) {
  std::vector<Value> values;
  for (const Steps::Step& step : steps.list) {
    const detail::Node& node = *step.node;
    if (node.kind == detail::NodeKind::input) {
      values.push_back({x[static_cast<std::size_t>(node.index)]});
    } else if (node.kind == detail::NodeKind::constant) {
      if (!node.number.is_integer) return {};
      values.push_back({wrap<T>(node.number.integer)});
    } else {
      Value args[3] = {};
      for (std::size_t k = 0; k < std::min<std::size_t>(3, node.args.size()); ++k)
        args[k] = values[static_cast<std::size_t>(step.args[k])];
      const std::optional<Value> value = value_of<T>(node, args);
      if (!value) return {};
      values.push_back(*value);
    }
  }
  const Value& result = values[static_cast<std::size_t>(steps.outputs[0])];
  return result.real ? std::nullopt : std::optional(result.integer);
}

template <class T> std::vector<Wide> widened(const Tensor& t) {
  std::vector<Wide> values;
  if (t.dtype() == DType::boolean)
    for (const bool v : t.to_vector<bool>()) values.push_back(v);
  else
    for (const T v : t.template to_vector<T>()) values.push_back(v);
  return values;
}
std::string decimal(Wide v) {
  return v > std::numeric_limits<std::int64_t>::max() ? std::to_string(static_cast<std::uint64_t>(v))
                                                      : std::to_string(static_cast<std::int64_t>(v));
}

template <class T> void check_integers(const Subject& e, Device device) {
  const std::vector<Column<T>> columns = integer_columns<T>(e.arity());
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Tensor t = tensor(columns[i], Shape{columns[i].size()}, device);
    tensors.push_back(e.condition(static_cast<int>(i)) ? t != 0 : t);
  }
  Tensor y;
  try {
    y = call(e, tensors);
  } catch (const UnsupportedDType&) {
    return;                       // said so
  } catch (const Error& error) {  // a float formula on integers
    const bool said = error.kind() == ErrorKind::dtype || error.kind() == ErrorKind::unsupported;
    EXPECT_TRUE(said &&
                (!e.elementary || !e.takes_integers() || e.id == Elementary::mul_high || dtype_of<T> == DType::boolean))
        << e.name << ": " << error.what();
    if (!e.elementary) {
      EXPECT_FALSE(plain_graph<T>(Steps(e.graph()), std::vector<Wide>(columns.size())))
          << e.name << ": " << error.what();
    }
    return;
  }
  const Steps steps(e.graph());
  const std::vector<Wide> got = widened<T>(y);
  Report report(std::string(e.name) + " " + std::string(to_string(dtype_of<T>)) + " on " + device.to_string());
  for (std::size_t p = 0; p < got.size(); ++p) {
    std::vector<Wide> x;
    for (const auto& column : columns) x.push_back(column[p]);
    const std::optional<Wide> want = plain_graph<T>(steps, x);
    if (!want || got[p] != *want)
      report.add([&] {
        std::string line = "(";
        for (const Wide v : x) line += (line.size() > 1 ? ", " : "") + decimal(v);
        return line + ") got " + decimal(got[p]) + ", want " +
               (want ? decimal(*want) : "(no integer reference in this test)");
      });
  }
}

class Integers : public OnDevice {};
TEST_P(Integers, FollowTheDocumentedSemantics) {
  check_integers<std::int32_t>(entry(), device());
  try {
    zeros({1}, {.dtype = i64, .device = device()});
    check_integers<std::int64_t>(entry(), device());
  } catch (const UnsupportedDType& e) {
    EXPECT_EQ(e.dtype(), i64) << e.what();  // the device has none, and says so
  }
  check_integers<std::uint32_t>(entry(), device());
  check_integers<std::uint8_t>(entry(), device());
  check_integers<std::int8_t>(entry(), device());
  check_integers<std::int16_t>(entry(), device());
}
TERN_CONTRACT(Integers, entries_where([](const Subject& e) { return e.slope == 0; }));

class Booleans : public OnDevice {};
TEST_P(Booleans, FollowTheDocumentedSemantics) {
  const Subject& e = entry();
  std::vector<Tensor> tensors;
  std::vector<std::vector<bool>> columns(static_cast<std::size_t>(e.arity()));
  for (unsigned p = 0; p < 64; ++p)
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i].push_back(p >> i & 1);
  for (const auto& column : columns) tensors.push_back(tensor(column, Shape{64}, device()));
  Tensor y;
  try {
    y = call(e, tensors);
  } catch (const Error& error) {
    EXPECT_TRUE(error.kind() == ErrorKind::dtype || error.kind() == ErrorKind::unsupported) << error.what();
    EXPECT_TRUE(!e.elementary || (e.rule()->takes != detail::Takes::any && e.rule()->takes != detail::Takes::bits))
        << error.what();
    return;
  }
  if (!e.elementary && y.dtype() != DType::boolean) return;  // numbers in the formula made it a float
  ASSERT_EQ(to_string(y.dtype()), "boolean") << e.name;
  const Steps steps(e.graph());
  const std::vector<Wide> got = widened<bool>(y);
  Report report(std::string(e.name) + " of booleans");
  for (std::size_t p = 0; p < got.size(); ++p) {
    std::vector<Wide> x;
    for (const auto& column : columns) x.push_back(column[p]);
    const std::optional<Wide> want = plain_graph<bool>(steps, x);
    if (!want || got[p] != *want)
      report.add([&] {
        return "pattern " + std::to_string(p) + " got " + decimal(got[p]) + ", want " + (want ? decimal(*want) : "?");
      });
  }
}
TERN_CONTRACT(Booleans, entries_where([](const Subject& e) { return e.slope == 0; }));

}  // namespace
}  // namespace tern::contract
