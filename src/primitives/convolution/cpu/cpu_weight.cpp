// The gradient of the kernels, all channels: for each element of a kernel a product of channels of the image,
// transposed, and channels of the result's gradient, summed over places. The rows of the image are copied among zeros
// once; an element of the kernel moves the place where they are read. A task sums one panel of results, row by row in
// their order, so that the sums do not depend on how many threads there are.
//
// bf16 is multiplied by pairs of places, where the processor can: the rows lie transposed then, channel by channel. AMX
// reads whole tiles: rows of places end in zeros, and sums have room for channels that are not there.
#include <cstring>
#include <span>
#include <vector>

#include "cpu/machine/threads.hpp"
#include "cpu/products/gemm_pairs.hpp"
#include "primitives/convolution/cpu/cpu_geometry.hpp"
#include "primitives/convolution/kernels.hpp"
#include "process/of_thread.hpp"

namespace tern::detail_cpu::conv {
namespace {

/// Bytes of the result's gradient that L1 is to hold.
constexpr Int64 kGradientBytes = 24 << 10;
/// Multiply-adds that are worth a task of their own.
constexpr Int64 kWeightTask = 512 << 10;

struct WeightScratch {
  ScratchBuffer image, sums, panel, transposed;
  std::vector<PairSegment> segments;
};
WeightScratch& weight_scratch() { return detail::of_thread<WeightScratch>(); }

class Weight {
 public:
  explicit Weight(const detail::ConvWeightRequest& r)
      : g_(r.sizes, r.x, r.w),
        y_(Geometry::of_image(r.y, r.sizes.axes)),
        pairs_(pairs_for_weight(r)),
        tiles_(pairs_ && pairs_->read_rows > 1),
        panel_(g_.kernels->panel),
        panels_(ceil_div(g_.o, panel_)),
        phases_(pairs_ ? std::min(g_.stride[2], g_.reach(2)) : 1),
        length_((g_.out[2] - 1) * g_.stride[2] + g_.reach(2)),
        line_(ceil_div(length_, phases_) + 1) {
    if (tiles_) line_ = std::max(line_, (g_.reach(2) - 1) / g_.stride[2] + 2 * padded_pairs());
  }

  void run() {
    const Int64 rows = g_.n * g_.in[0] * g_.in[1] * g_.groups;
    const Int64 work = g_.n * g_.groups * g_.o * g_.out[0] * g_.out[1] * g_.out[2] * g_.taps() * g_.c;
    const bool parallel = work > kWeightTask;
    const Int64 behind = tiles_ ? kPairRows * phases_ * line_ * element() : 64;  // read for sums that are not used
    image_ = weight_scratch().image.reserve(rows * row_bytes() + behind);
    in_parts(rows, parallel, [&](Int64 row) { copy_row(row); });
    const Int64 whole = g_.groups * panels_, want = parallel ? 4 * max_threads() : 1;
    parts_ = std::clamp<Int64>(ceil_div(want, whole), 1, ceil_div(g_.c, kRows));
    fold_ = !pairs_ && parts_ == 1 && g_.dilation[2] == 1 ? g_.kernel[2] : 1;
    in_parts(whole * parts_, parallel, [&](Int64 task) { run_task(task); });
  }

 private:
  static constexpr Int64 kRows = 28, kTile = 16;  // channels of a call of pairs, and of a tile

  template <class F> static void in_parts(Int64 count, bool parallel, F f) {
    if (parallel) return parallel_for(count, f);
    for (Int64 i = 0; i < count; ++i) f(i);
  }
  Int64 element() const { return pairs_ ? 2 : g_.wide(); }
  Int64 row_bytes() const { return (pairs_ ? g_.c * phases_ * line_ : length_ * g_.c) * element(); }
  std::byte* image_row(Int64 sample, Int64 z, Int64 row, Int64 group) const {
    return image_ + (((sample * g_.in[0] + z) * g_.in[1] + row) * g_.groups + group) * row_bytes();
  }

