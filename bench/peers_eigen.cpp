// Eigen 3, compiled for this very processor. It spreads products over threads itself; here OpenMP spreads the rest.
// (Longer than other files: one peer, whose answers share their types.)
#include <fmt/format.h>
#include <omp.h>

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>

#include "../examples/inverse_kinematics/solving.hpp"
#include "peers.hpp"

namespace bench {
namespace {

using Eigen::Dynamic;
using Eigen::Index;
template <class T> using Matrix = Eigen::Matrix<T, Dynamic, Dynamic, Eigen::RowMajor>;
template <class T> using MatrixMap = Eigen::Map<Matrix<T>>;
template <class T> using TransposedMap = Eigen::Map<Eigen::Matrix<T, Dynamic, Dynamic, Eigen::ColMajor>>;
template <class T> using RowMap = Eigen::Map<Eigen::Matrix<T, 1, Dynamic>>;
using Rows = MatrixMap<float>;
using Array = Eigen::Array<float, Dynamic, 1>;
using ArrayMap = Eigen::Map<Array>;

template <class T> void product(const MatmulCase& c, T* a, T* b, T* y) {
  MatrixMap<T> result(y, c.m, c.n);
  const auto times = [&](const auto& left) {
    if (c.transposed_b) result.noalias() = left * TransposedMap<T>(b, c.k, c.n);
    else result.noalias() = left * MatrixMap<T>(b, c.k, c.n);
  };
  if (c.m == 1 && !c.transposed_b) RowMap<T>(y, c.n).noalias() = RowMap<T>(a, c.k) * MatrixMap<T>(b, c.k, c.n);
  else if (c.transposed_a) times(TransposedMap<T>(a, c.m, c.k));
  else times(MatrixMap<T>(a, c.m, c.k));
}

template <class T> void products(const MatmulCase& c, const Inputs& in, const Buffer& y) {
  const auto one = [&](std::int64_t i) {
    product<T>(c, in[0].data<T>() + i * c.m * c.k, in[1].data<T>() + i * c.k * c.n, y.data<T>() + i * c.m * c.n);
  };
  if (c.batch == 1) return one(0);
#pragma omp parallel for
  for (std::int64_t i = 0; i < c.batch; ++i) one(i);
}

/// The logistic factor s of an activation x·s, and the slope of the exponent's argument.
struct Logistic {
  Array s, slope;
};
template <class X> Logistic logistic(Activation kind, const X& x) {
  if (kind == Activation::silu) return {1 / (1 + (-x).exp()), Array::Ones(x.size())};
  constexpr float root = 1.5957691216f, cubic = 0.044715f;  // 2·sqrt(2/π)
  return {1 / (1 + (x * (-root) * (1 + cubic * x.square())).exp()), root * (1 + 3 * cubic * x.square())};
}

/// Calls f(begin, length) for pieces that stay in the first cache, over all threads.
template <class F> void in_pieces(std::int64_t count, const F& f) {
  constexpr std::int64_t piece = 1024;
#pragma omp parallel for
  for (std::int64_t i = 0; i < (count + piece - 1) / piece; ++i) f(i * piece, std::min(piece, count - i * piece));
}

void gated_forward(const GatedCase& c, const Inputs& in, const Buffer& y) {
  in_pieces(c.rows * c.columns, [&](std::int64_t begin, std::int64_t length) {
    const ArrayMap a(in[0].data<float>() + begin, length), b(in[1].data<float>() + begin, length);
    ArrayMap to(y.data<float>() + begin, length);
    if (c.activation == Activation::silu) to = a * b / (1 + (-a).exp());
    else to = a * b * logistic(c.activation, a).s;
  });
}

void gated_backward(const GatedCase& c, const Inputs& in, const Buffer& d_a, const Buffer& d_b) {
  in_pieces(c.rows * c.columns, [&](std::int64_t begin, std::int64_t length) {
    const auto at = [&](const Buffer& buffer) { return ArrayMap(buffer.data<float>() + begin, length); };
    const ArrayMap a = at(in[0]), b = at(in[1]), grad = at(in[2]);
    const Logistic l = logistic(c.activation, a);
    at(d_a) = grad * b * l.s * (1 + a * (1 - l.s) * l.slope);
    at(d_b) = grad * a * l.s;
  });
}

void reduce_rows(const RowsCase& c, const Rows& x, Buffer y) {
  if (c.axis == 0) {
    const Index parts = omp_get_max_threads();
#pragma omp parallel for
    for (Index p = 0; p < parts; ++p) {
      const Index begin = c.columns * p / parts, count = c.columns * (p + 1) / parts - begin;
      RowMap<float>(y.data<float>(), c.columns).segment(begin, count) = x.middleCols(begin, count).colwise().sum();
    }
    return;
  }
  float total = 0;
#pragma omp parallel for reduction(+ : total)
  for (Index i = 0; i < c.rows; ++i) {
    const float sum = x.row(i).sum();
    if (c.axis == 1) y.data<float>()[i] = sum;
    else total += sum;
  }
  if (c.axis == -1) *y.data<float>() = total;
}

void softmax_rows(const RowsCase& c, const Rows& x, const Buffer& y) {
  Rows to(y.data<float>(), c.rows, c.columns);
#pragma omp parallel for
  for (Index i = 0; i < c.rows; ++i) {
    to.row(i) = (x.row(i).array() - x.row(i).maxCoeff()).exp();
    to.row(i) /= to.row(i).sum();
  }
}

/// A curve through its points, by Levenberg and Marquardt as tern has them (src/optim/least_squares.cpp), with
/// derivatives by hand.
Eigen::Vector3f fit(const Eigen::Array<float, FitsCase::points, 1>& y) {
  using Points = Eigen::Array<float, FitsCase::points, 1>;
  const Points t = Points::LinSpaced(0, FitsCase::apart * (FitsCase::points - 1));
  Eigen::Vector3f p(1, 1, 0);
  const auto curve = [&](const Eigen::Vector3f& q) -> Points { return q[0] * (-q[1] * t).exp() + q[2]; };
  Points r = curve(p) - y;
  float cost = r.square().sum(), damping = 1e-3f;
  for (int i = 0; i < 100; ++i) {
    Eigen::Matrix<float, FitsCase::points, 3> j;
    const Points power = (-p[1] * t).exp();
    j.col(0) = power, j.col(1) = -p[0] * t * power, j.col(2).setOnes();
    Eigen::Matrix3f h = j.transpose() * j;
    const Eigen::Vector3f g = j.transpose() * r.matrix();
    if (g.cwiseAbs().maxCoeff() <= FitsCase::gradient) break;
    const float least = h.diagonal().maxCoeff() * 1e-9f + 1e-30f;
    h.diagonal() += damping * h.diagonal().cwiseMax(least);
    const Eigen::Vector3f next = p - h.ldlt().solve(g);
    const Points next_r = curve(next) - y;
    const float next_cost = next_r.square().sum();
    damping = next_cost < cost ? std::max(damping * 0.2f, 1e-12f) : std::min(damping * 8, 1e12f);
    if (next_cost < cost) p = next, r = next_r, cost = next_cost;
  }
  return p;
}

/// The training step by hand, with no graph: what there is to gain over a library of tensors.
class Step {
 public:
  using S = StepCase;
  explicit Step(const Inputs& in) : x_(Rows(in[0].data<float>(), S::batch, S::pixels)), labels_(in[7]) {
    const Index rows[] = {S::pixels, 1, S::pixels, 1, S::hidden, 1},
                columns[] = {S::hidden, S::hidden, S::hidden, S::hidden, S::classes, S::classes};
    for (std::size_t i = 0; i < 6; ++i) {
      p_.emplace_back(Rows(in[i + 1].data<float>(), rows[i], columns[i]));
      first_.emplace_back(Matrix<float>::Zero(rows[i], columns[i]));
      second_.emplace_back(first_.back());
      g_.emplace_back(first_.back());
    }
  }

