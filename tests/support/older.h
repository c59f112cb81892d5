#pragma once
#include <cstdint>
#include <string>

namespace mlopt::test {

/// The operators of `graph` (ONNX's text form without its header), an opset `from`, as convert_opset() writes it in the
/// older opset `to`. Fails the test case unless ONNX's checker accepts the result and the outputs are the same.
std::string in_older(const std::string& graph, int64_t from, int64_t to);

/// Why convert_opset() refuses it, after the label of the node: "older opsets lack ...".
std::string not_in_older(const std::string& graph, int64_t from, int64_t to);

}  // namespace mlopt::test
