#include "gpu/reductions/reduce_staged_text.hpp"

#include "gpu/reductions/reduce_values.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_gpu {

namespace {
std::string tile(int access) { return cat("tile", access); }
}  // namespace

void StagedText::share(std::vector<Shared>& shared) const {
  for (const auto* list : {&staged_.reads, &staged_.writes})
    for (const int a : *list)
      shared.push_back({"u32", tile(a), kernel_.tiling.across * staged_.rows * staged_.pitch()});
}

Holes StagedText::holes() const {
  Holes holes = reduce_pieces();
  holes["elements"] = cat(kernel_.tiling.across * staged_.rows * staged_.length);
  holes["length"] = cat(staged_.length), holes["gap"] = cat(staged_.pitch() - staged_.length);
  holes["kept_count"] = io_.param(kernel_.kept_slot), holes["rows"] = cat(staged_.rows);
  holes["threads"] = cat(kernel_.tiling.threads()), holes["pairs"] = cat(2 * kernel_.tiling.threads());
  holes["barrier"] = dialect_.barrier();
  return holes;
}

template <class One, class Pair>
std::string StagedText::moves(const std::vector<int>& list, One one, Pair pair) const {
  std::string ones, pairs, lines;
  for (const int a : list) kernel_.plan.access(a).size() == 4 ? ones += one(a) : pairs += pair(a);
  Holes filled = holes();
  for (const auto& [piece, moved] : {std::pair{"$staged_elements\n", &ones}, {"$staged_pairs\n", &pairs}}) {
    if (moved->empty()) continue;
    filled["moves"] = *moved;
    lines += fill_holes(piece, filled);
  }
  return lines;
}

StagedText::StagedText(const ReducePlan& kernel, Io& io, const Dialect& dialect)
    : kernel_(kernel), staged_(kernel.staged), io_(io), dialect_(dialect) {
  if (!staged_()) return;
  in_ = moves(
      staged_.reads, [&](int a) { return io_.stage_element(a, tile(a)); },
      [&](int a) { return io_.stage_pair(a, tile(a)); });
  for (const auto* list : {&staged_.reads, &staged_.writes})
    for (const int a : *list)
      io_.read_staged(a, cat(tile(a), "[(q * ", kernel_.tiling.across, "u + tx) * ", staged_.pitch(), "u + "));
}

std::string StagedText::row_by_row(const std::string& body) const {
  if (!staged_()) return body;
  const std::size_t row = body.find("let k = ");
  Holes filled = holes();
  filled["in"] = in_, filled["row"] = body.substr(row);
  filled["out"] = moves(
      staged_.writes, [&](int a) { return io_.unstage_element(a, tile(a)); },
      [&](int a) { return io_.unstage_pair(a, tile(a)); });
  return body.substr(0, row) + fill_holes("$staged_rows\n", filled);
}

}  // namespace tern::detail_gpu
