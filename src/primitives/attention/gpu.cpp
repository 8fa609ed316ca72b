// Attention on GPUs, forward: fills the holes of attention.wgsl.
#include <bit>
#include <map>

#include "gpu/gpu_backend.hpp"
#include "gpu/text/io.hpp"
#include "gpu/text/printer.hpp"
#include "gpu/text/text.hpp"
#include "primitives/attention/kernels.hpp"

namespace tern::detail_gpu {
namespace {

using detail::AttentionRequest;
using detail::ComputeType;
using detail::StepKind;

constexpr const char* kKernel =
#include "primitives/attention/attention.wgsl.inc"
    ;
constexpr int kTile = 32, kEach = 4, kApart = kTile / kEach;  // an invocation has every eighth column, four of 32
constexpr std::uint32_t kThreads = 256;

/// The formula of the scores, with its operands among a plan's accesses.
class Scores {
 public:
  Scores(Plan& plan, const detail::Program* program, std::span<const Operand> inputs, int placed)
      : program_(program), placed_(placed) {
    if (!program) return;
    for (const detail::ProgramOutput& o : program->outputs) wanted_.push_back(o.step);
    sources_ = detail_gpu::sources_of(*program, wanted_, [this](int s) { return is_source(s); });
    for (const int s : sources_) {
      if (is_placed(s) || step(s).kind == StepKind::position) continue;
      const View& view = inputs[static_cast<std::size_t>(step(s).index - placed)].view;
      accesses_[s] = plan.add_access(view, {view.strides.begin(), view.strides.end()}, false);
    }
    std::vector<Operand> all(static_cast<std::size_t>(placed));
    all.insert(all.end(), inputs.begin(), inputs.end());
    slots_ = plan.add_numbers(*program, all, 1);
  }
  Function function(const Dialect& dialect, const std::string& name) const {
    return ProgramPrinter(*program_, dialect, slots_).function(name, wanted_, [this](int s) { return is_source(s); });
  }
  /// Lines that apply the function to `placed` values at [batch, head, row, column], and the name of the result.
  std::string apply(Io& io, const Dialect& dialect, const Function& f, const std::vector<std::string>& placed,
                    const std::vector<std::string>& at, std::string& result) const {
    std::string lines;
    std::vector<std::string> arguments;
    for (const int s : f.sources) {
      if (is_placed(s)) arguments.push_back(placed[static_cast<std::size_t>(step(s).index)]);
      else if (step(s).kind == StepKind::position) {
        const int axis = step(s).index < 0 ? step(s).index + 4 : step(s).index;
        arguments.push_back(cat("bitcast<i32>(", at[static_cast<std::size_t>(axis)], ")"));
      } else {
        std::vector<std::string> values;
        lines += io.load(accesses_.at(s), {at, -1, 1}, values);
        arguments.push_back(values[0]);
      }
    }
    const std::string value = io.unique("y");
    lines += cat("let ", value, " = ", dialect.call(f.name, arguments), ";\n");
    result = ProgramPrinter::result(f, value, 0);
    return lines;
  }

 private:
  const detail::Step& step(int s) const { return program_->steps[static_cast<std::size_t>(s)]; }
  bool is_source(int s) const { return step(s).kind == StepKind::input || step(s).kind == StepKind::position; }
  bool is_placed(int s) const { return step(s).kind == StepKind::input && step(s).index < placed_; }
  const detail::Program* program_;
  int placed_;
  std::vector<int> wanted_, sources_, slots_;
  std::map<int, int> accesses_;
};

struct Slots {
  int rows, columns, depth, width, heads, groups, tiles, shift, window, scale;
};

class Forward {
 public:
  Forward(GpuBackend& backend, const AttentionRequest& r)
      : backend_(backend), r_(r), plan_(backend.limits(), r.op, 'A'), slots_(add_sizes()), q_(add(r.q)), k_(add(r.k)),
        v_(add(r.v)), out_(add(r.out, true)), logs_(r.logsumexp.storage ? add(r.logsumexp, true) : -1),
        lengths_(r.lengths.storage ? add(r.lengths) : -1), scores_(plan_, r.program, r.inputs, 1) {}

