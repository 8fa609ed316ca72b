// What transforms of one length need beside the data: factors, roots of unity and, for lengths with large prime
// factors, the chirp of Bluestein's algorithm. Plans are made once and kept.
#pragma once
#include <cmath>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "primitives/fft/factors.hpp"
#include "primitives/fft/lanes.hpp"

namespace tern::detail_cpu::fft {

using detail::has_only_factors;

/// Elements of a block up to which its two buffers stay in L2.
inline constexpr std::int64_t kBlockMost = 2048;

/// e^(-2πi·a/n) for any a of [0, n), in a precision beyond T's: two tables of about √n roots, and their products.
template <class T> class Roots {
 public:
  using Wide = std::conditional_t<sizeof(T) == 4, double, long double>;
  explicit Roots(std::int64_t n);
  /// To to[0] and to[1].
  void get(std::int64_t a, T* to) const {
    const WideComplex &high = high_[static_cast<std::size_t>(a / step_)],
                      &low = low_[static_cast<std::size_t>(a % step_)];
    to[0] = static_cast<T>(high.re * low.re - high.im * low.im);
    to[1] = static_cast<T>(high.re * low.im + high.im * low.re);
  }

 private:
  struct WideComplex {
    Wide re, im;
  };
  static WideComplex root(std::int64_t a, std::int64_t n);
  std::int64_t step_;
  std::vector<WideComplex> high_, low_;
};

/// The passes of a length with small prime factors.
template <class T> class Passes {
 public:
  explicit Passes(std::int64_t n);
  T* run(T* x, T* y) const {
    return line_kernels_of<T>().transform(passes_.data(), static_cast<int>(passes_.size()), x, y);
  }

 private:
  std::vector<Pass<T>> passes_;
  std::vector<T> numbers_;
};

/// The length of the convolution that stands for a transform of n elements: from 2n - 1 on, with small factors.
std::int64_t convolved_length(std::int64_t n);

/// Bluestein's algorithm (1970): jk = (j² + k² - (k - j)²)/2, so a transform is a convolution with a chirp.
template <class T> struct Chirp {
  Chirp(std::int64_t n, std::int64_t length);
  std::vector<T> chirp, conjugate;  // e^(-πi·j²/n), j < n
  std::vector<T> kernel;            // the transform of the conjugate chirp around 0, by its length
};

/// Transforms of the lines in a block.
template <class T> class BlockPlan {
 public:
  explicit BlockPlan(std::int64_t n);
  static bool takes(std::int64_t n) { return (has_only_factors(kPrimes, n) ? n : convolved_length(n)) <= kBlockMost; }
  /// Of rows: those of a block are at least so many.
  std::int64_t rows() const { return length_; }
  /// The transform of the first n rows of x; where it is: x or y.
  T* run(T* x, T* y) const;

 private:
  std::int64_t n_, length_;
  Passes<T> passes_;
  std::unique_ptr<Chirp<T>> chirp_;
};

/// A long line whose elements are at re[i · stride] and im[i · stride].
template <class T> struct StridedLine {
  T *re, *im;
  std::int64_t stride;
  bool swap = false;
};

/// Transforms of a line of its own, whose columns or rows are the lines of blocks (Bailey, 1990).
template <class T> class TransformPlan {
 public:
  explicit TransformPlan(std::int64_t n);
  void run(const StridedLine<const T>& from, const StridedLine<T>& to, T scale) const;

 private:
  void steps(const StridedLine<const T>& from, const StridedLine<T>& to, T scale) const;
  void convolve(const StridedLine<const T>& from, const StridedLine<T>& to, T scale) const;

  std::int64_t n_, n1_ = 1, n2_ = 1;
  std::unique_ptr<Passes<T>> first_, second_;
  std::vector<T> table_, base_;  // e^(-2πi·kl/n) for k < n1, lane l; and for k and the first column of each block
  std::unique_ptr<Chirp<T>> chirp_;
  std::shared_ptr<const TransformPlan<T>> inner_;
};

template <class T> std::shared_ptr<const BlockPlan<T>> block_plan(std::int64_t n);
template <class T> std::shared_ptr<const TransformPlan<T>> line_plan(std::int64_t n);
/// The first n/2 + 1 roots of n, for real lines.
template <class T> std::shared_ptr<const std::vector<T>> half_roots(std::int64_t n);

}  // namespace tern::detail_cpu::fft
