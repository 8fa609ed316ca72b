// x(…): what NumPy's indexing selects, and writing there. All of it is views, take, scatter_add, sort and running sums.
#include "ops/indexing/indexing.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "autodiff/instances.hpp"
#include "backend/recording/capture.hpp"
#include "formula/extremes.hpp"
#include "primitives/fused/operation.hpp"
#include "primitives/scatter/operation.hpp"
#include "primitives/sort/operation.hpp"
#include "tern/creation.hpp"
#include "tern/statistics.hpp"

namespace tern {

using namespace detail;

void detail::check_fits(const char* op, const Tensor& values, const Shape& shape) {
  bool fits = values.dim() <= shape.rank();
  for (int i = 1; fits && i <= values.dim(); ++i)
    fits = values.size(-i) == 1 || values.size(-i) == shape[static_cast<std::size_t>(shape.rank() - i)];
  if (!fits)
    throw Error(ErrorKind::shape, std::string(op) + ": values are " + describe(values) +
                                      ", which does not broadcast to the " + to_string(shape) + " that is written");
}

namespace {

using Kind = Index::Kind;
constexpr const char* kSelect = "x(…)";

std::string nth(std::size_t i) { return "index " + std::to_string(i + 1); }

/// The positions (i32) of a mask's trues among its elements.
Tensor positions_in(const char* op, const Tensor& mask) {
  require_values(op);
  const std::int64_t n = mask.numel();
  if (n > kMostPositions)
    throw Error(ErrorKind::shape,
                std::string(op) + ": positions are i32, and " + describe(mask) + " has more than 2^31-1 elements");
  const Options like{.dtype = i32, .device = mask.device()};
  if (n == 0) return zeros({0}, like);
  if (in_host_memory(mask)) {  // a loop costs less than the passes below
    const Tensor bytes = mask.contiguous();
    const bool* const at = bytes.data_ptr<const bool>();
    const std::int64_t count = std::count(at, at + n, true);
    Tensor result = empty({count}, like);
    std::int32_t* const to = result.data_ptr<std::int32_t>();
    constexpr std::int64_t kWord = 8;
    for (std::int64_t i = 0, k = 0; k < count;) {
      std::uint64_t word = 1;
      if (i + kWord <= n) std::memcpy(&word, at + i, sizeof word);
      const std::int64_t end = word == 0 ? i : std::min(n, i + kWord);  // no other branch depends on the mask
      for (std::int64_t e = i; e < end && k < count; k += at[e++]) to[k] = static_cast<std::int32_t>(e);
      i += kWord;
    }
    return result;
  }
  const Tensor all = mask.reshape({-1});
  const std::int64_t count = count_nonzero(all, {}).to(cpu()).item<std::int32_t>();
  return first_positions(op, all, count, true);  // in order trues stand first, each where it stood
}

/// Positions or a mask, and the axes of x that they select from.
struct Selector {
  Tensor of;
  int axis, axes;
  std::size_t index;  // which of the list it is
};
/// x seen through the integers, ranges and new axes of a list, and what is left to select.
template <class T> struct IndexedView {
  T x;
  std::vector<Selector> selectors = {};
  std::optional<int> place = {};  // where their axes stand
  bool apart = false;
};

int axes_of(const Index& index) {
  switch (index.kind()) {
    case Kind::integer:
    case Kind::slice: return 1;
    case Kind::tensor: return index.tensor().dtype() == boolean ? index.tensor().dim() : 1;
    default: return 0;
  }
}
void check_list(const Tensor& x, std::span<const Index> list) {
  require_defined(kSelect, "x", x);
  int axes = 0, ellipses = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    ellipses += list[i].kind() == Kind::ellipsis;
    if (list[i].kind() == Kind::tensor) {
      const Tensor& t = require_defined(kSelect, nth(i).c_str(), list[i].tensor());
      require_same_device(kSelect, x, t);
      if (t.dtype() != boolean) require_index_dtype(kSelect, (nth(i) + ", unless a mask,").c_str(), t);
    }
    axes += axes_of(list[i]);
  }
  if (axes > x.dim())
    throw Error(ErrorKind::index,
                std::string(kSelect) + ": the indices are for " + std::to_string(axes) + " axes, x is " + describe(x));
  if (ellipses > 1) throw Error(ErrorKind::index, std::string(kSelect) + ": more than one ellipsis");
}
void check_mask(const Tensor& x, const Selector& s) {
  for (int i = 0; i < s.axes; ++i)
    if (s.of.size(i) != x.size(s.axis + i))
      throw Error(ErrorKind::shape, std::string(kSelect) + ": " + nth(s.index) + " is a mask " + describe(s.of) +
                                        ", axis " + std::to_string(s.axis + i) + " of what it selects from, " +
                                        describe(x) + ", has size " + std::to_string(x.size(s.axis + i)));
}
template <class T> T entry_of(const T& x, int axis, std::int64_t i, std::size_t index) {
  const std::int64_t size = x.size(axis), at = i < 0 ? i + size : i;
  if (at < 0 || at >= size)
    throw Error(ErrorKind::index, std::string(kSelect) + ": " + nth(index) + ", " + std::to_string(i) +
                                      ", is out of range for size " + std::to_string(size) + " of axis " +
                                      std::to_string(axis) + " of " + describe(value_of(x)));
  return x.slice(axis, at, at + 1).squeeze(axis);
}

template <class T> IndexedView<T> seen(const T& x, std::span<const Index> list) {
  check_list(value_of(x), list);
  IndexedView<T> s{x};
  int axis = 0, left = x.dim();
  for (const Index& index : list) left -= axes_of(index);
  bool between = false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Index& index = list[i];
    const bool selects = index.kind() == Kind::integer || index.kind() == Kind::tensor;
    if (selects) {
      if (!s.place) s.place = axis;
      s.apart |= between;
    } else between = s.place.has_value();
    switch (index.kind()) {
      case Kind::integer: s.x = entry_of(s.x, axis, index.integer(), i); break;
      case Kind::slice: s.x = s.x.slice(axis++, index.slice()); break;
      case Kind::ellipsis: axis += left; break;
      case Kind::newaxis: s.x = s.x.unsqueeze(axis++); break;
      case Kind::tensor:
        s.selectors.push_back({index.tensor(), axis, axes_of(index), i});
        if (index.tensor().dtype() == boolean) check_mask(value_of(s.x), s.selectors.back());
        axis += axes_of(index);
    }
  }
  if (s.apart) s.place = 0;
  return s;
}

