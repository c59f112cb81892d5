#include "tests/support/catch.h"
#include "tests/support/gradients.h"

namespace mlopt::test {
namespace {

constexpr int64_t kSteps = 4, kBatch = 3, kInputs = 2, kHidden = 3;

/// X, W, R and B of a layer, then the lengths and the initial states where these are wanted.
std::vector<Datum> layer(int64_t gates, int64_t directions, bool lengths, int states, bool batch_first = false) {
  const int64_t rows = gates * kHidden;
  std::vector<Datum> inputs = {real(batch_first ? Dims{kBatch, kSteps, kInputs} : Dims{kSteps, kBatch, kInputs}),
                               real({directions, rows, kInputs}, -1, 1, 2), real({directions, rows, kHidden}, -1, 1, 3),
                               real({directions, 2 * rows}, -1, 1, 4)};
  if (lengths || states > 0) inputs.push_back(lengths ? Datum(tensor({kBatch}, {4, 0, 2}, DType::kI32)) : Datum());
  const Dims state = batch_first ? Dims{kBatch, directions, kHidden} : Dims{directions, kBatch, kHidden};
  for (int i = 0; i < states; ++i) inputs.push_back(real(state, -1, 1, static_cast<uint64_t>(5 + i)));
  return inputs;
}

Attr names(const std::vector<std::string>& activations) { return attr("activations", AttrValue(activations)); }

void rows_of(std::vector<GradCase>& rows, const char* op, int64_t gates, int states, int outputs) {
  const auto hidden = attr("hidden_size", static_cast<int>(kHidden));
  const auto row = [&](std::vector<Datum> inputs, std::vector<Attr> attrs, int given) {
    attrs.push_back(hidden);
    rows.push_back({op, std::move(inputs), {.attrs = std::move(attrs), .outputs = given}});
  };
  row(layer(gates, 1, false, 0), {}, outputs);
  row(layer(gates, 1, false, states), {attr("direction", "reverse")}, outputs);
  row(layer(gates, 2, true, states), {attr("direction", "bidirectional")}, outputs);
  row(layer(gates, 2, true, states, true), {attr("direction", "bidirectional"), attr("layout", 1)}, outputs);
  row(layer(gates, 1, true, 0), {attr("direction", "reverse")}, 1);
  std::vector<Datum> no_bias = layer(gates, 1, false, states);
  no_bias[3] = Datum();
  row(std::move(no_bias), {}, 1);
}

}  // namespace

std::vector<GradCase> recurrent_cases() {
  std::vector<GradCase> rows;
  rows_of(rows, "RNN", 1, 1, 2);
  rows_of(rows, "GRU", 3, 1, 2);
  rows_of(rows, "LSTM", 4, 2, 3);
  const auto hidden = attr("hidden_size", static_cast<int>(kHidden)), both = attr("direction", "bidirectional");
  rows.push_back({"RNN", layer(1, 2, false, 1), {.attrs = {hidden, both, names({"Sigmoid", "Tanh"})}, .outputs = 2}});
  const std::vector<Attr> linear = {hidden, both, attr("linear_before_reset", 1)};
  rows.push_back({"GRU", layer(3, 2, true, 1), {.attrs = linear, .outputs = 2}});
  rows.push_back({"GRU", layer(3, 1, false, 0), {.attrs = {hidden, names({"Tanh", "Sigmoid"})}, .outputs = 2}});
  for (const int coupled : {0, 1}) {
    std::vector<Datum> inputs = layer(4, 2, true, 2);
    inputs.push_back(real({2, 3 * kHidden}, -1, 1, 7));
    rows.push_back({"LSTM", inputs, {.attrs = {hidden, both, attr("input_forget", coupled)}, .outputs = 3}});
  }
  return rows;
}

TEST_CASE("gradients of recurrent layers") { check_gradients(recurrent_cases()); }

}  // namespace mlopt::test
