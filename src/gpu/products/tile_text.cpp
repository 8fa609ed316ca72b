#include "gpu/products/tile_text.hpp"

#include "gpu/text/kernel_file.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_gpu {
namespace {

constexpr const char* kFetch =
#include "gpu/products/gemm_fetch.wgsl.inc"
    ;
constexpr int kMostCopies = 16;  // of the text for a unit; more are a loop

std::string vector_of(detail::ComputeType type) { return cat("vec4<", compute_type_name(type), ">"); }

/// The values of a unit of 16 bytes.
std::vector<std::string> values_of_unit(const Access& x, const std::string& q) {
  std::vector<std::string> values;
  for (int e = 0; e < kVectorBytes / x.size(); ++e) {
    if (x.size() == 8) {
      values.push_back(unpacked(x.dtype(), cat("tern_join(", q, e ? ".z, " : ".x, ", q, e ? ".w)" : ".y)")));
      continue;
    }
    const int per_word = 4 / x.size(), shift = e % per_word * 8 * x.size();
    std::string bits = cat(q, ".", "xyzw"[e / per_word]);
    if (per_word > 1) bits = shift ? cat("(", bits, " >> ", shift, "u)") : cat("(", bits, " & 0xffffu)");
    values.push_back(x.dtype() == DType::f16 ? cat("tern_f16_factor(", bits, ")") : unpacked(x.dtype(), bits));
  }
  return values;
}

/// Lines that put fetched values into workgroup memory.
std::string put_values(const TileFetch& tile, detail::ComputeType type, const std::vector<std::string>& values) {
  std::string lines;
  const int unit = static_cast<int>(values.size());
  const std::string memory = cat(tile.memory, "[", tile.at);
  if (!tile.along_k && unit >= 4) {
    for (int e = 0; e < unit; e += 4)
      lines += cat(memory, "kk * ", tile.stride, "u + o / 4u + ", e / 4, "u] = ", vector_of(type), "(",
                   join({values.begin() + e, values.begin() + e + 4}), ");\n");
    return lines;
  }
  for (int e = 0; e < unit; ++e) {
    // In WGSL the operands of ^ and & are in parentheses, where they are not one name; naga takes others, too.
    const std::string swizzle = cat("(((kk / 4u", e / 4 ? cat(" + ", e / 4, "u") : std::string(), ") & 3u) * 2u)");
    const std::string vector = tile.swizzled ? cat("((o / 4u) ^ ", swizzle, ")") : std::string("o / 4u");
    const std::string at = tile.along_k ? cat("(kk + ", e, "u) * ", tile.stride, "u + ", vector, "][o & 3u]")
                                        : cat("kk * ", tile.stride, "u + (o + ", e, "u) / 4u][(o + ", e, "u) & 3u]");
    lines += cat(memory, at, " = ", values[static_cast<std::size_t>(e)], ";\n");
  }
  return lines;
}

/// A tile's units as text: those of an invocation, each with lines of its own, or a loop over them.
class Units {
 public:
  Units(const Io& io, const Access& x, detail::ComputeType type, const TileFetch& tile, int threads, int number)
      : io_(io), x_(x), type_(type), tile_(tile), threads_(threads), number_(number) {}
  bool in_loop() const { return count() > kMostCopies * threads_; }
  /// Lines that declare what is kept between load() and put(), and that do all at once.
  std::string declared() const {
    std::string lines;
    for (int copy = 0; copy * threads_ < count(); ++copy) lines += cat("var ", kept(), copy, " = ", zero(), ";\n");
    return lines;
  }
  std::string load() const { return each(cat("let at = $place;\n", loaded(cat(kept(), "$copy"), false))); }
  std::string put() const { return each(values(cat(kept(), "$copy"))); }
  std::string fetched() const { return each(cat("let at = $place;\n", loaded("q", true), values("q"))); }

 private:
  int unit() const { return tile_.wide ? kVectorBytes / x_.size() : 1; }
  int count() const { return tile_.across * tile_.deep / unit(); }
  std::string kept() const { return cat("unit", number_, "_"); }
  std::string zero() const { return tile_.wide ? std::string("vec4<u32>()") : cat(compute_type_name(type_), "()"); }
  std::string loaded(const std::string& to, bool declares) const {
    const std::string from =
        tile_.wide ? cat("b", x_.binding, "[at / ", unit(), "u]") : io_.loaded(x_, "at");
    if (tile_.inside.empty()) return cat(declares ? "let " : "", to, " = ", from, ";\n");
    return cat(declares ? "var " : "", to, " = ", zero(), ";\nif (", tile_.inside, ") { ", to, " = ", from, "; }\n");
  }
  std::string values(const std::string& from) const {
    return put_values(tile_, type_, tile_.wide ? values_of_unit(x_, from) : std::vector<std::string>{from});
  }
  std::string each(const std::string& moved) const {
    Holes holes;
    holes["units_in_line"] = cat((tile_.along_k ? tile_.deep : tile_.across) / unit(), "u");
    holes["elements"] = cat(unit(), "u"), holes["place"] = tile_.place, holes["moved"] = moved;
    holes["o"] = tile_.along_k ? "major" : "minor", holes["kk"] = tile_.along_k ? "minor" : "major";
    std::string& name = holes["unit"];
    if (in_loop()) {
      name = "u";
      return cat("for (var u = thread; u < ", count(), "u; u += ", threads_, "u) {\n",
                 indented(fill_holes(kFetch, holes)), "}\n");
    }
    std::string lines;
    for (int begin = 0; begin < count(); begin += threads_) {
      holes["copy"] = cat(begin / threads_);
      name = begin ? cat("(thread + ", begin, "u)") : std::string("thread");
      const bool some = count() % threads_ && begin + threads_ > count();
      lines +=
          cat(some ? cat("if (", name, " < ", count(), "u) ") : "", "{\n", indented(fill_holes(kFetch, holes)), "}\n");
    }
    return lines;
  }

