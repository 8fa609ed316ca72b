// Entries of views, copies and conversions (shape.cpp): methods of Tensor and Var.
#include "ops/operands.trial.hpp"

namespace tern::operations {
namespace {

using enum ErrorKind;

std::vector<Shape> one_more_axis(Sizes s) { return {{1, s.rows, s.columns}}; }

Values shaped(Values x, const Shape& shape) { return x.shape = shape, x; }
/// Elements begin, begin + step, … of an axis of one row.
Values sliced(const Values& x, std::int64_t begin, std::int64_t end, std::int64_t step) {
  Values y{{0}, {}};
  for (std::int64_t i = begin; step > 0 ? i < end : i > end; i += step)
    y.of.push_back(x.of[static_cast<std::size_t>(i)]), ++y.shape[0];
  return y;
}
/// The next wider dtype the device has: a conversion to it keeps every bit, and the gradient is converted back.
template <class T> DType wider(const T& x) {
  if (dtype_size(x.dtype()) == 2) return f32;
  return x.device().kind() == DeviceKind::webgpu ? x.dtype() : f64;
}

std::vector<ArchivedCall> conversions() {
  std::vector<ArchivedCall> list;
  for (const DType to : {boolean, u8, i8, i16, i32, u32, i64, f16, bf16, f32, f64})
    list.push_back([to](DType dtype) { zeros(archived_square(), dtype).to(to); });
  return list;
}

const Entries views_and_copies{
    {.name = "x.to",
     .family = Family::views,
     .arguments = "device",
     .says = "A copy on another device (itself where it is there already)",
     .tolerance = kMoved,
     .archived = conversions(),
     .samples = {{.with = "a wider dtype and the CPU",
                  .shapes = matrix,
                  .call = [](const auto& x) { return x.to(wider(x)).to(cpu()).to(x.device()); },
                  .reference = [](const auto& x) { return x; },
                  .reads_elements = true}},
     .bad = {{device, {"cuda:77"}, [](auto make) { make({2}).to(cuda(77)); }}}},
    {.name = "x.contiguous",
     .family = Family::views,
     .arguments = "",
     .says = "Itself where contiguous, else a row-major copy",
     .tolerance = kMoved,
     .archived = {[](DType dtype) { zeros(archived_square(), dtype).transpose(0, 1).contiguous(); }},
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return x.transpose(0, 1).contiguous(); },
                  .reference = [](const auto& x) { return std::vector{transposed(x[0])}; }}},
     .bad = {{shape, {"undefined"}, [](auto make) { decltype(make({}))().contiguous(); }}}},
    {.name = "x.clone",
     .family = Family::views,
     .arguments = "",
     .says = "A row-major copy with memory of its own",
     .tolerance = kMoved,
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return x.clone(); },
                  .reference = [](const auto& x) { return x; },
                  .empty = {{2, 0}},
                  .kernel_calls = 1}},
     .bad = {{shape, {"clone", "undefined"}, [](auto make) { decltype(make({}))().clone(); }}}},
    {.name = "x.reshape",
     .family = Family::views,
     .arguments = "shape",
     .says = "The same elements in another shape; one size may be -1",
     .aliases = {"reshape"},
     .tolerance = kMoved,
     .samples = {{.with = "a copy",
                  .shapes = matrix,
                  .call =
                      [](const auto& x) {
                        return x.transpose(0, 1).reshape({x.size(0), -1});
                      },
                  .reference = [](const auto& x) { return std::vector{shaped(transposed(x[0]), x[0].shape)}; },
                  .empty = {}}},
     .bad = {{shape,
              {"reshape", "f32[2, 3]", "[4, 2]"},
              [](auto make) {
                make({2, 3}).reshape({4, 2});
              }},
             {shape,
              {"reshape", "[-1, -1]"},
              [](auto make) {
                make({2, 3}).reshape({-1, -1});
              }}}},
    {.name = "x.transpose",
     .family = Family::views,
     .arguments = "axis_a, axis_b",
     .says = "Two axes exchanged",
     .tolerance = kMoved,
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return x.transpose(0, 1); },
                  .reference = [](const auto& x) { return std::vector{transposed(x[0])}; },
                  .kernel_calls = 0}},
     .bad = {{index,
              {"transpose", "axis 2"},
              [](auto make) {
                make({2, 3}).transpose(0, 2);
              }}}},
    {.name = "x.permute",
     .family = Family::views,
     .arguments = "order",
     .says = "Axes in a new order: axis i of the result is axis order[i]",
     .aliases = {"permute_dims"},
     .tolerance = kMoved,
     .samples = {{.shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{s.rows, 1, s.columns}};
                      },
                  .call =
                      [](const auto& x) {
                        return x.permute({2, 0, 1});
                      },
                  .reference =
                      [](const auto& x) {
                        const Shape& from = x[0].shape;
                        return std::vector{shaped(transposed(shaped(x[0], {from[0], from[2]})), {from[2], from[0], 1})};
                      },
                  .empty = {{2, 0}},
                  .kernel_calls = 0}},
     .bad = {{index,
              {"permute", "2 axes"},
              [](auto make) {
                make({2, 3}).permute({0});
              }}}},
    {.name = "x.slice",
     .family = Family::views,
     .arguments = "axis, begin, end = {}, step = 1",
     .says = "Elements begin, begin + step, … before end along an axis",
     .tolerance = kMoved,
     .samples = {{.with = "every second",
                  .shapes = [](Sizes s) { return std::vector<Shape>{{s.rows + s.columns}}; },
                  .call = [](const auto& x) { return x.slice(0, 1, x.size(0), 2); },
                  .reference = [](const auto& x) { return std::vector{sliced(x[0], 1, x[0].shape[0], 2)}; },
                  .empty = {},
                  .kernel_calls = 0},
                 {.with = "backwards, and an entry",
                  .shapes =
                      [](Sizes) {
                        return std::vector<Shape>{{3, 5}};
                      },
                  .call = [](const auto& x) { return x.slice(1, {}, {}, -2) * x[1].slice(0, 2); },
                  .empty = {}}},
     .bad = {{index, {"slice"}, [](auto make) { make({3}).slice(0, 0, 4); }}}},
    {.name = "x.squeeze",
     .family = Family::views,
     .arguments = "axis",
     .says = "Removes an axis of size 1",
     .aliases = {"squeeze"},
     .tolerance = kMoved,
     .samples = {{.shapes = one_more_axis,
                  .call = [](const auto& x) { return x.squeeze(0); },
                  .reference =
                      [](const auto& x) {
                        return std::vector{shaped(x[0], {x[0].shape[1], x[0].shape[2]})};
                      },
                  .broadcast_axis = 1,
                  .kernel_calls = 0},
                 {.with = "every axis of size 1",
                  .shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{1, s.rows, 1, s.columns}};
                      },
                  .call = [](const auto& x) { return x.squeeze(); },
                  .reference =
                      [](const auto& x) {
                        Shape shape;
                        for (const std::int64_t size : x[0].shape)
                          if (size != 1) shape.push_back(size);
                        return std::vector{shaped(x[0], shape)};
                      },
                  .broadcast_axis = 1,
                  .kernel_calls = 0}},
     .bad = {{shape,
              {"squeeze", "f32[2, 3]"},
              [](auto make) {
                make({2, 3}).squeeze(0);
              }}}},
    {.name = "x.unsqueeze",
     .family = Family::views,
     .arguments = "axis",
     .says = "Inserts an axis of size 1 in front of `axis`",
     .aliases = {"expand_dims", "unsqueeze"},
     .tolerance = kMoved,
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return x.unsqueeze(0); },
                  .reference =
                      [](const auto& x) {
                        return std::vector{shaped(x[0], {1, x[0].shape[0], x[0].shape[1]})};
                      },
                  .kernel_calls = 0}},
     .bad = {{index,
              {"unsqueeze", "axis 4"},
              [](auto make) {
                make({2, 3}).unsqueeze(4);
              }}}},
    {.name = "x.broadcast_to",
     .family = Family::views,
     .arguments = "shape",
     .says = "Axes of size 1 repeated (stride 0), new ones in front",
     .aliases = {"broadcast_to"},
     .tolerance = kMoved,
     .samples = {{.shapes =
                      [](Sizes s) {
                        return std::vector<Shape>{{1, s.columns}};
                      },
                  .call =
                      [](const auto& x) {
                        return x.broadcast_to({2, 3, x.size(1)});
                      },
                  .reference =
                      [](const auto& x) {
                        Values y{{2, 3, x[0].shape[1]}, {}};
                        for (int i = 0; i < 6; ++i) y.of.insert(y.of.end(), x[0].of.begin(), x[0].of.end());
                        return std::vector{y};
                      },
                  .empty = {},
                  .kernel_calls = 0}},
     .bad = {{shape,
              {"broadcast", "[2, 3]", "[2, 4]"},
              [](auto make) {
                make({2, 3}).broadcast_to({2, 4});
              }}}},
    {.name = "x.flatten",
     .family = Family::views,
     .arguments = "",
     .says = "All elements along one axis",
     .tolerance = kMoved,
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return x.transpose(0, 1).flatten(); },
                  .reference =
                      [](const auto& x) { return std::vector{shaped(transposed(x[0]), {x[0].shape.numel()})}; },
                  .empty = {}}},
     .bad = {{shape, {"undefined"}, [](auto make) { decltype(make({}))().flatten(); }}}},
    {.name = "x.T",
     .family = Family::views,
     .arguments = "",
     .says = "The transposed matrix; the tensor must have two axes (`shape` error otherwise: `mT()` takes any number)",
     .tolerance = kMoved,
     .samples = {{.shapes = matrix,
                  .call = [](const auto& x) { return x.T(); },
                  .reference = [](const auto& x) { return std::vector{transposed(x[0])}; },
                  .kernel_calls = 0}},
     .bad = {{shape,
              {"T", "f32[2, 3, 4]"},
              [](auto make) {
                make({2, 3, 4}).T();
              }}}},
    {.name = "x.mT",
     .family = Family::views,
     .arguments = "",
     .says = "The last two axes exchanged",
     .tolerance = kMoved,
     .samples = {{.shapes = one_more_axis,
                  .call = [](const auto& x) { return x.mT(); },
                  .reference = [](const auto& x) { return std::vector{transposed(x[0])}; },
                  .broadcast_axis = 1,
                  .kernel_calls = 0}},
     .bad = {{index, {"transpose", "axis"}, [](auto make) { make({2}).mT(); }}}},
};

}  // namespace
}  // namespace tern::operations
