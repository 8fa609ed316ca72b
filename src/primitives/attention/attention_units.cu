// What the kernels of attention on CUDA share (attention_mma.cu, attention_mma_rows.cu, attention_mma_columns.cu):
// tiles of rows in workgroup memory, and products of them by `multiply_rows` and `multiply_sums`, which mma_units.cu
// has for 16-bit floats and fma_units.cu for f32. Both leave sums where mma.m16n8k16 does (cuda/products/mma.cu): of
// blocks of 16 rows and 8 columns lane l has columns 2 (l % 4) and the next one of rows l / 4 and l / 4 + 8.
// Instructions: PTX ISA, section cp.async. What bounds the kernels, and how fast they are, stands in their own files.
$elements

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

// Rows of elements in memory: the first, from where on they count, and the steps between rows and in a row.
struct Rows {
  const Element* elements;
  u32 from, step, step_in;
};
// Sends rows [first, first + count) on their way to `to`; 0 in place of rows from `end`, and elements from `size` on.
template <bool wide, u32 count, u32 elements>
TERN_DEVICE void fetch(Rows r, u32 first, u32 end, u32 size, u32 to, u32 thread) {
  constexpr u32 unit = 16u / kBytes, parts = elements / unit;
#pragma unroll
  for (u32 i = 0u; i < count * parts / kThreads; ++i) {
    let number = thread + i * kThreads;
    let row = number / parts, part = number % parts;
    let at = to + tern_place(row, part, kBytes * elements);
    let left = first + row < end && part * unit < size ? min(size - part * unit, unit) : 0u;
    let start = r.from + (first + row) * r.step;
    if constexpr (wide) {
      tern_copy(at, r.elements + (left ? start + part * unit : 0u), left * kBytes);
    } else {
      u32 words[4] = {};
#pragma unroll
      for (u32 e = 0u; e < unit; ++e) {
        let x = e < left ? bitcast<Word>(r.elements[start + (part * unit + e) * r.step_in]) : Word(0);
        words[e * kBytes / 4u] |= u32(x) << (8u * kBytes * e & 31u);
      }
      tern_put(at, words);
    }
  }
}

$products

$row_units
