// What all kernels of attention on CUDA share: numbers, and rows of sums that lie as mma.m16n8k16 and wgmma leave them
// (cuda/products/mma.cu, cuda/products/wgmma.cu).
// Those draw what a lane holds; what bounds the kernels stands in their own files.
// ---- numbers ----
// 2^exponent.
TERN_DEVICE f32 tern_power_of_two(f32 exponent) {
  f32 root;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(exponent));
  return root;
}
TERN_DEVICE f32 tern_inverse(f32 sum) {
  f32 inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(sum));
  return inverse;
}
// The largest, and the sum, of the values of the four lanes that share a row.
TERN_DEVICE f32 tern_quad_largest(f32 x) {
  x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
  return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}
TERN_DEVICE f32 tern_quad_sum(f32 x) {
  x += __shfl_xor_sync(0xffffffffu, x, 1);
  return x + __shfl_xor_sync(0xffffffffu, x, 2);
}

$quad_rows
