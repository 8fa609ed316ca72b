// Inputs that every library gets alike, and the sampled results by which they are compared.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tern/tern.hpp>

namespace bench {

/// Memory aligned to 64 bytes, on huge pages where it is large; copies share it.
class Buffer {
 public:
  Buffer() = default;
  Buffer(tern::DType dtype, std::int64_t count);
  /// Values in [-scale, scale) that depend on position and seed alone (peers_torch.py has the same ones).
  static Buffer pattern(tern::DType dtype, std::int64_t count, std::uint32_t seed, double scale = 1);

  template <class T = void> T* data() const { return static_cast<T*>(memory_.get()); }
  std::int64_t count() const { return count_; }
  tern::DType dtype() const { return dtype_; }
  double at(std::int64_t i) const;
  /// A tensor over this memory.
  tern::Tensor tensor(const tern::Shape& shape) const;

 private:
  std::shared_ptr<void> memory_;
  std::int64_t count_ = 0;
  tern::DType dtype_ = tern::f32;
};

/// The pattern's value before it is rounded to a dtype.
double pattern_value(std::int64_t i, std::uint32_t seed, double scale);

/// Where a result of `count` elements is compared: at most 61 positions, the first and the last among them.
std::vector<std::int64_t> sample_positions(std::int64_t count);
std::vector<double> sample(const Buffer& buffer);
std::vector<double> sample(const tern::Tensor& tensor);
template <class A, class... B>
requires(sizeof...(B) > 0) std::vector<double> sample(const A& first, const B&... others) {
  std::vector<double> all = sample(first);
  const auto append = [&](const std::vector<double>& more) { all.insert(all.end(), more.begin(), more.end()); };
  (append(sample(others)), ...);
  return all;
}

/// What rounding may change in a result, relative to its largest sample.
double tolerance(tern::DType dtype);

std::string name_of(tern::DType dtype);

}  // namespace bench