  void copy_row(Int64 i) const {
    const Int64 group = i % g_.groups, row = i / g_.groups % g_.in[1], z = i / g_.groups / g_.in[1] % g_.in[0];
    const Int64 sample = i / g_.groups / g_.in[1] / g_.in[0], first = g_.met(2, 0, 0);
    const Int64 begin = std::clamp<Int64>(-first, 0, length_), end = std::clamp(g_.in[2] - first, begin, length_);
    const Strided& x = g_.x;
    const std::byte* const from = x.data + (sample * x.batch + group * g_.c * x.channel + z * x.axis[0] +
                                            row * x.axis[1] + (first + begin) * x.axis[2]) *
                                               g_.size();
    std::byte* const to = image_row(sample, z, row, group);
    if (pairs_)
      return transpose_row(reinterpret_cast<const std::uint16_t*>(from), begin, end,
                           reinterpret_cast<std::uint16_t*>(to));
    const Int64 place = g_.c * g_.wide();
    std::fill_n(to, begin * place, std::byte{0});
    std::fill_n(to + end * place, (length_ - end) * place, std::byte{0});
    if (end > begin)
      g_.types.kernels->copy({from, x.axis[2], x.channel}, end - begin, g_.c, to + begin * place, g_.c, g_.c);
  }
  /// Channel by channel, each phase of the stride by itself.
  void transpose_row(const std::uint16_t* from, Int64 begin, Int64 end, std::uint16_t* to) const {
    std::memset(to, 0, static_cast<std::size_t>(row_bytes()));
    const Strided& x = g_.x;
    const Int64 places = end - begin, pitch = phases_ * line_;
    // So many places from `at` on of each phase, every stride-th.
    const auto each_phase = [&](auto put) {
      for (Int64 phase = 0; phase < phases_; ++phase) {
        const Int64 q = begin <= phase ? 0 : ceil_div(begin - phase, g_.stride[2]);
        for (Int64 at = q, p = phase + q * g_.stride[2]; p < end; ++at, p += g_.stride[2])
          put(phase * line_ + at, p - begin);
      }
    };
    Int64 done = 0;
    if (x.channel == 1 && x.axis[2] % 2 == 0 && places > 0) {  // pairs of channels, as elements of 4 bytes
      done = g_.c / 2 * 2;
      auto* const transposed =
          reinterpret_cast<std::uint32_t*>(weight_scratch().transposed.reserve(done / 2 * places * 4));
      gemm_kernels().i32.copy({from, 1, x.axis[2] / 2}, done / 2, places, transposed, places, places);
      for (Int64 pair = 0; pair < done / 2; ++pair) {
        const std::uint32_t* const both = transposed + pair * places;
        std::uint16_t *const low = to + 2 * pair * pitch, *const high = low + pitch;
        if (phases_ == 1 && g_.stride[2] == 1) {
          for (Int64 p = 0; p < places; ++p) low[begin + p] = static_cast<std::uint16_t>(both[p]);
          for (Int64 p = 0; p < places; ++p) high[begin + p] = static_cast<std::uint16_t>(both[p] >> 16);
        } else {
          each_phase([&](Int64 at, Int64 p) {
            low[at] = static_cast<std::uint16_t>(both[p]), high[at] = static_cast<std::uint16_t>(both[p] >> 16);
          });
        }
      }
    }
    for (Int64 ch = done; ch < g_.c; ++ch)
      each_phase([&](Int64 at, Int64 p) { to[ch * pitch + at] = from[p * x.axis[2] + ch * x.channel]; });
  }

