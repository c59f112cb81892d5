#pragma once
#include <string>
#include <vector>

#include "core/ir/model.h"

namespace mlopt::cli {

/// What may run a model, as far as it can be told here: "onnx", "ort", "openvino", "tensorrt", and the devices of this
/// build.
std::vector<std::string> target_names();

/// A node that a target cannot run.
struct Unsupported {
  std::string node;  ///< "Conv 'stem'"
  std::string reason;
};
/// By the operators' names, domains and opsets for onnx and ort; by what their documentation says of operators and
/// types for openvino and tensorrt (see targets/runtimes.h); by asking its kernels for a device of ours. Nodes
/// inside local functions count where these are called.
std::vector<Unsupported> unsupported_by(const Model& model, const std::string& target);
/// One sentence about the nodes that the target cannot run; empty: there are none.
std::string doubts_of(const std::string& target, const Model& model);

}  // namespace mlopt::cli
