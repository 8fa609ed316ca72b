// What the kernels of attention on tensor cores share: which instance there is for given sizes, and a plan that fills
// the holes all of them have.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cuda/dialect.hpp"
#include "cuda/products/wgmma.hpp"
#include "primitives/attention/gpu/gpu_scores.hpp"

namespace tern::detail_gpu {

/// As many elements as kernels have rows of.
inline int padded_elements(std::int64_t elements) { return elements <= 64 ? 64 : elements <= 128 ? 128 : 256; }

/// The instance of a kernel: its own rows stay in workgroup memory, tiles of the others pass by.
struct MmaInstance {
  int warps = 4, blocks = 2;  // a warp has so many blocks of 16 own rows
  int others = 64;            // rows of a tile
  int most_depth = 64, most_width = 64;
  int resident = 2;        // workgroups that a multiprocessor is to hold
  int bytes = 2;           // of an element
  int consumers = 0;       // on Hopper: warp groups of 64 own rows, beside the one that fetches; 0: mma.sync
  int ping_pong = 0;       // whether those alternate in sending products off
  int stages = 2;          // places for tiles
  int second_stages = 2;   // for the second one of two that pass by together
  int producer_registers = 24;  // of a thread; what the warp group that fetches gives up its consumers get
  /// Registers are given to a thread in steps of 8; all together have 64 K.
  int consumer_registers() const {
    const int groups = 1 + consumers, all = 512 / groups / 8 * 8 * groups;
    return (all - producer_registers) / consumers / 8 * 8;
  }
  int widest() const { return std::max(most_depth, most_width); }
  /// Bytes in which a warp of f32 passes scores on.
  int scratch() const { return bytes == 4 ? 16 * blocks * others * 4 : 0; }
  int own() const { return consumers ? 64 * consumers : 16 * blocks * warps; }
  /// Bytes of workgroup memory: `own_elements` in a row of its own, both of them in one of the two tiles, and `words`.
  int shared_bytes(int own_elements, int words = 0) const {
    return own() * own_elements * bytes + 2 * others * ((most_depth + most_width) * bytes + words * 4) +
           warps * scratch();
  }
};
/// What a kernel backward is for.
enum class GradientOf { q, k, v, k_and_v };

MmaInstance mma_forward_instance(const detail::AttentionSizes& sizes, DType dtype);
/// Of the gradient of q, and of those of k and v.
MmaInstance mma_rows_instance(const detail::AttentionSizes& sizes, DType dtype);
MmaInstance mma_columns_instance(const detail::AttentionSizes& sizes, DType dtype);

/// Whether a device's tensor cores have kernels for these sizes, forward and backward.
bool has_mma_attention(GpuBackend& backend, const detail::AttentionSizes& sizes, DType dtype);

void attention_by_mma(GpuBackend& backend, const detail::AttentionRequest& request);
void attention_backward_by_mma(GpuBackend& backend, const detail::AttentionBackwardRequest& request);

/// The same forward by the instructions of compute capability 9.0; false where it does not fit them.
bool attention_by_wgmma(GpuBackend& backend, const detail::AttentionRequest& request,
                        const detail_cuda::MatrixUnits& units);
/// Whether that has kernels for these sizes, however the operands lie.
bool has_wgmma_attention(const detail::AttentionSizes& sizes, DType dtype, const detail_cuda::MatrixUnits& units);
/// What is done to a score, as far as an instance depends on it.
struct HopperWork {
  bool plain = true;     // neither a formula nor dropout nor a mask in blocks
  bool light = true;     // a formula alone, at most
  bool special = false;  // a formula that the special function unit computes
};
MmaInstance wgmma_forward_instance(const detail::AttentionSizes& sizes, const HopperWork& work);

bool attention_backward_by_wgmma(GpuBackend& backend, const detail::AttentionBackwardRequest& request,
                                 const detail_cuda::MatrixUnits& units);
/// Whether shares and slopes are to be kept there.
bool wgmma_keeps_shares(const detail::AttentionBackwardRequest& request, const detail_cuda::MatrixUnits& units);
MmaInstance wgmma_rows_instance(const detail::AttentionSizes& sizes, const HopperWork& work);
MmaInstance wgmma_columns_instance(const detail::AttentionSizes& sizes, const HopperWork& work, GradientOf of);

/// Whether a function of the program is none of +, -, ·, / and the like.
bool has_special_functions(const detail::Program& program);
/// Of a request forward or backward.
template <class Request> HopperWork hopper_work(const Request& r) {
  const bool light = !r.programs.thin && !r.blocks.storage;
  return {light && !r.programs.score, light, r.programs.score && has_special_functions(*r.programs.score)};
}

/// Which of these views begin where 16 bytes can be copied at once: decides a kernel beside the request.
std::int64_t aligned_views(std::initializer_list<const View*> views);

/// A kernel of attention on tensor cores: its plan, the sizes among its parameters, and the holes all such files have.
class MmaAttention {
 protected:
  MmaAttention(GpuBackend& backend, const char* op, char kind, const detail::AttentionSizes& sizes, DType dtype,
               const MmaInstance& instance, std::int64_t tiles);

