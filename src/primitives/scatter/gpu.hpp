// Scatter-reduce without float atomics.
#pragma once
#include <initializer_list>

#include "gpu/gpu_backend.hpp"
#include "gpu/text/io.hpp"
#include "gpu/text/kernel_file.hpp"
#include "primitives/scatter/kernels.hpp"

namespace tern::detail_gpu {

/// The axes that the output has, and those along which entries meet in an element: of output, source and table.
struct ScatterAxes {
  /// `in_one`: all of them in `summed`, whether entries meet along them or not.
  explicit ScatterAxes(const detail::ScatterRequest& r, bool in_one = false);
  MergedAxes kept, summed;
};
/// The views of a plan, which lives no longer, beside those of the request.
struct ScatterViews {
  View flags, initial;
};
/// Adds and binds the accesses 0 (the output), 1 (the source), 2 (the table) and 3 (flags of entries out of range),
/// laid over all axes and, as one more, the output's place along the indexed one. Returns what add_initial does.
int add_operands(GpuBackend& backend, Plan& plan, const detail::ScatterRequest& r, const ScatterAxes& axes,
                 ScatterViews& views);

/// How many neighbours along the last of the kept axes an invocation takes, all of which one entry of each table
/// (accesses) is for. Marks accesses as wide.
int scatter_group(Plan& plan, const MergedAxes& kept, std::initializer_list<int> tables);

/// The bytes of all elements that the table may name in a view laid out as the output.
ByteRange bytes_of_outputs(const detail::ScatterRequest& r, const detail::View& view);
/// The access of what the outputs were before: of `initial`, as the output lies, or, where there is none, 0, the
/// output's own. `view` lives as long as the plan; `touched` are the bytes of the accesses so far.
int add_initial(Plan& plan, const detail::ScatterRequest& r, detail::View& view, std::vector<ByteRange>& touched);

/// The holes of a group of neighbours in a kernel: $old_0, $old_1, … are what the access of the old ones holds at
/// `outside`, once $load_old has loaded them; $new_0, … what the source (access 1) has at `inside`, after $load_new;
/// $store writes acc0, acc1, … to the output.
void name_group(Holes& holes, Io& io, const Position& outside, const Position& inside, int group,
                int old_access);
/// $index, an entry of the table (an access), and $report, which notes one that is out of range.
void name_index(Holes& holes, const Plan& plan, const Io& io, const Dialect& dialect, int table, int flags,
                const Position& at);

/// A line with a table of its own to a warp; false, having done nothing, where the request is not of such lines.
bool run_scatter_lines(GpuBackend& backend, const detail::ScatterRequest& request);
bool fits_scatter_lines(GpuBackend& backend, const detail::ScatterRequest& request);

/// Whether the request is a sum of integers, and of more entries than are looked through; then by atomics.
bool adds_integers(const GpuBackend& backend, const detail::ScatterRequest& request);
void run_scatter_integers(GpuBackend& backend, const detail::ScatterRequest& request);

/// Sorted entries that an invocation goes through in one launch.
inline constexpr std::int64_t kMostAtOnce = std::int64_t{1} << 20;
/// Through a sorted copy of the table: for tables that are too large to be looked through for every element.
void run_scatter_sorted(GpuBackend& backend, const detail::ScatterRequest& request);

}  // namespace tern::detail_gpu