  float step() {
    gate_.noalias() = x_ * p_[0];
    gate_.rowwise() += p_[1].row(0);
    up_.noalias() = x_ * p_[2];
    up_.rowwise() += p_[3].row(0);
    s_ = 1 / (1 + (-gate_.array()).exp());
    hidden_ = gate_.array() * s_.array() * up_.array();
    d_.noalias() = hidden_ * p_[4];
    d_.rowwise() += p_[5].row(0);
    const float loss = cross_entropy();
    g_[4].noalias() = hidden_.transpose() * d_;
    g_[5] = d_.colwise().sum();
    d_hidden_.noalias() = d_ * p_[4].transpose();
    d_up_ = d_hidden_.array() * gate_.array() * s_.array();
    d_hidden_.array() *= up_.array() * s_.array() * (1 + gate_.array() * (1 - s_.array()));
    g_[0].noalias() = x_.transpose() * d_hidden_;
    g_[1] = d_hidden_.colwise().sum();
    g_[2].noalias() = x_.transpose() * d_up_;
    g_[3] = d_up_.colwise().sum();
    adamw();
    return loss;
  }

 private:
  float cross_entropy() {
    float loss = 0;
    const std::int32_t* labels = labels_.data<std::int32_t>();
    for (Index i = 0; i < S::batch; ++i) {
      auto row = d_.row(i).array();
      row -= row.maxCoeff();
      const float label = row(labels[i]);
      row = row.exp();
      const float sum = row.sum();
      loss += std::log(sum) - label;
      row *= 1 / (sum * S::batch);
      row(labels[i]) -= 1.f / S::batch;
    }
    return loss / S::batch;
  }

