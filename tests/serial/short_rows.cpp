// Rows of 2 to 16 elements beside as many elements in rows of 1024, one thread each: in a cache and in memory. The
// table of docs/tuning.md is what this prints; "!" is beyond 1.3 of what the bytes take. TERN_SHORT_ROWS=var: those
// whose name has it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "serial/timed.hpp"
#include "tern/tern.hpp"

namespace tern {
namespace {

using test::uniform;

constexpr std::int64_t kLongRow = 1024;

/// What a work reads and writes, for each element and for each row.
struct Traffic {
  double read, written, read_of_row, written_of_row;

  /// The bytes of rows of c over those of long rows. In a cache a line that is written is read first.
  double bound(std::int64_t c, bool in_cache) const {
    const auto bytes = [&](std::int64_t row) {
      const double writes = in_cache ? 2 : 1;
      return read + writes * written + (read_of_row + writes * written_of_row) / static_cast<double>(row);
    };
    return bytes(c) / bytes(kLongRow);
  }
};
struct Work {
  const char* name;
  Traffic traffic;
  std::function<void(const Tensor& x, const Tensor& column)> run;
};

/// The gradient of the sum of f's squares: of f, whatever it gives.
template <class F> void backward(const F& f, const Tensor& x) {
  grad([&](const Var& v) { return sum(square(f(v))); })(x);
}
template <class F> void gradient_of_sum(const F& f, const Tensor& x) {
  grad([&](const Var& v) { return sum(f(v)); })(x);
}
constexpr auto kNormalised = [](auto u) { return u / sqrt(sum(u * u)); };

const Traffic kReduces{1, 0, 0, 1}, kMaps{1, 1, 0, 0};

std::vector<Work> works() {
  return {
      {"sum", kReduces, [](const Tensor& x, const Tensor&) { sum(x, {-1}); }},
      {"mean", kReduces, [](const Tensor& x, const Tensor&) { mean(x, {-1}); }},
      {"max", kReduces, [](const Tensor& x, const Tensor&) { max(x, {-1}); }},
      {"argmax", kReduces, [](const Tensor& x, const Tensor&) { argmax(x, -1); }},
      {"var", kReduces, [](const Tensor& x, const Tensor&) { var(x, {-1}); }},
      {"norm", kReduces, [](const Tensor& x, const Tensor&) { norm(x, {-1}); }},
      {"var over axis 1 of [n, 2, c]",
       {1, 0.5, 0, 0},
       [](const Tensor& x, const Tensor&) {
         var(x.reshape({x.size(0) / 2, 2, x.size(1)}), {1});
       }},
      {"softmax", kMaps, [](const Tensor& x, const Tensor&) { softmax(x); }},
      {"row formula", kMaps, [](const Tensor& x, const Tensor&) { row_formula(kNormalised, x); }},
      {"layer norm", kMaps,
       [](const Tensor& x, const Tensor&) {
         const Tensor one = ones({x.size(1)}, {.dtype = x.dtype(), .device = cpu()});
         layer_norm(x, one, one);
       }},
      {"cumsum", kMaps, [](const Tensor& x, const Tensor&) { cumsum(x, -1); }},
      {"times a column", {1, 1, 1, 0}, [](const Tensor& x, const Tensor& column) { x* column; }},
      {"times a row", kMaps, [](const Tensor& x, const Tensor&) { x* x[0]; }},
      {"repeated",
       {0, 1, 1, 0},
       [](const Tensor& x, const Tensor& column) { column.broadcast_to(x.shape()).contiguous(); }},
      // The sum and its square are written, read, summed and doubled, and read again.
      {"gradient of squared sums",
       {1, 1, 4, 3},
       [](const Tensor& x, const Tensor&) { backward([](const Var& v) { return sum(v, {-1}); }, x); }},
      {"gradient of max",
       {2, 1, 3, 2},
       [](const Tensor& x, const Tensor&) { gradient_of_sum([](const Var& v) { return max(v, {-1}); }, x); }},
      {"gradient of var",
       {2, 1, 3, 2},
       [](const Tensor& x, const Tensor&) { gradient_of_sum([](const Var& v) { return var(v, {-1}); }, x); }},
      {"gradient of norm",
       {2, 1, 3, 2},
       [](const Tensor& x, const Tensor&) { gradient_of_sum([](const Var& v) { return norm(v, {-1}); }, x); }},
      {"gradient of softmax",
       {3, 2, 0, 0},
       [](const Tensor& x, const Tensor&) { backward([](const Var& v) { return softmax(v); }, x); }},
      {"gradient of row formula",
       {3, 2, 0, 0},
       [](const Tensor& x, const Tensor&) { backward([](const Var& v) { return row_formula(kNormalised, v); }, x); }},
      {"gradient of layer norm",
       {3, 2, 0, 0},
       [](const Tensor& x, const Tensor&) {
         const Tensor one = ones({x.size(1)}, {.dtype = x.dtype(), .device = cpu()});
         backward([&](const Var& v) { return layer_norm(v, one, one); }, x);
       }},
      {"gradient of a column",
       {2, 1, 1, 2},
       [](const Tensor& x, const Tensor& column) {
         gradient_of_sum([&](const Var& v) { return square(x * v); }, column);
       }},
  };
}

class ShortRows : public test::TimedOnOneThread {
 protected:
  void SetUp() override {
    TimedOnOneThread::SetUp();
    if (IsSkipped()) return;
    const char* const only = std::getenv("TERN_SHORT_ROWS");
    only_ = only ? only : "";
  }