std::int64_t size_of(const Shape& shape, const Selector& s) {
  std::int64_t size = 1;
  for (int i = 0; i < s.axes; ++i) size = size_times(kSelect, size, shape[static_cast<std::size_t>(s.axis + i)]);
  return size;
}
/// The selectors as positions along one axis that holds all of theirs.
Tensor positions_of(const Shape& shape, const std::vector<Selector>& selectors) {
  std::vector<Tensor> places;
  Shape common;
  for (const Selector& s : selectors) {
    places.push_back(s.of.dtype() == boolean ? positions_in(kSelect, s.of) : as_i32(kSelect, s.of));
    common = broadcast_shapes(kSelect, common, places.back().shape());
  }
  if (places.size() == 1) return places[0];
  std::int64_t all = 1;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::int64_t size = size_of(shape, selectors[i]);
    all = size_times(kSelect, all, std::max<std::int64_t>(size, 1));
    if (all > kMostPositions)
      throw Error(ErrorKind::shape, std::string(kSelect) +
                                        ": the axes that are selected from have more than 2^31-1 "
                                        "elements together, " +
                                        to_string(shape));
    if (selectors[i].of.dtype() == boolean || places[i].numel() == 0) continue;
    if (size == 0)
      throw Error(ErrorKind::index, std::string(kSelect) + ": any position is out of range for size 0 of " +
                                        nth(selectors[i].index) + " in " + to_string(shape));
    require_indices(kSelect, places[i], size, true);
  }
  static const Pointwise together(kSelect, [](auto a, auto size_a, auto b, auto size_b) {
    return where(a < 0, a + size_a, a) * size_b + where(b < 0, b + size_b, b);
  });
  Tensor at = places[0];
  for (std::size_t i = 1; i < places.size(); ++i)
    at = together(at, size_of(shape, selectors[0]), places[i], size_of(shape, selectors[i]));
  return at;
}

/// The axes that are selected from, beside each other at s.place, and then as one.
struct Merge {
  Axes order;
  Shape shape;
  std::int64_t size = 1;  // of the one
};
template <class T> Merge merge_of(const IndexedView<T>& s) {
  const auto is_chosen = [&](int axis) {
    return std::ranges::any_of(s.selectors,
                               [&](const Selector& c) { return axis >= c.axis && axis < c.axis + c.axes; });
  };
  Merge m;
  const auto keep = [&](int axis) { m.order.push_back(axis), m.shape.push_back(s.x.size(axis)); };
  int axis = 0;
  for (; axis < *s.place; ++axis) keep(axis);
  for (const Selector& c : s.selectors) {
    for (int i = 0; i < c.axes; ++i) m.order.push_back(c.axis + i);
    m.size = size_times(kSelect, m.size, size_of(s.x.shape(), c));
  }
  m.shape.push_back(m.size);
  for (; axis < s.x.dim(); ++axis)
    if (!is_chosen(axis)) keep(axis);
  return m;
}
template <class T> T merged(const IndexedView<T>& s) {
  const Merge m = merge_of(s);
  return s.x.permute(m.order).reshape(m.shape);
}

