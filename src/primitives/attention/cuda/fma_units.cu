// Products of tiles of f32 in workgroup memory, with the sums where tensor cores would leave them (mma_units.cu): of a
// warp's rows and columns a lane has 2 rows and 2 columns of each block, so of 32 rows and 64 columns 4 rows and 16
// columns. For each four elements of a row it loads one vector for each of them, and multiplies 256 times.
//
//   lane l:     columns 2 (l % 4), + 1   + 8, + 9   …        a block: 16 rows, 8 columns
//   row l / 4   │ s[0][0]  s[0][1]     │ s[1][0] …
//   + 8         │ s[0][2]  s[0][3]     │ s[1][2] …
//
// Bound by the multiply-adds. With these units attention of 4×16×4096×128 in f32 took 18.5 ms forward on an H200, 29
// November 2026, 29.8 TFLOP/s, and of 64 elements 8.1 ms, 33.9 TFLOP/s; the gradient of q 35.1 and 11.9 ms, of k and v
// 49.3 and 17.3 (each kernel by itself, Nsight Compute).

struct Four {
  f32 x[4];
};
TERN_DEVICE Four tern_four(u32 from) {
  Four f;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(f.x[0]), "=f"(f.x[1]), "=f"(f.x[2]), "=f"(f.x[3]) : "r"(from) : "memory");
  return f;
}
struct Two {
  f32 x[2];
};
TERN_DEVICE Two tern_two(u32 from) {
  Two f;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(f.x[0]), "=f"(f.x[1]) : "r"(from) : "memory");
  return f;
}
TERN_DEVICE void tern_put_two(u32 to, f32 first, f32 second) {
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(to), "f"(first), "f"(second) : "memory");
}
// acc += a·bᵀ for a warp's rows of a, from `row` on, and the first rows of b: both have `elements` in a row.
template <u32 blocks, u32 across, u32 elements>
TERN_DEVICE void multiply_rows(f32 (&acc)[blocks][across][4], u32 a, u32 row, u32 b, u32 lane) {
#pragma unroll 2
  for (u32 part = 0u; part < elements / 4u; ++part) {
    Four of_a[blocks][2];
#pragma unroll
    for (u32 i = 0u; i < 2u * blocks; ++i)
      of_a[i / 2u][i % 2u] = tern_four(a + tern_place(row + i * 8u + lane / 4u, part, 4u * elements));
#pragma unroll
    for (u32 j = 0u; j < 2u * across; ++j) {
      let of_b = tern_four(b + tern_place(j / 2u * 8u + (lane & 3u) * 2u + j % 2u, part, 4u * elements));
#pragma unroll
      for (u32 e = 0u; e < 4u; ++e)
#pragma unroll
        for (u32 i = 0u; i < 2u * blocks; ++i) {
          f32& sum = acc[i / 2u][j / 2u][i % 2u * 2u + j % 2u];
          sum = fma(of_a[i / 2u][i % 2u].x[e], of_b.x[e], sum);
        }
    }
  }
}
// acc += x·b for x in the layout of sums and the rows of b, of which there are as many as x has columns. A warp puts x
// into `scratch`, its own, from where every lane takes its rows: 4 vectors for each four columns.
template <u32 blocks, u32 across, u32 elements>
TERN_DEVICE void multiply_sums(f32 (&acc)[blocks][elements / 8u][4], const f32 (&x)[blocks][across][4], u32 b,
                               u32 lane, u32 scratch) {
  constexpr u32 parts = 2u * across, line = 16u * parts, swizzle = parts < 8u ? parts - 1u : 7u;
  let own = lane / 4u;  // rows are 8 apart, and swizzled alike
  __syncwarp();
#pragma unroll
  for (u32 i = 0u; i < 2u * blocks; ++i)
#pragma unroll
    for (u32 j = 0u; j < across; ++j) {
      let part = (2u * j + (lane & 3u) / 2u) ^ (own & swizzle);
      tern_put_two(scratch + (8u * i + own) * line + part * 16u + (lane & 1u) * 8u, x[i / 2u][j][i % 2u * 2u],
                   x[i / 2u][j][i % 2u * 2u + 1u]);
    }
  __syncwarp();
#pragma unroll 1
  for (u32 part = 0u; part < parts; ++part) {
    Four of_x[blocks][2];
#pragma unroll
    for (u32 i = 0u; i < 2u * blocks; ++i)
      of_x[i / 2u][i % 2u] = tern_four(scratch + (8u * i + own) * line + (part ^ (own & swizzle)) * 16u);
#pragma unroll
    for (u32 e = 0u; e < 4u; ++e)
#pragma unroll
      for (u32 j = 0u; j < elements / 8u; ++j) {
        let of_b = tern_two(b + tern_place(4u * part + e, 2u * j + (lane & 3u) / 2u, 4u * elements) + (lane & 1u) * 8u);
#pragma unroll
        for (u32 i = 0u; i < 4u * blocks; ++i) {
          f32& sum = acc[i / 4u][j][i % 4u];
          sum = fma(of_x[i / 4u][i % 4u / 2u].x[e], of_b.x[i % 2u], sum);
        }
      }
  }
}
