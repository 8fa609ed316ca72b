// ---- contiguous, in vectors: relu, 1 workgroups of 256
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
  u32 v[5];
};
TERN_DEVICE f32 tern_max_f32(f32 a, f32 b) { return a > b || a != a ? a : b; }
TERN_DEVICE f32 formula(const Params& params, f32 v0) {
  let v1 = f32(0.0);
  let v2 = tern_max_f32(v0, v1);
  return v2;
}
extern "C" __global__ void __launch_bounds__(256) tern_kernel(vec4<u32>* __restrict__ b0, const vec4<u32>* __restrict__ b1, const __grid_constant__ Params params) {
  const u32 thread = threadIdx.x, group = blockIdx.x;
  let i = (group * 256u + thread) * 4u;
  if (i >= params.v[1]) { return; }
  let w0 = (params.v[4] + i) / 4u;
  let q1 = b1[w0 + 0u];
  let x2 = bitcast<f32>(q1.x);
  let x3 = bitcast<f32>(q1.y);
  let x4 = bitcast<f32>(q1.z);
  let x5 = bitcast<f32>(q1.w);
  let y0 = formula(params, x2);
  let y1 = formula(params, x3);
  let y2 = formula(params, x4);
  let y3 = formula(params, x5);
  if (i + 3u < params.v[1]) {
    let w6 = (params.v[3] + i) / 4u;
    b0[w6 + 0u] = vec4<u32>(bitcast<u32>(y0), bitcast<u32>(y1), bitcast<u32>(y2), bitcast<u32>(y3));
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

// ---- packed halves: mul, 1 workgroups of 256
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
TERN_DEVICE f32 formula(const Params& params, f32 v0, f32 v1) {
  let v2 = (v0 * v1);
  return v2;
}
extern "C" __global__ void __launch_bounds__(256) tern_kernel(vec4<u32>* __restrict__ b0, const vec4<u32>* __restrict__ b1, const vec4<u32>* __restrict__ b2, const __grid_constant__ Params params) {
  const u32 thread = threadIdx.x, group = blockIdx.x;
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
  let y1 = formula(params, x3, x13);
  let y2 = formula(params, x4, x14);
  let y3 = formula(params, x5, x15);
  let y4 = formula(params, x6, x16);
  let y5 = formula(params, x7, x17);
  let y6 = formula(params, x8, x18);
  let y7 = formula(params, x9, x19);
  if (i + 7u < params.v[1]) {
    let w20 = (params.v[3] + i) / 8u;
    b0[w20 + 0u] = vec4<u32>(tern_f32_pair_to_bf16(y0, y1), tern_f32_pair_to_bf16(y2, y3), tern_f32_pair_to_bf16(y4, y5), tern_f32_pair_to_bf16(y6, y7));
  } else {
    if (i + 0u < params.v[1]) { ((u16*)b0)[params.v[3] + i] = u16(tern_f32_to_bf16_bits(y0));
    }
    if (i + 1u < params.v[1]) { ((u16*)b0)[params.v[3] + (i + 1u)] = u16(tern_f32_to_bf16_bits(y1));
    }
    if (i + 2u < params.v[1]) { ((u16*)b0)[params.v[3] + (i + 2u)] = u16(tern_f32_to_bf16_bits(y2));
    }
    if (i + 3u < params.v[1]) { ((u16*)b0)[params.v[3] + (i + 3u)] = u16(tern_f32_to_bf16_bits(y3));
    }
    if (i + 4u < params.v[1]) { ((u16*)b0)[params.v[3] + (i + 4u)] = u16(tern_f32_to_bf16_bits(y4));
    }
    if (i + 5u < params.v[1]) { ((u16*)b0)[params.v[3] + (i + 5u)] = u16(tern_f32_to_bf16_bits(y5));
    }
    if (i + 6u < params.v[1]) { ((u16*)b0)[params.v[3] + (i + 6u)] = u16(tern_f32_to_bf16_bits(y6));
    }
    if (i + 7u < params.v[1]) { ((u16*)b0)[params.v[3] + (i + 7u)] = u16(tern_f32_to_bf16_bits(y7));
    }
  }
}

// ---- a broadcast row: add, 1 workgroups of 256
// elementwise
struct Params {
  u32 v[9];
};
TERN_DEVICE f32 formula(const Params& params, f32 v0, f32 v1) {
  let v2 = (v0 + v1);
  return v2;
}
extern "C" __global__ void __launch_bounds__(256) tern_kernel(u32* __restrict__ b0, const u32* __restrict__ b1, const u32* __restrict__ b2, const __grid_constant__ Params params) {
  const u32 thread = threadIdx.x, group = blockIdx.x;
  let i = (group * 256u + thread) * 1u;
  if (i >= params.v[1]) { return; }
  let cq1 = i / params.v[3];
  let c1 = i - cq1 * params.v[3];
  let c0 = cq1;
  let x0 = bitcast<f32>(((u32*)b1)[params.v[6] + c0 * params.v[7] + c1]);
  let x1 = bitcast<f32>(((u32*)b2)[params.v[8] + c1]);
  let y0 = formula(params, x0, x1);
  ((u32*)b0)[params.v[4] + c0 * params.v[5] + c1] = bitcast<u32>(y0);
}

// ---- several results: silu_mul_bwd, 1 workgroups of 256
// elementwise
struct Params {
  u32 v[8];
};
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
TERN_DEVICE f32 tern_sigmoid(f32 x) {
  const f32 within = tern_min_number(tern_max_number(x, -104.0f), 30.0f);
  u32 bits;
  const f32 q = tern_exp_parts(within, bits);
  const bool small = within < -80.0f;
  const f32 scale = bitcast<f32>((bits << 23) + (small ? 0x5f800000u : 0x3f800000u));
  const f32 z = fma(q, scale, scale), sum = 1.0f + z;
  f32 inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(sum));
  const f32 quotient = z * inverse, low = z - (sum - 1.0f);
  const f32 rest = fma(-quotient, low, fma(-quotient, sum, z));
  return fma(rest, inverse, quotient) * (small ? 0x1p-64f : 1.0f);
}
struct Result_formula {
  f32 r0;
  f32 r1;
};
TERN_DEVICE Result_formula formula(const Params& params, f32 v0, f32 v1, f32 v3) {
  let v2 = (v0 * v1);
  let v4 = tern_sigmoid(v3);
  let v5 = f32(-750.0);
  let v6 = tern_max_number(v3, v5);
  let v7 = f32(750.0);
  let v8 = tern_min_number(v6, v7);
  let v9 = (v8 * v4);
  let v10 = f32(1.0);
  let v11 = (v10 - v4);
  let v12 = (v9 * v11);
  let v13 = (v4 + v12);
  let v14 = (v2 * v13);
  let v15 = (v6 * v4);
  let v16 = (v0 * v15);
  return Result_formula{v14, v16};
}
extern "C" __global__ void __launch_bounds__(256) tern_kernel(vec4<u32>* __restrict__ b0, vec4<u32>* __restrict__ b1, const vec4<u32>* __restrict__ b2, const vec4<u32>* __restrict__ b3, const vec4<u32>* __restrict__ b4, const __grid_constant__ Params params) {
  const u32 thread = threadIdx.x, group = blockIdx.x;
  let i = (group * 256u + thread) * 4u;
  if (i >= params.v[1]) { return; }
  let w0 = (params.v[5] + i) / 4u;
  let q1 = b2[w0 + 0u];
  let x2 = bitcast<f32>(q1.x);
  let x3 = bitcast<f32>(q1.y);
  let x4 = bitcast<f32>(q1.z);
  let x5 = bitcast<f32>(q1.w);
  let w6 = (params.v[6] + i) / 4u;
  let q7 = b3[w6 + 0u];
  let x8 = bitcast<f32>(q7.x);
  let x9 = bitcast<f32>(q7.y);
  let x10 = bitcast<f32>(q7.z);
  let x11 = bitcast<f32>(q7.w);
  let w12 = (params.v[7] + i) / 4u;
  let q13 = b4[w12 + 0u];
  let x14 = bitcast<f32>(q13.x);
  let x15 = bitcast<f32>(q13.y);
  let x16 = bitcast<f32>(q13.z);
  let x17 = bitcast<f32>(q13.w);
  let y0 = formula(params, x2, x8, x14);
  let y1 = formula(params, x3, x9, x15);
  let y2 = formula(params, x4, x10, x16);
  let y3 = formula(params, x5, x11, x17);
  if (i + 3u < params.v[1]) {
    let w18 = (params.v[3] + i) / 4u;
    b0[w18 + 0u] = vec4<u32>(bitcast<u32>(y0.r0), bitcast<u32>(y1.r0), bitcast<u32>(y2.r0), bitcast<u32>(y3.r0));
  } else {
    if (i + 0u < params.v[1]) { ((u32*)b0)[params.v[3] + i] = bitcast<u32>(y0.r0);
    }
    if (i + 1u < params.v[1]) { ((u32*)b0)[params.v[3] + (i + 1u)] = bitcast<u32>(y1.r0);
    }
    if (i + 2u < params.v[1]) { ((u32*)b0)[params.v[3] + (i + 2u)] = bitcast<u32>(y2.r0);
    }
    if (i + 3u < params.v[1]) { ((u32*)b0)[params.v[3] + (i + 3u)] = bitcast<u32>(y3.r0);
    }
  }
  if (i + 3u < params.v[1]) {
    let w19 = (params.v[4] + i) / 4u;
    b1[w19 + 0u] = vec4<u32>(bitcast<u32>(y0.r1), bitcast<u32>(y1.r1), bitcast<u32>(y2.r1), bitcast<u32>(y3.r1));
  } else {
    if (i + 0u < params.v[1]) { ((u32*)b1)[params.v[4] + i] = bitcast<u32>(y0.r1);
    }
    if (i + 1u < params.v[1]) { ((u32*)b1)[params.v[4] + (i + 1u)] = bitcast<u32>(y1.r1);
    }
    if (i + 2u < params.v[1]) { ((u32*)b1)[params.v[4] + (i + 2u)] = bitcast<u32>(y2.r1);
    }
    if (i + 3u < params.v[1]) { ((u32*)b1)[params.v[4] + (i + 3u)] = bitcast<u32>(y3.r1);
    }
  }
}

// ---- a gated activation in halves: silu_mul, 1 workgroups of 256
// elementwise
struct Params {
  u32 v[6];
};
TERN_DEVICE f32 tern_max_number(f32 a, f32 b) {
#if __CUDA_ARCH__ >= 800
  asm("max.NaN.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
  return a;
#else
  return a < b ? b : a;
#endif
}
TERN_DEVICE f32 tern_sigmoid_quick(f32 x) {
  const f32 exponent = fma(x, -0.7213475204444817f, -12.0f);
  f32 root, inverse;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(exponent));
  const f32 sum = fma(root, root, 0x1p-24f);
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(sum));
  return inverse * 0x1p-24f;
}
TERN_DEVICE f32 tern_f16_bits_to_f32(u32 h) {
  f32 x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(u16(h)));
  return x;
}
TERN_DEVICE u32 tern_f32_pair_to_f16(f32 low, f32 high) {
  u32 word;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  return word;
}
TERN_DEVICE u32 tern_f32_to_f16_bits(f32 x) {
  u16 h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
  return h;
}
TERN_DEVICE f32 formula(const Params& params, f32 v0, f32 v5) {
  let v1 = f32(-750.0);
  let v2 = tern_max_number(v0, v1);
  let v3 = tern_sigmoid_quick(v0);
  let v4 = (v2 * v3);
  let v6 = (v4 * v5);
  return v6;
}
extern "C" __global__ void __launch_bounds__(256) tern_kernel(vec4<u32>* __restrict__ b0, const vec4<u32>* __restrict__ b1, const vec4<u32>* __restrict__ b2, const __grid_constant__ Params params) {
  const u32 thread = threadIdx.x, group = blockIdx.x;
  let i = (group * 256u + thread) * 8u;
  if (i >= params.v[1]) { return; }
  let w0 = (params.v[4] + i) / 8u;
  let q1 = b1[w0 + 0u];
  let x2 = tern_f16_bits_to_f32((q1.x & 0xffffu));
  let x3 = tern_f16_bits_to_f32((q1.x >> 16u));
  let x4 = tern_f16_bits_to_f32((q1.y & 0xffffu));
  let x5 = tern_f16_bits_to_f32((q1.y >> 16u));
  let x6 = tern_f16_bits_to_f32((q1.z & 0xffffu));
  let x7 = tern_f16_bits_to_f32((q1.z >> 16u));
  let x8 = tern_f16_bits_to_f32((q1.w & 0xffffu));
  let x9 = tern_f16_bits_to_f32((q1.w >> 16u));
  let w10 = (params.v[5] + i) / 8u;
  let q11 = b2[w10 + 0u];
  let x12 = tern_f16_bits_to_f32((q11.x & 0xffffu));
  let x13 = tern_f16_bits_to_f32((q11.x >> 16u));
  let x14 = tern_f16_bits_to_f32((q11.y & 0xffffu));
  let x15 = tern_f16_bits_to_f32((q11.y >> 16u));
  let x16 = tern_f16_bits_to_f32((q11.z & 0xffffu));
  let x17 = tern_f16_bits_to_f32((q11.z >> 16u));
  let x18 = tern_f16_bits_to_f32((q11.w & 0xffffu));
  let x19 = tern_f16_bits_to_f32((q11.w >> 16u));
  let y0 = formula(params, x2, x12);
  let y1 = formula(params, x3, x13);
  let y2 = formula(params, x4, x14);
  let y3 = formula(params, x5, x15);
  let y4 = formula(params, x6, x16);
  let y5 = formula(params, x7, x17);
  let y6 = formula(params, x8, x18);
  let y7 = formula(params, x9, x19);
  if (i + 7u < params.v[1]) {
    let w20 = (params.v[3] + i) / 8u;
    b0[w20 + 0u] = vec4<u32>(tern_f32_pair_to_f16(y0, y1), tern_f32_pair_to_f16(y2, y3), tern_f32_pair_to_f16(y4, y5), tern_f32_pair_to_f16(y6, y7));
  } else {
    if (i + 0u < params.v[1]) { ((u16*)b0)[params.v[3] + i] = u16(tern_f32_to_f16_bits(y0));
    }
    if (i + 1u < params.v[1]) { ((u16*)b0)[params.v[3] + (i + 1u)] = u16(tern_f32_to_f16_bits(y1));
    }
    if (i + 2u < params.v[1]) { ((u16*)b0)[params.v[3] + (i + 2u)] = u16(tern_f32_to_f16_bits(y2));
    }
    if (i + 3u < params.v[1]) { ((u16*)b0)[params.v[3] + (i + 3u)] = u16(tern_f32_to_f16_bits(y3));
    }
    if (i + 4u < params.v[1]) { ((u16*)b0)[params.v[3] + (i + 4u)] = u16(tern_f32_to_f16_bits(y4));
    }
    if (i + 5u < params.v[1]) { ((u16*)b0)[params.v[3] + (i + 5u)] = u16(tern_f32_to_f16_bits(y5));
    }
    if (i + 6u < params.v[1]) { ((u16*)b0)[params.v[3] + (i + 6u)] = u16(tern_f32_to_f16_bits(y6));
    }
    if (i + 7u < params.v[1]) { ((u16*)b0)[params.v[3] + (i + 7u)] = u16(tern_f32_to_f16_bits(y7));
    }
  }
}

