#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "backends/cpu/packed_product.h"

namespace mlopt::cpu {

/// kLinearGru: linear_before_reset; kTanh, kRelu: RNN with that activation.
enum class RnnLayer { kLstm, kGru, kLinearGru, kTanh, kRelu };

constexpr bool is_simple(RnnLayer layer) { return layer == RnnLayer::kTanh || layer == RnnLayer::kRelu; }
constexpr int64_t gates_of(RnnLayer layer) { return layer == RnnLayer::kLstm ? 4 : is_simple(layer) ? 1 : 3; }

/// A recurrent layer for one size of input; LSTM and GRU with the standard's default activations.
struct RnnShape {
  RnnLayer layer;
  bool reverse = false;  ///< the first direction goes from the last step to the first; a second one always does
  int64_t directions = 1, hidden = 0, inputs = 0, steps = 0, batch = 0;

  int64_t width() const { return gates_of(layer) * hidden; }  ///< of all gates
};

/// What does not change between runs, for each direction; gates in ONNX's order.
struct RnnWeights {
  using Matrices = std::vector<std::shared_ptr<const PackedMatrix>>;

  std::shared_ptr<const Matrices> input;      ///< [inputs, width]
  std::shared_ptr<const Matrices> recurrent;  ///< [hidden, width], kGru: [hidden, 2 hidden]
  std::shared_ptr<const Matrices> candidate;  ///< kGru: [hidden, hidden]; null in others
  std::vector<float> bias;                    ///< [directions, width], of both products
  std::vector<float>
      recurrent_bias;  ///< kLinearGru: [directions, width], 0 but for the candidate, whose is not in bias

  size_t bytes() const {
    size_t sum = (bias.size() + recurrent_bias.size()) * sizeof(float);
    for (const auto& matrices : {input, recurrent, candidate})
      for (size_t i = 0; matrices && i < matrices->size(); ++i) sum += (*matrices)[i]->bytes();
    return sum;
  }
};

/// The operands of one run, row-major as ONNX has them.
struct RnnArgs {
  const float* x = nullptr;                           ///< [steps, batch, inputs]
  const float *state = nullptr, *cell = nullptr;      ///< [directions, batch, hidden], null: 0
  float* y = nullptr;                                 ///< [steps, directions, batch, hidden], null: not wanted
  float *last_state = nullptr, *last_cell = nullptr;  ///< [directions, batch, hidden], null: not wanted
};

/// LSTM, GRU and RNN: the product with the input for many steps at once on all threads, then step by step what depends
/// on the step before, one thread for a direction or some of the sequences. Runs allocate nothing and may overlap when
/// each has a workspace of its own.
class RnnPlan {
 public:
  RnnPlan(const RnnShape& shape, std::shared_ptr<const RnnWeights> weights, int threads);

  /// Of what run() needs, aligned to 64 bytes.
  size_t workspace_bytes() const;
  void run(const RnnArgs& args, std::byte* workspace) const;

 private:
  /// A workspace: sums of a chunk of steps [directions, steps, batch, width], what a step works on, and the state.
  struct Space {
    float *gates, *scratch, *state, *cell;
    std::byte* product;
  };
  /// Products of one size, for each direction.
  using Products = std::vector<ProductPlan>;
  /// What one thread does of a chunk: some sequences of one direction.
  struct Part {
    int64_t index, direction, begin, end;
  };

  int64_t state_elements() const { return shape_.directions * shape_.batch * shape_.hidden; }
  bool reverse(int64_t direction) const { return direction == 1 || shape_.reverse; }
  Space space(std::byte* workspace) const;
  Part part(int64_t index) const;
  void multiply_input(const RnnArgs& args, int64_t first, int64_t count, const Space& space) const;
  void run_part(const RnnArgs& args, const Part& part, int64_t first, int64_t count, const Space& space) const;
  void run_step(const Part& part, float* gates, const Space& space) const;

  RnnShape shape_;
  std::shared_ptr<const RnnWeights> weights_;
  int64_t chunk_ = 1;                                ///< steps at a time
  int64_t parts_ = 1, part_rows_ = 1;                ///< of a direction, and how many sequences each has
  int64_t part_grain_ = 1;                           ///< parts for a thread at least
  Products input_[2], recurrent_[2], candidate_[2];  ///< of a whole chunk or part, and of the rest
  size_t product_bytes_ = 0;                         ///< of the workspace of any of them
};

}  // namespace mlopt::cpu
