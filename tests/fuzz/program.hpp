// Random programs of operations and views, run by tern and by the naive interpreter side by side; operations with an
// entry (src/ops/entry.hpp) against its reference, and formulas of operands in any layout against those in order.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tern::fuzz {
/// Reads the bytes as a program, runs it both ways, and aborts with a description where the results differ. Every byte
/// string is a valid program.
void run_program(const std::uint8_t* data, std::size_t size);
}  // namespace tern::fuzz
