#include "primitives/convolution/cuda/cuda_depthwise.hpp"

#include <algorithm>

#include "cuda/products/instructions.hpp"
#include "gpu/products/epilogue.hpp"
#include "gpu/products/gemm_pass.hpp"
#include "gpu/text/text.hpp"
#include "primitives/convolution/cuda/cuda_depthwise_cores.hpp"
#include "primitives/convolution/gpu/gpu_depthwise_common.hpp"

namespace tern::detail_gpu::conv {
namespace {

using detail_cuda::MatrixUnits;

constexpr const char* kDepthwise =
#include "primitives/convolution/cuda/cuda_depthwise.cu.inc"
    ;
constexpr const char* kDepthwiseCores =
#include "primitives/convolution/cuda/cuda_depthwise_cores.cu.inc"
    ;
constexpr const char* kDepthwiseWeight =
#include "primitives/convolution/cuda/cuda_depthwise_weight.cu.inc"
    ;
constexpr const char* kTiles =
#include "primitives/convolution/cuda/cuda_depthwise_tiles.cu.inc"
    ;
constexpr std::int64_t kMostTaps = 64;  // two weights of each in registers
constexpr std::int64_t kChannels = 64;  // of a workgroup

/// How results are divided: what a lane has, warps of a workgroup, and memory for one tile's part of the image or two.
struct Tiles {
  std::int64_t lines = 1, rows = 1, warp_lines = 1, warp_rows = 1, buffers = 2, image_bytes = 0, result_bytes = 0;
  std::int64_t down = 1, along = 1;  // tiles of a sample
  std::int64_t resident = 1;         // workgroups of a processor
  std::int64_t threads() const { return 32 * warp_lines * warp_rows; }
  std::int64_t bytes(std::int64_t taps) const {
    return std::max(buffers * (image_bytes + result_bytes), taps * kChannels * 4);
  }
};

/// Of one convolution: tiles, and what they cost.
class TilesOf {
 public:
  /// `results`: whether theirs is fetched, too.
  TilesOf(const ConvSizes& s, DType dtype, bool results, const MatrixUnits& units)
      : s_(s), place_(kChannels * static_cast<std::int64_t>(dtype_size(dtype))), results_(results), units_(units) {}

  /// False where the image of a tile does not fit.
  bool fits(Tiles& t) const {
    const std::int64_t lines = t.lines * t.warp_lines, rows = t.rows * t.warp_rows;
    t.image_bytes = span(line_, lines) * span(row_, rows) * place_,
    t.result_bytes = results_ ? lines * rows * place_ : 0;
    t.buffers = 2;
    if (t.bytes(s_.taps()) > units_.shared_bytes) t.buffers = 1;
    return t.bytes(s_.taps()) <= units_.shared_bytes && registers(t) <= 230;
  }
  /// The quickest of those that fit, by the instructions; of equals the one with the most lines. On an H200, 26
  /// November 2026, bf16, us forward and both, lines x rows of a lane in lines x rows of warps: 64x192x56x56 7x7 7x4 in
  /// 4x2 133, 394, 4x7 in 2x4 140, 419, 8x4 in 1x7 142, 430 (of seven warps one of four schedulers has one), in 2x4
  /// 158, 473, 4x4 in 2x4 166, 474; 64x384x28x28 7x7 in 4x1 79, 242, 7x4 in 2x4 76, 234, in 1x1 136, 406.
  Tiles best() const {
    Tiles best;
    std::int64_t least = INT64_MAX;
    for (std::int64_t lines = 1; lines <= std::min(kMostSide, line_(s_.out, 1)); ++lines)
      for (std::int64_t rows = 1; rows <= std::min(kMostSide, row_(s_.out, 1)); ++rows)
        for (std::int64_t warp_lines = 1; warp_lines <= kMostWarps; ++warp_lines)
          for (std::int64_t warp_rows = 1; warp_rows * warp_lines <= kMostWarps; ++warp_rows) {
            Tiles t{.lines = lines, .rows = rows, .warp_lines = warp_lines, .warp_rows = warp_rows};
            if (lines * rows > kMostResults || !fits(t)) continue;
            t.down = ceil_div(line_(s_.out, 1), lines * warp_lines);
            t.along = ceil_div(row_(s_.out, 1), rows * warp_rows);
            if (const std::int64_t cost = time(t); cost <= least) least = cost, best = t;
          }
    const std::int64_t by_registers = 65536 / (registers(best) * best.threads());
    const std::int64_t by_memory = units_.shared_bytes / best.bytes(s_.taps());
    best.resident = std::clamp<std::int64_t>(std::min(by_registers, by_memory), 1, 4);
    return best;
  }
  /// What a processor takes for its tiles, by the instructions, of which a scheduler does 0.55 a clock (64x192x56x56
  /// 7x7, 64x384x28x28, 64x768x14x14: 0.55, 0.46, 0.51), or by the bytes that have to come and go.
  double clocks(const Tiles& t) const {
    constexpr double kOfInstruction = 1 / 0.55, kBytesOfClock = 15;
    const std::int64_t channel_groups = ceil_div(s_.groups, kChannels), tiles = t.down * t.along;
    const std::int64_t rounds = ceil_div(s_.n * tiles * channel_groups, units_.processors);
    const std::int64_t bytes = (s_.of_x().numel() + s_.of_y().numel()) * place_ / kChannels / units_.processors;
    return std::max(static_cast<double>(rounds * (time(t) / tiles)) * kOfInstruction,
                    static_cast<double>(bytes) / kBytesOfClock);
  }

