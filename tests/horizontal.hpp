// Requests that do not depend on each other, horizontally fused as an optimizer's are, on tensors of any backend.
#pragma once
#include <functional>
#include <list>
#include <vector>

#include "backend/instruments/trace.hpp"
#include "primitives/fused/operation.hpp"
#include "tern/tern.hpp"

namespace tern::test {

/// p[i] -= rate(i) * g[i]
inline void step_horizontally(const std::vector<Tensor>& p, const std::vector<Tensor>& g,
                          const std::function<double(std::size_t)>& rate) {
  const detail::FormulaGraph* const graph =
      detail::graph_of([](auto value, auto gradient, auto factor) { return value - factor * gradient; });
  std::list<detail::BoundCall> calls;
  std::vector<detail::FusedRequest> requests;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const detail::Argument arguments[] = {detail::Argument(p[i]), detail::Argument(g[i]), detail::Argument(rate(i))};
    Tensor result;
    detail::bind_call(p[i].shape(), {"step", graph, 0, {}}, arguments, {&p[i], 1}, {&result, 1}, calls.emplace_back());
    requests.push_back(calls.back().request());
  }
  detail::run_horizontally(*calls.front().backend, requests);
}

}  // namespace tern::test
