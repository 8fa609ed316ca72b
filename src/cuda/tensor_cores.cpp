// One persistent workgroup for each processor, in pairs (clusters) that share the columns of b. Of a workgroup's three
// warp groups, one fetches boxes of both factors into a ring in workgroup memory, two multiply them and apply the
// epilogue: in turns, a tile each, or half the rows of every tile. The plans are those of CUTLASS's ping-pong and
// cooperative kernels for Hopper
// (https://github.com/NVIDIA/cutlass/blob/main/media/docs/cpp/efficient_gemm.md).
#include "cuda/tensor_cores.hpp"

#include <algorithm>
#include <array>

#include "backend/trace.hpp"
#include "backend/tuning.hpp"
#include "gpu/epilogue.hpp"
#include "gpu/text.hpp"

namespace tern::detail_cuda {
namespace {

using detail::GemmRequest;
using detail::View;
using namespace detail_gpu;
using detail_gpu::Axes;  // tern has some, too

constexpr const char* kWgmmaText =
#include "cuda/wgmma.inc"
    ;

constexpr int kTileM = 128, kTileK = 64;  // of a workgroup; 64 elements are 128 bytes, a row of a swizzled box
constexpr int kBlock = 64 * 128;          // bytes of a box of 64 rows
constexpr int kColumns = 32;              // of a box of results
constexpr int kHalfBox = 64 * 64;         // bytes of 64 rows of it
constexpr int kMostPlaces = 4;            // for boxes of results, of each of two warp groups
// Bytes: four stages of a tile with 256 columns; of one with 192, whose boxes of results have 128 rows, not 64.
constexpr int kRing = 4 * (16 + 32) << 10, kRingInTurns = 4 * (16 + 24) << 10;
constexpr int kBands = 8;        // pairs of row tiles that are walked together
constexpr int kStep = 16;        // of k in one instruction
constexpr int kShort = 1024;     // of k
constexpr int kKept = 24 << 20;  // bytes of a that the cache of the whole GPU (50 MiB) is asked to keep

/// A factor as the copy engine fetches it. `across`: its axis besides k.
struct Factor {
  bool along_k = true;  // k is the axis with neighbours in memory
  bool batched = false;
  BoxMap map;
};

/// An output that leaves in boxes.
struct Staged {
  std::size_t output;
  bool batched;
  BoxMap map;
};

/// What the tuner can choose: by the rule of choose_tiles(); halves of a tile to each warp group; tiles of 128 or 192
/// columns in turns.
enum Tiling : std::int64_t { kModelled, kHalves, kTurns128, kTurns192 };

class TensorCoreKernel {
 public:
  TensorCoreKernel(GpuBackend& backend, const GemmRequest& request, const MatrixUnits& units)
      : backend_(backend), r_(request), units_(units), plan_(backend.limits(), request.op, 'w'), epilogue_(request) {}

  bool fits() {
    if (units_.architecture != 90 || (r_.a.dtype != DType::f16 && r_.a.dtype != DType::bf16) ||
        r_.b.dtype != r_.a.dtype || r_.k == 0 || r_.n % 8 != 0)
      return false;
    return lay_out();
  }
  /// Whether the processors have enough to do: three quarters of them for a long k, since cuBLASLt, which can cut k,
  /// and a pass are faster otherwise (2048x2048x1280 with gelu on an H200, 61 % of them: 27 and 23 µs); less where
  /// launching the pass takes as long as the rest.
  bool fills() const {
    const auto enough = [&](int tile_n) {
      const std::int64_t rounds = ceil_div(works(tile_n), clusters());
      return works(tile_n) * 100 >= rounds * clusters() * (k_ <= kShort ? 60 : 75);
    };
    return is_told_ || enough(tile_n_) || (turns_ && enough(256));  // two of 128 take no longer than one of 256
  }

