// What is said about calls: counts, explanations, kernels made, and choices made by measurement.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "backend/instruments/tuning.hpp"
#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class Instruments : public EveryDevice {};
TERN_EVERY_DEVICE(Instruments);

/// A file of this test alone, removed at the end.
struct File {
  std::string path = (std::filesystem::temp_directory_path() /
                      ("tern_test_" + std::to_string(getpid()) + "_" + std::to_string(++made)))
                         .string();
  static inline int made = 0;
  File() { std::filesystem::remove(path); }
  ~File() { std::filesystem::remove(path); }
  void write(const std::string& text) const { std::ofstream(path, std::ios::binary) << text; }
  std::string text() const {
    std::ostringstream all;
    all << std::ifstream(path, std::ios::binary).rdbuf();
    return all.str();
  }
};
struct Environment {
  Environment(const char* name, const std::string& value) : name(name) { setenv(name, value.c_str(), 1); }
  ~Environment() { unsetenv(name); }
  const char* name;
};
/// This program again, with one test and its output in a file; whether it succeeded.
bool run_again(const std::string& test, const File& output) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string whole = "env -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX ";  // the test, though this is a shard
  return std::system((whole + "'" + self + "' --gtest_filter='*" + test + "*' > " + output.path + " 2>&1").c_str()) ==
         0;
}
void a_few_operations() {
  const Tensor x = ones({128, 300});
  (void)matmul(x, x.transpose(0, 1)), (void)exp(x), (void)sum(x, 0);
}

TEST_P(Instruments, ExplainNamesOperationKernelBytesTimeAndChoices) {
  const Tensor x = ones({64, 100});
  const std::string text = explain([&] { (void)(exp(x) * 2); });
  for (const std::string& part : {std::string("exp: fused [64, 100] kernel "), device().to_string(),
                                  std::string("reads 25.6 KB"), std::string("writes 25.6 KB"), std::string(" us")})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is missing in " << text;
  EXPECT_EQ(std::ranges::count(text, '\n'), 2);
  EXPECT_EQ(explain([] {}), "");
  std::string inner;
  const std::string outer = explain([&] { inner = explain([&] { (void)sum(x); }); });
  EXPECT_EQ(outer, inner);
  EXPECT_NE(inner.find("sum"), std::string::npos);
  if (device() != cpu()) return;
  const std::string product = explain([&] { (void)matmul(x, x.transpose(0, 1)); });
  for (const char* part : {"gemm [] x 64x100x64 f32", "gemm.tile_rows = ", "; else "})
    EXPECT_NE(product.find(part), std::string::npos) << part << " is missing in " << product;
}
/// A product with no batch is shared between threads like any other; what is too small, or not allowed, is not.
TEST_P(Instruments, ExplainSaysHowManyThreadsAProductTook) {
  if (device() != cpu()) return;
  const int before = num_threads();
  set_num_threads(3);
  const auto product = [](std::int64_t m, std::int64_t k, std::int64_t n, DType dtype) {
    const Tensor a = ones({m, k}, dtype), b = ones({k, n}, dtype);
    return explain([&] { (void)matmul(a, b); });
  };
  const auto expect = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is missing in " << text;
  };
  for (const DType dtype : {f32, f64, f16, bf16, i32}) expect(product(512, 512, 512, dtype), "3 threads");
  expect(product(512, 512, 512, f32), "b packed once by each thread");
  expect(product(600, 1024, 1024, f32), "b packed once for all threads");
  expect(product(32, 512, 512, f32), "b read in place");
  expect(product(2048, 1024, 16, f32), "3 threads");
  expect(product(16, 1024, 2048, f32), "3 threads");
  expect(product(1, 2048, 4096, f32), "3 threads");
  expect(product(8, 8, 8, f32), "1 thread: too little work for more");
  const Tensor x = ones({512, 512}), bias = ones({512});
  const auto fused = [&] { (void)matmul_bias_activation(x, x, bias, op::gelu); };
  expect(explain(fused), "3 threads");
  expect(explain([&] { (void)cumsum(x, 1); }), "3 threads");
  expect(explain([&] { (void)sort(x, 1); }), "3 threads");
  expect(explain([&] { (void)sort(ones({20}), 0); }), "1 thread: too little work for more");
  set_num_threads(1);
  expect(product(512, 512, 512, f32), "1 thread: no more allowed");
  set_num_threads(before);
}
TEST_P(Instruments, ExplainEndsWhereTheProgramThrows) {
  EXPECT_THROW(explain([] { throw Error(ErrorKind::io, "mine"); }), Error);
  testing::internal::CaptureStderr();
  (void)exp(ones({2}));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}
