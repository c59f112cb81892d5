#include "core/base/rng.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {

TEST_CASE("Attention gives what the reference gives") {
  Rng rng(3);
  for (int round = 0; round < 40; ++round) {
    const auto one_of = [&](std::initializer_list<int64_t> sizes) {
      return *(sizes.begin() + rng.integer(0, static_cast<int64_t>(sizes.size()) - 1));
    };
    const int64_t batch = one_of({1, 2, 3}), kv_heads = one_of({1, 2, 3}), heads = kv_heads * one_of({1, 1, 2});
    const int64_t queries = one_of({1, 2, 17, 100, 213}), keys = one_of({1, 5, 16, 33, 500, 1031});
    const int64_t depth = one_of({1, 8, 20, 64}), value_depth = one_of({1, 9, 40, 64});
    INFO("round " << round << ": " << queries << " x " << keys << ", " << heads << " heads of " << depth);
    std::vector<Datum> inputs{uniform({batch, heads, queries, depth}, -2, 2, DType::kF32, 1),
                              uniform({batch, kv_heads, keys, depth}, -2, 2, DType::kF32, 2),
                              uniform({batch, kv_heads, keys, value_depth}, -1, 1, DType::kF32, 3)};
    const Dims masks[] = {{keys}, {queries, keys}, {batch, 1, 1, keys}, {1, heads, queries, keys}};
    const int64_t kind = rng.integer(0, 5);
    if (kind < 4) inputs.emplace_back(uniform(masks[kind], -3, 3, DType::kF32, 4));
    std::vector<Attr> attrs;
    if (kind % 2 == 0) attrs.push_back({"scale", 0.3f, ""});
    if (round % 3 == 0) attrs.push_back({"softcap", 1.5f, ""});
    require_as_reference("Attention", inputs, {.attrs = attrs}, 1e-5);
    // The same numbers as rows whose heads lie side by side.
    inputs[0] = uniform({batch, queries, heads * depth}, -2, 2, DType::kF32, 1);
    inputs[1] = uniform({batch, keys, kv_heads * depth}, -2, 2, DType::kF32, 2);
    inputs[2] = uniform({batch, keys, kv_heads * value_depth}, -1, 1, DType::kF32, 3);
    attrs.push_back({"q_num_heads", heads, ""});
    attrs.push_back({"kv_num_heads", kv_heads, ""});
    require_as_reference("Attention", inputs, {.attrs = attrs}, 1e-5);
  }
}

TEST_CASE("Attention keeps NaN and hides what is masked") {
  Tensor q = uniform({1, 2, 5, 8}, -1, 1), k = uniform({1, 2, 9, 8}, -1, 1), v = uniform({1, 2, 9, 8}, -1, 1);
  Tensor mask = uniform({5, 9}, -1, 1);
  for (int64_t i = 0; i < 9; i += 2) mask.mutable_data<float>()[9 + i] = -std::numeric_limits<float>::infinity();
  require_as_reference("Attention", {q, k, v, mask}, {}, 1e-5);
  q.mutable_data<float>()[11] = std::numeric_limits<float>::quiet_NaN();
  v.mutable_data<float>()[100] = std::numeric_limits<float>::infinity();
  require_as_reference("Attention", {q, k, v, mask}, {}, 1e-5);
}

TEST_CASE("few queries see what many see") {
  for (const int64_t queries : {1, 3})
    for (const int64_t keys : {7, 64, 300}) {
      INFO(queries << " x " << keys);
      Tensor q = uniform({2, 2, queries, 20}, -1, 1), k = uniform({2, 2, keys, 20}, -1, 1),
             v = uniform({2, 2, keys, 9}, -1, 1);
      for (const float hidden : {-std::numeric_limits<float>::infinity(), std::numeric_limits<float>::lowest(), -1e4f})
        for (const int64_t seen : {int64_t{0}, keys - 3, keys}) {
          Tensor mask = uniform({2, 1, queries, keys}, -1, 1);
          std::fill_n(mask.mutable_data<float>() + seen, keys - seen, hidden);
          require_as_reference("Attention", {q, k, v, mask}, {}, 1e-5);
          require_as_reference("Attention", {q, k, v, mask}, {.attrs = {{"softcap", 0.5f, ""}}}, 1e-5);
        }
      q.mutable_data<float>()[11] = std::numeric_limits<float>::quiet_NaN();
      require_as_reference("Attention", {q, k, v}, {}, 1e-5);
    }
}

