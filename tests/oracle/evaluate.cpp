// Evaluates cases for tests/oracle/compare*.py: one a line on standard input, as JSON, the results in an npz file.
#include <iostream>

#include "case.hpp"

namespace oracle {
namespace {

using Index = tern::detail::Index;

std::vector<Index> indices_of(const json& list) {
  const auto bound = [](const json& value) {
    return value.is_null() ? std::optional<std::int64_t>() : value.get<std::int64_t>();
  };
  std::vector<Index> all;
  for (const json& one : list) {
    if (one == "ellipsis") all.emplace_back(ellipsis);
    else if (one == "newaxis") all.emplace_back(newaxis);
    else if (one.is_number()) all.emplace_back(one.get<std::int64_t>());
    else if (one.is_array()) all.emplace_back(Slice{bound(one[0]), bound(one[1]), one[2].get<std::int64_t>()});
    else all.emplace_back(tensor_of(one));
  }
  return all;
}

/// The case: its operands by name, its axes, whether they are kept.
struct Case {
  Case(const json& from) : of(from) {}
  const json& of;
  Tensor x() const { return tensor_of(of.at("x")); }
  Tensor y() const { return tensor_of(of.at("y")); }
  int axis() const { return of.at("axis").get<int>(); }
  std::int64_t n() const { return of.at("n").get<std::int64_t>(); }
  std::vector<Index> at() const { return indices_of(of.at("at")); }
};
Evaluations indexing() {
  return {
      {"index", [](const Case& c) { return Results{tern::detail::select(c.x(), c.at())}; }},
      {"assign",
       [](const Case& c) {
         const Tensor x = c.x();
         tern::detail::assign_to(tern::detail::select(x, c.at()), c.y(), true);
         return Results{x};
       }},
      {"add_in_place",
       [](const Case& c) {
         const Tensor x = c.x();
         tern::detail::select(x, c.at()) += c.y();
         return Results{x};
       }},
      {"assign_overlapping",
       [](const Case& c) {
         const Tensor x = c.x();
         tern::detail::assign_to(tern::detail::select(x, c.at()), tern::detail::select(x, indices_of(c.of.at("from"))),
                                 true);
         return Results{x};
       }},
      ORACLE("index_gradient", tern::detail::select(c(), indices_of(c.of.at("at")))),
      ORACLE("index_put_gradient", index_put(c(), indices_of(c.of.at("at")), c("y"))),
      ORACLE("index_add_gradient", index_put(c(), indices_of(c.of.at("at")), c("y"), true)),
      {"index_put", [](const Case& c) { return Results{index_put(c.x(), c.at(), c.y())}; }},
      {"index_add", [](const Case& c) { return Results{index_put(c.x(), c.at(), c.y(), true)}; }},
      {"take", [](const Case& c) { return Results{take(c.x(), c.y(), c.axis())}; }},
      {"take_along_axis", [](const Case& c) { return Results{take_along_axis(c.x(), c.y(), c.axis())}; }},
      {"put_along_axis",
       [](const Case& c) { return Results{put_along_axis(c.x(), c.y(), tensor_of(c.of.at("values")), c.axis())}; }},
      {"nonzero", [](const Case& c) { return nonzero(c.x()); }},
      {"masked_select", [](const Case& c) { return Results{masked_select(c.x(), c.y())}; }},
  };
}

#define ORACLE_BINARY(name, expression)  \
  {                                      \
    name, [](const Case& c) {            \
      const Tensor x = c.x(), y = c.y(); \
      return Results{expression};        \
    }                                    \
  }
#define ORACLE_REDUCTION(name)                                                                             \
  {                                                                                                        \
    #name, [](const Case& c) {                                                                             \
      return Results{tern::name(c.x(), Axes(integers(c.of.at("axes"))), c.of.at("keepdims").get<bool>())}; \
    }                                                                                                      \
  }
Evaluations arithmetic() {
  return {
      ORACLE_BINARY("add", x + y),
      ORACLE_BINARY("subtract", x - y),
      ORACLE_BINARY("multiply", x * y),
      ORACLE_BINARY("maximum", maximum(x, y)),
      ORACLE_BINARY("minimum", minimum(x, y)),
      ORACLE_BINARY("less", x < y),
      ORACLE_BINARY("equal", x == y),
      ORACLE_BINARY("where", where(tensor_of(c.of.at("values")), x, y)),
      ORACLE_BINARY("matmul", matmul(x, y)),
      ORACLE_BINARY("outer", outer(x, y)),
      ORACLE_BINARY("inner", inner(x, y)),
      ORACLE_BINARY("kron", kron(x, y)),
      ORACLE_BINARY("tensordot", tensordot(x, y, static_cast<int>(c.n()))),
      {"einsum",
       [](const Case& c) {
         return Results{einsum(c.of.at("equation").get<std::string>(), tensors_of(c.of.at("list")))};
       }},
      ORACLE_REDUCTION(sum),
      ORACLE_REDUCTION(mean),
      ORACLE_REDUCTION(prod),
      ORACLE_REDUCTION(max),
      ORACLE_REDUCTION(min),
      ORACLE_REDUCTION(any),
      ORACLE_REDUCTION(all),
      ORACLE_REDUCTION(var),
      ORACLE_REDUCTION(std),
      ORACLE_REDUCTION(argmax),
      ORACLE_REDUCTION(argmin),
  };
}

Results both(const Sorted<Tensor>& sorted) { return {sorted.values, sorted.indices}; }
Evaluations orders() {
  return {
      {"sort", [](const Case& c) { return both(sort(c.x(), c.axis(), c.of.at("descending").get<bool>())); }},
      {"topk", [](const Case& c) { return both(topk(c.x(), c.n(), c.axis(), c.of.at("descending").get<bool>())); }},
      {"cumsum", [](const Case& c) { return Results{cumsum(c.x(), c.axis())}; }},
      {"concatenate", [](const Case& c) { return Results{concatenate(tensors_of(c.of.at("list")), c.axis())}; }},
      {"stack", [](const Case& c) { return Results{stack(tensors_of(c.of.at("list")), c.axis())}; }},
      {"split", [](const Case& c) { return split(c.x(), c.n(), c.axis()); }},
      {"unstack", [](const Case& c) { return unstack(c.x(), c.axis()); }},
      {"broadcast_arrays", [](const Case& c) { return broadcast_arrays(tensors_of(c.of.at("list"))); }},
      {"flip", [](const Case& c) { return Results{flip(c.x(), Axes(integers(c.of.at("axes"))))}; }},
      {"permute", [](const Case& c) { return Results{permute_dims(c.x(), Axes(integers(c.of.at("axes"))))}; }},
      {"tile", [](const Case& c) { return Results{tile(c.x(), Shape(integers(c.of.at("times"))))}; }},
      {"repeat", [](const Case& c) { return Results{repeat(c.x(), c.n(), c.axis())}; }},
      {"roll", [](const Case& c) { return Results{roll(c.x(), c.n(), c.axis())}; }},
      {"rot90",
       [](const Case& c) {
         return Results{rot90(c.x(), static_cast<int>(c.n()), c.of.at("axes")[0], c.of.at("axes")[1])};
       }},
      {"moveaxis", [](const Case& c) { return Results{moveaxis(c.x(), c.axis(), static_cast<int>(c.n()))}; }},
      {"diagonal",
       [](const Case& c) { return Results{diagonal(c.x(), c.n(), c.of.at("axes")[0], c.of.at("axes")[1])}; }},
      {"tril", [](const Case& c) { return Results{tril(c.x(), c.n())}; }},
      {"triu", [](const Case& c) { return Results{triu(c.x(), c.n())}; }},
      {"windows", [](const Case& c) { return Results{sliding_window_view(c.x(), c.n(), c.axis())}; }},
      {"reshape", [](const Case& c) { return Results{reshape(c.x(), Shape(integers(c.of.at("times"))))}; }},
      {"pad",
       [](const Case& c) {
         constexpr PadMode modes[] = {PadMode::constant, PadMode::edge, PadMode::reflect, PadMode::symmetric,
                                      PadMode::wrap};
         std::vector<std::pair<std::int64_t, std::int64_t>> widths;
         for (const json& pair : c.of.at("widths")) widths.emplace_back(pair[0], pair[1]);
         return Results{pad(c.x(), widths, modes[c.n()])};
       }},
  };
}

/// A reduction of the elements where a mask is true.
#define ORACLE_WHERE(name)                                                                                    \
  {                                                                                                           \
    #name "_where", [](const Case& c) {                                                                       \
      return Results{                                                                                         \
          tern::name(c.x(), Axes(integers(c.of.at("axes"))), c.of.at("keepdims").get<bool>(), Where{c.y()})}; \
    }                                                                                                         \
  }
