// The one door to the verbs: counts and, where asked, reports every call (TERN_TRACE=1, explain). Inside a capture it
// records them instead.
#pragma once
#include <string>

#include "backend/backend.hpp"
#include "tern/trace.hpp"

namespace tern::detail {

void run(Backend& backend, const FusedRequest& request);
/// Requests that do not depend on each other, as Backend::fused_all takes them; reported as one call.
void run(Backend& backend, std::span<const FusedRequest> requests);
void run(Backend& backend, const GemmRequest& request);
void run(Backend& backend, const ScatterRequest& request);
void run(Backend& backend, const ScanRequest& request);
void run(Backend& backend, const SortRequest& request);
void upload(Backend& backend, Storage& to, std::size_t byte_offset, const void* from, std::size_t bytes);

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

/// Counts what a call reads `times` more often than once: a backend says so for operands that it walks along again.
void count_read(std::int64_t times, const View& view, const Shape& space);

/// Whether calls on this thread are being reported: backends then say with note() what they chose and why.
bool tracing();
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
