// Products of whole numbers, which every order of summation gives exactly: each number of rows, layouts of both
// operands, depths of several blocks, batches and sums over them, integers that wrap, by one to four threads.
#include <string>

#include "contract/compare.hpp"
#include "contract/guarded.hpp"

namespace tern::contract {
namespace {

/// -1, 0 or 1: sums of thousands are exact in f32.
double digit(std::uint64_t i) { return static_cast<double>((i * 0x9e3779b97f4a7c15u >> 40) % 3) - 1; }

/// rows × cols whole numbers, laid out as `how` says.
Tensor laid_out(std::int64_t rows, std::int64_t cols, DType dtype, char how, std::uint64_t seed) {
  const std::int64_t up = how == 's' ? 2 : 1, gap = how == 'g' ? 5 : 0;
  const bool turned = how == 't';
  const Shape whole = turned ? Shape{cols, rows} : Shape{rows * up, cols * up + gap};
  std::vector<double> values;
  for (std::int64_t i = 0; i < whole[0] * whole[1]; ++i) values.push_back(digit(seed + static_cast<std::uint64_t>(i)));
  const Tensor t = tensor(values, whole).to(dtype);
  if (turned) return t.transpose(0, 1);
  if (how == 'b') return t.slice(0, 0, 1).broadcast_to({rows, cols});
  if (how == 'c') return t.slice(1, 0, 1).broadcast_to({rows, cols});
  return t.slice(0, 0, rows * up, up).slice(1, 0, cols * up, up);
}

struct Sizes {
  std::int64_t m, k, n;
  std::string text() const { return std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n) + " "; }
};

/// The product in plain loops.
std::vector<double> sums(const Tensor& a, const Tensor& b) {
  const std::int64_t m = a.size(0), k = a.size(1), n = b.size(1);
  const std::vector<double> x = a.to(f64).to_vector<double>(), y = b.to(f64).to_vector<double>();
  std::vector<double> c(static_cast<std::size_t>(m * n));
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t p = 0; p < k; ++p)
      for (std::int64_t j = 0; j < n; ++j)
        c[static_cast<std::size_t>(i * n + j)] +=
            x[static_cast<std::size_t>(i * k + p)] * y[static_cast<std::size_t>(p * n + j)];
  return c;
}

class ExactProducts : public testing::TestWithParam<DType> {
 protected:
  void expect(const Tensor& a, const Tensor& b, const std::vector<double>& want, const std::string& what) {
    const int before = num_threads();
    const std::vector<double> rounded = tensor(want).to(GetParam()).to(f64).to_vector<double>();
    for (const int threads : {1, 2, 3, 4}) {
      set_num_threads(threads);
      EXPECT_EQ(matmul(a, b).to(f64).to_vector<double>(), rounded) << what << " with " << threads << " threads";
    }
    set_num_threads(before);
  }
  /// The first 1 … `most` rows of A.
  void expect_rows(std::int64_t most, std::int64_t k, std::int64_t n, char a_how, char b_how) {
    const Tensor a = laid_out(most, k, GetParam(), a_how, 1), b = laid_out(k, n, GetParam(), b_how, 7);
    const std::vector<double> all = sums(a, b);
    for (std::int64_t m = 1; m <= most; ++m)
      expect(a.slice(0, 0, m), b, {all.begin(), all.begin() + m * n},
             Sizes{m, k, n}.text() + a_how + b_how);
  }
};
INSTANTIATE_TEST_SUITE_P(Floats, ExactProducts, testing::Values(f16, bf16, f32, f64),
                         [](const auto& type) { return std::string(to_string(type.param)); });

/// Of more than 32 KiB, and met by more than 128 columns: A is packed. The depths are one block, one and a bit, three.
TEST_P(ExactProducts, OfEveryNumberOfRows) {
  for (const char a : {'r', 't', 'g', 's'}) expect_rows(44, 1030, 133, a, 'r');
  for (const char b : {'t', 'g', 's'}) expect_rows(30, 1030, 150, 'r', b);
  expect_rows(20, 2100, 160, 'g', 'g');
  for (const char a : {'r', 't'})
    for (const char b : {'r', 's'}) expect_rows(9, 8300, 131, a, b);
  expect_rows(9, 8300, 300, 'r', 'r');
  expect_rows(30, 1027, 140, 'b', 'r');
  expect_rows(30, 1027, 140, 'c', 'r');
}

