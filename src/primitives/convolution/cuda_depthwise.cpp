#include "primitives/convolution/cuda_depthwise.hpp"

#include <algorithm>

#include "gpu/products/epilogue.hpp"
#include "gpu/products/gemm_pass.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_gpu::conv {
namespace {

constexpr const char* kDepthwise =
#include "primitives/convolution/cuda_depthwise.cu.inc"
    ;
constexpr const char* kDepthwiseWeight =
#include "primitives/convolution/cuda_depthwise_weight.cu.inc"
    ;
constexpr std::int64_t kMostTaps = 64;  // two weights of each in registers

/// Results of a thread: lines of the last axis but one, and places along the last.
struct Strip {
  std::int64_t lines = 1, rows = 1;
  bool skips = false;  // lines outside the image; else they are multiplied, as zeros
  int threads = 384;
  /// No more than there are, and as even as they can be.
  static std::int64_t even(std::int64_t size, std::int64_t most) { return ceil_div(size, ceil_div(size, most)); }
};
// On an H200, 26 November 2026, us, 64x192x56x56 in bf16: 7x7 in workgroups of 384 threads 243, of 128 295; 3x3
// 132, 71.
Strip strip_of(const ConvSizes& s) {
  constexpr std::int64_t kMost = 4, kMany = 25;
  const auto last = static_cast<std::size_t>(s.axes) - 1;
  const bool few = s.taps() <= kMany;
  return {last == 0 ? 1 : Strip::even(s.out[last - 1], kMost), Strip::even(s.out[last], kMost), few, few ? 128 : 384};
}

/// What both kernels have: the numbers of the convolution as constants and parameters, and the image.
class Depthwise {
 protected:
  Depthwise(GpuBackend& backend, const char* op, char kind, const ConvSizes& sizes, const Strip& strip)
      : backend_(backend), plan_(backend.limits(), op, kind), s_(turned(sizes, turned_)), strip_(strip) {
    const auto last = static_cast<std::size_t>(s_.axes) - 1;
    const auto of = [&](const ConvSizes::Sizes& numbers, std::int64_t none) {
      return std::pair(last == 0 ? none : numbers[last - 1], numbers[last]);
    };
    const auto add = [&](const char* name, std::int64_t value) {
      slots_.emplace_back(name, plan_.add_param(static_cast<std::uint64_t>(value)));
    };
    const auto [in_lines, in_rows] = of(s_.in, 1);
    const auto [out_lines, out_rows] = of(s_.out, 1);
    const auto [before_lines, before_rows] = of(s_.before, 0);
    add("channels", s_.groups), add("samples", s_.n), add("in_lines", in_lines), add("in_rows", in_rows);
    add("out_lines", out_lines), add("out_rows", out_rows);
    add("before_lines", before_lines), add("before_rows", before_rows);
    const auto [tap_lines, tap_rows] = of(s_.kernel, 1);
    const auto [stride_lines, stride_rows] = of(s_.stride, 1);
    const auto [dilation_lines, dilation_rows] = of(s_.dilation, 1);
    constants_ = {{"lines", strip.lines},
                  {"rows", strip.rows},
                  {"tap_lines", tap_lines},
                  {"tap_rows", tap_rows},
                  {"stride_lines", stride_lines},
                  {"stride_rows", stride_rows},
                  {"dilation_lines", dilation_lines},
                  {"dilation_rows", dilation_rows}};
    for (const auto& constant : constants_) plan_.note(constant.second);
    plan_.note(strip.skips), plan_.note(strip.threads);
  }

