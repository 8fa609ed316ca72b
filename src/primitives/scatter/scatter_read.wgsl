// The first kernel of a scatter by a long table, in what the GPU languages share (dialect.hpp): the table's entries as
// lines of words, counted from 0. Those out of range are noted, and get the size, so that they stand behind all others
// when the entries are sorted; in buckets ($fill: scatter_fill.wgsl) they stand nowhere. Bound by memory: 2^21 entries
// took 12 µs on an H200, 28 November 2026, WebGPU.
let t = group * ${threads}u + thread;
if (t >= $count) { return; }
$coordinates
let index = $index;
var place = bitcast<u32>(index) + select(0u, $size, index < 0);
if (place >= $size) {
  $report
  place = $size;
}
$store
$fill
