#include "case.hpp"

namespace oracle {

DType dtype_named(const std::string& name) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (to_string(static_cast<DType>(i)) == name) return static_cast<DType>(i);
  throw std::runtime_error("no dtype " + name);
}
double number(const json& value) {
  if (!value.is_string()) return value.is_boolean() ? value.get<bool>() : value.get<double>();
  const std::string text = value.get<std::string>();  // JSON has no such numbers
  return text == "nan" ? NAN : text == "inf" ? INFINITY : -INFINITY;
}
std::vector<std::int64_t> integers(const json& list) { return list.get<std::vector<std::int64_t>>(); }

Tensor tensor_of(const json& from) {
  const Shape shape(integers(from.at("shape")));
  const auto numbers = [&](const char* name) {
    std::vector<double> values;
    for (const json& value : from.at(name)) values.push_back(number(value));
    return tensor(values, shape, cpu());
  };
  Tensor x = numbers("values");
  if (from.contains("imaginary")) x = make_complex(x, numbers("imaginary"));
  x = x.to(dtype_named(from.at("dtype"))).to(default_device());
  if (from.contains("permute")) x = x.permute(Axes(integers(from["permute"])));
  if (from.contains("steps"))
    for (int axis = 0; axis < x.dim(); ++axis)
      x = x.slice(axis, {}, {}, from["steps"][static_cast<std::size_t>(axis)].get<std::int64_t>());
  return x;
}
std::vector<Tensor> tensors_of(const json& list) {
  std::vector<Tensor> all;
  for (const json& one : list) all.push_back(tensor_of(one));
  return all;
}

Results with_gradients(const std::vector<Var>& results, const std::map<std::string, Var>& operands) {
  Results all;
  Var loss;
  for (std::size_t k = 0; k < results.size(); ++k) {
    const Var& y = results[k];
    all.push_back(y.value());
    if (!y.requires_grad()) continue;
    const DType dtype = real_dtype(y.dtype());
    const Tensor angle = (arange(0, static_cast<double>(y.numel()), 1, Options{.dtype = f64, .device = cpu()}) * 0.7 +
                          static_cast<double>(k))
                             .reshape(y.shape());
    const Tensor of_real = cos(angle).to(dtype).to(default_device());
    Var part = sum(real(y) * of_real);
    if (is_complex(y.dtype())) part = part + sum(imag(y) * sin(angle).to(dtype).to(default_device()));
    loss = loss.defined() ? loss + part.to(loss.dtype()) : part;
  }
  if (!loss.defined()) return all;
  Gradients gradients = backward(loss);
  for (const auto& [name, x] : operands) {
    const Tensor* found = gradients.get(x.id());
    all.push_back(found != nullptr ? *found : zeros_like(x.value()));
  }
  return all;
}

}  // namespace oracle
