// From where mma.m16n8k16 and wgmma leave sums to rows, of which a lane stores eight neighbours at once. For products
// (mma.cu) and attention (primitives/attention/cuda/row_units.cu).

// ---- from the layout of sums to rows ----
// Lane q of four holds columns 8 j + 2 q and 8 j + 2 q + 1 for j = 0..3, and gets columns 8 q to 8 q + 7 in their
// place. Two exchanges, with the neighbour and with the next but one.
TERN_DEVICE void tern_quad_exchange(f32& keep0, f32& keep1, f32& give0, f32& give1, bool upper, u32 distance) {
  const f32 out0 = upper ? keep0 : give0, out1 = upper ? keep1 : give1;
  const f32 in0 = __shfl_xor_sync(0xffffffffu, out0, distance), in1 = __shfl_xor_sync(0xffffffffu, out1, distance);
  if (upper) keep0 = in0, keep1 = in1;
  else give0 = in0, give1 = in1;
}
struct Row8 {
  f32 x[8];
};
// Of four blocks, the upper or lower row (h) of a lane.
TERN_DEVICE Row8 tern_quad_row(const f32 (*acc)[4], u32 h) {
  const bool odd = threadIdx.x & 1u, high = threadIdx.x & 2u;
  f32 a0 = acc[0][2u * h], a1 = acc[0][2u * h + 1u], b0 = acc[1][2u * h], b1 = acc[1][2u * h + 1u];
  f32 c0 = acc[2][2u * h], c1 = acc[2][2u * h + 1u], d0 = acc[3][2u * h], d1 = acc[3][2u * h + 1u];
  tern_quad_exchange(a0, a1, b0, b1, odd, 1u);
  tern_quad_exchange(c0, c1, d0, d1, odd, 1u);
  tern_quad_exchange(a0, a1, c0, c1, high, 2u);
  tern_quad_exchange(b0, b1, d0, d1, high, 2u);
  return {{a0, a1, b0, b1, c0, c1, d0, d1}};
}
