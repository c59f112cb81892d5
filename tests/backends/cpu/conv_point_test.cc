#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::test {

TEST_CASE("convolutions of one tap give what the reference gives") {
  for (const auto& [from, to] : {std::pair<int64_t, int64_t>{16, 40}, {7, 3}, {1, 64}, {64, 1}, {33, 130}}) {
    INFO(from << " to " << to);
    Net net;
    const auto conv = [&](Value* x, int64_t in, int64_t out) {
      return net.op("Conv", {x, net.constant(uniform({out, in, 1, 1}, -1, 1)), net.constant(uniform({out}, -1, 1))});
    };
    Value* x = net.op("MaxPool", {net.input({2, from, 14, 9})}, {{"kernel_shape", std::vector<int64_t>{2, 2}, ""}});
    Value* y = net.op("Relu", {conv(x, from, to)});
    y = net.op("Tanh", {net.op("Add", {conv(y, to, from), x})});
    net.output(net.op("MaxPool", {y}, {{"kernel_shape", std::vector<int64_t>{2, 2}, ""}}));
    require_same_result(net.model, 2e-5);
  }
}

}  // namespace mlopt::test
