// ---- contiguous, in vectors: mul, 1 workgroups of 256, 6 words
// elementwise
#define TERN_DEVICE [[maybe_unused]] static __device__ __forceinline__
#define TERN_CALLED [[maybe_unused]] static __device__ __noinline__
#define let const auto
#define var auto
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int i32;
typedef long long i64;
typedef float f32;
typedef double f64;
template <class T> struct Unsigned { typedef T type; };
template <> struct Unsigned<i32> { typedef u32 type; };
template <> struct Unsigned<i64> { typedef u64 type; };
template <class T> struct vec2 {
  T x, y;
  __device__ __forceinline__ vec2(T a, T b) : x(a), y(b) {}
};
template <class T> struct vec3 {
  T x, y, z;
  __device__ __forceinline__ vec3(T a, T b, T c) : x(a), y(b), z(c) {}
  __device__ __forceinline__ vec3(vec2<T> a, T c) : x(a.x), y(a.y), z(c) {}
};
template <class T> struct alignas(4 * sizeof(T) < 16 ? 4 * sizeof(T) : 16) vec4 {
  T x, y, z, w;
  vec4() = default;  // shared arrays are left as they are
  __device__ __forceinline__ explicit vec4(T a) : x(a), y(a), z(a), w(a) {}
  __device__ __forceinline__ vec4(T a, T b, T c, T d) : x(a), y(b), z(c), w(d) {}
  __device__ __forceinline__ T& operator[](u32 i) { return (&x)[i]; }
  __device__ __forceinline__ const T& operator[](u32 i) const { return (&x)[i]; }
  __device__ __forceinline__ vec4 operator*(vec4 o) const { return {x * o.x, y * o.y, z * o.z, w * o.w}; }
  __device__ __forceinline__ vec4& operator+=(vec4 o) {
    x += o.x, y += o.y, z += o.z, w += o.w;
    return *this;
  }
};
template <class T> TERN_DEVICE vec4<T> fma(vec4<T> a, vec4<T> b, vec4<T> c) {
  return {fma(a.x, b.x, c.x), fma(a.y, b.y, c.y), fma(a.z, b.z, c.z), fma(a.w, b.w, c.w)};
}
template <class T> struct Same { typedef T type; };
template <class T> TERN_DEVICE T select(T if_false, typename Same<T>::type if_true, bool condition) {
  return condition ? if_true : if_false;
}
template <class T> TERN_DEVICE T clamp(T x, typename Same<T>::type low, typename Same<T>::type high) {
  return x < low ? low : x > high ? high : x;
}
template <class To, class From> TERN_DEVICE To bitcast(From from) {
  static_assert(sizeof(To) == sizeof(From), "bitcast");
  union {
    From from;
    To to;
  } bits = {from};
  return bits.to;
}
#define countLeadingZeros(x) u32(__clz(i32(x)))
#define countOneBits(x) u32(__popc(x))
#define countTrailingZeros(x) u32(__ffs(i32(x)) - 1)
#define inverseSqrt(x) rsqrtf(x)
TERN_DEVICE u32 atomicLoad(const u32* p) { return *p; }  // of a workgroup's memory, between barriers
TERN_DEVICE void atomicStore(u32* p, u32 value) { *p = value; }
struct Params {
  u32 v[6];
};
TERN_DEVICE f32 formula(const Params& params, f32 v0, f32 v1) {
  let v2 = (v0 * v1);
  return v2;
}
extern "C" __global__ void __launch_bounds__(256) tern_kernel(vec4<u32>* __restrict__ b0, const vec4<u32>* __restrict__ b1, const vec4<u32>* __restrict__ b2, const __grid_constant__ Params params) {
  const u32 thread = threadIdx.x, group = blockIdx.x;
  let i = (group * 256u + thread) * 4u;
  if (i >= params.v[1]) { return; }
  let w0 = (params.v[4] + i) / 4u;
  let q1 = b1[w0 + 0u];
  let x2 = bitcast<f32>(q1.x);
  let x3 = bitcast<f32>(q1.y);
  let x4 = bitcast<f32>(q1.z);
  let x5 = bitcast<f32>(q1.w);
  let w6 = (params.v[5] + i) / 4u;
  let q7 = b2[w6 + 0u];
  let x8 = bitcast<f32>(q7.x);
  let x9 = bitcast<f32>(q7.y);
  let x10 = bitcast<f32>(q7.z);
  let x11 = bitcast<f32>(q7.w);
  let y0 = formula(params, x2, x8);
  let y1 = formula(params, x3, x9);
  let y2 = formula(params, x4, x10);
  let y3 = formula(params, x5, x11);
  if (i + 3u < params.v[1]) {
    let w12 = (params.v[3] + i) / 4u;
    b0[w12 + 0u] = vec4<u32>(bitcast<u32>(y0), bitcast<u32>(y1), bitcast<u32>(y2), bitcast<u32>(y3));
  } else {
    if (i + 0u < params.v[1]) { ((u32*)b0)[params.v[3] + i] = bitcast<u32>(y0);
    }
    if (i + 1u < params.v[1]) { ((u32*)b0)[params.v[3] + (i + 1u)] = bitcast<u32>(y1);
    }
    if (i + 2u < params.v[1]) { ((u32*)b0)[params.v[3] + (i + 2u)] = bitcast<u32>(y2);
    }
    if (i + 3u < params.v[1]) { ((u32*)b0)[params.v[3] + (i + 3u)] = bitcast<u32>(y3);
    }
  }
}

// ---- packed halves: mul, 1 workgroups of 256, 6 words
// elementwise
struct Params {
  u32 v[6];
};
TERN_DEVICE f32 tern_bf16_bits_to_f32(u32 h) {
  return bitcast<f32>((h & 0xffffu) << 16u);
}
TERN_DEVICE u32 tern_f32_pair_to_bf16(f32 low, f32 high) {
  u32 word;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  return word;
}
TERN_DEVICE u32 tern_f32_to_bf16_bits(f32 x) {
  u16 h;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(x));
  return h;
}
extern "C" __global__ void __launch_bounds__(256) tern_kernel(vec4<u32>* __restrict__ b0, const vec4<u32>* __restrict__ b1, const vec4<u32>* __restrict__ b2, const __grid_constant__ Params params) {
  let i = (group * 256u + thread) * 8u;
  if (i >= params.v[1]) { return; }
  let w0 = (params.v[4] + i) / 8u;
  let q1 = b1[w0 + 0u];
  let x2 = tern_bf16_bits_to_f32((q1.x & 0xffffu));
  let x3 = tern_bf16_bits_to_f32((q1.x >> 16u));
  let x4 = tern_bf16_bits_to_f32((q1.y & 0xffffu));
  let x5 = tern_bf16_bits_to_f32((q1.y >> 16u));
  let x6 = tern_bf16_bits_to_f32((q1.z & 0xffffu));
  let x7 = tern_bf16_bits_to_f32((q1.z >> 16u));
  let x8 = tern_bf16_bits_to_f32((q1.w & 0xffffu));
  let x9 = tern_bf16_bits_to_f32((q1.w >> 16u));
  let w10 = (params.v[5] + i) / 8u;
  let q11 = b2[w10 + 0u];
  let x12 = tern_bf16_bits_to_f32((q11.x & 0xffffu));
  let x13 = tern_bf16_bits_to_f32((q11.x >> 16u));
  let x14 = tern_bf16_bits_to_f32((q11.y & 0xffffu));
  let x15 = tern_bf16_bits_to_f32((q11.y >> 16u));
  let x16 = tern_bf16_bits_to_f32((q11.z & 0xffffu));
  let x17 = tern_bf16_bits_to_f32((q11.z >> 16u));
  let x18 = tern_bf16_bits_to_f32((q11.w & 0xffffu));
  let x19 = tern_bf16_bits_to_f32((q11.w >> 16u));
  let y0 = formula(params, x2, x12);
// … 6 more of these 1 lines (f31b9666), and
  let y7 = formula(params, x9, x19);
  if (i + 7u < params.v[1]) {
    let w20 = (params.v[3] + i) / 8u;
    b0[w20 + 0u] = vec4<u32>(tern_f32_pair_to_bf16(y0, y1), tern_f32_pair_to_bf16(y2, y3), tern_f32_pair_to_bf16(y4, y5), tern_f32_pair_to_bf16(y6, y7));
  } else {
    if (i + 0u < params.v[1]) { ((u16*)b0)[params.v[3] + i] = u16(tern_f32_to_bf16_bits(y0));
    }
    if (i + 1u < params.v[1]) { ((u16*)b0)[params.v[3] + (i + 1u)] = u16(tern_f32_to_bf16_bits(y1));
// … 5 more of these 2 lines (c1dc0ee2), and
    }
    if (i + 7u < params.v[1]) { ((u16*)b0)[params.v[3] + (i + 7u)] = u16(tern_f32_to_bf16_bits(y7));
    }
  }
}

// ---- a broadcast row: add, 1 workgroups of 256, 9 words (584be6e9)
// ---- components of vectors: formula, 1 workgroups of 256, 20 words (1efd808f)
// ---- several results: mul, 1 workgroups of 256, 6 words (adfd8287)
// ---- several results: mul, 1 workgroups of 256, 8 words (1d89fdea)
// ---- a gated activation: silu_mul, 1 workgroups of 256, 6 words (99ec159f)
// ---- by index: take, 1 workgroups of 256, 12 words (f6b07c3d)
// ---- across, in tiles: clone, 4 workgroups of 256, 12 words
// elementwise
struct Params {
  u32 v[12];
};
TERN_DEVICE f32 formula(const Params& params, f32 v0) {
  return v0;
}
extern "C" __global__ void __launch_bounds__(256) tern_kernel(vec4<u32>* __restrict__ b0, const u32* __restrict__ b1, const __grid_constant__ Params params) {
  __shared__ f32 tile0[1056];
  if (group >= params.v[1]) { return; }
  let tiles = group / params.v[10];
  let first_across = (group - tiles * params.v[10]) * 32u;
  let rest = tiles / params.v[11];
  let first_along = (tiles - rest * params.v[11]) * (8u * 4u);
  {
    let across = first_across + thread % 32u;
    let along = first_along + thread / 32u * 4u;
    if (!(across >= params.v[8] || along >= params.v[9])) {
      let x0 = bitcast<f32>(((u32*)b1)[params.v[6] + across + along * params.v[7]]);
      let x1 = bitcast<f32>(((u32*)b1)[params.v[6] + across + (along + 1u) * params.v[7]]);
      let x2 = bitcast<f32>(((u32*)b1)[params.v[6] + across + (along + 2u) * params.v[7]]);
      let x3 = bitcast<f32>(((u32*)b1)[params.v[6] + across + (along + 3u) * params.v[7]]);
      tile0[(thread / 32u * 4u + 0u) * 33u + thread % 32u] = x0;
      tile0[(thread / 32u * 4u + 1u) * 33u + thread % 32u] = x1;
      tile0[(thread / 32u * 4u + 2u) * 33u + thread % 32u] = x2;
      tile0[(thread / 32u * 4u + 3u) * 33u + thread % 32u] = x3;
    }
  }
  __syncthreads();
  let across = first_across + thread / 8u;
  let along = first_along + thread % 8u * 4u;
  if (across >= params.v[8] || along >= params.v[9]) { return; }
  let y0 = formula(params, tile0[(thread % 8u * 4u + 0u) * 33u + thread / 8u]);
  let y1 = formula(params, tile0[(thread % 8u * 4u + 1u) * 33u + thread / 8u]);
  let y2 = formula(params, tile0[(thread % 8u * 4u + 2u) * 33u + thread / 8u]);
  let y3 = formula(params, tile0[(thread % 8u * 4u + 3u) * 33u + thread / 8u]);
  let w4 = (params.v[4] + across * params.v[5] + along) / 4u;
  b0[w4 + 0u] = vec4<u32>(bitcast<u32>(y0), bitcast<u32>(y1), bitcast<u32>(y2), bitcast<u32>(y3));
}

// ---- horizontally fused requests: step, 2 workgroups of 256, 14 words
// elementwise
struct Params {
  u32 v[7];
};
TERN_DEVICE f32 formula(const Params& params, f32 v0, f32 v2) {
  let v1 = bitcast<f32>(params.v[6]);
  let v3 = (v1 * v2);
  let v4 = (v0 - v3);
  return v4;
}
struct Part {
  vec4<u32>* __restrict__ b0;
  const vec4<u32>* __restrict__ b1;
  Params params;
};
struct Parts {
  Part part[64];
  u32 groups[64];
};
extern "C" __global__ void __launch_bounds__(256) tern_kernel(const __grid_constant__ Parts parts) {
  const u32 thread = threadIdx.x;
  u32 group = blockIdx.x, number = 0;
  while (group >= parts.groups[number]) { group -= parts.groups[number++]; }
  const Part& part = parts.part[number];
  const Params& params = part.params;
  vec4<u32>* __restrict__ b0 = part.b0;
  const vec4<u32>* __restrict__ b1 = part.b1;
  let i = (group * 256u + thread) * 4u;
  if (i >= params.v[1]) { return; }
  let w0 = (params.v[4] + i) / 4u;
  let q1 = b0[w0 + 0u];
  let x2 = bitcast<f32>(q1.x);
  let x3 = bitcast<f32>(q1.y);
  let x4 = bitcast<f32>(q1.z);
  let x5 = bitcast<f32>(q1.w);
  let w6 = (params.v[5] + i) / 4u;
  let q7 = b1[w6 + 0u];
  let x8 = bitcast<f32>(q7.x);
  let x9 = bitcast<f32>(q7.y);
  let x10 = bitcast<f32>(q7.z);
  let x11 = bitcast<f32>(q7.w);
  let y0 = formula(params, x2, x8);
  let y1 = formula(params, x3, x9);
  let y2 = formula(params, x4, x10);
  let y3 = formula(params, x5, x11);
  if (i + 3u < params.v[1]) {
    let w12 = (params.v[3] + i) / 4u;
    b0[w12 + 0u] = vec4<u32>(bitcast<u32>(y0), bitcast<u32>(y1), bitcast<u32>(y2), bitcast<u32>(y3));
  } else {
    if (i + 0u < params.v[1]) { ((u32*)b0)[params.v[3] + i] = bitcast<u32>(y0);
    }
    if (i + 1u < params.v[1]) { ((u32*)b0)[params.v[3] + (i + 1u)] = bitcast<u32>(y1);
    }
    if (i + 2u < params.v[1]) { ((u32*)b0)[params.v[3] + (i + 2u)] = bitcast<u32>(y2);
    }
    if (i + 3u < params.v[1]) { ((u32*)b0)[params.v[3] + (i + 3u)] = bitcast<u32>(y3);
    }
  }
}

// ---- rows: softmax, 300 workgroups of 4, 12 words
// reduction
TERN_DEVICE f32 tern_min_number(f32 a, f32 b) {
#if __CUDA_ARCH__ >= 800
  asm("min.NaN.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
  return a;
#else
  return a > b ? b : a;
#endif
}
TERN_DEVICE f32 tern_max_number(f32 a, f32 b) {
#if __CUDA_ARCH__ >= 800
  asm("max.NaN.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
  return a;
#else
  return a < b ? b : a;
#endif
}
TERN_DEVICE f32 tern_exp_parts(f32 x, u32& bits) {
  const f32 rounded = fma(x, 1.4426950408889634f, 12582912.0f), k = rounded - 12582912.0f;
  const f32 r = fma(k, -0x1.7f7d1cp-20f, fma(k, -0x1.62e4p-1f, x));
  f32 p = fma(0.0013865138f, r, 0.008366725f);
  p = fma(p, r, 0.0416675f);
  p = fma(p, r, 0.16666542f);
  p = fma(p, r, 0.49999997f);
  bits = bitcast<u32>(rounded);
  return fma(r * r, p, r);
}
TERN_DEVICE f32 tern_exp(f32 x) {
  const f32 within = tern_min_number(tern_max_number(x, -104.0f), 89.0f);
  u32 bits;
  const f32 q = tern_exp_parts(within, bits);
  const bool small = within < -80.0f;
  const f32 scale = bitcast<f32>((bits << 23) + (small ? 0x5f800000u : 0x3f000000u));
  return fma(q, scale, scale) * (small ? 0x1p-64f : 2.0f);
}
TERN_DEVICE f32 tern_div(f32 a, f32 b) { return a / b; }
TERN_DEVICE f32 tern_from_bits(u32 bits) { return bitcast<f32>(bits); }
TERN_DEVICE f32 tern_max_f32(f32 a, f32 b) { return a > b || a != a ? a : b; }
TERN_DEVICE f32 pass0(const Params& params, f32 v0) {
  return v0;
}
struct Result_pass1 {
  f32 r0;
  f32 r1;
};
TERN_DEVICE Result_pass1 pass1(const Params& params, f32 v0, f32 v1) {
  let v2 = v1;
  let v3 = (v0 - v2);
  let v4 = tern_exp(v3);
  return Result_pass1{v4, v4};
}
TERN_DEVICE f32 pass2(const Params& params, f32 v4, f32 v6) {
  let v5 = f32(1.0);
  let v7 = tern_div(v5, v6);
  let v8 = (v4 * v7);
  return v8;
}
extern "C" __global__ void __launch_bounds__(4) tern_kernel(vec4<u32>* __restrict__ b0, const vec4<u32>* __restrict__ b1, const __grid_constant__ Params params) {
  let row_group = group;
  let segment = 0u;
  let tx = thread / 4u;
  let ty = thread - tx * 4u;
  let k = row_group * 1u + tx;
  let inside = k < params.v[1];
  let begin = segment * params.v[5];
  let end = min(params.v[3], begin + params.v[5]);
  f32 kept4[4];
  vec4<u32> held1[1];
  if (inside) {
    #pragma unroll
    for (u32 u = 0u; u < 1u; ++u) {
      let r = (ty + u * 4u) * 4u;
      if (r < end) {
        let w0 = (params.v[10] + k * params.v[11] + r) / 4u;
        held1[u * 1u + 0u] = b1[w0 + 0u];
      }
    }
  }
  var acc1 = tern_from_bits(0xff800000u);
  if (inside) {
    #pragma unroll
    for (u32 u = 0u; u < 1u; ++u) {
      let r = (ty + u * 4u) * 4u;
      if (r < end) {
        let q1 = held1[u * 1u + 0u];
        let x2 = bitcast<f32>(q1.x);
        let x3 = bitcast<f32>(q1.y);
        let x4 = bitcast<f32>(q1.z);
        let x5 = bitcast<f32>(q1.w);
        let y6 = pass0(params, x2);
        let y7 = pass0(params, x3);
        let y8 = pass0(params, x4);
        let y9 = pass0(params, x5);
        acc1 = tern_max_f32(acc1, y6);
        acc1 = tern_max_f32(acc1, y7);
        acc1 = tern_max_f32(acc1, y8);
        acc1 = tern_max_f32(acc1, y9);
      }
    }
  }
  var warp_red1 = acc1;
  let warp_red1_2 = __shfl_xor_sync(15u, warp_red1, 2);
  warp_red1 = tern_max_f32(warp_red1, warp_red1_2);
  let warp_red1_1 = __shfl_xor_sync(15u, warp_red1, 1);
  warp_red1 = tern_max_f32(warp_red1, warp_red1_1);
  let red1 = __shfl_sync(15u, warp_red1, (thread & 28u));
  var acc6 = f32(0.0);
  if (inside) {
    #pragma unroll
    for (u32 u = 0u; u < 1u; ++u) {
      let r = (ty + u * 4u) * 4u;
      if (r < end) {
        let q10 = held1[u * 1u + 0u];
        let x11 = bitcast<f32>(q10.x);
        let x12 = bitcast<f32>(q10.y);
        let x13 = bitcast<f32>(q10.z);
        let x14 = bitcast<f32>(q10.w);
        let y15 = pass1(params, x11, red1);
        let y16 = pass1(params, x12, red1);
        let y17 = pass1(params, x13, red1);
        let y18 = pass1(params, x14, red1);
        acc6 = (acc6 + y15.r0);
        acc6 = (acc6 + y16.r0);
        acc6 = (acc6 + y17.r0);
        acc6 = (acc6 + y18.r0);
        kept4[u * 4u + 0u] = y15.r1;
        kept4[u * 4u + 1u] = y16.r1;
        kept4[u * 4u + 2u] = y17.r1;
        kept4[u * 4u + 3u] = y18.r1;
      }
    }
  }
  var warp_red6 = acc6;
  let warp_red6_2 = __shfl_xor_sync(15u, warp_red6, 2);
  warp_red6 = (warp_red6 + warp_red6_2);
  let warp_red6_1 = __shfl_xor_sync(15u, warp_red6, 1);
  warp_red6 = (warp_red6 + warp_red6_1);
  let red6 = __shfl_sync(15u, warp_red6, (thread & 28u));
  if (inside) {
    #pragma unroll
    for (u32 u = 0u; u < 1u; ++u) {
      let r = (ty + u * 4u) * 4u;
      if (r < end) {
        let y19 = pass2(params, kept4[u * 4u + 0u], red6);
        let y20 = pass2(params, kept4[u * 4u + 1u], red6);
        let y21 = pass2(params, kept4[u * 4u + 2u], red6);
        let y22 = pass2(params, kept4[u * 4u + 3u], red6);
        let w23 = (params.v[8] + k * params.v[9] + r) / 4u;
        b0[w23 + 0u] = vec4<u32>(bitcast<u32>(y19), bitcast<u32>(y20), bitcast<u32>(y21), bitcast<u32>(y22));
      }
    }
  }
}

// ---- places of extremes: argmax, 300 workgroups of 4, 12 words (97252ad6)
// ---- rows with a mean and a variance: formula, 300 workgroups of 4, 13 words (a1a0fd53)
// ---- rows whose values serve in several passes: formula, 300 workgroups of 32, 13 words
// reduction
struct Params {
  u32 v[13];
};
TERN_DEVICE f32 tern_sqrt(f32 x) { return sqrtf(x); }
TERN_DEVICE f32 pass0(const Params& params, f32 v0) {
  let v1 = tern_sqrt(v0);
  return v1;
}
TERN_DEVICE f32 pass1(const Params& params, f32 v0, f32 v2) {
  let v1 = tern_sqrt(v0);
  let v3 = f32(params.v[12]);
  let v4 = tern_div(v2, v3);
  let v5 = (v1 - v4);
  let v6 = (v5 * v5);
  return v6;
}
TERN_DEVICE f32 pass2(const Params& params, f32 v0, f32 v2, f32 v7) {
  let v1 = tern_sqrt(v0);
  let v3 = f32(params.v[12]);
  let v4 = tern_div(v2, v3);
  let v5 = (v1 - v4);
  let v8 = tern_div(v7, v3);
  let v9 = f32(1.0);
  let v10 = (v8 + v9);
  let v11 = tern_sqrt(v10);
  let v12 = tern_div(v5, v11);
  let v13 = (v12 + v1);
  return v13;
}
extern "C" __global__ void __launch_bounds__(32) tern_kernel(vec4<u32>* __restrict__ b0, const vec4<u32>* __restrict__ b1, const __grid_constant__ Params params) {
  let row_group = group;
  let segment = 0u;
  let tx = thread / 32u;
  let ty = thread - tx * 32u;
  let k = row_group * 1u + tx;
  let inside = k < params.v[1];
  let begin = segment * params.v[5];
  let end = min(params.v[3], begin + params.v[5]);
  vec4<u32> held1[1];
  if (inside) {
    #pragma unroll
    for (u32 u = 0u; u < 1u; ++u) {
      let r = (ty + u * 32u) * 4u;
      if (r < end) {
        let w0 = (params.v[10] + k * params.v[11] + r) / 4u;
        held1[u * 1u + 0u] = b1[w0 + 0u];
      }
    }
  }
  var acc2 = f32(0.0);
  if (inside) {
    #pragma unroll
    for (u32 u = 0u; u < 1u; ++u) {
      let r = (ty + u * 32u) * 4u;
      if (r < end) {
        let q1 = held1[u * 1u + 0u];
        let x2 = bitcast<f32>(q1.x);
        let x3 = bitcast<f32>(q1.y);
        let x4 = bitcast<f32>(q1.z);
        let x5 = bitcast<f32>(q1.w);
        let y6 = pass0(params, x2);
        let y7 = pass0(params, x3);
        let y8 = pass0(params, x4);
        let y9 = pass0(params, x5);
        acc2 = (acc2 + y6);
        acc2 = (acc2 + y7);
        acc2 = (acc2 + y8);
        acc2 = (acc2 + y9);
      }
    }
  }
  var warp_red2 = acc2;
  let warp_red2_16 = __shfl_xor_sync(0xffffffffu, warp_red2, 16);
  warp_red2 = (warp_red2 + warp_red2_16);
// … 3 more of these 2 lines (286211cd), and
  let warp_red2_1 = __shfl_xor_sync(0xffffffffu, warp_red2, 1);
  warp_red2 = (warp_red2 + warp_red2_1);
  let red2 = __shfl_sync(0xffffffffu, warp_red2, (thread & 0u));
  var acc7 = f32(0.0);
  if (inside) {
    #pragma unroll
    for (u32 u = 0u; u < 1u; ++u) {
      let r = (ty + u * 32u) * 4u;
      if (r < end) {
        let q10 = held1[u * 1u + 0u];
        let x11 = bitcast<f32>(q10.x);
        let x12 = bitcast<f32>(q10.y);
        let x13 = bitcast<f32>(q10.z);
        let x14 = bitcast<f32>(q10.w);
        let y15 = pass1(params, x11, red2);
        let y16 = pass1(params, x12, red2);
        let y17 = pass1(params, x13, red2);
        let y18 = pass1(params, x14, red2);
        acc7 = (acc7 + y15);
        acc7 = (acc7 + y16);
        acc7 = (acc7 + y17);
        acc7 = (acc7 + y18);
      }
    }
  }
  var warp_red7 = acc7;
  let warp_red7_16 = __shfl_xor_sync(0xffffffffu, warp_red7, 16);
  warp_red7 = (warp_red7 + warp_red7_16);
// … 3 more of these 2 lines (3d0fd700), and
  let warp_red7_1 = __shfl_xor_sync(0xffffffffu, warp_red7, 1);
  warp_red7 = (warp_red7 + warp_red7_1);
  let red7 = __shfl_sync(0xffffffffu, warp_red7, (thread & 0u));
  if (inside) {
    #pragma unroll
    for (u32 u = 0u; u < 1u; ++u) {
      let r = (ty + u * 32u) * 4u;
      if (r < end) {
        let q19 = held1[u * 1u + 0u];
        let x20 = bitcast<f32>(q19.x);
        let x21 = bitcast<f32>(q19.y);
        let x22 = bitcast<f32>(q19.z);
        let x23 = bitcast<f32>(q19.w);
        let y24 = pass2(params, x20, red2, red7);
        let y25 = pass2(params, x21, red2, red7);
        let y26 = pass2(params, x22, red2, red7);
        let y27 = pass2(params, x23, red2, red7);
        let w28 = (params.v[8] + k * params.v[9] + r) / 4u;
        b0[w28 + 0u] = vec4<u32>(bitcast<u32>(y24), bitcast<u32>(y25), bitcast<u32>(y26), bitcast<u32>(y27));
      }
    }
  }
}

// ---- short rows: formula, 12 workgroups of 256, 13 words
// reduction
TERN_DEVICE f32 pass0(const Params& params, f32 v0) {
  let v1 = (v0 * v0);
  return v1;
}
TERN_DEVICE f32 pass1(const Params& params, f32 v0, f32 v2, f32 v5) {
  let v3 = tern_sqrt(v2);
  let v4 = tern_div(v0, v3);
  let v6 = (v4 * v5);
  return v6;
}
extern "C" __global__ void __launch_bounds__(256) tern_kernel(u32* __restrict__ b0, const u32* __restrict__ b1, const u32* __restrict__ b2, const __grid_constant__ Params params) {
  __shared__ vec4<u32> vectors_of_tile1[192];
  __shared__ vec4<u32> vectors_of_tile0[192];
  let row_group = group;
  let segment = 0u;
  let tx = thread / 1u;
  let first_of_rows = row_group * 768u;
  let count_of_rows = min(768u, params.v[1] * 3u - first_of_rows);
  for (var step = 0u; step < 1u; step += 1u) {
    let i = step * 256u + thread;
    if (i < (count_of_rows + 3u) / 4u) {
      vectors_of_tile1[i] = ((vec4<u32>*)b1)[(params.v[10] + first_of_rows) / 4u + i];
    }
  }
  u32* const tile1 = (u32*)vectors_of_tile1;
  u32* const tile0 = (u32*)vectors_of_tile0;
  __syncthreads();
  for (var q = 0u; q < 1u; q += 1u) {
    let k = (row_group * 1u + q) * 256u + tx;
    let inside = k < params.v[1];
    let begin = segment * params.v[5];
    let end = min(params.v[3], begin + params.v[5]);
    var acc2 = f32(0.0);
    if (inside) {
      {
        let r = 0u;
        let x0 = bitcast<f32>(tile1[(q * 256u + tx) * 3u + r]);
        let y1 = pass0(params, x0);
        acc2 = (acc2 + y1);
      }
// … 1 more of these 6 lines (6d4a2fd5), and
      {
        let r = 2u;
        let x0 = bitcast<f32>(tile1[(q * 256u + tx) * 3u + r]);
        let y1 = pass0(params, x0);
        acc2 = (acc2 + y1);
      }
    }
    let red2 = acc2;
    if (inside) {
      {
        let r = 0u;
        let x2 = bitcast<f32>(tile1[(q * 256u + tx) * 3u + r]);
        let x3 = bitcast<f32>(((u32*)b2)[params.v[12] + r]);
        let y4 = pass1(params, x2, red2, x3);
        tile0[(q * 256u + tx) * 3u + r] = bitcast<u32>(y4);
      }
// … 1 more of these 7 lines (12b3a2cd), and
      {
        let r = 2u;
        let x2 = bitcast<f32>(tile1[(q * 256u + tx) * 3u + r]);
        let x3 = bitcast<f32>(((u32*)b2)[params.v[12] + r]);
        let y4 = pass1(params, x2, red2, x3);
        tile0[(q * 256u + tx) * 3u + r] = bitcast<u32>(y4);
      }
    }
  }
  __syncthreads();
  for (var step = 0u; step < 1u; step += 1u) {
    let i = step * 256u + thread;
    if (i < (count_of_rows + 3u) / 4u) {
      ((vec4<u32>*)b0)[(params.v[8] + first_of_rows) / 4u + i] = vectors_of_tile0[i];
    }
  }
}

// ---- short rows of 16 bits: sum, 12 workgroups of 256, 11 words
// reduction
struct Params {
  u32 v[11];
};
TERN_DEVICE f32 finish(const Params& params, f32 v1) {
  return v1;
}
extern "C" __global__ void __launch_bounds__(256) tern_kernel(u32* __restrict__ b0, const u32* __restrict__ b1, const __grid_constant__ Params params) {
  __shared__ vec4<u32> vectors_of_tile1[192];
  let row_group = group;
  let segment = 0u;
  let tx = thread / 1u;
  let ty = thread - tx * 1u;
  let first_of_rows = row_group * 1536u;
  let count_of_rows = min(1536u, params.v[1] * 6u - first_of_rows);
  for (var step = 0u; step < 1u; step += 1u) {
    let i = step * 256u + thread;
    if (i < (count_of_rows + 7u) / 8u) {
      vectors_of_tile1[i] = ((vec4<u32>*)b1)[(params.v[9] + first_of_rows) / 8u + i];
    }
  }
  u32* const tile1 = (u32*)vectors_of_tile1;
  __syncthreads();
  for (var q = 0u; q < 1u; q += 1u) {
    let k = (row_group * 1u + q) * 256u + tx;
    let inside = k < params.v[1];
    let begin = segment * params.v[5];
    let end = min(params.v[3], begin + params.v[5]);
    var acc1 = f32(0.0);
    if (inside) {
      for (var r = 0u; r < 6u; r += 1u) {
        let x0 = tern_bf16_bits_to_f32(((tile1[(q * 256u + tx) * 3u + (r) / 2u] >> (((r) & 1u) * 16u)) & 0xffffu));
        let y1 = pass0(params, x0);
        acc1 = (acc1 + y1);
      }
    }
    let red1 = acc1;
    if (inside && ty == 0u) {
      let y2 = finish(params, red1);
      ((u16*)b0)[params.v[8] + k] = u16(tern_f32_to_bf16_bits(y2));
    }
  }
  __syncthreads();
}

// ---- columns: sum, 19 workgroups of 256, 11 words (b0c0dd3e)
// ---- many elements to one result: sum, 512 workgroups of 256, 9 words
// reduction
struct Params {
  u32 v[9];
};
extern "C" __global__ void __launch_bounds__(256) tern_kernel(const vec4<u32>* __restrict__ b0, u32* __restrict__ b1, const __grid_constant__ Params params) {
  __shared__ u32 shared_words[256];
  let row_group = group / params.v[3];
  let segment = group - row_group * params.v[3];
  let tx = thread / 256u;
  let ty = thread - tx * 256u;
  let k = row_group * 1u + tx;
  let inside = k < params.v[1];
  let begin = segment * params.v[4];
  let end = min(params.v[2], begin + params.v[4]);
  var acc1 = f32(0.0);
  if (inside) {
    for (var r = begin + ty * 4u; r < end; r += 1024u) {
      let w0 = (params.v[7] + r) / 4u;
      let q1 = b0[w0 + 0u];
      let x2 = bitcast<f32>(q1.x);
      let x3 = bitcast<f32>(q1.y);
      let x4 = bitcast<f32>(q1.z);
      let x5 = bitcast<f32>(q1.w);
      let y6 = pass0(params, x2);
      let y7 = pass0(params, x3);
      let y8 = pass0(params, x4);
      let y9 = pass0(params, x5);
      acc1 = (acc1 + y6);
      acc1 = (acc1 + y7);
      acc1 = (acc1 + y8);
      acc1 = (acc1 + y9);
    }
  }
  var warp_red1 = acc1;
  let warp_red1_16 = __shfl_xor_sync(0xffffffffu, warp_red1, 16);
  warp_red1 = (warp_red1 + warp_red1_16);
// … 3 more of these 2 lines (eb6d7c12), and
  let warp_red1_1 = __shfl_xor_sync(0xffffffffu, warp_red1, 1);
  warp_red1 = (warp_red1 + warp_red1_1);
  if (ty % 32u == 0u) {
    shared_words[tx * 8u + ty / 32u] = bitcast<u32>(warp_red1);
  }
  __syncthreads();
  var red1 = bitcast<f32>(shared_words[tx * 8u + 0u]);
  let of_red1_1 = bitcast<f32>(shared_words[tx * 8u + 1u]);
  red1 = (red1 + of_red1_1);
// … 5 more of these 2 lines (df7663ce), and
  let of_red1_7 = bitcast<f32>(shared_words[tx * 8u + 7u]);
  red1 = (red1 + of_red1_7);
  __syncthreads();
  if (inside && ty == 0u) {
    ((u32*)b1)[params.v[8] + (segment + params.v[5]) * params.v[1] + k] = bitcast<u32>(red1);
  }
}

// ---- many elements to one result: sum, 1 workgroups of 128, 10 words
// reduction
struct Params {
  u32 v[10];
};
extern "C" __global__ void __launch_bounds__(128) tern_kernel(u32* __restrict__ b0, const u32* __restrict__ b1, u32* __restrict__ b2, const __grid_constant__ Params params) {
  __shared__ u32 shared_words[128];
  let row_group = group;
  let segment = 0u;
  let ty = thread / 1u;
  let tx = thread - ty * 1u;
  let k = row_group * 1u + tx;
  let inside = k < params.v[1];
  let begin = segment * params.v[4];
  let end = min(params.v[2], begin + params.v[4]);
  var acc1 = f32(0.0);
  if (inside) {
    for (var r = ty; r < end; r += 128u) {
      acc1 = (acc1 + bitcast<f32>(((u32*)b1)[params.v[8] + r * params.v[1] + k]));
    }
  }
  var warp_red1 = acc1;
  let warp_red1_16 = __shfl_xor_sync(0xffffffffu, warp_red1, 16);
  warp_red1 = (warp_red1 + warp_red1_16);
// … 3 more of these 2 lines (eb6d7c12), and
  let warp_red1_1 = __shfl_xor_sync(0xffffffffu, warp_red1, 1);
  warp_red1 = (warp_red1 + warp_red1_1);
  if (ty % 32u == 0u) {
    shared_words[(ty / 32u) * 1u + tx] = bitcast<u32>(warp_red1);
  }
  __syncthreads();
  var red1 = bitcast<f32>(shared_words[tx + 0u]);
  let of_red1_1 = bitcast<f32>(shared_words[tx + 1u]);
  red1 = (red1 + of_red1_1);
  let of_red1_2 = bitcast<f32>(shared_words[tx + 2u]);
  red1 = (red1 + of_red1_2);
  let of_red1_3 = bitcast<f32>(shared_words[tx + 3u]);
  red1 = (red1 + of_red1_3);
  __syncthreads();
  if (inside && ty == 0u) {
    ((u32*)b2)[params.v[9] + k] = bitcast<u32>(red1);
    let y0 = finish(params, red1);
    ((u32*)b0)[params.v[7]] = bitcast<u32>(y0);
  }
}

// ---- product: matmul_bias_activation, 4 workgroups of 64, 14 words
// product, tiles of 32x32x8
struct Params {
  u32 v[14];
};
TERN_DEVICE f32 epilogue(const Params& params, f32 v0, f32 v1) {
  let v2 = (v0 + v1);
  let v3 = f32(0.0);
  let v4 = tern_max_f32(v2, v3);
  return v4;
}
extern "C" __global__ void __launch_bounds__(64) tern_kernel(vec4<u32>* __restrict__ b0, const vec4<u32>* __restrict__ b1, const vec4<u32>* __restrict__ b2, const vec4<u32>* __restrict__ b3, const __grid_constant__ Params params) {
  __shared__ vec4<f32> tile_a[64];
  __shared__ vec4<f32> tile_b[64];
  let tiles = params.v[4] * params.v[5];
  let batch = group / tiles;
  let tile = group - batch * tiles;
  let band = tile / (8u * params.v[5]);
  let in_band = tile - band * 8u * params.v[5];
  let band_rows = min(8u, params.v[4] - band * 8u);
  let first_m = (band * 8u + in_band % band_rows) * 32u;
  let first_n = in_band / band_rows * 32u;
  let ty = thread / 8u;
  let tx = thread - ty * 8u;
  var acc0_0 = vec4<f32>();
  var acc1_0 = vec4<f32>();
  var acc2_0 = vec4<f32>();
  var acc3_0 = vec4<f32>();
  let base_a = params.v[10];
  let base_b = params.v[12];
  {
    var kt = 0u;
    var unit0_0 = vec4<u32>();
    var unit1_0 = vec4<u32>();
    {
      let major = thread / 2u;
      let minor = (thread - major * 2u) * 4u;
      let o = major;
      let kk = minor;
      let at = base_a + (first_m + o) * params.v[11] + (kt + kk);
      unit0_0 = vec4<u32>();
      if (first_m + o < params.v[1] && kt + kk < params.v[3]) { unit0_0 = b2[at / 4u]; }
    }
    {
      let major = thread / 8u;
      let minor = (thread - major * 8u) * 4u;
      let o = minor;
      let kk = major;
      let at = base_b + (first_n + o) + (kt + kk) * params.v[13];
      unit1_0 = vec4<u32>();
      if (first_n + o < params.v[2] && kt + kk < params.v[3]) { unit1_0 = b3[at / 4u]; }
    }
    while (kt < params.v[3]) {
      {
        let major = thread / 2u;
        let minor = (thread - major * 2u) * 4u;
        let o = major;
        let kk = minor;
        tile_a[(kk + 0u) * 8u + o / 4u][o & 3u] = bitcast<f32>(unit0_0.x);
        tile_a[(kk + 1u) * 8u + o / 4u][o & 3u] = bitcast<f32>(unit0_0.y);
        tile_a[(kk + 2u) * 8u + o / 4u][o & 3u] = bitcast<f32>(unit0_0.z);
        tile_a[(kk + 3u) * 8u + o / 4u][o & 3u] = bitcast<f32>(unit0_0.w);
      }
      {
        let major = thread / 8u;
        let minor = (thread - major * 8u) * 4u;
        let o = minor;
        let kk = major;
        tile_b[kk * 8u + o / 4u + 0u] = vec4<f32>(bitcast<f32>(unit1_0.x), bitcast<f32>(unit1_0.y), bitcast<f32>(unit1_0.z), bitcast<f32>(unit1_0.w));
      }
      __syncthreads();
      kt += 8u;
      if (kt < params.v[3]) {
        {
          let major = thread / 2u;
          let minor = (thread - major * 2u) * 4u;
          let o = major;
          let kk = minor;
          let at = base_a + (first_m + o) * params.v[11] + (kt + kk);
          unit0_0 = vec4<u32>();
          if (first_m + o < params.v[1] && kt + kk < params.v[3]) { unit0_0 = b2[at / 4u]; }
        }
        {
          let major = thread / 8u;
          let minor = (thread - major * 8u) * 4u;
          let o = minor;
          let kk = major;
          let at = base_b + (first_n + o) + (kt + kk) * params.v[13];
          unit1_0 = vec4<u32>();
          if (first_n + o < params.v[2] && kt + kk < params.v[3]) { unit1_0 = b3[at / 4u]; }
        }
      }
      {
        let a0 = tile_a[0u + ty];
        let c0 = tile_b[0u + tx];
        acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
        acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
        acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
        acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
// … 6 more of these 8 lines (af3c3b8d), and
      }
      {
        let a0 = tile_a[56u + ty];
        let c0 = tile_b[56u + tx];
        acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
        acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
        acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
        acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
      }
      __syncthreads();
    }
  }
  for (var i = 0u; i < 4u; i += 1u) {
    let row = first_m + (i / 4u) * 32u + ty * 4u + (i & 3u);
    if (row < params.v[1]) {
      if (first_n + 0u + tx * 4u < params.v[2]) {
        let col = first_n + 0u + tx * 4u;
        let w0 = (params.v[9] + col) / 4u;
        let q1 = b1[w0 + 0u];
        let x2 = bitcast<f32>(q1.x);
        let x3 = bitcast<f32>(q1.y);
        let x4 = bitcast<f32>(q1.z);
        let x5 = bitcast<f32>(q1.w);
        let y6 = epilogue(params, acc0_0.x, x2);
        let y7 = epilogue(params, acc0_0.y, x3);
        let y8 = epilogue(params, acc0_0.z, x4);
        let y9 = epilogue(params, acc0_0.w, x5);
        let w10 = (params.v[7] + row * params.v[8] + col) / 4u;
        b0[w10 + 0u] = vec4<u32>(bitcast<u32>(y6), bitcast<u32>(y7), bitcast<u32>(y8), bitcast<u32>(y9));
      }
    }
    acc0_0 = acc1_0;
    acc1_0 = acc2_0;
    acc2_0 = acc3_0;
  }
}

// ---- transform: fft, 1 workgroups of 32, 18 words (c05bec41)
// ---- transform of lines of odd factors: fft, 1 workgroups of 64, 18 words (219fb934)
// ---- transform to real lines, and its gradient: irfft, 1 workgroups of 32, 24 words (f47cb636)
// ---- transform to real lines, and its gradient: irfft, 1 workgroups of 32, 18 words (cd0d7a67)
// ---- transform to real lines, and its gradient: irfft, 1 workgroups of 32, 14 words (763fe171)
// ---- transform of real lines with a large prime factor: rfft, 1 workgroups of 64, 13 words (f50a4bf9)
// ---- transform of real lines with a large prime factor: rfft, 1 workgroups of 64, 18 words (4830e3cb)
// ---- transform of real lines with a large prime factor: rfft, 1 workgroups of 64, 22 words (6488d774)
// ---- transform of real lines with a large prime factor: rfft, 1 workgroups of 256, 24 words (5005ce7d)
// ---- gradients of transforms of real lines, and of fewer elements: rfft, 1 workgroups of 32, 18 words (93d06928)
// ---- gradients of transforms of real lines, and of fewer elements: rfft, 1 workgroups of 32, 24 words (e3340660)
// ---- gradients of transforms of real lines, and of fewer elements: fft, 1 workgroups of 32, 18 words (2a74a9b9)
// ---- gradients of transforms of real lines, and of fewer elements: fft, 1 workgroups of 32, 18 words (e580a3dd)
// ---- attention: attention, 2 workgroups of 128, 24 words
// attention in f32
struct Params {
  u32 v[24];
};
template <class T> TERN_DEVICE T tern_add(T a, T b) {
  return T(typename Unsigned<T>::type(a) + typename Unsigned<T>::type(b));
}
TERN_DEVICE f64 tern_add(f64 a, f64 b) { return a + b; }
template <class T> TERN_DEVICE T tern_sub(T a, T b) {
  return T(typename Unsigned<T>::type(a) - typename Unsigned<T>::type(b));
}
TERN_DEVICE f64 tern_sub(f64 a, f64 b) { return a - b; }
template <class T> TERN_DEVICE T tern_neg(T x) { return T(0 - typename Unsigned<T>::type(x)); }
TERN_DEVICE f64 tern_neg(f64 x) { return -x; }
template <class T> TERN_DEVICE T tern_abs(T x) { return x < T(0) ? tern_neg(x) : x; }
TERN_DEVICE u32 tern_abs(u32 x) { return x; }
TERN_DEVICE f64 tern_abs(f64 x) { return fabs(x); }
template <class T> TERN_DEVICE T tern_mul(T a, T b) {
  return T(typename Unsigned<T>::type(a) * typename Unsigned<T>::type(b));
}
TERN_DEVICE f64 tern_mul(f64 a, f64 b) { return a * b; }
// The instance.
enum : bool { kBegins = false };
enum : bool { kWideQ = true, kWideK = true, kWideV = true };  // 16 bytes are copied at once; else by elements
enum : u32 {
  kWarps = 4u, kThreads = 32u * kWarps,
  kBlocks = 1u,  // of 16 rows, of a warp
  kRows = 16u * kBlocks * kWarps, kColumns = 32u, kAcross = kColumns / 8u,
  kDepth = 64u, kWidth = 64u, kBytes = 4u,  // of an element
  kScratch = 2048u,  // bytes of a warp, where products take their first factor from memory
  kBytesOfK = kBytes * kColumns * kDepth, kStage = kBytesOfK + kBytes * kColumns * kWidth,
};
typedef f32 Element;
typedef u32 Word;
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
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
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
TERN_DEVICE f32 score_of(const Params& params, f32 v0, f32 v3, i32 v4, i32 v7, i32 v8) {
  let v1 = bitcast<f32>(params.v[23]);
  let v2 = (v0 * v1);
  let v5 = bitcast<i32>(1u);
  let v6 = tern_add(v4, v5);
  let v9 = tern_sub(v7, v8);
  let v10 = tern_abs(v9);
  let v11 = tern_mul(v6, v10);
  let v12 = f32(v11);
  let v13 = (v3 * v12);
  let v14 = (v2 - v13);
  return v14;
}
extern "C" __global__ void __launch_bounds__(kThreads, 2u) tern_kernel(const u32* __restrict__ b0, const u32* __restrict__ b1, const u32* __restrict__ b2, vec4<u32>* __restrict__ b3, const u32* __restrict__ b4, const __grid_constant__ Params params) {
  extern __shared__ __align__(128) unsigned char memory[];
  const u32 thread = threadIdx.x, rows_of_q = tern_shared(memory);
  let lane = thread & 31u, warp = thread / 32u;
  let own_group = blockIdx.x;
  let head_of_all = own_group / params.v[7];
  let first_row = (params.v[7] - 1u - (own_group - head_of_all * params.v[7])) * kRows;
  let batch = head_of_all / params.v[5];
  let head = head_of_all - batch * params.v[5];
  let key_head = head / (params.v[5] / params.v[6]);
  var begin = 0u;
  var end = params.v[2];
  let middle_of_all = bitcast<i32>(first_row) + bitcast<i32>(params.v[8]);
  begin = u32(clamp(middle_of_all - bitcast<i32>(params.v[9]) + 1, 0, bitcast<i32>(params.v[2]))) / 32u * 32u;
  end = u32(clamp(middle_of_all + 64, 0, bitcast<i32>(params.v[2])));
  const Rows q{(const Element*)b0, params.v[12] + batch * 0u + head * params.v[13], params.v[14], 1u}, k{(const Element*)b1, params.v[15] + batch * 0u + key_head * 0u, params.v[16], 1u},
      v{(const Element*)b2, params.v[17] + batch * 0u + key_head * 0u, params.v[18], 1u};
  // The first tile from `column` on of which something is seen.
  const auto seek = [&](u32 column) {
    return column;
  };
  begin = seek(begin);
  u32 stage = rows_of_q + kBytes * kRows * kDepth, other = stage + kStage;
  [[maybe_unused]] let scratch = other + kStage + warp * kScratch;
  fetch<kWideQ, kRows, kDepth>(q, first_row, params.v[1], params.v[3], rows_of_q, thread);
  fetch<kWideK, kColumns, kDepth>(k, begin, end, params.v[3], stage, thread);
  fetch<kWideV, kColumns, kWidth>(v, begin, end, params.v[4], stage + kBytesOfK, thread);
  tern_commit();
  f32 sums[kBlocks][kWidth / 8u][4] = {}, tops[kBlocks][2], totals[kBlocks][2] = {};  // tops: times log2(e)
#pragma unroll
  for (u32 i = 0u; i < 2u * kBlocks; ++i) { tops[i / 2u][i % 2u] = tern_from_bits(0xff800000u); }
#pragma unroll 1
  for (u32 column = begin, next; column < end; column = next) {
    tern_wait_copies();
    __syncthreads();
    next = seek(column + kColumns);
    if (next < end) {
      fetch<kWideK, kColumns, kDepth>(k, next, end, params.v[3], other, thread);
      fetch<kWideV, kColumns, kWidth>(v, next, end, params.v[4], other + kBytesOfK, thread);
    }
    tern_commit();
    f32 s[kBlocks][kAcross][4] = {};
    [[maybe_unused]] let first = column + (lane & 3u) * 2u;
    if constexpr (kBegins) {
      [[maybe_unused]] let ahead = 0u, at = 0u;
    #pragma unroll
      for (u32 i = 0u; i < 2u * kBlocks; ++i) {
        let row = first_row + (warp * kBlocks + i / 2u) * 16u + 8u * (i % 2u) + lane / 4u;
        [[maybe_unused]] let own_row = min(row, params.v[1] - 1u);
        f32 along = 0.0f;
    #pragma unroll
        for (u32 j = 0u; j < 2u * kAcross; ++j)
          s[i / 2u][j / 2u][2u * (i % 2u) + j % 2u] = along * f32(j / 2u * 8u + (lane & 3u) * 2u + j % 2u);
      }
    }
    multiply_rows<kBlocks, kAcross, kDepth>(s, rows_of_q, warp * 16u * kBlocks, stage, lane);
    const bool edge = column + kColumns > end || i32(column + kColumns) > i32(first_row) + bitcast<i32>(params.v[8]) + 1 || i32(first_row + kRows) - 1 + bitcast<i32>(params.v[8]) - i32(column) >= bitcast<i32>(params.v[9]) || i32(column + kColumns) - 1 - i32(first_row) - bitcast<i32>(params.v[8]) >= bitcast<i32>(params.v[9]);
#pragma unroll
    for (u32 i = 0u; i < kBlocks; ++i)
#pragma unroll
      for (u32 h = 0u; h < 2u; ++h) {
        let row = first_row + (warp * kBlocks + i) * 16u + 8u * h + lane / 4u;
        [[maybe_unused]] let own_row = min(row, params.v[1] - 1u);
        f32 place = 0.0f;  // what it adds to all scores of the row in the tile
        if constexpr (kBegins) {
          [[maybe_unused]] let first = column, ahead = 0u, at = 0u;
          f32 begin = 0.0f;
          place = begin * bitcast<f32>(params.v[11]);
        }
#pragma unroll
        for (u32 j = 0u; j < 2u * kAcross; ++j) {
          [[maybe_unused]] let ahead = j / 2u * 8u + j % 2u, at = min(first + ahead, 0xffffffffu);
          [[maybe_unused]] f32& x = s[i][j / 2u][2u * h + j % 2u];
          let x0 = bitcast<f32>(((u32*)b4)[params.v[22] + head]);
          let y1 = score_of(params, x, x0, bitcast<i32>(head), bitcast<i32>(own_row), bitcast<i32>(at));
          x = y1;
        }
        if (edge) {
          [[maybe_unused]] let middle = i32(row) + i32(params.v[8]);
        #pragma unroll
          for (u32 j = 0u; j < 2u * kAcross; ++j) {
            let at = first + j / 2u * 8u + j % 2u;
            if (!(at < end && (at < params.v[2]) && (bitcast<i32>(at) <= middle) && (abs(middle - bitcast<i32>(at)) < bitcast<i32>(params.v[9])))) { s[i][j / 2u][2u * h + j % 2u] = tern_from_bits(0xff800000u); }
          }
        }
        f32 top = s[i][0][2u * h];
#pragma unroll
        for (u32 j = 0u; j < 2u * kAcross; ++j) { top = fmaxf(top, s[i][j / 2u][2u * h + j % 2u]); }
        top = fmaxf(fma(tern_quad_largest(top), bitcast<f32>(params.v[11]), place), tops[i][h]);
        let base = top == tern_from_bits(0xff800000u) ? 0.0f : top;
        let older = tern_power_of_two(tops[i][h] - base);
        tops[i][h] = top;
        f32 total = 0.0f;
#pragma unroll
        for (u32 j = 0u; j < 2u * kAcross; ++j) {
          [[maybe_unused]] let ahead = j / 2u * 8u + j % 2u, at = min(first + ahead, params.v[2] - 1u);
          f32& x = s[i][j / 2u][2u * h + j % 2u];
          x = tern_power_of_two(fma(x, bitcast<f32>(params.v[11]), place - base));
          total += x;
        }
        totals[i][h] = fma(totals[i][h], older, total);
#pragma unroll
        for (u32 j = 0u; j < kWidth / 8u; ++j) { sums[i][j][2u * h] *= older, sums[i][j][2u * h + 1u] *= older; }
      }
    multiply_sums<kBlocks, kAcross, kWidth>(sums, s, stage + kBytesOfK, lane, scratch);
    let used = stage;
    stage = other, other = used;
  }
  tern_wait_copies();
#pragma unroll
  for (u32 i = 0u; i < kBlocks; ++i)
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      let row = first_row + (warp * kBlocks + i) * 16u + 8u * h + lane / 4u;
      let total = tern_quad_sum(totals[i][h]);
      let inverse = total == 0.0f ? 1.0f : 1.0f / total;
      #pragma unroll
      for (u32 j = 0u; j < kWidth / 8u; j += 4u) {
        let x = tern_quad_row(&sums[i][j], h);
        let first = j * 8u + (lane & 3u) * 8u;
        if (row < params.v[1] && first < params.v[4]) {
          if ((first + 7u) < params.v[4]) {
            let w2 = (params.v[19] + head * params.v[20] + row * params.v[21] + first) / 4u;
            b3[w2 + 0u] = vec4<u32>(bitcast<u32>((x.x[0] * inverse)), bitcast<u32>((x.x[1] * inverse)), bitcast<u32>((x.x[2] * inverse)), bitcast<u32>((x.x[3] * inverse)));
            b3[w2 + 1u] = vec4<u32>(bitcast<u32>((x.x[4] * inverse)), bitcast<u32>((x.x[5] * inverse)), bitcast<u32>((x.x[6] * inverse)), bitcast<u32>((x.x[7] * inverse)));
          } else {
            if ((first + 0u) < params.v[4]) { ((u32*)b3)[params.v[19] + head * params.v[20] + row * params.v[21] + first] = bitcast<u32>((x.x[0] * inverse));
            }
            if ((first + 1u) < params.v[4]) { ((u32*)b3)[params.v[19] + head * params.v[20] + row * params.v[21] + (first + 1u)] = bitcast<u32>((x.x[1] * inverse));
// … 5 more of these 2 lines (a0c96f5a), and
            }
            if ((first + 7u) < params.v[4]) { ((u32*)b3)[params.v[19] + head * params.v[20] + row * params.v[21] + (first + 7u)] = bitcast<u32>((x.x[7] * inverse));
            }
          }
        }
      }
      if ((lane & 3u) == 0u && row < params.v[1]) {
        [[maybe_unused]] let top = tops[i][h] * 0.6931471805599453f;
      }
    }
}

// ---- attention on tensor cores: attention, 2 workgroups of 128, 24 words
// attention on tensor cores
// The instance.
enum : bool { kBegins = false };
enum : bool { kWideQ = true, kWideK = true, kWideV = true };  // 16 bytes are copied at once; else by elements
enum : u32 {
  kWarps = 4u, kThreads = 32u * kWarps,
  kBlocks = 1u,  // of 16 rows, of a warp
  kRows = 16u * kBlocks * kWarps, kColumns = 64u, kAcross = kColumns / 8u,
  kDepth = 64u, kWidth = 64u, kBytes = 2u,  // of an element
  kScratch = 0u,  // bytes of a warp, where products take their first factor from memory
  kBytesOfK = kBytes * kColumns * kDepth, kStage = kBytesOfK + kBytes * kColumns * kWidth,
};
typedef u16 Element;
typedef u16 Word;
// ---- copies to workgroup memory that run on their own ----
// Until all but the last `most` that were committed are there.
// Where 16 bytes `part` of a row of `line` bytes, a multiple of 128, lie: swizzled so that the same part of eight rows,
// a matrix, lies in different banks.
// ---- tensor cores ----
// Four matrices of 8×8 from workgroup memory, of each of which eight lanes name the rows; transposed where they lie
// across k.
// acc += a·b of a block of 16 rows and 8 columns, and 16 elements.
// One number.
// Rows of elements in memory: the first, from where on they count, and the steps between rows and in a row.
struct Rows {
  const Element* elements;
  u32 from, step, step_in;
};
// Sends rows [first, first + count) on their way to `to`; 0 in place of rows from `end`, and elements from `size` on.
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
        of_a[i][2u * h] = tern_f32_pair_to_bf16(x[i][2u * kk + h][0], x[i][2u * kk + h][1]);
        of_a[i][2u * h + 1u] = tern_f32_pair_to_bf16(x[i][2u * kk + h][2], x[i][2u * kk + h][3]);
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
// The largest, and the sum, of the values of the four lanes that share a row.
// ---- from the layout of sums to rows ----
// Lane q of four holds columns 8 j + 2 q and 8 j + 2 q + 1 for j = 0..3, and gets columns 8 q to 8 q + 7 in their
// place. Two exchanges, with the neighbour and with the next but one.
struct Row8 {
  f32 x[8];
};
// Of four blocks, the upper or lower row (h) of a lane.
TERN_DEVICE f32 score_of(const Params& params, f32 v0, f32 v3, i32 v4, i32 v7, i32 first, u32 ahead) {
  let v1 = bitcast<f32>(params.v[23]);
  let v5 = bitcast<i32>(1u);
  let v6 = tern_add(v4, v5);
  let v8 = first + i32(ahead);
  let v9 = tern_sub(v7, v8);
  let v10 = tern_abs(v9);
  let v11 = tern_mul(v6, v10);
  let v12 = f32(v11);
  let t3 = v12 * v3;
  let t4 = fma(v0, v1, -t3);
  let v14 = t4;
  return v14;
}
extern "C" __global__ void __launch_bounds__(kThreads, 2u) tern_kernel(const u32* __restrict__ b0, const u32* __restrict__ b1, const u32* __restrict__ b2, vec4<u32>* __restrict__ b3, const u32* __restrict__ b4, const __grid_constant__ Params params) {
  extern __shared__ __align__(128) unsigned char memory[];
  let lane = thread & 31u, warp = thread / 32u;
  let own_group = blockIdx.x;
  let head_of_all = own_group / params.v[7];
  let first_row = (params.v[7] - 1u - (own_group - head_of_all * params.v[7])) * kRows;
  let batch = head_of_all / params.v[5];
  let head = head_of_all - batch * params.v[5];
  let key_head = head / (params.v[5] / params.v[6]);
  var begin = 0u;
  var end = params.v[2];
  let middle_of_all = bitcast<i32>(first_row) + bitcast<i32>(params.v[8]);
  end = u32(clamp(middle_of_all + 64, 0, bitcast<i32>(params.v[2])));
  const Rows q{(const Element*)b0, params.v[12] + batch * 0u + head * params.v[13], params.v[14], 1u}, k{(const Element*)b1, params.v[15] + batch * 0u + key_head * 0u, params.v[16], 1u},
      v{(const Element*)b2, params.v[17] + batch * 0u + key_head * 0u, params.v[18], 1u};
  // The first tile from `column` on of which something is seen.
  const auto seek = [&](u32 column) {
    return column;
  };
  begin = seek(begin);
  u32 stage = rows_of_q + kBytes * kRows * kDepth, other = stage + kStage;
  [[maybe_unused]] let scratch = other + kStage + warp * kScratch;
  fetch<kWideQ, kRows, kDepth>(q, first_row, params.v[1], params.v[3], rows_of_q, thread);
  fetch<kWideK, kColumns, kDepth>(k, begin, end, params.v[3], stage, thread);
  fetch<kWideV, kColumns, kWidth>(v, begin, end, params.v[4], stage + kBytesOfK, thread);
  tern_commit();
  f32 sums[kBlocks][kWidth / 8u][4] = {}, tops[kBlocks][2], totals[kBlocks][2] = {};  // tops: times log2(e)
#pragma unroll
  for (u32 i = 0u; i < 2u * kBlocks; ++i) { tops[i / 2u][i % 2u] = tern_from_bits(0xff800000u); }
#pragma unroll 1
  for (u32 column = begin, next; column < end; column = next) {
    tern_wait_copies();
    __syncthreads();
    next = seek(column + kColumns);
    if (next < end) {
      fetch<kWideK, kColumns, kDepth>(k, next, end, params.v[3], other, thread);
      fetch<kWideV, kColumns, kWidth>(v, next, end, params.v[4], other + kBytesOfK, thread);
    }
    tern_commit();
    f32 s[kBlocks][kAcross][4] = {};
    [[maybe_unused]] let first = column + (lane & 3u) * 2u;
    if constexpr (kBegins) {
      [[maybe_unused]] let ahead = 0u, at = 0u;
    #pragma unroll
      for (u32 i = 0u; i < 2u * kBlocks; ++i) {
        let row = first_row + (warp * kBlocks + i / 2u) * 16u + 8u * (i % 2u) + lane / 4u;
        [[maybe_unused]] let own_row = min(row, params.v[1] - 1u);
        f32 along = 0.0f;
    #pragma unroll
        for (u32 j = 0u; j < 2u * kAcross; ++j)
          s[i / 2u][j / 2u][2u * (i % 2u) + j % 2u] = along * f32(j / 2u * 8u + (lane & 3u) * 2u + j % 2u);
      }
    }
    multiply_rows<kBlocks, kAcross, kDepth>(s, rows_of_q, warp * 16u * kBlocks, stage, lane);
    const bool edge = column + kColumns > end || i32(column + kColumns) > i32(first_row) + bitcast<i32>(params.v[8]) + 1;
#pragma unroll
    for (u32 i = 0u; i < kBlocks; ++i)
#pragma unroll
      for (u32 h = 0u; h < 2u; ++h) {
        let row = first_row + (warp * kBlocks + i) * 16u + 8u * h + lane / 4u;
        [[maybe_unused]] let own_row = min(row, params.v[1] - 1u);
        f32 place = 0.0f;  // what it adds to all scores of the row in the tile
        if constexpr (kBegins) {
          [[maybe_unused]] let first = column, ahead = 0u, at = 0u;
          f32 begin = 0.0f;
          place = begin * bitcast<f32>(params.v[11]);
        }
#pragma unroll
        for (u32 j = 0u; j < 2u * kAcross; ++j) {
          [[maybe_unused]] let ahead = j / 2u * 8u + j % 2u, at = min(first + ahead, 0xffffffffu);
          [[maybe_unused]] f32& x = s[i][j / 2u][2u * h + j % 2u];
          let x0 = bitcast<f32>(((u32*)b4)[params.v[22] + head]);
          let y1 = score_of(params, x, x0, bitcast<i32>(head), bitcast<i32>(own_row), bitcast<i32>(first), ahead);
          x = y1;
        }
        if (edge) {
          [[maybe_unused]] let middle = i32(row) + i32(params.v[8]);
        #pragma unroll
          for (u32 j = 0u; j < 2u * kAcross; ++j) {
            let at = first + j / 2u * 8u + j % 2u;
            if (!(at < end && (at < params.v[2]) && (bitcast<i32>(at) <= middle))) { s[i][j / 2u][2u * h + j % 2u] = tern_from_bits(0xff800000u); }
          }
        }
        f32 top = s[i][0][2u * h];
#pragma unroll
        for (u32 j = 0u; j < 2u * kAcross; ++j) { top = fmaxf(top, s[i][j / 2u][2u * h + j % 2u]); }
        top = fmaxf(fma(tern_quad_largest(top), bitcast<f32>(params.v[11]), place), tops[i][h]);
        let base = top == tern_from_bits(0xff800000u) ? 0.0f : top;
        let older = tern_power_of_two(tops[i][h] - base);
        tops[i][h] = top;
        f32 total = 0.0f;
#pragma unroll
        for (u32 j = 0u; j < 2u * kAcross; ++j) {
          [[maybe_unused]] let ahead = j / 2u * 8u + j % 2u, at = min(first + ahead, params.v[2] - 1u);
          f32& x = s[i][j / 2u][2u * h + j % 2u];
          x = tern_power_of_two(fma(x, bitcast<f32>(params.v[11]), place - base));
          total += x;
        }
        totals[i][h] = fma(totals[i][h], older, total);
#pragma unroll
        for (u32 j = 0u; j < kWidth / 8u; ++j) { sums[i][j][2u * h] *= older, sums[i][j][2u * h + 1u] *= older; }
      }
    multiply_sums<kBlocks, kAcross, kWidth>(sums, s, stage + kBytesOfK, lane, scratch);
    let used = stage;
    stage = other, other = used;
  }
  tern_wait_copies();
#pragma unroll
  for (u32 i = 0u; i < kBlocks; ++i)
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      let row = first_row + (warp * kBlocks + i) * 16u + 8u * h + lane / 4u;
      let total = tern_quad_sum(totals[i][h]);
      let inverse = total == 0.0f ? 1.0f : 1.0f / total;
      #pragma unroll
      for (u32 j = 0u; j < kWidth / 8u; j += 4u) {
        let x = tern_quad_row(&sums[i][j], h);
        let first = j * 8u + (lane & 3u) * 8u;
        if (row < params.v[1] && first < params.v[4]) {
          let w2 = (params.v[19] + head * params.v[20] + row * params.v[21] + first) / 8u;
          b3[w2 + 0u] = vec4<u32>(tern_f32_pair_to_bf16((x.x[0] * inverse), (x.x[1] * inverse)), tern_f32_pair_to_bf16((x.x[2] * inverse), (x.x[3] * inverse)), tern_f32_pair_to_bf16((x.x[4] * inverse), (x.x[5] * inverse)), tern_f32_pair_to_bf16((x.x[6] * inverse), (x.x[7] * inverse)));
        }
      }
      if ((lane & 3u) == 0u && row < params.v[1]) {
        [[maybe_unused]] let top = tops[i][h] * 0.6931471805599453f;
      }
    }
}

// ---- the gradients of attention on tensor cores: formula, 2 workgroups of 32, 13 words
// reduction
TERN_DEVICE f32 pass0(const Params& params, f32 v0, f32 v1) {
  let v2 = (v0 * v1);
  return v2;
}
TERN_DEVICE f32 finish(const Params& params, f32 v3) {
  return v3;
}
extern "C" __global__ void __launch_bounds__(32) tern_kernel(u32* __restrict__ b0, const vec4<u32>* __restrict__ b1, const vec4<u32>* __restrict__ b2, const __grid_constant__ Params params) {
  let row_group = group;
  let segment = 0u;
  let tx = thread / 4u;
  let ty = thread - tx * 4u;
  let k = row_group * 8u + tx;
  let inside = k < params.v[1];
  let begin = segment * params.v[5];
  let end = min(params.v[3], begin + params.v[5]);
  var acc3 = f32(0.0);
  if (inside) {
    for (var r = begin + ty * 8u; r < end; r += 32u) {
      let w0 = (params.v[9] + k * params.v[10] + r) / 8u;
      let q1 = b1[w0 + 0u];
      let x2 = tern_bf16_bits_to_f32((q1.x & 0xffffu));
      let x3 = tern_bf16_bits_to_f32((q1.x >> 16u));
      let x4 = tern_bf16_bits_to_f32((q1.y & 0xffffu));
      let x5 = tern_bf16_bits_to_f32((q1.y >> 16u));
      let x6 = tern_bf16_bits_to_f32((q1.z & 0xffffu));
      let x7 = tern_bf16_bits_to_f32((q1.z >> 16u));
      let x8 = tern_bf16_bits_to_f32((q1.w & 0xffffu));
      let x9 = tern_bf16_bits_to_f32((q1.w >> 16u));
      let w10 = (params.v[11] + k * params.v[12] + r) / 8u;
      let q11 = b2[w10 + 0u];
      let x12 = tern_bf16_bits_to_f32((q11.x & 0xffffu));
      let x13 = tern_bf16_bits_to_f32((q11.x >> 16u));
      let x14 = tern_bf16_bits_to_f32((q11.y & 0xffffu));
      let x15 = tern_bf16_bits_to_f32((q11.y >> 16u));
      let x16 = tern_bf16_bits_to_f32((q11.z & 0xffffu));
      let x17 = tern_bf16_bits_to_f32((q11.z >> 16u));
      let x18 = tern_bf16_bits_to_f32((q11.w & 0xffffu));
      let x19 = tern_bf16_bits_to_f32((q11.w >> 16u));
      let y20 = pass0(params, x2, x12);
// … 6 more of these 1 lines (27ab5e22), and
      let y27 = pass0(params, x9, x19);
      acc3 = (acc3 + y20);
// … 6 more of these 1 lines (d79ec11c), and
      acc3 = (acc3 + y27);
    }
  }
  var warp_red3 = acc3;
  let warp_red3_2 = __shfl_xor_sync(0xffffffffu, warp_red3, 2);
  warp_red3 = (warp_red3 + warp_red3_2);
  let warp_red3_1 = __shfl_xor_sync(0xffffffffu, warp_red3, 1);
  warp_red3 = (warp_red3 + warp_red3_1);
  let red3 = __shfl_sync(0xffffffffu, warp_red3, (thread & 28u));
  if (inside && ty == 0u) {
    let y28 = finish(params, red3);
    ((u32*)b0)[params.v[8] + k] = bitcast<u32>(y28);
  }
}

// ---- the gradients of attention on tensor cores: attention, 2 workgroups of 128, 34 words
// gradient of attention on tensor cores, of q
struct Params {
  u32 v[34];
};
// The instance.
enum : bool { kBegins = false };
enum : bool { kWideQ = true, kWideK = true, kWideV = true, kWideOut = true };
enum : u32 {
  kWarps = 4u, kThreads = 32u * kWarps,
  kBlocks = 2u,  // of 16 rows, of a warp
  kRows = 16u * kBlocks * kWarps, kColumns = 64u, kAcross = kColumns / 8u,
  kDepth = 64u, kWidth = 64u, kBytes = 2u,  // of an element
  kScratch = 0u,  // bytes of a warp, where products take their first factor from memory
  kBytesOfQ = kBytes * kRows * kDepth, kBytesOfK = kBytes * kColumns * kDepth,
  kStage = kBytesOfK + kBytes * kColumns * kWidth,
};
typedef u16 Element;
typedef u16 Word;
// ---- copies to workgroup memory that run on their own ----
// Until all but the last `most` that were committed are there.
// Where 16 bytes `part` of a row of `line` bytes, a multiple of 128, lie: swizzled so that the same part of eight rows,
// a matrix, lies in different banks.
// ---- tensor cores ----
// Four matrices of 8×8 from workgroup memory, of each of which eight lanes name the rows; transposed where they lie
// across k.
// acc += a·b of a block of 16 rows and 8 columns, and 16 elements.
// One number.
// Rows of elements in memory: the first, from where on they count, and the steps between rows and in a row.
struct Rows {
  const Element* elements;
  u32 from, step, step_in;
};
// Sends rows [first, first + count) on their way to `to`; 0 in place of rows from `end`, and elements from `size` on.
// acc += a·bᵀ for a warp's rows of a, from `row` on, and the first rows of b: both have `elements` in a row. A block of
// b serves all of the warp's blocks of rows.
// acc += x·b for x in the layout of sums, rounded to 16 bits, and the rows of b, of which there are as many as x has
// columns.
// The largest, and the sum, of the values of the four lanes that share a row.
// ---- from the layout of sums to rows ----
// Lane q of four holds columns 8 j + 2 q and 8 j + 2 q + 1 for j = 0..3, and gets columns 8 q to 8 q + 7 in their
// place. Two exchanges, with the neighbour and with the next but one.
struct Row8 {
  f32 x[8];
};
// Of four blocks, the upper or lower row (h) of a lane.
TERN_DEVICE f32 score_of(const Params& params, f32 v0, f32 v3, i32 v4, i32 v7, i32 first, u32 ahead) {
  let v1 = bitcast<f32>(params.v[32]);
  let v5 = bitcast<i32>(1u);
  let v6 = tern_add(v4, v5);
  let v8 = first + i32(ahead);
  let v9 = tern_sub(v7, v8);
  let v10 = tern_abs(v9);
  let v11 = tern_mul(v6, v10);
  let v12 = f32(v11);
  let t3 = v12 * v3;
  let t4 = fma(v0, v1, -t3);
  let v14 = t4;
  return v14;
}
TERN_DEVICE f32 slope_of(const Params& params, f32 v0, u32 ahead) {
  return v0;
}
extern "C" __global__ void __launch_bounds__(kThreads, 2u) tern_kernel(const u32* __restrict__ b0, const u32* __restrict__ b1, const u32* __restrict__ b2, const u32* __restrict__ b3, const u32* __restrict__ b4, const u32* __restrict__ b5, vec4<u32>* __restrict__ b6, const u32* __restrict__ b7, const __grid_constant__ Params params) {
  extern __shared__ __align__(128) unsigned char memory[];
  const u32 thread = threadIdx.x, own_group = blockIdx.x, rows_of_q = tern_shared(memory);
  let rows_of_out = rows_of_q + kBytesOfQ;
  let lane = thread & 31u, warp = thread / 32u;
  let head_of_all = own_group / params.v[7];
  let first_row = (params.v[7] - 1u - (own_group - head_of_all * params.v[7])) * kRows;
  let batch = head_of_all / params.v[5];
  let head = head_of_all - batch * params.v[5];
  let key_head = head / (params.v[5] / params.v[6]);
  var begin = 0u;
  var end = params.v[2];
  let middle_of_all = bitcast<i32>(first_row) + bitcast<i32>(params.v[8]);
  end = u32(clamp(middle_of_all + 128, 0, bitcast<i32>(params.v[2])));
  const Rows q{(const Element*)b0, params.v[12] + batch * 0u + head * params.v[13], params.v[14], 1u}, k{(const Element*)b1, params.v[15] + batch * 0u + key_head * 0u, params.v[16], 1u},
      v{(const Element*)b2, params.v[17] + batch * 0u + key_head * 0u, params.v[18], 1u},
      out{(const Element*)b3, params.v[19] + batch * 0u + head * params.v[20], params.v[21], 1u};
  // The first tile from `column` on of which something is seen.
  const auto seek = [&](u32 column) {
    return column;
  };
  begin = seek(begin);
  u32 stage = rows_of_out + kBytes * kRows * kWidth, other = stage + kStage;
  [[maybe_unused]] let scratch = other + kStage + warp * kScratch;
  fetch<kWideQ, kRows, kDepth>(q, first_row, params.v[1], params.v[3], rows_of_q, thread);
  fetch<kWideOut, kRows, kWidth>(out, first_row, params.v[1], params.v[4], rows_of_out, thread);
  fetch<kWideK, kColumns, kDepth>(k, begin, end, params.v[3], stage, thread);
  fetch<kWideV, kColumns, kWidth>(v, begin, end, params.v[4], stage + kBytesOfK, thread);
  tern_commit();
  f32 sums[kBlocks][kDepth / 8u][4] = {}, tops[kBlocks][2], inverses[kBlocks][2], means[kBlocks][2];
#pragma unroll
  for (u32 i = 0u; i < kBlocks; ++i)
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      let own_row = min(first_row + (warp * kBlocks + i) * 16u + 8u * h + lane / 4u, params.v[1] - 1u);
      let x3 = bitcast<f32>(((u32*)b4)[params.v[22] + head * params.v[23] + own_row]);
      let top = x3;
      let x4 = bitcast<f32>(((u32*)b4)[params.v[24] + head * params.v[25] + own_row]);
      let total = x4;
      let x5 = bitcast<f32>(((u32*)b5)[params.v[26] + head * params.v[27] + own_row]);
      let mean = x5;
      tops[i][h] = total == 0.0f ? tern_from_bits(0x7f800000u) : top * 1.4426950408889634f;  // of a row that sees nothing shares are 0
      inverses[i][h] = total == 0.0f ? 0.0f : tern_inverse(total), means[i][h] = mean;
    }
#pragma unroll 1
  for (u32 column = begin, next; column < end; column = next) {
    tern_wait_copies();
    __syncthreads();
    next = seek(column + kColumns);
    if (next < end) {
      fetch<kWideK, kColumns, kDepth>(k, next, end, params.v[3], other, thread);
      fetch<kWideV, kColumns, kWidth>(v, next, end, params.v[4], other + kBytesOfK, thread);
    }
    tern_commit();
    f32 s[kBlocks][kAcross][4] = {}, g[kBlocks][kAcross][4] = {};
    [[maybe_unused]] let first = column + (lane & 3u) * 2u;
    if constexpr (kBegins) {
      [[maybe_unused]] let ahead = 0u, at = 0u;
    #pragma unroll
      for (u32 i = 0u; i < 2u * kBlocks; ++i) {
        let row = first_row + (warp * kBlocks + i / 2u) * 16u + 8u * (i % 2u) + lane / 4u;
        [[maybe_unused]] let own_row = min(row, params.v[1] - 1u);
        f32 along = 0.0f;
    #pragma unroll
        for (u32 j = 0u; j < 2u * kAcross; ++j)
          s[i / 2u][j / 2u][2u * (i % 2u) + j % 2u] = along * f32(j / 2u * 8u + 0u + j % 2u);
      }
    }
    multiply_rows<kBlocks, kAcross, kDepth>(s, rows_of_q, warp * 16u * kBlocks, stage, lane);
    multiply_rows<kBlocks, kAcross, kWidth>(g, rows_of_out, warp * 16u * kBlocks, stage + kBytesOfK, lane);
    const bool edge = column + kColumns > end || i32(column + kColumns) > i32(first_row) + bitcast<i32>(params.v[8]) + 1;
#pragma unroll
    for (u32 i = 0u; i < kBlocks; ++i)
#pragma unroll
      for (u32 h = 0u; h < 2u; ++h) {
        let row = first_row + (warp * kBlocks + i) * 16u + 8u * h + lane / 4u;
        [[maybe_unused]] let own_row = min(row, params.v[1] - 1u);
        f32 top = tops[i][h];
        if constexpr (kBegins) {
          [[maybe_unused]] let ahead = 0u, at = 0u;
          f32 begin = 0.0f;
          top -= begin * bitcast<f32>(params.v[11]);
        }
#pragma unroll
        for (u32 j = 0u; j < 2u * kAcross; ++j) {
          [[maybe_unused]] let ahead = j / 2u * 8u + j % 2u, at = min(first + ahead, params.v[2] - 1u);
          f32& x = s[i][j / 2u][2u * h + j % 2u];
          f32 score;
          let x0 = bitcast<f32>(((u32*)b7)[params.v[31] + head]);
          let y1 = score_of(params, x, x0, bitcast<i32>(head), bitcast<i32>(own_row), bitcast<i32>(first), ahead);
          score = y1;
          let share = tern_power_of_two(fma(score, bitcast<f32>(params.v[11]), -top)) * inverses[i][h];
          f32 incoming = g[i][j / 2u][2u * h + j % 2u];
          let toward = share * (incoming - means[i][h]);
          f32 slope;
          let y2 = slope_of(params, toward, ahead);
          slope = y2;
          x = slope;
        }
        if (edge) {
          [[maybe_unused]] let middle = i32(row) + i32(params.v[8]);
        #pragma unroll
          for (u32 j = 0u; j < 2u * kAcross; ++j) {
            let at = first + j / 2u * 8u + j % 2u;
            if (!((at < params.v[2]) && (bitcast<i32>(at) <= middle))) { s[i][j / 2u][2u * h + j % 2u] = 0.0f; }
          }
        }
      }
    multiply_sums<kBlocks, kAcross, kDepth>(sums, s, stage, lane, scratch);
    let used = stage;
    stage = other, other = used;
  }
  tern_wait_copies();
#pragma unroll
  for (u32 i = 0u; i < kBlocks; ++i)
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      let row = first_row + (warp * kBlocks + i) * 16u + 8u * h + lane / 4u;
      #pragma unroll
      for (u32 j = 0u; j < kDepth / 8u; j += 4u) {
        let x = tern_quad_row(&sums[i][j], h);
        let first = j * 8u + (lane & 3u) * 8u;
        if (row < params.v[1] && first < params.v[3]) {
          let w6 = (params.v[28] + head * params.v[29] + row * params.v[30] + first) / 8u;
          b6[w6 + 0u] = vec4<u32>(tern_f32_pair_to_bf16((x.x[0] * (bitcast<f32>(params.v[10]) * bitcast<f32>(params.v[33]))), (x.x[1] * (bitcast<f32>(params.v[10]) * bitcast<f32>(params.v[33])))), tern_f32_pair_to_bf16((x.x[2] * (bitcast<f32>(params.v[10]) * bitcast<f32>(params.v[33]))), (x.x[3] * (bitcast<f32>(params.v[10]) * bitcast<f32>(params.v[33])))), tern_f32_pair_to_bf16((x.x[4] * (bitcast<f32>(params.v[10]) * bitcast<f32>(params.v[33]))), (x.x[5] * (bitcast<f32>(params.v[10]) * bitcast<f32>(params.v[33])))), tern_f32_pair_to_bf16((x.x[6] * (bitcast<f32>(params.v[10]) * bitcast<f32>(params.v[33]))), (x.x[7] * (bitcast<f32>(params.v[10]) * bitcast<f32>(params.v[33])))));
        }
      }
    }
}

// ---- the gradients of attention on tensor cores: attention, 1 workgroups of 128, 35 words
// gradients of attention on tensor cores, of k and v
struct Params {
  u32 v[35];
};
// The instance.
enum : bool { kBegins = false };
enum : bool {
  kWideQ = true, kWideK = true, kWideV = true, kWideOut = true,
  kOfK = true, kOfV = true,  // whose gradients it gives
};
enum : u32 {
  kWarps = 4u, kThreads = 32u * kWarps,
  kBlocks = 2u,  // of 16 keys, of a warp
  kColumns = 16u * kBlocks * kWarps, kRows = 32u, kAcross = kRows / 8u,
  kDepth = 64u, kWidth = 64u, kBytes = 2u,  // of an element
  kScratch = 0u,  // bytes of a warp, where products take their first factor from memory
  kBytesOfK = kBytes * kColumns * kDepth, kBytesOfQ = kBytes * kRows * kDepth, kBytesOfOut = kBytes * kRows * kWidth,
  kStage = kBytesOfQ + kBytesOfOut + 4u * 3u * kRows,  // tops, totals and means last
};
typedef u16 Element;
typedef u16 Word;
// ---- copies to workgroup memory that run on their own ----
// Until all but the last `most` that were committed are there.
// Where 16 bytes `part` of a row of `line` bytes, a multiple of 128, lie: swizzled so that the same part of eight rows,
// a matrix, lies in different banks.
// ---- tensor cores ----
// Four matrices of 8×8 from workgroup memory, of each of which eight lanes name the rows; transposed where they lie
// across k.
// acc += a·b of a block of 16 rows and 8 columns, and 16 elements.
// One number.
// Rows of elements in memory: the first, from where on they count, and the steps between rows and in a row.
struct Rows {
  const Element* elements;
  u32 from, step, step_in;
};
// Sends rows [first, first + count) on their way to `to`; 0 in place of rows from `end`, and elements from `size` on.
// acc += a·bᵀ for a warp's rows of a, from `row` on, and the first rows of b: both have `elements` in a row. A block of
// b serves all of the warp's blocks of rows.
// acc += x·b for x in the layout of sums, rounded to 16 bits, and the rows of b, of which there are as many as x has
// columns.
// The largest, and the sum, of the values of the four lanes that share a row.
// ---- from the layout of sums to rows ----
// Lane q of four holds columns 8 j + 2 q and 8 j + 2 q + 1 for j = 0..3, and gets columns 8 q to 8 q + 7 in their
// place. Two exchanges, with the neighbour and with the next but one.
struct Row8 {
  f32 x[8];
};
// Of four blocks, the upper or lower row (h) of a lane.
TERN_DEVICE f32 score_of(const Params& params, f32 v0, f32 v3, i32 v4, i32 first, i32 v8, u32 ahead) {
  let v1 = bitcast<f32>(params.v[33]);
  let v5 = bitcast<i32>(1u);
  let v6 = tern_add(v4, v5);
  let v7 = first + i32(ahead);
  let v9 = tern_sub(v7, v8);
  let v10 = tern_abs(v9);
  let v11 = tern_mul(v6, v10);
  let v12 = f32(v11);
  let t3 = v12 * v3;
  let t4 = fma(v0, v1, -t3);
  let v14 = t4;
  return v14;
}
extern "C" __global__ void __launch_bounds__(kThreads, 2u) tern_kernel(const u32* __restrict__ b0, const u32* __restrict__ b1, const u32* __restrict__ b2, const u32* __restrict__ b3, const u32* __restrict__ b4, const u32* __restrict__ b5, vec4<u32>* __restrict__ b6, vec4<u32>* __restrict__ b7, const u32* __restrict__ b8, const __grid_constant__ Params params) {
  extern __shared__ __align__(128) unsigned char memory[];
  const u32 thread = threadIdx.x, group = blockIdx.x, rows_of_k = tern_shared(memory);
  let rows_of_v = rows_of_k + kBytesOfK;
  let lane = thread & 31u, warp = thread / 32u;
  let key_head_of_all = group / params.v[7];
  let first_column = (group - key_head_of_all * params.v[7]) * kColumns;
  let batch = key_head_of_all / params.v[6];
  let key_head = key_head_of_all - batch * params.v[6];
  let shared = params.v[5] / params.v[6];
  var begin = 0u;
  var end = params.v[1];
  let middle_of_all = bitcast<i32>(first_column) - bitcast<i32>(params.v[8]);
  begin = u32(clamp(middle_of_all, 0, bitcast<i32>(params.v[1]))) / 32u * 32u;
  const Rows k{(const Element*)b1, params.v[15] + batch * 0u + key_head * 0u, params.v[16], 1u}, v{(const Element*)b2, params.v[17] + batch * 0u + key_head * 0u, params.v[18], 1u};
  u32 stage = rows_of_v + kBytes * kColumns * kWidth, other = stage + kStage;
  [[maybe_unused]] let scratch = other + kStage + warp * kScratch;
  fetch<kWideK, kColumns, kDepth>(k, first_column, params.v[2], params.v[3], rows_of_k, thread);
  fetch<kWideV, kColumns, kWidth>(v, first_column, params.v[2], params.v[4], rows_of_v, thread);
  const auto fetch_rows = [&](u32 head, u32 first, u32 to) {
    const Rows q{(const Element*)b0, params.v[12] + batch * 0u + head * params.v[13], params.v[14], 1u},
        out{(const Element*)b3, params.v[19] + batch * 0u + head * params.v[20], params.v[21], 1u};
    fetch<kWideQ, kRows, kDepth>(q, first, end, params.v[3], to, thread);
    fetch<kWideOut, kRows, kWidth>(out, first, end, params.v[4], to + kBytesOfQ, thread);
    if (thread < kRows) {
      let row = min(first + thread, params.v[1] - 1u), bytes = first + thread < end ? 4u : 0u;
      let at = to + kBytesOfQ + kBytesOfOut + 4u * thread;
      tern_copy_word(at + 0u * kRows, (const f32*)b4 + (params.v[22] + batch * 0u + head * params.v[23] + row * 1u), bytes);
      tern_copy_word(at + 4u * kRows, (const f32*)b4 + (params.v[24] + batch * 0u + head * params.v[25] + row * 1u), bytes);
      tern_copy_word(at + 8u * kRows, (const f32*)b5 + (params.v[26] + batch * 0u + head * params.v[27] + row * 1u), bytes);
    }
  };
  // The first tile from there on of which something is seen, in the rows of this or a later one; sharer = shared: none.
  const auto seek = [&](u32& sharer, u32& first_row) {
    while (sharer < shared) {
      if (first_row >= end) { sharer += 1u, first_row = begin; continue; }
      return;
    }
  };
  u32 sharer = 0u, first_row = begin;
  seek(sharer, first_row);
  f32 sums_of_k[kBlocks][kDepth / 8u][4] = {}, sums_of_v[kBlocks][kWidth / 8u][4] = {};
  if (sharer < shared) fetch_rows(key_head * shared + sharer, first_row, stage);
  tern_commit();
#pragma unroll 1
  while (sharer < shared) {
    [[maybe_unused]] let head = key_head * shared + sharer;
    tern_wait_copies();
    __syncthreads();
    u32 next_sharer = sharer, next = first_row + kRows;
    seek(next_sharer, next);
    if (next_sharer < shared) fetch_rows(key_head * shared + next_sharer, next, other);
    tern_commit();
    f32 s[kBlocks][kAcross][4] = {}, g[kBlocks][kAcross][4] = {};
    [[maybe_unused]] let first = first_row + (lane & 3u) * 2u;
    if constexpr (kBegins) {  // what the formula adds to the products
      [[maybe_unused]] let ahead = 0u, own_row = 0u;
#pragma unroll
      for (u32 i = 0u; i < 2u * kBlocks; ++i) {
        let column = first_column + (warp * kBlocks + i / 2u) * 16u + 8u * (i % 2u) + lane / 4u;
        [[maybe_unused]] let at = min(column, params.v[2] - 1u);
        f32 along = 0.0f, begin = 0.0f;
#pragma unroll
        for (u32 j = 0u; j < 2u * kAcross; ++j)
          s[i / 2u][j / 2u][2u * (i % 2u) + j % 2u] = fma(along, f32(j / 2u * 8u + j % 2u), begin);
      }
    }
    multiply_rows<kBlocks, kAcross, kDepth>(s, rows_of_k, warp * 16u * kBlocks, stage, lane);
    if constexpr (kOfK)
      multiply_rows<kBlocks, kAcross, kWidth>(g, rows_of_v, warp * 16u * kBlocks, stage + kBytesOfQ, lane);
    const f32* const of_rows = (const f32*)(memory + (stage - rows_of_k) + kBytesOfQ + kBytesOfOut);
    const bool edge = first_row + kRows > end || first_column + kColumns > params.v[2] || i32(first_column + kColumns) > i32(first_row) + bitcast<i32>(params.v[8]) + 1;
#pragma unroll
    for (u32 j = 0u; j < 2u * kAcross; ++j) {
      [[maybe_unused]] let ahead = j / 2u * 8u + j % 2u;
      let row = first + ahead, in_tile = row - first_row;
      [[maybe_unused]] let own_row = min(row, params.v[1] - 1u);
      [[maybe_unused]] let middle = i32(row) + i32(params.v[8]);
      let total = of_rows[kRows + in_tile], mean = of_rows[2u * kRows + in_tile];
      let top = total == 0.0f ? tern_from_bits(0x7f800000u) : of_rows[in_tile] * 1.4426950408889634f;  // shares of 0
      let inverse = total == 0.0f ? 0.0f : tern_inverse(total);
#pragma unroll
      for (u32 i = 0u; i < kBlocks; ++i)
#pragma unroll
        for (u32 h = 0u; h < 2u; ++h) {
          let column = first_column + (warp * kBlocks + i) * 16u + 8u * h + lane / 4u;
          [[maybe_unused]] let at = min(column, params.v[2] - 1u);
          f32 &x = s[i][j / 2u][2u * h + j % 2u], &y = g[i][j / 2u][2u * h + j % 2u];
          f32 score;
          let x0 = bitcast<f32>(((u32*)b8)[params.v[32] + head]);
          let y1 = score_of(params, x, x0, bitcast<i32>(head), bitcast<i32>(first), bitcast<i32>(at), ahead);
          score = y1;
          var share = tern_power_of_two(fma(score, bitcast<f32>(params.v[11]), -top)) * inverse;
          [[maybe_unused]] f32 incoming = y;
          [[maybe_unused]] let toward = share * (incoming - mean);
          f32 slope;
          let y2 = slope_of(params, toward, ahead);
          slope = y2;
          y = slope;
          if (edge && !(row < params.v[1] && (column < params.v[2]) && (bitcast<i32>(column) <= middle))) { share = 0.0f, y = 0.0f; }
          x = share;
        }
    }
    if constexpr (kOfV) multiply_sums<kBlocks, kAcross, kWidth>(sums_of_v, s, stage + kBytesOfQ, lane, scratch);
    if constexpr (kOfK) multiply_sums<kBlocks, kAcross, kDepth>(sums_of_k, g, stage, lane, scratch);
    let used = stage;
    stage = other, other = used;
    sharer = next_sharer, first_row = next;
  }
  tern_wait_copies();
#pragma unroll
  for (u32 i = 0u; i < kBlocks; ++i)
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      let column = first_column + (warp * kBlocks + i) * 16u + 8u * h + lane / 4u;
      if constexpr (kOfK) {
        #pragma unroll
        for (u32 j = 0u; j < kDepth / 8u; j += 4u) {
          let x = tern_quad_row(&sums_of_k[i][j], h);
          let first = j * 8u + (lane & 3u) * 8u;
          if (column < params.v[2] && first < params.v[3]) {
            let w3 = (params.v[28] + column * params.v[29] + first) / 8u;
            b6[w3 + 0u] = vec4<u32>(tern_f32_pair_to_bf16((x.x[0] * (bitcast<f32>(params.v[10]) * bitcast<f32>(params.v[34]))), (x.x[1] * (bitcast<f32>(params.v[10]) * bitcast<f32>(params.v[34])))), tern_f32_pair_to_bf16((x.x[2] * (bitcast<f32>(params.v[10]) * bitcast<f32>(params.v[34]))), (x.x[3] * (bitcast<f32>(params.v[10]) * bitcast<f32>(params.v[34])))), tern_f32_pair_to_bf16((x.x[4] * (bitcast<f32>(params.v[10]) * bitcast<f32>(params.v[34]))), (x.x[5] * (bitcast<f32>(params.v[10]) * bitcast<f32>(params.v[34])))), tern_f32_pair_to_bf16((x.x[6] * (bitcast<f32>(params.v[10]) * bitcast<f32>(params.v[34]))), (x.x[7] * (bitcast<f32>(params.v[10]) * bitcast<f32>(params.v[34])))));
          }
        }
      }
      if constexpr (kOfV) {
        #pragma unroll
        for (u32 j = 0u; j < kWidth / 8u; j += 4u) {
          let x = tern_quad_row(&sums_of_v[i][j], h);
          let first = j * 8u + (lane & 3u) * 8u;
          if (column < params.v[2] && first < params.v[4]) {
            let w4 = (params.v[30] + column * params.v[31] + first) / 8u;
            b7[w4 + 0u] = vec4<u32>(tern_f32_pair_to_bf16((x.x[0]), (x.x[1])), tern_f32_pair_to_bf16((x.x[2]), (x.x[3])), tern_f32_pair_to_bf16((x.x[4]), (x.x[5])), tern_f32_pair_to_bf16((x.x[6]), (x.x[7])));
          }
        }
      }
    }
}

// ---- the gradients of attention: attention, 1 workgroups of 64, 13 words (2d8942ea)
// ---- scan: cumsum, 6 workgroups of 256, 8 words (d6c49bb4)
// ---- scan of short lines: cumsum, 8 workgroups of 256, 8 words
// scan, short lines
struct Params {
  u32 v[8];
};
TERN_DEVICE f32 combine(f32 v0, f32 v1) {
  let v2 = (v0 + v1);
  return v2;
}
extern "C" __global__ void __launch_bounds__(256) tern_kernel(const u32* __restrict__ b0, u32* __restrict__ b1, const __grid_constant__ Params params) {
  __shared__ f32 sums[256];
  let line = group * 128u + thread / 2u;
  let part = 0u;
  let place = thread % 2u;
  let begin = part * params.v[2];
  let end = min(begin + params.v[2], params.v[2]);
  var carry = f32();
  for (var start = begin; start < end; start += 2u * 4u) {
    var s0 = f32();
    var s1 = f32();
    var s2 = f32();
    var s3 = f32();
    let i0 = start + place * 4u + 0u;
    let line_at0 = i0;
    if (i0 < end && line < params.v[1]) {
      let x0 = bitcast<f32>(((u32*)b0)[params.v[4] + line * params.v[5] + line_at0]);
      s0 = x0;
    }
// … 2 more of these 6 lines (604dc6e0), and
    let i3 = start + place * 4u + 3u;
    let line_at3 = i3;
    if (i3 < end && line < params.v[1]) {
      let x3 = bitcast<f32>(((u32*)b0)[params.v[4] + line * params.v[5] + line_at3]);
      s3 = x3;
    }
    var sum = s0;
    sum = combine(sum, s1);
    s1 = sum;
    sum = combine(sum, s2);
    s2 = sum;
    sum = combine(sum, s3);
    s3 = sum;
    sums[thread] = sum;
    __syncthreads();
    var t1 = sums[thread];
    if (place >= 1u) { t1 = combine(sums[thread - 1u], t1); }
    __syncthreads();
    sums[thread] = t1;
    __syncthreads();
    var before = carry;
    if (place > 0u) { before = combine(carry, sums[thread - 1u]); }
    let y0 = combine(before, s0);
    let y1 = combine(before, s1);
    let y2 = combine(before, s2);
    let y3 = combine(before, s3);
    if (i0 < end && line < params.v[1]) {
      ((u32*)b1)[params.v[6] + line * params.v[7] + line_at0] = bitcast<u32>(y0);
    }
// … 2 more of these 3 lines (28277164), and
    if (i3 < end && line < params.v[1]) {
      ((u32*)b1)[params.v[6] + line * params.v[7] + line_at3] = bitcast<u32>(y3);
    }
    carry = combine(carry, sums[thread - place + 1u]);
    __syncthreads();
  }
}

// ---- scan of a long line: cumsum, 3 workgroups of 256, 9 words (a1c8b317)
// ---- scan of a long line: cumsum, 3 workgroups of 256, 10 words (18a0e3e9)
// ---- scan of columns: cumsum, 64 workgroups of 256, 8 words (b865acde)
// ---- sort: sort, 1 workgroups of 256, 9 words (4b519267)
// ---- sort: sort, 1 workgroups of 256, 14 words (2f65d469)
// ---- sort of a line: sort, 3 workgroups of 256, 11 words
// sort, tiles
TERN_DEVICE u32 tern_sort_key(f32 x) {
  let bits = bitcast<u32>(x);
  let magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) { return 0xffffffffu; }
  if (magnitude == 0u) { return 0x80000000u; }
  return select(bits | 0x80000000u, ~bits, bits > 0x80000000u);
}
TERN_DEVICE u32 tern_sum_up_to(u32 value, u32* sums, u32 thread) {
  const u32 lane = thread & 31u, warp = thread >> 5;
  u32 sum = value;
#pragma unroll
  for (u32 distance = 1; distance < 32u; distance *= 2) {
    const u32 other = __shfl_up_sync(0xffffffffu, sum, distance);
    if (lane >= distance) sum += other;
  }
  if (lane == 31u) sums[warp] = sum;
  __syncthreads();
  u32 before = 0u;
#pragma unroll
  for (u32 w = 0; w < 8u; ++w) before += w < warp ? sums[w] : 0u;
  __syncthreads();
  return before + sum;
}
/// Of each element its digit, in the 8 high bits, and its rank: one register.
template <int each> struct Ranks {
  u32 word[each];
  __device__ __forceinline__ u32 digit(int e) const { return word[e] >> 24; }
  __device__ __forceinline__ u32 rank(int e) const { return word[e] & 0xffffffu; }
};
/// The warp's 256 words `mine` become its counts, and rank(e) an element's place among those of its digit in the warp.
template <int each> TERN_DEVICE void tern_rank_in_warp(Ranks<each>& r, u32* mine, u32 lane) {
  const u32 below = (1u << lane) - 1u;
#pragma unroll
  for (u32 i = 0; i < 256u; i += 32u) mine[i + lane] = 0u;
  __syncwarp();
#pragma unroll
  for (int e = 0; e < each; ++e) {
    const u32 digit = r.digit(e);
    u32 same = 0xffffffffu;
#pragma unroll
    for (int bit = 0; bit < 8; ++bit) {
      const bool set = (digit >> bit) & 1u;
      const u32 vote = __ballot_sync(0xffffffffu, set);
      same &= set ? vote : ~vote;
    }
    const u32 before = u32(__popc(same & below)), so_far = mine[digit];
    __syncwarp();
    if (before == 0u) mine[digit] = so_far + u32(__popc(same));
    __syncwarp();
    r.word[e] += so_far + before;
  }
}
/// `counts`: 8 * 256 words; `sums`: 8. Afterwards rank(e) is the element's place in the tile sorted by this digit.
template <int each> TERN_DEVICE void tern_rank(Ranks<each>& r, u32* counts, u32* sums, u32 thread) {
  u32* const mine = counts + (thread >> 5) * 256u;
  tern_rank_in_warp(r, mine, thread & 31u);
  __syncthreads();
  u32 total = 0u;
  for (u32 w = 0; w < 8; ++w) {
    const u32 count = counts[w * 256u + thread];
    counts[w * 256u + thread] = total, total += count;
  }
  const u32 less = tern_sum_up_to(total, sums, thread) - total;
  for (u32 w = 0; w < 8; ++w) counts[w * 256u + thread] += less;
  __syncthreads();
#pragma unroll
  for (int e = 0; e < each; ++e) r.word[e] += mine[r.digit(e)];
}
/// Sorts `here` elements, in a tile, by all digits of their keys: staged[i] becomes the i-th element's bits, places[i]
/// where it stood.
template <int bits, int each, class Word, class Key>
TERN_DEVICE void tern_sort_tile(Word* staged, u16* places, u32 here, u32 thread, u32* counts, u32* sums, Key key) {
  const u32 first = (thread >> 5) * 32u * each + (thread & 31u);
  Word mine[each];
  u32 place[each];
  Ranks<each> r;
#pragma unroll
  for (int e = 0; e < each; ++e) {
    const u32 at = first + e * 32u;
    mine[e] = at < here ? staged[at] : Word(0), place[e] = at;
  }
#pragma unroll 1
  for (int shift = 0; shift < bits; shift += 8) {
#pragma unroll
    for (int e = 0; e < each; ++e)
      r.word[e] = (first + e * 32u < here ? u32(key(mine[e]) >> shift) & 255u : 255u) << 24;
    tern_rank(r, counts, sums, thread);
    __syncthreads();
#pragma unroll
    for (int e = 0; e < each; ++e) staged[r.rank(e)] = mine[e], places[r.rank(e)] = u16(place[e]);
    __syncthreads();
    if (shift + 8 >= bits) break;
#pragma unroll
    for (int e = 0; e < each; ++e) mine[e] = staged[first + e * 32u], place[e] = places[first + e * 32u];
  }
}
TERN_DEVICE u32 key_of(u32 w, u32 flip) {
  return tern_sort_key(bitcast<f32>(w)) ^ flip;
}
extern "C" __global__ void __launch_bounds__(256) tern_kernel(const vec4<u32>* __restrict__ b0, vec4<u32>* __restrict__ b1, vec4<u32>* __restrict__ b2, const __grid_constant__ Params params) {
  __shared__ u32 staged[4096];
  __shared__ u16 places[4096];
  __shared__ u32 counts[2048];
  __shared__ u32 sums[256];
  if (group >= params.v[1]) { return; }
  for (var i = thread * 4u; i < params.v[2]; i += 256u * 4u) {
    let w0 = (params.v[4] + group * params.v[5] + i) / 4u;
    let q1 = b0[w0 + 0u];
    let x2 = bitcast<f32>(q1.x);
    let x3 = bitcast<f32>(q1.y);
    let x4 = bitcast<f32>(q1.z);
    let x5 = bitcast<f32>(q1.w);
    staged[i + 0u] = bitcast<u32>(x2);
    staged[i + 1u] = bitcast<u32>(x3);
    staged[i + 2u] = bitcast<u32>(x4);
    staged[i + 3u] = bitcast<u32>(x5);
  }
  __syncthreads();
  tern_sort_tile<32, 16>(staged, places, params.v[2], thread, counts, sums,
                                        [&](u32 w) { return key_of(w, params.v[10]); });
  for (var i = thread * 4u; i < params.v[2]; i += 256u * 4u) {
    let w6 = (params.v[6] + group * params.v[7] + i) / 4u;
    b1[w6 + 0u] = vec4<u32>(bitcast<u32>(bitcast<f32>(staged[i + 0u])), bitcast<u32>(bitcast<f32>(staged[i + 1u])), bitcast<u32>(bitcast<f32>(staged[i + 2u])), bitcast<u32>(bitcast<f32>(staged[i + 3u])));
    let w7 = (params.v[8] + group * params.v[9] + i) / 4u;
    b2[w7 + 0u] = vec4<u32>(bitcast<u32>(i32(places[i + 0u])), bitcast<u32>(i32(places[i + 1u])), bitcast<u32>(i32(places[i + 2u])), bitcast<u32>(i32(places[i + 3u])));
  }
}

// ---- sort of a long line: sort, 5 workgroups of 256, 4 words
// sort, no digits yet
struct Params {
  u32 v[4];
};
extern "C" __global__ void __launch_bounds__(256) tern_kernel(u32* __restrict__ b0, const __grid_constant__ Params params) {
  if (group * 256u + thread < params.v[2]) { b0[group * 256u + thread] = 0u; }
}

// ---- sort of a long line: sort, 32 workgroups of 256, 9 words
// sort, totals of digits
extern "C" __global__ void __launch_bounds__(256) tern_kernel(const u32* __restrict__ b0, u32* __restrict__ b1, u32* __restrict__ b2, const __grid_constant__ Params params) {
  __shared__ u32 counts[1024];
  if (group >= params.v[2] * params.v[3]) { return; }
  let line = group / params.v[3];
  let begin = (group - line * params.v[3]) * 16384u;
  let end = min(params.v[4], begin + 16384u);
  atomicStore(&counts[0u * 256u + thread], 0u);
  atomicStore(&counts[1u * 256u + thread], 0u);
  atomicStore(&counts[2u * 256u + thread], 0u);
  atomicStore(&counts[3u * 256u + thread], 0u);
  for (var i = group * 256u + thread; i < params.v[5]; i += params.v[2] * params.v[3] * 256u) { ((u64*)b2 + params.v[8])[i] = 0ull; }
  __syncthreads();
  for (var i = begin + thread; i < end; i += 1024u) {
    let key0 = key_of(b0[params.v[6] + line * params.v[4] + min(i + 0u, end - 1u)], params.v[1]);
    let key256 = key_of(b0[params.v[6] + line * params.v[4] + min(i + 256u, end - 1u)], params.v[1]);
    let key512 = key_of(b0[params.v[6] + line * params.v[4] + min(i + 512u, end - 1u)], params.v[1]);
    let key768 = key_of(b0[params.v[6] + line * params.v[4] + min(i + 768u, end - 1u)], params.v[1]);
    if (i + 0u < end) {
      atomicAdd(&counts[0u * 256u + (u32(key0 >> (8u * 0u)) & 255u)], 1u);
      atomicAdd(&counts[1u * 256u + (u32(key0 >> (8u * 1u)) & 255u)], 1u);
      atomicAdd(&counts[2u * 256u + (u32(key0 >> (8u * 2u)) & 255u)], 1u);
      atomicAdd(&counts[3u * 256u + (u32(key0 >> (8u * 3u)) & 255u)], 1u);
    }
// … 2 more of these 6 lines (c8e74af2), and
    if (i + 768u < end) {
      atomicAdd(&counts[0u * 256u + (u32(key768 >> (8u * 0u)) & 255u)], 1u);
      atomicAdd(&counts[1u * 256u + (u32(key768 >> (8u * 1u)) & 255u)], 1u);
      atomicAdd(&counts[2u * 256u + (u32(key768 >> (8u * 2u)) & 255u)], 1u);
      atomicAdd(&counts[3u * 256u + (u32(key768 >> (8u * 3u)) & 255u)], 1u);
    }
  }
  __syncthreads();
  let count0 = atomicLoad(&counts[0u * 256u + thread]);
  if (count0 != 0u) { atomicAdd(&b1[(0u * params.v[2] + line) * 256u + thread], count0); }
// … 2 more of these 2 lines (e2cb3dec), and
  let count3 = atomicLoad(&counts[3u * 256u + thread]);
  if (count3 != 0u) { atomicAdd(&b1[(3u * params.v[2] + line) * 256u + thread], count3); }
}

// ---- sort of a long line: sort, 4 workgroups of 256, 4 words
// sort, starts of digits
/// Of each element its digit, in the 8 high bits, and its rank: one register.
/// The warp's 256 words `mine` become its counts, and rank(e) an element's place among those of its digit in the warp.
/// `counts`: 8 * 256 words; `sums`: 8. Afterwards rank(e) is the element's place in the tile sorted by this digit.
/// Sorts `here` elements, in a tile, by all digits of their keys: staged[i] becomes the i-th element's bits, places[i]
/// where it stood.
extern "C" __global__ void __launch_bounds__(256) tern_kernel(u32* __restrict__ b0, const __grid_constant__ Params params) {
  __shared__ u32 sums[256];
  if (group >= params.v[2]) { return; }
  u32* const totals = (u32*)b0 + params.v[3];
  const u32 total = totals[group * 256u + thread];
  totals[group * 256u + thread] = tern_sum_up_to(total, sums, thread) - total;
}

// ---- sort of a long line: sort, 128 workgroups of 256, 12 words
// sort, sweep by digits
/// Of each element its digit, in the 8 high bits, and its rank: one register.
/// The warp's 256 words `mine` become its counts, and rank(e) an element's place among those of its digit in the warp.
/// `counts`: 8 * 256 words; `sums`: 8. Afterwards rank(e) is the element's place in the tile sorted by this digit.
/// Sorts `here` elements, in a tile, by all digits of their keys: staged[i] becomes the i-th element's bits, places[i]
/// where it stood.
TERN_DEVICE void tern_say_own(volatile u64* state, u32 block, u32 own, u32 pass) {
  *state = u64(2u * pass + (block == 0u ? 2u : 1u)) << 32 | own;
}
/// How many the blocks before it have.
TERN_DEVICE u32 tern_look_back(volatile u64* state, u32 block, u32 own, u32 pass) {
  if (block == 0u) return 0u;
  const u32 has_own = 2u * pass + 1u, has_all = has_own + 1u;
  u32 before = 0u;
  for (const volatile u64* other = state - 256;; other -= 256) {
    u64 seen;
    do { seen = *other; } while (u32(seen >> 32) < has_own);
    before += u32(seen);
    if (u32(seen >> 32) == has_all) break;
  }
  *state = u64(has_all) << 32 | (before + own);
  return before;
}
/// `starts`: of the line's digits in it. counts: 8 · 256 words, a warp's after another's; sums: 256.
template <class Word, int each, class Key>
TERN_DEVICE void tern_sweep(const Word* bits, const u32* places, Word* to_bits, u32* to_places, const u32* starts,
                            u64* states, u32 block, u32 pass, u32 line_begin, u32 n, u32 thread, u32* counts,
                            u32* sums, Word* staged, Key digit_of) {
  constexpr u32 kThreads = 256u, kTile = kThreads * each, kWarps = kThreads / 32u;
  const u32 begin = block * kTile, here = min(n - begin, kTile), lane = thread & 31u, warp = thread >> 5;
  const u32 first = warp * 32u * each + lane;
  bits += line_begin + begin;
  Word mine[each];
  Ranks<each> r;
#pragma unroll
  for (int e = 0; e < each; ++e) mine[e] = first + e * 32u < here ? bits[first + e * 32u] : Word(0);
#pragma unroll
  for (int e = 0; e < each; ++e) r.word[e] = (first + e * 32u < here ? digit_of(mine[e]) : 255u) << 24;
  tern_rank_in_warp(r, counts + warp * 256u, lane);
  __syncthreads();
  u32 total = 0u;
  for (u32 w = 0; w < kWarps; ++w) {
    const u32 count = counts[w * 256u + thread];
    counts[w * 256u + thread] = total, total += count;
  }
  const u32 own = thread == 255u ? total - (kTile - here) : total;  // those behind the end have the last digit
  volatile u64* const state = states + block * 256ull + thread;
  tern_say_own(state, block, own, pass);
  const u32 less = tern_sum_up_to(total, sums, thread) - total;
  for (u32 w = 0; w < kWarps; ++w) counts[w * 256u + thread] += less;
  __syncthreads();
#pragma unroll
  for (int e = 0; e < each; ++e) r.word[e] += counts[warp * 256u + r.digit(e)], staged[r.rank(e)] = mine[e];
  sums[thread] = line_begin + starts[thread] + tern_look_back(state, block, own, pass) - less;
  __syncthreads();
  u32 to[each];
#pragma unroll
  for (int e = 0; e < each; ++e) {
    const u32 at = e * kThreads + thread;
    if (at >= here) continue;
    const Word word = staged[at];
    to[e] = sums[digit_of(word)] + at;
    if (to_bits) to_bits[to[e]] = word;
  }
  if (!to_places) return;
  __syncthreads();
  u32* const staged_places = (u32*)staged;
#pragma unroll
  for (int e = 0; e < each; ++e) {
    const u32 at = first + e * 32u;
    staged_places[r.rank(e)] = places && at < here ? places[line_begin + begin + at] : begin + at;
  }
  __syncthreads();
#pragma unroll
  for (int e = 0; e < each; ++e)
    if (e * kThreads + thread < here) to_places[to[e]] = staged_places[e * kThreads + thread];
}
extern "C" __global__ void __launch_bounds__(256) tern_kernel(const u32* __restrict__ b0, u32* __restrict__ b1, u32* __restrict__ b2, u32* __restrict__ b3, u32* __restrict__ b4, const __grid_constant__ Params params) {
  __shared__ u32 counts[2048];
  __shared__ u32 sums[256];
  __shared__ u32 staged[4096];
  if (group >= params.v[2] * params.v[3]) { return; }
  u32* const totals = (u32*)b1 + params.v[8];
  if (thread == 0u) sums[255] = atomicAdd(&totals[params.v[6] + params.v[5]], 1u);
  __syncthreads();
  const u32 ticket = sums[255], line = ticket / params.v[3];
  __syncthreads();
  tern_sweep<u32, 16>(
      (const u32*)b0 + params.v[7], (const u32*)0, (u32*)b3 + params.v[10], (u32*)b4 + params.v[11], totals + (params.v[5] * params.v[2] + line) * 256u, (u64*)b2 + params.v[9] + line * params.v[3] * 256ull,
      ticket - line * params.v[3], params.v[5], line * params.v[4], params.v[4], thread, counts, sums, staged,
      [&](u32 w) { return u32(key_of(w, params.v[1]) >> (8u * params.v[5])) & 255u; });
}

// ---- sort of halves, read and written: sort, 5 workgroups of 256, 8 words (3679fcd9)
// ---- sort of halves, read and written: sort, 5 workgroups of 256, 12 words (53acf588)
// ---- order of booleans: argsort, 3 workgroups of 128, 7 words (be869c8c)
// ---- order of booleans: argsort, 3 workgroups of 128, 9 words (73daf7a4)
// ---- ranks in a long line: quantile, 1 workgroups of 256, 11 words (99d0c096)
// ---- ranks in a long line: quantile, 2 workgroups of 256, 10 words (d92a6a4d)
// ---- ranks in a long line: quantile, 1 workgroups of 256, 9 words (3be10a98)
// ---- ranks in a long line: quantile, 2 workgroups of 256, 8 words (8e8ce3fd)
// ---- ranks in a long line: quantile, 3 workgroups of 256, 10 words (54d21679)
// ---- the first of a line: topk, 13 workgroups of 256, 11 words (1c8dabd1)
// ---- scatter: scatter_add, 1 workgroups of 256, 18 words (dfa67ce8)
// ---- scatter to many: scatter_add, 12 workgroups of 256, 8 words (604d163c)
// ---- scatter to many: scatter_add, 1 workgroups of 256, 14 words (0f02d74b)
// ---- scatter of rows to more: scatter_add, 12 workgroups of 256, 15 words (534e932a)
// ---- scatter of many to few: scatter_add, 9 workgroups of 256, 14 words (12c39b71)
// ---- scatter with a table for each line: scatter_add, 16 workgroups of 128, 16 words
// scatter, neighbouring lines
struct Params {
  u32 v[16];
};
extern "C" __global__ void __launch_bounds__(128) tern_kernel(u32* __restrict__ b0, const u32* __restrict__ b1, const u32* __restrict__ b2, u32* __restrict__ b3, const u32* __restrict__ b4, const __grid_constant__ Params params) {
  extern __shared__ u64 shared_words[];
  f32* const results = (f32*)shared_words;
  f32* const values = results + 4u * 1032u;
  u32* const places = (u32*)(values + 4u * 72u);
  const u32 lane = thread & 31u, mine = thread >> 5, column = thread % 4u, row = thread / 4u;
  const u32 line = group * 4u + column;
  const bool inside = line < params.v[3];
  if (inside) {
    for (u32 k = row; k < params.v[2]; k += 32u) {
      let x0 = bitcast<f32>(((u32*)b4)[params.v[14] + line + k * params.v[15]]);
      results[column * 1032u + k] = x0;
    }
  }
  f32* const own = results + mine * 1032u;
  u32 next_place[2];
  f32 next_value[2];
  for (u32 begin = 0u; begin < params.v[1] + 64u; begin += 64u) {
    if (begin > 0u) {
      __syncthreads();
      places[column * 72u + 0u * 32u + row] = next_place[0];
      values[column * 72u + 0u * 32u + row] = next_value[0];
      places[column * 72u + 1u * 32u + row] = next_place[1];
      values[column * 72u + 1u * 32u + row] = next_value[1];
      __syncthreads();
    }
    next_place[0] = 0x80000000u;
    if (inside && begin + 0u * 32u + row < params.v[1]) {
      let j = begin + 0u * 32u + row;
      let index = bitcast<i32>(((u32*)b2)[params.v[10] + line + j * params.v[11]]);
      next_place[0] = bitcast<u32>(index) + select(0u, params.v[2], index < 0);
      let x1 = bitcast<f32>(((u32*)b1)[params.v[8] + line + j * params.v[9]]);
      next_value[0] = x1;
    }
    next_place[1] = 0x80000000u;
    if (inside && begin + 1u * 32u + row < params.v[1]) {
      let j = begin + 1u * 32u + row;
      let index = bitcast<i32>(((u32*)b2)[params.v[10] + line + j * params.v[11]]);
      next_place[1] = bitcast<u32>(index) + select(0u, params.v[2], index < 0);
      let x2 = bitcast<f32>(((u32*)b1)[params.v[8] + line + j * params.v[9]]);
      next_value[1] = x2;
    }
    if (begin > 0u) {
  #pragma unroll
      for (u32 e = 0u; e < 2u; ++e) {
        const u32 place = places[mine * 72u + e * 32u + lane];
        const f32 value = values[mine * 72u + e * 32u + lane];
        if (place >= params.v[2] && place != 0x80000000u) {
          let index = bitcast<i32>(place - select(0u, params.v[2], place > 0x80000000u));
          if (atomicCAS(&b3[0], 0u, params.v[13]) == 0u) { b3[1] = u32(index); }
        }
        {
          const bool there = place < params.v[2];
          f32 old = f32();
          if (there) { old = own[place]; }
          __syncwarp();
          if (there) { own[place] = f32(lane); }
          __syncwarp();
          const bool alone = !there || own[place] == f32(lane);
          if (__all_sync(0xffffffffu, alone)) {
            if (there) { own[place] = combine(old, value); }
            __syncwarp();
          } else {
            if (there) { own[place] = old; }
            __syncwarp();
            const u32 same = __match_any_sync(0xffffffffu, place);
            const u32 before = u32(__popc(same & ((1u << lane) - 1u)));
            for (u32 now = 0u; __any_sync(0xffffffffu, there && before >= now); ++now) {
              if (there && before == now) { own[place] = combine(own[place], value); }
              __syncwarp();
            }
          }
        }
      }
    }
  }
  __syncthreads();
  if (inside) {
    for (u32 k = row; k < params.v[2]; k += 32u) {
      ((u32*)b0)[params.v[6] + line + k * params.v[7]] = bitcast<u32>(results[column * 1032u + k]);
    }
  }
}

// ---- scatter with a table for each line, whose entries lie together: scatter_add, 64 workgroups of 32, 16 words
// scatter, lines
extern "C" __global__ void __launch_bounds__(32) tern_kernel(u32* __restrict__ b0, const u32* __restrict__ b1, const u32* __restrict__ b2, u32* __restrict__ b3, const u32* __restrict__ b4, const __grid_constant__ Params params) {
  __shared__ f32 sums[1024];
  const u32 lane = thread;
  f32* const own = sums;
  for (u32 k = thread; k < params.v[2]; k += 32u) {
    let x0 = bitcast<f32>(((u32*)b4)[params.v[14] + group * params.v[15] + k]);
    sums[k] = x0;
  }
  __syncwarp();
  var place0 = 0x80000000u;
  var value0 = f32();
// … 2 more of these 2 lines (0dfb45f3), and
  var place3 = 0x80000000u;
  var value3 = f32();
  for (u32 start = 0u; start < params.v[1]; start += 4u * 32u) {
    place0 = 0x80000000u;
    {
      let j = start + 0u * 32u + lane;
      if (true && j < params.v[1]) {
        let index = bitcast<i32>(((u32*)b2)[params.v[10] + group * params.v[11] + j]);
        place0 = bitcast<u32>(index) + select(0u, params.v[2], index < 0);
        let x1 = bitcast<f32>(((u32*)b1)[params.v[8] + group * params.v[9] + j]);
        value0 = x1;
      }
    }
// … 2 more of these 10 lines (32f4feb7), and
    place3 = 0x80000000u;
    {
      let j = start + 3u * 32u + lane;
      if (true && j < params.v[1]) {
        let index = bitcast<i32>(((u32*)b2)[params.v[10] + group * params.v[11] + j]);
        place3 = bitcast<u32>(index) + select(0u, params.v[2], index < 0);
        let x4 = bitcast<f32>(((u32*)b1)[params.v[8] + group * params.v[9] + j]);
        value3 = x4;
      }
    }
    {
      const u32 place = place0;
      const f32 value = value0;
      if (place >= params.v[2] && place != 0x80000000u) {
        let index = bitcast<i32>(place - select(0u, params.v[2], place > 0x80000000u));
        if (atomicCAS(&b3[0], 0u, params.v[13]) == 0u) { b3[1] = u32(index); }
      }
      {
        const bool there = place < params.v[2];
        f32 old = f32();
        if (there) { old = own[place]; }
        __syncwarp();
        if (there) { own[place] = f32(lane); }
        __syncwarp();
        const bool alone = !there || own[place] == f32(lane);
        if (__all_sync(0xffffffffu, alone)) {
          if (there) { own[place] = combine(old, value); }
          __syncwarp();
        } else {
          if (there) { own[place] = old; }
          __syncwarp();
          const u32 same = __match_any_sync(0xffffffffu, place);
          const u32 before = u32(__popc(same & ((1u << lane) - 1u)));
          for (u32 now = 0u; __any_sync(0xffffffffu, there && before >= now); ++now) {
            if (there && before == now) { own[place] = combine(own[place], value); }
            __syncwarp();
          }
        }
      }
    }
    {
      const u32 place = place1;
      const f32 value = value1;
      if (place >= params.v[2] && place != 0x80000000u) {
        let index = bitcast<i32>(place - select(0u, params.v[2], place > 0x80000000u));
        if (atomicCAS(&b3[0], 0u, params.v[13]) == 0u) { b3[1] = u32(index); }
      }
      {
        const bool there = place < params.v[2];
        f32 old = f32();
        if (there) { old = own[place]; }
        __syncwarp();
        if (there) { own[place] = f32(lane); }
        __syncwarp();
        const bool alone = !there || own[place] == f32(lane);
        if (__all_sync(0xffffffffu, alone)) {
          if (there) { own[place] = combine(old, value); }
          __syncwarp();
        } else {
          if (there) { own[place] = old; }
          __syncwarp();
          const u32 same = __match_any_sync(0xffffffffu, place);
          const u32 before = u32(__popc(same & ((1u << lane) - 1u)));
          for (u32 now = 0u; __any_sync(0xffffffffu, there && before >= now); ++now) {
            if (there && before == now) { own[place] = combine(own[place], value); }
            __syncwarp();
          }
        }
      }
    }
    {
      const u32 place = place2;
      const f32 value = value2;
      if (place >= params.v[2] && place != 0x80000000u) {
        let index = bitcast<i32>(place - select(0u, params.v[2], place > 0x80000000u));
        if (atomicCAS(&b3[0], 0u, params.v[13]) == 0u) { b3[1] = u32(index); }
      }
      {
        const bool there = place < params.v[2];
        f32 old = f32();
        if (there) { old = own[place]; }
        __syncwarp();
        if (there) { own[place] = f32(lane); }
        __syncwarp();
        const bool alone = !there || own[place] == f32(lane);
        if (__all_sync(0xffffffffu, alone)) {
          if (there) { own[place] = combine(old, value); }
          __syncwarp();
        } else {
          if (there) { own[place] = old; }
          __syncwarp();
          const u32 same = __match_any_sync(0xffffffffu, place);
          const u32 before = u32(__popc(same & ((1u << lane) - 1u)));
          for (u32 now = 0u; __any_sync(0xffffffffu, there && before >= now); ++now) {
            if (there && before == now) { own[place] = combine(own[place], value); }
            __syncwarp();
          }
        }
      }
    }
    {
      const u32 place = place3;
      const f32 value = value3;
      if (place >= params.v[2] && place != 0x80000000u) {
        let index = bitcast<i32>(place - select(0u, params.v[2], place > 0x80000000u));
        if (atomicCAS(&b3[0], 0u, params.v[13]) == 0u) { b3[1] = u32(index); }
      }
      {
        const bool there = place < params.v[2];
        f32 old = f32();
        if (there) { old = own[place]; }
        __syncwarp();
        if (there) { own[place] = f32(lane); }
        __syncwarp();
        const bool alone = !there || own[place] == f32(lane);
        if (__all_sync(0xffffffffu, alone)) {
          if (there) { own[place] = combine(old, value); }
          __syncwarp();
        } else {
          if (there) { own[place] = old; }
          __syncwarp();
          const u32 same = __match_any_sync(0xffffffffu, place);
          const u32 before = u32(__popc(same & ((1u << lane) - 1u)));
          for (u32 now = 0u; __any_sync(0xffffffffu, there && before >= now); ++now) {
            if (there && before == now) { own[place] = combine(own[place], value); }
            __syncwarp();
          }
        }
      }
    }
  }
  for (u32 k = thread; k < params.v[2]; k += 32u) {
    ((u32*)b0)[params.v[6] + group * params.v[7] + k] = bitcast<u32>(sums[k]);
  }
}

// ---- scatter of integers: scatter_add, 1 workgroups of 512, 13 words
// scatter, integers in tables
extern "C" __global__ void __launch_bounds__(512) tern_kernel(u32* __restrict__ b0, const u32* __restrict__ b1, const u32* __restrict__ b2, u32* __restrict__ b3, const __grid_constant__ Params params) {
  __shared__ u32 sums[2048];
  let line = group / params.v[4];
  if (line >= params.v[1]) { return; }
  let begin = (group - line * params.v[4]) * params.v[5];
  let end = min(begin + params.v[5], params.v[3]);
  let copy = thread & (params.v[6] - 1u);
  for (var at = thread; at < params.v[2] * params.v[6]; at += 512u) {
    atomicStore(&sums[at + 0u * 2048u], 0u);
  }
  __syncthreads();
  var place0 = 0x80000000u;
  var value0 = i32();
// … 2 more of these 2 lines (0672c17f), and
  var place3 = 0x80000000u;
  var value3 = i32();
  for (var start = begin; start < end; start += 4u * 512u) {
    place0 = 0x80000000u;
    {
      let j = start + 0u * 512u + thread;
      if (true && j < end) {
        let index = bitcast<i32>(((u32*)b2)[params.v[10] + j]);
        place0 = bitcast<u32>(index) + select(0u, params.v[2], index < 0);
        let x0 = bitcast<i32>(((u32*)b1)[params.v[9] + j]);
        value0 = x0;
      }
    }
// … 2 more of these 10 lines (2e915b63), and
    place3 = 0x80000000u;
    {
      let j = start + 3u * 512u + thread;
      if (true && j < end) {
        let index = bitcast<i32>(((u32*)b2)[params.v[10] + j]);
        place3 = bitcast<u32>(index) + select(0u, params.v[2], index < 0);
        let x3 = bitcast<i32>(((u32*)b1)[params.v[9] + j]);
        value3 = x3;
      }
    }
    if (place0 < params.v[2]) {
      let at = place0 * params.v[6] + copy;
      atomicAdd(&sums[at], bitcast<u32>(value0));
    }
    if (place0 >= params.v[2] && place0 != 0x80000000u) {
      let index = bitcast<i32>(place0 - select(0u, params.v[2], place0 > 0x80000000u));
      if (atomicCAS(&b3[0], 0u, params.v[12]) == 0u) { b3[1] = u32(index); }
    }
// … 2 more of these 8 lines (6e59805a), and
    if (place3 < params.v[2]) {
      let at = place3 * params.v[6] + copy;
      atomicAdd(&sums[at], bitcast<u32>(value3));
    }
    if (place3 >= params.v[2] && place3 != 0x80000000u) {
      let index = bitcast<i32>(place3 - select(0u, params.v[2], place3 > 0x80000000u));
      if (atomicCAS(&b3[0], 0u, params.v[12]) == 0u) { b3[1] = u32(index); }
    }
  }
  __syncthreads();
  for (var place = thread; place < params.v[2]; place += 512u) {
    var sum = u32();
    for (var c = 0u; c < params.v[6]; c += 1u) {
      let at = place * params.v[6] + ((place + c) & (params.v[6] - 1u));
      sum += atomicLoad(&sums[at]);
    }
    if (sum != u32()) {
      let to = params.v[8] + place;
      atomicAdd(&((u32*)b0)[to], sum);
    }
  }
}

// ---- scatter of integers of 64 bits: scatter_add, 1 workgroups of 512, 13 words
// scatter, integers of 64 bits in tables
extern "C" __global__ void __launch_bounds__(512) tern_kernel(u32* __restrict__ b0, const u32* __restrict__ b1, const u32* __restrict__ b2, u32* __restrict__ b3, const __grid_constant__ Params params) {
  __shared__ u32 sums[4096];
  let line = group / params.v[4];
  if (line >= params.v[1]) { return; }
  let begin = (group - line * params.v[4]) * params.v[5];
  let end = min(begin + params.v[5], params.v[3]);
  let copy = thread & (params.v[6] - 1u);
  for (var at = thread; at < params.v[2] * params.v[6]; at += 512u) {
    atomicStore(&sums[at + 0u * 2048u], 0u);
    atomicStore(&sums[at + 1u * 2048u], 0u);
  }
  __syncthreads();
  var place0 = 0x80000000u;
  var value0 = i64();
// … 2 more of these 2 lines (9a9fbfef), and
  var place3 = 0x80000000u;
  var value3 = i64();
  for (var start = begin; start < end; start += 4u * 512u) {
    place0 = 0x80000000u;
    {
      let j = start + 0u * 512u + thread;
      if (true && j < end) {
        let index = bitcast<i32>(((u32*)b2)[params.v[10] + j]);
        place0 = bitcast<u32>(index) + select(0u, params.v[2], index < 0);
        let x0 = bitcast<i64>(((u64*)b1)[params.v[9] + j]);
        value0 = x0;
      }
    }
// … 2 more of these 10 lines (23923a53), and
    place3 = 0x80000000u;
    {
      let j = start + 3u * 512u + thread;
      if (true && j < end) {
        let index = bitcast<i32>(((u32*)b2)[params.v[10] + j]);
        place3 = bitcast<u32>(index) + select(0u, params.v[2], index < 0);
        let x3 = bitcast<i64>(((u64*)b1)[params.v[9] + j]);
        value3 = x3;
      }
    }
    if (place0 < params.v[2]) {
      let at = place0 * params.v[6] + copy;
      let low = u32(value0);
      let before = atomicAdd(&sums[at], low);
      let high = u32(u64(value0) >> 32u) + select(0u, 1u, before + low < low);
      if (high != 0u) { atomicAdd(&sums[at + 2048u], high); }
    }
    if (place0 >= params.v[2] && place0 != 0x80000000u) {
      let index = bitcast<i32>(place0 - select(0u, params.v[2], place0 > 0x80000000u));
      if (atomicCAS(&b3[0], 0u, params.v[12]) == 0u) { b3[1] = u32(index); }
    }
// … 2 more of these 11 lines (1ab79ff1), and
    if (place3 < params.v[2]) {
      let at = place3 * params.v[6] + copy;
      let low = u32(value3);
      let before = atomicAdd(&sums[at], low);
      let high = u32(u64(value3) >> 32u) + select(0u, 1u, before + low < low);
      if (high != 0u) { atomicAdd(&sums[at + 2048u], high); }
    }
    if (place3 >= params.v[2] && place3 != 0x80000000u) {
      let index = bitcast<i32>(place3 - select(0u, params.v[2], place3 > 0x80000000u));
      if (atomicCAS(&b3[0], 0u, params.v[12]) == 0u) { b3[1] = u32(index); }
    }
  }
  __syncthreads();
  for (var place = thread; place < params.v[2]; place += 512u) {
    var sum = u64();
    for (var c = 0u; c < params.v[6]; c += 1u) {
      let at = place * params.v[6] + ((place + c) & (params.v[6] - 1u));
      sum += u64(sums[at]) + (u64(sums[at + 2048u]) << 32u);
    }
    if (sum != u64()) {
      let to = params.v[8] + place;
      atomicAdd(&((u64*)b0)[to], sum);
    }
  }
}

// ---- scatter of integers to many: scatter_add, 3 workgroups of 256, 10 words
// scatter, integers in memory
extern "C" __global__ void __launch_bounds__(256) tern_kernel(u32* __restrict__ b0, const u32* __restrict__ b1, const u32* __restrict__ b2, u32* __restrict__ b3, const __grid_constant__ Params params) {
  var place0 = 0x80000000u;
  var value0 = i32();
  var to0 = 0u;
  {
    let j = (group * 4u + 0u) * 256u + thread;
    if (j < params.v[3]) {
      let index = bitcast<i32>(((u32*)b2)[params.v[7] + j]);
      place0 = bitcast<u32>(index) + select(0u, params.v[2], index < 0);
      let x0 = bitcast<i32>(((u32*)b1)[params.v[6] + j]);
      value0 = x0;
      to0 = params.v[5] + place0;
    }
  }
// … 2 more of these 13 lines (8803ae8f), and
  var place3 = 0x80000000u;
  var value3 = i32();
  var to3 = 0u;
  {
    let j = (group * 4u + 3u) * 256u + thread;
    if (j < params.v[3]) {
      let index = bitcast<i32>(((u32*)b2)[params.v[7] + j]);
      place3 = bitcast<u32>(index) + select(0u, params.v[2], index < 0);
      let x3 = bitcast<i32>(((u32*)b1)[params.v[6] + j]);
      value3 = x3;
      to3 = params.v[5] + place3;
    }
  }
  #if __CUDA_ARCH__ >= 800
  {
    let alike = __match_any_sync(0xffffffffu, place0);
    if (place0 < params.v[2]) {
      var sum = bitcast<u32>(value0);
      if (__popc(alike) > 1) { sum = __reduce_add_sync(alike, sum); }
      if ((alike & ((1u << (thread & 31u)) - 1u)) == 0u) { atomicAdd(&((u32*)b0)[to0], sum); }
    }
  }
  #else
  if (place0 < params.v[2]) { atomicAdd(&((u32*)b0)[to0], bitcast<u32>(value0)); }
  #endif
  if (place0 >= params.v[2] && place0 != 0x80000000u) {
    let index = bitcast<i32>(place0 - select(0u, params.v[2], place0 > 0x80000000u));
    if (atomicCAS(&b3[0], 0u, params.v[9]) == 0u) { b3[1] = u32(index); }
  }
// … 2 more of these 16 lines (2ff7f3d6), and
  #if __CUDA_ARCH__ >= 800
  {
    let alike = __match_any_sync(0xffffffffu, place3);
    if (place3 < params.v[2]) {
      var sum = bitcast<u32>(value3);
      if (__popc(alike) > 1) { sum = __reduce_add_sync(alike, sum); }
      if ((alike & ((1u << (thread & 31u)) - 1u)) == 0u) { atomicAdd(&((u32*)b0)[to3], sum); }
    }
  }
  #else
  if (place3 < params.v[2]) { atomicAdd(&((u32*)b0)[to3], bitcast<u32>(value3)); }
  #endif
  if (place3 >= params.v[2] && place3 != 0x80000000u) {
    let index = bitcast<i32>(place3 - select(0u, params.v[2], place3 > 0x80000000u));
    if (atomicCAS(&b3[0], 0u, params.v[9]) == 0u) { b3[1] = u32(index); }
  }
}

// ---- scatter of long rows: scatter_add, 1 workgroups of 256, 4 words (379142ee)
// ---- scatter of long rows: scatter_add, 12 workgroups of 256, 11 words (d69af5c0)
// ---- scatter of long rows: scatter_add, 102 workgroups of 256, 10 words (e5d43d0d)
// ---- scatter of long rows: scatter_add, 1037 workgroups of 256, 22 words (09d26756)
// ---- scatter of long rows by a sorted table: scatter_add, 8 workgroups of 256, 5 words (dae237e2)
// ---- cholesky of small matrices: cholesky, 3 workgroups of 32, 11 words (f950acaf)
// ---- exponentials of small matrices: expm, 5 workgroups of 32, 11 words (b9759062)
// ---- lu of small matrices: lu_factor, 3 workgroups of 32, 13 words
// lu of small matrices
TERN_DEVICE bool tern_isfinite_f32(f32 x) {
  return (bitcast<u32>(x) & 0x7fffffffu) < 0x7f800000u;
}
TERN_DEVICE f32 tern_abs_f32(f32 x) { return fabsf(x); }
extern "C" __global__ void __launch_bounds__(32) tern_kernel(const u32* __restrict__ b0, u32* __restrict__ b1, u32* __restrict__ b2, u32* __restrict__ b3, const __grid_constant__ Params params) {
  __shared__ f32 a[140];
  __shared__ u32 bad[32];
  __shared__ float4 line[8];
  let own = thread / 8u;
  let r = thread - own * 8u;
  let matrix = group * 4u + own;
  let inside = matrix < params.v[1];
  var status = 0;
  var not_finite = 0u;
  if (inside) {
    for (var e = r; e < 5u * 7u; e += 8u) {
      let i = e / 7u;
      let j = e - i * 7u;
      let x0 = bitcast<f32>(((u32*)b0)[params.v[3] + matrix * params.v[4] + i * params.v[5] + (0u + j)]);
      let x = x0;
      a[own * 35u + (i) * 7u + j] = x;
      if (!((tern_isfinite_f32(x)))) { not_finite = 1u; }
    }
  }
  bad[thread] = not_finite;
  __syncthreads();
  for (var k = 0u; k < 8u; k += 1u) {
    if (bad[own * 8u + k] != 0u) { status = -1; }
  }
  var y0 = f32(0.0);
// … 5 more of these 1 lines (1ac559a2), and
  var y6 = f32(0.0);
  var place = r;
  var waits = r < 5u;
  if (waits) {
    y0 = a[own * 35u + (r) * 7u + 0u];
// … 5 more of these 1 lines (a8bce9c2), and
    y6 = a[own * 35u + (r) * 7u + 6u];
  }
  for (var k = 0u; k < 5u; k += 1u) {
    let size = select(tern_abs_f32(y0), f32(3.4e38), y0 != y0);
    var best = select(f32(-1.0), size, waits);
    var row = select(8u, place, waits);
    {
      let other = __shfl_xor_sync(0xffffffffu, best, 1);
      let its = __shfl_xor_sync(0xffffffffu, row, 1);
      if (other > best || (other == best && its < row)) {
        best = other;
        row = its;
      }
    }
// … 1 more of these 8 lines (513bbec8), and
    {
      let other = __shfl_xor_sync(0xffffffffu, best, 4);
      let its = __shfl_xor_sync(0xffffffffu, row, 4);
      if (other > best || (other == best && its < row)) {
        best = other;
        row = its;
      }
    }
    let is_pivot = waits && place == row;
    if (is_pivot) {
      line[own * 2u + 0u] = float4{y0, y1, y2, y3};
      line[own * 2u + 1u] = float4{y4, y5, y6, f32(0.0)};
    }
    if (inside && r == 0u) {
      let exchanged = i32(row);
      ((u32*)b2)[params.v[9] + matrix * params.v[10] + k] = bitcast<u32>(exchanged);
    }
    __syncthreads();
    let pivot = line[own * 2u].x;
    if (is_pivot) {
      place = k;
      waits = false;
    } else if (waits && place == k) {
      place = row;
    }
    var factor = f32(0.0);
    if (pivot == f32(0.0)) {
      if (status == 0) { status = i32(k) + 1; }
    } else if (waits) {
      let one = select(f32(-1.0), f32(1.0), y0 == pivot);
      factor = select(y0 / pivot, one, y0 == pivot || y0 == -pivot);
      a[own * 35u + (r) * 7u + k] = factor;
    }
    let behind = select(y0, f32(0.0), waits);
    let line0 = line[own * 2u + 0u];
    y0 = fma(-factor, line0.y, y1);
    y1 = fma(-factor, line0.z, y2);
    y2 = fma(-factor, line0.w, y3);
    let line1 = line[own * 2u + 1u];
    y3 = fma(-factor, line1.x, y4);
    y4 = fma(-factor, line1.y, y5);
    y5 = fma(-factor, line1.z, y6);
    y6 = behind;
    __syncthreads();
  }
  if (r < 5u) {
    y0 = select(y0, a[own * 35u + (r) * 7u + (0u + 5u) % 7u], (0u + 5u) % 7u < min(place, 5u));
// … 5 more of these 1 lines (0e3c3ded), and
    y6 = select(y6, a[own * 35u + (r) * 7u + (6u + 5u) % 7u], (6u + 5u) % 7u < min(place, 5u));
  }
  __syncthreads();
  if (r < 5u) {
    a[own * 35u + (place) * 7u + (0u + 5u) % 7u] = y0;
// … 5 more of these 1 lines (2f7950ea), and
    a[own * 35u + (place) * 7u + (6u + 5u) % 7u] = y6;
  }
  __syncthreads();
  if (inside) {
    for (var e = r; e < 5u * 7u; e += 8u) {
      let j = e / 5u;
      let i = e - j * 5u;
      let x = a[own * 35u + (i) * 7u + j];
      ((u32*)b1)[params.v[6] + matrix * params.v[7] + i + (0u + j) * params.v[8]] = bitcast<u32>(x);
    }
  }
  if (inside && r == 0u) {
    if (status != 0) {
      {
        let seen = atomicCAS(&b3[0], 0u, params.v[12]);
        if (seen == 0u || seen == params.v[12]) { atomicMax(&b3[1], ~u32(min(matrix, 67108862u) * 64u + u32(status + 1))); }
      }
    }
  }
}

// ---- equations of small matrices: solve, 3 workgroups of 32, 12 words
// equations of small matrices
extern "C" __global__ void __launch_bounds__(32) tern_kernel(const u32* __restrict__ b0, const u32* __restrict__ b1, u32* __restrict__ b2, u32* __restrict__ b3, const __grid_constant__ Params params) {
  __shared__ f32 a[100];
  __shared__ u32 bad[32];
  __shared__ float4 line[8];
  __shared__ f32 known[20];
  let own = thread / 8u;
  let r = thread - own * 8u;
  let matrix = group * 4u + own;
  let inside = matrix < params.v[1];
  var status = 0;
  var not_finite = 0u;
  if (inside) {
    for (var e = r; e < 5u * 5u; e += 8u) {
      let i = e / 5u;
      let j = e - i * 5u;
      let x0 = bitcast<f32>(((u32*)b0)[params.v[3] + matrix * params.v[4] + i * params.v[5] + (0u + j)]);
      let x = x0;
      a[own * 25u + (i) * 5u + j] = x;
      if (!((tern_isfinite_f32(x)))) { not_finite = 1u; }
    }
  }
  bad[thread] = not_finite;
  __syncthreads();
  for (var k = 0u; k < 8u; k += 1u) {
    if (bad[own * 8u + k] != 0u) { status = -1; }
  }
  var y0 = f32(0.0);
// … 4 more of these 1 lines (a96eb505), and
  var y5 = f32(0.0);
  var place = r;
  var waits = r < 5u;
  if (waits) {
    y0 = a[own * 25u + (r) * 5u + 0u];
    y1 = a[own * 25u + (r) * 5u + 1u];
    y2 = a[own * 25u + (r) * 5u + 2u];
    y3 = a[own * 25u + (r) * 5u + 3u];
    y4 = a[own * 25u + (r) * 5u + 4u];
    if (inside) {
      let x1 = bitcast<f32>(((u32*)b1)[params.v[6] + matrix * params.v[7] + r]);
      y5 = x1;
    }
  }
  for (var k = 0u; k < 5u; k += 1u) {
    let size = select(tern_abs_f32(y0), f32(3.4e38), y0 != y0);
    var best = select(f32(-1.0), size, waits);
    var row = select(8u, place, waits);
    {
      let other = __shfl_xor_sync(0xffffffffu, best, 1);
      let its = __shfl_xor_sync(0xffffffffu, row, 1);
      if (other > best || (other == best && its < row)) {
        best = other;
        row = its;
      }
    }
// … 1 more of these 8 lines (513bbec8), and
    {
      let other = __shfl_xor_sync(0xffffffffu, best, 4);
      let its = __shfl_xor_sync(0xffffffffu, row, 4);
      if (other > best || (other == best && its < row)) {
        best = other;
        row = its;
      }
    }
    let is_pivot = waits && place == row;
    if (is_pivot) {
      line[own * 2u + 0u] = float4{y0, y1, y2, y3};
      line[own * 2u + 1u] = float4{y4, y5, f32(0.0), f32(0.0)};
    }
    __syncthreads();
    let pivot = line[own * 2u].x;
    if (is_pivot) {
      place = k;
      waits = false;
    } else if (waits && place == k) {
      place = row;
    }
    var factor = f32(0.0);
    if (pivot == f32(0.0)) {
      if (status == 0) { status = i32(k) + 1; }
    } else if (waits) {
      let one = select(f32(-1.0), f32(1.0), y0 == pivot);
      factor = select(y0 / pivot, one, y0 == pivot || y0 == -pivot);
    }
    let behind = select(y0, f32(0.0), waits);
    let line0 = line[own * 2u + 0u];
    y0 = fma(-factor, line0.y, y1);
    y1 = fma(-factor, line0.z, y2);
    y2 = fma(-factor, line0.w, y3);
    let line1 = line[own * 2u + 1u];
    y3 = fma(-factor, line1.x, y4);
    y4 = fma(-factor, line1.y, y5);
    y5 = behind;
    __syncthreads();
  }
  if (place == 4u) {
    known[(own * 5u + 4u) * 1u + 0u] = y0 / y5;
  }
  __syncthreads();
  if (place < 4u) {
    y0 = fma(-y5, known[(own * 5u + 4u) * 1u + 0u], y0);
// … 2 more of these 7 lines (705bfdf7), and
  }
  if (place == 1u) {
    known[(own * 5u + 1u) * 1u + 0u] = y0 / y2;
  }
  __syncthreads();
  if (place < 1u) {
    y0 = fma(-y2, known[(own * 5u + 1u) * 1u + 0u], y0);
  }
  if (place == 0u) {
    known[(own * 5u + 0u) * 1u + 0u] = y0 / y1;
  }
  __syncthreads();
  if (inside && r < 5u) {
    let x = known[(own * 5u + r) * 1u + 0u];
    ((u32*)b2)[params.v[8] + matrix * params.v[9] + r] = bitcast<u32>(x);
  }
  if (inside && r == 0u) {
    if (status != 0) {
      {
        let seen = atomicCAS(&b3[0], 0u, params.v[11]);
        if (seen == 0u || seen == params.v[11]) { atomicMax(&b3[1], ~u32(min(matrix, 67108862u) * 64u + u32(status + 1))); }
      }
    }
  }
}

// ---- solutions of small matrices: solve, 3 workgroups of 32, 16 words (6d7e0c0d)
// ---- solutions of few sides: lu_solve, 3 workgroups of 32, 16 words
// solutions of few sides
extern "C" __global__ void __launch_bounds__(32) tern_kernel(const u32* __restrict__ b0, const u32* __restrict__ b1, const u32* __restrict__ b2, u32* __restrict__ b3, const __grid_constant__ Params params) {
  __shared__ f32 a[100];
  __shared__ f32 b[660];
  __shared__ u32 places[20];
  let block = group / params.v[3];
  let first = (group - block * params.v[3]) * 32u;
  let width = min(32u, params.v[2] - first);
  let own = thread / 8u;
  let r = thread - own * 8u;
  let matrix = block * 4u + own;
  let inside = matrix < params.v[1];
  if (inside) {
    for (var e = r; e < 5u * 5u; e += 8u) {
      let i = e / 5u;
      let j = e - i * 5u;
      let x0 = bitcast<f32>(((u32*)b0)[params.v[5] + matrix * params.v[6] + i * params.v[7] + (0u + j)]);
      let x = x0;
      a[own * 25u + (i) * 5u + j] = x;
    }
  }
  if (inside) {
    for (var e = r; e < 5u * width; e += 8u) {
      let i = e / width;
      let j = e - i * width;
      let x1 = bitcast<f32>(((u32*)b1)[params.v[8] + matrix * params.v[9] + i * params.v[10] + (first + j)]);
      let x = x1;
      b[own * 165u + (i) * 33u + j] = x;
    }
  }
  if (r < 5u) {
    var place = 0;
    if (inside) {
      let x2 = bitcast<i32>(((u32*)b2)[params.v[11] + matrix * params.v[12] + r]);
      place = x2;
    }
    places[own * 5u + r] = u32(clamp(place, 0, 4));
  }
  __syncthreads();
  var to = r;
  for (var s = 0u; s < 5u; s += 1u) {
    let k = s;
    let row = places[own * 5u + k];
    to = select(select(to, k, to == row), row, to == k);
  }
  for (var j = 0u; j < width; j += 1u) {
    var moved = f32(0.0);
    if (r < 5u) { moved = b[own * 165u + (r) * 33u + j]; }
    __syncthreads();
    if (r < 5u) { b[own * 165u + (to) * 33u + j] = moved; }
    __syncthreads();
  }
  for (var s = 0u; s < 5u; s += 1u) {
    let k = s;
    if (false && r == k) {
      let pivot = a[own * 25u + (k) * 5u + k];
      for (var j = 0u; j < width; j += 1u) { b[own * 165u + (k) * 33u + j] = b[own * 165u + (k) * 33u + j] / pivot; }
    }
    __syncthreads();
    if (r > k && r < 5u) {
      let factor = a[own * 25u + (r) * 5u + k];
      for (var j = 0u; j < width; j += 1u) { b[own * 165u + (r) * 33u + j] = fma(-factor, b[own * 165u + (k) * 33u + j], b[own * 165u + (r) * 33u + j]); }
    }
  }
  __syncthreads();
  for (var s = 0u; s < 5u; s += 1u) {
    let k = 4u - s;
    if (true && r == k) {
      let pivot = a[own * 25u + (k) * 5u + k];
      for (var j = 0u; j < width; j += 1u) { b[own * 165u + (k) * 33u + j] = b[own * 165u + (k) * 33u + j] / pivot; }
    }
    __syncthreads();
    if (r < k && r < 5u) {
      let factor = a[own * 25u + (r) * 5u + k];
      for (var j = 0u; j < width; j += 1u) { b[own * 165u + (r) * 33u + j] = fma(-factor, b[own * 165u + (k) * 33u + j], b[own * 165u + (r) * 33u + j]); }
    }
  }
  __syncthreads();
  __syncthreads();
  if (inside) {
    for (var e = r; e < 5u * width; e += 8u) {
      let i = e / width;
      let j = e - i * width;
      let x = b[own * 165u + (i) * 33u + j];
      ((u32*)b3)[params.v[13] + matrix * params.v[14] + i * params.v[15] + (first + j)] = bitcast<u32>(x);
    }
  }
}

// ---- triangles of small matrices: solve_triangular, 3 workgroups of 32, 14 words (b5250093)
// ---- qr of small matrices: qr, 3 workgroups of 32, 12 words (68ad3a16)
// ---- eigh of small matrices: eigh, 3 workgroups of 32, 13 words
// eigh of small matrices
TERN_DEVICE f32 power_of(f32 x) {
  let bits = clamp(bitcast<u32>(x) & 0x7f800000u, 0x00800000u, 0x7e800000u);
  return bitcast<f32>(bits);
}
TERN_DEVICE f32 scaled(f32 x, f32 up) {
  let bits = bitcast<u32>(x);
  let mantissa = f32(bits & 0x007fffffu) * f32(1.1920928955078125e-07) * (up * bitcast<f32>(0x00800000u));
  let sign = bits & 0x80000000u;
  return select(x * up, bitcast<f32>(bitcast<u32>(mantissa) | sign), (bits & 0x7f800000u) == 0u && up >= f32(1.0));
}
TERN_DEVICE f32 unscaled(f32 x, f32 power) {
  let made = x * power;
  let bits = bitcast<u32>(x);
  let size = bitcast<f32>(bits & 0x7fffffffu);
  let raised = size * (min(power, f32(1.0)) * bitcast<f32>(0x7e800000u));
  let mantissa = u32(min(raised, f32(1.0)) * f32(8388608.0) + f32(0.5));
  return select(made, bitcast<f32>(mantissa | (bits & 0x80000000u)), raised < f32(1.0) && power <= f32(1.0));
}
extern "C" __global__ void __launch_bounds__(32) tern_kernel(const u32* __restrict__ b0, u32* __restrict__ b1, u32* __restrict__ b2, u32* __restrict__ b3, const __grid_constant__ Params params) {
  __shared__ f32 a[168];
  __shared__ f32 values[32];
  __shared__ f32 partial[32];
  __shared__ u32 bad[32];
  __shared__ u32 busy[32];
  __shared__ u32 order[32];
  __shared__ f32 cosines[32];
  __shared__ f32 sines[32];
  __shared__ f32 vectors[100];
  let own = thread / 8u;
  let r = thread - own * 8u;
  let matrix = group * 4u + own;
  let inside = matrix < params.v[1];
  var status = 0;
  var not_finite = 0u;
  var most = f32(0.0);
  if (inside) {
    for (var e = r; e < 5u * 5u; e += 8u) {
      let i = e / 5u;
      let j = e - i * 5u;
      if (j <= i) {
        let x0 = bitcast<f32>(((u32*)b0)[params.v[3] + matrix * params.v[4] + i * params.v[5] + j]);
        if (!((tern_isfinite_f32(x0)))) { not_finite = 1u; }
        most = max(most, tern_abs_f32(x0));
        a[own * 42u + (i) * 7u + j] = x0;
      }
    }
  }
  bad[thread] = not_finite;
  partial[thread] = most;
  __syncthreads();
  for (var k = 0u; k < 8u; k += 1u) {
    if (bad[own * 8u + k] != 0u) { status = -1; }
    most = max(most, partial[own * 8u + k]);
  }
  let power = power_of(most);
  let up = f32(1.0) / power;
  __syncthreads();
  var norm = f32(0.0);
  for (var e = r; e < 5u * 5u; e += 8u) {
    let i = e / 5u;
    let j = e - i * 5u;
    if (j <= i) {
      let x = scaled(a[own * 42u + (i) * 7u + j], up);
      norm = fma(x * select(f32(2.0), f32(1.0), i == j), x, norm);
      a[own * 42u + (i) * 7u + j] = x;
      a[own * 42u + (j) * 7u + i] = x;
    }
  }
  for (var i = r; i < 6u; i += 8u) {
    a[own * 42u + (i) * 7u + 5u] = f32(0.0);
    a[own * 42u + (5u) * 7u + i] = f32(0.0);
  }
  for (var e = r; e < 25u; e += 8u) {
    let j = e / 5u;
    let i = e - j * 5u;
    vectors[own * 25u + (j) * 5u + i] = select(f32(0.0), f32(1.0), i == j);
  }
  partial[thread] = norm;
  __syncthreads();
  norm = f32(0.0);
  for (var k = 0u; k < 8u; k += 1u) { norm += partial[own * 8u + k]; }
  // All that is left below this changes the matrix by less than a rounding of its norm.
  let little = tern_sqrt(norm) * f32(1.19209289550781257e-08);
  let rotates = inside && status == 0;
  var going = 0u;
  for (var sweep = 0u; sweep < 40u; sweep += 1u) {
    var moved = 0u;
    for (var round = 0u; round < 5u; round += 1u) {
      let pair = r % 4u;
      let part = r / 4u;
      let one = select((round + pair) % 5u, 5u, pair == 0u);
      let other = (round + 5u - pair) % 5u;
      let p = min(one, other);
      let q = max(one, other);
      let there = pair < 3u;
      if (there && part == 0u) {
        let off = a[own * 42u + (q) * 7u + p];
        var cosine = f32(1.0);
        var sine = f32(0.0);
        if (rotates && tern_abs_f32(off) > little) {
          let x = a[own * 42u + (p) * 7u + p];
          let y = a[own * 42u + (q) * 7u + q];
          let cotangent = (y - x) / (off + off);
          let steep = min(tern_abs_f32(cotangent), f32(1e18));
          let tangent = f32(1.0) / (steep + tern_sqrt(fma(steep, steep, f32(1.0))));
          let t = select(tangent, -tangent, cotangent < f32(0.0));
          let c = tern_div(f32(1.0), tern_sqrt(fma(t, t, f32(1.0))));
          let s = t * c;
          a[own * 42u + (p) * 7u + p] = fma(-t, off, x);
          a[own * 42u + (q) * 7u + q] = fma(t, off, y);
          a[own * 42u + (p) * 7u + q] = f32(0.0);
          a[own * 42u + (q) * 7u + p] = f32(0.0);
          cosine = c;
          sine = s;
          moved = 1u;
        }
        cosines[own * 8u + pair] = cosine;
        sines[own * 8u + pair] = sine;
      }
      __syncthreads();
      if (there) {
        let c = cosines[own * 8u + pair];
        let s = sines[own * 8u + pair];
        for (var d = part + 1u; d <= 3u / 2u; d += 2u) {
          let next = (pair + d) % 3u;
          let c2 = cosines[own * 8u + next];
          let s2 = sines[own * 8u + next];
          if ((d * 2u < 3u || pair < next) && (s != f32(0.0) || s2 != f32(0.0))) {
            let one2 = select((round + next) % 5u, 5u, next == 0u);
            let other2 = (round + 5u - next) % 5u;
            let p2 = min(one2, other2);
            let q2 = max(one2, other2);
            let pp = a[own * 42u + (p) * 7u + p2];
            let pq = a[own * 42u + (p) * 7u + q2];
            let qp = a[own * 42u + (q) * 7u + p2];
            let qq = a[own * 42u + (q) * 7u + q2];
            let upper_p = fma(-s, qp, c * pp);
            let upper_q = fma(-s, qq, c * pq);
            let lower_p = fma(s, pp, c * qp);
            let lower_q = fma(s, pq, c * qq);
            let new_pp = fma(-s2, upper_q, c2 * upper_p);
            let new_pq = fma(s2, upper_p, c2 * upper_q);
            let new_qp = fma(-s2, lower_q, c2 * lower_p);
            let new_qq = fma(s2, lower_p, c2 * lower_q);
            a[own * 42u + (p) * 7u + p2] = new_pp;
            a[own * 42u + (p2) * 7u + p] = new_pp;
            a[own * 42u + (p) * 7u + q2] = new_pq;
            a[own * 42u + (q2) * 7u + p] = new_pq;
            a[own * 42u + (q) * 7u + p2] = new_qp;
            a[own * 42u + (p2) * 7u + q] = new_qp;
            a[own * 42u + (q) * 7u + q2] = new_qq;
            a[own * 42u + (q2) * 7u + q] = new_qq;
          }
        }
        if (s != f32(0.0)) {
          let first = own * 25u + (p) * 5u;
          let second = own * 25u + (q) * 5u;
          {
            var i = part;
            for (; i + 3u * 2u < 5u; i += 4u * 2u) {
              let x0 = vectors[first + i + 0u * 2u];
              let y0 = vectors[second + i + 0u * 2u];
// … 2 more of these 2 lines (ca55947d), and
              let x3 = vectors[first + i + 3u * 2u];
              let y3 = vectors[second + i + 3u * 2u];
              vectors[first + i + 0u * 2u] = fma(-s, y0, c * x0);
              vectors[second + i + 0u * 2u] = fma(s, x0, c * y0);
// … 2 more of these 2 lines (953f8859), and
              vectors[first + i + 3u * 2u] = fma(-s, y3, c * x3);
              vectors[second + i + 3u * 2u] = fma(s, x3, c * y3);
            }
            for (; i < 5u; i += 2u) {
              let x = vectors[first + i];
              let y = vectors[second + i];
              vectors[first + i] = fma(-s, y, c * x);
              vectors[second + i] = fma(s, x, c * y);
            }
          }
        }
      }
      __syncthreads();
    }
    busy[thread] = moved;
    __syncthreads();
    going = 0u;
    var all_going = 0u;
    for (var k = 0u; k < 32u; k += 1u) {
      all_going = all_going | busy[k];
      if (k / 8u == own) { going = going | busy[k]; }
    }
    __syncthreads();
    if (thread == 0u) { busy[0] = all_going; }
    __syncthreads();
    let any_going = busy[0];
    __syncthreads();
    if (any_going == 0u) { break; }
  }
  if (status == 0 && going != 0u) { status = 1; }
  if (r < 5u) { values[own * 8u + r] = a[own * 42u + (r) * 7u + r]; }
  order[thread] = r;
  __syncthreads();
  if (r < 5u) {
    let value = values[own * 8u + r];
    var rank = 0u;
    for (var k = 0u; k < 5u; k += 1u) {
      let here = values[own * 8u + k];
      if (here < value || (here == value && k < r)) { rank += 1u; }
    }
    order[own * 8u + rank] = r;
  }
  __syncthreads();
  if (inside) {
    for (var k = r; k < 5u; k += 8u) {
      let x = unscaled(values[own * 8u + order[own * 8u + k]], power);
      ((u32*)b1)[params.v[6] + matrix * params.v[7] + k] = bitcast<u32>(x);
    }
    for (var e = r; e < 5u * 5u; e += 8u) {
      let i = e / 5u;
      let j = e - i * 5u;
      let x = vectors[own * 25u + (order[own * 8u + j]) * 5u + i];
      ((u32*)b2)[params.v[8] + matrix * params.v[9] + i * params.v[10] + j] = bitcast<u32>(x);
    }
  }
  if (inside && r == 0u) {
    if (status != 0) {
      {
        let seen = atomicCAS(&b3[0], 0u, params.v[12]);
        if (seen == 0u || seen == params.v[12]) { atomicMax(&b3[1], ~u32(min(matrix, 67108862u) * 64u + u32(status + 1))); }
      }
    }
  }
}

// ---- svd of small matrices: svd, 3 workgroups of 32, 16 words (8a90fc8e)
// ---- spectra, a matrix a thread: qr, 1 workgroups of 32, 12 words
// qr, a matrix a thread
TERN_DEVICE f64 power_of(f64 x) {
  let bits = bitcast<u64>(x) & 0x7ff0000000000000ull;
  return bitcast<f64>(clamp(bits, 0x0010000000000000ull, 0x7fd0000000000000ull));
}
TERN_DEVICE f64 scaled(f64 x, f64 up) {
  return x * up;
}
TERN_DEVICE f64 unscaled(f64 x, f64 power) {
  return x * power;
}
extern "C" __global__ void __launch_bounds__(32) tern_kernel(const u32* __restrict__ b0, u32* __restrict__ b1, u32* __restrict__ b2, const __grid_constant__ Params params) {
  let own = thread;
  let matrix = group * 32u + own;
  let inside = matrix < params.v[1];
  var c00 = f64(0.0);
// … 4 more of these 1 lines (1a443c4d), and
  var c21 = f64(0.0);
  if (inside) {
    let x0 = bitcast<f64>(((u64*)b0)[params.v[3] + matrix * params.v[4] + 0u * params.v[5] + 0u]);
    c00 = x0;
// … 4 more of these 2 lines (59065f39), and
    let x5 = bitcast<f64>(((u64*)b0)[params.v[3] + matrix * params.v[4] + 2u * params.v[5] + 1u]);
    c21 = x5;
  }
  var most0 = f64(0.0);
  most0 = max(most0, tern_abs(c00));
  most0 = max(most0, tern_abs(c10));
  most0 = max(most0, tern_abs(c20));
  let scale0 = power_of(most0);
  let up0 = f64(1.0) / scale0;
  c00 = scaled(c00, up0);
  c10 = scaled(c10, up0);
  c20 = scaled(c20, up0);
  var most1 = f64(0.0);
  most1 = max(most1, tern_abs(c01));
  most1 = max(most1, tern_abs(c11));
  most1 = max(most1, tern_abs(c21));
  let scale1 = power_of(most1);
  let up1 = f64(1.0) / scale1;
  c01 = scaled(c01, up1);
  c11 = scaled(c11, up1);
  c21 = scaled(c21, up1);
  var largest0 = tern_abs(c00);
  largest0 = max(largest0, tern_abs(c10));
  largest0 = max(largest0, tern_abs(c20));
  let size0 = power_of(largest0);
  let less0 = f64(1.0) / size0;
  let first0 = c00 * less0;
  var below0 = f64(0.0);
  below0 = fma(c10 * less0, c10 * less0, below0);
  below0 = fma(c20 * less0, c20 * less0, below0);
  let none0 = below0 == f64(0.0) || (largest0 < size0 && below0 < f64(3.0));
  let length0 = sqrt(fma(first0, first0, below0));
  let made0 = select(select(length0, -length0, first0 > f64(0.0)), first0, none0);
  let to0 = first0 - made0;
  let of_v0 = select((less0 / select(to0, f64(1.0), none0)), f64(0.0), none0);
  let tau0 = select((-to0 / select(made0, f64(1.0), none0)), f64(0.0), none0);
  let d0 = made0 * size0;
  c10 = c10 * of_v0;
  c20 = c20 * of_v0;
  {
    var w = c01;
    w = fma(c10, c11, w);
    w = fma(c20, c21, w);
    w = w * tau0;
    c01 = c01 - w;
    c11 = fma(-c10, w, c11);
    c21 = fma(-c20, w, c21);
  }
  var largest1 = tern_abs(c11);
  largest1 = max(largest1, tern_abs(c21));
  let size1 = power_of(largest1);
  let less1 = f64(1.0) / size1;
  let first1 = c11 * less1;
  var below1 = f64(0.0);
  below1 = fma(c21 * less1, c21 * less1, below1);
  let none1 = below1 == f64(0.0) || (largest1 < size1 && below1 < f64(3.0));
  let length1 = sqrt(fma(first1, first1, below1));
  let made1 = select(select(length1, -length1, first1 > f64(0.0)), first1, none1);
  let to1 = first1 - made1;
  let of_v1 = select((less1 / select(to1, f64(1.0), none1)), f64(0.0), none1);
  let tau1 = select((-to1 / select(made1, f64(1.0), none1)), f64(0.0), none1);
  let d1 = made1 * size1;
  c21 = c21 * of_v1;
  var q00 = f64(1.0);
// … 4 more of these 1 lines (5fb8f6e8), and
  var q21 = f64(0.0);
  {
    var w = q11;
    w = fma(c21, q21, w);
    w = w * tau1;
    q11 = q11 - w;
    q21 = fma(-c21, w, q21);
  }
  {
    var w = q00;
    w = fma(c10, q10, w);
    w = fma(c20, q20, w);
    w = w * tau0;
    q00 = q00 - w;
    q10 = fma(-c10, w, q10);
    q20 = fma(-c20, w, q20);
  }
  {
    var w = q01;
    w = fma(c10, q11, w);
    w = fma(c20, q21, w);
    w = w * tau0;
    q01 = q01 - w;
    q11 = fma(-c10, w, q11);
    q21 = fma(-c20, w, q21);
  }
  if (inside) {
    ((u64*)b2)[params.v[9] + matrix * params.v[10] + 0u * params.v[11] + 0u] = bitcast<u64>(unscaled(d0, scale0));
    ((u64*)b2)[params.v[9] + matrix * params.v[10] + 0u * params.v[11] + 1u] = bitcast<u64>(unscaled(c01, scale1));
    ((u64*)b2)[params.v[9] + matrix * params.v[10] + 1u * params.v[11] + 0u] = bitcast<u64>(f64(0.0));
    ((u64*)b2)[params.v[9] + matrix * params.v[10] + 1u * params.v[11] + 1u] = bitcast<u64>(unscaled(d1, scale1));
    ((u64*)b1)[params.v[6] + matrix * params.v[7] + 0u * params.v[8] + 0u] = bitcast<u64>(q00);
// … 4 more of these 1 lines (e185d201), and
    ((u64*)b1)[params.v[6] + matrix * params.v[7] + 2u * params.v[8] + 1u] = bitcast<u64>(q21);
  }
}

// ---- spectra, a matrix a thread: eigh, 1 workgroups of 32, 13 words
// eigh, a matrix a thread
template <class T> TERN_DEVICE bool tern_isfinite(T x) { return true; }
TERN_DEVICE bool tern_isfinite(f64 x) { return fabs(x) < bitcast<f64>(0x7ff0000000000000ull); }
extern "C" __global__ void __launch_bounds__(32) tern_kernel(const u32* __restrict__ b0, u32* __restrict__ b1, u32* __restrict__ b2, u32* __restrict__ b3, const __grid_constant__ Params params) {
  let own = thread;
  let matrix = group * 32u + own;
  let inside = matrix < params.v[1];
  var status = 0;
  var c00 = f64(0.0);
  var c10 = f64(0.0);
  var c11 = f64(0.0);
  if (inside) {
    let x0 = bitcast<f64>(((u64*)b0)[params.v[3] + matrix * params.v[4] + 0u * params.v[5] + 0u]);
    c00 = x0;
    let x1 = bitcast<f64>(((u64*)b0)[params.v[3] + matrix * params.v[4] + 1u * params.v[5] + 0u]);
    c10 = x1;
    let x2 = bitcast<f64>(((u64*)b0)[params.v[3] + matrix * params.v[4] + 1u * params.v[5] + 1u]);
    c11 = x2;
  }
  var most = f64(0.0);
  if (!((tern_isfinite(c00)))) { status = -1; }
  most = max(most, tern_abs(c00));
  if (!((tern_isfinite(c10)))) { status = -1; }
  most = max(most, tern_abs(c10));
  if (!((tern_isfinite(c11)))) { status = -1; }
  most = max(most, tern_abs(c11));
  let power = power_of(most);
  let up = f64(1.0) / power;
  var norm = f64(0.0);
  c00 = scaled(c00, up);
  norm = fma(f64(1.0) * c00, c00, norm);
  c10 = scaled(c10, up);
  norm = fma(f64(2.0) * c10, c10, norm);
  c11 = scaled(c11, up);
  norm = fma(f64(1.0) * c11, c11, norm);
  var v00 = f64(1.0);
  var v01 = f64(0.0);
  var v10 = f64(0.0);
  var v11 = f64(1.0);
  // All that is left below this changes the matrix by less than a rounding of its norm.
  let little = sqrt(norm) * f64(5.55111512312578270e-17);
  var going = select(0u, 1u, status == 0);
  for (var sweep = 0u; sweep < 40u && going == 1u; sweep += 1u) {
    going = 0u;
    if (tern_abs(c10) > little) {
      let off = c10;
      let cotangent = (c11 - c00) / (off + off);
      let steep = min(tern_abs(cotangent), f64(1e150));
      let tangent = f64(1.0) / (steep + sqrt(fma(steep, steep, f64(1.0))));
      let t = select(tangent, -tangent, cotangent < f64(0.0));
      let c = (f64(1.0) / sqrt(fma(t, t, f64(1.0))));
      let s = t * c;
      c00 = fma(-t, off, c00);
      c11 = fma(t, off, c11);
      c10 = f64(0.0);
      going = 1u;
      {
        let kept = v00;
        v00 = fma(-s, v01, c * kept);
        v01 = fma(s, kept, c * v01);
      }
      {
        let kept = v10;
        v10 = fma(-s, v11, c * kept);
        v11 = fma(s, kept, c * v11);
      }
    }
  }
  if (status == 0 && going == 1u) { status = 1; }
  if (c11 < c00) {
    {
      let kept = c00;
      c00 = c11;
      c11 = kept;
    }
    {
      let kept = v00;
      v00 = v01;
      v01 = kept;
    }
    {
      let kept = v10;
      v10 = v11;
      v11 = kept;
    }
  }
  if (inside) {
    ((u64*)b1)[params.v[6] + matrix * params.v[7] + 0u] = bitcast<u64>(unscaled(c00, power));
    ((u64*)b1)[params.v[6] + matrix * params.v[7] + 1u] = bitcast<u64>(unscaled(c11, power));
    ((u64*)b2)[params.v[8] + matrix * params.v[9] + 0u * params.v[10] + 0u] = bitcast<u64>(v00);
    ((u64*)b2)[params.v[8] + matrix * params.v[9] + 0u * params.v[10] + 1u] = bitcast<u64>(v01);
    ((u64*)b2)[params.v[8] + matrix * params.v[9] + 1u * params.v[10] + 0u] = bitcast<u64>(v10);
    ((u64*)b2)[params.v[8] + matrix * params.v[9] + 1u * params.v[10] + 1u] = bitcast<u64>(v11);
  }
  if (inside) {
    if (status != 0) {
      {
        let seen = atomicCAS(&b3[0], 0u, params.v[12]);
        if (seen == 0u || seen == params.v[12]) { atomicMax(&b3[1], ~u32(min(matrix, 67108862u) * 64u + u32(status + 1))); }
      }
    }
  }
}

// ---- spectra, a matrix a thread: svd, 1 workgroups of 32, 16 words
// svd, a matrix a thread
extern "C" __global__ void __launch_bounds__(32) tern_kernel(const u32* __restrict__ b0, u32* __restrict__ b1, u32* __restrict__ b2, u32* __restrict__ b3, u32* __restrict__ b4, const __grid_constant__ Params params) {
  let own = thread;
  let matrix = group * 32u + own;
  let inside = matrix < params.v[1];
  var status = 0;
  var c00 = f64(0.0);
  var c01 = f64(0.0);
  var c10 = f64(0.0);
  var c11 = f64(0.0);
  if (inside) {
    let x0 = bitcast<f64>(((u64*)b0)[params.v[3] + matrix * params.v[4] + 0u * params.v[5] + 0u]);
    c00 = x0;
// … 2 more of these 2 lines (c47506dd), and
    let x3 = bitcast<f64>(((u64*)b0)[params.v[3] + matrix * params.v[4] + 1u * params.v[5] + 1u]);
    c11 = x3;
  }
  var most = f64(0.0);
  if (!((tern_isfinite(c00)))) { status = -1; }
  most = max(most, tern_abs(c00));
// … 2 more of these 2 lines (9bf5cb93), and
  if (!((tern_isfinite(c11)))) { status = -1; }
  most = max(most, tern_abs(c11));
  let power = power_of(most);
  let up = f64(1.0) / power;
  c00 = scaled(c00, up);
  c01 = scaled(c01, up);
  c10 = scaled(c10, up);
  c11 = scaled(c11, up);
  var v00 = f64(1.0);
  var v01 = f64(0.0);
  var v10 = f64(0.0);
  var v11 = f64(1.0);
  var value0 = f64(0.0);
  var value1 = f64(0.0);
  var going = select(0u, 1u, status == 0);
  for (var sweep = 0u; sweep < 40u && going == 1u; sweep += 1u) {
    going = 0u;
    value0 = f64(0.0);
    value0 = fma(c00, c00, value0);
    value0 = fma(c10, c10, value0);
    value1 = f64(0.0);
    value1 = fma(c01, c01, value1);
    value1 = fma(c11, c11, value1);
    {
      var off = f64(0.0);
      off = fma(c00, c01, off);
      off = fma(c10, c11, off);
      if (min(value0, value1) > f64(1.49166814624004135e-154) && tern_abs(off) > f64(3.14018491736755033e-16) * sqrt(value0 * value1)) {
        let cotangent = (value1 - value0) / (off + off);
        let steep = min(tern_abs(cotangent), f64(1e150));
        let tangent = f64(1.0) / (steep + sqrt(fma(steep, steep, f64(1.0))));
        let t = select(tangent, -tangent, cotangent < f64(0.0));
        let c = (f64(1.0) / sqrt(fma(t, t, f64(1.0))));
        let s = t * c;
        value0 = fma(-t, off, value0);
        value1 = fma(t, off, value1);
        going = 1u;
        {
          let kept = c00;
          c00 = fma(-s, c01, c * kept);
          c01 = fma(s, kept, c * c01);
        }
        {
          let kept = c10;
          c10 = fma(-s, c11, c * kept);
          c11 = fma(s, kept, c * c11);
        }
        {
          let kept = v00;
          v00 = fma(-s, v01, c * kept);
          v01 = fma(s, kept, c * v01);
        }
        {
          let kept = v10;
          v10 = fma(-s, v11, c * kept);
          v11 = fma(s, kept, c * v11);
        }
      }
    }
  }
  if (status == 0 && going == 1u) { status = 1; }
  {  // columns that vanish in squares are measured by themselves
    var largest = f64(0.0);
    largest = max(largest, tern_abs(c00));
    largest = max(largest, tern_abs(c10));
    let size = power_of(largest);
    let less = f64(1.0) / size;
    var square = f64(0.0);
    square = fma(c00 * less, c00 * less, square);
    square = fma(c10 * less, c10 * less, square);
    value0 = sqrt(square) * size;
  }
  {  // columns that vanish in squares are measured by themselves
    var largest = f64(0.0);
    largest = max(largest, tern_abs(c01));
    largest = max(largest, tern_abs(c11));
    let size = power_of(largest);
    let less = f64(1.0) / size;
    var square = f64(0.0);
    square = fma(c01 * less, c01 * less, square);
    square = fma(c11 * less, c11 * less, square);
    value1 = sqrt(square) * size;
  }
  if (value1 > value0) {
    {
      let kept = value0;
      value0 = value1;
      value1 = kept;
    }
    {
      let kept = c00;
      c00 = c01;
      c01 = kept;
    }
    {
      let kept = c10;
      c10 = c11;
      c11 = kept;
    }
    {
      let kept = v00;
      v00 = v01;
      v01 = kept;
    }
    {
      let kept = v10;
      v10 = v11;
      v11 = kept;
    }
  }
  if (inside) {
    ((u64*)b1)[params.v[6] + matrix * params.v[7] + 0u] = bitcast<u64>(unscaled(value0, power));
    ((u64*)b1)[params.v[6] + matrix * params.v[7] + 1u] = bitcast<u64>(unscaled(value1, power));
  }
  var most0 = f64(0.0);
  most0 = max(most0, tern_abs(c00));
  most0 = max(most0, tern_abs(c10));
  let scale0 = power_of(most0);
  let up0 = f64(1.0) / scale0;
  c00 = scaled(c00, up0);
  c10 = scaled(c10, up0);
  var most1 = f64(0.0);
  most1 = max(most1, tern_abs(c01));
  most1 = max(most1, tern_abs(c11));
  let scale1 = power_of(most1);
  let up1 = f64(1.0) / scale1;
  c01 = scaled(c01, up1);
  c11 = scaled(c11, up1);
  var largest0 = tern_abs(c00);
  largest0 = max(largest0, tern_abs(c10));
  let size0 = power_of(largest0);
  let less0 = f64(1.0) / size0;
  let first0 = c00 * less0;
  var below0 = f64(0.0);
  below0 = fma(c10 * less0, c10 * less0, below0);
  let none0 = below0 == f64(0.0) || (largest0 < size0 && below0 < f64(2.0));
  let length0 = sqrt(fma(first0, first0, below0));
  let made0 = select(select(length0, -length0, first0 > f64(0.0)), first0, none0);
  let to0 = first0 - made0;
  let of_v0 = select((less0 / select(to0, f64(1.0), none0)), f64(0.0), none0);
  let tau0 = select((-to0 / select(made0, f64(1.0), none0)), f64(0.0), none0);
  let d0 = made0 * size0;
  c10 = c10 * of_v0;
  {
    var w = c01;
    w = fma(c10, c11, w);
    w = w * tau0;
    c01 = c01 - w;
    c11 = fma(-c10, w, c11);
  }
  var largest1 = tern_abs(c11);
  let size1 = power_of(largest1);
  let less1 = f64(1.0) / size1;
  let first1 = c11 * less1;
  var below1 = f64(0.0);
  let none1 = below1 == f64(0.0) || (largest1 < size1 && below1 < f64(2.0));
  let length1 = sqrt(fma(first1, first1, below1));
  let made1 = select(select(length1, -length1, first1 > f64(0.0)), first1, none1);
  let to1 = first1 - made1;
  let of_v1 = select((less1 / select(to1, f64(1.0), none1)), f64(0.0), none1);
  let tau1 = select((-to1 / select(made1, f64(1.0), none1)), f64(0.0), none1);
  let d1 = made1 * size1;
  var q00 = f64(1.0);
  var q01 = f64(0.0);
  var q10 = f64(0.0);
  var q11 = f64(1.0);
  {
    var w = q11;
    w = w * tau1;
    q11 = q11 - w;
  }
  {
    var w = q00;
    w = fma(c10, q10, w);
    w = w * tau0;
    q00 = q00 - w;
    q10 = fma(-c10, w, q10);
  }
  {
    var w = q01;
    w = fma(c10, q11, w);
    w = w * tau0;
    q01 = q01 - w;
    q11 = fma(-c10, w, q11);
  }
  if (inside) {
    ((u64*)b2)[params.v[8] + matrix * params.v[9] + 0u * params.v[10] + 0u] = bitcast<u64>(select(q00, -q00, d0 < f64(0.0)));
    ((u64*)b2)[params.v[8] + matrix * params.v[9] + 0u * params.v[10] + 1u] = bitcast<u64>(select(q01, -q01, d1 < f64(0.0)));
    ((u64*)b2)[params.v[8] + matrix * params.v[9] + 1u * params.v[10] + 0u] = bitcast<u64>(select(q10, -q10, d0 < f64(0.0)));
    ((u64*)b2)[params.v[8] + matrix * params.v[9] + 1u * params.v[10] + 1u] = bitcast<u64>(select(q11, -q11, d1 < f64(0.0)));
    ((u64*)b3)[params.v[11] + matrix * params.v[12] + 0u * params.v[13] + 0u] = bitcast<u64>(v00);
    ((u64*)b3)[params.v[11] + matrix * params.v[12] + 1u * params.v[13] + 0u] = bitcast<u64>(v01);
    ((u64*)b3)[params.v[11] + matrix * params.v[12] + 0u * params.v[13] + 1u] = bitcast<u64>(v10);
    ((u64*)b3)[params.v[11] + matrix * params.v[12] + 1u * params.v[13] + 1u] = bitcast<u64>(v11);
  }
  if (inside) {
    if (status != 0) {
      {
        let seen = atomicCAS(&b4[0], 0u, params.v[15]);
        if (seen == 0u || seen == params.v[15]) { atomicMax(&b4[1], ~u32(min(matrix, 67108862u) * 64u + u32(status + 1))); }
      }
    }
  }
}

// ---- large matrices, by the vendor's library: cholesky, 1 workgroups of 256, 3 words
// status of matrices, cleared
struct Params {
  u32 v[3];
};
extern "C" __global__ void __launch_bounds__(256) tern_kernel(u32* __restrict__ b0, const __grid_constant__ Params params) {
  let matrix = group * 256u + thread;
  if (matrix < params.v[1]) {
    let none = 0;
    ((u32*)b0)[params.v[2]] = bitcast<u32>(none);
  }
}

// ---- large matrices, by the vendor's library: cholesky, 10 workgroups of 256, 11 words
// matrices, transposed, finite or noted
extern "C" __global__ void __launch_bounds__(256) tern_kernel(const u32* __restrict__ b0, u32* __restrict__ b1, u32* __restrict__ b2, const __grid_constant__ Params params) {
  let matrix = group / params.v[4];
  let tile = group - matrix * params.v[4];
  let down = tile / params.v[5];
  let i = down * 8u + thread % 8u;
  let j = (tile - down * params.v[5]) * 32u + thread / 8u;
  if (matrix < params.v[1] && i < params.v[2] && j < params.v[3]) {
    let x0 = bitcast<f32>(((u32*)b0)[params.v[6] + i * params.v[7] + j]);
    var x = x0;
    if (j > i) { x = f32(0.0); }
    if (!((tern_isfinite_f32(x)))) {
      x = f32(0.0);
      let status = -1;
      ((u32*)b2)[params.v[10] + 0u + 0u] = bitcast<u32>(status);
    }
    ((u32*)b1)[params.v[8] + i + j * params.v[9]] = bitcast<u32>(x);
  }
}

// ---- large matrices, by the vendor's library: cholesky, 10 workgroups of 256, 11 words
// matrices, transposed, NaN where one is bad
extern "C" __global__ void __launch_bounds__(256) tern_kernel(const u32* __restrict__ b0, u32* __restrict__ b1, const u32* __restrict__ b2, const __grid_constant__ Params params) {
  let matrix = group / params.v[4];
  let tile = group - matrix * params.v[4];
  let down = tile / params.v[5];
  let i = down * 8u + thread % 8u;
  let j = (tile - down * params.v[5]) * 32u + thread / 8u;
  if (matrix < params.v[1] && i < params.v[2] && j < params.v[3]) {
    let x0 = bitcast<f32>(((u32*)b0)[params.v[6] + i + j * params.v[7]]);
    var x = x0;
    let x1 = bitcast<i32>(((u32*)b2)[params.v[10] + 0u + 0u]);
    if (x1 != 0) { x = bitcast<f32>(0x7fc00000u); }
    if (j > i) { x = f32(0.0); }
    ((u32*)b1)[params.v[8] + i * params.v[9] + j] = bitcast<u32>(x);
  }
}

// ---- large matrices, by the vendor's library: cholesky, 1 workgroups of 256, 5 words
// matrices, status
struct Params {
  u32 v[5];
};
extern "C" __global__ void __launch_bounds__(256) tern_kernel(const u32* __restrict__ b0, const u32* __restrict__ b1, u32* __restrict__ b2, const __grid_constant__ Params params) {
  let matrix = group * 256u + thread;
  if (matrix < params.v[1]) {
    let x0 = bitcast<i32>(((u32*)b0)[params.v[2] + 0u + 0u]);
    let x1 = bitcast<i32>(((u32*)b1)[params.v[3] + 0u + 0u]);
    let status = select(x1, x0, x0 != 0);
    ((u32*)b2)[params.v[4] + 0u + 0u] = bitcast<u32>(status);
  }
}

// ---- more of large matrices: solve, 13 workgroups of 256, 12 words
// matrices, moved, NaN where one is bad
extern "C" __global__ void __launch_bounds__(256) tern_kernel(const u32* __restrict__ b0, u32* __restrict__ b1, const u32* __restrict__ b2, const __grid_constant__ Params params) {
  let e = group * 256u + thread;
  let row = e / params.v[3];
  let j = e - row * params.v[3];
  let matrix = row / params.v[2];
  let i = row - matrix * params.v[2];
  if (matrix < params.v[1]) {
    let x0 = bitcast<f32>(((u32*)b0)[params.v[5] + matrix * params.v[6] + i + j * params.v[7]]);
    var x = x0;
    let x1 = bitcast<i32>(((u32*)b2)[params.v[11] + matrix + 0u + 0u]);
    if (x1 != 0) { x = bitcast<f32>(0x7fc00000u); }
    ((u32*)b1)[params.v[8] + matrix * params.v[9] + i + j * params.v[10]] = bitcast<u32>(x);
  }
}

// ---- more of large matrices: solve, 1 workgroups of 256, 10 words
// matrices, pivots
extern "C" __global__ void __launch_bounds__(256) tern_kernel(const u32* __restrict__ b0, u32* __restrict__ b1, const __grid_constant__ Params params) {
  let e = group * 256u + thread;
  let row = e / params.v[3];
  let j = e - row * params.v[3];
  let matrix = row / params.v[2];
  let i = row - matrix * params.v[2];
  if (matrix < params.v[1]) {
    let x0 = bitcast<i32>(((u32*)b0)[params.v[5] + matrix * params.v[6] + i + j * params.v[7]]);
    let place = i32(x0) - 1;
    ((u32*)b1)[params.v[8] + matrix * params.v[9] + i] = bitcast<u32>(place);
  }
}

// ---- more of large matrices: solve, 1 workgroups of 256, 10 words
// matrices, places of rows
extern "C" __global__ void __launch_bounds__(256) tern_kernel(const u32* __restrict__ b0, u32* __restrict__ b1, const __grid_constant__ Params params) {
  let e = group * 256u + thread;
  let row = e / params.v[3];
  let j = e - row * params.v[3];
  let matrix = row / params.v[2];
  let i = row - matrix * params.v[2];
  if (matrix < params.v[1]) {
    var place = i32(i);
    for (var step = 0u; step < params.v[2]; step += 1u) {
      let k = params.v[2] - 1u - step;
      let x0 = bitcast<i32>(((u32*)b0)[params.v[5] + matrix * params.v[6] + k]);
      let other = clamp(i32(x0), 0, i32(params.v[2]) - 1);
      let here = i32(k);
      let at_here = place == here;
      let at_other = place == other;
      place = select(select(place, here, at_other), other, at_here);
    }
    ((u32*)b1)[params.v[7] + matrix * params.v[8] + i + j * params.v[9]] = bitcast<u32>(place);
  }
}

// ---- more of large matrices: solve, 1 workgroups of 256, 14 words
// matrices, moved, rows as they were exchanged
extern "C" __global__ void __launch_bounds__(256) tern_kernel(const u32* __restrict__ b0, u32* __restrict__ b1, const u32* __restrict__ b2, const __grid_constant__ Params params) {
  let e = group * 256u + thread;
  let row = e / params.v[3];
  let j = e - row * params.v[3];
  let matrix = row / params.v[2];
  let i = row - matrix * params.v[2];
  if (matrix < params.v[1]) {
    let x0 = bitcast<i32>(((u32*)b2)[params.v[11] + matrix * params.v[12] + i + 0u * params.v[13]]);
    let place = u32(x0);
    let x1 = bitcast<f32>(((u32*)b0)[params.v[5] + matrix * params.v[6] + place * params.v[7] + j]);
    var x = x1;
    ((u32*)b1)[params.v[8] + matrix * params.v[9] + i * params.v[10] + j] = bitcast<u32>(x);
  }
}

// ---- more of large matrices: solve, 2 workgroups of 64, 15 words
// triangle of a block
struct Params {
  u32 v[15];
};
extern "C" __global__ void __launch_bounds__(64) tern_kernel(const u32* __restrict__ b0, u32* __restrict__ b1, const __grid_constant__ Params params) {
  __shared__ vec4<f32> triangle[264];
  let matrix = group / params.v[4];
  let part = group - matrix * params.v[4];
  for (var e = thread; e < 1024u; e += 64u) {
    let i = e / 32u;
    let k = e - i * 32u;
    var below = f32(0.0);
    if (k < i && i < params.v[2]) { below = bitcast<f32>(((u32*)b0)[params.v[6] + matrix * params.v[7] + (i) + (k) * params.v[8]]); }
    triangle[k * 8u + i / 4u][i & 3u] = below;
  }
  __syncthreads();
  let j = part * 64u + thread;
  if (j < params.v[3]) {
    var x0 = vec4<f32>();
// … 6 more of these 1 lines (720f88e6), and
    var x7 = vec4<f32>();
    x0.x = select(f32(0.0), bitcast<f32>(((u32*)b1)[params.v[9] + matrix * params.v[10] + (min(0u, params.v[2] - 1u)) * params.v[11] + (j)]), 0u < params.v[2]);
    x0.y = select(f32(0.0), bitcast<f32>(((u32*)b1)[params.v[9] + matrix * params.v[10] + (min(1u, params.v[2] - 1u)) * params.v[11] + (j)]), 1u < params.v[2]);
    x0.z = select(f32(0.0), bitcast<f32>(((u32*)b1)[params.v[9] + matrix * params.v[10] + (min(2u, params.v[2] - 1u)) * params.v[11] + (j)]), 2u < params.v[2]);
    x0.w = select(f32(0.0), bitcast<f32>(((u32*)b1)[params.v[9] + matrix * params.v[10] + (min(3u, params.v[2] - 1u)) * params.v[11] + (j)]), 3u < params.v[2]);
// … 6 more of these 4 lines (dff2ce0f), and
    x7.x = select(f32(0.0), bitcast<f32>(((u32*)b1)[params.v[9] + matrix * params.v[10] + (min(28u, params.v[2] - 1u)) * params.v[11] + (j)]), 28u < params.v[2]);
    x7.y = select(f32(0.0), bitcast<f32>(((u32*)b1)[params.v[9] + matrix * params.v[10] + (min(29u, params.v[2] - 1u)) * params.v[11] + (j)]), 29u < params.v[2]);
    x7.z = select(f32(0.0), bitcast<f32>(((u32*)b1)[params.v[9] + matrix * params.v[10] + (min(30u, params.v[2] - 1u)) * params.v[11] + (j)]), 30u < params.v[2]);
    x7.w = select(f32(0.0), bitcast<f32>(((u32*)b1)[params.v[9] + matrix * params.v[10] + (min(31u, params.v[2] - 1u)) * params.v[11] + (j)]), 31u < params.v[2]);
    for (var round = 0u; round * 4u < params.v[2]; round += 1u) {
      {
        let k = round * 4u + 0u;
        if (k < params.v[2]) { ((u32*)b1)[params.v[12] + matrix * params.v[13] + (k) * params.v[14] + (j)] = bitcast<u32>(x0.x); }
        x0.y = fma(-x0.x, triangle[k * 8u + round].y, x0.y);
        x0.z = fma(-x0.x, triangle[k * 8u + round].z, x0.z);
        x0.w = fma(-x0.x, triangle[k * 8u + round].w, x0.w);
        x1 = fma(vec4<f32>(-x0.x), triangle[k * 8u + round + 1u], x1);
// … 5 more of these 1 lines (46c4c3e8), and
        x7 = fma(vec4<f32>(-x0.x), triangle[k * 8u + round + 7u], x7);
      }
      {
        let k = round * 4u + 1u;
        if (k < params.v[2]) { ((u32*)b1)[params.v[12] + matrix * params.v[13] + (k) * params.v[14] + (j)] = bitcast<u32>(x0.y); }
        x0.z = fma(-x0.y, triangle[k * 8u + round].z, x0.z);
        x0.w = fma(-x0.y, triangle[k * 8u + round].w, x0.w);
        x1 = fma(vec4<f32>(-x0.y), triangle[k * 8u + round + 1u], x1);
// … 5 more of these 1 lines (71f3fcf3), and
        x7 = fma(vec4<f32>(-x0.y), triangle[k * 8u + round + 7u], x7);
      }
      {
        let k = round * 4u + 2u;
        if (k < params.v[2]) { ((u32*)b1)[params.v[12] + matrix * params.v[13] + (k) * params.v[14] + (j)] = bitcast<u32>(x0.z); }
        x0.w = fma(-x0.z, triangle[k * 8u + round].w, x0.w);
        x1 = fma(vec4<f32>(-x0.z), triangle[k * 8u + round + 1u], x1);
// … 5 more of these 1 lines (1cd2a5b6), and
        x7 = fma(vec4<f32>(-x0.z), triangle[k * 8u + round + 7u], x7);
      }
      {
        let k = round * 4u + 3u;
        if (k < params.v[2]) { ((u32*)b1)[params.v[12] + matrix * params.v[13] + (k) * params.v[14] + (j)] = bitcast<u32>(x0.w); }
        x1 = fma(vec4<f32>(-x0.w), triangle[k * 8u + round + 1u], x1);
// … 5 more of these 1 lines (375f6fdd), and
        x7 = fma(vec4<f32>(-x0.w), triangle[k * 8u + round + 7u], x7);
      }
      x0 = x1;
// … 5 more of these 1 lines (29facc42), and
      x6 = x7;
    }
  }
}

// ---- more of large matrices: solve, 10 workgroups of 256, 13 words
// matrices, transposed
extern "C" __global__ void __launch_bounds__(256) tern_kernel(const u32* __restrict__ b0, u32* __restrict__ b1, const __grid_constant__ Params params) {
  let matrix = group / params.v[4];
  let tile = group - matrix * params.v[4];
  let down = tile / params.v[5];
  let i = down * 8u + thread % 8u;
  let j = (tile - down * params.v[5]) * 32u + thread / 8u;
  if (matrix < params.v[1] && i < params.v[2] && j < params.v[3]) {
    let x0 = bitcast<f32>(((u32*)b0)[params.v[7] + matrix * params.v[8] + i * params.v[9] + j]);
    var x = x0;
    ((u32*)b1)[params.v[10] + matrix * params.v[11] + i + j * params.v[12]] = bitcast<u32>(x);
  }
}

// ---- more of large matrices: solve, 10 workgroups of 256, 16 words
// matrices, transposed, rows as they were exchanged
extern "C" __global__ void __launch_bounds__(256) tern_kernel(const u32* __restrict__ b0, u32* __restrict__ b1, const u32* __restrict__ b2, const __grid_constant__ Params params) {
  let matrix = group / params.v[4];
  let tile = group - matrix * params.v[4];
  let down = tile / params.v[5];
  let i = down * 8u + thread % 8u;
  let j = (tile - down * params.v[5]) * 32u + thread / 8u;
  if (matrix < params.v[1] && i < params.v[2] && j < params.v[3]) {
    let x0 = bitcast<i32>(((u32*)b2)[params.v[13] + matrix * params.v[14] + i + 0u * params.v[15]]);
    let place = u32(x0);
    let x1 = bitcast<f32>(((u32*)b0)[params.v[7] + matrix * params.v[8] + place + j * params.v[9]]);
    var x = x1;
    ((u32*)b1)[params.v[10] + matrix * params.v[11] + i * params.v[12] + j] = bitcast<u32>(x);
  }
}

// ---- more of large matrices: solve_triangular, 1 workgroups of 256, 11 words
// matrices, moved
extern "C" __global__ void __launch_bounds__(256) tern_kernel(const u32* __restrict__ b0, u32* __restrict__ b1, const __grid_constant__ Params params) {
  let e = group * 256u + thread;
  let row = e / params.v[3];
  let j = e - row * params.v[3];
  let matrix = row / params.v[2];
  let i = row - matrix * params.v[2];
  if (matrix < params.v[1]) {
    let x0 = bitcast<f32>(((u32*)b0)[params.v[5] + matrix * params.v[6] + i * params.v[7] + j]);
    var x = x0;
    ((u32*)b1)[params.v[8] + matrix * params.v[9] + i * params.v[10] + j] = bitcast<u32>(x);
  }
}

// ---- more of large matrices: qr, 80 workgroups of 256, 12 words
// matrices, largest
extern "C" __global__ void __launch_bounds__(256) tern_kernel(const u32* __restrict__ b0, u32* __restrict__ b1, const __grid_constant__ Params params) {
  __shared__ f32 seen[256];
  let matrix = group / params.v[5];
  let part = group - matrix * params.v[5];
  var largest = f32(0.0);
  let end = min(params.v[3], 0u + params.v[2]);
  for (var e = 0u + thread; e < end; e += 256u) {
    let i = e;
    let j = part;
    let x0 = bitcast<f32>(((u32*)b0)[params.v[7] + matrix * params.v[8] + i * params.v[9] + j]);
    if ((tern_isfinite_f32(x0))) { largest = max(largest, tern_abs_f32(x0)); }
  }
  seen[thread] = largest;
  __syncthreads();
  if (thread == 0u && matrix < params.v[1]) {
    for (var k = 0u; k < 256u; k += 1u) { largest = max(largest, seen[k]); }
    let count = bitcast<u32>(largest);
    let subnormal = i32(count >> 23u) == 0;
    let size = bitcast<u32>(select(largest, f32(count), subnormal));
    let by = select(40 - i32(size >> 23u) + select(127, 276, subnormal), 0, largest == f32(0.0));
    ((u32*)b1)[params.v[10] + matrix * params.v[11] + part] = bitcast<u32>(by);
  }
}

// ---- more of large matrices: qr, 13 workgroups of 256, 13 words
// matrices, moved, scaled
extern "C" __global__ void __launch_bounds__(256) tern_kernel(const u32* __restrict__ b0, u32* __restrict__ b1, const u32* __restrict__ b2, const __grid_constant__ Params params) {
  let e = group * 256u + thread;
  let row = e / params.v[3];
  let j = e - row * params.v[3];
  let matrix = row / params.v[2];
  let i = row - matrix * params.v[2];
  if (matrix < params.v[1]) {
    let x0 = bitcast<f32>(((u32*)b0)[params.v[5] + matrix * params.v[6] + i * params.v[7] + j]);
    var x = x0;
    let x1 = bitcast<i32>(((u32*)b2)[params.v[11] + matrix * params.v[12] + j]);
    let half = (x1) / 2;
    let other_half = (x1) - half;
    x = x * bitcast<f32>(u32(half + 127) << 23u) * bitcast<f32>(u32(other_half + 127) << 23u);
    ((u32*)b1)[params.v[8] + matrix * params.v[9] + i * params.v[10] + j] = bitcast<u32>(x);
  }
}

// ---- more of large matrices: qr, 2 workgroups of 256, 14 words
// qr of a panel
extern "C" __global__ void __launch_bounds__(256) tern_kernel(u32* __restrict__ b0, u32* __restrict__ b1, u32* __restrict__ b2, const __grid_constant__ Params params) {
  __shared__ f32 partial[256];
  __shared__ f32 dots[32];
  __shared__ f32 heads[32];
  __shared__ f32 ws[32];
  let matrix = group;
  let c = thread % 32u;
  let slice = thread / 32u;
  let mine = c < params.v[3];
  {
    var sum = f32(0.0);
    for (var i = slice; i < params.v[2]; i += 8u) {
      if (mine) {
        let y = bitcast<f32>(((u32*)b0)[params.v[5] + matrix * params.v[6] + (i) * params.v[7] + (c)]);
        ((u32*)b2)[params.v[11] + matrix * params.v[12] + (i) * params.v[13] + (c)] = bitcast<u32>(y);
        if (i > 0u) { sum = fma(bitcast<f32>(((u32*)b0)[params.v[5] + matrix * params.v[6] + (i) * params.v[7] + (0u)]), y, sum); }
      }
    }
    partial[thread] = sum;
  }
  __syncthreads();
  for (var k = 0u; k < params.v[3]; k += 1u) {
    let here = k % 2u * params.v[2];
    let there = params.v[2] - here;
    if (thread < 32u && mine) {
      var sum = f32(0.0);
      for (var s = 0u; s < 8u; s += 1u) { sum = sum + partial[s * 32u + thread]; }
      dots[thread] = sum;
      heads[thread] = bitcast<f32>(((u32*)b2)[params.v[11] + matrix * params.v[12] + (here + k) * params.v[13] + (thread)]);
    }
    __syncthreads();
    let first = heads[k];
    let squares = dots[k];
    let none = squares == f32(0.0);
    let length = tern_sqrt((fma(first, first, squares)));
    let made = select(select(length, -length, first > f32(0.0)), first, none);
    let scale = select((tern_div((f32(1.0)), (select(first - made, f32(1.0), none)))), f32(0.0), none);
    let tau = select((tern_div((made - first), (select(made, f32(1.0), none)))), f32(0.0), none);
    if (thread < 32u && mine) {
      let w = tau * fma(scale, dots[thread], heads[thread]);
      ws[thread] = w;
      if (thread == k) { ((u32*)b0)[params.v[5] + matrix * params.v[6] + (k) * params.v[7] + (thread)] = bitcast<u32>(made); }
      if (thread > k) { ((u32*)b0)[params.v[5] + matrix * params.v[6] + (k) * params.v[7] + (thread)] = bitcast<u32>(heads[thread] - w); }
      if (thread <= k) { ((u32*)b1)[params.v[8] + matrix * params.v[9] + (thread) * params.v[10] + (k)] = bitcast<u32>(select(f32(0.0), f32(1.0), thread == k && !none)); }
    }
    __syncthreads();
    let next = min(k + 1u, params.v[3] - 1u);
    let w = ws[min(c, params.v[3] - 1u)];
    let w_of_next = ws[next];
    var sum = f32(0.0);
    for (var i = k + 1u + slice; i < params.v[2]; i += 8u) {
      if (mine && c >= k) {
        let v = bitcast<f32>(((u32*)b2)[params.v[11] + matrix * params.v[12] + (here + i) * params.v[13] + (k)]) * scale;
        if (c == k) {
          ((u32*)b1)[params.v[8] + matrix * params.v[9] + (i) * params.v[10] + (k)] = bitcast<u32>(v);
        } else {
          let y = fma(-v, w, bitcast<f32>(((u32*)b2)[params.v[11] + matrix * params.v[12] + (here + i) * params.v[13] + (c)]));
          ((u32*)b2)[params.v[11] + matrix * params.v[12] + (there + i) * params.v[13] + (c)] = bitcast<u32>(y);
          if (i > k + 1u) { sum = fma(fma(-v, w_of_next, bitcast<f32>(((u32*)b2)[params.v[11] + matrix * params.v[12] + (here + i) * params.v[13] + (next)])), y, sum); }
        }
      }
    }
    partial[thread] = sum;
    __syncthreads();
  }
}

// ---- more of large matrices: qr, 13 workgroups of 256, 11 words
// matrices, moved, ones on the diagonal
extern "C" __global__ void __launch_bounds__(256) tern_kernel(u32* __restrict__ b0, const __grid_constant__ Params params) {
  let e = group * 256u + thread;
  let row = e / params.v[3];
  let j = e - row * params.v[3];
  let matrix = row / params.v[2];
  let i = row - matrix * params.v[2];
  if (matrix < params.v[1]) {
    let x0 = bitcast<f32>(((u32*)b0)[params.v[5] + matrix * params.v[6] + i * params.v[7] + j]);
    var x = x0;
    if (j != i) { x = f32(0.0); }
    if (i == j) { x = f32(1.0); }
    ((u32*)b0)[params.v[8] + matrix * params.v[9] + i * params.v[10] + j] = bitcast<u32>(x);
  }
}

// ---- more of large matrices: eigh, 20 workgroups of 256, 15 words
// matrices, transposed, finite or noted, scaled, without what is tiny
extern "C" __global__ void __launch_bounds__(256) tern_kernel(const u32* __restrict__ b0, u32* __restrict__ b1, const u32* __restrict__ b2, u32* __restrict__ b3, const __grid_constant__ Params params) {
  let matrix = group / params.v[4];
  let tile = group - matrix * params.v[4];
  let down = tile / params.v[5];
  let i = down * 8u + thread % 8u;
  let j = (tile - down * params.v[5]) * 32u + thread / 8u;
  if (matrix < params.v[1] && i < params.v[2] && j < params.v[3]) {
    let x0 = bitcast<f32>(((u32*)b0)[params.v[7] + matrix * params.v[8] + i * params.v[9] + j]);
    var x = x0;
    if (j > i) { x = f32(0.0); }
    if (!((tern_isfinite_f32(x)))) {
      x = f32(0.0);
      let status = -1;
      ((u32*)b3)[params.v[14] + matrix + 0u + 0u] = bitcast<u32>(status);
    }
    let x1 = bitcast<i32>(((u32*)b2)[params.v[13] + matrix]);
    let half = (x1) / 2;
    let other_half = (x1) - half;
    x = x * bitcast<f32>(u32(half + 127) << 23u) * bitcast<f32>(u32(other_half + 127) << 23u);
    if (i != j && tern_abs_f32(x) < bitcast<f32>(0x21800000u)) { x = f32(0.0); }
    ((u32*)b1)[params.v[10] + matrix * params.v[11] + i + j * params.v[12]] = bitcast<u32>(x);
  }
}

// ---- more of large matrices: eigh, 13 workgroups of 256, 9 words
// matrices, noted unless small
extern "C" __global__ void __launch_bounds__(256) tern_kernel(const u32* __restrict__ b0, u32* __restrict__ b1, const __grid_constant__ Params params) {
  let e = group * 256u + thread;
  let row = e / params.v[3];
  let j = e - row * params.v[3];
  let matrix = row / params.v[2];
  let i = row - matrix * params.v[2];
  if (matrix < params.v[1]) {
    let x0 = bitcast<f32>(((u32*)b0)[params.v[5] + matrix * params.v[6] + i + j * params.v[7]]);
    if (!(tern_abs_f32(x0) <= f32(params.v[2]) * f32(4.76837158e-07))) {
      let status = 1;
      ((u32*)b1)[params.v[8] + matrix + 0u + 0u] = bitcast<u32>(status);
    }
  }
}

// ---- more of large matrices: svd, 20 workgroups of 256, 15 words
// matrices, transposed, finite or noted, scaled
extern "C" __global__ void __launch_bounds__(256) tern_kernel(const u32* __restrict__ b0, u32* __restrict__ b1, const u32* __restrict__ b2, u32* __restrict__ b3, const __grid_constant__ Params params) {
  let matrix = group / params.v[4];
  let tile = group - matrix * params.v[4];
  let down = tile / params.v[5];
  let i = down * 8u + thread % 8u;
  let j = (tile - down * params.v[5]) * 32u + thread / 8u;
  if (matrix < params.v[1] && i < params.v[2] && j < params.v[3]) {
    let x0 = bitcast<f32>(((u32*)b0)[params.v[7] + matrix * params.v[8] + i * params.v[9] + j]);
    var x = x0;
    if (!((tern_isfinite_f32(x)))) {
      x = f32(0.0);
      let status = -1;
      ((u32*)b3)[params.v[14] + matrix + 0u + 0u] = bitcast<u32>(status);
    }
    let x1 = bitcast<i32>(((u32*)b2)[params.v[13] + matrix]);
    let half = (x1) / 2;
    let other_half = (x1) - half;
    x = x * bitcast<f32>(u32(half + 127) << 23u) * bitcast<f32>(u32(other_half + 127) << 23u);
    ((u64*)b1)[params.v[10] + matrix * params.v[11] + i + j * params.v[12]] = bitcast<u64>(f64(x));
  }
}

// ---- more of large matrices: svd, 10 workgroups of 256, 13 words
// matrices, moved, finite or noted, scaled
extern "C" __global__ void __launch_bounds__(256) tern_kernel(const u32* __restrict__ b0, u32* __restrict__ b1, const u32* __restrict__ b2, u32* __restrict__ b3, const __grid_constant__ Params params) {
  let e = group * 256u + thread;
  let row = e / params.v[3];
  let j = e - row * params.v[3];
  let matrix = row / params.v[2];
  let i = row - matrix * params.v[2];
  if (matrix < params.v[1]) {
    let x0 = bitcast<f32>(((u32*)b0)[params.v[5] + matrix * params.v[6] + i + j * params.v[7]]);
    var x = x0;
    if (!((tern_isfinite_f32(x)))) {
      x = f32(0.0);
      let status = -1;
      ((u32*)b3)[params.v[12] + matrix + 0u + 0u] = bitcast<u32>(status);
    }
    let x1 = bitcast<i32>(((u32*)b2)[params.v[11] + matrix]);
    let half = (x1) / 2;
    let other_half = (x1) - half;
    x = x * bitcast<f32>(u32(half + 127) << 23u) * bitcast<f32>(u32(other_half + 127) << 23u);
    ((u64*)b1)[params.v[8] + matrix * params.v[9] + i + j * params.v[10]] = bitcast<u64>(f64(x));
  }
}

// ---- more of large matrices: svdvals, 13 workgroups of 256, 11 words
// matrices, moved, without what is tiny
extern "C" __global__ void __launch_bounds__(256) tern_kernel(u32* __restrict__ b0, const __grid_constant__ Params params) {
  let e = group * 256u + thread;
  let row = e / params.v[3];
  let j = e - row * params.v[3];
  let matrix = row / params.v[2];
  let i = row - matrix * params.v[2];
  if (matrix < params.v[1]) {
    let x0 = bitcast<f64>(((u64*)b0)[params.v[5] + matrix * params.v[6] + i + j * params.v[7]]);
    var x = x0;
    if (i != j && tern_abs(x) < bitcast<f64>(0x20b0000000000000ull)) { x = f64(0.0); }
    ((u64*)b0)[params.v[8] + matrix * params.v[9] + i + j * params.v[10]] = bitcast<u64>(x);
  }
}

// ---- more of large matrices: svdvals, 1 workgroups of 256, 12 words
// matrices, moved, roots
extern "C" __global__ void __launch_bounds__(256) tern_kernel(const u32* __restrict__ b0, u32* __restrict__ b1, const __grid_constant__ Params params) {
  let e = group * 256u + thread;
  let row = e / params.v[3];
  let j = e - row * params.v[3];
  let matrix = row / params.v[2];
  let i = row - matrix * params.v[2];
  if (matrix < params.v[1]) {
    let x0 = bitcast<f64>(((u64*)b0)[params.v[5] + matrix * params.v[6] + i * params.v[7] + j * params.v[8]]);
    var x = x0;
    if (x < f64(0.0)) { x = f64(0.0); }
    x = sqrt(x);
    ((u32*)b1)[params.v[9] + matrix * params.v[10] + i + j * params.v[11]] = bitcast<u32>(f32(x));
  }
}

// ---- cholesky of a block: cholesky, 400 workgroups of 256, 12 words (b9a81960)
// ---- cholesky of a block: cholesky, 64 workgroups of 64, 14 words (ccddb668)
// ---- cholesky of a block: cholesky, 1 workgroups of 256, 6 words (849ee05d)
// ---- qr of a panel: qr, 4 workgroups of 128, 17 words (54f24767)
// ---- qr of a panel: qr, 64 workgroups of 256, 20 words (df68e00d)
// ---- singular values by rotations of blocks: svd, 128 workgroups of 256, 20 words (dfb9a5eb)
// ---- singular values by rotations of blocks: svd, 256 workgroups of 64, 18 words (1bfc5f3e)
// ---- singular values by rotations of blocks: svd, 64 workgroups of 256, 27 words (9feb5fc8)
// ---- singular values by rotations of blocks: svd, 400 workgroups of 256, 14 words (a23e1811)
// ---- singular values by rotations of blocks: svd, 640 workgroups of 256, 15 words (90821a4f)
// ---- product on Hopper's matrix units: matmul_bias_activation, 2 workgroups of 384, 11 words
// product on matrix units, tiles of 128x128x64 ping-pong
// The instance. (Enumerators, since constants at namespace scope become variables in the GPU's memory.)
enum : bool {
  kPingPong = true,
  kAAlongK = true, kBAlongK = false,  // neighbours in memory lie along k; else along m or n
  kABatched = false, kBBatched = false,
  kSplitK = false,
  kKeepsA = true,  // in the cache of the whole GPU, where a band's rows fit
};
enum : u32 {
  kTileM = 128u, kTileN = 128, kTileK = 64u,  // 64 along k: 128 bytes, a row of a swizzled box
  kStages = 5u,
  // Of each so many steps along k the last one's first elements are not multiplied: the step before had them, too.
  kSkipped = kAAlongK ? 0u : 0u, kStepsOfSkip = 1u,
  kBands = 8u,  // pairs of rows of tiles traversed together
  kStagedOutputs = 1u,
  kPlaces = 4u,  // for boxes of results
  kHalves = kPingPong ? 2u : 1u,  // of a tile's rows, of one consumer
  kSumsOf64 = kTileN / 2u, kSums = kHalves * kSumsOf64,  // of one thread
  kBoxOf64 = 64u * 128u,  // bytes of a box of 64 rows
  kBytesOfA = kTileM * 128u, kStageBytes = kBytesOfA + kTileN * 128u,
  kColumns = 32u, kBoxes = kTileN / kColumns,  // boxes of results
  kResultsOf64 = 64u * kColumns * 2u,  // bytes of 64 rows of one
};
static_assert(164864u + 2u * 4u * kHalves * kResultsOf64 + 1024u == 231424u, "workgroup memory");
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
// ---- products ----
// 64 rows, 16 elements of k, added to the sums from acc[first] on, which it sets where `add` is 0. The last two numbers
// of the instruction: whether a and b lie across k.
template <u32 first> TERN_DEVICE void multiply_64(f32 (&acc)[kSums], u64 a, u64 b, u32 add) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128" "k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, p, 1, 1, 0, 1;\n}"
      : "+f"(acc[first + 0]), "+f"(acc[first + 1]), "+f"(acc[first + 2]), "+f"(acc[first + 3]), "+f"(acc[first + 4]), "+f"(acc[first + 5]), "+f"(acc[first + 6]), "+f"(acc[first + 7]), "+f"(acc[first + 8]), "+f"(acc[first + 9]), "+f"(acc[first + 10]), "+f"(acc[first + 11]), "+f"(acc[first + 12]), "+f"(acc[first + 13]), "+f"(acc[first + 14]), "+f"(acc[first + 15]), "+f"(acc[first + 16]), "+f"(acc[first + 17]), "+f"(acc[first + 18]), "+f"(acc[first + 19]), "+f"(acc[first + 20]), "+f"(acc[first + 21]), "+f"(acc[first + 22]), "+f"(acc[first + 23]), "+f"(acc[first + 24]), "+f"(acc[first + 25]), "+f"(acc[first + 26]), "+f"(acc[first + 27]), "+f"(acc[first + 28]), "+f"(acc[first + 29]), "+f"(acc[first + 30]), "+f"(acc[first + 31]), "+f"(acc[first + 32]), "+f"(acc[first + 33]), "+f"(acc[first + 34]), "+f"(acc[first + 35]), "+f"(acc[first + 36]), "+f"(acc[first + 37]), "+f"(acc[first + 38]), "+f"(acc[first + 39]), "+f"(acc[first + 40]), "+f"(acc[first + 41]), "+f"(acc[first + 42]), "+f"(acc[first + 43]), "+f"(acc[first + 44]), "+f"(acc[first + 45]), "+f"(acc[first + 46]), "+f"(acc[first + 47]), "+f"(acc[first + 48]), "+f"(acc[first + 49]), "+f"(acc[first + 50]), "+f"(acc[first + 51]), "+f"(acc[first + 52]), "+f"(acc[first + 53]), "+f"(acc[first + 54]), "+f"(acc[first + 55]), "+f"(acc[first + 56]), "+f"(acc[first + 57]), "+f"(acc[first + 58]), "+f"(acc[first + 59]), "+f"(acc[first + 60]), "+f"(acc[first + 61]), "+f"(acc[first + 62]), "+f"(acc[first + 63])
      : "l"(a), "l"(b), "r"(add));
}
TERN_DEVICE void multiply(f32 (&acc)[kSums], u64 a, u64 b, u32 add) {
  multiply_64<0u>(acc, a, b, add);
  if constexpr (kPingPong) multiply_64<kSums - kSumsOf64>(acc, a + kBoxOf64 / 16u, b, add);
}
template <u32 first> TERN_DEVICE void wait_for_products_of_64(f32 (&acc)[kSums]) {
  if constexpr (first == 0u) asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(acc[first + 0]), "+f"(acc[first + 1]), "+f"(acc[first + 2]), "+f"(acc[first + 3]), "+f"(acc[first + 4]), "+f"(acc[first + 5]), "+f"(acc[first + 6]), "+f"(acc[first + 7]), "+f"(acc[first + 8]), "+f"(acc[first + 9]), "+f"(acc[first + 10]), "+f"(acc[first + 11]), "+f"(acc[first + 12]), "+f"(acc[first + 13]), "+f"(acc[first + 14]), "+f"(acc[first + 15]), "+f"(acc[first + 16]), "+f"(acc[first + 17]), "+f"(acc[first + 18]), "+f"(acc[first + 19]), "+f"(acc[first + 20]), "+f"(acc[first + 21]), "+f"(acc[first + 22]), "+f"(acc[first + 23]), "+f"(acc[first + 24]), "+f"(acc[first + 25]), "+f"(acc[first + 26]), "+f"(acc[first + 27]), "+f"(acc[first + 28]), "+f"(acc[first + 29]), "+f"(acc[first + 30]), "+f"(acc[first + 31]), "+f"(acc[first + 32]), "+f"(acc[first + 33]), "+f"(acc[first + 34]), "+f"(acc[first + 35]), "+f"(acc[first + 36]), "+f"(acc[first + 37]), "+f"(acc[first + 38]), "+f"(acc[first + 39]), "+f"(acc[first + 40]), "+f"(acc[first + 41]), "+f"(acc[first + 42]), "+f"(acc[first + 43]), "+f"(acc[first + 44]), "+f"(acc[first + 45]), "+f"(acc[first + 46]), "+f"(acc[first + 47]), "+f"(acc[first + 48]), "+f"(acc[first + 49]), "+f"(acc[first + 50]), "+f"(acc[first + 51]), "+f"(acc[first + 52]), "+f"(acc[first + 53]), "+f"(acc[first + 54]), "+f"(acc[first + 55]), "+f"(acc[first + 56]), "+f"(acc[first + 57]), "+f"(acc[first + 58]), "+f"(acc[first + 59]), "+f"(acc[first + 60]), "+f"(acc[first + 61]), "+f"(acc[first + 62]), "+f"(acc[first + 63]) :: "memory");
  else asm volatile("" : "+f"(acc[first + 0]), "+f"(acc[first + 1]), "+f"(acc[first + 2]), "+f"(acc[first + 3]), "+f"(acc[first + 4]), "+f"(acc[first + 5]), "+f"(acc[first + 6]), "+f"(acc[first + 7]), "+f"(acc[first + 8]), "+f"(acc[first + 9]), "+f"(acc[first + 10]), "+f"(acc[first + 11]), "+f"(acc[first + 12]), "+f"(acc[first + 13]), "+f"(acc[first + 14]), "+f"(acc[first + 15]), "+f"(acc[first + 16]), "+f"(acc[first + 17]), "+f"(acc[first + 18]), "+f"(acc[first + 19]), "+f"(acc[first + 20]), "+f"(acc[first + 21]), "+f"(acc[first + 22]), "+f"(acc[first + 23]), "+f"(acc[first + 24]), "+f"(acc[first + 25]), "+f"(acc[first + 26]), "+f"(acc[first + 27]), "+f"(acc[first + 28]), "+f"(acc[first + 29]), "+f"(acc[first + 30]), "+f"(acc[first + 31]), "+f"(acc[first + 32]), "+f"(acc[first + 33]), "+f"(acc[first + 34]), "+f"(acc[first + 35]), "+f"(acc[first + 36]), "+f"(acc[first + 37]), "+f"(acc[first + 38]), "+f"(acc[first + 39]), "+f"(acc[first + 40]), "+f"(acc[first + 41]), "+f"(acc[first + 42]), "+f"(acc[first + 43]), "+f"(acc[first + 44]), "+f"(acc[first + 45]), "+f"(acc[first + 46]), "+f"(acc[first + 47]), "+f"(acc[first + 48]), "+f"(acc[first + 49]), "+f"(acc[first + 50]), "+f"(acc[first + 51]), "+f"(acc[first + 52]), "+f"(acc[first + 53]), "+f"(acc[first + 54]), "+f"(acc[first + 55]), "+f"(acc[first + 56]), "+f"(acc[first + 57]), "+f"(acc[first + 58]), "+f"(acc[first + 59]), "+f"(acc[first + 60]), "+f"(acc[first + 61]), "+f"(acc[first + 62]), "+f"(acc[first + 63]) :: "memory");
}
TERN_DEVICE void wait_for_products(f32 (&acc)[kSums]) {
  wait_for_products_of_64<0u>(acc);
  if constexpr (kPingPong) wait_for_products_of_64<kSums - kSumsOf64>(acc);
}
// ---- the formula ----
struct Epilogue {
  const Params& params;
  vec4<u32>* __restrict__ b0;
  const vec4<u32>* __restrict__ b1;
  // Loads the operands for the columns col + ahead and the next one of a row, applies the formula to their sums, and
  // stores the results, or puts them into a word of each staged output.
  __device__ __forceinline__ void two_columns(f32 sum_0, f32 sum_1, [[maybe_unused]] u32 batch,
                                              [[maybe_unused]] u32 row, [[maybe_unused]] u32 col,
                                              [[maybe_unused]] u32 ahead, [[maybe_unused]] u32 (&words)[2][4],
                                              [[maybe_unused]] u32 word) const {
    // Sums stay floats: where a formula stores their bits as they are, the compiler would keep integers, and wait for
    // each product of the matrix units before the next.
    asm("" : "+f"(sum_0), "+f"(sum_1));
    let q0 = ((u32*)b1)[u64((params.v[10] + col) / 2u) + ahead / 2u];
    let x1 = tern_bf16_bits_to_f32((u32(q0) & 0xffffu));
    let x2 = tern_bf16_bits_to_f32((u32((q0 >> 16u)) & 0xffffu));
    let y3 = epilogue(params, sum_0, x1);
    let y4 = epilogue(params, sum_1, x2);
    words[0][word] = tern_f32_pair_to_bf16(y3, y4);
  }
};
// ---- tiles ----
struct Tile {
  u32 batch, first_m, first_n;
  u32 begin, end;  // along k
};
TERN_DEVICE Tile tile_of(const Params& params, u32 work, u32 rank) {
  let in_batch = params.v[4] * params.v[5];
  let batch = work / in_batch;
  let tile = work % in_batch;
  let band = tile / (kBands * params.v[5]);
  let in_band = tile - band * kBands * params.v[5];
  let pairs = min(kBands, params.v[4] - band * kBands);
  return {batch, ((band * kBands + in_band % pairs) * 2u + rank) * kTileM,
          min(in_band / pairs * kTileN, params.v[7]), 0u, params.v[3]};
}
// What a pair of workgroups takes: tiles as far apart as there are pairs, or, of split-K, its part of all their steps.
struct Share {
  const Params& params;
  u32 pair, at, end;
  __device__ __forceinline__ Share(const Params& p, u32 group) : params(p), pair(group / 2u), at(pair), end(params.v[6]) {
    if constexpr (kSplitK) at = first_step(pair), end = first_step(pair + 1u);
  }
  __device__ __forceinline__ u32 steps() const { return (params.v[3] + (kTileK - 1u)) / kTileK; }  // of a tile
  __device__ __forceinline__ u32 first_step(u32 of) const { return u32(u64(params.v[6] * steps()) * of / (gridDim.x / 2u)); }
  __device__ __forceinline__ u32 next() const {
    if constexpr (kSplitK) return min(end, (at / steps() + 1u) * steps());
    else return at + gridDim.x / 2u;
  }
  __device__ __forceinline__ bool any() const { return at < end; }
  __device__ __forceinline__ bool more() const { return next() < end; }
  __device__ __forceinline__ void advance() { at = next(); }
  __device__ __forceinline__ Tile tile(u32 rank) const {
    if constexpr (!kSplitK) return tile_of(params, at, rank);
    Tile tile = tile_of(params, at / steps(), rank);
    tile.begin = at % steps() * kTileK, tile.end = tile.begin + (next() - at) * kTileK;
    return tile;
  }
  // Where the results of a tile go.
  __device__ __forceinline__ Tile results(const Tile& tile, u32 rank) const {
    return kSplitK ? Tile{at / steps() + pair, rank * kTileM, 0u, 0u, 0u} : tile;
  }
};
// Where a workgroup's memory begins: the ring, its barriers (full, then empty), and boxes of results.
struct Memory {
  u32 ring, barriers, results;
};
// The stage of the ring that comes next, and the parity of the round through it.
struct Ring {
  u32 stage, round;
  __device__ __forceinline__ void advance() {
    if (++stage == kStages) { stage = 0u, round ^= 1u; }
  }
};
// ---- producer ----
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
// Each workgroup of the pair fetches half of b for both: half the columns, or half of k.
TERN_DEVICE void fetch_b(const BoxMap& map, const Tile& tile, const Steps& steps, u32 rank, u32 at, u32 full,
                         u64 policy) {
  constexpr bool by_k = !kBAlongK && (kPingPong || kTileN % 128u != 0u);
  constexpr u32 boxes = by_k || kBAlongK ? kTileN / 64u : kTileN / 128u;
  let to = at + kBytesOfA + rank * (by_k ? kBoxOf64 / 2u : kTileN * 64u);
  let mine = tile.first_n + (by_k ? 0u : rank * (kTileN / 2u)), k = steps.k_of_b(), batch = steps.batch_of_b();
  if constexpr (kBAlongK) tern_fetch_for_both(to, map, k, mine, batch, full, policy);
  else
#pragma unroll
    for (u32 i = 0u; i < boxes; ++i)
      tern_fetch_for_both(to + i * kBoxOf64, map, mine + 64u * i, by_k ? k + rank * (kTileK / 2u) : k, batch, full,
                          policy);
}
TERN_DEVICE void fetch(const Params& params, const BoxMap& map_a, const BoxMap& map_b, u32 group, u32 rank,
                       Memory memory) {
  let for_a = kKeepsA ? tern_kept() : tern_as_ever(), for_b = kKeepsA ? tern_passing() : for_a;
  Ring ring{0u, 0u};
  for (Share share(params, group); share.any(); share.advance()) {
    let tile = share.tile(rank);
    Steps steps(params, tile);
    for (u32 k = tile.begin; k < tile.end; k += kTileK) {
      let at = memory.ring + ring.stage * kStageBytes, full = memory.barriers + 8u * ring.stage;
      tern_wait(full + 8u * kStages, ring.round ^ 1u);
      tern_expect(full, kStageBytes);
      steps.fetch_a(map_a, at, full, for_a);
      fetch_b(map_b, tile, steps, rank, at, full, for_b);
      steps.advance(params);
      ring.advance();
    }
  }
}
// ---- consumers: products ----
// Gives the stage before this one up, in both workgroups of the pair.
TERN_DEVICE void give_up_last_stage(u32 thread, Ring ring, Memory memory) {
  if (thread % 128u < 2u)
    tern_arrive(memory.barriers + 8u * (kStages + (ring.stage == 0u ? kStages - 1u : ring.stage - 1u)), thread & 1u);
}
// The elements of a stage's k from `begin` on.
template <u32 begin> TERN_DEVICE void multiply_from(f32 (&acc)[kSums], u64 a, u64 b, u32 k) {
  // Elements of k step by 32 bytes within a row of a box, or by 16 rows; addresses count 16 bytes.
  constexpr u32 step_a = kAAlongK ? 2u : 128u, step_b = kBAlongK ? 2u : 128u;
  tern_begin_products();
#pragma unroll
  for (u32 i = begin / 16u; i < kTileK / 16u; ++i) multiply(acc, a + i * step_a, b + i * step_b, i == 0u ? k : 1u);
  tern_commit_products();
}
TERN_DEVICE void multiply_stage(f32 (&acc)[kSums], u32 thread, u32 member, u32 k, Ring ring, Memory memory) {
  let at = memory.ring + ring.stage * kStageBytes, full = memory.barriers + 8u * ring.stage;
  let a = tern_matrix(kPingPong ? at : at + member * kBoxOf64, kBoxOf64), b = tern_matrix(at + kBytesOfA, kBoxOf64);
  tern_wait(full, ring.round);
  if (kSkipped > 0u && k / kTileK % kStepsOfSkip == kStepsOfSkip - 1u) multiply_from<kSkipped>(acc, a, b, k);
  else multiply_from<0u>(acc, a, b, k);
  tern_wait_all_but_one();
  if (k > 0u) give_up_last_stage(thread, ring, memory);
}
// ---- consumers: results ----
// Where this warp group stages results, and within a box the place of the row this lane names: a row is 64 bytes, its
// pieces of 16 swapped by half the row's number.
struct Staging {
  u64 policy;
  u32 begin, swapped;
};
TERN_DEVICE Staging staging_of(u32 thread, u32 member, Memory memory) {
  return {kKeepsA ? tern_passing() : tern_as_ever(), memory.results + member * (4u * kHalves * kResultsOf64),
          (thread % 128u / 32u * 16u + (thread & 15u)) * 64u + ((thread & 31u) / 16u ^ thread / 2u & 3u) * 16u};
}
// 16 rows of each warp and 16 columns, which go to the boxes' places. What is alike in both halves of the rows stands
// together, or the compiler keeps all operands of the columns in registers. `sums`: the first; `at`: from col.
template <bool at_edge>
TERN_DEVICE void finish_piece(const Params& params, const Epilogue& epilogue, const f32* sums, const Tile& tile,
                              u32 row_0, u32 col, u32 at, const u32* places, u32 offset, u32 swapped) {
  u32 words[2][4];
#pragma unroll
  for (u32 e = 0u; e < 2u; ++e)
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      let row = row_0 + 8u * h;
      if (!at_edge || (row < params.v[1] && col + (at + 8u * e) < params.v[2]))
        epilogue.two_columns(sums[4u * e + 2u * h], sums[4u * e + 2u * h + 1u], tile.batch, row, col, at + 8u * e,
                             words, 2u * e + h);
    }
#pragma unroll
  for (u32 i = 0u; i != kStagedOutputs; ++i) tern_store_blocks(places[i] + offset + swapped, words[i]);
}
// The columns of a box, of all this warp group's rows. `sums`: the first half's first; `at`: from col.
template <bool at_edge>
TERN_DEVICE void finish_box(const Params& params, const Epilogue& epilogue, const BoxMap* const (&maps)[2],
                            const f32* sums, const Tile& tile, u32 box, u32 top, u32 col, u32 at, u32 thread,
                            u32 member, const Staging& staging) {
  constexpr bool batched[] = {false, false};
  u32 places[2];
#pragma unroll
  for (u32 i = 0u; i != kStagedOutputs; ++i)
    places[i] = staging.begin + (box * kStagedOutputs + i) % kPlaces * (kHalves * kResultsOf64);
  if constexpr (kStagedOutputs > 0u) {
    if (thread % 128u == 0u) { tern_wait_for_boxes_but<kPlaces - kStagedOutputs>(); }
    tern_warp_group_sync(2u + member);
  }
#pragma unroll
  for (u32 piece = 0u; piece < kColumns / 16u; ++piece)
#pragma unroll
    for (u32 half = 0u; half < kHalves; ++half)
      finish_piece<at_edge>(params, epilogue, sums + half * kSumsOf64 + 8u * piece, tile, top + 64u * half, col,
                            at + 16u * piece, places, half * kResultsOf64, staging.swapped ^ 32u * piece);
  if constexpr (kStagedOutputs > 0u) {
    tern_show_to_copies();
    tern_warp_group_sync(2u + member);
    if (thread % 128u == 0u)
#pragma unroll
      for (u32 i = 0u; i != kStagedOutputs; ++i)
        tern_store_box(*maps[i], tile.first_n + box * kColumns, kPingPong ? tile.first_m : tile.first_m + member * 64u,
                       batched[i] ? tile.batch : 0u, places[i], staging.policy);
  }
}
// A tile inside the matrix has no conditions; at its edges boxes take turns in the first sums, in one piece of code, up
// to the last that has columns. (The next tile begins with the first place again.)
TERN_DEVICE void finish(const Params& params, const Epilogue& epilogue, const BoxMap* const (&maps)[2],
                        f32 (&acc)[kSums], const Tile& tile, u32 thread, u32 member, const Staging& staging) {
  constexpr u32 sums_of_box = kColumns / 2u;  // of 64 rows
  let top = (kPingPong ? tile.first_m : tile.first_m + member * 64u) + thread % 128u / 32u * 16u + (thread & 31u) / 4u;
  u32 col = tile.first_n + (thread & 3u) * 2u;
  if (tile.first_m + kTileM <= params.v[1] && tile.first_n + kTileN <= params.v[2]) {
#pragma unroll
    for (u32 box = 0u; box < kBoxes; ++box)
      finish_box<false>(params, epilogue, maps, acc + box * sums_of_box, tile, box, top, col, box * kColumns, thread,
                        member, staging);
  } else {
#pragma unroll 1
    for (u32 box = 0u; box < kBoxes && tile.first_n + box * kColumns < params.v[2]; ++box, col += kColumns) {
      finish_box<true>(params, epilogue, maps, acc, tile, box, top, col, 0u, thread, member, staging);
#pragma unroll
      for (u32 i = 0u; i < kSums - sums_of_box; ++i) { acc[i] = acc[i + sums_of_box]; }
    }
    if (kStagedOutputs > 0u && thread % 128u == 0u) { tern_wait_for_boxes_but<0>(); }
  }
}
// Every other tile: one warp group multiplies while the other finishes a tile. Who is to multiply waits at a barrier of
// its own (4 and 5), at which the other arrives when it has no more to multiply.
TERN_DEVICE void multiply_ping_pong(const Params& params, const Epilogue& epilogue, const BoxMap* const (&maps)[2],
                                    u32 thread, u32 group, u32 member, u32 rank, Memory memory,
                                    const Staging& staging) {
  f32 acc[kSums] = {};
  Ring ring{0u, 0u};
  u32 nth = 0u;
  if (member == 1u) { asm volatile("barrier.cta.arrive 4, 256;" ::: "memory"); }
  for (Share share(params, group); share.any(); share.advance()) {
    let tile = share.tile(rank);
    if ((nth++ & 1u) != member) {
      ring.stage += (tile.end - tile.begin + (kTileK - 1u)) / kTileK;
      ring.round ^= ring.stage / kStages & 1u;
      ring.stage %= kStages;
      continue;
    }
    asm volatile("barrier.cta.sync %0, 256;" :: "r"(4u + member) : "memory");
    for (u32 k = tile.begin; k < tile.end; k += kTileK) {
      multiply_stage(acc, thread, member, k - tile.begin, ring, memory);
      ring.advance();
    }
    if (share.more()) { asm volatile("barrier.cta.arrive %0, 256;" :: "r"(5u - member) : "memory"); }
    wait_for_products(acc);
    give_up_last_stage(thread, ring, memory);
    finish(params, epilogue, maps, acc, share.results(tile, rank), thread, member, staging);
  }
}
// Half the rows of each tile. The second warp group stays two stages behind, so that one multiplies while the other
// finishes a tile.
TERN_DEVICE void multiply_halves(const Params& params, const Epilogue& epilogue, const BoxMap* const (&maps)[2],
                                 u32 thread, u32 group, u32 member, u32 rank, Memory memory, const Staging& staging) {
  f32 acc[kSums] = {};
  Ring ring{0u, 0u};
  bool ahead = false;
  if (member == 1u) { asm volatile("barrier.cta.sync 1, 256;"); }
  for (Share share(params, group); share.any(); share.advance()) {
    let tile = share.tile(rank);
    for (u32 k = tile.begin; k < tile.end; k += kTileK) {
      multiply_stage(acc, thread, member, k - tile.begin, ring, memory);
      if (member == 0u && !ahead && (k == tile.begin + kTileK || k + kTileK >= tile.end)) {
        asm volatile("barrier.cta.arrive 1, 256;");
        ahead = true;
      }
      ring.advance();
    }
    wait_for_products(acc);
    give_up_last_stage(thread, ring, memory);
    finish(params, epilogue, maps, acc, share.results(tile, rank), thread, member, staging);
  }
}
extern "C" __global__ void __launch_bounds__(384, 1) __cluster_dims__(2, 1, 1) tern_kernel(vec4<u32>* __restrict__ b0, const vec4<u32>* __restrict__ b1, const __grid_constant__ BoxMap map0, const __grid_constant__ BoxMap map1, const __grid_constant__ BoxMap map2, const __grid_constant__ Params params) {
  extern __shared__ unsigned char memory[];
  const u32 thread = threadIdx.x, group = blockIdx.x, rank = tern_rank();
  let begin = (tern_shared(memory) + 1023u) & ~1023u;
  const Memory at{begin, begin + 163840u, begin + 164864u};
  if (thread == 0u) {
    for (u32 i = 0u; i < kStages; ++i) {
      tern_barrier_init(at.barriers + 8u * i, 1u);
      tern_barrier_init(at.barriers + 8u * (kStages + i), kPingPong ? 2u : 4u);  // warp groups of two workgroups
    }
    tern_barriers_ready();
  }
  tern_cluster_sync();
  if (thread < 128u) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" :: "n"(kPingPong ? 24 : 40));
    if (thread == 0u) fetch(params, map0, map1, group, rank, at);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(kPingPong ? 240 : 232));
    // The same in all lanes, and said so: addresses of matrices are then kept in uniform registers.
    let member = __shfl_sync(0xffffffffu, thread / 128u, 0) - 1u;
    const Epilogue epilogue{params, b0, b1};
    const BoxMap* const maps[2] = {&map2, nullptr};
    let staging = staging_of(thread, member, at);
    if constexpr (kPingPong) multiply_ping_pong(params, epilogue, maps, thread, group, member, rank, at, staging);
    else multiply_halves(params, epilogue, maps, thread, group, member, rank, at, staging);
    if (kStagedOutputs > 0u && thread % 128u == 0u) { tern_wait_for_boxes_but<0>(); }
  }
  tern_cluster_sync();  // the other workgroup may still write here
}

// ---- convolution on Hopper's matrix units: conv2d, 2 workgroups of 384, 25 words
// product on matrix units, tiles of 128x64x64
struct Params {
  u32 v[25];
};
// The instance. (Enumerators, since constants at namespace scope become variables in the GPU's memory.)
enum : bool {
  kPingPong = false,
  kAAlongK = true, kBAlongK = true,  // neighbours in memory lie along k; else along m or n
  kABatched = false, kBBatched = true,
  kSplitK = false,
  kKeepsA = false,  // in the cache of the whole GPU, where a band's rows fit
};
enum : u32 {
  kTileM = 128u, kTileN = 64, kTileK = 64u,  // 64 along k: 128 bytes, a row of a swizzled box
  kStages = 8u,
  // Of each so many steps along k the last one's first elements are not multiplied: the step before had them, too.
  kSkipped = kAAlongK ? 0u : 0u, kStepsOfSkip = 1u,
  kBands = 8u,  // pairs of rows of tiles traversed together
  kStagedOutputs = 1u,
  kPlaces = 2u,  // for boxes of results
  kHalves = kPingPong ? 2u : 1u,  // of a tile's rows, of one consumer
  kSumsOf64 = kTileN / 2u, kSums = kHalves * kSumsOf64,  // of one thread
  kBoxOf64 = 64u * 128u,  // bytes of a box of 64 rows
  kBytesOfA = kTileM * 128u, kStageBytes = kBytesOfA + kTileN * 128u,
  kColumns = 32u, kBoxes = kTileN / kColumns,  // boxes of results
  kResultsOf64 = 64u * kColumns * 2u,  // bytes of 64 rows of one
};
static_assert(197632u + 2u * 4u * kHalves * kResultsOf64 + 1024u == 231424u, "workgroup memory");
// How the copy engine finds boxes of a matrix (a tensor map of the driver's).
struct alignas(64) BoxMap {
  u64 words[16];
};
// ---- barriers in workgroup memory ----
// Arrives at the barrier in the same place of a workgroup of the cluster. (Released to the workgroup only: what is
// given up was read by the matrix units, which have finished. To the cluster, the compiler waits for all memory of the
// GPU: 424 instead of 610 TFLOP/s at 8192×4096×16384 with silu on an H200.)
// The same in this workgroup.
// ---- the copy engine ----
// How long the cache of the whole GPU is to hold what is fetched or stored: longer than the rest, shorter, or as ever.
// Fetches a box into this workgroup's memory.
// Fetches a box into the memory of both workgroups of the cluster.
// Stores a box from this workgroup's memory, as a group of its own; what lies outside the matrix stays.
// Until all boxes this thread stored but the last few are read.
// What was written to workgroup memory is there for the copy engine, too.
// Four blocks of eight rows of 16 bytes, in the layout of the matrix units' sums; each lane says where one row begins.
// ---- the matrix units ----
// How a matrix lies in workgroup memory, in rows of 128 bytes swizzled over 1024. `leading`: bytes between blocks of 64
// elements across k, where those are neighbours.
// ---- products ----
// 64 rows, 16 elements of k, added to the sums from acc[first] on, which it sets where `add` is 0. The last two numbers
// of the instruction: whether a and b lie across k.
template <u32 first> TERN_DEVICE void multiply_64(f32 (&acc)[kSums], u64 a, u64 b, u32 add) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64" "k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "%32, %33, p, 1, 1, 0, 0;\n}"
      : "+f"(acc[first + 0]), "+f"(acc[first + 1]), "+f"(acc[first + 2]), "+f"(acc[first + 3]), "+f"(acc[first + 4]), "+f"(acc[first + 5]), "+f"(acc[first + 6]), "+f"(acc[first + 7]), "+f"(acc[first + 8]), "+f"(acc[first + 9]), "+f"(acc[first + 10]), "+f"(acc[first + 11]), "+f"(acc[first + 12]), "+f"(acc[first + 13]), "+f"(acc[first + 14]), "+f"(acc[first + 15]), "+f"(acc[first + 16]), "+f"(acc[first + 17]), "+f"(acc[first + 18]), "+f"(acc[first + 19]), "+f"(acc[first + 20]), "+f"(acc[first + 21]), "+f"(acc[first + 22]), "+f"(acc[first + 23]), "+f"(acc[first + 24]), "+f"(acc[first + 25]), "+f"(acc[first + 26]), "+f"(acc[first + 27]), "+f"(acc[first + 28]), "+f"(acc[first + 29]), "+f"(acc[first + 30]), "+f"(acc[first + 31])
      : "l"(a), "l"(b), "r"(add));
}
template <u32 first> TERN_DEVICE void wait_for_products_of_64(f32 (&acc)[kSums]) {
  if constexpr (first == 0u) asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(acc[first + 0]), "+f"(acc[first + 1]), "+f"(acc[first + 2]), "+f"(acc[first + 3]), "+f"(acc[first + 4]), "+f"(acc[first + 5]), "+f"(acc[first + 6]), "+f"(acc[first + 7]), "+f"(acc[first + 8]), "+f"(acc[first + 9]), "+f"(acc[first + 10]), "+f"(acc[first + 11]), "+f"(acc[first + 12]), "+f"(acc[first + 13]), "+f"(acc[first + 14]), "+f"(acc[first + 15]), "+f"(acc[first + 16]), "+f"(acc[first + 17]), "+f"(acc[first + 18]), "+f"(acc[first + 19]), "+f"(acc[first + 20]), "+f"(acc[first + 21]), "+f"(acc[first + 22]), "+f"(acc[first + 23]), "+f"(acc[first + 24]), "+f"(acc[first + 25]), "+f"(acc[first + 26]), "+f"(acc[first + 27]), "+f"(acc[first + 28]), "+f"(acc[first + 29]), "+f"(acc[first + 30]), "+f"(acc[first + 31]) :: "memory");
  else asm volatile("" : "+f"(acc[first + 0]), "+f"(acc[first + 1]), "+f"(acc[first + 2]), "+f"(acc[first + 3]), "+f"(acc[first + 4]), "+f"(acc[first + 5]), "+f"(acc[first + 6]), "+f"(acc[first + 7]), "+f"(acc[first + 8]), "+f"(acc[first + 9]), "+f"(acc[first + 10]), "+f"(acc[first + 11]), "+f"(acc[first + 12]), "+f"(acc[first + 13]), "+f"(acc[first + 14]), "+f"(acc[first + 15]), "+f"(acc[first + 16]), "+f"(acc[first + 17]), "+f"(acc[first + 18]), "+f"(acc[first + 19]), "+f"(acc[first + 20]), "+f"(acc[first + 21]), "+f"(acc[first + 22]), "+f"(acc[first + 23]), "+f"(acc[first + 24]), "+f"(acc[first + 25]), "+f"(acc[first + 26]), "+f"(acc[first + 27]), "+f"(acc[first + 28]), "+f"(acc[first + 29]), "+f"(acc[first + 30]), "+f"(acc[first + 31]) :: "memory");
}
// ---- the formula ----
TERN_DEVICE f32 epilogue(const Params& params, f32 v0, f32 v1) {
  let v2 = (v0 + v1);
  return v2;
}
struct Epilogue {
  const Params& params;
  vec4<u32>* __restrict__ b0;
  const vec4<u32>* __restrict__ b1;
  // Loads the operands for the columns col + ahead and the next one of a row, applies the formula to their sums, and
  // stores the results, or puts them into a word of each staged output.
  __device__ __forceinline__ void two_columns(f32 sum_0, f32 sum_1, [[maybe_unused]] u32 batch,
                                              [[maybe_unused]] u32 row, [[maybe_unused]] u32 col,
                                              [[maybe_unused]] u32 ahead, [[maybe_unused]] u32 (&words)[2][4],
                                              [[maybe_unused]] u32 word) const {
    // Sums stay floats: where a formula stores their bits as they are, the compiler would keep integers, and wait for
    // each product of the matrix units before the next.
    asm("" : "+f"(sum_0), "+f"(sum_1));
    let q0 = ((u32*)b1)[u64((params.v[24] + col) / 2u) + ahead / 2u];
    let x1 = tern_bf16_bits_to_f32((u32(q0) & 0xffffu));
    let x2 = tern_bf16_bits_to_f32((u32((q0 >> 16u)) & 0xffffu));
    let y3 = epilogue(params, sum_0, x1);
    let y4 = epilogue(params, sum_1, x2);
    words[0][word] = tern_f32_pair_to_bf16(y3, y4);
  }
};
// ---- tiles ----
struct Tile {
  u32 batch, first_m, first_n;
  u32 begin, end;  // along k
};
// What a pair of workgroups takes: tiles as far apart as there are pairs, or, of split-K, its part of all their steps.
struct Share {
  const Params& params;
  u32 pair, at, end;
  __device__ __forceinline__ Share(const Params& p, u32 group) : params(p), pair(group / 2u), at(pair), end(params.v[6]) {
    if constexpr (kSplitK) at = first_step(pair), end = first_step(pair + 1u);
  }
  __device__ __forceinline__ u32 steps() const { return (params.v[3] + (kTileK - 1u)) / kTileK; }  // of a tile
  __device__ __forceinline__ u32 first_step(u32 of) const { return u32(u64(params.v[6] * steps()) * of / (gridDim.x / 2u)); }
  __device__ __forceinline__ u32 next() const {
    if constexpr (kSplitK) return min(end, (at / steps() + 1u) * steps());
    else return at + gridDim.x / 2u;
  }
  __device__ __forceinline__ bool any() const { return at < end; }
  __device__ __forceinline__ bool more() const { return next() < end; }
  __device__ __forceinline__ void advance() { at = next(); }
  __device__ __forceinline__ Tile tile(u32 rank) const {
    if constexpr (!kSplitK) return tile_of(params, at, rank);
    Tile tile = tile_of(params, at / steps(), rank);
    tile.begin = at % steps() * kTileK, tile.end = tile.begin + (next() - at) * kTileK;
    return tile;
  }
  // Where the results of a tile go.
  __device__ __forceinline__ Tile results(const Tile& tile, u32 rank) const {
    return kSplitK ? Tile{at / steps() + pair, rank * kTileM, 0u, 0u, 0u} : tile;
  }
};
// Where a workgroup's memory begins: the ring, its barriers (full, then empty), and boxes of results.
struct Memory {
  u32 ring, barriers, results;
};
// The stage of the ring that comes next, and the parity of the round through it.
struct Ring {
  u32 stage, round;
  __device__ __forceinline__ void advance() {
    if (++stage == kStages) { stage = 0u, round ^= 1u; }
  }
};
// ---- producer ----
enum : u32 { kAxes = 2u, kBlocks = kAAlongK ? 1u : kTileM / 64u };
enum : bool { kFlipped = false };
struct Place {
  i32 at[kAxes];
  u32 sample;
};
struct Tap {
  u32 at[kAxes];
  u32 number, channel;
};
TERN_DEVICE u32 number_of(const Params& params, u32 axis, u32 which) { return params.v[8u + 6u * axis + which]; }
TERN_DEVICE u32 channels_of(const Params& params) { return params.v[8u + 6u * kAxes]; }
TERN_DEVICE u32 taps_of(const Params& params) { return params.v[8u + 6u * kAxes + 1u]; }
// What the first tap meets at a place of the result.
TERN_DEVICE Place place_of(const Params& params, u32 place) {
  Place p;
#pragma unroll
  for (u32 i = 0u; i < kAxes; ++i) {
    let rest = place / number_of(params, i, 0u);
    p.at[i] = i32((place - rest * number_of(params, i, 0u)) * number_of(params, i, 1u)) - i32(number_of(params, i, 2u));
    place = rest;
  }
  p.sample = place;
  return p;
}
// Of a block of 64 channels. Behind the last tap stands the last one: rows that are not used.
TERN_DEVICE Tap tap_of(const Params& params, u32 block) {
  let blocks = (channels_of(params) + 63u) / 64u;
  Tap t;
  t.number = min(block / blocks, taps_of(params) - 1u), t.channel = block % blocks * 64u;
  if (kSkipped > 0u) t.channel = min(t.channel, channels_of(params) - 64u);
  u32 rest = t.number;
#pragma unroll
  for (u32 i = 0u; i < kAxes; ++i) {
    t.at[i] = rest % number_of(params, i, 3u) * number_of(params, i, 4u);
    rest /= number_of(params, i, 3u);
  }
  return t;
}
TERN_DEVICE void advance_tap(const Params& params, Tap& t) {
  let left = channels_of(params) - t.channel;
  if (left > 64u) {
    t.channel += kSkipped > 0u ? min(left - 64u, 64u) : 64u;
    return;
  }
  t.channel = 0u, ++t.number;
#pragma unroll
  for (u32 i = 0u; i < kAxes; ++i) {
    t.at[i] += number_of(params, i, 4u);
    if (t.at[i] < number_of(params, i, 5u)) return;
    t.at[i] = 0u;
  }
}
TERN_DEVICE void fetch_windows(u32 to, const BoxMap& map, const Place& p, const Tap& t, u32 barrier, u64 policy) {
  if constexpr (kAxes == 1u)
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.L2::cache_hint "
        "[%0], [%1, {%2, %3, %4}], [%5], {%6}, %7;"
        :: "r"(to), "l"(&map), "r"(t.channel), "r"(p.at[0]), "r"(p.sample), "r"(barrier), "h"(u16(t.at[0])),
        "l"(policy) : "memory");
  else if constexpr (kAxes == 2u)
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.L2::cache_hint "
        "[%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8}, %9;"
        :: "r"(to), "l"(&map), "r"(t.channel), "r"(p.at[0]), "r"(p.at[kAxes - 1u]), "r"(p.sample), "r"(barrier),
        "h"(u16(t.at[0])), "h"(u16(t.at[kAxes - 1u])), "l"(policy) : "memory");
  else
    asm volatile(
        "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.L2::cache_hint "
        "[%0], [%1, {%2, %3, %4, %5, %6}], [%7], {%8, %9, %10}, %11;"
        :: "r"(to), "l"(&map), "r"(t.channel), "r"(p.at[0]), "r"(p.at[kAxes / 2u]), "r"(p.at[kAxes - 1u]),
        "r"(p.sample), "r"(barrier), "h"(u16(t.at[0])), "h"(u16(t.at[kAxes / 2u])), "h"(u16(t.at[kAxes - 1u])),
        "l"(policy) : "memory");
}
struct Steps {
  Place place;
  Tap taps[kBlocks];
  u32 k, last_tap;
  __device__ __forceinline__ Steps(const Params& params, const Tile& tile)
      : place(place_of(params, kAAlongK ? tile.first_m : tile.begin)), k(tile.begin), last_tap(taps_of(params) - 1u) {
#pragma unroll
    for (u32 i = 0u; i < kBlocks; ++i) taps[i] = tap_of(params, (kAAlongK ? k : tile.first_m) / 64u + i);
  }
  __device__ __forceinline__ void fetch_a(const BoxMap& map, u32 to, u32 full, u64 policy) const {
#pragma unroll
    for (u32 i = 0u; i < kBlocks; ++i) fetch_windows(to + i * kBoxOf64, map, place, taps[i], full, policy);
  }
  __device__ __forceinline__ u32 k_of_b() const { return kAAlongK ? taps[0].channel : k; }
  __device__ __forceinline__ u32 batch_of_b() const {
    return !kAAlongK ? 0u : kFlipped ? last_tap - taps[0].number : taps[0].number;
  }
  __device__ __forceinline__ void advance(const Params& params) {
    k += kTileK;
    if constexpr (kAAlongK) advance_tap(params, taps[0]);
    else place = place_of(params, k);
  }
};
// Each workgroup of the pair fetches half of b for both: half the columns, or half of k.
// ---- consumers: products ----
// Gives the stage before this one up, in both workgroups of the pair.
// The elements of a stage's k from `begin` on.
// ---- consumers: results ----
// Where this warp group stages results, and within a box the place of the row this lane names: a row is 64 bytes, its
// pieces of 16 swapped by half the row's number.
struct Staging {
  u64 policy;
  u32 begin, swapped;
};
// 16 rows of each warp and 16 columns, which go to the boxes' places. What is alike in both halves of the rows stands
// together, or the compiler keeps all operands of the columns in registers. `sums`: the first; `at`: from col.
// The columns of a box, of all this warp group's rows. `sums`: the first half's first; `at`: from col.
// A tile inside the matrix has no conditions; at its edges boxes take turns in the first sums, in one piece of code, up
// to the last that has columns. (The next tile begins with the first place again.)
// Every other tile: one warp group multiplies while the other finishes a tile. Who is to multiply waits at a barrier of
// its own (4 and 5), at which the other arrives when it has no more to multiply.
// Half the rows of each tile. The second warp group stays two stages behind, so that one multiplies while the other
// finishes a tile.
extern "C" __global__ void __launch_bounds__(384, 1) __cluster_dims__(2, 1, 1) tern_kernel(vec4<u32>* __restrict__ b0, const vec4<u32>* __restrict__ b1, const __grid_constant__ BoxMap map0, const __grid_constant__ BoxMap map1, const __grid_constant__ BoxMap map2, const __grid_constant__ Params params) {
  extern __shared__ unsigned char memory[];
  let begin = (tern_shared(memory) + 1023u) & ~1023u;
  const Memory at{begin, begin + 196608u, begin + 197632u};
  if (thread == 0u) {
    for (u32 i = 0u; i < kStages; ++i) {
      tern_barrier_init(at.barriers + 8u * i, 1u);
      tern_barrier_init(at.barriers + 8u * (kStages + i), kPingPong ? 2u : 4u);  // warp groups of two workgroups
    }
    tern_barriers_ready();
  }
  tern_cluster_sync();
  if (thread < 128u) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" :: "n"(kPingPong ? 24 : 40));
    if (thread == 0u) fetch(params, map0, map1, group, rank, at);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(kPingPong ? 240 : 232));
    // The same in all lanes, and said so: addresses of matrices are then kept in uniform registers.
    let member = __shfl_sync(0xffffffffu, thread / 128u, 0) - 1u;
    const Epilogue epilogue{params, b0, b1};
    const BoxMap* const maps[2] = {&map2, nullptr};
    let staging = staging_of(thread, member, at);
    if constexpr (kPingPong) multiply_ping_pong(params, epilogue, maps, thread, group, member, rank, at, staging);
    else multiply_halves(params, epilogue, maps, thread, group, member, rank, at, staging);
    if (kStagedOutputs > 0u && thread % 128u == 0u) { tern_wait_for_boxes_but<0>(); }
  }
  tern_cluster_sync();  // the other workgroup may still write here
}

// ---- convolution on Hopper's matrix units: conv2d, 36 workgroups of 256, 17 words
// sums of the splits of a product
struct Params {
  u32 v[17];
};
enum : u32 { kTileN = 64u, kBands = 8u, kRows = 256u };
// The pair of workgroups whose split has a step.
TERN_DEVICE u32 pair_of(const Params& params, u32 step) {
  let steps = u64(params.v[6]) * params.v[7];
  return u32(((u64(step) + 1u) * params.v[9] + steps - 1u) / steps) - 1u;
}
extern "C" __global__ void __launch_bounds__(256) tern_kernel(const vec4<u32>* __restrict__ b0, u32* __restrict__ b1, const __grid_constant__ Params params) {
  let item = blockIdx.x * 256u + threadIdx.x, quads = params.v[1] / 4u;
  let result = item % quads * 4u, tap = item / quads / params.v[2], channel = item / quads % params.v[2];
  if (tap >= params.v[3]) return;
  let m = tap * ((params.v[2] + 63u) / 64u * 64u) + channel;
  let rows = m / kRows, columns = result / kTileN, band = rows / kBands;
  let work = band * kBands * params.v[5] + columns * min(kBands, params.v[4] - band * kBands) + rows % kBands;
  let row = m % kRows, col = result - min(columns * kTileN, params.v[8]);
  f32 sums[4] = {};
  let last = work + pair_of(params, work * params.v[7] + params.v[7] - 1u);
  for (u32 split = work + pair_of(params, work * params.v[7]); split <= last; ++split) {
    let w0 = (params.v[11] + split * params.v[12] + row * params.v[13] + col) / 4u;
    let q1 = b0[w0 + 0u];
    let x2 = bitcast<f32>(q1.x);
    let x3 = bitcast<f32>(q1.y);
    let x4 = bitcast<f32>(q1.z);
    let x5 = bitcast<f32>(q1.w);
    sums[0] += x2;
    sums[1] += x3;
    sums[2] += x4;
    sums[3] += x5;
  }
  ((u16*)b1)[params.v[14] + tap + channel * params.v[15] + result * params.v[16]] = u16(tern_f32_to_bf16_bits(sums[0]));
  ((u16*)b1)[params.v[14] + tap + channel * params.v[15] + (result + 1u) * params.v[16]] = u16(tern_f32_to_bf16_bits(sums[1]));
  ((u16*)b1)[params.v[14] + tap + channel * params.v[15] + (result + 2u) * params.v[16]] = u16(tern_f32_to_bf16_bits(sums[2]));
  ((u16*)b1)[params.v[14] + tap + channel * params.v[15] + (result + 3u) * params.v[16]] = u16(tern_f32_to_bf16_bits(sums[3]));
}

// ---- channels convolved by themselves, and their gradients: conv2d, 2 workgroups of 128, 27 words
// channels convolved by themselves
struct Params {
  u32 v[27];
};
enum : u32 {
  kLines = 6u, kRows = 2u,  // of results, of a lane
  kWarpLines = 1u, kWarpRows = 4u, kThreads = 32u * kWarpLines * kWarpRows,
  kTapLines = 3u, kTapRows = 2u,
  kStrideLines = 1u, kStrideRows = 1u,
  kDilationLines = 1u, kDilationRows = 1u,
  kTileLines = kLines * kWarpLines, kTileRows = kRows * kWarpRows,
  kSpanLines = (kLines - 1u) * kStrideLines + (kTapLines - 1u) * kDilationLines + 1u,  // of the image, of a lane
  kSpanRows = (kRows - 1u) * kStrideRows + (kTapRows - 1u) * kDilationRows + 1u,
  kImageLines = (kTileLines - kLines) * kStrideLines + kSpanLines,
  kImageRows = (kTileRows - kRows) * kStrideRows + kSpanRows,
  kPlace = 128u,  // bytes of 64 channels
  kImageBytes = kImageLines * kImageRows * kPlace,
  kBuffers = 2u,
};
struct Pair {
  f32 x, y;
};
// The two channels of a lane at a place.
TERN_DEVICE Pair pair_at(const unsigned char* at) {
  let word = *reinterpret_cast<const u32*>(at);
  return {tern_bf16_bits_to_f32((word & 0xffffu)), tern_bf16_bits_to_f32((word >> 16u))};
}
// Fetches 16 bytes, or zeros.
TERN_DEVICE void fetch_vector(void* to, const unsigned char* from, bool inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :: "r"(u32(__cvta_generic_to_shared(to))), "l"(from), "r"(inside ? 16u : 0u) : "memory");
}
TERN_DEVICE void end_of_fetches() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <u32 count> TERN_DEVICE void wait_for_fetches_but() {
  asm volatile("cp.async.wait_group %0;" :: "n"(count) : "memory");
}
// Places [lines, rows] of an image from (line, row) on, zeros for those outside; steps are elements.
template <u32 lines, u32 rows>
TERN_DEVICE void fetch_places(unsigned char* to, const unsigned char* image, i32 line, i32 row, u32 channel,
                              u32 channels, u32 all_lines, u32 all_rows, u32 step_line, u32 step_row) {
  constexpr u32 vectors = kPlace / 16u, channels_of_vector = 64u / vectors;
#pragma unroll 4
  for (u32 i = threadIdx.x; i < lines * rows * vectors; i += kThreads) {
    let place = i / vectors, vector = i % vectors;
    let y = u32(line + i32(place / rows)), x = u32(row + i32(place % rows)), c = channel + vector * channels_of_vector;
    let inside = y < all_lines && x < all_rows && c < channels;
    let from = image + u64(y * step_line + x * step_row + c) * 2u;
    fetch_vector(to + i * 16u, inside ? from : image, inside);
  }
}
struct Tile {
  u32 sample, line, row;
};
TERN_DEVICE u32 tiles_along(const Params& params) { return (params.v[6] + (kTileRows - 1u)) / kTileRows; }
TERN_DEVICE u32 tiles_down(const Params& params) { return (params.v[5] + (kTileLines - 1u)) / kTileLines; }
TERN_DEVICE Tile tile_of(const Params& params, u32 tile) {
  let along = tiles_along(params), down = tiles_down(params);
  return {tile / along / down, tile / along % down * kTileLines, tile % along * kTileRows};
}
TERN_DEVICE void fetch_image(const Params& params, unsigned char* to, const unsigned char* image, const Tile& tile,
                             u32 channel) {
  fetch_places<kImageLines, kImageRows>(
      to, image + u64(tile.sample) * params.v[17] * 2u,
      i32(tile.line * kStrideLines) - i32(params.v[7]), i32(tile.row * kStrideRows) - i32(params.v[8]), channel,
      params.v[1], params.v[3], params.v[4], params.v[19], params.v[18]);
}
// What a lane has: channels, and within a tile the first line and row.
struct Lane {
  u32 first_channel, channel, line, row, lane;
};
TERN_DEVICE Lane this_lane(const Params& params) {
  let lane = threadIdx.x % 32u, warp = threadIdx.x / 32u, first = blockIdx.x % params.v[9] * 64u;
  return {first, first + 2u * lane, warp / kWarpRows * kLines, warp % kWarpRows * kRows, lane};
}
// Calls f(tap line, tap row, result line, result row, pair of the image) for all that meet.
template <class F> TERN_DEVICE void each_meeting(const unsigned char* image, const Lane& mine, const F& f) {
  const unsigned char* const at =
      image + (mine.line * kStrideLines * kImageRows + mine.row * kStrideRows) * kPlace + mine.lane * (kPlace / 32u);
#pragma unroll
  for (u32 i = 0u; i < kSpanLines; ++i) {
    Pair x[kSpanRows];
#pragma unroll
    for (u32 k = 0u; k < kSpanRows; ++k) x[k] = pair_at(at + (i * kImageRows + k) * kPlace);
#pragma unroll
    for (u32 result = 0u; result < kLines; ++result) {
      // Conditions of constants, as the loops are unrolled.
      if (i < result * kStrideLines || (i - result * kStrideLines) % kDilationLines != 0u) continue;
      let tap = (i - result * kStrideLines) / kDilationLines;
      if (tap >= kTapLines) continue;
#pragma unroll
      for (u32 k = 0u; k < kTapRows; ++k)
#pragma unroll
        for (u32 place = 0u; place < kRows; ++place)
          f(tap, k, result, place, x[place * kStrideRows + k * kDilationRows]);
    }
  }
}
struct Memory {
  const Params& params;
  vec4<u32>* __restrict__ b0;
  const vec4<u32>* __restrict__ b1;
  const vec4<u32>* __restrict__ b2;
  const u32* __restrict__ b3;
  __device__ __forceinline__ Pair weight([[maybe_unused]] u32 tap_line, u32 tap_row, u32 channel) const {
    let x0 = tern_bf16_bits_to_f32(u32(((u16*)b3)[params.v[24] + tap_line * params.v[25] + tap_row + channel * params.v[26]]));
    let x1 = tern_bf16_bits_to_f32(u32(((u16*)b3)[params.v[24] + tap_line * params.v[25] + tap_row + (channel + 1u) * params.v[26]]));
    return {x0, x1};
  }
  __device__ __forceinline__ void finish(f32 sum_0, f32 sum_1, u32 sample, [[maybe_unused]] u32 line, u32 row,
                                         u32 col) const {
    let q2 = ((u32*)b1)[u64((params.v[16] + col) / 2u) + 0u];
    let x3 = tern_bf16_bits_to_f32((u32(q2) & 0xffffu));
    let x4 = tern_bf16_bits_to_f32((u32((q2 >> 16u)) & 0xffffu));
    let y5 = epilogue(params, sum_0, x3);
    let y6 = epilogue(params, sum_1, x4);
    ((u32*)b0)[u64((params.v[12] + sample * params.v[13] + line * params.v[14] + row * params.v[15] + col) / 2u) + 0u] = tern_f32_pair_to_bf16(y5, y6);
  }
};
extern "C" __global__ void __launch_bounds__(kThreads, 4) tern_kernel(vec4<u32>* __restrict__ b0, const vec4<u32>* __restrict__ b1, const vec4<u32>* __restrict__ b2, const u32* __restrict__ b3, const __grid_constant__ Params params) {
  extern __shared__ __align__(128) unsigned char tiles[];
  const Memory memory{params, b0, b1, b2, b3};
  let image = reinterpret_cast<const unsigned char*>(b2) + u64(params.v[20]) * 2u;
  let mine = this_lane(params);
  let step = gridDim.x / params.v[9], count = params.v[2] * tiles_down(params) * tiles_along(params);
  // Kept: the compiler would read and convert them again for each line.
  Pair w[kTapLines][kTapRows] = {};
#pragma unroll
  for (u32 i = 0u; i < kTapLines; ++i)
#pragma unroll
    for (u32 k = 0u; k < kTapRows; ++k) {
      if (mine.channel < params.v[1]) w[i][k] = memory.weight(i, k, mine.channel);
      asm volatile("" : "+f"(w[i][k].x), "+f"(w[i][k].y));
    }
  u32 number = blockIdx.x / params.v[9], buffer = 0u;
  if (kBuffers == 2u && number < count) fetch_image(params, tiles, image, tile_of(params, number), mine.first_channel);
  end_of_fetches();
#pragma unroll 1
  for (; number < count; number += step) {
    let ahead = kBuffers == 2u ? number + step : number, to = kBuffers == 2u ? buffer ^ 1u : 0u;
    if (ahead < count)
      fetch_image(params, tiles + to * kImageBytes, image, tile_of(params, ahead), mine.first_channel);
    end_of_fetches();
    wait_for_fetches_but<kBuffers - 1u>();
    __syncthreads();
    Pair sums[kLines][kRows] = {};
    each_meeting(tiles + buffer * kImageBytes, mine, [&](u32 tap, u32 k, u32 result, u32 place, const Pair& x) {
      sums[result][place].x = fma(x.x, w[tap][k].x, sums[result][place].x);
      sums[result][place].y = fma(x.y, w[tap][k].y, sums[result][place].y);
    });
    let tile = tile_of(params, number);
    let line = tile.line + mine.line, row = tile.row + mine.row;
#pragma unroll
    for (u32 i = 0u; i < kLines; ++i)
#pragma unroll
      for (u32 k = 0u; k < kRows; ++k)
        if (line + i < params.v[5] && row + k < params.v[6] && mine.channel < params.v[1])
          memory.finish(sums[i][k].x, sums[i][k].y, tile.sample, line + i, row + k, mine.channel);
    __syncthreads();
    buffer = kBuffers == 2u ? buffer ^ 1u : 0u;
  }
}

// ---- channels convolved by themselves, and their gradients: conv2d, 2 workgroups of 128, 27 words
// gradient of kernels of channels by themselves
enum : u32 {
  kLines = 6u, kRows = 2u,  // of results, of a lane
  kWarpLines = 1u, kWarpRows = 4u, kThreads = 32u * kWarpLines * kWarpRows,
  kTapLines = 3u, kTapRows = 2u,
  kStrideLines = 1u, kStrideRows = 1u,
  kDilationLines = 1u, kDilationRows = 1u,
  kTileLines = kLines * kWarpLines, kTileRows = kRows * kWarpRows,
  kSpanLines = (kLines - 1u) * kStrideLines + (kTapLines - 1u) * kDilationLines + 1u,  // of the image, of a lane
  kSpanRows = (kRows - 1u) * kStrideRows + (kTapRows - 1u) * kDilationRows + 1u,
  kImageLines = (kTileLines - kLines) * kStrideLines + kSpanLines,
  kImageRows = (kTileRows - kRows) * kStrideRows + kSpanRows,
  kPlace = 128u,  // bytes of 64 channels
  kImageBytes = kImageLines * kImageRows * kPlace,
  kBuffers = 2u,
};
struct Pair {
  f32 x, y;
};
// The two channels of a lane at a place.
// Fetches 16 bytes, or zeros.
// Places [lines, rows] of an image from (line, row) on, zeros for those outside; steps are elements.
struct Tile {
  u32 sample, line, row;
};
TERN_DEVICE void fetch_image(const Params& params, unsigned char* to, const unsigned char* image, const Tile& tile,
                             u32 channel) {
  fetch_places<kImageLines, kImageRows>(
      to, image + u64(tile.sample) * params.v[10] * 2u,
      i32(tile.line * kStrideLines) - i32(params.v[7]), i32(tile.row * kStrideRows) - i32(params.v[8]), channel,
      params.v[1], params.v[3], params.v[4], params.v[12], params.v[11]);
}
// What a lane has: channels, and within a tile the first line and row.
struct Lane {
  u32 first_channel, channel, line, row, lane;
};
// Calls f(tap line, tap row, result line, result row, pair of the image) for all that meet.
enum : u32 { kResultBytes = kTileLines * kTileRows * kPlace, kTileBytes = kImageBytes + kResultBytes };
TERN_DEVICE void fetch_tile(const Params& params, unsigned char* to, const unsigned char* image,
                            const unsigned char* results, u32 number, u32 channel) {
  let tile = tile_of(params, number);
  fetch_image(params, to, image, tile, channel);
  fetch_places<kTileLines, kTileRows>(to + kImageBytes, results + u64(tile.sample) * params.v[17] * 2u,
                                      i32(tile.line), i32(tile.row), channel, params.v[1], params.v[5], params.v[6],
                                      params.v[19], params.v[18]);
}
struct Memory {
  const Params& params;
  const vec4<u32>* __restrict__ b0;
  const vec4<u32>* __restrict__ b1;
  vec4<u32>* __restrict__ b2;
  __device__ __forceinline__ void part(f32 sum_0, f32 sum_1, u32 share, u32 tap, u32 channel) const {
    ((u64*)b2)[u64((params.v[24] + share * params.v[25] + tap * params.v[26] + channel) / 2u) + 0u] = u64(u64(bitcast<u32>(sum_0)) << 0u | u64(bitcast<u32>(sum_1)) << 32u);
  }
};
extern "C" __global__ void __launch_bounds__(kThreads, 3) tern_kernel(const vec4<u32>* __restrict__ b0, const vec4<u32>* __restrict__ b1, vec4<u32>* __restrict__ b2, const __grid_constant__ Params params) {
  extern __shared__ __align__(128) unsigned char tiles[];
  const Memory memory{params, b0, b1, b2};
  let image = reinterpret_cast<const unsigned char*>(b0) + u64(params.v[13]) * 2u;
  let results = reinterpret_cast<const unsigned char*>(b1) + u64(params.v[20]) * 2u;
  let mine = this_lane(params);
  let step = gridDim.x / params.v[9], count = params.v[2] * tiles_down(params) * tiles_along(params);
  Pair sums[kTapLines][kTapRows] = {};
  u32 number = blockIdx.x / params.v[9], buffer = 0u;
  if (kBuffers == 2u && number < count) fetch_tile(params, tiles, image, results, number, mine.first_channel);
  end_of_fetches();
#pragma unroll 1
  for (; number < count; number += step) {
    let ahead = kBuffers == 2u ? number + step : number, to = kBuffers == 2u ? buffer ^ 1u : 0u;
    if (ahead < count) fetch_tile(params, tiles + to * kTileBytes, image, results, ahead, mine.first_channel);
    end_of_fetches();
    wait_for_fetches_but<kBuffers - 1u>();
    __syncthreads();
    const unsigned char* const tile = tiles + buffer * kTileBytes;
    Pair y[kLines][kRows];
#pragma unroll
    for (u32 i = 0u; i < kLines; ++i)
#pragma unroll
      for (u32 k = 0u; k < kRows; ++k) {
        y[i][k] = pair_at(tile + kImageBytes + ((mine.line + i) * kTileRows + mine.row + k) * kPlace +
                          mine.lane * (kPlace / 32u));
        asm volatile("" : "+f"(y[i][k].x), "+f"(y[i][k].y));  // kept, as the weights there
      }
    each_meeting(tile, mine, [&](u32 tap, u32 k, u32 result, u32 place, const Pair& x) {
      sums[tap][k].x = fma(x.x, y[result][place].x, sums[tap][k].x);
      sums[tap][k].y = fma(x.y, y[result][place].y, sums[tap][k].y);
    });
    __syncthreads();
    buffer = kBuffers == 2u ? buffer ^ 1u : 0u;
  }
  Pair* const shared = reinterpret_cast<Pair*>(tiles) + mine.lane;
  let warp = threadIdx.x / 32u;
#pragma unroll 1
  for (u32 next = 0u; next < kThreads / 32u; ++next) {
    if (warp == next)
#pragma unroll
      for (u32 i = 0u; i < kTapLines; ++i)
#pragma unroll
        for (u32 k = 0u; k < kTapRows; ++k) {
          Pair& total = shared[(i * kTapRows + k) * 32u];
          if (next == 0u) total = sums[i][k];
          else total = Pair{total.x + sums[i][k].x, total.y + sums[i][k].y};
        }
    __syncthreads();
  }
  if (mine.channel >= params.v[1]) return;
  for (u32 tap = warp; tap < kTapLines * kTapRows; tap += kThreads / 32u)
    memory.part(shared[tap * 32u].x, shared[tap * 32u].y, blockIdx.x / params.v[9], tap, mine.channel);
}

// ---- channels convolved by themselves on tensor cores: conv2d, 2 workgroups of 256, 27 words
// channels convolved by themselves on tensor cores
// ---- copies to workgroup memory that run on their own ----
// Until all but the last `most` that were committed are there.
// Where 16 bytes `part` of a row of `line` bytes, a multiple of 128, lie: swizzled so that the same part of eight rows,
// a matrix, lies in different banks.
// ---- tensor cores ----
// Four matrices of 8×8 from workgroup memory, of each of which eight lanes name the rows; transposed where they lie
// across k.
// acc += a·b of a block of 16 rows and 8 columns, and 16 elements.
enum : u32 {
  kLines = 2u,                                           // of results, of a block; kTileRows: 8 of each
  kSamples = 2u, kDown = 4u, kAlong = 2u,  // blocks of a tile
  kTapLines = 7u, kTapRows = 7u,
  kStrideLines = 1u, kDilationLines = 1u, kDilationRows = 1u,
  kTileLines = kLines * kDown, kTileRows = 8u * kAlong,
  kSpanLines = (kLines - 1u) * kStrideLines + (kTapLines - 1u) * kDilationLines + 1u,  // of the image, of a block
  kImageLines = (kTileLines - kLines) * kStrideLines + kSpanLines, kImageRows = kTileRows + 8u,
  kChannels = 32u, kWarps = 8u, kThreads = 32u * kWarps,
  kPlace = 2u * kChannels, kLine = kImageRows * kPlace, kSample = kImageLines * kLine,  // bytes
  kImageBytes = kSamples * kSample, kBuffers = 1u,
  kSumsOfPlace = 4u * kChannels, kSumsOfLine = 16u * 8u * kSumsOfPlace,
};
static_assert(kSamples * kDown * kAlong == 16u && (kTapRows - 1u) * kDilationRows <= 8u, "blocks and bands");
struct Pair {
  f32 x, y;
};
struct alignas(16) Four {
  f32 x[4];
};
struct Tile {
  u32 sample, line, row;
};
// Block m of a tile.
struct Block {
  u32 sample, down, along;
};
TERN_DEVICE Block block_of(u32 m) { return {m / kAlong / kDown, m / kAlong % kDown, m % kAlong}; }
TERN_DEVICE u32 begin_of(const Block& b) { return b.sample * kSample + b.down * kLines * kStrideLines * kLine; }
TERN_DEVICE Tile tile_of(const Params& params, u32 tile) {
  let along = tiles_along(params), down = tiles_down(params);
  return {tile / along / down * kSamples, tile / along % down * kTileLines, tile % along * kTileRows};
}
// Which of the four parts of a place, 16 bytes each, lies where part 0 would: eight invocations that read the same part
// at rows 0, 1, 2, 3, 8, 9, 10 and 11 meet all banks.
TERN_DEVICE u32 part_at(u32 row) { return (row >> 1u & 1u) | (row >> 2u & 2u); }
// Fetches what a tile meets: a warp a line, 8 places at a time; zeros for those outside.
TERN_DEVICE void fetch(const Params& params, u32 to, const unsigned char* image, const Tile& tile, u32 channel) {
  let lane = threadIdx.x % 32u, part = lane % 4u, c = channel + 8u * part;
  for (u32 i = threadIdx.x / 32u; i < kSamples * kImageLines; i += kWarps) {
    let sample = tile.sample + i / kImageLines;
    let y = u32(i32(tile.line * kStrideLines + i % kImageLines) - i32(params.v[7]));
    let whole = sample < params.v[2] && y < params.v[3] && c < params.v[1];
    let line = image + (u64(sample) * params.v[17] + u64(y) * params.v[19] + c) * 2u;
#pragma unroll
    for (u32 j = 0u; j <= kAlong; ++j) {
      let row = 8u * j + lane / 4u, x = u32(i32(tile.row + row) - i32(params.v[8]));
      let inside = whole && x < params.v[4];
      tern_copy(to + i * kLine + row * kPlace + ((part ^ part_at(row)) << 4u),
                inside ? line + u64(x) * params.v[18] * 2u : image, inside ? 16u : 0u);
    }
  }
}
struct Memory {
  const Params& params;
  vec4<u32>* __restrict__ b0;
  const vec4<u32>* __restrict__ b1;
  const vec4<u32>* __restrict__ b2;
  const u32* __restrict__ b3;
  __device__ __forceinline__ Pair weight([[maybe_unused]] u32 tap_line, u32 tap_row, u32 channel) const {
    let x0 = tern_bf16_bits_to_f32(u32(((u16*)b3)[params.v[24] + tap_line * params.v[25] + tap_row + channel * params.v[26]]));
    let x1 = tern_bf16_bits_to_f32(u32(((u16*)b3)[params.v[24] + tap_line * params.v[25] + tap_row + (channel + 1u) * params.v[26]]));
    return {x0, x1};
  }
  __device__ __forceinline__ void finish(f32 sum_0, f32 sum_1, f32 sum_2, f32 sum_3, u32 sample,
                                         [[maybe_unused]] u32 line, u32 row, u32 col) const {
    let q2 = ((u64*)b1)[u64((params.v[16] + col) / 4u) + 0u];
    let x3 = tern_bf16_bits_to_f32((u32(q2) & 0xffffu));
    let x4 = tern_bf16_bits_to_f32((u32((q2 >> 16u)) & 0xffffu));
    let x5 = tern_bf16_bits_to_f32((u32((q2 >> 32u)) & 0xffffu));
    let x6 = tern_bf16_bits_to_f32((u32((q2 >> 48u)) & 0xffffu));
    let y7 = epilogue(params, sum_0, x3);
    let y8 = epilogue(params, sum_1, x4);
    let y9 = epilogue(params, sum_2, x5);
    let y10 = epilogue(params, sum_3, x6);
    ((u64*)b0)[u64((params.v[12] + sample * params.v[13] + line * params.v[14] + row * params.v[15] + col) / 4u) + 0u] = u64(u64(tern_f32_to_bf16_bits(y7)) << 0u | u64(tern_f32_to_bf16_bits(y8)) << 16u | u64(tern_f32_to_bf16_bits(y9)) << 32u | u64(tern_f32_to_bf16_bits(y10)) << 48u);
  }
  // Of four channels at a place (slot) of line i of the tile's blocks.
  template <class Sums>
  __device__ __forceinline__ void finish_place(const Tile& tile, u32 i, u32 slot, u32 channel, const Sums& sums) const {
    const Block b = block_of(slot / 8u);
    let sample = tile.sample + b.sample, line = tile.line + b.down * kLines + i;
    let row = tile.row + b.along * 8u + slot % 8u;
    if (sample >= params.v[2] || line >= params.v[5] || row >= params.v[6] || channel >= params.v[1]) return;
    const Four sum = sums(b);
    finish(sum.x[0], sum.x[1], sum.x[2], sum.x[3], sample, line, row, channel);
  }
};
TERN_DEVICE f32 low_of(u32 word) { return tern_bf16_bits_to_f32((word & 0xffffu)); }
TERN_DEVICE f32 high_of(u32 word) { return tern_bf16_bits_to_f32((word >> 16u)); }
TERN_DEVICE u32 joined(f32 low, f32 high) { return tern_f32_pair_to_bf16(low, high); }
// The bands of four channels: what a lane has of the matrices b of the products, whose k is the place of the image
// 0, 4 (elements 0 and 1 of lane 0), 1, 5, 2, 6, 3, 7 and 8 more, so that lanes read places side by side.
using Bands = u32[kTapLines][4][2];
TERN_DEVICE void load_bands(const Params& params, const Memory& memory, u32 channel, Bands& bands) {
  let lane = threadIdx.x % 32u;
#pragma unroll
  for (u32 i = 0u; i < kTapLines; ++i)
#pragma unroll
    for (u32 pair = 0u; pair < 2u; ++pair) {
      Pair w[4] = {};
#pragma unroll
      for (u32 k = 0u; k < 4u; ++k) {
        let ahead = lane % 4u + 4u * k - lane / 4u, tap = ahead / kDilationRows;  // before the band: a huge number
        if (ahead % kDilationRows == 0u && tap < kTapRows && channel < params.v[1])
          w[k] = memory.weight(i, tap, channel + 2u * pair);
      }
#pragma unroll
      for (u32 half = 0u; half < 2u; ++half) {
        bands[i][2u * pair][half] = joined(w[2u * half].x, w[2u * half + 1u].x);
        bands[i][2u * pair + 1u][half] = joined(w[2u * half].y, w[2u * half + 1u].y);
      }
    }
}
using Sums = f32[kLines][4][4];  // lines, channels, and what a lane has of a product
// `mine`: where the lane's block and channels begin in the image.
TERN_DEVICE void add_products(const unsigned char* image, u32 mine, const Bands& bands, Sums& sums) {
  // From block m to m + 8.
  constexpr u32 kUpper = kAlong == 16u           ? 64u * kPlace
                         : kAlong * kDown == 16u ? 8u / kAlong * kLines * kStrideLines * kLine
                                                 : 8u / (kAlong * kDown) * kSample;
  const unsigned char* const ends[2] = {image + mine, image + (mine ^ 32u) + 8u * kPlace};
#pragma unroll
  for (u32 i = 0u; i < kSpanLines; ++i) {
    u32 a[4][4];
#pragma unroll
    for (u32 upper = 0u; upper < 2u; ++upper)
#pragma unroll
      for (u32 end = 0u; end < 2u; ++end) {
        const unsigned char* const from = ends[end] + i * kLine + upper * kUpper;
        let first = *reinterpret_cast<const u64*>(from), second = *reinterpret_cast<const u64*>(from + 4u * kPlace);
#pragma unroll
        for (u32 pair = 0u; pair < 2u; ++pair) {
          let x = u32(first >> 32u * pair), y = u32(second >> 32u * pair);
          a[2u * pair][2u * end + upper] = __byte_perm(x, y, 0x5410u);
          a[2u * pair + 1u][2u * end + upper] = __byte_perm(x, y, 0x7632u);
        }
      }
#pragma unroll
    for (u32 result = 0u; result < kLines; ++result) {
      // Conditions of constants, as the loops are unrolled.
      if (i < result * kStrideLines || (i - result * kStrideLines) % kDilationLines != 0u) continue;
      let tap = (i - result * kStrideLines) / kDilationLines;
      if (tap >= kTapLines) continue;
#pragma unroll
      for (u32 c = 0u; c < 4u; ++c) multiply(sums[result][c], a[c], bands[tap][c][0], bands[tap][c][1]);
    }
  }
}
TERN_DEVICE bool all_finite(const Sums& sums) {
  f32 zeros[4] = {};
#pragma unroll
  for (u32 i = 0u; i < kLines; ++i)
#pragma unroll
    for (u32 c = 0u; c < 4u; ++c)
#pragma unroll
      for (u32 e = 0u; e < 4u; ++e) zeros[c] = fma(sums[i][c][e], 0.0f, zeros[c]);
  return zeros[0] + zeros[1] + zeros[2] + zeros[3] == 0.0f;
}
// Where four channels of a place begin, in what sums leave through: eight lanes that write the same channels at eight
// places, and eight that read all of one place, meet all banks.
TERN_DEVICE u32 sums_at(u32 slot, u32 four) {
  return slot * kSumsOfPlace + ((four ^ (slot >> 1u & 7u)) << 4u);
}
TERN_DEVICE void finish_tile(const Memory& memory, const Tile& tile, unsigned char* through, u32 channel,
                             const Sums& sums) {
  let lane = threadIdx.x % 32u, warp = threadIdx.x / 32u, four = threadIdx.x % 8u;
#pragma unroll
  for (u32 i = 0u; i < kLines; ++i) {
    unsigned char* const line = through + i % 2u * kSumsOfLine;
#pragma unroll
    for (u32 e = 0u; e < 4u; ++e)
      *reinterpret_cast<Four*>(line + sums_at((lane / 4u + e / 2u * 8u) * 8u + lane % 4u * 2u + e % 2u, warp)) = {
          {sums[i][0][e], sums[i][1][e], sums[i][2][e], sums[i][3][e]}};
    __syncthreads();
#pragma unroll
    for (u32 k = 0u; k < 4u; ++k) {
      let slot = threadIdx.x / 8u + k * (kThreads / 8u);
      memory.finish_place(tile, i, slot, channel + 4u * four, [&](const Block&) {
        return *reinterpret_cast<const Four*>(line + sums_at(slot, four));
      });
    }
  }
}
// Without the zeros of the bands.
TERN_DEVICE void finish_tile_singly(const Memory& memory, const Tile& tile, const unsigned char* image, u32 channel) {
#pragma unroll 1
  for (u32 n = threadIdx.x; n < kLines * 16u * 8u * 8u; n += kThreads) {
    let four = n % 8u, slot = n / 8u % 128u, i = n / 1024u, first = channel + 4u * four;
    memory.finish_place(tile, i, slot, first, [&](const Block& b) {
      Four sum = {};
      for (u32 tap_line = 0u; tap_line < kTapLines; ++tap_line)
        for (u32 k = 0u; k < kTapRows; ++k) {
          let row = 8u * b.along + slot % 8u + k * kDilationRows;
          let words = *reinterpret_cast<const u64*>(
              image + begin_of(b) + (i * kStrideLines + tap_line * kDilationLines) * kLine + row * kPlace +
              ((four / 2u ^ part_at(row)) << 4u) + four % 2u * 8u);
          const Pair w[2] = {memory.weight(tap_line, k, first), memory.weight(tap_line, k, first + 2u)};
#pragma unroll
          for (u32 pair = 0u; pair < 2u; ++pair) {
            let word = u32(words >> 32u * pair);
            sum.x[2u * pair] = fma(low_of(word), w[pair].x, sum.x[2u * pair]);
            sum.x[2u * pair + 1u] = fma(high_of(word), w[pair].y, sum.x[2u * pair + 1u]);
          }
        }
      return sum;
    });
  }
}
extern "C" __global__ void __launch_bounds__(kThreads, 1) tern_kernel(vec4<u32>* __restrict__ b0, const vec4<u32>* __restrict__ b1, const vec4<u32>* __restrict__ b2, const u32* __restrict__ b3, const __grid_constant__ Params params) {
  extern __shared__ __align__(128) unsigned char memory[];
  const Memory global{params, b0, b1, b2, b3};
  let image = reinterpret_cast<const unsigned char*>(b2) + u64(params.v[20]) * 2u;
  let channel = blockIdx.x % params.v[9] * kChannels, lane = threadIdx.x % 32u, warp = threadIdx.x / 32u;
  let step = gridDim.x / params.v[9];
  let count = (params.v[2] + (kSamples - 1u)) / kSamples * tiles_down(params) * tiles_along(params);
  Bands bands;
  load_bands(params, global, channel + 4u * warp, bands);
  const Block block = block_of(lane / 4u);
  let row = 8u * block.along + lane % 4u;
  let mine = begin_of(block) + row * kPlace + ((warp / 2u ^ part_at(row)) << 4u) + warp % 2u * 8u;
  u32 number = blockIdx.x / params.v[9], buffer = 0u;
  if (kBuffers == 2u && number < count) fetch(params, tern_shared(memory), image, tile_of(params, number), channel);
  tern_commit();
#pragma unroll 1
  for (; number < count; number += step) {
    let ahead = kBuffers == 2u ? number + step : number, to = kBuffers == 2u ? buffer ^ 1u : 0u;
    if (ahead < count)
      fetch(params, tern_shared(memory) + to * kImageBytes, image, tile_of(params, ahead), channel);
    tern_commit();
    tern_wait_copies<kBuffers - 1u>();
    __syncthreads();
    const unsigned char* const here = memory + buffer * kImageBytes;
    const Tile tile = tile_of(params, number);
    Sums sums = {};
    add_products(here, mine, bands, sums);
    if (__syncthreads_or(!all_finite(sums))) finish_tile_singly(global, tile, here, channel);
    else finish_tile(global, tile, memory + kBuffers * kImageBytes, channel, sums);
    __syncthreads();
    buffer = kBuffers == 2u ? buffer ^ 1u : 0u;
  }
}

// ---- attention on Hopper's matrix units: attention, 2 workgroups of 384, 29 words
// attention on Hopper
struct Params {
  u32 v[29];
};
// The instance.
enum : u32 {
  kConsumers = 2u, kThreads = 128u * (1u + kConsumers), kRows = 64u * kConsumers,
  kColumns = 128u, kAcross = kColumns / 8u,
  kDepth = 64u, kWidth = 64u, kSumsAcross = kWidth / 8u,
  kStages = 2u, kStagesOfSecond = 2u,
  kPieceOfQ = 128u * kRows, kPiece = 128u * kColumns,  // bytes of 64 elements of all rows
  kBytesOfQ = kPieceOfQ * (kDepth / 64u), kBytesOfK = kPiece * (kDepth / 64u), kBytesOfV = kPiece * (kWidth / 64u),
};
enum : bool { kRagged = false, kPingPong = true, kBegins = false };
// The base of a row's powers of two is a greatest score of before as long as no score is more than so much greater, in
// powers of two: sums are multiplied in few tiles (FlashAttention-4), and shares of up to 2^8 lose nothing in 16 bits.
constexpr f32 kSlack = 8.0f;
// How the copy engine finds boxes of a matrix (a tensor map of the driver's).
struct alignas(64) BoxMap {
  u64 words[16];
};
// ---- barriers in workgroup memory ----
// Arrives at the barrier in the same place of a workgroup of the cluster. (Released to the workgroup only: what is
// given up was read by the matrix units, which have finished. To the cluster, the compiler waits for all memory of the
// GPU: 424 instead of 610 TFLOP/s at 8192×4096×16384 with silu on an H200.)
// The same in this workgroup.
// ---- the copy engine ----
// How long the cache of the whole GPU is to hold what is fetched or stored: longer than the rest, shorter, or as ever.
// Fetches a box into this workgroup's memory.
// Fetches a box into the memory of both workgroups of the cluster.
// Stores a box from this workgroup's memory, as a group of its own; what lies outside the matrix stays.
// Until all boxes this thread stored but the last few are read.
// What was written to workgroup memory is there for the copy engine, too.
// Four blocks of eight rows of 16 bytes, in the layout of the matrix units' sums; each lane says where one row begins.
// ---- the matrix units ----
// How a matrix lies in workgroup memory, in rows of 128 bytes swizzled over 1024. `leading`: bytes between blocks of 64
// elements across k, where those are neighbours.
// The largest, and the sum, of the values of the four lanes that share a row.
// ---- from the layout of sums to rows ----
// Lane q of four holds columns 8 j + 2 q and 8 j + 2 q + 1 for j = 0..3, and gets columns 8 q to 8 q + 7 in their
// place. Two exchanges, with the neighbour and with the next but one.
struct Row8 {
  f32 x[8];
};
// Of four blocks, the upper or lower row (h) of a lane.
template <u32 places> struct RingOf {
  u32 stage = 0u, round = 0u;
  __device__ __forceinline__ void advance() {
    if (++stage == places) { stage = 0u, round ^= 1u; }
  }
};
// Of two tiles that pass by together: those that scores are products of, and the others.
using Ring = RingOf<kStages>;
using SecondRing = RingOf<kStagesOfSecond>;
TERN_DEVICE void give_up(u32 barrier, u32 lane) {
  if (lane == 0u) tern_arrive_here(barrier);
}
// Consumers send products off one after the other (ping-pong): consumer i waits at barrier 1 + i, at which the
// one before arrives.
TERN_DEVICE void await_ping_pong(u32 member) {
  if constexpr (kPingPong) asm volatile("barrier.cta.sync %0, 256;" :: "r"(1u + member) : "memory");
}
TERN_DEVICE void pass_ping_pong(u32 member) {
  let next = member + 1u == kConsumers ? 0u : member + 1u;
  if constexpr (kPingPong) asm volatile("barrier.cta.arrive %0, 256;" :: "r"(1u + next) : "memory");
}
// The work of a round. Every other round of the processors goes backwards: none has the long ones of all rounds.
TERN_DEVICE u32 group_of(u32 round) {
  return round * gridDim.x + (round & 1u ? gridDim.x - 1u - blockIdx.x : blockIdx.x);
}
// ---- boxes ----
// Of `elements` elements of the rows of a tile the pieces of 64, which lie `piece` bytes apart.
template <u32 elements>
TERN_DEVICE void fetch_pieces(u32 to, u32 piece, const BoxMap& map, u32 row, u32 head, u32 batch, u32 barrier,
                              u64 policy) {
#pragma unroll
  for (u32 i = 0u; i < elements / 64u; ++i)
    tern_fetch(to + i * piece, map, 64u * i, row, head, batch, barrier, policy);
}
// ---- products ----
// A value that all lanes have alike, and said so: addresses of matrices are then kept in uniform registers.
TERN_DEVICE u32 same(u32 x) { return __shfl_sync(0xffffffffu, x, 0); }
// The matrix that begins so many bytes further on. Its address does not leave the lower word, of which nothing else is
// touched: one addition a matrix, where the whole description took five to eight instructions, 1.5 a score.
TERN_DEVICE u64 further(u64 matrix, u32 bytes) {
  return matrix & 0xffffffff00000000ull | u64(u32(matrix) + (bytes >> 4u));
}
// 64 rows and 16 elements, times those of the rows of a tile.
TERN_DEVICE void multiply_first(f32 (&s)[kAcross][4], u64 a, u64 b) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, 0, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128" "k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, "
      "p, 1, 1, 0, 0;\n}" : "=f"(s[0][0]), "=f"(s[0][1]), "=f"(s[0][2]), "=f"(s[0][3]), "=f"(s[1][0]), "=f"(s[1][1]), "=f"(s[1][2]), "=f"(s[1][3]), "=f"(s[2][0]), "=f"(s[2][1]), "=f"(s[2][2]), "=f"(s[2][3]), "=f"(s[3][0]), "=f"(s[3][1]), "=f"(s[3][2]), "=f"(s[3][3]), "=f"(s[4][0]), "=f"(s[4][1]), "=f"(s[4][2]), "=f"(s[4][3]), "=f"(s[5][0]), "=f"(s[5][1]), "=f"(s[5][2]), "=f"(s[5][3]), "=f"(s[6][0]), "=f"(s[6][1]), "=f"(s[6][2]), "=f"(s[6][3]), "=f"(s[7][0]), "=f"(s[7][1]), "=f"(s[7][2]), "=f"(s[7][3]), "=f"(s[8][0]), "=f"(s[8][1]), "=f"(s[8][2]), "=f"(s[8][3]), "=f"(s[9][0]), "=f"(s[9][1]), "=f"(s[9][2]), "=f"(s[9][3]), "=f"(s[10][0]), "=f"(s[10][1]), "=f"(s[10][2]), "=f"(s[10][3]), "=f"(s[11][0]), "=f"(s[11][1]), "=f"(s[11][2]), "=f"(s[11][3]), "=f"(s[12][0]), "=f"(s[12][1]), "=f"(s[12][2]), "=f"(s[12][3]), "=f"(s[13][0]), "=f"(s[13][1]), "=f"(s[13][2]), "=f"(s[13][3]), "=f"(s[14][0]), "=f"(s[14][1]), "=f"(s[14][2]), "=f"(s[14][3]), "=f"(s[15][0]), "=f"(s[15][1]), "=f"(s[15][2]), "=f"(s[15][3]) : "l"(a), "l"(b));
}
TERN_DEVICE void multiply(f32 (&s)[kAcross][4], u64 a, u64 b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128" "k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, 1, 1, 1, 0, 0;" : "+f"(s[0][0]), "+f"(s[0][1]), "+f"(s[0][2]), "+f"(s[0][3]), "+f"(s[1][0]), "+f"(s[1][1]), "+f"(s[1][2]), "+f"(s[1][3]), "+f"(s[2][0]), "+f"(s[2][1]), "+f"(s[2][2]), "+f"(s[2][3]), "+f"(s[3][0]), "+f"(s[3][1]), "+f"(s[3][2]), "+f"(s[3][3]), "+f"(s[4][0]), "+f"(s[4][1]), "+f"(s[4][2]), "+f"(s[4][3]), "+f"(s[5][0]), "+f"(s[5][1]), "+f"(s[5][2]), "+f"(s[5][3]), "+f"(s[6][0]), "+f"(s[6][1]), "+f"(s[6][2]), "+f"(s[6][3]), "+f"(s[7][0]), "+f"(s[7][1]), "+f"(s[7][2]), "+f"(s[7][3]), "+f"(s[8][0]), "+f"(s[8][1]), "+f"(s[8][2]), "+f"(s[8][3]), "+f"(s[9][0]), "+f"(s[9][1]), "+f"(s[9][2]), "+f"(s[9][3]), "+f"(s[10][0]), "+f"(s[10][1]), "+f"(s[10][2]), "+f"(s[10][3]), "+f"(s[11][0]), "+f"(s[11][1]), "+f"(s[11][2]), "+f"(s[11][3]), "+f"(s[12][0]), "+f"(s[12][1]), "+f"(s[12][2]), "+f"(s[12][3]), "+f"(s[13][0]), "+f"(s[13][1]), "+f"(s[13][2]), "+f"(s[13][3]), "+f"(s[14][0]), "+f"(s[14][1]), "+f"(s[14][2]), "+f"(s[14][3]), "+f"(s[15][0]), "+f"(s[15][1]), "+f"(s[15][2]), "+f"(s[15][3]) : "l"(a), "l"(b));
}
// 64 rows of shares of 16 rows of a tile, times those.
TERN_DEVICE void multiply(f32 (&sums)[kSumsAcross][4], const u32 (&shares)[4], u64 b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64" "k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "{%32, %33, %34, %35}, %36, 1, 1, 1, 1;"
      : "+f"(sums[0][0]), "+f"(sums[0][1]), "+f"(sums[0][2]), "+f"(sums[0][3]), "+f"(sums[1][0]), "+f"(sums[1][1]), "+f"(sums[1][2]), "+f"(sums[1][3]), "+f"(sums[2][0]), "+f"(sums[2][1]), "+f"(sums[2][2]), "+f"(sums[2][3]), "+f"(sums[3][0]), "+f"(sums[3][1]), "+f"(sums[3][2]), "+f"(sums[3][3]), "+f"(sums[4][0]), "+f"(sums[4][1]), "+f"(sums[4][2]), "+f"(sums[4][3]), "+f"(sums[5][0]), "+f"(sums[5][1]), "+f"(sums[5][2]), "+f"(sums[5][3]), "+f"(sums[6][0]), "+f"(sums[6][1]), "+f"(sums[6][2]), "+f"(sums[6][3]), "+f"(sums[7][0]), "+f"(sums[7][1]), "+f"(sums[7][2]), "+f"(sums[7][3]) : "r"(shares[0]), "r"(shares[1]), "r"(shares[2]), "r"(shares[3]), "l"(b));
}
// s = a·bᵀ for 64 rows of a and a tile b, which lie in pieces of 64 elements; with `begun` added to what is there.
template <u32 elements, bool begun = false>
TERN_DEVICE void multiply_rows(f32 (&s)[kAcross][4], u32 first_of_a, u32 piece_of_a, u32 first_of_b, u32 piece_of_b) {
  let a = tern_matrix(first_of_a, 16u), b = tern_matrix(first_of_b, 16u);
#pragma unroll
  for (u32 i = 0u; i < elements / 16u; ++i) {
    let of_a = further(a, i / 4u * piece_of_a + i % 4u * 32u), of_b = further(b, i / 4u * piece_of_b + i % 4u * 32u);
    if (i == 0u && !begun) multiply_first(s, of_a, of_b);
    else multiply(s, of_a, of_b);
  }
}
// sums += shares·b.
TERN_DEVICE void multiply_sums(f32 (&sums)[kSumsAcross][4], const u32 (&shares)[kAcross / 2u][4], u32 b, u32 piece) {
  let first = tern_matrix(b, piece);
#pragma unroll
  for (u32 i = 0u; i < kAcross / 2u; ++i) multiply(sums, shares[i], further(first, i * 2048u));
}
// Until all groups of products but the last `sent` are there, among them these.
template <u32 sent> TERN_DEVICE void wait_for(f32 (&s)[kAcross][4]) {
  if constexpr (sent == 1u) asm volatile("wgmma.wait_group.sync.aligned 1;" : "+f"(s[0][0]), "+f"(s[0][1]), "+f"(s[0][2]), "+f"(s[0][3]), "+f"(s[1][0]), "+f"(s[1][1]), "+f"(s[1][2]), "+f"(s[1][3]), "+f"(s[2][0]), "+f"(s[2][1]), "+f"(s[2][2]), "+f"(s[2][3]), "+f"(s[3][0]), "+f"(s[3][1]), "+f"(s[3][2]), "+f"(s[3][3]), "+f"(s[4][0]), "+f"(s[4][1]), "+f"(s[4][2]), "+f"(s[4][3]), "+f"(s[5][0]), "+f"(s[5][1]), "+f"(s[5][2]), "+f"(s[5][3]), "+f"(s[6][0]), "+f"(s[6][1]), "+f"(s[6][2]), "+f"(s[6][3]), "+f"(s[7][0]), "+f"(s[7][1]), "+f"(s[7][2]), "+f"(s[7][3]), "+f"(s[8][0]), "+f"(s[8][1]), "+f"(s[8][2]), "+f"(s[8][3]), "+f"(s[9][0]), "+f"(s[9][1]), "+f"(s[9][2]), "+f"(s[9][3]), "+f"(s[10][0]), "+f"(s[10][1]), "+f"(s[10][2]), "+f"(s[10][3]), "+f"(s[11][0]), "+f"(s[11][1]), "+f"(s[11][2]), "+f"(s[11][3]), "+f"(s[12][0]), "+f"(s[12][1]), "+f"(s[12][2]), "+f"(s[12][3]), "+f"(s[13][0]), "+f"(s[13][1]), "+f"(s[13][2]), "+f"(s[13][3]), "+f"(s[14][0]), "+f"(s[14][1]), "+f"(s[14][2]), "+f"(s[14][3]), "+f"(s[15][0]), "+f"(s[15][1]), "+f"(s[15][2]), "+f"(s[15][3]) :: "memory");
  else asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(s[0][0]), "+f"(s[0][1]), "+f"(s[0][2]), "+f"(s[0][3]), "+f"(s[1][0]), "+f"(s[1][1]), "+f"(s[1][2]), "+f"(s[1][3]), "+f"(s[2][0]), "+f"(s[2][1]), "+f"(s[2][2]), "+f"(s[2][3]), "+f"(s[3][0]), "+f"(s[3][1]), "+f"(s[3][2]), "+f"(s[3][3]), "+f"(s[4][0]), "+f"(s[4][1]), "+f"(s[4][2]), "+f"(s[4][3]), "+f"(s[5][0]), "+f"(s[5][1]), "+f"(s[5][2]), "+f"(s[5][3]), "+f"(s[6][0]), "+f"(s[6][1]), "+f"(s[6][2]), "+f"(s[6][3]), "+f"(s[7][0]), "+f"(s[7][1]), "+f"(s[7][2]), "+f"(s[7][3]), "+f"(s[8][0]), "+f"(s[8][1]), "+f"(s[8][2]), "+f"(s[8][3]), "+f"(s[9][0]), "+f"(s[9][1]), "+f"(s[9][2]), "+f"(s[9][3]), "+f"(s[10][0]), "+f"(s[10][1]), "+f"(s[10][2]), "+f"(s[10][3]), "+f"(s[11][0]), "+f"(s[11][1]), "+f"(s[11][2]), "+f"(s[11][3]), "+f"(s[12][0]), "+f"(s[12][1]), "+f"(s[12][2]), "+f"(s[12][3]), "+f"(s[13][0]), "+f"(s[13][1]), "+f"(s[13][2]), "+f"(s[13][3]), "+f"(s[14][0]), "+f"(s[14][1]), "+f"(s[14][2]), "+f"(s[14][3]), "+f"(s[15][0]), "+f"(s[15][1]), "+f"(s[15][2]), "+f"(s[15][3]) :: "memory");
}
// For what memory they have read.
template <u32 sent> TERN_DEVICE void wait_for_all_but() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(sent) : "memory");
}
// Others of the same groups.
TERN_DEVICE void hold(f32 (&s)[kAcross][4]) { asm volatile("" : "+f"(s[0][0]), "+f"(s[0][1]), "+f"(s[0][2]), "+f"(s[0][3]), "+f"(s[1][0]), "+f"(s[1][1]), "+f"(s[1][2]), "+f"(s[1][3]), "+f"(s[2][0]), "+f"(s[2][1]), "+f"(s[2][2]), "+f"(s[2][3]), "+f"(s[3][0]), "+f"(s[3][1]), "+f"(s[3][2]), "+f"(s[3][3]), "+f"(s[4][0]), "+f"(s[4][1]), "+f"(s[4][2]), "+f"(s[4][3]), "+f"(s[5][0]), "+f"(s[5][1]), "+f"(s[5][2]), "+f"(s[5][3]), "+f"(s[6][0]), "+f"(s[6][1]), "+f"(s[6][2]), "+f"(s[6][3]), "+f"(s[7][0]), "+f"(s[7][1]), "+f"(s[7][2]), "+f"(s[7][3]), "+f"(s[8][0]), "+f"(s[8][1]), "+f"(s[8][2]), "+f"(s[8][3]), "+f"(s[9][0]), "+f"(s[9][1]), "+f"(s[9][2]), "+f"(s[9][3]), "+f"(s[10][0]), "+f"(s[10][1]), "+f"(s[10][2]), "+f"(s[10][3]), "+f"(s[11][0]), "+f"(s[11][1]), "+f"(s[11][2]), "+f"(s[11][3]), "+f"(s[12][0]), "+f"(s[12][1]), "+f"(s[12][2]), "+f"(s[12][3]), "+f"(s[13][0]), "+f"(s[13][1]), "+f"(s[13][2]), "+f"(s[13][3]), "+f"(s[14][0]), "+f"(s[14][1]), "+f"(s[14][2]), "+f"(s[14][3]), "+f"(s[15][0]), "+f"(s[15][1]), "+f"(s[15][2]), "+f"(s[15][3]) :: "memory"); }
TERN_DEVICE void hold_sums(f32 (&sums)[kSumsAcross][4]) { asm volatile("" : "+f"(sums[0][0]), "+f"(sums[0][1]), "+f"(sums[0][2]), "+f"(sums[0][3]), "+f"(sums[1][0]), "+f"(sums[1][1]), "+f"(sums[1][2]), "+f"(sums[1][3]), "+f"(sums[2][0]), "+f"(sums[2][1]), "+f"(sums[2][2]), "+f"(sums[2][3]), "+f"(sums[3][0]), "+f"(sums[3][1]), "+f"(sums[3][2]), "+f"(sums[3][3]), "+f"(sums[4][0]), "+f"(sums[4][1]), "+f"(sums[4][2]), "+f"(sums[4][3]), "+f"(sums[5][0]), "+f"(sums[5][1]), "+f"(sums[5][2]), "+f"(sums[5][3]), "+f"(sums[6][0]), "+f"(sums[6][1]), "+f"(sums[6][2]), "+f"(sums[6][3]), "+f"(sums[7][0]), "+f"(sums[7][1]), "+f"(sums[7][2]), "+f"(sums[7][3]) :: "memory"); }
TERN_DEVICE void wait_for_sums(f32 (&sums)[kSumsAcross][4]) {
  asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(sums[0][0]), "+f"(sums[0][1]), "+f"(sums[0][2]), "+f"(sums[0][3]), "+f"(sums[1][0]), "+f"(sums[1][1]), "+f"(sums[1][2]), "+f"(sums[1][3]), "+f"(sums[2][0]), "+f"(sums[2][1]), "+f"(sums[2][2]), "+f"(sums[2][3]), "+f"(sums[3][0]), "+f"(sums[3][1]), "+f"(sums[3][2]), "+f"(sums[3][3]), "+f"(sums[4][0]), "+f"(sums[4][1]), "+f"(sums[4][2]), "+f"(sums[4][3]), "+f"(sums[5][0]), "+f"(sums[5][1]), "+f"(sums[5][2]), "+f"(sums[5][3]), "+f"(sums[6][0]), "+f"(sums[6][1]), "+f"(sums[6][2]), "+f"(sums[6][3]), "+f"(sums[7][0]), "+f"(sums[7][1]), "+f"(sums[7][2]), "+f"(sums[7][3]) :: "memory");
}
// What waits for products is moved up by the compiler as far as memory lets it, in front of a whole tile's formulas. So
// there is a store before it that depends on their results, to where nothing is read.
TERN_DEVICE u32 all_of(const f32 (&s)[kAcross][4]) {
  u32 all = 0u;
#pragma unroll
  for (u32 i = 0u; i < 4u * kAcross; ++i) { all ^= bitcast<u32>(s[i / 4u][i % 4u]); }
  return all;
}
TERN_DEVICE void have_now(u32 results, u32 nowhere) {
  asm volatile("st.shared.u32 [%0], %1;" :: "r"(nowhere), "r"(results) : "memory");
}
// What powers of two are below so that they are shares: the sum of a row joins what its powers were below. Of large
// scores that loses less than the rounding of the score. Of a row that sees nothing shares are 0.
TERN_DEVICE f32 top_of_shares(f32 top, f32 total) {
  f32 places;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(places) : "f"(total));
  return total == 0.0f ? tern_from_bits(0x7f800000u) : fma(top, 1.4426950408889634f, places);
}
// Rounded and packed, the first factor of the next product.
TERN_DEVICE void pack(u32 (&shares)[kAcross / 2u][4], const f32 (&s)[kAcross][4]) {
#pragma unroll
  for (u32 i = 0u; i < kAcross / 2u; ++i)
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      shares[i][2u * h] = tern_f32_pair_to_bf16(s[2u * i + h][0], s[2u * i + h][1]);
      shares[i][2u * h + 1u] = tern_f32_pair_to_bf16(s[2u * i + h][2], s[2u * i + h][3]);
    }
}
// ---- barriers ----
// Of the rows, and of each place of the rings of k and v, two: full counts bytes that arrive, empty the warps that have
// read it. Between them is a word that nobody reads (wgmma_units.cu, have_now).
struct Barriers {
  u32 barriers;
  __device__ __forceinline__ u32 full_q() const { return barriers; }
  __device__ __forceinline__ u32 empty_q() const { return barriers + 8u; }
  __device__ __forceinline__ u32 nowhere() const { return barriers + 16u; }
  __device__ __forceinline__ u32 full_k(Ring r) const { return barriers + 24u + 8u * r.stage; }
  __device__ __forceinline__ u32 empty_k(Ring r) const { return full_k(r) + 8u * kStages; }
  __device__ __forceinline__ u32 full_v(SecondRing r) const { return barriers + 24u + 16u * kStages + 8u * r.stage; }
  __device__ __forceinline__ u32 empty_v(SecondRing r) const { return full_v(r) + 8u * kStagesOfSecond; }
  __device__ __forceinline__ u32 end() const { return barriers + 24u + 16u * (kStages + kStagesOfSecond); }
  __device__ __forceinline__ u32 patch() const { return end(); }  // clear_beyond()
  // By one thread.
  __device__ __forceinline__ void init() const {
    tern_barrier_init(patch(), 1u);
    tern_barrier_init(full_q(), 1u), tern_barrier_init(empty_q(), 4u * kConsumers);
    for (Ring r; r.round == 0u; r.advance())
      tern_barrier_init(full_k(r), 1u), tern_barrier_init(empty_k(r), 4u * kConsumers);
    for (SecondRing r; r.round == 0u; r.advance())
      tern_barrier_init(full_v(r), 1u), tern_barrier_init(empty_v(r), 4u * kConsumers);
  }
};
// Rows of a tile from the sample's length on are not its own: 0 times what lies there could be NaN. By a warp, when the
// tile is there.
template <u32 elements> TERN_DEVICE void clear_beyond(u32 tile, u32 length, u32 lane) {
  for (u32 row = length + lane / 8u; row < kColumns; row += 4u)
#pragma unroll
    for (u32 i = 0u; i < elements / 64u; ++i)
      asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};"
                   ::"r"(tile + i * kPiece + row * 128u + lane % 8u * 16u), "r"(0u) : "memory");
  tern_show_to_copies();
  __syncwarp();
}
// ---- rows ----
// A block of rows, and the columns that they may see. Those from `length` on hold anything.
struct Work {
  u32 batch, head, key_head, first_row, begin, end, length;
};
TERN_DEVICE f32 score_of(const Params& params, f32 v0, f32 v3, i32 v4, i32 first, u32 ahead) {
  let v1 = bitcast<f32>(params.v[28]);
  let f4 = f32(v4);
  let t0 = f4 - f32(first);
  let t1 = t0 + f32(-1.0) * f32(ahead);
  let t2 = tern_abs_f32(t1);
  let t3 = t2 * v3;
  let t4 = fma(v0, v1, -t3);
  let v10 = t4;
  return v10;
}
struct RowBlocks {
  const Params& params;
  const u32* __restrict__ b0;
  const u32* __restrict__ b1;
  vec4<u32>* __restrict__ b2;
  u32* __restrict__ b3;
  const u32* __restrict__ b4;
  // The blocks of a head stand together, those with the most columns first.
  __device__ __forceinline__ Work work_of(u32 own_group) const {
    let head_of_all = own_group / params.v[7];
    let first_row = (params.v[7] - 1u - (own_group - head_of_all * params.v[7])) * kRows;
    let batch = head_of_all / params.v[5];
    let head = head_of_all - batch * params.v[5];
    var begin = 0u;
    var end = params.v[2];
    let middle_of_all = bitcast<i32>(first_row) + bitcast<i32>(params.v[8]);
    end = u32(clamp(middle_of_all + 128, 0, bitcast<i32>(params.v[2])));
    const Work w{batch, head, head / (params.v[5] / params.v[6]), first_row, begin, end, params.v[2]};
    return {batch, head, w.key_head, first_row, seek(w, begin), end, w.length};
  }
  // The first tile from `column` on of which something is seen.
  __device__ __forceinline__ u32 seek(const Work& w, u32 column) const {
    [[maybe_unused]] let batch = w.batch, head = w.head, first_row = w.first_row, end = w.end;
    return column;
  }
  // What the formula adds to scores along the columns, counted from the one at which its beginning is taken; a lane's
  // first is the one `from` columns on.
  __device__ __forceinline__ void begin_scores(f32 (&s)[kAcross][4], const Work& w, u32 own, u32 from) const {
    if constexpr (!kBegins) return;
    [[maybe_unused]] let batch = w.batch, head = w.head, first = 0u, ahead = 0u, at = 0u;
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      [[maybe_unused]] let own_row = min(own + 8u * h, params.v[1] - 1u);
      f32 along = 0.0f;
#pragma unroll
      for (u32 j = 0u; j < 2u * kAcross; ++j) {
        s[j / 2u][2u * h + j % 2u] = along * f32(j / 2u * 8u + from + j % 2u);
      }
    }
  }
};
struct Memory : Barriers {
  u32 q, k, v;
};
struct Attention : RowBlocks {
  // ---- producer ----
  __device__ __forceinline__ void fetch_q(const BoxMap& map, const Work& w, Memory at, u32 round, u32 lane) const {
    __syncwarp();
    tern_wait(at.empty_q(), round ^ 1u);
    if (lane != 0u) return;
    [[maybe_unused]] let batch = w.batch, head = w.head;
    tern_expect(at.full_q(), kBytesOfQ);
    fetch_pieces<kDepth>(at.q, kPieceOfQ, map, w.first_row, head, 0u, at.full_q(), tern_passing());
  }
  __device__ __forceinline__ void fetch_k(const BoxMap& map, const Work& w, u32 column, Memory at, Ring ring,
                                          u32 lane) const {
    __syncwarp();
    tern_wait(at.empty_k(ring), ring.round ^ 1u);
    if (lane != 0u) return;
    [[maybe_unused]] let batch = w.batch, head = w.key_head;
    let to = at.k + ring.stage * kBytesOfK;
    tern_expect(at.full_k(ring), kBytesOfK);
    fetch_pieces<kDepth>(to, kPiece, map, column, 0u, 0u, at.full_k(ring), tern_kept());
  }
  __device__ __forceinline__ void fetch_v(const BoxMap& map, const Work& w, u32 column, Memory at, SecondRing ring,
                                          u32& patches, u32 lane) const {
    let to = at.v + ring.stage * kBytesOfV;
    const bool whole = !kRagged || column + kColumns <= w.length;
    let barrier = whole ? at.full_v(ring) : at.patch();
    __syncwarp();
    tern_wait(at.empty_v(ring), ring.round ^ 1u);
    if (lane == 0u) {
      [[maybe_unused]] let batch = w.batch, head = w.key_head;
      tern_expect(barrier, kBytesOfV);
      fetch_pieces<kWidth>(to, kPiece, map, column, 0u, 0u, barrier, tern_kept());
    }
    if (whole) return;
    tern_wait(barrier, patches & 1u);
    ++patches;
    clear_beyond<kWidth>(to, w.length - column, lane);
    if (lane == 0u) tern_arrive_here(at.full_v(ring));
  }
  __device__ void fetch(const BoxMap& of_q, const BoxMap& of_k, const BoxMap& of_v, Memory at, u32 lane) const {
    Ring ring_k;
    SecondRing ring_v;
    u32 blocks = 0u, patches = 0u;
    for (u32 round = 0u; round * gridDim.x < params.v[12]; ++round) {
      let group = group_of(round);
      if (group >= params.v[12]) continue;
      const Work w = work_of(group);
      if (w.begin >= w.end) continue;
      fetch_k(of_k, w, w.begin, at, ring_k, lane);
      ring_k.advance();
      fetch_q(of_q, w, at, blocks++ & 1u, lane);
#pragma unroll 1
      for (u32 column = w.begin, next; column < w.end; column = next) {
        next = seek(w, column + kColumns);
        if (next < w.end) {
          fetch_k(of_k, w, next, at, ring_k, lane);
          ring_k.advance();
        }
        fetch_v(of_v, w, column, at, ring_v, patches, lane);
        ring_v.advance();
      }
    }
  }
  // ---- consumers ----
  // Of products the scores, and of those, below the row's base, the powers of two: the shares, but for the sum of a
  // row. Returns whether a base of the warp has changed, so that sums of before are to be multiplied by `older`.
  __device__ __forceinline__ bool take_shares(f32 (&s)[kAcross][4], f32 (&tops)[2], f32 (&totals)[2], f32 (&older)[2],
                                              const Work& w, u32 column, u32 own, u32 lane) const {
    [[maybe_unused]] let batch = w.batch, head = w.head, first_row = w.first_row, end = w.end, length = w.length;
    const bool edge = column + kColumns > end || i32(column + kColumns) > i32(first_row) + bitcast<i32>(params.v[8]) + 1;
    [[maybe_unused]] let first = column + (lane & 3u) * 2u;
    f32 place[2] = {};  // what the formula adds to all scores of a row in the tile
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      let row = own + 8u * h;
      [[maybe_unused]] let own_row = min(row, params.v[1] - 1u);
      if constexpr (kBegins) {
        [[maybe_unused]] let first = column, ahead = 0u, at = 0u;
        f32 begin = 0.0f;
        place[h] = begin * bitcast<f32>(params.v[11]);
      }
#pragma unroll
      for (u32 j = 0u; j < 2u * kAcross; ++j) {
        [[maybe_unused]] let ahead = j / 2u * 8u + j % 2u, at = min(first + ahead, 0xffffffffu);
        [[maybe_unused]] f32& x = s[j / 2u][2u * h + j % 2u];
        let x0 = bitcast<f32>(((u32*)b4)[params.v[27] + head]);
        let y1 = score_of(params, x, x0, bitcast<i32>(own_row), bitcast<i32>(first), ahead);
        x = y1;
      }
      if (edge) {
        [[maybe_unused]] let middle = i32(row) + i32(params.v[8]);
#pragma unroll
        for (u32 j = 0u; j < 2u * kAcross; ++j) {
          let at = first + j / 2u * 8u + j % 2u;
          if (!(at < end && (at < params.v[2]) && (bitcast<i32>(at) <= middle))) { s[j / 2u][2u * h + j % 2u] = tern_from_bits(0xff800000u); }  // tiles may pass the end
        }
      }
    }
    f32 top[2], total[2] = {}, base[2];
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) { top[h] = fmaxf(s[0][2u * h], s[0][2u * h + 1u]); }
#pragma unroll
    for (u32 j = 1u; j < kAcross; ++j)
#pragma unroll
      for (u32 h = 0u; h < 2u; ++h) { top[h] = fmaxf(top[h], fmaxf(s[j][2u * h], s[j][2u * h + 1u])); }
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      top[h] = fma(tern_quad_largest(top[h]), bitcast<f32>(params.v[11]), place[h]);
      const bool higher = top[h] > tops[h] + kSlack;
      older[h] = higher ? tern_power_of_two(tops[h] - top[h]) : 1.0f;
      tops[h] = higher ? top[h] : tops[h];
      base[h] = tops[h] == tern_from_bits(0xff800000u) ? 0.0f : tops[h];
    }
    const bool changed = __any_sync(0xffffffffu, older[0] != 1.0f || older[1] != 1.0f);
#pragma unroll
    for (u32 j = 0u; j < 2u * kAcross; ++j)
#pragma unroll
      for (u32 h = 0u; h < 2u; ++h) {
        [[maybe_unused]] let row = own + 8u * h, own_row = min(row, params.v[1] - 1u);
        [[maybe_unused]] let ahead = j / 2u * 8u + j % 2u, at = min(first + ahead, params.v[2] - 1u);
        f32& x = s[j / 2u][2u * h + j % 2u];
        x = tern_power_of_two(fma(x, bitcast<f32>(params.v[11]), place[h] - base[h]));
        total[h] += x;
      }
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) { totals[h] = fma(totals[h], older[h], total[h]); }
    return changed;
  }
  __device__ __forceinline__ void finish(f32 (&sums)[kSumsAcross][4], f32 (&tops)[2], f32 (&totals)[2], const Work& w,
                                         u32 own, u32 lane) const {
    [[maybe_unused]] let batch = w.batch, head = w.head;
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      let row = own + 8u * h;
      let total = tern_quad_sum(totals[h]);
      let inverse = total == 0.0f ? 1.0f : 1.0f / total;
#pragma unroll
      for (u32 j = 0u; j < kWidth / 8u; j += 4u) {
        let x = tern_quad_row(&sums[j], h);
        let first = j * 8u + (lane & 3u) * 8u;
        if (row < params.v[1] && first < params.v[4]) {
          let w2 = (params.v[20] + head * params.v[21] + row * params.v[22] + first) / 8u;
          b2[w2 + 0u] = vec4<u32>(tern_f32_pair_to_bf16((x.x[0] * inverse), (x.x[1] * inverse)), tern_f32_pair_to_bf16((x.x[2] * inverse), (x.x[3] * inverse)), tern_f32_pair_to_bf16((x.x[4] * inverse), (x.x[5] * inverse)), tern_f32_pair_to_bf16((x.x[6] * inverse), (x.x[7] * inverse)));
        }
      }
      if ((lane & 3u) == 0u && row < params.v[1]) {
        [[maybe_unused]] let top = tops[h] * 0.6931471805599453f;
        ((u32*)b3)[params.v[23] + head * params.v[24] + row] = bitcast<u32>(top);
        ((u32*)b3)[params.v[25] + head * params.v[26] + row] = bitcast<u32>(total);
      }
    }
  }
  // Sums of before a new base.
  static __device__ __forceinline__ void put_below(f32 (&sums)[kSumsAcross][4], const f32 (&older)[2]) {
#pragma unroll
    for (u32 j = 0u; j < 4u * kSumsAcross; ++j) { sums[j / 4u][j % 4u] *= older[j % 4u / 2u]; }
  }
  static __device__ __forceinline__ void send_shares(f32 (&sums)[kSumsAcross][4], const u32 (&shares)[kAcross / 2u][4],
                                                     u32 v) {
    tern_begin_products();
    multiply_sums(sums, shares, v, kPiece);
    tern_commit_products();
  }
  __device__ void attend(Memory at, u32 thread, u32 member) const {
    Ring ring_k;
    SecondRing ring_v;
    let lane = thread & 31u, own_of_group = member * 64u + thread % 128u / 32u * 16u + lane / 4u;
    let of_q = at.q + member * 8192u;
    u32 blocks = 0u;
    if (member + 1u == kConsumers) pass_ping_pong(member);
#pragma unroll 1
    for (u32 round = 0u; round * gridDim.x < params.v[12]; ++round) {
      let group = group_of(round);
      if (group >= params.v[12]) continue;
      const Work w = work_of(group);
      let own = w.first_row + own_of_group;
      f32 sums[kSumsAcross][4] = {}, tops[2] = {tern_from_bits(0xff800000u), tern_from_bits(0xff800000u)}, totals[2] = {};  // tops: times log2(e)
      if (w.begin < w.end) {
        f32 s[kAcross][4], older[2];
        u32 shares[kAcross / 2u][4];
        tern_wait(at.full_q(), blocks++ & 1u);
        tern_wait(at.full_k(ring_k), ring_k.round);
        begin_scores(s, w, own, (lane & 3u) * 2u);
        tern_begin_products();
        multiply_rows<kDepth, kBegins>(s, of_q, kPieceOfQ, at.k + ring_k.stage * kBytesOfK, kPiece);
        tern_commit_products();
        wait_for<0u>(s);
        give_up(at.empty_k(ring_k), lane);
        ring_k.advance();
        take_shares(s, tops, totals, older, w, w.begin, own, lane);
        pack(shares, s);
#pragma unroll 1
        for (u32 column = seek(w, w.begin + kColumns); column < w.end; column = seek(w, column + kColumns)) {
          tern_wait(at.full_k(ring_k), ring_k.round);
          begin_scores(s, w, own, (lane & 3u) * 2u);
          await_ping_pong(member);
          tern_begin_products();
          multiply_rows<kDepth, kBegins>(s, of_q, kPieceOfQ, at.k + ring_k.stage * kBytesOfK, kPiece);
          tern_commit_products();
          tern_wait(at.full_v(ring_v), ring_v.round);
          send_shares(sums, shares, at.v + ring_v.stage * kBytesOfV);
          pass_ping_pong(member);
          wait_for<1u>(s);
          give_up(at.empty_k(ring_k), lane);
          ring_k.advance();
          const bool changed = take_shares(s, tops, totals, older, w, column, own, lane);
          have_now(bitcast<u32>(totals[0] + totals[1]), at.nowhere());
          wait_for_sums(sums);
          if (changed) put_below(sums, older);
          give_up(at.empty_v(ring_v), lane);
          ring_v.advance();
          pack(shares, s);
        }
        give_up(at.empty_q(), lane);
        tern_wait(at.full_v(ring_v), ring_v.round);
        send_shares(sums, shares, at.v + ring_v.stage * kBytesOfV);
        wait_for_sums(sums);
        give_up(at.empty_v(ring_v), lane);
        ring_v.advance();
      }
      finish(sums, tops, totals, w, own, lane);
    }
  }
};
extern "C" __global__ void __launch_bounds__(kThreads, 1) tern_kernel(const u32* __restrict__ b0, const u32* __restrict__ b1, vec4<u32>* __restrict__ b2, u32* __restrict__ b3, const u32* __restrict__ b4, const __grid_constant__ BoxMap map0, const __grid_constant__ BoxMap map1, const __grid_constant__ BoxMap map2, const __grid_constant__ Params params) {
  extern __shared__ unsigned char memory[];
  let thread = threadIdx.x, begin = (tern_shared(memory) + 1023u) & ~1023u;
  let k = begin + kBytesOfQ, v = k + kStages * kBytesOfK;
  const Memory at{{v + kStages * kBytesOfV}, begin, k, v};
  if (thread == 0u) {
    at.init();
    tern_barriers_ready();
  }
  __syncthreads();
  const Attention call{{params, b0, b1, b2, b3, b4}};
  if (thread < 128u) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (thread < 32u) call.fetch(map0, map1, map2, at, thread);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    call.attend(at, thread, same(thread / 128u) - 1u);
  }
}

// ---- attention on Hopper's matrix units: attention, 2 workgroups of 384, 35 words
// gradient of attention on Hopper, of q
// The instance.
enum : bool {
  kPingPong = true, kBegins = false, kRagged = false,
  kKeeps = false,  // stores shares and slopes, for products by them elsewhere
  kFewPlaces = false,  // two for k, one for v: each is given up as soon as its products are there
};
enum : u32 {
  kConsumers = 2u, kThreads = 128u * (1u + kConsumers), kRows = 64u * kConsumers,
  kColumns = 128u, kAcross = kColumns / 8u,
  kDepth = 64u, kWidth = 64u, kSumsAcross = kDepth / 8u,
  kStages = 3u, kStagesOfSecond = 3u,  // of k, which serves two tiles' time, and of v
  kPieceOfQ = 128u * kRows, kPiece = 128u * kColumns,  // bytes of 64 elements of all rows
  kBytesOfQ = kPieceOfQ * (kDepth / 64u), kBytesOfOut = kPieceOfQ * (kWidth / 64u),
  kBytesOfK = kPiece * (kDepth / 64u), kBytesOfV = kPiece * (kWidth / 64u),
};
// How the copy engine finds boxes of a matrix (a tensor map of the driver's).
struct alignas(64) BoxMap {
  u64 words[16];
};
// ---- barriers in workgroup memory ----
// Arrives at the barrier in the same place of a workgroup of the cluster. (Released to the workgroup only: what is
// given up was read by the matrix units, which have finished. To the cluster, the compiler waits for all memory of the
// GPU: 424 instead of 610 TFLOP/s at 8192×4096×16384 with silu on an H200.)
// The same in this workgroup.
// ---- the copy engine ----
// How long the cache of the whole GPU is to hold what is fetched or stored: longer than the rest, shorter, or as ever.
// Fetches a box into this workgroup's memory.
// Fetches a box into the memory of both workgroups of the cluster.
// Stores a box from this workgroup's memory, as a group of its own; what lies outside the matrix stays.
// Until all boxes this thread stored but the last few are read.
// What was written to workgroup memory is there for the copy engine, too.
// Four blocks of eight rows of 16 bytes, in the layout of the matrix units' sums; each lane says where one row begins.
// ---- the matrix units ----
// How a matrix lies in workgroup memory, in rows of 128 bytes swizzled over 1024. `leading`: bytes between blocks of 64
// elements across k, where those are neighbours.
// The largest, and the sum, of the values of the four lanes that share a row.
// ---- from the layout of sums to rows ----
// Lane q of four holds columns 8 j + 2 q and 8 j + 2 q + 1 for j = 0..3, and gets columns 8 q to 8 q + 7 in their
// place. Two exchanges, with the neighbour and with the next but one.
struct Row8 {
  f32 x[8];
};
// Of four blocks, the upper or lower row (h) of a lane.
// Of two tiles that pass by together: those that scores are products of, and the others.
using Ring = RingOf<kStages>;
using SecondRing = RingOf<kStagesOfSecond>;
// Consumers send products off one after the other (ping-pong): consumer i waits at barrier 1 + i, at which the
// one before arrives.
// The work of a round. Every other round of the processors goes backwards: none has the long ones of all rounds.
// ---- boxes ----
// Of `elements` elements of the rows of a tile the pieces of 64, which lie `piece` bytes apart.
// ---- products ----
// A value that all lanes have alike, and said so: addresses of matrices are then kept in uniform registers.
// The matrix that begins so many bytes further on. Its address does not leave the lower word, of which nothing else is
// touched: one addition a matrix, where the whole description took five to eight instructions, 1.5 a score.
// 64 rows and 16 elements, times those of the rows of a tile.
// 64 rows of shares of 16 rows of a tile, times those.
// s = a·bᵀ for 64 rows of a and a tile b, which lie in pieces of 64 elements; with `begun` added to what is there.
// sums += shares·b.
// Until all groups of products but the last `sent` are there, among them these.
// For what memory they have read.
// Others of the same groups.
// What waits for products is moved up by the compiler as far as memory lets it, in front of a whole tile's formulas. So
// there is a store before it that depends on their results, to where nothing is read.
// What powers of two are below so that they are shares: the sum of a row joins what its powers were below. Of large
// scores that loses less than the rounding of the score. Of a row that sees nothing shares are 0.
// Rounded and packed, the first factor of the next product.
// ---- barriers ----
// Of the rows, and of each place of the rings of k and v, two: full counts bytes that arrive, empty the warps that have
// read it. Between them is a word that nobody reads (wgmma_units.cu, have_now).
struct Barriers {
  u32 barriers;
  __device__ __forceinline__ u32 full_q() const { return barriers; }
  __device__ __forceinline__ u32 empty_q() const { return barriers + 8u; }
  __device__ __forceinline__ u32 nowhere() const { return barriers + 16u; }
  __device__ __forceinline__ u32 full_k(Ring r) const { return barriers + 24u + 8u * r.stage; }
  __device__ __forceinline__ u32 empty_k(Ring r) const { return full_k(r) + 8u * kStages; }
  __device__ __forceinline__ u32 full_v(SecondRing r) const { return barriers + 24u + 16u * kStages + 8u * r.stage; }
  __device__ __forceinline__ u32 empty_v(SecondRing r) const { return full_v(r) + 8u * kStagesOfSecond; }
  __device__ __forceinline__ u32 end() const { return barriers + 24u + 16u * (kStages + kStagesOfSecond); }
  __device__ __forceinline__ u32 patch() const { return end(); }  // clear_beyond()
  // By one thread.
  __device__ __forceinline__ void init() const {
    tern_barrier_init(patch(), 1u);
    tern_barrier_init(full_q(), 1u), tern_barrier_init(empty_q(), 4u * kConsumers);
    for (Ring r; r.round == 0u; r.advance())
      tern_barrier_init(full_k(r), 1u), tern_barrier_init(empty_k(r), 4u * kConsumers);
    for (SecondRing r; r.round == 0u; r.advance())
      tern_barrier_init(full_v(r), 1u), tern_barrier_init(empty_v(r), 4u * kConsumers);
  }
};
// Rows of a tile from the sample's length on are not its own: 0 times what lies there could be NaN. By a warp, when the
// tile is there.
// ---- rows ----
// A block of rows, and the columns that they may see. Those from `length` on hold anything.
struct Work {
  u32 batch, head, key_head, first_row, begin, end, length;
};
TERN_DEVICE f32 score_of(const Params& params, f32 v0, f32 v3, i32 v4, i32 first, u32 ahead) {
  let v1 = bitcast<f32>(params.v[33]);
  let f4 = f32(v4);
  let t0 = f4 - f32(first);
  let t1 = t0 + f32(-1.0) * f32(ahead);
  let t2 = tern_abs_f32(t1);
  let t3 = t2 * v3;
  let t4 = fma(v0, v1, -t3);
  let v10 = t4;
  return v10;
}
struct RowBlocks {
  const Params& params;
  const u32* __restrict__ b0;
  const u32* __restrict__ b1;
  const u32* __restrict__ b2;
  const u32* __restrict__ b3;
  const u32* __restrict__ b4;
  vec4<u32>* __restrict__ b5;
  const u32* __restrict__ b6;
  // The blocks of a head stand together, those with the most columns first.
  __device__ __forceinline__ Work work_of(u32 own_group) const {
    let head_of_all = own_group / params.v[7];
    let first_row = (params.v[7] - 1u - (own_group - head_of_all * params.v[7])) * kRows;
    let batch = head_of_all / params.v[5];
    let head = head_of_all - batch * params.v[5];
    var begin = 0u;
    var end = params.v[2];
    let middle_of_all = bitcast<i32>(first_row) + bitcast<i32>(params.v[8]);
    end = u32(clamp(middle_of_all + 128, 0, bitcast<i32>(params.v[2])));
    const Work w{batch, head, head / (params.v[5] / params.v[6]), first_row, begin, end, params.v[2]};
    return {batch, head, w.key_head, first_row, seek(w, begin), end, w.length};
  }
  // The first tile from `column` on of which something is seen.
  __device__ __forceinline__ u32 seek(const Work& w, u32 column) const {
    [[maybe_unused]] let batch = w.batch, head = w.head, first_row = w.first_row, end = w.end;
    return column;
  }
  // What the formula adds to scores along the columns, counted from the one at which its beginning is taken; a lane's
  // first is the one `from` columns on.
  __device__ __forceinline__ void begin_scores(f32 (&s)[kAcross][4], const Work& w, u32 own, u32 from) const {
    if constexpr (!kBegins) return;
    [[maybe_unused]] let batch = w.batch, head = w.head, first = 0u, ahead = 0u, at = 0u;
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      [[maybe_unused]] let own_row = min(own + 8u * h, params.v[1] - 1u);
      f32 along = 0.0f;
#pragma unroll
      for (u32 j = 0u; j < 2u * kAcross; ++j) {
        s[j / 2u][2u * h + j % 2u] = along * f32(j / 2u * 8u + from + j % 2u);
      }
    }
  }
};
struct Memory : Barriers {
  u32 q, out, k, v;
};
// What forward kept of the two rows that a lane has a part of.
struct Known {
  f32 tops[2], means[2];
};
struct Attention : RowBlocks {
  // ---- producer ----
  // By all lanes of a warp, which seek together.
  __device__ __forceinline__ void fetch_rows(const BoxMap& of_q, const BoxMap& of_out, const Work& w, Memory at,
                                             u32 round, u32 lane) const {
    __syncwarp();
    tern_wait(at.empty_q(), round ^ 1u);
    if (lane != 0u) return;
    [[maybe_unused]] let batch = w.batch, head = w.head;
    tern_expect(at.full_q(), kBytesOfQ + kBytesOfOut);
    let full = at.full_q();
    fetch_pieces<kDepth>(at.q, kPieceOfQ, of_q, w.first_row, head, 0u, full, tern_passing());
    fetch_pieces<kWidth>(at.out, kPieceOfQ, of_out, w.first_row, head, 0u, full, tern_passing());
  }
  __device__ __forceinline__ void fetch_tile(const BoxMap& of_k, const BoxMap& of_v, const Work& w, u32 column,
                                             Memory at, Ring ring, SecondRing second, u32& patches, u32 lane) const {
    [[maybe_unused]] let batch = w.batch, head = w.key_head;
    let k = at.k + ring.stage * kBytesOfK, v = at.v + second.stage * kBytesOfV;
    const bool whole = !kRagged || column + kColumns <= w.length;
    let barrier = whole ? at.full_k(ring) : at.patch();
    __syncwarp();
    tern_wait(at.empty_k(ring), ring.round ^ 1u);
    if (lane == 0u) {
      tern_expect(barrier, kBytesOfK);
      fetch_pieces<kDepth>(k, kPiece, of_k, column, 0u, 0u, barrier, tern_kept());
    }
    if (!whole) {
      tern_wait(barrier, patches & 1u);
      ++patches;
      clear_beyond<kDepth>(k, w.length - column, lane);
      if (lane == 0u) tern_arrive_here(at.full_k(ring));
    }
    if (lane != 0u) return;
    tern_wait(at.empty_v(second), second.round ^ 1u);
    tern_expect(at.full_v(second), kBytesOfV);
    fetch_pieces<kWidth>(v, kPiece, of_v, column, 0u, 0u, at.full_v(second), tern_kept());
  }
  __device__ void fetch(const BoxMap& of_q, const BoxMap& of_k, const BoxMap& of_v, const BoxMap& of_out,
                        Memory at, u32 lane) const {
    Ring ring;
    SecondRing second;
    u32 blocks = 0u, patches = 0u;
    for (u32 round = 0u; round * gridDim.x < params.v[12]; ++round) {
      let group = group_of(round);
      if (group >= params.v[12]) continue;
      const Work w = work_of(group);
      if (w.begin < w.end) fetch_rows(of_q, of_out, w, at, blocks++ & 1u, lane);
#pragma unroll 1
      for (u32 column = w.begin; column < w.end; column = seek(w, column + kColumns)) {
        fetch_tile(of_k, of_v, w, column, at, ring, second, patches, lane);
        ring.advance(), second.advance();
      }
    }
  }
  // ---- consumers ----
  __device__ __forceinline__ Known known_of(const Work& w, u32 own) const {
    [[maybe_unused]] let batch = w.batch, head = w.head;
    Known known;
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      let own_row = min(own + 8u * h, params.v[1] - 1u);
      let x3 = bitcast<f32>(((u32*)b3)[params.v[23] + head * params.v[24] + own_row]);
      let top = x3;
      let x4 = bitcast<f32>(((u32*)b3)[params.v[25] + head * params.v[26] + own_row]);
      let total = x4;
      let x5 = bitcast<f32>(((u32*)b4)[params.v[27] + head * params.v[28] + own_row]);
      let mean = x5;
      known.tops[h] = top_of_shares(top, total), known.means[h] = mean;
    }
    return known;
  }
  // In place of products the slopes, and of what goes toward them, where they are kept, the shares.
  __device__ __forceinline__ void take_slopes(f32 (&s)[kAcross][4], f32 (&g)[kAcross][4], const Known& known,
                                              const Work& w, u32 column, u32 own, u32 lane) const {
    [[maybe_unused]] let batch = w.batch, head = w.head, first_row = w.first_row, end = w.end, length = w.length;
    const bool edge = column + kColumns > end || i32(column + kColumns) > i32(first_row) + bitcast<i32>(params.v[8]) + 1;
    [[maybe_unused]] let first = column + (lane & 3u) * 2u;
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      let row = own + 8u * h;
      [[maybe_unused]] let own_row = min(row, params.v[1] - 1u);
      f32 top = known.tops[h];
      if constexpr (kBegins) {
        [[maybe_unused]] let ahead = 0u, at = 0u;
        f32 begin = 0.0f;
        top -= begin * bitcast<f32>(params.v[11]);
      }
#pragma unroll
      for (u32 j = 0u; j < 2u * kAcross; ++j) {
        [[maybe_unused]] let ahead = j / 2u * 8u + j % 2u, at = min(first + ahead, 0xffffffffu);
        f32& x = s[j / 2u][2u * h + j % 2u];
        f32 score;
        let x0 = bitcast<f32>(((u32*)b6)[params.v[32] + head]);
        let y1 = score_of(params, x, x0, bitcast<i32>(own_row), bitcast<i32>(first), ahead);
        score = y1;
        [[maybe_unused]] f32 &y = g[j / 2u][2u * h + j % 2u], share = tern_power_of_two(fma(score, bitcast<f32>(params.v[11]), -top));
        f32 incoming = y;
        let toward = share * (incoming - known.means[h]);
        f32 slope;
        let y2 = slope_of(params, toward, ahead);
        slope = y2;
        x = slope;
        if constexpr (kKeeps) {
          y = share;
        }
      }
      if (edge) {
        [[maybe_unused]] let middle = i32(row) + i32(params.v[8]);
#pragma unroll
        for (u32 j = 0u; j < 2u * kAcross; ++j) {
          let at = first + j / 2u * 8u + j % 2u;
          if (!((at < params.v[2]) && (bitcast<i32>(at) <= middle))) { s[j / 2u][2u * h + j % 2u] = g[j / 2u][2u * h + j % 2u] = 0.0f; }
        }
      }
    }
  }
  // Stores slopes and shares of a tile.
  __device__ __forceinline__ void keep(f32 (&s)[kAcross][4], f32 (&g)[kAcross][4], const Work& w, u32 column, u32 own,
                                       u32 lane) const {
    [[maybe_unused]] let batch = w.batch, head = w.head;
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      let row = own + 8u * h;
#pragma unroll
      for (u32 j = 0u; j < kAcross; j += 4u) {
        let first = column + j * 8u + (lane & 3u) * 8u;
        const bool inside = row < params.v[1] && first < params.v[2];
        {
          [[maybe_unused]] let x = tern_quad_row(&s[j], h);
          if (inside) {
          }
        }
        [[maybe_unused]] let x = tern_quad_row(&g[j], h);
        if (inside) {
        }
      }
    }
  }
  __device__ __forceinline__ void finish(f32 (&sums)[kSumsAcross][4], const Work& w, u32 own, u32 lane) const {
    [[maybe_unused]] let batch = w.batch, head = w.head;
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      let row = own + 8u * h;
#pragma unroll
      for (u32 j = 0u; j < kDepth / 8u; j += 4u) {
        let x = tern_quad_row(&sums[j], h);
        let first = j * 8u + (lane & 3u) * 8u;
        if (row < params.v[1] && first < params.v[3]) {
          let w6 = (params.v[29] + head * params.v[30] + row * params.v[31] + first) / 8u;
          b5[w6 + 0u] = vec4<u32>(tern_f32_pair_to_bf16((x.x[0] * (bitcast<f32>(params.v[10]) * bitcast<f32>(params.v[34]))), (x.x[1] * (bitcast<f32>(params.v[10]) * bitcast<f32>(params.v[34])))), tern_f32_pair_to_bf16((x.x[2] * (bitcast<f32>(params.v[10]) * bitcast<f32>(params.v[34]))), (x.x[3] * (bitcast<f32>(params.v[10]) * bitcast<f32>(params.v[34])))), tern_f32_pair_to_bf16((x.x[4] * (bitcast<f32>(params.v[10]) * bitcast<f32>(params.v[34]))), (x.x[5] * (bitcast<f32>(params.v[10]) * bitcast<f32>(params.v[34])))), tern_f32_pair_to_bf16((x.x[6] * (bitcast<f32>(params.v[10]) * bitcast<f32>(params.v[34]))), (x.x[7] * (bitcast<f32>(params.v[10]) * bitcast<f32>(params.v[34])))));
        }
      }
    }
  }
  // What a consumer works with: the products of a tile, and slopes of the one before.
  struct Tile {
    f32 s[kAcross][4], g[kAcross][4];
    u32 slopes[kAcross / 2u][4];
    Ring ring, last;  // of k: of this tile, and of the one before
    SecondRing fewer;
    // Of v.
    __device__ __forceinline__ SecondRing second() const {
      return kFewPlaces ? fewer : SecondRing{ring.stage, ring.round};
    }
    __device__ __forceinline__ void advance() { last = ring, ring.advance(), fewer.advance(); }
  };
  // Send products off.
  static __device__ __forceinline__ void send_scores(Tile& t, Memory at, u32 stage, u32 member) {
    multiply_rows<kDepth, kBegins>(t.s, at.q + member * 8192u, kPieceOfQ, at.k + stage * kBytesOfK, kPiece);
  }
  static __device__ __forceinline__ void send_toward(Tile& t, Memory at, u32 stage, u32 member) {
    multiply_rows<kWidth>(t.g, at.out + member * 8192u, kPieceOfQ, at.v + stage * kBytesOfV, kPiece);
  }
  static __device__ __forceinline__ void send_both(Tile& t, Memory at, u32 member) {
    let stage = same(t.ring.stage);
    tern_begin_products();
    send_scores(t, at, stage, member), send_toward(t, at, kFewPlaces ? same(t.fewer.stage) : stage, member);
    tern_commit_products();
  }
  static __device__ __forceinline__ void send_slopes(f32 (&sums)[kSumsAcross][4], const Tile& t, Memory at) {
    let stage = same(t.last.stage);
    tern_begin_products();
    multiply_sums(sums, t.slopes, at.k + stage * kBytesOfK, kPiece);
    tern_commit_products();
  }
  // The products of a tile, and of the slopes of the one before. Of few places: consumer 1, the last to give places up,
  // begins with v, of which there is one.
  static __device__ __forceinline__ void send_tile(f32 (&sums)[kSumsAcross][4], Tile& t, Memory at, u32 member) {
    if constexpr (!kFewPlaces) {
      send_both(t, at, member);
      send_slopes(sums, t, at);
      return;
    }
    let odd = (member & 1u) != 0u;
    if (!odd) send_slopes(sums, t, at);
    tern_wait(at.full_v(t.fewer), t.fewer.round);
    tern_begin_products();
    send_toward(t, at, same(t.fewer.stage), member);
    tern_commit_products();
    if (odd) send_slopes(sums, t, at);
    tern_wait(at.full_k(t.ring), t.ring.round);
    tern_begin_products();
    send_scores(t, at, same(t.ring.stage), member);
    tern_commit_products();
  }
  // Until those of a tile are there; the others then still run, or have been waited for before.
  static __device__ __forceinline__ void wait_for_tile(f32 (&sums)[kSumsAcross][4], Tile& t, Memory at, u32 lane,
                                                       u32 member) {
    if constexpr (kFewPlaces) {
      let odd = (member & 1u) != 0u;
      let k = at.empty_k(t.last), v = at.empty_v(t.fewer);
      wait_for_all_but<2u>();
      give_up(odd ? v : k, lane);
      wait_for_all_but<1u>();
      give_up(odd ? k : v, lane);
      wait_for_sums(sums), hold(t.s), hold(t.g);
    } else {
      wait_for<1u>(t.s), hold(t.g);
      give_up(at.empty_v(t.second()), lane);
    }
  }
  __device__ void attend(Memory at, u32 thread, u32 member) const {
    Tile t;
    let lane = thread & 31u, own_of_group = member * 64u + thread % 128u / 32u * 16u + lane / 4u;
    u32 blocks = 0u;
    if (member + 1u == kConsumers) pass_ping_pong(member);
#pragma unroll 1
    for (u32 round = 0u; round * gridDim.x < params.v[12]; ++round) {
      let group = group_of(round);
      if (group >= params.v[12]) continue;
      const Work w = work_of(group);
      let own = w.first_row + own_of_group;
      f32 sums[kSumsAcross][4] = {};
      if (w.begin < w.end) {
        const Known known = known_of(w, own);
        tern_wait(at.full_q(), blocks++ & 1u);
        tern_wait(at.full_k(t.ring), t.ring.round), tern_wait(at.full_v(t.second()), t.second().round);
        begin_scores(t.s, w, own, 0u);
        send_both(t, at, member);
        wait_for<0u>(t.s), hold(t.g);
        give_up(at.empty_v(t.second()), lane);
        t.advance();
        take_slopes(t.s, t.g, known, w, w.begin, own, lane);
        pack(t.slopes, t.s);
        if constexpr (kKeeps) keep(t.s, t.g, w, w.begin, own, lane);
#pragma unroll 1
        for (u32 column = seek(w, w.begin + kColumns); column < w.end; column = seek(w, column + kColumns)) {
          if constexpr (!kFewPlaces)
            tern_wait(at.full_k(t.ring), t.ring.round), tern_wait(at.full_v(t.second()), t.second().round);
          begin_scores(t.s, w, own, 0u);
          await_ping_pong(member);
          send_tile(sums, t, at, member);
          pass_ping_pong(member);
          wait_for_tile(sums, t, at, lane, member);
          take_slopes(t.s, t.g, known, w, column, own, lane);
          if constexpr (!kFewPlaces) {
            have_now(all_of(t.s), at.nowhere());
            wait_for_sums(sums);
            give_up(at.empty_k(t.last), lane);
          }
          t.advance();
          pack(t.slopes, t.s);
          if constexpr (kKeeps) keep(t.s, t.g, w, column, own, lane);
        }
        give_up(at.empty_q(), lane);
        send_slopes(sums, t, at);
        wait_for_sums(sums);
        give_up(at.empty_k(t.last), lane);
      }
      finish(sums, w, own, lane);
    }
  }
};
extern "C" __global__ void __launch_bounds__(kThreads, 1) tern_kernel(const u32* __restrict__ b0, const u32* __restrict__ b1, const u32* __restrict__ b2, const u32* __restrict__ b3, const u32* __restrict__ b4, vec4<u32>* __restrict__ b5, const u32* __restrict__ b6, const __grid_constant__ BoxMap map0, const __grid_constant__ BoxMap map1, const __grid_constant__ BoxMap map2, const __grid_constant__ BoxMap map3, const __grid_constant__ Params params) {
  extern __shared__ unsigned char memory[];
  let thread = threadIdx.x, q = (tern_shared(memory) + 1023u) & ~1023u;
  let out = q + kBytesOfQ, k = out + kBytesOfOut, v = k + kStages * kBytesOfK;
  const Memory at{{v + kStagesOfSecond * kBytesOfV}, q, out, k, v};
  if (thread == 0u) {
    at.init();
    tern_barriers_ready();
  }
  __syncthreads();
  const Attention call{{params, b0, b1, b2, b3, b4, b5, b6}};
  if (thread < 128u) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (thread < 32u) call.fetch(map0, map1, map2, map3, at, thread);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    call.attend(at, thread, same(thread / 128u) - 1u);
  }
}

// ---- attention on Hopper's matrix units: attention, 1 workgroups of 384, 36 words
// gradients of attention on Hopper, of k and v
struct Params {
  u32 v[36];
};
// The instance.
enum : bool { kPingPong = false, kBegins = false, kOfK = true, kOfV = true, kOfBoth = kOfK && kOfV };
enum : u32 {
  kConsumers = 2u, kThreads = 128u * (1u + kConsumers), kColumns = 64u * kConsumers,
  kRows = 96u, kAcross = kRows / 8u,
  kDepth = 64u, kSumsAcross = kDepth / 8u,  // v's rows are padded to as many
  kStages = 3u, kStagesOfSecond = 3u,  // of q, and of the result's gradient
  kPieceOfK = 128u * kColumns, kPiece = 128u * kRows,  // bytes of 64 elements of all rows
  kBytesOfK = kPieceOfK * (kDepth / 64u), kBytesOfQ = kPiece * (kDepth / 64u),
  kKnown = 8u * kRows,  // bytes of what is known of a tile's rows: tops of shares, means
};
// How the copy engine finds boxes of a matrix (a tensor map of the driver's).
struct alignas(64) BoxMap {
  u64 words[16];
};
// ---- barriers in workgroup memory ----
// Arrives at the barrier in the same place of a workgroup of the cluster. (Released to the workgroup only: what is
// given up was read by the matrix units, which have finished. To the cluster, the compiler waits for all memory of the
// GPU: 424 instead of 610 TFLOP/s at 8192×4096×16384 with silu on an H200.)
// The same in this workgroup.
// ---- the copy engine ----
// How long the cache of the whole GPU is to hold what is fetched or stored: longer than the rest, shorter, or as ever.
// Fetches a box into this workgroup's memory.
// Fetches a box into the memory of both workgroups of the cluster.
// Stores a box from this workgroup's memory, as a group of its own; what lies outside the matrix stays.
// Until all boxes this thread stored but the last few are read.
// What was written to workgroup memory is there for the copy engine, too.
// Four blocks of eight rows of 16 bytes, in the layout of the matrix units' sums; each lane says where one row begins.
// ---- the matrix units ----
// How a matrix lies in workgroup memory, in rows of 128 bytes swizzled over 1024. `leading`: bytes between blocks of 64
// elements across k, where those are neighbours.
// The largest, and the sum, of the values of the four lanes that share a row.
// ---- from the layout of sums to rows ----
// Lane q of four holds columns 8 j + 2 q and 8 j + 2 q + 1 for j = 0..3, and gets columns 8 q to 8 q + 7 in their
// place. Two exchanges, with the neighbour and with the next but one.
struct Row8 {
  f32 x[8];
};
// Of four blocks, the upper or lower row (h) of a lane.
// Of two tiles that pass by together: those that scores are products of, and the others.
using Ring = RingOf<kStages>;
using SecondRing = RingOf<kStagesOfSecond>;
// Consumers send products off one after the other (ping-pong): consumer i waits at barrier 1 + i, at which the
// one before arrives.
// The work of a round. Every other round of the processors goes backwards: none has the long ones of all rounds.
// ---- boxes ----
// Of `elements` elements of the rows of a tile the pieces of 64, which lie `piece` bytes apart.
// ---- products ----
// A value that all lanes have alike, and said so: addresses of matrices are then kept in uniform registers.
// The matrix that begins so many bytes further on. Its address does not leave the lower word, of which nothing else is
// touched: one addition a matrix, where the whole description took five to eight instructions, 1.5 a score.
// 64 rows and 16 elements, times those of the rows of a tile.
TERN_DEVICE void multiply_first(f32 (&s)[kAcross][4], u64 a, u64 b) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, 0, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n96" "k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47}, %48, %49, "
      "p, 1, 1, 0, 0;\n}" : "=f"(s[0][0]), "=f"(s[0][1]), "=f"(s[0][2]), "=f"(s[0][3]), "=f"(s[1][0]), "=f"(s[1][1]), "=f"(s[1][2]), "=f"(s[1][3]), "=f"(s[2][0]), "=f"(s[2][1]), "=f"(s[2][2]), "=f"(s[2][3]), "=f"(s[3][0]), "=f"(s[3][1]), "=f"(s[3][2]), "=f"(s[3][3]), "=f"(s[4][0]), "=f"(s[4][1]), "=f"(s[4][2]), "=f"(s[4][3]), "=f"(s[5][0]), "=f"(s[5][1]), "=f"(s[5][2]), "=f"(s[5][3]), "=f"(s[6][0]), "=f"(s[6][1]), "=f"(s[6][2]), "=f"(s[6][3]), "=f"(s[7][0]), "=f"(s[7][1]), "=f"(s[7][2]), "=f"(s[7][3]), "=f"(s[8][0]), "=f"(s[8][1]), "=f"(s[8][2]), "=f"(s[8][3]), "=f"(s[9][0]), "=f"(s[9][1]), "=f"(s[9][2]), "=f"(s[9][3]), "=f"(s[10][0]), "=f"(s[10][1]), "=f"(s[10][2]), "=f"(s[10][3]), "=f"(s[11][0]), "=f"(s[11][1]), "=f"(s[11][2]), "=f"(s[11][3]) : "l"(a), "l"(b));
}
TERN_DEVICE void multiply(f32 (&s)[kAcross][4], u64 a, u64 b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n96" "k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47}, "
      "%48, %49, 1, 1, 1, 0, 0;" : "+f"(s[0][0]), "+f"(s[0][1]), "+f"(s[0][2]), "+f"(s[0][3]), "+f"(s[1][0]), "+f"(s[1][1]), "+f"(s[1][2]), "+f"(s[1][3]), "+f"(s[2][0]), "+f"(s[2][1]), "+f"(s[2][2]), "+f"(s[2][3]), "+f"(s[3][0]), "+f"(s[3][1]), "+f"(s[3][2]), "+f"(s[3][3]), "+f"(s[4][0]), "+f"(s[4][1]), "+f"(s[4][2]), "+f"(s[4][3]), "+f"(s[5][0]), "+f"(s[5][1]), "+f"(s[5][2]), "+f"(s[5][3]), "+f"(s[6][0]), "+f"(s[6][1]), "+f"(s[6][2]), "+f"(s[6][3]), "+f"(s[7][0]), "+f"(s[7][1]), "+f"(s[7][2]), "+f"(s[7][3]), "+f"(s[8][0]), "+f"(s[8][1]), "+f"(s[8][2]), "+f"(s[8][3]), "+f"(s[9][0]), "+f"(s[9][1]), "+f"(s[9][2]), "+f"(s[9][3]), "+f"(s[10][0]), "+f"(s[10][1]), "+f"(s[10][2]), "+f"(s[10][3]), "+f"(s[11][0]), "+f"(s[11][1]), "+f"(s[11][2]), "+f"(s[11][3]) : "l"(a), "l"(b));
}
// 64 rows of shares of 16 rows of a tile, times those.
// s = a·bᵀ for 64 rows of a and a tile b, which lie in pieces of 64 elements; with `begun` added to what is there.
// sums += shares·b.
// Until all groups of products but the last `sent` are there, among them these.
template <u32 sent> TERN_DEVICE void wait_for(f32 (&s)[kAcross][4]) {
  if constexpr (sent == 1u) asm volatile("wgmma.wait_group.sync.aligned 1;" : "+f"(s[0][0]), "+f"(s[0][1]), "+f"(s[0][2]), "+f"(s[0][3]), "+f"(s[1][0]), "+f"(s[1][1]), "+f"(s[1][2]), "+f"(s[1][3]), "+f"(s[2][0]), "+f"(s[2][1]), "+f"(s[2][2]), "+f"(s[2][3]), "+f"(s[3][0]), "+f"(s[3][1]), "+f"(s[3][2]), "+f"(s[3][3]), "+f"(s[4][0]), "+f"(s[4][1]), "+f"(s[4][2]), "+f"(s[4][3]), "+f"(s[5][0]), "+f"(s[5][1]), "+f"(s[5][2]), "+f"(s[5][3]), "+f"(s[6][0]), "+f"(s[6][1]), "+f"(s[6][2]), "+f"(s[6][3]), "+f"(s[7][0]), "+f"(s[7][1]), "+f"(s[7][2]), "+f"(s[7][3]), "+f"(s[8][0]), "+f"(s[8][1]), "+f"(s[8][2]), "+f"(s[8][3]), "+f"(s[9][0]), "+f"(s[9][1]), "+f"(s[9][2]), "+f"(s[9][3]), "+f"(s[10][0]), "+f"(s[10][1]), "+f"(s[10][2]), "+f"(s[10][3]), "+f"(s[11][0]), "+f"(s[11][1]), "+f"(s[11][2]), "+f"(s[11][3]) :: "memory");
  else asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(s[0][0]), "+f"(s[0][1]), "+f"(s[0][2]), "+f"(s[0][3]), "+f"(s[1][0]), "+f"(s[1][1]), "+f"(s[1][2]), "+f"(s[1][3]), "+f"(s[2][0]), "+f"(s[2][1]), "+f"(s[2][2]), "+f"(s[2][3]), "+f"(s[3][0]), "+f"(s[3][1]), "+f"(s[3][2]), "+f"(s[3][3]), "+f"(s[4][0]), "+f"(s[4][1]), "+f"(s[4][2]), "+f"(s[4][3]), "+f"(s[5][0]), "+f"(s[5][1]), "+f"(s[5][2]), "+f"(s[5][3]), "+f"(s[6][0]), "+f"(s[6][1]), "+f"(s[6][2]), "+f"(s[6][3]), "+f"(s[7][0]), "+f"(s[7][1]), "+f"(s[7][2]), "+f"(s[7][3]), "+f"(s[8][0]), "+f"(s[8][1]), "+f"(s[8][2]), "+f"(s[8][3]), "+f"(s[9][0]), "+f"(s[9][1]), "+f"(s[9][2]), "+f"(s[9][3]), "+f"(s[10][0]), "+f"(s[10][1]), "+f"(s[10][2]), "+f"(s[10][3]), "+f"(s[11][0]), "+f"(s[11][1]), "+f"(s[11][2]), "+f"(s[11][3]) :: "memory");
}
// For what memory they have read.
// Others of the same groups.
TERN_DEVICE void hold(f32 (&s)[kAcross][4]) { asm volatile("" : "+f"(s[0][0]), "+f"(s[0][1]), "+f"(s[0][2]), "+f"(s[0][3]), "+f"(s[1][0]), "+f"(s[1][1]), "+f"(s[1][2]), "+f"(s[1][3]), "+f"(s[2][0]), "+f"(s[2][1]), "+f"(s[2][2]), "+f"(s[2][3]), "+f"(s[3][0]), "+f"(s[3][1]), "+f"(s[3][2]), "+f"(s[3][3]), "+f"(s[4][0]), "+f"(s[4][1]), "+f"(s[4][2]), "+f"(s[4][3]), "+f"(s[5][0]), "+f"(s[5][1]), "+f"(s[5][2]), "+f"(s[5][3]), "+f"(s[6][0]), "+f"(s[6][1]), "+f"(s[6][2]), "+f"(s[6][3]), "+f"(s[7][0]), "+f"(s[7][1]), "+f"(s[7][2]), "+f"(s[7][3]), "+f"(s[8][0]), "+f"(s[8][1]), "+f"(s[8][2]), "+f"(s[8][3]), "+f"(s[9][0]), "+f"(s[9][1]), "+f"(s[9][2]), "+f"(s[9][3]), "+f"(s[10][0]), "+f"(s[10][1]), "+f"(s[10][2]), "+f"(s[10][3]), "+f"(s[11][0]), "+f"(s[11][1]), "+f"(s[11][2]), "+f"(s[11][3]) :: "memory"); }
// What waits for products is moved up by the compiler as far as memory lets it, in front of a whole tile's formulas. So
// there is a store before it that depends on their results, to where nothing is read.
// What powers of two are below so that they are shares: the sum of a row joins what its powers were below. Of large
// scores that loses less than the rounding of the score. Of a row that sees nothing shares are 0.
// Rounded and packed, the first factor of the next product.
struct Memory {
  u32 k, v, q, out, known, barriers;
  __device__ __forceinline__ u32 full_k() const { return barriers; }
  __device__ __forceinline__ u32 empty_k() const { return barriers + 8u; }
  __device__ __forceinline__ u32 full(Ring r) const { return barriers + 24u + 8u * r.stage; }
  __device__ __forceinline__ u32 empty(Ring r) const { return full(r) + 8u * kStages; }
  __device__ __forceinline__ u32 full_out(SecondRing r) const {
    return barriers + 24u + 16u * kStages + 8u * r.stage;
  }
  __device__ __forceinline__ u32 empty_out(SecondRing r) const { return full_out(r) + 8u * kStagesOfSecond; }
};
// A block of keys, and the rows that may see them; those from `length` on see nothing.
struct Work {
  u32 batch, key_head, first_column, begin, end, length;
};
// A tile of rows of one of the heads that share the keys; sharer = as many as those: none.
struct Place {
  u32 sharer, first_row;
};
TERN_DEVICE f32 score_of(const Params& params, f32 v0, f32 v3, i32 first, i32 v5, u32 ahead) {
  let v1 = bitcast<f32>(params.v[34]);
  let f5 = f32(v5);
  let t0 = f32(first) - f5;
  let t1 = t0 + f32(1.0) * f32(ahead);
  let t2 = tern_abs_f32(t1);
  let t3 = t2 * v3;
  let t4 = fma(v0, v1, -t3);
  let v10 = t4;
  return v10;
}
struct Attention {
  const Params& params;
  const u32* __restrict__ b0;
  const u32* __restrict__ b1;
  const u32* __restrict__ b2;
  const u32* __restrict__ b3;
  const u32* __restrict__ b4;
  vec4<u32>* __restrict__ b5;
  vec4<u32>* __restrict__ b6;
  const u32* __restrict__ b7;
  // The blocks of a key head stand together, those that most rows see first.
  __device__ __forceinline__ Work work_of(u32 group) const {
    let key_head_of_all = group / params.v[7];
    let first_column = (group - key_head_of_all * params.v[7]) * kColumns;
    let batch = key_head_of_all / params.v[6];
    var begin = 0u;
    var end = params.v[1];
    let middle_of_all = bitcast<i32>(first_column) - bitcast<i32>(params.v[8]);
    begin = u32(clamp(middle_of_all, 0, bitcast<i32>(params.v[1]))) / 32u * 32u;
    return {batch, key_head_of_all - batch * params.v[6], first_column, begin, end, params.v[2]};
  }
  __device__ __forceinline__ u32 shared_by() const { return params.v[5] / params.v[6]; }
  // The first place from there on of which something is seen.
  __device__ __forceinline__ Place seek(const Work& w, u32 sharer, u32 first_row) const {
    [[maybe_unused]] let batch = w.batch, key_head = w.key_head, first_column = w.first_column;
    let shared = shared_by(), end = w.end;
    while (sharer < shared) {
      if (first_row >= end) { sharer = w.begin < end ? sharer + 1u : shared, first_row = w.begin; continue; }
      break;
    }
    return {sharer, first_row};
  }
  template <class Step> __device__ __forceinline__ void each_work(const Step& step) const {
#pragma unroll 1
    for (u32 round = 0u; round * gridDim.x < params.v[12]; ++round) {
      let group = group_of(round);
      if (group < params.v[12]) step(work_of(group));
    }
  }
  // ---- producer ----
  // By all lanes of a warp, which seek together.
  __device__ void fetch(const BoxMap& of_q, const BoxMap& of_k, const BoxMap& of_v, const BoxMap& of_out,
                        Memory at, u32 lane) const {
    Ring ring;
    SecondRing second;
    u32 blocks = 0u;
    each_work([&](const Work& w) {
      for (Place p = seek(w, 0u, w.begin), first = p; p.sharer < shared_by();
           p = seek(w, p.sharer, p.first_row + kRows)) {
        __syncwarp();
        if (lane == 0u) {
          if (p.sharer == first.sharer && p.first_row == first.first_row) fetch_keys(of_k, of_v, w, at, blocks++ & 1u);
          fetch_tile(of_q, of_out, w, p, at, ring, second);
        }
        ring.advance(), second.advance();
      }
    });
  }
  __device__ __forceinline__ void fetch_keys(const BoxMap& of_k, const BoxMap& of_v, const Work& w, Memory at,
                                             u32 round) const {
    [[maybe_unused]] let batch = w.batch, head = w.key_head;
    let full = at.full_k();
    tern_wait(at.empty_k(), round ^ 1u);
    tern_expect(full, (kOfK ? 2u : 1u) * kBytesOfK);
    fetch_pieces<kDepth>(at.k, kPieceOfK, of_k, w.first_column, 0u, 0u, full, tern_passing());
    if (kOfK) fetch_pieces<kDepth>(at.v, kPieceOfK, of_v, w.first_column, 0u, 0u, full, tern_passing());
  }
  __device__ __forceinline__ void fetch_tile(const BoxMap& of_q, const BoxMap& of_out, const Work& w, Place p,
                                             Memory at, Ring ring, SecondRing second) const {
    [[maybe_unused]] let batch = w.batch, head = w.key_head * shared_by() + p.sharer;
    let q = at.q + ring.stage * kBytesOfQ, out = at.out + second.stage * kBytesOfQ;
    tern_wait(at.empty(ring), ring.round ^ 1u);
    tern_expect(at.full(ring), kBytesOfQ);
    fetch_pieces<kDepth>(q, kPiece, of_q, p.first_row, head, 0u, at.full(ring), tern_kept());
    tern_wait(at.empty_out(second), second.round ^ 1u);
    tern_expect(at.full_out(second), kBytesOfQ);
    fetch_pieces<kDepth>(out, kPiece, of_out, p.first_row, head, 0u, at.full_out(second), tern_kept());
  }
  // By all lanes of a warp.
  __device__ void fetch_known(Memory at, u32 lane) const {
    Ring ring;
    each_work([&](const Work& w) {
      [[maybe_unused]] let batch = w.batch;
      for (Place p = seek(w, 0u, w.begin); p.sharer < shared_by(); p = seek(w, p.sharer, p.first_row + kRows)) {
        [[maybe_unused]] let head = w.key_head * shared_by() + p.sharer;
        // Loaded before there is a place for them: memory takes as long as half a tile's products.
        f32 tops[(kRows + 31u) / 32u], means[(kRows + 31u) / 32u];
#pragma unroll
        for (u32 i = 0u; i < kRows; i += 32u) {
          let own_row = min(p.first_row + i + lane, params.v[1] - 1u);
          let x3 = bitcast<f32>(((u32*)b3)[params.v[23] + head * params.v[24] + own_row]);
          let top = x3;
          let x4 = bitcast<f32>(((u32*)b3)[params.v[25] + head * params.v[26] + own_row]);
          let total = x4;
          let x5 = bitcast<f32>(((u32*)b4)[params.v[27] + head * params.v[28] + own_row]);
          let mean = x5;
          tops[i / 32u] = top_of_shares(top, total), means[i / 32u] = mean;
        }
        __syncwarp();
        tern_wait(at.empty(ring), ring.round ^ 1u);
        let to = at.known + ring.stage * kKnown + 4u * lane;
#pragma unroll
        for (u32 i = 0u; i < kRows; i += 32u)
          if (i + lane < kRows) put(to + 4u * i, tops[i / 32u]), put(to + 4u * (i + kRows), means[i / 32u]);
        __syncwarp();
        if (lane == 0u) tern_arrive_here(at.full(ring));
        ring.advance();
      }
    });
  }
  static __device__ __forceinline__ void put(u32 to, f32 x) {
    asm volatile("st.shared.f32 [%0], %1;" :: "r"(to), "f"(x) : "memory");
  }
  // Of two neighbouring rows.
  static __device__ __forceinline__ vec2<f32> known(u32 from) {
    f32 x, y;
    asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(x), "=f"(y) : "r"(from) : "memory");
    return {x, y};
  }
  // ---- consumers ----
  // What the formula adds to scores, of which the product is but one part.
  __device__ __forceinline__ void begin_scores(f32 (&s)[kAcross][4], const Work& w, Place p, u32 own, u32 lane) const {
    if constexpr (!kBegins) return;
    [[maybe_unused]] let batch = w.batch, head = w.key_head * shared_by() + p.sharer, own_row = 0u, ahead = 0u;
    [[maybe_unused]] let first = p.first_row + (lane & 3u) * 2u;
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      [[maybe_unused]] let at = min(own + 8u * h, params.v[2] - 1u);
      f32 along = 0.0f, begin = 0.0f;
#pragma unroll
      for (u32 j = 0u; j < 2u * kAcross; ++j) {
        s[j / 2u][2u * h + j % 2u] = fma(along, f32(j / 2u * 8u + j % 2u), begin);
      }
    }
  }
  // In place of products the shares, and of what goes toward them the slopes.
  __device__ __forceinline__ void take_slopes(f32 (&s)[kAcross][4], f32 (&g)[kAcross][4], const Work& w, Place p,
                                              u32 known_at, u32 own, u32 lane) const {
    [[maybe_unused]] let batch = w.batch, key_head = w.key_head, first_column = w.first_column;
    [[maybe_unused]] let shared = shared_by(), head = key_head * shared + p.sharer, sharer = p.sharer;
    let first_row = p.first_row, end = w.end, length = w.length;
    const bool edge = first_row + kRows > end || first_column + kColumns > length || i32(first_column + kColumns) > i32(first_row) + bitcast<i32>(params.v[8]) + 1;
    [[maybe_unused]] let first = first_row + (lane & 3u) * 2u;
#pragma unroll
    for (u32 j = 0u; j < kAcross; ++j) {
      let from = known_at + 4u * (j * 8u + (lane & 3u) * 2u);
      const vec2<f32> tops = known(from), means = kOfK ? known(from + 4u * kRows) : vec2<f32>{0.0f, 0.0f};
#pragma unroll
      for (u32 e = 0u; e < 4u; ++e) {
        [[maybe_unused]] let ahead = j * 8u + e % 2u, row = first + ahead, column = own + e / 2u * 8u;
        [[maybe_unused]] let own_row = min(row, params.v[1] - 1u), at = min(column, params.v[2] - 1u);
        f32 &x = s[j][e], &y = g[j][e];
        f32 score;
        let x0 = bitcast<f32>(((u32*)b7)[params.v[33] + head]);
        let y1 = score_of(params, x, x0, bitcast<i32>(first), bitcast<i32>(at), ahead);
        score = y1;
        var share = tern_power_of_two(fma(score, bitcast<f32>(params.v[11]), -(e % 2u ? tops.y : tops.x)));
        [[maybe_unused]] f32 incoming = y;
        [[maybe_unused]] let toward = share * (incoming - (e % 2u ? means.y : means.x));
        f32 slope;
        let y2 = slope_of(params, toward, ahead);
        slope = y2;
        y = slope;
        x = share;
      }
    }
    if (!edge) return;
#pragma unroll
    for (u32 j = 0u; j < 4u * kAcross; ++j) {
      let row = first + j / 4u * 8u + j % 2u, column = own + j % 4u / 2u * 8u;
      [[maybe_unused]] let middle = i32(row) + i32(params.v[8]);
      if (!(row < params.v[1] && (column < params.v[2]) && (bitcast<i32>(column) <= middle))) { s[j / 4u][j % 4u] = 0.0f, g[j / 4u][j % 4u] = 0.0f; }
    }
  }
  // Send products off.
  static __device__ __forceinline__ void send_scores(f32 (&s)[kAcross][4], Memory at, Ring ring, u32 member) {
    multiply_rows<kDepth, kBegins>(s, at.k + member * 8192u, kPieceOfK, at.q + same(ring.stage) * kBytesOfQ, kPiece);
  }
  static __device__ __forceinline__ void send_toward(f32 (&g)[kAcross][4], Memory at, SecondRing ring, u32 member) {
    multiply_rows<kDepth>(g, at.v + member * 8192u, kPieceOfK, at.out + same(ring.stage) * kBytesOfQ, kPiece);
  }
  // Stores the gradient of k, or else that of v.
  template <bool of_k>
  __device__ __forceinline__ void finish(f32 (&sums)[kSumsAcross][4], const Work& w, u32 own, u32 lane) const {
    [[maybe_unused]] let batch = w.batch, key_head = w.key_head;
#pragma unroll
    for (u32 h = 0u; h < 2u; ++h) {
      let column = own + 8u * h;
#pragma unroll
      for (u32 j = 0u; j < kSumsAcross; j += 4u) {
        [[maybe_unused]] let x = tern_quad_row(&sums[j], h);
        let first = j * 8u + (lane & 3u) * 8u;
        if (column >= params.v[2]) continue;
        if constexpr (of_k) {
          if (first < params.v[3]) {
            let w6 = (params.v[29] + column * params.v[30] + first) / 8u;
            b5[w6 + 0u] = vec4<u32>(tern_f32_pair_to_bf16((x.x[0] * (bitcast<f32>(params.v[10]) * bitcast<f32>(params.v[35]))), (x.x[1] * (bitcast<f32>(params.v[10]) * bitcast<f32>(params.v[35])))), tern_f32_pair_to_bf16((x.x[2] * (bitcast<f32>(params.v[10]) * bitcast<f32>(params.v[35]))), (x.x[3] * (bitcast<f32>(params.v[10]) * bitcast<f32>(params.v[35])))), tern_f32_pair_to_bf16((x.x[4] * (bitcast<f32>(params.v[10]) * bitcast<f32>(params.v[35]))), (x.x[5] * (bitcast<f32>(params.v[10]) * bitcast<f32>(params.v[35])))), tern_f32_pair_to_bf16((x.x[6] * (bitcast<f32>(params.v[10]) * bitcast<f32>(params.v[35]))), (x.x[7] * (bitcast<f32>(params.v[10]) * bitcast<f32>(params.v[35])))));
          }
        } else if (first < params.v[4]) {
          let w7 = (params.v[31] + column * params.v[32] + first) / 8u;
          b6[w7 + 0u] = vec4<u32>(tern_f32_pair_to_bf16((x.x[0]), (x.x[1])), tern_f32_pair_to_bf16((x.x[2]), (x.x[3])), tern_f32_pair_to_bf16((x.x[4]), (x.x[5])), tern_f32_pair_to_bf16((x.x[6]), (x.x[7])));
        }
      }
    }
  }
  // Of both gradients: of a tile, products, shares and slopes, and their products.
  __device__ void attend(Memory at, u32 thread, u32 member) const {
    Ring ring;
    SecondRing second;
    let lane = thread & 31u, own_of_group = member * 64u + thread % 128u / 32u * 16u + lane / 4u;
    u32 blocks = 0u;
    if (member + 1u == kConsumers) pass_ping_pong(member);
    each_work([&](const Work& w) {
      let own = w.first_column + own_of_group;
      f32 of_k[kSumsAcross][4] = {}, of_v[kSumsAcross][4] = {};
      Place p = seek(w, 0u, w.begin);
      if (p.sharer < shared_by()) {
        f32 s[kAcross][4], g[kAcross][4];
        u32 shares[kAcross / 2u][4], slopes[kAcross / 2u][4];
        tern_wait(at.full_k(), blocks++ & 1u);
#pragma unroll 1
        for (; p.sharer < shared_by(); p = seek(w, p.sharer, p.first_row + kRows)) {
          tern_wait(at.full(ring), ring.round), tern_wait(at.full_out(second), second.round);
          begin_scores(s, w, p, own, lane);
          await_ping_pong(member);
          tern_begin_products();
          send_scores(s, at, ring, member), send_toward(g, at, second, member);
          tern_commit_products();
          pass_ping_pong(member);
          wait_for<0u>(s), hold(g);
          take_slopes(s, g, w, p, at.known + ring.stage * kKnown, own, lane);
          pack(shares, s), pack(slopes, g);
          tern_begin_products();
          multiply_sums(of_v, shares, at.out + second.stage * kBytesOfQ, kPiece);
          multiply_sums(of_k, slopes, at.q + ring.stage * kBytesOfQ, kPiece);
          tern_commit_products();
          wait_for_sums(of_v), hold_sums(of_k);
          give_up(at.empty(ring), lane), give_up(at.empty_out(second), lane);
          ring.advance(), second.advance();
        }
        give_up(at.empty_k(), lane);
      }
      finish<true>(of_k, w, own, lane), finish<false>(of_v, w, own, lane);
    });
  }
  // ---- consumers of one gradient ----
  // What a consumer works with: the products of a tile, and shares or slopes of the one before. Those meet the tiles of
  // the first ring, q, for k's gradient, or else of the second, which come later by one tile then.
  struct Tile {
    f32 s[kAcross][4], g[kAcross][4];
    u32 weights[kAcross / 2u][4];
    Ring ring, last;  // of this tile, and of the one before
    SecondRing second;
  };
  static __device__ __forceinline__ void send_weights(f32 (&sums)[kSumsAcross][4], const Tile& t, Memory at) {
    let tile = same(kOfK ? t.last.stage : t.second.stage) * kBytesOfQ;
    tern_begin_products();
    multiply_sums(sums, t.weights, (kOfK ? at.q : at.out) + tile, kPiece);
    tern_commit_products();
  }
  // The products of a tile, and unless it is a block's first those of the weights of the one before; until all are
  // there. What is given up first comes first, and what is fetched anew last.
  template <bool first>
  static __device__ __forceinline__ void multiply_tile(f32 (&sums)[kSumsAcross][4], Tile& t, Memory at, u32 lane,
                                                       u32 member) {
    if constexpr (!first) {
      await_ping_pong(member);
      if constexpr (kOfV) tern_wait(at.full_out(t.second), t.second.round);
      send_weights(sums, t, at);
    }
    if constexpr (kOfK) {
      tern_wait(at.full_out(t.second), t.second.round);
      tern_begin_products();
      send_toward(t.g, at, t.second, member);
      tern_commit_products();
    }
    tern_wait(at.full(t.ring), t.ring.round);
    tern_begin_products();
    send_scores(t.s, at, t.ring, member);
    tern_commit_products();
    if constexpr (!first) {
      pass_ping_pong(member);
      wait_for_all_but<kOfK ? 2u : 1u>();
      give_up(kOfK ? at.empty(t.last) : at.empty_out(t.second), lane);
    }
    if constexpr (kOfK) {
      wait_for_all_but<1u>();
      give_up(at.empty_out(t.second), lane);
    }
    if constexpr (kOfK || !first) t.second.advance();
    wait_for<0u>(t.s);
    if constexpr (kOfK) hold(t.g);
    if constexpr (!first) hold_sums(sums);
  }
  __device__ __forceinline__ void take_weights(Tile& t, const Work& w, Place p, Memory at, u32 own, u32 lane) const {
    take_slopes(t.s, t.g, w, p, at.known + t.ring.stage * kKnown, own, lane);
    if constexpr (kOfK) pack(t.weights, t.g);
    else pack(t.weights, t.s), give_up(at.empty(t.ring), lane);
    t.last = t.ring, t.ring.advance();
  }
  __device__ void attend_to_one(Memory at, u32 thread, u32 member) const {
    Tile t;
    let lane = thread & 31u, own_of_group = member * 64u + thread % 128u / 32u * 16u + lane / 4u;
    u32 blocks = 0u;
    if (member + 1u == kConsumers) pass_ping_pong(member);
    each_work([&](const Work& w) {
      let own = w.first_column + own_of_group;
      f32 sums[kSumsAcross][4] = {};
      Place p = seek(w, 0u, w.begin);
      if (p.sharer < shared_by()) {
        tern_wait(at.full_k(), blocks++ & 1u);
        begin_scores(t.s, w, p, own, lane);
        multiply_tile<true>(sums, t, at, lane, member);
        take_weights(t, w, p, at, own, lane);
#pragma unroll 1
        for (p = seek(w, p.sharer, p.first_row + kRows); p.sharer < shared_by();
             p = seek(w, p.sharer, p.first_row + kRows)) {
          begin_scores(t.s, w, p, own, lane);
          multiply_tile<false>(sums, t, at, lane, member);
          take_weights(t, w, p, at, own, lane);
        }
        give_up(at.empty_k(), lane);
        if constexpr (kOfV) tern_wait(at.full_out(t.second), t.second.round);
        send_weights(sums, t, at);
        wait_for_sums(sums);
        if constexpr (kOfK) give_up(at.empty(t.last), lane);
        else give_up(at.empty_out(t.second), lane), t.second.advance();
      }
      finish<kOfK>(sums, w, own, lane);
    });
  }
};
extern "C" __global__ void __launch_bounds__(kThreads, 1) tern_kernel(const u32* __restrict__ b0, const u32* __restrict__ b1, const u32* __restrict__ b2, const u32* __restrict__ b3, const u32* __restrict__ b4, vec4<u32>* __restrict__ b5, vec4<u32>* __restrict__ b6, const u32* __restrict__ b7, const __grid_constant__ BoxMap map0, const __grid_constant__ BoxMap map1, const __grid_constant__ BoxMap map2, const __grid_constant__ BoxMap map3, const __grid_constant__ Params params) {
  extern __shared__ unsigned char memory[];
  let thread = threadIdx.x, k = (tern_shared(memory) + 1023u) & ~1023u;
  let q = k + (kOfK ? 2u : 1u) * kBytesOfK, out = q + kStages * kBytesOfQ, known = out + kStagesOfSecond * kBytesOfQ;
  const Memory at{k, k + kBytesOfK, q, out, known, known + kStages * kKnown};
  if (thread == 0u) {
    tern_barrier_init(at.full_k(), 1u), tern_barrier_init(at.empty_k(), 4u * kConsumers);
    for (Ring r; r.round == 0u; r.advance())
      tern_barrier_init(at.full(r), 2u), tern_barrier_init(at.empty(r), 4u * kConsumers);
    for (SecondRing r; r.round == 0u; r.advance())
      tern_barrier_init(at.full_out(r), 1u), tern_barrier_init(at.empty_out(r), 4u * kConsumers);
    tern_barriers_ready();
  }
  __syncthreads();
  const Attention call{params, b0, b1, b2, b3, b4, b5, b6, b7};
  if (thread < 128u) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (thread < 32u) call.fetch(map0, map1, map2, map3, at, thread);
    else if (thread >= 32u && thread < 64u) call.fetch_known(at, thread - 32u);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    let member = same(thread / 128u) - 1u;
    if constexpr (kOfBoth) call.attend(at, thread, member);
    else call.attend_to_one(at, thread, member);
  }
}

// ---- product on tensor cores: matmul_bias_activation, 4 workgroups of 256, 15 words
// product on tensor cores, tiles of 128x256x64
// The instance. (Enumerators, since constants at namespace scope become variables in the GPU's memory.)
enum : bool {
  kAAlongK = true, kBAlongK = false,  // neighbours in memory lie along k; else along m or n
  kAWide = true, kBWide = true,            // 16 bytes of them can be copied at once; else by elements
  kSegmented = false,
  kRagged = false,  // rows of results are stored by elements; else by 16 bytes and more
};
enum : u32 {
  kWarpsM = 2u, kWarpsN = 4u, kThreads = 32u * kWarpsM * kWarpsN,
  kWarpM = 64u, kWarpN = 64u,  // the part of a tile that a warp has
  kTileM = kWarpsM * kWarpM, kTileN = kWarpsN * kWarpN, kTileK = 64u,
  kStages = 3u,
  kBands = 8u,  // row tiles that are traversed together
  kBytesOfA = kTileM * kTileK * 2u, kStageBytes = kBytesOfA + kTileN * kTileK * 2u,
  kBlocksM = kWarpM / 16u, kBlocksN = kWarpN / 8u, kSumsOfRow = 4u * kBlocksN, kSums = kBlocksM * kSumsOfRow,
};
// ---- copies to workgroup memory that run on their own ----
// Until all but the last `most` that were committed are there.
// Where 16 bytes `part` of a row of `line` bytes, a multiple of 128, lie: swizzled so that the same part of eight rows,
// a matrix, lies in different banks.
// ---- tensor cores ----
// Four matrices of 8×8 from workgroup memory, of each of which eight lanes name the rows; transposed where they lie
// across k.
// acc += a·b of a block of 16 rows and 8 columns, and 16 elements.
// Bytes of 16 that are inside, of elements of 2 bytes, `left` of which follow.
TERN_DEVICE u32 tern_inside(bool inside, u32 at, u32 end) { return inside && at < end ? min(end - at, 8u) * 2u : 0u; }
// ---- from the layout of sums to rows ----
// Lane q of four holds columns 8 j + 2 q and 8 j + 2 q + 1 for j = 0..3, and gets columns 8 q to 8 q + 7 in their
// place. Two exchanges, with the neighbour and with the next but one.
struct Row8 {
  f32 x[8];
};
// Of four blocks, the upper or lower row (h) of a lane.
// ---- the formula ----
struct Epilogue {
  const Params& params;
  vec4<u32>* __restrict__ b0;
  const vec4<u32>* __restrict__ b1;
  const u32* __restrict__ b2;
  const u32* __restrict__ b3;
  // Loads the operands for eight columns of a row from col on, applies the formula to their sums, and, where `inside`,
  // stores the results; of ragged rows only the column of sum e.
  __device__ __forceinline__ void columns(const Row8& sums, [[maybe_unused]] u32 e, [[maybe_unused]] u32 row,
                                          [[maybe_unused]] u32 col, [[maybe_unused]] bool inside) const {
    let w0 = (params.v[9] + col) / 8u;
    let q1 = b1[w0 + 0u];
    let x2 = tern_bf16_bits_to_f32((q1.x & 0xffffu));
    let x3 = tern_bf16_bits_to_f32((q1.x >> 16u));
    let x4 = tern_bf16_bits_to_f32((q1.y & 0xffffu));
    let x5 = tern_bf16_bits_to_f32((q1.y >> 16u));
    let x6 = tern_bf16_bits_to_f32((q1.z & 0xffffu));
    let x7 = tern_bf16_bits_to_f32((q1.z >> 16u));
    let x8 = tern_bf16_bits_to_f32((q1.w & 0xffffu));
    let x9 = tern_bf16_bits_to_f32((q1.w >> 16u));
    let y10 = epilogue(params, sums.x[0], x2);
// … 6 more of these 1 lines (983c105c), and
    let y17 = epilogue(params, sums.x[7], x9);
    if (inside) {
      let w18 = (params.v[7] + row * params.v[8] + col) / 8u;
      b0[w18 + 0u] = vec4<u32>(tern_f32_pair_to_bf16(y10, y11), tern_f32_pair_to_bf16(y12, y13), tern_f32_pair_to_bf16(y14, y15), tern_f32_pair_to_bf16(y16, y17));
    }
  }
};
// ---- the ring ----
// A factor: its elements, the first of this tile's batch, and its steps along m or n, and along k.
struct Factor {
  const u16* elements;
  u32 base, step, step_k;
};
// What is fetched next, and where to.
struct Next {
  u32 k, segment, filled;
};
TERN_DEVICE u32 next_stage(u32 at, u32 ring) {
  return at == ring + (kStages - 1u) * kStageBytes ? ring : at + kStageBytes;
}
// Sends a step of a factor on its way: to `at`, from element k on of what begins at `from`. `first`: of this tile,
// along m or n, of which there are `size`.
template <bool wide, bool along_k, u32 across>
TERN_DEVICE void fetch(const Params& params, Factor f, u32 from, u32 first, u32 size, u32 k, u32 at, u32 thread) {
#pragma unroll
  for (u32 i = 0u; i < across * kTileK / 8u / kThreads; ++i) {
    constexpr u32 in_row = (along_k ? kTileK : across) / 8u;
    let unit = thread + i * kThreads;
    let row = unit / in_row, part = unit % in_row;
    let other = along_k ? first + row : first + part * 8u, at_k = along_k ? k + part * 8u : k + row;
    let to = at + tern_place(row, part, along_k ? 2u * kTileK : 2u * across);
    if constexpr (wide) {
      let bytes = along_k ? tern_inside(other < size, at_k, params.v[3]) : tern_inside(at_k < params.v[3], other, size);
      let source = bytes ? other * f.step + at_k * f.step_k : 0u;
      tern_copy(to, f.elements + (from + source), bytes);
    } else {
      u32 words[4];
#pragma unroll
      for (u32 e = 0u; e < 8u; ++e) {
        let it = along_k ? at_k + e : other + e;
        let inside = along_k ? other < size && it < params.v[3] : at_k < params.v[3] && it < size;
        let x = inside
            ? u32(f.elements[from + (along_k ? other : it) * f.step + (along_k ? it : at_k) * f.step_k]) : 0u;
        words[e / 2u] = e & 1u ? words[e / 2u] | x << 16u : x;
      }
      tern_put(to, words);
    }
  }
}
// Sends the next step on its way, where there is one, and counts on.
TERN_DEVICE void fetch_step(const Params& params, Factor a, Factor b, u32 first_m, u32 first_n, u32 thread, u32 ring,
                            Next& next) {
  if (kSegmented ? next.segment < params.v[14] : next.k < params.v[3]) {
    [[maybe_unused]] let segment = next.segment;
    let from_a = a.base;
    let from_b = b.base;
    fetch<kAWide, kAAlongK, kTileM>(params, a, from_a, first_m, params.v[1], next.k, next.filled, thread);
    fetch<kBWide, kBAlongK, kTileN>(params, b, from_b, first_n, params.v[2], next.k, next.filled + kBytesOfA, thread);
    next.k += kTileK;
    if (kSegmented && next.k >= params.v[3]) { next.k = 0u, ++next.segment; }
  }
  tern_commit();
  next.filled = next_stage(next.filled, ring);
}
// Reads the blocks of a factor for elements [16 kk, 16 kk + 16) of k from the stage at `at`: of four matrices a lane's
// is lane / 8; of a the second is further along m, of b further along k. `warp`: where its part begins along m or n.
template <bool is_a, u32 count> TERN_DEVICE void load(u32 (&blocks)[count][4], u32 at, u32 warp, u32 kk, u32 lane) {
  constexpr bool along_k = is_a ? kAAlongK : kBAlongK;
  constexpr u32 across = is_a ? kTileM : kTileN;
  let low = lane >> 3u & 1u, high = lane >> 4u;
  let further = is_a ? low : high, further_k = is_a ? high : low;
#pragma unroll
  for (u32 i = 0u; i < count; ++i)
    if constexpr (along_k)
      tern_matrices<true>(blocks[i], at + tern_place(warp + i * 16u + further * 8u + (lane & 7u), kk * 2u + further_k,
                                                     2u * kTileK));
    else
      tern_matrices<false>(blocks[i], at + tern_place(kk * 16u + further_k * 8u + (lane & 7u),
                                                      warp / 8u + i * 2u + further, 2u * across));
}
TERN_DEVICE void multiply_blocks(f32 (&acc)[kSums], const u32 (&a)[kBlocksM][4], const u32 (&b)[kBlocksN / 2u][4]) {
#pragma unroll
  for (u32 i = 0u; i < kBlocksM; ++i)
#pragma unroll
    for (u32 j = 0u; j < kBlocksN; ++j)
      multiply(acc + (i * kBlocksN + j) * 4u, a[i], b[j / 2u][j % 2u * 2u], b[j / 2u][j % 2u * 2u + 1u]);
}
// Blocks of 16 rows take turns in the first sums; of 32 columns each lane of four takes eight.
TERN_DEVICE void finish(const Params& params, const Epilogue& epilogue, f32 (&acc)[kSums], u32 first_m, u32 first_n,
                        u32 lane) {
#pragma unroll 1
  for (u32 block = 0u; block < kBlocksM; ++block) {
#pragma unroll
    for (u32 first = 0u; first < kBlocksN; first += 4u)
#pragma unroll
      for (u32 h = 0u; h < 2u; ++h) {
        let sums = tern_quad_row((const f32 (*)[4])(acc + 4u * first), h);
        let its_row = first_m + block * 16u + 8u * h + lane / 4u, its_col = first_n + 8u * first + (lane & 3u) * 8u;
        if constexpr (kRagged) {
#pragma unroll
          for (u32 e = 0u; e < 8u; ++e)
            if (its_row < params.v[1] && its_col + e < params.v[2]) epilogue.columns(sums, e, its_row, its_col + e, true);
        } else {
          // Operands are loaded at a place inside wherever this one is: no branch keeps loads from running ahead.
          let row = min(its_row, params.v[1] - 1u), col = min(its_col, params.v[2] - 8u);
          epilogue.columns(sums, 0u, row, col, its_row == row && its_col == col);
        }
      }
#pragma unroll
    for (u32 i = 0u; i < kSums - kSumsOfRow; ++i) { acc[i] = acc[i + kSumsOfRow]; }
  }
}
extern "C" __global__ void __launch_bounds__(kThreads) tern_kernel(vec4<u32>* __restrict__ b0, const vec4<u32>* __restrict__ b1, const u32* __restrict__ b2, const u32* __restrict__ b3, const __grid_constant__ Params params) {
  extern __shared__ __align__(128) unsigned char memory[];
  const u32 thread = threadIdx.x, group = blockIdx.x, ring = tern_shared(memory);
  let tiles = params.v[4] * params.v[5];
  [[maybe_unused]] let batch = group / tiles;
  let tile = group % tiles;
  let band = tile / (kBands * params.v[5]);
  let in_band = tile - band * kBands * params.v[5];
  let rows = min(kBands, params.v[4] - band * kBands);
  let first_m = (band * kBands + in_band % rows) * kTileM;
  let first_n = in_band / rows * kTileN;
  let lane = thread & 31u, warp_m = thread / 32u % kWarpsM * kWarpM, warp_n = thread / (32u * kWarpsM) * kWarpN;
  const Factor a{(const u16*)b2, params.v[10], params.v[11], 1u}, b{(const u16*)b3, params.v[12], 1u, params.v[13]};
  f32 acc[kSums] = {};
  u32 at = ring;
  Next next{0u, 0u, ring};
#pragma unroll 1
  for (u32 i = 0u; i < kStages - 1u; ++i) { fetch_step(params, a, b, first_m, first_n, thread, ring, next); }
  u32 of_a[2][kBlocksM][4], of_b[2][kBlocksN / 2u][4];  // alternately multiplied and read
  tern_wait_copies<kStages - 2u>();
  __syncthreads();
  load<true>(of_a[0], at, warp_m, 0u, lane), load<false>(of_b[0], at + kBytesOfA, warp_n, 0u, lane);
#pragma unroll 1
  for (u32 step = 0u; step < params.v[6]; ++step) {
#pragma unroll
    for (u32 kk = 0u; kk < kTileK / 16u; ++kk) {
      if (kk + 1u == kTileK / 16u) {
        at = next_stage(at, ring);
        tern_wait_copies<kStages - 2u>();
        __syncthreads();
      }
      let ahead = (kk + 1u) % (kTileK / 16u);
      load<true>(of_a[ahead % 2u], at, warp_m, ahead, lane);
      load<false>(of_b[ahead % 2u], at + kBytesOfA, warp_n, ahead, lane);
      multiply_blocks(acc, of_a[kk % 2u], of_b[kk % 2u]);
      if (kk == 0u) fetch_step(params, a, b, first_m, first_n, thread, ring, next);
    }
  }
  tern_wait_copies<0>();
  const Epilogue epilogue{params, b0, b1, b2, b3};
  finish(params, epilogue, acc, first_m + warp_m, first_n + warp_n, lane);
}

