// Prints docs/coming_from.md: NumPy's, PyTorch's and Eigen's names beside tern's. Each expression of tern's is compiled
// and run here, and the aliases are those of include/tern/aliases.hpp.
#include <cctype>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "tern/tern.hpp"

namespace {

using namespace tern;
using std::vector;

std::string in_a_cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, 1, '\\');
  return text;
}
std::string expressions;  // of tern's
void row(const char* theirs, const char* ours) {
  expressions += ours, expressions += '\n';
  std::printf("| `%s` | `%s` |\n", in_a_cell(theirs).c_str(), in_a_cell(ours).c_str());
}
void table(const char* library) { std::printf("\n| %s | tern |\n|---|---|\n", library); }

// What the expressions speak of: x, y [3, 4], a square s, positive values, masks, positions, complex numbers z, images
// a and kernels k.
struct Operands {
  Tensor x = linspace(0.1, 0.9, 12).reshape({3, 4}), y = linspace(0.2, 0.8, 12).reshape({3, 4});
  Tensor s = linspace(1, 2, 9).reshape({3, 3}), v = linspace(1, 2, 4), w = linspace(2, 3, 4);
  Tensor mask = x > 0.5, i = tensor({0, 2, 1}), labels = tensor({0, 3, 1});
  Tensor z = make_complex(x, y), a = linspace(0, 1, 128).reshape({2, 4, 4, 4});
  Tensor k = linspace(-1, 1, 72).reshape({2, 4, 3, 3});
  vector<Tensor> list = {x, y};
  vector<double> values = {1, 2, 3};
  Generator g{1};
};

