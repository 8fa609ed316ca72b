// What the kernels of small matrices in lanes share: where the matrices of a batch lie, block after block, how a batch
// is shared between threads, and what becomes of statuses.
#pragma once
#include <array>

#include "cpu/scratch.hpp"
#include "primitives/linalg/cpu/cpu.hpp"
#include "primitives/linalg/cpu/lanes.hpp"
#include "process/of_thread.hpp"

namespace tern::detail_cpu {

using matrices::kMostLanes;
using matrices::lane_kernels_of;
using matrices::LaneView;

/// Offsets of consecutive matrices of a view over a batch.
class MatrixOffsets {
 public:
  MatrixOffsets(const View& view, const Shape& batch, std::int64_t index)
      : view_(view), batch_(batch), offset_(view.offset) {
    if (!view.storage) return;
    const auto rank = static_cast<std::size_t>(batch.rank());
    std::int64_t span = 0;  // from one of the next axis out to the next, where all lie evenly
    bool innermost = true;
    for (std::size_t i = rank; i-- > 0;) {
      if (batch[i] == 1) continue;
      if (innermost) even_ = span = view.strides[i], innermost = false;
      uneven_ = uneven_ || view.strides[i] != span;
      span *= batch[i];
    }
    for (std::size_t i = rank; i-- > 0;)
      at_[i] = index % batch[i], offset_ += at_[i] * view.strides[i], index /= batch[i];
  }
  /// The next `count`, where all lie evenly: from `first`, so far apart.
  bool even(int count, std::int64_t& first, std::int64_t& apart) {
    if (uneven_) return false;
    first = offset_, apart = even_, offset_ += count * even_;
    return true;
  }
  /// Where the matrix is, if all lie so far apart; else -1.
  std::int64_t dense(std::int64_t apart) const { return !uneven_ && even_ == apart ? offset_ : -1; }
  std::int64_t next() {
    const std::int64_t here = offset_;
    for (auto i = static_cast<std::size_t>(batch_.rank()); i-- > 0;) {
      offset_ += view_.strides[i];
      if (++at_[i] < batch_[i]) break;
      offset_ -= batch_[i] * view_.strides[i], at_[i] = 0;
    }
    return here;
  }

 private:
  const View& view_;
  const Shape& batch_;
  std::int64_t offset_, even_ = 0;
  bool uneven_ = false;
  std::array<std::int64_t, kMaxRank> at_{};
};

/// The matrices (or vectors, or numbers) of a view, block after block.
template <class T> class BlockSide {
 public:
  BlockSide(const View& view, const Shape& batch, std::int64_t first, std::int64_t rows, std::int64_t columns)
      : offsets_(view, batch, first), there_(view.storage != nullptr) {
    if (!there_) return;
    const auto rank = static_cast<std::size_t>(batch.rank()), has = static_cast<std::size_t>(view.strides.size());
    data_ = static_cast<T*>(view.storage->data());
    view_ = {
        at_.data(), rows, columns, has > rank ? view.strides[rank] : 1, has > rank + 1 ? view.strides[rank + 1] : 1, 0};
  }
  bool there() const { return there_; }
  /// The next `count` matrices; lanes behind them are the last one again.
  const LaneView<T>& next(int count) {
    view_.count = count;
    std::int64_t first = 0, apart = 0;
    if (offsets_.even(count, first, apart)) {
      T* const start = data_ + first;
      const std::int64_t last = count - 1;
      for (std::int64_t l = 0; l < kMostLanes; ++l)
        at_[static_cast<std::size_t>(l)] = start + std::min(l, last) * apart;
      return view_;
    }
    for (int l = 0; l < count; ++l) at_[static_cast<std::size_t>(l)] = data_ + offsets_.next();
    for (int l = count; l < kMostLanes; ++l)
      at_[static_cast<std::size_t>(l)] = at_[static_cast<std::size_t>(count - 1)];
    return view_;
  }

 private:
  MatrixOffsets offsets_;
  bool there_;
  T* data_ = nullptr;
  std::array<T*, kMostLanes> at_;
  LaneView<T> view_{};
};

/// Calls f with a value of the C++ type.
template <class F> void with_real_type(DType dtype, F f) { dtype == DType::f64 ? f(double{}) : f(float{}); }

struct LaneMemory : ScratchBuffer {};  // of a thread, kept
/// body(first, last, memory for `elements` elements of every lane) for parts of the batch.
template <class T, class R, class Body> void for_parts(const R& r, std::int64_t elements, Body body) {
  const std::int64_t count = r.count(), lanes = lane_kernels_of<T>().lanes, blocks = (count + lanes - 1) / lanes;
  if (detail::tracing()) detail::note("a matrix a SIMD lane, " + std::to_string(lanes) + " at once");
  const std::int64_t work =
      count * std::max<std::int64_t>(r.space[static_cast<std::size_t>(r.space.rank() - 1)], 4) * r.rows() * r.rows();
  const std::int64_t tasks = work < 200'000 ? 1 : std::min<std::int64_t>(blocks, 8 * max_threads());
  const auto some = [&](std::int64_t t) {
    const std::int64_t first = blocks * t / tasks * lanes, last = std::min(count, blocks * (t + 1) / tasks * lanes);
    if (first >= last) return;
    ScratchBuffer& memory = detail::of_thread<LaneMemory>();
    body(first, last, reinterpret_cast<T*>(memory.reserve(elements * lanes * static_cast<std::int64_t>(sizeof(T)))));
  };
  if (tasks == 1) some(0);
  else parallel_for(tasks, some);
}
template <class T, class Block> void for_blocks(std::int64_t first, std::int64_t last, Block block) {
  const std::int64_t lanes = lane_kernels_of<T>().lanes;
  for (std::int64_t i = first; i < last; i += lanes) block(i, static_cast<int>(std::min(lanes, last - i)));
}

/// Statuses of a block: of `elements` of its memory, or of a triangle, whether they are finite, and then what is found.
template <class T> class LaneStatuses {
 public:
  LaneStatuses(const MatrixRequest& r, Statuses& all, const Shape& batch, std::int64_t first)
      : all_(all), view_(r.status, batch, first, 1, 1), wanted_(r.checked || r.status.storage) {
    finite_.fill(1);
  }
  void begin(const T* block, int elements, int triangle) {
    found_.fill(0);
    if (wanted_) lane_kernels_of<T>().finite(block, elements, triangle, finite_.data());
  }
  std::int32_t* data() { return found_.data(); }
  void finish(std::int64_t first, int count) {
    if (!wanted_) return;
    std::int32_t failed = 0;
    for (std::size_t l = 0; l < kMostLanes; ++l) failed |= found_[l] = finite_[l] ? found_[l] : -1;
    for (int l = 0; failed && l < count; ++l)
      if (const std::int32_t status = found_[static_cast<std::size_t>(l)]) all_.note(first + l, status);
    if (!view_.there()) return;
    const LaneView<std::int32_t>& to = view_.next(count);
    for (int l = 0; l < count; ++l) *to.at[l] = found_[static_cast<std::size_t>(l)];
  }

 private:
  Statuses& all_;
  BlockSide<std::int32_t> view_;
  bool wanted_;
  std::array<std::int32_t, kMostLanes> found_{}, finite_;
};

}  // namespace tern::detail_cpu
