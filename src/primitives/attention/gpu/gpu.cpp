// Attention on GPUs, forward: fills the holes of attention.wgsl.
#include "primitives/attention/gpu/gpu_scores.hpp"
#include "primitives/attention/gpu/gpu_tiles.hpp"
#include "primitives/attention/kernels.hpp"

namespace tern::detail_gpu {
namespace {

using detail::AttentionRequest;
using detail::ComputeType;

constexpr const char* kTiledForward =
#include "primitives/attention/gpu/attention.wgsl.inc"
    ;

class GpuForward {
 public:
  GpuForward(GpuBackend& backend, const AttentionRequest& r)
      : backend_(backend),
        r_(r),
        tile_(forward_tile(backend.limits(), r.sizes, type(), r.blocks.storage != nullptr)),
        plan_(backend.limits(), r.op, 'A'),
        slots_(plan_, backend.dialect(), r.sizes, type(), ceil_div(r.sizes.rows, tile_.own)),
        q_(add_whole(plan_, r.q)),
        k_(add_whole(plan_, r.k)),
        v_(add_whole(plan_, r.v)),
        out_(add_whole(plan_, r.out, true)),
        tops_(r.tops.storage ? add_whole(plan_, r.tops, true) : -1),
        totals_(r.tops.storage ? add_whole(plan_, r.totals, true) : -1),
        lengths_(r.lengths.storage ? add_whole(plan_, r.lengths) : -1),
        blocks_(r.blocks.storage ? add_whole(plan_, r.blocks) : -1),
        scores_(plan_, r.programs.score, r.programs.open, r.inputs, 1),
        thin_(plan_, r.programs.thin, r.inputs, 1) {}

  void run() {
    std::vector<ByteRange> touched;
    for (const Access& a : plan_.accesses) touched.push_back(bytes_touched(*a.view, sizes_of(a)));
    plan_.bind(touched);
    choose_access();
    for (const detail::Program* p : {r_.programs.score, r_.programs.open, r_.programs.thin})
      plan_.note(p ? p->serial : 0);
    plan_.note(r_.q.dtype), plan_.note(static_cast<char>(blocks_ >= 0));
    plan_.note(static_cast<char>(lengths_ >= 0)), plan_.note(static_cast<char>(tops_ >= 0));
    plan_.note(static_cast<char>(r_.sizes.width % 4 == 0));
    for (const bool wide : {wide_q_, wide_k_, wide_v_}) plan_.note(static_cast<char>(wide));
    plan_.note(static_cast<std::int32_t>(tile_.sums(r_.sizes.width)));
    tile_.note([&](std::int32_t n) { plan_.note(n); });
    plan_.launch.groups =
        static_cast<std::uint64_t>(r_.sizes.of_rows().numel() / r_.sizes.rows * ceil_div(r_.sizes.rows, tile_.own));
    plan_.launch.threads = static_cast<std::uint32_t>(tile_.threads());
    // What is fetched and stored is compared with the sizes, what a formula reads stays inside them.
    plan_.trust_exact_groups();
    plan_.finish_key();
    backend_.queue(plan_.launch, [&] { return text(); });
  }

 private:
  std::vector<std::int64_t> sizes_of(const Access& a) const {
    const detail::AttentionSizes& s = r_.sizes;
    const Shape shape = a.view == &r_.q                              ? s.of_q()
                        : a.view == &r_.k                            ? s.of_k()
                        : a.view == &r_.v                            ? s.of_v()
                        : a.view == &r_.out                          ? s.of_result()
                        : a.view == &r_.tops || a.view == &r_.totals ? s.of_rows()
                        : a.view == &r_.lengths                      ? Shape{s.batch}
                        : a.view == &r_.blocks                       ? s.of_blocks()
                                                                     : s.of_scores();
    return {shape.begin(), shape.end()};
  }
  ComputeType type() const { return detail::compute_type_of(r_.q.dtype); }
  std::string p(int slot) const { return backend_.dialect().param(slot); }

  /// How each operand is loaded, and the result stored.
  void choose_access() {
    const detail::AttentionSizes& s = r_.sizes;
    wide_q_ = in_units_of_scores(plan_, q_, s.depth, tile_.depth);
    wide_k_ = in_units_of_scores(plan_, k_, s.depth, tile_.depth);
    wide_v_ = in_units_of_scores(plan_, v_, s.width, tile_.sums(s.width));
    for (const auto& [access, wide] : {std::pair{q_, wide_q_}, {k_, wide_k_}, {v_, wide_v_}})
      if (wide) plan_.make_wide(access);
    store_in_vectors(plan_, out_, s.width);
  }

