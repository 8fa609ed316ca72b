// Inputs that every library gets alike, and the sampled results by which they are compared.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <tern/tern.hpp>

namespace bench {

/// Elements in memory, aligned to 64 bytes, on huge pages where it is large; or a pattern of values, of which no memory
/// is made before somebody asks for it: a GPU computes its own. Copies share it.
class Buffer {
 public:
  Buffer() = default;
  /// Zeros.
  Buffer(tern::DType dtype, std::int64_t count);
  /// Values in [-scale, scale) that depend on position and seed alone (peers_torch.py has the same ones).
  static Buffer pattern(tern::DType dtype, std::int64_t count, std::uint32_t seed, double scale = 1);

  template <class T = void> T* data() const { return static_cast<T*>(memory()); }
  std::int64_t count() const { return contents_->count; }
  tern::DType dtype() const { return contents_->dtype; }
  double at(std::int64_t i) const;
  /// A tensor over this memory; on a GPU one of its own, computed there from the pattern, in f32 before it is rounded.
  tern::Tensor tensor(const tern::Shape& shape, tern::Device device = tern::cpu()) const;

 private:
  struct Contents {
    tern::DType dtype = tern::f32;
    std::int64_t count = 0;
    std::shared_ptr<void> memory;  // null: the pattern's has not been asked for
    std::uint32_t seed = 0;
    double scale = 1;
  };
  void* memory() const;
  std::shared_ptr<Contents> contents_ = std::make_shared<Contents>();
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

/// f(0) + f(1) + … in f64, on all processors: references of large products take that.
template <class F> double parallel_sum(std::int64_t count, const F& f) {
  const std::int64_t processors = std::max(1u, std::thread::hardware_concurrency());
  const std::int64_t parts = std::clamp<std::int64_t>(count / 256, 1, processors);
  std::vector<double> sums(static_cast<std::size_t>(parts));
  std::vector<std::jthread> others;
  const auto part = [&](std::int64_t p) {
    double sum = 0;
    for (std::int64_t i = count * p / parts; i < count * (p + 1) / parts; ++i) sum += f(i);
    sums[static_cast<std::size_t>(p)] = sum;
  };
  for (std::int64_t p = 1; p < parts; ++p) others.emplace_back(part, p);
  part(0);
  others.clear();  // joins
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

/// One element of a tensor, whatever its dtype and device.
double element(const tern::Tensor& tensor, std::int64_t at);

/// What rounding may change in a result, relative to its largest sample.
double tolerance(tern::DType dtype);

std::string name_of(tern::DType dtype);

}  // namespace bench
