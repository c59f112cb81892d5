#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "core/tensor/cast.h"
#include "quantize/restore/passes.h"

namespace mlopt::quantize {
namespace {

constexpr const char* kMoves =
    "MaxPool|Reshape|Flatten|Transpose|Squeeze|Unsqueeze|Slice|Split|DepthToSpace|SpaceToDepth|Resize|Identity|Expand|"
    "Tile|Gather|Concat|Pad";

/// Scale and zero point of a QuantizeLinear or DequantizeLinear.
struct Steps {
  const Tensor* scale;
  const Tensor* zero;  ///< null: 0
  DType codes;

  /// Of one number each.
  double step() const { return number_at(*scale, 0); }
  double origin() const { return zero ? number_at(*zero, 0) : 0; }
  int64_t least() const { return is_signed(codes) ? -(int64_t{1} << (bits(codes) - 1)) : 0; }
  int64_t most() const { return least() + (int64_t{1} << bits(codes)) - 1; }
};

Expected<Steps> steps_of(const Node& node, const Value* codes) {
  const Value *scale = node.input(1), *zero = node.input(2);
  if (!scale || !scale->known_constant() || (zero && !zero->known_constant()))
    return Decline{"its scale or zero point is not constant"};
  const Tensor* zeros = zero ? zero->known_constant() : nullptr;
  return Steps{scale->known_constant(), zeros, zeros ? zeros->dtype() : codes->type.dtype};
}

bool same(const Steps& a, const Steps& b) {
  const auto origins = [](const Steps& s) {
    return s.zero ? to_doubles(*s.zero) : std::vector<double>(static_cast<size_t>(s.scale->size()));
  };
  return to_doubles(*a.scale) == to_doubles(*b.scale) && origins(a) == origins(b) && a.codes == b.codes;
}

/// Is no number of the value below zero, whatever the inputs are?
bool is_nonnegative(const Value* value, const Builder& builder, int depth = 16) {
  const Node* node = value ? value->producer : nullptr;
  if (!node || depth == 0 || !node->domain.empty()) return false;
  const auto is = [&](std::initializer_list<std::string_view> ops) {
    return std::find(ops.begin(), ops.end(), node->op) != ops.end();
  };
  if (is({"Relu", "Sigmoid", "Softmax", "HardSigmoid", "Exp", "Abs", "Softplus"})) return true;
  if (is({"Clip"})) return builder.view(*node).number("min", 1, -INFINITY).value_or(-1) >= 0;
  if (is({"Add", "Mul", "Concat"}))
    return std::all_of(node->inputs().begin(), node->inputs().end(),
                       [&](const Value* x) { return is_nonnegative(x, builder, depth - 1); });
  return is({"MaxPool", "AveragePool", "GlobalAveragePool", "ReduceMean", "Reshape", "Flatten", "Transpose", "Squeeze",
             "Unsqueeze", "Slice", "Split", "Identity", "DepthToSpace", "SpaceToDepth"}) &&
         is_nonnegative(node->input(0), builder, depth - 1);
}

Value* clipped(Value* x, double low, double high, Builder& builder) {
  const auto number = [&](double v) { return cast(Tensor::scalar(static_cast<float>(v)), x->type.dtype); };
  if (builder.opset() < 11)
    return builder.op("Clip", {x}, {{"min", static_cast<float>(low), {}}, {"max", static_cast<float>(high), {}}},
                      x->type);
  return builder.op("Clip", {x, builder.constant("clip_min", number(low)), builder.constant("clip_max", number(high))},
                    {}, x->type);
}

/// DequantizeLinear(QuantizeLinear(x)) -> x, cut off where the codes begin or end at zero.
Expected<Replacement> drop_pair(const Match& m, Builder& builder) {
  const Node *dq = m.root, *q = dq->input(0)->producer;
  const auto to = steps_of(*q, dq->input(0)), from = steps_of(*dq, dq->input(0));
  if (!to) return to.error();
  if (!from) return from.error();
  if (!same(*to, *from)) return Decline{"QuantizeLinear and DequantizeLinear have other steps"};
  Value* x = q->input(0);
  if (is_float(to->codes) || to->scale->size() != 1 || x->known_constant()) return Replacement{x};
  const double low = (static_cast<double>(to->least()) - to->origin()) * to->step();
  const double high = (static_cast<double>(to->most()) - to->origin()) * to->step();
  if ((low == 0 && !is_nonnegative(x, builder)) || high == 0) return Replacement{clipped(x, low, high, builder)};
  return Replacement{x};
}

/// DequantizeLinear(DynamicQuantizeLinear(x)) -> x.
Expected<Replacement> drop_dynamic(const Match& m, Builder&) {
  const Node *dq = m.root, *q = dq->input(0)->producer;
  if (dq->input(0) != q->output(0) || dq->input(1) != q->output(1) || dq->input(2) != q->output(2))
    return Decline{"it reads codes in the steps of others"};
  return Replacement{q->input(0)};
}

Expected<Replacement> to_constant(const Match& m, Builder& builder) {
  const Node& dq = *m.root;
  const NodeView view = builder.view(dq);
  const Tensor* codes = dq.input(0) ? dq.input(0)->known_constant() : nullptr;
  if (!codes) return Decline{""};
  const auto steps = steps_of(dq, dq.input(0));
  if (!steps) return steps.error();
  Tensor numbers = decoded(*codes, *steps->scale, steps->zero, view.get_int("axis", 1), view.get_int("block_size", 0));
  return Replacement{builder.constant(dq.input(0)->name + "_floats", std::move(numbers))};
}

/// What a Pad fills in: a number in the place of a code.
Expected<Value*> padding(const Node& pad, const Steps& steps, Builder& builder) {
  constexpr int kValue = 2;
  const Tensor* code = pad.input(kValue) ? pad.input(kValue)->known_constant() : nullptr;
  if (pad.inputs().size() < 2 || (pad.input(kValue) && !code)) return Decline{"what it fills in is not constant"};
  const Tensor value = code ? *code : cast(Tensor::scalar(0.0f), steps.codes);
  return builder.constant("padding", decoded(value, *steps.scale, steps.zero, 0));
}

/// DequantizeLinear(op(codes)) -> op(DequantizeLinear(codes)) where op moves elements.
Expected<Replacement> before_move(const Match& m, Builder& builder) {
  const Node *dq = m.root, *move = dq->input(0)->producer;
  const auto steps = steps_of(*dq, dq->input(0));
  if (!steps) return steps.error();
  if (steps->scale->size() != 1) return Decline{"codes with scales for each channel were moved"};
  if (move->outputs().size() > 1 && !move->is("Split")) return Decline{"it has several outputs"};
  if (move->is("Resize") && builder.view(*move).get_string("mode", "nearest") != "nearest")
    return Decline{"it makes new numbers"};
  std::vector<Value*> inputs = move->inputs();
  const size_t moved = move->is("Concat") ? inputs.size() : 1;
  for (size_t i = 0; i < moved; ++i) {
    std::vector<Value*> from = dq->inputs();
    from[0] = inputs[i];
    inputs[i] = builder.node("DequantizeLinear", from, {}, inputs[i]->name + "_floats", 1, dq->domain)->output(0);
    inputs[i]->type = Type::tensor(dq->output(0)->type.dtype, from[0]->type.dims);
  }
  if (move->is("Pad")) {
    const auto value = padding(*move, *steps, builder);
    if (!value) return value.error();
    inputs.resize(std::max<size_t>(inputs.size(), 3));
    inputs[2] = *value;
  }
  const Node* made = builder.node(move->op, std::move(inputs), move->attrs, dq->output(0)->name + "_moved",
                                  static_cast<int>(move->outputs().size()));
  return Replacement{made->output(dq->input(0)->output_index)};
}

/// DequantizeLinear(Gather(codes, i), Gather(scales, i), Gather(zero points, i)) -> Gather(floats, i).
Expected<Replacement> looked_up(const Match& m, Builder& builder) {
  const Node *dq = m.root, *gather = dq->input(0)->producer;
  std::array<const Tensor*, 3> tables{};
  for (int i = 0; i < 3; ++i) {
    const Node* from = dq->input(i) ? dq->input(i)->producer : nullptr;
    if (!dq->input(i)) continue;
    const bool same = from && from->is("Gather") && from->input(1) == gather->input(1);
    tables[static_cast<size_t>(i)] = same ? from->input(0)->known_constant() : nullptr;
    if (!tables[static_cast<size_t>(i)] || tables[static_cast<size_t>(i)]->rank() != 2) return Decline{""};
  }
  const auto [codes, scale, zero] = tables;
  const int64_t block = builder.view(*dq).get_int("block_size", 0);
  if (!scale || block == 0 || builder.view(*gather).get_int("axis", 0) != 0) return Decline{""};
  Value* floats = builder.constant(gather->input(0)->name + "_floats", decoded(*codes, *scale, zero, 1, block));
  return Replacement{builder.op("Gather", {floats, gather->input(1)}, gather->attrs, dq->output(0)->type)};
}

/// ArgMax(QuantizeLinear(x)) -> ArgMax(x): larger numbers have larger codes.
Expected<Replacement> largest(const Match& m, Builder& builder) {
  const Node *node = m.root, *q = node->input(0)->producer;
  const auto steps = steps_of(*q, node->input(0));
  if (!steps) return steps.error();
  if (steps->scale->size() != 1) return Decline{"codes of several scales are compared"};
  return Replacement{builder.op(node->op, {q->input(0)}, node->attrs, node->output(0)->type)};
}

std::vector<Rule> rules() {
  std::vector<Rule> all = {
      {Pattern::op("ArgMax|ArgMin", {Pattern::op("QuantizeLinear", {Pattern::any("x")}).open()}), largest}};
  for (const char* domain : {"", "com.microsoft"}) {
    const auto dq = [&](Pattern from) {
      return Pattern::op("DequantizeLinear", {std::move(from)}).open().domain(domain);
    };
    all.push_back({dq(Pattern::op("QuantizeLinear", {Pattern::any("x")}).open().domain(domain)), drop_pair});
    all.push_back({dq(Pattern::op("DynamicQuantizeLinear", {Pattern::any("x")})), drop_dynamic});
    all.push_back({dq(Pattern::op("Gather", {Pattern::constant("codes")}).open()), looked_up});
    all.push_back({dq(Pattern::op(kMoves, {Pattern::any("x")}).open()), before_move});
    all.push_back({dq(Pattern::any("x")), to_constant});
  }
  return all;
}

}  // namespace

Tensor decoded(const Tensor& codes, const Tensor& scale, const Tensor* zero, int64_t axis, int64_t block) {
  Tensor numbers = Tensor::of<float>(codes.dims(), to_floats(codes));
  const std::vector<float> scales = to_floats(scale), zeros = zero ? to_floats(*zero) : std::vector<float>{};
  const int at = static_cast<int>(axis < 0 ? axis + codes.rank() : axis);
  int64_t inner = 1;
  const int64_t length = at < codes.rank() ? codes.dim(at) : 1;
  for (int k = at + 1; k < codes.rank(); ++k) inner *= codes.dim(k);
  const int64_t blocks = block > 0 ? (length + block - 1) / block : length;
  auto* data = numbers.mutable_data<float>();
  for (int64_t i = 0; i < numbers.size(); ++i) {
    const int64_t along = i / inner % length, outer = i / inner / length;
    const int64_t own = block > 0 ? (outer * blocks + along / block) * inner + i % inner : along;
    const auto of = [&](const std::vector<float>& all) { return all[all.size() == 1 ? 0 : static_cast<size_t>(own)]; };
    data[i] = (data[i] - (zeros.empty() ? 0 : of(zeros))) * of(scales);
  }
  return is_float(scale.dtype()) && bits(scale.dtype()) >= 16 ? cast(numbers, scale.dtype()) : numbers;
}

const Pass restore_steps = {"restore_steps", "codes with constant steps as the numbers that they stand for", rules};

}  // namespace mlopt::quantize
