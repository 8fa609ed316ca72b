// tern::linalg and transforms, for compare_scipy.py and compare_torch.py.
#include "case.hpp"

namespace oracle {
namespace {

template <class G> linalg::Norm norm_of(const G& c) {
  const json& norm = c.of.at("norm");
  if (norm == "fro") return "fro";
  if (norm == "nuc") return "nuc";
  return number(norm);
}
template <class G> Axes axes_of(const G& c, const char* name = "axes") {
  return c.has(name) ? Axes(integers(c.of[name])) : Axes{};
}

Evaluations factorisations() {
  return {
      ORACLE("cholesky", linalg::cholesky(c("x"), c.flag("upper"))),
      ORACLE_OF("cholesky_ex",
                {
                  const auto y = linalg::cholesky_ex(c("x"), c.flag("upper"));
                  return {y.l, as_result<Kind<decltype(c)>>(y.info)};
                }),
      ORACLE_OF("lu",
                {
                  const auto y = linalg::lu(c("x"));
                  return {y.p, y.l, y.u};
                }),
      ORACLE_OF("lu_factor",
                {
                  const auto y = linalg::lu_factor(c("x"));
                  return {y.lu, as_result<Kind<decltype(c)>>(y.pivots)};
                }),
      ORACLE_OF("lu_solve",
                {
                  const auto y = linalg::lu_factor(c("x"));
                  return {linalg::lu_solve(y.lu, y.pivots, c("y"))};
                }),
      ORACLE_OF("qr",
                {
                  const auto y = linalg::qr(c("x"), c.flag("complete"));
                  return {y.q, y.r};
                }),
      ORACLE_OF("svd",
                {
                  const auto y = linalg::svd(c("x"), c.flag("full_matrices"));
                  return {y.u, y.s, y.vh};
                }),
      ORACLE("svdvals", linalg::svdvals(c("x"))),
      ORACLE_OF("eigh",
                {
                  const auto y = linalg::eigh(c("x"));
                  return {y.eigenvalues, y.eigenvectors};
                }),
      ORACLE("eigvalsh", linalg::eigvalsh(c("x"))),
      ORACLE_OF("eig",
                {
                  const auto y = linalg::eig(c("x"));
                  return {y.eigenvalues, y.eigenvectors};
                }),
      ORACLE("eigvals", linalg::eigvals(c("x"))),
  };
}

Evaluations solutions() {
  return {
      ORACLE("solve", linalg::solve(c("x"), c("y"))),
      ORACLE_OF("solve_ex",
                {
                  const auto y = linalg::solve_ex(c("x"), c("y"));
                  return {y.result, as_result<Kind<decltype(c)>>(y.info)};
                }),
      ORACLE("solve_triangular",
             linalg::solve_triangular(c("x"), c("y"), c.flag("upper"), c.flag("left"), c.flag("unit"))),
      ORACLE_OF("cholesky_solve",
                {
                  const auto x = c("x");
                  return {linalg::cholesky_solve(c("y"), linalg::cholesky(x, c.flag("upper")), c.flag("upper"))};
                }),
      ORACLE("inv", linalg::inv(c("x"))),
      ORACLE("pinv", linalg::pinv(c("x"), c.real("rtol", -1))),
      ORACLE("det", linalg::det(c("x"))),
      ORACLE_OF("slogdet",
                {
                  const auto y = linalg::slogdet(c("x"));
                  return {y.sign, y.logabsdet};
                }),
      ORACLE_OF("lstsq",
                {
                  const auto x = c("x");
                  const auto y = linalg::lstsq(x, c("y"), c.real("rtol", -1));
                  return {y.solution, as_result<Kind<decltype(c)>>(y.rank), y.singular_values};
                }),
      ORACLE("matrix_norm", linalg::matrix_norm(c("x"), norm_of(c), c.flag("keepdim"))),
      ORACLE("vector_norm", linalg::vector_norm(c("x"), norm_of(c), axes_of(c), c.flag("keepdim"))),
      ORACLE("matrix_rank", as_result<Kind<decltype(c)>>(linalg::matrix_rank(c("x"), c.real("rtol", -1)))),
      ORACLE("cond", linalg::cond(c("x"), norm_of(c))),
      ORACLE("expm", linalg::expm(c("x"))),
      ORACLE("matrix_power", matrix_power(c("x"), c.whole("n"))),
      ORACLE("trace", trace(c("x"), c.whole("n"))),
      ORACLE("cross", cross(c("x"), c("y"))),
      ORACLE("vecdot", vecdot(c("x"), c("y"))),
  };
}

/// n and axis of transforms along one axis; sizes and axes of those along several.
template <class G> std::optional<std::int64_t> size_of(const G& c) {
  return c.has("n") ? std::optional(c.whole("n")) : std::nullopt;
}
template <class G> std::optional<Shape> sizes_of(const G& c) {
  return c.has("sizes") ? std::optional(Shape(integers(c.of["sizes"]))) : std::nullopt;
}
template <class G> std::optional<Axes> which_axes(const G& c) {
  return c.has("axes") ? std::optional(axes_of(c)) : std::nullopt;
}
template <class G> Axes two_axes(const G& c) { return c.has("axes") ? axes_of(c) : Axes{-2, -1}; }
template <class G> int axis_of(const G& c) { return static_cast<int>(c.whole("axis", -1)); }
#define ORACLE_FFT(name) ORACLE(#name, tern::fft::name(c("x"), size_of(c), axis_of(c), c.text("norm", "backward")))
#define ORACLE_FFTN(name) ORACLE(#name, tern::fft::name(c("x"), sizes_of(c), which_axes(c), c.text("norm", "backward")))
#define ORACLE_FFT2(name) ORACLE(#name, tern::fft::name(c("x"), sizes_of(c), two_axes(c), c.text("norm", "backward")))

template <class G> Options options_of(const G& c) { return {.dtype = dtype_named(c.text("dtype", "f64"))}; }
template <class G> StftOptions stft_options(const G& c) {
  const std::string pad = c.text("pad", "reflect");
  return {.hop = c.whole("hop"),
          .window = c.plain("window"),
          .center = c.flag("center"),
          .pad = pad == "constant" ? PadMode::constant
                 : pad == "edge"   ? PadMode::edge
                                   : PadMode::reflect,
          .normalized = c.flag("normalized"),
          .onesided = c.flag("onesided"),
          .length = c.whole("length")};
}
Tensor window_named(const std::string& name, std::int64_t n, bool periodic, const Options& options) {
  return name == "hann"      ? hann(n, periodic, options)
         : name == "hamming" ? hamming(n, periodic, options)
                             : blackman(n, periodic, options);
}

}  // namespace

Evaluations linear_algebra() {
  Evaluations all = factorisations();
  all.merge(solutions());
  return all;
}

Evaluations transforms() {
  return {
      ORACLE_FFT(fft),
      ORACLE_FFT(ifft),
      ORACLE_FFT(rfft),
      ORACLE_FFT(irfft),
      ORACLE_FFTN(fftn),
      ORACLE_FFTN(ifftn),
      ORACLE_FFTN(rfftn),
      ORACLE_FFTN(irfftn),
      ORACLE_FFT2(fft2),
      ORACLE_FFT2(ifft2),
      ORACLE_FFT2(rfft2),
      ORACLE_FFT2(irfft2),
      ORACLE("fftshift", tern::fft::fftshift(c("x"), axes_of(c))),
      ORACLE("ifftshift", tern::fft::ifftshift(c("x"), axes_of(c))),
      {"fftfreq",
       [](const json& of) {
         return Results{tern::fft::fftfreq(of.at("n"), of.at("spacing"), {.dtype = dtype_named(of.at("dtype"))})};
       }},
      {"rfftfreq",
       [](const json& of) {
         return Results{tern::fft::rfftfreq(of.at("n"), of.at("spacing"), {.dtype = dtype_named(of.at("dtype"))})};
       }},
      {"window",
       [](const json& of) {
         return Results{
             window_named(of.at("name"), of.at("n"), of.at("periodic"), {.dtype = dtype_named(of.at("dtype"))})};
       }},
      ORACLE("stft", stft(c("x"), c.whole("n"), stft_options(c))),
      ORACLE("istft", istft(c("x"), c.whole("n"), stft_options(c))),
      ORACLE("convolve", convolve(c("x"), c("y"), c.text("mode", "full"))),
      ORACLE("correlate", correlate(c("x"), c("y"), c.text("mode", "full"))),
  };
}

}  // namespace oracle
