// A workgroup of eight warps, two by four, multiplies a tile: steps along k go through a ring in workgroup memory, all
// but one of them on their way while that one is multiplied (the plan of CUTLASS's kernels for Ampere,
// https://github.com/NVIDIA/cutlass/blob/main/media/docs/cpp/efficient_gemm.md).
#include "cuda/mma.hpp"

#include <algorithm>

#include "backend/trace.hpp"
#include "gpu/epilogue.hpp"
#include "gpu/gemm.hpp"
#include "gpu/text.hpp"

namespace tern::detail_cuda {
namespace {

using detail::GemmRequest;
using detail::View;
using namespace detail_gpu;
using detail_gpu::Axes;  // tern has some, too

constexpr const char* kQuadText =
#include "cuda/quad.inc"
    ;
constexpr const char* kMmaText =
#include "cuda/mma.inc"
    ;

constexpr int kWarpsM = 2, kWarpsN = 4, kThreads = 32 * kWarpsM * kWarpsN;
// Three stages of 64 elements along k: 418 to 425 TFLOP/s at 4096³ and 8192×4096×16384 in bf16 on an H200, four stages
// 419 to 426, four stages of 32 elements 335 to 340, of which 128×128 with four warps 387 to 400.
constexpr int kTileK = 64, kStages = 3;
constexpr int kBands = 8;  // row tiles that are walked together, so that they share columns of b
constexpr int kUnit = 8;   // elements in 16 bytes

/// The part of a tile that a warp has.
struct WarpTile {
  int m = 64, n = 64;
};
constexpr WarpTile kLarge{64, 64}, kSmall{32, 32};  // 144 KiB of workgroup memory, which 8.6 and 8.9 lack, and 72 KiB

/// A factor: how 16 bytes of neighbours are found in it.
struct Factor {
  bool wide = true;     // they can be copied at once
  bool along_k = true;  // they lie along k; else along m or n
  int access = -1;
};

class MmaKernel {
 public:
  MmaKernel(GpuBackend& backend, const GemmRequest& request, const MatrixUnits& units, Layouts layouts)
      : backend_(backend), r_(request), plan_(backend.limits(), request.op, 'm', layouts), epilogue_(request) {
    lay_out(units);
    arrange();
  }

  /// False, having done nothing, where there is no such kernel.
  bool run() {
    const auto print = [this] { return text(); };
    if (plan_.layouts() == Layouts::vectors && !in_vectors()) return false;
    if (plan_.layouts() != Layouts::own && !backend_.has_kernel(plan_.layouts(), plan_.launch, print)) return false;
    if (detail::tracing())
      detail::note(cat("tensor cores, tiles of ", tile_m(), "x", tile_n(), "x", kTileK, ", ", plan_.launch.groups,
                       " workgroups", a_.wide ? "" : ", a by elements", b_.wide ? "" : ", b by elements"));
    backend_.queue(plan_.launch, print);
    return true;
  }

 private:
  int tile_m() const { return kWarpsM * warp_.m; }
  int tile_n() const { return kWarpsN * warp_.n; }
  int stage_bytes() const { return (tile_m() + tile_n()) * kTileK * 2; }
  int bytes_of_a() const { return tile_m() * kTileK * 2; }

  void lay_out(const MatrixUnits& units) {
    const int rank = r_.batch.rank();
    const auto row = static_cast<std::size_t>(rank), col = row + 1;
    m_ = r_.m, n_ = r_.n, k_ = r_.k;
    std::vector<const View*> views = epilogue_.views();
    const std::size_t over_tile = views.size();
    views.push_back(&r_.a), views.push_back(&r_.b);
    const std::uint32_t all = (1u << rank) - 1, pinned = epilogue_.pinned();
    kept_ = merge_axes(r_.batch, all & ~r_.contracted, views, pinned & all);
    contracted_ = merge_axes(r_.batch, all & r_.contracted, std::span(views).subspan(over_tile), 0);
    if (!(pinned & (all | 1u << rank))) merge_rows(r_, views, kept_, m_);
    merge_depth(r_, contracted_, k_);
    for (int* slot : {&m_slot_, &n_slot_, &k_slot_, &tiles_m_slot_, &tiles_n_slot_, &steps_slot_})
      *slot = plan_.add_param(0);
    segments_ = contracted_.count();
    plan_.add_axes(kept_), plan_.add_axes(contracted_);
    plan_.set_inner(static_cast<int>(kept_.sizes.size()) + 1);
    epilogue_.add_accesses(plan_, kept_);
    plan_.set_inner(-1);
    const auto add = [&](Factor& f, const View& view, std::size_t place, std::size_t which) {
      std::vector<std::int64_t> strides = kept_.strides[place];
      strides.insert(strides.end(), contracted_.strides[which].begin(), contracted_.strides[which].end());
      strides.push_back(view.strides[row]), strides.push_back(view.strides[col]);
      f.access = plan_.add_access(view, strides, false);
    };
    add(a_, r_.a, over_tile, 0), add(b_, r_.b, over_tile + 1, 1);
    epilogue_.add_numbers(plan_);
    bind();
    choose(units);
  }

