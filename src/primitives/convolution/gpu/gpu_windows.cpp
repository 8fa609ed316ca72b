#include "primitives/convolution/gpu/gpu_windows.hpp"

#include "gpu/products/tile_text.hpp"
#include "gpu/text/kernel_file.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_gpu::conv {
namespace {

constexpr const char* kWindowPieces =
#include "primitives/convolution/gpu/gpu_windows.wgsl.inc"
    ;
constexpr std::int64_t kManyRows = 1 << 14;  // 128 of the narrow tiles: fewer leave a device idle
/// Parameters of an axis.
enum AxisNumber : std::size_t { kIn, kOut, kStride, kBefore, kKernel, kDilation, kReach, kTapEnd, kAxisNumbers };

/// Whether the taps along the last axis and their channels lie one behind the other, and channels are too few to be
/// fetched in vectors: as one axis they are counted on once where else every few channels would end.
bool joins(const detail::ConvSizes& s, const View& image) {
  const auto last = static_cast<std::size_t>(s.axes) - 1;
  const auto unit = kVectorBytes / static_cast<std::int64_t>(dtype_size(image.dtype));
  return s.groups == 1 && s.c % unit != 0 && s.kernel[last] > 1 && s.dilation[last] == 1 &&
         image.strides[last + 1] == s.c && (s.c == 1 || image.strides[last + 2] == 1);
}
detail::ConvSizes with_joined(detail::ConvSizes s, bool joined) {
  if (!joined) return s;
  const auto last = static_cast<std::size_t>(s.axes) - 1;
  s.in[last] *= s.c, s.stride[last] *= s.c, s.before[last] *= s.c;
  s.c *= s.kernel[last], s.kernel[last] = 1;
  return s;
}

}  // namespace

WindowFactor::WindowFactor(const detail::ConvSizes& sizes, const View& image, const PlaceSplits& splits)
    : whole_(sizes.of_x()),
      joined_(joins(sizes, image)),
      s_(with_joined(sizes, joined_)),
      image_(image),
      splits_(splits) {}

int WindowFactor::add(Plan& plan) {
  for (std::size_t i = 0; i < axes(); ++i)
    for (const std::int64_t n : {s_.in[i], s_.out[i], s_.stride[i], s_.before[i], s_.kernel[i], s_.dilation[i],
                                 s_.out[i] * s_.stride[i], s_.kernel[i] * s_.dilation[i]})
      slots_.push_back(plan.add_param(static_cast<std::uint64_t>(n)));
  channels_ = plan.add_param(static_cast<std::uint64_t>(s_.c));
  if (!of_places()) {
    places_ = plan.add_param(static_cast<std::uint64_t>(s_.of_y().numel() / (s_.groups * s_.o)));
    length_ = plan.add_param(static_cast<std::uint64_t>(splits_.length));
    first_ = plan.add_param(static_cast<std::uint64_t>(splits_.first));
  }
  plan.note(static_cast<char>(s_.axes)), plan.note(of_places());
  plan.note(s_.groups > 1), plan.note(splits_.count > 1), plan.note(joined_);
  return access_ = plan.add_access(image_, {image_.strides.begin(), image_.strides.end()}, false);
}

GemmTile WindowFactor::tile_of_places(const GemmPlan& gemm) const {
  // Of few columns (the gradient of an image of three channels) most of any other tile would be empty. 802,816×1024×12:
  // 1.27 ms, by {256, 16, 8, 8, 4} 1.29, {256, 12, 8, 8, 4} 1.36.
  constexpr GemmTile kOfFewColumns{128, kNarrow, 16, 8, 4};
  const Access& x = gemm.plan.access(access_);
  if (gemm.n <= kNarrow && gemm.m >= kManyRows && !joined_ && in_units(x, x.actual.size() - 1, s_.c, kOfFewColumns.k))
    return kOfFewColumns;
  // Places that are looked for are fewer of a tile's 64 rows: 64×512×14², 3×3 had 37.5 TFLOP/s instead of 33.7, of 256
  // channels 37.6 instead of 34.7.
  if (gemm.tile.m == 128 && gemm.tile.n == 128 && gemm.tile.k == 16) return {64, 128, 16, 8, 8};
  // Element by element, by more invocations: 64×3×224², 7×7 with a stride of 2 0.602 ms instead of 0.655.
  return joined_ && gemm.tile.m == 128 && gemm.tile.n == 64 ? GemmTile{128, 64, 16, 8, 4} : gemm.tile;
}

