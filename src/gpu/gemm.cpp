#include "gpu/gemm.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "backend/trace.hpp"
#include "gpu/epilogue.hpp"
#include "gpu/gemm_tiles.hpp"
#include "gpu/io.hpp"
#include "gpu/text.hpp"

namespace tern::detail_gpu {

using detail::GemmRequest;
using detail::Lane;

namespace {

constexpr std::int64_t kManyTiles = 64;  // of 128×128, keep a GPU busier than more and smaller ones

/// How the elements of a or b are fetched: along which of its two axes they are neighbours in memory.
enum class Fetch : char { along_k, along_other, single };

/// A request with its batch axes merged into rows and k where operands follow each other.
struct Problem {
  const GemmRequest* request;
  std::int64_t m, n, k;
  Axes kept, contracted;  // views: outputs, operands, a, b
  std::size_t a, b;       // their place among the views
};

class GemmKernel {
 public:
  GemmKernel(GpuBackend& backend, const GemmRequest& request, Layouts layouts)
      : backend_(backend), r_(request), plan_(backend.limits(), request.op, 'g', layouts), epilogue_(request) {
    lay_out();
    choose_tile();
    choose_access();
  }

  /// False, having done nothing, where there is no such kernel in vectors.
  bool run() {
    Launch& launch = plan_.launch;
    launch.threads = static_cast<std::uint32_t>(tile_.threads());
    launch.in_bounds = whole_;
    launch.steps = static_cast<std::uint64_t>(m_ * n_ * k_ * kept_.count() * contracted_.count());
    const std::int64_t tiles_m = ceil_div(m_, tile_.m), tiles_n = ceil_div(n_, tile_.n);
    plan_.set(tiles_m_slot_, static_cast<std::uint64_t>(tiles_m)),
        plan_.set(tiles_n_slot_, static_cast<std::uint64_t>(tiles_n));
    launch.groups = static_cast<std::uint64_t>(tiles_m * tiles_n * kept_.count());
    plan_.note(r_.epilogue->serial), plan_.note(tile_), plan_.note(fetch_a_), plan_.note(fetch_b_), plan_.note(wide_a_),
        plan_.note(wide_b_);
    plan_.note(whole_), plan_.note(whole_columns_), plan_.note(r_.a.dtype);
    for (const int axis : kept_.original) plan_.note(static_cast<char>(axis));
    plan_.finish_key();
    const auto print = [this] { return text(); };
    if (plan_.layouts() == Layouts::vectors && !(in_vectors() && backend_.has_kernel(Layouts::vectors, launch, print)))
      return false;
    if (detail::tracing())
      detail::note(cat("tiles of ", tile_.m, "x", tile_.n, "x", tile_.k, ", ", launch.groups, " workgroups of ",
                       launch.threads, whole_ ? "" : ", checked edges", wide_a_ ? "" : ", a by elements",
                       wide_b_ ? "" : ", b by elements"));
    backend_.queue(launch, print);
    return true;
  }

 private:
  /// Of kernels made beforehand: factors are fetched in vectors, and floats.
  bool in_vectors() const {
    return wide_a_ && wide_b_ && kept_.sizes.size() == 1 && contracted_.sizes.size() == 1 && detail::is_float_lane(lane());
  }
  Lane lane() const { return detail::lane_of(r_.a.dtype); }

  void lay_out() {
    const int rank = r_.batch.rank();
    const auto row = static_cast<std::size_t>(rank), col = row + 1;
    m_ = r_.m, n_ = r_.n, k_ = r_.k;
    std::vector<const View*> views = epilogue_.views();
    const std::uint32_t pinned = epilogue_.pinned();
    const std::size_t over_tile = views.size();
    views.push_back(&r_.a), views.push_back(&r_.b);
    const std::uint32_t all = (1u << rank) - 1;
    kept_ = merge_axes(r_.batch, all & ~r_.contracted, views, pinned & all);
    contracted_ = merge_axes(r_.batch, all & r_.contracted, std::span(views).subspan(over_tile), 0);
    if (!(pinned & (all | 1u << rank))) merge_rows(r_, views, kept_, m_);
    merge_depth(r_, contracted_, k_);
    m_slot_ = plan_.add_param(static_cast<std::uint64_t>(m_)),
    n_slot_ = plan_.add_param(static_cast<std::uint64_t>(n_));
    k_slot_ = plan_.add_param(static_cast<std::uint64_t>(k_));
    tiles_m_slot_ = plan_.add_param(0), tiles_n_slot_ = plan_.add_param(0);
    plan_.add_axes(kept_);
    segments_slot_ = plan_.add_param(static_cast<std::uint64_t>(contracted_.count()));
    plan_.add_axes(contracted_);
    epilogue_.add_accesses(plan_, kept_);
    const auto add_factor = [&](const View& view, std::size_t place, std::size_t which) {
      std::vector<std::int64_t> strides = kept_.strides[place];
      strides.insert(strides.end(), contracted_.strides[which].begin(), contracted_.strides[which].end());
      strides.push_back(view.strides[row]), strides.push_back(view.strides[col]);
      return plan_.add_access(view, strides, false);
    };
    a_ = add_factor(r_.a, over_tile, 0), b_ = add_factor(r_.b, over_tile + 1, 1);
    epilogue_.add_numbers(plan_);
    bind();
  }

