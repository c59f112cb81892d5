#include <cmath>
#include <limits>

#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

using Ints = std::vector<int64_t>;

struct First {
  Dims x, w;
  Ints strides, pads;
};

// One to three channels, last bands that are smaller, windows longer than high, strides that leave rows out, paddings
// that differ, a panel of one vector and a half.
const First kFirsts[] = {
    {{1, 3, 129, 131}, {64, 3, 3, 3}, {2, 2}, {1, 1, 1, 1}}, {{1, 1, 67, 64}, {64, 1, 5, 3}, {1, 1}, {2, 0, 2, 3}},
    {{2, 2, 75, 90}, {56, 2, 1, 5}, {1, 1}, {0, 2, 0, 2}},   {{1, 3, 200, 150}, {32, 3, 2, 4}, {1, 3}, {3, 0, 0, 1}},
    {{1, 3, 331, 80}, {96, 3, 4, 2}, {5, 1}, {2, 1, 0, 0}},
};

const std::vector<Attr> kHalved{{"strides", Ints{2, 2}, ""}, {"pads", Ints{1, 1, 1, 1}, ""}};

}  // namespace

TEST_CASE("convolutions of pictures of few channels give what the reference gives") {
  for (const First& c : kFirsts) {
    INFO(to_string(c.x) << " with " << to_string(c.w));
    const std::vector<Attr> attrs{{"strides", c.strides, ""}, {"pads", c.pads, ""}};
    Net net;
    Value* weights = net.constant(uniform(c.w, -1, 1));
    Value* x = net.input(c.x);
    Value* y = net.op("Relu", {net.op("Conv", {x, weights, net.constant(uniform({c.w[0]}, -1, 1))}, attrs)});
    y = net.op("Sigmoid", {net.op("Add", {net.op("Conv", {net.op("Tanh", {x}), weights}, attrs), y})});
    net.output(net.op("MaxPool", {y}, {{"kernel_shape", Ints{2, 2}, ""}}));
    require_same_result(net.model, 1e-4);
  }
}

TEST_CASE("convolutions of large pictures are done by tiles, at once with their activation") {
  Net net;
  Value* weights = net.constant(uniform({32, 3, 3, 3}, -1, 1));
  Value* y = net.op("Relu", {net.op("Conv", {net.input({1, 3, 192, 192}), weights}, kHalved)});
  net.output(net.op("MaxPool", {y}, {{"kernel_shape", Ints{2, 2}, ""}}));
  REQUIRE(steps_by(net.model, "tiles") == 1);
}

TEST_CASE("what is not finite in a picture stays so where the reference has it") {
  Tensor x = uniform({1, 3, 193, 160}, -1, 1);
  x.mutable_data<float>()[77] = std::nanf("");
  x.mutable_data<float>()[9001] = -std::numeric_limits<float>::infinity();
  const Tensor weights = uniform({40, 3, 3, 3}, -1, 1), wide = uniform({64, 3, 3, 3}, -1, 1);
  for (const Tensor& w : {weights, wide}) require_as_reference("Conv", {x, w}, {.attrs = kHalved}, 1e-4);
}

}  // namespace mlopt::test
