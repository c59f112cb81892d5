#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"
#include "tests/support/steps.h"

using namespace mlopt;
using graphopt::fuse_lstm;
using test::declined;
using test::lstm_steps;
using test::replaced;
using test::rewritten;
using test::Steps;

namespace {

const std::string kStates = "Unsqueeze Unsqueeze ";  // how the first ones are given
const std::string kLast = "Transpose " + kStates + "LSTM Squeeze Identity";

std::string fused(const Steps& steps) { return rewritten(fuse_lstm, steps.graph()); }
std::string reason(const Steps& steps) { return declined(fuse_lstm, steps.graph()); }

}  // namespace

TEST_CASE("steps over all entries of a sequence are a layer, forward or backward, of any axis") {
  Steps steps = lstm_steps();
  CHECK(fused(steps) == kLast);
  steps.order = {3, 2, 1, 0};
  CHECK(fused(steps) == kLast);
  steps.inputs = "double[4,N,2] x, double[N,3] s, double[N,3] m";
  steps.entry = "x{0} = Gather <axis = 0> (x, k{1})";
  CHECK(fused(steps) == kStates + "LSTM Squeeze Identity");
}

TEST_CASE("steps over some entries take a Slice") {
  Steps steps = lstm_steps();
  steps.order = {1, 2, 3};
  steps.end = "y = Identity (h2)";
  CHECK(fused(steps) == "Slice " + kLast);
  steps.order = {2, 1, 0};
  CHECK(fused(steps) == "Slice " + kLast);
}

TEST_CASE("entries of a sequence that was turned round, or multiplied before it was taken apart") {
  Steps steps = lstm_steps();
  steps.entry = "r{0} = Slice (x, m1, least, next, m1)  x{0} = Gather <axis = 1> (r{0}, k{1})";
  CHECK(fused(steps) == kLast);  // each of its own
  steps.entry = "x{0} = Gather <axis = 1> (r, k{1})";
  steps.cell = replaced(steps.cell, "p{0} = Gemm (x{0}, W, C)", "p{0} = Gather <axis = 1> (w, k{1})");
  steps.entry = "";
  const std::string first = "w0 = MatMul (x, W)  w = Add (w0, C)  ";
  steps.cell = "p{0} = Gather <axis = 1> (w, k{1})" + steps.cell.substr(steps.cell.find("  q{0}"));
  std::string graph = steps.graph();
  graph.insert(graph.find("> {") + 3, " " + first);
  CHECK(rewritten(fuse_lstm, graph) == kLast);
  graph = steps.graph();
  graph.insert(graph.find("> {") + 3, " w0 = MatMul (x, W)  w1 = Add (w0, C)  w = Slice (w1, m1, least, next, m1)  ");
  CHECK(rewritten(fuse_lstm, graph) == kLast);
}

TEST_CASE("states that are read elsewhere are taken of all states") {
  Steps steps = lstm_steps();
  steps.outputs = "double[N,3] y, double[N,3] h1, double[N,3] c3";
  steps.end = "y = Neg (h2)";
  CHECK(fused(steps) == "Transpose " + kStates + "LSTM Squeeze Squeeze Gather Gather Neg");
}

TEST_CASE("states of zeros are omitted, whatever was computed with them") {
  Steps steps = lstm_steps();
  steps.inputs = "double[2,4,2] x";
  steps.outputs = "double[2,3] y";
  steps.state = "zeros", steps.memory = "zero";
  const auto with = [&](const std::string& nodes) {
    std::string graph = replaced(steps.graph(), "<double zero",
                                 "<double[2,3] zeros = {0,0,0,0,0,0}, double[2,12] bias = "
                                 "{1,2,3,4,5,6,7,8,9,10,11,12,1,2,3,4,5,6,7,8,9,10,11,12}"
                                 ", double[12] row = {1,2,3,4,5,6,7,8,9,10,11,12}, "
                                 "double zero");
    return nodes.empty() ? graph : replaced(graph, "q0 = Gemm (zeros, R, D)", nodes);
  };
  CHECK(rewritten(fuse_lstm, with("")) == "Transpose LSTM Squeeze Identity");
  // The product with zeros was computed: it is the bias of the other steps.
  std::string graph = with("q0 = Identity (bias)");
  size_t at = 0;
  while ((at = graph.find("R, D)", at)) != std::string::npos) graph.replace(at, 5, "R, row)");
  graph = replaced(replaced(graph, "q0 = Identity (bias)", ""), "a0 = Add (p0, q0)", "a0 = Add (p0, bias)");
  CHECK(rewritten(fuse_lstm, graph) == "Transpose LSTM Squeeze Identity");
  // Another bias: the first step stays.
  CHECK(rewritten(fuse_lstm, replaced(graph, "{1,2,3,4,5,6,7,8,9,10,11,12,1", "{2,2,3,4,5,6,7,8,9,10,11,12,2"))
            .find("LSTM") != std::string::npos);
}

TEST_CASE("steps that are not a walk along a sequence stay") {
  Steps steps = lstm_steps();
  steps.order = {0, 2, 1, 3};
  CHECK(reason(steps).empty());
  steps = lstm_steps();
  steps.order = {0, 1};
  steps.end = "y = Identity (h1)";
  CHECK(reason(steps).empty());
  steps = lstm_steps();
  steps.entry = "x{0} = Gather <axis = 0> (x, k{1})";
  steps.inputs = "double[4,2,2] x, double[2,3] s, double[2,3] m";
  steps.outputs = "double[2,3] y";
  CHECK(fused(steps).find("LSTM") != std::string::npos);
  steps.inputs = "double[4,1,2] x, double[2,3] s, double[2,3] m";
  CHECK(reason(steps) == "its states are not of [batch, units]");
}

TEST_CASE("steps whose gates or memories are read elsewhere stay") {
  Steps steps = lstm_steps();
  steps.outputs = "double[N,3] y, double[N,3] c1";
  CHECK(reason(steps) == "something else reads what a step computes");
  steps.outputs = "double[N,3] y, double[N,3] f2";
  CHECK(reason(steps) == "something else reads what a step computes");
}

TEST_CASE("first states of other shapes") {
  Steps steps = lstm_steps();
  steps.inputs = "double[N,4,2] x, double[1,3] s, double[N,3] m";
  CHECK(reason(steps) == "its first state is of another shape");
  steps.inputs = "double[N,4,2] x, double[N,3] s, double[1,3] m";
  CHECK(reason(steps) == "its first memory is of another shape");
}