/// Met by up to 128 columns: f32 and f64 read A in place, of almost any strides, and from 65 rows on B is packed.
TEST_P(ExactProducts, OfAnAInPlace) {
  for (const char how : {'r', 't', 'g', 's', 'b', 'c'})
    for (const Sizes s : {Sizes{30, 300, 60}, {65, 300, 60}, {75, 1100, 100}, {141, 40, 31}, {100, 5, 128}}) {
      const Tensor a = laid_out(s.m, s.k, GetParam(), how, 41), b = laid_out(s.k, s.n, GetParam(), 'r', 43);
      expect(a, b, sums(a, b), s.text() + how);
    }
}

/// Rows of B of 2 KiB and more: the blocks of the depth are short. Some processors read up to 512 rows' B in place.
TEST_P(ExactProducts, OfLongRows) {
  expect_rows(20, 1030, 600, 'r', 'r');
  expect_rows(5, 3000, 600, 'r', 'r');
  for (const Sizes s : {Sizes{64, 300, 1100}, {65, 700, 1100}, {512, 520, 1300}, {513, 520, 1300}}) {
    const Tensor a = laid_out(s.m, s.k, GetParam(), 'r', 51), b = laid_out(s.k, s.n, GetParam(), 'r', 53);
    expect(a, b, sums(a, b), s.text());
  }
}

/// Tiles of several calls, and as many for each thread: of all rows, packed once for all threads or by each.
TEST_P(ExactProducts, OfManyTiles) {
  for (const Sizes s : {Sizes{200, 65, 256}, {300, 300, 130}, {257, 129, 257}, {784, 64, 256}, {1023, 77, 213},
                        {130, 1100, 600}, {300, 1100, 300}, {400, 40, 2100}, {15, 701, 144}, {29, 1024, 48}})
    for (const char* how : {"rr", "tr", "rt", "tt", "gg"}) {
      const Tensor a = laid_out(s.m, s.k, GetParam(), how[0], 3), b = laid_out(s.k, s.n, GetParam(), how[1], 5);
      expect(a, b, sums(a, b), s.text() + how);
    }
}

/// The last: tiles enough for each thread to keep what it has packed of a B, for all batches or for one.
TEST_P(ExactProducts, OfBatches) {
  constexpr std::int64_t batches = 3;
  for (const Sizes s : {Sizes{40, 150, 140}, {300, 150, 290}}) {
    const Tensor a = laid_out(batches * s.m, s.k, GetParam(), 'r', 11),
                 b = laid_out(batches * s.k, s.n, GetParam(), 'r', 13);
    const Tensor each = a.reshape({batches, s.m, s.k}), first = b.slice(0, 0, s.k);
    expect(each, first, sums(a, first), s.text() + "one b");
    expect(each.slice(0, 2, 3), first.reshape({1, s.k, s.n}), sums(a.slice(0, 2 * s.m, 3 * s.m), first),
           s.text() + "a batch");
    std::vector<double> want;
    for (std::int64_t i = 0; i < batches; ++i) {
      const std::vector<double> one = sums(a.slice(0, i * s.m, (i + 1) * s.m), b.slice(0, i * s.k, (i + 1) * s.k));
      want.insert(want.end(), one.begin(), one.end());
    }
    expect(each, b.reshape({batches, s.k, s.n}), want, s.text() + "a b each");
  }
}