  void adamw() {
    const tern::optim::AdamWOptions o;
    const auto b1 = static_cast<float>(o.beta1), b2 = static_cast<float>(o.beta2),
               rate = static_cast<float>(o.learning_rate);
    const auto decay = static_cast<float>(o.weight_decay), epsilon = static_cast<float>(o.epsilon);
    const float c1 = 1 - std::pow(b1, static_cast<float>(++steps_)), c2 = 1 - std::pow(b2, static_cast<float>(steps_));
    for (std::size_t i = 0; i < 6; ++i) {
      first_[i] = b1 * first_[i] + (1 - b1) * g_[i];
      second_[i].array() = b2 * second_[i].array() + (1 - b2) * g_[i].array().square();
      p_[i].array() -=
          rate * (first_[i].array() / c1 / ((second_[i].array() / c2).sqrt() + epsilon) + decay * p_[i].array());
    }
  }

  Matrix<float> x_, gate_, up_, s_, hidden_, d_, d_hidden_, d_up_;
  Buffer labels_;
  std::vector<Matrix<float>> p_, first_, second_, g_;
  int steps_ = 0;
};

/// arm::posed and arm::step, for one arm.
struct Arm {
  using Angles = Eigen::Matrix<float, arm::kJoints, 1>;
  using Jacobian = Eigen::Matrix<float, 3, arm::kJoints>;
  explicit Arm(const Angles& angles) {
    Eigen::Vector3f frame[3] = {Eigen::Vector3f::UnitX(), Eigen::Vector3f::UnitY(), Eigen::Vector3f::UnitZ()};
    hand.setZero();
    for (int i = 0; i < arm::kJoints; ++i) {
      axes.col(i) = frame[arm::kAxes[i]], places.col(i) = hand;
      const float c = std::cos(angles[i]), s = std::sin(angles[i]);
      Eigen::Vector3f &u = frame[(arm::kAxes[i] + 1) % 3], &v = frame[(arm::kAxes[i] + 2) % 3];
      const Eigen::Vector3f turned = u * c + v * s;
      v = v * c - u * s, u = turned;
      hand += frame[i == 0 ? 2 : 0] * static_cast<float>(arm::kLinks[i]);
    }
  }
  Jacobian jacobian() const {
    Jacobian j;
    for (int i = 0; i < arm::kJoints; ++i) j.col(i) = axes.col(i).cross(hand - places.col(i));
    return j;
  }
  Jacobian axes, places;
  Eigen::Vector3f hand;
};
Eigen::Vector3f reach(Arm::Angles angles, const Eigen::Vector3f& target, int most) {
  Arm here(angles);
  Eigen::Vector3f missed = target - here.hand;
  float damping = 1e-2f;
  for (int i = 0; i < most && missed.squaredNorm() > arm::kNear * arm::kNear; ++i) {
    const Arm::Jacobian j = here.jacobian();
    Eigen::Matrix3f normal = j * j.transpose();
    normal.diagonal().array() += damping;
    const Arm::Angles next = angles + j.transpose() * normal.llt().solve(missed);
    const Arm there(next);
    const Eigen::Vector3f left = target - there.hand;
    const bool better = left.squaredNorm() < missed.squaredNorm();
    damping = better ? std::max(damping * 0.2f, 1e-6f) : damping * 8;
    if (better) angles = next, here = there, missed = left;
  }
  return here.hand;
}

class EigenPeer final : public Peer {
 public:
  explicit EigenPeer(int threads) {
    omp_set_num_threads(threads);
    Eigen::setNbThreads(threads);
  }
  std::string name() const override { return "Eigen"; }
  std::string version() const override {
    return fmt::format("{}.{}.{} {}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION,
                       Eigen::SimdInstructionSetsInUse());
  }

