#include "gpu/text/io.hpp"

#include <algorithm>
#include <limits>

#include "gpu/text/printer.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_gpu {

std::string unpacked(DType dtype, const std::string& bits) {
  switch (dtype) {
    case DType::f32: return cat("bitcast<f32>(", bits, ")");
    case DType::f16: return cat("tern_f16_bits_to_f32(", bits, ")");
    case DType::bf16: return cat("tern_bf16_bits_to_f32(", bits, ")");
    case DType::i8: return cat("(bitcast<i32>((", bits, ") << 24u) >> 24u)");
    case DType::i16: return cat("(bitcast<i32>((", bits, ") << 16u) >> 16u)");
    case DType::u32: return bits;
    case DType::f64: return cat("bitcast<f64>(", bits, ")");
    case DType::i64: return cat("bitcast<i64>(", bits, ")");
    default: return cat("bitcast<i32>(", bits, ")");
  }
}

std::string packed(DType dtype, const std::string& value) {
  switch (dtype) {
    case DType::f32:
    case DType::i32:
    case DType::u32: return cat("bitcast<u32>(", value, ")");
    case DType::f64:
    case DType::i64: return cat("bitcast<u64>(", value, ")");
    case DType::f16: return cat("tern_f32_to_f16_bits(", value, ")");
    case DType::bf16: return cat("tern_f32_to_bf16_bits(", value, ")");
    case DType::i16: return cat("(bitcast<u32>(", value, ") & 0xffffu)");
    default: return cat("(bitcast<u32>(", value, ") & 0xffu)");
  }
}

std::string packed_pair(DType dtype, const std::string& low, const std::string& high) {
  return cat(dtype == DType::bf16 ? "tern_f32_pair_to_bf16(" : "tern_f32_pair_to_f16(", low, ", ", high, ")");
}

std::string Io::coordinates(const MergedAxes& axes, const std::string& linear, const std::string& prefix,
                            std::vector<std::string>& names) const {
  const std::size_t rank = axes.sizes.size();
  names.assign(rank, linear);
  if (rank < 2) return "";
  std::string lines, rest = linear;
  for (std::size_t i = rank; i-- > 0;) {
    names[i] = prefix + std::to_string(i);
    if (i == 0) {
      lines += cat("let ", names[i], " = ", rest, ";\n");
      continue;
    }
    const std::string size = param(axes.slots[i]), quotient = cat(prefix, "q", i);
    // Kernels for any layout have axes of size 1, most of them: a branch, the same for all, is cheaper than a division.
    const std::string all = plan_.layouts() == Layouts::own ? std::string() : cat(size, " == 1u ? ", rest, " : ");
    lines += cat("let ", quotient, " = ", all, rest, " / ", size, ";\n");
    lines += cat("let ", names[i], " = ", rest, " - ", quotient, " * ", size, ";\n");
    rest = quotient;
  }
  return lines;
}

std::string Io::element(const Access& a, const Position& at, int e) const {
  std::string sum = param(a.base);
  for (std::size_t i = 0; i < a.steps.size(); ++i) {
    if (a.steps[i] == '0') continue;
    std::string c = at.coordinates[i];
    if (static_cast<int>(i) == at.inner && !at.ahead.empty()) c = cat("(", c, " + (", at.ahead, " + ", e, "u))");
    else if (static_cast<int>(i) == at.inner && e)
      c = at.last.empty() ? cat("(", c, " + ", e, "u)") : cat("min(", c, " + ", e, "u, ", at.last, ")");
    sum += a.steps[i] == '1' ? cat(" + ", c) : cat(" + ", c, " * ", param(a.strides[i]));
  }
  return sum;
}

std::string Io::word(const Access& a, const std::string& index) const {
  const Binding& b = binding(a);
  if (b.atomic) return dialect_.atomic_load(a.binding, index);
  if (b.vectors) return cat(read(a, cat("(", index, ") >> 2u")), "[(", index, ") & 3u]");
  return read(a, index);
}

