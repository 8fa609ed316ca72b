// scatter_add of many entries into few elements and of few into many: in the order of the indices, to the last bit; and
// joining many tensors at once.
#include <bit>

#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class SumsByIndex : public EveryDevice {};
TERN_EVERY_DEVICE(SumsByIndex);

std::vector<float> noise_of_sizes(std::int64_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<float> x(static_cast<std::size_t>(count));
  for (float& v : x)
    v = std::ldexp(static_cast<float>(engine() % 65536) - 32768.0f, static_cast<int>(engine() % 12) - 20);
  return x;
}
/// Rows of `columns` added up in order, in f32.
std::vector<float> added_in_order(std::vector<float> sums, const std::vector<std::int32_t>& at,
                                  const std::vector<float>& source, std::size_t columns) {
  for (std::size_t i = 0; i < at.size(); ++i)
    for (std::size_t c = 0; c < columns; ++c)
      sums[static_cast<std::size_t>(at[i]) * columns + c] += source[i * columns + c];
  return sums;
}

TEST_P(SumsByIndex, ManyEntriesIntoFewElementsInOrder) {
  for (const std::int64_t targets : {1, 7, 100})
    for (const std::int64_t columns : {1, 3, 40})
      for (const std::int64_t entries : {6400, 20011}) {
        if (columns == 40 && entries > 10000) continue;
        std::mt19937 engine(static_cast<unsigned>(targets + columns));
        std::vector<std::int32_t> at(static_cast<std::size_t>(entries)), wrapped;
        for (std::int32_t& i : at) {  // the last one has no entry, where there are several
          i = static_cast<std::int32_t>(engine() % static_cast<unsigned>(std::max<std::int64_t>(targets - 1, 1)));
          wrapped.push_back(engine() % 4 == 0 ? i - static_cast<std::int32_t>(targets) : i);
        }
        const std::vector<float> x = noise_of_sizes(targets * columns, 1),
                                 source = noise_of_sizes(entries * columns, 2);
        const Tensor sums =
            scatter_add(tensor(x, {targets, columns}), tensor(wrapped), tensor(source, {entries, columns}));
        EXPECT_TRUE(sums.to_vector<float>() == added_in_order(x, at, source, static_cast<std::size_t>(columns)))
            << entries << " rows of " << columns << " into " << targets;
        // Along the last axis: what was a row is a column now.
        const Tensor across = scatter_add(tensor(x, {targets, columns}).transpose(0, 1), tensor(wrapped),
                                          tensor(source, {entries, columns}).transpose(0, 1), 1);
        EXPECT_TRUE(across.transpose(0, 1).to_vector<float>() ==
                    added_in_order(x, at, source, static_cast<std::size_t>(columns)));
      }
}

/// Fewer entries than elements, most of which have none; some meet.
TEST_P(SumsByIndex, ManyEntriesIntoMoreElements) {
  for (const std::int64_t columns : {1, 3, 8}) {
    constexpr std::int64_t kTargets = 9001, kEntries = 4500;
    std::mt19937 engine(static_cast<unsigned>(columns));
    std::vector<std::int32_t> at(static_cast<std::size_t>(kEntries)), wrapped;
    for (std::int32_t& i : at) {
      i = static_cast<std::int32_t>(engine() % kTargets / 3 * 3);  // also the first and the last
      wrapped.push_back(engine() % 4 == 0 ? i - static_cast<std::int32_t>(kTargets) : i);
    }
    at[7] = wrapped[7] = 0, at[8] = wrapped[8] = kTargets - 1;
    const std::vector<float> x = noise_of_sizes(kTargets * columns, 1), source = noise_of_sizes(kEntries * columns, 2);
    const Tensor sums =
        scatter_add(tensor(x, {kTargets, columns}), tensor(wrapped), tensor(source, {kEntries, columns}));
    EXPECT_TRUE(sums.to_vector<float>() == added_in_order(x, at, source, static_cast<std::size_t>(columns))) << columns;
    const Tensor across = scatter_add(tensor(x, {kTargets, columns}).transpose(0, 1), tensor(wrapped),
                                      tensor(source, {kEntries, columns}).transpose(0, 1), 1);
    EXPECT_TRUE(across.transpose(0, 1).to_vector<float>() ==
                added_in_order(x, at, source, static_cast<std::size_t>(columns)));
  }
  std::vector<std::int32_t> wrong(3000, 2);
  wrong[2000] = 9001;
  expect_error(ErrorKind::index, {"scatter_add", "9001"}, [&] {
    (void)scatter_add(zeros({9001, 2}), tensor(wrong), ones({3000, 2})).to_vector<float>();
  });
}

