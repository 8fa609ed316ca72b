// Fills the holes of gpu_depthwise.wgsl and gpu_depthwise_weight.wgsl, and runs them.
#include "primitives/convolution/gpu/gpu_depthwise.hpp"

#include <algorithm>

#include "backend/instruments/trace.hpp"
#include "gpu/products/epilogue.hpp"
#include "gpu/text/io.hpp"
#include "gpu/text/kernel_file.hpp"
#include "gpu/text/text.hpp"
#include "primitives/convolution/gpu/gpu_depthwise_common.hpp"
#include "primitives/convolution/gpu/gpu_depthwise_strips.hpp"

namespace tern::detail_gpu::conv {
namespace {

constexpr const char* kPieces =
#include "primitives/convolution/gpu/gpu_depthwise_pieces.wgsl.inc"
    ;
constexpr const char* kResult =
#include "primitives/convolution/gpu/gpu_depthwise.wgsl.inc"
    ;
constexpr const char* kWeight =
#include "primitives/convolution/gpu/gpu_depthwise_weight.wgsl.inc"
    ;
/// An image whose channels lie side by side, in whole words.
bool in_words(const View& view, const Shape& shape, std::int64_t channels) {
  const std::size_t last = shape.size() - 1;
  bool fits = view.offset % channels == 0 && (shape[last] == 1 || view.strides[last] == 1);
  for (std::size_t i = 0; i < last; ++i) fits = fits && (shape[i] == 1 || view.strides[i] % channels == 0);
  return fits;
}
View as_words(GpuBackend& backend, const char* op, const View& view, const Shape& shape, Temporaries& temporaries) {
  if (in_words(view, shape, channels_of_word(view.dtype)) && in_one_binding(backend, view, shape)) return view;
  return row_major(backend, op, view, shape, temporaries);
}

/// What both kernels have: the numbers of the convolution as constants and parameters, and the image.
class Strips {
 protected:
  Strips(GpuBackend& backend, const char* op, char kind, const ConvSizes& sizes, DType dtype, const Strip& strip)
      : backend_(backend),
        plan_(backend.limits(), op, kind),
        s_(sizes),
        by_(sizes),
        dtype_(dtype),
        channels_(channels_of_word(dtype)),
        strip_(strip) {
    const std::int64_t words = ceil_div(s_.groups, channels_);
    threads_ = std::min<std::int64_t>(128, backend.limits().threads);
    while (across_ > 1 && round_up(words, across_) >= round_up(words, across_ / 2) + across_ / 2) across_ /= 2;
    down_ = ceil_div(by_.line(s_.out, 1), strip_.lines), along_ = ceil_div(by_.row(s_.out, 1), strip_.rows);
    blocks_ = ceil_div(words, across_);
    add("blocks", blocks_), add("channels", s_.groups), add("words", words), add("samples", s_.n);
    add("strips_down", down_), add("strips_along", along_);
    add("in_lines", by_.line(s_.in, 1)), add("in_rows", by_.row(s_.in, 1));
    add("out_lines", by_.line(s_.out, 1)), add("out_rows", by_.row(s_.out, 1));
    add("before_lines", by_.line(s_.before, 0)), add("before_rows", by_.row(s_.before, 0));
    constants_ = {{"lines", strip_.lines},
                  {"rows", strip_.rows},
                  {"across", across_},
                  {"strips", strips()},
                  {"channels_of_word", channels_},
                  {"stride_lines", by_.line(s_.stride, 1)},
                  {"stride_rows", by_.row(s_.stride, 1)}};
    for (const auto& constant : constants_) plan_.note(constant.second);
    for (const AxisOf& axis : {by_.line, by_.row})
      plan_.note(axis(s_.kernel, 1)), plan_.note(axis(s_.dilation, 1));
    plan_.note(dtype);
  }

