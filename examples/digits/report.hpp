// What the program prints: progress while it trains, a table at the end.
#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "data.hpp"
#include "model.hpp"

namespace digits {

/// Progress of a training: one line that is drawn over on a terminal, about ten plain lines elsewhere.
class Progress {
 public:
  /// With `quiet`, prints nothing.
  Progress(int epochs, bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void step(int epoch, double done);
  void epoch(const Epoch& epoch, double done);

 private:
  void draw(int epoch, double done);

  int epochs_;
  bool quiet_, terminal_, drawn_ = false;
  std::string measured_;  ///< Loss and accuracy of the last epoch, once there is one.
  std::chrono::steady_clock::time_point last_drawn_{};
};

/// How many images of each digit were named rightly.
struct Score {
  std::array<std::size_t, kClasses> images{}, right{};
  std::size_t total_images() const;
  std::size_t total_right() const;
};

Score score(const Digits& digits, const Predictions& predictions);

/// One test image that was named wrongly.
struct Mistake {
  std::size_t image = 0;
  int truth = 0, said = 0;
  double confidence = 0;
};

/// The mistakes, the most confident first.
std::vector<Mistake> find_mistakes(const Digits& digits, const Predictions& predictions);

/// "98.0 %", "-" where there is nothing to divide by.
std::string percent(std::size_t part, std::size_t whole);

/// A line per digit and a total.
void print_table(const Score& score);

}  // namespace digits
