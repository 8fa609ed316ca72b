// Channels by themselves (depthwise): each vector of channels slides over its own rows, which are kept in L1, or all of
// them are read where they lie (DepthwisePlan says when).
#include "cpu/machine/threads.hpp"
#include "cpu/products/tile_epilogue.hpp"
#include "cpu/tape/tapes.hpp"
#include "primitives/convolution/cpu/cpu_rows.hpp"
#include "primitives/convolution/kernels.hpp"
#include "process/of_thread.hpp"

namespace tern::detail_cpu::conv {
namespace {

/// Multiply-adds that are worth a task of their own.
constexpr Int64 kDepthwiseTask = 256 << 10;
/// Places of which a partial sum of a weight's gradient is made, and how many such sums there may be.
constexpr Int64 kSummedPlaces = 2048, kMostSums = 32;

struct DepthwiseScratch {
  ScratchBuffer rows, results, weights, sums;
  std::vector<Tap> taps;
  std::vector<std::vector<TapRun>> runs;  // of each row
};
DepthwiseScratch& depthwise_scratch() { return detail::of_thread<DepthwiseScratch>(); }

class DepthwiseForward {
 public:
  DepthwiseForward(const detail::ConvRequest& r, const TileEpilogue& epilogue)
      : DepthwiseForward(r, epilogue, Geometry(r.sizes, r.x, r.w)) {}
  void run() {
    pack_weights();
    const Int64 whole = g_.n * plan_.tasks_of_channels * g_.out[0] * plan_.stretches;
    const Int64 work = g_.n * g_.groups * g_.out[0] * g_.out[1] * g_.out[2] * g_.taps();
    // Each part copies again what the one before has kept: 8 rows for 14 of 28² with 5 × 5 and dilation 2.
    const bool divided = !plan_.in_place && whole % max_threads() == 0;
    const Int64 want = std::min<Int64>(divided ? whole : 4 * max_threads(), work / kDepthwiseTask + 1);
    parts_ = std::clamp<Int64>(ceil_div(want, whole), 1, ceil_div(g_.out[1], plan_.rows));
    const Int64 tasks = whole * parts_, calls = want == 1 ? 1 : tasks;
    parallel_for(calls, [&](Int64 call) {
      const EvenPart part = even_part(call, calls, tasks);
      for (Int64 t = part.begin; t < part.begin + part.count; ++t) run_task(t);
    });
  }

