#include "quantize/emit/weight_writer.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/tensor/cast.h"
#include "core/tensor/compare.h"

namespace mlopt::quantize {
namespace {

struct Loop {
  int64_t count, step;
};

/// Places as nested loops over them, the outermost first; loops of one turn are left out.
std::vector<Loop> loops_of(std::vector<int64_t> at) {
  std::vector<Loop> loops;
  while (at.size() > 1) {
    const int64_t step = at[1] - at[0];
    size_t count = 2;
    while (count < at.size() && at[count] - at[count - 1] == step) ++count;
    loops.insert(loops.begin(), {static_cast<int64_t>(count), step});
    std::vector<int64_t> outer;
    for (size_t i = 0; i < at.size(); i += count) outer.push_back(at[i]);
    at = std::move(outer);
  }
  return loops;
}

std::vector<int64_t> counts_of(const std::vector<Loop>& loops) {
  std::vector<int64_t> counts;
  for (const Loop& loop : loops) counts.push_back(loop.count);
  return counts;
}

}  // namespace

WeightWriter::WeightWriter(const Weight& weight)
    : weight_(weight), graph_(*weight.value->graph), first_(graph_.next(nullptr)) {}

Value* WeightWriter::constant(std::string_view what, Tensor tensor) {
  bytes_ += static_cast<int64_t>(tensor.bytes());
  return graph_.add_constant(weight_.name() + "_" + std::string(what), std::move(tensor));
}

Value* WeightWriter::shared(const std::string& name, Tensor tensor) {
  Value* there = graph_.find(name);
  if (there && there->known_constant() && !mismatch(*there->constant, tensor, 0, 0)) return there;
  bytes_ += static_cast<int64_t>(tensor.bytes());
  return graph_.add_constant(name, std::move(tensor));
}

Value* WeightWriter::op(const std::string& op, std::vector<Value*> inputs, std::vector<Attr> attrs) {
  return graph_.add_op(op, std::move(inputs), std::move(attrs), first_, "wt")->output(0);
}

Value* WeightWriter::reshaped(Value* v, const std::vector<int64_t>& dims) {
  std::string name = "dims";
  for (const int64_t d : dims) name += "_" + std::to_string(d);
  return op("Reshape", {v, shared(name, Tensor::ints(dims))});
}

Value* WeightWriter::restored(Value* matrix) {
  const Dims& dims = weight_.value->constant->dims();
  std::vector<Loop> loops = loops_of(weight_.row_at);
  const size_t row_loops = loops.size();
  for (const Loop& loop : loops_of(weight_.column_at)) loops.push_back(loop);
  std::vector<int64_t> order(loops.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return loops[static_cast<size_t>(a)].step > loops[static_cast<size_t>(b)].step;
  });
  if (std::is_sorted(order.begin(), order.end()))
    return dims == Dims{weight_.rows, weight_.columns} ? matrix : reshaped(matrix, dims);
  const bool plain = row_loops == 1 && loops.size() == 2;
  Value* parts = plain ? matrix : reshaped(matrix, counts_of(loops));
  Value* turned = op("Transpose", {parts}, {{"perm", order, {}}});
  return plain && dims.size() == 2 ? turned : reshaped(turned, dims);
}

Value* WeightWriter::with_kept(Value* numbers, const Kept& kept) {
  if (kept.at.empty()) return numbers;
  std::vector<int64_t> at;
  for (const int64_t place : kept.at)
    at.push_back(weight_.row_at[static_cast<size_t>(place / weight_.columns)] +
                 weight_.column_at[static_cast<size_t>(place % weight_.columns)]);
  const Tensor places = Tensor::ints(at);
  const bool narrow = weight_.size() <= std::numeric_limits<int32_t>::max();
  Value* flat =
      op("ScatterElements", {reshaped(numbers, {-1}), constant("kept_at", narrow ? cast(places, DType::kI32) : places),
                             constant("kept", Tensor::of<float>({std::ssize(at)}, kept.numbers))});
  return reshaped(flat, weight_.value->constant->dims());
}

void WeightWriter::replace_by(Value* v) {
  v->type = weight_.value->type;
  graph_.replace_uses(weight_.value, v);
}

std::optional<int> row_axis(const Weight& weight) {
  const Dims& dims = weight.value->constant->dims();
  const std::vector<Loop> loops = loops_of(weight.row_at);
  if (loops.size() != 1) return std::nullopt;
  int64_t step = 1;
  for (size_t axis = dims.size(); axis-- > 0; step *= dims[axis])
    if (dims[axis] == weight.rows && step == loops[0].step) return static_cast<int>(axis);
  return std::nullopt;
}

bool is_row_major(const Weight& weight) {
  for (size_t c = 0; c < weight.column_at.size(); ++c)
    if (weight.column_at[c] != static_cast<int64_t>(c)) return false;
  for (size_t r = 0; r < weight.row_at.size(); ++r)
    if (weight.row_at[r] != static_cast<int64_t>(r) * weight.columns) return false;
  return true;
}

}  // namespace mlopt::quantize
