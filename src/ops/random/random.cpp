// Random numbers as formulas: Philox (formula/philox.hpp) over the element's position, so that every device gives the
// same bits.
#include <array>
#include <cmath>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "autodiff/draws.hpp"
#include "ops/random/random.hpp"
#include "primitives/fused/operation.hpp"
#include "process/fork.hpp"
#include "tern/views.hpp"

namespace tern {

using namespace detail;

namespace {

/// A constant also inside a capturing lambda, whose other numbers are parameters.
Expr constant(Number number) { return make_constant(number); }
Expr word(std::int64_t bits) { return cast(constant(bits), DType::u32); }

/// The words of counter (block, 0, 0) under the key's halves.
std::array<Expr, 4> philox_words(Expr block, Expr block_low, Expr block_high, Expr key_low, Expr key_high) {
  const Expr c0 = block + block_low, c1 = block_high + where(c0 < block_low, word(1), word(0));
  return philox({c0, c1, word(0), word(0)}, key_low, key_high);
}
/// The word of a position, number position % 4 of its block.
Expr word_of(Expr position, const std::array<Expr, 4>& c) {
  const Expr lane = position & constant(3);
  return where(lane == constant(0), c[0], where(lane == constant(1), c[1], where(lane == constant(2), c[2], c[3])));
}

/// The words of a block of a call, with the generator's state as parameters 1 to 4.
std::array<Expr, 4> random_words(Expr block) {
  const auto parameter = [](int i) { return cast(make_input(i), DType::u32); };
  return philox_words(block, parameter(1), parameter(2), parameter(3), parameter(4));
}
/// How the numbers of a call are laid out while they are drawn, which changes none of them. In rows: of `lanes` numbers
/// that fill 16 bytes, which one invocation of a GPU's kernel computes, so that what does not depend on the lane, the
/// rounds above all, is computed once for all of them. On a CPU rows would be short lines. There numbers of 32 bits
/// that take a word each are four results of a block's position, one for each of its words; others are one line, and
/// each number takes its own rounds.
struct DrawLayout {
  int lanes = 1;         // 1: one line
  bool results = false;  // the four of a block are results of their own
  bool in_rows() const { return lanes > 1 && !results; }
};
Expr coordinate(int axis) { return cast(index(make_input(0), axis), DType::u32); }
/// The words of a row, as many for each number as said.
std::vector<Expr> words_of_row(DrawLayout layout, int each) {
  std::vector<Expr> words;
  const int blocks = layout.lanes * each / 4;
  for (int b = 0; b < blocks; ++b)
    for (const Expr& w : random_words(coordinate(0) * constant(blocks) + constant(b))) words.push_back(w);
  return words;
}
/// Of values for each lane of a row, the one of this lane.
Expr of_lane(const std::vector<Expr>& values) {
  const Expr lane = coordinate(1);
  Expr result = values.back();
  for (std::size_t i = values.size() - 1; i-- > 0;)
    result = where(lane == constant(static_cast<int>(i)), values[i], result);
  return result;
}
/// The word of an element that takes one.
Expr random_word(DrawLayout layout) {
  if (layout.in_rows()) return of_lane(words_of_row(layout, 1));
  return word_of(coordinate(0), random_words(coordinate(0) >> constant(2)));
}
/// The words of an element that takes two, at 2i and 2i + 1: of one block, so ten rounds give both.
std::array<Expr, 2> random_pair(DrawLayout layout) {
  if (layout.in_rows()) {
    std::vector<Expr> first, second;
    const std::vector<Expr> words = words_of_row(layout, 2);
    for (std::size_t i = 0; i < words.size(); i += 2) first.push_back(words[i]), second.push_back(words[i + 1]);
    return {of_lane(first), of_lane(second)};
  }
  const Expr at = coordinate(0) * constant(2);
  const std::array<Expr, 4> c = random_words(at >> constant(2));
  const Expr first = (at & constant(2)) == constant(0);
  return {where(first, c[0], c[2]), where(first, c[1], c[3])};
}
/// The graph of the values of an element, or of a block's, cast to the dtype that is asked for, which is input 0's.
template <std::size_t N> const FormulaGraph* draw_graph(std::array<Expr, N> values, int inputs) {
  for (Expr& value : values) value = make_elementary(Elementary::cast, {value, make_input(0)}, kCastLike);
  return make_graph(values, inputs);
}
const FormulaGraph* draw_graph(const Expr& value, int inputs) { return draw_graph(std::array{value}, inputs); }
/// The graph of a value of each of a block's words, or of the word of an element.
template <class F> const FormulaGraph* draw_by_word(DrawLayout layout, int inputs, F value_of) {
  if (!layout.results) return draw_graph(value_of(random_word(layout)), inputs);
  const auto [a, b, c, d] = random_words(coordinate(0));
  return draw_graph(std::array{value_of(a), value_of(b), value_of(c), value_of(d)}, inputs);
}
/// Uniform in [0, 1) by a word's upper bits, 24 at most: exact in f32.
Expr unit(Expr bits, int count = 24) {
  return cast(cast(bits >> constant(32 - count), DType::i32), DType::f32) * constant(std::ldexp(1.0, -count));
}
/// Uniform in [0, 1) with 53 bits, exact in f64.
Expr wide_unit(Expr high, Expr low) {
  const Expr upper = cast(high >> constant(5), DType::f64), lower = cast(low >> constant(6), DType::f64);
  return (upper * constant(0x1p26) + lower) * constant(0x1p-53);
}
/// The 16 bits of an element that takes half a word, in the upper half of a word: the upper ones of even elements, the
/// lower ones of odd ones.
Expr random_half(DrawLayout layout) {
  if (layout.in_rows()) {
    std::vector<Expr> halves;
    for (const Expr& w : random_words(coordinate(0))) halves.push_back(w), halves.push_back(w << constant(16));
    return of_lane(halves);
  }
  const Expr at = coordinate(0), w = word_of(at >> constant(1), random_words(at >> constant(3)));
  return where((at & constant(1)) == constant(0), w, w << constant(16));
}
/// Uniform with as many bits as the dtype holds: one more would round to 1.
const FormulaGraph* uniform_graph(DType dtype, DrawLayout layout) {
  if (dtype_size(dtype) == 2) return draw_graph(unit(random_half(layout), dtype == DType::f16 ? 11 : 8), 5);
  if (dtype != DType::f64) return draw_by_word(layout, 5, [](const Expr& w) { return unit(w); });
  const auto [high, low] = random_pair(layout);
  return draw_graph(wide_unit(high, low), 5);
}

/// Graphs by what decides them, each made once.
using MakeDraw = const FormulaGraph* (*)(DType, DrawLayout);
const FormulaGraph* graph_of_draw(MakeDraw make, DType dtype, DrawLayout layout) {
  static auto& lock = *new ForkSafe<std::mutex>;
  static auto& made = *new std::map<std::tuple<MakeDraw, DType, int, bool>, const FormulaGraph*>;
  const std::lock_guard hold(lock);
  const FormulaGraph*& graph = made[{make, dtype, layout.lanes, layout.results}];
  if (!graph) graph = make(dtype, layout);
  return graph;
}

/// Of fewer numbers a block's four results are more work than their own rounds.
constexpr std::int64_t kFewestInResults = 64;

/// `halves`: how many halves of words an element takes, of the eight of a block.
Tensor draw(const char* op, MakeDraw make, const Shape& shape, Generator& own, std::uint64_t halves, DType dtype,
            Device device, std::span<const Number> extra = {}) {
  const std::int64_t count = shape.numel();
  if (count >= std::int64_t{1} << 30)
    throw Error(ErrorKind::shape, std::string(op) + ": at most 2^30 numbers a call, got shape " + to_string(shape));
  const int in_vector = 16 / static_cast<int>(dtype_size(dtype));
  Backend& backend = backend_of(device);
  const bool in_rows = !backend.in_host_memory() && in_vector <= 8 && count >= in_vector &&
                       static_cast<std::uint64_t>(in_vector) * halves % 8 == 0;
  const bool results = backend.in_host_memory() && in_vector == 4 && halves == 2 && count >= kFewestInResults;
  const DrawLayout layout{in_rows || results ? in_vector : 1, results};
  const std::int64_t rows = (count + layout.lanes - 1) / layout.lanes;
  const Shape all = layout.lanes > 1 ? Shape{rows, layout.lanes} : Shape{count}, space = results ? Shape{rows} : all;
  require_fused(op, backend);
  Tensor drawn = make_tensor(all, dtype, backend);
  PoolVector<Tensor> outputs;
  if (results)
    for (const Tensor& of_word : unstack(drawn, 1)) outputs.push_back(of_word);
  else outputs.push_back(drawn);
  const DrawState from = next_draw(own, (static_cast<std::uint64_t>(count) * halves + 7) / 8);
  // What has the dtype and the axes: not a column of the results, which would be copied before they are written.
  const Tensor like = results ? make_tensor({}, dtype, backend).broadcast_to(space) : outputs[0];
  PoolVector<Argument> arguments{Argument(like)};
  for (std::size_t i = 0; i < DrawState::kWords; ++i) arguments.push_back(from.word(i));
  for (const Number& n : extra) arguments.push_back(Argument(n));
  run_fused({op, graph_of_draw(make, dtype, layout), 0, space}, arguments, outputs);
  if (rows * layout.lanes != count) drawn = drawn.reshape({-1}).slice(0, 0, count);
  return drawn.reshape(shape);
}

}  // namespace

namespace detail {

namespace {
Expr box_muller(Expr u, Expr v) { return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v); }
}  // namespace

std::array<Expr, 2> normal_pair(Expr a, Expr b) {
  // Two exact halves and one rounding: by the word as a float, devices would differ where it is rounded.
  const Expr lower = cast(cast(a & constant(255), DType::i32), DType::f32) * constant(0x1p-32) + constant(0x1p-33);
  const Expr radius = sqrt(-2.0 * log(unit(a) + lower));
  const Expr step = cast(b << constant(2), DType::i32) >> constant(8);  // from -2^23 to 2^23 - 1
  const Expr turn = (cast(step, DType::f32) + constant(0.5)) * constant(0x1p-24), square = turn * turn;
  const auto polynomial = [&](std::initializer_list<double> coefficients) {
    Expr value = constant(*coefficients.begin());
    for (const double* c = coefficients.begin() + 1; c < coefficients.end(); ++c) value = value * square + constant(*c);
    return value;
  };
  // Of π/2·t, interpolated at Chebyshev's points of t² up to 1/4: wrong by 2^-24.7 and 2^-26.9 before rounding.
  const Expr sine = turn * polynomial({-0.00460214921, 0.0796802176, -0.645963478, 1.57079632});
  const Expr cosine = polynomial({0.000906739896, -0.0208615283, 0.25366941, -1.23370055, 1});
  const auto is_set = [&](std::int64_t bit) { return (b & word(bit)) != word(0); };
  const Expr along = radius * where(is_set(0x80000000ll), -cosine, cosine), across = radius * sine;
  const Expr swapped = is_set(0x40000000ll);
  return {where(swapped, across, along), where(swapped, along, across)};
}
Expr wide_normal_of(const std::array<Expr, 4>& words) {
  const Expr lower = cast(words[1], DType::f64) * constant(0x1p-64) + constant(0x1p-65);
  return box_muller(cast(words[0], DType::f64) * constant(0x1p-32) + lower, wide_unit(words[2], words[3]));
}
Expr wide_mul_high(const std::array<Expr, 2>& a, const std::array<Expr, 2>& b) {
  // Schoolbook multiplication in words of 32 bits, of which the lower two are kept for their carries alone.
  const auto carry = [](Expr sum, Expr addend) { return where(sum < addend, word(1), word(0)); };
  const Expr middle = a[0] * b[1], second = a[1] * b[0], top = a[1] * b[1];
  const Expr first = mul_high(a[0], b[0]) + middle, both = first + second;
  const Expr carried = carry(first, middle) + carry(both, second);
  const Expr left = mul_high(a[0], b[1]), right = mul_high(a[1], b[0]);
  const Expr sides = left + right, lower = sides + top, low = lower + carried;
  const Expr high = mul_high(a[1], b[1]) + carry(sides, left) + carry(lower, top) + carry(low, carried);
  return bit_or(cast(high, DType::i64) << constant(32), cast(low, DType::i64));
}
}  // namespace detail

