// A tensor library as plain as can be: row-major vectors of doubles and loops. What random programs are held against.
#pragma once
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

namespace tern::fuzz {

struct Naive {
  std::vector<std::int64_t> shape;
  std::vector<double> values;

  std::int64_t size(std::size_t axis) const { return shape[axis]; }
  std::int64_t numel() const {
    std::int64_t n = 1;
    for (const std::int64_t s : shape) n *= s;
    return n;
  }
  double at(const std::vector<std::int64_t>& index) const {
    std::int64_t position = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) position = position * shape[i] + index[i];
    return values[static_cast<std::size_t>(position)];
  }
};

/// A tensor of this shape with value(index) at each index.
inline Naive generate(const std::vector<std::int64_t>& shape,
                      const std::function<double(const std::vector<std::int64_t>&)>& value) {
  Naive result{shape, {}};
  std::vector<std::int64_t> index(shape.size(), 0);
  for (std::int64_t left = result.numel(); left > 0; --left) {
    result.values.push_back(value(index));
    for (std::size_t i = shape.size(); i-- > 0;) {
      if (++index[i] < shape[i]) break;
      index[i] = 0;
    }
  }
  return result;
}

inline Naive map(const Naive& x, const std::function<double(double)>& f) {
  return generate(x.shape, [&](const auto& i) { return f(x.at(i)); });
}

inline Naive broadcast_to(const Naive& x, const std::vector<std::int64_t>& shape) {
  return generate(shape, [&](const auto& i) {
    std::vector<std::int64_t> at(x.shape.size());
    for (std::size_t a = 0; a < at.size(); ++a) at[a] = x.shape[a] == 1 ? 0 : i[a + shape.size() - at.size()];
    return x.at(at);
  });
}

inline Naive permute(const Naive& x, const std::vector<std::size_t>& order) {
  std::vector<std::int64_t> shape;
  for (const std::size_t axis : order) shape.push_back(x.shape[axis]);
  return generate(shape, [&](const auto& i) {
    std::vector<std::int64_t> at(i.size());
    for (std::size_t a = 0; a < i.size(); ++a) at[order[a]] = i[a];
    return x.at(at);
  });
}

inline Naive slice(const Naive& x, std::size_t axis, std::int64_t begin, std::int64_t end, std::int64_t step) {
  std::vector<std::int64_t> shape = x.shape;
  shape[axis] = (end - begin + step - 1) / step;
  return generate(shape, [&](std::vector<std::int64_t> i) {
    i[axis] = begin + i[axis] * step;
    return x.at(i);
  });
}

/// Folds an axis, which stays with size 1.
inline Naive fold(const Naive& x, std::size_t axis, double start, const std::function<double(double, double)>& f) {
  std::vector<std::int64_t> shape = x.shape;
  shape[axis] = 1;
  return generate(shape, [&](std::vector<std::int64_t> i) {
    double result = start;
    for (i[axis] = 0; i[axis] < x.shape[axis]; ++i[axis]) result = f(result, x.at(i));
    return result;
  });
}

inline Naive matmul(const Naive& a, const Naive& b) {
  return generate({a.shape[0], b.shape[1]}, [&](const auto& i) {
    double sum = 0;
    for (std::int64_t k = 0; k < a.shape[1]; ++k) sum += a.at({i[0], k}) * b.at({k, i[1]});
    return sum;
  });
}

}  // namespace tern::fuzz
