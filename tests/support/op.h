#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/exec/backend.h"
#include "core/ir/attr.h"
#include "core/tensor/datum.h"

namespace mlopt::test {

/// How run_op() sets up its one node.
struct OpOptions {
  std::vector<Attr> attrs = {};
  int64_t opset = 0;  ///< of `domain`; 0: the newest that the tests know (1 for other domains than ai.onnx)
  std::string domain = {};
  int outputs = 1;
  bool fixed = false;  ///< inputs become initializers, so that a kernel may prepare them
  uint64_t seed = 0;
  Backend* backend = nullptr;  ///< null: the reference backend
  int threads = 0;             ///< of the plan; 0: all
};

/// Builds a model of one node over `inputs` (an empty Datum is an omitted input), compiles and runs it; all its
/// outputs.
std::vector<Datum> run_node(const std::string& op, const std::vector<Datum>& inputs, const OpOptions& options = {});
/// The first output, which must be a tensor.
Tensor run_op(const std::string& op, const std::vector<Datum>& inputs, const OpOptions& options = {});

/// `values` converted to `type` as Cast does: shapes such as {2, 3} and plain numbers make any numeric tensor.
Tensor tensor(Dims dims, const std::vector<double>& values, DType type = DType::kF32);
/// Seeded values in [low, high), rounded to `type`.
Tensor uniform(Dims dims, double low, double high, DType type = DType::kF32, uint64_t seed = 1);

/// Fails the current test case (not only the assertion) unless `actual` has the type and shape of `expected` and values
/// within `tolerance` * (1 + |expected|); NaN and infinities must match, integers exactly.
void require_close(const Tensor& actual, const Tensor& expected, double tolerance = 1e-6);

/// The text of the Error that `run_node` throws; fails the test when it throws none.
std::string error_of(const std::string& op, const std::vector<Datum>& inputs, const OpOptions& options = {});

}  // namespace mlopt::test
