// Channels by themselves: each vector of channels slides over its own rows, which are kept in L1.
#include "cpu/machine/threads.hpp"
#include "cpu/products/tile_epilogue.hpp"
#include "cpu/tape/tapes.hpp"
#include "primitives/convolution/cpu_rows.hpp"
#include "primitives/convolution/kernels.hpp"
#include "process/of_thread.hpp"

namespace tern::detail_cpu::conv {
namespace {

/// Multiply-adds that are worth a task of their own.
constexpr Index kTaskWork = 256 << 10;
/// Places of which a partial sum of a weight's gradient is made, and how many such sums there may be.
constexpr Index kSummedPlaces = 2048, kMostSums = 32;

struct Scratch {
  Buffer rows, results, weights, sums;
  std::vector<Tap> taps;
};
Scratch& scratch() { return detail::of_thread<Scratch>(); }

Index memory_of_rows(const Geometry& g, const DepthwisePlan& plan) {
  return KeptRows(g, plan.layout, plan.rows).bytes();
}

class Forward {
 public:
  Forward(const detail::ConvRequest& r, const TileEpilogue& epilogue)
      : g_(r.sizes, r.x, r.w), plan_(g_), epilogue_(epilogue), lanes_(g_.kernels->lanes) {
    straight_ = goes_straight(r, epilogue.stores_accumulators());
    if (straight_) y_ = Geometry::of_image(r.outputs[0], r.sizes.axes);
  }
  void run() {
    pack_weights();
    const Index whole = g_.n * plan_.tasks_of_channels * g_.out[0] * plan_.stretches;
    const Index work = g_.n * g_.groups * g_.out[0] * g_.out[1] * g_.out[2] * g_.taps();
    const Index want = std::min<Index>(4 * max_threads(), work / kTaskWork + 1);
    parts_ = std::clamp<Index>(divide_up(want, whole), 1, divide_up(g_.out[1], plan_.rows));
    const Index tasks = whole * parts_, calls = want == 1 ? 1 : tasks;
    parallel_for(calls, [&](Index call) {
      const Part part = part_of(call, calls, tasks);
      for (Index t = part.begin; t < part.begin + part.count; ++t) run_task(t);
    });
  }

