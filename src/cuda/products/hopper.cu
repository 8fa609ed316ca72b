// Instructions of compute capability 9.0 (Hopper) as functions: barriers in workgroup memory, boxes fetched and stored
// by the copy engine, blocks of sums stored, and what surrounds the products of a warp group. PTX ISA 8.3, sections
// mbarrier, cp.async.bulk.tensor, createpolicy, stmatrix and wgmma. For workgroups that run in clusters of two:
// products (wgmma.cu) and attention (primitives/attention/cuda/wgmma_units.cu).

// How the copy engine finds boxes of a matrix (a tensor map of the driver's).
struct alignas(64) BoxMap {
  u64 words[16];
};

// ---- barriers in workgroup memory ----
TERN_DEVICE u32 tern_shared(const void* pointer) { return u32(__cvta_generic_to_shared(pointer)); }
TERN_DEVICE u32 tern_rank() {
  u32 rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
TERN_DEVICE void tern_cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
TERN_DEVICE void tern_barrier_init(u32 barrier, u32 arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(barrier), "r"(arrivals) : "memory");
}
TERN_DEVICE void tern_barriers_ready() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
TERN_DEVICE void tern_expect(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(barrier), "r"(bytes) : "memory");
}
TERN_DEVICE void tern_wait(u32 barrier, u32 parity) {
  u32 done;
  do {
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
        : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
  } while (!done);
}
// Arrives at the barrier in the same place of a workgroup of the cluster. (Released to the workgroup only: what is
// given up was read by the matrix units, which have finished. To the cluster, the compiler waits for all memory of the
// GPU: 424 instead of 610 TFLOP/s at 8192×4096×16384 with silu on an H200.)
TERN_DEVICE void tern_arrive(u32 barrier, u32 rank) {
  asm volatile(
      "{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n}"
      :: "r"(barrier), "r"(rank) : "memory");
}
// The same in this workgroup.
TERN_DEVICE void tern_arrive_here(u32 barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(barrier) : "memory");
}
TERN_DEVICE void tern_warp_group_sync(u32 barrier) {
  asm volatile("barrier.cta.sync %0, 128;" :: "r"(barrier) : "memory");
}

// ---- the copy engine ----
// How long the cache of the whole GPU is to hold what is fetched or stored: longer than the rest, shorter, or as ever.
TERN_DEVICE u64 tern_kept() {
  u64 policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
TERN_DEVICE u64 tern_passing() {
  u64 policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
TERN_DEVICE u64 tern_as_ever() {
  u64 policy;
  asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
// Fetches a box into this workgroup's memory.
TERN_DEVICE void tern_fetch(u32 to, const BoxMap& map, u32 x, u32 y, u32 z, u32 barrier, u64 policy) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1, {%2, %3, %4}], [%5], %6;"
      :: "r"(to), "l"(&map), "r"(x), "r"(y), "r"(z), "r"(barrier), "l"(policy) : "memory");
}
TERN_DEVICE void tern_fetch(u32 to, const BoxMap& map, u32 x, u32 y, u32 z, u32 w, u32 barrier, u64 policy) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1, {%2, %3, %4, %5}], [%6], %7;"
      :: "r"(to), "l"(&map), "r"(x), "r"(y), "r"(z), "r"(w), "r"(barrier), "l"(policy) : "memory");
}
// Fetches a box into the memory of both workgroups of the cluster.
TERN_DEVICE void tern_fetch_for_both(u32 to, const BoxMap& map, u32 x, u32 y, u32 z, u32 barrier, u64 policy) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint "
      "[%0], [%1, {%2, %3, %4}], [%5], %6, %7;"
      :: "r"(to), "l"(&map), "r"(x), "r"(y), "r"(z), "r"(barrier), "h"(u16(3)), "l"(policy) : "memory");
}
// Stores a box from this workgroup's memory, as a group of its own; what lies outside the matrix stays.
TERN_DEVICE void tern_store_box(const BoxMap& map, u32 x, u32 y, u32 z, u32 from, u64 policy) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group.L2::cache_hint [%0, {%1, %2, %3}], [%4], %5;\n"
      "cp.async.bulk.commit_group;"
      :: "l"(&map), "r"(x), "r"(y), "r"(z), "r"(from), "l"(policy) : "memory");
}
// Until all boxes this thread stored but the last few are read.
template <int count> TERN_DEVICE void tern_wait_for_boxes_but() {
  asm volatile("cp.async.bulk.wait_group.read %0;" :: "n"(count) : "memory");
}
// What was written to workgroup memory is there for the copy engine, too.
TERN_DEVICE void tern_show_to_copies() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
// Four blocks of eight rows of 16 bytes, in the layout of the matrix units' sums; each lane says where one row begins.
TERN_DEVICE void tern_store_blocks(u32 row, const u32 (&words)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
               :: "r"(row), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]) : "memory");
}

// ---- the matrix units ----
// How a matrix lies in workgroup memory, in rows of 128 bytes swizzled over 1024. `leading`: bytes between blocks of 64
// elements across k, where those are neighbours.
TERN_DEVICE u64 tern_matrix(u32 address, u32 leading) {
  return u64((address & 0x3ffffu) >> 4u) | u64(leading >> 4u) << 16u | u64(1024u >> 4u) << 32u | u64(1) << 62u;
}
TERN_DEVICE void tern_begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
TERN_DEVICE void tern_commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
TERN_DEVICE void tern_wait_all_but_one() { asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory"); }
