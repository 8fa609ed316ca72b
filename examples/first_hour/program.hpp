// What the programs of this folder share: their command line, and how they end.
#pragma once
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <string>

#include <tern/tern.hpp>

/// Reads `--device` and what `options` adds, and runs the program on that device. The exit status is 0 where `run`
/// found what it was to find, 1 where it did not, and 2 where an error was thrown.
template <class AddOptions, class Run>
int run_program(int argc, char** argv, const char* description, const AddOptions& add_options, const Run& run) {
  CLI::App app{description};
  std::string device;
  app.add_option("--device", device, "cpu, cuda:0, webgpu, … (default: cpu)")->type_name("NAME");
  add_options(app);
  CLI11_PARSE(app, argc, argv);
  try {
    if (!device.empty()) tern::set_default_device(tern::Device::parse(device));
    return run() ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
    return 2;
  }
}
