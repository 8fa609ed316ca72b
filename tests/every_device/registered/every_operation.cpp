// What every entry of an operation (src/ops/entry.hpp) promises: values as by independent means, in every dtype and
// layout, of Tensors, Vars and mixtures alike; recorded and replayed; explained; its errors. Gradients: operations.cpp
// and orders.cpp; entries beside headers: operation_entries.cpp. TERN_TEST_OPERATION=softmax: that operation alone, and
// every size, dtype and layout of it on every device.
#include <algorithm>
#include <cstring>

#include "every_device/registered/trials.hpp"

namespace tern::test {
namespace {

using operations::Sample;

class EveryOperation : public EveryDevice {
 protected:
  using Operands = std::vector<Tensor>;

  /// Devices that compile a kernel for every dtype and layout take one size, dtype and layout of each sample, in turn,
  /// but of an operation that is asked for alone.
  bool everything() const { return device() == cpu() || full_test() || operation_asked_for(); }
  template <class F> void for_each_sample(F f) {
    for (const operations::Entry* entry : entries_asked_for())
      for (const Sample& sample : entry->samples) {
        SCOPED_TRACE(std::string(entry->name) + (*sample.with ? std::string(", ") + sample.with : ""));
        f(*entry, sample);
        ++turn_;
      }
  }
  std::vector<DType> dtypes() const {
    const std::vector<DType> all = all_floats(device());
    return everything() ? all : std::vector{all[turn_ % all.size()]};
  }
  std::vector<operations::Sizes> sizes(const Sample& sample) const {
    return everything() ? sample.sizes : std::vector{sample.sizes[turn_ % sample.sizes.size()]};
  }
  Operands operands(const Sample& sample, operations::Sizes s, DType dtype) {
    Operands list;
    for (const Shape& shape : sample.shapes(s)) list.push_back(random_.tensor(shape, dtype, device()));
    return list;
  }

  void expect_reference(const operations::Entry& entry, const Sample& sample, const Operands& x,
                        const std::vector<Tensor>& got, const std::string& what) const {
    std::vector<operations::Values> exact;
    for (const Tensor& t : x) exact.push_back({t.shape(), doubles(t)});
    const std::vector<operations::Values> want = sample.reference(exact);
    ASSERT_EQ(got.size(), want.size()) << what;
    for (std::size_t k = 0; k < got.size(); ++k) {
      ASSERT_EQ(got[k].shape(), want[k].shape) << what;
      const std::vector<double> values = doubles(got[k]);
      double largest = 1;
      for (const double v : want[k].of) largest = std::max(largest, std::abs(v));
      const DType dtype = got[k].dtype();
      const double stores = entry.tolerance.stores + sample.stores;
      const double bound = (entry.tolerance.roundings * work_epsilon(dtype) + stores * epsilon(dtype)) * largest;
      for (std::size_t i = 0; i < values.size(); ++i)
        ASSERT_NEAR(values[i], want[k].of[i], bound + epsilon(dtype) * std::abs(want[k].of[i])) << what << " at " << i;
    }
  }

  std::size_t turn_ = 0;
  Random random_{83};
};
TERN_EVERY_DEVICE(EveryOperation);

template <class T> std::vector<std::vector<double>> bits(const std::vector<T>& list) {
  std::vector<std::vector<double>> all;
  for (const T& t : list) all.push_back(doubles(t));
  return all;
}

/// NaN too.
bool are_same(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(double)) == 0;
  });
}
void expect_all_near(const std::vector<std::vector<double>>& got, const std::vector<std::vector<double>>& want,
                     double relative) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t k = 0; k < got.size(); ++k) {
    ASSERT_EQ(got[k].size(), want[k].size());
    for (std::size_t i = 0; i < got[k].size(); ++i) ASSERT_NEAR(got[k][i], want[k][i], relative * std::abs(want[k][i]));
  }
}

