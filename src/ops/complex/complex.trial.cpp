// Entries of complex numbers (complex.cpp). Operands of samples are real: numbers are made of them and taken apart.
#include <cmath>

#include "ops/operands.trial.hpp"

namespace tern::operations {
namespace {

using enum ErrorKind;

std::vector<Shape> pairs_of_parts(Sizes s) { return {{s.rows, s.columns, 2}}; }
/// f(x, y) of each pair of elements.
template <class F> auto each(F f) {
  return [f](const auto& x) {
    Values y{x[0].shape, {}};
    for (std::size_t i = 0; i < x[0].of.size(); ++i) y.of.push_back(f(x[0].of[i], x[1].of[i]));
    return std::vector{y};
  };
}
/// The two numbers f(x, y) of each pair of elements, along a last axis.
template <class F> auto each_two(F f) {
  return [f](const auto& x) {
    Values y{x[0].shape, {}};
    y.shape.push_back(2);
    for (std::size_t i = 0; i < x[0].of.size(); ++i)
      for (const double part : f(x[0].of[i], x[1].of[i])) y.of.push_back(part);
    return std::vector{y};
  };
}
using ComplexParts = std::array<double, 2>;
constexpr Tolerance kPartsMoved{0, "the parts are moved"};

const Entries complex_numbers{
    {.name = "real",
     .family = Family::complex,
     .arguments = "z",
     .says = "The real parts: a view; of real numbers themselves",
     .tolerance = kPartsMoved,
     .samples = {{.shapes = two_alike,
                  .call = [](const auto& x, const auto& y) { return real(make_complex(x, y)); },
                  .reference = each([](double x, double) { return x; })}},
     .bad = {undefined("real", [](const auto& x) { real(x); })}},
    {.name = "imag",
     .family = Family::complex,
     .arguments = "z",
     .says = "The imaginary parts: a view; of real numbers zeros",
     .tolerance = kPartsMoved,
     .samples = {{.shapes = two_alike,
                  .call = [](const auto& x, const auto& y) { return imag(make_complex(x, y)); },
                  .reference = each([](double, double y) { return y; })}},
     .bad = {undefined("imag", [](const auto& x) { imag(x); })}},
    {.name = "make_complex",
     .family = Family::complex,
     .arguments = "re, im",
     .says = "The complex numbers re + i·im of two real tensors, which broadcast",
     .tolerance = kPartsMoved,
     .samples = {{.shapes = two_alike,
                  .call = [](const auto& x, const auto& y) { return view_as_real(make_complex(x, y)); },
                  .reference = each_two([](double x, double y) {
                    return ComplexParts{x, y};
                  })}},
     .bad = {{shape, {"make_complex", "[2]", "[3]"}, [](auto make) { make_complex(make({2}), make({3})); }}}},
    {.name = "conj",
     .family = Family::complex,
     .arguments = "z",
     .says = "re - i·im of each re + i·im; of real numbers themselves",
     .tolerance = kPartsMoved,
     .samples = {{.shapes = two_alike,
                  .call = [](const auto& x, const auto& y) { return view_as_real(conj(make_complex(x, y))); },
                  .reference = each_two([](double x, double y) {
                    return ComplexParts{x, -y};
                  })}},
     .bad = {undefined("conj", [](const auto& x) { conj(x); })}},
    {.name = "angle",
     .family = Family::complex,
     .arguments = "z",
     .says = "The angle of each number in the plane, in [-π, π]",
     .tolerance = {2, "one angle"},
     .samples = {{.shapes = two_alike,
                  .call = [](const auto& x, const auto& y) { return angle(make_complex(x, y)); },
                  .reference = each([](double x, double y) { return std::atan2(y, x); })}},
     .bad = {undefined("angle", [](const auto& x) { angle(x); })}},
    {.name = "polar",
     .family = Family::complex,
     .arguments = "r, angle",
     .says = "The numbers with these absolute values and angles: r·cos(angle) + i·r·sin(angle)",
     .tolerance = {3, "a cosine and a product"},
     .samples = {{.shapes = two_alike,
                  .call = [](const auto& r, const auto& t) { return view_as_real(polar(r, t)); },
                  .reference = each_two([](double r, double t) {
                    return ComplexParts{r * std::cos(t), r * std::sin(t)};
                  })}},
     .bad = {{shape, {"polar", "[2]", "[3]"}, [](auto make) { polar(make({2}), make({3})); }}}},
    {.name = "view_as_real",
     .family = Family::complex,
     .arguments = "z",
     .says = "The parts of each number along a new last axis of size 2: a view",
     .tolerance = {2, "a product of parts"},
     .samples = {{.shapes = two_alike,
                  .call =
                      [](const auto& x, const auto& y) {
                        const auto z = make_complex(x, y);
                        return view_as_real(z * z);
                      },
                  .reference = each_two([](double x, double y) {
                    return ComplexParts{x * x - y * y, 2 * x * y};
                  })}},
     .bad = {{dtype, {"view_as_real", "f32[2]"}, [](auto make) { view_as_real(make({2}, f32)); }},
             undefined("view_as_real", [](const auto& x) { view_as_real(x); })}},
    {.name = "view_as_complex",
     .family = Family::complex,
     .arguments = "x",
     .says = "f32 or f64 numbers whose last axis, of size 2, holds the parts of complex ones: a view where they lie "
             "beside each other, pair by pair, else a copy",
     .tolerance = kPartsMoved,
     .samples = {{.shapes = pairs_of_parts,
                  .call =
                      [](const auto& x) {
                        const auto wide = dtype_size(x.dtype()) == 2 ? x.to(f32) : x;
                        return view_as_real(view_as_complex(wide));
                      },
                  .reference = [](const auto& x) { return std::vector{x[0]}; }}},
     .bad = {{shape, {"view_as_complex", "size 2", "f32[3]"}, [](auto make) { view_as_complex(make({3}, f32)); }},
             {dtype, {"view_as_complex", "i32[2]"}, [](auto make) { view_as_complex(make({2}, i32)); }}}},
};

}  // namespace
}  // namespace tern::operations
