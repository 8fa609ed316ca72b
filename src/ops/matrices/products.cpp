// The products that einsum has as special cases, and those of many matrices.
#include <limits>
#include <string>

#include "autodiff/instances.hpp"
#include "backend/named_errors.hpp"
#include "formula/extremes.hpp"
#include "primitives/fused/operation.hpp"
#include "primitives/gemm/operation.hpp"
#include "tern/complex.hpp"
#include "tern/linalg.hpp"
#include "tern/products.hpp"

namespace tern {

using namespace detail;

namespace {

/// "abc", from a letter on.
std::string letters(int count, char first = 'a') {
  std::string text;
  for (int i = 0; i < count; ++i) text += static_cast<char>(first + i);
  return text;
}
/// The axes as they are counted from the front; throws index, naming op, where one is not there or is given twice.
std::vector<int> normalized_axes(const char* op, const Axes& axes, int rank) {
  axis_mask(op, axes, rank);  // throws
  std::vector<int> list;
  for (const std::int64_t axis : axes) list.push_back(normalize_axis(op, static_cast<int>(axis), rank));
  return list;
}
void require_square(const char* op, const Tensor& x) {
  require_defined(op, "x", x);
  if (x.dim() < 2 || x.size(-1) != x.size(-2))
    throw Error(ErrorKind::shape, std::string(op) + ": x must be square matrices, it is " + describe(x));
}

}  // namespace

template <TensorOrVar A, TensorOrVar B>
ResultOf<A, B> tensordot(const A& a, const B& b, const Axes& axes_of_a, const Axes& axes_of_b) {
  constexpr const char* op = "tensordot";
  require_defined(op, "a", value_of(a)), require_defined(op, "b", value_of(b));
  const std::vector<int> of_a = normalized_axes(op, axes_of_a, a.dim()), of_b = normalized_axes(op, axes_of_b, b.dim());
  if (of_a.size() != of_b.size())
    throw Error(ErrorKind::shape, "tensordot: expected as many axes of b as of a, got " + to_string(axes_of_a) +
                                      " and " + to_string(axes_of_b));
  std::string x = letters(a.dim()), y = letters(b.dim(), 'A'), rest = x + y;
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    if (a.size(of_a[i]) != b.size(of_b[i]))
      throw Error(ErrorKind::shape, "tensordot: axis " + std::to_string(of_a[i]) + " of a, " + describe(value_of(a)) +
                                        ", and axis " + std::to_string(of_b[i]) + " of b, " + describe(value_of(b)) +
                                        ", differ in size");
    char& letter = y[static_cast<std::size_t>(of_b[i])];
    std::erase(rest, letter);
    letter = x[static_cast<std::size_t>(of_a[i])];
    std::erase(rest, letter);
  }
  return einsum(x + "," + y + "->" + rest, a, b);
}
template <TensorOrVar A, TensorOrVar B> ResultOf<A, B> tensordot(const A& a, const B& b, int axes) {
  constexpr const char* op = "tensordot";
  require_defined(op, "a", value_of(a)), require_defined(op, "b", value_of(b));
  if (axes < 0 || axes > a.dim() || axes > b.dim())
    throw Error(ErrorKind::index, "tensordot: cannot sum over " + std::to_string(axes) + " axes of a, " +
                                      describe(value_of(a)) + ", and b, " + describe(value_of(b)));
  Axes last, first;
  for (int i = 0; i < axes; ++i) last.push_back(a.dim() - axes + i), first.push_back(i);
  return tensordot(a, b, last, first);
}

template <TensorOrVar A, TensorOrVar B> ResultOf<A, B> inner(const A& a, const B& b) {
  require_one_kind("inner", value_of(a), value_of(b));
  if (a.dim() == 0 || b.dim() == 0) return a * b;
  if (a.size(-1) != b.size(-1))
    throw Error(ErrorKind::shape,
                "inner: the last axes differ: a is " + describe(value_of(a)) + ", b is " + describe(value_of(b)));
  Axes last;
  last.push_back(-1);
  return tensordot(a, b, last, last);
}

template <TensorOrVar A, TensorOrVar B> ResultOf<A, B> outer(const A& a, const B& b) {
  require_one_kind("outer", value_of(a), value_of(b));
  return a.reshape({a.numel(), 1}) * b.reshape({1, b.numel()});
}

