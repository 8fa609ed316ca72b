// All channels: a product of matrices whose rows are read where they lie. A task takes a few rows of the result. It
// copies the rows of the image that they meet among zeros, once (in L2, widened), and multiplies stretches of them by
// panels of the kernels: an element of the kernel moves the place where a stretch begins, so that nothing is unfolded.
// bf16 is multiplied by pairs of channels where the processor can (gemm_pairs.hpp), from rows that are not widened. AMX
// reads whole tiles: channels are padded with zeros to kTileChannels, and kernels as well.
#include <cstring>
#include <vector>

#include "cpu/machine/threads.hpp"
#include "cpu/products/gemm_pairs.hpp"
#include "cpu/products/tile_epilogue.hpp"
#include "cpu/tape/tapes.hpp"
#include "primitives/convolution/cpu/cpu_packing.hpp"
#include "primitives/convolution/kernels.hpp"
#include "process/of_thread.hpp"

namespace tern::detail_cpu::conv {
namespace {

/// Bytes of the rows of the image that a task copies, and of the kernels that a call's segments read: both are to be in
/// L2 together.
constexpr Int64 kImageBytes = 320 << 10, kKernelBytes = 256 << 10;
/// Places of the result that a task has at least, where memory allows: every panel of the kernels is read once for
/// them. More where calls go over the ends of rows (Zen 3: 3 channels of 112² and 7 x 7 with stride 2 1.03 of the
/// speed, 64 of 56² and 3 x 3 1.01).
constexpr Int64 kTaskPlaces = 112, kTaskPlacesApart = 224;
/// Panels whose results the epilogue takes together.
constexpr Int64 kPanelsAtOnce = 2;
/// Multiply-adds that are worth a task of their own.
constexpr Int64 kDirectTask = 512 << 10;

struct DirectScratch {
  ScratchBuffer image, results, kernels, panel;
  std::vector<Segment> segments;
  std::vector<PairSegment> pair_segments;
  std::vector<bool> has;
};
DirectScratch& direct_scratch() { return detail::of_thread<DirectScratch>(); }

/// Channels of a place that tiles read.
constexpr Int64 kTileChannels = 2 * kPairSteps;
/// Whether rows of any length may be read in pairs, and no more of them is.
bool reads_any_length(const PairKernels& kernels) { return kernels.read_rows == 1 && kernels.read_steps == 2; }
/// The kernels that multiply pairs; null where those of f32 are to do it.
const PairKernels* pairs_for(const Geometry& g) {
  constexpr Int64 kFewestChannels = 16;
  if (g.dtype != DType::bf16 || g.c < kFewestChannels || g.kernels->panel != kPairCols) return nullptr;
  const PairKernels* const kernels = pair_kernels();
  return kernels && (g.c % 2 == 0 || !reads_any_length(*kernels)) ? kernels : nullptr;
}

/// i modulo the size; i becomes the quotient. Divisions took half of the time of images of 2 x 3.
Int64 next_of(Int64& i, Int64 size) {
  if (size == 1) return 0;
  const Int64 at = i % size;
  i /= size;
  return at;
}

/// (Longer than other classes: what one task does in turn to the same rows, in f32 and by pairs.)
class Direct {
 public:
  Direct(const detail::ConvRequest& r, const TileEpilogue& epilogue)
      : g_(r.sizes, r.x, r.w), epilogue_(epilogue), panel_(g_.kernels->panel), panels_(ceil_div(g_.o, panel_)) {
    pairs_ = pairs_for(g_);
    tiles_ = pairs_ && !reads_any_length(*pairs_);
    channels_ = tiles_ ? ceil_div(g_.c, kTileChannels) * kTileChannels : g_.c;
    straight_ = goes_straight(r, epilogue.stores_accumulators(), pairs_ != nullptr);
    if (g_.size() == 2 && !pairs_ && goes_straight(r, epilogue.stores_accumulators(), true))
      round_ = round_of(*g_.kernels, g_.dtype);
    if (straight_ || round_) y_ = Geometry::of_image(r.outputs[0], r.sizes.axes);
    plan();
  }
  void run() {
    packed_ = direct_scratch().kernels.reserve(g_.groups * panels_ * depth() * panel_ * element());
    const Int64 work = g_.n * g_.groups * g_.o * g_.out[0] * g_.out[1] * g_.out[2] * depth();
    const bool parallel = work > kDirectTask;
    in_parts(g_.groups * panels_, parallel, [&](Int64 i) { pack_panel(i / panels_, i % panels_); });
    groups_of_images_ = g_.n * g_.out[0] / images_together(max_threads());
    const Int64 whole = groups_of_images_ * g_.groups * blocks_ * stretches_;
    const Int64 want = parallel ? std::min<Int64>(4 * max_threads(), work / kDirectTask) : 1;
    parts_ = std::clamp<Int64>(ceil_div(want, whole), 1, ceil_div(panels_, kPanelsAtOnce));
    in_parts(whole * parts_, parallel, [&](Int64 task) { run_task(task); });
  }

