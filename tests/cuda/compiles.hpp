// Whether NVRTC takes a kernel's text without a warning.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "cuda/compiler.hpp"
#include "every_device.hpp"

namespace tern::test {

/// What is written in the assembler's language is read by the assembler alone; it says of matrix products in flight
/// (wgmma) whether they stay so, which depends on all optimisations. The rest of a text, and that is most of them, is
/// taken or refused before either. TERN_TEST_FULL=1: all as devices get it, in three times the time.
inline void expect_compiles(const std::string& text, int architecture, const std::string& what) {
  const bool assembled = text.find("asm") != text.npos;
  const bool as_used = full_test() || text.find("wgmma") != text.npos;
  std::string log;
  EXPECT_NO_THROW(as_used ? detail_cuda::compiled_anew(text, architecture, what, log)
                          : detail_cuda::compiled_roughly(text, architecture, assembled, what, log))
      << what;
  EXPECT_EQ(log, "") << what << " for sm_" << architecture << "\n" << text;
}

}  // namespace tern::test