  std::optional<Contender> matmul(const MatmulCase& c, const Inputs& in) override {
    if (c.dtype != tern::f32 && c.dtype != tern::f64) return {};
    const Buffer y(c.dtype, c.batch * c.m * c.n);
    return contender([=] { c.dtype == tern::f32 ? products<float>(c, in, y) : products<double>(c, in, y); }, y);
  }
  std::optional<Contender> gated(const GatedCase& c, const Inputs& in) override {
    if (c.dtype != tern::f32) return {};
    const std::int64_t count = c.rows * c.columns;
    const Buffer y(c.dtype, count), d_a(c.dtype, c.backward ? count : 0), d_b(c.dtype, d_a.count());
    if (!c.backward) return contender([=] { gated_forward(c, in, y); }, y);
    return contender([=] { gated_forward(c, in, y), gated_backward(c, in, d_a, d_b); }, d_a, d_b);
  }
  std::optional<Contender> rows(const RowsCase& c, const Inputs& in) override {
    if (c.dtype != tern::f32) return {};
    const Buffer y(c.dtype, c.op == RowOp::softmax ? c.rows * c.columns
                            : c.axis == -1         ? 1
                            : c.axis == 0          ? c.columns
                                                   : c.rows);
    return contender(
        [=] {
          const Rows x(in[0].data<float>(), c.rows, c.columns);
          if (c.op == RowOp::softmax) return softmax_rows(c, x, y);
          reduce_rows(c, x, y);
          const auto count = static_cast<float>(c.axis == -1 ? c.rows * c.columns : c.axis == 0 ? c.rows : c.columns);
          if (c.op == RowOp::mean) ArrayMap(y.data<float>(), y.count()) /= count;
        },
        y);
  }
  template <class T, int N> std::optional<Contender> small_matrices(const MatricesCase& c, const Inputs& in) const {
    using M = Eigen::Matrix<T, N, N, Eigen::RowMajor>;
    using V = Eigen::Matrix<T, N, 1>;
    constexpr std::int64_t kAll = N * N;
    const std::int64_t each = c.op == MatrixOp::det ? 1 : c.op == MatrixOp::solve ? N : kAll;
    const Buffer a(c.dtype, c.count * kAll), y(c.dtype, c.count * each);
    for (std::int64_t i = 0; i < c.count; ++i)
      Eigen::Map<M>(a.data<T>() + i * kAll) =
          Eigen::Map<M>(in[0].data<T>() + i * kAll) * static_cast<T>(0.5 / N) + M::Identity();
    return contender(
        [=, b = in[1]] {
#pragma omp parallel for
          for (std::int64_t i = 0; i < c.count; ++i) {
            const Eigen::Map<M> x(a.data<T>() + i * kAll);
            T* const to = y.data<T>() + i * each;
            if (c.op == MatrixOp::inverse) Eigen::Map<M>{to} = x.inverse();
            else if (c.op == MatrixOp::det) *to = x.determinant();
            else if (c.op == MatrixOp::cholesky) Eigen::Map<M>{to} = x.llt().matrixL().toDenseMatrix();
            else Eigen::Map<V>{to} = x.partialPivLu().solve(Eigen::Map<V>(b.data<T>() + i * N));
          }
        },
        y);
  }
  /// QR, eigenvalues and singular values: the values are in y, the vectors beside them.
  template <class T, int N> std::optional<Contender> spectra(const MatricesCase& c, const Inputs& in) const {
    using M = Eigen::Matrix<T, N, N, Eigen::RowMajor>;
    using V = Eigen::Matrix<T, N, 1>;
    const std::int64_t n = c.n, all = n * n;
    const Buffer a(c.dtype, c.count * all), y(c.dtype, c.count * n);
    const Buffer q(c.dtype, c.count * all), r(c.dtype, c.count * all);
    for (std::int64_t i = 0; i < c.count; ++i)
      Eigen::Map<M>(a.data<T>() + i * all, n, n) =
          Eigen::Map<M>(in[0].data<T>() + i * all, n, n) * static_cast<T>(0.5 / static_cast<double>(n)) +
          M::Identity(n, n);
    return contender(
        [=] {
#pragma omp parallel for
          for (std::int64_t i = 0; i < c.count; ++i) {
            const Eigen::Map<M> x(a.data<T>() + i * all, n, n);
            Eigen::Map<M> left(q.data<T>() + i * all, n, n), right(r.data<T>() + i * all, n, n);
            Eigen::Map<V> values(y.data<T>() + i * n, n);
            if (c.op == MatrixOp::qr) {
              const Eigen::HouseholderQR<M> f(x);
              left = f.householderQ(), right = f.matrixQR().template triangularView<Eigen::Upper>();
              values = right.diagonal().cwiseAbs();
            } else if (c.op == MatrixOp::eigh) {
              const Eigen::SelfAdjointEigenSolver<M> f(x);
              left = f.eigenvectors(), values = f.eigenvalues();
            } else {
              const Eigen::JacobiSVD<M> f(x, Eigen::ComputeFullU | Eigen::ComputeFullV);
              left = f.matrixU(), right = f.matrixV().transpose(), values = f.singularValues();
            }
          }
        },
        y);
  }
  /// In a loop over matrices of a size that the compiler knows.
  std::optional<Contender> matrices(const MatricesCase& c, const Inputs& in) override {
    if (c.op > MatrixOp::det) {
      if (c.n > 8) return c.dtype == tern::f32 ? spectra<float, Eigen::Dynamic>(c, in) : std::optional<Contender>();
      if (c.n == 8) return c.dtype == tern::f32 ? spectra<float, 8>(c, in) : std::optional<Contender>();
      return c.dtype == tern::f32 ? spectra<float, 4>(c, in) : spectra<double, 4>(c, in);
    }
    const auto of = [&]<class T>(T) {
      return c.n == 4    ? small_matrices<T, 4>(c, in)
             : c.n == 8  ? small_matrices<T, 8>(c, in)
             : c.n == 32 ? small_matrices<T, 32>(c, in)
                         : std::optional<Contender>();
    };
    return c.dtype == tern::f32 ? of(float{}) : of(double{});
  }
  std::optional<Contender> fits(const FitsCase& c, const Inputs& in) override {
    const Buffer found(tern::f32, c.count * 3);
    std::vector<Eigen::Array<float, FitsCase::points, 1>> curves(static_cast<std::size_t>(c.count));
    for (std::int64_t i = 0; i < c.count; ++i)
      for (std::int64_t k = 0; k < FitsCase::points; ++k) {
        const float t = FitsCase::apart * static_cast<float>(k);
        const auto x = [&](std::int64_t j) { return static_cast<float>(in[0].at(3 * i + j)); };
        curves[static_cast<std::size_t>(i)][k] = (1 + x(0)) * std::exp(-(1 + x(1)) * t) + x(2);
      }
    return contender(
        [=, curves = std::move(curves)] {
#pragma omp parallel for
          for (std::int64_t i = 0; i < c.count; ++i)
            Eigen::Map<Eigen::Vector3f>(found.data<float>() + 3 * i) = fit(curves[static_cast<std::size_t>(i)]);
        },
        found);
  }
  std::optional<Contender> arms(const ArmsCase& c, const Inputs& in) override {
    const Buffer hands(tern::f32, c.count * 3), points(tern::f32, c.count * 3);
    const auto angles = [](const Buffer& list, std::int64_t i) {
      return Arm::Angles(Eigen::Map<const Arm::Angles>(list.data<float>() + arm::kJoints * i));
    };
    const auto at = [](const Buffer& list, std::int64_t i) {
      return Eigen::Map<Eigen::Vector3f>(list.data<float>() + 3 * i);
    };
    for (std::int64_t i = 0; i < c.count; ++i) at(points, i) = Arm(angles(in[0], i)).hand;
    return contender(
        [=] {
#pragma omp parallel for schedule(dynamic, 16)
          for (std::int64_t i = 0; i < c.count; ++i)
            at(hands, i) = reach(Arm::Angles(angles(in[1], i).array() + 0.5f), at(points, i), c.most);
        },
        hands);
  }
  std::optional<Contender> step(const StepCase&, const Inputs& in) override {
    const auto state = std::make_shared<Step>(in);
    return Contender{.library = name(),
                     .run = [=] { state->step(); },
                     .result =
                         [=] {
                           Step fresh(in);
                           std::vector<double> losses;
                           for (int i = 0; i < kCheckedSteps; ++i) losses.push_back(fresh.step());
                           return losses;
                         }};
  }
};

}  // namespace

std::unique_ptr<Peer> make_eigen(int threads) { return std::make_unique<EigenPeer>(threads); }

}  // namespace bench
