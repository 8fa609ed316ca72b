// Automatic differentiation: variables, recorded operations, and gradients of any order.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tern/pool.hpp"
#include "tern/tensor.hpp"

namespace tern {

class GradFn;

/// A hook that can be taken away again. It stays when the handle goes.
class HookHandle {
 public:
  HookHandle() = default;
  HookHandle(std::weak_ptr<void> hooks, void (*remove)(void*, int), int number)
      : hooks_(std::move(hooks)), remove_(remove), number_(number) {}
  void remove() {
    if (const auto alive = hooks_.lock()) remove_(alive.get(), number_);
    hooks_.reset();
  }

 private:
  std::weak_ptr<void> hooks_;
  void (*remove_)(void*, int) = nullptr;
  int number_ = 0;
};

namespace detail {
Var as_var(const Tensor& t);
/// What x op= y makes of x op y: of x's dtype. Throws `dtype` where that is of another kind.
Var keeping_dtype(const Var& x, const Var& result);
inline const Var& as_var(const Var& v) { return v; }
/// Functions in the order they were added.
template <class Signature> struct Hooks {
  std::vector<std::pair<int, std::function<Signature>>> list;
  int added = 0;
  static HookHandle add(std::shared_ptr<Hooks>& hooks, std::function<Signature> hook) {
    if (!hooks) hooks = std::make_shared<Hooks>();
    hooks->list.emplace_back(++hooks->added, std::move(hook));
    const auto remove = [](void* self, int number) {
      std::erase_if(static_cast<Hooks*>(self)->list, [=](const auto& entry) { return entry.first == number; });
    };
    return {hooks, remove, hooks->added};
  }
};
/// Identity of a variable: shared by its handles and by the operations that read it.
struct VarMeta {
  std::uint64_t id = 0;
  bool requires_grad = false;
  bool retain_grad = false;
  std::shared_ptr<GradFn> grad_fn;  // null for leaves
  std::shared_ptr<Hooks<Var(const Var&)>> hooks;
  int output = 0;                   // which output of grad_fn

  VarMeta() = default;
  VarMeta(const VarMeta&) = delete;
  VarMeta& operator=(const VarMeta&) = delete;
  ~VarMeta() {
    if (grad_fn || hooks) bury();
  }

 private:
  /// Lets go of the operation and of the hooks, which may hold further variables, without recursing along a chain.
  void bury() noexcept;
};
/// The inputs of an operation: up to four in itself.
class EdgeList {
 public:
  void push_back(std::shared_ptr<VarMeta> edge) {
    if (size_ < few_.size()) few_[size_] = std::move(edge);
    else if (size_ == few_.size()) {
      many_.assign(std::make_move_iterator(few_.begin()), std::make_move_iterator(few_.end()));
      many_.push_back(std::move(edge));
    } else many_.push_back(std::move(edge));
    ++size_;
  }
  std::span<const std::shared_ptr<VarMeta>> view() const { return {many_.empty() ? few_.data() : many_.data(), size_}; }
  std::span<std::shared_ptr<VarMeta>> view() { return {many_.empty() ? few_.data() : many_.data(), size_}; }

 private:
  std::array<std::shared_ptr<VarMeta>, 4> few_;
  PoolVector<std::shared_ptr<VarMeta>> many_;
  std::size_t size_ = 0;
};
}  // namespace detail

/// A tensor in a differentiable computation. Copies are handles on one variable; two Vars of one Tensor are distinct.
class Var {
 public:
  Var() = default;
  Var(const Var&) = default;
  Var(Var&&) noexcept = default;
  Var& operator=(const Var&) & = default;
  Var& operator=(Var&&) & noexcept = default;
  ~Var() = default;
  template <class T> Var& operator=(T&&) && {
    static_assert(detail::always_false<T>,
                  "this assigns to a temporary Var, which changes nothing: make a new Var of the parts (where, "
                  "concatenate), or write the elements, unrecorded, with x.value().slice(0, 0, 1).copy_from(values)");
    return *this;
  }
  /// A leaf. Only floating-point tensors can require a gradient.
  explicit Var(Tensor value, bool requires_grad = true);
  Var(Tensor value, std::shared_ptr<detail::VarMeta> meta) : value_(std::move(value)), meta_(std::move(meta)) {}