Expr random_uniform(Expr position, Expr seed, Expr stream) {
  const Expr p = cast(position, DType::u32);
  const Expr low = cast(seed, DType::u32), high = cast(stream, DType::u32);
  return unit(word_of(p, philox_words(p >> constant(2), word(0), word(0), low, high)));
}

namespace {
/// a for even lanes, b for odd ones, of words that lie in lanes beside each other.
Expr of_pair(Expr position, Expr a, Expr b) { return where((position & constant(1)) == constant(0), a, b); }

const FormulaGraph* normal_graph(DType dtype, DrawLayout layout) {
  if (dtype == DType::f64) {  // a block for each, also in rows
    const Expr at = layout.in_rows() ? coordinate(0) * constant(layout.lanes) + coordinate(1) : coordinate(0);
    return draw_graph(wide_normal_of(random_words(at)), 5);
  }
  if (layout.in_rows()) {
    std::vector<Expr> numbers;
    const std::vector<Expr> words = words_of_row(layout, 1);
    for (std::size_t i = 0; i < words.size(); i += 2)
      for (const Expr& n : normal_pair(words[i], words[i + 1])) numbers.push_back(n);
    return draw_graph(of_lane(numbers), 5);
  }
  if (layout.results) {
    const std::array<Expr, 4> c = random_words(coordinate(0));
    const auto [a, b] = normal_pair(c[0], c[1]);
    const auto [d, e] = normal_pair(c[2], c[3]);
    return draw_graph(std::array{a, b, d, e}, 5);
  }
  const std::array<Expr, 4> c = random_words(coordinate(0) >> constant(2));
  const Expr first = (coordinate(0) & constant(2)) == constant(0);
  const auto [even, odd] = normal_pair(where(first, c[0], c[2]), where(first, c[1], c[3]));
  return draw_graph(of_pair(coordinate(0), even, odd), 5);
}
}  // namespace

