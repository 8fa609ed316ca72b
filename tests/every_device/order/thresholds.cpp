// Sizes on both sides of every switch from one way of computing to another, in sorts, selections, running results,
// searches, sets and counts, and where results pass by the caches, each against a plain loop.
#include <algorithm>
#include <complex>
#include <map>
#include <numeric>

#include "cpu/machine/caches.hpp"
#include "every_device/complex/complex_numbers.hpp"

namespace tern::test {
namespace {

class Thresholds : public EveryDevice {};
TERN_EVERY_DEVICE(Thresholds);

using LineSizes = std::vector<std::int64_t>;
using Integers = std::vector<std::int32_t>;

/// Each size with its neighbours, in order.
LineSizes around(const LineSizes& thresholds) {
  LineSizes sizes;
  for (const std::int64_t n : thresholds)
    for (const std::int64_t near : {n - 1, n, n + 1}) sizes.push_back(near);
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}
/// Whole numbers in [0, bound), many of them alike where that is small.
Integers drawn(std::int64_t count, std::uint32_t bound, unsigned seed = 1) {
  std::mt19937 random(seed);
  Integers x(static_cast<std::size_t>(count));
  for (std::int32_t& v : x) v = static_cast<std::int32_t>(random() % bound);
  return x;
}
Integers in_order(Integers x) {
  std::ranges::sort(x);
  return x;
}
// Comparisons to 256 elements, then bytes (CPU); blocks of 64 and 1024 and tiles from 512 on (GPUs).
TEST_P(Thresholds, Sorts) {
  for (const DType dtype : dtypes_of(
           device(), in_software(device()) ? std::vector<DType>{f32} : std::vector<DType>{f32, f64, i32, i64, u8, f16}))
    for (const std::int64_t n : around({64, 256, 512, 1024, 2048})) {
      if (left_out(device(), 3)) continue;
      const Integers x = drawn(2 * n, 100, static_cast<unsigned>(n));
      const Sorted<Tensor> got = sort(tensor(x, {2, n}, cpu()).to(dtype).to(device()), 1);
      const Integers values = got.values.to(i32).to_vector<std::int32_t>(),
                     places = got.indices.to_vector<std::int32_t>();
      for (std::int64_t line = 0; line < 2; ++line) {
        Integers order(static_cast<std::size_t>(n));
        std::iota(order.begin(), order.end(), 0);
        const auto at = [&](std::int32_t i) { return x[static_cast<std::size_t>(line * n + i)]; };
        std::ranges::stable_sort(order, [&](std::int32_t a, std::int32_t b) { return at(a) < at(b); });
        for (std::int64_t i = 0; i < n; ++i) {
          const auto k = static_cast<std::size_t>(line * n + i);
          ASSERT_EQ(places[k], order[static_cast<std::size_t>(i)]) << to_string(dtype) << " of " << n << " at " << i;
          ASSERT_EQ(values[k], at(places[k])) << to_string(dtype) << " of " << n;
        }
      }
    }
}
void expect_first(Device device, std::int64_t n, std::int64_t k, bool largest) {
  const Integers x = drawn(n, 5000, static_cast<unsigned>(n + k));
  const Sorted<Tensor> got = topk(tensor(x, cpu()).to(f32).to(device), k, 0, largest);
  Integers order(x.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](std::int32_t a, std::int32_t b) {
    const std::int32_t first = x[static_cast<std::size_t>(a)], second = x[static_cast<std::size_t>(b)];
    return largest ? first > second : first < second;
  });
  order.resize(static_cast<std::size_t>(k));
  ASSERT_EQ(got.indices.to_vector<std::int32_t>(), order) << k << " of " << n << (largest ? ", largest" : "");
}
// Selected from 512 on where fewer than an eighth is wanted, by gathering four times that and at least 128 (CPU); where
// less than a quarter is wanted (GPUs).
TEST_P(Thresholds, TheFirst) {
  for (const std::int64_t n : around({512}))
    for (const std::int64_t k : around({n / 8}))
      if (!left_out(device(), 3)) expect_first(device(), n, k, k % 2);
  for (const std::int64_t n : in_software(device()) ? LineSizes{4096} : LineSizes{2000, 4096})
    for (const std::int64_t k : around({32, 64, n / 8, n / 4}))
      if (!left_out(device(), 3)) expect_first(device(), n, k, true);
}
// Runs of 256, 256 lines at once, lines below 128 side by side (CPU); segments of 8192, lines to 16384, 2048 columns
// (GPUs). The sums wrap, so that a run that is joined wrongly cannot hide.
TEST_P(Thresholds, RunningResults) {
  const auto check = [&](std::int64_t lines, std::int64_t n, int axis) {
    const Integers x = drawn(lines * n, 1u << 31, static_cast<unsigned>(n));
    const Tensor t = tensor(x, axis == 1 ? Shape{lines, n} : Shape{n, lines}, device());
    const auto sums = cumsum(t, axis).to_vector<std::int32_t>(),
               tops = cummax(t, axis).values.to_vector<std::int32_t>(),
               products = cumprod(t, axis).to_vector<std::int32_t>();
    for (std::int64_t line = 0; line < lines; ++line) {
      std::uint32_t sum = 0, product = 1;
      std::int32_t top = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        const auto at = static_cast<std::size_t>(axis == 1 ? line * n + i : i * lines + line);
        sum += static_cast<std::uint32_t>(x[at]), product *= static_cast<std::uint32_t>(x[at]);
        top = std::max(top, x[at]);
        ASSERT_EQ(sums[at], static_cast<std::int32_t>(sum)) << lines << " lines of " << n << " at " << i;
        ASSERT_EQ(products[at], static_cast<std::int32_t>(product)) << lines << " lines of " << n << " at " << i;
        ASSERT_EQ(tops[at], top) << lines << " lines of " << n << " at " << i;
      }
    }
  };
  for (const std::int64_t n : around({128, 256, 512, 1024})) check(3, n, 1), check(3, n, 0);
  for (const std::int64_t lines : around({256})) check(lines, 257, 0), check(lines, 127, 1);
  for (const std::int64_t n : around({8192, 16384})) check(1, n, 1);
  for (const std::int64_t lines : around({2048})) check(lines, 17, 0);
}
// Values 16 at once; merged from 64 on where the line has at most eight times as many (CPU).
TEST_P(Thresholds, Searches) {
  std::vector<std::pair<std::int64_t, std::int64_t>> sizes;
  for (const std::int64_t count : around({16, 64})) {
    for (const std::int64_t n : around({8 * count})) sizes.emplace_back(n, count);
    sizes.emplace_back(40, count);
  }
  if (in_software(device())) sizes = {{511, 64}, {512, 64}, {513, 64}};
  for (const auto& [n, count] : sizes)
    for (const bool ordered : {true, false}) {
      const Integers line = in_order(drawn(n, 300)), drawn_values = drawn(count, 310, 2);
      const Integers values = ordered ? in_order(drawn_values) : drawn_values;
      for (const Side side : {Side::left, Side::right}) {
        const auto got = searchsorted(tensor(line, device()), tensor(values, device()), side).to_vector<std::int32_t>();
        for (std::size_t i = 0; i < values.size(); ++i) {
          const auto place = side == Side::left ? std::ranges::lower_bound(line, values[i])
                                                : std::ranges::upper_bound(line, values[i]);
          ASSERT_EQ(got[i], place - line.begin()) << count << " among " << n;
        }
      }
    }
}
TEST_P(Thresholds, Sets) {
  for (const std::int64_t n : in_software(device()) ? LineSizes{1023, 1024, 1025} : around({256, 512, 1024, 8192})) {
    const Integers x = drawn(n, 90);
    std::map<std::int32_t, std::int32_t> times;
    for (const std::int32_t v : x) ++times[v];
    Integers keys, counts;
    for (const auto& [key, count] : times) keys.push_back(key), counts.push_back(count);
    const Unique<Tensor> got = unique_all(tensor(x, device()));
    ASSERT_EQ(got.values.to_vector<std::int32_t>(), keys) << n;
    ASSERT_EQ(got.counts.to_vector<std::int32_t>(), counts) << n;
    const auto numbers = got.inverse_indices.to_vector<std::int32_t>();
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(keys[static_cast<std::size_t>(numbers[i])], x[i]) << n;
  }
}
// A table of 2^16 bytes and four for each element (CPU), for sets that reach so far, and one beyond.
TEST_P(Thresholds, Membership) {
  const Integers x = drawn(50, 1 << 20);
  const std::int64_t most = (1 << 16) + 4 * (50 + 2);
  for (const std::int64_t range : around({most})) {
    const Integers set{3, static_cast<std::int32_t>(3 + range)};
    Integers all = x;
    all[7] = 3, all[9] = set[1], all[11] = set[1] + 1, all[12] = 2;
    const auto got = isin(tensor(all, device()), tensor(set, device())).to_vector<bool>();
    for (std::size_t i = 0; i < all.size(); ++i)
      ASSERT_EQ(got[i], all[i] == set[0] || all[i] == set[1]) << range << " at " << i;
  }
}
// Selected by bits from 2^14 on, in up to 4 lines, up to 8 of them (CPU); else sorted.
TEST_P(Thresholds, Quantiles) {
  const auto check = [&](std::int64_t lines, std::int64_t n, std::int64_t count) {
    const Integers x = drawn(lines * n, 1 << 22, static_cast<unsigned>(n));
    std::vector<double> at;
    for (std::int64_t k = 0; k < count; ++k) at.push_back(static_cast<double>(k) / static_cast<double>(count));
    const Tensor t = tensor(x, {lines, n}, cpu()).to(f32).to(device());
    for (std::int64_t k = 0; k < count; ++k) {
      const auto rank = static_cast<std::int64_t>(at[static_cast<std::size_t>(k)] * static_cast<double>(n - 1));
      const double share = static_cast<double>(rank) / static_cast<double>(n - 1);
      at[static_cast<std::size_t>(k)] = share;
    }
    const std::vector<double> got = doubles(quantile(t, tensor(at, cpu()).to(f32).to(device()), {1}));
    ASSERT_EQ(got.size(), static_cast<std::size_t>(lines * count));
    for (std::int64_t line = 0; line < lines; ++line) {
      const Integers sorted = in_order({x.begin() + line * n, x.begin() + (line + 1) * n});
      for (std::int64_t k = 0; k < count; ++k) {
        // The share is rounded to f32, so the quantile lies between its element's neighbours.
        const auto rank = std::llround(at[static_cast<std::size_t>(k)] * static_cast<double>(n - 1));
        const double value = got[static_cast<std::size_t>(k * lines + line)];
        ASSERT_GE(value, sorted[static_cast<std::size_t>(std::max<std::int64_t>(rank - 1, 0))]) << n << ' ' << k;
        ASSERT_LE(value, sorted[static_cast<std::size_t>(std::min<std::int64_t>(rank + 1, n - 1))]) << n << ' ' << k;
      }
    }
  };
  if (in_software(device())) return check(1, 16384, 2);
  for (const std::int64_t n : around({1 << 14})) check(1, n, 3);
  for (const std::int64_t lines : {4, 5}) check(lines, 1 << 14, 2);
  for (const std::int64_t count : {8, 9}) check(1, 1 << 14, count);
}
// Entries 64, 256, 2048 and 4096 (GPUs), into 64 and 8192 elements.
TEST_P(Thresholds, Counts) {
  for (const std::int64_t n : in_software(device()) ? around({2048}) : around({64, 256, 2048, 4096}))
    for (const std::int64_t parts : {std::int64_t{1}, std::int64_t{64}, std::int64_t{8192}}) {
      const Integers x = drawn(n, static_cast<std::uint32_t>(parts), static_cast<unsigned>(n));
      Integers want(static_cast<std::size_t>(parts));
      for (const std::int32_t v : x) ++want[static_cast<std::size_t>(v)];
      ASSERT_EQ(bincount(tensor(x, device()), parts).to_vector<std::int32_t>(), want) << n << ' ' << parts;
      const Histogram got = histogram(tensor(x, device()).to(f32), 64, {{0, 64 * ((parts + 63) / 64)}});
      const auto counts = got.counts.to_vector<std::int32_t>();
      std::int64_t width = (parts + 63) / 64;
      Integers wider(64);
      for (const std::int32_t v : x) ++wider[static_cast<std::size_t>(v / width)];
      ASSERT_EQ(counts, wider) << n << " into 64 of " << parts;
    }
}