/// The gradient of a B that all batches share, a sum over batches whose rows are in turn, so that no one matrix is a
/// view of all: one block of the depth, several batches to a block and the last alone, batches longer than a block.
TEST_P(ExactProducts, OverBatches) {
  struct Batches { std::int64_t count, rows, m, n; };
  for (const Batches s : {Batches{3, 40, 150, 140},
                          {7, 300, 20, 100},
                          {4, 300, 40, 140},
                          {2, 1100, 20, 140},
                          {2, 2, 70, 300},
                          {4, 1, 33, 4099},
                          {3, 2, 20, 300}}) {
    const Tensor a =
        laid_out(s.count * s.rows, s.m, GetParam(), 'r', 29).reshape({s.rows, s.count, s.m}).transpose(0, 1);
    const Tensor g = laid_out(s.count * s.rows, s.n, GetParam(), 'r', 31);
    const Var weights(zeros({s.m, s.n}, GetParam()));
    const Tensor got = backward(matmul(Var(a, false), weights), g.reshape({s.count, s.rows, s.n}))[weights];
    const Tensor rows = a.contiguous().reshape({s.count * s.rows, s.m});
    EXPECT_EQ(got.to(f64).to_vector<double>(),
              tensor(sums(rows.transpose(0, 1), g)).to(GetParam()).to(f64).to_vector<double>());
  }
}

/// Up to four steps of k: rows of C are written one after the other, in tiles of up to 4096 columns. The largest
/// results pass by the caches of many processors.
TEST_P(ExactProducts, OfShortDepths) {
  for (std::int64_t k = 1; k <= 5; ++k)
    for (const Sizes s : {Sizes{1, k, 256}, {3, k, 255}, {70, k, 257}, {5, k, 4096}, {40, k, 4097}, {600, k, 290}})
      for (const char* how : {"rr", "tt", "sg", "cr", "rb"}) {
        const Tensor a = laid_out(s.m, k, GetParam(), how[0], 61), b = laid_out(k, s.n, GetParam(), how[1], 67);
        expect(a, b, sums(a, b), s.text() + how);
        const Tensor with = matmul_bias_activation(a, b, ones({s.n}, GetParam()), op::identity) - 1;
        EXPECT_EQ(with.to(f64).to_vector<double>(), sums(a, b)) << s.text() << how;
      }
  for (const Sizes s : {Sizes{1100, 2, 4112}, {1100, 1, 4100}}) {
    const Tensor a = laid_out(s.m, s.k, GetParam(), 'r', 71), b = laid_out(s.k, s.n, GetParam(), 'r', 73);
    expect(a, b, sums(a, b), s.text());
  }
}

/// Few columns of a transposed A: the transposed product is computed and turned back, into C or for the epilogue.
TEST_P(ExactProducts, OfFewColumns) {
  for (const std::int64_t m : {64, 200})
    for (std::int64_t n = 1; n <= 17; ++n) {
      const Tensor a = laid_out(m, 37, GetParam(), 't', 37), b = laid_out(37, n, GetParam(), 'r', 41);
      const std::vector<double> want = sums(a, b);
      expect(a, b, want, Sizes{m, 37, n}.text());
      const Tensor with = matmul_bias_activation(a, b, ones({n}, GetParam()), op::identity) - 1;
      EXPECT_EQ(with.to(f64).to_vector<double>(), want) << n;
    }
}

/// Calls `check` with the same elements, or those of the matrices stored transposed, that end where their memory does:
/// what is read beyond ends the program.
template <class Check> void at_end_of_memory(const Tensor& t, bool turned, const Check& check) {
  const Tensor whole = turned ? t.transpose(-2, -1).contiguous() : t.contiguous();
  const Guarded memory(static_cast<std::size_t>(t.numel()) * dtype_size(t.dtype()));
  const Tensor end = guarded(memory, whole);
  check(turned ? end.transpose(-2, -1) : end);
}

