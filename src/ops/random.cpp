// Random numbers as formulas: Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011) over
// the element's position, so that every device gives the same bits.
#include <array>
#include <string>

#include "autodiff/draws.hpp"
#include "ops/fused.hpp"

namespace tern {

using namespace detail;

namespace {

/// A constant also inside a capturing lambda, whose other numbers are parameters.
Expr constant(Number number) { return make_constant(number); }
Expr word(std::int64_t bits) { return cast(constant(bits), DType::u32); }

/// Ten rounds on counter (block + position / 4, 0, 0) with the key's halves: four words.
std::array<Expr, 4> philox_words(Expr position, Expr block_low, Expr block_high, Expr key_low, Expr key_high) {
  Expr c0 = (position >> constant(2)) + block_low, c1 = block_high + where(c0 < block_low, word(1), word(0));
  Expr c2 = word(0), c3 = c2, k0 = key_low, k1 = key_high;
  const Expr m0 = word(0xD2511F53ll), m1 = word(0xCD9E8D57ll);
  for (int round = 0; round < 10; ++round) {
    const Expr high0 = mul_high(c0, m0), low0 = c0 * m0, high1 = mul_high(c2, m1), low1 = c2 * m1;
    c0 = high1 ^ c1 ^ k0, c1 = low1, c2 = high0 ^ c3 ^ k1, c3 = low0;
    k0 = k0 + word(0x9E3779B9ll), k1 = k1 + word(0xBB67AE85ll);
  }
  return {c0, c1, c2, c3};
}
/// The word of a position, number position % 4 of its block.
Expr word_of(Expr position, const std::array<Expr, 4>& c) {
  const Expr lane = position & constant(3);
  return where(lane == constant(0), c[0], where(lane == constant(1), c[1], where(lane == constant(2), c[2], c[3])));
}

/// The words of a position's block, with the generator's state as parameters 1 to 4.
std::array<Expr, 4> random_words(Expr position) {
  const auto parameter = [](int i) { return cast(make_input(i), DType::u32); };
  return philox_words(position, parameter(1), parameter(2), parameter(3), parameter(4));
}
Expr random_word(Expr position) { return word_of(position, random_words(position)); }
/// Where the element is.
Expr place() { return cast(index(make_input(0), 0), DType::u32); }
/// The graph of a value of each element, cast to the dtype that is asked for, which is that of input 0.
const Graph* draw_graph(Expr value, int inputs) {
  const Expr result = make_leaf(Leaf::cast, {value, make_input(0)}, kCastLike);
  return make_graph({&result, 1}, inputs);
}
/// Uniform in [0, 1) with 24 bits: exact in f32.
Expr unit(Expr bits) { return cast(cast(bits >> constant(8), DType::i32), DType::f32) * constant(0x1p-24); }

/// `words`: how many an element takes.
Tensor draw(const char* op, const Graph* graph, const Shape& shape, Generator& own, std::uint64_t words, DType dtype,
            Device device, std::span<const Number> extra = {}) {
  const std::int64_t count = shape.numel();
  if (count >= std::int64_t{1} << 30)
    throw Error(ErrorKind::shape, std::string(op) + ": at most 2^30 numbers a call, got shape " + to_string(shape));
  Tensor result = make_tensor({count}, dtype, backend_of(device));
  const DrawState from = next_draw(own, (static_cast<std::uint64_t>(count) * words + 3) / 4);
  PoolVector<Argument> arguments{Argument(result)};
  for (std::size_t i = 0; i < DrawState::kWords; ++i) arguments.push_back(from.word(i));
  for (const Number& n : extra) arguments.push_back(Argument(n));
  run_fused({op, graph, 0, Shape{count}}, arguments, {&result, 1});
  return result.reshape(shape);
}

}  // namespace

Expr random_uniform(Expr position, Expr seed, Expr stream) {
  const Expr p = cast(position, DType::u32);
  return unit(word_of(p, philox_words(p, word(0), word(0), cast(seed, DType::u32), cast(stream, DType::u32))));
}

Tensor rand(const Shape& shape, Generator& generator, const Options& options) {
  if (!is_floating(options.dtype))
    throw Error(ErrorKind::dtype, "rand: needs a floating-point dtype, got " + std::string(to_string(options.dtype)));
  static const Graph* const graph = draw_graph(unit(random_word(place())), 5);
  return draw("rand", graph, shape, generator, 1, options.dtype, options.device);
}

Tensor randn(const Shape& shape, Generator& generator, const Options& options) {
  if (!is_floating(options.dtype))
    throw Error(ErrorKind::dtype, "randn: needs a floating-point dtype, got " + std::string(to_string(options.dtype)));
  static const Graph* const graph = [] {  // Box-Muller: (0, 1] under the logarithm
    // Words 2i and 2i + 1, which are of one block: ten rounds for both.
    const Expr at = place() * constant(2);
    const std::array<Expr, 4> c = random_words(at);
    const Expr first = (at & constant(2)) == constant(0);
    const Expr u = unit(where(first, c[0], c[2])) + 0x1p-24, v = unit(where(first, c[1], c[3]));
    return draw_graph(sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v), 5);
  }();
  return draw("randn", graph, shape, generator, 2, options.dtype, options.device);
}

Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, Generator& generator, const Options& options) {
  if (!is_integer(options.dtype))
    throw Error(ErrorKind::dtype, "randint: needs an integer dtype, got " + std::string(to_string(options.dtype)));
  if (low >= high || high - low > std::int64_t{1} << 31 || low < INT32_MIN || high > std::int64_t{INT32_MAX} + 1)
    throw Error(ErrorKind::shape, "randint: needs low < high within 32 bits, got [" + std::to_string(low) + ", " +
                                      std::to_string(high) + ")");
  // Multiply-shift: the bias is below range / 2^32.
  static const Graph* const graph =
      draw_graph(cast(mul_high(random_word(place()), cast(make_input(5), DType::u32)), DType::i32) + make_input(6), 7);
  const Number extra[] = {high - low, low};
  return draw("randint", graph, shape, generator, 1, options.dtype, options.device, extra);
}

}  // namespace tern
