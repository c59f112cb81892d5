#include "core/autodiff/grad.h"
#include "core/onnx/infer.h"
#include "tests/support/catch.h"
#include "tests/support/gradients.h"
#include "tests/support/thrown.h"

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
    rows.push_back({"Attention", {q, k, v, real(mask, -2, 2, 4)}, {.attrs = {attr("softcap", 1.5f)}, .opset = 23}});
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

TEST_CASE("attention of other forms is refused with the reason") {
  const auto refused = [](const Dims& queries, const Dims& keys, std::vector<Attr> attrs) {
    Model model;
    model.set_opset("", 23);
    Graph& graph = *model.graph;
    Value* q = graph.add_input("q", Type::tensor(DType::kF32, queries));
    Value* k = graph.add_input("k", Type::tensor(DType::kF32, keys));
    Value* y = graph.add_op("Attention", {q, k, k}, std::move(attrs))->output(0);
    y->type = Type::tensor(DType::kF32, queries);
    Node* sum = graph.add_op("ReduceSum", {y}, {attr("keepdims", 0)});
    infer(model, *sum, standard_types);
    const Error error = thrown_by([&] { add_gradients(model, sum->output(0), std::vector{q}, standard_types); });
    CHECK(error.code == Code::kUnsupported);
    return error.message;
  };
  const Dims four{1, 2, 3, 4};
  CHECK(refused(four, four, {attr("is_causal", 1)}) == "no gradient: it hides keys by their position");
  CHECK(refused(four, {1, 0, 3, 4}, {}) == "no gradient: its heads are no axis");
  CHECK(refused({1, 3, 8}, {1, 3, 8}, {}) == "no gradient: its heads are no axis");
}

}  // namespace mlopt::test
