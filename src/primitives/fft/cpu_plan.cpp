#include "primitives/fft/cpu_plan.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <numbers>

#include "cpu/machine/allocator.hpp"
#include "process/fork.hpp"

namespace tern::detail_cpu::fft {

// ---- roots ----

/// By the sine and cosine of at most an eighth of the circle.
template <class T> typename Roots<T>::WideComplex Roots<T>::root(std::int64_t a, std::int64_t n) {
  using std::numbers::pi_v;
  std::int64_t x = 8 * (a % n);  // eighths of the circle are multiples of n
  const bool lower = x > 4 * n;
  if (lower) x = 8 * n - x;
  const bool left = x > 2 * n;
  if (left) x = 4 * n - x;
  const bool steep = x > n;
  if (steep) x = 2 * n - x;
  const Wide angle = pi_v<Wide> * static_cast<Wide>(x) / (4 * static_cast<Wide>(n));
  Wide c = std::cos(angle), s = std::sin(angle);
  if (steep) std::swap(c, s);
  return {left ? -c : c, lower ? s : -s};
}
template <class T> Roots<T>::Roots(std::int64_t n) : step_(1) {
  while (step_ * step_ < n) step_ *= 2;
  for (std::int64_t a = 0; a < step_; ++a) low_.push_back(root(a, n));
  for (std::int64_t a = 0; a < n; a += step_) high_.push_back(root(a, n));
}

// ---- passes ----

namespace {
/// Radices, widest first: 8, and 4 or 2 once, then odd ones.
std::vector<int> radices(std::int64_t n) {
  std::vector<int> list;
  int twos = 0;
  for (; n % 2 == 0; n /= 2) ++twos;
  if (twos == 1) list = {2};
  else if (twos % 3 == 1) list = {4, 4};
  else if (twos % 3 == 2) list = {4};
  for (int rest = twos - (twos == 1 ? 1 : twos % 3 == 1 ? 4 : twos % 3); rest > 0; rest -= 3) list.push_back(8);
  for (const int prime : kPrimes)
    for (; prime > 2 && n % prime == 0; n /= prime) list.push_back(prime);
  std::reverse(list.begin(), list.end());
  return list;
}
}  // namespace

template <class T> Passes<T>::Passes(std::int64_t n) {
  const std::vector<int> list = radices(n);
  std::vector<std::size_t> begins;
  std::int64_t m = n, s = 1;
  for (const int radix : list) {
    const Roots<T> roots(m);
    begins.push_back(numbers_.size());
    m /= radix;
    T z[2];
    for (std::int64_t p = 0; p < m; ++p)
      for (int k = 1; k < radix; ++k) roots.get(p * k, z), numbers_.insert(numbers_.end(), z, z + 2);
    begins.push_back(numbers_.size());
    const Roots<T> few(radix);
    for (int k = 0; k < radix; ++k) few.get(k, z), numbers_.insert(numbers_.end(), z, z + 2);
    passes_.push_back({radix, m, s, nullptr, nullptr});
    s *= radix;
  }
  for (std::size_t i = 0; i < passes_.size(); ++i)
    passes_[i].twiddles = numbers_.data() + begins[2 * i], passes_[i].roots = numbers_.data() + begins[2 * i + 1];
}

std::int64_t convolved_length(std::int64_t n) {
  // Multiples of a vector, and of few factors other than 2, are quicker.
  std::int64_t best = 16;
  while (best < 2 * n - 1) best *= 2;
  for (const std::int64_t odd : {3, 5, 9, 15})
    for (std::int64_t length = 16 * odd; length < best; length *= 2)
      if (length >= 2 * n - 1) best = length;
  return best;
}

// ---- chirps ----

template <class T> Chirp<T>::Chirp(std::int64_t n, std::int64_t length) {
  const Roots<T> roots(2 * n);
  const auto count = static_cast<std::size_t>(n), padded = static_cast<std::size_t>(length);
  chirp.resize(2 * count), conjugate.resize(2 * count), kernel.resize(2 * padded);
  std::vector<double> around(2 * padded), transformed(2 * padded);
  const Roots<double> exact(2 * n);
  std::int64_t square = 0;  // j² modulo 2n
  for (std::size_t j = 0; j < count; ++j) {
    roots.get(square, &chirp[2 * j]);
    conjugate[2 * j] = chirp[2 * j], conjugate[2 * j + 1] = -chirp[2 * j + 1];
    double z[2];
    exact.get(square, z);
    for (const std::size_t at : {j, (padded - j) % padded}) around[2 * at] = z[0], around[2 * at + 1] = -z[1];
    square = (square + 2 * static_cast<std::int64_t>(j) + 1) % (2 * n);
  }
  const StridedLine<const double> from{around.data(), around.data() + 1, 2};
  line_plan<double>(length)->run(from, {transformed.data(), transformed.data() + 1, 2},
                                 1 / static_cast<double>(length));
  std::ranges::transform(transformed, kernel.begin(), [](double x) { return static_cast<T>(x); });
}

template <class T>
BlockPlan<T>::BlockPlan(std::int64_t n)
    : n_(n), length_(has_only_factors(kPrimes, n) ? n : convolved_length(n)), passes_(length_) {
  if (length_ != n) chirp_ = std::make_unique<Chirp<T>>(n, length_);
}
template <class T> T* BlockPlan<T>::run(T* x, T* y) const {
  if (!chirp_) return passes_.run(x, y);
  const LineKernels<T>& lanes = line_kernels_of<T>();
  lanes.scale_rows(x, n_, chirp_->chirp.data(), false);
  std::fill(x + 2 * n_ * lanes.lanes, x + 2 * length_ * lanes.lanes, T(0));
  T* const z = passes_.run(x, y);
  lanes.scale_rows(z, length_, chirp_->kernel.data(), true);  // an inverse is the conjugate of a forward one
  T* const result = passes_.run(z, z == x ? y : x);
  lanes.scale_rows(result, n_, chirp_->conjugate.data(), true);
  return result;
}

// ---- plans that are kept ----

namespace {
/// The plans used last, of those of long lines, which may take 24 bytes a number, few.
template <class Made> class KeptPlans {
 public:
  void clear() {
    const std::lock_guard hold(lock_);
    plans_.clear();
  }
  template <class Make> std::shared_ptr<const Made> get(std::int64_t n, const Make& make) {
    {
      const std::lock_guard hold(lock_);
      const auto found = plans_.find(n);
      if (found != plans_.end()) {
        found->second.used = ++clock_;
        return found->second.plan;
      }
    }
    std::shared_ptr<const Made> plan = make();
    const std::lock_guard hold(lock_);
    const auto older = [](const auto& a, const auto& b) { return a.second.used < b.second.used; };
    const auto long_ones = plans_.lower_bound(kLong);
    if (n >= kLong && std::distance(long_ones, plans_.end()) >= kMostLong)
      plans_.erase(std::min_element(long_ones, plans_.end(), older));
    if (plans_.size() >= kMost) plans_.erase(std::min_element(plans_.begin(), plans_.end(), older));
    plans_[n] = {plan, ++clock_};
    return plan;
  }

 private:
  static constexpr std::size_t kMost = 32;
  static constexpr std::int64_t kLong = 1 << 18, kMostLong = 4;
  struct KeptPlan {
    std::shared_ptr<const Made> plan;
    std::uint64_t used;
  };
  detail::ForkSafe<std::mutex> lock_;
  std::map<std::int64_t, KeptPlan> plans_;
  std::uint64_t clock_ = 0;
};
template <class Made, class Make> std::shared_ptr<const Made> kept(std::int64_t n, const Make& make) {
  static KeptPlans<Made>& plans = *[] {
    static auto* const made = new KeptPlans<Made>;
    when_released([] { made->clear(); });
    return made;
  }();
  return plans.get(n, make);
}
}  // namespace

template <class T> std::shared_ptr<const BlockPlan<T>> block_plan(std::int64_t n) {
  return kept<BlockPlan<T>>(n, [n] { return std::make_shared<const BlockPlan<T>>(n); });
}
template <class T> std::shared_ptr<const TransformPlan<T>> line_plan(std::int64_t n) {
  return kept<TransformPlan<T>>(n, [n] { return std::make_shared<const TransformPlan<T>>(n); });
}
template <class T> std::shared_ptr<const std::vector<T>> half_roots(std::int64_t n) {
  return kept<std::vector<T>>(n, [n] {
    const Roots<T> roots(n);
    auto list = std::make_shared<std::vector<T>>(static_cast<std::size_t>(n / 2 + 1) * 2);
    for (std::int64_t k = 0; k <= n / 2; ++k) roots.get(k, list->data() + 2 * k);
    return list;
  });
}

#define TERN_FFT_PLANS(T)                                                        \
  template class Roots<T>;                                                       \
  template class Passes<T>;                                                      \
  template struct Chirp<T>;                                                      \
  template class BlockPlan<T>;                                                   \
  template std::shared_ptr<const BlockPlan<T>> block_plan<T>(std::int64_t n);    \
  template std::shared_ptr<const TransformPlan<T>> line_plan<T>(std::int64_t n); \
  template std::shared_ptr<const std::vector<T>> half_roots<T>(std::int64_t n);
TERN_FFT_PLANS(float)
TERN_FFT_PLANS(double)
#undef TERN_FFT_PLANS

}  // namespace tern::detail_cpu::fft
