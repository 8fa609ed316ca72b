// The gradients of attention on tensor cores: fills the holes of attention_mma_rows.cu (of q) and
// attention_mma_columns.cu (of k and v), and of Hopper's attention_wgmma_rows.cu and attention_wgmma_columns.cu.
#include "primitives/attention/cuda/cuda_hopper.hpp"
#include "primitives/attention/cuda/cuda_plan.hpp"

namespace tern::detail_gpu {
namespace {

using detail::AttentionBackwardRequest;

constexpr std::int64_t kElementsOfVector = 8;

constexpr const char* kRowsKernel =
#include "primitives/attention/cuda/attention_mma_rows.cu.inc"
    ;
constexpr const char* kColumnsKernel =
#include "primitives/attention/cuda/attention_mma_columns.cu.inc"
    ;

class MmaBackward : MmaAttention {
 public:
  /// `processors`: of a GPU whose workgroups stay.
  MmaBackward(GpuBackend& backend, const AttentionBackwardRequest& r, GradientOf of, const MmaInstance& instance,
              std::int64_t processors = 0)
      : MmaAttention(backend, r.op, of == GradientOf::q ? 'q' : 'k', r.sizes, r.q.dtype, instance,
                     ceil_div(of == GradientOf::q ? r.sizes.rows : r.sizes.columns, instance.own())),
        r_(r),
        of_(of),
        processors_(processors),
        works_(instance.consumers ? plan_.add_param(static_cast<std::uint64_t>(works())) : -1),
        q_(add(r.q, sizes_.of_q())),
        k_(add(r.k, sizes_.of_k())),
        v_(add(r.v, sizes_.of_v())),
        out_(add(r.out_grad, sizes_.of_result())),
        tops_(add(r.tops, sizes_.of_rows())),
        totals_(add(r.totals, sizes_.of_rows())),
        means_(add(r.means, sizes_.of_rows())),
        lengths_(r.lengths.storage ? add(r.lengths, Shape{sizes_.batch}) : -1),
        blocks_(r.blocks.storage ? add(r.blocks, sizes_.of_blocks()) : -1),
        q_grad_(of == GradientOf::q ? add(r.q_grad, sizes_.of_q(), true) : -1),
        shares_(r.shares.storage ? add(r.shares, sizes_.of_scores(), true) : -1),
        slopes_(r.shares.storage ? add(r.slopes, sizes_.of_scores(), true) : -1),
        k_grad_(of_k() ? add(r.k_grad, sizes_.of_k(), true) : -1),
        v_grad_(of_v() ? add(r.v_grad, sizes_.of_v(), true) : -1) {
    scores_.emplace(plan_, r.programs.score, r.programs.open, r.inputs, 1);
    thin_.emplace(plan_, r.programs.thin, r.inputs, 1);
    slope_.emplace(plan_, r.slope, r.open_slope, r.slope_inputs, 2);
    scale_is_positive_ = detail::has_positive_scale(r);
    sizes_of_operands();
    for (const int written : {q_grad_, shares_, slopes_, k_grad_, v_grad_})
      if (written >= 0) store_wide(written);
  }

  void run() {
    plan_.note(static_cast<char>(lengths_ >= 0)), plan_.note(of_), plan_.note(static_cast<char>(blocks_ >= 0));
    plan_.note(static_cast<char>(shares_ >= 0));
    const bool hopper = instance_.consumers > 0, rows = of_ == GradientOf::q;
    if (hopper) {
      const int q_rows = rows ? instance_.own() : instance_.others, k_rows = rows ? instance_.others : instance_.own();
      plan_.launch.maps = {hopper::boxes_of(r_.q, sizes_.of_q(), q_rows), hopper::boxes_of(r_.k, sizes_.of_k(), k_rows),
                           hopper::boxes_of(r_.v, sizes_.of_v(), k_rows),
                           hopper::boxes_of(r_.out_grad, sizes_.of_result(), q_rows)};
    }
    finish(r_.programs, {r_.slope, r_.open_slope},
           static_cast<std::uint64_t>(hopper ? std::min(works(), processors_) : works()),
           hopper ? hopper::backward_bytes(instance_, of_)
                  : instance_.shared_bytes(instance_.most_depth + instance_.most_width, rows ? 0 : 3));
    backend_.queue(plan_.launch, [&] { return text(); });
  }

 private:
  bool of_k() const { return of_ == GradientOf::k || of_ == GradientOf::k_and_v; }
  bool of_v() const { return of_ == GradientOf::v || of_ == GradientOf::k_and_v; }

