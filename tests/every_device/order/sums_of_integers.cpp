// scatter_add of integers, and counts, which GPUs add by atomics: in tables of a workgroup up to 8192 places and from
// 1024 entries on, twice as many as places, else in memory; up to 128 entries of a place are looked through. On the CPU
// the same sums, which no order changes: the reference adds one by one, modulo 2^32 or 2^64.
#include <numeric>

#include "every_device/order/scrambled.hpp"
#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class SumsOfIntegers : public EveryDevice {};
TERN_EVERY_DEVICE(SumsOfIntegers);

using Places = std::vector<std::int32_t>;

/// Places by chance, some of them from the end; `same`: all the last but one.
Places places_of(std::int64_t entries, std::int64_t size, bool same = false) {
  Places at(static_cast<std::size_t>(entries));
  for (std::size_t i = 0; i < at.size(); ++i) {
    const std::int64_t any = scrambled(static_cast<std::uint32_t>(i)) % static_cast<std::uint64_t>(size);
    const std::int64_t place = same ? std::max<std::int64_t>(size - 2, 0) : any;
    at[i] = static_cast<std::int32_t>(i % 5 == 0 ? place - size : place);
  }
  return at;
}
/// Numbers of all bits of T, or small ones of both signs.
template <class T> std::vector<T> numbers(std::size_t count, std::uint32_t seed, bool small = false) {
  std::vector<T> x(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto n = static_cast<std::uint32_t>(i) + seed;
    const std::uint64_t bits = std::uint64_t{scrambled(n)} << 32 | scrambled(n + 77);
    x[i] = small ? static_cast<T>(static_cast<std::int64_t>(bits % 7) - 3) : static_cast<T>(bits);
  }
  return x;
}
/// Rows of `columns` added one by one.
template <class T>
std::vector<T> added(std::vector<T> sums, const Places& at, const std::vector<T>& source, std::size_t columns = 1) {
  using Unsigned = std::make_unsigned_t<T>;
  const auto size = static_cast<std::int64_t>(sums.size() / columns);
  for (std::size_t i = 0; i < at.size(); ++i)
    for (std::size_t c = 0; c < columns; ++c) {
      T& sum = sums[static_cast<std::size_t>(at[i] < 0 ? at[i] + size : at[i]) * columns + c];
      sum = static_cast<T>(static_cast<Unsigned>(sum) + static_cast<Unsigned>(source[i * columns + c]));
    }
  return sums;
}
template <class T> void expect_sums(std::int64_t entries, std::int64_t size, bool same = false, bool small = false) {
  const Places at = places_of(entries, size, same);
  const std::vector<T> x = numbers<T>(static_cast<std::size_t>(size), 5), source = numbers<T>(at.size(), 9, small);
  const Tensor before = tensor(x);
  EXPECT_TRUE(scatter_add(before, tensor(at), tensor(source)).template to_vector<T>() == added(x, at, source))
      << entries << " of " << 8 * sizeof(T) << " bits into " << size << (same ? ", all in one" : "");
  EXPECT_TRUE(before.template to_vector<T>() == x);
}

