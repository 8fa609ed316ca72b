// What is known of an operation besides its declaration and its body: its entry. The page docs/ops.md, the tests and
// the tools that compile ahead of time go through the list of entries; an operation stands in no other list. Entries
// are in files *.trial.cpp beside the bodies, which are compiled into tests and tools, never into the library.
#pragma once
#include <cmath>
#include <functional>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tern/tern.hpp"

namespace tern::operations {

/// The heading in docs/ops.md that an operation stands under.
enum class Family {
  reductions,
  statistics,
  products,
  rows,
  indices,
  sets,
  joins,
  views,
  creation,
  complex,
  special,
  random,
  neural,
  compositions,
  gated,
  optimisers,
  linalg,
  fourier
};

/// How large the operands are that are asked for. A sample says what the two numbers stand for.
struct Sizes {
  std::int64_t rows = 2, columns = 3;
};

/// A tensor as references read and give it: its elements in f64, row-major.
struct Values {
  Shape shape;
  std::vector<double> of;
};

/// The elements of an operand, for operations that take Tensors alone.
inline const Tensor& elements(const Tensor& x) { return x; }
inline const Tensor& elements(const Var& x) { return x.value(); }

/// A call of an operation on operands that are all Tensors, all Vars, or a Var among Tensors. It is made of a generic
/// function of the operands, which gives a tensor or a std::vector of them:
///   [](const auto& x, const auto& weight) { return rms_norm(x, weight); }
class Call {
 public:
  template <class F> Call(F f) : Call(f, std::make_index_sequence<operand_count<F>()>()) {}
  /// Of operands that must be of one type, as those in a std::vector.
  template <class F> static Call of_one_type(F f) {
    return {f, std::make_index_sequence<operand_count<F>()>(), std::false_type()};
  }

  std::size_t operands() const { return operands_; }
  std::vector<Tensor> operator()(const std::vector<Tensor>& x) const { return plain_(x); }
  std::vector<Var> operator()(const std::vector<Var>& x) const { return recorded_(x); }
  /// Operand `which` a Var that requires a gradient, the others Tensors; there are as many mixtures as operands, or
  /// none.
  std::vector<Var> mixed(const std::vector<Tensor>& x, std::size_t which) const { return mixed_[which](x); }
  std::size_t mixtures() const { return mixed_.size(); }

 private:
  template <class F, std::size_t... I, class Mixes = std::true_type>
  Call(F f, std::index_sequence<I...> all, Mixes = {}) {
    operands_ = sizeof...(I);
    plain_ = [f](const std::vector<Tensor>& x) { return list<Tensor>(f(x[I]...)); };
    recorded_ = [f](const std::vector<Var>& x) { return list<Var>(f(x[I]...)); };
    if constexpr (sizeof...(I) > 1 && Mixes::value) (mixed_.push_back(mixture<I>(f, all)), ...);
  }
  template <std::size_t Which, class F, std::size_t... I> static auto mixture(F f, std::index_sequence<I...>) {
    const auto operand = []<std::size_t At>(const std::vector<Tensor>& x, std::integral_constant<std::size_t, At>) {
      if constexpr (At == Which) return Var(x[At]);
      else return x[At];
    };
    return [f, operand](const std::vector<Tensor>& x) {
      return list<Var>(f(operand(x, std::integral_constant<std::size_t, I>())...));
    };
  }
  template <class T, class Result> static std::vector<T> list(const Result& result) {
    if constexpr (std::same_as<Result, std::vector<T>>) return result;
    else if constexpr (std::same_as<Result, T>) return {result};
    else if constexpr (std::same_as<Result, bool>) return list<T>(tensor({result}));
    else if constexpr (std::same_as<Result, Tensor>) return {constant(result)};
    else {
      std::vector<Var> constants;
      for (const Tensor& t : result) constants.push_back(constant(t));
      return constants;
    }
  }
  template <class F> static constexpr std::size_t operand_count() {
    const Tensor* x = nullptr;
    if constexpr (requires(F f) { f(); }) return 0;
    else if constexpr (requires(F f) { f(*x); }) return 1;
    else if constexpr (requires(F f) { f(*x, *x); }) return 2;
    else if constexpr (requires(F f) { f(*x, *x, *x); }) return 3;
    else return 4;
  }

