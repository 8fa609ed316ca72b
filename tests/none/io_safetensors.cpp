// Safetensors that are read where they lie: mapped, one by one; and what the format has no dtype for.
#include <complex>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "stored_files.hpp"
#include "tern/complex.hpp"

namespace tern::test {
namespace {

std::string safetensors_of(const std::string& header, const std::string& elements) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(header.size() >> 8 * i & 0xff);
  return bytes + header + elements;
}
/// Whether its elements lie in memory that is a file's.
bool is_mapped(const Tensor& x) {
  const auto at = reinterpret_cast<std::uintptr_t>(x.contiguous().data_ptr<const float>());
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    char* rest = nullptr;
    const std::uintptr_t begin = std::strtoull(line.c_str(), &rest, 16), end = std::strtoull(rest + 1, &rest, 16);
    if (begin <= at && at < end) return line.find("/x") != std::string::npos;
  }
  return false;
}

TEST_F(StoredFiles, AreViewedWhereTheyLie) {
  const io::Named all{{"a", arange(0, 5000).to(f32)}, {"b", full({2, 3000}, 1.5, {.dtype = bf16})},
                      {"c", tensor({1, 0, 1}).to(boolean)}};
  io::save_safetensors(at("x"), all);
  const std::string before = read(at("x"));
  std::optional<io::SafetensorsFile> file(at("x"));
  const Tensor a = file->load("a", {.device = cpu()});
  EXPECT_TRUE(is_mapped(a)) << "no copy";
  file.reset();
  io::Named loaded = io::load_safetensors(at("x"), {.device = cpu()});
  EXPECT_TRUE(is_mapped(loaded.at("a")));
  EXPECT_FALSE(is_mapped(io::load_safetensors(at("x"), {.device = cpu(), .dtype = f64}).at("a").to(f32)));
  // Written to, they are copies of their own: neither the file nor another load changes, and a model may train.
  Tensor(loaded.at("a")) += 1;
  EXPECT_EQ(loaded.at("a").slice(0, 4999).item<float>(), 5000);
  expect_same(a, all.at("a"), "a");
  EXPECT_EQ(read(at("x")), before);
  Tensor(loaded.at("a")) -= 1;
  // Written anew from what is mapped of it, replaced, removed: what was loaded stays.
  io::save_safetensors(at("x"), loaded);
  EXPECT_EQ(read(at("x")), before);
  io::save_safetensors(at("x"), {{"a", zeros({1000})}});
  std::filesystem::remove(at("x"));
  expect_same(loaded, all);
  expect_same(a, all.at("a"), "a");
}
TEST_F(StoredFiles, AreCopiedWhereTheyCannotBeViewed) {
  const std::string entry = R"({"dtype":"F32","shape":[2000],"data_offsets":[0,8000]})";
  std::string header = R"({"a":)" + entry + R"(,"b":{"dtype":"BOOL","shape":[2],"data_offsets":[8000,8002]}})";
  const std::vector<float> values(2000, -2.5f);
  std::string elements(reinterpret_cast<const char*>(values.data()), 8000);
  elements += std::string("\0\2", 2);
  for (int shift = 0; shift < 8; ++shift, header += ' ') {
    const bool aligned = header.size() % 4 == 0;
    const io::Named got = io::load_safetensors(write("x", safetensors_of(header, elements)), {.device = cpu()});
    EXPECT_EQ(got.at("a").to_vector<float>(), values);
    EXPECT_EQ(is_mapped(got.at("a")), aligned) << shift;
    EXPECT_EQ(got.at("b").to(i32).to_vector<std::int32_t>(), (std::vector<std::int32_t>{0, 1}));
  }
}
TEST_F(StoredFiles, GiveTensorsOneByOne) {
  io::save_safetensors(at("x"), {{"b", arange(0, 6).reshape({2, 3})}, {"a", full({}, 2.5, {.dtype = f64})}},
                       {{"made by", "a test"}});
  const io::SafetensorsFile file(at("x"));
  EXPECT_EQ(file.names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(file.contains("a"));
  EXPECT_FALSE(file.contains("c"));
  EXPECT_EQ(file.dtype("a"), f64);
  EXPECT_EQ(file.shape("b"), Shape({2, 3}));
  EXPECT_EQ(file.metadata().at("made by"), "a test");
  EXPECT_EQ(file.load("a").item<double>(), 2.5);
  EXPECT_EQ(file.load("a", {.dtype = f32}).dtype(), f32);
  EXPECT_EQ(sum(io::SafetensorsFile(file).load("b")).item<std::int64_t>(), 15);
  for (const auto& call : {std::function<void()>([&] { file.load("c"); }), {[&] { (void)file.dtype("c"); }},
                           {[&] { (void)file.shape("c"); }}})
    try {
      call();
      ADD_FAILURE() << "no error";
    } catch (const Error& e) {
      EXPECT_EQ(static_cast<int>(e.kind()), static_cast<int>(ErrorKind::value));
      EXPECT_NE(std::string(e.what()).find("'c'"), std::string::npos) << e.what();
    }
  expect_io({"nothing", "No such file"}, [&] { io::SafetensorsFile nothing(at("nothing")); });
}

// ---- what the format lacks

TEST_F(StoredFiles, HoldWideComplexNumbersAsPairs) {
  const Tensor z = make_complex(tensor({1.0, -2.5}), tensor({0.5, -3.0})).to(c128);
  const io::Named all{{"\"z\", named ü", z},
                      {"empty", empty({2, 0}, c128)},
                      {"rank 8", z.reshape({1, 1, 1, 1, 1, 1, 1, 2})},
                      {"x", tensor({1.0, 2.0}, {1, 2}).to(f64)}};
  io::save_safetensors(at("x"), all, {{"made by", "a test"}});
  std::map<std::string, std::string> texts;
  expect_same(io::load_safetensors(at("x"), {}, &texts), all);
  EXPECT_EQ(texts, (std::map<std::string, std::string>{{"made by", "a test"}}));
  EXPECT_EQ(io::SafetensorsFile(at("x")).shape("empty"), Shape({2, 0}));
  // What other programs see: pairs of f64.
  io::save_safetensors(at("z"), {{"z", z}});
  const std::string bytes = read(at("z"));
  EXPECT_NE(bytes.find(R"("z":{"dtype":"F64","shape":[2,2],"data_offsets":[0,32]})"), std::string::npos) << bytes;
  std::string plain = bytes;
  plain.replace(plain.find("tern.c128"), 9, "some text");
  const Tensor pairs = io::load_safetensors(write("plain", plain)).at("z");
  EXPECT_TRUE(allclose(pairs, view_as_real(z), 0, 0));
  const std::vector<Tensor> model{zeros({2}, c128)};
  io::save(at("m"), std::vector<Tensor>{z}), io::load(at("m"), model);
  expect_same(model[0], z, "z");
}
TEST_F(StoredFiles, WhoseNotesOnComplexNumbersAreWrongAreRefused) {
  const std::string text = "a list of tensors of the file in 'tern.c128'";
  const auto refuse = [&](const std::string& note, const std::string& entry, const std::string& part) {
    const std::string header = R"({"__metadata__":{"tern.c128":")" + note + R"("},"z":)" + entry + "}";
    expect_io({"load_safetensors", part},
              [&] { io::load_safetensors(write("x", safetensors_of(header, std::string(16, '\1')))); });
  };
  const std::string good = R"({"dtype":"F64","shape":[2],"data_offsets":[0,16]})";
  refuse("", good, "in JSON"), refuse("[", good, "in JSON"), refuse("[[[[", good, "deeper");
  refuse("{}", good, text), refuse("[1]", good, text), refuse(R"([\"y\"])", good, text);
  refuse(R"([\"z\",\"z\"])", good, text), refuse(R"([\"__metadata__\"])", good, text);
  const std::string pairs = "F64 with a last axis of 2 for 'z'";
  refuse(R"([\"z\"])", R"({"dtype":"F32","shape":[2,2],"data_offsets":[0,16]})", pairs);
  refuse(R"([\"z\"])", R"({"dtype":"F64","shape":[2,1],"data_offsets":[0,16]})", pairs);
  refuse(R"([\"z\"])", R"({"dtype":"F64","shape":[],"data_offsets":[0,16]})", pairs);
  expect_io({"'tern.c128'"}, [&] { io::save_safetensors(at("y"), {{"a", ones({1})}}, {{"tern.c128", "[]"}}); });
  EXPECT_FALSE(std::filesystem::exists(at("y")));
}

}  // namespace
}  // namespace tern::test
