// The digit images: reading them from a CSV file and holding some out.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <vector>

namespace digits {

inline constexpr int kSide = 8;                ///< Pixels along each side of an image.
inline constexpr int kPixels = kSide * kSide;  ///< Pixels of one image.
inline constexpr int kClasses = 10;            ///< The digits 0 to 9.
inline constexpr int kMaxGrey = 16;            ///< The darkest value of a pixel.

/// A data file that cannot be used; the message names the file, the line and a remedy.
class DataError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Labelled images, in the order of the file.
struct Digits {
  std::vector<std::uint8_t> pixels;  ///< 64 an image, row by row, 0 (paper) to 16 (ink).
  std::vector<std::int32_t> labels;  ///< One an image, 0 to 9.

  std::size_t size() const { return labels.size(); }
  std::span<const std::uint8_t> image(std::size_t i) const {
    return std::span(pixels).subspan(i * kPixels, kPixels);
  }
  void append(std::span<const std::uint8_t> image, std::int32_t label);
  /// The pixels as the network takes them: from -0.5 (paper) to 0.5 (ink).
  std::vector<float> scaled_pixels() const;
};

/// Reads lines of 64 pixels and a label, separated by commas. Throws DataError.
Digits read_digits(const std::filesystem::path& file);

struct Split {
  Digits train, test;
};

/// Holds out every fifth image of each digit, so that both parts show the digits equally often and every run
/// holds out the same images. Throws DataError (naming `file`) where a digit has fewer than five images.
Split hold_out_one_fifth(const Digits& digits, const std::filesystem::path& file);

}  // namespace digits
