// The verbs that walk along one axis: scatter-reduce, scan and sort.
#pragma once
#include "backend/backend.hpp"
#include "cpu/kernel_table.hpp"

namespace tern::detail_cpu {
void run_scatter(const detail::ScatterRequest& request);
void run_scan(const detail::ScanRequest& request, const KernelTable& table);
void run_sort(const detail::SortRequest& request, const KernelTable& table);
}  // namespace tern::detail_cpu
