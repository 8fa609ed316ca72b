#include "gpu/reductions/reduce_staged.hpp"

namespace tern::detail_gpu {

namespace {
constexpr int kMostInvocations = 256, kFewestUnitRows = 64;  // of a workgroup
/// What every device of WebGPU has.
constexpr int kTileBytes = 16384;
}  // namespace

bool can_be_staged(const View& view, std::span<const std::int64_t> steps, bool written, std::int64_t length,
                   std::int64_t elements) {
  const DType dtype = view.dtype;
  const bool half = dtype == DType::f16 || dtype == DType::bf16;
  if (!half && dtype != DType::f32 && dtype != DType::i32 && dtype != DType::u32) return false;
  if (steps.size() != 2 || steps[0] != length || steps[1] != 1) return false;
  return !half || (view.offset % 2 == 0 && (!written || elements % 2 == 0));
}

int staged_invocations(const StagedRows& staged) {
  const int bytes = 4 * staged.units * staged.words, fewest = kFewestUnitRows / staged.unit;
  int invocations = kMostInvocations;
  while (invocations >= fewest && invocations * bytes > kTileBytes) invocations /= 2;
  return invocations >= fewest ? invocations : 0;
}

}  // namespace tern::detail_gpu
