#include "fuzz/program.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "formula/graph.hpp"
#include "fuzz/naive.hpp"
#include "ops/entry.hpp"
#include "tern/tern.hpp"

namespace tern::fuzz {
namespace {

/// One value both ways. Values stay in [-1, 1] or so (every step that grows them is followed by tanh), so that errors
/// do not grow either.
struct Value {
  Tensor tensor;
  Naive naive;
};

/// A program of random bytes. (Longer than other classes: each kind of step is a few lines on the same values.)
class Program {
 public:
  Program(const std::uint8_t* data, std::size_t size) : data_(data), end_(data + size) {}

  void run() {
    for (int i = 0; i < 3; ++i) values_.push_back(fresh());
    while (data_ < end_ && steps_ < 40) step();
  }

 private:
  std::uint8_t next() { return data_ < end_ ? *data_++ : 0; }
  std::int64_t below(std::int64_t limit) { return limit <= 1 ? 0 : next() % limit; }
  Value& pick() { return values_[static_cast<std::size_t>(below(static_cast<std::int64_t>(values_.size())))]; }

  Value fresh() {
    std::vector<std::int64_t> shape;
    for (std::int64_t rank = below(4); rank > 0; --rank) shape.push_back(below(6));
    double value = 0.1 * static_cast<double>(below(11)) - 0.5;
    Naive naive = generate(shape, [&](const auto&) { return std::sin(value += 0.7); });
    return {tensor(naive.values, Shape(shape), cpu()), std::move(naive)};
  }

  void add(const char* what, const Tensor& tensor, Naive naive) {
    const std::vector<double> got = tensor.to_vector<double>();
    bool same = static_cast<std::vector<std::int64_t>>(tensor.shape()) == naive.shape;
    // At most 6·40 terms of size about 1 were added on the way.
    for (std::size_t i = 0; same && i < got.size(); ++i)
      same = std::abs(got[i] - naive.values[i]) <= 1e-12 * std::max(1.0, std::abs(naive.values[i]));
    if (!same) {
      std::fprintf(stderr, "step %d, %s: results differ, shape %s\n", steps_, what, to_string(tensor.shape()).c_str());
      std::abort();
    }
    if (values_.size() < 12) values_.push_back({tensor, std::move(naive)});
    else values_[static_cast<std::size_t>(steps_) % 12] = {tensor, std::move(naive)};
  }

  void step() {
    ++steps_;
    switch (below(14)) {
      case 0: values_.push_back(fresh()); break;
      case 1:
      case 2: binary(); break;
      case 3: unary(); break;
      case 4: reduce(); break;
      case 5: permute_step(); break;
      case 6: slice_step(); break;
      case 7: reshape(); break;
      case 8: product(); break;
      case 9: in_place(); break;
      case 10: rows(); break;
      case 11: gated(); break;
      case 12: formula(); break;
      default: operation(); break;
    }
    if (values_.size() > 12) values_.resize(12);
  }

  /// Shapes that broadcast, or false.
  static bool common_shape(const Naive& a, const Naive& b, std::vector<std::int64_t>& shape) {
    shape.assign(std::max(a.shape.size(), b.shape.size()), 1);
    for (std::size_t i = 1; i <= shape.size(); ++i) {
      const std::int64_t x = i <= a.shape.size() ? a.shape[a.shape.size() - i] : 1,
                         y = i <= b.shape.size() ? b.shape[b.shape.size() - i] : 1;
      if (x != y && x != 1 && y != 1) return false;
      shape[shape.size() - i] = x == 1 ? y : x;
    }
    return true;
  }
  template <class F> static Naive zip(const Naive& a, const Naive& b, const std::vector<std::int64_t>& shape, F f) {
    const Naive x = broadcast_to(a, shape), y = broadcast_to(b, shape);
    return generate(shape, [&](const auto& i) { return f(x.at(i), y.at(i)); });
  }

