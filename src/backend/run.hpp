// The dispatcher: the one way from an operation to a kernel. It notes what is read, records the request where a capture
// is running, checks that what is read has values, counts, and reports where somebody listens.
//
// A primitive's source includes this and instantiates run() for its requests; operations include
// backend/instruments/trace.hpp.
#pragma once
#include "backend/backend.hpp"
#include "backend/recording/capture.hpp"
#include "backend/instruments/reads.hpp"
#include "backend/instruments/trace.hpp"

namespace tern::detail {

/// Throws where something that is read belongs to a recording that was not replayed.
struct RequireValues : ViewVisitor<RequireValues> {
  const char* op;
  explicit RequireValues(const char* name) : op(name) {}

  void reads(const View& view, const Shape&) const { require_replayed(op, *view.storage); }
  void updates(const View& view, const View&, const Shape&) const { require_replayed(op, *view.storage); }
  void program(const Program& program, int first, std::span<const Operand> inputs, std::span<const View>,
               const Shape&) const {
    for (const Operand& operand : inputs) {
      if (operand.gather) require_replayed(op, *operand.gather->table.storage);
      if (operand.view.storage && operand.view.storage->awaits_replay() &&
          reads_input(program, static_cast<int>(&operand - inputs.data()) + first))
        throw_awaits_replay(op);
    }
  }
};

/// Bytes that are read and written. Memory that is written whole awaits no replay any more.
struct Traffic : ViewVisitor<Traffic> {
  std::int64_t read = 0, written = 0;

  void reads(const View& view, const Shape& space) { read += bytes_of(view, space); }
  void writes(const View& view, const Shape& space) {
    const std::int64_t bytes = bytes_of(view, space);
    written += bytes;
    if (view.storage && view.storage->awaits_replay() && bytes == static_cast<std::int64_t>(view.storage->bytes()))
      view.storage->set_awaits_replay(false);
  }
  void updates(const View&, const View& source, const Shape& space) { written += bytes_of(source, space); }
  void program(const Program&, int, std::span<const Operand> inputs, std::span<const View> outputs,
               const Shape& space) {
    for (const Operand& operand : inputs) reads(operand.view, space);
    for (const View& output : outputs) writes(output, space);
  }
};

template <class R> void run(Backend& backend, const R& request) {
  static_assert(Request<R>);
  if (ReadScope::active()) R::views(request, NoteReads(request.op));
  if (CapturedCalls* capture = current_capture()) {
    require_captured(*capture, backend, request.op);
    return capture->add(request);
  }
  R::views(request, RequireValues(request.op));
  Traffic traffic;
  R::views(request, traffic);
  Instruments& on = instruments;
  ++on.counts.calls, on.counts.bytes_read += traffic.read, on.counts.bytes_written += traffic.written;
  if (on.cost) ++on.cost->calls, on.cost->flops += request.flops();
  if (!listening()) return backend.execute(request);
  const auto text = [&] { return request.text(); };
  report(backend, {primitive_of<R>().name, request.op, traffic.read, traffic.written}, text,
         [&] { backend.execute(request); });
}

}  // namespace tern::detail
