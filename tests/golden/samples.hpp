// The kinds of kernels that primitives bring with them: the samples of their entries that say so (Sample::kernels). An
// operation's texts are reviewed in its primitive's folder: <operation>.golden.wgsl, and .golden.cu where it has
// kernels in CUDA C++. So a primitive is added without a line in kinds.hpp, which has the kinds that take larger calls.
#pragma once
#include <string_view>

#include "golden/kinds.hpp"
#include "ops/entry.hpp"

namespace tern::test {

/// A call on operands without contents and, where the operation has gradients, its backward.
inline void print_sample(const operations::Entry& entry, const operations::Sample& sample, Printing& p, DType d) {
  std::vector<Tensor> x;
  for (const Shape& shape : sample.shapes({})) x.push_back(p.make(shape, d));
  sample.call(x);
  if (!entry.differentiable || !is_floating(d)) return;
  for (const Var& y : sample.call(std::vector<Var>(x.begin(), x.end())))
    if (y.requires_grad()) backward(y, p.make(y.shape(), y.dtype()));
}

/// Those of an operation's entry.
inline std::vector<Kind> kinds_of(const operations::Entry& entry) {
  std::vector<Kind> kinds;
  for (const operations::Sample& sample : entry.samples)
    if (sample.kernels)
      kinds.push_back({sample.kernels, f32, Kind::in_both,
                       [&](Printing& p, DType d) { print_sample(entry, sample, p, d); }});
  return kinds;
}

/// Every kind, those of samples included.
inline std::vector<Kind> kinds_with_samples() {
  std::vector<Kind> all = every_kind();
  for (const operations::Entry& entry : operations::entries())
    for (Kind& kind : kinds_of(entry)) all.push_back(std::move(kind));
  return all;
}

/// The suffix of the file that shows texts of a language.
inline const char* golden_suffix(bool in_cuda) { return in_cuda ? ".golden.cu" : ".golden.wgsl"; }

}  // namespace tern::test
