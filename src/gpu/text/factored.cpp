#include "gpu/text/factored.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "formula/rule.hpp"
#include "gpu/text/factored_form.hpp"

namespace tern::detail_gpu {
namespace {

using detail::ComputeType;
using detail::Elementary;
using detail::Step;
using detail::StepKind;

/// Prints one function. (Longer than other classes: each rule may give its arguments names, lines of the text, before
/// it decides what form its value has, so that all of them would need all of what it holds.)
class FactoredText {
 public:
  FactoredText(const ProgramPrinter& printer, const Neighbours& neighbours, int wanted,
               const std::function<bool(int)>& is_source, const LeftOut& left_out)
      : printer_(printer), neighbours_(neighbours), is_source_(is_source), wanted_(wanted), left_out_(left_out) {
    const detail::Program& program = printer.program();
    needed_ = needed_steps(program, {wanted}, is_source);
    const std::size_t n = program.steps.size();
    varies_.resize(n), there_.resize(n), users_.resize(n), forms_.resize(n);
    ++of(users_, wanted);
    const auto each_needed = [&](auto visit) {
      for (int i = 0; i < static_cast<int>(n); ++i)
        if (needed_[static_cast<std::size_t>(i)]) visit(i);
    };
    each_needed([&](int i) {
      if (!is_source(i)) each_argument(i, [&](int arg) { ++of(users_, arg); });
    });
    each_needed([&](int i) { add(i); });
  }
  /// What is left of the result, or a part that is left out.
  std::string result(Part part, Taken& taken) {
    const Form* const form = form_of(wanted_);
    if (!form || form->line() || !left_out_.factor) return value(wanted_);
    Form rest = *form;
    take_factor(rest, taken.factor);
    taken.apart = !form->beside.empty();
    if (part != Part::rest) {
      const Form& line = form->beside[0];
      const std::string factor = rest_of_factor(*form);
      return cat(part == Part::along ? line.scale() : line.first, " * ", factor);
    }
    return taken.apart ? rest.factors[0] : taken.factor.trivial() ? value(wanted_) : rest.text();
  }
  std::vector<int> sources() const {
    std::vector<int> all;
    for (int i = 0; i < static_cast<int>(needed_.size()); ++i)
      if (needed_[static_cast<std::size_t>(i)] && is_source_(i)) all.push_back(i);
    return all;
  }
  /// The lines whose names `result`, or a line after them, asks for.
  std::string lines(const std::string& result) const {
    std::string asked = result, text;
    for (auto line = lines_.rbegin(); line != lines_.rend(); ++line) {
      if (!names(asked, line->first)) continue;
      asked += cat(" ", line->second);
      text = cat("  let ", line->first, " = ", line->second, ";\n", text);
    }
    return text;
  }

 private:
  const Step& at(int i) const { return printer_.program().steps[static_cast<std::size_t>(i)]; }
  template <class T> static T& of(std::vector<T>& list, int i) { return list[static_cast<std::size_t>(i)]; }
  template <class Visit> void each_argument(int i, Visit visit) const {
    for (const int arg : at(i).args)
      if (arg >= 0) visit(arg);
  }
  bool varies(int i) const { return varies_[static_cast<std::size_t>(i)]; }
  bool is(int i, ComputeType type) const { return at(i).result_type() == type; }
  std::optional<double> number_of(int i) const {
    const Step& s = at(i);
    if (s.kind != StepKind::number) return {};
    return s.number.is_integer ? static_cast<double>(s.number.integer) : s.number.real;
  }
  bool positive(const Form& form) const {
    return form.number > 0 && std::all_of(form.shared.begin(), form.shared.end(), [&](const SharedFactor& s) {
             return !s.inverse && at(s.step).kind == StepKind::param && left_out_.positive(at(s.step).index);
           });
  }
  /// Takes out of a form what of its factor may be left out.
  void take_factor(Form& form, Factor& factor) const {
    if (left_out_.positive && !positive(form)) return;
    factor.number = std::exchange(form.number, 1.0);
    std::vector<SharedFactor> kept;
    for (const SharedFactor& s : form.shared) {
      if (s.inverse || at(s.step).kind != StepKind::param) {
        kept.push_back(s);
        continue;
      }
      factor.inputs.push_back(at(s.step).index);
      factor.text += cat(factor.text.empty() ? "" : " * ", printer_.expression(s.step));
    }
    form.shared = kept;
    if (factor.number != 1 || factor.inputs.empty())
      factor.text += cat(factor.text.empty() ? "" : " * ", number_text(factor.number));
  }
  /// 1 over the factor of a form.
  std::string rest_of_factor(const Form& form) const {
    return printer_.dialect().elementary(Elementary::div, ComputeType::f32, {number_text(1), form.scale()});
  }
  void let(const std::string& name, const std::string& text) { lines_.emplace_back(name, text); }
  static bool names(const std::string& text, const std::string& name) {
    const auto in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
      const std::size_t end = at + name.size();
      if ((at == 0 || !in_name(text[at - 1])) && (end == text.size() || !in_name(text[end]))) return true;
    }
    return false;
  }

