// Attention on GPUs, forward: fills the holes of attention.wgsl.
#include "primitives/attention/gpu_scores.hpp"
#include "primitives/attention/kernels.hpp"

namespace tern::detail_gpu {
namespace {

using detail::AttentionRequest;
using detail::ComputeType;

constexpr const char* kKernel =
#include "primitives/attention/attention.wgsl.inc"
    ;

class Forward {
 public:
  Forward(GpuBackend& backend, const AttentionRequest& r)
      : backend_(backend),
        r_(r),
        plan_(backend.limits(), r.op, 'A'),
        slots_(plan_, backend.dialect(), r.sizes, type(), ceil_div(r.sizes.rows, kScoreTile)),
        q_(add_whole(plan_, r.q)),
        k_(add_whole(plan_, r.k)),
        v_(add_whole(plan_, r.v)),
        out_(add_whole(plan_, r.out, true)),
        tops_(r.tops.storage ? add_whole(plan_, r.tops, true) : -1),
        totals_(r.tops.storage ? add_whole(plan_, r.totals, true) : -1),
        lengths_(r.lengths.storage ? add_whole(plan_, r.lengths) : -1),
        scores_(plan_, r.program, r.inputs, 1) {}

  void run() {
    if (plan_.access(out_).size() < 4) plan_.merge_parts(out_);
    std::vector<ByteRange> touched;
    for (const Access& a : plan_.accesses) touched.push_back(bytes_touched(*a.view, sizes_of(a)));
    plan_.bind(touched);
    plan_.note(r_.program ? r_.program->serial : 0), plan_.note(r_.q.dtype);
    plan_.note(static_cast<char>(lengths_ >= 0)), plan_.note(static_cast<char>(tops_ >= 0));
    plan_.note(static_cast<std::int32_t>(ceil_div(r_.sizes.width, kScoreTile)));
    plan_.finish_key();
    plan_.launch.groups =
        static_cast<std::uint64_t>(r_.sizes.batch * r_.sizes.heads * ceil_div(r_.sizes.rows, kScoreTile));
    plan_.launch.threads = kScoreThreads;
    backend_.queue(plan_.launch, [&] { return text(); });
  }

 private:
  std::vector<std::int64_t> sizes_of(const Access& a) const {
    const detail::AttentionSizes& s = r_.sizes;
    const Shape shape = a.view == &r_.q                              ? s.of_q()
                        : a.view == &r_.k                            ? s.of_k()
                        : a.view == &r_.v                            ? s.of_v()
                        : a.view == &r_.out                          ? s.of_result()
                        : a.view == &r_.tops || a.view == &r_.totals ? s.of_rows()
                        : a.view == &r_.lengths                      ? Shape{s.batch}
                                                                     : s.of_scores();
    return {shape.begin(), shape.end()};
  }
  ComputeType type() const { return detail::compute_type_of(r_.q.dtype); }
  std::string p(int slot) const { return backend_.dialect().param(slot); }

  std::string text() const {
    const Dialect& d = backend_.dialect();
    Io io(plan_, d);
    const std::string t = compute_type_name(type());
    Holes h = slots_.holes();
    h["range"] = slots_.columns_of("first_row"), h["length"] = length_lines(io, lengths_);
    h["fetch_q"] = fetch_to(io, q_, {"batch", "head", "q_row", "depth_at"}, "side_a[r * 33u + (i & 31u)]");
    h["fetch_k"] = fetch_to(io, k_, {"batch", "key_head", "k_row", "depth_at"}, "side_b[r * 33u + (i & 31u)]");
    h["fetch_v"] = fetch_to(io, v_, {"batch", "key_head", "v_row", "width_at"}, "side_b[i / 32u * 33u + (i & 31u)]");
    fill_sums(io, h);
    std::string functions;
    for (int c = 0; c < kScoresEach; ++c) {
      h[cat("seen_", c)] = slots_.seen(cat("column", c), "middle", lengths_ >= 0);
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
    return d.module({"attention, 32 rows at a time",
                     plan_.launch.bindings,
                     plan_.launch.params.size(),
                     kScoreThreads,
                     {{t, "side_a", kScoreTile * 33}, {t, "side_b", kScoreTile * 33}, {t, "shares", kScoreTile * 33}},
                     functions,
                     fill_holes(kKernel, h)});
  }
  void fill_sums(Io& io, Holes& h) const {
    const int wides = static_cast<int>(ceil_div(r_.sizes.width, kScoreTile));
    std::string all, list, stores;
    for (int w = 0; w < wides; ++w) {
      list += cat(w ? " " : "", w);
      std::string adds;
      for (int c = 0; c < kScoresEach; ++c) {
        const int e = w * kScoresEach + c, across = w * kScoreTile + c * kScoresApart;
        all += cat(e ? " " : "", e);
        adds += cat("acc", e, " += p * side_b[i * 33u + tx + ", c * kScoresApart, "u];\n");
        const std::string at = cat("(tx + ", across, "u)");
        stores +=
            cat("if (", at, " < ", p(slots_.width), ") {\n",
                indented(io.store(out_, {{"batch", "head", "row", at}, -1, 1}, {cat("(acc", e, " * inverse)")}, "")),
                "}\n");
      }
      h[cat("add_", w)] = adds;
    }
    h["all_sums"] = all, h["wides"] = list, h["store_sums"] = stores;
    if (tops_ < 0) h["store_top"] = "";
    else
      h["store_top"] = cat("if (tx == 0u) {\n",
                           indented(io.store(tops_, {{"batch", "head", "row"}, -1, 1}, {"top"}, "") +
                                    io.store(totals_, {{"batch", "head", "row"}, -1, 1}, {"total"}, "")),
                           "}\n");
  }

  GpuBackend& backend_;
  const AttentionRequest& r_;
  Plan plan_;
  ScoreSizes slots_;
  int q_, k_, v_, out_, tops_, totals_, lengths_;
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
