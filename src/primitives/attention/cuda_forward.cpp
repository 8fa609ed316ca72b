// Attention on tensor cores, forward: fills the holes of attention_mma.cu.
#include "backend/instruments/trace.hpp"
#include "primitives/attention/cuda_plan.hpp"

namespace tern::detail_gpu {
namespace {

using detail::AttentionRequest;

constexpr const char* kKernel =
#include "primitives/attention/attention_mma.cu.inc"
    ;

class MmaForward : MmaAttention {
 public:
  MmaForward(GpuBackend& backend, const AttentionRequest& r)
      : MmaAttention(backend, r.op, 'a', r.sizes, r.q.dtype, mma_forward_instance(r.sizes, r.q.dtype),
                     ceil_div(r.sizes.rows, mma_forward_instance(r.sizes, r.q.dtype).own())),
        r_(r),
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
    sizes_of_operands();
    store_wide(out_);
  }

  void run() {
    const detail::AttentionSizes& s = sizes_;
    plan_.note(static_cast<char>(lengths_ >= 0)), plan_.note(static_cast<char>(tops_ >= 0));
    plan_.note(static_cast<char>(blocks_ >= 0));
    const std::int64_t groups = s.parts * s.batch * s.heads * ceil_div(s.rows, instance_.own());
    finish(r_.programs, {}, static_cast<std::uint64_t>(groups), instance_.shared_bytes(instance_.most_depth));
    if (detail::tracing())
      detail::note(cat(units(), ", tiles of ", instance_.own(), "x", instance_.others, ", ", plan_.launch.groups,
                       " workgroups", wide(q_) && wide(k_) && wide(v_) ? "" : ", by elements"));
    backend_.queue(plan_.launch, [&] { return text(); });
  }

 private:
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
    h["formula"] = scores_.functions(d, "score_of") + thin_.functions(d, "left_of");
    h["score"] = positive() ? std::string() : cat("x = x * ", slots_.scaling(), ";\n");
    if (scores_.defined()) h["score"] = scores_.apply(io, d, "score_of", {"x"}, at, "x");
    h["thin"] = thin_.apply(io, d, "left_of", {"x"}, at, "x");
    if (thin_.defined())
      h["thin"] = cat("let at = min(column + j / 2u * 8u + (lane & 3u) * 2u + j % 2u, ", p(slots_.columns), " - 1u);\n",
                      h["thin"]);
    h["store"] = store(io, out_, slots_.out_batch(), "head", "row", p(slots_.width), " * inverse");
    h["store_row"] = tops_ < 0 ? std::string()
                               : io.store(tops_, {{slots_.out_batch(), "head", "row"}, -1, 1}, {"top"}, "") +
                                     io.store(totals_, {{slots_.out_batch(), "head", "row"}, -1, 1}, {"total"}, "");
    return module(cat("attention ", units()), kKernel, std::move(h));
  }

  const AttentionRequest& r_;
  int q_, k_, v_, out_, tops_, totals_, lengths_, blocks_;
  ScorePair scores_, thin_;
};

}  // namespace

void attention_by_mma(GpuBackend& backend, const AttentionRequest& r) {
  backend.run_prepared(
      r,
      [&] {
        backend.require_supported(r.op, r.q.dtype);
        for (const detail::Program* p : {r.programs.score, r.programs.open, r.programs.thin})
          if (p) backend.require_supported(r.op, *p);
        if (r.sizes.of_result().numel() > 0) MmaForward(backend, r).run();
      },
      1 + aligned_views({&r.q, &r.k, &r.v}));
}

}  // namespace tern::detail_gpu
