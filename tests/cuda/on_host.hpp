// A CUDA device whose kernels run on the host, and comparing what they compute with the CPU.
#pragma once
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "host_gpu.hpp"

namespace tern::test {

class OnHostGpu : public testing::Test {
 protected:
  static Tensor random(const Shape& shape, DType dtype, double low = -4, double high = 4) {
    static std::mt19937 engine(1);
    std::uniform_real_distribution<float> uniform(static_cast<float>(low), static_cast<float>(high));
    std::vector<float> values(static_cast<std::size_t>(shape.numel()));
    for (float& v : values) v = uniform(engine);
    return tensor(values, shape, cpu()).to(dtype);
  }
  static std::vector<double> values(const Tensor& t) { return t.to(f64).to_vector<double>(); }
  /// f of these operands, and of the same in f64 on the CPU. Relative to the largest result.
  static void expect_equal(const std::string& what, HostGpu& gpu, const Tensors& x, double tolerance,
                           const std::function<Tensor(const Tensors&)>& f) {
    Tensors here, exact;
    for (const Tensor& t : x) here.push_back(gpu.from(t)), exact.push_back(is_floating(t.dtype()) ? t.to(f64) : t);
    const std::vector<double> got = values(HostGpu::to_cpu(f(here))), want = values(f(exact));
    double largest = 1e-30;
    for (const double v : want)
      if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
    ASSERT_EQ(got.size(), want.size()) << what;
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(std::isnan(got[i]), std::isnan(want[i])) << what << " at " << i;
      if (std::isnan(want[i]) || got[i] == want[i]) continue;
      ASSERT_NEAR(got[i], want[i], tolerance * largest) << what << " at " << i;
    }
  }
  static double tolerance(DType dtype) { return dtype == f32 ? 1e-5 : 2e-2; }
  static bool holds(const HostGpu& gpu) { return gpu.last_text.find("held") != std::string::npos; }
};

}  // namespace tern::test
