#include "gpu/reductions/reduce_resident.hpp"

#include <algorithm>
#include <bit>

#include "formula/rule.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_gpu {

using detail::Program;
using detail::Step;
using detail::StepKind;

namespace {

// Of an H200, in µs. Invocations of a warp hold 64 bytes of a row's values each (layer norm's gradient of 65536x256
// f32: 51, with 128 bytes 56), or 128, those of a workgroup too (softmax of 8192² f32 134, of 16384x1024 37), and where
// 256 invocations are not enough, 128 bytes of memory (softmax of 4096x16384 bf16: 70 with 256 invocations, 77 with
// 512). With 1024 invocations var of 2048x32768 f32 took 79, traversed in memory 67.
constexpr std::int64_t kResidentBytes = 64, kMostResidentBytes = 128, kMostOfRow = 512, kManyOfRow = 256;
constexpr std::int64_t kFewestOfRow = 8;  // 128 bytes at once
// Registers for all that is resident: 512 invocations have 128.
constexpr std::int64_t kResidentWords = 160, kResidentWordsOfMany = 96;
constexpr std::int64_t kFewInvocations = 132 * 1024;  // half of what an H200 runs at a time

std::int64_t power(std::int64_t n) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1))));
}
/// Invocations for so many groups, of `bytes` of `each` at most.
std::int64_t invocations(std::int64_t groups, std::int64_t bytes, std::int64_t each) {
  return power(ceil_div(groups, std::max<std::int64_t>(1, bytes / each)));
}

/// For each pass, the steps to keep for later ones: what a function takes part in that costs more than an arithmetic
/// operation. What follows from a kept step by arithmetic is computed again.
std::vector<std::vector<int>> values_to_keep(const Program& program, const std::vector<std::vector<int>>& wanted,
                                             const std::function<bool(int)>& is_source) {
  const auto count = static_cast<int>(program.steps.size());
  std::vector<std::vector<int>> keep(wanted.size());
  std::vector<char> kept(program.steps.size());
  const auto is_there = [&](int i) { return is_source(i) || kept[static_cast<std::size_t>(i)]; };
  for (std::size_t w = 0; w + 1 < wanted.size(); ++w) {
    const std::vector<char> here = needed_steps(program, wanted[w], is_there);
    std::vector<char> asked(program.steps.size()), costly(program.steps.size());
    for (std::size_t later = w + 1; later < wanted.size(); ++later) {
      const std::vector<char> needed = needed_steps(program, wanted[later], is_there);
      for (const int step : wanted[later]) asked[static_cast<std::size_t>(step)] = 1;
      for (int i = 0; i < count; ++i)
        for (const int arg : program.steps[static_cast<std::size_t>(i)].args)
          if (needed[static_cast<std::size_t>(i)] && !here[static_cast<std::size_t>(i)] && !is_there(i) && arg >= 0)
            asked[static_cast<std::size_t>(arg)] = 1;
    }
    for (int i = 0; i < count; ++i) {
      const auto place = static_cast<std::size_t>(i);
      const Step& s = program.steps[place];
      if (!here[place] || !s.full || is_there(i)) continue;
      bool costs = s.kind == StepKind::elementary && detail::rule_of(s.elementary).ulp_f32 > 0.5;
      for (const int arg : s.args) costs |= arg >= 0 && costly[static_cast<std::size_t>(arg)];
      costly[place] = costs && !asked[place];
      if (costs && asked[place]) keep[w].push_back(i), kept[place] = 1;
    }
  }
  return keep;
}

}  // namespace

bool Resident::before(std::size_t pass, int step) const {
  for (std::size_t w = 0; w < pass && w < values.size(); ++w)
    if (std::find(values[w].begin(), values[w].end(), step) != values[w].end()) return true;
  return false;
}

std::vector<int> ResidentRows::times_read() const {
  std::vector<int> times(plan.accesses.size());
  for (const std::vector<int>& list : wanted)
    for (const int s : sources_of(program, list, is_source))
      if (program.steps[static_cast<std::size_t>(s)].kind == StepKind::input)
        ++times[static_cast<std::size_t>(access_of(s))];
  return times;
}
std::int64_t ResidentRows::compute_bytes() const {
  const bool wide = std::any_of(program.steps.begin(), program.steps.end(),
                                [](const Step& s) { return detail::is_wide(s.type); });
  return wide ? 8 : 4;
}
/// What is the same for all rows stays in caches: of 16 bits it is as well read there again. (Layer norm's gradient of
/// 8192², weights in registers: bf16 152 µs for 136, f32 203 for 230.)
bool ResidentRows::is_worth_it(const Access& a) const {
  if (a.steps.size() <= kept_axes || a.steps.back() == '0') return false;
  return a.size() >= 4 || kept_axes == 0 ||
         std::any_of(a.steps.begin(), a.steps.end() - 1, [](char step) { return step != '0'; });
}

Resident ResidentRows::choose() const {
  Resident resident;
  const std::vector<int> read = times_read();
  std::int64_t widest = 0, words = 0;  // bytes of a group's widest operand, and words of what is resident of it
  for (std::size_t i = 0; i < read.size(); ++i) {
    const Access& a = plan.accesses[i];
    if (read[i] < 2 || !is_worth_it(a)) continue;
    const std::int64_t bytes = std::int64_t{group} * a.size();
    if (!a.wide || a.table >= 0 || bytes < kVectorBytes) return {};
    resident.accesses.push_back(static_cast<int>(i)), widest = std::max(widest, bytes), words += bytes / 4;
  }
  if (resident.accesses.empty()) return {};
  resident.values = values_to_keep(program, wanted, is_source);
  const std::int64_t value_bytes = group * compute_bytes();
  for (const std::vector<int>& list : resident.values)
    words += static_cast<std::int64_t>(list.size()) * value_bytes / 4;
  std::int64_t along = invocations(groups, kResidentBytes, value_bytes);
  if (along > kWarp) along = invocations(groups, kMostResidentBytes, value_bytes);
  if (along > kManyOfRow) along = invocations(groups, kMostResidentBytes, widest);
  along = std::min(power(groups), std::max(along, kFewestOfRow));
  while (along < std::min(power(groups), kManyOfRow) && rows * along < kFewInvocations) along *= 2;
  const std::int64_t steps = ceil_div(groups, along);
  if (along > kMostOfRow || words * steps > (along > kManyOfRow ? kResidentWordsOfMany : kResidentWords)) return {};
  resident.steps = static_cast<int>(steps), resident.along = static_cast<int>(along);
  return resident;
}

}  // namespace tern::detail_gpu
