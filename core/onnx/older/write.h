#pragma once
#include <string>

#include "core/ir/model.h"

namespace mlopt::proto {

constexpr int64_t kOldestWritten = 11;  // of ai.onnx, that write_in_older() knows to write

/// Does write_in_older() know every version of the node's operator between its model's opset `from` and the older `to`?
/// Else it is another operator there, or none.
bool known_down_to(const Node& node, int64_t from, int64_t to);

/// Writes nodes, at every depth, as an older opset (at least kOldestWritten) has them, and makes it the model's. What a
/// version brought is undone one after the other, and types are held against the older schemas. Gives the reason where
/// that is not possible, else "".
std::string write_in_older(Model& model, int64_t opset);

}  // namespace mlopt::proto
