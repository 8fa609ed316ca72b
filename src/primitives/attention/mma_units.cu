// What the kernels of attention on tensor cores share (attention_mma.cu, attention_mma_rows.cu,
// attention_mma_columns.cu): tiles of rows with 16-bit elements in workgroup memory, and products of them by
// mma.m16n8k16. How a lane's registers belong to rows and columns: cuda/products/mma.cu, from which these are; PTX ISA,
// sections cp.async, ldmatrix and mma.

// ---- copies to workgroup memory that run on their own ----
TERN_DEVICE u32 tern_shared(const void* p) { return u32(__cvta_generic_to_shared(p)); }
TERN_DEVICE void tern_copy(u32 to, const void* from, u32 bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
TERN_DEVICE void tern_copy_word(u32 to, const void* from, u32 bytes) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
TERN_DEVICE void tern_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
TERN_DEVICE void tern_wait_copies() { asm volatile("cp.async.wait_group 0;" ::: "memory"); }
TERN_DEVICE void tern_put(u32 to, const u32 (&words)[4]) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};"
               ::"r"(to), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]) : "memory");
}
// Where 16 bytes `part` of a row of `line` bytes, a multiple of 128, lie: turned so that the same part of eight rows, a
// matrix, lies in different banks.
TERN_DEVICE u32 tern_place(u32 row, u32 part, u32 line) { return row * line + ((part ^ (row & 7u)) << 4u); }

// Rows of 16-bit elements in memory: the first, from where on they count, and the steps between rows and in a row.
struct Rows {
  const u16* elements;
  u32 from, step, step_in;
};
// Sends rows [first, first + count) on their way to `to`; 0 in place of rows from `end` on, and elements from `size` on.
template <bool wide, u32 count, u32 elements>
TERN_DEVICE void fetch(Rows r, u32 first, u32 end, u32 size, u32 to, u32 thread) {
  constexpr u32 parts = elements / 8u;
#pragma unroll
  for (u32 i = 0u; i < count * parts / kThreads; ++i) {
    let unit = thread + i * kThreads;
    let row = unit / parts, part = unit % parts;
    let at = to + tern_place(row, part, 2u * elements);
    let left = first + row < end && part * 8u < size ? min(size - part * 8u, 8u) : 0u;
    let start = r.from + (first + row) * r.step;
    if constexpr (wide) {
      tern_copy(at, r.elements + (left ? start + part * 8u : 0u), left * 2u);
    } else {
      u32 words[4];
#pragma unroll
      for (u32 e = 0u; e < 8u; ++e) {
        let x = e < left ? u32(r.elements[start + (part * 8u + e) * r.step_in]) : 0u;
        words[e / 2u] = e & 1u ? words[e / 2u] | x << 16u : x;
      }
      tern_put(at, words);
    }
  }
}

// ---- tensor cores ----
TERN_DEVICE void tern_matrices(u32 (&m)[4], u32 from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3]) : "r"(from) : "memory");
}
TERN_DEVICE void tern_matrices_turned(u32 (&m)[4], u32 from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3]) : "r"(from) : "memory");
}
TERN_DEVICE void multiply(f32 (&acc)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.$type.$type.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
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
                               u32 lane) {
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
      tern_matrices_turned(of_b, b + tern_place(kk * 16u + low * 8u + (lane & 7u), j + high, 2u * elements));
#pragma unroll
      for (u32 i = 0u; i < blocks; ++i) {
        multiply(acc[i][j], of_a[i], of_b[0], of_b[1]);
        multiply(acc[i][j + 1u], of_a[i], of_b[2], of_b[3]);
      }
    }
  }
}

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
