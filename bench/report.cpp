#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

namespace bench {
namespace {

std::string shown_time(double seconds) {
  if (seconds >= 1e-3) return fmt::format("{:.3f} ms", seconds * 1e3);
  if (seconds >= 1e-6) return fmt::format("{:.2f} µs", seconds * 1e6);
  return fmt::format("{:.0f} ns", seconds * 1e9);
}

const char* clock_name(Clock clock) { return clock == Clock::wall ? "wall" : "processor"; }

double rate(const Workload& workload, double seconds) { return workload.work / seconds; }

/// The roof's rate: as measured in turn with the workload, where it was, else when the run began; 0 where there is
/// none.
double roof_of(const Result& result, const Machine& machine) {
  for (const Figures& f : result.figures)
    if (f.part && f.library == result.workload->roof) return rate(*result.workload, f.median);
  const auto roof = machine.roofs.find(result.workload->roof);
  return roof == machine.roofs.end() ? 0 : roof->second;
}

std::string share_of_roof(const Result& result, const Machine& machine, double seconds) {
  const double roof = roof_of(result, machine);
  return roof > 0 ? fmt::format("{:.0f} %", 100 * rate(*result.workload, seconds) / roof) : "";
}

/// In half the width between the quartiles, relative to the median.
double spread(const Figures& f) { return 50 * (f.upper_quartile - f.lower_quartile) / f.median; }

std::string utc_date() {
  const std::time_t time = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&time));
  return text;
}

nlohmann::json as_json(const Ratio& ratio) {
  return {{"library", ratio.library}, {"ratio", ratio.median}, {"quartiles", {ratio.low, ratio.high}}};
}

nlohmann::json as_json(const Result& result, const Machine& machine) {
  const Workload& w = *result.workload;
  nlohmann::json entry{{"workload", w.name},
                       {"unit", name_of(w.unit)},
                       {"work", w.work},
                       {"roof", w.roof},
                       {"quick", w.quick},
                       {"notes", result.notes},
                       {"libraries", nlohmann::json::array()}};
  for (const Figures& f : result.figures) {
    nlohmann::json figures{{"library", f.library},
                           {"part", f.part},
                           {"median", f.median},
                           {"fastest", f.fastest},
                           {"quartiles", {f.lower_quartile, f.upper_quartile}},
                           {"rounds", f.rounds}};
    if (w.unit != Unit::calls) figures["rate"] = rate(w, f.median) * 1e-9;
    if (const double roof = roof_of(result, machine); roof > 0) figures["share_of_roof"] = rate(w, f.median) / roof;
    entry["libraries"].push_back(std::move(figures));
  }
  if (result.best_peer) entry["best_peer"] = as_json(*result.best_peer);
  for (const Ratio& part : result.parts) entry["parts"].push_back(as_json(part));
  return entry;
}

}  // namespace

Machine this_machine(int threads, Clock clock) {
  Machine machine{
      .processor = "unknown processor", .device = "", .threads = threads, .clock = clock, .roofs = {}, .libraries = {}};
  machine.processors = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) {
      machine.processor = line.substr(line.find(':') + 2);
      break;
    }
  machine.load = system_load();
  return machine;
}

double system_load() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

void print(const Machine& machine) {
  if (!machine.device.empty()) fmt::print("{}; ", machine.device);
  fmt::print("{}, {} processors, load {:.1f}; {} threads, {} time\n", machine.processor, machine.processors,
             machine.load, machine.threads, clock_name(machine.clock));
  if (machine.device.empty() && machine.clock == Clock::wall && machine.load > 0.5 * machine.processors)
    fmt::print(
        "the machine is busy: libraries that wait for one another's threads suffer most; --one-thread is fair then\n");
  for (const auto& [library, version] : machine.libraries) fmt::print("  {} {}\n", library, version);
  for (const auto& [roof, value] : machine.roofs)
    fmt::print("  roof {:5} {:8.1f} {}\n", roof, value * 1e-9, roof == "triad" || roof == "copy" ? "GB/s" : "GFLOP/s");
  fmt::print("\n{:<44} {:<17} {:>11} {:>8} {:>16} {:>7}\n", "workload", "library", "median", "spread", "rate",
             "of roof");
}

void print(const Result& result, const Machine& machine) {
  const Workload& w = *result.workload;
  std::string name = w.name;
  for (const Figures& f : result.figures) {
    const std::string speed =
        w.unit == Unit::calls ? "" : fmt::format("{:.1f} {}", rate(w, f.median) * 1e-9, name_of(w.unit));
    fmt::print("{:<44} {:<17} {:>11} {:>6.1f} % {:>16} {:>7}", name, f.library, shown_time(f.median), spread(f), speed,
               share_of_roof(result, machine, f.median));
    const auto print_ratio = [](const Ratio& r) {
      fmt::print("  {:.2f} of {} ({:.2f}..{:.2f})", r.median, r.library, r.low, r.high);
    };
    if (f.library == "tern" && result.best_peer) print_ratio(*result.best_peer);
    if (f.library == "tern") std::ranges::for_each(result.parts, print_ratio);
    fmt::print("\n");
    name.clear();
  }
  if (result.figures.empty()) fmt::print("{}\n", name);
  for (const std::string& note : result.notes) fmt::print("  note: {}\n", note);
  std::fflush(stdout);
}

void print_slower(const std::vector<Result>& results) {
  std::vector<const Result*> slower;
  for (const Result& r : results)
    if (r.best_peer && r.best_peer->median < 1) slower.push_back(&r);
  std::ranges::sort(slower, {}, [](const Result* r) { return r->best_peer->median; });
  if (!slower.empty()) fmt::print("\nslower than the best peer (its time over tern's):\n");
  for (const Result* r : slower)
    fmt::print("  {:.2f}  {:<44} {}\n", r->best_peer->median, r->workload->name, r->best_peer->library);
}

bool write_json(const std::string& file, const std::string& command, const Machine& machine,
                const std::vector<Result>& results) {
  nlohmann::json document{{"date", utc_date()}, {"command", command}, {"results", nlohmann::json::array()}};
  document["machine"] = {{"processor", machine.processor},
                         {"device", machine.device},
                         {"processors", machine.processors},
                         {"threads", machine.threads},
                         {"clock", clock_name(machine.clock)},
                         {"load", {machine.load, machine.load_after}},
                         {"roofs", machine.roofs},
                         {"libraries", machine.libraries}};
  for (const Result& r : results) document["results"].push_back(as_json(r, machine));
  std::ofstream out(file);
  out << document.dump(1) << '\n';
  out.close();
  return !out.fail();
}

}  // namespace bench
