// PyTorch as a peer: a process of its own (peers_torch.py) that prepares and measures when it is asked to.
#pragma once
#include <cstdio>
#include <string>
#include <vector>

#include <sys/types.h>

#include "harness.hpp"

namespace bench {

class Torch {
 public:
  /// Starts `command` in a shell; throws where it does not answer.
  explicit Torch(const std::string& command);
  ~Torch();
  Torch(const Torch&) = delete;
  Torch& operator=(const Torch&) = delete;

  /// Bytes a second, read and written, of its copy of a large tensor to another on its device.
  double copy_rate() const { return copy_rate_; }
  const std::string& version() const { return version_; }
  /// Its ways to do the workload; none where it does not know it, with a note where it failed.
  std::vector<Contender> contenders(const Workload& workload, Clock clock, std::vector<std::string>& notes);

 private:
  std::string ask(const std::string& request);

  pid_t process_ = -1;
  std::FILE *to_ = nullptr, *from_ = nullptr;
  std::string version_;
  double copy_rate_ = 0;
};

}  // namespace bench