  void bind() {
    const std::vector<std::int64_t> over_tile = sizes_over_tile(r_);
    std::vector<ByteRange> touched;
    for (const Access& x : plan_.accesses) touched.push_back(bytes_touched(*x.view, over_tile));
    std::vector<std::int64_t> sizes(r_.batch.begin(), r_.batch.end());
    sizes.push_back(r_.m), sizes.push_back(r_.k);
    touched[static_cast<std::size_t>(a_.access)] = bytes_touched(r_.a, sizes);
    sizes[sizes.size() - 2] = r_.k, sizes.back() = r_.n;
    touched[static_cast<std::size_t>(b_.access)] = bytes_touched(r_.b, sizes);
    plan_.bind(touched);
  }

  void choose(const MatrixUnits& units) {
    const auto tiles = [&](const WarpTile& t) {
      return ceil_div(m_, kWarpsM * t.m) * ceil_div(n_, kWarpsN * t.n) * kept_.count();
    };
    const int bytes_of_large = kStages * (kWarpsM * kLarge.m + kWarpsN * kLarge.n) * kTileK * 2;
    const bool large = tiles(kLarge) * 2 > units.processors && bytes_of_large <= units.shared_bytes;
    warp_ = large ? kLarge : kSmall;
    look_at(a_, 1, 0), look_at(b_, 0, 1);
    ragged_ = n_ % kUnit != 0;
    if (plan_.layouts() == Layouts::any) {
      warp_ = kSmall, ragged_ = true;
      for (Factor* f : {&a_, &b_}) f->wide = false, f->along_k = true;
    }
    if (ragged_) return;
    for (const auto* list : {&epilogue_.outputs(), &epilogue_.operands()})
      for (const int i : *list)
        if (in_units(plan_.access(i), plan_.access(i).actual.size() - 1)) plan_.make_wide(i);
  }
  /// How a factor's neighbours lie; `of_k`, `of_other`: which of its last two axes those are.
  void look_at(Factor& f, std::size_t of_k, std::size_t of_other) {
    const Access& x = plan_.access(f.access);
    const std::size_t row = x.actual.size() - 2;
    f.along_k = x.actual[row + of_other] != 1 || in_units(x, row + of_k);
    f.wide = in_units(x, row + (f.along_k ? of_k : of_other));
  }
  /// Whether 16 bytes of neighbours along an axis begin at a multiple of 16 bytes everywhere.
  static bool in_units(const Access& x, std::size_t axis) {
    const std::int64_t unit = kVectorBytes / x.size();
    for (std::size_t i = 0; i < x.actual.size(); ++i)
      if (i != axis && x.actual[i] % unit != 0) return false;
    return x.actual[axis] == 1 && x.view->offset % unit == 0 && x.size() > 1 &&
           reinterpret_cast<std::uintptr_t>(x.view->storage->data()) % kVectorBytes == 0;
  }
  bool in_vectors() const {
    if (warp_.m == kSmall.m && !is_plain_product(r_)) return false;  // half as many kernels: a pass after the product
    if (kept_.sizes.size() != 1 || contracted_.sizes.size() != 1 || ragged_ || !a_.wide || !b_.wide) return false;
    for (const auto* list : {&epilogue_.outputs(), &epilogue_.operands()})
      for (const int i : *list)
        if (!plan_.access(i).wide && plan_.access(i).steps.back() != '0') return false;
    return true;
  }

