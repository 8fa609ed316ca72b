#include "gpu/prepared.hpp"

#include <algorithm>
#include <bit>

#include "backend/trace.hpp"
#include "backend/tuning.hpp"
#include "gpu/gpu_backend.hpp"
#include "gpu/plan.hpp"
#include "process/of_thread.hpp"

namespace tern::detail_gpu {

using detail::FusedRequest;
using detail::GemmRequest;
using detail::Operand;
using detail::View;

namespace {

constexpr std::size_t kMostBytes = 64 << 20;  // of temporaries, which live as long as the request while it is prepared
constexpr std::size_t kMostKnown = 16384;  // requests; a program that makes new shapes all the time forgets the old

thread_local Preparing* preparing = nullptr;
/// Of each thread: the key of its last request, and its storages in order.
struct Last {
  std::string key;
  std::vector<Storage*> storages;
  bool checks = false;  // indices: the backend's flags come last among its storages

  void clear() { key.clear(), storages.clear(), checks = false; }

  template <class T> void add(T value) {
    const auto* bytes = reinterpret_cast<const char*>(&value);
    key.append(bytes, sizeof value);
  }
  void add(const View& view) {
    const auto at = std::find(storages.begin(), storages.end(), view.storage);
    add(static_cast<std::int32_t>(at - storages.begin()));
    if (at == storages.end()) storages.push_back(view.storage), add(view.storage->bytes()), add(view.storage->owned());
    add(view.offset);
    key.append(reinterpret_cast<const char*>(view.strides.begin()), view.strides.size() * sizeof(std::int64_t));
  }
  void add(const Shape& shape) {
    add(static_cast<std::int32_t>(shape.rank()));
    key.append(reinterpret_cast<const char*>(shape.begin()), shape.size() * sizeof(std::int64_t));
  }
  void add(const detail::Gather& gather) { add(gather.table), add(gather.step), add(gather.size), add(gather.wraps); }
  bool add(std::span<const Operand> inputs, std::span<const View> outputs) {
    for (const Operand& o : inputs) {
      if (o.view.storage) add(o.view), add(o.gather != nullptr);
      if (o.gather) add(*o.gather), checks = true;
    }
    for (const View& v : outputs) {
      if (!v.storage) return false;
      add(v);
    }
    return true;
  }

