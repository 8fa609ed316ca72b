// einsum: the letters of an equation, and each contraction as a product of matrices.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>

#include "ops/matrices/contraction_order.hpp"
#include "primitives/fused/operation.hpp"
#include "primitives/gemm/operation.hpp"
#include "tern/products.hpp"

namespace tern::detail {
namespace {

constexpr const char* kEinsum = "einsum";

/// Labels from here on: so many axes before the last one that "..." stands for.
constexpr Label kEllipsis = 1 << 8;

std::string text_of(Label label) {
  return label < kEllipsis ? std::string("'") + static_cast<char>(label) + "'"
                           : "axis " + std::to_string(-1 - (label - kEllipsis)) + " of ...";
}

/// What is written between the commas of an equation.
struct Term {
  Labels letters;
  int ellipsis = -1;  // how many letters stand before "..."; -1: it has none
};

[[noreturn]] void fail(ErrorKind kind, std::string_view equation, const std::string& message) {
  throw Error(kind, std::string(kEinsum) + " \"" + std::string(equation) + "\": " + message);
}
/// An equation that has no meaning, whatever the operands are.
[[noreturn]] void fail_equation(std::string_view equation, const std::string& message) {
  fail(ErrorKind::value, equation, message);
}
[[noreturn]] void fail_shapes(std::string_view equation, const std::string& message) {
  fail(ErrorKind::shape, equation, message);
}

Term parsed(std::string_view equation, std::string_view text) {
  Term term;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      term.letters.push_back(c);
    } else if (text.substr(i, 3) == "..." && term.ellipsis < 0) {
      term.ellipsis = static_cast<int>(term.letters.size());
      i += 2;
    } else {
      fail_equation(equation,
                    std::string("unexpected '") + c + "'; axes are letters, and \"...\" stands once for any others");
    }
  }
  return term;
}

