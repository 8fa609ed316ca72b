// Requests met before: the launches they became, so that planning is done once for a shape and not for every call. (A
// plan takes 4 to 8 microseconds, mostly in many small allocations; a prepared one takes under one.)
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "backend/primitive.hpp"
#include "gpu/plan/kernel.hpp"

namespace tern::detail_gpu {

class GpuBackend;

/// The launches of one request and how to run them for another with the same key.
struct Prepared {
  /// What is queued by other means than a launch: a library's call on these storages.
  using LibraryCall = std::function<void(std::span<Storage* const> storages)>;
  struct QueuedStep {
    Launch launch;
    LibraryCall call;  // in place of the launch, where there is one
    std::vector<int>
        storages;  // of each binding, then each map: the place among the request's storages; ~i for temporary i
  };
  std::vector<QueuedStep> steps;
  std::vector<std::size_t> temporaries;  // bytes
};

/// While it lives, what a request's planning launches and allocates on this thread is written down.
class Preparing {
 public:
  Preparing();
  ~Preparing();
  Preparing(const Preparing&) = delete;
  Preparing& operator=(const Preparing&) = delete;
  /// The innermost of this thread; null where there is none.
  static Preparing* current();

  void launched(const Launch& launch);
  /// Of several requests, whose inputs are counted through: how many inputs come before those of the launches to come.
  void count_inputs_from(int first) { first_input_ = first; }
  void count_inputs(std::vector<NumberParam>& numbers) const {
    for (NumberParam& n : numbers) n.input += first_input_;
  }
  void called(std::span<Storage* const> storages, Prepared::LibraryCall call);
  void allocated(const std::shared_ptr<Storage>& storage);
  /// Null where the launches cannot be run again by this means: they use memory of their own or very
  /// much.
  std::unique_ptr<Prepared> result() { return usable_ ? std::move(made_) : nullptr; }

 private:
  void add(Prepared::QueuedStep step, std::span<Storage* const> storages);
  std::vector<const Storage*> storages_;
  std::vector<std::shared_ptr<Storage>> temporaries_;  // kept, so that no address stands for two
  std::unique_ptr<Prepared> made_ = std::make_unique<Prepared>();
  std::size_t bytes_ = 0;  // of temporaries
  bool usable_ = true;
  int first_input_ = 0;
  Preparing* outer_;
};

/// What a plan depends on: primitive, program, sizes, layouts, and which operands share memory; not plain numbers and
/// not the memory itself. Made of a request by visiting its views, along with the memory and numbers of this one.
class RequestKey : public detail::ViewVisitor<RequestKey> {
 public:
  void clear() {
    key.clear(), storages.clear(), places_.clear(), operands_.clear(), checks = false, usable = true, inputs_ = 0;
  }
  template <class R> void write(const R& request) {
    clear();
    (*this)(detail::primitive_id<R>);
    request.parameters(*this);
    R::views(request, *this);
    if constexpr (requires { request.notes_status(); }) checks = checks || request.notes_status();
    key += request.op;
  }

  // parameters
  template <class T> void operator()(const T& value) {
    static_assert(std::has_unique_object_representations_v<T> && std::is_trivially_copyable_v<T>);
    key.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void operator()(const Shape& shape) {
    (*this)(static_cast<std::int32_t>(shape.rank()));
    key.append(reinterpret_cast<const char*>(shape.begin()), shape.size() * sizeof(std::int64_t));
  }
  // views
  void reads(const detail::View& view, const Shape&) { add(view); }
  void writes(const detail::View& view, const Shape&) { add_result(view); }
  void updates(const detail::View& view, const detail::View&, const Shape&) { add(view); }
  void program(const detail::Program&, int first, std::span<const detail::Operand> inputs,
               std::span<const detail::View> outputs, const Shape&);

  /// The plain number that is input i of the request's program; of several programs, counted through.
  const Number& number(int input) const;

  std::string key;
  std::vector<Storage*> storages;
  bool checks = false;  // indices: the backend's flags come last among its storages
  bool usable = true;   // not where a result is not asked for

 private:
  void add(const detail::View& view);
  void add_result(const detail::View& view);
  /// Where a storage stands in the list; the list's end if nowhere.
  std::size_t position_of(const Storage* storage);
  struct OperandList {
    int first;
    std::span<const detail::Operand> list;
  };
  std::vector<OperandList> operands_;
  std::vector<std::int32_t> places_;  // of a long list, by a hash of the pointer: positions in it, -1 where none
  int inputs_ = 0;                    // of the programs so far
};

/// The requests of one backend that were met before.
class PreparedRequests {
 public:
  /// Runs the request if it was met before. `choices`: also what changes whenever a choice is made anew.
  template <class R> bool run(GpuBackend& backend, const R& request, std::int64_t choices = 0) {
    RequestKey* const asked = begin(backend);
    if (!asked) return false;
    asked->write(request);
    if (choices) (*asked)(choices);
    return run(backend, request.op, *asked);
  }
  /// Remembers how the request of the last run() on this thread was carried out.
  void remember(std::unique_ptr<Prepared> prepared);
  void clear() {
    const std::lock_guard hold(lock_);
    known_.clear();
  }

 private:
  /// This thread's key, empty; null where nothing is to be remembered.
  RequestKey* begin(GpuBackend& backend);
  bool run(GpuBackend& backend, const char* op, RequestKey& asked);
  std::mutex lock_;
  std::unordered_map<std::string, std::unique_ptr<Prepared>> known_;
};

}  // namespace tern::detail_gpu
