// Scatter-reduce for large tables: the table is sorted along with the places its entries had, stably; an element of the
// output then finds its entries by bisection, in their order. No atomics: sums have the same bits every time.
#include <algorithm>
#include <bit>

#include "gpu/text/io.hpp"
#include "gpu/radix/radix.hpp"
#include "primitives/scatter/gpu.hpp"
#include "primitives/sort/kernels.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_gpu {

using detail::ScatterRequest;

namespace {

constexpr std::int64_t kMostEntries = std::int64_t{1} << 20;  // an invocation goes through in one launch
constexpr std::int64_t kShortLine = 4096;  // a workgroup sorts these at once, whatever the keys
// Where this many entries meet in an element on average, a workgroup fetches them, side by side, for a few neighbouring
// elements, each of which one invocation sums in order from the workgroup's memory.
constexpr std::int64_t kManyEntries = 64;
constexpr std::uint32_t kFetching = 256;  // invocations
constexpr int kFetchedEach = 4;           // by an invocation before the sums go on
constexpr std::int64_t kNeighbours = 32;

class SortedScatter {
 public:
  SortedScatter(GpuBackend& backend, const ScatterRequest& request) : backend_(backend), r_(request) {
    const View& table = r_.target.table;
    lined_.strides.resize(r_.space.rank(), 0);
    const auto lay = [&](bool summed, std::int64_t step) {
      for (int i = r_.space.rank() - 1; i >= 0; --i) {
        const auto axis = static_cast<std::size_t>(i);
        if ((r_.output.strides[axis] == 0) != summed || (!summed && table.strides[axis] == 0)) continue;
        if (summed) summed_ |= 1u << i;
        else lines_ |= 1u << i;
        lined_.strides[axis] = step;
        step *= r_.space[axis];
      }
      return step;
    };
    length_ = lay(true, 1);
    count_ = lay(false, length_);
    lined_.dtype = DType::i32;
    entries_ = new_words(), keys_ = new_words(), places_ = new_words();
  }

