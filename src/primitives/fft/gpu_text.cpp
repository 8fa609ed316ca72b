// Fills the holes of fft.wgsl, which transforms lines, and of fft_elements.wgsl, which changes elements and where they
// lie. Butterflies alone are printed here, for their radix.
#include "primitives/fft/gpu_text.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <numbers>

namespace tern::detail_gpu::fft {

namespace {

constexpr const char* kTransform =
#include "primitives/fft/fft.wgsl.inc"
    ;
constexpr const char* kFftElements =
#include "primitives/fft/fft_elements.wgsl.inc"
    ;
constexpr const char* kFftPieces =
#include "primitives/fft/fft_pieces.wgsl.inc"
    ;
constexpr int kMapThreads = 256;

using Names = std::vector<std::string>;

const char* type_of(const Lines& l) { return l.re.dtype == DType::f64 ? "f64" : "f32"; }
std::string literal(const Lines& l, double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  std::string digits = text;
  if (digits.find_first_of(".en") == std::string::npos) digits += ".0";
  return cat(type_of(l), "(", digits, ")");
}
std::string u(std::int64_t value) { return cat(value, "u"); }

std::vector<int> radices(std::int64_t n) {
  std::vector<int> list;
  for (; n % 4 == 0; n /= 4) list.push_back(4);
  for (const int prime : kKernelPrimes)
    for (; n % prime == 0; n /= prime) list.push_back(prime);
  return list;
}

const Holes& pieces_of_file() {
  static const auto& all = *new Holes(pieces(kFftPieces));  // outlives what is in static storage
  return all;
}

// ---- roots of unity ----

/// c₀ + x(c₁ + x(c₂ + …)) of Taylor's coefficients ±1/(first + 2k)!.
std::string series(const Lines& l, int first, int terms) {
  std::string text;
  for (int k = terms; k-- > 0;) {
    double factorial = 1;
    for (int i = 2; i <= first + 2 * k; ++i) factorial *= i;
    const std::string c = literal(l, (k % 2 ? -1 : 1) / factorial);
    text = text.empty() ? c : cat("(", c, " + x * ", text, ")");
  }
  return text;
}
/// The functions twiddle and, where there is a chirp, square.
std::string functions_of(const Lines& l, const Dialect& dialect, bool square) {
  const std::string type = type_of(l);
  const int terms = l.re.dtype == DType::f64 ? 10 : 6;
  Holes holes = pieces_of_file();
  holes["type"] = type, holes["eighth"] = literal(l, std::numbers::pi / 4);
  holes["sine"] = series(l, 1, terms), holes["cosine"] = series(l, 0, terms + 1);
  holes["twiddle_of_re_im"] = dialect.construct("Twiddle", {"re", "im"});
  const auto function = [&](const char* name, const std::string& result) {
    return cat(dialect.pure_function_head(name, {{"u32", "a"}, {"u32", "n"}}, result),
               indented(fill_holes(cat("$", name, "\n"), holes)), "}\n");
  };
  return cat(dialect.structure("Twiddle", {{type, "re"}, {type, "im"}}), function("twiddle", "Twiddle"),
             square ? function("square", "u32") : std::string());
}

// ---- memory ----

/// What a kernel's text needs to know.
struct Text {
  const LinePlan& plan;
  const Lines& l;
  int given_slot, wanted_slot;
  int re = 0, im = -1, out_re = -1, out_im = -1, table_re = -1, table_im = -1;
};

/// What $load and $store have, which both files do.
Holes shared_holes(const Text& t, Io& io) {
  const Lines& l = t.l;
  const bool to_real = l.kind == FftKind::to_real, from_real = l.kind == FftKind::from_real;
  const std::int64_t half = l.n / 2;
  Holes holes = pieces_of_file();
  holes["zero"] = literal(l, 0), holes["n"] = cat(l.n), holes["half"] = cat(half);
  holes["inner"] = literal(l, l.inner), holes["scale"] = literal(l, l.scale);
  holes["lines"] = t.plan.p(t.plan.lines_slot);
  holes["given"] = t.plan.p(t.given_slot), holes["wanted"] = t.plan.p(t.wanted_slot);

  const auto where = [&](bool is, const char* piece) { return is ? std::string(piece) : std::string(); };
  holes["row"] = to_real ? "row" : "e", holes["mirror"] = where(to_real, "$mirrored_row");
  holes["mirrored_part"] = where(to_real, "$conjugated_image");
  holes["with_image"] = where(to_real && l.inner != 1, "$others_times_inner");
  holes["conjugated_in"] = where(l.conjugate_in, "$conjugated");
  Names line;
  holes["coordinates"] = io.coordinates(t.plan.lines, "line", "c", line);
  const auto load = [&](int access, const char* to) {
    if (access < 0) return std::string();
    Names values;
    const std::string lines = io.load(access, t.plan.at(line, to_real ? "row" : "e"), values);
    return cat(lines, to, " = ", values[0], ";\n");
  };
  holes["load_re"] = load(t.re, "re"), holes["load_im"] = load(t.im, "im");

  holes["rows"] = cat(from_real ? half + 1 : l.n), holes["conjugated_out"] = where(l.conjugate_out, "$conjugated");
  holes["scaled"] = where(l.scale != 1, "$times_number($scale)");
  holes["halves"] = where(from_real && l.inner != 1, "$halves_times_inner");
  return holes;
}
/// After what is loaded: names are numbered as they come.
void add_store(Holes& holes, const Text& t, Io& io) {
  Names line;
  holes["coordinates_out"] = io.coordinates(t.plan.lines, "line", "d", line);
  holes["store_re"] = io.store(t.out_re, t.plan.at(line, "e"), {"re"}, "");
  holes["store_im"] = t.out_im < 0 ? std::string() : io.store(t.out_im, t.plan.at(line, "e"), {"im"}, "");
}

// ---- passes ----

struct PartNames {
  std::string re, im;
};
/// A butterfly's lines: names y0r, y0i, … of the transforms of x0r, x0i, …
class ButterflyText {
 public:
  ButterflyText(const Lines& l, int radix) : l_(l), radix_(radix) {}
  std::string text() {
    if (radix_ == 2) return set(0, sum("x0", "x1")) + set(1, difference("x0", "x1"));
    return radix_ == 4 ? four() : odd();
  }