// ---- rows: softmax, 300 workgroups of 32
// reduction
struct Params {
  u32 v[12];
};
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
extern "C" __global__ void __launch_bounds__(32) tern_kernel(vec4<u32>* __restrict__ b0, const vec4<u32>* __restrict__ b1, const __grid_constant__ Params params) {
  const u32 thread = threadIdx.x, group = blockIdx.x;
  let row_group = group;
  let segment = 0u;
  let tx = thread / 32u;
  let ty = thread - tx * 32u;
  let k = row_group * 1u + tx;
  let inside = k < params.v[1];
  let begin = segment * params.v[5];
  let end = min(params.v[3], begin + params.v[5]);
  f32 kept4[4];
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
  var acc1 = tern_from_bits(0xff800000u);
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
        acc1 = tern_max_f32(acc1, y6);
        acc1 = tern_max_f32(acc1, y7);
        acc1 = tern_max_f32(acc1, y8);
        acc1 = tern_max_f32(acc1, y9);
      }
    }
  }
  var warp_red1 = acc1;
  let warp_red1_16 = __shfl_xor_sync(0xffffffffu, warp_red1, 16);
  warp_red1 = tern_max_f32(warp_red1, warp_red1_16);
  let warp_red1_8 = __shfl_xor_sync(0xffffffffu, warp_red1, 8);
  warp_red1 = tern_max_f32(warp_red1, warp_red1_8);
  let warp_red1_4 = __shfl_xor_sync(0xffffffffu, warp_red1, 4);
  warp_red1 = tern_max_f32(warp_red1, warp_red1_4);
  let warp_red1_2 = __shfl_xor_sync(0xffffffffu, warp_red1, 2);
  warp_red1 = tern_max_f32(warp_red1, warp_red1_2);
  let warp_red1_1 = __shfl_xor_sync(0xffffffffu, warp_red1, 1);
  warp_red1 = tern_max_f32(warp_red1, warp_red1_1);
  let red1 = __shfl_sync(0xffffffffu, warp_red1, (thread & 0u));
  var acc6 = f32(0.0);
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
  let warp_red6_16 = __shfl_xor_sync(0xffffffffu, warp_red6, 16);
  warp_red6 = (warp_red6 + warp_red6_16);
  let warp_red6_8 = __shfl_xor_sync(0xffffffffu, warp_red6, 8);
  warp_red6 = (warp_red6 + warp_red6_8);
  let warp_red6_4 = __shfl_xor_sync(0xffffffffu, warp_red6, 4);
  warp_red6 = (warp_red6 + warp_red6_4);
  let warp_red6_2 = __shfl_xor_sync(0xffffffffu, warp_red6, 2);
  warp_red6 = (warp_red6 + warp_red6_2);
  let warp_red6_1 = __shfl_xor_sync(0xffffffffu, warp_red6, 1);
  warp_red6 = (warp_red6 + warp_red6_1);
  let red6 = __shfl_sync(0xffffffffu, warp_red6, (thread & 0u));
  if (inside) {
    #pragma unroll
    for (u32 u = 0u; u < 1u; ++u) {
      let r = (ty + u * 32u) * 4u;
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

// ---- the gradient of rows: softmax, 300 workgroups of 32
// reduction
struct Params {
  u32 v[14];
};
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
TERN_DEVICE f32 pass0(const Params& params, f32 v2) {
  return v2;
}
struct Result_pass1 {
  f32 r0;
  f32 r1;
  f32 r2;
};
TERN_DEVICE Result_pass1 pass1(const Params& params, f32 v0, f32 v2, f32 v3) {
  let v4 = v3;
  let v5 = (v2 - v4);
  let v6 = tern_exp(v5);
  let v10 = (v0 * v6);
  return Result_pass1{v6, v10, v6};
}
TERN_DEVICE f32 pass2(const Params& params, f32 v0, f32 v6, f32 v7, f32 v11) {
  let v1 = f32(1.0);
  let v8 = tern_div(v1, v7);
  let v9 = (v0 * v8);
  let v12 = tern_div(v11, v7);
  let v13 = (v12 * v8);
  let v14 = (v9 - v13);
  let v15 = (v14 * v6);
  return v15;
}
extern "C" __global__ void __launch_bounds__(32) tern_kernel(vec4<u32>* __restrict__ b0, const vec4<u32>* __restrict__ b1, const vec4<u32>* __restrict__ b2, const __grid_constant__ Params params) {
  const u32 thread = threadIdx.x, group = blockIdx.x;
  let row_group = group;
  let segment = 0u;
  let tx = thread / 32u;
  let ty = thread - tx * 32u;
  let k = row_group * 1u + tx;
  let inside = k < params.v[1];
  let begin = segment * params.v[5];
  let end = min(params.v[3], begin + params.v[5]);
  f32 kept6[4];
  vec4<u32> held1[1];
  vec4<u32> held2[1];
  if (inside) {
    #pragma unroll
    for (u32 u = 0u; u < 1u; ++u) {
      let r = (ty + u * 32u) * 4u;
      if (r < end) {
        let w0 = (params.v[10] + k * params.v[11] + r) / 4u;
        held1[u * 1u + 0u] = b1[w0 + 0u];
        let w1 = (params.v[12] + k * params.v[13] + r) / 4u;
        held2[u * 1u + 0u] = b2[w1 + 0u];
      }
    }
  }
  var acc3 = tern_from_bits(0xff800000u);
  if (inside) {
    #pragma unroll
    for (u32 u = 0u; u < 1u; ++u) {
      let r = (ty + u * 32u) * 4u;
      if (r < end) {
        let q2 = held2[u * 1u + 0u];
        let x3 = bitcast<f32>(q2.x);
        let x4 = bitcast<f32>(q2.y);
        let x5 = bitcast<f32>(q2.z);
        let x6 = bitcast<f32>(q2.w);
        let y7 = pass0(params, x3);
        let y8 = pass0(params, x4);
        let y9 = pass0(params, x5);
        let y10 = pass0(params, x6);
        acc3 = tern_max_f32(acc3, y7);
        acc3 = tern_max_f32(acc3, y8);
        acc3 = tern_max_f32(acc3, y9);
        acc3 = tern_max_f32(acc3, y10);
      }
    }
  }
  var warp_red3 = acc3;
  let warp_red3_16 = __shfl_xor_sync(0xffffffffu, warp_red3, 16);
  warp_red3 = tern_max_f32(warp_red3, warp_red3_16);
  let warp_red3_8 = __shfl_xor_sync(0xffffffffu, warp_red3, 8);
  warp_red3 = tern_max_f32(warp_red3, warp_red3_8);
  let warp_red3_4 = __shfl_xor_sync(0xffffffffu, warp_red3, 4);
  warp_red3 = tern_max_f32(warp_red3, warp_red3_4);
  let warp_red3_2 = __shfl_xor_sync(0xffffffffu, warp_red3, 2);
  warp_red3 = tern_max_f32(warp_red3, warp_red3_2);
  let warp_red3_1 = __shfl_xor_sync(0xffffffffu, warp_red3, 1);
  warp_red3 = tern_max_f32(warp_red3, warp_red3_1);
  let red3 = __shfl_sync(0xffffffffu, warp_red3, (thread & 0u));
  var acc7 = f32(0.0);
  var acc11 = f32(0.0);
  if (inside) {
    #pragma unroll
    for (u32 u = 0u; u < 1u; ++u) {
      let r = (ty + u * 32u) * 4u;
      if (r < end) {
        let q11 = held1[u * 1u + 0u];
        let x12 = bitcast<f32>(q11.x);
        let x13 = bitcast<f32>(q11.y);
        let x14 = bitcast<f32>(q11.z);
        let x15 = bitcast<f32>(q11.w);
        let q16 = held2[u * 1u + 0u];
        let x17 = bitcast<f32>(q16.x);
        let x18 = bitcast<f32>(q16.y);
        let x19 = bitcast<f32>(q16.z);
        let x20 = bitcast<f32>(q16.w);
        let y21 = pass1(params, x12, x17, red3);
        let y22 = pass1(params, x13, x18, red3);
        let y23 = pass1(params, x14, x19, red3);
        let y24 = pass1(params, x15, x20, red3);
        acc7 = (acc7 + y21.r0);
        acc7 = (acc7 + y22.r0);
        acc7 = (acc7 + y23.r0);
        acc7 = (acc7 + y24.r0);
        acc11 = (acc11 + y21.r1);
        acc11 = (acc11 + y22.r1);
        acc11 = (acc11 + y23.r1);
        acc11 = (acc11 + y24.r1);
        kept6[u * 4u + 0u] = y21.r2;
        kept6[u * 4u + 1u] = y22.r2;
        kept6[u * 4u + 2u] = y23.r2;
        kept6[u * 4u + 3u] = y24.r2;
      }
    }
  }
  var warp_red7 = acc7;
  let warp_red7_16 = __shfl_xor_sync(0xffffffffu, warp_red7, 16);
  warp_red7 = (warp_red7 + warp_red7_16);
  let warp_red7_8 = __shfl_xor_sync(0xffffffffu, warp_red7, 8);
  warp_red7 = (warp_red7 + warp_red7_8);
  let warp_red7_4 = __shfl_xor_sync(0xffffffffu, warp_red7, 4);
  warp_red7 = (warp_red7 + warp_red7_4);
  let warp_red7_2 = __shfl_xor_sync(0xffffffffu, warp_red7, 2);
  warp_red7 = (warp_red7 + warp_red7_2);
  let warp_red7_1 = __shfl_xor_sync(0xffffffffu, warp_red7, 1);
  warp_red7 = (warp_red7 + warp_red7_1);
  var warp_red11 = acc11;
  let warp_red11_16 = __shfl_xor_sync(0xffffffffu, warp_red11, 16);
  warp_red11 = (warp_red11 + warp_red11_16);
  let warp_red11_8 = __shfl_xor_sync(0xffffffffu, warp_red11, 8);
  warp_red11 = (warp_red11 + warp_red11_8);
  let warp_red11_4 = __shfl_xor_sync(0xffffffffu, warp_red11, 4);
  warp_red11 = (warp_red11 + warp_red11_4);
  let warp_red11_2 = __shfl_xor_sync(0xffffffffu, warp_red11, 2);
  warp_red11 = (warp_red11 + warp_red11_2);
  let warp_red11_1 = __shfl_xor_sync(0xffffffffu, warp_red11, 1);
  warp_red11 = (warp_red11 + warp_red11_1);
  let red7 = __shfl_sync(0xffffffffu, warp_red7, (thread & 0u));
  let red11 = __shfl_sync(0xffffffffu, warp_red11, (thread & 0u));
  if (inside) {
    #pragma unroll
    for (u32 u = 0u; u < 1u; ++u) {
      let r = (ty + u * 32u) * 4u;
      if (r < end) {
        let q25 = held1[u * 1u + 0u];
        let x26 = bitcast<f32>(q25.x);
        let x27 = bitcast<f32>(q25.y);
        let x28 = bitcast<f32>(q25.z);
        let x29 = bitcast<f32>(q25.w);
        let y30 = pass2(params, x26, kept6[u * 4u + 0u], red7, red11);
        let y31 = pass2(params, x27, kept6[u * 4u + 1u], red7, red11);
        let y32 = pass2(params, x28, kept6[u * 4u + 2u], red7, red11);
        let y33 = pass2(params, x29, kept6[u * 4u + 3u], red7, red11);
        let w34 = (params.v[8] + k * params.v[9] + r) / 4u;
        b0[w34 + 0u] = vec4<u32>(bitcast<u32>(y30), bitcast<u32>(y31), bitcast<u32>(y32), bitcast<u32>(y33));
      }
    }
  }
}

// ---- rows with a mean and a variance: layer_norm, 300 workgroups of 32
// reduction
struct Params {
  u32 v[16];
};
TERN_DEVICE f32 tern_div(f32 a, f32 b) { return a / b; }
TERN_DEVICE vec2<f32> tern_split_number(f32 x) {
  let bits = bitcast<u32>(x) & 0x7fffffffu;
  let subnormal = bits < 0x00800000u;
  let normal = select(bits, bitcast<u32>(f32(bits)), subnormal);
  let exponent = i32(normal >> 23u) - select(127, 276, subnormal);
  return vec2<f32>(bitcast<f32>((normal & 0x007fffffu) | 0x3f800000u), f32(exponent));
}

TERN_DEVICE f32 tern_keep(f32 x) { return x; }
TERN_DEVICE f32 tern_residual(f32 c, f32 a, f32 b) { return fma(-a, b, c); }
TERN_DEVICE vec2<f32> tern_two_product(f32 a, f32 b) {
  let product = tern_keep(a * b);
  return vec2<f32>(product, tern_keep(-tern_residual(product, a, b)));
}

TERN_DEVICE f32 tern_rsqrt(f32 x) {
  let bits = bitcast<u32>(x);
  let magnitude = bits & 0x7fffffffu;
  let parts = tern_split_number(x);
  let exponent = i32(parts.y);
  let m = select(parts.x, 2.0f * parts.x, (exponent & 1) == 1);
  let inverse = tern_keep(inverseSqrt(m));
  let root = tern_two_product(m, inverse);
  let error = fma(-root.y, inverse, tern_residual(1.0f, root.x, inverse));
  let corrected = fma(error, 0.5f * inverse, inverse);
  var result = bitcast<u32>(corrected) - (bitcast<u32>(exponent >> 1u) << 23u);
  result = select(result, 0u, bits == 0x7f800000u);
  result = select(result, 0x7fc00000u, bits > 0x80000000u || magnitude > 0x7f800000u);
  return bitcast<f32>(select(result, bits | 0x7f800000u, magnitude == 0u));
}

TERN_DEVICE f32 pass0(const Params& params, f32 v0) {
  return v0;
}
TERN_DEVICE f32 pass1(const Params& params, f32 v0, f32 v1) {
  let v2 = f32(params.v[14]);
  let v3 = tern_div(v1, v2);
  let v4 = (v0 - v3);
  let v5 = (v4 * v4);
  return v5;
}
TERN_DEVICE f32 pass2(const Params& params, f32 v0, f32 v1, f32 v6, f32 v12, f32 v14) {
  let v2 = f32(params.v[14]);
  let v3 = tern_div(v1, v2);
  let v4 = (v0 - v3);
  let v7 = tern_div(v6, v2);
  let v8 = bitcast<f32>(params.v[15]);
  let v9 = (v7 + v8);
  let v10 = tern_rsqrt(v9);
  let v11 = (v4 * v10);
  let v13 = (v11 * v12);
  let v15 = (v13 + v14);
  return v15;
}
extern "C" __global__ void __launch_bounds__(32) tern_kernel(vec4<u32>* __restrict__ b0, const vec4<u32>* __restrict__ b1, const vec4<u32>* __restrict__ b2, const vec4<u32>* __restrict__ b3, const __grid_constant__ Params params) {
  const u32 thread = threadIdx.x, group = blockIdx.x;
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
  var acc1 = f32(0.0);
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
        acc1 = (acc1 + y6);
        acc1 = (acc1 + y7);
        acc1 = (acc1 + y8);
        acc1 = (acc1 + y9);
      }
    }
  }
  var warp_red1 = acc1;
  let warp_red1_16 = __shfl_xor_sync(0xffffffffu, warp_red1, 16);
  warp_red1 = (warp_red1 + warp_red1_16);
  let warp_red1_8 = __shfl_xor_sync(0xffffffffu, warp_red1, 8);
  warp_red1 = (warp_red1 + warp_red1_8);
  let warp_red1_4 = __shfl_xor_sync(0xffffffffu, warp_red1, 4);
  warp_red1 = (warp_red1 + warp_red1_4);
  let warp_red1_2 = __shfl_xor_sync(0xffffffffu, warp_red1, 2);
  warp_red1 = (warp_red1 + warp_red1_2);
  let warp_red1_1 = __shfl_xor_sync(0xffffffffu, warp_red1, 1);
  warp_red1 = (warp_red1 + warp_red1_1);
  let red1 = __shfl_sync(0xffffffffu, warp_red1, (thread & 0u));
  var acc6 = f32(0.0);
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
        let y15 = pass1(params, x11, red1);
        let y16 = pass1(params, x12, red1);
        let y17 = pass1(params, x13, red1);
        let y18 = pass1(params, x14, red1);
        acc6 = (acc6 + y15);
        acc6 = (acc6 + y16);
        acc6 = (acc6 + y17);
        acc6 = (acc6 + y18);
      }
    }
  }
  var warp_red6 = acc6;
  let warp_red6_16 = __shfl_xor_sync(0xffffffffu, warp_red6, 16);
  warp_red6 = (warp_red6 + warp_red6_16);
  let warp_red6_8 = __shfl_xor_sync(0xffffffffu, warp_red6, 8);
  warp_red6 = (warp_red6 + warp_red6_8);
  let warp_red6_4 = __shfl_xor_sync(0xffffffffu, warp_red6, 4);
  warp_red6 = (warp_red6 + warp_red6_4);
  let warp_red6_2 = __shfl_xor_sync(0xffffffffu, warp_red6, 2);
  warp_red6 = (warp_red6 + warp_red6_2);
  let warp_red6_1 = __shfl_xor_sync(0xffffffffu, warp_red6, 1);
  warp_red6 = (warp_red6 + warp_red6_1);
  let red6 = __shfl_sync(0xffffffffu, warp_red6, (thread & 0u));
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
        let w24 = (params.v[12] + r) / 4u;
        let q25 = b2[w24 + 0u];
        let x26 = bitcast<f32>(q25.x);
        let x27 = bitcast<f32>(q25.y);
        let x28 = bitcast<f32>(q25.z);
        let x29 = bitcast<f32>(q25.w);
        let w30 = (params.v[13] + r) / 4u;
        let q31 = b3[w30 + 0u];
        let x32 = bitcast<f32>(q31.x);
        let x33 = bitcast<f32>(q31.y);
        let x34 = bitcast<f32>(q31.z);
        let x35 = bitcast<f32>(q31.w);
        let y36 = pass2(params, x20, red1, red6, x26, x32);
        let y37 = pass2(params, x21, red1, red6, x27, x33);
        let y38 = pass2(params, x22, red1, red6, x28, x34);
        let y39 = pass2(params, x23, red1, red6, x29, x35);
        let w40 = (params.v[8] + k * params.v[9] + r) / 4u;
        b0[w40 + 0u] = vec4<u32>(bitcast<u32>(y36), bitcast<u32>(y37), bitcast<u32>(y38), bitcast<u32>(y39));
      }
    }
  }
}

