#include "primitives/convolution/gpu/gpu_windows.hpp"

#include "gpu/products/tile_text.hpp"
#include "gpu/text/kernel_file.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_gpu::conv {
namespace {

constexpr const char* kWindowPieces =
#include "primitives/convolution/gpu/gpu_windows.wgsl.inc"
    ;
/// Parameters of an axis.
enum AxisNumber : std::size_t { kIn, kOut, kStride, kBefore, kKernel, kDilation, kReach, kTapEnd, kAxisNumbers };

}  // namespace

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
  plan.note(s_.groups > 1), plan.note(splits_.count > 1);
  return access_ = plan.add_access(image_, {image_.strides.begin(), image_.strides.end()}, false);
}

void WindowFactor::choose(GemmPlan& gemm) const {
  const Access& x = gemm.plan.access(access_);
  // Places that are looked for are fewer of a tile's 64 rows: 64×512×14², 3×3 had 37.5 TFLOP/s instead of 33.7, of 256
  // channels 37.6 instead of 34.7 (WebGPU, f32, H200, 29 November 2026).
  if (gemm.tile.m == 128 && gemm.tile.n == 128 && gemm.tile.k == 16) gemm.tile = {64, 128, 16, 8, 8};
  gemm.a.along_k = of_places();
  gemm.a.wide = in_units(x, x.actual.size() - 1, s_.c, of_places() ? gemm.tile.k : gemm.tile.m);
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
  t.title = of_places() ? "convolution" : "gradient of a convolution's kernels";
  t.base = d.param(x.base);
  if (s_.groups > 1) t.base += cat(" + ", batch.back(), " * ", h["channels"], " * ", of_channels);
  // Along an axis a unit lies at its corner and its tap; of rows that are places the corner begins before the image.
  std::string place = "image$copy", inside;
  for (std::size_t i = 0; i < axes(); ++i) {
    const std::string name = cat("corner${copy}_", i), corner = of_places() ? name : cat("bitcast<i32>(", name, ")");
    const std::string at = cat("bitcast<u32>(", corner, " + tap_", i, ")");
    place += cat(" + ", at, " * ", h[cat("of_", i)]), inside += cat(" && ", at, " < ", h[cat("in_", i)]);
  }
  place += cat(" + channel * ", of_channels);
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
