#include "optim/updates.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "backend/instruments/trace.hpp"
#include "primitives/fused/operation_horizontal.hpp"
#include "tern/complex.hpp"

namespace tern::detail {

void Updates::add(const FormulaGraph* graph, std::span<const Tensor> state, std::span<const Tensor* const> read,
                  std::span<const Argument> numbers) {
  if (is_complex(state[0].dtype())) {
    PoolVector<Tensor> parts;
    for (const Tensor& s : state) parts.push_back(view_as_real(s));
    for (const Tensor* t : read) parts.push_back(is_complex(t->dtype()) ? view_as_real(*t) : *t);
    PoolVector<const Tensor*> pointers;
    for (const Tensor& t : parts) pointers.push_back(&t);
    return add(graph, std::span(parts).first(state.size()), std::span(pointers).subspan(state.size()), numbers);
  }
  PoolVector<Argument> arguments;
  for (const Tensor& s : state) arguments.push_back(Argument(s));
  for (const Tensor* t : read) arguments.push_back(Argument(*t));
  for (const Argument& n : numbers) arguments.push_back(n);
  try {
    const Shape space = state[0].shape();
    if (broadcast_space(op_, arguments) != space)
      throw Error(ErrorKind::shape,
                  std::string(op_) + ": the gradient of " + describe(state[0]) + " is " + describe(*read[0]));
    if (calls_.size() == kMost || state[0].device() != device_ || depends(arguments, state.size())) run();
    device_ = state[0].device();
    PoolVector<Tensor> results(state.size());
    BoundCall call;
    bind_call(space, with_numbers({op_, graph, 0, space}, arguments), arguments, state, results, call);
    calls_.push_back(std::move(call));
  } catch (...) {
    run();  // those before it are updated, as if each had been by itself
    throw;
  }
  for (std::size_t i = 0; i < state.size() + read.size(); ++i)
    (i < state.size() ? written_ : read_).push_back(*arguments[i].tensor);
}

void Updates::run() {
  const Calls calls = std::exchange(calls_, {});  // once, whatever happens
  written_.clear(), read_.clear();
  HorizontalCalls fused;
  for (const BoundCall& call : calls) fused.add(call);
  fused.run();
}

/// Whether the next update reads what one of those before writes, or writes what one of them touches.
bool Updates::depends(std::span<const Argument> arguments, std::size_t state) const {
  const auto among = [](const PoolVector<Tensor>& list, const Tensor& t) {
    return std::ranges::any_of(list, [&](const Tensor& other) { return may_share_memory(t, other); });
  };
  for (std::size_t i = 0; i < arguments.size() && arguments[i].tensor; ++i)
    if (among(written_, *arguments[i].tensor) || (i < state && among(read_, *arguments[i].tensor))) return true;
  return false;
}

}  // namespace tern::detail