  void binary() {
    const Value a = pick(), b = pick();
    const std::int64_t which = below(4);
    std::vector<std::int64_t> shape;
    if (!common_shape(a.naive, b.naive, shape)) {
      try {
        (void)(a.tensor + b.tensor);
        std::fprintf(stderr, "shapes that do not broadcast were accepted\n");
        std::abort();
      } catch (const Error&) {
        return;
      }
    }
    if (which == 0)
      add("tanh(a + b)", tanh(a.tensor + b.tensor),
          zip(a.naive, b.naive, shape, [](double x, double y) { return std::tanh(x + y); }));
    if (which == 1)
      add("a * b", a.tensor * b.tensor, zip(a.naive, b.naive, shape, [](double x, double y) { return x * y; }));
    if (which == 2)
      add("maximum", maximum(a.tensor, b.tensor),
          zip(a.naive, b.naive, shape, [](double x, double y) { return std::max(x, y); }));
    if (which == 3)
      add("where", where(a.tensor > b.tensor, a.tensor - b.tensor, (b.tensor - a.tensor) * 0.5),
          zip(a.naive, b.naive, shape, [](double x, double y) { return x > y ? x - y : 0.5 * (y - x); }));
  }
  void unary() {
    const Value x = pick();
    const std::int64_t which = below(3);
    if (which == 0) add("sin", sin(x.tensor), map(x.naive, [](double v) { return std::sin(v); }));
    if (which == 1) add("silu", silu(x.tensor), map(x.naive, [](double v) { return v / (1 + std::exp(-v)); }));
    if (which == 2)
      add("formula", Pointwise("f", [](auto v) { return tanh(v * v + 0.25); })(x.tensor),
          map(x.naive, [](double v) { return std::tanh(v * v + 0.25); }));
  }
  void reduce() {
    const Value x = pick();
    if (x.naive.shape.empty()) return;
    const auto axis = static_cast<std::size_t>(below(static_cast<std::int64_t>(x.naive.shape.size())));
    const Axes axes(static_cast<std::int64_t>(axis));
    const bool largest = below(2) && x.naive.shape[axis] > 0;
    if (largest)
      add("max", max(x.tensor, axes, true),
          fold(x.naive, axis, -1e300, [](double a, double b) { return std::max(a, b); }));
    else
      add("tanh(sum)", tanh(sum(x.tensor, axes, true)),
          map(fold(x.naive, axis, 0, [](double a, double b) { return a + b; }), [](double v) { return std::tanh(v); }));
  }
  void rows() {
    const Value x = pick();
    if (x.naive.shape.empty() || x.naive.shape.back() == 0) return;
    const std::size_t last = x.naive.shape.size() - 1;
    const Naive e = map(x.naive, [](double v) { return std::exp(v); }),
                s = fold(e, last, 0, [](double a, double b) { return a + b; });
    add("softmax", softmax(x.tensor), zip(e, s, e.shape, [](double a, double b) { return a / b; }));
  }
  void permute_step() {
    const Value x = pick();
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < x.naive.shape.size(); ++i)
      order.insert(order.begin() + static_cast<std::ptrdiff_t>(below(static_cast<std::int64_t>(i) + 1)), i);
    add("permute", x.tensor.permute(Axes(std::vector<std::int64_t>(order.begin(), order.end()))),
        permute(x.naive, order));
  }
  void slice_step() {
    const Value x = pick();
    if (x.naive.shape.empty()) return;
    const auto axis = static_cast<std::size_t>(below(static_cast<std::int64_t>(x.naive.shape.size())));
    const std::int64_t size = x.naive.shape[axis], begin = below(size + 1), end = begin + below(size - begin + 1),
                       step = 1 + below(3);
    add("slice", x.tensor.slice(static_cast<int>(axis), begin, end, step), slice(x.naive, axis, begin, end, step));
  }
  void reshape() {
    const Value x = pick();
    std::vector<std::int64_t> shape = x.naive.shape;
    if (shape.size() >= 2 && below(2)) {
      const auto axis = static_cast<std::size_t>(below(static_cast<std::int64_t>(shape.size()) - 1));
      shape[axis] *= shape[axis + 1];
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
    } else if (shape.size() < 5) {
      shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(below(static_cast<std::int64_t>(shape.size()) + 1)), 1);
    }
    add("reshape", x.tensor.reshape(Shape(shape)), Naive{shape, x.naive.values});
  }
  void product() {
    const Value a = pick(), b = pick();
    if (a.naive.shape.size() != 2 || b.naive.shape.size() != 2 || a.naive.shape[1] != b.naive.shape[0]) return;
    const Naive c = matmul(a.naive, b.naive);
    const Tensor bias = zeros({b.naive.shape[1]}, f64);
    add("tanh(matmul)", matmul_bias_activation(a.tensor, b.tensor, bias, op::tanh),
        map(c, [](double v) { return std::tanh(v); }));
  }
  /// On a copy: other values may be views of it.
  void in_place() {
    const Value a = pick(), b = pick();
    std::vector<std::int64_t> shape;
    if (!common_shape(a.naive, b.naive, shape) || shape != a.naive.shape) return;
    Tensor target = a.tensor.clone();
    target *= b.tensor;
    add("*=", target, zip(a.naive, b.naive, shape, [](double x, double y) { return x * y; }));
  }
  void gated() {
    const Value a = pick(), b = pick();
    std::vector<std::int64_t> shape;
    if (!common_shape(a.naive, b.naive, shape)) return;
    add("silu_mul", silu_mul(a.tensor, b.tensor),
        zip(a.naive, b.naive, shape, [](double x, double y) { return x / (1 + std::exp(-x)) * y; }));
  }