  /// Whether it was not in the list yet; then it is.
  static bool once(std::vector<int>& list, int i) {
    const bool first = std::find(list.begin(), list.end(), i) == list.end();
    if (first) list.push_back(i);
    return first;
  }
  /// Its form, where it has one.
  const Form* form_of(int i) const {
    const std::optional<Form>& form = forms_[static_cast<std::size_t>(i)];
    return form ? &*form : nullptr;
  }
  /// Its value by name, of its own type.
  std::string value(int i) {
    const std::string name = cat("v", i);
    if (of(there_, i)) return name;
    of(there_, i) = 1;
    const Form* const form = form_of(i);
    if (i == neighbours_.along) let(name, cat("first + i32(ahead)"));
    else if (is_source_(i)) return name;
    else if (form && is(i, ComputeType::f32) && varies(i)) let(name, form->text());
    else {
      each_argument(i, [&](int arg) { value(arg); });
      let(name, printer_.expression(i));
    }
    return name;
  }
  /// As a factor of f32, what the neighbours share: an integer converted.
  std::string shared_value(int i) {
    if (is(i, ComputeType::f32)) return value(i);
    if (const auto number = number_of(i)) return number_text(*number);
    const std::string name = cat("f", i);
    if (once(converted_, i)) let(name, cat("f32(", value(i), ")"));
    return name;
  }
  /// One name for it, f32.
  std::string one(const Form& form) {
    if (!form.product() && !form.line()) return form.factors[0];
    const std::string name = cat("t", next_++);
    let(name, form.text());
    return name;
  }
  /// The form of an argument; f32 text of what is the same for all neighbours is its only factor.
  Form taken(int i) {
    if (varies(i) && !form_of(i)->beside.empty()) return Form::plain(value(i));
    if (varies(i)) return *form_of(i);
    Form form = Form::plain(shared_value(i));
    if (const Form* const known = form_of(i)) form.most = known->most;
    return form;
  }

  void add(int i) {
    const Step& s = at(i);
    const bool source = is_source_(i);
    if (source) of(varies_, i) = i == neighbours_.along || neighbours_.vary(i);
    else each_argument(i, [&](int arg) { of(varies_, i) |= of(varies_, arg); });
    if (is(i, ComputeType::i32)) of(forms_, i) = integer(i);
    else if (is(i, ComputeType::f32) && varies(i)) of(forms_, i) = source ? Form::plain(cat("v", i)) : real(i);
    const bool waits = form_of(i) || source || !varies(i) || s.kind == StepKind::number;
    if (!waits) value(i);
  }