template <TensorOrVar A, TensorOrVar B> ResultOf<A, B> vecdot(const A& a, const B& b, int axis) {
  constexpr const char* op = "vecdot";
  require_one_kind(op, value_of(a), value_of(b));
  const Argument arguments[] = {Argument(a), Argument(b)};
  const Shape space = broadcast_space(op, arguments);
  const int at = normalize_axis(op, axis, space.rank());
  static const FormulaGraph* const graph = graph_of([](auto x, auto y) { return sum(x * y); });
  static const FormulaGraph* const complex = graph_of([](auto x, auto y) { return sum(conj(x) * y); });
  return fused_one<ResultOf<A, B>>({op, is_complex(a.dtype()) ? complex : graph, 1u << at, {}, {}, true}, arguments);
}

template <TensorOrVar A, TensorOrVar B> ResultOf<A, B> cross(const A& a, const B& b, int axis) {
  using R = ResultOf<A, B>;
  constexpr const char* op = "cross";
  const Argument arguments[] = {Argument(a), Argument(b)};
  const Shape space = broadcast_space(op, arguments);
  const int at = normalize_axis(op, axis, space.rank()) - space.rank();  // from the end, for the shorter operand
  const auto has_three = [&](const Tensor& t) { return t.dim() >= -at && t.size(at) == 3; };
  if (!has_three(value_of(a)) || !has_three(value_of(b)))
    throw Error(ErrorKind::shape, "cross: axis " + std::to_string(axis) + " must have the size 3, operands are " +
                                      describe(value_of(a)) + " and " + describe(value_of(b)));
  const auto part = [&](const auto& x, int i) { return x.slice(at, i, i + 1); };
  static const Pointwise product("cross", [](auto a0, auto a1, auto a2, auto b0, auto b1, auto b2) {
    return std::array{a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0};
  });
  const std::array<R, 3> parts = product(part(a, 0), part(a, 1), part(a, 2), part(b, 0), part(b, 1), part(b, 2));
  return concatenate(std::vector<R>(parts.begin(), parts.end()), at);
}

template <TensorOrVar A, TensorOrVar B> ResultOf<A, B> kron(const A& a, const B& b) {
  require_defined("kron", "a", value_of(a)), require_defined("kron", "b", value_of(b));
  const int rank = std::max(a.dim(), b.dim());
  if (2 * rank > kMaxRank)
    throw Error(ErrorKind::shape, "kron: operands may have up to " + std::to_string(kMaxRank / 2) + " axes, they are " +
                                      describe(value_of(a)) + " and " + describe(value_of(b)));
  Shape of_a, of_b, result;
  for (int i = 0; i < rank; ++i) {
    const std::int64_t m = i < rank - a.dim() ? 1 : a.size(i - (rank - a.dim())),
                       n = i < rank - b.dim() ? 1 : b.size(i - (rank - b.dim()));
    of_a.push_back(m), of_a.push_back(1), of_b.push_back(1), of_b.push_back(n);
    result.push_back(size_times("kron", m, n));
  }
  return (a.reshape(of_a) * b.reshape(of_b)).reshape(result);
}

template <TensorOrVar T> T trace(const T& x, std::int64_t offset) {
  require_defined("trace", "x", value_of(x));
  if (x.dim() < 2)
    throw Error(ErrorKind::shape, "trace: x must have at least two axes, it is " + describe(value_of(x)));
  return sum(diagonal(x, offset, -2, -1), -1);
}

template <TensorOrVar T> T matrix_power(const T& x, std::int64_t n) {
  constexpr const char* op = "matrix_power";
  require_square(op, value_of(x));
  if (n < 0) {
    if (n == std::numeric_limits<std::int64_t>::min()) return matrix_power(matrix_power(x, n / 2), 2);
    return matrix_power(in_name_of(op, [&] { return linalg::inv(x); }), -n);
  }
  if (n == 0) {
    const Tensor one = eye(x.size(-1), {.dtype = x.dtype(), .device = x.device()});
    return operand_as<T>(one.broadcast_to(x.shape()).clone());
  }
  if (n == 1) return x.clone();
  T square_of = x, result;
  for (;; n /= 2) {
    if (n % 2 == 1) result = result.defined() ? matmul(result, square_of) : square_of;
    if (n == 1) return result;
    square_of = matmul(square_of, square_of);
  }
}

