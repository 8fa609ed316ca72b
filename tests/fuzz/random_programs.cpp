// The same programs from seeded random bytes, for machines without libFuzzer.
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "fuzz/program.hpp"

int main(int argc, char** argv) {
  const int programs = argc > 1 ? std::atoi(argv[1]) : 2000;
  std::mt19937 bytes(20240229);
  for (int i = 0; i < programs; ++i) {
    std::vector<std::uint8_t> data(20 + bytes() % 180);
    for (std::uint8_t& byte : data) byte = static_cast<std::uint8_t>(bytes());
    tern::fuzz::run_program(data.data(), data.size());
  }
  std::printf("%d random programs agree with the naive interpreter\n", programs);
}