  std::optional<Form> real(int i) {
    const Step& s = at(i);
    std::optional<Form> form;
    if (s.kind == StepKind::convert && s.from == ComputeType::i32 && form_of(s.args[0])) {
      form = taken(s.args[0]), form->most = kExact + 1;
    } else if (s.kind == StepKind::elementary && s.type == ComputeType::f32) {
      if (s.elementary == Elementary::mul) form = product(s.args[0], s.args[1]);
      else if (s.elementary == Elementary::div) form = quotient(s.args[0], s.args[1]);
      else if (s.elementary == Elementary::neg) form = Form::negated(taken(s.args[0]));
      else if (s.elementary == Elementary::add || s.elementary == Elementary::sub)
        form = sum_or_apart(i, s.elementary == Elementary::sub);
      else if (s.elementary == Elementary::where) form = chosen(i);
    }
    if (form && form->factors.size() == 2 && of(users_, i) > 1) {
      const std::string name = cat("t", next_++);
      let(name, join(form->factors, " * "));
      form->factors = {name};
    }
    if (form) return form;
    each_argument(i, [&](int arg) { value(arg); });
    const std::string name = cat("v", i);
    let(name, printer_.expression(i)), of(there_, i) = 1;
    return Form::plain(name);
  }
  /// times what the neighbours share.
  std::optional<Form> scaled(Form form, int by, bool inverse) {
    if (const auto number = number_of(by)) {
      const double factor = inverse ? 1 / *number : *number;
      if (!is_normal(factor) || !is_normal(form.number * factor)) return {};
      form.number *= factor;
    } else if (inverse) {
      const std::string divisor = value(by);
      if (once(inverses_, by)) let(cat("w", by), cat("1.0f / ", divisor));
      form.shared.push_back({by, true});
    } else value(by), form.shared.push_back({by, false});
    if (form.line()) {
      const std::string name = cat("t", next_++);
      let(name,
          cat(form.first, " * ",
              number_of(by) ? number_text(inverse ? 1 / *number_of(by) : *number_of(by)) : form.shared.back().text()));
      form.first = name;
    }
    return form;
  }
  std::optional<Form> product(int a, int b) {
    if (!varies(a)) std::swap(a, b);
    if (!varies(b)) return scaled(taken(a), b, false);
    Form x = taken(a), y = taken(b);
    if (x.line()) x = Form::plain(one(x));
    if (y.line()) y = Form::plain(one(y));
    if (!is_normal(x.number * y.number)) return {};
    Form all;
    all.number = x.number * y.number;
    all.shared = x.shared, all.shared.insert(all.shared.end(), y.shared.begin(), y.shared.end());
    for (Form* form : {&x, &y}) {
      form->number = 1, form->shared.clear();
      all.factors.push_back(one(*form));
    }
    return all;
  }
  std::optional<Form> quotient(int a, int b) {
    if (varies(b)) return {};
    return scaled(taken(a), b, true);
  }
  Form sum_or_apart(int i, bool minus) {
    const int a = at(i).args[0], b = at(i).args[1];
    if (left_out_.bare < 0) return sum(a, b, minus);
    for (const auto& [x, y] : {std::pair{a, b}, std::pair{b, a}}) {
      if (!varies(x) || (minus && x == b)) continue;
      Form form = *form_of(x), line = taken(y);
      const bool bare = !form.line() && form.factors == std::vector<std::string>{cat("v", left_out_.bare)};
      if (!bare || (varies(y) && !line.line()) || !positive(form)) continue;
      if (!form.beside.empty()) line = sum_of(form.beside[0], true, line, varies(y), minus);
      else if (!line.line()) line.first = line.factors[0], line.number = 0;
      if (!line.line()) continue;
      form.beside = {minus && form.beside.empty() ? Form::negated(line) : line};
      return form;
    }
    return sum(a, b, minus);
  }
  /// a + b or a - b.
  Form sum(int a, int b, bool minus) {
    const Form x = taken(a), y = taken(b);
    return sum_of(x, varies(a), y, varies(b), minus);
  }
  Form sum_of(const Form& x, bool x_varies, const Form& y, bool y_varies, bool minus) {
    const char* const sign = minus ? " - " : " + ";
    const bool lines = (x.line() || !x_varies) && (y.line() || !y_varies);
    if (lines && (!x.line() || !y.line() || (x.shared.empty() && y.shared.empty()))) {
      Form form = x.line() ? x : minus ? Form::negated(y) : y;
      if (x.line() && y.line()) form.number = minus ? x.number - y.number : x.number + y.number;
      const std::string name = cat("t", next_++);
      let(name, cat(x.line() ? x.first : x.factors[0], sign, y.line() ? y.first : y.factors[0]));
      form.first = name;
      return form;
    }
    const bool first = x.product() && x_varies;
    const Form &product = first ? x : y, &other = first ? y : x;
    if (first || (y.product() && y_varies)) {
      const bool two = product.factors.size() == 2 && !product.scaled();
      Form rest = product;
      rest.number = 1, rest.shared.clear();
      const std::string left = two ? product.factors[0] : one(rest), right = two ? product.factors[1] : product.scale(),
                        added = one(other);
      const std::string name = cat("t", next_++);
      let(name,
          cat("fma(", minus && !first ? "-" : "", left, ", ", right, ", ", minus && first ? "-" : "", added, ")"));
      return Form::plain(name);
    }
    const std::string left = one(x), right = one(y), name = cat("t", next_++);
    let(name, cat(left, sign, right));
    return Form::plain(name);
  }
  /// where(c, x, 0), and where(c, x, ±infinity), are multiples of what x is a multiple of.
  std::optional<Form> chosen(int i) {
    const Step& s = at(i);
    for (const int k : {1, 2}) {
      const auto number = number_of(s.args[3 - k]);
      if (!number || !varies(s.args[k])) continue;
      Form form = taken(s.args[k]);
      if (form.line() || !form.scaled()) continue;
      if (*number != 0 && !(std::isinf(*number) && form.shared.empty() && form.number > 0)) continue;
      Form inner = form;
      inner.number = 1, inner.shared.clear();
      std::vector<std::string> arguments{value(s.args[0]), one(inner), number_text(*number)};
      if (k == 2) std::swap(arguments[1], arguments[2]);
      const std::string name = cat("t", next_++);
      let(name, printer_.dialect().elementary(s.elementary, s.type, arguments));
      form.factors = {name};
      return form;
    }
    return {};
  }

