// No cliffs in any operation: each sample of every entry (src/ops/entry.hpp) on the CPU, one thread, against the plain
// loop in f64 that is its reference, where the sample's second number, mostly the last axis, is 1 to 8, on operands as
// they are, on permuted views, and in 16 bits. The loops copy rows to vectors, so they are slower than the best one can
// write: tests/serial/cliffs.cpp has such loops for the commonest operations.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "ops/entry.hpp"
#include "serial/timed.hpp"

namespace tern {
namespace {

using operations::Sample;
using operations::Sizes;
using operations::Values;
using test::processor_seconds_of;

/// What the plain loop may be faster by.
constexpr double kOperationLimit = 3;
/// Of the loops: long enough that what a call costs by itself, a few microseconds, does not count.
constexpr double kFewestSeconds = 2e-3;
/// Of shorter loops, which end at the first element that decides, nothing is said.
constexpr double kLeastSeconds = 2e-4;
constexpr std::int64_t kMostRows = 1 << 14;

/// The same elements with the axes laid out in the opposite order.
Tensor permuted(const Tensor& x) {
  Axes order;
  for (int i = x.dim(); i-- > 0;) order.push_back(i);
  return x.dim() < 2 ? x : x.permute(order).contiguous().permute(order);
}

class EveryOperationIsNoCliff : public test::Timed {
 protected:
  void SetUp() override {
    Timed::SetUp();
    if (IsSkipped()) return;
    threads_ = num_threads();
    set_num_threads(1);
  }
  void TearDown() override {
    if (threads_ > 0) set_num_threads(threads_);
  }

  static std::vector<Tensor> operands(const Sample& sample, Sizes sizes) {
    std::vector<Tensor> list;
    Generator generator(7);
    for (const Shape& shape : sample.shapes(sizes)) list.push_back(2 * rand(shape, generator) - 1);
    return list;
  }
  static std::vector<Values> values_of(const std::vector<Tensor>& operands) {
    std::vector<Values> list;
    for (const Tensor& t : operands) list.push_back({t.shape(), t.to(f64).to_vector<double>()});
    return list;
  }
  /// As many rows as the loop takes kFewestSeconds for.
  static Sizes sizes_for(const Sample& sample, std::int64_t columns) {
    Sizes sizes{16, columns};
    for (; sizes.rows < kMostRows; sizes.rows *= 4) {
      const std::vector<Values> exact = values_of(operands(sample, sizes));
      if (processor_seconds_of([&] { sample.reference(exact); }) >= kFewestSeconds) break;
    }
    return sizes;
  }
  /// The least of several runs in turn, of more while it seems too slow.
  void check(const std::string& what, const Sample& sample, const std::vector<Tensor>& x,
             const std::vector<Values>& exact) {
    double ours = 1e300, theirs = 1e300;
    sample.call(x);
    for (int run = 0; run < 3 || (run < 30 && ours > kOperationLimit * theirs); ++run) {
      ours = std::min(ours, processor_seconds_of([&] { sample.call(x); }));
      theirs = std::min(theirs, processor_seconds_of([&] { sample.reference(exact); }));
    }
    if (theirs < kLeastSeconds) return;
    if (ours > theirs)
      std::printf("%-72s %9.1f us, loop %9.1f us, ratio %6.2f\n", what.c_str(), 1e6 * ours, 1e6 * theirs,
                  ours / theirs);
    EXPECT_LE(ours, kOperationLimit * theirs) << what;
  }
  void check(const operations::Entry& entry, const Sample& sample, std::int64_t columns) {
    const std::string name = std::string(entry.name) + (*sample.with ? std::string(", ") + sample.with : "");
    const Sizes sizes = sizes_for(sample, columns);
    const std::vector<Tensor> x = operands(sample, sizes);
    const std::vector<Values> exact = values_of(x);
    const std::string what = name + " (" + std::to_string(sizes.rows) + ", " + std::to_string(columns) + ")";
    check(what, sample, x, exact);
    std::vector<Tensor> turned, narrow;
    for (const Tensor& t : x) turned.push_back(permuted(t)), narrow.push_back(t.to(bf16));
    check(what + ", permuted", sample, turned, exact);
    check(what + ", bf16", sample, narrow, exact);
  }
  /// All axes of a sample, in a child: references may know rows no longer than there are columns, and nothing else.
  /// Gives false where it ended by a signal.
  bool check(const operations::Entry& entry, const Sample& sample) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      for (const std::int64_t columns : {1, 2, 3, 5, 8}) try {
          check(entry, sample, columns);
        } catch (const Error&) {  // sizes or a dtype that the operation does not take
        }
      std::fflush(stdout);
      _exit(HasFailure() ? 1 : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << entry.name << " is too slow";
    return !WIFSIGNALED(status);
  }

 private:
  int threads_ = 0;
};

TEST_F(EveryOperationIsNoCliff, OnShortAxesPermutedViewsAndIn16Bits) {
  const char* const only = std::getenv("TERN_TEST_OPERATION");
  int checked = 0, unknown = 0;
  for (const operations::Entry& entry : operations::entries()) {
    if (only && std::string_view(only) != entry.name) continue;
    for (const Sample& sample : entry.samples) {
      if (!sample.reference || sample.shapes(Sizes{}).empty()) continue;
      // Its reference is the signal that must come back: no loop computes it.
      if (std::string_view(entry.name) == "istft") continue;
      if (check(entry, sample)) ++checked;
      else ++unknown, std::printf("%s: its reference knows no such sizes\n", entry.name);
    }
  }
  std::printf("%d samples, and %d whose references know no such sizes\n", checked, unknown);
  EXPECT_GT(checked, only ? 0 : 200);
  EXPECT_LT(unknown, 20);
}

}  // namespace
}  // namespace tern