  void run() {
    read_table();
    const std::int64_t lines = count_ / length_;
    const auto view = [&](const View& v) { return View{v.storage, DType::i32, 0, {length_, 1}}; };
    if (length_ <= kShortLine) {
      sort_on_gpu(backend_, {r_.op, Shape{lines, length_}, 1, false, view(entries_), view(keys_), view(places_)});
    } else {  // by as many digits as there are
      const auto bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(r_.target.size)));
      Radix(backend_, r_.op, DType::u32, false, lines).sort({entries_, {}}, length_, bits, {keys_, places_});
    }
    run_in_layouts(backend_.limits(), [this](Layouts layouts) { return combine(layouts); });
  }

 private:
  View new_words() {
    keep_.push_back(backend_.temporary(count_, DType::i32));
    View view = lined_;
    view.storage = keep_.back().get();
    return view;
  }
  std::uint32_t threads() const { return std::min<std::uint32_t>(256, backend_.limits().threads); }

  /// The entries as [lines, length], counted from 0; those out of range are noted, and stand behind all others.
  void read_table() {
    Shape space = r_.space;
    for (int i = 0; i < space.rank(); ++i)
      if (!((summed_ | lines_) >> i & 1)) space[static_cast<std::size_t>(i)] = 1;
    const View* views[] = {&entries_, &r_.target.table};
    Plan plan(backend_.limits(), r_.op, 'S');
    Axes axes = merge_axes(space, (1u << space.rank()) - 1, views, 0);
    const int count = plan.add_param(static_cast<std::uint64_t>(count_)),
              size = plan.add_param(static_cast<std::uint64_t>(r_.target.size));
    plan.add_axes(axes);
    for (std::size_t v = 0; v < 2; ++v) plan.add_access(*views[v], axes.strides[v], v == 0);
    const View flags{&backend_.index_flags(), DType::u32, 0, {}};
    plan.make_atomic(plan.add_access(flags, {}, true));
    plan.launch.check_slot = plan.add_param(0), plan.launch.checked_size = r_.target.size;
    const std::vector<std::int64_t> sizes(space.begin(), space.end());
    plan.bind({bytes_touched(entries_, sizes), bytes_touched(r_.target.table, sizes), {0, 8}});
    prepare(plan);
    launch(plan, count_, [&] {
      const Dialect& d = backend_.dialect();
      Io io(plan, d);
      Position at;
      std::string body = start(plan, count) + io.coordinates(axes, "t", "c", at.coordinates);
      const Access &entry = plan.access(0), &table = plan.access(1);
      body += cat("let index = ", io.loaded(table, io.element(table, at, 0)), ";\n");
      body += cat("var place = bitcast<u32>(index) + select(0u, ", d.param(size), ", index < 0);\n");
      body += cat("if (place >= ", d.param(size), ") {\n",
                  indented(cat(d.report_index(plan.access(2).binding, d.param(plan.launch.check_slot), "index"),
                               "place = ", d.param(size), ";\n")),
                  "}\n");
      body += io.stored(entry, io.element(entry, at, 0), "bitcast<i32>(place)");
      return module(plan, "scatter, reading the table", body);
    });
  }

  /// False, having done nothing, where there is no such kernel in vectors.
  bool combine(Layouts layouts) {
    const View* views[] = {&r_.output, &r_.source, &keys_, &places_};
    const std::uint32_t all = (1u << r_.space.rank()) - 1;
    Plan plan(backend_.limits(), r_.op, 'C', layouts);
    Axes kept = merge_axes(r_.space, all & ~summed_, views, 0), summed = merge_axes(r_.space, summed_, views, 0);
    Slots s;
    s.outputs = plan.add_param(0), s.kept = plan.add_param(0);
    s.length = plan.add_param(static_cast<std::uint64_t>(length_));
    s.begin = plan.add_param(0), s.end = plan.add_param(0);
    plan.add_axes(kept), plan.add_axes(summed);
    plan.set_inner(static_cast<int>(kept.sizes.size()) - 1);
    std::vector<ByteRange> touched;
    const std::vector<std::int64_t> sizes(r_.space.begin(), r_.space.end());
    for (std::size_t v = 0; v < 4; ++v) {
      std::vector<std::int64_t> strides = kept.strides[v];
      strides.insert(strides.end(), summed.strides[v].begin(), summed.strides[v].end());
      strides.push_back(v == 0 ? r_.target.step : 0);  // the entry, as one more axis
      plan.add_access(*views[v], strides, v == 0);
      touched.push_back(bytes_touched(*views[v], sizes));
    }
    Operand output;
    output.view = r_.output, output.gather = &r_.target;
    touched[0] = bytes_touched(output, sizes);
    plan.bind(touched);
    s.fetched = lines_ == 0 && backend_.limits().threads >= kFetching && length_ >= kManyEntries * r_.target.size;
    if (s.fetched)
      s.across = static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(std::min(kept.count(), kNeighbours))));
    else s.group = scatter_group(plan, kept, {2, 3});
    const std::int64_t outputs = ceil_div(kept.count(), s.fetched ? s.across : s.group) * r_.target.size;
    plan.note(s.fetched), plan.note(static_cast<char>(s.across));
    plan.set(s.outputs, static_cast<std::uint64_t>(outputs));
    plan.set(s.kept, static_cast<std::uint64_t>(kept.count() / s.group));
    plan.note(r_.combine), plan.note(r_.source.dtype), plan.note(static_cast<char>(s.group));
    const auto print = [&] {
      return s.fetched ? fetched_text(plan, s, kept, summed) : combine_text(plan, s, kept, summed);
    };
    prepare(plan);
    if (layouts == Layouts::vectors && !(kept.sizes.size() == 1 && summed.sizes.size() == 1 && plan.in_vectors() &&
                                         backend_.has_kernel(layouts, plan.launch, print)))
      return false;
    for (std::int64_t begin = 0; begin < length_; begin += kMostEntries) {
      plan.set(s.begin, static_cast<std::uint64_t>(begin));
      plan.set(s.end, static_cast<std::uint64_t>(std::min(length_, begin + kMostEntries)));
      launch(plan, s.fetched ? outputs * plan.launch.threads : outputs, print);
    }
    return true;
  }
  struct Slots {
    int outputs, kept, length, begin, end, group = 1;
    bool fetched = false;
    int across = 1;  // neighbouring elements of a workgroup that fetches
  };

  /// What both kernels begin with, once `wanted` and `k` are there: where the element is, and where its line of keys
  /// is.
  struct Places {
    Position at, outside;
    std::string entry;  // lines that compute coordinates from a place `j`
    std::string begin;
  };
  Places places_of(const Plan& plan, const Slots& s, const Axes& kept, const Axes& summed, const Io& io) const {
    Places p;
    p.at = {{}, static_cast<int>(kept.sizes.size()) - 1, s.group};
    std::vector<std::string> inner;
    p.begin = io.coordinates(kept, "k", "c", p.at.coordinates);
    p.entry = io.coordinates(summed, "j", "d", inner);
    p.outside = p.at;
    p.at.coordinates.insert(p.at.coordinates.end(), inner.begin(), inner.end());
    p.outside.coordinates.resize(p.at.coordinates.size(), "0u");
    p.at.coordinates.push_back("0u"), p.outside.coordinates.push_back("wanted");
    p.begin += cat("let keys = ", io.element(plan.access(2), p.outside, 0), ";\nlet places = ",
                   io.element(plan.access(3), p.outside, 0), ";\n");
    return p;
  }
  static std::string key(const Plan& plan, const Io& io, const char* index) {
    return cat("bitcast<u32>(", io.loaded(plan.access(2), cat("keys + ", index)), ")");
  }
  /// Lines that bisect for the first entry of a line that is not less than `bound`: `name`.
  std::string bisected(const Plan& plan, const Slots& s, const Io& io, const std::string& name,
                       const char* bound) const {
    const std::string high = name + "_high", middle = name + "_middle";
    return cat("var ", name, " = 0u;\nvar ", high, " = ", backend_.dialect().param(s.length), ";\nfor (; ", name, " < ",
               high, ";) {\n  let ", middle, " = (", name, " + ", high, ") / 2u;\n  if (",
               key(plan, io, middle.c_str()), " < ", bound, ") { ", name, " = ", middle, " + 1u; } else { ", high,
               " = ", middle, "; }\n}\n");
  }

  /// An invocation to an element, or a few neighbours.
  std::string combine_text(const Plan& plan, const Slots& s, const Axes& kept, const Axes& summed) const {
    const Dialect& d = backend_.dialect();
    Io io(plan, d);
    std::string body = start(plan, s.outputs);
    body += cat("let wanted = t / ", d.param(s.kept), ";\nlet k = (t - wanted * ", d.param(s.kept), ") * ", s.group,
                "u;\n");
    const Places p = places_of(plan, s, kept, summed, io);
    body += p.begin + bisected(plan, s, io, "low", "wanted");
    const GroupSums sums(io, r_, p.outside, s.group);
    body += sums.begin;
    body += cat("low = max(low, ", d.param(s.begin), ");\n");
    std::string next = cat("if (", key(plan, io, "low"), " != wanted) { break; }\nlet j = bitcast<u32>(",
                           io.loaded(plan.access(3), "places + low"), ");\n", p.entry);
    next += sums.combine(d, p.at);
    body += cat("for (; low < ", d.param(s.end), "; low += 1u) {\n", indented(next), "}\n");
    body += sums.store();
    return module(plan, "scatter, sorted", body);
  }

  /// A workgroup to a few neighbouring elements: it fetches their entries, `fetched` at once, and an invocation to each
  /// element adds them in order. All agree on every branch around a barrier.
  std::string fetched_text(const Plan& plan, const Slots& s, const Axes& kept, const Axes& summed) const {
    const Dialect& d = backend_.dialect();
    Io io(plan, d);
    const char* const type = lane_name(detail::lane_of(r_.source.dtype));
    const int rows = static_cast<int>(kFetching) / s.across, fetched = rows * kFetchedEach;
    std::string body =
        cat("if (group >= ", d.param(s.outputs), ") { return; }\nlet tiles = (", d.param(s.kept), " + ", s.across - 1,
            "u) / ", s.across, "u;\nlet wanted = group / tiles;\nlet column = thread % ", s.across,
            "u;\nlet row = thread / ", s.across, "u;\nlet stands = (group - wanted * tiles) * ", s.across,
            "u + column;\nlet k = min(stands, ", d.param(s.kept), " - 1u);\n");
    const Places p = places_of(plan, s, kept, summed, io);
    body += p.begin + bisected(plan, s, io, "low", "wanted") + bisected(plan, s, io, "over", "wanted + 1u");
    body += cat("let first = max(low, ", d.param(s.begin), ");\nlet end = min(over, ", d.param(s.end), ");\n");
    const GroupSums sums(io, r_, p.outside, 1);
    body += sums.begin;
    std::string step;
    for (int e = 0; e < kFetchedEach; ++e) {
      std::vector<std::string> values;
      const std::string entry = cat("entry", e), value = cat("value", e);
      const std::string load = io.load(1, p.at, values);
      step += cat("let ", entry, " = start + row + ", e * rows, "u;\nvar ", value, " = ", type, "();\nif (", entry,
                  " < end) {\n",
                  indented(cat("let j = bitcast<u32>(", io.loaded(plan.access(3), cat("places + ", entry)), ");\n",
                               p.entry, load, value, " = ", values[0], ";\n")),
                  "}\n");
    }
    for (int e = 0; e < kFetchedEach; ++e) step += cat("values[thread + ", e * kFetching, "u] = value", e, ";\n");
    step += d.barrier();
    step += cat("if (row == 0u) {\n  let count = min(", fetched, "u, end - start);\n",
                "  for (var i = 0u; i < count; i += 1u) {\n    ", sums.combine_value(d, cat("values[i * ", s.across,
                "u + column]")), "  }\n}\n", d.barrier());
    body += cat("for (var start = first; start < end; start += ", fetched, "u) {\n", indented(step), "}\n");
    body += cat("if (row == 0u && stands < ", d.param(s.kept), ") {\n", indented(sums.store()), "}\n");
    return backend_.dialect().module({"scatter, fetched", plan.launch.bindings, plan.launch.params.size(),
                                      plan.launch.threads,
                                      {{type, "values", static_cast<int>(kFetching) * kFetchedEach}}, "", body});
  }

  std::string start(const Plan& plan, int count_slot) const {
    return cat("let t = group * ", plan.launch.threads, "u + thread;\nif (t >= ", backend_.dialect().param(count_slot),
               ") { return; }\n");
  }
  std::string module(const Plan& plan, const char* what, const std::string& body) const {
    return backend_.dialect().module(
        {what, plan.launch.bindings, plan.launch.params.size(), plan.launch.threads, {}, "", body});
  }
  /// After the last change to the plan.
  void prepare(Plan& plan) const {
    plan.launch.threads = threads();
    plan.note(plan.launch.threads);
    plan.finish_key();
  }
  void launch(Plan& plan, std::int64_t invocations, const std::function<std::string()>& text) {
    plan.launch.groups = static_cast<std::uint64_t>(ceil_div(invocations, plan.launch.threads));
    backend_.queue(plan.launch, text);
  }

  GpuBackend& backend_;
  const ScatterRequest& r_;
  std::uint32_t summed_ = 0, lines_ = 0;  // axes the output does not have, and those the table varies along besides
  std::int64_t length_ = 1, count_ = 1;   // entries that may meet in an element, and all of them
  View lined_, entries_, keys_, places_;  // [lines, length] laid over the request's space
  std::vector<std::shared_ptr<Storage>> keep_;
};

}  // namespace

void run_scatter_sorted(GpuBackend& backend, const ScatterRequest& request) { SortedScatter(backend, request).run(); }

}  // namespace tern::detail_gpu