 private:
  struct Task {
    Int64 image, sample, group, z;  // an image of each sample and place of the first axis
    EvenPart images, rows, columns, panels;
  };

  Int64 depth() const { return g_.taps() * channels_; }
  /// Bytes of an element of the copied rows and of the packed kernels.
  Int64 element() const { return pairs_ ? 2 : g_.wide(); }
  template <class F> static void in_parts(Int64 count, bool parallel, F f) {
    if (parallel) return parallel_for(count, f);
    for (Int64 i = 0; i < count; ++i) f(i);
  }

  void plan() {
    stretches_ = ceil_div(g_.out[2], kTaskPlaces);
    const Int64 places = ceil_div(g_.out[2], stretches_);
    length_ = (places - 1) * g_.stride[2] + g_.reach(2);
    pitch_ = channels_;
    // Rows of a call that lie multiples of 2048 bytes apart would share two sets of L1.
    if (g_.stride[2] * pitch_ * element() % 2048 == 0) pitch_ += 64 / element();
    runs_ = pitch_ == channels_ && (g_.dilation[2] == 1 || g_.kernel[2] == 1);
    narrow_ = !pairs_ && g_.kernels->direct_narrow && g_.o <= kNarrowResults && steps() % g_.kernels->lanes == 0;
    segments_at_once_ =
        pairs_ || narrow_ ? segments() : std::max<Int64>(1, kKernelBytes / (steps() * panel_ * g_.wide()));
    const Int64 row = length_ * pitch_ * element() * g_.kernel[0];
    const Int64 least = g_.kernels->direct_apart ? kTaskPlacesApart : kTaskPlaces;
    Int64 rows = std::min(g_.out[1], std::max<Int64>(1, least / places));
    while (rows > 1 && ((rows - 1) * g_.stride[1] + g_.reach(1)) * row > kImageBytes) --rows;
    blocks_ = ceil_div(g_.out[1], rows);
    most_rows_ = ceil_div(g_.out[1], blocks_);
    image_rows_ = (most_rows_ - 1) * g_.stride[1] + g_.reach(1);
  }

  void pack_panel(Int64 group, Int64 panel) {
    std::byte* const to = panel_at(group, panel);
    if (!pairs_ && !narrow_) return pack_kernels(g_, group, panel, to);
    std::byte* const apart = direct_scratch().panel.reserve(g_.taps() * g_.c * panel_ * g_.wide());
    pack_kernels(g_, group, panel, apart);
    if (narrow_)  // result by result
      return g_.types.computed->copy({apart, 1, panel_}, g_.o, depth(), to, depth(), depth());
    pair_up(reinterpret_cast<const std::uint32_t*>(apart), reinterpret_cast<std::uint32_t*>(to), g_.taps(), g_.c,
            channels_);
  }
  std::byte* panel_at(Int64 group, Int64 panel) const {
    return packed_ + (group * panels_ + panel) * depth() * panel_ * element();
  }

