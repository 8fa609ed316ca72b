// Plain C++ references in f64 that carry a bound of the error the library may make.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "every_device.hpp"

namespace tern::test {

/// Distance from 1 to the next value of a dtype.
inline double epsilon(DType dtype) {
  switch (dtype) {
    case DType::f16: return 0x1p-10;
    case DType::bf16: return 0x1p-7;
    case DType::f32: return 0x1p-23;
    default: return 0x1p-52;
  }
}
/// The same of the type it is computed in.
inline double work_epsilon(DType dtype) { return dtype == DType::f64 ? 0x1p-52 : 0x1p-23; }
/// Smallest positive value.
inline double tiniest(DType dtype) {
  switch (dtype) {
    case DType::f16: return 0x1p-24;
    case DType::bf16: return 0x1p-133;
    case DType::f32: return 0x1p-149;
    default: return 0x1p-1074;
  }
}

inline bool supports(Device device, DType dtype) {
  try {
    return (tensor({1, 1}, {2}, device).to(dtype)).clone().defined();
  } catch (const UnsupportedDType&) {
    return false;
  }
}
/// Lengths about n, a multiple of 8: on CUDA, which keeps short rows of vectors in registers, also one that has none;
/// on the CPU, which may keep rows of up to 8192 as one block, also a longer one.
inline std::vector<std::int64_t> resident_and_not(Device device, std::int64_t n) {
  if (device == cpu()) return {n, n + 8192};
  return device.kind() == DeviceKind::cuda ? std::vector{n, n + 1} : std::vector{n};
}
/// How often the device was seen to refuse a dtype it lacks.
int& refusals(Device device);
/// Whether the device has no f64, which is then asserted to be refused by name: tests in f64 end there.
inline bool refuses_f64(Device device) {
  if (supports(device, f64)) return false;
  EXPECT_THROW(zeros({1}, {.dtype = f64, .device = device}), UnsupportedDType);
  ++refusals(device);
  return true;
}
/// Those of `all` that the device has.
inline std::vector<DType> dtypes_of(Device device, std::vector<DType> all) {
  std::erase_if(all, [&](DType d) { return !supports(device, d); });
  return all;
}
inline std::vector<DType> wide_floats(Device device) { return dtypes_of(device, {f32, f64}); }
inline std::vector<DType> all_floats(Device device) {
  std::vector<DType> all = dtypes_of(device, {f16, bf16, f32, f64});
  std::erase_if(all, [&](DType d) { return !takes(device, d); });
  return all;
}

/// Values with a bound of the error of each.
struct Array {
  Shape shape;
  std::vector<double> value, bound;