// ---- rows whose values serve in several walks: formula, 300 workgroups of 32
// reduction
struct Params {
  u32 v[13];
};
TERN_DEVICE f32 tern_max_number(f32 a, f32 b) {
#if __CUDA_ARCH__ >= 800
  asm("max.NaN.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
  return a;
#else
  return a < b ? b : a;
#endif
}
TERN_DEVICE f32 tern_min_number(f32 a, f32 b) {
#if __CUDA_ARCH__ >= 800
  asm("min.NaN.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
  return a;
#else
  return a > b ? b : a;
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
TERN_DEVICE f32 tern_sigmoid(f32 x) {
  const f32 within = tern_min_number(tern_max_number(x, -104.0f), 30.0f);
  u32 bits;
  const f32 q = tern_exp_parts(within, bits);
  const bool small = within < -80.0f;
  const f32 scale = bitcast<f32>((bits << 23) + (small ? 0x5f800000u : 0x3f800000u));
  const f32 z = fma(q, scale, scale), sum = 1.0f + z;
  f32 inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(sum));
  const f32 quotient = z * inverse, low = z - (sum - 1.0f);
  const f32 rest = fma(-quotient, low, fma(-quotient, sum, z));
  return fma(rest, inverse, quotient) * (small ? 0x1p-64f : 1.0f);
}
TERN_DEVICE f32 tern_div(f32 a, f32 b) { return a / b; }
TERN_DEVICE f32 tern_sqrt(f32 x) { return sqrtf(x); }
struct Result_pass0 {
  f32 r0;
  f32 r1;
};
TERN_DEVICE Result_pass0 pass0(const Params& params, f32 v0) {
  let v1 = f32(-750.0);
  let v2 = tern_max_number(v0, v1);
  let v3 = f32(750.0);
  let v4 = tern_min_number(v2, v3);
  let v5 = f32(1.59576917);
  let v6 = f32(0.0713548139);
  let v7 = (v4 * v4);
  let v8 = (v6 * v7);
  let v9 = (v5 + v8);
  let v10 = (v4 * v9);
  let v11 = tern_sigmoid(v10);
  let v12 = (v2 * v11);
  return Result_pass0{v12, v12};
}
TERN_DEVICE f32 pass1(const Params& params, f32 v12, f32 v13) {
  let v14 = f32(params.v[12]);
  let v15 = tern_div(v13, v14);
  let v16 = (v12 - v15);
  let v17 = (v16 * v16);
  return v17;
}
TERN_DEVICE f32 pass2(const Params& params, f32 v12, f32 v13, f32 v18) {
  let v14 = f32(params.v[12]);
  let v15 = tern_div(v13, v14);
  let v16 = (v12 - v15);
  let v19 = tern_div(v18, v14);
  let v20 = f32(1.0);
  let v21 = (v19 + v20);
  let v22 = tern_sqrt(v21);
  let v23 = tern_div(v16, v22);
  let v24 = (v23 + v12);
  return v24;
}
extern "C" __global__ void __launch_bounds__(32) tern_kernel(vec4<u32>* __restrict__ b0, const vec4<u32>* __restrict__ b1, const __grid_constant__ Params params) {
  const u32 thread = threadIdx.x, group = blockIdx.x;
  let row_group = group;
  let segment = 0u;
  let tx = thread / 32u;
  let ty = thread - tx * 32u;
  let k = row_group * 1u + tx;
  let inside = k < params.v[1];
  let begin = segment * params.v[5];
  let end = min(params.v[3], begin + params.v[5]);
  f32 kept12[4];
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
  var acc13 = f32(0.0);
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
        acc13 = (acc13 + y6.r0);
        acc13 = (acc13 + y7.r0);
        acc13 = (acc13 + y8.r0);
        acc13 = (acc13 + y9.r0);
        kept12[u * 4u + 0u] = y6.r1;
        kept12[u * 4u + 1u] = y7.r1;
        kept12[u * 4u + 2u] = y8.r1;
        kept12[u * 4u + 3u] = y9.r1;
      }
    }
  }
  var warp_red13 = acc13;
  let warp_red13_16 = __shfl_xor_sync(0xffffffffu, warp_red13, 16);
  warp_red13 = (warp_red13 + warp_red13_16);
  let warp_red13_8 = __shfl_xor_sync(0xffffffffu, warp_red13, 8);
  warp_red13 = (warp_red13 + warp_red13_8);
  let warp_red13_4 = __shfl_xor_sync(0xffffffffu, warp_red13, 4);
  warp_red13 = (warp_red13 + warp_red13_4);
  let warp_red13_2 = __shfl_xor_sync(0xffffffffu, warp_red13, 2);
  warp_red13 = (warp_red13 + warp_red13_2);
  let warp_red13_1 = __shfl_xor_sync(0xffffffffu, warp_red13, 1);
  warp_red13 = (warp_red13 + warp_red13_1);
  let red13 = __shfl_sync(0xffffffffu, warp_red13, (thread & 0u));
  var acc18 = f32(0.0);
  if (inside) {
    #pragma unroll
    for (u32 u = 0u; u < 1u; ++u) {
      let r = (ty + u * 32u) * 4u;
      if (r < end) {
        let y10 = pass1(params, kept12[u * 4u + 0u], red13);
        let y11 = pass1(params, kept12[u * 4u + 1u], red13);
        let y12 = pass1(params, kept12[u * 4u + 2u], red13);
        let y13 = pass1(params, kept12[u * 4u + 3u], red13);
        acc18 = (acc18 + y10);
        acc18 = (acc18 + y11);
        acc18 = (acc18 + y12);
        acc18 = (acc18 + y13);
      }
    }
  }
  var warp_red18 = acc18;
  let warp_red18_16 = __shfl_xor_sync(0xffffffffu, warp_red18, 16);
  warp_red18 = (warp_red18 + warp_red18_16);
  let warp_red18_8 = __shfl_xor_sync(0xffffffffu, warp_red18, 8);
  warp_red18 = (warp_red18 + warp_red18_8);
  let warp_red18_4 = __shfl_xor_sync(0xffffffffu, warp_red18, 4);
  warp_red18 = (warp_red18 + warp_red18_4);
  let warp_red18_2 = __shfl_xor_sync(0xffffffffu, warp_red18, 2);
  warp_red18 = (warp_red18 + warp_red18_2);
  let warp_red18_1 = __shfl_xor_sync(0xffffffffu, warp_red18, 1);
  warp_red18 = (warp_red18 + warp_red18_1);
  let red18 = __shfl_sync(0xffffffffu, warp_red18, (thread & 0u));
  if (inside) {
    #pragma unroll
    for (u32 u = 0u; u < 1u; ++u) {
      let r = (ty + u * 32u) * 4u;
      if (r < end) {
        let y14 = pass2(params, kept12[u * 4u + 0u], red13, red18);
        let y15 = pass2(params, kept12[u * 4u + 1u], red13, red18);
        let y16 = pass2(params, kept12[u * 4u + 2u], red13, red18);
        let y17 = pass2(params, kept12[u * 4u + 3u], red13, red18);
        let w18 = (params.v[8] + k * params.v[9] + r) / 4u;
        b0[w18 + 0u] = vec4<u32>(bitcast<u32>(y14), bitcast<u32>(y15), bitcast<u32>(y16), bitcast<u32>(y17));
      }
    }
  }
}