  /// An integer in f32, where that is exact.
  std::optional<Form> integer(int i) {
    const Step& s = at(i);
    if (const auto number = number_of(i)) return Form::bounded(Form(), std::abs(*number));
    if (s.kind == StepKind::position) {
      if (!neighbours_.few) return {};
      Form form;
      if (i == neighbours_.along) form.first = "f32(first)";
      else if (varies(i)) return {};
      return Form::bounded(form, kFewPositions);
    }
    if (is_source_(i) || s.kind != StepKind::elementary || s.type != ComputeType::i32) return {};
    std::vector<Form> of;
    for (const int arg : s.args) {
      if (arg < 0) continue;
      if (!form_of(arg)) return {};
      of.push_back(*form_of(arg));
    }
    const double most = Form::largest(s.elementary, of);
    if (!(most <= kExact)) return {};
    return Form::bounded(varies(i) ? exact(i) : Form(), most);
  }
  Form exact(int i) {
    const Step& s = at(i);
    if (s.elementary == Elementary::add || s.elementary == Elementary::sub)
      return sum(s.args[0], s.args[1], s.elementary == Elementary::sub);
    if (s.elementary == Elementary::neg) return Form::negated(taken(s.args[0]));
    if (s.elementary == Elementary::mul)
      for (const int k : {0, 1})
        if (number_of(s.args[k]).value_or(0) != 0) return *scaled(taken(s.args[1 - k]), s.args[k], false);
    std::vector<std::string> arguments;
    each_argument(i, [&](int arg) { arguments.push_back(one(taken(arg))); });
    const std::string name = cat("t", next_++);
    let(name, printer_.dialect().elementary(s.elementary, ComputeType::f32, arguments));
    return Form::plain(name);
  }

  const ProgramPrinter& printer_;
  const Neighbours& neighbours_;
  const std::function<bool(int)>& is_source_;
  const int wanted_;
  const LeftOut& left_out_;
  std::vector<char> needed_, varies_, there_;
  std::vector<int> users_, inverses_, converted_;
  std::vector<std::optional<Form>> forms_;
  std::vector<std::pair<std::string, std::string>> lines_;
  int next_ = 0;
};

}  // namespace

Function factored_function(const ProgramPrinter& printer, const Neighbours& neighbours, const std::string& name,
                           int wanted, const std::function<bool(int)>& is_source, const LeftOut& left_out, Part part,
                           Taken* taken) {
  FactoredText text(printer, neighbours, wanted, is_source, left_out);
  Function f{name, "", text.sources(), {wanted}};
  std::vector<TypedName> parameters;
  for (const int s : f.sources)
    parameters.push_back({printer.type(s), s == neighbours.along ? std::string("first") : cat("v", s)});
  parameters.push_back({"u32", "ahead"});
  Taken apart;
  const std::string result = text.result(part, taken ? *taken : apart);
  f.text = cat(printer.dialect().function_head(name, parameters, printer.type(wanted)), text.lines(result), "  return ",
               result, ";\n}\n");
  return f;
}

}  // namespace tern::detail_gpu