  int add(const View& view, const Shape& shape, bool written = false);
  /// Operands of formulas are added by Scores: their sizes are those of the scores.
  void sizes_of_operands();
  /// Windows, the key, and the launch.
  void finish(const detail::AttentionPrograms& programs, std::initializer_list<const detail::Program*> slopes,
              std::uint64_t groups, int shared_bytes);
  bool wide(int access) const;
  /// Where a view begins for given coordinates of its first axes, and its steps along the others.
  std::string from(int access, const std::vector<std::string>& at) const;
  std::string step(int access, std::size_t axis) const;
  /// The holes of a matrix of the file: $name, $name_from, $name_step, $name_step_in, $name_wide.
  void fill_matrix(Holes& holes, const std::string& name, int access, const std::string& head) const;
  /// The holes of one that is fetched in boxes: $name_batch, $name_head.
  void fill_boxes(Holes& holes, const std::string& name, int access) const;
  /// The holes that have nothing to do with the direction; `columns_first`: the first column of a tile.
  Holes holes(const std::string& columns_first) const;
  /// Lines that store eight values at [batch, head, row, first…].
  std::string store(Io& io, int access, const std::string& batch, const std::string& head, const std::string& row,
                    const std::string& size, const std::string& factor) const;
  /// The holes of a mask in blocks, by access: which tiles are left out. `own_rows`: tiles of columns pass by.
  void fill_blocks(Io& io, Holes& holes, int access, bool own_rows) const;
  /// Makes the store's access wide where it can be; before finish().
  void store_wide(int access);
  /// In which formulas are printed: their results are exponentiated and, but for f32, rounded to 16 bits.
  const Dialect& formula_dialect() const {
    return instance_.bytes == 2 ? cuda_dialect_of_scores() : backend_.dialect();
  }
  /// For scores that are neighbours along an axis of [batch, heads, rows, columns].
  ScoreStyle score_style(int axis, LeftToKernel left) const {
    return {axis, few_positions(), left, scale_is_positive_};
  }
  /// The holes of a score's formula: of what it leaves to the kernel, and of what scores begin with.
  void fill_score(Io& io, Holes& holes, const ScorePair& scores, const ScoreStyle& style) const;
  bool positive() const { return sizes_.scale > 0; }
  std::string p(int slot) const { return backend_.dialect().param(slot); }
  const char* units() const {
    return instance_.consumers ? "on Hopper" : instance_.bytes == 2 ? "on tensor cores" : "in f32";
  }
  std::string module(const std::string& title, const char* file, Holes holes) const;

  bool few_positions() const {
    return static_cast<double>(std::max({sizes_.batch, sizes_.heads, sizes_.rows, sizes_.columns})) < kFewPositions;
  }
  GpuBackend& backend_;
  const detail::AttentionSizes& sizes_;
  DType dtype_;
  MmaInstance instance_;
  Plan plan_;
  ScoreSizes slots_;
  int factor_;
  bool scale_is_positive_ = false;                  // of a formula
  std::vector<std::vector<std::int64_t>> extents_;  // of each access
};

}  // namespace tern::detail_gpu
