// oneDNN 2. Products use plain row-major weights; what it has no primitive for is put together from its primitives.
#include <fmt/format.h>
#include <omp.h>

#include <dnnl.hpp>
#include <unordered_map>

#include "peers.hpp"

namespace bench {
namespace {

using dnnl::algorithm;
using dnnl::memory;
using dnnl::prop_kind;
using Arguments = std::unordered_map<int, memory>;

memory::data_type type_of(tern::DType dtype) {
  switch (dtype) {
    case tern::DType::f32: return memory::data_type::f32;
    case tern::DType::bf16: return memory::data_type::bf16;
    case tern::DType::f16: return memory::data_type::f16;
    default: return memory::data_type::undef;
  }
}
bool knows(tern::DType dtype) { return dtype == tern::f32 || dtype == tern::bf16; }  // f16 and f64 only on GPUs

algorithm eltwise_of(Activation activation) {
  return activation == Activation::gelu ? algorithm::eltwise_gelu_tanh : algorithm::eltwise_swish;
}
constexpr float kAlpha = 1;  // of swish; gelu_tanh has none

Buffer filled(tern::DType dtype, std::int64_t count, float value) {
  const Buffer buffer(dtype, count);
  for (std::int64_t i = 0; i < count; ++i)
    if (dtype == tern::f32) buffer.data<float>()[i] = value;
    else buffer.data<tern::bfloat16>()[i] = tern::bfloat16(value);
  return buffer;
}

struct Call {
  dnnl::primitive primitive;
  Arguments arguments;
};

class OneDnn final : public Peer {
 public:
  explicit OneDnn(int threads) : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) { omp_set_num_threads(threads); }
  std::string name() const override { return "oneDNN"; }
  std::string version() const override {
    const dnnl_version_t* v = dnnl_version();
    return fmt::format("{}.{}.{}", v->major, v->minor, v->patch);
  }

  std::optional<Contender> matmul(const MatmulCase& c, const Inputs& in) override {
    if (!knows(c.dtype)) return {};
    const Buffer y(c.dtype, c.batch * c.m * c.n);
    const memory a = operand(in[0], c.batch, c.m, c.k, c.transposed_a),
                 b = operand(in[1], c.batch, c.k, c.n, c.transposed_b);
    return contender({product(a, b, {}, operand(y, c.batch, c.m, c.n))}, in, y);
  }

  std::optional<Contender> linear(const LinearCase& c, const Inputs& in) override {
    if (!knows(c.dtype)) return {};
    const memory a = operand(in[0], 1, c.m, c.k), b = operand(in[1], 1, c.k, c.n), bias = operand(in[2], 1, 1, c.n);
    const Buffer y_values(c.dtype, c.m * c.n);
    const memory y = operand(y_values, 1, c.m, c.n);
    if (!c.backward) {
      dnnl::post_ops post;
      post.append_eltwise(1, eltwise_of(c.activation), kAlpha, 0);
      return contender({product(a, b, bias, y, post)}, in, y_values);
    }
    const Buffer d_a(c.dtype, c.m * c.k), d_b(c.dtype, c.k * c.n), d_bias(c.dtype, c.n);
    const Buffer pre_values(c.dtype, c.m * c.n), g_values(c.dtype, c.m * c.n), ones = filled(c.dtype, c.m, 1);
    const memory pre = operand(pre_values, 1, c.m, c.n), g = operand(g_values, 1, c.m, c.n);
    const auto run = runner({product(a, b, bias, pre), activation(c.activation, pre, y),
                             activation_backward(c.activation, pre, operand(in[3], 1, c.m, c.n), g),
                             product(g, operand(in[1], 1, c.n, c.k, true), {}, operand(d_a, 1, c.m, c.k)),
                             product(operand(in[0], 1, c.k, c.m, true), g, {}, operand(d_b, 1, c.k, c.n)),
                             product(operand(ones, 1, 1, c.m), g, {}, operand(d_bias, 1, 1, c.n))},
                            {in[0], in[1], in[2], in[3], y_values, pre_values, g_values, ones, d_a, d_b, d_bias});
    const auto at = [](const Buffer& buffer) { return [buffer](std::int64_t i) { return buffer.at(i); }; };
    return Contender{.library = name(), .run = run, .result = [=] {
                       return run(), linear_samples(c, at(d_a), at(d_b), at(d_bias));
                     }};
  }

  std::optional<Contender> gated(const GatedCase& c, const Inputs& in) override {
    if (!knows(c.dtype)) return {};
    const std::int64_t count = c.rows * c.columns;
    const auto whole = [&](const Buffer& values) { return operand(values, 1, c.rows, c.columns); };
    const Buffer y(c.dtype, count);
    std::vector<Call> calls = activation_times(c.activation, whole(in[0]), whole(in[1]), whole(y));
    if (!c.backward) return contender(calls, in, y);
    const Buffer d_a(c.dtype, count), d_b(c.dtype, count), product(c.dtype, count);
    calls.push_back(multiply(whole(in[2]), whole(in[1]), whole(product)));
    calls.push_back(activation_backward(c.activation, whole(in[0]), whole(product), whole(d_a)));
    for (Call& call : activation_times(c.activation, whole(in[0]), whole(in[2]), whole(d_b)))
      calls.push_back(std::move(call));
    return Peer::contender(runner(calls, {in[0], in[1], in[2], y, d_a, d_b, product}), d_a, d_b);
  }

