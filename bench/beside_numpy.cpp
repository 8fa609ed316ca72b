// One call of tern for bench/beside_numpy.py, which takes turns with NumPy: reads "call count" lines, makes that many
// calls on the arrays that were saved for it, and answers with the processor's time for each in seconds.
#include <ctime>
#include <functional>
#include <iostream>
#include <map>
#include <string>

#include "tern/tern.hpp"

namespace {

using namespace tern;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::map<std::string, std::function<void()>> calls(const io::Named& arrays) {
  const auto of = [&](const char* name) { return arrays.at(name); };
  const Tensor x = of("x"), y = of("y"), few = of("few"), edges = of("edges"), whole = of("whole"), some = of("some"),
               large = of("large"), re = of("re"), im = of("im"), matrix = of("matrix");
  const Tensor z = make_complex(re, im), w = make_complex(im, re);
  return {
      {"exp", [=] { exp(x); }},
      {"add", [=] { x + y; }},
      {"complex abs", [=] { abs(z); }},
      {"complex multiply", [=] { z* w; }},
      {"complex add", [=] { z + w; }},
      {"complex exp", [=] { exp(z); }},
      {"sum over rows", [=] { sum(matrix, {1}); }},
      {"sum over columns", [=] { sum(matrix, {0}); }},
      {"cumulative sum", [=] { cumsum(x, 0); }},
      {"logcumsumexp", [=] { logcumsumexp(x, 0); }},
      {"isin", [=] { isin(whole, some); }},
      {"histogram",
       [=] {
         histogram(x, 100, std::pair{-4.0, 4.0});
       }},
      {"searchsorted", [=] { searchsorted(edges, x); }},
      {"searchsorted, sorted values", [=] { searchsorted(edges, edges); }},
      {"quantile of all", [=] { quantile(x, 0.3); }},
      {"median of rows", [=] { median(matrix, {1}); }},
      {"argsort", [=] { argsort(x); }},
      {"sort", [=] { sort(x).values; }},
      {"top 100 of 2^24", [=] { topk(large, 100); }},
      {"top 2^16 of 2^24", [=] { topk(large, 1 << 16); }},
      {"unique", [=] { unique_values(whole); }},
      {"bincount", [=] { bincount(whole); }},
      {"take", [=] { take(x, some); }},
      {"masked select", [=] { masked_select(x, few); }},
  };
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "Usage: tern_beside_numpy ARRAYS.npz, as bench/beside_numpy.py runs it\n";
    return 2;
  }
  const auto all = calls(io::load_npz(arguments[1]));
  for (std::string line; std::getline(std::cin, line);) {
    const auto space = line.rfind(' ');
    const auto& call = all.at(line.substr(0, space));
    const int times = std::stoi(line.substr(space + 1));
    const double before = cpu_seconds();
    for (int i = 0; i < times; ++i) call();
    std::cout << (cpu_seconds() - before) / times << std::endl;
  }
}