 private:
  static constexpr std::int64_t kMostSide = 8, kMostResults = 32, kMostWarps = 8, kSchedulers = 4;
  std::int64_t span(const AxisOf& axis, std::int64_t results) const {
    return (results - 1) * axis(s_.stride, 1) + (axis(s_.kernel, 1) - 1) * axis(s_.dilation, 1) + 1;
  }
  /// Of a lane, for what it keeps.
  std::int64_t registers(const Tiles& t) const {
    return std::min<std::int64_t>(2 * (s_.taps() + t.lines * t.rows + span(row_, t.rows)) + 20, 255);
  }
  /// Instructions for all tiles, as the schedulers get warps.
  std::int64_t time(const Tiles& t) const {
    const std::int64_t of_place = 3, of_result = 8, of_vector = 10;
    const std::int64_t of_lane = t.lines * t.rows * (2 * s_.taps() + of_result) +
                                 span(line_, t.lines) * span(row_, t.rows) * of_place +
                                 (t.image_bytes + t.result_bytes) / kVectorBytes * of_vector / t.threads();
    return t.down * t.along * of_lane * ceil_div(t.threads() / kWarp, kSchedulers) * (t.buffers == 1 ? 2 : 1);
  }

  const ConvSizes& s_;
  AxisOf line_{static_cast<std::size_t>(s_.axes) - 1, true}, row_{static_cast<std::size_t>(s_.axes) - 1, false};
  std::int64_t place_;
  bool results_;
  const MatrixUnits& units_;
};

/// Where 16 bytes can be fetched of an image's places.
bool in_places(const View& view, const Shape& shape) {
  const auto unit = kVectorBytes / static_cast<std::int64_t>(dtype_size(view.dtype));
  bool fits = begins_in_vectors(view) && view.strides[shape.size() - 1] == 1;
  for (std::size_t i = 0; i + 1 < shape.size(); ++i)
    fits =
        fits && (shape[i] == 1 || (view.strides[i] >= 0 && view.strides[i] % unit == 0 && view.strides[i] < INT32_MAX));
  return fits;
}

/// `results`: whether theirs is fetched, too.
DepthwiseLayout layout_of(const ConvSizes& s, DType dtype, bool results, const MatrixUnits& units) {
  const TilesOf of(s, dtype, results, units);
  const Tiles t = of.best();
  return {kChannels,
          t.threads(),
          t.bytes(s.taps()),
          t.resident,
          s.n * t.down * t.along,
          of.clocks(t),
          {{"lines", t.lines},
           {"rows", t.rows},
           {"warp_lines", t.warp_lines},
           {"warp_rows", t.warp_rows},
           {"buffers_of_tiles", t.buffers}}};
}
/// Workgroups of the same channels.
std::int64_t shares_of(const DepthwiseLayout& layout, const ConvSizes& s, const MatrixUnits& units) {
  const std::int64_t at_once = units.processors * layout.resident / ceil_div(s.groups, layout.channels);
  return std::clamp<std::int64_t>(at_once, 1, layout.tiles);
}

/// What the kernels have: the numbers of the convolution as constants and parameters, and the image.
class Depthwise {
 protected:
  Depthwise(GpuBackend& backend, const char* op, char kind, const ConvSizes& sizes, const DepthwiseLayout& layout,
            std::int64_t shares)
      : backend_(backend), plan_(backend.limits(), op, kind), s_(sizes), layout_(layout), shares_(shares) {
    const AxisOf line{static_cast<std::size_t>(s_.axes) - 1, true}, row{line.last, false};
    add("channels", s_.groups), add("samples", s_.n);
    add("in_lines", line(s_.in, 1)), add("in_rows", row(s_.in, 1));
    add("out_lines", line(s_.out, 1)), add("out_rows", row(s_.out, 1));
    add("before_lines", line(s_.before, 0)), add("before_rows", row(s_.before, 0));
    add("channel_groups", ceil_div(s_.groups, layout_.channels));
    auto& constants = layout_.constants;
    constants.insert(constants.end(), {{"tap_lines", line(s_.kernel, 1)},
                                       {"tap_rows", row(s_.kernel, 1)},
                                       {"stride_lines", line(s_.stride, 1)},
                                       {"stride_rows", row(s_.stride, 1)},
                                       {"dilation_lines", line(s_.dilation, 1)},
                                       {"dilation_rows", row(s_.dilation, 1)}});
    for (const auto& constant : constants) plan_.note(constant.second);
    plan_.note(layout_.resident);
  }

