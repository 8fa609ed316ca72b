// Attention forward on the CPU with a row to each lane, where scores have no formula and the target says that it pays:
// k and v are packed once for all heads and rows that share them, six columns, or elements of v, side by side. A task
// has four panels of rows of one head (f32: 64 rows); each meets a tile of up to 270 columns in one call of a kernel,
// which has the rest (src/cpu/products/attention_lanes-inl.h). Bound by the multiply-adds and by about 22 instructions
// of a vector of exponentials.
#include <limits>
#include <utility>

#include "cpu/threads_noted.hpp"
#include "primitives/attention/cpu/cpu_tiles.hpp"
#include "primitives/attention/kernels.hpp"
#include "process/of_thread.hpp"

namespace tern::detail_cpu {
namespace {

/// Memory of each thread, for k and v of a call, and for a task.
struct PackedBeside {
  ScratchBuffer buffer;
};
struct PanelMemory {
  ScratchBuffer buffer;
};

using detail::AttentionRequest;
/// Panels of a task, which read a tile of k and v one after the other; columns of a tile, whose scores take half of L1.
constexpr Int64 kPanelsOfTask = 4, kColumnsByLanes = 45 * kAttentionBeside, kFewByLanes = 1 << 18;

template <class T> class ByLanes {
 public:
  explicit ByLanes(const AttentionRequest& r)
      : r_(r), s_(r.sizes), tiles_(r.q.dtype), panel_(tiles_.panel()), rows_(kPanelsOfTask * panel_) {
    // Tiles of about one size.
    const Int64 tiles = std::max<Int64>(1, (s_.columns + kColumnsByLanes - 1) / kColumnsByLanes);
    tile_ = round_up(std::max<Int64>(1, (s_.columns + tiles - 1) / tiles), kAttentionBeside);
  }

  void run() {
    k_step_ = round_up(s_.columns, kAttentionBeside) * s_.depth;
    v_step_ = s_.columns * round_up(s_.width, kAttentionBeside);
    const CallMemory packed(detail::of_thread<PackedBeside>().buffer,
                            s_.batch * s_.groups * (k_step_ + v_step_) * Int64{sizeof(T)});
    k_ = packed.as<T>();
    v_ = k_ + s_.batch * s_.groups * k_step_;
    const Int64 parts = (s_.columns + tile_ - 1) / tile_, tasks = (s_.rows + rows_ - 1) / rows_;
    for_tasks(s_, kFewByLanes, s_.batch * s_.groups * parts,
              [&](Int64 task) { pack(task / parts, task % parts * tile_); });
    for_tasks(s_, kFewByLanes, s_.batch * s_.heads * tasks,
              [&](Int64 task) { rows_of(task / tasks, task % tasks * rows_); });
  }

 private:
  void pack(Int64 group, Int64 column) const {
    const Int64 cols = std::min(tile_, s_.columns - column);
    const HeadOf k = head_of(r_.k, group / s_.groups, group % s_.groups);
    const HeadOf v = head_of(r_.v, group / s_.groups, group % s_.groups);
    T* const k_to = k_ + group * k_step_ + column * s_.depth;
    T* const v_to = v_ + group * v_step_ + column * kAttentionBeside;
    const bool computed = dtype_size(k.dtype) == sizeof(T);
    if (computed && k.col == 1) {
      tiles_.rows().columns_beside({k.at(column), k.row, cols, s_.depth, k_to, kAttentionBeside * s_.depth});
    } else {
      for (Int64 j = 0; j < cols; j += kAttentionBeside)
        tiles_.copy_beside({k.at(column + j), k.dtype, k.col, k.row}, s_.depth,
                           std::min<Int64>(kAttentionBeside, cols - j), k_to + j * s_.depth);
    }
    if (computed && v.col == 1) {
      tiles_.rows().elements_beside({v.at(column), v.row, cols, s_.width, v_to, kAttentionBeside * s_.columns});
    } else {
      for (Int64 w = 0; w < s_.width; w += kAttentionBeside)
        tiles_.copy_beside({v.at(column, w), v.dtype, v.row, v.col}, cols,
                           std::min<Int64>(kAttentionBeside, s_.width - w), v_to + w * s_.columns);
    }
  }

  /// What a task works with; of each of its panels q, sums, top and total.
  struct PanelsOfTask {
    Int64 batch, head, length;
    T *q, *sums, *top, *total, *scores, *first, *end, *turned;
  };
  PanelsOfTask task_of(Int64 head) const {
    ScratchBuffer& scratch = detail::of_thread<PanelMemory>().buffer;
    const Int64 count = rows_ * (s_.depth + s_.width + 2) + panel_ * (kColumnsByLanes + 2 + s_.width);
    T* at = reinterpret_cast<T*>(scratch.reserve(count * Int64{sizeof(T)}));
    const auto take = [&](Int64 n) { return std::exchange(at, at + n); };
    PanelsOfTask t{};
    t.batch = head / s_.heads, t.head = head % s_.heads, t.length = length_of(r_.lengths, t.batch, s_.columns);
    t.scores = take(panel_ * kColumnsByLanes), t.q = take(rows_ * s_.depth), t.sums = take(rows_ * s_.width);
    t.top = take(rows_), t.total = take(rows_), t.first = take(panel_), t.end = take(panel_);
    t.turned = take(panel_ * s_.width);
    std::fill_n(t.sums, rows_ * s_.width, T{0});
    std::fill_n(t.top, rows_, -std::numeric_limits<T>::infinity());
    std::fill_n(t.total, rows_, T{0});
    return t;
  }
  void rows_of(Int64 head, Int64 row) const {
    const PanelsOfTask t = task_of(head);
    const Int64 count = std::min(rows_, s_.rows - row), end = s_.end(row + count - 1, t.length);
    tiles_.copy_transposed(head_of(r_.q, t.batch, t.head), row, count, s_.depth, t.q);
    for (Int64 j = s_.first(row) / tile_ * tile_; j < end; j += tile_)
      for (Int64 i = 0; i < count; i += panel_) tile(t, i, row + i, std::min(panel_, count - i), j);
    for (Int64 i = 0; i < count; i += panel_) finish(t, i, row + i, std::min(panel_, count - i));
  }
  /// Panel `at` of the task, rows [row, row + count), by the columns from `column` on that they see.
  void tile(const PanelsOfTask& t, Int64 at, Int64 row, Int64 count, Int64 column) const {
    const Int64 last = row + count - 1, cols = std::min(tile_, s_.end(last, t.length) - column);
    if (cols <= 0 || s_.first(row) >= column + cols) return;
    const bool whole = s_.first(last) <= column && s_.end(row, t.length) >= column + cols;
    for (Int64 i = 0; !whole && i < panel_; ++i) {
      const Int64 of = std::min(row + i, last);
      t.first[i] = static_cast<T>(std::clamp<Int64>(s_.first(of) - column, 0, cols));
      t.end[i] = static_cast<T>(std::clamp<Int64>(s_.end(of, t.length) - column, 0, cols));
    }
    const Int64 group = t.batch * s_.groups + t.head / s_.shared();
    tiles_.rows().lanes({t.q + at * s_.depth, k_ + group * k_step_ + column * s_.depth,
                         v_ + group * v_step_ + column * kAttentionBeside, s_.depth, cols, s_.width,
                         s_.columns * kAttentionBeside, s_.scale, whole ? nullptr : t.first, t.end, t.scores,
                         t.sums + at * s_.width, t.top + at, t.total + at});
  }
  void finish(const PanelsOfTask& t, Int64 at, Int64 row, Int64 count) const {
    const HeadOf out = head_of(r_.out, t.batch, t.head);
    tiles_.turn(t.sums + at * s_.width, count, s_.width, t.turned);
    for (Int64 i = 0; i < count; ++i) {
      const T total = t.total[at + i];
      tiles_.store(kernels(), t.turned + i * s_.width, s_.width, total == 0 ? T{1} : 1 / total, out, row + i);
      if (!r_.tops.storage) continue;
      element_of_rows<T>(r_.tops, t.batch, t.head, row + i) = t.top[at + i];
      element_of_rows<T>(r_.totals, t.batch, t.head, row + i) = total;
    }
  }

  const AttentionRequest& r_;
  const detail::AttentionSizes& s_;
  TileProducts<T> tiles_;
  Int64 panel_, rows_, tile_ = 0, k_step_ = 0, v_step_ = 0;
  T *k_ = nullptr, *v_ = nullptr;
};

}  // namespace

bool goes_by_lanes(const AttentionRequest& r) {
  const AttentionKernels& kernels = attention_kernels();
  const AttentionKernelsOf& rows = r.q.dtype == DType::f64 ? kernels.f64 : kernels.f32;
  return rows.lanes && r.sizes.scale > 0 && r.sizes.parts == 1 && !r.programs.score && !r.programs.thin &&
         !r.blocks.storage;
}
void attention_by_lanes(const AttentionRequest& r) {
  with_threads_noted([&] {
    if (r.q.dtype == DType::f64) ByLanes<double>(r).run();
    else ByLanes<float>(r).run();
  });
}

}  // namespace tern::detail_cpu
