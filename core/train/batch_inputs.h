#pragma once
#include <functional>
#include <initializer_list>
#include <map>
#include <vector>

#include "core/ir/infer.h"
#include "core/ir/model.h"

namespace mlopt::train {

/// What a model's inputs are in a batch, in the order of those that are not initializers.
struct BatchInputs {
  BatchInputs() = default;
  BatchInputs(std::vector<Dims> shapes) : dims(std::move(shapes)) {}  // NOLINT(google-explicit-constructor)
  BatchInputs(std::initializer_list<Dims> shapes) : dims(shapes) {}

  std::vector<Dims> dims;
  std::map<size_t, Tensor> fixed;           ///< values of inputs that are the same in each batch, by their index
  std::function<void(Model&)> settle = {};  ///< does to a model what follows from shapes, once these are known
};

/// Binds the model's inputs to those of a batch. Initializers that old models list as inputs are what they are, and no
/// caller gives others; what reads a fixed input reads its value. The inputs themselves stay, but for such defaults.
void bind_batch(Model& model, const BatchInputs& inputs, TypeRule types);

}  // namespace mlopt::train