Results list_of(const Histogram& h) { return {h.counts, h.edges}; }
Results list_of(const Unique<Tensor>& u) { return {u.values, u.indices, u.inverse_indices, u.counts}; }
Evaluations statistics() {
  const auto flag = [](const Case& c) { return c.of.at("flag").get<bool>(); };
  return {
      ORACLE_REDUCTION(count_nonzero),
      ORACLE_REDUCTION(nansum),
      ORACLE_REDUCTION(nanmean),
      ORACLE_REDUCTION(ptp),
      ORACLE_REDUCTION(median),
      ORACLE_REDUCTION(logsumexp),
      ORACLE_WHERE(sum),
      ORACLE_WHERE(mean),
      ORACLE_WHERE(prod),
      ORACLE_WHERE(max),
      ORACLE_WHERE(min),
      ORACLE_WHERE(any),
      ORACLE_WHERE(all),
      ORACLE_WHERE(var),
      ORACLE_WHERE(std),
      {"quantile",
       [](const Case& c) {
         return Results{quantile(c.x(), c.y(), Axes(integers(c.of.at("axes"))), c.of.at("keepdims").get<bool>(),
                                 static_cast<Interpolation>(c.n()))};
       }},
      {"average", [](const Case& c) { return Results{average(c.x(), c.y(), c.axis())}; }},
      {"histogram",
       [flag](const Case& c) {
         return list_of(
             histogram(c.x(), c.n(), std::pair{c.of.at("low").get<double>(), c.of.at("high").get<double>()}, flag(c)));
       }},
      {"histogram_edges", [flag](const Case& c) { return list_of(histogram(c.x(), c.y(), flag(c))); }},
      {"histogram_weights",
       [flag](const Case& c) { return list_of(histogram(c.x(), c.y(), flag(c), tensor_of(c.of.at("values")))); }},
      {"bincount", [](const Case& c) { return Results{bincount(c.x(), c.n())}; }},
      {"bincount_weights", [](const Case& c) { return Results{bincount(c.x(), c.y(), c.n())}; }},
      {"cov", [](const Case& c) { return Results{cov(c.x(), static_cast<double>(c.n()))}; }},
      {"corrcoef", [](const Case& c) { return Results{corrcoef(c.x())}; }},
      {"diff", [](const Case& c) { return Results{diff(c.x(), c.n(), c.axis())}; }},
      {"trapezoid", [](const Case& c) { return Results{trapezoid(c.x(), c.y(), c.axis())}; }},
      {"cumulative_prod", [](const Case& c) { return Results{cumulative_prod(c.x(), c.axis())}; }},
      {"searchsorted",
       [flag](const Case& c) { return Results{searchsorted(c.x(), c.y(), flag(c) ? Side::right : Side::left)}; }},
      {"digitize", [flag](const Case& c) { return Results{digitize(c.x(), c.y(), flag(c))}; }},
      {"isin", [flag](const Case& c) { return Results{isin(c.x(), c.y(), flag(c))}; }},
      {"unique", [](const Case& c) { return list_of(unique_all(c.x())); }},
  };
}