 private:
  /// `lies`: as in memory.
  DepthwiseForward(const detail::ConvRequest& r, const TileEpilogue& epilogue, const Geometry& lies)
      : g_(DepthwisePlan::pays_down(lies) ? lies.transposed() : lies),
        plan_(g_, DepthwisePlan::pays_down(lies)),
        epilogue_(epilogue),
        of_kernel_(plan_.down ? elements_of_kernel(g_) : runs_of_kernel(g_)),
        lanes_(g_.kernels->lanes) {
    straight_ = goes_straight(r, epilogue.stores_accumulators());
    if (g_.size() == 2 && goes_straight(r, epilogue.stores_accumulators(), true))
      round_ = round_of(*g_.kernels, g_.dtype);
    if (straight_ || round_) y_ = Geometry::of_image(r.outputs[0], r.sizes.axes);
    if (plan_.down) std::swap(y_.axis[1], y_.axis[2]), across_ = runs_of_kernel(lies);
  }
  void pack_weights() {
    weights_ = depthwise_scratch().weights.reserve(plan_.vectors * g_.taps() * lanes_ * g_.wide());
    std::byte* to = weights_;
    for (Int64 v = 0; v < plan_.vectors; ++v)
      for (Int64 z = 0; z < g_.kernel[0]; ++z)
        for (Int64 k = 0; k < g_.kernel[1]; ++k)
          for (const KernelRun& run : of_kernel_) {
            const Int64 from = v * lanes_ * g_.w.group + z * g_.w.axis[0] + k * g_.w.axis[1] + run.k * g_.w.axis[2];
            g_.types.kernels->copy({g_.w.data + from * g_.size(), run.step * g_.w.axis[2], g_.w.group}, run.count,
                                   std::min(lanes_, g_.groups - v * lanes_), to, lanes_, lanes_);
            to += run.count * lanes_ * g_.wide();
          }
  }
  void run_task(Int64 task) {
    const Int64 part = task % parts_;
    task /= parts_;
    const Int64 stretch = task % plan_.stretches;
    task /= plan_.stretches;
    const Int64 z = task % g_.out[0];
    task /= g_.out[0];
    const EvenPart vectors = even_part(task % plan_.tasks_of_channels, plan_.tasks_of_channels, plan_.vectors);
    const EvenPart rows = even_part(part, parts_, g_.out[1]);
    KeptRows kept(g_, plan_.layout, plan_.rows, vectors.count);
    if (!plan_.in_place) kept.begin(depthwise_scratch().rows.reserve(kept.bytes()));
    const RowPlace place{task / plan_.tasks_of_channels, z, plan_.stretch(g_, stretch), vectors};
    const RowsInPlace in_place(g_, of_kernel_, place.stretch);
    for (Int64 row = rows.begin; row < rows.begin + rows.count; row += plan_.rows)
      run_rows(place, kept, in_place, {row, std::min(plan_.rows, rows.begin + rows.count - row)});
  }
  struct RowPlace {
    Int64 sample, z;
    Stretch stretch;
    EvenPart vectors;
  };
  void run_rows(const RowPlace& p, KeptRows& kept, const RowsInPlace& in_place, EvenPart rows) {
    DepthwiseScratch& mine = depthwise_scratch();
    const Int64 columns = p.vectors.count * lanes_, first = p.vectors.begin * lanes_;
    const Int64 channels = std::min(columns, g_.groups - first), row_bytes = p.stretch.places * columns * g_.wide();
    const bool whole = straight_ ? channels == columns && !plan_.joins : round_ && plan_.in_place;
    std::byte* const results = whole ? nullptr : mine.results.reserve((rows.count + plan_.joins) * row_bytes);
    const KeptRows::RowSource where{p.sample, first, channels, p.stretch};
    const std::byte* const w = weights_ + p.vectors.begin * g_.taps() * lanes_ * g_.wide();
    mine.runs.resize(static_cast<std::size_t>(rows.count));
    for (Int64 r = 0; r < rows.count; ++r) {
      std::vector<TapRun>& runs = mine.runs[static_cast<std::size_t>(r)];
      if (plan_.down) in_place.runs_down(p.sample, first, p.z, rows.begin + r, w, across_, runs);
      else if (plan_.in_place) in_place.runs(p.sample, first, p.z, rows.begin + r, w, runs);
      else kept.runs(where, p.z, rows.begin + r, w, of_kernel_, runs);
    }
    const RowsInPlace::Inside inside = plan_.in_place ? in_place.inside() : RowsInPlace::Inside{0, p.stretch.places};
    const auto sums = plan_.in_place ? runs_of(*g_.kernels, g_.dtype, whole && round_) : g_.kernels->runs;
    const Int64 size = whole ? g_.size() : g_.wide();
    const Int64 most =
        plan_.down ? plan_.places : g_.kernels->run_places / (plan_.in_place && g_.size() > 2 ? 2 : 1);
    const Int64 apart = plan_.down ? 1 : place_step(g_);
    const Int64 out_step = whole ? y_.axis[2] : plan_.joins ? lanes_ : plan_.down ? rows.count * columns : columns;
    const Int64 out_vector = plan_.joins ? rows.count * p.stretch.places * lanes_ : lanes_;
    const Int64 out_row = plan_.down ? columns : p.stretch.places * out_step;
    const Int64 x_place = plan_.in_place ? g_.stride[2] * g_.x.axis[2] : lanes_;
    RunsCall call{};
    call.ones = plan_.down;
    call.x_step = apart * x_place, call.x_vector = plan_.in_place ? lanes_ : plan_.layout.elements(lanes_);
    call.w_vector = g_.taps() * lanes_, call.out_step = apart * out_step;
    // From place `first_place` on, each so far apart.
    const auto run_places = [&](Int64 r, Int64 v, Int64 vectors, Int64 first_place, Int64 place) {
      const std::vector<TapRun>& runs = mine.runs[static_cast<std::size_t>(r)];
      std::byte* const row = whole ? result(p, rows.begin + r) + first * size : results + r * out_row * size;
      const Int64 at = first_place + place * apart;
      call.runs = runs.data(), call.count = static_cast<Int64>(runs.size()), call.vectors = vectors;
      call.place = place, call.places = std::min(most, ceil_div(p.stretch.places - at, apart));
      call.x_at = at * x_place + v * call.x_vector, call.w_at = v * call.w_vector;
      call.out = row + (at * out_step + v * out_vector) * size;
      if (plan_.down) in_place.fetch(p.sample, first, p.z, rows.begin + r, call.places, call);
      if (plan_.together > 1) call.out_ahead = static_cast<std::byte*>(call.out) + most * call.out_step * size;
      call.whole = call.places == most && place >= inside.first && place + most <= inside.end;
      sums(call);
    };
    if (plan_.in_place || plan_.few(g_)) {  // the vectors of a few places, as they lie in memory
      for (Int64 i = 0; i < apart; ++i)
        for (Int64 place = 0; i + place * apart < p.stretch.places; place += most)
          for (Int64 r = 0; r < rows.count; ++r) run_places(r, 0, p.vectors.count, i, place);
    } else {  // a line of channels by all rows, which stay in L1
      for (Int64 v = 0; v < p.vectors.count; v += plan_.together)
        for (Int64 r = 0; r < rows.count; ++r)
          for (Int64 i = 0; i < apart; ++i)
            for (Int64 place = 0; i + place * apart < p.stretch.places; place += most)
              run_places(r, v, std::min(plan_.together, p.vectors.count - v), i, place);
    }
    const FinishedTile of{results, columns, 0, p.stretch.places, channels, g_.groups};
    if (plan_.joins) end_joined(p, rows, of, results + rows.count * row_bytes);
    else if (!whole) end(p, rows, of);
  }
  /// Of results that lie vector by vector: `row` has room for one row as others lie.
  void end_joined(const RowPlace& p, EvenPart rows, FinishedTile of, std::byte* row) const {
    const bool straight = straight_ && of.cols == of.stride;
    const Int64 line = of.rows * lanes_;
    for (Int64 r = 0; r < rows.count; ++r) {
      std::byte* const to = straight ? result(p, rows.begin + r) + p.vectors.begin * lanes_ * g_.size() : row;
      g_.kernels->join(static_cast<const std::byte*>(of.acc) + r * line * g_.wide(), rows.count * line, of.rows,
                       p.vectors.count, to, straight ? y_.axis[2] : of.stride);
      FinishedTile one = of;
      one.acc = row;
      if (!straight) end_row(p, rows.begin + r, one);
    }
  }
  /// Of results that do not go straight: `of` says where those of the first row are.
  void end(const RowPlace& p, EvenPart rows, FinishedTile of) const {
    const Int64 first = p.vectors.begin * lanes_, row_bytes = of.rows * of.stride * g_.wide();
    const auto* const results = static_cast<const std::byte*>(of.acc);
    if (plan_.down) {
      of.rows = rows.count;
      for (Int64 t = 0; t < p.stretch.places; ++t) {
        of.acc = results + t * rows.count * of.stride * g_.wide();
        of.position = g_.transposed().position(p.sample, p.z, p.stretch.column + t, rows.begin) + first;
        epilogue_.finish(of);
      }
      return;
    }
    for (Int64 r = 0; r < rows.count; ++r) {
      of.acc = results + r * row_bytes;
      end_row(p, rows.begin + r, of);
    }
  }
  void end_row(const RowPlace& p, Int64 row, FinishedTile of) const {
    const Int64 first = p.vectors.begin * lanes_;
    of.position = g_.position(p.sample, p.z, row, p.stretch.column) + first;
    if (round_) round_(of.acc, of.stride, of.rows, of.cols, result(p, row) + first * g_.size(), y_.axis[2]);
    else epilogue_.finish(of);
  }
  std::byte* result(const RowPlace& p, Int64 row) const {
    return y_.data +
           (p.sample * y_.batch + p.z * y_.axis[0] + row * y_.axis[1] + p.stretch.column * y_.axis[2]) * g_.size();
  }
  Geometry g_;
  DepthwisePlan plan_;
  const TileEpilogue& epilogue_;
  std::vector<KernelRun> of_kernel_, across_;
  Int64 lanes_, parts_ = 1;
  bool straight_ = false;
  ConvKernels::Round round_ = nullptr;  // where the rounded sums are the result
  Strided y_;
  std::byte* weights_ = nullptr;
};

/// The gradient of the kernels: sums over splits of the rows (split-K), each by one task, which are added up in their
/// order. How many there are, shapes alone decide.
class WeightGradient {
 public:
  explicit WeightGradient(const detail::ConvWeightRequest& r)
      : g_(r.sizes, r.x, r.w), plan_(g_), lanes_(g_.kernels->lanes) {
    y_ = Geometry::of_image(r.y, r.sizes.axes);
    rows_ = g_.n * g_.out[0] * g_.out[1];
    sums_ = std::max<Int64>(1, std::min({rows_ * g_.out[2] / kSummedPlaces, kMostSums, rows_}));
  }
  void run(const detail::ConvWeightRequest& r) {
    const Int64 each = plan_.vectors * g_.taps() * lanes_;
    all_ = depthwise_scratch().sums.reserve((sums_ + 1) * each * g_.wide());
    std::fill_n(all_, sums_ * each * g_.wide(), std::byte{0});
    parallel_for(sums_ * plan_.tasks_of_channels, [&](Int64 task) { run_task(task); });
    if (g_.wide() == 4) add_up<float>(r, each);
    else add_up<double>(r, each);
  }

