#include "gpu/reductions/reduce_staged_text.hpp"

#include "gpu/reductions/reduce_values.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_gpu {

namespace {
/// Rows of so many elements are visited without a loop: the places of halves are then constants in every language.
constexpr int kLongestUnrolled = 4;

std::string tile(int access) { return cat("tile", access); }

/// A piece once for each number below `count`.
std::string numbered(const char* piece, int count, Holes holes) {
  std::string lines;
  for (int i = 0; i < count; ++i) {
    holes["number"] = cat(i);
    lines += fill_holes(piece, holes);
  }
  return lines;
}
}  // namespace

std::string StagedText::moved_tile(int access) const {
  return cat(staged_.vectors ? "vectors_of_" : "", tile(access));
}

void StagedText::share(std::vector<Shared>& shared) const {
  for (const int a : staged_.accesses())
    shared.push_back({staged_.vectors ? "vec4<u32>" : "u32", moved_tile(a), staged_words(a) * 4 / moved_bytes()});
}

Holes StagedText::holes() const {
  Holes holes = reduce_pieces();
  holes["elements"] = cat(kernel_.tiling.across * staged_.rows() * staged_.length);
  holes["length"] = cat(staged_.length), holes["units"] = cat(staged_.units);
  holes["kept_count"] = io_.param(kernel_.kept_slot), holes["threads"] = cat(kernel_.tiling.threads());
  holes["barrier"] = dialect_.barrier();
  return holes;
}

template <class Move> std::string StagedText::moves(const std::vector<int>& list, Move move) const {
  std::string lines;
  Holes filled = holes();
  for (const int bytes : {4, 2}) {
    std::string& moved = filled["moves"];
    moved.clear();
    for (const int a : list)
      if (bytes_of(a) == bytes) moved += move(a);
    const int each = moved_bytes() / bytes, elements = kernel_.tiling.across * staged_.rows() * staged_.length;
    filled["steps"] = cat(ceil_div(elements / each, kernel_.tiling.threads()));
    filled["count"] = each == 1 ? std::string("count_of_rows") : cat("(count_of_rows + ", each - 1, "u) / ", each, "u");
    if (!moved.empty()) lines += fill_holes("$staged_moves\n", filled);
  }
  return lines;
}

StagedText::StagedText(const ReducePlan& kernel, Io& io, const Dialect& dialect)
    : kernel_(kernel), staged_(kernel.staged), io_(io), dialect_(dialect) {
  if (!staged_()) return;
  in_ = moves(staged_.reads, [&](int a) { return io_.stage(a, moved_tile(a), moved_bytes()); });
  const std::string element = staged_.unit > 1 ? cat("p * ", staged_.length, "u + ") : std::string();
  for (const int a : staged_.accesses()) {
    if (staged_.vectors) in_ += cat("u32* const ", tile(a), " = (u32*)", moved_tile(a), ";\n");
    const int words = staged_.words_of(bytes_of(a));
    io_.read_staged(a, {cat(tile(a), "[(q * ", kernel_.tiling.across, "u + tx) * ", words, "u"), element});
  }
}

std::string StagedText::first_kept(const ReducePlan& kernel) {
  const StagedRows& staged = kernel.staged;
  const std::string unit = cat("(row_group * ", staged.units, "u + q) * ", kernel.tiling.across, "u + tx");
  return staged.unit > 1 ? cat("(", unit, ") * ", staged.unit, "u + p") : unit;
}

std::string StagedText::traversal(const ReducePlan& kernel, const std::string& visit) {
  Holes holes = reduce_pieces();
  holes["visit"] = visit, holes["length"] = cat(kernel.staged.length);
  return kernel.staged.length <= kLongestUnrolled ? numbered("$step_of_row\n", kernel.staged.length, holes)
                                                  : fill_holes("$traversal_of_staged\n", holes);
}

std::string StagedText::row_by_row(const std::string& row) const {
  if (!staged_()) return row;
  Holes filled = holes();
  filled["in"] = in_, filled["row"] = row;
  filled["rows_of_unit"] = staged_.unit > 1 ? numbered("$row_of_unit\n", staged_.unit, filled) : row;
  filled["out"] = moves(staged_.writes, [&](int a) { return io_.unstage(a, moved_tile(a), moved_bytes()); });
  return fill_holes("$staged_rows\n", filled);
}

}  // namespace tern::detail_gpu
