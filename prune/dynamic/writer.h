#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/ir/graph.h"

namespace mlopt::prune {

/// Adds standard operators to the end of a graph; what they give is named after `prefix` and the operator.
class Writer {
 public:
  Writer(Graph& graph, int64_t opset, std::string prefix)
      : graph_(graph), opset_(opset), prefix_(std::move(prefix) + "_") {}

  Node* node(const char* name, std::vector<Value*> inputs, std::vector<Attr> attrs = {}, int outputs = 1) {
    return graph_.add_op(name, std::move(inputs), std::move(attrs), nullptr, prefix_ + name, outputs);
  }
  Value* op(const char* name, std::vector<Value*> inputs, std::vector<Attr> attrs = {}) {
    return node(name, std::move(inputs), std::move(attrs))->output(0);
  }
  Value* numbers(const char* hint, Tensor tensor) { return graph_.add_constant(prefix_ + hint, std::move(tensor)); }
  Value* indices(const std::vector<int64_t>& values) { return numbers("indices", Tensor::ints(values)); }

  /// ReduceMean, ReduceMax, ReduceMin; of all axes where none are given, which leaves a scalar.
  Value* reduce(const char* name, Value* x, const std::vector<int64_t>& axes) {
    std::vector<Attr> attrs = {{"keepdims", int64_t{0}, ""}};
    if (axes.empty()) return op(name, {x}, std::move(attrs));
    if (opset_ >= 18) return op(name, {x, indices(axes)}, std::move(attrs));
    attrs.push_back({"axes", axes, ""});
    return op(name, {x}, std::move(attrs));
  }
  Value* reshape(Value* x, const std::vector<int64_t>& dims) { return op("Reshape", {x, indices(dims)}); }
  Value* unsqueeze(Value* x, int64_t axis) {
    if (opset_ >= 13) return op("Unsqueeze", {x, indices({axis})});
    return op("Unsqueeze", {x}, {{"axes", std::vector<int64_t>{axis}, ""}});
  }
  /// From `first` to `end` of an axis.
  Value* slice(Value* x, int64_t axis, int64_t first, int64_t end) {
    return op("Slice", {x, indices({first}), indices({end}), indices({axis})});
  }

 private:
  Graph& graph_;
  int64_t opset_;
  std::string prefix_;
};

}  // namespace mlopt::prune
