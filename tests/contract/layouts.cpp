// The same values in any layout give the same bits: contiguous, transposed, stepped, broadcast, empty, of any size, in
// place, at any position of a vector, on any number of threads; and nothing outside the output is written.
#include <numeric>

#include "contract/compare.hpp"

namespace tern::contract {
namespace {

using BitColumn = std::vector<std::uint64_t>;

template <class T> void append_bits(BitColumn& bits, const Tensor& t, bool any_nan) {
  for (const T v : t.template to_vector<T>()) {
    const std::uint64_t pattern = std::bit_cast<typename Bits<T>::type>(v);
    bits.push_back(v != v && any_nan ? ~std::uint64_t{0} : pattern);
  }
}
BitColumn bits_of(const Tensor& t, bool any_nan) {
  BitColumn bits;
  switch (t.dtype()) {
    case DType::boolean:
      for (const bool v : t.to_vector<bool>()) bits.push_back(v);
      break;
    case DType::f32: append_bits<float>(bits, t, any_nan); break;
    case DType::f64: append_bits<double>(bits, t, any_nan); break;
    case DType::f16: append_bits<float16>(bits, t, any_nan); break;
    case DType::bf16: append_bits<bfloat16>(bits, t, any_nan); break;
    default: throw std::logic_error("bits_of: another dtype");
  }
  return bits;
}
/// All elements, row-major, as bits; of a NaN that was computed, sign and payload are the CPU's promise only.
BitColumn bits_of(const Tensor& t) { return bits_of(t, t.device() != cpu()); }
BitColumn copied_bits_of(const Tensor& t) { return bits_of(t, false); }

constexpr std::int64_t kRows = 64, kColumns = 65, kCount = kRows * kColumns;  // 4160

template <class S> std::vector<S> sample(std::uint64_t salt, std::int64_t count) {
  const std::vector<S> edges = edge_values<S>();
  std::vector<S> values;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(count); ++i) {
    const std::uint64_t r = random_bits(i + (salt << 32));
    values.push_back(r % 16 == 0   ? edges[(r >> 8) % edges.size()]
                     : r % 16 == 1 ? quiet(from_bits<S>(static_cast<typename Bits<S>::type>(r >> 8)))
                                   : S(moderate(r)));
  }
  return values;
}

/// An entry with inputs of one dtype and the bits of its results on contiguous ones.
struct Case {
  const Subject& entry;
  Device device;
  std::string name;
  std::vector<Tensor> x;  // 1-d, kCount elements
  BitColumn want;

