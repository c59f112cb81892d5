#include "graphopt/passes/lanes.h"

#include <fmt/core.h>

#include "core/ir/infer.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// A model whose shapes are known, with constants k0, k1, k2, k3, kLast and one for axis 1.
Model model_of(const std::string& inputs, const std::string& nodes) {
  Model model = test::fixture("g (" + inputs +
                                  ") => (float[P] y) <int64 k0 = {0}, int64 k1 = {1}, int64 k2 = {2}, int64 last = "
                                  "{-1}, int64[1] list = {1}, int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = "
                                  "{2}, int64[1] three = {3}, int64[1] none = {-1}> { " +
                                  nodes + " }",
                              21);
  infer(model, test::pass_context().standard_types);
  return model;
}

/// "x axis 1: 2 + 1", with " stays" where the axis does; "none" where v is no piece of x [N,3,4] or of w [N,L].
std::string piece(const std::string& nodes) {
  const Model model = model_of("float[N,3,4] x, float[N,L] w", nodes + "  y = Relu (v)");
  const auto p = graphopt::piece_of(model.graph->find("v"), Builder(model, *model.graph, nullptr));
  if (!p) return "none";
  return fmt::format("{} axis {}: {} + {}{}", p->of->name, p->axis, p->start, p->length, p->stays ? " stays" : "");
}

/// "2 lanes: Relu Neg", or why not, of the ends a and b, which y reads.
std::string lanes(const std::string& nodes, const std::string& shape = "float[N,2,4] x, float[4,4] W, float[N,4] z") {
  const Model model = model_of(shape, "p = Gather <axis = 1> (x, k0)  q = Gather <axis = 1> (x, k1)  " + nodes +
                                          "  y = Concat <axis = 1> (a, b)");
  const Node* reader = model.graph->find("y")->producer;
  const auto found = graphopt::lanes_of(reader->inputs(), {reader}, Builder(model, *model.graph, nullptr));
  if (!found) return "no: " + found.error().reason;
  std::string text = fmt::format("{} lanes:", found->count);
  for (const Node* step : found->steps) text += " " + step->op;
  return text;
}

}  // namespace

TEST_CASE("pieces are what Gather, Slice and an even Split take of an axis") {
  CHECK(piece("v = Gather <axis = 1> (x, k2)") == "x axis 1: 2 + 1");
  CHECK(piece("v = Gather <axis = -2> (x, last)") == "x axis 1: 2 + 1");
  CHECK(piece("v = Slice (x, one, three, one)") == "x axis 1: 1 + 2 stays");
  CHECK(piece("a, v, b = Split <axis = 1, num_outputs = 3> (x)") == "x axis 1: 1 + 1 stays");
  CHECK(piece("a, v = Split <axis = 2, num_outputs = 2> (x)") == "x axis 2: 2 + 2 stays");
}

TEST_CASE("an axis of length 1 may be taken away from a piece") {
  const std::string slice = "s = Slice (x, one, two, one)  ";
  CHECK(piece(slice + "v = Squeeze (s, one)") == "x axis 1: 1 + 1");
  CHECK(piece("a, s, b = Split <axis = 1, num_outputs = 3> (x)  v = Squeeze (s, one)") == "x axis 1: 1 + 1");
  CHECK(piece("s = Slice (x, one, three, one)  v = Relu (s)") == "none");
}

TEST_CASE("no pieces: indices that are lists, parts of unequal sizes, steps, and axes whose length is not known") {
  CHECK(piece("v = Gather <axis = 1> (x, list)") == "none");
  CHECK(piece("a, v = Split <axis = 1, num_outputs = 2> (x)") == "none");
  CHECK(piece("v = Slice (x, zero, three, one, two)") == "none");
  CHECK(piece("v = Gather <axis = 1> (w, k1)") == "none");
  CHECK(piece("v = Relu (x)") == "none");
}

