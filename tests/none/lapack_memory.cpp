// What a LAPACK reads: not beyond what tern gives it. The pages after a matrix are closed.
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <vector>

#include "cpu/lapack/factorisations.hpp"
#include "primitives/linalg/cpu/cpu.hpp"

#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>

namespace tern {
namespace {

using namespace detail_cpu;

/// Memory for elements that ends where a page ends, before one that may not be read.
template <class T> class AtPagesEnd {
 public:
  explicit AtPagesEnd(std::int64_t count) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE)),
               bytes = static_cast<std::size_t>(count) * sizeof(T);
    const std::size_t whole = (bytes + page - 1) / page * page;
    size_ = whole + page;
    memory_ = static_cast<std::byte*>(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (memory_ == MAP_FAILED || mprotect(memory_ + whole, page, PROT_NONE) != 0) throw std::bad_alloc();
    first_ = reinterpret_cast<T*>(memory_ + whole - bytes);
  }
  ~AtPagesEnd() { munmap(memory_, size_); }
  AtPagesEnd(const AtPagesEnd&) = delete;
  AtPagesEnd& operator=(const AtPagesEnd&) = delete;
  T* data() const { return first_; }

 private:
  std::byte* memory_ = nullptr;
  std::size_t size_ = 0;
  T* first_ = nullptr;
};

/// A matrix of m×n with what may be read after it; positive definite where it is square.
template <class T> class Guarded {
 public:
  Guarded(int m, int n) : memory_(std::int64_t{m} * n + read_beyond<T>(m)) {
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i)
        memory_.data()[std::int64_t{j} * m + i] = T(real_of<T>(i == j ? 2 * n : 1.0 / (1 + i + j)));
  }
  T* data() const { return memory_.data(); }

 private:
  AtPagesEnd<T> memory_;
};

template <class T> class LapackMemory : public testing::Test {};
using LapackTypes = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(LapackMemory, LapackTypes);

TYPED_TEST(LapackMemory, EveryRoutineKeepsToIt) {
  using T = TypeParam;
  const Factorisations<T>* const table = lapack_factorisations<T>();
  if (!table) GTEST_SKIP() << "no LAPACK";
  for (const auto& [m, n] : {std::pair{3, 3}, {8, 8}, {33, 33}, {21, 40}, {40, 21}, {130, 130}}) {
    const int least = std::min(m, n);
    std::vector<int> pivots(static_cast<std::size_t>(least));
    std::vector<real_of<T>> values(static_cast<std::size_t>(least));
    EXPECT_EQ(table->lu(m, n, Guarded<T>(m, n).data(), m, pivots.data()), 0);
    EXPECT_EQ(table->qr(m, n, least, Guarded<T>(m, n).data(), m, Guarded<T>(m, least).data(), m), 0);
    for (const char job : {'N', 'S', 'A'}) {
      const Guarded<T> a(m, n), u(m, m), vh(n, n);
      EXPECT_EQ(table->svd(job, m, n, a.data(), m, values.data(), u.data(), m, vh.data(), n), 0);
    }
    if (m != n) continue;
    for (const bool upper : {false, true}) {
      const Guarded<T> a(n, n), b(n, 3), c(n, 1);
      EXPECT_EQ(table->cholesky(upper, n, a.data(), n), 0);
      // What is solved with is read where it lies: nothing may be read after it.
      AtPagesEnd<T> exact(std::int64_t{n} * n);
      std::copy_n(a.data(), std::int64_t{n} * n, exact.data());
      for (const char op : {'N', 'T', 'C'}) {
        table->triangular(upper, op, false, n, 3, exact.data(), n, b.data(), n);
        table->triangular(upper, op, true, n, 1, exact.data(), n, c.data(), n);
      }
      EXPECT_EQ(table->eigh(upper, n, Guarded<T>(n, n).data(), n, values.data()), 0);
      using Z = std::complex<real_of<T>>;
      std::vector<Z> complex_values(static_cast<std::size_t>(n));
      const Guarded<Z> vectors(n, n);
      EXPECT_EQ(table->eig(n, Guarded<T>(n, n).data(), n, complex_values.data(), upper ? vectors.data() : nullptr, n),
                0);
    }
  }
}

/// A result's own memory ends with it.
TEST(ByColumns, ComplexMatricesHaveMemoryThatGoesOn) {
  AtPagesEnd<std::complex<double>> own(9);
  const Matrix<std::complex<double>> to{own.data(), 3, 3, 1, 3};
  const ByColumns<std::complex<double>> x(to, 3, 3);
  EXPECT_NE(x.data(), own.data());
  AtPagesEnd<double> real(9);
  EXPECT_EQ(ByColumns<double>(Matrix<double>{real.data(), 3, 3, 1, 3}, 3, 3).data(), real.data());
}

}  // namespace
}  // namespace tern
#endif