int usage() {
  std::cerr
      << "Usage: tern_oracle RESULTS.npz [--device cpu|cuda|webgpu] < CASES\n"
         "       tern_oracle --copy FROM TO\n\n"
         "Evaluates the cases of tests/oracle/compare*.py, JSON, one a line: tensor k of case i is called i.k, and\n"
         "an error i.error (its text, as u8). --copy reads a file of tensors and writes it again: the endings\n"
         "(npy, npz, safetensors) say as what.\n";
  return 2;
}

int copy(const std::string& from, const std::string& to) {
  if (from.ends_with(".npy")) return io::save_npy(to, io::load_npy(from)), 0;
  const io::Named all = from.ends_with(".npz") ? io::load_npz(from) : io::load_safetensors(from);
  if (to.ends_with(".npz")) io::save_npz(to, all, {.compress = to.ends_with("c.npz")});
  else io::save_safetensors(to, all);
  return 0;
}

}  // namespace
}  // namespace oracle

int main(int count, char** arguments) {
  using namespace oracle;
  const std::vector<std::string> words(arguments + 1, arguments + count);
  if (words.size() == 3 && words[0] == "--copy") return copy(words[1], words[2]);
  if ((words.size() != 1 && words.size() != 3) || words[0].starts_with("-")) return usage();
  if (words.size() == 3) set_default_device(Device::parse(words[2]));
  Evaluations all = indexing();
  all.merge(arithmetic()), all.merge(orders()), all.merge(statistics());
  all.merge(linear_algebra()), all.merge(transforms());
  all.merge(layers()), all.merge(losses());
  io::Named results;
  std::string line;
  for (int i = 0; std::getline(std::cin, line); ++i) {
    const json of = json::parse(line);
    const std::string name = std::to_string(i) + ".";
    const auto failed = [&](const std::string& text) {
      try {
        synchronize(default_device());  // no error of this case may arrive in the next one
      } catch (const Error&) {
      }
      results[name + "error"] = tensor(std::vector<std::uint8_t>(text.begin(), text.end()), cpu());
    };
    try {
      const Results list = all.at(of.at("op").get<std::string>())({of});
      synchronize(default_device());  // where errors of work that is still under way arrive
      for (std::size_t k = 0; k < list.size(); ++k) results[name + std::to_string(k)] = list[k];
    } catch (const Error& e) {
      failed(e.what());
    } catch (const std::exception& e) {
      failed(std::string("no Error, but ") + e.what());
    }
  }
  io::save_npz(words[0], results);
}
