// How a request lies before the tape: which axes are traversed in which order.
#pragma once
#include "backend/memory/small_vector.hpp"
#include "cpu/tape/tape.hpp"
#include "cpu/tape/cursor.hpp"
#include "primitives/fused/fused.hpp"
#include "tern/pool.hpp"

namespace tern::detail_cpu {

struct Layout {
  Layout(const detail::FusedRequest& request, const Tape& tape);

  AxisOrder full, kept;                // all axes; those that are not reduced
  std::int64_t length = 1, width = 1;  // elements along the reduced axes; kept elements innermost (columns)
  bool transposed = false;             // columns that are short rows in memory
  bool rows;                           // the reduced axes are innermost, but for a group; else the kept ones
  std::int64_t group = 1;              // rows: kept elements innermost, each of which is a row; few
  /// Strides of each of the tape's values that are positions, in their order.
  detail::PoolVector<Strides> coordinates;
};

}  // namespace tern::detail_cpu