  /// The launch's numbers and key.
  void arrange() {
    Launch& launch = plan_.launch;
    launch.threads = kThreads;
    launch.shared_bytes = static_cast<std::uint32_t>(kStages * stage_bytes());
    const std::int64_t tiles_m = ceil_div(m_, tile_m()), tiles_n = ceil_div(n_, tile_n());
    launch.groups = static_cast<std::uint64_t>(tiles_m * tiles_n * kept_.count());
    const std::pair<int, std::int64_t> numbers[] = {{m_slot_, m_},
                                                    {n_slot_, n_},
                                                    {k_slot_, k_},
                                                    {tiles_m_slot_, tiles_m},
                                                    {tiles_n_slot_, tiles_n},
                                                    {steps_slot_, segments_ * ceil_div(k_, kTileK)}};
    for (const auto& [slot, value] : numbers) plan_.set(slot, static_cast<std::uint64_t>(value));
    segments_slot_ = plan_.add_param(static_cast<std::uint64_t>(k_ > 0 ? segments_ : 0));
    plan_.note(r_.epilogue->serial), plan_.note(r_.a.dtype), plan_.note(warp_), plan_.note(ragged_);
    for (const Factor* f : {&a_, &b_}) plan_.note(f->along_k), plan_.note(f->wide);
    for (const int axis : kept_.original) plan_.note(static_cast<char>(axis));
    plan_.finish_key();
  }

  // ---- text ----
  std::string p(int slot) const { return backend_.dialect().param(slot); }

  /// The offset of a factor's first element for the coordinates of axes [first, first + names).
  std::string offset(const Factor& f, std::size_t first, const std::vector<std::string>& names) const {
    const Access& x = plan_.access(f.access);
    std::string sum;
    for (std::size_t i = 0; i < names.size(); ++i)
      if (x.steps[first + i] != '0')
        sum += cat(" + ", names[i], x.steps[first + i] == '1' ? std::string() : cat(" * ", p(x.strides[first + i])));
    return sum;
  }
  /// The stride of one of a factor's last two axes.
  std::string stride(const Factor& f, bool k, bool is_a) const {
    const Access& x = plan_.access(f.access);
    const std::size_t axis = x.steps.size() - 2 + (k == is_a);
    return x.steps[axis] == '1' ? "1u" : x.steps[axis] == '0' ? "0u" : p(x.strides[axis]);
  }

