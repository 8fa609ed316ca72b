// Attention on tensor cores, forward: fills the holes of attention_mma.cu, and of attention_wgmma.cu.
#include "backend/instruments/trace.hpp"
#include "primitives/attention/cuda/cuda_hopper.hpp"
#include "primitives/attention/cuda/cuda_plan.hpp"

namespace tern::detail_gpu {
namespace {

using detail::AttentionRequest;

constexpr const char* kMmaForward =
#include "primitives/attention/cuda/attention_mma.cu.inc"
    ;

class MmaForward : MmaAttention {
 public:
  /// `processors`: of a GPU whose workgroups stay.
  MmaForward(GpuBackend& backend, const AttentionRequest& r, const MmaInstance& instance, std::int64_t processors)
      : MmaAttention(backend, r.op, 'a', r.sizes, r.q.dtype, instance, ceil_div(r.sizes.rows, instance.own())),
        r_(r),
        processors_(processors),
        works_(instance.consumers ? plan_.add_param(static_cast<std::uint64_t>(works())) : -1),
        q_(add(r.q, r.sizes.of_q())),
        k_(add(r.k, r.sizes.of_k())),
        v_(add(r.v, r.sizes.of_v())),
        out_(add(r.out, r.sizes.of_result(), true)),
        tops_(r.tops.storage ? add(r.tops, r.sizes.of_rows(), true) : -1),
        totals_(r.tops.storage ? add(r.totals, r.sizes.of_rows(), true) : -1),
        lengths_(r.lengths.storage ? add(r.lengths, Shape{r.sizes.batch}) : -1),
        blocks_(r.blocks.storage ? add(r.blocks, r.sizes.of_blocks()) : -1),
        scores_(plan_, r.programs.score, r.programs.open, r.inputs, 1),
        thin_(plan_, r.programs.thin, r.inputs, 1) {
    scale_is_positive_ = detail::has_positive_scale(r);
    sizes_of_operands();
    store_wide(out_);
  }

  void run() {
    const detail::AttentionSizes& s = sizes_;
    plan_.note(static_cast<char>(lengths_ >= 0)), plan_.note(static_cast<char>(tops_ >= 0));
    plan_.note(static_cast<char>(blocks_ >= 0));
    if (instance_.consumers)
      plan_.launch.maps = {hopper::boxes_of(r_.q, s.of_q(), instance_.own()),
                           hopper::boxes_of(r_.k, s.of_k(), instance_.others),
                           hopper::boxes_of(r_.v, s.of_v(), instance_.others)};
    finish(r_.programs, {}, static_cast<std::uint64_t>(instance_.consumers ? std::min(works(), processors_) : works()),
           instance_.consumers ? hopper::shared_bytes(instance_) : instance_.shared_bytes(instance_.most_depth));
    if (detail::tracing())
      detail::note(cat(units(), ", tiles of ", instance_.own(), "x", instance_.others, ", ", plan_.launch.groups,
                       " workgroups", wide(q_) && wide(k_) && wide(v_) ? "" : ", by elements"));
    backend_.queue(plan_.launch, [&] { return text(); });
  }

