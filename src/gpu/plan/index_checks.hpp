// What kernels found wrong: an index out of range, or what a primitive's kernels note (Launch::noted_error). A launch
// that checks gets a number, the kernel notes the first offender's, and the error says which it was when the device is
// next waited for.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "backend/instruments/trace.hpp"
#include "gpu/plan/kernel.hpp"
#include "tern/error.hpp"

namespace tern::detail_gpu {

/// A launch that checks: all that an error says besides what the kernel noted.
struct Checked {
  std::string op;
  std::int64_t size = 0;
  Error (*noted_error)(const char*, std::int64_t, std::uint32_t, detail::PrimitiveId) = nullptr;
  detail::PrimitiveId by = detail::PrimitiveId::count;
  std::string place;
  bool kept = false;

  Checked() = default;
  explicit Checked(const Launch& launch)
      : op(launch.op),
        size(launch.checked_size),
        noted_error(launch.noted_error),
        by(launch.checks),
        place(detail::IndexScope::text()) {}
  Error error(std::uint32_t noted) const {
    constexpr const char* kWhen = " (found when the device was waited for)";
    if (!noted_error)
      return Error(ErrorKind::index, op + ": index " + std::to_string(static_cast<std::int32_t>(noted)) +
                                         " is out of range for size " + std::to_string(size) + place + kWhen);
    const Error found = noted_error(op.c_str(), size, noted, by);
    return Error(found.kind(), found.what() + (place + kWhen));
  }
};

class IndexChecks {
 public:
  /// The number of a launch, never 0.
  std::uint32_t add(const Launch& launch) {
    pending_ = true;
    checked_[++last_] = Checked(launch);
    return last_;
  }
  /// Whether a launch was made since the last forget().
  bool pending() const { return pending_; }
  /// Launches that run again and again (of a recording) are remembered for good.
  std::uint32_t last() const { return last_; }
  void keep_since(std::uint32_t number) {
    for (auto it = checked_.upper_bound(number); it != checked_.end(); ++it) it->second.kept = true;
  }
  void run_again() { pending_ = true; }
  void forget() {
    pending_ = false;
    std::erase_if(checked_, [](const auto& entry) { return !entry.second.kept; });
  }
  Error error(std::uint32_t number, std::uint32_t noted) const {
    const auto found = checked_.find(number);
    if (found != checked_.end()) return found->second.error(noted);
    Checked unknown;
    unknown.op = "a kernel";
    return unknown.error(noted);
  }

 private:
  std::map<std::uint32_t, Checked> checked_;
  std::uint32_t last_ = 0;
  bool pending_ = false;
};

}  // namespace tern::detail_gpu