  /// How many small images with an epilogue a task takes at least, which ends them together: to end one by one those of
  /// 3x2x2 places and two channels, with a bias, took twice the time of their sums.
  Int64 images_together(Int64 threads) const {
    if (straight_ || round_ || panels_ > kPanelsAtOnce || blocks_ * stretches_ > 1) return 1;
    const Int64 fit = kTaskPlaces / (g_.out[1] * g_.out[2]), all = g_.n * g_.out[0];
    return std::max<Int64>(1, std::min({fit, all, all * g_.groups / (4 * threads)}));
  }
  void run_task(Int64 i) {
    Task t{};
    const Int64 part = next_of(i, parts_), stretch = next_of(i, stretches_);
    t.rows = even_part(next_of(i, blocks_), blocks_, g_.out[1]);
    t.group = next_of(i, g_.groups);
    t.images = even_part(i, groups_of_images_, g_.n * g_.out[0]);
    t.columns = even_part(stretch, stretches_, g_.out[2]);
    const EvenPart mine = even_part(part, parts_, ceil_div(panels_, kPanelsAtOnce));  // one, of several images
    if (pairs_) pairs_->begin();
    for (t.image = t.images.begin; t.image < t.images.begin + t.images.count; ++t.image) {
      t.sample = t.image, t.z = next_of(t.sample, g_.out[0]);
      copy_rows(t);
      for (Int64 p = mine.begin; p < mine.begin + mine.count; ++p) {
        t.panels = {p * kPanelsAtOnce, std::min(kPanelsAtOnce, panels_ - p * kPanelsAtOnce)};
        run_panels(t);
      }
    }
    if (pairs_) pairs_->end();
  }

  std::byte* image_row(Int64 kz, Int64 row) const {
    return direct_scratch().image.data() + (kz * image_rows_ + row) * length_ * pitch_ * element();
  }
  /// The rows of the image that a task meets, among zeros.
  void copy_rows(const Task& t) const {
    DirectScratch& mine = direct_scratch();
    // Tiles read rows behind the last one, for results that are not used.
    const Int64 behind = tiles_ ? (kPairRows * g_.stride[2] + 1) * pitch_ * element() : 0;
    mine.image.reserve(g_.kernel[0] * image_rows_ * length_ * pitch_ * element() + behind);
    mine.has.assign(static_cast<std::size_t>(g_.kernel[0] * image_rows_), false);
    const Int64 first = g_.met(1, t.rows.begin, 0);
    for (Int64 kz = 0; kz < g_.kernel[0]; ++kz) {
      const Int64 z = g_.met(0, t.z, kz);
      if (!g_.inside(0, z)) continue;
      for (Int64 r = t.rows.begin; r < t.rows.begin + t.rows.count; ++r)
        for (Int64 k = 0; k < g_.kernel[1]; ++k) {
          const Int64 row = g_.met(1, r, k);
          const auto slot = static_cast<std::size_t>(kz * image_rows_ + row - first);
          if (!g_.inside(1, row) || mine.has[slot]) continue;
          mine.has[slot] = true;
          copy_row(t, z, row, image_row(kz, row - first));
        }
    }
  }
  void copy_row(const Task& t, Int64 z, Int64 row, std::byte* to) const {
    const Int64 first = g_.met(2, t.columns.begin, 0), place = pitch_ * element();
    const Int64 length = (t.columns.count - 1) * g_.stride[2] + g_.reach(2);
    const Int64 begin = std::clamp<Int64>(-first, 0, length), end = std::clamp<Int64>(g_.in[2] - first, begin, length);
    std::fill_n(to, begin * place, std::byte{0});
    std::fill_n(to + end * place, (length - end) * place, std::byte{0});
    if (end == begin) return;
    const Strided& x = g_.x;
    const std::byte* const from = x.data + (t.sample * x.batch + t.group * g_.c * x.channel + z * x.axis[0] +
                                            row * x.axis[1] + (first + begin) * x.axis[2]) *
                                               g_.size();
    if (pairs_) return copy_halves(reinterpret_cast<const std::uint16_t*>(from), end - begin, to + begin * place);
    const auto copy = g_.types.kernels->copy;
    if (x.channel == 1 && x.axis[2] == g_.c && pitch_ == g_.c)
      return copy({from, 0, 1}, 1, (end - begin) * g_.c, to + begin * place, 0, 0);
    copy({from, x.axis[2], x.channel}, end - begin, g_.c, to + begin * place, pitch_, g_.c);
  }

