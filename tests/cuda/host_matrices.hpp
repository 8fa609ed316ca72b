// For host_gpu.hpp: memory that a workgroup is launched with, copies to it that run on their own, and tensor cores, of
// which each of a warp's invocations computes its own sums from what all have.
#pragma once
#include <array>

namespace tern::test {

/// What stands behind kHostPrelude.
inline constexpr const char* kHostMatrices = R"host(
// Workgroup memory that a launch asks for, by its offsets; and what a warp passes around for its matrix instructions.
#define __align__(n) __attribute__((aligned(n)))
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(16) double2 { double x, y; };
template <class Join> static unsigned of_warp(unsigned mine, Join join) {
  unsigned all = mine;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned other = from_lane(mine, lane);
    if ((host->thread & ~31u) + lane < host->threads) all = join(all, other);
  }
  return all;
}
static unsigned __reduce_max_sync(unsigned, unsigned mine) {
  return of_warp(mine, [](unsigned a, unsigned b) { return std::max(a, b); });
}
static unsigned __reduce_min_sync(unsigned, unsigned mine) {
  return of_warp(mine, [](unsigned a, unsigned b) { return std::min(a, b); });
}
alignas(128) static unsigned char workgroup_memory[256 << 10];
static unsigned __cvta_generic_to_shared(const void* p) {
  return unsigned(static_cast<const unsigned char*>(p) - workgroup_memory);
}
static unsigned passed[1024][6];
static void copy_to_workgroup(unsigned to, const void* from, unsigned whole, unsigned bytes) {
  std::memset(workgroup_memory + to, 0, whole), std::memcpy(workgroup_memory + to, from, bytes);
}
static void load_matrices(unsigned (&m)[4], unsigned from, bool turned) {
  const unsigned thread = host->thread, first = thread & ~31u, lane = thread & 31u;
  passed[thread][0] = from;
  host->give_way();
  for (unsigned i = 0; i < 4; ++i) {
    std::uint16_t pair[2];
    for (unsigned e = 0; e < 2; ++e) {
      const unsigned row = turned ? lane % 4 * 2 + e : lane / 4, column = turned ? lane / 4 : lane % 4 * 2 + e;
      std::memcpy(&pair[e], workgroup_memory + passed[first + 8 * i + row][0] + 2 * column, 2);
    }
    std::memcpy(&m[i], pair, 4);
  }
  host->give_way();
}
static float float_of(bool half, unsigned word, unsigned which) {
  const std::uint32_t bits = word >> (16 * which) & 0xffff;
  if (half) return half_to_float(std::uint16_t(bits));
  const std::uint32_t wide = bits << 16;
  float x;
  std::memcpy(&x, &wide, 4);
  return x;
}
static void multiply_matrices(float* acc, const unsigned (&a)[4], unsigned b0, unsigned b1, bool half) {
  const unsigned thread = host->thread, first = thread & ~31u, lane = thread & 31u;
  for (unsigned i = 0; i < 4; ++i) passed[thread][i] = a[i];
  passed[thread][4] = b0, passed[thread][5] = b1;
  host->give_way();
  for (unsigned e = 0; e < 4; ++e)
    for (unsigned k = 0; k < 16; ++k) {
      const unsigned low = k % 8 / 2, upper = k / 8;
      acc[e] += float_of(half, passed[first + lane / 4 * 4 + low][2 * upper + e / 2], k % 2) *
                float_of(half, passed[first + (lane % 4 * 2 + e % 2) * 4 + low][4 + upper], k % 2);
    }
  host->give_way();
}
)host";
/// Instructions of the texts, and what they are on the host.
inline constexpr std::array<const char*, 2> kHostMatrixInstructions[] = {
    {R"(extern __shared__ __align__(128) unsigned char memory[];)", "unsigned char* const memory = workgroup_memory;"},
    {R"(asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");)",
     "copy_to_workgroup(to, from, 16, bytes);"},
    {R"(asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");)",
     "copy_to_workgroup(to, from, 4, bytes);"},
    {R"(asm volatile("cp.async.commit_group;" ::: "memory");)", ""},
    {R"(asm volatile("cp.async.wait_group %0;" ::"n"(most) : "memory");)", ""},
    {R"(asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};"
               ::"r"(to), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]) : "memory");)",
     "copy_to_workgroup(to, words, 16, 16);"},
    {R"(asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3]) : "r"(from) : "memory");)",
     "load_matrices(m, from, false);"},
    {R"(asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3]) : "r"(from) : "memory");)",
     "load_matrices(m, from, true);"},
    {R"(asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));)",
     "multiply_matrices(acc, a, b0, b1, true);"},
    {R"(asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));)",
     "multiply_matrices(acc, a, b0, b1, false);"},
    {R"(asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(f.x[0]), "=f"(f.x[1]), "=f"(f.x[2]), "=f"(f.x[3]) : "r"(from) : "memory");)",
     "std::memcpy(f.x, workgroup_memory + from, 16);"},
    {R"(asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(f.x[0]), "=f"(f.x[1]) : "r"(from) : "memory");)",
     "std::memcpy(f.x, workgroup_memory + from, 8);"},
    {R"(asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(to), "f"(first), "f"(second) : "memory");)",
     "copy_to_workgroup(to, &first, 4, 4), copy_to_workgroup(to + 4, &second, 4, 4);"},
    {R"(asm("div.full.f32 %0, %1, %2;" : "=f"(quotient) : "f"(a), "f"(b));)", "quotient = a / b;"},
};

}  // namespace tern::test