GemmTile WindowFactor::tile_of_taps(const GemmPlan& gemm) const {
  if (gemm.tile.m != 128 || gemm.tile.k != 16) return gemm.tile;
  // ms with the result, f32 and f16: 64×64×56², 3×3 0.902 and 0.855, by {128, 64, 16, 8, 8} 1.127 and 0.901. But of 128
  // channels 3.231 and 2.951 by that, by {64, 64, 16, 4, 4} 3.442 and 3.362, {64, 128, 16, 8, 8} 3.435 and 3.020, {128,
  // 128, 16, 8, 8} 3.469 and 3.059.
  if (gemm.n <= 64) return {64, 64, 16, 4, 4};
  return gemm.tile.n == 128 ? GemmTile{128, 64, 16, 8, 8} : gemm.tile;
}

/// Which tiles were measured: WebGPU, H200, 29 November 2026.
void WindowFactor::choose(GemmPlan& gemm) const {
  const Access& x = gemm.plan.access(access_);
  gemm.tile = of_places() ? tile_of_places(gemm) : tile_of_taps(gemm);
  const auto read = [&](const GemmTile& tile) {
    gemm.a.wide = !joined_ && in_units(x, x.actual.size() - 1, s_.c, of_places() ? tile.k : tile.m);
    return (of_places() ? tile.k : tile.m) / (gemm.a.wide ? kVectorBytes / x.size() : 1);
  };
  gemm.a.along_k = of_places();
  // What an invocation fetches has one channel in all of its copies.
  if (gemm.tile.threads() % read(gemm.tile) != 0) read(gemm.tile = {64, 64, 16, 4, 4});
}

std::string WindowFactor::stride_of(const GemmPlan& gemm, std::size_t axis) const {
  const Access& x = gemm.plan.access(access_);
  return x.steps[axis] == '0' ? "0u" : x.steps[axis] == '1' ? "1u" : gemm.backend.dialect().param(x.strides[axis]);
}

void WindowFactor::fill_sizes(const GemmPlan& gemm, Holes& h) const {
  const Dialect& d = gemm.backend.dialect();
  const Access& x = gemm.plan.access(access_);
  const GemmTile& tile = gemm.tile;
  const int unit = gemm.a.wide ? kVectorBytes / x.size() : 1;
  const int across = of_places() ? tile.k : tile.m, units = tile.m * tile.k / unit;
  h["threads"] = cat(tile.threads(), "u"), h["units_in_line"] = cat(across / unit, "u");
  h["elements"] = cat(unit, "u"), h["tile_k"] = cat(tile.k, "u");
  h["copies"] = numbers(0, static_cast<int>(ceil_div(units, tile.threads())));
  h["channels"] = d.param(channels_), h["of_samples"] = stride_of(gemm, 0);
  const int last = s_.axes - 1;
  h["axes"] = numbers(0, s_.axes), h["last"] = cat(last);
  for (std::size_t i = 0; i < axes(); ++i) {
    h["axes_down"] = cat(i, i ? " " : "", h["axes_down"]);
    const auto number = [&](AxisNumber n) { return d.param(slots_[i * kAxisNumbers + n]); };
    const auto integer = [&](AxisNumber n) { return cat("bitcast<i32>(", number(n), ")"); };
    const std::string name = cat("_", i);
    h["out" + name] = number(kOut), h["stride" + name] = number(kStride), h["kernel" + name] = number(kKernel);
    h["before" + name] = integer(kBefore), h["dilation" + name] = integer(kDilation), h["in" + name] = number(kIn);
    h["reach" + name] = number(kReach), h["tap_end" + name] = integer(kTapEnd);
    h["of" + name] = stride_of(gemm, i + 1);
  }
  h["last_stride"] = h[cat("stride_", last)], h["last_reach"] = h[cat("reach_", last)];
}

