// What a run prints and writes.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "harness.hpp"

namespace bench {

struct Machine {
  std::string processor;
  std::string device;  // what tern runs on, where that is not the processor
  int threads = 1, processors = 1;
  Clock clock = Clock::wall;
  double load = 0, load_after = 0;               // of the last minute, when the run began and when it ended
  std::map<std::string, double> roofs;           // flop/s or bytes/s
  std::map<std::string, std::string> libraries;  // version of each
};
/// Processes that ran or waited to run, over the last minute.
double system_load();
/// This machine; roofs and libraries are left empty.
Machine this_machine(int threads, Clock clock);

void print(const Machine& machine);
void print(const Result& result, const Machine& machine);
/// Workloads in which a peer was faster than tern, the slowest first.
void print_slower(const std::vector<Result>& results);
/// False where the file cannot be written.
bool write_json(const std::string& file, const std::string& command, const Machine& machine,
                const std::vector<Result>& results);

}  // namespace bench
