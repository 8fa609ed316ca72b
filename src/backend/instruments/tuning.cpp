#include "backend/instruments/tuning.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "backend/instruments/trace.hpp"
#include "process/files.hpp"
#include "process/fork.hpp"
#include "tern/tuning.hpp"

namespace tern {
namespace detail {
namespace {

constexpr std::string_view kHeader = "tern tuning 1\n";
/// Calls measured for each candidate, in turn; the fastest counts, for other programs can only slow one down.
constexpr int kSamples = 16, kFewestSamples = 3;
/// A candidate replaces the default where it is faster by this factor in the mean: less is noise.
constexpr double kWorthwhile = 0.98;
constexpr double kMostSeconds = 60;

// ---- values known before anything is measured

const TunedValues& shipped() {
  static const auto& values = *new TunedValues{
      // outlives what is in static storage
#define TERN_TUNED(device_class, key, value) {{device_class, key}, {value}},
#include "backend/instruments/tuned.inc"
#undef TERN_TUNED
  };
  return values;
}

/// The file's values; says on stderr where it is damaged.
TunedValues read_values() {
  const std::string path = tuning_file();
  const std::optional<std::string> text = read_file(path);
  if (!text) return {};
  if (const auto values = parse_tuned(*text)) return *values;
  std::fprintf(stderr,
               "tern: the tuning file %s is damaged and ignored; tern::tune() or TERN_TUNE=1 writes a new one\n",
               path.c_str());
  return {};
}
const TunedValues& from_file() {
  static const auto& values = *new TunedValues(read_values());
  return values;
}

struct Registry {
  ForkSafe<std::mutex> lock;
  std::vector<Choice*> choices;
};
Registry& registry() {
  static auto& all = *new Registry;
  return all;
}

// ---- measuring

/// Times of calls that are alike, for each candidate of a choice.
struct Times {
  std::vector<double> fastest;
  std::vector<int> count;
  int fewest() const { return *std::min_element(count.begin(), count.end()); }
};

struct Session {
  ForkSafe<std::mutex> lock;
  std::map<Choice*, std::map<std::string, Times>> times;
  std::int64_t samples = 0;
};

/// tune()'s, on its thread. (Not an argument: between it and a choice stand the program that is tuned and a backend.)
thread_local Session* tuned = nullptr;
/// TERN_TUNE=1's.
Session* of_process();

/// The measured call that this thread is making: what it is like, and which choice varies in it. (Not an argument:
/// choices are asked for far below, by plans that need not know whether they are measured.)
struct TunedCall {
  Session& session;
  const std::string& like;
  Choice* varied = nullptr;
  std::size_t candidate = 0;
};
thread_local TunedCall* current = nullptr;

std::string decide(Choice& choice, const std::map<std::string, Times>& kinds) {
  std::vector<double> logs(choice.candidates.size(), 0);
  int compared = 0;
  for (const auto& [like, times] : kinds) {
    if (times.fewest() < kFewestSamples) continue;
    ++compared;
    for (std::size_t c = 0; c < logs.size(); ++c) logs[c] += std::log(times.fastest[c] / times.fastest[0]);
  }
  std::string text = choice.device_class + " " + choice.key + ": ";
  if (compared == 0) return text + "too few calls that are alike; stays " + std::to_string(choice.value()) + "\n";
  std::size_t best = 0;
  std::vector<double> ratios;
  for (std::size_t c = 0; c < logs.size(); ++c) {
    const double ratio = ratios.emplace_back(std::exp(logs[c] / compared));
    char shown[64];
    std::snprintf(shown, sizeof shown, "%s%lld takes %.3f", c ? ", " : "", static_cast<long long>(choice.candidates[c]),
                  ratio);
    text += shown;
    if (ratio < kWorthwhile && logs[c] < logs[best]) best = c;
  }
  choice.set(choice.candidates[best], "measured", ratios);
  return text + " of the default's time over " + std::to_string(compared) + " kinds of calls; now " +
         std::to_string(choice.candidates[best]) + "\n";
}

void write_values(const std::map<Choice*, std::map<std::string, Times>>& decided) {
  const std::string path = tuning_file();
  if (path.empty()) return;
  // What other processes have written meanwhile stays.
  TunedValues values = parse_tuned(read_file(path).value_or("")).value_or(TunedValues{});
  for (const auto& [choice, kinds] : decided) values[{choice->device_class, choice->key}] = choice->tuned();
  try {
    write_file_atomically(path, to_text(values));
  } catch (const Error& error) {
    throw Error(ErrorKind::io, std::string("tune: ") + error.what() + " (TERN_TUNE_FILE names another)");
  }
}

/// Throws `io` where it is known before anything is measured that the file cannot be written.
void require_tuning_file() {
  const std::string path = tuning_file(), why = why_not_a_file(path);
  if (!why.empty())
    throw Error(ErrorKind::io,
                "tune: the file " + path + " cannot be written: " + why + " (TERN_TUNE_FILE names another)");
}

/// Settles every choice a session has measured, and writes the file.
std::string finish(Session& session) {
  std::string text;
  for (const auto& [choice, kinds] : session.times) text += decide(*choice, kinds);
  if (session.times.empty()) return "no call depended on a choice\n";
  write_values(session.times);
  const std::string path = tuning_file();
  return text + (path.empty() ? "not kept: neither HOME nor TERN_TUNE_FILE is set\n" : "written to " + path + "\n");
}

void finish_process() {
  try {
    std::fputs(("tern: " + finish(*of_process())).c_str(), stderr);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tern: %s\n", e.what());
  }
}
Session* of_process() {
  static Session* const session = []() -> Session* {
    const char* text = std::getenv("TERN_TUNE");
    if (!text || !*text || std::string_view(text) == "0") return nullptr;
    if (const std::string why = why_not_a_file(tuning_file()); !why.empty())
      std::fprintf(stderr, "tern: the tuning file %s will not be written: %s\n", tuning_file().c_str(), why.c_str());
    ++Choice::watchers;
    std::atexit(finish_process);
    return new Session;
  }();
  return session;
}

}  // namespace

// ---- choices

Choice::Choice(std::string device_class_, std::string key_, std::vector<std::int64_t> candidates_)
    : device_class(std::move(device_class_)),
      key(std::move(key_)),
      candidates(std::move(candidates_)),
      value_(candidates[0]) {
  const auto take = [&](const TunedValues& values, const char* source) {
    const auto found = values.find({device_class, key});
    if (found != values.end() && has(found->second.value)) set(found->second.value, source, found->second.times);
  };
  take(shipped(), "shipped table");
  take(from_file(), "tuning file");
  Registry& all = registry();
  const std::lock_guard hold(all.lock);
  all.choices.push_back(this);
}

const Choice& choice_of(std::string_view device_class, std::string_view key,
                        std::initializer_list<std::int64_t> candidates) {
  using OfClass = std::map<std::string, const Choice*, std::less<>>;
  static auto& lock = *new ForkSafe<std::mutex>;
  static auto& made = *new std::map<std::string, OfClass, std::less<>>;
  const std::lock_guard hold(lock);
  auto of_class = made.find(device_class);
  if (of_class == made.end()) of_class = made.emplace(device_class, OfClass{}).first;
  const auto found = of_class->second.find(key);
  if (found != of_class->second.end()) return *found->second;
  const auto* choice = new Choice(std::string(device_class), std::string(key), candidates);
  return *of_class->second.emplace(key, choice).first->second;
}

std::string size_classes(std::span<const std::int64_t> sizes) {
  std::string text;
  for (const std::int64_t size : sizes)
    text += " 2^" + std::to_string(std::bit_width(static_cast<std::uint64_t>(size)) - 1);
  return text;
}

std::vector<Choice*> choices() {
  Registry& all = registry();
  const std::lock_guard hold(all.lock);
  return all.choices;
}

bool Choice::has(std::int64_t value) const { return std::ranges::find(candidates, value) != candidates.end(); }

void Choice::set(std::int64_t value, const char* source, const std::vector<double>& times) {
  const std::lock_guard hold(times_lock_);
  value_ = value, source_ = source, ++changes;
  times_ = times.size() == candidates.size() ? times : std::vector<double>();
}
Tuned Choice::tuned() const {
  const std::lock_guard hold(times_lock_);
  return {value(), times_};
}

std::string Choice::text() const {
  const Tuned now = tuned();
  const auto place = static_cast<std::size_t>(std::ranges::find(candidates, now.value) - candidates.begin());
  std::string others;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    if (c == place) continue;
    others += (others.empty() ? "" : ", ") + std::to_string(candidates[c]);
    if (now.times.empty()) continue;
    char ratio[48];
    std::snprintf(ratio, sizeof ratio, " in %.3f of its time", now.times[c] / now.times[place]);
    others += ratio;
  }
  return key + " = " + std::to_string(now.value) + " (" + source_.load() + "; else " + others + ")";
}

std::int64_t Choice::watched() const {
  TunedCall* const call = current;
  if (call && !call->varied) {
    const std::lock_guard hold(call->session.lock);
    auto* self = const_cast<Choice*>(this);
    Times& times = call->session.times[self][call->like];
    if (times.count.empty()) times.count.resize(candidates.size()), times.fastest.resize(candidates.size(), INFINITY);
    if (times.fewest() < kSamples) {
      call->varied = self;
      call->candidate = static_cast<std::size_t>(std::ranges::min_element(times.count) - times.count.begin());
    }
  }
  if (call && call->varied == this) return candidates[call->candidate];
  if (tracing()) note(text());
  return value();
}

bool measuring() { return !current && (tuned || of_process()); }

void measure(Backend& backend, const std::string& like, const std::function<void()>& run) {
  Session* const session = tuned ? tuned : of_process();
  if (!session) return run();
  backend.synchronize();
  TunedCall call{*session, like};
  struct Restore {
    ~Restore() { current = nullptr; }
  } guard;
  current = &call;
  const auto start = std::chrono::steady_clock::now();
  run();
  backend.synchronize();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!call.varied) return;
  const std::lock_guard hold(session->lock);
  Times& times = session->times[call.varied][like];
  times.fastest[call.candidate] = std::min(times.fastest[call.candidate], seconds);
  ++times.count[call.candidate], ++session->samples;
}

