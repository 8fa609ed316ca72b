#include "harness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <exception>
#include <thread>

namespace bench {
namespace {

/// After so many rounds a workload ends when it has taken far longer than its slices say (a call of seconds).
constexpr int kFewestRounds = 3;

double seconds_of(const Contender& contender, long calls, Clock clock) {
  const double start = now(clock);
  for (long i = 0; i < calls; ++i) contender.run();
  if (contender.wait) contender.wait();
  return (now(clock) - start) / static_cast<double>(calls);
}

/// How many calls fill the slice.
long calls_for(const Contender& contender, double slice, Clock clock) {
  seconds_of(contender, 1, clock);
  long calls = 1;
  for (;;) {
    const double each = seconds_of(contender, calls, clock);
    if (each * static_cast<double>(calls) >= slice / 8) return std::max(1L, static_cast<long>(std::ceil(slice / each)));
    calls *= 4;
  }
}

/// Largest difference to what is expected, relative to the largest expected value; infinite where counts or NaNs
/// differ.
double worst_error(const std::vector<double>& got, const std::vector<double>& expected) {
  if (got.size() != expected.size()) return INFINITY;
  double largest = 0, worst = 0;
  for (const double e : expected) largest = std::max(largest, std::abs(e));
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double difference = std::abs(got[i] - expected[i]);
    if (!(difference <= worst)) worst = std::isnan(difference) ? INFINITY : difference;
  }
  return largest > 0 ? worst / largest : worst;
}

/// Drops contenders that throw or whose values are wrong.
std::vector<Contender> checked(std::vector<Contender> all, const std::vector<double>& expected, double tolerance,
                               std::vector<std::string>& notes) {
  std::vector<Contender> good;
  for (Contender& contender : all) {
    try {
      const bool compared = contender.result && !expected.empty();
      const double error = compared ? worst_error(contender.result(), expected) : 0;
      if (error <= tolerance) good.push_back(std::move(contender));
      else
        notes.push_back(fmt::format("{} left out: its values are off by {:.1e}, allowed are {:.1e}", contender.library,
                                    error, tolerance));
    } catch (const std::exception& e) {
      notes.push_back(fmt::format("{} left out: {}", contender.library, e.what()));
    }
  }
  return good;
}

void run_rounds(const std::vector<Contender>& contenders, const Settings& settings, std::vector<Figures>& figures) {
  std::vector<long> calls;
  for (const Contender& c : contenders) calls.push_back(c.measure ? 0 : calls_for(c, settings.slice, settings.clock));
  const double budget = 3 * settings.rounds * settings.slice * static_cast<double>(contenders.size());
  const double start = now(Clock::wall);
  double rest = contenders.back().rest;
  for (int round = 0; round < settings.rounds; ++round) {
    if (round >= kFewestRounds && now(Clock::wall) - start > budget) return;
    for (std::size_t turn = 0; turn < contenders.size(); ++turn) {
      const std::size_t i = round % 2 ? contenders.size() - 1 - turn : turn;  // nobody always follows the same one
      const Contender& c = contenders[i];
      if (contenders.size() > 1) std::this_thread::sleep_for(std::chrono::duration<double>(rest));
      rest = c.rest;
      if (c.measure) {
        figures[i].rounds.push_back(c.measure(settings.slice));
        continue;
      }
      seconds_of(c, std::max(1L, calls[i] / 10), settings.clock);  // wakes its threads and fills the caches
      figures[i].rounds.push_back(seconds_of(c, calls[i], settings.clock));
    }
  }
}

Ratio ratio_to(const Figures& other, const Figures& tern) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < other.rounds.size(); ++i) ratios.push_back(other.rounds[i] / tern.rounds[i]);
  return {other.library, quantile(ratios, 0.5), quantile(ratios, 0.25), quantile(ratios, 0.75)};
}

void compare(Result& result) {
  if (result.figures.empty() || result.figures[0].library != "tern") return;
  const Figures* best = nullptr;
  for (const Figures& f : result.figures) {
    if (f.part) result.parts.push_back(ratio_to(f, result.figures[0]));
    else if (f.library != "tern" && (!best || f.median < best->median)) best = &f;
  }
  if (best) result.best_peer = ratio_to(*best, result.figures[0]);
}

}  // namespace

double now(Clock clock) {
  if (clock == Clock::wall)
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

std::string name_of(Unit unit) { return unit == Unit::flops ? "GFLOP/s" : unit == Unit::bytes ? "GB/s" : "ns"; }

double quantile(std::vector<double> values, double q) {
  std::ranges::sort(values);
  const double position = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const auto above = std::min(below + 1, values.size() - 1);
  return values[below] + (position - static_cast<double>(below)) * (values[above] - values[below]);
}

Result measure(const Workload& workload, const Settings& settings, const MoreContenders& more) {
  Result result;
  result.workload = &workload;
  try {
    Prepared prepared = workload.prepare();
    if (more) std::ranges::move(more(workload, result.notes), std::back_inserter(prepared.contenders));
    const auto contenders =
        checked(std::move(prepared.contenders), prepared.expected, workload.tolerance, result.notes);
    if (contenders.empty()) return result;
    for (const Contender& c : contenders) result.figures.push_back({.library = c.library, .part = c.part});
    run_rounds(contenders, settings, result.figures);
    if (const auto rounds = static_cast<int>(result.figures[0].rounds.size()); rounds < settings.rounds)
      result.notes.push_back(fmt::format("only {} rounds, for they take long", rounds));
  } catch (const std::exception& e) {
    result.figures.clear();
    result.notes.push_back(fmt::format("not measured: {}", e.what()));
    return result;
  }
  for (Figures& f : result.figures) {
    f.median = quantile(f.rounds, 0.5);
    f.fastest = quantile(f.rounds, 0);
    f.lower_quartile = quantile(f.rounds, 0.25);
    f.upper_quartile = quantile(f.rounds, 0.75);
  }
  compare(result);
  return result;
}

}  // namespace bench
