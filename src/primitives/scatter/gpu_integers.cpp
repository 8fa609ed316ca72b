// Sums of integers by index: by atomics, in any order, which their sums do not depend on. So counts (histograms,
// bincount) need no sort.
#include <algorithm>
#include <bit>

#include "formula/compute_types.hpp"
#include "gpu/plan/lines.hpp"
#include "gpu/text/io.hpp"
#include "gpu/text/text.hpp"
#include "primitives/scatter/gpu.hpp"

namespace tern::detail_gpu {

using detail::ScatterRequest;

namespace {

constexpr const char* kInTables =
#include "primitives/scatter/scatter_integers.wgsl.inc"
    ;
constexpr const char* kInMemory =
#include "primitives/scatter/scatter_integers_in_memory.wgsl.inc"
    ;
constexpr const char* kEntryPieces =
#include "primitives/scatter/scatter_line_pieces.wgsl.inc"
    ;

// Invocations of a workgroup, with tables as many as there may be: 2^22 entries into 8000 places took 21.6 and 15.8 us
// by CUDA with 256 and 512, 40 and 32 by WebGPU (H200, 30 November 2026).
constexpr std::uint32_t kAdding = 256, kAddingToTables = 512;
constexpr int kIntegersAhead = 4;  // entries an invocation fetches before it adds the first
// Up to so many entries of an element looking through them is quicker: 128 into 4 places 11 and 13 us, 256 20 and 14.
constexpr std::int64_t kFewMeeting = 128;
// Entries of a workgroup with a table at least, and how many workgroups there are where that is no fewer.
constexpr std::int64_t kLeastShare = 8192, kMostShares = 1024;
constexpr std::int64_t kLeastWords = 2048, kMostWords = 8192;  // of a table
constexpr std::int64_t kMostTableCopies = 32;                  // as many as there are banks of workgroup memory

class IntegerScatter {
 public:
  IntegerScatter(GpuBackend& backend, const ScatterRequest& request)
      : backend_(backend), r_(request), plan_(backend.limits(), request.op, 'I'), axes_(request) {
    in_tables_ = fits_tables();
    if (!in_tables_) axes_ = ScatterAxes(request, true);
  }
  void run() {
    lines_ = number(axes_.kept.count()), size_ = number(r_.target.size), count_ = number(axes_.summed.count());
    const std::int64_t count = axes_.summed.count(), lines = axes_.kept.count();
    const std::int64_t share = in_tables_ ? entries_of_group() : kIntegersAhead * std::int64_t{kAdding};
    const std::int64_t parts = ceil_div(count, share);
    if (in_tables_) parts_ = number(parts), share_ = number(share), copies_ = number(copies());
    plan_.add_axes(axes_.kept), plan_.add_axes(axes_.summed);
    add_operands(backend_, plan_, r_, axes_, views_);
    plan_.merge_parts(0);
    plan_.launch.threads = in_tables_ ? std::min(kAddingToTables, backend_.limits().threads) : kAdding;
    plan_.note(r_.source.dtype), plan_.note(in_tables_), plan_.note(in_tables_ ? words() : 0);
    plan_.note(plan_.launch.threads);
    plan_.finish_key();
    plan_.launch.groups = static_cast<std::uint64_t>(lines * parts);
    plan_.launch.in_bounds = true;
    backend_.queue(plan_.launch, [&] { return text(); });
  }

 private:
  int number(std::int64_t value) { return plan_.add_param(static_cast<std::uint64_t>(value)); }
  bool wide() const { return dtype_size(r_.output.dtype) == 8; }
  /// Whether each workgroup has a table: where that is filled more often than it is cleared and added up, and
  /// neighbours in memory are entries of one line.
  bool fits_tables() const {
    const std::int64_t bytes = words() * (wide() ? 8 : 4);
    std::size_t inner = 0;
    for (std::size_t i = 0; i < r_.space.size(); ++i)
      if (r_.space[i] > 1) inner = i;
    return r_.target.size <= kMostWords && bytes <= backend_.limits().shared_bytes && r_.output.strides[inner] == 0 &&
           axes_.summed.count() >= std::max(kLeastShare / 8, 2 * r_.target.size);
  }
  /// Words of a workgroup's tables, of few sizes: each is a text.
  std::int64_t words() const {
    std::int64_t words = kLeastWords;
    while (words < r_.target.size) words *= 2;
    return words;
  }
  std::int64_t copies() const {
    return std::min(kMostTableCopies, static_cast<std::int64_t>(std::bit_floor(
                                     static_cast<std::uint64_t>(std::max<std::int64_t>(words() / r_.target.size, 1)))));
  }
  std::int64_t entries_of_group() const {
    const std::int64_t count = axes_.summed.count(), even = ceil_div(count * axes_.kept.count(), kMostShares);
    return std::max({kLeastShare, 4 * r_.target.size, even});
  }

