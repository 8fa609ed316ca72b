#include "backend/trace.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "backend/capture.hpp"
#include "backend/reads.hpp"
#include "backend/tensor_impl.hpp"
#include "backend/tuning.hpp"
#include "process/of_thread.hpp"
#include "tern/trace.hpp"

namespace tern {
namespace {

bool trace_from_environment() {
  const char* text = std::getenv("TERN_TRACE");
  if (!text || !*text || std::string(text) == "0") return false;
  ++detail::Choice::watchers;
  return true;
}
const bool always_traced = trace_from_environment();

/// Where explain() on this thread collects its lines; null: none is running.
thread_local std::string* explanation = nullptr;
/// What was noted of the call that this thread is making.
struct Notes {
  std::string text;
};
std::string& notes() { return detail::of_thread<Notes>().text; }
/// Where warm_up() on this thread collects the devices its calls use, with their counts before; null: none is running.
thread_local std::map<detail::Backend*, CacheStats>* warming = nullptr;
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

/// Whether the request went to this thread's capture, which must be of the same device, instead of the backend.
template <class Request> bool captured(const detail::Backend& backend, const char* op, const Request& request) {
  detail::CapturedCalls* capture = detail::current_capture();
  if (!capture) return false;
  detail::require_captured(*capture, backend, op);
  capture->add(request);
  return true;
}

/// Throws where something that is read belongs to a recording that was not replayed. What is written whole is no
/// longer.
void require_values_of(const char* op, std::span<const detail::Operand> inputs, const detail::Program& program,
                       int first = 0) {
  for (const detail::Operand& operand : inputs) {
    if (operand.gather) detail::require_replayed(op, *operand.gather->table.storage);
    if (operand.view.storage && operand.view.storage->awaits_replay() &&
        detail::reads_input(program, static_cast<int>(&operand - inputs.data()) + first))
      detail::throw_awaits_replay(op);
  }
}
void write(const detail::View& view, const Shape& space) {
  if (!view.storage || !view.storage->awaits_replay()) return;
  if (bytes(view, space) == static_cast<std::int64_t>(view.storage->bytes())) view.storage->set_awaits_replay(false);
}
void write(std::span<const detail::View> views, const Shape& space) {
  for (const detail::View& view : views) write(view, space);
}

/// Counts one call, runs it, and reports it where somebody listens.
template <class What, class Call>
void traced(detail::Backend& backend, const char* verb, const char* op, const What& what, std::int64_t read,
            std::int64_t written, Call call) {
  ++counts.calls;
  counts.bytes_read += read, counts.bytes_written += written;
  if (warming && !warming->contains(&backend)) warming->emplace(&backend, backend.cache_stats());
  const auto run = [&] {
    if (detail::measuring()) detail::measure(backend, std::string(verb) + " " + op + " " + what(), call);
    else call();
  };
  if (!detail::tracing()) return run();
  std::string& noted = notes();
  noted.clear();
  const std::int64_t before = counts.bytes_read;
  double us = 0;
  const std::string on_device = backend.timed([&] {
    const auto start = std::chrono::steady_clock::now();
    run();
    us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
  });
  char time[32];
  std::snprintf(time, sizeof time, "%.1f us", us);
  const std::string line = std::string(op) + ": " + verb + " " + what() + " on " + backend.device().to_string() +
                           ", reads " + human(read + counts.bytes_read - before) + ", writes " + human(written) + ", " +
                           time + (on_device.empty() ? "" : "; on the device " + on_device) +
                           (noted.empty() ? "" : "; " + noted) + "\n";
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

/// Bytes that are read and written.
std::pair<std::int64_t, std::int64_t> bytes_of(const detail::FusedRequest& r) {
  std::int64_t read = 0, written = 0;
  for (const detail::Operand& operand : r.inputs) read += bytes(operand.view, r.space);
  for (const detail::View& output : r.outputs) written += bytes(output, r.space);
  return {read, written};
}
void count_flops(const detail::FusedRequest& r) {
  if (!cost) return;
  std::int64_t reduced = 1;
  for (int i = 0; i < r.space.rank(); ++i)
    if (!(r.reduced >> i & 1)) reduced *= r.space[static_cast<std::size_t>(i)];
  add_cost(flops(*r.program, r.space.numel(), reduced));
}
std::string what(const detail::FusedRequest& r) { return to_string(r.space) + " " + key_text(r.program); }

}  // namespace

TraceCounts trace_counts() { return counts; }

namespace detail {
Uncounted::Uncounted() : before_(counts) {}
Uncounted::~Uncounted() { counts = before_; }
}  // namespace detail


namespace detail {

const IndexScope*& IndexScope::current() {
  thread_local const IndexScope* scope = nullptr;
  return scope;
}

void count_read(std::int64_t times, const View& view, const Shape& space) {
  counts.bytes_read += times * bytes(view, space);
}
bool tracing() { return explanation || always_traced; }
void note(const std::string& text) {
  std::string& noted = notes();
  noted += (noted.empty() ? "" : ", ") + text;
}

Cost count_cost(CallRef call) {
  struct Scope {
    Cost own, *outer = cost;
    Scope() { cost = &own; }
    ~Scope() {
      cost = outer;
      if (outer) outer->flops += own.flops, outer->calls += own.calls;
    }
  } scope;
  call();
  return scope.own;
}

std::string explain_calls(CallRef call) {
  std::string text;
  {
    struct Guard {
      std::string* outer = explanation;
      ~Guard() { explanation = outer, --Choice::watchers; }
    } guard;
    explanation = &text, ++Choice::watchers;
    call();
  }
  if (explanation) *explanation += text;
  return text;
}

CacheStats warm_up_calls(CallRef call) {
  std::map<Backend*, CacheStats> used;
  {
    struct Guard {
      std::map<Backend*, CacheStats>* outer = warming;
      ~Guard() { warming = outer; }
    } guard;
    warming = &used;
    call();
  }
  CacheStats made;
  for (const auto& [backend, before] : used) {
    backend->synchronize();
    const CacheStats now = backend->cache_stats();
    made.kernels += now.kernels - before.kernels, made.hits += now.hits - before.hits;
    made.misses += now.misses - before.misses, made.milliseconds += now.milliseconds - before.milliseconds;
    if (warming) warming->emplace(backend, before);
  }
  return made;
}

void run(Backend& backend, const FusedRequest& r) {
  note_reads(r);
  if (captured(backend, r.op, r)) return;
  require_values_of(r.op, r.inputs, *r.program), write(r.outputs, r.space);
  const auto [read, written] = bytes_of(r);
  count_flops(r);
  traced(
      backend, "fused", r.op, [&] { return what(r); }, read, written, [&] { backend.fused(r); });
}

void run(Backend& backend, std::span<const FusedRequest> requests) {
  if (requests.size() == 1) return run(backend, requests[0]);
  std::int64_t read = 0, written = 0;
  for (const FusedRequest& r : requests) {
    note_reads(r);
    const auto [r_read, r_written] = bytes_of(r);
    read += r_read, written += r_written;
  }
  if (captured(backend, requests[0].op, requests)) return;
  for (const FusedRequest& r : requests) require_values_of(r.op, r.inputs, *r.program);
  for (const FusedRequest& r : requests) write(r.outputs, r.space), count_flops(r);
  const auto all = [&] {
    std::string text;
    for (const FusedRequest& r : requests) text += (text.empty() ? "" : " and ") + what(r);
    return text;
  };
  traced(backend, "fused", requests[0].op, all, read, written, [&] { backend.fused_all(requests); });
}

void run(Backend& backend, const GemmRequest& r) {
  note_reads(r);
  if (captured(backend, r.op, r)) return;
  require_replayed(r.op, *r.a.storage), require_replayed(r.op, *r.b.storage);
  require_values_of(r.op, r.inputs, *r.epilogue, 1);
  const auto matrix = [&](std::int64_t rows, std::int64_t cols) {
    Shape shape = r.batch;
    shape.push_back(rows), shape.push_back(cols);
    return shape;
  };
  const Shape space = matrix(r.m, r.n);
  write(r.outputs, space);
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
  note_reads(r);
  if (captured(backend, r.op, r)) return;
  for (const View* read : {&r.source, &r.output, &r.target.table}) require_replayed(r.op, *read->storage);
  if (cost) add_cost(r.space.numel());
  traced(
      backend, "scatter", r.op, [&] { return to_string(r.space); },
      bytes(r.source, r.space) + bytes(r.target.table, r.space), bytes(r.source, r.space), [&] { backend.scatter(r); });
}
void run(Backend& backend, const ScanRequest& r) {
  note_reads(r);
  if (captured(backend, r.op, r)) return;
  require_replayed(r.op, *r.input.storage), write(r.output, r.space);
  if (cost) add_cost(r.space.numel());
  traced(
      backend, "scan", r.op, [&] { return to_string(r.space); }, bytes(r.input, r.space), bytes(r.output, r.space),
      [&] { backend.scan(r); });
}
void run(Backend& backend, const SortRequest& r) {
  note_reads(r);
  if (captured(backend, r.op, r)) return;
  require_replayed(r.op, *r.input.storage), write(r.values, r.space), write(r.indices, r.space);
  if (cost) add_cost(0);
  Shape results = r.space;
  if (r.first > 0) results[static_cast<std::size_t>(r.axis)] = r.first;
  traced(
      backend, "sort", r.op, [&] { return to_string(r.space); }, bytes(r.input, r.space),
      bytes(r.values, results) + bytes(r.indices, results), [&] { backend.sort(r); });
}

void upload(Backend& backend, Storage& to, std::size_t byte_offset, const void* from, std::size_t bytes) {
  CapturedCalls* capture = current_capture();
  if (!capture) return backend.upload(to, byte_offset, from, bytes);
  require_captured(*capture, backend, "upload");
  capture->add_upload(to, byte_offset, from, bytes);
}

}  // namespace detail
}  // namespace tern
