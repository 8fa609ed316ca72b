#include "data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace digits {
namespace {

constexpr int kColumns = kPixels + 1;
constexpr std::string_view kNameAnother = "name another file with --data or TERN_DIGITS_DATA";

[[noreturn]] void fail(const std::filesystem::path& file, std::size_t line, std::string_view problem) {
  throw DataError(fmt::format("{}:{}: {}; restore the file, or {}", file.string(), line, problem, kNameAnother));
}

/// A field as it may stand in a message: short and printable.
std::string shown(std::string_view field) {
  constexpr std::size_t longest = 20;
  std::string text(field.substr(0, longest));
  std::ranges::replace_if(text, [](char c) { return c < ' ' || c > '~'; }, '?');
  return field.size() > longest ? text + "..." : text;
}

/// One field: a whole number from 0 to `highest`.
int parse_field(std::string_view field, int highest, int column, const std::filesystem::path& file,
                std::size_t line) {
  const std::string_view what = column == kColumns ? "label" : "pixel";
  int value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  const bool number = error != std::errc::invalid_argument && end == field.data() + field.size();
  if (!number) fail(file, line, fmt::format("column {}: \"{}\" is not a whole number", column, shown(field)));
  if (error == std::errc::result_out_of_range || value < 0 || value > highest)
    fail(file, line, fmt::format("column {}: {} {} is outside 0..{}", column, what, shown(field), highest));
  return value;
}

void parse_line(std::string_view text, const std::filesystem::path& file, std::size_t line, Digits& digits) {
  const auto columns = std::ranges::count(text, ',') + 1;
  if (columns != kColumns)
    fail(file, line, fmt::format("expected {} columns (64 pixels and a label), found {}", kColumns, columns));
  std::array<std::uint8_t, kPixels> image{};
  for (int column = 1; column <= kPixels; ++column) {
    const auto comma = text.find(',');
    const int grey = parse_field(text.substr(0, comma), kMaxGrey, column, file, line);
    image[static_cast<std::size_t>(column - 1)] = static_cast<std::uint8_t>(grey);
    text.remove_prefix(comma + 1);
  }
  digits.append(image, parse_field(text, kClasses - 1, kColumns, file, line));
}

std::ifstream open(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored))
    throw DataError(fmt::format("{} is a folder, not a data file; {}", file.string(), kNameAnother));
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    const std::string reason = errno != 0 ? std::generic_category().message(errno) : "it cannot be opened";
    throw DataError(fmt::format("{}: {}; {}", file.string(), reason, kNameAnother));
  }
  return in;
}

}  // namespace

void Digits::append(std::span<const std::uint8_t> image, std::int32_t label) {
  pixels.insert(pixels.end(), image.begin(), image.end());
  labels.push_back(label);
}

std::vector<float> Digits::scaled_pixels() const {
  std::vector<float> scaled(pixels.size());
  std::ranges::transform(pixels, scaled.begin(), [](std::uint8_t grey) {
    return static_cast<float>(grey) / static_cast<float>(kMaxGrey) - 0.5f;
  });
  return scaled;
}

Digits read_digits(const std::filesystem::path& file) {
  std::ifstream in = open(file);
  Digits digits;
  std::string text;
  std::size_t blank = 0;  // blank lines may end the file, not interrupt it
  for (std::size_t line = 1; std::getline(in, text); ++line) {
    if (!text.empty() && text.back() == '\r') text.pop_back();
    if (text.empty()) {
      if (blank == 0) blank = line;
      continue;
    }
    if (blank != 0) fail(file, blank, "a blank line between the images");
    parse_line(text, file, line, digits);
  }
  if (in.bad()) throw DataError(fmt::format("{}: reading stopped part-way; {}", file.string(), kNameAnother));
  if (digits.size() == 0) fail(file, 1, "the file holds no images");
  return digits;
}

Split hold_out_one_fifth(const Digits& digits, const std::filesystem::path& file) {
  Split split;
  std::array<std::size_t, kClasses> seen{};
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const std::int32_t label = digits.labels[i];
    const bool held_out = ++seen[static_cast<std::size_t>(label)] % 5 == 0;
    (held_out ? split.test : split.train).append(digits.image(i), label);
  }
  const auto rarest = std::ranges::min_element(seen);
  if (*rarest < 5)
    throw DataError(fmt::format("{}: too few images of the digit {} to hold one fifth out: {}, not 5 or more; {}",
                                file.string(), rarest - seen.begin(), *rarest, kNameAnother));
  return split;
}

}  // namespace digits
