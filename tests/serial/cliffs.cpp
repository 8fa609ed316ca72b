// No cliffs: every kind of operation on the CPU against a plain loop, one thread each, where shapes are unkind to long
// vectors: last axes of 1 to 16 elements, permuted views, casts to 16 bits, short lines, batches of tiny products.
// (Longer than other files: a plain loop for every kind of operation.)
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "serial/timed.hpp"
#include "tern/tern.hpp"

namespace tern {
namespace {

using test::processor_seconds, test::processor_seconds_of, test::uniform;

/// What the plain loop may be faster by.
constexpr double kLimit = 3;

class Cliffs : public test::TimedOnOneThread {
 protected:
  /// The least of several runs in turn, of more while it seems too slow.
  void check(const std::string& what, const std::function<void()>& operation, const std::function<void()>& loop,
             double limit = kLimit) {
    operation(), loop();
    double ours = 1e300, theirs = 1e300;
    const double start = processor_seconds();
    const auto goes_on = [&](int run) {
      return run < 5 || (run < 60 && processor_seconds() - start < 0.1) || (run < 400 && ours > limit * theirs);
    };
    for (int run = 0; goes_on(run); ++run) {
      ours = std::min(ours, processor_seconds_of(operation));
      theirs = std::min(theirs, processor_seconds_of(loop));
    }
    std::printf("%-52s %9.1f us, loop %9.1f us, ratio %6.2f\n", what.c_str(), 1e6 * ours, 1e6 * theirs, ours / theirs);
    EXPECT_LE(ours, limit * theirs) << what;
  }
};

std::vector<float> numbers(std::int64_t count) { return std::vector<float>(static_cast<std::size_t>(count), 0.5f); }
/// Keeps a loop from being dropped.
template <class T> void keep(T& value) { asm volatile("" : : "r"(&value) : "memory"); }

constexpr std::int64_t kElements = 300'000;

TEST_F(Cliffs, OperandsThatRepeatAlongShortRows) {
  for (const std::int64_t c : {1, 2, 3, 4, 5, 6, 7, 8, 16}) {
    const std::int64_t n = kElements / c;
    const Tensor x = uniform({n, c}), row = uniform({c}), column = uniform({n, 1}), wide = uniform({n, c + 1});
    std::vector<float> a = numbers(n * c), b = numbers(n * c), out = numbers(n * c);
    const std::string shape = "[" + std::to_string(n) + ", " + std::to_string(c) + "]";
    const auto loop = [&, n, c](auto f) {
      return [&, n, c, f] {
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < c; ++j) out[i * c + j] = f(i, j);
        keep(out[0]);
      };
    };
    check(shape + " * [c]", [&] { x * row; }, loop([&, c](auto i, auto j) { return a[i * c + j] * b[j]; }));
    check(shape + " * [n, 1]", [&] { x * column; }, loop([&, c](auto i, auto j) { return a[i * c + j] * b[i]; }));
    check(shape + " + part of wider rows", [&] { x + wide.slice(1, 0, c); },
          loop([&, c](auto i, auto j) { return a[i * c + j] + b[i * c + j]; }));
    const Tensor turned = uniform({c, n}).transpose(0, 1);
    check(shape + " + a transposed view", [&] { x + turned; },
          loop([&, n, c](auto i, auto j) { return a[i * c + j] + b[j * n + i]; }));
    check(shape + " * [c], backward", [&] { grad([&](const Var& v) { return sum(x * v); })(row); },
          [&, n, c] {
            for (std::int64_t j = 0; j < c; ++j) b[j] = 0;
            float totals[8] = {};  // of one, each sum would wait for the one before
            for (std::int64_t i = 0; i < n; ++i)
              for (std::int64_t j = 0; j < c; ++j) b[j] += a[i * c + j], totals[i & 7] += a[i * c + j] * 0.5f;
            keep(totals[0]), keep(b[0]);
          });
  }
}

TEST_F(Cliffs, ShortRowsAndColumnsReduced) {
  for (const std::int64_t c : {1, 2, 3, 4, 5, 6, 7, 8, 16}) {
    const std::int64_t n = kElements / c;
    const Tensor x = uniform({n, c}), cube = uniform({n / 2, 2, c});
    std::vector<float> a = numbers(n * c), out = numbers(n * c);
    const std::string shape = "[" + std::to_string(n) + ", " + std::to_string(c) + "]";
    const auto sums = [&, n, c] {
      for (std::int64_t i = 0; i < n; ++i) {
        float total = 0;
        for (std::int64_t j = 0; j < c; ++j) total += a[i * c + j];
        out[i] = total;
      }
      keep(out[0]);
    };
    check("sum of rows of " + shape, [&] { sum(x, {1}); }, sums);
    check("max of rows of " + shape, [&] { max(x, {1}); }, [&, n, c] {
      for (std::int64_t i = 0; i < n; ++i) {
        float most = a[i * c];
        for (std::int64_t j = 0; j < c; ++j) most = std::max(most, a[i * c + j]);
        out[i] = most;
      }
      keep(out[0]);
    });
    check("sum of columns of " + shape, [&] { sum(x, {0}); }, [&, n, c] {
      std::fill(out.begin(), out.begin() + c, 0.f);
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < c; ++j) out[j] += a[i * c + j];
      keep(out[0]);
    });
    check("sum over axis 1 of [n, 2, " + std::to_string(c) + "]", [&] { sum(cube, {1}); }, [&, n, c] {
      for (std::int64_t i = 0; i < n / 2; ++i)
        for (std::int64_t j = 0; j < c; ++j) out[i * c + j] = a[2 * i * c + j] + a[(2 * i + 1) * c + j];
      keep(out[0]);
    });
  }
}

