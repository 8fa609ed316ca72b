// Rows of an image as the kernels for channels by themselves read them: vectors of channels, place by place, with zeros
// where the image ends. Places that a stride apart meet lie side by side: each phase of the stride has a line of its
// own.
#pragma once
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "cpu/scratch.hpp"
#include "primitives/convolution/cpu/cpu_geometry.hpp"

namespace tern::detail_cpu::conv {

/// A stretch of the result: `places` along the last axis from `column` on.
struct Stretch {
  Int64 column, places;
};

/// Elements k, k + step, … of the kernel's last axis: each meets at a place what the next one meets a place_step
/// before.
struct KernelRun {
  Int64 k, step, count;
};
/// In the order in which they are summed.
inline std::vector<KernelRun> runs_of_kernel(const Geometry& g) {
  const Int64 step = g.stride[2] / std::gcd(g.stride[2], g.dilation[2]), kernel = g.kernel[2];
  std::vector<KernelRun> runs;
  for (Int64 first = 0; first < std::min(step, kernel); ++first)
    for (Int64 k = first; k < kernel; k += step * kMostRun)
      runs.push_back({k, step, std::min(kMostRun, ceil_div(kernel - k, step))});
  return runs;
}
/// Each element by itself.
inline std::vector<KernelRun> elements_of_kernel(const Geometry& g) {
  std::vector<KernelRun> runs;
  for (Int64 k = 0; k < g.kernel[2]; ++k) runs.push_back({k, 1, 1});
  return runs;
}
inline Int64 place_step(const Geometry& g) { return g.dilation[2] / std::gcd(g.stride[2], g.dilation[2]); }

/// How a row for such a stretch is laid out.
class RowLayout {
 public:
  RowLayout(const Geometry& g, Int64 most_places)
      : phases_(std::min(g.stride[2], g.reach(2))), length_(most_places + (g.reach(2) - 1) / g.stride[2]) {}
  /// Of one vector of channels; those of several lie one after the other.
  Int64 elements(Int64 lanes) const { return phases_ * length_ * lanes; }
  /// Where element k of the kernel meets the first place.
  Int64 offset(const Geometry& g, Int64 k) const {
    const Int64 at = k * g.dilation[2];
    return at % g.stride[2] * length_ + at / g.stride[2];
  }
  /// Copies channels [channel, channel + count) of a row of the image.
  void fill(const Geometry& g, const std::byte* row, Stretch s, Int64 channel, Int64 count, std::byte* to) const {
    const Int64 lanes = g.kernels->lanes, line = lanes * g.wide(), vectors = ceil_div(count, lanes);
    const Int64 first = g.met(2, s.column, 0), vector = elements(lanes);
    for (Int64 phase = 0; phase < phases_; ++phase, to += length_ * line) {
      const Int64 at = first + phase, length = s.places + (g.reach(2) - 1) / g.stride[2];
      const Int64 begin = std::clamp<Int64>(at < 0 ? ceil_div(-at, g.stride[2]) : 0, 0, length);
      const Int64 end = std::clamp<Int64>(floor_divide(g.in[2] - 1 - at, g.stride[2]) + 1, begin, length);
      for (Int64 v = 0; v < vectors; ++v) {
        std::fill_n(to + v * vector * g.wide(), begin * line, std::byte{0});
        std::fill_n(to + v * vector * g.wide() + end * line, (length - end) * line, std::byte{0});
      }
      if (end == begin) continue;
      const std::byte* const from = row + ((at + begin * g.stride[2]) * g.x.axis[2] + channel * g.x.channel) * g.size();
      const Int64 step = g.stride[2] * g.x.axis[2];
      Int64 done = 0;
      if (g.x.channel == 1) {
        done = count / lanes;
        spread_of(*g.kernels, g.dtype)(from, step, end - begin, done, to + begin * line, vector);
      }
      for (Int64 v = done; v < vectors; ++v)
        g.types.kernels->copy({from + v * lanes * g.x.channel * g.size(), step, g.x.channel}, end - begin,
                              std::min(lanes, count - v * lanes), to + (begin * lanes + v * vector) * g.wide(), lanes,
                              lanes);
    }
  }

