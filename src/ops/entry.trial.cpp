// The list of entries.
#include "ops/entry.hpp"

#include <algorithm>

namespace tern::operations {
namespace {

std::vector<Entry>& list() {
  static std::vector<Entry> all;
  return all;
}

}  // namespace

Entries::Entries(std::initializer_list<Entry> more) { list().insert(list().end(), more.begin(), more.end()); }

const std::vector<Entry>& entries() {
  static const std::vector<Entry> sorted = [] {
    std::vector<Entry> all = list();
    std::ranges::stable_sort(all, {}, &Entry::family);
    return all;
  }();
  return sorted;
}

const char* title(Family family) {
  switch (family) {
    case Family::reductions: return "Reductions";
    case Family::statistics: return "Statistics and running results";
    case Family::products: return "Products of matrices";
    case Family::linalg: return "Linear algebra (tern::linalg)";
    case Family::rows: return "Rows";
    case Family::indices: return "Indices and order";
    case Family::sets: return "Order, search and sets";
    case Family::joins: return "Joining and splitting";
    case Family::views: return "Views, copies and conversions";
    case Family::creation: return "Creation";
    case Family::complex: return "Complex numbers";
    case Family::fourier: return "Fourier transforms";
    case Family::special: return "Special functions";
    case Family::random: return "Random numbers";
    case Family::neural: return "Neural networks";
    case Family::compositions: return "Compositions";
    case Family::gated: return "Gradients of gated activations";
    case Family::optimisers: return "Optimisers and clipping";
  }
  return "";
}

}  // namespace tern::operations
