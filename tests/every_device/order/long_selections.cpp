// What GPUs have kernels of their own for: the order of booleans, elements at a few ranks of long lines, sums by index
// in lines with tables of their own and in 16 bits, running results of long lines.
#include <algorithm>
#include <bit>
#include <numeric>

#include "every_device/order/scrambled.hpp"
#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class LongSelections : public EveryDevice {};
TERN_EVERY_DEVICE(LongSelections);

std::int32_t scrambled_below(std::int64_t i, std::int64_t bound) {
  return static_cast<std::int32_t>(scrambled(static_cast<std::uint32_t>(i)) % static_cast<std::uint32_t>(bound));
}
/// Which of n elements are true: none, all, the first, the last, every 977th, or about as many as not.
std::vector<bool> marked(std::int64_t n, int kind) {
  std::vector<bool> marks(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    const bool by_kind[] = {false, true, i == 0, i + 1 == n, i % 977 == 3,
                            scrambled(static_cast<std::uint32_t>(i)) % 2 == 0};
    marks[static_cast<std::size_t>(i)] = by_kind[kind];
  }
  return marks;
}
Tensor mask_of(const std::vector<bool>& marks) {
  std::vector<std::int32_t> values(marks.begin(), marks.end());
  return tensor(values) != 0;
}

TEST_P(LongSelections, PlacesOfTruesInOrder) {
  for (const std::int64_t n : {8191, 8192, 8193, 16384, 40001})
    for (const int kind : {0, 1, 2, 3, 4, 5}) {
      const std::vector<bool> marks = marked(n, kind);
      std::vector<std::int32_t> expected;
      for (std::int64_t i = 0; i < n; ++i)
        if (marks[static_cast<std::size_t>(i)]) expected.push_back(static_cast<std::int32_t>(i));
      const Tensor mask = mask_of(marks);
      ASSERT_TRUE(nonzero(mask)[0].to_vector<std::int32_t>() == expected) << n << ", kind " << kind;
      const Tensor x = arange(0, n, 1, {.dtype = i32});
      ASSERT_TRUE(masked_select(x, mask).to_vector<std::int32_t>() == expected) << n << ", kind " << kind;
    }
}
TEST_P(LongSelections, OrderOfBooleansOfLines) {
  for (const std::int64_t n : {9000, 20480})
    for (const bool descending : {false, true}) {
      std::vector<std::int32_t> values, expected;
      for (int line = 0; line < 3; ++line) {
        const std::vector<bool> marks = marked(n, line + 3);
        values.insert(values.end(), marks.begin(), marks.end());
        std::vector<std::int32_t> order(static_cast<std::size_t>(n));
        std::iota(order.begin(), order.end(), 0);
        std::ranges::stable_partition(
            order, [&](std::int32_t i) { return marks[static_cast<std::size_t>(i)] == descending; });
        expected.insert(expected.end(), order.begin(), order.end());
      }
      const Tensor mask = tensor(values, {3, n}) != 0;
      EXPECT_TRUE(argsort(mask, 1, descending).to_vector<std::int32_t>() == expected) << n;
      // Along columns of memory, and from an odd place on.
      const Tensor columns = mask.transpose(0, 1).contiguous();
      EXPECT_TRUE(argsort(columns, 0, descending).transpose(0, 1).to_vector<std::int32_t>() == expected) << n;
      const Tensor shifted = concatenate(std::vector<Tensor>{mask.slice(1, 0, 1), mask}, 1).slice(1, 1);
      EXPECT_TRUE(argsort(shifted, 1, descending).to_vector<std::int32_t>() == expected) << n;
    }
}

