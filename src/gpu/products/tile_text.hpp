// The text of products of tiles in workgroup memory: how tiles are fetched and how they are multiplied. gemm.wgsl and
// the kernels of attention are made of it.
//
// A tile is [k][across / 4] vectors of four neighbours along m or n. An invocation (ty, tx) has blocks of 4 × 4 results
// spread evenly over the tile (gemm.wgsl has a drawing). A tile that is fetched along k, so that neighbours write to
// different k, may be *swizzled*: vector i of step kk stands at i ^ 2·(kk / 4 % 4), as those lines begin at one bank.
#pragma once
#include <string>
#include <vector>

#include "gpu/text/io.hpp"

namespace tern::detail_gpu {

/// Whether 16 bytes along an axis of `size` elements can be fetched at once, also where only `most` of them, a whole
/// number of tiles, are in a tile.
bool in_units(const Access& a, std::size_t axis, std::int64_t size, int most);
/// Whether so many neighbours along the last axis, of n elements, can be moved at once.
bool fits_in(const Access& x, std::int64_t n, std::int64_t unit);

/// A factor's tile and where its elements come from.
struct TileFetch {
  std::string memory;   // the tile, an array of vectors
  std::string at = {};  // the place of its first vector there, with " + " behind it, or nothing
  int across = 0, deep = 0;
  int stride = 0;        // vectors between steps of k
  bool along_k = false;  // neighbours in memory lie along k; else along m or n
  bool wide = false;     // 16 bytes of them at once
  bool swizzled = false;  // see above
  std::string place = {};  // of element (o, kk) of the tile in its buffer, in terms of those names
  std::string inside = {};  // whether there is one, or nothing: everywhere
};
/// A product of two tiles into sums in registers: <sums><row>_<vector of columns>.
struct TileProduct {
  detail::ComputeType type = detail::ComputeType::f32;
  std::string a, b;                    // the tiles, with '[' and the place of the step's first vector, " + " behind it
  int stride_a = 0, stride_b = 0;      // vectors between steps of k
  int part_m = 0, part_n = 0;          // an invocation's results
  int between_m = 0, between_n = 0;    // vectors between its blocks
  int deep = 0;                        // steps of k
  bool swizzled_a = false, swizzled_b = false;  // those tiles
  std::string sums = "acc";
};
/// Lines that add it up, a step of k after the other.
std::string multiply_tiles(const TileProduct& p);
/// Steps along k: in each `threads` invocations fetch tiles, and multiply them. Where an invocation has few units of a
/// tile each has lines of its own, in whose place $copy is its number.
struct TileSteps {
  std::string at, end, step;  // the variable that counts k, where it ends, and a step
  std::vector<std::pair<const Access*, TileFetch>> fetches = {};
  std::string multiply = {};  // where it needs k, that is `at`_now
  std::string advance = {};  // lines at the end of a step
  int threads = 0;
};
/// Lines of them. No tile is still read when they begin, nor when they end.
std::string tile_steps(const Io& io, const Dialect& dialect, detail::ComputeType type, const TileSteps& steps);
/// Lines that declare sums of 0.
std::string tile_sums(const std::string& sums, detail::ComputeType type, int part_m, int part_n);
/// Lines that move each row of sums to the one before: one copy of what is done with the first serves all. Where
/// `done` names vectors, those become the last row.
std::string move_sums_up(const std::string& sums, int part_m, int part_n, const std::string& done = "");

}  // namespace tern::detail_gpu
