// Pieces (kernel_file.hpp) of a kernel with reductions: how an invocation traverses its part of the reduced range, and
// what it reads and writes beside it, in what the GPU languages share. Rows that stay in registers: reduce_resident.cu.
//
//   begin                                                        end      $group neighbours in rows, which lie in
//   ┌──────┬──────┬───┬──────────┬──────┬──────┬───┬──────────┬───┐       vectors, and 1 in columns, whose neighbours
//   │ ty 0 │ ty 1 │ … │ $along−1 │ ty 0 │ ty 1 │ … │ $along−1 │ … │       are kept positions
//   └──────┴──────┴───┴──────────┴──────┴──────┴───┴──────────┴───┘
//   ├──────── $stride = $along · $group ────────┤
//
// A second kernel joins the partial results of the segments of the reduced range (reduce.wgsl), a segment an r:
//
//   partials[segment][kept position]:   │ k 0 │ k 1 │ … │     read by ty = segment modulo `along`
//
// Bound by memory: see reduce.wgsl.

$define traversal
  for (var r = begin + ty * ${group}u; r < end; r += ${stride}u) {
    $coordinates
    $visit
  }
$end
$define join_partials
  for (var r = ty; r < end; r += ${along}u) {
    $visit
  }
$end
$define if_inside
  if (inside) {
    $lines
  }
$end
$define if_first
  if (inside && ty == 0u) {
    $lines
  }
$end
// A result of an earlier kernel; invocations outside read that of the last positions.
$define known
  let $result = $loaded($base + min(k, $kept_count - ${kept_group}u)$further);
$end