  Array() = default;
  explicit Array(const Shape& s) : shape(s), value(static_cast<std::size_t>(s.numel())), bound(value.size()) {}
  Array(const Shape& s, std::vector<double> v) : shape(s), value(std::move(v)), bound(value.size()) {}
  explicit Array(const Tensor& t) : Array(t.shape(), doubles(t)) {}
  std::size_t size() const { return value.size(); }
};

/// The position in an operand of shape `from` of element `flat` of the shape `to` it is broadcast to.
inline std::size_t broadcast_position(std::size_t flat, const Shape& to, const Shape& from) {
  std::size_t position = 0, step = 1;
  for (int i = to.rank() - 1, j = from.rank() - 1; i >= 0; --i, --j) {
    const auto size = static_cast<std::size_t>(to[static_cast<std::size_t>(i)]);
    const std::size_t at = flat % size;
    flat /= size;
    if (j < 0) continue;
    const auto own = static_cast<std::size_t>(from[static_cast<std::size_t>(j)]);
    position += (own == 1 ? 0 : at) * step;
    step *= own;
  }
  return position;
}
inline Shape broadcast_of(const Shape& a, const Shape& b) {
  Shape result = a.rank() >= b.rank() ? a : b;
  for (int i = 1; i <= std::min(a.rank(), b.rank()); ++i) {
    const std::int64_t x = a[static_cast<std::size_t>(a.rank() - i)], y = b[static_cast<std::size_t>(b.rank() - i)];
    result[static_cast<std::size_t>(result.rank() - i)] = x == 1 ? y : x;
  }
  return result;
}

/// f on broadcast values; f(x, y, ex, ey) gives the value and sets the bound.
template <class F> Array zip(const Array& a, const Array& b, F f) {
  Array r(broadcast_of(a.shape, b.shape));
  for (std::size_t i = 0; i < r.size(); ++i) {
    const std::size_t x = broadcast_position(i, r.shape, a.shape), y = broadcast_position(i, r.shape, b.shape);
    r.value[i] = f(a.value[x], b.value[y], a.bound[x], b.bound[y], r.bound[i]);
  }
  return r;
}
inline Array add(const Array& a, const Array& b, double eps) {
  return zip(a, b, [eps](double x, double y, double ex, double ey, double& e) {
    e = ex + ey + eps * std::abs(x + y);
    return x + y;
  });
}
inline Array mul(const Array& a, const Array& b, double eps) {
  return zip(a, b, [eps](double x, double y, double ex, double ey, double& e) {
    e = ex * std::abs(y) + ey * std::abs(x) + ex * ey + eps * std::abs(x * y);
    return x * y;
  });
}
/// f of every element; own(x) is the error f itself may make.
template <class F, class E> Array map(const Array& a, F f, E own) {
  Array r(a.shape);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = a.value[i], e = a.bound[i];
    r.value[i] = f(x);
    r.bound[i] = own(x) + (e > 0 ? 2 * std::max(std::abs(f(x + e) - r.value[i]), std::abs(f(x - e) - r.value[i])) : 0);
  }
  return r;
}
/// The rounding of a store.
inline Array stored(Array a, DType dtype) {
  for (std::size_t i = 0; i < a.size(); ++i)
    a.bound[i] += 0.5 * epsilon(dtype) * (std::abs(a.value[i]) + a.bound[i]) + tiniest(dtype);
  return a;
}
/// Summed over the axes along which `shape` was broadcast.
inline Array sum_to(const Array& a, const Shape& shape, double eps) {
  Array r(shape);
  std::vector<double> magnitude(r.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::size_t at = broadcast_position(i, a.shape, shape);
    r.value[at] += a.value[i], r.bound[at] += a.bound[i], magnitude[at] += std::abs(a.value[i]);
  }
  const double terms = r.size() ? static_cast<double>(a.size()) / static_cast<double>(r.size()) : 0;
  for (std::size_t i = 0; i < r.size(); ++i) r.bound[i] += (terms + 1) * eps * magnitude[i];
  return r;
}
inline Array transposed(const Array& a) {
  Array r(a.shape);
  const auto rank = static_cast<std::size_t>(a.shape.rank());
  std::swap(r.shape[rank - 1], r.shape[rank - 2]);
  const auto m = static_cast<std::size_t>(a.shape[rank - 2]), n = static_cast<std::size_t>(a.shape[rank - 1]);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::size_t to = i / (m * n) * (m * n) + i % n * m + i / n % m;
    r.value[to] = a.value[i], r.bound[to] = a.bound[i];
  }
  return r;
}
inline Shape batch_part(const Shape& shape) { return Shape(std::vector<std::int64_t>(shape.begin(), shape.end() - 2)); }

/// A matrix product with batch axes broadcast; the bound is that of any order of summation.
inline Array matmul(const Array& a, const Array& b, double eps) {
  const auto m = static_cast<std::size_t>(a.shape[a.shape.size() - 2]), k = static_cast<std::size_t>(a.shape.back()),
             n = static_cast<std::size_t>(b.shape.back());
  const Shape x = batch_part(a.shape), y = batch_part(b.shape), batch = broadcast_of(x, y);
  Shape shape = batch;
  shape.push_back(static_cast<std::int64_t>(m)), shape.push_back(static_cast<std::int64_t>(n));
  Array r(shape);
  for (std::size_t i = 0; i < r.size(); ++i) {
    const std::size_t which = i / (m * n), row = i / n % m, column = i % n;
    const std::size_t pa = (broadcast_position(which, batch, x) * m + row) * k,
                      pb = broadcast_position(which, batch, y) * k * n + column;
    double magnitude = 0;
    for (std::size_t t = 0; t < k; ++t) {
      const double p = a.value[pa + t], q = b.value[pb + t * n], ep = a.bound[pa + t], eq = b.bound[pb + t * n];
      r.value[i] += p * q, magnitude += std::abs(p * q);
      r.bound[i] += ep * std::abs(q) + eq * std::abs(p) + ep * eq;
    }
    r.bound[i] += static_cast<double>(k + 1) * eps * magnitude;
  }
  return r;
}

