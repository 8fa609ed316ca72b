#include "cpu/products/gemm_small.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cpu/products/gemm_kernels.hpp"
#include "cpu/products/gemm_sizes.hpp"
#include "cpu/scratch.hpp"
#include "cpu/machine/threads.hpp"
#include "process/of_thread.hpp"

namespace tern::detail_cpu {
namespace {

/// Multiplications of one product of a batch, and products of a batch, that are few and many.
constexpr Index kMostSteps = 1024, kFewestProducts = 4;
/// Elements of a B that many rows meet, and how many rows those are.
constexpr Index kMostOfB = 64, kFewestRows = 64;
/// Rows that are one task, and multiplications that are worth a second thread.
constexpr Index kRowsTogether = 256, kParallelSteps = Index{1} << 18;

/// Products of the whole batch, a part of it at a time; or of rows of one of them.
class SmallRun {
 public:
  SmallRun(const GemmProblem& g, const GemmTypes& types) : g_(g), types_(types) {}

  void run() const {
    const bool tall = g_.m > kSmallMost;
    const Index together = tall ? 1 : std::max<Index>(1, kRowsTogether / g_.m);
    const Index rows = tall ? kRowsTogether : g_.m, down = divide_up(g_.m, rows),
                groups = divide_up(g_.batches, together);
    const Index tasks = groups * down;
    const auto task = [&](Index t) {
      const Index batch = t / down * together, row = t % down * rows;
      run_part(batch, std::min(together, g_.batches - batch), row, std::min(rows, g_.m - row));
    };
    const Index parts =
        g_.batches * g_.m * g_.n * g_.k < kParallelSteps ? 1 : std::min<Index>(tasks, 4 * max_threads());
    parallel_for(parts, [&](Index part) {
      for (Index t = tasks * part / parts; t < tasks * (part + 1) / parts; ++t) task(t);
    });
  }

 private:
  void run_part(Index batch, Index count, Index row, Index rows) const {
    GemmSmall call{};
    call.a = static_cast<const std::byte*>(g_.a) + row * g_.a_row * types_.size;
    call.b = g_.b, call.a_offsets = g_.a_offsets + batch, call.b_offsets = g_.b_offsets + batch;
    call.count = count, call.m = rows, call.n = g_.n, call.k = g_.k;
    call.a_row = g_.a_row, call.a_col = g_.a_col, call.b_row = g_.b_row, call.b_col = g_.b_col;
    if (g_.c) {
      call.c = static_cast<std::byte*>(g_.c) + row * g_.c_row * types_.lane_size;
      call.c_row = g_.c_row, call.c_offsets = g_.c_offsets + batch;
      return types_.lanes->small(call);
    }
    // The results of all of them are rows below each other for the epilogue.
    struct Sums : Buffer {};  // this thread's
    call.c = detail::of_thread<Sums>().reserve(count * rows * g_.n * types_.lane_size), call.c_row = g_.n;
    types_.lanes->small(call);
    g_.epilogue(g_.context, {call.c, g_.n, batch, row, 0, count * rows, g_.n});
  }

  const GemmProblem& g_;
  GemmTypes types_;
};

bool is_small(const GemmProblem& g) {
  if (g.segments != 1 || g.k < 1 || g.k > kSmallMost || g.n > kSmallMost) return false;
  if (g.m > kSmallMost) return g.n * g.k <= kMostOfB && g.m >= kFewestRows;
  return g.batches >= kFewestProducts && g.m * g.n * g.k <= kMostSteps;
}

}  // namespace

bool gemm_small(const GemmProblem& problem) {
  const GemmTypes types = gemm_types(problem.type);
  if (types.size != types.lane_size || !is_small(problem)) return false;
  SmallRun(problem, types).run();
  return true;
}

}  // namespace tern::detail_cpu
