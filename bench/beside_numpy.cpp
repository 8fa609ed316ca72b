// tern's side of bench/beside_numpy.py.
#include "beside.hpp"
#include "tern/tern.hpp"

namespace {

using namespace tern;
using bench::Calls;

constexpr Pointwise by_conjugate{"by_conjugate", [](auto a, auto b) { return a * conj(b); }};

/// The elements in four axes; there are 2^16 or 2^22.
Tensor block_of(const Tensor& x) {
  return x.reshape(x.numel() == 1 << 16 ? Shape{16, 16, 16, 16} : Shape{32, 32, 64, 64});
}

Calls functions(const Tensor& x, const Tensor& y) {
  const Tensor positive = abs(x) + 0.1, inside = clamp(x * 0.25, -0.99, 0.99);
  return {
      {"log", [=] { log(positive); }},
      {"log2", [=] { log2(positive); }},
      {"log1p", [=] { log1p(positive); }},
      {"expm1", [=] { expm1(x); }},
      {"exp2", [=] { exp2(x); }},
      {"sqrt", [=] { sqrt(positive); }},
      {"cbrt", [=] { cbrt(x); }},
      {"sin", [=] { sin(x); }},
      {"cos", [=] { cos(x); }},
      {"tan", [=] { tan(x); }},
      {"asin", [=] { asin(inside); }},
      {"atan", [=] { atan(x); }},
      {"sinh", [=] { sinh(x); }},
      {"cosh", [=] { cosh(x); }},
      {"tanh", [=] { tanh(x); }},
      {"asinh", [=] { asinh(x); }},
      {"atanh", [=] { atanh(inside); }},
      {"pow", [=] { pow(positive, y); }},
      {"atan2", [=] { atan2(x, y); }},
      {"hypot", [=] { hypot(x, y); }},
      {"logaddexp", [=] { logaddexp(x, y); }},
      {"fmod", [=] { fmod(x, positive); }},
      {"floor", [=] { floor(x); }},
      {"multiply", [=] { x* y; }},
      {"divide", [=] { x / positive; }},
      {"maximum", [=] { maximum(x, y); }},
      {"comparison", [=] { x < y; }},
  };
}
Calls moves(const Tensor& x, const Tensor& matrix, const Tensor& places) {
  const std::int64_t n = x.numel();
  const Tensor block = block_of(x);
  return {
      {"permuted copy",
       [=] {
         block.permute({0, 2, 1, 3}).contiguous();
       }},
      {"transposed copy", [=] { matrix.T().contiguous(); }},
      {"take_along_axis", [=] { take_along_axis(matrix, places, 1); }},
      {"sum over the middle",
       [=] {
         sum(block, {1, 2});
       }},
      {"maximum over rows", [=] { max(matrix, {1}); }},
      {"maximum over columns", [=] { max(matrix, {0}); }},
      {"variance of rows", [=] { var(matrix, {1}); }},
      {"argmax of rows", [=] { argmax(matrix, 1); }},
      {"uniforms",
       [n] {
         static Generator dice{1};
         rand({n}, dice);
       }},
      {"normals",
       [n] {
         static Generator dice{2};
         randn({n}, dice);
       }},
  };
}
/// Of arrays in memory alone: none with --cache.
Calls transforms(const Tensor& x, const Tensor& z) {
  if (z.numel() != 1 << 21) return {};
  const Tensor lines = z.reshape({2048, 1024}), square = z.slice(0, 0, 1'000'000).reshape({1000, 1000}),
               prime = z.slice(0, 0, 1'000'003);
  return {
      {"fft of 2^21", [=] { fft::fft(z); }},
      {"fft of 2048 x 1024", [=] { fft::fft(lines); }},
      {"fft2 of 1000 x 1000", [=] { fft::fft2(square); }},
      {"fft of 1000003", [=] { fft::fft(prime); }},
      {"rfft of 2^22", [=] { fft::rfft(x); }},
      {"irfft of 2^22", [=] { fft::irfft(z, 1 << 22); }},
  };
}
/// What once was far from a plain loop.
Calls cliffs(const io::Named& arrays) {
  const auto of = [&](const char* name) { return arrays.at(name); };
  const Tensor x = of("x"), bytes = of("bytes"), more = of("more"), whole = of("whole"), large = of("large"),
               matrix = of("matrix"), far = x * 1e8;
  const std::int64_t n = x.numel();
  const Tensor fours = x.reshape({n / 4, 4}), column = x.slice(0, 0, n / 4).reshape({n / 4, 1}),
               pair = x.slice(0, 0, 2).reshape({1, 2}), turned = matrix.clone().T();
  const Tensor permuted = block_of(x).permute({3, 1, 0, 2});
  const Var line = parameter(x.slice(0, 0, 64'000).clone());
  return {
      {"sort of u8", [=] { sort(bytes).values; }},
      {"sort of i32", [=] { sort(whole).values; }},
      {"argsort of i32", [=] { argsort(whole); }},
      {"f32 to f16", [=] { x.to(f16); }},
      {"f16 to f32", [half = x.to(f16)] { half.to(f32); }},
      {"f32 to u8", [p = abs(x) * 20] { p.to(u8); }},
      {"add of u8", [=] { bytes + more; }},
      {"multiply of u8", [=] { bytes* more; }},
      {"sum of u8", [=] { sum(bytes); }},
      {"sin at 1e8", [=] { sin(far); }},
      {"square by pow", [=] { pow(x, 2.0); }},
      {"remainder by 0.7", [=] { x % 0.7; }},
      {"transposed += 1", [t = Tensor(turned)]() mutable { t += 1; }},
      {"maximum of rows of 4", [=] { max(fours, {1}); }},
      {"cumulative sum of 4 columns", [=] { cumsum(fours, 0); }},
      {"mean of a permuted view", [=] { mean(permuted); }},
      {"column times row of 2", [=] { matmul(column, pair); }},
      {"top 10 of 2^24", [=] { topk(large, 10); }},
      {"sums by index of rows", [=, to = zeros({1 << 16, 64}), from = x.slice(0, 0, n / 64 * 64).reshape({n / 64, 64}),
                                 at = whole.slice(0, 0, n / 64)] { scatter_add(to, at, from); }},
      {"sums by index", [=, to = zeros({1 << 16})] { scatter_add(to, whole, x); }},
      {"split in 1000, with gradient",
       [=] {
         Var total;
         for (const Var& part : split(line, 1000)) total += sum(square(part));
         backward(total);
       }},
  };
}
Calls calls(const io::Named& arrays) {
  const auto of = [&](const char* name) { return arrays.at(name); };
  const Tensor x = of("x"), y = of("y"), few = of("few"), edges = of("edges"), whole = of("whole"), some = of("some"),
               large = of("large"), re = of("re"), im = of("im"), matrix = of("matrix");
  const Tensor z = make_complex(re, im), w = make_complex(im, re);
  Calls all = {
      {"exp", [=] { exp(x); }},
      {"add", [=] { x + y; }},
      {"complex abs", [=] { abs(z); }},
      {"complex multiply", [=] { z* w; }},
      {"complex conjugate multiply", [=] { by_conjugate(z, w); }},
      {"complex divide", [=] { z / w; }},
      {"complex square", [=] { square(z); }},
      {"complex add", [=] { z + w; }},
      {"complex exp", [=] { exp(z); }},
      {"complex multiply's gradients",
       [z = parameter(z), w = parameter(w)] {
         static const Var product = z * w;
         backward(product, z.value(), {.keep_graph = true});
       }},
      {"sum over rows", [=] { sum(matrix, {1}); }},
      {"sum over columns", [=] { sum(matrix, {0}); }},
      {"cumulative sum", [=] { cumsum(x, 0); }},
      {"logcumsumexp", [=] { logcumsumexp(x, 0); }},
      {"isin", [=] { isin(whole, some); }},
      {"histogram",
       [=] {
         histogram(x, 100, std::pair{-4.0, 4.0});
       }},
      {"searchsorted", [=] { searchsorted(edges, x); }},
      {"searchsorted, sorted values", [=] { searchsorted(edges, edges); }},
      {"quantile of all", [=] { quantile(x, 0.3); }},
      {"median of rows", [=] { median(matrix, {1}); }},
      {"argsort", [=] { argsort(x); }},
      {"sort", [=] { sort(x).values; }},
      {"top 100 of 2^24", [=] { topk(large, 100); }},
      {"top 2^16 of 2^24", [=] { topk(large, 1 << 16); }},
      {"unique", [=] { unique_values(whole); }},
      {"bincount", [=] { bincount(whole); }},
      {"take", [=] { take(x, some); }},
      {"masked select", [=] { masked_select(x, few); }},
  };
  all.merge(functions(x, y)), all.merge(transforms(x, z)), all.merge(cliffs(arrays));
  all.merge(moves(x, matrix, of("places")));
  return all;
}

}  // namespace

int main(int count, char** arguments) { return bench::answer(count, arguments, &calls); }
