// The calls that bench/beside_numpy.py takes turns with, by their names, and how they are asked for: "call count" lines
// are answered with the seconds that each of so many calls took. With --wall those of the clock, else those of this
// program's processors. A line "calls" is answered with the names.
#pragma once
#include <ctime>
#include <functional>
#include <iostream>
#include <map>
#include <string>

#include "tern/io.hpp"

namespace bench {

using Calls = std::map<std::string, std::function<void()>>;

inline int answer(int count, char** arguments, Calls (*calls)(const tern::io::Named&)) {
  const bool wall = count == 3 && std::string(arguments[2]) == "--wall";
  if (count != 2 && !wall) {
    std::cerr << "Usage: " << arguments[0] << " ARRAYS.npz [--wall], as bench/beside_numpy.py runs it\n";
    return 2;
  }
  const auto seconds = [&] {
    timespec now{};
    clock_gettime(wall ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  };
  const Calls all = calls(tern::io::load_npz(arguments[1]));
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "calls") {
      for (const auto& [name, call] : all) std::cout << name << '\t';
      std::cout << std::endl;
      continue;
    }
    const auto space = line.rfind(' ');
    const auto& call = all.at(line.substr(0, space));
    const int times = std::stoi(line.substr(space + 1));
    const double before = seconds();
    for (int i = 0; i < times; ++i) call();
    std::cout << (seconds() - before) / times << std::endl;
  }
  return 0;
}

}  // namespace bench
