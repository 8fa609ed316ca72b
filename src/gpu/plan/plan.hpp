// From a request to a kernel's arguments: merged iteration spaces, operands laid over them, bindings and parameters.
//
// A plan is made for every launch; its text only where no kernel has its key yet. Whatever the text depends on is
// written to the key.
#pragma once
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "gpu/plan/kernel.hpp"
#include "gpu/text/printer.hpp"

namespace tern::detail_gpu {

using detail::Gather;
using detail::Operand;
using detail::View;

/// A group of merged axes: sizes, and for each view laid over it its strides, in elements.
struct MergedAxes {
  std::vector<std::int64_t> sizes;
  std::vector<std::vector<std::int64_t>> strides;  // [view][axis]
  std::vector<int> original;  // the axis of the request where one stands alone and is asked for; else -1
  std::vector<int> slots;     // parameters holding the sizes
  std::int64_t count() const {
    std::int64_t n = 1;
    for (const std::int64_t s : sizes) n *= s;
    return n;
  }
};

/// Merges the axes of `space` in `mask`: neighbours become one where every view steps evenly over both. Axes in
/// `pinned` stay alone, as their coordinates are asked for. With `sorted`, the axes are ordered by the steps of view
/// `lead`, largest first.
MergedAxes merge_axes(const Shape& space, std::uint32_t mask, std::span<const View* const> views, std::uint32_t pinned,
                int lead = -1);

/// How a view is read or written: its binding, the parameters of its layout, and how it steps along each axis.
struct Access {
  const View* view = nullptr;
  int binding = -1;
  int base = -1;                     // parameter: elements before the first, from the window's begin
  std::vector<char> steps;           // of each axis: '0' none, '1' one element, 's' parameter
  std::vector<int> strides;          // parameters of the 's' axes; -1 elsewhere
  std::vector<std::int64_t> actual;  // the strides themselves
  bool written = false;
  int table = -1;  // a gather: the access of its table, and parameters of its step and size
  int table_step = -1, table_size = -1;
  bool wraps = true;  // negative entries count from the end
  bool wide = false;  // read or written as vectors
  DType dtype() const { return view->dtype; }
  int size() const { return static_cast<int>(dtype_size(view->dtype)); }
};
/// Whether every run of `unit` neighbours along an axis begins at a multiple of `unit` elements of the storage.
bool lies_in_units(const Access& x, std::size_t axis, std::int64_t unit);
/// Whether 16 bytes of neighbours along an axis, of elements of 2 bytes and more, begin at a multiple of 16 bytes
/// everywhere.
bool lies_in_vectors(const Access& x, std::size_t axis);
inline bool rows_lie_in_vectors(const Access& x) { return lies_in_vectors(x, x.actual.size() - 1); }

/// The first and one past the last byte a view touches over these sizes.
struct ByteRange {
  std::int64_t begin = 0, end = 0;
};
ByteRange bytes_touched(const View& view, std::span<const std::int64_t> sizes);
ByteRange bytes_touched(const Operand& operand, std::span<const std::int64_t> sizes);

/// Puts a number's bits where a kernel reads them: one word, or two of a type of 64 bits.
void write_number(std::vector<std::uint32_t>& params, const NumberParam& param, const Number& number);

/// Runs a kernel; run(layouts) says whether it could: in vectors or else in any layout where there are only kernels
/// made beforehand.
template <class Run> void run_in_layouts(const Limits& limits, const Run& run) {
  if (!limits.archived) run(Layouts::own);
  else if (!run(Layouts::vectors)) run(Layouts::any);
}

/// Collects what a launch needs. Accesses are added first; bind() then fixes windows, and with them the bases.
class Plan {
 public:
  Plan(const Limits& limits, const char* op, char kind)
      : Plan(limits, op, kind, limits.archived ? Layouts::any : Layouts::own) {}
  Plan(const Limits& limits, const char* op, char kind, Layouts layouts) : layouts_(layouts), limits_(limits) {
    launch.op = op;
    note(kind), note(layouts);
    add_param(0);
  }
  Layouts layouts() const { return layouts_; }

