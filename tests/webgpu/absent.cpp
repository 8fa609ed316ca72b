// Without a WebGPU library all else works. ctest runs this once more with TERN_WEBGPU_LIBRARY=none, and with a library
// of an older header, of which nothing may be called.
#include <cstdlib>

#include "../every_device/reference.hpp"

namespace tern::test {
namespace {

TEST(Absent, DevicesSayWhetherAndWhy) {
  const char* library = std::getenv("TERN_WEBGPU_LIBRARY");
  const bool none = library && std::string(library) == "none";
  const bool old = library && std::string(library).find("tern_old_webgpu") != std::string::npos;
  const bool absent = none || old;
  const std::vector<DeviceInfo> list = devices();
  const auto info = std::find_if(list.begin(), list.end(), [](const auto& i) { return i.device == webgpu(); });
  ASSERT_NE(info, list.end());
  EXPECT_EQ(info->available, !absent) << info->reason;
  EXPECT_EQ(info->name.empty(), absent);
  EXPECT_EQ(info->reason.empty(), !absent);
  if (!absent) return;
  const std::string why = old ? "has no wgpuHasInstanceFeature" : "none";
  for (const std::string& part : {std::string("WebGPU library"), why, std::string("TERN_WEBGPU_LIBRARY")})
    EXPECT_NE(info->reason.find(part), std::string::npos) << part << " is missing in: " << info->reason;
  expect_error(ErrorKind::device, {"webgpu:0", why}, [] { zeros({1}, {.device = webgpu()}); });
  expect_error(ErrorKind::device, {"webgpu:0", why}, [] { ones({1}).to(webgpu()); });
  EXPECT_EQ(doubles(ones({2}) + 1), (std::vector<double>{2, 2}));
}

}  // namespace
}  // namespace tern::test
