#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ir/graph.h"

namespace mlopt {

/// An operator seen through one accessor that hides where its opset keeps things (axes as attribute or as input, ...).
/// Missing or ill-typed attributes throw Error{kBadInput} naming the node.
class NodeView {
 public:
  NodeView(const Node& node, int64_t opset) : node_(&node), opset_(opset) {}

  const Node& node() const { return *node_; }
  /// Version of the node's domain that the model imports.
  int64_t opset() const { return opset_; }

  bool has(std::string_view attr) const { return node_->attr(attr) != nullptr; }
  int64_t get_int(std::string_view attr, int64_t otherwise) const;
  int64_t get_int(std::string_view attr) const;
  float get_float(std::string_view attr, float otherwise) const;
  std::string get_string(std::string_view attr, std::string_view otherwise) const;
  std::vector<int64_t> get_ints(std::string_view attr, std::vector<int64_t> otherwise = {}) const;
  std::vector<float> get_floats(std::string_view attr) const;
  std::vector<std::string> get_strings(std::string_view attr) const;
  const Tensor* get_tensor(std::string_view attr) const;

  /// The constant in input i, or null.
  const Tensor* constant(int i) const;
  /// A list of integers that is the attribute in old opsets and input `i` in newer ones; absent in both: `otherwise`.
  /// Nothing when it is an input that is not constant.
  std::optional<std::vector<int64_t>> ints(std::string_view attr, int i, std::vector<int64_t> otherwise = {}) const;
  /// As ints() for one float (Clip's limits, ...).
  std::optional<double> number(std::string_view attr, int i, double otherwise) const;

 private:
  const Attr* find(std::string_view attr, bool required) const;
  [[noreturn]] void wrong_kind(std::string_view attr, std::string_view wanted) const;

  const Node* node_;
  int64_t opset_;
};

}  // namespace mlopt