 private:
  Int64 phases_, length_;
};

/// Calls put(kz, ky, z, row) for the elements of the first two axes of the kernel that a place of the result in rows
/// (z, row) meets in the image, with the rows of the image that they meet.
template <class Put> void each_row_met(const Geometry& g, Int64 z, Int64 row, Put put) {
  for (Int64 kz = 0; kz < g.kernel[0]; ++kz)
    for (Int64 ky = 0; ky < g.kernel[1]; ++ky) {
      const Int64 from_z = g.met(0, z, kz), from = g.met(1, row, ky);
      if (g.inside(0, from_z) && g.inside(1, from)) put(kz, ky, from_z, from);
    }
}

/// The rows that a few neighbouring rows of the result meet, kept while they are met again.
class KeptRows {
 public:
  /// `rows` of the result at a time, `vectors` of channels.
  KeptRows(const Geometry& g, const RowLayout& layout, Int64 rows, Int64 vectors)
      : g_(g),
        layout_(layout),
        ring_(g.reach(1) + (rows - 1) * g.stride[1]),
        row_bytes_(vectors * layout.elements(g.kernels->lanes) * g.wide()) {
    for (Int64 k = 0; k < g.kernel[2]; ++k) offsets_.push_back(layout.offset(g, k) * g.kernels->lanes * g.wide());
  }
  Int64 bytes() const { return g_.kernel[0] * ring_ * row_bytes_; }
  void begin(std::byte* memory) {
    memory_ = memory;
    kept_.assign(static_cast<std::size_t>(g_.kernel[0] * ring_), {-1, -1});
  }
  struct RowSource {
    Int64 sample, channel, channels;
    Stretch stretch;
  };
  /// The row (z, row) of the image for element k of the first axis of the kernel.
  const std::byte* row(const RowSource& where, Int64 k, Int64 z, Int64 row) {
    const Int64 slot = k * ring_ + row % ring_;
    std::byte* const to = memory_ + slot * row_bytes_;
    KeptRow& kept = kept_[static_cast<std::size_t>(slot)];
    if (kept.z != z || kept.row != row) {
      kept = {z, row};
      const std::byte* const from =
          g_.x.data + (where.sample * g_.x.batch + z * g_.x.axis[0] + row * g_.x.axis[1]) * g_.size();
      layout_.fill(g_, from, where.stretch, where.channel, where.channels, to);
    }
    return to;
  }
  /// Calls put(row of the image, index among the rows of the kernel's elements) for those that a place of the result in
  /// rows (z, row) meets.
  template <class Put> void each_row(const RowSource& where, Int64 z, Int64 row, Put put) {
    each_row_met(g_, z, row, [&](Int64 kz, Int64 ky, Int64 from_z, Int64 from) {
      put(this->row(where, kz, from_z, from), kz * g_.kernel[1] + ky);
    });
  }
  /// Taps of the first vector of a place of the result in rows (z, row); weights at `w`, `lanes` for each element of
  /// the kernel.
  void taps(const RowSource& where, Int64 z, Int64 row, std::byte* w, std::vector<Tap>& taps) {
    taps.clear();
    const Int64 line = g_.kernels->lanes * g_.wide();
    each_row(where, z, row, [&](const std::byte* x, Int64 at) {
      for (Int64 k = 0; k < g_.kernel[2]; ++k)
        taps.push_back({x + offsets_[static_cast<std::size_t>(k)], w + (at * g_.kernel[2] + k) * line});
    });
  }
  /// The same by runs; weights in the order of their elements.
  void runs(const RowSource& where, Int64 z, Int64 row, const std::byte* w, std::span<const KernelRun> of,
            std::vector<TapRun>& runs) {
    runs.clear();
    const Int64 line = g_.kernels->lanes * g_.wide();
    each_row(where, z, row, [&](const std::byte* x, Int64 at) {
      const std::byte* weights = w + at * g_.kernel[2] * line;
      for (const KernelRun& run : of) {
        runs.push_back({x + offsets_[static_cast<std::size_t>(run.k)], weights, run.count, 0,
                        std::numeric_limits<Int64>::max() / 2});
        weights += run.count * line;
      }
    });
  }

