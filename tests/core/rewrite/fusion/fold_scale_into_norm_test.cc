#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

constexpr const char* kLayer = "n = LayerNormalization <axis = -1> (x, ones)  ";

std::string rows(const std::string& nodes) {
  return "g (double[N,4] x, double[4] g, double[4] W, double[4] V, double[1] One, double[4,1] Column) => (double[N,4] "
         "y) "
         "<double[4] ones = {1, 1, 1, 1}> { " +
         nodes + " }";
}

std::string images(const std::string& nodes) {
  return "g (double[N,3,H,5] x, double[3,1,1] W, double[1,3,1,1] V, double[5] Row, double[3] B) => (double[N,3,H,5] y) "
         "<double[3] ones = {1, 1, 1}, double[3] zeros = {0, 0, 0}> { " +
         nodes + " }";
}

}  // namespace

TEST_CASE("what multiplies a normalization whose scale is 1 becomes its scale") {
  CHECK(rewritten(fusion::fold_scale_into_norm, rows(std::string(kLayer) + "y = Mul (n, W)"), 17) ==
        "LayerNormalization");
  CHECK(rewritten(fusion::fold_scale_into_norm, rows(std::string(kLayer) + "y = Mul (g, n)"), 17) ==
        "LayerNormalization");
  CHECK(rewritten(fusion::fold_scale_into_norm, rows("n = RMSNormalization <axis = -1> (x, ones)  y = Mul (n, g)"),
                  23) == "RMSNormalization");
}

TEST_CASE("two constant scales become their product") {
  const std::string twice = "n = LayerNormalization <axis = -1> (x, W)  y = Mul (n, V)";
  CHECK(rewritten(fusion::fold_scale_into_norm, rows(twice), 17) == "LayerNormalization");
  CHECK(declined(fusion::fold_scale_into_norm, rows("n = LayerNormalization <axis = -1> (x, W)  y = Mul (n, g)"), 17) ==
        "the normalization has a scale or a bias");
}

TEST_CASE("what is added to a normalization without bias becomes its bias") {
  CHECK(rewritten(fusion::fold_scale_into_norm, rows("n = LayerNormalization <axis = -1> (x, W)  y = Add (n, g)"),
                  17) == "LayerNormalization");
  CHECK(rewritten(fusion::fold_scale_into_norm, rows(std::string(kLayer) + "m = Mul (n, W)  y = Add (V, m)"), 17) ==
        "LayerNormalization");
}

TEST_CASE("a factor behind a bias, and a second bias, stay") {
  const std::string biased = "n = LayerNormalization <axis = -1> (x, ones, W)  ";
  CHECK(declined(fusion::fold_scale_into_norm, rows(biased + "y = Mul (n, V)"), 17) ==
        "the normalization has a scale or a bias");
  CHECK(declined(fusion::fold_scale_into_norm, rows(biased + "y = Add (n, V)"), 17) == "the normalization has a bias");
}

TEST_CASE("factors and addends of other shapes than the normalized axes stay") {
  const std::string square =
      "g (double[4,4] x, double[4,1] Column, double[1] One) => (double[4,4] y) <double[4] ones = {1, 1, 1, 1}> { ";
  CHECK(declined(fusion::fold_scale_into_norm, square + kLayer + "y = Mul (n, Column) }", 17) ==
        "the factor is not as long as the normalized axes");
  CHECK(declined(fusion::fold_scale_into_norm, square + kLayer + "y = Mul (n, One) }", 17) ==
        "the factor is not as long as the normalized axes");
  CHECK(declined(fusion::fold_scale_into_norm, square + kLayer + "y = Add (n, Column) }", 17) ==
        "the addend is not as long as the normalized axes");
  CHECK(declined(fusion::fold_scale_into_norm, rows(std::string(kLayer) + "y = Add (n, x)"), 17) ==
        "the addend is not as long as the normalized axes");
}

TEST_CASE("a normalization that something else reads stays") {
  CHECK(declined(fusion::fold_scale_into_norm, rows(std::string(kLayer) + "m = Mul (n, W)  y = Sub (m, n)"), 17) ==
        "the result of LayerNormalization giving 'n' is used elsewhere too");
}

TEST_CASE("a normalization whose mean is used too stays") {
  const std::string both =
      "g (float[N,4] x, float[4] W) => (float[N,4] y, float[N,1] m) <float[4] ones = {1, 1, 1, 1}> { "
      "n, m = LayerNormalization <axis = -1> (x, ones)  y = ";
  CHECK(declined(fusion::fold_scale_into_norm, both + "Mul (n, W) }", 17) == "its mean or its deviation is used too");
  CHECK(declined(fusion::fold_scale_into_norm, both + "Add (n, W) }", 17) == "its mean or its deviation is used too");
}

TEST_CASE("constants for each channel behind an InstanceNormalization become its scale and its bias") {
  const std::string norm = "n = InstanceNormalization (x, ones, zeros)  ";
  CHECK(rewritten(fusion::fold_scale_into_norm, images(norm + "y = Mul (n, W)")) == "InstanceNormalization");
  CHECK(rewritten(fusion::fold_scale_into_norm, images(norm + "m = Mul (V, n)  y = Add (m, W)")) ==
        "InstanceNormalization");
}

TEST_CASE("other constants, and a factor behind a bias, stay behind an InstanceNormalization") {
  const std::string reason = "no factor or addend for each channel";
  CHECK(declined(fusion::fold_scale_into_norm,
                 images("n = InstanceNormalization (x, ones, zeros)  y = Mul (n, Row)")) == reason);
  CHECK(declined(fusion::fold_scale_into_norm, images("n = InstanceNormalization (x, ones, B)  y = Mul (n, W)")) ==
        reason);
  CHECK(declined(fusion::fold_scale_into_norm, images("n = InstanceNormalization (x, B, zeros)  y = Mul (n, W)")) ==
        reason);
}
