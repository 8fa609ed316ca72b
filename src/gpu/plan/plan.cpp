#include "gpu/plan/plan.hpp"

#include <algorithm>
#include <bit>

namespace tern::detail_gpu {

MergedAxes merge_axes(const Shape& space, std::uint32_t mask, std::span<const View* const> views, std::uint32_t pinned,
                int lead) {
  std::vector<int> order;
  for (int i = 0; i < space.rank(); ++i)
    if ((mask >> i & 1) && (space[static_cast<std::size_t>(i)] != 1 || (pinned >> i & 1))) order.push_back(i);
  if (lead >= 0) {
    const Strides& s = views[static_cast<std::size_t>(lead)]->strides;
    const auto step = [&](int axis) {
      const std::int64_t stride = std::abs(s[static_cast<std::size_t>(axis)]);
      return stride == 0 ? INT64_MAX : stride;
    };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return step(a) > step(b); });
  }
  MergedAxes axes;
  axes.strides.resize(views.size());
  for (const int i : order) {
    const auto axis = static_cast<std::size_t>(i);
    const bool alone = pinned >> i & 1;
    bool merges = !axes.sizes.empty() && !alone && axes.original.back() < 0;
    for (std::size_t v = 0; merges && v < views.size(); ++v)
      merges = axes.strides[v].back() == views[v]->strides[axis] * space[axis];
    if (merges) {
      axes.sizes.back() *= space[axis];
      for (std::size_t v = 0; v < views.size(); ++v) axes.strides[v].back() = views[v]->strides[axis];
      continue;
    }
    axes.sizes.push_back(space[axis]);
    axes.original.push_back(alone ? i : -1);
    for (std::size_t v = 0; v < views.size(); ++v) axes.strides[v].push_back(views[v]->strides[axis]);
  }
  return axes;
}

ByteRange bytes_touched(const View& view, std::span<const std::int64_t> sizes) {
  std::int64_t low = view.offset, high = view.offset;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return {0, 0};
    const std::int64_t reach = (sizes[i] - 1) * view.strides[i];
    (reach < 0 ? low : high) += reach;
  }
  const auto size = static_cast<std::int64_t>(dtype_size(view.dtype));
  return {low * size, (high + 1) * size};
}

ByteRange bytes_touched(const Operand& operand, std::span<const std::int64_t> sizes) {
  ByteRange range = bytes_touched(operand.view, sizes);
  if (!operand.gather || range.end == 0) return range;
  const std::int64_t reach =
      (operand.gather->size - 1) * operand.gather->step * static_cast<std::int64_t>(dtype_size(operand.view.dtype));
  (reach < 0 ? range.begin : range.end) += reach;
  return range;
}

bool lies_in_units(const Access& x, std::size_t axis, std::int64_t unit) {
  for (std::size_t i = 0; i < x.actual.size(); ++i)
    if (i != axis && x.actual[i] % unit != 0) return false;
  return x.actual[axis] == 1 && x.view->offset % unit == 0;
}
bool lies_in_vectors(const Access& x, std::size_t axis) {
  return x.size() > 1 && lies_in_units(x, axis, kVectorBytes / x.size()) &&
         reinterpret_cast<std::uintptr_t>(x.view->storage->data()) % kVectorBytes == 0;
}

void Plan::add_axes(MergedAxes& axes, std::size_t in_vectors) {
  if (layouts_ != Layouts::own) {
    const std::size_t most = layouts_ == Layouts::any ? kMostAxes : in_vectors, given = axes.sizes.size();
    const std::size_t missing = given < most ? most - given : 0;
    axes.sizes.insert(axes.sizes.begin(), missing, 1), axes.original.insert(axes.original.begin(), missing, -1);
    for (auto& strides : axes.strides) strides.insert(strides.begin(), missing, 0);
  }
  note(static_cast<char>(axes.sizes.size()));
  axes.slots.clear();
  for (const std::int64_t size : axes.sizes) axes.slots.push_back(add_param(static_cast<std::uint64_t>(size)));
}

int Plan::bind_storage(Storage* storage, bool written) {
  const bool alone = layouts_ != Layouts::own && launch.bindings.size() < limits_.bindings;
  for (std::size_t k = 0; !alone && k < launch.bindings.size(); ++k)
    if (launch.bindings[k].storage == storage) {
      launch.bindings[k].written |= written;
      return static_cast<int>(k);
    }
  launch.bindings.push_back({storage, 0, 0, written, false, false, alone});
  return static_cast<int>(launch.bindings.size()) - 1;
}

