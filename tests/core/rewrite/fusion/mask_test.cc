#include "core/rewrite/fusion/mask.h"

#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// The value m of a graph of this text.
bool leaves_keys(const std::string& inputs, const std::string& constants, const std::string& nodes) {
  const Model model = test::fixture("g (float[2] x" + inputs + ") => (float[2] y) <float zero = {0}" + constants +
                                    "> { " + nodes + " y = Relu (x) }");
  return fusion::leaves_keys(model.graph->find("m"));
}

/// The name of what the mask m, made of c, hides keys by for all queries; empty: there is none.
std::string padding(const std::string& c, const std::string& like, const std::string& nodes) {
  Model model = test::fixture("g (bool[" + c + "] c, float[" + like +
                                  "] like) => (float y) <float zero = {0}, float low = {-1e9}, float one = {1}, float "
                                  "bad = {nan}, bool t = {1}, int64[2] l01 = "
                                  "{0, 1}, int64[2] l12 = {1, 2}, int64[2] l13 = {1, 3}> { shape = Shape (like)  " +
                                  nodes + "  y = ReduceSum <keepdims = 0> (m) }",
                              17);
  infer(model);
  const auto found = fusion::padding_of(model.graph->find("m"));
  return found ? found->keys->name : "";
}

}  // namespace

TEST_CASE("keys are left by no mask, finite numbers, and constants that hide no row whole") {
  CHECK(fusion::leaves_keys(nullptr));
  CHECK(leaves_keys("", ", float[2,3] m = {0, -inf, -inf, -inf, -inf, 0}", ""));
  CHECK(leaves_keys("", ", float[3] m = {-1e30, -1e30, -1e30}", ""));
  CHECK(leaves_keys(", bool[2,3] seen", ", float low = {-1e9}", "m = Where (seen, zero, low)"));
}

TEST_CASE("minus infinity where the run says may hide all") {
  CHECK_FALSE(leaves_keys("", ", float[2,3] m = {0, -inf, -inf, -inf, -inf, -inf}", ""));
  CHECK_FALSE(leaves_keys(", bool[2,3] seen", ", float low = {-inf}", "m = Where (seen, zero, low)"));
  CHECK_FALSE(leaves_keys(", bool[2,3] seen, float[3] other", ", float low = {-1e9}", "m = Where (seen, other, low)"));
  CHECK_FALSE(leaves_keys(", float[2,3] m", "", ""));
}

TEST_CASE("a mask that is repeated for queries is one of keys, whatever repeats it") {
  for (const std::string repeated : {"e = Expand (u, shape)", "w = Expand (t, shape)  e = And (w, u)"}) {
    const std::string end = "  " + repeated + "  m = Where (e, zero, low)";
    CHECK(padding("B,N", "B,1,N,N", "u = Unsqueeze (c, l12)" + end) == "c");
    CHECK(padding("B,N", "B,1,N,N", "u = Unsqueeze (c, l13)" + end).empty());
    CHECK(padding("4,4", "4,1,4,4", "u = Unsqueeze (c, l12)" + end) == "c");
    CHECK(padding("4,4", "4,1,4,4", "u = Unsqueeze (c, l01)" + end).empty());
  }
}

TEST_CASE("numbers that are chosen before they are repeated are those of keys likewise") {
  const std::string chosen = "n = Where (c, zero, low)  ", end = "  m = Expand (u, shape)";
  CHECK(padding("B,N", "B,1,N,N", chosen + "u = Unsqueeze (n, l12)" + end) == "c");
  CHECK(padding("B,N", "B,1,N,N", chosen + "u = Unsqueeze (n, l13)" + end).empty());
  CHECK(padding("4,4", "4,1,4,4", chosen + "u = Unsqueeze (n, l01)" + end).empty());
}

TEST_CASE("what is multiplied by a low number hides keys, by NaN it does not") {
  const std::string nodes = "u = Unsqueeze (c, l12)  n = Cast <to = 1> (u)  r = Sub (one, n)  m = Mul (r, ";
  CHECK(padding("B,N", "B,1,N,N", nodes + "low)") == "c");
  CHECK(padding("B,N", "B,1,N,N", nodes + "bad)").empty());
}
