#include "backend/reads.hpp"

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

void note(const char* op, const View& view, const Shape& space) {
  if (!view.storage) return;
  ReadScope::note(*view.storage,
                  [&] { return std::string(op) + " read, " + describe(view.dtype, own_shape(view, space)); });
}

/// Operands that are outputs, too, are updated in place.
void note(const char* op, std::span<const Operand> inputs, std::span<const View> outputs, const Shape& space) {
  for (const Operand& operand : inputs) {
    if (std::ranges::any_of(outputs, [&](const View& out) { return out.storage == operand.view.storage; })) continue;
    if (!operand.gather) {
      note(op, operand.view, space);
      continue;
    }
    // What is read through an index is not laid over the space.
    ReadScope::note(*operand.view.storage,
                    [&] { return std::string(op) + " read, " + std::string(to_string(operand.view.dtype)); });
    note(op, operand.gather->table, space);
  }
}

Shape matrix(const Shape& batch, std::int64_t rows, std::int64_t columns) {
  Shape shape = batch;
  shape.push_back(rows), shape.push_back(columns);
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

void note_reads(const FusedRequest& r) {
  if (ReadScope::active()) note(r.op, r.inputs, r.outputs, r.space);
}
void note_reads(const GemmRequest& r) {
  if (!ReadScope::active()) return;
  note(r.op, r.a, matrix(r.batch, r.m, r.k)), note(r.op, r.b, matrix(r.batch, r.k, r.n));
  note(r.op, r.inputs, r.outputs, matrix(r.batch, r.m, r.n));
}
void note_reads(const ScatterRequest& r) {
  if (ReadScope::active()) note(r.op, r.source, r.space), note(r.op, r.target.table, r.space);
}
void note_reads(const ScanRequest& r) {
  if (ReadScope::active()) note(r.op, r.input, r.space);
}
void note_reads(const SortRequest& r) {
  if (ReadScope::active()) note(r.op, r.input, r.space);
}

}  // namespace tern::detail