  void run() {
    Launch& launch = plan_.launch;
    launch.threads = 384;
    launch.shared_bytes = static_cast<std::uint32_t>(staging_begin() + 2 * kMostPlaces * halves() * kHalfBox + 1024);
    launch.groups = 2 * static_cast<std::uint64_t>(std::min(works(), clusters()));
    plan_.set(pairs_slot_, static_cast<std::uint64_t>(pairs())),
        plan_.set(tiles_slot_, static_cast<std::uint64_t>(tiles()));
    plan_.set(works_slot_, static_cast<std::uint64_t>(works()));
    a_.map.box[0] = b_.map.box[0] = 64;
    a_.map.box[1] = a_.along_k ? kTileM : kTileK;
    b_.map.box[1] = b_.along_k ? static_cast<std::uint32_t>(tile_n_) / 2 : turns_ ? kTileK / 2 : kTileK;
    launch.maps = {a_.map, b_.map};
    for (const Staged& x : staged_) launch.maps.push_back(x.map), plan_.note(static_cast<char>(x.output));
    plan_.note('m'), plan_.note(r_.epilogue->serial), plan_.note(r_.a.dtype), plan_.note(tile_n_), plan_.note(turns_),
        plan_.note(keeps_a());
    for (const Factor* f : {&a_, &b_}) plan_.note(f->along_k), plan_.note(f->batched);
    for (const int axis : batch_.original) plan_.note(static_cast<char>(axis));
    plan_.finish_key();
    if (detail::tracing())
      detail::note(cat("matrix units, tiles of ", kTileM, "x", tile_n_, "x", kTileK, turns_ ? " in turns, " : ", ",
                       launch.groups, " workgroups for ", 2 * works(), " tiles"));
    backend_.queue(launch, [this] { return text(); });
  }

 private:
  std::int64_t pairs() const { return ceil_div(m_, 2 * kTileM); }
  std::int64_t tiles() const { return ceil_div(n_, tile_n_); }
  std::int64_t works() const { return works(tile_n_); }
  std::int64_t works(int tile_n) const { return pairs() * ceil_div(n_, tile_n) * batch_.count(); }
  std::int64_t clusters() const { return std::max(units_.processors / 2, 1); }
  /// The rows of a that are walked together are read for every column of tiles, b and the results once in that time:
  /// while the cache holds those rows, they are to stay and the others to go first. 8192x4096x16384 with gelu on an
  /// H200: 0.956 of the plain product's speed, 0.929 without; in bands of 4 or 12 pairs 0.940 and 0.942.
  bool keeps_a() const { return std::min<std::int64_t>(pairs(), kBands) * 2 * kTileM * k_ * 2 <= kKept; }
  int stage_bytes() const { return (kTileM + tile_n_) * 128; }
  int stages() const { return ring() / stage_bytes(); }
  int staging_begin() const { return ring() + 1024; }  // of results, from that of the ring

  /// The second warp group multiplies the next tile while the first finishes one, where there is a next: on an H200 in
  /// bf16, gelu, halves of a tile of 256 columns against turns: 8192x768x3072 85 and 69 µs, 1024x768x8192 31 and 27,
  /// 4096^3 212 and 196; but few rows, of which each b is read for, 512x4096x16384 94 and 103. Wider tiles read less:
  /// 8192x4096x16384 1650 and 1594 µs with 192 columns. Their sums leave registers for one output and a bias.
  void choose_tiles() {
    const std::string key =
        cat("product.tiling, ", to_string(r_.a.dtype), " ", a_.along_k ? "n" : "t", b_.along_k ? "t" : "n",
            ", outputs ", r_.outputs.size(), detail::powers_of_two(std::array{m_, n_, k_, batch_.count()}));
    const std::int64_t told =
        detail::choice_of(backend_.device_class(), key, {kModelled, kHalves, kTurns128, kTurns192})();
    is_told_ = told != kModelled;
    turns_ = is_told_ ? told != kHalves : works(128) > clusters() && (m_ >= 1024 || k_ <= kShort);
    if (turns_) {
      const auto columns = [&](int tile_n) { return ceil_div(works(tile_n), clusters()) * tile_n; };
      const bool wide =
          r_.outputs.size() == 1 && r_.inputs.size() <= 1 && k_ >= 2 * kShort && columns(192) <= columns(128);
      tile_n_ = told == kTurns192 || (!is_told_ && wide) ? 192 : 128;
      return;
    }
    tile_n_ = n_ > 128 ? 256 : 128;
    if (!is_told_ && k_ <= kShort && !fills())
      tile_n_ = 128;  // 512x768x3072: 11.0 µs, cuBLASLt and a pass 12.6; k = 4096: 26.2, 24.9
  }

