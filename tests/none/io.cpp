// Files of tensors: what other programs read and write, damage, full disks.
#include "tern/io.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <random>

#include "child.hpp"
#include "io/zip.hpp"
#include "stored_files.hpp"

namespace tern {
namespace {

namespace fs = std::filesystem;
using test::StoredFiles, test::expect_io, test::expect_same;

constexpr DType kAll[] = {boolean, u8, i8, i16, i32, u32, i64, f16, bf16, f32, f64, c64, c128};
io::Named samples() {
  io::Named list;
  for (const DType dtype : kAll) {
    const Tensor x = (arange(0, 6).reshape({2, 3}) - (dtype == u8 || dtype == u32 ? 0 : 2)).to(dtype);
    list[std::string(to_string(dtype))] = x;
    list[std::string(to_string(dtype)) + ", turned"] = x.T();
    list[std::string(to_string(dtype)) + ", empty"] = empty({2, 0, 3}, dtype);
  }
  list["a number"] = full({}, 2.5);
  list["not finite"] = tensor(std::vector<float>{0, -0.0f, INFINITY, -INFINITY, NAN});
  list["Größe/ñ\n\"quoted\""] = ones({1, 1, 1, 1, 1, 1, 1, 1});
  list[""] = arange(0, 3);
  return list;
}
// ---- round trips

TEST_F(StoredFiles, KeepEveryDtypeAndShape) {
  const io::Named all = samples();
  for (const auto& [name, tensor] : all) {
    io::save_npy(at("x.npy"), tensor);
    expect_same(io::load_npy(at("x.npy")), tensor, name);
  }
  for (const bool compress : {false, true}) {
    io::save_npz(at("x.npz"), all, {.compress = compress});
    expect_same(io::load_npz(at("x.npz")), all);
  }
  io::save_safetensors(at("x.safetensors"), all, {{"made by", "a test"}});
  std::map<std::string, std::string> metadata;
  expect_same(io::load_safetensors(at("x.safetensors"), {}, &metadata), all);
  EXPECT_EQ(metadata.at("made by"), "a test");
  EXPECT_EQ(count(), 3u);  // no draft is left
  io::save_npz(at("x.npz"), {}), io::save_safetensors(at("x.safetensors"), {});
  EXPECT_TRUE(io::load_npz(at("x.npz")).empty());
  EXPECT_TRUE(io::load_safetensors(at("x.safetensors")).empty());
}
TEST_F(StoredFiles, ConvertWhatIsAskedFor) {
  io::save_npy(at("x.npy"), tensor({1.5, -2.5}, f64));
  const Tensor x = io::load_npy(at("x.npy"), {.dtype = f32});
  EXPECT_EQ(x.dtype(), f32);
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{1.5f, -2.5f}));
}

std::string npy(const std::string& dictionary, const std::string& elements, int version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version), bytes += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) bytes += static_cast<char>(dictionary.size() >> 8 * i & 0xff);
  return bytes + dictionary + elements;
}
TEST_F(StoredFiles, AreThoseOfNumPy) {
  io::save_npy(at("x.npy"), tensor({1, 2, 3}));
  std::string header = "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }";
  header.append(117 - header.size(), ' ');  // numpy.save pads to 128 bytes, the shortest multiple of 64 here is 128
  EXPECT_EQ(read(at("x.npy")), npy(header + "\n", std::string("\1\0\0\0\2\0\0\0\3\0\0\0", 12)));
  const std::string two("\0\1\0\2\0\3\0\4", 8);
  write("big.npy", npy("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 2), }\n", two, 2));
  const Tensor x = io::load_npy(at("big.npy"));
  EXPECT_EQ(x.to_vector<std::int16_t>(), (std::vector<std::int16_t>{1, 3, 2, 4}));
  write("bool.npy", npy("{\"shape\": (2L,), 'fortran_order': False, 'descr': '|b1'}", std::string("\2\0", 2), 3));
  EXPECT_EQ(io::load_npy(at("bool.npy")).to(i32).to_vector<std::int32_t>(), (std::vector<std::int32_t>{1, 0}));
}

// ---- damage

