// Printing like NumPy: nested brackets, aligned columns, the middle of long axes left out.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "backend/memory/elements.hpp"
#include "backend/recording/capture.hpp"
#include "backend/tensor_impl.hpp"

namespace tern {
namespace {

using namespace detail;

constexpr std::int64_t kShowAll = 1000;  // NumPy's threshold: larger tensors are abridged
constexpr std::int64_t kEdge = 3;        // entries shown at each end of an abridged axis

/// How a stream wants numbers: std::setprecision, std::fixed, std::scientific.
struct NumberStyle {
  char letter = 'g';
  int digits = 0;
  NumberStyle(const std::ostream& stream, DType dtype) {
    const auto field = stream.flags() & std::ios_base::floatfield;
    letter = field == std::ios_base::fixed ? 'f' : field == std::ios_base::scientific ? 'e' : 'g';
    constexpr std::streamsize untouched = 6, most = 1000;
    const std::streamsize asked = stream.precision();
    const bool own = asked == untouched && letter == 'g';  // nobody has said how many digits
    digits = own ? (real_dtype(dtype) == DType::f64 ? 8 : real_dtype(dtype) == DType::f32 ? 6 : 4)
                 : static_cast<int>(asked < 0 ? untouched : std::min(asked, most));
  }
  std::string operator()(double value) const {
    if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();  // its sign says nothing
    const char pattern[] = {'%', '.', '*', letter, '\0'};
    std::string text(static_cast<std::size_t>(std::snprintf(nullptr, 0, pattern, digits, value)), ' ');
    std::snprintf(text.data(), text.size() + 1, pattern, digits, value);
    if (letter == 'g' && std::isfinite(value) && text.find_first_of(".e") == std::string::npos) text += '.';
    return text;
  }
};

/// As NumPy: 1.+2.j
template <class T> std::string text_of(std::complex<T> value, const NumberStyle& format) {
  const std::string imaginary = format(static_cast<double>(value.imag()));
  const bool has_sign = imaginary[0] == '-' || imaginary[0] == '+';
  return format(static_cast<double>(value.real())) + (has_sign ? "" : "+") + imaginary + "j";
}
template <class T> std::string text_of(T value, const NumberStyle& format) {
  if constexpr (std::is_same_v<T, bool>) return value ? "true" : "false";
  else if constexpr (std::is_integral_v<T>) return std::to_string(static_cast<long long>(value));
  else return format(static_cast<double>(value));
}

class Printer {
 public:
  Printer(std::ostream& stream, const Tensor& t)
      : stream_(stream), format_(stream, t.dtype()), shape_(t.shape()), abridged_(t.numel() > kShowAll) {
    require_values("print");
    if (t.dtype() == DType::c64) collect<std::complex<float>>(t, 0);
    else if (t.dtype() == DType::c128) collect<std::complex<double>>(t, 0);
    else with_element(t.dtype(), [&]<class T>(std::type_identity<T>) { collect<T>(t, 0); });
  }
  void print() { axis(0); }

 private:
  bool hides(std::int64_t size) const { return abridged_ && size > 2 * kEdge; }
  bool hidden(std::int64_t i, std::int64_t size) const { return hides(size) && i >= kEdge && i < size - kEdge; }

  /// The texts of t, whose first axis is axis `first` of the whole. Only what is shown leaves the device, in one copy:
  /// both ends of an abridged axis are a view of two axes, [2, kEdge]. Where those are too many axes, one copy for each
  /// entry.
  template <class T> void collect(const Tensor& t, int first) {
    const TensorImpl& whole = *t.impl();
    const auto abridged = std::count_if(whole.shape.begin(), whole.shape.end(), [&](auto n) { return hides(n); });
    if (whole.shape.rank() + abridged > kMaxRank) {
      for (std::int64_t i = 0; i < whole.shape[0]; ++i)
        if (!hidden(i, whole.shape[0])) collect<T>(t[i], first + 1);
      return;
    }
    Shape shape;
    Strides strides;
    for (std::size_t i = 0; i < whole.shape.size(); ++i) {
      const std::int64_t size = whole.shape[i], step = whole.strides[i];
      if (hides(size)) shape.push_back(2), strides.push_back((size - kEdge) * step);
      shape.push_back(hides(size) ? kEdge : size), strides.push_back(step);
    }
    const Tensor shown = make_view(t, shape, strides, whole.offset).to(cpu()).contiguous();
    const std::int64_t count = shown.numel();
    const T* values = shown.data_ptr<T>();
    for (std::int64_t i = 0; i < count; ++i) {
      texts_.push_back(text_of(values[i], format_));
      width_ = std::max(width_, texts_.back().size());
    }
  }

  void axis(int depth) {
    if (depth == shape_.rank()) {
      const std::string& text = texts_[next_++];
      stream_ << std::string(shape_.rank() ? width_ - text.size() : 0, ' ') << text;
      return;
    }
    stream_ << '[';
    const std::int64_t size = shape_[static_cast<std::size_t>(depth)];
    for (std::int64_t i = 0; i < size; ++i) {
      if (hidden(i, size)) {
        if (i == kEdge) stream_ << separator(depth) << "...";
        continue;
      }
      if (i) stream_ << separator(depth);
      axis(depth + 1);
    }
    stream_ << ']';
  }
  std::string separator(int depth) const {
    const int lines = shape_.rank() - 1 - depth;
    return lines == 0 ? ", "
                      : "," + std::string(static_cast<std::size_t>(lines), '\n') +
                            std::string(static_cast<std::size_t>(depth) + 1, ' ');
  }

  std::ostream& stream_;
  NumberStyle format_;
  Shape shape_;
  bool abridged_;
  std::vector<std::string> texts_;
  std::size_t width_ = 0, next_ = 0;
};

}  // namespace

std::ostream& operator<<(std::ostream& stream, const Tensor& tensor) {
  if (!tensor.defined()) return stream << "undefined";
  stream.width(0);  // of no use for several lines
  Printer(stream, tensor).print();
  return stream;
}
std::ostream& operator<<(std::ostream& stream, DType dtype) { return stream << to_string(dtype); }
std::ostream& operator<<(std::ostream& stream, const Device& device) { return stream << device.to_string(); }
std::ostream& detail::operator<<(std::ostream& stream, const DimVector& dims) { return stream << to_string(dims); }

}  // namespace tern