TEST_CASE("lanes compute the same of every piece, with the same constants") {
  CHECK(lanes("a = Relu (p)  b = Relu (q)") == "2 lanes: Relu");
  CHECK(lanes("c = MatMul (p, W)  a = Neg (c)  d = MatMul (q, W)  b = Neg (d)") == "2 lanes: MatMul Neg");
  CHECK(lanes("a = Add (p, p)  b = Add (q, q)") == "2 lanes: Add");
  CHECK(lanes("a = Add (p, p)  b = Add (q, p)") == "no: ");
  CHECK(lanes("a = Relu (p)  b = Neg (q)") == "no: ");
  CHECK(lanes("a = Elu <alpha = 0.5> (p)  b = Elu <alpha = 0.5> (q)") == "2 lanes: Elu");
  CHECK(lanes("a = Elu <alpha = 0.5> (p)  b = Elu <alpha = 0.6> (q)") == "no: ");
  CHECK(lanes("a = Relu (q)  b = Relu (p)") == "no: ");
  CHECK(lanes("a = Add (z, p)  b = Add (p, q)") == "no: the steps are not computed alike");
  CHECK(lanes("a = Add (p, z)  b = Add (q, z)") == "no: ");
}

TEST_CASE("pieces that leave some of the axis, and one piece for all, are no lanes") {
  CHECK(lanes("a = Relu (p)  b = Relu (q)", "float[N,3,4] x, float[4,4] W, float[N,4] z") == "no: ");
  CHECK(lanes("a = Relu (p)  b = Identity (a)") == "no: ");
}

TEST_CASE("what mixes the samples of a step, or may, is declined") {
  CHECK(lanes("a = Softmax <axis = 0> (p)  b = Softmax <axis = 0> (q)") == "no: a step mixes samples, or may: Softmax");
  CHECK(lanes("a = CumSum (p, k0)  b = CumSum (q, k0)") == "no: a step mixes samples, or may: CumSum");
  CHECK(lanes("a = ReduceMean (p, zero)  b = ReduceMean (q, zero)") ==
        "no: what a step computes has no axis of samples, or other sizes are not known");
  const std::string square = "float[4,2,4] x, float[4,4] W, float[N,4] z";
  CHECK(lanes("a = MatMul (W, p)  b = MatMul (W, q)", square) == "no: a step mixes samples, or may: MatMul");
  CHECK(lanes("a = Add (W, p)  b = Add (W, q)", square) == "no: a step mixes samples, or may: Add");
  CHECK(lanes("a = Transpose (p)  b = Transpose (q)", square) == "no: a step mixes samples, or may: Transpose");
  CHECK(lanes("a = Gemm <transA = 1> (p, W)  b = Gemm <transA = 1> (q, W)", square) ==
        "no: a step mixes samples, or may: Gemm");
  CHECK(lanes("a = Gemm (p, W, W)  b = Gemm (q, W, W)", square) == "no: a step mixes samples, or may: Gemm");
  CHECK(lanes("a = Gemm (p, W)  b = Gemm (q, W)", square) == "2 lanes: Gemm");
}

TEST_CASE("one sample in each lane is a row of its own") {
  const std::string one = "float[1,2,4] x, float[4,4] W, float[N,4] z";
  CHECK(lanes("c = MatMul (p, W)  a = Mul (c, p)  d = MatMul (q, W)  b = Mul (d, q)", one) == "2 lanes: MatMul Mul");
  CHECK(lanes("a = Softmax <axis = 0> (p)  b = Softmax <axis = 0> (q)", one) ==
        "no: a step mixes samples, or may: Softmax");
  CHECK(lanes("a = Add (W, p)  b = Add (W, q)", one) ==
        "no: what a step computes has no axis of samples, or other sizes are not known");
}

TEST_CASE("no samples stay none") {
  CHECK(lanes("a = Relu (p)  b = Relu (q)", "float[0,2,4] x, float[4,4] W, float[N,4] z") ==
        "no: there are no samples");
}

TEST_CASE("what else reads a step is declined") {
  CHECK(lanes("c = Neg (p)  a = Relu (c)  d = Neg (q)  b = Relu (d)  e = Exp (d)") ==
        "no: something else reads what a step computes");
}
