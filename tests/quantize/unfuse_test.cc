#include "quantize/unfuse.h"

#include "core/ir/infer.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::quantize {
namespace {

using test::Net;

Net fused(std::vector<Attr> attrs, bool with_sum) {
  Net net;
  net.model.set_opset("com.microsoft", 1);
  Value* x = net.input({1, 4, 6, 6});
  std::vector<Value*> inputs = {x, net.constant(test::uniform({4, 4, 3, 3}, -0.5, 0.5)),
                                net.constant(test::uniform({4}, -1, 1))};
  if (with_sum) inputs.push_back(x);
  attrs.push_back({"pads", std::vector<int64_t>{1, 1, 1, 1}, ""});
  Node* conv = net.graph().add_op("FusedConv", inputs, std::move(attrs), nullptr, "y", 1, "com.microsoft");
  conv->output(0)->type = Type::tensor(DType::kF32, Dims{1, 4, 6, 6});
  net.output(conv->output(0));
  return net;
}

}  // namespace

TEST_CASE("a fused convolution becomes what it was fused from") {
  const auto activation = [](const char* name, std::vector<float> params) {
    std::vector<Attr> attrs = {{"activation", std::string(name), ""}};
    if (!params.empty()) attrs.push_back({"activation_params", std::move(params), ""});
    return attrs;
  };
  const std::vector<std::pair<std::vector<Attr>, std::string>> rows = {
      {{}, "Add 1, Conv 1"},
      {activation("Relu", {}), "Add 1, Conv 1, Relu 1"},
      {activation("LeakyRelu", {0.3f}), "Add 1, Conv 1, LeakyRelu 1"},
      {activation("Clip", {-0.2f, 0.6f}), "Add 1, Clip 1, Conv 1"},
      {activation("HardSigmoid", {0.25f, 0.4f}), "Add 1, Conv 1, HardSigmoid 1"}};
  for (const auto& [attrs, ops] : rows) {
    const Net net = fused(attrs, true);
    Model model = clone(net.model);
    run_pass(model, unfuse, {});
    INFO(ops);
    REQUIRE(test::listed_ops(model) == ops);
    REQUIRE(test::changed_by(net.model, model).max_abs < 1e-6);
  }
}

TEST_CASE("a fused convolution with an activation of its own stays") {
  const Net net = fused({{"activation", std::string("Mystery"), ""}}, false);
  Model model = clone(net.model);
  const PassTally tally = run_pass(model, unfuse, {});
  REQUIRE(test::listed_ops(model) == "FusedConv 1");
  REQUIRE(tally.declined.size() == 1);
}

TEST_CASE("a picture that is scaled becomes a product and a sum") {
  const auto floats = [](const char* name, float value) { return Attr{name, value, ""}; };
  const Attr bias = {"bias", std::vector<float>{1, -2, 3}, ""};
  struct Case {
    const char* op;
    std::vector<Attr> attrs;
    std::string ops;
  };
  for (const Case& c :
       {Case{"ImageScaler", {bias}, "Add 1"}, Case{"ImageScaler", {bias, floats("scale", 0.5f)}, "Add 1, Mul 1"},
        Case{"Affine", {floats("alpha", 3), floats("beta", 2)}, "Add 1, Mul 1"},
        Case{"Affine", {floats("alpha", 3)}, "Mul 1"}}) {
    Net net;
    net.model.set_opset("", 7);
    net.output(net.op(c.op, {net.input({2, 3, 4, 5})}, c.attrs));
    infer(net.model);
    Model model = clone(net.model);
    run_pass(model, unfuse, {});
    REQUIRE(test::listed_ops(model) == c.ops);
    const Difference d = test::changed_by(net.model, model);
    REQUIRE(d.max_abs < 1e-6);
    REQUIRE(d.max_expected > 1);
  }
}

TEST_CASE("a cropped picture becomes a slice") {
  for (const int64_t opset : {7, 13}) {
    for (const bool sized : {false, true}) {
      Net net;
      net.model.set_opset("", opset);
      std::vector<Attr> attrs = {{"border", std::vector<int64_t>{1, 2, 0, sized ? 0 : 1}, ""}};
      if (sized) attrs.push_back({"scale", std::vector<int64_t>{3, 2}, ""});
      net.output(net.op("Crop", {net.input({2, 3, 6, 5})}, attrs));
      infer(net.model);
      Model model = clone(net.model);
      run_pass(model, unfuse, {});
      infer(model);
      REQUIRE(test::listed_ops(model) == "Slice 1");
      REQUIRE(test::changed_by(net.model, model).max_abs == 0);
    }
  }
}

}  // namespace mlopt::quantize