  bool lay_out() {
    const int rank = r_.batch.rank();
    const auto row = static_cast<std::size_t>(rank);
    m_ = r_.m, n_ = r_.n, k_ = r_.k;
    std::vector<const View*> views = epilogue_.views();
    const std::size_t over_tile = views.size();
    const std::uint32_t all = (1u << rank) - 1, pinned = epilogue_.pinned();
    views.push_back(&r_.a), views.push_back(&r_.b);
    batch_ = merge_axes(r_.batch, all & ~r_.contracted, views, pinned & all);
    Axes contracted = merge_axes(r_.batch, all & r_.contracted, std::span(views).subspan(over_tile), 0);
    merge_depth(r_, contracted, k_);
    if (batch_.sizes.size() > 1 || !contracted.sizes.empty()) return false;
    if (!(pinned & (all | 1u << rank))) merge_rows(r_, views, batch_, m_);
    const auto step = [&](std::size_t v) { return batch_.sizes.empty() ? 0 : batch_.strides[v][0]; };
    if (!describe(r_.a, r_.a.strides[row + 1], r_.a.strides[row], m_, step(over_tile), a_) ||
        !describe(r_.b, r_.b.strides[row], r_.b.strides[row + 1], n_, step(over_tile + 1), b_))
      return false;
    choose_tiles();
    for (int* slot : {&m_slot_, &n_slot_, &k_slot_, &pairs_slot_, &tiles_slot_, &works_slot_})
      *slot = plan_.add_param(0);
    plan_.set(m_slot_, static_cast<std::uint64_t>(m_)), plan_.set(n_slot_, static_cast<std::uint64_t>(n_));
    plan_.set(k_slot_, static_cast<std::uint64_t>(k_));
    plan_.add_axes(batch_);
    epilogue_.add_accesses(plan_, batch_);
    epilogue_.add_numbers(plan_);
    return bind();
  }

  /// False where the copy engine cannot fetch the factor.
  bool describe(const View& view, std::int64_t stride_k, std::int64_t stride_across, std::int64_t across,
                std::int64_t step, Factor& f) const {
    if (stride_k == 1) f.along_k = true;
    else if (stride_across == 1) f.along_k = false;
    else return false;
    const std::int64_t inner = f.along_k ? k_ : across, rows = f.along_k ? across : k_;
    f.batched = step != 0;
    return describe_boxes(view, inner, rows, f.along_k ? stride_across : stride_k, step, f.map);
  }
  bool describe_boxes(const View& view, std::int64_t inner, std::int64_t rows, std::int64_t stride, std::int64_t step,
                      BoxMap& map) const {
    if (rows == 1) stride = round_up(inner, 8);
    const auto address =
        reinterpret_cast<std::uintptr_t>(view.storage->data()) + 2 * static_cast<std::uintptr_t>(view.offset);
    if (stride < inner || stride % 8 != 0 || step % 8 != 0 || step < 0 || address % 16 != 0) return false;
    if (std::max({inner, rows, batch_.count()}) > INT32_MAX || 2 * std::max(stride, step) >= std::int64_t{1} << 40)
      return false;
    map.storage = view.storage, map.begin = 2 * static_cast<std::uint64_t>(view.offset);
    map.sizes[0] = static_cast<std::uint64_t>(inner), map.sizes[1] = static_cast<std::uint64_t>(rows);
    map.sizes[2] = step ? static_cast<std::uint64_t>(batch_.count()) : 1;
    map.strides[0] = 2 * static_cast<std::uint64_t>(stride);
    map.strides[1] = step ? 2 * static_cast<std::uint64_t>(step) : map.strides[0];
    return true;
  }
  /// Outputs of 16 bits leave through workgroup memory in boxes. Stored from registers, in pairs or, shuffled, in
  /// eights, they took 100 of the 350 µs of 8192x512x16384 on an H200.
  void stage_outputs() {
    for (std::size_t o = 0; o < r_.outputs.size() && staged_.size() + 2 < kMostMaps; ++o) {
      const Access& x = plan_.access(epilogue_.outputs()[o]);
      if (x.size() != 2 || (x.dtype() != DType::f16 && x.dtype() != DType::bf16) || !x.wide) continue;
      const std::size_t rank = x.actual.size();
      const std::int64_t step = batch_.sizes.empty() ? 0 : x.actual[0];
      Staged staged{o, step != 0, {}};
      if (!describe_boxes(*x.view, n_, m_, x.actual[rank - 2], step, staged.map)) continue;
      staged.map.box[0] = kColumns, staged.map.box[1] = static_cast<std::uint32_t>(halves()) * 64;
      staged_.push_back(staged);
    }
  }