  const Tensor& value() const { return value_; }
  bool defined() const { return value_.defined(); }
  bool requires_grad() const { return meta_ && meta_->requires_grad; }
  /// Unique for each variable; 0 for a constant that was never a leaf.
  std::uint64_t id() const { return meta_ ? meta_->id : 0; }
  /// The operation that made it; null for leaves and constants.
  std::shared_ptr<GradFn> grad_fn() const { return meta_ ? meta_->grad_fn : nullptr; }
  /// The same value as a constant.
  Var detach() const { return Var(value_, std::shared_ptr<detail::VarMeta>()); }
  /// Keeps the gradient of this intermediate variable in the result of backward.
  void retain_grad() const;
  /// Calls hook(gradient) in every backward as soon as this variable's gradient is final, while the traversal goes on:
  /// to log it, to send it elsewhere, or, where the hook gives a Var, to go on with that instead (clipping). Throws
  /// `autograd` where the variable requires no gradient. Transforms differentiate with respect to variables of their
  /// own: a hook of their argument is not called, those of intermediates are.
  template <class F> HookHandle register_hook(F hook) const {
    if constexpr (std::is_void_v<std::invoke_result_t<F&, const Var&>>)
      return add_hook([hook = std::move(hook)](const Var& g) mutable { return hook(g), Var(); });
    else return add_hook(std::move(hook));
  }

  const Shape& shape() const { return value_.shape(); }
  std::int64_t size(int axis) const { return value_.size(axis); }
  int dim() const { return value_.dim(); }
  std::int64_t numel() const { return value_.numel(); }
  const Strides& strides() const { return value_.strides(); }
  DType dtype() const { return value_.dtype(); }
  Device device() const { return value_.device(); }
  bool is_contiguous() const { return value_.is_contiguous(); }
  template <Element T> std::vector<T> to_vector() const { return value_.to_vector<T>(); }
  template <Element T> T item() const { return value_.item<T>(); }
  template <Element T> const T* data_ptr() const { return value_.data_ptr<T>(); }
  template <Element T> const T* data() const { return value_.data_ptr<T>(); }

  Var to(DType dtype) const;
  Var to(Device device) const;
  Var contiguous() const;
  Var clone() const;
  Var reshape(const Shape& shape) const;
  template <std::integral... D> requires(sizeof...(D) > 1)
  Var reshape(D... sizes) const { return reshape({sizes...}); }
  Var transpose(int axis_a, int axis_b) const;
  Var permute(const Axes& order) const;
  template <std::integral... D> requires(sizeof...(D) > 1)
  Var permute(D... order) const { return permute({order...}); }
  Var slice(int axis, std::optional<std::int64_t> begin, std::optional<std::int64_t> end = {},
            std::int64_t step = 1) const;
  template <std::same_as<Slice> S> Var slice(int axis, const S& s) const { return slice(axis, s.begin, s.end, s.step); }
  /// Entry i of the first axis, which is removed.
  Var operator[](std::int64_t i) const;
  /// As Tensor's; the gradient is added back where the elements came from.
  template <detail::IndexOperand... I> Var operator()(const I&... at) const;
  template <class... I>
    requires(!(detail::IndexOperand<I> && ...))
  TERN_REFUSED(TERN_INDEX_OPERANDS) detail::Refused operator()(const I&...) const;
  Var squeeze(int axis) const;
  Var unsqueeze(int axis) const;
  Var broadcast_to(const Shape& shape) const;
  Var flatten() const { return reshape({-1}); }
  Var T() const;
  Var mT() const { return transpose(-2, -1); }
#define TERN_SELF Var
#define TERN_METHOD(result, name, declared, ...) result name declared const;
#include "tern/methods.inc"
#undef TERN_METHOD
#undef TERN_SELF
  template <TensorOrVar B> Var matmul(const B& other) const;
  TERN_REFUSE_METHOD(matmul)
  TERN_REFUSE_METHOD(take)
  TERN_REFUSE_METHOD(gather)
  TERN_REFUSE_METHOD(masked_fill)

