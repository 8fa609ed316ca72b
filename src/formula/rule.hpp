// What the file of an elementary function declares: its argument types, accuracy budget, edge values and derivative.
#pragma once
#include <array>
#include <limits>

#include "formula/elementary.hpp"
#include "tern/formula.hpp"

namespace tern::detail {

/// Which element types an elementary function takes.
enum class Takes : std::uint8_t {
  any,       // booleans, integers, floats
  numeric,   // integers and floats
  floating,  // floats only: an integer tensor is an error of kind dtype
  integral,  // integers only
  bits,      // integers and booleans
};
/// What type it returns.
enum class Gives : std::uint8_t {
  same,     // the type of its arguments
  predicate,    // boolean
  branch,   // the type of the second and third argument (where)
};

/// Reverse rule: g is the gradient of the result y; returns the gradient of each argument (undefined Expr: none).
/// Linear in g, so that the forward mode follows by putting an argument's tangent in g's place.
struct Vjp {
  Expr g, y;
  std::array<Expr, 3> x;
};
using Partials = std::array<Expr, 3>;

/// f(at) = gives exactly (or NaN): values every backend must reproduce.
struct Edge { double at, gives; };
inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Whether results are finite.
enum class Finite : std::uint8_t {
  unknown,
  of_finite,  // where arguments are, unless a result is too large for its type
  always,     // of infinite arguments, too
};

struct Rule {
  const char* name = nullptr;
  int arity = 0;
  bool reduction = false;
  Takes takes = Takes::any;
  Gives gives = Gives::same;
  double ulp_f32 = 0, ulp_f64 = 0;  // largest error in units in the last place; 0: exact (correctly rounded: 0.5)
  double ulp_f64_cuda = 0;  // of CUDA's own function, as NVIDIA documents it, where that is more than ulp_f64
  // Of its function in kernels whose results are all of 16 bits, in ulp of f32, where it has one of its own.
  double ulp_half_cpu = 0, ulp_half_cuda = 0, ulp_half_wgsl = 0;
  std::array<Edge, 8> edges{};      // used as far as `edge_count`
  int edge_count = 0;
  Partials (*vjp)(const Vjp&) = nullptr;  // null: no gradient flows (comparisons, rounding, detach)
  double identity = 0;                    // reductions: of nothing (±inf: the lowest and highest value of any type)
  bool counts = false;                    // its second argument is a count, taken modulo the dtype's width
  bool differentiable = true;             // false with a null vjp: asking for a gradient is an error
  Finite finite = Finite::unknown;
};

/// The rules of all elementary functions, by Elementary.
const Rule& rule_of(Elementary elementary);

}  // namespace tern::detail