  void run() {
    if (plan_.access(out_).size() < 4) plan_.merge_parts(out_);
    std::vector<ByteRange> touched;
    for (const Access& a : plan_.accesses) touched.push_back(bytes_touched(*a.view, sizes_of(a)));
    plan_.bind(touched);
    plan_.note(r_.program ? r_.program->serial : 0), plan_.note(r_.q.dtype);
    plan_.note(static_cast<char>(r_.sizes.causal)), plan_.note(static_cast<char>(r_.sizes.window > 0));
    plan_.note(static_cast<char>(lengths_ >= 0)), plan_.note(static_cast<char>(logs_ >= 0));
    plan_.note(static_cast<std::int32_t>(ceil_div(r_.sizes.width, kTile)));
    plan_.finish_key();
    plan_.launch.groups = static_cast<std::uint64_t>(r_.sizes.batch * r_.sizes.heads * ceil_div(r_.sizes.rows, kTile));
    plan_.launch.threads = kThreads;
    backend_.queue(plan_.launch, [&] { return text(); });
  }

 private:
  Slots add_sizes() {
    const detail::AttentionSizes& s = r_.sizes;
    const auto p = [&](std::int64_t n) { return plan_.add_param(static_cast<std::uint64_t>(n)); };
    Slots slots{p(s.rows), p(s.columns), p(s.depth), p(s.width), p(s.heads), p(s.groups), p(ceil_div(s.rows, kTile)),
                p(s.columns - s.rows), p(s.window), 0};
    if (type() == ComputeType::f64) {
      const auto bits = std::bit_cast<std::uint64_t>(s.scale);
      slots.scale = plan_.add_param(bits & 0xffffffffu), plan_.add_param(bits >> 32);
    } else slots.scale = plan_.add_param(std::bit_cast<std::uint32_t>(static_cast<float>(s.scale)));
    return slots;
  }
  int add(const View& view, bool written = false) {
    return plan_.add_access(view, {view.strides.begin(), view.strides.end()}, written);
  }
  std::vector<std::int64_t> sizes_of(const Access& a) const {
    const detail::AttentionSizes& s = r_.sizes;
    const Shape shape = a.view == &r_.q                                 ? s.of_q()
                        : a.view == &r_.k                               ? s.of_k()
                        : a.view == &r_.v                               ? s.of_v()
                        : a.view == &r_.out                             ? s.of_result()
                        : a.view == &r_.logsumexp                       ? s.of_rows()
                        : a.view == &r_.lengths                         ? Shape{s.batch}
                                                                        : s.of_scores();
    return {shape.begin(), shape.end()};
  }
  ComputeType type() const { return detail::compute_type_of(r_.q.dtype); }
  std::string p(int slot) const { return backend_.dialect().param(slot); }

