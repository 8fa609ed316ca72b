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
        scores_(plan_, r.program, r.inputs, 1) {
    sizes_of_operands();
    store_wide(out_);
  }

  void run() {
    const detail::AttentionSizes& s = sizes_;
    plan_.note(static_cast<char>(lengths_ >= 0)), plan_.note(static_cast<char>(tops_ >= 0));
    finish({r_.program}, static_cast<std::uint64_t>(s.batch * s.heads * ceil_div(s.rows, instance_.own())),
           instance_.shared_bytes(instance_.most_depth));
    if (detail::tracing())
      detail::note(cat(units(), ", tiles of ", instance_.own(), "x", instance_.others, ", ", plan_.launch.groups,
                       " workgroups", wide(q_) && wide(k_) && wide(v_) ? "" : ", by elements"));
    backend_.queue(plan_.launch, [&] { return text(); });
  }

 private:
  std::string text() const {
    Io io(plan_, backend_.dialect());
    Holes h = holes("column");
    h["columns_at_once"] = cat(instance_.others, "u");
    fill_matrix(h, "q", q_, "head"), fill_matrix(h, "k", k_, "key_head"), fill_matrix(h, "v", v_, "key_head");
    h["range"] = slots_.columns_of("first_row", instance_.own());
    h["length"] = length_lines(io, lengths_) + (lengths_ >= 0 ? "end = min(end, length);\n" : "");
    h["seen"] = slots_.seen("at", "middle", lengths_ >= 0);
    h["formula"] = "", h["score"] = positive() ? std::string() : cat("x = x * ", slots_.scaling(), ";\n");
    if (r_.program) {
      const Function f = scores_.function(formula_dialect(), "score_of");
      std::string result;
      const std::string lines =
          scores_.apply(io, formula_dialect(), f, {"x"}, {"batch", "head", "own_row", "at"}, result);
      h["formula"] = f.text, h["score"] = cat(lines, "x = ", result, ";\n");
    }
    h["store"] = store(io, out_, "head", "row", p(slots_.width), " * inverse");
    h["store_row"] = tops_ < 0 ? std::string()
                               : io.store(tops_, {{"batch", "head", "row"}, -1, 1}, {"top"}, "") +
                                     io.store(totals_, {{"batch", "head", "row"}, -1, 1}, {"total"}, "");
    return module(cat("attention ", units()), kKernel, std::move(h));
  }

  const AttentionRequest& r_;
  int q_, k_, v_, out_, tops_, totals_, lengths_;
  Scores scores_;
};

}  // namespace

void attention_by_mma(GpuBackend& backend, const AttentionRequest& r) {
  backend.run_prepared(
      r,
      [&] {
        backend.require_supported(r.op, r.q.dtype);
        if (r.program) backend.require_supported(r.op, *r.program);
        if (r.sizes.of_result().numel() > 0) MmaForward(backend, r).run();
      },
      1 + aligned_views({&r.q, &r.k, &r.v}));
}

}  // namespace tern::detail_gpu
