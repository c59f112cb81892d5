#include "graphopt/equal_sizes.h"

#include "core/base/text.h"
#include "graphopt/implied_sizes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

std::string text_of(const std::map<std::string, Dim>& sizes) {
  std::vector<std::string> all;
  for (const auto& [name, dim] : sizes) all.push_back(name + "=" + dim.str());
  return join(all, " ");
}

std::string equal(const std::string& graph) {
  Model model = test::fixture(graph);
  infer(model);
  return text_of(graphopt::equal_sizes(model));
}

std::string likely(const std::string& graph) { return text_of(graphopt::likely_sizes(test::fixture(graph), nullptr)); }

/// A cache [C, 2, P, 4] before keys [B, 2, N, 4], and what is done to both.
std::string cache(const std::string& then) {
  return "g (double[B,2,N,4] x, double[C,2,P,4] p, double[D,2,Q,4] q, double[E,1,M,T] m) => (double[U,2,V,W] y) { "
         "k = Concat <axis = 2> (p, x)  v = Concat <axis = -2> (q, x)  t = Transpose <perm = [0, 1, 3, 2]> (k)  " +
         then + " }";
}

}  // namespace

TEST_CASE("axes that Concat does not join are equal") {
  CHECK(equal(cache("y = Add (k, v)")) == "B=D C=D");
  CHECK(equal(cache("y = Relu (k)")) == "B=C");
}

TEST_CASE("a product of matrices says how many rows there are") {
  CHECK(equal(cache("s = MatMul (x, t)  y = MatMul (s, v)")) == "B=D C=D P=Q");
  CHECK(equal("g (double[A,B] x, double[C,D] z) => (double[A,D] y) { y = MatMul (x, z) }") == "B=C");
}

TEST_CASE("equal multiples are of equal sizes") {
  const auto doubled = [](const std::string& third) {
    return "g (double[A,3] x, double[B,3] z) => (double[U,6] y) { a = Concat <axis = 0> (x, x)  b = Concat <axis = 0> "
           "(z, z" +
           third + ")  y = Concat <axis = 1> (a, b) }";
  };
  CHECK(equal(doubled("")) == "A=B");
  CHECK(equal(doubled(", z")).empty());
}

TEST_CASE("a sum says so for data only, as one side may be 1") {
  const std::string graph = cache("s = MatMul (x, t)  a = Add (s, m)  y = MatMul (a, v)");
  CHECK(equal(graph) == "B=D C=D");
  CHECK(likely(graph) == "B=E C=E D=E M=N P=Q T=Q+N");
}

TEST_CASE("so does whatever else broadcasts, as a mask of padding does") {
  CHECK(likely("g (double[N,S] x, bool[M,T] m, double k) => (double[A,B] y) { y = Where (m, x, k) }") == "M=N S=T");
  CHECK(likely("g (bool[N,S] x, bool[M,T] m) => (bool[A,B] y) { y = And (m, x) }") == "M=N S=T");
  CHECK(likely("g (double[N,S] x, double[1,T] m) => (double[A,B] y) { y = Min (m, x) }") == "S=T");
  CHECK(likely("g (double[N,S] x, double[S,T] m) => (double[N,T] y, double[N,S] z) "
               "{ y = MatMul (x, m)  z = Relu (x) }")
            .empty());
}

TEST_CASE("so do places that count along a mask, and the names of outputs") {
  const auto masked = [](const std::string& first, const std::string& outputs, const std::string& mask = "m") {
    return "g (bool[M,T] m, double[B,N,4] x, double[B,P,4] p) => (" + outputs +
           ") <int64 zero = {0}, int64 one = {1}, int64[3] rows = {1, 2, 3}, int64[3] columns = "
           "{0, 1, 2}, int64[1] rest = {-1}> { c = Concat <axis = 1> (p, x)  z = Relu (c)  b0 = "
           "Shape <end = 1> (x)  "
           "b = Squeeze (b0)  k0 = Shape <start = 1, end = 2> (c)  k = Squeeze (k0)  i = Range (" +
           first +
           ", b, one)  j = Range (zero, k, one)  i4 = Unsqueeze (i, rows)  j4 = Unsqueeze (j, columns)  both = Max "
           "(i4, "
           "j4)  shape = Shape (both)  ie = Expand (i4, shape)  je = Expand (j4, shape)  four = Constant <value = "
           "int64[1] {4}> ()  ic = Unsqueeze (ie, four)  jc = Unsqueeze (je, four)  at = Concat <axis = -1> (ic, jc)  "
           "mi = Cast <to = 7> (m)  all = Concat <axis = 0> (b0, rest)  mr = Reshape (mi, all)  mb = Cast <to = 9> "
           "(mr)  "
           "y = GatherND (" +
           mask + ", at) }";
  };
  const std::string outputs = "bool[U,1,1,V] y, double[B,W,4] z";
  CHECK(likely(masked("zero", outputs)) == "B=M T=P+N");
  CHECK(likely(masked("zero", outputs, "mb")) == "B=M T=P+N");
  CHECK(likely(masked("one", outputs)).empty());
  CHECK(equal(masked("zero", outputs)).empty());
  const auto named = [](const std::string& axis) {
    return likely("g (bool[B,T] m, double[B,N,4] x, double[B,P,4] p) => (double[B," + axis +
                  ",4] y, bool[B,U] z) { y = Concat <axis = 1> (p, x)  z = Not (m) }");
  };
  CHECK(named("T") == "T=P+N");
  CHECK(named("W").empty());
}

TEST_CASE("what no run meets, other ranks and other sizes say nothing") {
  CHECK(equal("g (double[A,3] x, double[B,3] z) => (double[A,3] y) { c = Concat <axis = 1> (x, z)  y = Relu (x) }")
            .empty());
  CHECK(equal("g (double[A,3] x, double[B,3] z) => (double[U,3] y) { y = Concat <axis = 0> (x, z) }").empty());
  CHECK(equal("g (double[A,3] x, double[5,3] z) => (double[U,6] y) { y = Concat <axis = 1> (x, z) }").empty());
}

TEST_CASE("inputs have one name for equal sizes while passes run") {
  Model model = test::fixture("g (double[A,3] x, double[B,3] z) => (double[U,6] y) { y = Concat <axis = 1> (x, z) }");
  infer(model);
  const graphopt::ImpliedSizes implied(model);
  CHECK((*model.graph->inputs()[0]->type.dims)[0] == (*model.graph->inputs()[1]->type.dims)[0]);
  implied.restore(model);
  CHECK(to_string(*model.graph->inputs()[0]->type.dims) == "[A,3]");
  CHECK(to_string(*model.graph->inputs()[1]->type.dims) == "[B,3]");
}
