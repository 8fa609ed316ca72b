#include "backend/trace.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "backend/tensor_impl.hpp"
#include "tern/trace.hpp"

namespace tern {
namespace {

bool trace_from_environment() {
  const char* text = std::getenv("TERN_TRACE");
  return text && *text && std::string(text) != "0";
}
const bool always_traced = trace_from_environment();

/// Where explain() on this thread collects its lines; null: none is running.
thread_local std::string* explanation = nullptr;
thread_local std::string notes;
thread_local TraceCounts counts;
/// What cost_of() on this thread counts; null: nobody asked.
thread_local Cost* cost = nullptr;

/// Elements an operand has along the axes it is not broadcast over.
std::int64_t elements(const detail::View& view, const Shape& space) {
  if (space.numel() == 0) return 0;
  std::int64_t count = 1;
  for (std::size_t i = 0; i < space.size(); ++i)
    if (view.strides[i] != 0) count *= space[i];
  return count;
}
std::int64_t bytes(const detail::View& view, const Shape& space) {
  return view.storage ? elements(view, space) * static_cast<std::int64_t>(dtype_size(view.dtype)) : 0;
}

std::string human(std::int64_t count) {
  char text[32];
  if (count < 10000) std::snprintf(text, sizeof text, "%lld B", static_cast<long long>(count));
  else if (count < 10000000) std::snprintf(text, sizeof text, "%.1f KB", static_cast<double>(count) / 1e3);
  else std::snprintf(text, sizeof text, "%.1f MB", static_cast<double>(count) / 1e6);
  return text;
}

/// Counts one call, runs it, and reports it where somebody listens.
template <class What, class Call>
void traced(const detail::Backend& backend, const char* verb, const char* op, const What& what, std::int64_t read,
            std::int64_t written, Call call) {
  ++counts.calls;
  counts.bytes_read += read, counts.bytes_written += written;
  if (!detail::tracing()) return call();
  notes.clear();
  const auto start = std::chrono::steady_clock::now();
  call();
  const double us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
  char time[32];
  std::snprintf(time, sizeof time, "%.1f us", us);
  const std::string line = std::string(op) + ": " + verb + " " + what() + " on " + backend.device().to_string() +
                           ", reads " + human(read) + ", writes " + human(written) + ", " + time +
                           (notes.empty() ? "" : "; " + notes) + "\n";
  if (explanation) *explanation += line;
  else std::fputs(("tern " + line).c_str(), stderr);
}

/// The weight of a step for each element it is computed for. A leaf that is not rounded correctly is transcendental;
/// detach computes nothing.
std::int64_t weight(const detail::Step& step) {
  if (step.kind == detail::StepKind::reduce) return 1;
  if (step.kind != detail::StepKind::leaf || step.leaf == detail::Leaf::detach) return 0;
  return detail::rule_of(step.leaf).ulp_f32 > 0.5 ? 8 : 1;
}
/// A program's FLOPs where full values have `full` elements and reduced ones `reduced`; a reduction steps through all.
std::int64_t flops(const detail::Program& program, std::int64_t full, std::int64_t reduced) {
  std::int64_t total = 0;
  for (const detail::Step& step : program.steps) {
    const bool reads_full =
        step.kind == detail::StepKind::reduce ? program.steps[static_cast<std::size_t>(step.args[0])].full : step.full;
    total += weight(step) * (reads_full || !program.reduces ? full : reduced);
  }
  return total;
}
void add_cost(std::int64_t flops) {
  if (cost) cost->flops += flops, ++cost->calls;
}

std::string key_text(const detail::Program* program) {
  char text[32];
  std::snprintf(text, sizeof text, "kernel %016llx",
                static_cast<unsigned long long>(program ? program->graph->key : 0));
  return text;
}

}  // namespace

TraceCounts trace_counts() { return counts; }

namespace detail {

bool tracing() { return explanation || always_traced; }
void note(const std::string& text) { notes += (notes.empty() ? "" : ", ") + text; }

Cost count_cost(void (*call)(void*), void* context) {
  struct Scope {
    Cost own, *outer = cost;
    Scope() { cost = &own; }
    ~Scope() {
      cost = outer;
      if (outer) outer->flops += own.flops, outer->calls += own.calls;
    }
  } scope;
  call(context);
  return scope.own;
}

std::string explain_calls(void (*call)(void*), void* context) {
  std::string text, *outer = explanation;
  explanation = &text;
  try {
    call(context);
  } catch (...) {
    explanation = outer;
    throw;
  }
  explanation = outer;
  if (outer) *outer += text;
  return text;
}

void run(Backend& backend, const FusedRequest& r) {
  std::int64_t read = 0, written = 0;
  for (const Operand& operand : r.inputs) read += bytes(operand.view, r.space);
  for (const View& output : r.outputs) written += bytes(output, r.space);
  if (cost) {
    std::int64_t reduced = 1;
    for (int i = 0; i < r.space.rank(); ++i)
      if (!(r.reduced >> i & 1)) reduced *= r.space[static_cast<std::size_t>(i)];
    add_cost(flops(*r.program, r.space.numel(), reduced));
  }
  traced(
      backend, "fused", r.op, [&] { return to_string(r.space) + " " + key_text(r.program); }, read, written,
      [&] { backend.fused(r); });
}

void run(Backend& backend, const GemmRequest& r) {
  const auto matrix = [&](std::int64_t rows, std::int64_t cols) {
    Shape shape = r.batch;
    shape.push_back(rows), shape.push_back(cols);
    return shape;
  };
  const Shape space = matrix(r.m, r.n);
  std::int64_t read = bytes(r.a, matrix(r.m, r.k)) + bytes(r.b, matrix(r.k, r.n)), written = 0;
  for (const Operand& operand : r.inputs) read += bytes(operand.view, space);
  for (const View& output : r.outputs) written += bytes(output, space);
  if (cost) {
    Shape kept = r.batch;
    for (int i = 0; i < kept.rank(); ++i)
      if (r.contracted >> i & 1) kept[static_cast<std::size_t>(i)] = 1;
    const std::int64_t elements = kept.numel() * r.m * r.n;
    add_cost(2 * r.batch.numel() * r.m * r.n * r.k + flops(*r.epilogue, elements, elements));
  }
  const auto what = [&] {
    return to_string(r.batch) + " x " + std::to_string(r.m) + "x" + std::to_string(r.k) + "x" + std::to_string(r.n) +
           " " + std::string(to_string(r.a.dtype)) + ", epilogue " + key_text(r.epilogue);
  };
  traced(backend, "gemm", r.op, what, read, written, [&] { backend.gemm(r); });
}

void run(Backend& backend, const ScatterRequest& r) {
  if (cost) add_cost(r.space.numel());
  traced(
      backend, "scatter", r.op, [&] { return to_string(r.space); },
      bytes(r.source, r.space) + bytes(r.target.table, r.space), bytes(r.source, r.space), [&] { backend.scatter(r); });
}
void run(Backend& backend, const ScanRequest& r) {
  if (cost) add_cost(r.space.numel());
  traced(
      backend, "scan", r.op, [&] { return to_string(r.space); }, bytes(r.input, r.space), bytes(r.output, r.space),
      [&] { backend.scan(r); });
}
void run(Backend& backend, const SortRequest& r) {
  if (cost) add_cost(0);
  traced(
      backend, "sort", r.op, [&] { return to_string(r.space); }, bytes(r.input, r.space),
      bytes(r.values, r.space) + bytes(r.indices, r.space), [&] { backend.sort(r); });
}

}  // namespace detail
}  // namespace tern
