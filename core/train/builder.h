#pragma once
#include <string_view>
#include <vector>

#include "core/ir/infer.h"
#include "core/ir/model.h"

namespace mlopt::train {

/// Adds nodes to the end of a model's main graph, whose shapes are static.
class Builder {
 public:
  explicit Builder(Model& model, TypeRule types = nullptr) : model_(&model), types_(types) {}

  Graph& graph() { return *model_->graph; }
  Model& model() { return *model_; }
  int64_t opset() const { return model_->opset(); }
  /// The first output of a new standard operator, its type inferred.
  Value* op(std::string_view op, std::vector<Value*> inputs, std::vector<Attr> attrs = {});
  /// All outputs of one that has `count`.
  std::vector<Value*> ops(std::string_view op, std::vector<Value*> inputs, int count, std::vector<Attr> attrs = {});
  Value* number(double value, DType type = DType::kF32);
  Value* indices(const std::vector<int64_t>& values);
  /// Mean over all elements, a scalar.
  Value* mean(Value* x);
  /// Throws Error{kUnsupported} where the shape depends on data.
  static Dims dims(const Value* value);

 private:
  Model* model_;
  TypeRule types_;
};

}  // namespace mlopt::train