 private:
  static PartNames sum(const std::string& a, const std::string& b) {
    return {cat(a, "r + ", b, "r"), cat(a, "i + ", b, "i")};
  }
  static PartNames difference(const std::string& a, const std::string& b) {
    return {cat(a, "r - ", b, "r"), cat(a, "i - ", b, "i")};
  }
  /// a - i·b and a + i·b.
  static PartNames less_times_i(const std::string& a, const std::string& b) {
    return {cat(a, "r + ", b, "i"), cat(a, "i - ", b, "r")};
  }
  static PartNames plus_times_i(const std::string& a, const std::string& b) {
    return {cat(a, "r - ", b, "i"), cat(a, "i + ", b, "r")};
  }
  static std::string let(const std::string& name, const PartNames& value) {
    return cat("let ", name, "r = ", value.re, ";\nlet ", name, "i = ", value.im, ";\n");
  }
  static std::string set(int k, const PartNames& value) { return let(cat("y", k), value); }
  std::string four() {
    return let("a", sum("x0", "x2")) + let("b", difference("x0", "x2")) + let("c", sum("x1", "x3")) +
           let("d", difference("x1", "x3")) + set(0, sum("a", "c")) + set(1, less_times_i("b", "d")) +
           set(2, difference("a", "c")) + set(3, plus_times_i("b", "d"));
  }
  std::string odd() {
    std::string text;
    PartNames all{"x0r", "x0i"};
    for (int j = 1; 2 * j < radix_; ++j) {
      const std::string a = cat("x", j), b = cat("x", radix_ - j);
      text += let(cat("s", j), sum(a, b)) + let(cat("d", j), difference(a, b));
      all.re += cat(" + s", j, "r"), all.im += cat(" + s", j, "i");
    }
    text += set(0, all);
    for (int k = 1; 2 * k < radix_; ++k) {
      PartNames even{"x0r", "x0i"}, crossed;
      for (int j = 1; 2 * j < radix_; ++j) {
        const double angle = 2 * std::numbers::pi * (j * k % radix_) / radix_;
        const std::string c = literal(l_, std::cos(angle)), s = literal(l_, std::sin(angle)), plus = j > 1 ? " + " : "";
        even.re += cat(" + ", c, " * s", j, "r"), even.im += cat(" + ", c, " * s", j, "i");
        crossed.re += cat(plus, s, " * d", j, "r"), crossed.im += cat(plus, s, " * d", j, "i");
      }
      const std::string e = cat("e", k), o = cat("o", k);
      text += let(e, even) + let(o, crossed) + set(k, less_times_i(e, o)) + set(radix_ - k, plus_times_i(e, o));
    }
    return text;
  }
  const Lines& l_;
  int radix_;
};

/// A pass by `radix` whose butterflies' results lie m·s apart, s the product of the radices before; `holes` are the
/// kernel's.
std::string pass_text(const Lines& l, Holes holes, int radix, std::int64_t m, std::int64_t s, int per) {
  const std::int64_t each = l.n / radix;
  holes["butterflies"] = u(per * each), holes["each"] = u(each), holes["order"] = cat(m * radix);
  holes["s"] = u(s), holes["s_radix"] = u(s * radix);
  holes["points"] = numbers(0, radix), holes["butterfly"] = ButterflyText(l, radix).text();
  holes["plain"] = numbers(0, m > 1 ? 1 : radix), holes["twiddled"] = numbers(1, m > 1 ? radix : 1);
  for (int k = 0; k < radix; ++k) {
    const int a = k / 2;
    holes[cat("from_", k)] = u(k * s * m), holes[cat("to_", k)] = u(k * s);
    holes[cat("root_", k)] = k == 1 ? "$first_root" : cat("$root_of(", k, ", ", a, ", ", k - a, ")");
  }
  return fill_holes("$pass\n", holes);
}

/// Whether lines, and not elements of a line, are neighbours in memory.
bool across(const LinePlan& plan, const View& v, int axis) {
  if (plan.lines.sizes.empty()) return false;
  const auto along = static_cast<std::size_t>(axis);
  for (const Access& a : plan.plan.accesses)
    if (a.view == &v) return a.actual[plan.lines.sizes.size() - 1] <= 2 && std::abs(v.strides[along]) > 2;
  return false;
}

std::string transform_text(const Text& t, int per, std::uint32_t threads) {
  const Lines& l = t.l;
  const Dialect& dialect = t.plan.backend.dialect();
  Io io(t.plan.plan, dialect);
  Holes holes = shared_holes(t, io);
  add_store(holes, t, io);
  const auto beside = [&](const View& v) { return per > 1 && across(t.plan, v, l.axis); };
  holes["places_read"] = beside(l.re) ? "$places(e, own, ${per}u)" : "$places(own, e, ${n}u)";
  holes["places_written"] = beside(l.out_re) ? "$places(e, own, ${per}u)" : "$places(own, e, $wanted)";
  holes["per"] = cat(per), holes["threads"] = cat(threads), holes["last"] = cat(l.n - 1);
  holes["barrier"] = dialect.barrier();
  holes["columns"] = cat(l.columns), holes["modulus"] = cat(l.modulus);
  holes["twiddled_before"] = l.modulus ? "$times_twiddle" : "";
  holes["from"] = "a_", holes["to"] = "b_";
  std::string passes;
  std::int64_t m = l.n, s = 1;
  for (const int radix : radices(l.n)) {
    m /= radix;
    passes += pass_text(l, holes, radix, m, s, per) + "$barrier\n";
    s *= radix, std::swap(holes["from"], holes["to"]);
  }
  holes["passes"] = passes, holes["results"] = holes["from"];
  const std::string type = type_of(l);
  const int count = static_cast<int>(per * l.n);
  return t.plan.module("fft", fill_holes(kTransform, holes),
                       {{type, "a_re", count}, {type, "a_im", count}, {type, "b_re", count}, {type, "b_im", count}},
                       functions_of(l, dialect, false));
}

/// Neighbours among invocations are those in memory: of a line, or lines `across`.
std::string map_text(const Text& t, bool across) {
  const Lines& l = t.l;
  const Dialect& dialect = t.plan.backend.dialect();
  Io io(t.plan.plan, dialect);
  Holes holes = shared_holes(t, io);
  holes["threads"] = cat(kMapThreads);
  holes["line_and_element"] = across ? "$places(e, line, $lines)" : "$places(line, e, $wanted)";
  holes["inside"] = across ? "e < $wanted" : "line < $lines";
  holes["chirp"] = cat(l.chirp), holes["last_of_chirp"] = cat(l.chirp - 1), holes["period"] = cat(2 * l.chirp);
  struct {
    const char *title, *piece;
  } const ways[] = {{"fft, elements", ""},
                    {"fft, elements times a chirp", "$times_chirp"},
                    {"fft, a chirp", "$chirp_alone"},
                    {"fft, elements times a chirp's transform", "$times_table"}};
  const auto& way = ways[static_cast<std::size_t>(l.factor)];
  holes["factor"] = way.piece;
  if (l.factor == Multiplier::kernel) {
    const Position at = t.plan.at(Names(t.plan.lines.sizes.size(), "0u"), "e");
    Names re, im;
    std::string& load = holes["load_table"] = io.load(t.table_re, at, re);
    load += io.load(t.table_im, at, im);
    holes["table_re"] = re[0], holes["table_im"] = im[0];
  }
  add_store(holes, t, io);
  return t.plan.module(way.title, fill_holes(kFftElements, holes), {}, functions_of(l, dialect, true));
}

/// Calls launch(text) of a plan over the views that there are.
template <class Launch> void with_plan(GpuBackend& backend, const Lines& l, char kind, const Launch& launch) {
  std::vector<const View*> views;
  std::vector<std::int64_t> lengths;
  const auto add = [&](const View& v, std::int64_t length) {
    if (!v.storage) return -1;
    views.push_back(&v), lengths.push_back(length);
    return static_cast<int>(views.size()) - 1;
  };
  const std::int64_t rows = l.kind == FftKind::to_real ? l.n / 2 + 1 : l.n;
  const int re = add(l.re, std::min(l.given, rows)), im = add(l.im, std::min(l.given, rows));
  const int table_re = add(l.table_re, l.n), table_im = add(l.table_im, l.n);
  const std::size_t written = views.size();
  const int out_re = add(l.out_re, l.wanted), out_im = add(l.out_im, l.wanted);
  LinePlan plan(backend, l.op, kind, l.space, l.axis, views, written, lengths);
  const auto note = [&](auto value) { plan.plan.note(static_cast<std::int64_t>(value)); };
  note(l.kind), note(l.n), note(l.modulus), note(l.columns), note(l.factor), note(l.chirp);
  note(l.conjugate_in + 2 * l.conjugate_out + 4 * (im >= 0) + 8 * (out_im >= 0));
  note(std::bit_cast<std::int64_t>(l.scale)), note(std::bit_cast<std::int64_t>(l.inner)), note(l.re.dtype);
  const int given = plan.plan.add_param(static_cast<std::uint64_t>(std::min(l.given, rows))),
            wanted = plan.plan.add_param(static_cast<std::uint64_t>(l.wanted));
  plan.plan.launch.in_bounds = true;  // with checks, WebGPU took up to 1.9 times as long (docs/tuning.md)
  launch(plan, Text{plan, l, given, wanted, re, im, out_re, out_im, table_re, table_im});
}

}  // namespace

std::int64_t most_elements(const GpuBackend& backend, DType dtype) {
  const std::int64_t room = backend.limits().shared_bytes / (4 * static_cast<std::int64_t>(dtype_size(dtype)));
  return std::min<std::int64_t>(static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(room))), 2048);
}