  std::string text() const {
    const Dialect& d = backend_.dialect();
    Io io(plan_, d);
    const detail::ComputeType type = detail::compute_type_of(r_.source.dtype);
    Position inside;
    std::vector<std::string> entry;
    Holes holes{{"type", compute_type_name(type)},
                {"size", d.param(size_)},
                {"count", in_tables_ ? "end" : d.param(count_)},
                {"threads", cat(plan_.launch.threads)},
                {"ahead", cat(kIntegersAhead)},
                {"entries", numbers(0, kIntegersAhead)},
                {"inside", "true"},
                {"word", wide() ? "u64" : "u32"},
                {"bits", wide() ? "u64" : "bitcast<u32>"}};
    holes.merge(pieces(kEntryPieces));
    holes["line_coordinates"] = io.coordinates(axes_.kept, "line", "c", inside.coordinates);
    holes["entry_coordinates"] = io.coordinates(axes_.summed, "j", "d", entry);
    Position outside = inside;  // of a line, or of an entry
    inside.coordinates.insert(inside.coordinates.end(), entry.begin(), entry.end());
    if (in_tables_) outside.coordinates.resize(inside.coordinates.size(), "0u");
    else outside = inside;
    inside.coordinates.push_back("0u");
    name_index(holes, plan_, io, d, 2, 3, inside);
    for (int e = 0; e < kIntegersAhead; ++e) {
      std::vector<std::string> values;
      holes[cat("load_", e)] = io.load(1, inside, values), holes[cat("new_", e)] = values[0];
    }
    const Access& output = plan_.access(0);
    holes["output_at"] = d.native() ? d.element(output.binding, output.size(), kFirst)
                                    : cat("b", output.binding, "[", kFirst, "]");
    const auto to = [&](const std::string& place) {
      outside.coordinates.push_back(place);
      const std::string element = io.element(output, outside, 0);
      outside.coordinates.pop_back();
      return element;
    };
    holes["to"] = to("place");
    for (int e = 0; e < kIntegersAhead; ++e) holes[cat("to_", e)] = to(cat("place", e));
    const bool of_one_line = std::all_of(output.steps.begin(), output.steps.end() - 1, [](char s) { return s == '0'; });
    holes["add_to_memory"] = holes[d.native() && !wide() && of_one_line ? "add_alike" : "add_alone"];
    if (!in_tables_)
      return module_text(backend_, plan_, "scatter, integers in memory", fill_holes(kInMemory, holes));
    return tables_text(holes);
  }
  std::string tables_text(Holes& holes) const {
    const Dialect& d = backend_.dialect();
    holes["lines"] = d.param(lines_), holes["parts"] = d.param(parts_), holes["share"] = d.param(share_);
    holes["all"] = d.param(count_), holes["copies"] = d.param(copies_), holes["words"] = cat(words());
    holes["barrier"] = d.barrier(), holes["parts_of_sum"] = numbers(0, wide() ? 2 : 1);
    holes["add_to_table"] = holes[wide() ? "add_to_two_words" : "add_to_one_word"];
    holes["sum_at"] = holes[wide() ? "two_words" : "one_word"];
    const auto count = static_cast<int>(words() * (wide() ? 2 : 1));
    const char* const title = wide() ? "scatter, integers of 64 bits in tables" : "scatter, integers in tables";
    return module_text(backend_, plan_, title, fill_holes(kInTables, holes),
                       {{d.native() ? "u32" : "atomic<u32>", "sums", count}});
  }

  GpuBackend& backend_;
  const ScatterRequest& r_;
  Plan plan_;
  ScatterAxes axes_;  // kept: the lines, summed: their entries; in memory all are entries
  ScatterViews views_;
  bool in_tables_ = false;
  int lines_ = -1, size_ = -1, count_ = -1, parts_ = -1, share_ = -1, copies_ = -1;
};

}  // namespace

bool adds_integers(const GpuBackend& backend, const ScatterRequest& r) {
  std::int64_t length = 1;  // entries that may meet in an element
  for (std::size_t i = 0; i < r.space.size(); ++i)
    if (r.output.strides[i] == 0) length *= r.space[i];
  return r.combine == detail::Combine::add && is_integer(r.source.dtype) && dtype_size(r.source.dtype) >= 4 &&
         length > kFewMeeting && !r.initial.storage && !backend.limits().archived &&
         backend.limits().threads >= kAdding;
}

void run_scatter_integers(GpuBackend& backend, const ScatterRequest& request) {
  IntegerScatter(backend, request).run();
}

}  // namespace tern::detail_gpu