  std::int64_t strips() const { return threads_ / across_; }  // of a workgroup
  std::int64_t count() const { return s_.n * down_ * along_; }
  void add(const std::string& name, std::int64_t value) {
    slots_.emplace_back(name, plan_.add_param(static_cast<std::uint64_t>(value)));
  }
  int add_access(const View& view, const Shape& shape, bool written = false) {
    touched_.push_back(bytes_touched(view, {shape.begin(), shape.size()}));
    return plan_.add_access(view, {view.strides.begin(), view.strides.end()}, written);
  }
  /// An image that is read by words, by this name.
  int add_image(const char* name, const View& view, const Shape& shape) {
    const std::size_t last = shape.size() - 1;
    const auto step = [&](std::size_t axis) { return shape[axis] == 1 ? 0 : view.strides[axis]; };
    add(cat(name, "_sample"), step(0));
    // A constant, which instructions have room for: 64x192x56x56 by 7x7 195 us instead of 218 (f32, H200).
    const auto row = static_cast<std::uint32_t>(step(last - 1) / channels_);  // of an image read backwards it wraps
    constants_.emplace_back(cat(name, "_row"), row), plan_.note(row);
    add(cat(name, "_line"), last > 2 ? step(last - 2) / channels_ : 0);
    images_.emplace_back(name, add_access(view, shape));
    return images_.back().second;
  }
  void launch(std::int64_t strips_at_once, const std::function<std::string()>& text) {
    Launch& launch = plan_.launch;
    launch.threads = static_cast<std::uint32_t>(threads_);
    launch.in_bounds = true;  // what lies outside is compared
    launch.groups = static_cast<std::uint64_t>(blocks_ * ceil_div(strips_at_once, strips()));
    launch.steps = static_cast<std::uint64_t>(s_.flops() / 2);
    plan_.note(launch.threads);
    plan_.finish_key();
    if (detail::tracing())
      detail::note(cat("channels by themselves, ", strip_.lines, "x", strip_.rows, " results an invocation, ",
                       launch.groups, " workgroups of ", launch.threads));
    backend_.queue(launch, text);
  }
  Position at(std::vector<std::string> coordinates) const {
    Position p{std::move(coordinates), 0, static_cast<int>(channels_)};
    p.inner = static_cast<int>(p.coordinates.size()) - 1;
    return p;
  }
  std::string value(int element) const {
    if (dtype_ == DType::f32) return cat("bitcast<f32>(", kFirst, ")");
    return cat(dtype_ == DType::f16 ? "tern_f16_" : "tern_bf16_", element ? "second(" : "first(", kFirst, ")");
  }
  static std::string list(std::int64_t count) { return numbers(0, static_cast<int>(count)); }
  Holes holes() const {
    const Dialect& dialect = backend_.dialect();
    Holes h = pieces(kPieces);
    for (const auto& [name, slot] : slots_) h[name] = dialect.param(slot);
    for (const auto& [name, value] : constants_) h[name] = cat(value, "u");
    for (const auto& [name, access] : images_) {
      const Access& a = plan_.access(access);
      h[name] = cat("b", a.binding), h[cat(name, "_base")] = dialect.param(a.base);
    }
    h["elements"] = list(channels_), h["taps"] = list(s_.taps());
    h["result_lines"] = list(strip_.lines), h["result_rows"] = list(strip_.rows);
    for (int e = 0; e < channels_; ++e) h[cat("value_", e)] = value(e);
    return h;
  }
  /// Lines that read what the results of a strip meet of the image, line by line: where a tap meets a result,
  /// add(tap, line and row of the result, place along the row).
  using Add = std::function<std::string(std::int64_t tap, std::int64_t line, std::int64_t row, std::int64_t place)>;
  std::string lines_of_image(Holes h, const Strip& strip, const Add& add) const {
    const std::int64_t taps = by_.row(s_.kernel, 1);
    h["span_rows"] = list(span(s_, by_.row, strip.rows));
    std::string all;
    for (std::int64_t i = 0; i < span(s_, by_.line, strip.lines); ++i) {
      std::string& meetings = h["meetings"];
      meetings.clear();
      for (std::int64_t line = 0; line < strip.lines; ++line) {
        const std::int64_t reach = i - line * by_.line(s_.stride, 1), dilation = by_.line(s_.dilation, 1);
        if (reach < 0 || reach % dilation != 0 || reach / dilation >= by_.line(s_.kernel, 1)) continue;
        for (std::int64_t row = 0; row < strip.rows; ++row)
          for (std::int64_t k = 0; k < taps; ++k)
            meetings += add(reach / dilation * taps + k, line, row,
                            row * by_.row(s_.stride, 1) + k * by_.row(s_.dilation, 1));
      }
      h["span_line"] = cat(i);
      if (!meetings.empty()) all += fill_holes("$line_of_image\n", h);
    }
    return all;
  }
  std::string text(const char* title, const char* file, const std::string& functions, const Holes& h) const {
    return backend_.dialect().module({title,
                                      plan_.launch.bindings,
                                      plan_.launch.params.size(),
                                      plan_.launch.threads,
                                      {},
                                      functions,
                                      fill_holes(file, h)});
  }

