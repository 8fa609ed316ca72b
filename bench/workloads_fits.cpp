// How fast are many small nonlinear least squares: curves a·e^(-b·t) + c through sixteen points each, and arms of six
// links that reach for points?
#include <fmt/format.h>

#include "../examples/inverse_kinematics/solving.hpp"
#include "peers.hpp"

namespace bench {
namespace {

Prepared prepare(const FitsCase& c, const Target& target) {
  // Curves whose constants are near 1, 1 and 0, where all begin; the points lie on them.
  const Inputs in{Buffer::pattern(tern::f32, c.count * 3, 1, 0.3)};
  const tern::Tensor begin = tern::tensor({1.f, 1.f, 0.f}, target.device);
  const tern::Tensor right = in[0].tensor({c.count, 3}, target.device) + begin;
  const tern::Tensor t =
      tern::arange(FitsCase::points, {.dtype = tern::f32, .device = target.device}) * FitsCase::apart;
  const auto curve = [t](const auto& p) { return p.slice(-1, 0, 1) * exp(-p.slice(-1, 1, 2) * t) + p.slice(-1, 2, 3); };
  const tern::Tensor y = curve(right), start = (right * 0 + begin).contiguous();
  const auto call = [=] {
    return tern::optim::least_squares([&](const tern::Var& p) { return curve(p) - y; }, start,
                                      {.gradient = FitsCase::gradient})
        .x;
  };
  std::vector<double> expected;
  for (const std::int64_t at : sample_positions(c.count * 3)) expected.push_back(in[0].at(at) + (at % 3 < 2 ? 1 : 0));
  return {contenders(target.tern([=] { call(); }, [=] { return sample(call()); }), target.peers, c, in, &Peer::fits),
          expected};
}

Prepared prepare(const ArmsCase& c, const Target& target) {
  const Inputs in{Buffer::pattern(tern::f32, c.count * 6, 1, 1), Buffer::pattern(tern::f32, c.count * 6, 2, 0.2)};
  const tern::Tensor targets = arm::hand(in[0].tensor({c.count, 6}, target.device)),
                     start = in[1].tensor({c.count, 6}, target.device) + 0.5;
  const auto call = [=] { return arm::by_steps(start, targets, c.most).angles; };
  return {contenders(target.tern([=] { call(); }, [=] { return sample(arm::hand(call())); }), target.peers, c, in,
                     &Peer::arms),
          sample(targets)};
}

}  // namespace

void add_fits(Workloads& workloads, const Target& target) {
  for (const std::int64_t count : {1'000, 100'000})
    workloads.push_back(
        {.name = fmt::format("fits/f32/{}", count),
         .unit = Unit::calls,
         .roof = "",
         .quick = count == 1'000,
         .tolerance = 1e-3,  // where gradients are small enough, curves that are flat may be further off
         .prepare = [count, target] { return prepare(FitsCase{count}, target); }});
  for (const std::int64_t count : {1'000, 100'000})
    workloads.push_back({.name = fmt::format("arms/f32/{}", count),
                         .unit = Unit::calls,
                         .roof = "",
                         .quick = count == 1'000,
                         .tolerance = 1e-3,
                         .prepare = [count, target] { return prepare(ArmsCase{count}, target); }});
}

}  // namespace bench