/// A row, whose expression is run.
#define ROW(theirs, ...)                                                                  \
  {                                                                                       \
    Operands o;                                                                           \
    auto &x = o.x, &y = o.y, &s = o.s, &v = o.v, &w = o.w, &mask = o.mask, &i = o.i;      \
    auto &labels = o.labels, &z = o.z, &a = o.a, &k = o.k;                                \
    auto &list = o.list;                                                                  \
    auto &values = o.values;                                                              \
    auto &g = o.g;                                                                        \
    (void)x, (void)y, (void)s, (void)v, (void)w, (void)mask, (void)i, (void)labels;       \
    (void)list, (void)values, (void)g, (void)z, (void)a, (void)k;                         \
    (void)(__VA_ARGS__, 0);                                                               \
    row(theirs, #__VA_ARGS__);                                                            \
  }

void creation() {
  table("NumPy");
  ROW("np.array([1., 2.])", tensor({1.0, 2.0}))
  ROW("np.array(values, dtype=np.float32)", tensor(values, f32))
  ROW("np.zeros((2, 3), np.float64)", zeros({2, 3}, f64))
  ROW("np.full((2, 3), 7.)", full({2, 3}, 7))
  ROW("np.empty_like(x)", empty_like(x))
  ROW("np.arange(10)", arange(10))
  ROW("np.arange(0, 1, 0.25)", arange(0, 1, 0.25))
  ROW("np.linspace(0, 1, 5)", linspace(0, 1, 5))
  ROW("np.logspace(0, 2, 5)", logspace(0, 2, 5))
  ROW("np.eye(3, 4, 1)", eye(3, 4, 1))
  ROW("np.diag(v)", diag(v))
  ROW("np.tril(s)", tril(s))
  ROW("np.meshgrid(v, w, indexing='ij')", meshgrid(vector{v, w}))
  ROW("np.fromfunction(f, (3, 4))", from_function([](auto r, auto c) { return r + c; }, {3, 4}))
  ROW("rng.standard_normal((2, 3))", randn({2, 3}, g))
  ROW("rng.integers(0, 10, (5,))", randint(0, 10, {5}, g))
}
void indexing() {
  table("NumPy");
  ROW("x[0]", x[0])
  ROW("x[-1, 2]", x(-1, 2))
  ROW("x[:, 1:3]", x(Slice(), Slice(1, 3)))
  ROW("x[::-1]", x(Slice{.step = -1}))
  ROW("x[..., None]", x(ellipsis, newaxis))
  ROW("x[mask]", x(mask))
  ROW("x[i]", x(i))
  ROW("x[i[:, None], i]", x(i(Slice(), newaxis), i))
  ROW("x[mask] = 0", assign(x(mask), 0))
  ROW("x[:, 0] = v[:3]", assign(x(Slice(), 0), v(Slice(0, 3))))
  ROW("x[i] += 1", x(i) += 1)
  ROW("np.where(mask, x, y)", where(mask, x, y))
  ROW("np.nonzero(mask)", nonzero(mask))
  ROW("np.take(x, i, axis=1)", take(x, i, 1))
  ROW("np.take_along_axis(s, i[:, None], 1)", take_along_axis(s, i(Slice(), newaxis), 1))
  ROW("np.put_along_axis(s, i[:, None], 0, 1)", put_along_axis(s, i(Slice(), newaxis), zeros({1}), 1))
}
void shapes() {
  table("NumPy");
  ROW("x.shape, x.ndim, x.size, x.dtype", x.shape(), x.dim(), x.numel(), x.dtype())
  ROW("x.reshape(-1)", x.reshape({-1}))
  ROW("x.T", x.T())
  ROW("np.permute_dims(x, (1, 0))", permute_dims(x, {1, 0}))
  ROW("np.swapaxes(x, 0, 1)", swapaxes(x, 0, 1))
  ROW("np.moveaxis(x, 0, -1)", moveaxis(x, 0, -1))
  ROW("np.expand_dims(x, 0)", expand_dims(x, 0))
  ROW("np.squeeze(x[None], 0), np.squeeze(x[None])", squeeze(x(newaxis), 0), squeeze(x(newaxis)))
  ROW("np.transpose(x)", transpose(x))
  ROW("np.broadcast_to(v, (3, 4))", broadcast_to(v, {3, 4}))
  ROW("np.concatenate((x, y), axis=1)", concatenate({x, y}, 1))
  ROW("np.concat(list)", concat(list))
  ROW("np.vstack((x, y)), np.hstack((x, y))", concatenate({x, y}), concatenate({x, y}, 1))
  ROW("np.stack((x, y))", stack({x, y}))
  ROW("np.split(x, 2, axis=1)", split(x, 2, 1))
  ROW("np.unstack(x)", unstack(x))
  ROW("np.reshape(x, (2, 6))", reshape(x, {2, 6}))
  ROW("np.flip(x, 0), np.fliplr(x), np.flipud(x)", flip(x, 0), fliplr(x), flipud(x))
  ROW("np.roll(x, 1, axis=0)", roll(x, 1, 0))
  ROW("np.rot90(x)", rot90(x))
  ROW("np.tile(x, (2, 1))", tile(x, {2, 1}))
  ROW("np.repeat(x, 2, axis=0)", repeat(x, 2, 0))
  ROW("np.pad(x, ((1, 1), (0, 2)), 'reflect')", pad(x, {{1, 1}, {0, 2}}, PadMode::reflect))
  ROW("sliding_window_view(v, 2)", sliding_window_view(v, 2))
  ROW("np.diagonal(s)", diagonal(s))
  ROW("x.astype(np.float64)", astype(x, f64))
  ROW("x.copy()", x.clone())
}
void mathematics() {
  table("NumPy");
  ROW("x + y, x * 2, x ** 2, x @ s", x + y, x * 2, x.pow(2), s.matmul(x))
  ROW("x > 0.5", x > 0.5)
  ROW("x % 2, np.remainder(x, 2), np.fmod(x, 2)", x % 2, remainder(x, 2), fmod(x, 2))
  ROW("np.logical_not(mask), mask & (x > 0)", !mask, mask && x > 0)
  ROW("np.dot(v, w)", dot(v, w))
  ROW("np.array_equal(x, y)", all(x == y))
  ROW("np.abs(x), np.exp(x), np.arctan2(x, y)", abs(x), exp(x), arctan2(x, y))
  ROW("np.absolute(x), np.arcsin(x), np.arccos(x), np.arctan(x)", absolute(x), arcsin(x), arccos(x), arctan(x))
  ROW("np.arcsinh(x), np.arccosh(x + 1), np.arctanh(x)", arcsinh(x), arccosh(x + 1), arctanh(x))
  ROW("np.rint(x), np.fix(x), np.power(x, y), np.float_power(x, 2)", rint(x), fix(x), power(x, y), float_power(x, 2))
  ROW("scipy.special.expit(x)", expit(x))
  ROW("np.maximum(x, y)", maximum(x, y))
  ROW("np.clip(x, 0.2, 0.8)", clip(x, 0.2, 0.8))
  ROW("np.isfinite(x)", isfinite(x))
  ROW("np.logical_and(mask, mask)", logical_and(mask, mask))
  ROW("x.sum(axis=0)", x.sum(0))
  ROW("x.mean(axis=(0, 1), keepdims=True)", x.mean({0, 1}, true))
  ROW("x.std(axis=0, ddof=1)", x.std(0))
  ROW("np.max(x, axis=0), np.argmax(x, axis=0)", max(x, {0}), argmax(x, {0}))
  ROW("np.any(mask), np.all(mask)", any(mask), all(mask))
  ROW("np.linalg.norm(x)", norm(x))
  ROW("np.cumsum(x, axis=0), np.cumulative_sum(x, axis=0)", cumsum(x, 0), cumulative_sum(x, 0))
  ROW("np.cumprod(x, axis=0)", cumprod(x, 0))
  ROW("np.sort(x, axis=0)", sort(x, 0).values)
  ROW("np.argsort(x, axis=0, kind='stable')", sort(x, 0).indices)
  ROW("np.einsum('ij,kj->ik', x, y)", einsum("ij,kj->ik", x, y))
  ROW("np.tensordot(x, y, ([1], [1]))", tensordot(x, y, 1, 1))
  ROW("np.outer(v, w), np.inner(v, w), np.kron(s, s)", outer(v, w), inner(v, w), kron(s, s))
  ROW("np.cross(s, s)", cross(s, s))
  ROW("np.trace(s)", trace(s))
  ROW("np.linalg.matrix_power(s, 3)", matrix_power(s, 3))
  ROW("np.allclose(x, y)", allclose(x, y))
}
void statistics() {
  table("NumPy, SciPy");
  ROW("np.quantile(x, 0.9, axis=1), np.median(x)", quantile(x, 0.9, {1}), median(x))
  ROW("np.histogram(x, bins=5), np.bincount(i)", histogram(x, 5), bincount(i))
  ROW("np.average(x, weights=y), np.ptp(x)", average(x, y), ptp(x))
  ROW("np.nansum(x), np.nanmean(x), np.count_nonzero(x)", nansum(x), nanmean(x), count_nonzero(x))
  ROW("np.cov(x), np.corrcoef(x)", cov(x), corrcoef(x))
  ROW("np.diff(x, axis=1), np.trapezoid(v, w)", diff(x, 1, 1), trapezoid(v, w))
  ROW("np.maximum.accumulate(x, axis=1)", cummax(x, 1).values)
  ROW("np.searchsorted(v, x), np.digitize(x, v)", searchsorted(v, x), digitize(x, v))
  ROW("np.unique(i), np.isin(i, labels)", unique(i), isin(i, labels))
  ROW("np.interp(x, v, w)", interp(x, v, w))
  ROW("np.argsort(v), np.partition(v, 2)[2]", argsort(v), kthvalue(v, 3).values)
  ROW("np.nan_to_num(x), np.isclose(x, y)", nan_to_num(x), isclose(x, y))
  ROW("np.add.at(s, i, s)", index_put(s, {i}, s, true))
  ROW("scipy.special.gammaln(x), digamma(x)", lgamma(x), digamma(x))
  ROW("scipy.special.gammainc(x, y), betainc(x, x, y)", gammainc(x, y), betainc(x, x, y))
  ROW("scipy.special.j0(x), i0e(x), erfinv(x)", j0(x), i0e(x), erfinv(x))
  ROW("np.load(path)", [&](const char* path) { return io::load_npy(path); })
}
void random_numbers() {
  table("NumPy");
  ROW("rng.random((2, 3)), rng.uniform(-1, 1, (5,))", rand({2, 3}, g), rand({5}, g) * 2 - 1)
  ROW("rng.exponential(2, (5,))", exponential(0.5, {5}, g))
  ROW("rng.gamma(2, 1, (5,)), rng.beta(2, 3, (5,))", gamma(2, 1, {5}, g), beta(2, 3, {5}, g))
  ROW("rng.poisson(4, (5,)), rng.binomial(10, 0.3, (5,))", poisson(4, {5}, g), binomial(10, 0.3, {5}, g))
  ROW("rng.standard_t(5, (5,)), rng.dirichlet(v)", student_t(5, {5}, g), dirichlet(v, {4}, g))
  ROW("rng.permutation(9), rng.permutation(x)", permutation(9, g), permutation(x, g))
  ROW("rng.choice(9, (4,), replace=False)", choice(9, {4}, g, false))
  ROW("rng.spawn(1)", g.split())
}
void complex_numbers() {
  table("NumPy");
  ROW("x + 1j * y", make_complex(x, y))
  ROW("z.real, z.imag, np.conj(z), np.angle(z)", real(z), imag(z), conj(z), angle(z))
  ROW("np.abs(z) * np.exp(1j * np.angle(z))", polar(abs(z), angle(z)))
  ROW("z.view(np.float32).reshape(3, 4, 2)", view_as_real(z))
}
void neural() {
  table("PyTorch");
  ROW("F.conv2d(a, k, padding=1, stride=2)", conv2d(a, k, {}, {.stride = 2, .padding = 1}))
  ROW("F.max_pool2d(a, 2), F.avg_pool2d(a, 2)", max_pool(a, {2, 2}), avg_pool(a, {2, 2}))
  ROW("F.adaptive_avg_pool2d(a, 1)", adaptive_avg_pool(a, {1, 1}))
  ROW("F.interpolate(a, (8, 8))", interpolate(a, {8, 8}))
  ROW("F.unfold(a, 3)", unfold(a, {3, 3}))
  ROW("F.group_norm(a, 2), F.instance_norm(a)", group_norm(a, 2), instance_norm(a))
  ROW("F.embedding(i, s), F.linear(x, y)", embedding(i, s), linear(x, y))
  ROW("F.scaled_dot_product_attention(a, a, a)", attention(a, a, a))
  ROW("F.mse_loss(x, y), F.l1_loss(x, y), F.huber_loss(x, y)", mse_loss(x, y), l1_loss(x, y), huber_loss(x, y))
  ROW("F.binary_cross_entropy_with_logits(x, y)", binary_cross_entropy_with_logits(x, y))
  ROW("F.nll_loss(x, labels), F.kl_div(x, y)", nll_loss(x, labels), kl_div(x, y))
  ROW("F.cosine_similarity(x, y)", cosine_similarity(x, y))
  ROW("F.dropout(x, 0.5)", dropout(x, 0.5, g))
  ROW("nn.init.kaiming_normal_(w)", kaiming({3, 4}, g))
}
void training() {
  table("PyTorch");
  ROW("nn.Parameter(x)", parameter(x))
  ROW("torch.optim.AdamW([p], lr=1e-3)", optim::AdamW(vector{parameter(x)}, {.learning_rate = 1e-3}))
  ROW("optimizer.state_dict()", optim::SGD(vector{parameter(x)}).state())
  ROW("torch.save((model, optimizer), path)",
      [&](const char* path, vector<Var> p, optim::SGD sgd) { io::save(path, std::tie(p, sgd)); })
  ROW("nn.utils.clip_grad_norm_(p, 1.0)",
      [&](vector<Var> p, Gradients gradients) { optim::clip_grad_norm(gradients, p, 1.0); })
}
void torch() {
  table("PyTorch");
  ROW("torch.tensor([1., 2.], device='cpu')", tensor({1.0, 2.0}, cpu()))
  ROW("x.to('cpu'), x.to(torch.float64)", x.to(cpu()), x.to(f64))
  ROW("x.item(), x.tolist()", x[0][0].item<float>(), x.to_vector<float>())
  ROW("x.data_ptr()", x.data_ptr<float>())
  ROW("torch.cat((x, y), 1)", cat({x, y}, 1))
  ROW("torch.zeros(2, 3), x.reshape(2, 6)", zeros(2, 3), x.reshape(2, 6))
  ROW("x.permute(1, 0)", permute(x, {1, 0}))
  ROW("x.transpose(0, 1), x.mT", x.transpose(0, 1), x.mT())
  ROW("torch.transpose(x, 0, 1), torch.swapdims(x, 0, 1)", transpose(x, 0, 1), swapdims(x, 0, 1))
  ROW("x.view(2, 6), x.view_as(y)", x.reshape({2, 6}), view_as(x, y))
  ROW("x.unsqueeze(0), x.unbind(0)", unsqueeze(x, 0), unbind(x, 0))
  ROW("torch.movedim(x, 0, 1)", movedim(x, 0, 1))
  ROW("v.expand(3, 4)", expand(v, {3, 4}))
  ROW("x.flatten(0, 1)", flatten(x, 0, 1))
  ROW("x.narrow(1, 0, 2)", narrow(x, 1, 0, 2))
  ROW("torch.repeat_interleave(x, 2, 0)", repeat_interleave(x, 2, 0))
  ROW("torch.gather(s, 1, i[:, None])", gather(s, i(Slice(), newaxis).broadcast_to({3, 1}), 1))
  ROW("torch.take_along_dim(s, i[:, None], 1)", take_along_dim(s, i(Slice(), newaxis), 1))
  ROW("torch.index_select(x, 1, i)", take(x, i, 1))
  ROW("x.index_put((i,), y)", index_put(x, {i}, y))
  ROW("x.masked_fill(mask, 0), x.masked_select(mask)", masked_fill(x, mask, 0), masked_select(x, mask))
  ROW("torch.amax(x, 0), torch.logsumexp(x, 0), torch.amin(x)", amax(x, {0}), logsumexp(x, {0}), amin(x))
  ROW("torch.topk(x, 2)", topk(x, 2))
  ROW("torch.clamp(x, 0.2, 0.8)", clamp(x, 0.2, 0.8))
  ROW("torch.mm(s, x), torch.bmm(b, c)", mm(s, x), bmm(stack({s, s}), stack({x, x})))
  ROW("torch.ger(v, w)", ger(v, w))
  ROW("torch.linalg.multi_dot((s, s, x))", multi_dot(vector{s, s, x}))
  ROW("torch.chain_matmul(s, s, x)", chain_matmul(vector{s, s, x}))
  ROW("F.relu(x), F.gelu(x, approximate='tanh')", relu(x), gelu(x))
  ROW("F.silu(x), F.softplus(x), F.mish(x)", silu(x), softplus(x), mish(x))
  ROW("F.logsigmoid(x), swish(x)", logsigmoid(x), swish(x))
  ROW("F.softmax(x, -1), F.log_softmax(x, -1)", softmax(x), log_softmax(x))
  ROW("F.layer_norm(x, (4,), v, w)", layer_norm(x, v, w))
  ROW("F.cross_entropy(x, labels)", cross_entropy(x, labels))
  ROW("F.one_hot(labels, 4)", one_hot(labels, 4))
  ROW("F.linear(x, w.T, bias)", matmul_bias(x, y.T(), ones({3})))
  ROW("x.requires_grad_(); loss.backward(); x.grad", [&](Var p) { return backward(sum(square(p)))[p]; }(Var(x)))
  ROW("torch.autograd.functional.jacobian(f, v)", jacobian([](const Var& t) { return square(t); }, Var(v)))
  ROW("torch.func.grad(f)(v)", grad([](const Var& t) { return sum(square(t)); })(v))
  ROW("torch.no_grad()", NoGrad())
  ROW("torch.manual_seed(1); torch.rand(2, 3)", rand({2, 3}, Generator{1}))
  ROW("safetensors.torch.save_file(d, path)", [&](const char* path) { io::save_safetensors(path, {{"x", x}}); })
  ROW("safetensors.safe_open(path, 'pt').get_tensor('x')",
      [&](const char* path) { return io::SafetensorsFile(path).load("x"); })
  ROW("np.savez(path, x=x)", [&](const char* path) { io::save_npz(path, {{"x", x}}); })
}
void eigen() {
  table("Eigen");
  ROW("MatrixXd::Zero(2, 3), VectorXd::LinSpaced(4, 0, 1)", zeros({2, 3}, f64), linspace(0, 1, 4, f64))
  ROW("MatrixXd::Identity(3, 3)", eye(3, f64))
  ROW("Map<RowVectorXd>(values.data(), 3)", Tensor::view(values.data(), {3}))
  ROW("a.rows(), a.cols(), a.size()", x.size(0), x.size(1), x.numel())
  ROW("a(1, 2)", x(1, 2))
  ROW("a.row(0), a.col(1)", x[0], x(Slice(), 1))
  ROW("a.block(0, 1, 2, 3)", x(Slice(0, 2), Slice(1, 4)))
  ROW("a.topRows(2), a.rightCols(2)", x(Slice(0, 2)), x(Slice(), Slice{-2, {}}))
  ROW("a.transpose()", x.T())
  ROW("a * b, a.cwiseProduct(b)", matmul(s, x), x * y)
  ROW("a.array().exp(), a.cwiseAbs(), a.cwiseMax(b)", exp(x), abs(x), maximum(x, y))
  ROW("a.sum(), a.colwise().sum(), a.rowwise().mean()", x.sum(), x.sum(0), x.mean(1))
  ROW("a.maxCoeff(), a.minCoeff()", max(x), min(x))
  ROW("a.norm(), a.squaredNorm(), a.trace()", norm(x), sum(square(x)), trace(s))
  ROW("a.rowwise() + v.transpose()", x + v)
  ROW("a.replicate(2, 1), a.rowwise().reverse()", tile(x, {2, 1}), flip(x, 1))
  ROW("v.dot(w), v.cross(w)", vecdot(v, w), cross(s[0], s[1]))
  ROW("v.asDiagonal(), a.diagonal()", diag(v), diagonal(s))
  ROW("(a.array() > 0.5).select(a, b)", where(x > 0.5, x, y))
  ROW("a.cast<double>()", x.to(f64))
  ROW("a << 1, 2, 3, 4", tensor({{1.0, 2.0}, {3.0, 4.0}}))
}

/// The lines of the table: "TERN_ALIAS_…(alias, name". Whether each is used, and so compiled, in a row.
bool aliases(const char* path) {
  std::ifstream in(path);
  int count = 0;
  bool used = true;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("TERN_ALIAS")) continue;
    const std::size_t open = line.find('('), comma = line.find(", "), end = line.find_first_of(",)", comma + 1);
    const std::string alias = line.substr(open + 1, comma - open - 1), name = line.substr(comma + 2, end - comma - 2);
    const bool is_method = line.starts_with("TERN_ALIAS_METHOD");
    std::printf("| `%s` | `%s%s` |\n", alias.c_str(), is_method ? "x." : "", name.c_str());
    ++count;
    const auto inside = [&](std::size_t at) {  // another name
      return at > 0 && at != std::string::npos && (std::isalnum(expressions[at - 1]) || expressions[at - 1] == '_' ||
                                                   expressions[at - 1] == '.');
    };
    std::size_t at = expressions.find(alias + "(");
    while (inside(at)) at = expressions.find(alias + "(", at + 1);
    if (at == std::string::npos) std::cerr << "the alias " << alias << " is used in no row\n", used = false;
  }
  return used && count > 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "Usage: tern_coming_from include/tern/aliases.hpp > docs/coming_from.md\n";
    return 2;
  }
  std::printf(
      "# Coming from NumPy, PyTorch or Eigen\n\n"
      "What you write there, and what you write here, after `using namespace tern;`. Made by `tools/coming_from.cpp`,\n"
      "which compiles and runs every expression of the right columns; a test holds this page against it. Everything\n"
      "takes Tensors and Vars, and is differentiated where the mathematics is. [docs/ops.md](ops.md) lists all.\n"
      "\n## NumPy\n\n"
      "Three things differ: `x(…)` stands for `x[…]` with several indices, a Slice beyond the axis or against its\n"
      "step is an error instead of empty, and `var` and `std` divide by n - 1.\n\n### Creation\n");
  creation();
  std::printf("\n### Indexing\n");
  indexing();
  std::printf("\n### Views, shapes, joins\n");
  shapes();
  std::printf("\n### Mathematics\n");
  mathematics();
  std::printf("\n### Statistics, sets, special functions, files\n");
  statistics();
  std::printf("\n### Random numbers\n");
  random_numbers();
  std::printf("\n### Complex numbers\n");
  complex_numbers();
  std::printf("\n## PyTorch\n");
  torch();
  std::printf("\n### Layers and losses\n\n`a` is [N, C, H, W].\n");
  neural();
  std::printf("\n### Training\n");
  training();
  std::printf("\n## Eigen\n\nTensors lie row by row, where Eigen's matrices lie column by column.\n");
  eigen();
  std::printf("\n## Other names\n\nThese stand for what is beside them: one table, `include/tern/aliases.hpp`.\n\n"
              "| name | is |\n|---|---|\n");
  return aliases(arguments[1]) ? 0 : 1;
}
