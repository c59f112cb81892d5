#include "samples/quickstart/network.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "samples/quickstart/features.h"
#include "samples/quickstart/filters.h"
#include "samples/quickstart/head.h"

namespace mlopt::quickstart {
namespace {

struct Layer {
  int64_t channels, filter_size;
  const char* pool;  ///< "": none
};
constexpr std::array kLayers = {Layer{64, 5, "MaxPool"}, Layer{128, 3, ""}, Layer{128, 3, "MaxPool"},
                                Layer{128, 3, "AveragePool"}};
/// Pictures that show what a layer sees: its filters and normalization need no more.
constexpr int64_t kSome = 300;

Pictures first(const Pictures& pictures, int64_t count) {
  count = std::min(count, pictures.count());
  return {{pictures.pixels.begin(), pictures.pixels.begin() + count * kSide * kSide},
          {pictures.labels.begin(), pictures.labels.begin() + count}};
}

Attr ints(std::string name, std::vector<int64_t> values) { return {std::move(name), std::move(values), {}}; }

Tensor filled(int64_t count, float value) {
  return Tensor::of<float>({count}, std::vector<float>(static_cast<size_t>(count), value));
}

/// Mean and variance of each channel of [n, channels, height, width].
std::pair<Tensor, Tensor> channel_moments(const Tensor& activations) {
  const int64_t channels = activations.dim(1), plane = activations.dim(2) * activations.dim(3);
  Tensor means(DType::kF32, {channels}), variances(DType::kF32, {channels});
  for (int64_t c = 0; c < channels; ++c) {
    double sum = 0, squares = 0;
    for (int64_t n = 0; n < activations.dim(0); ++n) {
      const Eigen::Map<const Eigen::ArrayXf> values(activations.data<float>() + (n * channels + c) * plane, plane);
      sum += values.cast<double>().sum();
      squares += values.cast<double>().square().sum();
    }
    const auto count = static_cast<double>(activations.dim(0) * plane);
    means.mutable_data<float>()[c] = static_cast<float>(sum / count);
    variances.mutable_data<float>()[c] = static_cast<float>(squares / count - sum / count * (sum / count));
  }
  return {means, variances};
}

/// A model that grows upwards.
class Tower {
 public:
  Tower(Backend& backend, const Pictures& pictures, uint64_t seed)
      : backend_(backend), some_(first(pictures, kSome)), rng_(seed) {
    model_.ir_version = 10;
    model_.set_opset("", 21);
    model_.producer_name = "mlopt quickstart";
    model_.graph->name = "digits";
    top_ = model_.graph->add_input("image", Type::tensor(DType::kF32, SymDims{Dim::symbol("N"), 1, kSide, kSide}));
  }

  void add(const std::string& name, const Layer& layer) {
    const Tensor below = top_->producer ? activations(some_) : network_input(some_, 0, some_.count());
    const int64_t size = layer.filter_size, pad = size / 2, channels = layer.channels;
    append(name + "/conv", "Conv", {constant(name + "/filters", learn_filters(below, channels, size, rng_))},
           {ints("kernel_shape", {size, size}), ints("pads", {pad, pad, pad, pad})});
    const auto [means, variances] = channel_moments(activations(some_));
    append(name + "/norm", "BatchNormalization",
           {constant(name + "/scale", filled(channels, 1)), constant(name + "/shift", filled(channels, 0)),
            constant(name + "/mean", means), constant(name + "/variance", variances)});
    append(name + "/relu", "Relu");
    if (*layer.pool != 0)
      append(name + "/pool", layer.pool, {}, {ints("kernel_shape", {2, 2}), ints("strides", {2, 2})});
  }

  Model finish(const Pictures& pictures) && {
    append("flatten", "Flatten");
    const Head head = fit_head(activations(pictures), pictures.labels);
    append("scores", "Gemm", {constant("head/weights", head.weights), constant("head/bias", head.bias)});
    top_->type = Type::tensor(DType::kF32, SymDims{Dim::symbol("N"), head.bias.dim(0)});
    model_.graph->add_output(top_);
    return std::move(model_);
  }

 private:
  Value* constant(const std::string& name, const Tensor& value) { return model_.graph->add_constant(name, value); }

  void append(const std::string& name, const char* op, std::vector<Value*> constants = {},
              std::vector<Attr> attrs = {}) {
    constants.insert(constants.begin(), top_);
    top_ = model_.graph->add_value(name);
    model_.graph->add_node("", op, std::move(constants), {top_}, std::move(attrs))->name = name;
  }

  /// What the top gives.
  Tensor activations(const Pictures& pictures) const {
    Model part = clone(model_);
    part.graph->add_output(part.graph->find(top_->name));
    return run_network(backend_, part, pictures);
  }

  Backend& backend_;
  Pictures some_;
  Rng rng_;
  Model model_;
  Value* top_;
};

}  // namespace

Model make_network(Backend& backend, const Pictures& pictures, uint64_t seed) {
  Tower tower(backend, pictures, seed);
  for (size_t i = 0; i < kLayers.size(); ++i) tower.add(fmt::format("layer{}", i + 1), kLayers.at(i));
  return std::move(tower).finish(pictures);
}

}  // namespace mlopt::quickstart