std::string tune_calls(CallRef call) {
  require_tuning_file();
  Session session;
  struct Restore {
    Session* outer = tuned;
    ~Restore() { tuned = outer, --Choice::watchers; }
  } guard;
  tuned = &session, ++Choice::watchers;
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t before = -1; before != session.samples;) {
    before = session.samples;
    call();
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > kMostSeconds) break;
  }
  return finish(session);
}

// ---- the file

namespace {
std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(by);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}
template <class T> bool read_number(std::string_view text, T& number) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && stop == text.data() + text.size();
}
}  // namespace

std::optional<TunedValues> parse_tuned(std::string_view text) {
  if (!text.starts_with(kHeader)) return {};
  TunedValues values;
  for (text.remove_prefix(kHeader.size()); !text.empty();) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};  // cut off
    const std::vector<std::string_view> columns = split(text.substr(0, end), '\t');
    text.remove_prefix(end + 1);
    if (columns.size() < 3 || columns.size() > 4 || columns[0].empty() || columns[1].empty()) return {};
    Tuned tuned;
    if (!read_number(columns[2], tuned.value)) return {};
    if (columns.size() == 4)
      for (const std::string_view time : split(columns[3], ' '))
        if (!read_number(time, tuned.times.emplace_back()) || !(tuned.times.back() > 0)) return {};
    values[{std::string(columns[0]), std::string(columns[1])}] = std::move(tuned);
  }
  return values;
}

std::string to_text(const TunedValues& values) {
  std::string text(kHeader);
  for (const auto& [name, tuned] : values) {
    text += name.first + "\t" + name.second + "\t" + std::to_string(tuned.value);
    for (std::size_t c = 0; c < tuned.times.size(); ++c) {
      char time[32];
      std::snprintf(time, sizeof time, "%c%.3f", c ? ' ' : '\t', tuned.times[c]);
      text += time;
    }
    text += '\n';
  }
  return text;
}

}  // namespace detail

std::string tuning_file() {
  const auto set = [](const char* name) {
    const char* text = std::getenv(name);
    return text && *text ? std::string(text) : std::string();
  };
  if (std::string file = set("TERN_TUNE_FILE"); !file.empty()) return file;
  if (const std::string cache = set("XDG_CACHE_HOME"); !cache.empty()) return cache + "/tern/tuning.txt";
  const std::string home = set("HOME");
  return home.empty() ? home : home + "/.cache/tern/tuning.txt";
}

}  // namespace tern