TEST_F(StoredFiles, ThatAreNoNpyAreRefused) {
  const std::string four(4, '\1');
  const auto refuse = [&](const std::string& bytes, const std::vector<std::string>& parts) {
    const std::string path = write("x.npy", bytes);
    expect_io(parts, [&] { io::load_npy(path); });
  };
  const auto with = [&](const std::string& descr, const std::string& shape) {
    return npy("{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + ", }\n", four);
  };
  refuse("", {"load_npy", "x.npy", "got 0 bytes"});
  refuse("PK\3\4 and more", {"NUMPY", "PK"});
  refuse(npy("{}", "", 9), {"version 1, 2 or 3", "9"});
  refuse(with("'<f4'", "(2,)"), {"8 bytes of elements", "got 4"});
  refuse(with("'<f4'", "(4294967296, 4294967296)"), {"63 bits"});
  refuse(with("'<f4'", "(0, 4611686018427387904, 4)"), {"63 bits"});
  refuse(with("'<f4'", "(99999999999999999999,)"), {"64 bits"});
  refuse(with("'<f4'", "(1, 1, 1, 1, 1, 1, 1, 1, 1)"), {"at most 8 axes", "9"});
  refuse(with("'<f4'", "(-1,)"), {"sizes", "-1"});
  refuse(with("'<u2'", "(2,)"), {"a type that tern has", "'<u2'"});
  refuse(with("'|O'", "(1,)"), {"a type that tern has"});
  refuse(with("'<M8[ns]'", "(1,)"), {"a type that tern has"});
  refuse(with("[('a', '<f4')]", "(1,)"), {"elements of one type", "records"});
  refuse(npy("{'descr': '<f4', 'descr': '<f4', 'shape': (1,), }", four), {"each once"});
  refuse(npy("{'descr': '<f4', 'shape': (1,), }", four), {"fewer keys"});
  refuse(npy("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,), }", four), {"True or False"});
  refuse(std::string("\x93NUMPY\2\0\xff\xff\xff\xff", 12), {"a header of at most 0 bytes", "4294967295"});
  expect_io({"nothing.npy", "No such file"}, [&] { io::load_npy(at("nothing.npy")); });
  expect_io({"it is a folder"}, [&] { io::load_npy(folder_.path().string()); });
}

std::string safetensors(const std::string& header, const std::string& elements, std::uint64_t size = 0) {
  if (!size) size = header.size();
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(size >> 8 * i & 0xff);
  return bytes + header + elements;
}
TEST_F(StoredFiles, ThatAreNoSafetensorsAreRefused) {
  const auto refuse = [&](const std::string& bytes, const std::vector<std::string>& parts) {
    const std::string path = write("x.safetensors", bytes);
    expect_io(parts, [&] { io::load_safetensors(path); });
  };
  const std::string eight(8, '\1');
  const auto one = [](const std::string& name, const std::string& dtype, const std::string& shape,
                      const std::string& offsets) {
    return "\"" + name + R"(":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
  };
  refuse("1234", {"load_safetensors", "x.safetensors", "got 4 bytes"});
  refuse(safetensors("{}", "", std::uint64_t{1} << 60), {"at most 2 bytes", "1152921504606846976"});
  refuse(safetensors("{}", eight), {"0 bytes of elements", "got 8"});
  refuse(safetensors("{", ""), {"in JSON"});
  refuse(safetensors("[]", ""), {"names in the header"});
  refuse(safetensors(std::string(1 << 20, '['), ""), {"deeper"});
  refuse(safetensors("{" + one("a", "F32", "[[[[1]]]]", "[0,4]") + "}", eight), {"deeper"});
  refuse(safetensors("{" + one("a", "F32", "[2]", "[0,8]") + "," + one("a", "F32", "[2]", "[0,8]") + "}", eight),
         {"each name once", "'a' twice"});
  refuse(safetensors("{" + one("a", "F32", "[2]", "[0,8]") + "," + one("b", "F32", "[1]", "[4,8]") + "}", eight),
         {"'b' at byte 8", "where another one is"});
  refuse(safetensors("{" + one("a", "F32", "[1]", "[4,8]") + "}", eight), {"'a' at byte 0", "gap"});
  refuse(safetensors("{" + one("a", "F32", "[4]", "[0,16]") + "}", eight), {"16 bytes of elements", "got 8"});
  refuse(safetensors("{" + one("a", "F32", "[2]", "[8,0]") + "}", eight), {"a beginning and an end"});
  refuse(safetensors("{" + one("a", "F32", "[1]", "[0,8]") + "}", eight), {"4 bytes for 'a'", "got 8"});
  refuse(safetensors("{" + one("a", "F32", "[4294967296,4294967296]", "[0,8]") + "}", eight), {"63 bits"});
  refuse(safetensors("{" + one("a", "F32", "[-2]", "[0,8]") + "}", eight), {"counts in 'shape'", "-2"});
  refuse(safetensors("{" + one("a", "F32", "[2.0]", "[0,8]") + "}", eight), {"counts in 'shape'"});
  refuse(safetensors("{" + one("a", "F8_E4M3", "[8]", "[0,8]") + "}", eight), {"a dtype that tern has", "F8_E4M3"});
  refuse(safetensors(R"({"a":{"dtype":"F32"}})", eight), {"'dtype', 'shape' and 'data_offsets'"});
  refuse(safetensors(R"({"__metadata__":{"a":1}})", ""), {"a text for 'a'"});
  expect_io({"taken by the format"}, [&] { io::save_safetensors(at("y"), {{"__metadata__", ones({1})}}); });
  expect_io({"UTF-8"}, [&] { io::save_safetensors(at("y"), {{"\xff", ones({1})}}); });
  EXPECT_FALSE(fs::exists(at("y")));
}

