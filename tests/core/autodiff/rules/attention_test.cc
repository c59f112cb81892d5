#include "tests/support/catch.h"
#include "tests/support/gradients.h"

namespace mlopt::test {
namespace {

/// Of any five keys in a row, one is hidden.
Tensor seen(const Dims& dims) {
  std::vector<double> keys;
  for (int64_t i = 0; i < element_count(dims); ++i) keys.push_back(i % 5 != 1);
  return tensor(dims, keys, DType::kBool);
}

void attention(std::vector<GradCase>& rows) {
  const Tensor q = real({2, 4, 3, 6}), k = real({2, 4, 5, 6}, -2, 2, 2), v = real({2, 4, 5, 7}, -2, 2, 3);
  const auto scale = attr("scale", 0.7f);
  rows.push_back({"Attention", {q, k, v}, {.opset = 23}});
  rows.push_back({"Attention", {q, k, v}, {.attrs = {scale}, .opset = 23}});
  for (const Dims& mask : {Dims{3, 5}, Dims{1, 4, 3, 5}, Dims{2, 1, 1, 5}}) {
    rows.push_back({"Attention", {q, k, v, real(mask, -2, 2, 4)}, {.attrs = {scale}, .opset = 23}});
    rows.push_back({"Attention", {q, k, v, seen(mask)}, {.opset = 23}});
  }
  const Tensor shared = real({2, 2, 5, 6}, -2, 2, 2), shared_values = real({2, 2, 5, 7}, -2, 2, 3);
  rows.push_back({"Attention", {q, shared, shared_values, real({3, 5})}, {.opset = 23}});
}

void rotary_embedding(std::vector<GradCase>& rows) {
  const auto sideways = attr("interleaved", 1);
  const Tensor x = real({2, 3, 5, 4}), tables = real({2, 5, 2}), others = real({2, 5, 2}, -2, 2, 2);
  rows.push_back({"RotaryEmbedding", {x, tables, others}, {.opset = 23}, {1, 2}});
  rows.push_back({"RotaryEmbedding", {x, tables, others}, {.attrs = {sideways}, .opset = 23}, {1, 2}});
  const Tensor ids = Tensor::ints({1, 0, 2, 3, 4, 5, 6, 7, 8, 8}).reshaped({2, 5});
  const OpOptions contrib{.domain = "com.microsoft"};
  rows.push_back({"RotaryEmbedding", {x, ids, real({9, 2}), real({9, 2}, -2, 2, 2)}, contrib, {2, 3}});
}

}  // namespace

std::vector<GradCase> attention_cases() {
  std::vector<GradCase> rows;
  attention(rows);
  rotary_embedding(rows);
  return rows;
}

TEST_CASE("gradients of attention and of rotary embeddings") { check_gradients(attention_cases()); }

TEST_CASE("a row whose keys are all hidden passes nothing back") {
  const Tensor last = tensor({2, 3}, {0, 0, 0, 1, 1, 1}, DType::kBool);
  check_gradients({{"Attention", {real({1, 1, 2, 2}), real({1, 1, 3, 2}), real({1, 1, 3, 2}), last}, {.opset = 23}}});
}

}  // namespace mlopt::test
