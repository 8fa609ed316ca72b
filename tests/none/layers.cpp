// The rooms of src/ and the arrows between them: what a room includes. An arrow that runs up, or from one backend to
// another, fails; so does a file in no room.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tern {
namespace {

namespace fs = std::filesystem;

/// What a room may include beside itself, the public headers and what is generated.
const std::map<std::string, std::set<std::string>>& rooms() {
  static const std::set<std::string> interface{"backend", "requests", "formula", "process"};
  static const auto with = [](std::set<std::string> more) {
    more.insert(interface.begin(), interface.end());
    return more;
  };
  static const std::map<std::string, std::set<std::string>> map{
      {"process", {}},
      {"formula", {"process"}},
      {"backend", {"formula", "process"}},
      {"requests", {"backend", "formula", "process"}},  // src/primitives/<name>/<name>.hpp
      {"cpu", interface},
      {"gpu", interface},
      {"cuda", with({"gpu"})},
      {"webgpu", with({"gpu"})},
      {"primitives", with({"cpu", "gpu", "cuda", "webgpu"})},  // kernels and rules
      {"autodiff", interface},
      {"ops", with({"autodiff"})},
      {"optim", with({"autodiff", "ops"})},
  };
  return map;
}

/// The room of a file, given from src/ on: its first folder, or "requests".
std::string room_of(const fs::path& file) {
  auto part = file.begin();
  const std::string folder = part->string();
  if (folder != "primitives") return folder;
  if (file.filename() == "primitives.inc") return "backend";
  const std::string name = (++part)->string();
  return file.filename() == name + ".hpp" ? "requests" : "primitives";
}

std::vector<std::string> includes_of(const fs::path& file) {
  std::vector<std::string> list;
  std::ifstream in(file);
  const std::string directive = "#include \"";
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(directive)) list.push_back(line.substr(directive.size(), line.rfind('"') - directive.size()));
  return list;
}

TEST(Layers, NoArrowRunsUp) {
  const fs::path src = fs::path(TERN_SOURCE) / "src";
  int arrows = 0;
  for (const auto& entry : fs::recursive_directory_iterator(src)) {
    if (!entry.is_regular_file()) continue;
    const fs::path file = fs::relative(entry.path(), src);
    ASSERT_GT(std::distance(file.begin(), file.end()), 1) << file << " lies in no room of src/";
    const std::string room = room_of(file);
    const auto rules = rooms().find(room);
    ASSERT_NE(rules, rooms().end()) << "src/" << room << " is a room that this test does not know";
    const std::string name = file.filename();
    EXPECT_FALSE(room == "gpu" && file.extension() == ".cpp" && (name.find("cuda") == 0 || name.find("wgsl") == 0))
        << file << " is about one of the GPUs' backends, and lies with what they share";
    for (const std::string& include : includes_of(entry.path())) {
      if (include.starts_with("tern/") || include.find('/') == std::string::npos) continue;
      const std::string other = room_of(include);
      EXPECT_TRUE(other == room || rules->second.contains(other))
          << file << " includes " << include << ": " << room << " must not know " << other;
      ++arrows;
    }
  }
  EXPECT_GT(arrows, 500);
}

/// Characters, not bytes, of UTF-8.
std::size_t columns_of(const std::string& line) {
  std::size_t columns = 0;
  for (const char c : line) columns += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return columns;
}

TEST(Layers, NoLineIsLongerThan120Columns) {
  int files = 0;
  for (const char* folder : {"src", "include"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(TERN_SOURCE) / folder)) {
      const std::string extension = entry.path().extension();
      if (extension != ".cpp" && extension != ".hpp" && extension != ".h") continue;
      std::ifstream in(entry.path());
      int number = 0;
      for (std::string line; std::getline(in, line);) {
        ++number;
        EXPECT_TRUE(columns_of(line) <= 120 || line.starts_with("#pragma")) << entry.path() << ":" << number;
      }
      ++files;
    }
  EXPECT_GT(files, 150);
}

}  // namespace
}  // namespace tern
