// What one invocation fetches of a factor in a step of gemm.wgsl, several times where the tile has more: a unit (16
// bytes of neighbours, or one element where these do not lie so) from place (o, kk) of the tile, along m or n and along
// k.
//
//   units across        tile in workgroup memory, [k][across / 4] vectors:
//   ┌───┬───┬───┐
//   │ 0 │ 1 │ 2 │ …     along k:       a unit's elements go to one lane of as many vectors
//   ├───┼───┼───┤       along m or n:  to whole vectors
//   │ 3 │ 4 │ 5 │
//
// What bounds it stands in gemm.wgsl, of which it is a part.
let major = $unit / $units_in_line;
let minor = ($unit - major * $units_in_line) * $elements;
let o = $o;
let kk = $kk;
$moved