  std::string fetch(Io& io, int access, const std::vector<std::string>& at, const std::string& to) const {
    std::vector<std::string> values;
    const std::string lines = io.load(access, {at, -1, 1}, values);
    return lines + to + " = " + values[0] + ";\n";
  }
  /// Which columns the rows of a tile may see: the same for all invocations, as barriers ask.
  std::string range() const {
    const detail::AttentionSizes& s = r_.sizes;
    std::string lines = cat("let first_middle = bitcast<i32>(first_row) + bitcast<i32>(", p(slots_.shift), ");\n");
    const std::string columns = cat("bitcast<i32>(", p(slots_.columns), ")"), window = cat("bitcast<i32>(", p(slots_.window), ")");
    if (s.window > 0)
      lines += cat("begin = u32(clamp(first_middle - ", window, " + 1, 0, ", columns, ")) / 32u * 32u;\n");
    if (s.causal || s.window > 0)
      lines += cat("end = u32(clamp(first_middle + 32", s.causal ? "" : cat(" + ", window), ", 0, ", columns, "));\n");
    return s.causal || s.window > 0 ? lines : "";
  }
  std::string seen(int c) const {
    const std::string column = cat("column", c);
    std::string all = cat("(", column, " < ", lengths_ >= 0 ? std::string("length") : p(slots_.columns), ")");
    const std::string j = cat("bitcast<i32>(", column, ")");
    if (r_.sizes.causal) all += cat(" && (", j, " <= middle)");
    if (r_.sizes.window > 0)
      all += cat(" && (abs(middle - ", j, ") < bitcast<i32>(", p(slots_.window), "))");
    return all;
  }
  std::string text() const {
    const Dialect& d = backend_.dialect();
    Io io(plan_, d);
    const std::string t = compute_type_name(type());
    Holes h{{"type", t}, {"barrier", d.barrier()}, {"lowest", extreme_literal(false, type())},
            {"rows", p(slots_.rows)}, {"columns", p(slots_.columns)}, {"depth", p(slots_.depth)},
            {"width", p(slots_.width)}, {"heads", p(slots_.heads)}, {"groups", p(slots_.groups)},
            {"tiles", p(slots_.tiles)}, {"shift", p(slots_.shift)}, {"each", "0 1 2 3"},
            {"exp", d.leaf(detail::Leaf::exp, type(), {kFirst})}, {"range", range()}};
    h["scale"] = type() == ComputeType::f64 ? cat("tern_join(", p(slots_.scale), ", ", p(slots_.scale + 1), ")")
                                            : cat("bitcast<f32>(", p(slots_.scale), ")");
    h["length"] = lengths_ < 0 ? "" : fetch(io, lengths_, {"batch"}, "let length_of");
    if (lengths_ >= 0) h["length"] += "let length = u32(max(length_of, 0));\n";
    h["fetch_q"] = fetch(io, q_, {"batch", "head", "q_row", "depth_at"}, "side_a[r * 33u + (i & 31u)]");
    h["fetch_k"] = fetch(io, k_, {"batch", "key_head", "k_row", "depth_at"}, "side_b[r * 33u + (i & 31u)]");
    h["fetch_v"] = fetch(io, v_, {"batch", "key_head", "v_row", "width_at"}, "side_b[i / 32u * 33u + (i & 31u)]");
    fill_sums(io, h);
    std::string functions;
    for (int c = 0; c < kEach; ++c) {
      h[cat("seen_", c)] = seen(c);
      if (!r_.program) {
        h[cat("score_", c)] = "";
        continue;
      }
      const Function f = scores_.function(d, "score_of");
      functions = f.text;
      std::string result;
      std::string lines = scores_.apply(io, d, f, {cat("s", c)}, {"batch", "head", "own_row", cat("at", c)}, result);
      h[cat("score_", c)] = lines + cat("s", c, " = ", result, ";\n");
    }
    return d.module({"attention, 32 rows at a time", plan_.launch.bindings, plan_.launch.params.size(), kThreads,
                     {{t, "side_a", kTile * 33}, {t, "side_b", kTile * 33}, {t, "shares", kTile * 33}},
                     functions, fill_holes(kKernel, h)});
  }
  void fill_sums(Io& io, Holes& h) const {
    const int wides = static_cast<int>(ceil_div(r_.sizes.width, kTile));
    std::string all, list, stores;
    for (int w = 0; w < wides; ++w) {
      list += cat(w ? " " : "", w);
      std::string adds;
      for (int c = 0; c < kEach; ++c) {
        const int e = w * kEach + c, across = w * kTile + c * kApart;
        all += cat(e ? " " : "", e);
        adds += cat("acc", e, " += p * side_b[i * 33u + tx + ", c * kApart, "u];\n");
        const std::string at = cat("(tx + ", across, "u)");
        stores += cat("if (", at, " < ", p(slots_.width), ") {\n",
                      indented(io.store(out_, {{"batch", "head", "row", at}, -1, 1}, {cat("(acc", e, " * inverse)")}, "")),
                      "}\n");
      }
      h[cat("add_", w)] = adds;
    }
    h["all_sums"] = all, h["wides"] = list, h["store_sums"] = stores;
    h["store_logsumexp"] =
        logs_ < 0 ? ""
                  : cat("if (tx == 0u) {\n",
                        indented("let logs = top + " + backend_.dialect().leaf(detail::Leaf::log, type(), {"total"}) +
                                 ";\n" + io.store(logs_, {{"batch", "head", "row"}, -1, 1}, {"logs"}, "")),
                        "}\n");
  }

  GpuBackend& backend_;
  const AttentionRequest& r_;
  Plan plan_;
  Slots slots_;
  int q_, k_, v_, out_, logs_, lengths_;
  Scores scores_;
};

}  // namespace

void attention_on_gpu(GpuBackend& backend, const AttentionRequest& r) {
  backend.run_prepared(r, [&] {
    backend.require_supported(r.op, r.q.dtype);
    if (r.program) backend.require_supported(r.op, *r.program);
    if (r.sizes.of_result().numel() == 0) return;
    Forward(backend, r).run();
  });
}

}  // namespace tern::detail_gpu