  bool bind() {
    const std::vector<std::int64_t> over_tile = sizes_over_tile(r_);
    std::vector<ByteRange> touched;
    for (const Access& x : plan_.accesses) {
      touched.push_back(bytes_touched(*x.view, over_tile));
      if (touched.back().end - touched.back().begin > static_cast<std::int64_t>(backend_.limits().binding_bytes))
        return false;
    }
    plan_.bind(touched);
    for (std::size_t i = 0; i < plan_.accesses.size(); ++i)
      if (in_vectors(plan_.accesses[i])) plan_.make_wide(static_cast<int>(i));
    stage_outputs();
    return true;
  }
  /// Whether eight neighbours of a row begin at a multiple of 16 bytes, in every row.
  static bool in_vectors(const Access& x) {
    const std::int64_t unit = kVectorBytes / x.size();
    for (std::size_t i = 0; i + 1 < x.actual.size(); ++i)
      if (x.actual[i] % unit != 0) return false;
    return x.actual.back() == 1 && x.view->offset % unit == 0 && x.size() > 1 &&
           reinterpret_cast<std::uintptr_t>(x.view->storage->data()) % kVectorBytes == 0;
  }

  // ---- text ----
  std::string p(int slot) const { return backend_.dialect().param(slot); }
  /// Of a warp group: a tile, or half its rows.
  int halves() const { return turns_ ? 2 : 1; }
  int sums() const { return halves() * tile_n_ / 2; }  // of one invocation
  int ring() const { return turns_ ? kRingInTurns : kRing; }

  /// The list "+f"(acc[first]), … of sums, as operands of an instruction.
  std::string sums_as_operands(int first, int count) const {
    std::vector<std::string> list;
    for (int i = 0; i < count; ++i) list.push_back(cat("\"+f\"(acc[", first + i, "])"));
    return join(list);
  }
  std::string multiply() const {
    std::vector<std::string> list;
    const int count = tile_n_ / 2;  // sums of 64 rows
    for (int i = 0; i < count; ++i) list.push_back(cat("%", i));
    const std::string type = r_.a.dtype == DType::f16 ? "f16" : "bf16";
    std::string lines, waits;
    for (int half = 0; half < halves(); ++half) {
      const std::string operands = sums_as_operands(half * count, count);
      lines += cat("  asm volatile(\"{\\n.reg .pred p;\\nsetp.ne.b32 p, %", count + 2, ", 0;\\n\"\n",
                   "      \"wgmma.mma_async.sync.aligned.m64n", tile_n_, "k", kStep, ".f32.", type, ".", type, " {",
                   join(list), "}, %", count, ", %", count + 1, ", p, 1, 1, ", a_.along_k ? 0 : 1, ", ",
                   b_.along_k ? 0 : 1, ";\\n}\"\n", "      : ", operands, "\n      : \"l\"(a + ", half * kBlock / 16,
                   "u), \"l\"(b), \"r\"(add));\n");
      waits += cat("  asm volatile(\"", half ? "" : "wgmma.wait_group.sync.aligned 0;", "\" : ", operands,
                   " :: \"memory\");\n");
    }
    return cat("TERN_DEVICE void multiply(f32 (&acc)[", sums(), "], u64 a, u64 b, u32 add) {\n", lines, "}\n",
               "TERN_DEVICE void wait_for_products(f32 (&acc)[", sums(), "]) {\n", waits, "}\n");
  }

