#include <algorithm>
#include <iterator>

#include "core/tensor/cast.h"
#include "quantize/restore/passes.h"

namespace mlopt::quantize {

Expected<Value*> floats(const Node& node, const Operand& at, int64_t axis, Builder& builder) {
  Value *codes = node.input(at.codes), *scale = node.input(at.scale), *zero = node.input(at.zero);
  if (!codes || !scale) return Decline{"an operand is missing"};
  const Node* from = codes->producer;
  if (from && from->is("DynamicQuantizeLinear") && scale == from->output(1) && zero == from->output(2))
    return from->input(0);
  const Tensor *numbers = codes->known_constant(), *steps = scale->known_constant();
  if (!steps || (zero && !zero->known_constant())) return Decline{"its steps are not constant"};
  if (numbers) {
    const Tensor* zeros = zero ? zero->known_constant() : nullptr;
    return builder.constant(codes->name + "_floats", decoded(*numbers, *steps, zeros, axis));
  }
  if (steps->size() != 1) return Decline{"its activation has several scales"};
  std::vector<Value*> inputs = {codes, scale};
  if (zero) inputs.push_back(zero);
  return builder.op("DequantizeLinear", std::move(inputs), {}, Type::tensor(steps->dtype(), codes->type.dims));
}

namespace {

constexpr const char* kMicrosoft = "com.microsoft";

/// An operator on integers and what it is between DequantizeLinear and QuantizeLinear.
struct Row {
  const char* domain;
  std::string_view op, on_floats;
  Operand a, b;
  int sums = -1;              ///< a bias of int32 in steps of both scales
  int scale = -1, zero = -1;  ///< of the result; it is float where they are absent
  int addend = -1;            ///< a bias of floats
};
constexpr Operand kFirst = {0, 1, 2}, kSecond = {3, 4, 5}, kNone = {};
constexpr Row kRows[] = {
    {"", "QLinearConv", "Conv", kFirst, kSecond, 8, 6, 7},
    {"", "QLinearMatMul", "MatMul", kFirst, kSecond, -1, 6, 7},
    {kMicrosoft, "QGemm", "Gemm", kFirst, kSecond, 6, 7, 8},
    {kMicrosoft, "QLinearAdd", "Add", kFirst, kSecond, -1, 6, 7},
    {kMicrosoft, "QLinearMul", "Mul", kFirst, kSecond, -1, 6, 7},
    {kMicrosoft, "QLinearReduceMean", "ReduceMean", kFirst, kNone, -1, 3, 4},
    {kMicrosoft, "QLinearSigmoid", "Sigmoid", kFirst, kNone, -1, 3, 4},
    {kMicrosoft, "QLinearLeakyRelu", "LeakyRelu", kFirst, kNone, -1, 3, 4},
    {kMicrosoft, "QLinearSoftmax", "Softmax", kFirst, kNone, -1, 3, 4},
    {kMicrosoft, "QLinearAveragePool", "AveragePool", kFirst, kNone, -1, 3, 4},
    {kMicrosoft, "QLinearGlobalAveragePool", "GlobalAveragePool", kFirst, kNone, -1, 3, 4},
    {kMicrosoft, "MatMulIntegerToFloat", "MatMul", {0, 2, 4}, {1, 3, 5}, -1, -1, -1, 6},
};

/// The axis that scales of the second operand belong to.
int64_t scaled_axis(const Row& row, const Node& node, const NodeView& view) {
  if (row.on_floats == "Conv" || (row.on_floats == "Gemm" && view.get_int("transB", 0) != 0)) return 0;
  const Value* b = node.input(row.b.codes);
  const Tensor* codes = b ? b->known_constant() : nullptr;
  return codes ? codes->rank() - 1 : -1;
}

/// The bias as floats: its codes are in steps of alpha times both scales.
Expected<Value*> bias(const Row& row, const Node& node, float alpha, Builder& builder) {
  const Value* sums = node.input(row.sums);
  const Tensor *x = node.input(row.a.scale)->known_constant(), *w = node.input(row.b.scale)->known_constant();
  if (!x || !w || !sums->known_constant()) return Decline{"its bias is not constant, or its steps are not"};
  std::vector<float> steps = to_floats(*w);
  for (float& step : steps) step *= alpha * static_cast<float>(number_at(*x, 0));
  const Tensor& codes = *sums->known_constant();
  const Tensor scale = Tensor::of<float>({std::ssize(steps)}, steps);
  return builder.constant(sums->name + "_floats", cast(decoded(codes, scale, nullptr, codes.rank() - 1), w->dtype()));
}

constexpr int64_t kAxesAreInput = 18;  // the opset

void move_axes(std::vector<Attr>& attrs, std::vector<Value*>& inputs, Builder& builder) {
  for (const Attr& attr : attrs)
    if (const auto* axes = std::get_if<std::vector<int64_t>>(&attr.value); axes && attr.name == "axes")
      inputs.push_back(builder.constant("axes", Tensor::ints(*axes)));
  std::erase_if(attrs, [](const Attr& attr) { return attr.name == "axes"; });
}

Expected<Replacement> on_floats(const Row& row, const Match& m, Builder& builder) {
  const Node& node = *m.root;
  const NodeView view = builder.view(node);
  if (view.get_int("channels_last", 0) != 0) return Decline{"its channels come last"};
  std::vector<Value*> inputs;
  for (const Operand* operand : {&row.a, &row.b}) {
    if (operand->codes < 0) continue;
    const auto made = floats(node, *operand, operand == &row.a ? -1 : scaled_axis(row, node, view), builder);
    if (!made) return made.error();
    inputs.push_back(*made);
  }
  if (row.sums >= 0 && node.input(row.sums)) {
    const auto made = bias(row, node, view.get_float("alpha", 1), builder);
    if (!made) return made.error();
    inputs.push_back(*made);
  }
  std::vector<Attr> attrs;
  for (const Attr& attr : node.attrs)
    if (attr.name != "channels_last" && attr.name != "opset") attrs.push_back(attr);
  if (row.on_floats == "ReduceMean" && builder.opset() >= kAxesAreInput) move_axes(attrs, inputs, builder);
  const Type type = Type::tensor(inputs[0]->type.dtype, node.output(0)->type.dims);
  Value* y = builder.op(row.on_floats, std::move(inputs), std::move(attrs), type);
  if (row.addend >= 0 && node.input(row.addend)) y = builder.op("Add", {y, node.input(row.addend)}, {}, type);
  if (row.scale < 0 || !node.input(row.scale)) return Replacement{y};
  std::vector<Value*> steps = {y, node.input(row.scale)};
  if (node.input(row.zero)) steps.push_back(node.input(row.zero));
  return Replacement{builder.op("QuantizeLinear", std::move(steps), {}, node.output(0)->type)};
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  const Row* row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.op == m.root->op; });
  return on_floats(*row, m, builder);
}

