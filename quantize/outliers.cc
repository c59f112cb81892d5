#include "quantize/outliers.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/calib/features.h"
#include "core/ir/stored_weights.h"
#include "core/ir/view.h"
#include "core/rewrite/pass.h"
#include "core/tensor/cast.h"
#include "quantize/emit/weight_forms.h"
#include "quantize/methods.h"

namespace mlopt::quantize {
namespace {

constexpr double kWorth = 4;     // times its share of the channels is what a choice has to take of the error
constexpr int64_t kFewest = 32;  // numbers of a row: what is gained on shorter ones is lost on the way

using Channels = std::vector<int64_t>;

/// A product of activations with one constant that has one reader, as products are that can be split; empty: it can.
std::string problem_of(const Weight& w) {
  if (w.op != "MatMul" && w.op != "Gemm" && w.op != "Conv") return "it is no MatMul, Gemm or Conv";
  if (w.readers.size() != 1) return "layers share its weight";
  const Node& node = *w.readers[0];
  const NodeView view(node, 0);
  if (w.operand != 1 || w.groups != 1 || node.input(1) != w.value) return "its inputs are not the columns of a matrix";
  if (!w.value->known_constant() || w.value->constant->dtype() != DType::kF32) return "its weight is not float32";
  if (w.op == "MatMul" && w.value->constant->rank() != 2) return "it is a batch of matrices";
  if (w.op == "Gemm" && (view.get_int("transA", 0) != 0 || view.get_float("alpha", 1) != 1))
    return "it scales the product or transposes its input";
  if (w.columns < kFewest) return "its sums are short";
  return features_problem(w);
}

/// Of a channel, the sum over its columns.
std::vector<double> by_channel(const std::vector<double>& columns, int64_t kernel) {
  std::vector<double> sums(columns.size() / static_cast<size_t>(kernel));
  for (size_t c = 0; c < columns.size(); ++c) sums[c / static_cast<size_t>(kernel)] += columns[c];
  return sums;
}

/// The `count` with the highest score, in ascending order.
Channels highest(const std::vector<double>& score, int64_t count) {
  Channels order(score.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return score[static_cast<size_t>(a)] > score[static_cast<size_t>(b)]; });
  order.resize(static_cast<size_t>(count));
  std::sort(order.begin(), order.end());
  return order;
}

void clear(Matrix& values, const Channels& channels, int64_t kernel) {
  for (int64_t r = 0; r < values.rows; ++r)
    for (const int64_t channel : channels) std::fill_n(values.row(r).begin() + channel * kernel, kernel, 0.0f);
}

/// A layer whose outliers are looked for.
class Chooser {
 public:
  Chooser(const Weight& weight, const Observed* seen, const Spec& spec) : weight_(weight), seen_(seen), spec_(spec) {}

  /// Empty where no choice is worth it.
  Channels run() const {
    const int64_t all = weight_.columns / weight_.kernel;
    const int64_t count = std::llround(spec_.outliers * static_cast<double>(all));
    if (count < 1 || count >= all) return {};
    const double share = static_cast<double>(count) / static_cast<double>(all);
    return spec_.format == Format::kWeights ? of_weights(count, share) : of_activations(count, share);
  }

 private:
  /// The step of rounding grows with the largest magnitude of all.
  Channels of_activations(int64_t count, double share) const {
    std::vector<double> peaks(static_cast<size_t>(weight_.columns / weight_.kernel));
    for (size_t c = 0; c < seen_->peaks.size(); ++c) {
      double& peak = peaks[c / static_cast<size_t>(weight_.kernel)];
      peak = std::max(peak, static_cast<double>(seen_->peaks[c]));
    }
    const Channels chosen = highest(peaks, count);
    const double before = *std::max_element(peaks.begin(), peaks.end());
    for (const int64_t c : chosen) peaks[static_cast<size_t>(c)] = 0;
    const double after = *std::max_element(peaks.begin(), peaks.end());
    return before > 0 && after * after <= (1 - kWorth * share) * before * before ? chosen : Channels{};
  }