  using Clock = std::chrono::steady_clock;
  static double seconds_of(const Work& work, const Tensor& x, const Tensor& column, int calls) {
    const auto start = Clock::now();
    for (int i = 0; i < calls; ++i) work.run(x, column);
    return std::chrono::duration<double>(Clock::now() - start).count() / calls;
  }
  /// The least of several runs in turn, of more while it seems too slow.
  static double ratio(const Work& work, DType dtype, std::int64_t elements, std::int64_t c, double limit) {
    const auto of = [&](std::int64_t row) {
      const std::int64_t rows = elements / row / 4 * 4;
      return std::array{uniform({rows, row}, dtype), uniform({rows, 1}, dtype)};
    };
    const auto rows = of(c), long_rows = of(kLongRow);
    const bool small = elements < 1'000'000;
    const int calls = small ? 4 : 1, least_runs = small ? 40 : 3, most_runs = small ? 200 : 9;
    double ours = 1e300, theirs = 1e300;
    for (int run = 0; run < least_runs || (run < most_runs && ours > limit * theirs); ++run) {
      ours = std::min(ours, seconds_of(work, rows[0], rows[1], calls));
      theirs = std::min(theirs, seconds_of(work, long_rows[0], long_rows[1], calls));
    }
    return ours / theirs;
  }
  void check(bool in_cache, const std::vector<std::int64_t>& columns) {
    std::printf("| %-33s |", in_cache ? "in a cache" : "in memory");
    for (const std::int64_t c : columns) std::printf(" %4d ", static_cast<int>(c));
    std::printf("|\n");
    for (const Work& work : works())
      for (const DType dtype : {f32, f64, bf16}) {
        const std::string name = std::string(work.name) + " " + std::string(to_string(dtype));
        if (name.find(only_) == std::string::npos) continue;
        const std::int64_t elements = in_cache ? kInCache : kInMemory / static_cast<std::int64_t>(dtype_size(dtype));
        std::printf("| %-33s |", name.c_str());
        std::string too_slow;
        for (const std::int64_t c : columns) {
          const double bytes = work.traffic.bound(c, in_cache), bar = 1.3 * bytes,
                       times = ratio(work, dtype, elements, c, bar);
          std::printf(" %4.2f%c", times, times > bar ? '!' : ' ');
          std::fflush(stdout);
          if (times > kLimit * bytes) too_slow += " " + std::to_string(c);
        }
        std::printf("|\n");
        EXPECT_EQ(too_slow, "") << name;
      }
  }

  static constexpr std::int64_t kInCache = 98'304, kInMemory = 160'000'000;  // elements, bytes
  /// The bar is 1.3; a busy machine takes longer, and not of both alike.
  static constexpr double kLimit = 2.5;

  std::string_view only_;
};

TEST_F(ShortRows, InACache) { check(true, {2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16}); }
TEST_F(ShortRows, InMemory) { check(false, {2, 3, 4, 5, 8, 16}); }

}  // namespace
}  // namespace tern
