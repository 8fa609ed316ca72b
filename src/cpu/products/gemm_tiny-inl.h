// Products of 1 to 5 steps, many at once: a vector holds results of several, and the operands of its lanes are picked
// by permutations from the one to three vectors of memory in which they lie. So how a product lies (transposed, a part
// of a larger one) costs nothing, and a batch no instruction by the product. Included by gemm_kernels-inl.h.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
#if HWY_TARGET <= HWY_AVX3

inline constexpr bool kTinyByStep = false;

HWY_INLINE __m512i TinyIndices(float, const std::int32_t* at) { return _mm512_loadu_si512(at); }
HWY_INLINE __m512i TinyIndices(double, const std::int32_t* at) {
  return _mm512_cvtepi32_epi64(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
}
HWY_INLINE __m512 Pick(__m512i at, __m512 from) { return _mm512_permutexvar_ps(at, from); }
HWY_INLINE __m512d Pick(__m512i at, __m512d from) { return _mm512_permutexvar_pd(at, from); }
HWY_INLINE __m512 Pick(__m512i at, __m512 low, __m512 high) { return _mm512_permutex2var_ps(low, at, high); }
HWY_INLINE __m512d Pick(__m512i at, __m512d low, __m512d high) { return _mm512_permutex2var_pd(low, at, high); }

HWY_INLINE __m512 Pick(__m512 others, __mmask16 these, __m512i at, __m512 from) {
  return _mm512_mask_permutexvar_ps(others, these, at, from);
}
HWY_INLINE __m512d Pick(__m512d others, __mmask8 these, __m512i at, __m512d from) {
  return _mm512_mask_permutexvar_pd(others, these, at, from);
}
HWY_INLINE __mmask16 InThird(float, __m512i at) { return _mm512_cmpge_epi32_mask(at, _mm512_set1_epi32(32)); }
HWY_INLINE __mmask8 InThird(double, __m512i at) { return _mm512_cmpge_epi64_mask(at, _mm512_set1_epi64(16)); }
HWY_INLINE __m512 Repeat(const float* quad) { return _mm512_broadcast_f32x4(_mm_loadu_ps(quad)); }
HWY_INLINE __m512d Repeat(const double* quad) { return _mm512_broadcast_f64x4(_mm256_loadu_pd(quad)); }

/// One operand of a vector of results, which lies in kVectors vectors for each group, or is the same for all.
template <class T, int kDepth, int kVectors> struct TinyOperand {
  using D = hn::ScalableTag<T>;
  TinyOperand(const TinySide& side, const void* data, std::int64_t step)
      : from(static_cast<const T*>(data) + side.from), group(step) {
    TERN_GEMM_UNROLL for (int p = 0; p < kDepth; ++p) {
      at[p] = TinyIndices(T(), side.at[p]);
      third[p] = InThird(T(), at[p]);
    }
  }
  HWY_INLINE void Load(std::int64_t i) {
    low = hn::LoadU(D(), from + i * group);
    if constexpr (kVectors >= 2) high = hn::LoadU(D(), from + i * group + hn::Lanes(D()));
    if constexpr (kVectors == 3) last = hn::LoadU(D(), from + i * group + 2 * hn::Lanes(D()));
  }
  HWY_INLINE hn::Vec<D> operator[](int p) const {
    if constexpr (kVectors == 1) {
      return hn::Vec<D>{Pick(at[p], low.raw)};
    } else {
      const auto two = Pick(at[p], low.raw, high.raw);
      if constexpr (kVectors == 2) return hn::Vec<D>{two};
      else return hn::Vec<D>{Pick(two, third[p], at[p], last.raw)};
    }
  }
  const T* from;
  std::int64_t group;
  __m512i at[kDepth];
  decltype(InThird(T(), __m512i())) third[kDepth];
  hn::Vec<D> low, high, last;
};
#else

/// A permutation takes lanes of one vector alone here, and registers are few: each step loads its own vectors, from
/// which it picks by the same list as the others.
inline constexpr bool kTinyByStep = true;

HWY_INLINE __m256i TinyIndices(float, const std::int32_t* at) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}
/// Of both halves of a double.
HWY_INLINE __m256i TinyIndices(double, const std::int32_t* at) {
  const __m256i twice = _mm256_cvtepi32_epi64(_mm_slli_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)), 1));
  const __m256i both = _mm256_or_si256(twice, _mm256_slli_epi64(twice, 32));
  return _mm256_add_epi32(both, _mm256_set1_epi64x(std::int64_t{1} << 32));
}
HWY_INLINE __m256 Pick(__m256i at, __m256 from) { return _mm256_permutevar8x32_ps(from, at); }
HWY_INLINE __m256d Pick(__m256i at, __m256d from) { return _mm256_castps_pd(Pick(at, _mm256_castpd_ps(from))); }
HWY_INLINE __m256 Choose(__m256i these, __m256 yes, __m256 no) {
  return _mm256_blendv_ps(no, yes, _mm256_castsi256_ps(these));
}
HWY_INLINE __m256d Choose(__m256i these, __m256d yes, __m256d no) {
  return _mm256_blendv_pd(no, yes, _mm256_castsi256_pd(these));
}
HWY_INLINE __m256 Repeat(const float* quad) { return _mm256_broadcast_ps(reinterpret_cast<const __m128*>(quad)); }
HWY_INLINE __m256d Repeat(const double* quad) { return _mm256_loadu_pd(quad); }

