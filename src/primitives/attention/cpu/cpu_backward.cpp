// The gradient of attention on the CPU, where it does not go by lanes (cpu_lanes_backward.cpp).
//
// A task has the columns of one key head (or a stretch of them, where there are few heads), 128 at a time, with their
// gradients of k and v in L2, and goes over the rows of all query heads that share it, 112 at a time:
//
//            128 columns       scores = q · kᵀ            then the formula; shares = exp(scores - top) / total
//          ┌─────────────┐     v_grad += sharesᵀ · out_grad
//   rows   │ shares      │     slopes = out_grad · vᵀ     then shares · (slopes - means), then the formula's slope
//   112    │ slopes      │     k_grad += slopesᵀ · q
//          └─────────────┘     q_grad += slopes · k       in f32, for each stretch of columns
//
// The sums over stretches are added up in their order at the end: the same bits whatever the number of threads. Five
// products of depth D for each score, against the two of forward.
#include <bit>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "cpu/simd/dispatch.hpp"
#include "cpu/tape/tapes.hpp"
#include "cpu/threads_noted.hpp"
#include "primitives/attention/cpu/cpu_tiles.hpp"
#include "primitives/attention/kernels.hpp"
#include "process/of_thread.hpp"

namespace tern::detail_cpu {
namespace {

/// Memory of each thread, for the sums of a call, and for a task.
struct TaskSums {
  ScratchBuffer buffer;
};
struct TaskMemory {
  ScratchBuffer buffer;
};

using detail::AttentionBackwardRequest;
constexpr Int64 kBackwardRows = 112, kBackwardColumns = 128, kFewBackward = 1 << 17;

template <class T> class CpuBackward {
 public:
  CpuBackward(const AttentionBackwardRequest& r, const TileFormulas& formulas)
      : r_(r),
        s_(r.sizes),
        tiles_(r.q.dtype),
        formulas_(formulas),
        panel_(tiles_.panel()),
        depth_(round_up(s_.depth, panel_)),
        width_(round_up(s_.width, panel_)),
        rows_(tiles_.full_rows(kBackwardRows)),
        stretches_(stretches_of(s_)) {}

  void run() {
    head_ = s_.rows * depth_;
    const CallMemory sums(detail::of_thread<TaskSums>().buffer,
                          stretches_.count * s_.batch * s_.heads * head_ * Int64{sizeof(T)});
    sums_ = sums.as<T>();
    for_tasks(s_, kFewBackward, s_.batch * s_.groups * stretches_.count,
              [&](Int64 task) { columns_of(task / stretches_.count, task % stretches_.count); });
    for_tasks(s_, kFewBackward, s_.batch * s_.heads, [&](Int64 head) { add_up(head); });
  }

 private:
  /// What a task works with: its columns' operands (k and v transposed in panels, k in rows), the gradients of these,
  /// the rows of a head, and tiles.
  struct Work {
    Int64 batch, group, head, length;
    T *k_transposed, *v_transposed, *k, *k_grad, *v_grad, *q, *out_grad;
    T *shares, *slopes, *scores, *kept, *factors, *sums;
  };
  Work work() const {
    ScratchBuffer& scratch = detail::of_thread<TaskMemory>().buffer;
    const Int64 columns = kBackwardColumns * (2 * depth_ + s_.depth + s_.width + width_),
                rows = rows_ * (depth_ + width_), tile = rows_ * (kBackwardColumns + panel_);
    Work w{};
    T* at = reinterpret_cast<T*>(scratch.reserve((columns + rows + 5 * tile + 64) * Int64{sizeof(T)}));
    const auto take = [&](Int64 count) { return std::exchange(at, at + count); };
    w.k = take(kBackwardColumns * depth_), w.k_grad = take(kBackwardColumns * depth_),
    w.v_grad = take(kBackwardColumns * width_);
    w.q = take(rows_ * depth_), w.out_grad = take(rows_ * width_);
    w.shares = take(tile), w.slopes = take(tile), w.scores = take(tile), w.kept = take(tile);
    w.factors = take(tile);
    w.k_transposed = take(kBackwardColumns * s_.depth), w.v_transposed = take(kBackwardColumns * s_.width);
    return w;
  }

  void columns_of(Int64 key, Int64 stretch) const {
    Work w = work();
    w.batch = key / s_.groups, w.group = key % s_.groups;
    w.length = length_of(r_.lengths, w.batch, s_.columns);
    const Int64 shared = s_.heads / s_.groups, first = stretch * stretches_.columns;
    for (Int64 h = 0; h < shared; ++h)
      std::fill_n(sums_of(stretch, w.batch * s_.heads + w.group * shared + h), head_, T{0});
    for (Int64 column = first; column < std::min(first + stretches_.columns, s_.columns); column += kBackwardColumns) {
      const Int64 cols = std::min(kBackwardColumns, s_.columns - column);
      const HeadOf k = head_of(r_.k, w.batch, w.group), v = head_of(r_.v, w.batch, w.group);
      copy_columns(w, k, v, column, cols);
      std::fill_n(w.k_grad, kBackwardColumns * depth_, T{0}), std::fill_n(w.v_grad, kBackwardColumns * width_, T{0});
      for (Int64 h = 0; h < shared; ++h) {
        w.head = w.group * shared + h;
        w.sums = sums_of(stretch, w.batch * s_.heads + w.head);
        rows_against(w, column, cols);
      }
      const HeadOf k_grad = head_of(r_.k_grad, w.batch, w.group), v_grad = head_of(r_.v_grad, w.batch, w.group);
      for (Int64 i = 0; i < cols; ++i) {
        tiles_.store(kernels(), w.k_grad + i * depth_, s_.depth, static_cast<T>(s_.scale), k_grad, column + i);
        tiles_.store(kernels(), w.v_grad + i * width_, s_.width, T{1}, v_grad, column + i);
      }
    }
  }
  /// Beyond a sample's length k and v are not its own: shares and slopes of 0 times what lies there could be NaN.
  void copy_columns(const Work& w, const HeadOf& k, const HeadOf& v, Int64 column, Int64 cols) const {
    const Int64 there = std::clamp<Int64>(w.length - column, 0, cols);
    if (there < cols) {
      std::fill_n(w.k, kBackwardColumns * depth_, T{0});
      std::fill_n(w.k_transposed, kBackwardColumns * s_.depth, T{0});
      std::fill_n(w.v_transposed, kBackwardColumns * s_.width, T{0});
    }
    tiles_.copy(k, column, there, s_.depth, w.k, depth_);
    tiles_.copy_transposed(k, column, there, s_.depth, w.k_transposed);
    tiles_.copy_transposed(v, column, there, s_.width, w.v_transposed);
  }
  void rows_against(const Work& w, Int64 column, Int64 cols) const {
    for (Int64 row = 0; row < s_.rows; row += rows_) {
      const Int64 rows = std::min(rows_, s_.rows - row);
      if (s_.first(row) >= column + cols || s_.end(row + rows - 1, w.length) <= column) continue;
      tiles_.copy(head_of(r_.q, w.batch, w.head), row, rows, s_.depth, w.q, depth_);
      tiles_.copy(head_of(r_.out_grad, w.batch, w.head), row, rows, s_.width, w.out_grad, width_);
      tile(w, row, rows, column, cols);
    }
  }
  void tile(const Work& w, Int64 row, Int64 rows, Int64 column, Int64 cols) const {
    const detail::Seen seen = formulas_.seen(w.batch, w.head, row, rows, column, cols);
    if (seen == detail::Seen::nothing) return;
    const TileFormula *const formula = formulas_.score(seen), *const slope = formulas_.slope(seen);
    const TileFormula* const thin = formulas_.thin();
    const Int64 head = w.batch * s_.heads + w.head;
    tiles_.multiply({w.q, depth_, 1, 0}, {w.k_transposed, panel_, 1, s_.depth * panel_}, w.shares, cols, s_.depth, rows,
                    cols, false);
    if (slope && slope->reads(0)) std::copy_n(w.shares, rows * cols, w.scores);
    if (formula) formula->run({bytes(w.shares), nullptr}, 0, head, row, column, rows, cols);
    for (Int64 i = 0; i < rows; ++i) {
      const Int64 first = std::clamp<Int64>(s_.first(row + i) - column, 0, cols);
      const Int64 end = std::clamp<Int64>(s_.end(row + i, w.length) - column, first, cols);
      tiles_.rows().powers({w.shares + i * cols, cols, first, end, s_.scale,
                            element_of_rows<T>(r_.tops, w.batch, w.head, row + i),
                            element_of_rows<T>(r_.totals, w.batch, w.head, row + i)});
    }
    T* kept = w.shares;  // by dropout
    if (thin) {
      std::fill_n(w.factors, rows * cols, T{1});
      thin->run({bytes(w.factors), nullptr}, 0, head, row, column, rows, cols);
      multiply_kept(w.shares, w.factors, rows * cols, kept = w.kept);
    }
    tiles_.multiply({kept, 1, cols, 0}, {w.out_grad, width_, 1, panel_}, w.v_grad, width_, rows, cols, s_.width, true);
    tiles_.multiply({w.out_grad, width_, 1, 0}, {w.v_transposed, panel_, 1, s_.width * panel_}, w.slopes, cols,
                    s_.width, rows, cols, false);
    if (thin) multiply_kept(w.slopes, w.factors, rows * cols, w.slopes);
    for (Int64 i = 0; i < rows; ++i)
      tiles_.rows().slopes(
          {w.shares + i * cols, w.slopes + i * cols, cols, element_of_rows<T>(r_.means, w.batch, w.head, row + i)});
    if (slope) slope->run({bytes(w.scores), bytes(w.slopes)}, 1, head, row, column, rows, cols);
    tiles_.multiply({w.slopes, 1, cols, 0}, {w.q, depth_, 1, panel_}, w.k_grad, depth_, rows, cols, s_.depth, true);
    tiles_.multiply({w.slopes, cols, 1, 0}, {w.k, depth_, 1, panel_}, w.sums + row * depth_, depth_, cols, rows,
                    s_.depth, true);
  }
  /// What dropout leaves of x, by what it leaves of 1, which is drawn once for shares and slopes: Philox is most of it.
  /// By bits, which a compiler makes vectors of: a condition on floats was a branch, 2.4 ns an element.
  static void multiply_kept(const T* x, const T* factors, Int64 count, T* to) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    for (Int64 i = 0; i < count; ++i) {
      const auto product = std::bit_cast<Bits>(x[i] * factors[i]);
      to[i] = std::bit_cast<T>(std::bit_cast<Bits>(factors[i]) == 0 ? Bits{0} : product);
    }
  }
  /// The gradient of a head of q from those of the stretches.
  void add_up(Int64 head) const {
    const HeadOf to = head_of(r_.q_grad, head / s_.heads, head % s_.heads);
    T* const sums = sums_of(0, head);
    for (Int64 k = 1; k < stretches_.count; ++k) {
      const T* const more = sums_of(k, head);
      for (Int64 i = 0; i < head_; ++i) sums[i] += more[i];
    }
    for (Int64 i = 0; i < s_.rows; ++i)
      tiles_.store(kernels(), sums + i * depth_, s_.depth, static_cast<T>(s_.scale), to, i);
  }
  T* sums_of(Int64 stretch, Int64 head) const { return sums_ + (stretch * s_.batch * s_.heads + head) * head_; }
  static std::byte* bytes(T* tile) { return reinterpret_cast<std::byte*>(tile); }

  const AttentionBackwardRequest& r_;
  const detail::AttentionSizes& s_;
  TileProducts<T> tiles_;
  const TileFormulas& formulas_;
  Int64 panel_, depth_, width_, rows_;
  Stretches stretches_;
  Int64 head_ = 0;
  T* sums_ = nullptr;
};

}  // namespace

void attention_backward_on_cpu(detail::Backend&, const AttentionBackwardRequest& r) {
  if (r.sizes.batch * r.sizes.groups == 0) return;
  if (goes_by_lanes(r)) return attention_backward_by_lanes(r);
  const TileFormulas formulas(r, r.q_grad);
  with_threads_noted([&] {
    if (r.q.dtype == DType::f64) CpuBackward<double>(r, formulas).run();
    else CpuBackward<float>(r, formulas).run();
  });
}

}  // namespace tern::detail_cpu