std::string Io::read(const Access& a, const std::string& index) const {
  return chosen_ ? cat("read", a.binding, "(", index, ")") : cat("b", a.binding, "[", index, "]");
}
std::string Io::write(const Access& a, const std::string& index, const std::string& value) const {
  return chosen_ ? cat("write", a.binding, "(", index, ", ", value, ");\n")
                 : cat("b", a.binding, "[", index, "] = ", value, ";\n");
}
std::string Io::write_word(const Access& a, const std::string& index, const std::string& value) const {
  if (!binding(a).vectors) return write(a, index, value);
  const std::string vector = cat("(", index, ") >> 2u"), word = cat("(", index, ") & 3u");
  return chosen_ ? cat("write_word", a.binding, "(", vector, ", ", word, ", ", value, ");\n")
                 : cat("b", a.binding, "[", vector, "][", word, "] = ", value, ";\n");
}

std::string Io::loaded(const Access& a, const std::string& element) const {
  if (plan_.native() && !binding(a).atomic) {
    const std::string bits = dialect_.element(a.binding, a.size(), element);
    return unpacked(a.dtype(), a.size() < 4 ? cat("u32(", bits, ")") : bits);
  }
  if (a.size() == 4) return unpacked(a.dtype(), word(a, element));
  const int shift = a.size() == 2 ? 1 : 2, bits = 8 * a.size();
  const char* mask = a.size() == 2 ? "0xffffu" : "0xffu";
  return unpacked(a.dtype(), cat("((", word(a, cat("(", element, ") >> ", shift, "u")), " >> (((", element, ") & ",
                                 shift == 1 ? 1 : 3, "u) * ", bits, "u)) & ", mask, ")"));
}

std::string Io::gathered(const Access& a, const Position& at, int e, std::string& lines) {
  const Access& table = plan_.access(a.table);
  const std::string entry = unique("index"), place = unique("place");
  lines += cat("let ", entry, " = ", loaded(table, element(table, at, e)), ";\n");
  lines += cat("var ", place, " = bitcast<u32>(", entry, ")",
               a.wraps ? cat(" + select(0u, ", param(a.table_size), ", ", entry, " < 0)") : std::string(), ";\n");
  std::string report = flags_ >= 0 ? dialect_.report_index(flags_, param(launch_slot_), entry) : std::string();
  if (!report.empty() && !guard_.empty())
    report = cat("if (", fill_in(guard_, "", {std::to_string(e) + "u"}), ") {\n", indented(report), "}\n");
  lines += cat("if (", place, " >= ", param(a.table_size), ") {\n", indented(report + cat(place, " = 0u;\n")), "}\n");
  return cat(" + ", place, " * ", param(a.table_step));
}

namespace {
/// Whether the group is a part of a vector that one instruction moves.
bool is_piece(const Access& a, const Position& at) { return a.wide && at.group * a.size() < kVectorBytes; }
}  // namespace

/// The group as one unsigned number. The address is that without `ahead`, in 64 bits, and a constant.
std::string Io::piece(const Access& a, const Position& at) const {
  Position start = at;
  start.ahead.clear();
  const std::string further = at.ahead.empty() ? "0u" : cat(at.ahead, " / ", at.group, "u");
  return dialect_.element(a.binding, a.size() * at.group,
                          cat("u64((", element(a, start, 0), ") / ", at.group, "u) + ", further));
}
std::string Io::load_piece(const Access& a, const Position& at, std::vector<std::string>& names) {
  const std::string q = unique("q");
  std::string lines = cat("let ", q, " = ", piece(a, at), ";\n");
  for (int e = 0; e < at.group; ++e) {
    std::string bits = e ? cat("(", q, " >> ", 8 * a.size() * e, "u)") : q;
    if (a.size() < 4) bits = cat("(u32(", bits, ") & ", a.size() == 2 ? "0xffffu" : "0xffu", ")");
    else if (a.size() == 4) bits = cat("u32(", bits, ")");
    names.push_back(unique("x"));
    lines += cat("let ", names.back(), " = ", unpacked(a.dtype(), bits), ";\n");
  }
  return lines;
}

namespace {
std::string staged_place(const Access& a, const std::string& base, int bytes) {
  return a.size() == bytes ? cat(base, " + first_of_rows + i")
                           : cat("(", base, " + first_of_rows) / ", bytes / a.size(), "u + i");
}
/// A unit's word with an element of it, or with its pair.
std::string staged_word(const Access& a, const StagedUnit& unit, const std::string& element) {
  return a.size() == 4 ? cat(unit.words, " + ", element, "]") : cat(unit.words, " + (", element, ") / 2u]");
}
std::string staged_shift(const std::string& element) { return cat("((", element, ") & 1u) * 16u"); }
}  // namespace

