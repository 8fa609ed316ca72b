#include "primitives/attention/cuda/cuda_plan.hpp"

#include <cmath>
#include <numbers>

#include "cuda/cuda_backend.hpp"
#include "cuda/products/instructions.hpp"
#include "cuda/products/mma_plan.hpp"

namespace tern::detail_gpu {
namespace {

using detail::AttentionSizes;

constexpr const char* kUnits =
#include "primitives/attention/cuda/attention_units.cu.inc"
    ;
constexpr const char* kMmaRows =
#include "primitives/attention/cuda/row_units.cu.inc"
    ;
constexpr const char* kMma =
#include "primitives/attention/cuda/mma_units.cu.inc"
    ;
constexpr const char* kRowPieces =
#include "primitives/attention/cuda/mma_row_pieces.cu.inc"
    ;
constexpr const char* kFma =
#include "primitives/attention/cuda/fma_units.cu.inc"
    ;

constexpr int kWarpLanes = 32, kVectorElements = 8;  // of a vector
/// The sums of a warp are what fills its registers: 32 rows of up to 128 elements, or 16 rows.
MmaInstance instance_of(const AttentionSizes& s, DType dtype) {
  MmaInstance i;
  i.most_depth = padded_elements(s.depth), i.most_width = padded_elements(s.width);
  i.bytes = static_cast<int>(dtype_size(dtype));
  if (i.widest() > (i.bytes == 4 ? 64 : 128)) i.resident = 1;
  return i;
}

}  // namespace

MmaInstance mma_forward_instance(const AttentionSizes& sizes, DType dtype) {
  MmaInstance i = instance_of(sizes, dtype);
  if (i.widest() > 128 || sizes.rows <= 64) i.blocks = 1;  // of few rows what is read counts, not the products
  if (i.bytes == 4) i.others = i.widest() > 128 ? 16 : 32;
  else i.others = i.widest() > 128 ? 32 : 64;
  if (i.bytes == 2) i.resident = 2;
  return i;
}
MmaInstance mma_rows_instance(const AttentionSizes& sizes, DType dtype) {
  MmaInstance i = instance_of(sizes, dtype);
  if (i.widest() > 128 || (i.bytes == 4 && i.widest() > 64)) i.blocks = 1;
  if (i.bytes == 4) i.others = i.widest() > 128 ? 16 : 32;
  else i.others = i.widest() > 64 ? 32 : 64;
  return i;
}
MmaInstance mma_columns_instance(const AttentionSizes& sizes, DType dtype) {
  MmaInstance i = instance_of(sizes, dtype);
  if (i.widest() > 64) i.blocks = 1;
  if (i.bytes == 4) i.others = i.widest() > 128 ? 16 : 32;
  else i.others = i.widest() == 128 ? 64 : 32;
  return i;
}

bool has_mma_attention(GpuBackend& backend, const AttentionSizes& sizes, DType dtype) {
  if (dtype == DType::f64 || backend.limits().archived) return false;
  const auto* cuda = dynamic_cast<detail_cuda::CudaBackend*>(&backend);
  if (!cuda) return backend.limits().native;  // a device of tests
  const detail_cuda::MatrixUnits units = cuda->units();
  const MmaInstance forward = mma_forward_instance(sizes, dtype), rows = mma_rows_instance(sizes, dtype),
                    columns = mma_columns_instance(sizes, dtype);
  return units.architecture >= 80 && forward.shared_bytes(forward.most_depth) <= units.shared_bytes &&
         rows.shared_bytes(rows.most_depth + rows.most_width) <= units.shared_bytes &&
         columns.shared_bytes(columns.most_depth + columns.most_width, 3) <= units.shared_bytes;
}

std::int64_t aligned_views(std::initializer_list<const View*> views) {
  std::int64_t bits = 0;
  for (const View* v : views)
    bits = bits * 2 + (reinterpret_cast<std::uintptr_t>(v->storage->data()) % kVectorBytes == 0);
  return bits;
}

MmaAttention::MmaAttention(GpuBackend& backend, const char* op, char kind, const AttentionSizes& sizes, DType dtype,
                           const MmaInstance& instance, std::int64_t tiles)
    : backend_(backend),
      sizes_(sizes),
      dtype_(dtype),
      instance_(instance),
      plan_(backend.limits(), op, kind),
      slots_(plan_, backend.dialect(), sizes, detail::ComputeType::f32, tiles) {
  const double factor = std::numbers::log2e * (positive() ? sizes.scale : 1);
  factor_ = plan_.add_param(std::bit_cast<std::uint32_t>(static_cast<float>(factor)));
}

int MmaAttention::add(const View& view, const Shape& shape, bool written) {
  extents_.push_back({shape.begin(), shape.end()});
  return add_whole(plan_, view, written);
}
void MmaAttention::sizes_of_operands() {
  const Shape space = sizes_.of_scores();
  while (extents_.size() < plan_.accesses.size()) extents_.push_back({space.begin(), space.end()});
}

void MmaAttention::finish(const detail::AttentionPrograms& programs,
                          std::initializer_list<const detail::Program*> slopes, std::uint64_t groups,
                          int shared_bytes) {
  std::vector<ByteRange> touched;
  for (std::size_t i = 0; i < plan_.accesses.size(); ++i)
    touched.push_back(bytes_touched(*plan_.accesses[i].view, extents_[i]));
  plan_.bind(touched);
  for (const detail::Program* program : {programs.score, programs.open, programs.thin})
    plan_.note(program ? program->serial : 0);
  for (const detail::Program* program : slopes) plan_.note(program ? program->serial : 0);
  plan_.note(dtype_), plan_.note(static_cast<char>(positive())), plan_.note(static_cast<char>(few_positions()));
  plan_.note(static_cast<char>(scale_is_positive_));
  plan_.note(instance_);
  for (std::size_t i = 0; i < 4 && i < plan_.accesses.size(); ++i)
    plan_.note(static_cast<char>(extents_[i].size() == 4 && wide(static_cast<int>(i))));
  plan_.finish_key();
  plan_.launch.groups = groups;
  plan_.launch.threads = static_cast<std::uint32_t>(kWarpLanes * instance_.warps);
  plan_.launch.shared_bytes = static_cast<std::uint32_t>(shared_bytes);
}

bool MmaAttention::wide(int access) const { return lies_in_vectors(plan_.access(access), 3); }
void MmaAttention::store_wide(int access) {
  if (wide(access)) plan_.make_wide(access);
}

std::string MmaAttention::step(int access, std::size_t axis) const {
  const Access& x = plan_.access(access);
  return x.steps[axis] == '1' ? "1u" : x.steps[axis] == '0' ? "0u" : p(x.strides[axis]);
}
std::string MmaAttention::from(int access, const std::vector<std::string>& at) const {
  std::string sum = p(plan_.access(access).base);
  for (std::size_t i = 0; i < at.size(); ++i) sum += cat(" + ", at[i], " * ", step(access, i));
  return sum;
}
void MmaAttention::fill_matrix(Holes& h, const std::string& name, int access, const std::string& head) const {
  h[name] = cat("b", plan_.access(access).binding);
  h[name + "_from"] = from(access, {"batch", head});
  h[name + "_step"] = step(access, 2), h[name + "_step_in"] = step(access, 3);
  h[name + "_wide"] = wide(access) ? "true" : "false";
}

void MmaAttention::fill_boxes(Holes& h, const std::string& name, int access) const {
  h[name + "_batch"] = step(access, 0) == "0u" ? "0u" : "batch";
  h[name + "_head"] = step(access, 1) == "0u" ? "0u" : "head";
}

Holes MmaAttention::holes(const std::string& columns_first) const {
  static const auto& row_pieces = *new Holes(pieces(kRowPieces));  // outlives what is in static storage
  Holes h = slots_.holes();
  h.insert(row_pieces.begin(), row_pieces.end());
  const bool halves = instance_.bytes == 2;
  h["instructions"] = detail_cuda::kAmpereInstructions, h["quad_rows"] = detail_cuda::kQuadRows;
  h["units"] = kUnits, h["row_units"] = kMmaRows, h["products"] = halves ? kMma : kFma;
  h["elements"] = halves ? "typedef u16 Element;\ntypedef u16 Word;" : "typedef f32 Element;\ntypedef u32 Word;";
  h["type"] = dtype_ == DType::f16 ? "f16" : "bf16";
  h["pair"] = packed_pair(dtype_, kFirst, kSecond);
  h["factor"] = cat("bitcast<f32>(", p(factor_), ")");
  const std::pair<const char*, int> numbers[] = {
      {"warps", instance_.warps},       {"blocks", instance_.blocks},         {"bytes", instance_.bytes},
      {"scratch", instance_.scratch()}, {"most_depth", instance_.most_depth}, {"most_width", instance_.most_width},
      {"resident", instance_.resident}};
  for (const auto& [name, number] : numbers) h[name] = cat(number, "u");
  std::string edge;
  const std::string shift = slots_.integer(slots_.shift);
  const std::string past = cat("i32(", columns_first, " + kColumns)"), first = cat("i32(", columns_first, ")");
  if (sizes_.causal) edge += cat(" || ", past, " > i32(first_row) + ", shift, " + 1");
  if (sizes_.window > 0)
    edge += cat(" || i32(first_row + kRows) - 1 + ", shift, " - ", first, " >= ", slots_.integer(slots_.window), " || ",
                past, " - 1 - i32(first_row) - ", shift, " >= ", slots_.integer(slots_.window));
  h["edge"] = edge;
  return h;
}

void MmaAttention::fill_score(Io& io, Holes& h, const ScorePair& scores, const ScoreStyle& style) const {
  const Dialect& d = formula_dialect();
  const std::vector<std::string> at{"batch", "head", "own_row", "at"};
  const Taken taken = scores.taken(d, style);
  if (!taken.factor.trivial()) h["factor"] = cat("(", h["factor"], " * ", taken.factor.text, ")");
  h["begins"] = taken.apart ? "true" : "false";
  h["along"] = scores.apply_part(io, d, "score_of", Part::along, at, "along", style);
  h["begin"] = scores.apply_part(io, d, "score_of", Part::begin, at, "begin", style);
}

void MmaAttention::fill_blocks(Io& io, Holes& h, int access, bool own_rows) const {
  h["seen_of"] = h["seek"] = h["seen_block"] = "";
  if (access < 0) return;
  const std::string size = cat(detail::kMaskBlock, "u"), column = own_rows ? "column" : "first_column";
  const auto loop = [&](const char* i, const std::string& first, const char* count, int most) {
    return cat("for (u32 ", i, " = ", first, " / ", size, "; ", i, " <= (min(", first, " + ", count, ", ", p(most),
               ") - 1u) / ", size, "; ++", i, ") {\n");
  };
  std::vector<std::string> values;
  const std::string load = io.load(access, {{"batch", "head", "i", "j"}, -1, 1}, values);
  h["seen_of"] =
      cat("const auto seen_of = [&](", own_rows ? "u32 column" : "u32 head, u32 first_row",
          ") -> u32 {\n  bool any = false, all = true;\n  ", loop("i", "first_row", "kRows", slots_.rows), "  ",
          loop("j", column, "kColumns", slots_.columns),
          indented(indented(cat(load, "any = any || ", values[0], " != 0, all = all && ", values[0], " == 2;\n"))),
          "  }\n  }\n  return all ? 2u : any ? 1u : 0u;\n};\n");
  const std::string call = own_rows ? "seen_of(column)" : "seen_of(key_head * shared + sharer, first_row)";
  // A warp looks at 32 tiles at once: one after the other, each waits for memory, and of documents most are not seen.
  const char* const from = own_rows ? "column" : "first_row";
  const char* const step = own_rows ? "kColumns" : "kRows";
  const std::string look = cat("const u32 mine = ", from, " + (threadIdx.x & 31u) * ", step,
                               ", seen = __ballot_sync(0xffffffffu, mine < end && ",
                               own_rows ? "seen_of(mine)" : "seen_of(key_head * shared + sharer, mine)", " != 0u);\n");
  const std::string skip = cat("if (seen == 0u) { ", from, " += 32u * ", step, "; continue; }\n", from,
                               " += (u32(__ffs(int(seen))) - 1u) * ", step, ";\n");
  h["seek"] = own_rows ? cat("while (column < end) {\n", indented(look + skip + "break;\n"), "}\n") : look + skip;
  h["seen_block"] = cat("[[maybe_unused]] let seen_block = ", call, ";\n");
}

std::string MmaAttention::store(Io& io, int access, const std::string& batch, const std::string& head,
                                const std::string& row, const std::string& size, const std::string& factor) const {
  std::vector<std::string> values;
  for (int e = 0; e < kVectorElements; ++e) values.push_back(cat("(x.x[", e, "]", factor, ")"));
  const Access& to = plan_.access(access);
  const bool whole = to.wide && dtype_size(to.view->dtype) == 2;  // vectors of eight elements
  const std::string guard = whole ? std::string() : cat("(first + $0) < ", size);
  return io.store(access, {{batch, head, row, "first"}, 3, kVectorElements}, values, guard);
}

std::string MmaAttention::module(const std::string& title, const char* file, Holes holes) const {
  Module module;
  module.title = title;
  module.bindings = plan_.launch.bindings, module.params = plan_.launch.params.size();
  module.maps = plan_.launch.maps.size();
  module.file = file, module.holes = std::move(holes);
  return backend_.dialect().module(module);
}

}  // namespace tern::detail_gpu
