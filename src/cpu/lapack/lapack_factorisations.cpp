// The routines of a LAPACK as a table. Fortran takes everything by address; lengths of its strings, which are one
// letter each, follow the arguments.
#include <algorithm>
#include <type_traits>
#include <vector>

#include "cpu/lapack/factorisations.hpp"
#include "cpu/lapack/lapack.hpp"

namespace tern::detail_cpu {
namespace {

template <class T> inline constexpr bool is_complex_v = !std::is_same_v<T, real_of<T>>;
template <class T> constexpr char letter() {
  if constexpr (std::is_same_v<T, float>) return 's';
  else if constexpr (std::is_same_v<T, double>) return 'd';
  else if constexpr (std::is_same_v<T, std::complex<float>>) return 'c';
  else return 'z';
}

template <class T> struct Routines {
  using R = real_of<T>;
  using Size = std::size_t;  // of a string
  void (*potrf)(const char*, const int*, T*, const int*, int*, Size);
  void (*getrf)(const int*, const int*, T*, const int*, int*, int*);
  void (*trsm)(const char*, const char*, const char*, const char*, const int*, const int*, const T*, const T*,
               const int*, T*, const int*, Size, Size, Size, Size);
  void (*geqrf)(const int*, const int*, T*, const int*, T*, T*, const int*, int*);
  void (*orgqr)(const int*, const int*, const int*, T*, const int*, const T*, T*, const int*, int*);
  void *syevd, *gesdd, *geev;  // of other arguments where they are complex

  Routines() {
    const auto find = [](auto& routine, const char* name) {
      routine = reinterpret_cast<std::remove_reference_t<decltype(routine)>>(Lapack::get().routine(letter<T>(), name));
    };
    find(potrf, "potrf"), find(getrf, "getrf"), find(trsm, "trsm"), find(geqrf, "geqrf");
    find(orgqr, is_complex_v<T> ? "ungqr" : "orgqr"), find(syevd, is_complex_v<T> ? "heevd" : "syevd");
    find(gesdd, "gesdd"), find(geev, "geev");
  }
  bool whole() const { return potrf && getrf && trsm && geqrf && orgqr && syevd && gesdd && geev; }
};
template <class T> const Routines<T>& routines() {
  static const Routines<T>* const found = new Routines<T>;
  return *found;
}

/// A size of workspace as LAPACK gives it, in a number of T. f32 may be rounded down.
template <class N> int size_in(N x) {
  return static_cast<int>(std::real(x) * (sizeof(real_of<N>) == 4 ? 1.0000002 : 1.0)) + 1;
}
/// Memory for `size` elements, in which LAPACK keeps matrices of up to `rows` rows.
template <class T> std::vector<T> workspace(int size, int rows) {
  return std::vector<T>(static_cast<std::size_t>(size + read_beyond<T>(rows)));
}
/// Calls run(workspace, its size) for the size, and again.
template <class T, class F> int with_workspace(int rows, F run) {
  T best{};
  if (const int info = run(&best, -1)) return info;
  const int size = size_in(best);
  std::vector<T> work = workspace<T>(size, rows);
  return run(work.data(), size);
}

template <class T> int cholesky(bool upper, int n, T* a, int ld) {
  int info = 0;
  routines<T>().potrf(upper ? "U" : "L", &n, a, &ld, &info, 1);
  return info;
}
template <class T> int lu(int m, int n, T* a, int ld, int* pivots) {
  int info = 0;
  routines<T>().getrf(&m, &n, a, &ld, pivots, &info);
  for (int i = 0; i < std::min(m, n); ++i) --pivots[i];
  return info;
}
template <class T>
void triangular(bool upper, char op, bool unit, int n, int columns, const T* a, int ld, T* b, int ld_b) {
  const T one(1);
  routines<T>().trsm("L", upper ? "U" : "L", &op, unit ? "U" : "N", &n, &columns, &one, a, &ld, b, &ld_b, 1, 1, 1, 1);
}
template <class T> int qr(int m, int n, int columns, T* a, int ld, T* q, int ld_q) {
  const int rank = std::min(m, n);
  std::vector<T> tau(static_cast<std::size_t>(std::max(rank, 1)));
  int info = with_workspace<T>(m, [&](T* work, int size) {
    int result = 0;
    routines<T>().geqrf(&m, &n, a, &ld, tau.data(), work, &size, &result);
    return result;
  });
  for (int j = 0; j < std::min(rank, columns); ++j)
    std::copy(a + std::ptrdiff_t{1} * j * ld, a + std::ptrdiff_t{1} * j * ld + m, q + std::ptrdiff_t{1} * j * ld_q);
  for (int j = rank; j < columns; ++j) std::fill_n(q + std::ptrdiff_t{1} * j * ld_q, m, T(0));
  if (info) return info;
  return with_workspace<T>(m, [&](T* work, int size) {
    int result = 0;
    routines<T>().orgqr(&m, &columns, &rank, q, &ld_q, tau.data(), work, &size, &result);
    return result;
  });
}

template <class T> int eigh(bool vectors, int n, T* a, int ld, real_of<T>* values) {
  using R = real_of<T>;
  const char* const job = vectors ? "V" : "N";
  int info = 0, ask = -1, best_int = 0;
  T best{};
  if constexpr (is_complex_v<T>) {
    R best_real{};
    const auto run =
        reinterpret_cast<void (*)(const char*, const char*, const int*, T*, const int*, R*, T*, const int*, R*,
                                  const int*, int*, const int*, int*, std::size_t, std::size_t)>(routines<T>().syevd);
    run(job, "L", &n, a, &ld, values, &best, &ask, &best_real, &ask, &best_int, &ask, &info, 1, 1);
    if (info) return info;
    const int size = size_in(best), size_real = size_in(best_real);
    std::vector<T> work = workspace<T>(size, n);
    std::vector<R> work_real(static_cast<std::size_t>(size_real));
    std::vector<int> work_int(static_cast<std::size_t>(best_int));
    run(job, "L", &n, a, &ld, values, work.data(), &size, work_real.data(), &size_real, work_int.data(), &best_int,
        &info, 1, 1);
  } else {
    const auto run = reinterpret_cast<void (*)(const char*, const char*, const int*, T*, const int*, R*, T*, const int*,
                                               int*, const int*, int*, std::size_t, std::size_t)>(routines<T>().syevd);
    run(job, "L", &n, a, &ld, values, &best, &ask, &best_int, &ask, &info, 1, 1);
    if (info) return info;
    const int size = size_in(best);
    std::vector<T> work(static_cast<std::size_t>(size));
    std::vector<int> work_int(static_cast<std::size_t>(best_int));
    run(job, "L", &n, a, &ld, values, work.data(), &size, work_int.data(), &best_int, &info, 1, 1);
  }
  return info;
}

template <class T> int svd(char job, int m, int n, T* a, int ld, real_of<T>* s, T* u, int ld_u, T* vh, int ld_vh) {
  using R = real_of<T>;
  const auto least = static_cast<std::size_t>(std::min(m, n)), most = static_cast<std::size_t>(std::max(m, n));
  std::vector<int> work_int(8 * least);
  if constexpr (is_complex_v<T>) {
    std::vector<R> work_real(
        std::max<std::size_t>(5 * least * least + 7 * least, 2 * most * least + 2 * least * least + least));
    const auto run =
        reinterpret_cast<void (*)(const char*, const int*, const int*, T*, const int*, R*, T*, const int*, T*,
                                  const int*, T*, const int*, R*, int*, int*, std::size_t)>(routines<T>().gesdd);
    return with_workspace<T>(std::max(m, n), [&](T* work, int size) {
      int info = 0;
      run(&job, &m, &n, a, &ld, s, u, &ld_u, vh, &ld_vh, work, &size, work_real.data(), work_int.data(), &info, 1);
      return info;
    });
  } else {
    const auto run =
        reinterpret_cast<void (*)(const char*, const int*, const int*, T*, const int*, R*, T*, const int*, T*,
                                  const int*, T*, const int*, int*, int*, std::size_t)>(routines<T>().gesdd);
    return with_workspace<T>(std::max(m, n), [&](T* work, int size) {
      int info = 0;
      run(&job, &m, &n, a, &ld, s, u, &ld_u, vh, &ld_vh, work, &size, work_int.data(), &info, 1);
      return info;
    });
  }
}

/// A real matrix's vectors come as pairs of real ones: re and im of each conjugate pair.
template <class R>
void pair_up(int n, const std::vector<R>& im, const std::vector<R>& pairs, std::complex<R>* vectors, int ld) {
  const auto at = [&](int i, int j) {
    return pairs[static_cast<std::size_t>(j) * static_cast<std::size_t>(n) + static_cast<std::size_t>(i)];
  };
  for (int j = 0; j < n; ++j) {
    const bool pair = im[static_cast<std::size_t>(j)] != 0 && j + 1 < n;
    for (int i = 0; i < n; ++i) {
      std::complex<R>* const to = vectors + std::ptrdiff_t{1} * j * ld + i;
      if (pair) to[0] = {at(i, j), at(i, j + 1)}, to[ld] = {at(i, j), -at(i, j + 1)};
      else to[0] = at(i, j);
    }
    j += pair;
  }
}

template <class T>
int eig(int n, T* a, int ld, std::complex<real_of<T>>* values, std::complex<real_of<T>>* vectors, int ld_v) {
  using R = real_of<T>;
  const char* const job = vectors ? "V" : "N";
  const auto size_n = static_cast<std::size_t>(n);
  const int one = 1;
  if constexpr (is_complex_v<T>) {
    std::vector<R> work_real(2 * size_n);
    const auto run =
        reinterpret_cast<void (*)(const char*, const char*, const int*, T*, const int*, T*, T*, const int*, T*,
                                  const int*, T*, const int*, R*, int*, std::size_t, std::size_t)>(routines<T>().geev);
    return with_workspace<T>(n, [&](T* work, int size) {
      int info = 0;
      run("N", job, &n, a, &ld, values, nullptr, &one, vectors, vectors ? &ld_v : &one, work, &size, work_real.data(),
          &info, 1, 1);
      return info;
    });
  } else {
    std::vector<R> re(size_n), im(size_n), pairs(vectors ? size_n * size_n : 0);
    const auto run =
        reinterpret_cast<void (*)(const char*, const char*, const int*, T*, const int*, R*, R*, T*, const int*, T*,
                                  const int*, T*, const int*, int*, std::size_t, std::size_t)>(routines<T>().geev);
    const int info = with_workspace<T>(n, [&](T* work, int size) {
      int result = 0;
      run("N", job, &n, a, &ld, re.data(), im.data(), nullptr, &one, pairs.data(), vectors ? &n : &one, work, &size,
          &result, 1, 1);
      return result;
    });
    for (std::size_t i = 0; i < size_n; ++i) values[i] = {re[i], im[i]};
    if (vectors) pair_up(n, im, pairs, vectors, ld_v);
    return info;
  }
}

}  // namespace

template <class T> const Factorisations<T>* lapack_factorisations() {
  static const Factorisations<T>* const table = []() -> const Factorisations<T>* {
    if (!Lapack::get().found() || !routines<T>().whole()) return nullptr;
    return new Factorisations<T>{
        Lapack::get().name(), cholesky<T>, lu<T>, triangular<T>, qr<T>, eigh<T>, svd<T>, eig<T>};
  }();
  return table;
}
template const Factorisations<float>* lapack_factorisations();
template const Factorisations<double>* lapack_factorisations();
template const Factorisations<std::complex<float>>* lapack_factorisations();
template const Factorisations<std::complex<double>>* lapack_factorisations();

}  // namespace tern::detail_cpu
