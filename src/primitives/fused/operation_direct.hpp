// The short way of a call whose operands lie alike, without a request (backend/direct.hpp). What a small call costs is
// its instructions, and, where its operands have passed through the caches meanwhile, the lines of code and data that
// it touches: 8 f32 added take 0.15 µs so and 0.33 by a request, 2^16 of them 11.6 and 14.4, by a loop by hand 11.4
// (Zen 3).
#pragma once
#include "primitives/fused/operation.hpp"

namespace tern::detail {

/// Runs the call, and says so, if it is one of numbers and tensors of one shape without gaps, in the caller's memory,
/// that one loop computes, and that nobody records or listens to. `into`: as run_fused takes it.
bool run_alike(const FusedCall& call, std::span<const Argument> arguments, std::span<const Tensor> into,
               std::span<Tensor> outputs);
/// The same of a formula of complex tensors.
bool run_alike_complex(const FusedCall& call, std::span<const Argument> arguments, std::span<Tensor> outputs);
/// That a call of complex tensors came to this program of their parts, either as inputs by themselves or (on_each_part)
/// as elements beside each other.
void note_complex_call(const FusedCall& call, std::span<const Argument> arguments, const Program& program,
                       bool on_each_part, std::span<const Tensor> results);

}  // namespace tern::detail