  /// Any formula of the library, of broadcast operands of any layout and of one or two dtypes: its values and its
  /// gradients are, bit for bit, those of copies that lie in order.
  void formula() {
    const std::vector<const Pointwise<>*>& all = formulas();
    const Pointwise<>& f = *all[static_cast<std::size_t>(next()) % all.size()];
    std::vector<Tensor> operands;
    std::vector<std::int64_t> shape;
    for (int i = 0; i < f.graph()->inputs; ++i) {
      const Value x = pick();
      if (!common_shape({shape, {}}, x.naive, shape)) return;
      const DType dtype = below(4) == 0 ? f32 : f64;
      operands.push_back(laid_out((below(4) == 0 ? x.tensor * 30 : x.tensor).to(dtype)));
    }
    std::vector<Tensor> apart, in_order;
    for (const Tensor& x : operands) {
      apart.push_back(x.broadcast_to(Shape(shape)));
      in_order.push_back(apart.back().clone());
    }
    const Tensor got = applied(f, operands);
    expect_bits(f.name(), got, applied(f, in_order));
    if (is_floating(got.dtype())) {
      const auto slopes = grad([&](const std::vector<Var>& x) { return sum(applied(f, x)); });
      const std::vector<Tensor> of_apart = slopes(apart), want = slopes(in_order);
      for (std::size_t i = 0; i < want.size(); ++i) expect_bits(f.name(), of_apart[i], want[i]);
    }
    if (all_finite(got)) go_on_with(got);
  }
  static const std::vector<const Pointwise<>*>& formulas() {
    static const std::vector<const Pointwise<>*> all{
#define TERN_FORMULA(name, ...) &op::name,
#define TERN_GATED(name, ...) &op::name,
#include "tern/formulas.inc"
#undef TERN_FORMULA
#undef TERN_GATED
    };
    return all;
  }
  template <class T> static T applied(const Pointwise<>& f, const std::vector<T>& x) {
    switch (x.size()) {
      case 1: return f(x[0]);
      case 2: return f(x[0], x[1]);
      case 3: return f(x[0], x[1], x[2]);
      default: return f(x[0], x[1], x[2], x[3]);
    }
  }
  void expect_bits(const char* what, const Tensor& got, const Tensor& want) {
    const std::vector<double> a = got.to(f64).to_vector<double>(), b = want.to(f64).to_vector<double>();
    bool same = got.dtype() == want.dtype() && got.shape() == want.shape();
    for (std::size_t i = 0; same && i < a.size(); ++i)
      same = (std::isnan(a[i]) && std::isnan(b[i])) || (a[i] == b[i] && std::signbit(a[i]) == std::signbit(b[i]));
    if (same) return;
    std::fprintf(stderr, "step %d, formula %s: not the bits of operands in order\n", steps_, what);
    std::abort();
  }
  static bool all_finite(const Tensor& x) { return all(isfinite(x)).item<bool>(); }