/// An archive with numbers of its directory changed.
void set(std::string& bytes, std::size_t at, std::uint64_t value, int width) {
  for (int i = 0; i < width; ++i) bytes[at + static_cast<std::size_t>(i)] = static_cast<char>(value >> 8 * i & 0xff);
}
TEST_F(StoredFiles, ThatAreNoNpzAreRefused) {
  io::save_npz(at("x.npz"), {{"a", ones({100})}, {"b", zeros({100})}}, {.compress = true});
  const std::string good = read(at("x.npz"));
  const std::size_t first = good.find("PK\1\2"), second = good.find("PK\1\2", first + 4), end = good.find("PK\5\6");
  const std::size_t wide = first + 46 + 5 + 4;  // the sizes of the zip64 field
  const auto refuse = [&](std::size_t place, std::uint64_t value, int width, const std::vector<std::string>& parts) {
    std::string bytes = good;
    set(bytes, place, value, width);
    const std::string path = write("y.npz", bytes);
    expect_io(parts, [&] { io::load_npz(path); });
  };
  refuse(first + 16, 7, 4, {"checksum 7 of 'a.npy'"});
  refuse(first + 10, 12, 2, {"method 12"});
  refuse(first + 8, 1, 2, {"not encrypted"});
  refuse(wide, std::uint64_t{1} << 50, 8, {"can become", "1125899906842624"});  // a bomb
  refuse(wide + 8, std::uint64_t{1} << 62, 8, {"in front of the directory"});
  refuse(second + 46 + 5 + 4 + 16, 0, 8, {"which overlap"});
  refuse(second + 46, 'a', 1, {"each name once"});
  refuse(first + 46 + 2, 'x', 1, {"named ‹name›.npy"});
  refuse(end + 16, good.size(), 4, {"a directory inside the file"});
  refuse(end, 0, 4, {"its directory at the end"});
  std::string bytes = good.substr(0, good.size() / 2);
  expect_io({"its directory at the end"}, [&] { io::load_npz(write("y.npz", bytes)); });
}

/// A sparse file of 64 GiB whose zip64 record says that all of it is the directory: refused before memory is taken.
TEST_F(StoredFiles, ThatClaimAHugeDirectoryAreRefusedAtOnce) {
  constexpr std::uint64_t kBytes = std::uint64_t{64} << 30;
  for (const std::uint64_t count : {kBytes / 46, kBytes / 46 / 8192, std::uint64_t{1}}) {
    std::string tail(98, '\0');  // the record, where it is, and the end
    set(tail, 0, 0x06064b50, 4), set(tail, 4, 44, 8), set(tail, 24, count, 8), set(tail, 32, count, 8);
    set(tail, 40, kBytes, 8), set(tail, 48, 0, 8);
    set(tail, 56, 0x07064b50, 4), set(tail, 64, kBytes, 8), set(tail, 72, 1, 4);
    set(tail, 76, 0x06054b50, 4), set(tail, 84, 0xffff, 2), set(tail, 86, 0xffff, 2);
    set(tail, 88, 0xffffffff, 4), set(tail, 92, 0xffffffff, 4);
    const std::string path = write("x.npz", "");
    if (::truncate(path.c_str(), kBytes) != 0) GTEST_SKIP() << "no file of 64 GiB can be made here";
    std::ofstream(path, std::ios::binary | std::ios::app) << tail;
    const auto before = std::chrono::steady_clock::now();
    expect_io({count == kBytes / 46 ? "entries, got 0" : "a directory inside the file"}, [&] { io::load_npz(path); });
    EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(5)) << count;
  }
}

