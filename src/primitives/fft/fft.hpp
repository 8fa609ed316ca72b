// Primitive `fft`: Fourier transforms along an axis.
#pragma once
#include <bit>

#include "backend/primitive.hpp"

namespace tern::detail {

enum class FftKind : int {
  complex,    // numbers to numbers; a view of imaginary parts that is not there stands for zeros, or is not wanted
  from_real,  // real numbers to the first n/2 + 1 of the results, forward
  to_real     // back from these, whose other half mirrors them; the imaginary parts of the first and the middle one
              // are not read
};

/// y(k) = scale · Σ_j x(j) · e^(∓2πi·jk/n), j, k < n, along an axis, for every line along it. Of lines that are shorter
/// than n the rest is zeros, of longer ones it is not read; of results as many are written as there is room for, and
/// zeros behind them. All these are linear, and the transpose of each is one of them.
///
/// Complex numbers are given by the views of their parts, which lie beside each other.
struct FftRequest {
  const char* op = "";
  FftKind kind = FftKind::complex;
  Shape input_space, output_space;
  int axis = 0;
  std::int64_t n = 0;
  bool backward = false;
  double scale = 1;
  /// By which results (from_real) or operands (to_real) are multiplied that stand for themselves and their mirror
  /// image.
  double inner = 1;
  /// Where it is an axis, what has been transformed along `axis` is so along this one, unscaled: of complex numbers,
  /// all n of them there and wanted along both axes.
  int second = -1;
  View re, im, out_re, out_im;

  template <class Self, class Visitor> static void views(Self& r, Visitor&& visit) {
    visit.reads(r.re, r.input_space);
    if (r.im.storage) visit.reads(r.im, r.input_space);
    visit.writes(r.out_re, r.output_space);
    if (r.out_im.storage) visit.writes(r.out_im, r.output_space);
  }
  template <class Add> void parameters(Add&& add) const {
    add(kind), add(input_space), add(output_space), add(axis), add(n), add(backward), add(second);
    add(std::bit_cast<std::int64_t>(scale)), add(std::bit_cast<std::int64_t>(inner));
    add(re.dtype), add(im.storage != nullptr), add(out_im.storage != nullptr);
  }
  std::int64_t lines() const {
    std::int64_t count = 1;
    for (int i = 0; i < input_space.rank(); ++i)
      if (i != axis) count *= input_space[static_cast<std::size_t>(i)];
    return count;
  }
  /// Its two halves where there is a second axis.
  FftRequest first_alone() const {
    FftRequest r = *this;
    r.second = -1;
    return r;
  }
  FftRequest second_alone() const {
    FftRequest r = first_alone();
    r.axis = second, r.n = output_space[static_cast<std::size_t>(second)], r.scale = 1;
    r.re = r.out_re, r.im = r.out_im;
    return r;
  }
  /// 5·n·log₂ n of a line, as is usual, of a real one half.
  std::int64_t flops() const;
  std::string text() const;
};

}  // namespace tern::detail
