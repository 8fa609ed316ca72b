// The steps along k of a product of tiles in workgroup memory, in pieces: gemm.wgsl and the kernels of attention are
// made of them (tile_text.hpp). gemm.wgsl draws the tile, which invocation has what of it, and says what bounds the
// speed and what it reached.
//
// Units of a tile that are few are fetched ahead: into registers, while what the last step fetched is multiplied.
//
//   registers    fetch 0         fetch 1             fetch 2
//   memory               put 0            put 1             put 2
//   products                   multiply 0        multiply 1        …
$define steps_ahead
  {
    var $at = 0u;
    $kept
    $load
    while ($more) {
      $named
      $put
      $barrier
      $on;
      $advance
      if ($more) {
        $load
      }
      $multiply
      $barrier
    }
  }
$end
// More are fetched to where they are read, by a loop: no invocation has registers for them.
$define steps_in_turn
  for (var $at = 0u; $more; $on) {
    $named
    $fetched
    $barrier
    $multiply
    $barrier
    $advance
  }
$end
// What a step multiplies: of each k the vectors a<i> down and c<j> across; a sum for each row and vector of columns.
$define multiply_step
  $for kk in $depth
    {
      $for i in $vectors_down
        let a$i = $a_${kk}_$i;
      $end
      $for j in $vectors_across
        let c$j = $b_${kk}_$j;
      $end
      $for row in $rows
        $for j in $vectors_across
          $multiply_add(${sums}${row}_$j, $vector($factor_$row), c$j);
        $end
      $end
    }
  $end
$end