TEST_P(ExactProducts, ReadNothingBehindTheirOperands) {
  std::vector<Sizes> sizes{{29, 1029, 131}, {75, 1029, 131}, {15, 701, 144}, {29, 1024, 48}, {31, 17, 7}};
  for (const std::int64_t m : {6, 7, 8, 13})  // calls of 3 and 4 rows, of 6 and 7, whose widest tiles differ
    for (const std::int64_t n : {12, 24, 31, 48, 64, 257, 300, 4099}) sizes.push_back({m, 3, n});
  for (const Sizes& s : sizes)
    for (const bool a_turned : {false, true})
      for (const bool b_turned : {false, true}) {
        const Tensor a = laid_out(s.m, s.k, GetParam(), 'r', 19), b = laid_out(s.k, s.n, GetParam(), 'r', 23);
        const std::vector<double> want = sums(a, b);
        at_end_of_memory(a, a_turned, [&](const Tensor& x) {
          at_end_of_memory(b, b_turned, [&](const Tensor& y) { expect(x, y, want, s.text() + "at memory's end"); });
        });
      }
}

/// Batches of small products, of which vectors hold several.
TEST_P(ExactProducts, ReadNothingBehindABatch) {
  for (const Sizes s : {Sizes{2, 2, 2}, {3, 3, 3}, {3, 3, 1}, {1, 3, 3}, {4, 4, 4}, {1, 1, 2}, {2, 5, 3}, {5, 5, 5},
                        {6, 6, 6}, {3, 4, 7}, {8, 8, 8}, {9, 7, 12}})
    for (const std::int64_t batches : {40, 133})
      for (const bool a_turned : {false, true})
        for (const bool b_turned : {false, true}) {
          const Tensor a = laid_out(batches * s.m, s.k, GetParam(), 'r', 19).reshape({batches, s.m, s.k}),
                       b = laid_out(batches * s.k, s.n, GetParam(), 'r', 23).reshape({batches, s.k, s.n});
          std::vector<double> want;
          for (std::int64_t i = 0; i < batches; ++i) {
            const std::vector<double> one = sums(a[i], b[i]);
            want.insert(want.end(), one.begin(), one.end());
          }
          at_end_of_memory(a, a_turned, [&](const Tensor& x) {
            at_end_of_memory(b, b_turned, [&](const Tensor& y) { expect(x, y, want, s.text() + "at memory's end"); });
          });
        }
}

/// Integers, whose sums wrap.
TEST(ExactIntegerProducts, OfEveryLayout) {
  for (const DType dtype : {i32, u32, i64})
    for (const Sizes s : {Sizes{40, 300, 140}, {200, 37, 7}, {5, 9000, 150}, {30, 3, 301}})
      for (const char* how : {"rr", "tr", "rt", "tt", "sg"}) {
        const std::int64_t large = dtype == i64 ? std::int64_t{3} << 61 : std::int64_t{3} << 29;
        const Tensor a = laid_out(s.m, s.k, i64, how[0], 43) * large, b = laid_out(s.k, s.n, i64, how[1], 47);
        const std::vector<std::int64_t> x = a.to_vector<std::int64_t>(), y = b.to_vector<std::int64_t>();
        std::vector<std::uint64_t> want(static_cast<std::size_t>(s.m * s.n));
        for (std::int64_t i = 0; i < s.m; ++i)
          for (std::int64_t p = 0; p < s.k; ++p)
            for (std::int64_t j = 0; j < s.n; ++j)
              want[static_cast<std::size_t>(i * s.n + j)] +=
                  static_cast<std::uint64_t>(x[static_cast<std::size_t>(i * s.k + p)]) *
                  static_cast<std::uint64_t>(y[static_cast<std::size_t>(p * s.n + j)]);
        const std::vector<std::int64_t> got = matmul(a.to(dtype), b.to(dtype)).to(i64).to_vector<std::int64_t>();
        for (std::size_t i = 0; i < want.size(); ++i) {
          const auto expected = dtype == i64   ? static_cast<std::int64_t>(want[i])
                                : dtype == u32 ? static_cast<std::int64_t>(static_cast<std::uint32_t>(want[i]))
                                               : static_cast<std::int64_t>(static_cast<std::int32_t>(want[i]));
          ASSERT_EQ(got[i], expected) << to_string(dtype) << " " << s.text() << how << " at " << i;
        }
      }
}

}  // namespace
}  // namespace tern::contract
