// A workgroup has one line in its memory, or several short ones, twice: a pass of Stockham's algorithm reads one copy
// and writes the other, in the order in which the next pass reads it.
//
//   global → ┌────────┐ radix 4 ┌────────┐ radix 4 ┌────────┐  …  → global
//            │ re, im │ ──────→ │ re, im │ ──────→ │ re, im │
//            └────────┘ barrier └────────┘ barrier └────────┘
//
// Roots of unity are computed where they are needed, from integers, to the last place or two: no tables to be read.
// Bound by memory, which is read once and written once.
#include "primitives/fft/gpu_text.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <numbers>

namespace tern::detail_gpu::fft {

namespace {

constexpr int kPrimes[] = {2, 3, 5, 7};
constexpr int kMapThreads = 256;

using Names = std::vector<std::string>;

const char* type_of(const Lines& l) { return l.re.dtype == DType::f64 ? "f64" : "f32"; }
std::string number(const Lines& l, double value) {
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
  for (const int prime : kPrimes)
    for (; n % prime == 0; n /= prime) list.push_back(prime);
  return list;
}

// ---- roots of unity ----

/// c₀ + x(c₁ + x(c₂ + …)) of Taylor's coefficients ±1/(first + 2k)!.
std::string series(const Lines& l, int first, int terms) {
  std::string text;
  for (int k = terms; k-- > 0;) {
    double factorial = 1;
    for (int i = 2; i <= first + 2 * k; ++i) factorial *= i;
    const std::string c = number(l, (k % 2 ? -1 : 1) / factorial);
    text = text.empty() ? c : cat("(", c, " + x * ", text, ")");
  }
  return text;
}
/// turn(a, n) = e^(-2πi·a/n) by the sine and cosine of an eighth of the circle; n < 2^28.
std::string turn_function(const Lines& l, const Dialect& dialect) {
  const std::string type = type_of(l);
  const int terms = l.re.dtype == DType::f64 ? 10 : 6;
  return cat(dialect.structure("Turn", {{type, "re"}, {type, "im"}}),
             dialect.pure_function_head("turn", {{"u32", "a"}, {"u32", "n"}}, "Turn"),
             "  var at = 8u * a;\n"
             "  let lower = at > 4u * n;\n"
             "  if (lower) { at = 8u * n - at; }\n"
             "  let left = at > 2u * n;\n"
             "  if (left) { at = 4u * n - at; }\n"
             "  let steep = at > n;\n"
             "  if (steep) { at = 2u * n - at; }\n"
             "  let angle = ",
             type, "(at) * ", number(l, std::numbers::pi / 4), " / ", type,
             "(n);\n  let x = angle * angle;\n  let s = angle * ", series(l, 1, terms),
             ";\n  let c = ", series(l, 0, terms + 1),
             ";\n  var re = select(c, s, steep);\n  var im = select(s, c, steep);\n"
             "  if (left) { re = -re; }\n  if (!lower) { im = -im; }\n  return ",
             dialect.construct("Turn", {"re", "im"}), ";\n}\n");
}
/// square(a, n) = a² mod n, a < n < 2^29, which has no room in 32 bits.
std::string square_function(const Dialect& dialect) {
  return cat(dialect.pure_function_head("square", {{"u32", "a"}, {"u32", "n"}}, "u32"),
             "  var r = 0u;\n"
             "  for (var k = 0u; k < 29u; k += 1u) {\n"
             "    r = r + r;\n"
             "    if (r >= n) { r -= n; }\n"
             "    if (((a >> (28u - k)) & 1u) == 1u) { r += a; }\n"
             "    if (r >= n) { r -= n; }\n"
             "  }\n"
             "  return r;\n}\n");
}
/// re, im become their product with (w.re, w.im).
std::string times_root(const char* root) {
  return cat("let w = ", root, ";\nlet turned = re * w.re - im * w.im;\nim = re * w.im + im * w.re;\nre = turned;\n");
}

// ---- memory ----

/// What a kernel's text needs to know.
struct Text {
  const LinePlan& plan;
  const Lines& l;
  int given_slot, wanted_slot;
  int re = 0, im = -1, out_re = -1, out_im = -1, table_re = -1, table_im = -1;
};

/// Statements that set re and im to element e of `line`.
std::string loaded(const Text& t, Io& io) {
  const Lines& l = t.l;
  const std::string zero = number(l, 0);
  std::string text = cat("var re = ", zero, ";\nvar im = ", zero, ";\n");
  std::string row = "e", load;
  if (l.kind == FftKind::to_real) {
    text += cat("let mirrored = e > ", u(l.n / 2), ";\nlet row = select(e, ", u(l.n), " - e, mirrored);\n"),
        row = "row";
  }
  Names line, values;
  load += io.coordinates(t.plan.lines, "line", "c", line);
  load += io.load(t.re, t.plan.at(line, row), values);
  load += cat("re = ", values[0], ";\n");
  if (t.im >= 0) {
    values.clear(), load += io.load(t.im, t.plan.at(line, row), values);
    load += cat("im = ", values[0], ";\n");
  }
  if (l.kind == FftKind::to_real) {
    load += "if (mirrored) { im = -im; }\n";
    const std::string own = cat("row == 0u || row * 2u == ", u(l.n));
    load += cat("if (", own, ") { im = ", zero, "; }");
    if (l.inner != 1) load += cat(" else {\n  re *= ", number(l, l.inner), ";\n  im *= ", number(l, l.inner), ";\n}");
    load += "\n";
  }
  if (l.conjugate_in) load += "im = -im;\n";
  text += cat("if (line < ", t.plan.p(t.plan.lines_slot), " && e < ", u(l.n), " && ", row, " < ",
              t.plan.p(t.given_slot), ") {\n", indented(load), "}\n");
  return text;
}
/// Statements that store re and im as element e of `line`, which is inside.
std::string stored(const Text& t, Io& io) {
  const Lines& l = t.l;
  std::string text, scale = number(l, l.scale);
  const std::int64_t rows = l.kind == FftKind::from_real ? l.n / 2 + 1 : l.n;
  if (l.conjugate_out) text += "im = -im;\n";
  if (l.scale != 1) text += cat("re *= ", scale, ";\nim *= ", scale, ";\n");
  if (l.kind == FftKind::from_real && l.inner != 1)
    text += cat("if (e > 0u && e * 2u != ", u(l.n), ") {\n  re *= ", number(l, l.inner),
                ";\n  im *= ", number(l, l.inner), ";\n}\n");
  text += cat("if (e >= ", u(rows), ") {\n  re = ", number(l, 0), ";\n  im = ", number(l, 0), ";\n}\n");
  Names line;
  text += io.coordinates(t.plan.lines, "line", "d", line);
  text += io.store(t.out_re, t.plan.at(line, "e"), {"re"}, "");
  if (t.out_im >= 0) text += io.store(t.out_im, t.plan.at(line, "e"), {"im"}, "");
  return text;
}

// ---- passes ----

struct Pair {
  std::string re, im;
};
/// A butterfly's lines: names y0r, y0i, … of the transforms of x0r, x0i, …
class Butterfly {
 public:
  Butterfly(const Lines& l, int radix) : l_(l), radix_(radix) {}
  std::string text() {
    if (radix_ == 2) return set(0, sum("x0", "x1")) + set(1, difference("x0", "x1"));
    return radix_ == 4 ? four() : odd();
  }

