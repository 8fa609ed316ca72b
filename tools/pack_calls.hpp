// What the kernels of the pack are for.
#pragma once

namespace tern::tools {

/// Calls, on the default device, everything whose kernels the pack is to have.
void call_for_pack();

}  // namespace tern::tools
