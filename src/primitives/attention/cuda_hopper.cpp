#include "primitives/attention/cuda_hopper.hpp"

#include <cstdint>

namespace tern::detail_gpu {
namespace {

using detail::AttentionSizes;

constexpr const char* kKernel =
#include "primitives/attention/attention_wgmma.cu.inc"
    ;
constexpr const char* kProducts =
#include "primitives/attention/wgmma_units.cu.inc"
    ;
constexpr const char* kInstructions =
#include "cuda/products/hopper.cu.inc"
    ;
constexpr int kPiece = 64;      // elements in a row of a box
constexpr int kStages = 2;      // places for tiles of k, and of v
constexpr int kBarriers = 256;  // bytes
constexpr int kAlignment = 1024;
constexpr int kFewRows = 64;  // for which half of a workgroup's rows would be none

}  // namespace

MmaInstance wgmma_forward_instance(const AttentionSizes& sizes) {
  MmaInstance i;
  const auto padded = [](std::int64_t elements) { return elements <= 64 ? 64 : elements <= 128 ? 128 : 256; };
  i.most_depth = padded(sizes.depth), i.most_width = padded(sizes.width);
  i.consumers = i.widest() == 64 && sizes.rows > 128 ? 3 : 2;
  i.others = i.widest() == 256 ? 80 : 128;
  i.warps = 4 * (1 + i.consumers), i.resident = 1;
  return i;
}

bool has_wgmma_attention(const AttentionSizes& sizes, DType dtype, const detail_cuda::MatrixUnits& units) {
  if (units.architecture != 90 || (dtype != DType::f16 && dtype != DType::bf16)) return false;
  if (sizes.parts > 1 || sizes.rows <= kFewRows || sizes.depth > 256 || sizes.width > 256) return false;
  if (sizes.of_scores().numel() == 0 || sizes.depth == 0 || sizes.width == 0) return false;
  return hopper::shared_bytes(wgmma_forward_instance(sizes)) <= units.shared_bytes;
}

namespace hopper {

bool in_boxes(const View& view, const Shape& shape) {
  constexpr std::int64_t kUnit = kVectorBytes / 2, kMost = std::int64_t{1} << 38;
  const auto address =
      reinterpret_cast<std::uintptr_t>(view.storage->data()) + 2 * static_cast<std::uintptr_t>(view.offset);
  if (address % kVectorBytes != 0 || (shape[3] > 1 && view.strides[3] != 1)) return false;
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

const char* kernel() { return kKernel; }
int shared_bytes(const MmaInstance& i) {
  return 2 * (i.own() * i.most_depth + kStages * i.others * (i.most_depth + i.most_width)) + kBarriers + kAlignment;
}

void fill_instance(Holes& h, const MmaInstance& i, bool ragged) {
  // Registers are given to a warp in steps of 8; all threads together have 64 K.
  h["consumers"] = cat(i.consumers, "u"), h["ragged"] = ragged ? "true" : "false";
  h["producer_registers"] = i.consumers == 3 ? "32" : "24", h["consumer_registers"] = i.consumers == 3 ? "160" : "240";
  h["instructions"] = kInstructions, h["products"] = kProducts;
  h["columns_of_tile"] = cat(i.others), h["width_of_sums"] = cat(i.most_width);
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
