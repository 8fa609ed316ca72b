#include "gpu/radix/radix.hpp"

#include <algorithm>

#include "gpu/radix/radix_job.hpp"
#include "gpu/text/kernel_file.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_gpu {

namespace {
constexpr const char* kCount =
#include "gpu/radix/radix_count.wgsl.inc"
    ;
constexpr const char* kAddUp =
#include "gpu/radix/radix_add_up.wgsl.inc"
    ;
constexpr const char* kAddUpFew =
#include "gpu/radix/radix_add_up_few.wgsl.inc"
    ;
constexpr const char* kRadixScan =
#include "gpu/radix/radix_scan.wgsl.inc"
    ;
constexpr const char* kRadixSelect =
#include "gpu/radix/radix_select.wgsl.inc"
    ;
constexpr const char* kMoveWgsl =
#include "gpu/radix/radix_move.wgsl.inc"
    ;
constexpr const char* kMoveInSubgroups =
#include "gpu/radix/radix_move_in_subgroups.wgsl.inc"
    ;
constexpr const char* kSubgroups =
#include "gpu/radix/radix_subgroups.wgsl.inc"
    ;
constexpr const char* kRank =
#include "gpu/radix/radix_rank.cu.inc"
    ;
constexpr const char* kParts =
#include "gpu/radix/radix_parts.wgsl.inc"
    ;
constexpr std::int64_t kSelectedPart = 8192;  // elements that a workgroup selects a few of
constexpr std::int64_t kFewBlocks = 64;   // of a line, whose counts an invocation adds up one after the other
constexpr int kMostMasks = 1024;          // words with a bit for each of them, when it selects many
static_assert(32 * kMostMasks >= 8 * Radix::kMostSelected);

}  // namespace

const char* ranking_functions() { return kRank; }
Holes parts_of_lines() { return pieces(kParts); }

bool ranks_in_subgroups(const Limits& limits) { return limits.subgroups && limits.shared_bytes >= (32 << 10); }

Holes drawing_in_subgroups(const Dialect& dialect) {
  Holes holes = pieces(kSubgroups);
  holes["barrier"] = dialect.barrier(), holes["drawn_too"] = "0u";
  return holes;
}

Holes ranking_in_subgroups(const Dialect& dialect, int tile, int threads) {
  Holes holes = drawing_in_subgroups(dialect);
  const int held = tile / threads;
  holes["workers"] = cat(threads), holes["counter_words"] = numbers(0, threads / 64);
  holes["held"] = cat(held), holes["ranked"] = numbers(0, held), holes["counted"] = "";
  return holes;
}

std::string sums_up_to(const Dialect& dialect, int threads) {
  return fill_holes(kRadixScan, {{"barrier", dialect.barrier()}, {"reaches", powers_of_two(threads)}});
}

std::vector<Shared> ranking_memory(int tile, int threads) {
  return {{"atomic<u32>", "drawn", 1},
          {"atomic<u32>", "words", std::max(tile, threads / 64 * 256)},
          {"vec2<u32>", "sums", 64}};
}

const char* word_of(DType dtype) { return dtype_size(dtype) == 8 ? "u64" : "u32"; }

std::string key_function(const Dialect& d, DType dtype) {
  std::string body;
  const auto half = [&](const char* infinity) {
    body =
        cat("let magnitude = w & 0x7fffu;\nvar key = select(w | 0x8000u, w ^ 0xffffu, w > 0x8000u);\n"
            "if (magnitude == 0u) { key = 0x8000u; }\nif (magnitude > ",
            infinity, ") { key = 0xffffu; }\n", "return key ^ (flip & 0xffffu);\n");
  };
  switch (dtype) {
    case DType::f32: body = "return tern_sort_key(bitcast<f32>(w)) ^ flip;\n"; break;
    case DType::f16: half("0x7c00u"); break;
    case DType::bf16: half("0x7f80u"); break;
    case DType::i8: body = "return w ^ 0x80u ^ (flip & 0xffu);\n"; break;
    case DType::i16: body = "return w ^ 0x8000u ^ (flip & 0xffffu);\n"; break;
    case DType::i32: body = "return w ^ 0x80000000u ^ flip;\n"; break;
    case DType::u32: body = "return w ^ flip;\n"; break;
    case DType::f64: body = "return tern_sort_key_f64(bitcast<f64>(w)) ^ ((u64(flip) << 32u) | u64(flip));\n"; break;
    case DType::i64: body = "return w ^ 0x8000000000000000ull ^ ((u64(flip) << 32u) | u64(flip));\n"; break;
    default: body = "return w ^ (flip & 0xffu);\n";
  }
  const char* const word = word_of(dtype);
  return d.pure_function_head("key_of", {{word, "w"}, {"u32", "flip"}}, word) + indented(body) + "}\n";
}

std::string words_of(const Access& a) {
  if (a.size() == 4) return cat("b", a.binding);
  return cat("((u", 8 * a.size(), "*)b", a.binding, ")");
}

