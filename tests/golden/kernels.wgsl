// ---- contiguous, in vectors: mul, 1 workgroups of 256, 6 words
// elementwise
struct Params { v: array<vec4<u32>, 2> }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> b1: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> b2: array<vec4<u32>>;
fn formula(v0: f32, v1: f32) -> f32 {
  let v2 = (v0 * v1);
  return v2;
}
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group_id: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let group = group_id.x + group_id.y * params.v[0].x;
  let i = (group * 256u + thread) * 4u;
  if (i >= params.v[0].y) { return; }
  let w0 = (params.v[1].x + i) / 4u;
  let q1 = b1[w0 + 0u];
  let x2 = bitcast<f32>(q1.x);
  let x3 = bitcast<f32>(q1.y);
  let x4 = bitcast<f32>(q1.z);
  let x5 = bitcast<f32>(q1.w);
  let w6 = (params.v[1].y + i) / 4u;
  let q7 = b2[w6 + 0u];
  let x8 = bitcast<f32>(q7.x);
  let x9 = bitcast<f32>(q7.y);
  let x10 = bitcast<f32>(q7.z);
  let x11 = bitcast<f32>(q7.w);
  let y0 = formula(x2, x8);
  let y1 = formula(x3, x9);
  let y2 = formula(x4, x10);
  let y3 = formula(x5, x11);
  let w12 = (params.v[0].w + i) / 4u;
  if (i + 0u < params.v[0].y) {
    b0[w12 + 0u] = vec4<u32>(bitcast<u32>(y0), bitcast<u32>(y1), bitcast<u32>(y2), bitcast<u32>(y3));
  }
}

// ---- packed halves: mul, 1 workgroups of 256, 6 words
// elementwise
@group(0) @binding(1) var<storage, read_write> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> b1: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> b2: array<vec4<u32>>;
fn tern_bf16_first(word: u32) -> f32 {
  return bitcast<f32>(word << 16u);
}
fn tern_bf16_second(word: u32) -> f32 {
  return bitcast<f32>(word & 0xffff0000u);
}
fn tern_is_nan(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}
fn tern_f32_pair_to_bf16(low: f32, high: f32) -> u32 {
  let a = bitcast<u32>(low);
  let b = bitcast<u32>(high);
  let rounded_a = select(a + 0x7fffu + ((a >> 16u) & 1u), a | 0x00400000u, tern_is_nan(low));
  let rounded_b = select(b + 0x7fffu + ((b >> 16u) & 1u), b | 0x00400000u, tern_is_nan(high));
  return (rounded_a >> 16u) | (rounded_b & 0xffff0000u);
}
fn formula(v0: f32, v1: f32) -> f32 {
  let v2 = (v0 * v1);
  return v2;
}
  let i = (group * 256u + thread) * 8u;
  if (i >= params.v[0].y) { return; }
  let w0 = (params.v[1].x + i) / 8u;
  let q1 = b1[w0 + 0u];
  let x2 = tern_bf16_first(q1.x);
  let x3 = tern_bf16_second(q1.x);
  let x4 = tern_bf16_first(q1.y);
  let x5 = tern_bf16_second(q1.y);
  let x6 = tern_bf16_first(q1.z);
  let x7 = tern_bf16_second(q1.z);
  let x8 = tern_bf16_first(q1.w);
  let x9 = tern_bf16_second(q1.w);
  let w10 = (params.v[1].y + i) / 8u;
  let q11 = b2[w10 + 0u];
  let x12 = tern_bf16_first(q11.x);
  let x13 = tern_bf16_second(q11.x);
  let x14 = tern_bf16_first(q11.y);
  let x15 = tern_bf16_second(q11.y);
  let x16 = tern_bf16_first(q11.z);
  let x17 = tern_bf16_second(q11.z);
  let x18 = tern_bf16_first(q11.w);
  let x19 = tern_bf16_second(q11.w);
  let y0 = formula(x2, x12);
// … 6 more of these 1 lines (316d2a12), and
  let y7 = formula(x9, x19);
  let w20 = (params.v[0].w + i) / 8u;
  if (i + 0u < params.v[0].y) {
    b0[w20 + 0u] = vec4<u32>(tern_f32_pair_to_bf16(y0, y1), tern_f32_pair_to_bf16(y2, y3), tern_f32_pair_to_bf16(y4, y5), tern_f32_pair_to_bf16(y6, y7));
  }
}

// ---- a broadcast row: add, 1 workgroups of 256, 9 words
// elementwise
struct Params { v: array<vec4<u32>, 3> }
@group(0) @binding(1) var<storage, read_write> b0: array<u32>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read> b2: array<u32>;
fn formula(v0: f32, v1: f32) -> f32 {
  let v2 = (v0 + v1);
  return v2;
}
  let i = (group * 256u + thread) * 1u;
  if (i >= params.v[0].y) { return; }
  let cq1 = i / params.v[0].w;
  let c1 = i - cq1 * params.v[0].w;
  let c0 = cq1;
  let x0 = bitcast<f32>(b1[params.v[1].z + c0 * params.v[1].w + c1]);
  let x1 = bitcast<f32>(b2[params.v[2].x + c1]);
  let y0 = formula(x0, x1);
  let to2 = params.v[1].x + c0 * params.v[1].y + c1;
  b0[to2] = bitcast<u32>(y0);
}

// ---- components of vectors: formula, 1 workgroups of 256, 20 words
// elementwise
struct Params { v: array<vec4<u32>, 6> }
@group(0) @binding(1) var<storage, read_write> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> b1: array<vec4<u32>>;
struct Result_formula {
  r0: f32,
  r1: f32,
  r2: f32,
  r3: f32,
}
fn formula(v0: f32, v3: f32, v5: f32, v7: f32) -> Result_formula {
  let v1 = bitcast<f32>(params.v[4].w);
  let v2 = (v0 * v1);
  let v4 = (v3 * v1);
  let v6 = (v5 * v1);
  let v8 = (v7 * v1);
  return Result_formula(v2, v4, v6, v8);
}
  let i = (group * 256u + thread) * 1u;
  if (i >= params.v[0].y) { return; }
  let w0 = (params.v[2].w + i * params.v[3].x) / 4u;
  let q1 = b1[w0];
  let x2 = bitcast<f32>(q1.x);
  let x3 = bitcast<f32>(q1.y);
  let x4 = bitcast<f32>(q1.z);
  let x5 = bitcast<f32>(q1.w);
  let y0 = formula(x2, x3, x4, x5);
  let w6 = (params.v[0].w + i * params.v[1].x) / 4u;
  b0[w6 + 0u] = vec4<u32>(bitcast<u32>(y0.r0), bitcast<u32>(y0.r1), bitcast<u32>(y0.r2), bitcast<u32>(y0.r3));
}

// ---- several results: mul, 1 workgroups of 256, 8 words
// elementwise
@group(0) @binding(1) var<storage, read_write> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> b1: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> b2: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> b3: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read> b4: array<vec4<u32>>;
struct Result_formula {
  r0: f32,
  r1: f32,
}
fn formula(v0: f32, v1: f32, v3: f32) -> Result_formula {
  let v2 = (v0 * v1);
  let v4 = (v0 * v3);
  return Result_formula(v2, v4);
}
  let i = (group * 256u + thread) * 4u;
  if (i >= params.v[0].y) { return; }
  let w0 = (params.v[1].y + i) / 4u;
  let q1 = b2[w0 + 0u];
  let x2 = bitcast<f32>(q1.x);
  let x3 = bitcast<f32>(q1.y);
  let x4 = bitcast<f32>(q1.z);
  let x5 = bitcast<f32>(q1.w);
  let w6 = (params.v[1].z + i) / 4u;
  let q7 = b3[w6 + 0u];
  let x8 = bitcast<f32>(q7.x);
  let x9 = bitcast<f32>(q7.y);
  let x10 = bitcast<f32>(q7.z);
  let x11 = bitcast<f32>(q7.w);
  let w12 = (params.v[1].w + i) / 4u;
  let q13 = b4[w12 + 0u];
  let x14 = bitcast<f32>(q13.x);
  let x15 = bitcast<f32>(q13.y);
  let x16 = bitcast<f32>(q13.z);
  let x17 = bitcast<f32>(q13.w);
  let y0 = formula(x2, x8, x14);
  let y1 = formula(x3, x9, x15);
  let y2 = formula(x4, x10, x16);
  let y3 = formula(x5, x11, x17);
  let w18 = (params.v[0].w + i) / 4u;
  if (i + 0u < params.v[0].y) {
    b0[w18 + 0u] = vec4<u32>(bitcast<u32>(y0.r0), bitcast<u32>(y1.r0), bitcast<u32>(y2.r0), bitcast<u32>(y3.r0));
  }
  let w19 = (params.v[1].x + i) / 4u;
  if (i + 0u < params.v[0].y) {
    b1[w19 + 0u] = vec4<u32>(bitcast<u32>(y0.r1), bitcast<u32>(y1.r1), bitcast<u32>(y2.r1), bitcast<u32>(y3.r1));
  }
}

// ---- a gated activation: silu_mul, 1 workgroups of 256, 6 words
// elementwise
@group(0) @binding(1) var<storage, read_write> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> b1: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> b2: array<vec4<u32>>;
fn tern_at_least(x: f32, bound: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let least = bitcast<u32>(bound);
  return bitcast<f32>(select(bits, least, bits - least < 0xff800001u - least));
}
fn tern_sigmoid(x: f32) -> f32 {
  let h = exp2(max(abs(x) * -0.72134752, -76.0));
  let factor = select(1.0, h, bitcast<i32>(x) < 0);
  let y = (factor * (1.0 / fma(h, h, 1.0))) * factor;
  return bitcast<f32>(select(bitcast<u32>(y), bitcast<u32>(x), tern_is_nan(x)));
}
fn tern_f16_bits_to_f32(h: u32) -> f32 {
  let field = (h >> 10u) & 31u;
  let mantissa = h & 0x03ffu;
  let subnormal = bitcast<u32>(f32(mantissa) * 0x1p-24f);
  let exponent = select(field + 112u, 255u, field == 31u);
  let bits = select((exponent << 23u) | (mantissa << 13u), subnormal, field == 0u);
  return bitcast<f32>(bits | ((h & 0x8000u) << 16u));
}
fn tern_f16_first(word: u32) -> f32 {
  return tern_f16_bits_to_f32(word & 0xffffu);
}
fn tern_f16_second(word: u32) -> f32 {
  return tern_f16_bits_to_f32(word >> 16u);
}
fn tern_f32_to_f16_bits(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let magnitude = bits & 0x7fffffffu;
  let moved = magnitude - 0x38000000u;
  let normal = (moved + 0x0fffu + ((moved >> 13u) & 1u)) >> 13u;
  let shift = 126u - clamp(magnitude >> 23u, 101u, 112u);
  let mantissa = (magnitude & 0x007fffffu) | 0x00800000u;
  let whole = mantissa >> shift;
  let subnormal = (mantissa + (1u << (shift - 1u)) - 1u + (whole & 1u)) >> shift;
  var result = select(subnormal, normal, magnitude >= 0x38800000u);
  result = select(result, 0x7c00u, magnitude >= 0x477ff000u);
  result = select(result, 0x7e00u, magnitude > 0x7f800000u);
  return result | ((bits >> 16u) & 0x8000u);
}
fn tern_f32_pair_to_f16(low: f32, high: f32) -> u32 {
  return tern_f32_to_f16_bits(low) | (tern_f32_to_f16_bits(high) << 16u);
}
fn formula(v0: f32, v5: f32) -> f32 {
  let v1 = f32(-750.0);
  let v2 = tern_at_least(v0, v1);
  let v3 = tern_sigmoid(v0);
  let v4 = (v2 * v3);
  let v6 = (v4 * v5);
  return v6;
}
  let i = (group * 256u + thread) * 8u;
  if (i >= params.v[0].y) { return; }
  let w0 = (params.v[1].x + i) / 8u;
  let q1 = b1[w0 + 0u];
  let x2 = tern_f16_first(q1.x);
  let x3 = tern_f16_second(q1.x);
  let x4 = tern_f16_first(q1.y);
  let x5 = tern_f16_second(q1.y);
  let x6 = tern_f16_first(q1.z);
  let x7 = tern_f16_second(q1.z);
  let x8 = tern_f16_first(q1.w);
  let x9 = tern_f16_second(q1.w);
  let w10 = (params.v[1].y + i) / 8u;
  let q11 = b2[w10 + 0u];
  let x12 = tern_f16_first(q11.x);
  let x13 = tern_f16_second(q11.x);
  let x14 = tern_f16_first(q11.y);
  let x15 = tern_f16_second(q11.y);
  let x16 = tern_f16_first(q11.z);
  let x17 = tern_f16_second(q11.z);
  let x18 = tern_f16_first(q11.w);
  let x19 = tern_f16_second(q11.w);
  let y0 = formula(x2, x12);
// … 6 more of these 1 lines (316d2a12), and
  let y7 = formula(x9, x19);
  let w20 = (params.v[0].w + i) / 8u;
  if (i + 0u < params.v[0].y) {
    b0[w20 + 0u] = vec4<u32>(tern_f32_pair_to_f16(y0, y1), tern_f32_pair_to_f16(y2, y3), tern_f32_pair_to_f16(y4, y5), tern_f32_pair_to_f16(y6, y7));
  }
}

// ---- by index: take, 1 workgroups of 256, 12 words
// elementwise
struct Params { v: array<vec4<u32>, 4> }
@group(0) @binding(1) var<storage, read_write> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> b1: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> b2: array<u32>;
@group(0) @binding(4) var<storage, read_write> b3: array<atomic<u32>>;
fn formula(v0: f32) -> f32 {
  return v0;
}
  let i = (group * 256u + thread) * 4u;
  if (i >= params.v[0].y) { return; }
  let row = i / 4u;
  let index0 = bitcast<i32>(b2[params.v[1].w + row]);
  var place1 = bitcast<u32>(index0) + select(0u, params.v[2].y, index0 < 0);
  if (place1 >= params.v[2].y) {
    if (atomicCompareExchangeWeak(&b3[0], 0u, params.v[2].w).exchanged) { atomicStore(&b3[1], u32(index0)); }
    place1 = 0u;
  }
  let w2 = (params.v[1].z + 0u + place1 * params.v[2].x) / 4u;
  let q3 = b1[w2 + 0u];
  let x4 = bitcast<f32>(q3.x);
  let x5 = bitcast<f32>(q3.y);
  let x6 = bitcast<f32>(q3.z);
  let x7 = bitcast<f32>(q3.w);
  let y0 = formula(x4);
  let y1 = formula(x5);
  let y2 = formula(x6);
  let y3 = formula(x7);
  let w8 = (params.v[1].x + row * params.v[1].y + 0u) / 4u;
  b0[w8 + 0u] = vec4<u32>(bitcast<u32>(y0), bitcast<u32>(y1), bitcast<u32>(y2), bitcast<u32>(y3));
}

// ---- across, in tiles: clone, 4 workgroups of 256, 12 words
// elementwise
@group(0) @binding(1) var<storage, read_write> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
var<workgroup> tile0: array<f32, 1056>;
fn formula(v0: f32) -> f32 {
  return v0;
}
  if (group >= params.v[0].y) { return; }
  let tiles = group / params.v[2].z;
  let first_across = (group - tiles * params.v[2].z) * 32u;
  let rest = tiles / params.v[2].w;
  let first_along = (tiles - rest * params.v[2].w) * (8u * 4u);
  {
    let across = first_across + thread % 32u;
    let along = first_along + thread / 32u * 4u;
    if (!(across >= params.v[2].x || along >= params.v[2].y)) {
      let x0 = bitcast<f32>(b1[params.v[1].z + across + along * params.v[1].w]);
      let x1 = bitcast<f32>(b1[params.v[1].z + across + (along + 1u) * params.v[1].w]);
      let x2 = bitcast<f32>(b1[params.v[1].z + across + (along + 2u) * params.v[1].w]);
      let x3 = bitcast<f32>(b1[params.v[1].z + across + (along + 3u) * params.v[1].w]);
      tile0[(thread / 32u * 4u + 0u) * 33u + thread % 32u] = x0;
      tile0[(thread / 32u * 4u + 1u) * 33u + thread % 32u] = x1;
      tile0[(thread / 32u * 4u + 2u) * 33u + thread % 32u] = x2;
      tile0[(thread / 32u * 4u + 3u) * 33u + thread % 32u] = x3;
    }
  }
  workgroupBarrier();
  let across = first_across + thread / 8u;
  let along = first_along + thread % 8u * 4u;
  if (across >= params.v[2].x || along >= params.v[2].y) { return; }
  let y0 = formula(tile0[(thread % 8u * 4u + 0u) * 33u + thread / 8u]);
  let y1 = formula(tile0[(thread % 8u * 4u + 1u) * 33u + thread / 8u]);
  let y2 = formula(tile0[(thread % 8u * 4u + 2u) * 33u + thread / 8u]);
  let y3 = formula(tile0[(thread % 8u * 4u + 3u) * 33u + thread / 8u]);
  let w4 = (params.v[1].x + across * params.v[1].y + along) / 4u;
  b0[w4 + 0u] = vec4<u32>(bitcast<u32>(y0), bitcast<u32>(y1), bitcast<u32>(y2), bitcast<u32>(y3));
}

// ---- horizontally fused requests: step, 2 workgroups of 256, 24 words
// elementwise
@group(0) @binding(1) var<storage, read_write> b0_0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> b0_1: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> b1_0: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> b1_1: array<vec4<u32>>;
var<private> part: u32;
var<private> first_param: u32;
fn read0(i: u32) -> vec4<u32> {
  var x: vec4<u32>;
  switch part {
    case 0u: { x = b0_0[i]; }
    default: { x = b0_1[i]; }
  }
  return x;
}
fn write0(i: u32, x: vec4<u32>) {
  switch part {
    case 0u: { b0_0[i] = x; }
    default: { b0_1[i] = x; }
  }
}
fn read1(i: u32) -> vec4<u32> {
  var x: vec4<u32>;
  switch part {
    case 0u: { x = b1_0[i]; }
    default: { x = b1_1[i]; }
  }
  return x;
}
fn formula(v0: f32, v2: f32) -> f32 {
  let v1 = bitcast<f32>(params.v[first_param + 1u].z);
  let v3 = (v1 * v2);
  let v4 = (v0 - v3);
  return v4;
}
  let group_of_all = group_id.x + group_id.y * params.v[0].x;
  for (var step = 1u; step > 0u; step /= 2u) {
    let next = part + step;
    if (next < 2u && params.v[1u + next / 4u][next % 4u] <= group_of_all) { part = next; }
  }
  let group = group_of_all - params.v[1u + part / 4u][part % 4u];
  first_param = 2u + part * 2u;
  let i = (group * 256u + thread) * 4u;
  if (i >= params.v[first_param + 0u].y) { return; }
  let w0 = (params.v[first_param + 1u].x + i) / 4u;
  let q1 = read0(w0 + 0u);
  let x2 = bitcast<f32>(q1.x);
  let x3 = bitcast<f32>(q1.y);
  let x4 = bitcast<f32>(q1.z);
  let x5 = bitcast<f32>(q1.w);
  let w6 = (params.v[first_param + 1u].y + i) / 4u;
  let q7 = read1(w6 + 0u);
  let x8 = bitcast<f32>(q7.x);
  let x9 = bitcast<f32>(q7.y);
  let x10 = bitcast<f32>(q7.z);
  let x11 = bitcast<f32>(q7.w);
  let y0 = formula(x2, x8);
  let y1 = formula(x3, x9);
  let y2 = formula(x4, x10);
  let y3 = formula(x5, x11);
  let w12 = (params.v[first_param + 0u].w + i) / 4u;
  if (i + 0u < params.v[first_param + 0u].y) {
    write0(w12 + 0u, vec4<u32>(bitcast<u32>(y0), bitcast<u32>(y1), bitcast<u32>(y2), bitcast<u32>(y3)));
  }
}

// ---- rows: softmax, 10 workgroups of 64, 12 words
// reduction
@group(0) @binding(1) var<storage, read_write> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> b1: array<vec4<u32>>;
var<workgroup> shared_words: array<u32, 64>;
fn tern_keep(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) ^ params.v[3].x);
}
fn tern_exp_polynomial(r: f32) -> f32 {
  let r2 = r * r;
  let p = fma(r2, 0.0013865138, fma(r, 0.008366725, 0.0416675));
  return fma(r2, p, fma(r, 0.16666542, 0.49999997));
}
fn tern_reduce_exp(x: f32) -> vec2<f32> {
  let moved = tern_keep(fma(x, 1.4426950408889634, 12582912.0));
  let n = tern_keep(moved - 12582912.0);
  let r = fma(n, -0x1.7f7d1cp-20f, tern_keep(fma(n, -0x1.62e4p-1f, x)));
  return vec2<f32>(moved, fma(r * r, tern_exp_polynomial(r), r));
}
fn tern_exp(x: f32) -> f32 {
  let e = tern_reduce_exp(clamp(x, -104.0, 89.0));
  let n = bitcast<i32>(e.x) - 0x4b400000;
  let half = n >> 1u;
  let result = tern_keep((1.0 + e.y) * bitcast<f32>(bitcast<u32>(half + 127) << 23u)) *
               bitcast<f32>(bitcast<u32>(n - half + 127) << 23u);
  return bitcast<f32>(select(bitcast<u32>(result), bitcast<u32>(x), tern_is_nan(x)));
}
fn tern_split_number(x: f32) -> vec2<f32> {
  let bits = bitcast<u32>(x) & 0x7fffffffu;
  let subnormal = bits < 0x00800000u;
  let normal = select(bits, bitcast<u32>(f32(bits)), subnormal);
  let exponent = i32(normal >> 23u) - select(127, 276, subnormal);
  return vec2<f32>(bitcast<f32>((normal & 0x007fffffu) | 0x3f800000u), f32(exponent));
}
fn tern_upper_half(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) & 0xfffff000u);
}
fn tern_residual(c: f32, a: f32, b: f32) -> f32 {
  let a_upper = tern_upper_half(a);
  let a_lower = a - a_upper;
  let b_upper = tern_upper_half(b);
  let b_lower = b - b_upper;
  var rest = tern_keep(fma(-a_upper, b_upper, c));
  rest = tern_keep(fma(-a_upper, b_lower, rest));
  rest = tern_keep(fma(-a_lower, b_upper, rest));
  return fma(-a_lower, b_lower, rest);
}
fn tern_divide_pairs(a: vec2<f32>, b: vec2<f32>) -> f32 {
  let inverse = 1.0 / b.x;
  let quotient = tern_keep(a.x * inverse);
  let rest = tern_residual(a.x, quotient, b.x) + fma(-quotient, b.y, a.y);
  return fma(rest, inverse, quotient);
}
fn tern_scale(v: f32, n: i32) -> f32 {
  let bits = bitcast<u32>(v);
  let field = i32((bits >> 23u) & 255u) + n;
  let shifted = bits + (bitcast<u32>(n) << 23u);
  let subnormal = bitcast<f32>(shifted + 0x20000000u) * 5.421010862427522e-20;
  let bounded = select(shifted, (bits & 0x80000000u) | 0x7f800000u, field >= 255);
  return bitcast<f32>(select(bounded, bitcast<u32>(subnormal), field <= 0));
}
fn tern_div(a: f32, b: f32) -> f32 {
  let x = tern_split_number(a);
  let y = tern_split_number(b);
  let quotient = tern_divide_pairs(vec2<f32>(x.x, 0.0), vec2<f32>(y.x, 0.0));
  let scaled = tern_scale(quotient, i32(max(x.y - y.y, -189.0)));
  let a_bits = bitcast<u32>(a) & 0x7fffffffu;
  let b_bits = bitcast<u32>(b) & 0x7fffffffu;
  var bits = bitcast<u32>(scaled);
  bits = select(bits, 0u, a_bits == 0u || b_bits == 0x7f800000u);
  bits = select(bits, 0x7f800000u, b_bits == 0u || a_bits == 0x7f800000u);
  let undefined = a_bits == b_bits && (a_bits == 0u || a_bits == 0x7f800000u);
  bits = select(bits, 0x7fc00000u, undefined || a_bits > 0x7f800000u || b_bits > 0x7f800000u);
  return bitcast<f32>(bits | ((bitcast<u32>(a) ^ bitcast<u32>(b)) & 0x80000000u));
}
fn tern_from_bits(bits: u32) -> f32 {
  var b = bits;
  return bitcast<f32>(b);
}
fn tern_order(x: f32) -> i32 {
  let bits = bitcast<i32>(x);
  let sign = bits >> 31u;
  return (bits ^ (sign & 0x7fffffff)) - sign;
}
fn tern_max_f32(a: f32, b: f32) -> f32 {
  let first = (tern_order(a) > tern_order(b) || tern_is_nan(a)) && !tern_is_nan(b);
  return bitcast<f32>(select(bitcast<u32>(b), bitcast<u32>(a), first));
}
fn pass0(v0: f32) -> f32 {
  return v0;
}
fn shift6(v1: f32) -> f32 {
  let v2 = v1;
  return v2;
}
fn pass1(v0: f32, v1: f32, v6: f32) -> f32 {
  let v2 = v1;
  let v3 = (v0 - v2);
  let v4 = tern_exp(v3);
  let v5 = f32(1.0);
  let v7 = tern_div(v5, v6);
  let v8 = (v4 * v7);
  return v8;
}
@compute @workgroup_size(64)
  let row_group = group;
  let segment = 0u;
  let tx = thread / 2u;
  let ty = thread - tx * 2u;
  let k = row_group * 32u + tx;
  let inside = k < params.v[0].y;
  let begin = segment * params.v[1].y;
  let end = min(params.v[0].w, begin + params.v[1].y);
  var acc1 = tern_from_bits(0xff800000u);
  var acc6 = f32(0.0);
  if (inside) {
    for (var r = begin + ty * 4u; r < end; r += 8u) {
      let w0 = (params.v[2].z + k * params.v[2].w + r) / 4u;
      let q1 = b1[w0 + 0u];
      let x2 = bitcast<f32>(q1.x);
      let x3 = bitcast<f32>(q1.y);
      let x4 = bitcast<f32>(q1.z);
      let x5 = bitcast<f32>(q1.w);
      let y6 = pass0(x2);
      let y7 = pass0(x3);
      let y8 = pass0(x4);
      let y9 = pass0(x5);
      let m10 = acc1;
      acc1 = tern_max_f32(acc1, y6);
      acc1 = tern_max_f32(acc1, y7);
      acc1 = tern_max_f32(acc1, y8);
      acc1 = tern_max_f32(acc1, y9);
      if (bitcast<u32>(m10) != bitcast<u32>(acc1)) { acc6 = (acc6 * tern_exp((m10 - select(f32(0.0), acc1, (bitcast<u32>(acc1) & 0x7f800000u) != 0x7f800000u)))); }
      let s11 = select(f32(0.0), acc1, (bitcast<u32>(acc1) & 0x7f800000u) != 0x7f800000u);
      let p12 = tern_exp((y6 - s11));
      acc6 = (acc6 + p12);
// … 2 more of these 2 lines (44e4643a), and
      let p15 = tern_exp((y9 - s11));
      acc6 = (acc6 + p15);
    }
  }
  shared_words[thread] = bitcast<u32>(acc1);
  workgroupBarrier();
  if (ty < 1u) {
    shared_words[thread] = bitcast<u32>(tern_max_f32(bitcast<f32>(shared_words[thread]), bitcast<f32>(shared_words[thread + 1u])));
  }
  workgroupBarrier();
  let red1 = bitcast<f32>(shared_words[tx * 2u]);
  workgroupBarrier();
  if (bitcast<u32>(acc1) != bitcast<u32>(red1)) { acc6 = (acc6 * tern_exp((acc1 - select(f32(0.0), red1, (bitcast<u32>(red1) & 0x7f800000u) != 0x7f800000u)))); }
  shared_words[thread] = bitcast<u32>(acc6);
  workgroupBarrier();
  if (ty < 1u) {
    shared_words[thread] = bitcast<u32>((bitcast<f32>(shared_words[thread]) + bitcast<f32>(shared_words[thread + 1u])));
  }
  workgroupBarrier();
  let raw_red6 = bitcast<f32>(shared_words[tx * 2u]);
  workgroupBarrier();
  var red6 = raw_red6;
  if (inside) {
    let y18 = shift6(red1);
    red6 = (raw_red6 * tern_exp((select(f32(0.0), red1, (bitcast<u32>(red1) & 0x7f800000u) != 0x7f800000u) - y18)));
  }
  if (inside) {
    for (var r = begin + ty * 4u; r < end; r += 8u) {
      let w19 = (params.v[2].z + k * params.v[2].w + r) / 4u;
      let q20 = b1[w19 + 0u];
      let x21 = bitcast<f32>(q20.x);
      let x22 = bitcast<f32>(q20.y);
      let x23 = bitcast<f32>(q20.z);
      let x24 = bitcast<f32>(q20.w);
      let y25 = pass1(x21, red1, red6);
      let y26 = pass1(x22, red1, red6);
      let y27 = pass1(x23, red1, red6);
      let y28 = pass1(x24, red1, red6);
      let w29 = (params.v[2].x + k * params.v[2].y + r) / 4u;
      b0[w29 + 0u] = vec4<u32>(bitcast<u32>(y25), bitcast<u32>(y26), bitcast<u32>(y27), bitcast<u32>(y28));
    }
  }
}

// ---- places of extremes: argmax, 10 workgroups of 64, 12 words
// reduction
@group(0) @binding(1) var<storage, read_write> b0: array<u32>;
@group(0) @binding(2) var<storage, read> b1: array<vec4<u32>>;
var<workgroup> shared_words: array<u32, 64>;
fn tern_rank_of_max(x: f32) -> i32 {
  return select(tern_order(x), 0x7fffffff, tern_is_nan(x));
}
fn tern_isnan_f32(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}
fn tern_min_i32(a: i32, b: i32) -> i32 {
  return min(a, b);
}
struct Result_pass0 {
  r0: f32,
  r1: i32,
}
fn pass0(v0: f32, v5: i32) -> Result_pass0 {
  return Result_pass0(v0, v5);
}
fn finish(v8: i32) -> i32 {
  return v8;
}
  let row_group = group;
  let segment = 0u;
  let tx = thread / 2u;
  let ty = thread - tx * 2u;
  let k = row_group * 32u + tx;
  let inside = k < params.v[0].y;
  let begin = segment * params.v[1].y;
  let end = min(params.v[0].w, begin + params.v[1].y);
  var rank_of_acc1 = bitcast<i32>(0x80000000u);
  var acc1 = tern_from_bits(0xff800000u);
  var acc8 = bitcast<i32>(0x7fffffffu);
  if (inside) {
    for (var r = begin + ty * 4u; r < end; r += 8u) {
      let w0 = (params.v[2].y + k * params.v[2].z + r) / 4u;
      let q1 = b1[w0 + 0u];
      let x2 = bitcast<f32>(q1.x);
      let x3 = bitcast<f32>(q1.y);
      let x4 = bitcast<f32>(q1.z);
      let x5 = bitcast<f32>(q1.w);
      let y6 = pass0(x2, bitcast<i32>(params.v[2].w + r + 0u));
      let y7 = pass0(x3, bitcast<i32>(params.v[2].w + r + 1u));
      let y8 = pass0(x4, bitcast<i32>(params.v[2].w + r + 2u));
      let y9 = pass0(x5, bitcast<i32>(params.v[2].w + r + 3u));
      let key10 = tern_rank_of_max(y6.r0);
      if (key10 > rank_of_acc1) { rank_of_acc1 = key10; acc1 = y6.r0; acc8 = y6.r1; }
// … 2 more of these 2 lines (623b8ea7), and
      let key13 = tern_rank_of_max(y9.r0);
      if (key13 > rank_of_acc1) { rank_of_acc1 = key13; acc1 = y9.r0; acc8 = y9.r1; }
    }
  }
  shared_words[thread] = bitcast<u32>(acc1);
  workgroupBarrier();
  if (ty < 1u) {
    shared_words[thread] = bitcast<u32>(tern_max_f32(bitcast<f32>(shared_words[thread]), bitcast<f32>(shared_words[thread + 1u])));
  }
  workgroupBarrier();
  let red1 = bitcast<f32>(shared_words[tx * 2u]);
  workgroupBarrier();
  if (!(tern_isnan_f32(acc1)) && ((tern_isnan_f32(red1)) || !(tern_order(acc1) == tern_order(red1)))) { acc8 = bitcast<i32>(2147483647u); }
  shared_words[thread] = bitcast<u32>(acc8);
  workgroupBarrier();
  if (ty < 1u) {
    shared_words[thread] = bitcast<u32>(tern_min_i32(bitcast<i32>(shared_words[thread]), bitcast<i32>(shared_words[thread + 1u])));
  }
  workgroupBarrier();
  let raw_red8 = bitcast<i32>(shared_words[tx * 2u]);
  workgroupBarrier();
  var red8 = raw_red8;
  if (inside && ty == 0u) {
    let y14 = finish(red8);
    let to15 = params.v[2].x + k;
    b0[to15] = bitcast<u32>(y14);
  }
}

// ---- rows with a mean and a variance: formula, 10 workgroups of 64, 13 words
// reduction
@group(0) @binding(1) var<storage, read_write> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> b1: array<vec4<u32>>;
var<workgroup> shared_words: array<u32, 128>;
fn tern_keep(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) ^ params.v[3].y);
}
struct Result_pass0 {
  r0: f32,
  r1: f32,
}
fn pass0(v0: f32) -> Result_pass0 {
  let v6 = f32(1.0);
  return Result_pass0(v0, v6);
}
fn shift8(v1: f32) -> f32 {
  let v2 = f32(params.v[3].x);
  let v3 = tern_div(v1, v2);
  return v3;
}
fn shift9(v1: f32) -> f32 {
  let v2 = f32(params.v[3].x);
  let v3 = tern_div(v1, v2);
  return v3;
}
fn pass1(v0: f32, v1: f32, v9: f32) -> f32 {
  let v2 = f32(params.v[3].x);
  let v3 = tern_div(v1, v2);
  let v4 = (v0 - v3);
  let v10 = tern_div(v9, v2);
  let v11 = (v4 * v10);
  return v11;
}
  let row_group = group;
  let segment = 0u;
  let tx = thread / 2u;
  let ty = thread - tx * 2u;
  let k = row_group * 32u + tx;
  let inside = k < params.v[0].y;
  let begin = segment * params.v[1].y;
  let end = min(params.v[0].w, begin + params.v[1].y);
  var steps = 0u;
  var mean_of_acc1 = f32(0.0);
  var acc1 = f32(0.0);
  var acc7 = f32(0.0);
  var acc8 = f32(0.0);
  var acc9 = f32(0.0);
  if (inside) {
    for (var r = begin + ty * 4u; r < end; r += 8u) {
      let w0 = (params.v[2].z + k * params.v[2].w + r) / 4u;
      let q1 = b1[w0 + 0u];
      let x2 = bitcast<f32>(q1.x);
      let x3 = bitcast<f32>(q1.y);
      let x4 = bitcast<f32>(q1.z);
      let x5 = bitcast<f32>(q1.w);
      let y6 = pass0(x2);
      let y7 = pass0(x3);
      let y8 = pass0(x4);
      let y9 = pass0(x5);
      let m10 = acc7;
      acc1 = (acc1 + y6.r0);
      acc1 = (acc1 + y7.r0);
      acc1 = (acc1 + y8.r0);
      acc1 = (acc1 + y9.r0);
      acc7 = (acc7 + f32(4.0));
      steps += 1u;
      if ((steps & (steps - 1u)) == 0u) {
        let n11 = tern_div(f32(1.0), tern_max_f32(acc7, f32(1.0)));
        let m12 = (acc1 * n11);
        let delta13 = select((mean_of_acc1 - m12), f32(0.0), mean_of_acc1 == m12 || m10 == f32(0.0));
        mean_of_acc1 = m12;
        if (!((bitcast<u32>(delta13) << 1u) == 0u) && ((bitcast<u32>(acc9) & 0x7f800000u) != 0x7f800000u || (bitcast<u32>(delta13) & 0x7f800000u) == 0x7f800000u)) { acc9 = (acc9 + (delta13 * ((acc8 + acc8) + (delta13 * m10)))); }
        if (!((bitcast<u32>(delta13) << 1u) == 0u) && ((bitcast<u32>(acc8) & 0x7f800000u) != 0x7f800000u || (bitcast<u32>(delta13) & 0x7f800000u) == 0x7f800000u)) { acc8 = (acc8 + (delta13 * m10)); }
      }
      let s14 = mean_of_acc1;
      let p15 = (y6.r0 - s14);
      acc8 = (acc8 + p15);
      acc9 = (acc9 + (p15 * p15));
// … 2 more of these 3 lines (60e32c18), and
      let p18 = (y9.r0 - s14);
      acc8 = (acc8 + p18);
      acc9 = (acc9 + (p18 * p18));
    }
  }
  shared_words[thread] = bitcast<u32>(acc1);
  shared_words[thread + 64u] = bitcast<u32>(acc7);
  workgroupBarrier();
  if (ty < 1u) {
    shared_words[thread] = bitcast<u32>((bitcast<f32>(shared_words[thread]) + bitcast<f32>(shared_words[thread + 1u])));
    shared_words[thread + 64u] = bitcast<u32>((bitcast<f32>(shared_words[thread + 64u]) + bitcast<f32>(shared_words[thread + 1u + 64u])));
  }
  workgroupBarrier();
  let red1 = bitcast<f32>(shared_words[tx * 2u]);
  let red7 = bitcast<f32>(shared_words[tx * 2u + 64u]);
  workgroupBarrier();
  let n19 = tern_div(f32(1.0), tern_max_f32(red7, f32(1.0)));
  let delta20 = select((mean_of_acc1 - (red1 * n19)), f32(0.0), mean_of_acc1 == (red1 * n19) || acc7 == f32(0.0));
  if (!((bitcast<u32>(delta20) << 1u) == 0u) && ((bitcast<u32>(acc9) & 0x7f800000u) != 0x7f800000u || (bitcast<u32>(delta20) & 0x7f800000u) == 0x7f800000u)) { acc9 = (acc9 + (delta20 * ((acc8 + acc8) + (delta20 * acc7)))); }
  if (!((bitcast<u32>(delta20) << 1u) == 0u) && ((bitcast<u32>(acc8) & 0x7f800000u) != 0x7f800000u || (bitcast<u32>(delta20) & 0x7f800000u) == 0x7f800000u)) { acc8 = (acc8 + (delta20 * acc7)); }
  shared_words[thread] = bitcast<u32>(acc8);
  shared_words[thread + 64u] = bitcast<u32>(acc9);
  workgroupBarrier();
  if (ty < 1u) {
    shared_words[thread] = bitcast<u32>((bitcast<f32>(shared_words[thread]) + bitcast<f32>(shared_words[thread + 1u])));
    shared_words[thread + 64u] = bitcast<u32>((bitcast<f32>(shared_words[thread + 64u]) + bitcast<f32>(shared_words[thread + 1u + 64u])));
  }
  workgroupBarrier();
  let raw_red8 = bitcast<f32>(shared_words[tx * 2u]);
  let raw_red9 = bitcast<f32>(shared_words[tx * 2u + 64u]);
  workgroupBarrier();
  var red8 = raw_red8;
  if (inside) {
    let y21 = shift8(red1);
    let delta22 = select(((red1 * tern_div(f32(1.0), tern_max_f32(red7, f32(1.0)))) - y21), f32(0.0), (red1 * tern_div(f32(1.0), tern_max_f32(red7, f32(1.0)))) == y21 || red7 == f32(0.0));
    if (!((bitcast<u32>(delta22) << 1u) == 0u) && ((bitcast<u32>(red8) & 0x7f800000u) != 0x7f800000u || (bitcast<u32>(delta22) & 0x7f800000u) == 0x7f800000u)) { red8 = (red8 + (delta22 * red7)); }
  }
  var red9 = raw_red9;
  if (inside) {
    let y23 = shift9(red1);
    let delta24 = select(((red1 * tern_div(f32(1.0), tern_max_f32(red7, f32(1.0)))) - y23), f32(0.0), (red1 * tern_div(f32(1.0), tern_max_f32(red7, f32(1.0)))) == y23 || red7 == f32(0.0));
    if (!((bitcast<u32>(delta24) << 1u) == 0u) && ((bitcast<u32>(red9) & 0x7f800000u) != 0x7f800000u || (bitcast<u32>(delta24) & 0x7f800000u) == 0x7f800000u)) { red9 = (red9 + (delta24 * ((red8 + red8) - (delta24 * red7)))); }
  }
  if (inside) {
    for (var r = begin + ty * 4u; r < end; r += 8u) {
      let w25 = (params.v[2].z + k * params.v[2].w + r) / 4u;
      let q26 = b1[w25 + 0u];
      let x27 = bitcast<f32>(q26.x);
      let x28 = bitcast<f32>(q26.y);
      let x29 = bitcast<f32>(q26.z);
      let x30 = bitcast<f32>(q26.w);
      let y31 = pass1(x27, red1, red9);
      let y32 = pass1(x28, red1, red9);
      let y33 = pass1(x29, red1, red9);
      let y34 = pass1(x30, red1, red9);
      let w35 = (params.v[2].x + k * params.v[2].y + r) / 4u;
      b0[w35 + 0u] = vec4<u32>(bitcast<u32>(y31), bitcast<u32>(y32), bitcast<u32>(y33), bitcast<u32>(y34));
    }
  }
}

// ---- short rows: formula, 12 workgroups of 256, 13 words
// reduction
@group(0) @binding(1) var<storage, read_write> b0: array<u32>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read> b2: array<u32>;
var<workgroup> tile1: array<u32, 768>;
var<workgroup> tile0: array<u32, 768>;
fn tern_sqrt(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let magnitude = bits & 0x7fffffffu;
  let parts = tern_split_number(x);
  let exponent = i32(parts.y);
  let m = select(parts.x, 2.0 * parts.x, (exponent & 1) == 1);
  let inverse = inverseSqrt(m);
  let root = tern_keep(m * inverse);
  let corrected = fma(tern_residual(m, root, root), 0.5 * inverse, root);
  var result = bitcast<u32>(corrected) + (bitcast<u32>(exponent >> 1u) << 23u);
  result = select(result, 0x7fc00000u, bits >= 0x80000000u);
  return bitcast<f32>(select(result, bits, magnitude == 0u || bits == 0x7f800000u || magnitude > 0x7f800000u));
}
fn pass0(v0: f32) -> f32 {
  let v1 = (v0 * v0);
  return v1;
}
fn pass1(v0: f32, v2: f32, v5: f32) -> f32 {
  let v3 = tern_sqrt(v2);
  let v4 = tern_div(v0, v3);
  let v6 = (v4 * v5);
  return v6;
}
  let row_group = group;
  let segment = 0u;
  let tx = thread / 1u;
  let first_of_rows = row_group * 768u;
  let count_of_rows = min(768u, params.v[0].y * 3u - first_of_rows);
  for (var step = 0u; step < 3u; step += 1u) {
    let i = step * 256u + thread;
    if (i < count_of_rows) {
      tile1[i] = b1[params.v[2].z + first_of_rows + i];
    }
  }
  workgroupBarrier();
  for (var q = 0u; q < 1u; q += 1u) {
    let k = (row_group * 1u + q) * 256u + tx;
    let inside = k < params.v[0].y;
    let begin = segment * params.v[1].y;
    let end = min(params.v[0].w, begin + params.v[1].y);
    var acc2 = f32(0.0);
    if (inside) {
      {
        let r = 0u;
        let x0 = bitcast<f32>(tile1[(q * 256u + tx) * 3u + r]);
        let y1 = pass0(x0);
        acc2 = (acc2 + y1);
      }
// … 1 more of these 6 lines (e600c6d7), and
      {
        let r = 2u;
        let x0 = bitcast<f32>(tile1[(q * 256u + tx) * 3u + r]);
        let y1 = pass0(x0);
        acc2 = (acc2 + y1);
      }
    }
    let red2 = acc2;
    if (inside) {
      {
        let r = 0u;
        let x2 = bitcast<f32>(tile1[(q * 256u + tx) * 3u + r]);
        let x3 = bitcast<f32>(b2[params.v[3].x + r]);
        let y4 = pass1(x2, red2, x3);
        tile0[(q * 256u + tx) * 3u + r] = bitcast<u32>(y4);
      }
// … 1 more of these 7 lines (c4eb6377), and
      {
        let r = 2u;
        let x2 = bitcast<f32>(tile1[(q * 256u + tx) * 3u + r]);
        let x3 = bitcast<f32>(b2[params.v[3].x + r]);
        let y4 = pass1(x2, red2, x3);
        tile0[(q * 256u + tx) * 3u + r] = bitcast<u32>(y4);
      }
    }
  }
  workgroupBarrier();
  for (var step = 0u; step < 3u; step += 1u) {
    let i = step * 256u + thread;
    if (i < count_of_rows) {
      b0[params.v[2].x + first_of_rows + i] = tile0[i];
    }
  }
}

// ---- short rows of 16 bits: sum, 12 workgroups of 256, 11 words
// reduction
@group(0) @binding(1) var<storage, read_write> b0: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
var<workgroup> tile1: array<u32, 768>;
fn tern_bf16_bits_to_f32(h: u32) -> f32 {
  return bitcast<f32>((h & 0xffffu) << 16u);
}
fn tern_f32_to_bf16_bits(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let rounded = (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;
  return select(rounded, (bits >> 16u) | 0x40u, (bits & 0x7fffffffu) > 0x7f800000u);
}
fn pass0(v0: f32) -> f32 {
  return v0;
}
fn finish(v1: f32) -> f32 {
  return v1;
}
  let row_group = group;
  let segment = 0u;
  let tx = thread / 1u;
  let ty = thread - tx * 1u;
  let first_of_rows = row_group * 1536u;
  let count_of_rows = min(1536u, params.v[0].y * 6u - first_of_rows);
  for (var step = 0u; step < 3u; step += 1u) {
    let i = step * 256u + thread;
    if (i < (count_of_rows + 1u) / 2u) {
      tile1[i] = b1[(params.v[2].y + first_of_rows) / 2u + i];
    }
  }
  workgroupBarrier();
  for (var q = 0u; q < 1u; q += 1u) {
    let k = (row_group * 1u + q) * 256u + tx;
    let inside = k < params.v[0].y;
    let begin = segment * params.v[1].y;
    let end = min(params.v[0].w, begin + params.v[1].y);
    var acc1 = f32(0.0);
    if (inside) {
      for (var r = 0u; r < 6u; r += 1u) {
        let x0 = tern_bf16_bits_to_f32(((tile1[(q * 256u + tx) * 3u + (r) / 2u] >> (((r) & 1u) * 16u)) & 0xffffu));
        let y1 = pass0(x0);
        acc1 = (acc1 + y1);
      }
    }
    let red1 = acc1;
    if (inside && ty == 0u) {
      let y2 = finish(red1);
      let to3 = params.v[2].x + k;
      let by4 = (to3 & 1u) * 16u;
      {
        var old = atomicLoad(&b0[to3 >> 1u]);
        loop {
          let tried = atomicCompareExchangeWeak(&b0[to3 >> 1u], old, (old & ~((0xffffu << by4))) | ((tern_f32_to_bf16_bits(y2) << by4)));
          if (tried.exchanged) { break; }
          old = tried.old_value;
        }
      }
    }
  }
  workgroupBarrier();
}

// ---- columns: sum, 19 workgroups of 256, 11 words
// reduction
@group(0) @binding(1) var<storage, read_write> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> b1: array<vec4<u32>>;
var<workgroup> shared_words: array<u32, 1024>;
fn pass0(v0: f32) -> f32 {
  return v0;
}
fn finish(v1: f32) -> f32 {
  return v1;
}
  let row_group = group;
  let segment = 0u;
  let ty = thread / 4u;
  let tx = thread - ty * 4u;
  let k = (row_group * 4u + tx) * 4u;
  let inside = k < params.v[0].y;
  let begin = segment * params.v[1].y;
  let end = min(params.v[0].w, begin + params.v[1].y);
  var acc1_0 = f32(0.0);
  var acc1_1 = f32(0.0);
  var acc1_2 = f32(0.0);
  var acc1_3 = f32(0.0);
  if (inside) {
    for (var r = begin + ty * 1u; r < end; r += 64u) {
      let w0 = (params.v[2].y + k + r * params.v[2].z) / 4u;
      let q1 = b1[w0 + 0u];
      let x2 = bitcast<f32>(q1.x);
      let x3 = bitcast<f32>(q1.y);
      let x4 = bitcast<f32>(q1.z);
      let x5 = bitcast<f32>(q1.w);
      let y6 = pass0(x2);
      let y7 = pass0(x3);
      let y8 = pass0(x4);
      let y9 = pass0(x5);
      acc1_0 = (acc1_0 + y6);
      acc1_1 = (acc1_1 + y7);
      acc1_2 = (acc1_2 + y8);
      acc1_3 = (acc1_3 + y9);
    }
  }
  shared_words[thread] = bitcast<u32>(acc1_0);
  shared_words[thread + 256u] = bitcast<u32>(acc1_1);
  shared_words[thread + 512u] = bitcast<u32>(acc1_2);
  shared_words[thread + 768u] = bitcast<u32>(acc1_3);
  workgroupBarrier();
  if (ty < 32u) {
    shared_words[thread] = bitcast<u32>((bitcast<f32>(shared_words[thread]) + bitcast<f32>(shared_words[thread + 128u])));
    shared_words[thread + 256u] = bitcast<u32>((bitcast<f32>(shared_words[thread + 256u]) + bitcast<f32>(shared_words[thread + 128u + 256u])));
    shared_words[thread + 512u] = bitcast<u32>((bitcast<f32>(shared_words[thread + 512u]) + bitcast<f32>(shared_words[thread + 128u + 512u])));
    shared_words[thread + 768u] = bitcast<u32>((bitcast<f32>(shared_words[thread + 768u]) + bitcast<f32>(shared_words[thread + 128u + 768u])));
  }
// … 4 more of these 7 lines (841d7d6a), and
  workgroupBarrier();
  if (ty < 1u) {
    shared_words[thread] = bitcast<u32>((bitcast<f32>(shared_words[thread]) + bitcast<f32>(shared_words[thread + 4u])));
    shared_words[thread + 256u] = bitcast<u32>((bitcast<f32>(shared_words[thread + 256u]) + bitcast<f32>(shared_words[thread + 4u + 256u])));
    shared_words[thread + 512u] = bitcast<u32>((bitcast<f32>(shared_words[thread + 512u]) + bitcast<f32>(shared_words[thread + 4u + 512u])));
    shared_words[thread + 768u] = bitcast<u32>((bitcast<f32>(shared_words[thread + 768u]) + bitcast<f32>(shared_words[thread + 4u + 768u])));
  }
  workgroupBarrier();
  let red1_0 = bitcast<f32>(shared_words[tx]);
  let red1_1 = bitcast<f32>(shared_words[tx + 256u]);
  let red1_2 = bitcast<f32>(shared_words[tx + 512u]);
  let red1_3 = bitcast<f32>(shared_words[tx + 768u]);
  workgroupBarrier();
  if (inside && ty == 0u) {
    let y10 = finish(red1_0);
    let y11 = finish(red1_1);
    let y12 = finish(red1_2);
    let y13 = finish(red1_3);
    let w14 = (params.v[2].x + k) / 4u;
    b0[w14 + 0u] = vec4<u32>(bitcast<u32>(y10), bitcast<u32>(y11), bitcast<u32>(y12), bitcast<u32>(y13));
  }
}

// ---- many elements to one result: sum, 512 workgroups of 256, 9 words
// reduction
@group(0) @binding(1) var<storage, read> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
var<workgroup> shared_words: array<u32, 256>;
fn pass0(v0: f32) -> f32 {
  return v0;
}
  let row_group = group / params.v[0].w;
  let segment = group - row_group * params.v[0].w;
  let tx = thread / 256u;
  let ty = thread - tx * 256u;
  let k = row_group * 1u + tx;
  let inside = k < params.v[0].y;
  let begin = segment * params.v[1].x;
  let end = min(params.v[0].z, begin + params.v[1].x);
  var acc1 = f32(0.0);
  if (inside) {
    for (var r = begin + ty * 4u; r < end; r += 1024u) {
      let w0 = (params.v[1].w + r) / 4u;
      let q1 = b0[w0 + 0u];
      let x2 = bitcast<f32>(q1.x);
      let x3 = bitcast<f32>(q1.y);
      let x4 = bitcast<f32>(q1.z);
      let x5 = bitcast<f32>(q1.w);
      let y6 = pass0(x2);
      let y7 = pass0(x3);
      let y8 = pass0(x4);
      let y9 = pass0(x5);
      acc1 = (acc1 + y6);
      acc1 = (acc1 + y7);
      acc1 = (acc1 + y8);
      acc1 = (acc1 + y9);
    }
  }
  shared_words[thread] = bitcast<u32>(acc1);
  workgroupBarrier();
  if (ty < 128u) {
    shared_words[thread] = bitcast<u32>((bitcast<f32>(shared_words[thread]) + bitcast<f32>(shared_words[thread + 128u])));
  }
// … 6 more of these 4 lines (8a19e683), and
  workgroupBarrier();
  if (ty < 1u) {
    shared_words[thread] = bitcast<u32>((bitcast<f32>(shared_words[thread]) + bitcast<f32>(shared_words[thread + 1u])));
  }
  workgroupBarrier();
  let red1 = bitcast<f32>(shared_words[tx * 256u]);
  workgroupBarrier();
  if (inside && ty == 0u) {
    b1[params.v[2].x + (segment + params.v[1].y) * params.v[0].y + k] = bitcast<u32>(red1);
  }
}

// ---- many elements to one result: sum, 1 workgroups of 128, 10 words
// reduction
@group(0) @binding(1) var<storage, read_write> b0: array<u32>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read_write> b2: array<u32>;
var<workgroup> shared_words: array<u32, 128>;
fn finish(v1: f32) -> f32 {
  return v1;
}
@compute @workgroup_size(128)
  let row_group = group;
  let segment = 0u;
  let ty = thread / 1u;
  let tx = thread - ty * 1u;
  let k = row_group * 1u + tx;
  let inside = k < params.v[0].y;
  let begin = segment * params.v[1].x;
  let end = min(params.v[0].z, begin + params.v[1].x);
  var acc1 = f32(0.0);
  if (inside) {
    for (var r = ty; r < end; r += 128u) {
      acc1 = (acc1 + bitcast<f32>(b1[params.v[2].x + r * params.v[0].y + k]));
    }
  }
  shared_words[thread] = bitcast<u32>(acc1);
  workgroupBarrier();
  if (ty < 64u) {
    shared_words[thread] = bitcast<u32>((bitcast<f32>(shared_words[thread]) + bitcast<f32>(shared_words[thread + 64u])));
  }
// … 5 more of these 4 lines (96395c3a), and
  workgroupBarrier();
  if (ty < 1u) {
    shared_words[thread] = bitcast<u32>((bitcast<f32>(shared_words[thread]) + bitcast<f32>(shared_words[thread + 1u])));
  }
  workgroupBarrier();
  let red1 = bitcast<f32>(shared_words[tx]);
  workgroupBarrier();
  if (inside && ty == 0u) {
    b2[params.v[2].y + k] = bitcast<u32>(red1);
    let y0 = finish(red1);
    let to1 = params.v[1].w;
    b0[to1] = bitcast<u32>(y0);
  }
}

// ---- product: matmul_bias_activation, 4 workgroups of 64, 14 words
// product, tiles of 32x32x8
@group(0) @binding(1) var<storage, read_write> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> b1: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> b2: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> b3: array<vec4<u32>>;
var<workgroup> tile_a: array<vec4<f32>, 64>;
var<workgroup> tile_b: array<vec4<f32>, 64>;
fn epilogue(v0: f32, v1: f32) -> f32 {
  let v2 = (v0 + v1);
  let v3 = f32(0.0);
  let v4 = tern_max_f32(v2, v3);
  return v4;
}
  let tiles = params.v[1].x * params.v[1].y;
  let batch = group / tiles;
  let tile = group - batch * tiles;
  let band = tile / (8u * params.v[1].y);
  let in_band = tile - band * 8u * params.v[1].y;
  let band_rows = min(8u, params.v[1].x - band * 8u);
  let first_m = (band * 8u + in_band % band_rows) * 32u;
  let first_n = in_band / band_rows * 32u;
  let ty = thread / 8u;
  let tx = thread - ty * 8u;
  var acc0_0 = vec4<f32>();
  var acc1_0 = vec4<f32>();
  var acc2_0 = vec4<f32>();
  var acc3_0 = vec4<f32>();
  let base_a = params.v[2].z;
  let base_b = params.v[3].x;
  {
    var kt = 0u;
    var unit0_0 = vec4<u32>();
    var unit1_0 = vec4<u32>();
    {
      let major = thread / 2u;
      let minor = (thread - major * 2u) * 4u;
      let o = major;
      let kk = minor;
      let at = base_a + (first_m + o) * params.v[2].w + (kt + kk);
      unit0_0 = vec4<u32>();
      if (first_m + o < params.v[0].y && kt + kk < params.v[0].w) { unit0_0 = b2[at / 4u]; }
    }
    {
      let major = thread / 8u;
      let minor = (thread - major * 8u) * 4u;
      let o = minor;
      let kk = major;
      let at = base_b + (first_n + o) + (kt + kk) * params.v[3].y;
      unit1_0 = vec4<u32>();
      if (first_n + o < params.v[0].z && kt + kk < params.v[0].w) { unit1_0 = b3[at / 4u]; }
    }
    while (kt < params.v[0].w) {
      {
        let major = thread / 2u;
        let minor = (thread - major * 2u) * 4u;
        let o = major;
        let kk = minor;
        tile_a[(kk + 0u) * 8u + o / 4u][o & 3u] = bitcast<f32>(unit0_0.x);
        tile_a[(kk + 1u) * 8u + o / 4u][o & 3u] = bitcast<f32>(unit0_0.y);
        tile_a[(kk + 2u) * 8u + o / 4u][o & 3u] = bitcast<f32>(unit0_0.z);
        tile_a[(kk + 3u) * 8u + o / 4u][o & 3u] = bitcast<f32>(unit0_0.w);
      }
      {
        let major = thread / 8u;
        let minor = (thread - major * 8u) * 4u;
        let o = minor;
        let kk = major;
        tile_b[kk * 8u + o / 4u + 0u] = vec4<f32>(bitcast<f32>(unit1_0.x), bitcast<f32>(unit1_0.y), bitcast<f32>(unit1_0.z), bitcast<f32>(unit1_0.w));
      }
      workgroupBarrier();
      kt += 8u;
      if (kt < params.v[0].w) {
        {
          let major = thread / 2u;
          let minor = (thread - major * 2u) * 4u;
          let o = major;
          let kk = minor;
          let at = base_a + (first_m + o) * params.v[2].w + (kt + kk);
          unit0_0 = vec4<u32>();
          if (first_m + o < params.v[0].y && kt + kk < params.v[0].w) { unit0_0 = b2[at / 4u]; }
        }
        {
          let major = thread / 8u;
          let minor = (thread - major * 8u) * 4u;
          let o = minor;
          let kk = major;
          let at = base_b + (first_n + o) + (kt + kk) * params.v[3].y;
          unit1_0 = vec4<u32>();
          if (first_n + o < params.v[0].z && kt + kk < params.v[0].w) { unit1_0 = b3[at / 4u]; }
        }
      }
      {
        let a0 = tile_a[0u + ty];
        let c0 = tile_b[0u + tx];
        acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
        acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
        acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
        acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
// … 6 more of these 8 lines (af3c3b8d), and
      }
      {
        let a0 = tile_a[56u + ty];
        let c0 = tile_b[56u + tx];
        acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
        acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
        acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
        acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
      }
      workgroupBarrier();
    }
  }
  for (var i = 0u; i < 4u; i += 1u) {
    let row = first_m + (i / 4u) * 32u + ty * 4u + (i & 3u);
    if (row < params.v[0].y) {
      if (first_n + 0u + tx * 4u < params.v[0].z) {
        let col = first_n + 0u + tx * 4u;
        let w0 = (params.v[2].y + col) / 4u;
        let q1 = b1[w0 + 0u];
        let x2 = bitcast<f32>(q1.x);
        let x3 = bitcast<f32>(q1.y);
        let x4 = bitcast<f32>(q1.z);
        let x5 = bitcast<f32>(q1.w);
        let y6 = epilogue(acc0_0.x, x2);
        let y7 = epilogue(acc0_0.y, x3);
        let y8 = epilogue(acc0_0.z, x4);
        let y9 = epilogue(acc0_0.w, x5);
        let w10 = (params.v[1].w + row * params.v[2].x + col) / 4u;
        b0[w10 + 0u] = vec4<u32>(bitcast<u32>(y6), bitcast<u32>(y7), bitcast<u32>(y8), bitcast<u32>(y9));
      }
    }
    acc0_0 = acc1_0;
    acc1_0 = acc2_0;
    acc2_0 = acc3_0;
  }
}

// ---- transform: fft, 1 workgroups of 32, 18 words
// fft
struct Params { v: array<vec4<u32>, 5> }
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
var<workgroup> line_re: array<f32, 576>;
var<workgroup> line_im: array<f32, 576>;
struct Twiddle {
  re: f32,
  im: f32,
}
fn twiddle(a: u32, n: u32, step: f32) -> Twiddle {
  var at = 8u * a;
  let lower = at > 4u * n;
  if (lower) { at = 8u * n - at; }
  let left = at > 2u * n;
  if (left) { at = 4u * n - at; }
  let steep = at > n;
  if (steep) { at = 2u * n - at; }
  let angle = f32(at) * step;
  let x = angle * angle;
  let s = angle * (f32(1.0) + x * (f32(-0.16666666666666666) + x * (f32(0.0083333333333333332) + x * (f32(-0.00019841269841269841) + x * (f32(2.7557319223985893e-06) + x * f32(-2.505210838544172e-08))))));
  let c = (f32(1.0) + x * (f32(-0.5) + x * (f32(0.041666666666666664) + x * (f32(-0.0013888888888888889) + x * (f32(2.4801587301587302e-05) + x * (f32(-2.7557319223985888e-07) + x * f32(2.08767569878681e-09)))))));
  var re = select(c, s, steep);
  var im = select(s, c, steep);
  if (left) { re = -re; }
  if (!lower) { im = -im; }
  return Twiddle(re, im);
}
@compute @workgroup_size(32)
  for (var b = thread; b < 64u * 8u; b += 32u) {
    let own = b / 8u;
    let e = b - own * 8u;
    let line = min(group * 64u + own, params.v[0].y - 1u);
    var re = f32(0.0);
    var im = f32(0.0);
      let x0 = bitcast<f32>(b0[params.v[1].x + line * params.v[1].y + e * params.v[1].z]);
      re = x0;
      let x1 = bitcast<f32>(b0[params.v[1].w + line * params.v[2].x + e * params.v[2].y]);
      im = x1;
    line_re[own * 9u + e + (e >> 4u)] = re;
    line_im[own * 9u + e + (e >> 4u)] = im;
  }
  workgroupBarrier();
  {
    let turn0 = thread;
    let own0 = turn0 / 1u;
    let i0 = turn0 - own0 * 1u;
    let to0 = i0;
    let e0 = i0 + 0u;
    let x0r = line_re[own0 * 9u + e0 + (e0 >> 4u)];
    let x0i = line_im[own0 * 9u + e0 + (e0 >> 4u)];
// … 6 more of these 3 lines (d626ca1f), and
    let e7 = i0 + 7u;
    let x7r = line_re[own0 * 9u + e7 + (e7 >> 4u)];
    let x7i = line_im[own0 * 9u + e7 + (e7 >> 4u)];
    let t0_4_r = x0r + x4r;
    let t0_4_i = x0i + x4i;
    let t0_5_r = x0r - x4r;
    let t0_5_i = x0i - x4i;
    let t0_6_r = x2r + x6r;
    let t0_6_i = x2i + x6i;
    let t0_7_r = x2r - x6r;
    let t0_7_i = x2i - x6i;
    let t0_0_r = t0_4_r + t0_6_r;
    let t0_0_i = t0_4_i + t0_6_i;
    let t0_1_r = t0_5_r + t0_7_i;
    let t0_1_i = t0_5_i - t0_7_r;
    let t0_2_r = t0_4_r - t0_6_r;
    let t0_2_i = t0_4_i - t0_6_i;
    let t0_3_r = t0_5_r - t0_7_i;
    let t0_3_i = t0_5_i + t0_7_r;
    let t0_12_r = x1r + x5r;
    let t0_12_i = x1i + x5i;
    let t0_13_r = x1r - x5r;
    let t0_13_i = x1i - x5i;
    let t0_14_r = x3r + x7r;
    let t0_14_i = x3i + x7i;
    let t0_15_r = x3r - x7r;
    let t0_15_i = x3i - x7i;
    let t0_8_r = t0_12_r + t0_14_r;
    let t0_8_i = t0_12_i + t0_14_i;
    let t0_9_r = t0_13_r + t0_15_i;
    let t0_9_i = t0_13_i - t0_15_r;
    let t0_10_r = t0_12_r - t0_14_r;
    let t0_10_i = t0_12_i - t0_14_i;
    let t0_11_r = t0_13_r - t0_15_i;
    let t0_11_i = t0_13_i + t0_15_r;
    let t0_16_r = t0_9_r * f32(0.70710678118654757) + t0_9_i * f32(0.70710678118654757);
    let t0_16_i = t0_9_i * f32(0.70710678118654757) - t0_9_r * f32(0.70710678118654757);
    let t0_17_r = t0_10_i;
    let t0_17_i = -t0_10_r;
    let t0_18_r = t0_11_r * f32(-0.70710678118654757) + t0_11_i * f32(0.70710678118654757);
    let t0_18_i = t0_11_i * f32(-0.70710678118654757) - t0_11_r * f32(0.70710678118654757);
    let y0r = t0_0_r + t0_8_r;
    let y0i = t0_0_i + t0_8_i;
    let y4r = t0_0_r - t0_8_r;
    let y4i = t0_0_i - t0_8_i;
// … 2 more of these 4 lines (0786dfc5), and
    let y3r = t0_3_r + t0_18_r;
    let y3i = t0_3_i + t0_18_i;
    let y7r = t0_3_r - t0_18_r;
    let y7i = t0_3_i - t0_18_i;
    let turn1 = thread + 32u;
    let own1 = turn1 / 1u;
    let i1 = turn1 - own1 * 1u;
    let to1 = i1;
    let e8 = i1 + 0u;
    let x8r = line_re[own1 * 9u + e8 + (e8 >> 4u)];
    let x8i = line_im[own1 * 9u + e8 + (e8 >> 4u)];
// … 6 more of these 3 lines (44de5f66), and
    let e15 = i1 + 7u;
    let x15r = line_re[own1 * 9u + e15 + (e15 >> 4u)];
    let x15i = line_im[own1 * 9u + e15 + (e15 >> 4u)];
    let t8_4_r = x8r + x12r;
    let t8_4_i = x8i + x12i;
    let t8_5_r = x8r - x12r;
    let t8_5_i = x8i - x12i;
    let t8_6_r = x10r + x14r;
    let t8_6_i = x10i + x14i;
    let t8_7_r = x10r - x14r;
    let t8_7_i = x10i - x14i;
    let t8_0_r = t8_4_r + t8_6_r;
    let t8_0_i = t8_4_i + t8_6_i;
    let t8_1_r = t8_5_r + t8_7_i;
    let t8_1_i = t8_5_i - t8_7_r;
    let t8_2_r = t8_4_r - t8_6_r;
    let t8_2_i = t8_4_i - t8_6_i;
    let t8_3_r = t8_5_r - t8_7_i;
    let t8_3_i = t8_5_i + t8_7_r;
    let t8_12_r = x9r + x13r;
    let t8_12_i = x9i + x13i;
    let t8_13_r = x9r - x13r;
    let t8_13_i = x9i - x13i;
    let t8_14_r = x11r + x15r;
    let t8_14_i = x11i + x15i;
    let t8_15_r = x11r - x15r;
    let t8_15_i = x11i - x15i;
    let t8_8_r = t8_12_r + t8_14_r;
    let t8_8_i = t8_12_i + t8_14_i;
    let t8_9_r = t8_13_r + t8_15_i;
    let t8_9_i = t8_13_i - t8_15_r;
    let t8_10_r = t8_12_r - t8_14_r;
    let t8_10_i = t8_12_i - t8_14_i;
    let t8_11_r = t8_13_r - t8_15_i;
    let t8_11_i = t8_13_i + t8_15_r;
    let t8_16_r = t8_9_r * f32(0.70710678118654757) + t8_9_i * f32(0.70710678118654757);
    let t8_16_i = t8_9_i * f32(0.70710678118654757) - t8_9_r * f32(0.70710678118654757);
    let t8_17_r = t8_10_i;
    let t8_17_i = -t8_10_r;
    let t8_18_r = t8_11_r * f32(-0.70710678118654757) + t8_11_i * f32(0.70710678118654757);
    let t8_18_i = t8_11_i * f32(-0.70710678118654757) - t8_11_r * f32(0.70710678118654757);
    let y8r = t8_0_r + t8_8_r;
    let y8i = t8_0_i + t8_8_i;
    let y12r = t8_0_r - t8_8_r;
    let y12i = t8_0_i - t8_8_i;
// … 2 more of these 4 lines (7e2e83f1), and
    let y11r = t8_3_r + t8_18_r;
    let y11i = t8_3_i + t8_18_i;
    let y15r = t8_3_r - t8_18_r;
    let y15i = t8_3_i - t8_18_i;
    workgroupBarrier();
      let o0 = to0 + 0u;
      line_re[own0 * 9u + o0 + (o0 >> 4u)] = y0r;
      line_im[own0 * 9u + o0 + (o0 >> 4u)] = y0i;
// … 14 more of these 3 lines (1e9ec9cf), and
      let o15 = to1 + 7u;
      line_re[own1 * 9u + o15 + (o15 >> 4u)] = y15r;
      line_im[own1 * 9u + o15 + (o15 >> 4u)] = y15i;
  }
  workgroupBarrier();
  for (var b = thread; b < 64u * params.v[4].y; b += 32u) {
    let own = b / params.v[4].y;
    let e = b - own * params.v[4].y;
    let line = group * 64u + own;
    if (line < params.v[0].y) {
      var re = line_re[own * 9u + e + (e >> 4u)];
      var im = line_im[own * 9u + e + (e >> 4u)];
      let to2 = params.v[2].z + line * params.v[2].w + e * params.v[3].x;
      b1[to2] = bitcast<u32>(re);
      let to3 = params.v[3].y + line * params.v[3].z + e * params.v[3].w;
      b1[to3] = bitcast<u32>(im);
    }
  }
}

// ---- transform of lines of odd factors: fft, 1 workgroups of 64, 18 words
// fft
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
var<workgroup> line_re: array<f32, 896>;
var<workgroup> line_im: array<f32, 896>;
struct Twiddle {
  re: f32,
  im: f32,
}
fn twiddle(a: u32, n: u32, step: f32) -> Twiddle {
  var at = 8u * a;
  let lower = at > 4u * n;
  if (lower) { at = 8u * n - at; }
  let left = at > 2u * n;
  if (left) { at = 4u * n - at; }
  let steep = at > n;
  if (steep) { at = 2u * n - at; }
  let angle = f32(at) * step;
  let x = angle * angle;
  let s = angle * (f32(1.0) + x * (f32(-0.16666666666666666) + x * (f32(0.0083333333333333332) + x * (f32(-0.00019841269841269841) + x * (f32(2.7557319223985893e-06) + x * f32(-2.505210838544172e-08))))));
  let c = (f32(1.0) + x * (f32(-0.5) + x * (f32(0.041666666666666664) + x * (f32(-0.0013888888888888889) + x * (f32(2.4801587301587302e-05) + x * (f32(-2.7557319223985888e-07) + x * f32(2.08767569878681e-09)))))));
  var re = select(c, s, steep);
  var im = select(s, c, steep);
  if (left) { re = -re; }
  if (!lower) { im = -im; }
  return Twiddle(re, im);
}
  {
    let turn0 = thread;
    let own0 = turn0 / 35u;
    let i0 = turn0 - own0 * 35u;
    let p0 = i0;
    let to0 = i0 * 3u;
    var x0r = f32(0.0);
    var x0i = f32(0.0);
    {
      let e = i0 + 0u;
      let line = min(group * 8u + own0, params.v[0].y - 1u);
      var re = f32(0.0);
      var im = f32(0.0);
        let x0 = bitcast<f32>(b0[params.v[1].x + line * params.v[1].y + e * params.v[1].z]);
        re = x0;
        let x1 = bitcast<f32>(b0[params.v[1].w + line * params.v[2].x + e * params.v[2].y]);
        im = x1;
      x0r = re;
      x0i = im;
    }
// … 1 more of these 14 lines (d0a8c7e9), and
    var x2r = f32(0.0);
    var x2i = f32(0.0);
    {
      let e = i0 + 70u;
      let line = min(group * 8u + own0, params.v[0].y - 1u);
      var re = f32(0.0);
      var im = f32(0.0);
        let x0 = bitcast<f32>(b0[params.v[1].x + line * params.v[1].y + e * params.v[1].z]);
        re = x0;
        let x1 = bitcast<f32>(b0[params.v[1].w + line * params.v[2].x + e * params.v[2].y]);
        im = x1;
      x2r = re;
      x2i = im;
    }
    let t0_0_r = x1r + x2r;
    let t0_0_i = x1i + x2i;
    let t0_1_r = x1r - x2r;
    let t0_1_i = x1i - x2i;
    let y0r = x0r + t0_0_r;
    let y0i = x0i + t0_0_i;
    let t0_2_r = x0r + f32(-0.49999999999999978) * t0_0_r;
    let t0_2_i = x0i + f32(-0.49999999999999978) * t0_0_i;
    let t0_3_r = f32(0.86602540378443871) * t0_1_r;
    let t0_3_i = f32(0.86602540378443871) * t0_1_i;
    let y1r = t0_2_r + t0_3_i;
    let y1i = t0_2_i - t0_3_r;
    let y2r = t0_2_r - t0_3_i;
    let y2i = t0_2_i + t0_3_r;
    let w1 = twiddle(p0, 105u, f32(0.0074799825085471268));
    let w1r = w1.re;
    let w1i = w1.im;
    let w2r = w1r * w1r - w1i * w1i;
    let w2i = w1r * w1i + w1i * w1r;
    let turn1 = thread + 64u;
    let own1 = turn1 / 35u;
    let i1 = turn1 - own1 * 35u;
    let p1 = i1;
    let to1 = i1 * 3u;
    var x3r = f32(0.0);
    var x3i = f32(0.0);
    {
      let e = i1 + 0u;
      let line = min(group * 8u + own1, params.v[0].y - 1u);
      var re = f32(0.0);
      var im = f32(0.0);
        let x0 = bitcast<f32>(b0[params.v[1].x + line * params.v[1].y + e * params.v[1].z]);
        re = x0;
        let x1 = bitcast<f32>(b0[params.v[1].w + line * params.v[2].x + e * params.v[2].y]);
        im = x1;
      x3r = re;
      x3i = im;
    }
// … 1 more of these 14 lines (c0cafd6b), and
    var x5r = f32(0.0);
    var x5i = f32(0.0);
    {
      let e = i1 + 70u;
      let line = min(group * 8u + own1, params.v[0].y - 1u);
      var re = f32(0.0);
      var im = f32(0.0);
        let x0 = bitcast<f32>(b0[params.v[1].x + line * params.v[1].y + e * params.v[1].z]);
        re = x0;
        let x1 = bitcast<f32>(b0[params.v[1].w + line * params.v[2].x + e * params.v[2].y]);
        im = x1;
      x5r = re;
      x5i = im;
    }
    let t3_0_r = x4r + x5r;
    let t3_0_i = x4i + x5i;
    let t3_1_r = x4r - x5r;
    let t3_1_i = x4i - x5i;
    let y3r = x3r + t3_0_r;
    let y3i = x3i + t3_0_i;
    let t3_2_r = x3r + f32(-0.49999999999999978) * t3_0_r;
    let t3_2_i = x3i + f32(-0.49999999999999978) * t3_0_i;
    let t3_3_r = f32(0.86602540378443871) * t3_1_r;
    let t3_3_i = f32(0.86602540378443871) * t3_1_i;
    let y4r = t3_2_r + t3_3_i;
    let y4i = t3_2_i - t3_3_r;
    let y5r = t3_2_r - t3_3_i;
    let y5i = t3_2_i + t3_3_r;
    let w4 = twiddle(p1, 105u, f32(0.0074799825085471268));
    let w4r = w4.re;
    let w4i = w4.im;
    let w5r = w4r * w4r - w4i * w4i;
    let w5i = w4r * w4i + w4i * w4r;
    let turn2 = thread + 128u;
    let own2 = turn2 / 35u;
    let i2 = turn2 - own2 * 35u;
    let p2 = i2;
    let to2 = i2 * 3u;
    var x6r = f32(0.0);
    var x6i = f32(0.0);
    {
      let e = i2 + 0u;
      let line = min(group * 8u + own2, params.v[0].y - 1u);
      var re = f32(0.0);
      var im = f32(0.0);
        let x0 = bitcast<f32>(b0[params.v[1].x + line * params.v[1].y + e * params.v[1].z]);
        re = x0;
        let x1 = bitcast<f32>(b0[params.v[1].w + line * params.v[2].x + e * params.v[2].y]);
        im = x1;
      x6r = re;
      x6i = im;
    }
// … 1 more of these 14 lines (61da606d), and
    var x8r = f32(0.0);
    var x8i = f32(0.0);
    {
      let e = i2 + 70u;
      let line = min(group * 8u + own2, params.v[0].y - 1u);
      var re = f32(0.0);
      var im = f32(0.0);
        let x0 = bitcast<f32>(b0[params.v[1].x + line * params.v[1].y + e * params.v[1].z]);
        re = x0;
        let x1 = bitcast<f32>(b0[params.v[1].w + line * params.v[2].x + e * params.v[2].y]);
        im = x1;
      x8r = re;
      x8i = im;
    }
    let t6_0_r = x7r + x8r;
    let t6_0_i = x7i + x8i;
    let t6_1_r = x7r - x8r;
    let t6_1_i = x7i - x8i;
    let y6r = x6r + t6_0_r;
    let y6i = x6i + t6_0_i;
    let t6_2_r = x6r + f32(-0.49999999999999978) * t6_0_r;
    let t6_2_i = x6i + f32(-0.49999999999999978) * t6_0_i;
    let t6_3_r = f32(0.86602540378443871) * t6_1_r;
    let t6_3_i = f32(0.86602540378443871) * t6_1_i;
    let y7r = t6_2_r + t6_3_i;
    let y7i = t6_2_i - t6_3_r;
    let y8r = t6_2_r - t6_3_i;
    let y8i = t6_2_i + t6_3_r;
    let w7 = twiddle(p2, 105u, f32(0.0074799825085471268));
    let w7r = w7.re;
    let w7i = w7.im;
    let w8r = w7r * w7r - w7i * w7i;
    let w8i = w7r * w7i + w7i * w7r;
    let turn3 = thread + 192u;
    let own3 = turn3 / 35u;
    let i3 = turn3 - own3 * 35u;
    let p3 = i3;
    let to3 = i3 * 3u;
    var x9r = f32(0.0);
    var x9i = f32(0.0);
    {
      let e = i3 + 0u;
      let line = min(group * 8u + own3, params.v[0].y - 1u);
      var re = f32(0.0);
      var im = f32(0.0);
        let x0 = bitcast<f32>(b0[params.v[1].x + line * params.v[1].y + e * params.v[1].z]);
        re = x0;
        let x1 = bitcast<f32>(b0[params.v[1].w + line * params.v[2].x + e * params.v[2].y]);
        im = x1;
      x9r = re;
      x9i = im;
    }
// … 1 more of these 14 lines (92a14293), and
    var x11r = f32(0.0);
    var x11i = f32(0.0);
    {
      let e = i3 + 70u;
      let line = min(group * 8u + own3, params.v[0].y - 1u);
      var re = f32(0.0);
      var im = f32(0.0);
        let x0 = bitcast<f32>(b0[params.v[1].x + line * params.v[1].y + e * params.v[1].z]);
        re = x0;
        let x1 = bitcast<f32>(b0[params.v[1].w + line * params.v[2].x + e * params.v[2].y]);
        im = x1;
      x11r = re;
      x11i = im;
    }
    let t9_0_r = x10r + x11r;
    let t9_0_i = x10i + x11i;
    let t9_1_r = x10r - x11r;
    let t9_1_i = x10i - x11i;
    let y9r = x9r + t9_0_r;
    let y9i = x9i + t9_0_i;
    let t9_2_r = x9r + f32(-0.49999999999999978) * t9_0_r;
    let t9_2_i = x9i + f32(-0.49999999999999978) * t9_0_i;
    let t9_3_r = f32(0.86602540378443871) * t9_1_r;
    let t9_3_i = f32(0.86602540378443871) * t9_1_i;
    let y10r = t9_2_r + t9_3_i;
    let y10i = t9_2_i - t9_3_r;
    let y11r = t9_2_r - t9_3_i;
    let y11i = t9_2_i + t9_3_r;
    let w10 = twiddle(p3, 105u, f32(0.0074799825085471268));
    let w10r = w10.re;
    let w10i = w10.im;
    let w11r = w10r * w10r - w10i * w10i;
    let w11i = w10r * w10i + w10i * w10r;
    let turn4 = min(thread + 256u, 279u);
    let own4 = turn4 / 35u;
    let i4 = turn4 - own4 * 35u;
    let p4 = i4;
    let to4 = i4 * 3u;
    var x12r = f32(0.0);
    var x12i = f32(0.0);
    {
      let e = i4 + 0u;
      let line = min(group * 8u + own4, params.v[0].y - 1u);
      var re = f32(0.0);
      var im = f32(0.0);
        let x0 = bitcast<f32>(b0[params.v[1].x + line * params.v[1].y + e * params.v[1].z]);
        re = x0;
        let x1 = bitcast<f32>(b0[params.v[1].w + line * params.v[2].x + e * params.v[2].y]);
        im = x1;
      x12r = re;
      x12i = im;
    }
// … 1 more of these 14 lines (cecafa11), and
    var x14r = f32(0.0);
    var x14i = f32(0.0);
    {
      let e = i4 + 70u;
      let line = min(group * 8u + own4, params.v[0].y - 1u);
      var re = f32(0.0);
      var im = f32(0.0);
        let x0 = bitcast<f32>(b0[params.v[1].x + line * params.v[1].y + e * params.v[1].z]);
        re = x0;
        let x1 = bitcast<f32>(b0[params.v[1].w + line * params.v[2].x + e * params.v[2].y]);
        im = x1;
      x14r = re;
      x14i = im;
    }
    let t12_0_r = x13r + x14r;
    let t12_0_i = x13i + x14i;
    let t12_1_r = x13r - x14r;
    let t12_1_i = x13i - x14i;
    let y12r = x12r + t12_0_r;
    let y12i = x12i + t12_0_i;
    let t12_2_r = x12r + f32(-0.49999999999999978) * t12_0_r;
    let t12_2_i = x12i + f32(-0.49999999999999978) * t12_0_i;
    let t12_3_r = f32(0.86602540378443871) * t12_1_r;
    let t12_3_i = f32(0.86602540378443871) * t12_1_i;
    let y13r = t12_2_r + t12_3_i;
    let y13i = t12_2_i - t12_3_r;
    let y14r = t12_2_r - t12_3_i;
    let y14i = t12_2_i + t12_3_r;
    let w13 = twiddle(p4, 105u, f32(0.0074799825085471268));
    let w13r = w13.re;
    let w13i = w13.im;
    let w14r = w13r * w13r - w13i * w13i;
    let w14i = w13r * w13i + w13i * w13r;
      let o0 = to0 + 0u;
      line_re[own0 * 112u + o0 + (o0 >> 4u)] = y0r;
      line_im[own0 * 112u + o0 + (o0 >> 4u)] = y0i;
      let o1 = to0 + 1u;
      line_re[own0 * 112u + o1 + (o1 >> 4u)] = y1r * w1r - y1i * w1i;
      line_im[own0 * 112u + o1 + (o1 >> 4u)] = y1r * w1i + y1i * w1r;
      let o2 = to0 + 2u;
      line_re[own0 * 112u + o2 + (o2 >> 4u)] = y2r * w2r - y2i * w2i;
      line_im[own0 * 112u + o2 + (o2 >> 4u)] = y2r * w2i + y2i * w2r;
// … 2 more of these 9 lines (984e7085), and
      let o9 = to3 + 0u;
      line_re[own3 * 112u + o9 + (o9 >> 4u)] = y9r;
      line_im[own3 * 112u + o9 + (o9 >> 4u)] = y9i;
      let o10 = to3 + 1u;
      line_re[own3 * 112u + o10 + (o10 >> 4u)] = y10r * w10r - y10i * w10i;
      line_im[own3 * 112u + o10 + (o10 >> 4u)] = y10r * w10i + y10i * w10r;
      let o11 = to3 + 2u;
      line_re[own3 * 112u + o11 + (o11 >> 4u)] = y11r * w11r - y11i * w11i;
      line_im[own3 * 112u + o11 + (o11 >> 4u)] = y11r * w11i + y11i * w11r;
    if (thread < 24u) {
      let o12 = to4 + 0u;
      line_re[own4 * 112u + o12 + (o12 >> 4u)] = y12r;
      line_im[own4 * 112u + o12 + (o12 >> 4u)] = y12i;
      let o13 = to4 + 1u;
      line_re[own4 * 112u + o13 + (o13 >> 4u)] = y13r * w13r - y13i * w13i;
      line_im[own4 * 112u + o13 + (o13 >> 4u)] = y13r * w13i + y13i * w13r;
      let o14 = to4 + 2u;
      line_re[own4 * 112u + o14 + (o14 >> 4u)] = y14r * w14r - y14i * w14i;
      line_im[own4 * 112u + o14 + (o14 >> 4u)] = y14r * w14i + y14i * w14r;
    }
  }
  workgroupBarrier();
  {
    let turn0 = thread;
    let own0 = turn0 / 21u;
    let i0 = turn0 - own0 * 21u;
    let p0 = i0 / 3u;
    let to0 = p0 * 15u + i0 - p0 * 3u;
    let e0 = i0 + 0u;
    let x0r = line_re[own0 * 112u + e0 + (e0 >> 4u)];
    let x0i = line_im[own0 * 112u + e0 + (e0 >> 4u)];
// … 3 more of these 3 lines (47766306), and
    let e4 = i0 + 84u;
    let x4r = line_re[own0 * 112u + e4 + (e4 >> 4u)];
    let x4i = line_im[own0 * 112u + e4 + (e4 >> 4u)];
    let t0_0_r = x1r + x4r;
    let t0_0_i = x1i + x4i;
    let t0_1_r = x1r - x4r;
    let t0_1_i = x1i - x4i;
    let t0_2_r = x2r + x3r;
    let t0_2_i = x2i + x3i;
    let t0_3_r = x2r - x3r;
    let t0_3_i = x2i - x3i;
    let y0r = x0r + t0_0_r + t0_2_r;
    let y0i = x0i + t0_0_i + t0_2_i;
    let t0_4_r = x0r + f32(0.30901699437494745) * t0_0_r + f32(-0.80901699437494734) * t0_2_r;
    let t0_4_i = x0i + f32(0.30901699437494745) * t0_0_i + f32(-0.80901699437494734) * t0_2_i;
    let t0_5_r = f32(0.95105651629515353) * t0_1_r + f32(0.58778525229247325) * t0_3_r;
    let t0_5_i = f32(0.95105651629515353) * t0_1_i + f32(0.58778525229247325) * t0_3_i;
    let y1r = t0_4_r + t0_5_i;
    let y1i = t0_4_i - t0_5_r;
    let y4r = t0_4_r - t0_5_i;
    let y4i = t0_4_i + t0_5_r;
    let t0_6_r = x0r + f32(-0.80901699437494734) * t0_0_r + f32(0.30901699437494723) * t0_2_r;
    let t0_6_i = x0i + f32(-0.80901699437494734) * t0_0_i + f32(0.30901699437494723) * t0_2_i;
    let t0_7_r = f32(0.58778525229247325) * t0_1_r + f32(-0.95105651629515364) * t0_3_r;
    let t0_7_i = f32(0.58778525229247325) * t0_1_i + f32(-0.95105651629515364) * t0_3_i;
    let y2r = t0_6_r + t0_7_i;
    let y2i = t0_6_i - t0_7_r;
    let y3r = t0_6_r - t0_7_i;
    let y3i = t0_6_i + t0_7_r;
    let w1 = twiddle(p0, 35u, f32(0.022439947525641379));
    let w1r = w1.re;
    let w1i = w1.im;
    let w2r = w1r * w1r - w1i * w1i;
    let w2i = w1r * w1i + w1i * w1r;
    let w3r = w1r * w2r - w1i * w2i;
    let w3i = w1r * w2i + w1i * w2r;
    let w4r = w2r * w2r - w2i * w2i;
    let w4i = w2r * w2i + w2i * w2r;
    let turn1 = thread + 64u;
    let own1 = turn1 / 21u;
    let i1 = turn1 - own1 * 21u;
    let p1 = i1 / 3u;
    let to1 = p1 * 15u + i1 - p1 * 3u;
    let e5 = i1 + 0u;
    let x5r = line_re[own1 * 112u + e5 + (e5 >> 4u)];
    let x5i = line_im[own1 * 112u + e5 + (e5 >> 4u)];
// … 3 more of these 3 lines (ef154340), and
    let e9 = i1 + 84u;
    let x9r = line_re[own1 * 112u + e9 + (e9 >> 4u)];
    let x9i = line_im[own1 * 112u + e9 + (e9 >> 4u)];
    let t5_0_r = x6r + x9r;
    let t5_0_i = x6i + x9i;
    let t5_1_r = x6r - x9r;
    let t5_1_i = x6i - x9i;
    let t5_2_r = x7r + x8r;
    let t5_2_i = x7i + x8i;
    let t5_3_r = x7r - x8r;
    let t5_3_i = x7i - x8i;
    let y5r = x5r + t5_0_r + t5_2_r;
    let y5i = x5i + t5_0_i + t5_2_i;
    let t5_4_r = x5r + f32(0.30901699437494745) * t5_0_r + f32(-0.80901699437494734) * t5_2_r;
    let t5_4_i = x5i + f32(0.30901699437494745) * t5_0_i + f32(-0.80901699437494734) * t5_2_i;
    let t5_5_r = f32(0.95105651629515353) * t5_1_r + f32(0.58778525229247325) * t5_3_r;
    let t5_5_i = f32(0.95105651629515353) * t5_1_i + f32(0.58778525229247325) * t5_3_i;
    let y6r = t5_4_r + t5_5_i;
    let y6i = t5_4_i - t5_5_r;
    let y9r = t5_4_r - t5_5_i;
    let y9i = t5_4_i + t5_5_r;
    let t5_6_r = x5r + f32(-0.80901699437494734) * t5_0_r + f32(0.30901699437494723) * t5_2_r;
    let t5_6_i = x5i + f32(-0.80901699437494734) * t5_0_i + f32(0.30901699437494723) * t5_2_i;
    let t5_7_r = f32(0.58778525229247325) * t5_1_r + f32(-0.95105651629515364) * t5_3_r;
    let t5_7_i = f32(0.58778525229247325) * t5_1_i + f32(-0.95105651629515364) * t5_3_i;
    let y7r = t5_6_r + t5_7_i;
    let y7i = t5_6_i - t5_7_r;
    let y8r = t5_6_r - t5_7_i;
    let y8i = t5_6_i + t5_7_r;
    let w6 = twiddle(p1, 35u, f32(0.022439947525641379));
    let w6r = w6.re;
    let w6i = w6.im;
    let w7r = w6r * w6r - w6i * w6i;
    let w7i = w6r * w6i + w6i * w6r;
    let w8r = w6r * w7r - w6i * w7i;
    let w8i = w6r * w7i + w6i * w7r;
    let w9r = w7r * w7r - w7i * w7i;
    let w9i = w7r * w7i + w7i * w7r;
    let turn2 = min(thread + 128u, 167u);
    let own2 = turn2 / 21u;
    let i2 = turn2 - own2 * 21u;
    let p2 = i2 / 3u;
    let to2 = p2 * 15u + i2 - p2 * 3u;
    let e10 = i2 + 0u;
    let x10r = line_re[own2 * 112u + e10 + (e10 >> 4u)];
    let x10i = line_im[own2 * 112u + e10 + (e10 >> 4u)];
// … 3 more of these 3 lines (ea277f1f), and
    let e14 = i2 + 84u;
    let x14r = line_re[own2 * 112u + e14 + (e14 >> 4u)];
    let x14i = line_im[own2 * 112u + e14 + (e14 >> 4u)];
    let t10_0_r = x11r + x14r;
    let t10_0_i = x11i + x14i;
    let t10_1_r = x11r - x14r;
    let t10_1_i = x11i - x14i;
    let t10_2_r = x12r + x13r;
    let t10_2_i = x12i + x13i;
    let t10_3_r = x12r - x13r;
    let t10_3_i = x12i - x13i;
    let y10r = x10r + t10_0_r + t10_2_r;
    let y10i = x10i + t10_0_i + t10_2_i;
    let t10_4_r = x10r + f32(0.30901699437494745) * t10_0_r + f32(-0.80901699437494734) * t10_2_r;
    let t10_4_i = x10i + f32(0.30901699437494745) * t10_0_i + f32(-0.80901699437494734) * t10_2_i;
    let t10_5_r = f32(0.95105651629515353) * t10_1_r + f32(0.58778525229247325) * t10_3_r;
    let t10_5_i = f32(0.95105651629515353) * t10_1_i + f32(0.58778525229247325) * t10_3_i;
    let y11r = t10_4_r + t10_5_i;
    let y11i = t10_4_i - t10_5_r;
    let y14r = t10_4_r - t10_5_i;
    let y14i = t10_4_i + t10_5_r;
    let t10_6_r = x10r + f32(-0.80901699437494734) * t10_0_r + f32(0.30901699437494723) * t10_2_r;
    let t10_6_i = x10i + f32(-0.80901699437494734) * t10_0_i + f32(0.30901699437494723) * t10_2_i;
    let t10_7_r = f32(0.58778525229247325) * t10_1_r + f32(-0.95105651629515364) * t10_3_r;
    let t10_7_i = f32(0.58778525229247325) * t10_1_i + f32(-0.95105651629515364) * t10_3_i;
    let y12r = t10_6_r + t10_7_i;
    let y12i = t10_6_i - t10_7_r;
    let y13r = t10_6_r - t10_7_i;
    let y13i = t10_6_i + t10_7_r;
    let w11 = twiddle(p2, 35u, f32(0.022439947525641379));
    let w11r = w11.re;
    let w11i = w11.im;
    let w12r = w11r * w11r - w11i * w11i;
    let w12i = w11r * w11i + w11i * w11r;
    let w13r = w11r * w12r - w11i * w12i;
    let w13i = w11r * w12i + w11i * w12r;
    let w14r = w12r * w12r - w12i * w12i;
    let w14i = w12r * w12i + w12i * w12r;
    workgroupBarrier();
      let o0 = to0 + 0u;
      line_re[own0 * 112u + o0 + (o0 >> 4u)] = y0r;
      line_im[own0 * 112u + o0 + (o0 >> 4u)] = y0i;
      let o1 = to0 + 3u;
      line_re[own0 * 112u + o1 + (o1 >> 4u)] = y1r * w1r - y1i * w1i;
      line_im[own0 * 112u + o1 + (o1 >> 4u)] = y1r * w1i + y1i * w1r;
// … 2 more of these 3 lines (9e13c953), and
      let o4 = to0 + 12u;
      line_re[own0 * 112u + o4 + (o4 >> 4u)] = y4r * w4r - y4i * w4i;
      line_im[own0 * 112u + o4 + (o4 >> 4u)] = y4r * w4i + y4i * w4r;
      let o5 = to1 + 0u;
      line_re[own1 * 112u + o5 + (o5 >> 4u)] = y5r;
      line_im[own1 * 112u + o5 + (o5 >> 4u)] = y5i;
      let o6 = to1 + 3u;
      line_re[own1 * 112u + o6 + (o6 >> 4u)] = y6r * w6r - y6i * w6i;
      line_im[own1 * 112u + o6 + (o6 >> 4u)] = y6r * w6i + y6i * w6r;
// … 2 more of these 3 lines (a73d6d85), and
      let o9 = to1 + 12u;
      line_re[own1 * 112u + o9 + (o9 >> 4u)] = y9r * w9r - y9i * w9i;
      line_im[own1 * 112u + o9 + (o9 >> 4u)] = y9r * w9i + y9i * w9r;
    if (thread < 40u) {
      let o10 = to2 + 0u;
      line_re[own2 * 112u + o10 + (o10 >> 4u)] = y10r;
      line_im[own2 * 112u + o10 + (o10 >> 4u)] = y10i;
      let o11 = to2 + 3u;
      line_re[own2 * 112u + o11 + (o11 >> 4u)] = y11r * w11r - y11i * w11i;
      line_im[own2 * 112u + o11 + (o11 >> 4u)] = y11r * w11i + y11i * w11r;
// … 2 more of these 3 lines (f5a7c5c5), and
      let o14 = to2 + 12u;
      line_re[own2 * 112u + o14 + (o14 >> 4u)] = y14r * w14r - y14i * w14i;
      line_im[own2 * 112u + o14 + (o14 >> 4u)] = y14r * w14i + y14i * w14r;
    }
  }
  workgroupBarrier();
  {
    let turn0 = thread;
    let own0 = turn0 / 15u;
    let i0 = turn0 - own0 * 15u;
    let to0 = i0;
    let e0 = i0 + 0u;
    let x0r = line_re[own0 * 112u + e0 + (e0 >> 4u)];
    let x0i = line_im[own0 * 112u + e0 + (e0 >> 4u)];
// … 5 more of these 3 lines (74af9ac7), and
    let e6 = i0 + 90u;
    let x6r = line_re[own0 * 112u + e6 + (e6 >> 4u)];
    let x6i = line_im[own0 * 112u + e6 + (e6 >> 4u)];
    let t0_0_r = x1r + x6r;
    let t0_0_i = x1i + x6i;
    let t0_1_r = x1r - x6r;
    let t0_1_i = x1i - x6i;
// … 1 more of these 4 lines (cb47cb6f), and
    let t0_4_r = x3r + x4r;
    let t0_4_i = x3i + x4i;
    let t0_5_r = x3r - x4r;
    let t0_5_i = x3i - x4i;
    let y0r = x0r + t0_0_r + t0_2_r + t0_4_r;
    let y0i = x0i + t0_0_i + t0_2_i + t0_4_i;
    let t0_6_r = x0r + f32(0.62348980185873359) * t0_0_r + f32(-0.22252093395631434) * t0_2_r + f32(-0.90096886790241903) * t0_4_r;
    let t0_6_i = x0i + f32(0.62348980185873359) * t0_0_i + f32(-0.22252093395631434) * t0_2_i + f32(-0.90096886790241903) * t0_4_i;
    let t0_7_r = f32(0.7818314824680298) * t0_1_r + f32(0.97492791218182362) * t0_3_r + f32(0.43388373911755823) * t0_5_r;
    let t0_7_i = f32(0.7818314824680298) * t0_1_i + f32(0.97492791218182362) * t0_3_i + f32(0.43388373911755823) * t0_5_i;
    let y1r = t0_6_r + t0_7_i;
    let y1i = t0_6_i - t0_7_r;
    let y6r = t0_6_r - t0_7_i;
    let y6i = t0_6_i + t0_7_r;
    let t0_8_r = x0r + f32(-0.22252093395631434) * t0_0_r + f32(-0.90096886790241915) * t0_2_r + f32(0.62348980185873337) * t0_4_r;
    let t0_8_i = x0i + f32(-0.22252093395631434) * t0_0_i + f32(-0.90096886790241915) * t0_2_i + f32(0.62348980185873337) * t0_4_i;
    let t0_9_r = f32(0.97492791218182362) * t0_1_r + f32(-0.43388373911755801) * t0_3_r + f32(-0.78183148246802991) * t0_5_r;
    let t0_9_i = f32(0.97492791218182362) * t0_1_i + f32(-0.43388373911755801) * t0_3_i + f32(-0.78183148246802991) * t0_5_i;
    let y2r = t0_8_r + t0_9_i;
    let y2i = t0_8_i - t0_9_r;
    let y5r = t0_8_r - t0_9_i;
    let y5i = t0_8_i + t0_9_r;
    let t0_10_r = x0r + f32(-0.90096886790241903) * t0_0_r + f32(0.62348980185873337) * t0_2_r + f32(-0.22252093395631434) * t0_4_r;
    let t0_10_i = x0i + f32(-0.90096886790241903) * t0_0_i + f32(0.62348980185873337) * t0_2_i + f32(-0.22252093395631434) * t0_4_i;
    let t0_11_r = f32(0.43388373911755823) * t0_1_r + f32(-0.78183148246802991) * t0_3_r + f32(0.97492791218182362) * t0_5_r;
    let t0_11_i = f32(0.43388373911755823) * t0_1_i + f32(-0.78183148246802991) * t0_3_i + f32(0.97492791218182362) * t0_5_i;
    let y3r = t0_10_r + t0_11_i;
    let y3i = t0_10_i - t0_11_r;
    let y4r = t0_10_r - t0_11_i;
    let y4i = t0_10_i + t0_11_r;
    let turn1 = min(thread + 64u, 119u);
    let own1 = turn1 / 15u;
    let i1 = turn1 - own1 * 15u;
    let to1 = i1;
    let e7 = i1 + 0u;
    let x7r = line_re[own1 * 112u + e7 + (e7 >> 4u)];
    let x7i = line_im[own1 * 112u + e7 + (e7 >> 4u)];
// … 5 more of these 3 lines (1957dd44), and
    let e13 = i1 + 90u;
    let x13r = line_re[own1 * 112u + e13 + (e13 >> 4u)];
    let x13i = line_im[own1 * 112u + e13 + (e13 >> 4u)];
    let t7_0_r = x8r + x13r;
    let t7_0_i = x8i + x13i;
    let t7_1_r = x8r - x13r;
    let t7_1_i = x8i - x13i;
// … 1 more of these 4 lines (a7467181), and
    let t7_4_r = x10r + x11r;
    let t7_4_i = x10i + x11i;
    let t7_5_r = x10r - x11r;
    let t7_5_i = x10i - x11i;
    let y7r = x7r + t7_0_r + t7_2_r + t7_4_r;
    let y7i = x7i + t7_0_i + t7_2_i + t7_4_i;
    let t7_6_r = x7r + f32(0.62348980185873359) * t7_0_r + f32(-0.22252093395631434) * t7_2_r + f32(-0.90096886790241903) * t7_4_r;
    let t7_6_i = x7i + f32(0.62348980185873359) * t7_0_i + f32(-0.22252093395631434) * t7_2_i + f32(-0.90096886790241903) * t7_4_i;
    let t7_7_r = f32(0.7818314824680298) * t7_1_r + f32(0.97492791218182362) * t7_3_r + f32(0.43388373911755823) * t7_5_r;
    let t7_7_i = f32(0.7818314824680298) * t7_1_i + f32(0.97492791218182362) * t7_3_i + f32(0.43388373911755823) * t7_5_i;
    let y8r = t7_6_r + t7_7_i;
    let y8i = t7_6_i - t7_7_r;
    let y13r = t7_6_r - t7_7_i;
    let y13i = t7_6_i + t7_7_r;
    let t7_8_r = x7r + f32(-0.22252093395631434) * t7_0_r + f32(-0.90096886790241915) * t7_2_r + f32(0.62348980185873337) * t7_4_r;
    let t7_8_i = x7i + f32(-0.22252093395631434) * t7_0_i + f32(-0.90096886790241915) * t7_2_i + f32(0.62348980185873337) * t7_4_i;
    let t7_9_r = f32(0.97492791218182362) * t7_1_r + f32(-0.43388373911755801) * t7_3_r + f32(-0.78183148246802991) * t7_5_r;
    let t7_9_i = f32(0.97492791218182362) * t7_1_i + f32(-0.43388373911755801) * t7_3_i + f32(-0.78183148246802991) * t7_5_i;
    let y9r = t7_8_r + t7_9_i;
    let y9i = t7_8_i - t7_9_r;
    let y12r = t7_8_r - t7_9_i;
    let y12i = t7_8_i + t7_9_r;
    let t7_10_r = x7r + f32(-0.90096886790241903) * t7_0_r + f32(0.62348980185873337) * t7_2_r + f32(-0.22252093395631434) * t7_4_r;
    let t7_10_i = x7i + f32(-0.90096886790241903) * t7_0_i + f32(0.62348980185873337) * t7_2_i + f32(-0.22252093395631434) * t7_4_i;
    let t7_11_r = f32(0.43388373911755823) * t7_1_r + f32(-0.78183148246802991) * t7_3_r + f32(0.97492791218182362) * t7_5_r;
    let t7_11_i = f32(0.43388373911755823) * t7_1_i + f32(-0.78183148246802991) * t7_3_i + f32(0.97492791218182362) * t7_5_i;
    let y10r = t7_10_r + t7_11_i;
    let y10i = t7_10_i - t7_11_r;
    let y11r = t7_10_r - t7_11_i;
    let y11i = t7_10_i + t7_11_r;
      {
        let e = to0 + 0u;
        let line = group * 8u + own0;
        if (line < params.v[0].y) {
          var re = y0r;
          var im = y0i;
          let to2 = params.v[2].z + line * params.v[2].w + e * params.v[3].x;
          b1[to2] = bitcast<u32>(re);
          let to3 = params.v[3].y + line * params.v[3].z + e * params.v[3].w;
          b1[to3] = bitcast<u32>(im);
        }
      }
// … 5 more of these 12 lines (685f77c9), and
      {
        let e = to0 + 90u;
        let line = group * 8u + own0;
        if (line < params.v[0].y) {
          var re = y6r;
          var im = y6i;
          let to2 = params.v[2].z + line * params.v[2].w + e * params.v[3].x;
          b1[to2] = bitcast<u32>(re);
          let to3 = params.v[3].y + line * params.v[3].z + e * params.v[3].w;
          b1[to3] = bitcast<u32>(im);
        }
      }
    if (thread < 56u) {
      {
        let e = to1 + 0u;
        let line = group * 8u + own1;
        if (line < params.v[0].y) {
          var re = y7r;
          var im = y7i;
          let to2 = params.v[2].z + line * params.v[2].w + e * params.v[3].x;
          b1[to2] = bitcast<u32>(re);
          let to3 = params.v[3].y + line * params.v[3].z + e * params.v[3].w;
          b1[to3] = bitcast<u32>(im);
        }
      }
// … 5 more of these 12 lines (b9af6d1f), and
      {
        let e = to1 + 90u;
        let line = group * 8u + own1;
        if (line < params.v[0].y) {
          var re = y13r;
          var im = y13i;
          let to2 = params.v[2].z + line * params.v[2].w + e * params.v[3].x;
          b1[to2] = bitcast<u32>(re);
          let to3 = params.v[3].y + line * params.v[3].z + e * params.v[3].w;
          b1[to3] = bitcast<u32>(im);
        }
      }
    }
  }
}

// ---- transform to real lines, and its gradient: irfft, 1 workgroups of 32, 24 words
// fft
struct Params { v: array<vec4<u32>, 7> }
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
var<workgroup> line_re: array<f32, 192>;
var<workgroup> line_im: array<f32, 192>;
struct Twiddle {
  re: f32,
  im: f32,
}
fn twiddle(a: u32, n: u32, step: f32) -> Twiddle {
  var at = 8u * a;
  let lower = at > 4u * n;
  if (lower) { at = 8u * n - at; }
  let left = at > 2u * n;
  if (left) { at = 4u * n - at; }
  let steep = at > n;
  if (steep) { at = 2u * n - at; }
  let angle = f32(at) * step;
  let x = angle * angle;
  let s = angle * (f32(1.0) + x * (f32(-0.16666666666666666) + x * (f32(0.0083333333333333332) + x * (f32(-0.00019841269841269841) + x * (f32(2.7557319223985893e-06) + x * f32(-2.505210838544172e-08))))));
  let c = (f32(1.0) + x * (f32(-0.5) + x * (f32(0.041666666666666664) + x * (f32(-0.0013888888888888889) + x * (f32(2.4801587301587302e-05) + x * (f32(-2.7557319223985888e-07) + x * f32(2.08767569878681e-09)))))));
  var re = select(c, s, steep);
  var im = select(s, c, steep);
  if (left) { re = -re; }
  if (!lower) { im = -im; }
  return Twiddle(re, im);
}
  for (var b = thread; b < 64u * 2u; b += 32u) {
    let own = b / 2u;
    let e = b - own * 2u;
    let line = min(group * 64u + own, params.v[0].y - 1u);
    var re = f32(0.0);
    var im = f32(0.0);
    var other_re = f32(0.0);
    var other_im = f32(0.0);
      let x0 = bitcast<f32>(b0[params.v[1].x + line * params.v[1].y + e * params.v[1].z]);
      re = x0;
      let x1 = bitcast<f32>(b0[params.v[1].w + line * params.v[2].x + e * params.v[2].y]);
      im = x1;
      let x2 = bitcast<f32>(b0[params.v[2].z + line * params.v[2].w + e * params.v[3].x]);
      other_re = x2;
      let x3 = bitcast<f32>(b0[params.v[3].y + line * params.v[3].z + e * params.v[3].w]);
      other_im = x3;
    im = -im;
    other_im = -other_im;
    if (e == 0u) {
      im = f32(0.0);
      other_im = f32(0.0);
    }
    {
      let w = twiddle(e, 4u, f32(0.19634954084936207));
      let less_re = re - other_re;
      let less_im = im + other_im;
      re = re + other_re - (w.re * less_im + w.im * less_re);
      im = im - other_im + (w.re * less_re - w.im * less_im);
    }
    line_re[own * 3u + e + (e >> 4u)] = re;
    line_im[own * 3u + e + (e >> 4u)] = im;
  }
  workgroupBarrier();
  {
    let turn0 = thread;
    let own0 = turn0 / 1u;
    let i0 = turn0 - own0 * 1u;
    let to0 = i0;
    let e0 = i0 + 0u;
    let x0r = line_re[own0 * 3u + e0 + (e0 >> 4u)];
    let x0i = line_im[own0 * 3u + e0 + (e0 >> 4u)];
    let e1 = i0 + 1u;
    let x1r = line_re[own0 * 3u + e1 + (e1 >> 4u)];
    let x1i = line_im[own0 * 3u + e1 + (e1 >> 4u)];
    let y0r = x0r + x1r;
    let y0i = x0i + x1i;
    let y1r = x0r - x1r;
    let y1i = x0i - x1i;
    let turn1 = thread + 32u;
    let own1 = turn1 / 1u;
    let i1 = turn1 - own1 * 1u;
    let to1 = i1;
    let e2 = i1 + 0u;
    let x2r = line_re[own1 * 3u + e2 + (e2 >> 4u)];
    let x2i = line_im[own1 * 3u + e2 + (e2 >> 4u)];
    let e3 = i1 + 1u;
    let x3r = line_re[own1 * 3u + e3 + (e3 >> 4u)];
    let x3i = line_im[own1 * 3u + e3 + (e3 >> 4u)];
    let y2r = x2r + x3r;
    let y2i = x2i + x3i;
    let y3r = x2r - x3r;
    let y3i = x2i - x3i;
    workgroupBarrier();
      let o0 = to0 + 0u;
      line_re[own0 * 3u + o0 + (o0 >> 4u)] = y0r;
      line_im[own0 * 3u + o0 + (o0 >> 4u)] = y0i;
// … 2 more of these 3 lines (1508dcb0), and
      let o3 = to1 + 1u;
      line_re[own1 * 3u + o3 + (o3 >> 4u)] = y3r;
      line_im[own1 * 3u + o3 + (o3 >> 4u)] = y3i;
  }
  workgroupBarrier();
  for (var b = thread; b < 64u * params.v[5].w; b += 32u) {
    let own = b / params.v[5].w;
    let e = b - own * params.v[5].w;
    let line = group * 64u + own;
    if (line < params.v[0].y) {
      var re = line_re[own * 3u + e + (e >> 4u)];
      var im = line_im[own * 3u + e + (e >> 4u)];
      re *= f32(0.25);
      im *= f32(0.25);
      let to4 = params.v[4].x + line * params.v[4].y + e * params.v[4].z;
      b1[to4] = bitcast<u32>(re);
      let to5 = params.v[4].w + line * params.v[5].x + e * params.v[5].y;
      b1[to5] = bitcast<u32>(im);
    }
  }
}

// ---- transform to real lines, and its gradient: irfft, 1 workgroups of 32, 18 words
// fft
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
var<workgroup> line_re: array<f32, 192>;
var<workgroup> line_im: array<f32, 192>;
struct Twiddle {
  re: f32,
  im: f32,
}
fn twiddle(a: u32, n: u32, step: f32) -> Twiddle {
  var at = 8u * a;
  let lower = at > 4u * n;
  if (lower) { at = 8u * n - at; }
  let left = at > 2u * n;
  if (left) { at = 4u * n - at; }
  let steep = at > n;
  if (steep) { at = 2u * n - at; }
  let angle = f32(at) * step;
  let x = angle * angle;
  let s = angle * (f32(1.0) + x * (f32(-0.16666666666666666) + x * (f32(0.0083333333333333332) + x * (f32(-0.00019841269841269841) + x * (f32(2.7557319223985893e-06) + x * f32(-2.505210838544172e-08))))));
  let c = (f32(1.0) + x * (f32(-0.5) + x * (f32(0.041666666666666664) + x * (f32(-0.0013888888888888889) + x * (f32(2.4801587301587302e-05) + x * (f32(-2.7557319223985888e-07) + x * f32(2.08767569878681e-09)))))));
  var re = select(c, s, steep);
  var im = select(s, c, steep);
  if (left) { re = -re; }
  if (!lower) { im = -im; }
  return Twiddle(re, im);
}
  for (var b = thread; b < 64u * 2u; b += 32u) {
    let own = b / 2u;
    let e = b - own * 2u;
    let line = min(group * 64u + own, params.v[0].y - 1u);
    var re = f32(0.0);
    var im = f32(0.0);
      let x0 = bitcast<f32>(b0[params.v[1].x + line * params.v[1].y + e * params.v[1].z]);
      re = x0;
      let x1 = bitcast<f32>(b0[params.v[1].w + line * params.v[2].x + e * params.v[2].y]);
      im = x1;
    line_re[own * 3u + e + (e >> 4u)] = re;
    line_im[own * 3u + e + (e >> 4u)] = im;
  }
  workgroupBarrier();
  {
    let turn0 = thread;
    let own0 = turn0 / 1u;
    let i0 = turn0 - own0 * 1u;
    let to0 = i0;
    let e0 = i0 + 0u;
    let x0r = line_re[own0 * 3u + e0 + (e0 >> 4u)];
    let x0i = line_im[own0 * 3u + e0 + (e0 >> 4u)];
    let e1 = i0 + 1u;
    let x1r = line_re[own0 * 3u + e1 + (e1 >> 4u)];
    let x1i = line_im[own0 * 3u + e1 + (e1 >> 4u)];
    let y0r = x0r + x1r;
    let y0i = x0i + x1i;
    let y1r = x0r - x1r;
    let y1i = x0i - x1i;
    let turn1 = thread + 32u;
    let own1 = turn1 / 1u;
    let i1 = turn1 - own1 * 1u;
    let to1 = i1;
    let e2 = i1 + 0u;
    let x2r = line_re[own1 * 3u + e2 + (e2 >> 4u)];
    let x2i = line_im[own1 * 3u + e2 + (e2 >> 4u)];
    let e3 = i1 + 1u;
    let x3r = line_re[own1 * 3u + e3 + (e3 >> 4u)];
    let x3i = line_im[own1 * 3u + e3 + (e3 >> 4u)];
    let y2r = x2r + x3r;
    let y2i = x2i + x3i;
    let y3r = x2r - x3r;
    let y3i = x2i - x3i;
    workgroupBarrier();
      let o0 = to0 + 0u;
      line_re[own0 * 3u + o0 + (o0 >> 4u)] = y0r;
      line_im[own0 * 3u + o0 + (o0 >> 4u)] = y0i;
// … 2 more of these 3 lines (1508dcb0), and
      let o3 = to1 + 1u;
      line_re[own1 * 3u + o3 + (o3 >> 4u)] = y3r;
      line_im[own1 * 3u + o3 + (o3 >> 4u)] = y3i;
  }
  workgroupBarrier();
  for (var b = thread; b < 64u * 2u; b += 32u) {
    let own = b / 2u;
    let k = b - own * 2u;
    let line = group * 64u + own;
    let there = own * 3u + k + (k >> 4u);
    let back = own * 3u + select(2u - k, 0u, k == 0u) + (select(2u - k, 0u, k == 0u) >> 4u);
    let other_re = line_re[back];
    let other_im = line_im[back];
    let sum_re = line_re[there] + other_re;
    let sum_im = line_im[there] - other_im;
    let less_re = line_re[there] - other_re;
    let less_im = line_im[there] + other_im;
    let w = twiddle(k, 4u, f32(0.19634954084936207));
    let turned_re = w.re * less_im + w.im * less_re;
    let turned_im = w.re * less_re - w.im * less_im;
    if (line < params.v[0].y && k < params.v[4].y) {
      let e = k;
      var re = sum_re + turned_re;
      var im = sum_im - turned_im;
      re *= f32(0.125);
      im *= f32(0.125);
      if (e > 0u && e * 2u != 4u) {
        re *= f32(2.0);
        im *= f32(2.0);
      }
      let to2 = params.v[2].z + line * params.v[2].w + e * params.v[3].x;
      b1[to2] = bitcast<u32>(re);
      let to3 = params.v[3].y + line * params.v[3].z + e * params.v[3].w;
      b1[to3] = bitcast<u32>(im);
    }
    if (line < params.v[0].y && 2u * k < 2u && 2u - k < params.v[4].y) {
      let e = 2u - k;
      var re = sum_re - turned_re;
      var im = -sum_im - turned_im;
      re *= f32(0.125);
      im *= f32(0.125);
      if (e > 0u && e * 2u != 4u) {
        re *= f32(2.0);
        im *= f32(2.0);
      }
      let to2 = params.v[2].z + line * params.v[2].w + e * params.v[3].x;
      b1[to2] = bitcast<u32>(re);
      let to3 = params.v[3].y + line * params.v[3].z + e * params.v[3].w;
      b1[to3] = bitcast<u32>(im);
    }
  }
}

// ---- transform to real lines, and its gradient: irfft, 1 workgroups of 32, 14 words
// fft
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
var<workgroup> line_re: array<f32, 384>;
var<workgroup> line_im: array<f32, 384>;
struct Twiddle {
  re: f32,
  im: f32,
}
fn twiddle(a: u32, n: u32, step: f32) -> Twiddle {
  var at = 8u * a;
  let lower = at > 4u * n;
  if (lower) { at = 8u * n - at; }
  let left = at > 2u * n;
  if (left) { at = 4u * n - at; }
  let steep = at > n;
  if (steep) { at = 2u * n - at; }
  let angle = f32(at) * step;
  let x = angle * angle;
  let s = angle * (f32(1.0) + x * (f32(-0.16666666666666666) + x * (f32(0.0083333333333333332) + x * (f32(-0.00019841269841269841) + x * (f32(2.7557319223985893e-06) + x * f32(-2.505210838544172e-08))))));
  let c = (f32(1.0) + x * (f32(-0.5) + x * (f32(0.041666666666666664) + x * (f32(-0.0013888888888888889) + x * (f32(2.4801587301587302e-05) + x * (f32(-2.7557319223985888e-07) + x * f32(2.08767569878681e-09)))))));
  var re = select(c, s, steep);
  var im = select(s, c, steep);
  if (left) { re = -re; }
  if (!lower) { im = -im; }
  return Twiddle(re, im);
}
  for (var b = thread; b < 64u * 5u; b += 32u) {
    let own = b / 5u;
    let e = b - own * 5u;
    let line = min(group * 64u + own, params.v[0].y - 1u);
    var re = f32(0.0);
    var im = f32(0.0);
    let mirrored = e > 2u;
    let row = select(e, 5u - e, mirrored);
      let x0 = bitcast<f32>(b0[params.v[1].x + line * params.v[1].y + row * params.v[1].z]);
      re = x0;
      let x1 = bitcast<f32>(b0[params.v[1].w + line * params.v[2].x + row * params.v[2].y]);
      im = x1;
      if (mirrored) { im = -im; }
      if (row == 0u || row * 2u == 5u) { im = f32(0.0); }
      im = -im;
    line_re[own * 6u + e + (e >> 4u)] = re;
    line_im[own * 6u + e + (e >> 4u)] = im;
  }
  workgroupBarrier();
  {
    let turn0 = thread;
    let own0 = turn0 / 1u;
    let i0 = turn0 - own0 * 1u;
    let to0 = i0;
    let e0 = i0 + 0u;
    let x0r = line_re[own0 * 6u + e0 + (e0 >> 4u)];
    let x0i = line_im[own0 * 6u + e0 + (e0 >> 4u)];
// … 3 more of these 3 lines (9497cc60), and
    let e4 = i0 + 4u;
    let x4r = line_re[own0 * 6u + e4 + (e4 >> 4u)];
    let x4i = line_im[own0 * 6u + e4 + (e4 >> 4u)];
    let t0_0_r = x1r + x4r;
    let t0_0_i = x1i + x4i;
    let t0_1_r = x1r - x4r;
    let t0_1_i = x1i - x4i;
    let t0_2_r = x2r + x3r;
    let t0_2_i = x2i + x3i;
    let t0_3_r = x2r - x3r;
    let t0_3_i = x2i - x3i;
    let y0r = x0r + t0_0_r + t0_2_r;
    let y0i = x0i + t0_0_i + t0_2_i;
    let t0_4_r = x0r + f32(0.30901699437494745) * t0_0_r + f32(-0.80901699437494734) * t0_2_r;
    let t0_4_i = x0i + f32(0.30901699437494745) * t0_0_i + f32(-0.80901699437494734) * t0_2_i;
    let t0_5_r = f32(0.95105651629515353) * t0_1_r + f32(0.58778525229247325) * t0_3_r;
    let t0_5_i = f32(0.95105651629515353) * t0_1_i + f32(0.58778525229247325) * t0_3_i;
    let y1r = t0_4_r + t0_5_i;
    let y1i = t0_4_i - t0_5_r;
    let y4r = t0_4_r - t0_5_i;
    let y4i = t0_4_i + t0_5_r;
    let t0_6_r = x0r + f32(-0.80901699437494734) * t0_0_r + f32(0.30901699437494723) * t0_2_r;
    let t0_6_i = x0i + f32(-0.80901699437494734) * t0_0_i + f32(0.30901699437494723) * t0_2_i;
    let t0_7_r = f32(0.58778525229247325) * t0_1_r + f32(-0.95105651629515364) * t0_3_r;
    let t0_7_i = f32(0.58778525229247325) * t0_1_i + f32(-0.95105651629515364) * t0_3_i;
    let y2r = t0_6_r + t0_7_i;
    let y2i = t0_6_i - t0_7_r;
    let y3r = t0_6_r - t0_7_i;
    let y3i = t0_6_i + t0_7_r;
    let turn1 = thread + 32u;
    let own1 = turn1 / 1u;
    let i1 = turn1 - own1 * 1u;
    let to1 = i1;
    let e5 = i1 + 0u;
    let x5r = line_re[own1 * 6u + e5 + (e5 >> 4u)];
    let x5i = line_im[own1 * 6u + e5 + (e5 >> 4u)];
// … 3 more of these 3 lines (e49c51ca), and
    let e9 = i1 + 4u;
    let x9r = line_re[own1 * 6u + e9 + (e9 >> 4u)];
    let x9i = line_im[own1 * 6u + e9 + (e9 >> 4u)];
    let t5_0_r = x6r + x9r;
    let t5_0_i = x6i + x9i;
    let t5_1_r = x6r - x9r;
    let t5_1_i = x6i - x9i;
    let t5_2_r = x7r + x8r;
    let t5_2_i = x7i + x8i;
    let t5_3_r = x7r - x8r;
    let t5_3_i = x7i - x8i;
    let y5r = x5r + t5_0_r + t5_2_r;
    let y5i = x5i + t5_0_i + t5_2_i;
    let t5_4_r = x5r + f32(0.30901699437494745) * t5_0_r + f32(-0.80901699437494734) * t5_2_r;
    let t5_4_i = x5i + f32(0.30901699437494745) * t5_0_i + f32(-0.80901699437494734) * t5_2_i;
    let t5_5_r = f32(0.95105651629515353) * t5_1_r + f32(0.58778525229247325) * t5_3_r;
    let t5_5_i = f32(0.95105651629515353) * t5_1_i + f32(0.58778525229247325) * t5_3_i;
    let y6r = t5_4_r + t5_5_i;
    let y6i = t5_4_i - t5_5_r;
    let y9r = t5_4_r - t5_5_i;
    let y9i = t5_4_i + t5_5_r;
    let t5_6_r = x5r + f32(-0.80901699437494734) * t5_0_r + f32(0.30901699437494723) * t5_2_r;
    let t5_6_i = x5i + f32(-0.80901699437494734) * t5_0_i + f32(0.30901699437494723) * t5_2_i;
    let t5_7_r = f32(0.58778525229247325) * t5_1_r + f32(-0.95105651629515364) * t5_3_r;
    let t5_7_i = f32(0.58778525229247325) * t5_1_i + f32(-0.95105651629515364) * t5_3_i;
    let y7r = t5_6_r + t5_7_i;
    let y7i = t5_6_i - t5_7_r;
    let y8r = t5_6_r - t5_7_i;
    let y8i = t5_6_i + t5_7_r;
    workgroupBarrier();
      let o0 = to0 + 0u;
      line_re[own0 * 6u + o0 + (o0 >> 4u)] = y0r;
      line_im[own0 * 6u + o0 + (o0 >> 4u)] = y0i;
// … 8 more of these 3 lines (50e4e54d), and
      let o9 = to1 + 4u;
      line_re[own1 * 6u + o9 + (o9 >> 4u)] = y9r;
      line_im[own1 * 6u + o9 + (o9 >> 4u)] = y9i;
  }
  workgroupBarrier();
  for (var b = thread; b < 64u * params.v[3].y; b += 32u) {
    let own = b / params.v[3].y;
    let e = b - own * params.v[3].y;
    let line = group * 64u + own;
    if (line < params.v[0].y) {
      var re = line_re[own * 6u + e + (e >> 4u)];
      var im = line_im[own * 6u + e + (e >> 4u)];
      im = -im;
      re *= f32(0.20000000000000001);
      im *= f32(0.20000000000000001);
      let to2 = params.v[2].z + line * params.v[2].w + e;
      b1[to2] = bitcast<u32>(re);
    }
  }
}

// ---- transform of real lines with a large prime factor: rfft, 1 workgroups of 64, 13 words
// fft
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
var<workgroup> line_re: array<f32, 1120>;
var<workgroup> line_im: array<f32, 1120>;
struct Twiddle {
  re: f32,
  im: f32,
}
fn twiddle(a: u32, n: u32, step: f32) -> Twiddle {
  var at = 8u * a;
  let lower = at > 4u * n;
  if (lower) { at = 8u * n - at; }
  let left = at > 2u * n;
  if (left) { at = 4u * n - at; }
  let steep = at > n;
  if (steep) { at = 2u * n - at; }
  let angle = f32(at) * step;
  let x = angle * angle;
  let s = angle * (f32(1.0) + x * (f32(-0.16666666666666666) + x * (f32(0.0083333333333333332) + x * (f32(-0.00019841269841269841) + x * (f32(2.7557319223985893e-06) + x * f32(-2.505210838544172e-08))))));
  let c = (f32(1.0) + x * (f32(-0.5) + x * (f32(0.041666666666666664) + x * (f32(-0.0013888888888888889) + x * (f32(2.4801587301587302e-05) + x * (f32(-2.7557319223985888e-07) + x * f32(2.08767569878681e-09)))))));
  var re = select(c, s, steep);
  var im = select(s, c, steep);
  if (left) { re = -re; }
  if (!lower) { im = -im; }
  return Twiddle(re, im);
}
fn times_mod(a: u32, b: u32, n: u32, over_n: f32) -> u32 {
  let quotient = u32(f32(a) * f32(b) * over_n);
  let left = a * b - quotient * n;
  return select(select(left, left - n, left >= n), left + n, left >= 0x80000000u);
}
fn square(a: u32, n: u32, over_n: f32) -> u32 {
  let high = times_mod(times_mod(a, a >> 14u, n, over_n), 16384u, n, over_n);
  let sum = high + times_mod(a, a & 16383u, n, over_n);
  return select(sum, sum - n, sum >= n);
}
  for (var b = thread; b < 32u * 32u; b += 64u) {
    let own = b / 32u;
    let e = b - own * 32u;
    let line = group * 32u + own;
    var re = f32(0.0);
    var im = f32(0.0);
    if (line < params.v[0].y && e < 32u && e < params.v[2].w) {
      let x0 = bitcast<f32>(b0[params.v[0].w + e * params.v[1].x]);
      re = x0;
      let x1 = bitcast<f32>(b0[params.v[1].y + e * params.v[1].z]);
      im = x1;
    }
    let far = min(e, 32u - e);
    if (far < 11u) {
      let w = twiddle(square(far, 22u, f32(0.045454545454545456)), 22u, f32(0.035699916518065831));
      re = w.re;
      im = -w.im;
    }
    line_re[own * 35u + e + (e >> 4u)] = re;
    line_im[own * 35u + e + (e >> 4u)] = im;
  }
  workgroupBarrier();
  {
    let turn0 = thread;
    let own0 = turn0 / 4u;
    let i0 = turn0 - own0 * 4u;
    let p0 = i0;
    let to0 = i0 * 8u;
    let e0 = i0 + 0u;
    let x0r = line_re[own0 * 35u + e0 + (e0 >> 4u)];
    let x0i = line_im[own0 * 35u + e0 + (e0 >> 4u)];
// … 6 more of these 3 lines (65ec4e1a), and
    let e7 = i0 + 28u;
    let x7r = line_re[own0 * 35u + e7 + (e7 >> 4u)];
    let x7i = line_im[own0 * 35u + e7 + (e7 >> 4u)];
    let t0_4_r = x0r + x4r;
    let t0_4_i = x0i + x4i;
    let t0_5_r = x0r - x4r;
    let t0_5_i = x0i - x4i;
    let t0_6_r = x2r + x6r;
    let t0_6_i = x2i + x6i;
    let t0_7_r = x2r - x6r;
    let t0_7_i = x2i - x6i;
    let t0_0_r = t0_4_r + t0_6_r;
    let t0_0_i = t0_4_i + t0_6_i;
    let t0_1_r = t0_5_r + t0_7_i;
    let t0_1_i = t0_5_i - t0_7_r;
    let t0_2_r = t0_4_r - t0_6_r;
    let t0_2_i = t0_4_i - t0_6_i;
    let t0_3_r = t0_5_r - t0_7_i;
    let t0_3_i = t0_5_i + t0_7_r;
    let t0_12_r = x1r + x5r;
    let t0_12_i = x1i + x5i;
    let t0_13_r = x1r - x5r;
    let t0_13_i = x1i - x5i;
    let t0_14_r = x3r + x7r;
    let t0_14_i = x3i + x7i;
    let t0_15_r = x3r - x7r;
    let t0_15_i = x3i - x7i;
    let t0_8_r = t0_12_r + t0_14_r;
    let t0_8_i = t0_12_i + t0_14_i;
    let t0_9_r = t0_13_r + t0_15_i;
    let t0_9_i = t0_13_i - t0_15_r;
    let t0_10_r = t0_12_r - t0_14_r;
    let t0_10_i = t0_12_i - t0_14_i;
    let t0_11_r = t0_13_r - t0_15_i;
    let t0_11_i = t0_13_i + t0_15_r;
    let t0_16_r = t0_9_r * f32(0.70710678118654757) + t0_9_i * f32(0.70710678118654757);
    let t0_16_i = t0_9_i * f32(0.70710678118654757) - t0_9_r * f32(0.70710678118654757);
    let t0_17_r = t0_10_i;
    let t0_17_i = -t0_10_r;
    let t0_18_r = t0_11_r * f32(-0.70710678118654757) + t0_11_i * f32(0.70710678118654757);
    let t0_18_i = t0_11_i * f32(-0.70710678118654757) - t0_11_r * f32(0.70710678118654757);
    let y0r = t0_0_r + t0_8_r;
    let y0i = t0_0_i + t0_8_i;
    let y4r = t0_0_r - t0_8_r;
    let y4i = t0_0_i - t0_8_i;
// … 2 more of these 4 lines (0786dfc5), and
    let y3r = t0_3_r + t0_18_r;
    let y3i = t0_3_i + t0_18_i;
    let y7r = t0_3_r - t0_18_r;
    let y7i = t0_3_i - t0_18_i;
    let w1 = twiddle(p0, 32u, f32(0.024543692606170259));
    let w1r = w1.re;
    let w1i = w1.im;
    let w2r = w1r * w1r - w1i * w1i;
    let w2i = w1r * w1i + w1i * w1r;
// … 4 more of these 2 lines (edcaa9d9), and
    let w7r = w3r * w4r - w3i * w4i;
    let w7i = w3r * w4i + w3i * w4r;
    let turn1 = thread + 64u;
    let own1 = turn1 / 4u;
    let i1 = turn1 - own1 * 4u;
    let p1 = i1;
    let to1 = i1 * 8u;
    let e8 = i1 + 0u;
    let x8r = line_re[own1 * 35u + e8 + (e8 >> 4u)];
    let x8i = line_im[own1 * 35u + e8 + (e8 >> 4u)];
// … 6 more of these 3 lines (192c3c3b), and
    let e15 = i1 + 28u;
    let x15r = line_re[own1 * 35u + e15 + (e15 >> 4u)];
    let x15i = line_im[own1 * 35u + e15 + (e15 >> 4u)];
    let t8_4_r = x8r + x12r;
    let t8_4_i = x8i + x12i;
    let t8_5_r = x8r - x12r;
    let t8_5_i = x8i - x12i;
    let t8_6_r = x10r + x14r;
    let t8_6_i = x10i + x14i;
    let t8_7_r = x10r - x14r;
    let t8_7_i = x10i - x14i;
    let t8_0_r = t8_4_r + t8_6_r;
    let t8_0_i = t8_4_i + t8_6_i;
    let t8_1_r = t8_5_r + t8_7_i;
    let t8_1_i = t8_5_i - t8_7_r;
    let t8_2_r = t8_4_r - t8_6_r;
    let t8_2_i = t8_4_i - t8_6_i;
    let t8_3_r = t8_5_r - t8_7_i;
    let t8_3_i = t8_5_i + t8_7_r;
    let t8_12_r = x9r + x13r;
    let t8_12_i = x9i + x13i;
    let t8_13_r = x9r - x13r;
    let t8_13_i = x9i - x13i;
    let t8_14_r = x11r + x15r;
    let t8_14_i = x11i + x15i;
    let t8_15_r = x11r - x15r;
    let t8_15_i = x11i - x15i;
    let t8_8_r = t8_12_r + t8_14_r;
    let t8_8_i = t8_12_i + t8_14_i;
    let t8_9_r = t8_13_r + t8_15_i;
    let t8_9_i = t8_13_i - t8_15_r;
    let t8_10_r = t8_12_r - t8_14_r;
    let t8_10_i = t8_12_i - t8_14_i;
    let t8_11_r = t8_13_r - t8_15_i;
    let t8_11_i = t8_13_i + t8_15_r;
    let t8_16_r = t8_9_r * f32(0.70710678118654757) + t8_9_i * f32(0.70710678118654757);
    let t8_16_i = t8_9_i * f32(0.70710678118654757) - t8_9_r * f32(0.70710678118654757);
    let t8_17_r = t8_10_i;
    let t8_17_i = -t8_10_r;
    let t8_18_r = t8_11_r * f32(-0.70710678118654757) + t8_11_i * f32(0.70710678118654757);
    let t8_18_i = t8_11_i * f32(-0.70710678118654757) - t8_11_r * f32(0.70710678118654757);
    let y8r = t8_0_r + t8_8_r;
    let y8i = t8_0_i + t8_8_i;
    let y12r = t8_0_r - t8_8_r;
    let y12i = t8_0_i - t8_8_i;
// … 2 more of these 4 lines (7e2e83f1), and
    let y11r = t8_3_r + t8_18_r;
    let y11i = t8_3_i + t8_18_i;
    let y15r = t8_3_r - t8_18_r;
    let y15i = t8_3_i - t8_18_i;
    let w9 = twiddle(p1, 32u, f32(0.024543692606170259));
    let w9r = w9.re;
    let w9i = w9.im;
    let w10r = w9r * w9r - w9i * w9i;
    let w10i = w9r * w9i + w9i * w9r;
// … 4 more of these 2 lines (b3c2e78f), and
    let w15r = w11r * w12r - w11i * w12i;
    let w15i = w11r * w12i + w11i * w12r;
    workgroupBarrier();
      let o0 = to0 + 0u;
      line_re[own0 * 35u + o0 + (o0 >> 4u)] = y0r;
      line_im[own0 * 35u + o0 + (o0 >> 4u)] = y0i;
      let o1 = to0 + 1u;
      line_re[own0 * 35u + o1 + (o1 >> 4u)] = y1r * w1r - y1i * w1i;
      line_im[own0 * 35u + o1 + (o1 >> 4u)] = y1r * w1i + y1i * w1r;
// … 5 more of these 3 lines (97c26487), and
      let o7 = to0 + 7u;
      line_re[own0 * 35u + o7 + (o7 >> 4u)] = y7r * w7r - y7i * w7i;
      line_im[own0 * 35u + o7 + (o7 >> 4u)] = y7r * w7i + y7i * w7r;
      let o8 = to1 + 0u;
      line_re[own1 * 35u + o8 + (o8 >> 4u)] = y8r;
      line_im[own1 * 35u + o8 + (o8 >> 4u)] = y8i;
      let o9 = to1 + 1u;
      line_re[own1 * 35u + o9 + (o9 >> 4u)] = y9r * w9r - y9i * w9i;
      line_im[own1 * 35u + o9 + (o9 >> 4u)] = y9r * w9i + y9i * w9r;
// … 5 more of these 3 lines (5d20b109), and
      let o15 = to1 + 7u;
      line_re[own1 * 35u + o15 + (o15 >> 4u)] = y15r * w15r - y15i * w15i;
      line_im[own1 * 35u + o15 + (o15 >> 4u)] = y15r * w15i + y15i * w15r;
  }
  workgroupBarrier();
  {
    let turn0 = thread;
    let own0 = turn0 / 8u;
    let i0 = turn0 - own0 * 8u;
    let to0 = i0;
    let e0 = i0 + 0u;
    let x0r = line_re[own0 * 35u + e0 + (e0 >> 4u)];
    let x0i = line_im[own0 * 35u + e0 + (e0 >> 4u)];
// … 2 more of these 3 lines (6d486181), and
    let e3 = i0 + 24u;
    let x3r = line_re[own0 * 35u + e3 + (e3 >> 4u)];
    let x3i = line_im[own0 * 35u + e3 + (e3 >> 4u)];
    let t0_0_r = x0r + x2r;
    let t0_0_i = x0i + x2i;
    let t0_1_r = x0r - x2r;
    let t0_1_i = x0i - x2i;
    let t0_2_r = x1r + x3r;
    let t0_2_i = x1i + x3i;
    let t0_3_r = x1r - x3r;
    let t0_3_i = x1i - x3i;
    let y0r = t0_0_r + t0_2_r;
    let y0i = t0_0_i + t0_2_i;
    let y1r = t0_1_r + t0_3_i;
    let y1i = t0_1_i - t0_3_r;
    let y2r = t0_0_r - t0_2_r;
    let y2i = t0_0_i - t0_2_i;
    let y3r = t0_1_r - t0_3_i;
    let y3i = t0_1_i + t0_3_r;
    let turn1 = thread + 64u;
    let own1 = turn1 / 8u;
    let i1 = turn1 - own1 * 8u;
    let to1 = i1;
    let e4 = i1 + 0u;
    let x4r = line_re[own1 * 35u + e4 + (e4 >> 4u)];
    let x4i = line_im[own1 * 35u + e4 + (e4 >> 4u)];
// … 2 more of these 3 lines (262005eb), and
    let e7 = i1 + 24u;
    let x7r = line_re[own1 * 35u + e7 + (e7 >> 4u)];
    let x7i = line_im[own1 * 35u + e7 + (e7 >> 4u)];
    let t4_0_r = x4r + x6r;
    let t4_0_i = x4i + x6i;
    let t4_1_r = x4r - x6r;
    let t4_1_i = x4i - x6i;
    let t4_2_r = x5r + x7r;
    let t4_2_i = x5i + x7i;
    let t4_3_r = x5r - x7r;
    let t4_3_i = x5i - x7i;
    let y4r = t4_0_r + t4_2_r;
    let y4i = t4_0_i + t4_2_i;
    let y5r = t4_1_r + t4_3_i;
    let y5i = t4_1_i - t4_3_r;
    let y6r = t4_0_r - t4_2_r;
    let y6i = t4_0_i - t4_2_i;
    let y7r = t4_1_r - t4_3_i;
    let y7i = t4_1_i + t4_3_r;
    let turn2 = thread + 128u;
    let own2 = turn2 / 8u;
    let i2 = turn2 - own2 * 8u;
    let to2 = i2;
    let e8 = i2 + 0u;
    let x8r = line_re[own2 * 35u + e8 + (e8 >> 4u)];
    let x8i = line_im[own2 * 35u + e8 + (e8 >> 4u)];
// … 2 more of these 3 lines (45e9a742), and
    let e11 = i2 + 24u;
    let x11r = line_re[own2 * 35u + e11 + (e11 >> 4u)];
    let x11i = line_im[own2 * 35u + e11 + (e11 >> 4u)];
    let t8_0_r = x8r + x10r;
    let t8_0_i = x8i + x10i;
    let t8_1_r = x8r - x10r;
    let t8_1_i = x8i - x10i;
    let t8_2_r = x9r + x11r;
    let t8_2_i = x9i + x11i;
    let t8_3_r = x9r - x11r;
    let t8_3_i = x9i - x11i;
    let y8r = t8_0_r + t8_2_r;
    let y8i = t8_0_i + t8_2_i;
    let y9r = t8_1_r + t8_3_i;
    let y9i = t8_1_i - t8_3_r;
    let y10r = t8_0_r - t8_2_r;
    let y10i = t8_0_i - t8_2_i;
    let y11r = t8_1_r - t8_3_i;
    let y11i = t8_1_i + t8_3_r;
    let turn3 = thread + 192u;
    let own3 = turn3 / 8u;
    let i3 = turn3 - own3 * 8u;
    let to3 = i3;
    let e12 = i3 + 0u;
    let x12r = line_re[own3 * 35u + e12 + (e12 >> 4u)];
    let x12i = line_im[own3 * 35u + e12 + (e12 >> 4u)];
// … 2 more of these 3 lines (ffbd986b), and
    let e15 = i3 + 24u;
    let x15r = line_re[own3 * 35u + e15 + (e15 >> 4u)];
    let x15i = line_im[own3 * 35u + e15 + (e15 >> 4u)];
    let t12_0_r = x12r + x14r;
    let t12_0_i = x12i + x14i;
    let t12_1_r = x12r - x14r;
    let t12_1_i = x12i - x14i;
    let t12_2_r = x13r + x15r;
    let t12_2_i = x13i + x15i;
    let t12_3_r = x13r - x15r;
    let t12_3_i = x13i - x15i;
    let y12r = t12_0_r + t12_2_r;
    let y12i = t12_0_i + t12_2_i;
    let y13r = t12_1_r + t12_3_i;
    let y13i = t12_1_i - t12_3_r;
    let y14r = t12_0_r - t12_2_r;
    let y14i = t12_0_i - t12_2_i;
    let y15r = t12_1_r - t12_3_i;
    let y15i = t12_1_i + t12_3_r;
      {
        let e = to0 + 0u;
        let line = group * 32u + own0;
        if (line < params.v[0].y) {
          var re = y0r;
          var im = y0i;
          im = -im;
          re *= f32(0.03125);
          im *= f32(0.03125);
          let to2 = params.v[1].w + e * params.v[2].x;
          b1[to2] = bitcast<u32>(re);
          let to3 = params.v[2].y + e * params.v[2].z;
          b1[to3] = bitcast<u32>(im);
        }
      }
// … 14 more of these 15 lines (fb499713), and
      {
        let e = to3 + 24u;
        let line = group * 32u + own3;
        if (line < params.v[0].y) {
          var re = y15r;
          var im = y15i;
          im = -im;
          re *= f32(0.03125);
          im *= f32(0.03125);
          let to2 = params.v[1].w + e * params.v[2].x;
          b1[to2] = bitcast<u32>(re);
          let to3 = params.v[2].y + e * params.v[2].z;
          b1[to3] = bitcast<u32>(im);
        }
      }
  }
}

// ---- transform of real lines with a large prime factor: rfft, 1 workgroups of 64, 18 words
// fft
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
var<workgroup> line_re: array<f32, 1120>;
var<workgroup> line_im: array<f32, 1120>;
struct Twiddle {
  re: f32,
  im: f32,
}
fn twiddle(a: u32, n: u32, step: f32) -> Twiddle {
  var at = 8u * a;
  let lower = at > 4u * n;
  if (lower) { at = 8u * n - at; }
  let left = at > 2u * n;
  if (left) { at = 4u * n - at; }
  let steep = at > n;
  if (steep) { at = 2u * n - at; }
  let angle = f32(at) * step;
  let x = angle * angle;
  let s = angle * (f32(1.0) + x * (f32(-0.16666666666666666) + x * (f32(0.0083333333333333332) + x * (f32(-0.00019841269841269841) + x * (f32(2.7557319223985893e-06) + x * f32(-2.505210838544172e-08))))));
  let c = (f32(1.0) + x * (f32(-0.5) + x * (f32(0.041666666666666664) + x * (f32(-0.0013888888888888889) + x * (f32(2.4801587301587302e-05) + x * (f32(-2.7557319223985888e-07) + x * f32(2.08767569878681e-09)))))));
  var re = select(c, s, steep);
  var im = select(s, c, steep);
  if (left) { re = -re; }
  if (!lower) { im = -im; }
  return Twiddle(re, im);
}
fn times_mod(a: u32, b: u32, n: u32, over_n: f32) -> u32 {
  let quotient = u32(f32(a) * f32(b) * over_n);
  let left = a * b - quotient * n;
  return select(select(left, left - n, left >= n), left + n, left >= 0x80000000u);
}
fn square(a: u32, n: u32, over_n: f32) -> u32 {
  let high = times_mod(times_mod(a, a >> 14u, n, over_n), 16384u, n, over_n);
  let sum = high + times_mod(a, a & 16383u, n, over_n);
  return select(sum, sum - n, sum >= n);
}
  for (var b = thread; b < 32u * 32u; b += 64u) {
    let own = b / 32u;
    let e = b - own * 32u;
    let line = group * 32u + own;
    var re = f32(0.0);
    var im = f32(0.0);
    if (line < params.v[0].y && e < 11u && e < params.v[4].x) {
      let x0 = bitcast<f32>(b0[params.v[1].x + line * params.v[1].y + e * params.v[1].z]);
      re = x0;
      let x1 = bitcast<f32>(b0[params.v[1].w + line * params.v[2].x + e * params.v[2].y]);
      im = x1;
    }
    {
      let w = twiddle(square(min(e, 10u), 22u, f32(0.045454545454545456)), 22u, f32(0.035699916518065831));
      let product = re * w.re - im * w.im;
      im = re * w.im + im * w.re;
      re = product;
    }
    line_re[own * 35u + e + (e >> 4u)] = re;
    line_im[own * 35u + e + (e >> 4u)] = im;
  }
  workgroupBarrier();
  {
    let turn0 = thread;
    let own0 = turn0 / 4u;
    let i0 = turn0 - own0 * 4u;
    let p0 = i0;
    let to0 = i0 * 8u;
    let e0 = i0 + 0u;
    let x0r = line_re[own0 * 35u + e0 + (e0 >> 4u)];
    let x0i = line_im[own0 * 35u + e0 + (e0 >> 4u)];
// … 6 more of these 3 lines (65ec4e1a), and
    let e7 = i0 + 28u;
    let x7r = line_re[own0 * 35u + e7 + (e7 >> 4u)];
    let x7i = line_im[own0 * 35u + e7 + (e7 >> 4u)];
    let t0_4_r = x0r + x4r;
    let t0_4_i = x0i + x4i;
    let t0_5_r = x0r - x4r;
    let t0_5_i = x0i - x4i;
    let t0_6_r = x2r + x6r;
    let t0_6_i = x2i + x6i;
    let t0_7_r = x2r - x6r;
    let t0_7_i = x2i - x6i;
    let t0_0_r = t0_4_r + t0_6_r;
    let t0_0_i = t0_4_i + t0_6_i;
    let t0_1_r = t0_5_r + t0_7_i;
    let t0_1_i = t0_5_i - t0_7_r;
    let t0_2_r = t0_4_r - t0_6_r;
    let t0_2_i = t0_4_i - t0_6_i;
    let t0_3_r = t0_5_r - t0_7_i;
    let t0_3_i = t0_5_i + t0_7_r;
    let t0_12_r = x1r + x5r;
    let t0_12_i = x1i + x5i;
    let t0_13_r = x1r - x5r;
    let t0_13_i = x1i - x5i;
    let t0_14_r = x3r + x7r;
    let t0_14_i = x3i + x7i;
    let t0_15_r = x3r - x7r;
    let t0_15_i = x3i - x7i;
    let t0_8_r = t0_12_r + t0_14_r;
    let t0_8_i = t0_12_i + t0_14_i;
    let t0_9_r = t0_13_r + t0_15_i;
    let t0_9_i = t0_13_i - t0_15_r;
    let t0_10_r = t0_12_r - t0_14_r;
    let t0_10_i = t0_12_i - t0_14_i;
    let t0_11_r = t0_13_r - t0_15_i;
    let t0_11_i = t0_13_i + t0_15_r;
    let t0_16_r = t0_9_r * f32(0.70710678118654757) + t0_9_i * f32(0.70710678118654757);
    let t0_16_i = t0_9_i * f32(0.70710678118654757) - t0_9_r * f32(0.70710678118654757);
    let t0_17_r = t0_10_i;
    let t0_17_i = -t0_10_r;
    let t0_18_r = t0_11_r * f32(-0.70710678118654757) + t0_11_i * f32(0.70710678118654757);
    let t0_18_i = t0_11_i * f32(-0.70710678118654757) - t0_11_r * f32(0.70710678118654757);
    let y0r = t0_0_r + t0_8_r;
    let y0i = t0_0_i + t0_8_i;
    let y4r = t0_0_r - t0_8_r;
    let y4i = t0_0_i - t0_8_i;
// … 2 more of these 4 lines (0786dfc5), and
    let y3r = t0_3_r + t0_18_r;
    let y3i = t0_3_i + t0_18_i;
    let y7r = t0_3_r - t0_18_r;
    let y7i = t0_3_i - t0_18_i;
    let w1 = twiddle(p0, 32u, f32(0.024543692606170259));
    let w1r = w1.re;
    let w1i = w1.im;
    let w2r = w1r * w1r - w1i * w1i;
    let w2i = w1r * w1i + w1i * w1r;
// … 4 more of these 2 lines (edcaa9d9), and
    let w7r = w3r * w4r - w3i * w4i;
    let w7i = w3r * w4i + w3i * w4r;
    let turn1 = thread + 64u;
    let own1 = turn1 / 4u;
    let i1 = turn1 - own1 * 4u;
    let p1 = i1;
    let to1 = i1 * 8u;
    let e8 = i1 + 0u;
    let x8r = line_re[own1 * 35u + e8 + (e8 >> 4u)];
    let x8i = line_im[own1 * 35u + e8 + (e8 >> 4u)];
// … 6 more of these 3 lines (192c3c3b), and
    let e15 = i1 + 28u;
    let x15r = line_re[own1 * 35u + e15 + (e15 >> 4u)];
    let x15i = line_im[own1 * 35u + e15 + (e15 >> 4u)];
    let t8_4_r = x8r + x12r;
    let t8_4_i = x8i + x12i;
    let t8_5_r = x8r - x12r;
    let t8_5_i = x8i - x12i;
    let t8_6_r = x10r + x14r;
    let t8_6_i = x10i + x14i;
    let t8_7_r = x10r - x14r;
    let t8_7_i = x10i - x14i;
    let t8_0_r = t8_4_r + t8_6_r;
    let t8_0_i = t8_4_i + t8_6_i;
    let t8_1_r = t8_5_r + t8_7_i;
    let t8_1_i = t8_5_i - t8_7_r;
    let t8_2_r = t8_4_r - t8_6_r;
    let t8_2_i = t8_4_i - t8_6_i;
    let t8_3_r = t8_5_r - t8_7_i;
    let t8_3_i = t8_5_i + t8_7_r;
    let t8_12_r = x9r + x13r;
    let t8_12_i = x9i + x13i;
    let t8_13_r = x9r - x13r;
    let t8_13_i = x9i - x13i;
    let t8_14_r = x11r + x15r;
    let t8_14_i = x11i + x15i;
    let t8_15_r = x11r - x15r;
    let t8_15_i = x11i - x15i;
    let t8_8_r = t8_12_r + t8_14_r;
    let t8_8_i = t8_12_i + t8_14_i;
    let t8_9_r = t8_13_r + t8_15_i;
    let t8_9_i = t8_13_i - t8_15_r;
    let t8_10_r = t8_12_r - t8_14_r;
    let t8_10_i = t8_12_i - t8_14_i;
    let t8_11_r = t8_13_r - t8_15_i;
    let t8_11_i = t8_13_i + t8_15_r;
    let t8_16_r = t8_9_r * f32(0.70710678118654757) + t8_9_i * f32(0.70710678118654757);
    let t8_16_i = t8_9_i * f32(0.70710678118654757) - t8_9_r * f32(0.70710678118654757);
    let t8_17_r = t8_10_i;
    let t8_17_i = -t8_10_r;
    let t8_18_r = t8_11_r * f32(-0.70710678118654757) + t8_11_i * f32(0.70710678118654757);
    let t8_18_i = t8_11_i * f32(-0.70710678118654757) - t8_11_r * f32(0.70710678118654757);
    let y8r = t8_0_r + t8_8_r;
    let y8i = t8_0_i + t8_8_i;
    let y12r = t8_0_r - t8_8_r;
    let y12i = t8_0_i - t8_8_i;
// … 2 more of these 4 lines (7e2e83f1), and
    let y11r = t8_3_r + t8_18_r;
    let y11i = t8_3_i + t8_18_i;
    let y15r = t8_3_r - t8_18_r;
    let y15i = t8_3_i - t8_18_i;
    let w9 = twiddle(p1, 32u, f32(0.024543692606170259));
    let w9r = w9.re;
    let w9i = w9.im;
    let w10r = w9r * w9r - w9i * w9i;
    let w10i = w9r * w9i + w9i * w9r;
// … 4 more of these 2 lines (b3c2e78f), and
    let w15r = w11r * w12r - w11i * w12i;
    let w15i = w11r * w12i + w11i * w12r;
    workgroupBarrier();
      let o0 = to0 + 0u;
      line_re[own0 * 35u + o0 + (o0 >> 4u)] = y0r;
      line_im[own0 * 35u + o0 + (o0 >> 4u)] = y0i;
      let o1 = to0 + 1u;
      line_re[own0 * 35u + o1 + (o1 >> 4u)] = y1r * w1r - y1i * w1i;
      line_im[own0 * 35u + o1 + (o1 >> 4u)] = y1r * w1i + y1i * w1r;
// … 5 more of these 3 lines (97c26487), and
      let o7 = to0 + 7u;
      line_re[own0 * 35u + o7 + (o7 >> 4u)] = y7r * w7r - y7i * w7i;
      line_im[own0 * 35u + o7 + (o7 >> 4u)] = y7r * w7i + y7i * w7r;
      let o8 = to1 + 0u;
      line_re[own1 * 35u + o8 + (o8 >> 4u)] = y8r;
      line_im[own1 * 35u + o8 + (o8 >> 4u)] = y8i;
      let o9 = to1 + 1u;
      line_re[own1 * 35u + o9 + (o9 >> 4u)] = y9r * w9r - y9i * w9i;
      line_im[own1 * 35u + o9 + (o9 >> 4u)] = y9r * w9i + y9i * w9r;
// … 5 more of these 3 lines (5d20b109), and
      let o15 = to1 + 7u;
      line_re[own1 * 35u + o15 + (o15 >> 4u)] = y15r * w15r - y15i * w15i;
      line_im[own1 * 35u + o15 + (o15 >> 4u)] = y15r * w15i + y15i * w15r;
  }
  workgroupBarrier();
  {
    let turn0 = thread;
    let own0 = turn0 / 8u;
    let i0 = turn0 - own0 * 8u;
    let to0 = i0;
    let e0 = i0 + 0u;
    let x0r = line_re[own0 * 35u + e0 + (e0 >> 4u)];
    let x0i = line_im[own0 * 35u + e0 + (e0 >> 4u)];
// … 2 more of these 3 lines (6d486181), and
    let e3 = i0 + 24u;
    let x3r = line_re[own0 * 35u + e3 + (e3 >> 4u)];
    let x3i = line_im[own0 * 35u + e3 + (e3 >> 4u)];
    let t0_0_r = x0r + x2r;
    let t0_0_i = x0i + x2i;
    let t0_1_r = x0r - x2r;
    let t0_1_i = x0i - x2i;
    let t0_2_r = x1r + x3r;
    let t0_2_i = x1i + x3i;
    let t0_3_r = x1r - x3r;
    let t0_3_i = x1i - x3i;
    let y0r = t0_0_r + t0_2_r;
    let y0i = t0_0_i + t0_2_i;
    let y1r = t0_1_r + t0_3_i;
    let y1i = t0_1_i - t0_3_r;
    let y2r = t0_0_r - t0_2_r;
    let y2i = t0_0_i - t0_2_i;
    let y3r = t0_1_r - t0_3_i;
    let y3i = t0_1_i + t0_3_r;
    let turn1 = thread + 64u;
    let own1 = turn1 / 8u;
    let i1 = turn1 - own1 * 8u;
    let to1 = i1;
    let e4 = i1 + 0u;
    let x4r = line_re[own1 * 35u + e4 + (e4 >> 4u)];
    let x4i = line_im[own1 * 35u + e4 + (e4 >> 4u)];
// … 2 more of these 3 lines (262005eb), and
    let e7 = i1 + 24u;
    let x7r = line_re[own1 * 35u + e7 + (e7 >> 4u)];
    let x7i = line_im[own1 * 35u + e7 + (e7 >> 4u)];
    let t4_0_r = x4r + x6r;
    let t4_0_i = x4i + x6i;
    let t4_1_r = x4r - x6r;
    let t4_1_i = x4i - x6i;
    let t4_2_r = x5r + x7r;
    let t4_2_i = x5i + x7i;
    let t4_3_r = x5r - x7r;
    let t4_3_i = x5i - x7i;
    let y4r = t4_0_r + t4_2_r;
    let y4i = t4_0_i + t4_2_i;
    let y5r = t4_1_r + t4_3_i;
    let y5i = t4_1_i - t4_3_r;
    let y6r = t4_0_r - t4_2_r;
    let y6i = t4_0_i - t4_2_i;
    let y7r = t4_1_r - t4_3_i;
    let y7i = t4_1_i + t4_3_r;
    let turn2 = thread + 128u;
    let own2 = turn2 / 8u;
    let i2 = turn2 - own2 * 8u;
    let to2 = i2;
    let e8 = i2 + 0u;
    let x8r = line_re[own2 * 35u + e8 + (e8 >> 4u)];
    let x8i = line_im[own2 * 35u + e8 + (e8 >> 4u)];
// … 2 more of these 3 lines (45e9a742), and
    let e11 = i2 + 24u;
    let x11r = line_re[own2 * 35u + e11 + (e11 >> 4u)];
    let x11i = line_im[own2 * 35u + e11 + (e11 >> 4u)];
    let t8_0_r = x8r + x10r;
    let t8_0_i = x8i + x10i;
    let t8_1_r = x8r - x10r;
    let t8_1_i = x8i - x10i;
    let t8_2_r = x9r + x11r;
    let t8_2_i = x9i + x11i;
    let t8_3_r = x9r - x11r;
    let t8_3_i = x9i - x11i;
    let y8r = t8_0_r + t8_2_r;
    let y8i = t8_0_i + t8_2_i;
    let y9r = t8_1_r + t8_3_i;
    let y9i = t8_1_i - t8_3_r;
    let y10r = t8_0_r - t8_2_r;
    let y10i = t8_0_i - t8_2_i;
    let y11r = t8_1_r - t8_3_i;
    let y11i = t8_1_i + t8_3_r;
    let turn3 = thread + 192u;
    let own3 = turn3 / 8u;
    let i3 = turn3 - own3 * 8u;
    let to3 = i3;
    let e12 = i3 + 0u;
    let x12r = line_re[own3 * 35u + e12 + (e12 >> 4u)];
    let x12i = line_im[own3 * 35u + e12 + (e12 >> 4u)];
// … 2 more of these 3 lines (ffbd986b), and
    let e15 = i3 + 24u;
    let x15r = line_re[own3 * 35u + e15 + (e15 >> 4u)];
    let x15i = line_im[own3 * 35u + e15 + (e15 >> 4u)];
    let t12_0_r = x12r + x14r;
    let t12_0_i = x12i + x14i;
    let t12_1_r = x12r - x14r;
    let t12_1_i = x12i - x14i;
    let t12_2_r = x13r + x15r;
    let t12_2_i = x13i + x15i;
    let t12_3_r = x13r - x15r;
    let t12_3_i = x13i - x15i;
    let y12r = t12_0_r + t12_2_r;
    let y12i = t12_0_i + t12_2_i;
    let y13r = t12_1_r + t12_3_i;
    let y13i = t12_1_i - t12_3_r;
    let y14r = t12_0_r - t12_2_r;
    let y14i = t12_0_i - t12_2_i;
    let y15r = t12_1_r - t12_3_i;
    let y15i = t12_1_i + t12_3_r;
      {
        let e = to0 + 0u;
        let line = group * 32u + own0;
        if (line < params.v[0].y) {
          var re = y0r;
          var im = y0i;
          let to2 = params.v[2].z + line * params.v[2].w + e * params.v[3].x;
          b1[to2] = bitcast<u32>(re);
          let to3 = params.v[3].y + line * params.v[3].z + e * params.v[3].w;
          b1[to3] = bitcast<u32>(im);
        }
      }
// … 14 more of these 12 lines (1e3fa611), and
      {
        let e = to3 + 24u;
        let line = group * 32u + own3;
        if (line < params.v[0].y) {
          var re = y15r;
          var im = y15i;
          let to2 = params.v[2].z + line * params.v[2].w + e * params.v[3].x;
          b1[to2] = bitcast<u32>(re);
          let to3 = params.v[3].y + line * params.v[3].z + e * params.v[3].w;
          b1[to3] = bitcast<u32>(im);
        }
      }
  }
}

// ---- transform of real lines with a large prime factor: rfft, 1 workgroups of 64, 22 words
// fft
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read_write> b2: array<u32>;
var<workgroup> line_re: array<f32, 1120>;
var<workgroup> line_im: array<f32, 1120>;
struct Twiddle {
  re: f32,
  im: f32,
}
fn twiddle(a: u32, n: u32, step: f32) -> Twiddle {
  var at = 8u * a;
  let lower = at > 4u * n;
  if (lower) { at = 8u * n - at; }
  let left = at > 2u * n;
  if (left) { at = 4u * n - at; }
  let steep = at > n;
  if (steep) { at = 2u * n - at; }
  let angle = f32(at) * step;
  let x = angle * angle;
  let s = angle * (f32(1.0) + x * (f32(-0.16666666666666666) + x * (f32(0.0083333333333333332) + x * (f32(-0.00019841269841269841) + x * (f32(2.7557319223985893e-06) + x * f32(-2.505210838544172e-08))))));
  let c = (f32(1.0) + x * (f32(-0.5) + x * (f32(0.041666666666666664) + x * (f32(-0.0013888888888888889) + x * (f32(2.4801587301587302e-05) + x * (f32(-2.7557319223985888e-07) + x * f32(2.08767569878681e-09)))))));
  var re = select(c, s, steep);
  var im = select(s, c, steep);
  if (left) { re = -re; }
  if (!lower) { im = -im; }
  return Twiddle(re, im);
}
fn times_mod(a: u32, b: u32, n: u32, over_n: f32) -> u32 {
  let quotient = u32(f32(a) * f32(b) * over_n);
  let left = a * b - quotient * n;
  return select(select(left, left - n, left >= n), left + n, left >= 0x80000000u);
}
fn square(a: u32, n: u32, over_n: f32) -> u32 {
  let high = times_mod(times_mod(a, a >> 14u, n, over_n), 16384u, n, over_n);
  let sum = high + times_mod(a, a & 16383u, n, over_n);
  return select(sum, sum - n, sum >= n);
}
  for (var b = thread; b < 32u * 32u; b += 64u) {
    let own = b / 32u;
    let e = b - own * 32u;
    let line = min(group * 32u + own, params.v[0].y - 1u);
    var re = f32(0.0);
    var im = f32(0.0);
      let x0 = bitcast<f32>(b0[params.v[1].x + line * params.v[1].y + e * params.v[1].z]);
      re = x0;
      let x1 = bitcast<f32>(b0[params.v[1].w + line * params.v[2].x + e * params.v[2].y]);
      im = x1;
      im = -im;
    {
      let x2 = bitcast<f32>(b1[params.v[2].z + e * params.v[2].w]);
      let x3 = bitcast<f32>(b1[params.v[3].x + e * params.v[3].y]);
      let product = re * x2 - im * x3;
      im = re * x3 + im * x2;
      re = product;
    }
    line_re[own * 35u + e + (e >> 4u)] = re;
    line_im[own * 35u + e + (e >> 4u)] = im;
  }
  workgroupBarrier();
  {
    let turn0 = thread;
    let own0 = turn0 / 4u;
    let i0 = turn0 - own0 * 4u;
    let p0 = i0;
    let to0 = i0 * 8u;
    let e0 = i0 + 0u;
    let x0r = line_re[own0 * 35u + e0 + (e0 >> 4u)];
    let x0i = line_im[own0 * 35u + e0 + (e0 >> 4u)];
// … 6 more of these 3 lines (65ec4e1a), and
    let e7 = i0 + 28u;
    let x7r = line_re[own0 * 35u + e7 + (e7 >> 4u)];
    let x7i = line_im[own0 * 35u + e7 + (e7 >> 4u)];
    let t0_4_r = x0r + x4r;
    let t0_4_i = x0i + x4i;
    let t0_5_r = x0r - x4r;
    let t0_5_i = x0i - x4i;
    let t0_6_r = x2r + x6r;
    let t0_6_i = x2i + x6i;
    let t0_7_r = x2r - x6r;
    let t0_7_i = x2i - x6i;
    let t0_0_r = t0_4_r + t0_6_r;
    let t0_0_i = t0_4_i + t0_6_i;
    let t0_1_r = t0_5_r + t0_7_i;
    let t0_1_i = t0_5_i - t0_7_r;
    let t0_2_r = t0_4_r - t0_6_r;
    let t0_2_i = t0_4_i - t0_6_i;
    let t0_3_r = t0_5_r - t0_7_i;
    let t0_3_i = t0_5_i + t0_7_r;
    let t0_12_r = x1r + x5r;
    let t0_12_i = x1i + x5i;
    let t0_13_r = x1r - x5r;
    let t0_13_i = x1i - x5i;
    let t0_14_r = x3r + x7r;
    let t0_14_i = x3i + x7i;
    let t0_15_r = x3r - x7r;
    let t0_15_i = x3i - x7i;
    let t0_8_r = t0_12_r + t0_14_r;
    let t0_8_i = t0_12_i + t0_14_i;
    let t0_9_r = t0_13_r + t0_15_i;
    let t0_9_i = t0_13_i - t0_15_r;
    let t0_10_r = t0_12_r - t0_14_r;
    let t0_10_i = t0_12_i - t0_14_i;
    let t0_11_r = t0_13_r - t0_15_i;
    let t0_11_i = t0_13_i + t0_15_r;
    let t0_16_r = t0_9_r * f32(0.70710678118654757) + t0_9_i * f32(0.70710678118654757);
    let t0_16_i = t0_9_i * f32(0.70710678118654757) - t0_9_r * f32(0.70710678118654757);
    let t0_17_r = t0_10_i;
    let t0_17_i = -t0_10_r;
    let t0_18_r = t0_11_r * f32(-0.70710678118654757) + t0_11_i * f32(0.70710678118654757);
    let t0_18_i = t0_11_i * f32(-0.70710678118654757) - t0_11_r * f32(0.70710678118654757);
    let y0r = t0_0_r + t0_8_r;
    let y0i = t0_0_i + t0_8_i;
    let y4r = t0_0_r - t0_8_r;
    let y4i = t0_0_i - t0_8_i;
// … 2 more of these 4 lines (0786dfc5), and
    let y3r = t0_3_r + t0_18_r;
    let y3i = t0_3_i + t0_18_i;
    let y7r = t0_3_r - t0_18_r;
    let y7i = t0_3_i - t0_18_i;
    let w1 = twiddle(p0, 32u, f32(0.024543692606170259));
    let w1r = w1.re;
    let w1i = w1.im;
    let w2r = w1r * w1r - w1i * w1i;
    let w2i = w1r * w1i + w1i * w1r;
// … 4 more of these 2 lines (edcaa9d9), and
    let w7r = w3r * w4r - w3i * w4i;
    let w7i = w3r * w4i + w3i * w4r;
    let turn1 = thread + 64u;
    let own1 = turn1 / 4u;
    let i1 = turn1 - own1 * 4u;
    let p1 = i1;
    let to1 = i1 * 8u;
    let e8 = i1 + 0u;
    let x8r = line_re[own1 * 35u + e8 + (e8 >> 4u)];
    let x8i = line_im[own1 * 35u + e8 + (e8 >> 4u)];
// … 6 more of these 3 lines (192c3c3b), and
    let e15 = i1 + 28u;
    let x15r = line_re[own1 * 35u + e15 + (e15 >> 4u)];
    let x15i = line_im[own1 * 35u + e15 + (e15 >> 4u)];
    let t8_4_r = x8r + x12r;
    let t8_4_i = x8i + x12i;
    let t8_5_r = x8r - x12r;
    let t8_5_i = x8i - x12i;
    let t8_6_r = x10r + x14r;
    let t8_6_i = x10i + x14i;
    let t8_7_r = x10r - x14r;
    let t8_7_i = x10i - x14i;
    let t8_0_r = t8_4_r + t8_6_r;
    let t8_0_i = t8_4_i + t8_6_i;
    let t8_1_r = t8_5_r + t8_7_i;
    let t8_1_i = t8_5_i - t8_7_r;
    let t8_2_r = t8_4_r - t8_6_r;
    let t8_2_i = t8_4_i - t8_6_i;
    let t8_3_r = t8_5_r - t8_7_i;
    let t8_3_i = t8_5_i + t8_7_r;
    let t8_12_r = x9r + x13r;
    let t8_12_i = x9i + x13i;
    let t8_13_r = x9r - x13r;
    let t8_13_i = x9i - x13i;
    let t8_14_r = x11r + x15r;
    let t8_14_i = x11i + x15i;
    let t8_15_r = x11r - x15r;
    let t8_15_i = x11i - x15i;
    let t8_8_r = t8_12_r + t8_14_r;
    let t8_8_i = t8_12_i + t8_14_i;
    let t8_9_r = t8_13_r + t8_15_i;
    let t8_9_i = t8_13_i - t8_15_r;
    let t8_10_r = t8_12_r - t8_14_r;
    let t8_10_i = t8_12_i - t8_14_i;
    let t8_11_r = t8_13_r - t8_15_i;
    let t8_11_i = t8_13_i + t8_15_r;
    let t8_16_r = t8_9_r * f32(0.70710678118654757) + t8_9_i * f32(0.70710678118654757);
    let t8_16_i = t8_9_i * f32(0.70710678118654757) - t8_9_r * f32(0.70710678118654757);
    let t8_17_r = t8_10_i;
    let t8_17_i = -t8_10_r;
    let t8_18_r = t8_11_r * f32(-0.70710678118654757) + t8_11_i * f32(0.70710678118654757);
    let t8_18_i = t8_11_i * f32(-0.70710678118654757) - t8_11_r * f32(0.70710678118654757);
    let y8r = t8_0_r + t8_8_r;
    let y8i = t8_0_i + t8_8_i;
    let y12r = t8_0_r - t8_8_r;
    let y12i = t8_0_i - t8_8_i;
// … 2 more of these 4 lines (7e2e83f1), and
    let y11r = t8_3_r + t8_18_r;
    let y11i = t8_3_i + t8_18_i;
    let y15r = t8_3_r - t8_18_r;
    let y15i = t8_3_i - t8_18_i;
    let w9 = twiddle(p1, 32u, f32(0.024543692606170259));
    let w9r = w9.re;
    let w9i = w9.im;
    let w10r = w9r * w9r - w9i * w9i;
    let w10i = w9r * w9i + w9i * w9r;
// … 4 more of these 2 lines (b3c2e78f), and
    let w15r = w11r * w12r - w11i * w12i;
    let w15i = w11r * w12i + w11i * w12r;
    workgroupBarrier();
      let o0 = to0 + 0u;
      line_re[own0 * 35u + o0 + (o0 >> 4u)] = y0r;
      line_im[own0 * 35u + o0 + (o0 >> 4u)] = y0i;
      let o1 = to0 + 1u;
      line_re[own0 * 35u + o1 + (o1 >> 4u)] = y1r * w1r - y1i * w1i;
      line_im[own0 * 35u + o1 + (o1 >> 4u)] = y1r * w1i + y1i * w1r;
// … 5 more of these 3 lines (97c26487), and
      let o7 = to0 + 7u;
      line_re[own0 * 35u + o7 + (o7 >> 4u)] = y7r * w7r - y7i * w7i;
      line_im[own0 * 35u + o7 + (o7 >> 4u)] = y7r * w7i + y7i * w7r;
      let o8 = to1 + 0u;
      line_re[own1 * 35u + o8 + (o8 >> 4u)] = y8r;
      line_im[own1 * 35u + o8 + (o8 >> 4u)] = y8i;
      let o9 = to1 + 1u;
      line_re[own1 * 35u + o9 + (o9 >> 4u)] = y9r * w9r - y9i * w9i;
      line_im[own1 * 35u + o9 + (o9 >> 4u)] = y9r * w9i + y9i * w9r;
// … 5 more of these 3 lines (5d20b109), and
      let o15 = to1 + 7u;
      line_re[own1 * 35u + o15 + (o15 >> 4u)] = y15r * w15r - y15i * w15i;
      line_im[own1 * 35u + o15 + (o15 >> 4u)] = y15r * w15i + y15i * w15r;
  }
  workgroupBarrier();
  {
    let turn0 = thread;
    let own0 = turn0 / 8u;
    let i0 = turn0 - own0 * 8u;
    let to0 = i0;
    let e0 = i0 + 0u;
    let x0r = line_re[own0 * 35u + e0 + (e0 >> 4u)];
    let x0i = line_im[own0 * 35u + e0 + (e0 >> 4u)];
// … 2 more of these 3 lines (6d486181), and
    let e3 = i0 + 24u;
    let x3r = line_re[own0 * 35u + e3 + (e3 >> 4u)];
    let x3i = line_im[own0 * 35u + e3 + (e3 >> 4u)];
    let t0_0_r = x0r + x2r;
    let t0_0_i = x0i + x2i;
    let t0_1_r = x0r - x2r;
    let t0_1_i = x0i - x2i;
    let t0_2_r = x1r + x3r;
    let t0_2_i = x1i + x3i;
    let t0_3_r = x1r - x3r;
    let t0_3_i = x1i - x3i;
    let y0r = t0_0_r + t0_2_r;
    let y0i = t0_0_i + t0_2_i;
    let y1r = t0_1_r + t0_3_i;
    let y1i = t0_1_i - t0_3_r;
    let y2r = t0_0_r - t0_2_r;
    let y2i = t0_0_i - t0_2_i;
    let y3r = t0_1_r - t0_3_i;
    let y3i = t0_1_i + t0_3_r;
    let turn1 = thread + 64u;
    let own1 = turn1 / 8u;
    let i1 = turn1 - own1 * 8u;
    let to1 = i1;
    let e4 = i1 + 0u;
    let x4r = line_re[own1 * 35u + e4 + (e4 >> 4u)];
    let x4i = line_im[own1 * 35u + e4 + (e4 >> 4u)];
// … 2 more of these 3 lines (262005eb), and
    let e7 = i1 + 24u;
    let x7r = line_re[own1 * 35u + e7 + (e7 >> 4u)];
    let x7i = line_im[own1 * 35u + e7 + (e7 >> 4u)];
    let t4_0_r = x4r + x6r;
    let t4_0_i = x4i + x6i;
    let t4_1_r = x4r - x6r;
    let t4_1_i = x4i - x6i;
    let t4_2_r = x5r + x7r;
    let t4_2_i = x5i + x7i;
    let t4_3_r = x5r - x7r;
    let t4_3_i = x5i - x7i;
    let y4r = t4_0_r + t4_2_r;
    let y4i = t4_0_i + t4_2_i;
    let y5r = t4_1_r + t4_3_i;
    let y5i = t4_1_i - t4_3_r;
    let y6r = t4_0_r - t4_2_r;
    let y6i = t4_0_i - t4_2_i;
    let y7r = t4_1_r - t4_3_i;
    let y7i = t4_1_i + t4_3_r;
    let turn2 = thread + 128u;
    let own2 = turn2 / 8u;
    let i2 = turn2 - own2 * 8u;
    let to2 = i2;
    let e8 = i2 + 0u;
    let x8r = line_re[own2 * 35u + e8 + (e8 >> 4u)];
    let x8i = line_im[own2 * 35u + e8 + (e8 >> 4u)];
// … 2 more of these 3 lines (45e9a742), and
    let e11 = i2 + 24u;
    let x11r = line_re[own2 * 35u + e11 + (e11 >> 4u)];
    let x11i = line_im[own2 * 35u + e11 + (e11 >> 4u)];
    let t8_0_r = x8r + x10r;
    let t8_0_i = x8i + x10i;
    let t8_1_r = x8r - x10r;
    let t8_1_i = x8i - x10i;
    let t8_2_r = x9r + x11r;
    let t8_2_i = x9i + x11i;
    let t8_3_r = x9r - x11r;
    let t8_3_i = x9i - x11i;
    let y8r = t8_0_r + t8_2_r;
    let y8i = t8_0_i + t8_2_i;
    let y9r = t8_1_r + t8_3_i;
    let y9i = t8_1_i - t8_3_r;
    let y10r = t8_0_r - t8_2_r;
    let y10i = t8_0_i - t8_2_i;
    let y11r = t8_1_r - t8_3_i;
    let y11i = t8_1_i + t8_3_r;
    let turn3 = thread + 192u;
    let own3 = turn3 / 8u;
    let i3 = turn3 - own3 * 8u;
    let to3 = i3;
    let e12 = i3 + 0u;
    let x12r = line_re[own3 * 35u + e12 + (e12 >> 4u)];
    let x12i = line_im[own3 * 35u + e12 + (e12 >> 4u)];
// … 2 more of these 3 lines (ffbd986b), and
    let e15 = i3 + 24u;
    let x15r = line_re[own3 * 35u + e15 + (e15 >> 4u)];
    let x15i = line_im[own3 * 35u + e15 + (e15 >> 4u)];
    let t12_0_r = x12r + x14r;
    let t12_0_i = x12i + x14i;
    let t12_1_r = x12r - x14r;
    let t12_1_i = x12i - x14i;
    let t12_2_r = x13r + x15r;
    let t12_2_i = x13i + x15i;
    let t12_3_r = x13r - x15r;
    let t12_3_i = x13i - x15i;
    let y12r = t12_0_r + t12_2_r;
    let y12i = t12_0_i + t12_2_i;
    let y13r = t12_1_r + t12_3_i;
    let y13i = t12_1_i - t12_3_r;
    let y14r = t12_0_r - t12_2_r;
    let y14i = t12_0_i - t12_2_i;
    let y15r = t12_1_r - t12_3_i;
    let y15i = t12_1_i + t12_3_r;
      {
        let e = to0 + 0u;
        let line = group * 32u + own0;
        if (line < params.v[0].y && e < params.v[5].y) {
          var re = y0r;
          var im = y0i;
          im = -im;
          {
            let w = twiddle(square(min(e, 10u), 22u, f32(0.045454545454545456)), 22u, f32(0.035699916518065831));
            let product = re * w.re - im * w.im;
            im = re * w.im + im * w.re;
            re = product;
          }
          let to4 = params.v[3].z + line * params.v[3].w + e * params.v[4].x;
          b2[to4] = bitcast<u32>(re);
          let to5 = params.v[4].y + line * params.v[4].z + e * params.v[4].w;
          b2[to5] = bitcast<u32>(im);
        }
      }
// … 14 more of these 19 lines (23deebcf), and
      {
        let e = to3 + 24u;
        let line = group * 32u + own3;
        if (line < params.v[0].y && e < params.v[5].y) {
          var re = y15r;
          var im = y15i;
          im = -im;
          {
            let w = twiddle(square(min(e, 10u), 22u, f32(0.045454545454545456)), 22u, f32(0.035699916518065831));
            let product = re * w.re - im * w.im;
            im = re * w.im + im * w.re;
            re = product;
          }
          let to4 = params.v[3].z + line * params.v[3].w + e * params.v[4].x;
          b2[to4] = bitcast<u32>(re);
          let to5 = params.v[4].y + line * params.v[4].z + e * params.v[4].w;
          b2[to5] = bitcast<u32>(im);
        }
      }
  }
}

// ---- transform of real lines with a large prime factor: rfft, 1 workgroups of 256, 24 words
// fft, elements
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
struct Twiddle {
  re: f32,
  im: f32,
}
fn twiddle(a: u32, n: u32, step: f32) -> Twiddle {
  var at = 8u * a;
  let lower = at > 4u * n;
  if (lower) { at = 8u * n - at; }
  let left = at > 2u * n;
  if (left) { at = 4u * n - at; }
  let steep = at > n;
  if (steep) { at = 2u * n - at; }
  let angle = f32(at) * step;
  let x = angle * angle;
  let s = angle * (f32(1.0) + x * (f32(-0.16666666666666666) + x * (f32(0.0083333333333333332) + x * (f32(-0.00019841269841269841) + x * (f32(2.7557319223985893e-06) + x * f32(-2.505210838544172e-08))))));
  let c = (f32(1.0) + x * (f32(-0.5) + x * (f32(0.041666666666666664) + x * (f32(-0.0013888888888888889) + x * (f32(2.4801587301587302e-05) + x * (f32(-2.7557319223985888e-07) + x * f32(2.08767569878681e-09)))))));
  var re = select(c, s, steep);
  var im = select(s, c, steep);
  if (left) { re = -re; }
  if (!lower) { im = -im; }
  return Twiddle(re, im);
}
  let b = group * 256 + thread;
  let line = b / params.v[5].w;
  let e = b - line * params.v[5].w;
  if (line < params.v[0].y) {
    var re = f32(0.0);
    var im = f32(0.0);
    if (line < params.v[0].y && e <= 11u) {
      let row = select(e, 0u, e == 11u);
      let mirrored = select(e, 11u, e == 0u);
      let x0 = bitcast<f32>(b0[params.v[1].x + line * params.v[1].y + row * params.v[1].z]);
      re = x0;
      let x1 = bitcast<f32>(b0[params.v[1].w + line * params.v[2].x + row * params.v[2].y]);
      im = x1;
      var other_re = f32(0.0);
      var other_im = f32(0.0);
      let x2 = bitcast<f32>(b0[params.v[2].z + line * params.v[2].w + mirrored * params.v[3].x]);
      other_re = x2;
      let x3 = bitcast<f32>(b0[params.v[3].y + line * params.v[3].z + mirrored * params.v[3].w]);
      other_im = x3;
      {
        let w = twiddle(e, 22u, f32(0.035699916518065831));
        let less_re = re - other_re;
        let less_im = im + other_im;
        re = re + other_re + (w.re * less_im + w.im * less_re);
        im = im - other_im - (w.re * less_re - w.im * less_im);
      }
    }
    re *= f32(0.5);
    im *= f32(0.5);
    let to4 = params.v[4].x + line * params.v[4].y + e * params.v[4].z;
    b1[to4] = bitcast<u32>(re);
    let to5 = params.v[4].w + line * params.v[5].x + e * params.v[5].y;
    b1[to5] = bitcast<u32>(im);
  }
}

// ---- gradients of transforms of real lines, and of fewer elements: rfft, 1 workgroups of 32, 18 words
// fft
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
var<workgroup> line_re: array<f32, 256>;
var<workgroup> line_im: array<f32, 256>;
struct Twiddle {
  re: f32,
  im: f32,
}
fn twiddle(a: u32, n: u32, step: f32) -> Twiddle {
  var at = 8u * a;
  let lower = at > 4u * n;
  if (lower) { at = 8u * n - at; }
  let left = at > 2u * n;
  if (left) { at = 4u * n - at; }
  let steep = at > n;
  if (steep) { at = 2u * n - at; }
  let angle = f32(at) * step;
  let x = angle * angle;
  let s = angle * (f32(1.0) + x * (f32(-0.16666666666666666) + x * (f32(0.0083333333333333332) + x * (f32(-0.00019841269841269841) + x * (f32(2.7557319223985893e-06) + x * f32(-2.505210838544172e-08))))));
  let c = (f32(1.0) + x * (f32(-0.5) + x * (f32(0.041666666666666664) + x * (f32(-0.0013888888888888889) + x * (f32(2.4801587301587302e-05) + x * (f32(-2.7557319223985888e-07) + x * f32(2.08767569878681e-09)))))));
  var re = select(c, s, steep);
  var im = select(s, c, steep);
  if (left) { re = -re; }
  if (!lower) { im = -im; }
  return Twiddle(re, im);
}
  for (var b = thread; b < 64u * 3u; b += 32u) {
    let own = b / 3u;
    let e = b - own * 3u;
    let line = min(group * 64u + own, params.v[0].y - 1u);
    var re = f32(0.0);
    var im = f32(0.0);
      let x0 = bitcast<f32>(b0[params.v[1].x + line * params.v[1].y + e * params.v[1].z]);
      re = x0;
      let x1 = bitcast<f32>(b0[params.v[1].w + line * params.v[2].x + e * params.v[2].y]);
      im = x1;
    line_re[own * 4u + e + (e >> 4u)] = re;
    line_im[own * 4u + e + (e >> 4u)] = im;
  }
  workgroupBarrier();
  {
    let turn0 = thread;
    let own0 = turn0 / 1u;
    let i0 = turn0 - own0 * 1u;
    let to0 = i0;
    let e0 = i0 + 0u;
    let x0r = line_re[own0 * 4u + e0 + (e0 >> 4u)];
    let x0i = line_im[own0 * 4u + e0 + (e0 >> 4u)];
    let e1 = i0 + 1u;
    let x1r = line_re[own0 * 4u + e1 + (e1 >> 4u)];
    let x1i = line_im[own0 * 4u + e1 + (e1 >> 4u)];
    let e2 = i0 + 2u;
    let x2r = line_re[own0 * 4u + e2 + (e2 >> 4u)];
    let x2i = line_im[own0 * 4u + e2 + (e2 >> 4u)];
    let t0_0_r = x1r + x2r;
    let t0_0_i = x1i + x2i;
    let t0_1_r = x1r - x2r;
    let t0_1_i = x1i - x2i;
    let y0r = x0r + t0_0_r;
    let y0i = x0i + t0_0_i;
    let t0_2_r = x0r + f32(-0.49999999999999978) * t0_0_r;
    let t0_2_i = x0i + f32(-0.49999999999999978) * t0_0_i;
    let t0_3_r = f32(0.86602540378443871) * t0_1_r;
    let t0_3_i = f32(0.86602540378443871) * t0_1_i;
    let y1r = t0_2_r + t0_3_i;
    let y1i = t0_2_i - t0_3_r;
    let y2r = t0_2_r - t0_3_i;
    let y2i = t0_2_i + t0_3_r;
    let turn1 = thread + 32u;
    let own1 = turn1 / 1u;
    let i1 = turn1 - own1 * 1u;
    let to1 = i1;
    let e3 = i1 + 0u;
    let x3r = line_re[own1 * 4u + e3 + (e3 >> 4u)];
    let x3i = line_im[own1 * 4u + e3 + (e3 >> 4u)];
    let e4 = i1 + 1u;
    let x4r = line_re[own1 * 4u + e4 + (e4 >> 4u)];
    let x4i = line_im[own1 * 4u + e4 + (e4 >> 4u)];
    let e5 = i1 + 2u;
    let x5r = line_re[own1 * 4u + e5 + (e5 >> 4u)];
    let x5i = line_im[own1 * 4u + e5 + (e5 >> 4u)];
    let t3_0_r = x4r + x5r;
    let t3_0_i = x4i + x5i;
    let t3_1_r = x4r - x5r;
    let t3_1_i = x4i - x5i;
    let y3r = x3r + t3_0_r;
    let y3i = x3i + t3_0_i;
    let t3_2_r = x3r + f32(-0.49999999999999978) * t3_0_r;
    let t3_2_i = x3i + f32(-0.49999999999999978) * t3_0_i;
    let t3_3_r = f32(0.86602540378443871) * t3_1_r;
    let t3_3_i = f32(0.86602540378443871) * t3_1_i;
    let y4r = t3_2_r + t3_3_i;
    let y4i = t3_2_i - t3_3_r;
    let y5r = t3_2_r - t3_3_i;
    let y5i = t3_2_i + t3_3_r;
    workgroupBarrier();
      let o0 = to0 + 0u;
      line_re[own0 * 4u + o0 + (o0 >> 4u)] = y0r;
      line_im[own0 * 4u + o0 + (o0 >> 4u)] = y0i;
// … 4 more of these 3 lines (9dcab2b3), and
      let o5 = to1 + 2u;
      line_re[own1 * 4u + o5 + (o5 >> 4u)] = y5r;
      line_im[own1 * 4u + o5 + (o5 >> 4u)] = y5i;
  }
  workgroupBarrier();
  for (var b = thread; b < 64u * 2u; b += 32u) {
    let own = b / 2u;
    let k = b - own * 2u;
    let line = group * 64u + own;
    let there = own * 4u + k + (k >> 4u);
    let back = own * 4u + select(3u - k, 0u, k == 0u) + (select(3u - k, 0u, k == 0u) >> 4u);
    let other_re = line_re[back];
    let other_im = line_im[back];
    let sum_re = line_re[there] + other_re;
    let sum_im = line_im[there] - other_im;
    let less_re = line_re[there] - other_re;
    let less_im = line_im[there] + other_im;
    let w = twiddle(k, 6u, f32(0.1308996938995747));
    let turned_re = w.re * less_im + w.im * less_re;
    let turned_im = w.re * less_re - w.im * less_im;
    if (line < params.v[0].y && k < params.v[4].y) {
      let e = k;
      var re = sum_re + turned_re;
      var im = sum_im - turned_im;
      re *= f32(0.5);
      im *= f32(0.5);
      let to2 = params.v[2].z + line * params.v[2].w + e * params.v[3].x;
      b1[to2] = bitcast<u32>(re);
      let to3 = params.v[3].y + line * params.v[3].z + e * params.v[3].w;
      b1[to3] = bitcast<u32>(im);
    }
    if (line < params.v[0].y && 2u * k < 3u && 3u - k < params.v[4].y) {
      let e = 3u - k;
      var re = sum_re - turned_re;
      var im = -sum_im - turned_im;
      re *= f32(0.5);
      im *= f32(0.5);
      let to2 = params.v[2].z + line * params.v[2].w + e * params.v[3].x;
      b1[to2] = bitcast<u32>(re);
      let to3 = params.v[3].y + line * params.v[3].z + e * params.v[3].w;
      b1[to3] = bitcast<u32>(im);
    }
  }
}

// ---- gradients of transforms of real lines, and of fewer elements: rfft, 1 workgroups of 32, 24 words
// fft
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
var<workgroup> line_re: array<f32, 256>;
var<workgroup> line_im: array<f32, 256>;
struct Twiddle {
  re: f32,
  im: f32,
}
fn twiddle(a: u32, n: u32, step: f32) -> Twiddle {
  var at = 8u * a;
  let lower = at > 4u * n;
  if (lower) { at = 8u * n - at; }
  let left = at > 2u * n;
  if (left) { at = 4u * n - at; }
  let steep = at > n;
  if (steep) { at = 2u * n - at; }
  let angle = f32(at) * step;
  let x = angle * angle;
  let s = angle * (f32(1.0) + x * (f32(-0.16666666666666666) + x * (f32(0.0083333333333333332) + x * (f32(-0.00019841269841269841) + x * (f32(2.7557319223985893e-06) + x * f32(-2.505210838544172e-08))))));
  let c = (f32(1.0) + x * (f32(-0.5) + x * (f32(0.041666666666666664) + x * (f32(-0.0013888888888888889) + x * (f32(2.4801587301587302e-05) + x * (f32(-2.7557319223985888e-07) + x * f32(2.08767569878681e-09)))))));
  var re = select(c, s, steep);
  var im = select(s, c, steep);
  if (left) { re = -re; }
  if (!lower) { im = -im; }
  return Twiddle(re, im);
}
  for (var b = thread; b < 64u * 3u; b += 32u) {
    let own = b / 3u;
    let e = b - own * 3u;
    let line = min(group * 64u + own, params.v[0].y - 1u);
    var re = f32(0.0);
    var im = f32(0.0);
    var other_re = f32(0.0);
    var other_im = f32(0.0);
      let x0 = bitcast<f32>(b0[params.v[1].x + line * params.v[1].y + e * params.v[1].z]);
      re = x0;
      let x1 = bitcast<f32>(b0[params.v[1].w + line * params.v[2].x + e * params.v[2].y]);
      im = x1;
      let x2 = bitcast<f32>(b0[params.v[2].z + line * params.v[2].w + e * params.v[3].x]);
      other_re = x2;
      let x3 = bitcast<f32>(b0[params.v[3].y + line * params.v[3].z + e * params.v[3].w]);
      other_im = x3;
    im = -im;
    other_im = -other_im;
    if (e == 0u) {
      im = f32(0.0);
      other_im = f32(0.0);
    }
    else {
      re *= f32(0.5);
      im *= f32(0.5);
      other_re *= f32(0.5);
      other_im *= f32(0.5);
    }
    {
      let w = twiddle(e, 6u, f32(0.1308996938995747));
      let less_re = re - other_re;
      let less_im = im + other_im;
      re = re + other_re - (w.re * less_im + w.im * less_re);
      im = im - other_im + (w.re * less_re - w.im * less_im);
    }
    line_re[own * 4u + e + (e >> 4u)] = re;
    line_im[own * 4u + e + (e >> 4u)] = im;
  }
  workgroupBarrier();
  {
    let turn0 = thread;
    let own0 = turn0 / 1u;
    let i0 = turn0 - own0 * 1u;
    let to0 = i0;
    let e0 = i0 + 0u;
    let x0r = line_re[own0 * 4u + e0 + (e0 >> 4u)];
    let x0i = line_im[own0 * 4u + e0 + (e0 >> 4u)];
    let e1 = i0 + 1u;
    let x1r = line_re[own0 * 4u + e1 + (e1 >> 4u)];
    let x1i = line_im[own0 * 4u + e1 + (e1 >> 4u)];
    let e2 = i0 + 2u;
    let x2r = line_re[own0 * 4u + e2 + (e2 >> 4u)];
    let x2i = line_im[own0 * 4u + e2 + (e2 >> 4u)];
    let t0_0_r = x1r + x2r;
    let t0_0_i = x1i + x2i;
    let t0_1_r = x1r - x2r;
    let t0_1_i = x1i - x2i;
    let y0r = x0r + t0_0_r;
    let y0i = x0i + t0_0_i;
    let t0_2_r = x0r + f32(-0.49999999999999978) * t0_0_r;
    let t0_2_i = x0i + f32(-0.49999999999999978) * t0_0_i;
    let t0_3_r = f32(0.86602540378443871) * t0_1_r;
    let t0_3_i = f32(0.86602540378443871) * t0_1_i;
    let y1r = t0_2_r + t0_3_i;
    let y1i = t0_2_i - t0_3_r;
    let y2r = t0_2_r - t0_3_i;
    let y2i = t0_2_i + t0_3_r;
    let turn1 = thread + 32u;
    let own1 = turn1 / 1u;
    let i1 = turn1 - own1 * 1u;
    let to1 = i1;
    let e3 = i1 + 0u;
    let x3r = line_re[own1 * 4u + e3 + (e3 >> 4u)];
    let x3i = line_im[own1 * 4u + e3 + (e3 >> 4u)];
    let e4 = i1 + 1u;
    let x4r = line_re[own1 * 4u + e4 + (e4 >> 4u)];
    let x4i = line_im[own1 * 4u + e4 + (e4 >> 4u)];
    let e5 = i1 + 2u;
    let x5r = line_re[own1 * 4u + e5 + (e5 >> 4u)];
    let x5i = line_im[own1 * 4u + e5 + (e5 >> 4u)];
    let t3_0_r = x4r + x5r;
    let t3_0_i = x4i + x5i;
    let t3_1_r = x4r - x5r;
    let t3_1_i = x4i - x5i;
    let y3r = x3r + t3_0_r;
    let y3i = x3i + t3_0_i;
    let t3_2_r = x3r + f32(-0.49999999999999978) * t3_0_r;
    let t3_2_i = x3i + f32(-0.49999999999999978) * t3_0_i;
    let t3_3_r = f32(0.86602540378443871) * t3_1_r;
    let t3_3_i = f32(0.86602540378443871) * t3_1_i;
    let y4r = t3_2_r + t3_3_i;
    let y4i = t3_2_i - t3_3_r;
    let y5r = t3_2_r - t3_3_i;
    let y5i = t3_2_i + t3_3_r;
    workgroupBarrier();
      let o0 = to0 + 0u;
      line_re[own0 * 4u + o0 + (o0 >> 4u)] = y0r;
      line_im[own0 * 4u + o0 + (o0 >> 4u)] = y0i;
// … 4 more of these 3 lines (9dcab2b3), and
      let o5 = to1 + 2u;
      line_re[own1 * 4u + o5 + (o5 >> 4u)] = y5r;
      line_im[own1 * 4u + o5 + (o5 >> 4u)] = y5i;
  }
  workgroupBarrier();
  for (var b = thread; b < 64u * params.v[5].w; b += 32u) {
    let own = b / params.v[5].w;
    let e = b - own * params.v[5].w;
    let line = group * 64u + own;
    if (line < params.v[0].y) {
      var re = line_re[own * 4u + e + (e >> 4u)];
      var im = line_im[own * 4u + e + (e >> 4u)];
      let to4 = params.v[4].x + line * params.v[4].y + e * params.v[4].z;
      b1[to4] = bitcast<u32>(re);
      let to5 = params.v[4].w + line * params.v[5].x + e * params.v[5].y;
      b1[to5] = bitcast<u32>(im);
    }
  }
}

// ---- gradients of transforms of real lines, and of fewer elements: fft, 1 workgroups of 32, 18 words
// fft
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
var<workgroup> line_re: array<f32, 192>;
var<workgroup> line_im: array<f32, 192>;
struct Twiddle {
  re: f32,
  im: f32,
}
fn twiddle(a: u32, n: u32, step: f32) -> Twiddle {
  var at = 8u * a;
  let lower = at > 4u * n;
  if (lower) { at = 8u * n - at; }
  let left = at > 2u * n;
  if (left) { at = 4u * n - at; }
  let steep = at > n;
  if (steep) { at = 2u * n - at; }
  let angle = f32(at) * step;
  let x = angle * angle;
  let s = angle * (f32(1.0) + x * (f32(-0.16666666666666666) + x * (f32(0.0083333333333333332) + x * (f32(-0.00019841269841269841) + x * (f32(2.7557319223985893e-06) + x * f32(-2.505210838544172e-08))))));
  let c = (f32(1.0) + x * (f32(-0.5) + x * (f32(0.041666666666666664) + x * (f32(-0.0013888888888888889) + x * (f32(2.4801587301587302e-05) + x * (f32(-2.7557319223985888e-07) + x * f32(2.08767569878681e-09)))))));
  var re = select(c, s, steep);
  var im = select(s, c, steep);
  if (left) { re = -re; }
  if (!lower) { im = -im; }
  return Twiddle(re, im);
}
  for (var b = thread; b < 64u * 2u; b += 32u) {
    let own = b / 2u;
    let e = b - own * 2u;
    let line = min(group * 64u + own, params.v[0].y - 1u);
    var re = f32(0.0);
    var im = f32(0.0);
      let x0 = bitcast<f32>(b0[params.v[1].x + line * params.v[1].y + e * params.v[1].z]);
      re = x0;
      let x1 = bitcast<f32>(b0[params.v[1].w + line * params.v[2].x + e * params.v[2].y]);
      im = x1;
    line_re[own * 3u + e + (e >> 4u)] = re;
    line_im[own * 3u + e + (e >> 4u)] = im;
  }
  workgroupBarrier();
  {
    let turn0 = thread;
    let own0 = turn0 / 1u;
    let i0 = turn0 - own0 * 1u;
    let to0 = i0;
    let e0 = i0 + 0u;
    let x0r = line_re[own0 * 3u + e0 + (e0 >> 4u)];
    let x0i = line_im[own0 * 3u + e0 + (e0 >> 4u)];
    let e1 = i0 + 1u;
    let x1r = line_re[own0 * 3u + e1 + (e1 >> 4u)];
    let x1i = line_im[own0 * 3u + e1 + (e1 >> 4u)];
    let y0r = x0r + x1r;
    let y0i = x0i + x1i;
    let y1r = x0r - x1r;
    let y1i = x0i - x1i;
    let turn1 = thread + 32u;
    let own1 = turn1 / 1u;
    let i1 = turn1 - own1 * 1u;
    let to1 = i1;
    let e2 = i1 + 0u;
    let x2r = line_re[own1 * 3u + e2 + (e2 >> 4u)];
    let x2i = line_im[own1 * 3u + e2 + (e2 >> 4u)];
    let e3 = i1 + 1u;
    let x3r = line_re[own1 * 3u + e3 + (e3 >> 4u)];
    let x3i = line_im[own1 * 3u + e3 + (e3 >> 4u)];
    let y2r = x2r + x3r;
    let y2i = x2i + x3i;
    let y3r = x2r - x3r;
    let y3i = x2i - x3i;
    workgroupBarrier();
      let o0 = to0 + 0u;
      line_re[own0 * 3u + o0 + (o0 >> 4u)] = y0r;
      line_im[own0 * 3u + o0 + (o0 >> 4u)] = y0i;
// … 2 more of these 3 lines (1508dcb0), and
      let o3 = to1 + 1u;
      line_re[own1 * 3u + o3 + (o3 >> 4u)] = y3r;
      line_im[own1 * 3u + o3 + (o3 >> 4u)] = y3i;
  }
  workgroupBarrier();
  for (var b = thread; b < 64u * params.v[4].y; b += 32u) {
    let own = b / params.v[4].y;
    let e = b - own * params.v[4].y;
    let line = group * 64u + own;
    if (line < params.v[0].y) {
      var re = line_re[own * 3u + e + (e >> 4u)];
      var im = line_im[own * 3u + e + (e >> 4u)];
      let to2 = params.v[2].z + line * params.v[2].w + e * params.v[3].x;
      b1[to2] = bitcast<u32>(re);
      let to3 = params.v[3].y + line * params.v[3].z + e * params.v[3].w;
      b1[to3] = bitcast<u32>(im);
    }
  }
}

// ---- gradients of transforms of real lines, and of fewer elements: fft, 1 workgroups of 32, 18 words
// fft
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
var<workgroup> line_re: array<f32, 192>;
var<workgroup> line_im: array<f32, 192>;
struct Twiddle {
  re: f32,
  im: f32,
}
fn twiddle(a: u32, n: u32, step: f32) -> Twiddle {
  var at = 8u * a;
  let lower = at > 4u * n;
  if (lower) { at = 8u * n - at; }
  let left = at > 2u * n;
  if (left) { at = 4u * n - at; }
  let steep = at > n;
  if (steep) { at = 2u * n - at; }
  let angle = f32(at) * step;
  let x = angle * angle;
  let s = angle * (f32(1.0) + x * (f32(-0.16666666666666666) + x * (f32(0.0083333333333333332) + x * (f32(-0.00019841269841269841) + x * (f32(2.7557319223985893e-06) + x * f32(-2.505210838544172e-08))))));
  let c = (f32(1.0) + x * (f32(-0.5) + x * (f32(0.041666666666666664) + x * (f32(-0.0013888888888888889) + x * (f32(2.4801587301587302e-05) + x * (f32(-2.7557319223985888e-07) + x * f32(2.08767569878681e-09)))))));
  var re = select(c, s, steep);
  var im = select(s, c, steep);
  if (left) { re = -re; }
  if (!lower) { im = -im; }
  return Twiddle(re, im);
}
  for (var b = thread; b < 64u * 2u; b += 32u) {
    let own = b / 2u;
    let e = b - own * 2u;
    let line = min(group * 64u + own, params.v[0].y - 1u);
    var re = f32(0.0);
    var im = f32(0.0);
      let x0 = bitcast<f32>(b0[params.v[1].x + line * params.v[1].y + e * params.v[1].z]);
      re = x0;
      let x1 = bitcast<f32>(b0[params.v[1].w + line * params.v[2].x + e * params.v[2].y]);
      im = x1;
      im = -im;
    line_re[own * 3u + e + (e >> 4u)] = re;
    line_im[own * 3u + e + (e >> 4u)] = im;
  }
  workgroupBarrier();
  {
    let turn0 = thread;
    let own0 = turn0 / 1u;
    let i0 = turn0 - own0 * 1u;
    let to0 = i0;
    let e0 = i0 + 0u;
    let x0r = line_re[own0 * 3u + e0 + (e0 >> 4u)];
    let x0i = line_im[own0 * 3u + e0 + (e0 >> 4u)];
    let e1 = i0 + 1u;
    let x1r = line_re[own0 * 3u + e1 + (e1 >> 4u)];
    let x1i = line_im[own0 * 3u + e1 + (e1 >> 4u)];
    let y0r = x0r + x1r;
    let y0i = x0i + x1i;
    let y1r = x0r - x1r;
    let y1i = x0i - x1i;
    let turn1 = thread + 32u;
    let own1 = turn1 / 1u;
    let i1 = turn1 - own1 * 1u;
    let to1 = i1;
    let e2 = i1 + 0u;
    let x2r = line_re[own1 * 3u + e2 + (e2 >> 4u)];
    let x2i = line_im[own1 * 3u + e2 + (e2 >> 4u)];
    let e3 = i1 + 1u;
    let x3r = line_re[own1 * 3u + e3 + (e3 >> 4u)];
    let x3i = line_im[own1 * 3u + e3 + (e3 >> 4u)];
    let y2r = x2r + x3r;
    let y2i = x2i + x3i;
    let y3r = x2r - x3r;
    let y3i = x2i - x3i;
    workgroupBarrier();
      let o0 = to0 + 0u;
      line_re[own0 * 3u + o0 + (o0 >> 4u)] = y0r;
      line_im[own0 * 3u + o0 + (o0 >> 4u)] = y0i;
// … 2 more of these 3 lines (1508dcb0), and
      let o3 = to1 + 1u;
      line_re[own1 * 3u + o3 + (o3 >> 4u)] = y3r;
      line_im[own1 * 3u + o3 + (o3 >> 4u)] = y3i;
  }
  workgroupBarrier();
  for (var b = thread; b < 64u * params.v[4].y; b += 32u) {
    let own = b / params.v[4].y;
    let e = b - own * params.v[4].y;
    let line = group * 64u + own;
    if (line < params.v[0].y) {
      var re = line_re[own * 3u + min(e, 1u) + (min(e, 1u) >> 4u)];
      var im = line_im[own * 3u + min(e, 1u) + (min(e, 1u) >> 4u)];
      im = -im;
      if (e >= 2u) {
        re = f32(0.0);
        im = f32(0.0);
      }
      let to2 = params.v[2].z + line * params.v[2].w + e * params.v[3].x;
      b1[to2] = bitcast<u32>(re);
      let to3 = params.v[3].y + line * params.v[3].z + e * params.v[3].w;
      b1[to3] = bitcast<u32>(im);
    }
  }
}

// ---- convolution, and its gradients: conv2d, 2 workgroups of 64, 32 words
// convolution, tiles of 32x32x8
struct Params { v: array<vec4<u32>, 9> }
@group(0) @binding(1) var<storage, read_write> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> b1: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> b2: array<vec4<u32>>;
var<workgroup> tile_a: array<vec4<f32>, 64>;
var<workgroup> tile_b: array<vec4<f32>, 64>;
fn epilogue(v0: f32) -> f32 {
  return v0;
}
  let tiles = params.v[1].x * params.v[1].y;
  let batch = group / tiles;
  let tile = group - batch * tiles;
  let band = tile / (8u * params.v[1].y);
  let in_band = tile - band * 8u * params.v[1].y;
  let band_rows = min(8u, params.v[1].x - band * 8u);
  let first_m = (band * 8u + in_band % band_rows) * 32u;
  let first_n = in_band / band_rows * 32u;
  let ty = thread / 8u;
  let tx = thread - ty * 8u;
  var acc0_0 = vec4<f32>();
  var acc1_0 = vec4<f32>();
  var acc2_0 = vec4<f32>();
  var acc3_0 = vec4<f32>();
  let base_a = params.v[6].z;
  let base_b = params.v[7].z;
  let place0 = first_m + (thread + 0u * 64u) / 2u;
  var rest0 = place0;
  let corner0_1 = bitcast<i32>(rest0 % params.v[4].z * params.v[4].w) - bitcast<i32>(params.v[5].x);
  rest0 = rest0 / params.v[4].z;
  let corner0_0 = bitcast<i32>(rest0 % params.v[2].z * params.v[2].w) - bitcast<i32>(params.v[3].x);
  rest0 = rest0 / params.v[2].z;
  let image0 = base_a + rest0 * params.v[6].w;
  var tap_0 = i32(0);
  var tap_1 = i32(0);
  var channel = thread % 2u * 4u;
  while (channel >= params.v[6].y) {
    channel -= params.v[6].y;
    tap_1 += bitcast<i32>(params.v[5].z);
    if (tap_1 == bitcast<i32>(params.v[6].x)) {
      tap_1 = i32(0);
      tap_0 += bitcast<i32>(params.v[3].z);
    }
  }
  {
    var kt = 0u;
    var unit0_0 = vec4<u32>();
    var unit1_0 = vec4<u32>();
    {
      let major = thread / 2u;
      let minor = (thread - major * 2u) * 4u;
      let o = major;
      let kk = minor;
      let at = image0 + bitcast<u32>(corner0_0 + tap_0) * params.v[7].x + bitcast<u32>(corner0_1 + tap_1) * params.v[7].y + channel * 1u;
      unit0_0 = vec4<u32>();
      if (place0 < params.v[0].y && kt + kk < params.v[0].w && bitcast<u32>(corner0_0 + tap_0) < params.v[2].y && bitcast<u32>(corner0_1 + tap_1) < params.v[4].y) { unit0_0 = b1[at / 4u]; }
    }
    {
      let major = thread / 8u;
      let minor = (thread - major * 8u) * 4u;
      let o = minor;
      let kk = major;
      let at = base_b + (first_n + o) + (kt + kk) * params.v[7].w;
      unit1_0 = vec4<u32>();
      if (first_n + o < params.v[0].z && kt + kk < params.v[0].w) { unit1_0 = b2[at / 4u]; }
    }
    while (kt < params.v[0].w) {
      {
        let major = thread / 2u;
        let minor = (thread - major * 2u) * 4u;
        let o = major;
        let kk = minor;
        tile_a[(kk + 0u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit0_0.x);
        tile_a[(kk + 1u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit0_0.y);
        tile_a[(kk + 2u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit0_0.z);
        tile_a[(kk + 3u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit0_0.w);
      }
      {
        let major = thread / 8u;
        let minor = (thread - major * 8u) * 4u;
        let o = minor;
        let kk = major;
        tile_b[kk * 8u + o / 4u + 0u] = vec4<f32>(bitcast<f32>(unit1_0.x), bitcast<f32>(unit1_0.y), bitcast<f32>(unit1_0.z), bitcast<f32>(unit1_0.w));
      }
      workgroupBarrier();
      kt += 8u;
      channel += 8u;
      while (channel >= params.v[6].y) {
        channel -= params.v[6].y;
        tap_1 += bitcast<i32>(params.v[5].z);
        if (tap_1 == bitcast<i32>(params.v[6].x)) {
          tap_1 = i32(0);
          tap_0 += bitcast<i32>(params.v[3].z);
        }
      }
      if (kt < params.v[0].w) {
        {
          let major = thread / 2u;
          let minor = (thread - major * 2u) * 4u;
          let o = major;
          let kk = minor;
          let at = image0 + bitcast<u32>(corner0_0 + tap_0) * params.v[7].x + bitcast<u32>(corner0_1 + tap_1) * params.v[7].y + channel * 1u;
          unit0_0 = vec4<u32>();
          if (place0 < params.v[0].y && kt + kk < params.v[0].w && bitcast<u32>(corner0_0 + tap_0) < params.v[2].y && bitcast<u32>(corner0_1 + tap_1) < params.v[4].y) { unit0_0 = b1[at / 4u]; }
        }
        {
          let major = thread / 8u;
          let minor = (thread - major * 8u) * 4u;
          let o = minor;
          let kk = major;
          let at = base_b + (first_n + o) + (kt + kk) * params.v[7].w;
          unit1_0 = vec4<u32>();
          if (first_n + o < params.v[0].z && kt + kk < params.v[0].w) { unit1_0 = b2[at / 4u]; }
        }
      }
      {
        let a0 = tile_a[0u + ty];
        let c0 = tile_b[0u + tx];
        acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
        acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
        acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
        acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
// … 2 more of these 8 lines (312ec3ad), and
      }
      {
        let a0 = tile_a[24u + ty];
        let c0 = tile_b[24u + tx];
        acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
        acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
        acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
        acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
      }
      {
        let a0 = tile_a[32u + (ty ^ 2u)];
        let c0 = tile_b[32u + tx];
        acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
        acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
        acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
        acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
// … 2 more of these 8 lines (11d46b09), and
      }
      {
        let a0 = tile_a[56u + (ty ^ 2u)];
        let c0 = tile_b[56u + tx];
        acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
        acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
        acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
        acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
      }
      workgroupBarrier();
    }
  }
  for (var i = 0u; i < 4u; i += 1u) {
    let row = first_m + (i / 4u) * 32u + ty * 4u + (i & 3u);
    if (row < params.v[0].y) {
      if (first_n + 0u + tx * 4u < params.v[0].z) {
        let col = first_n + 0u + tx * 4u;
        let y0 = epilogue(acc0_0.x);
        let y1 = epilogue(acc0_0.y);
        let y2 = epilogue(acc0_0.z);
        let y3 = epilogue(acc0_0.w);
        let w4 = (params.v[1].w + row * params.v[2].x + col) / 4u;
        b0[w4 + 0u] = vec4<u32>(bitcast<u32>(y0), bitcast<u32>(y1), bitcast<u32>(y2), bitcast<u32>(y3));
      }
    }
    acc0_0 = acc1_0;
    acc1_0 = acc2_0;
    acc2_0 = acc3_0;
  }
}

// ---- convolution, and its gradients: conv2d, 3 workgroups of 64, 35 words
// gradient of a convolution's kernels, tiles of 32x32x8
@group(0) @binding(1) var<storage, read_write> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> b1: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> b2: array<vec4<u32>>;
var<workgroup> tile_a: array<vec4<f32>, 64>;
var<workgroup> tile_b: array<vec4<f32>, 64>;
fn epilogue(v0: f32) -> f32 {
  return v0;
}
  let tiles = params.v[1].x * params.v[1].y;
  let batch = group / tiles;
  let tile = group - batch * tiles;
  let band = tile / (8u * params.v[1].y);
  let in_band = tile - band * 8u * params.v[1].y;
  let band_rows = min(8u, params.v[1].x - band * 8u);
  let first_m = (band * 8u + in_band % band_rows) * 32u;
  let first_n = in_band / band_rows * 32u;
  let ty = thread / 8u;
  let tx = thread - ty * 8u;
  var acc0_0 = vec4<f32>();
  var acc1_0 = vec4<f32>();
  var acc2_0 = vec4<f32>();
  var acc3_0 = vec4<f32>();
  let base_a = params.v[7].y;
  let base_b = params.v[8].y;
  let first_place = (params.v[7].x) * params.v[6].w;
  let depth_here = min(params.v[6].w, params.v[6].z - first_place);
  let window = first_m + thread % 8u * 4u;
  var rest = window / params.v[6].y;
  let channel = window - rest * params.v[6].y;
  let tap_1 = bitcast<i32>(rest % params.v[5].y) * bitcast<i32>(params.v[5].z) - bitcast<i32>(params.v[5].x);
  rest = rest / params.v[5].y;
  let tap_0 = bitcast<i32>(rest % params.v[3].y) * bitcast<i32>(params.v[3].z) - bitcast<i32>(params.v[3].x);
  rest = rest / params.v[3].y;
  var rest0 = first_place + (thread + 0u * 64u) / 8u;
  var corner0_1 = rest0 % params.v[4].z * params.v[4].w;
  rest0 = rest0 / params.v[4].z;
  var corner0_0 = rest0 % params.v[2].z * params.v[2].w;
  rest0 = rest0 / params.v[2].z;
  var image0 = base_a + rest0 * params.v[7].z;
  {
    var kt = 0u;
    var unit0_0 = vec4<u32>();
    var unit1_0 = vec4<u32>();
    {
      let major = thread / 8u;
      let minor = (thread - major * 8u) * 4u;
      let o = minor;
      let kk = major;
      let at = image0 + bitcast<u32>(bitcast<i32>(corner0_0) + tap_0) * params.v[7].w + bitcast<u32>(bitcast<i32>(corner0_1) + tap_1) * params.v[8].x + channel * 1u;
      unit0_0 = vec4<u32>();
      if (window < params.v[0].y && kt + kk < depth_here && bitcast<u32>(bitcast<i32>(corner0_0) + tap_0) < params.v[2].y && bitcast<u32>(bitcast<i32>(corner0_1) + tap_1) < params.v[4].y) { unit0_0 = b1[at / 4u]; }
    }
    {
      let major = thread / 8u;
      let minor = (thread - major * 8u) * 4u;
      let o = minor;
      let kk = major;
      let at = base_b + (first_n + o) + (kt + kk) * params.v[8].z;
      unit1_0 = vec4<u32>();
      if (first_n + o < params.v[0].z && kt + kk < depth_here) { unit1_0 = b2[at / 4u]; }
    }
    while (kt < depth_here) {
      {
        let major = thread / 8u;
        let minor = (thread - major * 8u) * 4u;
        let o = minor;
        let kk = major;
        tile_a[kk * 8u + o / 4u + 0u] = vec4<f32>(bitcast<f32>(unit0_0.x), bitcast<f32>(unit0_0.y), bitcast<f32>(unit0_0.z), bitcast<f32>(unit0_0.w));
      }
      {
        let major = thread / 8u;
        let minor = (thread - major * 8u) * 4u;
        let o = minor;
        let kk = major;
        tile_b[kk * 8u + o / 4u + 0u] = vec4<f32>(bitcast<f32>(unit1_0.x), bitcast<f32>(unit1_0.y), bitcast<f32>(unit1_0.z), bitcast<f32>(unit1_0.w));
      }
      workgroupBarrier();
      kt += 8u;
      corner0_1 += 8u * params.v[4].w;
      while (corner0_1 >= params.v[5].w) {
        corner0_1 -= params.v[5].w;
        corner0_0 += params.v[2].w;
        if (corner0_0 == params.v[3].w) {
          corner0_0 = 0u;
          image0 += params.v[7].z;
        }
      }
      if (kt < depth_here) {
        {
          let major = thread / 8u;
          let minor = (thread - major * 8u) * 4u;
          let o = minor;
          let kk = major;
          let at = image0 + bitcast<u32>(bitcast<i32>(corner0_0) + tap_0) * params.v[7].w + bitcast<u32>(bitcast<i32>(corner0_1) + tap_1) * params.v[8].x + channel * 1u;
          unit0_0 = vec4<u32>();
          if (window < params.v[0].y && kt + kk < depth_here && bitcast<u32>(bitcast<i32>(corner0_0) + tap_0) < params.v[2].y && bitcast<u32>(bitcast<i32>(corner0_1) + tap_1) < params.v[4].y) { unit0_0 = b1[at / 4u]; }
        }
        {
          let major = thread / 8u;
          let minor = (thread - major * 8u) * 4u;
          let o = minor;
          let kk = major;
          let at = base_b + (first_n + o) + (kt + kk) * params.v[8].z;
          unit1_0 = vec4<u32>();
          if (first_n + o < params.v[0].z && kt + kk < depth_here) { unit1_0 = b2[at / 4u]; }
        }
      }
      {
        let a0 = tile_a[0u + ty];
        let c0 = tile_b[0u + tx];
        acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
        acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
        acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
        acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
// … 6 more of these 8 lines (af3c3b8d), and
      }
      {
        let a0 = tile_a[56u + ty];
        let c0 = tile_b[56u + tx];
        acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
        acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
        acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
        acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
      }
      workgroupBarrier();
    }
  }
  for (var i = 0u; i < 4u; i += 1u) {
    let row = first_m + (i / 4u) * 32u + ty * 4u + (i & 3u);
    if (row < params.v[0].y) {
      if (first_n + 0u + tx * 4u < params.v[0].z) {
        let col = first_n + 0u + tx * 4u;
        let y0 = epilogue(acc0_0.x);
        let y1 = epilogue(acc0_0.y);
        let y2 = epilogue(acc0_0.z);
        let y3 = epilogue(acc0_0.w);
        let w4 = (params.v[1].w + row * params.v[2].x + col) / 4u;
        b0[w4 + 0u] = vec4<u32>(bitcast<u32>(y0), bitcast<u32>(y1), bitcast<u32>(y2), bitcast<u32>(y3));
      }
    }
    acc0_0 = acc1_0;
    acc1_0 = acc2_0;
    acc2_0 = acc3_0;
  }
}

// ---- convolution, and its gradients: conv2d, 3 workgroups of 256, 9 words
// reduction
@group(0) @binding(1) var<storage, read_write> b0: array<u32>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
fn pass0(v0: f32) -> f32 {
  return v0;
}
fn finish(v1: f32) -> f32 {
  return v1;
}
  let row_group = group;
  let segment = 0u;
  let tx = thread / 1u;
  let ty = thread - tx * 1u;
  let k = row_group * 256u + tx;
  let inside = k < params.v[0].y;
  let begin = segment * params.v[1].y;
  let end = min(params.v[0].w, begin + params.v[1].y);
  var acc1 = f32(0.0);
  if (inside) {
    for (var r = begin + ty * 1u; r < end; r += 1u) {
      let x0 = bitcast<f32>(b1[params.v[2].x + k]);
      let y1 = pass0(x0);
      acc1 = (acc1 + y1);
    }
  }
  let red1 = acc1;
  if (inside && ty == 0u) {
    let y2 = finish(red1);
    let to3 = params.v[1].w + k;
    b0[to3] = bitcast<u32>(y2);
  }
}

// ---- convolution of few channels, and its gradients: conv2d, 1 workgroups of 64, 32 words
// convolution, few channels, tiles of 32x32x8
@group(0) @binding(1) var<storage, read_write> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read> b2: array<vec4<u32>>;
var<workgroup> tile_a: array<vec4<f32>, 64>;
var<workgroup> tile_b: array<vec4<f32>, 64>;
fn epilogue(v0: f32) -> f32 {
  return v0;
}
  let tiles = params.v[1].x * params.v[1].y;
  let batch = group / tiles;
  let tile = group - batch * tiles;
  let band = tile / (8u * params.v[1].y);
  let in_band = tile - band * 8u * params.v[1].y;
  let band_rows = min(8u, params.v[1].x - band * 8u);
  let first_m = (band * 8u + in_band % band_rows) * 32u;
  let first_n = in_band / band_rows * 32u;
  let ty = thread / 8u;
  let tx = thread - ty * 8u;
  var acc0_0 = vec4<f32>();
  var acc1_0 = vec4<f32>();
  var acc2_0 = vec4<f32>();
  var acc3_0 = vec4<f32>();
  let base_a = params.v[6].z;
  let base_b = params.v[7].z;
  let place0 = first_m + (thread + 0u * 64u) / 8u;
  var rest0 = place0;
  let corner0_1 = bitcast<i32>(rest0 % params.v[4].z * params.v[4].w) - bitcast<i32>(params.v[5].x);
  rest0 = rest0 / params.v[4].z;
  let corner0_0 = bitcast<i32>(rest0 % params.v[2].z * params.v[2].w) - bitcast<i32>(params.v[3].x);
  rest0 = rest0 / params.v[2].z;
  let image0 = base_a + rest0 * params.v[6].w;
// … 2 more of these 7 lines (a35b86b7), and
  let place3 = first_m + (thread + 3u * 64u) / 8u;
  var rest3 = place3;
  let corner3_1 = bitcast<i32>(rest3 % params.v[4].z * params.v[4].w) - bitcast<i32>(params.v[5].x);
  rest3 = rest3 / params.v[4].z;
  let corner3_0 = bitcast<i32>(rest3 % params.v[2].z * params.v[2].w) - bitcast<i32>(params.v[3].x);
  rest3 = rest3 / params.v[2].z;
  let image3 = base_a + rest3 * params.v[6].w;
  var tap_0 = i32(0);
  var tap_1 = i32(0);
  var channel = thread % 8u * 1u;
  while (channel >= params.v[6].y) {
    channel -= params.v[6].y;
    tap_1 += bitcast<i32>(params.v[5].z);
    if (tap_1 == bitcast<i32>(params.v[6].x)) {
      tap_1 = i32(0);
      tap_0 += bitcast<i32>(params.v[3].z);
    }
  }
  {
    var kt = 0u;
    var unit0_0 = f32();
    var unit0_1 = f32();
    var unit0_2 = f32();
    var unit0_3 = f32();
    var unit1_0 = vec4<u32>();
    {
      let major = thread / 8u;
      let minor = (thread - major * 8u) * 1u;
      let o = major;
      let kk = minor;
      let at = image0 + bitcast<u32>(corner0_0 + tap_0) * params.v[7].x + bitcast<u32>(corner0_1 + tap_1 + bitcast<i32>(channel));
      unit0_0 = f32();
      if (place0 < params.v[0].y && kt + kk < params.v[0].w && bitcast<u32>(corner0_0 + tap_0) < params.v[2].y && bitcast<u32>(corner0_1 + tap_1 + bitcast<i32>(channel)) < params.v[4].y) { unit0_0 = bitcast<f32>(b1[at]); }
    }
    {
      let major = (thread + 64u) / 8u;
      let minor = ((thread + 64u) - major * 8u) * 1u;
// … 1 more of these 9 lines (bbfd3b0f), and
      let o = major;
      let kk = minor;
      let at = image2 + bitcast<u32>(corner2_0 + tap_0) * params.v[7].x + bitcast<u32>(corner2_1 + tap_1 + bitcast<i32>(channel));
      unit0_2 = f32();
      if (place2 < params.v[0].y && kt + kk < params.v[0].w && bitcast<u32>(corner2_0 + tap_0) < params.v[2].y && bitcast<u32>(corner2_1 + tap_1 + bitcast<i32>(channel)) < params.v[4].y) { unit0_2 = bitcast<f32>(b1[at]); }
    }
    {
      let major = (thread + 192u) / 8u;
      let minor = ((thread + 192u) - major * 8u) * 1u;
      let o = major;
      let kk = minor;
      let at = image3 + bitcast<u32>(corner3_0 + tap_0) * params.v[7].x + bitcast<u32>(corner3_1 + tap_1 + bitcast<i32>(channel));
      unit0_3 = f32();
      if (place3 < params.v[0].y && kt + kk < params.v[0].w && bitcast<u32>(corner3_0 + tap_0) < params.v[2].y && bitcast<u32>(corner3_1 + tap_1 + bitcast<i32>(channel)) < params.v[4].y) { unit0_3 = bitcast<f32>(b1[at]); }
    }
    {
      let major = thread / 8u;
      let minor = (thread - major * 8u) * 4u;
      let o = minor;
      let kk = major;
      let at = base_b + (first_n + o) + (kt + kk) * params.v[7].w;
      unit1_0 = vec4<u32>();
      if (first_n + o < params.v[0].z && kt + kk < params.v[0].w) { unit1_0 = b2[at / 4u]; }
    }
    while (kt < params.v[0].w) {
      {
        let major = thread / 8u;
        let minor = (thread - major * 8u) * 1u;
        let o = major;
        let kk = minor;
        tile_a[(kk + 0u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = unit0_0;
      }
      {
        let major = (thread + 64u) / 8u;
        let minor = ((thread + 64u) - major * 8u) * 1u;
// … 1 more of these 7 lines (3d82f6e9), and
        let o = major;
        let kk = minor;
        tile_a[(kk + 0u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = unit0_2;
      }
      {
        let major = (thread + 192u) / 8u;
        let minor = ((thread + 192u) - major * 8u) * 1u;
        let o = major;
        let kk = minor;
        tile_a[(kk + 0u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = unit0_3;
      }
      {
        let major = thread / 8u;
        let minor = (thread - major * 8u) * 4u;
        let o = minor;
        let kk = major;
        tile_b[kk * 8u + o / 4u + 0u] = vec4<f32>(bitcast<f32>(unit1_0.x), bitcast<f32>(unit1_0.y), bitcast<f32>(unit1_0.z), bitcast<f32>(unit1_0.w));
      }
      workgroupBarrier();
      kt += 8u;
      channel += 8u;
      while (channel >= params.v[6].y) {
        channel -= params.v[6].y;
        tap_1 += bitcast<i32>(params.v[5].z);
        if (tap_1 == bitcast<i32>(params.v[6].x)) {
          tap_1 = i32(0);
          tap_0 += bitcast<i32>(params.v[3].z);
        }
      }
      if (kt < params.v[0].w) {
        {
          let major = thread / 8u;
          let minor = (thread - major * 8u) * 1u;
          let o = major;
          let kk = minor;
          let at = image0 + bitcast<u32>(corner0_0 + tap_0) * params.v[7].x + bitcast<u32>(corner0_1 + tap_1 + bitcast<i32>(channel));
          unit0_0 = f32();
          if (place0 < params.v[0].y && kt + kk < params.v[0].w && bitcast<u32>(corner0_0 + tap_0) < params.v[2].y && bitcast<u32>(corner0_1 + tap_1 + bitcast<i32>(channel)) < params.v[4].y) { unit0_0 = bitcast<f32>(b1[at]); }
        }
        {
          let major = (thread + 64u) / 8u;
          let minor = ((thread + 64u) - major * 8u) * 1u;
// … 1 more of these 9 lines (9c6cf36f), and
          let o = major;
          let kk = minor;
          let at = image2 + bitcast<u32>(corner2_0 + tap_0) * params.v[7].x + bitcast<u32>(corner2_1 + tap_1 + bitcast<i32>(channel));
          unit0_2 = f32();
          if (place2 < params.v[0].y && kt + kk < params.v[0].w && bitcast<u32>(corner2_0 + tap_0) < params.v[2].y && bitcast<u32>(corner2_1 + tap_1 + bitcast<i32>(channel)) < params.v[4].y) { unit0_2 = bitcast<f32>(b1[at]); }
        }
        {
          let major = (thread + 192u) / 8u;
          let minor = ((thread + 192u) - major * 8u) * 1u;
          let o = major;
          let kk = minor;
          let at = image3 + bitcast<u32>(corner3_0 + tap_0) * params.v[7].x + bitcast<u32>(corner3_1 + tap_1 + bitcast<i32>(channel));
          unit0_3 = f32();
          if (place3 < params.v[0].y && kt + kk < params.v[0].w && bitcast<u32>(corner3_0 + tap_0) < params.v[2].y && bitcast<u32>(corner3_1 + tap_1 + bitcast<i32>(channel)) < params.v[4].y) { unit0_3 = bitcast<f32>(b1[at]); }
        }
        {
          let major = thread / 8u;
          let minor = (thread - major * 8u) * 4u;
          let o = minor;
          let kk = major;
          let at = base_b + (first_n + o) + (kt + kk) * params.v[7].w;
          unit1_0 = vec4<u32>();
          if (first_n + o < params.v[0].z && kt + kk < params.v[0].w) { unit1_0 = b2[at / 4u]; }
        }
      }
      {
        let a0 = tile_a[0u + ty];
        let c0 = tile_b[0u + tx];
        acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
        acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
        acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
        acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
// … 2 more of these 8 lines (312ec3ad), and
      }
      {
        let a0 = tile_a[24u + ty];
        let c0 = tile_b[24u + tx];
        acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
        acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
        acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
        acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
      }
      {
        let a0 = tile_a[32u + (ty ^ 2u)];
        let c0 = tile_b[32u + tx];
        acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
        acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
        acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
        acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
// … 2 more of these 8 lines (11d46b09), and
      }
      {
        let a0 = tile_a[56u + (ty ^ 2u)];
        let c0 = tile_b[56u + tx];
        acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
        acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
        acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
        acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
      }
      workgroupBarrier();
    }
  }
  for (var i = 0u; i < 4u; i += 1u) {
    let row = first_m + (i / 4u) * 32u + ty * 4u + (i & 3u);
    if (row < params.v[0].y) {
      if (first_n + 0u + tx * 4u < params.v[0].z) {
        let col = first_n + 0u + tx * 4u;
        let y0 = epilogue(acc0_0.x);
        let y1 = epilogue(acc0_0.y);
        let y2 = epilogue(acc0_0.z);
        let y3 = epilogue(acc0_0.w);
        let w4 = (params.v[1].w + row * params.v[2].x + col) / 4u;
        b0[w4 + 0u] = vec4<u32>(bitcast<u32>(y0), bitcast<u32>(y1), bitcast<u32>(y2), bitcast<u32>(y3));
      }
    }
    acc0_0 = acc1_0;
    acc1_0 = acc2_0;
    acc2_0 = acc3_0;
  }
}

// ---- convolution of few channels, and its gradients: conv2d, 1 workgroups of 64, 35 words
// gradient of a convolution's kernels, few channels, tiles of 32x32x8
@group(0) @binding(1) var<storage, read_write> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read> b2: array<vec4<u32>>;
var<workgroup> tile_a: array<vec4<f32>, 64>;
var<workgroup> tile_b: array<vec4<f32>, 64>;
fn epilogue(v0: f32) -> f32 {
  return v0;
}
  let tiles = params.v[1].x * params.v[1].y;
  let batch = group / tiles;
  let tile = group - batch * tiles;
  let band = tile / (8u * params.v[1].y);
  let in_band = tile - band * 8u * params.v[1].y;
  let band_rows = min(8u, params.v[1].x - band * 8u);
  let first_m = (band * 8u + in_band % band_rows) * 32u;
  let first_n = in_band / band_rows * 32u;
  let ty = thread / 8u;
  let tx = thread - ty * 8u;
  var acc0_0 = vec4<f32>();
  var acc1_0 = vec4<f32>();
  var acc2_0 = vec4<f32>();
  var acc3_0 = vec4<f32>();
  let base_a = params.v[7].y;
  let base_b = params.v[8].y;
  let first_place = (params.v[7].x) * params.v[6].w;
  let depth_here = min(params.v[6].w, params.v[6].z - first_place);
  let window = first_m + thread % 32u * 1u;
  var rest = window / params.v[6].y;
  let channel = window - rest * params.v[6].y;
  let tap_1 = bitcast<i32>(rest % params.v[5].y) * bitcast<i32>(params.v[5].z) - bitcast<i32>(params.v[5].x);
  rest = rest / params.v[5].y;
  let tap_0 = bitcast<i32>(rest % params.v[3].y) * bitcast<i32>(params.v[3].z) - bitcast<i32>(params.v[3].x);
  rest = rest / params.v[3].y;
  var rest0 = first_place + (thread + 0u * 64u) / 32u;
  var corner0_1 = rest0 % params.v[4].z * params.v[4].w;
  rest0 = rest0 / params.v[4].z;
  var corner0_0 = rest0 % params.v[2].z * params.v[2].w;
  rest0 = rest0 / params.v[2].z;
  var image0 = base_a + rest0 * params.v[7].z;
// … 2 more of these 6 lines (e5b4cc1b), and
  var rest3 = first_place + (thread + 3u * 64u) / 32u;
  var corner3_1 = rest3 % params.v[4].z * params.v[4].w;
  rest3 = rest3 / params.v[4].z;
  var corner3_0 = rest3 % params.v[2].z * params.v[2].w;
  rest3 = rest3 / params.v[2].z;
  var image3 = base_a + rest3 * params.v[7].z;
  {
    var kt = 0u;
    var unit0_0 = f32();
    var unit0_1 = f32();
    var unit0_2 = f32();
    var unit0_3 = f32();
    var unit1_0 = vec4<u32>();
    {
      let major = thread / 32u;
      let minor = (thread - major * 32u) * 1u;
      let o = minor;
      let kk = major;
      let at = image0 + bitcast<u32>(bitcast<i32>(corner0_0) + tap_0) * params.v[7].w + bitcast<u32>(bitcast<i32>(corner0_1) + tap_1 + bitcast<i32>(channel));
      unit0_0 = f32();
      if (window < params.v[0].y && kt + kk < depth_here && bitcast<u32>(bitcast<i32>(corner0_0) + tap_0) < params.v[2].y && bitcast<u32>(bitcast<i32>(corner0_1) + tap_1 + bitcast<i32>(channel)) < params.v[4].y) { unit0_0 = bitcast<f32>(b1[at]); }
    }
    {
      let major = (thread + 64u) / 32u;
      let minor = ((thread + 64u) - major * 32u) * 1u;
// … 1 more of these 9 lines (124f243b), and
      let o = minor;
      let kk = major;
      let at = image2 + bitcast<u32>(bitcast<i32>(corner2_0) + tap_0) * params.v[7].w + bitcast<u32>(bitcast<i32>(corner2_1) + tap_1 + bitcast<i32>(channel));
      unit0_2 = f32();
      if (window < params.v[0].y && kt + kk < depth_here && bitcast<u32>(bitcast<i32>(corner2_0) + tap_0) < params.v[2].y && bitcast<u32>(bitcast<i32>(corner2_1) + tap_1 + bitcast<i32>(channel)) < params.v[4].y) { unit0_2 = bitcast<f32>(b1[at]); }
    }
    {
      let major = (thread + 192u) / 32u;
      let minor = ((thread + 192u) - major * 32u) * 1u;
      let o = minor;
      let kk = major;
      let at = image3 + bitcast<u32>(bitcast<i32>(corner3_0) + tap_0) * params.v[7].w + bitcast<u32>(bitcast<i32>(corner3_1) + tap_1 + bitcast<i32>(channel));
      unit0_3 = f32();
      if (window < params.v[0].y && kt + kk < depth_here && bitcast<u32>(bitcast<i32>(corner3_0) + tap_0) < params.v[2].y && bitcast<u32>(bitcast<i32>(corner3_1) + tap_1 + bitcast<i32>(channel)) < params.v[4].y) { unit0_3 = bitcast<f32>(b1[at]); }
    }
    {
      let major = thread / 8u;
      let minor = (thread - major * 8u) * 4u;
      let o = minor;
      let kk = major;
      let at = base_b + (first_n + o) + (kt + kk) * params.v[8].z;
      unit1_0 = vec4<u32>();
      if (first_n + o < params.v[0].z && kt + kk < depth_here) { unit1_0 = b2[at / 4u]; }
    }
    while (kt < depth_here) {
      {
        let major = thread / 32u;
        let minor = (thread - major * 32u) * 1u;
        let o = minor;
        let kk = major;
        tile_a[kk * 8u + (o + 0u) / 4u][(o + 0u) & 3u] = unit0_0;
      }
      {
        let major = (thread + 64u) / 32u;
        let minor = ((thread + 64u) - major * 32u) * 1u;
// … 1 more of these 7 lines (48f5ff68), and
        let o = minor;
        let kk = major;
        tile_a[kk * 8u + (o + 0u) / 4u][(o + 0u) & 3u] = unit0_2;
      }
      {
        let major = (thread + 192u) / 32u;
        let minor = ((thread + 192u) - major * 32u) * 1u;
        let o = minor;
        let kk = major;
        tile_a[kk * 8u + (o + 0u) / 4u][(o + 0u) & 3u] = unit0_3;
      }
      {
        let major = thread / 8u;
        let minor = (thread - major * 8u) * 4u;
        let o = minor;
        let kk = major;
        tile_b[kk * 8u + o / 4u + 0u] = vec4<f32>(bitcast<f32>(unit1_0.x), bitcast<f32>(unit1_0.y), bitcast<f32>(unit1_0.z), bitcast<f32>(unit1_0.w));
      }
      workgroupBarrier();
      kt += 8u;
      corner0_1 += 8u * params.v[4].w;
      while (corner0_1 >= params.v[5].w) {
        corner0_1 -= params.v[5].w;
        corner0_0 += params.v[2].w;
        if (corner0_0 == params.v[3].w) {
          corner0_0 = 0u;
          image0 += params.v[7].z;
        }
      }
// … 2 more of these 9 lines (f2bcd27e), and
      corner3_1 += 8u * params.v[4].w;
      while (corner3_1 >= params.v[5].w) {
        corner3_1 -= params.v[5].w;
        corner3_0 += params.v[2].w;
        if (corner3_0 == params.v[3].w) {
          corner3_0 = 0u;
          image3 += params.v[7].z;
        }
      }
      if (kt < depth_here) {
        {
          let major = thread / 32u;
          let minor = (thread - major * 32u) * 1u;
          let o = minor;
          let kk = major;
          let at = image0 + bitcast<u32>(bitcast<i32>(corner0_0) + tap_0) * params.v[7].w + bitcast<u32>(bitcast<i32>(corner0_1) + tap_1 + bitcast<i32>(channel));
          unit0_0 = f32();
          if (window < params.v[0].y && kt + kk < depth_here && bitcast<u32>(bitcast<i32>(corner0_0) + tap_0) < params.v[2].y && bitcast<u32>(bitcast<i32>(corner0_1) + tap_1 + bitcast<i32>(channel)) < params.v[4].y) { unit0_0 = bitcast<f32>(b1[at]); }
        }
        {
          let major = (thread + 64u) / 32u;
          let minor = ((thread + 64u) - major * 32u) * 1u;
// … 1 more of these 9 lines (e8b25b6b), and
          let o = minor;
          let kk = major;
          let at = image2 + bitcast<u32>(bitcast<i32>(corner2_0) + tap_0) * params.v[7].w + bitcast<u32>(bitcast<i32>(corner2_1) + tap_1 + bitcast<i32>(channel));
          unit0_2 = f32();
          if (window < params.v[0].y && kt + kk < depth_here && bitcast<u32>(bitcast<i32>(corner2_0) + tap_0) < params.v[2].y && bitcast<u32>(bitcast<i32>(corner2_1) + tap_1 + bitcast<i32>(channel)) < params.v[4].y) { unit0_2 = bitcast<f32>(b1[at]); }
        }
        {
          let major = (thread + 192u) / 32u;
          let minor = ((thread + 192u) - major * 32u) * 1u;
          let o = minor;
          let kk = major;
          let at = image3 + bitcast<u32>(bitcast<i32>(corner3_0) + tap_0) * params.v[7].w + bitcast<u32>(bitcast<i32>(corner3_1) + tap_1 + bitcast<i32>(channel));
          unit0_3 = f32();
          if (window < params.v[0].y && kt + kk < depth_here && bitcast<u32>(bitcast<i32>(corner3_0) + tap_0) < params.v[2].y && bitcast<u32>(bitcast<i32>(corner3_1) + tap_1 + bitcast<i32>(channel)) < params.v[4].y) { unit0_3 = bitcast<f32>(b1[at]); }
        }
        {
          let major = thread / 8u;
          let minor = (thread - major * 8u) * 4u;
          let o = minor;
          let kk = major;
          let at = base_b + (first_n + o) + (kt + kk) * params.v[8].z;
          unit1_0 = vec4<u32>();
          if (first_n + o < params.v[0].z && kt + kk < depth_here) { unit1_0 = b2[at / 4u]; }
        }
      }
      {
        let a0 = tile_a[0u + ty];
        let c0 = tile_b[0u + tx];
        acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
        acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
        acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
        acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
// … 6 more of these 8 lines (af3c3b8d), and
      }
      {
        let a0 = tile_a[56u + ty];
        let c0 = tile_b[56u + tx];
        acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
        acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
        acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
        acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
      }
      workgroupBarrier();
    }
  }
  for (var i = 0u; i < 4u; i += 1u) {
    let row = first_m + (i / 4u) * 32u + ty * 4u + (i & 3u);
    if (row < params.v[0].y) {
      if (first_n + 0u + tx * 4u < params.v[0].z) {
        let col = first_n + 0u + tx * 4u;
        let y0 = epilogue(acc0_0.x);
        let y1 = epilogue(acc0_0.y);
        let y2 = epilogue(acc0_0.z);
        let y3 = epilogue(acc0_0.w);
        let w4 = (params.v[1].w + row * params.v[2].x + col) / 4u;
        b0[w4 + 0u] = vec4<u32>(bitcast<u32>(y0), bitcast<u32>(y1), bitcast<u32>(y2), bitcast<u32>(y3));
      }
    }
    acc0_0 = acc1_0;
    acc1_0 = acc2_0;
    acc2_0 = acc3_0;
  }
}

// ---- channels by themselves, and their gradients: conv1d, 1 workgroups of 128, 24 words
// channels convolved by themselves
@group(0) @binding(1) var<storage, read_write> b0: array<u32>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read> b2: array<u32>;
fn epilogue(v0: f32) -> f32 {
  return v0;
}
  let channel = (group % params.v[0].y * 2u + thread % 2u) * 2u;
  let first_strip = group / params.v[0].y * 64u + thread / 2u;
  let strip = first_strip;
  let down = strip % params.v[1].y;
  let along = strip / params.v[1].y;
  let sample = along / params.v[1].z;
  let line = down * 1u;
  let row = (along - sample * params.v[1].z) * 8u;
  if (sample >= params.v[1].x || channel >= params.v[0].z) { return; }
  let first_line = line * 1u - params.v[2].w;
  let first_row = row * 1u - params.v[3].x;
  let corner = (params.v[4].w + sample * params.v[4].y + channel) / 2u + first_line * params.v[4].z
             + first_row * 2u;
  let weights = (params.v[5].z + channel) / 2u;
  let weights_0 = b2[weights + 0u * params.v[0].w];
  let w_0_0 = tern_f16_first(weights_0);
  let w_0_1 = tern_f16_second(weights_0);
  let weights_1 = b2[weights + 1u * params.v[0].w];
  let w_1_0 = tern_f16_first(weights_1);
  let w_1_1 = tern_f16_second(weights_1);
  var sum_0_0_0 = f32(0.0);
// … 14 more of these 1 lines (6708cfed), and
  var sum_0_7_1 = f32(0.0);
  if (first_line + 0u < params.v[1].w) {
    let at = corner + 0u * params.v[4].z;
    var word_0 = 0u;
    if (first_row + 0u < params.v[2].x) { word_0 = b1[at + 0u * 2u]; }
    let x_0_0 = tern_f16_first(word_0);
    let x_0_1 = tern_f16_second(word_0);
// … 7 more of these 4 lines (32717a64), and
    var word_8 = 0u;
    if (first_row + 8u < params.v[2].x) { word_8 = b1[at + 8u * 2u]; }
    let x_8_0 = tern_f16_first(word_8);
    let x_8_1 = tern_f16_second(word_8);
    sum_0_0_0 = fma(x_0_0, w_0_0, sum_0_0_0);
// … 30 more of these 1 lines (9e64f8c8), and
    sum_0_7_1 = fma(x_8_1, w_1_1, sum_0_7_1);
  }
  let col = channel;
  for (var i = 0u; i < 1u; i += 1u) {
    let line_now = line + i;
    if (line_now < params.v[2].y) {
      if (row + 0u < params.v[2].z) {
        let row_now = row + 0u;
        let y0 = epilogue(sum_0_0_0);
        let y1 = epilogue(sum_0_0_1);
        let w2 = (params.v[3].z + sample * params.v[3].w + row_now * params.v[4].x + col) / 2u;
        b0[w2 + 0u] = tern_f32_pair_to_f16(y0, y1);
      }
// … 6 more of these 7 lines (1bccb31f), and
      if (row + 7u < params.v[2].z) {
        let row_now = row + 7u;
        let y21 = epilogue(sum_0_7_0);
        let y22 = epilogue(sum_0_7_1);
        let w23 = (params.v[3].z + sample * params.v[3].w + row_now * params.v[4].x + col) / 2u;
        b0[w23 + 0u] = tern_f32_pair_to_f16(y21, y22);
      }
    }
  }
}

// ---- channels by themselves, and their gradients: conv1d, 1 workgroups of 128, 28 words
// gradient of kernels of channels by themselves
struct Params { v: array<vec4<u32>, 8> }
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read_write> b2: array<u32>;
  let channel = (group % params.v[0].y * 2u + thread % 2u) * 2u;
  let first_strip = group / params.v[0].y * 64u + thread / 2u;
  if (channel >= params.v[0].z || first_strip >= params.v[3].y) { return; }
  var sum_0_0 = f32(0.0);
  var sum_0_1 = f32(0.0);
  var sum_1_0 = f32(0.0);
  var sum_1_1 = f32(0.0);
  for (var strip = first_strip; strip < params.v[3].z; strip += params.v[3].y) {
    let down = strip % params.v[1].y;
    let along = strip / params.v[1].y;
    let sample = along / params.v[1].z;
    let line = down * 1u;
    let row = (along - sample * params.v[1].z) * 4u;
    if (line + 1u <= params.v[2].y && row + 4u <= params.v[2].z) {
      let first_line = line * 1u - params.v[2].w;
      let first_row = row * 1u - params.v[3].x;
      let corner = (params.v[4].y + sample * params.v[3].w + channel) / 2u + first_line * params.v[4].x
                 + first_row * 2u;
      let result = (params.v[5].z + sample * params.v[5].x + channel) / 2u + line * params.v[5].y
                 + row * 2u;
      let result_0_0 = b1[result + 0u * params.v[5].y + 0u * 2u];
      let y_0_0_0 = tern_f16_first(result_0_0);
      let y_0_0_1 = tern_f16_second(result_0_0);
// … 2 more of these 3 lines (c7a7f529), and
      let result_0_3 = b1[result + 0u * params.v[5].y + 3u * 2u];
      let y_0_3_0 = tern_f16_first(result_0_3);
      let y_0_3_1 = tern_f16_second(result_0_3);
      if (first_line + 0u < params.v[1].w) {
        let at = corner + 0u * params.v[4].x;
        var word_0 = 0u;
        if (first_row + 0u < params.v[2].x) { word_0 = b0[at + 0u * 2u]; }
        let x_0_0 = tern_f16_first(word_0);
        let x_0_1 = tern_f16_second(word_0);
// … 3 more of these 4 lines (71b8fbf1), and
        var word_4 = 0u;
        if (first_row + 4u < params.v[2].x) { word_4 = b0[at + 4u * 2u]; }
        let x_4_0 = tern_f16_first(word_4);
        let x_4_1 = tern_f16_second(word_4);
        sum_0_0 = fma(x_0_0, y_0_0_0, sum_0_0);
// … 14 more of these 1 lines (f2594098), and
        sum_1_1 = fma(x_4_1, y_0_3_1, sum_1_1);
      }
    } else {
      for (var line_now = line; line_now < min(line + 1u, params.v[2].y); line_now += 1u) {
        for (var row_now = row; row_now < min(row + 4u, params.v[2].z); row_now += 1u) {
          let line = line_now;
          let row = row_now;
          let first_line = line * 1u - params.v[2].w;
          let first_row = row * 1u - params.v[3].x;
          let corner = (params.v[4].y + sample * params.v[3].w + channel) / 2u + first_line * params.v[4].x
                     + first_row * 2u;
          let result = (params.v[5].z + sample * params.v[5].x + channel) / 2u + line * params.v[5].y
                     + row * 2u;
          let result_0_0 = b1[result];
          let y_0_0_0 = tern_f16_first(result_0_0);
          let y_0_0_1 = tern_f16_second(result_0_0);
          if (first_line + 0u < params.v[1].w) {
            let at = corner + 0u * params.v[4].x;
            var word_0 = 0u;
            if (first_row + 0u < params.v[2].x) { word_0 = b0[at + 0u * 2u]; }
            let x_0_0 = tern_f16_first(word_0);
            let x_0_1 = tern_f16_second(word_0);
            var word_1 = 0u;
            if (first_row + 1u < params.v[2].x) { word_1 = b0[at + 1u * 2u]; }
            let x_1_0 = tern_f16_first(word_1);
            let x_1_1 = tern_f16_second(word_1);
            sum_0_0 = fma(x_0_0, y_0_0_0, sum_0_0);
            sum_0_1 = fma(x_0_1, y_0_0_1, sum_0_1);
            sum_1_0 = fma(x_1_0, y_0_0_0, sum_1_0);
            sum_1_1 = fma(x_1_1, y_0_0_1, sum_1_1);
          }
        }
      }
    }
  }
  let part = first_strip;
  let to0 = params.v[6].y + part * params.v[6].z + 0u * params.v[6].w + channel;
  b2[to0] = bitcast<u32>(sum_0_0);
  let to1 = params.v[6].y + part * params.v[6].z + 0u * params.v[6].w + (channel + 1u);
  b2[to1] = bitcast<u32>(sum_0_1);
  let to2 = params.v[6].y + part * params.v[6].z + 1u * params.v[6].w + channel;
  b2[to2] = bitcast<u32>(sum_1_0);
  let to3 = params.v[6].y + part * params.v[6].z + 1u * params.v[6].w + (channel + 1u);
  b2[to3] = bitcast<u32>(sum_1_1);
}

// ---- attention: attention, 2 workgroups of 64, 23 words
// attention, tiles of 32x32
@group(0) @binding(1) var<storage, read> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> b1: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> b2: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> b3: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read> b4: array<u32>;
var<workgroup> steps: array<vec4<f32>, 128>;
var<workgroup> shares: array<vec4<f32>, 288>;
var<workgroup> peaks: array<vec4<f32>, 64>;
fn tern_abs_i32(x: i32) -> i32 {
  return select(x, 0 - x, x < 0);
}
fn tern_share(x: f32) -> f32 {
  let y = exp(max(x, -200.0));
  return select(y, x, tern_is_nan(x));
}
fn score_of(v0: f32, v3: f32, v4: i32, v7: i32, v8: i32) -> f32 {
  let v1 = bitcast<f32>(params.v[5].z);
  let v2 = (v0 * v1);
  let v5 = bitcast<i32>(1u);
  let v6 = (v4 + v5);
  let v9 = (v7 - v8);
  let v10 = tern_abs_i32(v9);
  let v11 = (v6 * v10);
  let v12 = f32(v11);
  let v13 = (v3 * v12);
  let v14 = (v2 - v13);
  return v14;
}
  let own_group = group;
  let tile = own_group % params.v[1].w;
  let head_of_all = own_group / params.v[1].w;
  let batch = head_of_all / params.v[1].y;
  let head = head_of_all - batch * params.v[1].y;
  let key_head = head / (params.v[1].y / params.v[1].z);
  let first_row = tile * 32u;
  let ty = thread / 8u;
  let tx = thread - ty * 8u;
  var begin = 0u;
  var end = params.v[0].z;
  let middle_of_all = bitcast<i32>(first_row) + bitcast<i32>(params.v[2].x);
  begin = u32(clamp(middle_of_all - bitcast<i32>(params.v[2].y) + 1, 0, bitcast<i32>(params.v[0].z))) / 64u * 64u;
  end = u32(clamp(middle_of_all + 32, 0, bitcast<i32>(params.v[0].z)));
  var top0 = tern_from_bits(0xff800000u);
  var total0 = f32(0.0);
// … 2 more of these 2 lines (d693d713), and
  var top3 = tern_from_bits(0xff800000u);
  var total3 = f32(0.0);
  var acc0_0 = vec4<f32>();
  var acc1_0 = vec4<f32>();
  var acc2_0 = vec4<f32>();
  var acc3_0 = vec4<f32>();
  for (var column = begin; column < end; column += 32u) {
    var s0_0 = vec4<f32>();
    var s1_0 = vec4<f32>();
    var s2_0 = vec4<f32>();
    var s3_0 = vec4<f32>();
    {
      var kt = 0u;
      var unit0_0 = vec4<u32>();
      var unit1_0 = vec4<u32>();
      {
        let major = thread / 2u;
        let minor = (thread - major * 2u) * 4u;
        let o = major;
        let kk = minor;
        let at = params.v[2].w + head * params.v[3].x + (first_row + o) * params.v[3].y + (kt + kk);
        unit0_0 = vec4<u32>();
        if ((first_row + o) < params.v[0].y && kt + kk < params.v[0].w) { unit0_0 = b0[at / 4u]; }
      }
      {
        let major = thread / 2u;
        let minor = (thread - major * 2u) * 4u;
        let o = major;
        let kk = minor;
        let at = params.v[3].z + (column + o) * params.v[3].w + (kt + kk);
        unit1_0 = vec4<u32>();
        if ((column + o) < params.v[0].z && kt + kk < params.v[0].w) { unit1_0 = b1[at / 4u]; }
      }
      while (kt < params.v[0].w) {
        {
          let major = thread / 2u;
          let minor = (thread - major * 2u) * 4u;
          let o = major;
          let kk = minor;
          steps[(kk + 0u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit0_0.x);
          steps[(kk + 1u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit0_0.y);
          steps[(kk + 2u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit0_0.z);
          steps[(kk + 3u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit0_0.w);
        }
        {
          let major = thread / 2u;
          let minor = (thread - major * 2u) * 4u;
          let o = major;
          let kk = minor;
          steps[64u + (kk + 0u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit1_0.x);
          steps[64u + (kk + 1u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit1_0.y);
          steps[64u + (kk + 2u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit1_0.z);
          steps[64u + (kk + 3u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit1_0.w);
        }
        workgroupBarrier();
        kt += 8u;
        if (kt < params.v[0].w) {
          {
            let major = thread / 2u;
            let minor = (thread - major * 2u) * 4u;
            let o = major;
            let kk = minor;
            let at = params.v[2].w + head * params.v[3].x + (first_row + o) * params.v[3].y + (kt + kk);
            unit0_0 = vec4<u32>();
            if ((first_row + o) < params.v[0].y && kt + kk < params.v[0].w) { unit0_0 = b0[at / 4u]; }
          }
          {
            let major = thread / 2u;
            let minor = (thread - major * 2u) * 4u;
            let o = major;
            let kk = minor;
            let at = params.v[3].z + (column + o) * params.v[3].w + (kt + kk);
            unit1_0 = vec4<u32>();
            if ((column + o) < params.v[0].z && kt + kk < params.v[0].w) { unit1_0 = b1[at / 4u]; }
          }
        }
        {
          let a0 = steps[0u + ty];
          let c0 = steps[64u + 0u + tx];
          s0_0 = fma(vec4<f32>(a0.x), c0, s0_0);
          s1_0 = fma(vec4<f32>(a0.y), c0, s1_0);
          s2_0 = fma(vec4<f32>(a0.z), c0, s2_0);
          s3_0 = fma(vec4<f32>(a0.w), c0, s3_0);
// … 2 more of these 8 lines (e0be9d17), and
        }
        {
          let a0 = steps[24u + ty];
          let c0 = steps[64u + 24u + tx];
          s0_0 = fma(vec4<f32>(a0.x), c0, s0_0);
          s1_0 = fma(vec4<f32>(a0.y), c0, s1_0);
          s2_0 = fma(vec4<f32>(a0.z), c0, s2_0);
          s3_0 = fma(vec4<f32>(a0.w), c0, s3_0);
        }
        {
          let a0 = steps[32u + (ty ^ 2u)];
          let c0 = steps[64u + 32u + (tx ^ 2u)];
          s0_0 = fma(vec4<f32>(a0.x), c0, s0_0);
          s1_0 = fma(vec4<f32>(a0.y), c0, s1_0);
          s2_0 = fma(vec4<f32>(a0.z), c0, s2_0);
          s3_0 = fma(vec4<f32>(a0.w), c0, s3_0);
// … 2 more of these 8 lines (c0ea5521), and
        }
        {
          let a0 = steps[56u + (ty ^ 2u)];
          let c0 = steps[64u + 56u + (tx ^ 2u)];
          s0_0 = fma(vec4<f32>(a0.x), c0, s0_0);
          s1_0 = fma(vec4<f32>(a0.y), c0, s1_0);
          s2_0 = fma(vec4<f32>(a0.z), c0, s2_0);
          s3_0 = fma(vec4<f32>(a0.w), c0, s3_0);
        }
        workgroupBarrier();
      }
    }
    for (var i = 0u; i < 4u; i += 1u) {
      let row = first_row + (i / 4u) * 32u + ty * 4u + (i & 3u);
      let own_row = min(row, params.v[0].y - 1u);
      let middle = bitcast<i32>(row) + bitcast<i32>(params.v[2].x);
      var peak = tern_from_bits(0xff800000u);
      let column0 = column + 0u + tx * 4u;
      let column_at0 = min(column0, params.v[0].z - 1u);
      var s0 = s0_0.x * bitcast<f32>(params.v[2].z);
      let x0 = bitcast<f32>(b4[params.v[5].y + head]);
      let y1 = score_of(s0, x0, bitcast<i32>(head), bitcast<i32>(own_row), bitcast<i32>(column_at0));
      s0 = y1;
      let seen0 = (column0 < params.v[0].z) && (bitcast<i32>(column0) <= middle) && (abs(middle - bitcast<i32>(column0)) < bitcast<i32>(params.v[2].y));
      if (!(seen0)) { s0 = tern_from_bits(0xff800000u); }
      peak = select(peak, s0, s0 > peak);
      let column1 = column + 1u + tx * 4u;
      let column_at1 = min(column1, params.v[0].z - 1u);
      var s1 = s0_0.y * bitcast<f32>(params.v[2].z);
      let x2 = bitcast<f32>(b4[params.v[5].y + head]);
      let y3 = score_of(s1, x2, bitcast<i32>(head), bitcast<i32>(own_row), bitcast<i32>(column_at1));
      s1 = y3;
      let seen1 = (column1 < params.v[0].z) && (bitcast<i32>(column1) <= middle) && (abs(middle - bitcast<i32>(column1)) < bitcast<i32>(params.v[2].y));
      if (!(seen1)) { s1 = tern_from_bits(0xff800000u); }
      peak = select(peak, s1, s1 > peak);
      let column2 = column + 2u + tx * 4u;
      let column_at2 = min(column2, params.v[0].z - 1u);
      var s2 = s0_0.z * bitcast<f32>(params.v[2].z);
      let x4 = bitcast<f32>(b4[params.v[5].y + head]);
      let y5 = score_of(s2, x4, bitcast<i32>(head), bitcast<i32>(own_row), bitcast<i32>(column_at2));
      s2 = y5;
      let seen2 = (column2 < params.v[0].z) && (bitcast<i32>(column2) <= middle) && (abs(middle - bitcast<i32>(column2)) < bitcast<i32>(params.v[2].y));
      if (!(seen2)) { s2 = tern_from_bits(0xff800000u); }
      peak = select(peak, s2, s2 > peak);
      let column3 = column + 3u + tx * 4u;
      let column_at3 = min(column3, params.v[0].z - 1u);
      var s3 = s0_0.w * bitcast<f32>(params.v[2].z);
      let x6 = bitcast<f32>(b4[params.v[5].y + head]);
      let y7 = score_of(s3, x6, bitcast<i32>(head), bitcast<i32>(own_row), bitcast<i32>(column_at3));
      s3 = y7;
      let seen3 = (column3 < params.v[0].z) && (bitcast<i32>(column3) <= middle) && (abs(middle - bitcast<i32>(column3)) < bitcast<i32>(params.v[2].y));
      if (!(seen3)) { s3 = tern_from_bits(0xff800000u); }
      peak = select(peak, s3, s3 > peak);
      let done0 = vec4<f32>(s0, s1, s2, s3);
      s0_0 = s1_0;
      s1_0 = s2_0;
      s2_0 = s3_0;
      s3_0 = done0;
      peaks[tx * 8u + (i / 4u) * 8u + ty][i & 3u] = peak;
    }
    workgroupBarrier();
    var now0 = peaks[0u + ty];
    for (var i = 1u; i < 8u; i += 1u) {
      let other = peaks[i * 8u + 0u + ty];
      now0.x = select(now0.x, other.x, other.x > now0.x);
      now0.y = select(now0.y, other.y, other.y > now0.y);
      now0.z = select(now0.z, other.z, other.z > now0.z);
      now0.w = select(now0.w, other.w, other.w > now0.w);
    }
    let now_of0 = select(top0, now0.x, now0.x > top0);
    let base0 = select(now_of0, f32(0.0), now_of0 == tern_from_bits(0xff800000u));
    let older0 = top0 - base0;
    let factor0 = tern_share(older0);
    top0 = now_of0;
    s0_0 = vec4<f32>(tern_share(s0_0.x - base0), tern_share(s0_0.y - base0), tern_share(s0_0.z - base0), tern_share(s0_0.w - base0));
    total0 = total0 * factor0 + (s0_0.x + s0_0.y + s0_0.z + s0_0.w);
    acc0_0 = acc0_0 * vec4<f32>(factor0);
    let now_of1 = select(top1, now0.y, now0.y > top1);
    let base1 = select(now_of1, f32(0.0), now_of1 == tern_from_bits(0xff800000u));
    let older1 = top1 - base1;
    let factor1 = tern_share(older1);
    top1 = now_of1;
    s1_0 = vec4<f32>(tern_share(s1_0.x - base1), tern_share(s1_0.y - base1), tern_share(s1_0.z - base1), tern_share(s1_0.w - base1));
    total1 = total1 * factor1 + (s1_0.x + s1_0.y + s1_0.z + s1_0.w);
    acc1_0 = acc1_0 * vec4<f32>(factor1);
    let now_of2 = select(top2, now0.z, now0.z > top2);
    let base2 = select(now_of2, f32(0.0), now_of2 == tern_from_bits(0xff800000u));
    let older2 = top2 - base2;
    let factor2 = tern_share(older2);
    top2 = now_of2;
    s2_0 = vec4<f32>(tern_share(s2_0.x - base2), tern_share(s2_0.y - base2), tern_share(s2_0.z - base2), tern_share(s2_0.w - base2));
    total2 = total2 * factor2 + (s2_0.x + s2_0.y + s2_0.z + s2_0.w);
    acc2_0 = acc2_0 * vec4<f32>(factor2);
    let now_of3 = select(top3, now0.w, now0.w > top3);
    let base3 = select(now_of3, f32(0.0), now_of3 == tern_from_bits(0xff800000u));
    let older3 = top3 - base3;
    let factor3 = tern_share(older3);
    top3 = now_of3;
    s3_0 = vec4<f32>(tern_share(s3_0.x - base3), tern_share(s3_0.y - base3), tern_share(s3_0.z - base3), tern_share(s3_0.w - base3));
    total3 = total3 * factor3 + (s3_0.x + s3_0.y + s3_0.z + s3_0.w);
    acc3_0 = acc3_0 * vec4<f32>(factor3);
    shares[(0u + tx) * 9u + 0u + ty] = vec4<f32>(s0_0.x, s1_0.x, s2_0.x, s3_0.x);
    shares[(8u + tx) * 9u + 0u + ty] = vec4<f32>(s0_0.y, s1_0.y, s2_0.y, s3_0.y);
    shares[(16u + tx) * 9u + 0u + ty] = vec4<f32>(s0_0.z, s1_0.z, s2_0.z, s3_0.z);
    shares[(24u + tx) * 9u + 0u + ty] = vec4<f32>(s0_0.w, s1_0.w, s2_0.w, s3_0.w);
    {
      var step = 0u;
      var unit0_0 = vec4<u32>();
      {
        let major = thread / 8u;
        let minor = (thread - major * 8u) * 4u;
        let o = minor;
        let kk = major;
        let at = params.v[4].x + (column + ((step + kk) % 8u * 4u + (step + kk) / 8u)) * params.v[4].y + o;
        unit0_0 = vec4<u32>();
        if ((column + ((step + kk) % 8u * 4u + (step + kk) / 8u)) < params.v[0].z && o < params.v[1].x) { unit0_0 = b2[at / 4u]; }
      }
      while (step < 32u) {
        let step_now = step;
        {
          let major = thread / 8u;
          let minor = (thread - major * 8u) * 4u;
          let o = minor;
          let kk = major;
          steps[kk * 8u + o / 4u + 0u] = vec4<f32>(bitcast<f32>(unit0_0.x), bitcast<f32>(unit0_0.y), bitcast<f32>(unit0_0.z), bitcast<f32>(unit0_0.w));
        }
        workgroupBarrier();
        step += 8u;
        if (step < 32u) {
          {
            let major = thread / 8u;
            let minor = (thread - major * 8u) * 4u;
            let o = minor;
            let kk = major;
            let at = params.v[4].x + (column + ((step + kk) % 8u * 4u + (step + kk) / 8u)) * params.v[4].y + o;
            unit0_0 = vec4<u32>();
            if ((column + ((step + kk) % 8u * 4u + (step + kk) / 8u)) < params.v[0].z && o < params.v[1].x) { unit0_0 = b2[at / 4u]; }
          }
        }
        {
          let a0 = shares[step_now * 9u + 0u + ty];
          let c0 = steps[0u + tx];
          acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
          acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
          acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
          acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
// … 6 more of these 8 lines (a7499783), and
        }
        {
          let a0 = shares[step_now * 9u + 63u + ty];
          let c0 = steps[56u + tx];
          acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
          acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
          acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
          acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
        }
        workgroupBarrier();
      }
    }
  }
  workgroupBarrier();
  peaks[tx * 8u + 0u + ty][0u] = total0;
  peaks[tx * 8u + 0u + ty][1u] = total1;
  peaks[tx * 8u + 0u + ty][2u] = total2;
  peaks[tx * 8u + 0u + ty][3u] = total3;
  workgroupBarrier();
  total0 = f32(0.0);
  for (var i = 0u; i < 8u; i += 1u) { total0 += peaks[i * 8u + 0u + ty][0u]; }
// … 2 more of these 2 lines (e219bff6), and
  total3 = f32(0.0);
  for (var i = 0u; i < 8u; i += 1u) { total3 += peaks[i * 8u + 0u + ty][3u]; }
  for (var i = 0u; i < 4u; i += 1u) {
    let row = first_row + (i / 4u) * 32u + ty * 4u + (i & 3u);
    if (row < params.v[0].y) {
      let inverse = f32(1.0) / select(total0, f32(1.0), total0 == f32(0.0));
      if (0u + tx * 4u < params.v[1].x) {
        let at = 0u + tx * 4u;
        let w8 = (params.v[4].z + head * params.v[4].w + row * params.v[5].x + at) / 4u;
        b3[w8 + 0u] = vec4<u32>(bitcast<u32>((acc0_0.x * inverse)), bitcast<u32>((acc0_0.y * inverse)), bitcast<u32>((acc0_0.z * inverse)), bitcast<u32>((acc0_0.w * inverse)));
      }
    }
    acc0_0 = acc1_0;
    acc1_0 = acc2_0;
    acc2_0 = acc3_0;
    total0 = total1;
    top0 = top1;
    total1 = total2;
    top1 = top2;
    total2 = total3;
    top2 = top3;
  }
}

// ---- the gradients of attention: attention, 2 workgroups of 64, 33 words
// gradients of attention, of q
@group(0) @binding(1) var<storage, read> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> b1: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> b2: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> b3: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read> b4: array<u32>;
@group(0) @binding(6) var<storage, read> b5: array<u32>;
@group(0) @binding(7) var<storage, read_write> b6: array<vec4<u32>>;
@group(0) @binding(8) var<storage, read> b7: array<u32>;
var<workgroup> steps: array<vec4<f32>, 128>;
var<workgroup> shares: array<vec4<f32>, 288>;
fn score_of(v0: f32, v3: f32, v4: i32, v7: i32, v8: i32) -> f32 {
  let v1 = bitcast<f32>(params.v[7].w);
  let v2 = (v0 * v1);
  let v5 = bitcast<i32>(1u);
  let v6 = (v4 + v5);
  let v9 = (v7 - v8);
  let v10 = tern_abs_i32(v9);
  let v11 = (v6 * v10);
  let v12 = f32(v11);
  let v13 = (v3 * v12);
  let v14 = (v2 - v13);
  return v14;
}
fn slope_of(v0: f32) -> f32 {
  let v1 = bitcast<f32>(params.v[8].x);
  let v2 = (v0 * v1);
  return v2;
}
  let tile = group % params.v[1].w;
  let head_of_all = group / params.v[1].w;
  let batch = head_of_all / params.v[1].y;
  let own_head = head_of_all - batch * params.v[1].y;
  let first_own = tile * 32u;
  let ty = thread / 8u;
  let tx = thread - ty * 8u;
  var acc0_0 = vec4<f32>();
  var acc1_0 = vec4<f32>();
  var acc2_0 = vec4<f32>();
  var acc3_0 = vec4<f32>();
  for (var sharer = 0u; sharer < 1u; sharer += 1u) {
    let head = own_head;
    let key_head = own_head / (params.v[1].y / params.v[1].z);
    var begin = 0u;
    var end = params.v[0].z;
    let middle_of_all = bitcast<i32>(first_own) + bitcast<i32>(params.v[2].x);
    end = u32(clamp(middle_of_all + 32, 0, bitcast<i32>(params.v[0].z)));
    for (var first_other = begin; first_other < end; first_other += 32u) {
      var s0_0 = vec4<f32>();
      var s1_0 = vec4<f32>();
      var s2_0 = vec4<f32>();
      var s3_0 = vec4<f32>();
      var g0_0 = vec4<f32>();
      var g1_0 = vec4<f32>();
      var g2_0 = vec4<f32>();
      var g3_0 = vec4<f32>();
      {
        var kt = 0u;
        var unit0_0 = vec4<u32>();
        var unit1_0 = vec4<u32>();
        {
          let major = thread / 2u;
          let minor = (thread - major * 2u) * 4u;
          let o = major;
          let kk = minor;
          let at = params.v[2].w + head * params.v[3].x + (first_own + o) * params.v[3].y + (kt + kk);
          unit0_0 = vec4<u32>();
          if ((first_own + o) < params.v[0].y && kt + kk < params.v[0].w) { unit0_0 = b0[at / 4u]; }
        }
        {
          let major = thread / 2u;
          let minor = (thread - major * 2u) * 4u;
          let o = major;
          let kk = minor;
          let at = params.v[3].z + (first_other + o) * params.v[3].w + (kt + kk);
          unit1_0 = vec4<u32>();
          if ((first_other + o) < params.v[0].z && kt + kk < params.v[0].w) { unit1_0 = b1[at / 4u]; }
        }
        while (kt < params.v[0].w) {
          {
            let major = thread / 2u;
            let minor = (thread - major * 2u) * 4u;
            let o = major;
            let kk = minor;
            steps[(kk + 0u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit0_0.x);
            steps[(kk + 1u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit0_0.y);
            steps[(kk + 2u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit0_0.z);
            steps[(kk + 3u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit0_0.w);
          }
          {
            let major = thread / 2u;
            let minor = (thread - major * 2u) * 4u;
            let o = major;
            let kk = minor;
            steps[64u + (kk + 0u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit1_0.x);
            steps[64u + (kk + 1u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit1_0.y);
            steps[64u + (kk + 2u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit1_0.z);
            steps[64u + (kk + 3u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit1_0.w);
          }
          workgroupBarrier();
          kt += 8u;
          if (kt < params.v[0].w) {
            {
              let major = thread / 2u;
              let minor = (thread - major * 2u) * 4u;
              let o = major;
              let kk = minor;
              let at = params.v[2].w + head * params.v[3].x + (first_own + o) * params.v[3].y + (kt + kk);
              unit0_0 = vec4<u32>();
              if ((first_own + o) < params.v[0].y && kt + kk < params.v[0].w) { unit0_0 = b0[at / 4u]; }
            }
            {
              let major = thread / 2u;
              let minor = (thread - major * 2u) * 4u;
              let o = major;
              let kk = minor;
              let at = params.v[3].z + (first_other + o) * params.v[3].w + (kt + kk);
              unit1_0 = vec4<u32>();
              if ((first_other + o) < params.v[0].z && kt + kk < params.v[0].w) { unit1_0 = b1[at / 4u]; }
            }
          }
          {
            let a0 = steps[0u + ty];
            let c0 = steps[64u + 0u + tx];
            s0_0 = fma(vec4<f32>(a0.x), c0, s0_0);
            s1_0 = fma(vec4<f32>(a0.y), c0, s1_0);
            s2_0 = fma(vec4<f32>(a0.z), c0, s2_0);
            s3_0 = fma(vec4<f32>(a0.w), c0, s3_0);
// … 2 more of these 8 lines (b9a4e74f), and
          }
          {
            let a0 = steps[24u + ty];
            let c0 = steps[64u + 24u + tx];
            s0_0 = fma(vec4<f32>(a0.x), c0, s0_0);
            s1_0 = fma(vec4<f32>(a0.y), c0, s1_0);
            s2_0 = fma(vec4<f32>(a0.z), c0, s2_0);
            s3_0 = fma(vec4<f32>(a0.w), c0, s3_0);
          }
          {
            let a0 = steps[32u + (ty ^ 2u)];
            let c0 = steps[64u + 32u + (tx ^ 2u)];
            s0_0 = fma(vec4<f32>(a0.x), c0, s0_0);
            s1_0 = fma(vec4<f32>(a0.y), c0, s1_0);
            s2_0 = fma(vec4<f32>(a0.z), c0, s2_0);
            s3_0 = fma(vec4<f32>(a0.w), c0, s3_0);
// … 2 more of these 8 lines (2fd854d1), and
          }
          {
            let a0 = steps[56u + (ty ^ 2u)];
            let c0 = steps[64u + 56u + (tx ^ 2u)];
            s0_0 = fma(vec4<f32>(a0.x), c0, s0_0);
            s1_0 = fma(vec4<f32>(a0.y), c0, s1_0);
            s2_0 = fma(vec4<f32>(a0.z), c0, s2_0);
            s3_0 = fma(vec4<f32>(a0.w), c0, s3_0);
          }
          workgroupBarrier();
        }
      }
      {
        var kt = 0u;
        var unit0_0 = vec4<u32>();
        var unit1_0 = vec4<u32>();
        {
          let major = thread / 2u;
          let minor = (thread - major * 2u) * 4u;
          let o = major;
          let kk = minor;
          let at = params.v[4].z + head * params.v[4].w + (first_own + o) * params.v[5].x + (kt + kk);
          unit0_0 = vec4<u32>();
          if ((first_own + o) < params.v[0].y && kt + kk < params.v[1].x) { unit0_0 = b3[at / 4u]; }
        }
        {
          let major = thread / 2u;
          let minor = (thread - major * 2u) * 4u;
          let o = major;
          let kk = minor;
          let at = params.v[4].x + (first_other + o) * params.v[4].y + (kt + kk);
          unit1_0 = vec4<u32>();
          if ((first_other + o) < params.v[0].z && kt + kk < params.v[1].x) { unit1_0 = b2[at / 4u]; }
        }
        while (kt < params.v[1].x) {
          {
            let major = thread / 2u;
            let minor = (thread - major * 2u) * 4u;
            let o = major;
            let kk = minor;
            steps[(kk + 0u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit0_0.x);
            steps[(kk + 1u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit0_0.y);
            steps[(kk + 2u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit0_0.z);
            steps[(kk + 3u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit0_0.w);
          }
          {
            let major = thread / 2u;
            let minor = (thread - major * 2u) * 4u;
            let o = major;
            let kk = minor;
            steps[64u + (kk + 0u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit1_0.x);
            steps[64u + (kk + 1u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit1_0.y);
            steps[64u + (kk + 2u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit1_0.z);
            steps[64u + (kk + 3u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit1_0.w);
          }
          workgroupBarrier();
          kt += 8u;
          if (kt < params.v[1].x) {
            {
              let major = thread / 2u;
              let minor = (thread - major * 2u) * 4u;
              let o = major;
              let kk = minor;
              let at = params.v[4].z + head * params.v[4].w + (first_own + o) * params.v[5].x + (kt + kk);
              unit0_0 = vec4<u32>();
              if ((first_own + o) < params.v[0].y && kt + kk < params.v[1].x) { unit0_0 = b3[at / 4u]; }
            }
            {
              let major = thread / 2u;
              let minor = (thread - major * 2u) * 4u;
              let o = major;
              let kk = minor;
              let at = params.v[4].x + (first_other + o) * params.v[4].y + (kt + kk);
              unit1_0 = vec4<u32>();
              if ((first_other + o) < params.v[0].z && kt + kk < params.v[1].x) { unit1_0 = b2[at / 4u]; }
            }
          }
          {
            let a0 = steps[0u + ty];
            let c0 = steps[64u + 0u + tx];
            g0_0 = fma(vec4<f32>(a0.x), c0, g0_0);
            g1_0 = fma(vec4<f32>(a0.y), c0, g1_0);
            g2_0 = fma(vec4<f32>(a0.z), c0, g2_0);
            g3_0 = fma(vec4<f32>(a0.w), c0, g3_0);
// … 2 more of these 8 lines (55435caf), and
          }
          {
            let a0 = steps[24u + ty];
            let c0 = steps[64u + 24u + tx];
            g0_0 = fma(vec4<f32>(a0.x), c0, g0_0);
            g1_0 = fma(vec4<f32>(a0.y), c0, g1_0);
            g2_0 = fma(vec4<f32>(a0.z), c0, g2_0);
            g3_0 = fma(vec4<f32>(a0.w), c0, g3_0);
          }
          {
            let a0 = steps[32u + (ty ^ 2u)];
            let c0 = steps[64u + 32u + (tx ^ 2u)];
            g0_0 = fma(vec4<f32>(a0.x), c0, g0_0);
            g1_0 = fma(vec4<f32>(a0.y), c0, g1_0);
            g2_0 = fma(vec4<f32>(a0.z), c0, g2_0);
            g3_0 = fma(vec4<f32>(a0.w), c0, g3_0);
// … 2 more of these 8 lines (9fdc7641), and
          }
          {
            let a0 = steps[56u + (ty ^ 2u)];
            let c0 = steps[64u + 56u + (tx ^ 2u)];
            g0_0 = fma(vec4<f32>(a0.x), c0, g0_0);
            g1_0 = fma(vec4<f32>(a0.y), c0, g1_0);
            g2_0 = fma(vec4<f32>(a0.z), c0, g2_0);
            g3_0 = fma(vec4<f32>(a0.w), c0, g3_0);
          }
          workgroupBarrier();
        }
      }
      for (var i = 0u; i < 4u; i += 1u) {
        let own = first_own + (i / 4u) * 32u + ty * 4u + (i & 3u);
        let own_at = min(own, params.v[0].y - 1u);
        let x2 = bitcast<f32>(b4[params.v[5].y + head * params.v[5].z + own_at]);
        let top_own = x2;
        let x1 = bitcast<f32>(b4[params.v[5].w + head * params.v[6].x + own_at]);
        let total_own = x1;
        let x0 = bitcast<f32>(b5[params.v[6].y + head * params.v[6].z + own_at]);
        let means_own = x0;
        let inverse_own = f32(1.0) / select(total_own, f32(1.0), total_own == f32(0.0));
        let other0 = first_other + 0u + tx * 4u;
        let other_at0 = min(other0, params.v[0].z - 1u);
        let middle0 = bitcast<i32>(own) + bitcast<i32>(params.v[2].x);
        let product0 = s0_0.x * bitcast<f32>(params.v[2].z);
        var score0 = product0;
        let x3 = bitcast<f32>(b7[params.v[7].z + head]);
        let y4 = score_of(product0, x3, bitcast<i32>(head), bitcast<i32>(own_at), bitcast<i32>(other_at0));
        score0 = y4;
        let less0 = score0 - top_own;
        let seen0 = (own < params.v[0].y) && (total_own != f32(0.0)) && (other0 < params.v[0].z) && (bitcast<i32>(other0) <= middle0);
        let share0 = select(f32(0.0), tern_share(less0) * inverse_own, seen0);
        var g0 = g0_0.x;
        var kept0 = share0;
        let toward0 = share0 * (g0 - means_own);
        var slope0 = toward0;
        let y5 = slope_of(toward0);
        slope0 = y5;
        let masked0 = select(f32(0.0), slope0, seen0);
        let other1 = first_other + 1u + tx * 4u;
        let other_at1 = min(other1, params.v[0].z - 1u);
        let middle1 = bitcast<i32>(own) + bitcast<i32>(params.v[2].x);
        let product1 = s0_0.y * bitcast<f32>(params.v[2].z);
        var score1 = product1;
        let x6 = bitcast<f32>(b7[params.v[7].z + head]);
        let y7 = score_of(product1, x6, bitcast<i32>(head), bitcast<i32>(own_at), bitcast<i32>(other_at1));
        score1 = y7;
        let less1 = score1 - top_own;
        let seen1 = (own < params.v[0].y) && (total_own != f32(0.0)) && (other1 < params.v[0].z) && (bitcast<i32>(other1) <= middle1);
        let share1 = select(f32(0.0), tern_share(less1) * inverse_own, seen1);
        var g1 = g0_0.y;
        var kept1 = share1;
        let toward1 = share1 * (g1 - means_own);
        var slope1 = toward1;
        let y8 = slope_of(toward1);
        slope1 = y8;
        let masked1 = select(f32(0.0), slope1, seen1);
        let other2 = first_other + 2u + tx * 4u;
        let other_at2 = min(other2, params.v[0].z - 1u);
        let middle2 = bitcast<i32>(own) + bitcast<i32>(params.v[2].x);
        let product2 = s0_0.z * bitcast<f32>(params.v[2].z);
        var score2 = product2;
        let x9 = bitcast<f32>(b7[params.v[7].z + head]);
        let y10 = score_of(product2, x9, bitcast<i32>(head), bitcast<i32>(own_at), bitcast<i32>(other_at2));
        score2 = y10;
        let less2 = score2 - top_own;
        let seen2 = (own < params.v[0].y) && (total_own != f32(0.0)) && (other2 < params.v[0].z) && (bitcast<i32>(other2) <= middle2);
        let share2 = select(f32(0.0), tern_share(less2) * inverse_own, seen2);
        var g2 = g0_0.z;
        var kept2 = share2;
        let toward2 = share2 * (g2 - means_own);
        var slope2 = toward2;
        let y11 = slope_of(toward2);
        slope2 = y11;
        let masked2 = select(f32(0.0), slope2, seen2);
        let other3 = first_other + 3u + tx * 4u;
        let other_at3 = min(other3, params.v[0].z - 1u);
        let middle3 = bitcast<i32>(own) + bitcast<i32>(params.v[2].x);
        let product3 = s0_0.w * bitcast<f32>(params.v[2].z);
        var score3 = product3;
        let x12 = bitcast<f32>(b7[params.v[7].z + head]);
        let y13 = score_of(product3, x12, bitcast<i32>(head), bitcast<i32>(own_at), bitcast<i32>(other_at3));
        score3 = y13;
        let less3 = score3 - top_own;
        let seen3 = (own < params.v[0].y) && (total_own != f32(0.0)) && (other3 < params.v[0].z) && (bitcast<i32>(other3) <= middle3);
        let share3 = select(f32(0.0), tern_share(less3) * inverse_own, seen3);
        var g3 = g0_0.w;
        var kept3 = share3;
        let toward3 = share3 * (g3 - means_own);
        var slope3 = toward3;
        let y14 = slope_of(toward3);
        slope3 = y14;
        let masked3 = select(f32(0.0), slope3, seen3);
        let done0 = vec4<f32>(kept0, kept1, kept2, kept3);
        s0_0 = s1_0;
        s1_0 = s2_0;
        s2_0 = s3_0;
        s3_0 = done0;
        let masked_0 = vec4<f32>(masked0, masked1, masked2, masked3);
        g0_0 = g1_0;
        g1_0 = g2_0;
        g2_0 = g3_0;
        g3_0 = masked_0;
      }
      shares[(0u + tx) * 9u + 0u + ty] = vec4<f32>(g0_0.x, g1_0.x, g2_0.x, g3_0.x);
      shares[(8u + tx) * 9u + 0u + ty] = vec4<f32>(g0_0.y, g1_0.y, g2_0.y, g3_0.y);
      shares[(16u + tx) * 9u + 0u + ty] = vec4<f32>(g0_0.z, g1_0.z, g2_0.z, g3_0.z);
      shares[(24u + tx) * 9u + 0u + ty] = vec4<f32>(g0_0.w, g1_0.w, g2_0.w, g3_0.w);
      {
        var step = 0u;
        var unit0_0 = vec4<u32>();
        {
          let major = thread / 8u;
          let minor = (thread - major * 8u) * 4u;
          let o = minor;
          let kk = major;
          let at = params.v[3].z + (first_other + ((step + kk) % 8u * 4u + (step + kk) / 8u)) * params.v[3].w + o;
          unit0_0 = vec4<u32>();
          if ((first_other + ((step + kk) % 8u * 4u + (step + kk) / 8u)) < params.v[0].z && o < params.v[0].w) { unit0_0 = b1[at / 4u]; }
        }
        while (step < 32u) {
          let step_now = step;
          {
            let major = thread / 8u;
            let minor = (thread - major * 8u) * 4u;
            let o = minor;
            let kk = major;
            steps[kk * 8u + o / 4u + 0u] = vec4<f32>(bitcast<f32>(unit0_0.x), bitcast<f32>(unit0_0.y), bitcast<f32>(unit0_0.z), bitcast<f32>(unit0_0.w));
          }
          workgroupBarrier();
          step += 8u;
          if (step < 32u) {
            {
              let major = thread / 8u;
              let minor = (thread - major * 8u) * 4u;
              let o = minor;
              let kk = major;
              let at = params.v[3].z + (first_other + ((step + kk) % 8u * 4u + (step + kk) / 8u)) * params.v[3].w + o;
              unit0_0 = vec4<u32>();
              if ((first_other + ((step + kk) % 8u * 4u + (step + kk) / 8u)) < params.v[0].z && o < params.v[0].w) { unit0_0 = b1[at / 4u]; }
            }
          }
          {
            let a0 = shares[step_now * 9u + 0u + ty];
            let c0 = steps[0u + tx];
            acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
            acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
            acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
            acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
// … 6 more of these 8 lines (565864a3), and
          }
          {
            let a0 = shares[step_now * 9u + 63u + ty];
            let c0 = steps[56u + tx];
            acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
            acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
            acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
            acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
          }
          workgroupBarrier();
        }
      }
    }
  }
  for (var i = 0u; i < 4u; i += 1u) {
    let own = first_own + (i / 4u) * 32u + ty * 4u + (i & 3u);
    if (own < params.v[0].y) {
      if (0u + tx * 4u < params.v[0].w) {
        let at = 0u + tx * 4u;
        let w15 = (params.v[6].w + own_head * params.v[7].x + own * params.v[7].y + at) / 4u;
        b6[w15 + 0u] = vec4<u32>(bitcast<u32>((acc0_0.x * bitcast<f32>(params.v[2].z))), bitcast<u32>((acc0_0.y * bitcast<f32>(params.v[2].z))), bitcast<u32>((acc0_0.z * bitcast<f32>(params.v[2].z))), bitcast<u32>((acc0_0.w * bitcast<f32>(params.v[2].z))));
      }
    }
    acc0_0 = acc1_0;
    acc1_0 = acc2_0;
    acc2_0 = acc3_0;
  }
}

// ---- the gradients of attention: attention, 1 workgroups of 64, 34 words
// gradients of attention, of k and v
@group(0) @binding(1) var<storage, read> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> b1: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> b2: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> b3: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read> b4: array<u32>;
@group(0) @binding(6) var<storage, read> b5: array<u32>;
@group(0) @binding(7) var<storage, read_write> b6: array<vec4<u32>>;
@group(0) @binding(8) var<storage, read_write> b7: array<vec4<u32>>;
@group(0) @binding(9) var<storage, read> b8: array<u32>;
var<workgroup> steps: array<vec4<f32>, 128>;
var<workgroup> shares: array<vec4<f32>, 288>;
fn score_of(v0: f32, v3: f32, v4: i32, v7: i32, v8: i32) -> f32 {
  let v1 = bitcast<f32>(params.v[8].x);
  let v2 = (v0 * v1);
  let v5 = bitcast<i32>(1u);
  let v6 = (v4 + v5);
  let v9 = (v7 - v8);
  let v10 = tern_abs_i32(v9);
  let v11 = (v6 * v10);
  let v12 = f32(v11);
  let v13 = (v3 * v12);
  let v14 = (v2 - v13);
  return v14;
}
fn slope_of(v0: f32) -> f32 {
  let v1 = bitcast<f32>(params.v[8].y);
  let v2 = (v0 * v1);
  return v2;
}
  let tile = group % params.v[1].w;
  let head_of_all = group / params.v[1].w;
  let batch = head_of_all / params.v[1].z;
  let own_head = head_of_all - batch * params.v[1].z;
  let first_own = tile * 32u;
  let ty = thread / 8u;
  let tx = thread - ty * 8u;
  var sum0_0 = vec4<f32>();
  var sum1_0 = vec4<f32>();
  var sum2_0 = vec4<f32>();
  var sum3_0 = vec4<f32>();
  var acc0_0 = vec4<f32>();
  var acc1_0 = vec4<f32>();
  var acc2_0 = vec4<f32>();
  var acc3_0 = vec4<f32>();
  for (var sharer = 0u; sharer < (params.v[1].y / params.v[1].z); sharer += 1u) {
    let head = own_head * (params.v[1].y / params.v[1].z) + sharer;
    let key_head = own_head;
    var begin = 0u;
    var end = params.v[0].y;
    let middle_of_all = bitcast<i32>(first_own) - bitcast<i32>(params.v[2].x);
    begin = u32(clamp(middle_of_all, 0, bitcast<i32>(params.v[0].y))) / 64u * 64u;
    for (var first_other = begin; first_other < end; first_other += 32u) {
      var s0_0 = vec4<f32>();
      var s1_0 = vec4<f32>();
      var s2_0 = vec4<f32>();
      var s3_0 = vec4<f32>();
      var g0_0 = vec4<f32>();
      var g1_0 = vec4<f32>();
      var g2_0 = vec4<f32>();
      var g3_0 = vec4<f32>();
      {
        var kt = 0u;
        var unit0_0 = vec4<u32>();
        var unit1_0 = vec4<u32>();
        {
          let major = thread / 2u;
          let minor = (thread - major * 2u) * 4u;
          let o = major;
          let kk = minor;
          let at = params.v[3].z + (first_own + o) * params.v[3].w + (kt + kk);
          unit0_0 = vec4<u32>();
          if ((first_own + o) < params.v[0].z && kt + kk < params.v[0].w) { unit0_0 = b1[at / 4u]; }
        }
        {
          let major = thread / 2u;
          let minor = (thread - major * 2u) * 4u;
          let o = major;
          let kk = minor;
          let at = params.v[2].w + head * params.v[3].x + (first_other + o) * params.v[3].y + (kt + kk);
          unit1_0 = vec4<u32>();
          if ((first_other + o) < params.v[0].y && kt + kk < params.v[0].w) { unit1_0 = b0[at / 4u]; }
        }
        while (kt < params.v[0].w) {
          {
            let major = thread / 2u;
            let minor = (thread - major * 2u) * 4u;
            let o = major;
            let kk = minor;
            steps[(kk + 0u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit0_0.x);
            steps[(kk + 1u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit0_0.y);
            steps[(kk + 2u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit0_0.z);
            steps[(kk + 3u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit0_0.w);
          }
          {
            let major = thread / 2u;
            let minor = (thread - major * 2u) * 4u;
            let o = major;
            let kk = minor;
            steps[64u + (kk + 0u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit1_0.x);
            steps[64u + (kk + 1u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit1_0.y);
            steps[64u + (kk + 2u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit1_0.z);
            steps[64u + (kk + 3u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit1_0.w);
          }
          workgroupBarrier();
          kt += 8u;
          if (kt < params.v[0].w) {
            {
              let major = thread / 2u;
              let minor = (thread - major * 2u) * 4u;
              let o = major;
              let kk = minor;
              let at = params.v[3].z + (first_own + o) * params.v[3].w + (kt + kk);
              unit0_0 = vec4<u32>();
              if ((first_own + o) < params.v[0].z && kt + kk < params.v[0].w) { unit0_0 = b1[at / 4u]; }
            }
            {
              let major = thread / 2u;
              let minor = (thread - major * 2u) * 4u;
              let o = major;
              let kk = minor;
              let at = params.v[2].w + head * params.v[3].x + (first_other + o) * params.v[3].y + (kt + kk);
              unit1_0 = vec4<u32>();
              if ((first_other + o) < params.v[0].y && kt + kk < params.v[0].w) { unit1_0 = b0[at / 4u]; }
            }
          }
          {
            let a0 = steps[0u + ty];
            let c0 = steps[64u + 0u + tx];
            s0_0 = fma(vec4<f32>(a0.x), c0, s0_0);
            s1_0 = fma(vec4<f32>(a0.y), c0, s1_0);
            s2_0 = fma(vec4<f32>(a0.z), c0, s2_0);
            s3_0 = fma(vec4<f32>(a0.w), c0, s3_0);
// … 2 more of these 8 lines (b9a4e74f), and
          }
          {
            let a0 = steps[24u + ty];
            let c0 = steps[64u + 24u + tx];
            s0_0 = fma(vec4<f32>(a0.x), c0, s0_0);
            s1_0 = fma(vec4<f32>(a0.y), c0, s1_0);
            s2_0 = fma(vec4<f32>(a0.z), c0, s2_0);
            s3_0 = fma(vec4<f32>(a0.w), c0, s3_0);
          }
          {
            let a0 = steps[32u + (ty ^ 2u)];
            let c0 = steps[64u + 32u + (tx ^ 2u)];
            s0_0 = fma(vec4<f32>(a0.x), c0, s0_0);
            s1_0 = fma(vec4<f32>(a0.y), c0, s1_0);
            s2_0 = fma(vec4<f32>(a0.z), c0, s2_0);
            s3_0 = fma(vec4<f32>(a0.w), c0, s3_0);
// … 2 more of these 8 lines (2fd854d1), and
          }
          {
            let a0 = steps[56u + (ty ^ 2u)];
            let c0 = steps[64u + 56u + (tx ^ 2u)];
            s0_0 = fma(vec4<f32>(a0.x), c0, s0_0);
            s1_0 = fma(vec4<f32>(a0.y), c0, s1_0);
            s2_0 = fma(vec4<f32>(a0.z), c0, s2_0);
            s3_0 = fma(vec4<f32>(a0.w), c0, s3_0);
          }
          workgroupBarrier();
        }
      }
      {
        var kt = 0u;
        var unit0_0 = vec4<u32>();
        var unit1_0 = vec4<u32>();
        {
          let major = thread / 2u;
          let minor = (thread - major * 2u) * 4u;
          let o = major;
          let kk = minor;
          let at = params.v[4].x + (first_own + o) * params.v[4].y + (kt + kk);
          unit0_0 = vec4<u32>();
          if ((first_own + o) < params.v[0].z && kt + kk < params.v[1].x) { unit0_0 = b2[at / 4u]; }
        }
        {
          let major = thread / 2u;
          let minor = (thread - major * 2u) * 4u;
          let o = major;
          let kk = minor;
          let at = params.v[4].z + head * params.v[4].w + (first_other + o) * params.v[5].x + (kt + kk);
          unit1_0 = vec4<u32>();
          if ((first_other + o) < params.v[0].y && kt + kk < params.v[1].x) { unit1_0 = b3[at / 4u]; }
        }
        while (kt < params.v[1].x) {
          {
            let major = thread / 2u;
            let minor = (thread - major * 2u) * 4u;
            let o = major;
            let kk = minor;
            steps[(kk + 0u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit0_0.x);
            steps[(kk + 1u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit0_0.y);
            steps[(kk + 2u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit0_0.z);
            steps[(kk + 3u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit0_0.w);
          }
          {
            let major = thread / 2u;
            let minor = (thread - major * 2u) * 4u;
            let o = major;
            let kk = minor;
            steps[64u + (kk + 0u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit1_0.x);
            steps[64u + (kk + 1u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit1_0.y);
            steps[64u + (kk + 2u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit1_0.z);
            steps[64u + (kk + 3u) * 8u + ((o / 4u) ^ (((kk / 4u) & 3u) * 2u))][o & 3u] = bitcast<f32>(unit1_0.w);
          }
          workgroupBarrier();
          kt += 8u;
          if (kt < params.v[1].x) {
            {
              let major = thread / 2u;
              let minor = (thread - major * 2u) * 4u;
              let o = major;
              let kk = minor;
              let at = params.v[4].x + (first_own + o) * params.v[4].y + (kt + kk);
              unit0_0 = vec4<u32>();
              if ((first_own + o) < params.v[0].z && kt + kk < params.v[1].x) { unit0_0 = b2[at / 4u]; }
            }
            {
              let major = thread / 2u;
              let minor = (thread - major * 2u) * 4u;
              let o = major;
              let kk = minor;
              let at = params.v[4].z + head * params.v[4].w + (first_other + o) * params.v[5].x + (kt + kk);
              unit1_0 = vec4<u32>();
              if ((first_other + o) < params.v[0].y && kt + kk < params.v[1].x) { unit1_0 = b3[at / 4u]; }
            }
          }
          {
            let a0 = steps[0u + ty];
            let c0 = steps[64u + 0u + tx];
            g0_0 = fma(vec4<f32>(a0.x), c0, g0_0);
            g1_0 = fma(vec4<f32>(a0.y), c0, g1_0);
            g2_0 = fma(vec4<f32>(a0.z), c0, g2_0);
            g3_0 = fma(vec4<f32>(a0.w), c0, g3_0);
// … 2 more of these 8 lines (55435caf), and
          }
          {
            let a0 = steps[24u + ty];
            let c0 = steps[64u + 24u + tx];
            g0_0 = fma(vec4<f32>(a0.x), c0, g0_0);
            g1_0 = fma(vec4<f32>(a0.y), c0, g1_0);
            g2_0 = fma(vec4<f32>(a0.z), c0, g2_0);
            g3_0 = fma(vec4<f32>(a0.w), c0, g3_0);
          }
          {
            let a0 = steps[32u + (ty ^ 2u)];
            let c0 = steps[64u + 32u + (tx ^ 2u)];
            g0_0 = fma(vec4<f32>(a0.x), c0, g0_0);
            g1_0 = fma(vec4<f32>(a0.y), c0, g1_0);
            g2_0 = fma(vec4<f32>(a0.z), c0, g2_0);
            g3_0 = fma(vec4<f32>(a0.w), c0, g3_0);
// … 2 more of these 8 lines (9fdc7641), and
          }
          {
            let a0 = steps[56u + (ty ^ 2u)];
            let c0 = steps[64u + 56u + (tx ^ 2u)];
            g0_0 = fma(vec4<f32>(a0.x), c0, g0_0);
            g1_0 = fma(vec4<f32>(a0.y), c0, g1_0);
            g2_0 = fma(vec4<f32>(a0.z), c0, g2_0);
            g3_0 = fma(vec4<f32>(a0.w), c0, g3_0);
          }
          workgroupBarrier();
        }
      }
      let row_of0 = min(first_other + 0u + tx * 4u, params.v[0].y - 1u);
      let x2 = bitcast<f32>(b4[params.v[5].y + head * params.v[5].z + row_of0]);
      let top0 = x2;
      let x1 = bitcast<f32>(b4[params.v[5].w + head * params.v[6].x + row_of0]);
      let total0 = x1;
      let x0 = bitcast<f32>(b5[params.v[6].y + head * params.v[6].z + row_of0]);
      let means0 = x0;
      let inverse0 = f32(1.0) / select(total0, f32(1.0), total0 == f32(0.0));
// … 2 more of these 8 lines (8e3b54f0), and
      let row_of3 = min(first_other + 3u + tx * 4u, params.v[0].y - 1u);
      let x11 = bitcast<f32>(b4[params.v[5].y + head * params.v[5].z + row_of3]);
      let top3 = x11;
      let x10 = bitcast<f32>(b4[params.v[5].w + head * params.v[6].x + row_of3]);
      let total3 = x10;
      let x9 = bitcast<f32>(b5[params.v[6].y + head * params.v[6].z + row_of3]);
      let means3 = x9;
      let inverse3 = f32(1.0) / select(total3, f32(1.0), total3 == f32(0.0));
      for (var i = 0u; i < 4u; i += 1u) {
        let own = first_own + (i / 4u) * 32u + ty * 4u + (i & 3u);
        let own_at = min(own, params.v[0].z - 1u);
        let other0 = first_other + 0u + tx * 4u;
        let other_at0 = min(other0, params.v[0].y - 1u);
        let middle0 = bitcast<i32>(other0) + bitcast<i32>(params.v[2].x);
        let product0 = s0_0.x * bitcast<f32>(params.v[2].z);
        var score0 = product0;
        let x12 = bitcast<f32>(b8[params.v[7].w + head]);
        let y13 = score_of(product0, x12, bitcast<i32>(head), bitcast<i32>(other_at0), bitcast<i32>(own_at));
        score0 = y13;
        let less0 = score0 - top0;
        let seen0 = (other0 < params.v[0].y) && (total0 != f32(0.0)) && (own < params.v[0].z) && (bitcast<i32>(own) <= middle0);
        let share0 = select(f32(0.0), tern_share(less0) * inverse0, seen0);
        var g0 = g0_0.x;
        var kept0 = share0;
        let toward0 = share0 * (g0 - means0);
        var slope0 = toward0;
        let y14 = slope_of(toward0);
        slope0 = y14;
        let masked0 = select(f32(0.0), slope0, seen0);
        let other1 = first_other + 1u + tx * 4u;
        let other_at1 = min(other1, params.v[0].y - 1u);
        let middle1 = bitcast<i32>(other1) + bitcast<i32>(params.v[2].x);
        let product1 = s0_0.y * bitcast<f32>(params.v[2].z);
        var score1 = product1;
        let x15 = bitcast<f32>(b8[params.v[7].w + head]);
        let y16 = score_of(product1, x15, bitcast<i32>(head), bitcast<i32>(other_at1), bitcast<i32>(own_at));
        score1 = y16;
        let less1 = score1 - top1;
        let seen1 = (other1 < params.v[0].y) && (total1 != f32(0.0)) && (own < params.v[0].z) && (bitcast<i32>(own) <= middle1);
        let share1 = select(f32(0.0), tern_share(less1) * inverse1, seen1);
        var g1 = g0_0.y;
        var kept1 = share1;
        let toward1 = share1 * (g1 - means1);
        var slope1 = toward1;
        let y17 = slope_of(toward1);
        slope1 = y17;
        let masked1 = select(f32(0.0), slope1, seen1);
        let other2 = first_other + 2u + tx * 4u;
        let other_at2 = min(other2, params.v[0].y - 1u);
        let middle2 = bitcast<i32>(other2) + bitcast<i32>(params.v[2].x);
        let product2 = s0_0.z * bitcast<f32>(params.v[2].z);
        var score2 = product2;
        let x18 = bitcast<f32>(b8[params.v[7].w + head]);
        let y19 = score_of(product2, x18, bitcast<i32>(head), bitcast<i32>(other_at2), bitcast<i32>(own_at));
        score2 = y19;
        let less2 = score2 - top2;
        let seen2 = (other2 < params.v[0].y) && (total2 != f32(0.0)) && (own < params.v[0].z) && (bitcast<i32>(own) <= middle2);
        let share2 = select(f32(0.0), tern_share(less2) * inverse2, seen2);
        var g2 = g0_0.z;
        var kept2 = share2;
        let toward2 = share2 * (g2 - means2);
        var slope2 = toward2;
        let y20 = slope_of(toward2);
        slope2 = y20;
        let masked2 = select(f32(0.0), slope2, seen2);
        let other3 = first_other + 3u + tx * 4u;
        let other_at3 = min(other3, params.v[0].y - 1u);
        let middle3 = bitcast<i32>(other3) + bitcast<i32>(params.v[2].x);
        let product3 = s0_0.w * bitcast<f32>(params.v[2].z);
        var score3 = product3;
        let x21 = bitcast<f32>(b8[params.v[7].w + head]);
        let y22 = score_of(product3, x21, bitcast<i32>(head), bitcast<i32>(other_at3), bitcast<i32>(own_at));
        score3 = y22;
        let less3 = score3 - top3;
        let seen3 = (other3 < params.v[0].y) && (total3 != f32(0.0)) && (own < params.v[0].z) && (bitcast<i32>(own) <= middle3);
        let share3 = select(f32(0.0), tern_share(less3) * inverse3, seen3);
        var g3 = g0_0.w;
        var kept3 = share3;
        let toward3 = share3 * (g3 - means3);
        var slope3 = toward3;
        let y23 = slope_of(toward3);
        slope3 = y23;
        let masked3 = select(f32(0.0), slope3, seen3);
        let done0 = vec4<f32>(kept0, kept1, kept2, kept3);
        s0_0 = s1_0;
        s1_0 = s2_0;
        s2_0 = s3_0;
        s3_0 = done0;
        let masked_0 = vec4<f32>(masked0, masked1, masked2, masked3);
        g0_0 = g1_0;
        g1_0 = g2_0;
        g2_0 = g3_0;
        g3_0 = masked_0;
      }
      shares[(0u + tx) * 9u + 0u + ty] = vec4<f32>(s0_0.x, s1_0.x, s2_0.x, s3_0.x);
      shares[(8u + tx) * 9u + 0u + ty] = vec4<f32>(s0_0.y, s1_0.y, s2_0.y, s3_0.y);
      shares[(16u + tx) * 9u + 0u + ty] = vec4<f32>(s0_0.z, s1_0.z, s2_0.z, s3_0.z);
      shares[(24u + tx) * 9u + 0u + ty] = vec4<f32>(s0_0.w, s1_0.w, s2_0.w, s3_0.w);
      {
        var step = 0u;
        var unit0_0 = vec4<u32>();
        {
          let major = thread / 8u;
          let minor = (thread - major * 8u) * 4u;
          let o = minor;
          let kk = major;
          let at = params.v[4].z + head * params.v[4].w + (first_other + ((step + kk) % 8u * 4u + (step + kk) / 8u)) * params.v[5].x + o;
          unit0_0 = vec4<u32>();
          if ((first_other + ((step + kk) % 8u * 4u + (step + kk) / 8u)) < params.v[0].y && o < params.v[1].x) { unit0_0 = b3[at / 4u]; }
        }
        while (step < 32u) {
          let step_now = step;
          {
            let major = thread / 8u;
            let minor = (thread - major * 8u) * 4u;
            let o = minor;
            let kk = major;
            steps[kk * 8u + o / 4u + 0u] = vec4<f32>(bitcast<f32>(unit0_0.x), bitcast<f32>(unit0_0.y), bitcast<f32>(unit0_0.z), bitcast<f32>(unit0_0.w));
          }
          workgroupBarrier();
          step += 8u;
          if (step < 32u) {
            {
              let major = thread / 8u;
              let minor = (thread - major * 8u) * 4u;
              let o = minor;
              let kk = major;
              let at = params.v[4].z + head * params.v[4].w + (first_other + ((step + kk) % 8u * 4u + (step + kk) / 8u)) * params.v[5].x + o;
              unit0_0 = vec4<u32>();
              if ((first_other + ((step + kk) % 8u * 4u + (step + kk) / 8u)) < params.v[0].y && o < params.v[1].x) { unit0_0 = b3[at / 4u]; }
            }
          }
          {
            let a0 = shares[step_now * 9u + 0u + ty];
            let c0 = steps[0u + tx];
            sum0_0 = fma(vec4<f32>(a0.x), c0, sum0_0);
            sum1_0 = fma(vec4<f32>(a0.y), c0, sum1_0);
            sum2_0 = fma(vec4<f32>(a0.z), c0, sum2_0);
            sum3_0 = fma(vec4<f32>(a0.w), c0, sum3_0);
// … 6 more of these 8 lines (b48669fb), and
          }
          {
            let a0 = shares[step_now * 9u + 63u + ty];
            let c0 = steps[56u + tx];
            sum0_0 = fma(vec4<f32>(a0.x), c0, sum0_0);
            sum1_0 = fma(vec4<f32>(a0.y), c0, sum1_0);
            sum2_0 = fma(vec4<f32>(a0.z), c0, sum2_0);
            sum3_0 = fma(vec4<f32>(a0.w), c0, sum3_0);
          }
          workgroupBarrier();
        }
      }
      shares[(0u + tx) * 9u + 0u + ty] = vec4<f32>(g0_0.x, g1_0.x, g2_0.x, g3_0.x);
      shares[(8u + tx) * 9u + 0u + ty] = vec4<f32>(g0_0.y, g1_0.y, g2_0.y, g3_0.y);
      shares[(16u + tx) * 9u + 0u + ty] = vec4<f32>(g0_0.z, g1_0.z, g2_0.z, g3_0.z);
      shares[(24u + tx) * 9u + 0u + ty] = vec4<f32>(g0_0.w, g1_0.w, g2_0.w, g3_0.w);
      {
        var step = 0u;
        var unit0_0 = vec4<u32>();
        {
          let major = thread / 8u;
          let minor = (thread - major * 8u) * 4u;
          let o = minor;
          let kk = major;
          let at = params.v[2].w + head * params.v[3].x + (first_other + ((step + kk) % 8u * 4u + (step + kk) / 8u)) * params.v[3].y + o;
          unit0_0 = vec4<u32>();
          if ((first_other + ((step + kk) % 8u * 4u + (step + kk) / 8u)) < params.v[0].y && o < params.v[0].w) { unit0_0 = b0[at / 4u]; }
        }
        while (step < 32u) {
          let step_now = step;
          {
            let major = thread / 8u;
            let minor = (thread - major * 8u) * 4u;
            let o = minor;
            let kk = major;
            steps[kk * 8u + o / 4u + 0u] = vec4<f32>(bitcast<f32>(unit0_0.x), bitcast<f32>(unit0_0.y), bitcast<f32>(unit0_0.z), bitcast<f32>(unit0_0.w));
          }
          workgroupBarrier();
          step += 8u;
          if (step < 32u) {
            {
              let major = thread / 8u;
              let minor = (thread - major * 8u) * 4u;
              let o = minor;
              let kk = major;
              let at = params.v[2].w + head * params.v[3].x + (first_other + ((step + kk) % 8u * 4u + (step + kk) / 8u)) * params.v[3].y + o;
              unit0_0 = vec4<u32>();
              if ((first_other + ((step + kk) % 8u * 4u + (step + kk) / 8u)) < params.v[0].y && o < params.v[0].w) { unit0_0 = b0[at / 4u]; }
            }
          }
          {
            let a0 = shares[step_now * 9u + 0u + ty];
            let c0 = steps[0u + tx];
            acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
            acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
            acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
            acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
// … 6 more of these 8 lines (565864a3), and
          }
          {
            let a0 = shares[step_now * 9u + 63u + ty];
            let c0 = steps[56u + tx];
            acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
            acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
            acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
            acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
          }
          workgroupBarrier();
        }
      }
    }
  }
  for (var i = 0u; i < 4u; i += 1u) {
    let own = first_own + (i / 4u) * 32u + ty * 4u + (i & 3u);
    if (own < params.v[0].z) {
      if (0u + tx * 4u < params.v[1].x) {
        let at = 0u + tx * 4u;
        let w24 = (params.v[7].y + own * params.v[7].z + at) / 4u;
        b7[w24 + 0u] = vec4<u32>(bitcast<u32>(sum0_0.x), bitcast<u32>(sum0_0.y), bitcast<u32>(sum0_0.z), bitcast<u32>(sum0_0.w));
      }
      if (0u + tx * 4u < params.v[0].w) {
        let at = 0u + tx * 4u;
        let w25 = (params.v[6].w + own * params.v[7].x + at) / 4u;
        b6[w25 + 0u] = vec4<u32>(bitcast<u32>((acc0_0.x * bitcast<f32>(params.v[2].z))), bitcast<u32>((acc0_0.y * bitcast<f32>(params.v[2].z))), bitcast<u32>((acc0_0.z * bitcast<f32>(params.v[2].z))), bitcast<u32>((acc0_0.w * bitcast<f32>(params.v[2].z))));
      }
    }
    sum0_0 = sum1_0;
    sum1_0 = sum2_0;
    sum2_0 = sum3_0;
    acc0_0 = acc1_0;
    acc1_0 = acc2_0;
    acc2_0 = acc3_0;
  }
}

// ---- scan: cumsum, 6 workgroups of 256, 8 words
// scan
@group(0) @binding(1) var<storage, read> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> b1: array<vec4<u32>>;
var<workgroup> sums: array<f32, 256>;
fn combine(v0: f32, v1: f32) -> f32 {
  let v2 = (v0 + v1);
  return v2;
}
  let line = group / 1u;
  let part = group - line * 1u;
  let place = thread % 256u;
  let begin = part * params.v[0].z;
  let end = min(begin + params.v[0].z, params.v[0].z);
  var carry = f32();
  for (var start = begin; start < end; start += 256u * 4u) {
    var s0 = f32();
    var s1 = f32();
    var s2 = f32();
    var s3 = f32();
    let i0 = start + place * 4u + 0u;
    let line_at0 = i0;
    if (i0 < end) {
      let w0 = (params.v[1].x + line * params.v[1].y + line_at0) / 4u;
      let q1 = b0[w0 + 0u];
      let x2 = bitcast<f32>(q1.x);
      let x3 = bitcast<f32>(q1.y);
      let x4 = bitcast<f32>(q1.z);
      let x5 = bitcast<f32>(q1.w);
      s0 = x2;
      s1 = x3;
      s2 = x4;
      s3 = x5;
    }
    var sum = s0;
    sum = combine(sum, s1);
    s1 = sum;
    sum = combine(sum, s2);
    s2 = sum;
    sum = combine(sum, s3);
    s3 = sum;
    sums[thread] = sum;
    workgroupBarrier();
    var t1 = sums[thread];
    if (place >= 1u) { t1 = combine(sums[thread - 1u], t1); }
    workgroupBarrier();
    sums[thread] = t1;
// … 6 more of these 5 lines (198a0b81), and
    workgroupBarrier();
    var t128 = sums[thread];
    if (place >= 128u) { t128 = combine(sums[thread - 128u], t128); }
    workgroupBarrier();
    sums[thread] = t128;
    workgroupBarrier();
    var before = carry;
    if (place > 0u) { before = combine(carry, sums[thread - 1u]); }
    let y0 = combine(before, s0);
    let y1 = combine(before, s1);
    let y2 = combine(before, s2);
    let y3 = combine(before, s3);
    if (i0 < end) {
      let w6 = (params.v[1].z + line * params.v[1].w + line_at0) / 4u;
      b1[w6 + 0u] = vec4<u32>(bitcast<u32>(y0), bitcast<u32>(y1), bitcast<u32>(y2), bitcast<u32>(y3));
    }
    carry = combine(carry, sums[255u]);
    workgroupBarrier();
  }
}

// ---- scan of short lines: cumsum, 8 workgroups of 256, 8 words
// scan, short lines
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
var<workgroup> sums: array<f32, 256>;
fn combine(v0: f32, v1: f32) -> f32 {
  let v2 = (v0 + v1);
  return v2;
}
  let line = group * 128u + thread / 2u;
  let part = 0u;
  let place = thread % 2u;
  let begin = part * params.v[0].z;
  let end = min(begin + params.v[0].z, params.v[0].z);
  var carry = f32();
  for (var start = begin; start < end; start += 2u * 4u) {
    var s0 = f32();
    var s1 = f32();
    var s2 = f32();
    var s3 = f32();
    let i0 = start + place * 4u + 0u;
    let line_at0 = i0;
    if (i0 < end && line < params.v[0].y) {
      let x0 = bitcast<f32>(b0[params.v[1].x + line * params.v[1].y + line_at0]);
      s0 = x0;
    }
// … 2 more of these 6 lines (f8357008), and
    let i3 = start + place * 4u + 3u;
    let line_at3 = i3;
    if (i3 < end && line < params.v[0].y) {
      let x6 = bitcast<f32>(b0[params.v[1].x + line * params.v[1].y + line_at3]);
      s3 = x6;
    }
    var sum = s0;
    sum = combine(sum, s1);
    s1 = sum;
    sum = combine(sum, s2);
    s2 = sum;
    sum = combine(sum, s3);
    s3 = sum;
    sums[thread] = sum;
    workgroupBarrier();
    var t1 = sums[thread];
    if (place >= 1u) { t1 = combine(sums[thread - 1u], t1); }
    workgroupBarrier();
    sums[thread] = t1;
    workgroupBarrier();
    var before = carry;
    if (place > 0u) { before = combine(carry, sums[thread - 1u]); }
    let y0 = combine(before, s0);
    let y1 = combine(before, s1);
    let y2 = combine(before, s2);
    let y3 = combine(before, s3);
    if (i0 < end && line < params.v[0].y) {
      let to1 = params.v[1].z + line * params.v[1].w + line_at0;
      b1[to1] = bitcast<u32>(y0);
    }
// … 2 more of these 4 lines (5faa0454), and
    if (i3 < end && line < params.v[0].y) {
      let to7 = params.v[1].z + line * params.v[1].w + line_at3;
      b1[to7] = bitcast<u32>(y3);
    }
    carry = combine(carry, sums[thread - place + 1u]);
    workgroupBarrier();
  }
}

// ---- scan of a long line: cumsum, 3 workgroups of 256, 9 words
// scan, sums of segments
@group(0) @binding(1) var<storage, read> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
var<workgroup> sums: array<f32, 256>;
fn combine(v0: f32, v1: f32) -> f32 {
  let v2 = (v0 + v1);
  return v2;
}
  let line = group / params.v[1].x;
  let part = group - line * params.v[1].x;
  let begin = part * params.v[1].w;
  let end = min(begin + params.v[1].w, params.v[0].z);
  var sum = f32();
  for (var i = begin + thread * 4u; i < end; i += 256u * 4u) {
    let at = i;
    let w0 = (params.v[0].w + at) / 4u;
    let q1 = b0[w0 + 0u];
    let x2 = bitcast<f32>(q1.x);
    let x3 = bitcast<f32>(q1.y);
    let x4 = bitcast<f32>(q1.z);
    let x5 = bitcast<f32>(q1.w);
    sum = combine(sum, x2);
    sum = combine(sum, x3);
    sum = combine(sum, x4);
    sum = combine(sum, x5);
  }
  sums[thread] = sum;
  workgroupBarrier();
  if (thread < 128u) { sums[thread] = combine(sums[thread], sums[thread + 128u]); }
// … 6 more of these 2 lines (9347f82f), and
  workgroupBarrier();
  if (thread < 1u) { sums[thread] = combine(sums[thread], sums[thread + 1u]); }
  workgroupBarrier();
  if (thread == 0u) {
    b1[line * params.v[1].y + params.v[1].z + part] = bitcast<u32>(sums[0]);
  }
}

// ---- scan of a long line: cumsum, 3 workgroups of 256, 10 words
// scan, segments
@group(0) @binding(1) var<storage, read> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> b1: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> b2: array<u32>;
var<workgroup> sums: array<f32, 256>;
fn combine(v0: f32, v1: f32) -> f32 {
  let v2 = (v0 + v1);
  return v2;
}
  let line = group / params.v[1].y;
  let part = group - line * params.v[1].y;
  let place = thread % 256u;
  let begin = part * params.v[2].x;
  let end = min(begin + params.v[2].x, params.v[0].z);
  var carry = f32();
  if (part + params.v[1].w > 0u) { carry = bitcast<f32>(b2[line * params.v[1].z + params.v[1].w + part - 1u]); }
  for (var start = begin; start < end; start += 256u * 4u) {
    var s0 = f32();
    var s1 = f32();
    var s2 = f32();
    var s3 = f32();
    let i0 = start + place * 4u + 0u;
    let line_at0 = i0;
    if (i0 < end) {
      let w0 = (params.v[0].w + line_at0) / 4u;
      let q1 = b0[w0 + 0u];
      let x2 = bitcast<f32>(q1.x);
      let x3 = bitcast<f32>(q1.y);
      let x4 = bitcast<f32>(q1.z);
      let x5 = bitcast<f32>(q1.w);
      s0 = x2;
      s1 = x3;
      s2 = x4;
      s3 = x5;
    }
    var sum = s0;
    sum = combine(sum, s1);
    s1 = sum;
    sum = combine(sum, s2);
    s2 = sum;
    sum = combine(sum, s3);
    s3 = sum;
    sums[thread] = sum;
    workgroupBarrier();
    var t1 = sums[thread];
    if (place >= 1u) { t1 = combine(sums[thread - 1u], t1); }
    workgroupBarrier();
    sums[thread] = t1;
// … 6 more of these 5 lines (198a0b81), and
    workgroupBarrier();
    var t128 = sums[thread];
    if (place >= 128u) { t128 = combine(sums[thread - 128u], t128); }
    workgroupBarrier();
    sums[thread] = t128;
    workgroupBarrier();
    var before = carry;
    if (place > 0u) { before = combine(carry, sums[thread - 1u]); }
    let y0 = combine(before, s0);
    let y1 = combine(before, s1);
    let y2 = combine(before, s2);
    let y3 = combine(before, s3);
    if (i0 < end) {
      let w6 = (params.v[1].x + line_at0) / 4u;
      b1[w6 + 0u] = vec4<u32>(bitcast<u32>(y0), bitcast<u32>(y1), bitcast<u32>(y2), bitcast<u32>(y3));
    }
    carry = combine(carry, sums[255u]);
    workgroupBarrier();
  }
}

// ---- scan of columns: cumsum, 64 workgroups of 256, 8 words
// scan, columns
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
var<workgroup> sums: array<f32, 256>;
fn combine(v0: f32, v1: f32) -> f32 {
  let v2 = (v0 + v1);
  return v2;
}
  let column = thread % 32u;
  let line = group * 32u + column;
  let row = thread / 32u;
  let inside = line < params.v[0].y;
  var carry = f32();
  for (var start = 0u; start < params.v[0].z; start += 8u * 8u) {
    let i0 = start + row * 8u + 0u;
    let at0 = i0;
    var s0 = f32();
    if (inside && i0 < params.v[0].z) {
      let x0 = bitcast<f32>(b0[params.v[1].x + line + at0 * params.v[1].y]);
      s0 = x0;
    }
// … 6 more of these 7 lines (c9fe0ded), and
    let i7 = start + row * 8u + 7u;
    let at7 = i7;
    var s7 = f32();
    if (inside && i7 < params.v[0].z) {
      let x14 = bitcast<f32>(b0[params.v[1].x + line + at7 * params.v[1].y]);
      s7 = x14;
    }
    var sum = s0;
    sum = combine(sum, s1);
    s1 = sum;
// … 5 more of these 2 lines (8f0dc926), and
    sum = combine(sum, s7);
    s7 = sum;
    sums[thread] = sum;
    workgroupBarrier();
    var before = carry;
    carry = combine(carry, sums[0u * 32u + column]);
    if (row > 0u) { before = carry; }
// … 5 more of these 2 lines (3750ae22), and
    carry = combine(carry, sums[6u * 32u + column]);
    if (row > 6u) { before = carry; }
    carry = combine(carry, sums[7u * 32u + column]);
    if (inside && i0 < params.v[0].z) {
      let y0 = combine(before, s0);
      let to1 = params.v[1].z + line + at0 * params.v[1].w;
      b1[to1] = bitcast<u32>(y0);
    }
// … 6 more of these 5 lines (c9c35d4a), and
    if (inside && i7 < params.v[0].z) {
      let y7 = combine(before, s7);
      let to15 = params.v[1].z + line + at7 * params.v[1].w;
      b1[to15] = bitcast<u32>(y7);
    }
    workgroupBarrier();
  }
}

// ---- sort: sort, 1 workgroups of 256, 9 words
// sort, blocks
@group(0) @binding(1) var<storage, read> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
var<workgroup> keys: array<u32, 1024>;
var<workgroup> places: array<u32, 1024>;
fn tern_sort_key(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  let magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) { return 0xffffffffu; }
  if (magnitude == 0u) { return 0x80000000u; }
  return select(bits | 0x80000000u, ~bits, bits > 0x80000000u);
}
  let first = group * 1024u;
  for (var i = thread * 4u; i < 1024u; i += 256u * 4u) {
    let line = (first + i) / params.v[1].w;
    let at = first + i - line * params.v[1].w;
    var key0 = ~u32(0);
    var place0 = at + 0u;
// … 2 more of these 2 lines (e79acbfe), and
    var key3 = ~u32(0);
    var place3 = at + 3u;
    if (at < params.v[0].z && first + i < params.v[2].x) {
      let w0 = (params.v[1].x + line * params.v[1].y + at) / 4u;
      let q1 = b0[w0 + 0u];
      let x2 = bitcast<f32>(q1.x);
      let x3 = bitcast<f32>(q1.y);
      let x4 = bitcast<f32>(q1.z);
      let x5 = bitcast<f32>(q1.w);
      key0 = tern_sort_key(x2);
      key1 = tern_sort_key(x3);
      key2 = tern_sort_key(x4);
      key3 = tern_sort_key(x5);
    }
    keys[i + 0u] = key0;
    places[i + 0u] = place0;
// … 2 more of these 2 lines (38291bfd), and
    keys[i + 3u] = key3;
    places[i + 3u] = place3;
  }
  workgroupBarrier();
  var alone = true;
  for (var level = 2u; level <= params.v[1].w; level = level * 2u) {
    var distance = level / 2u;
    if (alone) {
      for (var i = thread; i < 1024u / 2u; i += 256u) {
        let at = 2u * i - (i & (distance - 1u));
        let up = ((first + at) & (params.v[1].w - 1u) & level) == 0u;
        var key0 = keys[at + 0u * distance];
        var place0 = places[at + 0u * distance];
        var key1 = keys[at + 1u * distance];
        var place1 = places[at + 1u * distance];
        if ((key0 > key1 || (key0 == key1 && place0 > place1)) == up) {
          let key = key0;
          key0 = key1;
          key1 = key;
          let place = place0;
          place0 = place1;
          place1 = place;
        }
        keys[at + 0u * distance] = key0;
        places[at + 0u * distance] = place0;
        keys[at + 1u * distance] = key1;
        places[at + 1u * distance] = place1;
      }
      workgroupBarrier();
      distance = distance / 2u;
    }
    alone = !alone;
    for (; distance > 0u; distance = distance / 4u) {
      let step = distance / 2u;
      for (var i = thread; i < 1024u / 4u; i += 256u) {
        let at = 4u * i - 3u * (i & (step - 1u));
        let up = ((first + at) & (params.v[1].w - 1u) & level) == 0u;
        var key0 = keys[at + 0u * step];
        var place0 = places[at + 0u * step];
// … 2 more of these 2 lines (19adf421), and
        var key3 = keys[at + 3u * step];
        var place3 = places[at + 3u * step];
        if ((key0 > key2 || (key0 == key2 && place0 > place2)) == up) {
          let key = key0;
          key0 = key2;
          key2 = key;
          let place = place0;
          place0 = place2;
          place2 = place;
        }
// … 2 more of these 8 lines (96f0531e), and
        if ((key2 > key3 || (key2 == key3 && place2 > place3)) == up) {
          let key = key2;
          key2 = key3;
          key3 = key;
          let place = place2;
          place2 = place3;
          place3 = place;
        }
        keys[at + 0u * step] = key0;
        places[at + 0u * step] = place0;
// … 2 more of these 2 lines (22f188e1), and
        keys[at + 3u * step] = key3;
        places[at + 3u * step] = place3;
      }
      workgroupBarrier();
    }
  }
  for (var i = thread; i < 1024u; i += 256u) {
    if (first + i < params.v[2].x) { b1[first + i] = places[i]; }
  }
}

// ---- sort: sort, 1 workgroups of 256, 14 words
// sort, results
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> b2: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> b3: array<u32>;
  let i = (group * 256u + thread) * 4u;
  if (i >= params.v[0].z * params.v[0].y) { return; }
  let line = i / params.v[0].z;
  let at = i - line * params.v[0].z;
  let sorted = line * params.v[3].x + at;
  let place0 = b3[sorted + 0u];
  let place1 = b3[sorted + 1u];
  let place2 = b3[sorted + 2u];
  let place3 = b3[sorted + 3u];
  let from0 = params.v[1].y + line * params.v[1].z + place0 * params.v[1].x;
  let x0 = bitcast<f32>(b0[from0]);
// … 2 more of these 2 lines (7e01256b), and
  let from3 = params.v[1].y + line * params.v[1].z + place3 * params.v[1].x;
  let x3 = bitcast<f32>(b0[from3]);
  let w0 = (params.v[1].w + line * params.v[2].x + at) / 4u;
  b1[w0 + 0u] = vec4<u32>(bitcast<u32>(x0), bitcast<u32>(x1), bitcast<u32>(x2), bitcast<u32>(x3));
  let w1 = (params.v[2].y + line * params.v[2].z + at) / 4u;
  b2[w1 + 0u] = vec4<u32>(bitcast<u32>(bitcast<i32>(place0)), bitcast<u32>(bitcast<i32>(place1)), bitcast<u32>(bitcast<i32>(place2)), bitcast<u32>(bitcast<i32>(place3)));
}

// ---- sort of a long line: sort, 128 workgroups of 256, 8 words
// sort, counts of digits
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
var<workgroup> counts: array<atomic<u32>, 256>;
fn key_of(w: u32, flip: u32) -> u32 {
  return tern_sort_key(bitcast<f32>(w)) ^ flip;
}
  if (group >= params.v[0].z * params.v[0].w) { return; }
  let line = group / params.v[0].w;
  let block = group - line * params.v[0].w;
  let begin = line * params.v[1].x + block * 4096u;
  let end = line * params.v[1].x + min(params.v[1].x, (block + 1u) * 4096u);
  atomicStore(&counts[thread], 0u);
  workgroupBarrier();
  for (var i = begin + thread; i < end; i += 1024u) {
    // Four loads on their way at once; the last of the block stands for those behind it.
    let last = end - 1u;
    let key0 = key_of(b0[params.v[1].z + min(i + 0u, last)], params.v[0].y);
    let key256 = key_of(b0[params.v[1].z + min(i + 256u, last)], params.v[0].y);
    let key512 = key_of(b0[params.v[1].z + min(i + 512u, last)], params.v[0].y);
    let key768 = key_of(b0[params.v[1].z + min(i + 768u, last)], params.v[0].y);
    if (i + 0u < end) { atomicAdd(&counts[u32(key0 >> params.v[1].y) & 255u], 1u); }
    if (i + 256u < end) { atomicAdd(&counts[u32(key256 >> params.v[1].y) & 255u], 1u); }
    if (i + 512u < end) { atomicAdd(&counts[u32(key512 >> params.v[1].y) & 255u], 1u); }
    if (i + 768u < end) { atomicAdd(&counts[u32(key768 >> params.v[1].y) & 255u], 1u); }
  }
  workgroupBarrier();
  b1[(line * 256u + thread) * params.v[0].w + block] = atomicLoad(&counts[thread]);
}

// ---- sort of a long line: sort, 256 workgroups of 256, 6 words
// sort, adding up counts
@group(0) @binding(1) var<storage, read_write> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
var<workgroup> sums: array<u32, 256>;
fn key_of(w: u32, flip: u32) -> u32 {
  return tern_sort_key(bitcast<f32>(w)) ^ flip;
}
  if (group >= params.v[0].z * 256u) { return; }
  let first = group * params.v[0].w;
  var carry = 0u;
  for (var start = 0u; start < params.v[0].w; start += 1024u) {
    let at = start + thread * 4u;
    var s0 = 0u;
    if (at + 0u < params.v[0].w) { s0 = b0[first + at + 0u]; }
// … 2 more of these 2 lines (664971c9), and
    var s3 = 0u;
    if (at + 3u < params.v[0].w) { s3 = b0[first + at + 3u]; }
    sums[thread] = s0 + s1 + s2 + s3;
    workgroupBarrier();
    {
      let with1 = sums[thread] + select(0u, sums[max(thread, 1u) - 1u], thread >= 1u);
      workgroupBarrier();
      sums[thread] = with1;
      workgroupBarrier();
// … 6 more of these 4 lines (001079a7), and
      let with128 = sums[thread] + select(0u, sums[max(thread, 128u) - 128u], thread >= 128u);
      workgroupBarrier();
      sums[thread] = with128;
      workgroupBarrier();
    }
    var before = carry + sums[thread] - (s0 + s1 + s2 + s3);
    if (at + 0u < params.v[0].w) { b0[first + at + 0u] = before; }
    before += s0;
// … 2 more of these 2 lines (b3d8e080), and
    if (at + 3u < params.v[0].w) { b0[first + at + 3u] = before; }
    before += s3;
    carry += sums[255];
    workgroupBarrier();
  }
  if (thread == 0u) { b1[group] = carry; }
}

// ---- sort of a long line: sort, 128 workgroups of 256, 11 words
// sort, moving by digits
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read> b2: array<u32>;
@group(0) @binding(4) var<storage, read_write> b3: array<u32>;
@group(0) @binding(5) var<storage, read_write> b4: array<u32>;
var<workgroup> words: array<u32, 2112>;
var<workgroup> pairs: array<vec2<u32>, 256>;
var<workgroup> groups: array<vec2<u32>, 16>;
var<workgroup> next: array<u32, 256>;
var<workgroup> first: array<u32, 256>;
var<workgroup> sums: array<u32, 256>;
fn key_of(w: u32, flip: u32) -> u32 {
  return tern_sort_key(bitcast<f32>(w)) ^ flip;
}
  if (group >= params.v[0].z * params.v[0].w) { return; }
  let line = group / params.v[0].w;
  let block = group - line * params.v[0].w;
  let begin = block * 4096u;
  let end = min(params.v[1].x, begin + 4096u);
  let total = b2[line * 256u + thread];
  sums[thread] = total;
  workgroupBarrier();
  {
    let with1 = sums[thread] + select(0u, sums[max(thread, 1u) - 1u], thread >= 1u);
    workgroupBarrier();
    sums[thread] = with1;
    workgroupBarrier();
// … 6 more of these 4 lines (cf271037), and
    let with128 = sums[thread] + select(0u, sums[max(thread, 128u) - 128u], thread >= 128u);
    workgroupBarrier();
    sums[thread] = with128;
    workgroupBarrier();
  }
  next[thread] = line * params.v[1].x + sums[thread] - total + b1[(line * 256u + thread) * params.v[0].w + block];
  let mine = thread * 8u + thread * 8u / 32u;
  for (var start = begin; start < end; start += 2048u) {
    var digit0 = 255u;
    if (start + 0u * 256u + thread < end) {
      digit0 = (key_of(b0[params.v[1].z + line * params.v[1].x + start + 0u * 256u + thread], params.v[0].y) >> params.v[1].y) & 255u;
    }
// … 6 more of these 4 lines (4c8752df), and
    var digit7 = 255u;
    if (start + 7u * 256u + thread < end) {
      digit7 = (key_of(b0[params.v[1].z + line * params.v[1].x + start + 7u * 256u + thread], params.v[0].y) >> params.v[1].y) & 255u;
    }
    words[0u * 264u + thread + thread / 32u] = (digit0 << 16u) | (0u * 256u + thread);
// … 6 more of these 1 lines (a0a13680), and
    words[7u * 264u + thread + thread / 32u] = (digit7 << 16u) | (7u * 256u + thread);
    workgroupBarrier();
    for (var bit = 16u; bit < 24u; bit += 2u) {
      var counts = 0u;
      let word0 = words[mine + 0u];
      let by0 = ((word0 >> bit) & 3u) * 8u;
      let rank0 = (counts >> by0) & 255u;
      counts += 1u << by0;
// … 6 more of these 4 lines (d1d84126), and
      let word7 = words[mine + 7u];
      let by7 = ((word7 >> bit) & 3u) * 8u;
      let rank7 = (counts >> by7) & 255u;
      counts += 1u << by7;
      let pair = vec2<u32>(counts & 0xff00ffu, (counts >> 8u) & 0xff00ffu);
      pairs[thread] = pair;
      workgroupBarrier();
      var before = vec2<u32>(0u, 0u);
      for (var t = thread & 0xf0u; t < thread; t += 1u) { before += pairs[t]; }
      if ((thread & 15u) == 15u) { groups[thread / 16u] = before + pair; }
      workgroupBarrier();
      var all = vec2<u32>(0u, 0u);
      if (thread / 16u == 0u) { before += all; }
      all += groups[0];
// … 14 more of these 2 lines (f7fb1ab7), and
      if (thread / 16u == 15u) { before += all; }
      all += groups[15];
      let zeros = all.x & 0xffffu;
      let ones = all.y & 0xffffu;
      let even = before.x + ((zeros + ones) << 16u);
      let odd = before.y + (zeros | ((zeros + ones + (all.x >> 16u)) << 16u));
      let to0 = ((select(even, odd, (by0 & 8u) != 0u) >> (by0 & 16u)) & 0xffffu) + rank0;
      words[to0 + to0 / 32u] = word0;
// … 6 more of these 2 lines (72481fb2), and
      let to7 = ((select(even, odd, (by7 & 8u) != 0u) >> (by7 & 16u)) & 0xffffu) + rank7;
      words[to7 + to7 / 32u] = word7;
      workgroupBarrier();
    }
    let here = min(end - start, 2048u);
    let at0 = 0u * 256u + thread;
    let sorted0 = words[0u * 264u + thread + thread / 32u];
    let before0 = max(at0, 1u) - 1u;
    if (at0 == 0u || (words[before0 + before0 / 32u] >> 16u) != (sorted0 >> 16u)) { first[sorted0 >> 16u] = at0; }
// … 6 more of these 4 lines (fbcb659b), and
    let at7 = 7u * 256u + thread;
    let sorted7 = words[7u * 264u + thread + thread / 32u];
    let before7 = max(at7, 1u) - 1u;
    if (at7 == 0u || (words[before7 + before7 / 32u] >> 16u) != (sorted7 >> 16u)) { first[sorted7 >> 16u] = at7; }
    workgroupBarrier();
    if (at0 < here) {
      let digit = sorted0 >> 16u;
      let i = start + (sorted0 & 0xffffu);
      let source = line * params.v[1].x + i;
      let bits = b0[params.v[1].z + source];
      let to = next[digit] + at0 - first[digit];
      b3[params.v[2].y + to] = bits;
      b4[params.v[2].z + to] = i;
    }
// … 6 more of these 9 lines (c9e49d17), and
    if (at7 < here) {
      let digit = sorted7 >> 16u;
      let i = start + (sorted7 & 0xffffu);
      let source = line * params.v[1].x + i;
      let bits = b0[params.v[1].z + source];
      let to = next[digit] + at7 - first[digit];
      b3[params.v[2].y + to] = bits;
      b4[params.v[2].z + to] = i;
    }
    workgroupBarrier();
    if (start + 2048u < end) {
      let after0 = min(at0 + 1u, 2048u - 1u);
      if (at0 == 2048u - 1u || (words[after0 + after0 / 32u] >> 16u) != (sorted0 >> 16u)) {
        next[sorted0 >> 16u] += at0 + 1u - first[sorted0 >> 16u];
      }
// … 6 more of these 4 lines (7614d6b6), and
      let after7 = min(at7 + 1u, 2048u - 1u);
      if (at7 == 2048u - 1u || (words[after7 + after7 / 32u] >> 16u) != (sorted7 >> 16u)) {
        next[sorted7 >> 16u] += at7 + 1u - first[sorted7 >> 16u];
      }
    }
    workgroupBarrier();
  }
}

// ---- sort of long lines: sort, 2 workgroups of 256, 6 words
// sort, adding up counts of few blocks
@group(0) @binding(1) var<storage, read_write> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
fn key_of(w: u32, flip: u32) -> u32 {
  return tern_sort_key(bitcast<f32>(w)) ^ flip;
}
  if (group >= params.v[0].z) { return; }
  let first = (group * 256u + thread) * params.v[0].w;
  var carry = 0u;
  for (var block = 0u; block < params.v[0].w; block += 1u) {
    let here = b0[first + block];
    b0[first + block] = carry;
    carry += here;
  }
  b1[group * 256u + thread] = carry;
}

// ---- sort of halves, read and written: sort, 10 workgroups of 256, 8 words
// sort, reading
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<vec4<u32>>;
  let i = (group * 256u + thread) * 4u;
  if (i >= params.v[0].z * params.v[0].y) { return; }
  let line = i / params.v[0].z;
  let at = i - line * params.v[0].z;
  let at0 = params.v[1].x + line + at * params.v[1].y;
  let x1 = (bitcast<i32>((((b0[(at0) >> 1u] >> (((at0) & 1u) * 16u)) & 0xffffu)) << 16u) >> 16u);
  let at2 = params.v[1].x + line + (at + 1u) * params.v[1].y;
  let x3 = (bitcast<i32>((((b0[(at2) >> 1u] >> (((at2) & 1u) * 16u)) & 0xffffu)) << 16u) >> 16u);
  let at4 = params.v[1].x + line + (at + 2u) * params.v[1].y;
  let x5 = (bitcast<i32>((((b0[(at4) >> 1u] >> (((at4) & 1u) * 16u)) & 0xffffu)) << 16u) >> 16u);
  let at6 = params.v[1].x + line + (at + 3u) * params.v[1].y;
  let x7 = (bitcast<i32>((((b0[(at6) >> 1u] >> (((at6) & 1u) * 16u)) & 0xffffu)) << 16u) >> 16u);
  let w8 = (params.v[1].z + line * params.v[1].w + at) / 4u;
  b1[w8 + 0u] = vec4<u32>(bitcast<u32>((bitcast<u32>(x1) & 0xffffu)), bitcast<u32>((bitcast<u32>(x3) & 0xffffu)), bitcast<u32>((bitcast<u32>(x5) & 0xffffu)), bitcast<u32>((bitcast<u32>(x7) & 0xffffu)));
}

// ---- sort of halves, read and written: sort, 40 workgroups of 256, 12 words
// sort, writing
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read_write> b2: array<atomic<u32>>;
@group(0) @binding(4) var<storage, read_write> b3: array<u32>;
  let i = (group * 256u + thread) * 1u;
  if (i >= params.v[0].z * params.v[0].y) { return; }
  let line = i / params.v[0].z;
  let at = i - line * params.v[0].z;
  let x0 = b0[params.v[1].x + line * params.v[1].y + at];
  let x1 = b1[params.v[1].z + line * params.v[1].w + at];
  let to2 = params.v[2].x + line + at * params.v[2].y;
  let by3 = (to2 & 1u) * 16u;
  {
    var old = atomicLoad(&b2[to2 >> 1u]);
    loop {
      let tried = atomicCompareExchangeWeak(&b2[to2 >> 1u], old, (old & ~((0xffffu << by3))) | (((bitcast<u32>((bitcast<i32>((x0) << 16u) >> 16u)) & 0xffffu) << by3)));
      if (tried.exchanged) { break; }
      old = tried.old_value;
    }
  }
  let to4 = params.v[2].z + line + at * params.v[2].w;
  b3[to4] = bitcast<u32>(bitcast<i32>(x1));
}

// ---- sort of a line in subgroups: sort, 3 workgroups of 256, 11 words
// sort, tiles in subgroups
@group(0) @binding(1) var<storage, read> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> b1: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> b2: array<vec4<u32>>;
var<workgroup> drawn: array<atomic<u32>, 1>;
var<workgroup> words: array<atomic<u32>, 2048>;
var<workgroup> sums: array<vec2<u32>, 64>;
fn key_of(w: u32, flip: u32) -> u32 {
  return tern_sort_key(bitcast<f32>(w)) ^ flip;
}
fn main(@builtin(workgroup_id) group_id: vec3<u32>, @builtin(local_invocation_index) thread: u32,
        @builtin(subgroup_invocation_id) lane: u32, @builtin(subgroup_size) lanes: u32) {
  if (group >= params.v[0].y) { return; }
  let here = params.v[0].z;
  for (var i = thread * 4u; i < params.v[0].z; i += 256u * 4u) {
    let w0 = (params.v[1].x + group * params.v[1].y + i) / 4u;
    let q1 = b0[w0 + 0u];
    let x2 = bitcast<f32>(q1.x);
    let x3 = bitcast<f32>(q1.y);
    let x4 = bitcast<f32>(q1.z);
    let x5 = bitcast<f32>(q1.w);
    atomicStore(&words[i + 0u], bitcast<u32>(x2));
    atomicStore(&words[i + 1u], bitcast<u32>(x3));
    atomicStore(&words[i + 2u], bitcast<u32>(x4));
    atomicStore(&words[i + 3u], bitcast<u32>(x5));
  }
  if (thread == 0u) {
    atomicStore(&drawn[0], 0u);
    sums[0] = vec2<u32>(lanes, 0u);
  }
  let drawn_by_thread_0 = workgroupUniformLoad(&sums[0]);
  let width = drawn_by_thread_0.x;  // for conditions around barriers
  var drawn_by_first = 0u;
  if (lane == 0u) { drawn_by_first = atomicAdd(&drawn[0], lanes); }
  let first_slot = subgroupBroadcast(drawn_by_first, 0u);
  let slot = first_slot + lane;
  let part = min(width, 32u);
  let in_part = lane & (part - 1u);
  let at = (slot - in_part) * 8u + in_part;
  let counters = slot / 64u * 256u;
  let half = (slot & 32u) / 2u;
  let has_digit = slot < 256u;
  let own_digit = min(slot, 255u);
  var word0 = atomicLoad(&words[at + 0u * part]);
  var place0 = at + 0u * part;
// … 6 more of these 2 lines (fec77141), and
  var word7 = atomicLoad(&words[at + 7u * part]);
  var place7 = at + 7u * part;
  for (var shift = 0u; shift < 32u; shift += 8u) {
    workgroupBarrier();  // of words[], which all have read by now, the counters take the place
    atomicStore(&words[0u * 256u + thread], 0u);
    atomicStore(&words[1u * 256u + thread], 0u);
    atomicStore(&words[2u * 256u + thread], 0u);
    atomicStore(&words[3u * 256u + thread], 0u);
    let all_lanes = 0xffffffffu >> (32u - part);
    let lanes_before = (1u << in_part) - 1u;
    var rank0 = 0u;
    {
      let digit = select(255u, (key_of(word0, params.v[2].z) >> shift) & 255u, at + 0u * part < here);
      var alike = all_lanes;
      let bit0 = (digit >> 0u) & 1u;
      alike &= subgroupBallot(bit0 == 1u)[lane >> 5u] ^ (bit0 - 1u);
      let bit1 = (digit >> 1u) & 1u;
      alike &= subgroupBallot(bit1 == 1u)[lane >> 5u] ^ (bit1 - 1u);
      let bit2 = (digit >> 2u) & 1u;
      alike &= subgroupBallot(bit2 == 1u)[lane >> 5u] ^ (bit2 - 1u);
      let bit3 = (digit >> 3u) & 1u;
      alike &= subgroupBallot(bit3 == 1u)[lane >> 5u] ^ (bit3 - 1u);
      let bit4 = (digit >> 4u) & 1u;
      alike &= subgroupBallot(bit4 == 1u)[lane >> 5u] ^ (bit4 - 1u);
      let bit5 = (digit >> 5u) & 1u;
      alike &= subgroupBallot(bit5 == 1u)[lane >> 5u] ^ (bit5 - 1u);
      let bit6 = (digit >> 6u) & 1u;
      alike &= subgroupBallot(bit6 == 1u)[lane >> 5u] ^ (bit6 - 1u);
      let bit7 = (digit >> 7u) & 1u;
      alike &= subgroupBallot(bit7 == 1u)[lane >> 5u] ^ (bit7 - 1u);
      rank0 = (digit << 24u) | (firstTrailingBit(alike) << 19u) | (countOneBits(alike & lanes_before) << 14u) |
               ((countOneBits(alike) - 1u) << 9u);
    }
// … 6 more of these 23 lines (5b17461b), and
    var rank7 = 0u;
    {
      let digit = select(255u, (key_of(word7, params.v[2].z) >> shift) & 255u, at + 7u * part < here);
      var alike = all_lanes;
      let bit0 = (digit >> 0u) & 1u;
      alike &= subgroupBallot(bit0 == 1u)[lane >> 5u] ^ (bit0 - 1u);
      let bit1 = (digit >> 1u) & 1u;
      alike &= subgroupBallot(bit1 == 1u)[lane >> 5u] ^ (bit1 - 1u);
      let bit2 = (digit >> 2u) & 1u;
      alike &= subgroupBallot(bit2 == 1u)[lane >> 5u] ^ (bit2 - 1u);
      let bit3 = (digit >> 3u) & 1u;
      alike &= subgroupBallot(bit3 == 1u)[lane >> 5u] ^ (bit3 - 1u);
      let bit4 = (digit >> 4u) & 1u;
      alike &= subgroupBallot(bit4 == 1u)[lane >> 5u] ^ (bit4 - 1u);
      let bit5 = (digit >> 5u) & 1u;
      alike &= subgroupBallot(bit5 == 1u)[lane >> 5u] ^ (bit5 - 1u);
      let bit6 = (digit >> 6u) & 1u;
      alike &= subgroupBallot(bit6 == 1u)[lane >> 5u] ^ (bit6 - 1u);
      let bit7 = (digit >> 7u) & 1u;
      alike &= subgroupBallot(bit7 == 1u)[lane >> 5u] ^ (bit7 - 1u);
      rank7 = (digit << 24u) | (firstTrailingBit(alike) << 19u) | (countOneBits(alike & lanes_before) << 14u) |
               ((countOneBits(alike) - 1u) << 9u);
    }
    workgroupBarrier();
    for (var turn = 0u; turn < 32u / part; turn += 1u) {
      let my_turn = turn == (slot & 31u) / part;
      if (my_turn && (rank0 & (31u << 14u)) == 0u) {
        let shown = atomicAdd(&words[counters + (rank0 >> 24u)], (((rank0 >> 9u) & 31u) + 1u) << half);
        rank0 = (rank0 & 0xffffc000u) | ((shown >> half) & 0x3fffu);
      }
      workgroupBarrier();
// … 6 more of these 5 lines (90b4d602), and
      if (my_turn && (rank7 & (31u << 14u)) == 0u) {
        let shown = atomicAdd(&words[counters + (rank7 >> 24u)], (((rank7 >> 9u) & 31u) + 1u) << half);
        rank7 = (rank7 & 0xffffc000u) | ((shown >> half) & 0x3fffu);
      }
      workgroupBarrier();
    }
    let of_first0 = subgroupShuffle(rank0, lane - in_part + ((rank0 >> 19u) & 31u)) & 0x3fffu;
    rank0 = (rank0 & 0xff000000u) | (of_first0 + ((rank0 >> 14u) & 31u));
// … 6 more of these 2 lines (87cc7558), and
    let of_first7 = subgroupShuffle(rank7, lane - in_part + ((rank7 >> 19u) & 31u)) & 0x3fffu;
    rank7 = (rank7 & 0xff000000u) | (of_first7 + ((rank7 >> 14u) & 31u));
    var own = vec2<u32>(0u, 0u);
    var before0 = 0u;
    var before1 = 0u;
    var before2 = 0u;
    var before3 = 0u;
    if (has_digit) {
      own.y = 0u;
      let both0 = atomicLoad(&words[0u * 256u + own_digit]);
      before0 = own.x | ((own.x + (both0 & 0xffffu)) << 16u);
      own.x += (both0 & 0xffffu) + (both0 >> 16u);
// … 2 more of these 3 lines (494597ad), and
      let both3 = atomicLoad(&words[3u * 256u + own_digit]);
      before3 = own.x | ((own.x + (both3 & 0xffffu)) << 16u);
      own.x += (both3 & 0xffffu) + (both3 >> 16u);
    }
    let up_to = subgroupInclusiveAdd(own);
    if (lane == lanes - 1u && has_digit) { sums[first_slot / 4u] = up_to; }
    workgroupBarrier();
    var less = up_to - own;
    if (has_digit) {
      for (var other = 0u; other < first_slot; other += lanes) { less += sums[other / 4u]; }
      atomicStore(&words[0u * 256u + own_digit], before0 + less.x * 0x10001u);
      atomicStore(&words[1u * 256u + own_digit], before1 + less.x * 0x10001u);
      atomicStore(&words[2u * 256u + own_digit], before2 + less.x * 0x10001u);
      atomicStore(&words[3u * 256u + own_digit], before3 + less.x * 0x10001u);
    }
    workgroupBarrier();
    rank0 = (rank0 & 0xffffffu) + ((atomicLoad(&words[counters + (rank0 >> 24u)]) >> half) & 0xffffu);
// … 6 more of these 1 lines (2997c334), and
    rank7 = (rank7 & 0xffffffu) + ((atomicLoad(&words[counters + (rank7 >> 24u)]) >> half) & 0xffffu);
    workgroupBarrier();
    atomicStore(&words[rank0], word0);
// … 6 more of these 1 lines (036cd5d9), and
    atomicStore(&words[rank7], word7);
    workgroupBarrier();
    if (shift + 8u < 32u) {
      word0 = atomicLoad(&words[at + 0u * part]);
// … 6 more of these 1 lines (487dc731), and
      word7 = atomicLoad(&words[at + 7u * part]);
    } else {
      for (var i = thread * 4u; i < params.v[0].z; i += 256u * 4u) {
        let w6 = (params.v[1].z + group * params.v[1].w + i) / 4u;
        b1[w6 + 0u] = vec4<u32>(bitcast<u32>(bitcast<f32>(atomicLoad(&words[i + 0u]))), bitcast<u32>(bitcast<f32>(atomicLoad(&words[i + 1u]))), bitcast<u32>(bitcast<f32>(atomicLoad(&words[i + 2u]))), bitcast<u32>(bitcast<f32>(atomicLoad(&words[i + 3u]))));
      }
    }
    workgroupBarrier();
    atomicStore(&words[rank0], place0);
// … 6 more of these 1 lines (4379fb03), and
    atomicStore(&words[rank7], place7);
    workgroupBarrier();
    if (shift + 8u < 32u) {
      place0 = atomicLoad(&words[at + 0u * part]);
// … 6 more of these 1 lines (7e3cfcaf), and
      place7 = atomicLoad(&words[at + 7u * part]);
    } else {
      for (var i = thread * 4u; i < params.v[0].z; i += 256u * 4u) {
        let w7 = (params.v[2].x + group * params.v[2].y + i) / 4u;
        b2[w7 + 0u] = vec4<u32>(bitcast<u32>(i32(atomicLoad(&words[i + 0u]))), bitcast<u32>(i32(atomicLoad(&words[i + 1u]))), bitcast<u32>(i32(atomicLoad(&words[i + 2u]))), bitcast<u32>(i32(atomicLoad(&words[i + 3u]))));
      }
    }
  }
}

// ---- sort of a long line in subgroups: sort, 4 workgroups of 512, 11 words
// sort, moving by digits in subgroups
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read> b2: array<u32>;
@group(0) @binding(4) var<storage, read_write> b3: array<u32>;
@group(0) @binding(5) var<storage, read_write> b4: array<u32>;
var<workgroup> drawn: array<atomic<u32>, 1>;
var<workgroup> words: array<atomic<u32>, 5120>;
var<workgroup> sums: array<vec2<u32>, 64>;
var<workgroup> next: array<u32, 256>;
fn key_of(w: u32, flip: u32) -> u32 {
  return tern_sort_key(bitcast<f32>(w)) ^ flip;
}
@compute @workgroup_size(512)
        @builtin(subgroup_invocation_id) lane: u32, @builtin(subgroup_size) lanes: u32) {
  if (group >= params.v[0].z * params.v[0].w) { return; }
  if (thread == 0u) {
    atomicStore(&drawn[0], 0u);
    sums[0] = vec2<u32>(lanes, 0u);
  }
  let drawn_by_thread_0 = workgroupUniformLoad(&sums[0]);
  let width = drawn_by_thread_0.x;  // for conditions around barriers
  var drawn_by_first = 0u;
  if (lane == 0u) { drawn_by_first = atomicAdd(&drawn[0], lanes); }
  let first_slot = subgroupBroadcast(drawn_by_first, 0u);
  let slot = first_slot + lane;
  let part = min(width, 32u);
  let in_part = lane & (part - 1u);
  let at = (slot - in_part) * 10u + in_part;
  let counters = slot / 64u * 256u;
  let half = (slot & 32u) / 2u;
  let has_digit = slot < 256u;
  let own_digit = min(slot, 255u);
  let number = group;
  let line = number / params.v[0].w;
  let block = number - line * params.v[0].w;
  let begin = block * 5120u;
  let here = min(params.v[1].x - begin, 5120u);
  let first = line * params.v[1].x + begin;
  let in_line = b2[line * 256u + own_digit];
  let in_blocks_before = b1[(line * 256u + own_digit) * params.v[0].w + block];
  let word0 = b0[params.v[1].z + first + min(at + 0u * part, here - 1u)];
// … 8 more of these 1 lines (7f2feb25), and
  let word9 = b0[params.v[1].z + first + min(at + 9u * part, here - 1u)];
  atomicStore(&words[0u * 512u + thread], 0u);
  atomicStore(&words[1u * 512u + thread], 0u);
  atomicStore(&words[2u * 512u + thread], 0u);
  atomicStore(&words[3u * 512u + thread], 0u);
  let all_lanes = 0xffffffffu >> (32u - part);
  let lanes_before = (1u << in_part) - 1u;
  var rank0 = 0u;
  {
    let digit = select(255u, (key_of(word0, params.v[0].y) >> params.v[1].y) & 255u, at + 0u * part < here);
    var alike = all_lanes;
    let bit0 = (digit >> 0u) & 1u;
    alike &= subgroupBallot(bit0 == 1u)[lane >> 5u] ^ (bit0 - 1u);
    let bit1 = (digit >> 1u) & 1u;
    alike &= subgroupBallot(bit1 == 1u)[lane >> 5u] ^ (bit1 - 1u);
    let bit2 = (digit >> 2u) & 1u;
    alike &= subgroupBallot(bit2 == 1u)[lane >> 5u] ^ (bit2 - 1u);
    let bit3 = (digit >> 3u) & 1u;
    alike &= subgroupBallot(bit3 == 1u)[lane >> 5u] ^ (bit3 - 1u);
    let bit4 = (digit >> 4u) & 1u;
    alike &= subgroupBallot(bit4 == 1u)[lane >> 5u] ^ (bit4 - 1u);
    let bit5 = (digit >> 5u) & 1u;
    alike &= subgroupBallot(bit5 == 1u)[lane >> 5u] ^ (bit5 - 1u);
    let bit6 = (digit >> 6u) & 1u;
    alike &= subgroupBallot(bit6 == 1u)[lane >> 5u] ^ (bit6 - 1u);
    let bit7 = (digit >> 7u) & 1u;
    alike &= subgroupBallot(bit7 == 1u)[lane >> 5u] ^ (bit7 - 1u);
    rank0 = (digit << 24u) | (firstTrailingBit(alike) << 19u) | (countOneBits(alike & lanes_before) << 14u) |
             ((countOneBits(alike) - 1u) << 9u);
  }
// … 8 more of these 23 lines (237520ad), and
  var rank9 = 0u;
  {
    let digit = select(255u, (key_of(word9, params.v[0].y) >> params.v[1].y) & 255u, at + 9u * part < here);
    var alike = all_lanes;
    let bit0 = (digit >> 0u) & 1u;
    alike &= subgroupBallot(bit0 == 1u)[lane >> 5u] ^ (bit0 - 1u);
    let bit1 = (digit >> 1u) & 1u;
    alike &= subgroupBallot(bit1 == 1u)[lane >> 5u] ^ (bit1 - 1u);
    let bit2 = (digit >> 2u) & 1u;
    alike &= subgroupBallot(bit2 == 1u)[lane >> 5u] ^ (bit2 - 1u);
    let bit3 = (digit >> 3u) & 1u;
    alike &= subgroupBallot(bit3 == 1u)[lane >> 5u] ^ (bit3 - 1u);
    let bit4 = (digit >> 4u) & 1u;
    alike &= subgroupBallot(bit4 == 1u)[lane >> 5u] ^ (bit4 - 1u);
    let bit5 = (digit >> 5u) & 1u;
    alike &= subgroupBallot(bit5 == 1u)[lane >> 5u] ^ (bit5 - 1u);
    let bit6 = (digit >> 6u) & 1u;
    alike &= subgroupBallot(bit6 == 1u)[lane >> 5u] ^ (bit6 - 1u);
    let bit7 = (digit >> 7u) & 1u;
    alike &= subgroupBallot(bit7 == 1u)[lane >> 5u] ^ (bit7 - 1u);
    rank9 = (digit << 24u) | (firstTrailingBit(alike) << 19u) | (countOneBits(alike & lanes_before) << 14u) |
             ((countOneBits(alike) - 1u) << 9u);
  }
  workgroupBarrier();
  for (var turn = 0u; turn < 32u / part; turn += 1u) {
    let my_turn = turn == (slot & 31u) / part;
    if (my_turn && (rank0 & (31u << 14u)) == 0u) {
      let shown = atomicAdd(&words[counters + (rank0 >> 24u)], (((rank0 >> 9u) & 31u) + 1u) << half);
      rank0 = (rank0 & 0xffffc000u) | ((shown >> half) & 0x3fffu);
    }
    workgroupBarrier();
// … 8 more of these 5 lines (ed5bdcad), and
    if (my_turn && (rank9 & (31u << 14u)) == 0u) {
      let shown = atomicAdd(&words[counters + (rank9 >> 24u)], (((rank9 >> 9u) & 31u) + 1u) << half);
      rank9 = (rank9 & 0xffffc000u) | ((shown >> half) & 0x3fffu);
    }
    workgroupBarrier();
  }
  let of_first0 = subgroupShuffle(rank0, lane - in_part + ((rank0 >> 19u) & 31u)) & 0x3fffu;
  rank0 = (rank0 & 0xff000000u) | (of_first0 + ((rank0 >> 14u) & 31u));
// … 8 more of these 2 lines (3d287255), and
  let of_first9 = subgroupShuffle(rank9, lane - in_part + ((rank9 >> 19u) & 31u)) & 0x3fffu;
  rank9 = (rank9 & 0xff000000u) | (of_first9 + ((rank9 >> 14u) & 31u));
  var own = vec2<u32>(0u, 0u);
  var before0 = 0u;
// … 6 more of these 1 lines (c8129b28), and
  var before7 = 0u;
  if (has_digit) {
    own.y = in_line;
    let both0 = atomicLoad(&words[0u * 256u + own_digit]);
    before0 = own.x | ((own.x + (both0 & 0xffffu)) << 16u);
    own.x += (both0 & 0xffffu) + (both0 >> 16u);
// … 6 more of these 3 lines (445f3e5d), and
    let both7 = atomicLoad(&words[7u * 256u + own_digit]);
    before7 = own.x | ((own.x + (both7 & 0xffffu)) << 16u);
    own.x += (both7 & 0xffffu) + (both7 >> 16u);
  }
  let up_to = subgroupInclusiveAdd(own);
  if (lane == lanes - 1u && has_digit) { sums[first_slot / 4u] = up_to; }
  workgroupBarrier();
  var less = up_to - own;
  if (has_digit) {
    for (var other = 0u; other < first_slot; other += lanes) { less += sums[other / 4u]; }
    atomicStore(&words[0u * 256u + own_digit], before0 + less.x * 0x10001u);
// … 6 more of these 1 lines (b54e1215), and
    atomicStore(&words[7u * 256u + own_digit], before7 + less.x * 0x10001u);
  }
  workgroupBarrier();
  rank0 = (rank0 & 0xffffffu) + ((atomicLoad(&words[counters + (rank0 >> 24u)]) >> half) & 0xffffu);
// … 8 more of these 1 lines (b4401b4d), and
  rank9 = (rank9 & 0xffffffu) + ((atomicLoad(&words[counters + (rank9 >> 24u)]) >> half) & 0xffffu);
  workgroupBarrier();
  atomicStore(&words[rank0], word0);
// … 8 more of these 1 lines (98236b55), and
  atomicStore(&words[rank9], word9);
  if (has_digit) { next[own_digit] = line * params.v[1].x + less.y + in_blocks_before - less.x; }
  workgroupBarrier();
  let bits0 = atomicLoad(&words[slot + 0u * 512u]);
  let to0 = next[(key_of(bits0, params.v[0].y) >> params.v[1].y) & 255u] + slot + 0u * 512u;
// … 8 more of these 2 lines (31781a95), and
  let bits9 = atomicLoad(&words[slot + 9u * 512u]);
  let to9 = next[(key_of(bits9, params.v[0].y) >> params.v[1].y) & 255u] + slot + 9u * 512u;
  if (slot + 0u * 512u < here) { b3[params.v[2].y + to0] = bits0; }
// … 8 more of these 1 lines (ea39ef45), and
  if (slot + 9u * 512u < here) { b3[params.v[2].y + to9] = bits9; }
  workgroupBarrier();
  atomicStore(&words[rank0], begin + min(at + 0u * part, here - 1u));
// … 8 more of these 1 lines (92e35f35), and
  atomicStore(&words[rank9], begin + min(at + 9u * part, here - 1u));
  workgroupBarrier();
  let from0 = slot + 0u * 512u;
  if (from0 < here) { b4[params.v[2].z + to0] = atomicLoad(&words[from0]); }
// … 8 more of these 2 lines (6b7e024d), and
  let from9 = slot + 9u * 512u;
  if (from9 < here) { b4[params.v[2].z + to9] = atomicLoad(&words[from9]); }
}

// ---- sort of a long line in subgroups that go on: sort, 5 workgroups of 256, 4 words
// sort, no digits yet
@group(0) @binding(1) var<storage, read_write> b0: array<u32>;
fn key_of(w: u32, flip: u32) -> u32 {
  return tern_sort_key(bitcast<f32>(w)) ^ flip;
}
  if (group * 256u + thread < params.v[0].z) { b0[group * 256u + thread] = 0u; }
}

// ---- sort of a long line in subgroups that go on: sort, 2 workgroups of 256, 9 words
// sort, totals of digits
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> b2: array<u32>;
var<workgroup> counts: array<atomic<u32>, 1024>;
fn key_of(w: u32, flip: u32) -> u32 {
  return tern_sort_key(bitcast<f32>(w)) ^ flip;
}
  if (group >= params.v[0].z * params.v[0].w) { return; }
  let line = group / params.v[0].w;
  let begin = (group - line * params.v[0].w) * 16384u;
  let end = min(params.v[1].x, begin + 16384u);
  atomicStore(&counts[0u * 256u + thread], 0u);
  atomicStore(&counts[1u * 256u + thread], 0u);
  atomicStore(&counts[2u * 256u + thread], 0u);
  atomicStore(&counts[3u * 256u + thread], 0u);
  for (var i = group * 256u + thread; i < params.v[1].y; i += params.v[0].z * params.v[0].w * 256u) { b2[i] = 0u; }
  workgroupBarrier();
  for (var i = begin + thread; i < end; i += 1024u) {
    let key0 = key_of(b0[params.v[1].z + line * params.v[1].x + min(i + 0u, end - 1u)], params.v[0].y);
    let key256 = key_of(b0[params.v[1].z + line * params.v[1].x + min(i + 256u, end - 1u)], params.v[0].y);
    let key512 = key_of(b0[params.v[1].z + line * params.v[1].x + min(i + 512u, end - 1u)], params.v[0].y);
    let key768 = key_of(b0[params.v[1].z + line * params.v[1].x + min(i + 768u, end - 1u)], params.v[0].y);
    if (i + 0u < end) {
      atomicAdd(&counts[0u * 256u + (u32(key0 >> (8u * 0u)) & 255u)], 1u);
      atomicAdd(&counts[1u * 256u + (u32(key0 >> (8u * 1u)) & 255u)], 1u);
      atomicAdd(&counts[2u * 256u + (u32(key0 >> (8u * 2u)) & 255u)], 1u);
      atomicAdd(&counts[3u * 256u + (u32(key0 >> (8u * 3u)) & 255u)], 1u);
    }
// … 2 more of these 6 lines (c8e74af2), and
    if (i + 768u < end) {
      atomicAdd(&counts[0u * 256u + (u32(key768 >> (8u * 0u)) & 255u)], 1u);
      atomicAdd(&counts[1u * 256u + (u32(key768 >> (8u * 1u)) & 255u)], 1u);
      atomicAdd(&counts[2u * 256u + (u32(key768 >> (8u * 2u)) & 255u)], 1u);
      atomicAdd(&counts[3u * 256u + (u32(key768 >> (8u * 3u)) & 255u)], 1u);
    }
  }
  workgroupBarrier();
  let count0 = atomicLoad(&counts[0u * 256u + thread]);
  if (count0 != 0u) { atomicAdd(&b1[(0u * params.v[0].z + line) * 256u + thread], count0); }
// … 2 more of these 2 lines (9904c304), and
  let count3 = atomicLoad(&counts[3u * 256u + thread]);
  if (count3 != 0u) { atomicAdd(&b1[(3u * params.v[0].z + line) * 256u + thread], count3); }
}

// ---- sort of a long line in subgroups that go on: sort, 4 workgroups of 512, 12 words
// sort, sweep by digits in subgroups
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> b2: array<atomic<u32>>;
@group(0) @binding(4) var<storage, read_write> b3: array<u32>;
@group(0) @binding(5) var<storage, read_write> b4: array<u32>;
var<workgroup> drawn: array<atomic<u32>, 1>;
var<workgroup> words: array<atomic<u32>, 5120>;
var<workgroup> sums: array<vec2<u32>, 64>;
var<workgroup> next: array<u32, 256>;
fn key_of(w: u32, flip: u32) -> u32 {
  return tern_sort_key(bitcast<f32>(w)) ^ flip;
}
        @builtin(subgroup_invocation_id) lane: u32, @builtin(subgroup_size) lanes: u32) {
  if (group >= params.v[0].z * params.v[0].w) { return; }
  if (thread == 0u) {
    atomicStore(&drawn[0], 0u);
    sums[0] = vec2<u32>(lanes, atomicAdd(&b1[params.v[1].z + params.v[1].y], 1u));
  }
  let drawn_by_thread_0 = workgroupUniformLoad(&sums[0]);
  let width = drawn_by_thread_0.x;  // for conditions around barriers
  var drawn_by_first = 0u;
  if (lane == 0u) { drawn_by_first = atomicAdd(&drawn[0], lanes); }
  let first_slot = subgroupBroadcast(drawn_by_first, 0u);
  let slot = first_slot + lane;
  let part = min(width, 32u);
  let in_part = lane & (part - 1u);
  let at = (slot - in_part) * 10u + in_part;
  let counters = slot / 64u * 256u;
  let half = (slot & 32u) / 2u;
  let has_digit = slot < 256u;
  let own_digit = min(slot, 255u);
  let number = drawn_by_thread_0.y;
  let line = number / params.v[0].w;
  let block = number - line * params.v[0].w;
  let begin = block * 5120u;
  let here = min(params.v[1].x - begin, 5120u);
  let first = line * params.v[1].x + begin;
  let in_line = atomicLoad(&b1[(params.v[1].y * params.v[0].z + line) * 256u + own_digit]);
  let state = number * 256u + own_digit;
  let word0 = b0[params.v[1].w + first + min(at + 0u * part, here - 1u)];
// … 8 more of these 1 lines (d282eecd), and
  let word9 = b0[params.v[1].w + first + min(at + 9u * part, here - 1u)];
  atomicStore(&words[0u * 512u + thread], 0u);
  atomicStore(&words[1u * 512u + thread], 0u);
  atomicStore(&words[2u * 512u + thread], 0u);
  atomicStore(&words[3u * 512u + thread], 0u);
  let all_lanes = 0xffffffffu >> (32u - part);
  let lanes_before = (1u << in_part) - 1u;
  var rank0 = 0u;
  {
    let digit = select(255u, (key_of(word0, params.v[0].y) >> (8u * params.v[1].y)) & 255u, at + 0u * part < here);
    var alike = all_lanes;
    let bit0 = (digit >> 0u) & 1u;
    alike &= subgroupBallot(bit0 == 1u)[lane >> 5u] ^ (bit0 - 1u);
    let bit1 = (digit >> 1u) & 1u;
    alike &= subgroupBallot(bit1 == 1u)[lane >> 5u] ^ (bit1 - 1u);
    let bit2 = (digit >> 2u) & 1u;
    alike &= subgroupBallot(bit2 == 1u)[lane >> 5u] ^ (bit2 - 1u);
    let bit3 = (digit >> 3u) & 1u;
    alike &= subgroupBallot(bit3 == 1u)[lane >> 5u] ^ (bit3 - 1u);
    let bit4 = (digit >> 4u) & 1u;
    alike &= subgroupBallot(bit4 == 1u)[lane >> 5u] ^ (bit4 - 1u);
    let bit5 = (digit >> 5u) & 1u;
    alike &= subgroupBallot(bit5 == 1u)[lane >> 5u] ^ (bit5 - 1u);
    let bit6 = (digit >> 6u) & 1u;
    alike &= subgroupBallot(bit6 == 1u)[lane >> 5u] ^ (bit6 - 1u);
    let bit7 = (digit >> 7u) & 1u;
    alike &= subgroupBallot(bit7 == 1u)[lane >> 5u] ^ (bit7 - 1u);
    rank0 = (digit << 24u) | (firstTrailingBit(alike) << 19u) | (countOneBits(alike & lanes_before) << 14u) |
             ((countOneBits(alike) - 1u) << 9u);
  }
// … 8 more of these 23 lines (22a36755), and
  var rank9 = 0u;
  {
    let digit = select(255u, (key_of(word9, params.v[0].y) >> (8u * params.v[1].y)) & 255u, at + 9u * part < here);
    var alike = all_lanes;
    let bit0 = (digit >> 0u) & 1u;
    alike &= subgroupBallot(bit0 == 1u)[lane >> 5u] ^ (bit0 - 1u);
    let bit1 = (digit >> 1u) & 1u;
    alike &= subgroupBallot(bit1 == 1u)[lane >> 5u] ^ (bit1 - 1u);
    let bit2 = (digit >> 2u) & 1u;
    alike &= subgroupBallot(bit2 == 1u)[lane >> 5u] ^ (bit2 - 1u);
    let bit3 = (digit >> 3u) & 1u;
    alike &= subgroupBallot(bit3 == 1u)[lane >> 5u] ^ (bit3 - 1u);
    let bit4 = (digit >> 4u) & 1u;
    alike &= subgroupBallot(bit4 == 1u)[lane >> 5u] ^ (bit4 - 1u);
    let bit5 = (digit >> 5u) & 1u;
    alike &= subgroupBallot(bit5 == 1u)[lane >> 5u] ^ (bit5 - 1u);
    let bit6 = (digit >> 6u) & 1u;
    alike &= subgroupBallot(bit6 == 1u)[lane >> 5u] ^ (bit6 - 1u);
    let bit7 = (digit >> 7u) & 1u;
    alike &= subgroupBallot(bit7 == 1u)[lane >> 5u] ^ (bit7 - 1u);
    rank9 = (digit << 24u) | (firstTrailingBit(alike) << 19u) | (countOneBits(alike & lanes_before) << 14u) |
             ((countOneBits(alike) - 1u) << 9u);
  }
  workgroupBarrier();
  for (var turn = 0u; turn < 32u / part; turn += 1u) {
    let my_turn = turn == (slot & 31u) / part;
    if (my_turn && (rank0 & (31u << 14u)) == 0u) {
      let shown = atomicAdd(&words[counters + (rank0 >> 24u)], (((rank0 >> 9u) & 31u) + 1u) << half);
      rank0 = (rank0 & 0xffffc000u) | ((shown >> half) & 0x3fffu);
    }
    workgroupBarrier();
// … 8 more of these 5 lines (ed5bdcad), and
    if (my_turn && (rank9 & (31u << 14u)) == 0u) {
      let shown = atomicAdd(&words[counters + (rank9 >> 24u)], (((rank9 >> 9u) & 31u) + 1u) << half);
      rank9 = (rank9 & 0xffffc000u) | ((shown >> half) & 0x3fffu);
    }
    workgroupBarrier();
  }
  let of_first0 = subgroupShuffle(rank0, lane - in_part + ((rank0 >> 19u) & 31u)) & 0x3fffu;
  rank0 = (rank0 & 0xff000000u) | (of_first0 + ((rank0 >> 14u) & 31u));
// … 8 more of these 2 lines (3d287255), and
  let of_first9 = subgroupShuffle(rank9, lane - in_part + ((rank9 >> 19u) & 31u)) & 0x3fffu;
  rank9 = (rank9 & 0xff000000u) | (of_first9 + ((rank9 >> 14u) & 31u));
  var own = vec2<u32>(0u, 0u);
  var before0 = 0u;
// … 6 more of these 1 lines (c8129b28), and
  var before7 = 0u;
  if (has_digit) {
    own.y = in_line;
    let both0 = atomicLoad(&words[0u * 256u + own_digit]);
    before0 = own.x | ((own.x + (both0 & 0xffffu)) << 16u);
    own.x += (both0 & 0xffffu) + (both0 >> 16u);
// … 6 more of these 3 lines (445f3e5d), and
    let both7 = atomicLoad(&words[7u * 256u + own_digit]);
    before7 = own.x | ((own.x + (both7 & 0xffffu)) << 16u);
    own.x += (both7 & 0xffffu) + (both7 >> 16u);
  }
  let own_state = own.x - select(0u, 5120u - here, own_digit == 255u);
  let has_own = 2u * params.v[1].y + 1u;
  if (has_digit) { atomicStore(&b2[state], ((has_own + select(0u, 1u, block == 0u)) << 28u) | own_state); }
  let up_to = subgroupInclusiveAdd(own);
  if (lane == lanes - 1u && has_digit) { sums[first_slot / 4u] = up_to; }
  workgroupBarrier();
  var less = up_to - own;
  if (has_digit) {
    for (var other = 0u; other < first_slot; other += lanes) { less += sums[other / 4u]; }
    atomicStore(&words[0u * 256u + own_digit], before0 + less.x * 0x10001u);
// … 6 more of these 1 lines (b54e1215), and
    atomicStore(&words[7u * 256u + own_digit], before7 + less.x * 0x10001u);
  }
  workgroupBarrier();
  rank0 = (rank0 & 0xffffffu) + ((atomicLoad(&words[counters + (rank0 >> 24u)]) >> half) & 0xffffu);
// … 8 more of these 1 lines (b4401b4d), and
  rank9 = (rank9 & 0xffffffu) + ((atomicLoad(&words[counters + (rank9 >> 24u)]) >> half) & 0xffffu);
  workgroupBarrier();
  atomicStore(&words[rank0], word0);
// … 8 more of these 1 lines (98236b55), and
  atomicStore(&words[rank9], word9);
  var in_blocks_before = 0u;
  if (block != 0u && has_digit) {
    var other = block - 1u;
    var waited = 0u;
    var found = false;
    loop {
      let at_first = other;
      let seen0 = atomicLoad(&b2[state - (block - other + min(other, 0u)) * 256u]);
      let seen1 = atomicLoad(&b2[state - (block - other + min(other, 1u)) * 256u]);
      let seen2 = atomicLoad(&b2[state - (block - other + min(other, 2u)) * 256u]);
      let seen3 = atomicLoad(&b2[state - (block - other + min(other, 3u)) * 256u]);
      if (!found && at_first == other + 0u && (seen0 >> 28u) >= has_own) {
        in_blocks_before += seen0 & 0xfffffffu;
        found = (seen0 >> 28u) > has_own;
        other -= 1u;
      }
// … 2 more of these 5 lines (f842c00b), and
      if (!found && at_first == other + 3u && (seen3 >> 28u) >= has_own) {
        in_blocks_before += seen3 & 0xfffffffu;
        found = (seen3 >> 28u) > has_own;
        other -= 1u;
      }
      if (found) { break; }
      waited = select(0u, waited + 1u, other == at_first);
      if (waited >= 512u) {
        for (var i = 0u; i < 5120u; i += 1u) {
          let its_key = key_of(b0[params.v[1].w + line * params.v[1].x + other * 5120u + i], params.v[0].y);
          in_blocks_before += select(0u, 1u, ((its_key >> (8u * params.v[1].y)) & 255u) == own_digit);
        }
        if (other == 0u) { break; }
        other -= 1u;
      }
    }
    atomicStore(&b2[state], ((has_own + 1u) << 28u) | (in_blocks_before + own_state));
  }
  if (has_digit) { next[own_digit] = line * params.v[1].x + less.y + in_blocks_before - less.x; }
  workgroupBarrier();
  let bits0 = atomicLoad(&words[slot + 0u * 512u]);
  let to0 = next[(key_of(bits0, params.v[0].y) >> (8u * params.v[1].y)) & 255u] + slot + 0u * 512u;
// … 8 more of these 2 lines (286a75c5), and
  let bits9 = atomicLoad(&words[slot + 9u * 512u]);
  let to9 = next[(key_of(bits9, params.v[0].y) >> (8u * params.v[1].y)) & 255u] + slot + 9u * 512u;
  if (slot + 0u * 512u < here) { b3[params.v[2].z + to0] = bits0; }
// … 8 more of these 1 lines (a81209ed), and
  if (slot + 9u * 512u < here) { b3[params.v[2].z + to9] = bits9; }
  workgroupBarrier();
  atomicStore(&words[rank0], begin + min(at + 0u * part, here - 1u));
// … 8 more of these 1 lines (92e35f35), and
  atomicStore(&words[rank9], begin + min(at + 9u * part, here - 1u));
  workgroupBarrier();
  let from0 = slot + 0u * 512u;
  if (from0 < here) { b4[params.v[2].w + to0] = atomicLoad(&words[from0]); }
// … 8 more of these 2 lines (8c30feb5), and
  let from9 = slot + 9u * 512u;
  if (from9 < here) { b4[params.v[2].w + to9] = atomicLoad(&words[from9]); }
}

// ---- order of booleans: argsort, 3 workgroups of 128, 7 words
// sort, counts of booleans
@group(0) @binding(1) var<storage, read> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
var<workgroup> sums: array<u32, 128>;
  if (group >= params.v[0].y * params.v[1].x) { return; }
  let line = group / params.v[1].x;
  let begin = (group - line * params.v[1].x) * 8192u;
  let end = min(params.v[0].z, begin + 8192u);
  var count = 0u;
  for (var at = begin + thread * 16u; at < end; at += 128u * 16u) {
    let w0 = (params.v[0].w + at) / 16u;
    let q1 = b0[w0 + 0u];
    let x2 = bitcast<i32>((q1.x & 0xffu));
    let x3 = bitcast<i32>(((q1.x >> 8u) & 0xffu));
    let x4 = bitcast<i32>(((q1.x >> 16u) & 0xffu));
    let x5 = bitcast<i32>((q1.x >> 24u));
    let x6 = bitcast<i32>((q1.y & 0xffu));
    let x7 = bitcast<i32>(((q1.y >> 8u) & 0xffu));
    let x8 = bitcast<i32>(((q1.y >> 16u) & 0xffu));
    let x9 = bitcast<i32>((q1.y >> 24u));
    let x10 = bitcast<i32>((q1.z & 0xffu));
    let x11 = bitcast<i32>(((q1.z >> 8u) & 0xffu));
    let x12 = bitcast<i32>(((q1.z >> 16u) & 0xffu));
    let x13 = bitcast<i32>((q1.z >> 24u));
    let x14 = bitcast<i32>((q1.w & 0xffu));
    let x15 = bitcast<i32>(((q1.w >> 8u) & 0xffu));
    let x16 = bitcast<i32>(((q1.w >> 16u) & 0xffu));
    let x17 = bitcast<i32>((q1.w >> 24u));
    count += ((bitcast<u32>(x2) & 0xffu) & 1u) ^ params.v[1].y;
// … 14 more of these 1 lines (129cd9db), and
    count += ((bitcast<u32>(x17) & 0xffu) & 1u) ^ params.v[1].y;
  }
  sums[thread] = count;
  workgroupBarrier();
  if (thread < 64u) { sums[thread] += sums[thread + 64u]; }
// … 5 more of these 2 lines (cccf22a2), and
  workgroupBarrier();
  if (thread < 1u) { sums[thread] += sums[thread + 1u]; }
  workgroupBarrier();
  if (thread == 0u) { b1[group] = sums[0]; }
}

// ---- order of booleans: argsort, 3 workgroups of 128, 9 words
// sort, places of booleans
@group(0) @binding(1) var<storage, read> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read_write> b2: array<u32>;
var<workgroup> sums: array<u32, 128>;
var<workgroup> staged: array<u32, 2048>;
  if (group >= params.v[0].y * params.v[1].x) { return; }
  let line = group / params.v[1].x;
  let block = group - line * params.v[1].x;
  let begin = block * 8192u;
  let end = min(params.v[0].z, begin + 8192u);
  var before = 0u;
  if (block > 0u) { before = b1[group - 1u]; }
  let total = b1[line * params.v[1].x + params.v[1].x - 1u];
  for (var start = begin; start < end; start += 2048u) {
    let own = start + thread * 16u;
    var is0 = 0u;
// … 14 more of these 1 lines (a6d3f27f), and
    var is15 = 0u;
    let at0 = own + 0u;
    if (at0 < end) {
      let w0 = (params.v[0].w + at0) / 16u;
      let q1 = b0[w0 + 0u];
      let x2 = bitcast<i32>((q1.x & 0xffu));
      let x3 = bitcast<i32>(((q1.x >> 8u) & 0xffu));
      let x4 = bitcast<i32>(((q1.x >> 16u) & 0xffu));
      let x5 = bitcast<i32>((q1.x >> 24u));
      let x6 = bitcast<i32>((q1.y & 0xffu));
      let x7 = bitcast<i32>(((q1.y >> 8u) & 0xffu));
      let x8 = bitcast<i32>(((q1.y >> 16u) & 0xffu));
      let x9 = bitcast<i32>((q1.y >> 24u));
      let x10 = bitcast<i32>((q1.z & 0xffu));
      let x11 = bitcast<i32>(((q1.z >> 8u) & 0xffu));
      let x12 = bitcast<i32>(((q1.z >> 16u) & 0xffu));
      let x13 = bitcast<i32>((q1.z >> 24u));
      let x14 = bitcast<i32>((q1.w & 0xffu));
      let x15 = bitcast<i32>(((q1.w >> 8u) & 0xffu));
      let x16 = bitcast<i32>(((q1.w >> 16u) & 0xffu));
      let x17 = bitcast<i32>((q1.w >> 24u));
      is0 = ((bitcast<u32>(x2) & 0xffu) & 1u) ^ params.v[1].y;
// … 14 more of these 1 lines (1dd7ba49), and
      is15 = ((bitcast<u32>(x17) & 0xffu) & 1u) ^ params.v[1].y;
    }
    var count = 0u;
    count += is0;
// … 14 more of these 1 lines (0f277813), and
    count += is15;
    sums[thread] = count;
    workgroupBarrier();
    {
      let with1 = sums[thread] + select(0u, sums[max(thread, 1u) - 1u], thread >= 1u);
      workgroupBarrier();
      sums[thread] = with1;
      workgroupBarrier();
// … 5 more of these 4 lines (e0618129), and
      let with64 = sums[thread] + select(0u, sums[max(thread, 64u) - 64u], thread >= 64u);
      workgroupBarrier();
      sums[thread] = with64;
      workgroupBarrier();
    }
    let leading = sums[127];
    var to = sums[thread] - count;
    var other = leading + thread * 16u - to;
    if (own + 0u < end) {
      if (is0 != 0u) {
        staged[to] = own + 0u;
        to += 1u;
      } else {
        staged[other] = own + 0u;
        other += 1u;
      }
    }
// … 14 more of these 9 lines (35e6b937), and
    if (own + 15u < end) {
      if (is15 != 0u) {
        staged[to] = own + 15u;
        to += 1u;
      } else {
        staged[other] = own + 15u;
        other += 1u;
      }
    }
    workgroupBarrier();
    for (var k = thread; k < min(end - start, 2048u); k += 128u) {
      let rank = select(total + (start - before) + (k - leading), before + k, k < leading);
      if (rank < params.v[1].w) { b2[params.v[2].x + line * params.v[1].w + rank] = staged[k]; }
    }
    before += leading;
    workgroupBarrier();
  }
}

// ---- ranks in a long line: quantile, 1 workgroups of 256, 11 words
// ranks, nothing known yet
@group(0) @binding(1) var<storage, read_write> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
@group(0) @binding(3) var<storage, read_write> b2: array<u32>;
fn key_of(w: u32, flip: u32) -> u32 {
  return tern_sort_key(bitcast<f32>(w)) ^ flip;
}
  if (group >= params.v[0].z) { return; }
  b0[(group * 3u + 0u) * 256u + thread] = 0u;
  b0[(group * 3u + 1u) * 256u + thread] = 0u;
  b0[(group * 3u + 2u) * 256u + thread] = 0u;
  if (thread == 0u) {
    b1[group * 3u + 0u] = u32(0);
    b2[group * 3u + 0u] = params.v[1].y;
    b1[group * 3u + 1u] = u32(0);
    b2[group * 3u + 1u] = params.v[1].z;
    b1[group * 3u + 2u] = u32(0);
    b2[group * 3u + 2u] = params.v[1].w;
  }
}

// ---- ranks in a long line: quantile, 2 workgroups of 256, 10 words
// ranks, counts of digits
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read_write> b2: array<atomic<u32>>;
var<workgroup> counts: array<atomic<u32>, 768>;
fn key_of(w: u32, flip: u32) -> u32 {
  return tern_sort_key(bitcast<f32>(w)) ^ flip;
}
  if (group >= params.v[0].z * params.v[0].w) { return; }
  let line = group / params.v[0].w;
  let begin = (group - line * params.v[0].w) * 16384u;
  let end = min(params.v[1].x, begin + 16384u);
  let mask = select(~((u32(1) << (params.v[1].y + 8u)) - u32(1)), u32(0), params.v[1].z != 0u);
  let known0 = b1[line * 3u + 0u];
  var counted0 = true;
  atomicStore(&counts[0u * 256u + thread], 0u);
  let known1 = b1[line * 3u + 1u];
  var counted1 = true;
  if (known0 == known1) { counted1 = false; }
  atomicStore(&counts[1u * 256u + thread], 0u);
  let known2 = b1[line * 3u + 2u];
  var counted2 = true;
  if (known1 == known2) { counted2 = false; }
  if (known0 == known2) { counted2 = false; }
  atomicStore(&counts[2u * 256u + thread], 0u);
  workgroupBarrier();
  for (var i = begin + thread; i < end; i += 1024u) {
    let key0 = key_of(b0[params.v[1].w + line * params.v[1].x + min(i + 0u, end - 1u)], params.v[0].y);
    let key256 = key_of(b0[params.v[1].w + line * params.v[1].x + min(i + 256u, end - 1u)], params.v[0].y);
    let key512 = key_of(b0[params.v[1].w + line * params.v[1].x + min(i + 512u, end - 1u)], params.v[0].y);
    let key768 = key_of(b0[params.v[1].w + line * params.v[1].x + min(i + 768u, end - 1u)], params.v[0].y);
    if (i + 0u < end) {
      if (counted0 && (key0 & mask) == known0) {
        atomicAdd(&counts[0u * 256u + (u32(key0 >> params.v[1].y) & 255u)], 1u);
      }
      if (counted1 && (key0 & mask) == known1) {
        atomicAdd(&counts[1u * 256u + (u32(key0 >> params.v[1].y) & 255u)], 1u);
      }
      if (counted2 && (key0 & mask) == known2) {
        atomicAdd(&counts[2u * 256u + (u32(key0 >> params.v[1].y) & 255u)], 1u);
      }
    }
// … 2 more of these 11 lines (d1dca7c2), and
    if (i + 768u < end) {
      if (counted0 && (key768 & mask) == known0) {
        atomicAdd(&counts[0u * 256u + (u32(key768 >> params.v[1].y) & 255u)], 1u);
      }
      if (counted1 && (key768 & mask) == known1) {
        atomicAdd(&counts[1u * 256u + (u32(key768 >> params.v[1].y) & 255u)], 1u);
      }
      if (counted2 && (key768 & mask) == known2) {
        atomicAdd(&counts[2u * 256u + (u32(key768 >> params.v[1].y) & 255u)], 1u);
      }
    }
  }
  workgroupBarrier();
  let count0 = atomicLoad(&counts[0u * 256u + thread]);
  if (count0 != 0u) { atomicAdd(&b2[(line * 3u + 0u) * 256u + thread], count0); }
  let count1 = atomicLoad(&counts[1u * 256u + thread]);
  if (count1 != 0u) { atomicAdd(&b2[(line * 3u + 1u) * 256u + thread], count1); }
  let count2 = atomicLoad(&counts[2u * 256u + thread]);
  if (count2 != 0u) { atomicAdd(&b2[(line * 3u + 2u) * 256u + thread], count2); }
}

// ---- ranks in a long line: quantile, 1 workgroups of 256, 9 words
// ranks, a digit
@group(0) @binding(1) var<storage, read_write> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
@group(0) @binding(3) var<storage, read_write> b2: array<u32>;
var<workgroup> sums: array<u32, 256>;
fn key_of(w: u32, flip: u32) -> u32 {
  return tern_sort_key(bitcast<f32>(w)) ^ flip;
}
  if (group >= params.v[0].z) { return; }
  let known0 = b0[group * 3u + 0u];
  let known1 = b0[group * 3u + 1u];
  let known2 = b0[group * 3u + 2u];
  workgroupBarrier();
  {
    var counted = 0u;
    let wanted = b1[group * 3u + 0u];
    let here = b2[(group * 3u + counted) * 256u + thread];
    sums[thread] = here;
    workgroupBarrier();
    {
      let with1 = sums[thread] + select(0u, sums[max(thread, 1u) - 1u], thread >= 1u);
      workgroupBarrier();
      sums[thread] = with1;
      workgroupBarrier();
// … 6 more of these 4 lines (001079a7), and
      let with128 = sums[thread] + select(0u, sums[max(thread, 128u) - 128u], thread >= 128u);
      workgroupBarrier();
      sums[thread] = with128;
      workgroupBarrier();
    }
    let up_to = sums[thread];
    if (up_to > wanted && up_to - here <= wanted) {
      b0[group * 3u + 0u] = known0 | (u32(thread) << params.v[1].y);
      b1[group * 3u + 0u] = wanted - (up_to - here);
    }
    workgroupBarrier();
  }
  {
    var counted = 1u;
    if (known0 == known1) { counted = 0u; }
    let wanted = b1[group * 3u + 1u];
    let here = b2[(group * 3u + counted) * 256u + thread];
    sums[thread] = here;
    workgroupBarrier();
    {
      let with1 = sums[thread] + select(0u, sums[max(thread, 1u) - 1u], thread >= 1u);
      workgroupBarrier();
      sums[thread] = with1;
      workgroupBarrier();
// … 6 more of these 4 lines (001079a7), and
      let with128 = sums[thread] + select(0u, sums[max(thread, 128u) - 128u], thread >= 128u);
      workgroupBarrier();
      sums[thread] = with128;
      workgroupBarrier();
    }
    let up_to = sums[thread];
    if (up_to > wanted && up_to - here <= wanted) {
      b0[group * 3u + 1u] = known1 | (u32(thread) << params.v[1].y);
      b1[group * 3u + 1u] = wanted - (up_to - here);
    }
    workgroupBarrier();
  }
  {
    var counted = 2u;
    if (known1 == known2) { counted = 1u; }
    if (known0 == known2) { counted = 0u; }
    let wanted = b1[group * 3u + 2u];
    let here = b2[(group * 3u + counted) * 256u + thread];
    sums[thread] = here;
    workgroupBarrier();
    {
      let with1 = sums[thread] + select(0u, sums[max(thread, 1u) - 1u], thread >= 1u);
      workgroupBarrier();
      sums[thread] = with1;
      workgroupBarrier();
// … 6 more of these 4 lines (001079a7), and
      let with128 = sums[thread] + select(0u, sums[max(thread, 128u) - 128u], thread >= 128u);
      workgroupBarrier();
      sums[thread] = with128;
      workgroupBarrier();
    }
    let up_to = sums[thread];
    if (up_to > wanted && up_to - here <= wanted) {
      b0[group * 3u + 2u] = known2 | (u32(thread) << params.v[1].y);
      b1[group * 3u + 2u] = wanted - (up_to - here);
    }
    workgroupBarrier();
  }
  b2[(group * 3u + 0u) * 256u + thread] = 0u;
  b2[(group * 3u + 1u) * 256u + thread] = 0u;
  b2[(group * 3u + 2u) * 256u + thread] = 0u;
}

// ---- ranks in a long line: quantile, 2 workgroups of 256, 8 words
// ranks, elements alike
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read_write> b2: array<u32>;
var<workgroup> counts: array<atomic<u32>, 8>;
fn key_of(w: u32, flip: u32) -> u32 {
  return tern_sort_key(bitcast<f32>(w)) ^ flip;
}
  if (group >= params.v[0].z * params.v[0].w) { return; }
  let line = group / params.v[0].w;
  let begin = (group - line * params.v[0].w) * 16384u;
  let end = min(params.v[1].x, begin + 16384u);
  let known0 = b1[line * 3u + 0u];
  let known1 = b1[line * 3u + 1u];
  let known2 = b1[line * 3u + 2u];
  if (thread < 3u) { atomicStore(&counts[thread], 0u); }
  workgroupBarrier();
  for (var i = begin + thread; i < end; i += 1024u) {
    let key0 = key_of(b0[params.v[1].y + line * params.v[1].x + min(i + 0u, end - 1u)], params.v[0].y);
    let key256 = key_of(b0[params.v[1].y + line * params.v[1].x + min(i + 256u, end - 1u)], params.v[0].y);
    let key512 = key_of(b0[params.v[1].y + line * params.v[1].x + min(i + 512u, end - 1u)], params.v[0].y);
    let key768 = key_of(b0[params.v[1].y + line * params.v[1].x + min(i + 768u, end - 1u)], params.v[0].y);
    if (i + 0u < end) {
      if (key0 == known0) { atomicAdd(&counts[0u], 1u); }
      if (key0 == known1) { atomicAdd(&counts[1u], 1u); }
      if (key0 == known2) { atomicAdd(&counts[2u], 1u); }
    }
// … 2 more of these 5 lines (5f929a35), and
    if (i + 768u < end) {
      if (key768 == known0) { atomicAdd(&counts[0u], 1u); }
      if (key768 == known1) { atomicAdd(&counts[1u], 1u); }
      if (key768 == known2) { atomicAdd(&counts[2u], 1u); }
    }
  }
  workgroupBarrier();
  if (thread < 3u) { b2[group * 3u + thread] = atomicLoad(&counts[thread]); }
}

// ---- ranks in a long line: quantile, 3 workgroups of 256, 10 words
// ranks, places
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read> b2: array<u32>;
@group(0) @binding(4) var<storage, read> b3: array<u32>;
@group(0) @binding(5) var<storage, read_write> b4: array<u32>;
var<workgroup> sums: array<u32, 256>;
var<workgroup> found: array<u32, 4>;
var<workgroup> rows: array<atomic<u32>, 256>;
fn key_of(w: u32, flip: u32) -> u32 {
  return tern_sort_key(bitcast<f32>(w)) ^ flip;
}
  if (group >= params.v[0].z * 3u) { return; }
  let line = group / 3u;
  let known = b1[group];
  let wanted = b2[group];
  var carry = 0u;
  for (var start = 0u; start < params.v[0].w; start += 256u) {
    var here = 0u;
    if (start + thread < params.v[0].w) {
      here = b3[(line * params.v[0].w + start + thread) * 3u + (group - line * 3u)];
    }
    sums[thread] = here;
    workgroupBarrier();
    {
      let with1 = sums[thread] + select(0u, sums[max(thread, 1u) - 1u], thread >= 1u);
      workgroupBarrier();
      sums[thread] = with1;
      workgroupBarrier();
// … 6 more of these 4 lines (001079a7), and
      let with128 = sums[thread] + select(0u, sums[max(thread, 128u) - 128u], thread >= 128u);
      workgroupBarrier();
      sums[thread] = with128;
      workgroupBarrier();
    }
    let up_to = carry + sums[thread];
    if (up_to > wanted && up_to - here <= wanted) {
      found[0] = start + thread;
      found[1] = wanted - (up_to - here);
    }
    carry += sums[255];
    workgroupBarrier();
  }
  let begin = found[0] * 16384u;
  let end = min(params.v[1].x, begin + 16384u);
  let among = found[1];
  atomicStore(&rows[thread], 0u);
  workgroupBarrier();
  for (var i = begin + thread; i < end; i += 1024u) {
    let key0 = key_of(b0[params.v[1].y + line * params.v[1].x + min(i + 0u, end - 1u)], params.v[0].y);
    let key256 = key_of(b0[params.v[1].y + line * params.v[1].x + min(i + 256u, end - 1u)], params.v[0].y);
    let key512 = key_of(b0[params.v[1].y + line * params.v[1].x + min(i + 512u, end - 1u)], params.v[0].y);
    let key768 = key_of(b0[params.v[1].y + line * params.v[1].x + min(i + 768u, end - 1u)], params.v[0].y);
    if (i + 0u < end && key0 == known) { atomicAdd(&rows[(i + 0u - begin) / 256u], 1u); }
    if (i + 256u < end && key256 == known) { atomicAdd(&rows[(i + 256u - begin) / 256u], 1u); }
    if (i + 512u < end && key512 == known) { atomicAdd(&rows[(i + 512u - begin) / 256u], 1u); }
    if (i + 768u < end && key768 == known) { atomicAdd(&rows[(i + 768u - begin) / 256u], 1u); }
  }
  workgroupBarrier();
  let in_row = atomicLoad(&rows[thread]);
  sums[thread] = in_row;
  workgroupBarrier();
  {
    let with1 = sums[thread] + select(0u, sums[max(thread, 1u) - 1u], thread >= 1u);
    workgroupBarrier();
    sums[thread] = with1;
    workgroupBarrier();
// … 6 more of these 4 lines (cf271037), and
    let with128 = sums[thread] + select(0u, sums[max(thread, 128u) - 128u], thread >= 128u);
    workgroupBarrier();
    sums[thread] = with128;
    workgroupBarrier();
  }
  let rows_up_to = sums[thread];
  if (rows_up_to > among && rows_up_to - in_row <= among) {
    found[2] = thread;
    found[3] = among - (rows_up_to - in_row);
  }
  workgroupBarrier();
  let at = begin + found[2] * 256u + thread;
  var alike = 0u;
  if (at < end) {
    if (key_of(b0[params.v[1].y + line * params.v[1].x + at], params.v[0].y) == known) { alike = 1u; }
  }
  sums[thread] = alike;
  workgroupBarrier();
  {
    let with1 = sums[thread] + select(0u, sums[max(thread, 1u) - 1u], thread >= 1u);
    workgroupBarrier();
    sums[thread] = with1;
    workgroupBarrier();
// … 6 more of these 4 lines (cf271037), and
    let with128 = sums[thread] + select(0u, sums[max(thread, 128u) - 128u], thread >= 128u);
    workgroupBarrier();
    sums[thread] = with128;
    workgroupBarrier();
  }
  if (alike == 1u && sums[thread] == found[3] + 1u) { b4[group] = at; }
}

// ---- the first of a line: topk, 13 workgroups of 256, 11 words
// selection
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
@group(0) @binding(3) var<storage, read_write> b2: array<u32>;
var<workgroup> counts: array<atomic<u32>, 256>;
var<workgroup> sums: array<u32, 256>;
var<workgroup> found: array<u32, 2>;
var<workgroup> less: array<atomic<u32>, 1024>;
var<workgroup> alike: array<atomic<u32>, 1024>;
fn key_of(w: u32, flip: u32) -> u32 {
  return tern_sort_key(bitcast<f32>(w)) ^ flip;
}
  if (group >= params.v[0].z * params.v[0].w) { return; }
  let line = group / params.v[0].w;
  let part = group - line * params.v[0].w;
  let each = params.v[1].x / params.v[0].w;
  let longer = params.v[1].x - each * params.v[0].w;
  let begin = line * params.v[1].x + part * each + min(part, longer);
  let end = begin + each + select(0u, 1u, part < longer);
  let last = end - 1u;
  var known = u32(0);
  var mask = u32(0);
  var wanted = params.v[1].y;
  for (var shift = 24u; shift < 32u; shift -= 8u) {
    atomicStore(&counts[thread], 0u);
    workgroupBarrier();
    for (var i = begin + thread; i < end; i += 1024u) {
      let key0 = key_of(b0[params.v[2].x + min(i + 0u, last)], params.v[0].y);
      let key256 = key_of(b0[params.v[2].x + min(i + 256u, last)], params.v[0].y);
      let key512 = key_of(b0[params.v[2].x + min(i + 512u, last)], params.v[0].y);
      let key768 = key_of(b0[params.v[2].x + min(i + 768u, last)], params.v[0].y);
      if (i + 0u < end && (key0 & mask) == known) { atomicAdd(&counts[u32(key0 >> shift) & 255u], 1u); }
      if (i + 256u < end && (key256 & mask) == known) { atomicAdd(&counts[u32(key256 >> shift) & 255u], 1u); }
      if (i + 512u < end && (key512 & mask) == known) { atomicAdd(&counts[u32(key512 >> shift) & 255u], 1u); }
      if (i + 768u < end && (key768 & mask) == known) { atomicAdd(&counts[u32(key768 >> shift) & 255u], 1u); }
    }
    workgroupBarrier();
    let here = atomicLoad(&counts[thread]);
    sums[thread] = here;
    workgroupBarrier();
    {
      let with1 = sums[thread] + select(0u, sums[max(thread, 1u) - 1u], thread >= 1u);
      workgroupBarrier();
      sums[thread] = with1;
      workgroupBarrier();
// … 6 more of these 4 lines (001079a7), and
      let with128 = sums[thread] + select(0u, sums[max(thread, 128u) - 128u], thread >= 128u);
      workgroupBarrier();
      sums[thread] = with128;
      workgroupBarrier();
    }
    let up_to = sums[thread];
    if (up_to >= wanted && up_to - here < wanted) {
      found[0] = thread;
      found[1] = wanted - (up_to - here);
    }
    workgroupBarrier();
    known = known | (u32(found[0]) << shift);
    mask = mask | (u32(255) << shift);
    wanted = found[1];
    workgroupBarrier();
  }
  for (var i = thread; i < params.v[1].w; i += 256u) {
    atomicStore(&less[i], 0u);
    atomicStore(&alike[i], 0u);
  }
  workgroupBarrier();
  for (var i = begin + thread; i < end; i += 1024u) {
    let key0 = key_of(b0[params.v[2].x + min(i + 0u, last)], params.v[0].y);
    let key256 = key_of(b0[params.v[2].x + min(i + 256u, last)], params.v[0].y);
    let key512 = key_of(b0[params.v[2].x + min(i + 512u, last)], params.v[0].y);
    let key768 = key_of(b0[params.v[2].x + min(i + 768u, last)], params.v[0].y);
    if (i + 0u < end) {
      let at = i + 0u - begin;
      if (key0 < known) { atomicOr(&less[at >> 5u], 1u << (at & 31u)); }
      if (key0 == known) { atomicOr(&alike[at >> 5u], 1u << (at & 31u)); }
    }
// … 2 more of these 5 lines (4f41e4c5), and
    if (i + 768u < end) {
      let at = i + 768u - begin;
      if (key768 < known) { atomicOr(&less[at >> 5u], 1u << (at & 31u)); }
      if (key768 == known) { atomicOr(&alike[at >> 5u], 1u << (at & 31u)); }
    }
  }
  workgroupBarrier();
  // An invocation has params.v[1].z words. Of the elements alike only the first `wanted` count.
  var before = 0u;
  var like = 0u;
  for (var j = 0u; j < params.v[1].z; j += 1u) {
    before += countOneBits(atomicLoad(&less[thread * params.v[1].z + j]));
    like += countOneBits(atomicLoad(&alike[thread * params.v[1].z + j]));
  }
  sums[thread] = like;
  workgroupBarrier();
  {
    let with1 = sums[thread] + select(0u, sums[max(thread, 1u) - 1u], thread >= 1u);
    workgroupBarrier();
    sums[thread] = with1;
    workgroupBarrier();
// … 6 more of these 4 lines (cf271037), and
    let with128 = sums[thread] + select(0u, sums[max(thread, 128u) - 128u], thread >= 128u);
    workgroupBarrier();
    sums[thread] = with128;
    workgroupBarrier();
  }
  var like_before = sums[thread] - like;
  workgroupBarrier();
  let taken = min(like_before + like, wanted) - min(like_before, wanted);
  sums[thread] = before + taken;
  workgroupBarrier();
  {
    let with1 = sums[thread] + select(0u, sums[max(thread, 1u) - 1u], thread >= 1u);
    workgroupBarrier();
    sums[thread] = with1;
    workgroupBarrier();
// … 6 more of these 4 lines (cf271037), and
    let with128 = sums[thread] + select(0u, sums[max(thread, 128u) - 128u], thread >= 128u);
    workgroupBarrier();
    sums[thread] = with128;
    workgroupBarrier();
  }
  var to = group * params.v[1].y + sums[thread] - (before + taken);
  for (var j = 0u; j < params.v[1].z; j += 1u) {
    let word = thread * params.v[1].z + j;
    let likes = atomicLoad(&alike[word]);
    var either = atomicLoad(&less[word]) | likes;
    for (; either != 0u;) {
      let bit = countTrailingZeros(either);
      either = either & (either - 1u);
      var take = true;
      if (((likes >> bit) & 1u) != 0u) {
        take = like_before < wanted;
        like_before += 1u;
      }
      if (take) {
        let source = begin + word * 32u + bit;
        b1[params.v[2].y + to] = b0[params.v[2].x + source];
        b2[params.v[2].z + to] = source - line * params.v[1].x;
        to += 1u;
      }
    }
  }
}

// ---- scatter: scatter_add, 1 workgroups of 256, 18 words
// scatter
@group(0) @binding(1) var<storage, read_write> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> b1: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> b2: array<u32>;
@group(0) @binding(4) var<storage, read_write> b3: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read> b4: array<vec4<u32>>;
fn combine(v0: f32, v1: f32) -> f32 {
  let v2 = (v0 + v1);
  return v2;
}
  let t = group * 256u + thread;
  if (t >= params.v[0].y) { return; }
  let entry = t / params.v[0].z;
  let k = (t - entry * params.v[0].z) * 4u;
  let wanted = entry + params.v[0].w;
  let w0 = (params.v[4].x + k + wanted * params.v[4].y) / 4u;
  let q1 = b4[w0 + 0u];
  let x2 = bitcast<f32>(q1.x);
  let x3 = bitcast<f32>(q1.y);
  let x4 = bitcast<f32>(q1.z);
  let x5 = bitcast<f32>(q1.w);
  var acc0 = x2;
  var acc1 = x3;
  var acc2 = x4;
  var acc3 = x5;
  for (var j = params.v[1].x; j < params.v[1].y; j += 1u) {
    let index = bitcast<i32>(b2[params.v[3].y + j]);
    let place = bitcast<u32>(index) + select(0u, params.v[1].z, index < 0);
    if (place >= params.v[1].z) {
      if (entry == 0u) {
        if (atomicCompareExchangeWeak(&b3[0], 0u, params.v[3].w).exchanged) { atomicStore(&b3[1], u32(index)); }
      }
    }
    if (place == wanted) {
      let w6 = (params.v[2].w + k + j * params.v[3].x) / 4u;
      let q7 = b1[w6 + 0u];
      let x8 = bitcast<f32>(q7.x);
      let x9 = bitcast<f32>(q7.y);
      let x10 = bitcast<f32>(q7.z);
      let x11 = bitcast<f32>(q7.w);
      acc0 = combine(acc0, x8);
      acc1 = combine(acc1, x9);
      acc2 = combine(acc2, x10);
      acc3 = combine(acc3, x11);
    }
  }
  let w12 = (params.v[2].y + k + wanted * params.v[2].z) / 4u;
  b0[w12 + 0u] = vec4<u32>(bitcast<u32>(acc0), bitcast<u32>(acc1), bitcast<u32>(acc2), bitcast<u32>(acc3));
}

// ---- scatter to many: scatter_add, 12 workgroups of 256, 8 words
// scatter, reading the table
@group(0) @binding(1) var<storage, read_write> b0: array<u32>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read_write> b2: array<atomic<u32>>;
  let t = group * 256u + thread;
  if (t >= params.v[0].y) { return; }
  let index = bitcast<i32>(b1[params.v[1].y + t]);
  var place = bitcast<u32>(index) + select(0u, params.v[0].z, index < 0);
  if (place >= params.v[0].z) {
    if (atomicCompareExchangeWeak(&b2[0], 0u, params.v[1].w).exchanged) { atomicStore(&b2[1], u32(index)); }
    place = params.v[0].z;
  }
  b0[params.v[1].x + t] = bitcast<u32>(bitcast<i32>(place));
}

// ---- scatter to many: scatter_add, 1 workgroups of 256, 14 words
// scatter, sorted
@group(0) @binding(1) var<storage, read_write> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> b1: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> b2: array<u32>;
@group(0) @binding(4) var<storage, read> b3: array<u32>;
fn combine(v0: f32, v1: f32) -> f32 {
  let v2 = (v0 + v1);
  return v2;
}
  let t = group * 256u + thread;
  if (t >= params.v[0].y) { return; }
  let wanted = t / params.v[0].z;
  let k = (t - wanted * params.v[0].z) * 4u;
  let keys = params.v[3].x + 0u;
  let places = params.v[3].y + 0u;
  var low = 0u;
  var low_high = params.v[0].w;
  for (; low < low_high;) {
    let low_middle = (low + low_high) / 2u;
    if (bitcast<u32>(bitcast<i32>(b2[keys + low_middle])) < wanted) {
      low = low_middle + 1u;
    } else {
      low_high = low_middle;
    }
  }
  low = max(low, params.v[1].x);
  let w0 = (params.v[2].x + k + wanted * params.v[2].y) / 4u;
  let q1 = b0[w0 + 0u];
  let x2 = bitcast<f32>(q1.x);
  let x3 = bitcast<f32>(q1.y);
  let x4 = bitcast<f32>(q1.z);
  let x5 = bitcast<f32>(q1.w);
  var acc0 = x2;
  var acc1 = x3;
  var acc2 = x4;
  var acc3 = x5;
  for (; low < params.v[1].y; low += 1u) {
    if (bitcast<u32>(bitcast<i32>(b2[keys + low])) != wanted) { break; }
    let j = bitcast<u32>(bitcast<i32>(b3[places + low]));
    let w6 = (params.v[2].z + k + j * params.v[2].w) / 4u;
    let q7 = b1[w6 + 0u];
    let x8 = bitcast<f32>(q7.x);
    let x9 = bitcast<f32>(q7.y);
    let x10 = bitcast<f32>(q7.z);
    let x11 = bitcast<f32>(q7.w);
    acc0 = combine(acc0, x8);
    acc1 = combine(acc1, x9);
    acc2 = combine(acc2, x10);
    acc3 = combine(acc3, x11);
  }
  let w12 = (params.v[2].x + k + wanted * params.v[2].y) / 4u;
  b0[w12 + 0u] = vec4<u32>(bitcast<u32>(acc0), bitcast<u32>(acc1), bitcast<u32>(acc2), bitcast<u32>(acc3));
}

// ---- scatter of rows to more: scatter_add, 12 workgroups of 256, 15 words
// scatter, by entry
@group(0) @binding(1) var<storage, read_write> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> b1: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> b2: array<u32>;
@group(0) @binding(4) var<storage, read> b3: array<u32>;
fn combine(v0: f32, v1: f32) -> f32 {
  let v2 = (v0 + v1);
  return v2;
}
  let t = group * 256u + thread;
  if (t >= params.v[0].y) { return; }
  let entry = t / params.v[0].z;
  let k = (t - entry * params.v[0].z) * 4u;
  let keys = params.v[3].y + 0u;
  let places = params.v[3].z + 0u;
  let before = max(entry, 1u) - 1u;
  let wanted = bitcast<u32>(bitcast<i32>(b2[keys + entry]));
  if (wanted >= params.v[1].z || (entry > 0u && bitcast<u32>(bitcast<i32>(b2[keys + before])) == wanted)) { return; }
  var low = entry;
  let w0 = (params.v[2].y + k + wanted * params.v[2].z) / 4u;
  let q1 = b0[w0 + 0u];
  let x2 = bitcast<f32>(q1.x);
  let x3 = bitcast<f32>(q1.y);
  let x4 = bitcast<f32>(q1.z);
  let x5 = bitcast<f32>(q1.w);
  var acc0 = x2;
  var acc1 = x3;
  var acc2 = x4;
  var acc3 = x5;
  for (; low < params.v[1].y; low += 1u) {
    if (bitcast<u32>(bitcast<i32>(b2[keys + low])) != wanted) { break; }
    let j = bitcast<u32>(bitcast<i32>(b3[places + low]));
    let w6 = (params.v[2].w + k + j * params.v[3].x) / 4u;
    let q7 = b1[w6 + 0u];
    let x8 = bitcast<f32>(q7.x);
    let x9 = bitcast<f32>(q7.y);
    let x10 = bitcast<f32>(q7.z);
    let x11 = bitcast<f32>(q7.w);
    acc0 = combine(acc0, x8);
    acc1 = combine(acc1, x9);
    acc2 = combine(acc2, x10);
    acc3 = combine(acc3, x11);
  }
  let w12 = (params.v[2].y + k + wanted * params.v[2].z) / 4u;
  b0[w12 + 0u] = vec4<u32>(bitcast<u32>(acc0), bitcast<u32>(acc1), bitcast<u32>(acc2), bitcast<u32>(acc3));
}

// ---- scatter of many to few: scatter_add, 9 workgroups of 256, 14 words
// scatter, fetched
@group(0) @binding(1) var<storage, read_write> b0: array<u32>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read> b2: array<u32>;
@group(0) @binding(4) var<storage, read> b3: array<u32>;
var<workgroup> values: array<f32, 1024>;
fn combine(v0: f32, v1: f32) -> f32 {
  let v2 = (v0 + v1);
  return v2;
}
  if (group >= params.v[0].y) { return; }
  let tiles = (params.v[0].z + 4u - 1u) / 4u;
  let wanted = group / tiles;
  let column = thread % 4u;
  let row = thread / 4u;
  let stands = (group - wanted * tiles) * 4u + column;
  let k = min(stands, params.v[0].z - 1u);
  let keys = params.v[3].x + 0u;
  let places = params.v[3].y + 0u;
  var low = 0u;
  var low_high = params.v[0].w;
  for (; low < low_high;) {
    let low_middle = (low + low_high) / 2u;
    if (bitcast<u32>(bitcast<i32>(b2[keys + low_middle])) < wanted) {
      low = low_middle + 1u;
    } else {
      low_high = low_middle;
    }
  }
  var over = 0u;
  var over_high = params.v[0].w;
  for (; over < over_high;) {
    let over_middle = (over + over_high) / 2u;
    if (bitcast<u32>(bitcast<i32>(b2[keys + over_middle])) < wanted + 1u) {
      over = over_middle + 1u;
    } else {
      over_high = over_middle;
    }
  }
  let first = max(low, params.v[1].x);
  let end = min(over, params.v[1].y);
  let x0 = bitcast<f32>(b0[params.v[2].x + k + wanted * params.v[2].y]);
  var acc0 = x0;
  var start = first;
  var count = 0u;  // of the entries fetched before
  for (;;) {
    let entry0 = start + row + 0u * 64u;
    var value0 = f32();
    if (entry0 < end) {
      let j = bitcast<u32>(bitcast<i32>(b3[places + entry0]));
      let x1 = bitcast<f32>(b1[params.v[2].z + k + j * params.v[2].w]);
      value0 = x1;
    }
// … 2 more of these 7 lines (b1520bd9), and
    let entry3 = start + row + 3u * 64u;
    var value3 = f32();
    if (entry3 < end) {
      let j = bitcast<u32>(bitcast<i32>(b3[places + entry3]));
      let x1 = bitcast<f32>(b1[params.v[2].z + k + j * params.v[2].w]);
      value3 = x1;
    }
    if (row == 0u) {
      var i = 0u;
      if (count >= 16u) {
        var next0 = values[0u * 4u + column];
// … 14 more of these 1 lines (d4493705), and
        var next15 = values[15u * 4u + column];
        for (i = 16u; i + 16u <= count; i += 16u) {
          let after0 = values[(i + 0u) * 4u + column];
// … 14 more of these 1 lines (029b04b3), and
          let after15 = values[(i + 15u) * 4u + column];
          acc0 = combine(acc0, next0);
// … 14 more of these 1 lines (c5e136db), and
          acc0 = combine(acc0, next15);
          next0 = after0;
// … 14 more of these 1 lines (a148f0d3), and
          next15 = after15;
        }
        acc0 = combine(acc0, next0);
// … 14 more of these 1 lines (6bf36afb), and
        acc0 = combine(acc0, next15);
      }
      for (; i < count; i += 1u) { acc0 = combine(acc0, values[i * 4u + column]); }
    }
    workgroupBarrier();
    if (start >= end) { break; }
    values[thread + 0u * 256u] = value0;
    values[thread + 1u * 256u] = value1;
    values[thread + 2u * 256u] = value2;
    values[thread + 3u * 256u] = value3;
    count = min(64u * 4u, end - start);
    start += 64u * 4u;
    workgroupBarrier();
  }
  if (row == 0u && stands < params.v[0].z) {
    let to2 = params.v[2].x + k + wanted * params.v[2].y;
    b0[to2] = bitcast<u32>(acc0);
  }
}

// ---- scatter with a table for each line, whose entries lie together: scatter_add, 64 workgroups of 256, 16 words
// scatter, lines by teams
@group(0) @binding(1) var<storage, read_write> b0: array<u32>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read> b2: array<u32>;
@group(0) @binding(4) var<storage, read_write> b3: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read> b4: array<u32>;
var<workgroup> sums: array<f32, 1032>;
var<workgroup> named: array<vec4<u32>, 64>;
var<workgroup> numbers: array<f32, 256>;
fn combine(v0: f32, v1: f32) -> f32 {
  let v2 = (v0 + v1);
  return v2;
}
  let column = thread % 1u;
  let row = thread / 1u;
  let line = group * 1u + column;
  let inside = line < params.v[0].w;
  let own = thread / 256u;
  let team = thread % 256u / 32u;
  let here = thread & 0xffffffe0u;
  let before = (1u << (thread & 31u)) - 1u;
  let mine = column * 256u + row;
  if (inside) {
    for (var k = row; k < params.v[0].z; k += 256u) {
      let x0 = bitcast<f32>(b4[params.v[3].z + line * params.v[3].w + k]);
      sums[column * 1032u + k] = x0;
    }
  }
  var place0 = 0x80000000u;
  var value0 = f32();
// … 2 more of these 2 lines (0dfb45f3), and
  var place3 = 0x80000000u;
  var value3 = f32();
  place0 = 0x80000000u;
  {
    let j = 0u + 0u * 256u + row;
    if (inside && j < params.v[0].y) {
      let index = bitcast<i32>(b2[params.v[2].z + line * params.v[2].w + j]);
      place0 = bitcast<u32>(index) + select(0u, params.v[0].z, index < 0);
      let x2 = bitcast<f32>(b1[params.v[2].x + line * params.v[2].y + j]);
      value0 = x2;
    }
  }
// … 2 more of these 10 lines (fa82311b), and
  place3 = 0x80000000u;
  {
    let j = 0u + 3u * 256u + row;
    if (inside && j < params.v[0].y) {
      let index = bitcast<i32>(b2[params.v[2].z + line * params.v[2].w + j]);
      place3 = bitcast<u32>(index) + select(0u, params.v[0].z, index < 0);
      let x5 = bitcast<f32>(b1[params.v[2].x + line * params.v[2].y + j]);
      value3 = x5;
    }
  }
  for (var start = 0u; start < params.v[0].y; start += 4u * 256u) {
    let place_0 = place0;
    let value_0 = value0;
// … 2 more of these 2 lines (fea5f5d1), and
    let place_3 = place3;
    let value_3 = value3;
    place0 = 0x80000000u;
    {
      let j = start + 4u * 256u + 0u * 256u + row;
      if (inside && j < params.v[0].y) {
        let index = bitcast<i32>(b2[params.v[2].z + line * params.v[2].w + j]);
        place0 = bitcast<u32>(index) + select(0u, params.v[0].z, index < 0);
        let x2 = bitcast<f32>(b1[params.v[2].x + line * params.v[2].y + j]);
        value0 = x2;
      }
    }
// … 2 more of these 10 lines (ad0271df), and
    place3 = 0x80000000u;
    {
      let j = start + 4u * 256u + 3u * 256u + row;
      if (inside && j < params.v[0].y) {
        let index = bitcast<i32>(b2[params.v[2].z + line * params.v[2].w + j]);
        place3 = bitcast<u32>(index) + select(0u, params.v[0].z, index < 0);
        let x5 = bitcast<f32>(b1[params.v[2].x + line * params.v[2].y + j]);
        value3 = x5;
      }
    }
    if (place_0 >= params.v[0].z && place_0 != 0x80000000u) {
      let index = bitcast<i32>(place_0 - select(0u, params.v[0].z, place_0 > 0x80000000u));
      if (atomicCompareExchangeWeak(&b3[0], 0u, params.v[3].y).exchanged) { atomicStore(&b3[1], u32(index)); }
    }
    named[mine / 4u][mine % 4u] = place_0;
    numbers[mine] = value_0;
    workgroupBarrier();
    {
      let place = named[thread / 4u][thread % 4u];
      var same = 0u;
      {
        let four = named[here / 4u + 0u];
        same |= select(0u, 1u << (0u * 4u + 0u), four[0] == place);
        same |= select(0u, 1u << (0u * 4u + 1u), four[1] == place);
        same |= select(0u, 1u << (0u * 4u + 2u), four[2] == place);
        same |= select(0u, 1u << (0u * 4u + 3u), four[3] == place);
      }
// … 6 more of these 7 lines (e4631c2a), and
      {
        let four = named[here / 4u + 7u];
        same |= select(0u, 1u << (7u * 4u + 0u), four[0] == place);
        same |= select(0u, 1u << (7u * 4u + 1u), four[1] == place);
        same |= select(0u, 1u << (7u * 4u + 2u), four[2] == place);
        same |= select(0u, 1u << (7u * 4u + 3u), four[3] == place);
      }
      let first = place < params.v[0].z && (same & before) == 0u;
      if (first && team == 0u) {
        let at = own * 1032u + place;
        var sum = combine(sums[at], numbers[thread]);
        for (same &= same - 1u; same != 0u; same &= same - 1u) {
          sum = combine(sum, numbers[here + firstTrailingBit(same)]);
        }
        sums[at] = sum;
      }
      workgroupBarrier();
// … 6 more of these 9 lines (687803aa), and
      if (first && team == 7u) {
        let at = own * 1032u + place;
        var sum = combine(sums[at], numbers[thread]);
        for (same &= same - 1u; same != 0u; same &= same - 1u) {
          sum = combine(sum, numbers[here + firstTrailingBit(same)]);
        }
        sums[at] = sum;
      }
      workgroupBarrier();
    }
    if (place_1 >= params.v[0].z && place_1 != 0x80000000u) {
      let index = bitcast<i32>(place_1 - select(0u, params.v[0].z, place_1 > 0x80000000u));
      if (atomicCompareExchangeWeak(&b3[0], 0u, params.v[3].y).exchanged) { atomicStore(&b3[1], u32(index)); }
    }
    named[mine / 4u][mine % 4u] = place_1;
    numbers[mine] = value_1;
    workgroupBarrier();
    {
      let place = named[thread / 4u][thread % 4u];
      var same = 0u;
      {
        let four = named[here / 4u + 0u];
        same |= select(0u, 1u << (0u * 4u + 0u), four[0] == place);
        same |= select(0u, 1u << (0u * 4u + 1u), four[1] == place);
        same |= select(0u, 1u << (0u * 4u + 2u), four[2] == place);
        same |= select(0u, 1u << (0u * 4u + 3u), four[3] == place);
      }
// … 6 more of these 7 lines (e4631c2a), and
      {
        let four = named[here / 4u + 7u];
        same |= select(0u, 1u << (7u * 4u + 0u), four[0] == place);
        same |= select(0u, 1u << (7u * 4u + 1u), four[1] == place);
        same |= select(0u, 1u << (7u * 4u + 2u), four[2] == place);
        same |= select(0u, 1u << (7u * 4u + 3u), four[3] == place);
      }
      let first = place < params.v[0].z && (same & before) == 0u;
      if (first && team == 0u) {
        let at = own * 1032u + place;
        var sum = combine(sums[at], numbers[thread]);
        for (same &= same - 1u; same != 0u; same &= same - 1u) {
          sum = combine(sum, numbers[here + firstTrailingBit(same)]);
        }
        sums[at] = sum;
      }
      workgroupBarrier();
// … 6 more of these 9 lines (687803aa), and
      if (first && team == 7u) {
        let at = own * 1032u + place;
        var sum = combine(sums[at], numbers[thread]);
        for (same &= same - 1u; same != 0u; same &= same - 1u) {
          sum = combine(sum, numbers[here + firstTrailingBit(same)]);
        }
        sums[at] = sum;
      }
      workgroupBarrier();
    }
    if (place_2 >= params.v[0].z && place_2 != 0x80000000u) {
      let index = bitcast<i32>(place_2 - select(0u, params.v[0].z, place_2 > 0x80000000u));
      if (atomicCompareExchangeWeak(&b3[0], 0u, params.v[3].y).exchanged) { atomicStore(&b3[1], u32(index)); }
    }
    named[mine / 4u][mine % 4u] = place_2;
    numbers[mine] = value_2;
    workgroupBarrier();
    {
      let place = named[thread / 4u][thread % 4u];
      var same = 0u;
      {
        let four = named[here / 4u + 0u];
        same |= select(0u, 1u << (0u * 4u + 0u), four[0] == place);
        same |= select(0u, 1u << (0u * 4u + 1u), four[1] == place);
        same |= select(0u, 1u << (0u * 4u + 2u), four[2] == place);
        same |= select(0u, 1u << (0u * 4u + 3u), four[3] == place);
      }
// … 6 more of these 7 lines (e4631c2a), and
      {
        let four = named[here / 4u + 7u];
        same |= select(0u, 1u << (7u * 4u + 0u), four[0] == place);
        same |= select(0u, 1u << (7u * 4u + 1u), four[1] == place);
        same |= select(0u, 1u << (7u * 4u + 2u), four[2] == place);
        same |= select(0u, 1u << (7u * 4u + 3u), four[3] == place);
      }
      let first = place < params.v[0].z && (same & before) == 0u;
      if (first && team == 0u) {
        let at = own * 1032u + place;
        var sum = combine(sums[at], numbers[thread]);
        for (same &= same - 1u; same != 0u; same &= same - 1u) {
          sum = combine(sum, numbers[here + firstTrailingBit(same)]);
        }
        sums[at] = sum;
      }
      workgroupBarrier();
// … 6 more of these 9 lines (687803aa), and
      if (first && team == 7u) {
        let at = own * 1032u + place;
        var sum = combine(sums[at], numbers[thread]);
        for (same &= same - 1u; same != 0u; same &= same - 1u) {
          sum = combine(sum, numbers[here + firstTrailingBit(same)]);
        }
        sums[at] = sum;
      }
      workgroupBarrier();
    }
    if (place_3 >= params.v[0].z && place_3 != 0x80000000u) {
      let index = bitcast<i32>(place_3 - select(0u, params.v[0].z, place_3 > 0x80000000u));
      if (atomicCompareExchangeWeak(&b3[0], 0u, params.v[3].y).exchanged) { atomicStore(&b3[1], u32(index)); }
    }
    named[mine / 4u][mine % 4u] = place_3;
    numbers[mine] = value_3;
    workgroupBarrier();
    {
      let place = named[thread / 4u][thread % 4u];
      var same = 0u;
      {
        let four = named[here / 4u + 0u];
        same |= select(0u, 1u << (0u * 4u + 0u), four[0] == place);
        same |= select(0u, 1u << (0u * 4u + 1u), four[1] == place);
        same |= select(0u, 1u << (0u * 4u + 2u), four[2] == place);
        same |= select(0u, 1u << (0u * 4u + 3u), four[3] == place);
      }
// … 6 more of these 7 lines (e4631c2a), and
      {
        let four = named[here / 4u + 7u];
        same |= select(0u, 1u << (7u * 4u + 0u), four[0] == place);
        same |= select(0u, 1u << (7u * 4u + 1u), four[1] == place);
        same |= select(0u, 1u << (7u * 4u + 2u), four[2] == place);
        same |= select(0u, 1u << (7u * 4u + 3u), four[3] == place);
      }
      let first = place < params.v[0].z && (same & before) == 0u;
      if (first && team == 0u) {
        let at = own * 1032u + place;
        var sum = combine(sums[at], numbers[thread]);
        for (same &= same - 1u; same != 0u; same &= same - 1u) {
          sum = combine(sum, numbers[here + firstTrailingBit(same)]);
        }
        sums[at] = sum;
      }
      workgroupBarrier();
// … 6 more of these 9 lines (687803aa), and
      if (first && team == 7u) {
        let at = own * 1032u + place;
        var sum = combine(sums[at], numbers[thread]);
        for (same &= same - 1u; same != 0u; same &= same - 1u) {
          sum = combine(sum, numbers[here + firstTrailingBit(same)]);
        }
        sums[at] = sum;
      }
      workgroupBarrier();
    }
  }
  if (inside) {
    for (var k = row; k < params.v[0].z; k += 256u) {
      let to1 = params.v[1].z + line * params.v[1].w + k;
      b0[to1] = bitcast<u32>(sums[column * 1032u + k]);
    }
  }
}

// ---- scatter with a long table for each line, in subgroups: scatter_add, 64 workgroups of 512, 16 words
// scatter, lines in subgroups
@group(0) @binding(1) var<storage, read_write> b0: array<u32>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read> b2: array<u32>;
@group(0) @binding(4) var<storage, read_write> b3: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read> b4: array<u32>;
var<workgroup> results: array<f32, 4104>;
var<workgroup> numbers: array<f32, 512>;
var<workgroup> tags: array<atomic<u32>, 1024>;
var<workgroup> most: array<atomic<u32>, 2>;
var<workgroup> turns_of_all: array<u32, 1>;
var<workgroup> drawn: array<atomic<u32>, 1>;
var<workgroup> sums: array<vec2<u32>, 1>;
fn combine(v0: f32, v1: f32) -> f32 {
  let v2 = (v0 + v1);
  return v2;
}
        @builtin(subgroup_invocation_id) lane: u32, @builtin(subgroup_size) lanes: u32) {
  if (thread == 0u) {
    atomicStore(&drawn[0], 0u);
    sums[0] = vec2<u32>(lanes, 0u);
  }
  let drawn_by_thread_0 = workgroupUniformLoad(&sums[0]);
  let width = drawn_by_thread_0.x;  // for conditions around barriers
  var drawn_by_first = 0u;
  if (lane == 0u) { drawn_by_first = atomicAdd(&drawn[0], lanes); }
  let first_slot = subgroupBroadcast(drawn_by_first, 0u);
  let slot = first_slot + lane;
  let part = min(width, 32u);
  let in_part = lane & (part - 1u);
  let column = slot % 1u;
  let row = slot / 1u;
  let line = group * 1u + column;
  let inside = line < params.v[0].w;
  let unit = 1u << (slot / 32u);
  let lanes_before = (1u << in_part) - 1u;
  var place0 = 0x80000000u;
  var value0 = f32();
  place0 = 0x80000000u;
  {
    let j = 0u + 0u * 512u + row;
    if (inside && j < params.v[0].y) {
      let index = bitcast<i32>(b2[params.v[2].z + line * params.v[2].w + j]);
      place0 = bitcast<u32>(index) + select(0u, params.v[0].z, index < 0);
      let x2 = bitcast<f32>(b1[params.v[2].x + line * params.v[2].y + j]);
      value0 = x2;
    }
  }
  if (inside) {
    for (var begin = row; begin < params.v[0].z; begin += 4u * 512u) {
      var old0 = f32();
      {
        let k = min(begin + 0u * 512u, params.v[0].z - 1u);
        let x0 = bitcast<f32>(b4[params.v[3].z + line * params.v[3].w + k]);
        old0 = x0;
      }
// … 2 more of these 6 lines (307b5308), and
      var old3 = f32();
      {
        let k = min(begin + 3u * 512u, params.v[0].z - 1u);
        let x0 = bitcast<f32>(b4[params.v[3].z + line * params.v[3].w + k]);
        old3 = x0;
      }
      if (begin + 0u * 512u < params.v[0].z) { results[column * 4104u + begin + 0u * 512u] = old0; }
      if (begin + 1u * 512u < params.v[0].z) { results[column * 4104u + begin + 1u * 512u] = old1; }
      if (begin + 2u * 512u < params.v[0].z) { results[column * 4104u + begin + 2u * 512u] = old2; }
      if (begin + 3u * 512u < params.v[0].z) { results[column * 4104u + begin + 3u * 512u] = old3; }
    }
  }
  for (var i = thread; i < 1024u; i += 512u) { atomicStore(&tags[i], 0u); }
  if (thread < 2u) { atomicStore(&most[thread], 0u); }
  var parity = 0u;
  workgroupBarrier();
  for (var start = 0u; start < params.v[0].y; start += 512u) {
    let place = place0;
    let value = value0;
    place0 = 0x80000000u;
    {
      let j = start + 512u + 0u * 512u + row;
      if (inside && j < params.v[0].y) {
        let index = bitcast<i32>(b2[params.v[2].z + line * params.v[2].w + j]);
        place0 = bitcast<u32>(index) + select(0u, params.v[0].z, index < 0);
        let x2 = bitcast<f32>(b1[params.v[2].x + line * params.v[2].y + j]);
        value0 = x2;
      }
    }
    if (place >= params.v[0].z && place != 0x80000000u) {
      let index = bitcast<i32>(place - select(0u, params.v[0].z, place > 0x80000000u));
      if (atomicCompareExchangeWeak(&b3[0], 0u, params.v[3].y).exchanged) { atomicStore(&b3[1], u32(index)); }
    }
    var alike = subgroupBallot(place < params.v[0].z)[lane >> 5u];
    {
      let voted = place + column * 4096u;
      let bit0 = (voted >> 0u) & 1u;
      alike &= subgroupBallot(bit0 == 1u)[lane >> 5u] ^ (bit0 - 1u);
// … 10 more of these 2 lines (c8d64be3), and
      let bit11 = (voted >> 11u) & 1u;
      alike &= subgroupBallot(bit11 == 1u)[lane >> 5u] ^ (bit11 - 1u);
    }
    let at = column * 4104u + place;
    let tag = at % 1024u;
    let first = place < params.v[0].z && (alike & lanes_before) == 0u;
    if (first) { atomicOr(&tags[tag], unit); }
    numbers[slot] = value;
    workgroupBarrier();
    var my_turn = 0xffffffffu;
    if (first) {
      my_turn = countOneBits(atomicLoad(&tags[tag]) & (unit - 1u)) * (32u / part) + (slot & 31u) / part;
    }
    let turns_of_subgroup = subgroupMax(my_turn + 1u);
    if (lane == 0u) { atomicMax(&most[parity], turns_of_subgroup); }
    if (my_turn == 0u) {
      var sum = combine(results[at], value);
      for (var others = alike & (alike - 1u); others != 0u; others &= others - 1u) {
        sum = combine(sum, numbers[slot - in_part + firstTrailingBit(others)]);
      }
      results[at] = sum;
    }
    workgroupBarrier();
    if (my_turn == 1u) {
      var sum = combine(results[at], value);
      for (var others = alike & (alike - 1u); others != 0u; others &= others - 1u) {
        sum = combine(sum, numbers[slot - in_part + firstTrailingBit(others)]);
      }
      results[at] = sum;
    }
    if (first) { atomicStore(&tags[tag], 0u); }
    if (thread == 0u) {
      turns_of_all[0] = atomicLoad(&most[parity]);
      atomicStore(&most[1u - parity], 0u);
    }
    parity = 1u - parity;
    let turns = workgroupUniformLoad(&turns_of_all[0]);
    for (var turn = 2u; turn < turns; turn += 1u) {
      if (my_turn == turn) {
        var sum = combine(results[at], value);
        for (var others = alike & (alike - 1u); others != 0u; others &= others - 1u) {
          sum = combine(sum, numbers[slot - in_part + firstTrailingBit(others)]);
        }
        results[at] = sum;
      }
      workgroupBarrier();
    }
  }
  workgroupBarrier();
  if (inside) {
    for (var k = row; k < params.v[0].z; k += 512u) {
      let to1 = params.v[1].z + line * params.v[1].w + k;
      b0[to1] = bitcast<u32>(results[column * 4104u + k]);
    }
  }
}

// ---- scatter of integers: scatter_add, 1 workgroups of 256, 13 words
// scatter, integers in tables
@group(0) @binding(1) var<storage, read_write> b0: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read> b2: array<u32>;
@group(0) @binding(4) var<storage, read_write> b3: array<atomic<u32>>;
var<workgroup> sums: array<atomic<u32>, 2048>;
  let line = group / params.v[1].x;
  if (line >= params.v[0].y) { return; }
  let begin = (group - line * params.v[1].x) * params.v[1].y;
  let end = min(begin + params.v[1].y, params.v[0].w);
  let copy = thread & (params.v[1].z - 1u);
  for (var at = thread; at < params.v[0].z * params.v[1].z; at += 256u) {
    atomicStore(&sums[at + 0u * 2048u], 0u);
  }
  workgroupBarrier();
  var place0 = 0x80000000u;
  var value0 = i32();
// … 2 more of these 2 lines (0672c17f), and
  var place3 = 0x80000000u;
  var value3 = i32();
  for (var start = begin; start < end; start += 4u * 256u) {
    place0 = 0x80000000u;
    {
      let j = start + 0u * 256u + thread;
      if (true && j < end) {
        let index = bitcast<i32>(b2[params.v[2].z + j]);
        place0 = bitcast<u32>(index) + select(0u, params.v[0].z, index < 0);
        let x0 = bitcast<i32>(b1[params.v[2].y + j]);
        value0 = x0;
      }
    }
// … 2 more of these 10 lines (16673cc9), and
    place3 = 0x80000000u;
    {
      let j = start + 3u * 256u + thread;
      if (true && j < end) {
        let index = bitcast<i32>(b2[params.v[2].z + j]);
        place3 = bitcast<u32>(index) + select(0u, params.v[0].z, index < 0);
        let x3 = bitcast<i32>(b1[params.v[2].y + j]);
        value3 = x3;
      }
    }
    if (place0 < params.v[0].z) {
      let at = place0 * params.v[1].z + copy;
      atomicAdd(&sums[at], bitcast<u32>(value0));
    }
    if (place0 >= params.v[0].z && place0 != 0x80000000u) {
      let index = bitcast<i32>(place0 - select(0u, params.v[0].z, place0 > 0x80000000u));
      if (atomicCompareExchangeWeak(&b3[0], 0u, params.v[3].x).exchanged) { atomicStore(&b3[1], u32(index)); }
    }
// … 2 more of these 8 lines (23e7ab26), and
    if (place3 < params.v[0].z) {
      let at = place3 * params.v[1].z + copy;
      atomicAdd(&sums[at], bitcast<u32>(value3));
    }
    if (place3 >= params.v[0].z && place3 != 0x80000000u) {
      let index = bitcast<i32>(place3 - select(0u, params.v[0].z, place3 > 0x80000000u));
      if (atomicCompareExchangeWeak(&b3[0], 0u, params.v[3].x).exchanged) { atomicStore(&b3[1], u32(index)); }
    }
  }
  workgroupBarrier();
  for (var place = thread; place < params.v[0].z; place += 256u) {
    var sum = u32();
    for (var c = 0u; c < params.v[1].z; c += 1u) {
      let at = place * params.v[1].z + ((place + c) & (params.v[1].z - 1u));
      sum += atomicLoad(&sums[at]);
    }
    if (sum != u32()) {
      let to = params.v[2].x + place;
      atomicAdd(&b0[to], sum);
    }
  }
}

// ---- scatter of integers to many: scatter_add, 3 workgroups of 256, 10 words
// scatter, integers in memory
@group(0) @binding(1) var<storage, read_write> b0: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read> b2: array<u32>;
@group(0) @binding(4) var<storage, read_write> b3: array<atomic<u32>>;
  var place0 = 0x80000000u;
  var value0 = i32();
  var to0 = 0u;
  {
    let j = (group * 4u + 0u) * 256u + thread;
    if (j < params.v[0].w) {
      let index = bitcast<i32>(b2[params.v[1].w + j]);
      place0 = bitcast<u32>(index) + select(0u, params.v[0].z, index < 0);
      let x0 = bitcast<i32>(b1[params.v[1].z + j]);
      value0 = x0;
      to0 = params.v[1].y + place0;
    }
  }
// … 2 more of these 13 lines (761c041f), and
  var place3 = 0x80000000u;
  var value3 = i32();
  var to3 = 0u;
  {
    let j = (group * 4u + 3u) * 256u + thread;
    if (j < params.v[0].w) {
      let index = bitcast<i32>(b2[params.v[1].w + j]);
      place3 = bitcast<u32>(index) + select(0u, params.v[0].z, index < 0);
      let x3 = bitcast<i32>(b1[params.v[1].z + j]);
      value3 = x3;
      to3 = params.v[1].y + place3;
    }
  }
  if (place0 < params.v[0].z) { atomicAdd(&b0[to0], bitcast<u32>(value0)); }
  if (place0 >= params.v[0].z && place0 != 0x80000000u) {
    let index = bitcast<i32>(place0 - select(0u, params.v[0].z, place0 > 0x80000000u));
    if (atomicCompareExchangeWeak(&b3[0], 0u, params.v[2].y).exchanged) { atomicStore(&b3[1], u32(index)); }
  }
// … 2 more of these 5 lines (be8e3f6e), and
  if (place3 < params.v[0].z) { atomicAdd(&b0[to3], bitcast<u32>(value3)); }
  if (place3 >= params.v[0].z && place3 != 0x80000000u) {
    let index = bitcast<i32>(place3 - select(0u, params.v[0].z, place3 > 0x80000000u));
    if (atomicCompareExchangeWeak(&b3[0], 0u, params.v[2].y).exchanged) { atomicStore(&b3[1], u32(index)); }
  }
}

// ---- scatter of long rows: scatter_add, 1 workgroups of 256, 4 words
// scatter, no entries yet
@group(0) @binding(1) var<storage, read_write> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
  let t = group * 256u + thread;
  if (t <= params.v[0].y) { b0[t] = 0u; }
  if (t == params.v[0].y) { b1[2u * params.v[0].y] = 0u; }
}

// ---- scatter of long rows: scatter_add, 12 workgroups of 256, 11 words
// scatter, reading the table into buckets
@group(0) @binding(1) var<storage, read_write> b0: array<u32>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read_write> b2: array<atomic<u32>>;
@group(0) @binding(4) var<storage, read_write> b3: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read_write> b4: array<u32>;
@group(0) @binding(6) var<storage, read_write> b5: array<u32>;
  let t = group * 256u + thread;
  if (t >= params.v[0].y) { return; }
  let index = bitcast<i32>(b1[params.v[1].y + t]);
  var place = bitcast<u32>(index) + select(0u, params.v[0].z, index < 0);
  if (place >= params.v[0].z) {
    if (atomicCompareExchangeWeak(&b2[0], 0u, params.v[1].w).exchanged) { atomicStore(&b2[1], u32(index)); }
    place = params.v[0].z;
  }
  b0[params.v[1].x + t] = bitcast<u32>(bitcast<i32>(place));
  if (place < params.v[0].z) {
    let slot = atomicAdd(&b3[place], 1u);
    if (slot < 32u) { b4[place * 32u + slot] = t; }
    if (slot == 32u) { b5[atomicAdd(&b3[params.v[0].z], 1u)] = place; }
  }
}

// ---- scatter of long rows: scatter_add, 102 workgroups of 256, 10 words
// scatter, ranks in buckets
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read> b2: array<u32>;
@group(0) @binding(4) var<storage, read> b3: array<u32>;
@group(0) @binding(5) var<storage, read_write> b4: array<atomic<u32>>;
@group(0) @binding(6) var<storage, read_write> b5: array<u32>;
var<workgroup> sums: array<u32, 256>;
var<workgroup> behind: array<u32, 1>;
  if (group < params.v[0].w) {
    let t = group * 256u + thread;
    if (t < params.v[0].y) {
      let own = b0[t];
      if (own <= 32u) {
        atomicStore(&b4[2u * t], t * 32u);
        atomicStore(&b4[2u * t + 1u], t * 32u + own);
      }
    }
    if (t < params.v[0].z) {
      let place = b3[t];
      if (place < params.v[0].y) {
        let count = b0[place];
        if (count <= 32u) {
          var rank = 0u;
          for (var i = 0u; i < count; i += 1u) { rank += select(0u, 1u, b1[place * 32u + i] < t); }
          b5[place * 32u + rank] = t;
        }
      }
    }
    return;
  }
  if (group - params.v[0].w >= b0[params.v[0].y]) { return; }
  let place = b2[group - params.v[0].w];
  let each = (params.v[0].z + 256u - 1u) / 256u;
  let first = thread * each;
  let end = min(params.v[0].z, first + each);
  var own = 0u;
  for (var i = first; i < end; i += 1u) { own += select(0u, 1u, b3[i] == place); }
  sums[thread] = own;
  if (thread == 0u) { behind[0] = params.v[0].y * 32u + atomicAdd(&b4[2u * params.v[0].y], b0[place]); }
  workgroupBarrier();
  {
    let with1 = sums[thread] + select(0u, sums[max(thread, 1u) - 1u], thread >= 1u);
    workgroupBarrier();
    sums[thread] = with1;
    workgroupBarrier();
// … 6 more of these 4 lines (cf271037), and
    let with128 = sums[thread] + select(0u, sums[max(thread, 128u) - 128u], thread >= 128u);
    workgroupBarrier();
    sums[thread] = with128;
    workgroupBarrier();
  }
  var to = behind[0] + sums[thread] - own;
  for (var i = first; i < end; i += 1u) {
    if (b3[i] == place) {
      b5[to] = i;
      to += 1u;
    }
  }
  if (thread == 0u) {
    atomicStore(&b4[2u * place], behind[0]);
    atomicStore(&b4[2u * place + 1u], behind[0] + b0[place]);
  }
}

// ---- scatter of long rows: scatter_add, 1037 workgroups of 256, 22 words
// scatter, with crowded places
@group(0) @binding(1) var<storage, read_write> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> b1: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> b2: array<u32>;
@group(0) @binding(4) var<storage, read> b3: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read> b4: array<u32>;
@group(0) @binding(6) var<storage, read> b5: array<u32>;
@group(0) @binding(7) var<storage, read> b6: array<u32>;
var<workgroup> values: array<f32, 1024>;
fn combine(v0: f32, v1: f32) -> f32 {
  let v2 = (v0 + v1);
  return v2;
}
  if (group < 1024u) {
    let tiles = (params.v[0].z + 2u - 1u) / 2u;
    let lane = thread % 2u;
    let row = thread / 2u;
    for (var work = group; work < b6[params.v[5].y + 0u] * tiles; work += 1024u) {
      let wanted = b5[params.v[5].x + work / tiles];
      let stands = work % tiles * 2u + lane;
      let k = min(stands, params.v[0].z - 1u) * 4u;
      let places = params.v[3].y + 0u;
      var low = bitcast<u32>(bitcast<i32>(b4[params.v[4].x + wanted * params.v[4].y]));
      let over = bitcast<u32>(bitcast<i32>(b4[params.v[4].z + wanted * params.v[4].w]));
      let w0 = (params.v[3].z + k + wanted * params.v[3].w) / 4u;
      let q1 = b3[w0 + 0u];
      let x2 = bitcast<f32>(q1.x);
      let x3 = bitcast<f32>(q1.y);
      let x4 = bitcast<f32>(q1.z);
      let x5 = bitcast<f32>(q1.w);
      var acc0 = x2;
      var acc1 = x3;
      var acc2 = x4;
      var acc3 = x5;
      var start = low;
      var count = 0u;  // of the entries fetched before
      for (;;) {
        var value0_0 = f32();
        var value0_1 = f32();
        var value0_2 = f32();
        var value0_3 = f32();
        let entry0 = start + row + 0u * 128u;
        if (entry0 < over) {
          let j = bitcast<u32>(bitcast<i32>(b2[places + entry0]));
          let w6 = (params.v[2].z + k + j * params.v[2].w) / 4u;
          let q7 = b1[w6 + 0u];
          let x8 = bitcast<f32>(q7.x);
          let x9 = bitcast<f32>(q7.y);
          let x10 = bitcast<f32>(q7.z);
          let x11 = bitcast<f32>(q7.w);
          value0_0 = x8;
          value0_1 = x9;
          value0_2 = x10;
          value0_3 = x11;
        }
        if (row == 0u) {
          var i = 0u;
          for (; i + 4u <= count; i += 4u) {
            let next0_0 = values[((i + 0u) * 2u + lane) * 4u + 0u];
// … 14 more of these 1 lines (139b7f7f), and
            let next3_3 = values[((i + 3u) * 2u + lane) * 4u + 3u];
            acc0 = combine(acc0, next0_0);
// … 14 more of these 1 lines (a6534ec7), and
            acc3 = combine(acc3, next3_3);
          }
          for (; i < count; i += 1u) {
            acc0 = combine(acc0, values[(i * 2u + lane) * 4u + 0u]);
            acc1 = combine(acc1, values[(i * 2u + lane) * 4u + 1u]);
            acc2 = combine(acc2, values[(i * 2u + lane) * 4u + 2u]);
            acc3 = combine(acc3, values[(i * 2u + lane) * 4u + 3u]);
          }
        }
        workgroupBarrier();
        if (start >= over) { break; }
        values[(thread + 0u * 256u) * 4u + 0u] = value0_0;
        values[(thread + 0u * 256u) * 4u + 1u] = value0_1;
        values[(thread + 0u * 256u) * 4u + 2u] = value0_2;
        values[(thread + 0u * 256u) * 4u + 3u] = value0_3;
        count = min(128u * 1u, over - start);
        start += 128u * 1u;
        workgroupBarrier();
      }
      if (row == 0u && stands < params.v[0].z) {
        let w12 = (params.v[2].x + k + wanted * params.v[2].y) / 4u;
        b0[w12 + 0u] = vec4<u32>(bitcast<u32>(acc0), bitcast<u32>(acc1), bitcast<u32>(acc2), bitcast<u32>(acc3));
      }
    }
  } else {
    let t = (group - 1024u) * 256u + thread;
    if (t >= params.v[0].y) { return; }
    let wanted = t / params.v[0].z;
    let k = (t - wanted * params.v[0].z) * 4u;
    let places = params.v[3].y + 0u;
    var low = bitcast<u32>(bitcast<i32>(b4[params.v[4].x + wanted * params.v[4].y]));
    let over = bitcast<u32>(bitcast<i32>(b4[params.v[4].z + wanted * params.v[4].w]));
    let crowded = over - low >= 33u;
    low = max(low, params.v[1].x);
    let w0 = (params.v[3].z + k + wanted * params.v[3].w) / 4u;
    let q1 = b3[w0 + 0u];
    let x2 = bitcast<f32>(q1.x);
    let x3 = bitcast<f32>(q1.y);
    let x4 = bitcast<f32>(q1.z);
    let x5 = bitcast<f32>(q1.w);
    var acc0 = x2;
    var acc1 = x3;
    var acc2 = x4;
    var acc3 = x5;
    for (; low < select(over, low, crowded); low += 1u) {
      let j = bitcast<u32>(bitcast<i32>(b2[places + low]));
      let w6 = (params.v[2].z + k + j * params.v[2].w) / 4u;
      let q7 = b1[w6 + 0u];
      let x8 = bitcast<f32>(q7.x);
      let x9 = bitcast<f32>(q7.y);
      let x10 = bitcast<f32>(q7.z);
      let x11 = bitcast<f32>(q7.w);
      acc0 = combine(acc0, x8);
      acc1 = combine(acc1, x9);
      acc2 = combine(acc2, x10);
      acc3 = combine(acc3, x11);
    }
    if (crowded) { return; }
    let w12 = (params.v[2].x + k + wanted * params.v[2].y) / 4u;
    b0[w12 + 0u] = vec4<u32>(bitcast<u32>(acc0), bitcast<u32>(acc1), bitcast<u32>(acc2), bitcast<u32>(acc3));
  }
}

// ---- scatter of long rows by a sorted table: scatter_add, 8 workgroups of 256, 5 words
// scatter, starts
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
  let wanted = group * 256u + thread;
  if (wanted > params.v[0].y) { return; }
  var low = 0u;
  var low_high = params.v[0].z;
  for (; low < low_high;) {
    let low_middle = (low + low_high) / 2u;
    if (bitcast<u32>(b0[low_middle]) < wanted) {
      low = low_middle + 1u;
    } else {
      low_high = low_middle;
    }
  }
  b1[wanted] = low;
}

// ---- cholesky of small matrices: cholesky, 3 workgroups of 32, 11 words
// cholesky of small matrices
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
@group(0) @binding(3) var<storage, read_write> b2: array<atomic<u32>>;
var<workgroup> a: array<f32, 100>;
var<workgroup> bad: array<u32, 32>;
fn tern_isfinite_f32(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) < 0x7f800000u;
}
fn tern_keep(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) ^ params.v[2].w);
}
  let own = thread / 8u;
  let r = thread - own * 8u;
  let matrix = group * 4u + own;
  let inside = matrix < params.v[0].y;
  var status = 0;
  var not_finite = 0u;
  if (inside) {
    for (var e = r; e < 5u * 5u; e += 8u) {
      let i = e / 5u;
      let j = e - i * 5u;
      let x0 = bitcast<f32>(b0[params.v[0].w + matrix * params.v[1].x + i * params.v[1].y + (0u + j)]);
      let x = x0;
      a[own * 25u + (i) * 5u + j] = x;
      if (j <= i && !((tern_isfinite_f32(x)))) { not_finite = 1u; }
    }
  }
  bad[thread] = not_finite;
  workgroupBarrier();
  for (var k = 0u; k < 8u; k += 1u) {
    if (bad[own * 8u + k] != 0u) { status = -1; }
  }
  var root = f32(0.0);
  for (var k = 0u; k < 5u; k += 1u) {
    if (r >= k && r < 5u) {
      var left = a[own * 25u + (r) * 5u + k];
      for (var j = 0u; j < k; j += 1u) { left -= a[own * 25u + (r) * 5u + j] * a[own * 25u + (k) * 5u + j]; }
      a[own * 25u + (r) * 5u + k] = left;
    }
    workgroupBarrier();
    let pivot = a[own * 25u + (k) * 5u + k];
    if (!(pivot > f32(0.0)) && status == 0) { status = i32(k) + 1; }
    let square = tern_sqrt(pivot);
    if (r == k) { root = square; }
    if (r > k && r < 5u) { a[own * 25u + (r) * 5u + k] = a[own * 25u + (r) * 5u + k] / square; }
    workgroupBarrier();
  }
  if (r < 5u) {
    a[own * 25u + (r) * 5u + r] = root;
    for (var j = r + 1u; j < 5u; j += 1u) { a[own * 25u + (r) * 5u + j] = f32(0.0); }
  }
  workgroupBarrier();
  if (inside) {
    for (var e = r; e < 5u * 5u; e += 8u) {
      let i = e / 5u;
      let j = e - i * 5u;
      let x = a[own * 25u + (i) * 5u + j];
      let to1 = params.v[1].z + matrix * params.v[1].w + i * params.v[2].x + (0u + j);
      b1[to1] = bitcast<u32>(x);
    }
  }
  if (inside && r == 0u) {
    if (status != 0) {
      loop {
        let seen = atomicCompareExchangeWeak(&b2[0], 0u, params.v[2].z);
        if (seen.exchanged || seen.old_value == params.v[2].z) { atomicMax(&b2[1], ~u32(min(matrix, 67108862u) * 64u + u32(status + 1))); }
        if (seen.exchanged || seen.old_value != 0u) { break; }
      }
    }
  }
}

// ---- exponentials of small matrices: expm, 5 workgroups of 32, 11 words
// exponentials of small matrices
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
@group(0) @binding(3) var<storage, read_write> b2: array<atomic<u32>>;
var<workgroup> p: array<f32, 312>;
var<workgroup> q: array<f32, 312>;
var<workgroup> partial: array<f32, 32>;
var<workgroup> bad: array<u32, 32>;
var<workgroup> busy: array<u32, 32>;
fn tern_abs_f32(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) & 0x7fffffffu);
}
fn tern_two_product(a: f32, b: f32) -> vec2<f32> {
  let product = tern_keep(a * b);
  return vec2<f32>(product, tern_keep(-tern_residual(product, a, b)));
}
fn tern_multiply_pairs(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
  let product = tern_two_product(a.x, b.x);
  return vec2<f32>(product.x, fma(a.x, b.y, fma(a.y, b.x, product.y)));
}
fn tern_split_log(x: f32) -> vec2<f32> {
  let bits = bitcast<u32>(x);
  let subnormal = bits < 0x00800000u;
  let moved = select(bits, bitcast<u32>(f32(bits)), subnormal) + 0x004afb0du;
  let k = i32(moved >> 23u) - select(127, 276, subnormal);
  return vec2<f32>(f32(k), bitcast<f32>((moved & 0x007fffffu) + 0x3f3504f3u) - 1.0);
}
fn tern_fast_two_sum(a: f32, b: f32) -> vec2<f32> {
  let sum = tern_keep(a + b);
  return vec2<f32>(sum, tern_keep(b - tern_keep(sum - a)));
}
fn tern_pair_log(x: f32) -> vec2<f32> {
  let parts = tern_split_log(x);
  let below = tern_fast_two_sum(2.0, parts.y);
  let inverse = 1.0 / below.x;
  let s_high = tern_keep(parts.y * inverse);
  let s = vec2<f32>(s_high, inverse * fma(-s_high, below.y, tern_residual(parts.y, s_high, below.x)));
  let square = tern_two_product(s.x, s.x);
  let z = vec2<f32>(square.x, fma(s.x + s.x, s.y, square.y));
  let series = fma(z.x * z.x, 0.2341939, fma(z.x, 0.28547096, 0.40000153));
  let a = tern_fast_two_sum(0x1.555556p-1f, z.x * series);
  let b = tern_multiply_pairs(z, vec2<f32>(a.x, a.y - 0x1.555556p-26f));
  let c = tern_fast_two_sum(2.0, b.x);
  let log = tern_multiply_pairs(s, vec2<f32>(c.x, c.y + b.y));
  let sum = tern_fast_two_sum(parts.x * 0x1.62e4p-1f, log.x);
  return tern_fast_two_sum(sum.x, sum.y + fma(parts.x, 0x1.7f7d1cp-20f, log.y));
}
fn tern_log_scaled(x: f32, factor: vec2<f32>) -> f32 {
  let bits = bitcast<u32>(x);
  let magnitude = bits & 0x7fffffffu;
  let log = tern_multiply_pairs(tern_pair_log(select(1.0, x, bits - 1u < 0x7f7fffffu)), factor);
  var result = bitcast<u32>(log.x + tern_keep(log.y));
  result = select(result, bits, magnitude >= 0x7f800000u);
  result = select(result, 0x7fc00000u, bits >= 0x80000000u && magnitude <= 0x7f800000u);
  return bitcast<f32>(select(result, 0xff800000u, magnitude == 0u));
}
fn tern_log2(x: f32) -> f32 {
  return tern_log_scaled(x, vec2<f32>(0x1.715476p+0f, 0x1.4ae0cp-26f));
}
fn tern_exp2(x: f32) -> f32 {
  let bounded = clamp(x, -150.5, 129.0);
  let whole = round(bounded);
  let n = i32(whole);
  let half = n >> 1u;
  let r = (bounded - whole) * 0.6931472;
  let value = tern_keep(1.0 + tern_keep(fma(r * r, tern_exp_polynomial(r), r)));
  let result = tern_keep(value * bitcast<f32>(bitcast<u32>(half + 127) << 23u)) *
               bitcast<f32>(bitcast<u32>(n - half + 127) << 23u);
  return bitcast<f32>(select(bitcast<u32>(result), bitcast<u32>(x), tern_is_nan(x)));
}
fn tern_floor_f32(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let magnitude = bits & 0x7fffffffu;
  let negative = bits >= 0x80000000u;
  let below_one = select(0u, select(0xbf800000u, 0x80000000u, magnitude == 0u), negative);
  let rounded = select(bitcast<u32>(floor(x)), bits, magnitude >= 0x4b000000u);
  return bitcast<f32>(select(rounded, below_one, magnitude < 0x3f800000u));
}
  let own = thread / 16u;
  let r = thread - own * 16u;
  let matrix = group * 2u + own;
  let inside = matrix < params.v[0].y;
  var a2: array<f32, 12>;
  var a4: array<f32, 12>;
  var a6: array<f32, 12>;
  var x: array<f32, 12>;
  var status = 0;
  var not_finite = 0u;
  if (inside) {
    for (var e = r; e < 12u * 12u; e += 16u) {
      let i = e / 12u;
      let j = e - i * 12u;
      let x0 = bitcast<f32>(b0[params.v[0].w + matrix * params.v[1].x + i * params.v[1].y + (0u + j)]);
      let x = x0;
      p[own * 156u + (i) * 13u + j] = x;
      if (!((tern_isfinite_f32(x)))) { not_finite = 1u; }
    }
  }
  bad[thread] = not_finite;
  workgroupBarrier();
  for (var k = 0u; k < 16u; k += 1u) {
    if (bad[own * 16u + k] != 0u) { status = -1; }
  }
  var most = f32(0.0);
  {
    var sum = f32(0.0);
    if (r < 12u) {
      for (var i = 0u; i < 12u; i += 1u) { sum = fma(tern_abs_f32(p[own * 156u + (i) * 13u + r]), f32(1.0), sum); }
    }
    workgroupBarrier();
    partial[thread] = sum;
    workgroupBarrier();
  }
  most = f32(0.0);
  for (var k = 0u; k < 16u; k += 1u) { most = max(most, partial[own * 16u + k]); }
  let norm = most;
  if (!((tern_isfinite_f32(norm)))) { status = -1; }
  var halvings = f32(0.0);
  if (status == 0 && norm > f32(5.37192035114815170e+00)) { halvings = ceil(tern_log2(norm / f32(5.37192035114815170e+00))); }
  let less = tern_exp2(-halvings);
  if (r < 12u) {
    for (var j = 0u; j < 12u; j += 1u) { p[own * 156u + (r) * 13u + j] = p[own * 156u + (r) * 13u + j] * less; }
  }
  workgroupBarrier();
  if (r < 12u) {
    for (var first = 0u; first < 12u; first += 8u) {
      let begin = min(first, 12u - 8u);
      var sum0 = f32(0.0);
// … 6 more of these 1 lines (01c6611c), and
      var sum7 = f32(0.0);
      for (var k = 0u; k < 12u; k += 1u) {
        let y = p[own * 156u + (r) * 13u + k];
        let z0 = p[own * 156u + (k) * 13u + begin + 0u];
// … 6 more of these 1 lines (10707007), and
        let z7 = p[own * 156u + (k) * 13u + begin + 7u];
        sum0 = fma(y, z0, sum0);
// … 6 more of these 1 lines (6d769ce0), and
        sum7 = fma(y, z7, sum7);
      }
      {
        let j = begin + 0u;
        a2[j] = sum0;
// … 6 more of these 4 lines (6edb0c5d), and
      }
      {
        let j = begin + 7u;
        a2[j] = sum7;
      }
    }
  }
  if (r < 12u) {
    for (var j = 0u; j < 12u; j += 1u) { q[own * 156u + (r) * 13u + j] = a2[j]; }
  }
  workgroupBarrier();
  if (r < 12u) {
    for (var first = 0u; first < 12u; first += 8u) {
      let begin = min(first, 12u - 8u);
      var sum0 = f32(0.0);
// … 6 more of these 1 lines (01c6611c), and
      var sum7 = f32(0.0);
      for (var k = 0u; k < 12u; k += 1u) {
        let y = a2[k];
        let z0 = q[own * 156u + (k) * 13u + begin + 0u];
// … 6 more of these 1 lines (c0ae4b57), and
        let z7 = q[own * 156u + (k) * 13u + begin + 7u];
        sum0 = fma(y, z0, sum0);
// … 6 more of these 1 lines (6d769ce0), and
        sum7 = fma(y, z7, sum7);
      }
      {
        let j = begin + 0u;
        a4[j] = sum0;
// … 6 more of these 4 lines (6ba271fd), and
      }
      {
        let j = begin + 7u;
        a4[j] = sum7;
      }
    }
  }
  if (r < 12u) {
    for (var first = 0u; first < 12u; first += 8u) {
      let begin = min(first, 12u - 8u);
      var sum0 = f32(0.0);
// … 6 more of these 1 lines (01c6611c), and
      var sum7 = f32(0.0);
      for (var k = 0u; k < 12u; k += 1u) {
        let y = a4[k];
        let z0 = q[own * 156u + (k) * 13u + begin + 0u];
// … 6 more of these 1 lines (c0ae4b57), and
        let z7 = q[own * 156u + (k) * 13u + begin + 7u];
        sum0 = fma(y, z0, sum0);
// … 6 more of these 1 lines (6d769ce0), and
        sum7 = fma(y, z7, sum7);
      }
      {
        let j = begin + 0u;
        a6[j] = sum0;
// … 6 more of these 4 lines (ca83c5dd), and
      }
      {
        let j = begin + 7u;
        a6[j] = sum7;
      }
    }
  }
  workgroupBarrier();
  if (r < 12u) {
    for (var j = 0u; j < 12u; j += 1u) { q[own * 156u + (r) * 13u + j] = a4[j]; }
  }
  workgroupBarrier();
  {
    var sum = f32(0.0);
    if (r < 12u) {
      for (var i = 0u; i < 12u; i += 1u) { sum = fma(tern_abs_f32(q[own * 156u + (i) * 13u + r]), f32(1.0), sum); }
    }
    workgroupBarrier();
    partial[thread] = sum;
    workgroupBarrier();
  }
  most = f32(0.0);
  for (var k = 0u; k < 16u; k += 1u) { most = max(most, partial[own * 16u + k]); }
  let fourth = max(most, f32(1.17549435082228751e-38));
  workgroupBarrier();
  if (r < 12u) {
    for (var j = 0u; j < 12u; j += 1u) { q[own * 156u + (r) * 13u + j] = a6[j]; }
  }
  workgroupBarrier();
  {
    var sum = f32(0.0);
    if (r < 12u) {
      for (var i = 0u; i < 12u; i += 1u) { sum = fma(tern_abs_f32(q[own * 156u + (i) * 13u + r]), f32(1.0), sum); }
    }
    workgroupBarrier();
    partial[thread] = sum;
    workgroupBarrier();
  }
  most = f32(0.0);
  for (var k = 0u; k < 16u; k += 1u) { most = max(most, partial[own * 16u + k]); }
  var spared = f32(0.0);
  if (halvings > f32(0.0)) {
    let growth = max(tern_log2(fourth) / f32(4.0), tern_log2(max(most, f32(1.17549435082228751e-38))) / f32(6.0));
    spared = min(min(max(tern_floor_f32(f32(2.42543791424870570e+00) - growth), f32(0.0)), f32(2.00000000000000000e+01)), halvings);
  }
  busy[thread] = u32(spared);
  workgroupBarrier();
  if (thread == 0u) {
    for (var k = 1u; k < 32u; k += 1u) { busy[0] = max(busy[0], busy[k]); }
  }
  workgroupBarrier();
  let any_spared = workgroupUniformLoad(&busy[0]);
  if (any_spared != 0u) {
    {
      var sum = f32(0.0);
      if (r < 12u) {
        for (var i = 0u; i < 12u; i += 1u) { sum = fma(tern_abs_f32(p[own * 156u + (i) * 13u + r]), f32(1.0), sum); }
      }
      workgroupBarrier();
      partial[thread] = sum;
      workgroupBarrier();
    }
    for (var power = 0u; power < 26u; power += 1u) {
      {
        var sum = f32(0.0);
        if (r < 12u) {
          for (var i = 0u; i < 12u; i += 1u) { sum = fma(tern_abs_f32(p[own * 156u + (i) * 13u + r]), partial[own * 16u + i], sum); }
        }
        workgroupBarrier();
        partial[thread] = sum;
        workgroupBarrier();
      }
    }
    most = f32(0.0);
    for (var k = 0u; k < 16u; k += 1u) { most = max(most, partial[own * 16u + k]); }
    if (spared > f32(0.0) && most > f32(1.17549435082228751e-38)) {  // what vanishes allows any
      let ratio = tern_log2(most) - tern_log2(norm * less);
      let allowed = tern_floor_f32((f32(6.34399999999999977e+01) - ratio) / f32(26));
      spared = min(spared, max(allowed, f32(0.0)));
    }
    halvings -= spared;
    let two = tern_exp2(spared);
    let four = two * two;
    if (r < 12u) {
      for (var j = 0u; j < 12u; j += 1u) { p[own * 156u + (r) * 13u + j] = p[own * 156u + (r) * 13u + j] * two;
    a2[j] *= four;
    a4[j] *= four * four;
    a6[j] *= four * four * four; }
    }
  }
  workgroupBarrier();
  if (r < 12u) {
    for (var j = 0u; j < 12u; j += 1u) { q[own * 156u + (r) * 13u + j] = fma(f32(1.00000000000000000e+00), a6[j], fma(f32(1.63800000000000000e+04), a4[j], f32(4.08408000000000000e+07) * a2[j])); }
  }
  workgroupBarrier();
  if (r < 12u) {
    for (var first = 0u; first < 12u; first += 8u) {
      let begin = min(first, 12u - 8u);
      var sum0 = f32(0.0);
// … 6 more of these 1 lines (01c6611c), and
      var sum7 = f32(0.0);
      for (var k = 0u; k < 12u; k += 1u) {
        let y = a6[k];
        let z0 = q[own * 156u + (k) * 13u + begin + 0u];
// … 6 more of these 1 lines (c0ae4b57), and
        let z7 = q[own * 156u + (k) * 13u + begin + 7u];
        sum0 = fma(y, z0, sum0);
// … 6 more of these 1 lines (6d769ce0), and
        sum7 = fma(y, z7, sum7);
      }
      {
        let j = begin + 0u;
        x[j] = sum0;
// … 6 more of these 4 lines (2538ec95), and
      }
      {
        let j = begin + 7u;
        x[j] = sum7;
      }
    }
  }
  if (r < 12u) {
    for (var j = 0u; j < 12u; j += 1u) { x[j] += fma(f32(3.35221286400000000e+10), a6[j], fma(f32(1.05594705216000000e+13), a4[j], fma(f32(1.18735379642880000e+15), a2[j], select(f32(0.0), f32(3.23823762662400000e+16), j == r)))); }
  }
  workgroupBarrier();
  if (r < 12u) {
    for (var j = 0u; j < 12u; j += 1u) { q[own * 156u + (r) * 13u + j] = x[j]; }
  }
  workgroupBarrier();
  if (r < 12u) {
    for (var first = 0u; first < 12u; first += 8u) {
      let begin = min(first, 12u - 8u);
      var sum0 = f32(0.0);
// … 6 more of these 1 lines (01c6611c), and
      var sum7 = f32(0.0);
      for (var k = 0u; k < 12u; k += 1u) {
        let y = p[own * 156u + (r) * 13u + k];
        let z0 = q[own * 156u + (k) * 13u + begin + 0u];
// … 6 more of these 1 lines (c0ae4b57), and
        let z7 = q[own * 156u + (k) * 13u + begin + 7u];
        sum0 = fma(y, z0, sum0);
// … 6 more of these 1 lines (6d769ce0), and
        sum7 = fma(y, z7, sum7);
      }
      {
        let j = begin + 0u;
        x[j] = sum0;
// … 6 more of these 4 lines (2538ec95), and
      }
      {
        let j = begin + 7u;
        x[j] = sum7;
      }
    }
  }
  workgroupBarrier();
  if (r < 12u) {
    for (var j = 0u; j < 12u; j += 1u) { q[own * 156u + (r) * 13u + j] = fma(f32(1.82000000000000000e+02), a6[j], fma(f32(9.60960000000000000e+05), a4[j], f32(1.32324192000000000e+09) * a2[j])); }
  }
  if (r < 12u) {
    for (var j = 0u; j < 12u; j += 1u) { a2[j] = fma(f32(6.70442572800000000e+11), a6[j], fma(f32(1.29060195264000000e+14), a4[j], fma(f32(7.77177030389760000e+15), a2[j], select(f32(0.0), f32(6.47647525324800000e+16), j == r)))); }
  }
  workgroupBarrier();
  if (r < 12u) {
    for (var first = 0u; first < 12u; first += 8u) {
      let begin = min(first, 12u - 8u);
      var sum0 = f32(0.0);
// … 6 more of these 1 lines (01c6611c), and
      var sum7 = f32(0.0);
      for (var k = 0u; k < 12u; k += 1u) {
        let y = a6[k];
        let z0 = q[own * 156u + (k) * 13u + begin + 0u];
// … 6 more of these 1 lines (c0ae4b57), and
        let z7 = q[own * 156u + (k) * 13u + begin + 7u];
        sum0 = fma(y, z0, sum0);
// … 6 more of these 1 lines (6d769ce0), and
        sum7 = fma(y, z7, sum7);
      }
      {
        let j = begin + 0u;
        a4[j] = sum0;
// … 6 more of these 4 lines (6ba271fd), and
      }
      {
        let j = begin + 7u;
        a4[j] = sum7;
      }
    }
  }
  workgroupBarrier();
  if (r < 12u) {
    for (var j = 0u; j < 12u; j += 1u) { let even = a4[j] + a2[j];
  p[own * 156u + (r) * 13u + j] = even - x[j];
  q[own * 156u + (r) * 13u + j] = even + x[j]; }
  }
  workgroupBarrier();
  for (var k = 0u; k < 12u; k += 1u) {
    var best = tern_abs_f32(p[own * 156u + (k) * 13u + k]);
    var row = k;
    for (var i = k + 1u; i < 12u; i += 1u) {
      let size = tern_abs_f32(p[own * 156u + (i) * 13u + k]);
      if (size > best) {
        best = size;
        row = i;
      }
    }
    workgroupBarrier();
    if (row != k && r < 12u) {
      let kept = p[own * 156u + (k) * 13u + r];
      p[own * 156u + (k) * 13u + r] = p[own * 156u + (row) * 13u + r];
      p[own * 156u + (row) * 13u + r] = kept;
      let side = q[own * 156u + (k) * 13u + r];
      q[own * 156u + (k) * 13u + r] = q[own * 156u + (row) * 13u + r];
      q[own * 156u + (row) * 13u + r] = side;
    }
    workgroupBarrier();
    if (r != k && r < 12u) {
      let factor = p[own * 156u + (r) * 13u + k] / p[own * 156u + (k) * 13u + k];
      for (var j = k + 1u; j < 12u; j += 1u) { p[own * 156u + (r) * 13u + j] = fma(-factor, p[own * 156u + (k) * 13u + j], p[own * 156u + (r) * 13u + j]); }
      for (var j = 0u; j < 12u; j += 1u) { q[own * 156u + (r) * 13u + j] = fma(-factor, q[own * 156u + (k) * 13u + j], q[own * 156u + (r) * 13u + j]); }
    }
    workgroupBarrier();
  }
  if (r < 12u) {
    let pivot = p[own * 156u + (r) * 13u + r];
    for (var j = 0u; j < 12u; j += 1u) { q[own * 156u + (r) * 13u + j] = q[own * 156u + (r) * 13u + j] / pivot; }
  }
  workgroupBarrier();
  var rounds = u32(halvings);
  busy[thread] = rounds;
  workgroupBarrier();
  if (thread == 0u) {
    for (var k = 1u; k < 32u; k += 1u) { busy[0] = max(busy[0], busy[k]); }
  }
  workgroupBarrier();
  let most_rounds = workgroupUniformLoad(&busy[0]);
  for (var round = 0u; round < most_rounds; round += 1u) {
    if (r < 12u) {
      for (var first = 0u; first < 12u; first += 8u) {
        let begin = min(first, 12u - 8u);
        var sum0 = f32(0.0);
// … 6 more of these 1 lines (e702d574), and
        var sum7 = f32(0.0);
        for (var k = 0u; k < 12u; k += 1u) {
          let y = q[own * 156u + (r) * 13u + k];
          let z0 = q[own * 156u + (k) * 13u + begin + 0u];
// … 6 more of these 1 lines (2e31bebf), and
          let z7 = q[own * 156u + (k) * 13u + begin + 7u];
          sum0 = fma(y, z0, sum0);
// … 6 more of these 1 lines (ee3a1b58), and
          sum7 = fma(y, z7, sum7);
        }
        {
          let j = begin + 0u;
          x[j] = sum0;
// … 6 more of these 4 lines (1c24e06d), and
        }
        {
          let j = begin + 7u;
          x[j] = sum7;
        }
      }
    }
    workgroupBarrier();
    if (round < rounds) {
      if (r < 12u) {
        for (var j = 0u; j < 12u; j += 1u) { q[own * 156u + (r) * 13u + j] = x[j]; }
      }
    }
    workgroupBarrier();
  }
  if (inside) {
    for (var e = r; e < 12u * 12u; e += 16u) {
      let i = e / 12u;
      let j = e - i * 12u;
      let x = q[own * 156u + (i) * 13u + j];
      let to1 = params.v[1].z + matrix * params.v[1].w + i * params.v[2].x + (0u + j);
      b1[to1] = bitcast<u32>(x);
    }
  }
  if (inside && r == 0u) {
    if (status != 0) {
      loop {
        let seen = atomicCompareExchangeWeak(&b2[0], 0u, params.v[2].z);
        if (seen.exchanged || seen.old_value == params.v[2].z) { atomicMax(&b2[1], ~u32(min(matrix, 67108862u) * 64u + u32(status + 1))); }
        if (seen.exchanged || seen.old_value != 0u) { break; }
      }
    }
  }
}

// ---- lu of small matrices: lu_factor, 3 workgroups of 32, 13 words
// lu of small matrices
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
@group(0) @binding(3) var<storage, read_write> b2: array<u32>;
@group(0) @binding(4) var<storage, read_write> b3: array<atomic<u32>>;
var<workgroup> a: array<f32, 140>;
var<workgroup> bad: array<u32, 32>;
var<workgroup> line: array<vec4<f32>, 8>;
var<workgroup> sizes: array<f32, 32>;
  let own = thread / 8u;
  let r = thread - own * 8u;
  let matrix = group * 4u + own;
  let inside = matrix < params.v[0].y;
  var status = 0;
  var not_finite = 0u;
  if (inside) {
    for (var e = r; e < 5u * 7u; e += 8u) {
      let i = e / 7u;
      let j = e - i * 7u;
      let x0 = bitcast<f32>(b0[params.v[0].w + matrix * params.v[1].x + i * params.v[1].y + (0u + j)]);
      let x = x0;
      a[own * 35u + (i) * 7u + j] = x;
      if (!((tern_isfinite_f32(x)))) { not_finite = 1u; }
    }
  }
  bad[thread] = not_finite;
  workgroupBarrier();
  for (var k = 0u; k < 8u; k += 1u) {
    if (bad[own * 8u + k] != 0u) { status = -1; }
  }
  var y0 = f32(0.0);
// … 5 more of these 1 lines (1ac559a2), and
  var y6 = f32(0.0);
  var place = r;
  var waits = r < 5u;
  if (waits) {
    y0 = a[own * 35u + (r) * 7u + 0u];
// … 5 more of these 1 lines (a8bce9c2), and
    y6 = a[own * 35u + (r) * 7u + 6u];
  }
  for (var k = 0u; k < 5u; k += 1u) {
    let size = select(tern_abs_f32(y0), f32(3.4e38), y0 != y0);
    if (waits) { sizes[own * 8u + place] = size; }
    workgroupBarrier();
    var best = sizes[own * 8u + k];
    var found = k;
    for (var i = k + 1u; i < 5u; i += 1u) {
      let other = sizes[own * 8u + i];
      if (other > best) {
        best = other;
        found = i;
      }
    }
    let row = found;
    let is_pivot = waits && place == row;
    if (is_pivot) {
      line[own * 2u + 0u] = vec4<f32>(y0, y1, y2, y3);
      line[own * 2u + 1u] = vec4<f32>(y4, y5, y6, f32(0.0));
    }
    if (inside && r == 0u) {
      let exchanged = i32(row);
      let to1 = params.v[2].y + matrix * params.v[2].z + k;
      b2[to1] = bitcast<u32>(exchanged);
    }
    workgroupBarrier();
    let pivot = line[own * 2u].x;
    if (is_pivot) {
      place = k;
      waits = false;
    } else if (waits && place == k) {
      place = row;
    }
    var factor = f32(0.0);
    if (pivot == f32(0.0)) {
      if (status == 0) { status = i32(k) + 1; }
    } else if (waits) {
      let one = select(f32(-1.0), f32(1.0), y0 == pivot);
      factor = select(y0 / pivot, one, y0 == pivot || y0 == -pivot);
      a[own * 35u + (r) * 7u + k] = factor;
    }
    let behind = select(y0, f32(0.0), waits);
    let line0 = line[own * 2u + 0u];
    y0 = fma(-factor, line0.y, y1);
    y1 = fma(-factor, line0.z, y2);
    y2 = fma(-factor, line0.w, y3);
    let line1 = line[own * 2u + 1u];
    y3 = fma(-factor, line1.x, y4);
    y4 = fma(-factor, line1.y, y5);
    y5 = fma(-factor, line1.z, y6);
    y6 = behind;
  }
  if (r < 5u) {
    y0 = select(y0, a[own * 35u + (r) * 7u + (0u + 5u) % 7u], (0u + 5u) % 7u < min(place, 5u));
// … 5 more of these 1 lines (0e3c3ded), and
    y6 = select(y6, a[own * 35u + (r) * 7u + (6u + 5u) % 7u], (6u + 5u) % 7u < min(place, 5u));
  }
  workgroupBarrier();
  if (r < 5u) {
    a[own * 35u + (place) * 7u + (0u + 5u) % 7u] = y0;
// … 5 more of these 1 lines (2f7950ea), and
    a[own * 35u + (place) * 7u + (6u + 5u) % 7u] = y6;
  }
  workgroupBarrier();
  if (inside) {
    for (var e = r; e < 5u * 7u; e += 8u) {
      let j = e / 5u;
      let i = e - j * 5u;
      let x = a[own * 35u + (i) * 7u + j];
      let to2 = params.v[1].z + matrix * params.v[1].w + i + (0u + j) * params.v[2].x;
      b1[to2] = bitcast<u32>(x);
    }
  }
  if (inside && r == 0u) {
    if (status != 0) {
      loop {
        let seen = atomicCompareExchangeWeak(&b3[0], 0u, params.v[3].x);
        if (seen.exchanged || seen.old_value == params.v[3].x) { atomicMax(&b3[1], ~u32(min(matrix, 67108862u) * 64u + u32(status + 1))); }
        if (seen.exchanged || seen.old_value != 0u) { break; }
      }
    }
  }
}

// ---- lu of small matrices in a subgroup: lu_factor, 9 workgroups of 32, 13 words
// lu of small matrices, in a subgroup
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
@group(0) @binding(3) var<storage, read_write> b2: array<u32>;
@group(0) @binding(4) var<storage, read_write> b3: array<atomic<u32>>;
var<workgroup> a: array<f32, 51>;
var<workgroup> bad: array<u32, 32>;
var<workgroup> line: array<vec4<f32>, 1>;
var<workgroup> sizes: array<f32, 32>;
        @builtin(subgroup_invocation_id) lane: u32, @builtin(subgroup_size) lanes: u32) {
  let own = thread / 32u;
  let r = thread - own * 32u;
  let matrix = group * 1u + own;
  let inside = matrix < params.v[0].y;
  if (thread == 0u) { bad[0] = lanes; }
  let together = workgroupUniformLoad(&bad[0]) >= 32u;
  var status = 0;
  var not_finite = 0u;
  if (inside) {
    for (var e = r; e < 17u * 2u; e += 32u) {
      let i = e / 2u;
      let j = e - i * 2u;
      let x0 = bitcast<f32>(b0[params.v[0].w + matrix * params.v[1].x + i * params.v[1].y + (0u + j)]);
      let x = x0;
      a[own * 51u + (i) * 3u + j] = x;
      if (!((tern_isfinite_f32(x)))) { not_finite = 1u; }
    }
  }
  bad[thread] = not_finite;
  workgroupBarrier();
  for (var k = 0u; k < 32u; k += 1u) {
    if (bad[own * 32u + k] != 0u) { status = -1; }
  }
  var y0 = f32(0.0);
  var y1 = f32(0.0);
  var place = r;
  var waits = r < 17u;
  if (waits) {
    y0 = a[own * 51u + (r) * 3u + 0u];
    y1 = a[own * 51u + (r) * 3u + 1u];
  }
  for (var k = 0u; k < 2u; k += 1u) {
    let size = select(tern_abs_f32(y0), f32(3.4e38), y0 != y0);
    var row = k;
    if (together) {
      let most = subgroupMax(select(0u, bitcast<u32>(size) + 1u, waits));
      row = subgroupMin(select(32u, place, waits && bitcast<u32>(size) + 1u == most));
    } else {
      if (waits) { sizes[own * 32u + place] = size; }
      workgroupBarrier();
      var best = sizes[own * 32u + k];
      var found = k;
      for (var i = k + 1u; i < 17u; i += 1u) {
        let other = sizes[own * 32u + i];
        if (other > best) {
          best = other;
          found = i;
        }
      }
      row = found;
    }
    let is_pivot = waits && place == row;
    if (is_pivot) {
      line[own * 1u + 0u] = vec4<f32>(y0, y1, f32(0.0), f32(0.0));
    }
    if (inside && r == 0u) {
      let exchanged = i32(row);
      let to1 = params.v[2].y + matrix * params.v[2].z + k;
      b2[to1] = bitcast<u32>(exchanged);
    }
    workgroupBarrier();
    let pivot = line[own * 1u].x;
    if (is_pivot) {
      place = k;
      waits = false;
    } else if (waits && place == k) {
      place = row;
    }
    var factor = f32(0.0);
    if (pivot == f32(0.0)) {
      if (status == 0) { status = i32(k) + 1; }
    } else if (waits) {
      let one = select(f32(-1.0), f32(1.0), y0 == pivot);
      factor = select(y0 / pivot, one, y0 == pivot || y0 == -pivot);
      a[own * 51u + (r) * 3u + k] = factor;
    }
    let behind = select(y0, f32(0.0), waits);
    let line0 = line[own * 1u + 0u];
    y0 = fma(-factor, line0.y, y1);
    y1 = behind;
  }
  if (r < 17u) {
    y0 = select(y0, a[own * 51u + (r) * 3u + (0u + 2u) % 2u], (0u + 2u) % 2u < min(place, 2u));
    y1 = select(y1, a[own * 51u + (r) * 3u + (1u + 2u) % 2u], (1u + 2u) % 2u < min(place, 2u));
  }
  workgroupBarrier();
  if (r < 17u) {
    a[own * 51u + (place) * 3u + (0u + 2u) % 2u] = y0;
    a[own * 51u + (place) * 3u + (1u + 2u) % 2u] = y1;
  }
  workgroupBarrier();
  if (inside) {
    for (var e = r; e < 17u * 2u; e += 32u) {
      let j = e / 17u;
      let i = e - j * 17u;
      let x = a[own * 51u + (i) * 3u + j];
      let to2 = params.v[1].z + matrix * params.v[1].w + i + (0u + j) * params.v[2].x;
      b1[to2] = bitcast<u32>(x);
    }
  }
  if (inside && r == 0u) {
    if (status != 0) {
      loop {
        let seen = atomicCompareExchangeWeak(&b3[0], 0u, params.v[3].x);
        if (seen.exchanged || seen.old_value == params.v[3].x) { atomicMax(&b3[1], ~u32(min(matrix, 67108862u) * 64u + u32(status + 1))); }
        if (seen.exchanged || seen.old_value != 0u) { break; }
      }
    }
  }
}

// ---- equations of small matrices: solve, 3 workgroups of 32, 12 words
// equations of small matrices
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read_write> b2: array<u32>;
@group(0) @binding(4) var<storage, read_write> b3: array<atomic<u32>>;
var<workgroup> a: array<f32, 100>;
var<workgroup> bad: array<u32, 32>;
var<workgroup> line: array<vec4<f32>, 8>;
var<workgroup> sizes: array<f32, 32>;
var<workgroup> known: array<f32, 20>;
  let own = thread / 8u;
  let r = thread - own * 8u;
  let matrix = group * 4u + own;
  let inside = matrix < params.v[0].y;
  var status = 0;
  var not_finite = 0u;
  if (inside) {
    for (var e = r; e < 5u * 5u; e += 8u) {
      let i = e / 5u;
      let j = e - i * 5u;
      let x0 = bitcast<f32>(b0[params.v[0].w + matrix * params.v[1].x + i * params.v[1].y + (0u + j)]);
      let x = x0;
      a[own * 25u + (i) * 5u + j] = x;
      if (!((tern_isfinite_f32(x)))) { not_finite = 1u; }
    }
  }
  bad[thread] = not_finite;
  workgroupBarrier();
  for (var k = 0u; k < 8u; k += 1u) {
    if (bad[own * 8u + k] != 0u) { status = -1; }
  }
  var y0 = f32(0.0);
// … 4 more of these 1 lines (a96eb505), and
  var y5 = f32(0.0);
  var place = r;
  var waits = r < 5u;
  if (waits) {
    y0 = a[own * 25u + (r) * 5u + 0u];
    y1 = a[own * 25u + (r) * 5u + 1u];
    y2 = a[own * 25u + (r) * 5u + 2u];
    y3 = a[own * 25u + (r) * 5u + 3u];
    y4 = a[own * 25u + (r) * 5u + 4u];
    if (inside) {
      let x1 = bitcast<f32>(b1[params.v[1].z + matrix * params.v[1].w + r]);
      y5 = x1;
    }
  }
  for (var k = 0u; k < 5u; k += 1u) {
    let size = select(tern_abs_f32(y0), f32(3.4e38), y0 != y0);
    if (waits) { sizes[own * 8u + place] = size; }
    workgroupBarrier();
    var best = sizes[own * 8u + k];
    var found = k;
    for (var i = k + 1u; i < 5u; i += 1u) {
      let other = sizes[own * 8u + i];
      if (other > best) {
        best = other;
        found = i;
      }
    }
    let row = found;
    let is_pivot = waits && place == row;
    if (is_pivot) {
      line[own * 2u + 0u] = vec4<f32>(y0, y1, y2, y3);
      line[own * 2u + 1u] = vec4<f32>(y4, y5, f32(0.0), f32(0.0));
    }
    workgroupBarrier();
    let pivot = line[own * 2u].x;
    if (is_pivot) {
      place = k;
      waits = false;
    } else if (waits && place == k) {
      place = row;
    }
    var factor = f32(0.0);
    if (pivot == f32(0.0)) {
      if (status == 0) { status = i32(k) + 1; }
    } else if (waits) {
      let one = select(f32(-1.0), f32(1.0), y0 == pivot);
      factor = select(y0 / pivot, one, y0 == pivot || y0 == -pivot);
    }
    let behind = select(y0, f32(0.0), waits);
    let line0 = line[own * 2u + 0u];
    y0 = fma(-factor, line0.y, y1);
    y1 = fma(-factor, line0.z, y2);
    y2 = fma(-factor, line0.w, y3);
    let line1 = line[own * 2u + 1u];
    y3 = fma(-factor, line1.x, y4);
    y4 = fma(-factor, line1.y, y5);
    y5 = behind;
  }
  if (place == 4u) {
    known[(own * 5u + 4u) * 1u + 0u] = y0 / y5;
  }
  workgroupBarrier();
  if (place < 4u) {
    y0 = fma(-y5, known[(own * 5u + 4u) * 1u + 0u], y0);
// … 2 more of these 7 lines (576d1e73), and
  }
  if (place == 1u) {
    known[(own * 5u + 1u) * 1u + 0u] = y0 / y2;
  }
  workgroupBarrier();
  if (place < 1u) {
    y0 = fma(-y2, known[(own * 5u + 1u) * 1u + 0u], y0);
  }
  if (place == 0u) {
    known[(own * 5u + 0u) * 1u + 0u] = y0 / y1;
  }
  workgroupBarrier();
  if (inside && r < 5u) {
    let x = known[(own * 5u + r) * 1u + 0u];
    let to2 = params.v[2].x + matrix * params.v[2].y + r;
    b2[to2] = bitcast<u32>(x);
  }
  if (inside && r == 0u) {
    if (status != 0) {
      loop {
        let seen = atomicCompareExchangeWeak(&b3[0], 0u, params.v[2].w);
        if (seen.exchanged || seen.old_value == params.v[2].w) { atomicMax(&b3[1], ~u32(min(matrix, 67108862u) * 64u + u32(status + 1))); }
        if (seen.exchanged || seen.old_value != 0u) { break; }
      }
    }
  }
}

// ---- solutions of small matrices: solve, 3 workgroups of 32, 16 words
// solutions of small matrices
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read> b2: array<u32>;
@group(0) @binding(4) var<storage, read_write> b3: array<u32>;
var<workgroup> a: array<vec4<f32>, 40>;
var<workgroup> places: array<u32, 20>;
  let block = group / params.v[0].w;
  let first = (group - block * params.v[0].w) * 32u;
  let width = min(32u, params.v[0].z - first);
  let own = thread / 8u;
  let r = thread - own * 8u;
  let matrix = block * 4u + own;
  let inside = matrix < params.v[0].y;
  if (inside) {
    for (var e = r; e < 5u * 5u; e += 8u) {
      let j = e / 5u;
      let i = e - j * 5u;
      let x0 = bitcast<f32>(b0[params.v[1].y + matrix * params.v[1].z + i + (0u + j) * params.v[1].w]);
      let x = x0;
      a[own * 10u + (i) * 2u + (j) / 4u][(j) % 4u] = x;
    }
  }
  if (r < 5u) {
    var place = 0;
    if (inside) {
      let x1 = bitcast<i32>(b2[params.v[2].w + matrix * params.v[3].x + r]);
      place = x1;
    }
    places[own * 5u + r] = u32(clamp(place, 0, 4));
  }
  workgroupBarrier();
  var to = r;
  for (var s = 0u; s < 5u; s += 1u) {
    let k = s;
    let row = places[own * 5u + k];
    to = select(select(to, k, to == row), row, to == k);
  }
  workgroupBarrier();
  if (r < 5u) { places[own * 5u + to] = r; }
  workgroupBarrier();
  if (inside) {
    for (var c = r; c < width; c += 8u) {
      var y0 = f32(0.0);
      {
        let x2 = bitcast<f32>(b1[params.v[2].x + matrix * params.v[2].y + places[own * 5u + 0u] * params.v[2].z + (first + c)]);
        y0 = x2;
      }
// … 3 more of these 5 lines (d9700da0), and
      var y4 = f32(0.0);
      {
        let x10 = bitcast<f32>(b1[params.v[2].x + matrix * params.v[2].y + places[own * 5u + 4u] * params.v[2].z + (first + c)]);
        y4 = x10;
      }
      let l1_0 = a[own * 10u + (1u) * 2u + (0u) / 4u];
      y1 = fma(-l1_0.x, y0, y1);
      let l2_0 = a[own * 10u + (2u) * 2u + (0u) / 4u];
      y2 = fma(-l2_0.x, y0, y2);
      let l3_0 = a[own * 10u + (3u) * 2u + (0u) / 4u];
      y3 = fma(-l3_0.x, y0, y3);
      y2 = fma(-l2_0.y, y1, y2);
      y3 = fma(-l3_0.y, y1, y3);
      y3 = fma(-l3_0.z, y2, y3);
      let l4_0 = a[own * 10u + (4u) * 2u + (0u) / 4u];
      y4 = fma(-l4_0.x, y0, y4);
      y4 = fma(-l4_0.y, y1, y4);
      y4 = fma(-l4_0.z, y2, y4);
      y4 = fma(-l4_0.w, y3, y4);
      let u4_1 = a[own * 10u + (4u) * 2u + (4u) / 4u];
      y4 = y4 / u4_1.x;
      let u3_1 = a[own * 10u + (3u) * 2u + (4u) / 4u];
      y3 = fma(-u3_1.x, y4, y3);
// … 2 more of these 2 lines (a3fc821a), and
      let u0_1 = a[own * 10u + (0u) * 2u + (4u) / 4u];
      y0 = fma(-u0_1.x, y4, y0);
      let u3_0 = a[own * 10u + (3u) * 2u + (0u) / 4u];
      y3 = y3 / u3_0.w;
      let u2_0 = a[own * 10u + (2u) * 2u + (0u) / 4u];
      y2 = fma(-u2_0.w, y3, y2);
      let u1_0 = a[own * 10u + (1u) * 2u + (0u) / 4u];
      y1 = fma(-u1_0.w, y3, y1);
      let u0_0 = a[own * 10u + (0u) * 2u + (0u) / 4u];
      y0 = fma(-u0_0.w, y3, y0);
      y2 = y2 / u2_0.z;
      y1 = fma(-u1_0.z, y2, y1);
      y0 = fma(-u0_0.z, y2, y0);
      y1 = y1 / u1_0.y;
      y0 = fma(-u0_0.y, y1, y0);
      y0 = y0 / u0_0.x;
      {
        let to3 = params.v[3].y + matrix * params.v[3].z + 0u * params.v[3].w + (first + c);
        b3[to3] = bitcast<u32>(y0);
      }
// … 3 more of these 4 lines (3d0509b8), and
      {
        let to11 = params.v[3].y + matrix * params.v[3].z + 4u * params.v[3].w + (first + c);
        b3[to11] = bitcast<u32>(y4);
      }
    }
  }
}

// ---- triangles of small matrices: solve_triangular, 3 workgroups of 32, 14 words
// triangles of small matrices
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read_write> b2: array<u32>;
var<workgroup> a: array<vec4<f32>, 64>;
  let block = group / params.v[0].w;
  let first = (group - block * params.v[0].w) * 32u;
  let width = min(32u, params.v[0].z - first);
  let own = thread / 8u;
  let r = thread - own * 8u;
  let matrix = block * 4u + own;
  let inside = matrix < params.v[0].y;
  if (inside) {
    for (var e = r; e < 8u * 8u; e += 8u) {
      let i = e / 8u;
      let j = e - i * 8u;
      let x0 = bitcast<f32>(b0[params.v[1].y + matrix * params.v[1].z + i * params.v[1].w + (0u + j)]);
      let x = x0;
      a[own * 16u + (i) * 2u + (j) / 4u][(j) % 4u] = x;
    }
  }
  workgroupBarrier();
  if (inside) {
    for (var c = r; c < width; c += 8u) {
      var y0 = f32(0.0);
      {
        let x1 = bitcast<f32>(b1[params.v[2].x + matrix * params.v[2].y + 0u * params.v[2].z + (first + c)]);
        y0 = x1;
      }
// … 6 more of these 5 lines (fbe9696c), and
      var y7 = f32(0.0);
      {
        let x15 = bitcast<f32>(b1[params.v[2].x + matrix * params.v[2].y + 7u * params.v[2].z + (first + c)]);
        y7 = x15;
      }
      let a7_1 = a[own * 16u + (7u) * 2u + (4u) / 4u];
      y7 = y7 / a7_1.w;
      let a6_1 = a[own * 16u + (6u) * 2u + (4u) / 4u];
      y6 = fma(-a6_1.w, y7, y6);
      let a5_1 = a[own * 16u + (5u) * 2u + (4u) / 4u];
      y5 = fma(-a5_1.w, y7, y5);
      let a4_1 = a[own * 16u + (4u) * 2u + (4u) / 4u];
      y4 = fma(-a4_1.w, y7, y4);
      y6 = y6 / a6_1.z;
      y5 = fma(-a5_1.z, y6, y5);
      y4 = fma(-a4_1.z, y6, y4);
      y5 = y5 / a5_1.y;
      y4 = fma(-a4_1.y, y5, y4);
      y4 = y4 / a4_1.x;
      let a3_1 = a[own * 16u + (3u) * 2u + (4u) / 4u];
      y3 = fma(-a3_1.w, y7, y3);
      y3 = fma(-a3_1.z, y6, y3);
      y3 = fma(-a3_1.y, y5, y3);
      y3 = fma(-a3_1.x, y4, y3);
// … 2 more of these 5 lines (06124477), and
      let a0_1 = a[own * 16u + (0u) * 2u + (4u) / 4u];
      y0 = fma(-a0_1.w, y7, y0);
      y0 = fma(-a0_1.z, y6, y0);
      y0 = fma(-a0_1.y, y5, y0);
      y0 = fma(-a0_1.x, y4, y0);
      let a3_0 = a[own * 16u + (3u) * 2u + (0u) / 4u];
      y3 = y3 / a3_0.w;
      let a2_0 = a[own * 16u + (2u) * 2u + (0u) / 4u];
      y2 = fma(-a2_0.w, y3, y2);
      let a1_0 = a[own * 16u + (1u) * 2u + (0u) / 4u];
      y1 = fma(-a1_0.w, y3, y1);
      let a0_0 = a[own * 16u + (0u) * 2u + (0u) / 4u];
      y0 = fma(-a0_0.w, y3, y0);
      y2 = y2 / a2_0.z;
      y1 = fma(-a1_0.z, y2, y1);
      y0 = fma(-a0_0.z, y2, y0);
      y1 = y1 / a1_0.y;
      y0 = fma(-a0_0.y, y1, y0);
      y0 = y0 / a0_0.x;
      {
        let to2 = params.v[2].w + matrix * params.v[3].x + 0u * params.v[3].y + (first + c);
        b2[to2] = bitcast<u32>(y0);
      }
// … 6 more of these 4 lines (5eaa4903), and
      {
        let to16 = params.v[2].w + matrix * params.v[3].x + 7u * params.v[3].y + (first + c);
        b2[to16] = bitcast<u32>(y7);
      }
    }
  }
}

// ---- qr of small matrices: qr, 3 workgroups of 32, 12 words
// qr of small matrices
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
@group(0) @binding(3) var<storage, read_write> b2: array<u32>;
var<workgroup> columns: array<f32, 140>;
var<workgroup> taus: array<f32, 32>;
var<workgroup> of_vs: array<f32, 32>;
var<workgroup> largest_of: array<f32, 32>;
var<workgroup> reflections: array<f32, 84>;
fn near_root(x: f32) -> f32 {
  let s = sqrt(x);
  return fma(fma(-s, s, x), 0.5 / s, s);
}
fn near_quotient(x: f32, y: f32) -> f32 {
  let inverse = 1.0 / y;
  let q = x * inverse;
  return fma(fma(-q, y, x), inverse, q);
}
fn power_of(x: f32) -> f32 {
  let bits = clamp(bitcast<u32>(x) & 0x7f800000u, 0x00800000u, 0x7e800000u);
  return bitcast<f32>(bits);
}
fn scaled(x: f32, up: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let mantissa = f32(bits & 0x007fffffu) * f32(1.1920928955078125e-07) * (up * bitcast<f32>(0x00800000u));
  let sign = bits & 0x80000000u;
  return select(x * up, bitcast<f32>(bitcast<u32>(mantissa) | sign), (bits & 0x7f800000u) == 0u && up >= f32(1.0));
}
fn unscaled(x: f32, power: f32) -> f32 {
  let made = x * power;
  let bits = bitcast<u32>(x);
  let size = bitcast<f32>(bits & 0x7fffffffu);
  let raised = size * (min(power, f32(1.0)) * bitcast<f32>(0x7e800000u));
  let mantissa = u32(min(raised, f32(1.0)) * f32(8388608.0) + f32(0.5));
  return select(made, bitcast<f32>(mantissa | (bits & 0x80000000u)), raised < f32(1.0) && power <= f32(1.0));
}
  let own = thread / 8u;
  let r = thread - own * 8u;
  let matrix = group * 4u + own;
  let inside = matrix < params.v[0].y;
  if (inside) {
    var e = r;
    for (; e + 3u * 8u < 7u * 5u; e += 4u * 8u) {
      let i0 = (e + 0u * 8u) / 5u;
      let j0 = e + 0u * 8u - i0 * 5u;
      let x1 = bitcast<f32>(b0[params.v[0].w + matrix * params.v[1].x + i0 * params.v[1].y + j0]);
// … 2 more of these 3 lines (4f060453), and
      let i3 = (e + 3u * 8u) / 5u;
      let j3 = e + 3u * 8u - i3 * 5u;
      let x4 = bitcast<f32>(b0[params.v[0].w + matrix * params.v[1].x + i3 * params.v[1].y + j3]);
      columns[own * 35u + (j0) * 7u + i0] = x1;
      columns[own * 35u + (j1) * 7u + i1] = x2;
      columns[own * 35u + (j2) * 7u + i2] = x3;
      columns[own * 35u + (j3) * 7u + i3] = x4;
    }
    for (; e < 7u * 5u; e += 8u) {
      let i = e / 5u;
      let j = e - i * 5u;
      let x0 = bitcast<f32>(b0[params.v[0].w + matrix * params.v[1].x + i * params.v[1].y + j]);
      columns[own * 35u + (j) * 7u + i] = x0;
    }
  }
  workgroupBarrier();
  var scale = f32(1.0);
  if (r < 5u) {
    let mine = own * 35u + (r) * 7u;
    var most_here = f32(0.0);
    {
      var i = 0u;
      for (; i + 7u < 7u; i += 8u) {
        let y0 = columns[mine + i + 0u];
// … 6 more of these 1 lines (5a7bad07), and
        let y7 = columns[mine + i + 7u];
        most_here = max(most_here, tern_abs_f32(y0));
// … 6 more of these 1 lines (59e68732), and
        most_here = max(most_here, tern_abs_f32(y7));
      }
      for (; i + 3u < 7u; i += 4u) {
        let y0 = columns[mine + i + 0u];
        let y1 = columns[mine + i + 1u];
        let y2 = columns[mine + i + 2u];
        let y3 = columns[mine + i + 3u];
        most_here = max(most_here, tern_abs_f32(y0));
        most_here = max(most_here, tern_abs_f32(y1));
        most_here = max(most_here, tern_abs_f32(y2));
        most_here = max(most_here, tern_abs_f32(y3));
      }
      for (; i < 7u; i += 1u) {
        let y0 = columns[mine + i + 0u];
        most_here = max(most_here, tern_abs_f32(y0));
      }
    }
    scale = power_of(most_here);
    let up = f32(1.0) / scale;
    var largest = f32(0.0);
    {
      var i = 0u;
      for (; i + 7u < 7u; i += 8u) {
        let y0 = columns[mine + i + 0u];
// … 6 more of these 1 lines (5a7bad07), and
        let y7 = columns[mine + i + 7u];
        let z0 = scaled(y0, up);
        columns[mine + i + 0u] = z0;
        largest = max(largest, tern_abs_f32(z0));
// … 6 more of these 3 lines (09ee6526), and
        let z7 = scaled(y7, up);
        columns[mine + i + 7u] = z7;
        largest = max(largest, tern_abs_f32(z7));
      }
      for (; i + 3u < 7u; i += 4u) {
        let y0 = columns[mine + i + 0u];
        let y1 = columns[mine + i + 1u];
        let y2 = columns[mine + i + 2u];
        let y3 = columns[mine + i + 3u];
        let z0 = scaled(y0, up);
        columns[mine + i + 0u] = z0;
        largest = max(largest, tern_abs_f32(z0));
// … 2 more of these 3 lines (8f29b252), and
        let z3 = scaled(y3, up);
        columns[mine + i + 3u] = z3;
        largest = max(largest, tern_abs_f32(z3));
      }
      for (; i < 7u; i += 1u) {
        let y0 = columns[mine + i + 0u];
        let z0 = scaled(y0, up);
        columns[mine + i + 0u] = z0;
        largest = max(largest, tern_abs_f32(z0));
      }
    }
    largest_of[thread] = largest;
  }
  workgroupBarrier();
  for (var k = 0u; k < 5u; k += 1u) {
    let at_k = own * 35u + (k) * 7u;
    var diagonal = f32(0.0);
    if (r >= k && r < 5u) {
      let mine = own * 35u + (r) * 7u;
      let size = power_of(largest_of[own * 8u + k]);
      let less = f32(1.0) / size;
      let first = columns[at_k + k] * less;
      var below = f32(0.0);
      var product = f32(0.0);
      {
        var i = k + 1u;
        for (; i + 7u < 7u; i += 8u) {
          let x0 = columns[at_k + i + 0u] * less;
          let y0 = columns[mine + i + 0u];
// … 6 more of these 2 lines (40512061), and
          let x7 = columns[at_k + i + 7u] * less;
          let y7 = columns[mine + i + 7u];
          below = fma(x0, x0, below);
          product = fma(x0, y0, product);
// … 6 more of these 2 lines (c5dad5f5), and
          below = fma(x7, x7, below);
          product = fma(x7, y7, product);
        }
        for (; i + 3u < 7u; i += 4u) {
          let x0 = columns[at_k + i + 0u] * less;
          let y0 = columns[mine + i + 0u];
// … 2 more of these 2 lines (b11a7c19), and
          let x3 = columns[at_k + i + 3u] * less;
          let y3 = columns[mine + i + 3u];
          below = fma(x0, x0, below);
          product = fma(x0, y0, product);
// … 2 more of these 2 lines (c04143f5), and
          below = fma(x3, x3, below);
          product = fma(x3, y3, product);
        }
        for (; i < 7u; i += 1u) {
          let x0 = columns[at_k + i + 0u] * less;
          let y0 = columns[mine + i + 0u];
          below = fma(x0, x0, below);
          product = fma(x0, y0, product);
        }
      }
      let is_tiny = largest_of[own * 8u + k] < size && below < f32(7.0);  // subnormal; not NaN
      let none = below == f32(0.0) || is_tiny;
      let length = near_root(fma(first, first, below));
      let made = select(select(length, -length, first > f32(0.0)), first, none);
      let to = first - made;
      let of_v = select(near_quotient(less, select(to, f32(1.0), none)), f32(0.0), none);
      let tau = select(near_quotient(-to, select(made, f32(1.0), none)), f32(0.0), none);
      if (r == k) {
        diagonal = made * size;
        taus[thread] = tau;
        of_vs[thread] = of_v;
      } else {
        let w = fma(product, of_v * size, columns[mine + k]) * tau;
        columns[mine + k] = columns[mine + k] - w;
        var largest = f32(0.0);
        {
          var i = k + 1u;
          for (; i + 7u < 7u; i += 8u) {
            let v0 = columns[at_k + i + 0u] * of_v;
            let y0 = columns[mine + i + 0u];
// … 6 more of these 2 lines (7c6ed38b), and
            let v7 = columns[at_k + i + 7u] * of_v;
            let y7 = columns[mine + i + 7u];
            let z0 = fma(-v0, w, y0);
            columns[mine + i + 0u] = z0;
            largest = max(largest, tern_abs_f32(z0));
// … 6 more of these 3 lines (8e7fbbd7), and
            let z7 = fma(-v7, w, y7);
            columns[mine + i + 7u] = z7;
            largest = max(largest, tern_abs_f32(z7));
          }
          for (; i + 3u < 7u; i += 4u) {
            let v0 = columns[at_k + i + 0u] * of_v;
            let y0 = columns[mine + i + 0u];
// … 2 more of these 2 lines (bbd3988f), and
            let v3 = columns[at_k + i + 3u] * of_v;
            let y3 = columns[mine + i + 3u];
            let z0 = fma(-v0, w, y0);
            columns[mine + i + 0u] = z0;
            largest = max(largest, tern_abs_f32(z0));
// … 2 more of these 3 lines (1ad5439b), and
            let z3 = fma(-v3, w, y3);
            columns[mine + i + 3u] = z3;
            largest = max(largest, tern_abs_f32(z3));
          }
          for (; i < 7u; i += 1u) {
            let v0 = columns[at_k + i + 0u] * of_v;
            let y0 = columns[mine + i + 0u];
            let z0 = fma(-v0, w, y0);
            columns[mine + i + 0u] = z0;
            largest = max(largest, tern_abs_f32(z0));
          }
        }
        largest_of[thread] = largest;
      }
    }
    workgroupBarrier();
    if (r == k) { columns[at_k + k] = diagonal; }
  }
  workgroupBarrier();
  if (inside && r < 5u) {
    let mine = own * 35u + (r) * 7u;
    for (var i = 0u; i < 5u; i += 1u) {
      let x = select(unscaled(columns[mine + i], scale), f32(0.0), i > r);
      let to6 = params.v[2].y + matrix * params.v[2].z + i * params.v[2].w + r;
      b2[to6] = bitcast<u32>(x);
    }
  }
  workgroupBarrier();
  if (r < 5u) {
    let mine = own * 35u + (r) * 7u;
    let rows = select(r + 1u, 7u, r >= 5u);
    for (var i = 0u; i < rows; i += 1u) {
      columns[mine + i] = select(f32(0.0), f32(1.0), i == r && r >= 5u);
    }
  }
  var product = f32(0.0);
  for (var i = r; i < 7u; i += 8u) { reflections[own * 21u + 4u % 3u * 7u + i] = select(select(f32(0.0), f32(1.0), i == 4u), columns[own * 35u + (4u) * 7u + i] * of_vs[own * 8u + 4u], i > 4u); }
  workgroupBarrier();
  if (r >= 5u && r < 5u) { product = reflections[own * 21u + 4u % 3u * 7u + r]; }
  for (var s = 5u; s > 0u; s -= 1u) {
    let k = s - 1u;
    let next = max(k, 1u) - 1u;
    if (k > 0u) {
      for (var i = r; i < 7u; i += 8u) { reflections[own * 21u + next % 3u * 7u + i] = select(select(f32(0.0), f32(1.0), i == next), columns[own * 35u + (next) * 7u + i] * of_vs[own * 8u + next], i > next); }
    }
    workgroupBarrier();
    if (r >= k && r < 5u) {
      let mine = own * 35u + (r) * 7u;
      let fresh = r == k;
      let w = select(product, f32(1.0), fresh) * taus[own * 8u + k];
      product = f32(0.0);
      {
        var i = k & 0xfffffff8u;
        for (; i + 7u < 7u; i += 8u) {
          let v0 = reflections[own * 21u + k % 3u * 7u + i + 0u];
          let u0 = reflections[own * 21u + next % 3u * 7u + i + 0u];
          let y0 = select(columns[mine + i + 0u], f32(0.0), fresh);
// … 6 more of these 3 lines (5dc15a87), and
          let v7 = reflections[own * 21u + k % 3u * 7u + i + 7u];
          let u7 = reflections[own * 21u + next % 3u * 7u + i + 7u];
          let y7 = select(columns[mine + i + 7u], f32(0.0), fresh);
          let z0 = fma(-v0, w, y0);
          columns[mine + i + 0u] = z0;
          product = fma(u0, z0, product);
// … 6 more of these 3 lines (82f386f0), and
          let z7 = fma(-v7, w, y7);
          columns[mine + i + 7u] = z7;
          product = fma(u7, z7, product);
        }
        for (; i + 3u < 7u; i += 4u) {
          let v0 = reflections[own * 21u + k % 3u * 7u + i + 0u];
          let u0 = reflections[own * 21u + next % 3u * 7u + i + 0u];
          let y0 = select(columns[mine + i + 0u], f32(0.0), fresh);
// … 2 more of these 3 lines (aa9d1cd7), and
          let v3 = reflections[own * 21u + k % 3u * 7u + i + 3u];
          let u3 = reflections[own * 21u + next % 3u * 7u + i + 3u];
          let y3 = select(columns[mine + i + 3u], f32(0.0), fresh);
          let z0 = fma(-v0, w, y0);
          columns[mine + i + 0u] = z0;
          product = fma(u0, z0, product);
// … 2 more of these 3 lines (ad716724), and
          let z3 = fma(-v3, w, y3);
          columns[mine + i + 3u] = z3;
          product = fma(u3, z3, product);
        }
        for (; i < 7u; i += 1u) {
          let v0 = reflections[own * 21u + k % 3u * 7u + i + 0u];
          let u0 = reflections[own * 21u + next % 3u * 7u + i + 0u];
          let y0 = select(columns[mine + i + 0u], f32(0.0), fresh);
          let z0 = fma(-v0, w, y0);
          columns[mine + i + 0u] = z0;
          product = fma(u0, z0, product);
        }
      }
      if (fresh) {
        columns[mine + k] = columns[mine + k] + f32(1.0);
        product = product + reflections[own * 21u + next % 3u * 7u + k];
      }
    }
  }
  workgroupBarrier();
  if (inside) {
    for (var e = r; e < 7u * 5u; e += 8u) {
      let i = e / 5u;
      let j = e - i * 5u;
      let x = columns[own * 35u + (j) * 7u + i];
      let to5 = params.v[1].z + matrix * params.v[1].w + i * params.v[2].x + j;
      b1[to5] = bitcast<u32>(x);
    }
  }
}

// ---- eigh of small matrices: eigh, 3 workgroups of 32, 13 words
// eigh of small matrices
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
@group(0) @binding(3) var<storage, read_write> b2: array<u32>;
@group(0) @binding(4) var<storage, read_write> b3: array<atomic<u32>>;
var<workgroup> a: array<f32, 168>;
var<workgroup> values: array<f32, 32>;
var<workgroup> partial: array<f32, 32>;
var<workgroup> bad: array<u32, 32>;
var<workgroup> busy: array<u32, 32>;
var<workgroup> order: array<u32, 32>;
var<workgroup> cosines: array<f32, 32>;
var<workgroup> sines: array<f32, 32>;
var<workgroup> vectors: array<f32, 100>;
fn near_root(x: f32) -> f32 {
  let s = sqrt(x);
  return fma(fma(-s, s, x), 0.5 / s, s);
}
fn near_quotient(x: f32, y: f32) -> f32 {
  let inverse = 1.0 / y;
  let q = x * inverse;
  return fma(fma(-q, y, x), inverse, q);
}
fn power_of(x: f32) -> f32 {
  let bits = clamp(bitcast<u32>(x) & 0x7f800000u, 0x00800000u, 0x7e800000u);
  return bitcast<f32>(bits);
}
fn scaled(x: f32, up: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let mantissa = f32(bits & 0x007fffffu) * f32(1.1920928955078125e-07) * (up * bitcast<f32>(0x00800000u));
  let sign = bits & 0x80000000u;
  return select(x * up, bitcast<f32>(bitcast<u32>(mantissa) | sign), (bits & 0x7f800000u) == 0u && up >= f32(1.0));
}
fn unscaled(x: f32, power: f32) -> f32 {
  let made = x * power;
  let bits = bitcast<u32>(x);
  let size = bitcast<f32>(bits & 0x7fffffffu);
  let raised = size * (min(power, f32(1.0)) * bitcast<f32>(0x7e800000u));
  let mantissa = u32(min(raised, f32(1.0)) * f32(8388608.0) + f32(0.5));
  return select(made, bitcast<f32>(mantissa | (bits & 0x80000000u)), raised < f32(1.0) && power <= f32(1.0));
}
  let own = thread / 8u;
  let r = thread - own * 8u;
  let matrix = group * 4u + own;
  let inside = matrix < params.v[0].y;
  var status = 0;
  var not_finite = 0u;
  var most = f32(0.0);
  if (inside) {
    for (var e = r; e < 5u * 5u; e += 8u) {
      let i = e / 5u;
      let j = e - i * 5u;
      if (j <= i) {
        let x0 = bitcast<f32>(b0[params.v[0].w + matrix * params.v[1].x + i * params.v[1].y + j]);
        if (!((tern_isfinite_f32(x0)))) { not_finite = 1u; }
        most = max(most, tern_abs_f32(x0));
        a[own * 42u + (i) * 7u + j] = x0;
      }
    }
  }
  bad[thread] = not_finite;
  partial[thread] = most;
  workgroupBarrier();
  for (var k = 0u; k < 8u; k += 1u) {
    if (bad[own * 8u + k] != 0u) { status = -1; }
    most = max(most, partial[own * 8u + k]);
  }
  let power = power_of(most);
  let up = f32(1.0) / power;
  workgroupBarrier();
  var norm = f32(0.0);
  for (var e = r; e < 5u * 5u; e += 8u) {
    let i = e / 5u;
    let j = e - i * 5u;
    if (j <= i) {
      let x = scaled(a[own * 42u + (i) * 7u + j], up);
      norm = fma(x * select(f32(2.0), f32(1.0), i == j), x, norm);
      a[own * 42u + (i) * 7u + j] = x;
      a[own * 42u + (j) * 7u + i] = x;
    }
  }
  for (var i = r; i < 6u; i += 8u) {
    a[own * 42u + (i) * 7u + 5u] = f32(0.0);
    a[own * 42u + (5u) * 7u + i] = f32(0.0);
  }
  for (var e = r; e < 25u; e += 8u) {
    let j = e / 5u;
    let i = e - j * 5u;
    vectors[own * 25u + (j) * 5u + i] = select(f32(0.0), f32(1.0), i == j);
  }
  partial[thread] = norm;
  workgroupBarrier();
  norm = f32(0.0);
  for (var k = 0u; k < 8u; k += 1u) { norm += partial[own * 8u + k]; }
  // All that is left below this changes the matrix by less than a rounding of its norm.
  let little = sqrt(norm) * f32(1.19209289550781257e-08);
  let rotates = inside && status == 0;
  var going = 0u;
  for (var sweep = 0u; sweep < 40u; sweep += 1u) {
    var moved = 0u;
    for (var round = 0u; round < 5u; round += 1u) {
      let pair = r % 4u;
      let part = r / 4u;
      let one = select((round + pair) % 5u, 5u, pair == 0u);
      let other = (round + 5u - pair) % 5u;
      let p = min(one, other);
      let q = max(one, other);
      let there = pair < 3u;
      if (there && part == 0u) {
        let off = a[own * 42u + (q) * 7u + p];
        var cosine = f32(1.0);
        var sine = f32(0.0);
        if (rotates && tern_abs_f32(off) > little) {
          let x = a[own * 42u + (p) * 7u + p];
          let y = a[own * 42u + (q) * 7u + q];
          let cotangent = (y - x) / (off + off);
          let steep = min(tern_abs_f32(cotangent), f32(1e18));
          let tangent = f32(1.0) / (steep + sqrt(fma(steep, steep, f32(1.0))));
          let t = select(tangent, -tangent, cotangent < f32(0.0));
          let c = tern_div(f32(1.0), tern_sqrt(fma(t, t, f32(1.0))));
          let s = t * c;
          a[own * 42u + (p) * 7u + p] = fma(-t, off, x);
          a[own * 42u + (q) * 7u + q] = fma(t, off, y);
          a[own * 42u + (p) * 7u + q] = f32(0.0);
          a[own * 42u + (q) * 7u + p] = f32(0.0);
          cosine = c;
          sine = s;
          moved = 1u;
        }
        cosines[own * 8u + pair] = cosine;
        sines[own * 8u + pair] = sine;
      }
      workgroupBarrier();
      if (there) {
        let c = cosines[own * 8u + pair];
        let s = sines[own * 8u + pair];
        for (var d = part + 1u; d <= 3u / 2u; d += 2u) {
          let next = (pair + d) % 3u;
          let c2 = cosines[own * 8u + next];
          let s2 = sines[own * 8u + next];
          if ((d * 2u < 3u || pair < next) && (s != f32(0.0) || s2 != f32(0.0))) {
            let one2 = select((round + next) % 5u, 5u, next == 0u);
            let other2 = (round + 5u - next) % 5u;
            let p2 = min(one2, other2);
            let q2 = max(one2, other2);
            let pp = a[own * 42u + (p) * 7u + p2];
            let pq = a[own * 42u + (p) * 7u + q2];
            let qp = a[own * 42u + (q) * 7u + p2];
            let qq = a[own * 42u + (q) * 7u + q2];
            let upper_p = fma(-s, qp, c * pp);
            let upper_q = fma(-s, qq, c * pq);
            let lower_p = fma(s, pp, c * qp);
            let lower_q = fma(s, pq, c * qq);
            let new_pp = fma(-s2, upper_q, c2 * upper_p);
            let new_pq = fma(s2, upper_p, c2 * upper_q);
            let new_qp = fma(-s2, lower_q, c2 * lower_p);
            let new_qq = fma(s2, lower_p, c2 * lower_q);
            a[own * 42u + (p) * 7u + p2] = new_pp;
            a[own * 42u + (p2) * 7u + p] = new_pp;
            a[own * 42u + (p) * 7u + q2] = new_pq;
            a[own * 42u + (q2) * 7u + p] = new_pq;
            a[own * 42u + (q) * 7u + p2] = new_qp;
            a[own * 42u + (p2) * 7u + q] = new_qp;
            a[own * 42u + (q) * 7u + q2] = new_qq;
            a[own * 42u + (q2) * 7u + q] = new_qq;
          }
        }
        if (s != f32(0.0)) {
          let first = own * 25u + (p) * 5u;
          let second = own * 25u + (q) * 5u;
          {
            var i = part;
            for (; i + 3u * 2u < 5u; i += 4u * 2u) {
              let x0 = vectors[first + i + 0u * 2u];
              let y0 = vectors[second + i + 0u * 2u];
// … 2 more of these 2 lines (ca55947d), and
              let x3 = vectors[first + i + 3u * 2u];
              let y3 = vectors[second + i + 3u * 2u];
              vectors[first + i + 0u * 2u] = fma(-s, y0, c * x0);
              vectors[second + i + 0u * 2u] = fma(s, x0, c * y0);
// … 2 more of these 2 lines (953f8859), and
              vectors[first + i + 3u * 2u] = fma(-s, y3, c * x3);
              vectors[second + i + 3u * 2u] = fma(s, x3, c * y3);
            }
            for (; i < 5u; i += 2u) {
              let x = vectors[first + i];
              let y = vectors[second + i];
              vectors[first + i] = fma(-s, y, c * x);
              vectors[second + i] = fma(s, x, c * y);
            }
          }
        }
      }
      workgroupBarrier();
    }
    busy[thread] = moved;
    workgroupBarrier();
    going = 0u;
    var all_going = 0u;
    for (var k = 0u; k < 32u; k += 1u) {
      all_going = all_going | busy[k];
      if (k / 8u == own) { going = going | busy[k]; }
    }
    workgroupBarrier();
    if (thread == 0u) { busy[0] = all_going; }
    let any_going = workgroupUniformLoad(&busy[0]);
    if (any_going == 0u) { break; }
  }
  if (status == 0 && going != 0u) { status = 1; }
  if (r < 5u) { values[own * 8u + r] = a[own * 42u + (r) * 7u + r]; }
  order[thread] = r;
  workgroupBarrier();
  if (r < 5u) {
    let value = values[own * 8u + r];
    var rank = 0u;
    for (var k = 0u; k < 5u; k += 1u) {
      let here = values[own * 8u + k];
      if (here < value || (here == value && k < r)) { rank += 1u; }
    }
    order[own * 8u + rank] = r;
  }
  workgroupBarrier();
  if (inside) {
    for (var k = r; k < 5u; k += 8u) {
      let x = unscaled(values[own * 8u + order[own * 8u + k]], power);
      let to2 = params.v[1].z + matrix * params.v[1].w + k;
      b1[to2] = bitcast<u32>(x);
    }
    for (var e = r; e < 5u * 5u; e += 8u) {
      let i = e / 5u;
      let j = e - i * 5u;
      let x = vectors[own * 25u + (order[own * 8u + j]) * 5u + i];
      let to1 = params.v[2].x + matrix * params.v[2].y + i * params.v[2].z + j;
      b2[to1] = bitcast<u32>(x);
    }
  }
  if (inside && r == 0u) {
    if (status != 0) {
      loop {
        let seen = atomicCompareExchangeWeak(&b3[0], 0u, params.v[3].x);
        if (seen.exchanged || seen.old_value == params.v[3].x) { atomicMax(&b3[1], ~u32(min(matrix, 67108862u) * 64u + u32(status + 1))); }
        if (seen.exchanged || seen.old_value != 0u) { break; }
      }
    }
  }
}

// ---- svd of small matrices: svd, 3 workgroups of 32, 16 words
// svd of small matrices
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
@group(0) @binding(3) var<storage, read_write> b2: array<u32>;
@group(0) @binding(4) var<storage, read_write> b3: array<u32>;
@group(0) @binding(5) var<storage, read_write> b4: array<atomic<u32>>;
var<workgroup> columns: array<f32, 140>;
var<workgroup> values: array<f32, 32>;
var<workgroup> partial: array<f32, 32>;
var<workgroup> bad: array<u32, 32>;
var<workgroup> busy: array<u32, 32>;
var<workgroup> order: array<u32, 32>;
var<workgroup> vectors: array<f32, 196>;
var<workgroup> taus: array<f32, 32>;
var<workgroup> of_vs: array<f32, 32>;
fn tern_keep(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) ^ params.v[4].x);
}
fn near_root(x: f32) -> f32 {
  let s = sqrt(x);
  return fma(fma(-s, s, x), 0.5 / s, s);
}
fn near_quotient(x: f32, y: f32) -> f32 {
  let inverse = 1.0 / y;
  let q = x * inverse;
  return fma(fma(-q, y, x), inverse, q);
}
fn power_of(x: f32) -> f32 {
  let bits = clamp(bitcast<u32>(x) & 0x7f800000u, 0x00800000u, 0x7e800000u);
  return bitcast<f32>(bits);
}
fn scaled(x: f32, up: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let mantissa = f32(bits & 0x007fffffu) * f32(1.1920928955078125e-07) * (up * bitcast<f32>(0x00800000u));
  let sign = bits & 0x80000000u;
  return select(x * up, bitcast<f32>(bitcast<u32>(mantissa) | sign), (bits & 0x7f800000u) == 0u && up >= f32(1.0));
}
fn unscaled(x: f32, power: f32) -> f32 {
  let made = x * power;
  let bits = bitcast<u32>(x);
  let size = bitcast<f32>(bits & 0x7fffffffu);
  let raised = size * (min(power, f32(1.0)) * bitcast<f32>(0x7e800000u));
  let mantissa = u32(min(raised, f32(1.0)) * f32(8388608.0) + f32(0.5));
  return select(made, bitcast<f32>(mantissa | (bits & 0x80000000u)), raised < f32(1.0) && power <= f32(1.0));
}
  let own = thread / 8u;
  let r = thread - own * 8u;
  let matrix = group * 4u + own;
  let inside = matrix < params.v[0].y;
  var status = 0;
  var not_finite = 0u;
  var most = f32(0.0);
  if (inside) {
    for (var e = r; e < 7u * 5u; e += 8u) {
      let i = e / 5u;
      let j = e - i * 5u;
      let x0 = bitcast<f32>(b0[params.v[0].w + matrix * params.v[1].x + i * params.v[1].y + j]);
      if (!((tern_isfinite_f32(x0)))) { not_finite = 1u; }
      most = max(most, tern_abs_f32(x0));
      columns[own * 35u + (j) * 7u + i] = x0;
    }
  }
  bad[thread] = not_finite;
  partial[thread] = most;
  workgroupBarrier();
  for (var k = 0u; k < 8u; k += 1u) {
    if (bad[own * 8u + k] != 0u) { status = -1; }
    most = max(most, partial[own * 8u + k]);
  }
  let power = power_of(most);
  let up = f32(1.0) / power;
  if (inside) {
    for (var e = r; e < 7u * 5u; e += 8u) {
      let i = e / 5u;
      let j = e - i * 5u;
      columns[own * 35u + (j) * 7u + i] = scaled(columns[own * 35u + (j) * 7u + i], up);
    }
  }
  for (var e = r; e < 25u; e += 8u) {
    let j = e / 5u;
    let i = e - j * 5u;
    vectors[own * 25u + (j) * 5u + i] = select(f32(0.0), f32(1.0), i == j);
  }
  let rotates = inside && status == 0;
  var going = 0u;
  for (var sweep = 0u; sweep < 40u; sweep += 1u) {
    var moved = 0u;
    workgroupBarrier();
    if (r < 5u) {
      var square = f32(0.0);
      let mine = own * 35u + (r) * 7u;
      for (var i = 0u; i < 7u; i += 1u) { square = fma(columns[mine + i], columns[mine + i], square); }
      values[own * 8u + r] = square;
    }
    for (var round = 0u; round < 5u; round += 1u) {
      let pair = r % 4u;
      let part = r / 4u;
      let one = select((round + pair) % 5u, 5u, pair == 0u);
      let other = (round + 5u - pair) % 5u;
      let p = min(one, other);
      let q = max(one, other);
      let there = rotates && pair < 3u && q < 5u;
      let at_p = own * 35u + (p) * 7u;
      let at_q = own * 35u + (q) * 7u;
      var product = f32(0.0);
      if (there) {
        var i = part;
        for (; i + 3u * 2u < 7u; i += 4u * 2u) {
          let x0 = columns[at_p + i + 0u * 2u];
          let y0 = columns[at_q + i + 0u * 2u];
// … 2 more of these 2 lines (70c33165), and
          let x3 = columns[at_p + i + 3u * 2u];
          let y3 = columns[at_q + i + 3u * 2u];
          product = fma(x0, y0, product);
          product = fma(x1, y1, product);
          product = fma(x2, y2, product);
          product = fma(x3, y3, product);
        }
        for (; i < 7u; i += 2u) { product = fma(columns[at_p + i], columns[at_q + i], product); }
      }
      partial[thread] = product;
      workgroupBarrier();
      var rotated = false;
      var shorter = f32(0.0);
      var longer = f32(0.0);
      if (there) {
        var off = f32(0.0);
        for (var k = 0u; k < 2u; k += 1u) { off += partial[own * 8u + k * 4u + pair]; }
        let x = values[own * 8u + p];
        let y = values[own * 8u + q];
        if (min(x, y) > f32(1.08420217248550443e-19) && tern_abs_f32(off) > f32(3.15398134120057907e-07) * sqrt(x * y)) {
          let cotangent = (y - x) / (off + off);
          let steep = min(tern_abs_f32(cotangent), f32(1e18));
          let tangent = f32(1.0) / (steep + sqrt(fma(steep, steep, f32(1.0))));
          let t = select(tangent, -tangent, cotangent < f32(0.0));
          let c = tern_div(f32(1.0), tern_sqrt(fma(t, t, f32(1.0))));
          let s = t * c;
          shorter = fma(-t, off, x);
          longer = fma(t, off, y);
          rotated = true;
          moved = 1u;
          {
            var i = part;
            for (; i + 3u * 2u < 7u; i += 4u * 2u) {
              let x0 = columns[at_p + i + 0u * 2u];
              let y0 = columns[at_q + i + 0u * 2u];
// … 2 more of these 2 lines (9172c2a5), and
              let x3 = columns[at_p + i + 3u * 2u];
              let y3 = columns[at_q + i + 3u * 2u];
              columns[at_p + i + 0u * 2u] = fma(-s, y0, c * x0);
              columns[at_q + i + 0u * 2u] = fma(s, x0, c * y0);
// … 2 more of these 2 lines (587b3ebd), and
              columns[at_p + i + 3u * 2u] = fma(-s, y3, c * x3);
              columns[at_q + i + 3u * 2u] = fma(s, x3, c * y3);
            }
            for (; i < 7u; i += 2u) {
              let x = columns[at_p + i];
              let y = columns[at_q + i];
              columns[at_p + i] = fma(-s, y, c * x);
              columns[at_q + i] = fma(s, x, c * y);
            }
          }
          {
            let first = own * 25u + (p) * 5u;
            let second = own * 25u + (q) * 5u;
            {
              var i = part;
              for (; i + 3u * 2u < 5u; i += 4u * 2u) {
                let x0 = vectors[first + i + 0u * 2u];
                let y0 = vectors[second + i + 0u * 2u];
// … 2 more of these 2 lines (9b0e92cd), and
                let x3 = vectors[first + i + 3u * 2u];
                let y3 = vectors[second + i + 3u * 2u];
                vectors[first + i + 0u * 2u] = fma(-s, y0, c * x0);
                vectors[second + i + 0u * 2u] = fma(s, x0, c * y0);
// … 2 more of these 2 lines (386404b1), and
                vectors[first + i + 3u * 2u] = fma(-s, y3, c * x3);
                vectors[second + i + 3u * 2u] = fma(s, x3, c * y3);
              }
              for (; i < 5u; i += 2u) {
                let x = vectors[first + i];
                let y = vectors[second + i];
                vectors[first + i] = fma(-s, y, c * x);
                vectors[second + i] = fma(s, x, c * y);
              }
            }
          }
        }
      }
      workgroupBarrier();
      if (rotated && part == 0u) {
        values[own * 8u + p] = shorter;
        values[own * 8u + q] = longer;
      }
    }
    busy[thread] = moved;
    workgroupBarrier();
    going = 0u;
    var all_going = 0u;
    for (var k = 0u; k < 32u; k += 1u) {
      all_going = all_going | busy[k];
      if (k / 8u == own) { going = going | busy[k]; }
    }
    workgroupBarrier();
    if (thread == 0u) { busy[0] = all_going; }
    let any_going = workgroupUniformLoad(&busy[0]);
    if (any_going == 0u) { break; }
  }
  if (status == 0 && going != 0u) { status = 1; }
  if (r < 5u) {  // columns that vanish in squares are measured by themselves
    let mine = own * 35u + (r) * 7u;
    var largest = f32(0.0);
    for (var i = 0u; i < 7u; i += 1u) { largest = max(largest, tern_abs_f32(columns[mine + i])); }
    let size = power_of(largest);
    let less = f32(1.0) / size;
    var square = f32(0.0);
    for (var i = 0u; i < 7u; i += 1u) {
      let x = columns[mine + i] * less;
      square = fma(x, x, square);
    }
    values[own * 8u + r] = tern_sqrt(square) * size;
  }
  order[thread] = r;
  workgroupBarrier();
  if (r < 5u) {
    let value = values[own * 8u + r];
    var rank = 0u;
    for (var k = 0u; k < 5u; k += 1u) {
      let here = values[own * 8u + k];
      if (here > value || (here == value && k < r)) { rank += 1u; }
    }
    order[own * 8u + rank] = r;
  }
  workgroupBarrier();
  if (inside) {
    for (var k = r; k < 5u; k += 8u) {
      let x = unscaled(values[own * 8u + order[own * 8u + k]], power);
      let to3 = params.v[1].z + matrix * params.v[1].w + k;
      b1[to3] = bitcast<u32>(x);
    }
  }
  if (inside) {
    for (var e = r; e < 5u * 5u; e += 8u) {
      let i = e / 5u;
      let j = e - i * 5u;
      let x = vectors[own * 25u + (order[own * 8u + i]) * 5u + j];
      let to2 = params.v[2].w + matrix * params.v[3].x + i * params.v[3].y + j;
      b3[to2] = bitcast<u32>(x);
    }
  }
  var scale = f32(1.0);
  if (r < 5u) {
    let mine = own * 35u + order[own * 8u + r] * 7u;
    var most_here = f32(0.0);
    {
      var i = 0u;
      for (; i + 7u < 7u; i += 8u) {
        let y0 = columns[mine + i + 0u];
// … 6 more of these 1 lines (5a7bad07), and
        let y7 = columns[mine + i + 7u];
        most_here = max(most_here, tern_abs_f32(y0));
// … 6 more of these 1 lines (59e68732), and
        most_here = max(most_here, tern_abs_f32(y7));
      }
      for (; i + 3u < 7u; i += 4u) {
        let y0 = columns[mine + i + 0u];
        let y1 = columns[mine + i + 1u];
        let y2 = columns[mine + i + 2u];
        let y3 = columns[mine + i + 3u];
        most_here = max(most_here, tern_abs_f32(y0));
        most_here = max(most_here, tern_abs_f32(y1));
        most_here = max(most_here, tern_abs_f32(y2));
        most_here = max(most_here, tern_abs_f32(y3));
      }
      for (; i < 7u; i += 1u) {
        let y0 = columns[mine + i + 0u];
        most_here = max(most_here, tern_abs_f32(y0));
      }
    }
    scale = power_of(most_here);
    let up = f32(1.0) / scale;
    var largest = f32(0.0);
    {
      var i = 0u;
      for (; i + 7u < 7u; i += 8u) {
        let y0 = columns[mine + i + 0u];
// … 6 more of these 1 lines (5a7bad07), and
        let y7 = columns[mine + i + 7u];
        let z0 = scaled(y0, up);
        columns[mine + i + 0u] = z0;
        largest = max(largest, tern_abs_f32(z0));
// … 6 more of these 3 lines (09ee6526), and
        let z7 = scaled(y7, up);
        columns[mine + i + 7u] = z7;
        largest = max(largest, tern_abs_f32(z7));
      }
      for (; i + 3u < 7u; i += 4u) {
        let y0 = columns[mine + i + 0u];
        let y1 = columns[mine + i + 1u];
        let y2 = columns[mine + i + 2u];
        let y3 = columns[mine + i + 3u];
        let z0 = scaled(y0, up);
        columns[mine + i + 0u] = z0;
        largest = max(largest, tern_abs_f32(z0));
// … 2 more of these 3 lines (8f29b252), and
        let z3 = scaled(y3, up);
        columns[mine + i + 3u] = z3;
        largest = max(largest, tern_abs_f32(z3));
      }
      for (; i < 7u; i += 1u) {
        let y0 = columns[mine + i + 0u];
        let z0 = scaled(y0, up);
        columns[mine + i + 0u] = z0;
        largest = max(largest, tern_abs_f32(z0));
      }
    }
    partial[thread] = largest;
  }
  workgroupBarrier();
  for (var k = 0u; k < 5u; k += 1u) {
    let at_k = own * 35u + order[own * 8u + k] * 7u;
    var diagonal = f32(0.0);
    if (r >= k && r < 5u) {
      let mine = own * 35u + order[own * 8u + r] * 7u;
      let size = power_of(partial[own * 8u + k]);
      let less = f32(1.0) / size;
      let first = columns[at_k + k] * less;
      var below = f32(0.0);
      var product = f32(0.0);
      {
        var i = k + 1u;
        for (; i + 7u < 7u; i += 8u) {
          let x0 = columns[at_k + i + 0u] * less;
          let y0 = columns[mine + i + 0u];
// … 6 more of these 2 lines (40512061), and
          let x7 = columns[at_k + i + 7u] * less;
          let y7 = columns[mine + i + 7u];
          below = fma(x0, x0, below);
          product = fma(x0, y0, product);
// … 6 more of these 2 lines (c5dad5f5), and
          below = fma(x7, x7, below);
          product = fma(x7, y7, product);
        }
        for (; i + 3u < 7u; i += 4u) {
          let x0 = columns[at_k + i + 0u] * less;
          let y0 = columns[mine + i + 0u];
// … 2 more of these 2 lines (b11a7c19), and
          let x3 = columns[at_k + i + 3u] * less;
          let y3 = columns[mine + i + 3u];
          below = fma(x0, x0, below);
          product = fma(x0, y0, product);
// … 2 more of these 2 lines (c04143f5), and
          below = fma(x3, x3, below);
          product = fma(x3, y3, product);
        }
        for (; i < 7u; i += 1u) {
          let x0 = columns[at_k + i + 0u] * less;
          let y0 = columns[mine + i + 0u];
          below = fma(x0, x0, below);
          product = fma(x0, y0, product);
        }
      }
      let is_tiny = partial[own * 8u + k] < size && below < f32(7.0);  // subnormal; not NaN
      let none = below == f32(0.0) || is_tiny;
      let length = near_root(fma(first, first, below));
      let made = select(select(length, -length, first > f32(0.0)), first, none);
      let to = first - made;
      let of_v = select(near_quotient(less, select(to, f32(1.0), none)), f32(0.0), none);
      let tau = select(near_quotient(-to, select(made, f32(1.0), none)), f32(0.0), none);
      if (r == k) {
        diagonal = made * size;
        taus[thread] = tau;
        of_vs[thread] = of_v;
      } else {
        let w = fma(product, of_v * size, columns[mine + k]) * tau;
        columns[mine + k] = columns[mine + k] - w;
        var largest = f32(0.0);
        {
          var i = k + 1u;
          for (; i + 7u < 7u; i += 8u) {
            let v0 = columns[at_k + i + 0u] * of_v;
            let y0 = columns[mine + i + 0u];
// … 6 more of these 2 lines (7c6ed38b), and
            let v7 = columns[at_k + i + 7u] * of_v;
            let y7 = columns[mine + i + 7u];
            let z0 = fma(-v0, w, y0);
            columns[mine + i + 0u] = z0;
            largest = max(largest, tern_abs_f32(z0));
// … 6 more of these 3 lines (8e7fbbd7), and
            let z7 = fma(-v7, w, y7);
            columns[mine + i + 7u] = z7;
            largest = max(largest, tern_abs_f32(z7));
          }
          for (; i + 3u < 7u; i += 4u) {
            let v0 = columns[at_k + i + 0u] * of_v;
            let y0 = columns[mine + i + 0u];
// … 2 more of these 2 lines (bbd3988f), and
            let v3 = columns[at_k + i + 3u] * of_v;
            let y3 = columns[mine + i + 3u];
            let z0 = fma(-v0, w, y0);
            columns[mine + i + 0u] = z0;
            largest = max(largest, tern_abs_f32(z0));
// … 2 more of these 3 lines (1ad5439b), and
            let z3 = fma(-v3, w, y3);
            columns[mine + i + 3u] = z3;
            largest = max(largest, tern_abs_f32(z3));
          }
          for (; i < 7u; i += 1u) {
            let v0 = columns[at_k + i + 0u] * of_v;
            let y0 = columns[mine + i + 0u];
            let z0 = fma(-v0, w, y0);
            columns[mine + i + 0u] = z0;
            largest = max(largest, tern_abs_f32(z0));
          }
        }
        partial[thread] = largest;
      }
    }
    workgroupBarrier();
    if (r == k) { columns[at_k + k] = diagonal; }
  }
  workgroupBarrier();
  if (r < 7u) {
    let mine = own * 49u + (r) * 7u;
    let rows = select(r + 1u, 7u, r >= 5u);
    for (var i = 0u; i < rows; i += 1u) {
      vectors[mine + i] = select(f32(0.0), f32(1.0), i == r && r >= 5u);
    }
  }
  var product = f32(0.0);
  workgroupBarrier();
  if (r >= 5u && r < 7u) { product = select(select(f32(0.0), f32(1.0), r == 4u), columns[own * 35u + order[own * 8u + 4u] * 7u + r] * of_vs[own * 8u + 4u], r > 4u); }
  for (var s = 5u; s > 0u; s -= 1u) {
    let k = s - 1u;
    let next = max(k, 1u) - 1u;
    workgroupBarrier();
    if (r >= k && r < 7u) {
      let mine = own * 49u + (r) * 7u;
      let fresh = r == k;
      let w = select(product, f32(1.0), fresh) * taus[own * 8u + k];
      product = f32(0.0);
      {
        var i = k & 0xfffffff8u;
        for (; i + 7u < 7u; i += 8u) {
          let v0 = select(select(f32(0.0), f32(1.0), i + 0u == k), columns[own * 35u + order[own * 8u + k] * 7u + i + 0u] * of_vs[own * 8u + k], i + 0u > k);
          let u0 = select(select(f32(0.0), f32(1.0), i + 0u == next), columns[own * 35u + order[own * 8u + next] * 7u + i + 0u] * of_vs[own * 8u + next], i + 0u > next);
          let y0 = select(vectors[mine + i + 0u], f32(0.0), fresh);
// … 6 more of these 3 lines (3ff09e89), and
          let v7 = select(select(f32(0.0), f32(1.0), i + 7u == k), columns[own * 35u + order[own * 8u + k] * 7u + i + 7u] * of_vs[own * 8u + k], i + 7u > k);
          let u7 = select(select(f32(0.0), f32(1.0), i + 7u == next), columns[own * 35u + order[own * 8u + next] * 7u + i + 7u] * of_vs[own * 8u + next], i + 7u > next);
          let y7 = select(vectors[mine + i + 7u], f32(0.0), fresh);
          let z0 = fma(-v0, w, y0);
          vectors[mine + i + 0u] = z0;
          product = fma(u0, z0, product);
// … 6 more of these 3 lines (10870e90), and
          let z7 = fma(-v7, w, y7);
          vectors[mine + i + 7u] = z7;
          product = fma(u7, z7, product);
        }
        for (; i + 3u < 7u; i += 4u) {
          let v0 = select(select(f32(0.0), f32(1.0), i + 0u == k), columns[own * 35u + order[own * 8u + k] * 7u + i + 0u] * of_vs[own * 8u + k], i + 0u > k);
          let u0 = select(select(f32(0.0), f32(1.0), i + 0u == next), columns[own * 35u + order[own * 8u + next] * 7u + i + 0u] * of_vs[own * 8u + next], i + 0u > next);
          let y0 = select(vectors[mine + i + 0u], f32(0.0), fresh);
// … 2 more of these 3 lines (42c02b69), and
          let v3 = select(select(f32(0.0), f32(1.0), i + 3u == k), columns[own * 35u + order[own * 8u + k] * 7u + i + 3u] * of_vs[own * 8u + k], i + 3u > k);
          let u3 = select(select(f32(0.0), f32(1.0), i + 3u == next), columns[own * 35u + order[own * 8u + next] * 7u + i + 3u] * of_vs[own * 8u + next], i + 3u > next);
          let y3 = select(vectors[mine + i + 3u], f32(0.0), fresh);
          let z0 = fma(-v0, w, y0);
          vectors[mine + i + 0u] = z0;
          product = fma(u0, z0, product);
// … 2 more of these 3 lines (7e8cbf38), and
          let z3 = fma(-v3, w, y3);
          vectors[mine + i + 3u] = z3;
          product = fma(u3, z3, product);
        }
        for (; i < 7u; i += 1u) {
          let v0 = select(select(f32(0.0), f32(1.0), i + 0u == k), columns[own * 35u + order[own * 8u + k] * 7u + i + 0u] * of_vs[own * 8u + k], i + 0u > k);
          let u0 = select(select(f32(0.0), f32(1.0), i + 0u == next), columns[own * 35u + order[own * 8u + next] * 7u + i + 0u] * of_vs[own * 8u + next], i + 0u > next);
          let y0 = select(vectors[mine + i + 0u], f32(0.0), fresh);
          let z0 = fma(-v0, w, y0);
          vectors[mine + i + 0u] = z0;
          product = fma(u0, z0, product);
        }
      }
      if (fresh) {
        vectors[mine + k] = vectors[mine + k] + f32(1.0);
        product = product + select(select(f32(0.0), f32(1.0), k == next), columns[own * 35u + order[own * 8u + next] * 7u + k] * of_vs[own * 8u + next], k > next);
      }
    }
  }
  if (r < 5u && columns[own * 35u + order[own * 8u + r] * 7u + r] < f32(0.0)) {
    for (var i = 0u; i < 7u; i += 1u) { vectors[own * 49u + (r) * 7u + i] = -vectors[own * 49u + (r) * 7u + i]; }
  }
  workgroupBarrier();
  if (inside) {
    for (var e = r; e < 7u * 7u; e += 8u) {
      let i = e / 7u;
      let j = e - i * 7u;
      let x = vectors[own * 49u + (j) * 7u + i];
      let to1 = params.v[2].x + matrix * params.v[2].y + i * params.v[2].z + j;
      b2[to1] = bitcast<u32>(x);
    }
  }
  if (inside && r == 0u) {
    if (status != 0) {
      loop {
        let seen = atomicCompareExchangeWeak(&b4[0], 0u, params.v[3].w);
        if (seen.exchanged || seen.old_value == params.v[3].w) { atomicMax(&b4[1], ~u32(min(matrix, 67108862u) * 64u + u32(status + 1))); }
        if (seen.exchanged || seen.old_value != 0u) { break; }
      }
    }
  }
}

// ---- cholesky of a block: cholesky, 1 workgroups of 256, 4 words
// status of matrices, cleared
@group(0) @binding(1) var<storage, read_write> b0: array<u32>;
  let matrix = group * 256u + thread;
  if (matrix < params.v[0].y) {
    let none = 0;
    let to0 = params.v[0].w + matrix;
    b0[to0] = bitcast<u32>(none);
  }
}

// ---- cholesky of a block: cholesky, 400 workgroups of 256, 12 words
// matrices, moved, finite or noted
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
@group(0) @binding(3) var<storage, read_write> b2: array<u32>;
  let e = group * 256u + thread;
  let row = e / params.v[0].w;
  let j = e - row * params.v[0].w;
  let matrix = row / params.v[0].z;
  let i = row - matrix * params.v[0].z;
  if (matrix < params.v[0].y) {
    let x0 = bitcast<f32>(b0[params.v[1].y + matrix * params.v[1].z + i * params.v[1].w + j]);
    var x = x0;
    if (j > i) { x = f32(0.0); }
    if (!((tern_isfinite_f32(x)))) {
      let status = -1;
      let to1 = params.v[2].w + matrix;
      b2[to1] = bitcast<u32>(status);
    }
    let to2 = params.v[2].x + matrix * params.v[2].y + i * params.v[2].z + j;
    b1[to2] = bitcast<u32>(x);
  }
}

// ---- cholesky of a block: cholesky, 64 workgroups of 64, 14 words
// cholesky of a block
@group(0) @binding(1) var<storage, read_write> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
@group(0) @binding(3) var<storage, read_write> b2: array<u32>;
var<workgroup> column: array<vec4<f32>, 24>;
fn tern_keep(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) ^ params.v[3].z);
}
  let matrix = group / params.v[0].w;
  let part = group - matrix * params.v[0].w;
  let below = thread >= 32u;
  let row = part * 32u * u32(below) + thread;
  let inside = row < params.v[0].z;
  var x0 = vec4<f32>();
// … 6 more of these 1 lines (a88951c6), and
  var x7 = vec4<f32>();
  x0.x = select(f32(0.0), bitcast<f32>(b0[params.v[1].w + matrix * params.v[2].x + (min(row, params.v[0].z - 1u)) * params.v[2].y + (min(0u, params.v[1].y - 1u))]), 0u < params.v[1].y);
  x0.y = select(f32(0.0), bitcast<f32>(b0[params.v[1].w + matrix * params.v[2].x + (min(row, params.v[0].z - 1u)) * params.v[2].y + (min(1u, params.v[1].y - 1u))]), 1u < params.v[1].y);
  x0.z = select(f32(0.0), bitcast<f32>(b0[params.v[1].w + matrix * params.v[2].x + (min(row, params.v[0].z - 1u)) * params.v[2].y + (min(2u, params.v[1].y - 1u))]), 2u < params.v[1].y);
  x0.w = select(f32(0.0), bitcast<f32>(b0[params.v[1].w + matrix * params.v[2].x + (min(row, params.v[0].z - 1u)) * params.v[2].y + (min(3u, params.v[1].y - 1u))]), 3u < params.v[1].y);
// … 6 more of these 4 lines (0fd2458f), and
  x7.x = select(f32(0.0), bitcast<f32>(b0[params.v[1].w + matrix * params.v[2].x + (min(row, params.v[0].z - 1u)) * params.v[2].y + (min(28u, params.v[1].y - 1u))]), 28u < params.v[1].y);
  x7.y = select(f32(0.0), bitcast<f32>(b0[params.v[1].w + matrix * params.v[2].x + (min(row, params.v[0].z - 1u)) * params.v[2].y + (min(29u, params.v[1].y - 1u))]), 29u < params.v[1].y);
  x7.z = select(f32(0.0), bitcast<f32>(b0[params.v[1].w + matrix * params.v[2].x + (min(row, params.v[0].z - 1u)) * params.v[2].y + (min(30u, params.v[1].y - 1u))]), 30u < params.v[1].y);
  x7.w = select(f32(0.0), bitcast<f32>(b0[params.v[1].w + matrix * params.v[2].x + (min(row, params.v[0].z - 1u)) * params.v[2].y + (min(31u, params.v[1].y - 1u))]), 31u < params.v[1].y);
  var status = 0;
  for (var round = 0u; round * 4u < params.v[1].y; round += 1u) {
    if (thread < 32u) { column[0u % 2u * 8u + thread / 4u][thread & 3u] = x0.x; }
    workgroupBarrier();
    {
      let k = round * 4u + 0u;
      let c = column[0u % 2u * 8u + round];
      let pivot = c.x;
      if (!(pivot > f32(0.0)) && status == 0 && k < params.v[1].y) { status = i32(k) + 1; }
      let root = tern_sqrt((pivot));
      let inverse = (tern_div((f32(1.0)), (root)));
      let near = x0.x * inverse;
      let exact = fma(fma(-near, root, x0.x), inverse, near);
      x0.x = select(exact, root, thread == k);
      if (inside && below && k < params.v[1].y) { b0[params.v[1].w + matrix * params.v[2].x + (row) * params.v[2].y + (k)] = bitcast<u32>(x0.x); }
      if (inside && !below && part == 0u && k < params.v[1].y) {
        b1[params.v[2].z + matrix * params.v[2].w + (thread) * params.v[3].x + (k)] = bitcast<u32>(select(x0.x, f32(0.0), thread < k));
      }
      x0.y = fma(-(x0.x * inverse), c.y, x0.y);
      x0.z = fma(-(x0.x * inverse), c.z, x0.z);
      x0.w = fma(-(x0.x * inverse), c.w, x0.w);
      x1 = fma(vec4<f32>(-(x0.x * inverse)), column[0u % 2u * 8u + round + 1u], x1);
// … 5 more of these 1 lines (7ec1a67b), and
      x7 = fma(vec4<f32>(-(x0.x * inverse)), column[0u % 2u * 8u + round + 7u], x7);
    }
    if (thread < 32u) { column[1u % 2u * 8u + thread / 4u][thread & 3u] = x0.y; }
    workgroupBarrier();
    {
      let k = round * 4u + 1u;
      let c = column[1u % 2u * 8u + round];
      let pivot = c.y;
      if (!(pivot > f32(0.0)) && status == 0 && k < params.v[1].y) { status = i32(k) + 1; }
      let root = tern_sqrt((pivot));
      let inverse = (tern_div((f32(1.0)), (root)));
      let near = x0.y * inverse;
      let exact = fma(fma(-near, root, x0.y), inverse, near);
      x0.y = select(exact, root, thread == k);
      if (inside && below && k < params.v[1].y) { b0[params.v[1].w + matrix * params.v[2].x + (row) * params.v[2].y + (k)] = bitcast<u32>(x0.y); }
      if (inside && !below && part == 0u && k < params.v[1].y) {
        b1[params.v[2].z + matrix * params.v[2].w + (thread) * params.v[3].x + (k)] = bitcast<u32>(select(x0.y, f32(0.0), thread < k));
      }
      x0.z = fma(-(x0.y * inverse), c.z, x0.z);
      x0.w = fma(-(x0.y * inverse), c.w, x0.w);
      x1 = fma(vec4<f32>(-(x0.y * inverse)), column[1u % 2u * 8u + round + 1u], x1);
// … 5 more of these 1 lines (98712a0b), and
      x7 = fma(vec4<f32>(-(x0.y * inverse)), column[1u % 2u * 8u + round + 7u], x7);
    }
    if (thread < 32u) { column[2u % 2u * 8u + thread / 4u][thread & 3u] = x0.z; }
    workgroupBarrier();
    {
      let k = round * 4u + 2u;
      let c = column[2u % 2u * 8u + round];
      let pivot = c.z;
      if (!(pivot > f32(0.0)) && status == 0 && k < params.v[1].y) { status = i32(k) + 1; }
      let root = tern_sqrt((pivot));
      let inverse = (tern_div((f32(1.0)), (root)));
      let near = x0.z * inverse;
      let exact = fma(fma(-near, root, x0.z), inverse, near);
      x0.z = select(exact, root, thread == k);
      if (inside && below && k < params.v[1].y) { b0[params.v[1].w + matrix * params.v[2].x + (row) * params.v[2].y + (k)] = bitcast<u32>(x0.z); }
      if (inside && !below && part == 0u && k < params.v[1].y) {
        b1[params.v[2].z + matrix * params.v[2].w + (thread) * params.v[3].x + (k)] = bitcast<u32>(select(x0.z, f32(0.0), thread < k));
      }
      x0.w = fma(-(x0.z * inverse), c.w, x0.w);
      x1 = fma(vec4<f32>(-(x0.z * inverse)), column[2u % 2u * 8u + round + 1u], x1);
// … 5 more of these 1 lines (1aa2452b), and
      x7 = fma(vec4<f32>(-(x0.z * inverse)), column[2u % 2u * 8u + round + 7u], x7);
    }
    if (thread < 32u) { column[3u % 2u * 8u + thread / 4u][thread & 3u] = x0.w; }
    workgroupBarrier();
    {
      let k = round * 4u + 3u;
      let c = column[3u % 2u * 8u + round];
      let pivot = c.w;
      if (!(pivot > f32(0.0)) && status == 0 && k < params.v[1].y) { status = i32(k) + 1; }
      let root = tern_sqrt((pivot));
      let inverse = (tern_div((f32(1.0)), (root)));
      let near = x0.w * inverse;
      let exact = fma(fma(-near, root, x0.w), inverse, near);
      x0.w = select(exact, root, thread == k);
      if (inside && below && k < params.v[1].y) { b0[params.v[1].w + matrix * params.v[2].x + (row) * params.v[2].y + (k)] = bitcast<u32>(x0.w); }
      if (inside && !below && part == 0u && k < params.v[1].y) {
        b1[params.v[2].z + matrix * params.v[2].w + (thread) * params.v[3].x + (k)] = bitcast<u32>(select(x0.w, f32(0.0), thread < k));
      }
      x1 = fma(vec4<f32>(-(x0.w * inverse)), column[3u % 2u * 8u + round + 1u], x1);
// … 5 more of these 1 lines (0532d48f), and
      x7 = fma(vec4<f32>(-(x0.w * inverse)), column[3u % 2u * 8u + round + 7u], x7);
    }
    x0 = x1;
// … 5 more of these 1 lines (a95f3caa), and
    x6 = x7;
  }
  if (thread == 0u && part == 0u && status != 0) {
    let x0 = bitcast<i32>(b2[params.v[3].y + matrix]);
    if (x0 == 0) {
      let found = status + i32(params.v[1].x);
      let to1 = params.v[3].y + matrix;
      b2[to1] = bitcast<u32>(found);
    }
  }
}

// ---- cholesky of a block: cholesky, 64 workgroups of 64, 20 words
// product, tiles of 32x32x8
@group(0) @binding(1) var<storage, read_write> b0: array<vec4<u32>>;
var<workgroup> tile_a: array<vec4<f32>, 64>;
var<workgroup> tile_b: array<vec4<f32>, 64>;
fn epilogue(v0: f32, v1: f32) -> f32 {
  let v2 = (v0 - v1);
  return v2;
}
  let tiles = params.v[1].x * params.v[1].y;
  let batch = group / tiles;
  let tile = group - batch * tiles;
  let band = tile / (8u * params.v[1].y);
  let in_band = tile - band * 8u * params.v[1].y;
  let band_rows = min(8u, params.v[1].x - band * 8u);
  let first_m = (band * 8u + in_band % band_rows) * 32u;
  let first_n = in_band / band_rows * 32u;
  let ty = thread / 8u;
  let tx = thread - ty * 8u;
  var acc0_0 = vec4<f32>();
  var acc1_0 = vec4<f32>();
  var acc2_0 = vec4<f32>();
  var acc3_0 = vec4<f32>();
  let base_a = params.v[3].z + batch * params.v[3].w;
  let base_b = params.v[4].y + batch * params.v[4].z;
  {
    var kt = 0u;
    var unit0_0 = vec4<u32>();
    var unit1_0 = vec4<u32>();
    {
      let major = thread / 2u;
      let minor = (thread - major * 2u) * 4u;
      let o = major;
      let kk = minor;
      let at = base_a + (first_m + o) * params.v[4].x + (kt + kk);
      unit0_0 = vec4<u32>();
      if (first_m + o < params.v[0].y && kt + kk < params.v[0].w) { unit0_0 = b0[at / 4u]; }
    }
    {
      let major = thread / 2u;
      let minor = (thread - major * 2u) * 4u;
      let o = major;
      let kk = minor;
      let at = base_b + (first_n + o) * params.v[4].w + (kt + kk);
      unit1_0 = vec4<u32>();
      if (first_n + o < params.v[0].z && kt + kk < params.v[0].w) { unit1_0 = b0[at / 4u]; }
    }
    while (kt < params.v[0].w) {
      {
        let major = thread / 2u;
        let minor = (thread - major * 2u) * 4u;
        let o = major;
        let kk = minor;
        tile_a[(kk + 0u) * 8u + o / 4u][o & 3u] = bitcast<f32>(unit0_0.x);
        tile_a[(kk + 1u) * 8u + o / 4u][o & 3u] = bitcast<f32>(unit0_0.y);
        tile_a[(kk + 2u) * 8u + o / 4u][o & 3u] = bitcast<f32>(unit0_0.z);
        tile_a[(kk + 3u) * 8u + o / 4u][o & 3u] = bitcast<f32>(unit0_0.w);
      }
      {
        let major = thread / 2u;
        let minor = (thread - major * 2u) * 4u;
        let o = major;
        let kk = minor;
        tile_b[(kk + 0u) * 8u + o / 4u][o & 3u] = bitcast<f32>(unit1_0.x);
        tile_b[(kk + 1u) * 8u + o / 4u][o & 3u] = bitcast<f32>(unit1_0.y);
        tile_b[(kk + 2u) * 8u + o / 4u][o & 3u] = bitcast<f32>(unit1_0.z);
        tile_b[(kk + 3u) * 8u + o / 4u][o & 3u] = bitcast<f32>(unit1_0.w);
      }
      workgroupBarrier();
      kt += 8u;
      if (kt < params.v[0].w) {
        {
          let major = thread / 2u;
          let minor = (thread - major * 2u) * 4u;
          let o = major;
          let kk = minor;
          let at = base_a + (first_m + o) * params.v[4].x + (kt + kk);
          unit0_0 = vec4<u32>();
          if (first_m + o < params.v[0].y && kt + kk < params.v[0].w) { unit0_0 = b0[at / 4u]; }
        }
        {
          let major = thread / 2u;
          let minor = (thread - major * 2u) * 4u;
          let o = major;
          let kk = minor;
          let at = base_b + (first_n + o) * params.v[4].w + (kt + kk);
          unit1_0 = vec4<u32>();
          if (first_n + o < params.v[0].z && kt + kk < params.v[0].w) { unit1_0 = b0[at / 4u]; }
        }
      }
      {
        let a0 = tile_a[0u + ty];
        let c0 = tile_b[0u + tx];
        acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
        acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
        acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
        acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
// … 6 more of these 8 lines (af3c3b8d), and
      }
      {
        let a0 = tile_a[56u + ty];
        let c0 = tile_b[56u + tx];
        acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
        acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
        acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
        acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
      }
      workgroupBarrier();
    }
  }
  for (var i = 0u; i < 4u; i += 1u) {
    let row = first_m + (i / 4u) * 32u + ty * 4u + (i & 3u);
    if (row < params.v[0].y) {
      if (first_n + 0u + tx * 4u < params.v[0].z) {
        let col = first_n + 0u + tx * 4u;
        let w0 = (params.v[2].w + batch * params.v[3].x + row * params.v[3].y + col) / 4u;
        let q1 = b0[w0 + 0u];
        let x2 = bitcast<f32>(q1.x);
        let x3 = bitcast<f32>(q1.y);
        let x4 = bitcast<f32>(q1.z);
        let x5 = bitcast<f32>(q1.w);
        let y6 = epilogue(x2, acc0_0.x);
        let y7 = epilogue(x3, acc0_0.y);
        let y8 = epilogue(x4, acc0_0.z);
        let y9 = epilogue(x5, acc0_0.w);
        let w10 = (params.v[2].x + batch * params.v[2].y + row * params.v[2].z + col) / 4u;
        b0[w10 + 0u] = vec4<u32>(bitcast<u32>(y6), bitcast<u32>(y7), bitcast<u32>(y8), bitcast<u32>(y9));
      }
    }
    acc0_0 = acc1_0;
    acc1_0 = acc2_0;
    acc2_0 = acc3_0;
  }
}

// ---- cholesky of a block: cholesky, 400 workgroups of 256, 11 words
// matrices, moved
@group(0) @binding(1) var<storage, read_write> b0: array<u32>;
  let e = group * 256u + thread;
  let row = e / params.v[0].w;
  let j = e - row * params.v[0].w;
  let matrix = row / params.v[0].z;
  let i = row - matrix * params.v[0].z;
  if (matrix < params.v[0].y) {
    let x0 = bitcast<f32>(b0[params.v[1].y + matrix * params.v[1].z + i * params.v[1].w + j]);
    var x = x0;
    if (j > i) { x = f32(0.0); }
    let to1 = params.v[2].x + matrix * params.v[2].y + i * params.v[2].z + j;
    b0[to1] = bitcast<u32>(x);
  }
}

// ---- cholesky of a block: cholesky, 1 workgroups of 256, 6 words
// status of matrices
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<atomic<u32>>;
  let matrix = group * 256u + thread;
  if (matrix < params.v[0].y) {
    let x0 = bitcast<i32>(b0[params.v[0].w + matrix]);
    if (x0 != 0) {
      loop {
        let seen = atomicCompareExchangeWeak(&b1[0], 0u, params.v[1].y);
        if (seen.exchanged || seen.old_value == params.v[1].y) { atomicMax(&b1[1], ~u32(min(matrix, 67108862u) * 64u + u32(x0 + 1))); }
        if (seen.exchanged || seen.old_value != 0u) { break; }
      }
    }
  }
}

// ---- lu of a panel: lu_factor, 640 workgroups of 256, 14 words
// matrices, transposed, finite or noted
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
@group(0) @binding(3) var<storage, read_write> b2: array<u32>;
  let matrix = group / params.v[1].x;
  let tile = group - matrix * params.v[1].x;
  let down = tile / params.v[1].y;
  let i = down * 8u + thread % 8u;
  let j = (tile - down * params.v[1].y) * 32u + thread / 8u;
  if (matrix < params.v[0].y && i < params.v[0].z && j < params.v[0].w) {
    let x0 = bitcast<f32>(b0[params.v[1].w + matrix * params.v[2].x + i * params.v[2].y + j]);
    var x = x0;
    if (!((tern_isfinite_f32(x)))) {
      let status = -1;
      let to1 = params.v[3].y + matrix;
      b2[to1] = bitcast<u32>(status);
    }
    let to2 = params.v[2].z + matrix * params.v[2].w + i + j * params.v[3].x;
    b1[to2] = bitcast<u32>(x);
  }
}

// ---- lu of a panel: lu_factor, 64 workgroups of 64, 12 words
// lu of a panel
@group(0) @binding(1) var<storage, read_write> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
@group(0) @binding(3) var<storage, read_write> b2: array<u32>;
var<workgroup> upper: array<f32, 1024>;
var<workgroup> chosen: array<f32, 32>;
var<workgroup> sizes: array<f32, 64>;
var<workgroup> places: array<u32, 64>;
fn factor_of(x: f32, pivot: f32) -> f32 {
  let one = select(f32(-1.0), f32(1.0), x == pivot);
  return select(x / pivot, one, x == pivot || x == -pivot);
}
  let matrix = group;
  var status = 0;
  var pivot = f32(1.0);
  for (var k = 0u; k < params.v[0].w; k += 1u) {
    var best = f32(-1.0);
    var place = k;
    for (var first = thread; first < params.v[0].z; first += 256u) {
      let i0 = first + 0u * 64u;
      let at0 = min(i0, params.v[0].z - 1u);
      let mine0 = i0 >= k && i0 < params.v[0].z;
      var v0 = bitcast<f32>(b0[params.v[1].z + matrix * params.v[1].w + (at0) + (k) * params.v[2].x]);
      if (mine0 && k > 0u && pivot != f32(0.0)) {
        let x = bitcast<f32>(b0[params.v[1].z + matrix * params.v[1].w + (i0) + (k - 1u) * params.v[2].x]);
        b0[params.v[1].z + matrix * params.v[1].w + (i0) + (k - 1u) * params.v[2].x] = bitcast<u32>(factor_of(x, pivot));
      }
// … 2 more of these 8 lines (445f2bdd), and
      let i3 = first + 3u * 64u;
      let at3 = min(i3, params.v[0].z - 1u);
      let mine3 = i3 >= k && i3 < params.v[0].z;
      var v3 = bitcast<f32>(b0[params.v[1].z + matrix * params.v[1].w + (at3) + (k) * params.v[2].x]);
      if (mine3 && k > 0u && pivot != f32(0.0)) {
        let x = bitcast<f32>(b0[params.v[1].z + matrix * params.v[1].w + (i3) + (k - 1u) * params.v[2].x]);
        b0[params.v[1].z + matrix * params.v[1].w + (i3) + (k - 1u) * params.v[2].x] = bitcast<u32>(factor_of(x, pivot));
      }
      for (var j = 0u; j < k; j += 1u) {
        let w = upper[j * 32u + k];
        v0 = fma(-bitcast<f32>(b0[params.v[1].z + matrix * params.v[1].w + (at0) + (j) * params.v[2].x]), w, v0);
        v1 = fma(-bitcast<f32>(b0[params.v[1].z + matrix * params.v[1].w + (at1) + (j) * params.v[2].x]), w, v1);
        v2 = fma(-bitcast<f32>(b0[params.v[1].z + matrix * params.v[1].w + (at2) + (j) * params.v[2].x]), w, v2);
        v3 = fma(-bitcast<f32>(b0[params.v[1].z + matrix * params.v[1].w + (at3) + (j) * params.v[2].x]), w, v3);
      }
      if (mine0) {
        b0[params.v[1].z + matrix * params.v[1].w + (i0) + (k) * params.v[2].x] = bitcast<u32>(v0);
        let size0 = tern_abs_f32((v0));
        if (size0 > best) {
          best = size0;
          place = i0;
        }
// … 2 more of these 8 lines (ddc9bedf), and
      }
      if (mine3) {
        b0[params.v[1].z + matrix * params.v[1].w + (i3) + (k) * params.v[2].x] = bitcast<u32>(v3);
        let size3 = tern_abs_f32((v3));
        if (size3 > best) {
          best = size3;
          place = i3;
        }
      }
    }
    sizes[thread] = best;
    places[thread] = place;
    storageBarrier();
    workgroupBarrier();
    for (var half = 32u; half > 0u; half = half / 2u) {
      if (thread < half) {
        let other = sizes[thread + half];
        let there = places[thread + half];
        if (other > sizes[thread] || (other == sizes[thread] && there < places[thread])) {
          sizes[thread] = other;
          places[thread] = there;
        }
      }
      workgroupBarrier();
    }
    let row = places[0];
    if (thread < params.v[0].w) {
      let here = bitcast<f32>(b0[params.v[1].z + matrix * params.v[1].w + (k) + (thread) * params.v[2].x]);
      let there = bitcast<f32>(b0[params.v[1].z + matrix * params.v[1].w + (row) + (thread) * params.v[2].x]);
      if (row != k) {
        b0[params.v[1].z + matrix * params.v[1].w + (k) + (thread) * params.v[2].x] = bitcast<u32>(there);
        b0[params.v[1].z + matrix * params.v[1].w + (row) + (thread) * params.v[2].x] = bitcast<u32>(here);
      }
      chosen[thread] = there;
    }
    if (thread == 0u) { b1[params.v[2].y + matrix * params.v[2].z + (k)] = bitcast<u32>(i32(row + params.v[1].x)); }
    workgroupBarrier();
    if (thread >= k && thread < params.v[0].w) {
      var v = chosen[thread];
      if (thread > k) {
        for (var j = 0u; j < k; j += 1u) { v = fma(-chosen[j], upper[j * 32u + thread], v); }
        b0[params.v[1].z + matrix * params.v[1].w + (k) + (thread) * params.v[2].x] = bitcast<u32>(v);
      }
      upper[k * 32u + thread] = v;
    }
    storageBarrier();
    workgroupBarrier();
    pivot = upper[k * 33u];
    if (pivot == f32(0.0) && status == 0) { status = i32(k) + 1; }
  }
  if (pivot != f32(0.0)) {
    for (var i = params.v[0].w + thread; i < params.v[0].z; i += 64u) {
      let x = bitcast<f32>(b0[params.v[1].z + matrix * params.v[1].w + (i) + (params.v[0].w - 1u) * params.v[2].x]);
      b0[params.v[1].z + matrix * params.v[1].w + (i) + (params.v[0].w - 1u) * params.v[2].x] = bitcast<u32>(factor_of(x, pivot));
    }
  }
  if (thread == 0u && status != 0) {
    let x0 = bitcast<i32>(b2[params.v[2].w + matrix]);
    if (x0 == 0) {
      let found = status + i32(params.v[1].x);
      let to1 = params.v[2].w + matrix;
      b2[to1] = bitcast<u32>(found);
    }
  }
}

// ---- lu of a panel: lu_factor, 64 workgroups of 64, 15 words
// lu, rows beside a panel
@group(0) @binding(1) var<storage, read_write> b0: array<u32>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
var<workgroup> triangle: array<vec4<f32>, 264>;
var<workgroup> places: array<u32, 32>;
var<workgroup> origins: array<u32, 64>;
  let matrix = group / params.v[1].y;
  let part = group - matrix * params.v[1].y;
  if (thread < 32u) {
    var place = thread;
    if (thread < params.v[0].z) { place = u32(bitcast<i32>(b1[params.v[3].y + matrix * params.v[3].z + (thread)])) - params.v[0].w; }
    places[thread] = place;
  }
  workgroupBarrier();
  if (thread < 64u) {
    var at = thread;
    if (thread >= 32u) { at = places[thread - 32u]; }
    for (var s = 0u; s < params.v[0].z; s += 1u) {
      let k = params.v[0].z - 1u - s;
      let row = places[k];
      if (at == k) {
        at = row;
      } else if (at == row) {
        at = k;
      }
    }
    origins[thread] = select(0u, at, (thread & 31u) < params.v[0].z);
  }
  for (var e = thread; e < 1024u; e += 64u) {
    let i = e / 32u;
    let k = e - i * 32u;
    var below = f32(0.0);
    if (k < i && i < params.v[0].z) { below = bitcast<f32>(b0[params.v[2].z + matrix * params.v[2].w + (i) + (k) * params.v[3].x]); }
    triangle[k * 8u + i / 4u][i & 3u] = below;
  }
  workgroupBarrier();
  let line = part * 64u + thread;
  if (line < params.v[1].x) {
    let j = line + select(0u, params.v[0].z, line >= params.v[0].w);
    var x0 = vec4<f32>();
// … 6 more of these 1 lines (720f88e6), and
    var x7 = vec4<f32>();
    x0.x = select(f32(0.0), bitcast<f32>(b0[params.v[1].w + matrix * params.v[2].x + (origins[min(0u, params.v[0].z - 1u)]) + (j) * params.v[2].y]), 0u < params.v[0].z);
    x0.y = select(f32(0.0), bitcast<f32>(b0[params.v[1].w + matrix * params.v[2].x + (origins[min(1u, params.v[0].z - 1u)]) + (j) * params.v[2].y]), 1u < params.v[0].z);
    x0.z = select(f32(0.0), bitcast<f32>(b0[params.v[1].w + matrix * params.v[2].x + (origins[min(2u, params.v[0].z - 1u)]) + (j) * params.v[2].y]), 2u < params.v[0].z);
    x0.w = select(f32(0.0), bitcast<f32>(b0[params.v[1].w + matrix * params.v[2].x + (origins[min(3u, params.v[0].z - 1u)]) + (j) * params.v[2].y]), 3u < params.v[0].z);
// … 6 more of these 4 lines (07c4648f), and
    x7.x = select(f32(0.0), bitcast<f32>(b0[params.v[1].w + matrix * params.v[2].x + (origins[min(28u, params.v[0].z - 1u)]) + (j) * params.v[2].y]), 28u < params.v[0].z);
    x7.y = select(f32(0.0), bitcast<f32>(b0[params.v[1].w + matrix * params.v[2].x + (origins[min(29u, params.v[0].z - 1u)]) + (j) * params.v[2].y]), 29u < params.v[0].z);
    x7.z = select(f32(0.0), bitcast<f32>(b0[params.v[1].w + matrix * params.v[2].x + (origins[min(30u, params.v[0].z - 1u)]) + (j) * params.v[2].y]), 30u < params.v[0].z);
    x7.w = select(f32(0.0), bitcast<f32>(b0[params.v[1].w + matrix * params.v[2].x + (origins[min(31u, params.v[0].z - 1u)]) + (j) * params.v[2].y]), 31u < params.v[0].z);
    let low_0 = bitcast<f32>(b0[params.v[1].w + matrix * params.v[2].x + (origins[0u + 32u]) + (j) * params.v[2].y]);
// … 30 more of these 1 lines (77e4d1a7), and
    let low_31 = bitcast<f32>(b0[params.v[1].w + matrix * params.v[2].x + (origins[31u + 32u]) + (j) * params.v[2].y]);
    if (0u < params.v[0].z && places[0u] >= params.v[0].z) { b0[params.v[1].w + matrix * params.v[2].x + (places[0u]) + (j) * params.v[2].y] = bitcast<u32>(low_0); }
// … 30 more of these 1 lines (d41b9bc1), and
    if (31u < params.v[0].z && places[31u] >= params.v[0].z) { b0[params.v[1].w + matrix * params.v[2].x + (places[31u]) + (j) * params.v[2].y] = bitcast<u32>(low_31); }
    if (line >= params.v[0].w) {
      for (var round = 0u; round * 4u < params.v[0].z; round += 1u) {
        {
          let k = round * 4u + 0u;
          if (k < params.v[0].z) { b0[params.v[1].w + matrix * params.v[2].x + (k) + (j) * params.v[2].y] = bitcast<u32>(x0.x); }
          x0.y = fma(-x0.x, triangle[k * 8u + round].y, x0.y);
          x0.z = fma(-x0.x, triangle[k * 8u + round].z, x0.z);
          x0.w = fma(-x0.x, triangle[k * 8u + round].w, x0.w);
          x1 = fma(vec4<f32>(-x0.x), triangle[k * 8u + round + 1u], x1);
// … 5 more of these 1 lines (3fa0da90), and
          x7 = fma(vec4<f32>(-x0.x), triangle[k * 8u + round + 7u], x7);
        }
        {
          let k = round * 4u + 1u;
          if (k < params.v[0].z) { b0[params.v[1].w + matrix * params.v[2].x + (k) + (j) * params.v[2].y] = bitcast<u32>(x0.y); }
          x0.z = fma(-x0.y, triangle[k * 8u + round].z, x0.z);
          x0.w = fma(-x0.y, triangle[k * 8u + round].w, x0.w);
          x1 = fma(vec4<f32>(-x0.y), triangle[k * 8u + round + 1u], x1);
// … 5 more of these 1 lines (2326d69b), and
          x7 = fma(vec4<f32>(-x0.y), triangle[k * 8u + round + 7u], x7);
        }
        {
          let k = round * 4u + 2u;
          if (k < params.v[0].z) { b0[params.v[1].w + matrix * params.v[2].x + (k) + (j) * params.v[2].y] = bitcast<u32>(x0.z); }
          x0.w = fma(-x0.z, triangle[k * 8u + round].w, x0.w);
          x1 = fma(vec4<f32>(-x0.z), triangle[k * 8u + round + 1u], x1);
// … 5 more of these 1 lines (ecac38de), and
          x7 = fma(vec4<f32>(-x0.z), triangle[k * 8u + round + 7u], x7);
        }
        {
          let k = round * 4u + 3u;
          if (k < params.v[0].z) { b0[params.v[1].w + matrix * params.v[2].x + (k) + (j) * params.v[2].y] = bitcast<u32>(x0.w); }
          x1 = fma(vec4<f32>(-x0.w), triangle[k * 8u + round + 1u], x1);
// … 5 more of these 1 lines (f6041dc5), and
          x7 = fma(vec4<f32>(-x0.w), triangle[k * 8u + round + 7u], x7);
        }
        x0 = x1;
// … 5 more of these 1 lines (c3d7fe5a), and
        x6 = x7;
      }
    } else {
      for (var round = 0u; round * 4u < params.v[0].z; round += 1u) {
        if (round * 4u + 0u < params.v[0].z) { b0[params.v[1].w + matrix * params.v[2].x + (round * 4u + 0u) + (j) * params.v[2].y] = bitcast<u32>(x0.x); }
        if (round * 4u + 1u < params.v[0].z) { b0[params.v[1].w + matrix * params.v[2].x + (round * 4u + 1u) + (j) * params.v[2].y] = bitcast<u32>(x0.y); }
        if (round * 4u + 2u < params.v[0].z) { b0[params.v[1].w + matrix * params.v[2].x + (round * 4u + 2u) + (j) * params.v[2].y] = bitcast<u32>(x0.z); }
        if (round * 4u + 3u < params.v[0].z) { b0[params.v[1].w + matrix * params.v[2].x + (round * 4u + 3u) + (j) * params.v[2].y] = bitcast<u32>(x0.w); }
        x0 = x1;
// … 5 more of these 1 lines (c3d7fe5a), and
        x6 = x7;
      }
    }
  }
}

// ---- qr of a panel: qr, 2560 workgroups of 256, 12 words
// matrices, largest
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
var<workgroup> seen: array<f32, 256>;
  let matrix = group / params.v[1].y;
  let part = group - matrix * params.v[1].y;
  var largest = f32(0.0);
  let end = min(params.v[0].w, 0u + params.v[0].z);
  for (var e = 0u + thread; e < end; e += 256u) {
    let i = e;
    let j = part;
    let x0 = bitcast<f32>(b0[params.v[1].w + matrix * params.v[2].x + i * params.v[2].y + j]);
    if ((tern_isfinite_f32(x0))) { largest = max(largest, tern_abs_f32(x0)); }
  }
  seen[thread] = largest;
  workgroupBarrier();
  if (thread == 0u && matrix < params.v[0].y) {
    for (var k = 0u; k < 256u; k += 1u) { largest = max(largest, seen[k]); }
    let count = bitcast<u32>(largest);
    let subnormal = i32(count >> 23u) == 0;
    let size = bitcast<u32>(select(largest, f32(count), subnormal));
    let by = select(40 - i32(size >> 23u) + select(127, 276, subnormal), 0, largest == f32(0.0));
    let to1 = params.v[2].z + matrix * params.v[2].w + part;
    b1[to1] = bitcast<u32>(by);
  }
}

// ---- qr of a panel: qr, 400 workgroups of 256, 13 words
// matrices, moved, scaled
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
@group(0) @binding(3) var<storage, read> b2: array<u32>;
  let e = group * 256u + thread;
  let row = e / params.v[0].w;
  let j = e - row * params.v[0].w;
  let matrix = row / params.v[0].z;
  let i = row - matrix * params.v[0].z;
  if (matrix < params.v[0].y) {
    let x0 = bitcast<f32>(b0[params.v[1].y + matrix * params.v[1].z + i * params.v[1].w + j]);
    var x = x0;
    let x1 = bitcast<i32>(b2[params.v[2].w + matrix * params.v[3].x + j]);
    let half = (x1) / 2;
    let other_half = (x1) - half;
    x = x * bitcast<f32>(u32(half + 127) << 23u) * bitcast<f32>(u32(other_half + 127) << 23u);
    let to2 = params.v[2].x + matrix * params.v[2].y + i * params.v[2].z + j;
    b1[to2] = bitcast<u32>(x);
  }
}

// ---- qr of a panel: qr, 64 workgroups of 256, 14 words
// qr of a panel
@group(0) @binding(1) var<storage, read_write> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
@group(0) @binding(3) var<storage, read_write> b2: array<u32>;
var<workgroup> partial: array<f32, 256>;
var<workgroup> dots: array<f32, 32>;
var<workgroup> heads: array<f32, 32>;
var<workgroup> ws: array<f32, 32>;
  let matrix = group;
  let c = thread % 32u;
  let slice = thread / 32u;
  let mine = c < params.v[0].w;
  {
    var sum = f32(0.0);
    for (var i = slice; i < params.v[0].z; i += 8u) {
      if (mine) {
        let y = bitcast<f32>(b0[params.v[1].y + matrix * params.v[1].z + (i) * params.v[1].w + (c)]);
        b2[params.v[2].w + matrix * params.v[3].x + (i) * params.v[3].y + (c)] = bitcast<u32>(y);
        if (i > 0u) { sum = fma(bitcast<f32>(b0[params.v[1].y + matrix * params.v[1].z + (i) * params.v[1].w + (0u)]), y, sum); }
      }
    }
    partial[thread] = sum;
  }
  storageBarrier();
  workgroupBarrier();
  for (var k = 0u; k < params.v[0].w; k += 1u) {
    let here = k % 2u * params.v[0].z;
    let there = params.v[0].z - here;
    if (thread < 32u && mine) {
      var sum = f32(0.0);
      for (var s = 0u; s < 8u; s += 1u) { sum = sum + partial[s * 32u + thread]; }
      dots[thread] = sum;
      heads[thread] = bitcast<f32>(b2[params.v[2].w + matrix * params.v[3].x + (here + k) * params.v[3].y + (thread)]);
    }
    workgroupBarrier();
    let first = heads[k];
    let squares = dots[k];
    let none = squares == f32(0.0);
    let length = tern_sqrt((fma(first, first, squares)));
    let made = select(select(length, -length, first > f32(0.0)), first, none);
    let scale = select((tern_div((f32(1.0)), (select(first - made, f32(1.0), none)))), f32(0.0), none);
    let tau = select((tern_div((made - first), (select(made, f32(1.0), none)))), f32(0.0), none);
    if (thread < 32u && mine) {
      let w = tau * fma(scale, dots[thread], heads[thread]);
      ws[thread] = w;
      if (thread == k) { b0[params.v[1].y + matrix * params.v[1].z + (k) * params.v[1].w + (thread)] = bitcast<u32>(made); }
      if (thread > k) { b0[params.v[1].y + matrix * params.v[1].z + (k) * params.v[1].w + (thread)] = bitcast<u32>(heads[thread] - w); }
      if (thread <= k) { b1[params.v[2].x + matrix * params.v[2].y + (thread) * params.v[2].z + (k)] = bitcast<u32>(select(f32(0.0), f32(1.0), thread == k && !none)); }
    }
    workgroupBarrier();
    let next = min(k + 1u, params.v[0].w - 1u);
    let w = ws[min(c, params.v[0].w - 1u)];
    let w_of_next = ws[next];
    var sum = f32(0.0);
    for (var i = k + 1u + slice; i < params.v[0].z; i += 8u) {
      if (mine && c >= k) {
        let v = bitcast<f32>(b2[params.v[2].w + matrix * params.v[3].x + (here + i) * params.v[3].y + (k)]) * scale;
        if (c == k) {
          b1[params.v[2].x + matrix * params.v[2].y + (i) * params.v[2].z + (k)] = bitcast<u32>(v);
        } else {
          let y = fma(-v, w, bitcast<f32>(b2[params.v[2].w + matrix * params.v[3].x + (here + i) * params.v[3].y + (c)]));
          b2[params.v[2].w + matrix * params.v[3].x + (there + i) * params.v[3].y + (c)] = bitcast<u32>(y);
          if (i > k + 1u) { sum = fma(fma(-v, w_of_next, bitcast<f32>(b2[params.v[2].w + matrix * params.v[3].x + (here + i) * params.v[3].y + (next)])), y, sum); }
        }
      }
    }
    partial[thread] = sum;
    storageBarrier();
    workgroupBarrier();
  }
}

// ---- qr of a panel: qr, 64 workgroups of 64, 15 words
// triangle of a block
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read_write> b2: array<u32>;
var<workgroup> triangle: array<vec4<f32>, 264>;
var<workgroup> diagonal: array<f32, 32>;
fn tern_keep(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) ^ params.v[3].w);
}
  let matrix = group / params.v[1].x;
  let part = group - matrix * params.v[1].x;
  for (var e = thread; e < 1024u; e += 64u) {
    let i = e / 32u;
    let k = e - i * 32u;
    var below = f32(0.0);
    if (k < i && i < params.v[0].z) { below = bitcast<f32>(b0[params.v[1].z + matrix * params.v[1].w + (i) * params.v[2].x + (k)]); }
    triangle[k * 8u + i / 4u][i & 3u] = below;
  }
  if (thread < 32u) {
    var pivot = f32(1.0);
    if (thread < params.v[0].z) {
      let number = bitcast<f32>(b0[params.v[1].z + matrix * params.v[1].w + (thread) * params.v[2].x + (thread)]);
      pivot = select(number * f32(0.5), f32(1.0), number == f32(0.0));
    }
    diagonal[thread] = pivot;
  }
  workgroupBarrier();
  let j = part * 64u + thread;
  if (j < params.v[0].w) {
    var x0 = vec4<f32>();
// … 6 more of these 1 lines (720f88e6), and
    var x7 = vec4<f32>();
    x0.x = select(f32(0.0), bitcast<f32>(b1[params.v[2].y + matrix * params.v[2].z + (min(0u, params.v[0].z - 1u)) + (j) * params.v[2].w]), 0u < params.v[0].z);
    x0.y = select(f32(0.0), bitcast<f32>(b1[params.v[2].y + matrix * params.v[2].z + (min(1u, params.v[0].z - 1u)) + (j) * params.v[2].w]), 1u < params.v[0].z);
    x0.z = select(f32(0.0), bitcast<f32>(b1[params.v[2].y + matrix * params.v[2].z + (min(2u, params.v[0].z - 1u)) + (j) * params.v[2].w]), 2u < params.v[0].z);
    x0.w = select(f32(0.0), bitcast<f32>(b1[params.v[2].y + matrix * params.v[2].z + (min(3u, params.v[0].z - 1u)) + (j) * params.v[2].w]), 3u < params.v[0].z);
// … 6 more of these 4 lines (1b9e67ff), and
    x7.x = select(f32(0.0), bitcast<f32>(b1[params.v[2].y + matrix * params.v[2].z + (min(28u, params.v[0].z - 1u)) + (j) * params.v[2].w]), 28u < params.v[0].z);
    x7.y = select(f32(0.0), bitcast<f32>(b1[params.v[2].y + matrix * params.v[2].z + (min(29u, params.v[0].z - 1u)) + (j) * params.v[2].w]), 29u < params.v[0].z);
    x7.z = select(f32(0.0), bitcast<f32>(b1[params.v[2].y + matrix * params.v[2].z + (min(30u, params.v[0].z - 1u)) + (j) * params.v[2].w]), 30u < params.v[0].z);
    x7.w = select(f32(0.0), bitcast<f32>(b1[params.v[2].y + matrix * params.v[2].z + (min(31u, params.v[0].z - 1u)) + (j) * params.v[2].w]), 31u < params.v[0].z);
    for (var round = 0u; round * 4u < params.v[0].z; round += 1u) {
      {
        let k = round * 4u + 0u;
        x0.x = (tern_div((x0.x), (diagonal[k])));
        if (k < params.v[0].z) { b2[params.v[3].x + matrix * params.v[3].y + (k) + (j) * params.v[3].z] = bitcast<u32>(x0.x); }
        x0.y = fma(-x0.x, triangle[k * 8u + round].y, x0.y);
        x0.z = fma(-x0.x, triangle[k * 8u + round].z, x0.z);
        x0.w = fma(-x0.x, triangle[k * 8u + round].w, x0.w);
        x1 = fma(vec4<f32>(-x0.x), triangle[k * 8u + round + 1u], x1);
// … 5 more of these 1 lines (46c4c3e8), and
        x7 = fma(vec4<f32>(-x0.x), triangle[k * 8u + round + 7u], x7);
      }
      {
        let k = round * 4u + 1u;
        x0.y = (tern_div((x0.y), (diagonal[k])));
        if (k < params.v[0].z) { b2[params.v[3].x + matrix * params.v[3].y + (k) + (j) * params.v[3].z] = bitcast<u32>(x0.y); }
        x0.z = fma(-x0.y, triangle[k * 8u + round].z, x0.z);
        x0.w = fma(-x0.y, triangle[k * 8u + round].w, x0.w);
        x1 = fma(vec4<f32>(-x0.y), triangle[k * 8u + round + 1u], x1);
// … 5 more of these 1 lines (71f3fcf3), and
        x7 = fma(vec4<f32>(-x0.y), triangle[k * 8u + round + 7u], x7);
      }
      {
        let k = round * 4u + 2u;
        x0.z = (tern_div((x0.z), (diagonal[k])));
        if (k < params.v[0].z) { b2[params.v[3].x + matrix * params.v[3].y + (k) + (j) * params.v[3].z] = bitcast<u32>(x0.z); }
        x0.w = fma(-x0.z, triangle[k * 8u + round].w, x0.w);
        x1 = fma(vec4<f32>(-x0.z), triangle[k * 8u + round + 1u], x1);
// … 5 more of these 1 lines (1cd2a5b6), and
        x7 = fma(vec4<f32>(-x0.z), triangle[k * 8u + round + 7u], x7);
      }
      {
        let k = round * 4u + 3u;
        x0.w = (tern_div((x0.w), (diagonal[k])));
        if (k < params.v[0].z) { b2[params.v[3].x + matrix * params.v[3].y + (k) + (j) * params.v[3].z] = bitcast<u32>(x0.w); }
        x1 = fma(vec4<f32>(-x0.w), triangle[k * 8u + round + 1u], x1);
// … 5 more of these 1 lines (375f6fdd), and
        x7 = fma(vec4<f32>(-x0.w), triangle[k * 8u + round + 7u], x7);
      }
      x0 = x1;
// … 5 more of these 1 lines (29facc42), and
      x6 = x7;
    }
  }
}

// ---- qr of a panel: qr, 4 workgroups of 128, 17 words
// product, rows of 8 along 8
@group(0) @binding(1) var<storage, read_write> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> b1: array<vec4<u32>>;
fn epilogue(v0: f32) -> f32 {
  return v0;
}
  let i = group * 128u + thread;
  if (i >= params.v[1].x) { return; }
  let nq1 = i / params.v[0].y;
  let n1 = i - nq1 * params.v[0].y;
  let n0 = nq1;
  let row = n1;
  let col = 0u;
  let x0 = bitcast<f32>(b1[(params.v[2].w + n0 * params.v[3].x + row + 0u * params.v[3].y) >> 2u][(params.v[2].w + n0 * params.v[3].x + row + 0u * params.v[3].y) & 3u]);
  let x1 = bitcast<f32>(b1[(params.v[2].w + n0 * params.v[3].x + row + (0u + 1u) * params.v[3].y) >> 2u][(params.v[2].w + n0 * params.v[3].x + row + (0u + 1u) * params.v[3].y) & 3u]);
// … 5 more of these 1 lines (decf0160), and
  let x7 = bitcast<f32>(b1[(params.v[2].w + n0 * params.v[3].x + row + (0u + 7u) * params.v[3].y) >> 2u][(params.v[2].w + n0 * params.v[3].x + row + (0u + 7u) * params.v[3].y) & 3u]);
  var acc0 = f32();
// … 6 more of these 1 lines (cb09387c), and
  var acc7 = f32();
  let w8 = (params.v[3].z + n0 * params.v[3].w + 0u * params.v[4].x + 0u) / 4u;
  let q9 = b1[w8 + 0u];
  let x10 = bitcast<f32>(q9.x);
  let x11 = bitcast<f32>(q9.y);
  let x12 = bitcast<f32>(q9.z);
  let x13 = bitcast<f32>(q9.w);
  let q14 = b1[w8 + 1u];
  let x15 = bitcast<f32>(q14.x);
  let x16 = bitcast<f32>(q14.y);
  let x17 = bitcast<f32>(q14.z);
  let x18 = bitcast<f32>(q14.w);
  acc0 = fma(x0, x10, acc0);
  acc1 = fma(x0, x11, acc1);
  acc2 = fma(x0, x12, acc2);
  acc3 = fma(x0, x13, acc3);
  acc4 = fma(x0, x15, acc4);
  acc5 = fma(x0, x16, acc5);
  acc6 = fma(x0, x17, acc6);
  acc7 = fma(x0, x18, acc7);
// … 6 more of these 19 lines (b4d2eb18), and
  let w85 = (params.v[3].z + n0 * params.v[3].w + 7u * params.v[4].x + 0u) / 4u;
  let q86 = b1[w85 + 0u];
  let x87 = bitcast<f32>(q86.x);
  let x88 = bitcast<f32>(q86.y);
  let x89 = bitcast<f32>(q86.z);
  let x90 = bitcast<f32>(q86.w);
  let q91 = b1[w85 + 1u];
  let x92 = bitcast<f32>(q91.x);
  let x93 = bitcast<f32>(q91.y);
  let x94 = bitcast<f32>(q91.z);
  let x95 = bitcast<f32>(q91.w);
  acc0 = fma(x7, x87, acc0);
  acc1 = fma(x7, x88, acc1);
  acc2 = fma(x7, x89, acc2);
  acc3 = fma(x7, x90, acc3);
  acc4 = fma(x7, x92, acc4);
  acc5 = fma(x7, x93, acc5);
  acc6 = fma(x7, x94, acc6);
  acc7 = fma(x7, x95, acc7);
  let y96 = epilogue(acc0);
// … 6 more of these 1 lines (03f97ca1), and
  let y103 = epilogue(acc7);
  let w104 = (params.v[2].x + n0 * params.v[2].y + row * params.v[2].z + col) / 4u;
  b0[w104 + 0u] = vec4<u32>(bitcast<u32>(y96), bitcast<u32>(y97), bitcast<u32>(y98), bitcast<u32>(y99));
  b0[w104 + 1u] = vec4<u32>(bitcast<u32>(y100), bitcast<u32>(y101), bitcast<u32>(y102), bitcast<u32>(y103));
}

// ---- qr of a panel: qr, 400 workgroups of 256, 11 words
// matrices, moved, ones on the diagonal
@group(0) @binding(1) var<storage, read_write> b0: array<u32>;
  let e = group * 256u + thread;
  let row = e / params.v[0].w;
  let j = e - row * params.v[0].w;
  let matrix = row / params.v[0].z;
  let i = row - matrix * params.v[0].z;
  if (matrix < params.v[0].y) {
    let x0 = bitcast<f32>(b0[params.v[1].y + matrix * params.v[1].z + i * params.v[1].w + j]);
    var x = x0;
    if (j != i) { x = f32(0.0); }
    if (i == j) { x = f32(1.0); }
    let to1 = params.v[2].x + matrix * params.v[2].y + i * params.v[2].z + j;
    b0[to1] = bitcast<u32>(x);
  }
}

// ---- qr of a panel: qr, 64 workgroups of 256, 20 words
// product, tiles of 64x64x16
@group(0) @binding(1) var<storage, read_write> b0: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> b1: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> b2: array<vec4<u32>>;
var<workgroup> tile_a: array<vec4<f32>, 256>;
var<workgroup> tile_b: array<vec4<f32>, 256>;
fn epilogue(v0: f32, v1: f32) -> f32 {
  let v2 = (v0 - v1);
  return v2;
}
  let tiles = params.v[1].x * params.v[1].y;
  let batch = group / tiles;
  let tile = group - batch * tiles;
  let band = tile / (8u * params.v[1].y);
  let in_band = tile - band * 8u * params.v[1].y;
  let band_rows = min(8u, params.v[1].x - band * 8u);
  let first_m = (band * 8u + in_band % band_rows) * 64u;
  let first_n = in_band / band_rows * 64u;
  let ty = thread / 16u;
  let tx = thread - ty * 16u;
  var acc0_0 = vec4<f32>();
  var acc1_0 = vec4<f32>();
  var acc2_0 = vec4<f32>();
  var acc3_0 = vec4<f32>();
  let base_a = params.v[3].z + batch * params.v[3].w;
  let base_b = params.v[4].y + batch * params.v[4].z;
  {
    var kt = 0u;
    var unit0_0 = vec4<u32>();
    var unit1_0 = vec4<u32>();
    {
      let major = thread / 4u;
      let minor = (thread - major * 4u) * 4u;
      let o = major;
      let kk = minor;
      let at = base_a + (first_m + o) * params.v[4].x + (kt + kk);
      unit0_0 = vec4<u32>();
      if (first_m + o < params.v[0].y && kt + kk < params.v[0].w) { unit0_0 = b1[at / 4u]; }
    }
    {
      let major = thread / 16u;
      let minor = (thread - major * 16u) * 4u;
      let o = minor;
      let kk = major;
      let at = base_b + (first_n + o) + (kt + kk) * params.v[4].w;
      unit1_0 = vec4<u32>();
      if (first_n + o < params.v[0].z && kt + kk < params.v[0].w) { unit1_0 = b2[at / 4u]; }
    }
    while (kt < params.v[0].w) {
      {
        let major = thread / 4u;
        let minor = (thread - major * 4u) * 4u;
        let o = major;
        let kk = minor;
        tile_a[(kk + 0u) * 16u + o / 4u][o & 3u] = bitcast<f32>(unit0_0.x);
        tile_a[(kk + 1u) * 16u + o / 4u][o & 3u] = bitcast<f32>(unit0_0.y);
        tile_a[(kk + 2u) * 16u + o / 4u][o & 3u] = bitcast<f32>(unit0_0.z);
        tile_a[(kk + 3u) * 16u + o / 4u][o & 3u] = bitcast<f32>(unit0_0.w);
      }
      {
        let major = thread / 16u;
        let minor = (thread - major * 16u) * 4u;
        let o = minor;
        let kk = major;
        tile_b[kk * 16u + o / 4u + 0u] = vec4<f32>(bitcast<f32>(unit1_0.x), bitcast<f32>(unit1_0.y), bitcast<f32>(unit1_0.z), bitcast<f32>(unit1_0.w));
      }
      workgroupBarrier();
      kt += 16u;
      if (kt < params.v[0].w) {
        {
          let major = thread / 4u;
          let minor = (thread - major * 4u) * 4u;
          let o = major;
          let kk = minor;
          let at = base_a + (first_m + o) * params.v[4].x + (kt + kk);
          unit0_0 = vec4<u32>();
          if (first_m + o < params.v[0].y && kt + kk < params.v[0].w) { unit0_0 = b1[at / 4u]; }
        }
        {
          let major = thread / 16u;
          let minor = (thread - major * 16u) * 4u;
          let o = minor;
          let kk = major;
          let at = base_b + (first_n + o) + (kt + kk) * params.v[4].w;
          unit1_0 = vec4<u32>();
          if (first_n + o < params.v[0].z && kt + kk < params.v[0].w) { unit1_0 = b2[at / 4u]; }
        }
      }
      {
        let a0 = tile_a[0u + ty];
        let c0 = tile_b[0u + tx];
        acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
        acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
        acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
        acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
// … 14 more of these 8 lines (f64e1f13), and
      }
      {
        let a0 = tile_a[240u + ty];
        let c0 = tile_b[240u + tx];
        acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
        acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
        acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
        acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
      }
      workgroupBarrier();
    }
  }
  for (var i = 0u; i < 4u; i += 1u) {
    let row = first_m + (i / 4u) * 64u + ty * 4u + (i & 3u);
    if (row < params.v[0].y) {
      if (first_n + 0u + tx * 4u < params.v[0].z) {
        let col = first_n + 0u + tx * 4u;
        let w0 = (params.v[2].w + batch * params.v[3].x + row * params.v[3].y + col) / 4u;
        let q1 = b0[w0 + 0u];
        let x2 = bitcast<f32>(q1.x);
        let x3 = bitcast<f32>(q1.y);
        let x4 = bitcast<f32>(q1.z);
        let x5 = bitcast<f32>(q1.w);
        let y6 = epilogue(x2, acc0_0.x);
        let y7 = epilogue(x3, acc0_0.y);
        let y8 = epilogue(x4, acc0_0.z);
        let y9 = epilogue(x5, acc0_0.w);
        let w10 = (params.v[2].x + batch * params.v[2].y + row * params.v[2].z + col) / 4u;
        b0[w10 + 0u] = vec4<u32>(bitcast<u32>(y6), bitcast<u32>(y7), bitcast<u32>(y8), bitcast<u32>(y9));
      }
    }
    acc0_0 = acc1_0;
    acc1_0 = acc2_0;
    acc2_0 = acc3_0;
  }
}

// ---- eigenvalues by rotations of blocks: eigh, 640 workgroups of 256, 15 words
// matrices, transposed, finite or noted, scaled
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
@group(0) @binding(3) var<storage, read> b2: array<u32>;
@group(0) @binding(4) var<storage, read_write> b3: array<u32>;
  let matrix = group / params.v[1].x;
  let tile = group - matrix * params.v[1].x;
  let down = tile / params.v[1].y;
  let i = down * 8u + thread % 8u;
  let j = (tile - down * params.v[1].y) * 32u + thread / 8u;
  if (matrix < params.v[0].y && i < params.v[0].z && j < params.v[0].w) {
    let x0 = bitcast<f32>(b0[params.v[1].w + matrix * params.v[2].x + i * params.v[2].y + j]);
    var x = x0;
    if (j > i) { x = f32(0.0); }
    if (!((tern_isfinite_f32(x)))) {
      x = f32(0.0);
      let status = -1;
      let to1 = params.v[3].z + matrix;
      b3[to1] = bitcast<u32>(status);
    }
    let x2 = bitcast<i32>(b2[params.v[3].y + matrix]);
    let half = (x2) / 2;
    let other_half = (x2) - half;
    x = x * bitcast<f32>(u32(half + 127) << 23u) * bitcast<f32>(u32(other_half + 127) << 23u);
    let to3 = params.v[2].z + matrix * params.v[2].w + i + j * params.v[3].x;
    b1[to3] = bitcast<u32>(x);
  }
}

// ---- eigenvalues by rotations of blocks: eigh, 64 workgroups of 256, 10 words
// jacobi, of symmetric matrices
@group(0) @binding(1) var<storage, read_write> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
var<workgroup> partial: array<f32, 256>;
fn tern_keep(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) ^ params.v[2].z);
}
  let matrix = group;
  var sum = f32(0.0);
  for (var j = thread; j < params.v[0].z; j += 256u) {
    let on = bitcast<f32>(b0[params.v[1].x + matrix * params.v[1].y + (j) + (j) * params.v[1].z]);
    var below = f32(0.0);
    for (var i = j + 1u; i < params.v[0].z; i += 1u) {
      let x = bitcast<f32>(b0[params.v[1].x + matrix * params.v[1].y + (i) + (j) * params.v[1].z]);
      below = fma(x, x, below);
    }
    sum = sum + fma(on, on, below + below);
  }
  partial[thread] = sum;
  workgroupBarrier();
  sum = f32(0.0);
  for (var k = 0u; k < 256u; k += 1u) { sum = sum + partial[k]; }
  let norm = tern_sqrt((sum)) * f32(1.5);
  let shift = select(norm, f32(1.0), norm == f32(0.0));
  for (var j = thread / 32u; j < params.v[0].z; j += 256u / 32u) {
    for (var i = j + thread % 32u; i < params.v[0].z; i += 32u) {
      let x = bitcast<f32>(b0[params.v[1].x + matrix * params.v[1].y + (i) + (j) * params.v[1].z]);
      if (i == j) {
        b1[params.v[1].w + matrix * params.v[2].x + (j) + (j) * params.v[2].y] = bitcast<u32>(x + shift);
      } else {
        b1[params.v[1].w + matrix * params.v[2].x + (i) + (j) * params.v[2].y] = bitcast<u32>(x);
        b1[params.v[1].w + matrix * params.v[2].x + (j) + (i) * params.v[2].y] = bitcast<u32>(x);
        b0[params.v[1].x + matrix * params.v[1].y + (j) + (i) * params.v[1].z] = bitcast<u32>(x);
      }
    }
  }
}

// ---- eigenvalues by rotations of blocks: eigh, 128 workgroups of 256, 20 words
// jacobi, rotations of pairs of blocks
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
@group(0) @binding(3) var<storage, read_write> b2: array<u32>;
var<workgroup> gram: array<f32, 1056>;
var<workgroup> tile: array<f32, 1056>;
var<workgroup> sines: array<f32, 16>;
var<workgroup> rests: array<f32, 16>;
var<workgroup> scales: array<f32, 32>;
var<workgroup> busy: array<u32, 32>;
  let matrix = group / params.v[0].z;
  let pair = group - matrix * params.v[0].z;
  if (thread < 32u) {
    var goes = params.v[1].w;
    if (params.v[0].w == 0u) {
      for (var k = thread; k < params.v[0].z; k += 32u) {
        if (goes == 0u && bitcast<i32>(b1[params.v[3].z + matrix * params.v[3].w + (k) + (params.v[2].y) * params.v[4].x]) != 0) { goes = 1u; }
      }
    } else {
      goes = u32(bitcast<i32>(b1[params.v[3].z + matrix * params.v[3].w + (pair) + (3u) * params.v[4].x]));
    }
    busy[thread] = goes;
  }
  workgroupBarrier();
  if (thread == 0u) {
    var goes = 0u;
    for (var k = 0u; k < 32u; k += 1u) { goes = goes | busy[k]; }
    busy[0] = goes;
    b1[params.v[3].z + matrix * params.v[3].w + (pair) + (0u) * params.v[4].x] = bitcast<u32>(0);
    if (params.v[0].w == 0u) {
      b1[params.v[3].z + matrix * params.v[3].w + (pair) + (3u) * params.v[4].x] = bitcast<u32>(i32(goes));
      b1[params.v[3].z + matrix * params.v[3].w + (pair) + (params.v[2].x) * params.v[4].x] = bitcast<u32>(0);
    }
  }
  let going = workgroupUniformLoad(&busy[0]);
  if (going != 0u) {
    let one = select((params.v[0].w + pair) % params.v[1].x, params.v[1].x, pair == 0u);
    let other = (params.v[0].w + params.v[1].x - pair) % params.v[1].x;
    let left = min(one, other) * 16u;
    let right = max(one, other) * 16u - 16u;
    let slice = thread / 64u;
    let x_first = thread % 8u;
    let y_first = thread / 8u % 8u;
    var sum_0_0 = f32(0.0);
// … 14 more of these 1 lines (b87f06e1), and
    var sum_3_3 = f32(0.0);
    let own_row = thread % 32u;
    let at_0 = thread / 32u + 0u * 8u;
    let column_0 = at_0 + select(left, right, 0u >= 2u);
    var next_0 = f32(0.0);
    if (own_row < params.v[1].y && column_0 < params.v[1].z) { next_0 = bitcast<f32>(b0[params.v[2].w + matrix * params.v[3].x + (own_row) + (column_0) * params.v[3].y]); }
// … 2 more of these 4 lines (7834b3c6), and
    let at_3 = thread / 32u + 3u * 8u;
    let column_3 = at_3 + select(left, right, 3u >= 2u);
    var next_3 = f32(0.0);
    if (own_row < params.v[1].y && column_3 < params.v[1].z) { next_3 = bitcast<f32>(b0[params.v[2].w + matrix * params.v[3].x + (own_row) + (column_3) * params.v[3].y]); }
    for (var top = 0u; top < params.v[1].y; top += 32u) {
      tile[at_0 * 33u + own_row] = next_0;
      tile[at_1 * 33u + own_row] = next_1;
      tile[at_2 * 33u + own_row] = next_2;
      tile[at_3 * 33u + own_row] = next_3;
      workgroupBarrier();
      let row = top + 32u + own_row;
      next_0 = f32(0.0);
      if (row < params.v[1].y && column_0 < params.v[1].z) { next_0 = bitcast<f32>(b0[params.v[2].w + matrix * params.v[3].x + (row) + (column_0) * params.v[3].y]); }
// … 2 more of these 2 lines (2c909bed), and
      next_3 = f32(0.0);
      if (row < params.v[1].y && column_3 < params.v[1].z) { next_3 = bitcast<f32>(b0[params.v[2].w + matrix * params.v[3].x + (row) + (column_3) * params.v[3].y]); }
      for (var i = slice; i < 32u; i += 256u / 64u) {
        let x0 = tile[(x_first + 0u * 8u) * 33u + i];
        let y0 = tile[(y_first + 0u * 8u) * 33u + i];
// … 2 more of these 2 lines (79c2d55d), and
        let x3 = tile[(x_first + 3u * 8u) * 33u + i];
        let y3 = tile[(y_first + 3u * 8u) * 33u + i];
        sum_0_0 = fma(x0, y0, sum_0_0);
// … 14 more of these 1 lines (b5729c6d), and
        sum_3_3 = fma(x3, y3, sum_3_3);
      }
      workgroupBarrier();
    }
    for (var s = 0u; s < 256u / 64u; s += 1u) {
      if (slice == s) {
        {
          let at = (x_first + 0u * 8u) * 33u + y_first + 0u * 8u;
          var before = f32(0.0);
          if (s > 0u) { before = gram[at]; }
          gram[at] = before + sum_0_0;
        }
// … 14 more of these 6 lines (92bc9857), and
        {
          let at = (x_first + 3u * 8u) * 33u + y_first + 3u * 8u;
          var before = f32(0.0);
          if (s > 0u) { before = gram[at]; }
          gram[at] = before + sum_3_3;
        }
      }
      workgroupBarrier();
    }
    for (var e = thread; e < 1024u; e += 256u) {
      tile[e / 32u * 33u + e % 32u] = select(f32(0.0), f32(1.0), e / 32u == e % 32u);
    }
    let little = sqrt(f32(params.v[1].y)) * f32(1.19209289550781250e-07);
    let i = thread / 16u;
    let j = thread % 16u;
    var moved = 0u;
    for (var round = 0u; round < 31u; round += 1u) {
      let j_one = select((round + j) % 31u, 31u, j == 0u);
      let j_other = (round + 31u - j) % 31u;
      let j_p = min(j_one, j_other);
      let j_q = max(j_one, j_other);
      if (thread < 16u) {
        let x = gram[j_p * 34u];
        let y = gram[j_q * 34u];
        let off = gram[j_p * 33u + j_q];
        var sine = f32(0.0);
        var rest = f32(0.0);
        if (min(x, y) > f32(1.38777878078144568e-17) && tern_abs_f32((off)) > little * sqrt(x * y)) {
          let cotangent = (y - x) / (off + off);
          let steep = min(tern_abs_f32((cotangent)), f32(1e18));
          let size = f32(1.0) / (steep + sqrt(fma(steep, steep, f32(1.0))));
          let tangent = select(size, -size, cotangent < f32(0.0));
          let cosine = f32(1.0) / sqrt(fma(tangent, tangent, f32(1.0)));
          sine = tangent * cosine;
          rest = sine * sine / (cosine + f32(1.0));
          gram[j_p * 34u] = fma(-tangent, off, x);
          gram[j_q * 34u] = fma(tangent, off, y);
          gram[j_p * 33u + j_q] = f32(0.0);
          gram[j_q * 33u + j_p] = f32(0.0);
          moved = 1u;
        }
        sines[j] = sine;
        rests[j] = rest;
      }
      workgroupBarrier();
      let sine = sines[j];
      let rest = rests[j];
      let sine_i = sines[i];
      let rest_i = rests[i];
      if (i != j && (sine != f32(0.0) || sine_i != f32(0.0))) {
        let i_one = select((round + i) % 31u, 31u, i == 0u);
        let i_other = (round + 31u - i) % 31u;
        let i_p = min(i_one, i_other) * 33u;
        let i_q = max(i_one, i_other) * 33u;
        let pp = gram[i_p + j_p];
        let pq = gram[i_p + j_q];
        let qp = gram[i_q + j_p];
        let qq = gram[i_q + j_q];
        let upper_p = pp - fma(sine_i, qp, rest_i * pp);
        let upper_q = pq - fma(sine_i, qq, rest_i * pq);
        let lower_p = qp + fma(sine_i, pp, -(rest_i * qp));
        let lower_q = qq + fma(sine_i, pq, -(rest_i * qq));
        gram[i_p + j_p] = upper_p - fma(sine, upper_q, rest * upper_p);
        gram[i_p + j_q] = upper_q + fma(sine, upper_p, -(rest * upper_q));
        gram[i_q + j_p] = lower_p - fma(sine, lower_q, rest * lower_p);
        gram[i_q + j_q] = lower_q + fma(sine, lower_p, -(rest * lower_q));
      }
      if (sine != f32(0.0)) {
        for (var k = i; k < 32u; k += 256u / 16u) {
          let x = tile[k * 33u + j_p];
          let y = tile[k * 33u + j_q];
          tile[k * 33u + j_p] = x - fma(sine, y, rest * x);
          tile[k * 33u + j_q] = y + fma(sine, x, -(rest * y));
        }
      }
      workgroupBarrier();
    }
    if (thread < 16u) { busy[thread] = moved; }
    workgroupBarrier();
    if (thread == 0u) {
      var rotated = 0u;
      for (var k = 0u; k < 16u; k += 1u) { rotated = rotated | busy[k]; }
      if (rotated != 0u) {
        b1[params.v[3].z + matrix * params.v[3].w + (pair) + (0u) * params.v[4].x] = bitcast<u32>(1);
        b1[params.v[3].z + matrix * params.v[3].w + (pair) + (params.v[2].x) * params.v[4].x] = bitcast<u32>(1);
      }
    }
    if (thread < 32u) {
      var square = f32(0.0);
      for (var k = 0u; k < 32u; k += 1u) { square = fma(tile[k * 33u + thread], tile[k * 33u + thread], square); }
      scales[thread] = (f32(1.0) - square) * f32(0.5);
    }
    workgroupBarrier();
    for (var e = thread; e < 1024u; e += 256u) {
      let x = tile[e % 32u * 33u + e / 32u];
      b2[params.v[4].y + matrix * params.v[4].z + (e % 32u) + (pair * 32u + e / 32u) * params.v[4].w] = bitcast<u32>(fma(x, scales[e / 32u], x));
    }
  }
}

// ---- eigenvalues by rotations of blocks: eigh, 128 workgroups of 64, 18 words
// jacobi, blocks rotated
@group(0) @binding(1) var<storage, read_write> b0: array<u32>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read> b2: array<u32>;
var<workgroup> q: array<vec4<f32>, 256>;
  let matrix = group / (params.v[0].z * params.v[0].w);
  let place = group - matrix * (params.v[0].z * params.v[0].w);
  let pair = place / params.v[0].w;
  let rotated = bitcast<i32>(b1[params.v[3].x + matrix * params.v[3].y + (pair) + (0u) * params.v[3].z]) != 0;
  if (rotated) {
    for (var e = thread; e < 1024u; e += 64u) {
      let k = e % 32u;
      let j = e / 32u;
      q[j * 8u + k / 4u][k & 3u] = bitcast<f32>(b2[params.v[3].w + matrix * params.v[4].x + (k) + (pair * 32u + j) * params.v[4].y]);
    }
  }
  workgroupBarrier();
  let row = (place - pair * params.v[0].w) * 64u + thread;
  if (rotated && row < params.v[1].z) {
    let one = select((params.v[1].x + pair) % params.v[1].y, params.v[1].y, pair == 0u);
    let other = (params.v[1].x + params.v[1].y - pair) % params.v[1].y;
    let left = min(one, other) * 16u;
    let right = max(one, other) * 16u - 16u;
    var x0 = vec4<f32>();
// … 6 more of these 1 lines (720f88e6), and
    var x7 = vec4<f32>();
    let column_0 = 0u + select(left, right, 0u >= 16u);
    x0.x = select(f32(0.0), bitcast<f32>(b0[params.v[2].y + matrix * params.v[2].z + (row) + (min(column_0, params.v[1].w - 1u)) * params.v[2].w]), column_0 < params.v[1].w);
    let column_1 = 1u + select(left, right, 1u >= 16u);
    x0.y = select(f32(0.0), bitcast<f32>(b0[params.v[2].y + matrix * params.v[2].z + (row) + (min(column_1, params.v[1].w - 1u)) * params.v[2].w]), column_1 < params.v[1].w);
    let column_2 = 2u + select(left, right, 2u >= 16u);
    x0.z = select(f32(0.0), bitcast<f32>(b0[params.v[2].y + matrix * params.v[2].z + (row) + (min(column_2, params.v[1].w - 1u)) * params.v[2].w]), column_2 < params.v[1].w);
    let column_3 = 3u + select(left, right, 3u >= 16u);
    x0.w = select(f32(0.0), bitcast<f32>(b0[params.v[2].y + matrix * params.v[2].z + (row) + (min(column_3, params.v[1].w - 1u)) * params.v[2].w]), column_3 < params.v[1].w);
// … 6 more of these 8 lines (b8e96f87), and
    let column_28 = 28u + select(left, right, 28u >= 16u);
    x7.x = select(f32(0.0), bitcast<f32>(b0[params.v[2].y + matrix * params.v[2].z + (row) + (min(column_28, params.v[1].w - 1u)) * params.v[2].w]), column_28 < params.v[1].w);
    let column_29 = 29u + select(left, right, 29u >= 16u);
    x7.y = select(f32(0.0), bitcast<f32>(b0[params.v[2].y + matrix * params.v[2].z + (row) + (min(column_29, params.v[1].w - 1u)) * params.v[2].w]), column_29 < params.v[1].w);
    let column_30 = 30u + select(left, right, 30u >= 16u);
    x7.z = select(f32(0.0), bitcast<f32>(b0[params.v[2].y + matrix * params.v[2].z + (row) + (min(column_30, params.v[1].w - 1u)) * params.v[2].w]), column_30 < params.v[1].w);
    let column_31 = 31u + select(left, right, 31u >= 16u);
    x7.w = select(f32(0.0), bitcast<f32>(b0[params.v[2].y + matrix * params.v[2].z + (row) + (min(column_31, params.v[1].w - 1u)) * params.v[2].w]), column_31 < params.v[1].w);
    for (var j = 0u; j < 32u; j += 1u) {
      var sum = x0 * q[j * 8u];
      sum = fma(x1, q[j * 8u + 1u], sum);
// … 5 more of these 1 lines (a5fca5a8), and
      sum = fma(x7, q[j * 8u + 7u], sum);
      let column = j + select(left, right, j >= 16u);
      if (column < params.v[1].w) { b0[params.v[2].y + matrix * params.v[2].z + (row) + (column) * params.v[2].w] = bitcast<u32>(sum.x + sum.y + (sum.z + sum.w)); }
    }
  }
}

// ---- eigenvalues by rotations of blocks: eigh, 64 workgroups of 256, 27 words
// jacobi, order
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read_write> b2: array<u32>;
@group(0) @binding(4) var<storage, read_write> b3: array<u32>;
@group(0) @binding(5) var<storage, read_write> b4: array<u32>;
@group(0) @binding(6) var<storage, read> b5: array<u32>;
@group(0) @binding(7) var<storage, read_write> b6: array<u32>;
var<workgroup> failed: array<u32, 256>;
fn tern_keep(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) ^ params.v[6].w);
}
  let matrix = group;
  for (var j = thread; j < params.v[0].w; j += 256u) {
    var largest = f32(0.0);
    for (var i = 0u; i < params.v[0].z; i += 1u) { largest = max(largest, tern_abs_f32((bitcast<f32>(b0[params.v[2].x + matrix * params.v[2].y + (i) + (j) * params.v[2].z])))); }
    let scale = select(largest, f32(1.0), largest == f32(0.0));
    var sum = f32(0.0);
    var dot = f32(0.0);
    for (var i = 0u; i < params.v[0].z; i += 1u) {
      let x = (tern_div((bitcast<f32>(b0[params.v[2].x + matrix * params.v[2].y + (i) + (j) * params.v[2].z])), (scale)));
      sum = fma(x, x, sum);
      dot = fma(x, bitcast<f32>(b5[params.v[5].w + matrix * params.v[6].x + (i) + (j) * params.v[6].y]), dot);
    }
    let length = tern_sqrt((sum)) * scale;
    b2[params.v[3].z + matrix * params.v[3].w + (j) + (0u) * params.v[4].x] = bitcast<u32>(length);
    b2[params.v[3].z + matrix * params.v[3].w + (j) + (1u) * params.v[4].x] = bitcast<u32>((tern_div((dot), (sum * scale))));
  }
  storageBarrier();
  workgroupBarrier();
  for (var j = thread; j < params.v[0].w; j += 256u) {
    let value = bitcast<f32>(b2[params.v[3].z + matrix * params.v[3].w + (j) + (1u) * params.v[4].x]);
    var rank = 0u;
    for (var k = 0u; k < params.v[0].w; k += 1u) {
      let here = bitcast<f32>(b2[params.v[3].z + matrix * params.v[3].w + (k) + (1u) * params.v[4].x]);
      if (here < value || (here == value && k < j)) { rank += 1u; }
    }
    b3[params.v[4].y + matrix * params.v[4].z + (rank) + (0u) * params.v[4].w] = bitcast<u32>(i32(j));
    b4[params.v[5].x + matrix * params.v[5].y + (rank) + (0u) * params.v[5].z] = bitcast<u32>(value);
  }
  var status = 0;
  for (var k = thread; k < params.v[1].x; k += 256u) {
    if (bitcast<i32>(b1[params.v[2].w + matrix * params.v[3].x + (k) + (params.v[1].y) * params.v[3].y]) != 0) { status = 1; }
  }
  failed[thread] = u32(status);
  workgroupBarrier();
  if (thread == 0u) {
    for (var k = 0u; k < 256u; k += 1u) {
      if (failed[k] != 0u) { status = 1; }
    }
  }
  if (thread == 0u && status != 0) {
    let x0 = bitcast<i32>(b6[params.v[6].z + matrix]);
    if (x0 == 0) {
      let found = status + i32(params.v[1].z);
      let to1 = params.v[6].z + matrix;
      b6[to1] = bitcast<u32>(found);
    }
  }
}

// ---- eigenvalues by rotations of blocks: eigh, 400 workgroups of 256, 17 words
// jacobi, columns in order
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read> b1: array<u32>;
@group(0) @binding(3) var<storage, read_write> b2: array<u32>;
@group(0) @binding(4) var<storage, read> b3: array<u32>;
fn tern_keep(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) ^ params.v[4].y);
}
  let line = group * 256u + thread;
  let matrix = line / (params.v[0].z * params.v[0].w);
  if (matrix < params.v[0].y) {
    let place = line - matrix * (params.v[0].z * params.v[0].w);
    let k = place / params.v[0].z;
    let i = place - k * params.v[0].z;
    let j = min(u32(bitcast<i32>(b1[params.v[2].x + matrix * params.v[2].y + (k) + (0u) * params.v[2].z])), params.v[0].w - 1u);  // of NaN some have no place
    let x = bitcast<f32>(b0[params.v[1].y + matrix * params.v[1].z + (i) + (j) * params.v[1].w]);
    b2[params.v[2].w + matrix * params.v[3].x + (i) * params.v[3].y + (k)] = bitcast<u32>((tern_div((x), (bitcast<f32>(b3[params.v[3].z + matrix * params.v[3].w + (j) + (0u) * params.v[4].x])))));
  }
}

// ---- singular values by rotations of blocks: svd, 640 workgroups of 256, 15 words
// matrices, transposed, scaled
@group(0) @binding(1) var<storage, read> b0: array<u32>;
@group(0) @binding(2) var<storage, read_write> b1: array<u32>;
@group(0) @binding(3) var<storage, read> b2: array<u32>;
  let matrix = group / params.v[1].x;
  let tile = group - matrix * params.v[1].x;
  let down = tile / params.v[1].y;
  let i = down * 8u + thread % 8u;
  let j = (tile - down * params.v[1].y) * 32u + thread / 8u;
  if (matrix < params.v[0].y && i < params.v[0].z && j < params.v[0].w) {
    let x0 = bitcast<f32>(b0[params.v[1].w + matrix * params.v[2].x + i + j * params.v[2].y]);
    var x = x0;
    let x1 = bitcast<i32>(b2[params.v[3].y + matrix * params.v[3].z + j]);
    let half = (x1) / 2;
    let other_half = (x1) - half;
    x = x * bitcast<f32>(u32(half + 127) << 23u) * bitcast<f32>(u32(other_half + 127) << 23u);
    let to2 = params.v[2].z + matrix * params.v[2].w + i * params.v[3].x + j;
    b1[to2] = bitcast<u32>(x);
  }
}

