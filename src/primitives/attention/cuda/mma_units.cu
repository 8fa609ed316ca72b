// Products of tiles of 16-bit floats in workgroup memory, by tensor cores: the instructions are those of
// cuda/products/ampere.cu. What bounds mma.sync stands in cuda/products/mma.cu, which draws what a lane holds and says
// how fast it is.

// acc += a·bᵀ for a warp's rows of a, from `row` on, and the first rows of b: both have `elements` in a row. A block of
// b serves all of the warp's blocks of rows.
template <u32 blocks, u32 across, u32 elements>
TERN_DEVICE void multiply_rows(f32 (&acc)[blocks][across][4], u32 a, u32 row, u32 b, u32 lane) {
  let low = lane >> 3u & 1u, high = lane >> 4u;
#pragma unroll
  for (u32 kk = 0u; kk < elements / 16u; ++kk) {
    u32 of_a[blocks][4];
#pragma unroll
    for (u32 i = 0u; i < blocks; ++i)
      tern_matrices(of_a[i], a + tern_place(row + i * 16u + low * 8u + (lane & 7u), kk * 2u + high, 2u * elements));
#pragma unroll
    for (u32 j = 0u; j < across; j += 2u) {
      u32 of_b[4];
      tern_matrices(of_b, b + tern_place(j * 8u + high * 8u + (lane & 7u), kk * 2u + low, 2u * elements));
#pragma unroll
      for (u32 i = 0u; i < blocks; ++i) {
        multiply(acc[i][j], of_a[i], of_b[0], of_b[1]);
        multiply(acc[i][j + 1u], of_a[i], of_b[2], of_b[3]);
      }
    }
  }
}
// acc += x·b for x in the layout of sums, rounded to 16 bits, and the rows of b, of which there are as many as x has
// columns.
template <u32 blocks, u32 across, u32 elements>
TERN_DEVICE void multiply_sums(f32 (&acc)[blocks][elements / 8u][4], const f32 (&x)[blocks][across][4], u32 b,
                               u32 lane, u32) {
  let low = lane >> 3u & 1u, high = lane >> 4u;
#pragma unroll
  for (u32 kk = 0u; kk < across / 2u; ++kk) {
    u32 of_a[blocks][4];
#pragma unroll
    for (u32 i = 0u; i < blocks; ++i)
#pragma unroll
      for (u32 h = 0u; h < 2u; ++h) {
        of_a[i][2u * h] = $pair(x[i][2u * kk + h][0], x[i][2u * kk + h][1]);
        of_a[i][2u * h + 1u] = $pair(x[i][2u * kk + h][2], x[i][2u * kk + h][3]);
      }
#pragma unroll
    for (u32 j = 0u; j < elements / 8u; j += 2u) {
      u32 of_b[4];
      tern_matrices<false>(of_b, b + tern_place(kk * 16u + low * 8u + (lane & 7u), j + high, 2u * elements));
#pragma unroll
      for (u32 i = 0u; i < blocks; ++i) {
        multiply(acc[i][j], of_a[i], of_b[0], of_b[1]);
        multiply(acc[i][j + 1u], of_a[i], of_b[2], of_b[3]);
      }
    }
  }
}