int Plan::add_access(const View& view, const std::vector<std::int64_t>& strides, bool written) {
  Access a;
  a.view = &view;
  a.binding = bind_storage(view.storage, written);
  a.base = add_param(0);
  a.actual = strides, a.written = written;
  for (const std::int64_t stride : strides) {
    const bool fixed = layouts_ == Layouts::own ||
                       (layouts_ == Layouts::vectors && static_cast<int>(a.steps.size()) == inner_);
    a.steps.push_back(!fixed ? 's' : stride == 0 ? '0' : stride == 1 ? '1' : 's');
    a.strides.push_back(a.steps.back() == 's' ? add_param(static_cast<std::uint64_t>(stride)) : -1);
  }
  accesses.push_back(std::move(a));
  return static_cast<int>(accesses.size()) - 1;
}

void Plan::add_gather(int target, const Gather& gather, const std::vector<std::int64_t>& table_strides) {
  const int table = add_access(gather.table, table_strides, false);
  const int step = add_param(static_cast<std::uint64_t>(gather.step)),
            size = add_param(static_cast<std::uint64_t>(gather.size));
  Access& a = access(target);
  a.table = table, a.table_step = step, a.table_size = size, a.wraps = gather.wraps;
}

int Plan::add_index_flags(const View& flags) {
  const int i = add_access(flags, {}, true);
  make_atomic(i);
  launch.check_slot = add_param(0);
  return access(i).binding;
}

void write_number(std::vector<std::uint32_t>& params, const NumberParam& param, const Number& n) {
  const double real = n.is_integer ? static_cast<double>(n.integer) : n.real;
  const auto integer = static_cast<std::uint64_t>(n.is_integer ? n.integer : static_cast<std::int64_t>(n.real));
  const auto slot = static_cast<std::size_t>(param.slot);
  switch (param.type) {
    case detail::ComputeType::f32: params[slot] = std::bit_cast<std::uint32_t>(static_cast<float>(real)); break;
    case detail::ComputeType::f64:
    case detail::ComputeType::i64: {
      const std::uint64_t bits = param.type == detail::ComputeType::f64 ? std::bit_cast<std::uint64_t>(real) : integer;
      params[slot] = static_cast<std::uint32_t>(bits), params[slot + 1] = static_cast<std::uint32_t>(bits >> 32);
      break;
    }
    default: params[slot] = static_cast<std::uint32_t>(integer);
  }
}

std::vector<int> Plan::add_numbers(const detail::Program& program, std::span<const Operand> inputs,
                                   std::int64_t extent) {
  std::vector<int> slots(program.steps.size(), -1);
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const detail::Step& step = program.steps[i];
    if (step.kind == detail::StepKind::extent) slots[i] = add_param(static_cast<std::uint64_t>(extent));
    if (step.kind != detail::StepKind::param) continue;
    const Number& n = inputs[static_cast<std::size_t>(step.index)].number;
    const NumberParam param{add_param(0), step.index, kernel_type(step, limits_.native)};
    if (detail::is_wide(param.type)) add_param(0);
    slots[i] = param.slot;
    launch.numbers.push_back(param);
    write_number(launch.params, param, n);
  }
  return slots;
}

void Plan::make_wide(int i) {
  access(i).wide = true;
  binding_of(i).vectors = true;
}

bool Plan::aligned(const Access& a, int inner, int unit) const {
  if (a.steps.empty() || a.steps[static_cast<std::size_t>(inner)] != '1') return false;
  if (launch.bindings[static_cast<std::size_t>(a.binding)].atomic) return false;
  const auto even = [&](std::int64_t elements) { return elements * a.size() % unit == 0; };
  for (std::size_t i = 0; i < a.actual.size(); ++i)
    if (static_cast<int>(i) != inner && !even(a.actual[i])) return false;
  if (a.table >= 0) {
    if (access(a.table).steps[static_cast<std::size_t>(inner)] != '0') return false;
    if (!even(static_cast<std::int64_t>(
            static_cast<std::int32_t>(launch.params[static_cast<std::size_t>(a.table_step)]))))
      return false;
  }
  return even(a.view->offset);
}

/// Whether what a cut group reads, as if it were whole, lies in what the binding shows. `most`: the last coordinate
/// along the inner axis, which is the only one. A gather reads any entry of its axis there.
bool Plan::reaches_in(const Access& a, int inner, std::int64_t most) const {
  std::int64_t first = a.view->offset, last = first;
  const auto add = [&](std::int64_t reach) { (reach < 0 ? first : last) += reach; };
  if (!a.actual.empty()) add(most * a.actual[static_cast<std::size_t>(inner)]);
  if (a.table >= 0) {
    const auto param = [&](int slot) {
      return static_cast<std::int32_t>(launch.params[static_cast<std::size_t>(slot)]);
    };
    add((std::int64_t{param(a.table_size)} - 1) * param(a.table_step));
  }
  const Binding& b = launch.bindings[static_cast<std::size_t>(a.binding)];
  return first * a.size() >= static_cast<std::int64_t>(b.begin) &&
         (last + 1) * a.size() <= static_cast<std::int64_t>(b.end);
}