  template <class S> static Case make(const Subject& e, Device device, S, std::int64_t count = kCount) {
    Case c{e, device, std::string(e.name) + " " + std::string(to_string(dtype_of<S>)), {}, {}};
    for (int i = 0; i < e.arity(); ++i)
      c.x.push_back(column_tensor(sample<S>(static_cast<std::uint64_t>(i), count), e.condition(i), device));
    c.want = bits_of(c.run(c.x));
    return c;
  }
  Tensor run(const std::vector<Tensor>& inputs) const { return call(entry, inputs); }
  template <class View> std::vector<Tensor> viewed(const View& view) const {
    std::vector<Tensor> result;
    for (const Tensor& t : x) result.push_back(view(t));
    return result;
  }
  /// Results of a layout against those at the positions that the same view picks out of the contiguous results.
  template <class View> void check(const char* layout, const View& view) const {
    compare(layout, bits_of(run(viewed(view))), picked(view));
  }
  template <class View> BitColumn picked(const View& view) const {
    std::vector<std::int32_t> positions(want.size());
    std::iota(positions.begin(), positions.end(), 0);
    BitColumn result;
    for (const std::int32_t p :
         view(tensor(positions, Shape{positions.size()}, cpu())).template to_vector<std::int32_t>())
      result.push_back(want[static_cast<std::size_t>(p)]);
    return result;
  }
  void compare(const char* layout, const BitColumn& got, const BitColumn& expected) const {
    Report report(name + " on " + device.to_string() + ", " + layout);
    if (got.size() != expected.size())
      return report.add(
          [&] { return "has " + std::to_string(got.size()) + " elements, want " + std::to_string(expected.size()); });
    for (std::size_t i = 0; i < got.size(); ++i)
      if (got[i] != expected[i])
        report.add([&] {
          char text[96];
          std::snprintf(text, sizeof text, "element %zu: bits %llx, want %llx", i,
                        static_cast<unsigned long long>(got[i]), static_cast<unsigned long long>(expected[i]));
          return std::string(text);
        });
  }
};

constexpr std::int64_t kSizes[] = {0, 1, 7, 63, 64, 65, 1023, 1024, 1025, 4097};

class Layouts : public OnDevice {
 protected:
  template <class F> void for_each_case(const F& f) {
    for_each_float([&](auto zero) { f(Case::make(entry(), device(), zero), zero); });
  }
};

TEST_P(Layouts, SizesAndOffsets) {
  for_each_case([](const Case& c, auto) {
    for (const std::int64_t size : kSizes)
      for (const std::int64_t offset : {0, 1, 3, 62}) {
        if (offset + size > kCount) continue;
        c.check("slice", [&](const Tensor& t) { return t.slice(0, offset, offset + size); });
        c.check("copied slice", [&](const Tensor& t) { return t.slice(0, offset, offset + size).clone(); });
      }
  });
}

TEST_P(Layouts, StridedViews) {
  for_each_case([](const Case& c, auto) {
    for (const std::int64_t step : {2, 3, 7})
      c.check("step", [&](const Tensor& t) { return t.slice(0, 1, kCount, step); });
    c.check("transposed", [](const Tensor& t) { return t.reshape({kRows, kColumns}).transpose(0, 1); });
    c.check("inner slice", [](const Tensor& t) { return t.reshape({kRows, kColumns}).slice(1, 3, 60); });
    c.check("inner step", [](const Tensor& t) { return t.reshape({kRows, kColumns}).slice(1, 0, kColumns, 2); });
    c.check("outer step", [](const Tensor& t) { return t.reshape({kRows, kColumns}).slice(0, 1, kRows, 3); });
    c.check("permuted", [](const Tensor& t) { return t.reshape({8, 40, 13}).permute({2, 0, 1}); });
    c.check("empty", [](const Tensor& t) { return t.reshape({kRows, kColumns}).slice(1, 5, 5); });
    const auto transposed = [](const Tensor& t) { return t.reshape({kRows, kColumns}).transpose(0, 1); };
    for (std::size_t i = 0; i < c.x.size(); ++i) {  // input i transposed, the others contiguous
      std::vector<Tensor> mixed = c.viewed([&](const Tensor& t) { return transposed(t).clone(); });
      mixed[i] = transposed(c.x[i]);
      c.compare("one input transposed", bits_of(c.run(mixed)), c.picked(transposed));
    }
  });
}

TEST_P(Layouts, Broadcasting) {
  for_each_case([](const Case& c, auto) {
    const Shape space{kRows, kColumns};
    const auto row = [](const Tensor& t) { return t.slice(0, 5, 5 + kColumns).reshape({kColumns}); };
    const auto column = [](const Tensor& t) { return t.slice(0, 9, 9 + kRows).reshape({kRows, 1}); };
    const auto scalar = [](const Tensor& t) { return t.slice(0, 11, 12).reshape({}); };
    const auto strided_row = [](const Tensor& t) { return t.slice(0, 2, 2 + 3 * kColumns, 3).reshape({1, kColumns}); };
    const auto check = [&](const char* layout, const auto& view) {
      c.check(layout, [&](const Tensor& t) { return view(t).broadcast_to(space); });
      for (std::size_t i = 0; i < c.x.size() && c.x.size() > 1; ++i) {
        std::vector<Tensor> inputs = c.viewed([&](const Tensor&t) { return t.reshape(space); }), full = inputs;
        inputs[i] = view(c.x[i]), full[i] = view(c.x[i]).broadcast_to(space).clone();
        c.compare(layout, bits_of(c.run(inputs)), bits_of(c.run(full)));
      }
    };
    check("row", row), check("column", column), check("scalar", scalar), check("strided row", strided_row);
    if (c.x.size() < 2) return;
    std::vector<Tensor> mixed = c.viewed(row),
                        full = c.viewed([&](const Tensor&t) { return row(t).broadcast_to(space).clone(); });
    mixed[0] = column(c.x[0]), full[0] = column(c.x[0]).broadcast_to(space).clone();
    c.compare("column and rows", bits_of(c.run(mixed)), bits_of(c.run(full)));
  });
}

/// Runs the entry into an existing tensor.
void run_into(const Case& c, const std::vector<Tensor>& inputs, const Tensor& out) {
  const std::vector<detail::Argument> arguments(inputs.begin(), inputs.end());
  detail::run_fused({c.entry.name, c.entry.graph(), 0, {}}, arguments, {&out, 1});
}
/// A tensor of sentinels in the dtype of the entry's results.
template <class S> Tensor sentinels(const Case& c, std::int64_t count) {
  if (c.entry.predicate()) return tensor(std::vector<bool>(static_cast<std::size_t>(count), true), {count}, c.device);
  return full({count}, 113, Options{dtype_of<S>, c.device});
}

TEST_P(Layouts, NothingOutsideTheOutputIsWritten) {
  for_each_case([](const Case& c, auto zero) {
    using S = decltype(zero);
    const auto check = [&](const char* layout, std::int64_t room, const auto& place, const auto& source) {
      const Tensor out = sentinels<S>(c, room);
      BitColumn expected = bits_of(out);
      std::vector<std::int32_t> positions(static_cast<std::size_t>(room));
      std::iota(positions.begin(), positions.end(), 0);
      const BitColumn values = c.picked(source);
      std::size_t k = 0;
      for (const std::int32_t p :
           place(tensor(positions, Shape{positions.size()}, cpu())).template to_vector<std::int32_t>())
        expected[static_cast<std::size_t>(p)] = values[k++];
      run_into(c, c.viewed(source), place(out));
      c.compare(layout, bits_of(out), expected);
    };
    for (const std::int64_t size : kSizes)
      for (const std::int64_t step : {1, 2}) {
        const auto source = [&](const Tensor& t) { return t.slice(0, 0, size); };
        check(
            step == 1 ? "into a slice" : "into a stepped slice", 2 * size + 10,
            [&](const Tensor& t) { return t.slice(0, 5, 5 + step * size, step); }, source);
      }
    const auto square = [](const Tensor& t) { return t.reshape({kRows, kColumns}); };
    check(
        "into a window", 70 * 70,
        [](const Tensor& t) {
          return t.reshape({70, 70}).slice(0, 3, 3 + kRows).slice(1, 2, 2 + kColumns);
        },
        square);
    check(
        "into a transposed window", 70 * 70,
        [](const Tensor& t) {
          return t.reshape({70, 70}).slice(1, 3, 3 + kRows).slice(0, 2, 2 + kColumns).transpose(0, 1);
        },
        square);
  });
}

TEST_P(Layouts, InPlaceAndOverlapping) {
  for_each_case([](const Case& c, auto zero) {
    using S = decltype(zero);
    if (c.entry.predicate()) return;
    for (std::size_t i = 0; i < c.x.size(); ++i) {
      if (c.entry.condition(static_cast<int>(i))) continue;
      std::vector<Tensor> inputs = c.x;
      inputs[i] = c.x[i].clone();
      run_into(c, inputs, inputs[i]);
      c.compare("in place", bits_of(inputs[i]), c.want);
      for (const bool forward : {false, true}) {  // the output starts one element before or after the input
        const Tensor buffer = sentinels<S>(c, kCount + 1);
        inputs[i] = buffer.slice(0, forward, kCount + forward);
        inputs[i].copy_from(c.x[i]);
        const Tensor out = buffer.slice(0, !forward, kCount + !forward);
        run_into(c, inputs, out);
        c.compare("overlapping", bits_of(out), c.want);
      }
    }
  });
}

TEST_P(Layouts, PositionInTheVectorDoesNotMatter) {
  for_each_case([](const Case& c, auto) {
    constexpr std::int64_t kTuples = 96, kRepeats = 131;
    const auto repeated = [&](const Tensor& t) {
      return t.slice(0, 0, kTuples).reshape({kTuples, 1}).broadcast_to({kTuples, kRepeats}).clone().reshape({-1});
    };
    c.check("one value everywhere", repeated);
  });
}

TEST_P(Layouts, ThreadsDoNotMatter) {
  const int threads = num_threads();
  for_each_float([&](auto zero) {
    set_num_threads(1);
    const Case c = Case::make(entry(), device(), zero, 300'001);
    set_num_threads(std::max(threads, 3));
    c.compare("many threads", bits_of(c.run(c.x)), c.want);
  });
  set_num_threads(threads);
}

/// Views are read and written the same way whatever is computed: in software every eighth does.
std::vector<std::tuple<Device, Subject>> laid_out() {
  const std::vector<Subject> entries = entries_where([](const Subject& e) { return e.takes_floats() && e.slope == 0; });
  std::vector<std::tuple<Device, Subject>> all;
  for (const Device d : test::present_devices())
    for (std::size_t i = 0; i < entries.size(); i += test::in_software(d) ? 8 : 1) all.emplace_back(d, entries[i]);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Registry, Layouts, testing::ValuesIn(laid_out()), entry_test_name);

class InPlace : public test::EveryDevice {};

template <class S> void check_copies(Device device) {
  const Case c =
      Case::make(*entries_where([](const Subject& e) { return std::string(e.name) == "identity"; }).data(), device,
                 S{});
  for (const std::int64_t shift : {1, 7, 64, 1000})
    for (const bool forward : {false, true}) {
      const Tensor buffer = c.x[0].clone(), expected = c.x[0].clone();
      const auto to = [&](const Tensor& t) {
        return t.slice(0, forward ? shift : 0, forward ? kCount : kCount - shift);
      };
      const auto from = [&](const Tensor& t) {
        return t.slice(0, forward ? 0 : shift, forward ? kCount - shift : kCount);
      };
      to(expected).copy_from(from(c.x[0]));
      to(buffer).copy_from(from(buffer));
      c.compare("copy_from of an overlapping slice", bits_of(buffer), bits_of(expected));
    }
  const Tensor square = c.x[0].slice(0, 0, 64 * 64).clone().reshape({64, 64}), sum = square + square.transpose(0, 1);
  Tensor in_place = square.clone();
  in_place += in_place.transpose(0, 1);
  c.compare("x += x.transpose", bits_of(in_place), bits_of(sum));
  Tensor window = c.x[0].clone(), part = window.slice(0, 3, 1003);
  const BitColumn want = bits_of(part * window.slice(0, 0, 1000));
  part *= window.slice(0, 0, 1000);
  c.compare("x.slice *= overlapping slice", bits_of(part), want);
  const std::int64_t rest = kCount - 1003;
  c.compare("the rest of x", bits_of(window.slice(0, 1003, kCount)), bits_of(c.x[0].slice(0, kCount - rest, kCount)));
}
TEST_P(InPlace, OverlappingOperands) {
  for_each_float([&](auto zero) { check_copies<decltype(zero)>(device()); });
}
TEST_P(InPlace, AgreesWithTheOperator) {
  for_each_float([&](auto zero) {
    using S = decltype(zero);
    const Case c =
        Case::make(*entries_where([](const Subject& e) { return std::string(e.name) == "sub"; }).data(), device(),
                   zero);
    for (const bool broadcast : {false, true}) {
      const Tensor a = c.x[0].reshape({kRows, kColumns}),
                   b = broadcast ? c.x[1].slice(0, 0, kColumns) : c.x[1].reshape({kRows, kColumns});
      Tensor sum = a.clone(), difference = a.clone(), product = a.clone(), quotient = a.clone(), scaled = a.clone();
      sum += b, difference -= b, product *= b, quotient /= b, scaled *= Number(0.75);
      c.compare("+=", bits_of(sum), bits_of(a + b)), c.compare("-=", bits_of(difference), bits_of(a - b));
      c.compare("*=", bits_of(product), bits_of(a * b)), c.compare("/=", bits_of(quotient), bits_of(a / b));
      c.compare("*= number", bits_of(scaled), bits_of(a * S(0.75)));
    }
  });
}
TERN_EVERY_DEVICE(InPlace);

/// Copying is not arithmetic: every pattern survives, signalling NaNs too.
class Copies : public test::EveryDevice {};
template <class S> void check_copies_keep_bits(Device device) {
  std::vector<S> values;
  for (std::uint64_t i = 0; i < 65536; ++i)
    values.push_back(from_bits<S>(static_cast<typename Bits<S>::type>(i << (Layout<S>::kBits - 16) | i)));
  BitColumn want;
  for (const S v : values) want.push_back(std::bit_cast<typename Bits<S>::type>(v));
  const Subject& e = registry().front();  // only for its name
  const Tensor x = tensor(values, Shape{values.size()}, device), square = x.reshape({256, 256});
  const Case c{e, device, "a copy of " + std::string(to_string(dtype_of<S>)), {x}, want};
  const auto transposed = [](const Tensor& t) { return t.reshape({256, 256}).transpose(0, 1); };
  c.compare("to_vector", copied_bits_of(x), want);
  c.compare("clone", copied_bits_of(x.clone()), want);
  c.compare("to_vector of a transposed view", copied_bits_of(transposed(x)), c.picked(transposed));
  c.compare("contiguous of a transposed view", copied_bits_of(transposed(x).contiguous()), c.picked(transposed));
  Tensor out = zeros({256, 256}, Options{dtype_of<S>, device});
  c.compare("copy_from", copied_bits_of(out.copy_from(square)), want);
  if (sizeof(S) == 2) return;  // operations are computed in f32, where a signalling NaN becomes a quiet one
  c.compare("detach", copied_bits_of(detach(x)), want);
  c.compare("where", copied_bits_of(where(x == x, x, x)), want);
}
TEST_P(Copies, KeepEveryBit) {
  for_each_float([&](auto zero) { check_copies_keep_bits<decltype(zero)>(device()); });
}
TEST_P(Copies, OfBooleansCanBeMade) {
  EXPECT_EQ(zeros({3}, Options{DType::boolean, device()}).to_vector<bool>(), std::vector<bool>(3, false));
  EXPECT_EQ(ones({3}, Options{DType::boolean, device()}).to_vector<bool>(), std::vector<bool>(3, true));
}
TERN_EVERY_DEVICE(Copies);

}  // namespace
}  // namespace tern::contract