struct Equation {
  std::vector<Term> operands;
  std::optional<Term> result;  // none: without "->"
};
Equation parsed(std::string_view equation) {
  const std::size_t arrow = equation.find("->");
  std::string_view left = equation.substr(0, arrow);
  Equation e;
  for (;;) {
    const std::size_t comma = left.find(',');
    e.operands.push_back(parsed(equation, left.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    left.remove_prefix(comma + 1);
  }
  if (arrow != std::string_view::npos) e.result = parsed(equation, equation.substr(arrow + 2));
  return e;
}

/// The labels of an operand with so many axes.
Labels labels_of(std::string_view equation, const Term& term, const Tensor& x, std::size_t number) {
  const int hidden = x.dim() - static_cast<int>(term.letters.size());
  if (hidden < 0 || (hidden > 0 && term.ellipsis < 0))
    fail_shapes(equation, "operand " + std::to_string(number + 1) + " is " + describe(x) +
                              ", and the equation names " + std::to_string(term.letters.size()) + " axes of it");
  Labels labels(term.letters);
  for (int i = 0; i < hidden; ++i) labels.insert(labels.begin() + term.ellipsis + i, kEllipsis + hidden - 1 - i);
  return labels;
}

/// The labels of the result: those written, or the ellipsis and then the letters that stand once.
Labels result_labels(std::string_view equation, const Equation& e, const std::vector<Labels>& operands) {
  std::map<Label, int> counts;
  Label ellipses = kEllipsis;
  for (const Labels& labels : operands)
    for (const Label label : labels) ++counts[label], ellipses = std::max(ellipses, label + 1);
  Labels result;
  if (e.result) result = e.result->letters;
  else
    for (const auto& [label, count] : counts)
      if (label < kEllipsis && count == 1) result.push_back(label);
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (!counts.contains(result[i]))
      fail_equation(equation, "the result has " + text_of(result[i]) + ", which no operand has");
    if (std::count(result.begin(), result.end(), result[i]) > 1)
      fail_equation(equation, "the result has " + text_of(result[i]) + " twice");
  }
  const int at = e.result ? e.result->ellipsis : 0;
  if (at >= 0)  // where the result names no ellipsis, its axes are summed
    for (Label label = kEllipsis; label < ellipses; ++label) result.insert(result.begin() + at, label);
  return result;
}

/// An operand, or what some of them gave.
template <TensorOrVar R> struct Labelled {
  R x;
  Labels labels;

  std::int64_t size(Label label) const {
    return x.size(static_cast<int>(std::ranges::find(labels, label) - labels.begin()));
  }
  /// The axes in this order.
  R permuted(const Labels& order) const {
    Axes axes;
    for (const Label label : order) axes.push_back(std::ranges::find(labels, label) - labels.begin());
    return labels == order ? x : x.permute(axes);
  }
};

/// Without letters that stand twice: the diagonal stands in their place.
template <TensorOrVar R> void take_diagonals(std::string_view equation, Labelled<R>& operand) {
  for (std::size_t i = 0; i < operand.labels.size(); ++i)
    for (std::size_t j = i + 1; j < operand.labels.size(); ++j) {
      if (operand.labels[i] != operand.labels[j]) continue;
      const int a = static_cast<int>(i), b = static_cast<int>(j);
      if (operand.x.size(a) != operand.x.size(b))
        fail_shapes(equation, text_of(operand.labels[i]) + " stands for axes of sizes " +
                                  std::to_string(operand.x.size(a)) + " and " + std::to_string(operand.x.size(b)) +
                                  " of " + describe(value_of(operand.x)));
      operand.x = diagonal(operand.x, 0, a, b);
      const Label label = operand.labels[i];
      operand.labels.erase(operand.labels.begin() + b), operand.labels.erase(operand.labels.begin() + a);
      operand.labels.push_back(label);
      return take_diagonals(equation, operand);
    }
}

/// The size of every label; axes of size 1 broadcast.
template <TensorOrVar R>
std::map<Label, std::int64_t> sizes_of(std::string_view equation, const std::vector<Labelled<R>>& operands) {
  std::map<Label, std::int64_t> sizes;
  for (const Labelled<R>& operand : operands)
    for (const Label label : operand.labels) {
      const std::int64_t size = operand.size(label);
      std::int64_t& known = sizes.emplace(label, size).first->second;
      if (known == 1) known = size;
      if (size != known && size != 1)
        fail_shapes(equation, text_of(label) + " has the sizes " + std::to_string(known) + " and " +
                                  std::to_string(size) + " (of " + describe(value_of(operand.x)) + ")");
    }
  return sizes;
}
/// An axis of size 1 that stands for a longer one is none at all.
template <TensorOrVar R> void drop_broadcast(const std::map<Label, std::int64_t>& sizes, Labelled<R>& operand) {
  for (std::size_t i = operand.labels.size(); i-- > 0;) {
    if (operand.x.size(static_cast<int>(i)) == sizes.at(operand.labels[i])) continue;
    operand.x = operand.x.squeeze(static_cast<int>(i));
    operand.labels.erase(operand.labels.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

/// Summed over the labels that are not kept.
template <TensorOrVar R> void sum_out(Labelled<R>& operand, const Labels& kept) {
  Axes axes;
  Labels rest;
  for (std::size_t i = 0; i < operand.labels.size(); ++i)
    if (contains(kept, operand.labels[i])) rest.push_back(operand.labels[i]);
    else axes.push_back(static_cast<std::int64_t>(i));
  if (axes.empty()) return;
  operand.x = sum(operand.x, axes);
  operand.labels = rest;
}

/// Two operands and the labels their product keeps, by what is to be done along them.
struct Contraction {
  Labels batch, rows, columns, summed;

  Contraction(const Labels& a, const Labels& b, const Labels& kept) {
    for (const Label label : a) (!contains(b, label) ? rows : contains(kept, label) ? batch : summed).push_back(label);
    for (const Label label : b)
      if (!contains(a, label)) columns.push_back(label);
  }
};
Labels labels_of_both(const Labels& a, const Labels& b) {
  Labels all(a);
  all.insert(all.end(), b.begin(), b.end());
  return all;
}
template <TensorOrVar R> std::int64_t count_of(const Labelled<R>& operand, const Labels& labels) {
  std::int64_t count = 1;
  for (const Label label : labels) count *= operand.size(label);
  return count;
}
template <TensorOrVar R> void append_sizes(Shape& shape, const Labelled<R>& operand, const Labels& labels) {
  if (shape.rank() + static_cast<int>(labels.size()) > kMaxRank)
    throw Error(ErrorKind::shape, std::string(kEinsum) + ": a product on the way has more than " +
                                      std::to_string(kMaxRank) + " axes; multiply fewer operands at a time");
  for (const Label label : labels) shape.push_back(operand.size(label));
}

/// The operand with size 1 along those of `order` that it lacks.
template <TensorOrVar R> R laid_over(const Labelled<R>& operand, const Labels& order) {
  Labels own;
  for (const Label label : order)
    if (contains(operand.labels, label)) own.push_back(label);
  R x = operand.permuted(own);
  for (std::size_t i = 0; i < order.size(); ++i)
    if (!contains(operand.labels, order[i])) x = x.unsqueeze(static_cast<int>(i));
  return x;
}
/// Elementwise products, summed where there is something to sum in the same pass.
template <TensorOrVar R> Labelled<R> by_elements(const Labelled<R>& a, const Labelled<R>& b, const Contraction& c) {
  const Labels kept = labels_of_both(labels_of_both(c.batch, c.rows), c.columns), all = labels_of_both(kept, c.summed);
  Shape space;
  append_sizes(space, a, c.batch), append_sizes(space, a, c.rows), append_sizes(space, b, c.columns);
  append_sizes(space, a, c.summed);
  const R x = laid_over(a, all), y = laid_over(b, all);
  if (c.summed.empty()) return {x * y, kept};
  const Argument arguments[] = {Argument(x), Argument(y)};
  const std::uint32_t reduced = ((1u << c.summed.size()) - 1) << kept.size();
  static const FormulaGraph* const graph = graph_of([](auto p, auto q) { return sum(p * q); });
  return {fused_one<R>({kEinsum, graph, reduced, {}, {}, true}, arguments), kept};
}
/// A batch of products of matrices [rows, summed] and [summed, columns].
template <TensorOrVar R> Labelled<R> by_matrices(const Labelled<R>& a, const Labelled<R>& b, const Contraction& c) {
  Shape of_a, of_result;
  append_sizes(of_a, a, c.batch), append_sizes(of_result, a, c.batch);
  append_sizes(of_result, a, c.rows), append_sizes(of_result, b, c.columns);
  Shape of_b = of_a;
  const std::int64_t depth = count_of(a, c.summed);
  of_a.push_back(count_of(a, c.rows)), of_a.push_back(depth);
  of_b.push_back(depth), of_b.push_back(count_of(b, c.columns));
  const R x = a.permuted(labels_of_both(labels_of_both(c.batch, c.rows), c.summed)).reshape(of_a),
          y = b.permuted(labels_of_both(labels_of_both(c.batch, c.summed), c.columns)).reshape(of_b);
  return {matmul(x, y).reshape(of_result), labels_of_both(labels_of_both(c.batch, c.rows), c.columns)};
}

/// Whether the first of the labels that only one of two operands has is b's, in the order of the result: then b goes
/// first, and the result needs no other order.
bool belongs_first(const Labels& b, const Labels& a, const Labels& result) {
  for (const Label label : result)
    if (contains(a, label) != contains(b, label)) return contains(b, label);
  return false;
}

/// a·b, keeping these labels.
template <TensorOrVar R>
Labelled<R> contracted(Labelled<R> a, Labelled<R> b, const Labels& kept, const Labels& result) {
  sum_out(a, labels_of_both(kept, b.labels));
  sum_out(b, labels_of_both(kept, a.labels));
  if (belongs_first(b.labels, a.labels, result)) std::swap(a, b);
  const Contraction c(a.labels, b.labels, kept);
  const DType dtype = promote_types(a.x.dtype(), b.x.dtype());
  const bool narrow = dtype == DType::boolean || (is_integer(dtype) && dtype_size(dtype) < 4);
  if (narrow && !c.summed.empty())
    throw Error(ErrorKind::dtype, std::string(kEinsum) + ": products need floats, i32, u32 or i64, operands are " +
                                      describe(value_of(a.x)) + " and " + describe(value_of(b.x)));
  if (a.x.dtype() == DType::boolean) a.x = a.x.to(dtype);
  if (b.x.dtype() == DType::boolean) b.x = b.x.to(dtype);
  const bool no_matrix = c.summed.empty() || (c.rows.empty() && c.columns.empty());
  return no_matrix ? by_elements(a, b, c) : by_matrices(a, b, c);
}

/// The product of the operands in a set, in the best order.
template <TensorOrVar R>
Labelled<R> product_of_set(ContractionOrder& order, ContractionOrder::Set set, const std::vector<Labelled<R>>& operands,
                           const Labels& result) {
  if ((set & (set - 1)) == 0) return operands[static_cast<std::size_t>(std::countr_zero(set))];
  const auto [first, second] = order.split(set);
  return contracted(product_of_set(order, first, operands, result), product_of_set(order, second, operands, result),
                    order.kept(set), result);
}
/// The product of more operands than are searched: pair by pair.
template <TensorOrVar R>
Labelled<R> product_of_pairs(const ContractionOrder& order, std::vector<Labelled<R>> there, const Labels& result) {
  std::vector<ContractionOrder::Set> sets(there.size());
  for (std::size_t i = 0; i < sets.size(); ++i) sets[i] = ContractionOrder::Set{1} << i;
  while (there.size() > 1) {
    const auto [i, j] = order.smallest(sets);
    sets[i] |= sets[j];
    there[i] = contracted(there[i], there[j], order.kept(sets[i]), result);
    there.erase(there.begin() + static_cast<std::ptrdiff_t>(j)),
        sets.erase(sets.begin() + static_cast<std::ptrdiff_t>(j));
  }
  return there[0];
}

}  // namespace

template <TensorOrVar R> R einsum_of(std::string_view equation, const std::vector<R>& list) {
  const Equation e = parsed(equation);
  if (e.operands.size() != list.size())
    fail_equation(equation,
                  "names " + std::to_string(e.operands.size()) + " operands, got " + std::to_string(list.size()));
  if (list.size() > 32) fail_equation(equation, "at most 32 operands are multiplied");
  std::vector<Labelled<R>> operands;
  std::vector<Labels> labels;
  for (std::size_t i = 0; i < list.size(); ++i) {
    require_defined(kEinsum, ("operand " + std::to_string(i + 1)).c_str(), value_of(list[i]));
    require_same_device(kEinsum, value_of(list[0]), value_of(list[i]));
    labels.push_back(labels_of(equation, e.operands[i], value_of(list[i]), i));
    operands.push_back({list[i], labels.back()});
  }
  for (std::size_t i = 1; i < list.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) require_one_kind(kEinsum, value_of(list[j]), value_of(list[i]));
  const Labels result = result_labels(equation, e, labels);
  for (Labelled<R>& operand : operands) take_diagonals(equation, operand);
  const std::map<Label, std::int64_t> sizes = sizes_of(equation, operands);
  labels.clear();
  for (Labelled<R>& operand : operands) drop_broadcast(sizes, operand), labels.push_back(operand.labels);
  ContractionOrder order(labels, result, sizes);
  const bool searched = list.size() <= ContractionOrder::kSearched;
  Labelled<R> y =
      searched ? product_of_set(order, static_cast<ContractionOrder::Set>((1u << list.size()) - 1), operands, result)
               : product_of_pairs(order, operands, result);
  sum_out(y, result);
  Labels own;  // an axis that every operand has with size 1 only is still there
  for (const Label label : result)
    if (contains(y.labels, label)) own.push_back(label);
  return y.permuted(own);
}
template Tensor einsum_of(std::string_view, const std::vector<Tensor>&);
template Var einsum_of(std::string_view, const std::vector<Var>&);

}  // namespace tern::detail