namespace {
/// Where the chain of matrices from `first` to `last` is divided, fewest multiplications in all: matrix i is
/// sizes[i] × sizes[i + 1].
class Chain {
 public:
  explicit Chain(std::vector<std::int64_t> sizes)
      : sizes_(std::move(sizes)), count_(sizes_.size() - 1), cost_(count_ * count_), split_(count_ * count_) {
    for (std::size_t length = 1; length < count_; ++length)
      for (std::size_t first = 0; first + length < count_; ++first) choose(first, first + length);
  }
  template <TensorOrVar T> T product(const std::vector<T>& matrices, std::size_t first, std::size_t last) const {
    if (first == last) return matrices[first];
    const std::size_t middle = split_[first * count_ + last];
    return matmul(product(matrices, first, middle), product(matrices, middle + 1, last));
  }

 private:
  void choose(std::size_t first, std::size_t last) {
    double& best = cost_[first * count_ + last];
    best = std::numeric_limits<double>::infinity();
    for (std::size_t middle = first; middle < last; ++middle) {
      const double total = cost_[first * count_ + middle] + cost_[(middle + 1) * count_ + last] +
                           static_cast<double>(sizes_[first]) * static_cast<double>(sizes_[middle + 1]) *
                               static_cast<double>(sizes_[last + 1]);
      if (total < best) best = total, split_[first * count_ + last] = middle;
    }
  }
  std::vector<std::int64_t> sizes_;
  std::size_t count_;
  std::vector<double> cost_;
  std::vector<std::size_t> split_;
};
}  // namespace

template <TensorOrVar T> T multi_dot(const std::vector<T>& matrices) {
  constexpr const char* op = "multi_dot";
  if (matrices.size() < 2)
    throw Error(ErrorKind::shape, "multi_dot: expected at least two matrices, got " + std::to_string(matrices.size()));
  std::vector<T> list = matrices;
  for (std::size_t i = 0; i < list.size(); ++i) {
    require_defined(op, ("matrix " + std::to_string(i + 1)).c_str(), value_of(list[i]));
    const bool row = i == 0 && list[i].dim() == 1, column = i + 1 == list.size() && list[i].dim() == 1;
    if (row || column) list[i] = list[i].unsqueeze(row ? 0 : 1);
    if (list[i].dim() != 2)
      throw Error(ErrorKind::shape, "multi_dot: matrix " + std::to_string(i + 1) +
                                        " must have two axes (the first and "
                                        "the last may have one), it is " +
                                        describe(value_of(list[i])));
  }
  std::vector<std::int64_t> sizes{list[0].size(0)};
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0 && list[i].size(0) != sizes.back())
      throw Error(ErrorKind::shape, "multi_dot: matrices " + std::to_string(i) + " and " + std::to_string(i + 1) +
                                        " do not fit: " + describe(value_of(list[i - 1])) + " and " +
                                        describe(value_of(list[i])));
    sizes.push_back(list[i].size(1));
  }
  T result = Chain(sizes).product(list, 0, list.size() - 1);
  if (matrices.back().dim() == 1) result = result.squeeze(-1);
  if (matrices.front().dim() == 1) result = result.squeeze(0);
  return result;
}

TERN_INSTANCES_2(ResultOf, tensordot, int)
TERN_INSTANCES_2(ResultOf, tensordot, const Axes&, const Axes&)
TERN_INSTANCES_2(ResultOf, inner)
TERN_INSTANCES_2(ResultOf, outer)
TERN_INSTANCES_2(ResultOf, vecdot, int)
TERN_INSTANCES_2(ResultOf, cross, int)
TERN_INSTANCES_2(ResultOf, kron)
#define TERN_INSTANCES(T)                          \
  template T trace(const T&, std::int64_t);        \
  template T matrix_power(const T&, std::int64_t); \
  template T multi_dot(const std::vector<T>&);
TERN_INSTANCES(Tensor)
TERN_INSTANCES(Var)
#undef TERN_INSTANCES

}  // namespace tern
