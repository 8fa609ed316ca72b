// Updates of tensors in place by formulas with several outputs: what the steps of optimisers, and the clipping of
// gradients, are made of.
#pragma once
#include <list>

#include "primitives/fused/operation.hpp"

namespace tern::detail {

/// Updates of parameters that do not depend on each other: those of a device are run together.
class Updates {
 public:
  explicit Updates(const char* op) : op_(op) {}
  /// A formula's outputs written over its first operands: (state…, read…, numbers…) → state… Complex numbers are
  /// updated as pairs of real ones.
  void add(const FormulaGraph* graph, std::span<const Tensor> state, std::span<const Tensor* const> read,
           std::span<const Argument> numbers);
  void run();

 private:
  using Calls = std::list<BoundCall, PoolAllocator<BoundCall>>;  // requests point into them
  static constexpr std::size_t kMost = 16;                       // parts of a launch
  bool depends(std::span<const Argument> arguments, std::size_t state) const;

  const char* op_;
  Device device_ = cpu();
  Calls calls_;
  PoolVector<Tensor> written_, read_;
};

/// The graph of an update for a floating dtype; 16-bit parameters are computed with in f32, like their moments, and
/// rounded once. Of complex ones that for their parts.
using MakeGraph = const FormulaGraph*(bool narrow, DType dtype);
struct Graphs {
  const FormulaGraph *f16, *bf16, *f32, *f64;
  explicit Graphs(MakeGraph make)
      : f16(make(true, DType::f16)),
        bf16(make(true, DType::bf16)),
        f32(make(false, DType::f32)),
        f64(make(false, DType::f64)) {}
  const FormulaGraph* of(DType dtype) const {
    if (is_complex(dtype)) return of(real_dtype(dtype));
    return dtype == DType::f16 ? f16 : dtype == DType::bf16 ? bf16 : dtype == DType::f32 ? f32 : f64;
  }
};

}  // namespace tern::detail
