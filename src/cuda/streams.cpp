#include "cuda/streams.hpp"

#include <algorithm>

#include "tern/error.hpp"

namespace tern::detail_cuda {

// Of a thread, not an argument: a cuda_stream_scope is for all that the program calls while it lives.
const LentStream*& lent_streams() {
  thread_local const LentStream* innermost = nullptr;
  return innermost;
}

Event new_event(const GpuContext& context) {
  Event event = nullptr;
  context.check(context.driver().cuEventCreate(&event, kEventNoTiming), "making an event");
  return event;
}

Streams::Streams(const GpuContext& context) : context_(context), driver_(context.driver()) {
  const GpuContext::Current current(context_);
  own_ = latest_ = new_stream();
  order_ = new_event(context_), mark_ = new_event(context_);
}

Stream Streams::new_stream() const {
  Stream stream = nullptr;
  context_.check(driver_.cuStreamCreate(&stream, kStreamNonBlocking), "making a stream");
  return stream;
}
void Streams::record(Event event, Stream stream) const {
  context_.check(driver_.cuEventRecord(event, stream), "keeping the order of streams");
}
void Streams::let_wait(Stream stream, Event event) const {
  context_.check(driver_.cuStreamWaitEvent(stream, event, 0), "keeping the order of streams");
}

Stream Streams::capture() const {
  if (captures_.empty()) return nullptr;
  const auto found = std::find_if(captures_.begin(), captures_.end(),
                                  [](const Capture& c) { return c.thread == std::this_thread::get_id(); });
  return found == captures_.end() ? nullptr : found->stream;
}

Stream Streams::next() {
  if (const Stream captured = capture()) return captured;
  Stream wanted = own_;
  for (const LentStream* lent = lent_streams(); lent; lent = lent->outer)
    if (lent->ordinal == context_.ordinal()) {
      wanted = lent->stream;
      break;
    }
  if (wanted != latest_) {
    record(order_, latest_);
    let_wait(wanted, order_);
    latest_ = wanted;
  }
  ++issued_;
  return wanted;
}

void Streams::let_follow(Stream stream) {
  record(order_, next());
  let_wait(stream, order_);
}
void Streams::follow(Stream stream) {
  record(order_, stream);
  let_wait(latest_, order_);
}

void Streams::enter(Stream stream) {
  Context of = nullptr;
  context_.check(driver_.cuStreamGetCtx(stream, &of), "cuda_stream_scope: asking for the stream's context");
  if (of != context_.handle())
    throw Error(ErrorKind::device, "cuda_stream_scope: the stream is not of the primary context of " + context_.name() +
                                       "; name the device it was made on");
  record(order_, latest_);
  let_wait(stream, order_);
  latest_ = stream;
}

void Streams::leave(Stream stream) noexcept {
  // Errors are those of a failed kernel, which the next call meets again.
  driver_.cuEventRecord(order_, stream);
  if (latest_ == stream) latest_ = own_;
  driver_.cuStreamWaitEvent(latest_, order_, 0);
}

void Streams::begin_capture() {
  Stream stream = nullptr;
  if (capture_streams_.empty()) stream = new_stream();
  else stream = capture_streams_.back(), capture_streams_.pop_back();
  context_.check(driver_.cuStreamBeginCapture_v2(stream, kCaptureRelaxed), "capture");
  captures_.push_back({std::this_thread::get_id(), stream});
}

CuGraph Streams::end_capture() {
  const Stream stream = capture();
  std::erase_if(captures_, [&](const Capture& c) { return c.stream == stream; });
  CuGraph graph = nullptr;
  context_.check(driver_.cuStreamEndCapture(stream, &graph), "capture");
  capture_streams_.push_back(stream);
  return graph;
}

std::uint64_t Streams::done() {
  if (marking_ && driver_.cuEventQuery(mark_) == kSuccess) done_ = std::max(done_, marked_), marking_ = false;
  return done_;
}
void Streams::mark() {
  if (marking_) return;
  record(mark_, latest_);
  marked_ = issued_, marking_ = true;
}

void Streams::settle() {
  context_.check(driver_.cuStreamSynchronize(latest_), "waiting for kernels");
  done_ = issued_;
}
Streams::Wait Streams::begin_wait() {
  Wait wait;
  if (events_.empty()) wait.event = new_event(context_);
  else wait.event = events_.back(), events_.pop_back();
  record(wait.event, next());
  wait.issued = issued_;
  return wait;
}
void Streams::wait(const Wait& wait) const {
  context_.check(driver_.cuEventSynchronize(wait.event), "waiting for kernels");
}
void Streams::end_wait(const Wait& wait) {
  done_ = std::max(done_, wait.issued);
  events_.push_back(wait.event);
}

}  // namespace tern::detail_cuda
