#include "gpu/text/printer.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>

#include "formula/rule.hpp"
#include "gpu/text/known_range.hpp"
#include "gpu/text/spelling.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_gpu {

using detail::ComputeType;
using detail::Elementary;
using detail::Program;
using detail::Step;
using detail::StepKind;

namespace {

double real_of(const Number& n) { return n.is_integer ? static_cast<double>(n.integer) : n.real; }

/// A wrap to a 16-bit float in f64: integers on their way to f16 or bf16, rounded once.
bool rounds_integer(const Program& program, const Step& step) {
  if (step.kind != StepKind::wrap || step.type != ComputeType::f64 || dtype_size(step.dtype) != 2) return false;
  const Step& arg = program.steps[static_cast<std::size_t>(step.args[0])];
  return arg.kind == StepKind::convert && (arg.from == ComputeType::i32 || arg.from == ComputeType::u32);
}

}  // namespace

std::string extreme_literal(bool highest, ComputeType type) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (type) {
    case ComputeType::i64: return literal(Number(highest ? INT64_MAX : INT64_MIN), type);
    case ComputeType::u32: return highest ? "0xffffffffu" : "0u";
    case ComputeType::i32: return highest ? "bitcast<i32>(0x7fffffffu)" : "bitcast<i32>(0x80000000u)";
    default: return literal(Number(highest ? infinity : -infinity), type);
  }
}

std::string literal(const Number& number, ComputeType type) {
  char text[48];
  if (type == ComputeType::f64) {
    const double value = real_of(number);
    std::snprintf(text, sizeof text, "bitcast<f64>(0x%016llxull)",
                  static_cast<unsigned long long>(std::bit_cast<std::uint64_t>(value)));
    return text;
  }
  if (type == ComputeType::f32) {
    const float value = static_cast<float>(real_of(number));
    if (!std::isfinite(value) || (value != 0 && std::abs(value) < 0x1p-126f) || (value == 0 && std::signbit(value))) {
      std::snprintf(text, sizeof text, "tern_from_bits(0x%08xu)", std::bit_cast<std::uint32_t>(value));
    } else {
      std::snprintf(text, sizeof text, "f32(%.9g)", static_cast<double>(value));
      if (std::string_view(text).find_first_of(".e") == std::string_view::npos)
        std::snprintf(text, sizeof text, "f32(%.1f)", static_cast<double>(value));
    }
    return text;
  }
  const std::int64_t value = number.is_integer ? number.integer : static_cast<std::int64_t>(number.real);
  if (type == ComputeType::i64) return cat("bitcast<i64>(", static_cast<std::uint64_t>(value), "ull)");
  const auto bits = static_cast<std::uint32_t>(static_cast<std::uint64_t>(value));
  std::snprintf(text, sizeof text, type == ComputeType::u32 ? "%uu" : "bitcast<i32>(%uu)", bits);
  return text;
}

ComputeType kernel_type(const Step& step, bool native) {
  const ComputeType type = step.result_type();
  return type == ComputeType::f64 && !native ? ComputeType::f32 : type;
}

DType unsupported_dtype(const Program& program) {
  for (const Step& step : program.steps) {
    const ComputeType type = step.result_type();
    if (type == ComputeType::i64) return DType::i64;
    if (type != ComputeType::f64) continue;
    const bool passes = rounds_integer(program, step);
    const bool prepares =
        step.kind == StepKind::convert && (step.from == ComputeType::i32 || step.from == ComputeType::u32);
    if (!passes && !prepares) return DType::f64;
  }
  for (const Step& step : program.steps)  // f64 for anything else than that
    if (step.kind == StepKind::elementary || step.kind == StepKind::reduce)
      if (detail::is_wide(step.type)) return step.type == ComputeType::i64 ? DType::i64 : DType::f64;
  return DType::f32;
}

std::string ProgramPrinter::type(int step) const { return compute_type_name(kernel_type(at(step), dialect_.native())); }

std::string ProgramPrinter::identity(int step) const {
  const Step& s = at(step);
  const double value = detail::rule_of(s.elementary).identity;
  return std::isfinite(value) ? literal(Number(value), s.type) : extreme_literal(value > 0, s.type);
}

std::string ProgramPrinter::combined(int step, const std::string& a, const std::string& b) const {
  return dialect_.elementary(at(step).elementary, at(step).type, {a, b});
}