// ---- columns: sum, 19 workgroups of 256
// reduction
struct Params {
  u32 v[11];
};
TERN_DEVICE f32 pass0(const Params& params, f32 v0) {
  return v0;
}
TERN_DEVICE f32 finish(const Params& params, f32 v1) {
  return v1;
}
extern "C" __global__ void __launch_bounds__(256) tern_kernel(vec4<u32>* __restrict__ b0, const vec4<u32>* __restrict__ b1, const __grid_constant__ Params params) {
  const u32 thread = threadIdx.x, group = blockIdx.x;
  __shared__ u32 shared_words[1024];
  let row_group = group;
  let segment = 0u;
  let ty = thread / 4u;
  let tx = thread - ty * 4u;
  let k = (row_group * 4u + tx) * 4u;
  let inside = k < params.v[1];
  let begin = segment * params.v[5];
  let end = min(params.v[3], begin + params.v[5]);
  var acc1_0 = f32(0.0);
  var acc1_1 = f32(0.0);
  var acc1_2 = f32(0.0);
  var acc1_3 = f32(0.0);
  if (inside) {
    for (var r = begin + ty * 1u; r < end; r += 64u) {
      let w0 = (params.v[9] + k + r * params.v[10]) / 4u;
      let q1 = b1[w0 + 0u];
      let x2 = bitcast<f32>(q1.x);
      let x3 = bitcast<f32>(q1.y);
      let x4 = bitcast<f32>(q1.z);
      let x5 = bitcast<f32>(q1.w);
      let y6 = pass0(params, x2);
      let y7 = pass0(params, x3);
      let y8 = pass0(params, x4);
      let y9 = pass0(params, x5);
      acc1_0 = (acc1_0 + y6);
      acc1_1 = (acc1_1 + y7);
      acc1_2 = (acc1_2 + y8);
      acc1_3 = (acc1_3 + y9);
    }
  }
  var warp_red1_0 = acc1_0;
  let warp_red1_0_4 = __shfl_xor_sync(0xffffffffu, warp_red1_0, 16);
  warp_red1_0 = (warp_red1_0 + warp_red1_0_4);
  let warp_red1_0_2 = __shfl_xor_sync(0xffffffffu, warp_red1_0, 8);
  warp_red1_0 = (warp_red1_0 + warp_red1_0_2);
  let warp_red1_0_1 = __shfl_xor_sync(0xffffffffu, warp_red1_0, 4);
  warp_red1_0 = (warp_red1_0 + warp_red1_0_1);
  var warp_red1_1 = acc1_1;
  let warp_red1_1_4 = __shfl_xor_sync(0xffffffffu, warp_red1_1, 16);
  warp_red1_1 = (warp_red1_1 + warp_red1_1_4);
  let warp_red1_1_2 = __shfl_xor_sync(0xffffffffu, warp_red1_1, 8);
  warp_red1_1 = (warp_red1_1 + warp_red1_1_2);
  let warp_red1_1_1 = __shfl_xor_sync(0xffffffffu, warp_red1_1, 4);
  warp_red1_1 = (warp_red1_1 + warp_red1_1_1);
  var warp_red1_2 = acc1_2;
  let warp_red1_2_4 = __shfl_xor_sync(0xffffffffu, warp_red1_2, 16);
  warp_red1_2 = (warp_red1_2 + warp_red1_2_4);
  let warp_red1_2_2 = __shfl_xor_sync(0xffffffffu, warp_red1_2, 8);
  warp_red1_2 = (warp_red1_2 + warp_red1_2_2);
  let warp_red1_2_1 = __shfl_xor_sync(0xffffffffu, warp_red1_2, 4);
  warp_red1_2 = (warp_red1_2 + warp_red1_2_1);
  var warp_red1_3 = acc1_3;
  let warp_red1_3_4 = __shfl_xor_sync(0xffffffffu, warp_red1_3, 16);
  warp_red1_3 = (warp_red1_3 + warp_red1_3_4);
  let warp_red1_3_2 = __shfl_xor_sync(0xffffffffu, warp_red1_3, 8);
  warp_red1_3 = (warp_red1_3 + warp_red1_3_2);
  let warp_red1_3_1 = __shfl_xor_sync(0xffffffffu, warp_red1_3, 4);
  warp_red1_3 = (warp_red1_3 + warp_red1_3_1);
  if (ty % 8u == 0u) {
    shared_words[(ty / 8u) * 4u + tx] = bitcast<u32>(warp_red1_0);
    shared_words[(ty / 8u) * 4u + tx + 256u] = bitcast<u32>(warp_red1_1);
    shared_words[(ty / 8u) * 4u + tx + 512u] = bitcast<u32>(warp_red1_2);
    shared_words[(ty / 8u) * 4u + tx + 768u] = bitcast<u32>(warp_red1_3);
  }
  __syncthreads();
  var red1_0 = bitcast<f32>(shared_words[tx + 0u]);
  let of_red1_0_1 = bitcast<f32>(shared_words[tx + 4u]);
  red1_0 = (red1_0 + of_red1_0_1);
  let of_red1_0_2 = bitcast<f32>(shared_words[tx + 8u]);
  red1_0 = (red1_0 + of_red1_0_2);
  let of_red1_0_3 = bitcast<f32>(shared_words[tx + 12u]);
  red1_0 = (red1_0 + of_red1_0_3);
  let of_red1_0_4 = bitcast<f32>(shared_words[tx + 16u]);
  red1_0 = (red1_0 + of_red1_0_4);
  let of_red1_0_5 = bitcast<f32>(shared_words[tx + 20u]);
  red1_0 = (red1_0 + of_red1_0_5);
  let of_red1_0_6 = bitcast<f32>(shared_words[tx + 24u]);
  red1_0 = (red1_0 + of_red1_0_6);
  let of_red1_0_7 = bitcast<f32>(shared_words[tx + 28u]);
  red1_0 = (red1_0 + of_red1_0_7);
  var red1_1 = bitcast<f32>(shared_words[tx + 0u + 256u]);
  let of_red1_1_1 = bitcast<f32>(shared_words[tx + 4u + 256u]);
  red1_1 = (red1_1 + of_red1_1_1);
  let of_red1_1_2 = bitcast<f32>(shared_words[tx + 8u + 256u]);
  red1_1 = (red1_1 + of_red1_1_2);
  let of_red1_1_3 = bitcast<f32>(shared_words[tx + 12u + 256u]);
  red1_1 = (red1_1 + of_red1_1_3);
  let of_red1_1_4 = bitcast<f32>(shared_words[tx + 16u + 256u]);
  red1_1 = (red1_1 + of_red1_1_4);
  let of_red1_1_5 = bitcast<f32>(shared_words[tx + 20u + 256u]);
  red1_1 = (red1_1 + of_red1_1_5);
  let of_red1_1_6 = bitcast<f32>(shared_words[tx + 24u + 256u]);
  red1_1 = (red1_1 + of_red1_1_6);
  let of_red1_1_7 = bitcast<f32>(shared_words[tx + 28u + 256u]);
  red1_1 = (red1_1 + of_red1_1_7);
  var red1_2 = bitcast<f32>(shared_words[tx + 0u + 512u]);
  let of_red1_2_1 = bitcast<f32>(shared_words[tx + 4u + 512u]);
  red1_2 = (red1_2 + of_red1_2_1);
  let of_red1_2_2 = bitcast<f32>(shared_words[tx + 8u + 512u]);
  red1_2 = (red1_2 + of_red1_2_2);
  let of_red1_2_3 = bitcast<f32>(shared_words[tx + 12u + 512u]);
  red1_2 = (red1_2 + of_red1_2_3);
  let of_red1_2_4 = bitcast<f32>(shared_words[tx + 16u + 512u]);
  red1_2 = (red1_2 + of_red1_2_4);
  let of_red1_2_5 = bitcast<f32>(shared_words[tx + 20u + 512u]);
  red1_2 = (red1_2 + of_red1_2_5);
  let of_red1_2_6 = bitcast<f32>(shared_words[tx + 24u + 512u]);
  red1_2 = (red1_2 + of_red1_2_6);
  let of_red1_2_7 = bitcast<f32>(shared_words[tx + 28u + 512u]);
  red1_2 = (red1_2 + of_red1_2_7);
  var red1_3 = bitcast<f32>(shared_words[tx + 0u + 768u]);
  let of_red1_3_1 = bitcast<f32>(shared_words[tx + 4u + 768u]);
  red1_3 = (red1_3 + of_red1_3_1);
  let of_red1_3_2 = bitcast<f32>(shared_words[tx + 8u + 768u]);
  red1_3 = (red1_3 + of_red1_3_2);
  let of_red1_3_3 = bitcast<f32>(shared_words[tx + 12u + 768u]);
  red1_3 = (red1_3 + of_red1_3_3);
  let of_red1_3_4 = bitcast<f32>(shared_words[tx + 16u + 768u]);
  red1_3 = (red1_3 + of_red1_3_4);
  let of_red1_3_5 = bitcast<f32>(shared_words[tx + 20u + 768u]);
  red1_3 = (red1_3 + of_red1_3_5);
  let of_red1_3_6 = bitcast<f32>(shared_words[tx + 24u + 768u]);
  red1_3 = (red1_3 + of_red1_3_6);
  let of_red1_3_7 = bitcast<f32>(shared_words[tx + 28u + 768u]);
  red1_3 = (red1_3 + of_red1_3_7);
  __syncthreads();
  if (inside && ty == 0u) {
    let y10 = finish(params, red1_0);
    let y11 = finish(params, red1_1);
    let y12 = finish(params, red1_2);
    let y13 = finish(params, red1_3);
    let w14 = (params.v[8] + k) / 4u;
    b0[w14 + 0u] = vec4<u32>(bitcast<u32>(y10), bitcast<u32>(y11), bitcast<u32>(y12), bitcast<u32>(y13));
  }
}

