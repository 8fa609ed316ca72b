// `gemm`: lays a request out for the product's driver and runs its epilogue on each tile.
#pragma once
#include "cpu/tape/tape.hpp"
#include "primitives/gemm/gemm.hpp"

namespace tern::detail_cpu {
void multiply_on_cpu(const detail::GemmRequest& request, const Tape& epilogue, const KernelTable& table);
}  // namespace tern::detail_cpu
