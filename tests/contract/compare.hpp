// Results of a device held against ranges.
#pragma once
#include <limits>
#include <string>
#include <vector>

#include "contract/graph_ranges.hpp"
#include "contract/patterns.hpp"

namespace tern::contract {

/// The columns a graph is evaluated on, in the type S of the tensors. One column for each input of the graph.
template <class S> using Columns = std::vector<std::vector<S>>;

/// A tensor of a column; booleans where the entry's input is a condition.
template <class S> Tensor column_tensor(const std::vector<S>& column, bool condition, Device device) {
  const Shape shape{column.size()};
  if (!condition) return tensor(column, shape, device);
  std::vector<std::uint8_t> flags;
  for (const S v : column) flags.push_back(real(v) != 0);
  return tensor(flags, shape, device).to(DType::boolean);
}
/// All elements of a result in the type S; booleans as 0 and 1.
template <class S> std::vector<S> column_of(const Tensor& t) {
  if (t.dtype() != DType::boolean) return t.template to_vector<S>();
  std::vector<S> column;
  for (const bool flag : t.template to_vector<bool>()) column.push_back(S(flag ? 1.0 : 0.0));
  return column;
}

/// The values of type S a kernel may store: it rounds once, from the type it computes in.
template <class S> Range<Compute<S>> stored(Range<Compute<S>> range) {
  if constexpr (sizeof(S) == 2) {
    if (!range.empty()) range.lo = static_cast<float>(S(range.lo)), range.hi = static_cast<float>(S(range.hi));
  }
  return range;
}
template <class T> bool accepts(const Range<T>& range, T got) {
  if (got != got) return range.nan;
  if (range.empty() || !(range.lo <= got && got <= range.hi)) return false;
  if (got != 0 || range.lo != 0 || range.hi != 0 || std::signbit(range.lo) != std::signbit(range.hi)) return true;
  return std::signbit(got) == std::signbit(range.lo);
}

template <class T> std::string describe_range(const Range<T>& range) {
  std::string text = range.empty()          ? ""
                     : range.lo == range.hi ? hex(range.lo)
                                            : "[" + hex(range.lo) + ", " + hex(range.hi) + "]";
  if (range.nan) text += text.empty() ? "NaN" : " or NaN";
  return text;
}

/// Distance of an elementary function's result from its reference, in spacings of S at the reference.
template <class S>
std::string describe_ulps(detail::Elementary elementary, const Range<Compute<S>>* inputs, int arity, double got) {
  Quad x[3] = {};
  for (int i = 0; i < arity; ++i) x[i] = static_cast<Quad>(inputs[i].value());
  const Quad r = reference(elementary, x);
  if (is_nan(r) || r - r != 0 || got - got != 0) return "";
  using T = Compute<S>;
  const Quad spacing = sizeof(S) == 2
                           ? spacing_at<T>(r) * power_of_two(r, Format<T>::kDigits - Layout<S>::kMantissa - 1)
                           : spacing_at<T>(r);
  const double ulps = static_cast<double>((static_cast<Quad>(got) - r) / spacing);
  return ", off by " + std::to_string(ulps) + " ulp";
}

/// Compares `got` with one output of a graph at every point. Returns the share of points where anything would pass.
template <class S>
double compare_column(Report& report, GraphRanges<Compute<S>>& graph, std::size_t output, const Columns<S>& inputs,
                      const std::vector<S>& got, const Subject* elementary) {
  using T = Compute<S>;
  std::vector<Range<T>> at(inputs.size());
  std::size_t vacuous = 0;
  for (std::size_t p = 0; p < got.size(); ++p) {
    for (std::size_t i = 0; i < inputs.size(); ++i) at[i] = Range<T>::of(static_cast<T>(inputs[i][p]));
    const T value = static_cast<T>(got[p]);
    const bool surely = graph.quickly(at.data());
    if (!(surely && accepts(stored<S>(graph.output(output)), value))) {
      graph.exactly(at.data());
      if (!accepts(stored<S>(graph.output(output)), value))
        report.add([&] {
          std::string line = "(";
          for (const Range<T>& x : at) line += (line.size() > 1 ? ", " : "") + hex(static_cast<double>(x.value()));
          line += ") got " + hex(value) + ", want " + describe_range(stored<S>(graph.output(output)));
          return elementary ? line + describe_ulps<S>(elementary->id, at.data(), elementary->arity(), value) : line;
        });
    }
    vacuous += graph.output(output).vacuous();
  }
  return got.empty() ? 0 : static_cast<double>(vacuous) / static_cast<double>(got.size());
}

}  // namespace tern::contract
