// Running combinations of lines side by side, a line in each lane. No include guard: once per target file.
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "backend/combine.hpp"
#include "cpu/simd/kernel_table.hpp"

HWY_BEFORE_NAMESPACE();
namespace tern::detail_cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using detail::Combine;

/// a combined with b, as `combined` (cpu/line_tools.hpp) has it, bit by bit.
template <Combine kCombine, class D, class V = hn::Vec<D>> HWY_INLINE V CombineLanes(D, V a, V b) {
  if constexpr (kCombine == Combine::add) {
    return hn::Add(a, b);
  } else if constexpr (kCombine == Combine::mul) {
    return hn::Mul(a, b);
  } else {
    auto stays = kCombine == Combine::maximum ? hn::Gt(a, b) : hn::Lt(a, b);
    if constexpr (hwy::IsFloat<hn::TFromD<D>>()) stays = hn::Or(stays, hn::IsNaN(a));
    return hn::IfThenElse(stays, a, b);
  }
}

/// kBlockOf elements of a line are 16 bytes. Those at x of each line are given, or taken, as a vector for each element,
/// with a line in each lane.
template <class D> inline constexpr std::size_t kBlockOf = 16 / sizeof(hn::TFromD<D>);
template <class D> HWY_INLINE hn::Vec<D> LoadSpread(D d, const hn::TFromD<D>* x, std::int64_t step) {
  if constexpr (hn::MaxLanes(D()) <= kBlockOf<D>) {
    return hn::LoadU(d, x);
  } else {
    const hn::Half<D> half;
    constexpr auto blocks = static_cast<std::int64_t>(hn::MaxLanes(half) / kBlockOf<D>);
    return hn::Combine(d, LoadSpread(half, x + blocks * step, step), LoadSpread(half, x, step));
  }
}
template <class D> HWY_INLINE void StoreSpread(D d, hn::Vec<D> v, hn::TFromD<D>* x, std::int64_t step) {
  if constexpr (hn::MaxLanes(D()) <= kBlockOf<D>) {
    hn::StoreU(v, d, x);
  } else {
    const hn::Half<D> half;
    constexpr auto blocks = static_cast<std::int64_t>(hn::MaxLanes(half) / kBlockOf<D>);
    StoreSpread(half, hn::LowerHalf(half, v), x, step);
    StoreSpread(half, hn::UpperHalf(half, v), x + blocks * step, step);
  }
}
/// What lies in blocks transposed within each; twice is once forth and back.
template <class D> HWY_INLINE void TurnBlocks(D d, hn::Vec<D>* v) {
  const auto a = hn::InterleaveLower(d, v[0], v[1]), b = hn::InterleaveUpper(d, v[0], v[1]);
  if constexpr (kBlockOf<D> == 2) {
    v[0] = a, v[1] = b;
  } else {
    const hn::Repartition<std::uint64_t, D> wide;
    const auto pairs = [&](auto x) HWY_ATTR { return hn::BitCast(wide, x); };
    const auto c = pairs(hn::InterleaveLower(d, v[2], v[3])), e = pairs(hn::InterleaveUpper(d, v[2], v[3]));
    v[0] = hn::BitCast(d, hn::InterleaveLower(wide, pairs(a), c));
    v[1] = hn::BitCast(d, hn::InterleaveUpper(wide, pairs(a), c));
    v[2] = hn::BitCast(d, hn::InterleaveLower(wide, pairs(b), e));
    v[3] = hn::BitCast(d, hn::InterleaveUpper(wide, pairs(b), e));
  }
}

