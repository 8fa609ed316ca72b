#include "backend/instruments/reads.hpp"

#include <algorithm>

#include "backend/tensor_impl.hpp"

namespace tern::detail {
namespace {

/// The shape of an operand laid over a space, without the axes it was broadcast along.
Shape own_shape(const View& view, const Shape& space) {
  Shape shape;
  for (std::size_t i = 0; i < space.size(); ++i)
    if (view.strides[i] != 0 || !shape.empty()) shape.push_back(view.strides[i] == 0 ? 1 : space[i]);
  return shape;
}

}  // namespace

void ReadScope::made(const Storage& storage) {
  for (ReadScope* scope = innermost_; scope; scope = scope->outer_) scope->own_.insert(&storage);
}
void ReadScope::gone(const Storage& storage) {
  for (ReadScope* scope = innermost_; scope; scope = scope->outer_) scope->own_.erase(&storage);
}
bool ReadScope::is_new(const Storage& storage) const {
  if (own_.contains(&storage)) return false;
  const auto at = known_.find(&storage);
  return at == known_.end() || reads_[at->second].storage.expired();  // an expired one only had the same address
}
void ReadScope::add(Storage& storage, const std::string& text) {
  known_[&storage] = reads_.size();
  reads_.push_back({storage.weak_from_this(), storage.version(), "a tensor that " + text});
}

void NoteReads::reads(const View& view, const Shape& space) const {
  if (!view.storage) return;
  ReadScope::note(*view.storage,
                  [&] { return std::string(op) + " read, " + describe(view.dtype, own_shape(view, space)); });
}

/// Operands that are outputs, too, are updated in place.
void NoteReads::program(const Program&, int, std::span<const Operand> inputs, std::span<const View> outputs,
                        const Shape& space) const {
  for (const Operand& operand : inputs) {
    if (std::ranges::any_of(outputs, [&](const View& out) { return out.storage == operand.view.storage; })) continue;
    if (!operand.gather) {
      reads(operand.view, space);
      continue;
    }
    // What is read through an index is not laid over the space.
    ReadScope::note(*operand.view.storage,
                    [&] { return std::string(op) + " read, " + std::string(to_string(operand.view.dtype)); });
    reads(operand.gather->table, space);
  }
}

}  // namespace tern::detail