  void bind() {
    const std::vector<std::int64_t> over_tile = sizes_over_tile(r_);
    std::vector<ByteRange> touched;
    for (const Access& a : plan_.accesses) touched.push_back(bytes_touched(*a.view, over_tile));
    std::vector<std::int64_t> sizes(r_.batch.begin(), r_.batch.end());
    sizes.push_back(r_.m), sizes.push_back(r_.k);
    touched[static_cast<std::size_t>(a_)] = bytes_touched(r_.a, sizes);
    sizes[sizes.size() - 2] = r_.k, sizes.back() = r_.n;
    touched[static_cast<std::size_t>(b_)] = bytes_touched(r_.b, sizes);
    plan_.bind(touched);
  }

  void choose_tile() {
    if (plan_.layouts() != Layouts::own) {
      // Two tiles, of 64-bit accumulators one: more would be more kernels.
      const bool large = plan_.layouts() == Layouts::vectors && lane() == Lane::f32 &&
                         ceil_div(m_, 128) * ceil_div(n_, 128) * kept_.count() >= kManyTiles;
      tile_ = large ? GemmTile{128, 128, 8, 8, 8} : GemmTile{32, 32, 8, 4, 4};
      return;
    }
    tile_ = backend_.gemm_tiles()(m_, n_, kept_.count(), static_cast<int>(dtype_size(r_.a.dtype)));
    if (const char* text = std::getenv("TERN_GEMM_TILE"); text && *text) {
      GemmTile t;
      if (std::sscanf(text, "%d,%d,%d,%d,%d", &t.m, &t.n, &t.k, &t.part_m, &t.part_n) == 5) tile_ = t;
    }
  }

  /// Whether 16 bytes along an axis can be fetched at once.
  bool wide(const Access& a, std::size_t axis, std::int64_t size, int tile) const {
    const int unit = kVectorBytes / a.size();
    if (a.actual[axis] != 1 || size % unit || tile % unit) return false;
    for (std::size_t i = 0; i < a.actual.size(); ++i)
      if (i != axis && a.actual[i] % unit) return false;
    return a.view->offset % unit == 0;
  }

  void choose_access() {
    const Access &a = plan_.access(a_), &b = plan_.access(b_);
    const std::size_t row = a.actual.size() - 2, col = row + 1;
    wide_a_ = wide_b_ = true;
    if (wide(a, col, k_, tile_.k)) fetch_a_ = Fetch::along_k;
    else if (wide(a, row, m_, tile_.m)) fetch_a_ = Fetch::along_other;
    else wide_a_ = false, fetch_a_ = a.actual[row] == 1 ? Fetch::along_other : Fetch::along_k;
    if (wide(b, col, n_, tile_.n)) fetch_b_ = Fetch::along_other;
    else if (wide(b, row, k_, tile_.k)) fetch_b_ = Fetch::along_k;
    else wide_b_ = false, fetch_b_ = b.actual[row] == 1 ? Fetch::along_k : Fetch::along_other;
    if (plan_.layouts() != Layouts::own) return choose_packed_access();
    whole_ = m_ % tile_.m == 0 && n_ % tile_.n == 0 && k_ % tile_.k == 0;
    whole_columns_ = n_ % 4 == 0;
    if (wide_a_) plan_.make_wide(a_);
    if (wide_b_) plan_.make_wide(b_);
    for (const auto* list : {&epilogue_.outputs(), &epilogue_.operands()})
      for (const int i : *list) {
        const Access& x = plan_.access(i);
        const auto inner = x.actual.size() - 1;
        const auto fits = [&](std::int64_t unit) {
          if (x.actual[inner] != 1 || n_ % unit || x.view->offset % unit) return false;
          for (std::size_t k = 0; k < inner; ++k)
            if (x.actual[k] % unit) return false;
          return true;
        };
        if (x.size() == 4 && fits(4)) plan_.make_wide(i);
        if (x.written && x.size() < 4 && !(fits(4 / x.size()) && n_ % 4 == 0)) plan_.merge_parts(i);
      }
    for (std::size_t i = 0; i < plan_.accesses.size(); ++i) {  // a buffer whose words are merged is read word by word
      if (!plan_.binding_of(static_cast<int>(i)).atomic) continue;
      plan_.accesses[i].wide = false;
      plan_.binding_of(static_cast<int>(i)).vectors = false;
      if (static_cast<int>(i) == a_) wide_a_ = false;
      if (static_cast<int>(i) == b_) wide_b_ = false;
    }
  }

