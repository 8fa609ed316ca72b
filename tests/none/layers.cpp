// The rooms of src/ and the arrows between them: what a room includes. An arrow that runs up, or from one backend to
// another, fails; so does a file in no room.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace tern {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = TERN_SOURCE;

/// The lines of a list of the library's: names("include/tern/backends.inc", "TERN_BACKEND(") are the backends.
std::vector<std::string> names(const char* list, const std::string& macro) {
  std::vector<std::string> found;
  std::ifstream in(kSource / list);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(macro)) found.push_back(line.substr(macro.size(), line.find_first_of(",)") - macro.size()));
  return found;
}

/// What a room may include beside itself and what is generated. Public headers belong to rooms, too.
const std::map<std::string, std::set<std::string>>& rooms() {
  static const std::map<std::string, std::set<std::string>> map = [] {
    const std::set<std::string> interface{"backend", "requests", "formula", "process"};
    const auto with = [&](std::set<std::string> more) {
      more.insert(interface.begin(), interface.end());
      return more;
    };
    std::map<std::string, std::set<std::string>> all{
        {"types", {}},  // dtypes, shapes, errors: everybody's
        {"process", {}},
        {"formula", {"process"}},
        {"backend", {"formula", "process"}},
        {"requests", {"backend", "formula", "process"}},  // src/primitives/<name>/<name>.hpp
        {"gpu", interface},
        {"autodiff", interface},
        // What operations are called by: their public headers. Bodies call each other through these alone.
        {"declarations", {"autodiff", "backend", "formula", "process"}},
        // src/primitives/<name>/operation*: what makes requests
        {"operations", with({"autodiff", "declarations"})},
        {"ops", {"autodiff", "declarations", "operations", "backend", "formula", "process"}},
        {"optim", {"autodiff", "declarations", "operations", "ops", "backend", "formula", "process"}},
        {"io", with({"autodiff"})},
        {"tern", with({"autodiff", "declarations", "optim", "io"})},  // tern/tern.hpp
        // compiled into tests and tools
        {"entries", with({"autodiff", "declarations", "operations", "ops", "optim", "io", "tern"})},
    };
    // Of a primitive's folder: its table of kernels, and what its kernels of several backends share; those of GPUs in
    // common, gpu*; and those of a backend alone, cpu*, cuda*, webgpu*. Large primitives have folders for them.
    all["primitives"] = with({"gpu"});
    all["gpu kernels"] = with({"primitives", "gpu"});
    for (const std::string& backend : names("include/tern/backends.inc", "TERN_BACKEND(")) {
      all[backend] = backend == "cpu" ? interface : with({"gpu"});
      all[backend + " kernels"] = backend == "cpu" ? with({"primitives", "cpu"})
                                                   : with({"primitives", "gpu", "gpu kernels", backend});
    }
    for (auto& [room, known] : all) known.insert("types");
    return all;
  }();
  return map;
}

/// The rooms of the public headers.
const std::map<std::string, std::string>& public_headers() {
  static const std::map<std::string, std::string> map{
      {"dtype.hpp", "types"}, {"error.hpp", "types"}, {"shape.hpp", "types"}, {"dlpack.hpp", "types"},
      {"fixed.hpp", "formula"}, {"formula.hpp", "formula"}, {"formulas.inc", "formula"},
      {"elementary.inc", "formula"}, {"operands.hpp", "formula"},
      {"backends.inc", "backend"}, {"call_ref.hpp", "backend"}, {"capture.hpp", "backend"}, {"cuda.hpp", "backend"},
      {"device.hpp", "backend"}, {"methods.inc", "backend"}, {"pool.hpp", "backend"}, {"tensor.hpp", "backend"},
      {"trace.hpp", "backend"}, {"tuning.hpp", "backend"}, {"webgpu.hpp", "backend"},
      {"autodiff.hpp", "autodiff"}, {"checkpoint.hpp", "autodiff"}, {"transforms.hpp", "autodiff"},
      {"tree.hpp", "autodiff"},
      {"fft.hpp", "declarations"}, {"aliases.hpp", "declarations"}, {"complex.hpp", "declarations"},
      {"compositions.hpp", "declarations"}, {"creation.hpp", "declarations"}, {"indexing.hpp", "declarations"},
      {"neural.hpp", "declarations"}, {"linalg.hpp", "declarations"}, {"ops.hpp", "declarations"},
      {"products.hpp", "declarations"}, {"random.hpp", "declarations"}, {"sets.hpp", "declarations"},
      {"special.hpp", "declarations"}, {"statistics.hpp", "declarations"}, {"views.hpp", "declarations"},
      {"refusals.hpp", "declarations"},
      {"interop.hpp", "declarations"}, {"eigen.hpp", "declarations"},
      {"implicit.hpp", "optim"}, {"optim.hpp", "optim"},
      {"io.hpp", "io"},
      {"tern.hpp", "tern"},
  };
  return map;
}

