// Numbers at the edges of their dtypes in CUDA's kernels, without a GPU: their texts on the host against the CPU.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which do not know fibers

#include <cmath>
#include <functional>

#include "host_gpu.hpp"
#include "ops/random/random.hpp"
#include "primitives/fused/operation.hpp"

namespace tern::test {
namespace {

/// f of the operands there and here: the same values, but for `units` of rounding.
void expect_alike(const std::string& what, HostGpu& gpu, const Tensors& x,
                  const std::function<Tensor(const Tensors&)>& f, double units = 0) {
  Tensors there;
  for (const Tensor& t : x) there.push_back(gpu.from(t));
  const Tensor got = HostGpu::to_cpu(f(there)), want = f(x);
  ASSERT_EQ(got.dtype(), want.dtype()) << what;
  ASSERT_EQ(got.shape(), want.shape()) << what;
  if (got.dtype() == i64) {
    EXPECT_EQ(got.to_vector<std::int64_t>(), want.to_vector<std::int64_t>()) << what;
    return;
  }
  const std::vector<double> a = got.to(f64).to_vector<double>(), b = want.to(f64).to_vector<double>();
  for (std::size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], units * (std::abs(b[i]) + 1)) << what << " at " << i;
}

Tensor words(std::uint64_t seed) {
  Generator g{seed};
  return concatenate(std::vector{randint(0, 1ll << 32, {61}, g, {.dtype = u32, .device = cpu()}),
                                 tensor(std::vector<std::uint32_t>{0, 0xffffffffu, 1u << 31}, {3}, cpu())});
}

TEST(OnHostNumbers, WhatIsMadeOfWords) {
  HostGpu gpu(false);
  const Tensors x{words(1), words(2), words(3), words(4)};
  constexpr Pointwise narrow{"narrow", [](auto a, auto b) { return detail::normal_pair(a, b)[0]; }};
  constexpr Pointwise other{"other", [](auto a, auto b) { return detail::normal_pair(a, b)[1]; }};
  constexpr Pointwise wide{"wide", [](auto a, auto b, auto c, auto d) { return detail::wide_normal_of({a, b, c, d}); }};
  constexpr Pointwise high{"high", [](auto a, auto b, auto c, auto d) {
                             return detail::wide_mul_high({a, b}, {c, d});
                           }};
  expect_alike("normals", gpu, x, [&](const Tensors& t) { return narrow(t[0], t[1]); }, 64 * 0x1p-24);
  expect_alike("their pairs", gpu, x, [&](const Tensors& t) { return other(t[0], t[1]); }, 64 * 0x1p-24);
  expect_alike("normals in f64", gpu, x, [&](const Tensors& t) { return wide(t[0], t[1], t[2], t[3]); }, 64 * 0x1p-53);
  expect_alike("products of 64 bits", gpu, x, [&](const Tensors& t) { return high(t[0], t[1], t[2], t[3]); });
  const std::vector<std::uint32_t> a = x[0].to_vector<std::uint32_t>(), b = x[1].to_vector<std::uint32_t>(),
                                   c = x[2].to_vector<std::uint32_t>(), d = x[3].to_vector<std::uint32_t>();
  const std::vector<std::int64_t> got = high(x[0], x[1], x[2], x[3]).to_vector<std::int64_t>();
  for (std::size_t i = 0; i < got.size(); ++i) {
    const unsigned __int128 left = a[i] | static_cast<std::uint64_t>(b[i]) << 32,
                            right = c[i] | static_cast<std::uint64_t>(d[i]) << 32;
    EXPECT_EQ(static_cast<std::uint64_t>(got[i]), static_cast<std::uint64_t>(left * right >> 64));
  }
}

TEST(OnHostNumbers, ShiftsSumsAndComparisonsOfIntegers) {
  HostGpu gpu(false);
  const Tensor all = arange(-300, 300, 1, {.dtype = i32, .device = cpu()});
  for (const DType d : {u8, i8, i16}) {
    const std::string name(to_string(d));
    const Tensor x = all.to(d), counts = arange(0, 600, 1, {.dtype = i32, .device = cpu()}).to(d);
    expect_alike("x << n in " + name, gpu, {x, counts}, [](const Tensors& t) { return t[0] << t[1]; });
    expect_alike("x >> n in " + name, gpu, {x, counts}, [](const Tensors& t) { return t[0] >> t[1]; });
    expect_alike("x << 17 in " + name, gpu, {x}, [](const Tensors& t) { return t[0] << 17; });
    const Tensor many = full({3, 70000}, 100, {.dtype = d, .device = cpu()});
    expect_alike("sum in " + name, gpu, {many}, [](const Tensors& t) { return sum(t[0], 1); });
    expect_alike("mean in " + name, gpu, {many}, [](const Tensors& t) { return mean(t[0]); });
    expect_alike("sum as u8 in " + name, gpu, {x}, [](const Tensors& t) { return sum(t[0], {}, false, u8); });
  }
  const Tensor wide = tensor(std::vector<std::int64_t>{INT64_MIN, -1, 0, 5, INT64_MAX}, {5}, cpu()),
               here = gpu.from(wide);
  EXPECT_TRUE(allclose(here, gpu.from(wide.clone()), 0, 0));
  const Tensor other = gpu.from(tensor(std::vector<std::int64_t>{INT64_MAX, -1, 0, 5, INT64_MAX}, {5}, cpu()));
  EXPECT_FALSE(allclose(here, other, 0, 0x1p63));
  EXPECT_TRUE(allclose(here, other, 0, 0x1p64));
}

TEST(OnHostNumbers, IndicesOf64Bits) {
  HostGpu gpu(false);
  const Tensor x = arange(0, 12, 1, {.dtype = f32, .device = cpu()}).reshape({4, 3});
  const Tensor at = tensor(std::vector<std::int64_t>{3, -4, 1, 0}, {4}, cpu());
  expect_alike("take", gpu, {x, at}, [](const Tensors& t) { return take(t[0], t[1]); });
  expect_alike("scatter_add", gpu, {x, at}, [](const Tensors& t) { return scatter_add(t[0], t[1], t[0]); });
  const Tensor beyond = gpu.from(tensor(std::vector<std::int64_t>{(1ll << 32) + 1, -(1ll << 32), 2}, {3}, cpu()));
  const Tensor narrow = HostGpu::to_cpu(detail::as_i32("test", beyond));
  EXPECT_EQ(narrow.to_vector<std::int32_t>(), (std::vector<std::int32_t>{INT32_MIN, INT32_MIN, 2}));
}

TEST(OnHostNumbers, NothingIsLaunchedForAnEmptyAxis) {
  HostGpu gpu(false);
  const Tensor none = gpu.from(zeros({0, 2}, cpu())), at = gpu.from(zeros({1}, {.dtype = i32, .device = cpu()}));
  const Tensor source = gpu.from(ones({1, 2}, cpu()));
  const int before = gpu.launches;
  EXPECT_THROW(take(none, at), Error);
  EXPECT_THROW(gather(none, gpu.from(zeros({1, 2}, {.dtype = i32, .device = cpu()})), 0), Error);
  EXPECT_THROW(scatter_add(none, at, source), Error);
  EXPECT_EQ(gpu.launches, before);
}

}  // namespace
}  // namespace tern::test
#endif