 private:
  struct KeptRow {
    Int64 z, row;
  };
  const Geometry& g_;
  const RowLayout& layout_;
  Int64 ring_, row_bytes_;
  std::vector<Int64> offsets_;  // bytes from the begin of a row, for each element of the kernel
  std::byte* memory_ = nullptr;
  std::vector<KeptRow> kept_;
};

/// Rows of the image where they lie, with all channels side by side: those of a few elements are met again so seldom
/// that copying them takes longer than all else.
class RowsInPlace {
 public:
  static bool fits(const Geometry& g) { return channels_fit(g) && place_step(g) == 1; }
  static bool channels_fit(const Geometry& g) { return g.x.channel == 1 && g.groups % g.kernels->lanes == 0; }
  RowsInPlace(const Geometry& g, std::span<const KernelRun> of, Stretch s) : g_(g), inside_{0, s.places} {
    for (const KernelRun& run : of) {
      const Int64 column = g.met(2, s.column, run.k), stride = g.stride[2];
      const Int64 first = column < 0 ? ceil_div(-column, stride) : 0;
      const Int64 end = floor_divide(g.in[2] - 1 - column, stride) + 1;
      runs_.push_back({nullptr, nullptr, run.count, first, end}), columns_.push_back(column);
      inside_ = {std::max(inside_.first, first), std::min(inside_.end, end - run.count + 1)};
    }
  }
  /// The places that meet nothing outside of the image.
  struct Inside {
    Int64 first, end;
  };
  Inside inside() const { return inside_; }
  /// As KeptRows::runs.
  void runs(Int64 sample, Int64 channel, Int64 z, Int64 row, const std::byte* w, std::vector<TapRun>& runs) const {
    runs.clear();
    const Int64 line = g_.kernels->lanes * g_.wide();
    each_row_met(g_, z, row, [&](Int64 kz, Int64 ky, Int64 from_z, Int64 from) {
      const std::byte* weights = w + (kz * g_.kernel[1] + ky) * g_.kernel[2] * line;
      const Int64 at = sample * g_.x.batch + from_z * g_.x.axis[0] + from * g_.x.axis[1] + channel;
      for (std::size_t i = 0; i < runs_.size(); ++i) {
        runs.push_back(runs_[i]);
        runs.back().x = g_.x.data + (at + columns_[i] * g_.x.axis[2]) * g_.size();
        runs.back().w = weights, weights += runs_[i].count * line;
      }
    });
  }
  /// Of a transposed image: what the row `kRowsAhead` on is the first to meet, in a call of so many places. Processors
  /// follow fewer streams by themselves: 3 × 3 of 192 channels of 56² on a Zen 3 1.1 of the speed, with stride 2 1.2.
  void fetch(Int64 sample, Int64 channel, Int64 z, Int64 row, Int64 places, RunsCall& call) const {
    constexpr Int64 kRowsAhead = 2;
    const Int64 last = g_.met(1, row + kRowsAhead, g_.kernel[1] - 1);
    const Int64 at = sample * g_.x.batch + g_.met(0, z, 0) * g_.x.axis[0] + last * g_.x.axis[1] + channel;
    call.ahead = g_.kernel[0] == 1 ? g_.x.data + (at + columns_[0] * g_.x.axis[2]) * g_.size() : nullptr;
    call.ahead_rows = (places - 1) * g_.stride[2] + g_.reach(2), call.ahead_row = g_.x.axis[2];
    call.ahead_places = std::min(g_.stride[1], g_.reach(1)), call.ahead_place = g_.x.axis[1];
  }
  /// runs() of a transposed image, with runs of one element each, in the order in which they are summed where it is
  /// not transposed: `across` has that of the elements that are the transposed one's rows.
  void runs_down(Int64 sample, Int64 channel, Int64 z, Int64 row, const std::byte* w, std::span<const KernelRun> across,
                 std::vector<TapRun>& runs) const {
    runs.clear();
    const Int64 line = g_.kernels->lanes * g_.wide();
    for (Int64 kz = 0; kz < g_.kernel[0]; ++kz) {
      const Int64 from_z = g_.met(0, z, kz);
      if (!g_.inside(0, from_z)) continue;
      const Int64 at = sample * g_.x.batch + from_z * g_.x.axis[0] + channel;
      for (std::size_t i = 0; i < runs_.size(); ++i)
        for (const KernelRun& some : across)
          for (Int64 k = some.k; k < some.k + some.count * some.step; k += some.step) {
            const Int64 from = g_.met(1, row, k);
            if (!g_.inside(1, from)) continue;
            runs.push_back(runs_[i]);
            runs.back().x = g_.x.data + (at + from * g_.x.axis[1] + columns_[i] * g_.x.axis[2]) * g_.size();
            runs.back().w = w + ((kz * g_.kernel[1] + k) * g_.kernel[2] + static_cast<Int64>(i)) * line;
          }
    }
  }