  std::string place_of_work() const {
    return cat("let in_all = ", p(pairs_slot_), " * ", p(tiles_slot_),
               ";\n[[maybe_unused]] let batch = work / in_all;\n", "let tile = work % in_all;\n", "let band = tile / (",
               kBands, "u * ", p(tiles_slot_), ");\n", "let in_band = tile - band * ", kBands, "u * ", p(tiles_slot_),
               ";\nlet pairs = min(", kBands, "u, ", p(pairs_slot_), " - band * ", kBands, "u);\n",
               "let first_m = ((band * ", kBands, "u + in_band % pairs) * 2u + rank) * ", kTileM,
               "u;\nlet first_n = in_band / pairs * ", tile_n_, "u;\n");
  }
  std::string loop_over_k(const std::string& body) const {
    return cat("for (u32 k = 0u; k < ", p(k_slot_), "; k += ", kTileK, "u) {\n", indented(body),
               "  if (++stage == ", stages(), "u) { stage = 0u, round ^= 1u; }\n}\n");
  }
  std::string loop_over_work(const std::string& body) const {
    return cat("for (u32 work = group / 2u; work < ", p(works_slot_), "; work += gridDim.x / 2u) {\n",
               indented(place_of_work() + body), "}\n");
  }

  std::string fetch() const {
    const std::string batch_a = a_.batched ? "batch" : "0u", batch_b = b_.batched ? "batch" : "0u";
    std::string lines = cat("let at = ring + stage * ", stage_bytes(), "u, full = barriers + 8u * stage;\n");
    lines += cat("tern_wait(full + ", 8 * stages(), "u, round ^ 1u);\ntern_expect(full, ", stage_bytes(), "u);\n");
    if (a_.along_k) lines += cat("tern_fetch(at, map0, k, first_m, ", batch_a, ", full, for_a);\n");
    else
      for (int i = 0; i < kTileM / 64; ++i)
        lines +=
            cat("tern_fetch(at + ", i * kBlock, "u, map0, first_m + ", 64 * i, "u, k, ", batch_a, ", full, for_a);\n");
    // Each workgroup of the pair fetches half of b for both: half the columns, or half of k.
    const bool by_k = turns_ && !b_.along_k;
    lines += cat("let to = at + ", kTileM * 128, "u + rank * ", by_k ? kBlock / 2 : tile_n_ * 64, "u;\n");
    if (!by_k) lines += cat("let mine = first_n + rank * ", tile_n_ / 2, "u;\n");
    if (b_.along_k) lines += cat("tern_fetch_for_both(to, map1, k, mine, ", batch_b, ", full, for_b);\n");
    else
      for (int i = 0; i < (by_k ? tile_n_ / 64 : tile_n_ / 128); ++i)
        lines += cat("tern_fetch_for_both(to + ", i * kBlock, "u, map1, ", by_k ? "first_n" : "mine", " + ", 64 * i,
                     "u, k", by_k ? cat(" + rank * ", kTileK / 2, "u") : "", ", ", batch_b, ", full, for_b);\n");
    return cat("asm volatile(\"setmaxnreg.dec.sync.aligned.u32 ", turns_ ? 24 : 40, ";\");\nif (thread == 0u) {\n",
               keeps_a() ? "  let for_a = tern_kept(), for_b = tern_passing();\n"
                         : "  let for_a = tern_as_ever(), for_b = for_a;\n",
               "  u32 stage = 0u, round = 0u;\n", indented(loop_over_work(loop_over_k(lines))), "}\n");
  }