  void add(const std::string& name, std::int64_t value) {
    slots_.emplace_back(name, plan_.add_param(static_cast<std::uint64_t>(value)));
  }
  int add_access(const View& view, const Shape& shape, bool written = false) {
    std::vector<std::int64_t> strides(view.strides.begin(), view.strides.end());
    touched_.push_back(bytes_touched(view, {shape.begin(), shape.size()}));
    return plan_.add_access(view, strides, written);
  }
  /// An image that is fetched in places, by this name.
  int add_image(const char* name, const View& view, const Shape& shape) {
    const std::size_t last = shape.size() - 1;
    add(cat(name, "_sample"), view.strides[0]), add(cat(name, "_row"), view.strides[last - 1]);
    add(cat(name, "_line"), last > 2 ? view.strides[last - 2] : 0);
    images_.emplace_back(name, add_access(view, shape));
    return images_.back().second;
  }
  /// After the last access.
  void bind() {
    plan_.bind(touched_);
    for (std::size_t i = 0; i < plan_.accesses.size(); ++i)
      if (rows_lie_in_vectors(plan_.accesses[i])) plan_.make_wide(static_cast<int>(i));
  }
  void launch(const std::function<std::string()>& text) {
    Launch& launch = plan_.launch;
    launch.threads = static_cast<std::uint32_t>(layout_.threads);
    launch.shared_bytes = static_cast<std::uint32_t>(layout_.shared_bytes);
    launch.groups = static_cast<std::uint64_t>(shares_ * ceil_div(s_.groups, layout_.channels));
    plan_.finish_key();
    backend_.queue(launch, text);
  }
  Position at(std::vector<std::string> coordinates, int group = 2) const {
    if (s_.axes == 1) std::erase_if(coordinates, [](const std::string& c) { return c == "line" || c == "tap_line"; });
    Position p{std::move(coordinates), 0, group};
    p.inner = static_cast<int>(p.coordinates.size()) - 1;
    return p;
  }
  Module module(const char* title, const char* file) const {
    const Dialect& dialect = backend_.dialect();
    Module m;
    m.title = title, m.file = file;
    m.bindings = plan_.launch.bindings, m.params = plan_.launch.params.size();
    for (const auto& [name, slot] : slots_) m.holes[name] = dialect.param(slot);
    for (const auto& [name, value] : layout_.constants) m.holes[name] = cat(value, "u");
    for (const auto& [name, access] : images_) {
      const Access& a = plan_.access(access);
      m.holes[name] = cat("b", a.binding), m.holes[cat(name, "_base")] = dialect.param(a.base);
    }
    const DType dtype = plan_.access(images_[0].second).dtype();
    m.holes["tiles"] = kTiles, m.holes["resident"] = cat(layout_.resident);
    m.holes["element_bytes"] = cat(dtype_size(dtype), "u");
    m.holes["place_bytes"] = cat(kChannels * dtype_size(dtype), "u");
    const bool half = dtype != DType::f32;
    if (!half) {
      m.holes["pair_of"] = "let two = *reinterpret_cast<const float2*>(at);\nreturn {two.x, two.y};\n";
      return m;
    }
    const std::string low = unpacked(dtype, "(word & 0xffffu)"), high = unpacked(dtype, "(word >> 16u)");
    m.holes["pair_of"] = cat("let word = *reinterpret_cast<const u32*>(at);\nreturn {", low, ", ", high, "};\n");
    m.holes["instructions"] = detail_cuda::kAmpereInstructions, m.holes["type"] = to_string(dtype);
    m.holes["low"] = low, m.holes["high"] = high, m.holes["joined"] = packed_pair(dtype, "low", "high");
    return m;
  }