std::string Io::stage(int index, const std::string& tile, int bytes) const {
  const Access& a = plan_.access(index);
  const std::string place = staged_place(a, param(a.base), bytes);
  return cat(tile, "[i] = ", plan_.native() ? dialect_.element(a.binding, bytes, place) : word(a, place), ";\n");
}
std::string Io::unstage(int index, const std::string& tile, int bytes) const {
  const Access& a = plan_.access(index);
  const std::string place = staged_place(a, param(a.base), bytes), moved = cat(tile, "[i]");
  return plan_.native() ? cat(dialect_.element(a.binding, bytes, place), " = ", moved, ";\n")
                        : write_word(a, place, moved);
}

std::string Io::load_staged(const Access& a, const StagedUnit& unit, const std::string& r) const {
  const std::string element = unit.element + r, word = staged_word(a, unit, element);
  return unpacked(a.dtype(), a.size() == 4 ? word : cat("((", word, " >> (", staged_shift(element), ")) & 0xffffu)"));
}
/// The first half of a word overwrites it, the second joins it.
std::string Io::store_staged(const Access& a, const StagedUnit& unit, const std::string& r,
                             const std::string& value) const {
  const std::string element = unit.element + r, word = staged_word(a, unit, element), bits = packed(a.dtype(), value);
  if (a.size() == 4) return cat(word, " = ", bits, ";\n");
  return cat(word, " = select(0u, ", word, ", ((", element, ") & 1u) == 1u) | (", bits, " << (", staged_shift(element),
             "));\n");
}

std::string Io::load(int index, const Position& at, std::vector<std::string>& names) {
  const Access& a = plan_.access(index);
  names.clear();
  std::string lines;
  const auto inner = static_cast<std::size_t>(at.inner);
  if (const auto staged = staged_.find(index); staged != staged_.end()) {
    names.push_back(unique("x"));
    return cat("let ", names[0], " = ", load_staged(a, staged->second, at.coordinates.back()), ";\n");
  }
  const bool table_moves = a.table >= 0 && at.inner >= 0 && plan_.access(a.table).steps[inner] != '0';
  const bool moves = at.inner >= 0 && (a.steps[inner] != '0' || table_moves);
  std::string shift;  // of a gather that is the same for the whole group
  if (a.table >= 0 && !table_moves) shift = gathered(a, at, 0, lines);
  if (is_piece(a, at)) return load_piece(a, at, names);
  if (const auto held = held_.find(index); held != held_.end())
    return load_wide(a, at, names, [&](int i) { return cat(held->second, " + ", i, "u]"); });
  if (a.wide) {
    const std::string start = unique("w");
    lines += cat("let ", start, " = (", element(a, at, 0), shift, ") / ", kVectorBytes / a.size(), "u;\n");
    return lines + load_wide(a, at, names, [&](int i) { return read(a, cat(start, " + ", i, "u")); });
  }
  for (int e = 0; e < at.group; ++e) {
    if (e && !moves) {
      names.push_back(names[0]);
      continue;
    }
    const std::string from = element(a, at, e) + (table_moves ? gathered(a, at, e, lines) : shift);
    std::string place = from;
    if (a.size() < 4 && !plan_.native()) {
      place = unique("at");
      lines += cat("let ", place, " = ", from, ";\n");
    }
    names.push_back(unique("x"));
    lines += cat("let ", names.back(), " = ", loaded(a, place), ";\n");
  }
  return lines;
}

namespace {
/// A bundle's vector as a group of one access.
Position as_group(const Access& a, Position at) {
  at.group = kVectorBytes / a.size();
  return at;
}
}  // namespace

std::string Io::load_bundle(int first, const Position& at, std::vector<std::string>& names) {
  const Access& a = plan_.access(first);
  const std::string start = unique("w");
  return cat("let ", start, " = (", element(a, at, 0), ") / ", kVectorBytes / a.size(), "u;\n") +
         load_wide(a, as_group(a, at), names, [&](int) { return read(a, start); });
}
std::string Io::store_bundle(int first, const Position& at, const std::vector<std::string>& values) {
  const Access& a = plan_.access(first);
  return store_wide(a, as_group(a, at), values, "");
}

