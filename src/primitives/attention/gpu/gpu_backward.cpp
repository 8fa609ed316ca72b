// The gradients of attention on GPUs: fills the holes of attention_backward.wgsl, once for q and once for k and v.
#include <optional>

#include "primitives/attention/gpu/gpu_scores.hpp"
#include "primitives/attention/gpu/gpu_tiles.hpp"
#include "primitives/attention/kernels.hpp"

namespace tern::detail_gpu {
namespace {

using detail::AttentionBackwardRequest;
using detail::ComputeType;

constexpr const char* kTiledBackward =
#include "primitives/attention/gpu/attention_backward.wgsl.inc"
    ;

/// One of the two kernels: of rows (q's gradient), or of columns (those of k and v).
class GpuBackward {
 public:
  GpuBackward(GpuBackend& backend, const AttentionBackwardRequest& r, bool of_rows)
      : backend_(backend),
        r_(r),
        s_(r.sizes),
        of_rows_(of_rows),
        tile_(backward_tile(backend.limits(), s_, type(), of_rows, r.blocks.storage != nullptr)),
        plan_(backend.limits(), r.op, of_rows ? 'Q' : 'K'),
        slots_(plan_, backend.dialect(), s_, type(), tiles()),
        q_(read(r.q, s_.of_q())),
        k_(read(r.k, s_.of_k())),
        v_(read(r.v, s_.of_v())),
        out_(read(r.out_grad, s_.of_result())),
        tops_(add(r.tops, s_.of_rows())),
        totals_(add(r.totals, s_.of_rows())),
        means_(add(r.means, s_.of_rows())),
        lengths_(r.lengths.storage ? add(r.lengths, Shape{s_.batch}) : -1),
        blocks_(r.blocks.storage ? add(r.blocks, s_.of_blocks()) : -1) {
    if (of_rows) add_sum(r.q_grad, s_.of_q(), s_.depth, "acc");
    else add_sum(r.k_grad, s_.of_k(), s_.depth, "acc"), add_sum(r.v_grad, s_.of_v(), s_.width, "sum");
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
    choose_access();
    for (const detail::Program* p : {r_.programs.score, r_.programs.open, r_.programs.thin, r_.slope, r_.open_slope})
      plan_.note(p ? p->serial : 0);
    plan_.note(r_.q.dtype), plan_.note(static_cast<char>(blocks_ >= 0)), plan_.note(static_cast<char>(lengths_ >= 0));
    for (const Sum& sum : sums_) {
      plan_.note(static_cast<std::int32_t>(tile_.sums(sum.size)));
      plan_.note(static_cast<char>(sum.size % 4 == 0));
    }
    for (const OperandRead* read : {&q_, &k_, &v_, &out_})
      plan_.note(static_cast<char>(read->scores)), plan_.note(static_cast<char>(read->sums));
    tile_.note([&](std::int32_t n) { plan_.note(n); });
    plan_.launch.groups = static_cast<std::uint64_t>(s_.batch * (of_rows_ ? s_.heads : s_.groups) * tiles());
    plan_.launch.threads = static_cast<std::uint32_t>(tile_.threads());
    plan_.trust_exact_groups();  // as forward's
    plan_.finish_key();
    backend_.queue(plan_.launch, [&] { return text(); });
  }

 private:
  /// A gradient: its access, the elements of a row, and its sums' name.
  struct Sum {
    int access;
    std::int64_t size;
    const char* name;
  };
  /// An operand, and whether it is fetched by units for scores and for sums.
  struct OperandRead {
    int access = -1;
    bool scores = false, sums = false;
  };
  ComputeType type() const { return detail::compute_type_of(r_.q.dtype); }
  std::int64_t tiles() const { return ceil_div(of_rows_ ? s_.rows : s_.columns, tile_.own); }
  int add(const View& view, const Shape& shape, bool written = false) {
    sizes_.push_back({shape.begin(), shape.end()});
    return add_whole(plan_, view, written);
  }
  OperandRead read(const View& view, const Shape& shape) { return {add(view, shape)}; }
  void add_sum(const View& view, const Shape& shape, std::int64_t size, const char* name) {
    sums_.push_back({add(view, shape, true), size, name});
  }
  void choose_access() {
    const auto choose = [&](OperandRead& of, std::int64_t size) {
      of.scores = in_units_of_scores(plan_, of.access, size, tile_.depth);
      of.sums = in_units_of_scores(plan_, of.access, size, tile_.sums(size));
      if (of.scores || of.sums) plan_.make_wide(of.access);
    };
    choose(q_, s_.depth), choose(k_, s_.depth), choose(v_, s_.width), choose(out_, s_.width);
    for (const Sum& sum : sums_) store_in_vectors(plan_, sum.access, sum.size);
  }

