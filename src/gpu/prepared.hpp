// Requests met before: the launches they became, so that planning is done once for a shape and not for every call. (A
// plan takes 4 to 8 microseconds, mostly in many small allocations; a prepared one takes under one.)
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "gpu/kernel.hpp"

namespace tern::detail_gpu {

class GpuBackend;

/// The launches of one request and how to run them for another with the same key.
struct Prepared {
  /// What is queued by other means than a launch: a library's call on these storages.
  using Call = std::function<void(std::span<Storage* const> storages)>;
  struct Step {
    Launch launch;
    Call call;  // in place of the launch, where there is one
    std::vector<int>
        storages;  // of each binding, then each map: the place among the request's storages; ~i for temporary i
  };
  std::vector<Step> steps;
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
  void called(std::span<Storage* const> storages, Prepared::Call call);
  void allocated(const std::shared_ptr<Storage>& storage);
  /// Null where the launches cannot be run again by this means: they use memory of their own or very
  /// much.
  std::unique_ptr<Prepared> result() { return usable_ ? std::move(made_) : nullptr; }

 private:
  void add(Prepared::Step step, std::span<Storage* const> storages);
  std::vector<const Storage*> storages_;
  std::vector<std::shared_ptr<Storage>> temporaries_;  // kept, so that no address stands for two
  std::unique_ptr<Prepared> made_ = std::make_unique<Prepared>();
  std::size_t bytes_ = 0;  // of temporaries
  bool usable_ = true;
  int first_input_ = 0;
  Preparing* outer_;
};

/// The requests of one backend by what their plans depend on: program, sizes, layouts, and which operands share memory;
/// not plain numbers and not the memory itself.
class PreparedRequests {
 public:
  /// Runs the request if it was met before.
  bool run(GpuBackend& backend, const detail::FusedRequest& request);
  bool run(GpuBackend& backend, std::span<const detail::FusedRequest> requests);
  bool run(GpuBackend& backend, const detail::GemmRequest& request);
  /// Remembers how the request of the last run() on this thread was carried out.
  void remember(std::unique_ptr<Prepared> prepared);
  void clear() {
    const std::lock_guard hold(lock_);
    known_.clear();
  }

 private:
  /// number(i): the plain number that is input i of the request's program; of several, counted through.
  template <class Request, class GetNumber>
  bool run(GpuBackend& backend, const char* op, const Request& request, const GetNumber& number);
  std::mutex lock_;
  std::unordered_map<std::string, std::unique_ptr<Prepared>> known_;
};

}  // namespace tern::detail_gpu
