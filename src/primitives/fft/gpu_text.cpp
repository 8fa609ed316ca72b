// Fills the holes of fft.wgsl, which transforms lines, and of fft_elements.wgsl, which changes elements and where they
// lie. Butterflies alone are printed here, for their radix.
//
// (Longer than other files: both kernels load and store by the same pieces, whose holes one set of functions fills.)
#include "primitives/fft/gpu_text.hpp"

#include <algorithm>
#include <bit>
#include <numbers>

#include "primitives/fft/butterfly_text.hpp"

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
constexpr std::int64_t kLongestTransform = 4096;  // of a line of one launch
/// Elements of a workgroup's lines: many, so that lines beside each other are read and written in long pieces, but few
/// where workgroups would be few.
constexpr std::int64_t kMostOfGroup = 4096, kFewOfGroup = 1024, kFewestGroups = 256;
constexpr std::int64_t kElementsOfInvocation = 16;
constexpr int kMostLinesOfGroup = 64;

using Names = std::vector<std::string>;

const char* type_of(const Lines& l) { return l.re.dtype == DType::f64 ? "f64" : "f32"; }
std::string number(const Lines& l, double value) { return constant_text(type_of(l), value); }
std::string u(std::int64_t value) { return cat(value, "u"); }

/// As few powers of two, of up to most_bits bits, as there can be, and as alike as they can be; of other primes each,
/// but 3 in twos.
std::vector<int> radices(std::int64_t n, int most_bits) {
  std::vector<int> list;
  int bits = 0;
  for (; n % 2 == 0; n /= 2) ++bits;
  for (int left = (bits + most_bits - 1) / most_bits; left > 0; --left) {
    const int now = (bits + left - 1) / left;
    list.push_back(1 << now), bits -= now;
  }
  for (; n % 9 == 0; n /= 9) list.push_back(9);
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
    const std::string c = number(l, (k % 2 ? -1 : 1) / factorial);
    text = text.empty() ? c : cat("(", c, " + x * ", text, ")");
  }
  return text;
}
/// The functions twiddle and, where there is a chirp, square and what that calls.
std::string functions_of(const Lines& l, const Dialect& dialect, bool square) {
  const std::string type = type_of(l);
  const int terms = l.re.dtype == DType::f64 ? 10 : 6;
  Holes holes = pieces_of_file();
  holes["type"] = type;
  holes["sine"] = series(l, 1, terms), holes["cosine"] = series(l, 0, terms + 1);
  holes["twiddle_of_re_im"] = dialect.construct("Twiddle", {"re", "im"});
  const auto function = [&](const char* name, const std::vector<TypedName>& parameters, const std::string& result) {
    return cat(dialect.pure_function_head(name, parameters, result),
               indented(fill_holes(cat("$", name, "\n"), holes)), "}\n");
  };
  return cat(dialect.structure("Twiddle", {{type, "re"}, {type, "im"}}),
             function("twiddle", {{"u32", "a"}, {"u32", "n"}, {type, "step"}}, "Twiddle"),
             square ? function("times_mod", {{"u32", "a"}, {"u32", "b"}, {"u32", "n"}, {"f32", "over_n"}}, "u32") +
                          function("square", {{"u32", "a"}, {"u32", "n"}, {"f32", "over_n"}}, "u32")
                    : std::string());
}

/// The argument `step` of twiddle for the roots of n.
std::string step_of(const Lines& l, std::int64_t n) {
  return n == 0 ? "" : number(l, std::numbers::pi / 4 / static_cast<double>(n));
}

// ---- memory ----

/// What a kernel's text needs to know.
struct Text {
  const LinePlan& plan;
  const Lines& l;
  int given_slot, wanted_slot;  // parameters
  int re = 0, im = -1, mirror_re = -1, mirror_im = -1, out_re = -1, out_im = -1, table_re = -1, table_im = -1;
  std::vector<int> behind = {};  // parameters, of each axis: lines from one of its places to the next
  bool all_given = false, all_wanted = false;  // of a transform's lines
};

/// The coordinate of `line` along one of the other axes.
std::string coordinate(const Text& t, int axis) {
  std::int64_t before = 1;
  for (int a = 0; a < axis; ++a) before *= a == t.l.axis ? 1 : t.l.space[static_cast<std::size_t>(a)];
  std::string text = "line";
  if (t.l.count_behind(axis) > 1) text += cat(" / ", t.plan.p(t.behind[static_cast<std::size_t>(axis)]));
  if (before > 1) text += cat(" % ", u(t.l.space[static_cast<std::size_t>(axis)]));
  return cat("(", text, ")");
}
std::string number_of(const Text& t, const Numbering& numbers) {
  std::string text = cat("e * ", u(numbers.each));
  for (const Numbering::Weighted& part : numbers.parts)
    text += cat(" + ", coordinate(t, part.axis), " * ", u(part.weight));
  return text;
}

