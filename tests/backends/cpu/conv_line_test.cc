#include <cmath>
#include <limits>

#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

using Ints = std::vector<int64_t>;

struct Line {
  Dims x, w;
  Ints strides, pads;
};

// Windows that overlap and that leave elements out, one axis of several, paddings that differ, one channel, lines of
// several outer axes.
const Line kLines[] = {
    {{1, 1, 64}, {5, 1, 16}, {4}, {0, 0}},
    {{2, 6, 33}, {9, 6, 4}, {1}, {1, 2}},
    {{1, 24, 40}, {70, 24, 5}, {2}, {7, 0}},
    {{1, 3, 50}, {17, 3, 2}, {5}, {0, 0}},
    {{2, 8, 31, 1}, {33, 8, 9, 1}, {1, 1}, {4, 0, 4, 0}},
    {{1, 8, 31, 1}, {16, 8, 9, 1}, {3, 2}, {4, 0, 4, 0}},
    {{2, 12, 7, 19}, {40, 12, 1, 3}, {2, 1}, {0, 1, 0, 1}},
    {{1, 16, 9, 11}, {20, 16, 1, 1}, {2, 3}, {0, 0, 0, 0}},
    {{2, 5, 4, 3, 18}, {18, 5, 1, 1, 7}, {1, 2, 1}, {0, 0, 3, 0, 0, 3}},
    {{1, 16, 3}, {16, 16, 64}, {1}, {40, 41}},
};

}  // namespace

TEST_CASE("convolutions along one axis give what the reference gives") {
  for (const Line& c : kLines) {
    INFO(to_string(c.x) << " with " << to_string(c.w));
    const std::vector<Attr> attrs{{"strides", c.strides, ""}, {"pads", c.pads, ""}};
    Net net;
    Value* weights = net.constant(uniform(c.w, -1, 1));
    Value* x = net.input(c.x);
    Value* y = net.op("Relu", {net.op("Conv", {x, weights, net.constant(uniform({c.w[0]}, -1, 1))}, attrs)});
    net.output(y);
    Value* other = net.op("Conv", {net.op("Tanh", {x}), weights}, attrs);
    net.output(net.op("Softmax", {net.op("Add", {other, y})}));
    require_same_result(net.model, 1e-4, true);
  }
}

TEST_CASE("what is not finite along one axis stays so where the reference has it") {
  const double inf = std::numeric_limits<double>::infinity();
  Tensor x = uniform({1, 4, 20}, -1, 1), weights = uniform({16, 4, 9}, -1, 1);
  x.mutable_data<float>()[33] = std::nanf("");
  x.mutable_data<float>()[50] = static_cast<float>(-inf);
  weights.mutable_data<float>()[4] = static_cast<float>(inf);  // a tap that no padding meets: primitives leave it out
  require_as_reference("Conv", {x, weights}, {.attrs = {{"pads", Ints{4, 4}, ""}}}, 1e-4);
}

}  // namespace mlopt::test