Tensor rand(const Shape& shape, Generator& generator, const Options& options) {
  if (!is_floating(options.dtype))
    throw Error(ErrorKind::dtype, "rand: needs a floating-point dtype, got " + std::string(to_string(options.dtype)));
  const std::uint64_t halves = options.dtype == DType::f64 ? 4 : options.dtype == DType::f32 ? 2 : 1;
  return draw("rand", &uniform_graph, shape, generator, halves, options.dtype, options.device);
}

Tensor randn(const Shape& shape, Generator& generator, const Options& options) {
  if (!is_floating(options.dtype))
    throw Error(ErrorKind::dtype, "randn: needs a floating-point dtype, got " + std::string(to_string(options.dtype)));
  return draw("randn", &normal_graph, shape, generator, options.dtype == DType::f64 ? 8 : 2, options.dtype,
              options.device);
}

namespace {
const FormulaGraph* signed_graph(DType dtype, DrawLayout layout) {
  if (dtype == DType::f64) {
    const auto [high, low] = random_pair(layout);
    const Expr upper = cast(high & constant(0x7fffffff), DType::f64), lower = cast(low, DType::f64);
    const Expr size = upper * constant(0x1p-31) + (lower * constant(0x1p-63) + constant(0x1p-64));
    return draw_graph(where((high >> constant(31)) == constant(0), size, -size), 5);
  }
  return draw_by_word(layout, 5, [](const Expr& bits) {
    const Expr upper = cast(cast((bits >> constant(8)) & constant(0x7fffff), DType::i32), DType::f32);
    const Expr lower = cast(cast(bits & constant(255), DType::i32), DType::f32);
    const Expr size = upper * constant(0x1p-23) + (lower * constant(0x1p-31) + constant(0x1p-32));
    return where((bits >> constant(31)) == constant(0), size, -size);
  });
}
}  // namespace

