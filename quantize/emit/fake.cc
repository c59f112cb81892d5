#include "quantize/emit/fake.h"

#include <bit>
#include <cmath>
#include <optional>
#include <set>

#include "core/rewrite/pass.h"
#include "core/tensor/cast.h"
#include "quantize/emit/codes.h"
#include "quantize/emit/weights.h"

namespace mlopt::quantize {
namespace {

constexpr std::string_view kSuffix = "_log";       // of the name of a scale
constexpr std::string_view kCodes = "_quantized";  // of the name of codes

bool is_fake(const Node* node) { return node && node->is("FakeQuantize", "mlopt"); }

/// Of the codes of an activation, counted from its zero point.
struct CodeLimits {
  int low, high;
};

/// Those of a Clip that CodeWriter::limit() put before the rounding: a power of two of codes, fewer than `all`.
std::optional<CodeLimits> limited(const Value* x, float scale, const CodeLimits& all) {
  const Node* clip = x->producer;
  if (!clip || !clip->is("Clip") || !x->single_use() || !clip->input(1) || !clip->input(2)) return std::nullopt;
  const Tensor *least = clip->input(1)->known_constant(), *most = clip->input(2)->known_constant();
  if (!least || !most) return std::nullopt;
  const double low = number_at(*least, 0) / scale, high = number_at(*most, 0) / scale;
  constexpr double kTolerance = 1e-3;  // of a step: the limits are steps times a scale, in float32
  if (!(std::abs(low - std::round(low)) < kTolerance && std::abs(high - std::round(high)) < kTolerance))
    return std::nullopt;
  const double codes = std::round(high) - std::round(low) + 1;
  if (codes < 2 || codes >= all.high - all.low + 1 || std::exp2(std::round(std::log2(codes))) != codes)
    return std::nullopt;
  return CodeLimits{static_cast<int>(std::round(low)), static_cast<int>(std::round(high))};
}

class Softener {
 public:
  Softener(Graph& graph, const Emitted& qdq, int weight_bits)
      : graph_(graph), floats_(qdq.floats), weight_bits_(weight_bits) {}

  std::vector<std::string> run() {
    std::vector<Node*> dequantizers;
    for (Node* node : graph_.nodes())
      if (node->is("DequantizeLinear")) dequantizers.push_back(node);
    for (Node* dq : dequantizers) {
      const Node* q = dq->input(0)->producer;
      const auto stored = floats_.find(dq->input(0)->name);
      if (q && q->is("QuantizeLinear"))
        soften(dq, q->input(0));
      else if (stored != floats_.end() && dq->input(0)->constant->dtype() == DType::kI32)
        replace(dq, *biases_.insert(float_of(*stored)).first);
      else if (stored != floats_.end())
        soften(dq, float_of(*stored));
    }
    for (Node* node : graph_.nodes())
      if (is_weighted(*node)) soften_bias(node);
    return {steps_.begin(), steps_.end()};
  }

 private:
  /// The numbers that codes stand for, once for all who read them.
  Value* float_of(const std::pair<const std::string, Tensor>& stored) {
    Value*& value = weights_[stored.first];
    const std::string_view name = stored.first, base = name.substr(0, name.rfind(kCodes));
    if (!value) value = graph_.add_constant(std::string(base), stored.second);
    return value;
  }

  Value* step_of(const Value* scale) {
    Value*& value = logs_[scale];
    if (value) return value;
    std::vector<float> logs = to_floats(*scale->constant);
    for (float& s : logs) s = std::log(s);
    value = graph_.add_constant(scale->name + std::string(kSuffix), Tensor::of<float>(scale->constant->dims(), logs));
    steps_.insert(value->name);
    return value;
  }

  void soften(Node* dq, Value* x) {
    const DType type = dq->input(2)->constant->dtype();
    const int bits_of = static_cast<int>(bits(type)), half = 1 << (bits_of - 1);
    const int zero = static_cast<int>(to_ints(*dq->input(2)->constant)[0]);
    const int most = most_code(weight_bits_ ? weight_bits_ : bits_of);
    CodeLimits limits{-most, most};
    if (!x->constant) {
      limits = {(is_signed(type) ? -half : 0) - zero, (is_signed(type) ? half - 1 : 2 * half - 1) - zero};
      if (const auto fewer = limited(x, to_floats(*dq->input(1)->constant)[0], limits)) {
        limits = *fewer;
        x = x->producer->input(0);
      }
    }
    const Attr* axis = dq->attr("axis");
    const AttrValue along = axis ? axis->value : AttrValue(int64_t{0});
    std::vector<Attr> attrs = {{"axis", along, {}},
                               {"low", int64_t{limits.low}, {}},
                               {"high", int64_t{limits.high}, {}},
                               {"zero", int64_t{zero}, {}},
                               {"to", static_cast<int64_t>(type), {}}};
    if (x->constant && weight_bits_ == 1) attrs.push_back({"odd", int64_t{1}, {}});
    Node* fake = graph_.add_op("FakeQuantize", {x, step_of(dq->input(1))}, std::move(attrs), dq, dq->output(0)->name, 1,
                               "mlopt");
    fake->output(0)->type = dq->output(0)->type;
    replace(dq, fake->output(0));
  }

