#include "core/ir/infer.h"
#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/net.h"
#include "tests/support/rewrite.h"

namespace mlopt::graphopt {
using test::Net;

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
    run_pass(model, replace_experimental, {});
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
      run_pass(model, replace_experimental, {});
      infer(model);
      REQUIRE(test::listed_ops(model) == "Slice 1");
      REQUIRE(test::changed_by(net.model, model).max_abs == 0);
    }
  }
}

TEST_CASE("the complement of the error function becomes that, of the opposite where it is at hand") {
  const auto graph = [](const std::string& nodes) {
    return "g (double[N,3] x) => (double[N,3] y) <double c = {0.7}> { " + nodes + " }";
  };
  CHECK(test::rewritten(replace_experimental, graph("y = Erfc (x)")) == "Erf Sub");
  CHECK(test::rewritten(replace_experimental, graph("n = Neg (x)  y = Erfc (n)")) == "Erf Add");
  for (const char* scaled : {"m = Mul (n, c)", "m = Mul (c, n)"})
    CHECK(test::rewritten(replace_experimental, graph("n = Neg (x)  " + std::string(scaled) + "  y = Erfc (m)")) ==
          "Mul Erf Add");
  CHECK(test::rewritten(replace_experimental, graph("n = Neg (x)  m = Div (n, c)  y = Erfc (m)")) == "Div Erf Add");
  CHECK(test::declined(replace_experimental, graph("y = Erfc (x)"), 8) == "its opset has no Erf");
}

}  // namespace mlopt::graphopt
