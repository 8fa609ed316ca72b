// What one launch of a pointwise kernel needs: merged axes, how operands lie over them, and how they are taken.
#pragma once
#include <string>
#include <vector>

#include "gpu/elementwise.hpp"
#include "gpu/plan/plan.hpp"

namespace tern::detail_gpu {

/// Where an operand's neighbours lie along another axis than the output's, a workgroup takes a tile
/// (elementwise_tile.wgsl), this many elements along that axis.
inline constexpr int kAcross = 32;
inline constexpr int kPitch = kAcross + 1;  // of a row in the workgroup's memory: no two in the same bank

/// Axes of kernels in vectors that are made beforehand: a row or a column added to matrices, and to batches of them.
inline constexpr std::size_t kVectorAxes = 3;

struct ElementwisePlan {
  ElementwisePlan(GpuBackend& backend, const Elementwise& job, Layouts layouts);
  ElementwisePlan(const ElementwisePlan&) = delete;  // the plan refers to flags_view

  /// Every operand lies in vectors along the last axis.
  bool in_vectors() const { return axes.sizes.size() == kVectorAxes && group > 1 && plan.in_vectors(); }
  /// Whether the kernel is one of parts (horizontal.hpp).
  bool is_part() const;
  /// Whether the step's value is read, or follows from where the invocation stands.
  bool is_source(int step) const;
  /// Whether an operand is read across, and goes through the workgroup's memory.
  bool reads_across(int access) const;
  bool is_staged() const;
  std::int64_t rows_of_tile() const;

  GpuBackend& backend;
  const Elementwise& job;
  const detail::Program& program;
  Plan plan;
  MergedAxes axes;
  std::vector<int> known, wanted, sources;  // steps: their values are stored, are to be stored, and are read
  std::vector<int> access, outputs;         // accesses of the sources, -1 for positions, and of what is stored
  std::vector<int> slots, origin_slots, ordinal_strides, tile_slots;  // parameters
  View flags_view;
  int count_slot = -1, flags = -1;
  int group = 1;              // neighbours along the last axis that an invocation takes
  /// Accesses from which on those of 16 bytes are neighbours in memory everywhere, as the components of vectors and
  /// matrices are (tern/fixed.hpp): they are read and written together, and `group` is 1.
  std::vector<int> bundles;
  int across = -1;            // the axis across which a tile lies; -1 where workgroups take runs
  bool group_is_row = false;  // a row is a group: where an element stands in its row is known when the text is printed

 private:
  std::uint32_t pinned_axes() const;
  const Operand* operand_of(int step) const;
  std::vector<const View*> views() const;
  void lay_out();
  void add_sources(std::size_t next_view);
  void add_origin(const detail::Step& step);
  std::int64_t ordinal_stride(int axis) const;
  bool is_bundle(std::size_t first) const;
  void find_bundles();
  void choose();
  bool rows_are_groups() const;
  int axis_across(int inner) const;
  void count_tiles();
  void finish();
};

/// The kernel of a plan.
std::string elementwise_text(const ElementwisePlan& e);

}  // namespace tern::detail_gpu
