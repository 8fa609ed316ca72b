// Fourier transforms on the CPU: short lines as many at once as a vector has lanes (lanes-inl.h), long ones, and those
// that are few, each for itself (cpu_line.cpp). Real lines of even length are transformed as complex ones of half of
// it.
#include <algorithm>
#include <array>

#include "cpu/line_tools.hpp"
#include "cpu/scratch.hpp"
#include "cpu/threads_noted.hpp"
#include "primitives/fft/kernels.hpp"
#include "primitives/fft/cpu_plan.hpp"
#include "process/of_thread.hpp"

namespace tern::detail_cpu {

using detail::FftKind;
using detail::FftRequest;
using detail::View;

namespace fft {
namespace {

struct FftBlock : ScratchBuffer {};
struct WholeLine : ScratchBuffer {};

/// Elements of a line from which one that has few others beside it is transformed for itself.
constexpr Int64 kOwnLine = 256;
/// Elements that are worth a second thread.
constexpr Int64 kParallelElements = 1 << 14;

template <class T> class FftRun {
 public:
  explicit FftRun(const FftRequest& r)
      : r_(r),
        n_(r.n),
        lines_(lines_of(r.input_space, r.axis)),
        given_(r.input_space[static_cast<std::size_t>(r.axis)]),
        wanted_(r.output_space[static_cast<std::size_t>(r.axis)]),
        in_(r.re, r.axis),
        out_(r.out_re, r.axis),
        re_(at<const T>(r.re)),
        im_(at<const T>(r.im)),
        out_re_(at<T>(r.out_re)),
        out_im_(at<T>(r.out_im)),
        paired_(r.kind != FftKind::complex && n_ % 2 == 0),
        length_(paired_ ? n_ / 2 : n_),
        swap_(r.backward && r.kind != FftKind::from_real) {
    if (r.kind != FftKind::complex && (paired_ || r.inner != 1)) roots_ = half_roots<T>(n_);
  }

  void run() {
    const Int64 count = lines_.count();
    const Int64 lanes = kernels_.lanes;
    if (BlockPlan<T>::takes(length_) && (4 * count >= lanes || length_ < kOwnLine)) {
      block_ = block_plan<T>(length_);
      const Int64 blocks = (count + lanes - 1) / lanes;
      in_parts(blocks, n_ * count, [&](Int64 b) { run_block(b * lanes, std::min(lanes, count - b * lanes)); });
    } else {
      line_ = line_plan<T>(length_);
      if (count >= 2 * max_threads()) in_parts(count, n_ * count, [&](Int64 l) { run_line(l); });
      else
        for (Int64 l = 0; l < count; ++l) run_line(l);
    }
  }

 private:
  /// How a view steps from line to line.
  struct LineSteps {
    LineSteps(const View& v, int axis) : stride(v.strides[static_cast<std::size_t>(axis)]), view(&v) {}
    Int64 offset(const AxisOrder& lines, Int64 line) const {
      Int64 at = 0;
      for (int i = lines.rank - 1; i >= 0; --i) {
        const Int64 rest = line / lines.sizes[i];
        at += (line - rest * lines.sizes[i]) * view->strides[static_cast<std::size_t>(lines.axes[i])];
        line = rest;
      }
      return at;
    }
    Int64 stride;
    const View* view;
  };
  template <class P> static P* at(const View& v) { return v.storage ? pointer<P>(v) : nullptr; }
  template <class Task> static void in_parts(Int64 count, Int64 elements, const Task& task) {
    const Int64 parts = elements < kParallelElements ? 1 : std::min<Int64>(count, 4 * max_threads());
    parallel_for(parts, [&](Int64 part) {
      for (Int64 i = count * part / parts; i < count * (part + 1) / parts; ++i) task(i);
    });
  }
  Int64 input_rows() const { return std::min(given_, r_.kind == FftKind::to_real ? n_ / 2 + 1 : n_); }
  Int64 output_rows() const { return std::min(wanted_, r_.kind == FftKind::from_real ? n_ / 2 + 1 : n_); }

  // ---- many lines ----

  void run_block(Int64 first, Int64 count) {
    const Int64 lanes = kernels_.lanes, rows = std::max(block_->rows(), length_ + 1);
    T* const x =
        reinterpret_cast<T*>(detail::of_thread<FftBlock>().reserve(4 * rows * lanes * static_cast<Int64>(sizeof(T))));
    T* const y = x + 2 * rows * lanes;
    std::array<Int64, kMostLines> from{}, to{};
    for (Int64 l = 0; l < count; ++l) {
      from[static_cast<std::size_t>(l)] = in_.offset(lines_, first + l);
      to[static_cast<std::size_t>(l)] = out_.offset(lines_, first + l);
    }
    load(x, from.data(), static_cast<int>(count));
    T* const result = block_->run(x, y);
    store(result, to.data(), static_cast<int>(count));
    fill_behind(to.data(), count);
  }

  void load(T* block, const Int64* offsets, int count) {
    const Int64 rows = input_rows();
    const auto view = [&](const T* im, Int64 stride, Int64 re_rows, Int64 im_rows, bool swap) {
      return LineView<const T>{re_, im, offsets, stride, re_rows, im_rows, count, swap};
    };
    if (r_.kind == FftKind::from_real && paired_)
      return kernels_.load(view(re_ + in_.stride, 2 * in_.stride, (rows + 1) / 2, rows / 2, false), length_, block);
    if (r_.kind == FftKind::to_real && paired_) {
      kernels_.load(view(im_, in_.stride, rows, rows, false), length_ + 1, block);
      return kernels_.to_pairs(block, length_, roots_->data(), static_cast<T>(r_.inner));
    }
    kernels_.load(view(im_, in_.stride, rows, rows, swap_), n_, block);
    if (r_.kind == FftKind::to_real) mirror(block);
  }
  /// The other half of an odd number of rows, whose parts are swapped.
  void mirror(T* block) {
    const Int64 lanes = kernels_.lanes, row = 2 * lanes;
    for (Int64 l = 0; l < lanes; ++l) block[l] = 0;
    for (Int64 k = 1; 2 * k < n_; ++k)
      for (Int64 l = 0; l < lanes; ++l) {
        T *const low = block + k * row + l, *const high = block + (n_ - k) * row + l;
        low[0] *= static_cast<T>(r_.inner), low[lanes] *= static_cast<T>(r_.inner);
        high[0] = -low[0], high[lanes] = low[lanes];
      }
  }
  void store(T* block, const Int64* offsets, int count) {
    const Int64 rows = output_rows();
    const T scale = static_cast<T>(r_.scale);
    const auto view = [&](T* im, Int64 stride, Int64 re_rows, Int64 im_rows, bool swap) {
      return LineView<T>{out_re_, im, offsets, stride, re_rows, im_rows, count, swap};
    };
    if (r_.kind == FftKind::to_real && paired_)
      return kernels_.store(block, length_, scale,
                            view(out_re_ + out_.stride, 2 * out_.stride, (rows + 1) / 2, rows / 2, true));
    if (r_.kind == FftKind::from_real && paired_)
      kernels_.from_pairs(block, length_, roots_->data(), static_cast<T>(r_.inner));
    else if (r_.kind == FftKind::from_real && r_.inner != 1)
      for (Int64 i = 2 * kernels_.lanes; i < 2 * kernels_.lanes * (n_ / 2 + 1); ++i)
        block[i] *= static_cast<T>(r_.inner);
    kernels_.store(block, n_, scale, view(out_im_, out_.stride, rows, rows, swap_));
  }
  void fill_behind(const Int64* offsets, Int64 count) {
    for (Int64 l = 0; l < count; ++l)
      for (Int64 i = output_rows(); i < wanted_; ++i) {
        out_re_[offsets[l] + i * out_.stride] = 0;
        if (out_im_) out_im_[offsets[l] + i * out_.stride] = 0;
      }
  }

  // ---- a long line ----

  void run_line(Int64 index) {
    const Int64 from = in_.offset(lines_, index), to = out_.offset(lines_, index);
    const bool plain = r_.kind == FftKind::complex && im_ && given_ >= n_;
    const bool real_pairs = r_.kind == FftKind::from_real && paired_ && given_ >= n_;
    const bool writes = r_.kind == FftKind::complex && out_im_ && wanted_ >= n_;
    const bool writes_pairs = r_.kind == FftKind::to_real && paired_ && wanted_ >= n_;
    const bool copies = !(plain || real_pairs) || !(writes || writes_pairs);
    const CallMemory memory(detail::of_thread<WholeLine>(),
                            copies ? 4 * (length_ + 1) * static_cast<Int64>(sizeof(T)) : 0);
    T *const x = memory.as<T>(), *const y = x + (copies ? 2 * (length_ + 1) : 0);
    StridedLine<const T> source{x, x + 1, 2};
    if (plain) source = {re_ + from, im_ + from, in_.stride, swap_};
    else if (real_pairs) source = {re_ + from, re_ + from + in_.stride, 2 * in_.stride};
    else gather(from, x);
    if (writes) line_->run(source, {out_re_ + to, out_im_ + to, out_.stride, swap_}, static_cast<T>(r_.scale));
    else if (writes_pairs)
      line_->run(source, {out_re_ + to, out_re_ + to + out_.stride, 2 * out_.stride, true}, static_cast<T>(r_.scale));
    else {
      line_->run(source, {y, y + 1, 2}, T(1));
      scatter(y, to);
    }
    fill_behind(&to, 1);
  }

  /// What is transformed, forward, as pairs one after the other.
  void gather(Int64 from, T* x) {
    const Int64 rows = input_rows(), stride = in_.stride;
    const auto re = [&](Int64 i) { return i < rows ? re_[from + i * stride] : T(0); };
    const auto im = [&](Int64 i) { return im_ && i < rows ? im_[from + i * stride] : T(0); };
    const T inner = static_cast<T>(r_.inner);
    if (r_.kind == FftKind::from_real && paired_) {
      for (Int64 i = 0; i < length_; ++i) x[2 * i] = re(2 * i), x[2 * i + 1] = re(2 * i + 1);
    } else if (r_.kind == FftKind::from_real) {
      for (Int64 i = 0; i < n_; ++i) x[2 * i] = re(i), x[2 * i + 1] = 0;
    } else if (r_.kind == FftKind::to_real && paired_) {
      gather_pairs(re, im, x);
    } else if (r_.kind == FftKind::to_real) {
      x[0] = 0, x[1] = re(0);
      for (Int64 k = 1; 2 * k < n_; ++k) {
        T *const low = x + 2 * k, *const high = x + 2 * (n_ - k);
        low[0] = inner * im(k), low[1] = inner * re(k), high[0] = -low[0], high[1] = low[1];
      }
    } else {
      for (Int64 i = 0; i < n_; ++i) x[2 * i + swap_] = re(i), x[2 * i + !swap_] = im(i);
    }
  }
  /// As LineKernels::to_pairs.
  template <class Re, class Im> void gather_pairs(const Re& re, const Im& im, T* x) const {
    const T* const roots = roots_->data();
    const T inner = static_cast<T>(r_.inner);
    x[0] = re(0) - re(length_), x[1] = re(0) + re(length_);
    for (Int64 k = 1; k < length_; ++k) {
      const T low_re = re(k), low_im = im(k), high_re = re(length_ - k), high_im = im(length_ - k);
      const T a_re = inner * (low_re + high_re), a_im = inner * (low_im - high_im);
      const T b_re = inner * (low_re - high_re), b_im = inner * (low_im + high_im);
      const T c = roots[2 * k], s = -roots[2 * k + 1];
      x[2 * k] = a_im + (b_re * c - b_im * s), x[2 * k + 1] = a_re - (b_im * c + b_re * s);
    }
  }

  void scatter(const T* y, Int64 to) {
    const Int64 rows = output_rows(), stride = out_.stride;
    const T scale = static_cast<T>(r_.scale), inner = scale * static_cast<T>(r_.inner);
    const auto put = [&](Int64 i, T re, T im) {
      out_re_[to + i * stride] = re;
      if (out_im_) out_im_[to + i * stride] = im;
    };
    if (r_.kind == FftKind::from_real && paired_) {
      scatter_pairs(y, rows, scale, inner, put);
    } else if (r_.kind == FftKind::from_real) {
      for (Int64 i = 0; i < rows; ++i) put(i, y[2 * i] * (i ? inner : scale), y[2 * i + 1] * (i ? inner : scale));
    } else if (r_.kind == FftKind::to_real && paired_) {
      for (Int64 i = 0; i < rows; ++i) out_re_[to + i * stride] = y[i % 2 ? i - 1 : i + 1] * scale;
    } else {
      for (Int64 i = 0; i < rows; ++i) put(i, y[2 * i + swap_] * scale, y[2 * i + !swap_] * scale);
    }
  }
  /// As LineKernels::from_pairs.
  template <class Put> void scatter_pairs(const T* y, Int64 rows, T scale, T inner, const Put& put) const {
    const T *const roots = roots_->data(), half = T(0.5) * inner;
    if (rows > 0) put(0, scale * (y[0] + y[1]), T(0));
    for (Int64 k = 1; k < std::min(rows, length_); ++k) {
      const T *const low = y + 2 * k, *const high = y + 2 * (length_ - k);
      const T a_re = half * (low[0] + high[0]), a_im = half * (low[1] - high[1]);
      const T b_re = half * (low[0] - high[0]), b_im = half * (low[1] + high[1]);
      const T c = roots[2 * k], s = roots[2 * k + 1];
      put(k, a_re + (b_im * c + b_re * s), a_im - (b_re * c - b_im * s));
    }
    if (rows > length_) put(length_, scale * (y[0] - y[1]), T(0));
  }

  const FftRequest& r_;
  const LineKernels<T>& kernels_ = line_kernels_of<T>();
  Int64 n_;
  AxisOrder lines_;
  Int64 given_, wanted_;
  LineSteps in_, out_;
  const T *re_, *im_;
  T *out_re_, *out_im_;
  bool paired_;
  Int64 length_;
  bool swap_;
  std::shared_ptr<const std::vector<T>> roots_;
  std::shared_ptr<const BlockPlan<T>> block_;
  std::shared_ptr<const TransformPlan<T>> line_;
};

}  // namespace
}  // namespace fft

void fft_on_cpu(detail::Backend& backend, const FftRequest& request) {
  if (request.lines() == 0) return;
  if (request.second >= 0)
    return fft_on_cpu(backend, request.first_alone()), fft_on_cpu(backend, request.second_alone());
  with_threads_noted([&] {
    if (request.re.dtype == DType::f64) fft::FftRun<double>(request).run();
    else fft::FftRun<float>(request).run();
  });
}

}  // namespace tern::detail_cpu
