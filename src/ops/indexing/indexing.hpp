// Selections by x(…): what a copy was selected from, so that a temporary can be written back there.
#pragma once
#include <memory>
#include <vector>

#include "backend/tensor_impl.hpp"
#include "tern/indexing.hpp"

namespace tern::detail {

/// Where a copy came from. The tensor is not kept: it lives as long as the expression x(…) += value does.
struct Selection {
  std::weak_ptr<TensorImpl> of;
  std::vector<Index> at;
};

/// Whether it is a copy that x(…) made.
inline bool is_selected(const Tensor& part) { return part.defined() && part.impl()->selection != nullptr; }
/// Writes values, broadcast to the part's shape, into what the part was selected from.
void write_selected(const Tensor& part, const Tensor& values);

/// Throws where values are not x's dtype, or do not broadcast to the shape that is written.
void check_values(const char* op, const Tensor& x, const Tensor& values);
void check_fits(const char* op, const Tensor& values, const Shape& shape);

}  // namespace tern::detail
