// Formulas and graphs as deep as loops make them, on threads with small stacks; and Exprs that are not defined.
#include <pthread.h>

#include <functional>

#include "every_device.hpp"
#include "tern/checkpoint.hpp"

namespace tern {
namespace {

using test::expect_error;

/// Runs f on a thread with a stack of this size; an exception of it is thrown here.
void on_small_stack(std::size_t bytes, const std::function<void()>& f) {
  struct Task {
    const std::function<void()>& f;
    std::exception_ptr failure;
  } task{f, {}};
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, bytes), 0);
  pthread_t thread;
  const auto run = [](void* argument) -> void* {
    Task& own = *static_cast<Task*>(argument);
    try {
      own.f();
    } catch (...) {
      own.failure = std::current_exception();
    }
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &task), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  if (task.failure) std::rethrow_exception(task.failure);
}
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kSmall = 4 << 20;
#else
constexpr std::size_t kSmall = 256 << 10;
#endif

/// A chain of links, without captures, so that its numbers are constants: link(e, x, i) is the next value.
template <int length, class Link> Pointwise<> chain_of(const char* name, Link) {
  return {name, [](auto x) {
            Expr e = x;
            for (int i = 0; i < length; ++i) e = Link{}(e, x, i);
            return e;
          }};
}
/// The value and gradient of such a chain on a small stack: an Error where the device has no kernel as long as that.
/// Whether it ran.
template <int length, class Link>
bool run_chain(const char* name, Device device, double at, double value, double slope, Link link) {
  SCOPED_TRACE(name);
  const auto run = [&] {
    set_default_device(device);
    const Pointwise<> chain = chain_of<length>(name, link);
    const Var x(full({3}, at));
    const Var y = chain(x);
    for (const double v : test::doubles(y)) EXPECT_NEAR(v, value, 1e-3 * (1 + std::fabs(value)));
    for (const double v : test::doubles(backward(sum(y))[x])) EXPECT_NEAR(v, slope, 1e-3 * (1 + std::fabs(slope)));
  };
  try {
    on_small_stack(device == cpu() ? kSmall : 8 << 20, run);  // a driver's compiler has needs of its own
    return true;
  } catch (const Error& e) {
    EXPECT_NE(device, cpu()) << e.what();
    EXPECT_EQ(static_cast<int>(e.kind()), static_cast<int>(ErrorKind::unsupported)) << e.what();
    EXPECT_NE(std::string(e.what()).find(name), std::string::npos) << e.what();
    return false;
  }
}

class DeepFormulas : public test::EveryDevice {};

