// One call of the primitive `fused` as an operation on tensors and variables: shapes, dtypes, outputs, and its
// gradient, which is again such a call.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "autodiff/record.hpp"
#include "backend/memory/small_vector.hpp"
#include "backend/tensor_impl.hpp"
#include "formula/caches.hpp"
#include "primitives/fused/fused.hpp"

namespace tern::detail {

/// The shape without the axes in `mask` (a bit each), and with size 1 along them.
Shape without_axes(const Shape& shape, std::uint32_t mask);
Shape with_ones(const Shape& shape, std::uint32_t mask);

/// The elements of an operand, whether it is recorded or not.
inline const Tensor& value_of(const Tensor& x) { return x; }
inline const Tensor& value_of(const Var& x) { return x.value(); }
inline bool is_tensor(const Argument& a) { return a.tensor || a.var; }
/// Of an argument that is no number.
inline const Tensor& value_of(const Argument& x) { return x.var ? x.var->value() : *x.tensor; }
/// Of an argument, null where that is a number.
inline const Tensor* tensor_of(const Argument& a) { return a.tensor ? a.tensor : a.var ? &a.var->value() : nullptr; }
/// Whether its device has kernels for a dtype.
inline bool has_kernels_for(const Tensor& x, DType dtype) { return x.impl()->storage->backend().supports(dtype); }
/// Whether a loop over its elements needs no kernel, nor a wait.
inline bool in_host_memory(const Tensor& x) { return x.impl()->storage->backend().in_host_memory(); }
/// An operand as one of type R: itself, a constant where R is Var, its elements where R is Tensor.
template <TensorOrVar R, TensorOrVar T> decltype(auto) operand_as(const T& x) {
  if constexpr (std::same_as<R, Tensor>) return value_of(x);
  else return as_var(x);
}

/// Arguments that hold sums in f32 where the formula has values of a 16-bit dtype: they are read as they
/// are, and their gradients are of that dtype.
struct Wide {
  IndexSet arguments = {};
  DType dtype = DType::f16;
};

struct FusedCall {
  const char* op = "";
  const FormulaGraph* graph = nullptr;
  std::uint32_t reduced = 0;   // axes (a bit each) that reductions in the graph run over
  std::optional<Shape> space;  // none: what the arguments broadcast to
  Wide wide = {};
  bool drops_axes = false;  // recorded results lose the reduced axes; of a graph whose results are all reduced
};

/// A call with the formula for those of its arguments that are numbers, which is mostly the call itself: a copy of that
/// takes 60 instructions of an operation's 3,200. fused and run_fused see to it themselves.
class CallForNumbers {
 public:
  /// Lives as long as both this and `call`.
  const FusedCall& of(const FusedCall& call, std::span<const Argument> arguments);

 private:
  std::optional<FusedCall> other_;
};
inline FusedCall with_numbers(const FusedCall& call, std::span<const Argument> arguments) {
  return CallForNumbers().of(call, arguments);
}

/// Checks and runs. Full outputs have the space's shape; reduced ones have size 1 along the reduced axes.
/// `into`: existing tensors to write instead of new ones (undefined entries: new), each laid over the space.
PoolVector<Tensor> run_fused(const FusedCall& call, std::span<const Argument> arguments,
                             std::span<const Tensor> into = {});

/// Into a place for each output.
void run_fused(const FusedCall& call, std::span<const Argument> arguments, std::span<const Tensor> into,
               std::span<Tensor> outputs);

/// Throws `unsupported`, naming op, where a backend cannot carry out such calls: to be called before their results are
/// allocated.
inline void require_fused(const char* op, Backend& backend) { backend.require<FusedRequest>(op); }

/// A call that was checked, with its operands and outputs laid over its space: what remains is to run it.
struct BoundCall {
  const char* op = "";
  const Program* program = nullptr;
  Shape space;
  std::uint32_t reduced = 0;
  Backend* backend = nullptr;
  PoolVector<Tensor> copies;  // of operands that overlap an output
  SmallVector<Operand, 8> operands;
  SmallVector<View, 4> views;
  FusedRequest request() const { return {op, program, space, reduced, operands, views}; }
};
/// `call` is one for its numbers (CallForNumbers). That the arguments are there, on one device and broadcast to the
/// space is the caller's to check: broadcast_space().
void bind_call(const Shape& space, const FusedCall& call, std::span<const Argument> arguments,
               std::span<const Tensor> into, std::span<Tensor> outputs, BoundCall& bound);

/// The same over a space that is known already: what the arguments were found to broadcast to, or the call's own.
void run_over(const Shape& space, const FusedCall& call, std::span<const Argument> arguments,
              std::span<const Tensor> into, std::span<Tensor> outputs);

/// The same on variables, recorded where one is tracked.
void fused(const FusedCall& call, std::span<const Argument> arguments, std::span<Var> results,
           std::span<const Tensor> into = {});
/// The same on tensors, which records nothing.
inline void fused(const FusedCall& call, std::span<const Argument> arguments, std::span<Tensor> results) {
  run_fused(call, arguments, {}, results);
  if (call.drops_axes)
    for (Tensor& result : results) result = result.reshape(without_axes(result.shape(), call.reduced));
}
/// Of a graph with one output, that.
template <TensorOrVar T> T fused_one(const FusedCall& call, std::span<const Argument> arguments) {
  T result;
  fused(call, arguments, std::span<T>(&result, 1));
  return result;
}
PoolVector<Var> fused(const FusedCall& call, std::span<const Argument> arguments);

/// What the backward rule of one fused call knows besides what it saved. As a rule it gives the gradients of the
/// inputs.
struct FusedBackward {
  const char* op = "";
  const FormulaGraph* graph = nullptr;
  std::uint32_t reduced = 0;
  Shape space;
  struct Input {
    Shape shape;      // of a number: {}
    Number number;    // of one that is no tensor
    int saved = -1;   // where it is in `saved`, or -1
    bool tensor = false;
    DType dtype = DType::boolean;  // of a tensor
    bool is_real_part = false;     // the next input is the imaginary part of the same complex tensor
  };
  PoolVector<Input> inputs = {};
  IndexSet outputs_read = {};      // outputs whose values are read in place of their expressions
  int first_output = 0;            // where those begin in `saved`
  Wide wide = {};
  bool drops_axes = false;  // outputs and their gradients lack the reduced axes

