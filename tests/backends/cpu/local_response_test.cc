#include <cmath>
#include <limits>

#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

std::vector<Attr> attrs_of(int64_t size, float beta = 0.75f) {
  return {{"size", size, ""}, {"alpha", 0.5f, ""}, {"beta", beta, ""}, {"bias", 1.5f, ""}};
}

}  // namespace

TEST_CASE("windows of odd and even sizes, within the channels and beyond") {
  for (const Dims& x : {Dims{1, 6, 5, 7}, Dims{2, 3, 47, 45}, Dims{2, 33, 4}, Dims{3, 70}, Dims{1, 1, 2, 3, 4}})
    for (const int64_t size : {1, 2, 5, 8, 150})
      for (const float beta : {0.75f, 0.5f, 2.0f}) {
        INFO(to_string(x) << " by " << size << " to the power of -" << beta);
        require_as_reference("LRN", {uniform(x, -3, 3)}, {.attrs = attrs_of(size, beta)}, 1e-5);
      }
  require_as_reference("LRN", {uniform({1, 9, 3, 3}, -300, 300)}, {.attrs = {{"size", int64_t{5}, ""}}}, 1e-5);
}

TEST_CASE("between convolutions, whatever the layout") {
  for (const int64_t channels : {3, 64, 70}) {
    INFO(channels << " channels");
    Net net;
    Value* x = net.conv(net.input({2, 3, 19, 23}), 3, channels);
    net.output(net.conv(net.op("LRN", {x}, attrs_of(5)), channels, 5));
    require_same_result(net.model, 1e-4, true);
  }
}

TEST_CASE("what is not finite stays with its neighbours, and sums of nothing are divided by") {
  const double inf = std::numeric_limits<double>::infinity();
  Tensor x = uniform({1, 8, 3}, -1, 1);
  x.mutable_data<float>()[4] = std::nanf("");
  x.mutable_data<float>()[20] = static_cast<float>(-inf);
  require_as_reference("LRN", {x}, {.attrs = attrs_of(3)}, 1e-5);
  const std::vector<Attr> no_bias{{"size", int64_t{3}, ""}, {"bias", 0.0f, ""}};
  require_as_reference("LRN", {tensor({1, 4, 2}, {0, 1, 0, 2, 0, 3, 0, 4})}, {.attrs = no_bias}, 1e-5);
}

}  // namespace mlopt::test
