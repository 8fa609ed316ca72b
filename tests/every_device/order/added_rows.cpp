// Rows added where a table names them, with tables of up to 65,536 entries, which GPUs put in order by buckets of 32 a
// place: fractions, whose sums show the order, as the CPU has them to the last bit.
#include "every_device/order/scrambled.hpp"
#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class AddedRows : public EveryDevice {};
TERN_EVERY_DEVICE(AddedRows);

struct Added {
  std::int64_t entries, places;
  int columns = 64;  // from 64 on all rows are written, and so are ordered by buckets
};

/// How entry i names a place: all of them as often, a few far more often, one alone, from the end, or each so often
/// that a bucket is nearly full, full, and one more.
std::int32_t named(std::int64_t i, const Added& a, int kind) {
  const auto any = static_cast<std::int64_t>(scrambled(static_cast<std::uint32_t>(i)));
  switch (kind) {
    case 0: return static_cast<std::int32_t>(any % a.places);
    case 1: return static_cast<std::int32_t>(a.places / (1 + any % a.places) - 1);
    case 2: return static_cast<std::int32_t>(a.places - 1);
    case 3: return static_cast<std::int32_t>(any % (2 * a.places) - a.places);
    default: {
      const std::int64_t block = i / 96, in_block = i % 96;  // of three places 31, 32 and 33
      const std::int64_t place = 3 * block + (in_block < 31 ? 0 : in_block < 63 ? 1 : 2);
      return static_cast<std::int32_t>(place % a.places);
    }
  }
}
Tensor table_of(const Added& a, int kind) {
  std::vector<std::int32_t> table;
  for (std::int64_t i = 0; i < a.entries; ++i) table.push_back(named(i, a, kind));
  return tensor(table);
}
Tensor fractions(std::int64_t rows, int columns) {
  std::vector<float> values(static_cast<std::size_t>(rows * columns));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(scrambled(static_cast<std::uint32_t>(i) + 5)) * 0x1p-32f - 0.25f;
  return tensor(values, {rows, columns});
}
void expect_as_on_the_cpu(const Added& a, int kind, DType dtype) {
  const Tensor x = fractions(a.places, a.columns).to(dtype), from = fractions(a.entries, a.columns).to(dtype),
               table = table_of(a, kind);
  EXPECT_EQ(doubles(scatter_add(x, table, from)), doubles(scatter_add(x.to(cpu()), table.to(cpu()), from.to(cpu()))))
      << a.entries << " into " << a.places << ", " << a.columns << " columns, kind " << kind << ", " << dtype;
}

TEST_P(AddedRows, InTheOrderOfTheirEntries) {
  for (const int kind : {0, 1, 2, 3, 4})
    for (const DType dtype : {f32, bf16}) expect_as_on_the_cpu({3000, 1000}, kind, dtype);
  for (const int columns : {63, 65, 68}) expect_as_on_the_cpu({2500, 700, columns}, 0, f32);
  expect_as_on_the_cpu({9000, 70}, 0, f32);   // many meet, and workgroups fetch them
  expect_as_on_the_cpu({5000, 20000}, 0, f16);
}
TEST_P(AddedRows, OfTheLongestTableOfBuckets) {
  if (left_out(device(), 2)) return;
  for (const std::int64_t entries : {65536, 65537}) expect_as_on_the_cpu({entries, 1500}, 1, bf16);
}
TEST_P(AddedRows, OtherCombinationsInOrder) {
  const Tensor x = fractions(500, 64), from = fractions(3000, 64), table = table_of({3000, 500}, 1);
  for (const Reduce how : {Reduce::multiply, Reduce::minimum, Reduce::maximum, Reduce::mean}) {
    // Hundreds of factors near 1: a GPU may take subnormal products for 0.
    const auto factors = [&](const Tensor& t) { return how == Reduce::multiply ? t * 0x1p-6 + 1 : t; };
    const Tensor to = factors(x.to(cpu())), by = factors(from.to(cpu()));
    EXPECT_EQ(doubles(scatter_reduce(to.to(device()), table, by.to(device()), how)),
              doubles(scatter_reduce(to, table.to(cpu()), by, how)))
        << static_cast<int>(how);
  }
}
TEST_P(AddedRows, RefuseAPlaceThatIsNotThere) {
  const Tensor x = zeros({1000, 64}), from = ones({3000, 64});
  for (const std::int32_t wrong : {1000, -1001}) {
    std::vector<std::int32_t> table(3000, 7);
    table[2999] = wrong;
    EXPECT_THROW((void)doubles(scatter_add(x, tensor(table), from)), Error) << wrong;
  }
}

}  // namespace
}  // namespace tern::test