  void copy_halves(const std::uint16_t* from, Int64 places, std::byte* to) const {
    const Strided& x = g_.x;
    if (x.channel == 1) {
      const bool run = x.axis[2] == g_.c && pitch_ == g_.c;
      const Int64 times = run ? 1 : places, bytes = (run ? places : 1) * g_.c * 2, rest = (channels_ - g_.c) * 2;
      for (Int64 i = 0; i < times; ++i) {
        std::memcpy(to + i * pitch_ * 2, from + i * x.axis[2], static_cast<std::size_t>(bytes));
        if (rest > 0) std::memset(to + i * pitch_ * 2 + bytes, 0, static_cast<std::size_t>(rest));
      }
      return;
    }
    auto* const y = reinterpret_cast<std::uint16_t*>(to);
    if (channels_ > g_.c) std::memset(to, 0, static_cast<std::size_t>(places * pitch_ * 2));
    for (Int64 ch = 0; ch < g_.c; ++ch)
      for (Int64 i = 0; i < places; ++i) y[i * pitch_ + ch] = from[i * x.axis[2] + ch * x.channel];
  }

  void run_panels(const Task& t) const {
    const Int64 first = t.panels.begin * panel_, cols = std::min(t.panels.count * panel_, g_.o - first);
    const Int64 row = t.panels.count * panel_, channel = t.group * g_.o + first;
    const Int64 bytes = t.rows.count * t.columns.count * row * g_.wide();
    std::byte* results = nullptr;
    if (!straight_)
      results = direct_scratch().results.reserve(t.images.count * bytes + (tiles_ ? kPairRows * row * 4 : 0)) +
                (t.image - t.images.begin) * bytes;
    for (Int64 p = 0; p < t.panels.count; ++p)
      for (Int64 begin = 0, count = segments_at_once_; begin < segments(); begin += count)
        for (Int64 r = 0, rows = 1; r < t.rows.count; r += rows) {
          std::byte* to = straight_ ? result(t, t.rows.begin + r) + (channel + p * panel_) * result_size()
                                    : results + (r * t.columns.count * row + p * panel_) * g_.wide();
          rows = alike(t, r);
          run_rows(t, {r, rows}, t.panels.begin + p, {begin, std::min(count, segments() - begin)}, to,
                   straight_ ? y_.axis[2] : row, straight_ ? y_.axis[1] : t.columns.count * row);
        }
    if (!straight_) end(t, results, row, channel, cols);
  }
  /// Of results that do not go straight: those of the image, or with the last of several of all.
  void end(const Task& t, std::byte* results, Int64 row, Int64 channel, Int64 cols) const {
    const Int64 columns = t.columns.count, places = t.rows.count * columns;
    if (t.images.count > 1 && t.image + 1 < t.images.begin + t.images.count) return;
    if (t.images.count > 1)
      return epilogue_.finish({results - (t.images.count - 1) * places * row * g_.wide(), row,
                               t.images.begin * places * g_.groups * g_.o + channel, t.images.count * places, cols,
                               g_.groups * g_.o});
    for (Int64 r = 0; r < t.rows.count; ++r) {
      std::byte* const from = results + r * columns * row * g_.wide();
      if (round_)
        round_(from, row, columns, cols, result(t, t.rows.begin + r) + channel * result_size(), y_.axis[2]);
      else
        epilogue_.finish({from, row, g_.position(t.sample, t.z, t.rows.begin + r, t.columns.begin) + channel, columns,
                          cols, g_.groups * g_.o});
    }
  }
  std::byte* result(const Task& t, Int64 row) const {
    return y_.data +
           (t.sample * y_.batch + t.z * y_.axis[0] + row * y_.axis[1] + t.columns.begin * y_.axis[2]) * result_size();
  }
  Int64 result_size() const { return pairs_ || round_ ? 2 : g_.wide(); }  // where there is no epilogue
  /// Elements of the kernel, or where they are one run of memory, its rows.
  Int64 segments() const { return runs_ ? g_.kernel[0] * g_.kernel[1] : g_.taps(); }
  /// Of each segment.
  Int64 steps() const { return runs_ ? g_.kernel[2] * channels_ : channels_; }
  /// How many rows from row r on are multiplied together, as they meet the same rows of the kernel: where calls would
  /// else end before they have all their places.
  Int64 alike(const Task& t, Int64 r) const {
    const Int64 most = g_.kernels->rows, columns = t.columns.count;
    if (pairs_ || !g_.kernels->direct_apart || columns % most == 0) return 1;
    Int64 rows = 0;
    const auto inside = [&](Int64 row) {
      return g_.inside(1, g_.met(1, row, 0)) && g_.inside(1, g_.met(1, row, g_.kernel[1] - 1));
    };
    while (r + rows < t.rows.count && inside(t.rows.begin + r + rows)) ++rows;
    return rows * ceil_div(columns, most) > ceil_div(rows * columns, most) ? rows : 1;
  }
  /// Results of a row `step` from each other, of rows `row_step`.
  void run_rows(const Task& t, EvenPart rows, Int64 panel, EvenPart part, std::byte* to, Int64 step,
                Int64 row_step) const {
    const Int64 r = rows.begin, columns = t.columns.count;
    std::vector<Segment>& list = direct_scratch().segments;
    list.clear();
    const Int64 across = runs_ ? 1 : g_.kernel[2], steps = this->steps();
    const std::byte* const b = panel_at(t.group, panel);
    for (Int64 s = part.begin; s < part.begin + part.count; ++s) {
      Int64 kz = s;
      const Int64 k = next_of(kz, across), ky = next_of(kz, g_.kernel[1]);
      const Int64 row = g_.met(1, t.rows.begin + r, ky);
      if (!g_.inside(0, g_.met(0, t.z, kz)) || !g_.inside(1, row)) continue;
      list.push_back({image_row(kz, row - g_.met(1, t.rows.begin, 0)) + k * g_.dilation[2] * pitch_ * element(),
                      b + s * steps * (narrow_ ? 1 : panel_) * element()});
    }
    if (pairs_) return run_pairs(list, columns, steps / 2, std::min(panel_, g_.o - panel * panel_), to, step);
    if (list.empty() && part.begin > 0) return;
    const Int64 most = g_.kernels->rows, all = rows.count * columns, calls = all <= most ? 1 : ceil_div(all, most);
    const Int64 a_row = g_.stride[2] * pitch_, a_step = g_.stride[1] * length_ * pitch_;
    DirectCall call{list.data(), static_cast<Int64>(list.size()),         steps,         a_row, to, step,
                    0,           std::min(panel_, g_.o - panel * panel_), part.begin > 0};
    call.b_row = depth();
    if (rows.count > 1 || narrow_) return run_apart(call, columns, calls, all, a_step, row_step);
    for (Int64 i = 0; i < calls; ++i) {
      const EvenPart places = even_part(i, calls, all);
      call.rows = places.count, call.c = to + places.begin * step * g_.wide();
      g_.kernels->direct(call);
      for (Segment& s : list) s.a = static_cast<const std::byte*>(s.a) + places.count * a_row * g_.wide();
    }
  }
  /// Places of several rows, one after the other.
  void run_apart(DirectCall call, Int64 columns, Int64 calls, Int64 all, Int64 a_step, Int64 c_step) const {
    constexpr Int64 kMost = 16;
    Int64 a_at[kMost], c_at[kMost];
    call.a_at = a_at, call.c_at = c_at;
    Int64 row = 0, column = 0;
    if (call.count > 0 && !narrow_) {  // else places of the first axis that meet nothing
      const Int64 next = call.count * call.depth * panel_ * g_.wide();  // bytes of kernels
      call.ahead = static_cast<const char*>(call.segments[0].b) + next;
      call.lines = ceil_div(next, 64 * calls * call.count);
    }
    for (Int64 i = 0; i < calls; ++i, call.ahead += call.lines * call.count * 64) {
      call.rows = even_part(i, calls, all).count;
      for (Int64 p = 0; p < call.rows; ++p) {
        a_at[p] = row * a_step + column * call.a_row, c_at[p] = row * c_step + column * call.c_row;
        if (++column == columns) column = 0, ++row;
      }
      narrow_ ? g_.kernels->direct_narrow(call) : g_.kernels->direct_apart(call);
    }
  }

