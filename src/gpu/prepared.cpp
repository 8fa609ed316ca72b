#include "gpu/prepared.hpp"

#include <algorithm>
#include <bit>

#include "backend/trace.hpp"
#include "gpu/gpu_backend.hpp"
#include "gpu/plan.hpp"

namespace tern::detail_gpu {

using detail::FusedRequest;
using detail::Operand;
using detail::View;

namespace {

constexpr std::size_t kMostKnown = 16384;  // requests; a program that makes new shapes all the time forgets the old

thread_local Preparing* preparing = nullptr;
/// The key of the last request, and its storages in order.
thread_local std::string key;
thread_local std::vector<Storage*> storages;

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

/// False for requests that are not kept: those by index, whose launches are numbered.
bool write_key(const FusedRequest& r) {
  key.clear(), storages.clear();
  add(r.program->serial), add(r.reduced), add(static_cast<std::int32_t>(r.space.rank()));
  key.append(reinterpret_cast<const char*>(r.space.begin()), r.space.size() * sizeof(std::int64_t));
  for (const Operand& o : r.inputs) {
    if (o.gather) return false;
    if (o.view.storage) add(o.view);
  }
  for (const View& v : r.outputs) {
    if (!v.storage) return false;
    add(v);
  }
  key += r.op;
  return true;
}

}  // namespace

Preparing::Preparing() : outer_(preparing) {
  preparing = this;
  storages_.assign(storages.begin(), storages.end());
}
Preparing::~Preparing() { preparing = outer_; }
Preparing* Preparing::current() { return preparing; }

void Preparing::launched(const Launch& launch) {
  if (launch.check_slot >= 0) usable_ = false;
  if (!usable_) return;
  Prepared::Step step{launch, {}};
  for (const Binding& b : launch.bindings) {
    const auto at = std::find(storages_.begin(), storages_.end(), b.storage);
    const auto temporary = std::find_if(temporaries_.begin(), temporaries_.end(),
                                        [&](const auto& storage) { return storage.get() == b.storage; });
    if (at != storages_.end()) step.storages.push_back(static_cast<int>(at - storages_.begin()));
    else if (temporary != temporaries_.end()) step.storages.push_back(~static_cast<int>(temporary - temporaries_.begin()));
    else usable_ = false;
  }
  made_->steps.push_back(std::move(step));
}

void Preparing::allocated(const std::shared_ptr<Storage>& storage) {
  temporaries_.push_back(storage);
  made_->temporaries.push_back(storage->bytes());
}

bool PreparedRequests::run(GpuBackend& backend, const FusedRequest& r) {
  if (detail::tracing() || !write_key(r)) {  // a trace says what was planned and why
    key.clear();
    return false;
  }
  const std::lock_guard hold(lock_);
  const auto found = known_.find(key);
  if (found == known_.end()) return false;
  std::vector<std::shared_ptr<Storage>> temporaries;
  for (const std::size_t bytes : found->second->temporaries)
    temporaries.push_back(std::make_shared<Storage>(backend, bytes));
  for (Prepared::Step& step : found->second->steps) {
    for (std::size_t k = 0; k < step.storages.size(); ++k) {
      const int place = step.storages[k];
      step.launch.bindings[k].storage =
          place >= 0 ? storages[static_cast<std::size_t>(place)] : temporaries[static_cast<std::size_t>(~place)].get();
    }
    for (const NumberParam& n : step.launch.numbers)
      write_number(step.launch.params, n, r.inputs[static_cast<std::size_t>(n.input)].number);
    step.launch.op = r.op;
    backend.launch(step.launch, [] { return std::string(); });
  }
  return true;
}

void PreparedRequests::remember(std::unique_ptr<Prepared> prepared) {
  if (!prepared || key.empty()) return;
  const std::lock_guard hold(lock_);
  if (known_.size() >= kMostKnown) known_.clear();
  known_[key] = std::move(prepared);
}

}  // namespace tern::detail_gpu
