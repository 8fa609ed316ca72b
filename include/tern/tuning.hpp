// Choices made by measurement: block sizes, thresholds, tile shapes.
#pragma once
#include <string>

#include "tern/call_ref.hpp"

namespace tern {

namespace detail {
std::string tune_calls(CallRef call);
}

/// Runs `f` again and again while its kernel calls take the candidates of every choice in turn, keeps what was fastest
/// and writes it to the tuning file (`tuning_file()`), which later processes read when they start. Returns a line for
/// each choice that f's calls depend on: what was measured and what is in force now. Tuning never changes the order of
/// a sum on the CPU; on other devices results may change in their last bits, and then hold for that file.
///
/// f must be repeatable (a step of a training loop is). Throws what f throws, and `io` where the file cannot be
/// written; before f is run, where the name is that of something else than a regular file, which is never replaced.
/// Links are followed. TERN_TUNE=1 does the same with a whole program: its calls are measured as it runs, and the file
/// is written when it ends. Without either, nothing is ever measured: choices come from the file, else from the table
/// for the processor that tern ships, else from a default; `explain` and TERN_TRACE=1 say which.
template <class F> std::string tune(F&& f) {
  return detail::with_call_ref(detail::tune_calls, f);
}

/// Where choices are kept: TERN_TUNE_FILE, else tern/tuning.txt in XDG_CACHE_HOME, else in ~/.cache; empty where there
/// is neither, and then nothing is kept. A damaged file is ignored, and one line on stderr says so.
std::string tuning_file();

}  // namespace tern