 private:
  const Geometry& g_;
  Inside inside_;
  std::vector<TapRun> runs_;
  std::vector<Int64> columns_;  // that element 0 meets at the first place
};

/// How channels by themselves are divided: into tasks of `blocks` vectors of channels, stretches of the last axis, and
/// `rows` of the result that are computed together.
///
/// `down`: of a transposed image. What registers hold are then the results of several rows below each other, and the
/// next ones are their neighbours to the right: each row that is met is read from its begin to its end, which is what
/// processors fetch ahead by themselves.
struct DepthwisePlan {
  Int64 vectors;
  bool in_place, down;
  Int64 together;  // vectors of channels by whose sums lines of the result are filled in turn
  bool joins;      // or the sums of each vector lie by themselves until all of a row's are there
  Int64 blocks, tasks_of_channels, stretches, places, rows = 1;
  RowLayout layout;
  explicit DepthwisePlan(const Geometry& g, bool transposed = false)
      : vectors(ceil_div(g.groups, g.kernels->lanes)),
        in_place(transposed || (few(g) && RowsInPlace::fits(g))),
        down(transposed),
        together(in_place || few(g) ? 1 : vectors_together(g)),
        joins(!in_place && !few(g) && !fills_lines(g) && together == 1),
        blocks(std::clamp<Int64>(joins || together > 1
                                     ? joined_vectors(g)
                                     : (in_place ? kChannelsInPlace : kChannels) / g.kernels->lanes,
                                 1, vectors)),
        tasks_of_channels(ceil_div(vectors, blocks)),
        stretches(ceil_div(g.out[2], down ? places_down(g) : kPlaces)),
        places(down ? places_down(g) : ceil_div(g.out[2], stretches)),
        layout(g, places) {
    // Many elements: a vector of channels takes several rows, while L1 has what they meet. Few: all vectors take one
    // place after the other, as they lie in memory.
    if (in_place) rows = std::min<Int64>(g.out[1], kRowsInPlace);
    if (down) rows = std::clamp<Int64>(kResultsDown / (places * blocks * g.kernels->lanes * g.wide()), 1, g.out[1]);
    if (in_place || few(g)) return;
    const Int64 most = std::min(g.out[1], joins || together > 1 ? kRowsJoined : kRowsKept);
    rows = std::clamp<Int64>(rows_that_fit(g, layout, together), 1, most);
  }
  /// Rows of the result of which L1 has what so many vectors meet.
  static Int64 rows_that_fit(const Geometry& g, const RowLayout& layout, Int64 vectors) {
    const Int64 fit = kBytes / (layout.elements(g.kernels->lanes) * g.wide() * g.kernel[0] * vectors);
    return floor_divide(fit - g.reach(1), g.stride[1]) + 1;
  }
  /// Those that fill a line, where L1 has what they meet, and kernels fetch the lines ahead: 192 channels on a Zen 3,
  /// f32, the time of sums that are joined over theirs 1.1 to 1.25, not fetched 0.45.
  static Int64 vectors_together(const Geometry& g) {
    if (!g.kernels->goes_down) return 1;
    const Int64 line = std::max<Int64>(1, 64 / (g.kernels->lanes * g.wide()));
    return rows_that_fit(g, RowLayout(g, std::min(g.out[2], kPlaces)), line) > 0 ? line : 1;
  }
  static bool fills_lines(const Geometry& g) { return g.kernels->lanes * g.wide() >= 64; }
  /// While L2 has the rows of all, and there are tasks for several threads.
  static Int64 joined_vectors(const Geometry& g) {
    const Int64 lanes = g.kernels->lanes, rows = g.kernel[0] * (g.reach(1) + (kRowsJoined - 1) * g.stride[1]);
    const Int64 row = RowLayout(g, std::min(g.out[2], kPlaces)).elements(lanes) * g.wide();
    return std::min(kRing / (rows * row), ceil_div(ceil_div(g.groups, lanes) * g.n * g.out[0], kFewestTasks));
  }
  static bool few(const Geometry& g) { return g.taps() < kManyTaps; }
  static bool pays_down(const Geometry& g) {
    return g.kernels->goes_down && g.out[1] > 1 && few(g) && RowsInPlace::channels_fit(g);
  }
  /// Of a transposed image: all that a call has, while L2 has the rows that are met and those of the result.
  static Int64 places_down(const Geometry& g) {
    const Int64 most = g.kernels->run_places, met = (most - 1) * g.stride[2] + g.reach(2);
    const Int64 bytes = g.groups * (met * g.in[1] + most * g.out[1]) * g.size();
    return bytes <= kHeldDown ? most : g.kernels->down_places;
  }
  Stretch stretch(const Geometry& g, Int64 i) const {
    if (down) return {i * places, std::min(places, g.out[2] - i * places)};
    const EvenPart part = even_part(i, stretches, g.out[2]);
    return {part.begin, part.count};
  }

