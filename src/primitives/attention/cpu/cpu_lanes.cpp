// Attention forward on the CPU with a row to each lane, where scores have no formula and the target says that it pays:
// k and v are packed once for all heads and rows that share them, six columns, or elements of v, side by side. Four
// panels of rows of one head (f32: 64 rows) each meet a tile of up to 270 columns in one call of a kernel, which has
// the rest (src/cpu/products/attention_lanes-inl.h). They are a task; or where there are many heads, all rows of those
// that share keys are. Bound by the multiply-adds and by about 22 instructions of a vector of exponentials.
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
/// Where each thread has so many heads of keys, a task has all rows of one, and packs for itself: k and v stay in L2.
constexpr Int64 kHeadsOfThread = 8;

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
    const Int64 keys = s_.batch * s_.groups, bytes = (k_step_ + v_step_) * Int64{sizeof(T)};
    const Int64 parts = (s_.columns + tile_ - 1) / tile_, tasks = (s_.rows + rows_ - 1) / rows_;
    if (max_threads() == 1 || keys >= kHeadsOfThread * max_threads())
      return for_tasks(s_, kFewByLanes, keys, [&](Int64 key) {
        const CallMemory packed(detail::of_thread<PackedBeside>().buffer, bytes);
        for (Int64 part = 0; part < parts; ++part) pack(packed.as<T>(), key, part * tile_);
        for (Int64 row = 0; row < s_.shared() * tasks; ++row)
          rows_of(packed.as<T>(), key * s_.shared() + row / tasks, row % tasks * rows_);
      });
    const CallMemory all(detail::of_thread<PackedBeside>().buffer, keys * bytes);
    T* const packed = all.as<T>();
    const Int64 step = k_step_ + v_step_;
    for_tasks(s_, kFewByLanes, keys * parts,
              [&](Int64 task) { pack(packed + task / parts * step, task / parts, task % parts * tile_); });
    for_tasks(s_, kFewByLanes, s_.batch * s_.heads * tasks, [&](Int64 task) {
      const Int64 head = task / tasks;
      rows_of(packed + head / s_.shared() * step, head, task % tasks * rows_);
    });
  }

 private:
  /// Columns from `column` on of k and v, which lie behind each other.
  void pack(T* packed, Int64 key, Int64 column) const {
    const Int64 cols = std::min(tile_, s_.columns - column);
    const HeadOf k = head_of(r_.k, key / s_.groups, key % s_.groups);
    const HeadOf v = head_of(r_.v, key / s_.groups, key % s_.groups);
    tiles_.columns_beside(k, column, cols, s_.depth, packed + column * s_.depth);
    tiles_.elements_beside(v, column, cols, s_.width, packed + k_step_ + column * kAttentionBeside,
                           kAttentionBeside * s_.columns);
  }

  /// What a task works with; of each of its panels q, sums, top and total.
  struct PanelsOfTask {
    Int64 batch, head, length;
    const T* packed;
    T *q, *sums, *top, *total, *scores, *first, *end, *turned;
  };
  PanelsOfTask task_of(const T* packed, Int64 head) const {
    ScratchBuffer& scratch = detail::of_thread<PanelMemory>().buffer;
    const Int64 count = rows_ * (s_.depth + s_.width + 2) + panel_ * (kColumnsByLanes + 2 + s_.width);
    T* at = reinterpret_cast<T*>(scratch.reserve(count * Int64{sizeof(T)}));
    const auto take = [&](Int64 n) { return std::exchange(at, at + n); };
    PanelsOfTask t{};
    t.packed = packed;
    t.batch = head / s_.heads, t.head = head % s_.heads, t.length = length_of(r_.lengths, t.batch, s_.columns);
    t.scores = take(panel_ * kColumnsByLanes), t.q = take(rows_ * s_.depth), t.sums = take(rows_ * s_.width);
    t.top = take(rows_), t.total = take(rows_), t.first = take(panel_), t.end = take(panel_);
    t.turned = take(panel_ * s_.width);
    std::fill_n(t.sums, rows_ * s_.width, T{0});
    std::fill_n(t.top, rows_, -std::numeric_limits<T>::infinity());
    std::fill_n(t.total, rows_, T{0});
    return t;
  }
  void rows_of(const T* packed, Int64 head, Int64 row) const {
    const PanelsOfTask t = task_of(packed, head);
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
    tiles_.rows().lanes({t.q + at * s_.depth, t.packed + column * s_.depth,
                         t.packed + k_step_ + column * kAttentionBeside, s_.depth, cols, s_.width,
                         s_.columns * kAttentionBeside, s_.scale, whole ? nullptr : t.first, t.end, t.scores,
                         t.sums + at * s_.width, t.top + at, t.total + at});
  }
  void finish(const PanelsOfTask& t, Int64 at, Int64 row, Int64 count) const {
    const HeadOf out = head_of(r_.out, t.batch, t.head);
    T* const sums = t.sums + at * s_.width;
    T* const factors = t.first;
    for (Int64 i = 0; i < panel_; ++i) {
      const T total = t.total[at + i];
      factors[i] = total == 0 ? T{1} : 1 / total;
      if (i >= count || !r_.tops.storage) continue;
      element_of_rows<T>(r_.tops, t.batch, t.head, row + i) = t.top[at + i];
      element_of_rows<T>(r_.totals, t.batch, t.head, row + i) = total;
    }
    for (Int64 w = 0; w < s_.width; ++w)
      for (Int64 i = 0; i < panel_; ++i) sums[w * panel_ + i] *= factors[i];
    if (tiles_.is_there(out)) return tiles_.turn(sums, count, s_.width, reinterpret_cast<T*>(out.at(row)), out.row);
    tiles_.turn(sums, count, s_.width, t.turned, s_.width);
    for (Int64 i = 0; i < count; ++i) tiles_.store(kernels(), t.turned + i * s_.width, s_.width, T{1}, out, row + i);
  }

  const AttentionRequest& r_;
  const detail::AttentionSizes& s_;
  TileProducts<T> tiles_;
  Int64 panel_, rows_, tile_ = 0, k_step_ = 0, v_step_ = 0;
};

}  // namespace

namespace {
template <class Request> bool suits_lanes(const Request& r) {
  const AttentionKernels& kernels = attention_kernels();
  const AttentionKernelsOf& rows = r.q.dtype == DType::f64 ? kernels.f64 : kernels.f32;
  return rows.lanes && r.sizes.scale > 0 && r.sizes.parts == 1 && !r.programs.score && !r.programs.thin &&
         !r.blocks.storage;
}
}  // namespace
bool goes_by_lanes(const AttentionRequest& r) { return suits_lanes(r); }
bool goes_by_lanes(const detail::AttentionBackwardRequest& r) { return suits_lanes(r) && !has_few_rows(r.sizes); }
void attention_by_lanes(const AttentionRequest& r) {
  with_threads_noted([&] {
    if (r.q.dtype == DType::f64) ByLanes<double>(r).run();
    else ByLanes<float>(r).run();
  });
}

}  // namespace tern::detail_cpu