 private:
  static Pair sum(const std::string& a, const std::string& b) {
    return {cat(a, "r + ", b, "r"), cat(a, "i + ", b, "i")};
  }
  static Pair difference(const std::string& a, const std::string& b) {
    return {cat(a, "r - ", b, "r"), cat(a, "i - ", b, "i")};
  }
  /// a - i·b and a + i·b.
  static Pair less_turned(const std::string& a, const std::string& b) {
    return {cat(a, "r + ", b, "i"), cat(a, "i - ", b, "r")};
  }
  static Pair plus_turned(const std::string& a, const std::string& b) {
    return {cat(a, "r - ", b, "i"), cat(a, "i + ", b, "r")};
  }
  static std::string let(const std::string& name, const Pair& value) {
    return cat("let ", name, "r = ", value.re, ";\nlet ", name, "i = ", value.im, ";\n");
  }
  static std::string set(int k, const Pair& value) { return let(cat("y", k), value); }
  std::string four() {
    return let("a", sum("x0", "x2")) + let("b", difference("x0", "x2")) + let("c", sum("x1", "x3")) +
           let("d", difference("x1", "x3")) + set(0, sum("a", "c")) + set(1, less_turned("b", "d")) +
           set(2, difference("a", "c")) + set(3, plus_turned("b", "d"));
  }
  std::string odd() {
    std::string text;
    Pair all{"x0r", "x0i"};
    for (int j = 1; 2 * j < radix_; ++j) {
      const std::string a = cat("x", j), b = cat("x", radix_ - j);
      text += let(cat("s", j), sum(a, b)) + let(cat("d", j), difference(a, b));
      all.re += cat(" + s", j, "r"), all.im += cat(" + s", j, "i");
    }
    text += set(0, all);
    for (int k = 1; 2 * k < radix_; ++k) {
      Pair even{"x0r", "x0i"}, turned;
      for (int j = 1; 2 * j < radix_; ++j) {
        const double angle = 2 * std::numbers::pi * (j * k % radix_) / radix_;
        const std::string c = number(l_, std::cos(angle)), s = number(l_, std::sin(angle)), plus = j > 1 ? " + " : "";
        even.re += cat(" + ", c, " * s", j, "r"), even.im += cat(" + ", c, " * s", j, "i");
        turned.re += cat(plus, s, " * d", j, "r"), turned.im += cat(plus, s, " * d", j, "i");
      }
      const std::string e = cat("e", k), o = cat("o", k);
      text += let(e, even) + let(o, turned) + set(k, less_turned(e, o)) + set(radix_ - k, plus_turned(e, o));
    }
    return text;
  }
  const Lines& l_;
  int radix_;
};

std::string pass_text(const Lines& l, int radix, std::int64_t m, std::int64_t s, int per, std::uint32_t threads,
                      const char* from, const char* to) {
  const std::int64_t each = l.n / radix;
  std::string text = cat("let own = b / ", u(each), ";\nlet i = b - own * ", u(each), ";\nlet p = i / ", u(s),
                         ";\nlet q = i - p * ", u(s), ";\nlet read = own * ", u(l.n), " + q + ", u(s),
                         " * p;\nlet write = own * ", u(l.n), " + q + ", u(s * radix), " * p;\n");
  for (int j = 0; j < radix; ++j)
    text += cat("let x", j, "r = ", from, "re[read + ", u(j * s * m), "];\nlet x", j, "i = ", from, "im[read + ",
                u(j * s * m), "];\n");
  text += Butterfly(l, radix).text();
  for (int k = 0; k < radix; ++k) {
    const std::string at = cat("[write + ", u(k * s), "]");
    if (k > 0 && m > 1) {
      if (k == 1) text += cat("let w1 = turn(p, ", u(m * radix), ");\nlet w1r = w1.re;\nlet w1i = w1.im;\n");
      else {
        const int a = k / 2, b = k - a;  // few roundings
        text += cat("let w", k, "r = w", a, "r * w", b, "r - w", a, "i * w", b, "i;\nlet w", k, "i = w", a, "r * w", b,
                    "i + w", a, "i * w", b, "r;\n");
      }
      text += cat(to, "re", at, " = y", k, "r * w", k, "r - y", k, "i * w", k, "i;\n", to, "im", at, " = y", k, "r * w",
                  k, "i + y", k, "i * w", k, "r;\n");
    } else {
      text += cat(to, "re", at, " = y", k, "r;\n", to, "im", at, " = y", k, "i;\n");
    }
  }
  return cat("for (var b = thread; b < ", u(per * each), "; b += ", u(threads), ") {\n", indented(text), "}\n");
}

/// A loop over the elements of a workgroup's lines: `inside` sees own, the line's number here, line and e.
std::string over_elements(std::int64_t count, const std::string& length, int per, std::uint32_t threads, bool across,
                          const std::string& inside) {
  const std::string places = across ? cat("let e = b / ", u(per), ";\nlet own = b - e * ", u(per), ";\n")
                                    : cat("let own = b / ", length, ";\nlet e = b - own * ", length, ";\n");
  (void)count;
  return cat("for (var b = thread; b < ", u(per), " * ", length, "; b += ", u(threads), ") {\n",
             indented(cat(places, "let line = group * ", u(per), " + own;\n", inside)), "}\n");
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
  std::string load = loaded(t, io);
  if (l.modulus) load += times_root(cat("turn((line % ", u(l.columns), ") * e, ", u(l.modulus), ")").c_str());
  load += cat("let at = own * ", u(l.n), " + e;\na_re[at] = re;\na_im[at] = im;\n");
  std::string body = over_elements(l.n, u(l.n), per, threads, per > 1 && across(t.plan, l.re, l.axis), load) +
                     dialect.barrier() + "\n";
  std::int64_t m = l.n, s = 1;
  const char *from = "a_", *to = "b_";
  for (const int radix : radices(l.n)) {
    m /= radix;
    body += pass_text(l, radix, m, s, per, threads, from, to) + dialect.barrier() + "\n";
    s *= radix, std::swap(from, to);
  }
  const std::string store = cat("if (line < ", t.plan.p(t.plan.lines_slot), ") {\n",
                                indented(cat("let at = own * ", u(l.n), " + min(e, ", u(l.n - 1), ");\nvar re = ", from,
                                             "re[at];\nvar im = ", from, "im[at];\n", stored(t, io))),
                                "}\n");
  body += over_elements(l.wanted, t.plan.p(t.wanted_slot), per, threads, per > 1 && across(t.plan, l.out_re, l.axis),
                        store);
  const std::string type = type_of(l);
  const int count = static_cast<int>(per * l.n);
  return t.plan.module("fft", body,
                       {{type, "a_re", count}, {type, "a_im", count}, {type, "b_re", count}, {type, "b_im", count}},
                       turn_function(l, dialect));
}

/// Neighbours among invocations are those in memory: of a line, or lines `across`.
std::string map_text(const Text& t, bool across) {
  const Lines& l = t.l;
  const Dialect& dialect = t.plan.backend.dialect();
  Io io(t.plan.plan, dialect);
  std::string text = loaded(t, io);
  if (l.factor == Multiplier::chirp) {
    text += times_root(
        cat("turn(square(min(e, ", u(l.chirp - 1), "), ", u(2 * l.chirp), "), ", u(2 * l.chirp), ")").c_str());
  } else if (l.factor == Multiplier::chirp_alone) {  // the conjugate one, around 0
    text += cat("let far = min(e, ", u(l.n), " - e);\nif (far < ", u(l.chirp), ") {\n  let w = turn(square(far, ",
                u(2 * l.chirp), "), ", u(2 * l.chirp), ");\n  re = w.re;\n  im = -w.im;\n}\n");
  } else if (l.factor == Multiplier::kernel) {
    Names values, none;
    std::string load = io.load(t.table_re, t.plan.at(Names(t.plan.lines.sizes.size(), "0u"), "e"), values);
    const std::string re = values[0];
    load += io.load(t.table_im, t.plan.at(Names(t.plan.lines.sizes.size(), "0u"), "e"), none);
    text += cat("if (e < ", u(l.n), ") {\n",
                indented(cat(load, "let turned = re * ", re, " - im * ", none[0], ";\nim = re * ", none[0], " + im * ",
                             re, ";\nre = turned;\n")),
                "}\n");
  }
  text += stored(t, io);
  const std::string length = t.plan.p(t.wanted_slot), lines = t.plan.p(t.plan.lines_slot);
  const std::string places = across ? cat("let e = b / ", lines, ";\nlet line = b - e * ", lines, ";\n")
                                    : cat("let line = b / ", length, ";\nlet e = b - line * ", length, ";\n");
  return t.plan.module("fft, elements",
                       cat("let b = group * ", kMapThreads, " + thread;\n", places, "if (",
                           across ? cat("e < ", length) : cat("line < ", lines), ") {\n", indented(text), "}\n"),
                       {}, turn_function(l, dialect) + square_function(dialect));
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
  launch(plan, Text{plan, l, given, wanted, re, im, out_re, out_im, table_re, table_im});
}

}  // namespace

std::int64_t most_elements(const GpuBackend& backend, DType dtype) {
  const std::int64_t room = backend.limits().shared_bytes / (4 * static_cast<std::int64_t>(dtype_size(dtype)));
  return std::min<std::int64_t>(static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(room))), 2048);
}
bool has_small_factors(std::int64_t n) {
  for (const int prime : kPrimes)
    while (n % prime == 0) n /= prime;
  return n == 1;
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