std::string ProgramPrinter::wrapped(const Step& step) const {
  const std::string x = name_of(step.args[0]);
  switch (step.dtype) {
    case DType::f16:
    case DType::bf16: {
      const bool half = step.dtype == DType::f16;
      const char* name = half ? "f16" : "bf16";
      if (step.type == ComputeType::f64 && dialect_.native())
        return cat("f64(tern_", name, "_bits_to_f32(tern_f64_to_", name, "_bits(", x, ")))");
      if (step.type == ComputeType::f64) {
        const Step& convert = at(step.args[0]);
        const std::string integer = name_of(convert.args[0]);
        if (!half) return cat("tern_", compute_type_name(convert.from), "_to_bf16(", integer, ")");
        return cat("tern_f16_bits_to_f32(tern_f32_to_f16_bits(f32(", integer, ")))");  // 24 bits hold every f16 integer
      }
      return cat("tern_", name, "_bits_to_f32(tern_f32_to_", name, "_bits(", x, "))");
    }
    case DType::u8: return step.saturate ? cat("clamp(", x, ", 0, 255)") : cat("(", x, " & 255)");
    case DType::i8: return step.saturate ? cat("clamp(", x, ", -128, 127)") : cat("((", x, " << 24u) >> 24u)");
    case DType::i16: return step.saturate ? cat("clamp(", x, ", -32768, 32767)") : cat("((", x, " << 16u) >> 16u)");
    default: return x;
  }
}

std::string ProgramPrinter::expression(int index) const {
  const Step& step = at(index);
  const auto slot = static_cast<std::size_t>(index);
  const auto arg = [&](int i) { return name_of(step.args[i]); };
  switch (step.kind) {
    case StepKind::number: return literal(step.number, kernel_type(step, dialect_.native()));
    case StepKind::param:
      if (detail::is_wide(kernel_type(step, dialect_.native())))
        return cat("bitcast<", type(index), ">(tern_join(", dialect_.param(slots_[slot]), ", ",
                   dialect_.param(slots_[slot] + 1), "))");
      return cat("bitcast<", type(index), ">(", dialect_.param(slots_[slot]), ")");
    case StepKind::extent: return cat(type(index), "(", dialect_.param(slots_[slot]), ")");
    case StepKind::wrap: return wrapped(step);
    case StepKind::convert:
      if (step.from == ComputeType::f64 && !dialect_.native()) return arg(0);
      if (detail::is_float(step.from) && !detail::is_float(step.type))
        return cat("tern_", compute_type_name(step.from), "_to_", compute_type_name(step.type), "(", arg(0), ")");
      return cat(compute_type_name(kernel_type(step, dialect_.native())), "(", arg(0), ")");
    case StepKind::elementary: {
      std::vector<std::string> arguments;
      for (int i = 0; i < 3 && step.args[i] >= 0; ++i) arguments.push_back(arg(i));
      std::string value;
      if (arguments.size() == 2)
        if (const Step& second = at(step.args[1]); second.kind == StepKind::number)
          value = dialect_.elementary_of_number(step.elementary, step.type, arguments, second.number);
      // In both languages, with the same bits; the range is only looked for where there is such a function.
      if (const std::string shorter = cat(wgsl_name(step.elementary), "_of_moderate");
          arguments.size() == 1 && !wgsl_function(shorter).empty() && is_moderate(program_, step.args[0]))
        value = cat(shorter, "(", arguments[0], ")");
      if (value.empty()) value = dialect_.elementary(step.elementary, step.type, arguments);
      return detail::rule_of(step.elementary).gives == detail::Gives::predicate ? cat("i32", value) : value;
    }
    default: return "";  // inputs, positions and reductions are sources
  }
}

std::vector<char> needed_steps(const Program& program, const std::vector<int>& wanted,
                               const std::function<bool(int)>& is_source) {
  std::vector<char> needed(program.steps.size());
  for (const int step : wanted) needed[static_cast<std::size_t>(step)] = 1;
  for (int i = static_cast<int>(program.steps.size()) - 1; i >= 0; --i) {
    if (!needed[static_cast<std::size_t>(i)] || is_source(i)) continue;
    for (const int arg : program.steps[static_cast<std::size_t>(i)].args)
      if (arg >= 0) needed[static_cast<std::size_t>(arg)] = 1;
  }
  return needed;
}

std::vector<int> sources_of(const Program& program, const std::vector<int>& wanted,
                            const std::function<bool(int)>& is_source) {
  const std::vector<char> needed = needed_steps(program, wanted, is_source);
  std::vector<int> sources;
  for (int i = 0; i < static_cast<int>(needed.size()); ++i)
    if (needed[static_cast<std::size_t>(i)] && is_source(i)) sources.push_back(i);
  return sources;
}

const Dialect& dialect_for(const Dialect& dialect, const Program& program, const std::vector<int>& wanted) {
  for (const detail::ProgramOutput& output : program.outputs)
    if (std::find(wanted.begin(), wanted.end(), output.step) != wanted.end() && output.dtype != DType::f16 &&
        output.dtype != DType::bf16)
      return dialect;
  for (const int step : wanted)  // a part of a program: what it hands on is f32
    if (std::none_of(program.outputs.begin(), program.outputs.end(), [&](const auto& o) { return o.step == step; }))
      return dialect;
  return dialect.for_halves();
}