/// Changes of every kind at random places: an Error or tensors, and nothing else. With sanitizers no byte outside is
/// read.
TEST_F(StoredFiles, SurviveRandomDamage) {
  const char* const full = std::getenv("TERN_TEST_FULL");
  const int rounds = full && *full == '1' ? 20000 : 2000;
  const io::Named tensors{{"a", arange(0, 12).reshape({3, 4})}, {"b", full_like(ones({5}), 2.5)}};
  io::save_npy(at("0"), tensors.at("a")), io::save_safetensors(at("3"), tensors, {{"k", "v"}});
  io::save_npz(at("1"), tensors), io::save_npz(at("2"), tensors, {.compress = true});
  std::string good[4];
  for (int i = 0; i < 4; ++i) good[i] = read(at(std::to_string(i)));
  test::waits_for_disk = false;
  std::mt19937 dice(1);
  int refused = 0, loaded = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto format = dice() % 4;
    std::string bytes = good[format];
    for (unsigned changes = 1 + dice() % 3; changes-- > 0 && !bytes.empty();) {
      const std::size_t place = dice() % (dice() % 2 ? bytes.size() : std::min<std::size_t>(bytes.size(), 160));
      const unsigned kind = dice() % 6;
      if (kind == 0) bytes.resize(place);
      else if (kind == 1) bytes.insert(place, 1 + dice() % 8, static_cast<char>(dice()));
      else if (kind == 2) bytes.erase(place, 1 + dice() % 8);
      else if (kind == 3) bytes[place] = static_cast<char>(bytes[place] ^ 1 << dice() % 8);
      else if (kind == 4) bytes[place] = "0123456789-[{\"',}]"[dice() % 18];
      else bytes[place] = static_cast<char>(dice() % 3 ? 0xff : dice());
    }
    // Also inside an archive whose checksums are right.
    if (format == 0 && dice() % 2) {
      io::detail::ZipWriter archive(at("x"));
      archive.add("a.npy", {bytes}, dice() % 2);
      archive.commit();
      bytes = read(at("x"));
    }
    const std::string path = write("x", bytes);
    using Load = void (*)(const std::string&);
    constexpr Load loads[] = {
        [](const std::string& p) { io::load_npy(p); }, [](const std::string& p) { io::load_npz(p); },
        [](const std::string& p) { io::load_npz(p); }, [](const std::string& p) { io::load_safetensors(p); }};
    for (const Load load : {loads[bytes.starts_with("PK") ? 1 : format], loads[dice() % 4]}) try {
        load(path), ++loaded;
      } catch (const Error& e) {
        ++refused;
        ASSERT_EQ(static_cast<int>(e.kind()), static_cast<int>(ErrorKind::io)) << e.what();
      }
  }
  test::waits_for_disk = true;
  EXPECT_GT(loaded, rounds / 100);
  EXPECT_GT(refused, rounds);
}

// ---- writing

TEST_F(StoredFiles, StayWholeWhereTheDiskIsFull) {
  io::save_npy(at("x"), arange(0, 5));
  const std::string before = read(at("x"));
  EXPECT_EQ(test::in_child([&] {
              std::signal(SIGXFSZ, SIG_IGN);
              const rlimit small{4096, 4096};
              if (setrlimit(RLIMIT_FSIZE, &small) != 0) return false;
              const Tensor large = zeros({10000});
              int refused = 0;
              const auto refuses = [&](const auto& f) {
                try {
                  f();
                } catch (const Error& e) {
                  refused += e.kind() == ErrorKind::io && std::strstr(e.what(), "File too large");
                }
              };
              refuses([&] { io::save_npy(at("x"), large); });
              refuses([&] { io::save_npz(at("x"), {{"a", large}}); });
              refuses([&] { io::save_safetensors(at("x"), {{"a", large}}); });
              return refused == 3;
            }),
            0);
  EXPECT_EQ(read(at("x")), before);
  EXPECT_EQ(count(), 1u);
}
TEST_F(StoredFiles, AreReplacedThroughLinksAndAreRegular) {
  fs::create_directory(at("real"));
  fs::create_symlink("real/x.npy", at("link"));
  io::save_npy(at("link"), arange(0, 5));
  EXPECT_TRUE(fs::is_symlink(at("link")));
  EXPECT_EQ(io::load_npy(at("real/x.npy")).numel(), 5);
  expect_io({"it is a device"}, [&] { io::save_npy("/dev/full", arange(0, 5)); });
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0600), 0);
  expect_io({"it is a pipe"}, [&] { io::save_npy(at("pipe"), arange(0, 5)); });
  expect_io({"it is a pipe"}, [&] { io::load_npy(at("pipe")); });
}

}  // namespace
}  // namespace tern
