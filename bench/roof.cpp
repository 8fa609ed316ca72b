// Compiled for this very processor (bench/CMakeLists.txt).
#include "roof.hpp"

#ifdef __x86_64__
#include <immintrin.h>
#endif
#ifdef __AMX_BF16__
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <barrier>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <thread>
#include <vector>

namespace bench {
namespace {

#if defined(__AVX512F__)
constexpr int kVector = 64;
#elif defined(__AVX__)
constexpr int kVector = 32;
#else
constexpr int kVector = 16;
#endif
typedef float Floats __attribute__((vector_size(kVector)));
typedef double Doubles __attribute__((vector_size(kVector)));
constexpr int kChains = 12;  // independent sums: more than latency times units, no more than registers
constexpr long kSteps = 4'000'000;

struct Run {
  int threads;
  Clock clock;
};

/// Calls part(thread) on all threads at once; work per second of the best of `tries`.
template <class F> double best_rate(Run run, int tries, double work, const F& part) {
  double best = 0, start = 0;
  for (int t = 0; t < tries; ++t) {
    std::barrier together(run.threads, [&]() noexcept { start = now(run.clock); });
    std::vector<std::jthread> others;
    const auto body = [&](int thread) {
      together.arrive_and_wait();
      part(thread);
    };
    for (int i = 1; i < run.threads; ++i) others.emplace_back(body, i);
    body(0);
    others.clear();  // joins
    best = std::max(best, work / (now(run.clock) - start));
  }
  return best;
}

template <class Vector> void multiply_add() {
  Vector sums[kChains] = {}, factor = Vector{} + 0.999f, addend = Vector{} + 0.001f;
  asm volatile("" : "+m"(factor), "+m"(addend));  // no constants any more
  for (Vector& sum : sums) asm volatile("" : "+m"(sum));  // nor one sum in place of all
  for (long step = 0; step < kSteps; ++step)
    for (int i = 0; i < kChains; ++i) sums[i] = sums[i] * factor + addend;
  for (int i = 0; i < kChains; ++i) asm volatile("" ::"m"(sums[i]));
}

template <class Vector> double multiply_add_rate(Run run) {
  const double lanes = sizeof(Vector) / sizeof(Vector{}[0]);
  return best_rate(run, 7, 2.0 * lanes * kChains * kSteps * run.threads, [](int) { multiply_add<Vector>(); });
}

#if defined(__AMX_BF16__)
bool allow_tiles() { return syscall(SYS_arch_prctl, 0x1023 /* ARCH_REQ_XCOMP_PERM */, 18 /* tile data */) == 0; }

void tile_products() {
  struct alignas(64) {
    std::uint8_t palette = 1, start = 0, reserved[14] = {};
    std::uint16_t bytes[16];
    std::uint8_t rows[16];
  } shape{};
  for (int i = 0; i < 8; ++i) shape.bytes[i] = 64, shape.rows[i] = 16;
  asm volatile("" ::"m"(shape));  // GCC 12 believes that the next line reads eight bytes of it
  _tile_loadconfig(&shape);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
  _tile_zero(6);
  _tile_zero(7);
  for (long step = 0; step < kSteps / 16; ++step) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_release();
}
#endif

#if defined(__AVX512BF16__)
void dot_products() {
  __m512 sums[kChains] = {};
  __m512bh a = (__m512bh)_mm512_set1_epi16(0x3c00), b = a;
  asm volatile("" : "+v"(a), "+v"(b));
  for (__m512& sum : sums) asm volatile("" : "+m"(sum));  // or the compiler makes one of them: twice the rate
  for (long step = 0; step < kSteps; ++step)
    for (int i = 0; i < kChains; ++i) sums[i] = _mm512_dpbf16_ps(sums[i], a, b);
  for (int i = 0; i < kChains; ++i) asm volatile("" ::"v"(sums[i]));
}
#endif

/// Of the instructions this processor has, the fastest; those of f32 where it has none.
double bf16_rate([[maybe_unused]] Run run, double f32_rate) {
  double best = f32_rate;
#if defined(__AVX512BF16__)
  best = std::max(best, best_rate(run, 5, 64.0 * kChains * kSteps * run.threads, [](int) { dot_products(); }));
#endif
#if defined(__AMX_BF16__)
  if (allow_tiles())
    best = std::max(
        best, best_rate(run, 5, 4 * 2.0 * 16 * 16 * 32 * (kSteps / 16) * run.threads, [](int) { tile_products(); }));
#endif
  return best;
}

/// x = y + s·z with stores that pass by the caches where the processor has them.
void triad(float* x, const float* y, const float* z, std::int64_t count) {
  constexpr std::int64_t lanes = kVector / 4;
  for (std::int64_t i = 0; i < count; i += lanes) {
    const Floats value = *reinterpret_cast<const Floats*>(y + i) + 3.f * *reinterpret_cast<const Floats*>(z + i);
#if defined(__AVX512F__)
    _mm512_stream_ps(x + i, value);
#elif defined(__AVX__)
    _mm256_stream_ps(x + i, value);
#elif defined(__SSE__)
    _mm_stream_ps(x + i, value);
#else
    *reinterpret_cast<Floats*>(x + i) = value;
#endif
  }
}

/// The operands of a triad, in memory that has been written.
class Triad {
 public:
  Triad(std::int64_t count, int threads) : share_(count / threads / 16 * 16), threads_(threads) {
    for (auto& array : arrays_) {
      array.reset(
          static_cast<float*>(std::aligned_alloc(64, static_cast<std::size_t>(share_ * threads) * sizeof(float))));
      if (!array) throw std::bad_alloc();
      std::fill_n(array.get(), share_ * threads, 1.f);
    }
  }
  double bytes() const { return 12.0 * static_cast<double>(share_ * threads_); }
  /// Of the best of `tries`.
  double rate(Clock clock, int tries) const {
    return best_rate({threads_, clock}, tries, bytes(), [&](int thread) {
      const std::int64_t begin = share_ * thread;
      triad(arrays_[0].get() + begin, arrays_[1].get() + begin, arrays_[2].get() + begin, share_);
    });
  }

 private:
  std::int64_t share_;
  int threads_;
  std::unique_ptr<float, decltype(&std::free)> arrays_[3] = {
      {nullptr, std::free}, {nullptr, std::free}, {nullptr, std::free}};
};

}  // namespace

std::map<std::string, double> measure_roofs(int threads, Clock clock) {
  const Run run{threads, clock};
  std::map<std::string, double> roofs;
  roofs["f32"] = multiply_add_rate<Floats>(run);
  roofs["f64"] = multiply_add_rate<Doubles>(run);
  roofs["bf16"] = bf16_rate(run, roofs["f32"]);
  roofs["triad"] = Triad(32 << 20, threads).rate(clock, 9);  // 128 MiB an array
  return roofs;
}

Contender triad_contender(double bytes, int threads, Clock clock) {
  const auto whole = std::make_shared<Triad>(static_cast<std::int64_t>(bytes / 12), threads);
  Contender triad{.library = "triad", .run = {}, .result = {}};
  triad.part = true;
  triad.measure = [=](double slice) {
    double seconds = 0;
    int calls = 0;
    for (; calls == 0 || seconds < slice; ++calls) seconds += whole->bytes() / whole->rate(clock, 1);
    return seconds / calls * bytes / whole->bytes();
  };
  return triad;
}

}  // namespace bench