Tensor detail::draw_signed(const char* op, const Shape& shape, Generator& generator, DType dtype, Device device) {
  return draw(op, &signed_graph, shape, generator, dtype == DType::f64 ? 4 : 2, dtype, device);
}

namespace {
Expr word_parameter(int input) { return cast(make_input(input), DType::u32); }
Number word_number(std::uint64_t bits) { return static_cast<std::uint32_t>(bits); }

/// low + floor(word · range / 2^32), modulo 2^32. Inputs: range and low as words.
const FormulaGraph* narrow_integers(DType, DrawLayout layout) {
  return draw_by_word(
      layout, 7, [](const Expr& w) { return cast(mul_high(w, word_parameter(5)) + word_parameter(6), DType::i32); });
}
/// The same where the range is 2^32.
const FormulaGraph* whole_words(DType, DrawLayout layout) {
  return draw_by_word(layout, 7, [](const Expr& w) { return cast(w + word_parameter(6), DType::i32); });
}
/// In 64 bits. Inputs: the range's lower and upper half, and low.
const FormulaGraph* wide_integers(DType, DrawLayout layout) {
  const Expr number = wide_mul_high(random_pair(layout), {word_parameter(5), word_parameter(6)});
  return draw_graph(number + cast(make_input(7), DType::i64), 8);
}
}  // namespace

Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, Generator& generator, const Options& options) {
  const DType dtype = options.dtype;
  const std::string bounds = "[" + std::to_string(low) + ", " + std::to_string(high) + ")";
  if (!is_integer(dtype))
    throw Error(ErrorKind::dtype, "randint: needs an integer dtype, got " + std::string(to_string(dtype)));
  if (low >= high) throw Error(ErrorKind::shape, "randint: needs low < high, got " + bounds);
  if (!fits(low, dtype) || !fits(high - 1, dtype))
    throw Error(ErrorKind::dtype, "randint: " + bounds + " has integers that are not values of " +
                                      std::string(to_string(dtype)) + "; ask for a wider dtype");
  const std::uint64_t range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  const bool in_words = dtype != DType::i64 || (fits(low, DType::i32) && fits(high - 1, DType::i32));
  // Multiply-shift: the bias is below range / 2^32, or range / 2^64.
  if (in_words) {
    const Number extra[] = {word_number(range), word_number(static_cast<std::uint64_t>(low))};
    const MakeDraw make = range >> 32 ? &whole_words : &narrow_integers;
    return draw("randint", make, shape, generator, 2, dtype, options.device, extra);
  }
  const Number extra[] = {word_number(range), word_number(range >> 32), low};
  return draw("randint", &wide_integers, shape, generator, 4, dtype, options.device, extra);
}

}  // namespace tern