/// Every element of `got` is within the bound of `want`, one rounding to its dtype included. NaN equals NaN.
inline void expect_within(const Tensor& got, const Array& want, const std::string& what) {
  ASSERT_TRUE(got.defined()) << what;
  ASSERT_EQ(got.shape(), want.shape) << what << ": " << to_string(got.shape()) << " instead of "
                                     << to_string(want.shape);
  const std::vector<double> values = doubles(got);
  const Array limit = stored(want, got.dtype());
  const double flushed = got.device() == cpu() ? 0 : 0x1p-126;  // GPUs may take subnormal numbers for zeros
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double x = values[i], y = want.value[i];
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    ASSERT_LE(std::abs(x - y), limit.bound[i] + flushed) << what << " at " << i << ": got " << x << ", expected " << y;
  }
}
/// Exactly these values.
inline void expect_values(const Tensor& got, const Shape& shape, const std::vector<double>& want,
                          const std::string& what = {}) {
  ASSERT_EQ(got.shape(), shape) << what << ": " << to_string(got.shape()) << " instead of " << to_string(shape);
  const std::vector<double> values = doubles(got);
  for (std::size_t i = 0; i < want.size(); ++i)
    if (!std::isnan(values[i]) || !std::isnan(want[i])) {
      ASSERT_EQ(values[i], want[i]) << what << " at " << i;
    }
}
/// Equal, NaN to NaN.
inline void expect_same(const std::vector<double>& got, const std::vector<double>& want, const std::string& what = "") {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_TRUE(got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i])))
        << what << " at " << i << ": " << got[i] << " instead of " << want[i];
}
inline void expect_same(const Tensor& got, const std::vector<double>& want, const std::string& what = "") {
  expect_same(doubles(got), want, what);
}

/// Numbers in [low, high), the same on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  double next(double low, double high) { return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53; }
  std::vector<double> values(std::int64_t count, double low = -1, double high = 1) {
    std::vector<double> list(static_cast<std::size_t>(count));
    for (double& v : list) v = next(low, high);
    return list;
  }
  /// Rounded to the dtype: what the library sees is what a reference reads back with Array(tensor).
  Tensor tensor(const Shape& shape, DType dtype, Device device, double low = -1, double high = 1) {
    return tern::tensor(values(shape.numel(), low, high), shape, cpu()).to(dtype).to(device);
  }

 private:
  std::mt19937_64 engine_;
};
/// Of its own for each operation, so that one more changes nothing for the others: FNV-1a of the name, from a number
/// with which every operation has a case that tells (see `tells`), and no variance is next to nothing.
inline Random random_of(std::string_view name) {
  std::uint32_t seed = 2166136264u;
  for (const char c : name) seed = (seed ^ static_cast<unsigned char>(c)) * 16777619u;
  return Random(seed);
}

/// A tensor of these values on a device.
inline Tensor make(const std::vector<double>& values, const Shape& shape, DType dtype, Device device) {
  return tensor(values, shape, cpu()).to(dtype).to(device);
}
/// 0, 1, 2, …
inline Tensor counted(const Shape& shape, DType dtype = f32) {
  return arange(0, shape.numel(), 1, f32).to(dtype).reshape(shape);
}
/// The same elements inside larger memory: leading dimensions larger than the row, an offset, NaN around.
inline Tensor strided(const Tensor& t) {
  Shape larger = t.shape();
  for (int i = 0; i < t.dim(); ++i) larger[static_cast<std::size_t>(i)] += 3;
  Tensor view = full(larger, std::nan(""), {.dtype = t.dtype(), .device = t.device()});
  for (int i = 0; i < t.dim(); ++i) view = view.slice(i, 1, 1 + t.size(i));
  view.copy_from(t);
  return view;
}

}  // namespace tern::test