  GpuBackend& backend_;
  Plan plan_;
  ConvSizes s_;
  LinesAndRows by_;
  DType dtype_;
  std::int64_t channels_;
  Strip strip_;
  std::int64_t threads_ = 0, across_ = kWarp, down_ = 1, along_ = 1, blocks_ = 1;
  std::vector<std::pair<std::string, int>> slots_, images_;
  std::vector<std::pair<std::string, std::int64_t>> constants_;
  std::vector<ByteRange> touched_;
};

class StripsOfResult : Strips {
 public:
  /// `kernels`: [taps.., channels], one behind the other.
  StripsOfResult(GpuBackend& backend, const detail::GemmRequest& g, const ConvSizes& sizes, const View& image,
                 const View& kernels)
      : Strips(backend, g.op, 'D', sizes, image.dtype, strip_of_result(sizes, image.dtype)), epilogue_(g) {
    kept_ = merge_axes(g.batch, (1u << g.batch.rank()) - 1, epilogue_.views(), (1u << g.batch.rank()) - 1);
    plan_.add_axes(kept_);
    epilogue_.add_accesses(plan_, kept_), epilogue_.add_numbers(plan_);
    const std::vector<std::int64_t> over = sizes_over_tile(g);
    for (const Access& a : plan_.accesses) touched_.push_back(bytes_touched(*a.view, over));
    add_image("image", image, s_.of_x());
    w_ = add_access(kernels, shape_by_tap(s_));
    plan_.bind(touched_);
    for (const int i : epilogue_.outputs()) {
      const Access& x = plan_.access(i);
      if (x.size() < 4 && !(channels_ * x.size() % 4 == 0 && lies_in_units(x, x.actual.size() - 1, 4 / x.size())))
        plan_.merge_parts(i);
    }
    plan_.note(g.epilogue->serial);
  }
  /// False where what it reads is written as well, in words that are merged.
  bool run() {
    if (plan_.binding_of(images_[0].second).written || plan_.binding_of(w_).written) return false;
    launch(count(), [&] { return text(); });
    return true;
  }

 private:
  static std::string sum(std::int64_t line, std::int64_t row, int element) {
    return cat("sum_", line, "_", row, "_", element);
  }
  std::string text() const {
    const Dialect& dialect = backend_.dialect();
    const Function formula = epilogue_.function(dialect);
    Io io(plan_, dialect);
    Holes h = holes();
    const Access& w = plan_.access(w_);
    h["w"] = cat("b", w.binding), h["w_base"] = dialect.param(w.base);
    h["lines_of_image"] = lines_of_image(
        h, strip_, [&](std::int64_t tap, std::int64_t line, std::int64_t row, std::int64_t place) {
          std::string lines;
          for (int e = 0; e < channels_; ++e)
            lines += cat(sum(line, row, e), " = fma(x_", place, "_", e, ", w_", tap, "_", e, ", ", sum(line, row, e),
                         ");\n");
          return lines;
        });
    std::string &finish = h["finish_line"], &move = h["move_up"];
    for (std::int64_t row = 0; row < strip_.rows; ++row) {
      std::vector<std::string> coordinates{"sample", "line_now", "row_now", "col"};
      if (s_.axes == 1) coordinates.erase(coordinates.begin() + 1);
      const std::string lines = epilogue_.finish(io, dialect, formula, at(coordinates), kept_,
                                                 [&](int e) { return sum(0, row, e); }, "");
      finish += cat("if (row + ", row, "u < ", h["out_rows"], ") {\n",
                    indented(cat("let row_now = row + ", row, "u;\n", lines)), "}\n");
      for (std::int64_t line = 0; line + 1 < strip_.lines; ++line)
        for (int e = 0; e < channels_; ++e) move += cat(sum(line, row, e), " = ", sum(line + 1, row, e), ";\n");
    }
    return Strips::text("channels convolved by themselves", kResult, formula.text, h);
  }
  Epilogue epilogue_;
  MergedAxes kept_;
  int w_ = -1;
};

class StripsOfWeight : Strips {
 public:
  /// `parts`: [count, taps, channels].
  StripsOfWeight(GpuBackend& backend, const char* op, const ConvSizes& sizes, const View& image, const View& results,
                 const View& parts, std::int64_t count_of_parts)
      : Strips(backend, op, 'G', sizes, image.dtype, strip_of_weight(sizes, image.dtype)), parts_(count_of_parts) {
    whole_ = by_.line(s_.out, 1) % strip_.lines == 0 && by_.row(s_.out, 1) % strip_.rows == 0;
    add("parts", parts_), add("count", count());
    add_image("image", image, s_.of_x()), add_image("result", results, s_.of_y());
    written_ = add_access(parts, {parts_, s_.taps(), s_.groups}, true);
    plan_.bind(touched_);
    plan_.note(whole_);
  }
  void run() {
    launch(parts_, [&] { return text(); });
  }