TEST_P(Instruments, WarmUpMakesKernelsOnceAndCacheStatsCountEveryCall) {
  const auto formula = [](auto x) { return x * 3.25 + exp(x * 0.125); };
  const Pointwise<> mine("mine", formula);
  const Tensor x = ones({30}), longer = ones({4000}) * 2;
  const auto call = [&] { (void)mine(x); };
  const CacheStats first = warm_up(call), second = warm_up(call);
  EXPECT_EQ(first.kernels, 1);
  EXPECT_EQ(first.misses, 1);
  EXPECT_EQ(first.hits, 0);
  EXPECT_GT(first.milliseconds, 0);
  EXPECT_EQ(second.kernels, 0);
  EXPECT_EQ(second.misses, 0);
  EXPECT_EQ(second.hits, 1);
  EXPECT_EQ(warm_up([&] { (void)mine(longer); }).kernels, 0) << "another size";
  const CacheStats before = cache_stats(device());
  for (int i = 0; i < 10; ++i) call();
  const CacheStats after = cache_stats(device());
  EXPECT_EQ(after.hits - before.hits, 10);
  EXPECT_EQ(after.kernels, before.kernels);
  EXPECT_EQ(warm_up([] {}).kernels, 0);
}

TEST_P(Instruments, NoChoiceChangesABitOnTheCpu) {
  if (device() != cpu()) return;  // other devices promise it for one tuning file only
  Random random(61);
  const Tensor a = random.tensor({150, 700}, f32, device()), b = random.tensor({700, 300}, f32, device()),
               wide = random.tensor({40, 3000}, f32, device()), batch = random.tensor({9, 60, 80}, f64, device());
  const auto all = [&] {
    std::vector<std::vector<double>> results;
    for (const Tensor& t :
         {matmul(a, b), matmul(b.transpose(0, 1), a.transpose(0, 1)), matmul(wide, wide.transpose(0, 1)),
          matmul(wide.transpose(0, 1), wide), matmul(batch, batch.transpose(1, 2)), sum(wide), sum(wide, 0),
          sum(wide, 1), softmax(wide), matmul_bias_activation(a, b, b.slice(0, 0, 1).squeeze(0), op::gelu),
          matmul(a.to(bf16), b.to(bf16))})
      results.push_back(doubles(t));
    return results;
  };
  const auto want = all();
  const int before_threads = num_threads();
  int tried = 0;
  for (detail::Choice* choice : detail::choices()) {
    const std::int64_t before = choice->value();
    for (const std::int64_t value : choice->candidates) {
      choice->set(value, "test");
      for (const int threads : few_test() ? std::vector{3} : std::vector{1, 3}) {
        set_num_threads(threads);
        EXPECT_TRUE(all() == want) << choice->key << " = " << value << ", " << threads << " threads";
        ++tried;
      }
    }
    choice->set(before, "default");
  }
  set_num_threads(before_threads);
  EXPECT_GE(tried, few_test() ? 10 : 20);
}
TEST_P(Instruments, TuneMeasuresAndWritesAFileThatLaterProcessesRead) {
  if (device() != cpu()) return;  // of the CPU's choices
  const File file, output;
  const Environment environment("TERN_TUNE_FILE", file.path);
  EXPECT_EQ(tuning_file(), file.path);
  int runs = 0;
  const std::string report = tune([&] { ++runs, a_few_operations(); });
  EXPECT_GE(runs, 16);
  for (const char* part : {"gemm.tile_rows: 84 takes 1.000, ", "fused.parallel_work: ", "; now ", file.path.c_str()})
    EXPECT_NE(report.find(part), std::string::npos) << part << " is missing in " << report;
  const auto values = detail::parse_tuned(file.text());
  ASSERT_TRUE(values.has_value()) << file.text();
  for (const detail::Choice* choice : detail::choices()) {
    if (!choice->device_class.starts_with("cpu")) continue;  // of a GPU, made by a test before this one
    const auto found = values->find({choice->device_class, choice->key});
    ASSERT_NE(found, values->end()) << choice->key;
    EXPECT_EQ(found->second.value, choice->value());
    EXPECT_EQ(found->second.times.size(), choice->candidates.size());
  }
  // A later process takes the file's values: one other than the default.
  detail::TunedValues other = *values;
  for (auto& [name, value] : other)
    if (name.second == "gemm.tile_rows") value = {112, {1.0, 1.25, 0.5, 1.0}};
  other[{"cpu of another kind", "gemm.tile_rows"}] = {7};
  file.write(detail::to_text(other));
  ASSERT_TRUE(run_again("ShowChoices", output)) << output.text();
  EXPECT_NE(
      output.text().find("gemm.tile_rows = 112 (tuning file; else 84 in 2.000 of its time, 56 in 2.500 of its time, "
                         "140 in 2.000 of its time)"),
      std::string::npos)
      << output.text();
  // What the file says of other devices stays when this one is tuned again.
  (void)tune(a_few_operations);
  EXPECT_NE(file.text().find("cpu of another kind\tgemm.tile_rows\t7\n"), std::string::npos) << file.text();
}
TEST_P(Instruments, ADamagedTuningFileIsIgnoredWithANote) {
  if (device() != cpu()) return;  // of the CPU's choices
  const File file, output;
  file.write("tern tuning 1\nrubbish\n");
  const Environment environment("TERN_TUNE_FILE", file.path);
  ASSERT_TRUE(run_again("ShowChoices", output)) << output.text();
  EXPECT_NE(output.text().find(file.path + " is damaged and ignored"), std::string::npos) << output.text();
  EXPECT_NE(output.text().find("gemm.tile_rows = "), std::string::npos) << output.text();
}
TEST_P(Instruments, TernTuneMeasuresAWholeProgram) {
  if (device() != cpu()) return;  // of the CPU's choices
  const File file, output;
  const Environment name("TERN_TUNE_FILE", file.path), on("TERN_TUNE", "1");
  ASSERT_TRUE(run_again("Work", output)) << output.text();
  EXPECT_TRUE(detail::parse_tuned(file.text())) << file.text();
  for (const char* part : {"gemm.task_work: ", " takes 1.000", "written to "})
    EXPECT_NE(output.text().find(part), std::string::npos) << part << " is missing in " << output.text();
}
TEST_P(Instruments, TuneThatCannotWriteSaysSo) {
  if (device() != cpu()) return;  // of the CPU's choices
  const Environment environment("TERN_TUNE_FILE", "/proc/none/tuning.txt");
  expect_error(ErrorKind::io, {"/proc/none/tuning.txt", "TERN_TUNE_FILE"}, [] { (void)tune(a_few_operations); });
}
TEST_P(Instruments, TunePassesErrorsOnAndEnds) {
  EXPECT_THROW((void)tune([] { throw Error(ErrorKind::shape, "mine"); }), Error);
  EXPECT_FALSE(detail::measuring());
}

// Run in processes of their own by the tests above.
TEST(InstrumentsHelper, ShowChoices) { std::fputs(explain(a_few_operations).c_str(), stdout); }
TEST(InstrumentsHelper, Work) {
  for (int i = 0; i < 200; ++i) a_few_operations();
}

}  // namespace
}  // namespace tern::test