 private:
  void run_task(Int64 task) {
    const EvenPart rows = even_part(task / plan_.tasks_of_channels, sums_, rows_);
    const EvenPart vectors = even_part(task % plan_.tasks_of_channels, plan_.tasks_of_channels, plan_.vectors);
    DepthwiseScratch& mine = depthwise_scratch();
    KeptRows kept(g_, plan_.layout, 1, vectors.count);
    std::byte* const memory = mine.rows.reserve(kept.bytes());
    std::byte* const y = mine.results.reserve(plan_.places * vectors.count * lanes_ * g_.wide());
    std::byte* const w =
        all_ + (task / plan_.tasks_of_channels * plan_.vectors + vectors.begin) * g_.taps() * lanes_ * g_.wide();
    const Int64 channel = vectors.begin * lanes_, channels = std::min(vectors.count * lanes_, g_.groups - channel);
    for (Int64 i = 0; i < plan_.stretches; ++i) {
      const Stretch stretch = plan_.stretch(g_, i);
      Int64 sample = -1;
      for (Int64 at = rows.begin; at < rows.begin + rows.count; ++at) {
        const Int64 row = at % g_.out[1], z = at / g_.out[1] % g_.out[0], of = at / g_.out[1] / g_.out[0];
        if (of != sample) kept.begin(memory), sample = of;
        kept.taps({sample, channel, channels, stretch}, z, row, w, mine.taps);
        const std::byte* const from = y_.data + (sample * y_.batch + z * y_.axis[0] + row * y_.axis[1] +
                                                 stretch.column * y_.axis[2] + channel * y_.channel) *
                                                    g_.size();
        copy_y(from, stretch.places, channels, y);
        run_row(mine.taps, stretch.places, vectors.count, y);
      }
    }
  }
  /// Places of the result's gradient, vector by vector.
  void copy_y(const std::byte* from, Int64 places, Int64 channels, std::byte* to) const {
    Int64 done = 0;
    if (y_.channel == 1) {
      done = channels / lanes_;
      spread_of(*g_.kernels, g_.dtype)(from, y_.axis[2], places, done, to, places * lanes_);
    }
    for (Int64 v = done; v * lanes_ < channels; ++v)
      g_.types.kernels->copy({from + v * lanes_ * y_.channel * g_.size(), y_.axis[2], y_.channel}, places,
                             std::min(lanes_, channels - v * lanes_), to + v * places * lanes_ * g_.wide(), lanes_,
                             lanes_);
  }
  void run_row(const std::vector<Tap>& taps, Int64 places, Int64 vectors, const std::byte* y) const {
    const Int64 calls = ceil_div(places, g_.kernels->gradient_places);
    for (Int64 v = 0; v < vectors; ++v)
      for (Int64 call = 0; call < calls; ++call) {
        const EvenPart part = even_part(call, calls, places);
        g_.kernels->gradients({taps.data(), static_cast<Int64>(taps.size()),
                               part.begin * lanes_ + v * plan_.layout.elements(lanes_), v * g_.taps() * lanes_},
                              y + (v * places + part.begin) * lanes_ * g_.wide(), part.count);
      }
  }
  /// The sums of each channel and element, as the weight lies: [C, k..].
  template <class T> void add_up(const detail::ConvWeightRequest& r, Int64 each) {
    T* const sum = reinterpret_cast<T*>(all_);
    for (Int64 s = 1; s < sums_; ++s)
      for (Int64 i = 0; i < each; ++i) sum[i] += sum[s * each + i];
    T* const transposed = sum + sums_ * each;
    for (Int64 ch = 0; ch < g_.groups; ++ch)
      for (Int64 t = 0; t < g_.taps(); ++t)
        transposed[ch * g_.taps() + t] = sum[(ch / lanes_ * g_.taps() + t) * lanes_ + ch % lanes_];
    const Shape space = r.sizes.of_w();
    AxisOrder order;
    order.rank = space.rank();
    for (int i = 0; i < order.rank; ++i) order.axes[i] = i, order.sizes[i] = space[static_cast<std::size_t>(i)];
    Cursor(r.w, order).store(detail_cpu::kernels(), 0, space.numel(), transposed);
  }

  Geometry g_;
  DepthwisePlan plan_;
  Int64 lanes_, rows_, sums_;
  Strided y_;
  std::byte* all_ = nullptr;
};

}  // namespace

void run_depthwise(const detail::ConvRequest& request) {
  const CoordinateOrder order(request.sizes.axes);
  const TileEpilogue epilogue(tape_of(request.op, *request.epilogue), detail_cpu::kernels(), request.inputs,
                              request.outputs, request.sizes.of_y(), order.of);
  DepthwiseForward(request, epilogue).run();
}
void run_depthwise_weight(const detail::ConvWeightRequest& request) { WeightGradient(request).run(request); }

}  // namespace tern::detail_cpu::conv