/// As many lines as D has lanes: a run of kScanRun elements after the other, each from its first element on, and then
/// joined with all before it.
template <Combine kCombine, class D> class LanesOfLines {
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;

 public:
  LanesOfLines(const ScannedLines& lines, std::size_t first)
      : x_(static_cast<const T*>(lines.in) + static_cast<std::int64_t>(first) * lines.step),
        y_(static_cast<T*>(lines.out) + static_cast<std::int64_t>(first) * lines.out_step),
        step_(lines.step),
        out_step_(lines.out_step),
        length_(lines.length) {}

  template <bool kReverse> HWY_INLINE void Run() {
    constexpr std::size_t block = kBlockOf<D>, run = kScanRun;
    V sums = hn::Zero(d_), before = sums;
    for (std::size_t begin = 0; begin < length_; begin += run) {
      const std::size_t end = begin + run < length_ ? begin + run : length_;
      if (begin > 0) before = begin == run ? sums : CombineLanes<kCombine>(d_, before, sums);
      std::size_t i = begin;
      if constexpr (hn::MaxLanes(D()) >= block) {
        if (begin == 0)
          for (; i + block <= end; i += block) Block<kReverse, false>(i, i == begin, sums, before);
        else
          for (; i + block <= end; i += block) Block<kReverse, true>(i, i == begin, sums, before);
      }
      for (; i < end; ++i) One(kReverse ? length_ - 1 - i : i, i == begin, begin > 0, sums, before);
    }
  }

 private:
  template <bool kReverse, bool kJoined>
  HWY_INLINE void Block(std::size_t i, bool first, V& sums, const V& before) const {
    constexpr std::size_t block = kBlockOf<D>;
    const auto at = static_cast<std::int64_t>(kReverse ? length_ - i - block : i);
    V v[block];
    TERN_UNROLL for (std::size_t k = 0; k < block; ++k)
      v[k] = LoadSpread(d_, x_ + at + static_cast<std::int64_t>(k) * step_, static_cast<std::int64_t>(block) * step_);
    TurnBlocks(d_, v);
    TERN_UNROLL for (std::size_t k = 0; k < block; ++k) {
      V& next = v[kReverse ? block - 1 - k : k];
      sums = first && k == 0 ? next : CombineLanes<kCombine>(d_, sums, next);
      next = kJoined ? CombineLanes<kCombine>(d_, before, sums) : sums;
    }
    TurnBlocks(d_, v);
    TERN_UNROLL for (std::size_t k = 0; k < block; ++k)
      StoreSpread(d_, v[k], y_ + at + static_cast<std::int64_t>(k) * out_step_,
                  static_cast<std::int64_t>(block) * out_step_);
  }
  /// The elements at `place` of all lines: what is left of a line behind its blocks.
  HWY_INLINE void One(std::size_t place, bool first, bool joined, V& sums, const V& before) const {
    constexpr std::size_t count = hn::MaxLanes(D());
    const auto at = static_cast<std::int64_t>(place);
    HWY_ALIGN T lanes[count];
    if constexpr (count > 1)
      for (std::size_t l = 0; l < count; ++l) lanes[l] = x_[at + static_cast<std::int64_t>(l) * step_];
    const V next = count > 1 ? hn::LoadU(d_, lanes) : hn::LoadU(d_, x_ + at);
    sums = first ? next : CombineLanes<kCombine>(d_, sums, next);
    hn::StoreU(joined ? CombineLanes<kCombine>(d_, before, sums) : sums, d_, count > 1 ? lanes : y_ + at);
    if constexpr (count > 1)
      for (std::size_t l = 0; l < count; ++l) y_[at + static_cast<std::int64_t>(l) * out_step_] = lanes[l];
  }

  const D d_;
  const T* const x_;
  T* const y_;
  const std::int64_t step_, out_step_;
  const std::size_t length_;
};

/// Lines `first` and the following, as many at once as there are lanes, the rest in ever smaller vectors; fewer than
/// those of a block one by one.
template <Combine kCombine, class T, std::size_t kLanes>
HWY_INLINE void ScanSome(const ScannedLines& lines, std::size_t first) {
  using D = hn::CappedTag<T, kLanes>;
  if constexpr (hn::MaxLanes(D()) == kLanes && (kLanes >= kBlockOf<D> || kLanes == 1))
    for (; first + kLanes <= lines.lines; first += kLanes) {
      LanesOfLines<kCombine, D> some(lines, first);
      if (lines.reverse) some.template Run<true>();
      else some.template Run<false>();
    }
  if constexpr (kLanes > 1)
    if (first < lines.lines) ScanSome<kCombine, T, kLanes / 2>(lines, first);
}
template <Combine kCombine, class T> void ScanLines(const ScannedLines& lines) {
  ScanSome<kCombine, T, 64 / sizeof(T)>(lines, 0);
}
template <Combine kCombine, class T> void JoinScanned(const JoinedScan& run) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> one;
  const std::size_t lanes = hn::Lanes(d), n = run.n;
  const T *const x = static_cast<const T*>(run.in), *const before = static_cast<const T*>(run.before);
  T* const y = static_cast<T*>(run.out);
  const auto of_all = hn::Set(d, before ? *before : T{});
  if (run.fetch)
    for (std::size_t i = 0; i < n; i += 64 / sizeof(T)) __builtin_prefetch(static_cast<const T*>(run.fetch) + i, 0, 2);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto v = hn::LoadU(d, x + i), joined = before ? CombineLanes<kCombine>(d, of_all, v) : v;
    StoreOperand(d, joined, y + i, run.stream);
  }
  for (; i < n; ++i) {
    const auto v = hn::LoadU(one, x + i);
    hn::StoreU(before ? CombineLanes<kCombine>(one, hn::Set(one, *before), v) : v, one, y + i);
  }
}
template <Combine kCombine, ComputeType kType, class T> void AddScan(KernelTable& t) {
  const auto how = static_cast<std::size_t>(kCombine), type = static_cast<std::size_t>(kType);
  t.scan_lines[how][type] = &ScanLines<kCombine, T>, t.join_scanned[how][type] = &JoinScanned<kCombine, T>;
}
template <ComputeType kType, class T> void AddScans(KernelTable& t) {
  AddScan<Combine::add, kType, T>(t), AddScan<Combine::maximum, kType, T>(t), AddScan<Combine::minimum, kType, T>(t);
  if constexpr (sizeof(T) == 4 || hwy::IsFloat<T>()) AddScan<Combine::mul, kType, T>(t);  // Highway may lack the others
}

}  // namespace HWY_NAMESPACE
}  // namespace tern::detail_cpu
HWY_AFTER_NAMESPACE();
