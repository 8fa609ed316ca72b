// Training steps as contenders: run each time, or captured once and replayed.
#pragma once
#include <memory>

#include "reference.hpp"

namespace bench {

inline Buffer cyclic_labels(std::int64_t count, std::int64_t classes) {
  Buffer labels(tern::i32, count);
  for (std::int64_t i = 0; i < count; ++i) labels.data<std::int32_t>()[i] = static_cast<std::int32_t>(i % classes);
  return labels;
}

/// tern's way: `Steps` is made of inputs and a device, and its step() trains once and gives the loss.
template <class Steps> Contender training(const Target& target, const Inputs& in, bool replayed) {
  if (!replayed)
    return target.tern([steps = std::make_shared<Steps>(in, target.device)] { steps->step(); },
                       [in, device = target.device] {
                         Steps fresh(in, device);
                         Values losses;
                         for (int i = 0; i < kCheckedSteps; ++i) losses.push_back(element(fresh.step(), 0));
                         return losses;
                       });
  struct Recorded {  // its parameters live on in the recording
    Steps steps;
    tern::Tensor loss = {};
    tern::Graph graph = {};
    Recorded(const Inputs& inputs, tern::Device device) : steps(inputs, device) {
      graph = tern::capture(device, [&] { loss = steps.step(); });
    }
  };
  return target.tern([recorded = std::make_shared<Recorded>(in, target.device)] { recorded->graph.replay(); },
                     [in, device = target.device] {
                       const Recorded fresh(in, device);
                       Values losses;
                       for (int i = 0; i < kCheckedSteps; ++i) {
                         fresh.graph.replay();
                         losses.push_back(element(fresh.loss, 0));
                       }
                       return losses;
                     });
}

}  // namespace bench
