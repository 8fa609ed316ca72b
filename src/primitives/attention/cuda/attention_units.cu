// What the kernels of attention on CUDA share (attention_mma.cu, attention_mma_rows.cu, attention_mma_columns.cu):
// tiles of rows in workgroup memory, and products of them by `multiply_rows` and `multiply_sums`, which mma_units.cu
// has for 16-bit floats and fma_units.cu for f32. Both leave sums where mma.m16n8k16 does (cuda/products/mma.cu): of
// blocks of 16 rows and 8 columns lane l has columns 2 (l % 4) and the next one of rows l / 4 and l / 4 + 8.
// Instructions: cuda/products/ampere.cu. What bounds the kernels, and how fast they are, stands in their own files.
$elements

$instructions

// One number.
TERN_DEVICE void tern_copy_word(u32 to, const void* from, u32 bytes) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}

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