/// `different` values, so that many are alike; as the CPU has it, to the last bit.
TEST_P(LongSelections, QuantilesAsOnTheProcessor) {
  for (const DType dtype : {f32, bf16, f64})
    for (const std::int64_t n : {8192, 40001})
      for (const int different : {1, 5, 1 << 20}) {
        if (dtype == f64 && device().kind() == DeviceKind::webgpu) continue;
        if (left_out(device(), 6)) continue;
        std::vector<float> values;
        for (std::int64_t i = 0; i < 2 * n; ++i)
          values.push_back(static_cast<float>(scrambled_below(i, different)) - static_cast<float>(different / 2));
        const Tensor x = tensor(values, {2, n}).to(dtype), here = x.to(cpu());
        const std::vector<double> list{0.0, 0.3, 0.5, 1.0};
        const Tensor q = tensor(list, f64, cpu());
        EXPECT_EQ(doubles(quantile(x, q, {1})), doubles(quantile(here, q, {1}))) << n << ", " << different;
        EXPECT_EQ(doubles(median(x, {1})), doubles(median(here, {1}))) << n << ", " << different;
        EXPECT_EQ(doubles(quantile(x.transpose(0, 1), 0.1, {0})), doubles(quantile(here.transpose(0, 1), 0.1, {0})));
        const Var v(x), w(here);  // of elements alike the same ones get the gradient
        EXPECT_EQ(doubles(backward(sum(quantile(v, 0.3, {1})))[v]), doubles(backward(sum(quantile(w, 0.3, {1})))[w]));
      }
}
TEST_P(LongSelections, QuantilesWithNaN) {
  std::vector<float> values(20000, 1.0f);
  values[7777] = static_cast<float>(kNaN), values[3] = -2.0f;
  const Tensor x = tensor(values), y = x.slice(0, 0, 7777);
  EXPECT_TRUE(std::isnan(doubles(quantile(x, 0.0))[0]));
  EXPECT_TRUE(std::isnan(doubles(median(x))[0]));
  EXPECT_EQ(doubles(quantile(concatenate(std::vector<Tensor>{y, y}), 0.0))[0], -2.0);
}

/// x.at(place, line) += source, in the order of the entries; whole numbers, of which sums are exact.
void expect_lines_added(std::int64_t entries, std::int64_t lines, std::int64_t size, std::int64_t places, DType dtype) {
  std::vector<std::int32_t> at(static_cast<std::size_t>(entries * lines));
  std::vector<float> source(at.size()), sums(static_cast<std::size_t>(size * lines));
  for (std::size_t i = 0; i < at.size(); ++i) {
    at[i] = scrambled_below(static_cast<std::int64_t>(i), places);
    source[i] = static_cast<float>(scrambled(static_cast<std::uint32_t>(i) + 77) % 3) - 1;
  }
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = static_cast<float>(i % 5);
  const Tensor x = tensor(sums, {size, lines}).to(dtype), index = tensor(at, {entries, lines}),
               from = tensor(source, {entries, lines}).to(dtype);
  const auto width = static_cast<std::size_t>(lines);
  for (std::size_t i = 0; i < at.size(); ++i) sums[static_cast<std::size_t>(at[i]) * width + i % width] += source[i];
  EXPECT_TRUE(scatter_add(x, index, from, 0).to(f32).to_vector<float>() == sums) << entries << " of " << lines;
  const auto turned = [](const Tensor& t) { return t.transpose(0, 1).contiguous(); };
  const Tensor across = scatter_add(turned(x), turned(index), turned(from), 1);
  EXPECT_TRUE(across.transpose(0, 1).to(f32).to_vector<float>() == sums) << entries << " of " << lines;
  // Fewer indices than elements along the other axis: the rest stays.
  const std::int64_t some = lines - 1;
  const Tensor part = scatter_add(x, index.slice(1, 0, some), from.slice(1, 0, some), 0);
  EXPECT_EQ(doubles(part.slice(1, some)), doubles(x.slice(1, some)));
  EXPECT_EQ(doubles(part.slice(1, 0, some)), doubles(scatter_add(x, index, from, 0).slice(1, 0, some)));
}
TEST_P(LongSelections, SumsInLinesWithTablesOfTheirOwn) {
  for (const DType dtype : {f32, bf16}) {
    expect_lines_added(300, 67, 1500, 1500, dtype);
    if (left_out(device(), 2)) continue;
    expect_lines_added(257, 65, 9, 1, dtype);
    expect_lines_added(128, 64, 4096, 4096, dtype);
    if (!in_software(device())) expect_lines_added(4097, 70, 300, 37, dtype);
  }
}
TEST_P(LongSelections, RowsAddedInSixteenBits) {
  for (const DType dtype : {bf16, f16, f32})
    for (const std::int64_t columns : {1, 5, 64, 96}) {
      if (in_software(device()) && (dtype == f16 || columns == 64)) continue;
      constexpr std::int64_t kEntries = 5000, kSize = 300;
      std::vector<std::int32_t> at(kEntries);
      std::vector<float> source(static_cast<std::size_t>(kEntries * columns)),
          sums(static_cast<std::size_t>(kSize * columns), 1.0f);
      for (std::size_t i = 0; i < at.size(); ++i) at[i] = scrambled_below(static_cast<std::int64_t>(i), kSize - 1);
      for (std::size_t i = 0; i < source.size(); ++i)
        source[i] = static_cast<float>(scrambled(static_cast<std::uint32_t>(i)) % 5) - 2;
      const Tensor x = tensor(sums, {kSize, columns}).to(dtype), from = tensor(source, {kEntries, columns}).to(dtype);
      for (std::size_t i = 0; i < source.size(); ++i)
        sums[static_cast<std::size_t>(at[i / static_cast<std::size_t>(columns)]) * static_cast<std::size_t>(columns) +
             i % static_cast<std::size_t>(columns)] += source[i];
      constexpr Reduce how = Reduce::maximum;
      const Tensor all = scatter_add(x, tensor(at), from);
      EXPECT_TRUE(all.to(f32).to_vector<float>() == sums) << columns;
      EXPECT_EQ(doubles(x), std::vector<double>(sums.size(), 1.0)) << "x is not written";
      const Tensor kept = scatter_reduce(x, tensor(at), from, how);
      EXPECT_EQ(doubles(kept), doubles(scatter_reduce(x.to(cpu()), tensor(at).to(cpu()), from.to(cpu()), how)));
    }
}