  std::int64_t works() const {
    const std::int64_t tiles = ceil_div(of_ == GradientOf::q ? sizes_.rows : sizes_.columns, instance_.own());
    return sizes_.batch * (of_ == GradientOf::q ? sizes_.heads : sizes_.groups) * tiles;
  }
  std::string text() const {
    Io io(plan_, backend_.dialect());
    const bool rows = of_ == GradientOf::q;
    Holes h = holes(rows ? "column" : "first_column");
    fill_matrix(h, "q", q_, "head"), fill_matrix(h, "out", out_, "head");
    fill_matrix(h, "k", k_, "key_head"), fill_matrix(h, "v", v_, "key_head");
    h[rows ? "columns_at_once" : "rows_at_once"] = cat(instance_.others, "u");
    h["seen"] = slots_.seen(rows ? "at" : "column", "middle", lengths_ >= 0);
    h["length"] = length_lines(io, lengths_, slots_.p(slots_.columns));
    if (rows) {
      h["range"] = slots_.columns_of("first_row", instance_.own());
      if (lengths_ >= 0) h["length"] += "end = min(end, length);\n";
    } else {
      h["range"] = slots_.rows_of("first_column", instance_.own());
      h["of_k"] = of_k() ? "true" : "false", h["of_v"] = of_v() ? "true" : "false";
      h["columns_end"] = lengths_ >= 0 ? cat("min(length, ", p(slots_.columns), ")") : p(slots_.columns);
      if (lengths_ >= 0) h["length"] += "if (first_column >= length) { end = begin; }\n";
    }
    fill_blocks(io, h, blocks_, rows);
    fill_scores(io, h);
    fill_rows(io, h);
    fill_stores(io, h);
    if (instance_.consumers) {
      hopper::fill_instance(h, instance_);
      fill_boxes(h, "q", q_), fill_boxes(h, "k", k_), fill_boxes(h, "v", v_), fill_boxes(h, "out", out_);
      h["works"] = p(works_), h["ragged"] = lengths_ >= 0 ? "true" : "false";
      h["length_of_all"] = lengths_ >= 0 ? std::string("length") : p(slots_.columns);
      const bool reads = scores_->reads_by_column(plan_) || slope_->reads_by_column(plan_);
      h["last_column"] = reads ? cat(p(slots_.columns), " - 1u") : std::string("0xffffffffu");
      return module(cat(rows ? "gradient" : "gradients", " of attention on Hopper, of ", rows ? "q" : "k and v"),
                    hopper::backward_kernel(of_), std::move(h));
    }
    return rows ? module(cat("gradient of attention ", units(), ", of q"), kRowsKernel, std::move(h))
                : module(cat("gradients of attention ", units(), ", of k and v"), kColumnsKernel, std::move(h));
  }
  /// From a product `x` the score, and from `toward` the slope, in place of the product or, beside shares, of y.
  void fill_scores(Io& io, Holes& h) const {
    const std::string to = of_ == GradientOf::q ? "x" : "y";
    const Dialect& d = formula_dialect();
    const std::vector<std::string> at{"batch", "head", "own_row", "at"};
    const ScoreStyle of_shares = style(LeftToKernel::nothing),
                     of_scores = style(LeftToKernel::positive_factor),
                     of_slopes = style(left_of_slopes());
    fill_score(io, h, *scores_, of_scores);
    h["formula"] = scores_->functions(d, "score_of", of_scores) + slope_->functions(d, "slope_of", of_slopes) +
                   thin_->functions(d, "left_of", of_shares);
    h["thin"] = thin_->apply(io, d, "left_of", {"incoming"}, at, "incoming", of_shares);
    h["thin_share"] = thin_->apply(io, d, "left_of", {"share"}, at, "share", of_shares);
    h["score"] = positive() ? std::string("let score = x;\n") : cat("let score = x * ", slots_.scaling(), ";\n");
    h["slope"] = to + " = toward;\n";
    if (!scores_->defined()) return;
    h["score"] = cat("f32 score;\n", scores_->apply(io, d, "score_of", {"x"}, at, "score", of_scores));
    // Where a formula is -inf its derivative may be infinite.
    h["slope"] = cat("f32 slope;\n", slope_->apply(io, d, "slope_of", {"x", "toward"}, at, "slope", of_slopes), to,
                     slope_->stays_finite() ? " = slope;\n" : " = share == 0.0f ? 0.0f : slope;\n");
  }
  /// Of slopes that are kept the products are not this kernel's.
  LeftToKernel left_of_slopes() const { return shares_ >= 0 ? LeftToKernel::nothing : LeftToKernel::factor; }
  ScoreStyle style(LeftToKernel left) const { return score_style(of_ == GradientOf::q ? 3 : 2, left); }
  /// What is known of a row: loaded, or sent to workgroup memory.
  void fill_rows(Io& io, Holes& h) const {
    const std::pair<int, const char*> all[] = {{tops_, "let top"}, {totals_, "let total"}, {means_, "let mean"}};
    if (of_ == GradientOf::q || instance_.consumers) {
      for (const auto& [access, name] : all) h["load_row"] += fetch_to(io, access, {"batch", "head", "own_row"}, name);
      return;
    }
    int place = 0;
    for (const auto& [access, name] : all)
      h["fetch_row"] +=
          cat("tern_copy_word(at + ", 4 * place++, "u * kRows, (const f32*)b", plan_.access(access).binding, " + (",
              from(access, {"batch", "head", "row"}), "), bytes);\n");
  }
  void fill_stores(Io& io, Holes& h) const {
    const Factor left = slope_->taken(formula_dialect(), style(left_of_slopes())).factor;
    const std::string scaled =
        left.trivial() ? cat(" * ", slots_.scaling()) : cat(" * (", slots_.scaling(), " * ", left.text, ")");
    h["keeps"] = shares_ >= 0 ? "true" : "false", h["store_shares"] = h["store_slopes"] = "";
    if (shares_ >= 0) {
      h["store_shares"] = store(io, shares_, "batch", "head", "row", p(slots_.columns), "");
      h["store_slopes"] = store(io, slopes_, "batch", "head", "row", p(slots_.columns), "");
    }
    if (of_ == GradientOf::q) h["store"] = store(io, q_grad_, "batch", "head", "row", p(slots_.depth), scaled);
    h["store_k"] = of_k() ? store(io, k_grad_, "batch", "key_head", "column", p(slots_.depth), scaled) : std::string();
    h["store_v"] = of_v() ? store(io, v_grad_, "batch", "key_head", "column", p(slots_.width), "") : std::string();
  }

