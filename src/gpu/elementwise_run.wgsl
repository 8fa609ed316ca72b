// Where an invocation of elementwise.wgsl stands whose workgroup takes a run of the output.
let i = (group * ${threads}u + thread) * ${each}u;
if (i >= $count) { return; }
$coordinates