/// One operand of a vector of results, which lies in kVectors vectors for each group and step, or is the same for all.
template <class T, int kDepth, int kVectors> struct TinyOperand {
  using D = hn::ScalableTag<T>;
  TinyOperand(const TinySide& side, const void* data, std::int64_t step)
      : from(static_cast<const T*>(data) + side.from), group(step), at(TinyIndices(T(), side.at[0])) {
    TERN_GEMM_UNROLL for (int p = 0; p < kDepth; ++p) start[p] = side.start[p];
    second = _mm256_cmpgt_epi32(at, _mm256_set1_epi32(7));  // the vector of 32 bytes that a lane's element is in
    third = _mm256_cmpgt_epi32(at, _mm256_set1_epi32(15));
    TERN_GEMM_UNROLL for (int i = 0; i < 4; ++i) lane[i] = side.at[0][i];
  }
  HWY_INLINE void Load(std::int64_t i) { here = from + i * group; }
  HWY_INLINE hn::Vec<D> operator[](int p) const {
    const T* const first = here + start[p];
    if constexpr (kVectors == 3 && sizeof(T) == 8)  // four loads beside three, as many permutations and two choices
      return hn::Vec<D>{_mm256_set_pd(first[lane[3]], first[lane[2]], first[lane[1]], first[lane[0]])};
    auto picked = Pick(at, hn::LoadU(D(), first).raw);
    if constexpr (kVectors >= 2) picked = Choose(second, Pick(at, hn::LoadU(D(), first + hn::Lanes(D())).raw), picked);
    if constexpr (kVectors == 3)
      picked = Choose(third, Pick(at, hn::LoadU(D(), first + 2 * hn::Lanes(D())).raw), picked);
    return hn::Vec<D>{picked};
  }
  const T *from, *here;
  std::int64_t group, start[kDepth], lane[4];
  __m256i at, second, third;
};
#endif

template <class T, int kDepth> struct TinyOperand<T, kDepth, 0> {
  using D = hn::ScalableTag<T>;
  TinyOperand(const TinySide& side, const void* data, std::int64_t) {
    const T* const from = static_cast<const T*>(data) + side.from;
    HWY_ALIGN T lanes[kTinyLanes];
    for (int p = 0; p < kDepth; ++p) {
      for (std::size_t i = 0; i < hn::Lanes(D()); ++i) lanes[i] = from[side.start[p] + side.at[p][i]];
      values[p] = hn::Load(D(), lanes);
    }
  }
  HWY_INLINE void Load(std::int64_t) {}
  HWY_INLINE hn::Vec<D> operator[](int p) const { return values[p]; }
  hn::Vec<D> values[kDepth];
};

template <class T, int kDepth> struct TinyOperand<T, kDepth, kTinyQuads> {
  TinyOperand(const TinySide& side, const void* data, std::int64_t step)
      : from(static_cast<const T*>(data) + side.from), group(step) {
    TERN_GEMM_UNROLL for (int p = 0; p < kDepth; ++p) at[p] = side.start[p] + side.at[p][0];
  }
  HWY_INLINE void Load(std::int64_t i) { here = from + i * group; }
  HWY_INLINE hn::Vec<hn::ScalableTag<T>> operator[](int p) const {
    return hn::Vec<hn::ScalableTag<T>>{Repeat(here + at[p])};
  }
  const T *from, *here;
  std::int64_t group, at[kDepth];
};

