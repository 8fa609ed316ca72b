#include "cpu/tape/fused.hpp"

#include <string>

#include "backend/instruments/trace.hpp"
#include "backend/instruments/tuning.hpp"
#include "cpu/simd/dispatch.hpp"
#include "cpu/tape/narrow.hpp"
#include "cpu/tape/pairs.hpp"
#include "cpu/tape/run.hpp"

namespace tern::detail_cpu {

using detail::FusedRequest;

namespace {

/// Below this many element operations a second thread costs more (about 3 µs to wake) than it saves.
std::int64_t parallel_work() {
  constexpr std::int64_t k = 1024;
  static const auto* const choice =
      new detail::Choice(tuning_class(), "fused.parallel_work", {64 * k, 16 * k, 32 * k, 128 * k, 256 * k});
  return (*choice)();
}

void run_any(const FusedRequest& request, const Tape& tape, const KernelTable& table) {
  Run run(request, tape, table);
  if (run.layout.kept.count() == 0) return;
  if (tape.program->reduces) run_reducing(run);
  else run_elementwise(run);
}

/// Results of reductions over nothing. Beside a 0 the other sizes may be too large to multiply.
void run_empty(FusedRequest request, const Tape& tape, const KernelTable& table) {
  bool results = request.program->reduces;
  for (int i = 0; i < request.space.rank(); ++i) {
    std::int64_t& size = request.space[static_cast<std::size_t>(i)];
    if (request.reduced >> i & 1) size = 0;
    else results &= size > 0;
  }
  if (results) run_any(request, tape, table);
}

}  // namespace

bool worth_threads(const Tape& tape, std::int64_t elements) {
  return elements * static_cast<std::int64_t>(tape.ops.size() + 1) > parallel_work();
}

void Run::describe(const char* mode, bool parallel, int passes) const {
  if (!detail::tracing()) return;
  const Order& block = runner.way().block;
  const auto loops = std::count_if(block.begin(), block.end(), [](int i) { return i < 0; });
  detail::note(
      std::string("tape of ") + std::to_string(tape.ops.size()) + " ops, " +
      (loops > 0 ? std::to_string(loops) + " compiled, " : std::string()) + mode +
      (passes > 0 ? " in " + std::to_string(passes) + (passes == 1 ? " pass, " : " passes, ") : ", ") +
      (parallel ? std::to_string(max_threads()) + " threads" : std::string("1 thread: too little work for more")) +
      ", " + table.target);
}

void run_tape(const FusedRequest& request, const Tape& tape, const KernelTable& table) {
  if (std::ranges::find(request.space, 0) != request.space.end()) return run_empty(request, tape, table);
  if (!detail::tracing() && run_small(request, tape, table)) return;
  if (!detail::tracing() && (run_narrow(request, tape, table) || run_pairs(request, table) ||
                             run_whole(request, tape)))
    return;
  run_any(request, tape, table);
}

}  // namespace tern::detail_cpu
