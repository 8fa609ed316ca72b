// A libFuzzer target: what damaged or hostile npy, npz and safetensors files do. Each is either read, and then its
// elements, or refused with an Error of kind `io`. Safetensors are read at once, one by one, both where they lie, and
// into a model, which a refused file leaves as it was. The first byte says which of the three formats it is. An empty
// corpus folder gets files to begin with. Built of clang++ -fsanitize=fuzzer,address,undefined.
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

#include "tern/complex.hpp"
#include "tern/io.hpp"
#include "tern/tern.hpp"

namespace fuzzed {
/// What the files are saved from.
struct Model {
  tern::Tensor a, b, c, d, e, f, g;
};
}  // namespace fuzzed
TERN_FIELDS(fuzzed::Model, a, b, c, d, e, f, g)

namespace {

using namespace tern;
using fuzzed::Model;

enum Format { npy, npz, safetensors, formats };

std::string path_of(int format) {
  static const std::string folder = [] {
    const char* const given = std::getenv("TMPDIR");
    return std::string(given ? given : "/tmp") + "/tern_fuzz_files." + std::to_string(getpid());
  }();
  return folder + (format == npy ? ".npy" : format == npz ? ".npz" : ".safetensors");
}
unsigned char sum_of_bytes;

template <class T> void read_bytes(const Tensor& x) {
  if (x.dtype() != dtype_of<T>) return;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(x.data_ptr<const T>());
  const auto count = static_cast<std::size_t>(x.numel()) * sizeof(T);
  for (std::size_t i = 0; i < count; ++i) sum_of_bytes = static_cast<unsigned char>(sum_of_bytes + bytes[i]);
}
template <class... T> void read_bytes_of(const Tensor& x) { (read_bytes<T>(x), ...); }
/// Every element is looked at, by a kernel and here, where each access is checked: what a header promised must be
/// there.
void read_all(const Tensor& x) {
  const Tensor values = is_complex(x.dtype()) ? view_as_real(x) : x;
  if (values.contiguous().to(DType::f64).shape() != values.shape()) std::abort();
  read_bytes_of<bool, std::int8_t, std::uint8_t, std::int16_t, std::int32_t, std::uint32_t, std::int64_t, float16,
                bfloat16, float, double, std::complex<float>, std::complex<double>>(x.contiguous());
}
Model some_tensors() {
  return {arange(0, 6).to(DType::f32).reshape({2, 3}), full({3}, 1.5, {.dtype = DType::bf16}),
          zeros({0, 4}, {.dtype = DType::i64}),        full({}, 7, {.dtype = DType::u8}),
          full({2}, true, {.dtype = DType::boolean}),  full({2}, 1.5, {.dtype = DType::c64}),
          full({1, 2}, 2.5, {.dtype = DType::c128})};
}
/// f, where it is refused, is refused as it should be.
template <class F> bool reads(const F& f) {
  try {
    f();
    return true;
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::io) return false;
    std::fprintf(stderr, "an error of another kind than io: %s\n", e.what());
    std::abort();
  }
}
bool same(const Tensor& x, const Tensor& y) {
  const auto real = [](const Tensor& t) { return (is_complex(t.dtype()) ? view_as_real(t) : t).to(DType::f64); };
  return x.dtype() == y.dtype() && x.shape() == y.shape() && real(x).to_vector<double>() == real(y).to_vector<double>();
}
/// One by one, and the views live longer than the file.
void read_lazily(const std::string& path) {
  io::Named all;
  {
    const io::SafetensorsFile file(path);
    for (const std::string& name : file.names()) {
      const Tensor x = file.load(name);
      if (x.dtype() != file.dtype(name) || x.shape() != file.shape(name) || !file.contains(name)) std::abort();
      if (!is_complex(x.dtype())) read_all(file.load(name, {.dtype = DType::f32}));
      all.emplace(name, x);
    }
  }
  for (const auto& [name, x] : all) read_all(x);
}
void read_model(const std::string& path) {
  static const io::Named before = io::named(some_tensors());
  const Model model = some_tensors();
  const bool read = reads([&] { io::load(path, model); });
  for (const auto& [name, x] : io::named(model)) {
    read_all(x);
    if (!read && !same(x, before.at(name))) std::abort();
  }
}
void load(int format, const std::string& path) {
  const auto all = [](const io::Named& tensors) {
    for (const auto& [name, tensor] : tensors) read_all(tensor);
  };
  if (format == npy) return void(reads([&] { read_all(io::load_npy(path)); }));
  if (format == npz) return void(reads([&] { all(io::load_npz(path)); }));
  const bool whole = reads([&] { all(io::load_safetensors(path)); });
  if (reads([&] { read_lazily(path); }) != whole) std::abort();
  read_model(path);
}

void write_seeds(const std::filesystem::path& folder) {
  const auto add = [&](const char* name, int format) {
    std::ifstream saved(path_of(format), std::ios::binary);
    std::ofstream seed(folder / name, std::ios::binary);
    seed.put(static_cast<char>(format)) << saved.rdbuf();
  };
  const io::Named tensors = io::named(some_tensors());
  for (const auto& [name, tensor] : tensors) io::save_npy(path_of(npy), tensor), add(("npy_" + name).c_str(), npy);
  io::save_npz(path_of(npz), tensors), add("npz", npz);
  io::save_npz(path_of(npz), tensors, {.compress = true}), add("npz_compressed", npz);
  io::save_safetensors(path_of(safetensors), tensors, {{"made", "for this"}}), add("safetensors", safetensors);
  io::save(path_of(safetensors), some_tensors()), add("safetensors_model", safetensors);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  const std::filesystem::path last = (*arguments)[*count - 1];
  if (*count > 1 && std::filesystem::is_directory(last) && std::filesystem::is_empty(last)) write_seeds(last);
  (void)path_of(npy);  // what is made first is destroyed last: the names are there at the end
  std::atexit([] {
    for (int format = 0; format < formats; ++format) std::filesystem::remove(path_of(format));
  });
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, unsigned long size) {
  if (size == 0) return 0;
  const int format = data[0] % formats;
  const std::string path = path_of(format);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data) + 1, static_cast<std::streamsize>(size - 1));
  load(format, path);
  return 0;
}
