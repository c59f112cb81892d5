#include <cmath>

#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/net.h"
#include "tests/support/rewrite.h"

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

TEST_CASE("numbers that are NaN are not GELU's") {
  const auto why = [](const std::string& root, const std::string& half) {
    return declined(fusion::fuse_gelu, "g (float[3] x) => (float[3] y) <float root = {" + root +
                                           "}, float one = {1}, float half = {" + half + R"(}>
      { a = Div (x, root)  e = Erf (a)  f = Add (e, one)  p = Mul (f, x)  y = Mul (p, half) })");
  };
  CHECK(contains(why("nan", "0.5"), "another function of x than GELU's"));
  CHECK(contains(why("1.4142135", "nan"), "not half of a product of two"));
}

TEST_CASE("so does its approximation by tanh") {
  constexpr double kRoot = 0.7978845608, kCube = 0.044715;
  for (const int way : {0, 1, 2, 3}) {
    INFO("spelling " << way);
    Net net;
    const auto number = [&](double v) { return net.constant(tensor(way == 1 ? Dims{1, 1} : Dims{}, {v})); };
    const auto times = [&](Value* a, Value* b) { return net.op("Mul", {a, b}); };
    Value* x = net.op("Tanh", {net.input({5, 7})});
    Value *cube = nullptr, *inner = nullptr;
    if (way == 0) cube = times(number(kCube), net.op("Pow", {x, number(3)}));
    if (way == 1) cube = times(x, times(x, times(x, number(kCube))));
    if (way == 2) cube = times(times(net.op("Pow", {x, number(2)}), x), number(kCube));
    if (way == 3)  // x root (1 + cube x^2)
      inner = times(times(x, number(kRoot)), net.op("Add", {times(times(x, number(kCube)), x), number(1)}));
    else
      inner = times(number(kRoot), net.op("Add", {x, cube}));
    Value* factor = net.op("Add", {number(1), net.op("Tanh", {inner})});
    net.output(way % 2 == 0 ? times(times(number(0.5), x), factor) : times(x, times(number(0.5), factor)));
    REQUIRE(prepared_ops(net.model) == "Gelu 1, Tanh 1");
    require_same_result(net.model, 1e-6);
  }
}

TEST_CASE("other polynomials, and factors that are read again, are not GELU's") {
  for (const bool again : {false, true}) {
    Net net;
    const auto number = [&](double v) { return net.constant(tensor({}, {v})); };
    Value* x = net.input({5, 7});
    Value* inner = net.op("Mul", {net.op("Add", {x, net.op("Mul", {net.op("Pow", {x, number(3)}), number(0.044715)})}),
                                  number(again ? 0.7978845608 : 0.75)});
    Value* factor = net.op("Add", {net.op("Tanh", {inner}), number(1)});
    net.output(net.op("Mul", {net.op("Mul", {x, number(0.5)}), factor}));
    if (again) net.output(net.op("Neg", {factor}));
    REQUIRE(prepared_ops(net.model).find("Gelu") == std::string::npos);
    require_same_result(net.model, 1e-6);
  }
}

TEST_CASE("GELU is what the target has") {
  const char* graph =
      R"(g (float[N] x) => (float[N] y) <float root = {1.41421356}, float one = {1}, float half = {0.5}> {
    q = Div (x, root)  e = Erf (q)  s = Add (e, one)  p = Mul (x, s)  y = Mul (p, half) })";
  CHECK(rewritten(fusion::fuse_gelu, graph, 20, 1e-6) == "Gelu");
  CHECK(rewritten(fusion::fuse_gelu, graph, 17, 1e-6, Target::kOrt) == "Gelu");
  CHECK(declined(fusion::fuse_gelu, graph, 19) == "Gelu needs opset 20; not half of a product of two");
}

TEST_CASE("numbers in float16 are GELU's within what rounding makes of them") {
  // As bits: 0.5, 1 and the root of 2, or 1.5.
  const auto text = [](const std::string& root) {
    return "g (float16[N,8] x) => (float16[N,8] y) <float16 half = {14336}, float16 one = {15360}, float16 root = {" +
           root + "}> { d = Div (x, root)  e = Erf (d)  a = Add (e, one)  p = Mul (x, a)  y = Mul (p, half) }";
  };
  CHECK(rewritten(fusion::fuse_gelu, text("15784"), 17, 1e-2, Target::kOrt) == "Gelu");
  CHECK(declined(fusion::fuse_gelu, text("15872"), 17, Target::kOrt).find("another function of x than GELU's") !=
        std::string::npos);
}

TEST_CASE("ONNX Runtime's FastGelu takes no single number") {
  const auto fused = [](const std::string& dims) {
    return declined(fusion::fuse_gelu,
                    "g (float" + dims + " x) => (float" + dims + R"( y) <float c = {0.044715}, float three = {3},
                    float root = {0.7978845608}, float one = {1}, float half = {0.5}>
      { p = Pow (x, three)  q = Mul (p, c)  r = Add (x, q)  s = Mul (r, root)  t = Tanh (s)  u = Add (t, one)
        v = Mul (x, half)  y = Mul (v, u) })",
                    17, Target::kOrt);
  };
  CHECK(fused("").starts_with("FastGelu takes no single number"));
}

}  // namespace mlopt::test
