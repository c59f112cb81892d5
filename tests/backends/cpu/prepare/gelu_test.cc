#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

struct Spelling {
  bool quotient, half_first, half_inside;
  double root = std::sqrt(2.0);
};

Model spelt(const Spelling& s) {
  Net net;
  const auto number = [&](double x) { return net.constant(tensor({}, {x})); };
  Value* x = net.input({5, 7});
  Value* scaled = s.quotient ? net.op("Div", {x, number(s.root)}) : net.op("Mul", {x, number(1 / s.root)});
  Value* factor = net.op("Add", {net.op("Erf", {scaled}), number(1)});
  if (s.half_inside) {
    net.output(net.op("Mul", {net.op("Mul", {number(0.5), factor}), x}));
  } else if (s.half_first) {
    net.output(net.op("Mul", {net.op("Mul", {x, number(0.5)}), factor}));
  } else {
    net.output(net.op("Mul", {net.op("Mul", {x, factor}), number(0.5)}));
  }
  return std::move(net.model);
}

}  // namespace

TEST_CASE("GELU becomes one operator however it is spelt") {
  for (const Spelling& s : {Spelling{true, false, false}, {false, true, false}, {true, false, true}}) {
    const Model model = spelt(s);
    REQUIRE(prepared_ops(model) == "Gelu 1");
    require_same_result(model, 1e-6);
  }
}

TEST_CASE("what only looks like GELU stays as it is") {
  const Model model = spelt({true, false, false, 1.5});
  REQUIRE(prepared_ops(model).find("Gelu") == std::string::npos);
  require_same_result(model, 1e-6);
}

}  // namespace mlopt::test
