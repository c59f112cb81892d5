#include <cmath>
#include <string>
#include <vector>

#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"

namespace mlopt::test {
namespace {

constexpr int64_t kBatch = 2, kSteps = 4, kHeads = 4, kKvHeads = 2, kKey = 3, kValue = 2;

struct Inputs {
  Tensor q = uniform({kBatch, kSteps, kHeads* kKey}, -1, 1, DType::kF64, 1);
  Tensor k = uniform({kBatch, kSteps, kKvHeads* kKey}, -1, 1, DType::kF64, 2);
  Tensor v = uniform({kBatch, kSteps, kKvHeads* kValue}, -1, 1, DType::kF64, 3);
  Tensor state = uniform({kBatch, kKvHeads, kKey, kValue}, -1, 1, DType::kF64, 4);
  Tensor decay = uniform({kBatch, kSteps, kKvHeads* kKey}, -1, 0, DType::kF64, 5);
  Tensor beta = uniform({kBatch, kSteps, kKvHeads}, 0, 1, DType::kF64, 6);
};

/// The recurrences as the standard writes them; gives the output and the last state.
std::pair<Tensor, Tensor> plain(const Inputs& in, bool decays, bool corrects, double scale) {
  const std::vector<double> q = to_doubles(in.q), k = to_doubles(in.k), v = to_doubles(in.v), g = to_doubles(in.decay),
                            beta = to_doubles(in.beta);
  std::vector<double> s = to_doubles(in.state), y(static_cast<size_t>(kBatch * kSteps * kHeads * kValue));
  for (int64_t b = 0; b < kBatch; ++b)
    for (int64_t t = 0; t < kSteps; ++t)
      for (int64_t h = 0; h < kKvHeads; ++h) {
        const int64_t at = (b * kSteps + t) * kKvHeads + h;
        const auto state = [&](int64_t i, int64_t j) -> double& {
          return s[static_cast<size_t>(((b * kKvHeads + h) * kKey + i) * kValue + j)];
        };
        const auto key = [&](int64_t i) { return k[static_cast<size_t>(at * kKey + i)]; };
        for (int64_t i = 0; i < kKey && decays; ++i)
          for (int64_t j = 0; j < kValue; ++j) state(i, j) *= std::exp(g[static_cast<size_t>(at * kKey + i)]);
        for (int64_t j = 0; j < kValue; ++j) {
          double change = v[static_cast<size_t>(at * kValue + j)];
          for (int64_t i = 0; i < kKey && corrects; ++i) change -= state(i, j) * key(i);
          if (corrects) change *= beta[static_cast<size_t>(at)];
          for (int64_t i = 0; i < kKey; ++i) state(i, j) += key(i) * change;
        }
        for (int64_t head = h * 2; head < h * 2 + 2; ++head)
          for (int64_t j = 0; j < kValue; ++j) {
            const int64_t row = (b * kSteps + t) * kHeads + head;
            for (int64_t i = 0; i < kKey; ++i)
              y[static_cast<size_t>(row * kValue + j)] += scale * q[static_cast<size_t>(row * kKey + i)] * state(i, j);
          }
      }
  return {tensor({kBatch, kSteps, kHeads * kValue}, y, DType::kF64), tensor(in.state.dims(), s, DType::kF64)};
}

OpOptions options(const std::string& rule) {
  return {.attrs = {{"update_rule", rule, ""}, {"q_num_heads", kHeads, ""}, {"kv_num_heads", kKvHeads, ""}},
          .opset = 27,
          .outputs = 2};
}

}  // namespace

TEST_CASE("LinearAttention follows each update rule") {
  const Inputs in;
  for (const std::string rule : {"linear", "gated", "delta", "gated_delta"}) {
    INFO(rule);
    const bool decays = rule.starts_with("gated"), corrects = rule.ends_with("delta");
    const auto [y, state] = plain(in, decays, corrects, 1 / std::sqrt(3.0));
    const Datum decay = decays ? Datum(in.decay) : Datum(), beta = corrects ? Datum(in.beta) : Datum();
    const auto got = run_node("LinearAttention", {in.q, in.k, in.v, in.state, decay, beta}, options(rule));
    require_close(got[0].tensor(), y, 1e-12);
    require_close(got[1].tensor(), state, 1e-12);
  }
}

TEST_CASE("LinearAttention refuses what does not fit") {
  const Inputs in;
  error_of("LinearAttention", {in.q, in.k, in.v, in.state}, options("gated"));
  error_of("LinearAttention", {in.q, in.k, in.v, in.state, {}, in.beta}, options("linear"));
  error_of("LinearAttention", {in.q, in.k, in.v}, options("quadratic"));
  error_of("LinearAttention", {in.q, in.q, in.v}, options("linear"));
}

TEST_CASE("CausalConvWithState looks back only and carries the end") {
  const Tensor x = tensor({1, 2, 3}, {1, 2, 3, -1, 0, 1}), w = tensor({2, 1, 3}, {1, 10, 100, 2, 0, 1}),
               b = tensor({2}, {0, 5});
  const auto first = run_node("CausalConvWithState", {x, w, b}, {.opset = 27, .outputs = 2});
  require_close(first[0].tensor(), tensor({1, 2, 3}, {100, 210, 321, 4, 5, 4}));
  require_close(first[1].tensor(), tensor({1, 2, 2}, {2, 3, 0, 1}));
  const auto next = run_node("CausalConvWithState", {tensor({1, 2, 1}, {4, 2}), w, b, first[1]},
                             {.attrs = {{"activation", std::string("silu"), ""}}, .opset = 27, .outputs = 2});
  require_close(next[0].tensor(), tensor({1, 2, 1}, {432, 7 / (1 + std::exp(-7.0))}));
  require_close(next[1].tensor(), tensor({1, 2, 2}, {3, 4, 1, 2}));
  error_of("CausalConvWithState", {x, tensor({1, 1, 3}, {1, 2, 3})}, {.opset = 27});
}

}  // namespace mlopt::test
