// Attention on the CPU, forward.
//
//            columns: 256 at a time                 k is packed once for all heads and rows that share it, transposed,
//          ┌──────────┬──────────┬────              in panels; v in panels of its width. A task has 56 rows of one
//   rows:  │  scores  │ (next)   │                  head:
//   56     │  in L2   │          │  sums [56 × Dv]    scores = q · kᵀ           micro-kernels, depth D
//          └──────────┴──────────┴────                scores = formula(scores)  the tape, 4 rows at a time
//                                  top, total [56]    shares = exp(scores - top) row by row, in L1; where a row's top
//                                                                               grows its sums go by it
//                                                     sums  += shares · v       micro-kernels, depth 256
//
// and at the end sums / total. Tiles no row of which sees a column are never computed; of others a row's shares are
// zeros where it sees nothing.
//
// Bound by the multiply-adds, 2 · (D + Dv) flops for a score, and by about 10 instructions of its exponential; 57 KB of
// scores and 128 KB of k and v a tile are read from L2.
#include <cmath>
#include <limits>

#include "cpu/threads_noted.hpp"
#include "primitives/attention/cpu/cpu_tiles.hpp"
#include "primitives/attention/kernels.hpp"
#include "process/of_thread.hpp"

namespace tern::detail_cpu {
namespace {

/// Memory of each thread, for k and v of a call, and for a tile.
struct Packed {
  ScratchBuffer buffer;
};
struct TileMemory {
  ScratchBuffer buffer;
};

using detail::AttentionRequest;
constexpr Int64 kForwardRows = 56, kForwardColumns = 256, kFewForward = 1 << 18;

template <class T> class CpuForward {
 public:
  CpuForward(const AttentionRequest& r, const TileFormulas& formulas)
      : r_(r),
        s_(r.sizes),
        tiles_(r.q.dtype),
        formulas_(formulas),
        panel_(tiles_.panel()),
        rows_(tiles_.full_rows(kForwardRows)) {}

  void run() {
    const Int64 panels = (s_.columns + panel_ - 1) / panel_;
    k_step_ = panels * panel_ * s_.depth;
    v_step_ = s_.columns * round_up(s_.width, panel_);
    const CallMemory packed(detail::of_thread<Packed>().buffer,
                            s_.batch * s_.groups * (k_step_ + v_step_) * Int64{sizeof(T)});
    k_ = packed.as<T>();
    v_ = k_ + s_.batch * s_.groups * k_step_;
    const Int64 parts = (s_.columns + kForwardColumns - 1) / kForwardColumns,
                tiles = (s_.rows + rows_ - 1) / rows_;
    for_tasks(s_, kFewForward, s_.batch * s_.groups * parts,
              [&](Int64 task) { pack(task / parts, task % parts * kForwardColumns); });
    for_tasks(s_, kFewForward, s_.batch * s_.heads * tiles * s_.parts, [&](Int64 task) {
      const Int64 of_part = task / s_.parts;
      rows_of(of_part / tiles, of_part % tiles * rows_, task % s_.parts);
    });
  }

 private:
  void pack(Int64 group, Int64 column) const {
    const Int64 cols = std::min(kForwardColumns, s_.columns - column);
    const HeadOf k = head_of(r_.k, group / s_.groups, group % s_.groups);
    const HeadOf v = head_of(r_.v, group / s_.groups, group % s_.groups);
    tiles_.copy_transposed(k, column, cols, s_.depth, k_ + group * k_step_ + column * s_.depth);
    for (Int64 w = 0; w < s_.width; w += panel_) {
      const HeadOf part{v.at(0, w), v.dtype, v.row, v.col};
      tiles_.copy(part, column, cols, std::min(panel_, s_.width - w),
                  v_ + group * v_step_ + w * s_.columns + column * panel_, panel_);
    }
  }

  /// What a task works with.
  struct RowsOfTask {
    Int64 batch, head, row, count, width, length;
    const T* q;
    T *scores, *sums, *top, *total;
  };
  void rows_of(Int64 head, Int64 row, Int64 part) const {
    RowsOfTask t{head / s_.heads,
                 head % s_.heads,
                 row,
                 std::min(rows_, s_.rows - row),
                 round_up(s_.width, panel_),
                 0,
                 nullptr,
                 nullptr,
                 nullptr,
                 nullptr,
                 nullptr};
    t.length = length_of(r_.lengths, t.batch, s_.columns);
    ScratchBuffer& scratch = detail::of_thread<TileMemory>().buffer;
    T* const copied = reinterpret_cast<T*>(
        scratch.reserve(rows_ * (s_.depth + kForwardColumns + panel_ + t.width + 2) * Int64{sizeof(T)}));
    t.scores = copied + rows_ * s_.depth;
    t.sums = t.scores + rows_ * (kForwardColumns + panel_);
    t.top = t.sums + rows_ * t.width;
    t.total = t.top + rows_;
    const HeadOf q = head_of(r_.q, t.batch, t.head);
    const bool there = dtype_size(q.dtype) == sizeof(T) && q.col == 1 && q.row == s_.depth;
    t.q = there ? reinterpret_cast<const T*>(q.at(row)) : copied;
    if (!there) tiles_.copy(q, row, t.count, s_.depth, copied, s_.depth);
    std::fill_n(t.sums, rows_ * t.width, T{0});
    std::fill_n(t.top, rows_, -std::numeric_limits<T>::infinity());
    std::fill_n(t.total, rows_, T{0});
    const Int64 from = part * s_.part_columns(), to = std::min(from + s_.part_columns(), s_.columns);
    const Int64 end = std::min(to, s_.end(row + t.count - 1, t.length));
    Int64 j = std::max(from, s_.first(row) / kForwardColumns * kForwardColumns);
    for (; j < end; j += kForwardColumns) tile(t, j, std::min(kForwardColumns, end - j));
    finish(t, part * s_.batch + t.batch);
  }
  void tile(const RowsOfTask& t, Int64 column, Int64 cols) const {
    const detail::Seen seen = formulas_.seen(t.batch, t.head, t.row, t.count, column, cols);
    if (seen == detail::Seen::nothing) return;
    const Int64 group = t.batch * s_.groups + t.head / s_.shared(), head = t.batch * s_.heads + t.head;
    auto* const scores = reinterpret_cast<std::byte*>(t.scores);
    tiles_.multiply({t.q, s_.depth, 1, 0}, {k_ + group * k_step_ + column * s_.depth, panel_, 1, s_.depth * panel_},
                    t.scores, cols, s_.depth, t.count, cols, false);
    if (const TileFormula* f = formulas_.score(seen)) f->run({scores, nullptr}, 0, head, t.row, column, t.count, cols);
    for (Int64 i = 0; i < t.count; ++i) {
      const Int64 first = std::clamp<Int64>(s_.first(t.row + i) - column, 0, cols);
      const Int64 end = std::clamp<Int64>(s_.end(t.row + i, t.length) - column, first, cols);
      tiles_.rows().shares(
          {t.scores + i * cols, cols, first, end, s_.scale, t.top + i, t.total + i, t.sums + i * t.width, s_.width});
    }
    if (const TileFormula* f = formulas_.thin()) f->run({scores, nullptr}, 0, head, t.row, column, t.count, cols);
    tiles_.multiply({t.scores, cols, 1, 0}, {v_ + group * v_step_ + column * panel_, panel_, 1, s_.columns * panel_},
                    t.sums, t.width, cols, t.count, s_.width, true);
  }
  void finish(const RowsOfTask& t, Int64 batch) const {
    const HeadOf out = head_of(r_.out, batch, t.head);
    for (Int64 i = 0; i < t.count; ++i) {
      const T total = t.total[i];
      tiles_.store(kernels(), t.sums + i * t.width, s_.width, total == 0 ? T{1} : 1 / total, out, t.row + i);
      if (!r_.tops.storage) continue;
      element_of_rows<T>(r_.tops, batch, t.head, t.row + i) = t.top[i];
      element_of_rows<T>(r_.totals, batch, t.head, t.row + i) = total;
    }
  }

  const AttentionRequest& r_;
  const detail::AttentionSizes& s_;
  TileProducts<T> tiles_;
  const TileFormulas& formulas_;
  Int64 panel_, rows_, k_step_ = 0, v_step_ = 0;
  T *k_ = nullptr, *v_ = nullptr;
};

}  // namespace

std::int64_t attention_tasks_on_cpu(const detail::AttentionSizes& s) {
  return has_few_rows(s) ? s.batch * s.groups : s.batch * s.heads * ((s.rows + kForwardRows - 1) / kForwardRows);
}
void attention_on_cpu(detail::Backend&, const AttentionRequest& r) {
  if (r.sizes.of_result().numel() == 0) return;
  if (has_few_rows(r.sizes)) return attention_of_few_rows(r);
  if (goes_by_lanes(r)) return attention_by_lanes(r);
  const TileFormulas formulas(r, r.out);
  with_threads_noted([&] {
    if (r.q.dtype == DType::f64) CpuForward<double>(r, formulas).run();
    else CpuForward<float>(r, formulas).run();
  });
}

}  // namespace tern::detail_cpu
