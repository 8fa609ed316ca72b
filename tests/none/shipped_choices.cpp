// The table of choices that is shipped: a line that no choice can take would be silently ignored.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include "backend/instruments/tuning.hpp"
#include "gpu/products/gemm_tiles.hpp"

namespace tern::test {
namespace {

struct Row {
  std::string_view device_class, key;
  std::int64_t value;
};
const Row rows[] = {
#define TERN_TUNED(device_class, key, value) {device_class, key, value},
#include "backend/instruments/tuned.inc"
#undef TERN_TUNED
};

TEST(ShippedChoices, OfProductsOnWebGpuAreCandidates) {
  detail_gpu::Limits limits;  // more than any device has: every tile is a candidate
  limits.threads = 1024, limits.shared_bytes = 1 << 20;
  for (const Row& row : rows) {
    if (!row.device_class.starts_with("webgpu, ")) continue;
    detail_gpu::GemmTiles::of(std::string(row.device_class), limits);
    bool found = false;
    for (const detail::Choice* choice : detail::choices())
      if (choice->device_class == row.device_class && choice->key == row.key) {
        found = true;
        EXPECT_TRUE(choice->has(row.value)) << row.device_class << ", " << row.key << " has no " << row.value;
        EXPECT_NE(row.value, choice->candidates[0]) << row.device_class << ", " << row.key << " is the default";
      }
    EXPECT_TRUE(found) << row.device_class << " has no choice " << row.key;
  }
}
/// The table is in force: a device of a class that it names chooses what it says.
TEST(ShippedChoices, AreInForce) {
  setenv("TERN_TUNE_FILE", "", 1);
  setenv("XDG_CACHE_HOME", "/nowhere", 1);  // what this machine's tuner has found comes before the table
  for (const Row& row : rows) {
    const auto& choice = *new detail::Choice(std::string(row.device_class), std::string(row.key),
                                             {row.value + 1, row.value});  // choices are never destroyed
    EXPECT_NE(choice.text().find(std::to_string(row.value) + " (shipped table"), std::string::npos) << choice.text();
  }
}

}  // namespace
}  // namespace tern::test
