#include "backend/own_folder.hpp"

#include <dlfcn.h>

#include <filesystem>

namespace tern::detail {

std::vector<std::string> installed_beside(const char* name) {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<const void*>(&installed_beside), &info) || !info.dli_fname) return {};
  const std::string folder = std::filesystem::path(info.dli_fname).parent_path().string();
  return {folder + "/tern/" + name, folder + "/../lib/tern/" + name};
}

}  // namespace tern::detail
