#include "primitives/attention/cuda/cuda_hopper.hpp"

#include <algorithm>
#include <cstdint>

#include "cuda/products/instructions.hpp"
#include "formula/rule.hpp"

namespace tern::detail_gpu {
namespace {

using detail::AttentionSizes;

constexpr const char* kHopperForward =
#include "primitives/attention/cuda/attention_wgmma.cu.inc"
    ;
constexpr const char* kHopperRows =
#include "primitives/attention/cuda/attention_wgmma_rows.cu.inc"
    ;
constexpr const char* kHopperColumns =
#include "primitives/attention/cuda/attention_wgmma_columns.cu.inc"
    ;
constexpr const char* kWgmmaUnits =
#include "primitives/attention/cuda/wgmma_units.cu.inc"
    ;
constexpr const char* kWgmmaRowUnits =
#include "primitives/attention/cuda/wgmma_row_units.cu.inc"
    ;
constexpr int kPiece = 64;      // elements in a row of a box
constexpr int kBarriers = 256;  // bytes
constexpr int kAlignment = 1024;
constexpr int kRowsOfHalf = 64;  // for which half of a workgroup's rows would be none

}  // namespace

// 4x16x4096, bf16, ms by consumers x columns of a tile, ping-pong and not. On an H200, 26 November 2026, the best
// of seven rounds; the power of the chip is what they are bound by:
//   128 elements         2x128 0.768, 2x144 0.798, 2x160 0.785, 2x176 0.791, 3x80 0.777
//   128, causal          2x128 0.436, 0.468; 2x112 0.467, 2x160 0.466, 0.463; ALiBi 2x128 0.507, 2x144 0.538, 2x160
//   0.550 128, soft cap        3x80 1.01, 0.981; 2x128 1.05, 1.04; 2x160 1.10, 1.05 64                   3x128 0.521,
//   3x96 0.545, 3x112 0.542, 2x128 0.628, 2x192 0.630 64, causal           3x128 0.336, 3x96 0.353, 2x128 0.343, 2x192
//   0.358; ALiBi 3x128 0.411, 2x128 0.411 64, soft cap         3x128 0.829, 0.811; 2x128 0.853
// On an H100, 25 November 2026: 256 elements (4x16x2048) 2x80 0.370, 0.385; 2x64 0.375.
MmaInstance wgmma_forward_instance(const AttentionSizes& sizes, const HopperWork& work) {
  MmaInstance i;
  i.most_depth = padded_elements(sizes.depth), i.most_width = padded_elements(sizes.width);
  i.consumers = 2, i.ping_pong = 1, i.others = i.widest() == 256 ? 80 : 128;
  if (i.widest() == 64 && sizes.rows > 128) i.consumers = 3;
  if (i.widest() == 128 && work.special && !sizes.causal && sizes.window == 0)
    i.consumers = 3, i.ping_pong = 0, i.others = 80;
  i.warps = 4 * (1 + i.consumers), i.resident = 1, i.producer_registers = i.consumers == 3 ? 32 : 24;
  return i;
}

// 4x16x4096, bf16 on an H100, 25 November 2026, ms by consumers x columns of a tile (ping-pong): 128 elements
// 2x64 1.23, 2x80 1.19, 2x96 1.15, causal 2x96 0.622; 64 elements 2x96 0.791, 2x128 0.746, 3x80 0.733, causal 2x128
// 0.397, 3x80 0.446. With two places in place of three 2x80 took 1.74. On an H200, a day later: ALiBi, causal, 2x64
// 0.649, 2x96 0.622, of 64 elements 2x80 0.484, 2x128 0.425; a soft cap 2x64 1.34, 2x96 1.28, of 64 elements 2x80 1.10,
// 2x128 0.989. 256 elements (4x16x2048, 29 November): with places for two tiles and one 2x64 0.721, for two and two
// 2x48 0.902; not ping-pong 0.725.
MmaInstance wgmma_rows_instance(const AttentionSizes& sizes, const HopperWork& work) {
  MmaInstance i;
  i.most_depth = i.most_width = padded_elements(std::max(sizes.depth, sizes.width));
  i.consumers = 2, i.ping_pong = 1, i.stages = i.second_stages = 3, i.warps = 12, i.resident = 1;
  if (i.widest() == 256) {
    i.stages = 2, i.second_stages = 1, i.others = 64;
    return i;
  }
  i.others = i.widest() == 64 ? (work.light ? 128 : 80) : work.light ? 96 : 64;
  return i;
}
// The same by consumers x rows of a tile, not ping-pong: 128 elements 2x48 2.35, 2x64 1.88, causal 1.14, 0.996; 64
// elements 2x64 1.60, 2x96 1.54, 2x128 1.22, 3x64 1.37, causal 0.723, 0.664, 0.595, 0.670. On an H200, a day later:
// ALiBi, causal, 2x48 1.01, 2x64 0.909, of 64 elements 2x96 0.580, 2x128 0.667, where registers spilled; a soft cap
// 2x48 2.03, 2x64 1.95, of 64 elements 2x96 1.25, 2x128 1.21. 256 elements (4x16x2048, 29 November), of k 2x64 0.729,
// with places for two tiles and two 2x48 0.871; of v 2x64 0.383, 2x80 0.387, with places for two and one 2x96 0.511.
MmaInstance wgmma_columns_instance(const AttentionSizes& sizes, const HopperWork& work, GradientOf of) {
  MmaInstance i;
  i.most_depth = i.most_width = padded_elements(std::max(sizes.depth, sizes.width));
  i.consumers = 2, i.stages = i.second_stages = 3, i.warps = 12, i.resident = 1;
  if (i.widest() == 256) {
    i.stages = 2, i.second_stages = of == GradientOf::k ? 1 : 2, i.ping_pong = 1, i.others = 64;
    return i;
  }
  i.producer_registers = 40;  // two of its warps have more to do than those of the other kernels
  i.others = i.widest() == 64 ? (work.plain ? 128 : 96) : work.light ? 64 : 48;
  return i;
}

bool has_special_functions(const detail::Program& program) {
  return std::any_of(program.steps.begin(), program.steps.end(), [](const detail::Step& s) {
    return s.kind == detail::StepKind::elementary && detail::rule_of(s.elementary).ulp_f32 > 0.5;
  });
}
bool has_wgmma_attention(const AttentionSizes& sizes, DType dtype, const detail_cuda::MatrixUnits& units) {
  if (units.architecture != 90 || (dtype != DType::f16 && dtype != DType::bf16)) return false;
  if (sizes.parts > 1 || sizes.rows <= kRowsOfHalf || sizes.depth > 256 || sizes.width > 256) return false;
  if (sizes.of_scores().numel() == 0 || sizes.depth == 0 || sizes.width == 0) return false;
  return hopper::shared_bytes(wgmma_forward_instance(sizes, {})) <= units.shared_bytes;
}

namespace hopper {

bool in_boxes(const View& view, const Shape& shape) {
  constexpr std::int64_t kUnit = kVectorBytes / 2, kMost = std::int64_t{1} << 38;
  if (!begins_in_vectors(view) || (shape[3] > 1 && view.strides[3] != 1)) return false;
  if (shape[2] > 1 && view.strides[2] < shape[3]) return false;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t stride = view.strides[i];
    if (shape[i] > INT32_MAX || (shape[i] > 1 && (stride < 0 || stride % kUnit != 0 || stride >= kMost))) return false;
  }
  return true;
}

BoxMap boxes_of(const View& view, const Shape& shape, int rows) {
  BoxMap map;
  map.storage = view.storage, map.begin = 2 * static_cast<std::uint64_t>(view.offset), map.axes = 4;
  map.sizes[0] = static_cast<std::uint64_t>(shape[3]);
  // Where an axis has one matrix, or the same everywhere, its step counts for nothing.
  for (std::size_t i = 1; i < 4; ++i) {
    const std::size_t axis = 3 - i;
    const bool steps = shape[axis] > 1 && view.strides[axis] != 0;
    map.sizes[i] = steps ? static_cast<std::uint64_t>(shape[axis]) : 1;
    map.strides[i - 1] = steps ? 2 * static_cast<std::uint64_t>(view.strides[axis])
                               : static_cast<std::uint64_t>(round_up(2 * shape[3], kVectorBytes));
  }
  map.box[0] = kPiece, map.box[1] = static_cast<std::uint32_t>(rows);
  return map;
}

const char* kernel() { return kHopperForward; }
int shared_bytes(const MmaInstance& i) {
  return 2 * (i.own() * i.most_depth + i.stages * i.others * (i.most_depth + i.most_width)) + kBarriers + kAlignment;
}
const char* backward_kernel(GradientOf of) { return of == GradientOf::q ? kHopperRows : kHopperColumns; }
int backward_bytes(const MmaInstance& i, GradientOf of) {
  const int own = of == GradientOf::v ? 1 : 2;  // matrices whose rows stay
  return 2 * i.most_depth * (own * i.own() + (i.stages + i.second_stages) * i.others) +
         (of == GradientOf::q ? 0 : 8 * i.stages * i.others) + kBarriers + kAlignment;
}

void fill_instance(Holes& h, const MmaInstance& i) {
  h["consumers"] = cat(i.consumers, "u"), h["stages"] = cat(i.stages, "u"),
  h["stages_of_second"] = cat(i.second_stages, "u"), h["ping_pong"] = i.ping_pong ? "true" : "false";
  h["few_places"] = i.second_stages < i.stages ? "true" : "false";
  h["producer_registers"] = cat(i.producer_registers), h["consumer_registers"] = cat(i.consumer_registers());
  h["instructions"] = detail_cuda::kHopperInstructions, h["products"] = kWgmmaUnits, h["row_blocks"] = kWgmmaRowUnits;
  h["rows_of_tile"] = cat(i.others), h["width_of_sums"] = cat(i.most_width);
  // The operands of the instructions: registers by number, and the values they are.
  const auto registers = [](int first, int count) {
    std::vector<std::string> all;
    for (int r = first; r < first + count; ++r) all.push_back(cat("%", r));
    return join(all);
  };
  const auto values = [](const char* name, const char* kind, int count) {
    std::vector<std::string> all;
    for (int r = 0; r < count; ++r) all.push_back(cat("\"", kind, "f\"(", name, "[", r / 4, "][", r % 4, "])"));
    return join(all);
  };
  const int scores = i.others / 2, sums = i.most_width / 2;  // of a thread, of 64 rows
  h["score_registers"] = registers(0, scores), h["score_factors"] = registers(scores, 2);
  h["scores_set"] = values("s", "=", scores), h["scores"] = values("s", "+", scores);
  h["sum_registers"] = registers(0, sums), h["share_registers"] = registers(sums, 4);
  h["sum_factor"] = registers(sums + 4, 1), h["sums"] = values("sums", "+", sums);
}

}  // namespace hopper
}  // namespace tern::detail_gpu
