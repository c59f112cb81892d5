#include "core/base/rng.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

using Ints = std::vector<int64_t>;

Value* numbers(Net& net, const Ints& ints) { return net.constant(Tensor::ints(ints)); }

/// Slices of `dims`, between operators (of channels-last layout where `images`) and by themselves.
void require_sliced(const Dims& dims, const Ints& starts, const Ints& ends, const Ints& axes, const Ints& steps) {
  INFO(to_string(dims) << " starts " << to_string(starts) << " ends " << to_string(ends) << " axes " << to_string(axes)
                       << " steps " << to_string(steps));
  Net net;
  Value* x = net.input(dims);
  const std::vector<Value*> how{numbers(net, starts), numbers(net, ends), numbers(net, axes), numbers(net, steps)};
  const auto slice = [&](Value* v) { return net.op("Slice", {v, how[0], how[1], how[2], how[3]}); };
  net.output(slice(x));
  net.output(net.op("Neg", {slice(net.op("Abs", {x}))}));
  if (dims.size() == 4)
    net.output(net.op("MaxPool", {slice(net.conv(x, dims[1], 5))}, {{"kernel_shape", Ints{1, 1}, ""}}));
  require_same_result(net.model, 1e-5, true);
}

/// A begin, end and step for an axis that take at least one element.
std::array<int64_t, 3> random_span(Rng& rng, int64_t length) {
  const int64_t step = rng.integer(1, 3) * (rng.integer(0, 1) == 0 ? 1 : -1);
  const int64_t a = rng.integer(0, length - 1), b = rng.integer(a, length - 1);
  const auto named = [&](int64_t place) { return rng.integer(0, 1) == 0 ? place : place - length; };
  if (step > 0) return {named(a), b + 1 == length ? 1000 : named(b + 1), step};
  return {named(b), a == 0 ? -1000 : named(a - 1), step};
}

}  // namespace

TEST_CASE("slices of any axes and steps are the reference's, in any layout") {
  Rng rng(7);
  for (int round = 0; round < 60; ++round) {
    const Dims dims = round % 2 == 0 ? Dims{2, 5, 7, 6} : Dims{3, 1, 9};
    Ints starts, ends, axes, steps;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      if (rng.integer(0, 1) == 0) continue;
      if (round % 2 == 0 && axis == 1 && rng.integer(0, 1) == 0) continue;
      const auto [start, end, step] = random_span(rng, dims[axis]);
      starts.push_back(start), ends.push_back(end), steps.push_back(step);
      axes.push_back(rng.integer(0, 1) == 0 ? static_cast<int64_t>(axis)
                                            : static_cast<int64_t>(axis) - static_cast<int64_t>(dims.size()));
    }
    if (!axes.empty()) require_sliced(dims, starts, ends, axes, steps);
  }
}

TEST_CASE("slices of slices are views of one tensor, and what reads them may work in place") {
  Net net;
  Value* x = net.op("Neg", {net.input({6, 4, 5})});
  Value* a = net.op("Slice", {x, numbers(net, {1}), numbers(net, {5}), numbers(net, {0})});
  Value* b = net.op("Slice", {a, numbers(net, {-2}), numbers(net, {4}), numbers(net, {0})});
  Value* c = net.op("Slice", {a, numbers(net, {0}), numbers(net, {2}), numbers(net, {0})});
  net.output(net.op("Add", {net.op("Relu", {b}), net.op("Abs", {c})}));
  net.output(b);
  net.output(net.op("Exp", {net.op("Slice", {a, numbers(net, {0, 1}), numbers(net, {1, 3}), numbers(net, {0, 1})})}));
  require_same_result(net.model, 1e-6, true);
}

TEST_CASE("old slices keep their limits in attributes, and elements may have any size") {
  for (const DType type : {DType::kF64, DType::kI64, DType::kF16, DType::kU8, DType::kBool}) {
    INFO(name(type));
    Net net;
    Value* x = net.op("Mul", {net.input({4, 6}), net.constant(tensor({}, {50}))});
    x = net.op("Cast", {net.op("Abs", {x})}, {{"to", static_cast<int64_t>(type), ""}});
    Value* y = net.op("Slice", {x, numbers(net, {1, 1}), numbers(net, {9, 5})});
    net.output(net.op("Cast", {y}, {{"to", int64_t{1}, ""}}));
    require_same_result(net.model, 0, true);
  }
  Net old;
  old.model.set_opset("", 9);
  old.output(
      old.op("Slice", {old.input({3, 8})}, {{"starts", Ints{-2}, ""}, {"ends", Ints{7}, ""}, {"axes", Ints{1}, ""}}));
  require_same_result(old.model, 0, true);
}

TEST_CASE("Crop takes the middle of a picture, in any layout") {
  for (const Ints& size : {Ints{}, Ints{3, 2}}) {
    Net net;
    net.model.set_opset("", 9);
    const std::vector<Attr> attrs{{"border", Ints{1, 2, 3, 0}, ""}, {"scale", size, ""}};
    Value* x = net.input({1, 3, 8, 9});
    net.output(net.op("Crop", {x}, attrs));
    const std::vector<Attr> pads{{"pads", Ints{1, 1, 1, 1}, ""}};
    Value* w = net.constant(uniform({4, 3, 3, 3}, -1, 1));
    net.output(
        net.op("MaxPool", {net.op("Crop", {net.op("Conv", {x, w}, pads)}, attrs)}, {{"kernel_shape", Ints{1, 1}, ""}}));
    require_same_result(net.model, 1e-5, true);
  }
}

TEST_CASE("Split gives equal or given pieces of any axis, in any layout") {
  for (const Dims& dims : {Dims{6, 12, 3, 6}, Dims{1, 6, 1, 12}, Dims{12, 6}})
    for (int64_t axis = -2; axis < static_cast<int64_t>(dims.size()) - 2; ++axis) {
      const int64_t length = dims[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(dims.size()) : axis)];
      if (length < 3) continue;
      INFO(to_string(dims) << " axis " << axis);
      Net net;
      Value* x = net.input(dims);
      if (dims.size() == 4) x = net.conv(x, dims[1], dims[1]);
      const auto split = [&](Value* v, std::vector<Value*> inputs, int pieces) {
        inputs.insert(inputs.begin(), v);
        std::vector<Attr> attrs{{"axis", axis, ""}};
        if (inputs.size() == 1) attrs.push_back({"num_outputs", int64_t{pieces}, ""});
        const Node* node = net.graph().add_op("Split", inputs, attrs, nullptr, "piece", pieces);
        for (Value* piece : node->outputs()) net.output(net.op("Sigmoid", {piece}));
      };
      split(x, {numbers(net, {1, length - 2, 1})}, 3);
      split(net.op("Neg", {x}), {}, 3);
      require_same_result(net.model, 1e-5, true);
    }
}

}  // namespace mlopt::test