template <class T> T selected_by(const T& x, std::span<const Index> list, bool& copies) {
  const IndexedView<T> s = seen(x, list);
  copies = !s.selectors.empty();
  if (!copies) return s.x;
  return take(merged(s), positions_of(s.x.shape(), s.selectors), *s.place);
}

/// Values of more axes than are written, if those in front have size 1.
template <class V> V without_surplus(const V& values, int rank) {
  V result = values;
  while (result.dim() > rank && result.size(0) == 1) result = result.squeeze(0);
  return result;
}

/// For each of n elements the number from 1 of the last of the positions that is its own, or 0.
Tensor last_writers(const char* op, const Tensor& at, std::int64_t n) {
  const Options like{.dtype = i32, .device = at.device()};
  return scattered(op, Combine::last, zeros({n}, like), at, arange(1, at.numel() + 1, 1, like), 0);
}

/// Writes values, broadcast to the shape of what was selected, into what the view selects from: only that is touched.
void write_into(const char* op, const IndexedView<Tensor>& s, const Tensor& given) {
  const Merge m = merge_of(s);
  const Tensor places = positions_of(s.x.shape(), s.selectors), flat = places.reshape({-1});
  const auto place = static_cast<std::size_t>(*s.place);
  Shape part;
  for (std::size_t i = 0; i < m.shape.size(); ++i)
    for (const std::int64_t size : i == place ? places.shape() : Shape{m.shape[i]}) part.push_back(size);
  const Tensor values = without_surplus(given, part.rank());
  check_fits(op, values, part);
  if (part.numel() == 0) return;
  Tensor target = s.x.permute(m.order);
  Shape chosen = target.shape(), shape = m.shape;
  const std::size_t axes = target.shape().size() - m.shape.size() + 1;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (i < place || i >= place + axes) chosen[i] = 1;
  shape[place] = flat.numel();
  const Tensor source = values.broadcast_to(part).reshape(shape);
  const Tensor lined = target.reshape(m.shape);
  if (lined.impl()->storage == target.impl()->storage && dtype_size(lined.dtype()) >= 4 && !is_complex(lined.dtype()))
    return combine_at(op, Combine::last, lined, flat, source, *s.place);
  const Tensor writer = last_writers(op, flat, m.size);
  const Tensor written = take(source, maximum(writer - 1, 0), *s.place);
  target.copy_from(where((writer > 0).reshape(chosen), written.reshape(target.shape()), target));
}

/// A copy of x that was written to.
Tensor put(const char* op, const Tensor& x, const std::vector<Index>& list, const Tensor& values) {
  const Tensor copy = x.clone();
  IndexedView<Tensor> s = seen(copy, list);
  if (!s.selectors.empty()) return write_into(op, s, values), copy;
  const Tensor fitting = without_surplus(values, s.x.dim());
  check_fits(op, fitting, s.x.shape());
  return s.x.copy_from(fitting), copy;
}
/// x with values at positions among its elements.
Var put_at(const char* op, const Var& x, const Tensor& at, const Var& values) {
  if (at.numel() == 0) return x.clone();
  const Tensor writer = last_writers(op, at.reshape({-1}), x.numel()), written = (writer > 0).reshape(x.shape());
  if (values.numel() == 1) return where(written, values.reshape({}), x);
  const Var source = values.broadcast_to(at.shape()).reshape({-1});
  return where(written, take(source, maximum(writer - 1, 0)).reshape(x.shape()), x);
}

Tensor numbered(const char* op, const Tensor& x) {
  if (x.numel() > kMostPositions)
    throw Error(ErrorKind::shape,
                std::string(op) + ": positions are i32, and x, " + describe(x) + ", has more than 2^31-1 elements");
  return arange(0, x.numel(), 1, {.dtype = i32, .device = x.device()}).reshape(x.shape());
}
}  // namespace

