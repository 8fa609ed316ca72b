// As much of std::mdspan (C++23) as tern asks for, where the standard library has none.
#pragma once
#include <array>
#include <cstddef>

#if __has_include(<mdspan>)
#include <mdspan>
#endif

namespace tern::test::md {
#ifdef __cpp_lib_mdspan
using std::dextents, std::dynamic_extent, std::extents, std::layout_left, std::layout_right, std::layout_stride,
    std::mdspan;
#else
inline constexpr std::size_t dynamic_extent = static_cast<std::size_t>(-1);
template <class Index, std::size_t... sizes> class extents {
 public:
  using index_type = Index;
  using rank_type = std::size_t;
  constexpr extents() = default;
  template <class... I>
    requires(sizeof...(I) == sizeof...(sizes) && sizeof...(I) > 0)
  constexpr explicit extents(I... size) : size_{static_cast<Index>(size)...} {}
  static constexpr std::size_t rank() { return sizeof...(sizes); }
  static constexpr std::size_t static_extent(std::size_t i) {
    return std::array<std::size_t, rank() + 1>{sizes..., 1}[i];
  }
  constexpr Index extent(std::size_t i) const { return size_[i]; }

 private:
  std::array<Index, sizeof...(sizes)> size_{};
};
template <class Index, class S> struct Dynamic;
template <class Index, std::size_t... i> struct Dynamic<Index, std::index_sequence<i...> > {
  using type = extents<Index, (static_cast<void>(i), dynamic_extent)...>;
};
template <class Index, std::size_t rank>
using dextents = typename Dynamic<Index, std::make_index_sequence<rank> >::type;

template <bool right> struct Layout {
  template <class E> class mapping {
   public:
    using extents_type = E;
    constexpr mapping() = default;
    constexpr mapping(const E& e) : extents_(e) {}
    constexpr const E& extents() const { return extents_; }
    constexpr typename E::index_type stride(std::size_t axis) const {
      typename E::index_type s = 1;
      for (std::size_t i = 0; i < E::rank(); ++i)
        if (right ? i > axis : i < axis) s *= extents_.extent(i);
      return s;
    }

   private:
    E extents_{};
  };
};
using layout_right = Layout<true>;
using layout_left = Layout<false>;
struct layout_stride {
  template <class E> class mapping {
   public:
    using extents_type = E;
    using Strides = std::array<typename E::index_type, E::rank()>;
    constexpr mapping() = default;
    constexpr mapping(const E& e, const Strides& s) : extents_(e), strides_(s) {}
    constexpr const E& extents() const { return extents_; }
    constexpr Strides strides() const { return strides_; }
    constexpr typename E::index_type stride(std::size_t axis) const { return strides_[axis]; }

   private:
    E extents_{};
    Strides strides_{};
  };
};

template <class T, class E, class L = layout_right> class mdspan {
 public:
  using element_type = T;
  using extents_type = E;
  using layout_type = L;
  using mapping_type = typename L::template mapping<E>;
  mdspan(T* first, const mapping_type& mapping) : first_(first), mapping_(mapping) {}
  static constexpr std::size_t rank() { return E::rank(); }
  T* data_handle() const { return first_; }
  const mapping_type& mapping() const { return mapping_; }
  const E& extents() const { return mapping_.extents(); }

 private:
  T* first_;
  mapping_type mapping_;
};
#endif

/// m[i, j, …], which C++20 cannot write.
template <class M, class... I> auto& at(const M& m, I... indices) {
  std::size_t axis = 0;
  std::ptrdiff_t place = 0;
  ((place += static_cast<std::ptrdiff_t>(indices) * static_cast<std::ptrdiff_t>(m.mapping().stride(axis++))), ...);
  return m.data_handle()[place];
}
}  // namespace tern::test::md
