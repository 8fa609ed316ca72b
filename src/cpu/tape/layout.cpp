#include "cpu/tape/layout.hpp"

#include <algorithm>
#include <cstdlib>

#include "cpu/simd/dispatch.hpp"

namespace tern::detail_cpu {

using detail::FusedRequest;
using detail::StepKind;

namespace {

/// Elements of rows, and of a few columns of reduced axes, up to which many of them make the columns of a block where
/// they are not reduced as they lie, and how many there must be.
constexpr std::int64_t kTransposedRow = 16, kTransposedColumns = 256, kFewestTransposed = 16;

/// Columns that are read one by one, as rows with a step between elements, where they are so long and have online
/// sums or places: vectors of so few elements take 15 ns a row (argmax, var and logsumexp of 65536 rows of 2, Emerald
/// Rapids, in us: 953 to 35, 885 to 42, 385 to 58; of 8: 1017 to 481, 969 to 503, 531 to 577; of 12 1.3 to 2.4 as
/// long). Plain sums take whole vectors of rows.
constexpr std::int64_t kNarrowColumns = 8, kLongColumn = 64;

/// Those that differ.
std::int64_t elements_of(const detail::View& view, const Shape& space) {
  std::int64_t count = 1;
  for (std::size_t i = 0; i < space.size(); ++i)
    if (view.strides[i] != 0) count *= space[i];
  return count;
}

/// The axes as what decides the memory's order has them, the furthest apart first: the result of what is elementwise
/// (in place it may be a transposed view), the largest operand of what only reduces. Sums then depend on strides as
/// well.
detail::SmallVector<int, kMaxRank> axes_by_memory(const FusedRequest& request, const Tape& tape) {
  const auto rank = static_cast<std::size_t>(request.space.rank());
  detail::SmallVector<int, kMaxRank> axes;
  for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int>(i));
  const detail::View* guide = request.outputs.empty() ? nullptr : &request.outputs[0];
  if (tape.program->reduces) {
    guide = nullptr;
    for (const detail::ProgramOutput& output : tape.program->outputs)
      if (output.full) return axes;
    std::int64_t most = 0;
    for (const detail::Operand& operand : request.inputs)
      if (operand.view.storage && !operand.gather && elements_of(operand.view, request.space) > most)
        most = elements_of(operand.view, request.space), guide = &operand.view;
  }
  if (!guide || elements_of(*guide, request.space) != request.space.numel()) return axes;  // repeated along an axis
  const auto step = [&](int axis) { return std::abs(guide->strides[static_cast<std::size_t>(axis)]); };
  for (std::size_t i = 1; i < rank; ++i)
    for (std::size_t j = i; j > 0 && step(axes[j - 1]) < step(axes[j]); --j) std::swap(axes[j - 1], axes[j]);
  return axes;
}

Strides coordinate_strides(const FusedRequest& request, int axis) {
  Strides strides;
  strides.resize(request.space.rank(), 0);
  if (axis != detail::kOrdinalAxis) {
    strides[static_cast<std::size_t>(axis < 0 ? axis + request.space.rank() : axis)] = 1;
    return strides;
  }
  std::int64_t step = 1;
  for (int i = request.space.rank() - 1; i >= 0; --i) {
    if (!(request.reduced >> i & 1)) continue;
    strides[static_cast<std::size_t>(i)] = step;
    step *= request.space[static_cast<std::size_t>(i)];
  }
  return strides;
}

/// Of the values that are positions, in their order.
detail::PoolVector<Strides> coordinates_of(const FusedRequest& request, const Tape& tape) {
  detail::PoolVector<Strides> result;
  for (const TapeValue& value : tape.values)
    if (value.kind == StepKind::position) result.push_back(coordinate_strides(request, value.index));
  return result;
}

/// Whether an operand's neighbours lie along a kept axis, though the innermost axis, `last`, is another.
bool lies_across(const FusedRequest& request, int last) {
  const auto across = [&](const detail::View& view) {
    const std::int64_t step = std::abs(view.strides[static_cast<std::size_t>(last)]);
    for (std::size_t i = 0; i < request.space.size(); ++i)
      if (!(request.reduced >> i & 1) && request.space[i] != 1 && view.strides[i] != 0 &&
          std::abs(view.strides[i]) < step)
        return true;
    return false;
  };
  return std::ranges::any_of(request.inputs, [&](const detail::Operand& operand) {
    return operand.view.storage && !operand.gather && across(operand.view);
  });
}

/// Whether places in rows of so many elements are found where they lie.
bool finds_in_rows(const Tape& tape, std::int64_t length) {
  return std::ranges::all_of(tape.online, [&](const TapeOnline& online) {
    const TapeOp& pivot = tape.ops[static_cast<std::size_t>(online.pivot)];
    return length <= kernels().place_row[static_cast<int>(pivot.type)];
  });
}

}  // namespace

/// Few reduced elements are reduced where they lie, many rows or groups at once. Where places are asked for, or an
/// operand's rows lie across, they come first instead, so that a block has many short rows as its columns (transposed).
Layout::Layout(const FusedRequest& request, const Tape& tape) : coordinates(coordinates_of(request, tape)) {
  const detail::SmallVector<int, kMaxRank> axes = axes_by_memory(request, tape);
  const auto size = [&](std::size_t i) { return request.space[static_cast<std::size_t>(axes[i])]; };
  const auto reduced = [&](std::size_t i) { return (request.reduced >> axes[i] & 1) != 0; };
  const std::size_t rank = axes.size();
  rows = true;  // of the innermost axis that matters
  int last = -1;
  for (std::size_t i = 0; i < rank; ++i)
    if (size(i) != 1) rows = reduced(i), last = axes[i];
  std::size_t inner_begin = rank;  // columns: the kept axes behind the last reduced one
  while (!rows && inner_begin > 0 && (size(inner_begin - 1) == 1 || !reduced(inner_begin - 1))) --inner_begin;
  std::int64_t groups = 1, columns = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    if (reduced(i)) length *= size(i);
    else (i < inner_begin ? groups : columns) *= size(i);
  }
  const bool reduces = tape.program->reduces && length > 0 && last >= 0;
  const bool in_place = !tape.places || (rows && finds_in_rows(tape, length));
  const bool as_they_lie = reduces && in_place && !lies_across(request, last);
  transposed = reduces && !as_they_lie && groups >= kFewestTransposed &&
               length * columns <= (rows ? kTransposedRow : kTransposedColumns);
  const bool grouped = as_they_lie && !rows && groups > 1 && length * columns <= kTapeBlock;
  const bool one_by_one = reduces && !rows && !transposed && !grouped && tape.ops.size() > 1 &&
                          !tape.online.empty() && columns <= kNarrowColumns && length >= kLongColumn;
  if (transposed) inner_begin = 0;
  else if (one_by_one) inner_begin = rank;
  const auto add = [&](AxisOrder& order, std::size_t i) {
    order.axes[order.rank] = axes[i];
    order.sizes[order.rank++] = size(i);
  };
  for (std::size_t i = 0; i < inner_begin; ++i)
    if (!reduced(i)) add(full, i), add(kept, i);
  for (std::size_t i = 0; i < rank; ++i)
    if (reduced(i)) add(full, i);
  for (std::size_t i = inner_begin; i < rank; ++i)
    if (!reduced(i)) {
      add(full, i), add(kept, i);
      width *= size(i);
    }
  rows = (rows && !transposed) || grouped || one_by_one;
  if (grouped) group = columns;
}

}  // namespace tern::detail_cpu
