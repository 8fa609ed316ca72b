// ---- rotation of lines: rotate, 1 workgroups of 256, 9 words
// rotate
struct Params { v: array<vec4<u32>, 3> }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group_id: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let group = group_id.x + group_id.y * params.v[0].x;
  let at = group * 256u + thread;
  let line = at / params.v[0].z;
  let i = at - line * params.v[0].z;
  if (line < params.v[0].y) {
    let taken = (i + params.v[2].x) % params.v[0].z;
    let x0 = bitcast<f32>(b0[params.v[1].x + line * params.v[1].y + taken]);
    let to1 = params.v[1].z + line * params.v[1].w + i;
    b1[to1] = bitcast<u32>(x0);
  }
}

