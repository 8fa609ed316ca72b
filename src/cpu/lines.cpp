#include "cpu/lines.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "cpu/block_runner.hpp"
#include "cpu/threads.hpp"
#include "process/of_thread.hpp"

namespace tern::detail_cpu {

using detail::ScanRequest;
using detail::ScatterRequest;
using detail::SortRequest;
using detail::View;

namespace {

/// Calls f with a value of the C++ type behind a 4- or 8-byte dtype.
template <class F> void with_type(DType dtype, const char* op, F f) {
  switch (dtype) {
    case DType::f32: return f(float{});
    case DType::f64: return f(double{});
    case DType::i32: return f(std::int32_t{});
    case DType::u32: return f(std::uint32_t{});
    case DType::i64: return f(std::int64_t{});
    default: throw UnsupportedDType(op, dtype, "cpu");
  }
}
template <class T> T* pointer(const View& view) { return static_cast<T*>(view.storage->data()) + view.offset; }

template <class T> T combined(Leaf leaf, T a, T b) {
  using U = std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;  // wraps
  switch (leaf) {
    case Leaf::mul: return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
    case Leaf::maximum: return a > b || a != a ? a : b;
    case Leaf::minimum: return a < b || a != a ? a : b;
    default: return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  }
}

/// The axes of a line verb but one, as an order of lines.
AxisOrder lines_of(const Shape& space, int axis) {
  AxisOrder order;
  for (int i = 0; i < space.rank(); ++i) {
    if (i == axis) continue;
    order.axes[order.rank] = i;
    order.sizes[order.rank++] = space[static_cast<std::size_t>(i)];
  }
  return order;
}
/// One axis as an order, for a view shifted to the start of a line.
AxisOrder along(const Shape& space, int axis) {
  AxisOrder order;
  order.rank = 1, order.axes[0] = axis, order.sizes[0] = space[static_cast<std::size_t>(axis)];
  return order;
}
View at_line(View view, const AxisOrder& lines, std::int64_t line) {
  for (int i = lines.rank - 1; i >= 0; --i) {
    view.offset += line % lines.sizes[i] * view.strides[static_cast<std::size_t>(lines.axes[i])];
    line /= lines.sizes[i];
  }
  return view;
}

/// Runs body(line) for every line, in parallel where there are enough elements (one in 64 Ki pays for a wake-up).
template <class Body> void for_lines(const Shape& space, int axis, Body body) {
  const AxisOrder lines = lines_of(space, axis);
  const std::int64_t count = lines.count(), length = space[static_cast<std::size_t>(axis)];
  if (count == 0 || length == 0) return;
  const std::int64_t tasks = count * length < 64 * 1024 ? 1 : std::min<std::int64_t>(count, 4 * max_threads());
  parallel_for(tasks, [&](std::int64_t t) {
    for (std::int64_t line = count * t / tasks; line < count * (t + 1) / tasks; ++line) body(lines, line);
  });
}

}  // namespace

// ---- scatter ----
namespace {

/// The axis to share between threads: one the table does not vary along, so that each thread owns its outputs.
int shared_axis(const ScatterRequest& r) {
  int best = -1;
  for (int i = 0; i < r.space.rank(); ++i) {
    const auto axis = static_cast<std::size_t>(i);
    if (r.target.table.strides[axis] != 0 || r.output.strides[axis] == 0) continue;
    if (best < 0 || r.space[axis] > r.space[static_cast<std::size_t>(best)]) best = i;
  }
  return best;
}

template <class T> void scatter_part(const ScatterRequest& r, const Shape& space, const Strides& first) {
  const T* source = pointer<T>(r.source);
  T* output = pointer<T>(r.output);
  const std::int32_t* table = pointer<std::int32_t>(r.target.table);
  std::int64_t coordinates[kMaxRank] = {}, at_source = first[0], at_output = first[1], at_table = first[2];
  for (std::int64_t left = space.numel(); left > 0; --left) {
    const std::int64_t value = table[at_table], index = value < 0 ? value + r.target.size : value;
    T& sum = output[at_output + index * r.target.step];
    sum = combined(r.combine, sum, source[at_source]);
    for (int i = space.rank() - 1; i >= 0; --i) {
      const auto axis = static_cast<std::size_t>(i);
      at_source += r.source.strides[axis], at_output += r.output.strides[axis],
          at_table += r.target.table.strides[axis];
      if (++coordinates[i] < space[axis]) break;
      coordinates[i] = 0;
      at_source -= space[axis] * r.source.strides[axis], at_output -= space[axis] * r.output.strides[axis];
      at_table -= space[axis] * r.target.table.strides[axis];
    }
  }
}

/// All entries are checked before anything is written.
void check_table(const ScatterRequest& r) {
  Shape space = r.space;
  for (int i = 0; i < space.rank(); ++i)
    if (r.target.table.strides[static_cast<std::size_t>(i)] == 0) space[static_cast<std::size_t>(i)] = 1;
  AxisOrder order;
  order.rank = space.rank();
  for (int i = 0; i < space.rank(); ++i) order.axes[i] = i, order.sizes[i] = space[static_cast<std::size_t>(i)];
  const std::int32_t* table = pointer<std::int32_t>(r.target.table);
  for (std::int64_t p = 0; p < order.count(); ++p) {
    std::int64_t at = 0, rest = p;
    for (int i = order.rank - 1; i >= 0; --i) {
      at += rest % order.sizes[i] * r.target.table.strides[static_cast<std::size_t>(i)];
      rest /= order.sizes[i];
    }
    if (table[at] < -r.target.size || table[at] >= r.target.size)
      throw Error(ErrorKind::index,
                  "index " + std::to_string(table[at]) + " is out of range for size " + std::to_string(r.target.size));
  }
}

}  // namespace

void run_scatter(const ScatterRequest& r) {
  if (r.space.numel() == 0) return;
  check_table(r);
  const int axis = shared_axis(r);
  const auto a = static_cast<std::size_t>(std::max(axis, 0));
  const std::int64_t tasks =
      axis < 0 || r.space.numel() < 64 * 1024 ? 1 : std::min<std::int64_t>(r.space[a], max_threads());
  with_type(r.source.dtype, r.op, [&]<class T>(T) {
    parallel_for(tasks, [&](std::int64_t t) {
      Shape space = r.space;
      Strides first;
      first.resize(3, 0);
      if (tasks > 1) {
        const std::int64_t begin = r.space[a] * t / tasks;
        space[a] = r.space[a] * (t + 1) / tasks - begin;
        first[0] = begin * r.source.strides[a], first[1] = begin * r.output.strides[a];
      }
      scatter_part<T>(r, space, first);
    });
  });
}

// ---- scan ----
namespace {

/// Runs of 256 are summed on their own and joined, so that errors grow with 256 + n/256 terms, not with n.
template <class T> void scan_line(Leaf combine, T* x, std::int64_t n, bool reverse) {
  constexpr std::int64_t kRun = 256;
  const auto at = [&](std::int64_t i) -> T& { return x[reverse ? n - 1 - i : i]; };
  T before{};
  for (std::int64_t begin = 0; begin < n; begin += kRun) {
    const std::int64_t end = std::min(n, begin + kRun);
    T sum = at(begin);
    for (std::int64_t i = begin; i < end; ++i) {
      if (i > begin) sum = combined(combine, sum, at(i));
      at(i) = begin ? combined(combine, before, sum) : sum;
    }
    before = at(end - 1);
  }
}

/// Of each thread: the line in lanes.
struct ScanRoom {
  std::vector<std::int64_t> line;
};

}  // namespace

void run_scan(const ScanRequest& r, const KernelTable& table) {
  const std::int64_t n = r.space[static_cast<std::size_t>(r.axis)];
  const AxisOrder order = along(r.space, r.axis);
  const Lane lane = detail::lane_of(r.input.dtype);
  constexpr DType wide[] = {DType::f32, DType::f64, DType::i32, DType::u32, DType::i64};
  for_lines(r.space, r.axis, [&](const AxisOrder& lines, std::int64_t line) {
    std::vector<std::int64_t>& buffer = detail::of_thread<ScanRoom>().line;
    buffer.resize(static_cast<std::size_t>(n));
    Walker(at_line(r.input, lines, line), order).load(table, 0, n, buffer.data());
    with_type(wide[static_cast<int>(lane)], r.op,
              [&]<class T>(T) { scan_line(r.combine, reinterpret_cast<T*>(buffer.data()), n, r.reverse); });
    Walker(at_line(r.output, lines, line), order).store(table, 0, n, buffer.data());
  });
}

// ---- sort ----
namespace {

template <class T> void sort_line(const T* x, std::int32_t* indices, T* sorted, std::int64_t n, bool descending) {
  std::iota(indices, indices + n, 0);
  const auto less = [](T a, T b) { return a < b || (b != b && a == a); };  // NaN is the largest
  // Equal ones by their place: a stable order without the memory that std::stable_sort takes.
  std::sort(indices, indices + n, [&](std::int32_t a, std::int32_t b) {
    const T first = descending ? x[b] : x[a], second = descending ? x[a] : x[b];
    return less(first, second) || (a < b && !less(second, first));
  });
  for (std::int64_t i = 0; i < n; ++i) sorted[i] = x[indices[i]];
}

/// Of each thread: a line in lanes, in its order and sorted, and where its elements come from.
struct SortRoom {
  std::vector<std::int64_t> values, sorted;
  std::vector<std::int32_t> indices;
};

}  // namespace

void run_sort(const SortRequest& r, const KernelTable& table) {
  const std::int64_t n = r.space[static_cast<std::size_t>(r.axis)];
  const AxisOrder order = along(r.space, r.axis);
  const Lane lane = detail::lane_of(r.input.dtype);
  constexpr DType wide[] = {DType::f32, DType::f64, DType::i32, DType::u32, DType::i64};
  for_lines(r.space, r.axis, [&](const AxisOrder& lines, std::int64_t line) {
    auto& [values, sorted, indices] = detail::of_thread<SortRoom>();
    values.resize(static_cast<std::size_t>(n)), sorted.resize(static_cast<std::size_t>(n)),
        indices.resize(static_cast<std::size_t>(n));
    Walker(at_line(r.input, lines, line), order).load(table, 0, n, values.data());
    with_type(wide[static_cast<int>(lane)], r.op, [&]<class T>(T) {
      sort_line(reinterpret_cast<const T*>(values.data()), indices.data(), reinterpret_cast<T*>(sorted.data()), n,
                r.descending);
    });
    if (r.values.storage) Walker(at_line(r.values, lines, line), order).store(table, 0, n, sorted.data());
    if (r.indices.storage) Walker(at_line(r.indices, lines, line), order).store(table, 0, n, indices.data());
  });
}

}  // namespace tern::detail_cpu
