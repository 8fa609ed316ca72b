// Primitive `fused`: a formula over an iteration space, with reductions along some of its axes.
#pragma once
#include "backend/primitive.hpp"
#include "backend/instruments/trace.hpp"

namespace tern::detail {

/// Evaluates program over the iteration space; reductions inside it run over the axes in `reduced` (a bit each). Full
/// outputs cover the space; reduced ones have strides 0 along reduced axes. An output may be exactly one of the
/// inputs (in place); any other overlap is the caller's error. Sizes may be 0.
struct FusedRequest {
  const char* op = "";
  const Program* program = nullptr;
  Shape space;
  std::uint32_t reduced = 0;
  std::span<const Operand> inputs;
  std::span<const View> outputs;

  template <class Self, class Visitor> static void views(Self& r, Visitor&& visit) {
    visit.program(*r.program, 0, r.inputs, r.outputs, r.space);
  }
  template <class Add> void parameters(Add&& add) const { add(program->serial), add(reduced), add(space); }
  std::int64_t flops() const;
  std::string text() const { return to_string(space) + " " + kernel_text(*program); }
};

/// Requests that do not depend on each other: none touches what another writes. A backend may run them in one launch.
struct FusedGroup {
  const char* op = "";
  std::span<const FusedRequest> requests;

  template <class Self, class Visitor> static void views(Self& r, Visitor&& visit) { visit.each(r.requests); }
  template <class Add> void parameters(Add&& add) const {
    add(requests.size());
    for (const FusedRequest& r : requests) r.parameters(add);
  }
  std::int64_t flops() const;
  std::string text() const;
};

/// Runs requests that do not depend on each other; there is at least one.
inline void run_horizontally(Backend& backend, std::span<const FusedRequest> requests) {
  if (requests.size() == 1) return run(backend, requests[0]);
  run(backend, FusedGroup{requests[0].op, requests});
}

}  // namespace tern::detail
