// Indices that kernels found out of range: a launch that checks gets a number, the kernel notes the first offender's,
// and the error says which it was when the device is next waited for.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "backend/instruments/trace.hpp"
#include "tern/error.hpp"

namespace tern::detail_gpu {

class IndexChecks {
 public:
  /// The number of a launch, never 0.
  std::uint32_t add(const char* op, std::int64_t size) {
    pending_ = true;
    checked_[++last_] = {op, size, detail::IndexScope::text()};
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
  Error error(std::uint32_t number, std::int32_t index) const {
    const auto found = checked_.find(number);
    const Checked c = found == checked_.end() ? Checked{"a kernel", 0, ""} : found->second;
    return Error(ErrorKind::index, c.op + ": index " + std::to_string(index) + " is out of range for size " +
                                       std::to_string(c.size) + c.place + " (found when the device was waited for)");
  }

 private:
  struct Checked {
    std::string op;
    std::int64_t size;
    std::string place;
    bool kept = false;
  };
  std::map<std::uint32_t, Checked> checked_;
  std::uint32_t last_ = 0;
  bool pending_ = false;
};

}  // namespace tern::detail_gpu
