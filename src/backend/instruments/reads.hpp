// What operations read: for those who run them again later and must know whether it is the same still.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "backend/backend.hpp"
#include "tern/pool.hpp"

namespace tern::detail {

/// Memory that was read, as far as it lives on, with its version then.
struct Read {
  std::weak_ptr<Storage> storage;
  std::uint32_t version = 0;
  std::string text;  // "a tensor that exp read, f32[3]"
};

/// While one lives, memory that operations on this thread read is listed, but for memory made meanwhile: running them
/// again makes that anew. They nest; each lists for itself.
class ReadScope {
 public:
  ReadScope() : outer_(innermost_) { innermost_ = this; }
  ~ReadScope() { innermost_ = outer_; }
  ReadScope(const ReadScope&) = delete;
  ReadScope& operator=(const ReadScope&) = delete;

  static bool active() { return innermost_ != nullptr; }
  /// Tells every scope of this thread. text() is called where the memory is new to one: most is not.
  template <class Text> static void note(Storage& storage, const Text& text) {
    for (ReadScope* scope = innermost_; scope; scope = scope->outer_)
      if (scope->is_new(storage)) scope->add(storage, text());
  }
  static void made(const Storage& storage);
  static void gone(const Storage& storage);

  /// What is listed, in the order of its first read.
  const std::vector<Read>& reads() const { return reads_; }

 private:
  bool is_new(const Storage& storage) const;
  void add(Storage& storage, const std::string& text);

  // Of a thread, not an argument: between checkpoint() and what reads stands the function that it watches.
  inline static constinit thread_local ReadScope* innermost_ = nullptr;
  ReadScope* outer_;
  std::vector<Read> reads_;
  PoolMap<const Storage*, std::size_t> known_;  // where in reads_
  std::unordered_set<const Storage*, std::hash<const Storage*>, std::equal_to<>, PoolAllocator<const Storage*>>
      own_;  // made meanwhile
};

/// Notes the operands of a request about to run. Memory that it updates in place is no operand here: a formula that
/// keeps a running mean does not depend on it.
struct NoteReads : ViewVisitor<NoteReads> {
  const char* op;
  explicit NoteReads(const char* name) : op(name) {}

  void reads(const View& view, const Shape& space) const;
  void program(const Program& program, int first, std::span<const Operand> inputs, std::span<const View> outputs,
               const Shape& space) const;
};

}  // namespace tern::detail
