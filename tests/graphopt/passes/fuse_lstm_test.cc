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

const std::string kFused = "Transpose Unsqueeze Unsqueeze LSTM Squeeze Identity";

Steps with(const std::string& from, const std::string& to) {
  Steps steps = lstm_steps();
  steps.cell = replaced(steps.cell, from, to);
  return steps;
}

std::string fused(const Steps& steps) { return rewritten(fuse_lstm, steps.graph()); }
std::string reason(const Steps& steps) { return declined(fuse_lstm, steps.graph()); }

}  // namespace

TEST_CASE("a cell of long short-term memory at each step is LSTM") { CHECK(fused(lstm_steps()) == kFused); }

TEST_CASE("operands in another order, other activations, and weights as PyTorch has them") {
  CHECK(fused(with("Mul (f{0}, {3})", "Mul ({3}, f{0})")) == kFused);
  CHECK(fused(with("Mul (i{0}, g{0})", "Mul (g{0}, i{0})")) == kFused);
  CHECK(fused(with("Add (kept{0}, new{0})", "Add (new{0}, kept{0})")) == kFused);
  CHECK(fused(with("Mul (o{0}, t{0})", "Mul (t{0}, o{0})")) == kFused);
  CHECK(fused(with("Tanh (c{0})", "Relu (c{0})")) == kFused);
  CHECK(fused(with("Tanh (ag{0})", "Relu (ag{0})")) == kFused);
  CHECK(fused(with("Gemm (x{0}, W, C)", "Gemm <transB = 1> (x{0}, Wt, C)")) == kFused);
  CHECK(fused(with("Gemm ({2}, R, D)", "Gemm <transB = 1> ({2}, Rt, D)")) == kFused);
}

TEST_CASE("other cells stay") {
  for (const auto& [from, to] : {std::pair("Sigmoid (ao{0})", "Tanh (ao{0})"),
                                 {"Sigmoid (af{0})", "Tanh (af{0})"},
                                 {"Tanh (c{0})", "Softsign (c{0})"},
                                 {"Add (kept{0}, new{0})", "Sub (kept{0}, new{0})"},
                                 {"Mul (f{0}, {3})", "Mul (f{0}, f{0})"},
                                 {"Mul (i{0}, g{0})", "Mul (i{0}, {3})"},
                                 {"Gemm ({2}, R, D)", "Gemm ({3}, R, D)"},
                                 {"Gemm ({2}, R, D)", "Gemm (x{0}, W, D)"}})
    CHECK(reason(with(from, to)).empty());
}
