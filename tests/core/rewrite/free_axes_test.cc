#include "core/rewrite/free_axes.h"

#include <algorithm>

#include "core/ir/verify.h"
#include "core/onnx/infer.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"
#include "tests/support/thrown.h"

using namespace mlopt;

namespace {

std::string output_of(const std::string& graph, const std::vector<FreeAxis>& axes) {
  Model model = test::fixture(graph);
  infer(model, standard_types);
  free_axes(model, axes, standard_types);
  CHECK(verify(model).empty());
  return to_string(model.graph->outputs()[0]->type);
}

std::string refused(const std::vector<FreeAxis>& axes) {
  try {
    output_of("g (float[1,6] x, float[N] m) => (float[1,6] y) { y = Relu (x) }", axes);
  } catch (const Error& e) {
    return e.message;
  }
  return "";
}

}  // namespace

TEST_CASE("an axis is freed, and targets of Reshape follow it") {
  const auto reshaped = [](const std::string& dims, const std::string& made, const std::string& target, int64_t axis) {
    const auto count = std::to_string(1 + std::count(target.begin(), target.end(), ','));
    return output_of("g (float[" + dims + "] x) => (float[" + made + "] y) <int64[" + count + "] t = {" + target +
                         "}> { r = Reshape (x, t)  y = Relu (r) }",
                     {{"x", axis, "B"}});
  };
  CHECK(reshaped("1,6,4", "1,24", "1, 24", 0) == "float32[B,24]");
  CHECK(reshaped("1,6,4", "1,24", "1, -1", 0) == "float32[B,24]");
  CHECK(reshaped("3,6,4", "18,4", "18, 4", 0) == "float32[6*B,4]");
  CHECK(reshaped("1,6,4", "1,6,2,2", "1, 6, 2, 2", 1) == "float32[1,B,2,2]");
  CHECK(reshaped("1,6,4", "1,6,2,2", "1, 6, 2, 2", -2) == "float32[1,B,2,2]");
  CHECK(reshaped("1,6,4", "24", "-1", 0) == "float32[24*B]");
  // An axis of the same size that stays is not taken for it.
  CHECK(reshaped("4,4,6", "4,24", "4, 24", 1) == "float32[4,6*B]");
  CHECK(reshaped("4,4,6", "4,6,4", "4, 6, 4", 1) == "float32[4,6,B]");
  CHECK(reshaped("4,4,6", "4,24", "4, 24", 0) == "float32[B,24]");
  CHECK(reshaped("1,1,6", "1,6", "1, 6", 1) == "float32[1,6*B]");
  CHECK(reshaped("4,6,1", "4,6", "0, 6", 0) == "float32[B,6]");
}

TEST_CASE("a target of which cannot be told what is free is refused") {
  const auto reason = [](const std::string& first, const std::string& second, const std::vector<FreeAxis>& axes) {
    const auto count = [](const std::string& t) { return std::to_string(1 + std::count(t.begin(), t.end(), ',')); };
    const Error error = test::thrown_by([&] {
      output_of("g (float[2,3,4] x) => (float[K,L] y) <int64[" + count(first) + "] s = {" + first + "}, int64[" +
                    count(second) + "] t = {" + second +
                    "}> { r = Reshape (x, s)  q = Reshape (r, t)  y = Flatten (q) }",
                axes);
    });
    CHECK(error.code == Code::kUnsupported);
    return error.message;
  };
  const std::string held = "constants of the model hold the axis to its size: ";
  const std::string untold = held + "which entry of its target is free cannot be told";
  CHECK(reason("6, 4", "2, 3, 4", {{"x", 0, "A"}, {"x", 1, "B"}}) == untold);
  CHECK(reason("2, 12", "2, 2, 6", {{"x", 2, "B"}}) == untold);
  CHECK(reason("2, 3, 4", "6, -1", {{"x", 0, "A"}}) == held + "two entries of its target are free");
}

TEST_CASE("an axis of length 0 divides nothing") {
  CHECK(output_of("g (float[0,6] x) => (float[0,6] y) <int64[2] t = {-1, 6}> { r = Reshape (x, t)  y = Relu (r) }",
                  {{"x", 0, "B"}}) == "float32[B,6]");
  CHECK(output_of("g (float[3,0,6] x) => (float[3,6] y) <int64[1] axes = {1}, int64[2] t = {3, 6}> "
                  "{ s = ReduceSum <keepdims = 0> (x, axes)  r = Reshape (s, t)  y = Relu (r) }",
                  {{"x", 1, "B"}}) == "float32[3,6]");
}

TEST_CASE("targets in bodies, after them and after one another follow") {
  CHECK(output_of(R"(g (float[1,6,4] x, bool c) => (float[1,24] y) <int64[2] t = {1, 24}, int64[3] u = {1, 4, 6}> {
    a = Reshape (x, u)
    b = If (c) <then_branch = p () => (float[1,24] v) { v = Reshape (a, t) },
                else_branch = q () => (float[1,24] w) { r = Reshape (a, t)  w = Neg (r) }>
    d = Reshape (b, u)  y = Reshape (d, t) })",
                  {{"x", 0, "B"}}) == "float32[B,24]");
}

TEST_CASE("a Reshape for nothing follows too") {
  CHECK(output_of(R"(g (float[1,6] x) => (float[1,6] y) <int64[2] t = {1, 6}> { "" = Reshape (x, t)  y = Relu (x) })",
                  {{"x", 0, "B"}}) == "float32[B,6]");
}

TEST_CASE("what is no fixed axis of an input is not freed") {
  CHECK(refused({{"z", 0, "B"}}) == "no input is called 'z'");
  CHECK(refused({{"x", 2, "B"}}) == "'x' has no axis 2");
  CHECK(refused({{"m", 0, "B"}}) == "axis 0 of 'm' is free already");
}