  std::optional<Contender> rows(const RowsCase& c, const Inputs& in) override {
    if (!knows(c.dtype)) return {};
    const memory x = operand(in[0], 1, c.rows, c.columns);
    if (c.op == RowOp::softmax) {
      const Buffer y(c.dtype, c.rows * c.columns);
      const dnnl::softmax_forward::desc d(prop_kind::forward_inference, x.get_desc(), 1);
      const dnnl::softmax_forward::primitive_desc p(d, engine_);
      return contender(
          {{dnnl::softmax_forward(p), {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, operand(y, 1, c.rows, c.columns)}}}}, in, y);
    }
    const std::int64_t rows = c.axis == 1 ? c.rows : 1, columns = c.axis == 0 ? c.columns : 1;
    const Buffer y(c.dtype, rows * columns);
    if (c.axis == 0) {  // its reduction along the first axis is a plain loop: a product with ones is far faster
      const Buffer ones = filled(c.dtype, c.rows, c.op == RowOp::sum ? 1 : 1 / static_cast<float>(c.rows));
      return contender({product(operand(ones, 1, 1, c.rows), x, {}, operand(y, 1, 1, columns))}, {in[0], ones}, y);
    }
    return contender({reduction(c.op == RowOp::sum ? algorithm::reduction_sum : algorithm::reduction_mean, x,
                                operand(y, 1, rows, columns))},
                     in, y);
  }

 private:
  /// [rows, columns], or where `batch` is not 1 [batch, rows, columns]; `transposed`: stored as [columns, rows].
  memory operand(const Buffer& values, std::int64_t batch, std::int64_t rows, std::int64_t columns,
                 bool transposed = false) const {
    memory::dims sizes{rows, columns}, strides{transposed ? 1 : columns, transposed ? rows : 1};
    if (batch != 1) sizes.insert(sizes.begin(), batch), strides.insert(strides.begin(), rows * columns);
    return memory(memory::desc(sizes, type_of(values.dtype()), strides), engine_, values.data());
  }

  Call product(const memory& a, const memory& b, const memory& bias, const memory& y,
               const dnnl::post_ops& post = {}) const {
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(post);
    Arguments arguments{{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, y}};
    const bool biased = bias.get(true) != nullptr;
    if (biased) arguments.insert({DNNL_ARG_BIAS, bias});
    const auto d = biased ? dnnl::matmul::desc(a.get_desc(), b.get_desc(), bias.get_desc(), y.get_desc())
                          : dnnl::matmul::desc(a.get_desc(), b.get_desc(), y.get_desc());
    return {dnnl::matmul({d, attributes, engine_}), arguments};
  }

  dnnl::eltwise_forward::primitive_desc activation_description(Activation kind, const memory& x) const {
    return {dnnl::eltwise_forward::desc(prop_kind::forward_training, eltwise_of(kind), x.get_desc(), kAlpha), engine_};
  }
  Call activation(Activation kind, const memory& x, const memory& y) const {
    return {dnnl::eltwise_forward(activation_description(kind, x)), {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}}};
  }
  /// y = activation(x)·factor in two passes; with a product as post-op, 2.6 falls back to a plain loop, 50 times
  /// slower.
  std::vector<Call> activation_times(Activation kind, const memory& x, const memory& factor, const memory& y) const {
    return {activation(kind, x, y), multiply(y, factor, y)};
  }
  Call activation_backward(Activation kind, const memory& x, const memory& d_y, const memory& d_x) const {
    const dnnl::eltwise_backward::desc d(eltwise_of(kind), d_y.get_desc(), x.get_desc(), kAlpha);
    const dnnl::eltwise_backward::primitive_desc p(d, engine_, activation_description(kind, x));
    return {dnnl::eltwise_backward(p), {{DNNL_ARG_SRC, x}, {DNNL_ARG_DIFF_DST, d_y}, {DNNL_ARG_DIFF_SRC, d_x}}};
  }
  Call multiply(const memory& a, const memory& b, const memory& y) const {
    const dnnl::binary::desc d(algorithm::binary_mul, a.get_desc(), b.get_desc(), y.get_desc());
    return {dnnl::binary({d, engine_}), {{DNNL_ARG_SRC_0, a}, {DNNL_ARG_SRC_1, b}, {DNNL_ARG_DST, y}}};
  }
  Call reduction(algorithm kind, const memory& x, const memory& y) const {
    const dnnl::reduction::desc d(kind, x.get_desc(), y.get_desc(), 0, 0);
    return {dnnl::reduction({d, engine_}), {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}}};
  }

  /// Memory objects do not own their memory: `kept` does.
  std::function<void()> runner(std::vector<Call> calls, Inputs kept) {
    return [this, calls = std::move(calls), kept = std::move(kept)] {
      for (const Call& call : calls) call.primitive.execute(stream_, call.arguments);
      stream_.wait();
    };
  }
  Contender contender(std::vector<Call> calls, Inputs kept, const Buffer& y) {
    kept.push_back(y);
    return Peer::contender(runner(std::move(calls), std::move(kept)), y);
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
};

}  // namespace

std::unique_ptr<Peer> make_onednn(int threads) { return std::make_unique<OneDnn>(threads); }

}  // namespace bench