  void run_task(Int64 task) const {
    const Int64 part = task % parts_, panel = task / parts_ % panels_, group = task / parts_ / panels_;
    const EvenPart channels = even_part(part, parts_, g_.c);
    const Int64 cols = std::min(panel_, g_.o - panel * panel_), rows = g_.n * g_.out[0] * g_.out[1];
    const Int64 sums_bytes = g_.taps() * sums_of(channels) * panel_ * g_.wide();
    if (pairs_) pairs_->begin();
    std::byte* const sums = weight_scratch().sums.reserve(sums_bytes);
    std::fill_n(sums, sums_bytes, std::byte{0});
    const Int64 near = std::max<Int64>(1, kGradientBytes / panel_bytes());
    for (Int64 row = 0; row < rows; row += near) {
      const EvenPart some{row, std::min(near, rows - row)};
      std::byte* const y = weight_scratch().panel.reserve(near * panel_bytes());
      for (Int64 r = 0; r < some.count; ++r)
        copy_panel(some.begin + r, group * g_.o + panel * panel_, cols, y + r * panel_bytes());
      for (Int64 tap = 0; tap < g_.taps(); tap += fold_)
        add_tap(tap, group, {channels.begin, fold_ * channels.count}, some, y, cols, sums);
    }
    if (pairs_) pairs_->end();
    if (pairs_) store<std::uint16_t>(group, panel, channels, cols, sums);
    else if (g_.wide() == 8) store<double>(group, panel, channels, cols, sums);
    else if (g_.size() == 4) store<float>(group, panel, channels, cols, sums);
    else store<std::uint16_t>(group, panel, channels, cols, sums);
  }
  Int64 panel_bytes() const {
    return pairs_ ? padded_pairs() * kPairCols * 4 : g_.out[2] * panel_ * g_.wide();
  }
  /// Of places.
  Int64 padded_pairs() const {
    const Int64 pairs = ceil_div(g_.out[2], 2);
    return tiles_ ? ceil_div(pairs, kPairSteps) * kPairSteps : pairs;
  }
  /// Rows of sums for so many channels.
  Int64 sums_of(EvenPart channels) const {
    return tiles_ ? ceil_div(channels.count, kTile) * kTile : channels.count;
  }
  struct ImageRow {
    Int64 sample, z, row;
  };
  ImageRow place_of(Int64 row) const {
    return {row / g_.out[1] / g_.out[0], row / g_.out[1] % g_.out[0], row % g_.out[1]};
  }
  /// A row of the result's gradient, these channels.
  void copy_panel(Int64 row, Int64 channel, Int64 cols, std::byte* to) const {
    const ImageRow p = place_of(row);
    const std::byte* const from =
        y_.data + (p.sample * y_.batch + p.z * y_.axis[0] + p.row * y_.axis[1] + channel * y_.channel) * g_.size();
    if (!pairs_) return g_.types.kernels->copy({from, y_.axis[2], y_.channel}, g_.out[2], cols, to, panel_, panel_);
    if (cols < kPairCols || tiles_) std::memset(to, 0, static_cast<std::size_t>(panel_bytes()));
    pairs_->interleave(reinterpret_cast<const std::uint16_t*>(from), y_.axis[2], g_.out[2], cols,
                       reinterpret_cast<std::uint32_t*>(to), kPairCols, kPairCols);
  }

  /// The sums of one element of the kernel over some rows; or of a row of elements, as further channels.
  void add_tap(Int64 tap, Int64 group, EvenPart channels, EvenPart rows, const std::byte* y, Int64 cols,
               std::byte* sums) const {
    const Int64 kx = tap % g_.kernel[2], ky = tap / g_.kernel[2] % g_.kernel[1], kz = tap / g_.kernel[2] / g_.kernel[1];
    const Int64 most = tiles_ ? kPairRows : pairs_ ? kRows : g_.types.kernels->max_rows;
    const Int64 calls = ceil_div(channels.count, most), shift = kx * g_.dilation[2];
    std::vector<PairSegment>& segments = weight_scratch().segments;
    for (Int64 call = 0; call < calls; ++call) {
      const EvenPart some = tiles_ ? EvenPart{call * most, std::min(most, channels.count - call * most)}
                                   : even_part(call, calls, channels.count);
      const Int64 first = channels.begin + some.begin;
      std::byte* const to = sums + (tap * (sums_of(channels) / fold_) + some.begin) * panel_ * g_.wide();
      segments.clear();
      for (Int64 r = 0; r < rows.count; ++r) {
        const ImageRow p = place_of(rows.begin + r);
        const Int64 z = g_.met(0, p.z, kz), row = g_.met(1, p.row, ky);
        if (!g_.inside(0, z) || !g_.inside(1, row)) continue;
        const std::byte* const x = image_row(p.sample, z, row, group);
        const std::byte* const b = y + r * panel_bytes();
        if (pairs_)
          segments.push_back({reinterpret_cast<const std::uint16_t*>(x) + first * phases_ * line_ +
                                  shift % g_.stride[2] * line_ + shift / g_.stride[2],
                              reinterpret_cast<const std::uint16_t*>(b)});
        else
          g_.types.kernels->micro_packed({x + (shift * g_.c + first) * g_.wide(), 1, g_.stride[2] * g_.c, b, panel_, to,
                                          panel_, to, panel_, g_.out[2], some.count, cols, b, 0});
      }
      if (!segments.empty()) add_pairs(segments, some.count, cols, reinterpret_cast<float*>(to));
    }
  }
  void add_pairs(std::span<const PairSegment> segments, Int64 rows, Int64 cols, float* sum) const {
    PairMicro call{segments[0].a, phases_ * line_, 2 * kPairSteps, segments[0].b, sum,  kPairCols, sum, kPairCols,
                   padded_pairs(), rows,           cols,           nullptr,       0,    nullptr,   0};
    call.more = segments.data() + 1, call.more_count = static_cast<Int64>(segments.size()) - 1;
    pairs_->micro(call);
  }

