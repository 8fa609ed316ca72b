#include "autodiff/draws.hpp"

namespace tern::detail {
namespace {
thread_local DrawScope* innermost = nullptr;
}  // namespace

DrawScope::DrawScope(Draws& draws, Role role) : draws_(draws), role_(role), outer_(innermost) { innermost = this; }
DrawScope::~DrawScope() { innermost = outer_; }

Generator next_draw(Generator& generator, std::uint64_t blocks) {
  DrawScope* replay = innermost;
  while (replay && replay->role_ != DrawScope::Role::replay) replay = replay->outer_;
  Generator state = generator;
  if (replay) {
    if (replay->next_ == replay->draws_.size())
      throw Error(ErrorKind::autograd, "checkpoint: the function drew more random numbers when it was computed again");
    state = replay->draws_[replay->next_++];
  } else {
    generator.position += blocks;
  }
  // Recordings inside the replay (a checkpoint in a checkpoint) see what it gives.
  for (DrawScope* scope = innermost; scope != replay; scope = scope->outer_) scope->draws_.push_back(state);
  return state;
}

}  // namespace tern::detail
