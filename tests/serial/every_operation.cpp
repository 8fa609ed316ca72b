// No cliffs in any operation: each sample of every entry (src/ops/entry.hpp) on the CPU, one thread, against the plain
// loop in f64 that is its reference, compiled as one would compile it: where the sample's second number, mostly the
// last axis, is 1 to 8, and where the first, mostly the rows or the batch, is 1 or 2; on operands as they are, on
// permuted views, and in 16 bits. Elementwise functions are in every_formula.cpp; cliffs.cpp has loops in f32 for the
// commonest operations, which some references, that copy rows, are slower than.
#include <malloc.h>
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
constexpr double kFewestSeconds = 1e-3;
/// Of shorter loops, which end at the first element that decides, nothing is said.
constexpr double kLeastSeconds = 2e-4;
constexpr std::int64_t kMostRows = 1 << 14, kMostColumns = 1 << 16, kMostElements = 1 << 20;
/// What a child says by its exit status, one or more of them.
constexpr int kTooSlow = 1, kRefused = 2;

/// The same elements with the axes laid out in the opposite order.
Tensor permuted(const Tensor& x) {
  Axes order;
  for (int i = x.dim(); i-- > 0;) order.push_back(i);
  return x.dim() < 2 ? x : x.permute(order).contiguous().permute(order);
}

class EveryOperationIsNoCliff : public test::TimedOnOneThread {
 protected:
  void SetUp() override {
    TimedOnOneThread::SetUp();
    if (IsSkipped()) return;
    // The loops' memory comes back as it is, as tern's does: pages new from the system take longer than most loops.
    mallopt(M_MMAP_THRESHOLD, 1 << 30), mallopt(M_TRIM_THRESHOLD, 1 << 30);
  }

  static std::vector<Tensor> operands(const Sample& sample, Sizes sizes) {
    std::vector<Tensor> list;
    Generator generator(7);
    for (const Shape& shape : sample.shapes(sizes)) list.push_back(2 * rand(shape, generator) - 1);
    return list;
  }
  static std::int64_t elements(const Sample& sample, Sizes sizes) {
    std::int64_t count = 0;
    for (const Shape& shape : sample.shapes(sizes)) count += shape.numel();
    return count;
  }
  static std::vector<Values> values_of(const std::vector<Tensor>& operands) {
    std::vector<Values> list;
    for (const Tensor& t : operands) list.push_back({t.shape(), t.to(f64).to_vector<double>()});
    return list;
  }
  /// The number that is not given so large that the loop takes kFewestSeconds.
  static Sizes sizes_for(const Sample& sample, Sizes given) {
    const bool rows_grow = given.rows == 0;
    std::int64_t& size = rows_grow ? given.rows : given.columns;
    const std::int64_t most = rows_grow ? kMostRows : kMostColumns;
    for (size = 16; size < most && elements(sample, given) < kMostElements; size *= 4) {
      const std::vector<Values> exact = values_of(operands(sample, given));
      if (processor_seconds_of([&] { sample.reference(exact); }) >= kFewestSeconds) break;
    }
    return given;
  }
  /// The least of several runs in turn, of more while it seems too slow.
  void check(const std::string& what, const Sample& sample, const std::vector<Tensor>& x,
             const std::vector<Values>& exact) {
    double ours = 1e300, theirs = 1e300;
    sample.call(x);
    for (int run = 0; run < 3 || (run < 200 && ours > kOperationLimit * theirs); ++run) {
      ours = std::min(ours, processor_seconds_of([&] { sample.call(x); }));
      theirs = std::min(theirs, processor_seconds_of([&] { sample.reference(exact); }));
    }
    if (theirs < kLeastSeconds) return;
    if (ours > theirs)
      std::printf("%-72s %9.1f us, loop %9.1f us, ratio %6.2f\n", what.c_str(), 1e6 * ours, 1e6 * theirs,
                  ours / theirs);
    if (ours > kOperationLimit * theirs) {
      std::printf("%s is too slow\n", what.c_str());
      said_ |= kTooSlow;
    }
  }
  /// In a child: all ways to lay the operands out, and 16 bits.
  void check(const operations::Entry& entry, const Sample& sample, Sizes given) {
    const Sizes sizes = sizes_for(sample, given);
    const std::vector<Tensor> x = operands(sample, sizes);
    const std::vector<Values> exact = values_of(x);
    const std::string what = std::string(entry.name) + (*sample.with ? std::string(", ") + sample.with : "") + " (" +
                             std::to_string(sizes.rows) + ", " + std::to_string(sizes.columns) + ")";
    check(what, sample, x, exact);
    std::vector<Tensor> turned;
    for (const Tensor& t : x) turned.push_back(permuted(t));
    check(what + ", permuted", sample, turned, exact);
    for (const DType dtype : {bf16, f16}) try {
        std::vector<Tensor> narrow;
        for (const Tensor& t : x) narrow.push_back(t.to(dtype));
        check(what + (dtype == bf16 ? ", bf16" : ", f16"), sample, narrow, exact);
      } catch (const Error& e) {
        if (e.kind() != ErrorKind::dtype) throw;
      }
  }
  /// f() in a child: what it says by its exit status, or -1 where it ended by a signal.
  template <class F> int in_child(const F& f) {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      try {
        f();
      } catch (const std::exception& e) {
        std::printf("refused: %s\n", e.what());
        said_ |= kRefused;
      }
      std::fflush(stdout);
      _exit(said_);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  /// Counts a sample with such sizes: its reference may know rows no longer than there are columns, and the like.
  void count(const operations::Entry& entry, const Sample& sample, Sizes given) {
    if (in_child([&] { sizes_for(sample, given); }) != 0) {
      ++unknown_, std::printf("%s, %s: its reference knows no such sizes\n", entry.name, sample.with);
      return;
    }
    const int said = in_child([&] { check(entry, sample, given); });
    EXPECT_GE(said, 0) << entry.name << " ended by a signal";
    EXPECT_FALSE(said > 0 && (said & kTooSlow)) << entry.name << " is too slow";
    ++(said > 0 && (said & kRefused) ? refused_ : checked_);
  }

  int said_ = 0;  // of a child
  int checked_ = 0, unknown_ = 0, refused_ = 0;
};

TEST_F(EveryOperationIsNoCliff, OnShortAxesPermutedViewsAndIn16Bits) {
  const char* const only = std::getenv("TERN_TEST_OPERATION");
  for (const operations::Entry& entry : operations::entries()) {
    if (only && std::string_view(only) != entry.name) continue;
    for (const Sample& sample : entry.samples) {
      if (!sample.reference || sample.knows_results || sample.shapes(Sizes{}).empty()) continue;
      for (std::int64_t columns = 1; columns <= 8; ++columns) count(entry, sample, {0, columns});
      for (const std::int64_t rows : {1, 2}) count(entry, sample, {rows, 0});
    }
  }
  std::printf("%d checked, %d refused, of %d the references know no such sizes\n", checked_, refused_, unknown_);
  EXPECT_GT(checked_, only ? 0 : 2000);
  EXPECT_LT(refused_ + unknown_, 200);
}

}  // namespace
}  // namespace tern