 private:
  void pack_weights() {
    weights_ = scratch().weights.reserve(plan_.vectors * g_.taps() * lanes_ * g_.wide());
    std::byte* to = weights_;
    for (Index v = 0; v < plan_.vectors; ++v)
      for (Index z = 0; z < g_.kernel[0]; ++z)
        for (Index k = 0; k < g_.kernel[1]; ++k, to += g_.kernel[2] * lanes_ * g_.wide())
          g_.types.kernels->copy(
              {g_.w.data + (v * lanes_ * g_.w.group + z * g_.w.axis[0] + k * g_.w.axis[1]) * g_.size(), g_.w.axis[2],
               g_.w.group},
              g_.kernel[2], std::min(lanes_, g_.groups - v * lanes_), to, lanes_, lanes_);
  }
  void run_task(Index task) {
    const Index part = task % parts_;
    task /= parts_;
    const Index stretch = task % plan_.stretches;
    task /= plan_.stretches;
    const Index z = task % g_.out[0];
    task /= g_.out[0];
    const Part vectors = part_of(task % plan_.tasks_of_channels, plan_.tasks_of_channels, plan_.vectors);
    const Part rows = part_of(part, parts_, g_.out[1]);
    Scratch& mine = scratch();
    const Index bytes = memory_of_rows(g_, plan_);
    std::byte* const memory = mine.rows.reserve(vectors.count * bytes);
    std::vector<KeptRows> kept(static_cast<std::size_t>(vectors.count), KeptRows(g_, plan_.layout, plan_.rows));
    for (Index v = 0; v < vectors.count; ++v) kept[static_cast<std::size_t>(v)].begin(memory + v * bytes);
    const Place place{task / plan_.tasks_of_channels, z, plan_.stretch(g_, stretch), vectors};
    for (Index row = rows.begin; row < rows.begin + rows.count; row += plan_.rows)
      run_rows(place, kept, {row, std::min(plan_.rows, rows.begin + rows.count - row)});
  }
  struct Place {
    Index sample, z;
    Stretch stretch;
    Part vectors;
  };
  void run_rows(const Place& p, std::vector<KeptRows>& kept, Part rows) {
    Scratch& mine = scratch();
    const Index columns = p.vectors.count * lanes_, first = p.vectors.begin * lanes_;
    const Index channels = std::min(columns, g_.groups - first);
    const bool whole = straight_ && channels == columns;
    std::byte* const results =
        whole ? nullptr : mine.results.reserve(rows.count * p.stretch.places * columns * g_.wide());
    for (Index v = 0; v < p.vectors.count; ++v) {
      const Index channel = first + v * lanes_;
      const KeptRows::Where where{p.sample, channel, std::min(lanes_, g_.groups - channel), p.stretch};
      std::byte* const w = weights_ + (p.vectors.begin + v) * g_.taps() * lanes_ * g_.wide();
      for (Index r = 0; r < rows.count; ++r) {
        kept[static_cast<std::size_t>(v)].taps(where, p.z, rows.begin + r, w, mine.taps);
        if (whole) run_row(mine.taps, p.stretch, result(p, rows.begin + r) + channel * g_.wide(), y_.axis[2]);
        else
          run_row(mine.taps, p.stretch, results + (r * p.stretch.places * columns + v * lanes_) * g_.wide(), columns);
      }
    }
    if (whole) return;
    for (Index r = 0; r < rows.count; ++r)
      epilogue_.finish({results + r * p.stretch.places * columns * g_.wide(), columns,
                        g_.position(p.sample, p.z, rows.begin + r, p.stretch.column) + first, p.stretch.places,
                        channels, g_.groups});
  }
  std::byte* result(const Place& p, Index row) const {
    return y_.data +
           (p.sample * y_.batch + p.z * y_.axis[0] + row * y_.axis[1] + p.stretch.column * y_.axis[2]) * g_.wide();
  }
  void run_row(const std::vector<Tap>& taps, Stretch s, std::byte* to, Index step) const {
    const Index calls = divide_up(s.places, g_.kernels->places);
    for (Index call = 0; call < calls; ++call) {
      const Part part = part_of(call, calls, s.places);
      g_.kernels->taps(taps.data(), static_cast<Index>(taps.size()), part.begin * lanes_,
                       to + part.begin * step * g_.wide(), step, part.count);
    }
  }

  Geometry g_;
  DepthwisePlan plan_;
  const TileEpilogue& epilogue_;
  Index lanes_, parts_ = 1;
  bool straight_ = false;
  Strided y_;
  std::byte* weights_ = nullptr;
};

/// The gradient of the kernels: sums over stretches of rows, each by one task, which are added up in their order. How
/// many there are, shapes alone decide.
class WeightGradient {
 public:
  explicit WeightGradient(const detail::ConvWeightRequest& r)
      : g_(r.sizes, r.x, r.w), plan_(g_), lanes_(g_.kernels->lanes) {
    y_ = Geometry::of_image(r.y, r.sizes.axes);
    rows_ = g_.n * g_.out[0] * g_.out[1];
    sums_ = std::max<Index>(1, std::min({rows_ * g_.out[2] / kSummedPlaces, kMostSums, rows_}));
  }
  void run(const detail::ConvWeightRequest& r) {
    const Index each = plan_.vectors * g_.taps() * lanes_;
    all_ = scratch().sums.reserve((sums_ + 1) * each * g_.wide());
    std::fill_n(all_, sums_ * each * g_.wide(), std::byte{0});
    parallel_for(sums_ * plan_.tasks_of_channels, [&](Index task) { run_task(task); });
    if (g_.wide() == 4) add_up<float>(r, each);
    else add_up<double>(r, each);
  }