  /// Strips of all samples.
  std::int64_t strips() const {
    const auto last = static_cast<std::size_t>(s_.axes) - 1;
    return s_.n * (last == 0 ? 1 : ceil_div(s_.out[last - 1], strip_.lines)) * ceil_div(s_.out[last], strip_.rows);
  }
  int add_access(const View& view, const Shape& shape, bool written = false) {
    std::vector<std::int64_t> strides(view.strides.begin(), view.strides.end());
    touched_.push_back(bytes_touched(view, {shape.begin(), shape.size()}));
    return plan_.add_access(view, strides, written);
  }
  /// After the last access.
  void bind() {
    plan_.bind(touched_);
    for (std::size_t i = 0; i < plan_.accesses.size(); ++i)
      if (detail_cuda::wgmma::in_vectors(plan_.accesses[i])) plan_.make_wide(static_cast<int>(i));
  }
  void launch(std::int64_t items, const std::function<std::string()>& text) {
    plan_.launch.threads = static_cast<std::uint32_t>(strip_.threads);
    plan_.launch.groups = static_cast<std::uint64_t>(ceil_div(items * (s_.groups / 2), strip_.threads));
    plan_.finish_key();
    backend_.queue(plan_.launch, text);
  }
  Position at(std::vector<std::string> coordinates) const {
    if (s_.axes == 1) std::erase_if(coordinates, [](const std::string& c) { return c == "line" || c == "tap_line"; });
    Position p{std::move(coordinates), 0, 2};
    p.inner = static_cast<int>(p.coordinates.size()) - 1;
    return p;
  }
  Module module(const char* title, const char* file) const {
    Module m;
    m.title = title, m.file = file;
    m.bindings = plan_.launch.bindings, m.params = plan_.launch.params.size();
    for (const auto& [name, slot] : slots_) m.holes[name] = backend_.dialect().param(slot);
    for (const auto& [name, value] : constants_) m.holes[name] = cat(value, "u");
    m.holes["threads"] = cat(strip_.threads), m.holes["skips"] = strip_.skips ? "true" : "false";
    return m;
  }
  /// Lines that load two channels, and the values.
  void fill_load(Io& io, Holes& holes, const std::string& name, int access, const Position& at) const {
    std::vector<std::string> values;
    holes["load_" + name] = io.load(access, at, values);
    holes[name + "_0"] = values[0], holes[name + "_1"] = values[1];
  }

  GpuBackend& backend_;
  Plan plan_;
  std::array<bool, 3> turned_{};  // before what turns axes
  ConvSizes s_;
  Strip strip_;
  std::vector<std::pair<const char*, int>> slots_;
  std::vector<std::pair<const char*, std::int64_t>> constants_;
  std::vector<ByteRange> touched_;
};

class DepthwiseResult : Depthwise {
 public:
  /// `kernels`: [taps.., channels].
  DepthwiseResult(GpuBackend& backend, const detail::GemmRequest& g, const ConvSizes& sizes, const View& image,
                  const View& kernels, const Strip& strip)
      : Depthwise(backend, g.op, 'D', sizes, strip), epilogue_(g) {
    kept_ = merge_axes(g.batch, (1u << g.batch.rank()) - 1, epilogue_.views(), (1u << g.batch.rank()) - 1);
    plan_.add_axes(kept_);
    epilogue_.add_accesses(plan_, kept_), epilogue_.add_numbers(plan_);
    const std::vector<std::int64_t> over = sizes_over_tile(g);
    for (const Access& a : plan_.accesses) touched_.push_back(bytes_touched(*a.view, over));
    x_ = add_access(image, s_.of_x());
    Shape taps;
    for (std::size_t i = 0; i < static_cast<std::size_t>(s_.axes); ++i) taps.push_back(s_.kernel[i]);
    taps.push_back(s_.groups);
    w_ = add_access(kernels, taps);
    bind();
    plan_.note(g.epilogue->serial);
  }
  void run() {
    launch(strips(), [&] { return text(); });
  }

 private:
  std::string text() const {
    const Dialect& dialect = backend_.dialect();
    const Function formula = epilogue_.function(dialect);
    Io io(plan_, dialect);
    Module m = module("channels convolved by themselves", kDepthwise);
    m.holes["formula"] = formula.text;
    fill_load(io, m.holes, "x", x_, at({"sample", "line", "row", "channel"}));
    fill_load(io, m.holes, "w", w_, at({"tap_line", "tap_row", "channel"}));
    m.holes["finish"] = epilogue_.finish(
        io, dialect, formula, at({"sample", "line", "row", "col"}), kept_, [](int e) { return cat("sum_", e); }, "");
    return dialect.module(m);
  }
  Epilogue epilogue_;
  MergedAxes kept_;
  int x_ = -1, w_ = -1;
};

class DepthwiseWeight : Depthwise {
 public:
  /// `parts`: [shares, taps, channels].
  DepthwiseWeight(GpuBackend& backend, const detail::ConvWeightRequest& r, const View& parts, std::int64_t shares,
                  const Strip& strip)
      : Depthwise(backend, r.op, 'G', r.sizes, strip), shares_(shares) {
    slots_.emplace_back("shares", plan_.add_param(static_cast<std::uint64_t>(shares)));
    x_ = add_access(r.x, s_.of_x()), y_ = add_access(r.y, s_.of_y());
    parts_ = add_access(parts, {shares, s_.taps(), s_.groups}, true);
    bind();
  }
  void run() {
    launch(shares_, [&] { return text(); });
  }

 private:
  std::string text() const {
    Io io(plan_, backend_.dialect());
    Module m = module("gradient of kernels of channels by themselves", kDepthwiseWeight);
    fill_load(io, m.holes, "x", x_, at({"sample", "line", "row", "channel"}));
    fill_load(io, m.holes, "y", y_, at({"sample", "line", "row", "channel"}));
    m.holes["store"] = io.store(parts_, at({"share", "tap", "channel"}), {"sum_0", "sum_1"}, "");
    return backend_.dialect().module(m);
  }
  std::int64_t shares_;
  int x_ = -1, y_ = -1, parts_ = -1;
};

}  // namespace