  // x += y is x = x + y, recorded: this handle then stands for the sum, other handles and the elements stay as they
  // are. An undefined Var is where a sum begins: `Var total; total += loss;` makes total that loss.
#define TERN_REFUSE_REBIND(symbol)                                                                              \
  template <class T>                                                                                            \
    requires(!TensorOrVar<T> && !detail::Plain<T> && !detail::ComplexNumber<T>)                                \
  Var& operator symbol##=(const T&)& {                                                                          \
    static_assert(detail::always_false<T>,                                                                      \
                  "the right-hand side must be a Tensor, a Var or a plain number: make a tensor of other values, " \
                  "as in tern::tensor(values)");                                                                \
    return *this;                                                                                               \
  }                                                                                                             \
  template <class T> Var operator symbol##=(const T&)&& {                                                       \
    static_assert(detail::always_false<T>,                                                                      \
                  "this changes a temporary Var, and so nothing: make a new one, as in "                        \
                  "x = index_put(x, {…}, values), or write the elements, unrecorded, through x.value()(…)");    \
    return *this;                                                                                               \
  }
  TERN_REFUSE_REBIND(+)
  TERN_REFUSE_REBIND(-)
  TERN_REFUSE_REBIND(*)
  TERN_REFUSE_REBIND(/)
#undef TERN_REFUSE_REBIND
#define TERN_REBIND(symbol)                                                                                     \
  template <class T>                                                                                            \
    requires TensorOrVar<T> || detail::Plain<T> || detail::ComplexNumber<T>                                     \
  Var& operator symbol##=(const T& other)& {                                                                    \
    return *this = detail::keeping_dtype(*this, *this symbol other);                                            \
  }
  template <class T>
    requires TensorOrVar<T> || detail::Plain<T> || detail::ComplexNumber<T>
  Var& operator+=(const T& other) & {
    if constexpr (TensorOrVar<T>)
      if (!defined()) return *this = detail::as_var(other);
    return *this = detail::keeping_dtype(*this, *this + other);
  }
  TERN_REBIND(-)
  TERN_REBIND(*)
  TERN_REBIND(/)
#undef TERN_REBIND

  const std::shared_ptr<detail::VarMeta>& meta() const { return meta_; }

 private:
  HookHandle add_hook(std::function<Var(const Var&)> hook) const;

  Tensor value_;
  std::shared_ptr<detail::VarMeta> meta_;
};

/// Prints the value.
std::ostream& operator<<(std::ostream& stream, const Var& var);

/// A Var that requires no gradient: `constant(tensor({1.0, 2.0}))`. It shares the tensor's memory.
inline Var constant(Tensor value) { return Var(std::move(value), false); }
/// A leaf that requires a gradient, as optimisers take; floating dtypes only (`dtype` error otherwise).
inline Var parameter(Tensor value) { return Var(std::move(value), true); }

/// A recorded operation. Its rule is written on Var, so gradients of gradients are recorded like anything else.
class GradFn : public std::enable_shared_from_this<GradFn> {
 public:
  virtual ~GradFn();
  /// "SiluMulBackward"
  virtual std::string name() const = 0;
  /// Ids of the operation's inputs (0 for constants).
  std::vector<std::uint64_t> inputs() const;
  /// The operations that made them (null for leaves and constants).
  std::vector<std::shared_ptr<GradFn>> input_grad_fns() const;
  /// What is kept for backward. Empty once it has been freed.
  virtual std::vector<Tensor> saved_tensors() const = 0;
  /// Gradients of the inputs from those of the outputs; undefined Vars stand for "none" on either side.
  /// Throws `autograd` where saved tensors were freed, or overwritten since.
  std::vector<Var> apply(std::span<const Var> output_gradients) {
    const detail::PoolVector<Var> gradients = apply_pooled(output_gradients);
    return {gradients.begin(), gradients.end()};
  }
  /// The same in memory of a pool, as backward calls it.
  virtual detail::PoolVector<Var> apply_pooled(std::span<const Var> output_gradients) = 0;
  /// Frees what was saved.
  virtual void release() = 0;
  /// Calls hook(gradients of the outputs, gradients of the inputs) each time backward has passed through here;
  /// undefined Vars stand for "none".
  HookHandle register_hook(std::function<void(std::span<const Var>, std::span<const Var>)> hook) {
    return Hooks::add(hooks_, std::move(hook));
  }
  void call_hooks(std::span<const Var> output_gradients, std::span<const Var> input_gradients) const;

