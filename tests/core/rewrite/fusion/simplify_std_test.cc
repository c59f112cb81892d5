#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

constexpr const char* kRoot = "m = ReduceMean (x, last)  d = Sub (x, m)  q = Mul (d, d)  v = ReduceMean (q, last) ";

std::string graph(const std::string& nodes, const std::string& outputs = "double[N,M,6] y") {
  return "g (double[N,M,6] x, double[6] S, double[6] B) => (" + outputs +
         ") <int64[1] last = {-1}, int64[1] first = {1}, double e = {0.25}, double c = {1.2}> { " + nodes + " }";
}
std::string simplified(const std::string& nodes, int64_t opset = 21) {
  return rewritten(fusion::simplify_std, graph(kRoot + nodes), opset);
}
std::string kept(const std::string& nodes, const std::string& outputs = "double[N,M,6] y") {
  return declined(fusion::simplify_std, graph(kRoot + nodes, outputs));
}

}  // namespace

TEST_CASE("a standard deviation that is kept from zero behind its root is a length") {
  CHECK(simplified("s = Sqrt (v)  t = Add (s, e)  p = Mul (S, d)  z = Div (p, t)  y = Add (z, B)") ==
        "ReduceMean Sub ReduceL2 Add Mul Div Add");
  CHECK(simplified("s = Sqrt (v)  t = Add (e, s)  y = Div (d, t)") == "ReduceMean Sub ReduceL2 Add Div Mul");
}

TEST_CASE("so is that of a sample, whichever way its factor is written") {
  CHECK(simplified("w = Mul (v, c)  s = Sqrt (w)  t = Add (s, e)  y = Div (d, t)") ==
        "ReduceMean Sub ReduceL2 Add Div Mul");
  CHECK(simplified("w = Div (v, c)  s = Sqrt (w)  t = Add (s, e)  p = Mul (d, S)  y = Div (p, t)") ==
        "ReduceMean Sub ReduceL2 Add Mul Div");
}

TEST_CASE("axes are an attribute before opset 18, and channels are one too") {
  CHECK(rewritten(fusion::simplify_std, R"(g (double[N,6,H,W] x) => (double[N,6,H,W] y) <double e = {0.25}>
    { m = ReduceMean <axes = [1]> (x)  d = Sub (x, m)  q = Mul (d, d)  v = ReduceMean <axes = [1]> (q)
      s = Sqrt (v)  t = Add (s, e)  y = Div (d, t) })",
                  13) == "ReduceMean Sub ReduceL2 Add Div Mul");
}

TEST_CASE("a root that others read, a row that is added and an epsilon within stay") {
  CHECK(kept("s = Sqrt (v)  t = Add (s, e)  y = Div (d, t)", "double[N,M,6] y, double[N,M,1] s") ==
        "something else reads the root");
  CHECK(kept("s = Sqrt (v)  t = Add (s, B)  y = Div (d, t)") == "what is added to the root is no number");
  CHECK(kept("w = Add (v, e)  s = Sqrt (w)  t = Add (s, e)  y = Div (d, t)") ==
        "what is added to the root is no number");
  CHECK(kept("s = Sqrt (v)  t = Add (s, e)  y = Div (d, t)  z = Neg (t)", "double[N,M,6] y, double[N,M,1] z") ==
        "the result of Add giving 't' is used elsewhere too");
  CHECK(declined(fusion::simplify_std, R"(g (double[N,M] x) => (double[N,M] y) <int64[1] last = {-1}, double e = {0.25}>
    { q = Mul (x, x)  v = ReduceMean (q, last)  s = Sqrt (v)  t = Add (s, e)  y = Div (x, t) })") ==
        "the length of an axis is not known");
}
