// Measures tern and the libraries it is compared with, side by side in one run.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "peers.hpp"
#include "report.hpp"
#include "roof.hpp"
#include "torch.hpp"

namespace {

struct Request {
  std::vector<std::string> names, peers;
  std::string filter, json, torch, device = "cpu";
  bool quick = false, list = false, one_thread = false, name = false;
  int threads = 0;
};

bool wanted(const Request& request, const std::string& peer) {
  return request.peers.empty() || std::ranges::find(request.peers, peer) != request.peers.end();
}

/// The peers that were asked for and are there; says which are missing.
bench::Peers make_peers(const Request& request, int threads) {
  using Make = std::unique_ptr<bench::Peer> (*)(int);
  struct Known {
    const char* name;
    Make make;
    const char* package;
  };
  const Known known[] = {
#ifdef BENCH_ONEDNN
      {"oneDNN", bench::make_onednn, ""},
#else
      {"oneDNN", nullptr, "version 2 of it (libdnnl-dev)"},
#endif
#ifdef BENCH_OPENBLAS
      {"OpenBLAS", bench::make_openblas, ""},
#else
      {"OpenBLAS", nullptr, "libopenblas-dev"},
#endif
#ifdef BENCH_EIGEN
      {"Eigen", bench::make_eigen, ""},
#else
      {"Eigen", nullptr, "libeigen3-dev"},
#endif
#ifdef BENCH_BYHAND
      {"by-hand", bench::make_byhand, ""},
#else
      {"by-hand", nullptr, "OpenMP"},
#endif
  };
  bench::Peers peers;
  for (const Known& k : known) {
    if (!wanted(request, k.name)) continue;
    try {
      if (k.make) peers.push_back(k.make(threads));
      else fmt::print(stderr, "peer {} is missing: {} was not there when this was built\n", k.name, k.package);
    } catch (const std::exception& e) {
      fmt::print(stderr, "peer {} is missing: {}\n", k.name, e.what());
    }
  }
  for (const std::string& name : request.peers)
    if (name != "none" && std::ranges::none_of(known, [&](const Known& k) { return name == k.name; }))
      fmt::print(stderr, "peer {} is unknown; there are oneDNN, OpenBLAS, Eigen and by-hand (PyTorch: --torch)\n",
                 name);
  return peers;
}

std::unique_ptr<bench::Torch> start_torch(const Request& request, int threads) {
  if (request.torch.empty()) return nullptr;
  try {
    std::string command = std::regex_replace(request.torch, std::regex("THREADS"), std::to_string(threads));
    return std::make_unique<bench::Torch>(std::regex_replace(command, std::regex("DEVICE"), request.device));
  } catch (const std::exception& e) {
    fmt::print(stderr, "peer PyTorch is missing: {}\n", e.what());
    return nullptr;
  }
}

bench::Workloads all_workloads(const bench::Target& target) {
  bench::Workloads all;
  bench::add_matmul(all, target);
  bench::add_linear(all, target);
  bench::add_gated(all, target);
  bench::add_rows(all, target);
  bench::add_matrices(all, target);
  bench::add_transforms(all, target);
  bench::add_fits(all, target);
  bench::add_swiglu(all, target);
  bench::add_step(all, target);
  bench::add_mlp(all, target);
  bench::add_overhead(all, target);
  bench::add_cliffs(all, target);
  bench::add_programs(all, target);
#ifdef BENCH_CPU
  bench::add_cliffs_cpu(all, target);
  bench::add_small_products(all, target);
#endif
  return all;
}

/// Names (or beginnings of names) and the expression pick; without either, --quick does, or everything is taken.
std::vector<const bench::Workload*> selected(const Request& request, const bench::Workloads& all,
                                             const std::regex& filter) {
  std::vector<const bench::Workload*> picked;
  const bool named = !request.names.empty();
  for (const bench::Workload& w : all) {
    const bool by_name =
        std::ranges::any_of(request.names, [&](const std::string& n) { return w.name.starts_with(n); });
    if ((named ? by_name : !request.quick || w.quick) && std::regex_search(w.name, filter)) picked.push_back(&w);
  }
  for (const std::string& name : request.names)
    if (std::ranges::none_of(all, [&](const bench::Workload& w) { return w.name.starts_with(name); }))
      fmt::print(stderr, "workload {} is unknown (--list shows all)\n", name);
  if (picked.empty() && !named)
    fmt::print(stderr, "no workload's name matches {} (--list shows all)\n", request.filter);
  return picked;
}

/// Throws where tern has no such device, or this program cannot measure it.
tern::Device device_of(const Request& request) {
  const tern::Device device = tern::Device::parse(request.device);
  tern::zeros({1}, device);
  if (device != tern::cpu()) {
    if (request.one_thread) throw std::runtime_error("--one-thread is about processors, not " + request.device);
    return device;
  }
#ifdef BENCH_CPU
  return device;
#else
  throw std::runtime_error("this program was built for GPUs alone (TERN_BENCH_CPU); say --device");
#endif
}

std::string device_name(tern::Device device) {
  for (const tern::DeviceInfo& info : tern::devices())
    if (info.device == device) return info.name;
  return "";
}

bench::Machine describe(const Request& request, const bench::Target& target, bench::Torch* torch, int threads,
                        bench::Clock clock) {
  bench::Machine machine = bench::this_machine(threads, clock);
  for (const auto& peer : target.peers) machine.libraries[peer->name()] = peer->version();
  if (torch) machine.libraries["PyTorch"] = torch->version();
  if (target.gpu()) {
    machine.device = device_name(target.device) + " (" + request.device + ")";
    machine.roofs["copy"] = std::max(bench::copy_rate(target.device), torch ? torch->copy_rate() : 0);
  }
#ifdef BENCH_CPU
  else machine.roofs = bench::measure_roofs(threads, clock);
#endif
  return machine;
}

bench::Settings settings_of(const Request& request, const bench::Target& target, bench::Clock clock) {
  bench::Settings settings{.clock = clock};
  if (target.gpu()) settings.slice = 0.1;  // far longer than the wait at its end
  if (request.quick) settings.rounds = 7, settings.slice = target.gpu() ? 0.05 : 0.08;
  return settings;
}

int run(const Request& request, const std::regex& filter, const std::string& command) {
  const bench::Clock clock = request.one_thread ? bench::Clock::processor : bench::Clock::wall;
  const int threads = request.one_thread ? 1 : request.threads > 0 ? request.threads : tern::num_threads();
  tern::set_num_threads(threads);
  const tern::Device device = device_of(request);
  if (request.name) return fmt::print("{}\n", device_name(device)), 0;
  const bench::Peers peers = device == tern::cpu() ? make_peers(request, threads) : bench::Peers{};
  const bench::Target target{device, peers};
  const bench::Workloads all = all_workloads(target);
  const auto picked = selected(request, all, filter);
  if (request.list) {
    for (const bench::Workload* w : picked) fmt::print("{}{}\n", w->name, w->quick ? "  (quick)" : "");
    return 0;
  }
  if (picked.empty()) return 0;

  const auto torch = start_torch(request, threads);
  bench::Machine machine = describe(request, target, torch.get(), threads, clock);
  bench::print(machine);
  const bench::MoreContenders more = [&](const bench::Workload& w, std::vector<std::string>& notes) {
    auto contenders = torch ? torch->contenders(w, clock, notes) : std::vector<bench::Contender>{};
#ifdef BENCH_CPU
    if (w.roof == "triad") contenders.push_back(bench::triad_contender(w.work, threads, clock));
#endif
    return contenders;
  };
  std::vector<bench::Result> results;
  for (const bench::Workload* w : picked) {
    results.push_back(bench::measure(*w, settings_of(request, target, clock), more));
    bench::print(results.back(), machine);
    machine.load_after = bench::system_load();
    // After each, so that a run that is cut short leaves what it measured.
    if (!request.json.empty() && !bench::write_json(request.json, command, machine, results)) {
      fmt::print(stderr, "{} cannot be written\n", request.json);
      return 1;
    }
  }
  bench::print_slower(results);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Measures tern and its peers side by side. A workload's name says what it is (--list); \"both\" is forward and "
      "backward.");
  Request request;
  app.add_option("workloads", request.names, "Workloads, or beginnings of their names; all without");
  app.add_flag("--quick", request.quick,
               "A compact selection and shorter rounds: within two minutes, or five beside torch.compile on a GPU");
  app.add_option("--filter", request.filter, "Only workloads whose name matches this regular expression");
  app.add_flag("--list", request.list, "Name the workloads and end");
  app.add_flag("--name", request.name, "Print the device's name and end");
  app.add_option("--json", request.json, "Write everything measured to this file");
  app.add_option("--device", request.device, "cpu, cuda, webgpu, cuda:1 and so on: where tern's tensors live");
  app.add_option("--threads", request.threads, "Threads for every library; without, as many as tern takes")
      ->check(CLI::Range(1, 1024));
  app.add_flag("--one-thread", request.one_thread,
               "One thread, and processor time in place of wall time: for a busy machine");
  app.add_option("--peers", request.peers, "Only these of oneDNN, OpenBLAS, Eigen, by-hand; \"none\" for tern alone")
      ->delimiter(',');
  app.add_option("--torch", request.torch,
                 "The command that starts bench/peers_torch.py; THREADS and DEVICE in it become what they are here");
  CLI11_PARSE(app, argc, argv);

  std::string command;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--json" || argument == "--torch") ++i;  // paths of this machine
    else command += (command.empty() ? "" : " ") + argument;
  }
  std::regex filter;
  try {
    filter = std::regex(request.filter);
  } catch (const std::regex_error& e) {
    fmt::print(stderr, "--filter {}: {}\n", request.filter, e.what());
    return 2;
  }
  try {
    return run(request, filter, command);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}
