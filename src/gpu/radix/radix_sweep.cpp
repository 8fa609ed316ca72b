// Passes of the sort by digits that read every element once: all digits of all passes are counted beforehand, and the
// blocks of a line learn from each other where theirs belong.
#include "gpu/radix/radix_job.hpp"

namespace tern::detail_gpu {

namespace {
constexpr const char* kTotals =
#include "gpu/radix/radix_totals.wgsl.inc"
    ;
constexpr const char* kRadixStarts =
#include "gpu/radix/radix_starts.cu.inc"
    ;
constexpr const char* kSweep =
#include "gpu/radix/radix_sweep.cu.inc"
    ;
constexpr const char* kSweepCall =
#include "gpu/radix/radix_sweep_call.cu.inc"
    ;
constexpr const char* kLookBack =
#include "gpu/radix/radix_look_back.wgsl.inc"
    ;
constexpr int kPatience = 512;  // rounds of some 0.5 µs on an H200
constexpr std::int64_t kMostInState = std::int64_t{1} << 28;  // that a state of 32 bits counts
}  // namespace

bool Radix::sweeps_lines_of(std::int64_t n) const {
  const Limits& limits = backend_.limits();
  return limits.native || (limits.progress && ranks_in_subgroups(limits) && n < kMostInState);
}

Radix::Sweeps Radix::count_digits(const Words& from, std::int64_t n, int passes) {
  const bool native = backend_.limits().native;
  const std::int64_t blocks = ceil_div(n, tile()), parts = ceil_div(n, kCountedPart), lists = passes * lines_;
  const auto memory = [&](std::int64_t count, DType dtype) {
    keep_.push_back(backend_.temporary(count, dtype));
    return View{keep_.back().get(), dtype, 0, {}};
  };
  const std::int64_t counts = 256 * lists + passes, state_count = 256 * lines_ * blocks;
  const Sweeps s{memory(counts, DType::u32), memory(state_count, native ? DType::i64 : DType::u32), blocks, passes};
  {
    Job job(*this, '0');
    job.numbers({{"count", counts}});
    const int totals = job.words(s.totals, counts, true);
    job.launch("sort, no digits yet", ceil_div(counts, kRadixThreads), {}, [&] {
      Holes holes = job.holes();
      holes["totals"] = job.binding(totals);
      return fill_holes("if (group * 256u + thread < $count) { $totals[group * 256u + thread] = 0u; }\n", holes);
    });
  }
  {
    Job job(*this, 'N');
    job.numbers({{"lines", lines_}, {"parts", parts}, {"n", n}, {"states_count", state_count}});
    job.note(static_cast<char>(passes));
    const int bits = job.words(from.bits, lines_ * n, false), totals = job.words(s.totals, counts, true),
              states = job.words(s.states, state_count, true);
    job.make_atomic(totals);
    job.launch("sort, totals of digits", lines_ * parts, {{job.atomic_word(), "counts", 256 * passes}}, [&] {
      Holes holes = job.holes();
      holes.merge(parts_of_lines());
      holes["part"] = cat(kCountedPart), holes["passes"] = tern::detail_gpu::numbers(0, passes);
      job.name_words(holes, "bits", bits), holes["totals"] = job.binding(totals);
      holes["states"] = native ? cat("(", job.pointer(states, "u64"), ")") : job.binding(states);
      holes["no_state"] = native ? "0ull" : "0u";
      return fill_holes(kTotals, holes);
    });
  }
  if (!native) return s;  // whose sweeps add up the totals
  Job job(*this, 'A');
  job.numbers({{"lists", lists}});
  const int totals = job.words(s.totals, counts, true);
  job.launch(
      "sort, starts of digits", lists, {{"u32", "sums", 256}},
      [&] {
        Holes holes = job.holes();
        holes["totals"] = job.pointer(totals, "u32");
        return fill_holes(kRadixStarts, holes);
      },
      {ranking_functions()});
  return s;
}

void Radix::sweep(const Sweeps& s, const Words& from, std::int64_t n, int pass, const Words& to) {
  const std::int64_t all = lines_ * n, counts = 256 * s.passes * lines_;
  Job job(*this, 'M');
  job.numbers({{"lines", lines_}, {"blocks", s.blocks}, {"n", n}, {"pass", pass}, {"tickets", counts}});
  Moved m;
  m.counts = -1;
  m.bits = job.words(from.bits, all, false), m.places = job.words_if_any(from.places, all, false);
  m.totals = job.words(s.totals, counts + s.passes, true);
  const int states = job.words(s.states, 256 * lines_ * s.blocks, true);
  m.to_bits = job.words_if_any(to.bits, all, true), m.to_places = job.words_if_any(to.places, all, true);
  const auto each = static_cast<int>(tile());
  const std::int64_t groups = lines_ * s.blocks;
  if (backend_.limits().native)
    return job.launch("sort, sweep by digits", groups,
                      {{"u32", "counts", kRadixThreads * 8}, {"u32", "sums", 256}, {word_of(dtype_), "staged", each}},
                      [&] { return sweep_text(job, m, states); }, {ranking_functions(), kSweep});
  job.make_atomic(m.totals), job.make_atomic(states);
  std::vector<Shared> shared = ranking_memory(each, moving_threads());
  shared.push_back({"u32", "next", 256});
  job.launch("sort, sweep by digits in subgroups", groups, shared, [&] {
    Holes holes = job.holes();
    holes.merge(pieces(kLookBack));
    holes["states"] = job.binding(states), holes["patience"] = cat(kPatience), holes["shift"] = "(8u * $pass)";
    holes["number"] = "drawn_by_thread_0.y", holes["drawn_too"] = "$next_block";
    holes["in_line"] = "atomicLoad(&$totals[($pass * $lines + line) * 256u + own_digit])";
    holes["before_ranks"] = "$state_of_block", holes["counted"] = "$say_own", holes["after_ranks"] = "$look_back";
    return move_in_subgroups(job, std::move(holes), m);
  }, {}, true, moving_threads());
}

std::string Radix::sweep_text(const Job& job, const Moved& m, int states) const {
  const std::string type = sorted_type();
  Holes holes = job.holes();
  holes["type"] = type, holes["each"] = cat(tile() / int{kRadixThreads});
  holes["bits"] = job.pointer(m.bits, "const " + type), holes["places"] = job.pointer(m.places, "const u32");
  holes["to_bits"] = job.pointer(m.to_bits, type), holes["to_places"] = job.pointer(m.to_places, "u32");
  holes["totals"] = job.pointer(m.totals, "u32"), holes["states"] = job.pointer(states, "u64");
  holes["staged"] = halves_ ? "(u16*)staged" : "staged";  // places are staged in the same memory, in words
  return fill_holes(kSweepCall, holes);
}

}  // namespace tern::detail_gpu
