#include "cpu/lines.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "cpu/line_tools.hpp"
#include "cpu/threads.hpp"

namespace tern::detail_cpu {

using detail::ScatterRequest;

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

}  // namespace tern::detail_cpu
