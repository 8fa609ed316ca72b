// The elements at a few ranks in the order of the keys: found digit by digit, without ordering the others.
#include <array>

#include "gpu/radix/radix_job.hpp"
#include "primitives/sort/sort.hpp"

namespace tern::detail_gpu {

namespace {

constexpr const char* kRanksBegin =
#include "gpu/radix/radix_ranks_begin.wgsl.inc"
    ;
constexpr const char* kRanksCount =
#include "gpu/radix/radix_ranks_count.wgsl.inc"
    ;
constexpr const char* kRanksFind =
#include "gpu/radix/radix_ranks_find.wgsl.inc"
    ;
constexpr const char* kRanksAlike =
#include "gpu/radix/radix_ranks_alike.wgsl.inc"
    ;
constexpr const char* kRanksPlace =
#include "gpu/radix/radix_ranks_place.wgsl.inc"
    ;
constexpr std::size_t kFewRanks = 3;

}  // namespace

/// What is known of the elements at the ranks, of each line and rank: digits so far, the number among those that agree
/// in them, and how often each next digit stands among these; and the access of each in a kernel.
struct Radix::Ranked {
  View known, wanted, totals;
  std::span<const std::int32_t> ranks;
  std::int64_t parts = 0;
};

/// A kernel of the search, with the holes that all of them have.
struct Radix::RankJob : Radix::Job {
  RankJob(Radix& radix, char kind, const Ranked& ranked, std::int64_t n)
      : Job(radix, kind), count(static_cast<int>(ranked.ranks.size())), all(radix.lines_ * count) {
    note(count);
    numbers({{"lines", radix.lines_}, {"parts", ranked.parts}, {"n", n}});
  }
  /// For a text, with the accesses that are words of temporaries by name.
  Holes holes_with(std::initializer_list<std::pair<const char*, int>> accesses) const {
    Holes named = holes();
    named["count"] = cat(count), named["ranks"] = tern::detail_gpu::numbers(0, count);
    named["part"] = cat(kCountedPart), named.merge(parts_of_lines());
    for (int r = 0; r < count; ++r) {
      std::string lower;  // the first of those about which the same is known is set last
      for (int s = r - 1; s >= 0; --s) lower += cat(lower.empty() ? "" : " ", s);
      named[cat("lower_", r)] = lower;
    }
    for (const auto& [hole, access] : accesses) named[hole] = binding(access);
    return named;
  }
  int count;         // ranks
  std::int64_t all;  // lines · ranks
};

void Radix::begin_ranks(const Ranked& ranked, std::int64_t n) {
  RankJob job(*this, 'E', ranked, n);
  job.number_each("rank_", ranked.ranks);
  const int totals = job.words(ranked.totals, 256 * job.all, true), known = job.words(ranked.known, job.all, true),
            wanted = job.words(ranked.wanted, job.all, true);
  job.launch("ranks, nothing known yet", lines_, {}, [&] {
    Holes holes = job.holes_with({{"totals", totals}, {"wanted", wanted}});
    job.name_known(holes, known);
    return fill_holes(kRanksBegin, holes);
  });
}

void Radix::find_digits(const Words& from, const Ranked& ranked, std::int64_t n, int shift) {
  {
    RankJob job(*this, 'P', ranked, n);
    job.numbers({{"shift", shift}, {"top", shift + 8 == key_bits(dtype_)}});
    const int bits = job.words(from.bits, lines_ * n, false), known = job.words(ranked.known, job.all, false),
              totals = job.words(ranked.totals, 256 * job.all, true);
    job.make_atomic(totals);
    job.launch("ranks, counts of digits", lines_ * ranked.parts, {{job.atomic_word(), "counts", 256 * job.count}}, [&] {
      Holes holes = job.holes_with({{"totals", totals}});
      job.name_words(holes, "bits", bits), job.name_known(holes, known);
      return fill_holes(kRanksCount, holes);
    });
  }
  RankJob job(*this, 'R', ranked, n);
  job.numbers({{"shift", shift}});
  const int known = job.words(ranked.known, job.all, true), wanted = job.words(ranked.wanted, job.all, true),
            totals = job.words(ranked.totals, 256 * job.all, true);
  job.launch("ranks, a digit", lines_, {{"u32", "sums", 256}}, [&] {
    Holes holes = job.holes_with({{"wanted", wanted}, {"totals", totals}});
    job.name_known(holes, known);
    return fill_holes(kRanksFind, holes);
  });
}

void Radix::place_ranks(const Words& from, const Ranked& ranked, std::int64_t n, const View& places) {
  const View alike = make_places(ranked.parts * static_cast<std::int64_t>(ranked.ranks.size()));
  {
    RankJob job(*this, 'X', ranked, n);
    const int bits = job.words(from.bits, lines_ * n, false), known = job.words(ranked.known, job.all, false),
              counts = job.words(alike, job.all * ranked.parts, true);
    job.launch("ranks, elements alike", lines_ * ranked.parts,
               {{job.atomic_word(), "counts", detail::SortRequest::kMostRanks}}, [&] {
                 Holes holes = job.holes_with({{"alike", counts}});
                 job.name_words(holes, "bits", bits), job.name_known(holes, known);
                 return fill_holes(kRanksAlike, holes);
               });
  }
  RankJob job(*this, 'j', ranked, n);
  const int bits = job.words(from.bits, lines_ * n, false), known = job.words(ranked.known, job.all, false),
            wanted = job.words(ranked.wanted, job.all, false), counts = job.words(alike, job.all * ranked.parts, false),
            to = job.words(places, job.all, true);
  job.launch("ranks, places", job.all, {{"u32", "sums", 256}, {"u32", "found", 4}, {job.atomic_word(), "rows", 256}},
             [&] {
               Holes holes = job.holes_with({{"wanted", wanted}, {"alike", counts}, {"places", to}});
               job.name_words(holes, "bits", bits), job.name_known(holes, known);
               return fill_holes(kRanksPlace, holes);
             });
}

Radix::Places Radix::places_at(const Words& from, std::int64_t n, std::span<const std::int32_t> ranks) {
  // Texts for two numbers of ranks: further ones are as the last.
  std::vector<std::int32_t> all(ranks.begin(), ranks.end());
  all.resize(all.size() <= kFewRanks ? kFewRanks : std::size_t{detail::SortRequest::kMostRanks}, all.back());
  const auto count = static_cast<std::int64_t>(all.size());
  Ranked ranked;
  ranked.ranks = all, ranked.parts = ceil_div(n, kCountedPart);
  keep_.push_back(backend_.temporary(lines_ * count, dtype_size(dtype_) == 8 ? DType::i64 : DType::u32));
  ranked.known = {keep_.back().get(), dtype_size(dtype_) == 8 ? DType::i64 : DType::u32, 0, {}};
  ranked.wanted = make_places(count), ranked.totals = make_places(256 * count);
  begin_ranks(ranked, n);
  for (int shift = key_bits(dtype_) - 8; shift >= 0; shift -= 8) find_digits(from, ranked, n, shift);
  const View places = make_places(count);
  place_ranks(from, ranked, n, places);
  return {places, count};
}

}  // namespace tern::detail_gpu
