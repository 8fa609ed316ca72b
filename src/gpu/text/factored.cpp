#include "gpu/text/factored.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "formula/rule.hpp"
#include "gpu/text/factored_lines.hpp"

namespace tern::detail_gpu {
namespace {

using detail::ComputeType;
using detail::Elementary;
using detail::Step;
using detail::StepKind;

template <class T> T& of(std::vector<T>& list, int i) { return list[static_cast<std::size_t>(i)]; }
/// Whether it was not in the list yet; then it is.
bool once(std::vector<int>& list, int i) {
  const bool first = std::find(list.begin(), list.end(), i) == list.end();
  if (first) list.push_back(i);
  return first;
}

/// What of a form's factor may be left out.
class LeftOutFactor {
 public:
  LeftOutFactor(const ProgramPrinter& printer, const LeftOut& left_out) : printer_(printer), left_out_(left_out) {}
  bool positive(const Form& form) const {
    return form.number > 0 && std::all_of(form.shared.begin(), form.shared.end(), [&](const SharedFactor& s) {
             return !s.inverse && step(s).kind == StepKind::param && left_out_.positive(step(s).index);
           });
  }
  /// Takes out of a form what of its factor may be left out.
  void take(Form& form, Factor& factor) const {
    if (left_out_.positive && !positive(form)) return;
    factor.number = std::exchange(form.number, 1.0);
    std::vector<SharedFactor> kept;
    for (const SharedFactor& s : form.shared) {
      if (s.inverse || step(s).kind != StepKind::param) {
        kept.push_back(s);
        continue;
      }
      factor.inputs.push_back(step(s).index);
      factor.text += cat(factor.text.empty() ? "" : " * ", printer_.expression(s.step));
    }
    form.shared = kept;
    if (factor.number != 1 || factor.inputs.empty())
      factor.text += cat(factor.text.empty() ? "" : " * ", number_text(factor.number));
  }
  /// 1 over the factor of a form.
  std::string inverse(const Form& form) const {
    return printer_.dialect().elementary(Elementary::div, ComputeType::f32, {number_text(1), form.scale()});
  }

 private:
  const Step& step(const SharedFactor& s) const { return printer_.program().steps[static_cast<std::size_t>(s.step)]; }

  const ProgramPrinter& printer_;
  const LeftOut& left_out_;
};

/// Prints one function.
class FactoredText {
 public:
  FactoredText(const ProgramPrinter& printer, const Neighbours& neighbours, int wanted,
               const std::function<bool(int)>& is_source, const LeftOut& left_out)
      : printer_(printer),
        neighbours_(neighbours),
        is_source_(is_source),
        wanted_(wanted),
        left_out_(left_out),
        factor_(printer, left_out) {
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
    factor_.take(rest, taken.factor);
    taken.apart = !form->beside.empty();
    if (part != Part::rest) {
      const Form& line = form->beside[0];
      const std::string factor = factor_.inverse(*form);
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
  const FactoredLines& lines() const { return lines_; }

 private:
  const Step& at(int i) const { return printer_.program().steps[static_cast<std::size_t>(i)]; }
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
    if (i == neighbours_.along) lines_.let(name, cat("first + i32(ahead)"));
    else if (is_source_(i)) return name;
    else if (form && is(i, ComputeType::f32) && varies(i)) lines_.let(name, form->text());
    else {
      each_argument(i, [&](int arg) { value(arg); });
      lines_.let(name, printer_.expression(i));
    }
    return name;
  }
  /// As a factor of f32, what the neighbours share: an integer converted.
  std::string shared_value(int i) {
    if (is(i, ComputeType::f32)) return value(i);
    if (const auto number = number_of(i)) return number_text(*number);
    const std::string name = cat("f", i);
    if (once(converted_, i)) lines_.let(name, cat("f32(", value(i), ")"));
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
      else if (s.elementary == Elementary::div && !varies(s.args[1])) form = scaled(taken(s.args[0]), s.args[1], true);
      else if (s.elementary == Elementary::neg) form = Form::negated(taken(s.args[0]));
      else if (s.elementary == Elementary::add || s.elementary == Elementary::sub)
        form = sum_or_apart(i, s.elementary == Elementary::sub);
      else if (s.elementary == Elementary::where) form = chosen(i);
    }
    if (form && form->factors.size() == 2 && of(users_, i) > 1) {
      form->factors = {lines_.named(join(form->factors, " * "))};
    }
    if (form) return form;
    each_argument(i, [&](int arg) { value(arg); });
    const std::string name = cat("v", i);
    lines_.let(name, printer_.expression(i)), of(there_, i) = 1;
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
      if (once(inverses_, by)) lines_.let(cat("w", by), cat("1.0f / ", divisor));
      form.shared.push_back({by, true});
    } else value(by), form.shared.push_back({by, false});
    if (form.line()) {
      const auto number = number_of(by);
      const std::string factor = number ? number_text(inverse ? 1 / *number : *number) : form.shared.back().text();
      form.first = lines_.named(cat(form.first, " * ", factor));
    }
    return form;
  }
  std::optional<Form> product(int a, int b) {
    if (!varies(a)) std::swap(a, b);
    if (!varies(b)) return scaled(taken(a), b, false);
    Form x = taken(a), y = taken(b);
    if (x.line()) x = Form::plain(lines_.one(x));
    if (y.line()) y = Form::plain(lines_.one(y));
    if (!is_normal(x.number * y.number)) return {};
    Form all;
    all.number = x.number * y.number;
    all.shared = x.shared, all.shared.insert(all.shared.end(), y.shared.begin(), y.shared.end());
    for (Form* form : {&x, &y}) {
      form->number = 1, form->shared.clear();
      all.factors.push_back(lines_.one(*form));
    }
    return all;
  }
  Form sum_or_apart(int i, bool minus) {
    const int a = at(i).args[0], b = at(i).args[1];
    if (left_out_.bare < 0) return sum(a, b, minus);
    for (const auto& [x, y] : {std::pair{a, b}, std::pair{b, a}}) {
      if (!varies(x) || (minus && x == b)) continue;
      Form form = *form_of(x), line = taken(y);
      const bool bare = !form.line() && form.factors == std::vector<std::string>{cat("v", left_out_.bare)};
      if (!bare || (varies(y) && !line.line()) || !factor_.positive(form)) continue;
      if (!form.beside.empty()) line = lines_.sum(form.beside[0], true, line, varies(y), minus);
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
    return lines_.sum(x, varies(a), y, varies(b), minus);
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
      std::vector<std::string> arguments{value(s.args[0]), lines_.one(inner), number_text(*number)};
      if (k == 2) std::swap(arguments[1], arguments[2]);
      form.factors = {lines_.named(printer_.dialect().elementary(s.elementary, s.type, arguments))};
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
    each_argument(i, [&](int arg) { arguments.push_back(lines_.one(taken(arg))); });
    return Form::plain(lines_.named(printer_.dialect().elementary(s.elementary, ComputeType::f32, arguments)));
  }

  const ProgramPrinter& printer_;
  const Neighbours& neighbours_;
  const std::function<bool(int)>& is_source_;
  const int wanted_;
  const LeftOut& left_out_;
  const LeftOutFactor factor_;
  std::vector<char> needed_, varies_, there_;
  std::vector<int> users_, inverses_, converted_;
  std::vector<std::optional<Form>> forms_;
  FactoredLines lines_;
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
  f.text = cat(printer.dialect().function_head(name, parameters, printer.type(wanted)), text.lines().before(result),
               "  return ", result, ";\n}\n");
  return f;
}

}  // namespace tern::detail_gpu
