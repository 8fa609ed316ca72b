// Attention on GPUs, forward: fills the holes of attention.wgsl.
#include "primitives/attention/gpu_scores.hpp"
#include "primitives/attention/kernels.hpp"

namespace tern::detail_gpu {
namespace {

using detail::AttentionRequest;
using detail::ComputeType;

constexpr const char* kScalarForward =
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
        blocks_(r.blocks.storage ? add_whole(plan_, r.blocks) : -1),
        scores_(plan_, r.programs.score, r.programs.open, r.inputs, 1),
        thin_(plan_, r.programs.thin, r.inputs, 1) {}

  void run() {
    if (plan_.access(out_).size() < 4) plan_.merge_parts(out_);
    std::vector<ByteRange> touched;
    for (const Access& a : plan_.accesses) touched.push_back(bytes_touched(*a.view, sizes_of(a)));
    plan_.bind(touched);
    for (const detail::Program* p : {r_.programs.score, r_.programs.open, r_.programs.thin})
      plan_.note(p ? p->serial : 0);
    plan_.note(r_.q.dtype), plan_.note(static_cast<char>(blocks_ >= 0));
    plan_.note(static_cast<char>(lengths_ >= 0)), plan_.note(static_cast<char>(tops_ >= 0));
    plan_.note(static_cast<std::int32_t>(ceil_div(r_.sizes.width, kScoreTile)));
    plan_.finish_key();
    plan_.launch.groups =
        static_cast<std::uint64_t>(r_.sizes.of_rows().numel() / r_.sizes.rows * ceil_div(r_.sizes.rows, kScoreTile));
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
                        : a.view == &r_.blocks                       ? s.of_blocks()
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
    h["part"] = slots_.part_lines("group"), h["range"] = slots_.columns_of("first_row");
    h["length"] = length_lines(io, lengths_, slots_.p(slots_.columns)),
    h["block"] = block_lines(io, d, blocks_, "first_row", "column");
    h["fetch_q"] = fetch_to(io, q_, {"batch", "head", "q_row", "depth_at"}, "side_a[r * 33u + (i & 31u)]");
    h["fetch_k"] = fetch_to(io, k_, {"batch", "key_head", "k_row", "depth_at"}, "side_b[r * 33u + (i & 31u)]");
    h["fetch_v"] = fetch_to(io, v_, {"batch", "key_head", "v_row", "width_at"}, "side_b[i / 32u * 33u + (i & 31u)]");
    fill_sums(io, h);
    for (int c = 0; c < kScoresEach; ++c) {
      const std::string s = cat("s", c);
      h[cat("seen_", c)] = slots_.seen(cat("column", c), "middle", lengths_ >= 0);
      h[cat("score_", c)] = scores_.apply(io, d, "score_of", {s}, {"batch", "head", "own_row", cat("at", c)}, s);
    }
    fill_thin(io, h);
    return d.module({"attention, 32 rows at a time", plan_.launch.bindings, plan_.launch.params.size(), kScoreThreads,
                     shared(t), scores_.functions(d, "score_of") + thin_.functions(d, "left_of"),
                     fill_holes(kScalarForward, h)});
  }
  std::vector<Shared> shared(const std::string& t) const {
    std::vector<Shared> all{
        {t, "side_a", kScoreTile * 33}, {t, "side_b", kScoreTile * 33}, {t, "shares", kScoreTile * 33}};
    if (blocks_ >= 0) all.push_back({"u32", "blocks_seen", 1});
    return all;
  }
  /// Dropout of the shares, when their sums are known.
  void fill_thin(Io& io, Holes& h) const {
    const Dialect& d = backend_.dialect();
    std::string& lines = h["thin"];
    if (!thin_.defined()) return;
    lines = d.barrier();
    for (int c = 0; c < kScoresEach; ++c) {
      const std::string share = cat("shares[ty * 33u + tx + ", c * kScoresApart, "u]"), at = cat("at", c);
      lines += thin_.apply(io, d, "left_of", {share}, {"batch", "head", "own_row", at}, share);
    }
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
        stores += cat("if (", at, " < ", p(slots_.width), ") {\n",
                      indented(io.store(out_, {{slots_.out_batch(), "head", "row", at}, -1, 1},
                                        {cat("(acc", e, " * inverse)")}, "")),
                      "}\n");
      }
      h[cat("add_", w)] = adds;
    }
    h["all_sums"] = all, h["wides"] = list, h["store_sums"] = stores;
    if (tops_ < 0) h["store_top"] = "";
    else
      h["store_top"] = cat("if (tx == 0u) {\n",
                           indented(io.store(tops_, {{slots_.out_batch(), "head", "row"}, -1, 1}, {"top"}, "") +
                                    io.store(totals_, {{slots_.out_batch(), "head", "row"}, -1, 1}, {"total"}, "")),
                           "}\n");
  }

  GpuBackend& backend_;
  const AttentionRequest& r_;
  Plan plan_;
  ScoreSizes slots_;
  int q_, k_, v_, out_, tops_, totals_, lengths_, blocks_;
  ScorePair scores_, thin_;
};

}  // namespace

void attention_on_gpu(GpuBackend& backend, const AttentionRequest& r) {
  backend.run_prepared(r, [&] {
    backend.require_supported(r.op, r.q.dtype);
    for (const detail::Program* p : {r.programs.score, r.programs.open, r.programs.thin})
      if (p) backend.require_supported(r.op, *p);
    if (r.sizes.of_result().numel() == 0) return;
    Forward(backend, r).run();
  });
}

}  // namespace tern::detail_gpu
