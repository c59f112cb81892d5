#include "graphopt/passes/recurrent.h"

#include <algorithm>
#include <cmath>

#include "core/rewrite/fusion/twins.h"
#include "core/tensor/cast.h"
#include "graphopt/passes/reduction.h"
#include "graphopt/passes/support.h"

namespace mlopt::graphopt {
namespace {

/// Appends [width, rows], as the operators have it: a gate's matrix transposed.
void append_transposed(const Columns& gate, std::vector<double>& all) {
  for (int64_t c = 0; c < gate.count; ++c)
    for (int64_t r = 0; r < gate.rows(); ++r) all.push_back(gate.at(r, c));
}

std::vector<double> sum_of(const std::vector<Columns>& biases, int64_t width) {
  std::vector<double> sum(static_cast<size_t>(width), 0);
  for (const Columns& bias : biases)
    for (int64_t i = 0; i < width; ++i) sum[static_cast<size_t>(i)] += number_at(bias.numbers(), bias.first + i);
  return sum;
}

bool are_same(const Columns& a, const Columns& b) {
  return a.first == b.first && a.count == b.count && a.transposed == b.transposed && fusion::are_twins(a.of, b.of);
}

/// But for rounding: what was computed with zeros has been rounded once more.
bool are_same_sums(const std::vector<Columns>& a, const std::vector<Columns>& b, int64_t width) {
  if (std::equal(a.begin(), a.end(), b.begin(), b.end(),
                 [](const Columns& m, const Columns& n) { return are_same(m, n); }))
    return true;
  const std::vector<double> x = sum_of(a, width), y = sum_of(b, width);
  return std::equal(x.begin(), x.end(), y.begin(),
                    [](double m, double n) { return std::abs(m - n) <= 1e-6 * std::max(1.0, std::abs(m)); });
}

bool are_same(const Gate& a, const Gate& b) {
  return are_same(a.x, b.x) && (!a.s || !b.s || are_same(*a.s, *b.s)) && are_same_sums(a.x_bias, b.x_bias, a.x.count) &&
         are_same_sums(a.s_bias, b.s_bias, a.x.count);
}

std::vector<Attr> attributes(const Recurrent& step, const Layer& layer) {
  std::vector<Attr> attrs = {{"hidden_size", step.gates.front().x.count, ""}, {"activations", step.activations, ""}};
  if (step.op == "GRU") attrs.push_back({"linear_before_reset", int64_t{step.reset_after}, ""});
  if (layer.reverse) attrs.push_back({"direction", std::string("reverse"), ""});
  return attrs;
}

}  // namespace

bool are_same(const Recurrent& a, const Recurrent& b) {
  return a.op == b.op && a.activations == b.activations && a.reset_after == b.reset_after &&
         std::equal(a.gates.begin(), a.gates.end(), b.gates.begin(), b.gates.end(),
                    [](const Gate& m, const Gate& n) { return are_same(m, n); });
}

// Measured in ONNX Runtime 1.32, whose RNN computes activations one by one: with 64 to 1024 units, it takes 0.2 to 1.0
// of the time of a Loop at batches of 1 to 8 and up to 1.8 at 32, and 0.4 to 0.8 of that of 8 and more steps at a batch
// of 1, but 1.2 to 2.6 at 8 and 32. Its GRU and LSTM are faster at all of these.
std::string cost_of(const Recurrent& step, const Dim& batch, int64_t written, Target target) {
  constexpr int64_t kUnknown = 8, kFewSteps = 8;
  if (step.op != "RNN" || target == Target::kKernels) return "";
  const int64_t samples = batch.value().value_or(kUnknown);
  if (written ? samples == 1 && written >= kFewSteps : samples <= kUnknown) return "";
  return written ? "RNN is faster for long sequences of a batch of one only, which --fix can say"
                 : "RNN is slower for large batches";
}

Expected<LayerWeights> weights_of(const Recurrent& step) {
  const Gate& first = step.gates.front();
  const int64_t width = first.x.count, inputs = first.x.rows(), rows = width * std::ssize(step.gates);
  std::vector<double> w, r, b;
  for (const Gate& gate : step.gates) {
    if (!gate.s || gate.x.count != width || gate.s->count != width || gate.x.rows() != inputs ||
        gate.s->rows() != width)
      return Decline{"its gates differ in size"};
    append_transposed(gate.x, w);
    append_transposed(*gate.s, r);
  }
  for (const auto of : {&Gate::x_bias, &Gate::s_bias})
    for (const Gate& gate : step.gates) {
      const std::vector<double> sum = sum_of(gate.*of, width);
      b.insert(b.end(), sum.begin(), sum.end());
    }
  const Tensor& like = first.x.numbers();
  const auto weight = tensor_like(like, {1, rows, inputs}, w), recurrence = tensor_like(like, {1, rows, width}, r),
             bias = tensor_like(like, {1, 2 * rows}, b);
  if (!weight || !recurrence || !bias) return Decline{"its weights do not fit their type"};
  return LayerWeights{*weight, *recurrence, *bias};
}

Node* make_layer(const Recurrent& step, const LayerWeights& weights, const Layer& layer, const Node& before,
                 Builder& builder) {
  std::vector<Value*> inputs = {layer.sequence,
                                builder.constant(step.op + "_W", weights.w),
                                builder.constant(step.op + "_R", weights.r),
                                builder.constant(step.op + "_B", weights.b),
                                nullptr,
                                layer.initial,
                                layer.memory};
  while (!inputs.back()) inputs.pop_back();
  const Value* named = before.output(0);
  const std::string hint = named ? named->name : step.op;
  Node* node = builder.at(&before).node(step.op, inputs, attributes(step, layer), hint, step.op == "LSTM" ? 3 : 2);
  if (!before.name.empty()) node->name = before.name + "_" + step.op;
  const SymDims& dims = *layer.sequence->type.dims;
  const DType type = layer.sequence->type.dtype;
  const Dim width = step.gates.front().x.count;
  for (Value* state : node->outputs()) state->type = Type::tensor(type, SymDims{1, dims[1], width});
  node->output(0)->type = Type::tensor(type, SymDims{dims[0], 1, dims[1], width});
  return node;
}

Value* with_directions(Value* state, Builder& builder) {
  SymDims dims = *state->type.dims;
  dims.insert(dims.begin(), 1);
  return make_squeeze(builder, "Unsqueeze", state, {0}, Type::tensor(state->type.dtype, dims));
}

Value* without_directions(Value* output, Builder& builder) {
  SymDims dims = *output->type.dims;
  const int64_t axis = dims.size() == 4 ? 1 : 0;
  dims.erase(dims.begin() + axis);
  return make_squeeze(builder, "Squeeze", output, {axis}, Type::tensor(output->type.dtype, dims));
}

}  // namespace mlopt::graphopt