void expect_own_tables(std::int64_t rows, std::int64_t columns, std::int64_t targets) {
  std::mt19937 engine(3);
  std::vector<std::int32_t> at(static_cast<std::size_t>(rows * columns));
  for (std::int32_t& i : at) i = static_cast<std::int32_t>(engine() % static_cast<unsigned>(targets));
  const std::vector<float> x = noise_of_sizes(targets * columns, 4), source = noise_of_sizes(rows * columns, 5);
  std::vector<float> expected = x;
  for (std::size_t i = 0; i < at.size(); ++i)
    expected[static_cast<std::size_t>(at[i]) * static_cast<std::size_t>(columns) +
             i % static_cast<std::size_t>(columns)] += source[i];
  const auto shaped = [columns](const auto& values, std::int64_t count) { return tensor(values, {count, columns}); };
  EXPECT_TRUE(scatter_add(shaped(x, targets), shaped(at, rows), shaped(source, rows), 0).to_vector<float>() ==
              expected);
}

TEST_P(SumsByIndex, TablesOfTheirOwnInEveryColumn) {
  for (const std::int64_t columns : {5, 70})
    expect_own_tables(3000, columns, 40), expect_own_tables(260, columns, 1100);
}

TEST_P(SumsByIndex, TablesOfTheirOwnReportWhatIsOutOfRange) {
  std::vector<std::int32_t> at(300 * 80, 2);
  at[299 * 80 + 3] = -5;
  expect_error(ErrorKind::index, {"scatter_add", "-5", "size 4"}, [&] {
    (void)scatter_add(zeros({4, 80}), tensor(at, {300, 80}), ones({300, 80}), 0).to_vector<float>();
  });
}

TEST_P(SumsByIndex, OwnTablesOfOtherDtypes) {
  for (const DType d : dtypes_of(device(), {i32, bf16, f64, i64})) {
    const auto numbers = [&](Device on) {
      return (arange(0, 300 * 80, 1, {.dtype = i32, .device = on}) % 7).to(d).reshape({300, 80});
    };
    const auto table = [&](Device on) {
      return (arange(0, 300 * 80, 1, {.dtype = i32, .device = on}) % 11).reshape({300, 80});
    };
    EXPECT_EQ(doubles(scatter_add(zeros({12, 80}, {.dtype = d}), table(device()), numbers(device()), 0)),
              doubles(scatter_add(zeros({12, 80}, {.dtype = d, .device = cpu()}), table(cpu()), numbers(cpu()), 0)))
        << to_string(d);
  }
}

TEST_P(SumsByIndex, IndicesOutOfRangeAreErrors) {
  std::vector<std::int32_t> at(7000, 1);
  at[6500] = 9;
  expect_error(ErrorKind::index, {"scatter_add", "9", "size 4"},
               [&] { (void)scatter_add(zeros({4}), tensor(at), ones({7000})).to_vector<float>(); });
}

TEST_P(SumsByIndex, IntegersAndHalves) {
  std::vector<std::int32_t> at(6400);
  for (std::size_t i = 0; i < at.size(); ++i) at[i] = static_cast<std::int32_t>(i * i % 3);
  for (const DType d : dtypes_of(device(), {i32, u8, f16, bf16, i64, f64})) {
    const Tensor sums =
        scatter_add(zeros({4}, {.dtype = d}), tensor(at), (arange(0, 6400, 1, {.dtype = i32}) % 2).to(d));
    const Tensor expected = scatter_add(zeros({4}, {.dtype = d, .device = cpu()}), tensor(at, {6400}, cpu()),
                                        (arange(0, 6400, 1, {.dtype = i32, .device = cpu()}) % 2).to(d));
    EXPECT_EQ(doubles(sums), doubles(expected)) << to_string(d);
  }
}

TEST_P(SumsByIndex, ManyTensorsJoined) {
  for (const DType d : dtypes_of(device(), {f32, f16, u8, i32})) {
    std::vector<Tensor> parts, columns;
    std::vector<double> expected;
    std::vector<std::vector<double>> rows(3);
    for (std::int64_t i = 0; i < 300; ++i) {
      const std::int64_t n = i * 7 % 11;  // some are empty
      Tensor t = (arange(0, 3 * n, 1, {.dtype = i32}) + Number(i)).to(d).reshape({n, 3});
      columns.push_back(t.transpose(0, 1));
      parts.push_back(std::move(t));
      const std::vector<double> values = doubles(parts.back());
      expected.insert(expected.end(), values.begin(), values.end());
      for (std::size_t k = 0; k < values.size(); ++k) rows[k % 3].push_back(values[k]);
    }
    EXPECT_EQ(doubles(concatenate(parts, 0)), expected) << to_string(d);
    std::vector<double> across;
    for (const auto& row : rows) across.insert(across.end(), row.begin(), row.end());
    EXPECT_EQ(doubles(concatenate(columns, 1)), across) << to_string(d);
  }
}

}  // namespace
}  // namespace tern::test