/// What follows where the last axis is at its end: the axis before, and so on.
void WindowFactor::fill_carries(Holes& h, int copies) const {
  std::string tap;
  for (int i = 0; i < s_.axes; ++i)
    tap = cat("tap_", i, " += $dilation_", i, ";\n",
              i == 0 ? std::string()
                     : cat("if (tap_", i, " == $tap_end_", i, ") {\n", indented(cat("tap_", i, " = i32(0);\n", tap)),
                           "}\n"));
  h["carry_tap"] = tap;
  for (int u = 0; u < copies; ++u) {
    std::string place = cat("image", u, " += $of_samples;\n");
    for (int i = 0; i + 1 < s_.axes; ++i) {
      const std::string corner = cat("corner", u, "_", i);
      place = cat(corner, " += $stride_", i, ";\nif (", corner, " == $reach_", i, ") {\n",
                  indented(cat(corner, " = 0u;\n", place)), "}\n");
    }
    h[cat("carry_place_", u)] = place;
  }
}

GatheredFactor::FactorText WindowFactor::text(const GemmPlan& gemm, const std::vector<std::string>& batch) const {
  const Dialect& d = gemm.backend.dialect();
  const Access& x = gemm.plan.access(access_);
  Holes h = pieces(kWindowPieces);
  fill_sizes(gemm, h);
  const int units = gemm.tile.m * gemm.tile.k / (gemm.a.wide ? kVectorBytes / x.size() : 1);
  fill_carries(h, static_cast<int>(ceil_div(units, gemm.tile.threads())));
  const std::string of_channels = stride_of(gemm, axes() + 1);
  FactorText t;
  t.title = cat(of_places() ? "convolution" : "gradient of a convolution's kernels", joined_ ? ", few channels" : "");
  t.base = d.param(x.base);
  if (s_.groups > 1) t.base += cat(" + ", batch.back(), " * ", h["channels"], " * ", of_channels);
  // Along an axis a unit lies at its corner and its tap; of rows that are places the corner begins before the image.
  std::string place = "image$copy", inside;
  for (std::size_t i = 0; i < axes(); ++i) {
    const std::string name = cat("corner${copy}_", i), corner = of_places() ? name : cat("bitcast<i32>(", name, ")");
    const bool elements = joined_ && i + 1 == axes();
    const std::string at = cat("bitcast<u32>(", corner, " + tap_", i, elements ? " + bitcast<i32>(channel))" : ")");
    place += elements ? cat(" + ", at) : cat(" + ", at, " * ", h[cat("of_", i)]);
    inside += cat(" && ", at, " < ", h[cat("in_", i)]);
  }
  if (!joined_) place += cat(" + channel * ", of_channels);
  if (of_places()) {
    t.depth = d.param(gemm.slots.k);
    t.inside = cat("place$copy < ", d.param(gemm.slots.m), " && kt + kk < ", t.depth, inside);
  } else {
    t.depth = "depth_here";
    t.inside = cat("window < ", d.param(gemm.slots.m), " && kt + kk < depth_here", inside);
    h["places"] = d.param(places_), h["length"] = d.param(length_);
    const std::string split = splits_.count > 1 ? cat(" + ", batch.front()) : std::string();
    h["first_place"] = cat("(", d.param(first_), split, ") * ", h["length"]);
  }
  t.place = place;
  t.begin = fill_holes(of_places() ? "$begin_of_places\n" : "$begin_of_taps\n", h);
  t.advance = fill_holes(of_places() ? "$advance_of_places\n" : "$advance_of_taps\n", h);
  return t;
}

}  // namespace tern::detail_gpu::conv
