#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "core/base/rng.h"

namespace mlopt::prune {

/// A perceptron of two hidden layers with ReLU and one output, trained by Adam (Kingma and Ba 2015). Single precision;
/// the same calls give the same numbers.
class Network {
 public:
  enum class Output { kLinear, kSigmoid };
  Network(size_t inputs, Output output, Rng& rng);

  /// The output for each row of `inputs` numbers. Kept until the next call, for backward().
  const std::vector<float>& forward(std::span<const float> rows);
  /// From the slopes of a loss in the outputs of forward() to those in its inputs; those in the weights add up.
  std::vector<float> backward(std::span<const float> slopes);
  /// Moves against the slopes that have added up, and forgets them.
  void step(float rate);
  void forget();
  /// Its weights become (1 - share) of what they are and `share` of the other's.
  void follow(const Network& other, float share);

 private:
  struct Layer {
    size_t inputs, outputs;
    std::vector<float> weights;  // a row for each input, then one for the biases
    std::vector<float> slopes, means, squares;
    std::vector<float> given, made;  // of the last forward()
  };
  static void run(Layer& layer, std::span<const float> rows);
  static std::vector<float> back(Layer& layer, std::span<const float> slopes);

  Output output_;
  std::vector<Layer> layers_;
  int steps_ = 0;
};

}  // namespace mlopt::prune
