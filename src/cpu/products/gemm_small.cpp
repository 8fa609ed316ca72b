#include "cpu/products/gemm_small.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cpu/products/gemm_kernels.hpp"
#include "cpu/products/gemm_sizes.hpp"
#include "cpu/products/gemm_tiny.hpp"
#include "cpu/scratch.hpp"
#include "cpu/machine/threads.hpp"
#include "process/of_thread.hpp"

namespace tern::detail_cpu {
namespace {

/// Multiplications of one product of a batch, and products of a batch, that are few and many.
constexpr Int64 kMostMultiplications = 4096, kFewestProducts = 4;
/// Elements of a B that many rows meet, and how many rows those are.
constexpr Int64 kMostOfB = 64, kFewestRowsOfA = 64;
/// Rows that are one task, and multiplications that are worth a second thread.
constexpr Int64 kSmallRowsTogether = 256, kParallelSteps = Int64{1} << 18;
/// Results that are one task where they lie in vectors: 16 KiB of f32.
constexpr Int64 kTinyResultsTogether = 4096;
/// Multiplications of a batch from which its operands are picked by lists, which take a µs to make.
constexpr Int64 kFewestTinySteps = 512;

/// Work that is worth a second thread is divided among all.
template <class Task> void in_parts(const GemmProblem& g, Int64 tasks, const Task& task) {
  const Int64 parts =
      g.batches * g.m * g.n * g.k < kParallelSteps ? 1 : std::min<Int64>(tasks, 4 * max_threads());
  parallel_for(parts, [&](Int64 part) {
    for (Int64 t = tasks * part / parts; t < tasks * (part + 1) / parts; ++t) task(t);
  });
}
/// This thread's, for the epilogue: the results of all products are rows below each other.
struct SmallSums : ScratchBuffer {};
/// This thread's, of operands of 16 bits in the compute type.
struct WideA : ScratchBuffer {};
struct WideB : ScratchBuffer {};

/// From the first element of a matrix to the last, and one; of so many matrices, `step` elements apart.
Int64 span_of(Int64 rows, Int64 row, Int64 cols, Int64 col, Int64 count = 1, Int64 step = 0) {
  return (count - 1) * step + (rows - 1) * row + (cols - 1) * col + 1;
}

/// So many elements from `first` on in the compute type: themselves, or a copy.
template <class Buffer> const void* widened(const GemmTypes& types, const void* first, Int64 span) {
  if (types.size == types.compute_size) return first;
  void* const copy = detail::of_thread<Buffer>().reserve(span * types.compute_size);
  types.kernels->copy({first, span, 1}, 1, span, copy, span, span);
  return copy;
}
/// Whether little lies between the elements of operands, which may thus be copied with it: 100,000 products of 4x4 in
/// bf16 take 0.6 to 1.0 ms, packed one by one 24 to 26, in f32 0.6 to 0.9 (Emerald Rapids beside a build, 29 November
/// 2026).
bool lie_together(const GemmProblem& g) {
  if (!g.steps || std::min({g.a_row, g.a_col, g.steps->a, g.b_row, g.b_col, g.steps->b}) < 0) return false;
  const Int64 most_a = 4 * g.m * g.k, most_b = 4 * g.k * g.n;
  return std::max(span_of(g.m, g.a_row, g.k, g.a_col), g.steps->a) <= most_a &&
         std::max(span_of(g.k, g.b_row, g.n, g.b_col), g.steps->b) <= most_b;
}

/// Products of the whole batch, a part of it at a time; or of rows of one of them.
class SmallProducts {
 public:
  SmallProducts(const GemmProblem& g, const GemmTypes& types) : g_(g), types_(types) {}

  void run() const {
    const bool tall = g_.m > kSmallMost;
    const Int64 together = tall ? 1 : std::max<Int64>(1, kSmallRowsTogether / g_.m);
    const Int64 rows = tall ? kSmallRowsTogether : g_.m, down = ceil_div(g_.m, rows),
                groups = ceil_div(g_.batches, together);
    in_parts(g_, groups * down, [&](Int64 t) {
      const Int64 batch = t / down * together, row = t % down * rows;
      run_part(batch, std::min(together, g_.batches - batch), row, std::min(rows, g_.m - row));
    });
  }

  /// Of `count` products from `batch` on, so many rows from `row` on.
  void run_part(Int64 batch, Int64 count, Int64 row, Int64 rows) const {
    GemmSmall call{};
    call.a = static_cast<const std::byte*>(g_.a) + row * g_.a_row * types_.size;
    call.b = g_.b, call.count = count, call.m = rows, call.n = g_.n, call.k = g_.k;
    call.a_row = g_.a_row, call.a_col = g_.a_col, call.b_row = g_.b_row, call.b_col = g_.b_col;
    if (g_.steps) {
      call.a = static_cast<const std::byte*>(call.a) + batch * g_.steps->a * types_.size;
      call.b = static_cast<const std::byte*>(call.b) + batch * g_.steps->b * types_.size;
      call.a_step = g_.steps->a, call.b_step = g_.steps->b;
      const Int64 all_a = span_of(rows, g_.a_row, g_.k, g_.a_col, count, call.a_step),
                  all_b = span_of(g_.k, g_.b_row, g_.n, g_.b_col, count, call.b_step);
      call.a = widened<WideA>(types_, call.a, all_a), call.b = widened<WideB>(types_, call.b, all_b);
    } else {
      call.a_offsets = g_.a_offsets + batch, call.b_offsets = g_.b_offsets + batch;
    }
    if (g_.c) {
      const Int64 from = row * g_.c_row + (g_.steps ? batch * g_.steps->c : 0);
      call.c = static_cast<std::byte*>(g_.c) + from * types_.compute_size, call.c_row = g_.c_row;
      if (g_.steps) call.c_step = g_.steps->c;
      else call.c_offsets = g_.c_offsets + batch;
      return types_.computed->small(call);
    }
    call.c = detail::of_thread<SmallSums>().reserve(count * rows * g_.n * types_.compute_size);
    call.c_row = g_.n, call.c_step = rows * g_.n;
    types_.computed->small(call);
    g_.epilogue(g_.context, {call.c, g_.n, 0, batch * g_.m + row, 0, count * rows, g_.n});
  }

