// What operations along one axis share: scan and sort. Long lines are cut among workgroups.
#pragma once
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "gpu/gpu_backend.hpp"
#include "gpu/text/io.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_gpu {

/// The text of a kernel with what a plan binds.
inline std::string module_text(const GpuBackend& backend, const Plan& plan, const char* title, const std::string& body,
                               std::vector<Shared> shared = {}, const std::string& functions = {},
                               bool subgroups = false) {
  return backend.dialect().module({.title = title,
                                   .bindings = plan.launch.bindings,
                                   .params = plan.launch.params.size(),
                                   .threads = plan.launch.threads,
                                   .shared = std::move(shared),
                                   .functions = functions,
                                   .body = body,
                                   .subgroups = subgroups});
}

/// Kernels over the lines along `axis`: views laid over the other axes (merged) and the axis itself.
class LinePlan {
 public:
  /// `lengths`: of each view along the axis, where they differ.
  LinePlan(GpuBackend& backend, const char* op, char kind, const Shape& space, int axis, std::vector<const View*> views,
           std::size_t written, std::vector<std::int64_t> lengths = {})
      : LinePlan(backend, op, kind, space, axis, std::move(views), written,
                 backend.limits().archived ? Layouts::any : Layouts::own, 0, std::move(lengths)) {
    for (std::size_t v = written; v < views_.size(); ++v)
      if (plan.access(static_cast<int>(v)).size() < 4) plan.merge_parts(static_cast<int>(v));
  }
  /// The same for a kernel that takes neighbours along the axis together where it can: launch_grouped(). Where
  /// `taken_from` is not 0, the views that are only read are of lines of that length and indexed by taken(), anywhere
  /// in a line, instead of along the group.
  LinePlan(GpuBackend& backend, const char* op, char kind, const Shape& space, int axis, std::vector<const View*> views,
           std::size_t written, Layouts layouts, std::int64_t taken_from = 0, std::vector<std::int64_t> lengths = {})
      : backend(backend),
        plan(backend.limits(), op, kind, layouts),
        views_(std::move(views)),
        length_(space[static_cast<std::size_t>(axis)]) {
    const std::uint32_t all = (1u << space.rank()) - 1;
    lines = merge_axes(space, all & ~(1u << axis), views_, 0);
    lines_slot = plan.add_param(static_cast<std::uint64_t>(lines.count()));
    length_slot = plan.add_param(static_cast<std::uint64_t>(space[static_cast<std::size_t>(axis)]));
    plan.add_axes(lines);
    plan.set_inner(static_cast<int>(lines.sizes.size()));
    std::vector<ByteRange> touched;
    std::vector<std::int64_t> sizes(space.begin(), space.end());
    for (std::size_t v = 0; v < views_.size(); ++v) {
      std::vector<std::int64_t> strides = lines.strides[v];
      const std::int64_t step = views_[v]->strides[static_cast<std::size_t>(axis)];
      const bool taken = taken_from > 0 && v < written;
      sizes[static_cast<std::size_t>(axis)] = lengths.empty() ? taken ? taken_from : length_ : lengths[v];
      if (taken) take_slots_.push_back(plan.add_param(static_cast<std::uint64_t>(step)));
      strides.push_back(taken ? 0 : step);
      plan.add_access(*views_[v], strides, v >= written);
      touched.push_back(bytes_touched(*views_[v], sizes));
    }
    touched_ = touched;
  }
  /// Adds a buffer addressed by its own index.
  int add_words(const View& view, bool written = true) {
    touched_.push_back({0, static_cast<std::int64_t>(view.storage->bytes())});
    return plan.add_access(view, {}, written);
  }
  void launch(std::uint64_t groups, std::uint32_t threads, const std::function<std::string()>& text) {
    if (!bound_) plan.bind(touched_), plan.finish_key(), bound_ = true;
    plan.launch.groups = groups, plan.launch.threads = threads;
    backend.queue(plan.launch, text);
  }
  /// In groups, if lines are cut at multiples of `cut` elements alone; false, having done nothing, where there is no
  /// such kernel in vectors.
  bool launch_grouped(std::uint64_t groups, std::uint32_t threads, std::int64_t cut,
                      const std::function<std::string()>& text) {
    choose_group(cut);
    return launch_chosen(groups, threads, text);
  }
  /// The same with an invocation to each group of neighbours.
  bool launch_each(std::uint32_t threads, const std::function<std::string()>& text) {
    choose_group(length_);
    return launch_chosen(static_cast<std::uint64_t>(ceil_div(lines.count() * length_ / group, threads)), threads, text);
  }
  std::string p(int slot) const { return backend.dialect().param(slot); }
  /// The group of neighbours from this index along the axis on.
  Position group_at(const std::vector<std::string>& line, const std::string& index) const {
    Position position{line, static_cast<int>(line.size()), group};
    position.coordinates.push_back(index);
    return position;
  }
  Position at(const std::vector<std::string>& line, const std::string& index) const {
    Position position{line, -1, 1};
    position.coordinates.push_back(index);
    return position;
  }
  /// The index in its buffer of the element at `place` of the line, of an access by place.
  std::string taken(const Io& io, int access, const std::vector<std::string>& line, const std::string& place) const {
    return cat(io.element(plan.access(access), at(line, "0u"), 0), " + ", place, " * ",
               p(take_slots_[static_cast<std::size_t>(access)]));
  }
  std::string module(const char* what, const std::string& body, std::vector<Shared> shared,
                     const std::string& functions = "", bool subgroups = false) const {
    return module_text(backend, plan, what, body, std::move(shared), functions, subgroups);
  }

  GpuBackend& backend;
  Plan plan;
  MergedAxes lines;
  int lines_slot, length_slot;
  int group = 1;

 private:
  void choose_group(std::int64_t cut) {
    plan.bind(touched_), bound_ = true;
    group = plan.choose_group(static_cast<int>(lines.sizes.size()), std::gcd(length_, cut), false);
    plan.note(static_cast<char>(group));
    plan.finish_key();
  }
  bool launch_chosen(std::uint64_t groups, std::uint32_t threads, const std::function<std::string()>& text) {
    plan.launch.groups = groups, plan.launch.threads = threads;
    if (plan.layouts() == Layouts::vectors &&
        !(lines.sizes.size() == 1 && plan.in_vectors() && backend.has_kernel(Layouts::vectors, plan.launch, text)))
      return false;
    backend.queue(plan.launch, text);
    return true;
  }

  std::vector<const View*> views_;
  std::vector<ByteRange> touched_;
  std::vector<int> take_slots_;
  std::int64_t length_;
  bool bound_ = false;
};

/// What a kernel can see of a view, wherever it begins.
std::int64_t most_bytes(const GpuBackend& backend);
/// Whether every view fits a binding; else the longest other axis, for cutting the request in two.
int axis_to_halve(const GpuBackend& backend, const Shape& space, int axis, const std::vector<const View*>& views,
                  bool& fits);
[[noreturn]] void too_long(const GpuBackend& backend, const char* op);

}  // namespace tern::detail_gpu