  /// False for requests that are not kept: those whose outputs are partly asked for.
  bool write(const FusedRequest& r) {
    add('f'), add(r.program->serial), add(r.reduced), add(r.space);
    if (!add(r.inputs, r.outputs)) return false;
    key += r.op;
    return true;
  }
  bool write(std::span<const FusedRequest> requests) {
    add('a');
    return std::ranges::all_of(requests, [this](const FusedRequest& r) { return write(r); });
  }
  /// Nor products whose choices are being measured, or of memory that is not the device's own: its address decides
  /// more than whether there are vectors.
  bool write(const GemmRequest& r) {
    if (detail::Choice::watchers.load(std::memory_order_relaxed) != 0) return false;
    add('g'), add(r.epilogue->serial), add(r.m), add(r.n), add(r.k), add(r.contracted), add(r.batch);
    add(detail::Choice::changes.load(std::memory_order_acquire));
    add(r.a.dtype), add(r.b.dtype);  // the others' are the program's
    add(r.a), add(r.b);
    if (!add(r.inputs, r.outputs)) return false;
    key += r.op;
    return std::all_of(storages.begin(), storages.end(), [](const Storage* s) { return s->owned(); });
  }
};
Last& last() { return detail::of_thread<Last>(); }

}  // namespace

Preparing::Preparing() : outer_(preparing) {
  preparing = this;
  storages_.assign(last().storages.begin(), last().storages.end());
}
Preparing::~Preparing() { preparing = outer_; }
Preparing* Preparing::current() { return preparing; }

void Preparing::launched(const Launch& launch) {
  std::vector<Storage*> used;
  for (const Binding& b : launch.bindings) used.push_back(b.storage);
  for (const BoxMap& m : launch.maps) used.push_back(m.storage);
  if (!usable_) return;
  add({launch, {}, {}}, used);
  count_inputs(made_->steps.back().launch.numbers);
}

void Preparing::called(std::span<Storage* const> used, Prepared::Call call) {
  if (usable_) add({{}, std::move(call), {}}, used);
}

void Preparing::add(Prepared::Step step, std::span<Storage* const> used) {
  for (const Storage* storage : used) {
    const auto at = std::find(storages_.begin(), storages_.end(), storage);
    const auto temporary = std::find_if(temporaries_.begin(), temporaries_.end(),
                                        [&](const auto& other) { return other.get() == storage; });
    if (at != storages_.end()) step.storages.push_back(static_cast<int>(at - storages_.begin()));
    else if (temporary != temporaries_.end()) step.storages.push_back(~static_cast<int>(temporary - temporaries_.begin()));
    else usable_ = false;
  }
  made_->steps.push_back(std::move(step));
}

void Preparing::allocated(const std::shared_ptr<Storage>& storage) {
  bytes_ += storage->bytes();
  if (bytes_ > kMostBytes) usable_ = false, temporaries_.clear();
  if (!usable_) return;
  temporaries_.push_back(storage);
  made_->temporaries.push_back(storage->bytes());
}

bool PreparedRequests::run(GpuBackend& backend, const FusedRequest& r) {
  return run(backend, r.op, r, [&](int input) { return r.inputs[static_cast<std::size_t>(input)].number; });
}

bool PreparedRequests::run(GpuBackend& backend, std::span<const FusedRequest> requests) {
  return run(backend, requests[0].op, requests, [&](int input) {
    auto at = static_cast<std::size_t>(input);
    const FusedRequest* r = requests.data();
    for (; at >= r->inputs.size(); ++r) at -= r->inputs.size();
    return r->inputs[at].number;
  });
}

bool PreparedRequests::run(GpuBackend& backend, const GemmRequest& r) {
  // Input 0 of an epilogue is the sum.
  return run(backend, r.op, r, [&](int input) { return r.inputs[static_cast<std::size_t>(input) - 1].number; });
}

template <class Request, class GetNumber>
bool PreparedRequests::run(GpuBackend& backend, const char* op, const Request& request, const GetNumber& number) {
  backend.require_process();
  Last& asked = last();
  asked.clear();
  if (detail::tracing() || !asked.write(request)) {  // a trace says what was planned and why
    asked.key.clear();
    return false;
  }
  std::vector<Storage*>& storages = asked.storages;
  if (asked.checks) storages.push_back(&backend.index_flags());
  const std::lock_guard hold(lock_);
  const auto found = known_.find(asked.key);
  if (found == known_.end()) return false;
  std::vector<std::shared_ptr<Storage>> temporaries;
  for (const std::size_t bytes : found->second->temporaries)
    temporaries.push_back(std::make_shared<Storage>(backend, bytes));
  const auto storage_at = [&](int place) {
    return place >= 0 ? storages[static_cast<std::size_t>(place)] : temporaries[static_cast<std::size_t>(~place)].get();
  };
  for (Prepared::Step& step : found->second->steps) {
    if (step.call) {
      std::vector<Storage*> used;
      for (const int place : step.storages) used.push_back(storage_at(place));
      step.call(used);
      continue;
    }
    auto place = step.storages.begin();
    for (Binding& b : step.launch.bindings) b.storage = storage_at(*place++);
    for (BoxMap& m : step.launch.maps) m.storage = storage_at(*place++);
    for (const NumberParam& n : step.launch.numbers) write_number(step.launch.params, n, number(n.input));
    step.launch.op = op;
    backend.launch(step.launch, [] { return std::string(); });
  }
  return true;
}

void PreparedRequests::remember(std::unique_ptr<Prepared> prepared) {
  const std::string& key = last().key;
  if (!prepared || key.empty()) return;
  const std::lock_guard hold(lock_);
  if (known_.size() >= kMostKnown) known_.clear();
  known_[key] = std::move(prepared);
}

}  // namespace tern::detail_gpu
