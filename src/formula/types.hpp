// The types of a graph's nodes for given operands: the first half of making a program.
#pragma once
#include <map>
#include <span>
#include <string>

#include "formula/program.hpp"

namespace tern::detail {

/// A node's dtype, or "weak": numbers and what is computed from numbers alone take the type of what they meet.
struct Type {
  DType dtype = DType::f32;
  bool weak = false;
};

/// The dtype that a reduction of this dtype computes in.
DType reduced_dtype(Elementary elementary, DType dtype);

/// Arguments are added before their users. Throws dtype where types do not fit together.
class Types {
 public:
  Types(const char* op, std::span<const InputType> inputs);
  void add(const Node* node) { types_[node] = infer(*node); }
  bool contains(const Node* node) const { return types_.contains(node); }
  Type of(const Node* node) const { return types_.at(node); }
  /// The type of a value that nothing gives another.
  DType concrete(const Node* node) const {
    const Type t = of(node);
    return t.weak ? default_ : t.dtype;
  }
  /// The type that an elementary function's arguments from the `first` on have together.
  Type unify(const Node& node, std::size_t first) const;
  /// What plain numbers become where nothing else decides: the first floating operand's type, else the first's.
  DType default_dtype() const { return default_; }
  [[noreturn]] void fail(const std::string& message) const;

 private:
  void check(const Node& node, const Rule& rule, Type t) const;
  Type infer(const Node& node) const;

  const char* op_;
  std::span<const InputType> inputs_;
  DType default_ = DType::f32;
  bool all_boolean_ = false;  // every operand that is no number
  std::map<const Node*, Type> types_;
};

}  // namespace tern::detail
