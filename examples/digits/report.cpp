#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

#ifdef _WIN32
#include <io.h>
#else
#include <unistd.h>
#endif

namespace digits {
namespace {

bool stdout_is_terminal() {
#ifdef _WIN32
  return _isatty(_fileno(stdout)) != 0;
#else
  return isatty(STDOUT_FILENO) != 0;
#endif
}

std::string bar(double done) {
  constexpr std::size_t width = 24;
  const auto filled = static_cast<std::size_t>(std::clamp(done, 0.0, 1.0) * width);
  return std::string(filled, '#') + std::string(width - filled, '.');
}

}  // namespace

Progress::Progress(int epochs, bool quiet) : epochs_(epochs), quiet_(quiet), terminal_(stdout_is_terminal()) {}

Progress::~Progress() {
  if (drawn_) std::putchar('\n');
}

void Progress::draw(int epoch, double done) {
  fmt::print("\r\033[K[{}] epoch {}/{}{}", bar(done), epoch, epochs_, measured_);
  std::fflush(stdout);
  drawn_ = true;
  last_drawn_ = std::chrono::steady_clock::now();
}

void Progress::step(int epoch, double done) {
  using namespace std::chrono_literals;
  if (quiet_ || !terminal_ || std::chrono::steady_clock::now() - last_drawn_ < 50ms) return;
  draw(epoch, done);
}

void Progress::epoch(const Epoch& epoch, double done) {
  if (quiet_) return;
  measured_ = fmt::format("  loss {:.4f}  held-out accuracy {:.1f} %", epoch.loss, 100 * epoch.accuracy);
  const int stride = std::max(1, epochs_ / 10);
  if (terminal_) {
    draw(epoch.number, done);
  } else if (epoch.number % stride == 0 || epoch.number == 1 || epoch.number == epochs_) {
    fmt::print("epoch {:>{}}/{}{}\n", epoch.number, fmt::formatted_size("{}", epochs_), epochs_, measured_);
    std::fflush(stdout);
  }
}

std::size_t Score::total_images() const { return std::accumulate(images.begin(), images.end(), std::size_t{0}); }
std::size_t Score::total_right() const { return std::accumulate(right.begin(), right.end(), std::size_t{0}); }

Score score(const Digits& digits, const Predictions& predictions) {
  Score score;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const auto label = static_cast<std::size_t>(digits.labels[i]);
    ++score.images[label];
    if (predictions.digits[i] == digits.labels[i]) ++score.right[label];
  }
  return score;
}

std::vector<Mistake> find_mistakes(const Digits& digits, const Predictions& predictions) {
  std::vector<Mistake> mistakes;
  for (std::size_t i = 0; i < digits.size(); ++i)
    if (predictions.digits[i] != digits.labels[i])
      mistakes.push_back({i, digits.labels[i], predictions.digits[i], predictions.confidences[i]});
  std::ranges::stable_sort(mistakes, std::ranges::greater{}, &Mistake::confidence);
  return mistakes;
}

std::string percent(std::size_t part, std::size_t whole) {
  if (whole == 0) return "-";
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

void print_table(const Score& score) {
  fmt::print("\n digit   test images   right   accuracy\n");
  for (std::size_t digit = 0; digit < kClasses; ++digit)
    fmt::print(" {:>5}   {:>11}   {:>5}   {:>8}\n", digit, score.images[digit], score.right[digit],
               percent(score.right[digit], score.images[digit]));
  fmt::print(" {:>5}   {:>11}   {:>5}   {:>8}\n\n", "total", score.total_images(), score.total_right(),
             percent(score.total_right(), score.total_images()));
}

}  // namespace digits
