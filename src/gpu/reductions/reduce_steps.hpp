// What a stage of a request with reductions computes: its passes, the outputs it writes, and what it reads.
#pragma once
#include <algorithm>
#include <vector>

#include "gpu/text/printer.hpp"
#include "gpu/reductions/reduce_kernel.hpp"
#include "primitives/fused/fused.hpp"

namespace tern::detail_gpu {

struct ReduceSteps {
  ReduceSteps(const detail::FusedRequest& request, const Stage& stage)
      : request(request), stage(stage), program(*request.program) {
    collect_steps();
  }

  const detail::Step& step(int i) const { return program.steps[static_cast<std::size_t>(i)]; }
  static bool is_source_kind(const detail::Step& s) {
    return s.kind == detail::StepKind::input || s.kind == detail::StepKind::position ||
           s.kind == detail::StepKind::reduce;
  }
  bool is_source(int i) const { return is_source_kind(step(i)); }

  int pass_of(int output) const { return pass_of_full_output(request, static_cast<std::size_t>(output)); }
  std::vector<int> outputs_of_pass(int p) const {
    std::vector<int> list;
    for (const int o : full_outputs)
      if (pass_of(o) == p) list.push_back(o);
    return list;
  }
  /// What a pass computes for its reductions: the arguments of those that are not taken with what they wait for, and
  /// then the weights of those that are.
  std::vector<int> arguments_of(const std::vector<int>& reductions) const {
    std::vector<int> result, weights;
    for (const int i : reductions) {
      const detail::OnlineSum* online = online_sum(program, i);
      if (!online) result.push_back(step(i).args[0]);
      else if (online->weight >= 0) weights.push_back(online->weight);
    }
    result.insert(result.end(), weights.begin(), weights.end());
    return result;
  }
  std::vector<int> shifts_of(const std::vector<int>& reductions) const {
    std::vector<int> result;
    for (const int i : reductions)
      if (const detail::OnlineSum* online = online_sum(program, i); online && !online->is_place())
        result.push_back(online->shift);
    return result;
  }
  /// How often the reduced axes are traversed.
  std::size_t pass_count() const { return passes.size() + (!stage.splits && !outputs_of_pass(stage.last + 1).empty()); }
  std::vector<int> steps_of(const std::vector<int>& outputs) const {
    std::vector<int> result;
    for (const int o : outputs) result.push_back(program.outputs[static_cast<std::size_t>(o)].step);
    return result;
  }
  /// What pass p computes: for its reductions, or behind all of them, and for full outputs.
  std::vector<int> wanted_of(std::size_t p) const {
    std::vector<int> wanted = p < passes.size() ? arguments_of(passes[p]) : std::vector<int>{};
    for (const int s : steps_of(outputs_of_pass(stage.first + static_cast<int>(p)))) wanted.push_back(s);
    return wanted;
  }
  /// Whether a reduction counts the elements.
  bool counts(int s) const {
    return std::any_of(program.online.begin(), program.online.end(),
                       [s](const detail::OnlineSum& o) { return o.count == s; });
  }
  /// Whether two reductions are joined by the same operation.
  bool joins_alike(int a, int b) const {
    return step(a).elementary == step(b).elementary && step(a).type == step(b).type && step(a).dtype == step(b).dtype;
  }

  const detail::FusedRequest& request;
  const Stage& stage;
  const detail::Program& program;
  std::vector<std::vector<int>> passes;  // the reductions of each
  std::vector<int> full_outputs, reduced_outputs;
  std::vector<int> sources;  // what some part of the kernel reads

 private:
  void collect_steps() {
    for (int p = stage.first; p <= stage.last; ++p) {
      passes.emplace_back();
      for (int i = 0; i < static_cast<int>(program.steps.size()); ++i)
        if (step(i).kind == detail::StepKind::reduce && step(i).pass == p + 1) passes.back().push_back(i);
    }
    for (std::size_t o = 0; o < program.outputs.size(); ++o) {
      const bool full = program.outputs[o].full;
      if (full ? stage.full_outputs && (!stage.splits || pass_of(static_cast<int>(o)) == stage.first)
               : stage.reduced_outputs)
        (full ? full_outputs : reduced_outputs).push_back(static_cast<int>(o));
    }
    std::vector<int> read;
    const auto add = [&](const std::vector<int>& wanted) {
      if (wanted.empty()) return;
      for (const int s : sources_of(program, wanted, [this](int i) { return is_source(i); })) read.push_back(s);
    };
    for (const auto& pass : passes) {
      if (!stage.joins) add(arguments_of(pass));
      if (!stage.splits) add(shifts_of(pass));
    }
    add(steps_of(full_outputs)), add(steps_of(reduced_outputs));
    std::sort(read.begin(), read.end());
    read.erase(std::unique(read.begin(), read.end()), read.end());
    sources = read;
  }
};

}  // namespace tern::detail_gpu
