#include "backend/recording/capture.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "backend/instruments/reads.hpp"
#include "backend/recording/native.hpp"
#include "backend/tensor_impl.hpp"
#include "backend/instruments/trace.hpp"
#include "tern/capture.hpp"

namespace tern {
namespace detail {
namespace {

/// Of a thread, not an argument: between capture() and a request stands the program that is recorded.
thread_local CapturedCalls* running = nullptr;

/// Makes a capture the one of this thread for a while; null: none.
class Running {
 public:
  explicit Running(CapturedCalls* calls) : outer_(std::exchange(running, calls)) {}
  ~Running() { running = outer_; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  CapturedCalls* outer_;
};

std::uint64_t next_capture() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

/// A number as an element in memory.
void write_number(std::byte* to, DType dtype, const Number& number) {
  if (dtype == DType::u32) {
    const auto value = static_cast<std::uint32_t>(number.integer);
    std::memcpy(to, &value, sizeof value);
  } else if (dtype == DType::f32) {
    const auto value = static_cast<float>(number.real);
    std::memcpy(to, &value, sizeof value);
  } else {
    std::memcpy(to, &number.real, sizeof number.real);
  }
}

}  // namespace

// ---- numbers that replays ask for ----

LiveNumbers::LiveNumbers(CapturedCalls& capture, DType dtype, std::size_t count, Refresh refresh)
    : capture_(capture.number()), dtype_(dtype), slots_(count), refresh_(std::move(refresh)) {}

Argument LiveNumbers::argument(std::size_t i) const {
  const LiveSlot& slot = slots_[i];
  if (!running && !known_) throw_awaits_replay("a recorded draw of random numbers");
  if (!running) return Argument(slot.number);
  if (running->number() != capture_)
    throw Error(ErrorKind::unsupported,
                "capture: a draw of random numbers that another capture recorded cannot be repeated in this one; "
                "record forward and backward in one capture");
  Argument argument = tensors_.empty() ? Argument(slot.number) : Argument(tensors_[i]);
  argument.live = &slot;
  return argument;
}

std::shared_ptr<LiveNumbers> CapturedCalls::add_live(DType dtype, std::size_t count, LiveNumbers::Refresh refresh) {
  auto live = std::make_shared<LiveNumbers>(*this, dtype, count, std::move(refresh));
  if (count > 0 && backend_.records()) place(*live);
  live_.push_back(live);
  return live;
}

void CapturedCalls::add_action(std::function<void()> action) {
  add_live(DType::u32, 0, [action = std::move(action)](std::span<LiveSlot>) { action(); });
}

/// Gives the numbers a place in the device's memory, so that a native recording finds them there.
void CapturedCalls::place(LiveNumbers& live) {
  constexpr std::size_t kBlockBytes = 4096, kAligned = 16;  // bytes
  const std::size_t size = dtype_size(live.dtype_), bytes = live.slots_.size() * size;
  if (live_memory_.empty() || live_memory_.back().now.size() - live_memory_.back().used < bytes) {
    LiveMemory& memory = live_memory_.emplace_back();
    memory.now.resize(std::max(kBlockBytes, bytes));
    memory.storage = make_pooled<Storage>(backend_, memory.now.size());
    bytes_ += memory.now.size(), made_here_.insert(memory.storage.get());
  }
  LiveMemory& memory = live_memory_.back();
  live.memory_ = &memory;
  for (LiveSlot& slot : live.slots_) {
    slot.storage = memory.storage.get(), slot.offset = static_cast<std::int64_t>(memory.used / size);
    auto impl = make_pooled<TensorImpl>();
    impl->storage = memory.storage, impl->dtype = live.dtype_, impl->offset = slot.offset, impl->numel = 1;
    live.tensors_.emplace_back(std::move(impl));
    memory.used += size;
  }
  memory.used = std::min((memory.used + kAligned - 1) / kAligned * kAligned, memory.now.size());
}

void CapturedCalls::refresh_live() {
  for (const std::shared_ptr<LiveNumbers>& live : live_) {
    live->refresh_(live->slots_);
    live->known_ = true;
    if (!live->memory_) continue;
    for (const LiveSlot& slot : live->slots_)
      write_number(&live->memory_->now[static_cast<std::size_t>(slot.offset) * dtype_size(live->dtype_)], live->dtype_,
                   slot.number);
  }
  for (LiveMemory& memory : live_memory_) {
    if (memory.sent == memory.now) continue;
    backend_.upload(*memory.storage, 0, memory.now.data(), memory.used);
    memory.sent = memory.now;
  }
}

// ---- recording ----

CapturedCalls::CapturedCalls(Backend& backend) : backend_(backend), number_(next_capture()) {}
CapturedCalls::~CapturedCalls() = default;

bool reads_input(const Program& program, int input) {
  return std::ranges::any_of(program.steps,
                             [&](const Step& s) { return s.kind == StepKind::input && s.index == input; });
}

void CapturedCalls::keep(const View& view, Use use) {
  if (!view.storage || made_here_.contains(view.storage)) return;
  const std::shared_ptr<Storage> storage = view.storage->shared_from_this();
  outside_.insert(storage);
  if (use == Use::write) written_.insert(storage);
  if (use == Use::read && storage->awaits_replay() && !written_.contains(storage)) awaited_.push_back(storage);
}

CapturedCalls::Keeper::Keeper(CapturedCalls& capture, const char* op)
    : capture_(capture), owned_(capture.owned_.emplace_back()) {
  owned_.op = op;
}

void CapturedCalls::Keeper::keep_operand(const Program& program, int input, Operand& operand) {
  if (const auto renamed = capture_.renamed_.find(operand.live); renamed != capture_.renamed_.end()) {
    operand.live = renamed->second;
    operand.view.storage = operand.live->storage, operand.view.offset = operand.live->offset;
  }
  owned_.live |= operand.live && !operand.live->storage;
  const bool waits = operand.view.storage && operand.view.storage->awaits_replay();
  capture_.keep(operand.view, waits && reads_input(program, input) ? Use::read : Use::none);
  if (!operand.gather) return;
  capture_.keep(operand.gather->table, Use::read);
  operand.gather = &owned_.gathers.emplace_back(*operand.gather);
}

void CapturedCalls::Keeper::program(const Program& program, int first, std::span<const Operand>& inputs,
                                    std::span<const View>& outputs, const Shape&) {
  auto& operands = owned_.inputs.emplace_back(inputs.begin(), inputs.end());
  auto& results = owned_.outputs.emplace_back(outputs.begin(), outputs.end());
  for (std::size_t i = 0; i < operands.size(); ++i) keep_operand(program, static_cast<int>(i) + first, operands[i]);
  for (const View& view : results) capture_.keep(view, Use::write);
  inputs = operands, outputs = results;
}

void CapturedCalls::add_upload(Storage& to, std::size_t byte_offset, const void* from, std::size_t bytes) {
  Owned& owned = owned_.emplace_back();
  owned.op = "upload";
  View whole;
  whole.storage = &to;
  keep(whole, Use::write);
  const auto* begin = static_cast<const std::byte*>(from);
  owned.values.assign(begin, begin + bytes);
  calls_.push_back({&owned, [&to, byte_offset, values = &owned.values](Backend& backend) {
    upload(backend, to, byte_offset, values->data(), values->size());
  }});
}

std::shared_ptr<Storage> CapturedCalls::make_storage(std::size_t bytes) {
  const auto& storage = made_.emplace_back(make_pooled<Storage>(backend_, bytes));
  made_here_.insert(storage.get()), bytes_ += bytes;
  return storage;
}

/// What the program holds is a handle of its own: when the last copy goes, the memory is free for the next tensor, as
/// replay keeps the order of the calls. (Looking through all storages for one that nobody holds took time with the
/// square of their number.)
std::shared_ptr<Storage> CapturedCalls::storage(std::size_t bytes) {
  std::shared_ptr<Storage> owned;
  {
    const std::lock_guard hold(free_->lock);
    if (auto& list = free_->storages[bytes]; !list.empty()) owned = std::move(list.back()), list.pop_back();
  }
  if (!owned) owned = make_storage(bytes);
  else if (ReadScope::active()) ReadScope::made(*owned);  // for who lists what is read, it is new
  const auto give_back = [free = free_, owned](Storage* storage) mutable noexcept {
    const std::lock_guard hold(free->lock);
    if (!free->closed) free->storages[storage->bytes()].push_back(std::move(owned));
  };
  return {owned.get(), give_back, PoolAllocator<Storage>{}};
}

void CapturedCalls::close() {
  for (const std::shared_ptr<Storage>& storage : made_) storage->set_awaits_replay(true);
  for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo) (*undo)();
  undo_.clear();
  const std::lock_guard hold(free_->lock);
  free_->closed = true, free_->storages.clear();
}

void CapturedCalls::finish() {
  if (!backend_.records()) return;
  const Uncounted uncounted;
  const Running none(nullptr);
  // Nothing is read or written yet: what waits for the replay of another recording goes on waiting.
  struct Waiting {
    std::vector<Storage*> storages;
    ~Waiting() {
      for (Storage* storage : storages) storage->set_awaits_replay(true);
    }
  } waiting;
  for (const std::shared_ptr<Storage>& storage : outside_)
    if (storage->awaits_replay()) waiting.storages.push_back(storage.get()), storage->set_awaits_replay(false);
  backend_.begin_capture();
  try {
    const NativeRecording recording;
    run_all();
  } catch (const Error& e) {
    backend_.end_capture();
    if (e.kind() == ErrorKind::unsupported) return;
    throw;
  } catch (...) {
    backend_.end_capture();
    throw;
  }
  native_ = backend_.end_capture();
}

// ---- replay ----

void CapturedCalls::run_all() {
  for (const RecordedCall& call : calls_) {
    if (call.owned->live)
      for (std::vector<Operand>& operands : call.owned->inputs)
        for (Operand& operand : operands)
          if (operand.live) operand.number = operand.live->number;
    try {
      call.run(backend_);
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::index) throw;
      throw Error(ErrorKind::index, "Graph::replay: " + call.owned->op + ": " + e.what());
    }
  }
}

/// A replay inside a capture is part of that: so are the numbers, which each replay of it reads anew.
void CapturedCalls::record_replay(CapturedCalls& inner) {
  require_captured(*this, inner.backend_, "Graph::replay");
  renamed_.clear();
  for (const std::shared_ptr<LiveNumbers>& live : inner.live_) {
    const LiveNumbers& own = *add_live(live->dtype_, live->slots_.size(), live->refresh_);
    for (std::size_t i = 0; i < own.slots_.size(); ++i) renamed_[&live->slots_[i]] = &own.slots_[i];
  }
  inner.run_all();
  renamed_.clear();
  for (const std::shared_ptr<Storage>& storage : inner.written_) storage->bump_version();
}

void CapturedCalls::require_written() const {
  for (const std::shared_ptr<Storage>& storage : awaited_) require_replayed("Graph::replay", *storage);
}

void CapturedCalls::replay() {
  if (running) return running->record_replay(*this);
  require_written();
  refresh_live();
  // What this replay is to write first awaits one again if it throws: only some of it was written.
  std::vector<std::shared_ptr<Storage>> awaits;
  const auto let = [&](const std::shared_ptr<Storage>& storage) {
    if (!storage->awaits_replay()) return;
    storage->set_awaits_replay(false);
    awaits.push_back(storage);
  };
  for (const std::shared_ptr<Storage>& storage : written_) storage->bump_version(), let(storage);
  if (!replayed_) std::ranges::for_each(made_, let);
  try {
    if (native_) native_->replay();
    else run_all();
  } catch (...) {
    for (const std::shared_ptr<Storage>& storage : awaits) storage->set_awaits_replay(true);
    throw;
  }
  replayed_ = true;
  awaited_.clear();
}

namespace {
thread_local bool in_native_recording = false;
}  // namespace
bool recording_natively() { return in_native_recording; }
NativeRecording::NativeRecording() { in_native_recording = true; }
NativeRecording::~NativeRecording() { in_native_recording = false; }

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

void throw_awaits_replay(const char* op) {
  throw Error(ErrorKind::unsupported, std::string(op) +
                                          ": what it reads was made in a capture() and has no values yet; replay() "
                                          "the Graph first");
}

std::shared_ptr<CapturedCalls> capture_calls(Device device, CallRef call) {
  return capture_calls(backend_of(device), call);
}
std::shared_ptr<CapturedCalls> capture_calls(Backend& backend, CallRef call) {
  struct Closed {
    std::shared_ptr<CapturedCalls> calls;
    ~Closed() { calls->close(); }
  } const capture{std::make_shared<CapturedCalls>(backend)};
  {
    const Running guard(capture.calls.get());
    call();
  }
  capture.calls->finish();
  return capture.calls;
}

}  // namespace detail

namespace {
detail::CapturedCalls& checked(const std::shared_ptr<detail::CapturedCalls>& calls, const char* op) {
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
