// Every differentiable operation that is no formula, and how it is tried: the samples of the entries, and what takes a
// function of the program's.
#pragma once
#include <functional>

#include "every_device/gradients/derivatives.hpp"
#include "ops/entry.hpp"
#include "tern/checkpoint.hpp"

namespace tern::test {

using Vars = std::vector<Var>;

/// How an operation is tried: on inputs of these shapes, with values around 0.
struct Trial {
  std::string name;
  std::vector<Shape> shapes;
  std::function<Var(const Vars&)> run;
  std::vector<Shape> empty = {};  // shapes without elements that it takes as well; none: it takes none
  int broadcast_axis = 0;         // along which its arguments may be the same everywhere
  int orders_on_gpus = 3;         // as the entry says
};
/// All entries, or the one that TERN_TEST_OPERATION names.
inline std::vector<const operations::Entry*> entries_asked_for() {
  const char* name = operation_asked_for();
  std::vector<const operations::Entry*> list;
  for (const operations::Entry& entry : operations::entries())
    if (!name || std::string(name) == entry.name) list.push_back(&entry);
  EXPECT_FALSE(list.empty()) << "no operation is called " << name;
  return list;
}
/// The name without the "x." of methods.
inline std::string plain_name(const operations::Entry& entry) {
  const std::string name = entry.name;
  return name.starts_with("x.") ? name.substr(2) : name;
}
/// The samples of an entry; of several results, their product.
inline void add_trials(const operations::Entry& entry, std::vector<Trial>& list) {
  for (const operations::Sample& sample : entry.samples) {
    if (sample.call.operands() == 0) continue;
    const auto run = [&sample](const Vars& x) {
      const Vars y = sample.call(x);
      Var product = y[0];
      for (std::size_t k = 1; k < y.size(); ++k) product = product * y[k];
      return product;
    };
    Trial trial{entry.name, sample.shapes({}), run};
    if (!sample.empty.empty()) trial.empty = sample.shapes(sample.empty[0]);
    trial.broadcast_axis = sample.broadcast_axis, trial.orders_on_gpus = entry.orders_on_gpus;
    list.push_back(std::move(trial));
  }
}

inline std::vector<Trial> differentiable() {
  static const auto halved = custom_gradient(
      "halved", [](const Tensor& a, const Tensor& b) { return tanh(a) * b / 2; },
      [](const Var& g, const Var& a, const Var& b) {
        const Var t = tanh(a);
        return std::tuple{g * b * (1 - t * t) / 2, g * t / 2};
      });
  std::vector<Trial> list{
      {"checkpoint", {{2, 3}, {3}}, [](const Vars& x) {
         return checkpoint([](const Var& a, const Var& b) { return softmax(tanh(a) * b) + a; })(x[0], x[1]);
       }, {{0, 3}, {3}}},
      {"custom_gradient", {{2, 3}, {2, 3}}, [](const Vars& x) { return halved(x[0], x[1]); }, {{0, 3}, {0, 3}}},
  };
  if (operation_asked_for()) list.clear();
  for (const operations::Entry* entry : entries_asked_for())
    if (entry->differentiable) add_trials(*entry, list);
  return list;
}

}  // namespace tern::test