  /// Lines that send a step of a factor on its way: `at` in workgroup memory, from element k on of what begins at
  /// `from`.
  std::string fetch(const Factor& f, bool is_a) const {
    const int across = is_a ? tile_m() : tile_n(), units = across * kTileK / kUnit;
    const char *const first = is_a ? "first_m" : "first_n", *const from = is_a ? "from_a" : "from_b";
    const std::string memory = cat("(const u16*)b", plan_.access(f.access).binding);
    const std::string bound = is_a ? p(m_slot_) : p(n_slot_), at = is_a ? "at" : cat("at + ", bytes_of_a(), "u");
    std::string one = cat("let unit = thread + i * ", kThreads, "u;\n");
    const int in_row = (f.along_k ? kTileK : across) / kUnit;
    one += cat("let row = unit / ", in_row, "u, part = unit % ", in_row, "u;\n");
    one += f.along_k ? cat("let other = ", first, " + row, at_k = k + part * 8u;\n")
                     : cat("let other = ", first, " + part * 8u, at_k = k + row;\n");
    const std::string place = cat("tern_place(row, part, ", 2 * (f.along_k ? kTileK : across), "u)");
    if (f.wide) {
      one += f.along_k ? cat("let bytes = tern_inside(other < ", bound, ", at_k, ", p(k_slot_), ");\n")
                       : cat("let bytes = tern_inside(at_k < ", p(k_slot_), ", other, ", bound, ");\n");
      one +=
          cat("let source = bytes ? other * ", stride(f, false, is_a), " + at_k * ", stride(f, true, is_a), " : 0u;\n");
      one += cat("tern_copy(", at, " + ", place, ", ", memory, " + (", from, " + source), bytes);\n");
    } else {
      one += cat(
          "u32 words[4];\n#pragma unroll\nfor (u32 e = 0u; e < 8u; ++e) {\n  let it = ",
          f.along_k ? "at_k + e" : "other + e", ";\n  let inside = ",
          f.along_k ? cat("other < ", bound, " && it < ", p(k_slot_)) : cat("at_k < ", p(k_slot_), " && it < ", bound),
          ";\n  let x = inside ? u32((", memory, ")[", from, " + ", f.along_k ? "other" : "it", " * ",
          stride(f, false, is_a), " + ", f.along_k ? "it" : "at_k", " * ", stride(f, true, is_a),
          "]) : 0u;\n  words[e / 2u] = e & 1u ? words[e / 2u] | x << 16u : x;\n}\n");
      one += cat("tern_put(", at, " + ", place, ", words[0], words[1], words[2], words[3]);\n");
    }
    return cat("#pragma unroll\nfor (u32 i = 0u; i < ", units / kThreads, "u; ++i) {\n", indented(one), "}\n");
  }
  /// Lines that send the next step on its way, where there is one, and count on.
  std::string fetch_step() const {
    const std::size_t kept = kept_.sizes.size();
    const bool segmented = !contracted_.sizes.empty();
    std::vector<std::string> segment;
    std::string lines = "let at = filled;\n";
    if (segmented) lines += Io(plan_, backend_.dialect()).coordinates(contracted_, "segment", "s", segment);
    for (const Factor* f : {&a_, &b_})
      lines +=
          cat("let from_", f == &a_ ? "a" : "b", " = base_", f == &a_ ? "a" : "b", offset(*f, kept, segment), ";\n");
    lines += fetch(a_, true) + fetch(b_, false) + cat("k += ", kTileK, "u;\n");
    if (segmented) lines += cat("if (k >= ", p(k_slot_), ") { k = 0u, ++segment; }\n");
    const std::string end = segmented ? cat("segment < ", p(segments_slot_)) : cat("k < ", p(k_slot_));
    return cat("if (", end, ") {\n", indented(lines), "}\ntern_commit();\n", next_stage("filled"));
  }
  std::string next_stage(const char* at) const {
    return cat(at, " = ", at, " == ring + ", (kStages - 1) * stage_bytes(), "u ? ring : ", at, " + ", stage_bytes(),
               "u;\n");
  }

