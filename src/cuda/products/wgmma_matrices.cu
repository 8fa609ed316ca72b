// Where the next step along k lies in the factors of a product of matrices: a piece of wgmma.cu.
struct Steps {
  u32 first_m, batch, k;
  __device__ __forceinline__ Steps(const Params&, const Tile& tile)
      : first_m(tile.first_m), batch(tile.batch), k(tile.begin) {}
  __device__ __forceinline__ void fetch_a(const BoxMap& map, u32 to, u32 full, u64 policy) const {
    let matrix = kABatched ? batch : 0u;
    if constexpr (kAAlongK) tern_fetch(to, map, k, first_m, matrix, full, policy);
    else
#pragma unroll
      for (u32 i = 0u; i < kTileM / 64u; ++i)
        tern_fetch(to + i * kBoxOf64, map, first_m + 64u * i, k, matrix, full, policy);
  }
  __device__ __forceinline__ u32 k_of_b() const { return k; }
  __device__ __forceinline__ u32 batch_of_b() const { return kBBatched ? batch : 0u; }
  __device__ __forceinline__ void advance(const Params&) { k += kTileK; }
};
