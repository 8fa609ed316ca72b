// What the kernels of the archive are for.
#pragma once

namespace tern::tools {

/// Calls, on the default device, everything whose kernels the archive is to have: those in vectors, where a GPU is
/// offered them, or those for any layout. The sums of formulas' gradients over broadcast axes have the latter alone:
/// the former are an eighth of all the compiler's work.
void call_for_archive(bool in_vectors);

}  // namespace tern::tools