  /// Those whose own errors cost most, or those that are largest and stretch the range for others: whichever leaves
  /// less.
  Channels of_weights(int64_t count, double share) const {
    const Matrix rows = sampled_rows(weight_);
    const std::vector<double> before = errors(rows, {});
    std::vector<double> size(static_cast<size_t>(weight_.columns));
    for (int64_t r = 0; r < rows.rows; ++r)
      for (size_t c = 0; c < size.size(); ++c) {
        const auto x = static_cast<double>(rows.row(r)[c]);
        if (std::isfinite(x)) size[c] += x * x;
      }
    double least = (1 - kWorth * share) * std::accumulate(before.begin(), before.end(), 0.0);
    Channels best;
    for (const std::vector<double>& score : {before, size}) {
      const Channels chosen = highest(by_channel(score, weight_.kernel), count);
      const std::vector<double> after = errors(rows, chosen);
      const double error = std::accumulate(after.begin(), after.end(), 0.0);
      if (error < least) least = error, best = chosen;
    }
    return best;
  }

  /// Of each column, what rounding these rows costs the outputs when those channels are not among them.
  std::vector<double> errors(const Matrix& rows, const Channels& without) const {
    Matrix left = rows;
    clear(left, without, weight_.kernel);
    Observed squares;
    if (seen_) squares = {seen_->rows, seen_->squares, {}, {}};
    const Matrix rounded =
        decode(encode(find_method(spec_.method), {left, spec_.scheme(), seen_ ? &squares : nullptr, 1}));
    std::vector<double> sums(static_cast<size_t>(rows.columns));
    for (int64_t r = 0; r < rows.rows; ++r)
      for (size_t c = 0; c < sums.size(); ++c) {
        const double off = static_cast<double>(left.row(r)[c]) - static_cast<double>(rounded.row(r)[c]);
        if (std::isfinite(off)) sums[c] += off * off * (seen_ ? seen_->squares[c] : 1);
      }
    for (const int64_t channel : without) std::fill_n(sums.begin() + channel * weight_.kernel, weight_.kernel, 0.0);
    return sums;
  }

  const Weight& weight_;
  const Observed* seen_;
  const Spec& spec_;
};

/// Do the codes of the outliers, all of zeros, add nothing, and do the outliers not stretch the steps of others?
bool leaves_input(const Weight& weight, const Spec& spec) {
  if (spec.format != Format::kWeights || spec.budget) return false;
  const Levels levels = spec.scheme().levels;
  if (levels == Levels::kCodebook || levels == Levels::kVectors) return false;
  if (spec.weights.family == Family::kUniform && spec.weights.bits == 1) return false;
  return form_of(weight, spec).emit != Emit::kMatMulNBits || spec.rounding_level() != kByteLevel;
}

/// Layer -> the same of the other channels + a product of the outliers.
class Splitter {
 public:
  Splitter(const Weight& weight, const Channels& channels, const Spec& spec, bool masks)
      : weight_(weight),
        channels_(channels),
        masks_(masks || !leaves_input(weight, spec)),
        layer_(const_cast<Node*>(weight.readers[0])),
        graph_(*layer_->graph()),
        name_(layer_->called()) {}

  /// Gives the name of the product of outliers.
  std::string run() {
    Value* y = layer_->output(0);
    Value* aside = outliers(y->type);
    std::vector<Value*> inputs = layer_->inputs();
    if (masks_) inputs[0] = masked();
    inputs[1] = graph_.add_constant(weight_.name() + "_inner", without_outliers());
    Node* inner = graph_.add_op(layer_->op, inputs, layer_->attrs, layer_, y->name + "_inner");
    inner->name = name_;
    inner->output(0)->type = y->type;
    layer_->name = name_ + "_sum";
    layer_->op = "Add";
    layer_->attrs.clear();
    graph_.resize_inputs(layer_, 2);
    graph_.set_input(layer_, 0, inner->output(0));
    graph_.set_input(layer_, 1, aside);
    return name_ + "_outliers";
  }

 private:
  bool is_conv() const { return weight_.op == "Conv"; }

  Tensor without_outliers() const {
    const Tensor& w = *weight_.value->constant;
    std::vector<float> numbers = to_floats(w);
    for (const int64_t r : weight_.row_at)
      for (const int64_t channel : channels_)
        for (int64_t k = 0; k < weight_.kernel; ++k)
          numbers[static_cast<size_t>(r + weight_.column_at[static_cast<size_t>(channel * weight_.kernel + k)])] = 0;
    return Tensor::of<float>(w.dims(), numbers);
  }

