#include "quantize/equalize.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>
#include <unordered_map>

#include "core/calib/channels.h"
#include "core/calib/weights.h"
#include "core/ir/view.h"
#include "core/tensor/cast.h"
#include "quantize/listed.h"

namespace mlopt::quantize {
namespace {

constexpr int kSweeps = 40;
constexpr double kSettled = 1e-3;    // of the logarithm of a factor
constexpr double kMostFactor = 1e4;  // of one channel in all: what is further apart is noise beside the others
constexpr std::string_view kPasses[] = {"Relu", "LeakyRelu", "Identity", "Dropout"};
constexpr std::string_view kPools[] = {"MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool"};

/// Two layers of which the second alone reads the channels of the first.
struct Pair {
  size_t first, second;            // weights
  std::vector<double> scale;       // of each channel, by which the first is divided
  const Value* clipped = nullptr;  // what a Clip between them is given
  double limit = 0;                // of the Clip
  std::vector<double> room;        // each channel's largest value before the Clip over its limit; empty: no Clip
};

bool is_layer(const Weight& w) {
  const bool product = w.op == "Conv" || w.op == "Gemm" || w.op == "MatMul";
  return product && w.operand == 1 && w.readers.size() == 1 && !w.readers[0]->graph()->owner &&
         w.readers[0]->input(1) == w.value && w.value->single_use() && w.value->known_constant() &&
         w.value->constant->dtype() == DType::kF32;
}

/// A vector over the outputs, or one number for all.
bool has_simple_bias(const Weight& w) {
  const Value* bias = w.readers[0]->input(2);
  if (!bias) return true;
  const Tensor* b = bias->known_constant();
  return b && b->dtype() == DType::kF32 && (b->size() == 1 || (b->size() == w.rows && b->dims().back() == w.rows));
}

/// Does x -> f(x) give f(s x) = s f(x) for s > 0 in each channel alone? Pools do for axis 1; the features of a product
/// are the last axis, over which they run.
bool passes_factor(const Node& node, bool by_channels) {
  return (listed(kPasses, node) || (by_channels && listed(kPools, node))) &&
         (node.outputs().size() == 1 || !node.output(1) || node.output(1)->uses.empty());
}

/// The input channel of a column, for a row of the weight.
int64_t channel_of(const Weight& w, int64_t row, int64_t column, int64_t channels) {
  if (w.op == "Conv") return row / (w.rows / w.groups) * (w.columns / w.kernel) + column / w.kernel;
  return column / (w.columns / channels);
}

class Equalizer {
 public:
  Equalizer(Model& model, const Spec& spec, const Looking* data)
      : model_(model), data_(data), weights_(find_weights(model, choice(spec)).weights) {}

  Equalized run() {
    find_pairs();
    see_clips();
    for (const Weight& w : weights_) numbers_.push_back(load(w));
    for (int i = 0; i < kSweeps; ++i)
      if (sweep() < kSettled) break;
    std::erase_if(pairs_, [](const Pair& p) {
      return std::all_of(p.scale.begin(), p.scale.end(), [](double s) { return s == 1; });
    });
    Equalized done{std::ssize(pairs_), {}};
    for (const Pair& pair : pairs_) {
      note_divided(pair, done);
      store(weights_[pair.first], numbers_[pair.first]);
      store(weights_[pair.second], numbers_[pair.second]);
      divide_bias(pair);
    }
    return done;
  }

 private:
  static WeightChoice choice(const Spec& spec) {
    WeightChoice choice{.only = spec.only, .skip = spec.skip, .verb = "quantize", .done = "equalized"};
    choice.stored_only = true;  // a model without any is none to refuse
    return choice;
  }

