// Primitive `gemm`: a batched matrix product with a formula applied to its result.
#pragma once
#include "backend/primitive.hpp"

namespace tern::detail {

/// acc = Σ A·B over k and over the batch axes in `contracted`; outputs = epilogue(acc, operands…).
/// a is laid over batch + [m, k], b over batch + [k, n]; operands and outputs over batch + [m, n], where contracted
/// axes count as size 1. Input 0 of the epilogue is acc (inputs holds the others); f16 and bf16 operands accumulate
/// in f32 and reach the epilogue unrounded. k and contracted axes may be 0: acc is then 0.
struct GemmRequest {
  const char* op = "";
  std::int64_t m = 0, n = 0, k = 0;
  Shape batch;
  std::uint32_t contracted = 0;
  View a, b;
  const Program* epilogue = nullptr;
  std::span<const Operand> inputs;
  std::span<const View> outputs;

  /// batch + [rows, columns]
  Shape space(std::int64_t rows, std::int64_t columns) const {
    Shape shape = batch;
    shape.push_back(rows), shape.push_back(columns);
    return shape;
  }
  template <class Self, class Visitor> static void views(Self& r, Visitor&& visit) {
    visit.reads(r.a, r.space(r.m, r.k)), visit.reads(r.b, r.space(r.k, r.n));
    visit.program(*r.epilogue, 1, r.inputs, r.outputs, r.space(r.m, r.n));
  }
  template <class Add> void parameters(Add&& add) const {
    add(epilogue->serial), add(m), add(n), add(k), add(contracted), add(batch);
    add(a.dtype), add(b.dtype);  // the others' are the program's
  }
  std::int64_t flops() const;
  std::string text() const;
};

}  // namespace tern::detail
