#include "core/base/error.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"
#include "tests/support/one_node.h"

namespace mlopt::test {
namespace {

Tensor part(Dims dims, uint64_t seed, DType type = DType::kF32) { return uniform(std::move(dims), -1, 1, type, seed); }

}  // namespace

TEST_CASE("attention on a GPU, for heads of every size and rows that fill no tile") {
  for (const int64_t size : {5, 64, 100, 200})
    for (const int64_t keys : {1, 40, 70})
      require_on_gpu("Attention",
                     {part({2, 4, 37, size}, 1), part({2, 2, keys, size}, 2), part({2, 2, keys, size}, 3)});
  require_on_gpu("Attention", {part({1, 2, 3, 8}, 1), part({1, 2, 9, 8}, 2), part({1, 2, 9, 12}, 3)},
                 {.attrs = {attr("scale", 0.7f), attr("softcap", 2.0f)}});
  require_on_gpu("Attention", {part({2, 7, 24}, 1), part({2, 9, 12}, 2), part({2, 9, 12}, 3)},
                 {.attrs = {attr("q_num_heads", 4), attr("kv_num_heads", 2)}});
  require_on_gpu("Attention",
                 {part({1, 2, 33, 16}, 1, DType::kF16), part({1, 2, 40, 16}, 2, DType::kF16),
                  part({1, 2, 40, 16}, 3, DType::kF16)},
                 {}, 1e-2);
}

TEST_CASE("keys that are hidden from attention on a GPU") {
  const Tensor q = part({2, 2, 40, 8}, 1), k = part({2, 2, 45, 8}, 2), v = part({2, 2, 45, 8}, 3);
  require_on_gpu("Attention", {q, k, v}, {.attrs = {attr("is_causal", 1)}});
  for (const Dims& dims : {Dims{40, 45}, Dims{2, 1, 40, 45}, Dims{2, 1, 45}, Dims{1, 45}})
    require_on_gpu("Attention", {q, k, v, part(dims, 4)}, {.attrs = {attr("is_causal", 1)}});
  const Tensor seen = run_op("Less", {uniform({40, 45}, 0, 1), tensor({}, {0.5})});
  require_on_gpu("Attention", {q, k, v, seen});
  require_on_gpu("Attention", {q, k, v, tensor({1, 1}, {0}, DType::kBool)});
  require_on_gpu("Attention", {q, k, v, Datum(), Datum(), Datum(), tensor({2}, {45, 43}, DType::kI64)},
                 {.attrs = {attr("is_causal", 1)}});
}

TEST_CASE("a query whose keys are all hidden gives NaN on a GPU, as com.microsoft's MultiHeadAttention does") {
  for (const int64_t queries : {2, 40}) {
    const Tensor q = part({1, queries, 8}, 1), k = part({1, 20, 8}, 2), v = part({1, 20, 8}, 3);
    Tensor mask = part({1, 1, queries, 20}, 4);
    std::fill_n(mask.mutable_data<float>() + 20, 20, -std::numeric_limits<float>::infinity());
    require_on_gpu("MultiHeadAttention", {q, k, v, Datum(), Datum(), mask},
                   {.attrs = {attr("num_heads", 2)}, .domain = "com.microsoft"});
  }
}

TEST_CASE("attention on a GPU with earlier keys and values") {
  for (const int causal : {0, 1})
    for (const int outputs : {1, 3}) {
      const OpOptions options{.attrs = {attr("is_causal", causal), attr("q_num_heads", 4), attr("kv_num_heads", 2)},
                              .outputs = outputs};
      require_on_gpu("Attention",
                     {part({2, 3, 24}, 1), part({2, 3, 12}, 2), part({2, 3, 12}, 3), Datum(), part({2, 2, 50, 6}, 4),
                      part({2, 2, 50, 6}, 5)},
                     options);
    }
  require_on_gpu("Attention", {part({1, 2, 3, 8}, 1), part({1, 2, 3, 8}, 2), part({1, 2, 3, 8}, 3)}, {.outputs = 3});
}

TEST_CASE("rotary embeddings on a GPU") {
  const Tensor places = tensor({2, 5}, {0, 1, 2, 3, 4, 7, 6, 5, 4, 3}, DType::kI64);
  const Tensor cosines = part({8, 3}, 2), sines = part({8, 3}, 3);
  for (const int interleaved : {0, 1}) {
    const OpOptions options{.attrs = {attr("interleaved", interleaved), attr("num_heads", 4)}};
    require_on_gpu("RotaryEmbedding", {part({2, 4, 5, 6}, 1), cosines, sines, places}, options);
    require_on_gpu("RotaryEmbedding", {part({2, 5, 24}, 1), cosines, sines, places}, options);
    require_on_gpu("RotaryEmbedding", {part({2, 5, 24}, 1), part({2, 5, 3}, 2), part({2, 5, 3}, 3)}, options);
    const OpOptions contrib{.attrs = options.attrs, .domain = "com.microsoft"};
    require_on_gpu("RotaryEmbedding", {part({2, 5, 24}, 1), places, cosines, sines}, contrib);
    require_on_gpu("RotaryEmbedding", {part({2, 4, 5, 6}, 1), tensor({1}, {2}, DType::kI64), cosines, sines}, contrib);
  }
  require_on_gpu("RotaryEmbedding", {part({2, 4, 5, 10}, 1), cosines, sines, places},
                 {.attrs = {attr("rotary_embedding_dim", 6)}});
}

TEST_CASE("samples that share the rows of one table of rotary embeddings on a GPU") {
  for (const int64_t rows : {3, 6})
    require_on_gpu("RotaryEmbedding", {part({2, 1, 3, 4}, 1), part({1, rows, 2}, 2), part({1, rows, 2}, 3)});
}

TEST_CASE("positions outside of the table of rotary embeddings are errors on a GPU") {
  for (const double position : {-1, 8}) {
    const std::vector<Datum> inputs{part({1, 1, 2, 4}, 1), part({8, 2}, 2), part({8, 2}, 3),
                                    tensor({1, 2}, {0, position}, DType::kI64)};
    const auto plan = gpu_on_host()->compile(one_node("RotaryEmbedding", inputs, {}, 4), {});
    CHECK_THROWS_AS(plan->run(inputs), Error);
  }
}

}  // namespace mlopt::test
