#pragma once
#include <set>
#include <string>
#include <vector>

#include "core/ir/model.h"

namespace mlopt::quantize {

/// A constant that changes when the features of a stream are rotated.
struct Turned {
  Node* node;
  int input;
  int axis;          ///< of the constant, that the features are on
  const Node* norm;  ///< whose scale goes into it before; null: none
};

/// Values whose last axis are the same features: a residual stream, from the layers that add to it to those that read
/// it, through a normalization or not.
struct Stream {
  int64_t features = 0;
  std::vector<Turned> constants;  ///< of layers that write and read it, tables, and what is added to it
  std::vector<Node*> norms;
  std::set<const Value*> values;
  std::string problem;  ///< why its features cannot be rotated; empty where they can
};

/// LayerNormalization, RMSNormalization or the like over the last axis, with a constant scale; or the Mul by such that
/// ends one which is spelled out.
bool normalizes_features(const Node& node, int64_t opset);
/// Which of its inputs is the scale.
int scale_input(const Node& norm);

/// The stream that the normalization reads.
Stream trace_stream(Node* norm, int64_t opset);

}  // namespace mlopt::quantize