  /// Kernels made beforehand check every edge, and write by elements.
  void choose_packed_access() {
    whole_ = whole_columns_ = false;
    if (plan_.layouts() == Layouts::any)
      wide_a_ = wide_b_ = false, fetch_a_ = Fetch::along_k, fetch_b_ = Fetch::along_other;
    if (wide_a_) plan_.make_wide(a_);
    if (wide_b_) plan_.make_wide(b_);
  }

  // ---- text ----
  std::string p(int slot) const { return backend_.dialect().param(slot); }
  const char* scalar() const { return lane_name(lane()); }
  std::string vector() const { return cat("vec4<", scalar(), ">"); }

  /// Lines that fetch one tile of a factor into workgroup memory as vectors of four along m or n.
  std::string fetch(const Io& io, int access, bool is_a, const std::string& base) const {
    const Access& x = plan_.access(access);
    const Fetch how = is_a ? fetch_a_ : fetch_b_;
    const bool wide = is_a ? wide_a_ : wide_b_;
    const int across = is_a ? tile_.m : tile_.n, unit = wide ? kVectorBytes / x.size() : 1;
    const std::size_t row = x.actual.size() - 2;
    const std::size_t axis_k = is_a ? row + 1 : row, axis_other = is_a ? row : row + 1;
    const bool along_k = how == Fetch::along_k;
    const int units = across * tile_.k / unit, threads = tile_.threads(), inner = (along_k ? tile_.k : across) / unit;
    const std::string memory = is_a ? "tile_a" : "tile_b", first = is_a ? "first_m" : "first_n",
                      bound = is_a ? p(m_slot_) : p(n_slot_);
    std::string lines;
    for (int begin = 0; begin < units; begin += threads) {
      const std::string u = begin ? cat("(thread + ", begin, "u)") : std::string("thread");
      std::string one =
          cat("let major = ", u, " / ", inner, "u;\nlet minor = (", u, " - major * ", inner, "u) * ", unit, "u;\n");
      one += along_k ? "let o = major;\nlet kk = minor;\n" : "let o = minor;\nlet kk = major;\n";
      const auto stride = [&](std::size_t axis, const std::string& c) {
        return x.steps[axis] == '0'   ? std::string()
               : x.steps[axis] == '1' ? cat(" + ", c)
                                      : cat(" + ", c, " * ", p(x.strides[axis]));
      };
      one += cat("let at = ", base, stride(axis_other, cat("(", first, " + o)")), stride(axis_k, "(kt + kk)"), ";\n");
      const std::string inside = cat(first, " + o < ", bound, " && kt + kk < ", p(k_slot_));
      std::vector<std::string> values;
      if (wide) {
        one += whole_ ? cat("let q = b", x.binding, "[at / ", unit, "u];\n")
                      : cat("var q = vec4<u32>();\nif (", inside, ") { q = b", x.binding, "[at / ", unit, "u]; }\n");
        for (int e = 0; e < unit; ++e) {
          if (x.size() == 8) {
            values.push_back(unpacked(x.dtype(), e ? "tern_join(q.z, q.w)" : "tern_join(q.x, q.y)"));
            continue;
          }
          const int per_word = 4 / x.size(), shift = e % per_word * 8 * x.size();
          std::string bits = cat("q.", "xyzw"[e / per_word]);
          if (per_word > 1) bits = shift ? cat("(", bits, " >> ", shift, "u)") : cat("(", bits, " & 0xffffu)");
          values.push_back(x.dtype() == DType::f16 ? cat("tern_f16_factor(", bits, ")") : unpacked(x.dtype(), bits));
        }
      } else {
        one += whole_ ? cat("let x = ", io.loaded(x, "at"), ";\n")
                      : cat("var x = ", scalar(), "();\nif (", inside, ") { x = ", io.loaded(x, "at"), "; }\n");
        values.push_back("x");
      }
      one += place(memory, across, along_k, values);
      lines += units % threads && begin + threads > units ? cat("if (", u, " < ", units, "u) {\n", indented(one), "}\n")
                                                          : cat("{\n", indented(one), "}\n");
    }
    return lines;
  }
  /// Lines that put fetched values into workgroup memory, [k][across/4] vectors.
  std::string place(const std::string& memory, int across, bool along_k, const std::vector<std::string>& values) const {
    std::string lines;
    const int unit = static_cast<int>(values.size());
    if (!along_k && unit >= 4) {
      for (int e = 0; e < unit; e += 4)
        lines += cat(memory, "[kk * ", across / 4, "u + o / 4u + ", e / 4, "u] = ", vector(), "(",
                     join({values.begin() + e, values.begin() + e + 4}), ");\n");
      return lines;
    }
    for (int e = 0; e < unit; ++e)
      lines += along_k ? cat(memory, "[(kk + ", e, "u) * ", across / 4,
                             "u + o / 4u][o & 3u] = ", values[static_cast<std::size_t>(e)], ";\n")
                       : cat(memory, "[kk * ", across / 4, "u + (o + ", e, "u) / 4u][(o + ", e,
                             "u) & 3u] = ", values[static_cast<std::size_t>(e)], ";\n");
    return lines;
  }

