// Operands whose neighbours lie along another axis than the results': GPUs take them in tiles.
#include <algorithm>
#include <array>

#include "every_device.hpp"
#include "every_device/reference.hpp"

namespace tern::test {
namespace {

class Transposed : public EveryDevice {};
TERN_EVERY_DEVICE(Transposed);

/// 0, 1, 2, … modulo 251, exact in every dtype but those of 8 bits with a sign, which wrap alike everywhere.
Tensor counted_to_251(const Shape& shape, DType dtype) {
  return (arange(0, shape.numel(), 1, {.dtype = i32}) % 251).reshape(shape).to(dtype);
}
void expect_like_cpu(const std::string& what, const std::vector<Tensor>& x,
                     const std::function<Tensor(const std::vector<Tensor>&)>& call) {
  std::vector<Tensor> there;
  for (const Tensor& t : x) there.push_back(t.to(cpu()));
  const Tensor got = call(x), want = call(there);
  ASSERT_EQ(got.shape(), want.shape()) << what;
  EXPECT_EQ(doubles(got), doubles(want)) << what;
}

TEST_P(Transposed, CopiesOfEveryDtypeAndSize) {
  for (const DType d : {DType::boolean, DType::u8, DType::i16, f16, bf16, f32, i32, f64, i64}) {
    if (!supports(device(), d)) continue;
    for (const auto& [m, n] :
         {std::pair{16, 16}, {48, 64}, {33, 40}, {200, 17}, {15, 64}, {64, 15}, {31, 256}, {1000, 24}})
      expect_like_cpu(std::string(to_string(d)) + " " + std::to_string(m) + "x" + std::to_string(n),
                      {counted_to_251({m, n}, d)}, [](const auto& x) { return x[0].transpose(0, 1).contiguous(); });
  }
}

/// Sizes on both sides of the CPU's tiles, and of what it writes past the caches.
TEST_P(Transposed, EveryElementIsInItsPlace) {
  std::vector<std::array<std::int64_t, 3>> sizes{{2, 9, 63}, {3, 64, 128}, {2, 65, 129}, {1, 131, 200}, {2, 300, 70}};
  if (device() == cpu()) sizes.push_back({1, 2048, 2064}), sizes.push_back({2, 1032, 2056});
  for (const DType d : {f32, i32, f64, i64})
    for (const auto& [batch, m, n] : sizes) {
      if (!supports(device(), d)) continue;
      const Tensor x = arange(0, batch * m * n, 1, {.dtype = i32}).to(d).reshape({batch, m, n});
      const Tensor turned = x.transpose(1, 2).contiguous().to(i32),
                   part = x.slice(2, 1, n).transpose(1, 2).contiguous();
      const std::vector<std::int32_t> got = turned.to_vector<std::int32_t>(),
                                      of_part = part.to(i32).to_vector<std::int32_t>();
      std::size_t at = 0, within = 0;
      for (std::int64_t b = 0; b < batch; ++b)
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t i = 0; i < m; ++i) {
            const std::int64_t want = (b * m + i) * n + j;
            ASSERT_EQ(got[at++], want) << to_string(d) << " " << m << "x" << n;
            if (j > 0) ASSERT_EQ(of_part[within++], want) << to_string(d) << " part of " << m << "x" << n;
          }
    }
}

/// Runs that stay together, within the caches and past them.
TEST_P(Transposed, RunsAreInTheirPlaces) {
  std::vector<std::array<std::int64_t, 3>> sizes{{3, 5, 20}, {7, 40, 16}};
  if (device() == cpu()) sizes.push_back({130, 510, 64}), sizes.push_back({510, 130, 65});
  for (const auto& [m, n, run] : sizes) {
    const Tensor x = arange(0, m * n * run, 1, {.dtype = i32}).to(f32).reshape({m, n, run});
    const std::vector<float> got = x.transpose(0, 1).contiguous().to_vector<float>();
    std::size_t at = 0;
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t k = 0; k < run; ++k)
          ASSERT_EQ(got[at++], static_cast<float>((i * n + j) * run + k)) << m << "x" << n << "x" << run;
  }
}

TEST_P(Transposed, AxesInEveryOrder) {
  for (const DType d : {f32, bf16}) {
    if (!takes(device(), d)) continue;
    const Tensor x = counted_to_251({24, 5, 40, 16}, d);
    std::vector<int> order{0, 1, 2, 3};
    do {
      expect_like_cpu("order", {x}, [&](const auto& a) {
        return a[0].permute({order[0], order[1], order[2], order[3]}).contiguous();
      });
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST_P(Transposed, AmongOtherOperands) {
  for (const DType d : {f32, f16}) {
    const Tensor a = counted_to_251({3, 72, 96}, d), b = counted_to_251({3, 96, 72}, d), row = counted_to_251({96}, d),
                 column = counted_to_251({72, 1}, d);
    expect_like_cpu("sum", {a, b}, [](const auto& x) { return x[0] + x[1].transpose(1, 2); });
    expect_like_cpu("broadcast", {a, b, row, column},
                    [](const auto& x) { return x[0] * x[2] + x[1].transpose(1, 2) - x[3]; });
    expect_like_cpu("one for all batches", {a, b},
                    [](const auto& x) { return x[0] + x[1].slice(0, 1, 2).transpose(1, 2); });
    expect_like_cpu("parts", {a, b}, [](const auto& x) {
      return x[0].slice(2, 16, 88) + x[1].transpose(1, 2).slice(1, 0, 72).slice(2, 8, 80);
    });
    expect_like_cpu("every other", {a, b},
                    [](const auto& x) { return x[0] + x[1].transpose(1, 2).slice(1, 0, 72, 1) * 2; });
    expect_like_cpu("itself", {counted_to_251({64, 64}, d)}, [](const auto& x) { return x[0] + x[0].transpose(0, 1); });
  }
}

TEST_P(Transposed, WithPositions) {
  const Pointwise<> placed("placed",
                           [](auto x) { return x + cast(100 * tern::index(x, -2) + tern::index(x, -1), f32); });
  const Tensor b = counted_to_251({80, 48}, f32);
  expect_like_cpu("positions", {b}, [&](const auto& x) { return placed(x[0].transpose(0, 1)); });
}

TEST_P(Transposed, InPlace) {
  Tensor x = counted_to_251({64, 80}, f32), y = x.to(cpu());
  const Tensor b = counted_to_251({80, 64}, f32);
  x += b.transpose(0, 1), y += b.to(cpu()).transpose(0, 1);
  EXPECT_EQ(doubles(x), doubles(y));
}

}  // namespace
}  // namespace tern::test