  /// Convolutions: [outputs, outliers, kernel...]; products: [outliers, outputs].
  Tensor outlier_weight() const {
    const std::vector<float> numbers = to_floats(*weight_.value->constant);
    const auto at = [&](int64_t row, int64_t channel, int64_t k) {
      return numbers[static_cast<size_t>(weight_.row_at[static_cast<size_t>(row)] +
                                         weight_.column_at[static_cast<size_t>(channel * weight_.kernel + k)])];
    };
    std::vector<float> picked;
    if (is_conv()) {
      for (int64_t r = 0; r < weight_.rows; ++r)
        for (const int64_t channel : channels_)
          for (int64_t k = 0; k < weight_.kernel; ++k) picked.push_back(at(r, channel, k));
      Dims dims = weight_.value->constant->dims();
      dims[1] = std::ssize(channels_);
      return Tensor::of<float>(dims, picked);
    }
    for (const int64_t channel : channels_)
      for (int64_t r = 0; r < weight_.rows; ++r) picked.push_back(at(r, channel, 0));
    return Tensor::of<float>({std::ssize(channels_), weight_.rows}, picked);
  }

  Value* outliers(const Type& type) {
    Value* at = graph_.add_constant(name_ + "_channels", Tensor::ints(channels_));
    const int64_t axis = weight_.op == "MatMul" ? -1 : 1;
    Node* gather = graph_.add_op("Gather", {layer_->input(0), at}, {{"axis", axis, {}}}, layer_, name_ + "_channels");
    gather->name = gather->output(0)->name;
    gather->output(0)->type = gathered_type();
    Value* w = graph_.add_constant(weight_.name() + "_outliers", outlier_weight());
    Node* product = graph_.add_op(is_conv() ? "Conv" : "MatMul", {gather->output(0), w},
                                  is_conv() ? layer_->attrs : std::vector<Attr>{}, layer_, name_ + "_outliers");
    product->name = name_ + "_outliers";
    product->output(0)->type = type;
    return product->output(0);
  }

  Type gathered_type() const {
    Type type = layer_->input(0)->type;
    if (type.dims && !type.dims->empty()) (is_conv() ? type.dims->at(1) : type.dims->back()) = std::ssize(channels_);
    return type;
  }

  /// The input with zeros in the place of the outliers.
  Value* masked() {
    const int64_t all = weight_.columns / weight_.kernel;
    std::vector<float> keeps(static_cast<size_t>(all), 1);
    for (const int64_t channel : channels_) keeps[static_cast<size_t>(channel)] = 0;
    Dims dims = {all};
    if (is_conv()) dims.resize(weight_.value->constant->dims().size() - 1, 1);
    Value* x = layer_->input(0);
    Value* mask = graph_.add_constant(name_ + "_mask", Tensor::of<float>(dims, keeps));
    Node* mul = graph_.add_op("Mul", {x, mask}, {}, layer_, name_ + "_masked");
    mul->name = mul->output(0)->name;
    mul->output(0)->type = x->type;
    return mul->output(0);
  }

  const Weight& weight_;
  const Channels& channels_;
  bool masks_;
  Node* layer_;
  Graph& graph_;
  std::string name_;
};

}  // namespace

SplitOff split_outliers(Model& model, const Spec& spec, const Looking* data, bool planned) {
  SplitOff done;
  const WeightChoice choice{spec.only, spec.skip, "quantize", "quantized", true};
  std::vector<Weight> weights = find_weights(model, choice).weights;
  std::erase_if(weights, [&](const Weight& w) {
    const std::string problem = problem_of(w);
    if (!problem.empty()) done.left.emplace(w.layer, problem);
    return !problem.empty();
  });
  std::vector<Observed> seen;
  if (data && !weights.empty()) seen = observe(model, weights, {}, *data);
  for (size_t i = 0; i < weights.size(); ++i) {
    const Channels channels = Chooser(weights[i], seen.empty() ? nullptr : &seen[i], spec).run();
    if (channels.empty())
      done.left.emplace(weights[i].layer, "no input channels stand out");
    else
      done.products.push_back(Splitter(weights[i], channels, spec, planned).run());
  }
  remove_dead(model);
  return done;
}

}  // namespace mlopt::quantize