 private:
  std::int64_t works() const {
    return sizes_.parts * sizes_.batch * sizes_.heads * ceil_div(sizes_.rows, instance_.own());
  }
  void fill_hopper(Holes& h) const {
    hopper::fill_instance(h, instance_);
    h["works"] = p(works_), h["ragged"] = lengths_ >= 0 ? "true" : "false";
    h["length_of_all"] = lengths_ >= 0 ? std::string("length") : slots_.p(slots_.columns);
    fill_boxes(h, "q", q_), fill_boxes(h, "k", k_), fill_boxes(h, "v", v_);
  }
  std::string text() const {
    Io io(plan_, backend_.dialect());
    Holes h = holes("column");
    h["part"] = slots_.part_lines("blockIdx.x");
    h["columns_at_once"] = cat(instance_.others, "u");
    fill_matrix(h, "q", q_, "head"), fill_matrix(h, "k", k_, "key_head"), fill_matrix(h, "v", v_, "key_head");
    h["range"] = slots_.columns_of("first_row", instance_.own());
    h["length"] =
        length_lines(io, lengths_, slots_.p(slots_.columns)) + (lengths_ >= 0 ? "end = min(end, length);\n" : "");
    h["seen"] = slots_.seen("at", "middle", lengths_ >= 0);
    fill_blocks(io, h, blocks_, true);
    const Dialect& d = formula_dialect();
    const std::vector<std::string> at{"batch", "head", "own_row", "at"};
    const ScoreStyle style = score_style(3, LeftToKernel::positive_factor),
                     of_shares = score_style(3, LeftToKernel::nothing);
    h["formula"] = scores_.functions(d, "score_of", style) + thin_.functions(d, "left_of", of_shares);
    fill_score(io, h, scores_, style);
    // Tiles may pass the end, where formulas may be computed but nothing is to be read.
    h["last_column"] = scores_.reads_by_column(plan_) ? cat(p(slots_.columns), " - 1u") : std::string("0xffffffffu");
    h["score"] = positive() ? std::string() : cat("x = x * ", slots_.scaling(), ";\n");
    if (scores_.defined()) h["score"] = scores_.apply(io, d, "score_of", {"x"}, at, "x", style);
    h["thin"] = thin_.apply(io, d, "left_of", {"x"}, at, "x", of_shares);
    h["store"] = store(io, out_, slots_.out_batch(), "head", "row", p(slots_.width), " * inverse");
    h["store_row"] = tops_ < 0 ? std::string()
                               : io.store(tops_, {{slots_.out_batch(), "head", "row"}, -1, 1}, {"top"}, "") +
                                     io.store(totals_, {{slots_.out_batch(), "head", "row"}, -1, 1}, {"total"}, "");
    if (instance_.consumers) fill_hopper(h);
    return module(cat("attention ", units()), instance_.consumers ? hopper::kernel() : kMmaForward, std::move(h));
  }

  const AttentionRequest& r_;
  std::int64_t processors_;
  int works_, q_, k_, v_, out_, tops_, totals_, lengths_, blocks_;
  ScorePair scores_, thin_;
};

void run_by(GpuBackend& backend, const AttentionRequest& r, const MmaInstance& instance, std::int64_t processors) {
  backend.run_prepared(
      r,
      [&] {
        backend.require_supported(r.op, r.q.dtype);
        for (const detail::Program* p : {r.programs.score, r.programs.open, r.programs.thin})
          if (p) backend.require_supported(r.op, *p);
        if (r.sizes.of_result().numel() > 0) MmaForward(backend, r, instance, processors).run();
      },
      1 + 2 * (2 * aligned_views({&r.q, &r.k, &r.v}) + detail::has_positive_scale(r)) + (instance.consumers > 0));
}

}  // namespace

void attention_by_mma(GpuBackend& backend, const AttentionRequest& r) {
  run_by(backend, r, mma_forward_instance(r.sizes, r.q.dtype), 1);
}
bool attention_by_wgmma(GpuBackend& backend, const AttentionRequest& r, const detail_cuda::MatrixUnits& units) {
  if (!has_wgmma_attention(r.sizes, r.q.dtype, units) || !hopper::in_boxes(r.q, r.sizes.of_q()) ||
      !hopper::in_boxes(r.k, r.sizes.of_k()) || !hopper::in_boxes(r.v, r.sizes.of_v()))
    return false;
  // Causal documents in blocks, 4x16x4096 on an H200: 0.64 ms and 0.52 by mma.sync; of 128 elements 0.56 and 0.74.
  if (r.blocks.storage && std::max(r.sizes.depth, r.sizes.width) <= 64) return false;
  run_by(backend, r, wgmma_forward_instance(r.sizes, hopper_work(r)), units.processors);
  return true;
}

}  // namespace tern::detail_gpu
