#pragma once
#include <string>
#include <vector>

#include "tests/support/cases.h"

namespace mlopt::test {

/// A node whose gradient rule is compared with central differences in double: every float64 input is differentiated but
/// those that are `frozen`, the others are constants of the model; the loss is a random linear function of all float
/// outputs, or of the first `in_loss`.
struct GradCase {
  std::string op;
  std::vector<Datum> inputs;
  OpOptions options = {};
  std::vector<size_t> frozen = {};
  size_t in_loss = 100;
};

/// Fails unless each gradient is within `tolerance` of the numeric one, relative to the largest of its tensor.
void check_gradients(const std::vector<GradCase>& rows, double tolerance = 1e-6);

/// Seeded float64 values in [low, high).
Tensor real(Dims dims, double low = -2, double high = 2, uint64_t seed = 1);

/// What the reference backend gives for a model whose inputs have these values.
std::vector<Tensor> reference_outputs(const Model& model, const std::vector<Datum>& at);

/// The rows of each family of rules, in the test of the same name.
std::vector<GradCase> attention_cases();
std::vector<GradCase> binary_cases();
std::vector<GradCase> convolution_cases();
std::vector<GradCase> dropout_cases();
std::vector<GradCase> einsum_cases();
std::vector<GradCase> gather_cases();
std::vector<GradCase> layout_cases();
std::vector<GradCase> legacy_cases();
std::vector<GradCase> loss_cases();
std::vector<GradCase> normalization_cases();
std::vector<GradCase> pool_cases();
std::vector<GradCase> product_cases();
std::vector<GradCase> recurrent_cases();
std::vector<GradCase> reduce_cases();
std::vector<GradCase> resize_cases();
std::vector<GradCase> softmax_cases();
std::vector<GradCase> unary_cases();

}  // namespace mlopt::test
