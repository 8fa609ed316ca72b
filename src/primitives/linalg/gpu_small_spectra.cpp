// QR, symmetric eigenvalues and singular values of batches of small real matrices on GPUs: small_qr.wgsl,
// small_eigh.wgsl and small_svd.wgsl say how. As many threads to a matrix as it has columns, rounded up to a power of
// two.
#include <cmath>
#include <cstdio>

#include "gpu/text/kernel_file.hpp"
#include "primitives/linalg/gpu_small.hpp"

namespace tern::detail_gpu {

namespace {

constexpr const char* kPieces =
#include "primitives/linalg/small_pieces.wgsl.inc"
    ;
constexpr const char* kQr =
#include "primitives/linalg/small_qr.wgsl.inc"
    ;
constexpr const char* kEigh =
#include "primitives/linalg/small_eigh.wgsl.inc"
    ;
constexpr const char* kSvd =
#include "primitives/linalg/small_svd.wgsl.inc"
    ;

constexpr int kMostSweeps = 40;  // six to eight are enough

/// A text of what these kernels share, with holes: of matrices whose n columns of m elements are kept.
struct Spectral : Small {
  Holes holes;
  int m, n;
  Spectral(MatrixPlan& plan, DType dtype, int m, int n, int threads)
      : Small(plan, dtype, n, threads), holes(pieces(kPieces)), m(m), n(n) {
    const Dialect& d = plan.backend.dialect();
    const auto function = [&](Elementary e, bool two = false) {
      return two ? d.elementary(e, type, {kFirst, kSecond}) : d.elementary(e, type, {kFirst});
    };
    holes["type"] = compute_type_name(type), holes["barrier"] = barrier(), holes["begin"] = begin("group");
    holes["abs"] = function(Elementary::abs), holes["sqrt"] = function(Elementary::sqrt);
    holes["root"] = d.native() ? holes["sqrt"] : cat("sqrt(", kFirst, ")");  // off by a few in the last place
    holes["divided"] = function(Elementary::div, true), holes["finite"] = function(Elementary::isfinite);
    holes["m"] = cat(m), holes["n"] = cat(n), holes["least"] = cat(std::min(m, n));
    holes["threads"] = cat(threads), holes["width"] = cat(kWidth), holes["sweeps"] = cat(kMostSweeps);
    holes["load_going"] = d.load_for_all("any_going", "busy");
    holes["steepest"] = type == ComputeType::f64 ? "1e150" : "1e18";
  }
  double epsilon() const { return type == ComputeType::f64 ? 0x1p-52 : 0x1p-23; }
  void word(const std::string& name, double value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.17e", value);
    holes[name] = digits;
  }
  /// Memory for `count` columns of each matrix; where column j begins is $place(j).
  void add_columns(const std::string& name, int count, int height, const std::string& place) {
    add(name, count, height);
    holes[place] = cat("own * ", u(count * pitch(height)), " + (", kFirst, ") * ", u(pitch(height)));
  }
  /// A number for each thread.
  void add_list(const std::string& name, bool real = true) {
    shared.push_back({real ? compute_type_name(type) : "u32", name, kWidth});
  }
  /// Rounds of pairs of columns, and the threads of a pair.
  void add_rounds() {
    const int even = n + n % 2, pairs = std::max(threads_for(n) / 2, 1);
    holes["rounds"] = cat(even - 1), holes["half"] = cat(even / 2);
    holes["pairs"] = cat(pairs), holes["parts"] = cat(std::max(threads / pairs, 1));
    for (const char* name : {"values", "partial"}) add_list(name);
    for (const char* name : {"bad", "busy", "order"}) add_list(name, false);
  }
  void add_factor(int inner) {
    holes["inner"] = cat(inner);
    add_columns("basis", inner, m, "in_basis");
    add_list("taus"), add_list("of_vs");
  }
  void load_as(int access, const std::string& row, const std::string& column) {
    std::vector<std::string> values;
    holes["load"] = io.load(access, plan.at(matrix, row, column), values);
    holes["x"] = values[0];
  }
  std::string store_x(int access, const std::string& row, const std::string& column = "0u") {
    return io.store(access, plan.at(matrix, row, column), {"x"}, "");
  }
  /// Columns that rotations turn along.
  void add_vectors(const char* condition) {
    add_columns("vectors", n, n, "in_vectors");
    holes["identity"] = cat("for (var e = r; e < ", u(n * n), "; e += ", u(threads), ") {\n  let j = e / ", u(n),
                            ";\n  let i = e - j * ", u(n), ";\n  vectors[$in_vectors(j) + i] = select(", number("0.0"),
                            ", ", number("1.0"), ", i == j);\n}\n");
    const std::string turn =
        cat("for (var i = part; i < ${n}u; i += ${parts}u) {\n  let x = vectors[$in_vectors(p) + i];\n"
            "  let y = vectors[$in_vectors(q) + i];\n  vectors[$in_vectors(p) + i] = fma(-s, y, c * x);\n"
            "  vectors[$in_vectors(q) + i] = fma(s, x, c * y);\n}\n");
    holes["turn_vectors"] = *condition ? cat("if (", condition, ") {\n", indented(turn), "}\n") : turn;
  }
  std::string text(const char* title, const char* file) {
    const Dialect& d = plan.backend.dialect();
    const std::string name = compute_type_name(type);
    std::string functions;
    const auto function = [&](const char* head, std::vector<Named> parameters) {
      functions += cat(d.pure_function_head(head, parameters, name), indented(holes[cat(head, "_", name)]), "}\n");
    };
    function("power_of", {{name, "x"}});
    function("scaled", {{name, "x"}, {name, "up"}}), function("unscaled", {{name, "x"}, {name, "power"}});
    return plan.module(title, fill_holes(file, holes), shared, functions);
  }
};

std::string qr_text(Spectral& s, int inner, int input, int q, int r) {
  s.add_columns("columns", s.n, s.m, "column"), s.add_factor(inner);
  s.load_as(input, "i", "j");
  s.holes["store_q"] = s.store_x(q, "i", "j"), s.holes["store_r"] = s.store_x(r, "i", "j");
  return s.text("qr of small matrices", kQr);
}

std::string eigh_text(Spectral& s, int input, int values, int vectors, int status) {
  const int n = s.n, even = n + n % 2;
  s.add("a", even, even), s.add_rounds(), s.add_list("cosines"), s.add_list("sines");
  s.holes["at"] =
      cat("own * ", u(even * Small::pitch(even)), " + (", kFirst, ") * ", u(Small::pitch(even)), " + ", kSecond);
  s.load_as(input, "i", "j");
  s.word("epsilon_over_2n", s.epsilon() / (2 * n));
  for (const char* hole : {"pad", "identity", "turn_vectors", "store_vectors"}) s.holes[hole] = "";
  if (even > n)
    s.holes["pad"] = cat("for (var i = r; i < ", u(even), "; i += ", u(s.threads), ") {\n  a[$at(i, ", u(n),
                         ")] = ", s.number("0.0"), ";\n  a[$at(", u(n), ", i)] = ", s.number("0.0"), ";\n}\n");
  if (vectors >= 0) {
    s.add_vectors("s != $type(0.0)");
    s.holes["store_vectors"] = s.over(
        n, u(n),
        cat("let x = vectors[$in_vectors(order[own * ", u(s.threads), " + j]) + i];\n", s.store_x(vectors, "i", "j")));
  }
  s.holes["store_values"] = s.store_x(values, "k"), s.holes["finish"] = s.finish(status);
  return s.text("eigh of small matrices", kEigh);
}

struct SvdAccesses {
  int input = -1, u = -1, s = -1, vh = -1, status = -1;
};
std::string svd_text(Spectral& s, bool wide, int inner, const SvdAccesses& v) {
  const int m = s.m, n = s.n;
  s.add_columns("columns", n, m, "place"), s.add_rounds();
  s.holes["column"] =
      cat("own * ", u(n * Small::pitch(m)), " + order[own * ", u(s.threads), " + ", kFirst, "] * ", u(Small::pitch(m)));
  s.holes["places"] = wide ? cat("let j = e / ", u(m), ";\nlet i = e - j * ", u(m), ";\n")
                           : cat("let i = e / ", u(n), ";\nlet j = e - i * ", u(n), ";\n");
  s.load_as(v.input, wide ? "j" : "i", wide ? "i" : "j");
  s.word("floor", s.type == ComputeType::f64 ? 0x1p-511 : 0x1p-63);
  s.word("little", std::sqrt(static_cast<double>(m)) * s.epsilon());
  for (const char* hole : {"identity", "turn_vectors", "vectors"}) s.holes[hole] = "";
  if (v.u >= 0) {
    s.add_vectors(""), s.add_factor(inner);
    const int left = wide ? v.vh : v.u, right = wide ? v.u : v.vh;
    const std::string long_side =
        cat("let x = basis[$in_basis(", wide ? "i" : "j", ") + ", wide ? "j" : "i", "];\n", s.store_x(left, "i", "j"));
    const std::string short_side = cat("let x = vectors[$in_vectors(order[own * ", u(s.threads), " + ",
                                       wide ? "j" : "i", "]) + ", wide ? "i" : "j", "];\n", s.store_x(right, "i", "j"));
    s.holes["vectors"] = cat(
        "$factor\nif (r < ", u(n), " && columns[$column(r) + r] < ", s.number("0.0"), ") {\n  for (var i = 0u; i < ",
        u(m), "; i += 1u) { basis[$in_basis(r) + i] = -basis[$in_basis(r) + i]; }\n}\n", s.barrier(), "if (inside) {\n",
        indented(wide ? s.over(inner, u(m), long_side) : s.over(m, u(inner), long_side)),
        indented(s.over(n, u(n), short_side)), "}\n");
  }
  s.holes["store_values"] = s.store_x(v.s, "k"), s.holes["finish"] = s.finish(v.status);
  return s.text("svd of small matrices", kSvd);
}

/// Launches a text for matrices that are kept as n columns of m elements.
template <class R, class Text>
void launch_small(MatrixPlan& plan, const R& r, int m, int n, int threads, const Text& text) {
  const int per = kWidth / threads;
  tell(per);
  plan.plan.note(r.rows()), plan.plan.note(r.columns());
  plan.launch(static_cast<std::uint64_t>(ceil_div(r.count(), per)), kWidth, [&] {
    Spectral s(plan, r.input.dtype, m, n, threads);
    return text(s);
  });
}

}  // namespace

void qr_on_gpu(GpuBackend& backend, const detail::QrRequest& r) {
  if (!goes_small(backend, r, r.input.dtype)) return detail::kernel_on_host(backend, r);
  if (r.count() == 0) return;
  backend.run_prepared(r, [&] {
    MatrixPlan plan(backend, r, 'Q');
    const int m = static_cast<int>(r.rows()), n = static_cast<int>(r.columns()), inner = static_cast<int>(r.inner());
    const int input = plan.add(r.input, {m, n}, false);
    const int q = plan.add(r.q, {m, inner}, true), right = plan.add(r.r, {inner, n}, true);
    plan.plan.note(static_cast<char>(inner > std::min(m, n)));
    launch_small(plan, r, m, n, threads_for(std::max(n, inner)),
                 [&](Spectral& s) { return qr_text(s, inner, input, q, right); });
  });
}

void eigh_on_gpu(GpuBackend& backend, const detail::EighRequest& r) {
  if (!goes_small(backend, r, r.input.dtype)) return detail::kernel_on_host(backend, r);
  if (r.count() == 0) return;
  backend.run_prepared(r, [&] {
    MatrixPlan plan(backend, r, 'J');
    const int n = static_cast<int>(r.rows());
    const int input = plan.add(r.input, {n, n}, false), values = plan.add(r.values, {n}, true);
    const int vectors = r.vectors.storage ? plan.add(r.vectors, {n, n}, true) : -1;
    const int status = r.status.storage ? plan.add(r.status, {}, true) : -1;
    if (r.checked) plan.note_failures(PrimitiveId::eigh);
    plan.plan.note(static_cast<char>((vectors >= 0) + 2 * (status >= 0) + 4 * r.checked));
    launch_small(plan, r, n, n, threads_for(n),
                 [&](Spectral& s) { return eigh_text(s, input, values, vectors, status); });
  });
}

void svd_on_gpu(GpuBackend& backend, const detail::SvdRequest& r) {
  if (!goes_small(backend, r, r.input.dtype)) return detail::kernel_on_host(backend, r);
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
    launch_small(plan, r, m, n, threads_for(width), [&](Spectral& s) { return svd_text(s, columns > rows, inner, v); });
  });
}

}  // namespace tern::detail_gpu
