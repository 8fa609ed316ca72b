// Random programs over three arguments: making them, comparing their derivatives, and shrinking those that fail.
#pragma once
#include <cstdlib>
#include <span>

#include "every_device/gradients/derivatives.hpp"

namespace tern::test {

/// An expression over three arguments; the root is the last node.
struct Step {
  int op = 0, a = 0, b = 0;
};
struct Composition {
  std::vector<Step> steps;
};
constexpr int kInputs = 3;

/// What a program computes, its operations called by these names.
inline std::string text(const Composition& p, std::span<const char* const> names) {
  std::vector<std::string> values{"x", "y", "z"};
  for (const Step& s : p.steps)
    values.push_back(std::string(names[static_cast<std::size_t>(s.op)]) + "(" + values[static_cast<std::size_t>(s.a)] +
                     ", " + values[static_cast<std::size_t>(s.b)] + ")");
  return values.back();
}
/// Of up to `most` steps that take one of so many operations each.
inline Composition random_composition(Random& random, int operations, int most) {
  Composition p;
  const int count = 1 + static_cast<int>(random.next(0, most));
  for (int i = 0; i < count; ++i) {
    const auto pick = [&] { return static_cast<int>(random.next(0, kInputs + i)); };
    p.steps.push_back({static_cast<int>(random.next(0, operations)), i ? kInputs + i - 1 : pick(), pick()});
  }
  return p;
}

using List = std::vector<Var>;
inline std::vector<double> numbers(const std::vector<Tensor>& list) {
  std::vector<double> all;
  for (const Tensor& t : list)
    for (const double d : doubles(t)) all.push_back(d);
  return all;
}
inline double largest(const std::vector<double>& list) {
  double top = 0;
  for (const double d : list) top = std::max(top, std::abs(d));
  return top;
}

/// Arguments, a direction for them and weights of the results; those of every dtype are values of f32.
struct Place {
  std::vector<Tensor> x, v;
  Tensor weights;
  Place(DType dtype, Device device, const std::vector<Shape>& shapes, const Shape& result) {
    Random random(5);
    const auto list = [&] {
      std::vector<Tensor> all;
      for (const Shape& shape : shapes) all.push_back(random.tensor(shape, f32, device).to(dtype));
      return all;
    };
    x = list(), v = list(), weights = random.tensor(result, f32, device, 0.3, 1).to(dtype);
  }
};
/// Its gradient, and its Hessian's product with the direction in forward or reverse mode.
struct Derivatives {
  std::vector<double> first, second;
  template <class F> Derivatives(const F& f, const Place& place, bool forward) : first(numbers(grad(f)(place.x))) {
    const auto gradient = [&](const List& at) { return grad(f)(at); };
    second = numbers(forward ? jvp(gradient, place.x, place.v).result : hvp(f, place.x, place.v));
  }
};
/// What is wrong with derivatives that should be the same; nothing where they agree.
inline std::string difference_of(const char* which, const Derivatives& got, const Derivatives& want, double eps) {
  const auto compare = [&](const char* what, const std::vector<double>& a, const std::vector<double>& b, double scale) {
    // Up to 7 steps of up to 3 operations each way; sums of 6 terms.
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!(std::abs(a[i] - b[i]) <= 512 * eps * (1 + scale)))
        return std::string(what) + ": " + which + " gives " + std::to_string(a[i]) + " instead of " +
               std::to_string(b[i]);
    return std::string();
  };
  const std::string first = compare("gradient", got.first, want.first, largest(want.first));
  return first.empty()
             ? compare("second derivative", got.second, want.second, largest(want.second) + largest(want.first))
             : first;
}

/// The program with steps left out, as long as it still fails.
template <class Fault> Composition shrunk(Composition p, const Fault& fault) {
  for (std::size_t i = p.steps.size(); i-- > 0 && p.steps.size() > 1;) {
    Composition smaller = p;
    smaller.steps.erase(smaller.steps.begin() + static_cast<std::ptrdiff_t>(i));
    const int removed = kInputs + static_cast<int>(i);
    for (Step& s : smaller.steps)
      for (int* operand : {&s.a, &s.b})
        if (*operand == removed) *operand = p.steps[i].a;
        else if (*operand > removed) --*operand;
    if (!fault(smaller).empty()) p = smaller;
  }
  return p;
}
/// What is wrong with a program's directional derivative, by central differences; nothing where they agree.
template <class F> std::string difference_from_differences(const F& f, const Place& place, const Derivatives& got) {
  const Difference numeric = difference([&](double step) {
    List moved;
    for (std::size_t i = 0; i < place.x.size(); ++i) moved.emplace_back(place.x[i] + step * place.v[i], false);
    return f(moved).template item<double>();
  });
  double directional = 0;
  const std::vector<double> direction = numbers(place.v);
  for (std::size_t i = 0; i < direction.size(); ++i) directional += got.first[i] * direction[i];
  if (std::abs(directional - numeric.value) <= numeric.error + 64 * 0x1p-52 * largest(got.first)) return {};
  return "gradient along a direction: " + std::to_string(directional) + ", differences give " +
         std::to_string(numeric.value);
}
/// Tries this many programs (TERN_TEST_COMPOSITIONS: another number); shows the first that fails.
template <class Fault>
void try_programs(int count, std::uint64_t seed, std::span<const char* const> names, int most, const Fault& fault) {
  const char* asked = std::getenv("TERN_TEST_COMPOSITIONS");
  Random random(seed);
  for (int i = 0, n = asked ? std::atoi(asked) : count; i < n; ++i) {
    const Composition p = random_composition(random, static_cast<int>(names.size()), most);
    if (fault(p).empty()) continue;
    const Composition small = shrunk(p, fault);
    FAIL() << "program " << i << ", shrunk: " << text(small, names) << "\n" << fault(small);
  }
}

}  // namespace tern::test
