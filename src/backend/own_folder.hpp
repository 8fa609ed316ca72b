// Where tern's own library lies.
#pragma once
#include <string>
#include <vector>

namespace tern::detail {

/// Where a file of this name may have been installed with tern: in tern/ beside its own library (of a static one, the
/// program).
std::vector<std::string> installed_beside(const char* name);

}  // namespace tern::detail
