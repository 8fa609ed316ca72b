// Random numbers as formulas: Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011) over
// the element's position, so that every device gives the same bits.
#include <string>

#include "autodiff/draws.hpp"
#include "ops/fused.hpp"

namespace tern {

using namespace detail;

namespace {

/// A constant also inside a capturing lambda, whose other numbers are parameters.
Expr constant(Number number) { return make_constant(number); }
Expr word(std::int64_t bits) { return cast(constant(bits), DType::u32); }

/// Ten rounds on counter (block, 0, 0, 0) with the key's halves; one of the four words, chosen by position % 4.
Expr philox_word(Expr position, Expr block_low, Expr block_high, Expr key_low, Expr key_high) {
  const Expr p = cast(position, DType::u32);
  Expr c0 = (p >> constant(2)) + block_low, c1 = block_high + where(c0 < block_low, word(1), word(0));
  Expr c2 = word(0), c3 = c2, k0 = key_low, k1 = key_high;
  const Expr m0 = word(0xD2511F53ll), m1 = word(0xCD9E8D57ll);
  for (int round = 0; round < 10; ++round) {
    const Expr high0 = mul_high(c0, m0), low0 = c0 * m0, high1 = mul_high(c2, m1), low1 = c2 * m1;
    c0 = high1 ^ c1 ^ k0, c1 = low1, c2 = high0 ^ c3 ^ k1, c3 = low0;
    k0 = k0 + word(0x9E3779B9ll), k1 = k1 + word(0xBB67AE85ll);
  }
  const Expr lane = p & constant(3);
  return where(lane == constant(0), c0, where(lane == constant(1), c1, where(lane == constant(2), c2, c3)));
}

/// The word at a position, with the generator's state as parameters 1 to 4.
Expr random_word(Expr position) {
  const auto parameter = [](int i) { return cast(make_input(i), DType::u32); };
  return philox_word(position, parameter(1), parameter(2), parameter(3), parameter(4));
}
/// Uniform in [0, 1) with 24 bits: exact in f32.
Expr unit(Expr bits) { return cast(cast(bits >> constant(8), DType::i32), DType::f32) * constant(0x1p-24); }

Tensor draw(const char* op, const Graph* graph, const Shape& shape, Generator& own, DType dtype, Device device,
            std::span<const Number> extra = {}) {
  const std::int64_t count = shape.numel();
  if (count >= std::int64_t{1} << 30)
    throw Error(ErrorKind::shape, std::string(op) + ": at most 2^30 numbers a call, got shape " + to_string(shape));
  Tensor result = make_tensor({count}, dtype, backend_of(device));
  const auto half = [](std::uint64_t v, int shift) {
    return Number(static_cast<std::int64_t>(v >> shift & 0xffffffffu));
  };
  const Generator generator =
      next_draw(own, static_cast<std::uint64_t>(count) / 2 + 4);  // randn draws two words an element
  PoolVector<Argument> arguments{Argument(result), Argument(half(generator.position, 0)),
                                 Argument(half(generator.position, 32)), Argument(half(generator.seed, 0)),
                                 Argument(half(generator.seed, 32))};
  for (const Number& n : extra) arguments.push_back(Argument(n));
  run_fused({op, graph, 0, Shape{count}}, arguments, {&result, 1});
  return result.reshape(shape);
}

}  // namespace

Expr random_uniform(Expr position, Expr seed, Expr stream) {
  return unit(philox_word(position, word(0), word(0), cast(seed, DType::u32), cast(stream, DType::u32)));
}

Tensor rand(const Shape& shape, Generator& generator, const Options& options) {
  if (!is_floating(options.dtype))
    throw Error(ErrorKind::dtype, "rand: needs a floating-point dtype, got " + std::string(to_string(options.dtype)));
  static const Graph* const graph = [] {
    const Expr x = make_input(0), value = unit(random_word(index(x, 0)));
    return make_graph({&value, 1}, 5);
  }();
  return draw("rand", graph, shape, generator, DType::f32, options.device).to(options.dtype);
}

Tensor randn(const Shape& shape, Generator& generator, const Options& options) {
  if (!is_floating(options.dtype))
    throw Error(ErrorKind::dtype, "randn: needs a floating-point dtype, got " + std::string(to_string(options.dtype)));
  static const Graph* const graph = [] {  // Box-Muller: (0, 1] under the logarithm
    const Expr x = make_input(0), at = index(x, 0) * 2;
    const Expr u = unit(random_word(at)) + 0x1p-24, v = unit(random_word(at + 1));
    const Expr value = sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
    return make_graph({&value, 1}, 5);
  }();
  return draw("randn", graph, shape, generator, DType::f32, options.device).to(options.dtype);
}

Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, Generator& generator, const Options& options) {
  if (!is_integer(options.dtype))
    throw Error(ErrorKind::dtype, "randint: needs an integer dtype, got " + std::string(to_string(options.dtype)));
  if (low >= high || high - low > std::int64_t{1} << 31 || low < INT32_MIN || high > std::int64_t{INT32_MAX} + 1)
    throw Error(ErrorKind::shape, "randint: needs low < high within 32 bits, got [" + std::to_string(low) + ", " +
                                      std::to_string(high) + ")");
  static const Graph* const graph = [] {  // multiply-shift: the bias is below range / 2^32
    const Expr x = make_input(0);
    const Expr value =
        cast(mul_high(random_word(index(x, 0)), cast(make_input(5), DType::u32)), DType::i32) + make_input(6);
    return make_graph({&value, 1}, 7);
  }();
  const Number extra[] = {high - low, low};
  return draw("randint", graph, shape, generator, DType::i32, options.device, extra).to(options.dtype);
}

}  // namespace tern
