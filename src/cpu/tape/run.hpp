// What the ways of running a request share.
#pragma once
#include <algorithm>

#include "cpu/machine/threads.hpp"
#include "cpu/tape/block_runner.hpp"
#include "cpu/tape/layout.hpp"

namespace tern::detail_cpu {

/// Elements of a block that needs no register file: what comes between blocks stops the loads (Zen 4, rows of 1024 and
/// 4096 in memory and in cache: 4 blocks' worth 1.06 to 1.15 of the speed of one, 16 1.09 to 1.17, 64 1.09 to 1.18).
inline constexpr std::int64_t kLargeBlock = 8 * kTapeBlock;

/// Whether so many elements of a tape pay for waking a second thread.
bool worth_threads(const Tape& tape, std::int64_t elements);

/// A request, how it lies, and what runs its blocks.
struct Run {
  Run(const detail::FusedRequest& request, const Tape& tape, const KernelTable& table)
      : request(request),
        tape(tape),
        table(table),
        layout(request, tape),
        runner(tape, table, request.inputs, request.outputs, layout.full, layout.kept, layout.rows, layout.length,
               layout.coordinates, 0, layout.group) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  bool worth_threads(std::int64_t elements) const { return detail_cpu::worth_threads(tape, elements); }
  /// Tells a trace how the request is run.
  void describe(const char* mode, bool parallel, int passes = 0) const;
  /// Calls body(first, last) on ranges that cover [0, count), in parallel where it pays.
  template <class Body> void ranges(std::int64_t count, bool parallel, Body body) const {
    const std::int64_t tasks = parallel ? std::min<std::int64_t>(count, 4 * max_threads()) : 1;
    const auto part = [&](std::int64_t first, std::int64_t last) {
      body(first, last);
      runner.finish();
    };
    if (tasks <= 1) return part(0, count);
    parallel_for(tasks, [&](std::int64_t t) { part(count * t / tasks, count * (t + 1) / tasks); });
  }

  const detail::FusedRequest& request;
  const Tape& tape;
  const KernelTable& table;
  Layout layout;
  BlockRunner runner;
};

/// Without reductions.
void run_elementwise(Run& run);
/// With reductions: each kept position is reduced along the reduced axes, in as many passes as wait for each other.
void run_reducing(Run& run);
/// Sums or means of short rows and nothing else, from memory to memory; false: it is something else.
bool run_short_sums(Run& run);
/// One operation of what lies as the result and a column that is repeated along short rows, the same way.
bool run_with_column(Run& run);

}  // namespace tern::detail_cpu
