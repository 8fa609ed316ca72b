#include "formula/types.hpp"

#include "tern/error.hpp"

namespace tern::detail {
namespace {

bool boolean_number(const Node& node) {
  return node.kind == NodeKind::constant && node.number.is_integer &&
         (node.number.integer == 0 || node.number.integer == 1);
}

}  // namespace

DType reduced_dtype(Elementary elementary, DType dtype) {
  const bool accumulates = elementary == Elementary::sum || elementary == Elementary::prod;
  const bool narrow = dtype == DType::boolean || (is_integer(dtype) && dtype_size(dtype) < 4);
  return accumulates && narrow ? DType::i32 : dtype;
}

Types::Types(const char* op, std::span<const InputType> inputs) : op_(op), inputs_(inputs) {
  bool found = false;
  for (const InputType& input : inputs_) {
    if (input.number || input.dtype == DType::boolean) continue;
    default_ = found ? promote_types(default_, input.dtype) : input.dtype;
    found = true;
  }
  all_boolean_ = !found;
}

void Types::fail(const std::string& message) const {
  throw Error(ErrorKind::dtype, std::string(op_) + ": " + message);
}

Type Types::unify(const Node& node, std::size_t first) const {
  Type result{DType::boolean, true};
  bool any_boolean = false;
  for (std::size_t i = first; i < node.args.size(); ++i) {
    const Type t = of(node.args[i]);
    if (t.weak) continue;
    if (t.dtype == DType::boolean) {
      any_boolean = true;
    } else {
      result = {result.weak ? t.dtype : promote_types(result.dtype, t.dtype), false};
    }
  }
  if (!result.weak || !any_boolean) return result;
  if (all_boolean_) return {DType::boolean, false};  // no operand has another dtype that numbers could take
  for (std::size_t i = first; i < node.args.size(); ++i)  // booleans and numbers only
    if (of(node.args[i]).weak && !boolean_number(*node.args[i])) return {DType::boolean, true};
  return {DType::boolean, false};
}

void Types::check(const Node& node, const Rule& rule, Type t) const {
  const DType dtype = t.weak ? default_ : t.dtype;
  const std::string got = " of dtype " + std::string(to_string(dtype));
  const std::string what = std::string(rule.name) == op_ ? "" : std::string(rule.name) + " ";
  const bool ok = rule.takes == Takes::any || (rule.takes == Takes::numeric && dtype != DType::boolean) ||
                  (rule.takes == Takes::floating && is_floating(dtype)) ||
                  (rule.takes == Takes::integral && is_integer(dtype)) ||
                  (rule.takes == Takes::bits && !is_floating(dtype));
  if (ok || rule.reduction) return;
  if (rule.takes == Takes::floating)
    fail(what + "needs floating-point operands, got one" + got + "; convert it with .to(f32)" +
         (node.elementary == Elementary::div ? ", or use floor_divide for integers" : ""));
  if (rule.takes == Takes::numeric)
    fail(what + "does not take operands" + got + "; convert them with .to(f32) or .to(i32)");
  fail(what + "needs integers" + (rule.takes == Takes::bits ? " or booleans" : "") + ", got an operand" + got);
}

Type Types::infer(const Node& node) const {
  switch (node.kind) {
    case NodeKind::input: {
      const InputType& input = inputs_[static_cast<std::size_t>(node.index)];
      return {input.dtype, input.number};
    }
    case NodeKind::constant:
    case NodeKind::extent: return {default_, true};
    case NodeKind::call:  // inlined before
    case NodeKind::elementary: break;
  }
  if (node.elementary == Elementary::index) return {DType::i32, false};
  if (node.elementary == Elementary::cast)
    return {node.index >= 0 ? static_cast<DType>(node.index) : concrete(node.args[1]), false};
  const Rule& rule = rule_of(node.elementary);
  const bool chooses = rule.gives == Gives::branch;
  if (chooses && concrete(node.args[0]) != DType::boolean)
    fail("where needs a boolean condition, got " + std::string(to_string(concrete(node.args[0]))));
  const Type type = unify(node, chooses ? 1 : 0);
  check(node, rule, type);
  if (rule.gives == Gives::predicate) return {DType::boolean, false};
  if (rule.reduction) return {reduced_dtype(node.elementary, type.weak ? default_ : type.dtype), false};
  return type;
}

}  // namespace tern::detail