  GpuBackend& backend_;
  Plan plan_;
  ConvSizes s_;
  DepthwiseLayout layout_;
  std::int64_t shares_;  // workgroups of the same channels
  std::vector<std::pair<std::string, int>> slots_, images_;
  std::vector<ByteRange> touched_;
};

class DepthwiseResult : Depthwise {
 public:
  /// `kernels`: [taps.., channels]; `cores`: whether tensor cores do it.
  DepthwiseResult(GpuBackend& backend, const detail::GemmRequest& g, const ConvSizes& sizes, const View& image,
                  const View& kernels, const DepthwiseLayout& layout, std::int64_t shares, bool cores)
      : Depthwise(backend, g.op, cores ? 'T' : 'D', sizes, layout, shares), cores_(cores), epilogue_(g) {
    kept_ = merge_axes(g.batch, (1u << g.batch.rank()) - 1, epilogue_.views(), (1u << g.batch.rank()) - 1);
    plan_.add_axes(kept_);
    epilogue_.add_accesses(plan_, kept_), epilogue_.add_numbers(plan_);
    const std::vector<std::int64_t> over = sizes_over_tile(g);
    for (const Access& a : plan_.accesses) touched_.push_back(bytes_touched(*a.view, over));
    add_image("image", image, s_.of_x());
    w_ = add_access(kernels, shape_by_tap(s_));
    bind();
    plan_.note(g.epilogue->serial);
  }
  void run() {
    launch([&] { return text(); });
  }

 private:
  std::string text() const {
    const Dialect& dialect = backend_.dialect();
    const Function formula = epilogue_.function(dialect);
    Io io(plan_, dialect);
    Module m = cores_ ? module("channels convolved by themselves on tensor cores", kDepthwiseCores)
                      : module("channels convolved by themselves", kDepthwise);
    m.holes["formula"] = formula.text;
    std::vector<std::string> weights;
    m.holes["load_w"] = io.load(w_, at({"tap_line", "tap_row", "channel"}), weights);
    m.holes["w_0"] = weights[0], m.holes["w_1"] = weights[1];
    m.holes["finish"] = epilogue_.finish(
        io, dialect, formula, at({"sample", "line", "row", "col"}, cores_ ? 4 : 2), kept_,
        [](int e) { return cat("sum_", e); }, "");
    return dialect.module(m);
  }
  bool cores_;
  Epilogue epilogue_;
  MergedAxes kept_;
  int w_ = -1;
};

class DepthwiseWeight : Depthwise {
 public:
  /// `parts`: [shares, taps, channels].
  DepthwiseWeight(GpuBackend& backend, const char* op, const ConvSizes& sizes, const View& image, const View& results,
                  const View& parts, const DepthwiseLayout& layout, std::int64_t shares)
      : Depthwise(backend, op, 'G', sizes, layout, shares) {
    add_image("image", image, s_.of_x()), add_image("result", results, s_.of_y());
    parts_ = add_access(parts, {shares, s_.taps(), s_.groups}, true);
    bind();
  }
  void run() {
    launch([&] { return text(); });
  }

