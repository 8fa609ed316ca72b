// A folder of files with tensors, and what they should hold.
#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "folder.hpp"
#include "tern/tern.hpp"

namespace tern::test {

/// Whether files reach the disk: that takes 30 ms each, and is no matter where a test writes hundreds.
inline bool waits_for_disk = true;

class StoredFiles : public testing::Test {
 protected:
  std::string at(const std::string& name) const { return folder_ / name; }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(at(name), std::ios::binary) << bytes;
    return at(name);
  }
  static std::string read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  std::size_t count() const {
    using Files = std::filesystem::directory_iterator;
    return static_cast<std::size_t>(std::distance(Files(folder_.path()), Files()));
  }
  Folder folder_;
};

template <class F> void expect_io(const std::vector<std::string>& parts, const F& f) {
  try {
    f();
    ADD_FAILURE() << "no error was thrown";
  } catch (const Error& e) {
    EXPECT_EQ(static_cast<int>(e.kind()), static_cast<int>(ErrorKind::io)) << e.what();
    for (const std::string& part : parts)
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << part << " is missing in: " << e.what();
  }
}

inline void expect_same(const Tensor& got, const Tensor& want, const std::string& name) {
  ASSERT_EQ(got.dtype(), want.dtype()) << name;
  ASSERT_EQ(got.shape(), want.shape()) << name;
  const DType widest = is_complex(want.dtype()) ? c128 : f64;
  EXPECT_TRUE(allclose(got.to(widest), want.to(widest), 0, 0, true)) << name;
}
inline void expect_same(const io::Named& got, const io::Named& want) {
  ASSERT_EQ(got.size(), want.size());
  for (const auto& [name, tensor] : want) {
    ASSERT_TRUE(got.contains(name)) << name;
    expect_same(got.at(name), tensor, name);
  }
}

}  // namespace tern::test
