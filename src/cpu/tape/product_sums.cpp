#include "cpu/tape/product_sums.hpp"

#include <algorithm>

#include "cpu/tape/cursor.hpp"
#include "cpu/tape/found_steps.hpp"

namespace tern::detail_cpu {
namespace {

class ProductSumsSearch {
 public:
  ProductSumsSearch(const Order& ops, Tape& tape, const KernelTable& table, const std::map<int, int>& producer)
      : ops_(ops), tape_(tape), table_(table), producer_(producer), loops_(ops.size(), -1), taken_(ops.size()) {}

  Order run() {
    for (std::size_t k = 0; k < ops_.size(); ++k)
      if (const TapeOp* const total = op(k); total && !taken_[k] && is_plain_sum(*total)) take(k);
    Order order;
    for (std::size_t k = 0; k < ops_.size(); ++k) {
      if (loops_[k] >= 0) order.push_back(~loops_[k]);
      if (!taken_[k]) order.push_back(ops_[k]);
    }
    return order;
  }

 private:
  const TapeOp* op(std::size_t k) const {
    return ops_[k] < 0 ? nullptr : &tape_.ops[static_cast<std::size_t>(ops_[k])];
  }
  const TapeLoop& loop_of(std::size_t k) const { return tape_.loops[static_cast<std::size_t>(~ops_[k])]; }
  /// Where an op of the order suits `is`; ops_.size(): nowhere.
  template <class Is> std::size_t find(const Is& is) const {
    std::size_t k = 0;
    while (k < ops_.size() && (taken_[k] || !op(k) || !is(*op(k)))) ++k;
    return k;
  }
  /// Elements of rows, one by one: neither a number nor what a row has one of.
  bool are_elements(int value) const {
    const auto made = producer_.find(value);
    return tape_.values[static_cast<std::size_t>(value)].full &&
           (made == producer_.end() ||
            tape_.ops[static_cast<std::size_t>(made->second)].kind != TapeOp::OpKind::expand);
  }
  /// The sum of a factor, which the loop in place of the product may give: what reads it comes later.
  std::size_t sum_of(int factor, std::size_t product, ComputeType type) const {
    const std::size_t sum = find([&](const TapeOp& o) {
      return is_plain_sum(o) && o.type == type && o.args[0] == factor;
    });
    for (std::size_t k = sum; k < product; ++k) {
      const int result = op(sum)->result;
      if (op(k) ? reads(*op(k), result) : std::ranges::count(loop_of(k).inputs, result) > 0) return ops_.size();
    }
    return sum;
  }
  void take(std::size_t total) {
    const TapeOp& sum = *op(total);
    const std::size_t product = find([&](const TapeOp& o) { return o.result == sum.args[0]; });
    if (product == ops_.size()) return;
    const TapeOp& times = *op(product);
    const int a = times.args[0], b = times.args[1];
    if (!times.full || !is_function(times, Elementary::mul, sum.type) || !are_elements(a) || !are_elements(b) ||
        is_read_elsewhere(tape_, times.result, {sum.result}))
      return;
    taken_[total] = taken_[product] = true;
    TapeLoop loop;
    loop.inputs = {a, b}, loop.outputs = {sum.result};
    const std::size_t of_a = sum_of(a, product, sum.type), of_b = sum_of(b, product, sum.type);
    const bool all = a != b && of_a < ops_.size() && of_b < ops_.size();
    if (all) {
      taken_[of_a] = taken_[of_b] = true;
      loop.outputs.push_back(op(of_a)->result), loop.outputs.push_back(op(of_b)->result);
    }
    loop.run = table_.product_sums[sum.type == ComputeType::f64][all];
    loop.compute_bytes = compute_size(sum.type), loop.over = TapeLoop::Over::short_rows;
    loops_[product] = static_cast<int>(tape_.loops.size());
    tape_.loops.push_back(std::move(loop));
  }

  const Order& ops_;
  Tape& tape_;
  const KernelTable& table_;
  const std::map<int, int>& producer_;
  std::vector<int> loops_;   // of the tape's, in place of an op; -1: none
  std::vector<bool> taken_;  // ops that loops stand for
};

}  // namespace

Order product_sums_in_place_of_ops(const Order& ops, Tape& tape, const KernelTable& table,
                                   const std::map<int, int>& producer) {
  return ProductSumsSearch(ops, tape, table, producer).run();
}

}  // namespace tern::detail_cpu
