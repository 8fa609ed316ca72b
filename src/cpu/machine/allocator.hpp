// Memory of the CPU backend: 64-byte aligned blocks that are kept for reuse, since freshly mapped memory makes every
// elementwise operation wait for page faults.
#pragma once
#include <cstddef>

#include "tern/device.hpp"

namespace tern::detail_cpu {
/// Throws out_of_memory, before touching memory, where the machine or its control group has too little.
void* allocate(std::size_t bytes);
void deallocate(void* data, std::size_t bytes) noexcept;
MemoryStats memory_stats();
/// Frees what is kept, here and by those who asked to be told.
void release_memory();
/// Who keeps memory of its own, as plans of transforms do, is told to give it up.
void when_released(void (*give_up)());
}  // namespace tern::detail_cpu
