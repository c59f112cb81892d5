#include "core/base/rng.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

using Ints = std::vector<int64_t>;

void require_padded(const Dims& dims, const Ints& pads, const std::string& mode, DType type = DType::kF32) {
  INFO(to_string(dims) << " by " << to_string(pads) << ", " << mode << ", " << name(type));
  Net net;
  Value* x = net.op("Mul", {net.input(dims), net.constant(tensor({}, {50}))});
  x = net.op("Cast", {net.op("Abs", {x})}, {{"to", static_cast<int64_t>(type), ""}});
  std::vector<Value*> inputs{x, net.constant(Tensor::ints(pads))};
  if (mode == "constant") inputs.push_back(net.constant(tensor({}, {3}, type)));
  Value* y = net.op("Pad", inputs, {{"mode", mode, ""}});
  net.output(net.op("Cast", {y}, {{"to", int64_t{1}, ""}}));
  require_same_result(net.model, 0, true);
}

}  // namespace

TEST_CASE("tensors are padded and cropped in every mode") {
  Rng rng(3);
  for (const std::string mode : {"constant", "reflect", "edge", "wrap"})
    for (int round = 0; round < 30; ++round) {
      const Dims dims = round % 3 == 0 ? Dims{4, 5} : round % 3 == 1 ? Dims{2, 3, 4, 5} : Dims{3, 1, 6};
      Ints pads(2 * dims.size(), 0);
      for (size_t i = 0; i < pads.size(); ++i)
        if (rng.integer(0, 2) > 0) {
          // Modes that repeat what is left of an axis never see it cropped to nothing here.
          const int64_t length = dims[i % dims.size()], most = mode == "reflect" ? std::min<int64_t>(length - 1, 3) : 3;
          pads[i] = rng.integer(mode == "constant" && length > 3 ? -1 : 0, most);
        }
      require_padded(dims, pads, mode);
    }
}

TEST_CASE("elements of any size are padded") {
  for (const DType type : {DType::kF64, DType::kI64, DType::kU8, DType::kF16}) {
    require_padded({3, 4}, {1, 0, 0, 2}, "constant", type);
    require_padded({3, 4}, {1, 0, 0, 2}, "edge", type);
  }
  require_padded({40, 90, 31}, {1, 1, 1, 1, 1, 1}, "constant");  // enough for several threads
}

TEST_CASE("axes may be named, and without a number zeros fill") {
  Net net;
  net.output(net.op("Pad", {net.input({2, 3, 4}), net.constant(Tensor::ints({1, 2, 0, 1})), nullptr,
                            net.constant(Tensor::ints({-1, 0}))}));
  require_same_result(net.model, 0, true);
  Net old;
  old.model.set_opset("", 10);
  old.output(old.op("Pad", {old.input({2, 3})}, {{"pads", Ints{0, 1, 2, 0}, ""}, {"value", 1.5f, ""}}));
  require_same_result(old.model, 0, true);
}

TEST_CASE("what is padded may be channels-last") {
  for (const std::string mode : {"constant", "reflect", "edge"}) {
    INFO(mode);
    Net net;
    Value* x = net.conv(net.input({1, 3, 6, 5}), 3, 4);
    Value* y = net.op("Pad", {x, net.constant(Tensor::ints({0, 0, 1, 2, 0, 0, 3, 1}))}, {{"mode", mode, ""}});
    Value* z = net.op("Pad", {y, net.constant(Tensor::ints({0, 1, 0, 0, 0, 2, 0, 0}))}, {{"mode", mode, ""}});
    net.output(net.conv(z, 7, 3));
    require_same_result(net.model, 1e-4, true);
  }
}

}  // namespace mlopt::test
