// A kernel of the sort and the selections by digits: its plan, and what its text is made of.
#pragma once
#include <deque>

#include "gpu/radix/radix.hpp"
#include "gpu/text/kernel_file.hpp"
#include "gpu/text/text.hpp"

namespace tern::detail_gpu {

inline constexpr std::uint32_t kRadixThreads = 256;

/// A kernel on words: its plan and what its text is made of.
class Radix::Job {
 public:
  Job(Radix& radix, char kind) : radix_(radix), plan_(radix.backend_.limits(), radix.op_, kind) {
    plan_.note(radix.dtype_);
    flip_ = number(radix.flip_);
  }
  template <class T> void note(T choice) { plan_.note(choice); }
  int number(std::uint64_t value) { return plan_.add_param(value); }
  /// Parameters by name, which the text finds in its holes.
  void numbers(std::initializer_list<std::pair<const char*, std::int64_t>> values) {
    for (const auto& [name, value] : values) named_.push_back({name, number(static_cast<std::uint64_t>(value))});
  }
  void number_each(const char* name, std::span<const std::int32_t> values) {
    for (std::size_t i = 0; i < values.size(); ++i)
      named_.push_back({cat(name, i), number(static_cast<std::uint64_t>(values[i]))});
  }
  /// Adds words of a view, `count` of them from its first on.
  int words(const View& view, std::int64_t count, bool written) {
    views_.push_back({view.storage, view.dtype, view.offset, {}});
    plan_.note(dtype_size(view.dtype));
    const auto size = static_cast<std::int64_t>(dtype_size(view.dtype));
    touched_.push_back({view.offset * size, (view.offset + count) * size});
    return plan_.add_access(views_.back(), {}, written);
  }
  /// As above; -1, which is noted, where there are none.
  int words_if_any(const View& view, std::int64_t count, bool written) {
    plan_.note(view.storage != nullptr);
    return view.storage ? words(view, count, written) : -1;
  }
  const Dialect& dialect() const { return radix_.backend_.dialect(); }
  std::string p(int slot) const { return dialect().param(slot); }
  /// $name, the words, $name_first, where they begin, and $name_at(i), one of them, which in WebGPU's memory may be a
  /// part of a word.
  void name_words(Holes& holes, const std::string& name, int access) const {
    const Access& a = plan_.access(access);
    holes[name] = words_of(a), holes[name + "_first"] = p(a.base);
    const std::string at = cat(p(a.base), " + ${0}");
    if (dialect().native() || a.size() == 4) {
      holes[name + "_at"] = cat(words_of(a), "[", at, "]");
    } else {
      const std::string each = cat(4 / a.size(), "u"), bits = cat(8 * a.size(), "u");
      holes[name + "_at"] = cat("((b", a.binding, "[(", at, ") / ", each, "] >> ((", at, ") % ", each, " * ", bits,
                                ")) & ", (1u << (8 * a.size())) - 1, "u)");
    }
  }
  /// Of words of a temporary, which begin where the binding does.
  std::string binding(int access) const { return cat("b", plan_.access(access).binding); }
  /// $known: words of keys, in a temporary.
  void name_known(Holes& holes, int access) const { holes["known"] = words_of(plan_.access(access)); }
  /// A pointer to the first of the words. CUDA's.
  std::string pointer(int access, const std::string& type) const {
    if (access < 0) return cat("(", type, "*)0");
    const Access& a = plan_.access(access);
    return cat("(", type, "*)b", a.binding, " + ", p(a.base));
  }
  /// The words are added to by several workgroups at once.
  void make_atomic(int access) { plan_.make_atomic(access); }
  std::string atomic_word() const { return dialect().native() ? "u32" : "atomic<u32>"; }
  /// `body` makes a text that is not there yet, and nothing for it is made before: of sums by index of 8192 entries,
  /// eight launches on CUDA, that took 60 of 110 µs (H200's host, 29 November 2026).
  void launch(const char* title, std::int64_t groups, const std::vector<Shared>& shared,
              const std::function<std::string()>& body, std::initializer_list<const char*> functions = {},
              bool subgroups = false, std::uint32_t threads = kRadixThreads) {
    plan_.bind(touched_), plan_.finish_key();
    plan_.launch.groups = static_cast<std::uint64_t>(groups), plan_.launch.threads = threads;
    plan_.launch.in_bounds = true;
    radix_.backend_.queue(plan_.launch, [&] {
      std::string all;
      for (const char* const text : functions) all += text;
      return dialect().module({.title = title,
                               .bindings = plan_.launch.bindings,
                               .params = plan_.launch.params.size(),
                               .threads = threads,
                               .shared = shared,
                               .functions = all + key_function(dialect(), radix_.dtype_),
                               .body = body(),
                               .subgroups = subgroups});
    });
  }
  /// What every text has, and the numbers.
  Holes holes() const {
    Holes all{{"barrier", dialect().barrier()},
              {"scan", sums_up_to(dialect(), kRadixThreads)},
              {"word", word_of(radix_.dtype_)},
              {"flip", p(flip_)}};
    for (const auto& [name, slot] : named_) all[name] = p(slot);
    return all;
  }

 private:
  Radix& radix_;
  Plan plan_;
  std::deque<View> views_;
  std::vector<ByteRange> touched_;
  std::vector<std::pair<std::string, int>> named_;
  int flip_;
};

}  // namespace tern::detail_gpu
