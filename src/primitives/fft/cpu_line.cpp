// A long line as a matrix of n1 × n2 elements: transforms of its columns, n2 of them side by side; each result times a
// root of unity; transforms of its rows. Columns are transposed into rows on their way to the buffer between both
// steps, so that lines of the second step lie side by side, too:
//
//        n2: j2 →                          n1: k1 →
//     ┌──────────────┐                  ┌──────────────┐
//  n1 │ columns of   │   · root(k1·j2)  │ columns of   │   columns (k1) transformed over j2: result k1 + n1·k2
//  j1 │ x(j1·n2 + j2)│  ──────────────→ │ the buffer   │  ──────────────→ out
//     └──────────────┘    j2 ↓          └──────────────┘
//
// A block of columns is in L2 while its passes run, so a line is read and written twice. Two threads share blocks.
#include <algorithm>
#include <array>
#include <cstring>

#include "cpu/machine/threads.hpp"
#include "cpu/scratch.hpp"
#include "primitives/fft/cpu_plan.hpp"
#include "primitives/fft/factors.hpp"
#include "process/of_thread.hpp"

namespace tern::detail_cpu::fft {

namespace {

struct ColumnBlock : ScratchBuffer {};  // of this thread: a block, twice
struct Between : ScratchBuffer {};  // the matrix between both steps
struct Convolved : ScratchBuffer {};

/// A buffer's rows are not powers of two apart, which share sets of a cache.
constexpr Int64 kRowPadding = 16;
/// Elements that are worth a second thread.
constexpr Int64 kParallelLine = 1 << 14;

template <class Task> void for_blocks(Int64 blocks, Int64 elements, const Task& task) {
  const Int64 parts = elements < kParallelLine ? 1 : std::min<Int64>(blocks, 4 * max_threads());
  parallel_for(parts, [&](Int64 part) {
    for (Int64 b = blocks * part / parts; b < blocks * (part + 1) / parts; ++b) task(b);
  });
}

/// The two factors nearest to each other.
Int64 first_factor(Int64 n) {
  Int64 best = 1;
  for (Int64 f = 1; f * f <= n; ++f)
    if (n % f == 0) best = f;
  return best;
}
template <class T> T* block_of_this_thread(Int64 rows) {
  const Int64 numbers = 2 * rows * line_kernels_of<T>().lanes;
  return reinterpret_cast<T*>(
      detail::of_thread<ColumnBlock>().reserve((2 * numbers + 64) * static_cast<Int64>(sizeof(T))));
}

}  // namespace

template <class T> TransformPlan<T>::TransformPlan(Int64 n) : n_(n) {
  if (!has_only_factors(kPrimes, n)) {
    const Int64 length = convolved_length(n);
    chirp_ = std::make_unique<Chirp<T>>(n, length), inner_ = line_plan<T>(length);
    return;
  }
  n1_ = first_factor(n), n2_ = n / n1_;
  first_ = std::make_unique<Passes<T>>(n1_), second_ = std::make_unique<Passes<T>>(n2_);
  const Roots<T> roots(n);
  const Int64 lanes = line_kernels_of<T>().lanes, blocks = (n2_ + lanes - 1) / lanes;
  table_.resize(static_cast<std::size_t>(2 * n1_ * lanes)), base_.resize(static_cast<std::size_t>(2 * blocks * n1_));
  T z[2];
  for (Int64 k = 0; k < n1_; ++k) {
    for (Int64 l = 0; l < lanes; ++l) {
      roots.get(k * l % n, z);
      T* const at = table_.data() + 2 * k * lanes + l;
      at[0] = z[0], at[lanes] = z[1];
    }
    for (Int64 b = 0; b < blocks; ++b) roots.get(k * b * lanes % n, base_.data() + 2 * (b * n1_ + k));
  }
}

template <class T>
void TransformPlan<T>::run(const StridedLine<const T>& from, const StridedLine<T>& to, T scale) const {
  chirp_ ? convolve(from, to, scale) : steps(from, to, scale);
}

template <class T>
void TransformPlan<T>::steps(const StridedLine<const T>& from, const StridedLine<T>& to, T scale) const {
  const LineKernels<T>& kernels = line_kernels_of<T>();
  const Int64 lanes = kernels.lanes, pitch = n1_ + kRowPadding, size = static_cast<Int64>(sizeof(T));
  const CallMemory memory(detail::of_thread<Between>(), 2 * n2_ * pitch * size);
  T* const between = memory.as<T>();
  for_blocks((n2_ + lanes - 1) / lanes, n_, [&](Int64 b) {
    T* const x = block_of_this_thread<T>(n1_);
    std::array<Int64, kMostLines> offsets;
    for (Int64 l = 0; l < lanes; ++l) offsets[static_cast<std::size_t>(l)] = (b * lanes + l) * from.stride;
    const int count = static_cast<int>(std::min(lanes, n2_ - b * lanes));
    kernels.load({from.re, from.im, offsets.data(), n2_ * from.stride, n1_, n1_, count, from.swap}, n1_, x);
    const T* const y = first_->run(x, x + 2 * n1_ * lanes);
    kernels.twiddle_columns(
        y, n1_,
        {table_.data(), b ? base_.data() + 2 * b * n1_ : nullptr, between + 2 * b * lanes * pitch, 2 * pitch, count});
  });
  for_blocks((n1_ + lanes - 1) / lanes, n_, [&](Int64 b) {
    T* const x = block_of_this_thread<T>(n2_);
    std::array<Int64, kMostLines> offsets, out;
    for (Int64 l = 0; l < lanes; ++l) {
      const auto at = static_cast<std::size_t>(l);
      offsets[at] = 2 * (b * lanes + l), out[at] = (b * lanes + l) * to.stride;
    }
    const int count = static_cast<int>(std::min(lanes, n1_ - b * lanes));
    kernels.load({between, between + 1, offsets.data(), 2 * pitch, n2_, n2_, count}, n2_, x);
    const T* const y = second_->run(x, x + 2 * n2_ * lanes);
    kernels.store(y, n2_, scale, {to.re, to.im, out.data(), n1_ * to.stride, n2_, n2_, count, to.swap});
  });
}

template <class T>
void TransformPlan<T>::convolve(const StridedLine<const T>& from, const StridedLine<T>& to, T scale) const {
  const LineKernels<T>& kernels = line_kernels_of<T>();
  const auto length = static_cast<Int64>(chirp_->kernel.size() / 2), size = static_cast<Int64>(sizeof(T));
  const CallMemory memory(detail::of_thread<Convolved>(), 4 * length * size);
  T* const x = memory.as<T>();
  T* const y = x + 2 * length;
  const auto in_parts = [&](Int64 count, const auto& part) {
    constexpr Int64 kPart = 1 << 13;
    for_blocks((count + kPart - 1) / kPart, count,
               [&](Int64 b) { part(b * kPart, std::min(kPart, count - b * kPart)); });
  };
  in_parts(n_, [&](Int64 at, Int64 count) {
    for (Int64 i = at; i < at + count; ++i) {
      x[2 * i + from.swap] = from.re[i * from.stride], x[2 * i + !from.swap] = from.im[i * from.stride];
    }
    kernels.multiply(x + 2 * at, chirp_->chirp.data() + 2 * at, x + 2 * at, count, false);
  });
  std::fill(x + 2 * n_, x + 2 * length, T(0));
  inner_->steps({x, x + 1, 2}, {y, y + 1, 2}, T(1));
  in_parts(length, [&](Int64 at, Int64 count) {
    kernels.multiply(y + 2 * at, chirp_->kernel.data() + 2 * at, y + 2 * at, count, true);
  });
  inner_->steps({y, y + 1, 2}, {x, x + 1, 2}, scale);
  in_parts(n_, [&](Int64 at, Int64 count) {
    kernels.multiply(x + 2 * at, chirp_->conjugate.data() + 2 * at, x + 2 * at, count, true);
    for (Int64 i = at; i < at + count; ++i) {
      to.re[i * to.stride] = x[2 * i + to.swap];
      if (to.im) to.im[i * to.stride] = x[2 * i + !to.swap];
    }
  });
}

template class TransformPlan<float>;
template class TransformPlan<double>;

}  // namespace tern::detail_cpu::fft