TEST_F(Cliffs, ShortRowsNormalisedAndScanned) {
  for (const std::int64_t c : {1, 2, 3, 4, 5, 6, 7, 8, 16}) {
    const std::int64_t n = kElements / c;
    const Tensor x = uniform({n, c});
    std::vector<float> a = numbers(n * c), out = numbers(n * c);
    const std::string shape = "[" + std::to_string(n) + ", " + std::to_string(c) + "]";
    const auto normalise = [&, n, c] {
      for (std::int64_t i = 0; i < n; ++i) {
        float total = 0;
        for (std::int64_t j = 0; j < c; ++j) total += a[i * c + j] * a[i * c + j];
        const float scale = 1 / std::sqrt(total);
        for (std::int64_t j = 0; j < c; ++j) out[i * c + j] = a[i * c + j] * scale;
      }
      keep(out[0]);
    };
    const auto formula = [](auto u) { return u / sqrt(sum(u * u)); };
    check("rows normalised of " + shape, [&] { row_formula(formula, x); }, normalise);
    check("softmax of " + shape, [&] { softmax(x); }, [&, n, c] {
      for (std::int64_t i = 0; i < n; ++i) {
        float most = a[i * c], total = 0;
        for (std::int64_t j = 0; j < c; ++j) most = std::max(most, a[i * c + j]);
        for (std::int64_t j = 0; j < c; ++j) total += out[i * c + j] = std::exp(a[i * c + j] - most);
        for (std::int64_t j = 0; j < c; ++j) out[i * c + j] /= total;
      }
      keep(out[0]);
    });
    check(
        "rows normalised, backward, of " + shape,
        [&] { grad([&](const Var& v) { return sum(row_formula(formula, v)); })(x); },
        [&] { normalise(), normalise(); });
    for (const int axis : {0, 1})
      check("cumsum along axis " + std::to_string(axis) + " of " + shape, [&] { cumsum(x, axis); }, [&, n, c, axis] {
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < c; ++j) {
            const std::int64_t at = i * c + j, before = axis == 0 ? at - c : at - 1;
            out[at] = a[at] + ((axis == 0 ? i : j) > 0 ? out[before] : 0);
          }
        keep(out[0]);
      });
  }
}

