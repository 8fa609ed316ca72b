// The gradients of attention on GPUs: fills the holes of attention_backward.wgsl, once for q and once for k and v.
#include <optional>

#include "primitives/attention/gpu_scores.hpp"
#include "primitives/attention/kernels.hpp"

namespace tern::detail_gpu {
namespace {

using detail::AttentionBackwardRequest;
using detail::ComputeType;

constexpr const char* kScalarBackward =
#include "primitives/attention/attention_backward.wgsl.inc"
    ;

/// One of the two kernels: of rows (q's gradient), or of columns (those of k and v).
class Backward {
 public:
  Backward(GpuBackend& backend, const AttentionBackwardRequest& r, bool of_rows)
      : backend_(backend),
        r_(r),
        s_(r.sizes),
        of_rows_(of_rows),
        plan_(backend.limits(), r.op, of_rows ? 'Q' : 'K'),
        slots_(plan_, backend.dialect(), s_, type(), tiles()),
        q_(add(r.q, s_.of_q())),
        k_(add(r.k, s_.of_k())),
        v_(add(r.v, s_.of_v())),
        out_(add(r.out_grad, s_.of_result())),
        tops_(add(r.tops, s_.of_rows())),
        totals_(add(r.totals, s_.of_rows())),
        means_(add(r.means, s_.of_rows())),
        lengths_(r.lengths.storage ? add(r.lengths, Shape{s_.batch}) : -1),
        blocks_(r.blocks.storage ? add(r.blocks, s_.of_blocks()) : -1) {
    if (of_rows) add_sum(r.q_grad, s_.of_q(), s_.depth);
    else add_sum(r.k_grad, s_.of_k(), s_.depth), add_sum(r.v_grad, s_.of_v(), s_.width);
    const auto first = plan_.accesses.size();
    scores_.emplace(plan_, r.programs.score, r.programs.open, r.inputs, 1);
    thin_.emplace(plan_, r.programs.thin, r.inputs, 1);
    slope_.emplace(plan_, r.slope, r.open_slope, r.slope_inputs, 2);
    const Shape space = s_.of_scores();
    for (auto i = first; i < plan_.accesses.size(); ++i) sizes_.push_back({space.begin(), space.end()});
  }

  void run() {
    std::vector<ByteRange> touched;
    for (std::size_t i = 0; i < plan_.accesses.size(); ++i)
      touched.push_back(bytes_touched(*plan_.accesses[i].view, sizes_[i]));
    plan_.bind(touched);
    for (const detail::Program* p : {r_.programs.score, r_.programs.open, r_.programs.thin, r_.slope, r_.open_slope})
      plan_.note(p ? p->serial : 0);
    plan_.note(r_.q.dtype), plan_.note(static_cast<char>(blocks_ >= 0)), plan_.note(static_cast<char>(lengths_ >= 0));
    for (const Sum& sum : sums_) plan_.note(static_cast<std::int32_t>(sum.wides));
    plan_.finish_key();
    plan_.launch.groups = static_cast<std::uint64_t>(s_.batch * (of_rows_ ? s_.heads : s_.groups) * tiles());
    plan_.launch.threads = kScoreThreads;
    backend_.queue(plan_.launch, [&] { return text(); });
  }

 private:
  /// A gradient: its access and how many times 32 elements a row has.
  struct Sum {
    int access;
    std::int64_t size, wides;
  };
  ComputeType type() const { return detail::compute_type_of(r_.q.dtype); }
  std::int64_t tiles() const { return ceil_div(of_rows_ ? s_.rows : s_.columns, kScoreTile); }
  int add(const View& view, const Shape& shape, bool written = false) {
    sizes_.push_back({shape.begin(), shape.end()});
    return add_whole(plan_, view, written);
  }
  void add_sum(const View& view, const Shape& shape, std::int64_t size) {
    sums_.push_back({add(view, shape, true), size, ceil_div(size, kScoreTile)});
    if (plan_.access(sums_.back().access).size() < 4) plan_.merge_parts(sums_.back().access);
  }

