#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

std::string graph(const std::string& sum = "ReduceSum (e, axis)", const std::string& most = "ReduceMax (x, axis)",
                  const std::string& outputs = "double[N,M] y") {
  return "g (double[N,M] x, double[N,M] z) => (" + outputs +
         ") <int64[1] axis = {0}, int64[1] last = {1}> { m = " + most + "  d = Sub (x, m)  e = Exp (d)  s = " + sum +
         "  y = Div (e, s) }";
}

}  // namespace

TEST_CASE("softmax that is written out is one operator") {
  CHECK(rewritten(fusion::fuse_softmax, graph()) == "Softmax");
  CHECK(rewritten(fusion::fuse_softmax, R"(g (double[N,M] x) => (double[N,M] y) {
    m = ReduceMax <axes = [-1]> (x)  d = Sub (x, m)  e = Exp (d)  s = ReduceSum <axes = [1]> (e)  y = Div (e, s) })",
                  11) == "Softmax");
}

TEST_CASE("a maximum of the last of three axes may be written as a pool") {
  const auto text = [](const std::string& shape, const std::string& axis) {
    return "g (double[" + shape + "] x) => (double[" + shape + "] y) <int64[1] axis = {" + axis +
           "}> { m = GlobalMaxPool (x)  d = Sub (x, m)  e = Exp (d)  s = ReduceSum (e, axis)  y = Div (e, s) }";
  };
  CHECK(rewritten(fusion::fuse_softmax, text("N,M,6", "-1")) == "Softmax");
  CHECK(declined(fusion::fuse_softmax, text("N,M,6", "1")) == "not along one axis");
  CHECK(declined(fusion::fuse_softmax, text("N,M,6,6", "3")) == "not along one axis");
}

TEST_CASE("what is no softmax stays") {
  CHECK(declined(fusion::fuse_softmax, graph("ReduceSum (e, last)")) == "not along one axis");
  CHECK(declined(fusion::fuse_softmax, graph("ReduceSum (z, axis)")) == "another sum divides");
  CHECK(declined(fusion::fuse_softmax, graph("ReduceSum (e, axis)", "ReduceMax (z, axis)")) ==
        "another maximum is subtracted");
  CHECK(declined(fusion::fuse_softmax, graph("ReduceSum (e, axis)", "ReduceMax (x, axis)",
                                             "double[N,M] y, double[N,M] e")) == "the powers are used elsewhere too");
  CHECK(declined(fusion::fuse_softmax, R"(g (double[N,M] x) => (double[N,M] y) {
    m = ReduceMax <axes = [0]> (x)  d = Sub (x, m)  e = Exp (d)  s = ReduceSum <axes = [0]> (e)  y = Div (e, s) })",
                 11) == "Softmax takes all later axes too before opset 13");
}

TEST_CASE("the maximum is subtracted once") {
  const auto text = [](const std::string& most, const std::string& softmax) {
    return "g (double[N,M,4] x, double[N,M,4] z) => (double[N,M,4] y) <int64[1] last = {2}, int64[1] middle = {1}> { "
           "m = " +
           most + "  d = Sub (x, m)  y = " + softmax + " (d) }";
  };
  const std::string plain = "ReduceMax (x, last)";
  CHECK(rewritten(fusion::fuse_softmax, text(plain, "Softmax")) == "Softmax");
  CHECK(rewritten(fusion::fuse_softmax, text("ReduceMax (x, middle)", "Softmax <axis = -2>")) == "Softmax");
  CHECK(declined(fusion::fuse_softmax, text(plain, "Softmax <axis = 1>")) == "the maximum of another axis");
  CHECK(declined(fusion::fuse_softmax, text("ReduceMax (z, last)", "Softmax")) == "another maximum is subtracted");
  CHECK(declined(fusion::fuse_softmax, text("ReduceMax (x)", "Softmax")) == "not along one axis");
  CHECK(declined(fusion::fuse_softmax, R"(g (double[N,M,4] x) => (double[N,M,4] y) {
    m = ReduceMax <axes = [1]> (x)  d = Sub (x, m)  y = Softmax <axis = 1> (d) })",
                 11) == "the maximum of another axis");
}
