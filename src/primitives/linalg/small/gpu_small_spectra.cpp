// QR, symmetric eigenvalues and singular values of batches of small real matrices on GPUs: small_qr.wgsl,
// small_eigh.wgsl and small_svd.wgsl say how. As many threads to a matrix as it has columns, rounded up to a power of
// two; or one (gpu_thread_spectra.cpp).
#include "primitives/linalg/gpu/gpu_spectra.hpp"
#include "primitives/linalg/library/gpu_library.hpp"

namespace tern::detail_gpu {

namespace {

constexpr const char* kSmallPieces =
#include "primitives/linalg/small/small_pieces.wgsl.inc"
    ;
constexpr const char* kSmallQr =
#include "primitives/linalg/small/small_qr.wgsl.inc"
    ;
constexpr const char* kSmallEigh =
#include "primitives/linalg/small/small_eigh.wgsl.inc"
    ;
constexpr const char* kSmallSvd =
#include "primitives/linalg/small/small_svd.wgsl.inc"
    ;

// ---- texts ----

std::string qr_text(Spectral& s, int inner, const QrAccesses& v) {
  const int columns = std::max(s.n, inner);
  s.add_columns("columns", columns, s.m, "column"), s.add_factor(inner, "columns", columns, true);
  s.load_as(v.input, "i", "j"), s.load_four_as(v.input);
  s.holes["store_q"] = s.store_x(v.q, "i", "j"), s.holes["store_r"] = s.store_x(v.r, "i", "r");
  return s.text("qr of small matrices", kSmallQr);
}

std::string eigh_text(Spectral& s, const EighAccesses& v) {
  const int n = s.n, even = n + n % 2;
  s.add("a", even, even), s.add_rounds(), s.add_list("cosines"), s.add_list("sines");
  s.holes["at"] =
      cat("own * ", u(even * Small::pitch(even)), " + (", kFirst, ") * ", u(Small::pitch(even)), " + ", kSecond);
  s.load_as(v.input, "i", "j");
  s.word("epsilon_over_2n", s.epsilon() / (2 * n));
  for (const char* hole : {"pad", "identity", "rotate_vectors", "store_vectors"}) s.holes[hole] = "";
  if (even > n)
    s.holes["pad"] = cat("for (var i = r; i < ", u(even), "; i += ", u(s.threads), ") {\n  a[$at(i, ", u(n),
                         ")] = ", s.number("0.0"), ";\n  a[$at(", u(n), ", i)] = ", s.number("0.0"), ";\n}\n");
  if (v.vectors >= 0) {
    s.add("vectors", n, n), s.add_vectors("s != $type(0.0)");
    s.holes["store_vectors"] = s.over(n, u(n),
                                      cat("let x = vectors[$in_vectors(order[own * ", u(s.threads), " + j]) + i];\n",
                                          s.store_x(v.vectors, "i", "j")));
  }
  s.holes["store_values"] = s.store_x(v.values, "k"), s.holes["finish"] = s.finish(v.status);
  return s.text("eigh of small matrices", kSmallEigh);
}

std::string svd_text(Spectral& s, bool wide, int inner, const SvdAccesses& v) {
  const int m = s.m, n = s.n;
  s.add_columns("columns", n, m, "place"), s.add_rounds();
  s.holes["column"] =
      cat("own * ", u(n * Small::pitch(m)), " + order[own * ", u(s.threads), " + ", kFirst, "] * ", u(Small::pitch(m)));
  s.holes["places"] = wide ? cat("let j = e / ", u(m), ";\nlet i = e - j * ", u(m), ";\n")
                           : cat("let i = e / ", u(n), ";\nlet j = e - i * ", u(n), ";\n");
  s.load_as(v.input, wide ? "j" : "i", wide ? "i" : "j");
  s.add_thresholds();
  for (const char* hole : {"identity", "rotate_vectors", "vectors"}) s.holes[hole] = "";
  if (v.u >= 0) {
    // The short side's are gone when the long one's come.
    s.add("vectors", inner, m), s.add_factor(inner, "vectors", inner, false), s.add_vectors("");
    const int left = wide ? v.vh : v.u, right = wide ? v.u : v.vh;
    const std::string long_side = cat("let x = vectors[$in_basis(", wide ? "i" : "j", ") + ", wide ? "j" : "i", "];\n",
                                      s.store_x(left, "i", "j"));
    const std::string short_side = cat("let x = vectors[$in_vectors(order[own * ", u(s.threads), " + ",
                                       wide ? "j" : "i", "]) + ", wide ? "i" : "j", "];\n", s.store_x(right, "i", "j"));
    s.holes["vectors"] =
        cat("if (inside) {\n", indented(s.over(n, u(n), short_side)), "}\n$factor_r\n$factor_q\nif (r < ", u(n),
            " && columns[$column(r) + r] < ", s.number("0.0"), ") {\n  for (var i = 0u; i < ", u(m),
            "; i += 1u) { vectors[$in_basis(r) + i] = -vectors[$in_basis(r) + i]; }\n}\n", s.barrier(),
            "if (inside) {\n", indented(wide ? s.over(inner, u(m), long_side) : s.over(m, u(inner), long_side)), "}\n");
  }
  s.holes["store_values"] = s.store_x(v.s, "k"), s.holes["finish"] = s.finish(v.status);
  return s.text("svd of small matrices", kSmallSvd);
}

/// Whether a thread can have a matrix.
bool of_thread(const detail::MatrixRequest& r) { return r.most() <= kOwnRows; }

/// Launches a text for matrices that are kept as n columns of m elements.
template <class R, class Text>
void launch_small(MatrixPlan& plan, const R& r, int m, int n, int threads, const Text& text) {
  const int per = kWidth / threads;
  if (detail::tracing() && of_thread(r)) detail::note("a matrix a thread");
  else tell(per);
  plan.plan.note(r.rows()), plan.plan.note(r.columns());
  plan.launch(static_cast<std::uint64_t>(ceil_div(r.count(), per)), kWidth, [&] {
    Spectral s(plan, r.input.dtype, m, n, threads, of_thread(r));
    return text(s);
  });
}

}  // namespace

const Holes& small_pieces() {
  static const auto& all = *new Holes(pieces(kSmallPieces));  // outlives what is in static storage
  return all;
}

void qr_on_gpu(GpuBackend& backend, const detail::QrRequest& r) {
  if (!goes_small(backend, r, r.input.dtype)) return without_kernel(backend, r);
  if (r.count() == 0) return;
  backend.run_prepared(r, [&] {
    MatrixPlan plan(backend, r, 'Q');
    const int m = static_cast<int>(r.rows()), n = static_cast<int>(r.columns()), inner = static_cast<int>(r.inner());
    QrAccesses v;
    v.input = plan.add(r.input, {m, n}, false);
    v.q = plan.add(r.q, {m, inner}, true), v.r = plan.add(r.r, {inner, n}, true);
    plan.plan.note(static_cast<char>(inner > std::min(m, n)));
    launch_small(plan, r, m, n, of_thread(r) ? 1 : threads_for(std::max(n, inner)),
                 [&](Spectral& s) { return of_thread(r) ? qr_of_thread(s, inner, v) : qr_text(s, inner, v); });
  });
}

void eigh_on_gpu(GpuBackend& backend, const detail::EighRequest& r) {
  if (!goes_small(backend, r, r.input.dtype)) return without_kernel(backend, r);
  if (r.count() == 0) return;
  backend.run_prepared(r, [&] {
    MatrixPlan plan(backend, r, 'J');
    const int n = static_cast<int>(r.rows());
    EighAccesses v;
    v.input = plan.add(r.input, {n, n}, false), v.values = plan.add(r.values, {n}, true);
    if (r.vectors.storage) v.vectors = plan.add(r.vectors, {n, n}, true);
    if (r.status.storage) v.status = plan.add(r.status, {}, true);
    if (r.checked) plan.note_failures(PrimitiveId::eigh);
    plan.plan.note(static_cast<char>((v.vectors >= 0) + 2 * (v.status >= 0) + 4 * r.checked));
    launch_small(plan, r, n, n, of_thread(r) ? 1 : threads_for(n),
                 [&](Spectral& s) { return of_thread(r) ? eigh_of_thread(s, v) : eigh_text(s, v); });
  });
}

void svd_on_gpu(GpuBackend& backend, const detail::SvdRequest& r) {
  if (!goes_small(backend, r, r.input.dtype)) return without_kernel(backend, r);
  if (r.count() == 0) return;
  backend.run_prepared(r, [&] {
    MatrixPlan plan(backend, r, 'U');
    const int rows = static_cast<int>(r.rows()), columns = static_cast<int>(r.columns());
    const int n = static_cast<int>(r.least()), m = static_cast<int>(r.most()), inner = r.full ? m : n;
    SvdAccesses v;
    v.input = plan.add(r.input, {rows, columns}, false), v.s = plan.add(r.s, {n}, true);
    if (r.vectors()) {
      v.u = plan.add(r.u, {rows, r.full ? rows : n}, true);
      v.vh = plan.add(r.vh, {r.full ? columns : n, columns}, true);
    }
    if (r.status.storage) v.status = plan.add(r.status, {}, true);
    if (r.checked) plan.note_failures(PrimitiveId::svd);
    plan.plan.note(static_cast<char>((inner > n) + 2 * r.vectors() + 4 * (v.status >= 0) + 8 * r.checked));
    const int width = r.vectors() ? std::max(n, inner) : n;
    const bool wide = columns > rows;
    launch_small(plan, r, m, n, of_thread(r) ? 1 : threads_for(width), [&](Spectral& s) {
      return of_thread(r) ? svd_of_thread(s, wide, inner, v) : svd_text(s, wide, inner, v);
    });
  });
}

}  // namespace tern::detail_gpu