  std::string text() const {
    const Dialect& d = backend_.dialect();
    Io io(plan_, d);
    Holes h = slots_.holes();
    const auto p = [&](int slot) { return slots_.p(slot); };
    const std::string shared = cat("(", p(slots_.heads), " / ", p(slots_.groups), ")");
    h["own_heads"] = p(of_rows_ ? slots_.heads : slots_.groups);
    h["own_count"] = p(of_rows_ ? slots_.rows : slots_.columns);
    h["other_count"] = p(of_rows_ ? slots_.columns : slots_.rows);
    h["turns"] = of_rows_ ? "1u" : shared;
    h["head"] = of_rows_ ? std::string("own_head") : cat("own_head * ", shared, " + turn");
    h["key_head"] = of_rows_ ? cat("own_head / ", shared) : std::string("own_head");
    h["range"] = of_rows_ ? slots_.columns_of("first_own") : slots_.rows_of("first_own");
    h["length"] = length_lines(io, lengths_, slots_.p(slots_.columns));
    h["block"] =
        block_lines(io, d, blocks_, of_rows_ ? "first_own" : "first_other", of_rows_ ? "first_other" : "first_own");
    const auto fetch = [&](int access, const char* head, const char* at, const char* side) {
      return fetch_to(io, access, {"batch", head, at, "across"}, cat(side, "[i / 32u * 33u + (i & 31u)]"));
    };
    const char *const of_q = of_rows_ ? "own_at" : "other_at", *const of_k = of_rows_ ? "other_at" : "own_at";
    const char *const q_side = of_rows_ ? "side_a" : "side_b", *const k_side = of_rows_ ? "side_b" : "side_a";
    h[of_rows_ ? "fetch_own" : "fetch_other"] = fetch(q_, "head", of_q, q_side);
    h[of_rows_ ? "fetch_other" : "fetch_own"] = fetch(k_, "key_head", of_k, k_side);
    h[of_rows_ ? "fetch_own_value" : "fetch_other_value"] = fetch(out_, "head", of_q, q_side);
    h[of_rows_ ? "fetch_other_value" : "fetch_own_value"] = fetch(v_, "key_head", of_k, k_side);
    fill_scores(io, h);
    fill_sums(io, h);
    const std::string t = compute_type_name(type());
    constexpr int kSide = kScoreTile * (kScoreTile + 1);
    std::vector<Shared> sides{{t, "side_a", kSide}, {t, "side_b", kSide}, {t, "shares", kSide}, {t, "slopes", kSide}};
    if (blocks_ >= 0) sides.push_back({"u32", "blocks_seen", 1});
    return d.module(
        {cat("gradients of attention, ", of_rows_ ? "of q" : "of k and v"), plan_.launch.bindings,
         plan_.launch.params.size(), kScoreThreads, sides,
         scores_->functions(d, "score_of") + slope_->functions(d, "slope_of") + thin_->functions(d, "left_of"),
         fill_holes(kScalarBackward, h)});
  }
  /// What is done with each of the scores of an invocation.
  void fill_scores(Io& io, Holes& h) const {
    const Dialect& d = backend_.dialect();
    for (int c = 0; c < kScoresEach; ++c) {
      h[cat("row_", c)] = of_rows_ ? std::string("own") : cat("other", c);
      h[cat("column_", c)] = of_rows_ ? cat("other", c) : std::string("own");
      const std::vector<std::string> at{"batch", "head", cat("row_at", c), cat("column_at", c)};
      const std::string product = cat("product", c), toward = cat("toward", c), score = cat("score", c),
                        slope = cat("slope", c), kept = cat("kept", c), incoming = cat("g", c);
      h[cat("score_", c)] =
          cat("var ", score, " = ", product, ";\n", scores_->apply(io, d, "score_of", {product}, at, score));
      h[cat("slope_", c)] =
          cat("var ", slope, " = ", toward, ";\n", slope_->apply(io, d, "slope_of", {product, toward}, at, slope));
      h[cat("thin_", c)] = cat("var ", kept, " = share", c, ";\n", thin_->apply(io, d, "left_of", {kept}, at, kept),
                               thin_->apply(io, d, "left_of", {incoming}, at, incoming));
      h[cat("load_row_", c)] = fetch_to(io, tops_, {at[0], at[1], at[2]}, cat("let top", c)) +
                               fetch_to(io, totals_, {at[0], at[1], at[2]}, cat("let total", c)) +
                               fetch_to(io, means_, {at[0], at[1], at[2]}, cat("let means", c));
      h[cat("seen_", c)] = slots_.seen(cat("column", c), cat("middle", c), lengths_ >= 0);
    }
  }
  /// The products that give the gradients, and their stores.
  void fill_sums(Io& io, Holes& h) const {
    std::string all, multiply, stores;
    int e = 0;
    for (std::size_t k = 0; k < sums_.size(); ++k) {
      const Sum& sum = sums_[k];
      const bool of_v = k == 1;
      const int access = of_rows_ ? k_ : of_v ? out_ : q_;
      const std::string size = slots_.p(of_v ? slots_.width : slots_.depth);
      for (std::int64_t w = 0; w < sum.wides; ++w) {
        std::string adds;
        for (int c = 0; c < kScoresEach; ++c, ++e) {
          const std::int64_t across = w * kScoreTile + c * kScoresApart;
          all += cat(e ? " " : "", e);
          adds += cat("acc", e, " += p * side_b[i * 33u + tx + ", c * kScoresApart, "u];\n");
          const std::string at = cat("(tx + ", across, "u)");
          const std::string value = of_v ? cat("acc", e) : cat("(acc", e, " * ", slots_.scaling(), ")");
          stores += cat("if (", at, " < ", size, ") {\n",
                        indented(io.store(sum.access, {{"batch", "own_head", "own", at}, -1, 1}, {value}, "")), "}\n");
        }
        const std::string fetch = fetch_to(io, access, {"batch", of_rows_ ? "key_head" : "head", "other_at", "across"},
                                           "side_b[i / 32u * 33u + (i & 31u)]");
        multiply +=
            cat("$barrier\nfor (var i = thread; i < 1024u; i += 256u) {\n  let other_at = first_other + i / 32u;\n",
                "  let across = ", w * kScoreTile, "u + (i & 31u);\n",
                "  side_b[i / 32u * 33u + (i & 31u)] = $type(0.0);\n  if (other_at < $other_count && across < ", size,
                ") {\n", indented(indented(fetch)), "  }\n}\n$barrier\n",
                "for (var i = 0u; i < 32u; i += 1u) {\n  let p = ", of_v ? "shares" : "slopes", "[ty * 33u + i];\n",
                indented(adds), "}\n");
      }
    }
    h["all_sums"] = all, h["multiply"] = multiply, h["store_sums"] = stores;
  }

  GpuBackend& backend_;
  const AttentionBackwardRequest& r_;
  const detail::AttentionSizes& s_;
  bool of_rows_;
  Plan plan_;
  ScoreSizes slots_;
  std::vector<std::vector<std::int64_t>> sizes_;  // of each access
  int q_, k_, v_, out_, tops_, totals_, means_, lengths_, blocks_;
  std::vector<Sum> sums_;
  std::optional<ScorePair> scores_, thin_, slope_;
};

}  // namespace

void attention_backward_on_gpu(GpuBackend& backend, const AttentionBackwardRequest& r) {
  backend.run_prepared(r, [&] {
    backend.require_supported(r.op, r.q.dtype);
    for (const detail::Program* p : {r.programs.score, r.programs.open, r.programs.thin, r.slope, r.open_slope})
      if (p) backend.require_supported(r.op, *p);
    Backward(backend, r, true).run();
    Backward(backend, r, false).run();
  });
}

}  // namespace tern::detail_gpu
