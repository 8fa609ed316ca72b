// One persistent workgroup for each processor, in pairs (clusters) that share the columns of b. Of a workgroup's three
// warp groups, one fetches boxes of both factors into a ring in workgroup memory, two multiply them (64 rows each) and
// apply the epilogue. The plan is that of CUTLASS's cooperative kernels for Hopper
// (https://github.com/NVIDIA/cutlass/blob/main/media/docs/cpp/efficient_gemm.md).
#include "cuda/tensor_cores.hpp"

#include <algorithm>

#include "backend/trace.hpp"
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

constexpr int kTileM = 128, kTileK = 64;    // of a workgroup; 64 elements are 128 bytes, a row of a swizzled box
constexpr int kBlock = 64 * 128;            // bytes of a box of 64 rows
constexpr int kColumns = 64;                // of a box of results
constexpr int kRing = 4 * (16 + 32) << 10;  // bytes: four stages of a tile with 256 columns
constexpr int kStaging = kRing + 1024;      // where two boxes of results of each of two warp groups begin
constexpr int kBands = 8;                   // pairs of row tiles that are walked together
constexpr int kStep = 16;                   // of k in one instruction
constexpr int kShort = 1024;                // of k
constexpr int kKept = 24 << 20;             // bytes of a that the cache of the whole GPU (50 MiB) is asked to keep

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
    const std::int64_t rounds = ceil_div(works(), clusters());
    return works() * 100 >= rounds * clusters() * (k_ <= kShort ? 60 : 75);
  }

  void run() {
    Launch& launch = plan_.launch;
    launch.threads = 384;
    launch.shared_bytes = kStaging + 4 * kBlock + 1024;
    launch.groups = 2 * static_cast<std::uint64_t>(std::min(works(), clusters()));
    plan_.set(pairs_slot_, static_cast<std::uint64_t>(pairs())),
        plan_.set(tiles_slot_, static_cast<std::uint64_t>(tiles()));
    plan_.set(works_slot_, static_cast<std::uint64_t>(works()));
    a_.map.box[0] = b_.map.box[0] = 64;
    a_.map.box[1] = a_.along_k ? kTileM : kTileK;
    b_.map.box[1] = b_.along_k ? static_cast<std::uint32_t>(tile_n_) / 2 : kTileK;
    launch.maps = {a_.map, b_.map};
    for (const Staged& x : staged_) launch.maps.push_back(x.map), plan_.note(static_cast<char>(x.output));
    plan_.note('m'), plan_.note(r_.epilogue->serial), plan_.note(r_.a.dtype), plan_.note(tile_n_),
        plan_.note(keeps_a());
    for (const Factor* f : {&a_, &b_}) plan_.note(f->along_k), plan_.note(f->batched);
    for (const int axis : batch_.original) plan_.note(static_cast<char>(axis));
    plan_.finish_key();
    if (detail::tracing())
      detail::note(cat("matrix units, tiles of ", kTileM, "x", tile_n_, "x", kTileK, ", ", launch.groups,
                       " workgroups for ", 2 * works(), " tiles"));
    backend_.queue(launch, [this] { return text(); });
  }

 private:
  std::int64_t pairs() const { return ceil_div(m_, 2 * kTileM); }
  std::int64_t tiles() const { return ceil_div(n_, tile_n_); }
  std::int64_t works() const { return pairs() * tiles() * batch_.count(); }
  std::int64_t clusters() const { return std::max(units_.processors / 2, 1); }
  /// The rows of a that are walked together are read for every column of tiles, b and the results once in that time:
  /// while the cache holds those rows, they are to stay and the others to go first. 8192x4096x16384 with gelu on an
  /// H200: 0.956 of the plain product's speed, 0.929 without; in bands of 4 or 12 pairs 0.940 and 0.942.
  bool keeps_a() const { return std::min<std::int64_t>(pairs(), kBands) * 2 * kTileM * k_ * 2 <= kKept; }
  int stage_bytes() const { return (kTileM + tile_n_) * 128; }
  int stages() const { return kRing / stage_bytes(); }

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
    tile_n_ = n_ > 128 ? 256 : 128;
    if (k_ <= kShort && !fills())
      tile_n_ = 128;  // 512x768x3072: 11.0 µs, cuBLASLt and a pass 12.6; k = 4096: 26.2, 24.9
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
      staged.map.box[0] = kColumns, staged.map.box[1] = kTileM / 2;
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
  int sums() const { return tile_n_ / 2; }  // of one invocation

  /// The list "+f"(acc[0]), … of all sums, as operands of an instruction.
  std::string sums_as_operands() const {
    std::vector<std::string> list;
    for (int i = 0; i < sums(); ++i) list.push_back(cat("\"+f\"(acc[", i, "])"));
    return join(list);
  }
  std::string multiply() const {
    std::vector<std::string> list;
    for (int i = 0; i < sums(); ++i) list.push_back(cat("%", i));
    const std::string type = r_.a.dtype == DType::f16 ? "f16" : "bf16";
    return cat("TERN_DEVICE void multiply(f32 (&acc)[", sums(), "], u64 a, u64 b, u32 add) {\n",
               "  asm volatile(\"{\\n.reg .pred p;\\nsetp.ne.b32 p, %", sums() + 2, ", 0;\\n\"\n",
               "      \"wgmma.mma_async.sync.aligned.m64n", tile_n_, "k", kStep, ".f32.", type, ".", type, " {",
               join(list), "}, %", sums(), ", %", sums() + 1, ", p, 1, 1, ", a_.along_k ? 0 : 1, ", ",
               b_.along_k ? 0 : 1, ";\\n}\"\n", "      : ", sums_as_operands(),
               "\n      : \"l\"(a), \"l\"(b), \"r\"(add));\n}\n", "TERN_DEVICE void wait_for_products(f32 (&acc)[",
               sums(), "]) {\n", "  asm volatile(\"wgmma.wait_group.sync.aligned 0;\" : ", sums_as_operands(),
               " :: \"memory\");\n}\n");
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
    // Each workgroup of the pair fetches half of b for both.
    lines += cat("let to = at + ", kTileM * 128, "u + rank * ", tile_n_ * 64, "u;\nlet mine = first_n + rank * ",
                 tile_n_ / 2, "u;\n");
    if (b_.along_k) lines += cat("tern_fetch_for_both(to, map1, k, mine, ", batch_b, ", full, for_b);\n");
    else
      for (int i = 0; i < tile_n_ / 128; ++i)
        lines += cat("tern_fetch_for_both(to + ", i * kBlock, "u, map1, mine + ", 64 * i, "u, k, ", batch_b,
                     ", full, for_b);\n");
    return cat("asm volatile(\"setmaxnreg.dec.sync.aligned.u32 40;\");\nif (thread == 0u) {\n",
               keeps_a() ? "  let for_a = tern_kept(), for_b = tern_passing();\n"
                         : "  let for_a = tern_as_ever(), for_b = for_a;\n",
               "  u32 stage = 0u, round = 0u;\n", indented(loop_over_work(loop_over_k(lines))), "}\n");
  }

  std::string multiply_and_finish(const std::string& finish) const {
    // Elements of k step by 32 bytes within a row of a box, or by 16 rows; addresses count 16 bytes.
    const int step_a = a_.along_k ? 2 : 128, step_b = b_.along_k ? 2 : 128;
    std::string lines = cat("let at = ring + stage * ", stage_bytes(), "u, full = barriers + 8u * stage;\n");
    lines += cat("let a = tern_matrix(at + member * ", kBlock, "u, ", kBlock, "u), b = tern_matrix(at + ", kTileM * 128,
                 "u, ", kBlock, "u);\n");
    lines += "tern_wait(full, round);\ntern_begin_products();\n";
    for (int i = 0; i < kTileK / kStep; ++i)
      lines += cat("multiply(acc, a + ", i * step_a, "u, b + ", i * step_b, "u, ", i ? "1u" : "k", ");\n");
    lines +=
        cat("tern_commit_products();\ntern_wait_all_but_one();\nif (k > 0u && thread % 128u < 2u) { "
            "tern_arrive(barriers + 8u * (",
            stages(), "u + (stage == 0u ? ", stages() - 1, "u : stage - 1u)), thread & 1u); }\n");
    lines += cat("if (member == 0u && !ahead && (k == ", kTileK, "u || k + ", kTileK, "u >= ", p(k_slot_), ")) {\n",
                 "  asm volatile(\"barrier.cta.arrive 1, 256;\");\n  ahead = true;\n}\n");
    std::string body = loop_over_k(lines) + "wait_for_products(acc);\n";
    body += cat("if (thread % 128u < 2u) { tern_arrive(barriers + 8u * (", stages(), "u + (stage == 0u ? ",
                stages() - 1, "u : stage - 1u)), thread & 1u); }\n", finish);
    return cat("asm volatile(\"setmaxnreg.inc.sync.aligned.u32 232;\");\n",
               // The same in all lanes, and said so: addresses of matrices are then kept in uniform registers.
               "let member = __shfl_sync(0xffffffffu, thread / 128u, 0) - 1u;\n",
               "u32 stage = 0u, round = 0u;\nf32 acc[", sums(), "] = {};\n",
               // The second warp group stays two stages behind, so that one multiplies while the other finishes a tile.
               "bool ahead = false;\nif (member == 1u) { asm volatile(\"barrier.cta.sync 1, 256;\"); }\n",
               staged_.empty() ? "" : staging(), loop_over_work(body),
               staged_.empty() ? "" : "if (thread % 128u == 0u) { tern_wait_for_all_boxes(); }\n");
  }
  /// Where this warp group stages results, and within a box the place of the row this lane names.
  std::string staging() const {
    return cat(keeps_a() ? "let for_results = tern_passing();\n" : "let for_results = tern_as_ever();\n",
               "let staging = ring + ", kStaging, "u + member * ", 2 * kBlock, "u;\n",
               "let swapped = (thread % 128u / 32u * 16u + (thread & 15u)) * 128u + ((thread & 31u) / 16u ^ thread & "
               "7u) * 16u;\n");
  }

  /// Whether results are staged, and in which order.
  int staged(std::size_t output) const {
    for (std::size_t i = 0; i < staged_.size(); ++i)
      if (staged_[i].output == output) return static_cast<int>(i);
    return -1;
  }
  /// The epilogue of eight columns and two rows, of which each invocation of four holds two neighbours in both: the
  /// layout of the matrix units' sums. `inside`: a condition on row and col, for tiles at the edges.
  std::string finish_columns(Io& io, const Function& f, int first_sum, int ahead, const std::string& inside) const {
    std::string lines;
    for (int h = 0; h < 2; ++h) {
      Position at{{}, 0, 2, ahead};
      for (std::size_t i = 0; i < batch_.sizes.size(); ++i) at.coordinates.push_back("batch");
      at.coordinates.push_back("row"), at.coordinates.push_back("col");
      at.inner = static_cast<int>(at.coordinates.size()) - 1;
      const auto keep = [&](std::size_t o, const std::vector<std::string>& values) {
        return staged(o) < 0 ? std::string()
                             : cat("words", staged(o), "[", first_sum % (kColumns / 2) / 2 + h,
                                   "] = ", packed_pair(r_.outputs[o].dtype, values[0], values[1]), ";\n");
      };
      const std::string one = epilogue_.finish(
          io, backend_.dialect(), f, at, batch_, [&](int e) { return cat("acc[", first_sum + 2 * h + e, "]"); }, "", "",
          keep);
      lines +=
          cat("{\n  [[maybe_unused]] let row = row_0 + ", 8 * h, "u;\n",
              inside.empty() ? indented(one) : cat("  if (", inside, ") {\n", indented(indented(one)), "  }\n"), "}\n");
    }
    return lines;
  }
  /// Sends staged results off: 64 rows and columns of each output. A row of a box is 128 bytes, its pieces of 16
  /// swapped by the row's number. `column`: of the tile; `turn`: counts the boxes, which take the two places in turns.
  std::string send(const std::string& column, const std::string& turn) const {
    std::string lines;
    for (std::size_t i = 0; i < staged_.size(); ++i) {
      std::string one =
          cat("let place = staging + (", turn, " * ", staged_.size(), "u + ", i, "u) % 2u * ", kBlock, "u;\n",
              "if (thread % 128u == 0u) { tern_wait_for_boxes_but_one(); }\n", "tern_warp_group_sync(2u + member);\n");
      for (int j = 0; j < 4; ++j) {
        std::vector<std::string> words;
        for (int k = 0; k < 4; ++k) words.push_back(cat("words", i, "[", 4 * j + k, "]"));
        one += cat("tern_store_blocks(place + (swapped ^ ", 32 * j, "u), ", join(words), ");\n");
      }
      one += cat("tern_show_to_copies();\ntern_warp_group_sync(2u + member);\n",
                 "if (thread % 128u == 0u) {\n  tern_store_box(map", 2 + i, ", first_n + ", column,
                 ", first_m + member * 64u, ", staged_[i].batched ? "batch" : "0u", ", place, for_results);\n}\n");
      lines += cat("{\n", indented(one), "}\n");
    }
    return lines;
  }
  std::string finish(Io& io, const Function& f) const {
    constexpr int kTaken = kColumns / 2;  // sums
    std::string all, part, words;
    for (std::size_t i = 0; i < staged_.size(); ++i) words += cat("u32 words", i, "[", kTaken / 2, "];\n");
    for (int block = 0; block < sums() / kTaken; ++block) {
      std::string one = words;
      for (int first = block * kTaken; first < (block + 1) * kTaken; first += 4)
        one += finish_columns(io, f, first, 2 * first, "");
      all += cat("{\n", indented(one + send(cat(kColumns * block, "u"), cat(block, "u"))), "}\n");
    }
    for (int first = 0; first < kTaken; first += 4)
      part += finish_columns(io, f, first, 2 * first,
                             cat("row < ", p(m_slot_), " && col + ", 2 * first, "u < ", p(n_slot_)));
    part += send(cat("part * ", kColumns, "u"), "part");
    part +=
        cat("#pragma unroll\nfor (u32 i = 0u; i < ", sums() - kTaken, "u; ++i) { acc[i] = acc[i + ", kTaken, "u]; }\n");
    const std::string edges = cat("#pragma unroll 1\nfor (u32 part = 0u; part < ", sums() / kTaken,
                                  "u; ++part, col += ", kColumns, "u) {\n", indented(words + part), "}\n");
    return cat("let row_0 = first_m + member * 64u + thread % 128u / 32u * 16u + (thread & 31u) / 4u;\n",
               "u32 col = first_n + (thread & 3u) * 2u;\n", "if (first_m + ", kTileM, "u <= ", p(m_slot_),
               " && first_n + ", tile_n_, "u <= ", p(n_slot_), ") {\n", indented(all), "} else {\n", indented(edges),
               "}\n");
  }

  std::string text() {
    const Dialect& d = backend_.dialect();
    const Function f = epilogue_.function(d);
    Io io(plan_, d);
    std::string body = "extern __shared__ unsigned char memory[];\n";
    body +=
        cat("let ring = (tern_shared(memory) + 1023u) & ~1023u, barriers = ring + ", kRing, "u, rank = tern_rank();\n");
    body += cat("if (thread == 0u) {\n  for (u32 i = 0u; i < ", stages(),
                "u; ++i) {\n    tern_barrier_init(barriers + 8u * i, 1u);\n", "    tern_barrier_init(barriers + 8u * (",
                stages(), "u + i), 4u);  // two warp groups of two workgroups\n  }\n",
                "  tern_barriers_ready();\n}\ntern_cluster_sync();\n");
    body += cat("if (thread < 128u) {\n", indented(fetch()), "} else {\n", indented(multiply_and_finish(finish(io, f))),
                "}\ntern_cluster_sync();  // the other workgroup may still write here\n");
    Module module{cat("product on matrix units, tiles of ", kTileM, "x", tile_n_, "x", kTileK),
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