  void find_pairs() {
    std::unordered_map<const Node*, size_t> layers;
    for (size_t i = 0; i < weights_.size(); ++i)
      if (is_layer(weights_[i])) layers.emplace(weights_[i].readers[0], i);
    for (size_t i = 0; i < weights_.size(); ++i) {
      const auto at = layers.find(weights_[i].readers[0]);
      if (at == layers.end() || at->second != i) continue;
      Pair pair{i, i, std::vector<double>(static_cast<size_t>(weights_[i].rows), 1), nullptr, 0, {}};
      const Node* node = walk(*weights_[i].readers[0], pair);
      const auto next = node ? layers.find(node) : layers.end();
      if (next == layers.end()) continue;
      pair.second = next->second;
      if (fits(pair)) pairs_.push_back(std::move(pair));
    }
  }

  /// From a layer to the next that reads its channels; null where something else does, or changes them.
  const Node* walk(const Node& from, Pair& pair) const {
    const Node* node = &from;
    for (bool flat = false;;) {
      const Value* y = node->output(0);
      if (!y || !y->single_use()) return nullptr;
      node = y->uses[0].node;
      if (node->graph() != from.graph() || y->uses[0].index != 0) return nullptr;
      if (node->is("Conv") && !flat) return from.is("Conv") ? node : nullptr;
      if (node->is("Gemm") || node->is("MatMul")) {
        const bool turned = node->is("Gemm") && NodeView(*node, model_.opset()).get_int("transA", 0) != 0;
        const bool by_features = flat || !from.is("Conv");  // the last axis of the value
        return by_features && !turned ? node : nullptr;
      }
      if (flattens(*node))
        flat = true;
      else if (!passes_factor(*node, from.is("Conv") && !flat) && !is_clip(*node, *y, pair))
        return nullptr;
    }
  }

  /// [N, C, ...] to [N, C * ...].
  bool flattens(const Node& node) const {
    const NodeView view(node, model_.opset());
    if (node.is("Flatten")) return view.get_int("axis", 1) == 1;
    if (!node.is("Reshape")) return false;
    const auto& in = node.input(0)->type.dims;
    const auto& out = node.output(0)->type.dims;
    if (!in || !out || in->size() < 2 || out->size() != 2) return false;
    Dim features = 1;
    for (size_t i = 1; i < in->size(); ++i) features = features * (*in)[i];
    return features == (*out)[1];
  }

  bool is_clip(const Node& node, const Value& given, Pair& pair) const {
    if (!node.is("Clip") || pair.clipped || !data_) return false;
    const NodeView view(node, model_.opset());
    const auto low = view.number("min", 1, -std::numeric_limits<double>::infinity());
    const auto high = view.number("max", 2, std::numeric_limits<double>::infinity());
    if (!low || !high || *low != 0 || !(*high > 0)) return false;
    pair.clipped = &given;
    pair.limit = *high;
    return true;
  }

  /// The columns of the second are the rows of the first.
  bool fits(const Pair& pair) const {
    const Weight &a = weights_[pair.first], &b = weights_[pair.second];
    if (!has_simple_bias(a)) return false;
    if (a.op != "Conv" && (a.groups != 1 || a.kernel != 1)) return false;
    if (b.op == "Conv") return b.groups * (b.columns / b.kernel) == a.rows;
    return b.groups == 1 && b.columns % a.rows == 0 && (a.op == "Conv" || b.columns == a.rows);
  }

  void see_clips() {
    std::vector<std::string> names;
    for (const Pair& pair : pairs_)
      if (pair.clipped) names.push_back(pair.clipped->name);
    if (names.empty()) return;
    const std::vector<ChannelStatistics> seen = channel_statistics(model_, names, *data_);
    size_t next = 0;
    for (Pair& pair : pairs_) {
      if (!pair.clipped) continue;
      for (const double most : seen[next++].maxes) pair.room.push_back(most / pair.limit);
    }
    std::erase_if(pairs_, [](const Pair& p) { return p.clipped && p.room.size() != p.scale.size(); });
  }

