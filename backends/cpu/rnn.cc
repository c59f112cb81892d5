// LSTM and GRU with constant weights and the standard's default activations, RNN with Tanh or Relu.
#include <optional>
#include <string>

#include "backends/cpu/kernels.h"
#include "backends/cpu/rnn_plan.h"
#include "core/exec/weight_cache.h"

namespace mlopt::cpu {
namespace {

enum Input { kX, kW, kR, kBias, kLengths, kState, kCell, kPeepholes };
enum Output { kY, kLastState, kLastCell };

/// Has every direction these activations?
bool has_activations(const NodeView& view, const std::vector<std::string>& one) {
  const std::vector<std::string> given = view.get_strings("activations");
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i] != one[i % one.size()]) return false;
  return view.get_float("clip", 0) == 0;
}

std::optional<RnnLayer> layer_of(const NodeView& view) {
  const std::string& op = view.node().op;
  if (op == "RNN" && has_activations(view, {"Tanh"})) return RnnLayer::kTanh;
  if (op == "RNN" && has_activations(view, {"Relu"})) return RnnLayer::kRelu;
  if (op == "LSTM" && has_activations(view, {"Sigmoid", "Tanh", "Tanh"})) return RnnLayer::kLstm;
  if (op != "GRU" || !has_activations(view, {"Sigmoid", "Tanh"})) return std::nullopt;
  return view.get_int("linear_before_reset", 0) != 0 ? RnnLayer::kLinearGru : RnnLayer::kGru;
}

Expected<RnnShape> shape_of(const Site& site) {
  const NodeView& view = site.view;
  const auto layer = layer_of(view);
  if (!site.constant(kW) || !site.constant(kR) || (site.has(kBias) && !site.constant(kBias)))
    return Decline{"the weights are not constant"};
  if (site.has(kLengths) || site.has(kPeepholes)) return Decline{"sequence lengths or peepholes"};
  if (!layer) return Decline{"other activations"};
  if (view.get_int("input_forget", 0) != 0 || view.get_int("layout", 0) != 0)
    return Decline{"coupled gates or batches first"};
  for (const auto& desc : site.in)
    if (desc && desc->dtype != DType::kF32) return Decline{"not float32"};
  RnnShape s{.layer = *layer};
  const std::string direction = view.get_string("direction", "forward");
  s.reverse = direction == "reverse";
  s.directions = direction == "bidirectional" ? 2 : 1;
  const Dims &x = site.desc(kX).dims, &w = site.desc(kW).dims, &r = site.desc(kR).dims;
  if (x.size() != 3 || w.size() != 3 || r.size() != 3) return Decline{"not sequences"};
  s.steps = x[0], s.batch = x[1], s.inputs = x[2], s.hidden = r[2];
  if (w != Dims{s.directions, s.width(), s.inputs} || r != Dims{s.directions, s.width(), s.hidden})
    return Decline{"the weights do not fit"};
  if (site.has(kBias) && site.desc(kBias).dims != Dims{s.directions, 2 * s.width()})
    return Decline{"the bias does not fit"};
  for (const int i : {kState, kCell})
    if (site.has(i) && site.desc(i).dims != Dims{s.directions, s.batch, s.hidden})
      return Decline{"the state does not fit"};
  return s;
}

/// For each direction, rows [first, first + rows) of ONNX's [D, gates H, in] as columns; packed once for all plans of
/// an executable.
std::shared_ptr<const RnnWeights::Matrices> packed_gates(const Site& site, int input, int64_t first, int64_t rows) {
  const Tensor& w = *site.constant(input);
  const std::string form = "tiles of gates from " + std::to_string(first) + " to " + std::to_string(first + rows);
  return shared_weights<RnnWeights::Matrices>(site.context.weights, w, form, [&] {
    const Tensor stored = w.aligned();
    auto made = std::make_shared<RnnWeights::Matrices>();
    for (int64_t d = 0; d < w.dim(0); ++d) {
      const float* from = stored.data<float>() + (d * w.dim(1) + first) * w.dim(2);
      made->push_back(std::make_shared<PackedMatrix>(MatrixView{from, 1, w.dim(2)}, w.dim(2), rows));
    }
    return made;
  });
}

/// ONNX's [D, 2, gates H], of W and of R, added up, but for the candidate of a linear GRU.
void set_bias(const Tensor& stored, const RnnShape& s, RnnWeights& weights) {
  const int64_t kept = s.layer == RnnLayer::kLinearGru ? 2 * s.hidden : s.width();
  for (int64_t d = 0; d < s.directions; ++d) {
    const float *of_w = stored.data<float>() + d * 2 * s.width(), *of_r = of_w + s.width();
    for (int64_t i = 0; i < s.width(); ++i) {
      weights.bias[static_cast<size_t>(d * s.width() + i)] = of_w[i] + (i < kept ? of_r[i] : 0);
      weights.recurrent_bias[static_cast<size_t>(d * s.width() + i)] = i < kept ? 0 : of_r[i];
    }
  }
}

std::shared_ptr<const RnnWeights> packed_weights(const Site& site, const RnnShape& s) {
  auto weights = std::make_shared<RnnWeights>();
  const bool two = s.layer == RnnLayer::kGru;
  weights->input = packed_gates(site, kW, 0, s.width());
  weights->recurrent = packed_gates(site, kR, 0, two ? 2 * s.hidden : s.width());
  if (two) weights->candidate = packed_gates(site, kR, 2 * s.hidden, s.hidden);
  weights->bias.resize(static_cast<size_t>(s.directions * s.width()));
  weights->recurrent_bias = weights->bias;
  if (site.has(kBias)) set_bias(site.constant(kBias)->aligned(), s, *weights);
  return weights;
}

Expected<PlannedStep> plan(const Site& site) {
  const auto s = shape_of(site);
  if (!s) return s.error();
  const auto weights = packed_weights(site, *s);
  const auto rnn = std::make_shared<const RnnPlan>(*s, weights, site.context.threads);
  const Dims state{s->directions, s->batch, s->hidden};
  PlannedStep step{.out = {{DType::kF32, {s->steps, s->directions, s->batch, s->hidden}},
                           {DType::kF32, state},
                           {DType::kF32, state}}};
  step.out.resize(site.view.node().outputs().size());
  step.scratch_bytes = rnn->workspace_bytes();
  step.packed = {kW, kR, kBias};
  step.packed_bytes = weights->bytes();
  step.run = [rnn, has_state = site.has(kState), has_cell = site.has(kCell),
              outputs = step.out.size()](const Buffers& b) {
    rnn->run({.x = b.in<float>(kX),
              .state = has_state ? b.in<float>(kState) : nullptr,
              .cell = has_cell ? b.in<float>(kCell) : nullptr,
              .y = b.out<float>(kY),
              .last_state = outputs > kLastState ? b.out<float>(kLastState) : nullptr,
              .last_cell = outputs > kLastCell ? b.out<float>(kLastCell) : nullptr},
             b.scratch);
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "LSTM", .plan = plan},
    {.domain = "", .op = "GRU", .plan = plan},
    {.domain = "", .op = "RNN", .plan = plan},
};

}  // namespace

std::span<const Kernel> rnn_kernels() { return kKernels; }

}  // namespace mlopt::cpu