namespace detail {

void check_values(const char* op, const Tensor& x, const Tensor& values) {
  require_defined(op, "x", x), require_defined(op, "values", values), require_same_device(op, x, values);
  if (x.dtype() != values.dtype())
    throw Error(ErrorKind::dtype, std::string(op) + ": x is " + describe(x) + ", values are " + describe(values) +
                                      "; convert them with .to(" + std::string(to_string(x.dtype())) + ")");
}

template <> Tensor select(const Tensor& x, std::span<const Index> list) {
  bool copies = false;
  Tensor result = selected_by(x, list, copies);
  if (copies)
    result.impl()->selection =
        std::make_shared<const Selection>(Selection{x.impl(), std::vector<Index>(list.begin(), list.end())});
  return result;
}
template <> Var select(const Var& x, std::span<const Index> list) {
  bool copies = false;
  return selected_by(x, list, copies);
}

void write_selected(const Tensor& part, const Tensor& values) {
  const Selection& selection = *part.impl()->selection;
  Tensor x(selection.of.lock());
  if (!x.defined())
    throw Error(ErrorKind::unsupported, std::string(kSelect) + ": what " + describe(part) +
                                            " was selected from is gone; write to the tensor itself");
  require_writable(kSelect, x);
  check_values(kSelect, x, values);
  write_into(kSelect, seen(x, selection.at), values);
}

void assign_to(const Tensor& part, const Tensor& values, bool temporary) {
  require_defined("assign", "what is written", part), require_defined("assign", "value", values);
  const Tensor fitting = without_surplus(values, part.dim());
  if (temporary && is_selected(part)) write_selected(part, fitting);
  else Tensor(part).copy_from(fitting);
}
void assign_to(const Tensor& part, Number value, bool temporary) {
  require_defined("assign", "what is written", part);
  assign_to(part, full({}, value, {.dtype = part.dtype(), .device = part.device()}), temporary);
}

}  // namespace detail

template <TensorOrVar X, TensorOrVar V>
ResultOf<X, V> index_put(const X& x, const std::vector<Index>& at, const V& values, bool accumulate) {
  constexpr const char* op = "index_put";
  check_values(op, value_of(x), value_of(values));
  using R = ResultOf<X, V>;
  if constexpr (std::same_as<R, Tensor>)
    if (!accumulate && x.numel() <= kMostPositions) return put(op, x, at, values);
  bool copies = false;
  const Tensor places = selected_by(numbered(op, value_of(x)), at, copies);
  const V fitting = without_surplus(values, places.dim());
  check_fits(op, value_of(fitting), places.shape());
  if (!accumulate) return operand_as<R>(put_at(op, as_var(x), places, as_var(fitting)));
  const V source = fitting.broadcast_to(places.shape()).reshape({-1});
  return scatter_add(x.reshape({-1}), places.reshape({-1}), source).reshape(x.shape());
}
template Tensor index_put(const Tensor&, const std::vector<Index>&, const Tensor&, bool);
template Var index_put(const Tensor&, const std::vector<Index>&, const Var&, bool);
template Var index_put(const Var&, const std::vector<Index>&, const Tensor&, bool);
template Var index_put(const Var&, const std::vector<Index>&, const Var&, bool);

template <TensorOrVar T> std::vector<Tensor> nonzero(const T& x) {
  const Tensor& values = require_defined("nonzero", "x", value_of(x));
  if (values.dim() == 0)
    throw Error(ErrorKind::shape, "nonzero: x must have at least one axis, got " + describe(values));
  const Tensor at = positions_in("nonzero", values.dtype() == boolean ? values : values != 0);
  if (values.dim() == 1) return {at};
  std::vector<Tensor> result(values.shape().size(), at);
  if (values.numel() == 0) return result;  // of which other axes may have any size
  std::int64_t inner = 1;
  for (std::size_t axis = result.size(); axis-- > 0; inner *= values.shape()[axis])
    result[axis] = floor_divide(at, std::max<std::int64_t>(inner, 1)) % std::max<std::int64_t>(values.shape()[axis], 1);
  return result;
}
template std::vector<Tensor> nonzero(const Tensor&);
template std::vector<Tensor> nonzero(const Var&);

namespace {
const Tensor& checked_mask(const char* op, const Tensor& x, const Tensor& mask) {
  require_defined(op, "x", x), require_defined(op, "mask", mask), require_same_device(op, x, mask);
  if (mask.dtype() != boolean)
    throw Error(ErrorKind::dtype, std::string(op) + ": mask must be boolean, got " + describe(mask));
  return mask;
}
}  // namespace
template <TensorOrVar T> T masked_select(const T& x, const Tensor& mask) {
  checked_mask("masked_select", value_of(x), mask);
  const Shape shape = broadcast_shapes("masked_select", x.shape(), mask.shape());
  return take(x.broadcast_to(shape).reshape({-1}), positions_in("masked_select", mask.broadcast_to(shape)));
}
TERN_INSTANCES_1(ResultOf, masked_select, const Tensor&)
template <TensorOrVar T> T masked_fill(const T& x, const Tensor& mask, Number value) {
  broadcast_shapes("masked_fill", x.shape(), checked_mask("masked_fill", value_of(x), mask).shape());
  return where(mask, value, x);
}
TERN_INSTANCES_1(ResultOf, masked_fill, const Tensor&, Number)

}  // namespace tern
