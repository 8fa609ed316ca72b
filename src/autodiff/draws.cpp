#include "autodiff/draws.hpp"

#include <utility>

namespace tern {
namespace detail {
namespace {

/// Of a thread, not an argument: between checkpoint() and a generator stands the function that it runs twice.
thread_local DrawScope* innermost = nullptr;

struct DrawPosition {
  std::uint64_t seed = 0, position = 0;
  bool operator==(const DrawPosition&) const = default;
};

/// A word of a state: the low and the high half of the position, then of the seed.
std::int64_t word_of(const DrawPosition& place, std::size_t i) {
  const std::uint64_t value = i < 2 ? place.position : place.seed;
  return static_cast<std::int64_t>((i % 2 ? value >> 32 : value) & 0xffffffffu);
}

}  // namespace

/// What recordings know of a generator: where it is, or was when it was destroyed. They draw on from there.
class GeneratorState : public std::enable_shared_from_this<GeneratorState> {
 public:
  /// That of a generator; made where it has none.
  static GeneratorState& of(const Generator& generator) {
    if (!generator.state_) {
      generator.state_ = std::make_shared<GeneratorState>();
      generator.state_->owner_ = const_cast<Generator*>(&generator);  // draws alone write to it: they take no constant
    }
    return *generator.state_;
  }

  /// A generator that was made while recording: each replay makes it anew.
  void made(CapturedCalls& capture) {
    capture_ = capture.number(), expected_ = place();
    capture.add_action([self = shared_from_this(), start = expected_] { self->set(start); });
  }
  /// A generator that became a copy of another while recording.
  void copied(CapturedCalls& capture, GeneratorState& from) {
    from.enter(capture);
    if (capture_ != capture.number()) enter(capture);
    capture.add_action([self = shared_from_this(), other = from.shared_from_this()] { self->set(other->place()); });
  }
  /// A generator that was split from another while recording, which has advanced by a block then.
  void split_from(CapturedCalls& capture, GeneratorState& from) {
    from.enter(capture);
    from.expected_.position += 1;
    capture.add_action([self = shared_from_this(), other = from.shared_from_this()] {
      const DrawPosition at = other->place();
      self->set({seed_of_child(at), 0}), other->set({at.seed, at.position + 1});
    });
  }
  /// A mixture of both numbers, each step of which is a bijection of 64 bits (splitmix64's).
  static std::uint64_t seed_of_child(const DrawPosition& parent) {
    const auto mixed = [](std::uint64_t x) {
      x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
      x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
      return x ^ (x >> 31);
    };
    return mixed(mixed(parent.seed + 0x9e3779b97f4a7c15ull) + parent.position * 0xd1342543de82ef95ull + 1);
  }
  /// After a copy: what the members are now is what the recording knows.
  void settle() { expected_ = place(); }
  /// A draw while recording: replays draw from wherever the generator then is.
  std::shared_ptr<const LiveNumbers> draw(CapturedCalls& capture, std::uint64_t blocks) {
    enter(capture);
    expected_.position += blocks;
    return capture.add_live(DType::u32, DrawState::kWords, [self = shared_from_this(), blocks](std::span<LiveSlot> to) {
      DrawPosition now = self->place();
      for (std::size_t i = 0; i < to.size(); ++i) to[i].number = Number(word_of(now, i));
      now.position += blocks;
      self->set(now);
    });
  }

  void moved_to(Generator& owner) { owner_ = &owner; }
  void destroyed() { last_ = place(), owner_ = nullptr; }

 private:
  DrawPosition place() const { return owner_ ? DrawPosition{owner_->seed, owner_->position} : last_; }
  void set(const DrawPosition& to) {
    if (to == place()) return;
    if (owner_) owner_->seed = to.seed, owner_->position = to.position;
    else last_ = to;
  }
  /// The generator is used in this capture: its members change only as the recording knows, and are in the end what
  /// they were, for nothing has been drawn.
  void enter(CapturedCalls& capture) {
    if (capture_ == capture.number()) {
      if (expected_ == place()) return;
      throw Error(ErrorKind::unsupported,
                  "capture: seed or position of a Generator was assigned between its draws, which replays cannot "
                  "repeat; assign a new Generator instead, or assign before the capture");
    }
    capture.at_end([self = shared_from_this(), before = capture_, expected = expected_, start = place()] {
      self->capture_ = before, self->expected_ = expected;
      self->set(start);
    });
    capture_ = capture.number(), expected_ = place();
  }

  Generator* owner_ = nullptr;
  DrawPosition last_;          // of a generator that is gone
  std::uint64_t capture_ = 0;  // the last that used it
  DrawPosition expected_;      // what the members are, if they change by draws alone
};

DrawScope::DrawScope(Draws& draws, Role role) : draws_(draws), role_(role), outer_(innermost) { innermost = this; }
DrawScope::~DrawScope() { innermost = outer_; }

Argument DrawState::word(std::size_t i) const {
  return live ? live->argument(i) : Argument(Number(word_of({seed, position}, i)));
}

DrawState next_draw(Generator& generator, std::uint64_t blocks) {
  DrawScope* replay = innermost;
  while (replay && replay->role_ != DrawScope::Role::replay) replay = replay->outer_;
  DrawState state{generator.seed, generator.position, nullptr};
  if (replay) {
    if (replay->next_ == replay->draws_.size())
      throw Error(ErrorKind::autograd, "checkpoint: the function drew more random numbers when it was computed again");
    state = replay->draws_[replay->next_++];
  } else {
    if (CapturedCalls* capture = current_capture()) state.live = GeneratorState::of(generator).draw(*capture, blocks);
    generator.position += blocks;
  }
  // Recordings inside the replay (a checkpoint in a checkpoint) see what it gives.
  for (DrawScope* scope = innermost; scope != replay; scope = scope->outer_) scope->draws_.push_back(state);
  return state;
}

}  // namespace detail

Generator::Generator(std::uint64_t seed_, std::uint64_t position_) : seed(seed_), position(position_) {
  if (detail::CapturedCalls* capture = detail::current_capture()) detail::GeneratorState::of(*this).made(*capture);
}
Generator::Generator(const Generator& other) : seed(other.seed), position(other.position) {
  if (detail::CapturedCalls* capture = detail::current_capture())
    detail::GeneratorState::of(*this).copied(*capture, detail::GeneratorState::of(other));
}
Generator::Generator(Generator&& other) noexcept
    : seed(other.seed), position(other.position), state_(std::move(other.state_)) {
  if (state_) state_->moved_to(*this);
}
Generator& Generator::operator=(const Generator& other) {
  if (this == &other) return *this;
  if (detail::CapturedCalls* capture = detail::current_capture())
    detail::GeneratorState::of(*this).copied(*capture, detail::GeneratorState::of(other));
  seed = other.seed, position = other.position;
  if (state_) state_->settle();
  return *this;
}
Generator Generator::split() {
  using namespace detail;
  CapturedCalls* capture = current_capture();
  if (!capture) {
    const DrawState from = next_draw(*this, 1);
    return Generator(GeneratorState::seed_of_child({from.seed, from.position}));
  }
  if (innermost)
    throw Error(ErrorKind::unsupported, "split: a Generator is not split within checkpoint within a recorded step");
  Generator child(GeneratorState::seed_of_child({seed, position}));
  GeneratorState::of(child).split_from(*capture, GeneratorState::of(*this));
  ++position;
  return child;
}
Generator::~Generator() {
  if (state_) state_->destroyed();
}

}  // namespace tern