/// Operations that are no arithmetic between rows, on rows of 1 to 8.
TEST_F(Cliffs, OtherOperationsOnShortRows) {
  for (const std::int64_t c : {1, 2, 3, 4, 5, 6, 7, 8}) {
    const std::int64_t n = kElements / c;
    const Tensor x = uniform({n, c}), y = uniform({n, c}), wide = uniform({n, c + 1}), chosen = x > y;
    Generator generator(5);
    const Tensor at = randint(0, c, {n, c}, generator, {.dtype = i32, .device = cpu()});
    std::vector<float> a = numbers(n * c), b = numbers(n * c), out = numbers(2 * n * c);
    std::vector<std::int32_t> places(static_cast<std::size_t>(n * c)), most(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < a.size(); ++i)
      a[i] = static_cast<float>(i * 7 % 13), places[i] = static_cast<std::int32_t>(i % static_cast<std::size_t>(c));
    const std::string shape = " of [" + std::to_string(n) + ", " + std::to_string(c) + "]";
    const auto each = [&](auto f) {
      return [&, f] {
        for (std::size_t i = 0; i < a.size(); ++i) out[i] = f(i);
        keep(out[0]);
      };
    };
    check("x % 0.7" + shape, [&] { x % 0.7f; }, each([&](auto i) { return std::fmod(a[i], 0.7f); }));
    check("pow(x, 2)" + shape, [&] { pow(x, 2); }, each([&](auto i) { return a[i] * a[i]; }));
    check("where" + shape, [&] { where(chosen, x, y); }, each([&](auto i) { return a[i] > 3 ? a[i] : b[i]; }));
    check("a strided view cast to f16" + shape, [&] { wide.slice(1, 0, c).to(f16); }, [&, n, c] {
      auto* const h = reinterpret_cast<_Float16*>(out.data());
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < c; ++j) h[i * c + j] = static_cast<_Float16>(a[i * c + j]);
      keep(out[0]);
    });
    check("gather along rows" + shape, [&] { gather(x, at, 1); }, [&, n, c] {
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < c; ++j) out[i * c + j] = a[i * c + places[i * c + j]];
      keep(out[0]);
    });
    check("concatenate along rows" + shape, [&] { concatenate({x, y}, 1); }, [&, n, c] {
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < c; ++j) out[2 * i * c + j] = a[i * c + j];
        for (std::int64_t j = 0; j < c; ++j) out[(2 * i + 1) * c + j] = b[i * c + j];
      }
      keep(out[0]);
    });
    check("argmax of rows" + shape, [&] { argmax(x, 1); }, [&, n, c] {
      for (std::int64_t i = 0; i < n; ++i) {
        std::int32_t best = 0;
        for (std::int64_t j = 1; j < c; ++j)
          if (a[i * c + j] > a[i * c + best]) best = static_cast<std::int32_t>(j);
        most[i] = best;
      }
      keep(most[0]);
    });
    check("norm of rows" + shape, [&] { norm(x, {1}); }, [&, n, c] {
      for (std::int64_t i = 0; i < n; ++i) {
        float total = 0;
        for (std::int64_t j = 0; j < c; ++j) total += a[i * c + j] * a[i * c + j];
        out[i] = std::sqrt(total);
      }
      keep(out[0]);
    });
  }
}

TEST_F(Cliffs, PermutedViews) {
  const Tensor x = uniform({16, 32, 24, 20}), square = uniform({768, 768});
  std::vector<float> a = numbers(x.numel()), m = numbers(768 * 768);
  const auto total = [&] {
    float s[8] = {};
    for (std::size_t i = 0; i < a.size(); ++i) s[i % 8] += a[i];
    keep(s);
  };
  check("sum of a permuted view", [&] { sum(x.permute({3, 1, 0, 2})); }, total);
  check("mean of a reversed view", [&] { mean(x.permute({3, 2, 1, 0})); }, total);
  check("max of a permuted view", [&] { max(x.permute({2, 3, 0, 1})); }, total);
  Tensor turned = square.transpose(0, 1);
  check("transposed view += 1", [&] { turned += 1; }, [&] {
    for (float& f : m) f += 1;
    keep(m[0]);
  });
  check("copy of a permuted view", [&] { x.permute({3, 1, 0, 2}).contiguous(); }, [&] {
    std::vector<float>& out = m;
    std::int64_t at = 0;
    for (std::int64_t l = 0; l < 20; ++l)
      for (std::int64_t j = 0; j < 32; ++j)
        for (std::int64_t i = 0; i < 16; ++i)
          for (std::int64_t k = 0; k < 24; ++k) out[at++] = a[((i * 32 + j) * 24 + k) * 20 + l];
    keep(out[0]);
  });
}

TEST_F(Cliffs, CastsAndNarrowTypes) {
  const std::int64_t n = kElements;
  const Tensor x = uniform({n});
  const Tensor half = x.to(f16), bytes = uniform({n}).to(u8), wide = x.to(f64);
  std::vector<float> a = numbers(n);
  std::vector<double> d(static_cast<std::size_t>(n), 0.5);
  std::vector<_Float16> h(static_cast<std::size_t>(n));
  std::vector<std::uint8_t> b(static_cast<std::size_t>(n), 3), c = b;
  const auto narrow = [&] {
    for (std::size_t i = 0; i < a.size(); ++i) h[i] = static_cast<_Float16>(a[i]);
    keep(h[0]);
  };
  check("f32 to f16", [&] { x.to(f16); }, narrow);
  check("f64 to f16", [&] { wide.to(f16); }, narrow);
  check("f32 to bf16", [&] { x.to(bf16); }, narrow);
  check("f16 to f32", [&] { half.to(f32); }, [&] {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(h[i]);
    keep(a[0]);
  });
  check(
      "f32 rounded to f16 within a formula", [&] { Pointwise("r", [](auto u) { return cast(u, f16) * 2; })(half); },
      narrow);
  check("u8 + u8", [&] { bytes + bytes; }, [&] {
    const std::uint8_t* const x = b.data();
    std::uint8_t* const y = c.data();
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) y[i] = static_cast<std::uint8_t>(x[i] + y[i]);
    keep(c[0]);
  });
  check("sin of large numbers", [&] { sin(x * 1e8f); }, [&] {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = std::sin(a[i] * 1e8f + 1e8f);
    keep(a[0]);
  });
}