TEST_P(DeepFormulas, ChainsOfOneFormula) {
  const auto add = [](Expr e, Expr x, int) { return e + x; };
  EXPECT_EQ(run_chain<20'000>("sums", device(), 1, 20'001, 20'001, add), device() == cpu())
      << "a kernel of that many operations";
  EXPECT_TRUE(run_chain<1'000>("thousand", device(), 1, 1'001, 1'001, add));
  run_chain<20'000>("negations", device(), 1, 1, 1, [](Expr e, Expr, int) { return -e; });
  run_chain<20'000>("copies", device(), 2, 2, 1, [](Expr e, Expr, int) { return e * 1; });
  run_chain<1'500>("calls", device(), 1, 0, 0, [](Expr e, Expr, int) { return silu(e); });
  run_chain<3'000>("choices", device(), 1, 1, 1, [](Expr e, Expr x, int i) { return where(x > -1 - i, e, 0); });
  run_chain<10'000>("conversions", device(), 1, 1, 1,
                    [](Expr e, Expr, int i) { return cast(e, i % 2 ? DType::f32 : DType::f16); });
}
TEST_P(DeepFormulas, ChainsBelowReductions) {
  const auto row = [&](const char* name, const Pointwise<>& links, double want) {
    on_small_stack(kSmall, [&] {
      set_default_device(device());
      const Pointwise<> chain{name, [&links](auto x) { return x - x + sum(links(x)); }};
      const Var x(ones({2, 4}));
      try {
        for (const double v : test::doubles(row_formula(chain, x))) EXPECT_NEAR(v, want, 1e-4 * want) << name;
      } catch (const Error& e) {
        EXPECT_NE(device(), cpu()) << e.what();
        EXPECT_EQ(static_cast<int>(e.kind()), static_cast<int>(ErrorKind::unsupported)) << e.what();
      }
    });
  };
  row("summed", chain_of<10'000>("links", [](Expr e, Expr x, int) { return e + x; }), 40'004);
  row("negated", chain_of<10'000>("links", [](Expr e, Expr, int) { return -e; }), 4);
  row("multiplied", chain_of<10'000>("links", [](Expr e, Expr x, int) { return e * x; }), 4);
  if (device() == cpu())  // a pass over the row each
    row("centred", chain_of<40>("links", [](Expr e, Expr, int) { return e - mean(e) + 1; }), 4);
}
TEST_P(DeepFormulas, ReductionsThatWaitForEachOtherHaveALimit) {
  const Pointwise<> chain{"endless", [](auto x) {
                            Expr e = x;
                            for (int i = 0; i < 5000; ++i) e = e - mean(e);
                            return e;
                          }};
  on_small_stack(kSmall, [&] {
    set_default_device(device());
    expect_error(ErrorKind::unsupported, {"endless", "reductions", "256"}, [&] { row_formula(chain, ones({2, 4})); });
  });
}

TEST_P(DeepFormulas, SymbolicValuesAreAssignedWithTheirOperators) {
  constexpr Pointwise<> of{"assigned", [](auto x) {
    Expr sum_of;
    for (int i = 1; i <= 3; ++i) sum_of += i * x;
    sum_of -= 1;
    sum_of *= x;
    return sum_of /= 2;
  }};
  const auto at = [](double x) { return (6 * x - 1) * x / 2; };
  const Var x(tensor({1.F, 2.F, -3.F}, device()));
  EXPECT_EQ(test::doubles(of(x)), (std::vector<double>{at(1), at(2), at(-3)}));
  EXPECT_EQ(test::doubles(backward(sum(of(x)))[x]), (std::vector<double>{5.5, 11.5, -18.5}));
}
TEST_P(DeepFormulas, UndefinedExpressionsAreErrors) {
  const auto shape = ErrorKind::shape;
  const Tensor x = ones({3});
  constexpr Pointwise begun{"begun", [](auto v) { Expr s; for (int i = 0; i < 3; ++i) s = s + v; return s; }};
  expect_error(shape, {"begun", "add", "undefined"}, [&] { begun(x); });
  expect_error(shape, {"begun", "undefined"}, [&] { begun(Var(x)); });
  expect_error(shape, {"begun", "undefined"}, [&] { begun(x); });  // again: nothing half made was kept
  const double scale = 2;
  expect_error(shape, {"captured", "mul", "undefined"},
               [&] { Pointwise<>("captured", [scale](auto v) { Expr s; return s * scale + v; })(x); });
  constexpr Pointwise result{"result", [](auto v) { Expr s; (void)v; return s; }};
  expect_error(shape, {"result", "undefined"}, [&] { result(x); });
  constexpr Pointwise pair{"pair", [](auto v) { return std::array<Expr, 2>{v, Expr()}; }};
  expect_error(shape, {"pair", "result 2", "undefined"}, [&] { pair(x); });
  constexpr Pointwise slope{"slope", [](auto v) { return v * v; }, [](auto v) { (void)v; return Expr(); }};
  expect_error(shape, {"slope", "derivative", "undefined"}, [&] { slope(x); });
  constexpr Pointwise calls{"calls", [](auto v) { Expr s; return silu(s) + v; }};
  expect_error(shape, {"calls", "silu", "undefined"}, [&] { calls(x); });
  constexpr Pointwise choice{"choice", [](auto v) { return where(v > 0, v, Expr()); }};
  expect_error(shape, {"choice", "where", "undefined"}, [&] { choice(x); });
  constexpr Pointwise total{"total", [](auto v) { Expr s; return v + sum(s); }};
  expect_error(shape, {"total", "sum", "undefined"}, [&] { row_formula(total, ones({2, 2})); });
  constexpr Pointwise converted{"converted", [](auto v) { Expr s; return v + cast(s, DType::f32); }};
  expect_error(shape, {"converted", "cast", "undefined"}, [&] { converted(x); });
  expect_error(shape, {"undefined"}, [&] {
    matmul_epilogue(ones({2, 2}), ones({2, 2}), [](auto acc) {
      Expr s;
      return acc + s;
    });
  });
  constexpr Pointwise few{"few", [](auto a, auto b) { return a * b; }, [](auto a, auto b) { (void)a; return b; }};
  expect_error(shape, {"few", "derivative"}, [&] { few(x, x); });
  constexpr Pointwise two{"two", [](auto v) { return std::array{v, v * v}; }, [](auto v) { return v; }};
  expect_error(ErrorKind::unsupported, {"two", "one result"}, [&] { two(x); });
}
TERN_EVERY_DEVICE(DeepFormulas);

/// Chains of variables, whatever holds them together, are traversed and freed without recursion.
class DeepGraphs : public test::EveryDevice {};
constexpr int kLong = 200'000;

TEST_P(DeepGraphs, OfHooksThatHoldVariables) {
  on_small_stack(kSmall, [&] {
    Var before(ones({1}));
    for (int i = 0; i < kLong; ++i) {
      const Var next(before.value());  // a leaf
      next.register_hook([before](const Var&) { (void)before; });
      before = next;
    }
  });
}
TEST_P(DeepGraphs, OfOperationsThatHooksHold) {
  on_small_stack(kSmall, [&] {
    set_default_device(device());
    const int length = device() == cpu() ? kLong : 2'000;
    Var before = Var(ones({1})) * 1;
    for (int i = 0; i < length; ++i) {
      const Var next = Var(before.value()) * 1;
      next.register_hook([before](const Var&) { (void)before; });
      next.grad_fn()->register_hook([before](auto, auto) { (void)before; });
      before = next;
    }
  });
}
TEST_P(DeepGraphs, OfCheckpoints) {
  on_small_stack(kSmall, [&] {
    set_default_device(device());
    const int length = device() == cpu() ? kLong / (test::few_test() ? 10 : 2) : 500;
    for (const bool traversed : {false, true}) {
      const Var x(ones({1}));
      Var y = x * 1;
      for (int i = 0; i < length; ++i) y = checkpoint([y](const Var& v) { return y + v * 0; })(x);
      if (!traversed) continue;
      EXPECT_EQ(test::doubles(backward(y)[x]), (std::vector<double>{1}));
    }
  });
}
TEST_P(DeepGraphs, OfCustomGradientsThatCaptureWhatTheyDoNotRead) {
  on_small_stack(kSmall, [&] {
    set_default_device(device());
    const int length = device() == cpu() ? kLong : 500;
    const Var x(ones({1}));
    Var y = x * 1;
    for (int i = 0; i < length; ++i)
      y = custom_gradient(
          "keeps", [](const Tensor& v) { return v; },
          [y](const Var& g, const Var&) {
            (void)y;
            return g;
          })(x);
    EXPECT_EQ(test::doubles(backward(y)[x]), (std::vector<double>{1}));
  });
}
TERN_EVERY_DEVICE(DeepGraphs);

}  // namespace
}  // namespace tern