/// QLinearConcat(scale, zero point, codes, scale, zero point, ...).
Expected<Replacement> concat(const Match& m, Builder& builder) {
  const Node& node = *m.root;
  std::vector<Value*> inputs;
  for (int i = 2; node.input(i); i += 3) {
    const auto made = floats(node, {i, i + 1, i + 2}, -1, builder);
    if (!made) return made.error();
    inputs.push_back(*made);
  }
  if (inputs.empty()) return Decline{"it has no operands"};
  const Type type = Type::tensor(inputs[0]->type.dtype, node.output(0)->type.dims);
  Value* y = builder.op("Concat", std::move(inputs), node.attrs, type);
  return Replacement{builder.op("QuantizeLinear", {y, node.input(0), node.input(1)}, {}, node.output(0)->type)};
}

/// QLinearWhere(condition, codes, scale, zero point, codes, scale, zero point, scale, zero point).
Expected<Replacement> where(const Match& m, Builder& builder) {
  const Node& node = *m.root;
  std::vector<Value*> inputs = {node.input(0)};
  for (const Operand& operand : {Operand{1, 2, 3}, Operand{4, 5, 6}}) {
    const auto made = floats(node, operand, -1, builder);
    if (!made) return made.error();
    inputs.push_back(*made);
  }
  const Type type = Type::tensor(inputs[1]->type.dtype, node.output(0)->type.dims);
  Value* y = builder.op("Where", std::move(inputs), {}, type);
  return Replacement{builder.op("QuantizeLinear", {y, node.input(7), node.input(8)}, {}, node.output(0)->type)};
}

/// DynamicQuantizeMatMul(x, codes, scale, zero point, bias): x is float.
Expected<Replacement> dynamic_product(const Match& m, Builder& builder) {
  const Node& node = *m.root;
  const Value* codes = node.input(1);
  if (!codes || !codes->known_constant()) return Decline{"its weights are not constant"};
  const auto w = floats(node, {1, 2, 3}, codes->known_constant()->rank() - 1, builder);
  if (!w) return w.error();
  Value* y = builder.op("MatMul", {node.input(0), *w}, {}, node.output(0)->type);
  return Replacement{node.input(4) ? builder.op("Add", {y, node.input(4)}, {}, node.output(0)->type) : y};
}

std::vector<Rule> rules() {
  std::vector<Rule> all;
  const auto pattern = [](std::string_view op, const char* domain) {
    return Pattern::op(op, {Pattern::any("x")}).open().domain(domain);
  };
  for (const Row& row : kRows) all.push_back({pattern(row.op, row.domain), rewrite});
  all.push_back({pattern("QLinearConcat", kMicrosoft), concat});
  all.push_back({pattern("QLinearWhere", kMicrosoft), where});
  all.push_back({pattern("DynamicQuantizeMatMul", kMicrosoft), dynamic_product});
  return all;
}

}  // namespace

const Pass restore_operators = {"restore_operators", "operators on integers as operators on floats that are rounded",
                                rules};

}  // namespace mlopt::quantize