// In subgroups 512 invocations with 10 elements each, in 22 KiB: on an H200 two such workgroups fit a processor, of 24
// to 48 KiB one, of up to 16 KiB three. 2^24 of f32 take 770 to 784 us in all; with 9 elements 810, with 11 777 and,
// after a change of little but names, 1028; of 384 with 13 and 14 795 and 800, of 256 with 14 and 15 808 and 909, of
// 1024 with 8 924 (30 November 2026).
int Radix::moving_threads() const { return backend_.limits().threads < 512 ? 256 : 512; }
std::int64_t Radix::tile() const {
  if (backend_.dialect().native() || !ranks_in_subgroups(backend_.limits())) return longest_line(dtype_);
  return moving_threads() == 256 ? 256 * 14 : 512 * 10;
}
View Radix::make_places(std::int64_t n) {
  keep_.push_back(backend_.temporary(lines_ * n, DType::u32));
  return {keep_.back().get(), DType::u32, 0, {}};
}
Words Radix::make_bits(std::int64_t n) {
  const DType dtype = dtype_size(dtype_) == 8 ? DType::i64 : halves_ ? DType::i16 : DType::u32;
  keep_.push_back(backend_.temporary(lines_ * n, dtype));
  return {{keep_.back().get(), dtype, 0, {}}, {}};
}

void Radix::sort(const Words& from, std::int64_t n, int bits, const Words& to) {
  const int passes = (bits + 7) / 8;
  const bool sweeps = sweeps_lines_of(n);
  const Sweeps counted = sweeps ? count_digits(from, n, passes) : Sweeps{};
  Words between[2];
  for (int i = 0; i < std::min(passes - 1, 2); ++i) between[i] = {make_bits(n).bits, make_places(n)};
  for (int i = 0; i < passes; ++i) {
    const Words &source = i == 0 ? from : between[(i - 1) % 2], &target = i + 1 == passes ? to : between[i % 2];
    if (sweeps) sweep(counted, source, n, i, target);
    else pass(source, n, 8 * i, target);
  }
}

void Radix::pass(const Words& from, std::int64_t n, int shift, const Words& to) {
  const std::int64_t each = tile(), blocks = ceil_div(n, each), all = lines_ * n;
  const std::int64_t count_words = lines_ * 256 * blocks, total_words = lines_ * 256;
  keep_.push_back(backend_.temporary(count_words, DType::u32));
  const View counts{keep_.back().get(), DType::u32, 0, {}};
  keep_.push_back(backend_.temporary(total_words, DType::u32));
  const View totals{keep_.back().get(), DType::u32, 0, {}};
  {
    Job job(*this, 'N');
    job.numbers({{"lines", lines_}, {"blocks", blocks}, {"n", n}, {"shift", shift}});
    const int bits = job.words(from.bits, all, false), out = job.words(counts, count_words, true);
    job.launch("sort, counts of digits", lines_ * blocks, {{job.atomic_word(), "counts", 256}}, [&] {
      Holes holes = job.holes();
      job.name_words(holes, "bits", bits), holes["tile"] = cat(each), holes["counts"] = job.binding(out);
      return fill_holes(kCount, holes);
    });
  }
  {
    Job job(*this, 'A');
    job.numbers({{"lines", lines_}, {"blocks", blocks}});
    const bool few = blocks <= kFewBlocks;
    job.note(few);
    const int in = job.words(counts, count_words, true), out = job.words(totals, total_words, true);
    const std::vector<Shared> shared = few ? std::vector<Shared>{} : std::vector<Shared>{{"u32", "sums", 256}};
    const char* const title = few ? "sort, adding up counts of few blocks" : "sort, adding up counts";
    job.launch(title, few ? lines_ : total_words, shared, [&] {
      Holes holes = job.holes();
      holes["counts"] = job.binding(in), holes["totals"] = job.binding(out);
      return fill_holes(few ? kAddUpFew : kAddUp, holes);
    });
  }
  Job job(*this, 'M');
  job.numbers({{"lines", lines_}, {"blocks", blocks}, {"n", n}, {"shift", shift}});
  Moved moved;
  moved.bits = job.words(from.bits, all, false), moved.places = job.words_if_any(from.places, all, false);
  moved.counts = job.words(counts, count_words, false), moved.totals = job.words(totals, total_words, false);
  moved.to_bits = job.words_if_any(to.bits, all, true), moved.to_places = job.words_if_any(to.places, all, true);
  if (ranks_in_subgroups(backend_.limits())) {
    std::vector<Shared> shared = ranking_memory(static_cast<int>(each), moving_threads());
    shared.push_back({"u32", "next", 256});
    return job.launch("sort, moving by digits in subgroups", lines_ * blocks, shared,
                      [&] { return move_in_subgroups(job, job.holes(), moved); }, {}, true, moving_threads());
  }
  job.launch("sort, moving by digits", lines_ * blocks,
             {{"u32", "words", moved_at_once() / 32 * 33},
              {"vec2<u32>", "pairs", 256},
              {"vec2<u32>", "groups", 16},
              {"u32", "next", 256},
              {"u32", "first", 256},
              {"u32", "sums", 256}},
             [&] { return move_in_order(job, job.holes(), moved); });
}

