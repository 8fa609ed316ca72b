// Without a WebGPU library (ctest runs this once more with TERN_WEBGPU_LIBRARY=none) all else works.
#include <cstdlib>

#include "../every_device/reference.hpp"

namespace tern::test {
namespace {

TEST(Absent, DevicesSayWhetherAndWhy) {
  const char* library = std::getenv("TERN_WEBGPU_LIBRARY");
  const bool absent = library && std::string(library) == "none";
  const std::vector<DeviceInfo> list = devices();
  const auto info = std::find_if(list.begin(), list.end(), [](const auto& i) { return i.device == webgpu(); });
  ASSERT_NE(info, list.end());
  EXPECT_EQ(info->available, !absent) << info->reason;
  EXPECT_EQ(info->name.empty(), absent);
  EXPECT_EQ(info->reason.empty(), !absent);
  if (!absent) return;
  for (const char* part : {"WebGPU library", "none", "TERN_WEBGPU_LIBRARY"})
    EXPECT_NE(info->reason.find(part), std::string::npos) << part << " is missing in: " << info->reason;
  expect_error(ErrorKind::device, {"webgpu:0", "none"}, [] { zeros({1}, {.device = webgpu()}); });
  expect_error(ErrorKind::device, {"webgpu:0", "none"}, [] { ones({1}).to(webgpu()); });
  EXPECT_EQ(doubles(ones({2}) + 1), (std::vector<double>{2, 2}));
}

}  // namespace
}  // namespace tern::test
