// Scatter-reduce without float atomics.
#pragma once
#include <initializer_list>

#include "gpu/gpu_backend.hpp"
#include "gpu/plan.hpp"

namespace tern::detail_gpu {

/// How many neighbours along the last of the kept axes an invocation takes, all of which one entry of each table
/// (accesses) is for. Marks accesses as wide.
int scatter_group(Plan& plan, const Axes& kept, std::initializer_list<int> tables);

/// Through a sorted copy of the table: for tables that are too large to be looked through for every element.
void run_scatter_sorted(GpuBackend& backend, const detail::ScatterRequest& request);

}  // namespace tern::detail_gpu
