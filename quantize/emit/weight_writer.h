#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/calib/weights.h"
#include "quantize/coded.h"

namespace mlopt::quantize {

/// Adds what a weight is stored as to the graph that holds it, before all else there.
class WeightWriter {
 public:
  explicit WeightWriter(const Weight& weight);

  /// An initializer, named after the weight.
  Value* constant(std::string_view what, Tensor tensor);
  /// A small one that all weights of the graph may share.
  Value* shared(const std::string& name, Tensor tensor);
  /// The output of a new node. There may be many: names are short.
  Value* op(const std::string& op, std::vector<Value*> inputs, std::vector<Attr> attrs = {});
  Value* reshaped(Value* v, const std::vector<int64_t>& dims);
  /// The matrix [rows, columns] as the weight's tensor has it.
  Value* restored(Value* matrix);
  /// The weight's tensor with the numbers in their places that are stored beside the codes.
  Value* with_kept(Value* numbers, const Kept& kept);
  /// All that read the weight read `v` instead.
  void replace_by(Value* v);
  /// Of the initializers that it added.
  int64_t bytes() const { return bytes_; }

 private:
  const Weight& weight_;
  Graph& graph_;
  const Node* first_;
  int64_t bytes_ = 0;
};

/// The axis of the weight's tensor that its rows are; nothing where they are more than one axis or a part of one.
std::optional<int> row_axis(const Weight& weight);
/// Is its tensor the matrix [rows, columns] as it stands?
bool is_row_major(const Weight& weight);
/// Numbers of the matrix in the order of the tensor.
template <class T>
std::vector<T> in_tensor_order(const Weight& weight, const std::vector<T>& matrix) {
  std::vector<T> placed(matrix.size());
  size_t i = 0;
  for (const int64_t r : weight.row_at)
    for (const int64_t c : weight.column_at) placed[static_cast<size_t>(r + c)] = matrix[i++];
  return placed;
}

}  // namespace mlopt::quantize