std::string where(bool is, const char* piece) { return is ? std::string(piece) : std::string(); }

/// What $load has.
void add_load(Holes& holes, const Text& t, Io& io) {
  const Lines& l = t.l;
  const bool joined = l.halves == Halves::joined, separated = t.mirror_re >= 0 && !joined;
  const bool mirrors = l.kind == FftKind::to_real && !joined, inner = l.kind == FftKind::to_real && l.inner != 1;
  holes["load"] = joined ? "$load_joined" : separated ? "$load_separated" : "$load_element";
  holes["k_in"] = l.from.plain() ? "e" : "k", holes["number_in"] = number_of(t, l.from);
  const bool counts = joined || !t.all_given || l.factor != Multiplier::none;
  holes["if_numbered_in"] = where(counts && !l.from.plain(), "$numbered_in");
  holes["given"] = t.plan.p(t.given_slot), holes["whole"] = cat(l.whole_in());
  holes["row"] = mirrors ? "row" : holes["k_in"], holes["mirror"] = where(mirrors, "$mirrored_row");
  holes["mirrored_part"] = where(mirrors, "$conjugated_image");
  holes["with_image"] = where(inner, joined ? "$both_times_inner" : "$others_times_inner");
  holes["conjugated_in"] = where(l.conjugate_in, "$conjugated");
  holes["conjugated_other"] = where(l.conjugate_in, "$other_conjugated");
  holes["if_given"] = where(!t.all_given, joined ? "$where_joined_given" : "$where_given");
  holes["if_mirror_given"] = where(!t.all_given, "$where_mirror_given");
  holes["end_if_given"] = where(!t.all_given, "$end_of_if");
  const bool reaches_on = joined && l.from.covered > l.whole_in() / 2;
  holes["k_of_half"] = reaches_on ? cat("min(", holes["k_in"], ", ", u(l.whole_in() / 2), ")") : holes["k_in"];
  Names line;
  holes["coordinates"] = io.coordinates(t.plan.lines, "line", "c", line);
  const auto load = [&](int access, const char* at, const char* to) {
    if (access < 0) return std::string();
    Names values;
    const std::string lines = io.load(access, t.plan.at(line, at), values);
    return cat(lines, to, " = ", values[0], ";\n");
  };
  const char* const row = mirrors || separated ? "row" : "e";
  const char* const mirror = separated ? "mirrored" : "e";
  holes["load_re"] = load(t.re, row, "re"), holes["load_im"] = load(t.im, row, "im");
  holes["load_mirror_re"] = load(t.mirror_re, mirror, "other_re");
  holes["load_mirror_im"] = load(t.mirror_im, mirror, "other_im");
}
/// What $factor has, and what multiplies on the way out.
void add_factors(Holes& holes, const Text& t, Io& io) {
  const Lines& l = t.l;
  holes["chirp"] = cat(l.chirp), holes["last_of_chirp"] = cat(l.chirp - 1), holes["period"] = cat(2 * l.chirp);
  holes["step_of_period"] = step_of(l, 2 * l.chirp);
  if (l.chirp) holes["over_period"] = constant_text("f32", 0.5 / static_cast<double>(l.chirp));
  constexpr const char* kPieces[] = {"", "$times_chirp", "$chirp_alone", "$times_table"};
  holes["factor"] = kPieces[static_cast<std::size_t>(l.factor)];
  holes["chirped"] = where(l.chirped, "$conjugated_times_chirp");
  if (l.factor != Multiplier::kernel) return;
  const Position at = t.plan.at(Names(t.plan.lines.sizes.size(), "0u"), holes["k_in"]);
  Names re, im;
  std::string& load = holes["load_table"] = io.load(t.table_re, at, re);
  load += io.load(t.table_im, at, im);
  holes["table_re"] = re[0], holes["table_im"] = im[0];
}
/// What $store has; after what is loaded, as names are numbered as they come.
void add_store(Holes& holes, const Text& t, Io& io) {
  const Lines& l = t.l;
  const bool has_inner = l.kind == FftKind::from_real && l.inner != 1, cut = l.wanted > l.rows_out();
  holes["k_out"] = l.to.plain() ? "e" : "k", holes["number_out"] = number_of(t, l.to);
  holes["if_numbered_out"] = where(!l.to.plain() && (l.chirped || has_inner || cut), "$numbered_out");
  holes["wanted"] = t.plan.p(t.wanted_slot), holes["whole_out"] = cat(l.whole_out());
  holes["rows"] = cat(l.rows_out()), holes["conjugated_out"] = where(l.conjugate_out, "$conjugated");
  holes["scaled"] = where(l.scale != 1, "$times_number($scale)");
  holes["inner_ones"] = where(has_inner, "$halves_times_inner");
  holes["cut"] = where(cut, "$zeros_behind");
  Names line;
  holes["coordinates_out"] = io.coordinates(t.plan.lines, "line", "d", line);
  holes["store_re"] = io.store(t.out_re, t.plan.at(line, "e"), {"re"}, "");
  holes["store_im"] = t.out_im < 0 ? std::string() : io.store(t.out_im, t.plan.at(line, "e"), {"im"}, "");
}
/// What both files have.
Holes shared_holes(const Text& t, Io& io) {
  const Lines& l = t.l;
  const std::int64_t whole = l.halves == Halves::separated ? l.whole_out() : l.whole_in();
  Holes holes = pieces_of_file();
  holes["zero"] = number(l, 0), holes["n"] = cat(l.n), holes["half"] = cat(whole / 2);
  holes["whole_of_halves"] = cat(whole), holes["step_of_halves"] = step_of(l, whole);
  holes["inner"] = number(l, l.inner), holes["scale"] = number(l, l.scale);
  holes["lines"] = t.plan.p(t.plan.lines_slot);
  add_load(holes, t, io), add_factors(holes, t, io), add_store(holes, t, io);
  return holes;
}