// ---- many elements to one result: sum, 512 workgroups of 256
// reduction
struct Params {
  u32 v[9];
};
TERN_DEVICE f32 pass0(const Params& params, f32 v0) {
  return v0;
}
extern "C" __global__ void __launch_bounds__(256) tern_kernel(const vec4<u32>* __restrict__ b0, u32* __restrict__ b1, const __grid_constant__ Params params) {
  const u32 thread = threadIdx.x, group = blockIdx.x;
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
  let warp_red1_8 = __shfl_xor_sync(0xffffffffu, warp_red1, 8);
  warp_red1 = (warp_red1 + warp_red1_8);
  let warp_red1_4 = __shfl_xor_sync(0xffffffffu, warp_red1, 4);
  warp_red1 = (warp_red1 + warp_red1_4);
  let warp_red1_2 = __shfl_xor_sync(0xffffffffu, warp_red1, 2);
  warp_red1 = (warp_red1 + warp_red1_2);
  let warp_red1_1 = __shfl_xor_sync(0xffffffffu, warp_red1, 1);
  warp_red1 = (warp_red1 + warp_red1_1);
  if (ty % 32u == 0u) {
    shared_words[tx * 8u + ty / 32u] = bitcast<u32>(warp_red1);
  }
  __syncthreads();
  var red1 = bitcast<f32>(shared_words[tx * 8u + 0u]);
  let of_red1_1 = bitcast<f32>(shared_words[tx * 8u + 1u]);
  red1 = (red1 + of_red1_1);
  let of_red1_2 = bitcast<f32>(shared_words[tx * 8u + 2u]);
  red1 = (red1 + of_red1_2);
  let of_red1_3 = bitcast<f32>(shared_words[tx * 8u + 3u]);
  red1 = (red1 + of_red1_3);
  let of_red1_4 = bitcast<f32>(shared_words[tx * 8u + 4u]);
  red1 = (red1 + of_red1_4);
  let of_red1_5 = bitcast<f32>(shared_words[tx * 8u + 5u]);
  red1 = (red1 + of_red1_5);
  let of_red1_6 = bitcast<f32>(shared_words[tx * 8u + 6u]);
  red1 = (red1 + of_red1_6);
  let of_red1_7 = bitcast<f32>(shared_words[tx * 8u + 7u]);
  red1 = (red1 + of_red1_7);
  __syncthreads();
  if (inside && ty == 0u) {
    ((u32*)b1)[params.v[8] + (segment + params.v[5]) * params.v[1] + k] = bitcast<u32>(red1);
  }
}