void transform_lines(GpuBackend& backend, const Lines& l) {
  with_plan(backend, l, 'F', [&](LinePlan& plan, const Text& text) {
    const std::int64_t few = std::min<std::int64_t>(most_elements(backend, l.re.dtype), 1024) / l.n;
    const int per = static_cast<int>(std::clamp<std::int64_t>(few, 1, 64));
    const auto quarter = std::bit_ceil(static_cast<std::uint64_t>(per * l.n / 4 + 1));
    const auto threads = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(quarter, 32, std::min<std::uint64_t>(256, backend.limits().threads)));
    plan.plan.note(across(plan, l.re, l.axis)), plan.plan.note(across(plan, l.out_re, l.axis));
    plan.launch(static_cast<std::uint64_t>(ceil_div(l.count(), per)), threads,
                [&] { return transform_text(text, per, threads); });
  });
}
void map_lines(GpuBackend& backend, const Lines& l) {
  with_plan(backend, l, 'M', [&](LinePlan& plan, const Text& text) {
    const bool lines_first = across(plan, l.out_re, l.axis);
    plan.plan.note(lines_first);
    plan.launch(static_cast<std::uint64_t>(ceil_div(l.count() * l.wanted, kMapThreads)), kMapThreads,
                [&] { return map_text(text, lines_first); });
  });
}

}  // namespace tern::detail_gpu::fft