  std::uint64_t sequence() const { return sequence_; }
  std::span<const std::shared_ptr<detail::VarMeta>> edges() const { return edges_.view(); }

 protected:
  GradFn(std::span<const Var* const> inputs, std::uint64_t sequence);  // null: a constant

 private:
  using Hooks = detail::Hooks<void(std::span<const Var>, std::span<const Var>)>;
  detail::EdgeList edges_;
  std::shared_ptr<Hooks> hooks_;
  std::uint64_t sequence_;  // inputs of an operation were made by operations with smaller ones
};

/// Gradients by variable, as backward returns them. Each has memory of its own, which nothing else reads: it may be
/// written to in place. (With create_graph what was recorded may have saved it; going through that again then throws.)
class Gradients {
 public:
  /// The gradient of x; throws `autograd` where it got none.
  const Tensor& operator[](const Var& x) const { return var(x).value(); }
  /// Null where the variable got no gradient.
  const Tensor* get(std::uint64_t id) const;
  /// The gradient as a variable: differentiable where backward was called with create_graph.
  const Var& var(const Var& x) const;
  /// Puts this in the place of x's gradient, or there where x got none. Throws `autograd` where x requires none;
  /// `shape`, `dtype` or `device` where the gradient is not like x.
  void set(const Var& x, const Tensor& gradient);
  std::size_t size() const { return gradients_.size(); }

  detail::PoolMap<std::uint64_t, Var>& map() { return gradients_; }

 private:
  detail::PoolMap<std::uint64_t, Var> gradients_;
};

struct BackwardOptions {
  bool create_graph = false;  // record the backward computation, for gradients of gradients
  bool keep_graph = false;    // keep saved tensors, for another backward through the same graph
};
/// Gradients of a one-element y with respect to every leaf it depends on. Saved tensors are freed on the way unless
/// kept; a second traversal is then an error of kind `autograd`.
Gradients backward(const Var& y, const BackwardOptions& options = {});
namespace detail {
Gradients backward_from(const Var& y, const Var& seed, const BackwardOptions& options);
/// Gradients of the outputs with respect to exactly these targets; the traversal stops at them. Undefined: independent.
std::vector<Var> backward_to(std::span<const Var> outputs, std::span<const Var> seeds, std::span<const Var> targets,
                         const BackwardOptions& options);
inline Var as_var(const Tensor& t) { return Var(t, std::shared_ptr<VarMeta>()); }
}  // namespace detail
/// The same for y of any shape, with ∂loss/∂y given.
template <TensorOrVar S> Gradients backward(const Var& y, const S& seed, const BackwardOptions& options = {}) {
  return detail::backward_from(y, detail::as_var(seed), options);
}

/// While one lives, operations on this thread are not recorded.
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool before_;
};
bool grad_enabled();

namespace detail {
/// While one lives, operations on this thread are recorded: transforms work inside NoGrad, too.
class RecordingScope {
 public:
  RecordingScope();
  ~RecordingScope();
  RecordingScope(const RecordingScope&) = delete;
  RecordingScope& operator=(const RecordingScope&) = delete;

 private:
  bool before_;
};
/// Whether these are part of a computation around them, that may be differentiated: an operation made one of them, or
/// a transform, or a backward with create_graph, is running on this thread.
bool in_computation(std::span<const Var> variables);
/// Gives memory of their own to results that share theirs with another of them, with `others`, or (`recorded`: no
/// matter) with anything else that lives, and to broadcast views: so that each can be written to in place.
void make_own(std::span<Var* const> results, std::span<const Var> others, bool recorded);

/// x as a differentiable variable of its own, connected to x: what a transform differentiates with respect to.
Var alias(const Var& x);
Var zeros_like(const Var& x);
Var ones_like(const Var& x);
/// The gradient or zeros of that shape where there is none.
Var or_zeros(const Var& gradient, const Var& like);
}  // namespace detail

}  // namespace tern