// Both sides of how many entries are looked through (128), of the fewest of a table (1024, and twice the places), of a
// share (8192), and of tables of 2048, 4096 and 8192 words, of one copy and more.
TEST_P(SumsOfIntegers, OfEverySizeOfATable) {
  for (const std::int64_t entries : {0, 1, 127, 128, 129, 130, 1023, 1024, 1025, 8192, 8193, 20'011})
    expect_sums<std::int32_t>(entries, 7);
  for (const std::int64_t size : {1, 2, 63, 64, 65, 1024, 1025, 2048, 2049, 4096, 4097, 8192, 8193, 30'000}) {
    expect_sums<std::int32_t>(2 * size, size), expect_sums<std::int32_t>(2 * size - 1, size);
    expect_sums<std::int32_t>(2 * size + 3001, size);
  }
}
TEST_P(SumsOfIntegers, AllInOnePlace) {
  for (const std::int64_t size : {1, 4, 100, 3000, 70'000}) expect_sums<std::int32_t>(100'003, size, true);
  const std::int64_t many = in_software(device()) ? 1 << 20 : 1 << 24;
  for (const std::int64_t size : {1, 100, 20'000}) {
    const Tensor ones_of_all = ones({1}, {.dtype = i32}).broadcast_to({many});
    const Tensor at = zeros({many}, {.dtype = i32}) + (size - 1);
    std::vector<std::int32_t> want(static_cast<std::size_t>(size));
    want.back() = static_cast<std::int32_t>(many);
    EXPECT_TRUE(scatter_add(zeros({size}, {.dtype = i32}), at, ones_of_all).to_vector<std::int32_t>() == want) << size;
    if (size > 1) continue;
    EXPECT_EQ(bincount(at).to_vector<std::int32_t>(), want);
  }
}
TEST_P(SumsOfIntegers, OfUnsignedNumbersAndOf64Bits) {
  for (const std::int64_t size : {3, 2500, 9000}) {
    expect_sums<std::uint32_t>(20'001, size);
    if (!supports(device(), i64)) continue;
    for (const bool small : {false, true})
      for (const bool same : {false, true}) expect_sums<std::int64_t>(20'001, size, same, small);
  }
}
TEST_P(SumsOfIntegers, OfNarrowNumbers) {
  const Places at = places_of(3001, 11);
  for (const DType d : {u8, i8, i16}) {
    const auto sums = [&](Device on) {
      const Tensor source = (arange(0, 3001, 1, {.dtype = i32, .device = on}) % 3).to(d);
      return scatter_add(zeros({11}, {.dtype = d, .device = on}), tensor(at, {3001}, on), source);
    };
    EXPECT_EQ(doubles(sums(device())), doubles(sums(cpu()))) << d;
  }
}

// Rows by one table, lines and columns with tables of their own, fewer than a workgroup's kernel of lines takes, and
// views that do not lie as they are read.
TEST_P(SumsOfIntegers, OfRowsAndLines) {
  for (const std::int64_t size : {6, 9001})
    for (const std::int64_t columns : {1, 3, 64}) {
      const std::int64_t entries = columns == 64 ? 300 : 2100;
      const Places at = places_of(entries, size);
      const auto x = numbers<std::int32_t>(static_cast<std::size_t>(size * columns), 1),
                 source = numbers<std::int32_t>(static_cast<std::size_t>(entries * columns), 2);
      const std::vector<std::int32_t> want = added(x, at, source, static_cast<std::size_t>(columns));
      const Tensor to = tensor(x, {size, columns}), from = tensor(source, {entries, columns});
      EXPECT_TRUE(scatter_add(to, tensor(at), from).to_vector<std::int32_t>() == want) << size << ' ' << columns;
      const Tensor across = scatter_add(to.transpose(0, 1), tensor(at), from.transpose(0, 1), 1);
      EXPECT_TRUE(across.transpose(0, 1).to_vector<std::int32_t>() == want) << size << ' ' << columns;
      const Tensor own = tensor(at, {entries, 1}).broadcast_to({entries, columns});
      EXPECT_TRUE(scatter_add(to, own, from, 0).to_vector<std::int32_t>() == want) << size << ' ' << columns;
      const Tensor lines = scatter_add(to.transpose(0, 1).contiguous(), own.transpose(0, 1).contiguous(),
                                       from.transpose(0, 1).contiguous(), 1);
      EXPECT_TRUE(lines.transpose(0, 1).to_vector<std::int32_t>() == want) << size << ' ' << columns;
    }
}
TEST_P(SumsOfIntegers, OfViews) {
  const Places at = places_of(9000, 40);
  const auto source = numbers<std::int32_t>(9000, 3);
  Places odd, turned(at.rbegin(), at.rend());
  std::vector<std::int32_t> odd_source;
  for (std::size_t i = 1; i < at.size(); i += 2) odd.push_back(at[i]), odd_source.push_back(source[i]);
  const std::vector<std::int32_t> none(40);
  const Tensor x = zeros({40}, {.dtype = i32}), table = tensor(at), from = tensor(source);
  EXPECT_TRUE(scatter_add(x, table.slice(0, 1, {}, 2), from.slice(0, 1, {}, 2)).to_vector<std::int32_t>() ==
              added(none, odd, odd_source));
  EXPECT_TRUE(scatter_add(x, table.slice(0, {}, {}, -1), from).to_vector<std::int32_t>() ==
              added(none, turned, source));
  // Of a table of two axes: as of one.
  EXPECT_TRUE(scatter_add(x, table.reshape({90, 100}), from.reshape({90, 100})).to_vector<std::int32_t>() ==
              added(none, at, source));
  // One entry for all.
  const Tensor everywhere = scatter_add(x, tensor({-3}).broadcast_to({9000}), from);
  EXPECT_EQ(everywhere.to_vector<std::int32_t>(), added(none, Places(9000, -3), source));
}
TEST_P(SumsOfIntegers, IndicesOutOfRangeAreErrors) {
  for (const std::int32_t size : {4, 9000})
    for (const std::int32_t wrong : {size, -size - 1, INT32_MIN}) {
      Places at(7000, 1);
      at[6500] = wrong;
      expect_error(ErrorKind::index, {"scatter_add", std::to_string(wrong), "size " + std::to_string(size)}, [&] {
        (void)scatter_add(zeros({size}, {.dtype = i32}), tensor(at), ones({7000}, {.dtype = i32}))
            .to_vector<std::int32_t>();
      });
    }
}
TEST_P(SumsOfIntegers, Replayed) {
  Tensor at = tensor(places_of(5000, 9)), sums;
  const Tensor x = ones({9}, {.dtype = i32}), from = tensor(numbers<std::int32_t>(5000, 4));
  const Graph graph = capture(device(), [&] { sums = scatter_add(x, at, from); });
  for (const bool same : {false, true, false}) {
    const Places other = places_of(5000, 9, same);
    at.copy_from(tensor(other)), graph.replay();
    EXPECT_EQ(sums.to_vector<std::int32_t>(),
              added(std::vector<std::int32_t>(9, 1), other, numbers<std::int32_t>(5000, 4)));
  }
}

}  // namespace
}  // namespace tern::test