  /// Gives the stage before this one up, in both workgroups of the pair.
  std::string give_up_last_stage() const {
    return cat("tern_arrive(barriers + 8u * (", stages(), "u + (stage == 0u ? ", stages() - 1,
               "u : stage - 1u)), thread & 1u);");
  }
  std::string multiply_stage() const {
    // Elements of k step by 32 bytes within a row of a box, or by 16 rows; addresses count 16 bytes.
    const int step_a = a_.along_k ? 2 : 128, step_b = b_.along_k ? 2 : 128;
    std::string lines = cat("let at = ring + stage * ", stage_bytes(), "u, full = barriers + 8u * stage;\n");
    lines += cat("let a = tern_matrix(at", turns_ ? "" : cat(" + member * ", kBlock, "u"), ", ", kBlock,
                 "u), b = tern_matrix(at + ", kTileM * 128, "u, ", kBlock, "u);\n");
    lines += "tern_wait(full, round);\ntern_begin_products();\n";
    for (int i = 0; i < kTileK / kStep; ++i)
      lines += cat("multiply(acc, a + ", i * step_a, "u, b + ", i * step_b, "u, ", i ? "1u" : "k", ");\n");
    return cat(lines, "tern_commit_products();\ntern_wait_all_but_one();\nif (k > 0u && thread % 128u < 2u) { ",
               give_up_last_stage(), " }\n");
  }
  std::string multiply_and_finish(const std::string& finish) const {
    const std::string rest =
        cat("wait_for_products(acc);\nif (thread % 128u < 2u) { ", give_up_last_stage(), " }\n", finish);
    return cat("asm volatile(\"setmaxnreg.inc.sync.aligned.u32 ", turns_ ? 240 : 232, ";\");\n",
               // The same in all lanes, and said so: addresses of matrices are then kept in uniform registers.
               "let member = __shfl_sync(0xffffffffu, thread / 128u, 0) - 1u;\n",
               "u32 stage = 0u, round = 0u;\nf32 acc[", sums(), "] = {};\n", staged_.empty() ? "" : staging(),
               turns_ ? in_turns(rest) : together(rest),
               staged_.empty() ? "" : "if (thread % 128u == 0u) { tern_wait_for_boxes_but<0>(); }\n");
  }
  /// Half the rows of each tile. The second warp group stays two stages behind, so that one multiplies while the other
  /// finishes a tile.
  std::string together(const std::string& rest) const {
    const std::string ahead =
        cat("if (member == 0u && !ahead && (k == ", kTileK, "u || k + ", kTileK, "u >= ", p(k_slot_),
            ")) {\n  asm volatile(\"barrier.cta.arrive 1, 256;\");\n  ahead = true;\n}\n");
    return cat("bool ahead = false;\nif (member == 1u) { asm volatile(\"barrier.cta.sync 1, 256;\"); }\n",
               loop_over_work(loop_over_k(multiply_stage() + ahead) + rest));
  }
  /// Every other tile: one warp group multiplies while the other finishes a tile. Who is to multiply waits at a barrier
  /// of its own (4 and 5), at which the other arrives when it has no more to multiply.
  std::string in_turns(const std::string& rest) const {
    const std::string skip =
        cat("let steps = (", p(k_slot_), " + ", kTileK - 1, "u) / ", kTileK, "u;\nu32 nth = 0u;\n",
            "if (member == 1u) { asm volatile(\"barrier.cta.arrive 4, 256;\" ::: \"memory\"); }\n");
    const std::string turn =
        cat("if ((nth++ & 1u) != member) {\n  stage += steps;\n  round ^= stage / ", stages(),
            "u & 1u;\n  stage %= ", stages(),
            "u;\n  continue;\n}\nasm volatile(\"barrier.cta.sync %0, 256;\" :: \"r\"(4u + member) : \"memory\");\n");
    const std::string next =
        cat("if (work + gridDim.x / 2u < ", p(works_slot_),
            ") { asm volatile(\"barrier.cta.arrive %0, 256;\" :: \"r\"(5u - member) : \"memory\"); }\n");
    return skip + loop_over_work(turn + loop_over_k(multiply_stage()) + next + rest);
  }
  /// Where this warp group stages results, and within a box the place of the row this lane names: a row is 64 bytes,
  /// its pieces of 16 swapped by half the row's number.
  std::string staging() const {
    return cat(
        keeps_a() ? "let for_results = tern_passing();\n" : "let for_results = tern_as_ever();\n",
        "let staging = ring + ", staging_begin(), "u + member * ", kMostPlaces * halves() * kHalfBox, "u;\n",
        "let swapped = (thread % 128u / 32u * 16u + (thread & 15u)) * 64u + ((thread & 31u) / 16u ^ thread / 2u & "
        "3u) * 16u;\n");
  }

