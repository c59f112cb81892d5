#include "distill/ops.h"

namespace mlopt::distill {

Value* scaled(train::Builder& b, Value* x, double factor) {
  return factor == 1 ? x : b.op("Mul", {x, b.number(factor, x->type.dtype)});
}

Value* reshaped(train::Builder& b, Value* x, const Dims& dims) {
  return train::Builder::dims(x) == dims ? x : b.op("Reshape", {x, b.indices({dims.begin(), dims.end()})});
}

Value* rows(train::Builder& b, Value* x) {
  const Dims dims = train::Builder::dims(x);
  return reshaped(b, x, {dims.at(0), element_count(dims) / dims.at(0)});
}

Value* sum(train::Builder& b, Value* x, const std::vector<int64_t>& axes) {
  if (axes.empty()) return x;
  if (b.opset() >= 13) return b.op("ReduceSum", {x, b.indices(axes)});
  return b.op("ReduceSum", {x}, {{"axes", axes, {}}});
}

Value* mean(train::Builder& b, Value* x, const std::vector<int64_t>& axes) {
  const Dims dims = train::Builder::dims(x);
  double count = 1;
  for (const int64_t axis : axes) count *= static_cast<double>(dims.at(static_cast<size_t>(axis)));
  return scaled(b, sum(b, x, axes), 1 / count);
}

Value* square(train::Builder& b, Value* x) { return b.op("Mul", {x, x}); }

Value* mean_square(train::Builder& b, Value* x, Value* y) { return b.mean(square(b, b.op("Sub", {x, y}))); }

Value* normalized(train::Builder& b, Value* x) {
  constexpr double kTiny = 1e-12;  // of the sum of squares: keeps the slope finite at 0
  const auto last = static_cast<int64_t>(train::Builder::dims(x).size()) - 1;
  Value* squares = b.op("Add", {sum(b, square(b, x), {last}), b.number(kTiny, x->type.dtype)});
  return b.op("Div", {x, b.op("Sqrt", {squares})});
}

}  // namespace mlopt::distill