std::string Io::hold(int index, const Position& at, const std::string& array, const std::string& group) {
  const Access& a = plan_.access(index);
  const int per_vector = kVectorBytes / a.size(), vectors = at.group / per_vector;
  const std::string start = unique("w"), first = cat(array, "[", group, " * ", vectors, "u");
  std::string lines = cat("let ", start, " = (", element(a, at, 0), ") / ", per_vector, "u;\n");
  for (int i = 0; i < vectors; ++i) lines += cat(first, " + ", i, "u] = b", a.binding, "[", start, " + ", i, "u];\n");
  held_[index] = first;
  return lines;
}

std::string Io::load_wide(const Access& a, const Position& at, std::vector<std::string>& names,
                          const std::function<std::string(int)>& vector_of) {
  const int per_vector = kVectorBytes / a.size(), per_word = 4 / a.size();  // 0: two words to an element
  std::string lines, vector;
  for (int e = 0; e < at.group; ++e) {
    if (e % per_vector == 0) {
      vector = unique("q");
      lines += cat("let ", vector, " = ", vector_of(e / per_vector), ";\n");
    }
    std::string bits = per_word == 0 ? cat("tern_join(", vector, e % 2 ? ".z, " : ".x, ", vector, e % 2 ? ".w)" : ".y)")
                                     : cat(vector, ".", "xyzw"[e % per_vector / per_word]);
    const bool half = a.dtype() == DType::f16 || a.dtype() == DType::bf16;
    if (half && !plan_.native()) {
      names.push_back(unique("x"));
      lines += cat("let ", names.back(), " = tern_", a.dtype() == DType::f16 ? "f16" : "bf16",
                   e % 2 ? "_second(" : "_first(", bits, ");\n");
      continue;
    }
    if (per_word > 1) {
      const int shift = e % per_word * 8 * a.size();
      if (shift) bits = cat("(", bits, " >> ", shift, "u)");
      if (shift + 8 * a.size() < 32) bits = cat("(", bits, " & ", per_word == 2 ? "0xffffu" : "0xffu", ")");
    }
    names.push_back(unique("x"));
    lines += cat("let ", names.back(), " = ", unpacked(a.dtype(), bits), ";\n");
  }
  return lines;
}

std::string Io::store(int index, const Position& at, const std::vector<std::string>& values, const std::string& guard) {
  const Access& a = plan_.access(index);
  if (const auto staged = staged_.find(index); staged != staged_.end())
    return store_staged(a, staged->second, at.coordinates.back(), values[0]);
  if (is_piece(a, at)) return store_piece(a, at, values);
  if (a.wide) return plan_.native() ? store_wide_or_elements(a, at, values, guard) : store_wide(a, at, values, guard);
  if (plan_.native()) return store_elements(a, at, values, 0, at.group, guard);
  if (a.size() < 4 && !binding(a).atomic) return store_words(a, at, values, guard);
  std::string lines;
  for (int e = 0; e < at.group; ++e) {
    const std::string to = unique("to");
    std::string one = cat("let ", to, " = ", element(a, at, e), ";\n");
    const std::string bits = packed(a.dtype(), values[static_cast<std::size_t>(e)]);
    if (a.size() == 4) {
      if (binding(a).atomic) one += dialect_.merge_word(a.binding, to, "0xffffffffu", bits);
      else one += write_word(a, to, bits);
    } else {
      const int shift = a.size() == 2 ? 1 : 2;
      const std::string by = unique("by");
      one += cat("let ", by, " = (", to, " & ", shift == 1 ? 1 : 3, "u) * ", 8 * a.size(), "u;\n");
      one += dialect_.merge_word(a.binding, cat(to, " >> ", shift, "u"),
                                 cat("(", a.size() == 2 ? "0xffffu" : "0xffu", " << ", by, ")"),
                                 cat("(", bits, " << ", by, ")"));
    }
    lines +=
        guard.empty() ? one : cat("if (", fill_in(guard, "", {std::to_string(e) + "u"}), ") {\n", indented(one), "}\n");
  }
  return lines;
}

namespace {
/// The group's elements [first, first + count) of one word, joined.
std::string joined_word(const Access& a, const std::vector<std::string>& values, int first) {
  std::string word;
  const int per_word = 4 / a.size();
  if (a.dtype() == DType::f16 || a.dtype() == DType::bf16)
    return packed_pair(a.dtype(), values[static_cast<std::size_t>(first)], values[static_cast<std::size_t>(first + 1)]);
  for (int k = 0; k < per_word; ++k) {
    const std::string bits = packed(a.dtype(), values[static_cast<std::size_t>(first + k)]);
    word += k ? cat(" | (", bits, " << ", k * 8 * a.size(), "u)") : bits;
  }
  return word;
}
}  // namespace