  /// [k.., c, columns] to the weight [o, c, k..].
  template <class T> void store(Int64 group, Int64 panel, EvenPart channels, Int64 cols, const std::byte* sums) const {
    const auto narrow = detail_cpu::kernels().store[static_cast<int>(g_.dtype)];
    alignas(64) T values[64];
    for (Int64 tap = 0; tap < g_.taps(); ++tap, sums += (sums_of(channels) - channels.count) * panel_ * g_.wide()) {
      const Int64 kx = tap % g_.kernel[2], ky = tap / g_.kernel[2] % g_.kernel[1];
      const Int64 kz = tap / g_.kernel[2] / g_.kernel[1];
      for (Int64 ch = 0; ch < channels.count; ++ch, sums += panel_ * g_.wide()) {
        T* const to = reinterpret_cast<T*>(g_.w.data) + group * g_.w.group + panel * panel_ * g_.w.batch +
                      (channels.begin + ch) * g_.w.channel + kz * g_.w.axis[0] + ky * g_.w.axis[1] + kx * g_.w.axis[2];
        if (g_.w.batch == 1) {
          narrow(sums, to, static_cast<std::size_t>(cols));
          continue;
        }
        narrow(sums, values, static_cast<std::size_t>(cols));
        for (Int64 j = 0; j < cols; ++j) to[j * g_.w.batch] = values[j];
      }
    }
  }
  /// Pairs of places: none is left over, where whole tiles are not read anyway.
  static const PairKernels* pairs_for_weight(const detail::ConvWeightRequest& r) {
    const auto last = static_cast<std::size_t>(r.sizes.axes);
    const PairKernels* const kernels = pair_kernels();
    if (!kernels || r.x.dtype != DType::bf16 || r.y.strides[last + 1] != 1) return nullptr;
    if (kernels->read_rows == 1 && r.sizes.out[last - 1] % 2 != 0) return nullptr;
    return conv_kernels().f32.panel == kPairCols ? kernels : nullptr;
  }

  Geometry g_;
  Strided y_;
  const PairKernels* pairs_;
  bool tiles_;
  Int64 panel_, panels_, phases_, length_, line_, parts_ = 1;
  Int64 fold_ = 1;  // elements of the kernel whose channels are one run of memory, and rows of one product
  std::byte* image_ = nullptr;
};

}  // namespace

/// Zen 5, one thread, the time of products over windows over this: f32 64 channels of 56² 1.13, groups of 32 of 28²
/// 1.7, but 256 channels of 28² 0.93, 512 of 14² 0.7; bf16 1.3 to 2.5 where there are pairs.
bool direct_weight_pays(const detail::ConvSizes& s, DType dtype) {
  constexpr Int64 kFewestChannels = 8, kFewestPlaces = 32;
  const auto last = static_cast<std::size_t>(s.axes) - 1;
  const bool pairs = dtype == DType::bf16 && pair_kernels();
  const Int64 places = s.out[last], folded = !pairs && s.dilation[last] == 1 ? s.kernel[last] : 1;
  if (s.c * folded < kFewestChannels) return false;
  if (pairs) return pair_kernels()->read_rows > 1 || places % 2 == 0;
  return s.groups > 1 || places >= kFewestPlaces;
}
void run_direct_weight(const detail::ConvWeightRequest& request) { Weight(request).run(); }

}  // namespace tern::detail_cpu::conv