  /// The same of bf16: sums are kept in f32, and rounded where they go straight to the result. The places of a call
  /// fill tiles where there are any; a call behind the last place then writes where the next row will be written.
  void run_pairs(std::vector<Segment>& list, Int64 all, Int64 pairs, Int64 cols, std::byte* to, Int64 step) const {
    constexpr Int64 kMost = 28;  // two calls' worth of rows
    const Int64 calls = ceil_div(all, tiles_ ? kPairRows : kMost), a_row = g_.stride[2] * pitch_;
    std::vector<PairSegment>& segments = direct_scratch().pair_segments;
    segments.clear();
    for (const Segment& s : list)
      segments.push_back({static_cast<const std::uint16_t*>(s.a), static_cast<const std::uint16_t*>(s.b)});
    for (Int64 i = 0; i < calls; ++i) {
      const EvenPart places =
          tiles_ ? EvenPart{i * kPairRows, std::min(kPairRows, all - i * kPairRows)} : even_part(i, calls, all);
      std::byte* const at = to + places.begin * step * (straight_ ? 2 : 4);
      for (Int64 p = 0; list.empty() && p < places.count; ++p)
        std::fill_n(at + p * step * (straight_ ? 2 : 4), cols * (straight_ ? 2 : 4), std::byte{0});
      if (list.empty()) continue;
      PairMicro call{segments[0].a, a_row,        2 * kPairSteps, segments[0].b, nullptr, 0, nullptr, step, pairs,
                     places.count,  cols,         nullptr,        step,          nullptr, 0};
      if (straight_) call.rounded = reinterpret_cast<std::uint16_t*>(at);
      else call.to = reinterpret_cast<float*>(at);
      call.more = segments.data() + 1, call.more_count = static_cast<Int64>(segments.size()) - 1;
      pairs_->micro(call);
      for (PairSegment& s : segments) s.a += places.count * a_row;
    }
  }

