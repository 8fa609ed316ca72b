// What the tests of epilogues share.
#pragma once
#include <string>
#include <vector>

#include "every_device/gradients/derivatives.hpp"

namespace tern::test {

/// Sizes for which a bound of k·eps·Σ|a·b| covers the product, and one formula of a few functions.
inline void expect_near(const Tensor& got, const Tensor& want, double eps, const std::string& what) {
  ASSERT_EQ(got.shape(), want.shape()) << what;
  ASSERT_EQ(got.dtype(), want.dtype()) << what;
  const std::vector<double> x = doubles(got), y = doubles(want);
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], eps * (1 + std::abs(y[i]))) << what << " at " << i;
}

}  // namespace tern::test
