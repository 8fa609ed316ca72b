#include "cuda/functions.hpp"

#include <map>

#include "gpu/text/spelling.hpp"
#include "gpu/text/translate.hpp"

namespace tern::detail_gpu {
namespace {

/// Those of cuda_math.inc, and of the files of elementary functions, by name.
const std::map<std::string_view, std::string_view>& own_functions() {
  static const auto& map = *new std::map<std::string_view, std::string_view>{
#define TERN_ELEMENTARY_SPELLING
#define TERN_SPELLING(name, cuda, wgsl)
#define TERN_WGSL(name, text)
#define TERN_WGSL_CALLED(name, text)
#define TERN_CUDA(name, text) {#name, text},
#include "cuda/cuda_math.inc"
#include "elementary_all.inc"
#undef TERN_WGSL
#undef TERN_WGSL_CALLED
#undef TERN_CUDA
#undef TERN_SPELLING
#undef TERN_ELEMENTARY_SPELLING
  };  // outlives what is in static storage
  return map;
}

}  // namespace

std::string cuda_function(std::string_view name) {
  const auto found = own_functions().find(name);
  if (found != own_functions().end()) return std::string(found->second);
  const std::string_view shared = wgsl_function(name);
  return shared.empty() ? std::string() : cuda_from_wgsl(shared, is_called(name));
}

}  // namespace tern::detail_gpu