  const Io& io_;
  const Access& x_;
  detail::ComputeType type_;
  const TileFetch& tile_;
  int threads_, number_;
};

}  // namespace

bool in_units(const Access& a, std::size_t axis, std::int64_t size, int most) {
  const int unit = kVectorBytes / a.size();
  if (a.actual[axis] != 1 || size % unit || most % unit) return false;
  for (std::size_t i = 0; i < a.actual.size(); ++i)
    if (i != axis && a.actual[i] % unit) return false;
  return a.view->offset % unit == 0;
}

bool fits_in(const Access& x, std::int64_t n, std::int64_t unit) {
  const std::size_t inner = x.actual.size() - 1;
  if (x.actual[inner] != 1 || n % unit || x.view->offset % unit) return false;
  for (std::size_t k = 0; k < inner; ++k)
    if (x.actual[k] % unit) return false;
  return true;
}

std::string tile_steps(const Io& io, const Dialect& d, detail::ComputeType type, const TileSteps& steps) {
  std::vector<Units> all;
  int number = 0;
  bool ahead = true;
  for (const auto& [access, tile] : steps.fetches) {
    all.emplace_back(io, *access, type, tile, steps.threads, number++);
    ahead = ahead && !all.back().in_loop();
  }
  std::string declared, load, put, fetched;
  for (const Units& units : all) {
    if (ahead) declared += units.declared(), load += units.load(), put += units.put();
    else fetched += units.fetched();
  }
  const std::string now = cat(steps.at, "_now"),
                    named = steps.multiply.find(now) == std::string::npos
                                ? std::string()
                                : cat("let ", now, " = ", steps.at, ";\n");
  const std::string more = cat(steps.at, " < ", steps.end), on = cat(steps.at, " += ", steps.step);
  if (!ahead)
    return cat("for (var ", steps.at, " = 0u; ", more, "; ", on, ") {\n",
               indented(cat(named, fetched, d.barrier(), steps.multiply, d.barrier(), steps.advance)), "}\n");
  const std::string step = cat(named, put, d.barrier(), on, ";\n", steps.advance, "if (", more, ") {\n", indented(load),
                               "}\n", steps.multiply, d.barrier());
  return cat("{\n", indented(cat("var ", steps.at, " = 0u;\n", declared, load, "while (", more, ") {\n", indented(step),
                                 "}\n")),
             "}\n");
}

std::string multiply_tiles(const TileProduct& p) {
  std::string lines;
  for (int kk = 0; kk < p.deep; ++kk) {
    std::string one;
    const auto across = [&](const char* name, bool swizzled) {
      const int by = swizzled ? kk / 4 % 4 * 2 : 0;
      return by ? cat("(", name, " ^ ", by, "u)") : std::string(name);
    };
    for (int i = 0; i < p.part_m / 4; ++i)
      one += cat("let a", i, " = ", p.a, kk * p.stride_a + i * p.between_m, "u + ", across("ty", p.swizzled_a), "];\n");
    for (int j = 0; j < p.part_n / 4; ++j)
      one += cat("let c", j, " = ", p.b, kk * p.stride_b + j * p.between_n, "u + ", across("tx", p.swizzled_b), "];\n");
    for (int row = 0; row < p.part_m; ++row)
      for (int j = 0; j < p.part_n / 4; ++j) {
        const std::string sum = cat(p.sums, row, "_", j);
        const std::string factor = cat(vector_of(p.type), "(a", row / 4, ".", "xyzw"[row % 4], ")");
        one += detail::is_float(p.type) ? cat(sum, " = fma(", factor, ", c", j, ", ", sum, ");\n")
                                        : cat(sum, " += ", factor, " * c", j, ";\n");
      }
    lines += cat("{\n", indented(one), "}\n");
  }
  return lines;
}

std::string tile_sums(const std::string& sums, detail::ComputeType type, int part_m, int part_n) {
  std::string lines;
  for (int i = 0; i < part_m; ++i)
    for (int j = 0; j < part_n / 4; ++j) lines += cat("var ", sums, i, "_", j, " = ", vector_of(type), "();\n");
  return lines;
}

std::string move_sums_up(const std::string& sums, int part_m, int part_n, const std::string& done) {
  std::string lines;
  for (int i = 0; i < part_m; ++i)
    for (int j = 0; j < part_n / 4; ++j) {
      if (i + 1 < part_m) lines += cat(sums, i, "_", j, " = ", sums, i + 1, "_", j, ";\n");
      else if (!done.empty()) lines += cat(sums, i, "_", j, " = ", done, j, ";\n");
    }
  return lines;
}

}  // namespace tern::detail_gpu