// ---- passes ----

/// From one line to the next in a workgroup's memory, with a gap after each 16 elements and one after the line.
constexpr std::int64_t pitch_of(std::int64_t n) { return n + n / 16 + 1; }

/// Elements that a workgroup's memory has room for.
std::int64_t room_of(const GpuBackend& backend, DType dtype) {
  return backend.limits().shared_bytes / (2 * static_cast<std::int64_t>(dtype_size(dtype)));
}

/// How a workgroup has its lines.
struct LinesOfGroup {
  int per;  // lines
  std::uint32_t threads;
  bool across_in, across_out;
};

/// One pass of a transform: by `radix`, butterflies' results lie s apart, the product of the radices before; m is n
/// over s · radix. Elements come from the lines themselves, or from the workgroup's memory, and go there.
struct TransformPass {
  int radix;
  std::int64_t m, s;
  bool from_lines, to_lines;
};

std::string pass_text(const Lines& l, Holes holes, const TransformPass& pass, const LinesOfGroup& group) {
  const std::int64_t each = l.n / pass.radix, all = group.per * each;
  const int turns = static_cast<int>(ceil_div(all, group.threads));
  const bool across = pass.from_lines ? group.across_in : pass.to_lines && group.across_out;
  const std::int64_t order = pass.m * pass.radix;
  holes["each"] = u(each), holes["radix"] = u(pass.radix);
  holes["order"] = cat(order), holes["step_of_order"] = step_of(l, order);
  holes["s"] = u(pass.s), holes["s_radix"] = u(pass.s * pass.radix), holes["turns"] = numbers(0, turns);
  holes["barrier_between"] = pass.from_lines || pass.to_lines ? "" : "$barrier";
  for (int c = 0; c < turns; ++c) {
    const std::int64_t skipped = static_cast<std::int64_t>(c) * group.threads, left = all - skipped;
    const bool full = left >= group.threads;
    const std::string number = c == 0 ? "thread" : cat("thread + ", skipped, "u");
    holes[cat("number_", c)] = full ? number : cat("min(", number, ", ", all - 1, "u)");
    holes[cat("if_there_", c)] = full ? "" : cat("$if_there(", left, "u)");
    holes[cat("end_if_", c)] = full ? "" : "$end_of_if";
    holes[cat("whose_", c)] = cat(across ? "$across(" : "$along(", c, ")");
    const char* const where = pass.m == 1 ? "$place_of_last(" : pass.s == 1 ? "$place_of_first(" : "$place_between(";
    holes[cat("where_", c)] = cat(where, c, ")");
    const int first = c * pass.radix;
    holes[cat("elements_", c)] = numbers(first, first + pass.radix);
    holes[cat("butterfly_", c)] = butterfly_text(pass.radix, first, type_of(l));
    for (int k = 0; k < pass.radix; ++k) {
      const int g = first + k, a = first + k / 2, b = first + k - k / 2;
      const auto piece = [&](const char* name, std::int64_t step) {
        return cat("$", name, "(", g, ", ", c, ", ", u(k * step), ")");
      };
      holes[cat("x_", g)] = piece(pass.from_lines ? "fetched" : "taken", pass.s * pass.m);
      holes[cat("y_", g)] = piece(pass.to_lines ? "stored" : pass.m > 1 && k > 0 ? "put_twiddled" : "put", pass.s);
      holes[cat("root_", g)] = pass.m == 1 || k == 0 ? ""
                               : k == 1              ? cat("$first_root(", g, ", ", c, ")")
                                                     : cat("$root_of(", g, ", ", a, ", ", b, ")");
    }
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

/// Neighbours of a line that invocations beside each other must have at least, or they go through the workgroup's
/// memory: 64 bytes of c64.
constexpr std::int64_t kFewestNeighbours = 8;

std::string transform_text(const Text& t, const LinesOfGroup& group) {
  const Lines& l = t.l;
  const Dialect& dialect = t.plan.backend.dialect();
  Io io(t.plan.plan, dialect);
  Holes holes = shared_holes(t, io);
  const std::int64_t pitch = pitch_of(l.n);
  holes["per"] = cat(group.per), holes["threads"] = cat(group.threads), holes["barrier"] = dialect.barrier();
  holes["place"] = cat("${0} * ", pitch, "u + ${1} + (${1} >> 4u)");
  holes["column"] = l.modulus ? coordinate(t, l.columns) : "";
  holes["modulus"] = cat(l.modulus), holes["step_of_modulus"] = step_of(l, l.modulus);
  // Branches around loads keep them from being on their way together.
  holes["line"] = cat(t.all_given ? "min(" : "", "group * ${per}u + ${0}", t.all_given ? ", $lines - 1u)" : "");
  const std::string number = l.to.plain() ? "e" : "$number_out";
  holes["is_wanted"] = cat("line < $lines", t.all_wanted ? "" : cat(" && ", number, " < $wanted"));
  holes["twiddled_before"] = l.modulus ? "$times_twiddle" : "";
  const std::vector<int> list = radices(l.n, l.re.dtype == DType::f64 ? 3 : 4);  // registers for as many elements
  const bool gathered = list.empty() || (!group.across_in && l.n / list.front() < kFewestNeighbours);
  const bool separated = l.halves == Halves::separated, plain = l.to.plain(), zeros = plain && l.wanted > l.n;
  const bool scattered =
      list.empty() || (!group.across_out && l.n / list.back() < kFewestNeighbours) || separated || zeros;
  holes["gathered_first"] = where(gathered, "$gathered");
  holes["scattered_last"] = separated ? "$separated" : where(scattered, "$scattered");
  holes["results"] = plain ? "$wanted" : "${n}u", holes["is_result"] = plain ? "line < $lines" : "$is_wanted";
  holes["kept"] = zeros ? cat("min(e, ", l.n - 1, "u)") : "e";
  holes["pairs"] = u(l.n / 2 + 1);
  holes["own_and_k"] = group.across_out ? "$places(k, own, ${per}u)" : "$places(own, k, $pairs)";
  std::string passes;
  TransformPass pass{0, l.n, 1, false, false};
  for (std::size_t i = 0; i < list.size(); ++i) {
    pass.radix = list[i], pass.m /= pass.radix;
    pass.from_lines = i == 0 && !gathered, pass.to_lines = i + 1 == list.size() && !scattered;
    passes += pass_text(l, holes, pass, group);
    if (!pass.to_lines) passes += "$barrier\n";
    pass.s *= pass.radix;
  }
  holes["passes"] = passes;
  std::vector<Shared> arrays;
  if (gathered || scattered || list.size() > 1)
    for (const char* const name : {"line_re", "line_im"})
      arrays.push_back({type_of(l), name, static_cast<int>(group.per * pitch)});
  return t.plan.module("fft", fill_holes(kTransform, holes), arrays, functions_of(l, dialect, l.chirp > 0));
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
  return t.plan.module("fft, elements", fill_holes(kFftElements, holes), {}, functions_of(l, dialect, false));
}

/// Writes to the key what the text depends on.
void note_request(Plan& plan, const Lines& l) {
  const auto note = [&](auto value) { plan.note(static_cast<std::int64_t>(value)); };
  note(l.kind), note(l.n), note(l.modulus), note(l.columns), note(l.factor), note(l.chirp), note(l.halves);
  note(l.conjugate_in + 2 * l.conjugate_out + 4 * static_cast<bool>(l.im.storage) +
       8 * static_cast<bool>(l.out_im.storage) + 16 * l.chirped + 32 * static_cast<bool>(l.mirror_re.storage));
  note(std::bit_cast<std::int64_t>(l.scale)), note(std::bit_cast<std::int64_t>(l.inner)), note(l.re.dtype);
  for (const Numbering* const numbers : {&l.from, &l.to}) {
    note(numbers->each), note(numbers->whole), note(numbers->parts.size());
    for (const Numbering::Weighted& part : numbers->parts) note(part.axis), note(part.weight);
  }
  note(l.wanted > l.rows_out()), note(l.to.plain() && l.wanted > l.n);
  if (l.modulus == 0 && l.from.plain() && l.to.plain()) return;
  note(l.axis);
  std::uint32_t alone = 0, last = 0;  // axes with one place, and those with none behind them
  for (int a = 0; a < l.space.rank(); ++a) {
    alone |= (l.space[static_cast<std::size_t>(a)] == 1 ? 1u : 0u) << a;
    last |= (l.count_behind(a) == 1 ? 1u : 0u) << a;
  }
  note(alone), note(last);
  const auto note_size = [&](int axis) { note(l.space[static_cast<std::size_t>(axis)]); };
  if (l.modulus) note_size(l.columns);
  for (const Numbering* const numbers : {&l.from, &l.to})
    for (const Numbering::Weighted& part : numbers->parts) note_size(part.axis);
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
  const std::int64_t rows = l.rows_in(), half = l.whole_in() / 2, covered = l.from.covered ? l.from.covered : l.n;
  const std::int64_t given = l.from.plain() ? std::min(l.given, rows) : l.n;
  const std::int64_t mirrored = l.from.plain() ? half + 1 : l.n;
  const int re = add(l.re, given), im = add(l.im, given);
  const int mirror_re = add(l.mirror_re, mirrored), mirror_im = add(l.mirror_im, mirrored);
  const int table_re = add(l.table_re, covered), table_im = add(l.table_im, covered);
  const std::size_t written = views.size();
  const int out_re = add(l.out_re, l.wanted), out_im = add(l.out_im, l.wanted);
  LinePlan plan(backend, l.op, kind, l.space, l.axis, views, written, lengths);
  const auto param = [&](std::int64_t value) { return plan.plan.add_param(static_cast<std::uint64_t>(value)); };
  note_request(plan.plan, l);
  Text text{plan, l, param(std::min(l.given, rows)), param(l.wanted), re, im, mirror_re, mirror_im, out_re, out_im,
            table_re, table_im};
  const bool numbered = l.modulus || !l.from.plain() || !l.to.plain();
  for (int a = 0; numbered && a < l.space.rank(); ++a) text.behind.push_back(param(l.count_behind(a)));
  plan.plan.launch.in_bounds = true;  // with checks, WebGPU took up to 1.9 times as long (docs/tuning.md)
  launch(plan, text);
}

}  // namespace

std::int64_t most_elements(const GpuBackend& backend, DType dtype) {
  std::int64_t n = kLongestTransform;
  while (n > 1 && pitch_of(n) > room_of(backend, dtype)) n /= 2;
  return n;
}

void transform_lines(GpuBackend& backend, const Lines& l) {
  with_plan(backend, l, 'F', [&](LinePlan& plan, Text text) {
    const std::int64_t in = l.from.covered ? l.from.covered : l.n, out = l.to.covered ? l.to.covered : l.n;
    const bool whole = l.halves == Halves::joined ? l.whole_in() / 2 >= in : l.whole_in() >= in;
    text.all_given = l.given >= l.rows_in() && whole, text.all_wanted = l.wanted >= out;
    plan.plan.note(text.all_given), plan.plan.note(text.all_wanted);
    const bool few = l.count() * l.n < kFewestGroups * kMostOfGroup;
    const std::int64_t elements = few ? kFewOfGroup : kMostOfGroup, room = room_of(backend, l.re.dtype);
    LinesOfGroup group{1, 0, across(plan, l.re, l.axis), across(plan, l.out_re, l.axis)};
    const auto fits = [&](std::int64_t lines) { return lines * l.n <= elements && lines * pitch_of(l.n) <= room; };
    while (group.per < kMostLinesOfGroup && fits(2 * group.per)) group.per *= 2;
    if (group.per == 1) group.across_in = group.across_out = false;
    const std::int64_t wanted = ceil_div(group.per * l.n, kElementsOfInvocation);
    const auto invocations = std::bit_ceil(static_cast<std::uint64_t>(wanted));
    group.threads = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(invocations, 32, std::min<std::uint64_t>(256, backend.limits().threads)));
    plan.plan.note(group.per), plan.plan.note(group.across_in), plan.plan.note(group.across_out);
    plan.launch(static_cast<std::uint64_t>(ceil_div(l.count(), group.per)), group.threads,
                [&] { return transform_text(text, group); });
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