 private:
  std::string text() const {
    Io io(plan_, backend_.dialect());
    Module m = module("gradient of kernels of channels by themselves", kDepthwiseWeight);
    m.holes["store"] = io.store(parts_, at({"share", "tap", "channel"}), {"sum_0", "sum_1"}, "");
    return backend_.dialect().module(m);
  }
  int parts_ = -1;
};

/// Whether tensor cores do it.
bool takes_cores(GpuBackend& backend, const ConvSizes& s, double clocks, double clocks_of_cores,
                 const MatrixUnits& units) {
  const std::int64_t told = units_of_depthwise(backend, s)();
  // Those of compute capability 8.0 multiply as much a clock as 9.0's by these instructions; of others nothing was
  // measured, and some multiply a quarter.
  const bool known = units.architecture == 80 || units.architecture == 90;
  return told == kTensorCores || (told == kModelled && known && clocks_of_cores < clocks);
}

}  // namespace

const detail::Choice& units_of_depthwise(GpuBackend& backend, const ConvSizes& s) {
  const std::array sizes{s.n, s.groups, s.of_y().numel() / s.n / s.groups, s.taps()};
  return detail::choice_of(backend.device_class(), cat("convolution.depthwise,", detail::size_classes(sizes)),
                           {kModelled, kFloatUnits, kTensorCores});
}

bool has_depthwise(const ConvSizes& s, DType dtype, const MatrixUnits& units) {
  constexpr std::int64_t kFewest = 16, kMost = std::int64_t{1} << 29, kMostStep = 3;
  if (dtype != DType::f16 && dtype != DType::bf16 && dtype != DType::f32) return false;
  if (!s.one_channel_a_group() || s.axes > 2 || s.groups % 8 != 0 || s.groups < kFewest || s.taps() > kMostTaps)
    return false;
  for (std::size_t i = 0; i < static_cast<std::size_t>(s.axes); ++i)  // a lane keeps what its results of a line meet
    if (s.stride[i] > kMostStep || (std::abs(s.dilation[i]) > kMostStep && s.kernel[i] > 1) || s.in[i] < 1 ||
        s.out[i] < 1)
      return false;
  if (s.of_y().numel() == 0 || std::max(s.of_x().numel(), s.of_y().numel()) >= kMost) return false;
  std::array<bool, 3> axes{};
  const ConvSizes t = with_flipped_axes(s, axes);
  Tiles least;
  return units.architecture >= 80 && TilesOf(t, dtype, true, units).fits(least);
}

bool run_depthwise(GpuBackend& backend, const detail::ConvRequest& r, const MatrixUnits& units) {
  if (counts_places(*r.epilogue)) return false;
  const detail::GemmRequest g = product_of(r);
  std::array<bool, 3> axes{};
  const ConvSizes s = with_flipped_axes(r.sizes, axes);
  DepthwiseLayout layout = layout_of(s, r.x.dtype, false, units);
  bool cores = false;
  if (r.x.dtype == r.w.dtype)
    if (std::optional<DepthwiseLayout> other = cores_layout(s, r.x.dtype, units);
        other && takes_cores(backend, s, layout.clocks, other->clocks, units))
      layout = *std::move(other), cores = true;
  Temporaries temporaries;
  // Read as they lie, once by each workgroup: with a copy by taps 64x192x56x56 7x7 took the same 139 us.
  const View w = kernels_by_tap(s, axes, r.w);
  const View x = in_places(r.x, s.of_x()) ? r.x : row_major(backend, r.op, r.x, s.of_x(), temporaries);
  DepthwiseResult(backend, g, s, x, w, layout, shares_of(layout, s, units), cores).run();
  return true;
}

void run_depthwise_weight(GpuBackend& backend, const detail::ConvWeightRequest& r, const MatrixUnits& units) {
  const ConvSizes& s = r.sizes;
  const DepthwiseLayout layout = layout_of(s, r.x.dtype, true, units);
  const std::int64_t shares = shares_of(layout, s, units);
  Temporaries temporaries;
  const View x = in_places(r.x, s.of_x()) ? r.x : row_major(backend, r.op, r.x, s.of_x(), temporaries);
  const View y = in_places(r.y, s.of_y()) ? r.y : row_major(backend, r.op, r.y, s.of_y(), temporaries);
  temporaries.push_back(backend.temporary(shares * s.taps() * s.groups, DType::f32));
  const View parts{temporaries.back().get(), DType::f32, 0, {s.taps() * s.groups, s.groups, 1}};
  DepthwiseWeight(backend, r.op, s, x, y, parts, layout, shares).run();
  add_parts(backend, r, parts, shares);
}

}  // namespace tern::detail_gpu::conv
