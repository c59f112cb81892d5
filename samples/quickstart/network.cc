#include "samples/quickstart/network.h"

#include <fmt/core.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/train/reset.h"
#include "samples/quickstart/pictures.h"

namespace mlopt::quickstart {
namespace {

struct Layer {
  int64_t channels, filter_size;
  const char* pool;  ///< "": none
};
constexpr std::array kLayers = {Layer{64, 5, "MaxPool"}, Layer{128, 3, ""}, Layer{128, 3, "MaxPool"},
                                Layer{128, 3, "AveragePool"}};
constexpr int64_t kClasses = 10;

Attr ints(std::string name, std::vector<int64_t> values) { return {std::move(name), std::move(values), {}}; }

/// A model that grows upwards.
class Tower {
 public:
  Tower() {
    model_.ir_version = 10;
    model_.set_opset("", 21);
    model_.producer_name = "mlopt quickstart";
    model_.graph->name = "digits";
    top_ = model_.graph->add_input("image", Type::tensor(DType::kF32, SymDims{Dim::symbol("N"), 1, kSide, kSide}));
  }

  void add(const std::string& name, const Layer& layer) {
    const int64_t size = layer.filter_size, pad = size / 2, channels = layer.channels;
    append(name + "/conv", "Conv", {constant(name + "/filters", {channels, depth_, size, size})},
           {ints("kernel_shape", {size, size}), ints("pads", {pad, pad, pad, pad})});
    append(name + "/norm", "BatchNormalization",
           {constant(name + "/scale", {channels}), constant(name + "/shift", {channels}),
            constant(name + "/mean", {channels}), constant(name + "/variance", {channels})});
    append(name + "/relu", "Relu");
    depth_ = channels;
    if (*layer.pool == 0) return;
    append(name + "/pool", layer.pool, {}, {ints("kernel_shape", {2, 2}), ints("strides", {2, 2})});
    side_ /= 2;
  }

  Model finish(uint64_t seed) && {
    append("flatten", "Flatten");
    append("scores", "Gemm",
           {constant("head/weights", {depth_ * side_ * side_, kClasses}), constant("head/bias", {kClasses})});
    top_->type = Type::tensor(DType::kF32, SymDims{Dim::symbol("N"), kClasses});
    model_.graph->add_output(top_);
    train::reset_weights(model_, seed);
    return std::move(model_);
  }

 private:
  Value* constant(const std::string& name, const Dims& dims) {
    return model_.graph->add_constant(name, Tensor::zeros(DType::kF32, dims));
  }

  void append(const std::string& name, const char* op, std::vector<Value*> constants = {},
              std::vector<Attr> attrs = {}) {
    constants.insert(constants.begin(), top_);
    top_ = model_.graph->add_value(name);
    model_.graph->add_node("", op, std::move(constants), {top_}, std::move(attrs))->name = name;
  }

  Model model_;
  Value* top_;
  int64_t depth_ = 1, side_ = kSide;  ///< channels and height of the top
};

}  // namespace

Model make_network(uint64_t seed) {
  Tower tower;
  for (size_t i = 0; i < kLayers.size(); ++i) tower.add(fmt::format("layer{}", i + 1), kLayers.at(i));
  return std::move(tower).finish(seed);
}

}  // namespace mlopt::quickstart