  std::string text() const {
    const Dialect& d = backend_.dialect();
    Io io(plan_, d);
    const ScoreTiles tiles(io, d, plan_, type(), tile_);
    Holes h = slots_.holes();
    fill_tile(tiles, h);
    h["part"] = slots_.part_lines("group"), h["range"] = slots_.columns_of("first_row", tile_.own, detail::kMaskBlock);
    h["length"] = length_lines(io, lengths_, slots_.p(slots_.columns)),
    h["block"] = block_lines(io, d, blocks_, "first_row", "column");
    h["score_steps"] = tiles.score_steps({q_, {"batch", "head"}, "first_row", h["rows"], wide_q_},
                                         {k_, {"batch", "key_head"}, "column", h["columns"], wide_k_}, h["depth"], "s");
    // Beyond a sample's length v is not its own: a share of 0 times what lies there could be NaN.
    h["sum_steps"] = tiles.sum_steps({v_, {"batch", "key_head"}, "column", lengths_ >= 0 ? "length" : h["columns"],
                                      wide_v_}, h["width"], r_.sizes.width, "acc");
    for (int c = 0; c < tile_.part_n(); ++c) {
      const std::string s = cat("s", c);
      h[cat("seen_", c)] = slots_.seen(cat("column", c), "middle", lengths_ >= 0);
      h[cat("score_", c)] = scores_.apply(io, d, "score_of", {s}, {"batch", "head", "own_row", cat("column_at", c)}, s);
    }
    fill_thin(io, tiles, h), fill_stores(io, h);
    return d.module({cat("attention, tiles of ", tile_.own, "x", tile_.others), plan_.launch.bindings,
                     plan_.launch.params.size(), plan_.launch.threads, shared(tiles.vector()),
                     scores_.functions(d, "score_of") + thin_.functions(d, "left_of"),
                     fill_holes(kTiledForward, h)});
  }
  std::vector<Shared> shared(const std::string& vector) const {
    std::vector<Shared> all{{vector, "steps", tile_.vectors_of_steps(r_.sizes.width)},
                            {vector, "shares", tile_.vectors_of_shares()},
                            {vector, "peaks", tile_.across * tile_.own / 4}};
    if (blocks_ >= 0) all.push_back({"u32", "blocks_seen", 1});
    return all;
  }
  /// What the tile alone decides.
  void fill_tile(const ScoreTiles& tiles, Holes& h) const {
    const int sums_n = tile_.sums_n(r_.sizes.width), part_m = tile_.part_m, part_n = tile_.part_n();
    tile_holes(tile_, h);
    h["scores"] = tile_sums("s", type(), part_m, part_n), h["sums"] = tile_sums("acc", type(), part_m, sums_n);
    h["rotate"] = tiles.rotate("s", "s", "done"), h["put_shares"] = tiles.put("shares", "s");
    h["move_up"] = move_sums_up("acc", part_m, sums_n);
    for (int c = 0; c < part_n; ++c)
      h[cat("column_", c)] = tiles.column(c), h[cat("first_", c)] = tiles.element("s0_", c);
    for (int b = 0; b < part_m / 4; ++b) h[cat("block_", b)] = cat(tiles.block(4 * b), "u");
    for (int r = 0; r < part_m; ++r) {
      const std::string row = cat("s", r, "_");
      std::string shares, sum, scaled;
      for (int j = 0; j < part_n / 4; ++j) {
        std::vector<std::string> four;
        for (int c = 4 * j; c < 4 * j + 4; ++c) {
          four.push_back(cat("$exp(", tiles.element(row, c), " - base", r, ")"));
          sum += cat(c ? " + " : "", tiles.element(row, c));
        }
        shares += cat(row, j, " = ", tiles.vector(), "(", join(four), ");\n");
      }
      for (int j = 0; j < sums_n / 4; ++j)
        scaled += cat("acc", r, "_", j, " = acc", r, "_", j, " * ", tiles.vector(), "(factor", r, ");\n");
      h[cat("shares_", r)] = shares, h[cat("row_sum_", r)] = sum, h[cat("scale_sums_", r)] = scaled;
      h[cat("now_", r)] = cat("now", r / 4, ".", ScoreTiles::lane(r));
      h[cat("line_", r)] = cat(tiles.block(r), "u"), h[cat("lane_", r)] = cat(r % 4, "u");
      if (r + 1 < part_m) h["move_up"] += cat("total", r, " = total", r + 1, ";\ntop", r, " = top", r + 1, ";\n");
    }
  }
  /// Dropout of the shares, when they have been added up.
  void fill_thin(Io& io, const ScoreTiles& tiles, Holes& h) const {
    const Dialect& d = backend_.dialect();
    std::string& lines = h["thin"];
    if (!thin_.defined()) return;
    for (int c = 0; c < tile_.part_n(); ++c) {
      const std::string share = cat("share", c), at = cat("min(column + ", tiles.column(c), ", $columns - 1u)");
      lines += cat("var ", share, " = ", tiles.element("s0_", c), ";\nlet column_at", c, " = ", at, ";\n");
      lines += thin_.apply(io, d, "left_of", {share}, {"batch", "head", "own_row", cat("column_at", c)}, share);
    }
    lines = cat("for (var i = 0u; i < $part_m; i += 1u) {\n",
                "  let own_row = min(first_row + (i / 4u) * $rows_between_blocks + ty * 4u + (i & 3u), $rows - 1u);\n",
                indented(lines + tiles.rotate("s", "share", "left")), "}\n");
  }
  void fill_stores(Io& io, Holes& h) const {
    std::string& sums = h["store_sums"];
    const std::vector<std::string> row{slots_.out_batch(), "head", "row"};
    for (int j = 0; j < tile_.sums_n(r_.sizes.width) / 4; ++j) {
      std::vector<std::string> values;
      for (const char lane : {'x', 'y', 'z', 'w'}) values.push_back(cat("(acc0_", j, ".", lane, " * inverse)"));
      sums += store_sum(io, out_, row, cat(4 * j * tile_.across, "u + tx * 4u"), values, p(slots_.width),
                        r_.sizes.width);
    }
    std::string& top = h["store_top"];
    if (tops_ < 0) return;
    top = cat("if (tx == 0u) {\n", indented(io.store(tops_, {row, -1, 1}, {"top0"}, "") +
                                            io.store(totals_, {row, -1, 1}, {"total0"}, "")),
              "}\n");
  }