TEST_CASE("keys at the end that are hidden from every query of a block do not count") {
  constexpr int64_t kQueries = 300, kKeys = 517;
  const Tensor q = uniform({1, 2, kQueries, 8}, -1, 1), k = uniform({1, 2, kKeys, 8}, -1, 1),
               v = uniform({1, 2, kKeys, 8}, -1, 1);
  for (const float hidden :
       {-std::numeric_limits<float>::infinity(), std::numeric_limits<float>::lowest(), -1e9f, -1e4f}) {
    for (const int64_t past : {0, 3, 217}) {
      Tensor mask = Tensor::zeros(DType::kF32, {kQueries, kKeys});
      float* row = mask.mutable_data<float>();
      for (int64_t i = 0; i < kQueries; ++i, row += kKeys)
        std::fill(row + std::min(kKeys, i + past + 1), row + kKeys, hidden);
      INFO("past " << past << ", " << hidden);
      require_as_reference("Attention", {q, k, v, mask}, {}, 1e-5);
      require_as_reference("Attention", {q, k, v, mask}, {.attrs = {{"softcap", 0.5f, ""}}}, 1e-5);
      // One sees nothing: with numbers that are finite, all alike.
      std::fill_n(mask.mutable_data<float>() + 40 * kKeys, kKeys, hidden);
      require_as_reference("Attention", {q, k, v, mask}, {}, 1e-5);
    }
    Tensor padding = Tensor::zeros(DType::kF32, {1, 1, 1, kKeys});
    std::fill_n(padding.mutable_data<float>() + 100, kKeys - 100, hidden);
    require_as_reference("Attention", {q, k, v, padding}, {}, 1e-5);
  }
}

TEST_CASE("a query whose keys are all hidden gives zeros, as the standard's Attention does") {
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  const Tensor q = uniform({1, 2, 3, 8}, -1, 1), k = uniform({1, 2, 20, 8}, -1, 1), v = uniform({1, 2, 20, 8}, -1, 1);
  Tensor mask = uniform({3, 20}, -1, 1);
  std::fill_n(mask.mutable_data<float>() + 20, 20, kNever);
  require_as_reference("Attention", {q, k, v, mask}, {}, 1e-5);
  std::fill_n(mask.mutable_data<float>(), 60, kNever);
  require_as_reference("Attention", {q, k, v, mask}, {}, 1e-5);
}

TEST_CASE("a query whose keys are all hidden gives NaN, as com.microsoft's MultiHeadAttention does") {
  for (const int64_t queries : {2, 40}) {
    const Tensor q = uniform({1, queries, 8}, -1, 1), k = uniform({1, 20, 8}, -1, 1), v = uniform({1, 20, 8}, -1, 1);
    Tensor mask = uniform({1, 1, queries, 20}, -1, 1);
    std::fill_n(mask.mutable_data<float>() + 20, 20, -std::numeric_limits<float>::infinity());
    const OpOptions options{.attrs = {{"num_heads", int64_t{2}, ""}}, .domain = "com.microsoft"};
    require_as_reference("MultiHeadAttention", {q, k, v, Datum(), Datum(), mask}, options, 1e-5);
  }
}

TEST_CASE("of more keys than queries, the last query sees all") {
  const OpOptions options{.attrs = {{"num_heads", int64_t{2}, ""}, {"unidirectional", int64_t{1}, ""}},
                          .domain = "com.microsoft"};
  const Tensor k = uniform({2, 9, 8}, -1, 1);
  for (const int64_t queries : {1, 6})
    require_as_reference("MultiHeadAttention", {uniform({2, queries, 8}, -1, 1), k, k}, options, 1e-5);
}

}  // namespace mlopt::test