  int add_param(std::uint64_t value) {
    launch.params.push_back(static_cast<std::uint32_t>(value));
    return static_cast<int>(launch.params.size()) - 1;
  }
  /// Adds size parameters (but for the outermost axis, which is never divided by) and notes the number of axes. Where
  /// layouts are not the request's own, axes of size 1 stand before them, up to the number that the text has:
  /// `in_vectors` of Layouts::vectors.
  void add_axes(MergedAxes& axes, std::size_t in_vectors = 1);
  /// Layouts::vectors: the axis of the accesses added from now on along which neighbours may lie.
  void set_inner(int axis) { inner_ = axis; }
  /// Adds a view whose steps along the kernel's axes are given; `sizes` are those of its own iteration space.
  int add_access(const View& view, const std::vector<std::int64_t>& strides, bool written);
  /// The same without entering it in the key by binding order: also adds the gather of an operand.
  void add_gather(int access, const Gather& gather, const std::vector<std::int64_t>& table_strides);
  /// The words in which the kernel notes an index out of range, and the number it gives them; returns their binding.
  int add_index_flags(const View& flags);
  /// Parameters for plain numbers and the extent; returns them by step.
  std::vector<int> add_numbers(const detail::Program& program, std::span<const Operand> inputs, std::int64_t extent);
  void set(int slot, std::uint64_t value) {
    launch.params[static_cast<std::size_t>(slot)] = static_cast<std::uint32_t>(value);
  }
  bool native() const { return limits_.native; }
  /// Marks the access as written by parts of words, which must be merged where memory is words.
  void merge_parts(int access) { binding_of(access).atomic |= !limits_.native; }
  void make_atomic(int access) { binding_of(access).atomic = true; }
  void make_wide(int access);
  /// Fixes the windows of the bindings and the bases of the accesses; `limits` were checked before.
  void bind(const std::vector<ByteRange>& touched);

  template <class T> void note(T value) {
    static_assert(std::has_unique_object_representations_v<T>, "padding would make equal values different keys");
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    launch.key.append(bytes, sizeof(T));
  }
  /// The kernel goes without checks of accesses (Launch::in_bounds) where its indices stay inside and no surplus group
  /// counts on, which it does not compare. After launch.groups is set, before finish_key(): it enters the key.
  void trust_exact_groups(bool indices_stay_inside = true) {
    launch.in_bounds = indices_stay_inside && has_exact_groups(limits_, launch.groups);
    note(launch.in_bounds);
  }
  /// After bind(). Chooses how many neighbours along axis `inner` (of `size` elements) an invocation handles, and marks
  /// wide and atomic accesses accordingly. `lone`: there is no other axis, so the last group may be cut short (see
  /// `guarded`).
  int choose_group(int inner, std::int64_t size, bool lone);
  bool guarded = false;  // the last group is cut short: stores need a guard
  /// Whether Layouts::vectors holds what was asked for: every access is in vectors or the same along the inner axis.
  bool in_vectors() const;
  /// Writes accesses and bindings to the key; after the last change to them.
  void finish_key();

  Access& access(int i) { return accesses[static_cast<std::size_t>(i)]; }
  const Access& access(int i) const { return accesses[static_cast<std::size_t>(i)]; }
  Binding& binding_of(int i) { return launch.bindings[static_cast<std::size_t>(access(i).binding)]; }

  Launch launch;
  std::vector<Access> accesses;

 private:
  bool aligned(const Access& a, int inner, int unit) const;
  bool group_fits(int group, int inner, std::int64_t size, bool lone);
  bool reaches_in(const Access& a, int inner, std::int64_t most) const;
  int bind_storage(Storage* storage, bool written);
  Layouts layouts_;
  int inner_ = -1;
  const Limits& limits_;
};

}  // namespace tern::detail_gpu
