// The libFuzzer target: clang++ -fsanitize=fuzzer. Run it with -max_total_time=60.
#include "fuzz/program.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, unsigned long size) {
  tern::fuzz::run_program(data, size);
  return 0;
}