  PoolVector<Var> operator()(const RuleContext& context) const;
  /// The same on plain tensors, where the gradient of input i, if it is as large as the space, is written to into[i]
  /// (unless that is undefined, or the gradient is a view of something there already).
  PoolVector<Var> gradients(const RuleContext& context, std::span<const Tensor> into) const;

  /// The next input of the graph is this argument; a tensor is saved where `saves`. `edge`: which input of the recorded
  /// operation it is; -1: none of them.
  void add_input(const Argument& argument, bool saves, PoolVector<Save>& saved, int edge = -1);
  /// After the inputs: saves the outputs that are read.
  void add_outputs(PoolVector<Save>& saved);

 private:
  PoolVector<Tensor> whole_gradients(const GradientGraph::FusedGradients& call,
                                     std::span<const std::uint32_t> broadcast, std::span<const Argument> read) const;
  PoolVector<Argument> arguments(const RuleContext& context, const IndexSet& used, PoolVector<Var>& reshaped) const;
  class Sums;
};
/// The rule of a call over this space whose inputs in `wanted` get gradients, with what it saves. `recorded`: the
/// call's arguments are the inputs of the operation that is recorded. `outputs_read`: as gradient() takes them.
FusedBackward saving(const Shape& space, const FusedCall& call, std::span<const Argument> arguments,
                     const IndexSet& wanted, PoolVector<Save>& saved, bool recorded,
                     const IndexSet& outputs_read = preferred_outputs());

/// The gradients of every argument (all tensors), from those of the outputs.
PoolVector<Var> fused_gradients(const FusedCall& call, std::span<const Argument> arguments, std::span<const Var> grads);

/// The most elements of axes along which positions are asked for: those are i32.
inline constexpr std::int64_t kMostPositions = 2147483647;
/// Throws index where the program asks for a coordinate along an axis that the space lacks; shape where positions, or
/// the extent among integers, would not fit their dtype.
void check_coordinates(const char* op, const Program& program, const Shape& space, std::uint32_t reduced);

/// The space the arguments broadcast to; throws shape or device.
Shape broadcast_space(const char* op, std::span<const Argument> arguments);

/// x summed to `shape`, which x's shape is a broadcast of.
Var sum_to(const Var& x, const Shape& shape);

/// The graph of a formula traced once from a captureless lambda.
template <class F> const FormulaGraph* graph_of(F f) {
  static const FormulaGraph* const graph = Pointwise<outputs_of<F>>(f).graph();
  return graph;
}

/// Reads something at `indices` (i32, not empty), so that one outside [0, size) throws `index`, naming op: inside a
/// capture at replay. `wraps`: negative ones down to -size are good, too.
void require_indices(const char* op, const Tensor& indices, std::int64_t size, bool wraps = false);
/// Throws dtype unless `indices` are i32 or i64.
void require_index_dtype(const char* op, const char* name, const Tensor& indices);
/// Indices as i32: themselves, or i64 converted. What i32 cannot hold becomes `invalid`, which must be no place.
Tensor as_i32(const char* op, const Tensor& indices, std::int32_t invalid = INT32_MIN);

}  // namespace tern::detail
