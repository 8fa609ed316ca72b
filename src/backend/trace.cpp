#include "backend/trace.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "backend/capture.hpp"
#include "backend/tensor_impl.hpp"
#include "backend/tuning.hpp"
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
thread_local std::string notes;
/// Where warm_up() on this thread collects the devices its calls use, with their counts before; null: none is running.
thread_local std::map<detail::Backend*, CacheStats>* warming = nullptr;
thread_local TraceCounts counts;

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
template <class Request> bool captured(const detail::Backend& backend, const Request& request) {
  detail::CapturedCalls* capture = detail::current_capture();
  if (!capture) return false;
  detail::require_captured(*capture, backend, request.op);
  capture->add(request);
  return true;
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
  notes.clear();
  const auto start = std::chrono::steady_clock::now();
  run();
  const double us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
  char time[32];
  std::snprintf(time, sizeof time, "%.1f us", us);
  const std::string line = std::string(op) + ": " + verb + " " + what() + " on " + backend.device().to_string() +
                           ", reads " + human(read) + ", writes " + human(written) + ", " + time +
                           (notes.empty() ? "" : "; " + notes) + "\n";
  if (explanation) *explanation += line;
  else std::fputs(("tern " + line).c_str(), stderr);
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
  if (captured(backend, r)) return;
  std::int64_t read = 0, written = 0;
  for (const Operand& operand : r.inputs) read += bytes(operand.view, r.space);
  for (const View& output : r.outputs) written += bytes(output, r.space);
  traced(
      backend, "fused", r.op, [&] { return to_string(r.space) + " " + key_text(r.program); }, read, written,
      [&] { backend.fused(r); });
}

void run(Backend& backend, const GemmRequest& r) {
  if (captured(backend, r)) return;
  const auto matrix = [&](std::int64_t rows, std::int64_t cols) {
    Shape shape = r.batch;
    shape.push_back(rows), shape.push_back(cols);
    return shape;
  };
  const Shape space = matrix(r.m, r.n);
  std::int64_t read = bytes(r.a, matrix(r.m, r.k)) + bytes(r.b, matrix(r.k, r.n)), written = 0;
  for (const Operand& operand : r.inputs) read += bytes(operand.view, space);
  for (const View& output : r.outputs) written += bytes(output, space);
  const auto what = [&] {
    return to_string(r.batch) + " x " + std::to_string(r.m) + "x" + std::to_string(r.k) + "x" + std::to_string(r.n) +
           " " + std::string(to_string(r.a.dtype)) + ", epilogue " + key_text(r.epilogue);
  };
  traced(backend, "gemm", r.op, what, read, written, [&] { backend.gemm(r); });
}

void run(Backend& backend, const ScatterRequest& r) {
  if (captured(backend, r)) return;
  traced(
      backend, "scatter", r.op, [&] { return to_string(r.space); },
      bytes(r.source, r.space) + bytes(r.target.table, r.space), bytes(r.source, r.space), [&] { backend.scatter(r); });
}
void run(Backend& backend, const ScanRequest& r) {
  if (captured(backend, r)) return;
  traced(
      backend, "scan", r.op, [&] { return to_string(r.space); }, bytes(r.input, r.space), bytes(r.output, r.space),
      [&] { backend.scan(r); });
}
void run(Backend& backend, const SortRequest& r) {
  if (captured(backend, r)) return;
  traced(
      backend, "sort", r.op, [&] { return to_string(r.space); }, bytes(r.input, r.space),
      bytes(r.values, r.space) + bytes(r.indices, r.space), [&] { backend.sort(r); });
}

void upload(Backend& backend, Storage& to, std::size_t byte_offset, const void* from, std::size_t bytes) {
  CapturedCalls* capture = current_capture();
  if (!capture) return backend.upload(to, byte_offset, from, bytes);
  require_captured(*capture, backend, "upload");
  capture->add_upload(to, byte_offset, from, bytes);
}

}  // namespace detail
}  // namespace tern
