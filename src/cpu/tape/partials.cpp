#include "cpu/tape/partials.hpp"

#include <cstring>

#include "cpu/scratch.hpp"
#include "process/of_thread.hpp"

namespace tern::detail_cpu {

PartialResults::PartialResults(const Run& run) : tape_(run.tape), table_(run.table), runner_(run.runner) {
  for (const TapeOnline& online : tape_.online) online_.push_back({online, tape_, table_, run.layout.rows});
}

std::byte* PartialResults::memory(std::int64_t segments) const {
  struct Memory : ScratchBuffer {};
  return detail::of_thread<Memory>().reserve(segments * static_cast<std::int64_t>(bytes()));
}

std::size_t PartialResults::place_of(int op) const {
  return static_cast<std::size_t>(std::find(tape_.reductions.begin(), tape_.reductions.end(), op) -
                                  tape_.reductions.begin());
}

const OnlineKernels* PartialResults::online_of(std::size_t r) const {
  for (std::size_t i = 0; i < tape_.online.size(); ++i)
    if (tape_.online[i].sum == tape_.reductions[r]) return &online_[i];
  return nullptr;
}

OnlineParts PartialResults::parts_of(const TapeOnline& online, std::byte* results) const {
  const auto of = [&](int op) { return op < 0 ? nullptr : at(results, 0, place_of(op)); };
  return {of(online.sum), of(online.pivot), of(online.count), {of(online.lower[0]), of(online.lower[1])}};
}

std::byte* PartialResults::copy(std::byte* partials, std::int64_t segment, int pass, const Block& b) const {
  struct Copies : ScratchBuffer {};
  std::byte* const result = detail::of_thread<Copies>().reserve(static_cast<std::int64_t>(bytes()));
  for (std::size_t r = 0; r < tape_.reductions.size(); ++r)
    if (reduction(r).pass == pass)
      std::memcpy(at(result, 0, r), at(partials, segment, r),
                  static_cast<std::size_t>(b.kept) * compute_size(reduction(r).type));
  return result;
}

void PartialResults::add_online(const Worker& w, const Block& b, int pass, std::byte* before, std::byte* now) const {
  alignas(64) std::byte power[kSlotBytes];
  const auto value = [&](int v) { return v < 0 ? nullptr : w.at[static_cast<std::size_t>(v)]; };
  int taken = -1;  // one power for all sums of a maximum
  for (std::size_t i = 0; i < tape_.online.size(); ++i) {
    const TapeOnline& online = tape_.online[i];
    const TapeOp& pivot = tape_.ops[static_cast<std::size_t>(online.pivot)];
    if (pivot.pass != pass || online.power == 2) continue;  // squares are added with what they are corrected by
    const OnlineParts parts = parts_of(online, now), old = before ? parts_of(online, before) : OnlineParts{};
    if (online.is_place()) {
      auto* const places = before ? reinterpret_cast<std::int32_t*>(power) : static_cast<std::int32_t*>(parts.sum);
      runner_.find_places(w, online, b, parts.pivot, places, {old.pivot, static_cast<const std::int32_t*>(old.sum)});
      if (before) online_[i].add_place(old, parts, places, b.kept);
      continue;
    }
    const void* const x = value(pivot.args[0]);
    if (online.power == 1) {
      online_[i].add_moments(x, value(online.weight), before ? &old : nullptr, parts, squares_of(online, now), b);
      continue;
    }
    if (taken != online.pivot) online_[i].take_power(x, parts, power, b);
    taken = online.pivot;
    online_[i].add_power(power, value(online.weight), before ? &old : nullptr, parts, b);
  }
}

void* PartialResults::squares_of(const TapeOnline& first, std::byte* results) const {
  for (const TapeOnline& online : tape_.online)
    if (online.power == 2 && online.lower[1] == first.sum) return at(results, 0, place_of(online.sum));
  return nullptr;
}

bool PartialResults::counts(std::size_t r) const {
  return std::any_of(tape_.online.begin(), tape_.online.end(),
                     [&](const TapeOnline& online) { return online.count == tape_.reductions[r]; });
}

void PartialResults::count(const TapeOp& op, void* to, const Block& b) const {
  alignas(8) std::byte along[8];
  const double n = static_cast<double>(b.size() / b.kept);
  const float narrow = static_cast<float>(n);
  if (detail::is_wide(op.type)) std::memcpy(along, &n, sizeof n);
  else std::memcpy(along, &narrow, sizeof narrow);
  table_.fill[static_cast<int>(op.type)](along, to, static_cast<std::size_t>(b.kept));
}

void PartialResults::join(const TapeOp& op, void* into, const void* other, std::int64_t n) {
  const void* args[3] = {into, other, nullptr};
  op.combine(args, into, static_cast<std::size_t>(n));
}

void PartialResults::join_segments(const Block& b, int pass, std::byte* partials, std::int64_t segments) const {
  for (std::int64_t step = 1; step < segments; step *= 2)
    for (std::int64_t s = 0; s + step < segments; s += 2 * step) {
      for (std::size_t i = tape_.online.size(); i-- > 0;)
        if (tape_.ops[static_cast<std::size_t>(tape_.online[i].sum)].pass == pass)
          online_[i].join(parts_of(tape_.online[i], at(partials, s, 0)),
                          parts_of(tape_.online[i], at(partials, s + step, 0)), b.kept);
      for (std::size_t r = 0; r < tape_.reductions.size(); ++r)
        if (reduction(r).pass == pass && !online_of(r))
          join(reduction(r), at(partials, s, r), at(partials, s + step, r), b.kept);
    }
}

void PartialResults::take_results(Worker& w, const Block& b, int pass, std::byte* partials) const {
  for (std::size_t r = 0; r < tape_.reductions.size(); ++r)
    if (reduction(r).pass == pass)
      std::memcpy(w.at[static_cast<std::size_t>(reduction(r).result)], at(partials, 0, r),
                  static_cast<std::size_t>(b.kept) * compute_size(reduction(r).type));
  run_kept_ops(w, b, pass);
}

void PartialResults::run_kept_ops(Worker& w, const Block& b, int pass) const {
  for (std::size_t i = 0; i < tape_.ops.size(); ++i) {
    const TapeOp& op = tape_.ops[i];
    if (op.pass != pass) continue;
    if (op.kind != TapeOp::OpKind::reduce) {
      if (!op.full) runner_.execute(w, op, b);
      continue;
    }
    for (std::size_t k = 0; k < tape_.online.size(); ++k) {
      const TapeOnline& online = tape_.online[k];
      if (online.sum != static_cast<int>(i)) continue;
      const auto of = [&](int o) {
        return o < 0 ? nullptr : w.at[static_cast<std::size_t>(tape_.ops[static_cast<std::size_t>(o)].result)];
      };
      online_[k].finish(
          {of(online.sum), of(online.pivot), of(online.count), {of(online.lower[0]), of(online.lower[1])}},
          online.is_place() ? nullptr : w.at[static_cast<std::size_t>(online.shift)], b.kept);
    }
  }
}

}  // namespace tern::detail_cpu