/// As many as the memory of a workgroup holds, 16 or 32 KiB, and a few more: by kernels with a table of a line, and by
/// others.
TEST_P(LongSelections, SumsThatFillTheMemoryOfAWorkgroup) {
  constexpr std::int64_t kLines = 64, kEntries = 256;
  const std::vector<std::int64_t> every{2048, 2049, 4096, 4097, 8192, 8193}, few{4097};
  for (const std::int64_t n : in_software(device()) ? few : every) {
    std::vector<std::int32_t> at;
    for (std::int64_t i = 0; i < kLines * kEntries; ++i) at.push_back(scrambled_below(i, n));
    const Tensor x = zeros({kLines, n}, {.dtype = f32}), from = ones({kLines, kEntries}, {.dtype = f32}),
                 indices = tensor(at, {kLines, kEntries});
    EXPECT_EQ(doubles(scatter_add(x, indices, from, 1)),
              doubles(scatter_add(x.to(cpu()), indices.to(cpu()), from.to(cpu()), 1)))
        << n;
  }
}

/// Sums of numbers that round, in the order of the entries whatever meets where: places that repeat next to each other,
/// 32, 512 and 1024 entries apart, everywhere, and by chance; along rows and, of an odd number of lines, along columns.
TEST_P(LongSelections, SumsInLongTablesKeepTheOrder) {
  constexpr std::int64_t kLines = 65, kEntries = 1800, kSize = 3001;
  std::vector<std::int32_t> at;
  std::vector<float> source, old;
  for (std::int64_t line = 0; line < kLines; ++line)
    for (std::int64_t i = 0; i < kEntries; ++i) {
      const std::int64_t way = line % 8;
      const std::int64_t place = way == 0   ? i / 3
                                 : way == 1 ? i % 32
                                 : way == 2 ? i % 512
                                 : way == 3 ? i % 1024
                                 : way == 4 ? 7
                                 : way == 5 ? i * 1024 % kSize
                                            : scrambled_below(line * kEntries + i, way == 6 ? kSize : 40);
      at.push_back(static_cast<std::int32_t>(i % 5 == 0 ? place - kSize : place));  // some count from the end
      const auto number = static_cast<float>(scrambled(static_cast<std::uint32_t>(line * kEntries + i)));
      source.push_back(number * 0x1p-28f - 7.3f);
      if (line == 6 && i % 400 == 17) source.back() = i % 800 == 17 ? INFINITY : NAN;
    }
  for (std::int64_t i = 0; i < kLines * kSize; ++i) old.push_back(static_cast<float>(i % 17) * 0.1f);
  const Tensor x = tensor(old, {kLines, kSize}), from = tensor(source, {kLines, kEntries}),
               index = tensor(at, {kLines, kEntries});
  for (std::size_t i = 0; i < at.size(); ++i) {
    const std::int64_t place = at[i] < 0 ? at[i] + kSize : at[i];
    old[static_cast<std::size_t>(static_cast<std::int64_t>(i) / kEntries * kSize + place)] += source[i];
  }
  const auto bits = [](const std::vector<float>& values) {
    std::vector<std::uint32_t> words;
    for (const float v : values) words.push_back(v == v ? std::bit_cast<std::uint32_t>(v) : 0x7fc00000u);
    return words;
  };
  EXPECT_EQ(bits(scatter_add(x, index, from, 1).to_vector<float>()), bits(old));
  const auto turned = [](const Tensor& t) { return t.transpose(0, 1).contiguous(); };
  const Tensor columns = scatter_add(turned(x), turned(index), turned(from), 0);
  EXPECT_EQ(bits(turned(columns).to_vector<float>()), bits(old));
  const Tensor smallest = scatter_reduce(x, index, from, Reduce::minimum, 1);
  EXPECT_EQ(bits(smallest.to_vector<float>()),
            bits(scatter_reduce(x.to(cpu()), index.to(cpu()), from.to(cpu()), Reduce::minimum, 1).to_vector<float>()));
}