// ---- many elements to one result: sum, 1 workgroups of 128
// reduction
struct Params {
  u32 v[10];
};
TERN_DEVICE f32 finish(const Params& params, f32 v1) {
  return v1;
}
extern "C" __global__ void __launch_bounds__(128) tern_kernel(u32* __restrict__ b0, const u32* __restrict__ b1, u32* __restrict__ b2, const __grid_constant__ Params params) {
  const u32 thread = threadIdx.x, group = blockIdx.x;
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
  let warp_red1_8 = __shfl_xor_sync(0xffffffffu, warp_red1, 8);
  warp_red1 = (warp_red1 + warp_red1_8);
  let warp_red1_4 = __shfl_xor_sync(0xffffffffu, warp_red1, 4);
  warp_red1 = (warp_red1 + warp_red1_4);
  let warp_red1_2 = __shfl_xor_sync(0xffffffffu, warp_red1, 2);
  warp_red1 = (warp_red1 + warp_red1_2);
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

// ---- product: matmul_bias_activation, 4 workgroups of 64
// product, tiles of 32x32x8
struct Params {
  u32 v[14];
};
TERN_DEVICE f32 tern_max_f32(f32 a, f32 b) { return a > b || a != a ? a : b; }
TERN_DEVICE f32 epilogue(const Params& params, f32 v0, f32 v1) {
  let v2 = (v0 + v1);
  let v3 = f32(0.0);
  let v4 = tern_max_f32(v2, v3);
  return v4;
}
extern "C" __global__ void __launch_bounds__(64) tern_kernel(vec4<u32>* __restrict__ b0, const vec4<u32>* __restrict__ b1, const vec4<u32>* __restrict__ b2, const vec4<u32>* __restrict__ b3, const __grid_constant__ Params params) {
  const u32 thread = threadIdx.x, group = blockIdx.x;
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
  for (var kt = 0u; kt < params.v[3]; kt += 8u) {
    {
      let major = thread / 2u;
      let minor = (thread - major * 2u) * 4u;
      let o = major;
      let kk = minor;
      let at = base_a + (first_m + o) * params.v[11] + (kt + kk);
      var q = vec4<u32>();
      if (first_m + o < params.v[1] && kt + kk < params.v[3]) { q = b2[at / 4u]; }
      tile_a[(kk + 0u) * 8u + o / 4u][o & 3u] = bitcast<f32>(q.x);
      tile_a[(kk + 1u) * 8u + o / 4u][o & 3u] = bitcast<f32>(q.y);
      tile_a[(kk + 2u) * 8u + o / 4u][o & 3u] = bitcast<f32>(q.z);
      tile_a[(kk + 3u) * 8u + o / 4u][o & 3u] = bitcast<f32>(q.w);
    }
    {
      let major = thread / 8u;
      let minor = (thread - major * 8u) * 4u;
      let o = minor;
      let kk = major;
      let at = base_b + (first_n + o) + (kt + kk) * params.v[13];
      var q = vec4<u32>();
      if (first_n + o < params.v[2] && kt + kk < params.v[3]) { q = b3[at / 4u]; }
      tile_b[kk * 8u + o / 4u + 0u] = vec4<f32>(bitcast<f32>(q.x), bitcast<f32>(q.y), bitcast<f32>(q.z), bitcast<f32>(q.w));
    }
    __syncthreads();
    {
      let a0 = tile_a[0u + ty];
      let c0 = tile_b[0u + tx];
      acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
      acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
      acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
      acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
    }
    {
      let a0 = tile_a[8u + ty];
      let c0 = tile_b[8u + tx];
      acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
      acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
      acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
      acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
    }
    {
      let a0 = tile_a[16u + ty];
      let c0 = tile_b[16u + tx];
      acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
      acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
      acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
      acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
    }
    {
      let a0 = tile_a[24u + ty];
      let c0 = tile_b[24u + tx];
      acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
      acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
      acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
      acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
    }
    {
      let a0 = tile_a[32u + ty];
      let c0 = tile_b[32u + tx];
      acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
      acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
      acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
      acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
    }
    {
      let a0 = tile_a[40u + ty];
      let c0 = tile_b[40u + tx];
      acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
      acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
      acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
      acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
    }
    {
      let a0 = tile_a[48u + ty];
      let c0 = tile_b[48u + tx];
      acc0_0 = fma(vec4<f32>(a0.x), c0, acc0_0);
      acc1_0 = fma(vec4<f32>(a0.y), c0, acc1_0);
      acc2_0 = fma(vec4<f32>(a0.z), c0, acc2_0);
      acc3_0 = fma(vec4<f32>(a0.w), c0, acc3_0);
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

// ---- requests together: step, 2 workgroups of 256
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

// ---- by index: take, 1 workgroups of 256
// elementwise
struct Params {
  u32 v[12];
};
TERN_DEVICE f32 formula(const Params& params, f32 v0) {
  return v0;
}
extern "C" __global__ void __launch_bounds__(256) tern_kernel(vec4<u32>* __restrict__ b0, const vec4<u32>* __restrict__ b1, const u32* __restrict__ b2, u32* __restrict__ b3, const __grid_constant__ Params params) {
  const u32 thread = threadIdx.x, group = blockIdx.x;
  let i = (group * 256u + thread) * 4u;
  if (i >= params.v[1]) { return; }
  let cq1 = i / params.v[3];
  let c1 = i - cq1 * params.v[3];
  let c0 = cq1;
  let index0 = bitcast<i32>(((u32*)b2)[params.v[7] + c0]);
  var place1 = bitcast<u32>(index0) + select(0u, params.v[9], index0 < 0);
  if (place1 >= params.v[9]) {
    if (atomicCAS(&b3[0], 0u, params.v[11]) == 0u) { b3[1] = u32(index0); }
    place1 = 0u;
  }
  let w2 = (params.v[6] + c1 + place1 * params.v[8]) / 4u;
  let q3 = b1[w2 + 0u];
  let x4 = bitcast<f32>(q3.x);
  let x5 = bitcast<f32>(q3.y);
  let x6 = bitcast<f32>(q3.z);
  let x7 = bitcast<f32>(q3.w);
  let y0 = formula(params, x4);
  let y1 = formula(params, x5);
  let y2 = formula(params, x6);
  let y3 = formula(params, x7);
  let w8 = (params.v[4] + c0 * params.v[5] + c1) / 4u;
  b0[w8 + 0u] = vec4<u32>(bitcast<u32>(y0), bitcast<u32>(y1), bitcast<u32>(y2), bitcast<u32>(y3));
}

// ---- scatter: clone, 1 workgroups of 256
// elementwise
struct Params {
  u32 v[5];
};
TERN_DEVICE f32 formula(const Params& params, f32 v0) {
  return v0;
}
extern "C" __global__ void __launch_bounds__(256) tern_kernel(vec4<u32>* __restrict__ b0, const vec4<u32>* __restrict__ b1, const __grid_constant__ Params params) {
  const u32 thread = threadIdx.x, group = blockIdx.x;
  let i = (group * 256u + thread) * 4u;
  if (i >= params.v[1]) { return; }
  let w0 = (params.v[4] + i) / 4u;
  let q1 = b1[w0 + 0u];
  let x2 = bitcast<f32>(q1.x);
  let x3 = bitcast<f32>(q1.y);
  let x4 = bitcast<f32>(q1.z);
  let x5 = bitcast<f32>(q1.w);
  let y0 = formula(params, x2);
  let y1 = formula(params, x3);
  let y2 = formula(params, x4);
  let y3 = formula(params, x5);
  if (i + 3u < params.v[1]) {
    let w6 = (params.v[3] + i) / 4u;
    b0[w6 + 0u] = vec4<u32>(bitcast<u32>(y0), bitcast<u32>(y1), bitcast<u32>(y2), bitcast<u32>(y3));
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

// ---- scatter: scatter_add, 1 workgroups of 256
// scatter
struct Params {
  u32 v[16];
};
extern "C" __global__ void __launch_bounds__(256) tern_kernel(vec4<u32>* __restrict__ b0, const vec4<u32>* __restrict__ b1, const u32* __restrict__ b2, u32* __restrict__ b3, const __grid_constant__ Params params) {
  const u32 thread = threadIdx.x, group = blockIdx.x;
  let t = group * 256u + thread;
  if (t >= params.v[1]) { return; }
  let entry = t / params.v[2];
  let k = (t - entry * params.v[2]) * 4u;
  let wanted = entry + params.v[3];
  let w0 = (params.v[9] + k + wanted * params.v[10]) / 4u;
  let q1 = b0[w0 + 0u];
  let x2 = bitcast<f32>(q1.x);
  let x3 = bitcast<f32>(q1.y);
  let x4 = bitcast<f32>(q1.z);
  let x5 = bitcast<f32>(q1.w);
  var acc0 = x2;
  var acc1 = x3;
  var acc2 = x4;
  var acc3 = x5;
  for (var j = params.v[4]; j < params.v[5]; j += 1u) {
    let index = bitcast<i32>(((u32*)b2)[params.v[13] + j]);
    let place = bitcast<u32>(index) + select(0u, params.v[6], index < 0);
    if (place >= params.v[6]) {
      if (entry == 0u) {
        if (atomicCAS(&b3[0], 0u, params.v[15]) == 0u) { b3[1] = u32(index); }
      }
    }
    if (place == wanted) {
      let w6 = (params.v[11] + k + j * params.v[12]) / 4u;
      let q7 = b1[w6 + 0u];
      let x8 = bitcast<f32>(q7.x);
      let x9 = bitcast<f32>(q7.y);
      let x10 = bitcast<f32>(q7.z);
      let x11 = bitcast<f32>(q7.w);
      acc0 = (acc0 + x8);
      acc1 = (acc1 + x9);
      acc2 = (acc2 + x10);
      acc3 = (acc3 + x11);
    }
  }
  let w12 = (params.v[9] + k + wanted * params.v[10]) / 4u;
  b0[w12 + 0u] = vec4<u32>(bitcast<u32>(acc0), bitcast<u32>(acc1), bitcast<u32>(acc2), bitcast<u32>(acc3));
}

// ---- scan: cumsum, 6 workgroups of 256
// scan
struct Params {
  u32 v[8];
};
extern "C" __global__ void __launch_bounds__(256) tern_kernel(const vec4<u32>* __restrict__ b0, vec4<u32>* __restrict__ b1, const __grid_constant__ Params params) {
  const u32 thread = threadIdx.x, group = blockIdx.x;
  __shared__ f32 sums[256];
  let line = group;
  let begin = 0u;
  let end = params.v[2];
  var carry = f32();
  for (var start = begin; start < end; start += 1024u) {
    var s0 = f32();
    var s1 = f32();
    var s2 = f32();
    var s3 = f32();
    let i0 = start + thread * 4u + 0u;
    let line_at0 = i0;
    if (i0 < end) {
      let w0 = (params.v[4] + line * params.v[5] + line_at0) / 4u;
      let q1 = b0[w0 + 0u];
      let x2 = bitcast<f32>(q1.x);
      let x3 = bitcast<f32>(q1.y);
      let x4 = bitcast<f32>(q1.z);
      let x5 = bitcast<f32>(q1.w);
      s0 = x2;
      s1 = x3;
      s2 = x4;
      s3 = x5;
    }
    s1 = (s0 + s1);
    s2 = (s1 + s2);
    s3 = (s2 + s3);
    sums[thread] = s3;
    __syncthreads();
    var t1 = sums[thread];
    if (thread >= 1u) { t1 = (sums[thread - 1u] + t1); }
    __syncthreads();
    sums[thread] = t1;
    __syncthreads();
    var t2 = sums[thread];
    if (thread >= 2u) { t2 = (sums[thread - 2u] + t2); }
    __syncthreads();
    sums[thread] = t2;
    __syncthreads();
    var t4 = sums[thread];
    if (thread >= 4u) { t4 = (sums[thread - 4u] + t4); }
    __syncthreads();
    sums[thread] = t4;
    __syncthreads();
    var t8 = sums[thread];
    if (thread >= 8u) { t8 = (sums[thread - 8u] + t8); }
    __syncthreads();
    sums[thread] = t8;
    __syncthreads();
    var t16 = sums[thread];
    if (thread >= 16u) { t16 = (sums[thread - 16u] + t16); }
    __syncthreads();
    sums[thread] = t16;
    __syncthreads();
    var t32 = sums[thread];
    if (thread >= 32u) { t32 = (sums[thread - 32u] + t32); }
    __syncthreads();
    sums[thread] = t32;
    __syncthreads();
    var t64 = sums[thread];
    if (thread >= 64u) { t64 = (sums[thread - 64u] + t64); }
    __syncthreads();
    sums[thread] = t64;
    __syncthreads();
    var t128 = sums[thread];
    if (thread >= 128u) { t128 = (sums[thread - 128u] + t128); }
    __syncthreads();
    sums[thread] = t128;
    __syncthreads();
    var before = carry;
    if (thread > 0u) { before = (carry + sums[thread - 1u]); }
    if (i0 < end) {
      let w6 = (params.v[6] + line * params.v[7] + line_at0) / 4u;
      b1[w6 + 0u] = vec4<u32>(bitcast<u32>((before + s0)), bitcast<u32>((before + s1)), bitcast<u32>((before + s2)), bitcast<u32>((before + s3)));
    }
    carry = (carry + sums[255]);
    __syncthreads();
  }
}

// ---- scan of a long line: to, 25 workgroups of 256
// elementwise
struct Params {
  u32 v[5];
};
TERN_DEVICE i32 formula(const Params& params, i32 v0) {
  return v0;
}
extern "C" __global__ void __launch_bounds__(256) tern_kernel(vec4<u32>* __restrict__ b0, const vec4<u32>* __restrict__ b1, const __grid_constant__ Params params) {
  const u32 thread = threadIdx.x, group = blockIdx.x;
  let i = (group * 256u + thread) * 16u;
  if (i >= params.v[1]) { return; }
  let w0 = (params.v[4] + i) / 16u;
  let q1 = b1[w0 + 0u];
  let x2 = (bitcast<i32>(((q1.x & 0xffu)) << 24u) >> 24u);
  let x3 = (bitcast<i32>((((q1.x >> 8u) & 0xffu)) << 24u) >> 24u);
  let x4 = (bitcast<i32>((((q1.x >> 16u) & 0xffu)) << 24u) >> 24u);
  let x5 = (bitcast<i32>(((q1.x >> 24u)) << 24u) >> 24u);
  let x6 = (bitcast<i32>(((q1.y & 0xffu)) << 24u) >> 24u);
  let x7 = (bitcast<i32>((((q1.y >> 8u) & 0xffu)) << 24u) >> 24u);
  let x8 = (bitcast<i32>((((q1.y >> 16u) & 0xffu)) << 24u) >> 24u);
  let x9 = (bitcast<i32>(((q1.y >> 24u)) << 24u) >> 24u);
  let x10 = (bitcast<i32>(((q1.z & 0xffu)) << 24u) >> 24u);
  let x11 = (bitcast<i32>((((q1.z >> 8u) & 0xffu)) << 24u) >> 24u);
  let x12 = (bitcast<i32>((((q1.z >> 16u) & 0xffu)) << 24u) >> 24u);
  let x13 = (bitcast<i32>(((q1.z >> 24u)) << 24u) >> 24u);
  let x14 = (bitcast<i32>(((q1.w & 0xffu)) << 24u) >> 24u);
  let x15 = (bitcast<i32>((((q1.w >> 8u) & 0xffu)) << 24u) >> 24u);
  let x16 = (bitcast<i32>((((q1.w >> 16u) & 0xffu)) << 24u) >> 24u);
  let x17 = (bitcast<i32>(((q1.w >> 24u)) << 24u) >> 24u);
  let y0 = formula(params, x2);
  let y1 = formula(params, x3);
  let y2 = formula(params, x4);
  let y3 = formula(params, x5);
  let y4 = formula(params, x6);
  let y5 = formula(params, x7);
  let y6 = formula(params, x8);
  let y7 = formula(params, x9);
  let y8 = formula(params, x10);
  let y9 = formula(params, x11);
  let y10 = formula(params, x12);
  let y11 = formula(params, x13);
  let y12 = formula(params, x14);
  let y13 = formula(params, x15);
  let y14 = formula(params, x16);
  let y15 = formula(params, x17);
  if (i + 15u < params.v[1]) {
    let w18 = (params.v[3] + i) / 4u;
    b0[w18 + 0u] = vec4<u32>(bitcast<u32>(y0), bitcast<u32>(y1), bitcast<u32>(y2), bitcast<u32>(y3));
    b0[w18 + 1u] = vec4<u32>(bitcast<u32>(y4), bitcast<u32>(y5), bitcast<u32>(y6), bitcast<u32>(y7));
    b0[w18 + 2u] = vec4<u32>(bitcast<u32>(y8), bitcast<u32>(y9), bitcast<u32>(y10), bitcast<u32>(y11));
    b0[w18 + 3u] = vec4<u32>(bitcast<u32>(y12), bitcast<u32>(y13), bitcast<u32>(y14), bitcast<u32>(y15));
  } else {
    if (i + 0u < params.v[1]) { ((u32*)b0)[params.v[3] + i] = bitcast<u32>(y0);
    }
    if (i + 1u < params.v[1]) { ((u32*)b0)[params.v[3] + (i + 1u)] = bitcast<u32>(y1);
    }
    if (i + 2u < params.v[1]) { ((u32*)b0)[params.v[3] + (i + 2u)] = bitcast<u32>(y2);
    }
    if (i + 3u < params.v[1]) { ((u32*)b0)[params.v[3] + (i + 3u)] = bitcast<u32>(y3);
    }
    if (i + 4u < params.v[1]) { ((u32*)b0)[params.v[3] + (i + 4u)] = bitcast<u32>(y4);
    }
    if (i + 5u < params.v[1]) { ((u32*)b0)[params.v[3] + (i + 5u)] = bitcast<u32>(y5);
    }
    if (i + 6u < params.v[1]) { ((u32*)b0)[params.v[3] + (i + 6u)] = bitcast<u32>(y6);
    }
    if (i + 7u < params.v[1]) { ((u32*)b0)[params.v[3] + (i + 7u)] = bitcast<u32>(y7);
    }
    if (i + 8u < params.v[1]) { ((u32*)b0)[params.v[3] + (i + 8u)] = bitcast<u32>(y8);
    }
    if (i + 9u < params.v[1]) { ((u32*)b0)[params.v[3] + (i + 9u)] = bitcast<u32>(y9);
    }
    if (i + 10u < params.v[1]) { ((u32*)b0)[params.v[3] + (i + 10u)] = bitcast<u32>(y10);
    }
    if (i + 11u < params.v[1]) { ((u32*)b0)[params.v[3] + (i + 11u)] = bitcast<u32>(y11);
    }
    if (i + 12u < params.v[1]) { ((u32*)b0)[params.v[3] + (i + 12u)] = bitcast<u32>(y12);
    }
    if (i + 13u < params.v[1]) { ((u32*)b0)[params.v[3] + (i + 13u)] = bitcast<u32>(y13);
    }
    if (i + 14u < params.v[1]) { ((u32*)b0)[params.v[3] + (i + 14u)] = bitcast<u32>(y14);
    }
    if (i + 15u < params.v[1]) { ((u32*)b0)[params.v[3] + (i + 15u)] = bitcast<u32>(y15);
    }
  }
}

// ---- scan of a long line: cumsum, 13 workgroups of 256
// scan, sums of segments
struct Params {
  u32 v[9];
};
template <class T> TERN_DEVICE T tern_add(T a, T b) {
  return T(typename Unsigned<T>::type(a) + typename Unsigned<T>::type(b));
}
TERN_DEVICE f64 tern_add(f64 a, f64 b) { return a + b; }
extern "C" __global__ void __launch_bounds__(256) tern_kernel(const vec4<u32>* __restrict__ b0, u32* __restrict__ b1, const __grid_constant__ Params params) {
  const u32 thread = threadIdx.x, group = blockIdx.x;
  __shared__ i32 sums[256];
  let line = group / params.v[4];
  let part = group - line * params.v[4];
  let begin = part * params.v[7];
  let end = min(begin + params.v[7], params.v[2]);
  var sum = i32();
  for (var i = begin + thread * 4u; i < end; i += 1024u) {
    let at = i;
    let w0 = (params.v[3] + at) / 4u;
    let q1 = b0[w0 + 0u];
    let x2 = bitcast<i32>(q1.x);
    let x3 = bitcast<i32>(q1.y);
    let x4 = bitcast<i32>(q1.z);
    let x5 = bitcast<i32>(q1.w);
    sum = tern_add(sum, x2);
    sum = tern_add(sum, x3);
    sum = tern_add(sum, x4);
    sum = tern_add(sum, x5);
  }
  sums[thread] = sum;
  __syncthreads();
  if (thread < 128u) { sums[thread] = tern_add(sums[thread], sums[thread + 128u]); }
  __syncthreads();
  if (thread < 64u) { sums[thread] = tern_add(sums[thread], sums[thread + 64u]); }
  __syncthreads();
  if (thread < 32u) { sums[thread] = tern_add(sums[thread], sums[thread + 32u]); }
  __syncthreads();
  if (thread < 16u) { sums[thread] = tern_add(sums[thread], sums[thread + 16u]); }
  __syncthreads();
  if (thread < 8u) { sums[thread] = tern_add(sums[thread], sums[thread + 8u]); }
  __syncthreads();
  if (thread < 4u) { sums[thread] = tern_add(sums[thread], sums[thread + 4u]); }
  __syncthreads();
  if (thread < 2u) { sums[thread] = tern_add(sums[thread], sums[thread + 2u]); }
  __syncthreads();
  if (thread < 1u) { sums[thread] = tern_add(sums[thread], sums[thread + 1u]); }
  __syncthreads();
  if (thread == 0u) {
    ((u32*)b1)[line * params.v[5] + params.v[6] + part] = bitcast<u32>(sums[0]);
  }
}

// ---- scan of a long line: cumsum, 1 workgroups of 256
// scan
struct Params {
  u32 v[5];
};
template <class T> TERN_DEVICE T tern_add(T a, T b) {
  return T(typename Unsigned<T>::type(a) + typename Unsigned<T>::type(b));
}
TERN_DEVICE f64 tern_add(f64 a, f64 b) { return a + b; }
extern "C" __global__ void __launch_bounds__(256) tern_kernel(u32* __restrict__ b0, const __grid_constant__ Params params) {
  const u32 thread = threadIdx.x, group = blockIdx.x;
  __shared__ i32 sums[256];
  let line = group;
  let begin = 0u;
  let end = params.v[2];
  var carry = i32();
  for (var start = begin; start < end; start += 1024u) {
    var s0 = i32();
    var s1 = i32();
    var s2 = i32();
    var s3 = i32();
    let i0 = start + thread * 4u + 0u;
    let line_at0 = i0;
    if (i0 < end) {
      let x0 = bitcast<i32>(((u32*)b0)[params.v[3] + line_at0]);
      s0 = x0;
    }
    let i1 = start + thread * 4u + 1u;
    let line_at1 = i1;
    if (i1 < end) {
      let x1 = bitcast<i32>(((u32*)b0)[params.v[3] + line_at1]);
      s1 = x1;
    }
    let i2 = start + thread * 4u + 2u;
    let line_at2 = i2;
    if (i2 < end) {
      let x2 = bitcast<i32>(((u32*)b0)[params.v[3] + line_at2]);
      s2 = x2;
    }
    let i3 = start + thread * 4u + 3u;
    let line_at3 = i3;
    if (i3 < end) {
      let x3 = bitcast<i32>(((u32*)b0)[params.v[3] + line_at3]);
      s3 = x3;
    }
    s1 = tern_add(s0, s1);
    s2 = tern_add(s1, s2);
    s3 = tern_add(s2, s3);
    sums[thread] = s3;
    __syncthreads();
    var t1 = sums[thread];
    if (thread >= 1u) { t1 = tern_add(sums[thread - 1u], t1); }
    __syncthreads();
    sums[thread] = t1;
    __syncthreads();
    var t2 = sums[thread];
    if (thread >= 2u) { t2 = tern_add(sums[thread - 2u], t2); }
    __syncthreads();
    sums[thread] = t2;
    __syncthreads();
    var t4 = sums[thread];
    if (thread >= 4u) { t4 = tern_add(sums[thread - 4u], t4); }
    __syncthreads();
    sums[thread] = t4;
    __syncthreads();
    var t8 = sums[thread];
    if (thread >= 8u) { t8 = tern_add(sums[thread - 8u], t8); }
    __syncthreads();
    sums[thread] = t8;
    __syncthreads();
    var t16 = sums[thread];
    if (thread >= 16u) { t16 = tern_add(sums[thread - 16u], t16); }
    __syncthreads();
    sums[thread] = t16;
    __syncthreads();
    var t32 = sums[thread];
    if (thread >= 32u) { t32 = tern_add(sums[thread - 32u], t32); }
    __syncthreads();
    sums[thread] = t32;
    __syncthreads();
    var t64 = sums[thread];
    if (thread >= 64u) { t64 = tern_add(sums[thread - 64u], t64); }
    __syncthreads();
    sums[thread] = t64;
    __syncthreads();
    var t128 = sums[thread];
    if (thread >= 128u) { t128 = tern_add(sums[thread - 128u], t128); }
    __syncthreads();
    sums[thread] = t128;
    __syncthreads();
    var before = carry;
    if (thread > 0u) { before = tern_add(carry, sums[thread - 1u]); }
    if (i0 < end) {
      ((u32*)b0)[params.v[4] + line_at0] = bitcast<u32>(tern_add(before, s0));
    }
    if (i1 < end) {
      ((u32*)b0)[params.v[4] + line_at1] = bitcast<u32>(tern_add(before, s1));
    }
    if (i2 < end) {
      ((u32*)b0)[params.v[4] + line_at2] = bitcast<u32>(tern_add(before, s2));
    }
    if (i3 < end) {
      ((u32*)b0)[params.v[4] + line_at3] = bitcast<u32>(tern_add(before, s3));
    }
    carry = tern_add(carry, sums[255]);
    __syncthreads();
  }
}

// ---- scan of a long line: cumsum, 13 workgroups of 256
// scan, segments
struct Params {
  u32 v[10];
};
template <class T> TERN_DEVICE T tern_add(T a, T b) {
  return T(typename Unsigned<T>::type(a) + typename Unsigned<T>::type(b));
}
TERN_DEVICE f64 tern_add(f64 a, f64 b) { return a + b; }
extern "C" __global__ void __launch_bounds__(256) tern_kernel(const vec4<u32>* __restrict__ b0, vec4<u32>* __restrict__ b1, const u32* __restrict__ b2, const __grid_constant__ Params params) {
  const u32 thread = threadIdx.x, group = blockIdx.x;
  __shared__ i32 sums[256];
  let line = group / params.v[5];
  let part = group - line * params.v[5];
  let begin = part * params.v[8];
  let end = min(begin + params.v[8], params.v[2]);
  var carry = i32();
  if (part + params.v[7] > 0u) { carry = bitcast<i32>(((u32*)b2)[line * params.v[6] + params.v[7] + part - 1u]); }
  for (var start = begin; start < end; start += 1024u) {
    var s0 = i32();
    var s1 = i32();
    var s2 = i32();
    var s3 = i32();
    let i0 = start + thread * 4u + 0u;
    let line_at0 = i0;
    if (i0 < end) {
      let w0 = (params.v[3] + line_at0) / 4u;
      let q1 = b0[w0 + 0u];
      let x2 = bitcast<i32>(q1.x);
      let x3 = bitcast<i32>(q1.y);
      let x4 = bitcast<i32>(q1.z);
      let x5 = bitcast<i32>(q1.w);
      s0 = x2;
      s1 = x3;
      s2 = x4;
      s3 = x5;
    }
    s1 = tern_add(s0, s1);
    s2 = tern_add(s1, s2);
    s3 = tern_add(s2, s3);
    sums[thread] = s3;
    __syncthreads();
    var t1 = sums[thread];
    if (thread >= 1u) { t1 = tern_add(sums[thread - 1u], t1); }
    __syncthreads();
    sums[thread] = t1;
    __syncthreads();
    var t2 = sums[thread];
    if (thread >= 2u) { t2 = tern_add(sums[thread - 2u], t2); }
    __syncthreads();
    sums[thread] = t2;
    __syncthreads();
    var t4 = sums[thread];
    if (thread >= 4u) { t4 = tern_add(sums[thread - 4u], t4); }
    __syncthreads();
    sums[thread] = t4;
    __syncthreads();
    var t8 = sums[thread];
    if (thread >= 8u) { t8 = tern_add(sums[thread - 8u], t8); }
    __syncthreads();
    sums[thread] = t8;
    __syncthreads();
    var t16 = sums[thread];
    if (thread >= 16u) { t16 = tern_add(sums[thread - 16u], t16); }
    __syncthreads();
    sums[thread] = t16;
    __syncthreads();
    var t32 = sums[thread];
    if (thread >= 32u) { t32 = tern_add(sums[thread - 32u], t32); }
    __syncthreads();
    sums[thread] = t32;
    __syncthreads();
    var t64 = sums[thread];
    if (thread >= 64u) { t64 = tern_add(sums[thread - 64u], t64); }
    __syncthreads();
    sums[thread] = t64;
    __syncthreads();
    var t128 = sums[thread];
    if (thread >= 128u) { t128 = tern_add(sums[thread - 128u], t128); }
    __syncthreads();
    sums[thread] = t128;
    __syncthreads();
    var before = carry;
    if (thread > 0u) { before = tern_add(carry, sums[thread - 1u]); }
    if (i0 < end) {
      let w6 = (params.v[4] + line_at0) / 4u;
      b1[w6 + 0u] = vec4<u32>(bitcast<u32>(tern_add(before, s0)), bitcast<u32>(tern_add(before, s1)), bitcast<u32>(tern_add(before, s2)), bitcast<u32>(tern_add(before, s3)));
    }
    carry = tern_add(carry, sums[255]);
    __syncthreads();
  }
}