  /// Any operation that has an entry (src/ops/entry.hpp): a sample of it on operands of any layout, against its
  /// reference. What it gives goes on as a value.
  void operation() {
    const std::vector<operations::Entry>& all = operations::entries();
    const operations::Entry& entry = all[static_cast<std::size_t>(next() << 8 | next()) % all.size()];
    const operations::Sample& sample = entry.samples[static_cast<std::size_t>(next()) % entry.samples.size()];
    if (!sample.reference) return;
    const std::size_t few = std::min<std::size_t>(2, sample.sizes.size()), chosen = next();  // the large ones seldom
    const operations::Sizes sizes = sample.sizes[chosen < 16 ? chosen % sample.sizes.size() : chosen % few];
    std::vector<Tensor> operands;
    std::vector<operations::Values> exact;
    for (const Shape& shape : sample.shapes(sizes)) {
      const Naive x = numbers(static_cast<std::vector<std::int64_t>>(shape));
      exact.push_back({shape, x.values});
      operands.push_back(laid_out(tensor(x.values, shape, cpu())));
    }
    const std::vector<Tensor> got = sample.call(operands);
    const std::vector<operations::Values> want = sample.reference(exact);
    for (std::size_t k = 0; k < got.size(); ++k) {
      if (!agrees(entry.tolerance, got[k], want[k])) {
        std::fprintf(stderr, "step %d, %s (%s), result %zu differs from the reference\n", steps_, entry.name,
                     sample.with, k);
        std::abort();
      }
      go_on_with(got[k]);
    }
  }
  Naive numbers(const std::vector<std::int64_t>& shape) {
    double at = next() / 256.0 + next();
    return generate(shape, [&](const auto&) { return std::fmod(at += 0.6180339887498949 + at * 1e-7, 2.0) - 1; });
  }
  /// The same elements, otherwise in memory.
  Tensor laid_out(const Tensor& x) {
    const int last = x.dim() - 1;
    switch (x.dim() == 0 ? 0 : below(4)) {
      case 1: return x.transpose(0, last).contiguous().transpose(0, last);
      case 2: return flip(flip(x, Axes{last}).contiguous(), Axes{last});
      case 3: return repeat(x, 2, last).slice(last, 0, {}, 2);
      default: return x;
    }
  }
  static bool agrees(const operations::Tolerance& tolerance, const Tensor& got, const operations::Values& want) {
    if (got.shape() != want.shape) return false;
    const std::vector<double> values = got.to(f64).to_vector<double>();
    double largest = 1;
    for (const double v : want.of) largest = std::max(largest, std::abs(v));
    // What is made of numbers alone has the default dtype. Entries bound the draws of their own tests; of ten thousands
    // of others a few round worse.
    const double eps = got.dtype() == f32 ? 0x1p-23 : 0x1p-52,
                 bound = 2 * (tolerance.roundings + tolerance.stores) * eps * largest;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!(std::abs(values[i] - want.of[i]) <= bound + eps * std::abs(want.of[i]))) return false;
    return true;
  }
  void go_on_with(const Tensor& result) {
    if (result.dtype() != f64 || result.dim() > 4 || result.numel() > 300) return;
    const Tensor bounded = tanh(result);
    values_.push_back({bounded, {static_cast<std::vector<std::int64_t>>(result.shape()), bounded.to_vector<double>()}});
  }

  const std::uint8_t *data_, *end_;
  std::vector<Value> values_;
  int steps_ = 0;
};

}  // namespace

void run_program(const std::uint8_t* data, std::size_t size) { Program(data, size).run(); }

}  // namespace tern::fuzz
