// What every CUDA kernel begins with: the names and types that the GPU languages share. What bounds kernels, and how
// fast they are, stands in their own files.

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
