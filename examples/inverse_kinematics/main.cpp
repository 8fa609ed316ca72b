// Inverse kinematics: the angles of an arm of six links with which its hand reaches each of a thousand points, all at
// once. The arm is a formula of vectors (arm.hpp), and so is a step of the iteration: one kernel for all arms that are
// not there yet. --general takes optim::least_squares instead, whose Jacobian comes from forward mode.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>

#include "picture.hpp"
#include "solving.hpp"

namespace arm {
namespace {

using tern::Tensor;

struct Settings {
  std::string device, output = "inverse_kinematics.svg";
  std::int64_t targets = 1000;
  int iterations = 200, drawn = 7;
  bool general = false;
  std::uint64_t seed = 1;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The postures of the first arms, as the picture takes them.
std::vector<Posture> postures(const Tensor& angles, const Tensor& targets, std::int64_t count) {
  const auto ends = tern::formula("ends", [](tern::Vec<6> a) { return joints(a); });
  std::vector<Posture> list(static_cast<std::size_t>(count));
  const auto point = [](const std::vector<float>& values, std::size_t i) {
    return Point{values[3 * i], values[3 * i + 1], values[3 * i + 2]};
  };
  for (const Tensor& link : ends(angles.slice(0, 0, count))) {
    const std::vector<float> values = link.to_vector<float>();
    for (std::size_t i = 0; i < list.size(); ++i) list[i].points.push_back(point(values, i));
  }
  const std::vector<float> values = targets.slice(0, 0, count).to_vector<float>();
  for (std::size_t i = 0; i < list.size(); ++i) list[i].target = point(values, i);
  return list;
}

void write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

bool run(const Settings& s) {
  tern::Generator random{s.seed};
  // Points that can be reached: where the hand is for other angles.
  const Tensor targets = hand(rand({s.targets, kJoints}, random) * 2.0 - 1.0);
  const Tensor start = rand({s.targets, kJoints}, random) * 0.4 + 0.3;
  const auto solve = s.general ? by_least_squares : by_steps;
  solve(start, targets, s.iterations);  // makes the kernels
  const auto began = std::chrono::steady_clock::now();
  const Solved solved = solve(start, targets, s.iterations);
  const Tensor distance = sqrt(sum(square(hand(solved.angles) - targets), -1));
  const double worst = max(distance).item<float>(), took = seconds_since(began);
  char text[160];
  std::snprintf(text, sizeof text, "%lld targets in %.1f ms, %d iterations; the hand is %.1e from its target at most",
                static_cast<long long>(s.targets), 1e3 * took, solved.iterations, worst);
  std::printf("%s\n", text);
  write(s.output, picture(postures(solved.angles, targets, std::min<std::int64_t>(s.drawn, s.targets)), text));
  std::printf("wrote %s\n", s.output.c_str());
  return worst < 1e-3;
}

}  // namespace
}  // namespace arm

int main(int argc, char** argv) {
  arm::Settings s;
  CLI::App app{"Moves arms of six links until their hands reach given points, and draws some of them."};
  app.add_option("--device", s.device, "cpu, webgpu, ... (default: TERN_DEVICE, else cpu)")->type_name("NAME");
  app.add_option("--targets", s.targets, "Points to reach")->check(CLI::Range(1, 10000000))->capture_default_str();
  app.add_option("--iterations", s.iterations, "At most")->check(CLI::Range(1, 100000))->capture_default_str();
  app.add_flag("--general", s.general, "By optim::least_squares instead of the formula of a step");
  app.add_option("--drawn", s.drawn, "Arms in the picture")->check(CLI::Range(0, 1000))->capture_default_str();
  app.add_option("--seed", s.seed, "Seed of points and first angles")->capture_default_str();
  app.add_option("--output", s.output, "File of the picture")->type_name("FILE")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    if (!s.device.empty()) tern::set_default_device(tern::Device::parse(s.device));
    return arm::run(s) ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "inverse_kinematics: %s\n", e.what());
    return 2;
  }
}