// ---- values ----
TEST_P(EveryOperation, GivesTheReferencesValues) {
  for_each_sample([&](const operations::Entry& entry, const Sample& sample) {
    if (!sample.reference) return;
    if (left_out(device(), 2)) return;
    for (const DType dtype : dtypes())
      for (const operations::Sizes s : sizes(sample)) {
        const Operands x = operands(sample, s, dtype);
        expect_reference(entry, sample, x, sample.call(x), std::string(to_string(dtype)));
      }
  });
}
/// Of sizes that threads share: what one stores where another's results lie shows in some call.
TEST_P(EveryOperation, GivesTheSameBitsInEveryCall) {
  if (device() != cpu() || few_test()) GTEST_SKIP() << "each size is a kernel to compile, and takes long sanitized";
  int tried = 0;
  for_each_sample([&](const operations::Entry&, const Sample& sample) {
    const operations::Sizes many{1030, 67};
    const std::vector<Shape> shapes = sample.shapes(many);
    const bool is_large = std::ranges::any_of(shapes, [](const Shape& shape) { return shape.numel() > 300'000; });
    if (shapes.empty() || is_large) return;  // a square of 1030 rows would take some factorisations seconds
    const Operands x = operands(sample, many, f32);
    try {
      const std::vector<std::vector<double>> first = bits(sample.call(x));
      ++tried;
      for (int call = 0; call < 2; ++call) ASSERT_TRUE(are_same(bits(sample.call(x)), first)) << "call " << call + 2;
    } catch (const Error&) {  // not of these sizes
    }
  });
  EXPECT_TRUE(tried > 300 || operation_asked_for()) << tried;
}
/// Views into larger memory, transposed memory, and the same element everywhere.
TEST_P(EveryOperation, TakesEveryLayout) {
  for_each_sample([&](const operations::Entry& entry, const Sample& sample) {
    if (!sample.reference || left_out(device(), 8)) return;
    const DType dtype = dtypes().front();
    const Operands x = operands(sample, sample.sizes.back(), dtype);
    Operands within, turned, broadcast;
    for (const Tensor& t : x) {
      within.push_back(strided(t));
      turned.push_back(t.dim() < 2 ? t : t.mT().clone().mT());
      const int axis = std::min(sample.broadcast_axis, t.dim() - 1);
      broadcast.push_back(t.dim() == 0 || t.numel() == 0 ? t : t.slice(axis, 0, 1).broadcast_to(t.shape()));
    }
    if (everything() || turn_ % 3 == 0) expect_reference(entry, sample, x, sample.call(within), "in larger memory");
    if (everything() || turn_ % 3 == 1) expect_reference(entry, sample, x, sample.call(turned), "transposed");
    if (everything() || turn_ % 3 == 2) expect_reference(entry, sample, broadcast, sample.call(broadcast), "broadcast");
  });
}
TEST_P(EveryOperation, TakesNothing) {
  for_each_sample([&](const operations::Entry&, const Sample& sample) {
    if (left_out(device(), 2)) return;
    for (const operations::Sizes s : sample.empty) {
      const Operands x = operands(sample, s, f32);
      for (const Tensor& y : sample.call(x)) EXPECT_TRUE(y.defined());
    }
  });
}
/// The results are the same, and a Var comes out where one goes in.
TEST_P(EveryOperation, TakesTensorsVarsAndMixtures) {
  for_each_sample([&](const operations::Entry& entry, const Sample& sample) {
    if (left_out(device(), 3)) return;
    const DType dtype = dtypes().front();
    const Operands x = operands(sample, sizes(sample).front(), dtype);
    const auto want = bits(sample.call(x));
    const auto expect_same = [&](const std::vector<Var>& y, const std::string& what) {
      const auto got = bits(y);
      if (entry.recorded_roundings == 0) ASSERT_EQ(got, want) << what;
      else expect_all_near(got, want, entry.recorded_roundings * epsilon(dtype));
    };
    const auto expect = [&](const std::vector<Var>& y, bool recorded, const std::string& what) {
      expect_same(y, what);
      for (const Var& v : y) EXPECT_EQ(v.requires_grad(), recorded) << what;
    };
    std::vector<Var> tracked, constants;
    for (const Tensor& t : x) tracked.emplace_back(t), constants.push_back(constant(t));
    expect(sample.call(constants), false, "constants");
    expect(sample.call(tracked), entry.differentiable && !x.empty(), "variables");
    for (std::size_t i = 0; i < sample.call.mixtures(); ++i) {
      const std::vector<Var> y = sample.call.mixed(x, i);
      expect_same(y, "operand " + std::to_string(i) + " alone a Var");
      EXPECT_TRUE(std::ranges::any_of(y, &Var::requires_grad)) << "operand " << i << " alone a Var";
    }
  });
}

// ---- recorded, explained ----
/// On some devices: `x.to(cpu())` reads nothing on the CPU.
template <class F> void may_be_refused(F f) {
  try {
    f();
  } catch (const Error& e) {
    EXPECT_EQ(static_cast<int>(e.kind()), static_cast<int>(ErrorKind::unsupported)) << e.what();
  }
}
TEST_P(EveryOperation, ReplaysWhatTheProgramGives) {
  for_each_sample([&](const operations::Entry& entry, const Sample& sample) {
    if (left_out(device(), 6)) return;
    const Operands x = operands(sample, sizes(sample).front(), f32);
    const auto run = [&] {
      std::vector<Tensor> all;
      std::vector<Var> at;
      for (const Tensor& t : x) at.emplace_back(t, entry.differentiable);
      Var total;
      for (const Var& y : sample.call(at)) {
        all.push_back(y.value());
        if (y.requires_grad()) total += sum(y * y);
      }
      if (!total.requires_grad()) return all;
      const Gradients g = backward(total);
      for (const Var& v : at) all.push_back(g[v]);
      return all;
    };
    std::vector<Tensor> replayed;
    if (sample.reads_elements) return may_be_refused([&] { capture(device(), run); });
    const Graph graph = capture(device(), [&] { replayed = run(); });
    for (int i = 0; i < 2; ++i) {
      if (i)
        for (const Tensor& t : x) Tensor(t).copy_from(random_.tensor(t.shape(), f32, device()));
      graph.replay();
      EXPECT_EQ(bits(replayed), bits(run()));
    }
  });
}
TEST_P(EveryOperation, IsExplained) {
  for_each_sample([&](const operations::Entry& entry, const Sample& sample) {
    if (left_out(device(), 3)) return;
    const Operands x = operands(sample, sizes(sample).front(), f32);
    std::vector<Tensor> y;
    const TraceCounts before = trace_counts();
    const std::string text = explain([&] { y = sample.call(x); });
    const TraceCounts after = trace_counts();
    const std::int64_t calls = after.calls - before.calls;
    EXPECT_EQ(std::ranges::count(text, '\n'), calls) << text;
    if (sample.ways_differ && device() != cpu() && calls != 1) return;
    if (sample.flops) {
      EXPECT_EQ(cost_of([&] { sample.call(x); }).flops, sample.flops(sizes(sample).front()));
    }
    if (sample.kernel_calls < 0) return;
    EXPECT_EQ(calls, sample.kernel_calls) << text;
    if (calls != 1) return;
    EXPECT_TRUE(text.starts_with(plain_name(entry) + ": ")) << text;
    std::int64_t bytes = 0;
    for (const std::vector<Tensor>& list : {x, y})
      for (const Tensor& t : list) bytes += t.numel() * static_cast<std::int64_t>(dtype_size(t.dtype()));
    EXPECT_EQ(after.bytes_read + after.bytes_written - before.bytes_read - before.bytes_written, bytes);
  });
}

// ---- errors ----
TEST_P(EveryOperation, RefusesBadInput) {
  for (const operations::Entry* entry : entries_asked_for())
    for (const operations::BadInput& bad : entry->bad) {
      SCOPED_TRACE(entry->name);
      expect_error(bad.kind, bad.says, bad.plain);
      expect_error(bad.kind, bad.says, bad.recorded);
    }
}

}  // namespace
}  // namespace tern::test
