// The gemm verb: lays a request out for the product's driver and runs its epilogue on each tile.
#pragma once
#include "backend/backend.hpp"
#include "cpu/tape.hpp"

namespace tern::detail_cpu {
void run_gemm(const detail::GemmRequest& request, const Tape& epilogue, const KernelTable& table);
}  // namespace tern::detail_cpu
