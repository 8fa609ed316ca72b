// Attention on the CPU where a head of keys has few rows, as in decoding: keys and values are read once, where they
// lie.
//
//              columns: 256 at a time, of a stretch
//            ┌─────────┐                  scores = q · k    dot products along the rows of k, which is not packed
//   rows of  │ scores  │  sums [R × Dv]   shares            as in cpu.cpp: formula, maximum, exponentials
//   all      └─────────┘                  sums += shares·v  the micro-kernel on v as it lies, widened on the way
//   heads
//
// A task has the rows of all heads that share keys, and a stretch of columns (AttentionSizes::parts), so that one
// sample of few heads has work for every thread. Bound by reading keys and values: 2 R operations for each element.
#include <limits>

#include "cpu/threads_noted.hpp"
#include "primitives/attention/cpu/cpu_tiles.hpp"
#include "primitives/attention/kernels.hpp"
#include "process/of_thread.hpp"

namespace tern::detail_cpu {
namespace {

struct FewRowsMemory {
  ScratchBuffer buffer;
};

using detail::AttentionRequest;
/// Of more rows packing pays: 16 rows of 64 elements to 512 columns took 0.152 ms, by cpu.cpp 0.133; 1 row 0.026,
/// 0.066.
constexpr Int64 kFewRows = 8, kColumnsOfFewRows = 256, kFewOfFewRows = 1 << 18;

template <class T> class FewRows {
 public:
  FewRows(const AttentionRequest& r, const TileFormulas& formulas)
      : r_(r),
        s_(r.sizes),
        types_(gemm_types(r.q.dtype)),
        tiles_(r.q.dtype),
        formulas_(formulas),
        rows_(s_.shared() * s_.rows),
        width_(round_up(s_.width, tiles_.panel())),
        k_there_(r.k.strides[3] == 1),
        v_there_(r.v.strides[3] == 1 && s_.width % types_.kernels->lanes == 0) {}

  void run() const {
    const Int64 keys = s_.batch * s_.groups;
    for_tasks(s_, kFewOfFewRows, keys * s_.parts, [&](Int64 task) { part_of(task / s_.parts, task % s_.parts); });
  }

 private:
  /// What a task works with: rows of all heads that share a key head, one after the other.
  struct FewRowsTask {
    Int64 batch, group, length;
    T *q, *scores, *sums, *top, *total, *tile;
    std::byte* at(Int64 row, Int64 cols) const { return reinterpret_cast<std::byte*>(scores + row * cols); }
  };
  FewRowsTask work(Int64 key) const {
    FewRowsTask w{};
    w.batch = key / s_.groups, w.group = key % s_.groups;
    w.length = length_of(r_.lengths, w.batch, s_.columns);
    const Int64 copied = kColumnsOfFewRows * std::max(k_there_ ? 0 : s_.depth, v_there_ ? 0 : width_);
    ScratchBuffer& scratch = detail::of_thread<FewRowsMemory>().buffer;
    const Int64 count = rows_ * (s_.depth + kColumnsOfFewRows + width_ + 2) + copied + 4 * tiles_.panel();
    T* at = reinterpret_cast<T*>(scratch.reserve(count * Int64{sizeof(T)}));
    const auto take = [&](Int64 n) { return std::exchange(at, at + n); };
    w.sums = take(rows_ * width_), w.tile = take(copied), w.q = take(rows_ * s_.depth);
    w.scores = take(rows_ * kColumnsOfFewRows), w.top = take(rows_), w.total = take(rows_);
    return w;
  }
  Int64 head_of_row(const FewRowsTask& w, Int64 row) const { return w.group * s_.shared() + row / s_.rows; }

  void part_of(Int64 key, Int64 part) const {
    const FewRowsTask w = work(key);
    for (Int64 h = 0; h < s_.shared(); ++h)
      tiles_.copy(head_of(r_.q, w.batch, w.group * s_.shared() + h), 0, s_.rows, s_.depth, w.q + h * s_.rows * s_.depth,
                  s_.depth);
    std::fill_n(w.sums, rows_ * width_, T{0});
    std::fill_n(w.top, rows_, -std::numeric_limits<T>::infinity());
    std::fill_n(w.total, rows_, T{0});
    const Int64 from = part * s_.part_columns(), to = std::min(from + s_.part_columns(), s_.columns);
    const Int64 end = std::min(to, s_.end(s_.rows - 1, w.length));
    Int64 j = std::max(from, s_.first(0) / kColumnsOfFewRows * kColumnsOfFewRows);
    for (; j < end; j += kColumnsOfFewRows) tile(w, j, std::min(kColumnsOfFewRows, end - j));
    for (Int64 i = 0; i < rows_; ++i) finish(w, part, i);
  }
  void tile(const FewRowsTask& w, Int64 column, Int64 cols) const {
    scores_of(w, column, cols);
    bool any = false;
    for (Int64 h = 0; h < s_.shared(); ++h) any |= shares_of(w, h, column, cols);
    if (any) add_values(w, column, cols);
  }
  void scores_of(const FewRowsTask& w, Int64 column, Int64 cols) const {
    const HeadOf k = head_of(r_.k, w.batch, w.group);
    GemmDot call{w.q, s_.depth, k.at(column), k.row, w.scores, cols, s_.depth, rows_, cols, false};
    if (k_there_) return types_.kernels->dot(call);
    tiles_.copy(k, column, cols, s_.depth, w.tile, s_.depth);
    call.b = w.tile, call.b_col = s_.depth;
    types_.computed->dot(call);
  }
  /// Of the rows of a head; false where they see nothing of the tile.
  bool shares_of(const FewRowsTask& w, Int64 h, Int64 column, Int64 cols) const {
    const Int64 head = w.group * s_.shared() + h, first_row = h * s_.rows;
    const detail::Seen seen = formulas_.seen(w.batch, head, 0, s_.rows, column, cols);
    if (seen == detail::Seen::nothing) {
      std::fill_n(w.scores + first_row * cols, s_.rows * cols, T{0});
      return false;
    }
    const Int64 place = w.batch * s_.heads + head;
    if (const TileFormula* f = formulas_.score(seen))
      f->run({w.at(first_row, cols), nullptr}, 0, place, 0, column, s_.rows, cols);
    for (Int64 i = 0; i < s_.rows; ++i) {
      const Int64 row = first_row + i, first = std::clamp<Int64>(s_.first(i) - column, 0, cols);
      const Int64 end = std::clamp<Int64>(s_.end(i, w.length) - column, first, cols);
      tiles_.rows().shares({w.scores + row * cols, cols, first, end, s_.scale, w.top + row, w.total + row,
                            w.sums + row * width_, s_.width});
    }
    if (const TileFormula* f = formulas_.thin())
      f->run({w.at(first_row, cols), nullptr}, 0, place, 0, column, s_.rows, cols);
    return true;
  }
  void add_values(const FewRowsTask& w, Int64 column, Int64 cols) const {
    const HeadOf v = head_of(r_.v, w.batch, w.group);
    if (!v_there_) tiles_.copy(v, column, cols, s_.width, w.tile, width_);
    const GemmKernelsOf& k = v_there_ ? *types_.kernels : *types_.computed;
    const bool widens = v_there_ && types_.kernels != types_.computed;
    const Int64 most = widens ? std::min<Int64>(kWideningRows, k.max_rows) : k.max_rows;
    for (Int64 i = 0; i < rows_; i += most) {
      const Int64 rows = std::min(most, rows_ - i), widest = k.widest(rows);
      for (Int64 j = 0, count = 0; j < s_.width; j += count) {
        // Whole vectors are read: of what lies there no more than there is.
        const Int64 left = s_.width - j;
        count = left >= widest ? widest : left >= k.panel_cols ? k.panel_cols : std::min<Int64>(left, k.lanes);
        const void* const b = v_there_ ? static_cast<const void*>(v.at(column, j)) : w.tile + j;
        T* const to = w.sums + i * width_ + j;
        const GemmMicro call{w.scores + i * cols,
                             cols,
                             1,
                             b,
                             v_there_ ? v.row : width_,
                             to,
                             width_,
                             to,
                             width_,
                             cols,
                             rows,
                             count,
                             nullptr,
                             0};
        (widens ? k.micro_stored : k.micro)(call);
      }
    }
  }
  void finish(const FewRowsTask& w, Int64 part, Int64 row) const {
    const Int64 head = head_of_row(w, row), batch = part * s_.batch + w.batch, at = row % s_.rows;
    const T total = w.total[row];
    tiles_.store(kernels(), w.sums + row * width_, s_.width, total == 0 ? T{1} : 1 / total,
                 head_of(r_.out, batch, head), at);
    if (!r_.tops.storage) return;
    element_of_rows<T>(r_.tops, batch, head, at) = w.top[row];
    element_of_rows<T>(r_.totals, batch, head, at) = total;
  }

  const AttentionRequest& r_;
  const detail::AttentionSizes& s_;
  GemmTypes types_;
  TileProducts<T> tiles_;
  const TileFormulas& formulas_;
  Int64 rows_, width_;
  bool k_there_, v_there_;  // whether they are read where they lie
};

}  // namespace

bool has_few_rows(const detail::AttentionSizes& s) { return s.shared() * s.rows <= kFewRows; }

void attention_of_few_rows(const AttentionRequest& r) {
  const TileFormulas formulas(r, r.out);
  with_threads_noted([&] {
    if (r.q.dtype == DType::f64) FewRows<double>(r, formulas).run();
    else FewRows<float>(r, formulas).run();
  });
}

}  // namespace tern::detail_cpu
