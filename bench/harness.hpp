// The registry of workloads, and the measurement: every library in turn, round after round, within one run.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {

/// What a workload's speed is counted in: GFLOP/s, GB/s, or nanoseconds a call.
enum class Unit { flops, bytes, calls };
std::string name_of(Unit unit);

/// One library's way of doing a workload.
struct Contender {
  std::string library;
  std::function<void()> run;                    // one call; its result is there when it returns, or after wait
  std::function<std::vector<double>()> result;  // calls once and samples the result; empty where nothing is compared
  double rest = 0.01;  // seconds after which its idle threads no longer spin: OpenMP's do for 8 to 9 ms
  std::function<void()> wait = {};              // once after many calls: until all are done
  std::function<double(double)> measure = {};   // instead of run: seconds a call, measured elsewhere for so long
  bool part = false;  // not the whole work but a part of it, to be held against (a product without its epilogue)
};

struct Prepared {
  std::vector<Contender> contenders;  // tern first
  std::vector<double> expected;       // samples of the right result, in f64
};

struct Workload {
  std::string name;  // "matmul/f32/1024x1024x1024"
  Unit unit = Unit::flops;
  double work = 0;       // flops or bytes a call
  std::string roof;      // which of the machine's limits it is held against; empty: none (it stays in cache)
  bool quick = false;    // part of --quick
  double tolerance = 0;  // relative to the largest expected sample
  std::function<Prepared()> prepare;
};
using Workloads = std::vector<Workload>;

/// Wall time, or the processor time of the whole process: with one thread that is right on a busy machine, too.
enum class Clock { wall, processor };
double now(Clock clock);

struct Settings {
  int rounds = 9;
  double slice = 0.15;  // seconds a library gets in each round
  Clock clock = Clock::wall;
};

/// One library's figures. Seconds are those of a call.
struct Figures {
  std::string library;
  bool part = false;
  std::vector<double> rounds = {};
  double median = 0, fastest = 0, lower_quartile = 0, upper_quartile = 0;
};
/// Time of a library over tern's, round by round: the median of that and its quartiles.
struct Ratio {
  std::string library;
  double median = 0, low = 0, high = 0;
};
struct Result {
  const Workload* workload = nullptr;
  std::vector<Figures> figures;    // tern first
  std::vector<std::string> notes;  // what was left out, and why
  std::optional<Ratio> best_peer;
  std::vector<Ratio> parts;  // against those that did a part of the work
};

/// Other ways to do a workload than the ones it prepares itself (a process with another language's library, say).
using MoreContenders = std::function<std::vector<Contender>(const Workload&, std::vector<std::string>& notes)>;

/// Checks every library's values, then measures. A library that fails or computes something else is left out.
Result measure(const Workload& workload, const Settings& settings, const MoreContenders& more);

double quantile(std::vector<double> values, double q);

}  // namespace bench
