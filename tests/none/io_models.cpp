// Containers in files: what their members are called, what may be in them, and loading that is all or nothing.
#include "tern/io.hpp"

#include <optional>

#include "stored_files.hpp"

template <class T> struct IoLayer {
  T weight, bias;
};
TERN_FIELDS(IoLayer, weight, bias)
template <class T> struct IoModel {
  std::vector<IoLayer<T>> layers;
  std::pair<T, T> ends;
};
TERN_FIELDS(IoModel, layers, ends)

namespace tern::test {

// No templates: of Vars, of Tensors, and of all that containers may be.
struct IoMlp {
  Var w, b;
};
struct IoReadings {
  Tensor times, values;
};
struct IoAll {
  IoMlp mlp;
  std::vector<IoMlp> more;
  std::array<Tensor, 2> pair;
  std::optional<IoLayer<Tensor>> maybe;
  IoReadings readings;
};

}  // namespace tern::test

TERN_FIELDS(tern::test::IoMlp, w, b)
TERN_FIELDS(tern::test::IoReadings, times, values)
TERN_FIELDS(tern::test::IoAll, mlp, more, pair, maybe, readings)

namespace tern::test {
namespace {

Var io_part(const Shape& shape, double value) { return parameter(full(shape, value)); }
IoModel<Var> io_model(double value) {
  return {{{io_part({2, 3}, value), io_part({3}, value)}, {io_part({3, 1}, value), io_part({1}, value)}},
          {io_part({}, value), io_part({4}, value)}};
}
IoAll io_all(double value) {
  const auto mlp = [&](double more) { return IoMlp{io_part({2, 2}, value + more), io_part({2}, value + more)}; };
  const Tensor x = full({3}, value);
  return {mlp(1), {mlp(2), mlp(3)}, {x.clone(), x + 1}, IoLayer<Tensor>{x + 2, x + 3}, {x + 4, x + 5}};
}
std::vector<std::string> names_of(const io::Named& tensors) {
  std::vector<std::string> list;
  for (const auto& [name, tensor] : tensors) list.push_back(name);
  return list;
}

TEST_F(StoredFiles, KeepModels) {
  const IoModel<Var> saved = io_model(2), other = io_model(3);
  io::save(at("m"), saved);
  const io::Named names = io::named(saved);
  EXPECT_TRUE(names.contains("layers.0.weight") && names.contains("layers.1.bias") && names.contains("ends.1"));
  EXPECT_EQ(names.size(), 6u);
  io::load(at("m"), other);
  for (const Var& leaf : leaves_of(other)) EXPECT_EQ(max(leaf.value()).item<float>(), 2.0f);
  const std::vector<Var> different{parameter(full({2}, 7))};
  io::save(at("v"), std::vector<Var>{parameter(full({3}, 1)), parameter(full({1}, 1))});
  expect_io({"'0' is f32[2], in the file f32[3]", "'1' is in the file alone"}, [&] { io::load(at("v"), different); });
  expect_io({"'layers.0.bias' is not in the file"}, [&] { io::load(at("v"), other); });
  EXPECT_EQ(max(different[0].value()).item<float>(), 7.0f);
  io::save(at("one"), different[0]);
  io::load(at("one"), different[0]);
}
TEST_F(StoredFiles, NameMembersOfTypesAndOfTemplates) {
  const IoAll saved = io_all(1), other = io_all(10);
  EXPECT_EQ(names_of(io::named(saved)),
            (std::vector<std::string>{"maybe.bias", "maybe.weight", "mlp.b", "mlp.w", "more.0.b", "more.0.w",
                                      "more.1.b", "more.1.w", "pair.0", "pair.1", "readings.times",
                                      "readings.values"}));
  io::save(at("m"), saved);
  io::load(at("m"), other);
  expect_same(io::named(other), io::named(saved));
  IoAll without = io_all(10);
  without.maybe.reset();
  expect_io({"'maybe.bias' is in the file alone", "'maybe.weight' is in the file alone"},
            [&] { io::load(at("m"), without); });
  EXPECT_EQ(without.mlp.w.value().to_vector<float>()[0], 11.0f);
}
/// A bias that a layer does without, as linear(x, w, {}) takes it.
TEST_F(StoredFiles, LeaveOutWhatIsUndefined) {
  const auto layers = [](double value, bool biased) {
    return std::vector<IoMlp>{{io_part({2, 3}, value), biased ? io_part({2}, value) : Var()},
                              {io_part({1, 2}, value), io_part({1}, value)}};
  };
  const auto plain = layers(1, false), biased = layers(2, true), other = layers(3, false);
  io::save(at("plain"), plain), io::save(at("biased"), biased);
  EXPECT_EQ(names_of(io::load_safetensors(at("plain"))), (std::vector<std::string>{"0.w", "1.b", "1.w"}));
  io::load(at("plain"), other);
  expect_same(io::named(other), io::named(plain));
  EXPECT_FALSE(other[0].b.defined());
  expect_io({"'0.b' is undefined, in the file f32[2]"}, [&] { io::load(at("biased"), other); });
  expect_io({"'0.b' is not in the file"}, [&] { io::load(at("plain"), biased); });
  expect_same(io::named(other), io::named(plain));
  EXPECT_EQ(max(biased[1].w.value()).item<float>(), 2.0f);
  io::save(at("none"), IoReadings{});
  EXPECT_TRUE(io::load_safetensors(at("none")).empty());
}

}  // namespace
}  // namespace tern::test