  GpuBackend& backend_;
  const AttentionRequest& r_;
  const ScoreTile tile_;
  Plan plan_;
  ScoreSizes slots_;
  int q_, k_, v_, out_, tops_, totals_, lengths_, blocks_;
  bool wide_q_ = false, wide_k_ = false, wide_v_ = false;
  ScorePair scores_, thin_;
};

}  // namespace

std::int64_t attention_groups_on_gpu(GpuBackend& backend, const detail::AttentionSizes& s, DType dtype) {
  const ScoreTile tile = forward_tile(backend.limits(), s, detail::compute_type_of(dtype), false);
  return s.batch * s.heads * ceil_div(s.rows, tile.own);
}

bool attention_pays_on_gpu(const detail::AttentionSizes& s, bool with_gradients) {
  // Of more scores than that the decomposed computation cannot keep those, and computes them again.
  constexpr std::int64_t kShort = 32, kTile = 64, kFewest = 128, kWidest = 128;
  if (s.of_scores().numel() > detail::kMostKeptScores) return true;
  // Milliseconds of these kernels and of the decomposed computation, H100, 27 November 2026, f32: forward, both.
  // 4x16x16x32 0.012, 0.036; 0.020, 0.054. One row to 8x32x4096x128: both 24; 1.9.
  if (s.rows <= kShort) return s.columns <= kShort;
  // 4x16x2048x256 10.5, 50.5; 8.5, 24.7.
  if (std::max(s.depth, s.width) > kWidest) return false;
  // Workgroups of a tile's rows: 4x16x64x64, 64 of them, 0.044, 0.31; 0.021, 0.060. 1x8x1024x64, 128, 0.116; 0.152.
  // 4x16x256x64, 256, 0.049, 0.23; 0.20, 0.40. With gradients those of twice as many columns: 1x8x1024x64, 64 of them,
  // 0.68; 0.44.
  if (s.batch * s.heads * ceil_div(s.rows, kTile) < kFewest) return false;
  return !with_gradients || s.batch * s.groups * ceil_div(s.columns, 2 * kTile) >= kFewest;
}

void attention_on_gpu(GpuBackend& backend, const AttentionRequest& r) {
  backend.run_prepared(r, [&] {
    backend.require_supported(r.op, r.q.dtype);
    for (const detail::Program* p : {r.programs.score, r.programs.open, r.programs.thin})
      if (p) backend.require_supported(r.op, *p);
    if (r.sizes.of_result().numel() == 0) return;
    GpuForward(backend, r).run();
  });
}

}  // namespace tern::detail_gpu