  /// A bias has the step of the input times that of the weight: the logarithms add.
  void soften_bias(Node* layer) {
    Value* bias = layer->input(2);
    const Node *x = layer->input(0)->producer, *w = layer->input(1)->producer;
    if (!bias || !biases_.contains(bias) || !is_fake(x) || !is_fake(w)) return;
    Node* step = graph_.add_op("Add", {w->input(1), x->input(1)}, {}, layer, bias->name + "_step");
    step->output(0)->type = Type::tensor(DType::kF32, w->input(1)->constant->dims());
    Node* fake = graph_.add_op("FakeQuantize", {bias, step->output(0)},
                               {{"axis", int64_t{0}, {}},
                                {"low", int64_t{INT32_MIN}, {}},
                                {"high", int64_t{INT32_MAX}, {}},
                                {"to", static_cast<int64_t>(DType::kI32), {}}},
                               layer, bias->name + "_rounded", 1, "mlopt");
    fake->output(0)->type = Type::tensor(DType::kF32, bias->constant->dims());
    graph_.set_input(layer, 2, fake->output(0));
  }

  void replace(Node* dq, Value* by) {
    graph_.replace_uses(dq->output(0), by);
    graph_.erase(dq);
  }

  Graph& graph_;
  const std::map<std::string, Tensor>& floats_;
  int weight_bits_;
  std::map<std::string, Value*> weights_;
  std::map<const Value*, Value*> logs_;
  std::set<Value*> biases_;  ///< biases that were integers
  std::set<std::string> steps_;
};

class Hardener {
 public:
  Hardener(Graph& graph, const Spec& spec) : graph_(graph), writer_(graph), spec_(spec) {}

  void run() {
    for (Node* node : graph_.nodes())
      if (is_weighted(*node) && node->input(1) && is_fake(node->input(1)->producer)) harden_layer(node);
    for (Node* node : graph_.nodes())
      if (is_fake(node)) harden_activation(node);
  }

 private:
  static int integer(const Node& fake, std::string_view attr) {
    return static_cast<int>(std::get<int64_t>(fake.attr(attr)->value));
  }
  static DType type_of(const Node& fake) { return static_cast<DType>(integer(fake, "to")); }

  /// Of the codes of a weight.
  static int bits_of(const Node& fake) {
    return fake.attr("odd") ? 1 : std::bit_width(static_cast<unsigned>(integer(fake, "high"))) + 1;
  }

  /// As the kernel takes them from their logarithms.
  static std::vector<float> scales_of(const Node& fake) {
    std::vector<float> scales = to_floats(*fake.input(1)->constant);
    for (float& s : scales) s = std::exp(s);
    return scales;
  }

  static std::string base_of(const Value* v) {
    const std::string_view name = v->name;
    return std::string(name.ends_with(kSuffix) ? name.substr(0, name.size() - kSuffix.size()) : name);
  }

  void harden_layer(Node* node) {
    const Node* fake = node->input(1)->producer;
    const Tensor& w = *fake->input(0)->constant;
    const Node* rounded = node->input(2) && is_fake(node->input(2)->producer) ? node->input(2)->producer : nullptr;
    const Tensor* bias = rounded ? &*rounded->input(0)->constant : nullptr;
    const float input_scale = rounded ? scales_of(*node->input(0)->producer)[0] : 0;
    std::vector<float> scales = scales_of(*fake);
    const std::vector<float> least = least_scales(*node, w, bias, input_scale, spec_);
    for (size_t c = 0; c < least.size(); ++c) {
      float& s = scales[scales.size() == 1 ? 0 : c];
      s = std::max(s, least[c]);
    }
    const int axis = scales.size() == 1 && fake->input(1)->constant->rank() == 0 ? -1 : weight_axis(*node);
    const QuantizedWeight q = quantize_by(scales, w, axis, bits_of(*fake));
    const Value* weight = fake->input(0);
    graph_.set_input(node, 1, writer_.dequantized(node, writer_.store(weight, q, axis), weight->name, axis));
    if (!bias) return;
    const QuantizedBias b = quantize_bias(*bias, input_scale, q.scale);
    const std::string base = rounded->input(0)->name;
    graph_.set_input(node, 2, writer_.dequantized(node, writer_.store(base, b), base, b.scale.rank() ? 0 : -1));
  }

  void harden_activation(Node* fake) {
    Value* y = fake->output(0);
    if (y->uses.empty() && !y->is_output()) return;
    const DType type = type_of(*fake);
    const int low = integer(*fake, "low"), high = integer(*fake, "high"), zero_point = integer(*fake, "zero");
    const int least = is_signed(type) ? -(1 << (bits(type) - 1)) : 0;
    const Grid grid{type, least, 0, scales_of(*fake)[0], zero_point};
    Value*& scale = scales_[fake->input(1)];
    Value*& zero = zeros_[{fake->input(1), type}];
    const std::string base = base_of(fake->input(1));
    if (!scale) scale = graph_.add_constant(base, Tensor::scalar(grid.scale));
    if (!zero) zero = graph_.add_constant(base + "_zero_point", zero_point_of(grid));
    const auto [q, dq] = writer_.rounded(fake->input(0), scale, zero, fake);
    graph_.replace_uses(y, dq->output(0));
    if (high - low + 1 < 1 << bits(type)) writer_.limit(q, low, high);
  }

  Graph& graph_;
  CodeWriter writer_;
  const Spec& spec_;
  std::map<const Value*, Value*> scales_;
  std::map<std::pair<const Value*, DType>, Value*> zeros_;
};

}  // namespace

std::vector<std::string> emit_fake(Model& model, const Emitted& qdq, int weight_bits) {
  std::vector<std::string> steps = Softener(*model.graph, qdq, weight_bits).run();
  remove_dead(model);
  return steps;
}

void emit_trained(Model& model, const Spec& spec) {
  Hardener(*model.graph, spec).run();
  remove_dead(model);
}

}  // namespace mlopt::quantize