/// The room of a file, given from src/ or include/ on: that of a public header, else its first folder, or "requests",
/// of an operation that lies with its primitive, "operations", and of entries, whichever folder they lie in, "entries".
std::string room_of(const fs::path& file) {
  auto part = file.begin();
  const std::string folder = part->string(), last = file.filename();
  if (folder == "tern") {
    const auto found = public_headers().find(last);
    return found == public_headers().end() ? "" : found->second;
  }
  if (last.find(".trial.") != std::string::npos || last == "entry.hpp") return "entries";
  if (folder != "primitives") return folder;
  if (last == "primitives.inc") return "backend";
  if (last.starts_with("operation")) return "operations";
  const std::string name = (++part)->string();
  if (last == name + ".hpp") return "requests";
  const std::string begin = last.substr(0, last.find_first_of("_.-"));
  if (begin == "lanes") return "cpu kernels";  // compiled for each SIMD target
  return rooms().contains(begin + " kernels") ? begin + " kernels" : "primitives";
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}
std::vector<std::string> includes_of(const fs::path& file) {
  std::vector<std::string> list;
  std::istringstream in(text_of(file));
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#ifdef TERN_ENTRIES")) break;  // of tests and tools
    const std::size_t begin = line.find_first_of("\"<");
    if (!line.starts_with("#include ") || begin == std::string::npos) continue;
    list.push_back(line.substr(begin + 1, line.find_last_of("\">") - begin - 1));
  }
  return list;
}
std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> list;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) list.push_back(entry.path());
  return list;
}

TEST(Layers, NoArrowRunsUp) {
  int arrows = 0;
  for (const char* root : {"src", "include"})
    for (const fs::path& path : files_below(kSource / root)) {
      const fs::path file = fs::relative(path, kSource / root);
      ASSERT_GT(std::distance(file.begin(), file.end()), 1) << file << " lies in no room of " << root;
      const std::string room = room_of(file);
      const auto rules = rooms().find(room);
      ASSERT_NE(rules, rooms().end()) << file << " lies in a room that this test does not know";
      for (const std::string& include : includes_of(path)) {
        if (include.find('/') == std::string::npos || include.starts_with("hwy/") || include.starts_with("Eigen/") ||
            include.starts_with("sys/") || include.starts_with("dlpack/") || include.starts_with("nlohmann/"))
          continue;
        const std::string other = room_of(include);
        EXPECT_TRUE(other == room || rules->second.contains(other))
            << file << " includes " << include << ": " << room << " must not know " << other;
        ++arrows;
      }
    }
  EXPECT_GT(arrows, 600);
}

/// What is about one GPU's language lies with its backend, and not with what GPUs share: a source file there is called
/// neither by a backend nor by a language. (Kernels are: their suffix is the language of their text. wgsl_math.inc and
/// wgsl_bits.inc are texts of functions that elementary functions name; the formulas' files have the others.)
TEST(Layers, NoBackendsFileLiesElsewhere) {
  std::vector<std::string> theirs = names("include/tern/backends.inc", "TERN_BACKEND(");
  for (const char* language : {"wgsl", "ptx", "spirv"}) theirs.push_back(language);
  for (const fs::path& path : files_below(kSource / "src" / "gpu")) {
    const std::string name = path.filename();
    if (name == "wgsl_math.inc" || name == "wgsl_bits.inc") continue;
    for (const std::string& begin : theirs)
      EXPECT_FALSE(name.starts_with(begin)) << path << " is about one of the GPUs' backends";
  }
}

/// Files that say by their name what they are about, in the room where that is, and so in no other.
TEST(Layers, FilesLieInTheRoomOfTheirSubject) {
  // Operations may know autodiff, and optimisers both, so that no include would tell.
  const std::map<std::string, std::set<std::string>> subjects{
      {"transforms", {"autodiff", "cuda"}},  // cuda/transforms are cuFFT's
      {"gradcheck", {"autodiff"}},           {"checkpoint", {"autodiff"}}, {"backward", {"autodiff"}},
      {"optim", {"optim"}},                  {"updates", {"optim"}},       {"clip", {"optim"}},
  };
  std::set<std::string> met;
  for (const fs::path& path : files_below(kSource / "src")) {
    const fs::path file = fs::relative(path, kSource / "src");
    const std::string name = file.stem().stem();  // without .trial
    const auto found = subjects.find(name);
    if (found == subjects.end()) continue;
    met.insert(name);
    EXPECT_TRUE(found->second.contains(file.begin()->string())) << file << " does not lie with " << name;
  }
  for (const auto& [subject, folders] : subjects)
    EXPECT_TRUE(met.contains(subject)) << "no file is called " << subject << ": correct the list";
  // The interface of dialects is what GPUs share; each is with its backend.
  for (const fs::path& path : files_below(kSource / "src")) {
    const fs::path file = fs::relative(path, kSource / "src");
    const std::string name = file.stem();
    if (!name.starts_with("dialect") || file == "gpu/text/dialect.hpp") continue;
    const std::vector<std::string> backends = names("include/tern/backends.inc", "TERN_BACKEND(");
    EXPECT_NE(std::ranges::find(backends, file.begin()->string()), backends.end()) << file << " is a backend's";
  }
}

