// Instruments: what is counted of a thread's calls and, where asked, reported (TERN_TRACE=1, explain).
#pragma once
#include <map>
#include <string>

#include "backend/backend.hpp"
#include "backend/instruments/tuning.hpp"
#include "tern/call_ref.hpp"
#include "tern/trace.hpp"

namespace tern::detail {

/// Runs a request of a primitive: what every operation ends in (backend/run.hpp).
template <class R> void run(Backend& backend, const R& request);
/// Bytes to a device's memory; inside a capture they are recorded.
void upload(Backend& backend, Storage& to, std::size_t byte_offset, const void* from, std::size_t bytes);

/// Bytes of the elements that a view has along the axes it is not broadcast over; 0 without storage.
std::int64_t bytes_of(const View& view, const Shape& space);

/// Who listens to this thread's calls. (Not an argument: between explain(), cost_of() and their like and a call stands
/// the program that is listened to.)
struct Instruments {
  TraceCounts counts;
  Cost* cost = nullptr;                                // of cost_of()
  std::string* explanation = nullptr;                  // where explain() collects its lines
  std::map<Backend*, CacheStats>* warming = nullptr;  // of warm_up(): the devices used, with their counts before
};
extern constinit thread_local Instruments instruments;

/// Whether calls on this thread are being reported: backends then say with note() what they chose and why.
bool tracing();
/// Whether a call is to go through report().
inline bool listening() { return instruments.warming || measuring() || tracing(); }
/// One call, as reports name it.
struct ReportedCall {
  const char* primitive;
  const char* op;
  std::int64_t read, written;  // bytes
};
/// Makes a call that somebody listens to. text() says its sizes.
void report(Backend& backend, const ReportedCall& call, const std::function<std::string()>& text,
            const std::function<void()>& run);

/// Calls on this thread are not counted while it lives: those that make a native recording execute nothing.
class Uncounted {
 public:
  Uncounted();
  ~Uncounted();
  Uncounted(const Uncounted&) = delete;
  Uncounted& operator=(const Uncounted&) = delete;

 private:
  TraceCounts before_;
};

/// Counts what a call reads `times` more often than once: a backend says so for operands that it reads again.
void count_read(std::int64_t times, const View& view, const Shape& space);

void note(const std::string& text);

/// While it lives, says what indices on this thread are about: " on axis 0 of f32[3, 2]". Devices that find a bad index
/// only when they are waited for take the text along with the kernel.
class IndexScope {
 public:
  template <class Describe> explicit IndexScope(const Describe& describe)
      : context_(&describe),
        text_([](const void* context) { return (*static_cast<const Describe*>(context))(); }),
        outer_(current()) {
    current() = this;
  }
  ~IndexScope() { current() = outer_; }
  IndexScope(const IndexScope&) = delete;
  IndexScope& operator=(const IndexScope&) = delete;
  /// What the innermost scope says; empty outside any.
  static std::string text() { return current() ? current()->text_(current()->context_) : std::string(); }

 private:
  static const IndexScope*& current();
  const void* context_;
  std::string (*text_)(const void*);
  const IndexScope* outer_;
};

}  // namespace tern::detail