bool has_depthwise(const ConvSizes& s, DType dtype) {
  constexpr std::int64_t kFewest = 16, kMost = std::int64_t{1} << 29;
  if (dtype != DType::f16 && dtype != DType::bf16 && dtype != DType::f32) return false;
  if (!s.one_channel_a_group() || s.axes > 2 || s.groups % 2 != 0 || s.groups < kFewest || s.taps() > kMostTaps)
    return false;
  for (std::size_t i = 0; i < static_cast<std::size_t>(s.axes); ++i)  // places of a line that a thread keeps
    if (s.stride[i] > 3 || (std::abs(s.dilation[i]) > 3 && s.kernel[i] > 1) || s.in[i] < 1 || s.out[i] < 1)
      return false;
  return s.of_y().numel() > 0 && std::max(s.of_x().numel(), s.of_y().numel()) < kMost;
}

bool run_depthwise(GpuBackend& backend, const detail::ConvRequest& r) {
  const detail::GemmRequest g = product_of(r);
  if (counts_places(*r.epilogue)) return false;
  // Kernels [channels, 1, 1, k..] as [k.., channels], elements counted so that dilations are positive.
  std::array<bool, 3> axes{};
  const ConvSizes s = turned(r.sizes, axes);
  Temporaries temporaries;
  View w{r.w.storage, r.w.dtype, r.w.offset, {}};
  Shape shape;
  for (std::size_t i = 0; i < static_cast<std::size_t>(s.axes); ++i) {
    const std::int64_t stride = r.w.strides[3 + i];
    if (axes[i]) w.offset += (s.kernel[i] - 1) * stride;
    w.strides.push_back(axes[i] ? -stride : stride), shape.push_back(s.kernel[i]);
  }
  w.strides.push_back(r.w.strides[0]), shape.push_back(s.groups);
  if (r.w.strides[0] != 1 || s.taps() == 1) w = row_major(backend, r.op, w, shape, temporaries);
  DepthwiseResult(backend, g, r.sizes, r.x, w, strip_of(s)).run();
  return true;
}

void run_depthwise_weight(GpuBackend& backend, const detail::ConvWeightRequest& r, std::int64_t processors) {
  const ConvSizes& s = r.sizes;
  const Strip strip = strip_of(s);
  const auto last = static_cast<std::size_t>(s.axes) - 1;
  const std::int64_t strips =
      s.n * (last == 0 ? 1 : ceil_div(s.out[last - 1], strip.lines)) * ceil_div(s.out[last], strip.rows);
  constexpr std::int64_t kResident = 384;  // threads of a processor, by their registers
  const std::int64_t shares = std::clamp<std::int64_t>(processors * kResident / (s.groups / 2), 1, strips);
  Temporaries temporaries;
  temporaries.push_back(backend.temporary(shares * s.taps() * s.groups, DType::f32));
  const View parts{temporaries.back().get(), DType::f32, 0, {s.taps() * s.groups, s.groups, 1}};
  DepthwiseWeight(backend, r, parts, shares, strip).run();
  // Summed over shares: [shares, k.., channels], elements counted as they are in the kernels.
  std::array<bool, 3> axes{};
  turned(s, axes);
  View sums{parts.storage, DType::f32, 0, {s.taps() * s.groups}}, w{r.w.storage, r.w.dtype, r.w.offset, {0}};
  Shape space{shares};
  std::int64_t step = s.taps() * s.groups;
  for (std::size_t i = 0; i <= last; ++i) {
    step /= s.kernel[i], space.push_back(s.kernel[i]);
    sums.strides.push_back(step), w.strides.push_back(r.w.strides[3 + i]);
  }
  space.push_back(s.groups), sums.strides.push_back(1), w.strides.push_back(r.w.strides[0]);
  static const detail::FormulaGraph* const total = [] {
    const Expr x = sum(detail::make_input(0));
    return detail::make_graph({&x, 1}, 1);
  }();
  const detail::InputType type{r.w.dtype, false};  // summed in f32, as the parts are
  detail::FusedRequest pass;
  pass.op = r.op, pass.space = space, pass.reduced = 1;
  pass.program = &detail::type_program(r.op, total, {&type, 1});
  const detail::Operand operand{sums, {}, nullptr};
  pass.inputs = {&operand, 1}, pass.outputs = {&w, 1};
  backend.execute(pass);
}

}  // namespace tern::detail_gpu::conv
