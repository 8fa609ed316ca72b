// No compiled loops: in the tool that prints them, and where they are not built (TERN_COMPILED_LOOPS).
#include "cpu/tape/loops.hpp"

namespace tern::detail_cpu {
LoopKeys loop_keys() { return {nullptr, 0}; }
void fill_loops(const char*, LoopFunctions*) {}
}  // namespace tern::detail_cpu
