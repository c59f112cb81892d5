#pragma once
#include <cstdint>
#include <string>

#include "core/rewrite/pass.h"

namespace mlopt::test {

/// A model in ONNX's text form without its header. Inputs whose names start with a capital letter become constants:
/// seeded numbers in [0.5, 1.5), so that they may be variances and divisors.
Model fixture(const std::string& graph, int64_t opset = 21);

/// Operators in schedule order, those of a body in brackets: "Relu If[Add][Mul]".
std::string operators(const Graph& graph);

/// Runs the pass alone and gives operators() of the result. Fails the test case unless something was rewritten, inputs
/// and outputs are as they were, and, when both run on the reference backend on seeded inputs with distinct sizes for
/// free dimensions, every output is the same within `tolerance` * (1 + |expected|). Fixtures are in double, so that
/// only real errors are above the default.
std::string rewritten(const Pass& pass, const std::string& graph, int64_t opset = 21, double tolerance = 1e-12,
                      Target target = Target::kOnnx);
std::string rewritten(const Pass& pass, const Model& source, double tolerance = 1e-12, Target target = Target::kOnnx);

/// Runs the pass, which must not rewrite anything, and gives its reasons, sorted: "a; b". Empty when the operators did
/// not fit at all.
std::string declined(const Pass& pass, const std::string& graph, int64_t opset = 21, Target target = Target::kOnnx);

/// Requires what rewritten() requires of `result`.
void require_same_model(const Model& source, const Model& result, double tolerance);

/// What the passes of the tests may use: the reference backend as judge.
PassContext pass_context();

}  // namespace mlopt::test
