// Recording requests instead of running them, above the backends: the dispatcher (backend/run.hpp) hands every request
// to the capture of its thread, where there is one.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "backend/backend.hpp"
#include "backend/instruments/trace.hpp"
#include "tern/call_ref.hpp"
#include "tern/tensor.hpp"

namespace tern::detail {

class CapturedCalls;

/// Memory of the device for live numbers, written before the calls run, where the numbers changed.
struct LiveMemory {
  std::shared_ptr<Storage> storage;
  std::vector<std::byte> now, sent;
  std::size_t used = 0;
};

/// Numbers that belong to the program and change between replays: a learning rate, where a random generator stands.
/// Replays ask the program for them (`refresh` writes them, in order) and hand them to the recorded requests: as plain
/// numbers, or, where the backend records by itself, in memory of the device.
class LiveNumbers {
 public:
  using Refresh = std::function<void(std::span<LiveSlot>)>;
  /// Of a capture that is running; `dtype` is that of the tensors they may have to be, f32, f64 or u32.
  LiveNumbers(CapturedCalls& capture, DType dtype, std::size_t count, Refresh refresh);

  /// Number i as an argument of an operation of that capture; of one that is not recorded, as the last replay had it.
  /// Throws unsupported where there was none, and in another capture.
  Argument argument(std::size_t i) const;

 private:
  friend class CapturedCalls;
  std::uint64_t capture_;
  DType dtype_;
  std::vector<LiveSlot> slots_;
  std::vector<Tensor> tensors_;  // one for each, where the backend records by itself
  LiveMemory* memory_ = nullptr;  // where those are
  bool known_ = false;            // a replay has asked for them
  Refresh refresh_;
};

/// Requests with everything they point at: owned copies of operands, and the storages kept alive.
class CapturedCalls {
 public:
  explicit CapturedCalls(Backend& backend);
  ~CapturedCalls();
  Backend& backend() const { return backend_; }
  /// No other capture of the process has, or had, this number.
  std::uint64_t number() const { return number_; }
  std::size_t size() const { return calls_.size(); }
  std::size_t bytes() const { return bytes_; }
  void replay();

  template <class R> void add(const R& request);
  void add_upload(Storage& to, std::size_t byte_offset, const void* from, std::size_t bytes);
  /// Memory for a new tensor: a storage of this size that was made in this capture and that the program holds no more,
  /// else a new one.
  std::shared_ptr<Storage> storage(std::size_t bytes);
  /// Whether this capture made the memory, so that replays write it anew.
  bool made(const Storage& storage) const { return made_here_.contains(&storage); }

  /// Numbers that replays ask for, after those that were added before.
  std::shared_ptr<LiveNumbers> add_live(DType dtype, std::size_t count, LiveNumbers::Refresh refresh);
  /// Something that the program does to its own state; replays do it again, in the order of these calls.
  void add_action(std::function<void()> action);
  /// Undoes, when the capture is over, what recording did to the program's state: nothing has been executed.
  void at_end(std::function<void()> undo) { undo_.push_back(std::move(undo)); }

  /// The capture is over, whether f returned or threw.
  void close();
  /// Where the backend has recordings of its own: makes one, which replay() then runs.
  void finish();

 private:
  /// What one request points at.
  struct Owned {
    std::string op;
    std::deque<std::vector<Operand>> inputs;
    std::deque<std::vector<View>> outputs;
    std::deque<Gather> gathers;
    std::vector<std::shared_ptr<const void>> groups;  // of requests
    std::vector<std::byte> values;
    bool live = false;  // an input is
  };
  /// Replaces what a copy of a request points at by what the recording owns.
  class Keeper;
  /// What the program let go of, by size.
  struct Free {
    std::mutex lock;
    std::unordered_map<std::size_t, std::vector<std::shared_ptr<Storage>>> storages;
    bool closed = false;  // the capture is over: nobody will ask for them
  };
  enum class Use { none, read, write };
  void keep(const View& view, Use use);
  std::shared_ptr<Storage> make_storage(std::size_t bytes);
  void place(LiveNumbers& live);
  void record_replay(CapturedCalls& inner);
  void require_written() const;
  void refresh_live();
  void run_all();

  Backend& backend_;
  std::uint64_t number_;
  std::deque<Owned> owned_;
  struct RecordedCall {
    Owned* owned;
    std::function<void(Backend&)> run;
  };
  std::vector<RecordedCall> calls_;
  std::unordered_set<std::shared_ptr<Storage>> outside_, written_;  // made before the capture; those of them written
  std::vector<std::shared_ptr<Storage>> awaited_;  // read, of recordings that had not been replayed then
  std::vector<std::shared_ptr<Storage>> made_;
  std::unordered_set<const Storage*> made_here_;
  std::shared_ptr<Free> free_ = std::make_shared<Free>();
  std::size_t bytes_ = 0;
  bool replayed_ = false;

  std::vector<std::shared_ptr<LiveNumbers>> live_;
  std::deque<LiveMemory> live_memory_;
  /// While a replay of another recording is recorded: its live numbers are these.
  std::unordered_map<const LiveSlot*, const LiveSlot*> renamed_;
  std::vector<std::function<void()>> undo_;
  std::unique_ptr<Recording> native_;
};

class CapturedCalls::Keeper : public ViewVisitor<Keeper> {
 public:
  Keeper(CapturedCalls& capture, const char* op);
  Owned& owned() const { return owned_; }

  void reads(const View& view, const Shape&) { capture_.keep(view, Use::read); }
  void writes(const View& view, const Shape&) { capture_.keep(view, Use::write); }
  void updates(const View& view, const View&, const Shape&) {
    capture_.keep(view, Use::read), capture_.keep(view, Use::write);
  }
  void program(const Program& program, int first, std::span<const Operand>& inputs, std::span<const View>& outputs,
               const Shape&);
  template <class R> void each(std::span<const R>& requests) {
    auto copies = std::make_shared<std::vector<R>>(requests.begin(), requests.end());
    for (R& copy : *copies) copy.op = owned_.op.c_str(), R::views(copy, *this);
    requests = *copies;
    owned_.groups.push_back(std::move(copies));
  }

 private:
  void keep_operand(const Program& program, int input, Operand& operand);
  CapturedCalls& capture_;
  Owned& owned_;
};

template <class R> void CapturedCalls::add(const R& request) {
  R copy = request;
  Keeper keeper(*this, request.op);
  R::views(copy, keeper);
  copy.op = keeper.owned().op.c_str();
  calls_.push_back({&keeper.owned(), [copy](Backend& backend) { run(backend, copy); }});
}

/// Records what `call` asks of a backend.
std::shared_ptr<CapturedCalls> capture_calls(Backend& backend, CallRef call);
/// The capture running on this thread, or null.
CapturedCalls* current_capture();
/// Throws device where a request of `op` for `backend` meets the capture of another device.
void require_captured(const CapturedCalls& capture, const Backend& backend, const char* op);
/// Throws unsupported while a capture is running on this thread: its tensors have no values yet.
void require_values(const char* op);
/// Throws unsupported where the memory belongs to a recording that has not been replayed yet.
[[noreturn]] void throw_awaits_replay(const char* op);
/// Whether the values of an operand are read; some only give a space and a dtype.
bool reads_input(const Program& program, int input);
inline void require_replayed(const char* op, const Storage& storage) {
  if (storage.awaits_replay()) throw_awaits_replay(op);
}

}  // namespace tern::detail
