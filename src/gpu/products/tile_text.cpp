#include "gpu/products/tile_text.hpp"

#include "gpu/text/kernel_file.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_gpu {
namespace {

constexpr const char* kFetch =
#include "gpu/products/gemm_fetch.wgsl.inc"
    ;
constexpr const char* kTileSteps =
#include "gpu/products/gemm_steps.wgsl.inc"
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
  return size % unit == 0 && most % unit == 0 && lies_in_units(a, axis, unit);
}
bool fits_in(const Access& x, std::int64_t n, std::int64_t unit) {
  return n % unit == 0 && lies_in_units(x, x.actual.size() - 1, unit);
}

std::string tile_steps(const Io& io, const Dialect& d, detail::ComputeType type, const TileSteps& steps) {
  std::vector<Units> all;
  int number = 0;
  bool ahead = true;
  for (const auto& [access, tile] : steps.fetches) {
    all.emplace_back(io, *access, type, tile, steps.threads, number++);
    ahead = ahead && !all.back().in_loop();
  }
  Holes holes = pieces(kTileSteps);
  for (const char* part : {"kept", "load", "put", "fetched", "named"}) holes[part] = {};
  for (const Units& units : all) {
    if (ahead) holes["kept"] += units.declared(), holes["load"] += units.load(), holes["put"] += units.put();
    else holes["fetched"] += units.fetched();
  }
  const std::string now = cat(steps.at, "_now");
  if (steps.multiply.find(now) != std::string::npos) holes["named"] = cat("let ", now, " = ", steps.at, ";\n");
  holes["at"] = steps.at, holes["more"] = cat(steps.at, " < ", steps.end);
  holes["on"] = cat(steps.at, " += ", steps.step), holes["advance"] = steps.advance;
  holes["multiply"] = steps.multiply, holes["barrier"] = d.barrier();
  return fill_holes(holes[ahead ? "steps_ahead" : "steps_in_turn"], holes);
}

std::string multiply_tiles(const TileProduct& p) {
  Holes holes = pieces(kTileSteps);
  holes["depth"] = numbers(0, p.deep), holes["rows"] = numbers(0, p.part_m);
  holes["vectors_down"] = numbers(0, p.part_m / 4), holes["vectors_across"] = numbers(0, p.part_n / 4);
  for (int kk = 0; kk < p.deep; ++kk) {
    const auto across = [&](const char* name, bool swizzled) {
      const int by = swizzled ? kk / 4 % 4 * 2 : 0;
      return by ? cat("(", name, " ^ ", by, "u)") : std::string(name);
    };
    for (int i = 0; i < p.part_m / 4; ++i)
      holes[cat("a_", kk, "_", i)] =
          cat(p.a, kk * p.stride_a + i * p.between_m, "u + ", across("ty", p.swizzled_a), "]");
    for (int j = 0; j < p.part_n / 4; ++j)
      holes[cat("b_", kk, "_", j)] =
          cat(p.b, kk * p.stride_b + j * p.between_n, "u + ", across("tx", p.swizzled_b), "]");
  }
  for (int row = 0; row < p.part_m; ++row) holes[cat("factor_", row)] = cat("a", row / 4, ".", "xyzw"[row % 4]);
  holes["sums"] = p.sums, holes["vector"] = vector_of(p.type);
  holes["multiply_add"] = detail::is_float(p.type) ? "${0} = fma(${1}, ${2}, ${0})" : "${0} += ${1} * ${2}";
  return fill_holes(holes["multiply_step"], holes);
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