// Numbers of 32 bits are drawn four at a time from 64 on (CPU), or in rows (GPUs): the same, whatever the count.
TEST_P(Thresholds, RandomNumbers) {
  const std::int64_t most = 1100;
  const auto check = [&](const char* name, const auto& draw) {
    Generator long_one{7};
    const std::vector<double> all = doubles(draw(most, long_one));
    for (const std::int64_t n : around({2, 64, 128, 1024})) {
      Generator dice{7};
      const std::vector<double> some = doubles(draw(n, dice));
      ASSERT_EQ(some, std::vector<double>(all.begin(), all.begin() + n)) << name << " of " << n;
      ASSERT_EQ(dice.position, static_cast<std::uint64_t>((n + 3) / 4)) << name << " of " << n;
    }
  };
  const Options floats{.dtype = f32, .device = device()}, integers{.dtype = i32, .device = device()};
  check("rand", [&](std::int64_t n, Generator& g) { return rand({n}, g, floats); });
  check("randn", [&](std::int64_t n, Generator& g) { return randn({n}, g, floats); });
  check("randint", [&](std::int64_t n, Generator& g) { return randint(-5, 1000, {n}, g, integers); });
  check("randint", [&](std::int64_t n, Generator& g) {
    return randint(std::numeric_limits<std::int32_t>::min(), std::int64_t{1} << 31, {n}, g, integers);
  });
  check("exponential", [&](std::int64_t n, Generator& g) { return exponential(1.0, {n}, g, floats); });
}

