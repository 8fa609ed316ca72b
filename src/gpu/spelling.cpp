#include "gpu/spelling.hpp"

#include <map>

namespace tern::detail_gpu {
namespace {

struct Tables {
  Spelling leaves[detail::kLeafCount];
  std::map<std::string_view, std::string_view> functions;
};

Tables make_tables() {
  Tables tables;
  using detail::Leaf;
#define TERN_LEAF_SPELLING
#define TERN_SPELLING(name, cuda, wgsl) tables.leaves[static_cast<int>(Leaf::name)] = {cuda, wgsl};
#define TERN_WGSL(name, text) tables.functions[#name] = text;
#include "gpu/wgsl_math.inc"
#include "leaves_all.inc"
#undef TERN_WGSL
#undef TERN_SPELLING
#undef TERN_LEAF_SPELLING
  return tables;
}
const Tables& tables() {
  static const Tables instance = make_tables();
  return instance;
}

}  // namespace

const Spelling& spelling_of(detail::Leaf leaf) { return tables().leaves[static_cast<int>(leaf)]; }

std::string_view wgsl_function(std::string_view name) {
  const auto found = tables().functions.find(name);
  return found == tables().functions.end() ? std::string_view() : found->second;
}

}  // namespace tern::detail_gpu
