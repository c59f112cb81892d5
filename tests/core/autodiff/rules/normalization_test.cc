#include "tests/support/catch.h"
#include "tests/support/gradients.h"

namespace mlopt::test {
namespace {

/// x, and scale, bias, mean and variance of its channels.
std::vector<Datum> batch_norm_inputs(Datum x, int64_t channels) {
  return {std::move(x), real({channels}, 0.5, 2, 2), real({channels}, -1, 1, 3), real({channels}, -1, 1, 4),
          real({channels}, 0.5, 2, 5)};
}

void batch_norms(std::vector<GradCase>& rows) {
  const auto epsilon = attr("epsilon", 0.01f), training = attr("training_mode", 1);
  for (const Dims& dims : {Dims{3, 4}, Dims{2, 4, 3}, Dims{2, 4, 3, 5}, Dims{2, 4, 1, 2, 3}}) {
    const std::vector<Datum> inputs = batch_norm_inputs(real(dims), 4);
    rows.push_back({"BatchNormalization", inputs, {.attrs = {epsilon, training}, .outputs = 3}, {3, 4}, 1});
    rows.push_back({"BatchNormalization", inputs, {.attrs = {epsilon}}, {3, 4}});
    rows.push_back({"BatchNormalization", inputs, {.opset = 9}, {3, 4}});
    rows.push_back({"BatchNormalization", inputs, {.opset = 9, .outputs = 5}, {3, 4}, 1});
  }
  // Nothing but x is trained.
  rows.push_back({"BatchNormalization", batch_norm_inputs(real({2, 4, 3}), 4), {.attrs = {epsilon}}, {1, 2, 3, 4}});
}

void row_norms(std::vector<GradCase>& rows) {
  const Tensor x = real({2, 3, 4}), last = real({4}, 0.5, 2, 2), both = real({3, 4}, 0.5, 2, 2);
  const Tensor bias = real({4}, -1, 1, 3);
  const auto epsilon = attr("epsilon", 0.01f);
  rows.insert(rows.end(),
              {{"LayerNormalization", {x, last, bias}},
               {"LayerNormalization", {x, both, real({3, 4}, -1, 1, 3)}, {.attrs = {attr("axis", 1), epsilon}}},
               {"LayerNormalization", {x, last}, {.attrs = {attr("axis", -2)}, .opset = 17}},
               {"LayerNormalization", {x, real({1}), bias}},
               {"LayerNormalization", {x, last, real({3, 4}, -1, 1, 3)}},
               {"LayerNormalization", {x, last, real({1, 3, 1}, -1, 1, 3)}},
               {"RMSNormalization", {x, last}, {.attrs = {epsilon}, .opset = 23}},
               {"RMSNormalization", {x, both}, {.attrs = {attr("axis", 1)}, .opset = 23}},
               {"SimplifiedLayerNormalization", {x, last}, {.attrs = {epsilon}}}});
}

/// com.microsoft's, of a sum that may be wanted too.
void skip_norms(std::vector<GradCase>& rows) {
  const Tensor x = real({2, 3, 4}), y = real({2, 3, 4}, -2, 2, 2), once = real({3, 4}, -2, 2, 2);
  const Tensor scale = real({4}, 0.5, 2, 3), beta = real({4}, -1, 1, 4), bias = real({4}, -1, 1, 5);
  const OpOptions usual{.domain = "com.microsoft"},
      epsilon{.attrs = {attr("epsilon", 0.01f)}, .domain = "com.microsoft"};
  rows.insert(rows.end(), {{"SkipLayerNormalization", {x, y, scale, beta, bias}, epsilon},
                           {"SkipLayerNormalization", {x, once, scale, Datum(), bias}, usual},
                           {"SkipSimplifiedLayerNormalization", {x, y, scale}, usual},
                           {"SkipSimplifiedLayerNormalization", {x, y, scale, bias}, epsilon}});
}

void group_norms(std::vector<GradCase>& rows) {
  const Tensor scale = real({6}, 0.5, 2, 2), bias = real({6}, -1, 1, 3);
  const auto groups = attr("num_groups", 3);
  for (const Dims& dims : {Dims{2, 6, 5}, Dims{1, 6, 3, 2}}) {
    const Tensor x = real(dims);
    rows.push_back({"InstanceNormalization", {x, scale, bias}, {.attrs = {attr("epsilon", 0.1f)}}});
    rows.push_back({"GroupNormalization", {x, scale, bias}, {.attrs = {groups}}});
    rows.push_back({"GroupNormalization",
                    {x, real({3}, 0.5, 2, 2), real({3}, -1, 1, 3)},
                    {.attrs = {groups, attr("epsilon", 0.1f)}, .opset = 18}});
  }
}

}  // namespace

std::vector<GradCase> normalization_cases() {
  std::vector<GradCase> rows;
  batch_norms(rows);
  row_norms(rows);
  skip_norms(rows);
  group_norms(rows);
  const Tensor x = real({2, 5, 3, 2});
  for (const int size : {1, 2, 3, 4})
    rows.push_back({"LRN", {x}, {.attrs = {attr("size", size), attr("alpha", 0.3f), attr("bias", 1.5f)}}});
  for (const int p : {1, 2})
    for (const int axis : {1, -1}) rows.push_back({"LpNormalization", {x}, {{attr("p", p), attr("axis", axis)}}});
  rows.push_back({"MeanVarianceNormalization", {x}});
  rows.push_back({"MeanVarianceNormalization", {x}, {{attr("axes", AttrValue(std::vector<int64_t>{1, -1}))}}});
  return rows;
}

TEST_CASE("gradients of normalizations") { check_gradients(normalization_cases()); }

}  // namespace mlopt::test