/// What is written as text is entered for "gpu", whichever backend it was made for: a further GPU backend then has it
/// (docs/add_a_backend.md). CUDA alone has kernels in a language of its own.
TEST(Layers, TextsAreEnteredForEveryGpu) {
  int kernels = 0;
  for (const fs::path& path : files_below(kSource / "src" / "primitives")) {
    const std::string text = text_of(path);
    for (const std::string& backend : names("include/tern/backends.inc", "TERN_BACKEND(")) {
      if (backend == "cpu" || backend == "cuda") continue;
      EXPECT_EQ(text.find("{\"" + backend + "\", kernel_of<detail_gpu"), std::string::npos) << path;
    }
    kernels += text.find("{\"gpu\", kernel_of") != std::string::npos;
  }
  EXPECT_GT(kernels, 8);
}

/// The types of primitives' requests.
std::vector<std::string> types_of_requests() {
  std::vector<std::string> requests;
  std::istringstream list(text_of(kSource / "src/primitives/primitives.inc"));
  for (std::string line; std::getline(list, line);)
    if (line.starts_with("TERN_PRIMITIVE("))
      requests.push_back(line.substr(line.find(", ") + 2, line.find(')') - line.find(", ") - 2));
  EXPECT_GE(requests.size(), 5u);
  return requests;
}
/// The dispatcher, recordings, reports and tuning carry any request: they name none.
TEST(Layers, NoPlumbingNamesARequest) {
  const std::vector<std::string> requests = types_of_requests();
  std::vector<fs::path> plumbing = files_below(kSource / "src" / "backend");
  for (const fs::path& path : files_below(kSource / "src" / "gpu" / "plan")) plumbing.push_back(path);
  for (const fs::path& path : fs::directory_iterator(kSource / "src" / "gpu"))
    if (path.filename().string().starts_with("gpu_backend")) plumbing.push_back(path);
  for (const fs::path& path : plumbing) {
    const std::string text = text_of(path);
    for (const std::string& request : requests)
      EXPECT_EQ(text.find(request), std::string::npos) << path << " names " << request;
    for (const std::string& include : includes_of(path))
      EXPECT_TRUE(!include.starts_with("primitives/") || include == "primitives/primitives.inc")
          << path << " includes " << include;
  }
}

/// What does lies in its primitive's folder (operation*), or is compiled into tests and tools.
TEST(Layers, NoOperationElsewhereNamesARequest) {
  const std::vector<std::string> requests = types_of_requests();
  int files = 0;
  for (const char* folder : {"ops", "optim", "autodiff", "io"})
    for (const fs::path& path : files_below(kSource / "src" / folder)) {
      if (room_of(fs::relative(path, kSource / "src")) == "entries") continue;
      const std::string text = text_of(path);
      for (const std::string& request : requests)
        EXPECT_EQ(text.find(request), std::string::npos) << path << " names " << request;
      ++files;
    }
  EXPECT_GT(files, 40);
}

/// Characters, not bytes, of UTF-8.
std::size_t columns_of(const std::string& line) {
  std::size_t columns = 0;
  for (const char c : line) columns += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return columns;
}

/// Of every text but Markdown (tests/pages.sh), printed kernels (tests/golden) and results of measurements.
TEST(Layers, NoLineIsLongerThan120Columns) {
  const std::set<std::string> kinds{".cpp", ".hpp", ".h",     ".inc", ".cu",  ".wgsl",
                                    ".py",  ".sh",  ".cmake", ".in",  ".txt", ""};
  std::vector<fs::path> files{kSource / "CMakeLists.txt"};
  for (const char* folder : {"src", "include", "tests", "tools", "bench", "examples", "script", "cmake"})
    for (const fs::path& path : files_below(kSource / folder))
      if (kinds.contains(path.extension()) && path.parent_path().filename() != "golden" &&
          path.stem().extension() != ".golden")
        files.push_back(path);
  for (const fs::path& path : files) {
    std::istringstream in(text_of(path));
    int number = 0;
    for (std::string line; std::getline(in, line);) {
      ++number;
      EXPECT_TRUE(columns_of(line) <= 120 || line.starts_with("#pragma")) << path << ":" << number;
    }
  }
  EXPECT_GT(files.size(), 400u);
}

}  // namespace
}  // namespace tern
