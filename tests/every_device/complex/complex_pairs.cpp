// Products, quotients, squares and absolute values of complex numbers, which kernels of the CPU's compute as they lie
// in memory: the same bits as of numbers that lie apart, at every length and at the ends of the range.
#include <bit>
#include <complex>
#include <limits>

#include "every_device/complex/complex_numbers.hpp"

namespace tern::test {
namespace {

class ComplexPairs : public EveryDevice {};
TERN_EVERY_DEVICE(ComplexPairs);

/// Numbers of all sizes, of which some have zeros, infinities, NaN or subnormal parts. Every second 32 are near 1; of
/// these a half have no such parts, but zeros and the ends of what quotients do not scale, and some a number beyond.
template <class T> std::vector<std::complex<T>> odd_numbers(std::size_t count, unsigned seed) {
  constexpr T inf = std::numeric_limits<T>::infinity(), none = std::numeric_limits<T>::quiet_NaN();
  const T odd[] = {0,
                   -T(0),
                   inf,
                   -inf,
                   none,
                   std::numeric_limits<T>::denorm_min(),
                   std::numeric_limits<T>::max(),
                   std::numeric_limits<T>::min()};
  std::mt19937 random(seed);
  const auto part = [&](int most) {
    if (random() % 23 == 0) return odd[random() % std::size(odd)];
    const T unit = static_cast<T>(random()) / static_cast<T>(0xffffffffu) - T(0.5);
    return std::ldexp(unit, static_cast<int>(random() % static_cast<unsigned>(2 * most)) - most);
  };
  std::vector<std::complex<T>> z;
  const T ends[] = {T(0x1p30), T(-0x1p30), T(0x1p-30), T(0x1.7p-30), T(0x1.7p29), T(-0x1p-29)};
  for (std::size_t i = 0; i < count; ++i) {
    const int most = i / 32 % 2 ? 10 : sizeof(T) == 4 ? 120 : 1000;  // lines of vectors near 1, and of others
    if (i / 32 % 4 == 3) {
      const T end = ends[random() % std::size(ends)], small = random() % 3 ? end * T(0x1p-9) : T(0);
      const T beyond = i / 32 % 16 == 7 && i % 32 == 5 ? T(0.25) : i / 32 % 16 == 11 && i % 32 == 5 ? T(4) : T(1);
      if (random() % 2) z.emplace_back(end * beyond, small);
      else z.emplace_back(-small, end * beyond);
      continue;
    }
    const T re = part(most), im = part(most);
    z.emplace_back(re, im);
  }
  return z;
}
template <class T> void expect_bits(const std::vector<T>& got, const std::vector<T>& want, const std::string& what) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] != got[i] && want[i] != want[i]) continue;
    ASSERT_EQ(std::bit_cast<Bits>(got[i]), std::bit_cast<Bits>(want[i])) << what << " at " << i << ": " << got[i];
  }
}
template <class T> std::vector<T> parts(const Tensor& z) { return view_as_real(z).contiguous().to_vector<T>(); }

constexpr Pointwise of_conjugate{"of_conjugate", [](auto a, auto b) { return conj(a) * b; }};

template <class T> void check_bits(Device device, std::size_t count) {
  const std::string what = std::string(to_string(dtype_of<T>)) + " of " + std::to_string(count);
  const auto size = static_cast<std::int64_t>(count);
  const Tensor z = tensor(odd_numbers<T>(count, 1), {size}, device),
               w = tensor(odd_numbers<T>(count, 2), {size}, device);
  const auto apart = [&](const Tensor& x) { return stack({x, x}, 1).slice(1, 0, 1).squeeze(1); };
  expect_bits(parts<T>(z * w), parts<T>(apart(z) * apart(w)), what + ", product");
  expect_bits(parts<T>(z / w), parts<T>(apart(z) / apart(w)), what + ", quotient");
  expect_bits(parts<T>(square(z)), parts<T>(square(apart(z))), what + ", square");
  expect_bits(parts<T>(by_conjugate(z, w)), parts<T>(by_conjugate(apart(z), apart(w))), what + ", by a conjugate");
  expect_bits(parts<T>(of_conjugate(z, w)), parts<T>(of_conjugate(apart(z), apart(w))), what + ", of a conjugate");
  expect_bits(abs(z).template to_vector<T>(), abs(apart(z)).template to_vector<T>(), what + ", modulus");
  const Tensor re = real(z).contiguous(), im = imag(z).contiguous();
  expect_bits(hypot(re, im).template to_vector<T>(), abs(apart(z)).template to_vector<T>(), what + ", hypot");
  if (count < 2) return;
  const Tensor tail = z.slice(0, 1), other = w.slice(0, 0, -1);  // begin within a vector
  expect_bits(parts<T>(tail * other), parts<T>(apart(tail) * apart(other)), what + ", product of parts");
  Tensor in_place = z.clone();
  in_place *= w;
  expect_bits(parts<T>(in_place), parts<T>(z * w), what + ", in place");
  Tensor divided = z.clone();
  divided /= w;
  expect_bits(parts<T>(divided), parts<T>(z / w), what + ", quotient in place");
}
TEST_P(ComplexPairs, AreTheBitsOfNumbersApart) {
  for (const std::size_t count : {1, 2, 3, 7, 16, 33, 64, 100, 1029, 5000, 40001}) {
    if (device() != cpu() && count > 100) break;
    check_bits<float>(device(), count);
    if (supports(device(), c128)) check_bits<double>(device(), count);
  }
}
TEST_P(ComplexPairs, AreRight) {
  if (device() != cpu()) return;
  const auto z = odd_numbers<double>(3000, 3), w = odd_numbers<double>(3000, 4);
  const std::vector<double> modulus = abs(tensor(z)).to_vector<double>();
  for (std::size_t i = 0; i < z.size(); ++i) {
    const double want = std::hypot(z[i].real(), z[i].imag());
    if (want != want) EXPECT_TRUE(modulus[i] != modulus[i]) << z[i];
    else if (std::isinf(want)) EXPECT_EQ(modulus[i], want) << z[i];
    else EXPECT_NEAR(modulus[i], want, 4 * 0x1p-52 * want) << z[i];
  }
  const Tensor many = tensor(odd_numbers<float>(1200000, 5));  // past the caches
  const Tensor line = many.reshape({1200, 1000});
  const Tensor some = many.slice(0, 600000, 600100);
  expect_bits(parts<float>((many * many).slice(0, 600000, 600100)), parts<float>(some * some.clone()), "some of many");
  expect_bits(parts<float>((many / many).slice(0, 600000, 600100)), parts<float>(some / some.clone()), "quotients");
  expect_bits(abs(line)[777].to_vector<float>(), abs(line[777].clone()).to_vector<float>(), "a row of many");
  expect_bits(abs(line.T()).T().contiguous()[777].to_vector<float>(), abs(line)[777].to_vector<float>(), "transposed");
}

}  // namespace
}  // namespace tern::test
