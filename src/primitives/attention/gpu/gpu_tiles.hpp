// Tiles of the kernels of attention in what the GPU languages share: attention.wgsl and attention_backward.wgsl.
#pragma once
#include <string>
#include <vector>

#include "gpu/products/tile_text.hpp"
#include "gpu/text/kernel_file.hpp"
#include "primitives/attention/attention.hpp"

namespace tern::detail_gpu {

/// A workgroup's tile of scores. `own` are the rows of forward, `others` its columns; an invocation has part_m × part_n
/// of them, and part_m × sums_n() of each of the sums, [own, a width].
struct ScoreTile {
  int own = 32, others = 32, part_m = 4, across = 8;
  int depth = 8;  // of a step of the products that give scores
  int step = 8;   // others, of a step of the products by shares
  int down() const { return own / part_m; }
  int threads() const { return down() * across; }
  int part_n() const { return others / across; }
  /// An invocation's neighbours of a width, and all of them.
  int sums_n(std::int64_t width) const { return static_cast<int>(ceil_div(width, 4 * across)) * 4; }
  int sums(std::int64_t width) const { return sums_n(width) * across; }
  /// Vectors of shares, [others][own / 4], with one more in each line so that neighbours use neighbouring banks.
  int line() const { return own / 4 + 1; }
  int vectors_of_shares() const { return others * line(); }
  /// Vectors that two tiles of a step take, or one of a step of sums.
  int vectors_of_steps(std::int64_t width) const {
    const int of_scores = (own + others) * depth / 4, of_sums = step * sums(width) / 4;
    return of_scores > of_sums ? of_scores : of_sums;
  }
  /// The key's part.
  template <class Note> void note(Note&& add) const {
    for (const int n : {own, others, part_m, across, depth, step}) add(static_cast<std::int32_t>(n));
  }
};

/// Forward's: by depth and width, what the device has, and how many workgroups there would be.
/// `in_blocks`: with a mask in blocks.
ScoreTile forward_tile(const Limits& limits, const detail::AttentionSizes& sizes, detail::ComputeType type,
                       bool in_blocks);

/// Backward's, of the kernel of rows or that of columns.
ScoreTile backward_tile(const Limits& limits, const detail::AttentionSizes& sizes, detail::ComputeType type,
                        bool of_rows, bool in_blocks);

/// A tile's text.
class ScoreTiles {
 public:
  ScoreTiles(const Io& io, const Dialect& dialect, const Plan& plan, detail::ComputeType type, const ScoreTile& tile)
      : io_(io), dialect_(dialect), plan_(plan), type_(type), tile_(tile) {}
  std::string vector() const;
  /// The number of column c of an invocation among the tile's, and where its share stands among the lines.
  std::string column(int c) const;
  std::string line(int c) const;
  /// The column whose shares stand in a line.
  std::string column_of_line(const std::string& line) const;
  /// Element e of a row of sums, of which `row` names the first part.
  std::string element(const std::string& row, int e) const;
  /// Row r of an invocation among the tile's vectors of four: the vector's line, but for ty, and the lane.
  int block(int r) const { return r / 4 * tile_.down(); }
  static std::string lane(int r) { return std::string(1, "xyzw"[r % 4]); }

  /// An operand [batch, heads, rows, elements]: its access, the first coordinates, the tile's first row, of as many as
  /// `count`, and whether elements are fetched by units.
  struct TileRead {
    int access = -1;
    std::vector<std::string> at;
    std::string first, count;
    bool wide = false;
  };
  /// Lines that add up `sums` of the products of own and others along as many elements as `depth`.
  std::string score_steps(const TileRead& own, const TileRead& others, const std::string& depth,
                          const std::string& sums) const;
  /// Lines that add up `sums` of what stands in `shares` times the others' elements, of as many as `size`, `width` now.
  std::string sum_steps(const TileRead& others, const std::string& size, std::int64_t width,
                        const std::string& sums) const;
  /// Lines that put rows `values`<r>_<j> there.
  std::string put(const std::string& shares, const std::string& values) const;
  /// Lines that make vectors `done`<j> of numbers `values`<c>, and move them in behind the rows `sums`.
  std::string rotate(const std::string& sums, const std::string& values, const std::string& done) const;

 private:
  const Io& io_;
  const Dialect& dialect_;
  const Plan& plan_;
  detail::ComputeType type_;
  const ScoreTile& tile_;
};

/// Holes of the tile's sizes.
void tile_holes(const ScoreTile& tile, Holes& h);
/// Marks an access of [.., rows, size] as one that is written in vectors, or by parts of words that are merged.
void store_in_vectors(Plan& plan, int access, std::int64_t size);
/// Lines that store four neighbours from `column` on of the row that `at` leads to, of as many as `count`, `size` now.
std::string store_sum(Io& io, int access, const std::vector<std::string>& at, const std::string& column,
                      const std::vector<std::string>& values, const std::string& count, std::int64_t size);

/// Whether the elements along the last axis of a view of [batch, heads, rows, size] are fetched by units into steps of
/// so many.
inline bool in_units_of_scores(const Plan& plan, int access, std::int64_t size, int step) {
  const Access& a = plan.access(access);
  return in_units(a, a.actual.size() - 1, size, step);
}

}  // namespace tern::detail_gpu
