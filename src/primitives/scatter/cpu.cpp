// `scatter` on the CPU.
#include <algorithm>
#include <string>
#include <vector>

#include "cpu/line_tools.hpp"
#include "cpu/machine/threads.hpp"
#include "cpu/threads_noted.hpp"
#include "primitives/scatter/kernels.hpp"

namespace tern::detail_cpu {

using detail::ScatterRequest;

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

/// Steps of the three operands along an axis.
struct Steps {
  std::int64_t source, output, table;
};
Steps steps_along(const ScatterRequest& r, int axis) {
  const auto a = static_cast<std::size_t>(axis);
  return {r.source.strides[a], r.output.strides[a], r.target.table.strides[a]};
}

/// Calls row(offsets, left) with the offsets of each row along the last axis, in order, and how many rows follow it
/// along the axis before.
template <class Row> void for_rows(const ScatterRequest& r, const Shape& space, const Strides& first, const Row& row) {
  const int before = space.rank() - 2;
  const std::int64_t rows = before < 0 ? 1 : space[static_cast<std::size_t>(before)];
  std::int64_t coordinates[kMaxRank] = {};
  Steps at{first[0], first[1], first[2]};
  for (bool more = true; more;) {
    row(at, before < 0 ? 0 : rows - 1 - coordinates[before]);
    more = false;
    for (int i = before; i >= 0 && !more; --i) {
      const std::int64_t size = space[static_cast<std::size_t>(i)];
      const Steps step = steps_along(r, i);
      at.source += step.source, at.output += step.output, at.table += step.table;
      more = ++coordinates[i] < size;
      if (more) break;
      coordinates[i] = 0;
      at.source -= size * step.source, at.output -= size * step.output, at.table -= size * step.table;
    }
  }
}

/// Whether the table varies along the last axis alone.
bool is_one_row(const ScatterRequest& r, const Shape& space) {
  for (int i = 0; i < space.rank() - 1; ++i)
    if (space[static_cast<std::size_t>(i)] != 1 && steps_along(r, i).table != 0) return false;
  return true;
}

/// A row of `source` into one of `output`, which is other memory: by vectors where both are neighbours.
template <class T, Combine kCombine>
void scatter_row(const T* source, std::int64_t source_step, T* output, std::int64_t output_step, std::int64_t n) {
  if (source_step == 1 && output_step == 1) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) output[i] = combined(kCombine, output[i], source[i]);
    return;
  }
  for (std::int64_t i = 0; i < n; ++i)
    output[i * output_step] = combined(kCombine, output[i * output_step], source[i * source_step]);
}
/// What a row is added to is fetched so many rows before, up to so many bytes of it: it lies anywhere. (2^16 rows of 64
/// f32 into as many by hand, Zen 3, ms: 0 5.0, 4 3.9, 8 3.0, 16 2.9, 32 3.4.)
constexpr std::int64_t kRowsAhead = 8, kBytesAhead = 1024, kLineAhead = 64;

/// In the order of the space, one element after the other.
template <class T, Combine kCombine>
void scatter_part(const ScatterRequest& r, const Shape& space, const Strides& first) {
  const T* const source = pointer<T>(r.source);
  T* const output = pointer<T>(r.output);
  const std::int32_t* const table = pointer<std::int32_t>(r.target.table);
  const int last = space.rank() - 1;
  const std::int64_t n = last < 0 ? 1 : space[static_cast<std::size_t>(last)];
  const Steps step = last < 0 ? Steps{} : steps_along(r, last);
  const std::int64_t target_size = r.target.size, target_step = r.target.step;
  const auto place = [=](std::int64_t at) {
    const std::int64_t value = table[at];
    return (value < 0 ? value + target_size : value) * target_step;
  };
  const Steps next = last < 1 ? Steps{} : steps_along(r, last - 1);
  constexpr std::int64_t line = kLineAhead / sizeof(T);
  const std::int64_t fetched = std::min(n, kBytesAhead / kLineAhead * line);
  std::vector<std::int64_t> places;  // of a row whose entries are those of all, found once
  if (step.table != 0 && space.numel() > n && is_one_row(r, space))
    for (std::int64_t i = 0; i < n; ++i) places.push_back(i * step.output + place(first[2] + i * step.table));
  for_rows(r, space, first, [&](const Steps& at, std::int64_t left) {
    const T* const from = source + at.source;
    T* const to = output + at.output;
    if (step.table == 0) {
      if (left >= kRowsAhead && step.output == 1) {  // not a function: GCC leaves out calls that only fetch
        const std::int64_t ahead = place(at.table + kRowsAhead * next.table) + kRowsAhead * next.output;
        for (std::int64_t i = 0; i < fetched; i += line) __builtin_prefetch(to + ahead + i, 1);
      }
      scatter_row<T, kCombine>(from, step.source, to + place(at.table), step.output, n);
    } else if (!places.empty()) {
      const std::int64_t* const where = places.data();
      for (std::int64_t i = 0; i < n; ++i) to[where[i]] = combined(kCombine, to[where[i]], from[i * step.source]);
    } else {
      for (std::int64_t i = 0; i < n; ++i) {
        T& sum = to[i * step.output + place(at.table + i * step.table)];
        sum = combined(kCombine, sum, from[i * step.source]);
      }
    }
  });
}
template <class T> void scatter_part(const ScatterRequest& r, const Shape& space, const Strides& first) {
  switch (r.combine) {
    case Combine::mul: return scatter_part<T, Combine::mul>(r, space, first);
    case Combine::maximum: return scatter_part<T, Combine::maximum>(r, space, first);
    case Combine::minimum: return scatter_part<T, Combine::minimum>(r, space, first);
    case Combine::last: return scatter_part<T, Combine::last>(r, space, first);
    default: return scatter_part<T, Combine::add>(r, space, first);
  }
}

/// In a loop that compilers make vectors of.
bool are_within(const std::int32_t* entries, std::int64_t n, std::int64_t size) {
  const auto end = static_cast<std::int32_t>(std::min<std::int64_t>(size, INT32_MAX));
  int wrong = 0;
  for (std::int64_t i = 0; i < n; ++i) wrong |= (entries[i] < -end) | (entries[i] >= end);
  return wrong == 0;
}
/// All entries are checked before anything is written.
void check_table(const ScatterRequest& r) {
  Shape space = r.space;
  for (int i = 0; i < space.rank(); ++i)
    if (r.target.table.strides[static_cast<std::size_t>(i)] == 0) space[static_cast<std::size_t>(i)] = 1;
  const std::int32_t* const table = pointer<std::int32_t>(r.target.table);
  const int last = space.rank() - 1;
  const std::int64_t n = last < 0 ? 1 : space[static_cast<std::size_t>(last)],
                     step = last < 0 ? 0 : steps_along(r, last).table;
  Strides first;
  first.resize(3, 0);
  for_rows(r, space, first, [&](const Steps& at, std::int64_t) {
    if (step == 1 && are_within(table + at.table, n, r.target.size)) return;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t value = table[at.table + i * step];
      if (value < -r.target.size || value >= r.target.size)
        throw Error(ErrorKind::index,
                    "index " + std::to_string(value) + " is out of range for size " + std::to_string(r.target.size));
    }
  });
}

void scatter_in_tasks(const ScatterRequest& r) {
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

}  // namespace

void scatter_on_cpu(detail::Backend&, const ScatterRequest& request) {
  with_threads_noted([&] { scatter_in_tasks(request); });
}

}  // namespace tern::detail_cpu
