#include "backend/capture.hpp"

#include "backend/trace.hpp"
#include "tern/capture.hpp"

namespace tern {
namespace detail {
namespace {

thread_local CapturedCalls* running = nullptr;

/// Makes a capture the one of this thread for a while.
class Running {
 public:
  explicit Running(CapturedCalls* calls) : outer_(running) { running = calls; }
  ~Running() { running = outer_; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  CapturedCalls* outer_;
};

}  // namespace

void CapturedCalls::keep(const View& view, bool written) {
  if (!view.storage || made_here_.contains(view.storage)) return;
  const std::shared_ptr<Storage> storage = view.storage->shared_from_this();
  outside_.insert(storage);
  if (written) written_.insert(storage);
}

CapturedCalls::Owned& CapturedCalls::own(const char* op, std::span<const Operand> inputs,
                                         std::span<const View> outputs) {
  Owned& owned = owned_.emplace_back();
  owned.op = op;
  owned.inputs.assign(inputs.begin(), inputs.end());
  owned.outputs.assign(outputs.begin(), outputs.end());
  for (Operand& operand : owned.inputs) {
    keep(operand.view, false);
    if (!operand.gather) continue;
    keep(operand.gather->table, false);
    operand.gather = &owned.gathers.emplace_back(*operand.gather);
  }
  for (const View& view : owned.outputs) keep(view, true);
  return owned;
}

void CapturedCalls::add(const FusedRequest& request) { add({&request, 1}); }
void CapturedCalls::add(std::span<const FusedRequest> requests) {
  std::vector<FusedRequest> copies(requests.begin(), requests.end());
  const Owned* last = nullptr;
  for (FusedRequest& copy : copies) {
    const Owned& owned = own(copy.op, copy.inputs, copy.outputs);
    copy.op = owned.op.c_str(), copy.inputs = owned.inputs, copy.outputs = owned.outputs;
    last = &owned;
  }
  calls_.push_back({last, [copies](Backend& backend) { run(backend, std::span<const FusedRequest>(copies)); }});
}
void CapturedCalls::add(const GemmRequest& request) {
  Owned& owned = own(request.op, request.inputs, request.outputs);
  keep(request.a, false), keep(request.b, false);
  GemmRequest copy = request;
  copy.op = owned.op.c_str(), copy.inputs = owned.inputs, copy.outputs = owned.outputs;
  calls_.push_back({&owned, [copy](Backend& backend) { run(backend, copy); }});
}
void CapturedCalls::add(const ScatterRequest& request) {
  Owned& owned = own(request.op, {}, {});
  keep(request.source, false), keep(request.output, true), keep(request.target.table, false);
  ScatterRequest copy = request;
  copy.op = owned.op.c_str();
  calls_.push_back({&owned, [copy](Backend& backend) { run(backend, copy); }});
}
void CapturedCalls::add(const ScanRequest& request) {
  Owned& owned = own(request.op, {}, {});
  keep(request.input, false), keep(request.output, true);
  ScanRequest copy = request;
  copy.op = owned.op.c_str();
  calls_.push_back({&owned, [copy](Backend& backend) { run(backend, copy); }});
}
void CapturedCalls::add(const SortRequest& request) {
  Owned& owned = own(request.op, {}, {});
  keep(request.input, false), keep(request.values, true), keep(request.indices, true);
  SortRequest copy = request;
  copy.op = owned.op.c_str();
  calls_.push_back({&owned, [copy](Backend& backend) { run(backend, copy); }});
}
void CapturedCalls::add_upload(Storage& to, std::size_t byte_offset, const void* from, std::size_t bytes) {
  Owned& owned = own("upload", {}, {});
  View whole;
  whole.storage = &to;
  keep(whole, true);
  const auto* begin = static_cast<const std::byte*>(from);
  owned.values.assign(begin, begin + bytes);
  calls_.push_back({&owned, [&to, byte_offset, values = &owned.values](Backend& backend) {
    upload(backend, to, byte_offset, values->data(), values->size());
  }});
}

std::shared_ptr<Storage> CapturedCalls::storage(std::size_t bytes) {
  auto& list = made_[bytes];
  // Replay keeps the order of the calls, so memory may go from a dead tensor to a new one.
  for (const std::shared_ptr<Storage>& storage : list)
    if (storage.use_count() == 1) return storage;
  list.push_back(std::make_shared<Storage>(backend_, bytes));
  made_here_.insert(list.back().get());
  return list.back();
}

std::size_t CapturedCalls::bytes() const {
  std::size_t total = 0;
  for (const auto& [bytes, list] : made_) total += bytes * list.size();
  return total;
}

void CapturedCalls::run_all() const {
  for (const Call& call : calls_) {
    try {
      call.run(backend_);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::index) throw;
      throw Error(ErrorKind::index, "Graph::replay: " + call.owned->op + ": " + e.what());
    }
  }
}

void CapturedCalls::finish() {
  if (!backend_.records()) return;
  const Uncounted uncounted;
  backend_.begin_capture();
  try {
    run_all();
  } catch (...) {
    backend_.end_capture();
    throw;
  }
  native_ = backend_.end_capture();
}

void CapturedCalls::replay() const {
  for (const std::shared_ptr<Storage>& storage : written_) storage->bump_version();
  // A replay inside a capture is part of that.
  if (native_ && !running) native_->replay();
  else run_all();
}

CapturedCalls* current_capture() { return running; }

void require_captured(const CapturedCalls& capture, const Backend& backend, const char* op) {
  if (&capture.backend() == &backend) return;
  throw Error(ErrorKind::device, std::string(op) + ": runs on " + backend.device().to_string() +
                                     " inside a capture of " + capture.backend().device().to_string() +
                                     "; do it before the capture");
}

void require_values(const char* op) {
  if (!running) return;
  throw Error(ErrorKind::unsupported, std::string(op) +
                                          ": reads values inside capture(), which records and does not execute; "
                                          "read them after replay(), or before the capture");
}

std::shared_ptr<const CapturedCalls> capture_calls(Device device, CallRef call) {
  auto calls = std::make_shared<CapturedCalls>(backend_of(device));
  {
    const Running guard(calls.get());
    call();
  }
  calls->finish();
  return calls;
}

}  // namespace detail

namespace {
const detail::CapturedCalls& checked(const std::shared_ptr<const detail::CapturedCalls>& calls, const char* op) {
  if (!calls)
    throw Error(ErrorKind::shape,
                std::string(op) + ": the Graph is empty (default-constructed); make it with capture()");
  return *calls;
}
}  // namespace

void Graph::replay() const { checked(calls_, "Graph::replay").replay(); }
Device Graph::device() const { return checked(calls_, "Graph::device").backend().device(); }
std::int64_t Graph::size() const { return static_cast<std::int64_t>(checked(calls_, "Graph::size").size()); }
std::int64_t Graph::bytes() const { return static_cast<std::int64_t>(checked(calls_, "Graph::bytes").bytes()); }

}  // namespace tern