 private:
  std::string text() const {
    Holes h = holes();
    h.merge(pieces(kWeight));
    const Add add = [&](std::int64_t tap, std::int64_t line, std::int64_t row, std::int64_t place) {
      std::string lines;
      for (int e = 0; e < channels_; ++e)
        lines += cat("sum_", tap, "_", e, " = fma(x_", place, "_", e, ", y_", line, "_", row, "_", e, ", sum_", tap,
                     "_", e, ");\n");
      return lines;
    };
    h["lines_of_image"] = lines_of_image(h, strip_, add), h["lines_of_one"] = lines_of_image(h, {}, add);
    h["all_or_some"] = whole_ ? "$all" : "$some";
    Io io(plan_, backend_.dialect());
    std::string& store = h["store"];
    for (std::int64_t tap = 0; tap < s_.taps(); ++tap) {
      std::vector<std::string> sums;
      for (int e = 0; e < channels_; ++e) sums.push_back(cat("sum_", tap, "_", e));
      store += io.store(written_, at({"part", cat(tap, "u"), "channel"}), sums, "");
    }
    return Strips::text("gradient of kernels of channels by themselves", "$weight\n", "", h);
  }
  bool whole_ = false;  // no strip is cut
  std::int64_t parts_ = 0;
  int written_ = -1;
};

}  // namespace

bool run_depthwise(GpuBackend& backend, const detail::ConvRequest& r) {
  if (counts_places(*r.epilogue)) return false;
  std::array<bool, 3> axes{};
  const ConvSizes s = with_flipped_axes(r.sizes, axes);
  Temporaries temporaries;
  const View w = row_major(backend, r.op, kernels_by_tap(s, axes, r.w), shape_by_tap(s), temporaries);
  const View x = as_words(backend, r.op, r.x, s.of_x(), temporaries);
  if (!fits_bindings(backend, r, x, w)) return false;
  const std::int64_t at_once = samples_at_once(backend, s);
  for (Samples some; some.first < s.n; some.first += some.count) {
    some.count = std::min(at_once, s.n - some.first);
    const SomeSamples part(r, some);
    const detail::GemmRequest g = product_of(part.request);
    ConvSizes of_part = s;
    of_part.n = some.count;
    const View image = some.of(x);
    if (!StripsOfResult(backend, g, of_part, image, w).run()) return false;
  }
  return true;
}

void run_depthwise_weight(GpuBackend& backend, const detail::ConvWeightRequest& r) {
  std::array<bool, 3> axes{};
  const ConvSizes s = with_flipped_axes(r.sizes, axes);
  Temporaries temporaries;
  const View x = as_words(backend, r.op, r.x, s.of_x(), temporaries);
  const View y = as_words(backend, r.op, r.y, s.of_y(), temporaries);
  ConvSizes most = s;
  most.n = samples_at_once(backend, s);
  const std::int64_t parts = parts_of_weight(most, r.x.dtype), launches = ceil_div(s.n, most.n);
  const std::int64_t of_part = s.taps() * s.groups;
  temporaries.push_back(backend.temporary(launches * parts * of_part, DType::f32));
  const View sums{temporaries.back().get(), DType::f32, 0, {of_part, s.groups, 1}};
  std::int64_t made = 0;
  for (Samples some; some.first < s.n; some.first += some.count) {
    ConvSizes now = s;
    now.n = some.count = std::min(most.n, s.n - some.first);
    const std::int64_t count = parts_of_weight(now, r.x.dtype);
    View to = sums;
    to.offset = made * of_part, made += count;
    const View image = some.of(x), results = some.of(y);
    StripsOfWeight(backend, r.op, now, image, results, to, count).run();
  }
  add_parts(backend, r, sums, made);
}

}  // namespace tern::detail_gpu::conv
