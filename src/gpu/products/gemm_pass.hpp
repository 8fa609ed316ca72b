// Products whose epilogue is a pass of its own: the sums in memory, and an elementwise kernel over them.
#pragma once
#include <memory>

#include "gpu/plan/plan.hpp"
#include "gpu/products/gemm.hpp"
#include "primitives/gemm/gemm.hpp"

namespace tern::detail_gpu {

/// The sums of a product one after the other in memory, over batch + [m, n], where contracted axes count as 1.
struct ProductInMemory {
  ProductInMemory(GpuBackend& backend, const detail::GemmRequest& request, DType dtype);

  Shape space;
  std::shared_ptr<Storage> memory;
  View view;
};

/// The epilogue of sums that lie in memory over `space`.
void apply_epilogue(GpuBackend& backend, const detail::GemmRequest& request, const View& sums, const Shape& space);
/// A product by one kernel of src/gpu where there is one for its epilogue (Limits::archived); else the product, by
/// `multiply`, and a pass.
void multiply_in_one_or_pass(GpuBackend& backend, const detail::GemmRequest& request, Multiply multiply);

/// Adds up `count` parts over [count] + space, in the order they lie.
void add_up(GpuBackend& backend, const char* op, const View& parts, std::int64_t count, const View& to,
            const Shape& space);

/// The program that gives its input of a dtype back: a product's without an epilogue.
const detail::Program* plain_epilogue(const char* op, DType dtype);

}  // namespace tern::detail_gpu
