// QR, symmetric eigenvalues and singular values of matrices of up to four rows and columns on GPUs, a matrix a thread:
// thread_qr.wgsl, thread_eigh.wgsl and thread_svd.wgsl say how.
#include "primitives/linalg/gpu/gpu_spectra.hpp"

namespace tern::detail_gpu {

namespace {

constexpr const char* kThreadPieces =
#include "primitives/linalg/small/thread_pieces.wgsl.inc"
    ;
constexpr const char* kThreadQr =
#include "primitives/linalg/small/thread_qr.wgsl.inc"
    ;
constexpr const char* kThreadEigh =
#include "primitives/linalg/small/thread_eigh.wgsl.inc"
    ;
constexpr const char* kThreadSvd =
#include "primitives/linalg/small/thread_svd.wgsl.inc"
    ;

using Exchange = std::pair<int, int>;
std::string name(const char* list, int i, int j) { return cat(list, i, j); }
std::string swapped(const std::string& a, const std::string& b) { return cat("$swapped(", a, ", ", b, ")\n"); }
std::string rotated(const std::string& a, const std::string& b) { return cat("$rotated(", a, ", ", b, ")\n"); }

/// Exchanges that sort so many.
std::vector<Exchange> network(int n) {
  if (n == 2) return {{0, 1}};
  if (n == 3) return {{0, 1}, {1, 2}, {0, 1}};
  if (n == 4) return {{0, 1}, {2, 3}, {0, 2}, {1, 3}, {1, 2}};
  return {};
}

/// The lists that steps are unrolled for: of n columns of m elements.
void add_lists(Spectral& s, int inner, bool vectors) {
  const int m = s.m, n = s.n, least = std::min(m, n);
  s.add_pieces(kThreadPieces);
  s.holes["rows"] = numbers(0, m), s.holes["columns"] = numbers(0, n), s.holes["inner"] = numbers(0, inner);
  s.holes["vector_rows"] = vectors ? numbers(0, n) : "", s.holes["steps"] = numbers(0, least);
  std::string pairs, back;
  for (int q = 1; q < n; ++q)
    for (int p = 0; p < q; ++p) pairs += cat(pairs.empty() ? "" : " ", p, q);
  for (int k = least; k-- > 0;) back += cat(back.empty() ? "" : " ", k);
  s.holes["pairs"] = pairs, s.holes["steps_back"] = back;
  for (int k = 0; k < kOwnRows; ++k) {
    s.holes[cat("of_row_", k)] = numbers(0, n), s.holes[cat("under_", k)] = numbers(k + 1, m);
    s.holes[cat("right_", k)] = numbers(k + 1, n), s.holes[cat("basis_", k)] = numbers(k, inner);
    for (int j = 0; j < kOwnRows; ++j) {
      s.holes[name("one_", k, j)] = k == j ? "1.0" : "0.0";
      s.holes[name("weight_", k, j)] = k == j ? "1.0" : "2.0";
    }
  }
}
/// c<i><j> = the element, or that of the transposed matrix.
void add_load(Spectral& s, int access, int i, int j, bool transposed = false) {
  std::vector<std::string> values;
  std::string& load = s.holes[name("load_", i, j)];
  load = s.io.load(access, s.plan.at(s.matrix, u(transposed ? j : i), u(transposed ? i : j)), values);
  load += cat(name("c", i, j), " = ", values[0], ";\n");
}
std::string store(Spectral& s, int access, int i, int j, const std::string& value) {
  return s.io.store(access, s.plan.at(s.matrix, u(i), u(j)), {value}, "");
}

}  // namespace

std::string eigh_of_thread(Spectral& s, const EighAccesses& v) {
  const int n = s.n;
  const bool vectors = v.vectors >= 0;
  add_lists(s, n, vectors);
  s.word("epsilon_over_2n", s.epsilon() / (2 * n));
  const auto a = [](int i, int j) { return name("c", std::max(i, j), std::min(i, j)); };
  for (int i = 0; i < n; ++i) {
    s.holes[cat("of_row_", i)] = numbers(0, i + 1);
    for (int j = 0; j <= i; ++j) add_load(s, v.input, i, j);
  }
  for (int q = 1; q < n; ++q)
    for (int p = 0; p < q; ++p) {
      std::string rotate =
          cat("let off = ", a(p, q), ";\n$rotation(", a(q, q), " - ", a(p, p), ", off)\n", a(p, p), " = fma(-t, off, ",
              a(p, p), ");\n", a(q, q), " = fma(t, off, ", a(q, q), ");\n", a(p, q), " = $type(0.0);\ngoing = 1u;\n");
      for (int k = 0; k < n; ++k)
        if (k != p && k != q) rotate += rotated(a(p, k), a(q, k));
      for (int i = 0; vectors && i < n; ++i) rotate += rotated(name("v", i, p), name("v", i, q));
      s.holes[name("rotate_", p, q)] = cat("if ($abs(", a(p, q), ") > little) {\n", indented(rotate), "}\n");
    }
  std::string& sorted = s.holes["sorted"];
  for (const auto& [j, k] : network(n)) {
    std::string swap = swapped(a(j, j), a(k, k));
    for (int i = 0; vectors && i < n; ++i) swap += swapped(name("v", i, j), name("v", i, k));
    sorted += cat("if (", a(k, k), " < ", a(j, j), ") {\n", indented(swap), "}\n");
  }
  for (int i = 0; i < n; ++i) {
    s.holes[cat("store_value_", i)] = store(s, v.values, i, 0, cat("unscaled(", a(i, i), ", power)"));
    for (int j = 0; vectors && j < n; ++j) s.holes[name("store_", i, j)] = store(s, v.vectors, i, j, name("v", i, j));
  }
  s.holes["finish"] = s.finish(v.status);
  return s.text("eigh, a matrix a thread", kThreadEigh);
}

std::string qr_of_thread(Spectral& s, int inner, const QrAccesses& v) {
  add_lists(s, inner, false);
  for (int i = 0; i < s.m; ++i) {
    for (int j = 0; j < s.n; ++j) add_load(s, v.input, i, j);
    for (int j = 0; j < inner; ++j) s.holes[name("store_q_", i, j)] = store(s, v.q, i, j, name("q", i, j));
  }
  for (int i = 0; i < inner; ++i)
    for (int j = 0; j < s.n; ++j)
      s.holes[name("store_r_", i, j)] =
          store(s, v.r, i, j,
                i > j ? s.number("0.0") : cat("unscaled(", i == j ? cat("d", j) : name("c", i, j), ", scale", j, ")"));
  return s.text("qr, a matrix a thread", kThreadQr);
}

std::string svd_of_thread(Spectral& s, bool wide, int inner, const SvdAccesses& v) {
  const int m = s.m, n = s.n;
  const bool vectors = v.u >= 0;
  add_lists(s, inner, vectors), s.add_thresholds();
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) add_load(s, v.input, i, j, wide);
  for (int q = 1; q < n; ++q)
    for (int p = 0; p < q; ++p) {
      const std::string x = cat("value", p), y = cat("value", q);
      std::string rotate = cat("$rotation(", y, " - ", x, ", off)\n", x, " = fma(-t, off, ", x, ");\n", y,
                               " = fma(t, off, ", y, ");\ngoing = 1u;\n");
      for (int i = 0; i < m; ++i) rotate += rotated(name("c", i, p), name("c", i, q));
      for (int i = 0; vectors && i < n; ++i) rotate += rotated(name("v", i, p), name("v", i, q));
      std::string off = "var off = $type(0.0);\n";
      for (int i = 0; i < m; ++i) off += cat("off = fma(", name("c", i, p), ", ", name("c", i, q), ", off);\n");
      off += cat("if (min(", x, ", ", y, ") > $type($floor) && $abs(off) > $type($little) * $root(", x, " * ", y,
                 ")) {\n", indented(rotate), "}\n");
      s.holes[name("rotate_", p, q)] = cat("{\n", indented(off), "}\n");
    }
  std::string& sorted = s.holes["sorted"];
  for (const auto& [j, k] : network(n)) {
    std::string swap = swapped(cat("value", j), cat("value", k));
    for (int i = 0; i < m; ++i) swap += swapped(name("c", i, j), name("c", i, k));
    for (int i = 0; vectors && i < n; ++i) swap += swapped(name("v", i, j), name("v", i, k));
    sorted += cat("if (value", k, " > value", j, ") {\n", indented(swap), "}\n");
  }
  for (int j = 0; j < n; ++j)
    s.holes[cat("store_value_", j)] = store(s, v.s, j, 0, cat("unscaled(value", j, ", power)"));
  std::string stores;
  const int left = wide ? v.vh : v.u, right = wide ? v.u : v.vh;
  for (int i = 0; vectors && i < m; ++i)
    for (int j = 0; j < inner; ++j) {
      const std::string q = name("q", i, j);
      const std::string value = j < n ? cat("select(", q, ", -", q, ", d", j, " < $type(0.0))") : q;
      stores += wide ? store(s, left, j, i, value) : store(s, left, i, j, value);
    }
  for (int i = 0; vectors && i < n; ++i)
    for (int j = 0; j < n; ++j)
      stores += wide ? store(s, right, i, j, name("v", i, j)) : store(s, right, j, i, name("v", i, j));
  s.holes["vectors"] = vectors ? cat("$own_factor\nif (inside) {\n", indented(stores), "}\n") : "";
  s.holes["finish"] = s.finish(v.status);
  return s.text("svd, a matrix a thread", kThreadSvd);
}

}  // namespace tern::detail_gpu
