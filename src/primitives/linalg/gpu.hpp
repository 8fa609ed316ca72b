// What the kernels of linear algebra on GPUs share.
#pragma once
#include <string>

#include "gpu/plan/lines.hpp"
#include "primitives/linalg/kernels.hpp"

namespace tern::detail_gpu {

/// The words in which a kernel notes the first matrix that failed, for an error when the device is next waited for.
class Noted {
 public:
  Noted(LinePlan& plan, bool batched, detail::PrimitiveId by);
  /// Statements that note it; matrix: u32, status: i32.
  std::string text(const std::string& matrix, const std::string& status) const;

 private:
  LinePlan& plan_;
  View flags_;
  int access_;
};

}  // namespace tern::detail_gpu
