#include "backend/instruments/trace.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "backend/recording/capture.hpp"
#include "backend/instruments/reads.hpp"
#include "backend/tensor_impl.hpp"
#include "backend/instruments/tuning.hpp"
#include "backend/instruments/unnoted.hpp"
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

/// What was noted of the call that this thread is making.
struct Notes {
  std::string text;
};
std::string& notes() { return detail::of_thread<Notes>().text; }

/// Elements an operand has along the axes it is not broadcast over.
std::int64_t elements(const detail::View& view, const Shape& space) {
  std::uint64_t count = 1;  // before an axis of 0 the others may be too large to multiply
  for (std::size_t i = 0; i < space.size(); ++i) {
    if (space[i] == 0) return 0;
    if (view.strides[i] != 0) count *= static_cast<std::uint64_t>(space[i]);
  }
  return static_cast<std::int64_t>(count);
}

std::string human(std::int64_t count) {
  char text[32];
  if (count < 10000) std::snprintf(text, sizeof text, "%lld B", static_cast<long long>(count));
  else if (count < 10000000) std::snprintf(text, sizeof text, "%.1f KB", static_cast<double>(count) / 1e3);
  else std::snprintf(text, sizeof text, "%.1f MB", static_cast<double>(count) / 1e6);
  return text;
}

/// The weight of a step for each element it is computed for. An elementary function that is not rounded correctly is
/// transcendental; detach computes nothing.
std::int64_t weight(const detail::Step& step) {
  if (step.kind == detail::StepKind::reduce) return 1;
  if (step.kind != detail::StepKind::elementary || step.elementary == detail::Elementary::detach) return 0;
  return detail::rule_of(step.elementary).ulp_f32 > 0.5 ? 8 : 1;
}

}  // namespace

TraceCounts trace_counts() { return detail::instruments.counts; }

namespace detail {

constinit thread_local Instruments instruments;

Uncounted::Uncounted() : before_(instruments.counts) {}
Uncounted::~Uncounted() { instruments.counts = before_; }

std::int64_t bytes_of(const View& view, const Shape& space) {
  return view.storage ? elements(view, space) * static_cast<std::int64_t>(dtype_size(view.dtype)) : 0;
}

std::int64_t flops_of(const Program& program, std::int64_t full, std::int64_t reduced) {
  std::int64_t total = 0;
  for (const Step& step : program.steps) {
    const bool reads_full =
        step.kind == StepKind::reduce ? program.steps[static_cast<std::size_t>(step.args[0])].full : step.full;
    total += weight(step) * (reads_full || !program.reduces ? full : reduced);
  }
  return total;
}

std::string kernel_text(const Program& program) {
  char text[32];
  std::snprintf(text, sizeof text, "kernel %016llx", static_cast<unsigned long long>(program.graph->key));
  return text;
}

void report(Backend& backend, const ReportedCall& call, const std::function<std::string()>& text,
            const std::function<void()>& run) {
  Instruments& on = instruments;
  if (on.warming && !on.warming->contains(&backend)) on.warming->emplace(&backend, backend.cache_stats());
  const auto timed = [&] {
    if (measuring()) measure(backend, std::string(call.primitive) + " " + call.op + " " + text(), run);
    else run();
  };
  if (!tracing()) return timed();
  std::string& noted = notes();
  noted.clear();
  const std::int64_t before = on.counts.bytes_read;
  double us = 0;
  const std::string on_device = backend.timed([&] {
    const auto start = std::chrono::steady_clock::now();
    timed();
    us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
  });
  char time[32];
  std::snprintf(time, sizeof time, "%.1f us", us);
  const std::string line =
      std::string(call.op) + ": " + call.primitive + " " + text() + " on " + backend.device().to_string() + ", reads " +
      human(call.read + on.counts.bytes_read - before) + ", writes " + human(call.written) + ", " + time +
      (on_device.empty() ? "" : "; on the device " + on_device) + (noted.empty() ? "" : "; " + noted) + "\n";
  if (on.explanation) *on.explanation += line;
  else std::fputs(("tern " + line).c_str(), stderr);
}

// Not an argument: only an error that may come much later reads it, of any request, in backends that check indices.
const IndexScope*& IndexScope::current() {
  thread_local const IndexScope* scope = nullptr;
  return scope;
}

void count_read(std::int64_t times, const View& view, const Shape& space) {
  instruments.counts.bytes_read += times * bytes_of(view, space);
}
bool tracing() { return instruments.explanation || always_traced; }
void note(const std::string& text) {
  std::string& noted = notes();
  noted += (noted.empty() ? "" : ", ") + text;
}

Unnoted::Unnoted() {
  if (tracing()) before_ = notes();
}
Unnoted::~Unnoted() {
  if (tracing()) notes() = before_;
}

Cost count_cost(CallRef call) {
  struct Scope {
    Cost own, *outer = instruments.cost;
    Scope() { instruments.cost = &own; }
    ~Scope() {
      instruments.cost = outer;
      if (outer) outer->flops += own.flops, outer->calls += own.calls;
    }
  } scope;
  call();
  return scope.own;
}

std::string explain_calls(CallRef call) {
  std::string text;
  {
    struct Restore {
      std::string* outer = instruments.explanation;
      ~Restore() { instruments.explanation = outer, --Choice::watchers; }
    } guard;
    instruments.explanation = &text, ++Choice::watchers;
    call();
  }
  if (instruments.explanation) *instruments.explanation += text;
  return text;
}

CacheStats warm_up_calls(CallRef call) {
  std::map<Backend*, CacheStats> used;
  {
    struct Restore {
      std::map<Backend*, CacheStats>* outer = instruments.warming;
      ~Restore() { instruments.warming = outer; }
    } guard;
    instruments.warming = &used;
    call();
  }
  CacheStats made;
  for (const auto& [backend, before] : used) {
    backend->synchronize();
    const CacheStats now = backend->cache_stats();
    made.kernels += now.kernels - before.kernels, made.hits += now.hits - before.hits;
    made.misses += now.misses - before.misses, made.milliseconds += now.milliseconds - before.milliseconds;
    if (instruments.warming) instruments.warming->emplace(backend, before);
  }
  return made;
}

void upload(Backend& backend, Storage& to, std::size_t byte_offset, const void* from, std::size_t bytes) {
  CapturedCalls* capture = current_capture();
  if (!capture) return backend.upload(to, byte_offset, from, bytes);
  require_captured(*capture, backend, "upload");
  capture->add_upload(to, byte_offset, from, bytes);
}

}  // namespace detail
}  // namespace tern
