// How fast are Fourier transforms: one long line, many short ones, two axes, a prime length, real lines?
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "peers.hpp"

namespace bench {
namespace {

enum class Way { fft, ifft, rfft, irfft, fft2 };
/// Inputs: the pattern, re beside im; of irfft n/2 + 1 complex numbers a line.
struct TransformsCase {
  tern::DType dtype;  // of the parts
  Way way;
  std::int64_t lines, n;
  std::int64_t given() const { return way == Way::irfft ? n / 2 + 1 : n; }
  std::int64_t wanted() const { return way == Way::rfft ? n / 2 + 1 : n; }
};

struct Number {
  double re = 0, im = 0;
};
/// A result, in f64 by its sum.
class Expected {
 public:
  Expected(const TransformsCase& c, Buffer x) : c_(c), x_(std::move(x)), roots_(static_cast<std::size_t>(c.n)) {
    for (std::int64_t k = 0; k < c.n; ++k) {
      const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(c.n);
      roots_[static_cast<std::size_t>(k)] = {std::cos(angle), std::sin(angle)};
    }
  }
  /// Of fft2 all elements are added up, of others those of the line.
  Number at(std::int64_t line, std::int64_t k) const {
    const bool back = c_.way == Way::ifft || c_.way == Way::irfft, both = c_.way == Way::fft2;
    const auto part = [&](bool imaginary) {
      return parallel_sum(both ? c_.lines * c_.n : c_.n, [&](std::int64_t e) {
        const std::int64_t i = both ? e / c_.n : line, j = both ? e % c_.n : e;
        Number w = root(j * k + (both ? i * line : 0));  // fft2's cases are squares
        if (back) w.im = -w.im;
        const Number x = element(i, j);
        return imaginary ? x.re * w.im + x.im * w.re : x.re * w.re - x.im * w.im;
      });
    };
    const double scale = back ? 1 / static_cast<double>(c_.n) : 1;
    return {scale * part(false), scale * part(true)};
  }

 private:
  Number root(std::int64_t k) const { return roots_[static_cast<std::size_t>(k % c_.n)]; }
  Number element(std::int64_t line, std::int64_t j) const {
    if (c_.way == Way::rfft) return {x_.at(line * c_.n + j), 0};
    const bool mirrored = c_.way == Way::irfft && j > c_.n / 2;
    const std::int64_t at = 2 * (line * c_.given() + (mirrored ? c_.n - j : j));
    const bool own = c_.way == Way::irfft && (j == 0 || 2 * j == c_.n);
    return {x_.at(at), own ? 0 : mirrored ? -x_.at(at + 1) : x_.at(at + 1)};
  }
  TransformsCase c_;
  Buffer x_;
  std::vector<Number> roots_;
};

Prepared prepare(const TransformsCase& c, const Target& target) {
  const bool reals = c.way == Way::rfft, reals_out = c.way == Way::irfft;
  const Inputs in{Buffer::pattern(c.dtype, c.lines * c.given() * (reals ? 1 : 2), 1)};
  const tern::Tensor x = reals ? in[0].tensor({c.lines, c.n}, target.device)
                               : view_as_complex(in[0].tensor({c.lines, c.given(), 2}, target.device));
  const auto call = [=]() -> tern::Tensor {
    switch (c.way) {
      case Way::ifft: return tern::fft::ifft(x);
      case Way::rfft: return tern::fft::rfft(x);
      case Way::irfft: return tern::fft::irfft(x, c.n);
      case Way::fft2: return tern::fft::fft2(x);
      default: return tern::fft::fft(x);
    }
  };
  Contender tern = target.tern([=] { call(); }, [=] { return sample(reals_out ? call() : view_as_real(call())); });
  std::vector<double> expected;
  const Expected right(c, in[0]);
  const std::int64_t parts = reals_out ? 1 : 2;
  for (const std::int64_t at : sample_positions(c.lines * c.wanted() * parts)) {
    const Number y = right.at(at / parts / c.wanted(), at / parts % c.wanted());
    expected.push_back(at % parts == 0 ? y.re : y.im);
  }
  Prepared prepared;
  prepared.contenders.push_back(std::move(tern)), prepared.expected = expected;
  return prepared;
}

}  // namespace

void add_transforms(Workloads& workloads, const Target& target) {
  const std::pair<Way, const char*> names[] = {
      {Way::fft, "fft"}, {Way::ifft, "ifft"}, {Way::rfft, "rfft"}, {Way::irfft, "irfft"}, {Way::fft2, "fft2"}};
  const auto add = [&](tern::DType dtype, Way way, std::int64_t lines, std::int64_t n, bool quick) {
    const TransformsCase c{dtype, way, lines, n};
    workloads.push_back(
        {.name = fmt::format("fft/{}/{}/{}x{}", names[static_cast<std::size_t>(way)].second, name_of(dtype), lines, n),
         .unit = Unit::calls,
         .roof = "",
         .quick = quick,
         .tolerance = 100 * tolerance(dtype),
         .prepare = [c, target] { return prepare(c, target); }});
  };
  for (const tern::DType dtype : {tern::f32, tern::f64}) {
    const bool narrow = dtype == tern::f32;
    if (!narrow && target.device.kind() == tern::DeviceKind::webgpu) continue;
    const std::int64_t long_line = 1 << (target.gpu() ? 22 : 20), many = target.gpu() ? 4096 : 1024;
    for (const Way way : {Way::fft, Way::ifft, Way::rfft, Way::irfft}) {
      add(dtype, way, 1, long_line, narrow && way == Way::fft);
      add(dtype, way, many, 1024, narrow);
    }
    add(dtype, Way::fft2, 1000, 1000, narrow), add(dtype, Way::fft, 1, 1'000'003, narrow);
  }
}

}  // namespace bench
