// The order of one GPU's work. It may run on several streams: tern's own, which all threads share, those the program
// lent (cuda_stream_scope), and those of copies. But what is issued later sees what was issued before, whatever the
// streams: where the stream changes, the next one waits for an event of the last. So memory freed by one is free for
// all. Not thread-safe: the device holds a lock.
#pragma once
#include <cstdint>
#include <thread>
#include <vector>

#include "cuda/context.hpp"

namespace tern::detail_cuda {

/// For the order of work, not for time.
Event new_event(const GpuContext& context);

/// A stream lent to this thread for a GPU; scopes lie within each other.
struct LentStream {
  int ordinal;
  Stream stream;
  const LentStream* outer;
};
/// The innermost of this thread; null where there is none.
const LentStream*& lent_streams();

class Streams {
 public:
  explicit Streams(const GpuContext& context);

  /// The stream on which the calling thread is to issue its next work: that of its capture, the one lent to it, or
  /// tern's; it has been made to wait for what was issued before on another.
  Stream next();
  /// Lets another stream wait for everything issued so far. Not while the calling thread captures.
  void let_follow(Stream stream);
  /// Lets everything issued from now on wait for another stream.
  void follow(Stream stream);

  /// Begins with a stream of the program, which then follows everything issued so far. Throws `device` where it is of
  /// another context.
  void enter(Stream stream);
  /// Ends with it: what comes later follows it, and it is not used any more.
  void leave(Stream stream) noexcept;

  /// The calling thread's work becomes a graph, on a stream of its own: other threads' runs on.
  void begin_capture();
  /// The graph; to be destroyed by the caller. Throws where the driver could not record.
  CuGraph end_capture();
  /// Whether the calling thread captures.
  bool capturing() const { return capture() != nullptr; }

  /// How much was issued, and up to where it is known to be done.
  std::uint64_t issued() const { return issued_; }
  std::uint64_t done();
  /// Lets done() find out in time how far the GPU is.
  void mark();

  /// Waits for everything so far, with the lock held.
  void settle();
  /// The same in three parts: the first part under the lock, the second without it, the third with it again.
  struct Wait {
    Event event = nullptr;
    std::uint64_t issued = 0;
  };
  Wait begin_wait();
  void wait(const Wait& wait) const;
  void end_wait(const Wait& wait);
  /// In place of the second and the third part: a stream waits for the event.
  void drop_wait(const Wait& wait) { events_.push_back(wait.event); }

  Stream new_stream() const;

 private:
  void record(Event event, Stream stream) const;
  void let_wait(Stream stream, Event event) const;
  Stream capture() const;

  const GpuContext& context_;
  const Driver& driver_;
  Stream own_ = nullptr, latest_ = nullptr;
  Event order_ = nullptr, mark_ = nullptr;
  std::uint64_t issued_ = 0, done_ = 0, marked_ = 0;
  bool marking_ = false;
  struct Capture {
    std::thread::id thread;
    Stream stream;
  };
  std::vector<Capture> captures_;
  std::vector<Stream> capture_streams_;  // not in use
  std::vector<Event> events_;            // likewise
};

}  // namespace tern::detail_cuda
