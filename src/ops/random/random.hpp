// What random numbers are made of Philox's words: u32 expressions, uniform in all 32 bits.
#pragma once
#include <array>

#include "formula/philox.hpp"
#include "tern/tensor.hpp"

namespace tern::detail {

/// Two standard normal numbers in f32 of two words: a radius and an angle (Box and Muller, 1958), whose cosine and
/// sine are polynomials. Under the radius's logarithm stands a number of (0, 1] that is 2^-33 at least, so that
/// values reach 6.7. No function reduces an angle that is made of bits: two bits of the second word choose which of
/// the four quarters around an axis, 24 where in it, in steps of 2^-24 of a quarter, half a step from the axis at
/// least.
std::array<Expr, 2> normal_pair(Expr a, Expr b);
/// ±m, m uniform in (0, 1] with 31 bits (f32) or 63 (f64), 2^-32 or 2^-64 at least: fine near 0, for inverse transforms
/// that are exact in both tails.
Tensor draw_signed(const char* op, const Shape& shape, Generator& generator, DType dtype, Device device);
/// The same in f64 of four words: 2^-65 at least, values reach 9.4.
Expr wide_normal_of(const std::array<Expr, 4>& words);
/// The upper 64 bits, in i64, of the product of two numbers of 64 bits given as {low, high}.
Expr wide_mul_high(const std::array<Expr, 2>& a, const std::array<Expr, 2>& b);

}  // namespace tern::detail
