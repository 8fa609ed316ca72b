// Printing like NumPy: nested brackets, aligned columns, the middle of long axes left out.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ostream>
#include <string>
#include <vector>

#include "backend/tensor_impl.hpp"

namespace tern {
namespace {

constexpr std::int64_t kShowAll = 1000;  // NumPy's threshold: larger tensors are abridged
constexpr std::int64_t kEdge = 3;        // entries shown at each end of an abridged axis

template <class T> std::string text_of(T value) {
  if constexpr (std::is_same_v<T, bool>) return value ? "true" : "false";
  else if constexpr (std::is_integral_v<T>) return std::to_string(static_cast<long long>(value));
  else {
    char buffer[40];
    const int digits = std::is_same_v<T, double> ? 8 : std::is_same_v<T, float> ? 6 : 4;
    std::snprintf(
        buffer, sizeof buffer, "%.*g", digits,
        static_cast<double>(static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(value)));
    std::string text = buffer;
    if (std::isfinite(static_cast<double>(value)) && text.find_first_of(".e") == std::string::npos) text += '.';
    return text;
  }
}

class Printer {
 public:
  Printer(std::ostream& stream, const Tensor& t) : stream_(stream), shape_(t.shape()), abridged_(t.numel() > kShowAll) {
    switch (t.dtype()) {
      case DType::boolean: read<bool>(t); break;
      case DType::u8: read<std::uint8_t>(t); break;
      case DType::i8: read<std::int8_t>(t); break;
      case DType::i16: read<std::int16_t>(t); break;
      case DType::i32: read<std::int32_t>(t); break;
      case DType::u32: read<std::uint32_t>(t); break;
      case DType::i64: read<std::int64_t>(t); break;
      case DType::f16: read<float16>(t); break;
      case DType::bf16: read<bfloat16>(t); break;
      case DType::f32: read<float>(t); break;
      case DType::f64: read<double>(t); break;
    }
  }
  void print() { axis(0); }

 private:
  /// Only the entries that are shown are read.
  template <class T> void read(const Tensor& t) { collect<T>(t, 0); }
  template <class T> void collect(const Tensor& t, int at) {
    if (at == t.dim()) {
      texts_.push_back(text_of(t.item<T>()));
      width_ = std::max(width_, texts_.back().size());
      return;
    }
    const std::int64_t size = t.size(at);
    for (std::int64_t i = 0; i < size; ++i) {
      if (hidden(i, size)) continue;
      collect<T>(t.slice(at, i, i + 1), at + 1);
    }
  }
  bool hidden(std::int64_t i, std::int64_t size) const {
    return abridged_ && size > 2 * kEdge && i >= kEdge && i < size - kEdge;
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
  Shape shape_;
  bool abridged_;
  std::vector<std::string> texts_;
  std::size_t width_ = 0, next_ = 0;
};

}  // namespace

std::ostream& operator<<(std::ostream& stream, const Tensor& tensor) {
  if (!tensor.defined()) return stream << "undefined";
  Printer(stream, tensor.to(cpu())).print();
  return stream;
}

}  // namespace tern