bool Plan::group_fits(int group, int inner, std::int64_t size, bool lone) {
  guarded = lone;  // whatever the size: sizes are in no key
  if (size % group == 0) return true;
  if (!lone) return false;
  for (const Access& a : accesses) {
    if (!a.view->storage->owned()) return false;  // nothing behind its end may be touched
    if (!a.written && !reaches_in(a, inner, round_up(size, group) - 1)) return false;
  }
  if (limits_.native) return true;  // what a vector does not fill is written by elements
  for (const Access& a : accesses) {  // a cut group writes whole words or vectors: nothing may stand behind the view
    if (!a.written || (a.size() == 4 && !aligned(a, inner, kVectorBytes))) continue;
    const std::int64_t end = (a.view->offset + size) * a.size();
    if (end % kVectorBytes != 0 && end < static_cast<std::int64_t>(a.view->storage->bytes())) return false;
  }
  return true;
}

bool Plan::in_vectors() const {
  if (layouts_ != Layouts::vectors || inner_ < 0) return false;
  for (const Access& a : accesses)
    if (!a.steps.empty() && !a.wide && a.steps[static_cast<std::size_t>(inner_)] != '0') return false;
  return true;
}

int Plan::choose_group(int inner, std::int64_t size, bool lone) {
  bool whole_words = inner >= 0;
  int words = 1, vectors = 1;
  for (const Access& a : accesses) {
    if (a.written && a.size() < 4 && !limits_.native && !launch.bindings[static_cast<std::size_t>(a.binding)].atomic) {
      whole_words &= inner >= 0 && aligned(a, inner, 4);
      words = std::max(words, 4 / a.size());
    }
    if (inner >= 0 && aligned(a, inner, kVectorBytes)) vectors = std::max(vectors, kVectorBytes / a.size());
  }
  if (whole_words) {
    const int group = std::max(words, vectors);
    if (group > 1 && group_fits(group, inner, size, lone)) {
      for (std::size_t i = 0; i < accesses.size(); ++i)
        if (aligned(accesses[i], inner, kVectorBytes)) make_wide(static_cast<int>(i));
      return group;
    }
    if (words > 1 && group_fits(words, inner, size, lone)) return words;
  }
  guarded = false;
  for (std::size_t i = 0; i < accesses.size(); ++i)
    if (accesses[i].written && accesses[i].size() < 4) merge_parts(static_cast<int>(i));
  return 1;
}

void Plan::bind(const std::vector<ByteRange>& touched) {
  std::vector<ByteRange> windows(launch.bindings.size(), {INT64_MAX, 0});
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    ByteRange& w = windows[static_cast<std::size_t>(accesses[i].binding)];
    if (touched[i].end == touched[i].begin) continue;
    w.begin = std::min(w.begin, touched[i].begin), w.end = std::max(w.end, touched[i].end);
  }
  for (std::size_t k = 0; k < windows.size(); ++k) {
    Binding& b = launch.bindings[k];
    // Up to the next 256 bytes, which buffers have: the last group of a kernel may reach past the last element.
    const auto all = b.storage->owned()
                         ? static_cast<std::uint64_t>(round_up(static_cast<std::int64_t>(b.storage->bytes()), 256))
                         : b.storage->bytes();
    b.begin = 0, b.end = all;
    if (all <= limits_.binding_bytes) continue;
    b.begin = static_cast<std::uint64_t>(std::max<std::int64_t>(windows[k].begin, 0)) / limits_.binding_alignment *
              limits_.binding_alignment;
    b.end = std::min(all, static_cast<std::uint64_t>(round_up(windows[k].end, kVectorBytes)));
  }
  for (Access& a : accesses) {
    const Binding& b = launch.bindings[static_cast<std::size_t>(a.binding)];
    set(a.base, static_cast<std::uint64_t>(a.view->offset) - b.begin / dtype_size(a.view->dtype));
  }
}

void Plan::finish_key() {
  for (const Access& a : accesses) {
    note(static_cast<char>(a.binding)), note(a.dtype()), note(a.wide), note(static_cast<std::int16_t>(a.table)),
        note(a.wraps);
    launch.key.append(a.steps.begin(), a.steps.end());
    note('|');
  }
  for (const Binding& b : launch.bindings) note(static_cast<char>(b.written | b.atomic << 1 | b.vectors << 2));
}

}  // namespace tern::detail_gpu