  int boxes() const { return tile_n_ / kColumns; }
  /// So many that every tile begins with the first.
  int places() const { return boxes() * static_cast<int>(staged_.size()) % kMostPlaces == 0 ? kMostPlaces : 3; }
  /// Whether results are staged, and in which order.
  int staged(std::size_t output) const {
    for (std::size_t i = 0; i < staged_.size(); ++i)
      if (staged_[i].output == output) return static_cast<int>(i);
    return -1;
  }
  /// The epilogue of eight columns and two rows, of which each invocation of four holds two neighbours in both: the
  /// layout of the matrix units' sums. `sum`: the first; `column`: from col; `word`: the first of the piece's.
  /// `inside`: a condition on row and col, for tiles at the edges.
  std::string finish_columns(Io& io, const Function& f, int sum, int column, int word,
                             const std::string& inside) const {
    std::string lines;
    for (int h = 0; h < 2; ++h) {
      Position at{{}, 0, 2, column};
      for (std::size_t i = 0; i < batch_.sizes.size(); ++i) at.coordinates.push_back("batch");
      at.coordinates.push_back("row"), at.coordinates.push_back("col");
      at.inner = static_cast<int>(at.coordinates.size()) - 1;
      const auto keep = [&](std::size_t o, const std::vector<std::string>& values) {
        return staged(o) < 0 ? std::string()
                             : cat("words", staged(o), "[", word + h,
                                   "] = ", packed_pair(r_.outputs[o].dtype, values[0], values[1]), ";\n");
      };
      const std::string one = epilogue_.finish(
          io, backend_.dialect(), f, at, batch_, [&](int e) { return cat("acc[", sum + 2 * h + e, "]"); }, "", "",
          keep);
      lines +=
          cat("{\n  [[maybe_unused]] let row = row_0 + ", 8 * h, "u;\n",
              inside.empty() ? indented(one) : cat("  if (", inside, ") {\n", indented(indented(one)), "  }\n"), "}\n");
    }
    return lines;
  }
  /// 16 rows of each warp and 16 columns, which go to the boxes' places. What is alike in both halves of the rows
  /// stands together, or the compiler keeps all operands of the columns in registers.
  std::string finish_piece(Io& io, const Function& f, int half, int sum, int column, int piece, bool at_edge) const {
    std::string lines = cat("let row_0 = top + ", 64 * half, "u;\n");
    for (std::size_t i = 0; i < staged_.size(); ++i) lines += cat("u32 words", i, "[4];\n");
    for (int e = 0; e < 2; ++e)
      lines +=
          finish_columns(io, f, sum + 4 * e, column + 8 * e, 2 * e,
                         at_edge ? cat("row < ", p(m_slot_), " && col + ", column + 8 * e, "u < ", p(n_slot_)) : "");
    for (std::size_t i = 0; i < staged_.size(); ++i) {
      const std::string words = cat("words", i);
      lines += cat("tern_store_blocks(place", i, " + ", half * kHalfBox, "u + (swapped ^ ", 32 * piece, "u), ", words,
                   "[0], ", words, "[1], ", words, "[2], ", words, "[3]);\n");
    }
    return cat("{\n", indented(lines), "}\n");
  }
  /// The columns of a box, of all this warp group's rows. `box`: which one; `sum`: the first half's first; `column`:
  /// from col.
  std::string finish_box(Io& io, const Function& f, const std::string& box, int sum, int column, bool at_edge) const {
    const std::size_t count = staged_.size();
    std::string lines, sent;
    for (std::size_t i = 0; i < count; ++i) {
      lines += cat("let place", i, " = staging + (", box, " * ", count, "u + ", i, "u) % ", places(), "u * ",
                   halves() * kHalfBox, "u;\n");
      sent += cat("tern_store_box(map", 2 + i, ", first_n + ", box, " * ", kColumns, "u, first_m",
                  turns_ ? "" : " + member * 64u", ", ", staged_[i].batched ? "batch" : "0u", ", place", i,
                  ", for_results);\n");
    }
    if (count)
      lines += cat("if (thread % 128u == 0u) { tern_wait_for_boxes_but<", places() - static_cast<int>(count),
                   ">(); }\ntern_warp_group_sync(2u + member);\n");
    for (int piece = 0; piece < kColumns / 16; ++piece)
      for (int half = 0; half < halves(); ++half)
        lines += finish_piece(io, f, half, sum + half * tile_n_ / 2 + 8 * piece, column + 16 * piece, piece, at_edge);
    if (count)
      lines += cat("tern_show_to_copies();\ntern_warp_group_sync(2u + member);\nif (thread % 128u == 0u) {\n",
                   indented(sent), "}\n");
    return lines;
  }
  std::string finish(Io& io, const Function& f) const {
    constexpr int taken = kColumns / 2;  // sums of a box, of 64 rows
    std::string all;
    for (int box = 0; box < boxes(); ++box)
      all += cat("{\n", indented(finish_box(io, f, cat(box, "u"), box * taken, box * kColumns, false)), "}\n");
    const std::string part = cat(finish_box(io, f, "part", 0, 0, true), "#pragma unroll\nfor (u32 i = 0u; i < ",
                                 sums() - taken, "u; ++i) { acc[i] = acc[i + ", taken, "u]; }\n");
    const std::string edges = cat("#pragma unroll 1\nfor (u32 part = 0u; part < ", boxes(),
                                  "u; ++part, col += ", kColumns, "u) {\n", indented(part), "}\n");
    return cat("let top = first_m + ", turns_ ? "" : "member * 64u + ",
               "thread % 128u / 32u * 16u + (thread & 31u) / 4u;\n", "u32 col = first_n + (thread & 3u) * 2u;\n",
               "if (first_m + ", kTileM, "u <= ", p(m_slot_), " && first_n + ", tile_n_, "u <= ", p(n_slot_), ") {\n",
               indented(all), "} else {\n", indented(edges), "}\n");
  }

