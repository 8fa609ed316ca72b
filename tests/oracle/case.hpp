// What the files of tern_oracle share: tensors from JSON, and the evaluation of a case of Tensors or, where it asks for
// gradients, of Vars.
#pragma once
#include <nlohmann/json.hpp>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tern/tern.hpp"

namespace oracle {

using nlohmann::json;
using namespace tern;
using Results = std::vector<Tensor>;
using Evaluate = std::function<Results(const json&)>;
using Evaluations = std::map<std::string, Evaluate>;

DType dtype_named(const std::string& name);
double number(const json& value);
std::vector<std::int64_t> integers(const json& list);
/// {"shape", "dtype", "values", "imaginary"}, and how it is then looked at: {"permute", "steps"}.
Tensor tensor_of(const json& from);
std::vector<Tensor> tensors_of(const json& list);

/// The operands and options of a case: x("name") is a Tensor, or a Var that the case asks the gradient of.
template <class T> struct Given {
  const json& of;
  std::map<std::string, T>* operands;
  T operator()(const char* name = "x") const {
    const auto [at, added] = operands->try_emplace(name);
    if (added) at->second = T(tensor_of(of.at(name)));
    return at->second;
  }
  /// Without a gradient; undefined where the case has none of this name.
  Tensor plain(const char* name) const { return of.contains(name) ? tensor_of(of[name]) : Tensor(); }
  T optional(const char* name) const { return of.contains(name) ? (*this)(name) : T(); }
  bool has(const char* name) const { return of.contains(name); }
  bool flag(const char* name) const { return of.value(name, false); }
  std::int64_t whole(const char* name, std::int64_t otherwise = 0) const { return of.value(name, otherwise); }
  double real(const char* name, double otherwise = 0) const { return of.contains(name) ? number(of[name]) : otherwise; }
  std::string text(const char* name, const char* otherwise = "") const { return of.value(name, otherwise); }
};

/// The results, then the gradients by the operands, in the order of their names, of Σ cos(0.7·i + k)·result k(i) over
/// the results that have gradients; imaginary parts count sin(0.7·i + k) times.
Results with_gradients(const std::vector<Var>& results, const std::map<std::string, Var>& operands);

/// One function of Given<Tensor> and Given<Var>, as an evaluation.
template <class F> Evaluate of_both(F f) {
  return [f](const json& of) {
    if (!of.value("grad", false)) {
      std::map<std::string, Tensor> operands;
      return Results(f(Given<Tensor>{of, &operands}));
    }
    std::map<std::string, Var> operands;
    const std::vector<Var> results = f(Given<Var>{of, &operands});
    return with_gradients(results, operands);
  };
}
template <class T> T as_result(const Tensor& x) {
  if constexpr (std::is_same_v<T, Var>) return constant(x);
  else return x;
}
template <class G> struct OfGiven;
template <class T> struct OfGiven<Given<T>> {
  using type = T;
};
/// Tensor or Var: what a case's operands are.
template <class G> using Kind = typename OfGiven<std::decay_t<G>>::type;

Evaluations linear_algebra();
Evaluations transforms();
Evaluations layers();
Evaluations losses();

}  // namespace oracle

/// An evaluation of one result, and one of several: `c` is the Given.
#define ORACLE(name, ...)                                                             \
  {                                                                                   \
    name, of_both([](auto c) { return std::vector<Kind<decltype(c)>>{__VA_ARGS__}; }) \
  }
#define ORACLE_OF(name, ...) \
  { name, of_both([](auto c) -> std::vector<Kind<decltype(c)>> __VA_ARGS__) }