  std::string text() const {
    const Dialect& d = backend_.dialect();
    Io io(plan_, d);
    const ScoreTiles tiles(io, d, plan_, type(), tile_);
    Holes h = slots_.holes();
    const auto p = [&](int slot) { return slots_.p(slot); };
    const std::string shared = cat("(", p(slots_.heads), " / ", p(slots_.groups), ")");
    h["own_heads"] = p(of_rows_ ? slots_.heads : slots_.groups);
    h["own_count"] = p(of_rows_ ? slots_.rows : slots_.columns);
    h["other_count"] = p(of_rows_ ? slots_.columns : slots_.rows);
    h["sharers"] = of_rows_ ? "1u" : shared;
    h["head"] = of_rows_ ? std::string("own_head") : cat("own_head * ", shared, " + sharer");
    h["key_head"] = of_rows_ ? cat("own_head / ", shared) : std::string("own_head");
    h["range"] = of_rows_ ? slots_.columns_of("first_own", tile_.own, detail::kMaskBlock)
                          : slots_.rows_of("first_own", tile_.own, detail::kMaskBlock);
    h["length"] = length_lines(io, lengths_, slots_.p(slots_.columns));
    h["block"] =
        block_lines(io, d, blocks_, of_rows_ ? "first_own" : "first_other", of_rows_ ? "first_other" : "first_own");
    tile_holes(tile_, h);
    fill_products(tiles, h), fill_rows(io, h), fill_scores(io, tiles, h), fill_sums(io, tiles, h);
    std::vector<Shared> sides{{tiles.vector(), "steps", tile_.vectors_of_steps(std::max(s_.depth, s_.width))},
                              {tiles.vector(), "shares", tile_.vectors_of_shares()}};
    if (blocks_ >= 0) sides.push_back({"u32", "blocks_seen", 1});
    return d.module(
        {cat("gradients of attention, ", of_rows_ ? "of q" : "of k and v"), plan_.launch.bindings,
         plan_.launch.params.size(), plan_.launch.threads, sides,
         scores_->functions(d, "score_of") + slope_->functions(d, "slope_of") + thin_->functions(d, "left_of"),
         fill_holes(kTiledBackward, h)});
  }
  /// The products that give scores, and what comes in for their shares.
  void fill_products(const ScoreTiles& tiles, Holes& h) const {
    const auto read = [&](const OperandRead& of, const char* head, bool own) {
      return ScoreTiles::TileRead{of.access,
                                  {"batch", head},
                                  own ? "first_own" : "first_other",
                                  h[own ? "own_count" : "other_count"],
                                  of.scores};
    };
    const auto steps = [&](const OperandRead& of_row, const OperandRead& of_column, const std::string& depth,
                           const char* sums) {
      const ScoreTiles::TileRead row = read(of_row, "head", of_rows_), column = read(of_column, "key_head", !of_rows_);
      return of_rows_ ? tiles.score_steps(row, column, depth, sums) : tiles.score_steps(column, row, depth, sums);
    };
    h["scores"] = tile_sums("s", type(), tile_.part_m, tile_.part_n()) +
                  tile_sums("g", type(), tile_.part_m, tile_.part_n());
    h["score_steps"] = steps(q_, k_, h["depth"], "s"), h["value_steps"] = steps(out_, v_, h["width"], "g");
  }
  /// What is known of a row: in the one kernel of an invocation's own, in the other of the others'.
  void fill_rows(Io& io, Holes& h) const {
    const auto of = [&](const std::string& row, const std::string& c) {
      const std::vector<std::string> at{"batch", "head", row};
      return cat(fetch_to(io, tops_, at, cat("let top", c)), fetch_to(io, totals_, at, cat("let total", c)),
                 fetch_to(io, means_, at, cat("let means", c)), "let inverse", c, " = $type(1.0) / select(total", c,
                 ", $type(1.0), total", c, " == $type(0.0));\n");
    };
    std::string &of_own = h["rows_of_own"], &of_others = h["rows_of_others"];
    if (of_rows_) of_own = of("own_at", "_own");
    for (int c = 0; c < tile_.part_n(); ++c) {
      const std::string name = of_rows_ ? std::string("_own") : cat(c);
      if (!of_rows_)
        of_others += cat("let row_of", c, " = min(first_other + $column_", c, ", $other_count - 1u);\n",
                         of(cat("row_of", c), name));
      for (const char* what : {"top", "total", "means", "inverse"}) h[cat(what, "_", c)] = cat(what, name);
    }
  }
  /// What is done with each of the scores of an invocation's row.
  void fill_scores(Io& io, const ScoreTiles& tiles, Holes& h) const {
    const Dialect& d = backend_.dialect();
    for (int c = 0; c < tile_.part_n(); ++c) {
      const std::string other = cat("other", c), other_at = cat("other_at", c);
      h[cat("row_", c)] = of_rows_ ? std::string("own") : other;
      const std::string own_at = "own_at", row = of_rows_ ? own_at : other_at, column = of_rows_ ? other_at : own_at;
      const std::vector<std::string> at{"batch", "head", row, column};
      const std::string product = cat("product", c), toward = cat("toward", c), score = cat("score", c),
                        slope = cat("slope", c), kept = cat("kept", c), incoming = cat("g", c);
      h[cat("column_", c)] = tiles.column(c);
      h[cat("first_", c)] = tiles.element("s0_", c), h[cat("incoming_", c)] = tiles.element("g0_", c);
      h[cat("score_", c)] =
          cat("var ", score, " = ", product, ";\n", scores_->apply(io, d, "score_of", {product}, at, score));
      h[cat("slope_", c)] =
          cat("var ", slope, " = ", toward, ";\n", slope_->apply(io, d, "slope_of", {product, toward}, at, slope));
      h[cat("thin_", c)] = cat("var ", kept, " = share", c, ";\n", thin_->apply(io, d, "left_of", {kept}, at, kept),
                               thin_->apply(io, d, "left_of", {incoming}, at, incoming));
      h[cat("seen_", c)] = slots_.seen(of_rows_ ? other : std::string("own"), cat("middle", c), lengths_ >= 0);
    }
    h["rotate"] = tiles.rotate("s", "kept", "done") + tiles.rotate("g", "masked", "masked_");
  }
  /// The products that give the gradients, and their stores.
  void fill_sums(Io& io, const ScoreTiles& tiles, Holes& h) const {
    std::string &sums = h["sums"], &multiply = h["multiply"], &stores = h["store_sums"], &move_up = h["move_up"];
    for (std::size_t k = sums_.size(); k-- > 0;) {  // v's first: shares are there before slopes
      const Sum& sum = sums_[k];
      const bool of_v = k == 1;
      const OperandRead& of = of_rows_ ? k_ : of_v ? out_ : q_;
      const std::string size = slots_.p(of_v ? slots_.width : slots_.depth);
      // Beyond a sample's length k is not its own: a slope of 0 times what lies there could be NaN.
      const std::string others = of_rows_ && lengths_ >= 0 ? std::string("length") : h["other_count"];
      const int n = tile_.sums_n(sum.size);
      sums += tile_sums(sum.name, type(), tile_.part_m, n), move_up += move_sums_up(sum.name, tile_.part_m, n);
      multiply += tiles.put("shares", of_v ? "s" : "g") +
                  tiles.sum_steps({of.access, {"batch", of_rows_ ? "key_head" : "head"}, "first_other", others,
                                   of.sums}, size, sum.size, sum.name);
      for (int j = 0; j < n / 4; ++j) {
        std::vector<std::string> values;
        for (const char lane : {'x', 'y', 'z', 'w'}) {
          const std::string value = cat(sum.name, "0_", j, ".", lane);
          values.push_back(of_v ? value : cat("(", value, " * ", slots_.scaling(), ")"));
        }
        stores += store_sum(io, sum.access, {"batch", "own_head", "own"}, cat(4 * j * tile_.across, "u + tx * 4u"),
                            values, size, sum.size);
      }
    }
  }

  GpuBackend& backend_;
  const AttentionBackwardRequest& r_;
  const detail::AttentionSizes& s_;
  bool of_rows_;
  const ScoreTile tile_;
  Plan plan_;
  ScoreSizes slots_;
  std::vector<std::vector<std::int64_t>> sizes_;  // of each access
  OperandRead q_, k_, v_, out_;
  int tops_, totals_, means_, lengths_, blocks_;
  std::vector<Sum> sums_;
  std::optional<ScorePair> scores_, thin_, slope_;
};

}  // namespace

void attention_backward_on_gpu(GpuBackend& backend, const AttentionBackwardRequest& r) {
  backend.run_prepared(r, [&] {
    backend.require_supported(r.op, r.q.dtype);
    for (const detail::Program* p : {r.programs.score, r.programs.open, r.programs.thin, r.slope, r.open_slope})
      if (p) backend.require_supported(r.op, *p);
    GpuBackward(backend, r, true).run();
    GpuBackward(backend, r, false).run();
  });
}

}  // namespace tern::detail_gpu
