// The tapes of programs, compiled once for the process.
#pragma once
#include "cpu/tape/tape.hpp"
#include "tern/device.hpp"

namespace tern::detail_cpu {

/// Of a call, which is counted.
const Tape& tape_of(const char* op, const detail::Program& program);
void count_call();
/// Without a call.
const Tape& find_tape(const char* op, const detail::Program& program);
/// Of the tapes: how many there are, how often one was asked for, and the time they took to compile.
CacheStats tape_stats();

}  // namespace tern::detail_cpu
