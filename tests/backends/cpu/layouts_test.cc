// Random convolutional networks, whose values change layouts between operators that want this one or that.
#include "core/base/rng.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

using Ints = std::vector<int64_t>;

/// A network in the making: `values` are float32 [1, C, H, W].
class RandomNet {
 public:
  explicit RandomNet(uint64_t seed) : rng_(seed) {
    values_.push_back({net.input({1, 3, 14, 11}), 3, 14, 11});
    while (net.graph().node_count() < 25) step(rng_.integer(0, 24));
    net.output(values_.back().value);
    net.output(values_[values_.size() / 2].value);
    net.output(net.op("Flatten", {values_[values_.size() / 3].value}));
  }

  Net net;

 private:
  struct Image {
    Value* value;
    int64_t channels, height, width;
  };

  const Image& any() { return values_[static_cast<size_t>(rng_.integer(0, static_cast<int64_t>(values_.size()) - 1))]; }
  Value* numbers(const Dims& dims, double low = -0.5, double high = 0.5) {
    return net.constant(uniform(dims, low, high, DType::kF32, static_cast<uint64_t>(rng_.integer(1, 1000))));
  }
  Value* ints(const Ints& numbers) { return net.constant(Tensor::ints(numbers)); }
  void add(Value* value, int64_t channels, int64_t height, int64_t width) {
    values_.push_back({value, channels, height, width});
  }
  void add_like(const Image& x, Value* value) { add(value, x.channels, x.height, x.width); }

  void conv(const Image& x) {
    const int64_t taps = rng_.integer(0, 1) * 2 + 1, stride = x.height > 6 ? rng_.integer(1, 2) : 1;
    const bool depthwise = rng_.integer(0, 2) == 0;
    const int64_t channels = depthwise ? x.channels : rng_.integer(1, 12), pad = taps / 2;
    Value* y =
        net.op("Conv", {x.value, numbers({channels, depthwise ? 1 : x.channels, taps, taps}), numbers({channels})},
               {{"pads", Ints(4, pad), ""},
                {"strides", Ints(2, stride), ""},
                {"group", depthwise ? x.channels : int64_t{1}, ""}});
    add(y, channels, (x.height - 1) / stride + 1, (x.width - 1) / stride + 1);
  }

  void pool(const Image& x, const char* op) {
    if (x.height < 4 || x.width < 4) return;
    Value* y = net.op(op, {x.value},
                      {{"kernel_shape", Ints{3, 2}, ""}, {"strides", Ints{2, 1}, ""}, {"pads", Ints{1, 0, 1, 1}, ""}});
    add(y, x.channels, (x.height - 1) / 2 + 1, x.width);
  }

  void squeeze_and_excite(const Image& x) {
    Value* mean = net.op("GlobalAveragePool", {x.value});
    Value* gate = net.op("Sigmoid", {net.op("Conv", {mean, numbers({x.channels, x.channels, 1, 1})})});
    add_like(x, net.op("Mul", {x.value, gate}));
  }

  void join(const Image& a) {
    for (const Image& b : values_)
      if (b.value != a.value && b.height == a.height && b.width == a.width && a.channels + b.channels < 24) {
        if (b.channels == a.channels && rng_.integer(0, 1) == 0) return add_like(a, net.op("Add", {b.value, a.value}));
        return add(net.op("Concat", {a.value, b.value}, {{"axis", int64_t{1}, ""}}), a.channels + b.channels, a.height,
                   a.width);
      }
  }

  void shuffle(const Image& x) {
    if (x.channels % 2 != 0) return;
    Value* split = net.op("Reshape", {x.value, net.constant(Tensor::ints({1, 2, x.channels / 2, x.height, x.width}))});
    Value* swapped = net.op("Transpose", {split}, {{"perm", Ints{0, 2, 1, 3, 4}, ""}});
    add_like(x, net.op("Reshape", {swapped, net.constant(Tensor::ints({1, x.channels, x.height, x.width}))}));
  }

  void turn(const Image& x) {
    Value* last = net.op("Transpose", {x.value}, {{"perm", Ints{0, 2, 3, 1}, ""}});
    add_like(x, net.op("Transpose", {net.op("Softmax", {last})}, {{"perm", Ints{0, 3, 1, 2}, ""}}));
  }

  void slice(const Image& x) {
    if (x.channels < 2 || x.height < 3) return;
    Value* y = net.op("Slice", {x.value, ints({1, -1}), ints({100, -100}), ints({1, 2}), ints({1, -2})});
    add(y, x.channels - 1, (x.height + 1) / 2, x.width);
  }

  void split(const Image& x) {
    if (x.channels < 2) return;
    const Node* node = net.graph().add_op("Split", {x.value, ints({1, x.channels - 1})}, {{"axis", int64_t{1}, ""}},
                                          nullptr, "piece", 2);
    add(node->outputs()[0], 1, x.height, x.width);
    add(node->outputs()[1], x.channels - 1, x.height, x.width);
  }

  void pad(const Image& x, const char* mode) {
    if (x.height < 2 || x.width < 2) return;
    Value* y = net.op("Pad", {x.value, ints({0, 0, 1, 0, 0, 1, 0, 1})}, {{"mode", std::string(mode), ""}});
    add(y, x.channels + 1, x.height + 1, x.width + 1);
  }