int Radix::moved_at_once() const { return backend_.limits().shared_bytes < (32 << 10) ? 2048 : 4096; }

std::string Radix::move_in_order(const Job& job, Holes holes, const Moved& m) const {
  const int each = moved_at_once() / static_cast<int>(kRadixThreads);
  holes["part"] = cat(moved_at_once()), holes["each"] = cat(each), holes["elements"] = numbers(0, each);
  holes["tile"] = cat(tile()), holes["counts"] = job.binding(m.counts), holes["totals"] = job.binding(m.totals);
  job.name_words(holes, "bits", m.bits);
  holes["store"] = "", holes["place"] = "i";
  if (m.places >= 0) job.name_words(holes, "places", m.places), holes["place"] = "$places[$places_first + source]";
  if (m.to_bits >= 0) {
    job.name_words(holes, "to_bits", m.to_bits);
    holes["store"] += "$to_bits[$to_bits_first + to] = bits;\n";
  }
  if (m.to_places >= 0) {
    job.name_words(holes, "to_places", m.to_places);
    holes["store"] += "$to_places[$to_places_first + to] = $place;\n";
  }
  return fill_holes(kMoveWgsl, holes);
}

std::string Radix::move_in_subgroups(const Job& job, Holes holes, const Moved& m) const {
  const int each = static_cast<int>(tile());
  holes.merge(ranking_in_subgroups(job.dialect(), each, moving_threads()));  // of a sweep some are there
  holes["tile"] = cat(each), holes["totals"] = job.binding(m.totals);
  holes["beside"] = "in_line", holes["place"] = "begin + ${0}";
  if (m.counts >= 0) {
    holes["counts"] = job.binding(m.counts);
    holes["number"] = "group", holes["in_line"] = "$totals[line * 256u + own_digit]", holes["after_ranks"] = "";
    holes["before_ranks"] = "let in_blocks_before = $counts[(line * 256u + own_digit) * $blocks + block];";
  }
  job.name_words(holes, "bits", m.bits);
  if (m.places >= 0) {
    job.name_words(holes, "places", m.places);
    holes["place"] = "$places[$places_first + first + ${0}]";
  }
  if (m.to_bits >= 0) job.name_words(holes, "to_bits", m.to_bits);
  if (m.to_places >= 0) job.name_words(holes, "to_places", m.to_places);
  holes["stored"] = m.to_bits >= 0 ? holes["ranked"] : "";
  holes["store_places"] = m.to_places >= 0 ? "$move_places" : "";
  return fill_holes(kMoveInSubgroups, holes);
}

Words Radix::select(Words from, std::int64_t& n, std::int64_t k) {
  while (n > k) {
    const std::int64_t parts = ceil_div(n, std::max(kSelectedPart, 8 * k));
    from = select_once(from, n, parts, k), n = parts * k;
  }
  return from;
}

Words Radix::select_once(const Words& from, std::int64_t n, std::int64_t parts, std::int64_t k) {
  const Words to{make_bits(parts * k).bits, make_places(parts * k)};
  const std::int64_t longest = ceil_div(n, parts), masks = ceil_div(ceil_div(longest, 32), kRadixThreads);
  Job job(*this, 'K');
  job.numbers(
      {{"lines", lines_}, {"parts", parts}, {"n", n}, {"k", k}, {"each_masks", masks},
       {"masks", masks * kRadixThreads}});
  const int bits = job.words(from.bits, lines_ * n, false), places = job.words_if_any(from.places, lines_ * n, false);
  const int to_bits = job.words(to.bits, lines_ * parts * k, true),
            to_places = job.words(to.places, lines_ * parts * k, true);
  const std::string atomic = job.atomic_word();
  job.launch("selection", lines_ * parts,
             {{atomic, "counts", 256},
              {"u32", "sums", 256},
              {"u32", "found", 2},
              {atomic, "less", kMostMasks},
              {atomic, "alike", kMostMasks}},
             [&] {
               Holes holes = job.holes();
               job.name_words(holes, "bits", bits);
               job.name_words(holes, "to_bits", to_bits), job.name_words(holes, "to_places", to_places);
               holes["top"] = cat(key_bits(dtype_) - 8, "u"), holes["over"] = cat(key_bits(dtype_), "u");
               holes["source_place"] = "source - line * $n";
               if (places >= 0)
                 job.name_words(holes, "places", places), holes["source_place"] = "$places[$places_first + source]";
               return fill_holes(kRadixSelect, holes);
             });
  return to;
}

}  // namespace tern::detail_gpu