// ---- the CPU's results past the caches ----
TEST_P(Thresholds, ResultsPastTheCaches) {
  if (device() != cpu()) return;
  const std::int64_t last = detail_cpu::cache_bytes() / 12;  // two operands and a result of four bytes
  for (const std::int64_t n : around({1024 * 1024, last})) {
    if (n < 1024) continue;
    const Tensor x = arange(n, i32), y = x * 3 + 1, sum = x + y;
    const std::int32_t* const at = std::as_const(sum).data_ptr<const std::int32_t>();
    for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(at[i], static_cast<std::int32_t>(4 * i + 1)) << n;
  }
}
/// Small whole numbers, so that every product is exact.
std::vector<std::complex<double>> small_numbers(std::int64_t n, unsigned seed) {
  const Integers parts = drawn(2 * n, 64, seed);
  std::vector<std::complex<double>> z;
  for (std::size_t i = 0; i < parts.size(); i += 2) z.emplace_back(parts[i] - 31, parts[i + 1] - 30);
  return z;
}
// Pairs in blocks of 4096, on several threads from 2^15 on, past the caches from 2^20 on where they exceed them.
TEST_P(Thresholds, ComplexPairs) {
  if (device() != cpu()) return;
  LineSizes sizes = around({4096, 1 << 15, 1 << 20});
  sizes.push_back(detail_cpu::cache_bytes() / 48 + 1);
  for (const std::int64_t n : sizes) {
    if (n > 3 << 20) continue;
    const auto a = small_numbers(n, 1), b = small_numbers(n, 2);
    const Tensor z = tensor(a), w = tensor(b);
    using Values = std::vector<std::complex<double>>;
    const Values product = (z * w).to_vector<std::complex<double>>(),
                 conjugate = by_conjugate(z, w).to_vector<std::complex<double>>(),
                 squares = square(z).to_vector<std::complex<double>>(),
                 quotient = (z * w / w).to_vector<std::complex<double>>();
    for (std::size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(product[i], a[i] * b[i]) << n;
      ASSERT_EQ(conjugate[i], a[i] * std::conj(b[i])) << n;
      ASSERT_EQ(squares[i], a[i] * a[i]) << n;
      if (b[i] != 0.0) {
        ASSERT_LE(std::abs(quotient[i] - a[i]), 8 * 0x1p-52 * std::abs(a[i])) << n;
      }
    }
  }
}

}  // namespace
}  // namespace tern::test