 private:
  void run_task(Index task) {
    const Part rows = part_of(task / plan_.tasks_of_channels, sums_, rows_);
    const Part vectors = part_of(task % plan_.tasks_of_channels, plan_.tasks_of_channels, plan_.vectors);
    Scratch& mine = scratch();
    std::byte* const memory = mine.rows.reserve(memory_of_rows(g_, plan_));
    std::byte* const y = mine.results.reserve(plan_.places * lanes_ * g_.wide());
    KeptRows kept(g_, plan_.layout, plan_.rows);
    for (Index v = vectors.begin; v < vectors.begin + vectors.count; ++v) {
      std::byte* const w =
          all_ + ((task / plan_.tasks_of_channels * plan_.vectors + v) * g_.taps()) * lanes_ * g_.wide();
      const Index channel = v * lanes_, channels = std::min(lanes_, g_.groups - channel);
      for (Index i = 0; i < plan_.stretches; ++i) {
        const Stretch stretch = plan_.stretch(g_, i);
        Index sample = -1;
        for (Index at = rows.begin; at < rows.begin + rows.count; ++at) {
          const Index row = at % g_.out[1], z = at / g_.out[1] % g_.out[0], of = at / g_.out[1] / g_.out[0];
          if (of != sample) kept.begin(memory), sample = of;
          kept.taps({sample, channel, channels, stretch}, z, row, w, mine.taps);
          g_.types.kernels->copy({y_.data + (sample * y_.batch + z * y_.axis[0] + row * y_.axis[1] +
                                             stretch.column * y_.axis[2] + channel * y_.channel) *
                                                g_.size(),
                                  y_.axis[2], y_.channel},
                                 stretch.places, channels, y, lanes_, lanes_);
          run_row(mine.taps, stretch.places, y);
        }
      }
    }
  }
  void run_row(const std::vector<Tap>& taps, Index places, const std::byte* y) const {
    const Index calls = divide_up(places, g_.kernels->gradient_places);
    for (Index call = 0; call < calls; ++call) {
      const Part part = part_of(call, calls, places);
      g_.kernels->gradients(taps.data(), static_cast<Index>(taps.size()), part.begin * lanes_,
                            y + part.begin * lanes_ * g_.wide(), part.count);
    }
  }
  /// The sums of each channel and element, as the weight lies: [C, k..].
  template <class T> void add_up(const detail::ConvWeightRequest& r, Index each) {
    T* const sum = reinterpret_cast<T*>(all_);
    for (Index s = 1; s < sums_; ++s)
      for (Index i = 0; i < each; ++i) sum[i] += sum[s * each + i];
    T* const turned = sum + sums_ * each;
    for (Index ch = 0; ch < g_.groups; ++ch)
      for (Index t = 0; t < g_.taps(); ++t)
        turned[ch * g_.taps() + t] = sum[(ch / lanes_ * g_.taps() + t) * lanes_ + ch % lanes_];
    const Shape space = r.sizes.of_w();
    AxisOrder order;
    order.rank = space.rank();
    for (int i = 0; i < order.rank; ++i) order.axes[i] = i, order.sizes[i] = space[static_cast<std::size_t>(i)];
    Cursor(r.w, order).store(detail_cpu::kernels(), 0, space.numel(), turned);
  }

  Geometry g_;
  DepthwisePlan plan_;
  Index lanes_, rows_, sums_;
  Strided y_;
  std::byte* all_ = nullptr;
};

}  // namespace

void run_depthwise(const detail::ConvRequest& request) {
  const CoordinateOrder order(request.sizes.axes);
  const TileEpilogue epilogue(tape_of(request.op, *request.epilogue), detail_cpu::kernels(), request.inputs,
                              request.outputs, request.sizes.of_y(), order.of);
  Forward(request, epilogue).run();
}
void run_depthwise_weight(const detail::ConvWeightRequest& request) { WeightGradient(request).run(request); }

}  // namespace tern::detail_cpu::conv
