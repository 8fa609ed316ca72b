// WGSL as a dialect: https://www.w3.org/TR/WGSL/
#pragma once
#include "gpu/text/dialect.hpp"

namespace tern::detail_gpu {

/// What a device was seen to do beyond what WGSL promises, and how it is asked for it.
struct WgslAbilities {
  bool fused_fma = false;   // fma() rounds once
  bool exact_half = false;  // unpack2x16float keeps subnormal numbers
  bool exact_half_store = false;  // pack2x16float rounds to nearest even, to subnormal numbers and infinity too
  bool wide_integers = false;      // u64, of wgpu-native
  bool enables_subgroups = false;  // a text that has them begins with a directive: the standard's, not wgpu-native's
};
const Dialect& wgsl(WgslAbilities abilities = {});

}  // namespace tern::detail_gpu