std::vector<int> ProgramPrinter::joined_products(const std::vector<char>& needed, const std::vector<int>& wanted,
                                                 const std::function<bool(int)>& is_source) const {
  const auto n = static_cast<int>(program_.steps.size());
  std::vector<int> joined(program_.steps.size(), -1), users(program_.steps.size());
  // Programs that reduce are printed in several functions, in which a step must not have two values.
  if (!dialect_.joins_products() || program_.reduces || wanted.size() != program_.outputs.size()) return joined;
  for (int i = 0; i < n; ++i)
    if (needed[static_cast<std::size_t>(i)] && !is_source(i))
      for (const int arg : at(i).args)
        if (arg >= 0) ++users[static_cast<std::size_t>(arg)];
  for (const int step : wanted) ++users[static_cast<std::size_t>(step)];
  const auto is = [&](int i, Elementary elementary) {
    return !is_source(i) && at(i).kind == StepKind::elementary && at(i).elementary == elementary &&
           at(i).type == ComputeType::f32;
  };
  for (int i = 0; i < n; ++i) {
    if (!needed[static_cast<std::size_t>(i)] || (!is(i, Elementary::add) && !is(i, Elementary::sub))) continue;
    for (const int k : {0, 1}) {
      const int product = at(i).args[k];
      if (is(product, Elementary::mul) && users[static_cast<std::size_t>(product)] == 1 &&
          at(at(i).args[1 - k]).kind == StepKind::number)
        joined[static_cast<std::size_t>(i)] = product;
    }
  }
  return joined;
}

std::string ProgramPrinter::sum_of_product(int index, const std::vector<int>& joined) const {
  const Step& step = at(index);
  const int product = joined[static_cast<std::size_t>(index)];
  const bool first = step.args[0] == product, subtracts = step.elementary == Elementary::sub;
  return cat("fma(", subtracts && !first ? "-" : "", name_of(at(product).args[0]), ", ", name_of(at(product).args[1]),
             ", ", subtracts && first ? "-" : "", name_of(step.args[first ? 1 : 0]), ")");
}

std::string ProgramPrinter::lines(const std::vector<char>& needed, const std::vector<int>& wanted,
                                  const std::function<bool(int)>& is_source) const {
  const std::vector<int> joined = joined_products(needed, wanted, is_source);
  std::string text;
  for (int i = 0; i < static_cast<int>(program_.steps.size()); ++i)
    if (needed[static_cast<std::size_t>(i)] && !is_source(i) &&
        std::find(joined.begin(), joined.end(), i) == joined.end())
      text += cat("  let ", name_of(i), " = ",
                  joined[static_cast<std::size_t>(i)] < 0 ? expression(i) : sum_of_product(i, joined), ";\n");
  return text;
}

std::string ProgramPrinter::pure_function(const std::string& name, int wanted) const {
  const auto is_source = [this](int i) { return at(i).kind == StepKind::input; };
  std::vector<TypedName> parameters;
  for (int i = 0; i < static_cast<int>(program_.steps.size()); ++i)
    if (is_source(i)) parameters.push_back({type(i), name_of(i)});
  return dialect_.pure_function_head(name, parameters, type(wanted)) +
         lines(needed_steps(program_, {wanted}, is_source), {wanted}, is_source) +
         cat("  return ", name_of(wanted), ";\n}\n");
}

Function ProgramPrinter::function(const std::string& name, const std::vector<int>& wanted,
                                  const std::function<bool(int)>& is_source) const {
  const std::vector<char> needed = needed_steps(program_, wanted, is_source);
  Function f{name, "", {}, wanted};
  std::vector<TypedName> parameters;
  for (int i = 0; i < static_cast<int>(program_.steps.size()); ++i)
    if (needed[static_cast<std::size_t>(i)] && is_source(i))
      f.sources.push_back(i), parameters.push_back({type(i), name_of(i)});
  const std::string body = lines(needed, wanted, is_source);
  std::string result = type(wanted[0]), value = name_of(wanted[0]);
  if (wanted.size() > 1) {
    std::vector<TypedName> fields;
    std::vector<std::string> values;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      fields.push_back({type(wanted[i]), cat("r", i)}), values.push_back(name_of(wanted[i]));
    result = cat("Result_", name);
    f.text = dialect_.structure(result, fields);
    value = dialect_.construct(result, values);
  }
  f.text += dialect_.function_head(name, parameters, result) + body + "  return " + value + ";\n}\n";
  return f;
}

std::string ProgramPrinter::result(const Function& function, const std::string& value, std::size_t i) {
  return function.results.size() > 1 ? cat(value, ".r", i) : value;
}

}  // namespace tern::detail_gpu