  /// The place in a stage of the matrices that a lane reads for block i of a factor and 16 elements along k.
  std::string matrices(const Factor& f, bool is_a) const {
    const int across = is_a ? tile_m() : tile_n();
    const char* const warp = is_a ? "warp_m" : "warp_n";
    // Of four matrices a lane's is lane / 8: of a the second is further along m, of b further along k.
    const char *const low = "(lane >> 3u & 1u)", *const high = "(lane >> 4u)";
    const std::string along_other = is_a ? low : high, along_k = is_a ? high : low;
    if (f.along_k)
      return cat("tern_place(", warp, " + i * 16u + ", along_other, " * 8u + (lane & 7u), kk * 2u + ", along_k, ", ",
                 2 * kTileK, "u)");
    return cat("tern_place(kk * 16u + ", along_k, " * 8u + (lane & 7u), ", warp, " / 8u + i * 2u + ", along_other, ", ",
               2 * across, "u)");
  }
  /// Lines that read the matrices of elements [16 kk, 16 kk + 16) of the stage at `at` into registers, of which there
  /// are two sets.
  std::string load(int kk) const {
    const auto one = [&](const Factor& f, bool is_a) {
      return cat("#pragma unroll\nfor (u32 i = 0u; i < ", (is_a ? warp_.m : warp_.n) / 16, "u; ++i) { tern_matrices",
                 f.along_k ? "" : "_across", "(", is_a ? "a" : "c", kk % 2, "[i], at + ",
                 is_a ? "" : cat(bytes_of_a(), "u + "), matrices(f, is_a), "); }\n");
    };
    return cat("{\n", indented(cat("const u32 kk = ", kk, "u;\n", one(a_, true), one(b_, false))), "}\n");
  }
  std::string multiply(int set) const {
    return cat("#pragma unroll\nfor (u32 i = 0u; i < ", warp_.m / 16,
               "u; ++i) {\n  #pragma unroll\n  for (u32 j = 0u; j < ", warp_.n / 8, "u; ++j) { multiply(acc + (i * ",
               warp_.n / 8, "u + j) * 4u, a", set, "[i], c", set, "[j / 2u][j % 2u * 2u], c", set,
               "[j / 2u][j % 2u * 2u + 1u]); }\n}\n");
  }
  /// The loop over k: while matrices in registers are multiplied, the next are read, and the step after those that wait
  /// in workgroup memory is sent on its way.
  std::string loop() const {
    const std::string ready = cat("tern_wait_copies<", kStages - 2, ">();\n", backend_.dialect().barrier());
    std::string lines =
        cat("u32 k = 0u, filled = ring, at = ring;\n", contracted_.sizes.empty() ? "" : "u32 segment = 0u;\n");
    lines += cat("#pragma unroll 1\nfor (u32 i = 0u; i < ", kStages - 1, "u; ++i) {\n", indented(fetch_step()), "}\n");
    for (int set = 0; set < 2; ++set)
      lines += cat("u32 a", set, "[", warp_.m / 16, "][4], c", set, "[", warp_.n / 16, "][4];\n");
    lines += ready + load(0);
    std::string step;
    for (int kk = 0; kk < kTileK / 16; ++kk) {
      const bool last = kk + 1 == kTileK / 16;
      step += last ? next_stage("at") + ready + load(0) : load(kk + 1);
      step += multiply(kk % 2);
      if (kk == 0) step += cat("{\n", indented(fetch_step()), "}\n");
    }
    return lines + cat("#pragma unroll 1\nfor (u32 i = 0u; i < ", p(steps_slot_), "; ++i) {\n", indented(step),
                       "}\ntern_wait_copies<0>();\n");
  }
  std::string instruction() const {
    const std::string type = r_.a.dtype == DType::f16 ? "f16" : "bf16";
    return cat("TERN_DEVICE void multiply(f32* acc, const u32 (&a)[4], u32 b0, u32 b1) {\n",
               "  asm(\"mma.sync.aligned.m16n8k16.row.col.f32.", type, ".", type,
               ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"\n",
               "      : \"+f\"(acc[0]), \"+f\"(acc[1]), \"+f\"(acc[2]), \"+f\"(acc[3])\n",
               "      : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b0), \"r\"(b1));\n}\n");
  }

  std::string place_of_tile(const Io& io, std::vector<std::string>& batch) const {
    std::string lines = cat("let tiles = ", p(tiles_m_slot_), " * ", p(tiles_n_slot_),
                            ";\n[[maybe_unused]] let batch = group / tiles;\nlet tile = group % tiles;\n");
    lines +=
        cat("let band = tile / (", kBands, "u * ", p(tiles_n_slot_), ");\nlet in_band = tile - band * ", kBands, "u * ",
            p(tiles_n_slot_), ";\nlet rows = min(", kBands, "u, ", p(tiles_m_slot_), " - band * ", kBands, "u);\n");
    lines += cat("let first_m = (band * ", kBands, "u + in_band % rows) * ", tile_m(),
                 "u;\nlet first_n = in_band / rows * ", tile_n(), "u;\n");
    lines += cat("let lane = thread & 31u, warp_m = thread / 32u % ", kWarpsM, "u * ", warp_.m, "u, warp_n = thread / ",
                 32 * kWarpsM, "u * ", warp_.n, "u;\n");
    lines += io.coordinates(kept_, "batch", "n", batch);
    for (const Factor* f : {&a_, &b_})
      lines +=
          cat("let base_", f == &a_ ? "a" : "b", " = ", p(plan_.access(f->access).base), offset(*f, 0, batch), ";\n");
    return lines;
  }