  void resize(const Image& x, const char* mode) {
    if (x.height > 16) return;
    Value* scales = net.constant(tensor({4}, {1, 1, 2, 1.5}));
    add(net.op("Resize", {x.value, nullptr, scales}, {{"mode", std::string(mode), ""}}), x.channels, 2 * x.height,
        x.width * 3 / 2);
  }

  void conv_transpose(const Image& x) {
    if (x.height > 16) return;
    const int64_t channels = rng_.integer(1, 9);
    Value* y = net.op("ConvTranspose", {x.value, numbers({x.channels, channels, 2, 2}), numbers({channels})},
                      {{"strides", Ints{2, 2}, ""}});
    add(y, channels, 2 * x.height, 2 * x.width);
  }

  void blocks(const Image& x) {
    if (x.channels % 4 == 0)
      add(net.op("DepthToSpace", {x.value}, {{"blocksize", int64_t{2}, ""}, {"mode", std::string("CRD"), ""}}),
          x.channels / 4, 2 * x.height, 2 * x.width);
    else if (x.height % 2 == 0 && x.width % 2 == 0)
      add(net.op("SpaceToDepth", {x.value}, {{"blocksize", int64_t{2}, ""}}), 4 * x.channels, x.height / 2,
          x.width / 2);
  }

  void choose(const Image& x) {
    Value* positive = net.op("Cast", {net.op("Relu", {x.value})}, {{"to", static_cast<int64_t>(DType::kBool), ""}});
    add_like(x, net.op("Where", {positive, x.value, numbers({x.channels, 1, x.width})}));
  }

  void gather(const Image& x) {
    add(net.op("Gather", {x.value, ints({-1, 0, 0})}, {{"axis", int64_t{1}, ""}}), 3, x.height, x.width);
  }

  void more(int64_t kind, const Image& x) {
    switch (kind) {
      case 13:
        return slice(x);
      case 14:
        return split(x);
      case 15:
        return pad(x, "constant");
      case 16:
        return pad(x, "edge");
      case 17:
        return resize(x, "nearest");
      case 18:
        return resize(x, "linear");
      case 19:
        return conv_transpose(x);
      case 20:
        return blocks(x);
      case 21:
        return choose(x);
      case 22:
        return gather(x);
      case 23:
        return add_like(x, net.op("InstanceNormalization", {x.value, numbers({x.channels}), numbers({x.channels})},
                                  {{"epsilon", 0.1f, ""}}));
      default:
        return add_like(
            x, net.op("Cast", {net.op("Cast", {x.value}, {{"to", int64_t{11}, ""}})}, {{"to", int64_t{1}, ""}}));
    }
  }

  void step(int64_t kind) {
    const Image x = any();
    switch (kind) {
      case 0:
        return add_like(x, net.op("Relu", {x.value}));
      case 1:
        return add_like(x, net.op("HardSwish", {x.value}));
      case 2:
        return pool(x, "MaxPool");
      case 3:
        return pool(x, "AveragePool");
      case 4:
        return squeeze_and_excite(x);
      case 5:
      case 6:
        return join(x);
      case 7:
        return shuffle(x);
      case 8:
        return turn(x);
      case 9:
        return add_like(x, net.op("Add", {x.value, numbers({x.channels, x.height, x.width})}));
      case 10:
        return add_like(x, net.op("PRelu", {x.value, numbers({x.channels, 1, 1})}));
      case 11:
        return add_like(x, net.op("Sub", {numbers({1, x.channels, x.height, x.width}), x.value}));
      case 12:
        return add_like(x, net.op("BatchNormalization", {x.value, numbers({x.channels}, 0.5, 1), numbers({x.channels}),
                                                         numbers({x.channels}), numbers({x.channels}, 0.5, 1)}));
      default:
        return rng_.integer(0, 2) == 0 ? more(kind, x) : conv(x);
    }
  }

  Rng rng_;
  std::vector<Image> values_;
};

}  // namespace

TEST_CASE("networks give the reference's outputs whatever the layouts of their values") {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const RandomNet random(seed);
    INFO("seed " << seed);
    require_same_result(random.net.model, 2e-4);
  }
}

TEST_CASE("elements of every size pass between operators that want other layouts") {
  for (const DType type : {DType::kF64, DType::kF16, DType::kF32}) {
    INFO(name(type));
    Net net;
    Value* x = net.op("Cast", {net.input({1, 3, 6, 6})}, {{"to", static_cast<int64_t>(type), ""}});
    Value* pooled = net.op("MaxPool", {x}, {{"kernel_shape", Ints{2, 2}, ""}});
    Value* joined = net.op("Concat", {pooled, pooled}, {{"axis", int64_t{1}, ""}});
    Value* again = net.op("MaxPool", {joined}, {{"kernel_shape", Ints{2, 2}, ""}});
    net.output(net.op("Cast", {again}, {{"to", int64_t{1}, ""}}));
    require_same_result(net.model, 0);
  }
}

}  // namespace mlopt::test