  std::size_t operands_ = 0;
  std::function<std::vector<Tensor>(const std::vector<Tensor>&)> plain_;
  std::function<std::vector<Var>(const std::vector<Var>&)> recorded_;
  std::vector<std::function<std::vector<Var>(const std::vector<Tensor>&)>> mixed_;
};

/// Which kernels of a call are compiled ahead of time, as loops of the CPU and in the archive of CUDA's.
enum class Ahead {
  no,
  yes,                // of the call, of its gradients, and of the call where nothing is recorded
  and_of_first_alone  // also of the gradient of the first operand alone
};

/// One way to call an operation. Operands are floating, with elements in [-1, 1).
struct Sample {
  const char* with = "";  // what is special about it, to name it where it fails
  std::function<std::vector<Shape>(Sizes)> shapes;
  Call call;
  /// The results by independent means: plain loops in f64.
  std::function<std::vector<Values>(const std::vector<Values>&)> reference = {};
  bool knows_results = false;  // the reference, by other means than such a computation: its time says nothing
  std::vector<Sizes> sizes = {{2, 3}, {1, 1}, {5, 37}};
  std::vector<Sizes> empty = {{0, 3}};  // without elements
  int broadcast_axis = 0;               // along which an operand may be the same everywhere
  int kernel_calls = -1;                // how many a call makes, each reading its operands and writing its results once
  std::function<std::int64_t(Sizes)> flops = {};  // what cost_of counts
  bool ways_differ = false;  // by device: these two are the CPU's, and those of others that make one call
  Ahead ahead = Ahead::no;
  bool reads_elements = false;  // in the program, which a recording may refuse
  double stores = 0;  // of a call that makes several operations: as those of Tolerance, for what is stored between them
  // As what the texts of its kernels and of its gradients' are reviewed, and compiled alone (tests/golden/samples.hpp):
  // for a primitive whose kernels for GPUs are files in its folder.
  const char* kernels = nullptr;
};

/// Makes operands of ones for a bad call, all of them Tensors or all Vars.
template <TensorOrVar T> struct Make {
  T operator()(const Shape& shape, DType dtype = default_dtype()) const {
    const Tensor ones_of_it = ones(shape, dtype);
    if constexpr (std::same_as<T, Var>) return constant(ones_of_it);
    else return ones_of_it;
  }
};
/// A call that is refused with an error of this kind, whose message contains all of `says`.
struct BadInput {
  template <class F>
  BadInput(ErrorKind error, std::vector<std::string> parts, F call)
      : kind(error),
        says(std::move(parts)),
        plain([call] { call(Make<Tensor>()); }),
        recorded([call] { call(Make<Var>()); }) {}

  ErrorKind kind;
  std::vector<std::string> says;
  std::function<void()> plain, recorded;
};

/// How far a result may be from the reference: so many roundings of the type it is computed in, and so many more to the
/// dtype in which its parts are stored, of a value as large as the largest of the results and at least 1; and one
/// rounding of the result itself.
struct Tolerance {
  double roundings = 0;
  const char* because = "";
  double stores = 0;
};

/// A call, on the default device, whose kernels for a dtype are in the archive of CUDA's; where what it gives has
/// gradients, theirs too. Of a dtype that an operation does not take it throws, and nothing is kept.
struct ArchivedCall {
  template <class F> ArchivedCall(F f) {
    run = [f](DType dtype) {
      if constexpr (std::same_as<std::invoke_result_t<F, DType>, Var>) return f(dtype);
      else return f(dtype), Var();
    };
  }
  std::function<Var(DType)> run;
};
/// A call, on the default device, beside the samples, whose kernels for a dtype and about a shape are compiled ahead of
/// time, for the CPU and for the archive of CUDA's. It may throw, as above.
using AheadCall = std::function<void(DType, const Shape&)>;
// Kernels depend on sizes only by which of them a request is made of: rows that one kernel traverses, or those so few
// and long that they are cut into segments.
inline constexpr std::int64_t kArchivedSide = 64;
inline Shape archived_square() { return {kArchivedSide, kArchivedSide}; }
inline Shape archived_long_rows() { return {2, 1 << 20}; }

struct Entry {
  const char* name;
  Family family;
  const char* arguments;  // as in the declaration, without types: "x, axis = -1"
  const char* says;       // the first sentence of the declaration's comment; a test compares them
  bool differentiable = true;
  std::vector<const char*> aliases = {};  // other libraries' names for it
  Tolerance tolerance = {};
  double recorded_roundings = 0;  // by how many the results of Vars may differ from those of Tensors
  std::vector<AheadCall> ahead = {};        // beside the samples that are compiled ahead
  std::vector<ArchivedCall> archived = {};  // beside all of these
  int orders_on_gpus = 3;  // of derivatives whose kernels are within a GPU's limits; the CPU's are tried to the third
  std::vector<Sample> samples;
  std::vector<BadInput> bad;
};

/// All of them, by family, in the order of their files.
const std::vector<Entry>& entries();
const char* title(Family family);

/// Adds entries to the list: `const Entries rows{{.name = "softmax", …}, …};` in a *.trial.cpp.
struct Entries {
  Entries(std::initializer_list<Entry> list);
};

}  // namespace tern::operations