  /// The epilogue: blocks of 16 rows take turns in the first sums; of 32 columns each invocation of four takes eight.
  std::string finish(Io& io, const Function& f, const std::vector<std::string>& batch) const {
    std::string part;
    for (int first = 0; first < warp_.n / 8; first += 4)
      for (int h = 0; h < 2; ++h) {
        std::vector<std::string> pairs;
        for (int j = first; j < first + 4; ++j)
          for (int e = 0; e < 2; ++e) pairs.push_back(cat("acc[", 4 * j + 2 * h + e, "]"));
        part += cat("{\n",
                    indented(cat("let sums = tern_quad_row(", join(pairs),
                                 ");\nlet its_row = first_m + warp_m + block * 16u + ", 8 * h,
                                 "u + lane / 4u, its_col = first_n + warp_n + ", 8 * first, "u + (lane & 3u) * 8u;\n") +
                             stores(io, f, batch)),
                    "}\n");
      }
    const int in_block = warp_.n / 8 * 4, all = warp_.m / 16 * in_block;
    part += cat("#pragma unroll\nfor (u32 i = 0u; i < ", all - in_block, "u; ++i) { acc[i] = acc[i + ", in_block,
                "u]; }\n");
    return cat("#pragma unroll 1\nfor (u32 block = 0u; block < ", warp_.m / 16, "u; ++block) {\n", indented(part),
               "}\n");
  }
  std::string stores(Io& io, const Function& f, const std::vector<std::string>& batch) const {
    Position at{batch, 0, ragged_ ? 1 : kUnit};
    at.coordinates.push_back("row"), at.coordinates.push_back("col");
    at.inner = static_cast<int>(at.coordinates.size()) - 1;
    const Dialect& d = backend_.dialect();
    if (ragged_) {
      const std::string one = cat("let row = its_row, col = its_col + e;\n",
                                  epilogue_.finish(
                                      io, d, f, at, kept_, [](int) { return std::string("sums.x[e]"); }, ""));
      return cat("#pragma unroll\nfor (u32 e = 0u; e < 8u; ++e) {\n  if (its_row < ", p(m_slot_), " && its_col + e < ",
                 p(n_slot_), ") {\n", indented(indented(one)), "  }\n}\n");
    }
    // Operands are loaded at a place inside wherever this one is, so that no branch keeps loads from running ahead.
    return cat(
        "let row = min(its_row, ", p(m_slot_), " - 1u), col = min(its_col, ", p(n_slot_), " - 8u);\n",
        epilogue_.finish(
            io, d, f, at, kept_, [](int e) { return cat("sums.x[", e, "]"); }, "", "its_row == row && its_col == col"));
  }

  std::string text() {
    const Dialect& d = backend_.dialect();
    const Function f = epilogue_.function(d);
    Io io(plan_, d);
    std::vector<std::string> batch;
    const int sums = warp_.m * warp_.n / 32;
    std::string body = "extern __shared__ __align__(128) unsigned char memory[];\nlet ring = tern_shared(memory);\n";
    body += place_of_tile(io, batch);
    body += cat("f32 acc[", sums, "] = {};\n", loop());
    body += finish(io, f, batch);
    return d.module({cat("product on tensor cores, tiles of ", tile_m(), "x", tile_n(), "x", kTileK),
                     plan_.launch.bindings,
                     plan_.launch.params.size(),
                     plan_.launch.threads,
                     {},
                     std::string(kMmaText) + kQuadText + instruction() + f.text,
                     body});
  }

  GpuBackend& backend_;
  const GemmRequest& r_;
  Plan plan_;
  Epilogue epilogue_;
  Axes kept_, contracted_;
  Factor a_, b_;
  WarpTile warp_;
  std::int64_t m_ = 0, n_ = 0, k_ = 0, segments_ = 1;
  bool ragged_ = false;
  int m_slot_ = -1, n_slot_ = -1, k_slot_ = -1, tiles_m_slot_ = -1, tiles_n_slot_ = -1, steps_slot_ = -1,
      segments_slot_ = -1;
};

}  // namespace

bool run_mma(GpuBackend& backend, const GemmRequest& request, const MatrixUnits& units) {
  const DType dtype = request.a.dtype;
  if (units.architecture < 80 || request.b.dtype != dtype || (dtype != DType::f16 && dtype != DType::bf16))
    return false;
  const auto run = [&](Layouts layouts) { return MmaKernel(backend, request, units, layouts).run(); };
  if (!backend.limits().packed) return run(Layouts::own);
  return run(Layouts::vectors) || (is_plain_product(request) && run(Layouts::any));
}

}  // namespace tern::detail_cuda
