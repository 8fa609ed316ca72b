// What the tests of complex numbers share.
#pragma once
#include <complex>
#include <sstream>

#include "every_device/reference.hpp"

namespace tern::test {

using Wide = std::complex<long double>;
using C64 = std::complex<float>;
using C128 = std::complex<double>;

inline std::vector<Wide> values(const Tensor& z) {
  std::vector<Wide> list;
  const std::vector<double> parts = doubles(view_as_real(z.reshape({-1})));
  for (std::size_t i = 0; i < parts.size(); i += 2) list.emplace_back(parts[i], parts[i + 1]);
  return list;
}
inline Tensor numbers(const std::vector<C128>& list, DType dtype, Device device) { return tensor(list, dtype, device); }
inline double epsilon_of(DType dtype) { return epsilon(real_dtype(dtype)); }

inline constexpr Pointwise by_conjugate{"by_conjugate", [](auto a, auto b) { return a * conj(b); }};

inline std::string text(const Tensor& t) {
  std::ostringstream stream;
  stream << t;
  return stream.str();
}
}  // namespace tern::test
