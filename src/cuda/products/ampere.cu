// Instructions of compute capability 8.0 (Ampere) as functions: copies to workgroup memory that run on their own,
// matrices from there to registers, and products of tensor cores. PTX ISA,
// https://docs.nvidia.com/cuda/parallel-thread-execution/, sections cp.async, ldmatrix and mma. For products (mma.cu)
// and attention (primitives/attention/cuda/attention_units.cu).

// ---- copies to workgroup memory that run on their own ----
TERN_DEVICE u32 tern_shared(const void* p) { return u32(__cvta_generic_to_shared(p)); }
TERN_DEVICE void tern_copy(u32 to, const void* from, u32 bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
TERN_DEVICE void tern_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Until all but the last `most` that were committed are there.
template <int most = 0> TERN_DEVICE void tern_wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(most) : "memory");
}
TERN_DEVICE void tern_put(u32 to, const u32 (&words)[4]) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};"
               ::"r"(to), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]) : "memory");
}
// Where 16 bytes `part` of a row of `line` bytes, a multiple of 128, lie: swizzled so that the same part of eight rows,
// a matrix, lies in different banks.
TERN_DEVICE u32 tern_place(u32 row, u32 part, u32 line) { return row * line + ((part ^ (row & 7u)) << 4u); }

// ---- tensor cores ----
// Four matrices of 8×8 from workgroup memory, of each of which eight lanes name the rows; transposed where they lie
// across k.
template <bool along_k = true> TERN_DEVICE void tern_matrices(u32 (&m)[4], u32 from) {
  if constexpr (along_k)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3]) : "r"(from) : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3]) : "r"(from) : "memory");
}
// acc += a·b of a block of 16 rows and 8 columns, and 16 elements.
TERN_DEVICE void multiply(f32* acc, const u32 (&a)[4], u32 b0, u32 b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.$type.$type.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
