// References in quadruple precision that the tests of several special functions share.
#pragma once
#include <quadmath.h>

namespace tern::contract {

using Quad = __float128;

/// ψ⁽ⁿ⁾(x) for x > 0: 40 terms more than the asymptotic series needs, of which 14 are taken.
inline Quad polygamma_positive(int n, Quad x) {
  constexpr Quad bernoulli[] = {1.Q / 6,       -1.Q / 30,       1.Q / 42,       -1.Q / 30,
                                5.Q / 66,      -691.Q / 2730,   7.Q / 6,        -3617.Q / 510,
                                43867.Q / 798, -174611.Q / 330, 854513.Q / 138, -236364091.Q / 2730,
                                8553103.Q / 6};
  const int terms = 40 + n;
  const Quad far = x + terms, v = 1 / (far * far);
  if (n == 0) {
    Quad y = logq(far) - 0.5Q / far, power = 1;
    for (int k = 1; k <= 13; ++k) power *= v, y -= bernoulli[k - 1] / (2 * k) * power;
    for (int k = terms; k-- > 0;) y -= 1 / (x + k);
    return y;
  }
  const auto factorial = [](int m) {
    Quad product = 1;
    for (int i = 2; i <= m; ++i) product *= i;
    return product;
  };
  const auto inverse = [](Quad v, int m) {
    Quad product = 1;
    for (int i = 0; i < m; ++i) product *= v;
    return 1 / product;
  };
  Quad y = factorial(n - 1) * inverse(far, n) + factorial(n) / 2 * inverse(far, n + 1);
  for (int k = 1; k <= 13; ++k)
    y += bernoulli[k - 1] * factorial(2 * k + n - 1) / factorial(2 * k) * inverse(far, 2 * k + n);
  for (int k = terms; k-- > 0;) y += factorial(n) * inverse(x + k, n + 1);
  return n % 2 ? y : -y;
}
/// I0 or I1 by the series of powers.
inline Quad modified_bessel(int order, Quad x) {
  Quad sum = order ? x / 2 : 1;
  const Quad q = x * x / 4;
  Quad term = sum;
  for (int k = 1; k < 3000 && fabsq(term) > fabsq(sum) * 1e-36Q; ++k)
    term *= q / (static_cast<Quad>(k) * (k + order)), sum += term;
  return sum;
}

}  // namespace tern::contract
