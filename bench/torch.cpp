#include "torch.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace bench {

using nlohmann::json;

namespace {
/// The samples it sent; nothing where they are not compared.
std::function<std::vector<double>()> result_of(const json& peer) {
  if (peer.at("part")) return {};
  return [values = peer.at("values").get<std::vector<double>>()] { return values; };
}
}  // namespace

Torch::Torch(const std::string& command) {
  int requests[2], answers[2];
  if (pipe(requests) != 0 || pipe(answers) != 0) throw std::runtime_error("no pipe can be made");
  std::signal(SIGPIPE, SIG_IGN);
  process_ = fork();
  if (process_ < 0) throw std::runtime_error("no process can be started");
  if (process_ == 0) {
    dup2(requests[0], 0);
    dup2(answers[1], 1);
    for (const int end : {requests[0], requests[1], answers[0], answers[1]}) close(end);
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  close(requests[0]);
  close(answers[1]);
  to_ = fdopen(requests[1], "w");
  from_ = fdopen(answers[0], "r");
  try {
    const json answer = json::parse(ask(R"({"hello": true})"));
    version_ = answer.at("version"), copy_rate_ = answer.at("copy_rate");
  } catch (const std::exception& e) {
    this->~Torch();
    throw std::runtime_error(fmt::format("'{}' does not answer: {}", command, e.what()));
  }
}

Torch::~Torch() {
  if (to_) std::fclose(to_);  // the end of its input ends it
  if (from_) std::fclose(from_);
  if (process_ > 0) waitpid(process_, nullptr, 0);
}

std::string Torch::ask(const std::string& request) {
  if (std::fputs((request + "\n").c_str(), to_) < 0 || std::fflush(to_) != 0)
    throw std::runtime_error("PyTorch's process has ended");
  std::string line;
  for (int c; (c = std::fgetc(from_)) != EOF && c != '\n';) line += static_cast<char>(c);
  if (line.empty()) throw std::runtime_error("PyTorch's process has ended");
  return line;
}

std::vector<Contender> Torch::contenders(const Workload& workload, Clock clock, std::vector<std::string>& notes) {
  std::vector<Contender> all;
  try {
    const json answer = json::parse(ask(json{{"prepare", workload.name}}.dump()));
    for (const json& note : answer.at("notes")) notes.push_back(note);
    for (const json& peer : answer.at("peers")) {
      const std::string library = peer.at("library");
      all.push_back({.library = library,
                     .run = {},
                     .result = result_of(peer),
                     .measure =
                         [this, library, clock](double seconds) {
                           const json request{{"measure", library},
                                              {"seconds", seconds},
                                              {"processor_time", clock == Clock::processor}};
                           return json::parse(ask(request.dump())).at("seconds_per_call").get<double>();
                         },
                     .part = peer.at("part")});
    }
  } catch (const std::exception& e) {
    notes.push_back(fmt::format("PyTorch left out: {}", e.what()));
  }
  return all;
}

}  // namespace bench