 private:
  const GemmProblem& g_;
  GemmTypes types_;
};

/// A batch whose results lie side by side in vectors (gemm_tiny-inl.h), some products at a time.
class TinyRun {
 public:
  TinyRun(const GemmProblem& g, const GemmTypes& types, const TinyPlan& plan) : g_(g), types_(types), plan_(plan) {}

  void run() const {
    const Int64 together = std::max<Int64>(1, kTinyResultsTogether / (g_.m * g_.n * plan_.together)),
                groups = plan_.groups(g_.batches), whole = ceil_div(groups, together);
    const SmallProducts others(g_, types_);
    const Int64 done = groups * plan_.together;
    in_parts(g_, whole + (done < g_.batches), [&](Int64 t) {
      if (t == whole) return others.run_part(done, g_.batches - done, 0, g_.m);
      run_part(t * together, std::min(together, groups - t * together));
    });
  }

 private:
  void run_part(Int64 group, Int64 count) const {
    const Int64 first = group * plan_.together, results = g_.m * g_.n, products = count * plan_.together;
    GemmTiny call{};
    call.a = static_cast<const std::byte*>(g_.a) + first * g_.steps->a * types_.size;
    call.b = static_cast<const std::byte*>(g_.b) + first * g_.steps->b * types_.size;
    const Int64 all_a = span_of(g_.m, g_.a_row, g_.k, g_.a_col, products, g_.steps->a),
                all_b = span_of(g_.k, g_.b_row, g_.n, g_.b_col, products, g_.steps->b);
    call.a = widened<WideA>(types_, call.a, all_a), call.b = widened<WideB>(types_, call.b, all_b);
    call.groups = count, call.a_group = plan_.together * g_.steps->a, call.b_group = plan_.together * g_.steps->b;
    call.c_group = plan_.together * results, call.k = g_.k, call.units = plan_.units, call.unit = plan_.unit;
    if (g_.c) {
      call.c = static_cast<std::byte*>(g_.c) + first * results * types_.compute_size;
      return types_.computed->tiny(call);
    }
    call.c = detail::of_thread<SmallSums>().reserve(products * results * types_.compute_size);
    types_.computed->tiny(call);
    g_.epilogue(g_.context, {call.c, g_.n, 0, first * g_.m, 0, products * g_.m, g_.n});
  }

  const GemmProblem& g_;
  GemmTypes types_;
  const TinyPlan& plan_;
};

/// Products that share B and follow each other in A and C are more rows of one; its rows are products of one row each.
void take_rows_apart(GemmProblem& g, GemmSteps& steps) {
  if (g.batches > 1 && (steps.b != 0 || steps.a != g.m * g.a_row || (g.c && steps.c != g.m * g.c_row))) return;
  g.batches *= g.m, g.m = 1;
  steps = {g.a_row, 0, g.c_row};
}

bool run_tiny(const GemmProblem& problem, const GemmTypes& types) {
  if (!problem.steps || !types.computed->tiny || problem.k < 1 || problem.k > kTinyDepth) return false;
  GemmProblem g = problem;
  GemmSteps steps = *problem.steps;
  take_rows_apart(g, steps);
  g.steps = &steps;
  if (g.m > kSmallMost || g.n > kSmallMost || g.batches * g.m * g.n * g.k < kFewestTinySteps) return false;
  if (g.c && ((g.n > 1 && g.m > 1 && g.c_row != g.n) || steps.c != g.m * g.n)) return false;
  if (steps.a < 0 || steps.b < 0) return false;
  const TinyPlan& plan =
      tiny_plan({g.m, g.n, g.k, g.a_row, g.a_col, steps.a, g.b_row, g.b_col, steps.b}, *types.computed);
  if (plan.together == 0) return false;
  TinyRun(g, types, plan).run();
  return true;
}

bool is_small(const GemmProblem& g) {
  if (g.segments != 1 || g.k < 1 || g.k > kSmallMost || g.n > kSmallMost) return false;
  if (g.m > kSmallMost) return g.n * g.k <= kMostOfB && g.m >= kFewestRowsOfA;
  return g.batches >= kFewestProducts && g.m * g.n * g.k <= kMostMultiplications;
}

}  // namespace

bool gemm_small(const GemmProblem& problem) {
  const GemmTypes types = gemm_types(problem.type);
  if (types.size != types.compute_size && !lie_together(problem)) return false;
  if (run_tiny(problem, types)) return true;
  if (!is_small(problem)) return false;
  SmallProducts(problem, types).run();
  return true;
}

}  // namespace tern::detail_cpu