TEST_F(Cliffs, Sorts) {
  const std::int64_t n = 200'000;
  const Tensor x = uniform({n}), rows = uniform({64, 10'000});
  Generator generator(3);
  const Tensor integers = randint(-1000000, 1000000, {n}, generator, {.dtype = i32, .device = cpu()});
  const Tensor bytes = uniform({n}).to(u8);
  std::vector<float> a(static_cast<std::size_t>(n));
  std::vector<std::int32_t> order(static_cast<std::size_t>(n));
  const auto fill = [&] {
    std::uint32_t state = 1;
    for (float& f : a) f = static_cast<float>(state = state * 1664525u + 1013904223u);
  };
  fill();
  const auto top = [&](std::int64_t rows_of, std::int64_t length) {
    for (std::int64_t r = 0; r < rows_of; ++r) {
      std::iota(order.begin(), order.begin() + length, 0);
      std::partial_sort(order.begin(), order.begin() + 10, order.begin() + length,
                        [&](auto i, auto j) { return a[i] > a[j]; });
    }
    keep(order[0]);
  };
  const auto sorted = [&] {
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) { return a[i] < a[j]; });
    keep(order[0]);
  };
  check("topk(10) of a line", [&] { topk(x, 10); }, [&] { top(1, n); });
  check("topk(10) of lines", [&] { topk(rows, 10); }, [&] { top(64, 10'000); });
  check("sort of f32", [&] { sort(x); }, sorted, 1);
  check("sort of i32", [&] { sort(integers); }, sorted, 1);
  check("sort of u8", [&] { sort(bytes); }, [&] {
    std::int32_t begins[257] = {};
    std::uint8_t* const b = reinterpret_cast<std::uint8_t*>(a.data());
    for (std::int64_t i = 0; i < n; ++i) ++begins[b[i] + 1];
    for (int i = 0; i < 256; ++i) begins[i + 1] += begins[i];
    for (std::int64_t i = 0; i < n; ++i) order[begins[b[i]]++] = static_cast<std::int32_t>(i);
    keep(order[0]);
  });
  const Tensor short_lines = uniform({n / 8, 8});
  check("sort of lines of 8", [&] { sort(short_lines); }, [&] {
    for (std::int64_t r = 0; r < n / 8; ++r) {
      std::iota(order.begin(), order.begin() + 8, 0);
      std::sort(order.begin(), order.begin() + 8,
                [&](auto i, auto j) { return a[r * 8 + i] < a[r * 8 + j] || (a[r * 8 + i] == a[r * 8 + j] && i < j); });
    }
    keep(order[0]);
  });
}

TEST_F(Cliffs, ScattersAndTakes) {
  const std::int64_t n = 200'000;
  const Tensor x = uniform({n});
  Generator generator(3);
  std::vector<float> a = numbers(n);
  const std::vector<std::int32_t> order =
      randint(0, 1 << 20, {n}, generator, {.dtype = i32, .device = cpu()}).to_vector<std::int32_t>();
  const Tensor where = randint(0, 100, {n}, generator, {.dtype = i32, .device = cpu()}),
               table = zeros({100}, {.device = cpu()});
  check("scatter_add into 100", [&] { scatter_add(table, where, x); }, [&] {
    float sums[100] = {};
    for (std::int64_t i = 0; i < n; ++i) sums[order[i] % 100u] += a[i];
    keep(sums);
  });
  const Tensor matrix = uniform({512, 512}),
               columns = randint(0, 512, {512}, generator, {.dtype = i32, .device = cpu()});
  check("scatter_add along columns", [&] { scatter_add(matrix, columns, matrix, 1); }, [&] {
    for (std::int64_t i = 0; i < 300; ++i)
      for (std::int64_t j = 0; j < 512; ++j) a[i * 512 + static_cast<std::uint32_t>(order[j]) % 512] += a[j];
    keep(a[0]);
  });
  const Tensor points = uniform({100, 3});
  std::vector<float> taken(static_cast<std::size_t>(3 * n));
  check("take of rows of 3", [&] { take(points, where); }, [&] {
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t k = 0; k < 3; ++k) taken[i * 3 + k] = a[static_cast<std::uint32_t>(order[i]) % 100 * 3 + k];
    keep(taken[0]);
  });
}

template <class T, int kM, int kK, int kN> void multiply(std::vector<T>& a, std::vector<T>& b, std::vector<T>& c) {
  const std::size_t count = c.size() / (kM * kN);
  for (std::size_t i = 0; i < count; ++i) {
    const T *x = &a[i * kM * kK], *y = &b[i * kK * kN];
    for (int r = 0; r < kM; ++r)
      for (int s = 0; s < kN; ++s) {
        T sum = 0;
        for (int k = 0; k < kK; ++k) sum += x[r * kK + k] * y[k * kN + s];
        c[i * kM * kN + r * kN + s] = sum;
      }
  }
  keep(c[0]);
}

TEST_F(Cliffs, BatchesOfSmallProducts) {
  const auto of = [&]<class T, int kM, int kK, int kN>(T, DType dtype, const char* name) {
    const std::int64_t count = 40'000 / (kM * kN);
    const Tensor a = uniform({count, kM, kK}, dtype), b = uniform({count, kK, kN}, dtype),
                 one = uniform({kK, kN}, dtype);
    std::vector<T> x(static_cast<std::size_t>(a.numel()), T(1)), y(static_cast<std::size_t>(b.numel()), T(1)),
        z(static_cast<std::size_t>(count * kM * kN));
    const auto loop = [&] { multiply<T, kM, kK, kN>(x, y, z); };
    check(std::string(name) + " each", [&] { matmul(a, b); }, loop);
    check(std::string(name) + " shared b", [&] { matmul(a, one); }, loop);
    if (kM == kK) check(std::string(name) + " transposed a", [&] { matmul(a.transpose(1, 2), b); }, loop);
    if (kK == kN) check(std::string(name) + " transposed b", [&] { matmul(a, b.transpose(1, 2)); }, loop);
  };
  of.operator()<float, 2, 2, 2>(0.f, f32, "2x2 f32");
  of.operator()<float, 3, 3, 3>(0.f, f32, "3x3 f32");
  of.operator()<float, 3, 3, 1>(0.f, f32, "3x3 by 3x1 f32");
  of.operator()<float, 4, 4, 4>(0.f, f32, "4x4 f32");
  of.operator()<double, 4, 4, 4>(0., f64, "4x4 f64");
  of.operator()<float, 5, 5, 5>(0.f, f32, "5x5 f32");
  of.operator()<float, 6, 6, 6>(0.f, f32, "6x6 f32");
  of.operator()<double, 3, 3, 1>(0., f64, "3x3 by 3x1 f64");
  of.operator()<double, 5, 5, 5>(0., f64, "5x5 f64");
  of.operator()<double, 9, 9, 9>(0., f64, "9x9 f64");
  of.operator()<float, 12, 12, 12>(0.f, f32, "12x12 f32");
  of.operator()<float, 8, 8, 8>(0.f, f32, "8x8 f32");
  of.operator()<double, 16, 16, 16>(0., f64, "16x16 f64");
  const Tensor column = uniform({100'000, 1}), row = uniform({1, 2});
  std::vector<float> x = numbers(100'000), z = numbers(200'000);
  check("[n, 1] by [1, 2]", [&] { matmul(column, row); }, [&] {
    for (std::size_t i = 0; i < x.size(); ++i) z[2 * i] = x[i] * 0.5f, z[2 * i + 1] = x[i] * 0.25f;
    keep(z[0]);
  });
}

/// A thousand parts of a tensor against a thousand tensors of their own: recorded operations on 64 elements cost what a
/// call costs, of which no plain loop has any.
TEST_F(Cliffs, ManyPartsAndSmallOperations) {
  const Tensor w = uniform({1000, 64});
  const auto total_of = [](const std::vector<Var>& parts) {
    Var total;
    for (const Var& part : parts) total = total.defined() ? total + part : part;
    return sum(total);
  };
  std::vector<Var> rows;
  for (std::int64_t i = 0; i < 1000; ++i) rows.emplace_back(w.slice(0, i, i + 1).clone());
  check("split into 1000, with backward", [&] { grad([&](const Var& v) { return total_of(split(v, 1000)); })(w); },
        [&] { backward(total_of(rows)); });
}

}  // namespace
}  // namespace tern
