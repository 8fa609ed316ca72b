// What the kernels of QR, symmetric eigenvalues and singular values of batches of small real matrices on GPUs share. A
// matrix is a few threads' in a workgroup's memory (gpu_small_spectra.cpp), or one thread's (gpu_thread_spectra.cpp).
#pragma once
#include <cmath>
#include <cstdio>

#include "gpu/text/kernel_file.hpp"
#include "primitives/linalg/small/gpu_small.hpp"
#include "primitives/linalg/sweeps.hpp"

namespace tern::detail_gpu {

inline constexpr int kOwnRows = 4;  // rows and columns up to which a thread has a matrix

/// The accesses of a request; -1: is not asked for.
struct QrAccesses {
  int input = -1, q = -1, r = -1;
};
struct EighAccesses {
  int input = -1, values = -1, vectors = -1, status = -1;
};
struct SvdAccesses {
  int input = -1, u = -1, s = -1, vh = -1, status = -1;
};

/// small_pieces.wgsl.
const Holes& small_pieces();

/// A text of what these kernels share, with holes: of matrices whose n columns of m elements are kept.
struct Spectral : Small {
  Holes holes;
  int m, n;
  Spectral(MatrixPlan& plan, DType dtype, int m, int n, int threads, bool alone)
      : Small(plan, dtype, n, threads, alone), holes(small_pieces()), m(m), n(n) {
    const Dialect& d = plan.backend.dialect();
    const auto function = [&](Elementary e, bool two = false) {
      return two ? d.elementary(e, type, {kFirst, kSecond}) : d.elementary(e, type, {kFirst});
    };
    holes["type"] = compute_type_name(type), holes["barrier"] = barrier(), holes["begin"] = begin("group");
    holes["abs"] = function(Elementary::abs), holes["sqrt"] = function(Elementary::sqrt);
    holes["root"] = d.native() ? holes["sqrt"] : cat("sqrt(", kFirst, ")");  // off by a few in the last place
    holes["nearly_root"] = d.native() ? holes["sqrt"] : cat("near_root(", kFirst, ")");
    holes["nearly_divided"] =
        d.native() ? function(Elementary::div, true) : cat("near_quotient(", kFirst, ", ", kSecond, ")");
    holes["divided"] = function(Elementary::div, true), holes["finite"] = function(Elementary::isfinite);
    holes["m"] = cat(m), holes["n"] = cat(n), holes["least"] = cat(std::min(m, n));
    holes["four"] = numbers(0, 4), holes["eight"] = numbers(0, 8);
    holes["threads"] = cat(threads), holes["width"] = cat(kWidth), holes["sweeps"] = cat(kMostSweeps);
    holes["load_going"] = d.load_for_all("any_going", "busy");
    holes["steepest"] = type == ComputeType::f64 ? "1e150" : "1e18";
  }
  void add_pieces(const char* file) {
    for (auto& [name, piece] : pieces(file)) holes[name] = piece;
  }
  double epsilon() const { return type == ComputeType::f64 ? 0x1p-52 : 0x1p-23; }
  void word(const std::string& name, double value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.17e", value);
    holes[name] = digits;
  }
  /// Of singular values: columns whose squares are below `floor` are not rotated, nor are pairs by less than `little`.
  void add_thresholds() {
    word("floor", type == ComputeType::f64 ? 0x1p-511 : 0x1p-63);
    word("little", std::sqrt(static_cast<double>(m)) * epsilon());
  }
  /// Memory for `count` columns of each matrix; where column j begins is $place(j).
  void add_columns(const std::string& name, int count, int height, const std::string& place) {
    add(name, count, height), place_columns(count, height, place);
  }
  void place_columns(int count, int height, const std::string& place) {
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
  /// q's columns in `memory`, of which each matrix has so many: the columns' own, or others.
  void add_factor(int inner, const char* memory, int columns, bool own) {
    holes["inner"] = cat(inner), holes["basis"] = memory, holes["last"] = cat(std::min(m, n) - 1);
    place_columns(columns, m, "in_basis"), add_list("taus"), add_list("of_vs");
    holes["v"] = own ? "$v_of_copy(${0}, ${1})" : "$v_of_column(${0}, ${1})";
    holes["copy_last"] = own ? "$copy_of_v(${last}u)" : "", holes["copy_next"] = own ? "$copy_of_next" : "";
    holes["three_m"] = cat(3 * m), holes["largest_of"] = own ? "largest_of" : "partial";
    if (own) add_list("largest_of"), shared.push_back({compute_type_name(type), "reflections", per * 3 * m});
  }
  void load_as(int access, const std::string& row, const std::string& column) {
    std::vector<std::string> values;
    holes["load"] = io.load(access, plan.at(matrix, row, column), values);
    holes["x"] = values[0];
  }
  /// The same of four, whose coordinates have their number behind: i0, j0 and so on.
  void load_four_as(int access) {
    for (int d = 0; d < 4; ++d) {
      std::vector<std::string> values;
      holes[cat("load_", d)] = io.load(access, plan.at(matrix, cat("i", d), cat("j", d)), values);
      holes[cat("x_", d)] = values[0];
    }
  }
  std::string store_x(int access, const std::string& row, const std::string& column = "0u") {
    return io.store(access, plan.at(matrix, row, column), {"x"}, "");
  }
  /// Columns that rotations take along, in `vectors`, which is large enough for them.
  void add_vectors(const char* condition) {
    place_columns(n, n, "in_vectors");
    holes["identity"] = cat("for (var e = r; e < ", u(n * n), "; e += ", u(threads), ") {\n  let j = e / ", u(n),
                            ";\n  let i = e - j * ", u(n), ";\n  vectors[$in_vectors(j) + i] = select(", number("0.0"),
                            ", ", number("1.0"), ", i == j);\n}\n");
    const std::string rotate =
        cat("let first = $in_vectors(p);\nlet second = $in_vectors(q);\n",
            "$rotate_columns(vectors, first, second, ", n, "u)\n");
    holes["rotate_vectors"] = cat(*condition ? cat("if (", condition, ") ") : "", "{\n", indented(rotate), "}\n");
  }
  std::string text(const char* title, const char* file) {
    const Dialect& d = plan.backend.dialect();
    const std::string name = compute_type_name(type);
    std::string functions;
    const auto function = [&](const char* head, std::vector<TypedName> parameters) {
      const auto own = holes.find(cat(head, "_", name));
      functions += cat(d.pure_function_head(head, parameters, name),
                       indented(own == holes.end() ? holes[head] : own->second), "}\n");
    };
    if (!d.native()) function("near_root", {{name, "x"}}), function("near_quotient", {{name, "x"}, {name, "y"}});
    function("power_of", {{name, "x"}});
    function("scaled", {{name, "x"}, {name, "up"}}), function("unscaled", {{name, "x"}, {name, "power"}});
    return plan.module(title, fill_holes(file, holes), shared, functions);
  }
};

/// Of matrices of up to kOwnRows rows and columns, with one thread each. `inner`: columns of q, or of the long side's
/// vectors; `wide`: the columns are the matrix's rows.
std::string qr_of_thread(Spectral& s, int inner, const QrAccesses& v);
std::string eigh_of_thread(Spectral& s, const EighAccesses& v);
std::string svd_of_thread(Spectral& s, bool wide, int inner, const SvdAccesses& v);

}  // namespace tern::detail_gpu
