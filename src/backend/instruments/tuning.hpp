// Choices made by measurement, for all backends: a backend declares what it can choose among, and asks at each call.
//
// A choice is named by the class of the device it is for and a key, and takes one of a few integers. What is in force
// comes from the tuning file, else the shipped table (tuned.inc), else the default. While tern measures (tune(),
// TERN_TUNE=1), calls take the candidates in turn: one choice at a time varies, and candidates are compared
// on calls that are alike.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "process/fork.hpp"

namespace tern::detail {

/// What a tuning file says of a choice: its value, and what the candidates took of the default's time where that is
/// known.
struct Tuned {
  std::int64_t value = 0;
  std::vector<double> times = {};
  bool operator==(const Tuned&) const = default;
};

class Choice {
 public:
  /// `device_class` says which devices share measurements ("cpu AVX3"); neither text has tabs or ends of lines. To be
  /// made once and never destroyed. The default comes first among the candidates.
  Choice(std::string device_class, std::string key, std::vector<std::int64_t> candidates);
  Choice(const Choice&) = delete;
  Choice& operator=(const Choice&) = delete;

  /// The value for the call that this thread is making; to be asked on the thread that makes the call.
  std::int64_t operator()() const { return watchers.load(std::memory_order_relaxed) ? watched() : value(); }
  std::int64_t value() const { return value_.load(std::memory_order_relaxed); }
  /// `source`: a literal that says where the value comes from. `times`: what the candidates took, in any unit, where
  /// that was measured.
  void set(std::int64_t value, const char* source, const std::vector<double>& times = {});
  bool has(std::int64_t value) const;
  Tuned tuned() const;
  /// "gemm.tile_rows = 84 (default; else 56, 112)"; where times are known, of the one in force:
  /// "gemm.tile_rows = 84 (tuning file; else 56 in 1.042 of its time, 112 in 1.013)".
  std::string text() const;

  const std::string device_class, key;
  const std::vector<std::int64_t> candidates;

  /// How many traces and measurements are going on: then choices are reported or varied.
  static inline std::atomic<int> watchers{0};
  /// How often a value was set: what was decided before may be decided otherwise now.
  static inline std::atomic<std::int64_t> changes{0};

 private:
  std::int64_t watched() const;
  std::atomic<std::int64_t> value_;
  std::atomic<const char*> source_{"default"};
  mutable ForkSafe<std::mutex> times_lock_;
  std::vector<double> times_;  // of the candidates
};

/// The choice of this name, made when it is first asked for, with the candidates of that call.
const Choice& choice_of(std::string_view device_class, std::string_view key,
                        std::initializer_list<std::int64_t> candidates);
/// " 2^13 2^12": for keys under which sizes are alike that lie between the same powers of two.
std::string size_classes(std::span<const std::int64_t> sizes);
/// All choices that calls have asked for so far.
std::vector<Choice*> choices();

/// Whether the calls of this thread are measured.
bool measuring();
/// Runs a call, waits for it, and counts its time for the choice that varied in it. `like` is the same for calls that
/// may be compared.
void measure(Backend& backend, const std::string& like, const std::function<void()>& call);

/// The values of a tuning file, by device class and key; nothing where the text is damaged.
using TunedValues = std::map<std::pair<std::string, std::string>, Tuned>;
std::optional<TunedValues> parse_tuned(std::string_view text);
std::string to_text(const TunedValues& values);

}  // namespace tern::detail
