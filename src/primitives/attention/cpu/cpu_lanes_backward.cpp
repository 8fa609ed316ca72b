// The gradient of attention on the CPU with a row to each lane, where forward has that (cpu_lanes.cpp).
//
// A task has a stretch of the columns of one key head, as in cpu_backward.cpp. It takes them in blocks, whose k and v
// are packed once, and for each goes over the rows of all query heads that share the key, 64 at a time (f32), packed
// both ways; each group of rows meets the block's tiles of columns in one call of a kernel each, which has the rest
// (src/cpu/products/attention_lanes_backward-inl.h). Gradients of q are summed for each stretch, with rows in lanes.
//
// Bound by the multiply-adds of five products and by the exponentials; a tile has 35 KB of k and v, which panels read
// from L2 one after the other, and as much of shares and of slopes.
#include <algorithm>
#include <limits>
#include <utility>

#include "cpu/simd/dispatch.hpp"
#include "cpu/threads_noted.hpp"
#include "primitives/attention/cpu/cpu_tiles.hpp"
#include "primitives/attention/kernels.hpp"
#include "process/of_thread.hpp"

namespace tern::detail_cpu {
namespace {

/// Memory of each thread, for the sums of a call, and for a task.
struct LaneSumsMemory {
  ScratchBuffer buffer;
};
struct LanesBackwardMemory {
  ScratchBuffer buffer;
};

using detail::AttentionBackwardRequest;
/// Panels of a group; columns of a tile at most, where keys and values have up to 128 elements together (of more fewer,
/// so that L2 has what belongs to a tile), and of a block.
constexpr Int64 kPanelsOfGroup = 4, kTileByLanes = 22 * kAttentionBeside, kTileElements = 128,
                kBlockByLanes = 8 * kTileByLanes, kFewLanesBackward = 1 << 17;

template <class T> class BackwardByLanes {
 public:
  explicit BackwardByLanes(const AttentionBackwardRequest& r)
      : r_(r),
        s_(r.sizes),
        tiles_(r.q.dtype),
        panel_(tiles_.panel()),
        depth_(round_up(s_.depth, panel_)),
        width_(round_up(s_.width, panel_)),
        rows_(kPanelsOfGroup * panel_),
        stretches_(stretches_of(s_)),
        head_(round_up(s_.rows, panel_) * s_.depth) {
    const Int64 fit = kTileByLanes * kTileElements / std::max(s_.depth + s_.width, kTileElements);
    most_ = fit / kAttentionBeside * kAttentionBeside;
  }

  void run() {
    const CallMemory sums(detail::of_thread<LaneSumsMemory>().buffer,
                          stretches_.count * s_.batch * s_.heads * head_ * Int64{sizeof(T)});
    sums_ = sums.as<T>();
    for_tasks(s_, kFewLanesBackward, s_.batch * s_.groups * stretches_.count,
              [&](Int64 task) { columns_of(task / stretches_.count, task % stretches_.count); });
    for_tasks(s_, kFewLanesBackward, s_.batch * s_.heads, [&](Int64 head) { add_up(head); });
  }

 private:
  /// What a task works with: a block's k and v and their gradients; of a group its rows, what belongs to each, and the
  /// tiles.
  struct WorkOfBlock {
    Int64 batch, group, head, column, cols, tile;  // cols: of the block that there are
    T *k, *v, *k_beside, *k_grad, *v_grad, *q, *out_grad, *q_rows, *out_grad_rows;
    T *shift, *factor, *mean, *first, *end, *shares, *slopes;
  };
  WorkOfBlock work() const {
    ScratchBuffer& scratch = detail::of_thread<LanesBackwardMemory>().buffer;
    const Int64 block = round_up(std::min(stretches_.columns, kBlockByLanes), kAttentionBeside),
                beside = round_up(s_.depth, kAttentionBeside);
    const Int64 columns = block * (s_.depth + s_.width + beside + depth_ + width_),
                rows = rows_ * (s_.depth + s_.width + depth_ + width_ + 5), tile = rows_ * kTileByLanes;
    WorkOfBlock w{};
    T* at = reinterpret_cast<T*>(scratch.reserve((columns + rows + 2 * tile) * Int64{sizeof(T)}));
    const auto take = [&](Int64 count) { return std::exchange(at, at + count); };
    w.shares = take(tile), w.slopes = take(tile);
    w.q = take(rows_ * s_.depth), w.out_grad = take(rows_ * s_.width);
    w.q_rows = take(rows_ * depth_), w.out_grad_rows = take(rows_ * width_);
    w.shift = take(rows_), w.factor = take(rows_), w.mean = take(rows_), w.first = take(rows_), w.end = take(rows_);
    w.k_grad = take(block * depth_), w.v_grad = take(block * width_);
    w.k = take(block * s_.depth), w.v = take(block * s_.width), w.k_beside = take(block * beside);
    return w;
  }

  void columns_of(Int64 key, Int64 stretch) const {
    WorkOfBlock w = work();
    w.batch = key / s_.groups, w.group = key % s_.groups;
    const Int64 shared = s_.shared(), length = length_of(r_.lengths, w.batch, s_.columns);
    const Int64 first = stretch * stretches_.columns, end = std::min(first + stretches_.columns, s_.columns);
    std::fill_n(sums_of(stretch, w.batch * s_.heads + w.group * shared), shared * head_, T{0});
    for (w.column = first; w.column < end; w.column += kBlockByLanes) {
      const Int64 cols = std::min(kBlockByLanes, end - w.column);
      pack_block(w, cols, length);
      for (Int64 h = 0; h < shared; ++h) {
        w.head = w.group * shared + h;
        rows_against(w, sums_of(stretch, w.batch * s_.heads + w.head), length);
      }
      const HeadOf k_grad = head_of(r_.k_grad, w.batch, w.group), v_grad = head_of(r_.v_grad, w.batch, w.group);
      for (Int64 i = 0; i < cols; ++i) {
        tiles_.store(kernels(), w.k_grad + i * depth_, s_.depth, static_cast<T>(s_.scale), k_grad, w.column + i);
        tiles_.store(kernels(), w.v_grad + i * width_, s_.width, T{1}, v_grad, w.column + i);
      }
    }
  }
  /// Beyond a sample's length k and v are not its own.
  void pack_block(WorkOfBlock& w, Int64 cols, Int64 length) const {
    w.cols = std::clamp<Int64>(length - w.column, 0, cols);
    const Int64 tiles = (w.cols + most_ - 1) / most_;
    w.tile = tiles ? round_up((w.cols + tiles - 1) / tiles, kAttentionBeside) : 0;
    std::fill_n(w.k_grad, cols * depth_, T{0}), std::fill_n(w.v_grad, cols * width_, T{0});
    const HeadOf k = head_of(r_.k, w.batch, w.group), v = head_of(r_.v, w.batch, w.group);
    tiles_.columns_beside(k, w.column, w.cols, s_.depth, w.k);
    tiles_.columns_beside(v, w.column, w.cols, s_.width, w.v);
    tiles_.elements_beside(k, w.column, w.cols, s_.depth, w.k_beside, kAttentionBeside * w.cols);
  }
  void rows_against(const WorkOfBlock& w, T* sums, Int64 length) const {
    for (Int64 row = 0; row < s_.rows; row += rows_) {
      const Int64 count = std::min(rows_, s_.rows - row), last = row + count - 1;
      if (s_.first(row) >= w.column + w.cols || s_.end(last, length) <= w.column) continue;
      pack_rows(w, row, count);
      for (Int64 j = 0; j < w.cols; j += w.tile) tile(w, sums, length, row, count, j);
    }
  }
  /// Rows beyond the last are zeros, of which nothing comes: their factor is 0.
  void pack_rows(const WorkOfBlock& w, Int64 row, Int64 count) const {
    const HeadOf q = head_of(r_.q, w.batch, w.head), out_grad = head_of(r_.out_grad, w.batch, w.head);
    tiles_.copy_transposed(q, row, count, s_.depth, w.q);
    tiles_.copy_transposed(out_grad, row, count, s_.width, w.out_grad);
    in_panels(q, row, count, s_.depth, w.q_rows), in_panels(out_grad, row, count, s_.width, w.out_grad_rows);
    for (Int64 i = 0; i < round_up(count, panel_); ++i) {
      w.shift[i] = w.factor[i] = w.mean[i] = 0;
      if (i >= count) continue;
      const T top = element_of_rows<T>(r_.tops, w.batch, w.head, row + i),
              total = element_of_rows<T>(r_.totals, w.batch, w.head, row + i);
      w.shift[i] = top == -std::numeric_limits<T>::infinity() ? T{0} : top, w.factor[i] = total == 0 ? T{0} : 1 / total;
      w.mean[i] = element_of_rows<T>(r_.means, w.batch, w.head, row + i);
    }
  }
  void in_panels(const HeadOf& from, Int64 row, Int64 count, Int64 width, T* to) const {
    for (Int64 p = 0; p < width; p += panel_, to += rows_ * panel_) {
      tiles_.copy({from.at(0, p), from.dtype, from.row, from.col}, row, count, std::min(panel_, width - p), to, panel_);
      std::fill_n(to + count * panel_, (round_up(count, panel_) - count) * panel_, T{0});
    }
  }
  /// Rows [row, row + count) by the block's columns from `at` on, those of its panels that see one.
  void tile(const WorkOfBlock& w, T* sums, Int64 length, Int64 row, Int64 count, Int64 at) const {
    const Int64 column = w.column + at, last = row + count - 1;
    const Int64 cols = std::min({w.tile, w.cols - at, s_.end(last, length) - column});
    Int64 from = 0, to = count;
    while (from < to && s_.end(std::min(row + from + panel_ - 1, last), length) <= column) from += panel_;
    while (from < to && s_.first(row + (to - 1) / panel_ * panel_) >= column + cols) to = (to - 1) / panel_ * panel_;
    if (cols <= 0 || from >= to) return;
    const bool whole = s_.first(last) <= column && s_.end(row, length) >= column + cols;
    for (Int64 i = from; !whole && i < round_up(to, panel_); ++i) {
      const Int64 of = std::min(row + i, last);
      w.first[i] = static_cast<T>(std::clamp<Int64>(s_.first(of) - column, 0, cols));
      w.end[i] = static_cast<T>(std::clamp<Int64>(s_.end(of, length) - column, 0, cols));
    }
    tiles_.rows().lanes_backward(
        {w.q + from * s_.depth, w.out_grad + from * s_.width, w.q_rows + from * panel_, w.out_grad_rows + from * panel_,
         w.k + at * s_.depth, w.v + at * s_.width, w.k_beside + at * kAttentionBeside,
         (to - from + panel_ - 1) / panel_, s_.depth, s_.width, cols, rows_ * panel_, kAttentionBeside * w.cols,
         s_.scale, w.shift + from, w.factor + from, w.mean + from, whole ? nullptr : w.first + from, w.end + from,
         w.shares, w.slopes,
         sums + (row + from) * s_.depth, w.k_grad + at * depth_, w.v_grad + at * width_, depth_, width_});
  }
  /// The gradient of a head of q from those of the stretches.
  void add_up(Int64 head) const {
    const HeadOf to = head_of(r_.q_grad, head / s_.heads, head % s_.heads);
    T* const sums = sums_of(0, head);
    for (Int64 k = 1; k < stretches_.count; ++k) {
      const T* const more = sums_of(k, head);
      for (Int64 i = 0; i < head_; ++i) sums[i] += more[i];
    }
    for (Int64 i = 0; i < head_; ++i) sums[i] *= static_cast<T>(s_.scale);
    T* const turned = reinterpret_cast<T*>(
        detail::of_thread<LanesBackwardMemory>().buffer.reserve(panel_ * s_.depth * Int64{sizeof(T)}));
    for (Int64 row = 0; row < s_.rows; row += panel_) {
      const Int64 count = std::min(panel_, s_.rows - row);
      const bool there = tiles_.is_there(to);
      tiles_.turn(sums + row * s_.depth, count, s_.depth, there ? reinterpret_cast<T*>(to.at(row)) : turned,
                  there ? to.row : s_.depth);
      for (Int64 i = 0; !there && i < count; ++i)
        tiles_.store(kernels(), turned + i * s_.depth, s_.depth, T{1}, to, row + i);
    }
  }
  T* sums_of(Int64 stretch, Int64 head) const { return sums_ + (stretch * s_.batch * s_.heads + head) * head_; }

  const AttentionBackwardRequest& r_;
  const detail::AttentionSizes& s_;
  TileProducts<T> tiles_;
  Int64 panel_, depth_, width_, rows_;
  Stretches stretches_;
  Int64 head_, most_;
  T* sums_ = nullptr;
};

}  // namespace

void attention_backward_by_lanes(const AttentionBackwardRequest& r) {
  with_threads_noted([&] {
    if (r.q.dtype == DType::f64) BackwardByLanes<double>(r).run();
    else BackwardByLanes<float>(r).run();
  });
}

}  // namespace tern::detail_cpu