  std::string accumulate() const {
    const int blocks_m = tile_.part_m / 4, blocks_n = tile_.part_n / 4;
    const int step_m = tile_.m / tile_.part_m,
              step_n = tile_.n / tile_.part_n;  // vectors between an invocation's blocks
    std::string lines;
    for (int kk = 0; kk < tile_.k; ++kk) {
      std::string one;
      for (int i = 0; i < blocks_m; ++i)
        one += cat("let a", i, " = tile_a[", kk * tile_.m / 4 + i * step_m, "u + ty];\n");
      for (int j = 0; j < blocks_n; ++j)
        one += cat("let c", j, " = tile_b[", kk * tile_.n / 4 + j * step_n, "u + tx];\n");
      for (int i = 0; i < blocks_m; ++i)
        for (int r = 0; r < 4; ++r)
          for (int j = 0; j < blocks_n; ++j) {
            const std::string acc = cat("acc", i * 4 + r, "_", j), factor = cat(vector(), "(a", i, ".", "xyzw"[r], ")");
            one += detail::is_float_lane(lane()) ? cat(acc, " = fma(", factor, ", c", j, ", ", acc, ");\n")
                                                 : cat(acc, " += ", factor, " * c", j, ";\n");
          }
      lines += cat("{\n", indented(one), "}\n");
    }
    return lines;
  }