  Geometry g_;
  const TileEpilogue& epilogue_;
  const PairKernels* pairs_ = nullptr;
  bool tiles_ = false;  // whose multiples are read
  Int64 channels_ = 0;  // of a place, padded for them
  Int64 panel_, panels_;
  Int64 groups_of_images_ = 1, stretches_ = 1, blocks_ = 1, parts_ = 1, most_rows_ = 1, segments_at_once_ = 1;
  Int64 length_ = 0, pitch_ = 0, image_rows_ = 0;  // of a copied row: places, and elements from place to place; rows
  bool runs_ = false;                              // a row of the kernel and its channels are one run of memory
  bool narrow_ = false;                            // few results: kernels lie result by result
  bool straight_ = false;
  ConvKernels::Round round_ = nullptr;  // where the rounded sums are the result
  Strided y_;
  std::byte* packed_ = nullptr;
};

}  // namespace

bool widens_or_reads_in_place(DType dtype) {
  const PairKernels* const kernels = dtype == DType::bf16 ? pair_kernels() : nullptr;
  return !kernels || reads_any_length(*kernels);
}
/// Few results for each place, or tiles of AMX that are filled (stride and kernel 2, Emerald Rapids, one thread, the
/// direct kernel's time over theirs: 1024 images of 2x3 and 1 or 2 results 10 to 18; up to 8 results in f32 1.7 to 4.4,
/// in f64 1.0 to 3.6, up to 16 in 16 bits 1.7 to 10, with AMX 1.7 to 6; else 0.5 to 1.1).
bool blocks_pay(const detail::ConvSizes& s, DType dtype) {
  constexpr Int64 kTile = 16;
  if (s.one_channel_a_group() && s.groups > 1) return false;
  return s.c <= (dtype_size(dtype) == 2 ? kTile : kTile / 2) || (!widens_or_reads_in_place(dtype) && s.o >= kTile);
}
void run_direct(const detail::ConvRequest& request) {
  const CoordinateOrder order(request.sizes.axes);
  const TileEpilogue epilogue(tape_of(request.op, *request.epilogue), detail_cpu::kernels(), request.inputs,
                              request.outputs, request.sizes.of_y(), order.of);
  Direct(request, epilogue).run();
}

}  // namespace tern::detail_cpu::conv
