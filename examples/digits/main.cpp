// Trains a small gated network on handwritten digits, on whichever device is asked for.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <system_error>

#include <tern/tern.hpp>

#include "data.hpp"
#include "model.hpp"
#include "picture.hpp"
#include "report.hpp"

namespace {

struct Settings {
  digits::TrainingOptions training;
  std::string device;  ///< Empty: tern::default_device().
  std::string dtype = "f32";
  std::string data;  ///< Empty: see data_file().
  std::string output = "digits-output";
  bool quiet = false;
};

/// Accepts a number from `low` to `high`, and nothing else; `wanted` says so in words.
template <class T>
CLI::Validator number(T low, T high, const std::string& wanted) {
  const auto check = [low, high, wanted](const std::string& text) -> std::string {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole && value >= low && value <= high ? "" : fmt::format("\"{}\" is not {}", text, wanted);
  };
  return CLI::Validator(check, "");
}

void declare_options(CLI::App& app, Settings& settings) {
  digits::TrainingOptions& training = settings.training;
  app.add_option("--device", settings.device, "cpu, cuda:0, webgpu, ... (default: TERN_DEVICE, else cpu)")
      ->type_name("NAME");
  app.add_option("--dtype", settings.dtype, "Element type of weights and images: f32, f64 or bf16")
      ->check(CLI::Validator(CLI::IsMember({"f32", "f64", "bf16"})).description(""))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--epochs", training.epochs, "Passes over the training images")
      ->check(number(1, 1'000'000, "a whole number from 1 to 1000000"))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--batch-size", training.batch_size, "Images a training step")
      ->check(number<std::int64_t>(1, 1'000'000, "a whole number from 1 to 1000000"))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--learning-rate", training.learning_rate, "At the start; falls to 0 along a cosine")
      ->check(number(std::numeric_limits<double>::min(), 1000.0, "a number above 0 and up to 1000"))
      ->type_name("X")
      ->capture_default_str();
  app.add_option("--seed", training.seed, "Seed of the weights and of the order of images")
      ->check(number(std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max(), "a whole number from 0 to 2^64 - 1"))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--data", settings.data, "CSV file (default: TERN_DIGITS_DATA, else the one that comes with tern)")
      ->type_name("FILE");
  app.add_option("--output", settings.output, "Folder for the pictures")->type_name("DIR")->capture_default_str();
  app.add_flag("--quiet", settings.quiet, "Print one line, at the end");
}

tern::DType parse_dtype(const std::string& name) {
  if (name == "f64") return tern::f64;
  return name == "bf16" ? tern::bf16 : tern::f32;
}

/// The file to read: from --data, from the environment, or the one beside the source of this program.
std::filesystem::path data_file(const Settings& settings) {
  if (!settings.data.empty()) return settings.data;
  const char* const from_environment = std::getenv("TERN_DIGITS_DATA");
  if (from_environment != nullptr && *from_environment != '\0') return from_environment;
  return DIGITS_DEFAULT_DATA;
}

/// Creates the folder before the training, so that a bad name is noticed at once.
void create_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || !std::filesystem::is_directory(folder))
    throw std::runtime_error(fmt::format("{}: the folder cannot be made ({}); name another with --output",
                                         folder.string(), error ? error.message() : "a file is in its place"));
}

void write_file(const std::filesystem::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out)
    throw std::runtime_error(fmt::format("{}: cannot be written; name another folder with --output", file.string()));
}

digits::TrainingLog train_with_progress(digits::GatedMlp& model, const digits::Batch& training,
                                        const digits::Batch& held_out, const Settings& settings) {
  digits::Progress progress(settings.training.epochs, settings.quiet);
  return digits::train(model, training, held_out, settings.training,
                       {.on_step = [&](int epoch, double done) { progress.step(epoch, done); },
                        .on_epoch = [&](const digits::Epoch& epoch, double done) { progress.epoch(epoch, done); }});
}

/// What to try after an error of the library: another device or another dtype.
std::string remedy(const tern::Error& error) {
  if (error.kind() == tern::ErrorKind::unsupported) return "; choose another --dtype or --device";
  if (error.kind() != tern::ErrorKind::device && error.kind() != tern::ErrorKind::backend) return "";
  std::string usable;
  for (const tern::DeviceInfo& info : tern::devices())
    if (info.available) usable += (usable.empty() ? "" : ", ") + info.device.to_string();
  return fmt::format("; choose a --device that is present: {}", usable);
}

void run(const Settings& settings) {
  const tern::Device device =
      settings.device.empty() ? tern::default_device() : tern::Device::parse(settings.device);
  const tern::Options options{.dtype = parse_dtype(settings.dtype), .device = device};
  const std::filesystem::path file = data_file(settings), output = settings.output;
  const digits::Split split = digits::hold_out_one_fifth(digits::read_digits(file), file);
  create_folder(output);

  const digits::Batch training(split.train, options), held_out(split.test, options);
  digits::GatedMlp model(tern::Generator{settings.training.seed}, options);
  const digits::TrainingLog log = train_with_progress(model, training, held_out, settings);
  const digits::Predictions predictions = digits::predict(model, held_out.images);

  const digits::Score score = digits::score(split.test, predictions);
  const std::size_t right = score.total_right(), images = score.total_images();
  const double examples = static_cast<double>(training.size()) * settings.training.epochs;
  const std::string where = fmt::format("{}, {}", device.to_string(), settings.dtype);
  const std::string result =
      fmt::format("{} of {} held-out images right ({})", right, images, digits::percent(right, images));
  const std::string speed =
      fmt::format("trained in {:.2f} s ({:.0f} examples/s) on {}", log.seconds, examples / log.seconds, where);
  const std::filesystem::path curves = output / "training.svg", mistakes = output / "mistakes.svg";
  write_file(curves, digits::training_curves(log.epochs, fmt::format("{}; {}", result, where)));
  write_file(mistakes, digits::mistake_sheet(split.test, digits::find_mistakes(split.test, predictions),
                                             fmt::format("{}; the surest mistakes first", result)));
  if (settings.quiet) {
    fmt::print("{}, {}\n", result, speed);
    return;
  }
  digits::print_table(score);
  fmt::print("{}, last loss {:.6g}\nwrote {}\nwrote {}\n", speed, log.epochs.back().loss, curves.string(),
             mistakes.string());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Trains a gated network (64 -> 128 -> 10) on 1,797 handwritten digits, one fifth of them held out.",
               "digits"};
  Settings settings;
  declare_options(app, settings);
  try {
    app.parse(argc, argv);
    run(settings);
    return EXIT_SUCCESS;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    fmt::print(stderr, "digits: {} (digits --help lists the options)\n", error.what());
  } catch (const tern::Error& error) {
    fmt::print(stderr, "digits: {}{}\n", error.what(), remedy(error));
  } catch (const std::exception& error) {
    fmt::print(stderr, "digits: {}\n", error.what());
  }
  return EXIT_FAILURE;
}