 private:
  /// Channels of a task; places of a stretch; bytes of the rows that a vector of channels meets, which L1 is to hold;
  /// rows of the result at a time.
  static constexpr Int64 kChannels = 64, kPlaces = 112, kBytes = 36 << 10, kManyTaps = 16, kRowsKept = 8;
  /// Of rows that are read where they lie. 192 channels of 56² and 3 × 3, f32, Emerald Rapids: 1.43 ms by 64 channels,
  /// 1.33 by 128, 1.11 by all, with two rows together 1.07 (four: 1.05), and 7 places a call instead of 14 1.01.
  static constexpr Int64 kChannelsInPlace = 1024, kRowsInPlace = 2;
  /// Of vectors that are shorter than a line, so that neither what is copied nor results are written in parts of
  /// lines: bytes of rows that L2 is to hold, rows of the result, tasks. 192 channels on a Zen 3, f32, the speed of
  /// before over that of these, with what is copied fetched ahead: 7 × 7 of 56² 0.65 to 0.84, 5 × 5 of 28² with
  /// dilation 2 0.65.
  static constexpr Int64 kRing = 432 << 10, kRowsJoined = 3, kFewestTasks = 4;
  /// Bytes of results, which an epilogue finds in L2. 192 channels on a Zen 3, f32, the speed of calls of rows over
  /// that of these: 3 × 3 0.5 to 0.6; of kept rows 5 × 5 1.25.
  static constexpr Int64 kResultsDown = 288 << 10;
  /// Seven rows of the result in place of six, the time of six over theirs: where L2 has them not, 56² and 3 × 3 0.95.
  static constexpr Int64 kHeldDown = 480 << 10;
};

}  // namespace tern::detail_cpu::conv
