#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

TEST_CASE("the logarithm of a softmax is one operator, along the same axis") {
  const auto graph = [](const std::string& attributes) {
    return "g (double[N,3,4] x) => (double[N,3,4] y) { s = Softmax " + attributes + " (x)  y = Log (s) }";
  };
  CHECK(rewritten(fusion::fuse_log_softmax, graph("")) == "LogSoftmax");
  CHECK(rewritten(fusion::fuse_log_softmax, graph("<axis = 1>")) == "LogSoftmax");
  CHECK(rewritten(fusion::fuse_log_softmax, graph("<axis = 1>"), 11) == "LogSoftmax");
}

TEST_CASE("a softmax that something else reads, and other logarithms, stay") {
  CHECK(declined(fusion::fuse_log_softmax,
                 "g (double[N,4] x) => (double[N,4] y, double[N,4] s) { s = Softmax (x)  y = Log (s) }")
            .find("used elsewhere") != std::string::npos);
  CHECK(declined(fusion::fuse_log_softmax, "g (double[N,4] x) => (double[N,4] y) { s = Sigmoid (x)  y = Log (s) }")
            .empty());
}