std::vector<float> noise_of(std::int64_t count) {
  std::vector<float> x;
  for (std::int64_t i = 0; i < count; ++i)
    x.push_back(static_cast<float>(scrambled(static_cast<std::uint32_t>(i))) * 0x1p-32f - 0.4f);
  return x;
}
TEST_P(LongSelections, RunningResultsOfLongLines) {
  for (const std::int64_t n : {20000, 16385, (1 << 20) + 4097}) {
    if (in_software(device()) && n > 20000) continue;
    std::vector<float> values(static_cast<std::size_t>(3 * n)), sums(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(scrambled(static_cast<std::uint32_t>(i)) % 7) - 3;
      sums[i] = values[i] + (i % static_cast<std::size_t>(n) == 0 ? 0 : sums[i - 1]);
    }
    const Tensor x = tensor(values, {3, n});
    EXPECT_TRUE(cumsum(x, 1).to_vector<float>() == sums) << n;
    EXPECT_TRUE(cumsum(x.transpose(0, 1).contiguous().transpose(0, 1), 1).to_vector<float>() == sums) << n;
    EXPECT_EQ(doubles(cummax(x, 1).values), doubles(cummax(x.to(cpu()), 1).values)) << n;
    const Var v(x);
    const std::vector<double> ones_summed = doubles(backward(sum(cumsum(v, 1)))[v]);
    EXPECT_EQ(ones_summed[0], static_cast<double>(n));
    EXPECT_EQ(ones_summed.back(), 1.0);
    const std::vector<float> noise = noise_of(3 * n);  // the same bits every time
    const Tensor y = tensor(noise, {3, n}), once = cumsum(y, 1);
    for (int again = 0; again < 3; ++again) EXPECT_TRUE(cumsum(y, 1).to_vector<float>() == once.to_vector<float>());
  }
}

}  // namespace
}  // namespace tern::test