  /// Lines that apply the epilogue to one row of the invocation's part (acc0_j) and store it.
  std::string finish(Io& io, const Function& f, const std::vector<std::string>& batch) const {
    const int blocks_n = tile_.part_n / 4;
    std::string lines;
    for (int j = 0; j < blocks_n; ++j) {
      std::string one = cat("let col = first_n + ", j * tile_.n / blocks_n, "u + tx * 4u;\n");
      Position at{batch, 0, 4};
      at.coordinates.push_back("row"), at.coordinates.push_back("col");
      at.inner = static_cast<int>(at.coordinates.size()) - 1;
      const std::string guard = whole_ || whole_columns_ ? std::string() : cat("col + $0 < ", p(n_slot_));
      one += epilogue_.finish(io, backend_.dialect(), f, at, kept_,
                              [j](int e) { return cat("acc0_", j, ".", "xyzw"[e]); }, guard);
      lines += whole_ ? cat("{\n", indented(one), "}\n")
                      : cat("if (first_n + ", j * tile_.n / blocks_n, "u + tx * 4u < ", p(n_slot_), ") {\n",
                            indented(one), "}\n");
    }
    return lines;
  }
  std::string text() {
    const Dialect& d = backend_.dialect();
    const Function f = epilogue_.function(d);
    Io io(plan_, d);
    const int across_n = tile_.n / tile_.part_n, blocks_m = tile_.part_m / 4, blocks_n = tile_.part_n / 4;
    std::string body = cat("let tiles = ", p(tiles_m_slot_), " * ", p(tiles_n_slot_),
                           ";\nlet batch = group / tiles;\nlet tile = group - batch * tiles;\n");
    // Bands of eight rows of tiles: workgroups that run together share rows of a and columns of b.
    body += cat("let band = tile / (8u * ", p(tiles_n_slot_), ");\nlet in_band = tile - band * 8u * ", p(tiles_n_slot_),
                ";\nlet band_rows = min(8u, ", p(tiles_m_slot_), " - band * 8u);\n");
    body += cat("let first_m = (band * 8u + in_band % band_rows) * ", tile_.m,
                "u;\nlet first_n = in_band / band_rows * ", tile_.n, "u;\n");
    body += cat("let ty = thread / ", across_n, "u;\nlet tx = thread - ty * ", across_n, "u;\n");
    std::vector<std::string> batch;
    body += io.coordinates(kept_, "batch", "n", batch);
    for (int i = 0; i < tile_.part_m; ++i)
      for (int j = 0; j < blocks_n; ++j) body += cat("var acc", i, "_", j, " = ", vector(), "();\n");
    std::string inner;
    std::vector<std::string> segment;
    const bool segmented = !contracted_.sizes.empty();
    if (segmented) inner += io.coordinates(contracted_, "segment", "s", segment);
    std::vector<std::string> coordinates = batch;
    coordinates.insert(coordinates.end(), segment.begin(), segment.end());
    const auto base = [&](int access) {
      const Access& x = plan_.access(access);
      std::string sum = p(x.base);
      for (std::size_t i = 0; i < coordinates.size(); ++i)
        if (x.steps[i] != '0')
          sum += x.steps[i] == '1' ? cat(" + ", coordinates[i]) : cat(" + ", coordinates[i], " * ", p(x.strides[i]));
      return sum;
    };
    inner += cat("let base_a = ", base(a_), ";\nlet base_b = ", base(b_), ";\n");
    inner += cat("for (var kt = 0u; kt < ", p(k_slot_), "; kt += ", tile_.k, "u) {\n",
                 indented(fetch(io, a_, true, "base_a") + fetch(io, b_, false, "base_b") + d.barrier() + accumulate() +
                          d.barrier()),
                 "}\n");
    body += segmented ? cat("for (var segment = 0u; segment < ", p(segments_slot_), "; segment += 1u) {\n",
                            indented(inner), "}\n")
                      : inner;
    // The rows of a part take turns in acc0: one copy of the epilogue's text serves all.
    std::string row = cat("let row = first_m + (i / 4u) * ", tile_.m / blocks_m, "u + ty * 4u + (i & 3u);\n");
    const std::string rest = finish(io, f, batch);
    row += whole_ ? rest : cat("if (row < ", p(m_slot_), ") {\n", indented(rest), "}\n");
    for (int i = 0; i + 1 < tile_.part_m; ++i)
      for (int j = 0; j < blocks_n; ++j) row += cat("acc", i, "_", j, " = acc", i + 1, "_", j, ";\n");
    body += cat("for (var i = 0u; i < ", tile_.part_m, "u; i += 1u) {\n", indented(row), "}\n");
    Module module{cat("product, tiles of ", tile_.m, "x", tile_.n, "x", tile_.k),
                  plan_.launch.bindings,
                  plan_.launch.params.size(),
                  plan_.launch.threads,
                  {{vector(), "tile_a", tile_.m * tile_.k / 4}, {vector(), "tile_b", tile_.n * tile_.k / 4}},
                  f.text,
                  body};
    return d.module(module);
  }

  GpuBackend& backend_;
  const GemmRequest& r_;
  Plan plan_;
  Epilogue epilogue_;
  GemmTile tile_;
  Axes kept_, contracted_;
  std::int64_t m_ = 0, n_ = 0, k_ = 0;
  Fetch fetch_a_ = Fetch::single, fetch_b_ = Fetch::single;
  bool wide_a_ = false, wide_b_ = false, whole_ = false, whole_columns_ = false;
  int a_ = -1, b_ = -1, m_slot_ = -1, n_slot_ = -1, k_slot_ = -1, tiles_m_slot_ = -1, tiles_n_slot_ = -1,
      segments_slot_ = -1;
};

}  // namespace

void run_gemm_kernel(GpuBackend& backend, const GemmRequest& request) {
  run_in_layouts(backend.limits(), [&](Layouts layouts) { return GemmKernel(backend, request, layouts).run(); });
}

}  // namespace tern::detail_gpu
