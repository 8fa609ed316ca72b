// Where an invocation of sort_read.wgsl or sort_write.wgsl stands, whose elements are neighbours of all lines, one
// after the other: the i-th of all from the first on, the at-th of their line.
let i = (group * ${threads}u + thread) * ${each}u;
if (i >= $length * $lines) { return; }
let line = i / $length;
let at = i - line * $length;
$coordinates