  std::string text() {
    const Dialect& d = backend_.dialect();
    const Function f = epilogue_.function(d);
    Io io(plan_, d);
    std::string body = "extern __shared__ unsigned char memory[];\n";
    body += cat("let ring = (tern_shared(memory) + 1023u) & ~1023u, barriers = ring + ", ring(),
                "u, rank = tern_rank();\n");
    body += cat("if (thread == 0u) {\n  for (u32 i = 0u; i < ", stages(),
                "u; ++i) {\n    tern_barrier_init(barriers + 8u * i, 1u);\n", "    tern_barrier_init(barriers + 8u * (",
                stages(), "u + i), ", turns_ ? 2 : 4, "u);  // warp groups of two workgroups\n  }\n",
                "  tern_barriers_ready();\n}\ntern_cluster_sync();\n");
    body += cat("if (thread < 128u) {\n", indented(fetch()), "} else {\n", indented(multiply_and_finish(finish(io, f))),
                "}\ntern_cluster_sync();  // the other workgroup may still write here\n");
    Module module{
        cat("product on matrix units, tiles of ", kTileM, "x", tile_n_, "x", kTileK, turns_ ? " in turns" : ""),
        plan_.launch.bindings,
        plan_.launch.params.size(),
        plan_.launch.threads,
        {},
        std::string(kWgmmaText) + multiply() + f.text,
        body,
        2 + staged_.size(),
        "__cluster_dims__(2, 1, 1) "};
    return d.module(module);
  }

  GpuBackend& backend_;
  const GemmRequest& r_;
  MatrixUnits units_;
  Plan plan_;
  Epilogue epilogue_;
  Axes batch_;
  Factor a_, b_;
  std::vector<Staged> staged_;
  std::int64_t m_ = 0, n_ = 0, k_ = 0;
  int tile_n_ = 256;
  bool turns_ = false;    // warp groups take tiles in turns, instead of halves of each
  bool is_told_ = false;  // which tiles to take
  int m_slot_ = -1, n_slot_ = -1, k_slot_ = -1, pairs_slot_ = -1, tiles_slot_ = -1, works_slot_ = -1;
};

}  // namespace

bool run_tensor_cores(GpuBackend& backend, const GemmRequest& request, const MatrixUnits& units, bool always) {
  TensorCoreKernel kernel(backend, request, units);
  if (!kernel.fits() || (!always && !kernel.fills())) return false;
  kernel.run();
  return true;
}

}  // namespace tern::detail_cuda