std::string Io::stored(const Access& a, const std::string& element, const std::string& value) const {
  if (!plan_.native()) return write(a, element, packed(a.dtype(), value));
  return cat(dialect_.element(a.binding, a.size(), element), " = ", packed(a.dtype(), value), ";\n");
}

std::string Io::store_elements(const Access& a, const Position& at, const std::vector<std::string>& values, int first,
                               int last, const std::string& guard) {
  std::string lines;
  for (int e = first; e < last; ++e) {
    const std::string bits = packed(a.dtype(), values[static_cast<std::size_t>(e)]);
    const std::string one = cat(dialect_.element(a.binding, a.size(), element(a, at, e)), " = ",
                                a.size() < 4 ? cat("u", 8 * a.size(), "(", bits, ")") : bits, ";\n");
    lines += guard.empty() ? one : cat("if (", fill_in(guard, "", {std::to_string(e) + "u"}), ") { ", one, "}\n");
  }
  return lines;
}

/// Vectors where the whole group is inside, else what is inside, by elements.
std::string Io::store_wide_or_elements(const Access& a, const Position& at, const std::vector<std::string>& values,
                                       const std::string& guard) {
  const std::string wide = store_wide(a, at, values, "");
  if (guard.empty()) return wide;
  return cat("if (", fill_in(guard, "", {std::to_string(at.group - 1) + "u"}), ") {\n", indented(wide), "} else {\n",
             indented(store_elements(a, at, values, 0, at.group, guard)), "}\n");
}

std::string Io::store_wide(const Access& a, const Position& at, const std::vector<std::string>& values,
                           const std::string& guard) {
  const int per_vector = kVectorBytes / a.size(), per_word = 4 / a.size();
  const std::string start = unique("w");
  std::string lines = cat("let ", start, " = (", element(a, at, 0), ") / ", per_vector, "u;\n");
  for (int first = 0; first < at.group; first += per_vector) {
    std::vector<std::string> words;
    for (int k = 0; k < per_vector; k += std::max(per_word, 1)) {
      if (per_word) {
        words.push_back(joined_word(a, values, first + k));
        continue;
      }
      const std::string bits = packed(a.dtype(), values[static_cast<std::size_t>(first + k)]);
      words.push_back(cat("u32(", bits, ")")), words.push_back(cat("u32(", bits, " >> 32u)"));
    }
    const std::string one =
        write(a, cat(start, " + ", first / per_vector, "u"), cat("vec4<u32>(", join(words), ")"));
    lines +=
        guard.empty() ? one : cat("if (", fill_in(guard, "", {std::to_string(first) + "u"}), ") {\n  ", one, "}\n");
  }
  return lines;
}

std::string Io::store_piece(const Access& a, const Position& at, const std::vector<std::string>& values) const {
  const int bytes = a.size() * at.group;
  if (bytes == 4) return cat(piece(a, at), " = ", joined_word(a, values, 0), ";\n");
  std::string bits;
  for (int e = 0; e < at.group; ++e)
    bits += cat(e ? " | " : "", "u", 8 * bytes, "(", packed(a.dtype(), values[static_cast<std::size_t>(e)]), ") << ",
                8 * a.size() * e, "u");
  return cat(piece(a, at), " = u", 8 * bytes, "(", bits, ");\n");
}

std::string Io::store_words(const Access& a, const Position& at, const std::vector<std::string>& values,
                            const std::string& guard) {
  const int per_word = 4 / a.size();
  const std::string start = unique("w");
  std::string lines = cat("let ", start, " = (", element(a, at, 0), ") / ", per_word, "u;\n");
  for (int first = 0; first < at.group; first += per_word) {
    const std::string one = write_word(a, cat(start, " + ", first / per_word, "u"), joined_word(a, values, first));
    lines +=
        guard.empty() ? one : cat("if (", fill_in(guard, "", {std::to_string(first) + "u"}), ") {\n  ", one, "}\n");
  }
  return lines;
}

}  // namespace tern::detail_gpu