  const AttentionBackwardRequest& r_;
  GradientOf of_;
  std::int64_t processors_;
  int works_, q_, k_, v_, out_, tops_, totals_, means_, lengths_, blocks_, q_grad_, shares_, slopes_, k_grad_,
      v_grad_;
  std::optional<ScorePair> scores_, thin_, slope_;
};

void require_supported(const GpuBackend& backend, const AttentionBackwardRequest& r) {
  backend.require_supported(r.op, r.q.dtype);
  for (const detail::Program* p : {r.programs.score, r.programs.open, r.programs.thin, r.slope, r.open_slope})
    if (p) backend.require_supported(r.op, *p);
}

}  // namespace

void attention_backward_by_mma(GpuBackend& backend, const AttentionBackwardRequest& r) {
  backend.run_prepared(
      r,
      [&] {
        require_supported(backend, r);
        const MmaInstance columns = mma_columns_instance(r.sizes, r.q.dtype);
        MmaBackward(backend, r, GradientOf::q, mma_rows_instance(r.sizes, r.q.dtype)).run();
        if (columns.widest() <= 128) {
          MmaBackward(backend, r, GradientOf::k_and_v, columns).run();
          return;
        }
        MmaBackward(backend, r, GradientOf::k, columns).run();
        MmaBackward(backend, r, GradientOf::v, columns).run();
      },
      1 + 2 * (2 * aligned_views({&r.q, &r.k, &r.v, &r.out_grad}) + detail::has_positive_scale(r)));
}

namespace {
constexpr std::int64_t kWidestOfBoth = 128;  // sums of more elements of k and v together leave no registers
std::int64_t widest(const detail::AttentionSizes& s) { return std::max(s.depth, s.width); }

bool takes_wgmma(const AttentionBackwardRequest& r, const detail_cuda::MatrixUnits& units) {
  const detail::AttentionSizes& s = r.sizes;
  // k and v are padded alike: of up to 128 elements that costs more than what mma.sync takes.
  return has_wgmma_attention(s, r.q.dtype, units) &&
         (widest(s) > kWidestOfBoth || (s.depth <= 64) == (s.width <= 64)) &&
         hopper::in_boxes(r.q, s.of_q()) && hopper::in_boxes(r.k, s.of_k()) && hopper::in_boxes(r.v, s.of_v()) &&
         hopper::in_boxes(r.out_grad, s.of_result());
}
}  // namespace

// Five products in place of eight, for memory of two numbers of 16 bits a score, as the decomposed computation has it
// for as many scores. Where tiles are left out they would have to be zeros.
bool wgmma_keeps_shares(const AttentionBackwardRequest& r, const detail_cuda::MatrixUnits& units) {
  const detail::AttentionSizes& s = r.sizes;
  return widest(s) > kWidestOfBoth && !s.causal && s.window == 0 && !r.blocks.storage && !r.lengths.storage &&
         s.of_scores().numel() <= detail::kMostKeptScores && s.columns % kElementsOfVector == 0 &&
         takes_wgmma(r, units);
}
bool attention_backward_by_wgmma(GpuBackend& backend, const AttentionBackwardRequest& r,
                                 const detail_cuda::MatrixUnits& units) {
  if (!takes_wgmma(r, units)) return false;
  const detail::AttentionSizes& s = r.sizes;
  const HopperWork work = hopper_work(r);
  backend.run_prepared(
      r,
      [&] {
        require_supported(backend, r);
        MmaBackward(backend, r, GradientOf::q, wgmma_rows_instance(s, work), units.processors).run();
        const auto columns = [&](GradientOf of) {
          MmaBackward(backend, r, of, wgmma_columns_instance(s, work, of), units.processors).run();
        };
        if (r.shares.storage) return;
        if (widest(s) <= kWidestOfBoth) return columns(GradientOf::k_and_v);
        columns(GradientOf::k), columns(GradientOf::v);
      },
      2 + 2 * (2 * aligned_views({&r.q, &r.k, &r.v, &r.out_grad}) + detail::has_positive_scale(r)));
  return true;
}

}  // namespace tern::detail_gpu
