// Gated activations written out for AVX-512: one loop with everything in registers, and nothing checked, dispatched or
// allocated. It is what a formula of tern is held against where all operands are in cache.
#include <omp.h>

#include <stdexcept>

#include "peers.hpp"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)
#include <immintrin.h>
#endif

namespace bench {
namespace {

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)

constexpr std::int64_t kLanes = 16;

/// exp(x) within about a unit in the last place: 2^n · p(r), the polynomial of Cephes' expf.
inline __m512 exp_of(__m512 x) {
  const __m512 limited = _mm512_min_ps(_mm512_max_ps(x, _mm512_set1_ps(-87.5f)), _mm512_set1_ps(88.5f));
  const __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(limited, _mm512_set1_ps(1.44269504f)), 0);
  __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693359375f), limited);
  r = _mm512_fnmadd_ps(n, _mm512_set1_ps(-2.12194440e-4f), r);
  __m512 p = _mm512_set1_ps(1.9875691500e-4f);
  for (const float c :
       {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f, 1.0f, 1.0f})
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(c));
  return _mm512_scalef_ps(p, n);
}

/// The logistic factor s of an activation x·s, and the derivative of x·s.
struct Active {
  __m512 s, derivative;
};
template <Activation kKind> inline Active active(__m512 x) {
  const __m512 one = _mm512_set1_ps(1);
  __m512 argument = x, slope = one;
  if constexpr (kKind == Activation::gelu) {
    const __m512 root = _mm512_set1_ps(1.5957691216f), cubic = _mm512_set1_ps(0.044715f), square = _mm512_mul_ps(x, x);
    argument = _mm512_mul_ps(_mm512_mul_ps(x, root), _mm512_fmadd_ps(cubic, square, one));
    slope = _mm512_mul_ps(root, _mm512_fmadd_ps(_mm512_set1_ps(3 * 0.044715f), square, one));
  }
  const __m512 s = _mm512_div_ps(one, _mm512_add_ps(one, exp_of(_mm512_sub_ps(_mm512_setzero_ps(), argument))));
  const __m512 rest = _mm512_mul_ps(_mm512_mul_ps(x, slope), _mm512_sub_ps(one, s));
  return {s, _mm512_mul_ps(s, _mm512_add_ps(one, rest))};
}

inline __m512 load(const float* from) { return _mm512_loadu_ps(from); }
inline void store(float* to, __m512 x) { _mm512_storeu_ps(to, x); }
inline __m512 load(const tern::bfloat16* from) {
  const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
}
/// Rounded to nearest even; for finite numbers.
inline void store(tern::bfloat16* to, __m512 x) {
  const __m512i bits = _mm512_castps_si512(x);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded, 16)));
}

template <class T, Activation kKind> void forward(const Inputs& in, const Buffer& y, std::int64_t count) {
  const T *a = in[0].data<T>(), *b = in[1].data<T>();
  T* const to = y.data<T>();
#pragma omp parallel for
  for (std::int64_t i = 0; i < count; i += kLanes) {
    const __m512 x = load(a + i);
    store(to + i, _mm512_mul_ps(_mm512_mul_ps(x, load(b + i)), active<kKind>(x).s));
  }
}

template <class T, Activation kKind>
void backward(const Inputs& in, const Buffer& d_a, const Buffer& d_b, std::int64_t count) {
  const T *a = in[0].data<T>(), *b = in[1].data<T>(), *grad = in[2].data<T>();
  T *const to_a = d_a.data<T>(), *const to_b = d_b.data<T>();
#pragma omp parallel for
  for (std::int64_t i = 0; i < count; i += kLanes) {
    const __m512 x = load(a + i), g = load(grad + i);
    const Active result = active<kKind>(x);
    store(to_a + i, _mm512_mul_ps(_mm512_mul_ps(g, load(b + i)), result.derivative));
    store(to_b + i, _mm512_mul_ps(_mm512_mul_ps(g, x), result.s));
  }
}

template <class T> void forward(Activation kind, const Inputs& in, const Buffer& y, std::int64_t count) {
  kind == Activation::silu ? forward<T, Activation::silu>(in, y, count) : forward<T, Activation::gelu>(in, y, count);
}
template <class T>
void backward(Activation kind, const Inputs& in, const Buffer& d_a, const Buffer& d_b, std::int64_t count) {
  kind == Activation::silu ? backward<T, Activation::silu>(in, d_a, d_b, count)
                           : backward<T, Activation::gelu>(in, d_a, d_b, count);
}

class ByHand final : public Peer {
 public:
  explicit ByHand(int threads) { omp_set_num_threads(threads); }
  std::string name() const override { return "by-hand"; }
  std::string version() const override { return "AVX-512"; }

  std::optional<Contender> gated(const GatedCase& c, const Inputs& in) override {
    const std::int64_t count = c.rows * c.columns;
    if ((c.dtype != tern::f32 && c.dtype != tern::bf16) || c.activation == Activation::identity || count % kLanes != 0)
      return {};
    const bool f32 = c.dtype == tern::f32;
    const Buffer y(c.dtype, count), d_a(c.dtype, c.backward ? count : 0), d_b(c.dtype, d_a.count());
    const auto there = [=] {
      f32 ? forward<float>(c.activation, in, y, count) : forward<tern::bfloat16>(c.activation, in, y, count);
    };
    if (!c.backward) return contender(there, y);
    const auto and_back = [=] {
      there();
      f32 ? backward<float>(c.activation, in, d_a, d_b, count)
          : backward<tern::bfloat16>(c.activation, in, d_a, d_b, count);
    };
    return contender(and_back, d_a, d_b);
  }
};

#endif

}  // namespace

std::unique_ptr<Peer> make_byhand([[maybe_unused]] int threads) {
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__)
  return std::make_unique<ByHand>(threads);
#else
  throw std::runtime_error("it is written for AVX-512, which this processor has not");
#endif
}

}  // namespace bench