/// Groups of a run, begin … end. What is stored of them up to `whole` behind a vector's lanes is within the run, and
/// later groups overwrite it; of the others nothing is: another thread's results may lie there, or nobody's memory.
struct TinyRange {
  std::int64_t begin, whole, end;
};
/// One vector of results of each of the groups.
template <class T, int kDepth, int kA, int kB>
void TinyResults(const GemmTiny& call, const TinyUnit& unit, const TinyRange& groups, T* c) {
  const hn::ScalableTag<T> d;
  TinyOperand<T, kDepth, kA> a(unit.a, call.a, call.a_group);
  TinyOperand<T, kDepth, kB> b(unit.b, call.b, call.b_group);
  const auto result = [&](std::int64_t i) HWY_ATTR {
    a.Load(i), b.Load(i);
    auto sum = hn::Zero(d);
    TERN_GEMM_UNROLL for (int p = 0; p < kDepth; ++p) sum = MultiplyAdd<T>(a[p], b[p], sum);
    return sum;
  };
  for (std::int64_t i = groups.begin; i < groups.whole; ++i) hn::StoreU(result(i), d, c + i * call.c_group);
  for (std::int64_t i = groups.whole; i < groups.end; ++i)
    StoreColumns(d, result(i), c + i * call.c_group, unit.lanes);
}
template <class T, int kDepth, int kA>
void TinyOfA(const GemmTiny& call, const TinyUnit& unit, const TinyRange& groups, T* c) {
  switch (unit.b.vectors) {
    case 0: return TinyResults<T, kDepth, kA, 0>(call, unit, groups, c);
    case 1: return TinyResults<T, kDepth, kA, 1>(call, unit, groups, c);
    case 2: return TinyResults<T, kDepth, kA, 2>(call, unit, groups, c);
    case 3: return TinyResults<T, kDepth, kA, 3>(call, unit, groups, c);
    default: return TinyResults<T, kDepth, kA, kTinyQuads>(call, unit, groups, c);
  }
}
template <class T, int kDepth>
void TinyOfDepth(const GemmTiny& call, const TinyUnit& unit, const TinyRange& groups, T* c) {
  switch (unit.a.vectors) {
    case 0: return TinyOfA<T, kDepth, 0>(call, unit, groups, c);
    case 1: return TinyOfA<T, kDepth, 1>(call, unit, groups, c);
    case 2: return TinyOfA<T, kDepth, 2>(call, unit, groups, c);
    default: return TinyOfA<T, kDepth, 3>(call, unit, groups, c);
  }
}
/// So many groups at a time that their operands stay in L1 from one vector of results to the next. The last vector
/// comes first: it alone is not full.
template <class T> void Tiny(const GemmTiny& call) {
  constexpr std::int64_t kGroupsAtOnce = 64;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  for (std::int64_t begin = 0; begin < call.groups; begin += kGroupsAtOnce) {
    const std::int64_t end = call.groups - begin < kGroupsAtOnce ? call.groups : begin + kGroupsAtOnce;
    for (std::int64_t u = call.units - 1; u >= 0; --u) {
      T* const c = static_cast<T*>(call.c) + u * lanes;
      const std::int64_t room = call.groups * call.c_group - (u + 1) * lanes;  // behind the first group's vector
      const std::int64_t whole = room < 0 ? 0 : room / call.c_group + 1;
      const TinyRange groups{begin, whole < begin ? begin : whole < end ? whole : end, end};
      switch (call.k) {
        case 1: TinyOfDepth<T, 1>(call, call.unit[u], groups, c); break;
        case 2: TinyOfDepth<T, 2>(call, call.unit[u], groups, c); break;
        case 3: TinyOfDepth<T, 3>(call, call.unit[u], groups, c); break;
        case 4: TinyOfDepth<T, 4>(call, call.unit[u], groups, c); break;
        default: TinyOfDepth<T, 5>(call, call.unit[u], groups, c); break;
      }
    }
  }
}
template <class T> inline constexpr auto kTiny = &Tiny<T>;
#else
inline constexpr bool kTinyByStep = false;
template <class T> inline constexpr void (*kTiny)(const GemmTiny&) = nullptr;
#endif