  /// The largest magnitude in each channel of the pair: rows of the first, columns of the second.
  std::pair<std::vector<float>, std::vector<float>> ranges(const Pair& pair) const {
    const Matrix &a = numbers_[pair.first], &b = numbers_[pair.second];
    std::vector<float> rows(static_cast<size_t>(a.rows)), columns(rows.size());
    for (int64_t r = 0; r < a.rows; ++r)
      for (const float x : a.row(r))
        rows[static_cast<size_t>(r)] = std::max(rows[static_cast<size_t>(r)], std::fabs(x));
    for (int64_t r = 0; r < b.rows; ++r)
      for (int64_t c = 0; c < b.columns; ++c) {
        float& most = columns[static_cast<size_t>(channel_of(weights_[pair.second], r, c, a.rows))];
        most = std::max(most, std::fabs(b.at(r, c)));
      }
    return {rows, columns};
  }

  /// What a channel is divided by in the first layer of a pair.
  static double factor(const Pair& pair, size_t channel, double row, double column) {
    if (!(row > 0) || !(column > 0) || !std::isfinite(row) || !std::isfinite(column)) return 1;
    double s = std::sqrt(row / column);
    s = std::clamp(s * pair.scale[channel], 1 / kMostFactor, kMostFactor) / pair.scale[channel];
    if (pair.room.empty()) return s;
    const double room = pair.room[channel];
    return room >= 1 ? 1 : std::max(s, room);
  }

  /// Every pair once; the largest logarithm of a factor.
  double sweep() {
    double largest = 0;
    for (Pair& pair : pairs_) {
      const auto [rows, columns] = ranges(pair);
      std::vector<float> factors;
      for (size_t c = 0; c < rows.size(); ++c) {
        const double s = factor(pair, c, static_cast<double>(rows[c]), static_cast<double>(columns[c]));
        factors.push_back(static_cast<float>(s));
        largest = std::max(largest, std::fabs(std::log(s)));
        pair.scale[c] *= s;
        if (!pair.room.empty() && pair.room[c] < 1) pair.room[c] /= s;
      }
      apply(pair, factors);
    }
    return largest;
  }

  void apply(const Pair& pair, const std::vector<float>& factors) {
    Matrix &a = numbers_[pair.first], &b = numbers_[pair.second];
    for (int64_t r = 0; r < a.rows; ++r)
      for (float& x : a.row(r)) x /= factors[static_cast<size_t>(r)];
    for (int64_t r = 0; r < b.rows; ++r)
      for (int64_t c = 0; c < b.columns; ++c)
        b.at(r, c) *= factors[static_cast<size_t>(channel_of(weights_[pair.second], r, c, a.rows))];
  }

  void note_divided(const Pair& pair, Equalized& done) const {
    const Node *node = weights_[pair.first].readers[0], *last = weights_[pair.second].readers[0];
    for (; node != last; node = node->output(0)->uses[0].node) done.divided.emplace(node->output(0)->name, pair.scale);
  }

  void divide_bias(const Pair& pair) {
    auto* node = const_cast<Node*>(weights_[pair.first].readers[0]);
    const Value* bias = node->input(2);
    if (!bias) return;
    std::vector<float> numbers = to_floats(*bias->known_constant());
    const bool one = numbers.size() == 1;
    if (one) numbers.assign(pair.scale.size(), numbers[0]);
    for (size_t c = 0; c < numbers.size(); ++c)
      numbers[c] = static_cast<float>(static_cast<double>(numbers[c]) / pair.scale[c]);
    Dims dims = bias->constant->dims();
    if (one) dims = {std::ssize(numbers)};
    model_.graph->set_input(node, 2,
                            model_.graph->add_constant(bias->name + "_equalized", Tensor::of<float>(dims, numbers)));
  }

  Model& model_;
  const Looking* data_;
  std::vector<Weight> weights_;
  std::vector<Pair> pairs_;
  std::vector<Matrix> numbers_;
};

}  // namespace

Equalized equalize(Model& model, const Spec& spec, const Looking* data) { return Equalizer(model, spec, data).run(); }

}  // namespace mlopt::quantize
