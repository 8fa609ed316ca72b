// The one door to the verbs: counts and, where asked, reports every call (TERN_TRACE=1, explain). Inside a capture it
// records them instead.
#pragma once
#include <string>

#include "backend/backend.hpp"

namespace tern::detail {

void run(Backend& backend, const FusedRequest& request);
void run(Backend& backend, const GemmRequest& request);
void run(Backend& backend, const ScatterRequest& request);
void run(Backend& backend, const ScanRequest& request);
void run(Backend& backend, const SortRequest& request);
void upload(Backend& backend, Storage& to, std::size_t byte_offset, const void* from, std::size_t bytes);

/// Whether calls on this thread are being reported: backends then say with note() what they chose and why.
bool tracing();
void note(const std::string& text);

}  // namespace tern::detail
