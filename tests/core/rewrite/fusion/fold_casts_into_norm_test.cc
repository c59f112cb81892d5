#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& norm = "LayerNormalization <axis = -1, epsilon = 0.001> (a, ones)",
                  const std::string& type = "float16") {
  return "g (" + type + "[N,4] x, float[4] W) => (" + type +
         "[N,4] y) <float[4] ones = {1, 1, 1, 1}> { a = Cast <to = 1> (x)  n = " + norm +
         "  y = Cast <to = " + (type == "float16" ? "10" : "11") + "> (n) }";
}

}  // namespace

TEST_CASE("a normalization in float32 of numbers of 16 bits needs no Casts") {
  CHECK(rewritten(fusion::fold_casts_into_norm, graph(), 17, 1e-3) == "LayerNormalization");
  CHECK(rewritten(fusion::fold_casts_into_norm, graph("RMSNormalization <axis = -1> (a, ones)"), 23, 1e-3) ==
        "RMSNormalization");
}

TEST_CASE("Casts of other types, and around a scale, stay") {
  CHECK(declined(fusion::fold_casts_into_norm, graph("LayerNormalization <axis = -1> (a, ones)", "double"), 17) ==
        "the Casts are not from 16 bits to float32 and back");
  CHECK(declined(fusion::fold_casts_into_norm, graph("LayerNormalization <axis = -1> (a, W)"), 17) ==
        "it is scaled in float32");
}
