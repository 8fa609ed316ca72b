#include "gpu/plan/prepared.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "backend/instruments/trace.hpp"
#include "gpu/gpu_backend.hpp"
#include "gpu/plan/plan.hpp"
#include "process/of_thread.hpp"

namespace tern::detail_gpu {

using detail::Operand;
using detail::View;

namespace {

constexpr std::size_t kMostBytes = 64 << 20;  // of temporaries, which live as long as the request while it is prepared
constexpr std::size_t kMostKnown = 16384;     // requests; a program that makes new shapes all the time forgets the old

/// Of a thread, not an argument: launches are queued, temporaries made and libraries called in all kernels' plans and
/// in requests within requests, behind a dozen functions that need not know whether what they do is remembered.
thread_local Preparing* preparing = nullptr;
/// The key of the last request of each thread.
RequestKey& last() { return detail::of_thread<RequestKey>(); }

}  // namespace

// ---- keys ----

namespace {
/// Up to so many storages are looked through one by one. A concatenation of 256 took 4 of its 29 µs for that.
constexpr std::size_t kFewStorages = 16;
/// Where to begin to look for a storage among a power of two of places.
std::size_t hash_slot(const Storage* storage, std::size_t places) {
  return static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(storage) * 0x9e3779b97f4a7c15ull >> 32) &
         (places - 1);
}
}  // namespace

std::size_t RequestKey::position_of(const Storage* storage) {
  if (storages.size() <= kFewStorages)
    return static_cast<std::size_t>(std::find(storages.begin(), storages.end(), storage) - storages.begin());
  if (places_.size() < 2 * (storages.size() + 1)) {  // open addressing, at most half full
    places_.assign(std::bit_ceil(4 * storages.size()), -1);
    for (std::size_t i = 0; i < storages.size(); ++i) {
      std::size_t at = hash_slot(storages[i], places_.size());
      while (places_[at] >= 0) at = (at + 1) & (places_.size() - 1);
      places_[at] = static_cast<std::int32_t>(i);
    }
  }
  std::size_t at = hash_slot(storage, places_.size());
  for (; places_[at] >= 0; at = (at + 1) & (places_.size() - 1))
    if (storages[static_cast<std::size_t>(places_[at])] == storage) return static_cast<std::size_t>(places_[at]);
  places_[at] = static_cast<std::int32_t>(storages.size());  // where it is put next
  return storages.size();
}

void RequestKey::add(const View& view) {
  const std::size_t at = position_of(view.storage);
  (*this)(static_cast<std::int32_t>(at));
  if (at == storages.size()) {
    storages.push_back(view.storage);
    (*this)(view.storage->bytes()), (*this)(view.storage->owned());
  }
  (*this)(view.offset);
  key.append(reinterpret_cast<const char*>(view.strides.begin()), view.strides.size() * sizeof(std::int64_t));
}

void RequestKey::add_result(const View& view) {
  if (view.storage) add(view);
  else usable = false;
}

void RequestKey::program(const detail::Program&, int first, std::span<const Operand> inputs,
                         std::span<const View> outputs, const Shape&) {
  for (const Operand& o : inputs) {
    if (o.view.storage) add(o.view), (*this)(o.gather != nullptr);
    if (!o.gather) continue;
    add(o.gather->table);
    (*this)(o.gather->step), (*this)(o.gather->size), (*this)(o.gather->wraps);
    checks = true;
  }
  for (const View& v : outputs) add_result(v);
  operands_.push_back({inputs_ + first, inputs});
  inputs_ += first + static_cast<int>(inputs.size());
}

const Number& RequestKey::number(int input) const {
  auto of = operands_.begin();
  while (input >= of->first + static_cast<int>(of->list.size())) ++of;
  return of->list[static_cast<std::size_t>(input - of->first)].number;
}

// ---- planning ----

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

void Preparing::called(std::span<Storage* const> used, Prepared::LibraryCall call) {
  if (usable_) add({{}, std::move(call), {}}, used);
}

void Preparing::add(Prepared::QueuedStep step, std::span<Storage* const> used) {
  for (const Storage* storage : used) {
    const auto at = std::find(storages_.begin(), storages_.end(), storage);
    const auto temporary = std::find_if(temporaries_.begin(), temporaries_.end(),
                                        [&](const auto& other) { return other.get() == storage; });
    if (at != storages_.end()) step.storages.push_back(static_cast<int>(at - storages_.begin()));
    else if (temporary != temporaries_.end())
      step.storages.push_back(~static_cast<int>(temporary - temporaries_.begin()));
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

// ---- requests met before ----

RequestKey* PreparedRequests::begin(GpuBackend& backend) {
  backend.require_process();
  RequestKey& asked = last();
  asked.clear();
  return detail::tracing() ? nullptr : &asked;  // a trace says what was planned and why
}

bool PreparedRequests::run(GpuBackend& backend, const char* op, RequestKey& asked) {
  if (!asked.usable) return asked.key.clear(), false;
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
  for (Prepared::QueuedStep& step : found->second->steps) {
    if (step.call) {
      std::vector<Storage*> used;
      for (const int place : step.storages) used.push_back(storage_at(place));
      step.call(used);
      continue;
    }
    auto place = step.storages.begin();
    for (Binding& b : step.launch.bindings) b.storage = storage_at(*place++);
    for (BoxMap& m : step.launch.maps) m.storage = storage_at(*place++);
    for (const NumberParam& n : step.launch.numbers) write_number(step.launch.params, n, asked.number(n.input));
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
